"""A receipt of LOG.PROVE proves, without the server, that an event is in its log; nothing else does."""

import base64
import copy
import json
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from types import SimpleNamespace

import pytest

from tampering import tamper
from tiffin import (
    CHECKOUT, PATIENCE_SECONDS, Server, binary, connection_to, fresh_database, item_document, put_open_outlet,
    read_log, run_tiffin, section_document, sql,
)

CHECKER = CHECKOUT / "docs" / "check_receipt.py"


def check(*arguments, text=None):
    """Runs the independent checker."""
    return subprocess.run(
        [sys.executable, "-I", str(CHECKER), *map(str, arguments)], input=text, capture_output=True, text=True,
        timeout=PATIENCE_SECONDS)


def verify(*arguments, text=None):
    """Runs `tiffin verify`, with nothing in its environment."""
    return subprocess.run(
        [binary(), "verify", *map(str, arguments)], input=text, capture_output=True, text=True, timeout=PATIENCE_SECONDS, env={})


def heads(client):
    return {head["partition"]: head for head in client.json("LOG.HEAD")}


# --- LOG.PROVE


def test_a_receipt_has_the_event_of_the_log_and_ends_at_the_head(client, outlet, name):
    client("CART.ADD", name, outlet, "rice", 1, "NOTE", "crème brûlée, தயிர் 🍱 \\ \"", "ID", "one")
    client("CART.ADD", name, outlet, "kottu", 2)
    receipt = client.json("LOG.PROVE", f"cart-{name}", 1)
    [logged] = [json.loads(event) for event in client("LOG.READ", "STREAM", f"cart-{name}", "COUNT", 1)]
    event = receipt["event"]
    for field in ("partition", "position", "stream", "version", "kind", "schemaVersion"):
        assert event[field] == logged[field]
    assert json.loads(event["payload"]) == logged["payload"]
    assert json.loads(event["metadata"]) == logged["metadata"]
    tree = client.json("LOG.TREE", event["partition"])
    assert {key: tree[key] for key in ("size", "root")} == {key: receipt["tree"][key] for key in ("size", "root")}
    assert list(receipt) == ["receipt", "partitions", "event", "batch", "tree"]
    head = heads(client)[event["partition"]]
    assert {key: tree[key] for key in head} == head
    links = client.json("LOG.PROVE", f"cart-{name}", 1, "FORM", "links")
    assert {key: links["head"][key] for key in ("position", "digest")} == {key: head[key] for key in ("position", "digest")}
    assert list(links) == ["receipt", "partitions", "event", "batch", "head"]


def test_a_receipt_sees_the_writes_before_it(client, outlet, name):
    client.send(b"".join(
        b"CART.ADD %s %s rice 1\r\n" % (name.encode(), outlet.encode()) for _ in range(20)
    ) + b"LOG.PROVE cart-%s 20\r\n" % name.encode())
    replies = [client.read() for _ in range(21)]
    assert json.loads(replies[-1])["event"]["version"] == 20


def test_a_receipt_is_linked_to_the_requested_head(client, outlet, name):
    digests = {}
    for quantity in range(1, 6):
        client("CART.ADD", name, outlet, "rice", 1)
        head = heads(client)[0]
        digests[head["position"]] = (head["digest"], client.json("LOG.TREE", 0))
    first = client.json("LOG.PROVE", f"cart-{name}", 1, "FORM", "links")
    for position, (digest, tree) in digests.items():
        receipt = client.json("LOG.PROVE", f"cart-{name}", 1, "HEAD", position, "FORM", "links")
        assert (receipt["head"]["position"], receipt["head"]["digest"]) == (position, digest)
        assert receipt["batch"] == first["batch"]
        assert check("-", "--head", digest, text=json.dumps(receipt)).returncode == 0
        receipt = client.json("LOG.PROVE", f"cart-{name}", 1, "HEAD", position)
        assert (receipt["tree"]["size"], receipt["tree"]["root"]) == (tree["size"], tree["root"])
        assert client.json("LOG.TREE", 0, "HEAD", position) == tree
        text = json.dumps(receipt)
        for run in (verify("-", "--head", tree["root"], text=text), check("-", "--head", tree["root"], text=text)):
            assert run.returncode == 0 and "compared" not in run.stdout.replace("nothing", "")
        # What the log was is the beginning of what it is.
        growth = client("LOG.TREE", 0, "SINCE", tree["size"]).decode()
        run = check("-", "--head", tree["root"], text=growth)
        assert run.returncode == 0 and f"begins with the tree over {tree['size']} batches" in run.stdout
        assert check("-", "--head", "00" * 32, text=growth).returncode == 1


