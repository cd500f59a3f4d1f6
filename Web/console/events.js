// Reading the log and the documents of the past.

import { get } from "../shared/api.js";

/// The events that one question may answer.
export const MOST_EVENTS = 1000;

export async function readHeads(options) {
    return get("/v1/log/head", options);
}

/// At most MOST_EVENTS events of a partition from a position on, or of a stream from a version on.
export async function readEvents({ partition = 0, stream = null, from = 1, count = MOST_EVENTS }, options) {
    const query = new URLSearchParams({ from: String(from), count: String(count) });
    if (stream) query.set("stream", stream);
    else query.set("partition", String(partition));
    return get(`/v1/log?${query}`, options);
}

/// The partition of a stream, which its first event tells; the first one if there is none, or the name is not one.
export async function partitionOf(stream, options) {
    try {
        const [event] = stream ? await readEvents({ stream, count: 1 }, options) : [];
        return event?.partition ?? 0;
    } catch (error) {
        if (error.code === "INVALID") return 0;
        throw error;
    }
}

/// The document that shows what a stream has come to, as a path; null where there is none.
export function documentPath(stream) {
    const [category, ...rest] = stream.split("-");
    const name = encodeURIComponent(rest.join("-"));
    switch (category) {
        case "outlet": case "menu": return `/v1/outlets/${name}/home`;
        case "cart": return `/v1/carts/${name}`;
        case "order": return `/v1/orders/${name}`;
        default: return null;
    }
}

/// The document as of a position or a time; null if there was none.
export async function readPast(path, at, options) {
    try {
        return await get(`${path}?at=${encodeURIComponent(at)}`, options);
    } catch (error) {
        if (error.code === "NOTFOUND") return null;
        throw error;
    }
}

/// What differs between two documents: `{path, before, after}`, undefined for what is not there. Members of lists are
/// the same if their ids are.
export function differences(before, after, path = "") {
    if (before === after) return [];
    if (isContainer(before) && isContainer(after) && Array.isArray(before) === Array.isArray(after)) {
        const [left, right] = [members(before), members(after)];
        const found = [...new Set([...left.keys(), ...right.keys()])]
            .flatMap((key) => differences(left.get(key), right.get(key), `${path}/${key}`));
        const order = [...left.keys()].filter((key) => right.has(key)).join("/");
        const isMoved = order !== [...right.keys()].filter((key) => left.has(key)).join("/");
        return isMoved && Array.isArray(before) ? [...found, { path, before: "another order", after: "this order" }] : found;
    }
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path: path || "/", before, after }];
}

function isContainer(value) {
    return value !== null && typeof value === "object";
}

function members(container) {
    if (!Array.isArray(container)) return new Map(Object.entries(container));
    const ids = container.map((member) => member?.id ?? member?.line ?? null);
    const areIDs = ids.every((id) => id !== null) && new Set(ids).size === ids.length;
    return new Map(container.map((member, place) => [areIDs ? ids[place] : String(place), member]));
}
