// What was found, as rows of dishes or places: read page by page, and long lists in the page by windows.

import { clone, drawing, refs, setAttribute, setHidden, setText } from "../shared/dom.js";
import { clear, reconcile } from "../shared/reconcile.js";
import { delay } from "../shared/stream.js";
import { isOpen } from "../shared/hours.js";
import { awaitItems, fillItem, forgetGone, setPicture } from "./item.js";
import { LongList, isLong, keyOf, nearRows } from "./long-list.js";

export class Results {
    #rows;
    #next;
    #newer;
    #cart;
    #read;
    #end;
    #list = new LongList();
    #view = { isPlaces: false, isGrid: true, total: null };
    // The places of the rows that are in the page.
    #shown = [0, 0];
    #isReadingMore = false;
    #isRefilling = false;
    // An answer that is not shown as a whole, because somebody is reading.
    #held = null;

    /// `results`, `next` and `newer` are the list and the buttons around it. `read(cursor)` reads the page behind a
    /// cursor, and `changed()` is called when it becomes known what follows the first page, or unknown.
    constructor({ results, next, newer }, cart, { read, changed }) {
        this.#rows = results;
        this.#next = next;
        this.#newer = newer;
        this.#cart = cart;
        this.#read = read;
        next.onclick = () => this.#more();
        newer.onclick = () => {
            this.#showNewer();
            changed();
        };
        // Several changes may come at once, and the last one counts.
        this.#end = new IntersectionObserver((entries) => {
            if (entries.at(-1).isIntersecting) this.#more();
        }, { rootMargin: "100%" });
        this.#end.observe(next);
        const draw = drawing(() => this.#drawMoved());
        addEventListener("scroll", draw, { passive: true });
        addEventListener("resize", draw);
    }

    /// The row of that address, as `fillItem` and the sheet of an item take it; null where it is not known.
    find(address) {
        const row = this.#list.kept.find((row) => keyOf(row) === address);
        return row ? entryOf(row) : null;
    }

    /// Whether it is known what follows the first page.
    get isComplete() {
        return this.#list.next !== undefined;
    }

    /// Takes the first page of another answer; without one there are no rows.
    begin(answer) {
        this.#list = new LongList(answer);
        this.forgetNewer();
    }

    /// Takes what the first page has become. Rows that are there follow in their places. Others come at once only where
    /// nobody is reading below them.
    follow(answer) {
        const known = new Set(this.#list.kept.map(keyOf));
        const isSame = this.#list.update(answer);
        if (this.#isRead) {
            this.#held = answer;
            const count = answer.items.filter((row) => !known.has(keyOf(row))).length;
            setText(this.#newer, `${count} new`);
            setHidden(this.#newer, count === 0);
        } else if (isSame) this.forgetNewer();
        else this.begin(answer);
    }

    /// What was held back is not wanted any more.
    forgetNewer() {
        this.#held = null;
        setHidden(this.#newer, true);
    }

    #showNewer() {
        if (!this.#held) return;
        this.begin(this.#held);
        this.draw();
        scrollTo({ top: 0 });
        this.#rows.querySelector(".open")?.focus({ preventScroll: true });
    }

    /// Draws the rows, as `{isPlaces, isGrid, total}` says.
    draw(view = this.#view) {
        this.#view = view;
        const { isPlaces, isGrid, total } = view;
        const template = isPlaces ? (isGrid ? "place-card" : "place") : isGrid ? "card" : "item";
        if (this.#rows.dataset.template !== template) {
            clear(this.#rows);
            this.#rows.dataset.template = template;
        }
        this.#rows.className = `items results ${isGrid ? "grid" : "list"}`;
        setHidden(this.#next, !this.#list.next);
        const { places: [from, to], room } = this.#window();
        this.#shown = [from, to];
        this.#rows.style.paddingBlock = room.map((size) => `${size}px`).join(" ");
        reconcile(this.#rows, this.#list.rows(from, to), {
            id: (row) => (row.missing === undefined ? keyOf(row) : `missing ${row.missing}`),
            make: (row) => clone(row.missing === undefined ? template : "missing-row"),
            fill: (node, row, place) => {
                setAttribute(node, "aria-posinset", from + place + 1);
                setAttribute(node, "aria-setsize", total);
                if (row.missing !== undefined) return;
                if (isPlaces) fillPlace(node, row, from + place);
                else fillItem(node, { ...entryOf(row), testID: `result_${from + place}` }, this.#cart);
            },
        });
        forgetGone();
        awaitItems(isPlaces ? [] : this.#list.kept, this.#cart);
        this.#list.keep(from, to);
        if (this.#list.missing(from, to)) this.#refill();
        this.#watchEnd();
    }

    // Draws the rows again if others are near, or if nobody is reading any more below those that have only gone.
    #drawMoved() {
        if (this.#held && this.#newer.hidden && !this.#isRead) {
            this.begin(this.#held);
            this.draw();
        } else if (this.#window().places.join() !== this.#shown.join()) this.draw();
    }

    get #isRead() {
        return this.#rows.getBoundingClientRect().top < 0;
    }

    #window() {
        const { length } = this.#list;
        if (!isLong(length)) return { places: [0, length], room: [0, 0] };
        const { gridTemplateColumns, gridAutoRows, rowGap } = getComputedStyle(this.#rows);
        return nearRows({
            length, columns: gridTemplateColumns.split(" ").length,
            line: parseFloat(gridAutoRows) + (parseFloat(rowGap) || 0),
            top: this.#rows.getBoundingClientRect().top, screen: innerHeight,
        });
    }

    async #more() {
        const list = this.#list;
        if (!list.next || this.#isReadingMore) return;
        this.#isReadingMore = true;
        try {
            list.append(await this.#read(list.next));
        } catch {
            await rest();
        }
        this.#isReadingMore = false;
        if (list === this.#list) this.draw();
        else this.#watchEnd();
    }

    // Reads again what somebody has come back to.
    async #refill() {
        if (this.#isRefilling) return;
        this.#isRefilling = true;
        const list = this.#list;
        try {
            for (let page; list === this.#list && (page = list.missing(...this.#shown));) {
                const { items } = await this.#read(page.after);
                list.refill(page, items);
                if (list === this.#list) this.draw();
            }
        } catch {
            await rest();
        }
        this.#isRefilling = false;
        if (this.#list.missing(...this.#shown)) this.#refill();
    }

    // An end that stays near is not told of again, so it is looked at anew.
    #watchEnd() {
        this.#end.unobserve(this.#next);
        this.#end.observe(this.#next);
    }
}

/// A row of dishes in the same way.
export function entryOf(row) {
    return {
        outlet: row.outlet, item: row.item, kind: row.kind, model: row, address: keyOf(row),
        takesOrders: () => isOpen(row),
    };
}

function fillPlace(node, outlet, place) {
    const { open, description, price, label, picture } = refs(node);
    setAttribute(node, "data-testid", `place_${place}`);
    setText(open, outlet.name);
    open.href = `/o/${encodeURIComponent(outlet.id)}`;
    const where = [outlet.area, outlet.city].filter(Boolean).join(", ");
    setText(description, [outlet.cuisines.join(", "), where].filter(Boolean).join(" · "));
    setText(price, [
        outlet.rating === null ? "" : `★ ${outlet.rating}`,
        outlet.deliveryMinutes === null ? "" : `${outlet.deliveryMinutes} min`,
    ].filter(Boolean).join(" · "));
    setText(label, isOpen(outlet) ? "" : outlet.status === "paused" ? "Paused" : "Closed");
    setAttribute(node, "data-away", isOpen(outlet) ? null : "");
    setPicture(picture, null, outlet.id);
}

function rest() {
    return new Promise((resolve) => setTimeout(resolve, delay(1)));
}
