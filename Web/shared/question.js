// A question before something that cannot be taken back. How it looks is in the page's template.

import { clone, refs, setAttribute, setText } from "./dom.js";
import { raise } from "./layers.js";

let open = 0;

/// Whether a question waits for its answer.
export function isAsking() {
    return open > 0;
}

/// Asks, and answers whether it is wanted. `texts` say more, and `word` has to be typed, if there is one. `no` keeps what
/// there is.
export function ask({ title, texts = [], yes, no = "Cancel", word = null }) {
    const dialog = clone("question");
    const parts = refs(dialog);
    setText(parts.title, title);
    const paragraphs = texts.map((text, place) => {
        const paragraph = document.createElement("p");
        paragraph.id = `question-text-${place}`;
        paragraph.textContent = text;
        return paragraph;
    });
    parts.title.after(...paragraphs);
    setAttribute(dialog, "aria-describedby", paragraphs.map(({ id }) => id).join(" ") || null);
    setText(parts.yes, yes);
    setText(parts.no, no);
    if (word === null) {
        parts.typing?.remove();
        parts.problem?.remove();
    } else expect(word, parts);
    document.body.append(dialog);
    raise(dialog);
    open += 1;
    return new Promise((resolve) => {
        dialog.addEventListener("close", () => {
            dialog.remove();
            open -= 1;
            resolve(dialog.returnValue === "yes");
        }, { once: true });
    });
}

function expect(expected, { form, word, typed, problem }) {
    setText(word, expected);
    form.onsubmit = (event) => {
        if (event.submitter?.value === "no" || typed.value.trim() === expected) return;
        event.preventDefault();
        setText(problem, `This is not ${expected}.`);
        typed.focus();
    };
}
