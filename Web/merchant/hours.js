// When an outlet is open, what can be had when, and how its orders are had.

import { get } from "../shared/api.js";
import { h } from "../shared/build.js";
import { say, setHidden } from "../shared/dom.js";
import { major } from "../shared/money.js";
import { SERVICES } from "../shared/order.js";
import { ask } from "../shared/question.js";
import { isSame } from "./changes.js";
import { FIELDS, meaningOf, mergedOutlet, nextSaturday, outletDifferences } from "./outlet-words.js";
import { check, heading, input, labelled, minor, outletPath, select, send } from "./parts.js";
import { periodsEditor, weekEditor } from "./week.js";

const REQUIREMENTS = { name: "Name", phone: "Phone", address: "Address", table: "Table" };
const ID = /^[A-Za-z0-9._:{}-]{1,64}$/;

export async function show(main, parameters, { signal }) {
    const path = outletPath(parameters.get("outlet") ?? "");
    let base = await get(path, { signal });
    draw();

    function draw() {
        const problems = h("ul", { class: "gone", "data-testid": "problems" });
        const meaning = h("ul", { "data-testid": "meaning" });
        const fields = outletFields(base, changed);
        const problem = h("p", { class: "gone", role: "alert" });
        const form = h("form", { class: "page", novalidate: true, input: changed, change: changed },
            fields.nodes,
            h("section", { class: "section" }, h("h2", {}, "What it means next Saturday"), meaning),
            h("div", { role: "status" }, problems), problem, h("p", {}, h("button", { class: "button main" }, "Change…")));
        form.onsubmit = async (event) => {
            event.preventDefault();
            problem.textContent = "";
            try {
                const { mine, problems: wrong } = fields.read();
                if (wrong.length > 0) throw new Error("Correct this first.");
                if (!await save(mine)) return;
                base = await get(path, { signal });
                draw();
                main.querySelector("h1").focus();
            } catch (error) {
                problem.textContent = error.message;
            }
        };
        changed();
        main.replaceChildren(...heading(base, "hours"), form);

        function changed() {
            const { mine, problems: wrong } = fields.read();
            const items = (texts) => texts.map((text) => h("li", { dir: "auto" }, text));
            // Only what is said anew is spoken of.
            if (JSON.stringify(wrong) !== problems.dataset.said) problems.replaceChildren(...items(wrong));
            problems.dataset.said = JSON.stringify(wrong);
            meaning.replaceChildren(...items(wrong.length > 0 ? ["Something is still to be corrected."] : meaningOf(mine, nextSaturday(base.timeZone))));
        }
    }

    // Makes the change, which is shown first and rests on the version that was seen. Answers whether it was made.
    async function save(mine) {
        let texts = outletDifferences(base, mine);
        if (texts.length === 0) {
            say("Nothing was changed.");
            return false;
        }
        if (!await ask({ title: `Change ${base.name}?`, texts, yes: "Change", no: "Not yet" })) return false;
        for (;;) {
            try {
                await send("PUT", path, { body: mine, version: base.version });
                say("The hours were changed.");
                return true;
            } catch (error) {
                if (error.code !== "CONFLICT") throw error;
            }
            const theirs = await get(path, { signal });
            const others = outletDifferences(base, theirs).map((text) => `Meanwhile: ${text}`);
            mine = mergedOutlet(base, mine, theirs);
            base = theirs;
            // It was only opened or closed, or something else of it was changed.
            if (others.length === 0) continue;
            texts = outletDifferences(base, mine).map((text) => `Yours: ${text}`);
            const title = "Somebody else has changed this outlet.";
            if (!await ask({ title, texts: [...others, ...texts], yes: "Change it all the same", no: "Leave it" })) return false;
        }
    }
}

