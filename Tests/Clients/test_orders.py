"""An order's life over the wire: who may do what, in which order, and what everybody sees of it."""

import json
from datetime import datetime, timedelta, timezone

import pytest

from edits import patched
from followers import message
from test_subscriptions import subscribe
from tiffin import (
    Client, ReplyError, Server, fresh_database, item_document, put_open_outlet, read_log, run_tiffin, section_document,
    sql, wait_until,
)

TEXT = "the fish did not come, Asha"


def place(client, outlet, cart, *words, price=100, quantity=2, tip=0, **changes):
    """An order of some tea at an outlet with these details."""
    put_open_outlet(
        client, outlet, [section_document("all", [item_document("tea", price)])], **{"acceptWithin": 600, **changes})
    assert client("CART.ADD", cart, outlet, "tea", quantity, *words) == quantity
    client("CART.TIP", cart, tip)
    total = client.json("CART.QUOTE", cart)["total"]
    return client("CART.CHECKOUT", cart, "TOTAL", total, *words).decode()


def status(client, order):
    return client.json("ORDER.GET", order)["status"]


def report(client, order, *reports):
    for words in reports:
        client("ORDER.PAYMENT", order, *words.split())


def payments(client, order):
    """What was recorded of an order's money."""
    events = read_log(client, "STREAM", f"order-{order}")
    return [event["payload"] for event in events if event["kind"] == "order.paymentReported"]


def sums(client, order, *names):
    payment = client.json("ORDER.GET", order)["payment"]
    return tuple(payment[name] for name in names)


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
            "order", "cart", "outlet", "version", "status", "count", "currency", "lines", "subtotal", "charges",
            "total", "updatedAt"]
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
            for words in [(), ("VERSION", 7), ("REASON", "no")]:
                command = ("ORDER.REJECT", order, "CODE", "BUSY", *words)
                assert baker.error(*command) == ReplyError(f"NOTFOUND no such order: '{order}'")
                assert anna.error("ORDER.CANCEL", other, *cancel, *words) == ReplyError(
                    f"NOTFOUND no such order: '{other}'")
            assert anna("ORDER.CANCEL", order, *cancel) == 2
            assert cook("ORDER.ACCEPT", other) == 2
            for user, own, foreign in [
                    ("anna", ("ORDERS", "CUSTOMER", "anna"), ("ORDERS", "CUSTOMER", "bert")),
                    ("anna", ("ORDERS", "OUTLET", "grill", "CUSTOMER", "anna"), ("ORDERS", "OUTLET", "grill")),
                    ("anna", ("ORDERS", "CUSTOMER", "anna-1"), ("ORDERS",)),
                    ("cook", ("ORDERS", "OUTLET", "grill"), ("ORDERS", "OUTLET", "bakery")),
                    ("cook", ("KITCHEN", "grill"), ("KITCHEN", "bakery")),
                    ("cook", ("SUBSCRIBE", "kitchen:grill"), ("SUBSCRIBE", "kitchen:bakery")),
                    ("cook", ("SUBSCRIBE", f"order:{other}"), ("SUBSCRIBE", "order:unknown")),
                    ("anna", ("SUBSCRIBE", "home:grill"), ("SUBSCRIBE", f"order:{other}"))]:
                with shop(user) as client:
                    assert client.error(*foreign).code == "NOPERM", foreign
                    client(*own)
            assert root("ORDER.CANCEL", other, "BY", "merchant", "CODE", "OTHER") == 3


def pay(client, count, outlet, cart):
    """Orders of one tea each."""
    client.pipeline(("CART.ADD", f"{cart}-{n}", outlet, "tea", 1) for n in range(count))
    return [order.decode() for order in client.pipeline(
        ("CART.CHECKOUT", f"{cart}-{n}", "TOTAL", 100) for n in range(count))]


def endings(client, partitions=1):
    """What happened to each order by itself, by the order."""
    found = {}
    for event in (event for n in range(partitions) for event in read_log(client, "PARTITION", n)):
        if event["kind"] in ("order.cancelled", "order.completed") and event["payload"]["by"] == "system":
            found.setdefault(event["stream"], []).append(event["payload"].get("code"))
    return found


