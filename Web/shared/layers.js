// What lies above the page: each layer has a place in the history, so that Back closes the topmost. The history follows
// the layers one move at a time, as going back takes a browser a while.

const layers = [];
let isMoving = false;
// The address at each place below a layer.
const places = [];
// An address that somebody went to during a move. The move goes on from there, and ends elsewhere.
let overtaken = null;
// What had the focus before the layer that was closed last.
let opener = null;

addEventListener("popstate", () => {
    const hasArrived = isMoving && location.href === (places[layers.length] ?? location.href);
    if (isMoving && !hasArrived) overtaken = location.href;
    isMoving = false;
    if (!hasArrived) closeAbove();
    // The page may open a layer for this place, and going to an address with a fragment takes the focus there.
    setTimeout(() => {
        if (opener?.isConnected) opener.focus({ preventScroll: true });
        opener = null;
        settle();
        if (overtaken && !isMoving && location.href !== overtaken) {
            location.href = overtaken;
            overtaken = null;
        }
    });
});
// A page that comes back as it was left may be at the place below.
addEventListener("pageshow", ({ persisted }) => persisted && closeAbove());

/// Opens a dialog above all else, at an address of its own if it has one.
export function raise(dialog, address) {
    const layer = { dialog, address, opener: document.activeElement };
    dialog.showModal();
    layers.push(layer);
    dialog.addEventListener("close", () => {
        opener = layer.opener;
        if (!layers.includes(layer)) return;
        layers.splice(layers.indexOf(layer), 1);
        settle();
    }, { once: true });
    settle();
}

/// Whether this is the place of a layer that is not open: somebody went forward to it, or came back from elsewhere.
export function isAhead() {
    return depth() > layers.length;
}

/// Goes to the place of the topmost layer.
export function settle() {
    if (isMoving) return;
    if (isAhead()) {
        isMoving = true;
        history.go(layers.length - depth());
    }
    for (let place = depth(); place < layers.length; place++) {
        places[place] = location.href;
        history.pushState({ depth: place + 1 }, "", layers[place].address);
    }
}

function depth() {
    return history.state?.depth ?? 0;
}

function closeAbove() {
    for (const { dialog } of layers.splice(depth()).reverse()) dialog.close();
}
