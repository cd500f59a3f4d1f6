// An order, live.

import { Problem, get, request } from "../shared/api.js";
import { clockTime, now } from "../shared/clock.js";
import { clone, drawing, isUsable, refs, say, setAttribute, setHidden, setText, setUsable } from "../shared/dom.js";
import { money } from "../shared/money.js";
import { OPEN, REASONS, STATES, handover, numberOf } from "../shared/order.js";
import { ask } from "../shared/question.js";
import { reconcile } from "../shared/reconcile.js";
import { Topic } from "../shared/topic.js";
import { drawCharges, wishes } from "./charges.js";
import { remember, remembered } from "../shared/memory.js";
import { drawHistory, drawProposal } from "./order-changes.js";
import { drawBlank, sentence } from "./texts.js";

const STEPS = ["placed", "accepted", "preparing", "ready", "completed"];
const IN_TAB = { inTab: true };
// In these its customer can cancel it.
const CANCELLABLE = ["awaitingPayment", "scheduled", "placed"];
// In these its customer and its place can agree to change it.
const CHANGEABLE = ["placed", "accepted", "preparing"];
// How often the page asks about an order that it cannot follow.
const LOOK_AGAIN = 2000;
// How often it says anew how long the order takes.
const TICK = 10_000;
// A time that is further away than this is said as a time alone.
const LONGEST_MINUTES = 90;

export class OrderPage {
    #id;
    #path;
    #main;
    #cart;
    #panel;
    #stream;
    #topic = new Topic();
    #refs = null;
    // The document of its place; null where there is none any more.
    #place = null;
    // Whether what is shown was kept by the browser.
    #isOld = false;
    // The keys of the lines that are being ordered again.
    #keys = new Map();
    #isFollowed = true;
    #isUnknown = false;
    #ask = drawing(() => this.#isThere && this.#draw());

