// The strip below the top bar: the open orders of this browser, one tap away.

import { get } from "../shared/api.js";
import { setAttribute, setHidden, setText } from "../shared/dom.js";
import { OPEN, STATES, numberOf } from "../shared/order.js";
import { Looking } from "./looking.js";
import { remember } from "../shared/memory.js";

const PATH = `/v1/orders?status=${OPEN.join(",")}&count=100`;
const LOOK_AGAIN = 10_000;

/// Shows the orders in the strip, and what becomes of them. The order of the page is not among them.
export function followOrders(strip) {
    const link = strip.firstElementChild;
    const looking = new Looking(() => (document.visibilityState === "hidden" ? null : LOOK_AGAIN), look);
    document.addEventListener("visibilitychange", () => looking.later());

    async function look() {
        const { orders } = await get(PATH).catch(() => ({ orders: null }));
        if (orders === null) return;
        if (orders.length === 0) remember("orders", null);
        const others = orders.filter(({ order }) => location.pathname !== `/order/${order}`);
        const [first] = others;
        // A strip that is shown stays, so that nothing jumps.
        if (first) setHidden(strip, false);
        setAttribute(link, "href", others.length === 1 ? `/order/${first.order}` : "/orders");
        setText(link, others.length === 0 ? "Your orders" : others.length > 1 ? `${others.length} open orders`
            : `Order ${numberOf(first.order)}: ${STATES[first.status] ?? first.status}`);
    }

    look().then(() => looking.later());
}
