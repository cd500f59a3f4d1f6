import { TiffinError } from "./errors.js";
import type { Json } from "./patch.js";

/// A command that needs the database is answered within 5 seconds, whatever the database does. All are milliseconds.
const longestAttempt = 10_000;
const firstPause = 50;
const longestPause = 2_000;

/** What a call may say besides its arguments. */
export interface Call {
    /** How many milliseconds it may take with all its attempts. */
    deadline?: number;
    /** Ends it when somebody aborts. */
    signal?: AbortSignal;
}

/** What a call that changes something may say besides its arguments. */
export interface Write extends Call {
    /** Makes it the same call whenever it is sent again; each has one of its own unless this names it. */
    key?: string;
    /** The version that what it changes has to have. */
    version?: number;
}

/** A value that filters have: any of a list; `{ from, to }` is a range with ends that may be open. */
export type Filter = string | number | boolean | (string | number)[] | { from?: number; to?: number };

/** Filters, sorts and limits by the keys of the query. */
export type Filters = Record<string, Filter>;

type Query = Record<string, Filter | undefined>;

interface Request {
    query?: Query;
    body?: object;
    picture?: Blob;
    /** The member of the answer that is returned in its place. */
    takes?: string;
    call?: Call;
    /** Of a call that changes something and takes a key. */
    write?: Write;
}

/** Who calls. */
export interface Identity {
    fields(): Record<string, string>;
    take(answer: Headers): void;
}

const isBrowser = "document" in globalThis || "WorkerGlobalScope" in globalThis;
const cookieName = "__Host-tiffin";

/**
 * A customer of the store: a secret, and which of its carts is the current one. In a browser both are its cookie.
 *
 * The server would give the secret away with its first answer. If that answer is lost, so is the cart. So it is made
 * here.
 */
export class Visitor implements Identity {
    constructor(public session = newSession()) {}

    fields(): Record<string, string> {
        return isBrowser ? {} : { cookie: `${cookieName}=${this.session}` };
    }

    take(answer: Headers): void {
        const [cookie] = (answer.get("set-cookie") ?? "").split(";");
        if (!cookie?.startsWith(`${cookieName}=`)) return;
        const value = cookie.slice(cookieName.length + 1);
        const [[secret, cart], [own, current]] = [value.split("."), this.session.split(".")];
        // An answer that comes late leads back to no earlier cart.
        if (value === "") this.session = newSession();
        else if (secret !== own || Number(cart) > Number(current)) this.session = value;
    }
}

function newSession(): string {
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    return `${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}.1`;
}

/** A user of the console. In a browser that logged in, the cookie says who it is. */
export class Login implements Identity {
    constructor(private readonly user?: string, private readonly token?: string) {}

    fields(): Record<string, string> {
        return this.user === undefined ? {} : { authorization: `Bearer ${this.user}:${this.token ?? ""}` };
    }

    take(): void {}
}

/** Calls to one site. `deadline` is how many milliseconds a call may take with all attempts. */
export class Connection {
    private readonly url: string;

    constructor(url: string, readonly identity: Identity, readonly deadline: number) {
        const { protocol, hostname } = new URL(url);
        const isSafe = protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
        if (identity instanceof Visitor && !isSafe) {
            throw new RangeError(`${url}: a session is a secret, which goes only over https or on the same machine`);
        }
        this.url = url.replace(/\/+$/, "");
    }

    /**
     * The answer to a call, or a member of it; null if there is none.
     *
     * It is sent again after what passes, until the deadline. A call that may be done twice needs a key for that if
     * nobody knows whether it was done; each that takes a key has one.
     */
    async call<Answer>(method: string, path: string, request: Request = {}): Promise<Answer> {
        const { query, body, picture, takes, write, call = write ?? {} } = request;
        const headers = new Headers({ accept: "application/json" });
        if (write) headers.set("idempotency-key", write.key ?? crypto.randomUUID());
        if (picture) headers.set("content-type", picture.type);
        else if (body) headers.set("content-type", "application/json");
        const address = this.address(path, { ...query, version: write?.version ?? query?.version });
        const canRepeat = write !== undefined || method === "GET" || method === "PUT";
        const ends = Date.now() + (call.deadline ?? this.deadline);
        let doubt: TiffinError | undefined;
        for (let attempt = 0; ; attempt++) {
            try {
                const content = picture ?? (body && JSON.stringify(body));
                const document = await this.attempt(method, address, headers, content, ends, call.signal);
                const found = takes === undefined ? document : (document as Record<string, Json>)[takes];
                return found as unknown as Answer;
            } catch (error) {
                if (!(error instanceof TiffinError) || !error.isTemporary) throw error;
                if (error.leavesDoubt) doubt = error;
                const wait = Math.max(pause(attempt), error.retryAfter);
                // The last attempt was not accepted; an earlier one may have been.
                if ((error.leavesDoubt && !canRepeat) || Date.now() + wait >= ends) throw doubt ?? error;
                await sleep(wait, call.signal);
            }
        }
    }

