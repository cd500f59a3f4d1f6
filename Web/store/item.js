// An item in a list, as a card, and in full.

import { Problem, request } from "../shared/api.js";
import { alarm, clockTime, isPast } from "../shared/clock.js";
import { clone, isUsable, refs, setAttribute, setHidden, setText, setUsable } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { money } from "../shared/money.js";
import { OptionGroups, isAvailable } from "./options.js";
import { sentence } from "./texts.js";

/// What distinguishes the kinds of items here. Unknown ones look like dishes.
const KINDS = {
    menuItem: { icon: "dish" },
    promo: { icon: "offer" },
    dessert: { icon: "sweet" },
    badge: { icon: "star", label: ({ label, points }) => `${label} · ${points}` },
};
const OTHER_KIND = { icon: "dish" };

const GONE = "This is no longer on the menu.";
// How often an open item is looked at again. An answer that says the same is empty.
const LOOK_AGAIN = 5000;
const HUES = 360;
const EAGER_PICTURES = 4;
let pictures = 0;

/// Shows a picture in its box: the kind's icon until it is there, and if it never comes.
export function setPicture(box, url, kind) {
    const shown = box.firstElementChild;
    if (box.dataset.url === (url ?? "") && shown) return;
    box.dataset.url = url ?? "";
    box.replaceChildren(icon((KINDS[kind] ?? OTHER_KIND).icon));
    box.style.setProperty("--hue", hueOf(url ?? kind));
    if (!url) return;
    const image = new Image();
    image.alt = "";
    image.decoding = "async";
    image.loading = pictures++ < EAGER_PICTURES ? "eager" : "lazy";
    image.onload = () => { image.dataset.shown = ""; };
    image.onerror = () => image.remove();
    image.src = url;
    box.append(image);
}

/// Shows another picture in the same box once it can be drawn.
async function replacePicture(box, url) {
    if (!url) return;
    const image = new Image();
    image.alt = "";
    image.src = url;
    try {
        await image.decode();
    } catch {
        return;
    }
    if (!box.isConnected) return;
    image.dataset.shown = "";
    box.querySelector("img")?.remove();
    box.append(image);
}

function hueOf(text) {
    let hash = 0;
    for (let place = 0; place < text.length; place++) hash = (hash * 31 + text.charCodeAt(place)) >>> 0;
    return hash % HUES;
}

// The nodes of an item, and what each of them shows.
const nodes = new Map();
const shown = new WeakMap();

function keyOf(outlet, item) {
    return `${outlet}/${item}`;
}

/// Fills a node with `{outlet, item, kind, model, testID, takesOrders(), address}`: `model` is that of the outlet's home
/// or a row of a search, and `address` names the item in the page's address.
export function fillItem(node, entry, cart) {
    const before = shown.get(node);
    const { outlet, item, kind, model } = entry;
    const { open, description, price, label, picture, add } = refs(node);
    shown.set(node, entry);
    setAttribute(node, "data-testid", entry.testID);
    if (before?.model === model && before.item === item) return;
    setAttribute(node, "data-item", item);
    setAttribute(node, "data-outlet", outlet);
    setText(open, model.name);
    setText(description, model.description ?? "");
    setText(price, priceText(model, model.currency));
    setText(label, labelOf(kind, model));
    setAttribute(add, "data-testid", model.addButtonAccessibilityId ?? null);
    setPicture(picture, model.imageSmall, kind);
    const key = keyOf(outlet, item);
    if (!nodes.has(key)) nodes.set(key, new Set());
    nodes.get(key).add(node);
    drawAdd(node, entry, cart);
}

function labelOf(kind, model) {
    if (!isAvailable(model)) {
        return model.availableFrom ? `Sold out until ${clockTime(model.availableFrom)}` : "Sold out";
    }
    return [KINDS[kind]?.label?.(model), model.outletName].filter(Boolean).join(" · ");
}

// What one costs; of an item with sizes, the least.
function priceText({ price, from }, currency) {
    return price === null ? "" : `${from ? "from " : ""}${money(price, currency)}`;
}

