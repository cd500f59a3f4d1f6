"""What an outlet counts: no more is sold than there is, on any number of servers, whatever is killed meanwhile."""

import contextlib
import itertools
import json
import random
import threading

import pytest

from test_fleet import fleet
from tiffin import (
    ReplyError, Server, fresh_database, item_document, put_open_outlet, run_tiffin, section_document, sql, wait_until,
)

PIE = [section_document("all", [item_document("pie", 100), item_document("soup", 50), {
    **item_document("lunch", 120), "options": ["dish"], "combo": True}])]
DISH = [{"id": "dish", "title": "Dish", "min": 1, "options": [
    {"id": "of-pie", "name": "Pie", "item": "pie"}, {"id": "of-soup", "name": "Soup", "item": "soup"}]}]
# How long a server leaves what has begun to the one that keeps its partition, and what a busy machine adds.
ENDED = 10 + 20


@pytest.fixture(scope="module")
def server():
    with fresh_database() as database, Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "o", PIE, DISH)
        yield server, client, database


def available(client, item="pie"):
    return client.json("ITEM.GET", "o", item)["available"]


def stock(client, outlet="o"):
    return {entry["id"]: (entry["left"], entry["held"]) for entry in client.json("STOCK", outlet)["stock"]}


def check_out(client, cart, *lines, total=None):
    for item, quantity, *options in lines:
        client("CART.ADD", cart, "o", item, quantity, *(["OPTIONS", ",".join(options)] if options else []))
    total = total or client.json("CART.QUOTE", cart)["total"]
    return client("CART.CHECKOUT", cart, "TOTAL", total, "ID", f"{cart}-out").decode()


def facts(client):
    lines = client("INFO", "projections").decode().splitlines()
    return {name: int(value) for name, _, value in (line.partition(":") for line in lines) if name.startswith("processes_")}


def assert_sound(database):
    audit = run_tiffin("audit", "--database", database)
    assert audit.returncode == 0, audit.stdout


def test_a_count_is_sold_returned_and_added_to(server):
    _, client, database = server
    assert client.json("STOCK", "o") == {"outlet": "o", "version": 0, "stock": []}
    assert client("MENU.ITEM.STOCK", "o", "pie", "COUNT", 3) == 1
    first = check_out(client, "a-1", ("pie", 2))
    assert stock(client) == {"pie": (1, 2)}
    with pytest.raises(ReplyError, match="^SOLDOUT there is not enough left of item 'pie'"):
        check_out(client, "a-2", ("pie", 2))
    # The cart is open again, and one is left.
    assert client.json("CART.GET", "a-2")["status"] == "open"
    client("CART.SET", "a-2", "pie", 1)
    assert client("CART.CHECKOUT", "a-2", "TOTAL", 100, "ID", "a-2-out").decode() != first
    assert not available(client) and stock(client) == {"pie": (0, 3)}
    with pytest.raises(ReplyError, match="^SOLDOUT item 'pie' is sold out"):
        client("CART.ADD", "a-3", "o", "pie", 1)
    # Sent again, it is the same order.
    assert client("CART.CHECKOUT", "a-1", "TOTAL", 200, "ID", "a-1-out").decode() == first
    # What is not cooked comes back.
    client("ORDER.CANCEL", first, "BY", "customer", "CODE", "CUSTOMER")
    wait_until(lambda: stock(client) == {"pie": (2, 1)}, "the claims to be returned", seconds=ENDED)
    assert available(client)
    wait_until(lambda: facts(client) == {"processes_open": 0, "processes_oldest_seconds": 0}, "the end", seconds=ENDED)
    # What is cooked is gone.
    second = check_out(client, "a-4", ("pie", 1))
    client("ORDER.PREPARE", second)
    client("ORDER.CANCEL", second, "BY", "merchant", "CODE", "ITEMS")
    assert stock(client) == {"pie": (1, 1)}
    client("MENU.ITEM.STOCK", "o", "pie", "ADD", 4)
    assert stock(client) == {"pie": (5, 1)}
    # A combo takes of what it is made of.
    check_out(client, "a-5", ("lunch", 2, "of-pie"), ("pie", 1))
    assert stock(client) == {"pie": (2, 4)}
    with pytest.raises(ReplyError, match="^STATE"):
        client("MENU.ITEM.STOCK", "o", "soup", "ADD", 1)
    with pytest.raises(ReplyError, match="^NOTFOUND"):
        client("MENU.OPTION.STOCK", "o", "no", "COUNT", 1)
    client("MENU.OPTION.STOCK", "o", "of-pie", "COUNT", 0)
    with pytest.raises(ReplyError, match="^SOLDOUT option 'of-pie'"):
        client("CART.ADD", "a-6", "o", "lunch", 1, "OPTIONS", "of-pie")
    assert available(client, "lunch")
    for command in (("MENU.OPTION.STOCK", "o", "of-pie"), ("MENU.ITEM.STOCK", "o", "pie")):
        client(*command)
    assert stock(client) == {}
    # Nobody counts any more, so nobody waits.
    check_out(client, "a-7", ("pie", 9))
    events = [json.loads(event)["kind"] for event in client("LOG.READ", "STREAM", "cart-a-7")]
    assert events == ["cart.itemAdded", "cart.checkedOut"]
    assert_sound(database)


