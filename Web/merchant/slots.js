// The times that orders for later can still be wanted for, and how much room each has.

import { get } from "../shared/api.js";
import { h, table } from "../shared/build.js";
import { dayName, daysFrom, hourIn } from "../shared/clock.js";
import { setText } from "../shared/dom.js";
import { SERVICES } from "../shared/order.js";
import { keepReading, labelled, outletPath, select } from "./parts.js";

const EVERY = 10_000;

/// The times of a day with a choice of the day; null for an outlet that has none.
export function slotsSection(outlet, { signal, fail }) {
    const { timeZone: zone, slots, orderAheadDays, services } = outlet;
    if (!slots || !orderAheadDays) return null;
    const days = select(daysFrom(zone, orderAheadDays + 1).map((day) => [day, dayName(day, zone)]), null);
    const said = h("p", { class: "muted", role: "status" });
    const list = table("slots", ["Time", "For", "Still takes"], []);
    const body = list.querySelector("tbody");
    const look = () => read().then(() => fail(null), (error) => signal.aborted || fail(error));
    days.onchange = look;
    look();
    keepReading(EVERY, signal, look);
    return h("section", { class: "page" }, h("h2", {}, "Times for later"), h("div", { class: "tools" }, labelled("Day", days)), said, list);

    async function read() {
        const date = days.value;
        const kinds = Object.keys(SERVICES).filter((kind) => services?.[kind]);
        const answers = await Promise.all(kinds.map((service) =>
            get(`${outletPath(outlet.id)}/slots?${new URLSearchParams({ date, service })}`, { signal })));
        if (date === days.value) draw(kinds, answers);
    }

    // It is one kitchen: what begins at the same time is the same for all.
    function draw(kinds, answers) {
        const times = new Map();
        for (const [place, answer] of answers.entries()) {
            for (const { at, left } of answer.slots) {
                if (!times.has(at)) times.set(at, { at, left, kinds: [] });
                times.get(at).kinds.push(SERVICES[kinds[place]]);
            }
        }
        const rows = [...times.values()].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
        const full = rows.filter(({ left }) => left === 0).length;
        setText(said, rows.length === 0 ? "No time is left on this day." : `${rows.length} times, ${full === 0 ? "none" : full} of them full`);
        list.hidden = rows.length === 0;
        body.replaceChildren(...rows.map(({ at, left, kinds: names }) => h("tr", {},
            h("th", { scope: "row" }, hourIn(zone, at)), h("td", {}, names.join(", ")),
            h("td", {}, left === undefined ? "any number of orders"
                : left === 0 ? h("strong", { class: "gone" }, "Full") : `${left} of ${slots.orders}`))));
    }
}
