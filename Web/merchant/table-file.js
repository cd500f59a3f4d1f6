// Menus as comma-separated values (RFC 4180): a line for each item, and a column for each field.

import { major } from "../shared/money.js";
import { editable, isSame } from "./changes.js";
import { readAttribute, shownAttribute } from "./menu-forms.js";
import { idOf, minor } from "./parts.js";

const TEXTS = ["kind", "name", "description", "cuisine", "imageSmall", "imageLarge", "tax", "daypart", "promotion"];
const LISTS = ["tags", "options"];
// These are written as JSON.
const VALUES = ["combo", "images", "links"];
const COLUMNS = ["section", "id", ...TEXTS, "price", ...LISTS, "maxQuantity", ...VALUES];

/// The rows of a file, each `{line, values}`. Semicolons separate as well, as spreadsheets write them in some countries.
export function rowsOf(text) {
    const source = text.replace(/^\uFEFF/, "");
    const head = source.slice(0, source.indexOf("\n") < 0 ? undefined : source.indexOf("\n"));
    const comma = head.includes(";") && !head.includes(",") ? ";" : ",";
    const rows = [];
    let [line, begin] = [1, 1];
    let values = [];
    let value = "";
    let isQuoted = false;
    for (let place = 0; place <= source.length; place++) {
        const sign = source[place];
        if (sign === "\n") line += 1;
        if (isQuoted && sign !== undefined) {
            if (sign !== '"') value += sign;
            else if (source[place + 1] === '"') value += source[place++];
            else isQuoted = false;
        } else if (sign === '"' && value === "") isQuoted = true;
        else if (sign === comma) {
            values.push(value);
            value = "";
        } else if (sign === "\n" || sign === undefined) {
            values.push(value.replace(/\r$/, ""));
            if (values.some((each) => each !== "")) rows.push({ line: begin, values });
            [values, value, begin] = [[], "", line];
        } else value += sign;
    }
    return rows;
}

/// The items of a menu as a file.
export function fileOf({ sections }, currency) {
    const items = sections.flatMap((section) => section.items.map((item) => ({ id: item.id, ...editable(item), section: section.title })));
    const names = [...new Set(items.flatMap(({ attributes }) => Object.keys(attributes ?? {})))].sort();
    const ways = [...new Set(items.flatMap(({ prices }) => Object.keys(prices ?? {})))].sort();
    const head = [...COLUMNS, ...ways.map((way) => `prices.${way}`), ...names.map((name) => `attributes.${name}`)];
    const amount = (value) => (value === undefined ? "" : major(value, currency));
    const rows = items.map((item) => [
        ...COLUMNS.map((column) => (column === "price" ? amount(item.price)
            : LISTS.includes(column) ? (item[column] ?? []).join("; ")
            : VALUES.includes(column) ? JSON.stringify(item[column]) ?? "" : item[column] ?? "")),
        ...ways.map((way) => amount(item.prices?.[way])),
        ...names.map((name) => (item.attributes?.[name] === undefined ? "" : shownAttribute(item.attributes[name]))),
    ]);
    const quoted = (value) => (/[",;\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
    return [head, ...rows].map((row) => `${row.map(quoted).join(",")}\r\n`).join("");
}

/// What a file makes of a menu: `{menu, mistakes, lines}`. What it has no column for stays as it is; items that it does not
/// name stay as well, unless `isWhole`. `mistakes` are `{line, text}`, and `lines` has the line of each item.
export function menuOf(text, before, currency, { isWhole }) {
    const [head, ...rows] = rowsOf(text);
    const mistakes = [];
    const lines = new Map();
    if (!head) return { menu: before, mistakes: [{ line: 1, text: "The file is empty." }], lines };
    const columns = head.values.map((each) => each.trim());
    const known = (column) => COLUMNS.includes(column) || /^(prices|attributes)\../.test(column);
    for (const column of columns.filter((each) => !known(each))) mistakes.push({ line: 1, text: `There is no field ${column}.` });
    if (!columns.includes("id") && !columns.includes("name")) mistakes.push({ line: 1, text: "It needs a column id or name." });
    const sections = before.sections.map((section) => ({ ...section, items: [...section.items] }));
    const places = new Map(sections.flatMap((section) => section.items.map((item) => [item.id, section])));
    if (mistakes.length > 0) return { menu: before, mistakes, lines };
    for (const { line, values } of rows) {
        try {
            if (values.length > columns.length) throw new Error("It has more values than there are columns.");
            const row = Object.fromEntries(columns.map((column, place) => [column, (values[place] ?? "").trim()]));
            take(row, line);
        } catch (error) {
            mistakes.push({ line, text: error.message });
        }
    }
    for (const section of sections) {
        if (isWhole) section.items = section.items.filter(({ id }) => lines.has(id));
    }
    return { menu: { ...before, sections }, mistakes, lines };

    function take(row, line) {
        const id = row.id || idOf(row.name ?? "", (text) => lines.has(text));
        if (lines.has(id)) throw new Error(`${id} is in line ${lines.get(id)} already.`);
        const old = places.get(id)?.items.find((item) => item.id === id);
        /** @type {any} */
        const item = old ? { id, ...editable(old) } : { id, kind: "menuItem" };
        for (const [column, value] of Object.entries(row)) set(item, column, value);
        if (!item.name) throw new Error("name: it needs one.");
        const section = row.section ? sectionOf(row.section) : places.get(id);
        if (!section) throw new Error("section: a new item needs one.");
        lines.set(id, line);
        if (places.get(id) === section) {
            // The same object says that nothing has changed.
            if (!isSame(item, { id, ...editable(old) })) section.items[section.items.indexOf(old)] = item;
        } else {
            const from = places.get(id);
            if (from) from.items = from.items.filter((each) => each !== old);
            section.items.push(item);
            places.set(id, section);
        }
    }

    function sectionOf(name) {
        const found = sections.find(({ id, title }) => title === name || id === name);
        if (found) return found;
        const added = { id: idOf(name, (text) => sections.some(({ id }) => id === text)), title: name, kind: "menuItems", items: [] };
        sections.push(added);
        return added;
    }

    function set(item, column, value) {
        const [first, second] = [column.split(".", 1)[0], column.slice(column.indexOf(".") + 1)];
        if (column === "section" || column === "id") return;
        if (first !== column) {
            const read = first === "prices" ? (text) => minor(text, currency, column) : readAttribute;
            const { [second]: _, ...others } = item[first] ?? {};
            item[first] = value === "" ? others : { ...others, [second]: read(value) };
        } else if (value === "") {
            if (column !== "kind") delete item[column];
        } else if (column === "price") item.price = minor(value, currency, column);
        else if (column === "maxQuantity") {
            if (!/^\d{1,2}$/.test(value)) throw new Error("maxQuantity: write a number from 1 to 99.");
            item.maxQuantity = Number(value);
        } else if (VALUES.includes(column)) {
            try {
                item[column] = JSON.parse(value);
            } catch {
                throw new Error(`${column}: write it as JSON.`);
            }
        } else item[column] = LISTS.includes(column) ? value.split(/[;,]/).map((each) => each.trim()).filter(Boolean) : value;
    }
}