def test_an_event_that_cannot_be_proven_is_an_error_that_says_why(client, outlet, name):
    client("CART.ADD", name, outlet, "rice", 1)
    client("CART.ADD", name, outlet, "rice", 1)
    end = client.json("LOG.HEAD")[0]["position"]
    assert str(client.error("LOG.PROVE", f"cart-{name}", 3)) == f"NOTFOUND cart-{name} has no version 3"
    assert client.error("LOG.PROVE", f"cart-{name}x", 1).code == "NOTFOUND"
    for arguments in (
        (f"cart-{name}", 0), (f"cart-{name}", "x"), (name, 1), ("", 1), (b"cart-\xff", 1), (f"cart-{name}", 1, "HEAD", 0),
        (f"cart-{name}", 1, "HEAD", end + 1), (f"cart-{name}", 2, "HEAD", end - 1), (f"cart-{name}", 2**63 - 1, "HEAD", -1),
    ):
        assert client.error("LOG.PROVE", *arguments).code == "INVALID", arguments
    for arguments in (1, -1, "x"), (0, "SINCE", end + 1), (0, "HEAD", end + 1), (0, "HEAD", 0):
        assert client.error("LOG.TREE", *arguments[:3]).code in ("INVALID", "ERR"), arguments
    assert client.error("LOG.PROVE", f"cart-{name}", 1, "FORM", "list").code == "INVALID"
    assert client.error("LOG.PROVE", f"cart-{name}").code == "ERR"
    assert client.error("LOG.PROVE", f"cart-{name}", 1, "TAIL", 1).code == "ERR"
    assert client.error("LOG.PROVE", f"cart-{name}", 2**63 - 1).code == "NOTFOUND"


def test_a_log_that_was_changed_has_no_receipts(database):
    with Server(database=database) as server, server.client() as client:
        for number in range(3):
            client("OUTLET.PUT", f"outlet-{number}", json.dumps({"name": "x", "currency": "LKR", "timeZone": "Asia/Colombo"}))
        assert client("LOG.PROVE", "outlet-outlet-1", 1)
        tamper("update tiffin.events set payload = replace(payload, '\"x\"', '\"y\"') where stream = 'outlet-outlet-1'", database)
        assert client.error("LOG.PROVE", "outlet-outlet-1", 1).code == "CORRUPT"
        # The changed event cannot be proven, and the others can.
        assert client("LOG.PROVE", "outlet-outlet-0", 1)
        sql("update tiffin.commits set content_digest = sha256('') where first_position = 3", database)
        assert client.error("LOG.PROVE", "outlet-outlet-0", 1).code == "CORRUPT"
        assert client("LOG.PROVE", "outlet-outlet-0", 1, "HEAD", 2)


# --- checking without the server


@pytest.fixture(scope="module")
def log():
    """A server's log with batches of 1 and of many, as a receipt for every event, and its database."""
    with fresh_database() as database, Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "kitchen", [section_document("all", [
            item_document("kottu", 1), item_document("தோசை".encode().hex(), 2, name="தோசை \U0001f35b e\u0301 \u2028 \"q\" \\"),
            *(item_document(f"item-{number}", number) for number in range(37)),
        ])])
        for number in range(3):
            client("CART.ADD", f"cart-{number}", "kitchen", "kottu", 1, "NOTE", "crème\u2009brûlée 🍮", "ID", f"é{number}")
        client.pipeline([("CART.ADD", f"cart-{number % 7}", "kitchen", "item-9", 1, "ID", f"{number}") for number in range(100)])
        client("CART.CHECKOUT", "cart-1", "TOTAL", client.json("CART.GET", "cart-1")["total"])
        events = read_log(client)
        yield Log(database, client.json("LOG.HEAD")[0], client.json("LOG.TREE", 0), *(
            [client("LOG.PROVE", event["stream"], event["version"], "FORM", form).decode() for event in events]
            for form in ("links", "tree")))


