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

/// The day of the calendar in an IANA zone, such as 2026-03-01.
export function dayIn(zone, time) {
    return formatIn(zone, { year: "numeric", month: "2-digit", day: "2-digit" }, "en-CA").format(new Date(time));
}

/// What the clocks of an IANA zone show, such as 09:30.
export function hourIn(zone, time) {
    return formatIn(zone, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }, "en-GB").format(new Date(time));
}

/// When the clocks of an IANA zone show an hour of a day, `momentIn(zone, "2026-03-01", "09:30")`, in RFC 3339.
export function momentIn(zone, day, hour) {
    const wanted = Date.parse(`${day}T${hour}:00Z`);
    let moment = wanted;
    // The zone can be further ahead there than here.
    for (let round = 0; round < 2; round++) moment += wanted - Date.parse(`${dayIn(zone, moment)}T${hourIn(zone, moment)}:00Z`);
    return new Date(moment).toISOString().replace(".000Z", "Z");
}

/// The days from today on in an IANA zone, so many of them.
export function daysFrom(zone, count) {
    const today = Date.parse(dayIn(zone, now()));
    return Array.from({ length: count }, (_, place) => new Date(today + place * DAY).toISOString().slice(0, 10));
}

/// A day for people, as part of a sentence: `today`, `tomorrow`, or `Sat, 28 Nov`.
export function dayName(day, zone) {
    const place = daysFrom(zone, 2).indexOf(day);
    return ["today", "tomorrow"][place]
        ?? formatIn("UTC", { weekday: "short", day: "numeric", month: "short" }).format(new Date(day));
}

/// The server's text with the times in it as the clocks of an IANA zone show them.
export function localTimes(text, zone) {
    return text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (time) => clockTime(time, zone));
}

/// The time for people, in an IANA zone: only the hour if it is today.
export function clockTime(time, zone) {
    const date = new Date(time);
    const [day, hour, both] = formatsOf(zone);
    return (day.format(now()) === day.format(date) ? hour : both).format(date);
}