    private async attempt(
        method: string, address: string, headers: Headers, body: BodyInit | undefined, ends: number,
        signal: AbortSignal | undefined,
    ): Promise<Json> {
        const patience = new Patience(signal);
        patience.lasts(Math.max(1, Math.min(longestAttempt, ends - Date.now())));
        for (const [name, value] of Object.entries(this.identity.fields())) headers.set(name, value);
        try {
            const answer = await fetch(address, { method, body, headers, signal: patience.signal });
            const text = await answer.text();
            this.identity.take(answer.headers);
            return document(answer, text);
        } catch (error) {
            throw lost(error, signal);
        } finally {
            patience.ends();
        }
    }

    /** The lines of an answer that goes on, which is silent for at most so many milliseconds. */
    async *lines(
        path: string, query: Query, silence: number, signal?: AbortSignal,
    ): AsyncGenerator<string, void, undefined> {
        const patience = new Patience(signal);
        patience.lasts(silence);
        try {
            const answer = await fetch(this.address(path, query), {
                headers: { accept: "text/event-stream", ...this.identity.fields() }, signal: patience.signal,
            });
            if (!answer.ok || !answer.body) document(answer, await answer.text());
            const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
            let rest = "";
            for (;;) {
                const { done, value } = await reader.read();
                if (done) return;
                patience.lasts(silence);
                const lines = (rest + value).split("\n");
                rest = lines.pop()!;
                yield* lines;
            }
        } catch (error) {
            throw lost(error, signal);
        } finally {
            patience.ends();
        }
    }

    private address(path: string, query: Query): string {
        const words = filterWords(query);
        return `${this.url}${path}${words.length > 0 ? `?${new URLSearchParams(words)}` : ""}`;
    }
}

/** A text as a part of a path. */
export const segment = encodeURIComponent;

/** Filters as keys and values of a query. */
export function filterWords(query: Query): [string, string][] {
    return Object.entries(query).flatMap(([key, value]): [string, string][] => {
        if (value === undefined) return [];
        if (Array.isArray(value)) return value.map((each) => [key, String(each)]);
        if (typeof value === "object") return [[key, `${value.from ?? ""},${value.to ?? ""}`]];
        return [[key, typeof value === "boolean" ? String(Number(value)) : String(value)]];
    });
}

/** How many milliseconds to wait before the next attempt: longer each time, and never as long as everybody else. */
export function pause(attempt: number, longest = longestPause): number {
    return Math.min(longest, firstPause * 2 ** Math.min(attempt, 10)) * (0.5 + Math.random() / 2);
}

export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
        const wake = (): void => {
            clearTimeout(timer);
            signal?.removeEventListener("abort", wake);
            if (signal?.aborted) reject(signal.reason);
            else resolve();
        };
        const timer = setTimeout(wake, milliseconds);
        signal?.addEventListener("abort", wake);
        if (signal?.aborted) wake();
    });
}

/// A signal that is given after some time, or when another is.
class Patience {
    private readonly controller = new AbortController();
    private timer: ReturnType<typeof setTimeout> | undefined;
    private readonly abort = (): void => this.controller.abort();

    constructor(private readonly other?: AbortSignal) {
        if (other?.aborted) this.abort();
        other?.addEventListener("abort", this.abort);
    }

    get signal(): AbortSignal {
        return this.controller.signal;
    }

    /// From now on, and no longer than so many milliseconds.
    lasts(milliseconds: number): void {
        clearTimeout(this.timer);
        this.timer = setTimeout(this.abort, milliseconds);
    }

    /// Whatever goes on is over.
    ends(): void {
        clearTimeout(this.timer);
        this.other?.removeEventListener("abort", this.abort);
        this.abort();
    }
}

function lost(error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return signal.reason;
    if (error instanceof TiffinError) return error;
    const { cause } = error as { cause?: unknown };
    return new TiffinError("LOST", `no answer came: ${cause ?? error}`);
}

function document(answer: Response, text: string): Json {
    let found: Json | undefined;
    try {
        found = text === "" ? null : JSON.parse(text);
    } catch {
        // It is no document.
    }
    if (answer.ok && found !== undefined) return found;
    const problem = found as { code?: string; detail?: string } | null | undefined;
    if (problem?.code !== undefined && problem.detail !== undefined) {
        const seconds = Number(answer.headers.get("retry-after"));
        throw new TiffinError(problem.code, problem.detail, answer.status, (seconds || 0) * 1_000);
    }
    // Somebody in between answered, and nobody knows how far the call got.
    const code = answer.status === 502 || answer.status === 504 ? "LOST" : "ERR";
    throw new TiffinError(code, `the answer was ${answer.status} ${answer.statusText}`, answer.status);
}
