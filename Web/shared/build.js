/// An element with attributes, where functions are listeners, and children, where texts are texts.
export function h(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) continue;
        if (typeof value === "function") node.addEventListener(name, value);
        else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return node;
}

/// A table that can be scrolled sideways, with the keyboard, too.
export function table(className, heads, rows) {
    return h("div", { class: "scroll", tabindex: "0" }, h("table", { class: className },
        h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, rows)));
}

/// The address of a page with its parameters.
export function address(page, parameters = {}) {
    const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== "" && value !== null));
    return query.size > 0 ? `#${page}?${query}` : `#${page}`;
}

/// The page that the address names, or else `first`, and its parameters.
export function readParameters(first) {
    const [page, query = ""] = location.hash.slice(1).split("?");
    return { page: page || first, parameters: new URLSearchParams(query) };
}

/// Keeps the parameters in the address without a step in the history.
export function keep(page, parameters) {
    history.replaceState(null, "", address(page, parameters));
}

export function pretty(document) {
    return JSON.stringify(document, null, 2);
}

/// The name of a stream as a link to its history.
export function streamLink(stream) {
    return h("a", { class: "code", href: address("stream", { name: stream }) }, stream);
}

/// A link that has an event proven.
export function proofLink({ stream, version }) {
    return h("a", { class: "chip", href: address("proof", { stream, version }) }, "Prove it");
}

const moments = new Intl.DateTimeFormat(undefined, {
    month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3,
});

/// When an event was recorded.
export function moment(time) {
    return h("time", { datetime: time, title: time }, moments.format(new Date(time)));
}