class Log:
    def __init__(self, database, head, tree, receipts, of_tree):
        self.database, self.head, self.tree = database, head, tree
        self.texts = receipts
        self.receipts = [json.loads(receipt) for receipt in receipts]
        self.of_tree = [json.loads(receipt) for receipt in of_tree]

    def some(self, of_tree=False):
        """A receipt with a path and with links, neither at the beginning of its batch nor at its end."""
        return next(
            self.of_tree[number] if of_tree else receipt for number, receipt in enumerate(self.receipts)
            if number >= 10 and len(receipt["batch"]["path"]) >= 2 and len(receipt["head"]["links"]) >= 3
            and 0 < receipt["batch"]["index"] < receipt["batch"]["size"] - 1)


def test_the_log_has_batches_of_one_and_of_many(log):
    sizes = {receipt["batch"]["size"] for receipt in log.receipts}
    assert 1 in sizes and max(sizes) > 30, sizes
    assert any("தோசை" in receipt["event"]["payload"] for receipt in log.receipts)
    assert {receipt["event"]["stream"].split("-")[0] for receipt in log.receipts} == {"outlet", "menu", "cart", "order"}
    assert log.some()


def test_every_receipt_is_proven_by_the_checker(log):
    # In this process, because one process for each would take long.
    checker = {"__name__": "checker"}
    exec(compile(CHECKER.read_text(), str(CHECKER), "exec"), checker)
    for receipt, of_tree in zip(log.receipts, log.of_tree):
        checker["check_receipt"](receipt, bytes.fromhex(log.head["digest"]), None)
        checker["check_receipt"](of_tree, bytes.fromhex(log.tree["root"]), None)
        assert len(json.dumps(of_tree, separators=(",", ":"), ensure_ascii=False).encode()) <= 2048 + len(
            of_tree["event"]["payload"].encode())


