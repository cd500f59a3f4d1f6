// The home of an outlet.

import { Problem, get, inlineDocument } from "../shared/api.js";
import { alarm, clockTime } from "../shared/clock.js";
import { clone, drawing, refs, setAttribute, setHidden, setText } from "../shared/dom.js";
import { money } from "../shared/money.js";
import { reconcile } from "../shared/reconcile.js";
import { Topic } from "../shared/topic.js";
import { isOff, isOpen, opening, week } from "../shared/hours.js";
import { awaitItems, drawAdds, listen } from "./item.js";
import { remember } from "../shared/memory.js";
import { Sections } from "./sections.js";
import { TagBar } from "./tag-bar.js";
import { drawBlank, sentence } from "./texts.js";
import { firstTime } from "./times.js";

export class OutletPage {
    #outlet;
    #path;
    #main;
    #cart;
    #topic;
    #refs;
    #bar;
    #sheet;
    #sections;
    // Why nothing can be shown now, as a sentence.
    #problem = null;
    #tookOrders = false;
    // The first time for which a place takes orders that is not open now; null where it takes none.
    #later = null;
    #laterOf = "";
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
        this.#sections = new Sections(this.#refs.sections, (section, entry, place) => ({
            ...this.#entry(entry, section), testID: `${section.itemAccessibilityPrefix}${place}`,
        }), this.#cart);
        listen(this.#refs.sections, this.#cart, this.#sheet);
        let home = inlineDocument(this.#path);
        if (home === undefined) home = await this.#read();
        this.#topic = new Topic(home, home?.revision);
        this.#main.replaceChildren(page);
        this.#draw();
        this.#openNamed();
        // As it stands in the code at a table.
        const table = new URLSearchParams(location.search).get("table")?.trim();
        if (table) remember("table", { outlet: this.#outlet, table }, { inTab: true });
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
        const hadProblem = this.#problem !== null;
        this.#problem = null;
        const outcome = this.#topic.take(message);
        if (outcome === "changed" || hadProblem) this.#ask();
        if (outcome === "again") this.#readAgain();
    }

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

    /// Whether the outlet takes orders now, if only for later.
    #takesOrders = () => this.#isOpen || this.#later !== null;

    get #isOpen() {
        const { document } = this.#topic;
        return document !== null && isOpen(document.outlet);
    }

    // Finds out for when the outlet takes orders, if that can be something else than before.
    async #lookAhead(outlet) {
        const of = this.#isOpen ? "" : JSON.stringify([outlet.opensAt, outlet.pausedUntil, outlet.orderAheadDays, outlet.slots]);
        if (of === this.#laterOf) return;
        this.#laterOf = of;
        const first = await firstTime(outlet).catch(() => null);
        if (of !== this.#laterOf) return;
        this.#later = first?.time ?? null;
        alarm("later", first?.until ?? null, () => {
            this.#laterOf = "";
            this.#ask();
        });
        this.#ask();
    }

    #draw() {
        const home = this.#topic.document;
        this.#drawBlank(home);
        setHidden(this.#refs.hero, home === null);
        setHidden(this.#refs.bar, !home?.sections.length);
        if (home) {
            this.#drawHeader(home);
            this.#bar.draw(home.tagBar);
        }
        this.#sections.draw(home?.sections ?? []);
        if (home) {
            const models = home.sections.flatMap(({ items }) => items.map(({ model }) => model));
            awaitItems(models, this.#cart);
            alarm("pause", home.outlet.pausedUntil ?? null, this.#ask);
            this.#lookAhead(home.outlet);
        }
        const takesOrders = this.#takesOrders();
        if (takesOrders !== this.#tookOrders) {
            this.#tookOrders = takesOrders;
            drawAdds(this.#cart);
        }
        this.#drawSheet();
    }

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
        const later = outlet.orderAheadDays ? ". You can order for later" : "";
        setAttribute(parts.status, "data-status", this.#isOpen ? "open" : outlet.status);
        setText(parts.status, this.#isOpen ? "Open" : outlet.status === "paused"
            ? `Paused until ${clockTime(outlet.pausedUntil, outlet.timeZone)}${outlet.pauseReason ? `: ${outlet.pauseReason}` : ""}${later}`
            : opening(outlet) ? `Closed. It opens ${opening(outlet)}${later}` : "Closed: it takes no orders now");
        setHidden(parts.hours, !outlet.hours?.length);
        reconcile(parts.week, week(outlet.hours ?? []), {
            id: ({ day }) => day,
            make: () => clone("day"),
            fill: (node, { day, text }) => {
                setText(refs(node).day, day);
                setText(refs(node).text, text);
            },
        });
    }

    #drawBlank(home) {
        const problem = this.#problem;
        drawBlank(this.#refs.blank, "dish", home === null
            ? problem
                ? ["This page cannot be shown now", problem]
                : ["There is nothing here", "There is no such place, or it is gone for good."]
            : problem ? ["The menu cannot be shown now", problem] : BLANKS[home.state], home === null ? 1 : 2);
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
        for (const section of this.#topic.document?.sections ?? []) {
            const entry = section.items.find((item) => item.id === id);
            if (entry) return this.#entry(entry, section);
        }
        return null;
    }

    #entry({ id, kind, model }, section) {
        const { outlet } = this.#topic.document;
        const daypart = model.daypart ?? section.daypart;
        return {
            outlet: this.#outlet, item: id, kind, model, zone: outlet.timeZone, takesOrders: this.#takesOrders, address: id,
            isOff: () => isOff(daypart, outlet), wanted: () => (this.#isOpen ? null : this.#later),
        };
    }
}

const BLANKS = {
    empty: ["The menu is empty", "This place has nothing on its menu yet. It will appear here by itself."],
    malformed: [
        "The menu could not be read",
        "This place has sent a menu with mistakes. Once it is corrected, it will appear here by itself.",
    ],
};
