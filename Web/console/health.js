// How the server does: rates and latencies, and how far its projections are behind the log, once a second.

import { get } from "../shared/api.js";
import { reconcile } from "../shared/reconcile.js";
import { h, table } from "../shared/build.js";
import { Maintenance } from "./maintenance.js";
import { parts } from "./parts.js";
import { Plot } from "./plot.js";

const EVERY = 1000;

const PLOTS = [
    { name: "Commands a second", value: (now, before, seconds) => (count(now) - count(before)) / seconds, unit: "" },
    { name: "Mean of a commit", value: meanCommit, unit: " ms" },
    { name: "Events behind the log", value: (now) => sum(lags(now), "unfolded_events"), unit: "" },
    { name: "Memory", value: (now) => Number(now.memory.used_memory_rss) / 1048576, unit: " MB" },
];

export async function show(main, parameters, { signal, fail, session }) {
    let before = null;
    let isPaused = false;
    let timer = null;
    const plots = PLOTS.map(({ name, unit, value }) => {
        const canvas = h("canvas", { role: "img", "aria-label": name });
        const number = h("span", { class: "number" });
        const figure = h("figure", { class: "plot" }, h("figcaption", {}, name, number), canvas);
        return { canvas, number, plot: new Plot(canvas), name, unit, value, figure };
    });
    const pause = h("button", { class: "button", type: "button", click: () => {
        isPaused = !isPaused;
        pause.textContent = isPaused ? "Follow" : "Pause";
        look();
    } }, "Pause");
    const projections = h("tbody", { "data-testid": "projections" });
    const servers = h("tbody", { "data-testid": "servers" });
    const commands = h("tbody", { "data-testid": "commands" });
    const maintenance = new Maintenance((await session).role === "admin");
    main.replaceChildren(
        h("h1", { tabindex: "-1", "data-focus-fallback": true }, "Health"), h("div", { class: "tools" }, pause),
        h("div", { class: "plots" }, plots.map(({ figure }) => figure)),
        h("h2", {}, "Projections"),
        withBody(["partition", "position", "head", "not folded", "not saved", "missing", "trouble"], projections),
        h("h2", {}, "Servers"), withBody(["address", "partitions", "silent ms", "id"], servers),
        ...maintenance.nodes,
        h("h2", {}, "Commands"), withBody(["command", "calls", "failed", "mean µs", "p50 µs", "p99 µs"], commands));
    document.addEventListener("visibilitychange", look, { signal });
    signal.addEventListener("abort", () => clearTimeout(timer));
    await look();

    async function look() {
        clearTimeout(timer);
        if (isPaused || document.visibilityState === "hidden" || signal.aborted) return;
        try {
            const now = { at: performance.now(), ...await get("/v1/info", { signal }) };
            draw(now);
            before = now;
            fail(null);
        } catch (error) {
            if (signal.aborted) return;
            fail(error);
        }
        timer = setTimeout(look, EVERY);
    }

    function draw(now) {
        for (const { plot, number, value, unit, canvas, name } of plots) {
            if (!before) break;
            const last = value(now, before, (now.at - before.at) / 1000);
            plot.push(last);
            plot.draw();
            number.textContent = `${new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 }).format(last)}${unit}`;
            canvas.setAttribute("aria-label", `${name}: ${number.textContent}`);
        }
        rows(projections, partitions(now), ({ id, position, head, lag, missing, trouble }) =>
            [id, position, head, lag.unfolded_events ?? "", lag.unsaved_events ?? "", missing, trouble]);
        rows(servers, everyServer(now), ({ address, partitions, silent_ms: silent, id }) => [address, partitions, silent, id]);
        maintenance.draw(now);
        rows(commands, latencies(now), ({ id, calls, failed, mean, p50, p99 }) => [id, calls, failed, mean, p50, p99]);
    }
}

function withBody(heads, body) {
    const node = table("", heads, []);
    node.querySelector("tbody").replaceWith(body);
    return node;
}

function rows(body, entries, cells) {
    reconcile(body, entries, {
        id: ({ id }) => id,
        make: (entry) => h("tr", {}, cells(entry).map((_, place) => h("td", { class: place === 0 ? "code" : "number" }))),
        fill: (node, entry) => {
            for (const [place, text] of cells(entry).entries()) {
                if (node.children[place].textContent !== String(text)) node.children[place].textContent = text;
            }
        },
    });
}

function partitions({ log, projections }) {
    return Object.keys(log).flatMap((key) => {
        const number = /^partition(\d+)_position$/.exec(key)?.[1];
        if (number === undefined) return [];
        const of = (name) => log[`partition${number}_${name}`];
        return [{
            id: number, position: of("position"), head: of("head"), lag: parts(projections[`partition${number}_lag`]),
            missing: of("missing_events"), trouble: of("trouble"),
        }];
    });
}

/** The servers that share the log, as this one knows them. */
function everyServer({ cluster }) {
    return Object.keys(cluster).filter((key) => /^server\d+$/.test(key)).map((key) => parts(cluster[key]));
}

function lags(info) {
    return partitions(info).map(({ lag }) => lag);
}

function sum(objects, name) {
    return objects.reduce((total, object) => total + Number(object[name] ?? 0), 0);
}

function count({ stats }) {
    return Number(stats.total_commands_processed);
}

function meanCommit(now, before) {
    const totals = ({ log }) => Object.entries(log).reduce(([time, batches], [key, text]) => [
        time + (/^partition\d+_commit_usec$/.test(key) ? Number(parts(text).sum ?? 0) : 0),
        batches + (/^partition\d+_batches$/.test(key) ? Number(text) : 0),
    ], [0, 0]);
    const [[time, batches], [timeBefore, batchesBefore]] = [totals(now), totals(before)];
    return batches > batchesBefore ? Math.max(time - timeBefore, 0) / (batches - batchesBefore) / 1000 : 0;
}

function latencies({ commandstats = {}, latencystats = {} }) {
    return Object.entries(commandstats).map(([key, text]) => {
        const name = key.replace("cmdstat_", "");
        const { calls, failed_calls: failed, usec_per_call: mean } = parts(text);
        const { p50, p99 } = parts(latencystats[`latency_percentiles_usec_${name}`]);
        return { id: name, calls, failed, mean, p50: p50 ?? "", p99: p99 ?? "" };
    }).sort((a, b) => Number(b.calls) - Number(a.calls));
}
