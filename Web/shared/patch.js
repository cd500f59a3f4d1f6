// JSON Patch (RFC 6902) on documents that are never changed in place: a patch makes a new document, which shares
// with the old one whatever it does not touch. So a screen finds out what to draw again by comparing references.

export class PatchError extends Error {
    name = "PatchError";
}

/// The document after all operations. Throws PatchError if one cannot be applied; the old document stays as it was.
export function applyPatch(document, operations) {
    if (!Array.isArray(operations)) throw new PatchError("a patch is a list of operations");
    const patching = new Patching(document);
    for (const operation of operations) patching.apply(operation);
    return patching.root;
}

class Patching {
    // Containers that were copied for this patch. Only these are changed in place.
    #own = new Set();

    constructor(document) {
        this.root = document;
    }

    apply(operation) {
        const path = tokens(operation?.path);
        switch (operation.op) {
            case "add":
                this.#add(path, value(operation));
                break;
            case "remove":
                this.#remove(path);
                break;
            case "replace":
                this.#replace(path, value(operation));
                break;
            case "move": {
                const from = tokens(operation.from);
                if (isBefore(from, path)) throw new PatchError(`${operation.from} cannot be moved into itself`);
                const moved = this.#at(from);
                if (operation.from === operation.path) break;
                this.#remove(from);
                this.#add(path, moved);
                break;
            }
            case "copy":
                // A deep copy, as both places could be changed by what follows.
                this.#add(path, structuredClone(this.#at(tokens(operation.from))));
                break;
            case "test":
                if (!isEqual(this.#at(path), value(operation))) {
                    throw new PatchError(`${operation.path} is not what the patch expects`);
                }
                break;
            default:
                throw new PatchError(`there is no operation ${operation.op}`);
        }
    }

    #at(path) {
        return path.reduce((container, token) => child(container, token), this.root);
    }

    // The container of the last token of a path, which is not empty; it and all above it may be changed in place.
    #owned(path) {
        this.root = this.#own1(this.root);
        let container = this.root;
        for (const token of path.slice(0, -1)) {
            const next = this.#own1(child(container, token));
            put(container, token, next);
            container = next;
        }
        return container;
    }

    #own1(container) {
        if (this.#own.has(container)) return container;
        if (container === null || typeof container !== "object") throw new PatchError("a value has no members");
        const copy = Array.isArray(container) ? container.slice() : { ...container };
        this.#own.add(copy);
        return copy;
    }

    #add(path, added) {
        if (path.length === 0) {
            this.root = added;
            return;
        }
        const container = this.#owned(path);
        const token = path.at(-1);
        if (Array.isArray(container)) {
            container.splice(token === "-" ? container.length : index(token, container.length), 0, added);
        } else {
            put(container, token, added);
        }
    }

    #remove(path) {
        if (path.length === 0) throw new PatchError("the whole document cannot be removed");
        this.#at(path);
        const container = this.#owned(path);
        const token = path.at(-1);
        if (Array.isArray(container)) container.splice(Number(token), 1);
        else delete container[token];
    }

    #replace(path, replacement) {
        if (path.length === 0) {
            this.root = replacement;
            return;
        }
        this.#at(path);
        put(this.#owned(path), path.at(-1), replacement);
    }
}

function value(operation) {
    if (!Object.hasOwn(operation, "value")) throw new PatchError(`${operation.op} needs a value`);
    return operation.value;
}

// A JSON Pointer (RFC 6901) as its tokens.
function tokens(pointer) {
    if (pointer === "") return [];
    if (typeof pointer !== "string" || pointer[0] !== "/") throw new PatchError(`${pointer} is no JSON Pointer`);
    if (/~(?![01])/.test(pointer)) throw new PatchError(`${pointer} has a ~ that stands for nothing`);
    return pointer.slice(1).split("/").map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function isBefore(from, path) {
    return from.length < path.length && from.every((token, place) => token === path[place]);
}

function child(container, token) {
    if (Array.isArray(container)) return container[index(token, container.length - 1)];
    if (container === null || typeof container !== "object" || !Object.hasOwn(container, token)) {
        throw new PatchError(`there is no ${token}`);
    }
    return container[token];
}

function index(token, last) {
    if (!/^(0|[1-9][0-9]{0,9})$/.test(token) || Number(token) > last) throw new PatchError(`there is no place ${token}`);
    return Number(token);
}

// An assignment to `__proto__` would not make a member of that name.
function put(container, token, added) {
    if (token === "__proto__") {
        Object.defineProperty(container, token, { value: added, writable: true, enumerable: true, configurable: true });
    } else {
        container[token] = added;
    }
}

function isEqual(left, right) {
    if (left === right) return true;
    if (left === null || right === null || typeof left !== "object" || typeof right !== "object") return false;
    if (Array.isArray(left) !== Array.isArray(right)) return false;
    const keys = Object.keys(left);
    return keys.length === Object.keys(right).length
        && keys.every((key) => Object.hasOwn(right, key) && isEqual(left[key], right[key]));
}
