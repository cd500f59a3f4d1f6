import { putIcons } from "./icons.js";

const templates = new Map();

/// A copy of the content of a template, which is one element, with its icons.
export function clone(id) {
    let content = templates.get(id);
    if (!content) {
        content = document.getElementById(id).content.firstElementChild;
        putIcons(content);
        templates.set(id, content);
    }
    return document.importNode(content, true);
}

/// The elements below one by their `data-ref`. They are looked up once.
const found = new WeakMap();
export function refs(node) {
    let map = found.get(node);
    if (!map) {
        map = {};
        if (node.dataset.ref) map[node.dataset.ref] = node;
        for (const element of node.querySelectorAll("[data-ref]")) map[element.dataset.ref] ??= element;
        found.set(node, map);
    }
    return map;
}

/// Changes the text only if it is another: screen readers speak of every change, and find-in-page loses its place.
export function setText(node, text) {
    if (node.textContent !== text) node.textContent = text;
}

export function setHidden(node, hidden) {
    if (node.hidden !== hidden) node.hidden = hidden;
}

/// null removes the attribute.
export function setAttribute(node, name, value) {
    if (value === null) {
        if (node.hasAttribute(name)) node.removeAttribute(name);
    } else if (node.getAttribute(name) !== String(value)) {
        node.setAttribute(name, value);
    }
}

/// A button that says it cannot be used, but keeps the focus, which a disabled one would lose.
export function setUsable(button, usable) {
    setAttribute(button, "aria-disabled", usable ? null : "true");
}

export function isUsable(button) {
    return button.getAttribute("aria-disabled") !== "true";
}

/// An element with a text of people, which goes its own way.
export function textElement(tag, text, className = "") {
    const node = document.createElement(tag);
    if (className) node.className = className;
    node.dir = "auto";
    node.textContent = text;
    return node;
}

/// Calls `draw` once before the next frame, however often it is asked to.
export function drawing(draw) {
    let waiting = false;
    return () => {
        if (waiting) return;
        waiting = true;
        const run = () => {
            if (!waiting) return;
            waiting = false;
            draw();
        };
        requestAnimationFrame(run);
        // Hidden pages have no frames.
        setTimeout(run, 100);
    };
}

const speaker = () => document.getElementById("toast");
let silenceTimer = null;

/// Says something for a few seconds, also to screen readers.
export function say(text) {
    const toast = speaker();
    toast.textContent = text;
    toast.dataset.shown = "";
    clearTimeout(silenceTimer);
    silenceTimer = setTimeout(() => delete toast.dataset.shown, 6000);
}

export function prefersLessMotion() {
    return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
