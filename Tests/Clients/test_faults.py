"""Planted faults: each does what it says, as a client sees it, and nothing else. Debug builds only."""

import contextlib
import json

import pytest
import redis

import tiffin
from edits import patched
from tiffin import Server, item_document, put_open_outlet, read_log, run_tiffin, section_document, wait_until

OUTLET = "kitchen"


@contextlib.contextmanager
def faulty(database, fault):
    """A server with a planted fault and one open outlet, through redis-py."""
    with Server(database=database, environment={"TIFFIN_PLANTED_FAULT": fault}) as server:
        with redis.Redis(port=server.port) as client:
            if client.info("server")["tiffin_build"] != "debug":
                pytest.skip("a release build has no faults to plant")
            with server.client() as plain:
                put_open_outlet(plain, OUTLET, [section_document("all", [item_document("rice", 100)])])
            yield server, client


def log_of(server, stream):
    """The events of a stream; the log as a whole has no gap."""
    with server.client() as client:
        events = read_log(client)
    assert [event["position"] for event in events] == list(range(1, len(events) + 1))
    own = [event for event in events if event["stream"] == stream]
    assert [event["version"] for event in own] == list(range(1, len(own) + 1))
    return own


def add(client, number, cart="cart"):
    return client.execute_command("CART.ADD", cart, OUTLET, "rice", 1, "ID", f"tap-{number}")


def test_drop_write_acknowledges_a_write_that_it_does_not_record(database):
    with faulty(database, "drop-write:5") as (server, client):
        assert [add(client, n) for n in range(1, 13)] == [1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 9, 10]
        assert client.execute_command("CART.COUNT", "cart") == 10
        assert json.loads(client.execute_command("CART.GET", "cart"))["version"] == 10
        text = repr(log_of(server, "cart-cart"))
        assert [f"'tap-{n}'" in text for n in (4, 5, 6, 10, 11)] == [True, False, True, False, True]
        # Every kind of write that changes something: these are the 13th, the 14th and the 15th.
        assert client.execute_command("CART.SET", "cart", "rice", 3) == 3
        assert client.execute_command("CART.SET", "cart", "rice", 3) == 3
        assert client.execute_command("CART.REMOVE", "cart", "rice") == 0
        assert add(client, 15) == 1
        assert client.execute_command("CART.COUNT", "cart") == 0


def test_drop_write_affects_pipelined_writes_too(database):
    with faulty(database, "drop-write:5") as (server, client):
        pipeline = client.pipeline(transaction=False)
        for n in range(100):
            add(pipeline, n)
        assert pipeline.execute()[-1] == 81
        assert client.execute_command("CART.COUNT", "cart") == 80
        assert len(log_of(server, "cart-cart")) == 80


def test_double_write_records_a_write_twice_and_answers_it_once(database):
    with faulty(database, "double-write:3") as (server, client):
        assert [add(client, n) for n in range(1, 6)] == [1, 2, 3, 5, 6]
        assert client.execute_command("CART.COUNT", "cart") == 6
        events = log_of(server, "cart-cart")
        assert [sum(f"'tap-{n}'" in repr(event) for event in events) for n in range(1, 6)] == [1, 1, 2, 1, 1]
        assert events[2]["payload"] == events[3]["payload"]
        # Only additions are doubled.
        for quantity in (1, 2, 3, 4):
            assert client.execute_command("CART.SET", "cart", "rice", quantity) == quantity
        assert len(log_of(server, "cart-cart")) == 10


def test_skip_event_leaves_the_log_correct_and_the_screens_wrong(database):
    with faulty(database, "skip-event:4") as (server, client):
        # The first event of a stream is never skipped, so two or three of the eleven others are.
        assert [add(client, n) for n in range(1, 13)] == list(range(1, 13))
        assert json.loads(client.execute_command("CART.GET", "cart"))["lines"][0]["quantity"] == 12
        assert len(log_of(server, "cart-cart")) == 12
        assert client.execute_command("CART.COUNT", "cart") in (9, 10)

        prices = list(range(200, 208))
        missed = []
        for price in prices:
            client.execute_command("MENU.ITEM.PRICE", OUTLET, "rice", price)
            home = json.loads(client.execute_command("OUTLET.HOME", OUTLET))
            if home["sections"][0]["items"][0]["model"]["price"] != price:
                missed.append(price)
        assert len(missed) == 2 and missed[1] - missed[0] == 4
        repriced = log_of(server, f"menu-{OUTLET}")[-len(prices):]
        assert [event["payload"]["price"] for event in repriced] == prices


