// Pictures of items: scaled here, and stored under what they contain.

import { Away, Problem, noteStatus, signals } from "../shared/api.js";
import { outletPath } from "./parts.js";

const LONGEST_WAIT = 60_000;
const SIZES = { imageSmall: 320, imageLarge: 1280 };

/// What is wrong with the address of a picture; null for nothing.
export function problemWith(address) {
    return /^http:/i.test(address ?? "")
        ? "a picture by http is not shown, as somebody on the way could put another in its place: use https, or give its file."
        : null;
}

/// Stores a file in both sizes of a card's picture; answers their addresses by the fields of an item.
export async function store(outlet, file) {
    let picture;
    try {
        picture = await createImageBitmap(file);
    } catch {
        throw new Error(`${file.name} cannot be read: use a JPEG, PNG or WebP.`);
    }
    const addresses = {};
    for (const [field, width] of Object.entries(SIZES)) {
        const body = await scaled(picture, width);
        addresses[field] = await put(outlet, body);
    }
    picture.close();
    return addresses;
}

// Never larger than it is.
async function scaled(picture, most) {
    const width = Math.min(most, picture.width);
    const canvas = new OffscreenCanvas(width, Math.max(1, Math.round(picture.height * width / picture.width)));
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    return canvas.convertToBlob({ type: "image/webp", quality: 0.85 });
}

async function put(outlet, picture) {
    let answer;
    try {
        answer = await fetch(`${outletPath(outlet)}/pictures`, {
            method: "PUT", headers: { "content-type": picture.type }, body: picture, signal: signals.timeout(LONGEST_WAIT),
        });
    } catch {
        throw new Away("The server cannot be reached.");
    }
    noteStatus(answer);
    const document = await answer.json().catch(() => null);
    if (!answer.ok) throw new Problem(answer.status, document?.code, document?.detail ?? `The answer was ${answer.status}.`);
    return document.path;
}