/// The fields of an outlet, `{nodes, read()}`: what was read is the outlet as it would be, and what is wrong with it.
function outletFields(outlet, changed) {
    const hours = weekEditor("Hours", outlet.hours ?? [], changed);
    const follows = select([["commands", "By hand"], ["hours", "By its hours"]], outlet.follows ?? "commands");
    const ahead = input({ inputmode: "numeric", value: String(outlet.orderAheadDays ?? "") });
    const slots = input({ inputmode: "numeric", value: String(outlet.slots?.minutes ?? "") });
    const special = rowsEditor("Special days", "Add a day", outlet.specialDays ?? [], changed, ({ date, hours }) => {
        const field = h("input", { type: "date", class: "field", value: date ?? "" });
        const editor = periodsEditor(date ?? "New day", hours ?? [], changed);
        return {
            node: [labelled("Day", field, "Without a period it is closed"), editor.node],
            read: (problems) => {
                if (field.value === "") problems.push("Special days: each needs its day.");
                return { date: field.value, hours: editor.read(problems) };
            },
        };
    });
    const dayparts = rowsEditor("Parts of the day", "Add a part", outlet.dayparts ?? [], changed, (part) => {
        const field = input({ value: part.id ?? "", maxlength: 64, spellcheck: "false", autocapitalize: "none" });
        const editor = weekEditor(`Hours of ${part.id ?? "the new part"}`, part.hours ?? [], changed);
        return {
            node: [labelled("Id", field, "Items and sections name it"), editor.node],
            read: (problems) => {
                const id = field.value.trim();
                if (!ID.test(id)) problems.push("Parts of the day: an id has only A–Z, a–z, 0–9, . _ : - { }.");
                const hours = editor.read(problems);
                if (hours.length === 0) problems.push(`Parts of the day: ${id || "a part"} needs a period.`);
                return { ...part, id, hours };
            },
        };
    });
    const services = Object.keys(SERVICES).map((kind) => ({ kind, fields: serviceFields(kind, outlet, changed) }));

    function read() {
        const problems = [];
        const offered = services.map(({ kind, fields }) => [kind, fields.read(problems)]).filter(([, service]) => service !== undefined);
        const every = whole(slots.value, "Minutes between times", 5, 240, problems);
        const mine = {
            ...outlet, hours: hours.read(problems), follows: follows.value === "hours" ? "hours" : undefined,
            specialDays: emptyAsNone(special.read(problems)), dayparts: emptyAsNone(dayparts.read(problems)),
            services: offered.length > 0 ? Object.fromEntries(offered) : undefined,
            orderAheadDays: whole(ahead.value, "Days ahead", 0, 14, problems) || undefined,
            slots: every === undefined ? undefined : { ...outlet.slots, minutes: every },
        };
        checkTogether(mine, problems);
        // What nobody touched stays as it was, also an empty list.
        for (const key of Object.keys(FIELDS)) if (isSame(mine[key], outlet[key])) mine[key] = outlet[key];
        return { mine, problems };
    }

    const nodes = [
        h("div", { class: "tools" }, labelled("It opens and closes", follows)), hours.node, special.node,
        h("fieldset", {}, h("legend", {}, "Orders for later"), h("div", { class: "fields" },
            labelled("Days ahead", ahead, "0 or nothing for none, at most 14"),
            labelled("Minutes between times", slots, "Nothing for any time"))),
        ...services.map(({ fields }) => fields.node), dayparts.node,
    ];
    return { nodes, read };
}

function checkTogether({ hours, follows, specialDays = [], dayparts = [], services, orderAheadDays, slots }, problems) {
    if (follows === "hours" && hours.length === 0) problems.push("Hours: an outlet that follows them needs a period.");
    if (orderAheadDays && follows !== "hours") problems.push("Days ahead: the outlet has to open and close by its hours.");
    if (orderAheadDays && !services) problems.push("Days ahead: a service has to be offered.");
    if (slots && !orderAheadDays) problems.push("Minutes between times: they need days ahead.");
    for (const [name, ids] of [["Special days", specialDays.map(({ date }) => date)], ["Parts of the day", dayparts.map(({ id }) => id)]]) {
        const twice = ids.find((id, place) => id !== "" && ids.indexOf(id) !== place);
        if (twice !== undefined) problems.push(`${name}: ${twice} is there twice.`);
    }
}

function emptyAsNone(list) {
    return list.length > 0 ? list : undefined;
}

/// A whole number that was written, or undefined for nothing.
function whole(text, label, least, most, problems) {
    if (text.trim() === "") return undefined;
    const number = Number(text.trim());
    if (/^\d{1,6}$/.test(text.trim()) && number >= least && number <= most) return number;
    problems.push(`${label}: write a whole number from ${least} to ${most}.`);
    return undefined;
}

/// A list to which rows are added, each made by `make(entry)` as `{node, read(problems)}`.
function rowsEditor(title, addText, entries, changed, make) {
    const list = h("ul", { class: "options" });
    let rows = [];
    const add = h("button", { class: "button", type: "button", click: () => {
        addRow({}).querySelector("input").focus();
        changed();
    } }, addText);

    function addRow(entry) {
        const row = make(entry);
        const node = h("li", {}, row.node, h("p", {}, h("button", { class: "button", type: "button", click: () => {
            rows = rows.filter((each) => each !== row);
            node.remove();
            add.focus();
            changed();
        } }, `Remove from ${title.toLowerCase()}`)));
        rows.push(row);
        list.append(node);
        return node;
    }

    for (const entry of entries) addRow(entry);
    return {
        node: h("fieldset", {}, h("legend", {}, title), list, h("p", {}, add)),
        read: (problems) => rows.map((row) => row.read(problems)),
    };
}

