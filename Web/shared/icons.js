// SVG icons: no emoji font can be relied on.

const NAMESPACE = "http://www.w3.org/2000/svg";

// Paths on a field of 24 × 24, drawn as lines.
const PATHS = {
    add: "M12 5v14M5 12h14",
    back: "M15 5l-7 7 7 7",
    bell: "M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4",
    cart: "M3 4h3l2.5 11h9.5l2.5-8H7M10 20a1 1 0 1 1-2 0 1 1 0 0 1 2 0M19 20a1 1 0 1 1-2 0 1 1 0 0 1 2 0",
    clock: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 7v5l3 3",
    close: "M6 6l12 12M18 6L6 18",
    dice: "M5 3h14a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2zM8 8h.01M16 16h.01M12 12h.01M16 8h.01M8 16h.01",
    dish: "M3 17h18M5 17a7 7 0 0 1 14 0M12 10V7M9.5 7h5",
    filter: "M4 6h16M7 12h10M10 18h4",
    grid: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
    link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
    list: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
    minus: "M5 12h14",
    offer: "M20 12l-8 8-8-8V4h8zM8 8h.01",
    search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M16 16l5 5",
    star: "M12 3l2.700 5.800 6.300.8-4.600 4.300 1.200 6.200L12 17l-5.600 3.100 1.200-6.200L3 9.600l6.300-.8z",
    sweet: "M4 11h16l-2 9H6zM5 11a7 5 0 0 1 14 0M12 6V3",
    trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6",
};

/// An icon of the size of the text around it. Screen readers pass over it.
export function icon(name) {
    const svg = document.createElementNS(NAMESPACE, "svg");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("class", "icon");
    svg.setAttribute("aria-hidden", "true");
    const path = document.createElementNS(NAMESPACE, "path");
    path.setAttribute("d", PATHS[name]);
    svg.append(path);
    return svg;
}

/// Puts icons where templates have `data-icon`.
export function putIcons(root) {
    const places = [...root.querySelectorAll("[data-icon]")];
    if (root.dataset?.icon) places.push(root);
    for (const place of places) {
        if (!place.firstElementChild?.classList.contains("icon")) place.prepend(icon(place.dataset.icon));
    }
}
