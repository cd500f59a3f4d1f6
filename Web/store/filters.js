// What is asked in discovery: the filters, which are the query of the page's address, and the questions made of them.

/// The rows of the first page, and of each behind it.
export const PAGE = 24;
const NEXT_PAGE = 48;
// What is only about this page, and no part of the question.
const OWN_KEYS = new Set(["what", "view"]);
// Filters that are on the screen in any case.
const SHOWN_KEYS = new Set([...OWN_KEYS, "text", "cuisine"]);
const FACETS = ["cuisines", "cities", "areas", "tags", "currencies", "ratings", "deliveryMinutes"];
const ATTRIBUTE = /^[A-Za-z0-9._:{}-]{1,64}$/;
// What an attribute has that is on the screen and not filtered by: a range without ends.
const ANY = ",";

export class Filters {
    #all;

    constructor(query = "") {
        this.#all = new URLSearchParams(query);
        // The item that is open is no filter, but stands in the same query.
        this.#all.delete("item");
    }

    /// The query of the page's address.
    toString() {
        return this.#all.toString();
    }

    get isPlaces() {
        return this.get("what") === "places";
    }

    get isGrid() {
        return this.get("view") !== "list";
    }

    /// Whether there are some that are not always on the screen.
    get hasMore() {
        return [...this.#all.keys()].some((key) => !SHOWN_KEYS.has(key));
    }

    /// The attributes that are on the screen, as keys: `attr.serves`.
    get attributes() {
        return [...new Set([...this.#all.keys()].filter(isAttribute))];
    }

    get(key) {
        return this.#all.get(key);
    }

    /// An empty value removes the key.
    set(key, value) {
        if (value === "") this.#all.delete(key);
        else this.#all.set(key, value);
    }

    /// The values that are chosen of a key.
    chosen(key) {
        return this.#all.getAll(key).filter((value) => value !== ANY);
    }

    toggle(key, value) {
        const values = this.chosen(key);
        const isChosen = hasWord(values, value);
        // Prices are of one currency.
        if (key === "currency") {
            this.#all.delete("price");
            this.set(key, isChosen ? "" : value);
            return;
        }
        const rest = isChosen ? values.filter((other) => !isSameWord(other, value)) : [...values, value];
        this.#all.delete(key);
        // An attribute that was asked for stays on the screen.
        if (rest.length === 0 && isAttribute(key)) rest.push(ANY);
        for (const each of rest) this.#all.append(key, each);
    }

    /// The ends of a range, null where one is open.
    range(key) {
        const [from = "", to = ""] = (this.get(key) ?? "").split(",");
        const number = (text) => (text === "" || Number.isNaN(Number(text)) ? null : Number(text));
        return [number(from), number(to)];
    }

    setRange(key, from, to) {
        const isOpen = from === null && to === null;
        this.set(key, isOpen && !isAttribute(key) ? "" : `${from ?? ""},${to ?? ""}`);
    }

    /// Shows another attribute, and answers whether it can have that name.
    addAttribute(name) {
        const isName = ATTRIBUTE.test(name);
        if (isName) this.#all.append(`attr.${name}`, ANY);
        return isName;
    }

    /// The topic that tells the first page.
    get topic() {
        return `${this.isPlaces ? "outlets" : "browse"}?${this.#question({ limit: PAGE })}`;
    }

    /// The path of the first page, with what the other filters would find.
    get path() {
        const facets = [...FACETS, ...this.get("currency") === null ? [] : ["prices"],
            ...this.attributes.map((key) => `attributes.${nameOf(key)}`)];
        return `${this.#endpoint}?${this.#question({ facets: facets.join(","), limit: PAGE })}`;
    }

    /// The path of the page behind a cursor.
    pathAfter(cursor) {
        return `${this.#endpoint}?${this.#question({ limit: NEXT_PAGE, after: cursor })}`;
    }

    /// The path of any one dish. It knows no order.
    get surprisePath() {
        const question = this.#question({});
        question.delete("sort");
        return `/v1/surprise?${question}`;
    }

    get #endpoint() {
        return this.isPlaces ? "/v1/outlets" : "/v1/browse";
    }

    #question(page) {
        const asked = [...this.#all].filter(([key, value]) => !OWN_KEYS.has(key) && value !== ANY);
        return new URLSearchParams([...asked, ...Object.entries(page)]);
    }
}

/// The name of an attribute by its key.
export function nameOf(key) {
    return key.slice("attr.".length);
}

/// Whether a word is among others. The server takes capitals and small letters for the same.
export function hasWord(words, word) {
    return words.some((other) => isSameWord(other, word));
}

function isSameWord(one, other) {
    return one.toLowerCase() === other.toLowerCase();
}

function isAttribute(key) {
    return key.startsWith("attr.");
}
