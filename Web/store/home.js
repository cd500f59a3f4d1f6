// The home of an outlet.

import { Problem, get, inlineDocument } from "../shared/api.js";
import { alarm, clockTime, isPast } from "../shared/clock.js";
import { clone, drawing, refs, setAttribute, setHidden, setText } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { money } from "../shared/money.js";
import { clear, reconcile } from "../shared/reconcile.js";
import { Topic } from "../shared/topic.js";
import { awaitItems, drawAdds, fillItem, listen } from "./item.js";
import { TagBar } from "./tag-bar.js";
import { sentence } from "./texts.js";

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

export class OutletPage {
    #outlet;
    #path;
    #main;
    #cart;
    #topic;
    #refs;
    #bar;
    #sheet;
    #width = 0;
    #unfilled = new Set();
    #sections = new WeakMap();
    #nearObserver;
    #isIdle = false;
    #animated = 0;
    #hasDrawn = false;
    #ask = drawing(() => this.#draw());

    constructor(outlet, { main, cart, sheet }) {
        this.#outlet = outlet;
        this.#sheet = sheet;
        this.#path = `/v1/outlets/${encodeURIComponent(outlet)}/home`;
        this.#main = main;
        this.#cart = cart;
    }

    async open() {
        const page = clone("outlet-page");
        this.#refs = refs(page);
        this.#bar = new TagBar(this.#refs);
        this.#nearObserver = new IntersectionObserver((entries) => {
            for (const { target, isIntersecting } of entries) {
                if (isIntersecting && this.#unfilled.has(target)) this.#fillItems(target);
            }
        }, { rootMargin: `${NEAR_SCREENS * 100}% 0px` });
        listen(this.#refs.sections, this.#cart, this.#sheet);

        let home = inlineDocument(this.#path);
        if (home === undefined) home = await this.#read();
        this.#topic = new Topic(home, home?.revision);
        this.#main.replaceChildren(page);
        this.#measure();
        new ResizeObserver(() => this.#measure()).observe(this.#main);
        this.#draw();
        this.#openNamed();
        addEventListener("popstate", () => this.#openNamed());
    }

    /// The topics of the stream, from the revision that is there.
    topics() {
        const { revision } = this.#topic;
        return [revision === undefined ? `home:${this.#outlet}` : `home:${this.#outlet}@${revision}`];
    }

    hear(message) {
        if (message.error) {
            this.#problem = sentence(message.error.message);
            this.#ask();
            return;
        }
        this.#problem = null;
        const outcome = this.#topic.take(message);
        if (outcome === "changed") this.#ask();
        if (outcome === "again") this.#readAgain();
    }

    #problem = null;

    async #read() {
        try {
            return await get(this.#path);
        } catch (error) {
            if (!(error instanceof Problem && error.code === "NOTFOUND")) this.#problem = sentence(error.message);
            return null;
        }
    }

    async #readAgain() {
        try {
            const home = await get(this.#path);
            this.#topic = new Topic(home, home?.revision);
            this.#ask();
        } catch (error) {
            if (!(error instanceof Problem && error.code === "NOTFOUND")) return;
            this.#topic = new Topic(null, undefined);
            this.#ask();
        }
    }

    /// Whether the outlet takes orders now.
    #takesOrders = () => {
        const outlet = this.#topic.document?.outlet;
        return outlet?.status === "open" || (outlet?.status === "paused" && isPast(outlet.pausedUntil));
    };

    #draw() {
        const home = this.#topic.document;
        this.#animated = this.#hasDrawn ? 0 : MOST_ANIMATED;
        this.#drawBlank(home);
        setHidden(this.#refs.hero, home === null);
        setHidden(this.#refs.bar, !home?.sections.length);
        if (home) {
            this.#drawHeader(home);
            this.#bar.draw(home.tagBar);
        }
        const names = home?.sections.map(({ id }) => id).join(" ") ?? "";
        reconcile(this.#refs.sections, home?.sections ?? [], {
            id: ({ id }) => id,
            make: () => {
                const node = clone("section");
                this.#nearObserver.observe(node);
                return node;
            },
            fill: (node, section) => this.#fillSection(node, section),
        });
        if (names !== this.#names) {
            this.#names = names;
            this.#refs.sections.dispatchEvent(new Event("sections-changed"));
        }
        if (home) {
            const models = home.sections.flatMap(({ items }) => items.map(({ model }) => model));
            awaitItems(models, this.#cart);
            alarm("pause", home.outlet.pausedUntil ?? null, () => {
                this.#drawHeader(home);
                drawAdds(this.#cart);
            });
        }
        const takesOrders = this.#takesOrders();
        if (takesOrders !== this.#tookOrders) {
            this.#tookOrders = takesOrders;
            drawAdds(this.#cart);
        }
        this.#drawSheet();
        this.#hasDrawn = true;
        this.#fillWhenIdle();
    }

    #names = "";
    #tookOrders = false;

    #drawHeader({ outlet }) {
        const parts = this.#refs;
        document.title = `${outlet.name} · Tiffin`;
        setText(document.getElementById("title"), outlet.name);
        setText(parts.name, outlet.name);
        setAttribute(parts.hero, "data-testid", null);
        setAttribute(this.#main, "data-testid", outlet.accessibilityId);
        setText(parts.cuisines, outlet.cuisines.join(", "));
        setHidden(parts.rating, outlet.rating === null);
        if (outlet.rating !== null) {
            const count = outlet.ratingCount === null ? "" : ` (${new Intl.NumberFormat().format(outlet.ratingCount)})`;
            setText(parts.ratingText, `${outlet.rating}${count}`);
        }
        setHidden(parts.delivery, outlet.deliveryMinutes === null);
        setText(parts.deliveryText, `${outlet.deliveryMinutes} min`);
        setHidden(parts.minimum, !outlet.minimumOrder);
        if (outlet.minimumOrder) setText(parts.minimum, `Minimum ${money(outlet.minimumOrder, outlet.currency)}`);
        setText(parts.place, [outlet.area, outlet.city].filter(Boolean).join(", "));
        const takesOrders = this.#takesOrders();
        setAttribute(parts.status, "data-status", takesOrders ? "open" : outlet.status);
        setText(parts.status, takesOrders ? "Open" : outlet.status === "paused"
            ? `Paused until ${clockTime(outlet.pausedUntil)}${outlet.pauseReason ? `: ${outlet.pauseReason}` : ""}`
            : "Closed: it takes no orders now");
    }

    #drawBlank(home) {
        const text = home === null
            ? this.#problem
                ? ["This page cannot be shown now", this.#problem]
                : ["There is nothing here", "There is no such place, or it is gone for good."]
            : this.#problem
                ? ["The menu cannot be shown now", this.#problem]
                : BLANKS[home.state];
        setHidden(this.#refs.blank, !text);
        const key = text?.join("\n") ?? "";
        if (this.#refs.blank.dataset.key === key) return;
        this.#refs.blank.dataset.key = key;
        clear(this.#refs.blank);
        if (!text) return;
        const node = clone("blank");
        node.prepend(icon("dish"));
        setText(refs(node).title, text[0]);
        setText(refs(node).text, text[1]);
        this.#refs.blank.append(node);
    }

    #fillSection(node, section) {
        const { header, title, items } = refs(node);
        node.id = `s-${section.id}`;
        setAttribute(node, "data-section", section.id);
        setAttribute(node, "data-testid", section.accessibilityId);
        title.id = `h-${section.id}`;
        setAttribute(node, "aria-labelledby", title.id);
        header.classList.toggle("sticky", section.sticky);
        setText(title, section.headerTitle);
        const before = this.#sections.get(node);
        const layout = (LAYOUTS[section.layout.style] ?? LAYOUTS.list)(section.layout);
        if (before && before.layout.template !== layout.template) {
            clear(items);
            this.#unfilled.add(node);
        }
        this.#sections.set(node, { section, layout });
        items.className = `items ${layout.className}`;
        setAttribute(items, "data-short", layout.isShort ? "" : null);
        this.#size(node);
        if (!before) this.#unfilled.add(node);
        else if (before.section.items !== section.items && !this.#unfilled.has(node)) this.#fillItems(node);
    }

    #size(node) {
        const { section, layout } = this.#sections.get(node);
        const { items } = refs(node);
        const size = HEADER + layout.size(section.items.length, this.#width) + EDGE;
        node.style.setProperty("--size", `${size}rem`);
        for (const [name, value] of Object.entries(layout.style(this.#width))) items.style.setProperty(name, value);
    }

    #fillItems(node) {
        const isFirst = this.#unfilled.delete(node);
        const { section, layout } = this.#sections.get(node);
        reconcile(refs(node).items, section.items, {
            id: ({ id }) => id,
            make: () => {
                const item = clone(layout.template);
                if (!isFirst && this.#animated++ < MOST_ANIMATED) item.classList.add("came");
                return item;
            },
            fill: (item, entry, place) => fillItem(item, {
                outlet: this.#outlet, item: entry.id, kind: entry.kind, model: entry.model,
                testID: `${section.itemAccessibilityPrefix}${place}`, takesOrders: this.#takesOrders,
                address: entry.id,
            }, this.#cart),
        });
        node.classList.toggle("came", !isFirst);
    }

    // Sections near the window are filled as they come near; the others when nothing else is to be done, so that
    // find-in-page finds everything.
    #fillWhenIdle() {
        if (!this.#hasFilledFirst) {
            this.#hasFilledFirst = true;
            let room = (innerHeight / this.#rem) * FIRST_SCREENS;
            for (const node of this.#refs.sections.children) {
                if (room < 0) break;
                room -= parseFloat(node.style.getPropertyValue("--size"));
                if (this.#unfilled.has(node)) this.#fillItems(node);
            }
        }
        if (this.#isIdle || this.#unfilled.size === 0) return;
        this.#isIdle = true;
        const idle = globalThis.requestIdleCallback ?? ((call) => setTimeout(() => call({ timeRemaining: () => 5 }), 50));
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

    #hasFilledFirst = false;

    get #rem() {
        return parseFloat(getComputedStyle(document.documentElement).fontSize);
    }

    #measure() {
        const width = this.#main.clientWidth / this.#rem;
        if (width === this.#width) return;
        this.#width = width;
        for (const node of this.#refs.sections.children) this.#size(node);
    }

    // The item in the address is opened, and an open one follows its changes.
    #openNamed() {
        const id = new URLSearchParams(location.search).get("item");
        const entry = id && this.#entryOf(id);
        if (entry && this.#sheet.address !== id) this.#sheet.open(entry);
    }

    #drawSheet() {
        const entry = this.#sheet.address && this.#entryOf(this.#sheet.address);
        if (entry) this.#sheet.update(entry);
        // The home says nothing of its options.
        this.#sheet.look(this.#outlet);
    }

    #entryOf(id) {
        for (const { items } of this.#topic.document?.sections ?? []) {
            const entry = items.find((item) => item.id === id);
            if (entry) {
                const { kind, model } = entry;
                return { outlet: this.#outlet, item: id, kind, model, takesOrders: this.#takesOrders, address: id };
            }
        }
        return null;
    }
}

const BLANKS = {
    empty: ["The menu is empty", "This place has nothing on its menu yet. It will appear here by itself."],
    malformed: [
        "The menu could not be read",
        "This place has sent a menu with mistakes. Once it is corrected, it will appear here by itself.",
    ],
};
