// An order on the board, to be read across the room.

import { clockTime, now } from "../shared/clock.js";
import { clone, refs, setAttribute, setHidden, setText, textElement } from "../shared/dom.js";
import { REASONS, changeTexts, handover, numberOf, optionName } from "../shared/order.js";
import { reconcile } from "../shared/reconcile.js";
import { canUndo } from "./taps.js";

/// The next step of each status, as the path of its action and what its button says.
export const STEPS = {
    placed: ["accept", "Accept"],
    accepted: ["prepare", "Start cooking"],
    preparing: ["ready", "It is ready"],
    ready: ["complete", "Handed over"],
};
const NAMES = {
    placed: "New", accepted: "Accepted", preparing: "Cooking", ready: "Ready", completed: "Handed over",
    rejected: "Rejected", cancelled: "Cancelled", awaitingPayment: "Not paid any more",
};
const SOON_MINUTES = 5;
const CHANGEABLE = ["placed", "accepted", "preparing"];
// What is said of a tap that leads to no other status.
const SAID = {
    delay: ({ ready }, zone) => `Later: ${clockTime(ready, zone)}`, change: () => "Something is missing",
    agree: () => "Agreed", decline: () => "Not changed", noted: () => "Seen",
};

// What each card was drawn of.
const drawn = new WeakMap();

/// Whether an order was changed, and nobody has said that they have seen it.
export function isChanged({ order, tap, isGone }) {
    return !isGone && (order.changes ?? []).length > 0 && tap?.step !== "noted";
}

/// Whether a customer asks for a change of an order, and waits for an answer.
export function isAsked({ order, tap, isGone }) {
    return !isGone && order.proposal?.by === "customer" && tap?.step !== "agree" && tap?.step !== "decline";
}

/// Fills a card with `{order, status, tap, lines, isNew, isGone, length}`: `status` is that after the last `tap`, `lines`
/// are those of the station, and `length` is that of its number. `allergens(item)` answers a list.
export function fillCard(node, { order, status, tap, lines, isNew, isGone, length }, { zone, allergens }) {
    const due = order.readyBy ?? order.promisedFor ?? null;
    const minutes = due === null ? null : Math.round((Date.parse(due) - now()) / 60_000);
    const hasUndo = tap !== undefined && canUndo(tap);
    const said = [order, status, tap, tap?.isAway, hasUndo, isNew, isGone, length, lines.length, zone, allergens, minutes];
    if (drawn.get(node)?.every((part, place) => part === said[place])) return;
    drawn.set(node, said);
    const focused = node.contains(document.activeElement) ? document.activeElement : null;
    const parts = refs(node);
    const isOver = isGone || !(status in STEPS);
    setAttribute(node, "data-order", order.order);
    setAttribute(node, "data-new", isNew ? "" : null);
    setAttribute(node, "data-over", isOver ? "" : null);
    setText(parts.number, numberOf(order.order, length));
    setHidden(parts.fresh, !isNew);
    const { ending } = order;
    const why = isGone && ending ? `: ${ending.reason ?? REASONS[ending.code] ?? ending.code}` : "";
    setText(parts.state, `${NAMES[status] ?? status}${why}, since ${clockTime(order.placedAt ?? order.updatedAt, zone)}`);
    setText(parts.had, [handover(order), order.name, order.phone].filter(Boolean).join(", "));
    setHidden(parts.had, parts.had.textContent === "");
    setHidden(parts.cover, !order.uncovered || isGone);
    drawChanges(parts, order, tap, isGone, zone);
    setAttribute(node, "data-changed", parts.changed.hidden && !isAsked({ order, tap, isGone }) ? null : "");
    reconcile(parts.lines, lines, { id: ({ line }) => line, make: () => clone("line"), fill: fillLine });
    for (const [place, line] of [...parts.lines.children].entries()) {
        const words = allergens(lines[place].item).join(", ");
        setText(refs(line).allergens, words);
        setHidden(refs(line).allergens.parentElement, words === "");
    }
    const rest = order.lines.length - lines.length;
    setText(parts.rest, rest === 0 ? "" : `${rest} more elsewhere${due === null || isOver ? "" : `, due at ${clockTime(due, zone)}`}`);
    setHidden(parts.rest, rest === 0);
    setHidden(parts.held, !tap);
    setText(parts.said, !tap ? "" : tap.isAway ? `${saidOf(tap, status, zone)}: waits to be sent` : saidOf(tap, status, zone));
    setHidden(parts.undo, !hasUndo);
    const [step, name] = isGone || (isNew && status !== "placed") ? ["", "Noted"] : STEPS[status] ?? ["", ""];
    setText(parts.next, name);
    setAttribute(parts.next, "data-step", step);
    // While a change waits for an answer, nothing is cooked.
    const isHeld = !isGone && order.proposal !== undefined && step !== "" && step !== "accept";
    setHidden(parts.next, (!isGone && isOver) || isHeld);
    setHidden(parts.change, isOver || order.proposal !== undefined || tap?.step === "change" || !CHANGEABLE.includes(status));
    setHidden(parts.later, isOver || status === "ready" || !(order.promisedFor ?? order.readyBy));
    setText(parts.end, status === "placed" ? "Reject" : "Cancel");
    setHidden(parts.end, isOver);
    const isLate = !isOver && status !== "ready" && (order.late === true || (minutes !== null && minutes < 0));
    setAttribute(node, "data-age", isLate ? "late" : minutes !== null && minutes <= SOON_MINUTES ? "soon" : "good");
    setText(parts.due, isOver || status === "ready" || minutes === null ? (isLate ? "late" : "")
        : minutes < 0 ? `${-minutes} min late` : `in ${minutes} min, ${clockTime(due, zone)}`);
    // A button that has gone leaves its focus to another.
    if (focused && !focused.checkVisibility()) {
        [parts.undo, parts.next, parts.decline, parts.lines.querySelector("button")].find((button) => button?.checkVisibility())?.focus();
    }
}

