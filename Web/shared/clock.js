// The server's clock, as it was said in the latest answer, and one timer for what becomes true by itself.

let offset = 0;
const alarms = new Map();
let timer = null;

const DAY = 24 * 60 * 60 * 1000;
// A timer of browsers holds 24 days.
const LONGEST_TIMER = 2 ** 31 - 1;

/// Learns the server's time from an answer's Date, which has whole seconds.
export function hear(answer) {
    const date = Date.parse(answer.headers.get("date") ?? "");
    if (!Number.isNaN(date)) offset = date + 500 - Date.now();
}

/// The server's time in milliseconds since 1970.
export function now() {
    return Date.now() + offset;
}

/// Whether an RFC 3339 time has come; null never comes.
export function isPast(time) {
    return time !== null && time !== undefined && Date.parse(time) <= now();
}

/// Calls `ring` at that time, in place of what was set under the name before.
export function alarm(name, time, ring) {
    if (time === null || isPast(time)) alarms.delete(name);
    else alarms.set(name, { at: Date.parse(time), ring });
    wind();
}

function wind() {
    clearTimeout(timer);
    if (alarms.size === 0) return;
    const first = Math.min(...[...alarms.values()].map(({ at }) => at));
    timer = setTimeout(ringDue, Math.min(Math.max(first - now(), 0) + 1, LONGEST_TIMER));
}

function ringDue() {
    for (const [name, { at, ring }] of alarms) {
        if (at > now()) continue;
        alarms.delete(name);
        ring();
    }
    wind();
}

const formats = new Map();

/// How times of a zone are written; without one, those of the browser's.
function formatsOf(zone) {
    let found = formats.get(zone);
    if (!found) {
        const [day, hour] = [{ day: "numeric", month: "short" }, { hour: "2-digit", minute: "2-digit" }];
        found = [day, hour, { ...day, ...hour }].map((parts) => formatIn(zone, parts));
        formats.set(zone, found);
    }
    return found;
}

function formatIn(zone, parts, locale) {
    try {
        return new Intl.DateTimeFormat(locale, { ...parts, timeZone: zone });
    } catch {
        // A browser may not know the zone.
        return new Intl.DateTimeFormat(locale, parts);
    }
}

/// The day of the week in an IANA zone, such as `monday`, and the minutes since its midnight.
export function weekTime(zone) {
    const format = formatIn(zone, { weekday: "long", hour: "2-digit", minute: "2-digit", hourCycle: "h23" }, "en-GB");
    const parts = Object.fromEntries(format.formatToParts(now()).map(({ type, value }) => [type, value]));
    return { day: parts.weekday.toLowerCase(), minutes: Number(parts.hour) * 60 + Number(parts.minute) };
}

/// The end of today in an IANA zone, in milliseconds since 1970.
export function endOfDay(zone) {
    const clock = formatIn(zone, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }, "en-GB");
    const sinceMidnight = (time) => clock.format(time).split(":").reduce((sum, part) => sum * 60 + Number(part), 0) * 1000;
    const end = Math.floor(now() / 1000) * 1000 - sinceMidnight(now()) + DAY;
    // A day in which the clocks change is longer or shorter.
    const off = sinceMidnight(end);
    return end - (off > DAY / 2 ? off - DAY : off);
}

/// The time for people, in an IANA zone: only the hour if it is today.
export function clockTime(time, zone) {
    const date = new Date(time);
    const [day, hour, both] = formatsOf(zone);
    return (day.format(now()) === day.format(date) ? hour : both).format(date);
}
