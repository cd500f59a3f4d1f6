// Pages of one document, chosen by the fragment of its address, for those who log in.

import { get, request } from "./api.js";
import { h, readParameters } from "./build.js";
import { say, setAttribute, setHidden, setText } from "./dom.js";
import "./login.js";

/// Shows the page that the fragment names, now and whenever it changes.
///
/// `pages` are loaders by their names, `first` is the page without a fragment, and `login` where who logs out goes.
export function showPages(pages, first, login) {
    const main = document.getElementById("main");
    // Who looks, as `{user, role}`: without users nobody has a name, and everybody is an admin.
    const session = get("/v1/session").catch(() => ({ user: null, role: null }));
    let current = null;

    async function open() {
        const { page, parameters } = readParameters(first);
        if (!(page in pages)) return;
        current?.abort();
        const { signal } = (current = new AbortController());
        for (const link of document.querySelectorAll(".top nav a")) {
            setAttribute(link, "aria-current", link.hash === `#${page}` ? "page" : null);
        }
        try {
            const { show } = await pages[page]();
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

    document.getElementById("logout").onclick = async () => {
        try {
            await request("DELETE", "/v1/session");
            location.replace(login);
        } catch (error) {
            say(error.message);
        }
    };
    addEventListener("hashchange", open);
    showUser(session);
    open();
}

/// Says in the banner that something does not work, or with null that it works again.
function fail(error) {
    const banner = document.getElementById("banner");
    setText(banner, error?.message ?? "");
    setHidden(banner, !error);
}

async function showUser(session) {
    const { user } = await session;
    setText(document.getElementById("user"), user ?? "");
    setHidden(document.getElementById("account"), user === null);
}
