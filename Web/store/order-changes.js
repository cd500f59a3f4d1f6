// What is asked to be changed of an order, and what was changed: its lines, and when it is promised.

import { clockTime } from "../shared/clock.js";
import { clone, refs, setAttribute, setHidden, setText } from "../shared/dom.js";
import { money } from "../shared/money.js";
import { changeTexts } from "../shared/order.js";
import { reconcile } from "../shared/reconcile.js";
import { chargeKey, chargeName, wishes } from "./charges.js";

const NOTHING = "–";
const STATES = {
    agreed: "Agreed", declined: "Declined", expired: "Not answered in time", ended: "The order ended before an answer",
};

/// The rows of two bills side by side, `{key, name, before, after, isChanged}`: lines, then charges, then the total.
export function billsOf({ lines, charges = [], total }, after, currency) {
    const sides = [{ lines, charges, total }, after].map((bill) => new Map([
        ...bill.lines.map((line) => [`line ${line.line}`, {
            name: [line.name, wishes(line)].filter(Boolean).join(", "), text: `${line.quantity} × ${money(line.unitPrice, currency)}`,
        }]),
        ...bill.charges.map((charge) => [chargeKey(charge), { name: chargeName(charge), text: money(charge.amount, currency) }]),
        ["total", { name: "Total", text: money(bill.total, currency) }],
    ]));
    const ofLines = (key) => key.startsWith("line ");
    const keys = [...new Set(sides.flatMap((side) => [...side.keys()]))];
    // What is new stands behind the lines, and the total at the end.
    const ordered = [...keys.filter(ofLines), ...keys.filter((key) => !ofLines(key) && key !== "total"), "total"];
    return ordered.map((key) => {
        const [before, now] = sides.map((side) => side.get(key));
        return {
            key, name: (now ?? before).name, before: before?.text ?? NOTHING, after: now?.text ?? NOTHING,
            isChanged: before?.text !== now?.text,
        };
    });
}

/// Draws the change that waits for an answer, if one does.
export function drawProposal(parts, order, zone) {
    const { proposal, currency } = order;
    setHidden(parts.proposal, !proposal);
    if (!proposal) return;
    const isTheirs = proposal.by !== "customer";
    const until = proposal.until ? ` Until ${clockTime(proposal.until, zone)} it waits for an answer.` : "";
    setText(parts.proposalTitle, `${isTheirs ? "The place asks to change your order." : "You ask to change the order."}${until}`);
    drawTexts(parts.proposalChange, changeTexts(proposal.change));
    reconcile(parts.bills, billsOf(order, proposal.after, currency), {
        id: ({ key }) => key,
        make: () => clone("bill-row"),
        fill: (node, row) => {
            setText(refs(node).name, row.name);
            setText(refs(node).before, row.before);
            setText(refs(node).after, row.after);
            setAttribute(node, "data-changed", row.isChanged ? "" : null);
        },
    });
    setHidden(parts.agree, !isTheirs);
    setText(parts.agree, `Agree to ${money(proposal.after.total, currency)}`);
    setText(parts.decline, isTheirs ? "Leave it as it is" : "Take it back");
}

/// Draws what was changed of the promise and of the order, the oldest first.
export function drawHistory(parts, { changes = [], promise = [], currency }, zone) {
    const time = (moment) => (moment === null ? "no time" : clockTime(moment, zone));
    const texts = [
        ...promise.map(({ from, to, reason }) => `Ready at ${time(to)}, not at ${time(from)}${reason ? `: ${reason}` : ""}`),
        ...changes.map(({ state, change, before, after }) => {
            const bill = state === "agreed" ? `. ${money(before.total, currency)} → ${money(after.total, currency)}` : "";
            return `${STATES[state] ?? state}: ${changeTexts(change).join(", ")}${bill}`;
        }),
    ];
    setHidden(parts.history, texts.length === 0);
    drawTexts(parts.past, texts);
}

function drawTexts(list, texts) {
    reconcile(list, texts.map((text, place) => ({ text, place })), {
        id: ({ place }) => place,
        make: () => clone("text-row"),
        fill: (node, { text }) => setText(node, text),
    });
}