class TestDeadlines:
    def test_what_nobody_accepts_or_pays_in_time_is_cancelled(self, client, name):
        late = place(client, name, name, acceptWithin=1)
        unpaid = place(client, f"{name}-2", f"{name}-2", payment="first", payWithin=1)
        assert status(client, unpaid) == "awaitingPayment"
        assert client.error("ORDER.ACCEPT", unpaid).code == "STATE"
        taken = place(client, f"{name}-3", f"{name}-3", acceptWithin=1)
        assert client("ORDER.ACCEPT", taken) == 2
        wait_until(lambda: status(client, late) == status(client, unpaid) == "cancelled", "the deadlines")
        assert client.json("ORDER.GET", late)["ending"] == {"by": "system", "code": "TIMEOUT", "reason": None}
        end = json.loads(client("LOG.READ", "STREAM", f"order-{late}")[-1])
        assert end["metadata"] == {"actor": "tiffin", "cause": f"order-{late}@{end['version'] - 1}"}
        assert client.json("ORDER.GET", unpaid)["ending"]["code"] == "UNPAID"
        assert client.error("ORDER.ACCEPT", late).code == "STATE"
        assert status(client, taken) == "accepted"

    def test_two_servers_meet_a_thousand_deadlines_once_each(self, database):
        assert run_tiffin("migrate", "--database", database, "--partitions", 2).returncode == 0
        with Server(database=database) as one, Server(database=database) as two, \
                one.client() as client, two.client() as other:
            put_open_outlet(
                client, "kitchen", [section_document("all", [item_document("tea", 100)])], acceptWithin=1)
            # Either may decide a cart.
            wait_until(
                lambda: b'"status":"open"' in (other("OUTLET.GET", "kitchen") or b""), "the outlet on the other server")
            orders = pay(client, 500, "kitchen", "a")
            orders += pay(other, 500, "kitchen", "b")
            wait_until(lambda: all(status(client, order) == "cancelled" for order in orders[::50]), "the deadlines")
            wait_until(lambda: len(endings(client, 2)) == 1_000, "all deadlines")
            assert set(map(tuple, endings(client, 2).values())) == {("TIMEOUT",)}
        assert run_tiffin("audit", "--database", database).returncode == 0

    def test_a_server_that_is_killed_around_a_deadline_meets_it_once(self, database):
        orders = []
        for round in range(4):
            # Killed before the deadlines, when they have just passed, and while they are met.
            server = Server(database=database).start()
            with server.client() as client:
                put_open_outlet(
                    client, "kitchen", [section_document("all", [item_document("tea", 100)])], acceptWithin=1)
                orders += pay(client, 50, "kitchen", f"round-{round}")
                if round % 2:
                    wait_until(lambda: status(client, orders[-1]) == "cancelled", "the last deadline")
            server.kill()
        with Server(database=database) as server, server.client() as client:
            wait_until(lambda: len(endings(client)) == len(orders), "what is overdue")
            assert set(map(tuple, endings(client).values())) == {("TIMEOUT",)}
            wait_until(lambda: sql("select count(*) from tiffin.orders where status = 'cancelled'", database)
                       == str(len(orders)), "a checkpoint")
        assert run_tiffin("audit", "--database", database).returncode == 0
        # The rows that a restart begins with are what the log leads to.
        with Server(database=database) as server, server.client() as client:
            assert len(endings(client)) == len(orders)
            assert "orders:rows=200" in client("INFO", "projections").decode()


