// When a place is open, by the clock of its zone.

import { dayIn, dayName, hourIn, isPast, now, weekTime } from "./clock.js";

export const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const DAY = 24 * 60;
const WEEK = 7 * DAY;

/// When a closed place opens next, as part of a sentence: `tomorrow at 09:00`. An empty text where it has no hours, or
/// would be open now by them.
export function nextOpening(hours, time) {
    const now = DAYS.indexOf(time.day) * DAY + time.minutes;
    const waits = hours.map(({ day, opens, closes }) => {
        const start = DAYS.indexOf(day) * DAY + minutesOf(opens);
        return { day, opens, wait: (start - now + WEEK) % WEEK, since: (now - start + WEEK) % WEEK,
            length: minutesOf(closes) - minutesOf(opens) };
    });
    if (waits.length === 0 || waits.some(({ since, length }) => since < length)) return "";
    const { day, opens, wait } = waits.reduce((first, other) => (other.wait < first.wait ? other : first));
    const days = Math.floor((time.minutes + wait) / DAY);
    return `${days === 0 ? "" : days === 1 ? "tomorrow " : `on ${named(day)} `}at ${opens}`;
}

/// The hours of each day, from Monday on, as `{day, text}`.
export function week(hours) {
    return DAYS.map((day) => ({
        day: named(day),
        text: periodsText(hours.filter((entry) => entry.day === day)),
    }));
}

/// Periods of a day, `09:00–14:00, 18:00–01:30`.
export function periodsText(periods) {
    return periods.map(({ opens, closes }) => `${opens}–${clockOf(closes)}`).join(", ") || "closed";
}

/// When a closed outlet opens, as part of a sentence; an empty text where nobody knows.
export function opening({ hours, timeZone, opensAt, follows }) {
    if (opensAt) {
        const day = dayIn(timeZone, opensAt);
        const name = dayName(day, timeZone);
        return `${day === dayIn(timeZone, now()) ? "" : name === "tomorrow" ? "tomorrow " : `on ${name} `}at ${hourIn(timeZone, opensAt)}`;
    }
    // What is closed by hand stays closed, whatever the hours say.
    return follows === "hours" ? "" : nextOpening(hours ?? [], weekTime(timeZone));
}

/// Whether an outlet takes orders for as soon as possible.
export function isOpen({ status, pausedUntil }) {
    return status === "open" || (status === "paused" && isPast(pausedUntil));
}

/// Whether it is another part of the day now, at an outlet, than the one of that id.
export function isOff(daypart, { dayparts, timeZone }) {
    const hours = (dayparts ?? []).find(({ id }) => id === daypart)?.hours;
    return hours !== undefined && nextOpening(hours, weekTime(timeZone)) !== "";
}

/// `Monday`.
export function named(day) {
    return day[0].toUpperCase() + day.slice(1);
}

/// The minutes since midnight.
export function minutesOf(text) {
    const [hour, minute] = text.split(":").map(Number);
    return hour * 60 + minute;
}

/// What clocks show. Hours go on past midnight: 25:30 is half past one.
export function clockOf(text) {
    const minutes = minutesOf(text) % DAY;
    return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0")).join(":");
}
