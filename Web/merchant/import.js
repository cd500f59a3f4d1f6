// A menu from a file: first what it would change and what is wrong with it, then all of it as one change.

import { get } from "../shared/api.js";
import { h } from "../shared/build.js";
import { say } from "../shared/dom.js";
import { ask } from "../shared/question.js";
import { menuDifferences } from "./changes.js";
import { MenuState } from "./menu-state.js";
import { heading, outletPath, saveFile } from "./parts.js";
import { problemWith } from "./pictures.js";
import { fileOf, menuOf } from "./table-file.js";

// So many changes and mistakes are shown.
const MOST_SHOWN = 500;

export async function show(main, parameters, { signal }) {
    const outlet = await get(outletPath(parameters.get("outlet") ?? ""), { signal });
    const menu = new MenuState(outlet, signal);
    await menu.read();
    let file = null;

    const chooser = h("input", { type: "file", class: "field", accept: ".csv,.json,text/csv,application/json", change: read });
    const whole = h("input", { type: "checkbox", change: draw });
    const body = h("div", { class: "page", "data-testid": "preview" });
    main.replaceChildren(
        ...heading(outlet, "import"),
        h("p", {}, "A CSV file has a line for each item and a column for each field; what it does not name stays as it is. A JSON file is a whole menu, as it can be saved here."),
        h("p", { class: "chips" },
            h("button", { class: "button", type: "button", click: () => saveFile(`${outlet.id}.csv`, fileOf(menu.document, outlet.currency)) }, "Save the menu as CSV"),
            h("button", {
                class: "button", type: "button",
                click: () => saveFile(`${outlet.id}.json`, JSON.stringify({ sections: menu.sections, groups: menu.groups }, null, 2)),
            }, "Save the menu as JSON")),
        h("label", {}, "File", chooser), h("label", {}, "Remove items that a CSV file does not name", whole), body);

    async function read() {
        const [chosen] = chooser.files;
        file = chosen ? { name: chosen.name, text: await chosen.text() } : null;
        await draw();
    }

    // What the file makes of the menu, with `{line, text}` for each mistake.
    function outcome() {
        if (!file.text.trimStart().startsWith("{")) {
            return menuOf(file.text, menu.document, outlet.currency, { isWhole: whole.checked });
        }
        try {
            const { sections, groups } = JSON.parse(file.text);
            if (!Array.isArray(sections)) throw new SyntaxError("It has no list of sections.");
            return { menu: { sections, groups: groups ?? [] }, mistakes: [], lines: new Map() };
        } catch (error) {
            const place = /position (\d+)/.exec(error.message)?.[1];
            const line = place ? file.text.slice(0, Number(place)).split("\n").length : 1;
            return { mistakes: [{ line, text: error.message }], lines: new Map() };
        }
    }

    async function draw() {
        if (file === null) return body.replaceChildren();
        await menu.read();
        const { menu: next, mistakes, lines } = outcome();
        const known = new Set(itemsOf(menu.document).flatMap(({ imageSmall, imageLarge }) => [imageSmall, imageLarge]));
        for (const { id, name, imageSmall, imageLarge } of itemsOf(next)) {
            const wrong = [imageSmall, imageLarge].filter((address) => !known.has(address)).map(problemWith).find(Boolean);
            if (wrong) mistakes.push({ line: lineOf(id, lines), text: `${name}: ${wrong}` });
        }
        if (mistakes.length > 0) return drawMistakes(mistakes);
        let changes;
        try {
            changes = menuDifferences(menu.document, next, outlet.currency);
        } catch {
            return drawMistakes([{ line: 1, text: "It is no menu." }]);
        }
        const line = ({ kind, id }) => (kind === "item" && lines.has(id) ? `Line ${lines.get(id)}, ` : "");
        body.replaceChildren(
            h("h2", {}, changes.length === 0 ? "The file changes nothing." : `What changes: ${changes.length}`),
            h("ul", { class: "changes" }, changes.slice(0, MOST_SHOWN).map((change) => h("li", {},
                h("p", { dir: "auto" }, `${line(change)}${change.name}`),
                h("ul", {}, change.texts.map((text) => h("li", { class: "muted", dir: "auto" }, text)))))),
            changes.length > MOST_SHOWN ? h("p", { class: "muted" }, `And ${changes.length - MOST_SHOWN} more.`) : "",
            changes.length === 0 ? "" : h("p", {}, h("button", {
                class: "button main", type: "button", click: () => send(next, changes.length, lines),
            }, "Change the menu…")));
    }

    function itemsOf(document) {
        return (document?.sections ?? []).flatMap((section) => section?.items ?? []);
    }

    function drawMistakes(mistakes) {
        body.replaceChildren(
            h("h2", { class: "gone", role: "alert" }, `Nothing can be changed: ${mistakes.length === 1 ? "a mistake" : `${mistakes.length} mistakes`}`),
            h("ul", { class: "changes" }, mistakes.slice(0, MOST_SHOWN).map(({ line, text }) =>
                h("li", { dir: "auto" }, `Line ${line}: ${text}`))));
    }

    async function send(next, count, lines) {
        if (!await ask({ title: `Make ${count === 1 ? "this change" : `these ${count} changes`}?`, yes: "Change the menu", no: "Not yet" })) return;
        try {
            await menu.replace(next);
            say("The menu was changed.");
            file = null;
            chooser.value = "";
            body.replaceChildren(h("p", { role: "status" }, "The menu was changed."));
            chooser.focus();
        } catch (error) {
            if (error.code === "CONFLICT") {
                await draw();
                body.prepend(h("p", { class: "gone", role: "alert" }, "Somebody else has changed the menu. This is what the file changes now."));
            } else drawMistakes(placed(error.message, next, lines));
        }
    }

    // The line of an item, in a JSON file that of its id.
    function lineOf(id, lines) {
        return lines.get(id) ?? file.text.slice(0, Math.max(0, file.text.indexOf(`"${id}"`))).split("\n").length;
    }

    // The places that the server names, `sections[0].items[2].price: …`, as lines of the file.
    function placed(message, { sections }, lines) {
        return message.split("; ").map((text) => {
            const [, section, item] = /sections\[(\d+)\]\.items\[(\d+)\]/.exec(text) ?? [];
            const { id, name } = sections[section]?.items?.[item] ?? {};
            return { line: lineOf(id, lines), text: name ? `${name}: ${text.replace(/^.*?\.items\[\d+\]\.?/, "")}` : text };
        });
    }
}
