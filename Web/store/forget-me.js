// A customer's wish to be forgotten, which the server keeps for good.

import { Away, request } from "../shared/api.js";
import { clockTime } from "../shared/clock.js";
import { isUsable, setText, setUsable } from "../shared/dom.js";
import { ask } from "../shared/question.js";
import { sentence } from "./texts.js";

// Others may be forgotten first, one at a time.
const PATIENCE = 60_000;

/// Asks, has the browser forgotten, and says in `state` what came of it. `forgotten()` is awaited before that.
export async function forgetMe(button, state, forgotten) {
    if (!isUsable(button)) return;
    const isWanted = await ask({
        title: "Forget me?",
        texts: [
            "Nobody will be able to read what you wrote here any more: your notes for the kitchen, your name, phone and "
                + "address, and why you cancelled. This browser forgets them as well. "
                + "Your cart is left behind, and this browser starts as somebody new.",
            "Your orders stay where you ordered, with what was in them and what they cost. One that is on its way goes on, "
                + "without its notes, but this browser cannot show it any more.",
            "This cannot be undone.",
        ],
        yes: "Forget me for good",
    });
    if (!isWanted) return;
    setUsable(button, false);
    setText(state, "You are being forgotten…");
    try {
        const { document } = await request("DELETE", "/v1/me", { patience: PATIENCE });
        await forgotten();
        setText(state, outcome(document));
    } catch (error) {
        setText(state, error instanceof Away ? "No answer came. Try again: to be forgotten twice does no harm."
            : `You are not forgotten. ${sentence(error.message)}`);
    }
    setUsable(button, true);
}

/// What the server's answer says, for people.
export function outcome({ customers: [me] }) {
    if (!me) return "There was nothing to forget: the server does not know this browser.";
    if (me.destroyedKeys > 0) return "You are forgotten. Nobody can read what you wrote any more.";
    if (me.forgottenBefore) return `You were forgotten already, ${clockTime(me.forgottenBefore)}.`;
    return "You are forgotten. You had written nothing.";
}
