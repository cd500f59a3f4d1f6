// The kitchen's board: every open order whole, what was promised first at the top, one tap a step.

import { Away, request } from "../shared/api.js";
import { clockTime, now } from "../shared/clock.js";
import { clone, drawing, isUsable, refs, say, setAttribute, setHidden, setText, setUsable } from "../shared/dom.js";
import { handover } from "../shared/order.js";
import { putIcons } from "../shared/icons.js";
import "../shared/login.js";
import { reconcile } from "../shared/reconcile.js";
import { Stream } from "../shared/stream.js";
import { Topic } from "../shared/topic.js";

/// The next step of each status, as the path of its action and what its button says.
const STEPS = {
    placed: ["accept", "Accept"],
    accepted: ["prepare", "Start cooking"],
    preparing: ["ready", "It is ready"],
    ready: ["complete", "Handed over"],
};
const NAMES = {
    placed: "New", accepted: "Accepted", preparing: "Cooking", ready: "Ready",
};
const DELAY_MINUTES = 10;
const SOON_MINUTES = 5;
const TICK = 10_000;

const outlet = decodeURIComponent(location.pathname.split("/")[2] ?? "");
const topic = new Topic();
// Orders whose step is on its way.
const busy = new Set();
let known = null;
let audio = null;
const ask = drawing(draw);

const stream = new Stream({
    topics: () => [`kitchen:${outlet}`],
    take: (_, message) => {
        const outcome = topic.take(message);
        if (outcome === "again") stream.again();
        if (outcome === "changed") ask();
    },
    tell: (state) => {
        const banner = document.getElementById("banner");
        setText(banner, state === "away" ? "The server cannot be reached. What is shown may be old." : "");
        setHidden(banner, state !== "away");
    },
});

putIcons(document.body);
document.title = `Kitchen of ${outlet} · Tiffin`;
setText(document.getElementById("title"), `Kitchen of ${outlet}`);
document.getElementById("sound").onclick = ({ currentTarget }) => {
    audio = audio ? null : new AudioContext();
    setAttribute(currentTarget, "aria-pressed", String(audio !== null));
    ring();
};
document.getElementById("orders").onclick = tap;
stream.start();
setInterval(ask, TICK);

function draw() {
    const orders = topic.document?.orders ?? [];
    setText(document.getElementById("count"), topic.document === null ? "There is no such kitchen."
        : orders.length > 0 ? `${topic.document.count} open ${topic.document.count === 1 ? "order" : "orders"}`
        : topic.document.followed === false ? "Orders of this outlet wait for nobody: it has to say acceptWithin."
        : "Nothing to do.");
    reconcile(document.getElementById("orders"), orders, { id: ({ order }) => order, make: () => clone("order"), fill });
    for (const [place, node] of [...document.getElementById("orders").children].entries()) {
        age(node, orders[place]);
        setUsable(refs(node).next, !busy.has(orders[place].order));
    }
    const ids = new Set(orders.map(({ order }) => order));
    if (known && [...ids].some((id) => !known.has(id))) ring();
    known = ids;
}

function fill(node, order) {
    const { number, state, had, cover, lines, next, delay, end } = refs(node);
    setAttribute(node, "data-order", order.order);
    // The last four characters lead to the slot of the order's cart; those before them are by chance.
    setText(number, `#${order.order.slice(-8, -4)}`);
    setText(state, `${NAMES[order.status] ?? order.status}, since ${clockTime(order.placedAt ?? order.updatedAt)}`);
    const how = [handover(order), order.name, order.phone].filter(Boolean).join(", ");
    setText(had, how);
    setHidden(had, how === "");
    setHidden(cover, !order.uncovered);
    reconcile(lines, order.lines, {
        id: ({ line }) => line,
        make: () => clone("line"),
        fill: (item, line) => {
            setText(refs(item).quantity, `${line.quantity} ×`);
            setText(refs(item).name, line.name);
            const options = line.options.map(({ name, units }) => (units > 1 ? `${units} × ${name}` : name));
            setText(refs(item).note, [...options, line.note ?? ""].filter(Boolean).join(", "));
        },
    });
    setText(next, STEPS[order.status]?.[1] ?? "");
    setHidden(next, !(order.status in STEPS));
    setHidden(delay, order.status === "ready" || !order.promisedFor && !order.readyBy);
    setText(end, order.status === "placed" ? "Reject" : "Cancel");
}

// How old an order is follows the clock.
function age(node, order) {
    const due = order.readyBy ?? order.promisedFor ?? null;
    const minutes = due === null ? null : Math.round((Date.parse(due) - now()) / 60_000);
    const isLate = order.late === true || (minutes !== null && minutes < 0);
    setAttribute(node, "data-age", isLate ? "late" : minutes !== null && minutes <= SOON_MINUTES ? "soon" : "good");
    setText(refs(node).due, minutes === null ? (isLate ? "late" : "")
        : minutes < 0 ? `${-minutes} min late` : `in ${minutes} min, ${clockTime(due)}`);
}

async function tap(event) {
    const button = event.target.closest("button");
    const order = button && topic.document.orders.find(({ order }) => order === button.closest(".order").dataset.order);
    if (!order || !isUsable(button)) return;
    switch (button.dataset.focus) {
        case "next": return act(order, STEPS[order.status][0], {});
        case "delay": {
            const due = Math.max(Date.parse(order.readyBy ?? order.promisedFor), now());
            return act(order, "delay", { ready: new Date(due + DELAY_MINUTES * 60_000).toISOString() });
        }
        case "end": {
            const code = await askWhy(button.textContent);
            if (code === null) return;
            return order.status === "placed" ? act(order, "reject", { code }) : act(order, "cancel", { by: "merchant", code });
        }
    }
}

// The same step twice changes nothing, so that it can be sent again.
async function act({ order }, step, body) {
    const key = crypto.randomUUID();
    busy.add(order);
    draw();
    try {
        await request("POST", `/v1/orders/${encodeURIComponent(order)}/${step}`, { body, key })
            .catch((error) => {
                if (!(error instanceof Away)) throw error;
                return request("POST", `/v1/orders/${encodeURIComponent(order)}/${step}`, { body, key });
            });
    } catch (error) {
        say(error.message);
    }
    busy.delete(order);
    draw();
}

function askWhy(title) {
    const dialog = document.getElementById("ending");
    const form = clone("ending-form");
    const parts = refs(form);
    setText(parts.title, `${title} this order?`);
    setText(parts.yes, title);
    dialog.replaceChildren(form);
    dialog.returnValue = "no";
    dialog.showModal();
    return new Promise((resolve) => {
        dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes" ? parts.code.value : null), { once: true });
    });
}

// Two short tones, if somebody has asked for them.
function ring() {
    if (!audio) return;
    for (const [start, pitch] of [[0, 880], [0.18, 1175]]) {
        const tone = new OscillatorNode(audio, { frequency: pitch });
        const volume = new GainNode(audio, { gain: 0.2 });
        tone.connect(volume).connect(audio.destination);
        tone.start(audio.currentTime + start);
        tone.stop(audio.currentTime + start + 0.15);
    }
}
