import { h } from "./build.js";

/// Asks before something is done, and answers whether it is wanted. Where it cannot be undone, `word` has to be typed.
export function ask({ title, text, yes, word = null }) {
    const typed = word === null ? null : h("input", {
        class: "field code", autocomplete: "off", autocapitalize: "none", spellcheck: "false",
        "aria-describedby": "question-problem",
    });
    const problem = h("p", { class: "gone", id: "question-problem", role: "alert" });
    const form = h("form", { method: "dialog", submit: check },
        h("h2", { id: "question-title" }, title),
        ...[text].flat().map((each) => h("p", {}, each)),
        typed ? h("label", {}, h("span", {}, "Type ", h("strong", { class: "code" }, word), " to go on"), typed) : null,
        typed ? problem : null,
        h("p", { class: "chips" },
            h("button", { class: "button main", value: "yes" }, yes),
            h("button", { class: "button", type: "button", click: () => dialog.close("no") }, "Cancel")));
    const dialog = h("dialog", { "aria-labelledby": "question-title" }, form);
    document.body.append(dialog);
    dialog.showModal();
    return new Promise((resolve) => {
        dialog.addEventListener("close", () => {
            dialog.remove();
            resolve(dialog.returnValue === "yes");
        }, { once: true });
    });

    function check(event) {
        if (!typed || typed.value.trim() === word) return;
        event.preventDefault();
        problem.textContent = `This is not ${word}.`;
        typed.focus();
    }
}
