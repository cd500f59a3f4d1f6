// The rows of a long answer. It is read page by page, each with the cursor that the one before it gave. The rows of a few
// pages are kept; those of the others are read again, with the same cursors, when somebody comes back to them.

// How many pages are kept around those that are shown, besides the first.
const MOST_KEPT = 12;

export function keyOf(row) {
    return row.item === undefined ? row.id : `${row.outlet}/${row.item}`;
}

export class LongList {
    // Each page as `{after, start, count, rows}`: its cursor, its place, and its rows, or null where they are not kept.
    #pages = [];

    /// The cursor of the page behind the last one; null at the end, and undefined as long as it is not known.
    next = null;

    /// `answer` is the first page, `{items, next}`.
    constructor(answer = { items: [], next: null }) {
        this.append(answer);
    }

    get length() {
        const { start, count } = this.#pages.at(-1);
        return start + count;
    }

    /// The rows that are kept.
    get kept() {
        return this.#pages.flatMap(({ rows }) => rows ?? []);
    }

    get first() {
        return this.#pages[0].rows;
    }

    append({ items, next }) {
        const rows = this.#others(items);
        const start = this.#pages.length > 0 ? this.length : 0;
        this.#pages.push({ after: this.next, start, count: rows.length, rows });
        this.next = next;
    }

    /// Takes the cursor behind the first page, if that is the last one.
    learn(next) {
        if (this.#pages.length === 1) this.next = next;
    }

    /// The rows from one place to another, with `{missing: place}` for those that are not kept.
    rows(from, to) {
        return this.#between(from, to).flatMap(({ start, count, rows }) =>
            Array.from({ length: Math.min(to, start + count) - Math.max(from, start) }, (_, place) =>
                (rows ? rows[Math.max(from, start) + place - start] : { missing: Math.max(from, start) + place })));
    }

    /// A page with rows between these places that has to be read again, if there is one.
    missing(from, to) {
        return this.#between(from, to).find(({ rows }) => rows === null);
    }

    /// Takes the rows of such a page. Some may have gone since.
    refill(page, items) {
        page.rows = this.#others(items);
        page.count = page.rows.length;
        for (let place = this.#pages.indexOf(page) + 1; place < this.#pages.length; place++) {
            const { start, count } = this.#pages[place - 1];
            this.#pages[place].start = start + count;
        }
    }

    /// Puts rows in the place of those with the same keys.
    update(items) {
        const news = new Map(items.map((row) => [keyOf(row), row]));
        for (const page of this.#pages) page.rows &&= page.rows.map((row) => news.get(keyOf(row)) ?? row);
    }

    /// Keeps the first page and those around these places.
    keep(from, to) {
        const middle = this.#pages.indexOf(this.#between(from, to)[0]);
        for (const [place, page] of this.#pages.entries()) {
            if (place > 0 && Math.abs(place - middle) > MOST_KEPT / 2) page.rows = null;
        }
    }

    // While places change, a row can come twice.
    #others(items) {
        const known = new Set(this.kept.map(keyOf));
        return items.filter((row) => !known.has(keyOf(row)));
    }

    #between(from, to) {
        return this.#pages.filter(({ start, count }) => start < to && start + count > from);
    }
}
