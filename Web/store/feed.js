// Discovery: a search over all menus, which follows its question by the stream.

import { Problem, get, request } from "../shared/api.js";
import { clone, refs, setHidden, setText } from "../shared/dom.js";
import { Topic } from "../shared/topic.js";
import { FilterPanel } from "./filter-panel.js";
import { Filters } from "./filters.js";
import { listen } from "./item.js";
import { Looking, pauseOf } from "./looking.js";
import { Results, entryOf } from "./results.js";
import { drawBlank, plural, sentence } from "./texts.js";

const TYPING_DELAY = 120;

export class FeedPage {
    #main;
    #cart;
    #sheet;
    #stream;
    #refs;
    #panel;
    #results;
    #filters = new Filters(location.search);
    // The filters that were answered last, and the answer: null where there is none.
    #asked = this.#filters;
    #answer = null;
    #etag = null;
    #asking = null;
    #typing = null;
    // Whether the answer is that of the latest question.
    #isAnswered = false;
    // The answer as the stream tells it. It has the first rows, and not what the filters would find.
    #topic = new Topic();
    #isLive = false;
    #isRefused = false;
    // Whether there was something new since the last look.
    #isOld = false;
    #looking = new Looking(() => pauseOf({
        isVisible: document.visibilityState !== "hidden", isLive: this.#isLive, isOld: this.#isOld,
        isComplete: this.#results.isComplete,
    }), () => this.#look());

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
        this.#panel = new FilterPanel(page, this.#filters, {
            changed: () => this.#ask(), changing: () => this.#askSoon(),
            viewed: () => {
                this.#keep();
                this.#drawRows();
            },
        });
        this.#results = new Results(this.#refs, this.#cart, {
            read: (cursor) => get(this.#asked.pathAfter(cursor), { signal: this.#asking.signal }),
            changed: () => this.#lookLater(),
        });
        listen(this.#refs.results, this.#cart, this.#sheet);
        this.#refs.surprise.onclick = () => this.#surprise();
        page.dataset.waiting = "";
        this.#main.replaceChildren(page);
        const named = itemInAddress();
        await this.#ask();
        delete page.dataset.waiting;
        this.#openNamed(named);
        addEventListener("popstate", () => this.#openNamed(itemInAddress()));
        document.addEventListener("visibilitychange", () => {
            this.#isRefused = false;
            this.#lookLater();
        });
    }

    topics() {
        return this.#isAnswered && !this.#isRefused ? [this.#asked.topic] : [];
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

    #keep() {
        const query = String(this.#filters);
        history.replaceState(history.state, "", query ? `?${query}` : location.pathname);
    }

    #askSoon() {
        clearTimeout(this.#typing);
        this.#typing = setTimeout(() => this.#ask(), TYPING_DELAY);
    }

    async #ask() {
        clearTimeout(this.#typing);
        this.#asking?.abort();
        const { signal } = (this.#asking = new AbortController());
        const asked = new Filters(String(this.#filters));
        this.#isAnswered = this.#isLive = this.#isRefused = this.#isOld = false;
        this.#keep();
        this.#results.forgetNewer();
        try {
            const { document, etag } = await request("GET", asked.path, { signal });
            this.#asked = asked;
            this.#etag = etag;
            this.#take(document);
        } catch (error) {
            if (signal.aborted) return;
            this.#asked = asked;
            this.#etag = null;
            this.#fail(error);
        }
        this.#lookLater();
    }

    #take(answer) {
        this.#answer = answer;
        this.#isAnswered = true;
        this.#results.begin(answer);
        this.#draw();
        this.#topic = new Topic();
        this.#stream.again();
    }

    #fail(error) {
        this.#answer = null;
        this.#results.begin();
        this.#drawRows();
        setText(this.#refs.count, "");
        const isWrong = error instanceof Problem && error.status === 400;
        this.#drawBlank([isWrong ? "This cannot be searched for" : "Nothing can be found now", sentence(error.message)]);
    }

    // The item in the address is opened, if it is among the rows.
    #openNamed(address) {
        const entry = address && this.#sheet.address !== address && this.#results.find(address);
        if (entry) this.#sheet.open(entry);
    }

    async #surprise() {
        try {
            this.#sheet.open(entryOf(await get(this.#filters.surprisePath)));
        } catch (error) {
            setText(this.#refs.count, sentence(error.message));
        }
    }

    #lookLater() {
        setHidden(this.#refs.still, !this.#isRefused);
        this.#looking.later();
    }

    async #look() {
        const { signal } = this.#asking;
        this.#isOld = false;
        try {
            const known = this.#results.isComplete ? this.#etag : null;
            const { document, etag, unchanged } = await request("GET", this.#asked.path, { signal, etag: known });
            if (unchanged || signal.aborted) return;
            this.#etag = etag;
            this.#follow(document);
        } catch {
            // The next look may be luckier.
            if (!signal.aborted) this.#isOld = true;
        }
    }

    #follow(answer) {
        if (this.#answer === null) {
            this.#take(answer);
            return;
        }
        this.#answer = answer;
        this.#results.follow(answer);
        this.#draw();
        const open = this.#sheet.address && this.#results.find(this.#sheet.address);
        if (open) this.#sheet.update(open);
    }

    #draw() {
        const { total, facets, state, suggestions } = this.#answer;
        const { isPlaces } = this.#asked;
        setText(this.#refs.count, total === 0 ? "Nothing found"
            : isPlaces ? plural(total, "place", "places") : plural(total, "dish", "dishes"));
        this.#panel.draw(facets);
        this.#drawRows();
        this.#drawBlank(total > 0 ? null : state === "noMenu"
            ? ["There is no menu yet", "This place has not put anything on its menu."]
            : ["Nothing matches", suggestions?.length ? "Did you mean one of these?" : "Try fewer filters or another word."],
        suggestions);
    }

    #drawRows() {
        this.#panel.drawTools();
        this.#results.draw({
            isPlaces: this.#asked.isPlaces, isGrid: this.#filters.isGrid, total: this.#answer?.total ?? null,
        });
    }

    #drawBlank(texts, suggestions) {
        const blank = drawBlank(this.#refs.blank, "search", texts && [...texts, suggestions]);
        if (!blank) return;
        const { action } = refs(blank);
        setText(action, "Show everything");
        for (const suggestion of suggestions ?? []) {
            const chip = clone("filter-chip");
            setText(refs(chip).text, suggestion);
            chip.onclick = () => this.#panel.search(suggestion);
            action.before(chip);
        }
    }
}

function itemInAddress() {
    return new URLSearchParams(location.search).get("item");
}
