// The page where somebody logs in. The server answers with a cookie that no script can read.

import { get, request } from "../shared/api.js";
import { isUsable, setText, setUsable } from "../shared/dom.js";

const PROBLEMS = { WRONGPASS: "This name and password do not belong together, or the user is disabled." };

const form = document.getElementById("login");
const button = form.querySelector("button");
const problem = document.getElementById("problem");

form.onsubmit = async (event) => {
    event.preventDefault();
    if (!isUsable(button)) return;
    setUsable(button, false);
    setText(problem, "");
    try {
        await request("POST", "/v1/session", { body: { name: form.elements.name.value, password: form.elements.password.value } });
        location.replace(destination());
    } catch (error) {
        setText(problem, PROBLEMS[error.code] ?? error.message);
        form.elements.password.select();
    }
    setUsable(button, true);
};
form.elements.name.focus();
// Whoever has logged in already, and whoever need not, goes on.
get("/v1/session").then(() => location.replace(destination()), () => {});

/// Where somebody wanted to go: a page of ours, and no other.
function destination() {
    const wanted = new URL(new URLSearchParams(location.search).get("to") ?? "/", location.href);
    return wanted.origin === location.origin && wanted.pathname !== location.pathname ? wanted.href : "/";
}
