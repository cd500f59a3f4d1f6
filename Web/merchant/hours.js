// What an outlet says of itself: what it is, when it is open, what can be had when, how, and what it costs beside.

import { get } from "../shared/api.js";
import { h } from "../shared/build.js";
import { say } from "../shared/dom.js";
import { SERVICES } from "../shared/order.js";
import { ask } from "../shared/question.js";
import { isSame } from "./changes.js";
import { FIELDS, meaningOf, mergedOutlet, nextSaturday, outletDifferences } from "./outlet-words.js";
import { check, heading, input, labelled, outletPath, select, send } from "./parts.js";
import { amountField, chargesFields, percentField, readAmount, readPercent, serviceFields, whole } from "./services.js";
import { periodsEditor, weekEditor } from "./week.js";

const PLACES = { address: "Address", area: "Area", city: "City" };
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
                say("The outlet was changed.");
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
    const { currency } = outlet;
    const name = input({ value: outlet.name, maxlength: 200 });
    const places = Object.entries(PLACES).map(([key, label]) => ({ key, label, field: input({ value: outlet[key] ?? "", maxlength: 300 }) }));
    const cuisines = input({ value: (outlet.cuisines ?? []).join(", ") });
    const prep = input({ inputmode: "numeric", value: String(outlet.prepMinutes ?? "") });
    const accept = input({ inputmode: "numeric", value: String(outlet.acceptWithin ?? "") });
    const minimum = amountField(outlet.minimumOrder ?? undefined, currency);
    const first = check("An order is paid before the kitchen sees it", outlet.payment === "first");
    const hours = weekEditor("Hours", outlet.hours ?? [], changed);
    const follows = select([["commands", "By hand"], ["hours", "By its hours"]], outlet.follows ?? "commands");
    const ahead = input({ inputmode: "numeric", value: String(outlet.orderAheadDays ?? "") });
    const slots = input({ inputmode: "numeric", value: String(outlet.slots?.minutes ?? "") });
    const room = input({ inputmode: "numeric", value: String(outlet.slots?.orders ?? "") });
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
    // Whether prices have the taxes in them is said once.
    const isSaid = outlet.taxIncluded !== undefined;
    const included = select([["", "Choose"], ["yes", "In the prices"], ["no", "On top of the prices"]],
        isSaid ? (outlet.taxIncluded ? "yes" : "no") : "", { disabled: isSaid });
    const taxes = rowsEditor("Taxes", "Add a tax", outlet.taxes ?? [], changed, taxFields);
    const charges = chargesFields("Charges", outlet.charges, outlet);
    const services = Object.keys(SERVICES).map((kind) => ({ kind, fields: serviceFields(kind, outlet, changed) }));

    function read() {
        const problems = [];
        const offered = services.map(({ kind, fields }) => [kind, fields.read(problems)]).filter(([, service]) => service !== undefined);
        const every = whole(slots.value, "Minutes between times", 5, 240, problems);
        const orders = whole(room.value, "Orders for each time", 1, 10_000, problems);
        if (orders !== undefined && every === undefined) problems.push("Orders for each time: they need minutes between times.");
        const rates = taxes.read(problems);
        const outletCharges = charges.read(problems);
        if (name.value.trim() === "") problems.push("Name: it needs one.");
        if (rates.length > 0 && included.value === "") problems.push("Taxes: say whether they are in the prices.");
        const mine = {
            ...outlet, name: name.value.trim(),
            ...Object.fromEntries(places.map(({ key, field }) => [key, field.value.trim() || undefined])),
            cuisines: emptyAsNone(cuisines.value.split(",").map((text) => text.trim()).filter(Boolean)),
            prepMinutes: whole(prep.value, "Minutes until it is ready", 0, 1440, problems),
            acceptWithin: whole(accept.value, "Seconds to accept", 0, 86_400, problems),
            payment: first.box.checked ? "first" : outlet.payment === "first" ? undefined : outlet.payment,
            minimumOrder: readAmount(minimum, currency, "Least order", problems),
            taxIncluded: isSaid ? outlet.taxIncluded : included.value === "" ? undefined : included.value === "yes",
            taxes: emptyAsNone(rates), charges: Object.keys(outletCharges).length > 0 ? outletCharges : undefined,
            hours: hours.read(problems), follows: follows.value === "hours" ? "hours" : undefined,
            specialDays: emptyAsNone(special.read(problems)), dayparts: emptyAsNone(dayparts.read(problems)),
            services: offered.length > 0 ? Object.fromEntries(offered) : undefined,
            orderAheadDays: whole(ahead.value, "Days ahead", 0, 14, problems) || undefined,
            slots: every === undefined ? undefined : { minutes: every, orders },
        };
        checkTogether(mine, problems);
        // What nobody touched stays as it was, also an empty list.
        for (const key of Object.keys(FIELDS)) if (isSame(mine[key], outlet[key])) mine[key] = outlet[key];
        return { mine, problems };
    }

    const nodes = [
        h("fieldset", {}, h("legend", {}, "The outlet"), h("div", { class: "fields" },
            labelled("Name", name), places.map(({ label, field }) => labelled(label, field)),
            labelled("Cuisines", cuisines, "With commas between them"),
            labelled("Minutes until an order is ready", prep), labelled("Least order", minimum),
            labelled("Seconds in which the kitchen accepts", accept, "0 for at once; nothing if nobody has to")), first.node),
        h("div", { class: "tools" }, labelled("It opens and closes", follows)), hours.node, special.node,
        h("fieldset", {}, h("legend", {}, "Orders for later"), h("div", { class: "fields" },
            labelled("Days ahead", ahead, "0 or nothing for none, at most 14"),
            labelled("Minutes between times", slots, "Nothing for any time"),
            labelled("Orders for each time", room, "Nothing for any number"))),
        taxes.node, h("div", { class: "tools" }, labelled("Taxes are", included)),
        h("fieldset", {}, h("legend", {}, "Charges"), charges.node),
        ...services.map(({ fields }) => fields.node), dayparts.node,
    ];
    return { nodes, read };
}

