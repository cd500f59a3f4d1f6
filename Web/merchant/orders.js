// Orders, the newest first: of an outlet or of all, with a status.

import { get } from "../shared/api.js";
import { address, h, table } from "../shared/build.js";
import { clockTime } from "../shared/clock.js";
import { money } from "../shared/money.js";
import { OPEN, SERVICES, STATES, numberOf } from "../shared/order.js";
import { heading, labelled, outletPath, select } from "./parts.js";

const COUNT = 50;

export async function show(main, parameters, { signal }) {
    const status = parameters.get("status") ?? "";
    let outlet = parameters.get("outlet") ?? "";
    const [{ outlets }, details] = await Promise.all([
        get("/v1/own-outlets?count=100", { signal }), outlet === "" ? null : get(outletPath(outlet), { signal }),
    ]);
    const query = new URLSearchParams({ count: COUNT });
    for (const key of ["status", "after"]) if (parameters.get(key)) query.set(key, parameters.get(key));
    if (outlet !== "") query.set("outlet", outlet);
    let page;
    try {
        page = await get(`/v1/orders?${query}`, { signal });
    } catch (error) {
        // Who is confined has to name an outlet.
        if (error.code !== "NOPERM" || outlet !== "" || outlets.length === 0) throw error;
        outlet = outlets[0].id;
        query.set("outlet", outlet);
        page = await get(`/v1/orders?${query}`, { signal });
    }
    const names = new Map(outlets.map(({ id, name }) => [id, name]));
    const zones = new Map(outlets.map(({ id, timeZone }) => [id, timeZone]));

    const states = select([["", "All"], [OPEN.join(","), "Open"], ...Object.entries(STATES)], status);
    const places = select([["", "All"], ...outlets.map(({ id, name }) => [id, name])], outlet);
    if (outlet !== "" && !names.has(outlet)) {
        places.append(h("option", { value: outlet, selected: true }, details?.name ?? outlet));
    }
    states.onchange = places.onchange = () => {
        location.hash = address("orders", { outlet: places.value, status: states.value });
    };
    main.replaceChildren(
        ...(details ? heading(details, "orders") : [h("h1", { tabindex: "-1", "data-focus-fallback": true }, "Orders")]),
        h("div", { class: "tools" }, labelled("Status", states), labelled("Outlet", places)),
        page.orders.length === 0 ? h("p", { class: "muted", role: "status" }, "There are no such orders here.")
            : table("orders", ["Number", "Placed", "Outlet", "Status", "How", "Items", "Total", "Given back"], page.orders.map(row)),
        h("p", { class: "chips" }, page.next && h("a", {
            class: "button", href: address("orders", { outlet, status, after: page.next }),
        }, "Older orders")));

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
