#!/usr/bin/env python3
"""Checks proofs of Tiffin's log, or a whole exported log, with nothing but SHA-256, and openssl for signatures. audit.md
has the formats.

PROOF is a file with the answer of LOG.PROVE or LOG.TREE, or - for standard input. --head is a digest that you have kept:
the root of a tree, or a digest of the chain. A receipt must lead to it; a log must have it; a tree must begin with it.
With an export and a proof, what the proof says must be in the export. --log is a key of the log, one of which must have
signed the root; --witness is the key of a witness, each of which must have cosigned it. Both may be repeated.
Exit status: 0 everything holds, 1 something does not, 2 wrong options, 3 something cannot be read.
"""
import argparse
import base64
import csv
import json
import re
import struct
import subprocess
import sys
import tempfile
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


def digests(text):
    """The digests in a base64 text, one after the other."""
    value = base64.b64decode(text, validate=True)
    if len(value) % 32 or base64.b64encode(value).decode() != text:
        raise ValueError(f"{text!r} is not the base64 of digests, which have 32 bytes each")
    return [value[i:i + 32] for i in range(0, len(value), 32)]


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


FIELDS = {  # Those of a receipt, in whole: with links, and with a tree.
    "receipt": {"receipt", "partitions", "event", "batch", "head"},
    "receipt of a tree": {"receipt", "partitions", "event", "batch", "tree"},
    "receipt of a signed tree": {"receipt", "partitions", "event", "batch", "tree", "signedHead"},
    "event": {"partition", "position", "stream", "version", "kind", "schemaVersion", "payload", "metadata",
              "recordedAtMilliseconds"},
    "batch": {"firstPosition", "lastPosition", "size", "index", "path", "previousChainDigest", "contentDigest", "chainDigest"},
    "batch of a tree": {"firstPosition", "lastPosition", "size", "index", "path", "previousChainDigest"},
    "head": {"position", "digest", "links"},
    "tree": {"index", "size", "root", "path"},
    "growth": {"tree", "partition", "position", "digest", "size", "root", "path", "since"},
    "since": {"size", "root", "path"},
}


def fields(name, part):
    """Fails unless a part of a proof has just its fields, and every number is an integer."""
    if set(part) != FIELDS[name]:
        raise ValueError(f"the {name} has other fields than it should: {sorted(set(part) ^ FIELDS[name])}")


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


def batch_leaf(last, chain):
    """A batch's leaf in the tree over a partition: where it ends, and the chain up to there."""
    return sha256(b"\x00" + struct.pack(">q", last) + chain).digest()


def is_beginning(old_size, old_root, size, root, path):
    """Whether the tree over size leaves begins with that over old_size, by the path between them: RFC 9162, 2.1.4.2."""
    if old_size == 0 or old_size == size:
        return not path and old_root == (sha256(b"").digest() if old_size == 0 else root)
    if not 0 < old_size < size:
        return False
    index, last, path = old_size - 1, size - 1, list(path)
    while index % 2:
        index, last = index // 2, last // 2
    if index:
        if not path:
            return False
        old = new = path.pop(0)
    else:
        old = new = old_root
    while last:
        if index % 2 or index == last:
            if not path:
                return False
            step = path.pop(0)
            old, new = node(step, old), node(step, new)
            while index and index % 2 == 0:
                index, last = index // 2, last // 2
        else:
            if not path:
                return False
            new = node(new, path.pop(0))
        index, last = index // 2, last // 2
    return not path and old == old_root and new == root


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


class Key:
    """A public key as tiffin key prints it: <name>+<number>+<kind and key in base64>."""

    def __init__(self, text):
        self.name, number, data = text.split("+", 2)
        kind_and_key = base64.b64decode(data, validate=True)
        self.kind, self.key = kind_and_key[0], kind_and_key[1:]
        self.number = sha256(self.name.encode() + b"\n" + kind_and_key).digest()[:4]
        if self.kind not in (1, 4) or len(self.key) != 32 or self.number.hex() != number:
            raise ValueError(f"{text!r} is not the key of a log or a witness")

    def check(self, text, signatures):
        """Fails if a signature says that it is of this key, and is not; says whether there is one that is."""
        signature = signatures.get((self.name, self.number))
        if signature is None:
            return False
        message = text.encode()
        if self.kind == 4:  # A witness says when it has signed, in seconds since 1970.
            time, signature = int.from_bytes(signature[:8], "big"), signature[8:]
            message = f"cosignature/v1\ntime {time}\n".encode() + message
        # What makes 32 bytes an Ed25519 key, by RFC 8410.
        encoded = base64.b64encode(bytes.fromhex("302a300506032b6570032100") + self.key).decode()
        with tempfile.TemporaryDirectory() as folder:
            for name, content in (("message", message), ("signature", signature),
                                  ("key", f"-----BEGIN PUBLIC KEY-----\n{encoded}\n-----END PUBLIC KEY-----\n".encode())):
                with open(f"{folder}/{name}", "wb") as file:
                    file.write(content)
            verified = subprocess.run(
                ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", f"{folder}/key", "-rawin", "-in",
                 f"{folder}/message", "-sigfile", f"{folder}/signature"], capture_output=True).returncode == 0
        expect(verified, f"there is a signature that says it is of {self.name}, and is not")
        return True


