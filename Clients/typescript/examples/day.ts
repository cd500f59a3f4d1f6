// A day at an outlet: a merchant opens it and changes its menu, a customer orders, and both see what comes of it.
//
//     tsc -p Clients/typescript && node Clients/typescript/dist/examples/day.js STORE CONSOLE OUTLET
//
// With users, TIFFIN_USER and TIFFIN_TOKEN are those of an admin. The tests run it while every connection is cut again
// and again, and look into the log for what was done twice or not at all.

import { Console, type documents, isRefusal, Money, Store } from "../src/index.js";

declare const process: { argv: string[]; env: Record<string, string | undefined> };

const [, , storeURL, consoleURL, outlet] = process.argv as [string, string, string, string, string];
const place = {
    name: "The Bakery", city: "Bath", area: "Walcot", currency: "GBP", timeZone: "Europe/London",
    cuisines: ["British"],
};
const store = new Store(storeURL);
const merchant = new Console(consoleURL, { user: process.env.TIFFIN_USER, token: process.env.TIFFIN_TOKEN });

function item(id: string, price: number): documents.ItemInput {
    return { id, kind: "menuItem", name: id[0]!.toUpperCase() + id.slice(1), price, maxQuantity: 20 };
}

async function openOutlet(): Promise<void> {
    await merchant.putOutlet(outlet, place);
    await merchant.putMenu(outlet, { sections: [
        { id: "baked", title: "Baked", kind: "menuItems", items: [item("pie", 1200), item("roll", 350)] },
        { id: "drinks", title: "Drinks", kind: "menuItems", items: [item("tea", 250), item("milk", 200)] },
    ] });
    await merchant.openOutlet(outlet);
    console.log(`${outlet} is open`);
}

/// Whoever follows the home sees what whoever reads it sees.
async function changeMenu(): Promise<void> {
    const homes = store.followHome(outlet);
    await homes.next();
    await merchant.setItemPrice(outlet, "pie", { price: 1250 });
    await merchant.putSection(outlet, "drinks", { title: "Hot drinks", kind: "menuItems" }, { before: "baked" });
    await merchant.putItem(outlet, "baked", "bun", item("bun", 300), { before: "roll" });
    await merchant.removeItem(outlet, "milk");
    const home = await store.getHome(outlet);
    for await (const update of homes) {
        if (update.state === "live" && isSame(update.document, home)) break;
    }
    const menu = await store.getMenu(outlet);
    console.log(`the home was followed: ${menu.sections.map(({ id }) => id).join(", ")}`);
}

/// Orders a pie and follows the order until it was handed over, while the merchant does what is next.
async function order(): Promise<string> {
    const { items: [pie] } = await store.searchItems({ outlet, text: "pie", limit: 1 });
    await store.addToCart({ outlet, item: pie!.item, quantity: 2, note: "no peas" });
    await store.addToCart({ outlet, item: "tea", quantity: 1 });
    const cart = await store.getCart();
    const { line: tea } = cart!.lines.find((line) => line.item === "tea")!;
    await store.setQuantity(tea, { quantity: 3 });
    await store.removeLine(tea);
    await store.setTip({ amount: 100 });
    try {
        await store.placeOrder({ total: 1 });
    } catch (error) {
        if (!isRefusal(error, "TOTALCHANGED")) throw error;
    }
    const quote = await store.getQuote();
    const placed = await store.placeOrder({ quote: quote!.quote! });
    const steps: Partial<Record<documents.OrderStatus, () => Promise<number>>> = {
        placed: () => merchant.acceptOrder(placed), accepted: () => merchant.prepareOrder(placed),
        preparing: () => merchant.readyOrder(placed), ready: () => merchant.completeOrder(placed),
    };
    const seen: documents.OrderStatus[] = [];
    for await (const update of store.followOrder(placed)) {
        if (update.state !== "live" || seen.includes(update.document.status)) continue;
        const { status, total, currency } = update.document;
        seen.push(status);
        if (status === "completed") {
            console.log(`${seen.join(" ")}: ${new Money(total, currency)}`);
            break;
        }
        await steps[status]?.();
    }
    return placed;
}

/// The same tap twice is one tap, and what is sold out cannot be had.
async function beRefused(): Promise<void> {
    const tap = (): Promise<number> => store.addToCart({ outlet, item: "roll", quantity: 1 }, { key: "tap-1" });
    await tap();
    console.log(`tapped twice: ${await tap()}`);
    await merchant.suspendItem(outlet, "roll");
    try {
        await store.addToCart({ outlet, item: "roll", quantity: 1 });
    } catch (error) {
        if (!isRefusal(error)) throw error;
        console.log(`refused: ${error.code}, ${error.status}`);
    }
    await store.clearCart();
}

/// Whether two documents are the same, in whatever order their members stand.
function isSame(one: unknown, other: unknown): boolean {
    const sorted = (_: string, value: unknown): unknown =>
        value !== null && typeof value === "object" && !Array.isArray(value)
            ? Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
            : value;
    return JSON.stringify(one, sorted) === JSON.stringify(other, sorted);
}

await openOutlet();
await changeMenu();
const orders = [await order(), await order(), await order()];
await beRefused();
const again = new Store(storeURL, { session: store.session });
console.log(`${(await again.listOrders()).orders.length} orders`);
console.log(orders.join(" "));
