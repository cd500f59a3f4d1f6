// What is shown of an item: in a list, as a card, and in full.

import { alarm, clockTime, isPast } from "../shared/clock.js";
import { clone, isUsable, refs, say, setAttribute, setHidden, setText, setUsable, textElement } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { money } from "../shared/money.js";
import { isAvailable } from "./options.js";
import { spaced, spoken } from "./texts.js";

/// What distinguishes the kinds of items here. Unknown ones look like dishes.
const KINDS = {
    menuItem: { icon: "dish" },
    promo: { icon: "offer" },
    dessert: { icon: "sweet" },
    badge: { icon: "star", label: ({ label, points }) => `${label} · ${points}` },
};
const OTHER_KIND = { icon: "dish" };

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
export async function replacePicture(box, url) {
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

/// Fills a node with `{outlet, item, kind, model, zone, testID, takesOrders(), isOff(), wanted(), address}`: `model` is that
/// of the outlet's home or a row of a search, `zone` that of the outlet, if it is known, and `address` names the item in the
/// page's address. `isOff()` says whether it is not its part of the day, and `wanted()` for when it is added to a cart
/// without a time; both can be left out.
export function fillItem(node, entry, cart) {
    const before = shown.get(node);
    const { outlet, item, kind, model } = entry;
    const { open, description, at, price, label, picture, add } = refs(node);
    shown.set(node, entry);
    setAttribute(node, "data-testid", entry.testID);
    if (before?.model === model && before.item === item) return;
    setAttribute(node, "data-item", item);
    setAttribute(node, "data-outlet", outlet);
    setText(open, model.name);
    setText(description, model.description ?? "");
    setText(at, model.outletName ?? "");
    setAttribute(at, "href", `/o/${encodeURIComponent(outlet)}`);
    setHidden(at, !model.outletName);
    setText(price, priceText(model, model.currency));
    setText(label, labelOf(entry, model));
    setAttribute(add, "data-testid", model.addButtonAccessibilityId ?? null);
    setPicture(picture, model.imageSmall, kind);
    const key = keyOf(outlet, item);
    if (!nodes.has(key)) nodes.set(key, new Set());
    nodes.get(key).add(node);
    drawAdd(node, entry, cart);
}

/// What is said of an item beside its price.
export function labelOf({ kind, zone, isOff }, model) {
    if (!isAvailable(model)) {
        if (isOff?.()) return model.availableFrom ? `From ${clockTime(model.availableFrom, zone)}` : "Not at this time";
        return model.availableFrom ? `Sold out until ${clockTime(model.availableFrom, zone)}` : "Sold out";
    }
    return KINDS[kind]?.label?.(model) ?? "";
}

/// Whether an item can be added. What is not had now may be had at the time that is wanted; the server knows.
export function canBeAdded({ outlet, isOff, wanted }, model, cart) {
    return isAvailable(model) || (isOff?.() === true && (cart.timeOf(outlet) ?? wanted?.() ?? null) !== null);
}

/// What one costs; of an item with sizes, the least.
export function priceText({ price, from }, currency) {
    return price === null ? "" : `${from ? "from " : ""}${money(price, currency)}`;
}

function drawAdd(node, entry, cart) {
    const { outlet, item, model, takesOrders } = entry;
    const { add, label } = refs(node);
    setHidden(add, model.price === null);
    setText(label, labelOf(entry, model));
    const isThere = canBeAdded(entry, model, cart);
    setAttribute(node, "data-away", isThere ? null : "");
    setUsable(add, isThere && takesOrders());
    const count = cart.countOf(outlet, item);
    setAttribute(add, "data-count", count > 0 ? count : null);
    setAttribute(add, "aria-label", count > 0 ? `Add ${model.name}, ${count} in the cart` : `Add ${model.name}`);
}

let counted = new Map();
let timed = null;

/// Draws again what the cart says of the items.
export function drawCounts(cart) {
    const time = cart.timeOf(cart.view.outlet);
    if (time !== timed) drawAdds(cart);
    timed = time;
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

/// Sets the alarm for the next of the items that comes back by itself, or whose place does.
export function awaitItems(models, cart) {
    const times = models.flatMap(({ available, availableFrom, pausedUntil }) => [available ? null : availableFrom, pausedUntil])
        .filter((time) => time && !isPast(time));
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
        else addTo(cart, entry, entry.model);
    });
}

/// Adds an item to the cart, as `{name, price, currency, options}`, for later where its place is closed now.
export function addTo(cart, entry, item, options = {}) {
    const time = entry.wanted?.() ?? null;
    if (time !== null && cart.timeOf(entry.outlet) === null) {
        say(`It is for ${clockTime(time, entry.zone)}. Another time can be chosen in the cart.`);
    }
    cart.add({ ...item, outlet: entry.outlet, item: entry.item }, { ...options, for: time });
}

/// Draws what only an item in full says: `details` are what the server answers of it, null before it has.
export function drawDetails(parts, details, model) {
    const words = [details?.cuisine ?? model.cuisine, ...(details?.tags ?? model.tags)].filter(Boolean);
    parts.tags.replaceChildren(...words.map((word) => textElement("span", word, "tag")));
    if (!details) return;
    const { images, links, kind } = details;
    const { allergens, ...attributes } = details.attributes ?? {};
    setText(parts.allergenNames, allergens === undefined ? "" : spoken(allergens));
    setHidden(parts.allergens, parts.allergenNames.textContent === "");
    fill(parts.gallery, (images ?? []).map(({ url, alt }) => {
        const figure = clone("gallery-picture");
        setPicture(figure, url, kind);
        figure.querySelector("img").alt = alt ?? "";
        return figure;
    }));
    fill(parts.links, (links ?? []).filter(({ url }) => isWebAddress(url)).map(({ url, rel, title }) => {
        const item = clone("link");
        refs(item).link.href = url;
        refs(item).text.textContent = title ?? rel;
        return item;
    }));
    fill(parts.attributes, Object.entries(attributes).flatMap(([name, value]) => [
        textElement("dt", spaced(name)), textElement("dd", spoken(value)),
    ]));
}

function fill(place, nodes) {
    place.replaceChildren(...nodes);
    setHidden(place, nodes.length === 0);
}

// An old log may hold any text.
function isWebAddress(url) {
    try {
        return /^https?:$/.test(new URL(url, location.href).protocol);
    } catch {
        return false;
    }
}
