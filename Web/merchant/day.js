// What an outlet took, by its days, as a table and as CSV, its orders by the hour, and its times for later.

import { get } from "../shared/api.js";
import { address, h, table } from "../shared/build.js";
import { dayIn, now } from "../shared/clock.js";
import { money } from "../shared/money.js";
import { SERVICES } from "../shared/order.js";
import { heading, input, labelled, outletPath, saveFile } from "./parts.js";
import { slotsSection } from "./slots.js";
import { weekPlot } from "./week-plot.js";

const DAY = 86_400_000;
// So many days at most are divided into hours.
const WEEK = 7;
const MOVEMENTS = ["sold", "changed", "cancelled", "refunded"];
const TITLES = { sold: "Sold", changed: "Changed", cancelled: "Cancelled", refunded: "Given back" };

export async function show(main, parameters, { signal, fail }) {
    const outlet = await get(outletPath(parameters.get("outlet") ?? ""), { signal });
    const until = parameters.get("until") ?? dayIn(outlet.timeZone, now());
    const from = parameters.get("from") ?? daysBefore(until, WEEK - 1);
    const first = input({ type: "date", value: from, required: true });
    const last = input({ type: "date", value: until, required: true });
    const form = h("form", { class: "tools" }, labelled("From", first), labelled("Until", last), h("button", { class: "button main" }, "Show"));
    form.onsubmit = (event) => {
        event.preventDefault();
        location.hash = address("day", { outlet: outlet.id, from: first.value, until: last.value });
    };
    const body = h("div", { class: "page" });
    const later = slotsSection(outlet, { signal, fail });
    main.replaceChildren(...heading(outlet, "day"), form, body, ...(later ? [later] : []));
    try {
        const read = (query) => get(`${outletPath(outlet.id)}/takings?${new URLSearchParams(query)}`, { signal });
        const week = daysBefore(until, WEEK - 1);
        const [takings, divided] = await Promise.all([
            read({ from, until }), read({ from: from > week ? from : week, until, by: "hour" }),
        ]);
        draw(takings);
        body.append(weekPlot(divided.days, divided.timeZone));
    } catch (error) {
        if (!signal.aborted) body.replaceChildren(h("p", { class: "gone", role: "alert" }, error.message));
    }

    function draw(takings) {
        const cash = (amount) => h("td", { class: "number" }, money(amount, takings.currency));
        const sum = ({ services }, movement, member = "total") =>
            services.reduce((all, service) => all + (service[movement]?.[member] ?? 0), 0);
        // Where no order was changed, nothing is said of it.
        const shown = MOVEMENTS.filter((movement) => movement !== "changed" || takings.sum.services.some(({ changed }) => changed));
        const titles = shown.map((movement) => TITLES[movement]);
        const tax = ({ net }) => net.taxes.reduce((all, { amount }) => all + amount, 0);
        const row = (day, title) => h("tr", {},
            h("th", { scope: "row" }, title), h("td", { class: "number" }, String(sum(day, "sold", "count"))),
            ...shown.map((movement) => cash(sum(day, movement))), cash(day.net.total), cash(tax(day)),
            cash(day.payments.captured?.amount ?? 0));
        const services = takings.sum.services.filter(({ service }) => service !== null);
        body.replaceChildren(
            table("takings", ["Day", "Orders", ...titles, "What it brought", "of it tax", "Paid"],
                [...takings.days.map((day) => row(day, day.day)), row(takings.sum, "All")]),
            ...(services.length === 0 ? [] : [table("takings", ["How", "Orders", ...titles, "What it brought"],
                services.map((service) => h("tr", {}, h("th", { scope: "row" }, SERVICES[service.service] ?? service.service),
                    h("td", { class: "number" }, String(service.sold.count)),
                    ...shown.map((movement) => cash(service[movement]?.total ?? 0)), cash(service.net.total))))]),
            h("p", {}, h("button", { class: "button", type: "button", click: () => saveFile(`takings-${outlet.id}-${from}-${until}.csv`, csv(takings)) }, "Save as CSV")));
    }
}

function daysBefore(day, count) {
    return new Date(Date.parse(day) - count * DAY).toISOString().slice(0, 10);
}

/// The lines that `tiffin takings --csv` prints.
export function csv({ days }) {
    const lines = [["day", "service", "of", "kind", "tax", "rate", "by", "count", "base", "amount"]];
    for (const { day, services, payments } of days) {
        for (const each of services) {
            for (const movement of MOVEMENTS) {
                const { count, taxes, discounts, ...sums } = each[movement] ?? { taxes: [] };
                const add = (kind, amount, { tax = "", rate = "", by = "", count = "", base = "" } = {}) =>
                    lines.push([day, each.service, movement, kind, tax, rate, by, count, base, amount]);
                for (const [kind, amount] of Object.entries(sums)) add(kind, amount, kind === "total" ? { count } : {});
                for (const { by, amount } of discounts ?? []) add("discount", amount, { by });
                for (const { id, rate, base, amount } of taxes) add("tax", amount, { tax: id, rate, base });
            }
        }
        for (const [kind, { count, amount }] of Object.entries(payments)) lines.push([day, "", "paid", kind, "", "", "", count, "", amount]);
    }
    return lines.map((line) => `${line.map((value) => value ?? "").join(",")}\r\n`).join("");
}