def test_wrong_patch_leads_to_a_wrong_document(database):
    with faulty(database, "wrong-patch:2") as (_, client):
        old = json.loads(client.execute_command("OUTLET.HOME", OUTLET))
        client.execute_command("MENU.ITEM.PRICE", OUTLET, "rice", 200)
        new = json.loads(client.execute_command("OUTLET.HOME", OUTLET))

        def since():
            return json.loads(client.execute_command("OUTLET.HOME", OUTLET, "SINCE", old["revision"]))

        changes = [since() for _ in range(4)]
        assert [patched(old, change) == new for change in changes] == [True, False, True, False]
        assert all(change["to"] == new["revision"] for change in changes)
        # An empty patch cannot be wrong, and does not count.
        assert client.execute_command("OUTLET.HOME", OUTLET, "SINCE", new["revision"]) is None
        assert patched(old, since()) == new


def test_wrong_patch_affects_subscribers_too(database):
    with faulty(database, "wrong-patch:2") as (_, client):
        add(client, 0)
        document = json.loads(client.execute_command("CART.GET", "cart"))
        listener = client.pubsub(ignore_subscribe_messages=True)
        listener.subscribe("cart:cart")

        def next_change():
            while not (message := listener.get_message(timeout=tiffin.REPLY_SECONDS)):
                pass
            return json.loads(message["data"])

        assert next_change()["patch"] == []
        add(client, 1)
        change = next_change()
        document = patched(document, change)
        assert document == json.loads(client.execute_command("CART.GET", "cart"))
        add(client, 2)
        change = next_change()
        assert change["to"] == 3
        assert patched(document, change) != json.loads(client.execute_command("CART.GET", "cart"))
        listener.close()


def test_lost_id_applies_a_repeated_command_again(database):
    with faulty(database, "lost-id:3") as (server, client):
        assert [add(client, n) for n in (1, 2, 3)] == [1, 2, 3]
        assert [add(client, n) for n in (1, 2, 3)] == [1, 2, 4]
        text = repr(log_of(server, "cart-cart"))
        assert [text.count(f"'tap-{n}'") for n in (1, 2, 3)] == [1, 1, 0]


def test_wrong_price_leaves_out_an_option(database):
    with faulty(database, "wrong-price:3") as (server, client):
        cheese = {"id": "cheese", "name": "Cheese", "price": 40, "max": 2}
        menu = [section_document("all", [item_document("toast", 100, options=["extras"])])]
        with server.client() as plain:
            put_open_outlet(plain, "grill", menu, [{"id": "extras", "title": "Extras", "max": 2, "options": [cheese]}])
        for number in range(6):
            assert client.execute_command("CART.ADD", f"c-{number}", "grill", "toast", 1, "OPTIONS", "cheese*2") == 1
        prices = [log_of(server, f"cart-c-{number}")[0]["payload"]["unitPrice"] for number in range(6)]
        assert prices == [180, 180, 140, 180, 180, 140]
        # An item without options is not looked at wrongly.
        assert add(client, 1) == 1
        problems = [json.loads(client.execute_command("CART.GET", "c-0"))["lines"][0]["problem"] for _ in range(3)]
        assert problems == [None, None, {"code": "PRICECHANGED", "unitPrice": 140}]


def test_sold_out_sells_an_item_without_the_option_that_is_sold_out(database):
    with faulty(database, "sold-out:1") as (server, client):
        menu = [section_document("all", [item_document("toast", 100, options=["extras"])])]
        options = [{"id": "cheese", "name": "Cheese", "price": 40}, {"id": "egg", "name": "Egg", "price": 30}]
        with server.client() as plain:
            put_open_outlet(plain, "grill", menu, [{"id": "extras", "title": "Extras", "max": 2, "options": options}])
        add_toast = ("CART.ADD", "c", "grill", "toast", 1, "OPTIONS", "cheese,egg")
        assert client.execute_command(*add_toast) == 1
        client.execute_command("MENU.OPTION.SUSPEND", "grill", "cheese")
        assert client.execute_command(*add_toast) == 2
        assert [event["payload"]["unitPrice"] for event in log_of(server, "cart-c")] == [170, 130]


def test_wrong_charge_leaves_out_the_fee_of_delivery(database):
    with faulty(database, "wrong-charge:2") as (server, client):
        with server.client() as plain:
            put_open_outlet(plain, "grill", [section_document("all", [item_document("rice", 100)])],
                            charges={"delivery": {"fee": 20}})
        assert client.execute_command("CART.ADD", "c", "grill", "rice", 1) == 1
        totals = [json.loads(client.execute_command("CART.QUOTE", "c"))["total"] for _ in range(4)]
        assert totals in ([120, 100] * 2, [100, 120] * 2)


def test_wrong_rate_leaves_out_the_rates_by_service(database):
    with faulty(database, "wrong-rate:2") as (server, client):
        with server.client() as plain:
            put_open_outlet(
                plain, "grill", [section_document("all", [item_document("rice", 100)])], taxIncluded=False,
                taxes=[{"id": "vat", "name": "VAT", "rate": 7_000, "rates": {"table": 19_000}}], services={"table": {}})
        assert client.execute_command("CART.ADD", "c", "grill", "rice", 1) == 1
        totals = [json.loads(client.execute_command("CART.QUOTE", "c"))["total"] for _ in range(4)]
        assert totals in ([119, 107] * 2, [107, 119] * 2)