def test_a_receipt_is_proven_in_plain_words(log, tmp_path):
    for number in (0, 1, len(log.texts) // 2, len(log.texts) - 1):
        receipt = log.receipts[number]
        event, batch, head = receipt["event"], receipt["batch"], receipt["head"]
        file = tmp_path / "receipt.json"
        file.write_text(log.texts[number], encoding="utf-8")
        for run in (
            verify(file), verify("-", text=log.texts[number]), verify(file, "--head", log.head["digest"]),
            verify("--head", batch["chainDigest"].upper(), file),
        ):
            assert (run.returncode, run.stderr) == (0, "")
            sentence = run.stdout.splitlines()[0]
            assert sentence.startswith(
                f"proven: the event {event['kind']}, version {event['version']} of {event['stream']}, recorded 20")
            assert sentence.endswith(f"part of the log whose head at position {head['position']} is {head['digest']}")
        for run in (check(file), check("-", text=log.texts[number]), check(file, "--head", log.head["digest"])):
            assert (run.returncode, run.stderr) == (0, "")
            assert f"proven: {event['kind']}, version {event['version']} of {event['stream']}, is event" in run.stdout


def changes(receipt):
    """Every way to tamper with one part of a receipt, each with its name."""
    def change(name, change_it):
        changed = copy.deepcopy(receipt)
        change_it(changed)
        assert changed != receipt, name
        return name, changed

    def put(part, field, value):
        return change(f"{part}.{field} = {value}", lambda changed: changed[part].__setitem__(field, value))

    def digest(text):
        return ("0" if text[0] != "0" else "1") + text[1:]

    event, batch = receipt["event"], receipt["batch"]
    yield put("event", "partition", 1)
    for field in ("position", "version", "schemaVersion", "recordedAtMilliseconds"):
        yield put("event", field, event[field] + 1)
        if event[field] > 1:
            yield put("event", field, event[field] - 1)
    yield put("event", "stream", event["stream"] + "x")
    yield put("event", "stream", "nothing-" + event["stream"])
    yield put("event", "kind", event["kind"] + "x")
    yield put("event", "payload", event["payload"].replace(":", ": ", 1))
    yield put("event", "payload", event["payload"][:-1] + ',"price":1}')
    yield put("event", "metadata", '{"id":"x","args":"0"}')
    for field in ("firstPosition", "lastPosition", "index", "size"):
        yield put("batch", field, batch[field] + 1)
        yield put("batch", field, batch[field] - 1)
    for field in {"contentDigest", "previousChainDigest", "chainDigest"} & set(batch):
        yield put("batch", field, digest(batch[field]))
        yield put("batch", field, "00" * 32)
    if "tree" in receipt:
        tree = receipt["tree"]
        yield put("tree", "root", digest(tree["root"]))
        yield put("tree", "size", tree["index"])
        for change_of in (1, -1):
            yield put("tree", "index", tree["index"] + change_of)
            yield change("positions", lambda changed: [
                changed[part].__setitem__(field, changed[part][field] + change_of) for part, field in (
                    ("event", "position"), ("batch", "firstPosition"), ("batch", "lastPosition"))])
        for part in "batch", "tree":
            path = base64.b64decode(receipt[part]["path"])
            steps = [path[place:place + 32] for place in range(0, len(path), 32)]
            for number, step in enumerate(steps[:2]):
                for others in ([bytes([step[0] ^ 1]) + step[1:]], [], [step, step]):
                    yield put(part, "path", base64.b64encode(b"".join(steps[:number] + others + steps[number + 1:])).decode())
            yield put(part, "path", base64.b64encode(b"".join(steps[::-1])).decode())
            yield put(part, "path", "")
        return
    head = receipt["head"]
    yield put("head", "digest", digest(head["digest"]))
    yield put("head", "position", batch["lastPosition"])
    for part, field in (("batch", "path"), ("head", "links")):
        steps = receipt[part][field]
        for number, step in enumerate(steps):
            yield put(part, field, steps[:number] + [digest(step)] + steps[number + 1:])
            yield put(part, field, steps[:number] + steps[number + 1:])
            yield put(part, field, steps[:number] + [step] + steps[number:])
        yield put(part, field, steps[::-1])
        yield put(part, field, [steps[1], steps[0], *steps[2:]])
        yield put(part, field, [])


@pytest.mark.parametrize("form", ["links", "tree"])
def test_every_tampered_receipt_is_refused_by_both(log, form):
    receipt = shortened(log.some()) if form == "links" else log.some(of_tree=True)
    assert verify("-", text=json.dumps(receipt)).returncode == check("-", text=json.dumps(receipt)).returncode == 0
    for name, changed in changes(receipt):
        text = json.dumps(changed)
        for run in (verify("-", text=text), check("-", text=text)):
            assert run.returncode == 1, (name, run)
            assert "not proven" in run.stdout + run.stderr, name


def shortened(receipt):
    """The receipt as it would have been three batches after its own, so that there are fewer links to change."""
    digest = bytes.fromhex(receipt["batch"]["chainDigest"])
    links = receipt["head"]["links"][:3]
    for link in links:
        digest = sha256(digest + bytes.fromhex(link)).digest()
    shorter = copy.deepcopy(receipt)
    shorter["head"] = {"position": receipt["batch"]["lastPosition"] + 100, "digest": digest.hex(), "links": links}
    return shorter


# What a terminal would obey: erase the line, and write another over it.
HOSTILE = "\r\n\x1b[2K\x9b2Jproven: \u202ereally\u2028\x7f\u2066"
ESCAPED = r"\u{d}\u{a}\u{1b}[2K\u{9b}2Jproven: \u{202e}really\u{2028}\u{7f}\u{2066}"


@pytest.mark.parametrize("field", ["stream", "kind", "payload", "metadata"])
def test_no_text_of_a_receipt_is_obeyed_by_a_terminal(log, field, tmp_path):
    receipt = copy.deepcopy(log.some())
    receipt["event"][field] += HOSTILE
    text = json.dumps(receipt)
    for run in (verify("-", text=text), check("-", text=text)):
        assert run.returncode == 1
        output = run.stdout + run.stderr
        assert output.startswith("not proven") and output.count("\n") == 1
        assert output.rstrip("\n").isprintable(), ascii(output)
    # In the name of a field, in what is not a receipt, and in the name of a file.
    text = json.dumps({HOSTILE: 1, **receipt})
    file = tmp_path / f"{HOSTILE}.json"
    file.write_text(text[:-1])
    for code, run in (
        (3, verify("-", text=text)), (3, verify(file)), (3, check(file)), (3, check("-", text=text[:-1])),
    ):
        assert run.returncode == code, run
        assert (run.stdout + run.stderr).replace("\n", "").isprintable(), ascii(run.stderr)


def test_a_proven_receipt_shows_hostile_texts_by_their_numbers(log):
    # Anybody can make a log and prove what they wrote into it.
    event = {**log.some()["event"], "position": 1, "version": 1, "kind": HOSTILE, "payload": HOSTILE}

    def text(value):
        return len(value.encode()).to_bytes(4, "big") + value.encode()

    leaf = sha256(
        b"\0" + text(event["stream"]) + (1).to_bytes(8, "big") + text(HOSTILE)
        + event["schemaVersion"].to_bytes(4, "big") + text(HOSTILE) + text(event["metadata"])
        + event["recordedAtMilliseconds"].to_bytes(8, "big")).digest()
    batch = {
        "firstPosition": 1, "lastPosition": 1, "index": 0, "size": 1, "path": [], "contentDigest": leaf.hex(),
        "previousChainDigest": "00" * 32, "chainDigest": sha256(bytes(32) + leaf).hexdigest()}
    receipt = json.dumps({"receipt": 1, "partitions": 1, "event": event, "batch": batch, "head": None})
    for run in (verify("-", text=receipt), check("-", text=receipt)):
        assert run.returncode == 0
        assert ESCAPED in run.stdout
        assert all(line.isprintable() for line in run.stdout.splitlines())


def test_the_event_of_another_receipt_is_refused(log):
    one, other = copy.deepcopy(log.receipts[-1]), log.receipts[-2]
    one["event"] = other["event"]
    two = copy.deepcopy(log.receipts[-1])
    two["batch"] = other["batch"]
    for receipt in (one, two):
        text = json.dumps(receipt)
        assert verify("-", text=text).returncode == check("-", text=text).returncode == 1


def test_a_head_that_is_not_the_logs_is_refused(log):
    text = log.texts[5]
    for wrong in ("00" * 32, log.receipts[5]["batch"]["contentDigest"]):
        run = verify("-", "--head", wrong, text=text)
        assert run.returncode == 1 and run.stdout.startswith("not proven, at the head: ")
        assert check("-", "--head", wrong, text=text).returncode == 1


def test_a_receipt_without_a_head_is_checked_against_its_own_chain_digest(log):
    receipt = copy.deepcopy(log.receipts[5])
    receipt["head"] = None
    text = json.dumps(receipt)
    batch = receipt["batch"]
    for arguments, status in (
        ([], 0), (["--head", batch["chainDigest"]], 0), (["--head", log.head["digest"]], 1),
    ):
        assert verify("-", *arguments, text=text).returncode == status
        assert check("-", *arguments, text=text).returncode == status
    assert f"whose chain at position {batch['lastPosition']} is {batch['chainDigest']}" in verify("-", text=text).stdout


def test_anchors_on_the_way_must_hold(log, tmp_path):
    file = tmp_path / "anchors.jsonl"
    receipt = log.receipts[5]

    def anchor(position, digest, partition=0):
        return json.dumps({"partition": partition, "position": position, "digest": digest, "time": "2026-03-01T12:00:00Z"}) + "\n"

    here = anchor(receipt["batch"]["lastPosition"], receipt["batch"]["chainDigest"])
    head = anchor(log.head["position"], log.head["digest"])
    for lines, status in (
        (here, 0), (head, 0), (here + head, 0), (here + anchor(log.head["position"] + 9, "00" * 32), 0),
        (here + anchor(log.head["position"], "00" * 32), 1), (anchor(log.head["position"] + 9, "00" * 32), 1), ("", 1),
        (here + anchor(receipt["batch"]["lastPosition"] + 1, "00" * 32), 1),
        (here + anchor(log.head["position"], "00" * 32, partition=1), 0), (here + "x\n", 3), (here[:-1], 3),
    ):
        file.write_text(lines)
        run = verify("-", "--anchor", file, text=log.texts[5])
        assert run.returncode == status, (lines, run)
    assert "line 2 is not an anchor" not in run.stderr and "not finished" in run.stderr
    assert verify("-", "--anchor", tmp_path / "none", text=log.texts[5]).returncode == 3


def test_a_text_that_is_not_a_receipt_cannot_be_read(log, tmp_path):
    texts = (
        "", "x", "[]", "{}", "NOTFOUND cart-x has no version 1", log.texts[0][:-1], log.texts[0] + "x",
        json.dumps({**log.receipts[0], "receipt": "1"}), json.dumps({**log.receipts[0], "event": None}),
    )
    for text in texts:
        run = verify("-", text=text)
        assert (run.returncode, run.stdout) == (3, "") and run.stderr.startswith("tiffin verify: standard input is not a receipt")
    for text in texts[:-2]:
        assert check("-", text=text).returncode == 3, text
    for missing in (tmp_path / "none.json", tmp_path):
        assert verify(missing).returncode == check(missing).returncode == 3


def test_wrong_options_are_named(log):
    for arguments in ([], ["a", "b"], ["-", "--head", "x"], ["-", "--head"], ["--nothing", "-"], ["-", "--database", "x"]):
        assert verify(*arguments, text=log.texts[0]).returncode == 64, arguments
    assert check().returncode == check("x", "--events", "y").returncode == 2
    run = verify("--help")
    assert run.returncode == 0 and "usage: tiffin verify <receipt> [options]" in run.stdout


@pytest.mark.skipif(not shutil.which("redis-cli"), reason="there is no redis-cli")
def test_a_receipt_goes_from_redis_cli_to_verify(server, client, outlet, name):
    client("CART.ADD", name, outlet, "rice", 1, "NOTE", "für Ännchen 🍱")
    script = f"redis-cli -p {server.port} LOG.PROVE cart-{name} 1 | {binary()} verify -"
    run = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert (run.returncode, run.stderr) == (0, "") and f"version 1 of cart-{name}" in run.stdout


# --- docs/audit.md


def fenced(kind):
    """The blocks of that kind in docs/audit.md."""
    text = (CHECKOUT / "docs" / "audit.md").read_text(encoding="utf-8")
    return [block.removeprefix(kind + "\n") for block in text.split("```")[1::2] if block.startswith(kind + "\n")]


def test_the_example_of_the_documentation_is_a_receipt(tmp_path):
    [receipt] = fenced("json")
    plain = fenced("")
    [session] = [block for block in plain if "tiffin verify receipt.json" in block]
    [anchor] = [block for block in plain if block.startswith("{")]
    anchors = tmp_path / "anchors.jsonl"
    anchors.write_text(anchor)
    run = verify("-", "--anchor", anchors, text=receipt)
    assert run.returncode == 0
    assert session.endswith(run.stdout)
    assert check("-", "--head", json.loads(anchor)["digest"], text=receipt).returncode == 0


@pytest.mark.skipif(not (shutil.which("bash") and shutil.which("sha256sum")), reason="there is no bash or sha256sum")
def test_the_example_of_the_documentation_can_be_followed_with_sha256sum():
    [script] = fenced("bash")
    [receipt] = map(json.loads, fenced("json"))
    run = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert (run.returncode, run.stderr) == (0, "")
    told = [line[2:] for line in script.splitlines() if re.fullmatch("# [0-9a-f]+", line)]
    assert run.stdout.split() == told
    assert told[-6:-3] == [receipt["batch"]["contentDigest"], receipt["batch"]["chainDigest"], receipt["head"]["digest"]]


# --- a whole log


EVENTS = r"""
    copy (select b.partition, b.first_position + e.number - 1 as position, e.line,
        trim_scale(extract(epoch from b.recorded_at) * 1000) as recorded_at
        from tiffin.batches as b cross join lateral string_to_table(b.events, E'\n') with ordinality as e (line, number)
        order by 1, 2) to stdout with (format csv, header)"""
COMMITS = """
    copy (select partition, first_position, last_position, encode(content_digest, 'hex') as content_digest,
        encode(chain_digest, 'hex') as chain_digest
        from tiffin.commits order by partition, first_position) to stdout with (format csv, header)"""


def exported(log, tmp_path):
    files = tmp_path / "events.csv", tmp_path / "commits.csv"
    for file, statement in zip(files, (EVENTS, COMMITS)):
        with connection_to(log.database) as connection, connection.cursor().copy(statement) as rows:
            file.write_bytes(b"".join(rows))
    return files


@pytest.fixture
def export(log, tmp_path):
    return exported(log, tmp_path)


def check_export(export, *arguments, **options):
    return check("--events", export[0], "--commits", export[1], *arguments, **options)


def test_the_exports_of_the_tests_are_those_of_the_documentation():
    assert [block.split() for block in fenced("sql")[-2:]] == [EVENTS.split(), COMMITS.split()]


def test_an_exported_log_holds_and_has_every_receipt(log, export):
    run = check_export(export)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == (
        f"partition 0: every digest holds, up to the head at position {log.head['position']}, {log.head['digest']}\n"
        f"partition 0: the tree over its {log.tree['size']} batches has the root {log.tree['root']}\n")
    run = check_export(export, "-", "--head", log.head["digest"], text=log.texts[7])
    assert run.returncode == 0 and run.stdout.splitlines()[2].startswith("proven: ")
    assert check_export(export, "--head", "00" * 32).returncode == 1
    for proof in log.of_tree[7], log.tree:
        assert check_export(export, "-", "--head", log.tree["root"], text=json.dumps(proof)).returncode == 0
    wrong = {**log.of_tree[7], "tree": {"index": 0, "size": 1, "root": "00" * 32, "path": ""}}
    assert check_export(export, "-", text=json.dumps(wrong)).returncode == 1


def test_a_receipt_of_another_log_is_not_in_the_export(log, export, client, outlet, name):
    client("CART.ADD", name, outlet, "rice", 1)
    foreign = client("LOG.PROVE", f"cart-{name}", 1).decode()
    assert check("-", text=foreign).returncode == 0
    run = check_export(export, "-", text=foreign)
    assert run.returncode == 1 and "its batch is not in the exported log" in run.stderr


@pytest.mark.parametrize("file, old, new", [
    (0, "kottu", "hoppers"), (0, "cart-cart-1", "cart-cart-x"), (0, "menu.", "menu.x"), (0, ",1,", ",2,"),
    (1, ",1,1,", ",1,2,"), (1, ",1,1,", ",2,2,"), (1, "a", "b"),
], ids=lambda value: repr(value))
def test_an_export_that_was_tampered_with_is_refused(export, file, old, new):
    text = export[file].read_text(encoding="utf-8")
    head, _, body = text.partition("\n")
    assert old in body
    export[file].write_text(f"{head}\n{body.replace(old, new, 1)}", encoding="utf-8")
    assert check_export(export).returncode == 1


@pytest.mark.parametrize("old, new, problem", [
    ("\t1\tcart.", "\t01\tcart.", "'01' is not a number"), ("\t1\tcart.", "\t+1\tcart.", "'+1' is not a number"),
    ("\t1\tcart.", "\t 1\tcart.", "' 1' is not a number"), ("\t1\tcart.", "\t\u0661\tcart.", "is not a number"),
    ("\tcart.", "\t\tcart.", "has not six fields"), ("\t{}\",", "\t{}\tmore\",", "has not six fields"),
    ("\n0,2,", ",more\n0,2,", "not a field for each column"), (None, "\n", "not a field for each column"),
])
def test_an_export_whose_lines_no_log_has_is_refused(export, old, new, problem):
    text = export[0].read_text(encoding="utf-8")
    assert old is None or old in text
    export[0].write_text(text + new if old is None else text.replace(old, new, 1), encoding="utf-8")
    run = check_export(export)
    assert run.returncode == 1 and problem in run.stderr, run


@pytest.mark.parametrize("change", [
    r"events = replace(events, E'\t1\tcart', E'\t01\tcart')", r"events = replace(events, E'\t1\tcart', E'\t+1\tcart')",
    r"events = events || E'\tmore'", r"events = events || E'\n'", "recorded_at = recorded_at + interval '1 microsecond'",
])
def test_the_export_of_a_log_that_says_the_same_in_another_way_is_refused(log, tmp_path, change):
    with fresh_database() as url:
        run_tiffin("migrate", "--database", url)
        with connection_to(log.database) as source, connection_to(url) as target:
            with (source.cursor().copy("copy tiffin.batches to stdout") as rows,
                  target.cursor().copy("copy tiffin.batches from stdin") as sink):
                for row in rows:
                    sink.write(row)
        copied = SimpleNamespace(database=url)
        assert check_export(exported(copied, tmp_path)).returncode == 0
        sql(f"update tiffin.batches set {change} where first_position = "
            "(select first_position from tiffin.batches where starts_with(events, 'cart-') order by 1 limit 1)", url)
        run = check_export(exported(copied, tmp_path))
        assert run.returncode == 1, run


def test_an_export_that_lacks_something_is_refused(export):
    texts = [file.read_text(encoding="utf-8") for file in export]
    for file in (0, 1):
        rows = texts[file].splitlines(keepends=True)
        for gone in (1, len(rows) // 2, len(rows) - 1):
            export[file].write_text("".join(rows[:gone] + rows[gone + 1:]), encoding="utf-8")
            run = check_export(export)
            assert run.returncode == 1, run
        export[file].write_text(texts[file], encoding="utf-8")
    assert check_export(export).returncode == 0
    export[1].write_text("not,what,it,should,be\n1,2,3,4,5\n")
    assert check_export(export).returncode == 3
