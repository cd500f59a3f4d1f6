// When discovery asks again what the stream does not tell.

// How often on average. Of many pages some ask sooner and some later.
const LOOK_AGAIN = 5000;
// The same, where the cursor behind the first page is not known.
const LOOK_SOON = 1000;

/// How long the next look is away, on average; null if there is none. A stream that is live tells the first rows, but not
/// what the filters would find: where rows have changed, that is old.
export function pauseOf({ isVisible, isLive, isOld, isComplete }) {
    if (!isVisible || (isLive && !isOld)) return null;
    return isComplete ? LOOK_AGAIN : LOOK_SOON;
}

/// Looks again and again, as long as `pause()` is not null.
export class Looking {
    #pause;
    #look;
    #timer = null;
    #waited = null;
    #isLooking = false;

    constructor(pause, look) {
        this.#pause = pause;
        this.#look = look;
    }

    /// Takes a pause that has become another one.
    later() {
        const pause = this.#pause();
        if (this.#isLooking || pause === this.#waited) return;
        clearTimeout(this.#timer);
        this.#waited = pause;
        if (pause !== null) this.#timer = setTimeout(() => this.#run(), pause * (0.5 + Math.random()));
    }

    async #run() {
        this.#isLooking = true;
        await this.#look();
        this.#isLooking = false;
        this.#waited = null;
        this.later();
    }
}