def test_suspensions_of_the_merchant_and_of_the_stock_are_apart(server):
    _, client, _ = server
    client("MENU.ITEM.STOCK", "o", "soup", "COUNT", 0)
    assert not available(client, "soup")
    client("MENU.ITEM.RESUME", "o", "soup")
    assert not available(client, "soup")
    client("MENU.ITEM.SUSPEND", "o", "soup")
    client("MENU.ITEM.STOCK", "o", "soup", "COUNT", 5)
    assert not available(client, "soup")
    client("MENU.ITEM.RESUME", "o", "soup")
    assert available(client, "soup")
    client("MENU.ITEM.STOCK", "o", "soup")


def test_why_and_receipts_know_what_was_counted(server):
    running, client, _ = server
    client("MENU.ITEM.STOCK", "o", "soup", "COUNT", 2)
    order = check_out(client, "w-1", ("soup", 2))
    why = run_tiffin("why", "stock", "o", "--server", f"127.0.0.1:{running.port}")
    assert why.returncode == 0 and f"order {order} holds 2 of item 'soup'" in why.stdout, why
    version = client.json("STOCK", "o")["version"]
    assert json.loads(client("LOG.PROVE", "supply-o", version))
    client("MENU.ITEM.STOCK", "o", "soup")


def test_a_change_brings_in_nothing_more_that_is_counted(server):
    _, client, database = server
    put_open_outlet(client, "f", PIE, DISH, acceptWithin=600)
    client("MENU.ITEM.STOCK", "f", "pie", "COUNT", 7)

    def place(cart, *words):
        client("CART.ADD", cart, "f", "pie", 2)
        client("CART.ADD", cart, "f", "soup", 1)
        return client("CART.CHECKOUT", cart, "TOTAL", 250, *words).decode()

    order = place("f-1")
    for change in ({"add": [{"item": "pie", "quantity": 1}]},
                   {"lines": [{"line": "soup", "by": {"item": "lunch", "quantity": 1, "options": "of-pie"}}]}):
        with pytest.raises(ReplyError, match="^STATE the outlet counts item 'pie'"):
            client("ORDER.CHANGE", order, json.dumps(change), "BY", "customer")
    # What leaves makes room for as much.
    client("ORDER.CHANGE", order, json.dumps({"lines": [
        {"line": "pie", "by": {"item": "lunch", "quantity": 2, "options": "of-pie"}}]}), "BY", "merchant")
    client("ORDER.AGREE", order, client.json("ORDER.GET", order)["proposal"]["after"]["digest"])
    client("ORDER.CHANGE", order, json.dumps({"lines": [{"line": "lunch+of-pie", "quantity": 0}]}), "BY", "customer")
    client("ORDER.AGREE", order, client.json("ORDER.GET", order)["proposal"]["after"]["digest"])
    assert stock(client, "f") == {"pie": (5, 2)}
    # Missing pies are not there, whatever was counted.
    for cart, missing in (("f-2", "cancel"), ("f-3", "remove")):
        changed = place(cart, "MISSING", missing)
        client("ORDER.CHANGE", changed, json.dumps({"lines": [{"line": "pie", "quantity": 0}]}), "BY", "merchant")
    client("ORDER.CANCEL", changed, "BY", "customer", "CODE", "CUSTOMER")
    client("ORDER.CANCEL", order, "BY", "customer", "CODE", "CUSTOMER")
    wait_until(lambda: stock(client, "f")["pie"][0] == 3, "the claims to be returned", seconds=ENDED)
    assert_sound(database)


