"""A receipt of LOG.PROVE proves, without the server, that an event is in its log; nothing else does."""

import json
import subprocess
import sys

import pytest

from tiffin import CHECKOUT, Server, read_log, run_tiffin, sql

CHECKER = CHECKOUT / "docs" / "check_receipt.py"


def check(*arguments, text=None):
    """Runs the independent checker."""
    return subprocess.run(
        [sys.executable, "-I", str(CHECKER), *map(str, arguments)], input=text, capture_output=True, text=True,
        timeout=60)


def heads(client):
    return {head["partition"]: head for head in client.json("LOG.HEAD")}


# --- LOG.PROVE


def test_a_receipt_has_the_event_as_the_log_has_it_and_ends_at_the_head(client, outlet, name):
    client("CART.ADD", name, outlet, "rice", 1, "NOTE", "crème brûlée, தயிர் 🍱 \\ \"", "ID", "one")
    client("CART.ADD", name, outlet, "kottu", 2)
    receipt = client.json("LOG.PROVE", f"cart-{name}", 1)
    [logged] = [json.loads(event) for event in client("LOG.READ", "STREAM", f"cart-{name}", "COUNT", 1)]
    event = receipt["event"]
    for field in ("partition", "position", "stream", "version", "kind", "schemaVersion"):
        assert event[field] == logged[field]
    assert json.loads(event["payload"]) == logged["payload"]
    assert json.loads(event["metadata"]) == logged["metadata"]
    head = heads(client)[event["partition"]]
    assert {**head, "partition": 0} == {"partition": 0, **{k: receipt["head"][k] for k in ("position", "digest")}}
    assert list(receipt) == ["receipt", "partitions", "event", "batch", "head"]


def test_a_receipt_sees_the_writes_before_it(client, outlet, name):
    client.send(b"".join(
        b"CART.ADD %s %s rice 1\r\n" % (name.encode(), outlet.encode()) for _ in range(20)
    ) + b"LOG.PROVE cart-%s 20\r\n" % name.encode())
    replies = [client.read() for _ in range(21)]
    assert json.loads(replies[-1])["event"]["version"] == 20


def test_a_receipt_is_linked_to_the_head_that_was_asked_for(client, outlet, name):
    digests = {}
    for quantity in range(1, 6):
        client("CART.ADD", name, outlet, "rice", 1)
        head = heads(client)[0]
        digests[head["position"]] = head["digest"]
    first = client.json("LOG.PROVE", f"cart-{name}", 1)
    for position, digest in digests.items():
        receipt = client.json("LOG.PROVE", f"cart-{name}", 1, "HEAD", position)
        assert (receipt["head"]["position"], receipt["head"]["digest"]) == (position, digest)
        assert receipt["batch"] == first["batch"]
        assert check("-", "--head", digest, text=json.dumps(receipt)).returncode == 0


def test_what_cannot_be_proven_says_so(client, outlet, name):
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
    assert client.error("LOG.PROVE", f"cart-{name}").code == "ERR"
    assert client.error("LOG.PROVE", f"cart-{name}", 1, "TAIL", 1).code == "ERR"
    assert client.error("LOG.PROVE", f"cart-{name}", 2**63 - 1).code == "NOTFOUND"


def test_a_log_that_was_changed_has_no_receipts(database):
    with Server(database=database) as server, server.client() as client:
        for number in range(3):
            client("OUTLET.PUT", f"outlet-{number}", json.dumps({"name": "x", "currency": "LKR", "timeZone": "Asia/Colombo"}))
        assert client("LOG.PROVE", "outlet-outlet-1", 1)
        sql("update tiffin.events set payload = replace(payload, '\"x\"', '\"y\"') where stream = 'outlet-outlet-1'", database)
        assert client.error("LOG.PROVE", "outlet-outlet-1", 1).code == "CORRUPT"
        # What it changed cannot be proven, and what it did not can.
        assert client("LOG.PROVE", "outlet-outlet-0", 1)
        sql("update tiffin.commits set content_digest = sha256('') where first_position = 3", database)
        assert client.error("LOG.PROVE", "outlet-outlet-0", 1).code == "CORRUPT"
        assert client("LOG.PROVE", "outlet-outlet-0", 1, "HEAD", 2)
