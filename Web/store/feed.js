// Discovery: a search over all menus. The filters are the page's address, and the address of the question is made of it.

import { Problem, get, request } from "../shared/api.js";
import { isPast } from "../shared/clock.js";
import { clone, drawing, refs, setAttribute, setHidden, setText } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { decimals, money } from "../shared/money.js";
import { clear, reconcile } from "../shared/reconcile.js";
import { delay } from "../shared/stream.js";
import { Topic } from "../shared/topic.js";
import { awaitItems, fillItem, forgetGone, listen, setPicture } from "./item.js";
import { LongList, keyOf } from "./long-list.js";
import { Range } from "./range.js";
import { plural, sentence } from "./texts.js";

const TYPING_DELAY = 120;
// How often, on average, a visible page asks whether something has changed that the stream does not tell. Of many pages
// some ask sooner and some later.
const LOOK_AGAIN = 5000;
// The same, where the cursor behind the first page is not known.
const LOOK_SOON = 1000;
const PAGE = 24;
// The rows of each page behind the first.
const NEXT_PAGE = 48;
// Lists of so many rows are in the page as a whole, so that find-in-page finds everything. Of longer ones there are the
// rows that are at most so many screens away, in steps of so many lines.
const MOST_ROWS = 240;
const NEAR_SCREENS = 2;
const LINES = 4;
const MOST_CUISINES = 16;
const MOST_TAGS = 24;
const MOST_CURRENCIES = 10;
// What is only about this page, and no part of the question.
const OWN_KEYS = new Set(["what", "view", "item"]);
const ATTRIBUTE = /^[A-Za-z0-9._:-]{1,64}$/;

export class FeedPage {
    #main;
    #cart;
    #refs;
    #sheet;
    #stream;
    #filters = new URLSearchParams(location.search);
    #list = new LongList();
    // The places of the rows that are in the page.
    #shown = [0, 0];
    #answer = null;
    #isAnswered = false;
    #newer = null;
    #etag = null;
    #asking = null;
    #typing = null;
    #looking = null;
    #isLooking = false;
    // How long the next look is away, on average; null if there is none.
    #pause = null;
    // The answer as the stream tells it. It has the first rows, and not what the filters would find.
    #topic = new Topic();
    #isLive = false;
    #isRefused = false;
    // Whether there was something new since the last look.
    #isOld = false;
    #ranges = new Map();
    #bounds = new Map();

    constructor({ main, cart, sheet, stream }) {
        this.#main = main;
        this.#sheet = sheet;
        this.#stream = stream;
        this.#cart = cart;
    }