def check_signed_head(note, keys, partition, size, root):
    """Checks that what is signed is the root over a tree, and by whom. Returns who, as far as keys are known."""
    text, _, lines = note.rpartition("\n\n")
    text += "\n"
    origin, signed_size, signed_root = (text.split("\n") + [""] * 3)[:3]
    expect(lines.endswith("\n") and signed_size == str(size) and signed_root == base64.b64encode(root).decode()
           and origin.endswith(f"/{partition}"), "what is signed is not the root over this tree")
    signatures = {}
    for line in lines.split("\n")[:-1]:
        dash, name, data = line.split(" ")
        value = base64.b64decode(data, validate=True)
        expect(dash == "\u2014", "a line that is no signature")
        signatures.setdefault((name, value[:4]), value[4:])
    signed = [key for key in keys if key.check(text, signatures)]
    for key in keys:
        expect(key in signed or key.kind == 1, f"witness {key.name} has not cosigned it")
    logs = [key for key in keys if key.kind == 1]
    expect(not logs or any(key in signed for key in logs), "no key of the log has signed it")
    expect(all(origin == f"{key.name}/{partition}" for key in logs if key in signed), "it was signed for another log")
    return [key.name for key in signed]


def verify(receipt, known, log, keys=()):
    """Checks every step, and against a known digest, an exported log and keys where these are given. Returns what log the
    event is in, in words, and who has signed that, as far as keys are known."""
    form = receipt["receipt"]
    expect(form in range(1, 7), "this is a receipt of another version")
    of_tree = " of a tree" if form > 2 else ""
    fields("receipt of a signed tree" if form > 4 else "receipt" + of_tree, receipt)
    expect(not keys or form > 4, "nobody has signed this receipt's root")
    event, batch, tree, head = receipt["event"], receipt["batch"], receipt.get("tree"), receipt.get("head")
    fields("event", event)
    fields("batch" + of_tree, batch)
    first, last, size, index = batch["firstPosition"], batch["lastPosition"], batch["size"], batch["index"]
    previous = digest(batch["previousChainDigest"])
    expect(1 <= first <= last == first + size - 1 and 0 <= index < size and event["position"] == first + index
           and 1 <= event["version"] <= event["position"] and (first == 1) == (previous == bytes(32)),
           "positions, version, index and size do not agree")
    expect(event["partition"] == partition_of(event["stream"], receipt["partitions"], form % 2 == 0),
           "the stream belongs to another partition")
    of_event = leaf(*(event[field] for field in (
        "stream", "version", "kind", "schemaVersion", "payload", "metadata", "recordedAtMilliseconds")))
    path = digests(batch["path"]) if tree else [digest(step) for step in batch["path"]]
    content = root_from(of_event, index, size, path)
    chain = [sha256(previous + content).digest()]
    is_of_log = log is None or log.chains.get((event["partition"], last)) == chain[0]
    if tree:
        fields("tree", tree)
        number_of_batch, batches, root = tree["index"], tree["size"], digest(tree["root"])
        expect(0 <= number_of_batch < batches and number_of_batch < first and (number_of_batch == 0) == (first == 1),
               "the batch's place in the tree does not fit its positions")
        expect(root_from(batch_leaf(last, chain[0]), number_of_batch, batches, digests(tree["path"])) == root,
               "the event and the paths do not lead to the root")
        expect(not known or known in (root, chain[0]), "neither the root nor the batch's chain is the digest of --head")
        expect(not is_of_log or log is None or log.root(event["partition"], batches) == root,
               "the exported log has another root there")
        end = f"the log whose tree over {batches} batches has the root {root.hex()}"
    else:
        expect(content == digest(batch["contentDigest"]), "the content digest does not follow from the event and its path")
        expect(chain[0] == digest(batch["chainDigest"]), "the chain digest does not follow from the one before and the content")
        if head is not None:
            fields("head", head)
            between = head["position"] - last
            expect(between >= len(head["links"]) and (between == 0) == (not head["links"]),
                   "the number of links does not fit the head's position")
            for link in head["links"]:
                chain.append(sha256(chain[-1] + digest(link)).digest())
            expect(chain[-1] == digest(head["digest"]), "the links do not lead to the head")
        expect(not known or known in chain, "the receipt's chain never has the digest of --head")
        end = f"the log whose chain is {chain[-1].hex()} after {len(chain) - 1} more batches"
    expect(is_of_log, "its batch is not in the exported log")
    signers = check_signed_head(receipt["signedHead"], keys, event["partition"], batches, root) if form > 4 else []
    return end, f", signed by {' and '.join(signers)}" if signers else ""


