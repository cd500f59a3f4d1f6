// The console: pages for operators and auditors, chosen by the fragment of the address.

import { setAttribute, setHidden, setText } from "../shared/dom.js";
import { h, readParameters } from "./build.js";

const PAGES = {
    log: () => import("./log.js"),
    stream: () => import("./history.js"),
    travel: () => import("./travel.js"),
    proof: () => import("./proof.js"),
    health: () => import("./health.js"),
};

const main = document.getElementById("main");
let current = null;

async function open() {
    const { page, parameters } = readParameters();
    if (!(page in PAGES)) return;
    current?.abort();
    const { signal } = (current = new AbortController());
    for (const link of document.querySelectorAll(".top nav a")) {
        setAttribute(link, "aria-current", link.hash === `#${page}` ? "page" : null);
    }
    try {
        const { show } = await PAGES[page]();
        if (!signal.aborted) await show(main, parameters, { signal, fail });
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

addEventListener("hashchange", open);
open();