class TestPayments:
    def test_an_order_that_is_paid_first_waits_for_its_money(self, client, name):
        order = place(client, name, name, payment="first")
        waiting = client.json("ORDER.GET", order)
        assert (waiting["status"], "payBy" in waiting) == ("awaitingPayment", True)
        assert waiting["payment"] == {
            "state": None, "authorised": 0, "captured": 0, "refunded": 0, "chargedBack": 0, "paid": 0, "secured": 0,
            "due": 200, "owed": 0}
        assert client.json("KITCHEN", name)["count"] == 0
        assert client("ORDER.PAYMENT", order, "pay_1", "authorised", 200) == 3
        assert client("ORDER.PAYMENT", order, "pay_1", "authorised", 200) == 3, "the same again"
        assert client.error("ORDER.PAYMENT", order, "pay_1", "authorised", 199).code == "IDMISMATCH"
        assert client.json("KITCHEN", name)["count"] == 1
        paid = client.json("ORDER.GET", order)
        assert (paid["status"], paid["payment"]["authorised"], "acceptBy" in paid) == ("placed", 200, True)
        client("ORDER.CANCEL", order, "BY", "customer", "CODE", "CUSTOMER")
        assert client("ORDER.PAYMENT", order, "pay_1", "captured", 200) == 5, "money that moved is always recorded"
        assert client.json("ORDER.GET", order)["payment"] == {
            "state": "captured", "authorised": 0, "captured": 200, "refunded": 0, "chargedBack": 0, "paid": 200,
            "secured": 200, "due": 0, "owed": 200, "debt": {"by": "outlet", "to": "customer", "amount": 200}}
        assert client("ORDER.PAYMENT", order, "back_1", "refunded", 200) == 6
        assert client.json("ORDER.GET", order)["payment"]["owed"] == 0

    def test_money_that_went_back_is_not_paid(self, client, name):
        order = place(client, name, name, payment="first")
        report(client, order, "c1 captured 120", "r1 refunded 120", "c2 captured 80")
        assert status(client, order) == "awaitingPayment"
        assert sums(client, order, "paid", "secured", "due") == (80, 80, 120)
        report(client, order, "c3 captured 120")
        assert status(client, order) == "placed"

    def test_a_capture_of_an_authorisation_counts_once(self, client, name):
        order = place(client, name, name, payment="first")
        report(client, order, "a1 authorised 100", "c1 captured 100")
        assert status(client, order) == "awaitingPayment", "one half is paid, and counted once"
        assert sums(client, order, "authorised", "paid", "secured", "due") == (0, 100, 100, 100)
        (_, event) = payments(client, order)
        assert event == {"ref": "c1", "state": "captured", "amount": 100, "of": "a1"}

    def test_an_authorisation_is_captured_in_parts_and_the_rest_is_voided(self, client, name):
        order = place(client, name, name, payment="first")
        report(client, order, "a1 authorised 200")
        assert status(client, order) == "placed"
        assert sums(client, order, "due", "owed") == (0, 0), "what is set aside is not still to pay"
        report(client, order, "c1 captured 50 OF a1", "c2 captured 50 OF a1")
        assert sums(client, order, "authorised", "captured", "paid", "secured") == (100, 100, 100, 200)
        client("ORDER.PREPARE", order)
        report(client, order, "v1 voided 100 OF a1")
        assert sums(client, order, "authorised", "secured", "due") == (0, 100, 100)

    def test_equal_refunds_are_two_where_each_has_its_reference(self, client, name):
        order = place(client, name, name)
        report(client, order, "c1 captured 200", "r1 refunded 50 OF c1", "r2 refunded 50 OF c1", "d1 chargedBack 20 OF c1")
        assert sums(client, order, "refunded", "chargedBack", "paid", "due") == (100, 20, 80, 120)
        before = client.json("ORDER.GET", order)["version"]
        assert client("ORDER.PAYMENT", order, "r2", "refunded", 50, "OF", "c1") == before, "the same again"
        assert client("ORDER.PAYMENT", order, "r2", "refunded", 50) == before, "it says less, and nothing else"
        for words in (("r2", "refunded", 50, "OF", "c2"), ("r2", "refunded", 51, "OF", "c1")):
            assert client.error("ORDER.PAYMENT", order, *words).code == "IDMISMATCH"

    def test_an_order_that_loses_its_cover_waits_again(self, client, name):
        order = place(client, name, name, payment="first", payWithin=300)
        first = client.json("ORDER.GET", order)["payBy"]
        report(client, order, "a1 authorised 200")
        client("ORDER.ACCEPT", order, "READY", soon(30))
        assert client.json("KITCHEN", name)["count"] == 1
        report(client, order, "v1 voided 200")
        waiting = client.json("ORDER.GET", order)
        assert (waiting["status"], "readyBy" in waiting, "acceptBy" in waiting) == ("awaitingPayment", False, False)
        assert waiting["payBy"] > first
        assert client.json("KITCHEN", name)["count"] == 0
        kind = read_log(client, "STREAM", f"order-{order}")[-1]
        assert (kind["kind"], list(kind["payload"])) == ("order.coverLost", ["payBy"])
        report(client, order, "a2 authorised 200")
        again = client.json("ORDER.GET", order)
        assert (again["status"], "acceptBy" in again) == ("placed", True)

    def test_an_order_that_lost_its_cover_ends_unpaid(self, client, name):
        order = place(client, name, name, payment="first", payWithin=1)
        report(client, order, "a1 authorised 200", "v1 voided 200 OF a1")
        assert status(client, order) == "awaitingPayment"
        wait_until(lambda: status(client, order) == "cancelled", "the new deadline")
        assert client.json("ORDER.GET", order)["ending"]["code"] == "UNPAID"

    def test_the_board_flags_what_is_cooked_without_cover(self, database):
        with Server(database=database) as server, server.client() as client:
            order = place(client, "o", "c", payment="first")
            report(client, order, "a1 authorised 200")
            client("ORDER.PREPARE", order)
            assert [shown["uncovered"] for shown in client.json("KITCHEN", "o")["orders"]] == [False]
            with server.client() as watcher:
                board = patched(None, subscribe(watcher, "kitchen:o")["kitchen:o"])
                report(client, order, "v1 voided 150 OF a1")
                board = patched(board, message(watcher.read())[1])
                assert [shown["uncovered"] for shown in board["orders"]] == [True]
            wait_until(lambda: sql("select paid || ' ' || version from tiffin.orders", database) == "0 5", "a row")
        with Server(database=database) as server, server.client() as client:
            assert [shown["uncovered"] for shown in client.json("KITCHEN", "o")["orders"]] == [True], "after a restart"
            report(client, order, "c1 captured 50 OF a1", "a2 authorised 150")
            assert [shown["uncovered"] for shown in client.json("KITCHEN", "o")["orders"]] == [False]

    def test_a_refund_before_it_is_cooked_takes_no_cover_away(self, client, name):
        order = place(client, name, name, payment="first")
        report(client, order, "c1 captured 200")
        client("ORDER.REFUND", order, "AMOUNT", 50, "CODE", "OTHER")
        assert sums(client, order, "due", "owed") == (0, 50)
        report(client, order, "r1 refunded 50")
        assert (status(client, order), sums(client, order, "due", "owed")) == ("placed", (0, 0))

    @pytest.mark.parametrize("words, doubt", [
        ("c1 captured 150, r1 refunded 900", ["r1 refunded excess"]),
        ("c1 captured 150, r1 refunded 100, d1 chargedBack 100", ["d1 chargedBack excess"]),
        ("a1 authorised 100, c1 captured 101", ["c1 captured excess"]),
        ("a1 authorised 100, c1 captured 60, v1 voided 50", ["v1 voided excess"]),
        ("r1 refunded 50", ["r1 refunded parent"]),
        ("c1 captured 50 OF a9", ["c1 captured parent"]),
        ("v1 voided 50", ["v1 voided parent"]),
        ("c1 captured 50, c2 captured 50, r1 refunded 50", ["r1 refunded parent"]),
        ("a1 authorised 50, a2 authorised 50, c1 captured 50", ["c1 captured parent"]),
        ("c1 captured 50 OF a1, a1 authorised 50", []),
    ])
    def test_what_cannot_be_is_recorded_with_a_doubt(self, client, name, words, doubt):
        order = place(client, name, name, payment="first")
        report(client, order, *words.split(", "))
        shown = client.json("ORDER.GET", order)["payment"].get("doubt", [])
        assert [f"{one['ref']} {one['kind']} {one['why']}" for one in shown] == doubt
        (row,) = client.json("ORDERS", "OUTLET", name)["orders"]
        assert row["doubt"] is bool(doubt)
        assert len(payments(client, order)) == len(words.split(", "))

    def test_a_doubtful_capture_releases_nothing(self, client, name):
        order = place(client, name, name, payment="first")
        report(client, order, "a1 authorised 60", "a2 authorised 60", "c1 captured 100")
        assert (status(client, order), sums(client, order, "secured")) == ("awaitingPayment", (120,))

    @pytest.mark.parametrize("ending", [("COMPLETE",), ("CANCEL", "BY", "merchant", "CODE", "OTHER")])
    def test_money_that_moves_after_the_end_is_owed_by_somebody(self, client, name, ending):
        order = place(client, name, name)
        report(client, order, "c1 captured 200")
        client(f"ORDER.{ending[0]}", order, *ending[1:])
        price = 200 if ending[0] == "COMPLETE" else 0
        for words, paid in (("r1 refunded 200 OF c1", 0), ("d1 chargedBack 30 OF c1", -30), ("c2 captured 330", 300)):
            report(client, order, words)
            debt = {"by": "outlet", "to": "customer", "amount": paid - price}
            if paid < price:
                debt = {"by": "customer", "to": "outlet", "amount": price - paid}
            assert client.json("ORDER.GET", order)["payment"].get("debt") == (debt if paid != price else None), words

    def test_a_parent_is_said_of_what_can_have_one(self, client, name):
        order = place(client, name, name)
        error = client.error("ORDER.PAYMENT", order, "a1", "authorised", 200, "OF", "a0")
        assert error.code == "INVALID" and "OF" in str(error)
        for reference in ("4111111111111111", "x" * 201, ""):
            assert client.error("ORDER.PAYMENT", order, "c1", "captured", 200, "OF", reference).code == "INVALID"
        assert client.json("ORDER.GET", order)["version"] == 1

    def test_no_card_numbers(self, client, name):
        order = place(client, name, name)
        for reference in ("4111111111111111", "visa 4111 1111 1111 1111", "x" * 201, ""):
            assert client.error("ORDER.PAYMENT", order, reference, "captured", 200).code == "INVALID", reference
        assert client.error("ORDER.PAYMENT", order, "p", "stolen", 200).code == "INVALID"
        assert client.error("ORDER.PAYMENT", order, "p", "captured", -1).code == "INVALID"
        assert client.json("ORDER.GET", order)["version"] == 1

    def test_what_costs_nothing_waits_for_no_payment(self, client, name):
        order = place(client, name, name, price=0, payment="first", acceptWithin=600)
        placed = client.json("ORDER.GET", order)
        assert (placed["status"], placed["total"], "acceptBy" in placed) == ("placed", 0, True)
        assert "payBy" not in placed and "payment" not in placed
        assert [shown["order"] for shown in client.json("KITCHEN", name)["orders"]] == [order]
        assert client("ORDER.ACCEPT", order) == 2
        quick = place(client, f"{name}-quick", f"{name}-quick", price=0, payment="first", acceptWithin=0)
        assert status(client, quick) == "accepted"