function drawAdd(node, { outlet, item, kind, model, takesOrders }, cart) {
    const { add, label } = refs(node);
    setHidden(add, model.price === null);
    setText(label, labelOf(kind, model));
    const isThere = isAvailable(model);
    setAttribute(node, "data-away", isThere ? null : "");
    setUsable(add, isThere && takesOrders());
    const count = cart.countOf(outlet, item);
    setAttribute(add, "data-count", count > 0 ? count : null);
    setAttribute(add, "aria-label", count > 0 ? `Add ${model.name}, ${count} in the cart` : `Add ${model.name}`);
}

let counted = new Map();

/// Draws again what the cart says of the items.
export function drawCounts(cart) {
    const now = new Map();
    if (cart.count > 0) {
        for (const { item } of cart.view.lines) {
            now.set(keyOf(cart.view.outlet, item), cart.countOf(cart.view.outlet, item));
        }
    }
    for (const key of new Set([...counted.keys(), ...now.keys()])) {
        if (counted.get(key) === now.get(key)) continue;
        for (const node of livingNodes(key)) drawAdd(node, shown.get(node), cart);
    }
    counted = now;
}

/// Draws again what the outlet and the time say of all items.
export function drawAdds(cart) {
    for (const key of nodes.keys()) {
        for (const node of livingNodes(key)) drawAdd(node, shown.get(node), cart);
    }
}

/// Lets go of items that are no longer in the page.
export function forgetGone() {
    for (const key of nodes.keys()) livingNodes(key);
}

function livingNodes(key) {
    const living = nodes.get(key) ?? new Set();
    for (const node of living) {
        const entry = shown.get(node);
        if (!node.isConnected || keyOf(entry.outlet, entry.item) !== key) living.delete(node);
    }
    if (living.size === 0) nodes.delete(key);
    return living;
}

/// Sets the alarm for the next of the items that comes back by itself.
export function awaitItems(models, cart) {
    const times = models.filter(({ available, availableFrom }) => !available && availableFrom && !isPast(availableFrom))
        .map(({ availableFrom }) => availableFrom);
    const next = times.length > 0 ? times.reduce((a, b) => (Date.parse(a) < Date.parse(b) ? a : b)) : null;
    alarm("items", next, () => {
        drawAdds(cart);
        awaitItems(models, cart);
    });
}

/// Taps on the items below `root`: opens the item, or adds one of it.
export function listen(root, cart, sheet) {
    root.addEventListener("click", (event) => {
        const button = event.target.closest("button");
        const node = button?.closest(".item");
        const entry = node && shown.get(node);
        if (!entry) return;
        if (button.dataset.focus === "open") sheet.open(entry);
        else if (!isUsable(button)) return;
        else if (entry.model.hasOptions) sheet.open(entry);
        else cart.add({ outlet: entry.outlet, item: entry.item, ...entry.model });
    });
}

/// The dialog of an item in full. It is in the address, so that Back closes it and the address can be passed on.
export class ItemSheet {
    #dialog = document.getElementById("item-sheet");
    #cart;
    #entry = null;
    #details = null;
    #groups = null;
    #quantity = 1;
    #isGone = false;
    // The line of the cart that is being changed; null where something is added.
    #line = null;
    // What had to be taken out of what was chosen, as a sentence.
    #lost = "";
    #abort = null;
    #etag = null;
    #isStale = false;
    #looking = null;
    #isInHistory = false;
    #opener = null;

