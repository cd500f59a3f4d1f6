// The lists of the console: each is read again every few seconds, and its address has all that it shows.

import { get, request } from "../shared/api.js";
import { address, h, keep, moment, streamLink, table } from "../shared/build.js";
import { say, setHidden, setText } from "../shared/dom.js";
import { ask } from "../shared/question.js";
import { reconcile } from "../shared/reconcile.js";
import { MOST_EVENTS, readEvents, readHeads } from "./events.js";
import { parts } from "./parts.js";

const EVERY = 3000;
const ROWS = 50;
// How many questions a search may ask for so many rows before somebody has to ask on.
const MOST_READS = 20;

/// Draws a list: `read()` answers its rows and `cells(row, again)` what is in each, an element or a text; `again()` reads
/// anew. `id(row)` tells a row from the others, and `search` is what a row has to contain, in the address.
function showList(page, title, heads, { empty, id, read, cells, tools = [], more = [] }) {
    return async (main, parameters, { signal, fail }) => {
        let text = parameters.get("text") ?? "";
        let rows = [];
        let timer = null;
        const search = h("input", { class: "field", type: "search", value: text, maxlength: 200, spellcheck: "false" });
        const count = h("p", { class: "muted", role: "status" });
        const body = h("tbody", { "data-testid": page });
        const list = table("", heads, []);
        list.querySelector("tbody").replaceWith(body);
        search.oninput = () => {
            text = search.value.trim();
            keep(page, { text });
            draw();
        };
        main.replaceChildren(h("h1", { tabindex: "-1", "data-focus-fallback": true }, title),
            h("div", { class: "tools" }, h("label", {}, "Search", search), ...tools), count, list, ...more);
        document.addEventListener("visibilitychange", look, { signal });
        signal.addEventListener("abort", () => clearTimeout(timer));
        await look();

        async function look() {
            clearTimeout(timer);
            if (document.visibilityState === "hidden" || signal.aborted) return;
            try {
                rows = await read({ signal });
                draw();
                fail(null);
            } catch (error) {
                if (signal.aborted) return;
                // Who may not see it is told once.
                if (error.code === "NOPERM" && timer === null) throw error;
                fail(error);
            }
            timer = setTimeout(look, EVERY);
        }

        function draw() {
            const wanted = text.toLowerCase();
            const shown = rows.filter((row) => cells(row, look).some((cell) =>
                (cell instanceof Node ? cell.textContent : String(cell)).toLowerCase().includes(wanted)));
            setText(count, rows.length === 0 ? empty : `${shown.length} of ${rows.length}`);
            setHidden(list, shown.length === 0);
            reconcile(body, shown, {
                id: (row) => String(id(row)),
                make: () => h("tr"),
                fill: (node, row) => {
                    // What did not change keeps the focus.
                    for (const [place, cell] of cells(row, look).entries()) {
                        const made = h("td", { class: typeof cell === "number" ? "number" : null }, cell instanceof Node ? cell : String(cell));
                        const old = node.children[place];
                        if (old?.isEqualNode(made)) continue;
                        if (old) old.replaceWith(made);
                        else node.append(made);
                    }
                },
            });
        }
    };
}

/// What is in the log by streams.
export async function streams(main, parameters, { signal }) {
    const text = parameters.get("text") ?? "";
    const wanted = Number(parameters.get("rows")) || ROWS;
    const search = h("input", { class: "field", type: "search", value: text, maxlength: 200, spellcheck: "false", placeholder: "part of a stream's name" });
    const count = h("p", { class: "muted", role: "status" }, "Looking…");
    const body = h("tbody", { "data-testid": "streams" });
    const list = table("", ["stream", "events", "last event"], []);
    list.querySelector("tbody").replaceWith(body);
    const more = h("p", {});
    main.replaceChildren(h("h1", { tabindex: "-1", "data-focus-fallback": true }, "Streams"),
        h("form", { class: "tools", submit: (event) => {
            event.preventDefault();
            location.hash = address("streams", { text: search.value.trim() });
        } }, h("label", {}, "Search", search), h("button", { class: "button" }, "Show")), count, list, more);
    const { found, isEnd } = await findStreams(text.toLowerCase(), wanted, { signal });
    body.replaceChildren(...found.map(({ stream, version, recordedAt }) => h("tr", {},
        h("td", {}, streamLink(stream)), h("td", { class: "number" }, String(version)), h("td", {}, moment(recordedAt)))));
    setHidden(list, found.length === 0);
    setText(count, `${found.length === 1 ? "1 stream" : `${found.length} streams`}, the newest first${isEnd ? "" : "; there may be more"}`);
    more.replaceChildren(...(isEnd ? [] : [h("a", { class: "button", href: address("streams", { text, rows: wanted + ROWS }) }, "Look further back")]));
}

