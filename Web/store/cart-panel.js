import { Away, Problem } from "../shared/api.js";
import { clone, isUsable, refs, setAttribute, setHidden, setText, setUsable } from "../shared/dom.js";
import { money } from "../shared/money.js";
import { reconcile } from "../shared/reconcile.js";
import { ask } from "./question.js";
import { sentence } from "./texts.js";

/// The dialog with the lines of the cart, and its checkout.
export class CartPanel {
    #dialog = document.getElementById("cart-sheet");
    #cart;
    #refs;
    #isOrdering = false;

    constructor(cart) {
        this.#cart = cart;
        const panel = clone("cart-panel");
        this.#refs = refs(panel);
        this.#dialog.append(panel);
        this.#refs.close.onclick = () => this.#dialog.close();
        this.#refs.clear.onclick = async () => {
            if (this.#cart.count > 0 && await ask("Empty the cart?", "Empty it")) this.#cart.clear();
        };
        this.#refs.order.onclick = () => this.#order();
        this.#refs.lines.onclick = (event) => this.#step(event);
        this.#dialog.onclick = (event) => {
            if (event.target === this.#dialog) this.#dialog.close();
        };
        document.getElementById("cart-button").onclick = () => this.open();
    }

    open() {
        this.#say("");
        this.#dialog.showModal();
        this.draw();
    }

    /// Draws the cart again, if somebody sees it.
    draw() {
        if (!this.#dialog.open) return;
        const { view, count, isSettled } = this.#cart;
        const lines = count > 0 ? view.lines : [];
        const { empty, outlet, sums, total, order, bottom, clear } = this.#refs;
        setHidden(empty, count > 0);
        setHidden(sums, count === 0);
        setHidden(bottom, count === 0);
        setUsable(clear, count > 0);
        setHidden(outlet, !view.outlet || location.pathname === `/o/${view.outlet}`);
        setAttribute(outlet, "href", view.outlet ? `/o/${view.outlet}` : null);
        if (count > 0) {
            const sum = money(orderTotal(view), view.currency);
            setText(total, sum);
            setText(order, this.#isOrdering ? "Ordering…" : `Order for ${sum}`);
        }
        setUsable(order, isSettled && !this.#isOrdering && lines.every(({ problem }) => isOrderable(problem)));
        reconcile(this.#refs.lines, lines, {
            id: ({ line }) => line,
            make: () => clone("cart-line"),
            fill: (node, line) => fillLine(node, line, view.currency),
        });
    }

    #step(event) {
        const button = event.target.closest("button");
        const node = button?.closest(".line");
        if (!node || !isUsable(button)) return;
        const line = this.#cart.view.lines.find(({ line }) => line === node.dataset.line);
        if (!line || line.isNew) return;
        this.#cart.set(line.line, line.quantity + (button.dataset.focus === "more" ? 1 : -1));
    }

    async #order() {
        if (!isUsable(this.#refs.order)) return;
        this.#say("");
        this.#isOrdering = true;
        this.draw();
        try {
            const order = await this.#cart.checkout(orderTotal(this.#cart.view));
            location.assign(`/order/${encodeURIComponent(order)}`);
        } catch (error) {
            this.#say(error instanceof Away
                ? "The server cannot be reached. Try again: there will be one order." : sentence(error.message));
            if (error instanceof Problem) await this.#cart.read().catch(() => {});
        } finally {
            this.#isOrdering = false;
            this.draw();
        }
    }

    #say(text) {
        setText(this.#refs.trouble, text);
        setHidden(this.#refs.trouble, text === "");
    }
}

/// What the order costs today: prices may have changed since the items were added.
export function orderTotal(cart) {
    return cart.lines.reduce((sum, { quantity, unitPrice, problem }) => sum + quantity * (problem?.unitPrice ?? unitPrice), 0);
}

// A line whose price has changed can be ordered at the price that is shown.
function isOrderable(problem) {
    return problem === null || problem.code === "PRICECHANGED";
}

const PROBLEMS = {
    SOLDOUT: () => "Sold out",
    GONE: () => "No longer on the menu",
    CLOSED: () => "The place takes no orders now",
    PRICECHANGED: ({ unitPrice }, currency) => `It costs ${money(unitPrice, currency)} now`,
    OPTIONGONE: () => "An option is no longer there",
    OPTIONSOLDOUT: () => "An option is sold out",
    CHOICE: () => "The options have to be chosen again",
};

function fillLine(node, line, currency) {
    const { name, note, total, less, more, quantity, problem } = refs(node);
    setAttribute(node, "data-line", line.line);
    setAttribute(node, "data-waiting", line.isWaiting ? "" : null);
    setText(name, line.name);
    setText(note, [...line.options.map(({ name, units }) => (units > 1 ? `${units} × ${name}` : name)), line.note ?? ""]
        .filter(Boolean).join(", "));
    setText(total, money(line.quantity * (line.problem?.unitPrice ?? line.unitPrice), currency));
    setText(quantity, String(line.quantity));
    setAttribute(less, "aria-label", `One ${line.name} less`);
    setAttribute(more, "aria-label", `One ${line.name} more`);
    setUsable(less, !line.isNew);
    setUsable(more, !line.isNew);
    const text = line.problem ? PROBLEMS[line.problem.code]?.(line.problem, currency) ?? "It cannot be ordered now" : "";
    setText(problem, text);
    setHidden(problem, text === "");
}