// What was changed until somebody has seen it, and what is asked to be changed.
function drawChanges(parts, order, tap, isGone, zone) {
    const texts = (list, all) => reconcile(list, all.map((text, place) => ({ text, place })), {
        id: ({ place }) => place,
        make: () => textElement("li", ""),
        fill: (node, { text }) => setText(node, text),
    });
    const { proposal, changes = [] } = order;
    setHidden(parts.changed, !isChanged({ order, tap, isGone }));
    texts(parts.changes, changes.flatMap(({ change }) => changeTexts(change)));
    const isAnswered = tap?.step === "agree" || tap?.step === "decline";
    setHidden(parts.asked, !proposal || isGone || isAnswered);
    if (!proposal) return;
    const isTheirs = proposal.by === "customer";
    const until = proposal.until ? ` until ${clockTime(proposal.until, zone)}` : "";
    setText(parts.askedTitle, isTheirs ? `The customer asks for a change${until}` : `The customer is asked${until}`);
    texts(parts.askedChange, changeTexts(proposal.change));
    setHidden(parts.agree, !isTheirs);
    setText(parts.decline, isTheirs ? "Do not change it" : "Take it back");
}

function saidOf({ step, body }, status, zone) {
    return SAID[step]?.(body, zone) ?? NAMES[status] ?? status;
}

function fillLine(node, line) {
    const { quantity, name, options, note } = refs(node);
    setAttribute(node, "data-item", line.item);
    setText(quantity, String(line.quantity));
    setText(name, line.name);
    setAttribute(name, "aria-label", `${line.name}: sold out?`);
    reconcile(options, line.options, {
        id: ({ id }) => id,
        make: () => textElement("li", ""),
        fill: (node, option) => setText(node, optionName(option)),
    });
    setText(note, line.note ?? "");
    setHidden(note, !line.note);
}

/// What is to be cooked in all orders, `{name, quantity}`, the most first. Options make another dish.
export function toCook(cards) {
    const sums = new Map();
    for (const { lines, status, isGone } of cards) {
        if (isGone || !["placed", "accepted", "preparing"].includes(status)) continue;
        for (const { name, options, quantity } of lines) {
            const chosen = options.map(optionName).join(", ");
            const key = chosen === "" ? name : `${name} (${chosen})`;
            sums.set(key, (sums.get(key) ?? 0) + quantity);
        }
    }
    return [...sums].map(([name, quantity]) => ({ name, quantity })).sort((a, b) => b.quantity - a.quantity);
}

/// How many characters tell the numbers of these orders apart; four at least.
export function numberLength(orders) {
    let length = 4;
    while (length < 24 && new Set(orders.map((order) => numberOf(order, length))).size < new Set(orders).size) length += 1;
    return length;
}
