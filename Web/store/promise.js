// How soon an order is ready that is placed now.

import { get } from "../shared/api.js";

// By outlet, what it says of itself.
const places = new Map();

/// The promise of an outlet for a service, or for none, as a sentence; an empty text where it promises nothing.
export async function promiseOf({ outlet, service }) {
    try {
        if (!places.has(outlet)) places.set(outlet, await get(`/v1/outlets/${encodeURIComponent(outlet)}`));
        const place = places.get(outlet);
        const minutes = place.services?.[service]?.prepMinutes ?? place.prepMinutes;
        return minutes === undefined || minutes === null ? "" : `As soon as possible: ready in about ${minutes} min.`;
    } catch {
        return "";
    }
}
