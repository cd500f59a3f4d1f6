import { Away, Problem, get } from "../shared/api.js";
import { clockTime, localTimes } from "../shared/clock.js";
import { clone, isUsable, refs, setAttribute, setHidden, setText, setUsable } from "../shared/dom.js";
import { raise } from "../shared/layers.js";
import { decimals, major, money } from "../shared/money.js";
import { SERVICES } from "../shared/order.js";
import { ask } from "../shared/question.js";
import { reconcile } from "../shared/reconcile.js";
import { delay } from "../shared/stream.js";
import { drawCharges, wishes } from "./charges.js";
import { remember, remembered } from "../shared/memory.js";
import { Needs } from "./needs.js";
import { sentence } from "./texts.js";
import { Times } from "./times.js";

/// The dialog with the lines of the cart, and its checkout.
export class CartPanel {
    #dialog = document.getElementById("cart-sheet");
    #cart;
    #sheet;
    #refs;
    #needs;
    #times;
    // The document of the cart's place, as it was when the cart was opened.
    #place = null;
    #isOrdering = false;
    // What the cart costs, as it was last asked, and the cart that was asked for.
    #quote = null;
    #quoted = null;
    #isAsking = false;
    // What the customer gives beside, as far as is known.
    #tip = 0;
    // Why nothing was answered, as a sentence.
    #away = "";

