// The merchant's outlets: their state, their orders, and what today brought.

import { get } from "../shared/api.js";
import { address, h } from "../shared/build.js";
import { clockTime, isPast, now } from "../shared/clock.js";
import { refs, say, setAttribute, setHidden, setText } from "../shared/dom.js";
import { opening } from "../shared/hours.js";
import { money } from "../shared/money.js";
import { reconcile } from "../shared/reconcile.js";
import { idField, input, keepReading, labelled, openForm, outletPath, select, send } from "./parts.js";

const EVERY = 5000;
// What a new outlet says of its kitchen, until somebody says otherwise.
const ACCEPT_SECONDS = 600;
const PREP_MINUTES = 20;

export async function show(main, parameters, { signal, fail }) {
    const after = parameters.get("after") ?? "";
    const list = h("ul", { class: "outlets", "data-testid": "outlets" });
    const none = h("p", { class: "muted", role: "status", hidden: true }, "There is no outlet here.");
    const more = h("p", {});
    await read();
    main.replaceChildren(
        h("h1", { tabindex: "-1", "data-focus-fallback": true }, "Outlets"), none, list, more,
        h("p", {}, h("button", { class: "button", type: "button", click: add }, "Add an outlet")));
    keepReading(EVERY, signal, () => read().then(() => fail(null), fail));

    async function read() {
        const query = new URLSearchParams(after ? { after } : {});
        const { outlets, next } = await get(`/v1/own-outlets?${query}`, { signal });
        setHidden(none, outlets.length > 0);
        reconcile(list, outlets, { id: ({ id }) => id, make, fill });
        more.replaceChildren(...(next ? [h("a", { class: "button", href: address("outlets", { after: next }) }, "More outlets")] : []));
    }

    function make({ id }) {
        const step = (name, text) => h("button", { class: "button", type: "button", value: name, "data-focus": name, "data-ref": name }, text);
        const node = h("li", { class: "outlet", "data-outlet": id },
            h("h2", {}, h("a", { href: address("menu", { outlet: id }), dir: "auto", "data-ref": "name" })),
            h("p", { class: "muted", dir: "auto", "data-ref": "place" }),
            h("p", { role: "status", dir: "auto", "data-ref": "state", "data-testid": "state" }),
            h("dl", { class: "figures" },
                h("div", {}, h("dt", {}, "Open orders"), h("dd", { "data-ref": "orders" })),
                h("div", {}, h("dt", {}, "Late"), h("dd", { "data-ref": "late" })),
                h("div", {}, h("dt", {}, "Today"), h("dd", { class: "money", "data-ref": "today" }))),
            h("p", { class: "chips" },
                step("open", "Open"), step("close", "Close"), step("pause", "Pause"), step("hide", "Hide"),
                step("show", "Show")),
            h("p", { class: "chips" },
                h("a", { class: "chip", href: address("orders", { outlet: id }) }, "Orders"),
                h("a", { class: "chip", href: address("day", { outlet: id }) }, "Takings"),
                h("a", { class: "chip", href: `/kitchen/${encodeURIComponent(id)}` }, "Kitchen")));
        node.onclick = ({ target }) => {
            const button = target.closest("button");
            if (button) run(id, button.value);
        };
        return node;
    }

    function fill(node, outlet) {
        const parts = refs(node);
        const isPaused = outlet.status === "paused" && !isPast(outlet.pausedUntil);
        const isOpen = outlet.status !== "closed" && !isPaused;
        setText(parts.name, outlet.name);
        setText(parts.place, [outlet.area, outlet.city].filter(Boolean).join(", "));
        setText(parts.state, [
            isPaused
                ? `Paused until ${clockTime(outlet.pausedUntil, outlet.timeZone)}${outlet.pauseReason ? `: ${outlet.pauseReason}` : ""}`
                : isOpen ? "Open" : outlet.opensAt ? `Closed, opens ${opening(outlet)}` : "Closed",
            outlet.hidden ? "hidden" : null,
        ].filter(Boolean).join(", "));
        setAttribute(node, "data-state", isOpen ? "open" : isPaused ? "paused" : "closed");
        setText(parts.orders, String(outlet.openOrders));
        setText(parts.late, String(outlet.lateOrders));
        setAttribute(parts.late, "class", outlet.lateOrders > 0 ? "gone" : null);
        setText(parts.today, outlet.today ? money(outlet.today.net, outlet.currency) : "unknown");
        // The focus must not be lost with a button.
        const had = node.contains(document.activeElement) ? document.activeElement : null;
        setHidden(parts.open, isOpen);
        setText(parts.open, isPaused ? "End the pause" : "Open");
        setHidden(parts.close, outlet.status === "closed");
        setHidden(parts.pause, !isOpen);
        setHidden(parts.hide, outlet.hidden === true);
        setHidden(parts.show, outlet.hidden !== true);
        if (had?.hidden) node.querySelector("button:not([hidden])")?.focus();
    }

    async function run(id, step) {
        try {
            if (step === "pause") pause(id);
            else {
                await send("POST", `${outletPath(id)}/${step}`, { body: {} });
                await read();
            }
        } catch (error) {
            say(error.message);
        }
    }

    // What it says besides is said on its page of hours.
    function add() {
        const offers = (key, attributes) => {
            const field = input({ list: `all-${key}`, spellcheck: "false", required: true, ...attributes });
            return { field, list: h("datalist", { id: `all-${key}` }, Intl.supportedValuesOf(key).map((value) => h("option", { value }))) };
        };
        const name = input({ maxlength: 200 });
        const own = idField(name, () => false);
        const currency = offers("currency", { maxlength: 3, autocapitalize: "characters" });
        const zone = offers("timeZone", { value: Intl.DateTimeFormat().resolvedOptions().timeZone });
        openForm({
            title: "A new outlet", yes: "Add it",
            fields: [
                labelled("Name", name), own.node, labelled("Currency", currency.field, "It stays for good"), currency.list,
                labelled("Time zone", zone.field), zone.list,
            ],
            save: async () => {
                if (name.value.trim() === "") throw new Error("Name: it needs one.");
                const id = own.read();
                const body = {
                    name: name.value.trim(), currency: currency.field.value.trim().toUpperCase(), timeZone: zone.field.value.trim(),
                    acceptWithin: ACCEPT_SECONDS, prepMinutes: PREP_MINUTES,
                };
                try {
                    await send("PUT", outletPath(id), { body, version: 0 });
                } catch (error) {
                    throw error.code === "CONFLICT" ? new Error(`Id: there is ${id} already.`) : error;
                }
                location.hash = address("hours", { outlet: id });
                return true;
            },
        });
    }

    function pause(id) {
        const minutes = select([["15", "15 minutes"], ["30", "30 minutes"], ["60", "an hour"], ["240", "4 hours"]], "15");
        const reason = input({ maxlength: 200 });
        openForm({
            title: "Take no new orders for how long?", yes: "Pause",
            fields: [labelled("How long", minutes), labelled("Why, for customers", reason)],
            save: async () => {
                const until = new Date(now() + Number(minutes.value) * 60_000).toISOString();
                const text = reason.value.trim();
                await send("POST", `${outletPath(id)}/pause`, { body: { until, ...(text === "" ? {} : { reason: text }) } });
                await read();
                return true;
            },
        });
    }
}
