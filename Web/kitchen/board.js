// The kitchen's board: every open order whole, what was promised first at the top, one tap a step.

import { clockTime, now } from "../shared/clock.js";
import { clone, drawing, refs, say, setHidden, setText } from "../shared/dom.js";
import { putIcons } from "../shared/icons.js";
import "../shared/login.js";
import { reconcile } from "../shared/reconcile.js";
import { Stream } from "../shared/stream.js";
import { Topic } from "../shared/topic.js";
import { Bell } from "./bell.js";
import { STEPS, fillCard, isAsked, isChanged, numberLength, toCook } from "./card.js";
import { askChange, askForm } from "../shared/forms.js";
import { Known } from "./known.js";
import { Place } from "./place.js";
import { Taps, UNDO } from "./taps.js";

const TICK = 10_000;
// A board that is older than this says so.
const SHORT_ABSENCE = 5000;
// What a customer wants to be done if something is missing.
const WISHES = {
    remove: "The customer wants what is missing to be left out.",
    replace: "The customer wants something else in place of what is missing.",
    cancel: "The customer wants no order if something is missing: then it is cancelled.",
};

const element = (id) => document.getElementById(id);
const outlet = decodeURIComponent(location.pathname.split("/")[2] ?? "");
// The sections of the station that this board is for; none for all.
const sections = new URLSearchParams(location.search).get("sections")?.split(",").filter(Boolean) ?? [];
const topic = new Topic();
const ask = drawing(draw);
const place = new Place(outlet, { title: element("title"), status: element("status"), pause: element("pause") });
const bell = new Bell(element("sound"), element("silent"));
const known = new Known(outlet, ask);
const taps = new Taps(outlet, {
    changed: () => {
        ask();
        // Until then a tap can be undone, and after that not any more.
        setTimeout(ask, UNDO);
    },
    refused: (error) => say(error.message),
});
// Since when the board hears nothing; null while it does.
let away = null;

const stream = new Stream({
    topics: () => [`kitchen:${outlet}`],
    take: (_, message) => {
        const outcome = topic.take(message);
        if (outcome === "again") stream.again();
        if (outcome === "changed") ask();
    },
    tell: (state) => {
        if (state === "live") away = null;
        else if (state === "away") away ??= now();
        if (away !== null) setTimeout(ask, SHORT_ABSENCE);
        ask();
    },
});

putIcons(document.body);
place.draw();
element("sold-out").onclick = () => openSoldOut();
element("handed-over").onclick = async () => (await import("./order-list.js")).openHandedOver(outlet, place.zone);
element("planned").onclick = async () => (await import("./order-list.js")).openPlanned(outlet, place.zone);
element("orders").onclick = tap;
stream.start();
tick();
setInterval(tick, TICK);
place.readMenu().then(ask);

function tick() {
    if (document.visibilityState === "visible") place.look().then(ask);
}

function cards() {
    const open = topic.document?.orders ?? [];
    const length = numberLength(open.map(({ order }) => order));
    return [
        ...known.gone.map((order) => ({ order, status: order.status, isNew: false, isGone: true })),
        ...open.map((order) => {
            const tap = taps.last(order.order);
            return { order, status: taps.status(order), tap, isNew: !tap && known.isNew(order.order), isGone: false };
        }),
    ].map((card) => ({ ...card, length, lines: card.order.lines.filter(isHere) })).filter(({ lines }) => lines.length > 0);
}

// What the menu does not know is shown at every station.
function isHere({ item }) {
    const section = place.section(item);
    return sections.length === 0 || section === undefined || sections.includes(section);
}

function draw() {
    if (topic.document) {
        known.take(topic.document.orders, (order) => taps.ends(order));
        taps.settle(topic.document.orders);
    }
    const shown = cards();
    setText(element("count"), countText());
    const list = element("orders");
    reconcile(list, shown, { id: ({ order }) => order.order, make: () => clone("order"), fill: () => {} });
    for (const [row, node] of [...list.children].entries()) fillCard(node, shown[row], place);
    reconcile(element("to-cook"), toCook(shown), {
        id: ({ name }) => name,
        make: () => clone("dish"),
        fill: (node, { name, quantity }) => {
            setText(refs(node).name, name);
            setText(refs(node).quantity, String(quantity));
        },
    });
    setHidden(element("cooking"), shown.length === 0);
    bell.rings(shown.filter((card) => card.isNew || card.isGone || isChanged(card) || isAsked(card)).length);
    const isOld = away !== null && now() - away >= SHORT_ABSENCE;
    const waiting = taps.waiting === 0 ? "" : ` ${taps.waiting} ${taps.waiting === 1 ? "tap waits" : "taps wait"} to be sent.`;
    setText(element("banner"), isOld ? `No connection. This is the board of ${clockTime(away, place.zone)}.${waiting}` : "");
    setHidden(element("banner"), !isOld);
}

function countText() {
    const { document } = topic;
    if (document === null) return "There is no such kitchen.";
    if (document.orders.length > 0) return `${document.count} open ${document.count === 1 ? "order" : "orders"}`;
    return document.followed === false ? "Orders of this outlet wait for nobody: it has to say acceptWithin." : "Nothing to do.";
}

async function tap(event) {
    const button = event.target.closest("button");
    const node = button?.closest(".order");
    const card = node && cards().find(({ order }) => order.order === node.dataset.order);
    // The second tap of two that came at once is meant for what was there before.
    if (!card || event.detail > 1) return;
    const { order, status } = card;
    const id = order.order;
    const { step } = button.dataset;
    known.note(id);
    ask();
    switch (button.dataset.focus) {
        case "next":
            // What was seen is what is done: the order may have gone on since it was drawn.
            if (step && step === STEPS[status]?.[0]) taps.add(id, step);
            return;
        case "undo":
            return taps.undo(id);
        case "ticket": {
            const { printTicket } = await import("./ticket.js");
            return printTicket(order, place.zone, place.allergens);
        }
        case "what":
            return openSoldOut(button.closest("[data-item]").dataset.item);
        case "later": {
            const form = await askForm("later-form");
            if (!form) return;
            const due = Math.max(Date.parse(order.readyBy ?? order.promisedFor), now());
            const ready = new Date(due + Number(form.value) * 60_000).toISOString();
            const reason = form.parts.reason.value.trim();
            return taps.add(id, "delay", { ready, ...(reason === "" ? {} : { reason }) });
        }
        case "change": {
            const change = await askChange(order.lines, WISHES[order.missing] ?? "The customer is asked.");
            return change && taps.add(id, "change", change);
        }
        case "agree":
            return taps.add(id, "agree", { digest: order.proposal.after.digest });
        case "decline":
            return taps.add(id, "decline", { by: "merchant" });
        case "noted":
            return taps.add(id, "noted");
        case "end":
            return end(id, button.textContent, status === "placed");
    }
}

async function end(order, title, isNew) {
    const form = await askForm("ending-form", (parts) => {
        setText(parts.title, `${title} this order?`);
        setText(parts.yes, title);
    });
    if (!form) return;
    const { code, reason } = form.parts;
    const words = reason.value.trim();
    const body = { code: code.value, ...(words === "" ? {} : { reason: words }) };
    if (isNew) taps.add(order, "reject", body);
    else taps.add(order, "cancel", { by: "merchant", ...body });
}

async function openSoldOut(item) {
    const module = await import("./sold-out.js");
    module.openSoldOut(outlet, place, item);
}
