/**
 * Why there is no answer: what the server says, and `LOST` of this client. docs/protocol.md says when each is; there
 * may be more one day.
 */
export type Code =
    | "ERR" | "INVALID" | "NOAUTH" | "WRONGPASS" | "DENIED" | "NOPERM" | "READONLY" | "NOTFOUND" | "CONFLICT"
    | "SOLDOUT" | "CLOSED" | "WRONGOUTLET" | "STATE" | "LIMIT" | "TOTALCHANGED" | "CHOICE" | "REQUIRED" | "NOSLOT"
    | "PROMO" | "FORGOTTEN" | "IDMISMATCH" | "CORRUPT" | "BUSY" | "LOADING" | "UNAVAILABLE" | "UNKNOWN" | "LOST"
    | (string & {});

/// After these, nothing has changed and the same may succeed later.
const refusedForNow = new Set<Code>(["BUSY", "LOADING", "UNAVAILABLE"]);
const temporary = new Set([429, 502, 503, 504]);

/**
 * A refusal, or that no answer came.
 *
 * `code` is for programs and does not change, `message` is for people, and `status` is that of HTTP. With `LOST` nobody
 * answered in time, and the status is 0. After `LOST` and `UNKNOWN` nobody knows whether a write was done; after every
 * other code it was not.
 */
export class TiffinError extends Error {
    override name = "TiffinError";

    /** `retryAfter` is the fewest milliseconds before the next attempt. */
    constructor(readonly code: Code, message: string, readonly status = 0, readonly retryAfter = 0) {
        super(message);
    }

    /** Whether a write may have been done all the same. */
    get leavesDoubt(): boolean {
        return this.code === "LOST" || this.code === "UNKNOWN";
    }

    /** Whether the same may succeed later. */
    get isTemporary(): boolean {
        return this.leavesDoubt || refusedForNow.has(this.code) || temporary.has(this.status);
    }
}

/** Whether something that was thrown is a refusal with one of these codes; with any, if none is named. */
export function isRefusal(error: unknown, ...codes: Code[]): error is TiffinError {
    return error instanceof TiffinError && (codes.length === 0 || codes.includes(error.code));
}
