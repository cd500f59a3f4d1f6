import { clone, refs } from "../shared/dom.js";

/// Whether a question waits for its answer.
export function isAsking() {
    return document.getElementById("question").open;
}

/// Asks before something that cannot be taken back, and answers whether it is wanted.
export function ask(text, yes) {
    const dialog = document.getElementById("question");
    const box = clone("question-box");
    refs(box).text.textContent = text;
    refs(box).yes.textContent = yes;
    dialog.replaceChildren(box);
    dialog.returnValue = "no";
    dialog.showModal();
    return new Promise((resolve) => {
        dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
    });
}
