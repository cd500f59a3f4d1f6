// What is sold out: items and options, for a while or until further notice.

import { get, request } from "../shared/api.js";
import { clockTime, endOfDay, isPast, now } from "../shared/clock.js";
import { clone, refs, say, setHidden, setText } from "../shared/dom.js";
import { reconcile } from "../shared/reconcile.js";
import { openForm } from "../shared/forms.js";

const MOST_ROWS = 100;
const HOUR = 60 * 60 * 1000;

/// The items and options of a menu, as `{kind, id, name, groups, daypart, isThere, until}`: `groups` are those that an item
/// offers, or the one that an option is in.
export function rowsOf(menu) {
    const row = (kind, { id, name, available, availableFrom }, groups, daypart) => (
        { kind, id, name, groups, daypart, isThere: available !== false || isPast(availableFrom), until: availableFrom });
    return [
        ...(menu?.sections ?? []).flatMap(({ items, daypart }) =>
            items.map((item) => row("items", item, item.options ?? [], item.daypart ?? daypart))),
        ...(menu?.groups ?? []).flatMap(({ id, options }) => options.map((option) => row("options", option, [id]))),
    ];
}

/// The rows that somebody looks for: those of an item and its options, or those with a text in their names. What is sold
/// out comes first.
export function found(rows, { item, text }) {
    const groups = rows.find(({ kind, id }) => kind === "items" && id === item)?.groups ?? [];
    const words = text.trim().toLowerCase();
    const isWanted = (row) => (words !== "" || item === null ? row.name.toLowerCase().includes(words)
        : row.kind === "items" ? row.id === item : groups.includes(row.groups[0]));
    return rows.filter(isWanted).sort((a, b) => a.isThere - b.isThere).slice(0, MOST_ROWS);
}

/// Opens the list: of one item and its options, or of all. `place` is the outlet.
export async function openSoldOut(outlet, place, item = null) {
    const { zone } = place;
    const path = `/v1/outlets/${encodeURIComponent(outlet)}`;
    let rows = [];
    // The rows that were found. They stay in their order until somebody looks for others.
    let keys = null;
    const dialog = openForm("sold-out-list");
    const { search, list, none, close } = refs(dialog);
    close.onclick = () => dialog.close();
    search.oninput = () => {
        keys = null;
        draw();
    };
    list.onclick = async ({ target }) => {
        const button = target.closest("button");
        const node = button?.closest("li");
        if (!node) return;
        const { kind, id } = node.dataset;
        const until = { hour: now() + HOUR, today: endOfDay(zone) }[button.value];
        const [step, body] = button.value === "back" ? ["resume", {}]
            : ["suspend", until ? { until: new Date(until).toISOString() } : {}];
        try {
            await request("POST", `${path}/${kind}/${encodeURIComponent(id)}/${step}`, { body });
            await read();
        } catch (error) {
            say(error.message);
        }
    };

    function draw() {
        keys ??= found(rows, { item, text: search.value }).map(keyOf);
        const known = new Map(rows.map((row) => [keyOf(row), row]));
        const shown = keys.map((key) => known.get(key)).filter(Boolean);
        setHidden(none, shown.length > 0);
        reconcile(list, shown, { id: keyOf, make: () => clone("sold-out-row"), fill });
    }

    function fill(node, row) {
        const { name, state, away, back } = refs(node);
        // It comes by itself, and nobody can bring it back.
        const isOff = !row.isThere && place.isOff(row.daypart);
        node.dataset.kind = row.kind;
        node.dataset.id = row.id;
        setText(name, row.name);
        setText(state, row.isThere ? "" : isOff ? "Not at this time of the day" : row.until ? `Sold out until ${clockTime(row.until, zone)}` : "Sold out until further notice");
        setHidden(away, !row.isThere && !isOff);
        setHidden(back, row.isThere || isOff);
    }

    async function read() {
        try {
            rows = rowsOf(await get(`${path}/menu`));
        } catch (error) {
            say(error.message);
        }
        draw();
    }

    await read();
}

function keyOf({ kind, id }) {
    return `${kind} ${id}`;
}
