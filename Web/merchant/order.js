// An order in full, what became of it, and what is given back of it.

import { get } from "../shared/api.js";
import { address, h, table } from "../shared/build.js";
import { clockTime } from "../shared/clock.js";
import { say } from "../shared/dom.js";
import { major, money } from "../shared/money.js";
import { REASONS, STATES, changeTexts, handover, numberOf } from "../shared/order.js";
import { ask } from "../shared/question.js";
import { heading, input, keepReading, labelled, minor, openForm, outletPath, select, send } from "./parts.js";

const EVERY = 5000;
const PARTIES = { customer: "the customer", merchant: "the outlet", system: "by itself" };
const CHARGES = { service: "Service", smallOrder: "Small order", delivery: "Delivery", tip: "Tip" };
// Why something is given back.
const CODES = ["ITEMS", "BUSY", "CLOSED", "NOTE", "CUSTOMER", "OTHER"];

export async function show(main, parameters, { signal, fail, session }) {
    const id = parameters.get("order") ?? "";
    const path = `/v1/orders/${encodeURIComponent(id)}`;
    let order = await get(path, { signal });
    const outlet = await get(outletPath(order.outlet), { signal }).catch(() => ({ id: order.outlet, name: order.outlet }));
    const cash = (amount) => money(amount, order.currency);
    const time = (moment) => clockTime(moment, outlet.timeZone);
    const body = h("div", { class: "page" });
    const refund = h("button", { class: "button", type: "button", click: openRefund }, "Give back…");
    const proof = h("a", { href: `${path}/proof`, download: `order-${id}.json`, "data-testid": "order_proof" }, "Proof");
    const history = h("section", { hidden: true });
    const asked = h("section", { class: "section", "data-testid": "proposal", hidden: true });
    main.replaceChildren(...heading(outlet, "orders"), h("h2", {}, `Order ${numberOf(id)}`), asked, body, h("p", { class: "chips" }, refund, proof), history);
    await draw();
    keepReading(EVERY, signal, async () => {
        try {
            const now = await get(path, { signal });
            if (now.version !== order.version) {
                order = now;
                await draw();
            }
            fail(null);
        } catch (error) {
            if (!signal.aborted) fail(error);
        }
    });

    async function draw() {
        const { ending } = order;
        const facts = [
            ["Number", id], ["Status", STATES[order.status] ?? order.status],
            ["Why", ending && `${REASONS[ending.code] ?? ending.code} (${ending.by})${ending.reason ? `: ${ending.reason}` : ""}`],
            ["Placed", order.placedAt && time(order.placedAt)],
            ["Promised for", order.promisedFor && time(order.promisedFor)], ["Ready by", order.readyBy && time(order.readyBy)],
            ["How", handover(order)], ["Name", order.name], ["Phone", order.phone], ["Customer", order.customer],
        ].filter(([, value]) => value);
        body.replaceChildren(
            h("dl", { class: "facts" }, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", { dir: "auto" }, value)))),
            table("lines", ["Item", "Quantity", "Price", "Total", "Given back"], order.lines.map((line) => h("tr", {},
                h("td", { dir: "auto" }, line.name, (line.options ?? []).map(({ name, units }) =>
                    h("small", { class: "block", dir: "auto" }, units > 1 ? `${units} × ${name}` : name)),
                line.note && h("small", { class: "block note", dir: "auto" }, line.note)),
                h("td", { class: "number" }, String(line.quantity)), h("td", { class: "number" }, cash(line.unitPrice)),
                h("td", { class: "number" }, cash(line.total)), h("td", { class: "number" }, line.refunded ? String(line.refunded) : "")))),
            table("sums", ["Bill", "Amount"], sums().map(([name, amount]) => h("tr", {},
                h("td", { dir: "auto" }, name), h("td", { class: "number" }, cash(amount))))));
        refund.hidden = left() === 0 || ["rejected", "cancelled", "awaitingPayment", "scheduled"].includes(order.status);
        drawProposal();
        await drawHistory();
    }

    // A change that waits for an answer, by the digest of the bill that is shown.
    function drawProposal() {
        const { proposal } = order;
        asked.hidden = !proposal;
        if (!proposal) return;
        const { by, change, before, after } = proposal;
        const step = (text, name, stepBody) => h("button", { class: "button", type: "button", click: () => answer(name, stepBody) }, text);
        const isTheirs = by === "customer";
        asked.replaceChildren(
            h("p", { role: "status" }, isTheirs ? "The customer asks for a change." : "The customer is asked for a change."),
            h("ul", {}, changeTexts(change).map((text) => h("li", { dir: "auto" }, text))),
            h("p", {}, `${cash(before.total)} → ${cash(after.total)}`),
            h("p", { class: "chips" }, isTheirs ? step("Agree", "agree", { digest: after.digest }) : "",
                step(isTheirs ? "Do not change it" : "Take it back", "decline", { by: "merchant" })));
    }

    async function answer(step, stepBody) {
        try {
            await send("POST", `${path}/${step}`, { body: stepBody });
        } catch (error) {
            say(error.message);
        }
        order = await get(path, { signal });
        await draw();
        main.querySelector("h1").focus({ preventScroll: true });
    }

    function sums() {
        const { payment } = order;
        return [
            ["Items", order.subtotal],
            ...(order.charges ?? []).map(({ kind, name, amount, included }) =>
                [`${name ?? CHARGES[kind] ?? kind}${included ? " (included)" : ""}`, amount]),
            ["Total", order.total],
            ...(order.refunded ? [["Given back", -order.refunded]] : []),
            ...(payment ? [["Paid", payment.paid], ["Still due", payment.due], ["To be given back", payment.owed]] : []),
        ];
    }

    // Only who reads the log may see who did what. Others see what the order says of itself.
    async function drawHistory() {
        const isAdmin = (await session).role === "admin";
        const rows = isAdmin
            ? (await get(`/v1/log?stream=${encodeURIComponent(`order-${id}`)}&count=200`, { signal }))
                .map(({ recordedAt, kind, metadata }) => [recordedAt, kind, metadata?.actor])
            : ownHistory();
        history.hidden = rows.length === 0;
        history.replaceChildren(h("h2", {}, "History"), table("history", ["When", "What", "By"], rows.map(([at, what, by]) => h("tr", {},
            h("td", {}, at && h("time", { datetime: at }, time(at))), h("td", { dir: "auto" }, what), h("td", { dir: "auto" }, by ?? "")))));
    }

    function ownHistory() {
        const { placedAt, promise = [], changes = [], ending } = order;
        return [
            ...(placedAt ? [[placedAt, STATES.placed, PARTIES.customer]] : []),
            ...promise.map(({ from, to, reason }) => [null, [
                `Promised for ${to ? time(to) : "no time"}${from ? ` in place of ${time(from)}` : ""}`, reason,
            ].filter(Boolean).join(": "), PARTIES.merchant]),
            ...changes.map(({ by, state, change, before, after }) => [
                null, `${changeTexts(change).join(", ")}: ${cash(before.total)}, then ${cash(after.total)} (${state})`, PARTIES[by] ?? by,
            ]),
            ...(order.refunded ? [[null, `${cash(order.refunded)} of ${cash(order.total)} were given back`, PARTIES.merchant]] : []),
            [order.updatedAt, STATES[order.status] ?? order.status, ending && (PARTIES[ending.by] ?? ending.by)],
        ];
    }

    function left() {
        return order.total - (order.refunded ?? 0);
    }

    function openRefund() {
        const open = order.lines.map((line) => ({ ...line, left: line.quantity - (line.refunded ?? 0) })).filter((line) => line.left > 0);
        const what = select([
            ["all", `All that is left: ${cash(left())}`], ["amount", "An amount"],
            ...open.map((line, place) => [`line-${place}`, `${line.name}: ${line.left} left`]),
        ], "all");
        const amount = input({ inputmode: "decimal" });
        const quantity = input({ inputmode: "numeric", value: "1" });
        const why = select(CODES.map((code) => [code, REASONS[code]]), "ITEMS");
        const rows = [labelled("Amount", amount, `At most ${major(left(), order.currency)}`), labelled("How many", quantity)];
        const arrange = () => {
            rows[0].hidden = what.value !== "amount";
            rows[1].hidden = !what.value.startsWith("line-");
        };
        what.onchange = arrange;
        arrange();
        // It rests on the order as it is shown, so that nothing is given back twice.
        const { version } = order;
        openForm({
            title: `Give back of order ${numberOf(id)}`, yes: "Give back…",
            fields: [h("p", {}, `${cash(left())} of ${cash(order.total)} are left.`), labelled("What", what), ...rows, labelled("Why", why)],
            save: async () => {
                const asked = { code: why.value };
                let text = `All that is left, ${cash(left())}, is given back.`;
                if (what.value === "amount") {
                    asked.amount = minor(amount.value, order.currency, "Amount");
                    if (asked.amount < 1 || asked.amount > left()) throw new Error(`Amount: at most ${cash(left())} are left.`);
                    text = `${cash(asked.amount)} are given back. Then ${cash(left() - asked.amount)} are left.`;
                } else if (what.value !== "all") {
                    const line = open[Number(what.value.slice("line-".length))];
                    asked.line = line.line;
                    asked.quantity = Number(quantity.value);
                    if (!Number.isInteger(asked.quantity) || asked.quantity < 1 || asked.quantity > line.left) {
                        throw new Error(`How many: from 1 to ${line.left}.`);
                    }
                    text = `${asked.quantity} × ${line.name} is given back, with its share of service and taxes.`;
                }
                if (!await ask({ title: "Give it back?", texts: [text, "It cannot be undone."], yes: "Give back", no: "Not yet" })) return false;
                await send("POST", `${path}/refunds`, { body: asked, version });
                order = await get(path, { signal });
                await draw();
                say("It was given back.");
                return true;
            },
        });
    }
}
