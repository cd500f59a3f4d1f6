// The orders of a week by day and hour: the larger a dot, the more there were. A table has the numbers.

import { h, table } from "../shared/build.js";
import { hourIn } from "../shared/clock.js";
import { minutesOf } from "../shared/hours.js";

const NAMESPACE = "http://www.w3.org/2000/svg";
const DAYS = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" });
// The sides of a dot's field, and the room for the names of days and hours.
const SIDE = 24;
const LEFT = 84;
const TOP = 20;
const DAY_MINUTES = 24 * 60;

/// How many orders were placed in each hour of some days of `TAKINGS`, `{hours, rows: [{day, counts}]}`, by the clock of
/// the outlet: an hour that is shown twice is one, and one that is skipped has none.
export function byHour(days, zone) {
    const first = minutesOf(hourIn(zone, days[0].from));
    const since = (hour) => (minutesOf(hour) - first + DAY_MINUTES) % DAY_MINUTES;
    const named = days.map(({ day, hours }) => ({ day, hours: hours.map(({ from, services }) => [
        hourIn(zone, from), services.reduce((sum, { sold }) => sum + sold.count, 0),
    ]) }));
    const hours = [...new Set(named.flatMap((day) => day.hours.map(([hour]) => hour)))].sort((a, b) => since(a) - since(b));
    const countOf = (day, hour) => day.hours.reduce((sum, [name, count]) => (name === hour ? sum + count : sum), 0);
    return { hours, rows: named.map((day) => ({ day: day.day, counts: hours.map((hour) => countOf(day, hour)) })) };
}

/// The plot with its table.
export function weekPlot(days, zone) {
    const { hours, rows } = byHour(days, zone);
    const names = rows.map(({ day }) => DAYS.format(new Date(day)));
    const most = Math.max(...rows.flatMap(({ counts }) => counts));
    const dots = rows.flatMap(({ counts }, row) => counts.flatMap((count, column) => (count === 0 ? [] : [svg("circle", {
        cx: LEFT + (column + 0.5) * SIDE, cy: TOP + (row + 0.5) * SIDE, r: Math.max(2, SIDE / 2 * Math.sqrt(count / most)),
    }, svg("title", {}, `${names[row]}, ${hours[column]}: ${count}`))])));
    const row = rows.findIndex(({ counts }) => counts.includes(most));
    const peak = most === 0 ? "There were none." : `The most in an hour were ${most}, on ${names[row]} at ${hours[rows[row].counts.indexOf(most)]}.`;
    return h("section", { class: "page" },
        h("h2", {}, "Orders by the hour"), h("p", { "data-testid": "peak" }, peak),
        h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Plot of orders by the hour" }, svg("svg", {
            class: "plot", role: "img", "aria-label": `A dot for each hour with orders. ${peak}`,
            viewBox: `0 0 ${LEFT + hours.length * SIDE} ${TOP + rows.length * SIDE}`,
        },
        hours.flatMap((hour, column) => (column % 3 === 0 ? [svg("text", { x: LEFT + column * SIDE, y: TOP - 6 }, hour)] : [])),
        names.map((name, place) => svg("text", { x: 0, y: TOP + (place + 0.5) * SIDE + 4 }, name)),
        names.map((_, place) => svg("path", { d: `M${LEFT} ${TOP + (place + 1) * SIDE}h${hours.length * SIDE}` })),
        dots)),
        h("details", {}, h("summary", {}, "As a table"), table("takings", ["Day", ...hours], rows.map(({ counts }, place) => h("tr", {},
            h("th", { scope: "row" }, names[place]), counts.map((count) => h("td", { class: "number" }, String(count))))))));
}

function svg(tag, attributes, ...children) {
    const node = document.createElementNS(NAMESPACE, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
    node.append(...children.flat());
    return node;
}