    async open() {
        const page = clone("feed-page");
        this.#refs = refs(page);
        setHidden(document.getElementById("back"), true);
        document.title = "Find something to eat · Tiffin";
        listen(this.#refs.results, this.#cart, this.#sheet);
        this.#listen(page);
        this.#main.replaceChildren(page);
        this.#refs.text.value = this.#filters.get("text") ?? "";
        this.#refs.more.open = [...this.#filters.keys()].some((key) => !OWN_KEYS.has(key) && key !== "text" && key !== "cuisine");
        await this.#ask();
        const draw = drawing(() => this.#drawWindow());
        addEventListener("scroll", draw, { passive: true });
        addEventListener("resize", draw);
        document.addEventListener("visibilitychange", () => {
            this.#isRefused = false;
            this.#lookLater();
        });
        this.#lookLater();
    }

    topics() {
        return this.#isAnswered && !this.#isRefused ? [this.#topicName] : [];
    }

    hear(message) {
        // The stream is that of the question before, until it is opened again.
        if (!this.#isAnswered) return;
        if (message.error) {
            this.refused();
            return;
        }
        const outcome = this.#topic.take(message);
        if (outcome === "again") this.#stream.again();
        if (outcome !== "changed" || !this.#topic.document) return;
        this.#isLive = true;
        const { total, items } = this.#topic.document;
        if (JSON.stringify([total, items]) !== JSON.stringify([this.#answer.total, this.#answer.items])) {
            this.#isOld = true;
            this.#follow({ ...this.#answer, total, items, next: total > items.length ? undefined : null });
        }
        this.#lookLater();
    }

    /// The server follows only so many questions. About others the page asks.
    refused() {
        this.#isRefused = true;
        this.lost();
    }

    /// The stream tells nothing now.
    lost() {
        this.#isLive = false;
        if (this.#refs) this.#lookLater();
    }

    // MARK: Filters

    get #isPlaces() {
        return this.#filters.get("what") === "places";
    }

    #listen(page) {
        const { form, text, surprise, sort, newer, next, filters, attributeForm, attributeName } = this.#refs;
        form.onsubmit = (event) => {
            event.preventDefault();
            this.#change(() => this.#put("text", text.value.trim()));
        };
        text.oninput = () => {
            this.#put("text", text.value.trim());
            this.#later();
        };
        surprise.onclick = () => this.#surprise();
        sort.onchange = () => this.#change(() => this.#put("sort", sort.value === "relevance" ? "" : sort.value));
        newer.onclick = () => {
            this.#showNewer();
            this.#lookLater();
        };
        next.onclick = () => this.#more();
        // Several changes may come at once, and the last one counts.
        this.#end = new IntersectionObserver((entries) => {
            if (entries.at(-1).isIntersecting) this.#more();
        }, { rootMargin: "100%" });
        this.#end.observe(next);
        page.addEventListener("click", (event) => {
            const button = event.target.closest("[data-what], [data-view]");
            if (!button) return;
            const { what, view } = button.dataset;
            if (view) {
                this.#put("view", view === "grid" ? "" : view);
                this.#keep();
                this.#drawRows();
            } else {
                this.#change(() => this.#put("what", what === "dishes" ? "" : what));
            }
        });
        filters.addEventListener("click", (event) => {
            const chip = event.target.closest("[data-key]");
            if (chip) this.#change(() => this.#toggle(chip.dataset.key, chip.dataset.value));
        });
        attributeForm.onsubmit = (event) => {
            event.preventDefault();
            const name = attributeName.value.trim();
            if (!ATTRIBUTE.test(name)) return;
            attributeName.value = "";
            this.#change(() => this.#filters.append(`attr.${name}`, ","));
        };
    }

    #put(key, value) {
        if (value === "") this.#filters.delete(key);
        else this.#filters.set(key, value);
    }

    #toggle(key, value) {
        const values = this.#filters.getAll(key);
        // Prices are of one currency.
        if (key === "currency") {
            this.#filters.delete("price");
            this.#bounds.delete("price");
            this.#put(key, values.includes(value) ? "" : value);
            return;
        }
        this.#filters.delete(key);
        const rest = values.filter((other) => other !== value && other !== ",");
        if (!values.includes(value)) rest.push(value);
        // An attribute that was asked for stays on the screen.
        if (rest.length === 0 && key.startsWith("attr.")) rest.push(",");
        for (const other of rest) this.#filters.append(key, other);
    }

    #change(change) {
        change();
        this.#ask();
    }

    #later() {
        clearTimeout(this.#typing);
        this.#typing = setTimeout(() => this.#ask(), TYPING_DELAY);
    }

