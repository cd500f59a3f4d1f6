// The stored rows of each projection, and what admins do to them and to customers' keys, after a question.

import { Away, request } from "../shared/api.js";
import { say, setAttribute, setHidden, setText } from "../shared/dom.js";
import { ask } from "../shared/question.js";
import { reconcile } from "../shared/reconcile.js";
import { h, table } from "../shared/build.js";
import { parts } from "./parts.js";

// The table of keys is rewritten meanwhile.
const PATIENCE_TO_FORGET = 90_000;

export class Maintenance {
    nodes;
    #isAdmin;
    #rows = h("tbody", { "data-testid": "stored" });
    #state = h("p", { class: "muted", role: "status", "data-testid": "rebuild" });
    #bar = h("progress", { "aria-label": "Progress of the rebuild", hidden: true });
    #answer = h("p", { role: "status", "data-testid": "forgotten" });

    constructor(isAdmin) {
        this.#isAdmin = isAdmin;
        const heads = ["projection", "rows", "generation", "outdated", ...isAdmin ? ["rebuild"] : []];
        const list = table("", heads, []);
        list.querySelector("tbody").replaceWith(this.#rows);
        const name = h("input", {
            class: "field code", name: "customer", maxlength: 64, required: true, autocomplete: "off",
            autocapitalize: "none", spellcheck: "false",
        });
        this.nodes = [h("h2", {}, "Stored rows"), list, this.#state, this.#bar, ...isAdmin ? [
            h("h2", {}, "Forget a customer"),
            h("form", { class: "tools", submit: (event) => {
                event.preventDefault();
                this.#forget(name.value.trim());
            } }, h("label", {}, "Customer", name), h("button", { class: "button" }, "Forget")),
            this.#answer,
        ] : []];
    }

    draw({ projections }) {
        reconcile(this.#rows, stored(projections), {
            id: ({ id }) => id,
            make: ({ id }) => h("tr", {},
                h("td", { class: "code" }), h("td", { class: "number" }), h("td", { class: "number" }), h("td"),
                this.#isAdmin ? h("td", {}, h("button", {
                    class: "button", type: "button", "aria-label": `Rebuild ${id}`, click: () => this.#rebuild(id),
                }, "Rebuild")) : null),
            fill: (node, { id, rows, generations, outdated }) => {
                for (const [place, text] of [id, rows, generations, outdated].entries()) {
                    setText(node.children[place], String(text));
                }
            },
        });
        const { state, projection, partition, position, goal, changed_rows: changed } = parts(projections.rebuild);
        setText(this.#state, {
            running: `${projection} is being rebuilt.`,
            done: `${projection} was rebuilt: ${changed === "0" ? "no row differs"
                : changed === "1" ? "1 row differs" : `${changed} rows differ`} from before.`,
            failed: `${projection} could not be rebuilt: ${projections.rebuild_trouble}`,
        }[state] ?? "");
        setHidden(this.#bar, state !== "running");
        setAttribute(this.#bar, "max", Math.max(1, Number(goal ?? 1)));
        setAttribute(this.#bar, "value", Number(position ?? 0));
        setAttribute(this.#bar, "title", state === "running" ? `partition ${partition}` : null);
    }

    async #rebuild(projection) {
        const isWanted = await ask({
            title: `Rebuild ${projection}?`,
            texts: ["Its stored rows are made anew from the first event of the log, beside those in use. Everybody is "
                + "served meanwhile, and then from the new rows. The old ones are kept until the next rebuild."],
            yes: "Rebuild",
        });
        if (!isWanted) return;
        try {
            await request("POST", `/v1/projections/${encodeURIComponent(projection)}/rebuild`);
            say(`${projection} is being rebuilt.`);
        } catch (error) {
            say(error.message);
        }
    }

    async #forget(customer) {
        if (customer === "") return;
        const isWanted = await ask({
            title: `Forget ${customer}?`,
            texts: [
                "The keys of this customer's notes and names are destroyed. Nobody can read them any more, now or in "
                    + "the past, and nothing is taken in this customer's name again. What was ordered stays.",
                "This cannot be undone.",
            ],
            yes: "Forget for good",
            word: customer,
        });
        if (!isWanted) return;
        setText(this.#answer, "The keys are being destroyed…");
        try {
            const { document } = await request("DELETE", `/v1/customers/${encodeURIComponent(customer)}`, {
                patience: PATIENCE_TO_FORGET,
            });
            setText(this.#answer, sentence(document));
        } catch (error) {
            setText(this.#answer, error instanceof Away
                ? "No answer came. Forget the customer again: to do it twice does no harm." : error.message);
        }
    }
}

function sentence({ customers: [{ customer, destroyedKeys, forgottenBefore }], remainder }) {
    const done = destroyedKeys > 0
        ? `${customer} is forgotten: ${destroyedKeys} ${destroyedKeys === 1 ? "key" : "keys"} destroyed.`
        : forgottenBefore ? `${customer} was forgotten already.` : `${customer} was not known, and is refused from now on.`;
    return [
        done,
        remainder ? `The old bytes may still be in the table's file: ${remainder}. Do it again later.` : "",
        destroyedKeys > 0 ? "Backups still have the key, until they expire." : "",
    ].filter(Boolean).join(" ");
}

/// The rows of each projection in all partitions.
function stored(lines) {
    const all = new Map();
    for (const [key, text] of Object.entries(lines)) {
        const name = /^partition\d+_(.+)$/.exec(key)?.[1];
        const { rows, generation, outdated } = parts(text);
        if (name === undefined || rows === undefined) continue;
        const entry = all.get(name) ?? { id: name, rows: 0, generations: new Set(), outdated: "no" };
        entry.rows += Number(rows);
        entry.generations.add(generation);
        if (outdated === "yes") entry.outdated = "yes";
        all.set(name, entry);
    }
    return [...all.values()].map((entry) => ({ ...entry, generations: [...entry.generations].join(", ") }));
}
