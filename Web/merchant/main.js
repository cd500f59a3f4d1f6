// The merchant's pages, chosen by the fragment of the address.

import { get, request } from "../shared/api.js";
import { h, readParameters } from "../shared/build.js";
import { say, setAttribute, setHidden, setText } from "../shared/dom.js";
import "../shared/login.js";

const PAGES = {
    outlets: () => import("./outlets.js"),
    menu: () => import("./menu.js"),
    prices: () => import("./prices.js"),
    import: () => import("./import.js"),
    orders: () => import("./orders.js"),
    order: () => import("./order.js"),
    day: () => import("./day.js"),
};

const main = document.getElementById("main");
// Who looks, as `{user, role}`: without users nobody has a name, and everybody is an admin.
const session = get("/v1/session").catch(() => ({ user: null, role: null }));
let current = null;

async function open() {
    const { page, parameters } = readParameters("outlets");
    if (!(page in PAGES)) return;
    current?.abort();
    const { signal } = (current = new AbortController());
    for (const link of document.querySelectorAll(".top nav a")) {
        setAttribute(link, "aria-current", link.hash === `#${page}` ? "page" : null);
    }
    try {
        const { show } = await PAGES[page]();
        if (!signal.aborted) await show(main, parameters, { signal, fail, session });
    } catch (error) {
        if (signal.aborted) return;
        main.replaceChildren(
            h("h1", { tabindex: "-1", "data-focus-fallback": true }, "This page cannot be shown"),
            h("p", { class: "muted" }, error.message));
    }
    // The link that led here may be gone.
    if (document.activeElement === document.body) main.querySelector("h1")?.focus({ preventScroll: true });
}

/// Says in the banner that something does not work, or with null that it works again.
function fail(error) {
    const banner = document.getElementById("banner");
    setText(banner, error?.message ?? "");
    setHidden(banner, !error);
}

async function showUser() {
    const { user } = await session;
    setText(document.getElementById("user"), user ?? "");
    setHidden(document.getElementById("account"), user === null);
}

document.getElementById("logout").onclick = async () => {
    try {
        await request("DELETE", "/v1/session");
        location.replace("/login?to=/merchant");
    } catch (error) {
        say(error.message);
    }
};
addEventListener("hashchange", open);
showUser();
open();
