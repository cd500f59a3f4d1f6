// When a place is open, by the clock of its zone.

import { weekTime } from "../shared/clock.js";

const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
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
        text: hours.filter((entry) => entry.day === day).map(({ opens, closes }) => `${opens}–${clockOf(closes)}`).join(", ") || "closed",
    }));
}

/// How the hours are at an outlet now.
export function opening({ hours, timeZone }) {
    return nextOpening(hours ?? [], weekTime(timeZone));
}

function named(day) {
    return day[0].toUpperCase() + day.slice(1);
}

function minutesOf(text) {
    const [hour, minute] = text.split(":").map(Number);
    return hour * 60 + minute;
}

// Hours go on past midnight: 25:30 is half past one.
function clockOf(text) {
    const minutes = minutesOf(text) % DAY;
    return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0")).join(":");
}