    #keep() {
        const query = this.#filters.toString();
        history.replaceState(null, "", query ? `?${query}` : location.pathname);
    }

    get #attributes() {
        return [...new Set([...this.#filters.keys()].filter((key) => key.startsWith("attr.")))];
    }

    get #endpoint() {
        return this.#isPlaces ? "/v1/outlets" : "/v1/browse";
    }

    // The question without its page.
    get #question() {
        const question = new URLSearchParams();
        for (const [key, value] of this.#filters) {
            // A range without ends is only on the screen.
            if (!OWN_KEYS.has(key) && value !== ",") question.append(key, value);
        }
        return question;
    }

    get #topicName() {
        const question = this.#question;
        question.set("limit", PAGE);
        return `${this.#isPlaces ? "outlets" : "browse"}?${question}`;
    }

    get #path() {
        const question = this.#question;
        const facets = ["cuisines", "tags", "currencies", "ratings", "deliveryMinutes"];
        if (this.#filters.has("currency")) facets.push("prices");
        facets.push(...this.#attributes.map((key) => `attributes.${key.slice("attr.".length)}`));
        question.set("facets", facets.join(","));
        question.set("limit", PAGE);
        return `${this.#endpoint}?${question}`;
    }

    // MARK: Asking

    async #ask() {
        clearTimeout(this.#typing);
        this.#asking?.abort();
        const { signal } = (this.#asking = new AbortController());
        this.#isAnswered = this.#isLive = this.#isRefused = this.#isOld = false;
        this.#keep();
        this.#newer = null;
        try {
            const { document, etag } = await request("GET", this.#path, { signal });
            this.#etag = etag;
            this.#take(document);
        } catch (error) {
            if (signal.aborted) return;
            this.#fail(error);
        }
    }

    #take(answer) {
        this.#answer = answer;
        this.#isAnswered = true;
        this.#list = new LongList(answer);
        this.#draw();
        this.#watchEnd();
        this.#topic = new Topic();
        this.#stream.again();
        this.#lookLater();
    }

    #fail(error) {
        this.#answer = null;
        this.#list = new LongList();
        this.#etag = null;
        this.#drawRows();
        setText(this.#refs.count, "");
        this.#drawBlank(error instanceof Problem && error.status === 400
            ? ["This cannot be searched for", sentence(error.message)]
            : ["Nothing can be found now", sentence(error.message)]);
        this.#lookLater();
    }

    async #more() {
        const list = this.#list;
        if (!list.next || this.#isReadingMore) return;
        this.#isReadingMore = true;
        try {
            list.append(await this.#readPage(list.next));
            if (list === this.#list) this.#drawRows();
        } catch {
            await new Promise((resolve) => setTimeout(resolve, delay(1)));
        } finally {
            this.#isReadingMore = false;
        }
        this.#watchEnd();
    }

    // Reads again what somebody has come back to.
    async #refill() {
        if (this.#isRefilling) return;
        this.#isRefilling = true;
        const list = this.#list;
        try {
            for (let page; list === this.#list && (page = list.missing(...this.#shown));) {
                const { items } = await this.#readPage(page.after);
                list.refill(page, items);
                if (list === this.#list) this.#drawRows();
            }
        } catch {
            await new Promise((resolve) => setTimeout(resolve, delay(1)));
        } finally {
            this.#isRefilling = false;
        }
        if (this.#list.missing(...this.#shown)) this.#refill();
    }

    #readPage(after) {
        const question = this.#question;
        question.set("limit", NEXT_PAGE);
        question.set("after", after);
        return get(`${this.#endpoint}?${question}`, { signal: this.#asking.signal });
    }

    #isRefilling = false;

    // An end that stays near is not told of again, so it is looked at anew.
    #watchEnd() {
        this.#end.unobserve(this.#refs.next);
        this.#end.observe(this.#refs.next);
    }

    #isReadingMore = false;
    #end;

    async #surprise() {
        try {
            const row = await get(`/v1/surprise?${this.#question}`);
            if (row) this.#sheet.open(this.#entryOf(row));
            else setText(this.#refs.count, "There is nothing to choose from");
        } catch (error) {
            setText(this.#refs.count, sentence(error.message));
        }
    }

    // MARK: Following

    // Looks again, where that is not done already: at what the stream does not tell, or at everything without a stream.
    #lookLater() {
        setHidden(this.#refs.still, !this.#isRefused);
        const isNeeded = document.visibilityState !== "hidden" && (!this.#isLive || this.#isOld);
        const pause = !isNeeded ? null : this.#list.next === undefined ? LOOK_SOON : LOOK_AGAIN;
        if (this.#isLooking || pause === this.#pause) return;
        clearTimeout(this.#looking);
        this.#pause = pause;
        if (isNeeded) this.#looking = setTimeout(() => this.#look(), pause * (0.5 + Math.random()));
    }

    async #look() {
        const { signal } = this.#asking;
        this.#isLooking = true;
        this.#isOld = false;
        try {
            const known = this.#list.next === undefined ? null : this.#etag;
            const { document, etag, unchanged } = await request("GET", this.#path, { signal, etag: known });
            if (!unchanged && !signal.aborted) {
                this.#etag = etag;
                this.#follow(document);
            }
        } catch {
            // The next look may be luckier.
            this.#isOld = true;
        }
        this.#isLooking = false;
        this.#pause = null;
        this.#lookLater();
    }

    // Rows that are there follow in their places. Others come at once only where nobody is reading below them.
    #follow(answer) {
        if (this.#answer === null) {
            this.#take(answer);
            return;
        }
        const isReading = this.#refs.results.getBoundingClientRect().top < 0;
        this.#newer = answer;
        if (!isReading) {
            this.#showNewer();
            return;
        }
        const known = new Set(this.#list.kept.map(keyOf));
        this.#answer = answer;
        this.#update(answer);
        this.#draw();
        this.#watchEnd();
        const count = answer.items.filter((row) => !known.has(keyOf(row))).length;
        setText(this.#refs.newer, `${count} new`);
        setHidden(this.#refs.newer, count === 0);
    }

    // Puts rows in their places. Answers whether they are those of the first page; then what follows is that of the same
    // rows, or else it has to be read anew.
    #update({ items, next }) {
        const first = this.#list.first.map(keyOf);
        const isSame = items.length === first.length && items.every((row, place) => keyOf(row) === first[place]);
        this.#list.update(items);
        if (isSame && next !== undefined) this.#list.learn(next);
        return isSame;
    }

    #showNewer() {
        const answer = this.#newer;
        if (!answer) return;
        this.#newer = null;
        const isAsked = !this.#refs.newer.hidden;
        this.#answer = answer;
        if (!this.#update(answer)) this.#list = new LongList(answer);
        this.#draw();
        this.#watchEnd();
        if (isAsked) {
            scrollTo({ top: 0 });
            this.#refs.results.querySelector(".open")?.focus({ preventScroll: true });
        }
    }

    // MARK: Drawing

    #draw() {
        const { total, facets, state, suggestions } = this.#answer;
        setHidden(this.#refs.newer, true);
        setText(this.#refs.count, total === 0 ? "Nothing found"
            : this.#isPlaces ? plural(total, "place", "places") : plural(total, "dish", "dishes"));
        this.#drawChips(this.#refs.cuisines, "cuisine", facets.cuisines, MOST_CUISINES);
        this.#drawChips(this.#refs.tags, "tag", facets.tags, MOST_TAGS);
        const hasCurrencies = facets.currencies.length > 1 || this.#filters.has("currency");
        this.#drawChips(this.#refs.currencies, "currency", hasCurrencies ? facets.currencies : [], MOST_CURRENCIES);
        this.#drawRanges(facets);
        this.#drawRows();
        this.#drawBlank(total > 0 ? null : state === "noMenu"
            ? ["There is no menu yet", "This place has not put anything on its menu."]
            : ["Nothing matches", suggestions?.length ? "Did you mean one of these?" : "Try fewer filters or another word."],
        suggestions);
        awaitItems(this.#isPlaces ? [] : this.#list.kept, this.#cart);
    }

    // Chips stay where they are: those that are chosen, and then the most frequent.
    #drawChips(place, key, facet, most) {
        const chosen = this.#filters.getAll(key).filter((value) => value !== ",");
        const counts = new Map((facet ?? []).map(({ value, count }) => [value, count]));
        const same = (a) => (b) => a.toLowerCase() === b.toLowerCase();
        const before = [...place.children].map((chip) => chip.dataset.value);
        const shown = [...counts.keys()].slice(0, most);
        const values = [...new Set([
            ...before.filter((value) => counts.has(value) || chosen.some(same(value))),
            ...chosen.filter((value) => !before.some(same(value)) && ![...counts.keys()].some(same(value))), ...shown,
        ])].slice(0, most);
        reconcile(place, values, {
            id: (value) => value,
            make: () => clone("filter-chip"),
            fill: () => {},
        });
        for (const chip of place.children) {
            const value = values[[...place.children].indexOf(chip)];
            setAttribute(chip, "data-key", key);
            setAttribute(chip, "data-value", value);
            setText(refs(chip).text, value);
            setText(refs(chip).count, counts.has(value) ? String(counts.get(value)) : "0");
            setAttribute(chip, "aria-pressed", String(chosen.some(same(value))));
        }
    }

    #drawRanges(facets) {
        const currency = this.#filters.get("currency");
        const places = this.#refs.ranges;
        this.#drawRange(places, "price", facets.prices ?? null, this.#isPlaces ? "Price for two" : "Price",
            10 ** decimals(currency ?? "XXX") / 10 || 1, (value) => money(value, currency), currency);
        this.#drawRange(places, "rating", facets.ratings, "Rating", 0.1, (value) => value.toFixed(1));
        this.#drawRange(places, "delivery", facets.deliveryMinutes, "Time", 1, (value) => `${value} min`);
        const wanted = this.#attributes;
        for (const key of wanted) {
            const name = key.slice("attr.".length);
            const facet = facets[`attributes.${name}`];
            const range = this.#drawRange(this.#refs.attributes, key, facet, name, 1e-6,
                (value) => new Intl.NumberFormat(undefined, { maximumFractionDigits: 6 }).format(value));
            this.#drawChips(refs(range.node).values, key, facet?.values, MOST_TAGS);
            setHidden(range.node, false);
            setHidden(refs(range.node).rails, facet?.min === null || facet?.min === undefined);
            setHidden(refs(range.node).fromText.parentElement, facet?.min === null || facet?.min === undefined);
            setHidden(refs(range.node).remove, false);
            refs(range.node).remove.onclick = () => this.#change(() => this.#filters.delete(key));
        }
        for (const [key, range] of this.#ranges) {
            if (key.startsWith("attr.") && !wanted.includes(key)) {
                range.node.remove();
                this.#ranges.delete(key);
                this.#bounds.delete(key);
            }
        }
    }

    // The ends of a slider only ever become wider, so that it does not move under a finger.
    #drawRange(place, key, facet, title, finest, write) {
        let range = this.#ranges.get(key);
        if (!range) {
            range = new Range({
                title, write: (value) => range.write(value), finest,
                changed: (from, to) => {
                    this.#filters.set(key, from === null && to === null ? "," : `${from ?? ""},${to ?? ""}`);
                    if (!key.startsWith("attr.") && from === null && to === null) this.#filters.delete(key);
                    this.#later();
                },
            });
            this.#ranges.set(key, range);
            place.append(range.node);
        }
        range.write = write;
        range.finest = finest;
        const isNumeric = facet?.min !== null && facet?.min !== undefined;
        const known = this.#bounds.get(key);
        const bounds = isNumeric
            ? [Math.min(facet.min, known?.[0] ?? facet.min), Math.max(facet.max, known?.[1] ?? facet.max)] : known;
        setHidden(range.node, !bounds || (key === "price" && !this.#filters.has("currency")));
        if (bounds && !range.node.hidden) {
            this.#bounds.set(key, bounds);
            const [from, to] = ends(this.#filters.get(key));
            range.draw(bounds[0], bounds[1], from, to);
        }
        return range;
    }

    #drawRows() {
        const isGrid = this.#filters.get("view") !== "list";
        const { results, sort, next } = this.#refs;
        for (const button of this.#main.querySelectorAll("[data-view]")) {
            setAttribute(button, "aria-pressed", String((button.dataset.view === "grid") === isGrid));
        }
        for (const button of this.#main.querySelectorAll("[data-what]")) {
            setAttribute(button, "aria-pressed", String((button.dataset.what === "places") === this.#isPlaces));
        }
        sort.value = this.#filters.get("sort") ?? "relevance";
        const template = `${this.#isPlaces ? "place" : "item"}${isGrid ? "-card" : ""}`.replace("item-card", "card");
        if (results.dataset.template !== template) {
            clear(results);
            results.dataset.template = template;
        }
        results.className = `items results ${isGrid ? "grid" : "list"}`;
        setHidden(next, !this.#list.next);
        const { places: [from, to], room } = this.#window();
        this.#shown = [from, to];
        results.style.paddingBlock = room.map((size) => `${size}px`).join(" ");
        const total = this.#answer?.total ?? null;
        reconcile(results, this.#list.rows(from, to), {
            id: (row) => (row.missing === undefined ? keyOf(row) : `missing ${row.missing}`),
            make: (row) => (row.missing === undefined ? clone(template) : clone("missing-row")),
            fill: (node, row, place) => {
                setAttribute(node, "aria-posinset", from + place + 1);
                setAttribute(node, "aria-setsize", total);
                if (row.missing !== undefined) return;
                if (this.#isPlaces) fillPlace(node, row, from + place);
                else fillItem(node, { ...this.#entryOf(row), testID: `result_${from + place}` }, this.#cart);
            },
        });
        forgetGone();
        this.#list.keep(from, to);
        if (this.#list.missing(from, to)) this.#refill();
    }

    // Draws the rows again if others are near.
    #drawWindow() {
        if (this.#isAnswered && this.#window().places.join() !== this.#shown.join()) this.#drawRows();
    }

    // The places of the rows that are near, and the room that the others would take before and behind them.
    #window() {
        const { results } = this.#refs;
        const { length } = this.#list;
        if (length <= MOST_ROWS) return { places: [0, length], room: [0, 0] };
        const { gridTemplateColumns, gridAutoRows, rowGap } = getComputedStyle(results);
        const columns = gridTemplateColumns.split(" ").length;
        const line = parseFloat(gridAutoRows) + (parseFloat(rowGap) || 0);
        const lines = Math.ceil(length / columns);
        const { top } = results.getBoundingClientRect();
        const near = (screens) => (screens * innerHeight - top) / line / LINES;
        const first = Math.min(Math.max(Math.floor(near(-NEAR_SCREENS)) * LINES, 0), lines - 1);
        const last = Math.min(Math.max(Math.ceil(near(1 + NEAR_SCREENS)) * LINES, first + 1), lines);
        return {
            places: [first * columns, Math.min(last * columns, length)], room: [first * line, (lines - last) * line],
        };
    }

    #drawBlank(texts, suggestions = []) {
        const place = this.#refs.blank;
        setHidden(place, !texts);
        place.replaceChildren();
        if (!texts) return;
        const node = clone("blank");
        node.prepend(icon("search"));
        setText(refs(node).title, texts[0]);
        setText(refs(node).text, texts[1]);
        const action = refs(node).action;
        setText(action, "Show everything");
        for (const suggestion of suggestions ?? []) {
            const chip = clone("filter-chip");
            setText(refs(chip).text, suggestion);
            chip.onclick = () => {
                this.#refs.text.value = suggestion;
                this.#refs.text.focus();
                this.#change(() => this.#put("text", suggestion));
            };
            action.before(chip);
        }
        place.append(node);
    }

    #entryOf(row) {
        return {
            outlet: row.outlet, item: row.item, kind: row.kind, model: row, address: `${row.outlet}/${row.item}`,
            takesOrders: () => row.status === "open" || (row.status === "paused" && isPast(row.pausedUntil)),
        };
    }
}

function ends(value) {
    const [from = "", to = ""] = (value ?? "").split(",");
    const number = (text) => (text === "" || Number.isNaN(Number(text)) ? null : Number(text));
    return [number(from), number(to)];
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
    const isOpen = outlet.status === "open" || (outlet.status === "paused" && isPast(outlet.pausedUntil));
    setText(label, isOpen ? "" : outlet.status === "paused" ? "Paused" : "Closed");
    setAttribute(node, "data-away", isOpen ? null : "");
    setPicture(picture, null, outlet.id);
}
