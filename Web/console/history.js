// One stream: its events, and what each of them made of the document.

import { address, h, moment, pretty, proofLink, table } from "../shared/build.js";
import { differenceView } from "./difference-view.js";
import { documentPath, readEvents, readPast } from "./events.js";

const PAGE = 100;

export async function show(main, parameters, { signal }) {
    const stream = parameters.get("name") ?? "";
    const from = Math.max(1, Number(parameters.get("from") ?? 1));
    const events = await readEvents({ stream, from, count: PAGE }, { signal });
    const path = documentPath(stream);
    const page = (first, text) => h("a", { class: "chip", href: address("stream", { name: stream, from: first }) }, text);
    const pages = h("p", { class: "chips" },
        from > 1 ? page(Math.max(1, from - PAGE), "Earlier") : null,
        events.length === PAGE ? page(from + PAGE, "Later") : null);
    main.replaceChildren(
        h("h1", { tabindex: "-1", "data-focus-fallback": true, class: "code" }, stream),
        events.length === 0 ? h("p", { class: "muted" }, "There is no such stream.") : null,
        table("events", ["version", "time", "position", "kind", "what it did"],
            events.map((event) => row(event, path, signal))),
        pages);
}

function row(event, path, signal) {
    const place = h("div", {});
    const details = h("details", {
        toggle: () => {
            if (details.open && place.childElementCount === 0) fill(place, event, path, signal);
        },
    }, h("summary", { class: "code" }, JSON.stringify(event.payload).slice(0, 120)), place);
    return h("tr", {},
        h("td", { class: "number" }, String(event.version)),
        h("td", {}, moment(event.recordedAt)),
        h("td", { class: "code" },
            h("a", { href: address("travel", { stream: event.stream, at: event.position }) }, String(event.position))),
        h("td", { class: "code" }, event.kind), h("td", {}, details));
}

async function fill(place, event, path, signal) {
    place.replaceChildren(h("p", { class: "muted" }, "Reading…"));
    try {
        const [before, after] = path === null ? [null, null]
            : [await readPast(path, event.position - 1, { signal }), await readPast(path, event.position, { signal })];
        place.replaceChildren(
            path === null ? "" : differenceView(before, after), h("pre", {}, pretty(event)),
            h("p", {}, proofLink(event)));
    } catch (error) {
        if (!signal.aborted) place.replaceChildren(h("p", { class: "gone" }, error.message));
    }
}
