// Forms above the page, each a template.

import { clone, refs, setText } from "./dom.js";
import { raise } from "./layers.js";

/// A dialog with a form, which `prepare(parts)` fills. It goes when it is closed.
export function openForm(template, prepare = (_) => {}) {
    const dialog = clone(template);
    prepare(refs(dialog));
    document.body.append(dialog);
    dialog.addEventListener("close", () => dialog.remove(), { once: true });
    raise(dialog);
    return dialog;
}

/// Asks, and answers `{value, parts}`: the button that closed the form, and its fields. Null if it was left.
export function askForm(template, prepare) {
    const dialog = openForm(template, prepare);
    return new Promise((resolve) => {
        dialog.addEventListener("close", () => {
            const { returnValue: value } = dialog;
            resolve(value === "" || value === "no" ? null : { value, parts: refs(dialog) });
        }, { once: true });
    });
}

/// Asks what is to be left of an order's lines, with a word about what follows. Answers the change, or null for none.
export async function askChange(lines, word) {
    const fields = lines.map(({ line, name, quantity }) => {
        const node = clone("change-line");
        const parts = refs(node);
        setText(parts.name, name);
        for (let left = quantity; left >= 0; left--) parts.left.append(new Option(left === 0 ? "none" : `${left} of ${quantity}`, String(left)));
        return { node, line, quantity, left: () => Number(parts.left.value) };
    });
    const changed = () => fields.filter(({ quantity, left }) => left() < quantity);
    const form = await askForm("change-form", (parts) => {
        parts.lines.append(...fields.map(({ node }) => node));
        setText(parts.word, word);
        parts.form.onsubmit = (event) => {
            if (event.submitter?.value === "no") return;
            const problem = changed().length === 0 ? "Say first of what there is to be less."
                : fields.every(({ left }) => left() === 0) ? "Nothing would be left: cancel the order." : "";
            if (problem !== "") event.preventDefault();
            setText(parts.problem, problem);
        };
    });
    return form && { lines: changed().map(({ line, left }) => ({ line, quantity: left() })) };
}
