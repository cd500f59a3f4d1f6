// Orders that are not on the board: those that were handed over in the last hour, and those that are planned.

import { get } from "../shared/api.js";
import { clockTime, now } from "../shared/clock.js";
import { clone, refs, setAttribute, setHidden, setText, textElement } from "../shared/dom.js";
import { handover, numberOf, optionName } from "../shared/order.js";
import { openForm } from "../shared/forms.js";

const HOUR = 60 * 60 * 1000;

/// Opens the list of what an outlet handed over, the latest first. The lines of an order are read once somebody looks at
/// them.
export function openHandedOver(outlet, zone) {
    return open("handed_over", "Handed over in the last hour", "Nothing was handed over in the last hour.", async () => {
        const { orders } = await get(`/v1/orders?outlet=${encodeURIComponent(outlet)}&status=completed&count=100`);
        return orders.filter(({ updatedAt }) => Date.parse(updatedAt) > now() - HOUR)
            .sort((a, b) => Date.parse(b.updatedAt) - Date.parse(a.updatedAt))
            .map(({ order, updatedAt }) => ({ order, title: `${numberOf(order)}, ${clockTime(updatedAt, zone)}` }));
    });
}

/// Opens the list of the orders that the board will show by themselves, in that order.
export function openPlanned(outlet, zone) {
    return open("planned", "Planned", "Nothing is planned.", async () => {
        const { orders } = await get(`/v1/orders?outlet=${encodeURIComponent(outlet)}&status=scheduled&count=100`);
        const full = await Promise.all(orders.map(({ order }) => read(order)));
        const time = (moment) => clockTime(moment, zone);
        return full.filter((order) => order?.releaseAt).sort((a, b) => Date.parse(a.releaseAt) - Date.parse(b.releaseAt))
            .map((order) => ({
                order: order.order, full: order,
                title: `${numberOf(order.order)}, on the board at ${time(order.releaseAt)}, for ${time(order.promisedFor)}`,
            }));
    });
}

async function open(name, heading, nothing, rowsOf) {
    const dialog = openForm("order-list");
    const { title, list, none, close } = refs(dialog);
    setText(title, heading);
    setText(none, nothing);
    setAttribute(list, "data-testid", name);
    close.onclick = () => dialog.close();
    let rows = [];
    try {
        rows = await rowsOf();
    } catch (error) {
        setText(none, error.message);
    }
    setHidden(none, rows.length > 0);
    list.replaceChildren(...rows.map(({ order, title: text, full }) => {
        const node = clone("order-row");
        const { title, lines } = refs(node);
        setText(title, text);
        node.firstElementChild.ontoggle = async () => {
            if (lines.firstElementChild) return;
            const known = full ?? await read(order);
            if (!known || lines.firstElementChild) return;
            const texts = known.lines.map(({ quantity, name, options, note }) => (
                [`${quantity} × ${name}`, ...options.map(optionName), note].filter(Boolean).join(", ")));
            lines.append(...[handover(known), known.name, ...texts].filter(Boolean).map((text) => textElement("li", text)));
        };
        return node;
    }));
}

function read(order) {
    return get(`/v1/orders/${encodeURIComponent(order)}`).catch(() => null);
}
