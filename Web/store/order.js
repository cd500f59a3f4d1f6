// An order, live.

import { get } from "../shared/api.js";
import { clockTime } from "../shared/clock.js";
import { clone, drawing, refs, setAttribute, setText } from "../shared/dom.js";
import { money } from "../shared/money.js";
import { reconcile } from "../shared/reconcile.js";
import { Topic } from "../shared/topic.js";
import { sentence } from "./texts.js";

const STEPS = ["placed", "accepted", "preparing", "ready", "completed"];
const NAMES = {
    awaitingPayment: "Waiting for the payment", scheduled: "Planned", placed: "Sent to the kitchen", accepted: "Accepted",
    preparing: "Being prepared", ready: "Ready", completed: "Done", rejected: "Rejected", cancelled: "Cancelled",
};

export class OrderPage {
    #order;
    #main;
    #topic = new Topic();
    #refs;
    #ask = drawing(() => this.#draw());

    constructor(order, { main }) {
        this.#order = order;
        this.#main = main;
    }

    async open() {
        try {
            const document = await get(`/v1/orders/${encodeURIComponent(this.#order)}`);
            this.#topic.read(document, document.version);
        } catch (error) {
            const blank = clone("blank");
            setText(refs(blank).title, "There is no such order");
            setText(refs(blank).text, sentence(error.message));
            this.#main.replaceChildren(blank);
            return;
        }
        const page = clone("order-page");
        this.#refs = refs(page);
        this.#main.replaceChildren(page);
        this.#draw();
    }

    topics() {
        return this.#topic.document ? [`order:${this.#order}`] : [];
    }

    async hear(message) {
        const outcome = this.#topic.take(message);
        if (outcome === "again") {
            const document = await get(`/v1/orders/${encodeURIComponent(this.#order)}`).catch(() => null);
            if (document) this.#topic = new Topic(document, document.version);
        }
        if (outcome !== "same") this.#ask();
    }

    #draw() {
        const order = this.#topic.document;
        const { title, id, steps, state, lines, total, outlet } = this.#refs;
        const name = NAMES[order.status] ?? order.status;
        document.title = `${name} · Tiffin`;
        setText(title, "Thank you");
        setText(id, `Order ${order.order}, ${clockTime(order.updatedAt)}`);
        setText(state, name);
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
                setText(parts.note, line.note ?? "");
                setText(parts.total, money(line.total, order.currency));
            },
        });
        setText(total, money(order.total, order.currency));
        setAttribute(outlet, "href", `/o/${order.outlet}`);
    }
}
