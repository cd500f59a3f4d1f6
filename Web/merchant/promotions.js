// What an outlet takes off its prices: the list of its promotions, a form for one, and their end.

import { get } from "../shared/api.js";
import { h, table } from "../shared/build.js";
import { clockTime, dayIn, hourIn, isPast, momentIn } from "../shared/clock.js";
import { refs, say, setHidden, setText } from "../shared/dom.js";
import { major, money } from "../shared/money.js";
import { SERVICES } from "../shared/order.js";
import { ask } from "../shared/question.js";
import { reconcile } from "../shared/reconcile.js";
import { check, heading, input, labelled, minor, openForm, outletPath, readMenu, select, send } from "./parts.js";

const TARGETS = { items: "Items", order: "The whole order", delivery: "Delivery" };
const GIFTS = { percent: "Percent off", amount: "An amount off", price: "It costs so much instead" };
const CODE = /^[A-Za-z0-9._:{}-]{1,40}$/;
const MOST_UNITS = 99;
const MOST_TIMES = 1_000_000_000;

/// What a promotion gives, in words. `names` has those of `items` and `sections` by their ids.
/** @param {any} promotion @param {string} currency @param {any} names */
export function giftWords({ on, give, of = {}, buy = 0, get = 1 }, currency, names) {
    const gift = give.percent !== undefined ? (give.percent === 100_000 ? "free" : `${give.percent / 1000} % off`)
        : give.amount !== undefined ? `${money(give.amount, currency)} off` : `for ${money(give.price, currency)}`;
    if (on === "delivery") return `Delivery: ${gift}`;
    const about = [
        ...(of.sections ?? []).map((id) => names.sections.get(id) ?? id), ...(of.items ?? []).map((id) => names.items.get(id) ?? id),
        ...(of.tags ?? []).map((tag) => `everything ${tag}`),
    ].join(", ") || "everything";
    if (on === "order") return `${about[0].toUpperCase()}${about.slice(1)} of an order: ${gift}`;
    return buy === 0 && get === 1 ? `Each of ${about}: ${gift}`
        : `Of ${about}: ${buy > 0 ? `${buy} at their price, then ` : ""}${get} ${gift}`;
}

/// When a promotion applies, in words.
export function conditionWords(promotion, currency, zone) {
    const { code, minimum, service, from, until, cap, limit, perCustomer, alone, by } = promotion;
    const times = (count) => (count === 1 ? "once" : `${count} times`);
    return [
        code ? `with the code ${code}` : "by itself", minimum !== undefined && `from ${money(minimum, currency)} on`,
        service && `for ${(SERVICES[service] ?? service).toLowerCase()}`, from && `from ${clockTime(from, zone)}`,
        until && `until ${clockTime(until, zone)}`, cap !== undefined && `at most ${money(cap, currency)} an order`,
        limit !== undefined && `${times(limit)} in all`, perCustomer !== undefined && `${times(perCustomer)} for each customer`,
        alone && "not together with others", by === "platform" && "paid by the platform",
    ].filter(Boolean).join(", ");
}

