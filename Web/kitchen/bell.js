// What keeps an order from being missed that is new or has ended elsewhere: it rings until somebody takes note, and the
// screen stays awake.

import { setAttribute, setHidden } from "../shared/dom.js";
import { remember, remembered } from "../shared/memory.js";

const AGAIN = 10_000;

export class Bell {
    #button;
    #banner;
    #audio = null;
    #count = 0;
    #timer = null;

    /// `button` turns the sound on and off, and `banner` asks for the tap that a browser wants before it rings.
    constructor(button, banner) {
        this.#button = button;
        this.#banner = banner;
        button.onclick = () => {
            remember("sound", !this.#isOn);
            this.#begin();
            this.#ring();
        };
        addEventListener("pointerdown", () => this.#audio?.resume());
        addEventListener("keydown", () => this.#audio?.resume());
        document.addEventListener("visibilitychange", stayAwake);
        this.#begin();
        stayAwake();
    }

    /// Rings for so many orders that nobody has taken note of: at once if they are more than before, and every ten seconds.
    rings(count) {
        if (count > this.#count) this.#ring();
        this.#count = count;
        if (count === 0) {
            clearInterval(this.#timer);
            this.#timer = null;
        } else this.#timer ??= setInterval(() => this.#ring(), AGAIN);
    }

    // It is on until somebody turns it off.
    get #isOn() {
        return remembered("sound") ?? true;
    }

    #begin() {
        if (this.#isOn && !this.#audio) {
            this.#audio = new AudioContext();
            this.#audio.onstatechange = () => this.#draw();
        } else if (!this.#isOn) {
            this.#audio?.close();
            this.#audio = null;
        }
        this.#draw();
    }

    #draw() {
        setAttribute(this.#button, "aria-pressed", String(this.#isOn));
        setHidden(this.#banner, this.#audio?.state !== "suspended");
    }

    // Two short tones.
    #ring() {
        if (this.#audio?.state !== "running") return;
        for (const [start, pitch] of [[0, 880], [0.18, 1175]]) {
            const tone = new OscillatorNode(this.#audio, { frequency: pitch });
            const volume = new GainNode(this.#audio, { gain: 0.2 });
            tone.connect(volume).connect(this.#audio.destination);
            tone.start(this.#audio.currentTime + start);
            tone.stop(this.#audio.currentTime + start + 0.15);
        }
    }
}

// A browser lets go of it whenever the page is hidden.
function stayAwake() {
    if (document.visibilityState === "visible") navigator.wakeLock?.request("screen").catch(() => {});
}
