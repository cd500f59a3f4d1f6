// Server-sent events, read with fetch: an EventSource would repeat its first address with an old revision, and give up
// when a proxy answers 502 once.

import { noteStatus } from "./api.js";

const FIRST_DELAY = 500;
const LONGEST_DELAY = 15_000;
// The server sends a comment every 15 seconds.
const LONGEST_SILENCE = 40_000;
const LONGEST_EVENT = 32 * 1024 * 1024;

/// Cuts what arrives into events, however it is split.
export class EventParser {
    #rest = "";
    #event = "";
    #data = [];

    /// The events that are complete now, each `{event, data}`.
    push(text) {
        const events = [];
        this.#rest += text;
        if (this.#rest.length > LONGEST_EVENT) throw new RangeError("an event is too long");
        let from = 0;
        for (let end; (end = this.#rest.indexOf("\n", from)) >= 0; from = end + 1) {
            const line = this.#rest.slice(from, this.#rest[end - 1] === "\r" && end > from ? end - 1 : end);
            if (line === "") {
                if (this.#data.length > 0) events.push({ event: this.#event || "message", data: this.#data.join("\n") });
                this.#event = "";
                this.#data = [];
            } else {
                this.#field(line);
            }
        }
        this.#rest = this.#rest.slice(from);
        return events;
    }

    #field(line) {
        const colon = line.indexOf(":");
        const name = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (name === "event") this.#event = value;
        if (name === "data") this.#data.push(value);
    }
}

/// How long to wait before the next attempt: longer each time, and never as long as everybody else.
export function delay(attempt, random = Math.random) {
    const most = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** Math.min(attempt, 10));
    return most / 2 + (most / 2) * random();
}

/// A stream of topics that is open while the page is visible, and comes back by itself.
export class Stream {
    #topics;
    #take;
    #tell;
    #refused;
    #attempt = 0;
    #abort = null;
    #timer = null;
    #stopped = true;
    #state = "closed";

    /// `topics()` names the topics each time the stream is opened, with the revisions that are there by then, such as
    /// `home:o@62`; none, and there is no stream. `take(topic, message)` is called for each event, and `tell(state)`
    /// with "live", "away" or "closed". `refused(status)` is called if the server does not give these topics; then others
    /// have to be named.
    constructor({ topics, take, tell = (_) => {}, refused = (_) => {} }) {
        this.#topics = topics;
        this.#take = take;
        this.#tell = tell;
        this.#refused = refused;
    }

    start() {
        this.#stopped = false;
        document.addEventListener("visibilitychange", this.#look);
        addEventListener("online", this.again);
        addEventListener("offline", this.#lose);
        addEventListener("pagehide", this.#close);
        addEventListener("pageshow", this.#look);
        this.#look();
    }

    /// Opens the stream again, with the topics and revisions of now.
    again = () => {
        this.#close();
        this.#attempt = 0;
        this.#look();
    };

    // A browser opens six connections to a host: hidden pages must not keep them.
    #look = () => {
        if (document.visibilityState === "hidden" || this.#stopped) this.#close();
        else if (!this.#abort && this.#timer === null) this.#open();
    };

    // An open connection can take minutes to find out.
    #lose = () => this.#abort?.abort();

    #close = () => {
        clearTimeout(this.#timer);
        this.#timer = null;
        this.#abort?.abort();
        this.#abort = null;
        this.#become("closed");
    };

    #become(state) {
        if (this.#state === state) return;
        this.#state = state;
        this.#tell(state);
    }

    async #open() {
        const topics = this.#topics();
        if (topics.length === 0) return;
        const abort = (this.#abort = new AbortController());
        let silence;
        const heard = () => {
            clearTimeout(silence);
            silence = setTimeout(() => abort.abort(), LONGEST_SILENCE);
        };
        heard();
        try {
            const query = topics.map((topic) => `t=${encodeURIComponent(topic)}`).join("&");
            const answer = await fetch(`/v1/stream?${query}`, {
                signal: abort.signal, cache: "no-store", headers: { accept: "text/event-stream" },
            });
            noteStatus(answer);
            if (answer.status >= 400 && answer.status < 500) this.#refused(answer.status);
            if (!answer.ok) throw new Error(`the stream was answered ${answer.status}`);
            const parser = new EventParser();
            const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
            for (;;) {
                const { done, value } = await reader.read();
                if (done || abort.signal.aborted) break;
                heard();
                this.#attempt = 0;
                this.#become("live");
                for (const { event, data } of parser.push(value)) this.#take(event, JSON.parse(data));
            }
        } catch {
            // Whatever it was, it is tried again.
        } finally {
            clearTimeout(silence);
            abort.abort();
        }
        // Somebody closed this stream, and perhaps opened another.
        if (this.#abort !== abort) return;
        this.#abort = null;
        this.#become("away");
        this.#timer = setTimeout(() => {
            this.#timer = null;
            this.#look();
        }, delay(this.#attempt++));
    }
}
