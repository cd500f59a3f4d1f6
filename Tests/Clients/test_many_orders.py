"""More orders than a server holds in memory. What they are is known here from the replies, and not from lists."""

import copy
import random
from datetime import datetime, timedelta, timezone

import pytest

import test_orders
from followers import message
from test_fleet import partitioned, wait_until_even
from test_rebuild import assert_sound, wait_for_checkpoint
from test_subscriptions import subscribe
from tiffin import (
    Client, Server, fresh_database, item_document, put_open_outlet, run_tiffin, section_document, sql, wait_until,
)

HELD = 6
OUTLETS = ["grill", "bar", "stall"]
OPTIONS = ["--orders-in-memory", str(HELD)]
PRICE = 250


def server_on(database, *options):
    return Server(database=database, options=[*OPTIONS, *options])


# What happens to orders, at a server that lets go of each as soon as it can.
TestLife, TestPayments, TestRefunds = test_orders.TestLife, test_orders.TestPayments, test_orders.TestRefunds


@pytest.fixture(scope="module")
def server():
    with fresh_database() as url, Server(database=url, options=["--orders-in-memory", "0"]) as running:
        yield running


def rows_in_memory(client, partition=0):
    line = next(line for line in client("INFO", "projections").decode().splitlines()
                if line.startswith(f"partition{partition}_orders:"))
    return int(line.split("rows=")[1].split(",")[0])


def wait_until_few(client, orders, partitions=1):
    """Waits until no more is held than the newest and what is open."""
    # Nobody follows what the stall sells, so its orders are like those that have ended.
    most = HELD + HELD // 2 + partitions + sum(
        row["status"] not in ENDS and row["outlet"] != "stall" for row in orders.rows.values())
    wait_until(lambda: sum(rows_in_memory(client, n) for n in range(partitions)) <= most, "orders to be let go of")


ENDS = ("completed", "rejected", "cancelled")


class Orders:
    """Orders and what became of them, as the replies say."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        # By their ids, in the order in which they were placed.
        self.rows = {}
        self.taken = 0

    def open(self, client):
        for outlet in OUTLETS:
            put_open_outlet(
                client, outlet, [section_document("all", [item_document("tea", PRICE)])],
                acceptWithin=3600 if outlet != "stall" else None)

    def place(self, client):
        number = len(self.rows)
        outlet, quantity = self.random.choice(OUTLETS), self.random.randint(1, 3)
        customer = self.random.choice([None, "asha", "bert", "cleo"])
        client("CART.ADD", f"cart-{number}", outlet, "tea", quantity, *(["CUSTOMER", customer] if customer else []))
        order = client("CART.CHECKOUT", f"cart-{number}", "TOTAL", quantity * PRICE).decode()
        self.rows[order] = {
            "outlet": outlet, "customer": customer, "total": quantity * PRICE, "count": quantity, "refunded": 0,
            "paid": 0, "status": "accepted" if outlet == "stall" else "placed", "version": 0}
        self.know(client, order)

    def know(self, client, order):
        """An order's version and status come from its stream."""
        document, row = client.json("ORDER.GET", order), self.rows[order]
        row |= {"version": document["version"], "status": document["status"]}

    def go_on(self, client, order):
        """Something happens to an order, whether or not it ended long ago."""
        row = self.rows[order]
        if row["status"] == "placed" and row["outlet"] != "stall":
            words = self.random.choice([
                ("ORDER.ACCEPT", order), ("ORDER.REJECT", order, "CODE", "BUSY"),
                ("ORDER.CANCEL", order, "BY", "customer", "CODE", "CUSTOMER")])
        elif row["status"] == "accepted" and row["outlet"] != "stall":
            words = ("ORDER.PREPARE", order)
        elif row["status"] == "preparing":
            words = ("ORDER.READY", order)
        elif row["status"] == "ready":
            words = ("ORDER.COMPLETE", order)
        elif row["status"] == "completed" and row["refunded"] + 10 <= row["total"] and self.random.random() < 0.6:
            words = ("ORDER.REFUND", order, "AMOUNT", 10, "CODE", "ITEMS")
        else:
            words = ("ORDER.PAYMENT", order, f"p{row['version']}", "captured", 5)
        client(*words)
        if words[0] == "ORDER.REFUND":
            row["refunded"] += 10
        if words[0] == "ORDER.PAYMENT":
            row["paid"] += 5
        self.know(client, order)

    def grow(self, client, times):
        for _ in range(times):
            if self.rows and self.random.random() < 0.7:
                self.go_on(client, self.random.choice(list(self.rows)))
            else:
                self.place(client)

    # Judging

    def wanted(self, words):
        found = list(reversed(self.rows.items()))
        conditions = dict(zip(words[::2], words[1::2]))
        for word, name in (("OUTLET", "outlet"), ("CUSTOMER", "customer")):
            if word in conditions:
                found = [(order, row) for order, row in found if row[name] == conditions[word]]
        if "STATUS" in conditions:
            found = [(order, row) for order, row in found if row["status"] in conditions["STATUS"].split(",")]
        return found

    def check(self, client, *at, partitions=1):
        questions = [
            (), *(("OUTLET", outlet) for outlet in OUTLETS), *(("CUSTOMER", name) for name in ("asha", "bert", "nobody")),
            ("OUTLET", "grill", "CUSTOMER", "asha"), ("STATUS", "completed,cancelled"), ("STATUS", "placed"),
            ("CUSTOMER", "cleo", "STATUS", "rejected"), ("OUTLET", "bar", "STATUS", "completed")]
        for words in questions:
            found, after = [], ()
            count = self.random.choice([1, 4, 100])
            while True:
                page = client.json("ORDERS", *words, *after, "COUNT", count, *at)
                found += page["orders"]
                if page["next"] is None:
                    break
                assert len(page["orders"]) == count or partitions > 1 or "STATUS" in words, (words, page)
                after = ("AFTER", page["next"])
            known = [(row["order"], {name: row.get(name) for name in self.rows[row["order"]]}) for row in found]
            wanted = self.wanted(words)
            if partitions > 1:
                known, wanted = sorted(known, key=str), sorted(wanted, key=str)
            assert known == wanted, (words, at)
        if not at:
            for outlet in OUTLETS[:2]:
                board = {order["order"] for order in client.json("KITCHEN", outlet)["orders"]}
                assert board == {
                    order for order, row in self.rows.items() if row["outlet"] == outlet and row["status"] not in ENDS}
            assert client("CLUSTER", "COUNTKEYSINSLOT", 0) >= 0


