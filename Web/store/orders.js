// The orders of this browser, the newest first.

import { get } from "../shared/api.js";
import { clockTime } from "../shared/clock.js";
import { clone, isUsable, refs, setAttribute, setHidden, setText, setUsable } from "../shared/dom.js";
import { money } from "../shared/money.js";
import { OPEN, STATES, numberOf } from "../shared/order.js";
import { reconcile } from "../shared/reconcile.js";
import { Looking } from "./looking.js";
import { drawBlank, plural, sentence } from "./texts.js";

const PATH = "/v1/orders?count=20";
const LOOK_AGAIN = 5000;

export class OrdersPage {
    #main;
    #refs;
    #orders = [];
    #next = null;
    #isRead = false;
    // The documents of the places by their ids; null where there is none any more.
    #places = new Map();
    #looking = new Looking(
        () => (document.visibilityState !== "hidden" && this.#mayChange ? LOOK_AGAIN : null), () => this.again());

    constructor({ main }) {
        this.#main = main;
    }

    async open() {
        const page = clone("orders-page");
        this.#refs = refs(page);
        this.#refs.more.onclick = () => this.#more();
        document.title = "Your orders · Tiffin";
        this.#main.replaceChildren(page);
        await this.again();
        document.addEventListener("visibilitychange", () => this.#looking.later());
        this.#looking.later();
    }

    // The stream tells nothing of lists.
    topics() {
        return [];
    }

    /// Reads the newest orders anew. Where they cannot be had, those that were read stay.
    async again() {
        try {
            const page = await get(PATH);
            const isNew = !this.#isRead || page.orders.length === 0;
            const ids = new Set(page.orders.map(({ order }) => order));
            await this.#take(page.orders, isNew ? [] : this.#orders.filter(({ order }) => !ids.has(order)), "before");
            if (isNew) this.#next = page.next;
            this.#isRead = true;
            this.#draw();
        } catch (error) {
            if (!this.#isRead) this.#draw(["Your orders cannot be shown now", sentence(error.message)]);
        }
    }

    get #mayChange() {
        return !this.#isRead || this.#orders.some(({ status }) => OPEN.includes(status));
    }

    async #more() {
        const { more } = this.#refs;
        if (!isUsable(more)) return;
        setUsable(more, false);
        try {
            const page = await get(`${PATH}&after=${encodeURIComponent(this.#next)}`);
            await this.#take(page.orders, this.#orders, "after");
            this.#next = page.next;
            this.#draw();
        } catch {
            // Somebody can tap again.
        }
        setUsable(more, true);
    }

    // Takes orders before or after others, with the names of their places.
    async #take(orders, others, side) {
        const outlets = new Set(orders.map(({ outlet }) => outlet).filter((outlet) => !this.#places.has(outlet)));
        await Promise.all([...outlets].map(async (outlet) => {
            this.#places.set(outlet, await get(`/v1/outlets/${encodeURIComponent(outlet)}`).catch(() => null));
        }));
        this.#orders = side === "before" ? [...orders, ...others] : [...others, ...orders];
    }

    #draw(trouble) {
        const { orders, more, blank } = this.#refs;
        reconcile(orders, this.#orders, {
            id: ({ order }) => order,
            make: () => clone("order-row"),
            fill: (node, order) => {
                const parts = refs(node);
                const place = this.#places.get(order.outlet);
                setText(parts.place, place?.name ?? order.outlet);
                setAttribute(parts.place, "href", `/order/${encodeURIComponent(order.order)}`);
                const when = clockTime(order.placedAt ?? order.updatedAt, place?.timeZone);
                setText(parts.about, `${numberOf(order.order)}, ${when}, ${plural(order.count, "item", "items")}`);
                setText(parts.state, STATES[order.status] ?? order.status);
                setText(parts.total, money(order.total, order.currency));
            },
        });
        setHidden(more, this.#next === null);
        drawBlank(blank, "cart", trouble ?? (this.#orders.length > 0 ? null
            : ["You have not ordered anything yet", "What is ordered with this browser will be here."]));
    }
}
