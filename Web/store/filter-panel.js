// The filters of discovery on the screen. Chips and sliders are drawn by what an answer says of each filter.

import { clone, refs, setAttribute, setHidden, setText } from "../shared/dom.js";
import { decimals, money } from "../shared/money.js";
import { reconcile } from "../shared/reconcile.js";
import { hasWord, nameOf } from "./filters.js";
import { Range } from "./range.js";
import { spoken } from "./texts.js";

const MOST_CUISINES = 16;
const MOST_TAGS = 24;
const MOST_CURRENCIES = 10;
const MOST_PLACES = 24;

export class FilterPanel {
    #parts;
    #switches;
    #filters;
    #changed;
    #changing;
    // By key, each slider with its ends and what they are counted in.
    #ranges = new Map();

    /// `changed()` is called when somebody has chosen something, `changing()` while they type or an end of a slider moves,
    /// and `viewed()` when only the layout is another.
    constructor(page, filters, { changed, changing, viewed }) {
        const { form, text, sort, more, attributeForm, attributeName } = (this.#parts = refs(page));
        this.#switches = [...page.querySelectorAll("[data-what], [data-view]")];
        this.#filters = filters;
        this.#changed = changed;
        this.#changing = changing;
        text.value = filters.get("text") ?? "";
        more.open = filters.hasMore;
        form.onsubmit = (event) => {
            event.preventDefault();
            changed();
        };
        text.oninput = () => {
            filters.set("text", text.value.trim());
            changing();
        };
        sort.onchange = () => {
            filters.set("sort", sort.value === "relevance" ? "" : sort.value);
            changed();
        };
        attributeForm.onsubmit = (event) => {
            event.preventDefault();
            if (!filters.addAttribute(attributeName.value.trim())) return;
            attributeName.value = "";
            changed();
        };
        page.addEventListener("click", ({ target }) => {
            const { key, value, what, view } = target.closest("[data-key], [data-what], [data-view]")?.dataset ?? {};
            if (key) filters.toggle(key, value);
            if (what) filters.set("what", what === "dishes" ? "" : what);
            if (view) filters.set("view", view === "grid" ? "" : view);
            if (key || what) changed();
            else if (view) viewed();
        });
    }

    /// Searches for another text.
    search(words) {
        const { text } = this.#parts;
        text.value = words;
        text.focus();
        this.#filters.set("text", words);
        this.#changed();
    }

    /// Draws what does not depend on an answer.
    drawTools() {
        const { isGrid, isPlaces } = this.#filters;
        for (const button of this.#switches) {
            const { view, what } = button.dataset;
            setAttribute(button, "aria-pressed", String(view ? (view === "grid") === isGrid : (what === "places") === isPlaces));
        }
        this.#parts.sort.value = this.#filters.get("sort") ?? "relevance";
    }

    /// Draws the `facets` of an answer.
    draw(facets) {
        const { cuisines, cities, areas, tags, currencies } = this.#parts;
        this.#drawChips(cuisines, "cuisine", facets.cuisines, MOST_CUISINES);
        this.#drawChips(tags, "tag", facets.tags, MOST_TAGS);
        this.#drawChoice(cities, "city", facets.cities, MOST_PLACES);
        this.#drawChoice(areas, "area", facets.areas, MOST_PLACES);
        this.#drawChoice(currencies, "currency", facets.currencies, MOST_CURRENCIES);
        this.#drawRanges(facets);
        this.#drawAttributes(facets);
    }

    // Only one word is no choice.
    #drawChoice(place, key, facet, most) {
        this.#drawChips(place, key, facet.length > 1 || this.#filters.get(key) !== null ? facet : [], most);
        setHidden(place, place.childElementCount === 0);
    }

    #drawChips(place, key, facet, most) {
        const chosen = this.#filters.chosen(key);
        const counts = new Map((facet ?? []).map(({ value, count }) => [value, count]));
        const before = [...place.children].map((chip) => chip.dataset.value);
        const values = chipsOf(before, chosen, [...counts.keys()], most);
        reconcile(place, values, { id: (value) => value, make: () => clone("filter-chip"), fill: () => {} });
        for (const [index, value] of values.entries()) {
            const chip = place.children[index];
            const { text, count } = refs(chip);
            setAttribute(chip, "data-key", key);
            setAttribute(chip, "data-value", value);
            setText(text, value);
            setText(count, String(counts.get(value) ?? 0));
            setAttribute(chip, "aria-pressed", String(hasWord(chosen, value)));
        }
    }

    #drawRanges({ prices, ratings, deliveryMinutes }) {
        const { ranges } = this.#parts;
        const { isPlaces } = this.#filters;
        const currency = this.#filters.get("currency");
        this.#drawRange(ranges, "price", prices, {
            title: isPlaces ? "Price for two" : "Price", unit: `${isPlaces} ${currency}`,
            finest: 10 ** decimals(currency ?? "XXX") / 10 || 1, write: (value) => money(value, currency),
        });
        this.#drawRange(ranges, "rating", ratings, { title: "Rating", finest: 0.1, write: (value) => value.toFixed(1) });
        this.#drawRange(ranges, "delivery", deliveryMinutes, { title: "Time", finest: 1, write: (value) => `${value} min` });
    }

    #drawAttributes(facets) {
        const keys = this.#filters.attributes;
        for (const key of keys) {
            const name = nameOf(key);
            const facet = facets[`attributes.${name}`];
            const { node } = this.#drawRange(this.#parts.attributes, key, facet, {
                title: name, finest: 1e-6, write: spoken,
            });
            const { values, rails, fromText, remove } = refs(node);
            this.#drawChips(values, key, facet?.values, MOST_TAGS);
            setHidden(node, false);
            setHidden(rails, !isNumeric(facet));
            setHidden(fromText.parentElement, !isNumeric(facet));
            setHidden(remove, false);
            remove.onclick = () => {
                this.#filters.set(key, "");
                this.#changed();
            };
        }
        for (const [key, { range }] of this.#ranges) {
            if (range.node.parentElement !== this.#parts.attributes || keys.includes(key)) continue;
            range.node.remove();
            this.#ranges.delete(key);
        }
    }

    // The ends of a slider only ever become wider, so that it does not move under a finger.
    #drawRange(place, key, facet, { unit = "", ...style }) {
        let entry = this.#ranges.get(key);
        if (!entry) {
            const range = new Range((from, to) => {
                this.#filters.setRange(key, from, to);
                this.#changing();
            });
            this.#ranges.set(key, (entry = { range, ends: null, unit }));
            place.append(range.node);
        }
        if (entry.unit !== unit) Object.assign(entry, { ends: null, unit });
        if (isNumeric(facet)) {
            const [least, most] = entry.ends ?? [facet.min, facet.max];
            entry.ends = [Math.min(facet.min, least), Math.max(facet.max, most)];
        }
        setHidden(entry.range.node, !entry.ends);
        if (entry.ends) entry.range.draw(style, entry.ends, this.#filters.range(key));
        return entry.range;
    }
}

/// The values that get a chip, at most so many: those of `before` stay where they are, then come those that are chosen,
/// and then those that are `found`, the most frequent first.
export function chipsOf(before, chosen, found, most) {
    return [...new Set([
        ...before.filter((value) => found.includes(value) || hasWord(chosen, value)),
        ...chosen.filter((value) => !hasWord(before, value) && !hasWord(found, value)), ...found.slice(0, most),
    ])].slice(0, most);
}

function isNumeric(facet) {
    return typeof facet?.min === "number";
}
