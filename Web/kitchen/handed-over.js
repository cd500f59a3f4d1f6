// What was handed over in the last hour.

import { get } from "../shared/api.js";
import { clockTime, now } from "../shared/clock.js";
import { clone, refs, setHidden, setText, textElement } from "../shared/dom.js";
import { handover, numberOf, optionName } from "../shared/order.js";
import { openForm } from "./forms.js";

const HOUR = 60 * 60 * 1000;

/// Opens the list of an outlet, the latest first. The lines of an order are read once somebody looks at them.
export async function openHandedOver(outlet, zone) {
    const dialog = openForm("handed-over-list");
    const { list, none, close } = refs(dialog);
    close.onclick = () => dialog.close();
    let orders = [];
    try {
        ({ orders } = await get(`/v1/orders?outlet=${encodeURIComponent(outlet)}&status=completed&count=100`));
    } catch (error) {
        setText(none, error.message);
    }
    const late = orders.filter(({ updatedAt }) => Date.parse(updatedAt) > now() - HOUR)
        .sort((a, b) => Date.parse(b.updatedAt) - Date.parse(a.updatedAt));
    setHidden(none, late.length > 0);
    list.replaceChildren(...late.map(({ order, updatedAt }) => {
        const node = clone("handed-over-row");
        const { title, lines } = refs(node);
        setText(title, `${numberOf(order)}, ${clockTime(updatedAt, zone)}`);
        node.firstElementChild.ontoggle = async () => {
            if (lines.firstElementChild) return;
            const full = await get(`/v1/orders/${encodeURIComponent(order)}`).catch(() => null);
            if (!full || lines.firstElementChild) return;
            const texts = full.lines.map(({ quantity, name, options, note }) => (
                [`${quantity} × ${name}`, ...options.map(optionName), note].filter(Boolean).join(", ")));
            lines.append(...[handover(full), full.name, ...texts].filter(Boolean).map((text) => textElement("li", text)));
        };
        return node;
    }));
}
