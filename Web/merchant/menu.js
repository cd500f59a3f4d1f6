// The menu of an outlet: its sections with their items, and its groups of options.

import { get } from "../shared/api.js";
import { h, keep } from "../shared/build.js";
import { isPast } from "../shared/clock.js";
import { drawing, refs, setAttribute, setHidden, setText } from "../shared/dom.js";
import { isOff } from "../shared/hours.js";
import { money } from "../shared/money.js";
import { reconcile } from "../shared/reconcile.js";
import { groupForm, itemForm, sectionForm } from "./menu-forms.js";
import { MenuState } from "./menu-state.js";
import { heading, input, keepReading, labelled, outletPath } from "./parts.js";

const EVERY = 10_000;
// So many items are drawn at once, of a section and of all that was found.
const ROWS = 100;
const MOST_FOUND = 200;
// A menu of more items begins with its sections closed.
const SMALL = 150;

export async function show(main, parameters, { signal, fail }) {
    const outlet = await get(outletPath(parameters.get("outlet") ?? ""), { signal });
    const menu = new MenuState(outlet, signal);
    await menu.read();
    const text = () => search.value.trim().toLowerCase();
    const open = new Set();
    // How many rows of a section are drawn.
    const rows = new Map();

    const search = input({ type: "search", value: parameters.get("text") ?? "", placeholder: "part of a name or id" });
    const count = h("p", { class: "muted", role: "status", "data-testid": "count" });
    const list = h("ul", { class: "sections", "data-testid": "sections" });
    const groups = h("ul", { class: "rows", "data-testid": "groups" });
    const draw = drawing(drawNow);
    const changed = (isMade) => isMade && draw();
    openFirst();
    drawNow();
    main.replaceChildren(
        ...heading(outlet, "menu"),
        h("div", { class: "tools" }, labelled("Search", search),
            button("Add a section", () => sectionForm(menu, null, changed))),
        count, list,
        h("h2", {}, "Options"), groups,
        h("p", {}, button("Add a group of options", () => groupForm(menu, null, changed))));

    search.oninput = () => {
        keep("menu", { outlet: outlet.id, text: search.value.trim() });
        draw();
    };
    keepReading(EVERY, signal, async () => {
        try {
            if (await menu.read()) draw();
            fail(null);
        } catch (error) {
            if (!signal.aborted) fail(error);
        }
    });

    function button(title, click) {
        return h("button", { class: "button", type: "button", click }, title);
    }

    function openFirst() {
        let total = 0;
        for (const { id, items } of menu.sections) {
            total += items.length;
            if (total <= SMALL || open.size === 0) open.add(id);
        }
    }

    function drawNow() {
        const words = text();
        let left = MOST_FOUND;
        let total = 0;
        let found = 0;
        const shown = menu.sections.map((section) => {
            const matching = words === "" ? section.items : section.items.filter((item) =>
                item.name.toLowerCase().includes(words) || item.id.toLowerCase().includes(words));
            total += section.items.length;
            found += matching.length;
            const isOpen = words === "" ? open.has(section.id) : matching.length > 0;
            const most = words === "" ? rows.get(section.id) ?? ROWS : left;
            const items = isOpen ? matching.slice(0, most) : [];
            if (words !== "") left -= items.length;
            return { section, items, isOpen, rest: isOpen ? matching.length - items.length : 0, matching: matching.length };
        });
        setText(count, words === "" ? `${total} items in ${menu.sections.length} ${menu.sections.length === 1 ? "section" : "sections"}` : `${found} of ${total} items`);
        reconcile(list, words === "" ? shown : shown.filter(({ matching }) => matching > 0),
            { id: ({ section }) => section.id, make: makeSection, fill: fillSection });
        reconcile(groups, menu.groups, { id: ({ id }) => id, make: makeGroup, fill: fillGroup });
    }

    function makeSection({ section: { id } }) {
        return h("li", { class: "section", "data-section": id },
            h("header", {},
                h("h2", {}, h("button", {
                    class: "plain", type: "button", "data-ref": "title", "data-focus": "title", dir: "auto", click: () => {
                        if (!open.delete(id)) open.add(id);
                        draw();
                    },
                })),
                h("p", { class: "chips" },
                    h("button", {
                        class: "button", type: "button", "data-ref": "edit", "data-focus": "edit",
                        click: () => sectionForm(menu, id, changed),
                    }, "Section…"),
                    h("button", {
                        class: "button", type: "button", "data-focus": "add",
                        click: () => {
                            open.add(id);
                            itemForm(menu, null, id, changed);
                        },
                    }, "Add an item"))),
            h("ul", { class: "rows", "data-ref": "rows" }),
            h("p", { "data-ref": "rest", hidden: true }, h("button", {
                class: "button", type: "button", "data-ref": "more", "data-focus": "more", click: () => {
                    rows.set(id, (rows.get(id) ?? ROWS) + MOST_FOUND);
                    draw();
                },
            })));
    }

    function fillSection(node, { section, items, isOpen, rest }) {
        const { title, edit, rows: list, rest: paragraph, more } = refs(node);
        setText(title, `${section.title} (${section.items.length})`);
        setAttribute(title, "aria-expanded", isOpen);
        setAttribute(edit, "aria-label", `Change the section ${section.title}`);
        reconcile(list, items, { id: ({ id }) => id, make: makeItem, fill: fillItem });
        setHidden(paragraph, rest === 0);
        setText(more, text() === "" ? `${rest} more` : `${rest} more: search for more of the name`);
    }

    function makeItem({ id }) {
        return h("li", { "data-item": id },
            h("button", {
                class: "plain", type: "button", "data-ref": "name", "data-focus": "name", dir: "auto",
                click: () => itemForm(menu, id, null, changed),
            }),
            h("span", { class: "gone", "data-ref": "state" }),
            h("span", { class: "money", "data-ref": "price" }));
    }

    function fillItem(node, item) {
        const { name, state, price } = refs(node);
        const isThere = item.available !== false || (item.availableFrom && isPast(item.availableFrom));
        setText(name, item.name);
        setText(state, isThere ? "" : isOff(daypartOf(item), outlet) ? "Not at this time of the day" : "Sold out");
        setText(price, item.price == null ? "" : `${item.from ? "from " : ""}${money(item.price, outlet.currency)}`);
    }

    function daypartOf(item) {
        return item.daypart ?? menu.sections.find(({ items }) => items.includes(item))?.daypart;
    }

    function makeGroup({ id }) {
        return h("li", { "data-group": id },
            h("button", {
                class: "plain", type: "button", "data-ref": "title", "data-focus": "title", dir: "auto",
                click: () => groupForm(menu, id, changed),
            }),
            h("span", { class: "muted", "data-ref": "options", dir: "auto" }));
    }

    function fillGroup(node, group) {
        const { title, options } = refs(node);
        setText(title, group.title);
        setText(options, group.options.map(({ name }) => name).join(", "));
    }
}