def judge(events, portions):
    """What a log says of a race for so many portions, by its events alone."""
    left, held, placed, refused, open_carts = portions, {}, {}, set(), set()
    for event in events:
        kind, payload, stream = event["kind"], event["payload"], event["stream"]
        if kind == "supply.held":
            assert payload["order"] not in held, "an order was answered twice"
            held[payload["order"]] = sum(claim["count"] for claim in payload["claims"])
        elif kind == "supply.refused":
            refused.add(payload["order"])
        elif kind == "order.placed":
            assert stream not in placed, "an order was placed twice"
            placed[stream.removeprefix("order-")] = sum(line["quantity"] for line in payload["lines"])
        elif kind == "cart.checkoutBegun":
            open_carts.add(payload["order"])
        elif kind == "cart.checkoutRefused":
            open_carts.discard(payload["order"])
    assert sum(held.values()) <= left, "more was held than there was"
    assert held == placed, "held for ever, or sold without"
    assert not refused & set(placed)
    assert open_carts <= set(placed), "left open"
    return sum(placed.values())


def test_two_hundred_carts_race_for_a_hundred_pies_on_servers_that_are_killed():
    with fleet(4) as (servers, database):
        with servers[0].client() as client:
            put_open_outlet(client, "o", PIE, DISH)
            client("MENU.ITEM.STOCK", "o", "pie", "COUNT", 100)
            for number in range(200):
                client("CART.ADD", f"c-{number}", "o", "pie", 1)
        carts, answers, faults = iter(range(200)), {}, []
        lock, dice = threading.Lock(), random.Random(7)

        def race():
            try:
                while (number := next_cart()) is not None:
                    answers[number] = answer(f"c-{number}")
            except Exception as fault:  # Told by the test, not by a thread.
                faults.append(fault)

        def next_cart():
            with lock:
                return next(carts, None)

        def answer(cart):
            """Sends the checkout to any server until one says how it ended."""
            for _ in itertools.count():
                with lock:
                    server = dice.choice(servers)
                with contextlib.suppress(OSError, EOFError, TypeError), server.client() as client:
                    try:
                        return client("CART.CHECKOUT", cart, "TOTAL", 100, "ID", f"{cart}-out").decode()
                    except ReplyError as error:
                        if error.code == "SOLDOUT":
                            return None
                        assert error.code in ("UNKNOWN", "UNAVAILABLE", "BUSY", "NOTFOUND"), error

        threads = [threading.Thread(target=race) for _ in range(12)]
        for thread in threads:
            thread.start()
        for done, victim in ((30, 1), (80, 2), (120, 3)):
            wait_until(lambda: len(answers) >= done or faults, "the race to go on", seconds=120)
            servers[victim].kill()
            servers[victim].start()
        for thread in threads:
            thread.join(timeout=180)
        assert not faults and len(answers) == 200, faults
        assert len({order for order in answers.values() if order}) == 100

        def is_over():
            with servers[0].client() as client:
                return facts(client)["processes_open"] == 0

        wait_until(is_over, "every process to end", seconds=ENDED)
        rows = sql("select json_build_object('stream', stream, 'kind', kind, 'payload', payload::json)"
                   " from tiffin.events order by partition, position", database).splitlines()
        assert judge([json.loads(row) for row in rows], 100) == 100
        for server in servers:
            server.stop()
        assert_sound(database)
