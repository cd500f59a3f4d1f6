// The rows of a long answer. It is read page by page, each with the cursor that the one before it gave. The rows of a few
// pages are kept; those of the others are read again, with the same cursors, when somebody comes back to them.

// How many pages are kept around those that are shown, besides the first.
const MOST_KEPT = 12;
// Lists of so many rows are in the page as a whole, so that find-in-page finds everything. Of longer ones there are the
// rows that are at most so many screens away, in steps of so many lines.
const MOST_ROWS = 240;
const NEAR_SCREENS = 2;
const LINES = 4;

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

    append({ items, next }) {
        const rows = this.#others(items);
        const start = this.#pages.length > 0 ? this.length : 0;
        this.#pages.push({ after: this.next, start, count: rows.length, rows });
        this.next = next;
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

    /// Takes what the first page has become: puts rows in the place of those with the same keys. Answers whether they are
    /// the same rows. Then the same rows follow, or else all has to be read anew.
    update({ items, next }) {
        const first = this.#pages[0].rows.map(keyOf);
        const isSame = items.length === first.length && items.every((row, place) => keyOf(row) === first[place]);
        const news = new Map(items.map((row) => [keyOf(row), row]));
        for (const page of this.#pages) page.rows &&= page.rows.map((row) => news.get(keyOf(row)) ?? row);
        if (isSame && next !== undefined && this.#pages.length === 1) this.next = next;
        return isSame;
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

/// Whether only a part of a list is in the page.
export function isLong(length) {
    return length > MOST_ROWS;
}

/// The places of the rows that are near a screen, and the room that the others would take before and behind them. The
/// list has that many rows in columns, lines of that size, and its top at that place of the screen.
export function nearRows({ length, columns, line, top, screen }) {
    const lines = Math.ceil(length / columns);
    const near = (screens) => (screens * screen - top) / line / LINES;
    const first = Math.min(Math.max(Math.floor(near(-NEAR_SCREENS)) * LINES, 0), lines - 1);
    const last = Math.min(Math.max(Math.ceil(near(1 + NEAR_SCREENS)) * LINES, first + 1), lines);
    return { places: [first * columns, Math.min(last * columns, length)], room: [first * line, (lines - last) * line] };
}
