// The sections of an outlet's home. Each has its size before it has its items.

import { clone, refs, setAttribute, setText } from "../shared/dom.js";
import { clear, reconcile } from "../shared/reconcile.js";
import { fillItem } from "./item.js";

// Sizes in rem. Those in store.css are the same.
const HEADER = 3;
const ROW = 7;
const GAP = 0.75;
const EDGE = 1;
const POINT = 1 / 16;
// From here on lists have two columns.
const WIDE = 48;
// Cards of a grid are this much higher than their least width.
const GRID_TEXTS = 6.5;
// A card that is lower has no room for a description.
const SHORT = 15;
// Screens that are filled with the first draw, and those that are filled before somebody comes near.
const FIRST_SCREENS = 1;
const NEAR_SCREENS = 2;
const MOST_ANIMATED = 20;

/// How the items of a section are laid out: `{className, template, size(count, width), style(width)}`, in rem. Unknown
/// styles are lists.
const LAYOUTS = {
    list: () => {
        const columns = (width) => (width < WIDE ? 1 : 2);
        return {
            className: "list", template: "item",
            size: (count, width) => Math.ceil(count / columns(width)) * ROW,
            style: (width) => ({ "--columns": String(columns(width)) }),
        };
    },
    horizontalCard: ({ width, height }) => ({
        className: "cards", template: "card",
        size: () => height * POINT + 1,
        style: () => ({ "--width": `${width * POINT}rem`, "--height": `${height * POINT}rem` }),
        isShort: height * POINT < SHORT,
    }),
    grid: ({ minimumWidth }) => {
        const least = minimumWidth * POINT;
        const height = least + GRID_TEXTS;
        const columns = (width) => Math.max(1, Math.floor((width - 2 * EDGE + GAP) / (least + GAP)));
        return {
            className: "grid", template: "card",
            size: (count, width) => {
                const rows = Math.ceil(count / columns(width));
                return rows * height + (rows - 1) * GAP;
            },
            style: (width) => ({ "--columns": String(columns(width)), "--height": `${height}rem` }),
        };
    },
};

export class Sections {
    #place;
    #entryOf;
    #cart;
    #width = 0;
    #unfilled = new Set();
    // What each node was filled with, and how it is laid out.
    #drawn = new WeakMap();
    #nearObserver;
    #ids = "";
    #isIdle = false;
    #isFirst = true;
    #animated = MOST_ANIMATED;

    /// `place` gets the sections, and `entryOf(section, entry, place)` is what `fillItem` takes.
    constructor(place, entryOf, cart) {
        this.#place = place;
        this.#entryOf = entryOf;
        this.#cart = cart;
        this.#nearObserver = new IntersectionObserver((entries) => {
            for (const { target, isIntersecting } of entries) {
                if (isIntersecting && this.#unfilled.has(target)) this.#fillItems(target);
            }
        }, { rootMargin: `${NEAR_SCREENS * 100}% 0px` });
        new ResizeObserver(() => this.#measure()).observe(place);
    }

    /// Draws the `sections` of a home.
    draw(sections) {
        if (this.#isFirst) this.#measure();
        else this.#animated = 0;
        reconcile(this.#place, sections, {
            id: ({ id }) => id,
            make: () => {
                const node = clone("section");
                this.#nearObserver.observe(node);
                return node;
            },
            fill: (node, section) => this.#fill(node, section),
        });
        const ids = sections.map(({ id }) => id).join(" ");
        if (ids !== this.#ids) {
            this.#ids = ids;
            this.#place.dispatchEvent(new Event("sections-changed"));
        }
        if (this.#isFirst) this.#fillFirst();
        this.#isFirst = false;
        this.#fillWhenIdle();
    }

    #fill(node, section) {
        const { header, title, items } = refs(node);
        node.id = `s-${section.id}`;
        setAttribute(node, "data-section", section.id);
        setAttribute(node, "data-testid", section.accessibilityId);
        title.id = `h-${section.id}`;
        setAttribute(node, "aria-labelledby", title.id);
        header.classList.toggle("sticky", section.sticky);
        setText(title, section.headerTitle);
        const before = this.#drawn.get(node);
        const layout = (LAYOUTS[section.layout.style] ?? LAYOUTS.list)(section.layout);
        if (before && before.layout.template !== layout.template) {
            clear(items);
            this.#unfilled.add(node);
        }
        this.#drawn.set(node, { section, layout });
        items.className = `items ${layout.className}`;
        setAttribute(items, "data-short", layout.isShort ? "" : null);
        this.#size(node);
        if (!before) this.#unfilled.add(node);
        else if (before.section.items !== section.items && !this.#unfilled.has(node)) this.#fillItems(node);
    }

    #size(node) {
        const { section, layout } = this.#drawn.get(node);
        const { items } = refs(node);
        const size = HEADER + layout.size(section.items.length, this.#width) + EDGE;
        node.style.setProperty("--size", `${size}rem`);
        for (const [name, value] of Object.entries(layout.style(this.#width))) items.style.setProperty(name, value);
    }

    #fillItems(node) {
        const isFirst = this.#unfilled.delete(node);
        const { section, layout } = this.#drawn.get(node);
        reconcile(refs(node).items, section.items, {
            id: ({ id }) => id,
            make: () => {
                const item = clone(layout.template);
                if (!isFirst && this.#animated++ < MOST_ANIMATED) item.classList.add("came");
                return item;
            },
            fill: (item, entry, place) => fillItem(item, this.#entryOf(section, entry, place), this.#cart),
        });
        node.classList.toggle("came", !isFirst);
    }

    #fillFirst() {
        let room = (innerHeight / rem()) * FIRST_SCREENS;
        for (const node of this.#place.children) {
            if (room < 0) break;
            room -= parseFloat(node.style.getPropertyValue("--size"));
            this.#fillItems(node);
        }
    }

    // Sections near the window are filled as they come near; the others when nothing else is to be done, so that
    // find-in-page finds everything.
    #fillWhenIdle() {
        if (this.#isIdle || this.#unfilled.size === 0) return;
        this.#isIdle = true;
        const idle = globalThis.requestIdleCallback ?? ((call) => setTimeout(() => call({ didTimeout: false, timeRemaining: () => 5 }), 50));
        idle((deadline) => {
            this.#isIdle = false;
            for (const node of this.#unfilled) {
                if (deadline.timeRemaining() < 3) break;
                if (node.isConnected) this.#fillItems(node);
                else this.#unfilled.delete(node);
            }
            this.#fillWhenIdle();
        }, { timeout: 1000 });
    }

    #measure() {
        const width = this.#place.clientWidth / rem();
        if (width === this.#width) return;
        this.#width = width;
        for (const node of this.#place.children) this.#size(node);
    }
}

function rem() {
    return parseFloat(getComputedStyle(document.documentElement).fontSize);
}
