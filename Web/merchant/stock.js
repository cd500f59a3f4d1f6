// What is counted: how much is left of items and options, and how much orders hold.

import { get } from "../shared/api.js";
import { h, table } from "../shared/build.js";
import { refs, say, setHidden, setText } from "../shared/dom.js";
import { reconcile } from "../shared/reconcile.js";
import { heading, input, keepReading, labelled, openForm, outletPath, readMenu, select, send } from "./parts.js";

const EVERY = 5000;
const ROWS = 100;
// Less than that is few.
const FEW = 5;
const MOST = 1_000_000;

/// What a menu has that can be counted, as `{key, kind, id, name, of}`, with `left` and `held` of what is.
export function stockRows(menu, stock) {
    const counted = new Map(stock.map((each) => [`${each.kind} ${each.id}`, each]));
    const row = (kind, { id, name }, of) => ({ key: `${kind} ${id}`, kind, id, name, of, ...counted.get(`${kind} ${id}`) });
    const rows = [
        ...(menu?.sections ?? []).flatMap(({ title, items }) => items.map((item) => row("item", item, title))),
        ...(menu?.groups ?? []).flatMap(({ title, options }) => options.map((option) => row("option", option, title))),
    ];
    const known = new Set(rows.map(({ key }) => key));
    // What was taken off the menu is counted until somebody says otherwise.
    return [...rows, ...stock.filter(({ kind, id }) => !known.has(`${kind} ${id}`))
        .map((each) => ({ key: `${each.kind} ${each.id}`, name: each.id, of: "no longer on the menu", ...each }))];
}

export async function show(main, parameters, { signal, fail }) {
    const outlet = await get(outletPath(parameters.get("outlet") ?? ""), { signal });
    const path = outletPath(outlet.id);
    let menu = null;
    let stock = { version: 0, stock: [] };
    const search = input({ type: "search", placeholder: "part of a name" });
    const count = h("p", { class: "muted", role: "status", "data-testid": "count" });
    const list = table("stock", ["Name", "In", "Left", "Held by orders", "Count"], []);
    const body = list.querySelector("tbody");
    search.oninput = draw;
    await read();
    main.replaceChildren(...heading(outlet, "stock"),
        h("div", { class: "tools" }, labelled("Search the menu, to count something", search)), count, list);
    keepReading(EVERY, signal, () => read().then(() => fail(null), (error) => signal.aborted || fail(error)));

    async function read() {
        [menu, stock] = await Promise.all([readMenu(outlet.id, signal), get(`${path}/stock`, { signal })]);
        draw();
    }

    function draw() {
        const words = search.value.trim().toLowerCase();
        const all = stockRows(menu, stock.stock);
        const rows = all.filter(({ name, id, left }) => (words === "" ? left !== undefined
            : name.toLowerCase().includes(words) || id.toLowerCase().includes(words)));
        const low = all.filter(({ left }) => left !== undefined && left < FEW).length;
        setText(count, words !== "" ? `${rows.length} of ${all.length} found`
            : rows.length === 0 ? "Nothing is counted." : `${rows.length} counted, ${low} of them low`);
        reconcile(body, rows.slice(0, ROWS), { id: ({ key }) => key, make, fill });
    }

    function make({ key }) {
        return h("tr", { "data-stock": key },
            h("td", { dir: "auto", "data-ref": "name" }), h("td", { dir: "auto", "data-ref": "of" }),
            h("td", {}, h("span", { "data-ref": "left" }), " ", h("strong", { "data-ref": "state" })),
            h("td", { "data-ref": "held" }),
            h("td", {}, h("button", {
                class: "button", type: "button", "data-ref": "edit", "data-focus": "edit",
                click: () => openCount(stockRows(menu, stock.stock).find((row) => row.key === key)),
            }, "Count…")));
    }

    function fill(node, { name, of, left, held }) {
        const parts = refs(node);
        setText(parts.name, name);
        setText(parts.of, of);
        setText(parts.left, left === undefined ? "not counted" : String(left));
        setText(parts.held, held === undefined ? "" : String(held));
        setText(parts.state, left === 0 ? "Nothing left" : left < FEW ? "Few left" : "");
        parts.state.className = left === 0 ? "gone" : "few";
        parts.edit.setAttribute("aria-label", `Count ${name}`);
    }

    function openCount(row) {
        if (!row) return;
        const isCounted = row.left !== undefined;
        const what = select([
            ["count", "So many are left"], ...(isCounted ? [["add", "So many come in addition"], ["none", "It is not counted any more"]] : []),
        ], "count");
        const number = input({ inputmode: "numeric", value: isCounted ? String(row.left) : "" });
        const field = labelled("How many", number);
        what.onchange = () => {
            setHidden(field, what.value === "none");
            number.value = what.value === "count" && isCounted ? String(row.left) : "";
        };
        // A count rests on what was seen: orders take of it meanwhile.
        let seen = { left: row.left, version: stock.version };
        openForm({
            title: row.name, yes: "Count",
            fields: [h("p", {}, isCounted ? `${row.left} are left, and orders hold ${row.held}.` : "It is not counted."), labelled("What", what), field],
            save: async () => {
                const body = {};
                if (what.value !== "none") {
                    const least = what.value === "add" ? 1 : 0;
                    const many = Number(number.value.trim());
                    if (!/^\d{1,7}$/.test(number.value.trim()) || many < least || many > MOST) {
                        throw new Error(`How many: write a whole number from ${least} on.`);
                    }
                    body[what.value] = many;
                }
                const target = `${path}/${row.kind}s/${encodeURIComponent(row.id)}/stock`;
                for (;;) {
                    try {
                        await send("PUT", target, { body, ...(what.value === "add" ? {} : { version: seen.version }) });
                        break;
                    } catch (error) {
                        if (error.code !== "CONFLICT") throw error;
                    }
                    await read();
                    const left = stock.stock.find(({ kind, id }) => kind === row.kind && id === row.id)?.left;
                    const isSame = left === seen.left;
                    seen = { left, version: stock.version };
                    if (!isSame) throw new Error(`Meanwhile ${left === undefined ? "it is not counted" : `${left} are left`}. Say it again if it still holds.`);
                }
                await read();
                say(`${row.name}: counted.`);
                return true;
            },
        });
    }
}
