// What a place needs to know before it takes an order, each with a field: texts of the customer, and a table.

import { setHidden } from "../shared/dom.js";
import { remember, remembered } from "../shared/memory.js";

const TEXTS = ["name", "phone", "address"];

export class Needs {
    #parts;
    #required = [];
    #table = "";

    /// `parts` has the fields. `changed()` is called while somebody types, and `seated(table)` when they have named one.
    constructor(parts, { changed, seated }) {
        this.#parts = parts;
        parts.needs.oninput = changed;
        parts.table.onchange = ({ target }) => seated(target.value.trim());
        this.#fill(remembered("texts"));
    }

    /// Draws the fields for what is `required`. The table is that of the cart.
    draw(required, table = null) {
        this.#required = required;
        this.#table = table ?? "";
        setHidden(this.#parts.needs, required.length === 0);
        for (const need of [...TEXTS, "table"]) setHidden(this.#parts[`${need}Field`], !required.includes(need));
        setHidden(this.#parts.keepField, !this.#asksTexts);
        const { table: field } = this.#parts;
        // Whoever is typing goes on.
        if (field !== document.activeElement) field.value = this.#table;
    }

    /// What the customer says, by name.
    get texts() {
        return Object.fromEntries(
            TEXTS.filter((need) => this.#required.includes(need)).map((need) => [need, this.#parts[need].value.trim()]));
    }

    /// What is missing, as a sentence, or an empty text.
    get missing() {
        const said = { ...this.texts, table: this.#table };
        const missing = this.#required.filter((need) => !said[need]);
        return missing.length === 0 ? "" : `The place needs to know your ${missing.join(" and your ")}.`;
    }

    /// Remembers the texts for the next order, if that is wanted, and otherwise forgets those of earlier ones.
    keep() {
        if (!this.#asksTexts) return;
        const texts = Object.fromEntries(TEXTS.map((need) => [need, this.#parts[need].value.trim()]));
        remember("texts", this.#parts.keep.checked ? texts : null);
    }

    /// Empties the fields.
    forget() {
        this.#fill(null);
    }

    get #asksTexts() {
        return TEXTS.some((need) => this.#required.includes(need));
    }

    #fill(texts) {
        for (const need of TEXTS) this.#parts[need].value = texts?.[need] ?? "";
        this.#parts.keep.checked = texts !== null;
    }
}
