// What the pages say.

import { clone, refs, setAttribute, setHidden, setText } from "../shared/dom.js";
import { icon } from "../shared/icons.js";

/// The server's texts begin like parts of a sentence.
export function sentence(text) {
    return text === "" ? "" : `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

/// `shoeSize` for people.
export function spaced(name) {
    const words = name.replace(/[._:-]+/g, " ").replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
    return words[0]?.toUpperCase() + words.slice(1);
}

const number = new Intl.NumberFormat(undefined, { maximumFractionDigits: 6 });

/// The value of an attribute for people.
export function spoken(value) {
    if (Array.isArray(value)) return value.join(", ");
    if (typeof value === "boolean") return value ? "yes" : "no";
    return typeof value === "number" ? number.format(value) : value;
}

export function plural(count, one, many) {
    return `${number.format(count)} ${count === 1 ? one : many}`;
}

/// Says why there is nothing to show: `texts` are a title and a sentence, null where there is something. Answers the new
/// element, or null where the same was said before. `level` is that of the heading: 1 where the page has no other.
export function drawBlank(place, mark, texts, level = 2) {
    setHidden(place, !texts);
    const said = JSON.stringify(texts ?? null);
    if (place.dataset.said === said) return null;
    place.dataset.said = said;
    place.replaceChildren();
    if (!texts) return null;
    const blank = clone("blank");
    const { title, text } = refs(blank);
    if (mark) blank.prepend(icon(mark));
    setText(title, texts[0]);
    setAttribute(title, "aria-level", level);
    setText(text, texts[1]);
    place.append(blank);
    return blank;
}
