// Every price of a menu, and a change of those that are selected, shown first and made as one.

import { get } from "../shared/api.js";
import { h, table } from "../shared/build.js";
import { say, setText } from "../shared/dom.js";
import { major, money } from "../shared/money.js";
import { SERVICES } from "../shared/order.js";
import { ask } from "../shared/question.js";
import { MenuState } from "./menu-state.js";
import { heading, input, labelled, outletPath, select } from "./parts.js";

const ROWS = 200;
const MOST_SHOWN = 100;
const STEPS = [1, 5, 10, 50, 100];

/// Every price of a menu, as `{key, id, name, of, variant, amount}`; `variant` is a service or size, null for the price
/// itself.
export function pricesOf({ sections, groups = [] }) {
    const variants = ({ price, prices, from }) => [
        ...(from || price === null || price === undefined ? [] : [[null, price]]), ...Object.entries(prices ?? {}),
    ];
    const rows = (kind, part, of) => variants(part).map(([variant, amount]) => ({
        key: `${kind} ${part.id} ${variant ?? ""}`, kind, id: part.id, name: part.name, of, variant, amount,
    }));
    return [
        ...sections.flatMap(({ title, items }) => items.flatMap((item) => rows("item", item, title))),
        ...groups.flatMap(({ title, options }) => options.flatMap((option) => rows("option", option, title))),
    ];
}

/// An amount that is changed by a percentage, in hundredths of a percent, or by an amount, and rounded half up to a step.
export function changedAmount(amount, { by, isPercentage, step }) {
    const [times, over] = isPercentage ? [BigInt(amount) * BigInt(10_000 + by), 10_000n] : [BigInt(amount + by), 1n];
    const unit = over * BigInt(step);
    if (times < 0n) return -1;
    return Number((2n * times + unit) / (2n * unit)) * step;
}

/// The menu with other prices, by their keys.
export function withPrices(menu, amounts) {
    const changed = (kind) => (part) => {
        const wanted = (variant) => amounts.get(`${kind} ${part.id} ${variant ?? ""}`);
        const result = { ...part };
        if (wanted(null) !== undefined) result.price = wanted(null);
        if (part.prices) {
            result.prices = Object.fromEntries(Object.entries(part.prices).map(([key, amount]) => [key, wanted(key) ?? amount]));
        }
        return result;
    };
    return {
        ...menu,
        sections: menu.sections.map((section) => ({ ...section, items: section.items.map(changed("item")) })),
        groups: (menu.groups ?? []).map((group) => ({ ...group, options: group.options.map(changed("option")) })),
    };
}

