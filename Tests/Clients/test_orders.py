"""An order's life over the wire: who may do what, in which order, and what everybody sees of it."""

import json
from datetime import datetime, timedelta, timezone

import pytest

from tiffin import (
    Client, ReplyError, Server, fresh_database, item_document, put_open_outlet, read_log, run_tiffin, section_document,
)

TEXT = "the fish did not come, Asha"


def place(client, outlet, cart, *words, **changes):
    """An order of two teas at an outlet with these details."""
    put_open_outlet(
        client, outlet, [section_document("all", [item_document("tea", 100)])], **{"acceptWithin": 600, **changes})
    assert client("CART.ADD", cart, outlet, "tea", 2, *words) == 2
    return client("CART.CHECKOUT", cart, "TOTAL", 200, *words).decode()


def status(client, order):
    return client.json("ORDER.GET", order)["status"]


def soon(minutes):
    return (datetime.now(timezone.utc) + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


class TestLife:
    def test_from_the_cart_to_the_customer(self, client, name):
        order = place(client, name, name, prepMinutes=20)
        placed = client.json("ORDER.GET", order)
        assert list(placed)[:8] == [
            "order", "cart", "outlet", "version", "status", "placedAt", "promisedFor", "acceptBy"]
        ready = soon(30)
        for version, words in enumerate(
                [("ACCEPT", order, "READY", ready), ("PREPARE", order), ("READY", order), ("COMPLETE", order)], 2):
            command = ("ORDER." + words[0], *words[1:])
            assert client(*command) == version
            assert client(*command) == version, "the same again"
        done = client.json("ORDER.GET", order)
        assert (done["status"], done["readyBy"], done["version"]) == ("completed", ready, 5)
        assert "acceptBy" not in done
        kinds = [event["kind"] for event in read_log(client, "STREAM", f"order-{order}")]
        assert kinds == [
            "order.placed", "order.accepted", "order.preparationStarted", "order.readied", "order.completed"]
        for command in ("ORDER.PREPARE", "ORDER.ACCEPT"):
            error = client.error(command, order)
            assert error.code == "STATE" and "completed" in str(error)
        head = client.json("LOG.HEAD")[0]["position"]
        assert json.loads(client("ORDER.GET", order, "AT", head - 3))["status"] == "accepted"

    def test_an_outlet_that_accepts_everything_does_so_in_the_placing_transaction(self, client, name):
        order = place(client, name, name, acceptWithin=0)
        assert status(client, order) == "accepted"
        placed, accepted = read_log(client, "STREAM", f"order-{order}")
        assert accepted["position"] == placed["position"] + 1
        assert accepted["payload"] == {"by": "system"}
        assert client.error("ORDER.CANCEL", order, "BY", "customer", "CODE", "CUSTOMER").code == "STATE"

    def test_an_outlet_that_asks_for_nothing_places_orders_as_ever(self, client, name):
        order = place(client, name, name, acceptWithin=None)
        assert list(client.json("ORDER.GET", order)) == [
            "order", "cart", "outlet", "version", "status", "count", "currency", "lines", "subtotal", "total",
            "updatedAt"]
        assert client("ORDER.COMPLETE", order) == 2

    def test_refusals_say_why(self, client, name):
        order = place(client, name, name)
        for code, command in [
            ("NOTFOUND", ("ORDER.ACCEPT", "no-such-order")),
            ("INVALID", ("ORDER.ACCEPT", order, "READY", "2020-01-01T00:00:00Z")),
            ("INVALID", ("ORDER.ACCEPT", order, "READY", soon(32 * 24 * 60))),
            ("INVALID", ("ORDER.REJECT", order, "CODE", "WHIM")),
            ("INVALID", ("ORDER.REJECT", order, "CODE", "ITEMS", "REASON", "")),
            ("INVALID", ("ORDER.REJECT", order, "CODE", "ITEMS", "REASON", "x" * 501)),
            ("INVALID", ("ORDER.CANCEL", order, "BY", "system", "CODE", "TIMEOUT")),
            ("ERR", ("ORDER.REJECT", order)),
            ("CONFLICT", ("ORDER.ACCEPT", order, "VERSION", 7)),
        ]:
            assert client.error(*command).code == code, command
        assert client.json("ORDER.GET", order)["version"] == 1

    def test_a_plain_reason_is_shown(self, client, name):
        order = place(client, name, name)
        assert client("ORDER.REJECT", order, "CODE", "ITEMS", "REASON", "no tea", "ID", "r") == 2
        assert client("ORDER.REJECT", order, "CODE", "ITEMS", "REASON", "no tea", "ID", "r") == 2
        assert client.error("ORDER.REJECT", order, "CODE", "ITEMS", "REASON", "no pie", "ID", "r").code == "IDMISMATCH"
        assert client.json("ORDER.GET", order)["ending"] == {"by": "merchant", "code": "ITEMS", "reason": "no tea"}


def test_a_reason_for_a_customer_is_sealed_and_can_be_forgotten(database):
    with Server(database=database) as server, server.client() as client:
        order = place(client, "kitchen", "c", "CUSTOMER", "asha")
        assert client("ORDER.CANCEL", order, "BY", "merchant", "CODE", "ITEMS", "REASON", TEXT, "ID", "x") == 2
        assert client("ORDER.CANCEL", order, "BY", "merchant", "CODE", "ITEMS", "REASON", TEXT, "ID", "x") == 2
        assert client.json("ORDER.GET", order)["ending"]["reason"] == TEXT
        assert TEXT not in json.dumps(read_log(client))
        why = ("why", "order", order, "--server", f"127.0.0.1:{server.port}")
        run = run_tiffin(*why)
        assert f'cancelled by the merchant, ITEMS: "{TEXT}" — x' in run.stdout, run
        assert "now: version 2, cancelled" in run.stdout
        assert run_tiffin("forget", "asha", "--database", database).returncode == 0
        assert client.json("ORDER.GET", order)["ending"]["reason"] == "[erased]"
        assert TEXT not in run_tiffin(*why).stdout
        assert run_tiffin("audit", "--database", database).returncode == 0


class TestParties:
    @pytest.fixture(scope="class")
    def shop(self):
        with fresh_database() as database:
            assert run_tiffin("migrate", "--database", database).returncode == 0
            tokens = {}
            for name, *words in [
                ("root", "--role", "admin"), ("anna", "--role", "customer", "--only", "anna"),
                ("cook", "--role", "merchant", "--only", "grill"), ("baker", "--role", "merchant", "--only", "bakery"),
                ("reader", "--role", "auditor"),
            ]:
                assert run_tiffin("user", "add", name, *words, "--no-password", "--database", database).returncode == 0
                token = run_tiffin("user", "token", name, "--database", database)
                assert token.returncode == 0, token
                tokens[name] = token.stdout.strip()
            with Server(database=database) as server:
                def log_in(user):
                    client = Client(server.port)
                    assert client("AUTH", user, tokens[user]) == "OK"
                    return client
                yield log_in

    def test_each_party_speaks_for_itself(self, shop):
        with shop("root") as root, shop("anna") as anna, shop("cook") as cook, shop("baker") as baker, \
                shop("reader") as reader:
            order = place(root, "grill", "anna-1")
            other = place(root, "grill", "bert-1")
            cancel = ("BY", "customer", "CODE", "CUSTOMER")
            assert anna.error("ORDER.ACCEPT", order).code == "NOPERM"
            assert reader.error("ORDER.CANCEL", order, *cancel).code == "NOPERM"
            assert anna.error("ORDER.CANCEL", order, "BY", "merchant", "CODE", "ITEMS").code == "NOPERM"
            assert cook.error("ORDER.CANCEL", order, *cancel).code == "NOPERM"
            unknown = ReplyError("NOTFOUND no such order")
            for words in [(), ("VERSION", 7), ("REASON", "no")]:
                command = ("ORDER.REJECT", order, "CODE", "BUSY", *words)
                assert baker.error(*command) == unknown
                assert anna.error("ORDER.CANCEL", other, *cancel, *words) == unknown
            assert anna("ORDER.CANCEL", order, *cancel) == 2
            assert cook("ORDER.ACCEPT", other) == 2
            assert root("ORDER.CANCEL", other, "BY", "merchant", "CODE", "OTHER") == 3
