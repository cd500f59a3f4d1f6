"""`tiffin why`: histories from a running server and from a database."""

import json
import re

import pytest

from tiffin import Server, item_document, put_open_outlet, run_tiffin, section_document


def why(*arguments, **environment):
    run = run_tiffin("why", *arguments, environment=environment)
    assert (run.returncode, run.stderr) == (0, ""), run
    return run.stdout.splitlines()


def fill(client):
    put_open_outlet(
        client, "kitchen", [section_document("all", [item_document("tea", 695), item_document("bun", 50)])],
        currency="GBP")
    client("CART.ADD", "c", "kitchen", "tea", 2, "ID", "tap-1")
    client("CART.ADD", "c", "kitchen", "bun", 1, "NOTE", "warm")
    client("MENU.ITEM.PRICE", "kitchen", "tea", 720)
    client("CART.SET", "c", "bun", 3, "ID", "tap-2")
    return client("CART.CHECKOUT", "c", "TOTAL", 1590, "ID", "pay").decode()


def test_where_changes_come_from_is_recorded_and_shown(database):
    with Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "kitchen", [section_document("all", [item_document("tea", 695)])])
        tap = ("CART.ADD", "c", "kitchen", "tea", 2, "ID", "tap-1")
        assert client(*tap, "FLOW", "visit-7", "ACTOR", "till-2") == 2
        # Sent again, it is the same command, whatever it belongs to.
        assert client(*tap, "ACTOR", "till-3") == client(*tap) == 2
        assert client.error("CART.ADD", "c", "kitchen", "tea", 3, "ID", "tap-1", "FLOW", "visit-7").code == "IDMISMATCH"
        client("CART.SET", "c", "tea", 3, "FLOW", "x\u202ey")
        client("CART.CHECKOUT", "c", "TOTAL", 2085, "ACTOR", "till-2", "NAME", "Asha", "CUSTOMER", "asha")
        for option in ("FLOW", "ACTOR"):
            for value in ("", "x" * 65, b"\xff"):
                assert client.error("CART.CLEAR", "c", option, value).code == "INVALID"
        events = [json.loads(event) for event in client("LOG.READ", "STREAM", "cart-c")]
        metadata = [event["metadata"] for event in events]
        assert len(metadata[0].pop("args")) == 16
        assert metadata == [
            {"id": "tap-1", "flow": "visit-7", "actor": "till-2"}, {"flow": "x\u202ey"}, {"actor": "till-2"}]
        cart = why("cart", "c", "--server", f"127.0.0.1:{server.port}")
        assert any(line.endswith(" — tap-1, flow visit-7, by till-2") for line in cart)
        assert not any("\u202e" in line for line in cart)
        # What is digested is what was said.
        assert run_tiffin("audit", "--database", database).returncode == 0


@pytest.mark.parametrize("log", ["database", "data_dir"])
def test_a_history_is_shown_while_a_server_runs(request, log):
    with Server(**{log: request.getfixturevalue(log)}) as server, server.client() as client:
        order = fill(client)
        address = f"127.0.0.1:{server.port}"
        cart = why("cart", "c", "--server", address)
        events = [line for line in cart if "  #" in line]
        assert all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ  #\d+ v\d+ +\w", line) for line in events)
        words = [re.sub(r"^.{20}  #\d+ v\d+ +", "", line) for line in events]
        assert words == [
            "added 2 × Tea at 6.95 GBP (now 7.20), from outlet kitchen — tap-1",
            'added 1 × Bun at 0.50 GBP, note "warm"',
            "changed Bun from 1 to 3 — tap-2",
            f"checked out as order {order} for 15.90 GBP, Tea at 7.20 instead of 6.95 — pay",
        ]
        assert cart[-3:] == [
            "  2 × Tea at 7.20 GBP = 14.40 GBP, from v1, v4",
            '  3 × Bun at 0.50 GBP = 1.50 GBP, note "warm", from v2, v3',
            "  total 15.90 GBP",
        ]
        told = why("order", order, TIFFIN_SERVER=address)
        assert told[0] == f"order {order}, from cart c, in partition 0 of the log"
        assert told[-3:] == cart[-3:]
        assert len([line for line in told if "  #" in line]) == len(events) + 1
        outlet = why("outlet", "kitchen", "--last", 2, TIFFIN_SERVER=address)
        assert outlet[1] == "(4 earlier events not shown; see --last)"
        assert outlet[3].endswith("repriced Tea (tea) from 6.95 GBP to 7.20 GBP")
        client("PROMO.PUT", "kitchen", "ten", json.dumps(
            {"title": "Ten", "on": "order", "give": {"percent": 10_000}, "code": "ten", "limit": 5}))
        outlet = why("outlet", "kitchen", "--last", 1, TIFFIN_SERVER=address)
        assert outlet[2].endswith('put promotion ten: "Ten", 10 % off the order, code TEN, at most 5 orders')
        assert outlet[-1].strip() == "promotions version 1: 1 promotion"
        if log == "database":
            assert why("cart", "c", "--database", server.arguments[-1]) == cart


def test_long_histories_are_read_to_their_end(database):
    with Server(database=database) as server, server.client() as client:
        fill(client)
        replies = client.pipeline(
            [("CART.ADD", "long", "kitchen", "tea", 1)]
            + [("CART.SET", "long", "tea", 2 + n % 2) for n in range(2_500)])
        assert not [reply for reply in replies if not isinstance(reply, int)]
        lines = why("cart", "long", "--last", 3, TIFFIN_SERVER=f"127.0.0.1:{server.port}")
        assert lines[0] == "cart long: 2501 events in partition 0 of the log"
        assert lines[1] == "(2498 earlier events not shown; see --last)"
        assert "v2501  changed Tea from 2 to 3" in lines[4]


def test_an_error_is_one_line(server):
    address = f"127.0.0.1:{server.port}"
    for words, status, message in [
        (["cart", "nowhere"], 1, "the log has no cart 'nowhere'"),
        (["order", "nowhere"], 1, "the log has no order 'nowhere'"),
        (["outlet", "nowhere"], 1, "the log has no outlet 'nowhere'"),
        ([], 64, "name a cart, an order, an outlet"), (["cart"], 64, "name a cart, an order, an outlet"), (["menu", "m"], 64, "name a cart, an order, an outlet"),
        (["cart", "no id"], 64, "name a cart, an order, an outlet"), (["cart", "a", "b"], 64, "unexpected argument 'b'"),
        (["cart", "a", "--last", "0"], 64, "--last: '0' is not a whole number from 1"),
        (["cart", "a", "--server", "x"], 64, "--server: 'x' is not host:port"),
        (["cart", "a", "--server", "127.0.0.1:1"], 1, "cannot connect to 127.0.0.1:1"),
    ]:
        run = run_tiffin("why", *words, environment={"TIFFIN_SERVER": address})
        assert run.returncode == status and message in run.stderr, (words, run)
        assert len(run.stderr.splitlines()) == 1 and not run.stdout
    assert "usage: tiffin why cart|order|outlet|stock|customer|user|relay <id> [options]" in run_tiffin("why", "--help").stdout
