/** A value of JSON. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

/** An operation of JSON Patch (RFC 6902). */
export interface Operation {
    op: string;
    path: string;
    from?: string;
    value?: Json;
}

/** A patch that does not fit its document. */
export class PatchError extends Error {
    override name = "PatchError";
}

/** The document after all operations. The one before stays as it is, and shares what no operation touches. */
export function applyPatch(document: Json, patch: Operation[]): Json {
    return patch.reduce(apply, document);
}

function apply(document: Json, { op, path, from, value }: Operation): Json {
    switch (op) {
        case "add": return add(document, tokens(path), value ?? null);
        case "remove": return removed(document, tokens(path));
        case "replace": {
            at(document, tokens(path));
            const replacement = value ?? null;
            if (path === "") return replacement;
            return change(document, tokens(path), (container, key) => put(container, key, replacement));
        }
        case "move": {
            const moved = at(document, tokens(from ?? ""));
            return add(removed(document, tokens(from ?? "")), tokens(path), moved);
        }
        case "copy": return add(document, tokens(path), at(document, tokens(from ?? "")));
        case "test":
            if (isEqual(at(document, tokens(path)), value ?? null)) return document;
            throw new PatchError(`${path} is not what was expected`);
        default: throw new PatchError(`there is no operation ${op}`);
    }
}

function add(document: Json, path: string[], value: Json): Json {
    if (path.length === 0) return value;
    return change(document, path, (container, key) => {
        if (Array.isArray(container)) {
            container.splice(key === "-" ? container.length : index(key, container.length), 0, value);
        } else {
            put(container, key, value);
        }
    });
}

function removed(document: Json, path: string[]): Json {
    at(document, path);
    return change(document, path, (container, key) => {
        if (Array.isArray(container)) container.splice(Number(key), 1);
        else delete container[key];
    });
}

type Container = Json[] | { [member: string]: Json };

/// The document with a change to the container of the last token; it and all above it are copies.
function change(value: Json, path: string[], body: (container: Container, key: string) => void): Json {
    const [key, ...rest] = path;
    if (key === undefined || value === null || typeof value !== "object") {
        throw new PatchError("a value has no members");
    }
    const copy: Container = Array.isArray(value) ? value.slice() : { ...value };
    if (rest.length === 0) body(copy, key);
    else put(copy, key, change(child(copy, key), rest, body));
    return copy;
}

function at(document: Json, path: string[]): Json {
    return path.reduce(child, document);
}

function child(container: Json, key: string): Json {
    if (Array.isArray(container)) return container[index(key, container.length - 1)]!;
    if (container === null || typeof container !== "object" || !Object.hasOwn(container, key)) {
        throw new PatchError(`there is no ${key}`);
    }
    return container[key]!;
}

// An assignment to `__proto__` would not make a member of that name.
function put(container: Container, key: string, value: Json): void {
    const place = Array.isArray(container) ? index(key, container.length - 1) : key;
    Object.defineProperty(container, place, { value, writable: true, enumerable: true, configurable: true });
}

function index(token: string, last: number): number {
    if (/^(0|[1-9][0-9]{0,9})$/.test(token) && Number(token) <= last) return Number(token);
    throw new PatchError(`there is no place ${token}`);
}

function tokens(pointer: string): string[] {
    return pointer.split("/").slice(1).map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function isEqual(left: Json, right: Json): boolean {
    if (left === right) return true;
    if (left === null || right === null || typeof left !== "object" || typeof right !== "object") return false;
    if (Array.isArray(left) !== Array.isArray(right)) return false;
    const [one, other] = [Object.entries(left), right as { [member: string]: Json }];
    return one.length === Object.keys(other).length
        && one.every(([key, value]) => Object.hasOwn(other, key) && isEqual(value, other[key]!));
}
