// The store: chooses the page by the address, and keeps what all pages share: the cart, the stream, the banner.

import { localTimes } from "../shared/clock.js";
import { say, setHidden, setText } from "../shared/dom.js";
import { putIcons } from "../shared/icons.js";
import { settle } from "../shared/layers.js";
import { ask, isAsking } from "../shared/question.js";
import { Stream } from "../shared/stream.js";
import { CartPanel } from "./cart-panel.js";
import { Cart } from "./cart.js";
import { ItemSheet } from "./item-sheet.js";
import { drawCounts } from "./item.js";
import { forgetAll, remembered } from "../shared/memory.js";
import { plural, sentence } from "./texts.js";

// A stream that comes back within this is not worth a word.
const SHORT_ABSENCE = 1500;
// At the console a merchant sees a place as its customers do. There are no carts.
const isPreview = location.pathname.startsWith("/preview/");

const cart = new Cart({
    changed: () => drawCart(),
    refused: (problem, change) => refuse(problem, change),
    moved: () => stream.again(),
});
const sheet = new ItemSheet(cart);
const panel = new CartPanel(cart, sheet);
const badge = document.getElementById("cart-count");
const banner = document.getElementById("banner");
let away = null;

function drawCart() {
    setText(badge, String(cart.count));
    badge.toggleAttribute("data-empty", cart.count === 0);
    drawCounts(cart);
    panel.draw();
    drawBanner();
}

async function refuse(problem, change) {
    if (isPreview) return say("This is a preview: orders are placed in the store.");
    if (problem.code === "WRONGOUTLET" && change.kind === "add" && !isAsking()) {
        const title = "Your cart has items of another place. Empty it and add this?";
        if (!await ask({ title, yes: "Empty it and add" })) return;
        cart.clear();
        cart.add(change.item, change.body);
        return;
    }
    if (change.kind === "code" && panel.refuse(problem, change)) return;
    if (problem.code === "NOSLOT") panel.readTimes();
    say(localTimes(sentence(problem.message), panel.zone));
}

function drawBanner() {
    const isAway = cart.isAway || (away !== null && Date.now() - away >= SHORT_ABSENCE);
    const text = !isAway ? isPreview ? "Preview: customers see this place like that, and each change at once." : ""
        : cart.waiting > 0 ? `Offline. ${plural(cart.waiting, "change waits", "changes wait")} to be sent.`
        : "Offline. What is shown may be old; it will follow by itself.";
    setText(banner, text);
    setHidden(banner, text === "");
}

let page = null;
let hasAskedForCookie = false;
let isFollowingOrders = false;
const stream = new Stream({
    topics: () => [...(page?.topics() ?? []), ...(isPreview ? [] : ["cart"])],
    take: (topic, message) => (topic === "cart" ? cart.hear(message) : page?.hear?.(message)),
    refused: async (status) => {
        // Without a cookie there is no cart to follow.
        if (status === 400 && !hasAskedForCookie) {
            hasAskedForCookie = true;
            await getCookie();
            stream.again();
        } else page?.refused?.(status);
    },
    tell: (state) => {
        if (state !== "live") page?.lost?.();
        if (state === "live") {
            away = null;
            hasAskedForCookie = false;
        } else if (state === "away") away ??= Date.now();
        if (away !== null) setTimeout(drawBanner, SHORT_ABSENCE);
        drawBanner();
    },
});
// A fragment in the address would take the focus whenever somebody goes back to it.
document.querySelector(".skip").onclick = (event) => {
    event.preventDefault();
    document.getElementById("main").focus();
};
document.getElementById("forget").onclick = async ({ currentTarget }) => {
    try {
        const { forgetMe } = await import("./forget-me.js");
        await forgetMe(currentTarget, document.getElementById("forgotten"), startAnew);
    } catch {
        say("The server cannot be reached.");
    }
};
putIcons(document.body);
followOrders();
// Something was ordered in another tab, or before somebody went back to this page.
addEventListener("storage", followOrders);
addEventListener("pageshow", followOrders);
// At the console somebody may have to log in.
if (isPreview) await import("../shared/login.js");
page = await choose(location.pathname);
await page.open();
settle();
// It would be seen above the page, and jump.
setHidden(document.getElementById("foot"), isPreview);
stream.start();
if (isPreview) leadBack();
else registerWorker();

// Only who has ordered has something to follow. The strip is shown at once: later it would push the page down.
async function followOrders() {
    const strip = document.getElementById("open-orders");
    if (isFollowingOrders || remembered("orders") === null || location.pathname === "/orders") return;
    isFollowingOrders = true;
    setHidden(strip, location.pathname.startsWith("/order/"));
    const module = await import("./open-orders.js").catch(() => null);
    module?.followOrders(strip);
}

// Goes on as a browser that the server has never seen.
async function startAnew() {
    forgetAll();
    panel.forget();
    setHidden(document.getElementById("open-orders"), true);
    await getCookie();
    cart.leave();
    await page.again?.();
}

// The server gives one with a page to whoever has none.
function getCookie() {
    return fetch("/discover").catch(() => {});
}

async function choose(path) {
    const [, kind, id] = path.split("/");
    const place = { main: document.getElementById("main"), cart, panel, sheet, stream };
    if (kind === "o" || isPreview) return new (await import("./home.js")).OutletPage(decodeURIComponent(id ?? ""), place);
    if (kind === "order") return new (await import("./order.js")).OrderPage(decodeURIComponent(id ?? ""), place);
    if (kind === "orders") return new (await import("./orders.js")).OrdersPage(place);
    return new (await import("./feed.js")).FeedPage(place);
}

function leadBack() {
    const back = document.getElementById("back");
    back.href = `/merchant#menu?outlet=${location.pathname.split("/")[2]}`;
    back.setAttribute("aria-label", "Back to the menu");
    setHidden(document.querySelector(".cart-place"), true);
    drawBanner();
}

// The worker's address is the only one that the policy knows.
function registerWorker() {
    if (!navigator.serviceWorker) return;
    const policy = globalThis.trustedTypes?.createPolicy("tiffin", { createScriptURL: () => "/sw.js" });
    navigator.serviceWorker.register(policy ? policy.createScriptURL("") : "/sw.js").catch(() => {});
}
