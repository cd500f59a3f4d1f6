// How an order is had, for people.

export const SERVICES = { pickup: "Pickup", delivery: "Delivery", table: "At a table" };

/// `Table 4`, `Delivery to 12 Mill Road`, or an empty text where there was nothing to choose.
export function handover({ service, table, address }) {
    if (service === undefined) return "";
    if (service === "table" && table !== undefined) return `Table ${table}`;
    return address === undefined ? SERVICES[service] ?? service : `${SERVICES[service] ?? service} to ${address}`;
}