export async function show(main, parameters, { signal }) {
    const outlet = await get(outletPath(parameters.get("outlet") ?? ""), { signal });
    const { currency, timeZone: zone } = outlet;
    const path = `${outletPath(outlet.id)}/promotions`;
    const menu = await readMenu(outlet.id, signal);
    const sections = menu?.sections ?? [];
    const names = {
        sections: new Map(sections.map(({ id, title }) => [id, title])),
        items: new Map(sections.flatMap(({ items }) => items.map(({ id, name }) => [id, name]))),
    };
    let known = { version: 0, promotions: [] };
    const none = h("p", { class: "muted", role: "status" }, "Nothing is taken off.");
    const list = table("promotions", ["Name", "What it gives", "When it applies", "State", "Change"], []);
    const body = list.querySelector("tbody");
    await read();
    main.replaceChildren(...heading(outlet, "promotions"), none, list,
        h("p", {}, h("button", { class: "button main", type: "button", click: () => openPromotion(null) }, "New promotion…")));

    async function read() {
        known = await get(path, { signal });
        setHidden(none, known.promotions.length > 0);
        setHidden(list, known.promotions.length === 0);
        reconcile(body, known.promotions, { id: ({ id }) => id, make, fill });
    }

    function make({ id }) {
        const button = (name, text, click) => h("button", { class: "button", type: "button", "data-ref": name, "data-focus": name, click }, text);
        const find = () => known.promotions.find((each) => each.id === id);
        return h("tr", { "data-promotion": id },
            h("td", { dir: "auto", "data-ref": "title" }), h("td", { dir: "auto", "data-ref": "gift" }),
            h("td", { dir: "auto", "data-ref": "conditions" }), h("td", { "data-ref": "state" }),
            h("td", {}, h("div", { class: "chips" }, button("edit", "Change…", () => openPromotion(find())), button("end", "End…", () => end(find())))));
    }

    function fill(node, promotion) {
        const parts = refs(node);
        setText(parts.title, promotion.title);
        setText(parts.gift, giftWords(promotion, currency, names));
        setText(parts.conditions, conditionWords(promotion, currency, zone));
        setText(parts.state, isPast(promotion.until) ? "It is over" : promotion.from && !isPast(promotion.from) ? "Not yet" : "Now");
        parts.edit.setAttribute("aria-label", `Change ${promotion.title}`);
        parts.end.setAttribute("aria-label", `End ${promotion.title}`);
    }

    async function end(promotion) {
        const texts = ["Orders that have it keep it. Carts lose it, also those with its code."];
        if (!promotion || !await ask({ title: `End ${promotion.title}?`, texts, yes: "End it", no: "Keep it" })) return;
        try {
            await send("DELETE", `${path}/${encodeURIComponent(promotion.id)}`);
            say(`${promotion.title}: ended.`);
        } catch (error) {
            say(error.message);
        }
        await read();
    }

    function openPromotion(promotion) {
        const fields = promotionFields(promotion ?? {}, outlet, names);
        // What is seen is what is changed: it rests on the list that was shown.
        let { version } = known;
        const id = promotion?.id ?? `promotion-${crypto.randomUUID().slice(0, 8)}`;
        const dialog = openForm({
            title: promotion ? `Change ${promotion.title}` : "New promotion", yes: promotion ? "Change" : "Add it",
            fields: fields.node,
            save: async () => {
                const mine = fields.read(true);
                if (mine === null) {
                    dialog.querySelector("[aria-invalid]")?.focus();
                    throw new Error("Correct this first.");
                }
                try {
                    await send("PUT", `${path}/${encodeURIComponent(id)}`, { body: mine, version });
                } catch (error) {
                    if (error.code === "CONFLICT") {
                        await read();
                        ({ version } = known);
                        throw new Error("Somebody else has changed the promotions meanwhile. If yours still holds, send it again.");
                    }
                    if (error.code !== "INVALID" || !fields.blame(error.message)) throw error;
                    throw new Error("The server takes it otherwise.");
                }
                await read();
                say(`${mine.title}: ${promotion ? "changed" : "added"}.`);
                return true;
            },
        });
    }
}

