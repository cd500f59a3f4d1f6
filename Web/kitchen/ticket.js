// A ticket for a printer of 80 or 58 mm, by the browser's print dialog.

import { clockTime } from "../shared/clock.js";
import { clone, refs, textElement } from "../shared/dom.js";
import { handover, numberOf, optionName } from "../shared/order.js";

/// Prints an order, with times of a zone.
export function printTicket(order, zone, allergens) {
    document.querySelector("body > .ticket")?.remove();
    const ticket = clone("ticket");
    const { number, time, had, lines } = refs(ticket);
    const due = order.readyBy ?? order.promisedFor;
    number.textContent = numberOf(order.order);
    time.textContent = [clockTime(order.placedAt ?? order.updatedAt, zone), due && `due ${clockTime(due, zone)}`]
        .filter(Boolean).join(", ");
    had.textContent = [handover(order), order.name, order.phone].filter(Boolean).join(", ");
    lines.append(...order.lines.map((line) => {
        const node = clone("ticket-line");
        const parts = refs(node);
        parts.quantity.textContent = String(line.quantity);
        parts.name.textContent = line.name;
        parts.options.append(...line.options.map((option) => textElement("li", optionName(option))));
        parts.note.textContent = line.note ?? "";
        parts.allergens.textContent = allergens(line.item).join(", ");
        return node;
    }));
    document.body.append(ticket);
    addEventListener("afterprint", () => ticket.remove(), { once: true });
    print();
}