    constructor(cart, sheet) {
        this.#cart = cart;
        this.#sheet = sheet;
        const panel = clone("cart-panel");
        this.#refs = refs(panel);
        this.#dialog.append(panel);
        this.#refs.close.onclick = () => this.#dialog.close();
        this.#refs.clear.onclick = async () => {
            if (this.#cart.count > 0 && await ask({ title: "Empty the cart?", yes: "Empty it" })) this.#cart.clear();
        };
        this.#refs.order.onclick = () => this.#order();
        this.#refs.lines.onclick = (event) => this.#tap(event);
        this.#refs.tips.onclick = ({ target }) => {
            const chip = target.closest("[data-amount]");
            if (chip) this.#cart.tip(Number(chip.dataset.amount));
        };
        this.#refs.tip.onchange = ({ target }) => this.#give(target);
        this.#refs.ways.onclick = ({ target }) => {
            const chip = target.closest("[data-service]");
            if (chip) this.#cart.choose(chip.dataset.service);
        };
        this.#needs = new Needs(this.#refs, {
            changed: () => this.draw(), seated: (table) => this.#cart.choose("table", table || null),
        });
        this.#times = new Times(this.#refs, {
            changed: () => this.draw(),
            choose: (time) => {
                const { service, table } = this.#cart.view;
                this.#cart.choose(service ?? this.#quote?.service, table ?? null, time);
            },
        });
        this.#refs.say.onsubmit = (event) => {
            event.preventDefault();
            const code = this.#refs.code.value.trim();
            if (code === "") return;
            this.#sayOfCode("");
            this.#refs.code.value = "";
            this.#cart.code(code);
        };
        this.#refs.code.oninput = () => this.#sayOfCode("");
        this.#refs.codes.onclick = ({ target }) => {
            const node = target.closest("button")?.closest(".code");
            if (node) this.#cart.uncode(node.dataset.code);
        };
        this.#dialog.onclick = (event) => {
            if (event.target === this.#dialog) this.#dialog.close();
        };
        document.getElementById("cart-button").onclick = () => this.open();
    }

    /// Opens the cart; `trouble` says what is not in it, as a sentence.
    open(trouble = "") {
        this.#say(trouble);
        this.#sayOfCode("");
        this.#quoted = null;
        this.#place = null;
        this.#times.reset();
        raise(this.#dialog);
        this.draw();
    }

    /// The zone of the cart's place, if it is known.
    get zone() {
        return this.#place?.timeZone;
    }

    /// Empties the fields: the customer is somebody else from now on.
    forget() {
        this.#needs.forget();
        this.#refs.missing.value = "ask";
    }

    /// Says beside its field why a code was not taken, if somebody sees it. Whoever has typed another one keeps it.
    refuse(problem, { body: { code } }) {
        if (!this.#dialog.open) return false;
        const { code: field } = this.#refs;
        if (field.value === "") field.value = code;
        this.#sayOfCode(problem.code === "PROMO" ? `This place has no promotion with the code “${code}”.`
            : sentence(problem.message));
        return true;
    }

    /// Reads anew which times there are, after one was refused.
    readTimes() {
        this.#times.reset();
        this.draw();
    }

    /// Draws the cart again, if somebody sees it.
    draw() {
        if (!this.#dialog.open) return;
        const { view, count } = this.#cart;
        const lines = count > 0 ? view.lines : [];
        const { empty, outlet, charges, reason, sums, total, order, bottom, clear, tipping } = this.#refs;
        setHidden(empty, count > 0);
        setHidden(sums, count === 0);
        setHidden(bottom, count === 0);
        setHidden(tipping, count === 0);
        setHidden(this.#refs.promotions, count === 0);
        this.#drawCodes(view);
        setUsable(clear, count > 0);
        setHidden(outlet, !view.outlet || location.pathname === `/o/${view.outlet}`);
        setAttribute(outlet, "href", view.outlet ? `/o/${view.outlet}` : null);
        if (count > 0) {
            if (this.#quote?.outlet !== view.outlet) {
                this.#quote = null;
                this.#tip = 0;
            }
            const tip = this.#quote?.charges.find(({ kind }) => kind === "tip")?.amount ?? 0;
            if (this.#isQuoted) this.#tip = tip;
            this.#tip = view.tip ?? this.#tip;
            const subtotal = linesTotal(view);
            // Until the answer is there, the charges are taken for the same.
            const charged = (this.#quote?.total ?? 0) - (this.#quote?.subtotal ?? 0) - tip + this.#tip;
            const sum = this.#isQuoted ? this.#quote.total : subtotal + charged;
            const text = sum === null ? "" : money(sum, view.currency);
            const shown = (this.#quote?.charges ?? []).filter(({ kind }) => kind !== "tip");
            if (this.#tip > 0) shown.push({ kind: "tip", amount: this.#tip });
            drawCharges(charges, subtotal, shown, view.currency);
            this.#drawTips(subtotal, view.currency);
            this.#drawServices(view);
            setText(total, text);
            setText(order, this.#isOrdering ? "Ordering…" : text === "" ? "Order" : `Order for ${text}`);
        } else {
            this.#tip = 0;
            setHidden(charges, true);
            setHidden(this.#refs.services, true);
            this.#needs.draw([]);
            this.#times.draw(null, null);
            setHidden(this.#refs.missingField, true);
        }
        setAttribute(sums, "data-waiting", this.#isQuoted ? null : "");
        setAttribute(charges, "data-waiting", this.#isQuoted ? null : "");
        // What is promised is said of a time that was chosen.
        setHidden(this.#refs.promise, count === 0 || this.#refs.promise.textContent === "" || this.#times.missing !== "");
        const obstacle = count === 0 ? "" : this.#isQuoted
            ? this.#times.missing || obstacleTo(this.#quote, view, this.zone) || this.#needs.missing : this.#away;
        setText(reason, obstacle);
        setHidden(reason, obstacle === "");
        setUsable(order, count > 0 && this.#isQuoted && !this.#isOrdering && obstacle === "");
        reconcile(this.#refs.lines, lines, {
            id: ({ line }) => line,
            make: () => clone("cart-line"),
            fill: (node, line) => fillLine(node, line, view.currency, this.zone),
        });
        this.#ask();
    }

    // The ways that the place offers, if there is a choice, and what the order needs.
    #drawServices(view) {
        const { services, ways } = this.#refs;
        const offered = this.#quote?.services ?? [];
        const service = view.service ?? this.#quote?.service;
        setHidden(services, offered.length < 2);
        reconcile(ways, offered.map((name) => ({ name })), {
            id: ({ name }) => name,
            make: () => clone("way"),
            fill: (node, { name }) => {
                setText(node, SERVICES[name] ?? name);
                setAttribute(node, "data-service", name);
            },
        });
        for (const chip of ways.children) setAttribute(chip, "aria-pressed", String(chip.dataset.service === service));
        this.#needs.draw(this.#quote?.requires ?? [], view.table);
        this.#times.draw(this.#place, service, view.for);
        // Where nobody accepts orders, nothing of them can be changed.
        setHidden(this.#refs.missingField, this.#place?.acceptWithin === undefined && this.#place?.payment === undefined);
    }

    // The codes that were said, and what has become of each.
    #drawCodes(view) {
        reconcile(this.#refs.codes, (this.#isQuoted ? this.#quote.codes : null) ?? view.codes ?? [], {
            id: ({ code }) => code,
            make: () => clone("code"),
            fill: (node, { code, state }) => {
                const { code: text, state: outcome, take } = refs(node);
                setAttribute(node, "data-code", code);
                setText(text, code);
                setText(outcome, CODES[state] ?? "cannot be used now");
                setAttribute(take, "aria-label", `Take back ${code}`);
            },
        });
    }

    #promise({ prepMinutes: minutes, promisedFor: time }) {
        const text = time ? `Planned for ${clockTime(time, this.zone)}.`
            : minutes === undefined ? "" : `As soon as possible: ready in about ${minutes} min.`;
        setText(this.#refs.promise, text);
    }

    // What to do if something is missing, as the checkout takes it.
    get #missing() {
        const { missingField, missing } = this.#refs;
        return missingField.hidden || missing.value === "ask" ? {} : { missing: missing.value };
    }

    // Each cart begins at the table whose code brought the customer here.
    #seat({ cart, outlet, services }) {
        const seat = remembered("table", IN_TAB);
        if (seat?.outlet !== outlet || seat.cart === cart || !services?.includes("table")) return;
        remember("table", { ...seat, cart }, IN_TAB);
        this.#cart.choose("table", seat.table);
    }

    #drawTips(subtotal, currency) {
        const { tips, tip } = this.#refs;
        const amounts = [0, ...TIPS.map((share) => Math.round(subtotal * share / 100))];
        reconcile(tips, amounts.map((amount, place) => ({ amount, place })), {
            id: ({ place }) => place,
            make: () => clone("tip"),
            fill: (node, { amount, place }) => {
                setText(node, place === 0 ? "None" : `${TIPS[place - 1]} %, ${money(amount, currency)}`);
                setAttribute(node, "data-amount", amount);
            },
        });
        for (const chip of tips.children) {
            setAttribute(chip, "aria-pressed", String(Number(chip.dataset.amount) === this.#tip));
        }
        setAttribute(tip, "step", major(1, currency));
        // Whoever is typing goes on.
        if (tip !== document.activeElement) tip.value = major(this.#tip, currency);
    }

    // Takes an amount that was typed, in major units.
    #give(field) {
        const amount = Math.round(Number(field.value) * 10 ** decimals(this.#cart.view.currency));
        if (field.value !== "" && amount >= 0 && Number.isSafeInteger(amount)) this.#cart.tip(amount);
        else this.draw();
    }

    // Whether the quote is that of the cart that is shown.
    get #isQuoted() {
        return this.#quoted !== null && this.#quoted === this.#cart.view && this.#cart.isSettled;
    }

    // Whether somebody wants to know what the cart costs. While changes wait, the server does not know either.
    get #isWanted() {
        return this.#dialog.open && this.#cart.count > 0 && this.#cart.isSettled && !this.#isQuoted;
    }

    async #ask() {
        if (this.#isAsking || !this.#isWanted) return;
        this.#isAsking = true;
        for (let attempt = 0; this.#isWanted;) {
            const { view } = this.#cart;
            try {
                const quote = await get("/v1/cart/quote");
                this.#away = "";
                if (quote?.outlet && this.#place?.id !== quote.outlet) {
                    this.#place = await get(`/v1/outlets/${encodeURIComponent(quote.outlet)}`).catch(() => null);
                }
                if (quote?.cart === view.cart && quote?.version === view.version) {
                    this.#quote = quote;
                    this.#quoted = view;
                    this.#seat(quote);
                    this.#promise(quote);
                    continue;
                }
                // Another page has changed the cart, and the stream did not say so yet.
                await this.#cart.read();
            } catch (error) {
                this.#away = sentence(error.message);
                if (error instanceof Problem && !error.isTemporary) break;
                this.draw();
            }
            await new Promise((resolve) => setTimeout(resolve, delay(attempt++)));
        }
        this.draw();
        this.#isAsking = false;
    }

    #tap(event) {
        const button = event.target.closest("button");
        const node = button?.closest(".line");
        if (!node || !isUsable(button)) return;
        const line = this.#cart.view.lines.find(({ line }) => line === node.dataset.line);
        if (!line || line.isNew) return;
        if (button.dataset.focus === "edit") this.#sheet.edit(line, this.#cart.view);
        else this.#cart.set(line.line, line.quantity + (button.dataset.focus === "more" ? 1 : -1));
    }

    async #order() {
        if (!isUsable(this.#refs.order)) return;
        this.#say("");
        this.#isOrdering = true;
        this.draw();
        try {
            this.#needs.keep();
            const order = await this.#cart.checkout(this.#quote.quote, { ...this.#needs.texts, ...this.#missing });
            remember("orders", "open");
            // In the place of the cart in the history.
            location.replace(`/order/${encodeURIComponent(order)}`);
        } catch (error) {
            this.#say(error instanceof Away
                ? "The server cannot be reached. Try again: there will be one order."
                : error.code === "TOTALCHANGED" ? CHANGED : localTimes(sentence(error.message), this.zone));
            if (error instanceof Problem) {
                this.#quoted = null;
                await this.#cart.read().catch(() => {});
            }
        } finally {
            this.#isOrdering = false;
            this.draw();
        }
    }

    #sayOfCode(text) {
        const { code, codeTrouble } = this.#refs;
        setText(codeTrouble, text);
        setHidden(codeTrouble, text === "");
        setAttribute(code, "aria-invalid", text === "" ? null : "true");
    }

    #say(text) {
        setText(this.#refs.trouble, text);
        setHidden(this.#refs.trouble, text === "");
    }
}

const IN_TAB = { inTab: true };
// Shares of what the lines cost that are offered as a tip, in percent.
const TIPS = [5, 10, 15];
// What has become of a code, behind it.
const CODES = {
    applied: "is taken off",
    minimum: "needs more in the cart",
    later: "has not begun yet",
    ended: "is over",
    spent: "is used up",
    customer: "cannot be used by you any more",
    nothing: "takes nothing off this cart",
};
const CHANGED = "Prices have changed since you saw them. This is what it costs now.";

// What the lines cost today: prices may have changed since the items were added.
function linesTotal(cart) {
    return cart.lines.reduce((sum, { quantity, unitPrice, problem }) => sum + quantity * (problem?.unitPrice ?? unitPrice), 0);
}

// What keeps a cart from being ordered, as a sentence, or an empty text.
function obstacleTo({ quote, problem, lines, subtotal, minimumOrder }, { currency }, zone) {
    // It begins with its code.
    if (problem) return localTimes(sentence(problem.replace(/^[A-Z]+ /, "")), zone);
    if (quote === null) {
        return lines.some(({ problem }) => problem?.code === "CLOSED" && !problem.daypart) ? "The place takes no orders now."
            : "Something in the cart cannot be had now. Take it out to order the rest.";
    }
    if (subtotal >= (minimumOrder ?? 0)) return "";
    return `Orders from here start at ${money(minimumOrder, currency)}, without what is charged beside.`;
}

const PROBLEMS = {
    SOLDOUT: () => "Sold out",
    GONE: () => "No longer on the menu",
    CLOSED: ({ daypart, availableFrom }, _, zone) => (!daypart ? "The place takes no orders now"
        : availableFrom ? `It can be had from ${clockTime(availableFrom, zone)}` : "It cannot be had at that time"),
    PRICECHANGED: ({ unitPrice }, currency) => `It costs ${money(unitPrice, currency)} now`,
    OPTIONGONE: () => "An option is no longer there",
    OPTIONSOLDOUT: () => "An option is sold out",
    TAXGONE: () => "It cannot be priced now",
    CHOICE: () => "The options have to be chosen again",
};

function fillLine(node, line, currency, zone) {
    const { name, note, total, less, more, edit, quantity, problem } = refs(node);
    setAttribute(node, "data-line", line.line);
    setAttribute(node, "data-waiting", line.isWaiting ? "" : null);
    setText(name, line.name);
    setText(note, wishes(line));
    setText(total, money(line.quantity * (line.problem?.unitPrice ?? line.unitPrice), currency));
    setText(quantity, String(line.quantity));
    setAttribute(less, "aria-label", `One ${line.name} less`);
    setAttribute(more, "aria-label", `One ${line.name} more`);
    setUsable(less, !line.isNew);
    setUsable(more, !line.isNew);
    setAttribute(edit, "aria-label", `Change ${line.name}`);
    setUsable(edit, !line.isNew);
    const text = line.problem ? PROBLEMS[line.problem.code]?.(line.problem, currency, zone) ?? "It cannot be ordered now" : "";
    setText(problem, text);
    setHidden(problem, text === "");
}
