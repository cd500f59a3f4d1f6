// Checks a receipt of the log in the page, with nothing but SHA-256: the server is not believed. docs/audit.md has the
// formats.

const encoder = new TextEncoder();
const NO_DIGEST = "0".repeat(64);
const SLOTS = 16_384;

export class NotProven extends Error {
    name = "NotProven";
}

function expect(condition, problem) {
    if (!condition) throw new NotProven(problem);
}

async function sha256(...parts) {
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let place = 0;
    for (const part of parts) {
        bytes.set(part, place);
        place += part.length;
    }
    return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

export function hex(bytes) {
    return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function digest(text) {
    expect(typeof text === "string" && /^[0-9a-f]{64}$/.test(text), "a digest has 64 hexadecimal digits");
    return Uint8Array.from(text.match(/../g), (pair) => Number.parseInt(pair, 16));
}

// The digests in a base64 text, one after the other.
function digests(text) {
    expect(typeof text === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0, "a path is base64");
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    expect(bytes.length % 32 === 0 && btoa(String.fromCharCode(...bytes)) === text, "a digest has 32 bytes");
    return Array.from({ length: bytes.length / 32 }, (_, place) => bytes.subarray(32 * place, 32 * place + 32));
}

function number(value, bytes) {
    expect(Number.isSafeInteger(value), "a number is not whole");
    const view = new DataView(new ArrayBuffer(bytes));
    if (bytes === 8) view.setBigInt64(0, BigInt(value));
    else view.setInt32(0, value);
    return new Uint8Array(view.buffer);
}

function text(value) {
    const bytes = encoder.encode(value);
    return [...number(bytes.length, 4), ...bytes];
}

async function leaf(event) {
    return sha256([0], text(event.stream), number(event.version, 8), text(event.kind), number(event.schemaVersion, 4),
        text(event.payload), text(event.metadata), number(event.recordedAtMilliseconds, 8));
}

// The root that follows from a leaf and its path: neighbours are paired, and an odd last one moves up unchanged.
async function rootFrom(ofEvent, index, size, path) {
    let root = ofEvent;
    let used = 0;
    for (; size > 1; index = Math.floor(index / 2), size = Math.ceil(size / 2)) {
        if (index % 2 === 0 && index + 1 >= size) continue;
        expect(used < path.length, "the path is too short");
        const neighbour = path[used++];
        root = index % 2 === 1 ? await sha256([1], neighbour, root) : await sha256([1], root, neighbour);
    }
    expect(used === path.length, "the path is too long");
    return root;
}

// The slot of a key, as in Redis Cluster: CRC-16/XMODEM of it, or of what is in its first braces.
function slotOf(key) {
    const tag = /\{([^}]*)\}/.exec(key)?.[1];
    let sum = 0;
    for (const byte of encoder.encode(tag || key)) {
        sum ^= byte << 8;
        for (let bit = 0; bit < 8; bit++) sum = (sum << 1 ^ (sum & 0x8000 ? 0x1021 : 0)) & 0xFFFF;
    }
    return sum % SLOTS;
}

// The partition that a stream belongs to: by a range of slots, or in the first logs by SHA-256.
async function partitionOf(stream, partitions, bySlots) {
    const dash = stream.indexOf("-");
    const [category, name] = [stream.slice(0, dash), stream.slice(dash + 1)];
    if (bySlots) return Math.floor(slotOf(name) * partitions / SLOTS);
    if (category === "order" && /^[0-9A-Fa-f]{8}/.test(name)) return Number.parseInt(name.slice(0, 8), 16) % partitions;
    return new DataView((await sha256(encoder.encode(name))).buffer).getUint32(0) % partitions;
}

/// Checks every step of a receipt. Answers what it leads to, in words; throws NotProven with the first step that does
/// not hold.
export async function checkReceipt({ receipt, event, batch, head, tree, partitions }) {
    expect([1, 2, 3, 4].includes(receipt), "this is a receipt of another version");
    const { firstPosition: first, lastPosition: last, size, index } = batch;
    const previous = digest(batch.previousChainDigest);
    expect(first >= 1 && first <= last && last === first + size - 1 && index >= 0 && index < size
        && event.position === first + index && event.version >= 1 && event.version <= event.position
        && (first === 1) === (batch.previousChainDigest === NO_DIGEST),
        "positions, version, index and size do not agree");
    expect(event.partition === await partitionOf(event.stream, partitions, receipt % 2 === 0),
        "the stream belongs to another partition");
    const isOfTree = receipt > 2;
    const content = await rootFrom(
        await leaf(event), index, size, isOfTree ? digests(batch.path) : batch.path.map(digest));
    let chain = await sha256(previous, content);
    if (isOfTree) {
        expect(Number.isSafeInteger(tree.size) && tree.index >= 0 && tree.index < tree.size && tree.index < first
            && (tree.index === 0) === (first === 1), "the batch's place in the tree does not fit its positions");
        const root = await rootFrom(
            await sha256([0], number(last, 8), chain), tree.index, tree.size, digests(tree.path));
        expect(hex(root) === tree.root,
            "the event and the paths do not lead to the root");
        return `whose tree over ${tree.size} batches has the root ${tree.root}`;
    }
    expect(hex(content) === batch.contentDigest, "the content digest does not follow from the event and its path");
    expect(hex(chain) === batch.chainDigest, "the chain digest does not follow from the one before and the content");
    const links = head?.links ?? [];
    if (head !== null) {
        const between = head.position - last;
        expect(between >= links.length && (between === 0) === (links.length === 0),
            "the number of links does not fit the head's position");
        for (const link of links) chain = await sha256(chain, digest(link));
        expect(hex(chain) === head.digest, "the links do not lead to the head");
    }
    return `whose chain is ${hex(chain)} after ${links.length} more batches`;
}
