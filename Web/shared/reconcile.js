// Lists in the page follow lists in documents, row by row and by id.

const drawn = new WeakMap();

/// Makes the children of `parent` those of `entries`. A row is made once (`make(entry)`), filled when its entry is
/// another object or has another place (`fill(row, entry, place)`), moved without losing its focus or scroll position,
/// and removed with its entry. If it had the focus, a neighbour gets it.
export function reconcile(parent, entries, { id, make, fill }) {
    let rows = drawn.get(parent);
    if (!rows) drawn.set(parent, (rows = new Map()));
    const wanted = new Map(entries.map((entry, place) => [id(entry), place]));

    let orphan = null;
    for (const [key, row] of rows) {
        if (wanted.has(key)) continue;
        if (row.node.contains(document.activeElement)) orphan = focusPath(row.node, parent);
        row.node.remove();
        rows.delete(key);
    }

    // Rows that are in order already stay; the others go to their places.
    const before = new Map([...rows.keys()].map((key, place) => [key, place]));
    const known = entries.map(id).filter((key) => before.has(key));
    const staying = new Set(longestRise(known.map((key) => before.get(key))).map((place) => known[place]));

    const next = new Map();
    let cursor = parent.firstElementChild;
    for (const [place, entry] of entries.entries()) {
        const key = id(entry);
        let row = rows.get(key);
        if (!row) {
            row = { node: make(entry), entry: undefined, place: -1 };
            parent.insertBefore(row.node, cursor);
        } else if (staying.has(key)) {
            // Those between are on their way to places further down.
            while (cursor !== row.node) cursor = cursor.nextElementSibling;
            cursor = cursor.nextElementSibling;
        } else {
            if (cursor === row.node) cursor = cursor.nextElementSibling;
            move(parent, row.node, cursor);
        }
        if (row.entry !== entry || row.place !== place) {
            fill(row.node, entry, place);
            row.entry = entry;
            row.place = place;
        }
        next.set(key, row);
    }
    drawn.set(parent, next);
    if (orphan) refocus(parent, orphan);
}

/// Forgets what was drawn and removes it, so that another kind of rows can be drawn.
export function clear(parent) {
    parent.replaceChildren();
    drawn.delete(parent);
}

function move(parent, node, before) {
    if (parent.moveBefore && node.isConnected) parent.moveBefore(node, before);
    else parent.insertBefore(node, before);
}

function focusPath(row, parent) {
    const focused = document.activeElement;
    const name = focused.dataset.focus;
    return { place: [...parent.children].indexOf(row), selector: name ? `[data-focus="${name}"]` : "a[href], button" };
}

function refocus(parent, { place, selector }) {
    const row = parent.children[Math.min(place, parent.children.length - 1)];
    // `data-focus` marks what may have the focus where a list has no rows left.
    const target = row?.querySelector(selector)
        ?? parent.closest("section, dialog, main")?.querySelector("[data-focus-fallback]")
        ?? document.querySelector("main [data-focus-fallback], main");
    target?.focus({ preventScroll: true });
}

/// The places of a longest rising selection of the numbers, which all differ.
export function longestRise(numbers) {
    const ends = [];
    const previous = new Array(numbers.length);
    for (const [place, number] of numbers.entries()) {
        let low = 0;
        let high = ends.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (numbers[ends[middle]] < number) low = middle + 1;
            else high = middle;
        }
        previous[place] = low > 0 ? ends[low - 1] : -1;
        ends[low] = place;
    }
    const rise = [];
    for (let place = ends.at(-1) ?? -1; place >= 0; place = previous[place]) rise.push(place);
    return rise.reverse();
}
