// The cart of this browser: what the server says of it, and what was tapped since. A tap counts at once. It goes to
// the server in its turn with a key of its own, and is sent again with that key until an answer comes.

import { Away, Problem, get, request } from "../shared/api.js";
import { delay } from "../shared/stream.js";
import { Topic } from "../shared/topic.js";
import { optionsText } from "./options.js";

const EMPTY = { outlet: null, version: 0, status: "empty", count: 0, currency: null, lines: [], subtotal: 0, total: 0 };
// Taps that may wait for an answer.
const MOST_WAITING = 200;
// How long another page of this browser may take to get the cart that follows an ordered one.
const NEXT_CART_DELAY = 1000;

export class Cart {
    #topic = new Topic();
    // What was tapped and not answered; what was answered, but is not in the document yet; and messages of the stream
    // that came meanwhile.
    #waiting = [];
    #answered = [];
    #held = [];
    #sending = false;
    #view = EMPTY;
    // What was asked to be ordered, and the key of that.
    #checkout = null;
    // A code that is said once something of its outlet is in the cart, as `{outlet, code}`.
    #codeToSay = null;
    #wake = () => {};

    /// Whether changes wait because no answer came.
    isAway = false;

    /// `changed()` is called when the cart looks different, `refused(problem, change)` when a change was taken back,
    /// `moved()` when the cart is another one, and the stream has to be opened again.
    constructor({ changed, refused, moved }) {
        this.changed = changed;
        this.refused = refused;
        this.moved = moved;
        addEventListener("online", () => this.#wake());
    }

    /// The cart as it is once everything that waits has been taken.
    get view() {
        return this.#view;
    }

    /// The number of the badge.
    get count() {
        return this.#view.status === "checkedOut" ? 0 : this.#view.count;
    }

    /// How many changes the server has not answered.
    get waiting() {
        return this.#waiting.length;
    }

    /// Whether what is shown is what the server has.
    get isSettled() {
        return this.#waiting.length === 0 && this.#answered.length === 0;
    }

    /// How much of an item of an outlet there is, in all lines.
    countOf(outlet, item) {
        if (this.#view.outlet !== outlet || this.#view.status === "checkedOut") return 0;
        return this.#view.lines.reduce((sum, line) => (line.item === item ? sum + line.quantity : sum), 0);
    }

    /// The time that the cart is wanted for, if it is one of that outlet; null for as soon as possible.
    timeOf(outlet) {
        return this.#view.outlet === outlet && this.#view.status !== "checkedOut" ? this.#view.for ?? null : null;
    }

    /// Adds `quantity` of `{outlet, item, name, price, currency, options}`: the options as in the lines of a cart, and
    /// the price with them. A cart without a time is wanted `for` that one, if it is not null.
    add(item, { quantity = 1, note = null, for: time = null } = {}) {
        const options = optionsText(item.options ?? []);
        const last = this.#waiting.at(-1);
        if (last?.kind === "add" && !last.isSent && last.item.outlet === item.outlet && last.item.item === item.item
            && last.body.note === note && (last.body.options ?? "") === options) {
            last.body.quantity += quantity;
            this.#draw();
            return;
        }
        this.#queue({
            kind: "add", item, method: "POST", path: "/v1/cart/lines",
            body: {
                outlet: item.outlet, item: item.item, quantity, note, ...(options === "" ? {} : { options }),
                ...(time === null || this.timeOf(item.outlet) !== null ? {} : { for: time }),
            },
        });
        if (this.#codeToSay?.outlet === item.outlet) this.code(this.#codeToSay.code);
        this.#codeToSay = null;
    }

    /// Sets a line's quantity; 0 removes the line.
    set(line, quantity) {
        const last = this.#waiting.at(-1);
        if (last?.kind === "set" && !last.isSent && last.line === line) {
            last.body.quantity = quantity;
            this.#draw();
            return;
        }
        this.#queue({
            kind: "set", line, method: "PATCH", path: `/v1/cart/lines/${encodeURIComponent(line)}`, body: { quantity },
        });
    }

    /// Gives a line other options, `[{id, name, units}]`, and another note: null is none. `price` is that of one.
    edit(line, { price, options, note }) {
        this.#queue({
            kind: "edit", line, price, options, method: "PUT", path: `/v1/cart/lines/${encodeURIComponent(line)}`,
            body: { options: optionsText(options), note: note ?? "" },
        });
    }

    /// Sets what the customer gives beside what is charged, in minor units.
    tip(amount) {
        const last = this.#waiting.at(-1);
        if (last?.kind === "tip" && !last.isSent) {
            last.body.amount = amount;
            this.#draw();
            return;
        }
        this.#queue({ kind: "tip", method: "PUT", path: "/v1/cart/tip", body: { amount } });
    }

    /// Says a code of a promotion.
    code(code) {
        this.#queue({ kind: "code", method: "POST", path: "/v1/cart/codes", body: { code } });
    }

    /// Says a code of an outlet's promotion, now or with the first item of that outlet.
    codeOf(outlet, code) {
        if (this.#view.outlet === outlet && this.count > 0) this.code(code);
        else this.#codeToSay = { outlet, code };
        this.#draw();
    }

    /// Whether a code of an outlet was said, or is to be.
    hasCode(outlet, code) {
        return this.#codeToSay?.outlet === outlet && this.#codeToSay.code === code
            || this.#view.outlet === outlet && (this.#view.codes ?? []).some((said) => said.code === code)
            || [...this.#answered, ...this.#waiting].some(({ kind, body }) => kind === "code" && body.code === code);
    }

    /// Takes back a code, as the cart has it.
    uncode(code) {
        this.#queue({ kind: "uncode", code, method: "DELETE", path: `/v1/cart/codes/${encodeURIComponent(code)}` });
    }

    /// Says how the order is to be had, at a table if that is not null, and when: null is as soon as possible.
    choose(service, table = null, time = this.#view.for ?? null) {
        const last = this.#waiting.at(-1);
        const body = { service, ...(table === null ? {} : { table }), ...(time === null ? {} : { for: time }) };
        if (last?.kind === "service" && !last.isSent) {
            last.body = body;
            this.#draw();
            return;
        }
        this.#queue({ kind: "service", method: "PUT", path: "/v1/cart/service", body });
    }

    clear() {
        this.#queue({ kind: "clear", method: "DELETE", path: "/v1/cart/lines" });
    }

    /// Places the order if its quote is still that, with what it needs, `{name, phone, address, missing}`, and answers its
    /// id.
    /// Throws Problem or Away; after Away the same order has the same key, so that there is one.
    async checkout(quote, needs = {}) {
        const body = { quote, ...needs };
        const text = JSON.stringify(body);
        if (this.#checkout?.text !== text) this.#checkout = { text, key: crypto.randomUUID() };
        try {
            const { document } = await request("POST", "/v1/cart/checkout", { body, key: this.#checkout.key });
            this.#checkout = null;
            this.#topic = new Topic();
            this.#draw();
            this.moved();
            return document.order;
        } catch (error) {
            // Nothing was recorded under the key, and the next quote is another request.
            if (error instanceof Problem && !error.isTemporary) this.#checkout = null;
            throw error;
        }
    }

    /// Leaves the cart behind: the browser is somebody else from now on.
    leave() {
        this.#waiting = [];
        this.#answered = [];
        this.#held = [];
        this.#checkout = null;
        this.#codeToSay = null;
        this.#topic = new Topic();
        this.#draw();
        this.moved();
    }

    /// Takes a message of the stream.
    hear(message) {
        // Whether it contains what is on its way cannot be seen. The answer says so within moments.
        if (this.#sending && this.#held.length < MOST_WAITING) this.#held.push(message);
        else this.#take(message);
    }

    async read() {
        const document = await get("/v1/cart");
        this.#topic = new Topic(document, document?.version ?? 0);
        this.#draw();
    }

    #take(message) {
        const was = this.#topic.document?.status;
        const outcome = this.#topic.take(message);
        if (outcome === "again") this.read().catch(() => {});
        if (outcome !== "changed") return;
        if (was === "open" && this.#topic.document?.status === "checkedOut") setTimeout(this.moved, NEXT_CART_DELAY);
        this.#draw();
    }

    #queue(change) {
        if (this.#waiting.length >= MOST_WAITING) {
            this.refused(new Problem(0, "LIMIT", "Too many changes wait for the server."), change);
            return;
        }
        this.#waiting.push({ ...change, key: crypto.randomUUID(), isSent: false });
        this.#draw();
        this.#send();
    }

    async #send() {
        if (this.#sending) return;
        this.#sending = true;
        for (let attempt = 0; this.#waiting.length > 0 || this.#answered.length > 0;) {
            const change = this.#waiting[0];
            try {
                if (change) {
                    change.isSent = true;
                    await request(change.method, change.path, { body: change.body, key: change.key });
                    if (this.#waiting[0] === change) this.#answered.push(this.#waiting.shift());
                } else {
                    const document = await get("/v1/cart");
                    if (this.#answered.length > 0) this.#settle(document);
                }
                attempt = 0;
                this.isAway = false;
            } catch (error) {
                if (error instanceof Away || error.isTemporary) {
                    await this.#pause(delay(attempt++));
                    continue;
                }
                if (!change) this.#answered = [];
                else if (this.#waiting[0] === change) this.refused(error, this.#waiting.shift());
            }
            this.#draw();
        }
        this.#sending = false;
        for (const message of this.#held.splice(0)) this.#take(message);
        this.#draw();
    }

    #pause(milliseconds) {
        this.isAway = true;
        this.changed();
        return new Promise((resolve) => {
            const timer = setTimeout(resolve, milliseconds);
            this.#wake = () => {
                clearTimeout(timer);
                resolve();
            };
        });
    }

    // Takes the cart with all that was answered in it.
    #settle(document) {
        this.#answered = [];
        const ours = this.#topic.document;
        const isAnother = ours === null || ours.status === "checkedOut" || (document?.version ?? 0) < ours.version;
        this.#topic = new Topic(document, document?.version ?? 0);
        // The stream knew no cart, or the one before.
        if (isAnother) {
            this.#held = [];
            this.moved();
        }
    }

    #draw() {
        this.#view = [...this.#answered, ...this.#waiting].reduce(expected, this.#topic.document ?? EMPTY);
        this.changed();
    }
}

/// What a cart will be after a change, as far as can be told here.
export function expected(cart, change) {
    switch (change.kind) {
        case "add":
            return {
                ...withLines(cart.status === "checkedOut" ? EMPTY : cart, change.item, (lines) => added(lines, change)),
                for: change.body.for ?? (cart.status === "checkedOut" ? undefined : cart.for),
            };
        case "set":
            return withLines(cart, {}, (lines) => lines.flatMap((line) => {
                if (line.line !== change.line) return [line];
                const { quantity } = change.body;
                return quantity === 0 ? [] : [{ ...line, quantity, total: quantity * line.unitPrice, isWaiting: true }];
            }));
        case "edit":
            // Its id will be another.
            return withLines(cart, {}, (lines) => lines.map((line) => (line.line !== change.line ? line : {
                ...line, options: change.options, note: change.body.note || null, unitPrice: change.price,
                total: line.quantity * change.price, problem: null, isWaiting: true, isNew: true,
            })));
        case "tip":
            return { ...cart, tip: change.body.amount };
        case "service":
            return { ...cart, service: change.body.service, table: change.body.table, for: change.body.for };
        case "uncode":
            return { ...cart, codes: cart.codes?.filter(({ code }) => code !== change.code) };
        case "clear":
            return withLines(cart, {}, () => []);
        default:
            return cart;
    }
}

function added(lines, { key, item, body }) {
    const place = lines.findIndex((line) =>
        line.item === item.item && line.note === body.note && optionsText(line.options) === (body.options ?? ""));
    if (place < 0) {
        return [...lines, {
            line: key, item: item.item, name: item.name, quantity: body.quantity, unitPrice: item.price,
            options: item.options ?? [], note: body.note, total: body.quantity * item.price, problem: null,
            isWaiting: true, isNew: true,
        }];
    }
    const line = lines[place];
    const quantity = line.quantity + body.quantity;
    return lines.with(place, { ...line, quantity, total: quantity * item.price, isWaiting: true });
}

function withLines(cart, item, change) {
    const lines = change(cart.lines);
    const total = lines.reduce((sum, line) => sum + line.total, 0);
    return {
        ...cart, lines, subtotal: total, total,
        status: lines.length === 0 ? "empty" : "open",
        outlet: lines.length === 0 ? null : cart.outlet ?? item.outlet,
        currency: cart.currency ?? item.currency ?? null,
        count: lines.reduce((sum, line) => sum + line.quantity, 0),
        for: lines.length === 0 ? undefined : cart.for,
        codes: lines.length === 0 ? undefined : cart.codes,
    };
}
