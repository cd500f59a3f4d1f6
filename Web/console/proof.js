// A receipt of the server, or one that somebody has kept, checked in the page.

import { get } from "../shared/api.js";
import { h, keep, pretty } from "../shared/build.js";
import { NotProven, checkReceipt } from "./receipt.js";

export async function show(main, parameters, { signal }) {
    const stream = h("input", { class: "field code", value: parameters.get("stream") ?? "", spellcheck: "false" });
    const version = h("input", {
        class: "field", type: "number", min: 1, step: 1, value: parameters.get("version") ?? 1,
    });
    const kept = h("textarea", { class: "field code", rows: 6, spellcheck: "false", "aria-label": "Receipt" });
    const verdict = h("p", { class: "verdict", role: "status", "data-testid": "verdict", hidden: true });
    const content = h("pre", { tabindex: "0", "aria-label": "What the receipt says", hidden: true });
    main.replaceChildren(
        h("h1", { tabindex: "-1", "data-focus-fallback": true }, "Proof"),
        h("p", { class: "muted" }, "A receipt proves that an event is in the log. "
            + "It is checked here, with SHA-256 alone: the server is not believed."),
        h("form", { class: "tools", submit: ask },
            h("label", {}, "Stream", stream), h("label", {}, "Version", version),
            h("button", { class: "button main" }, "Get a receipt and check it")),
        h("form", { class: "tools", submit: check },
            h("label", { class: "slider" }, "or a receipt that you have", kept),
            h("button", { class: "button" }, "Check it")),
        verdict, content);
    if (parameters.has("stream")) await ask();

    async function ask(event) {
        event?.preventDefault();
        keep("proof", { stream: stream.value, version: version.value });
        try {
            const path = `/v1/proof/${encodeURIComponent(stream.value)}/${encodeURIComponent(version.value)}`;
            kept.value = JSON.stringify(await get(path, { signal }));
            await check();
        } catch (error) {
            if (!signal.aborted) say("gone", error.message);
        }
    }

    async function check(event) {
        event?.preventDefault();
        try {
            const receipt = JSON.parse(kept.value);
            const log = await checkReceipt(receipt);
            const { kind, version, stream, position, partition } = receipt.event;
            say("come", `Proven: ${kind}, version ${version} of ${stream}, is at position ${position} of partition `
                + `${partition}, in the log ${log}.`);
            content.textContent = pretty(receipt.event);
            content.hidden = false;
        } catch (error) {
            content.hidden = true;
            say("gone", error instanceof NotProven ? `Not proven: ${error.message}.` : `This is no receipt: ${error.message}`);
        }
    }

    function say(className, text) {
        verdict.className = `verdict ${className}`;
        verdict.textContent = text;
        verdict.hidden = false;
    }
}
