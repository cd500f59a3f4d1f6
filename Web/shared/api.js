import { hear } from "./clock.js";

const LONGEST_WAIT = 10_000;

/** @type {any} What makes signals, with what is newer than its description. */
export const signals = AbortSignal;

let stranger = () => {};

/// Has that called whenever an answer says that somebody has to log in.
export function onStranger(body) {
    stranger = body;
}

/// Looks whether an answer says so.
export function noteStatus(answer) {
    if (answer.status === 401) stranger();
}

/// A refusal: `code` is for programs, the message for people.
export class Problem extends Error {
    name = "Problem";

    constructor(status, code, detail) {
        super(detail);
        this.status = status;
        this.code = code;
    }

    /// Whether the same request can succeed later.
    get isTemporary() {
        return this.status === 503 || this.status === 502 || this.status === 504 || this.status === 429;
    }
}

/// No answer came: nobody knows whether the request arrived.
export class Away extends Error {
    name = "Away";
}

/// The document that a request is answered with; `key` makes it one that can be sent again. Throws Problem or Away,
/// and AbortError if `signal` was aborted. An answer is waited for `patience` milliseconds. `keepalive` sends it even if
/// the page is left.
/** @typedef {{ body?: any, key?: string, signal?: AbortSignal, etag?: string, keepalive?: boolean, patience?: number }} Options */
/** @param {string} method @param {string} path @param {Options} options @returns {Promise<any>} */
export async function request(method, path, { body, key, signal, etag, keepalive, patience = LONGEST_WAIT } = {}) {
    /** @type {Record<string, string>} */
    const headers = {};
    if (body !== undefined) headers["content-type"] = "application/json";
    if (key) headers["idempotency-key"] = key;
    if (etag) headers["if-none-match"] = etag;
    const timeout = signals.timeout(patience);
    let answer;
    let text;
    try {
        answer = await fetch(path, {
            method, headers, keepalive, body: body === undefined ? undefined : JSON.stringify(body),
            signal: signal ? signals.any([signal, timeout]) : timeout,
        });
        text = await answer.text();
    } catch (error) {
        if (signal?.aborted) throw error;
        throw new Away("The server cannot be reached.");
    }
    hear(answer);
    noteStatus(answer);
    if (answer.status === 304) return { unchanged: true };
    let document = null;
    try {
        document = text === "" ? null : JSON.parse(text);
    } catch {
        if (answer.ok) throw new Away("The answer cannot be read.");
    }
    if (!answer.ok) {
        throw new Problem(answer.status, document?.code ?? "ERR", document?.detail ?? `The answer was ${answer.status}.`);
    }
    return { document, etag: answer.headers.get("etag") };
}

export async function get(path, options) {
    return (await request("GET", path, options)).document;
}

/// The document that the page came with, if it is the one of that path.
export function inlineDocument(path) {
    const element = document.getElementById("document");
    if (element?.dataset.path !== path) return undefined;
    return JSON.parse(element.textContent);
}
