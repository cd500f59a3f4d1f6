// The forms of a menu's parts. A field that nobody touches leaves what it stands for as it is.

import { h } from "../shared/build.js";
import { setText } from "../shared/dom.js";
import { major } from "../shared/money.js";
import { idField, idOf, input, labelled, minor, openForm, select } from "./parts.js";
import { problemWith, store } from "./pictures.js";

const KINDS = [["menuItem", "Dish"], ["promo", "Offer"], ["dessert", "Dessert"], ["badge", "Badge"]];
const SECTION_KINDS = [["menuItems", "A list"], ["promotions", "Cards for offers"], ["desserts", "Cards for desserts"]];
const LAYOUTS = [["", "As its kind"], ["list", "A list"], ["horizontalCard", "Cards side by side"], ["grid", "A grid"]];
const SERVICES = { pickup: "Price at pickup", delivery: "Price of delivery", table: "Price at a table" };

/// Fields of a form, each for a path of the document such as `price` or `prices.delivery`.
class Fields {
    #all = [];
    nodes = [];

    constructor(document) {
        this.document = document ?? {};
    }

    add(path, label, { node, shown = (value) => String(value ?? ""), read = (text) => text || undefined, hint = null }) {
        const value = at(this.document, path);
        const text = shown(value);
        if (node.type === "checkbox") node.checked = value === true;
        else node.value = text;
        const state = () => (node.type === "checkbox" ? node.checked : node.value.trim());
        this.#all.push({ path, label, read, state, first: state() });
        this.nodes.push(labelled(label, node, hint));
        return node;
    }

    text(path, label, attributes = {}) {
        return this.add(path, label, { node: input(attributes), hint: attributes.hint ?? null });
    }

    long(path, label) {
        return this.add(path, label, { node: h("textarea", { class: "field", rows: 3, maxlength: 2000, dir: "auto" }) });
    }

    choice(path, label, choices) {
        return this.add(path, label, { node: select(choices, null) });
    }

    check(path, label) {
        return this.add(path, label, { node: h("input", { type: "checkbox" }), read: (isChecked) => isChecked || undefined });
    }

    number(path, label, attributes = {}) {
        return this.add(path, label, {
            node: input({ inputmode: "numeric", ...attributes }),
            read: (text) => {
                if (text === "") return undefined;
                if (!/^\d{1,9}$/.test(text)) throw new Error(`${label}: write a whole number.`);
                return Number(text);
            },
        });
    }

    amount(path, label, currency) {
        return this.add(path, label, {
            node: input({ inputmode: "decimal" }),
            shown: (value) => (value === undefined ? "" : major(value, currency)),
            read: (text) => (text === "" ? undefined : minor(text, currency, label)),
        });
    }

    list(path, label) {
        return this.add(path, label, {
            node: input({}), shown: (value) => (value ?? []).join(", "),
            read: (text) => text.split(",").map((each) => each.trim()).filter(Boolean), hint: "With commas between them",
        });
    }

    /// Objects, one a line: what they have of some keys with blanks between them, the last of which may have blanks itself.
    rows(path, label, keys, hint) {
        return this.add(path, label, {
            node: h("textarea", { class: "field", rows: 2, dir: "auto", spellcheck: "false" }), hint,
            shown: (value) => (value ?? []).map((each) => keys.map((key) => each[key]).filter(Boolean).join(" ")).join("\n"),
            read: (text) => text.split("\n").map((line) => line.trim()).filter(Boolean).map((line) => {
                const words = line.split(/\s+/);
                const values = keys.map((_, index) => (index < keys.length - 1 ? words[index] : words.slice(index).join(" ")));
                return Object.fromEntries(keys.map((key, index) => [key, values[index]]).filter(([, value]) => value));
            }),
        });
    }

