// What an outlet says of itself, in words.

import { dayIn, now } from "../shared/clock.js";
import { DAYS, clockOf, minutesOf, named, periodsText, week } from "../shared/hours.js";
import { money } from "../shared/money.js";
import { SERVICES } from "../shared/order.js";
import { isSame, merged } from "./changes.js";

const DAY = 86_400_000;
const MOMENTS = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" });

const plain = (value) => value ?? "none";

/// The fields that the page of hours has, each with its label and its value in words.
/** @type {Record<string, [string, (value: any, currency: string) => string]>} */
export const FIELDS = {
    name: ["Name", plain], address: ["Address", plain], area: ["Area", plain], city: ["City", plain],
    cuisines: ["Cuisines", (value) => (value ?? []).join(", ") || "none"],
    prepMinutes: ["Ready in", (value) => (value === undefined ? "no promise" : `${value} minutes`)],
    acceptWithin: ["Accepted within", (value) => (value === undefined ? "nobody has to" : `${value} seconds`)],
    payment: ["Paid", (value) => (value === "first" ? "before the kitchen sees it" : "at any time")],
    minimumOrder: ["Least order", (value, currency) => (value == null ? "none" : money(value, currency))],
    taxIncluded: ["Taxes are", (value) => (value === undefined ? "not said" : value ? "in the prices" : "on top of the prices")],
    taxes: ["Taxes", (value) => (value ?? []).map(taxWords).join("; ") || "none"],
    charges: ["Charges", (value, currency) => chargeWords(value ?? {}, currency)],
    hours: ["Hours", weekWords], specialDays: ["Special days", specialWords],
    follows: ["Opens and closes", (value) => (value === "hours" ? "by its hours" : "by hand")],
    orderAheadDays: ["Orders ahead", (value) => (value ? `${value} days` : "none")],
    slots: ["Times for later", (value) => (value
        ? `every ${value.minutes} minutes${value.orders === undefined ? "" : `, for ${value.orders} orders each`}` : "any time")],
    dayparts: ["Parts of the day", (value) => (value ?? []).map(({ id, hours }) => `${id} ${weekWords(hours)}`).join("; ") || "none"],
};

/// What differs between two states of an outlet, each as a sentence.
export function outletDifferences(before, after) {
    const texts = [];
    for (const [key, [label, word]] of Object.entries(FIELDS)) {
        if (!isSame(before[key], after[key])) texts.push(`${label}: ${word(before[key], before.currency)} → ${word(after[key], after.currency)}`);
    }
    for (const kind of Object.keys(SERVICES)) {
        const [old, mine] = [before.services?.[kind], after.services?.[kind]];
        if (isSameService(old, mine)) continue;
        texts.push(`${SERVICES[kind]}: ${serviceWords(old, before.currency)} → ${serviceWords(mine, after.currency)}`);
    }
    return texts;
}

// A service that says nothing is offered all the same.
function isSameService(left, right) {
    return isSame(left, right) && (left === undefined) === (right === undefined);
}

/// My change of an outlet, made to what it has become meanwhile.
export function mergedOutlet(base, mine, theirs) {
    const services = { ...theirs.services };
    for (const kind of Object.keys(SERVICES)) {
        if (!isSameService(base.services?.[kind], mine.services?.[kind])) services[kind] = mine.services?.[kind];
    }
    const result = { ...merged(base, mine, theirs), services };
    if (!Object.values(services).some((service) => service !== undefined)) delete result.services;
    return result;
}

/// The hours of a week; days that are alike stand together.
export function weekWords(hours) {
    const days = week(hours ?? []);
    const parts = [];
    for (const { day, text } of days) {
        const last = parts.at(-1);
        if (last?.text === text) last.to = day;
        else parts.push({ from: day, to: day, text });
    }
    return parts.map(({ from, to, text }) => `${from === to ? from : `${from}–${to}`} ${text}`).join("; ");
}

function specialWords(days) {
    return (days ?? []).map(({ date, hours }) => `${date} ${periodsText(hours)}`).join("; ") || "none";
}

