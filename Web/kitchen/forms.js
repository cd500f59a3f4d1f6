// Forms above the board, each a template.

import { clone, refs } from "../shared/dom.js";
import { raise } from "../shared/layers.js";

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