def check_receipt(receipt, known, log, keys=()):
    """Checks a receipt, and says what it proves."""
    end, signers = verify(receipt, known, log, keys)
    event, batch = receipt["event"], receipt["batch"]
    print(safe(
        f"proven: {event['kind']}, version {event['version']} of {event['stream']}, is event {batch['index'] + 1} of "
        f"{batch['size']} from position {batch['firstPosition']} on, in {end}{signers}"))
    compared(known, log, keys)


def check_growth(growth, known, log, keys=()):
    """Checks an answer of LOG.TREE: what a partition is, and that it goes on from what it was."""
    fields("growth", growth)
    expect(not keys, "keys are for receipts")
    expect(growth["tree"] == 1, "this is a tree of another version")
    partition, size, last = growth["partition"], growth["size"], growth["position"]
    root, chain, since = digest(growth["root"]), digest(growth["digest"]), growth["since"]
    expect(partition >= 0 and 0 <= size <= last and (size == 0) == (last == 0), "size and position do not agree")
    if size == 0:
        expect(root == sha256(b"").digest() and chain == bytes(32) and not growth["path"],
               "a log without batches has another root and digest")
    else:
        expect(root_from(batch_leaf(last, chain), size - 1, size, digests(growth["path"])) == root,
               "the last batch and its path do not lead to the root")
    heads, old = [root, chain], ""
    if since is not None:
        fields("since", since)
        heads.append(digest(since["root"]))
        expect(is_beginning(since["size"], heads[-1], size, root, digests(since["path"])),
               f"the tree over {size} batches does not begin with that over {since['size']}")
        old = f", and begins with the tree over {since['size']} batches with the root {heads[-1].hex()}"
    expect(not known or known in heads, "no root and no chain of it is the digest of --head")
    expect(log is None or log.root(partition, size) == root, "the exported log has another root there")
    print(f"proven: the tree over the {size} batches of partition {partition}, up to position {last}, where the chain is "
          f"{chain.hex()}, has the root {root.hex()}{old}")
    compared(known, log, keys)


def compared(known, log, keys):
    """Says so if a proof was compared with nothing."""
    if not known and log is None and not keys:
        print("compared with no head: this holds of the log with these digests, and --head shows whether that is yours")


class Log:
    """What an exported log is: the chain by partition and position, and the leaves of each partition's tree."""

    def __init__(self):
        self.chains, self.leaves = {}, {}

    def roots(self, partition):
        """The root over the first batch, over the first two, and so on."""
        parts = []  # Roots over powers of two, the largest first, each with how many leaves it has.
        for of_batch in self.leaves.get(partition, []):
            parts.append((1, of_batch))
            while len(parts) > 1 and parts[-1][0] == parts[-2][0]:
                (width, right), (_, left) = parts.pop(), parts.pop()
                parts.append((2 * width, node(left, right)))
            root = parts[-1][1]
            for _, left in parts[-2::-1]:
                root = node(left, root)
            yield root

    def root(self, partition, size):
        leaves = self.leaves.get(partition, [])
        return (root_of(leaves[:size]) if size else sha256(b"").digest()) if size <= len(leaves) else None

    def has(self, known):
        return known in self.chains.values() or any(known in self.roots(partition) for partition in self.leaves)


def check_log(events, commits):
    """Recomputes every leaf, root and chain of an export."""
    log, heads = Log(), {}
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
        chain = log.chains[partition, last] = sha256(chain + content).digest()
        log.leaves.setdefault(partition, []).append(batch_leaf(last, chain))
        expect(chain == digest(row["chain_digest"]), f"{where}: the chain digest does not follow from its content")
        heads[partition] = last, chain
    expect(next(events, None) is None, "there are events after the last batch")
    for partition, (position, chain) in heads.items():
        size = len(log.leaves[partition])
        print(f"partition {partition}: every digest holds, up to the head at position {position}, {chain.hex()}")
        print(f"partition {partition}: the tree over its {size} batches has the root {log.root(partition, size).hex()}")
    return log


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("proof", nargs="?")
    for name in ("--head", "--events", "--commits"):
        parser.add_argument(name)
    for name in ("--log", "--witness"):
        parser.add_argument(name, action="append", default=[])
    options = parser.parse_args()
    if not (options.proof or options.events) or bool(options.events) != bool(options.commits):
        parser.error("name a proof, or give --events and --commits, or all three")
    try:
        csv.field_size_limit(1 << 30)
        head, log, keys = options.head and digest(options.head), None, [Key(text) for text in options.log + options.witness]
        if options.events:
            log = check_log(table(options.events), table(options.commits))
            expect(not head or log.has(head), "neither the log's chain nor its tree ever had the digest of --head")
        if options.proof:
            file = open(0 if options.proof == "-" else options.proof, encoding="utf-8")
            proof = json.load(file, object_pairs_hook=members)
            check = check_growth if "since" in proof else check_receipt
            check(proof, head, log, keys)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, struct.error, csv.Error) as problem:
        print(safe(f"cannot be read: {problem!r}"), file=sys.stderr)
        sys.exit(3)


if __name__ == "__main__":
    main()
