// Periods of opening, as they can be edited: several on a day, also past midnight.

import { h } from "../shared/build.js";
import { setText } from "../shared/dom.js";
import { DAYS, clockOf, minutesOf, named } from "../shared/hours.js";

const DAY_MINUTES = 24 * 60;
// What is drawn begins and ends at such minutes.
const STEP = 15;

/// Fields for the periods of a day, which is named in their labels, and a bar that shows them, on which more can be drawn.
/// `changed()` is called after each change. `read` adds what is wrong to a list.
export function periodsEditor(name, periods, changed) {
    const list = h("ul", { class: "periods" });
    const bar = h("div", { class: "bar", "aria-hidden": "true", "data-day": name });
    drawsPeriods(bar, (period) => {
        addRow(period);
        changed();
    });
    const add = h("button", { class: "button", type: "button", "aria-label": `Add a period: ${name}`, click: () => {
        addRow({ opens: "", closes: "" }).querySelector("input").focus();
        changed();
    } }, "Add");
    const rows = () => [...list.children].map((row) => {
        const [opens, closes] = [...row.querySelectorAll("input")].map(({ value }) => value);
        // An end at or before the beginning is on the next day.
        const isNext = opens !== "" && closes !== "" && minutesOf(closes) <= minutesOf(opens);
        setText(row.querySelector("small"), isNext ? "the next day" : "");
        const [hour, minute] = closes.split(":");
        row.shown ??= bar.appendChild(h("i", {}));
        showPeriod(row.shown, opens, isNext ? "24:00" : closes);
        return { opens, closes: isNext ? `${Number(hour) + 24}:${minute}` : closes };
    });

    function addRow({ opens, closes }) {
        const field = (what, value) => h("input", { type: "time", class: "field", "aria-label": `${name} ${what}`, value });
        const row = h("li", {},
            field("opens", opens), "–", field("closes", closes === "" ? "" : clockOf(closes)), h("small", { class: "muted" }),
            h("button", { class: "button", type: "button", "aria-label": `Remove a period: ${name}`, click: () => {
                row.shown?.remove();
                row.remove();
                add.focus();
                changed();
            } }, "Remove"));
        list.append(row);
        return row;
    }

    set(periods);
    function set(periods) {
        list.replaceChildren();
        bar.replaceChildren();
        for (const period of periods) addRow(period);
        rows();
    }

    function read(problems) {
        const all = rows();
        if (all.some(({ opens, closes }) => opens === "" || closes === "")) problems.push(`${name}: a period needs both of its times.`);
        const sorted = all.toSorted((a, b) => minutesOf(a.opens) - minutesOf(b.opens));
        if (sorted.some(({ opens }, place) => place > 0 && minutesOf(opens) < minutesOf(sorted[place - 1].closes))) {
            problems.push(`${name}: two periods are at the same time.`);
        }
        return all;
    }

    return { node: h("div", { class: "day" }, h("span", {}, name), bar, list, add), set, read };
}

function showPeriod(node, opens, closes) {
    node.hidden = opens === "" || closes === "";
    if (node.hidden) return;
    node.style.insetInlineStart = `${minutesOf(opens) / DAY_MINUTES * 100}%`;
    node.style.inlineSize = `${(minutesOf(closes) - minutesOf(opens)) / DAY_MINUTES * 100}%`;
}

/// Has periods drawn on a bar with a finger or a mouse: `drawn({opens, closes})` is called with each.
function drawsPeriods(bar, drawn) {
    const line = h("i", { class: "drawn" });
    let from = null;
    let period = null;
    const minuteAt = ({ clientX }) => {
        const { left, width } = bar.getBoundingClientRect();
        const part = (getComputedStyle(bar).direction === "rtl" ? left + width - clientX : clientX - left) / width;
        return Math.round(Math.min(1, Math.max(0, part)) * DAY_MINUTES / STEP) * STEP;
    };
    const clock = (minutes) => [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0")).join(":");
    bar.onpointerdown = (event) => {
        if (event.button !== 0) return;
        bar.setPointerCapture(event.pointerId);
        [from, period] = [minuteAt(event), null];
    };
    bar.onpointermove = (event) => {
        if (from === null) return;
        const to = minuteAt(event);
        period = to === from ? null : { opens: clock(Math.min(from, to)), closes: clock(Math.max(from, to)) };
        if (period === null) return line.remove();
        showPeriod(line, period.opens, period.closes);
        bar.append(line);
    };
    bar.onpointerup = bar.onpointercancel = ({ type }) => {
        line.remove();
        if (type === "pointerup" && period) drawn(period);
        [from, period] = [null, null];
    };
}

/// Fields for the hours of a week.
export function weekEditor(title, hours, changed) {
    const of = (day) => hours.filter((entry) => entry.day === day);
    const days = DAYS.map((day) => ({ day, editor: periodsEditor(named(day), of(day), changed) }));
    const copy = h("button", { class: "button", type: "button", click: () => {
        const periods = days[0].editor.read([]);
        for (const { editor } of days.slice(1)) editor.set(periods);
        changed();
    } }, "Every day as on Monday");
    return {
        node: h("fieldset", { class: "week" }, h("legend", {}, title), days.map(({ editor }) => editor.node), h("p", {}, copy)),
        read: (problems) => {
            const found = [];
            const all = days.flatMap(({ day, editor }) => editor.read(found).map((period) => ({ day, ...period })));
            problems.push(...found.map((problem) => `${title}: ${problem}`));
            return all;
        },
    };
}
