// What is paid for beside the lines of a cart or an order, and what was chosen with a line.

import { clone, refs, setHidden, setText } from "../shared/dom.js";
import { money } from "../shared/money.js";
import { optionName } from "../shared/order.js";
import { reconcile } from "../shared/reconcile.js";

const NAMES = { service: "Service", smallOrder: "Small order fee", delivery: "Delivery", tip: "Tip" };

/// What a charge is called.
export function chargeName({ kind, name, included }) {
    return `${name ?? NAMES[kind] ?? kind}${included ? " (included)" : ""}`;
}

/// Draws what the lines cost, and each charge. Where nothing is charged, there is only the total.
export function drawCharges(list, subtotal, charges, currency) {
    const rows = charges.length === 0 ? [] : [
        { key: "lines", name: "Items", amount: subtotal },
        ...charges.map((charge) => ({ key: chargeKey(charge), amount: charge.amount, name: chargeName(charge) })),
    ];
    setHidden(list, rows.length === 0);
    reconcile(list, rows, {
        id: ({ key }) => key,
        make: () => clone("charge"),
        fill: (node, row) => {
            setText(refs(node).name, row.name);
            setText(refs(node).amount, money(row.amount, currency));
        },
    });
}

/// Tells a charge from the others of a bill.
export function chargeKey({ kind, id }) {
    return `${kind} ${id ?? ""}`;
}

/// The options and the note of a line.
export function wishes({ options, note }) {
    return [...(options ?? []).map(optionName), note ?? ""]
        .filter(Boolean).join(", ");
}