class TestRefunds:
    def test_units_amounts_and_the_rest_are_given_back(self, client, name):
        order = place(client, name, name)
        client("ORDER.PAYMENT", order, "pay_1", "captured", 200)
        client("ORDER.COMPLETE", order)
        line = client.json("ORDER.GET", order)["lines"][0]["line"]
        refund = ("ORDER.REFUND", order, "LINE", line, "QTY", 1, "CODE", "ITEMS", "ID", "back")
        assert client(*refund) == 4
        assert client(*refund) == 4, "sent again"
        document = client.json("ORDER.GET", order)
        assert (document["refunded"], document["lines"][0]["refunded"], document["payment"]["owed"]) == (100, 1, 100)
        assert client.error("ORDER.REFUND", order, "AMOUNT", 101, "CODE", "OTHER").code == "LIMIT"
        assert client.error("ORDER.REFUND", order, "LINE", line, "CODE", "OTHER").code == "INVALID"
        assert client.error("ORDER.REFUND", order, "LINE", line, "QTY", 2, "CODE", "OTHER").code == "LIMIT"
        assert client("ORDER.REFUND", order, "AMOUNT", 30, "CODE", "OTHER") == 5
        assert client("ORDER.REFUND", order, "CODE", "CUSTOMER") == 6
        document = client.json("ORDER.GET", order)
        assert (document["refunded"], document["payment"]["owed"], document["status"]) == (200, 200, "completed")
        assert client.error("ORDER.REFUND", order, "CODE", "CUSTOMER").code == "LIMIT"
        amounts = [event["payload"]["amount"] for event in read_log(client, "STREAM", f"order-{order}")
                   if event["kind"] == "order.refunded"]
        assert amounts == [100, 30, 70]

    @pytest.mark.parametrize("tip", [0, 10, 100])
    def test_a_line_gives_back_its_service_and_the_tax_on_both_whatever_the_tip(self, client, name, tip):
        order = place(
            client, name, name, price=1_000, quantity=1, tip=tip, taxIncluded=True,
            taxes=[{"id": "vat", "name": "VAT", "rate": 20_000}], charges={"service": {"rate": 10_000, "tax": "vat"}})
        placed = client.json("ORDER.GET", order)
        tax = next(charge for charge in placed["charges"] if charge["kind"] == "tax")
        assert tax == {
            "kind": "tax", "id": "vat", "name": "VAT", "rate": 20_000, "base": 1_100, "amount": 183, "included": True,
            "shares": [166, 17], "bases": [1_000, 100]}
        client("ORDER.REFUND", order, "LINE", placed["lines"][0]["line"], "QTY", 1, "CODE", "ITEMS")
        vat = {"id": "vat", "rate": 20_000, "base": 1_100, "amount": 183}
        after = client.json("ORDER.GET", order)
        assert (after["refunded"], after["refundedTax"], after["refundedTaxes"]) == (1_100, 183, [vat])
        recorded = read_log(client, "STREAM", f"order-{order}")
        assert (recorded[0]["schemaVersion"], recorded[0]["payload"]["charges"]) == (3, placed["charges"])
        assert (recorded[1]["schemaVersion"], recorded[1]["payload"]["taxes"]) == (2, [vat])

    def test_taxes_and_refunds_are_in_lists_in_sql_and_in_replays_also_after_a_restart(self):
        with fresh_database() as database:
            with Server(database=database) as server, server.client() as client:
                order = place(
                    client, "cafe", "cart", price=1_000, quantity=2, taxIncluded=True,
                    taxes=[{"id": "vat", "name": "VAT", "rate": 20_000}])
                client("ORDER.REFUND", order, "AMOUNT", 500, "CODE", "OTHER")
                row = client.json("ORDERS")["orders"][0]
                assert [row[name] for name in ("total", "tax", "refunded", "refundedTax")] == [2_000, 333, 500, 83]
                assert server.stop() == 0
            with Server(database=database) as server, server.client() as client:
                assert client.json("ORDERS")["orders"] == [row]
                client("ORDER.REFUND", order, "CODE", "OTHER")
                row = client.json("ORDERS")["orders"][0]
                assert [row[name] for name in ("total", "tax", "refunded", "refundedTax")] == [2_000, 333, 2_000, 333]
                assert server.stop() == 0
            columns = "tax || ' ' || refunded || ' ' || refunded_tax"
            assert sql(f"select {columns} from tiffin.orders", database) == "333 2000 333"
            replayed = run_tiffin("replay", "orders", "--database", database, "--from-scratch", "--output", "ndjson")
            shown = json.loads(replayed.stdout)
            assert [shown[name] for name in ("tax", "refunded", "refunded_tax")] == [333, 2_000, 333]
            assert run_tiffin("audit", "--database", database).returncode == 0

    def test_tax_on_top_of_service_is_given_back_with_the_line(self, client, name):
        order = place(
            client, name, name, price=1_000, quantity=1, taxIncluded=False,
            taxes=[{"id": "vat", "name": "VAT", "rate": 20_000}], charges={"service": {"rate": 10_000, "tax": "vat"}})
        line = client.json("ORDER.GET", order)["lines"][0]["line"]
        client("ORDER.REFUND", order, "LINE", line, "QTY", 1, "CODE", "ITEMS")
        after = client.json("ORDER.GET", order)
        assert (after["total"], after["refunded"], after["refundedTax"]) == (1_320, 1_320, 220)

    def test_an_amount_comes_first_out_of_what_no_line_gives_back(self, client, name):
        order = place(
            client, name, name, price=1_000, quantity=1, tip=100, taxIncluded=True,
            taxes=[{"id": "vat", "name": "VAT", "rate": 20_000}], charges={"delivery": {"fee": 60, "tax": "vat"}})
        line = client.json("ORDER.GET", order)["lines"][0]["line"]
        steps = [
            # Half of the delivery and of the tip, with half of the 10 of tax in the delivery; then the line is worth
            # all that it cost, and at last it is worth half.
            (("AMOUNT", 80), 80, 5), (("AMOUNT", 80), 160, 10), (("AMOUNT", 500), 660, 94),
            (("LINE", line, "QTY", 1), 1_160, 177)]
        for words, refunded, tax in steps:
            client("ORDER.REFUND", order, *words, "CODE", "OTHER")
            after = client.json("ORDER.GET", order)
            assert (after["refunded"], after["refundedTax"]) == (refunded, tax), words


