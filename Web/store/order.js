// An order, live.

import { Problem, get } from "../shared/api.js";
import { clockTime } from "../shared/clock.js";
import { clone, drawing, refs, setAttribute, setHidden, setText } from "../shared/dom.js";
import { handover } from "../shared/handover.js";
import { money } from "../shared/money.js";
import { reconcile } from "../shared/reconcile.js";
import { Topic } from "../shared/topic.js";
import { drawCharges, wishes } from "./charges.js";
import { drawBlank, sentence } from "./texts.js";

const STEPS = ["placed", "accepted", "preparing", "ready", "completed"];
const NAMES = {
    awaitingPayment: "Waiting for the payment", scheduled: "Planned", placed: "Sent to the kitchen", accepted: "Accepted",
    preparing: "Being prepared", ready: "Ready", completed: "Done", rejected: "Rejected", cancelled: "Cancelled",
};

const REASONS = {
    ITEMS: "something of it is not there", CLOSED: "the place has closed", BUSY: "the kitchen has too much to do",
    NOTE: "a note cannot be followed", CUSTOMER: "the customer asked for it", UNPAID: "it was not paid in time",
    TIMEOUT: "nobody accepted it in time", OTHER: "for another reason",
};
const ENDS = new Set(["completed", "rejected", "cancelled"]);
// How often the page asks about an order that it cannot follow.
const LOOK_AGAIN = 2000;

export class OrderPage {
    #id;
    #path;
    #main;
    #stream;
    #topic = new Topic();
    #refs = null;
    #isFollowed = true;
    #isUnknown = false;
    #ask = drawing(() => this.#isThere && this.#draw());

    constructor(order, { main, stream }) {
        this.#id = order;
        this.#path = `/v1/orders/${encodeURIComponent(order)}`;
        this.#main = main;
        this.#stream = stream;
    }

    async open() {
        await this.again();
        if (this.#isThere) this.#stream.again();
        else if (!this.#isUnknown) setTimeout(() => this.open(), LOOK_AGAIN);
    }

    topics() {
        return this.#isOpen && this.#isFollowed ? [`order:${this.#id}`] : [];
    }

    /// Visitors can follow only the orders that a kitchen has to do with. About others the page asks.
    refused(status) {
        if (status !== 403 || !this.#isFollowed) return;
        this.#isFollowed = false;
        this.#lookLater();
    }

    hear(message) {
        const outcome = this.#topic.take(message);
        if (outcome === "again") this.again();
        else if (outcome === "changed") this.#ask();
    }

    /// Reads the order anew. Where it cannot be had, an earlier one stays on the screen, unless it is nobody's to see.
    async again() {
        try {
            const order = await get(this.#path);
            this.#topic = new Topic(order, order.version);
            if (this.#refs) this.#ask();
            else this.#draw();
        } catch (error) {
            this.#isUnknown = error instanceof Problem && !error.isTemporary;
            if (this.#isUnknown) this.#topic = new Topic();
            if (!this.#isThere) this.#drawBlank(error);
        }
    }

    get #isThere() {
        return this.#topic.document !== null;
    }

    get #isOpen() {
        return this.#isThere && !ENDS.has(this.#topic.document.status);
    }

    #lookLater() {
        setTimeout(async () => {
            if (document.visibilityState === "visible") await this.again();
            if (this.#isOpen) this.#lookLater();
        }, LOOK_AGAIN);
    }

    #drawBlank(error) {
        this.#refs = null;
        drawBlank(this.#main, null, [
            this.#isUnknown ? "There is no such order" : "The order cannot be shown now", sentence(error.message),
        ], 1);
    }

    #draw() {
        const order = this.#topic.document;
        if (!this.#refs) {
            const page = clone("order-page");
            this.#refs = refs(page);
            this.#main.replaceChildren(page);
        }
        const { title, id, steps, state, due, handover: had, lines, charges, total, outlet } = this.#refs;
        const name = NAMES[order.status] ?? order.status;
        document.title = `${name} · Tiffin`;
        setText(title, "Thank you");
        setText(id, `Order ${order.order}, ${clockTime(order.placedAt ?? order.updatedAt)}`);
        const { ending } = order;
        setText(state, ending ? `${name}: ${ending.reason ?? REASONS[ending.code] ?? ending.code}` : name);
        const ready = order.readyBy ?? order.promisedFor;
        setText(due, ready && !ENDS.has(order.status) ? `Ready at about ${clockTime(ready)}` : "");
        setText(had, handover(order));
        setHidden(had, handover(order) === "");
        const reached = STEPS.indexOf(order.status);
        reconcile(steps, STEPS.map((step, place) => ({ step, isDone: place <= reached, isCurrent: place === reached })), {
            id: ({ step }) => step,
            make: () => clone("step"),
            fill: (node, { step, isDone, isCurrent }) => {
                setText(node, NAMES[step]);
                setAttribute(node, "data-done", isDone ? "" : null);
                setAttribute(node, "aria-current", isCurrent ? "step" : null);
            },
        });
        reconcile(lines, order.lines, {
            id: ({ line }) => line,
            make: () => clone("order-line"),
            fill: (node, line) => {
                const parts = refs(node);
                setText(parts.quantity, String(line.quantity));
                setText(parts.name, line.name);
                setText(parts.note, wishes(line));
                setText(parts.total, money(line.total, order.currency));
            },
        });
        drawCharges(charges, order.subtotal, order.charges ?? [], order.currency);
        setText(total, money(order.total, order.currency));
        setAttribute(outlet, "href", `/o/${order.outlet}`);
    }
}
