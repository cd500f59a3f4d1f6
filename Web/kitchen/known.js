// The orders that this screen has shown: which of them nobody has taken note of, and which ended elsewhere.

import { Problem, get } from "../shared/api.js";
import { remember, remembered } from "../shared/memory.js";

const BEGUN = ["preparing", "ready"];
const LOST = ["cancelled", "rejected", "awaitingPayment"];

export class Known {
    #name;
    #changed;
    // By order, whether somebody has taken note of it; null before this screen has shown anything.
    #noted;
    // The documents of those that ended elsewhere.
    #gone = new Map();
    #asked = new Set();

    /// `changed()` is called when an order turns out to have ended.
    constructor(outlet, changed) {
        this.#name = `kitchen.${outlet}`;
        this.#changed = changed;
        const kept = remembered(this.#name);
        this.#noted = kept && new Map(Object.entries(kept));
    }

    /// Takes the orders on the board; `isEnding(order)` says whether one was ended here.
    take(orders, isEnding) {
        const isFirst = this.#noted === null;
        this.#noted ??= new Map();
        const ids = new Set(orders.map(({ order }) => order));
        for (const { order, status } of orders) {
            this.#gone.delete(order);
            const isNoted = this.#noted.get(order) || BEGUN.includes(status) || (isFirst && status !== "placed");
            this.#noted.set(order, isNoted);
        }
        for (const order of this.#noted.keys()) {
            if (ids.has(order) || this.#gone.has(order)) continue;
            if (isEnding(order)) this.#noted.delete(order);
            else this.#look(order);
        }
        this.#keep();
    }

    /// Whether nobody has taken note of an order.
    isNew(order) {
        return this.#noted?.get(order) === false;
    }

    /// Somebody has taken note of an order, or of its end.
    note(order) {
        if (this.#gone.delete(order)) this.#noted.delete(order);
        else this.#noted.set(order, true);
        this.#keep();
    }

    /// The documents of the orders that ended elsewhere, until somebody takes note.
    get gone() {
        return [...this.#gone.values()];
    }

    async #look(order) {
        if (this.#asked.has(order)) return;
        this.#asked.add(order);
        try {
            const document = await get(`/v1/orders/${encodeURIComponent(order)}`);
            if (LOST.includes(document.status)) this.#gone.set(order, document);
            else this.#noted.delete(order);
            this.#keep();
            this.#changed();
        } catch (error) {
            if (error instanceof Problem && !error.isTemporary) this.#noted.delete(order);
        }
        this.#asked.delete(order);
    }

    #keep() {
        remember(this.#name, Object.fromEntries(this.#noted));
    }
}
