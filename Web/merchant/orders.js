// Orders, the newest first: of an outlet and some of its days, or of all, with a status. A number, an item or a name is
// looked for in those that are shown: names are sealed, and are read one order at a time.

import { get } from "../shared/api.js";
import { address, h, table } from "../shared/build.js";
import { clockTime } from "../shared/clock.js";
import { money } from "../shared/money.js";
import { OPEN, SERVICES, STATES, numberOf } from "../shared/order.js";
import { heading, input, labelled, outletPath, select } from "./parts.js";

const COUNT = 50;
// Of so many each is read, so many at a time.
const COUNT_SEARCHED = 100;
const AT_ONCE = 6;

export async function show(main, parameters, { signal }) {
    const status = parameters.get("status") ?? "";
    let outlet = parameters.get("outlet") ?? "";
    const find = parameters.get("find") ?? "";
    const [from, until] = outlet === "" ? ["", ""] : ["from", "until"].map((key) => parameters.get(key) ?? "");
    const [{ outlets }, details] = await Promise.all([
        get("/v1/own-outlets?count=100", { signal }), outlet === "" ? null : get(outletPath(outlet), { signal }),
    ]);
    const query = new URLSearchParams({ count: String(find === "" ? COUNT : COUNT_SEARCHED) });
    const asked = { status, outlet, from, until, after: parameters.get("after") ?? "" };
    for (const [key, value] of Object.entries(asked)) if (value !== "") query.set(key, value);
    let page = { orders: [], next: null };
    let problem = null;
    try {
        page = await get(`/v1/orders?${query}`, { signal });
    } catch (error) {
        // Who is confined has to name an outlet.
        if (error.code === "INVALID") problem = error.message;
        else if (error.code !== "NOPERM" || outlet !== "" || outlets.length === 0) throw error;
        else {
            outlet = outlets[0].id;
            query.set("outlet", outlet);
            page = await get(`/v1/orders?${query}`, { signal });
        }
    }
    const shown = find === "" ? page.orders : await search(page.orders);
    const names = new Map(outlets.map(({ id, name }) => [id, name]));
    const zones = new Map(outlets.map(({ id, timeZone }) => [id, timeZone]));

    const states = select([["", "All"], [OPEN.join(","), "Open"], ...Object.entries(STATES)], status);
    const places = select([["", "All"], ...outlets.map(({ id, name }) => [id, name])], outlet);
    if (outlet !== "" && !names.has(outlet)) {
        places.append(h("option", { value: outlet, selected: true }, details?.name ?? outlet));
    }
    const [first, last] = [from, until].map((value) => input({ type: "date", value }));
    const text = input({ type: "search", value: find, maxlength: 200 });
    const open = () => {
        const days = places.value === outlet ? { from: first.value || last.value, until: last.value } : {};
        location.hash = address("orders", { outlet: places.value, status: states.value, ...days, find: text.value.trim() });
    };
    states.onchange = places.onchange = open;
    const form = h("form", { class: "tools" }, labelled("Status", states), labelled("Outlet", places),
        outlet === "" ? null : [labelled("From", first), labelled("Until", last)], labelled("Number, item or name", text),
        h("button", { class: "button main" }, "Show"));
    form.onsubmit = (event) => {
        event.preventDefault();
        open();
    };
    main.replaceChildren(
        ...(details ? heading(details, "orders") : [h("h1", { tabindex: "-1", "data-focus-fallback": true }, "Orders")]),
        form,
        problem !== null ? h("p", { class: "gone", role: "alert" }, problem)
            : h("p", { class: "muted", role: "status", dir: "auto" }, summary()),
        ...(shown.length === 0 ? [] : [table(
            "orders", ["Number", "Placed", "Outlet", "Status", "How", "Items", "Total", "Given back"], shown.map(row))]),
        h("p", { class: "chips" }, page.next && h("a", {
            class: "button", href: address("orders", { outlet, status, from, until, find, after: page.next }),
        }, find === "" ? "Older orders" : "Look in older orders")));

    function summary() {
        if (page.orders.length === 0) return "There are no such orders here.";
        return find === "" ? "" : `${shown.length} of ${page.orders.length} orders have “${find}” in their number, items or name.`;
    }

    async function search(orders) {
        const wanted = find.toLocaleLowerCase();
        const found = [];
        let next = 0;
        const look = async () => {
            while (next < orders.length) {
                const order = orders[next++];
                const { name, lines } = await get(`/v1/orders/${encodeURIComponent(order.order)}`, { signal });
                const texts = [order.order, numberOf(order.order), name ?? "", ...lines.map((line) => line.name)];
                if (texts.some((text) => text.toLocaleLowerCase().includes(wanted))) found.push(order);
            }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, look));
        return orders.filter((order) => found.includes(order));
    }

    function row(order) {
        return h("tr", { "data-order": order.order },
            h("td", {}, h("a", { href: address("order", { order: order.order }) }, numberOf(order.order))),
            h("td", {}, clockTime(order.placedAt, zones.get(order.outlet) ?? details?.timeZone)),
            h("td", { dir: "auto" }, names.get(order.outlet) ?? details?.name ?? order.outlet),
            h("td", {}, STATES[order.status] ?? order.status),
            h("td", {}, SERVICES[order.service] ?? ""),
            h("td", { class: "number" }, String(order.count)),
            h("td", { class: "number" }, money(order.total, order.currency)),
            h("td", { class: "number" }, order.refunded > 0 ? money(order.refunded, order.currency) : ""));
    }
}