/// The fields of a way to have orders; what is read is undefined where it is not offered.
function serviceFields(kind, outlet, changed) {
    const { currency, taxes = [] } = outlet;
    const title = SERVICES[kind];
    const service = outlet.services?.[kind] ?? {};
    const offered = check("Offered", outlet.services?.[kind] !== undefined);
    const amount = (value) => input({ inputmode: "decimal", value: value === undefined ? "" : major(value, currency) });
    const prep = input({ inputmode: "numeric", value: String(service.prepMinutes ?? "") });
    const minimum = amount(service.minimumOrder);
    const needs = Object.entries(REQUIREMENTS).filter(([need]) => need !== "table" || kind === "table")
        .map(([need, label]) => ({ need, ...check(label, service.requires?.includes(need) === true) }));
    const own = check("Charges of its own, in place of the outlet’s", service.charges !== undefined);
    const timed = check("Hours of its own, for orders for later", service.hours !== undefined);
    const taxOf = (tax) => select([["", "None"], ...taxes.map(({ id, name }) => [id, name])], tax ?? "");
    const percent = input({ inputmode: "decimal", value: service.charges?.service ? String(service.charges.service.rate / 1000) : "" });
    const percentTax = taxOf(service.charges?.service?.tax);
    const fees = [["smallOrder", "Fee of a small order"], ["delivery", "Fee of delivery"]].map(([key, label]) => {
        const known = service.charges?.[key];
        return { key, label, known, fee: amount(known?.fee), freeFrom: amount(known?.freeFrom), tax: taxOf(known?.tax) };
    });
    const week = weekEditor(`Hours of ${title.toLowerCase()}`, service.hours ?? [], changed);
    const charges = h("div", { class: "fields" },
        labelled("Service in percent", percent), labelled("Tax on service", percentTax),
        fees.flatMap(({ label, fee, freeFrom, tax }) => [
            labelled(label, fee), labelled(`${label}: free from`, freeFrom), labelled(`${label}: tax`, tax)]));
    const body = h("div", { class: "page" },
        h("div", { class: "fields" }, labelled("Minutes until it is ready", prep), labelled("Least order", minimum)),
        h("fieldset", {}, h("legend", {}, "What an order needs"), needs.map(({ node }) => node)),
        own.node, charges, timed.node, week.node);

    function read(problems) {
        setHidden(body, !offered.box.checked);
        setHidden(charges, !own.box.checked);
        setHidden(week.node, !timed.box.checked);
        if (!offered.box.checked) return undefined;
        const cash = (field, label) => {
            if (field.value.trim() === "") return undefined;
            try {
                return minor(field.value, currency, `${title}: ${label}`);
            } catch (error) {
                problems.push(error.message);
                return undefined;
            }
        };
        const requires = needs.filter(({ box }) => box.checked).map(({ need }) => need);
        const { charges: _, requires: __, hours: ___, ...rest } = service;
        return {
            ...rest, prepMinutes: whole(prep.value, `${title}: minutes`, 0, 1440, problems), minimumOrder: cash(minimum, "least order"),
            ...(requires.length > 0 ? { requires } : {}),
            ...(own.box.checked ? { charges: readCharges(cash, problems) } : {}),
            ...(timed.box.checked ? { hours: week.read(problems) } : {}),
        };
    }

    function readCharges(cash, problems) {
        const result = {};
        const text = percent.value.trim().replace(",", ".");
        if (text !== "") {
            const rate = Math.round(Number(text) * 1000);
            if (!/^\d{1,3}(\.\d{1,3})?$/.test(text) || rate > 100_000) problems.push(`${title}: service: write a percentage like 12.5.`);
            else result.service = { rate, ...(percentTax.value === "" ? {} : { tax: percentTax.value }) };
        }
        for (const { key, label, fee, freeFrom, tax } of fees) {
            const [costs, free] = [cash(fee, label), cash(freeFrom, `${label}: free from`)];
            if (costs === undefined) {
                if (free !== undefined) problems.push(`${title}: ${label}: it needs its fee.`);
                continue;
            }
            result[key] = { fee: costs, ...(free === undefined ? {} : { freeFrom: free }), ...(tax.value === "" ? {} : { tax: tax.value }) };
        }
        return result;
    }

    return { node: h("fieldset", {}, h("legend", {}, title), offered.node, body), read };
}
