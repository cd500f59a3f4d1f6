// The console: pages for operators and auditors, chosen by the fragment of the address.

import { get, request } from "../shared/api.js";
import { say, setAttribute, setHidden, setText } from "../shared/dom.js";
import "../shared/login.js";
import { h, readParameters } from "../shared/build.js";

const PAGES = {
    log: () => import("./log.js"),
    stream: () => import("./history.js"),
    travel: () => import("./travel.js"),
    proof: () => import("./proof.js"),
    health: () => import("./health.js"),
};

const main = document.getElementById("main");
// Who looks, as `{user, role}`: without users nobody has a name, and everybody is an admin.
const session = get("/v1/session").catch(() => ({ user: null, role: null }));
let current = null;

async function open() {
    const { page, parameters } = readParameters("log");
    if (!(page in PAGES)) return;
    current?.abort();
    const { signal } = (current = new AbortController());
    for (const link of document.querySelectorAll(".top nav a")) {
        setAttribute(link, "aria-current", link.getAttribute("href") === `#${page}` ? "page" : null);
    }
    try {
        const { show } = await PAGES[page]();
        if (!signal.aborted) await show(main, parameters, { signal, fail, session });
    } catch (error) {
        if (signal.aborted) return;
        main.replaceChildren(h("h1", {}, "This page cannot be shown"), h("p", { class: "muted" }, error.message));
    }
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
        location.replace("/login");
    } catch (error) {
        say(error.message);
    }
};
addEventListener("hashchange", open);
showUser();
open();
