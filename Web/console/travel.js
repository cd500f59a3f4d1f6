// Time travel: a document as of any position of the log, with what the last step changed.

import { clockTime } from "../shared/clock.js";
import { address, h, keep, pretty } from "../shared/build.js";
import { differenceView } from "./difference-view.js";
import { documentPath, partitionOf, readEvents, readHeads, readPast } from "./events.js";

const PAGE_STEP = 100;

export async function show(main, parameters, { signal, fail }) {
    const heads = await readHeads({ signal });
    let stream = parameters.get("stream") ?? "";
    // A stream's positions are those of its partition.
    let partition = await partitionOf(stream, { signal });
    let head = headOf(partition);
    let at = Math.min(Number(parameters.get("at") ?? head), head);
    // The position that is wanted while another one is read.
    let wanted = null;
    let isReading = false;

    const name = h("input", {
        class: "field code", value: stream, placeholder: "outlet-…, cart-… or order-…", spellcheck: "false",
        "aria-label": "Stream",
    });
    const slider = h("input", {
        type: "range", min: 0, max: head, step: 1, value: at, "aria-label": "Position", "data-testid": "position",
    });
    const when = h("input", { class: "field", type: "datetime-local", step: 1, "aria-label": "Time" });
    const past = h("p", { class: "past", role: "status", "data-testid": "past" });
    const changes = h("div", { "data-testid": "changes" });
    const content = h("pre", { tabindex: "0", "aria-label": "Document", "data-testid": "document" });
    const now = h("a", { class: "button", href: address("travel", { stream }) }, "Follow from here: the latest");
    main.replaceChildren(
        h("h1", { tabindex: "-1", "data-focus-fallback": true }, "Travel"),
        h("form", { class: "tools", submit: choose }, h("label", {}, "Stream", name), h("button", { class: "button main" }, "Show"), h("label", {}, "or the time", when)),
        h("div", { class: "tools" }, h("div", { class: "slider" }, slider), now),
        past, h("h2", {}, "What the last event changed"), changes, h("h2", {}, "Document"), content);

    slider.oninput = () => go(Number(slider.value));
    // Arrows are one event; Page Up and Page Down are a hundred in every browser.
    slider.onkeydown = (event) => {
        const step = { PageUp: PAGE_STEP, PageDown: -PAGE_STEP }[event.key];
        if (!step) return;
        event.preventDefault();
        slider.value = Number(slider.value) + step;
        go(Number(slider.value));
    };
    when.onchange = async () => {
        if (when.value) go(await positionAt(new Date(when.value), partition, head, signal));
    };
    await go(at);

    function headOf(partition) {
        return heads.find((each) => each.partition === partition).position;
    }

    async function choose(event) {
        event.preventDefault();
        stream = name.value.trim();
        const before = partition;
        partition = await partitionOf(stream, { signal });
        head = headOf(partition);
        slider.max = head;
        // A position of another partition is another moment.
        go(partition === before ? at : head);
    }

    // One question at a time: while it is on its way, only the last wish counts.
    async function go(position) {
        wanted = position;
        slider.value = position;
        slider.setAttribute("aria-valuetext", `position ${position} of ${end()}`);
        if (isReading) return;
        isReading = true;
        while (wanted !== null && !signal.aborted) {
            at = wanted;
            wanted = null;
            try {
                await read(at);
                fail(null);
            } catch (error) {
                if (!signal.aborted) fail(error);
            }
        }
        isReading = false;
    }

    function end() {
        return heads.length > 1 ? `${head} in partition ${partition}` : String(head);
    }

    async function read(position) {
        keep("travel", { stream, at: position === head ? "" : position });
        now.href = address("travel", { stream });
        const [event] = position > 0 ? await readEvents({ partition, from: position, count: 1 }, { signal }) : [];
        past.textContent = position === head
            ? `The latest: position ${end()}`
            : `The past: position ${position} of ${end()}${event ? `, ${clockTime(event.recordedAt)}, ` : ""}`
                + (event ? `${event.kind} of ${event.stream}` : "");
        const path = documentPath(stream);
        if (path === null) {
            changes.replaceChildren();
            content.textContent = stream === "" ? "Name a stream." : "This stream has no document; its events are in the log.";
            return;
        }
        const document = await readPast(path, position, { signal });
        const before = position > 0 ? await readPast(path, position - 1, { signal }) : null;
        changes.replaceChildren(differenceView(before, document));
        content.textContent = document === null ? "There was nothing yet." : pretty(document);
    }
}

/// The last position that was recorded at that time or before, found by halving.
async function positionAt(time, partition, head, signal) {
    let [low, high] = [0, head];
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        const [event] = await readEvents({ partition, from: middle, count: 1 }, { signal });
        if (event && Date.parse(event.recordedAt) <= time.getTime()) low = middle;
        else high = middle - 1;
    }
    return low;
}
