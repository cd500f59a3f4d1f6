#!/usr/bin/env python3
"""Checks receipts of Tiffin's log, or a whole exported log, with nothing but SHA-256. audit.md has the formats.

RECEIPT is a file with the answer of LOG.PROVE, or - for standard input. With --head, the chain of the receipt and that
of the exported log must have that digest. With an export and a receipt, the receipt's batch must be in the export.
Exit status: 0 everything holds, 1 something does not, 2 wrong options, 3 something cannot be read.
"""
import argparse
import csv
import json
import re
import struct
import sys
from hashlib import sha256


# What a terminal obeys, or shows in another order than it is written: control characters, line separators and
# bidirectional controls. A receipt may hold any text.
UNSAFE = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def safe(text):
    """The text as one line that a terminal shows as it is."""
    return UNSAFE.sub(lambda match: f"\\u{{{ord(match[0]):x}}}", str(text))


def expect(condition, problem):
    """Exits with status 1 if the condition does not hold."""
    if not condition:
        sys.exit(safe(f"not proven: {problem}"))


def digest(text):
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise ValueError(f"{text!r} is not a digest, which has 64 hexadecimal digits in lower case")
    return bytes.fromhex(text)


def number(text):
    """The integer in a text, which the log writes in one way."""
    expect(re.fullmatch("0|-?[1-9][0-9]*", text), f"{text!r} is not a number as the log writes it")
    return int(text)


def table(path):
    """The rows of an exported table."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.reader(file, strict=True)
        columns = next(rows, [])
        for row in rows:
            expect(len(row) == len(columns), f"{path}, line {rows.line_num}: not a field for each column")
            yield dict(zip(columns, row))


def members(pairs):
    """A JSON object as a dictionary, if each member is there once and no number is a truth value."""
    found = dict(pairs)
    if len(found) != len(pairs) or any(isinstance(value, (bool, float)) for value in found.values()):
        raise ValueError(f"a member that is there twice, or is no integer: {sorted(name for name, _ in pairs)}")
    return found


FIELDS = {  # Those of a receipt, in whole.
    "receipt": {"receipt", "partitions", "event", "batch", "head"},
    "event": {"partition", "position", "stream", "version", "kind", "schemaVersion", "payload", "metadata",
              "recordedAtMilliseconds"},
    "batch": {"firstPosition", "lastPosition", "size", "index", "path", "previousChainDigest", "contentDigest", "chainDigest"},
    "head": {"position", "digest", "links"},
}


def leaf(stream, version, kind, schema_version, payload, metadata, milliseconds):
    """The digest of an event: SHA-256 of a zero byte and its canonical bytes."""
    def text(value):
        return struct.pack(">i", len(value.encode())) + value.encode()

    return sha256(b"\x00" + text(stream) + struct.pack(">q", version) + text(kind) + struct.pack(">i", schema_version)
                  + text(payload) + text(metadata) + struct.pack(">q", milliseconds)).digest()


def node(left, right):
    return sha256(b"\x01" + left + right).digest()


def root_of(leaves):
    """The root of the tree over a batch: neighbours are paired, and an odd last one moves up unchanged."""
    while len(leaves) > 1:
        leaves = [node(*leaves[i:i + 2]) if i + 1 < len(leaves) else leaves[i] for i in range(0, len(leaves), 2)]
    return leaves[0]


def root_from(of_event, index, size, path):
    """The root that follows from a leaf and its path."""
    while size > 1:
        if index ^ 1 < size:  # It has a neighbour.
            expect(path, "the path is too short")
            neighbour, *path = path
            of_event = node(neighbour, of_event) if index % 2 else node(of_event, neighbour)
        index, size = index // 2, (size + 1) // 2
    expect(not path, "the path is too long")
    return of_event


def slot_of(key):
    """As in Redis Cluster: CRC-16/XMODEM of the key, or of what is in its first braces, modulo 16,384."""
    tag = re.search(r"\{([^}]*)\}", key)
    value = 0
    for byte in (tag[1] if tag and tag[1] else key).encode():
        value ^= byte << 8
        for _ in range(8):
            value = (value << 1 ^ (0x1021 if value & 0x8000 else 0)) & 0xFFFF
    return value % 16_384


def partition_of(stream, partitions, by_slots):
    """By a range of slots. Or by the first four bytes of the SHA-256 of the id; an order's begins with those of its cart."""
    category, _, name = stream.partition("-")
    if by_slots:
        return slot_of(name) * partitions // 16_384
    if category == "order" and re.fullmatch("[0-9A-Fa-f]{8}", name[:8]):
        return int(name[:8], 16) % partitions
    return int.from_bytes(sha256(name.encode()).digest()[:4], "big") % partitions


