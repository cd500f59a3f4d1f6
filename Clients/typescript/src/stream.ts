import { type Connection, type Filters, filterWords, pause, sleep } from "./connection.js";
import { TiffinError } from "./errors.js";
import { applyPatch, type Json, type Operation, PatchError } from "./patch.js";

/// The server sends a comment every 15 seconds. All are milliseconds.
const longestSilence = 40_000;
const longestPause = 15_000;

/**
 * Where a topic stands.
 *
 * - `live`: `document` is what the server has now.
 * - `away`: the stream was cut and is being opened again; `document` is the last one that came, if any.
 * - `gone`: there is no such document, or it cannot be shown, and then `error` says why.
 */
export type Update<Document> =
    | { readonly state: "live"; readonly document: Document; readonly revision: number }
    | { readonly state: "away"; readonly document: Document | null; readonly revision: number | null }
    | {
        readonly state: "gone"; readonly document: null; readonly revision: number | null;
        readonly error?: TiffinError;
    };

/** What may be said of following. */
export interface Following {
    /** How many milliseconds the server may be away before that is an error; for ever, unless this says it. */
    patience?: number;
    /** Ends it when somebody aborts. */
    signal?: AbortSignal;
}

interface Message {
    from: number;
    to: number;
    patch?: Operation[];
    error?: { code: string; message: string };
}

/**
 * Each state of a topic, such as `order:2c0f…`, from now on, for as long as somebody takes the next one.
 *
 * After a cut it goes on from the revision that it has, so nothing is missed. A document comes whole; changes that
 * follow closely come as one. Throws TiffinError if the server refuses the topic, and once it has been away for too
 * long.
 */
export async function* follow<Document>(
    connection: Connection, topic: string, { patience, signal }: Following = {},
): AsyncGenerator<Update<Document>, void, undefined> {
    let document: Json = null;
    let revision: number | null = null as number | null;
    let isLive = false;
    let heard = Date.now();
    for (let attempt = 0; ; attempt++) {
        try {
            const opened: string = revision === null ? topic : `${topic}@${revision}`;
            const lines = connection.lines("/v1/stream", { t: opened }, longestSilence, signal);
            for await (const message of messages(lines)) {
                [attempt, heard, isLive] = [-1, Date.now(), true];
                const { from, to, patch, error } = message;
                if (error) {
                    const refusal = new TiffinError(error.code, error.message, 200);
                    yield { state: "gone", document: null, revision, error: refusal };
                    continue;
                }
                if (!patch) throw new PatchError("a message without a patch");
                if (!isWhole(patch) && from !== revision) {
                    if (revision !== null && to <= revision) continue;
                    throw new PatchError("changes are missing");
                }
                document = applyPatch(document, patch);
                revision = to;
                if (document === null) yield { state: "gone", document, revision: to };
                else yield { state: "live", document: document as unknown as Document, revision: to };
            }
        } catch (error) {
            if (error instanceof PatchError) {
                // The next stream begins with the whole document.
                [document, revision] = [null, null];
            } else {
                // A stream that was cut may still count among those that are open.
                const mayPass = error instanceof TiffinError
                    && (error.isTemporary || (error.code === "LIMIT" && revision !== null));
                if (!mayPass || (patience !== undefined && Date.now() - heard > patience)) throw error;
            }
        }
        if (isLive) {
            isLive = false;
            yield { state: "away", document: document as unknown as Document | null, revision };
        }
        await sleep(pause(Math.max(attempt, 0), longestPause), signal);
    }
}

/** The topic of a question: a command, and filters as behind its route. */
export function question(command: string, filters: Filters): string {
    return `${command}?${new URLSearchParams(filterWords(filters))}`;
}

function isWhole(patch: Operation[]): boolean {
    return patch.length === 1 && patch[0]!.op === "replace" && patch[0]!.path === "";
}

async function* messages(lines: AsyncIterable<string>): AsyncGenerator<Message, void, undefined> {
    let data: string[] = [];
    for await (const line of lines) {
        if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
        else if (line.trim() === "" && data.length > 0) {
            yield JSON.parse(data.join("\n"));
            data = [];
        }
    }
}