    constructor(cart) {
        this.#cart = cart;
        this.#dialog.onclose = () => this.#closed();
        this.#dialog.onclick = (event) => {
            if (event.target === this.#dialog) this.#dialog.close();
        };
        addEventListener("popstate", () => {
            this.#isInHistory = false;
            if (this.#dialog.open && !this.#isNamed) this.#dialog.close();
            // Going back to an address with a fragment, the browser would leave the focus there.
            if (!this.#isNamed) setTimeout(() => this.#opener?.isConnected && this.#opener.focus({ preventScroll: true }));
        });
    }

    get #isNamed() {
        return new URLSearchParams(location.search).has("item");
    }

    /// The `address` of the item that is open, if one is to be added.
    get address() {
        return this.#dialog.open && !this.#line ? this.#entry.address : null;
    }

    /// Opens an item to be added.
    open(entry) {
        this.#show(entry, null);
        if (this.#isNamed) return;
        const address = new URL(location.href);
        address.searchParams.set("item", entry.address);
        history.pushState(null, "", address);
        this.#isInHistory = true;
    }

    /// Opens the item of a cart's line, so that its options and its note can be changed.
    edit(line, { outlet, currency }) {
        const model = {
            name: line.name, price: line.problem?.unitPrice ?? line.unitPrice, currency, available: true, tags: [],
            hasOptions: true,
        };
        // Whether the place takes orders now, the cart says.
        this.#show({ outlet, item: line.item, kind: "menuItem", model, takesOrders: () => true }, line);
    }

    #show(entry, line) {
        this.#abort?.abort();
        this.#isGone = false;
        this.#entry = entry;
        this.#line = line;
        this.#details = null;
        this.#etag = null;
        this.#lost = "";
        this.#quantity = line?.quantity ?? 1;
        const body = clone("item-details");
        this.#dialog.replaceChildren(body);
        const parts = refs(body);
        parts.close.onclick = () => this.#dialog.close();
        parts.less.onclick = () => this.#step(-1);
        parts.more.onclick = () => this.#step(1);
        parts.add.onclick = () => this.#add();
        this.#groups = new OptionGroups(parts.options, () => {
            this.#lost = "";
            this.#draw();
        }, line?.options);
        setHidden(parts.stepper, line !== null);
        parts.note.value = line?.note ?? "";
        setPicture(parts.picture, entry.model.imageSmall, entry.kind);
        this.#draw();
        if (!this.#dialog.open) {
            this.#opener = document.activeElement;
            this.#dialog.showModal();
        }
        this.#read();
    }

    /// What is shown of the item in the page.
    update(entry) {
        if (this.#entry.model === entry.model && this.#entry.takesOrders() === entry.takesOrders()) return;
        this.#entry = entry;
        this.#draw();
    }

    /// Something of an outlet has changed: what is shown of its item is read again.
    look(outlet) {
        if (this.#dialog.open && this.#entry.outlet === outlet) this.#read();
    }

    // The item that is shown is no longer on the menu.
    #lose() {
        const { trouble, add } = refs(this.#dialog.firstElementChild);
        this.#isGone = true;
        setText(trouble, GONE);
        setHidden(trouble, false);
        setUsable(add, false);
    }

    // What changes while it is being read is read afterwards. It is looked at now and then, too: not every page hears of
    // every change.
    async #read() {
        this.#isStale = true;
        if (this.#abort && !this.#abort.signal.aborted) return;
        const { signal } = (this.#abort = new AbortController());
        clearTimeout(this.#looking);
        while (this.#isStale && !signal.aborted) {
            this.#isStale = false;
            await this.#readOnce(signal);
        }
        if (signal.aborted) return;
        this.#abort = null;
        this.#looking = setTimeout(() => this.#read(), LOOK_AGAIN);
    }

    async #readOnce(signal) {
        const { outlet, item } = this.#entry;
        const { trouble, picture } = refs(this.#dialog.firstElementChild);
        try {
            const path = `/v1/outlets/${encodeURIComponent(outlet)}/items/${encodeURIComponent(item)}`;
            const { document: details, etag, unchanged } = await request("GET", path, { signal, etag: this.#etag });
            if (signal.aborted) return;
            setHidden(trouble, true);
            // Without a server, the same answer comes again.
            if (!this.#isGone && (unchanged || (etag !== null && etag === this.#etag))) return;
            this.#isGone = false;
            if (!unchanged) {
                this.#etag = etag;
                this.#details = details;
                const lost = this.#groups.take(details);
                if (lost.length > 0) this.#lost = `No longer there: ${lost.join(", ")}.`;
                replacePicture(picture, details.imageLarge);
            }
            this.#draw();
        } catch (error) {
            if (signal.aborted) return;
            if (error instanceof Problem && error.code === "NOTFOUND") return this.#lose();
            setText(trouble, sentence(error.message));
            setHidden(trouble, false);
        }
    }

    #draw() {
        const { model, takesOrders } = this.#entry;
        const details = this.#details;
        const body = this.#dialog.firstElementChild;
        const parts = refs(body);
        const price = details?.price ?? model.price;
        const choice = this.#groups.choice;
        setText(parts.name, details?.name ?? model.name);
        setText(parts.description, details?.description ?? model.description ?? "");
        setText(parts.price, priceText(details ?? model, model.currency));
        if (choice) this.#groups.draw(model.currency);
        const isThere = isAvailable(details ?? model);
        const state = !isThere ? labelOf(this.#entry.kind, { ...model, ...details })
            : takesOrders() ? "" : "The place takes no orders now";
        setText(parts.state, state);
        setHidden(parts.state, state === "");
        setHidden(parts.bottom, price === null);
        setHidden(parts.noteLabel, price === null);
        const missing = isThere ? [this.#lost, choice?.missing].filter(Boolean).join(" ") : "";
        setText(parts.missing, missing);
        setHidden(parts.missing, missing === "");
        // Nobody knows what there is to choose before it was read.
        const isKnown = choice !== null || !model.hasOptions;
        setUsable(parts.add, !this.#isGone && isThere && takesOrders() && isKnown && !choice?.missing);
        setText(parts.quantity, String(this.#quantity));
        setUsable(parts.less, this.#quantity > 1);
        setUsable(parts.more, this.#quantity < (details?.maxQuantity ?? 99));
        if (price !== null) {
            const one = choice?.priced ?? { price, isFrom: model.from === true };
            setText(parts.add, `${this.#line ? "Change, all" : "Add"} ${one.isFrom ? "from" : "for"} `
                + money(one.price * this.#quantity, model.currency));
        }
        this.#drawDetails(parts, details);
    }

    #drawDetails(parts, details) {
        const words = [details?.cuisine ?? this.#entry.model.cuisine, ...(details?.tags ?? this.#entry.model.tags)].filter(Boolean);
        parts.tags.replaceChildren(...words.map((word) => element("span", "tag", word)));
        if (!details) return;
        parts.gallery.replaceChildren(...(details.images ?? []).map(({ url, alt }) => {
            const figure = clone("gallery-picture");
            setPicture(figure, url, details.kind);
            const image = figure.querySelector("img");
            image.alt = alt ?? "";
            return figure;
        }));
        setHidden(parts.gallery, !details.images?.length);
        const links = (details.links ?? []).filter(({ url }) => isWebAddress(url));
        parts.links.replaceChildren(...links.map(({ url, rel, title }) => {
            const item = clone("link");
            refs(item).link.href = url;
            refs(item).text.textContent = title ?? rel;
            return item;
        }));
        setHidden(parts.links, links.length === 0);
        const attributes = Object.entries(details.attributes ?? {});
        parts.attributes.replaceChildren(...attributes.flatMap(([name, value]) => [
            element("dt", "", spaced(name)), element("dd", "", spoken(value)),
        ]));
        setHidden(parts.attributes, attributes.length === 0);
    }

    #step(by) {
        const quantity = this.#quantity + by;
        if (quantity < 1 || quantity > (this.#details?.maxQuantity ?? 99)) return;
        this.#quantity = quantity;
        this.#draw();
    }

    #add() {
        const { add, note } = refs(this.#dialog.firstElementChild);
        if (!isUsable(add)) return;
        const { outlet, item, model } = this.#entry;
        const { price, options } = this.#groups.choice?.priced ?? { price: model.price, options: [] };
        const wish = note.value.trim() || null;
        if (this.#line) this.#cart.edit(this.#line.line, { price, options, note: wish });
        else this.#cart.add({ ...model, outlet, item, price, options }, { quantity: this.#quantity, note: wish });
        this.#dialog.close();
    }

    #closed() {
        this.#abort?.abort();
        clearTimeout(this.#looking);
        this.#groups.close();
        if (this.#isInHistory) {
            this.#isInHistory = false;
            history.back();
        } else if (this.#isNamed) {
            const address = new URL(location.href);
            address.searchParams.delete("item");
            history.replaceState(null, "", address);
        }
    }
}

function element(tag, className, text) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    node.dir = "auto";
    node.textContent = text;
    return node;
}

// An old log may hold any text.
function isWebAddress(url) {
    return URL.canParse(url, location.href) && /^https?:$/.test(new URL(url, location.href).protocol);
}

// `shoeSize` for people.
function spaced(name) {
    const words = name.replace(/[._:-]+/g, " ").replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
    return words[0]?.toUpperCase() + words.slice(1);
}

function spoken(value) {
    if (Array.isArray(value)) return value.join(", ");
    if (typeof value === "boolean") return value ? "yes" : "no";
    return typeof value === "number" ? new Intl.NumberFormat(undefined, { maximumFractionDigits: 6 }).format(value) : value;
}
