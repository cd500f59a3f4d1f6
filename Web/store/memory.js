// What this browser remembers of its customer, here and nowhere else.

const PREFIX = "tiffin.";

/// What is kept under a name, or null. There may be no storage, and others may have written there.
export function remembered(name) {
    try {
        return JSON.parse(localStorage.getItem(PREFIX + name));
    } catch {
        return null;
    }
}

/// Keeps a value under a name; null keeps nothing.
export function remember(name, value) {
    try {
        if (value === null) localStorage.removeItem(PREFIX + name);
        else localStorage.setItem(PREFIX + name, JSON.stringify(value));
    } catch {
        // Without a storage nothing is remembered.
    }
}

/// Forgets all of it.
export function forgetAll() {
    try {
        for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX)) localStorage.removeItem(name);
    } catch {
        // Without a storage nothing was remembered.
    }
}
