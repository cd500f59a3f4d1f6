"""Carts, orders, the log and the limits over the wire."""

import json

import pytest

from tiffin import ReplyError, encode, item_document, put_open_outlet, read_log, section_document

CART_KEYS = [
    "cart", "outlet", "version", "status", "count", "currency", "lines", "subtotal", "total", "updatedAt",
]
LINE_KEYS = ["line", "item", "name", "quantity", "unitPrice", "options", "note", "total", "problem"]


class TestCarts:
    def test_adding_returns_the_sum_of_quantities(self, client, outlet):
        assert client("CART.ADD", outlet, outlet, "rice", 2) == 2
        assert client("CART.ADD", outlet, outlet, "kottu", 1) == 3
        assert client("CART.ADD", outlet, outlet, "rice", 4) == 7
        assert client("CART.COUNT", outlet) == 7

    def test_a_cart_document_has_its_keys_in_order_and_its_totals_right(self, client, outlet):
        client("CART.ADD", outlet, outlet, "rice", 2)
        client("CART.ADD", outlet, outlet, "kottu", 3, "NOTE", "no chilli")
        cart = client.json("CART.GET", outlet)
        assert list(cart) == CART_KEYS
        assert [list(line) for line in cart["lines"]] == [LINE_KEYS] * 2
        rice, kottu = cart["lines"]
        assert (rice["line"], rice["item"], rice["quantity"], rice["unitPrice"], rice["total"]) == (
            "rice", "rice", 2, 125000, 250000)
        assert (rice["note"], kottu["note"]) == (None, "no chilli")
        assert (cart["cart"], cart["outlet"], cart["currency"]) == (outlet, outlet, "LKR")
        assert (cart["count"], cart["subtotal"], cart["total"]) == (5, 544000, 544000)
        assert cart["updatedAt"].endswith("Z")
        assert [line["problem"] for line in cart["lines"]] == [None, None]

    def test_another_note_is_another_line(self, client, outlet):
        for note in ("hot", "mild", "hot"):
            client("CART.ADD", outlet, outlet, "rice", 1, "NOTE", note)
        lines = client.json("CART.GET", outlet)["lines"]
        assert [(line["note"], line["quantity"]) for line in lines] == [("hot", 2), ("mild", 1)]
        assert len({line["line"] for line in lines}) == 2
        client("CART.REMOVE", outlet, lines[0]["line"])
        assert [line["note"] for line in client.json("CART.GET", outlet)["lines"]] == ["mild"]

    def test_setting_removing_and_clearing(self, client, outlet):
        client("CART.ADD", outlet, outlet, "rice", 2)
        client("CART.ADD", outlet, outlet, "kottu", 2)
        assert client("CART.SET", outlet, "rice", 5) == 7
        assert client("CART.SET", outlet, "rice", 0) == 2
        assert client("CART.REMOVE", outlet, "kottu") == 0
        client("CART.ADD", outlet, outlet, "rice", 2)
        assert client("CART.CLEAR", outlet) == 0
        assert client.json("CART.GET", outlet)["lines"] == []

    def test_an_unknown_cart_counts_nothing_and_is_null(self, client):
        assert client("CART.COUNT", "never-seen") == 0
        assert client("CART.GET", "never-seen") is None

    def test_a_rejected_change_changes_nothing(self, client, outlet, name):
        put_open_outlet(client, f"{name}-other", [section_document("s", [item_document("tea", 5000)])])
        client("CART.ADD", outlet, outlet, "rice", 1)
        before = client("CART.GET", outlet)
        for code, command in [
            ("WRONGOUTLET", ("CART.ADD", outlet, f"{name}-other", "tea", 1)),
            ("NOTFOUND", ("CART.ADD", outlet, outlet, "no-such-item", 1)),
            ("NOTFOUND", ("CART.ADD", outlet, "no-such-outlet", "rice", 1)),
            ("NOTFOUND", ("CART.SET", outlet, "no-such-line", 1)),
            ("LIMIT", ("CART.ADD", outlet, outlet, "rice", 99)),
            ("LIMIT", ("CART.SET", outlet, "rice", 100)),
            ("CONFLICT", ("CART.ADD", outlet, outlet, "rice", 1, "VERSION", 77)),
        ]:
            assert client.error(*command).code == code, command
        for quantity, code in {
            "0": "LIMIT", "-1": "LIMIT", "1.5": "INVALID", "many": "INVALID", "9223372036854775808": "INVALID",
        }.items():
            assert client.error("CART.ADD", outlet, outlet, "rice", quantity).code == code
        assert client("CART.GET", outlet) == before

    def test_a_cart_holds_a_hundred_lines(self, client, name):
        items = [item_document(f"dish-{n}", 100 + n) for n in range(101)]
        put_open_outlet(client, name, [section_document("all", items)])
        replies = client.pipeline(("CART.ADD", name, name, f"dish-{n}", 1) for n in range(101))
        assert replies[:100] == list(range(1, 101))
        assert replies[100].code == "LIMIT"

    def test_the_same_id_gives_the_first_reply_again_and_changes_nothing(self, client, outlet):
        assert client("CART.ADD", outlet, outlet, "rice", 2, "ID", "tap-1") == 2
        assert client("CART.ADD", outlet, outlet, "rice", 1, "ID", "tap-2") == 3
        assert client("CART.ADD", outlet, outlet, "rice", 2, "ID", "tap-1") == 2
        assert client("CART.COUNT", outlet) == 3
        assert client.error("CART.ADD", outlet, outlet, "rice", 9, "ID", "tap-1").code == "IDMISMATCH"
        assert client.error("CART.CLEAR", outlet, "ID", "tap-1").code == "IDMISMATCH"
        assert client.error("CART.ADD", outlet, outlet, "rice", 1, "ID", "x" * 65).code == "INVALID"

    def test_the_expected_version_is_that_of_the_cart(self, client, outlet):
        client("CART.ADD", outlet, outlet, "rice", 1)
        version = client.json("CART.GET", outlet)["version"]
        assert client("CART.ADD", outlet, outlet, "rice", 1, "VERSION", version) == 2
        conflict = client.error("CART.ADD", outlet, outlet, "rice", 1, "VERSION", version)
        assert conflict.code == "CONFLICT"
        assert str(client.json("CART.GET", outlet)["version"]) in str(conflict)

    def test_options_come_in_any_order_and_case(self, client, outlet):
        assert client("cart.add", outlet, outlet, "rice", 1, "note", "hot", "id", "a") == 1
        assert client("CART.ADD", outlet, outlet, "rice", 1, "Id", "b", "Note", "hot") == 2
        assert len(client.json("CART.GET", outlet)["lines"]) == 1

    def test_a_line_says_when_its_price_moved_or_its_item_is_gone(self, client, outlet):
        client("CART.ADD", outlet, outlet, "rice", 1)
        client("CART.ADD", outlet, outlet, "kottu", 1)
        client("MENU.ITEM.PRICE", outlet, "rice", 130000)
        client("MENU.ITEM.REMOVE", outlet, "kottu")
        rice, kottu = client.json("CART.GET", outlet)["lines"]
        assert (rice["unitPrice"], kottu["quantity"]) == (125000, 1)
        assert rice["problem"] and kottu["problem"]