    constructor(order, { main, cart, panel, stream }) {
        this.#id = order;
        this.#path = `/v1/orders/${encodeURIComponent(order)}`;
        this.#main = main;
        this.#cart = cart;
        this.#panel = panel;
        this.#stream = stream;
        setInterval(this.#ask, TICK);
    }

    async open() {
        await this.again();
        if (this.#isUnknown) return;
        if (this.#isThere && !this.#isOld) this.#stream.again();
        else setTimeout(() => this.open(), LOOK_AGAIN);
    }

    topics() {
        return this.#isOpen && this.#isFollowed ? [`order:${this.#id}`] : [];
    }

    /// Visitors can follow only the orders that a kitchen has to do with. About others the page asks.
    refused(status) {
        if (status !== 403 || !this.#isFollowed) return;
        this.#isFollowed = false;
        this.#ask();
        this.#lookLater();
    }

    hear(message) {
        const outcome = this.#topic.take(message);
        if (outcome === "again") this.again();
        else if (outcome === "changed" || this.#isOld) this.#ask();
        this.#isOld = false;
    }

    /// Reads the order anew. Where it cannot be had, an earlier one stays on the screen, unless it is nobody's to see.
    async again() {
        try {
            const order = await get(this.#path);
            this.#place ??= await get(`/v1/outlets/${encodeURIComponent(order.outlet)}`).catch(() => null);
            this.#topic = new Topic(order, order.version);
            this.#isOld = false;
            if (this.#refs) this.#ask();
            else this.#draw();
        } catch (error) {
            this.#isUnknown = error instanceof Problem && !error.isTemporary;
            if (this.#isUnknown) this.#topic = new Topic();
            else if (!this.#isThere) this.#showKept();
            if (!this.#isThere) this.#drawBlank(error);
        }
    }

    get #isThere() {
        return this.#topic.document !== null;
    }

    get #isOpen() {
        return this.#isThere && OPEN.includes(this.#topic.document.status);
    }

    async #cancel() {
        const { cancel } = this.#refs;
        if (!isUsable(cancel)) return;
        const isWanted = await ask({
            title: "Cancel this order?", texts: ["The kitchen has not accepted it yet. Once it has, only the place can cancel it."],
            yes: "Cancel the order", no: "Keep it",
        });
        if (!isWanted) return;
        setUsable(cancel, false);
        try {
            // The same again changes nothing.
            await request("POST", `${this.#path}/cancel`, { body: { by: "customer", code: "CUSTOMER" } });
        } catch (error) {
            say(sentence(error.message));
        }
        setUsable(cancel, true);
        await this.again();
    }

    // Asks the place for less of the order.
    async #change() {
        const { change } = this.#refs;
        if (!isUsable(change)) return;
        setUsable(change, false);
        try {
            const { askChange } = await import("../shared/forms.js");
            const wanted = await askChange(this.#topic.document.lines, "The place has to agree. Until then the order stays as it is.");
            if (wanted) await request("POST", `${this.#path}/change?by=customer`, { body: wanted, key: crypto.randomUUID() });
        } catch (error) {
            say(sentence(error.message));
        }
        setUsable(change, true);
        await this.again();
    }

    // Answers the change that is proposed, by the bill that is shown.
    async #answer(button, step, body) {
        const { agree, decline } = this.#refs;
        if (!isUsable(button)) return;
        for (const other of [agree, decline]) setUsable(other, false);
        try {
            await request("POST", `${this.#path}/${step}`, { body, key: crypto.randomUUID() });
        } catch (error) {
            say(error.code === "TOTALCHANGED" ? "Something else is asked now. Look at it again." : sentence(error.message));
        }
        for (const other of [agree, decline]) setUsable(other, true);
        await this.again();
    }

    // What this tab read of the order before.
    #showKept() {
        const kept = remembered(this.#path, IN_TAB);
        if (!kept) return;
        this.#place = kept.place;
        this.#topic = new Topic(kept.order, kept.order.version);
        this.#isOld = true;
        this.#draw();
    }

    async #repeat() {
        const { repeat } = this.#refs;
        if (!isUsable(repeat)) return;
        const order = this.#topic.document;
        setUsable(repeat, false);
        try {
            const { addLines, emptyCart } = await import("./order-again.js");
            const isOther = this.#cart.count > 0 && this.#cart.view.outlet !== order.outlet;
            const title = "Your cart has items of another place. Empty it and order these?";
            if (!isOther || await ask({ title, yes: "Empty it and order" })) {
                if (isOther) await emptyCart();
                const missing = await addLines(order, this.#keys);
                this.#keys = new Map();
                await this.#cart.read();
                this.#panel.open(missing.length === 0 ? "" : `This cannot be had now: ${missing.join(", ")}.`);
            }
        } catch (error) {
            say(error.code === "CLOSED" ? "The place takes no orders now." : sentence(error.message));
        }
        setUsable(repeat, true);
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
        remember(this.#path, { order, place: this.#place }, IN_TAB);
        if (!this.#refs) {
            const page = clone("order-page");
            this.#refs = refs(page);
            this.#refs.cancel.onclick = () => this.#cancel();
            this.#refs.change.onclick = () => this.#change();
            this.#refs.repeat.onclick = () => this.#repeat();
            this.#refs.agree.onclick = ({ currentTarget }) =>
                this.#answer(currentTarget, "agree", { digest: this.#topic.document.proposal?.after.digest });
            this.#refs.decline.onclick = ({ currentTarget }) => this.#answer(currentTarget, "decline", { by: "customer" });
            this.#main.replaceChildren(page);
        }
        const parts = this.#refs;
        const { title, id, place, address, steps, state, due, handover: had, lines, charges, total, cancel, old } = parts;
        const name = STATES[order.status] ?? order.status;
        const zone = this.#place?.timeZone;
        document.title = `${name} · Tiffin`;
        setText(title, `Order ${numberOf(order.order)}`);
        setText(id, `${order.order}, ${clockTime(order.placedAt ?? order.updatedAt, zone)}`);
        setAttribute(parts.proof, "href", `${this.#path}/proof`);
        setAttribute(parts.proof, "download", `order-${order.order}.json`);
        setText(place, this.#place?.name ?? order.outlet);
        setAttribute(place, "href", `/o/${order.outlet}`);
        setText(address, [this.#place?.address, this.#place?.area, this.#place?.city].filter(Boolean).join(", "));
        const { ending } = order;
        setText(state, ending ? `${name}: ${ending.reason ?? REASONS[ending.code] ?? ending.code}` : name);
        setText(due, dueText(order, zone));
        setText(had, handover(order));
        setHidden(had, handover(order) === "");
        const wasAnswering = parts.proposal.contains(document.activeElement);
        drawProposal(parts, order, zone);
        if (wasAnswering && !order.proposal) title.focus({ preventScroll: true });
        drawHistory(parts, order, zone);
        const reached = STEPS.indexOf(order.status);
        reconcile(steps, STEPS.map((step, place) => ({ step, isDone: place <= reached, isCurrent: place === reached })), {
            id: ({ step }) => step,
            make: () => clone("step"),
            fill: (node, { step, isDone, isCurrent }) => {
                setText(node, STATES[step]);
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
        setHidden(parts.refund, !order.refunded);
        setText(parts.refunded, order.refunded ? money(order.refunded, order.currency) : "");
        const focused = document.activeElement;
        // Of an order that no kitchen follows nobody knows how far it is.
        setHidden(parts.change, !CHANGEABLE.includes(order.status) || order.proposal !== undefined || !this.#isFollowed);
        setHidden(cancel, !CANCELLABLE.includes(order.status));
        // What is hidden leaves its focus to what came of it.
        if (focused?.hidden) (order.proposal ? parts.decline : title).focus({ preventScroll: true });
        setHidden(old, !this.#isOld);
    }
}

// How long the order still takes. One that is ready is promised nothing more.
function dueText({ status, readyBy, promisedFor }, zone) {
    const ready = readyBy ?? promisedFor;
    if (!ready || status === "ready" || !OPEN.includes(status)) return "";
    const minutes = Math.round((Date.parse(ready) - now()) / 60_000);
    const time = clockTime(ready, zone);
    return minutes < 0 ? `It is late: it was to be ready at ${time}`
        : minutes > LONGEST_MINUTES ? `Ready at about ${time}` : `Ready in about ${Math.max(minutes, 1)} min, at ${time}`;
}
