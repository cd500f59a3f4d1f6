// What is said of an order, to customers and to cooks.

export const SERVICES = { pickup: "Pickup", delivery: "Delivery", table: "At a table" };

export const STATES = {
    awaitingPayment: "Waiting for the payment", scheduled: "Planned", placed: "Sent to the kitchen", accepted: "Accepted",
    preparing: "Being prepared", ready: "Ready", completed: "Done", rejected: "Rejected", cancelled: "Cancelled",
};

/// The states of an order that goes on.
export const OPEN = ["awaitingPayment", "scheduled", "placed", "accepted", "preparing", "ready"];

/// Why an order ended.
export const REASONS = {
    ITEMS: "something of it is not there", CLOSED: "the place has closed", BUSY: "the kitchen has too much to do",
    NOTE: "a note cannot be followed", CUSTOMER: "the customer asked for it", UNPAID: "it was not paid in time",
    TIMEOUT: "nobody accepted it in time", OTHER: "for another reason",
};

/// An option of a line, `2 × Cheese`.
export function optionName({ name, units }) {
    return units > 1 ? `${units} × ${name}` : name;
}

/// What a change of an order does to each line, as a sentence.
export function changeTexts(change) {
    const nameOf = (id) => change.find(({ line }) => line === id)?.name ?? id;
    return change.map(({ name, from, to, replaces }) => (to === 0 ? `${from} × ${name} is taken out`
        : from > 0 ? `${to} × ${name} in place of ${from}`
        : replaces === undefined ? `${to} × ${name} is added` : `${to} × ${name} in place of ${nameOf(replaces)}`));
}

/// The short number of an order, `#4c61`, with `length` characters.
export function numberOf(order, length = 4) {
    // The last four characters lead to the slot of the order's cart; those before them are by chance.
    return `#${order.slice(-4 - length, -4)}`;
}

/// `Table 4`, `Delivery to 12 Mill Road`, or an empty text where there was nothing to choose.
export function handover({ service, table, address }) {
    if (service === undefined) return "";
    if (service === "table" && table !== undefined) return `Table ${table}`;
    return address === undefined ? SERVICES[service] ?? service : `${SERVICES[service] ?? service} to ${address}`;
}