function serviceWords(service, currency) {
    if (!service) return "not offered";
    const { prepMinutes, minimumOrder, requires = [], charges, hours } = service;
    return [
        "offered", prepMinutes !== undefined && `ready in ${prepMinutes} minutes`,
        minimumOrder !== undefined && `from ${money(minimumOrder, currency)} on`,
        requires.length > 0 && `needs ${requires.join(", ")}`, charges && chargeWords(charges, currency),
        hours && `hours ${weekWords(hours)}`,
    ].filter(Boolean).join(", ");
}

function taxWords({ name, rate, rates = {} }) {
    const others = Object.entries(rates).map(([kind, other]) => `${SERVICES[kind]} ${other / 1000} %`);
    return `${name} ${rate / 1000} %${others.length > 0 ? ` (${others.join(", ")})` : ""}`;
}

function chargeWords({ service, smallOrder, delivery }, currency) {
    const fee = (name, { fee, freeFrom }) => `${name} ${money(fee, currency)}${freeFrom === undefined ? "" : `, free from ${money(freeFrom, currency)}`}`;
    return [
        service && `service ${service.rate / 1000} %`, smallOrder && fee("small orders", smallOrder),
        delivery && fee("delivery", delivery),
    ].filter(Boolean).join(", ") || "no charges";
}

/// The next Saturday in a zone, such as 2026-03-07: never today.
export function nextSaturday(zone) {
    const today = Date.parse(dayIn(zone, now()));
    return shifted(today, (6 - new Date(today).getUTCDay() + 7) % 7 || 7);
}

function shifted(time, days) {
    return new Date(time + days * DAY).toISOString().slice(0, 10);
}

function periodsOn(date, outlet, hours = outlet.hours ?? []) {
    const special = (outlet.specialDays ?? []).find((each) => each.date === date);
    if (special) return special.hours;
    const day = DAYS[(new Date(date).getUTCDay() + 6) % 7];
    return hours.filter((entry) => entry.day === day);
}

/// What an outlet's hours and services mean on a day, as sentences.
export function meaningOf(outlet, date) {
    const periods = periodsOn(date, outlet);
    const late = periodsOn(shifted(Date.parse(date), -1), outlet).filter(({ closes }) => minutesOf(closes) > 24 * 60);
    const texts = [
        `${MOMENTS.format(new Date(date))}: ${periods.length === 0 ? "closed" : `open ${periodsText(periods)}`}`
            + `${late.map(({ closes }) => `, and until ${clockOf(closes)} from the evening before`).join("")}.`,
        outlet.follows === "hours" ? "It opens and closes by itself." : "You open and close it yourself: the hours are only shown.",
    ];
    for (const [kind, service] of Object.entries(outlet.services ?? {})) {
        const open = periodsOn(date, outlet, service.hours ?? outlet.hours ?? []);
        const minutes = service.prepMinutes ?? outlet.prepMinutes;
        const charges = service.charges ?? outlet.charges;
        const words = [
            minutes === undefined ? "no promise" : `ready in ${minutes} minutes`,
            charges ? chargeWords(charges, outlet.currency) : "no charges",
            outlet.orderAheadDays ? laterWords(open, outlet.slots?.minutes) : "nothing for later",
        ];
        texts.push(`${SERVICES[kind]}: ${words.join("; ")}.`);
    }
    for (const { id, hours } of outlet.dayparts ?? []) {
        const day = DAYS[(new Date(date).getUTCDay() + 6) % 7];
        const had = hours.filter((entry) => entry.day === day);
        texts.push(`What is only had at ${id}: ${had.length === 0 ? `not on ${named(day)}` : periodsText(had)}.`);
    }
    return texts;
}

function laterWords(periods, minutes) {
    if (periods.length === 0) return "nothing for later on this day";
    if (!minutes) return `for later at any time of ${periodsText(periods)}`;
    const times = periods.flatMap(({ opens, closes }) => {
        const found = [];
        for (let time = minutesOf(opens); time < minutesOf(closes); time += minutes) found.push(time);
        return found;
    }).map((time) => clockOf(`${Math.floor(time / 60)}:${time % 60}`));
    return times.length <= 4 ? `for later at ${times.join(", ")}` : `for later at ${times.length} times, ${times[0]}, ${times[1]} … ${times.at(-1)}`;
}