// Streams are found by reading the partitions backwards. A stream's last event has its number of events for a version.
async function findStreams(text, wanted, options) {
    const found = new Map();
    const sides = (await readHeads(options)).map(({ partition, position }) => ({ partition, end: position, time: Infinity }));
    // Before this moment, another partition may have newer ones.
    const horizon = () => Math.max(-Infinity, ...sides.filter(({ end }) => end > 0).map(({ time }) => time));
    const certain = () => [...found.values()].filter(({ recordedAt }) => Date.parse(recordedAt) >= horizon());
    for (let reads = 0; horizon() > -Infinity && reads < MOST_READS * wanted / ROWS && certain().length < wanted; reads += 1) {
        const side = sides.filter(({ end }) => end > 0).reduce((newest, each) => (each.time > newest.time ? each : newest));
        const from = Math.max(1, side.end - MOST_EVENTS + 1);
        const events = await readEvents({ partition: side.partition, from, count: side.end - from + 1 }, options);
        for (const event of events.reverse()) {
            if (event.stream.toLowerCase().includes(text) && !found.has(event.stream)) found.set(event.stream, event);
            side.time = Date.parse(event.recordedAt);
        }
        side.end = from - 1;
    }
    const all = certain().sort((one, other) => Date.parse(other.recordedAt) - Date.parse(one.recordedAt));
    return { found: all.slice(0, wanted), isEnd: horizon() === -Infinity && all.length <= wanted };
}

export const projections = showList("projections", "Projections",
    ["projection", "partition", "generation", "position", "events behind", "behind since", "rows", "outdated"], {
        empty: "There are no projections.", id: ({ name, partition }) => `${partition} ${name}`,
        read: async (options) => {
            const { log, projections: lines } = await get("/v1/info", options);
            const rows = Object.entries(lines).flatMap(([key, line]) => {
                const [, partition, name] = /^partition(\d+)_(.+)$/.exec(key) ?? [];
                const { saved_position: saved, generation, rows, outdated } = parts(line);
                if (saved === undefined) return [];
                return [{ name, partition: Number(partition), generation: Number(generation), position: Number(saved), rows: Number(rows), outdated,
                    lag: Math.max(0, Number(log[`partition${partition}_head`]) - Number(saved)), since: null }];
            });
            // The first event that the saved rows lack tells since when; most partitions have one for all projections.
            const first = new Map();
            for (const row of rows.filter(({ lag }) => lag > 0)) {
                const key = `${row.partition} ${row.position}`;
                if (!first.has(key)) first.set(key, readEvents({ partition: row.partition, from: row.position + 1, count: 1 }, options));
                row.since = (await first.get(key))[0]?.recordedAt ?? null;
            }
            return rows;
        },
        cells: ({ name, partition, generation, position, lag, since, rows, outdated }) =>
            [name, partition, generation, position, lag, since === null ? "" : moment(since), rows, outdated],
    });

export const slowlog = showList("slowlog", "Slow commands", ["number", "time", "microseconds", "command", "address", "client"], {
    empty: "No command took long.", id: ({ id }) => id,
    read: async (options) => (await get("/v1/slowlog", options)).commands,
    cells: ({ id, at, microseconds, words, address: from, client }) => [id, moment(at), microseconds, words.join(" "), from, client],
    more: [h("p", { class: "muted" }, "The setting --slowlog-log-slower-than says how long that is.")],
});

export const latency = showList("latency", "Delays", ["event", "time", "milliseconds", "longest of all"], {
    empty: "Nothing held up the server.", id: ({ event, at }) => `${event} ${at}`,
    read: async (options) => (await get("/v1/latency", options)).events.flatMap(({ event, maximum, samples }) =>
        samples.map((sample) => ({ event, maximum, ...sample }))).sort((one, other) => Date.parse(other.at) - Date.parse(one.at)),
    cells: ({ event, at, milliseconds, maximum }) => [event, moment(at), milliseconds, maximum],
});

export const clients = showList("clients", "Clients",
    ["number", "address", "name", "user", "seconds", "idle", "last command", "commands", "end"], {
        empty: "Nobody is connected to the port of the commands.", id: ({ id }) => id,
        read: async (options) => (await get("/v1/clients", options)).clients,
        cells: ({ id, addr, name, user, age, idle, cmd, "tot-cmds": calls }, again) => [
            Number(id), addr, name, user, Number(age), Number(idle), cmd, Number(calls),
            h("button", { class: "button", type: "button", "aria-label": `End ${addr}`, click: () => end(id, addr).then(again) }, "End"),
        ],
    });

async function end(id, addr) {
    const texts = ["Its connection is closed. What it has sent and was not answered is not known to it."];
    if (!await ask({ title: `End client ${addr}?`, texts, yes: "End it" })) return;
    try {
        await request("DELETE", `/v1/clients/${id}`);
        say(`${addr} is no longer connected.`);
    } catch (error) {
        say(error.message);
    }
}

export const relays = showList("relays", "Relays", ["relay", "partition", "position", "events behind", "held back", "set aside", "last failure", "failed"], {
    empty: "There are no relays.", id: ({ name, partition }) => `${partition} ${name}`,
    read: async (options) => (await get("/v1/relays", options)).relays,
    cells: ({ name, partition, position, events, heldBack, setAside, failure, failedAt }) =>
        [name, partition, position, events, heldBack, setAside, failure ?? "", failedAt === null ? "" : moment(failedAt)],
});