def test_every_page_is_right_however_few_orders_are_held(database):
    orders, moments = Orders(0), []
    server = server_on(database)
    for start in range(4):
        with server, server.client() as client:
            if start == 0:
                orders.open(client)
            orders.check(client)
            orders.grow(client, 60)
            orders.check(client)
            position = int(sql("select position from tiffin.log_head", database))
            moments.append((position, copy.deepcopy(orders.rows)))
            if start % 2 == 0:
                wait_for_checkpoint(database)
                wait_until_few(client, orders)
                orders.check(client)
                orders.grow(client, 20)
                orders.check(client)
            for position, rows in moments:
                past = Orders(start)
                past.rows = rows
                past.check(client, "AT", position)
            if start % 2:
                server.kill()
    with server, server.client() as client:
        orders.check(client)
        assert rows_in_memory(client) < len(orders.rows) - HELD
        wait_for_checkpoint(database)
        assert_sound(database, "--server", f"127.0.0.1:{server.port}")
        for word in ("corrupt", "rebuilt", "folding the log again"):
            assert word not in server.output()


def given_back(client, outlet):
    """What was refunded these days, whatever day the outlet has."""
    days = [(datetime.now(timezone.utc) + timedelta(days=away)).date().isoformat() for away in (-1, 1)]
    takings = client.json("TAKINGS", outlet, "FROM", days[0], "UNTIL", days[1])
    return sum(service["refunded"]["total"] for day in takings["days"] for service in day["services"])


def test_an_order_of_long_ago_is_refunded_followed_and_counted(database):
    orders = Orders(1)
    with server_on(database) as server, server.client() as client, server.client() as listener:
        orders.open(client)
        while not orders.rows or list(orders.rows.values())[-1]["outlet"] == "stall":
            orders.place(client)
        old = list(orders.rows)[-1]
        for step in ("ACCEPT", "PREPARE", "READY", "COMPLETE"):
            client(f"ORDER.{step}", old)
        orders.know(client, old)
        while sum(row["outlet"] == "stall" for row in orders.rows.values()) < 3 * HELD:
            orders.place(client)
        wait_for_checkpoint(database)
        wait_until_few(client, orders)
        before = given_back(client, orders.rows[old]["outlet"])
        subscribe(listener, f"order:{old}")
        client("ORDER.REFUND", old, "AMOUNT", 10, "CODE", "ITEMS", "ID", "r")
        client("ORDER.REFUND", old, "AMOUNT", 10, "CODE", "ITEMS", "ID", "r")
        orders.rows[old]["refunded"] += 10
        orders.know(client, old)
        # Whoever refunded it sees it in the lists at once.
        orders.check(client)
        assert message(listener.read())[0] == f"order:{old}"
        assert given_back(client, orders.rows[old]["outlet"]) == before + 10
        assert_sound(database, "--server", f"127.0.0.1:{server.port}")