/// The fields of a promotion: `read(isSent)` answers it, or null where something is wrong, which is said beside its field
/// once somebody has been there. `blame(message)` says what the server says of a field there.
function promotionFields(promotion, { currency, timeZone: zone }, names) {
    const { on = "items", give = { percent: 10_000 }, of = {} } = promotion;
    const [kind, size] = Object.entries(give)[0];
    const cash = (amount) => (amount === undefined ? "" : major(amount, currency));
    const number = (value) => input({ inputmode: "numeric", value: String(value ?? "") });
    const amount = (value) => input({ inputmode: "decimal", value: cash(value) });
    const time = (value) => input({ type: "datetime-local", value: value ? `${dayIn(zone, value)}T${hourIn(zone, value)}` : "" });
    const many = (known, chosen = []) => h("select", { class: "field", multiple: true, size: 5 },
        [...known, ...chosen.filter((id) => !known.has(id)).map((id) => [id, `${id} (no longer on the menu)`])]
            .map(([id, name]) => h("option", { value: id, selected: chosen.includes(id) }, name)));
    const controls = {
        title: input({ value: promotion.title ?? "", maxlength: 200, required: true }),
        on: select(Object.entries(TARGETS), on), kind: select(Object.entries(GIFTS), kind),
        give: input({ inputmode: "decimal", required: true, value: promotion.give === undefined ? "" : kind === "percent" ? String(size / 1000) : cash(size) }),
        "of.sections": many(names.sections, of.sections), "of.items": many(names.items, of.items), "of.tags": input({ value: (of.tags ?? []).join(", ") }),
        buy: number(promotion.buy), get: number(promotion.get), minimum: amount(promotion.minimum), cap: amount(promotion.cap),
        code: input({ value: promotion.code ?? "", maxlength: 40, spellcheck: "false", autocapitalize: "characters" }),
        from: time(promotion.from), until: time(promotion.until),
        service: select([["", "Any"], ...Object.entries(SERVICES)], promotion.service ?? ""),
        limit: number(promotion.limit), perCustomer: number(promotion.perCustomer),
        by: select([["outlet", "The outlet"], ["platform", "The platform"]], promotion.by ?? "outlet"),
    };
    const alone = check("It does not go together with others", promotion.alone === true);
    const problems = {};
    const touched = new Set();
    const field = (name, label, hint = null) => {
        const whole = labelled(label, controls[name], hint);
        const problem = (problems[name] = h("small", { class: "gone", role: "status", id: `wrong-${name}` }));
        const described = controls[name].getAttribute("aria-describedby");
        controls[name].setAttribute("aria-describedby", [described, problem.id].filter(Boolean).join(" "));
        return h("div", {}, whole, problem);
    };
    const scope = h("fieldset", {}, h("legend", {}, "What it is about"), h("p", { class: "muted" }, "Nothing chosen is everything."),
        h("div", { class: "fields" }, field("of.sections", "Sections"), field("of.items", "Single items"), field("of.tags", "Tags", "With commas between them")));
    const units = h("div", { class: "fields" }, field("buy", "So many are bought", "Nothing for none"), field("get", "So many are given", "Nothing for one"));
    const meaning = h("p", { role: "status", dir: "auto", "data-testid": "meaning" });
    const node = h("div", { class: "page" },
        h("div", { class: "fields" }, field("title", "Name", "What customers and receipts call it"), field("on", "What gets cheaper"),
            field("kind", "How"), field("give", "How much")),
        units, scope,
        h("fieldset", {}, h("legend", {}, "When it applies"), h("div", { class: "fields" },
            field("code", "Code", "Nothing: it applies by itself"), field("minimum", "Least that the items cost"), field("service", "How the order is had"),
            field("from", "Begins", "By the clocks of the outlet"), field("until", "Is over"))),
        h("fieldset", {}, h("legend", {}, "How much of it"), h("div", { class: "fields" },
            field("cap", "At most off an order"), field("limit", "How often in all", "Nothing for any number"),
            field("perCustomer", "How often for each customer", "Nothing for any number"), field("by", "Who pays")), alone.node),
        meaning);
    node.addEventListener("input", ({ target }) => {
        for (const [name, control] of Object.entries(controls)) if (control === target) touched.add(name);
        read(false);
    });
    read(false);

    function tell(name, text) {
        setText(problems[name], text);
        if (text === "") controls[name].removeAttribute("aria-invalid");
        else controls[name].setAttribute("aria-invalid", "true");
    }

    function read(isSent) {
        const wrong = {};
        const text = (name) => controls[name].value.trim();
        const attempt = (name, body) => {
            if (text(name) === "") return undefined;
            try {
                return body(text(name));
            } catch (error) {
                wrong[name] = error.message;
                return undefined;
            }
        };
        const whole = (name, most) => attempt(name, (said) => {
            const count = Number(said);
            if (!/^\d{1,10}$/.test(said) || count < 1 || count > most) throw new Error(`Write a whole number from 1 ${most === MOST_TIMES ? "on" : `to ${most}`}.`);
            return count;
        });
        const sum = (name, least = 0) => attempt(name, (said) => {
            const value = minor(said, currency, "An amount");
            if (value < least) throw new Error("It has to be more than nothing.");
            return value;
        });
        const moment = (name) => attempt(name, (said) => {
            // Whoever changes something else keeps the seconds.
            if (promotion[name] && said === `${dayIn(zone, promotion[name])}T${hourIn(zone, promotion[name])}`) return promotion[name];
            return momentIn(zone, ...said.slice(0, 16).split("T"));
        });
        const target = controls.on.value;
        const isOfItems = target === "items";
        const way = controls.kind.value;
        setHidden(units, !isOfItems);
        setHidden(scope, target === "delivery");
        controls.kind.querySelector("[value=price]").disabled = target === "order";
        if (target === "order" && way === "price") wrong.kind = "An order cannot cost so much instead: choose another.";
        if (text("title") === "") wrong.title = "It needs a name.";
        if (text("give") === "") wrong.give = "Say how much.";
        const gift = way !== "percent" ? sum("give", way === "amount" ? 1 : 0) : attempt("give", (said) => {
            const rate = Math.round(Number(said.replace(",", ".")) * 1000);
            if (!/^\d{1,3}([.,]\d{1,3})?$/.test(said) || rate < 1 || rate > 100_000) throw new Error("Write a percentage like 12.5, at most 100.");
            return rate;
        });
        const code = attempt("code", (said) => {
            if (!CODE.test(said)) throw new Error("A code has only A–Z, a–z, 0–9, . _ : - { }.");
            return said;
        });
        const chosen = (name) => [...controls[name].selectedOptions].map(({ value }) => value);
        const named = target === "delivery" ? {} : Object.fromEntries(Object.entries({
            sections: chosen("of.sections"), items: chosen("of.items"),
            tags: text("of.tags").split(",").map((tag) => tag.trim()).filter(Boolean),
        }).filter(([, list]) => list.length > 0));
        const [from, until] = [moment("from"), moment("until")];
        if (from && until && Date.parse(until) <= Date.parse(from)) wrong.until = "It has to lie behind its begin.";
        const said = {
            title: text("title"), on: target, give: { [way]: gift }, of: Object.keys(named).length > 0 ? named : undefined,
            buy: isOfItems ? whole("buy", MOST_UNITS) : undefined, get: isOfItems ? whole("get", MOST_UNITS) : undefined,
            minimum: sum("minimum"), code, from, until, service: controls.service.value || undefined,
            limit: whole("limit", MOST_TIMES), perCustomer: whole("perCustomer", MOST_TIMES), cap: sum("cap", 1),
            alone: alone.box.checked || undefined, by: controls.by.value === "platform" ? "platform" : undefined,
        };
        for (const name of Object.keys(controls)) tell(name, isSent || touched.has(name) ? wrong[name] ?? "" : "");
        const isRight = Object.keys(wrong).length === 0;
        setText(meaning, isRight ? `${giftWords(said, currency, names)}, ${conditionWords(said, currency, zone)}.` : "");
        return isRight ? said : null;
    }

    function blame(message) {
        const [, path, reason] = /^([A-Za-z.]+)(?:\[\d+\])?:? (.*)$/s.exec(message) ?? [];
        const name = path?.startsWith("give") ? "give" : path;
        if (!(name in controls)) return false;
        tell(name, `${reason[0].toUpperCase()}${reason.slice(1)}`);
        controls[name].focus();
        return true;
    }

    return { node, read, blame };
}
