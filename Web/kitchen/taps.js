// What was tapped. A tap can be undone for some seconds. Then it is sent in its turn, with a key of its own, again and
// again until an answer comes: so it counts once, however often the connection is lost.

import { Away, request } from "../shared/api.js";
import { remember, remembered } from "../shared/memory.js";
import { delay } from "../shared/stream.js";

/// How long a tap can be undone, in milliseconds.
export const UNDO = 5000;

// The status that each step leads to.
const STATUS = {
    accept: "accepted", prepare: "preparing", ready: "ready", complete: "completed", reject: "rejected",
    cancel: "cancelled",
};
// What the address of a step says besides.
const QUERIES = { change: "?by=merchant" };
const ENDS = ["complete", "reject", "cancel"];
const IN_TAB = { inTab: true };

export class Taps {
    #name;
    #changed;
    #refused;
    // Each `{order, step, body, key, due}`, the first first; `version` is that of the order once it was answered.
    #taps;
    // The orders whose taps are being sent; and by order, what ends the wait of its first tap.
    #sending = new Set();
    #wakes = new Map();

    /// `changed()` is called when the board looks different, `refused(error)` when a tap was taken back.
    constructor(outlet, { changed, refused }) {
        this.#name = `taps.${outlet}`;
        this.#changed = changed;
        this.#refused = refused;
        this.#taps = remembered(this.#name, IN_TAB) ?? [];
        for (const order of new Set(this.#taps.map(({ order }) => order))) this.#send(order);
        addEventListener("online", () => this.#wake());
        // Whoever leaves the board means what they tapped.
        addEventListener("pagehide", () => {
            for (const tap of this.#taps) tap.due = 0;
            this.#keep();
            this.#wake();
        });
    }

    /// Takes a step of an order.
    add(order, step, body = {}) {
        for (const tap of this.#of(order)) tap.due = 0;
        this.#taps.push({ order, step, body, key: crypto.randomUUID(), due: Date.now() + UNDO });
        this.#keep();
        this.#wakes.get(order)?.();
        this.#send(order);
    }

    /// Takes back the last tap of an order, if it was not sent.
    undo(order) {
        const tap = this.last(order);
        if (!tap || !canUndo(tap)) return;
        this.#taps.splice(this.#taps.indexOf(tap), 1);
        this.#keep();
        this.#wakes.get(order)?.();
    }

    /// The last tap of an order that is not in its document yet, or undefined.
    last(order) {
        return this.#of(order).at(-1);
    }

    /// The status of an order once all was sent.
    status({ order, status }) {
        return this.#of(order).reduce((before, { step }) => STATUS[step] ?? before, status);
    }

    /// Whether an order was ended here.
    ends(order) {
        return this.#of(order).some(({ step }) => ENDS.includes(step));
    }

    /// How many taps wait for a connection.
    get waiting() {
        return this.#taps.filter(({ isAway }) => isAway).length;
    }

    /// Lets go of what the documents of the board have in them.
    settle(orders) {
        const versions = new Map(orders.map(({ order, version }) => [order, version]));
        const isIn = ({ order, version }) => version !== undefined && version <= (versions.get(order) ?? Infinity);
        if (!this.#taps.some(isIn)) return;
        this.#taps = this.#taps.filter((tap) => !isIn(tap));
        this.#keep();
    }

    #of(order) {
        return this.#taps.filter((tap) => tap.order === order);
    }

    async #send(order) {
        if (this.#sending.has(order)) return;
        this.#sending.add(order);
        for (let attempt = 0, tap; (tap = this.#of(order).find(({ version }) => version === undefined));) {
            const wait = tap.due - Date.now();
            if (wait > 0) {
                await this.#rest(order, wait);
                continue;
            }
            try {
                tap.isSent = true;
                const path = `/v1/orders/${encodeURIComponent(order)}/${tap.step}${QUERIES[tap.step] ?? ""}`;
                const { document } = await request("POST", path, { body: tap.body, key: tap.key, keepalive: true });
                tap.version = document.version;
                tap.isAway = false;
                attempt = 0;
            } catch (error) {
                if (error instanceof Away || error.isTemporary) {
                    for (const waiting of this.#of(order)) waiting.isAway = true;
                    this.#changed();
                    await this.#rest(order, delay(attempt++));
                    continue;
                }
                // What was tapped after it meant an order that is not so.
                this.#taps = this.#taps.filter((other) => other.order !== order || other.version !== undefined);
                this.#refused(error);
            }
            this.#keep();
        }
        this.#sending.delete(order);
    }

    #rest(order, milliseconds) {
        return new Promise((resolve) => {
            const timer = setTimeout(resolve, milliseconds);
            this.#wakes.set(order, () => {
                clearTimeout(timer);
                resolve();
            });
        });
    }

    #wake() {
        for (const wake of this.#wakes.values()) wake();
    }

    #keep() {
        const waiting = this.#taps.filter(({ version }) => version === undefined);
        remember(this.#name, waiting.length > 0 ? waiting : null, IN_TAB);
        this.#changed();
    }
}

/// Whether a tap was not sent.
export function canUndo({ due, isSent }) {
    return !isSent && due > Date.now();
}
