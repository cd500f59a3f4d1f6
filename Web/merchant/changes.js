// What differs between menus and their parts, in words, and what becomes of two changes of one part.

import { money } from "../shared/money.js";
import { longestRise } from "../shared/reconcile.js";

const LABELS = {
    item: {
        name: "Name", kind: "Kind", price: "Price", prices: "Prices by service", description: "Description",
        cuisine: "Cuisine", tags: "Tags", imageSmall: "Small picture", imageLarge: "Large picture", images: "More pictures",
        links: "Links", maxQuantity: "Most in an order", options: "Groups of options", tax: "Tax", combo: "Combo", promotion: "Promotion",
        attributes: "Attributes", section: "Section", daypart: "Part of the day",
    },
    section: { title: "Title", kind: "Kind", layout: "Layout", sticky: "Header stays", daypart: "Part of the day" },
    group: {
        title: "Title", min: "At least", max: "At most", free: "Free of charge", setsPrice: "Sizes", options: "Options",
    },
    option: {
        name: "Name", price: "Price", prices: "Other prices", item: "Item", tax: "Tax", default: "Chosen at first",
        max: "At most", groups: "Opens groups",
    },
};
const AMOUNTS = ["price", "prices"];

/// A part of a menu as it can be put: without what follows from elsewhere, and without what is empty.
export function editable(part) {
    const { id, available, availableFrom, hasOptions, from, items, options, ...rest } = part;
    if (from) delete rest.price;
    if (options) rest.options = options.map((option) => (typeof option === "object" ? { id: option.id, ...editable(option) } : option));
    return Object.fromEntries(Object.entries(rest).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value) {
    return value === null || value === undefined || (typeof value === "object" && Object.keys(value).length === 0);
}

export function isSame(left, right) {
    if (left === right) return true;
    if (left === null || right === null || typeof left !== "object" || typeof right !== "object") {
        return isEmpty(left) && isEmpty(right);
    }
    const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
    return Array.isArray(left) === Array.isArray(right) && [...keys].every((key) => isSame(left[key], right[key]));
}

/// What differs between two states of a part, each as a sentence. Null stands for none.
export function differences(kind, before, after, currency) {
    if (after === null) return before === null ? [] : ["It is removed."];
    const labels = LABELS[kind];
    const texts = before === null ? ["It is new."] : [];
    for (const key of new Set([...Object.keys(labels), ...Object.keys(before ?? {}), ...Object.keys(after)])) {
        const [old, now] = [before?.[key], after[key]];
        if (key === "id" || isSame(old, now)) continue;
        if (kind === "group" && key === "options") texts.push(...ofOptions(old ?? [], now ?? [], currency));
        else {
            const word = (value) => inWords(value, AMOUNTS.includes(key) ? currency : null);
            const label = labels[key] ?? key;
            texts.push(before === null ? `${label}: ${word(now)}` : `${label}: ${word(old)} → ${word(now)}`);
        }
    }
    return texts;
}

function ofOptions(before, after, currency) {
    const old = new Map(before.map((option) => [option.id, option]));
    const now = new Set(after.map(({ id }) => id));
    const texts = [
        ...before.filter(({ id }) => !now.has(id)).map(({ name }) => `${name}: it is removed.`),
        ...after.flatMap((option) => differences("option", old.get(option.id) ?? null, option, currency)
            .map((text) => `${option.name}: ${text}`)),
    ];
    const places = after.filter(({ id }) => old.has(id)).map(({ id }) => before.findIndex((option) => option.id === id));
    if (places.some((place, index) => index > 0 && place < places[index - 1])) {
        texts.push(`Order: ${after.map(({ name }) => name).join(", ")}`);
    }
    return texts;
}

function inWords(value, currency) {
    if (isEmpty(value)) return "nothing";
    if (typeof value === "boolean") return value ? "yes" : "no";
    if (typeof value === "number") return currency ? money(value, currency) : String(value);
    if (typeof value === "string") return value;
    if (Array.isArray(value)) return value.map((each) => inWords(each, currency)).join(", ");
    return Object.entries(value).map(([key, each]) => `${key} ${inWords(each, currency)}`).join(", ");
}

/// My change of a part, made to what it has become meanwhile: of a field that both changed, mine counts.
export function merged(base, mine, theirs) {
    if (mine === null || theirs === null || base === null) return mine;
    const result = { ...theirs };
    for (const key of new Set([...Object.keys(base), ...Object.keys(mine)])) {
        if (!isSame(base[key], mine[key])) result[key] = mine[key];
    }
    return result;
}

/// Every part of a menu as `{kind, id, part, list, place}`: `list` names what it has its place in.
function* parts({ sections = [], groups = [] }) {
    for (const [place, section] of sections.entries()) {
        yield { kind: "section", id: section.id, name: section.title, part: editable(section), list: "", place };
        for (const [index, item] of (section.items ?? []).entries()) {
            const part = { ...editable(item), section: section.id };
            yield { kind: "item", id: item.id, name: item.name, part, list: section.id, place: index };
        }
    }
    for (const [place, group] of groups.entries()) {
        yield { kind: "group", id: group.id, name: group.title, part: editable(group), list: null, place };
    }
}

/// What differs between two menus, as `{kind, id, name, texts}`.
export function menuDifferences(before, after, currency) {
    const key = ({ kind, id }) => `${kind} ${id}`;
    const old = new Map([...parts(before)].map((each) => [key(each), each]));
    const now = new Map([...parts(after)].map((each) => [key(each), each]));
    const moved = movedParts(old, now);
    const found = [];
    for (const [name, each] of now) {
        const texts = differences(each.kind, old.get(name)?.part ?? null, each.part, currency);
        if (moved.has(name)) texts.push(`Place: ${old.get(name).place + 1} → ${each.place + 1}`);
        if (texts.length > 0) found.push({ kind: each.kind, id: each.id, name: each.name, texts });
    }
    for (const [name, each] of old) {
        if (!now.has(name)) found.push({ kind: each.kind, id: each.id, name: each.name, texts: ["It is removed."] });
    }
    return found;
}

// Those that are not where they were among the others of their list. The order of groups says nothing.
function movedParts(old, now) {
    const lists = Map.groupBy(
        [...now].filter(([name, { list }]) => list !== null && old.get(name)?.list === list),
        ([name, { kind, list }]) => `${kind} ${list}`);
    const moved = new Set();
    for (const each of lists.values()) {
        const staying = new Set(longestRise(each.map(([name]) => old.get(name).place)));
        for (const [index, [name]] of each.entries()) if (!staying.has(index)) moved.add(name);
    }
    return moved;
}
