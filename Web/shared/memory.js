// What this browser remembers of its customer, here and nowhere else.

const PREFIX = "tiffin.";

/// What is kept under a name, or null; `inTab` for as long as this tab is open. There may be no storage, and others may
/// have written there.
export function remembered(name, { inTab = false } = {}) {
    try {
        return JSON.parse(storage(inTab).getItem(PREFIX + name));
    } catch {
        return null;
    }
}

/// Keeps a value under a name; null keeps nothing.
export function remember(name, value, { inTab = false } = {}) {
    try {
        if (value === null) storage(inTab).removeItem(PREFIX + name);
        else storage(inTab).setItem(PREFIX + name, JSON.stringify(value));
    } catch {
        // Without a storage nothing is remembered.
    }
}

/// Forgets all of it.
export function forgetAll() {
    try {
        for (const kept of [storage(true), storage(false)]) {
            for (const name of Object.keys(kept)) if (name.startsWith(PREFIX)) kept.removeItem(name);
        }
    } catch {
        // Without a storage nothing was remembered.
    }
}

function storage(inTab) {
    return inTab ? sessionStorage : localStorage;
}