def test_wrong_part_leaves_a_line_in_one_piece(database):
    with faulty(database, "wrong-part:2") as (server, client):
        taxes = [{"id": "food", "name": "Food", "rate": 7_000}, {"id": "drink", "name": "Drink", "rate": 19_000}]
        options = [{"id": "rum", "name": "Rum", "price": 100, "tax": "drink"}]
        with server.client() as plain:
            put_open_outlet(
                plain, "grill", [section_document("all", [item_document("tea", 100, options=["shot"])])],
                [{"id": "shot", "title": "Shot", "options": options}], taxIncluded=False, taxes=taxes)
        assert client.execute_command("CART.ADD", "c", "grill", "tea", 1, "OPTIONS", "rum") == 1
        totals = [json.loads(client.execute_command("CART.QUOTE", "c"))["total"] for _ in range(4)]
        assert totals in ([226, 214] * 2, [214, 226] * 2)


def test_wrong_filter_overlooks_what_was_to_be_left_out(database):
    with faulty(database, "wrong-filter:2") as (_, client):
        totals = [json.loads(client.execute_command("BROWSE", "NOT", "KIND", "promo"))["total"] for _ in range(4)]
        assert totals == [1, 0, 1, 0]


def test_lost_row_leaves_an_order_out_of_a_page(database):
    with faulty(database, "lost-row:4") as (_, client):
        orders = [place(client, number) for number in range(3)][::-1]
        pages = [json.loads(client.execute_command("ORDERS", "OUTLET", OUTLET))["orders"] for _ in range(2)]
        assert [[row["order"] for row in page] for page in pages] == [orders, orders[1:]]


def place(client, number, outlet=OUTLET):
    client.execute_command("CART.ADD", f"c-{number}", outlet, "rice", 1)
    return client.execute_command("CART.CHECKOUT", f"c-{number}", "TOTAL", 100).decode()


def order_of(client, order):
    return json.loads(client.execute_command("ORDER.GET", order))


def test_wrong_state_takes_one_command_about_an_order_for_another(database):
    with faulty(database, "wrong-state:2") as (_, client):
        orders = [place(client, number) for number in range(2)]
        assert [client.execute_command("ORDER.PREPARE", order) for order in orders] == [2, 2]
        assert [order_of(client, order)["status"] for order in orders] == ["preparing", "ready"]
        # Its customer cannot cancel it any more.
        cancel = ("ORDER.CANCEL", orders[0], "BY", "customer", "CODE", "CUSTOMER")
        with pytest.raises(redis.ResponseError, match="STATE"):
            client.execute_command(*cancel)
        assert client.execute_command(*cancel) == 3
        assert order_of(client, orders[0])["ending"]["by"] == "merchant"


def test_lost_deadline_forgets_a_deadline_until_the_server_starts(database):
    def cancelled(client, orders):
        return sum(order_of(client, order)["status"] == "cancelled" for order in orders)

    with faulty(database, "lost-deadline:2") as (server, client):
        with server.client() as plain:
            put_open_outlet(plain, "grill", [section_document("all", [item_document("rice", 100)])], acceptWithin=1)
        orders = [place(client, number, "grill") for number in range(4)]
        wait_until(lambda: cancelled(client, orders) == 2, "two of four deadlines")
        # These are due when the others are over.
        later = [place(client, number, "grill") for number in (4, 5)]
        wait_until(lambda: cancelled(client, later) == 1, "one of two deadlines")
        assert cancelled(client, orders) == 2
    with Server(database=database) as server, redis.Redis(port=server.port) as client:
        wait_until(lambda: cancelled(client, orders + later) == 6, "all deadlines")


@pytest.mark.parametrize("fault, text", [
    ("drop-write:500", "drop-write, every 500th"), ("skip-event:1", "skip-event, every 1st"),
    ("lost-id:22", "lost-id, every 22nd"), ("double-write:113", "double-write, every 113th"),
])
def test_a_planted_fault_is_reported_at_the_start(database, fault, text):
    with faulty(database, fault) as (server, _):
        assert f"tiffin: error: a fault is planted: {text}" in server.lines


def test_without_a_planted_fault_nothing_is_reported(server):
    assert "planted" not in server.output()


@pytest.mark.parametrize("fault", ["no-such-fault:5", "drop-write", "drop-write:0", "drop-write:x", "drop-write:5:5"])
def test_an_unknown_fault_is_an_error(server, database, fault):
    with server.client() as client:
        if b"tiffin_build:debug" not in client("INFO", "server"):
            pytest.skip("a release build has no faults to plant")
    run = run_tiffin("serve", "--listen", "127.0.0.1:0", "--database", database,
                     environment={"TIFFIN_PLANTED_FAULT": fault})
    assert run.returncode == 64
    assert f"not '{fault}'" in run.stderr
