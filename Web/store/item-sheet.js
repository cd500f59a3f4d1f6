// An item in full, to be added or changed.

import { Problem, request } from "../shared/api.js";
import { clone, isUsable, refs, setHidden, setText, setUsable } from "../shared/dom.js";
import { isAhead, raise } from "../shared/layers.js";
import { clockTime, isPast } from "../shared/clock.js";
import { money } from "../shared/money.js";
import { addTo, canBeAdded, drawDetails, labelOf, priceText, replacePicture, setPicture } from "./item.js";
import { OptionGroups } from "./options.js";
import { sentence } from "./texts.js";

const GONE = "This is no longer on the menu.";
// How often an open item is looked at again. An answer that says the same is empty.
const LOOK_AGAIN = 5000;

/// The dialog of an item in full. It is in the address, so that Back closes it and the address can be passed on.
export class ItemSheet {
    #dialog = document.getElementById("item-sheet");
    #cart;
    #entry = null;
    #details = null;
    // What was drawn of tags, pictures and links.
    #said = null;
    // Whether the place took orders when that was drawn.
    #tookOrders = false;
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
    // Whether the page was opened with the item in its address.
    #isFirst = false;

    constructor(cart) {
        this.#cart = cart;
        this.#dialog.onclose = () => this.#closed();
        this.#dialog.onclick = (event) => {
            if (event.target === this.#dialog) this.#dialog.close();
        };
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
        if (this.#dialog.open) return;
        this.#isFirst = this.#isNamed && !isAhead();
        const address = new URL(location.href);
        address.searchParams.set("item", entry.address);
        if (this.#isFirst) this.#dialog.showModal();
        else raise(this.#dialog, address);
    }

    /// Opens the item of a cart's line, so that its options and its note can be changed.
    edit(line, { outlet, currency }) {
        const model = {
            name: line.name, price: line.problem?.unitPrice ?? line.unitPrice, currency, available: true, tags: [],
            hasOptions: true,
        };
        // Whether the place takes orders now, the cart says, and with a time whether the item can be had then.
        this.#show({
            outlet, item: line.item, kind: "menuItem", model, takesOrders: () => true,
            isOff: () => this.#cart.timeOf(outlet) !== null,
        }, line);
        raise(this.#dialog);
    }

    #show(entry, line) {
        this.#abort?.abort();
        this.#isGone = false;
        this.#entry = entry;
        this.#line = line;
        this.#details = this.#said = null;
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
        parts.code.onclick = () => {
            this.#cart.codeOf(entry.outlet, this.#entry.model.promotion.code);
            this.#draw();
        };
        this.#groups = new OptionGroups(parts.options, () => {
            this.#lost = "";
            this.#draw();
        }, line?.options);
        setHidden(parts.stepper, line !== null);
        parts.note.value = line?.note ?? "";
        setPicture(parts.picture, entry.model.imageSmall, entry.kind);
        this.#draw();
        this.#read();
    }

    /// What is shown of the item in the page.
    update(entry) {
        if (this.#entry.model === entry.model && this.#tookOrders === entry.takesOrders()) return;
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
        const isThere = canBeAdded(this.#entry, details ?? model, this.#cart);
        this.#tookOrders = takesOrders();
        const state = !isThere ? labelOf(this.#entry, { ...model, ...details })
            : this.#tookOrders ? "" : "The place takes no orders now";
        setText(parts.state, state);
        setHidden(parts.state, state === "");
        this.#drawPromotion(parts, model.promotion);
        setHidden(parts.bottom, price === null);
        setHidden(parts.noteLabel, price === null);
        const missing = isThere ? [this.#lost, choice?.missing].filter(Boolean).join(" ") : "";
        setText(parts.missing, missing);
        setHidden(parts.missing, missing === "");
        // Nobody knows what there is to choose before it was read.
        const isKnown = choice !== null || !model.hasOptions;
        setUsable(parts.add, !this.#isGone && isThere && this.#tookOrders && isKnown && !choice?.missing);
        setText(parts.quantity, String(this.#quantity));
        setUsable(parts.less, this.#quantity > 1);
        setUsable(parts.more, this.#quantity < (details?.maxQuantity ?? 99));
        if (price !== null) {
            const one = choice?.priced ?? { price, isFrom: model.from === true };
            setText(parts.add, `${this.#line ? "Change, all" : "Add"} ${one.isFrom ? "from" : "for"} `
                + money(one.price * this.#quantity, model.currency));
        }
        // Pictures and links are made once, so that they keep still.
        const said = details ?? model;
        if (said !== this.#said) drawDetails(parts, details, model);
        this.#said = said;
    }

    // What the card's promotion is worth now, and its code, where that can be said.
    #drawPromotion(parts, promotion) {
        const { outlet, zone } = this.#entry;
        const text = promotion ? promotionText(promotion, zone) : "";
        const code = text === "" || promotion.state !== "open" || isPast(promotion.until) ? null : promotion.code ?? null;
        const isSaid = code !== null && this.#cart.hasCode(outlet, code);
        setText(parts.promotion, isSaid && this.#cart.view.outlet !== outlet ? "It counts from your first item here." : text);
        setHidden(parts.promotion, text === "");
        setHidden(parts.sayCode, code === null);
        setText(parts.code, isSaid ? `${code} is said` : `Use code ${code}`);
        setUsable(parts.code, !isSaid);
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
        const { model } = this.#entry;
        const { price, options } = this.#groups.choice?.priced ?? { price: model.price, options: [] };
        const wish = note.value.trim() || null;
        if (this.#line) this.#cart.edit(this.#line.line, { price, options, note: wish });
        else addTo(this.#cart, this.#entry, { ...model, price, options }, { quantity: this.#quantity, note: wish });
        this.#dialog.close();
    }

    #closed() {
        this.#abort?.abort();
        clearTimeout(this.#looking);
        this.#groups.close();
        if (!this.#isFirst || !this.#isNamed) return;
        const address = new URL(location.href);
        address.searchParams.delete("item");
        history.replaceState(history.state, "", address);
    }
}

// What a card's promotion is worth now.
function promotionText({ code, from, until, state }, zone) {
    if (state === "ended" || isPast(until)) return "This offer is over.";
    if (state === "spent") return "This offer is used up.";
    if (from && !isPast(from)) return `This offer begins ${clockTime(from, zone)}.`;
    const end = until ? ` It ends ${clockTime(until, zone)}.` : "";
    return `${code ? `It needs the code ${code}.` : "It is taken off by itself."}${end}`;
}