@pytest.mark.parametrize("damage", [
    "update tiffin.order_rows set total = total + 7", "delete from tiffin.order_rows",
    "update tiffin.order_rows set snapshot = '', status = 'completed' where snapshot <> ''"])
def test_damaged_rows_are_found_after_a_start_and_the_log_decides(database, damage):
    orders = Orders(2)
    server = server_on(database)
    with server, server.client() as client:
        orders.open(client)
        orders.grow(client, 100)
        wait_for_checkpoint(database)
    where = "and" if "where" in damage else "where"
    sql(f"{damage} {where} position < 60", database)
    with server, server.client() as client:
        server.wait_for_output("they are rebuilt")
        server.wait_for_output("serving from rows that were rebuilt")
        orders.check(client)
        orders.grow(client, 20)
        orders.check(client)
        wait_for_checkpoint(database)
        assert_sound(database, "--server", f"127.0.0.1:{server.port}")


def test_a_row_that_nobody_can_read_is_made_again(database):
    orders = Orders(4)
    with server_on(database) as server, server.client() as client:
        orders.open(client)
        while len(orders.rows) < 4 * HELD:
            orders.place(client)
            order = list(orders.rows)[-1]
            if orders.rows[order]["outlet"] != "stall":
                client("ORDER.REJECT", order, "CODE", "BUSY")
                orders.know(client, order)
        wait_for_checkpoint(database)
        wait_until_few(client, orders)
        orders.check(client)
        sql("update tiffin.order_rows set status = 'eaten' where position < 30", database)
        assert client.error("ORDERS", "COUNT", 100).code == "UNAVAILABLE"
        server.wait_for_output("serving from rows that were rebuilt")
        orders.check(client)
        assert_sound(database, "--server", f"127.0.0.1:{server.port}")


def test_every_server_of_a_fleet_lets_go_and_says_the_same():
    orders, partitions = Orders(3), 2
    with partitioned(partitions) as database, server_on(database) as one:
        with server_on(database) as other:
            wait_until_even(database, [one, other])
            with one.client() as first, other.client() as second:
                orders.open(first)
                for client in (first, second, first):
                    orders.grow(client, 70)
                    wait_for_checkpoint(database, partitions)
                    for server in (first, second):
                        wait_until_few(server, orders, partitions)
                for client in (first, second):
                    # What another has decided is known within the time that it is polled in.
                    wait_until(lambda: client.json("ORDERS", "COUNT", 1)["orders"], "orders")
                    orders.check(client, partitions=partitions)
        with one.client() as client:
            wait_until_even(database, [one])
            orders.grow(client, 40)
            orders.check(client, partitions=partitions)
            wait_for_checkpoint(database, partitions)
            orders.check(client, partitions=partitions)
            assert_sound(database, "--server", f"127.0.0.1:{one.port}")


def test_a_customer_follows_orders_of_long_ago_and_nobody_else_does(database):
    assert run_tiffin("migrate", "--database", database).returncode == 0
    tokens = {}
    for user, *words in [("root", "--role", "admin"), ("anna", "--role", "customer", "--only", "anna")]:
        assert run_tiffin("user", "add", user, *words, "--no-password", "--database", database).returncode == 0
        tokens[user] = run_tiffin("user", "token", user, "--database", database).stdout.strip()

    def log_in(server, user):
        client = Client(server.port)
        assert client("AUTH", user, tokens[user]) == "OK"
        return client

    with Server(database=database, options=["--orders-in-memory", "0"]) as server, log_in(server, "root") as root:
        put_open_outlet(root, "bar", [section_document("all", [item_document("tea", PRICE)])])
        placed = []
        for cart in ("anna-1", "bert-1"):
            root("CART.ADD", cart, "bar", "tea", 1)
            placed.append(root("CART.CHECKOUT", cart, "TOTAL", PRICE).decode())
        wait_for_checkpoint(database)
        wait_until(lambda: rows_in_memory(root) == 0, "orders to be let go of")
        with log_in(server, "anna") as anna:
            assert anna.json("ORDER.GET", placed[0])["order"] == placed[0]
            assert anna.error("SUBSCRIBE", f"order:{placed[1]}").code == "NOPERM"
            assert anna.error("SUBSCRIBE", "order:unknown").code == "NOPERM"
            anna("SUBSCRIBE", f"order:{placed[0]}")
