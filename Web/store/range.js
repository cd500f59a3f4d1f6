// A slider with two ends, made of two sliders on one rail, each with its own keyboard and name.

import { clone, refs, setAttribute, setHidden, setText } from "../shared/dom.js";

const MOST_STEPS = 60;

/// A step of 1, 2 or 5 times a power of ten, of which at most MOST_STEPS lead from one end to the other; not finer
/// than `finest`.
export function stepOf(least, most, finest) {
    const wanted = Math.max((most - least) / MOST_STEPS, finest);
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = [1, 2, 5, 10].find((factor) => factor * power >= wanted * (1 - 1e-9)) * power;
    return Math.max(step, finest);
}

export class Range {
    node = clone("range");
    #refs = refs(this.node);
    #write;
    #changed;
    #least = 0;
    #most = 0;

    /// `changed(from, to)` is called with null for an open end.
    constructor(changed) {
        this.#changed = changed;
        const { from, to } = this.#refs;
        from.oninput = () => this.#move(from);
        to.oninput = () => this.#move(to);
    }

    /// Draws the ends that can be chosen, and what is chosen: null where an end is open. `write(value)` gives a value for
    /// people, `finest` is the least step.
    draw({ title, write, finest }, [least, most], [from, to]) {
        const step = stepOf(least, most, finest);
        this.#write = write;
        this.#least = Math.floor(least / step + 1e-9) * step;
        this.#most = Math.ceil(most / step - 1e-9) * step;
        setText(this.#refs.title, title);
        setAttribute(this.#refs.from, "aria-label", `${title}, least`);
        setAttribute(this.#refs.to, "aria-label", `${title}, most`);
        for (const input of [this.#refs.from, this.#refs.to]) {
            // Whoever is moving an end keeps it.
            if (input === document.activeElement && input.matches(":active")) continue;
            input.min = this.#least;
            input.max = this.#most;
            input.step = step;
            input.value = input === this.#refs.from ? from ?? this.#least : to ?? this.#most;
        }
        setHidden(this.node, most <= least && from === null && to === null);
        this.#drawValues();
    }

    #move(moved) {
        const { from, to } = this.#refs;
        // Ends do not pass each other.
        if (Number(from.value) > Number(to.value)) moved.value = (moved === from ? to : from).value;
        this.#drawValues();
        const [low, high] = [Number(from.value), Number(to.value)];
        this.#changed(low <= this.#least ? null : low, high >= this.#most ? null : high);
    }

    #drawValues() {
        const { from, to, fromText, toText, rails } = this.#refs;
        const [low, high] = [Number(from.value), Number(to.value)];
        const share = (value) => `${((value - this.#least) / (this.#most - this.#least || 1)) * 100}%`;
        setText(fromText, this.#write(low));
        setText(toText, this.#write(high));
        setAttribute(from, "aria-valuetext", this.#write(low));
        setAttribute(to, "aria-valuetext", this.#write(high));
        rails.style.setProperty("--from", share(low));
        rails.style.setProperty("--to", share(high));
    }
}