    /// The document as the form has it.
    result() {
        const result = structuredClone(this.document);
        for (const { path, read, state, first } of this.#all) if (state() !== first) put(result, path, read(state()));
        return result;
    }
}

function at(document, path) {
    return path.split(".").reduce((value, key) => value?.[key], document);
}

function put(document, path, value) {
    const [first, second] = path.split(".");
    if (second === undefined) document[first] = value;
    else document[first] = { ...document[first], [second]: value };
}

/// A field for a place from 1 on.
function placeField(first, most) {
    const field = input({ inputmode: "numeric", value: String(first) });
    const read = () => {
        const text = field.value.trim();
        if (text === String(first)) return null;
        if (!/^\d{1,5}$/.test(text) || Number(text) < 1) throw new Error("Place: write a number from 1 on.");
        return Math.min(Number(text), most()) - 1;
    };
    return { node: labelled("Place", field), read };
}

function removal(menu, { kind, id, name, base }, close, done) {
    if (base === null) return [];
    return [h("button", {
        class: "button", type: "button", click: async ({ target }) => {
            try {
                if (!await menu.change({ kind, id, name, base, mine: null })) return;
                close();
                done(true);
            } catch (error) {
                target.closest("form").querySelector("[role=alert]").textContent = error.message;
            }
        },
    }, "Remove")];
}

/// What an item has that few items have.
const MORE = [
    "cuisine", "tags", "imageSmall", "imageLarge", "maxQuantity", "tax", "daypart", "combo", "promotion", "images", "links", "attributes",
];

/// Opens the form of an item, or of a new one in a section.
export function itemForm(menu, id, sectionID, done) {
    const { currency, services, taxes, dayparts } = menu.outlet;
    const base = id === null ? null : menu.find("item", id);
    if (id !== null && base === null) return;
    const fields = new Fields(base ?? { kind: "menuItem", section: sectionID });
    const name = fields.text("name", "Name", { maxlength: 200 });
    fields.amount("price", "Price", currency);
    for (const service of Object.keys(services ?? {})) fields.amount(`prices.${service}`, SERVICES[service] ?? service, currency);
    fields.choice("kind", "Kind", KINDS);
    fields.long("description", "Description");
    const section = fields.choice("section", "Section", menu.sections.map((each) => [each.id, each.title]));
    const isTaken = (text) => menu.find("item", text) !== null;
    const own = id === null ? idField(name, isTaken) : null;
    const now = id === null ? null : menu.placeOf("item", id);
    const place = now && placeField(now.place + 1, () => menu.placeOf("item", id, section.value).list.length + (section.value === base.section ? 0 : 1));
    const rest = new Fields(base ?? {});
    rest.text("cuisine", "Cuisine", { maxlength: 300 });
    rest.list("tags", "Tags");
    const small = rest.text("imageSmall", "Address of the small picture", { inputmode: "url", maxlength: 2000 });
    const large = rest.text("imageLarge", "Address of the large picture", { inputmode: "url", maxlength: 2000 });
    const picture = pictureField(menu.outlet.id, small, large);
    rest.number("maxQuantity", "Most in an order", { maxlength: 2 });
    if ((taxes ?? []).length > 0) rest.choice("tax", "Tax", [["", "The first of the outlet"], ...taxes.map((tax) => [tax.id, tax.name])]);
    if (dayparts) rest.choice("daypart", "Part of the day", [["", "That of its section"], ...dayparts.map(({ id }) => [id, id])]);
    const groups = chosenGroups(menu, base?.options ?? []);
    rest.check("combo", "Combo of its options");
    rest.add("promotion", "Promotion that it shows", { node: input({ maxlength: 64 }), hint: "The id of one of the outlet’s" });
    rest.rows("images", "More pictures", ["url", "alt"], "One a line: the address, and words for who cannot see it");
    rest.rows("links", "Links", ["rel", "url", "title"], "One a line: what it is, such as “video”, the address, and a title");
    rest.add("attributes", "Attributes", {
        node: h("textarea", { class: "field", rows: 4, dir: "auto", spellcheck: "false" }), shown: shownAttributes,
        read: readAttributes, hint: "One a line, as “allergens: nuts; milk”",
    });
    const dialog = openForm({
        title: base?.name ?? "A new item", yes: id === null ? "Add…" : "Change…",
        fields: [...fields.nodes, place?.node ?? own.node, picture, groups.node, h("details", {}, h("summary", {}, "More"), h("div", { class: "fields" }, rest.nodes))],
        more: removal(menu, { kind: "item", id, name: base?.name, base }, () => dialog.close(), done),
        save: async () => {
            const mine = fields.result();
            const more = rest.result();
            for (const key of MORE) mine[key] = more[key];
            if (groups.isChanged()) mine.options = groups.read();
            if (!mine.name) throw new Error("Name: it needs one.");
            for (const address of [mine.imageSmall, mine.imageLarge]) if (problemWith(address)) throw new Error(`Picture: ${problemWith(address)}`);
            const isMade = await menu.change({
                kind: "item", id: id ?? own.read(), name: mine.name, base, mine: full(mine), place: place?.read() ?? null,
            });
            done(isMade);
            return isMade;
        },
    });
}

/// A field for the file of a picture, which is stored at once; its addresses are sent with the item.
function pictureField(outlet, small, large) {
    const shown = h("img", {
        class: "picture", alt: "", hidden: small.value === "", src: small.value || null, error: () => { shown.hidden = true; },
    });
    const said = h("p", { role: "status" });
    const file = h("input", {
        type: "file", class: "field", accept: "image/jpeg,image/png,image/webp", change: async () => {
            const [chosen] = file.files;
            if (!chosen) return;
            setText(said, "It is being stored…");
            try {
                const { imageSmall, imageLarge } = await store(outlet, chosen);
                [small.value, large.value, shown.src, shown.hidden] = [imageSmall, imageLarge, imageSmall, false];
                setText(said, "The picture is stored. It is shown once the item is changed.");
            } catch (error) {
                setText(said, error.message);
            }
        },
    });
    return h("div", {}, labelled("Picture from a file", file), shown, said);
}

// Members without a value are left out.
function full(part) {
    return JSON.parse(JSON.stringify(part));
}

function chosenGroups(menu, chosen) {
    const boxes = menu.groups.map(({ id, title }) => ({
        id, box: h("input", { type: "checkbox", checked: chosen.includes(id) }), title,
    }));
    const read = () => {
        const wanted = boxes.filter(({ box }) => box.checked).map(({ id }) => id);
        // Those that it had keep their order.
        return [...chosen.filter((id) => wanted.includes(id)), ...wanted.filter((id) => !chosen.includes(id))];
    };
    const node = h("fieldset", { hidden: boxes.length === 0 }, h("legend", {}, "Options"),
        boxes.map(({ box, title }) => h("label", { class: "check" }, box, h("span", { dir: "auto" }, title))));
    return { node, read, isChanged: () => JSON.stringify(read()) !== JSON.stringify(chosen) };
}

function shownAttributes(attributes) {
    return Object.entries(attributes ?? {}).map(([name, value]) => `${name}: ${shownAttribute(value)}`).join("\n");
}

/// An attribute as it is written: a text as it is, a list with semicolons, all else as JSON.
export function shownAttribute(value) {
    if (Array.isArray(value) && value.every((each) => typeof each === "string" && !each.includes(";"))) {
        return `${value.join("; ")}${value.length < 2 ? ";" : ""}`;
    }
    return typeof value === "string" && readAttribute(value) === value ? value : JSON.stringify(value);
}

function readAttributes(text) {
    const result = {};
    for (const line of text.split("\n").map((each) => each.trim()).filter(Boolean)) {
        const colon = line.indexOf(":");
        if (colon < 1) throw new Error(`Attributes: write a name, a colon and a value in place of “${line}”.`);
        result[line.slice(0, colon).trim()] = readAttribute(line.slice(colon + 1).trim());
    }
    return Object.keys(result).length > 0 ? result : undefined;
}

/// What was written as an attribute.
export function readAttribute(text) {
    try {
        const value = JSON.parse(text);
        if (value !== null && (typeof value !== "object" || Array.isArray(value))) return value;
    } catch {
        // It is a text.
    }
    return text.includes(";") ? text.split(";").map((each) => each.trim()).filter(Boolean) : text;
}

/// Opens the form of a section, or of a new one.
export function sectionForm(menu, id, done) {
    const base = id === null ? null : menu.find("section", id);
    if (id !== null && base === null) return;
    const fields = new Fields(base ?? { kind: "menuItems" });
    const title = fields.text("title", "Title", { maxlength: 200 });
    fields.choice("kind", "Kind", SECTION_KINDS);
    fields.choice("layout.style", "Layout", base === null ? LAYOUTS : LAYOUTS.slice(1));
    fields.number("layout.width", "Width of a card, in points");
    fields.number("layout.height", "Height of a card, in points");
    fields.number("layout.minimumWidth", "Least width in a grid, in points");
    fields.check("sticky", "Its header stays while it scrolls");
    const { dayparts } = menu.outlet;
    if (dayparts) fields.choice("daypart", "Part of the day", [["", "Any"], ...dayparts.map(({ id }) => [id, id])]);
    const own = id === null ? idField(title, (text) => menu.find("section", text) !== null) : null;
    const place = id === null ? null
        : placeField(menu.placeOf("section", id).place + 1, () => menu.sections.length);
    const items = id === null ? 0 : menu.placeOf("item", null, id).list.length;
    const dialog = openForm({
        title: base?.title ?? "A new section", yes: id === null ? "Add…" : "Change…",
        fields: [...fields.nodes, place?.node ?? own.node],
        more: removal(menu, { kind: "section", id, name: `${base?.title} with its ${items} items`, base }, () => dialog.close(), done),
        save: async () => {
            const mine = full(fields.result());
            if (!mine.title) throw new Error("Title: it needs one.");
            const { style, width, height, minimumWidth } = mine.layout ?? {};
            // What another style has is left behind.
            if (!style) delete mine.layout;
            else mine.layout = full({ style, ...(style === "horizontalCard" ? { width, height } : style === "grid" ? { minimumWidth } : {}) });
            const isMade = await menu.change({
                kind: "section", id: id ?? own.read(), name: mine.title, base, mine, place: place?.read() ?? null,
            });
            done(isMade);
            return isMade;
        },
    });
}

/// Opens the form of a group of options, or of a new one.
export function groupForm(menu, id, done) {
    const { currency } = menu.outlet;
    const base = id === null ? null : menu.find("group", id);
    if (id !== null && base === null) return;
    const fields = new Fields(base ?? {});
    const title = fields.text("title", "Title", { maxlength: 200 });
    fields.number("min", "At least so many are chosen");
    fields.number("max", "At most so many");
    fields.number("free", "So many are free of charge");
    fields.check("setsPrice", "Sizes: the price of the option is that of the item");
    const own = id === null ? idField(title, (text) => menu.find("group", text) !== null) : null;
    const list = h("ul", { class: "options" });
    let options = (base?.options ?? []).map((option) => optionFields(option));
    const taken = (text) => menu.groups.some((group) => group.id !== id && group.options.some((option) => option.id === text))
        || options.some((each) => each.document.id === text);
    const drawOptions = (focused = null, name = null) => {
        list.replaceChildren(...options.map(({ node }) => node));
        (focused?.node ?? list).querySelector(name ? `[data-focus=${name}]` : "input")?.focus();
    };

    function optionFields(option) {
        const fields = new Fields(option);
        const name = fields.text("name", "Name", { maxlength: 200 });
        fields.amount("price", "Price", currency);
        fields.number("default", "Chosen at first");
        fields.number("max", "At most");
        const each = { document: option, fields, name };
        const move = (by) => {
            const place = options.indexOf(each);
            const to = place + by;
            if (to < 0 || to >= options.length) return;
            options.splice(place, 1);
            options.splice(to, 0, each);
            drawOptions(each, by < 0 ? "up" : "down");
        };
        const step = (title, key, click) => h("button", { class: "button", type: "button", "data-focus": key, click }, title);
        each.node = h("li", {}, h("div", { class: "fields" }, fields.nodes), h("p", { class: "chips" },
            step("Up", "up", () => move(-1)), step("Down", "down", () => move(1)),
            step("Remove the option", "remove", () => {
                const place = options.indexOf(each);
                options.splice(place, 1);
                drawOptions(options[Math.min(place, options.length - 1)]);
            })));
        return each;
    }

    drawOptions();
    const dialog = openForm({
        title: base?.title ?? "A new group of options", yes: id === null ? "Add…" : "Change…",
        fields: [
            ...fields.nodes, own?.node ?? "", h("h3", {}, "Its options"), list,
            h("p", {}, h("button", {
                class: "button", type: "button", click: () => {
                    const added = optionFields({});
                    options.push(added);
                    drawOptions(added);
                },
            }, "Add an option")),
        ],
        more: removal(menu, { kind: "group", id, name: base?.title, base }, () => dialog.close(), done),
        save: async () => {
            const mine = fields.result();
            if (!mine.title) throw new Error("Title: it needs one.");
            if (options.length === 0) throw new Error("A group needs an option.");
            mine.options = options.map((each) => {
                const option = each.fields.result();
                if (!option.name) throw new Error("Each option needs a name.");
                // It is kept, so that it is the same when this is tried again.
                each.document.id ??= idOf(option.name, taken);
                return { id: each.document.id, ...option };
            });
            const isMade = await menu.change({ kind: "group", id: id ?? own.read(), name: mine.title, base, mine: full(mine) });
            done(isMade);
            return isMade;
        },
    });
}