class TestOrders:
    def test_a_checkout_places_an_order_of_the_cart(self, client, outlet):
        client("CART.ADD", outlet, outlet, "rice", 2)
        order = client("CART.CHECKOUT", outlet, "TOTAL", 250000).decode()
        document = client.json("ORDER.GET", order)
        assert document["total"] == 250000
        assert [(line["item"], line["quantity"]) for line in document["lines"]] == [("rice", 2)]
        assert client.error("CART.ADD", outlet, outlet, "rice", 1).code == "STATE"
        assert client.error("CART.CHECKOUT", outlet, "TOTAL", 250000).code == "STATE"

    def test_a_placed_cart_counts_nothing_and_keeps_its_lines(self, client, outlet):
        client("CART.ADD", outlet, outlet, "rice", 2)
        before = client.json("LOG.HEAD")[0]["position"]
        client("CART.CHECKOUT", outlet, "TOTAL", 250000)
        assert client("CART.COUNT", outlet) == 0
        assert client.json("OUTLET.HOME", outlet, "CART", outlet)["cartCount"] == 0
        revision = client.json("OUTLET.HOME", outlet)["revision"]
        assert client.json("OUTLET.HOME", outlet, "SINCE", revision, "CART", outlet)["patch"][-1]["value"] == 0
        cart = client.json("CART.GET", outlet)
        assert (cart["status"], cart["count"], len(cart["lines"])) == ("checkedOut", 2, 1)
        # Before the checkout it counted, and the past says so.
        after = client.json("LOG.HEAD")[0]["position"]
        assert client.json("OUTLET.HOME", outlet, "CART", outlet, "AT", before)["cartCount"] == 2
        assert client.json("OUTLET.HOME", outlet, "CART", outlet, "AT", after)["cartCount"] == 0

    def test_the_same_id_places_one_order(self, client, outlet):
        client("CART.ADD", outlet, outlet, "rice", 1)
        checkout = ("CART.CHECKOUT", outlet, "TOTAL", 125000, "ID", "pay")
        assert client(*checkout) == client(*checkout)

    def test_a_total_that_moved_is_named_with_the_one_expected(self, client, outlet):
        client("CART.ADD", outlet, outlet, "rice", 1)
        client("MENU.ITEM.PRICE", outlet, "rice", 130000)
        error = client.error("CART.CHECKOUT", outlet, "TOTAL", 125000)
        assert error.code == "TOTALCHANGED"
        assert "is 1300.00 LKR, not 1250.00 LKR" in str(error)

    def test_an_empty_or_unknown_cart_is_not_checked_out(self, client, outlet):
        assert client.error("CART.CHECKOUT", "never-seen", "TOTAL", 0).code == "STATE"
        client("CART.ADD", outlet, outlet, "rice", 1)
        client("CART.CLEAR", outlet)
        assert client.error("CART.CHECKOUT", outlet, "TOTAL", 0).code == "STATE"

    def test_an_unknown_order_is_null(self, client):
        assert client("ORDER.GET", "never-placed") is None


