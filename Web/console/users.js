// Who can log in, and what they may do: for admins, who do it after a question. A token is shown once, and nowhere kept.

import { get, request } from "../shared/api.js";
import { h, moment, table } from "../shared/build.js";
import { refs, say, setHidden, setText } from "../shared/dom.js";
import { ask } from "../shared/question.js";
import { reconcile } from "../shared/reconcile.js";

const ROLES = { customer: "Customer", merchant: "Merchant", auditor: "Auditor", admin: "Admin" };
// A customer has carts, a merchant outlets; the others see everything.
const CONFINED = ["customer", "merchant"];

export async function show(main, parameters, { signal, session }) {
    const { role: own, user: self } = await session;
    const title = h("h1", { tabindex: "-1", "data-focus-fallback": true }, "Users");
    if (own !== "admin") {
        main.replaceChildren(title, h("p", { class: "muted" }, "Only admins see users."));
        return;
    }
    const body = h("tbody", { "data-testid": "users" });
    const list = table("", ["name", "role", "confined to", "logs in with", "state", "added", "change"], []);
    list.querySelector("tbody").replaceWith(body);
    const none = h("p", { role: "status", hidden: true },
        "There are no users: everybody on the server’s own machine may do everything. ", h("code", {}, "tiffin user add"), " adds the first.");
    const name = field({ maxlength: 64, required: true });
    const role = h("select", { class: "field" }, Object.entries(ROLES).map(([value, text]) => h("option", { value }, text)));
    const only = field({ placeholder: "everything" });
    const token = h("input", { class: "field code", readonly: true, size: 72, "data-testid": "token" });
    const tokenName = h("span", {});
    const shown = h("p", { hidden: true }, h("label", {}, tokenName, token),
        h("button", { class: "button", type: "button", click: () => hideToken() }, "Hide it"));
    const form = h("form", { class: "tools", submit: (event) => {
        event.preventDefault();
        add();
    } }, h("label", {}, "Name", name), h("label", {}, "Role", role), h("label", {}, "Confined to", only), h("button", { class: "button" }, "Add"));
    const problem = h("p", { class: "gone", role: "alert" });
    await read();
    main.replaceChildren(title, none, list, shown, h("h2", {}, "Add a user"), form, problem);
    signal.addEventListener("abort", hideToken);

    async function read() {
        const { users } = await get("/v1/users", { signal });
        setHidden(none, users.length > 0);
        setHidden(form, users.length === 0);
        setHidden(list, users.length === 0);
        reconcile(body, users, { id: (user) => user.name, make, fill });
    }

    function make({ name }) {
        const button = (step, text) => h("button", { class: "button", type: "button", value: step, "data-focus": step, "data-ref": step }, text);
        let entry = null;
        const node = h("tr", { "data-user": name },
            h("td", { class: "code" }, name), h("td", { "data-ref": "role" }),
            h("td", {}, h("span", { "data-ref": "free" }), h("form", { class: "tools", "data-ref": "confinement", submit: (event) => {
                event.preventDefault();
                confine(entry, refs(node).only.value);
            } }, field({ placeholder: "everything", "data-ref": "only", "aria-label": `What ${name} is confined to` }),
            h("button", { class: "button", "aria-label": `Confine ${name}` }, "Confine"))),
            h("td", { "data-ref": "login" }), h("td", { "data-ref": "state" }), h("td", { "data-ref": "added" }),
            h("td", {}, h("div", { class: "tools" }, button("token", "New token"), button("disable", "Disable"),
                button("enable", "Enable"), button("remove", "Remove"))));
        node.onclick = ({ target }) => {
            const step = target.closest("button[value]")?.value;
            if (step) steps[step](name);
        };
        node.take = (user) => { entry = user; };
        return node;
    }

    function fill(node, user) {
        const parts = refs(node);
        const isConfined = CONFINED.includes(user.role);
        node.take(user);
        setText(parts.role, ROLES[user.role] ?? user.role);
        setText(parts.free, isConfined ? "" : "everything");
        setHidden(parts.confinement, !isConfined);
        if (parts.only !== document.activeElement) parts.only.value = user.only.join(", ");
        setText(parts.login, [user.password && "password", ...user.tokens.map((each) => `token ${each}`)].filter(Boolean).join(", ") || "nothing yet");
        setText(parts.state, user.enabled ? "enabled" : "disabled");
        parts.added.replaceChildren(moment(user.addedAt));
        // Whoever locks themselves out cannot undo it.
        setHidden(parts.disable, !user.enabled || user.name === self);
        setHidden(parts.enable, user.enabled);
        setHidden(parts.remove, user.name === self);
        for (const [step, text] of [["token", "New token for"], ["disable", "Disable"], ["enable", "Enable"], ["remove", "Remove"]]) {
            parts[step].setAttribute("aria-label", `${text} ${user.name}`);
        }
    }

    const steps = {
        token: async (user) => {
            const isWanted = await ask({ title: `Make a token for ${user}?`, texts: [
                "Whoever has it can log in with it in place of a password. It is shown once: only its digest is kept."], yes: "Make it" });
            if (!isWanted) return;
            const made = await send("POST", `${path(user)}/tokens`, `${user} has another token.`);
            if (!made) return;
            setText(tokenName, `Token of ${user}, shown this once`);
            token.value = made.token;
            setHidden(shown, false);
            token.focus();
            token.select();
        },
        disable: async (user) => {
            const texts = ["Connections are closed, and nobody logs in with that name until it is enabled again."];
            if (await ask({ title: `Disable ${user}?`, texts, yes: "Disable" })) await send("POST", `${path(user)}/disable`, `${user} is disabled.`);
        },
        enable: (user) => send("POST", `${path(user)}/enable`, `${user} is enabled.`),
        remove: async (user) => {
            const texts = ["Connections are closed, and its password and tokens are gone. What it did stays in the log."];
            if (await ask({ title: `Remove ${user}?`, texts, yes: "Remove", word: user })) await send("DELETE", path(user), `${user} is removed.`);
        },
    };

    async function confine({ name: user, only: before }, text) {
        const wanted = ids(text);
        const words = (list) => (list.length === 0 ? "everything of its kind" : list.join(", "));
        const texts = [`Until now it may use ${words(before)}, from then on ${words(wanted)}.`];
        if (!await ask({ title: `Confine ${user}?`, texts, yes: "Confine" })) return;
        await send("PUT", `${path(user)}/confinement`, `${user} may use ${words(wanted)}.`, { only: wanted.join(",") || "*" });
    }

    async function add() {
        const wanted = ids(only.value);
        const user = name.value.trim();
        const body = { user, role: role.value, ...(wanted.length > 0 ? { only: wanted.join(",") } : {}) };
        if (user === "" || !await send("POST", "/v1/users", `${user} was added. It logs in once it has a token.`, body)) return;
        form.reset();
    }

    // Answers null where it was refused, which is said.
    async function send(method, where, done, document = undefined) {
        setText(problem, "");
        hideToken();
        let answer = null;
        try {
            answer = (await request(method, where, { body: document })).document;
            say(done);
        } catch (error) {
            setText(problem, error.message);
        }
        await read().catch(() => {});
        return answer;
    }

    function hideToken() {
        token.value = "";
        setHidden(shown, true);
    }
}

function path(user) {
    return `/v1/users/${encodeURIComponent(user)}`;
}

function ids(text) {
    return text.split(",").map((id) => id.trim()).filter(Boolean);
}

function field(attributes) {
    return h("input", { class: "field code", autocomplete: "off", autocapitalize: "none", spellcheck: "false", ...attributes });
}