/// The fields of a tax, with its rates by service.
function taxFields(tax) {
    const name = input({ value: tax.name ?? "", maxlength: 200 });
    const id = input({ value: tax.id ?? "", maxlength: 64, spellcheck: "false", autocapitalize: "none", readonly: tax.id !== undefined });
    const rate = percentField(tax.rate);
    const rates = Object.entries(SERVICES).map(([kind, label]) => ({ kind, label, field: percentField(tax.rates?.[kind]) }));
    return {
        node: h("div", { class: "fields" }, labelled("Name of the tax", name), labelled("Id of the tax", id), labelled("Percent", rate),
            rates.map(({ label, field }) => labelled(`${label}: percent`, field))),
        read: (problems) => {
            const title = name.value.trim();
            const others = rates.map(({ kind, label, field }) => [kind, readPercent(field, `${title || "A tax"}: ${label}`, problems)])
                .filter(([, value]) => value !== undefined);
            const percent = readPercent(rate, title || "A tax", problems);
            if (title === "" || percent === undefined) problems.push("Taxes: each needs its name and its percentage.");
            if (!ID.test(id.value.trim())) problems.push("Taxes: each needs an id with only A–Z, a–z, 0–9, . _ : - { }.");
            return { ...tax, id: id.value.trim(), name: title, rate: percent, rates: others.length > 0 ? Object.fromEntries(others) : undefined };
        },
    };
}

function checkTogether({ hours, follows, specialDays = [], dayparts = [], taxes = [], services, orderAheadDays, slots }, problems) {
    if (follows === "hours" && hours.length === 0) problems.push("Hours: an outlet that follows them needs a period.");
    if (orderAheadDays && follows !== "hours") problems.push("Days ahead: the outlet has to open and close by its hours.");
    if (orderAheadDays && !services) problems.push("Days ahead: a service has to be offered.");
    if (slots && !orderAheadDays) problems.push("Minutes between times: they need days ahead.");
    const named = { "Special days": specialDays.map(({ date }) => date), "Parts of the day": dayparts.map(({ id }) => id), Taxes: taxes.map(({ id }) => id) };
    for (const [name, ids] of Object.entries(named)) {
        const twice = ids.find((id, place) => id !== "" && ids.indexOf(id) !== place);
        if (twice !== undefined) problems.push(`${name}: ${twice} is there twice.`);
    }
}

function emptyAsNone(list) {
    return list.length > 0 ? list : undefined;
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