class TestLog:
    def test_positions_are_gapless_from_one(self, client, outlet):
        positions = [event["position"] for event in read_log(client)]
        assert positions == list(range(1, len(positions) + 1))

    def test_a_stream_is_read_alone_and_explains_its_cart(self, client, outlet):
        for n in range(5):
            client("CART.ADD", outlet, outlet, "rice", 1, "ID", f"tap-{n}")
        events = read_log(client, "STREAM", f"cart-{outlet}")
        assert {event["stream"] for event in events} == {f"cart-{outlet}"}
        versions = [event["version"] for event in events]
        assert versions == list(range(versions[0], versions[0] + len(versions)))
        assert versions[-1] == client.json("CART.GET", outlet)["version"]
        assert all(any(f'"tap-{n}"' in json.dumps(event) for event in events) for n in range(5))

    def test_the_head_is_at_the_last_event(self, client, outlet):
        last = read_log(client)[-1]["position"]
        assert str(last) in client("LOG.HEAD").decode()

    def test_reading_from_beyond_the_end_is_empty(self, client):
        assert client("LOG.READ", "FROM", 1 << 40, "COUNT", 10) == []
        assert client.error("LOG.READ", "FROM", "-1").code == "INVALID"


class TestLimits:
    # Each over its default limit: an error that names it, then the connection closes.
    OVER = {
        "an inline line of 64 KiB": (b"PING " + b"x" * (64 << 10), "inline"),
        "a bulk of 1 MiB": (b"*2\r\n$4\r\nECHO\r\n$1048577\r\n", "bulk"),
        "1,024 arguments": (b"*1025\r\n", "multibulk"),
    }

    @pytest.mark.parametrize("data, named", OVER.values(), ids=OVER)
    def test_over_a_limit_the_connection_closes_and_no_other(self, server, client, data, named):
        with server.client() as offender:
            offender.send(data)
            reply = offender.read()
            assert isinstance(reply, ReplyError) and named in str(reply)
            assert offender.is_closed()
        assert client("PING") == "PONG"

    def test_just_within_the_limits_a_request_is_served(self, client):
        megabyte = b"x" * (1 << 20)
        assert client("ECHO", megabyte) == megabyte
        assert client.error("ECHO", *["x"] * 1023).code == "ERR"
        client.send(b"ECHO " + b"x" * ((64 << 10) - 16) + b"\r\n")
        assert len(client.read()) == (64 << 10) - 16

    def test_two_hundred_connections_are_served_at_once(self, server):
        clients = [server.client() for _ in range(200)]
        try:
            for connection in clients:
                connection.send(encode("PING"))
            assert [connection.read() for connection in clients] == ["PONG"] * 200
        finally:
            for connection in clients:
                connection.close()

    def test_a_client_that_goes_away_mid_request_harms_nobody(self, server, client, outlet):
        for cut in (1, 9, 30):
            with server.client() as leaver:
                leaver.send(encode("CART.ADD", outlet, outlet, "rice", 1)[:cut])
        assert client("CART.COUNT", outlet) == 0