class TestKitchen:
    def test_a_kitchen_sees_its_open_orders_by_their_promise(self, client, name):
        first = place(client, name, f"{name}-1", prepMinutes=20)
        second = place(client, name, f"{name}-2", prepMinutes=20)
        unpaid = place(client, name, f"{name}-3", payment="first", prepMinutes=20)
        place(client, f"{name}-other", f"{name}-4")
        kitchen = client.json("KITCHEN", name)
        assert (kitchen["outlet"], kitchen["count"]) == (name, 2)
        assert [order["order"] for order in kitchen["orders"]] == [first, second]
        (line,) = kitchen["orders"][0]["lines"]
        assert (line["item"], line["quantity"], line["options"], line["note"]) == ("tea", 2, [], None)
        assert {order["late"] for order in kitchen["orders"]} == {False}
        client("ORDER.ACCEPT", first, "READY", soon(60))
        assert [order["order"] for order in client.json("KITCHEN", name)["orders"]] == [second, first]
        client("ORDER.COMPLETE", first)
        client("ORDER.REJECT", second, "CODE", "BUSY")
        assert client.json("KITCHEN", name) == {"outlet": name, "count": 0, "orders": []}
        assert status(client, unpaid) == "awaitingPayment"

    def test_a_kitchen_whose_orders_wait_for_nobody_says_so(self, client, name):
        place(client, name, f"{name}-1", acceptWithin=None)
        assert client.json("KITCHEN", name) == {"outlet": name, "count": 0, "orders": [], "followed": False}
        order = place(client, name, f"{name}-2")
        kitchen = client.json("KITCHEN", name)
        assert [shown["order"] for shown in kitchen["orders"]] == [order] and "followed" not in kitchen

    def test_notes_and_names_are_shown_to_the_kitchen_until_they_are_forgotten(self, database):
        with Server(database=database) as server, server.client() as client:
            put_open_outlet(
                client, "kitchen", [section_document("all", [item_document("tea", 100)])], acceptWithin=600)
            for customer in ("asha", "bert"):
                client("CART.ADD", customer, "kitchen", "tea", 1, "NOTE", f"for {customer}", "CUSTOMER", customer)
                client("CART.CHECKOUT", customer, "TOTAL", 100, "CUSTOMER", customer, "NAME", customer.title())

            def shown():
                return [(order["name"], order["lines"][0]["note"]) for order in client.json("KITCHEN", "kitchen")["orders"]]

            assert shown() == [("Asha", "for asha"), ("Bert", "for bert")]
            assert run_tiffin("forget", "asha", "--database", database).returncode == 0
            assert shown() == [("[erased]", "[erased]"), ("Bert", "for bert")]

    def test_what_a_kitchen_sees_survives_a_restart(self, database):
        with Server(database=database) as server, server.client() as client:
            orders = [place(client, "kitchen", f"c-{n}", prepMinutes=20) for n in range(3)]
            client("ORDER.ACCEPT", orders[0], "READY", soon(90))
            client("ORDER.COMPLETE", orders[1])
            before = (client("KITCHEN", "kitchen"), client("ORDERS"))
        with Server(database=database) as server, server.client() as client:
            assert (client("KITCHEN", "kitchen"), client("ORDERS")) == before
            assert "reading the log" not in server.output()

    def test_subscribers_follow_a_kitchen_and_an_order(self, server, client, name):
        order = place(client, name, name)
        with server.client() as listener:
            greetings = subscribe(listener, f"kitchen:{name}", f"order:{order}")
            document = {f"kitchen:{name}": None, f"order:{order}": client.json("ORDER.GET", order)}
            for channel, change in greetings.items():
                document[channel] = patched(document[channel], change)
            client("ORDER.ACCEPT", order)
            for channel, change in (message(listener.read()) for _ in range(2)):
                document[channel] = patched(document[channel], change)
            assert document[f"kitchen:{name}"] == client.json("KITCHEN", name)
            assert document[f"order:{order}"] == client.json("ORDER.GET", order)
            assert document[f"order:{order}"]["status"] == "accepted"


