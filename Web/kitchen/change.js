// What is missing of an order: a change that its customer agrees to, or has agreed to beforehand.

import { clone, refs, setHidden, setText } from "../shared/dom.js";
import { askForm } from "./forms.js";

const WISHES = {
    remove: "The customer wants what is missing to be left out.",
    replace: "The customer wants something else in place of what is missing.",
    cancel: "The customer wants no order if something is missing: then it is cancelled.",
};

/// Asks what there is of an order's lines. Answers the change, or null for none.
export async function askChange({ lines, missing }) {
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
        setText(parts.wish, WISHES[missing] ?? "The customer is asked.");
        setHidden(parts.wish, false);
        parts.form.onsubmit = (event) => {
            if (event.submitter?.value === "no") return;
            const problem = changed().length === 0 ? "Say first what is missing."
                : fields.every(({ left }) => left() === 0) ? "Nothing would be left: cancel the order." : "";
            if (problem !== "") event.preventDefault();
            setText(parts.problem, problem);
        };
    });
    return form && { lines: changed().map(({ line, left }) => ({ line, quantity: left() })) };
}
