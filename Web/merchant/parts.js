// What the merchant's pages have in common.

import { get, request } from "../shared/api.js";
import { address, h } from "../shared/build.js";
import { setText } from "../shared/dom.js";
import { raise } from "../shared/layers.js";
import { decimals } from "../shared/money.js";

const OUTLET_PAGES = [
    ["menu", "Menu"], ["prices", "Prices"], ["import", "Import"], ["promotions", "Promotions"], ["stock", "Stock"], ["hours", "Hours and services"],
    ["orders", "Orders"], ["day", "Takings"],
];

export function outletPath(outlet) {
    return `/v1/outlets/${encodeURIComponent(outlet)}`;
}

/// The menu of an outlet; null where there is none yet.
export function readMenu(outlet, signal) {
    return get(`${outletPath(outlet)}/menu`, { signal, patience: 60_000 }).catch((error) => {
        if (error.status !== 404) throw error;
        return null;
    });
}

/// What stands above each page of an outlet.
export function heading({ id, name }, page) {
    const link = (href, title, isHere) =>
        h("li", {}, h("a", { class: "chip", href, "aria-current": isHere ? "page" : null }, title));
    return [
        h("h1", { tabindex: "-1", "data-focus-fallback": true, dir: "auto" }, name),
        h("nav", { "aria-label": "Pages of the outlet" }, h("ul", { class: "chips" },
            OUTLET_PAGES.map(([key, title]) => link(address(key, { outlet: id }), title, key === page)),
            link(`/kitchen/${encodeURIComponent(id)}`, "Kitchen", false),
            // It stays open beside this page, and follows each change.
            h("li", {}, h("a", { class: "chip", href: `/preview/${encodeURIComponent(id)}`, target: "preview" }, "Preview")))),
    ];
}

/// Sends a change, with a key so that it counts once; answers the new version. `version` is the one that it rests on.
export async function send(method, path, { body = undefined, version = undefined, key = crypto.randomUUID(), query = {} } = {}) {
    const all = new URLSearchParams(query);
    if (version !== undefined) all.set("version", version);
    // A menu within its limits can take longer than other answers.
    const { document } = await request(method, all.size > 0 ? `${path}?${all}` : path, { body, key, patience: 60_000 });
    return document.version;
}

/// Calls `read` every so many milliseconds while the page is seen, and when it is seen again.
export function keepReading(milliseconds, signal, read) {
    const look = () => document.visibilityState === "visible" && read();
    const timer = setInterval(look, milliseconds);
    document.addEventListener("visibilitychange", look, { signal });
    signal.addEventListener("abort", () => clearInterval(timer));
}

let hints = 0;

/// A field with what it is called, and a word about it.
export function labelled(label, node, hint = null) {
    const whole = h("label", {}, label, node);
    if (hint === null) return whole;
    const id = `hint-${++hints}`;
    node.setAttribute("aria-describedby", id);
    return h("div", {}, whole, h("small", { class: "muted", id }, hint));
}

/// A box to be ticked, with what it says.
export function check(label, isChecked, attributes = {}) {
    const box = h("input", { type: "checkbox", checked: isChecked, ...attributes });
    return { box, node: h("label", { class: "check" }, box, label) };
}

export function input(attributes = {}) {
    return h("input", { class: "field", autocomplete: "off", dir: "auto", ...attributes });
}

/// `choices` are pairs of a value and its text.
export function select(choices, value, attributes = {}) {
    return h("select", { class: "field", ...attributes }, choices.map(([key, text]) =>
        h("option", { value: key, selected: key === value }, text)));
}

/// An id that a name leads to, and that nothing else has.
export function idOf(name, isTaken) {
    const plain = name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
    const base = plain.slice(0, 56) || "new";
    for (let number = 1; ; number++) {
        const id = number === 1 ? base : `${base}-${number}`;
        if (!isTaken(id)) return id;
    }
}

/// A field for the id of what is new, which follows its name until somebody writes it.
export function idField(nameField, isTaken) {
    const field = input({ maxlength: 64, spellcheck: "false", autocapitalize: "none" });
    let isWritten = false;
    field.addEventListener("input", () => { isWritten = field.value !== ""; });
    nameField.addEventListener("input", () => { if (!isWritten) field.value = idOf(nameField.value, isTaken); });
    const read = () => {
        const id = field.value.trim() || idOf(nameField.value, isTaken);
        if (!/^[A-Za-z0-9._:{}-]{1,64}$/.test(id)) throw new Error("Id: only A–Z, a–z, 0–9, . _ : - { } may be in it.");
        if (isTaken(id)) throw new Error(`Id: there is ${id} already.`);
        return id;
    };
    return { node: labelled("Id", field, "It stays for good"), read };
}

/// An amount in major units, such as 16.50, as minor ones. Throws what is wrong with it.
export function minor(text, currency, label) {
    const digits = decimals(currency);
    const [, whole, part = ""] = /^(\d{1,12})(?:[.,](\d*))?$/.exec(text.trim()) ?? [];
    if (whole === undefined || part.length > digits) {
        throw new Error(`${label}: write it like ${digits === 0 ? "16" : `16.${"5".padEnd(digits, "0")}`}.`);
    }
    return Number(whole + part.padEnd(digits, "0"));
}

/// Has the browser save a text as a file.
export function saveFile(name, text) {
    const href = URL.createObjectURL(new Blob([text], { type: name.endsWith(".csv") ? "text/csv" : "application/json" }));
    h("a", { href, download: name }).click();
    URL.revokeObjectURL(href);
}

/// Opens a form. `save()` answers whether it can be closed; what it throws is said in it.
export function openForm({ title, fields, yes, save, more = [] }) {
    const problem = h("p", { class: "gone", role: "alert" });
    let isSaving = false;
    const form = h("form", { method: "dialog", novalidate: true },
        h("h2", { id: "form-title", dir: "auto" }, title), fields, problem,
        h("p", { class: "chips" },
            h("button", { class: "button main" }, yes),
            h("button", { class: "button", type: "button", click: () => dialog.close() }, "Cancel"), more));
    const dialog = h("dialog", { "aria-labelledby": "form-title" }, form);
    form.onsubmit = async (event) => {
        event.preventDefault();
        if (isSaving) return;
        isSaving = true;
        setText(problem, "");
        try {
            if (await save()) dialog.close();
        } catch (error) {
            setText(problem, error.message);
        }
        isSaving = false;
    };
    dialog.addEventListener("close", () => dialog.remove(), { once: true });
    document.body.append(dialog);
    raise(dialog);
    return dialog;
}