export async function show(main, parameters, { signal }) {
    const outlet = await get(outletPath(parameters.get("outlet") ?? ""), { signal });
    const { currency } = outlet;
    const menu = new MenuState(outlet, signal);
    await menu.read();
    let prices = pricesOf(menu.document);
    let most = ROWS;
    const selected = new Set();

    const search = input({ type: "search", placeholder: "part of a name" });
    const count = h("p", { class: "muted", role: "status", "data-testid": "selected" });
    const list = table("prices", ["Selected", "Name", "In", "For", "Price"], []);
    const body = list.querySelector("tbody");
    const more = h("button", { class: "button", type: "button", click: () => { most += ROWS; draw(); } }, "Show more");
    const by = input({ inputmode: "decimal", placeholder: "5 or -5" });
    const unit = select([["percent", "percent"], ["amount", currency]], "percent");
    const step = select(STEPS.map((each) => [String(each), money(each, currency)]), "1");
    const problem = h("p", { class: "gone", role: "alert" });
    const form = h("form", { class: "tools" },
        labelled("Change by", by), labelled("In", unit), labelled("Rounded to", step), h("button", { class: "button main" }, "Change…"));
    form.onsubmit = async (event) => {
        event.preventDefault();
        setText(problem, "");
        try {
            await change();
        } catch (error) {
            setText(problem, error.message);
        }
    };
    search.oninput = () => {
        most = ROWS;
        draw();
    };
    draw();
    main.replaceChildren(
        ...heading(outlet, "prices"),
        h("div", { class: "tools" }, labelled("Search", search),
            h("button", { class: "button", type: "button", click: () => choose(true) }, "Select all of these"),
            h("button", { class: "button", type: "button", click: () => choose(false) }, "Select none of these")),
        form, problem, count, list, h("p", {}, more));

    function found() {
        const words = search.value.trim().toLowerCase();
        return prices.filter(({ name, of, id }) => [name, of, id].some((text) => text.toLowerCase().includes(words)));
    }

    function choose(isWanted) {
        for (const { key } of found()) {
            if (isWanted) selected.add(key);
            else selected.delete(key);
        }
        draw();
    }

    function draw() {
        const rows = found();
        body.replaceChildren(...rows.slice(0, most).map((price) => h("tr", { "data-price": price.key.trim() },
            h("td", {}, h("input", {
                type: "checkbox", "aria-label": `Select ${price.name}`, checked: selected.has(price.key), change: ({ target }) => {
                    if (target.checked) selected.add(price.key);
                    else selected.delete(price.key);
                    drawCount(rows.length);
                },
            })),
            h("td", { dir: "auto" }, price.name), h("td", { dir: "auto" }, price.of),
            h("td", {}, price.variant === null ? "" : SERVICES[price.variant] ?? price.variant),
            h("td", { class: "number" }, money(price.amount, currency)))));
        more.hidden = rows.length <= most;
        drawCount(rows.length);
    }

    function drawCount(rows) {
        setText(count, `${selected.size} selected, ${rows} of ${prices.length} prices found`);
    }

    async function change() {
        const isPercentage = unit.value === "percent";
        const digits = isPercentage ? 2 : major(0, currency).split(".")[1]?.length ?? 0;
        const [, sign, whole, part = ""] = /^([-−+]?)(\d{1,9})(?:[.,](\d*))?$/.exec(by.value.trim()) ?? [];
        if (whole === undefined || part.length > digits) throw new Error("Change by: write a number such as 5 or -2.5.");
        const number = Number(whole + part.padEnd(digits, "0")) * (sign === "-" || sign === "−" ? -1 : 1);
        const rule = { by: number, isPercentage, step: Number(step.value) };
        const changed = prices.filter(({ key }) => selected.has(key))
            .map((price) => ({ ...price, next: changedAmount(price.amount, rule) }))
            .filter(({ amount, next }) => amount !== next);
        if (changed.length === 0) throw new Error(selected.size === 0 ? "Select prices first." : "That changes no price.");
        const below = changed.find(({ next }) => next < 0);
        if (below) throw new Error(`${below.name} would cost less than nothing.`);
        const texts = changed.slice(0, MOST_SHOWN).map(({ name, variant, amount, next }) =>
            `${name}${variant === null ? "" : ` (${SERVICES[variant] ?? variant})`}: ${money(amount, currency)} → ${money(next, currency)}`);
        if (changed.length > MOST_SHOWN) texts.push(`And ${changed.length - MOST_SHOWN} more.`);
        const title = changed.length === 1 ? "Change this price?" : `Change these ${changed.length} prices?`;
        if (!await ask({ title, texts, yes: "Change", no: "Not yet" })) return;
        try {
            await menu.replace(withPrices(menu.document, new Map(changed.map(({ key, next }) => [key, next]))));
            say(changed.length === 1 ? "The price was changed." : `${changed.length} prices were changed.`);
        } catch (error) {
            if (error.code !== "CONFLICT") throw error;
            await menu.read();
            throw new Error("Somebody else has changed the menu. Here it is as it is now: look at it, and change it again.");
        } finally {
            prices = pricesOf(menu.document);
            draw();
        }
    }
}