def check_receipt(receipt, known, log):
    """Checks every step, and against a known digest and an exported log where these are given."""
    event, batch, head = receipt["event"], receipt["batch"], receipt["head"]
    for name, part in (("receipt", receipt), ("event", event), ("batch", batch), ("head", head)):
        if part is not None and set(part) != FIELDS[name]:
            raise ValueError(f"the {name} has other fields than a receipt: {sorted(set(part) ^ FIELDS[name])}")
    first, last, size, index = batch["firstPosition"], batch["lastPosition"], batch["size"], batch["index"]
    previous = digest(batch["previousChainDigest"])
    expect(receipt["receipt"] in (1, 2), "this is a receipt of another version")
    expect(1 <= first <= last == first + size - 1 and 0 <= index < size and event["position"] == first + index
           and 1 <= event["version"] <= event["position"] and (first == 1) == (previous == bytes(32)),
           "positions, version, index and size do not agree")
    expect(event["partition"] == partition_of(event["stream"], receipt["partitions"], receipt["receipt"] == 2),
           "the stream belongs to another partition")
    of_event = leaf(*(event[field] for field in (
        "stream", "version", "kind", "schemaVersion", "payload", "metadata", "recordedAtMilliseconds")))
    content = root_from(of_event, index, size, [digest(step) for step in batch["path"]])
    expect(content == digest(batch["contentDigest"]), "the content digest does not follow from the event and its path")
    chain = [sha256(previous + content).digest()]
    expect(chain[0] == digest(batch["chainDigest"]), "the chain digest does not follow from the one before and the content")
    if head is not None:
        between = head["position"] - last
        expect(between >= len(head["links"]) and (between == 0) == (not head["links"]),
               "the number of links does not fit the head's position")
        for link in head["links"]:
            chain.append(sha256(chain[-1] + digest(link)).digest())
        expect(chain[-1] == digest(head["digest"]), "the links do not lead to the head")
    expect(not known or known in chain, "the receipt's chain never has the digest of --head")
    expect(log is None or log.get((event["partition"], last)) == chain[0], "its batch is not in the exported log")
    print(safe(
        f"proven: {event['kind']}, version {event['version']} of {event['stream']}, is event {index + 1} of {size} "
        f"from position {first} on, in the log whose chain is {chain[-1].hex()} after {len(chain) - 1} more batches"))


def check_log(events, commits):
    """Recomputes every leaf, root and chain of an export; returns the chain digests by partition and position."""
    chains, heads = {}, {}
    for row in commits:
        partition, first, last = (number(row[name]) for name in ("partition", "first_position", "last_position"))
        where = f"partition {partition}, batch from {first} to {last}"
        before, chain = heads.get(partition, (0, bytes(32)))
        expect(first == before + 1 and last >= first, f"{where}: it should begin at {before + 1}")
        leaves = []
        for position in range(first, last + 1):
            event = next(events, {"partition": "-1", "position": "0"})
            expect((number(event["partition"]), number(event["position"])) == (partition, position),
                   f"{where}: there is no event at {position}")
            fields = event["line"].split("\t")
            expect(len(fields) == 6, f"{where}: the line of the event at {position} has not six fields")
            stream, version, kind, schema_version, payload, metadata = fields
            leaves.append(leaf(stream, number(version), kind, number(schema_version), payload, metadata,
                               number(event["recorded_at"])))
        content = root_of(leaves)
        expect(content == digest(row["content_digest"]), f"{where}: the content digest does not follow from its events")
        chain = chains[partition, last] = sha256(chain + content).digest()
        expect(chain == digest(row["chain_digest"]), f"{where}: the chain digest does not follow from its content")
        heads[partition] = last, chain
    expect(next(events, None) is None, "there are events after the last batch")
    for partition, (position, chain) in heads.items():
        print(f"partition {partition}: every digest holds, up to the head at position {position}, {chain.hex()}")
    return chains


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("receipt", nargs="?")
    for name in ("--head", "--events", "--commits"):
        parser.add_argument(name)
    options = parser.parse_args()
    if not (options.receipt or options.events) or bool(options.events) != bool(options.commits):
        parser.error("name a receipt, or give --events and --commits, or all three")
    try:
        csv.field_size_limit(1 << 30)
        head, log = options.head and digest(options.head), None
        if options.events:
            log = check_log(table(options.events), table(options.commits))
            expect(not head or head in log.values(), "the log's chain never had the digest of --head")
        if options.receipt:
            file = open(0 if options.receipt == "-" else options.receipt, encoding="utf-8")
            check_receipt(json.load(file, object_pairs_hook=members), head, log)
    except (OSError, ValueError, KeyError, TypeError, struct.error, csv.Error) as problem:
        print(safe(f"cannot be read: {problem!r}"), file=sys.stderr)
        sys.exit(3)


if __name__ == "__main__":
    main()
