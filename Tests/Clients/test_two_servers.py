"""Two server processes on one database: nothing lost, nothing twice, and each sees the other's changes."""

import statistics
import threading
import time

import pytest

from tiffin import Server, item_document, put_open_outlet, read_log, section_document, wait_until

CARTS = [f"shared-{n}" for n in range(5)]
ITEMS = [f"dish-{n}" for n in range(5)]
WRITERS = 4
ADDS = 200


@pytest.fixture
def servers(database):
    """Two servers, started at once on an empty database: both want to migrate it."""
    pair = [Server(database=database).launch() for _ in range(2)]
    try:
        yield [server.wait_until_listening() for server in pair]
        assert [server.stop() for server in pair] == [0, 0]
    finally:
        for server in pair:
            server.kill()


def put_kitchen(servers):
    with servers[0].client() as first, servers[1].client() as second:
        put_open_outlet(first, "kitchen", [section_document("all", [item_document(item, 100) for item in ITEMS])])
        home = first.json("OUTLET.HOME", "kitchen")
        wait_until(lambda: second.json("OUTLET.GET", "kitchen") and second.json("OUTLET.HOME", "kitchen") == home,
                   "the other server to see the outlet")


def test_concurrent_writers_on_the_same_carts_lose_and_duplicate_nothing(servers):
    put_kitchen(servers)
    failures = []

    def write(number):
        with servers[number % 2].client() as client:
            commands = [
                ("CART.ADD", CARTS[n % 5], "kitchen", ITEMS[n // 5 % 5], 1, "ID", f"w{number}-{n}")
                for n in range(ADDS)
            ]
            # BUSY asks to try again; with its ID that is safe.
            for _ in range(20):
                replies = client.pipeline(commands, window=16)
                failures.extend(r for r in replies if not isinstance(r, int) and r.code != "BUSY")
                commands = [command for command, reply in zip(commands, replies) if not isinstance(reply, int)]
                if failures or not commands:
                    return
            failures.append(f"still BUSY: {commands[0]}")

    threads = [threading.Thread(target=write, args=(n,)) for n in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not failures, failures[:3]

    with servers[0].client() as first, servers[1].client() as second:
        for cart in CARTS:
            expected = WRITERS * ADDS // len(CARTS)
            wait_until(
                lambda: first("CART.COUNT", cart) == second("CART.COUNT", cart) == expected,
                f"both servers to count {expected} in {cart}", seconds=5)
            assert first("CART.GET", cart) == second("CART.GET", cart)
        events = read_log(first)
        assert [event["position"] for event in events] == list(range(1, len(events) + 1))
        assert events == read_log(second)


def test_a_change_is_seen_by_the_other_server_within_a_second(servers):
    put_kitchen(servers)
    delays = []
    for n in range(1, 10):
        writer, reader = servers[n % 2], servers[(n + 1) % 2]
        with writer.client() as write, reader.client() as read:
            count = write("CART.ADD", "watched", "kitchen", ITEMS[0], 1)
            assert count == n
            start = time.monotonic()
            wait_until(lambda: read("CART.COUNT", "watched") == n, "the other server to see the change", seconds=5)
            delays.append(time.monotonic() - start)
    assert statistics.median(delays) < 1, delays


def test_a_retry_on_the_other_server_is_recognised(servers):
    put_kitchen(servers)
    command = ("CART.ADD", "moved", "kitchen", ITEMS[0], 2, "ID", "tap")
    with servers[0].client() as first, servers[1].client() as second:
        assert first(*command) == second(*command) == 2
        wait_until(lambda: second("CART.COUNT", "moved") == 2, "the other server to see the change", seconds=5)


def test_a_merchants_change_holds_on_the_other_server_once_it_is_acknowledged(servers):
    put_kitchen(servers)
    with servers[0].client() as merchant, servers[1].client() as customer:
        def fill(cart, item):
            # What is for sale again is seen with a delay.
            wait_until(
                lambda: isinstance(customer.pipeline([("CART.ADD", cart, "kitchen", item, 1)])[0], int),
                "the outlet to sell again", seconds=5)
            return customer.json("CART.GET", cart)["total"]

        def refusal(*command):
            return customer.error(*command).code

        for n in range(10):
            total = fill(f"price-{n}", "dish-0")
            merchant("MENU.ITEM.PRICE", "kitchen", "dish-0", total + 1)
            assert refusal("CART.CHECKOUT", f"price-{n}", "TOTAL", total) == "TOTALCHANGED"

            total = fill(f"sold-{n}", "dish-1")
            merchant("MENU.ITEM.SUSPEND", "kitchen", "dish-1")
            assert refusal("CART.CHECKOUT", f"sold-{n}", "TOTAL", total) == "SOLDOUT"
            merchant("MENU.ITEM.RESUME", "kitchen", "dish-1")

            total = fill(f"open-{n}", "dish-2")
            merchant("OUTLET.CLOSE", "kitchen")
            assert refusal("CART.ADD", f"late-{n}", "kitchen", "dish-2", 1) == "CLOSED"
            assert refusal("CART.CHECKOUT", f"open-{n}", "TOTAL", total) == "CLOSED"
            merchant("OUTLET.OPEN", "kitchen")