class TestLists:
    def test_pages_go_back_to_the_first_order(self, database):
        assert run_tiffin("migrate", "--database", database, "--partitions", 3).returncode == 0
        with Server(database=database) as server, server.client() as client:
            placed = [place(client, f"kitchen-{n % 2}", f"c-{n}", "CUSTOMER", f"who-{n % 3}") for n in range(14)]
            for order in placed[::4]:
                client("ORDER.ACCEPT", order)

            def pages(*words, count=5):
                found, after = [], ()
                while True:
                    page = client.json("ORDERS", *words, *after, "COUNT", count)
                    found += page["orders"]
                    if page["next"] is None:
                        return found
                    assert len(page["orders"]) <= count
                    after = ("AFTER", page["next"])

            everything = pages()
            assert sorted(order["order"] for order in everything) == sorted(placed)
            # As text, a whole second would come after those with a fraction.
            times = [datetime.fromisoformat(order["placedAt"]) for order in everything]
            assert times == sorted(times, reverse=True)
            for words, wanted in [
                (("OUTLET", "kitchen-1"), placed[1::2]), (("CUSTOMER", "who-2"), placed[2::3]),
                (("OUTLET", "kitchen-0", "CUSTOMER", "who-0"), placed[0::6]), (("STATUS", "accepted"), placed[0::4]),
                (("STATUS", "placed,accepted"), placed), (("OUTLET", "kitchen-1", "STATUS", "accepted"), []),
                (("OUTLET", "nowhere"), []), (("CUSTOMER", "nobody"), []),
            ]:
                for count in (1, 5, 100):
                    assert sorted(order["order"] for order in pages(*words, count=count)) == sorted(wanted), words
            # All that is placed in this test is placed within these days, whatever the outlet's zone.
            day = lambda away: (times[0] + timedelta(days=away)).date().isoformat()
            for days, wanted in [((-2, 2), placed[1::2]), ((2, 4), []), ((-9, -2), [])]:
                words = ("OUTLET", "kitchen-1", "FROM", day(days[0]), "UNTIL", day(days[1]))
                assert sorted(order["order"] for order in pages(*words)) == sorted(wanted), words
            first = client.json("ORDERS", "CUSTOMER", "who-1", "COUNT", 1)["orders"][0]
            assert list(first) == [
                "order", "outlet", "customer", "version", "status", "count", "currency", "total", "tax", "refunded",
                "refundedTax", "paid", "doubt", "placedAt", "updatedAt"]
            assert (first["customer"], first["total"], first["count"]) == ("who-1", 200, 2)
            for words in [("STATUS", "eaten"), ("AFTER", "1"), ("AFTER", "x-1-1"), ("COUNT", 0), ("COUNT", 101),
                          ("AFTER", "1-2--3"), ("FROM", "2026-03-01")]:
                assert client.error("ORDERS", *words).code == "INVALID", words
        assert run_tiffin("audit", "--database", database).returncode == 0
