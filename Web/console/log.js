// The log, newest first, live until somebody pauses it or looks at older events. A window of it is in the page, whatever
// its length.

import { reconcile } from "../shared/reconcile.js";
import { address, h, keep, moment, pretty, proofLink, streamLink, table } from "../shared/build.js";
import { MOST_EVENTS, readEvents, readHeads } from "./events.js";

const ROWS = 100;
const EVERY = 1000;
// How many questions one search may ask before somebody has to ask on.
const MOST_READS = 20;

export async function show(main, parameters, { signal, fail }) {
    let text = parameters.get("text") ?? "";
    let partition = Number(parameters.get("partition") ?? 0);
    // The newest position in the window; null follows the head.
    let newest = parameters.has("to") ? Number(parameters.get("to")) : null;
    let shown = [];
    let timer = null;
    let reading = null;

    const search = h("input", {
        class: "field", type: "search", value: text, placeholder: "part of a stream's name or kind", spellcheck: "false",
        maxlength: 200,
    });
    const chooser = h("select", { class: "field" });
    const pause = h("button", { class: "button", type: "button" });
    const older = h("button", { class: "button", type: "button" }, "Older");
    const count = h("p", { class: "muted", role: "status" });
    const body = h("tbody", { "data-testid": "events" });
    const list = table("events", ["position", "time", "stream", "kind", "content"], []);
    list.querySelector("tbody").replaceWith(body);
    main.replaceChildren(
        h("h1", { tabindex: "-1", "data-focus-fallback": true }, "Log"),
        h("div", { class: "tools" },
            h("label", {}, "Search", search), h("label", {}, "Partition", chooser), pause, older),
        count, list);

    search.oninput = () => restart(() => { text = search.value.trim(); });
    chooser.onchange = () => restart(() => { partition = Number(chooser.value); newest = null; });
    pause.onclick = () => restart(() => { newest = newest === null ? (shown[0]?.position ?? 0) : null; });
    older.onclick = () => restart(() => { newest = (shown.at(-1)?.position ?? 1) - 1; });
    document.addEventListener("visibilitychange", () => restart(() => {}), { signal });
    signal.addEventListener("abort", () => {
        clearTimeout(timer);
        reading?.abort();
    });
    await read();

    function restart(change) {
        change();
        keep("log", { text, partition: partition || "", to: newest ?? "" });
        shown = newest === null ? [] : shown;
        read();
    }

    async function read() {
        clearTimeout(timer);
        reading?.abort();
        if (document.visibilityState === "hidden" || signal.aborted) return;
        const { signal: mine } = (reading = new AbortController());
        try {
            const heads = await readHeads({ signal: mine });
            drawPartitions(heads);
            const head = heads.find((each) => each.partition === partition)?.position ?? 0;
            await readBack(newest === null ? head : Math.min(newest, head), mine);
            fail(null);
        } catch (error) {
            if (!mine.aborted) fail(error);
        }
        if (newest === null && !mine.aborted) timer = setTimeout(read, EVERY);
    }

    // Reads backwards from a position until the window is full. What is there already is not read again.
    async function readBack(last, mine) {
        const known = new Map(newest === null ? shown.map((event) => [event.position, event]) : []);
        const top = shown[0]?.position ?? 0;
        let rows = [];
        let end = last;
        let reads = 0;
        while (end > 0 && rows.length < ROWS && reads < MOST_READS) {
            if (known.size > 0 && end <= top) {
                rows.push(...known.values());
                break;
            }
            const size = text === "" ? ROWS : MOST_EVENTS;
            const from = Math.max(1, end - size + 1, known.size > 0 ? top + 1 : 1);
            const events = await readEvents({ partition, from, count: end - from + 1 }, { signal: mine });
            rows.push(...events.filter(isWanted).reverse());
            end = from - 1;
            reads += 1;
        }
        shown = rows.slice(0, ROWS);
        draw(last, end);
    }

    function isWanted({ stream, kind }) {
        const wanted = text.toLowerCase();
        return stream.toLowerCase().includes(wanted) || kind.toLowerCase().includes(wanted);
    }

    function drawPartitions(heads) {
        if (chooser.children.length === heads.length) return;
        chooser.replaceChildren(...heads.map((head) => h("option", { value: head.partition }, String(head.partition))));
        chooser.value = String(partition);
    }

    function draw(last, end) {
        pause.textContent = newest === null ? "Pause" : "Follow";
        const oldest = shown.at(-1)?.position ?? 0;
        const searched = text && end > 0 ? `, searched back to ${Math.min(end + 1, oldest || end + 1)}` : "";
        count.textContent = `${shown.length} events up to position ${last}${searched}`;
        older.setAttribute("aria-disabled", String(shown.length === 0 || oldest <= 1));
        reconcile(body, shown, { id: ({ position }) => position, make: makeRow, fill: () => {} });
    }
}

function makeRow(event) {
    return h("tr", { "data-position": event.position },
        h("td", { class: "number" }, String(event.position)),
        h("td", {}, moment(event.recordedAt)),
        h("td", {}, streamLink(event.stream), ` v${event.version}`),
        h("td", { class: "code" }, event.kind),
        h("td", {}, h("details", {},
            h("summary", { class: "code" }, JSON.stringify(event.payload).slice(0, 120)),
            h("pre", {}, pretty(event)),
            h("p", { class: "chips" },
                h("a", { class: "chip", href: address("travel", { stream: event.stream, at: event.position }) },
                    "See the document then"),
                proofLink(event)))));
}
