// Puts what was ordered once into the cart again, at today's prices.

import { Problem, request } from "../shared/api.js";
import { optionsText } from "./options.js";

// What is wrong with all lines, and not with one.
const OF_ALL = ["CLOSED", "WRONGOUTLET", "STATE", "LIMIT"];

/// Adds the lines of an order, and answers the names of those that cannot be had now. Throws Problem if nothing of the
/// place can, and Away. `keys` holds the key of each line, so that none is added twice if this is done again with them.
export async function addLines({ outlet, lines }, keys) {
    const missing = [];
    for (const { line, item, name, quantity, options, note } of lines) {
        if (!keys.has(line)) keys.set(line, crypto.randomUUID());
        const chosen = optionsText(options ?? []);
        const body = { outlet, item, quantity, note: note ?? null, ...(chosen === "" ? {} : { options: chosen }) };
        try {
            await request("POST", "/v1/cart/lines", { body, key: keys.get(line) });
        } catch (error) {
            if (!(error instanceof Problem) || error.isTemporary || OF_ALL.includes(error.code)) throw error;
            missing.push(name);
        }
    }
    return missing;
}

/// Empties the cart.
export async function emptyCart() {
    await request("DELETE", "/v1/cart/lines", { key: crypto.randomUUID() });
}
