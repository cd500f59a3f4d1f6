"""What options, quotes and the kitchen cost: `Scripts/bench ordering`."""

import contextlib
import itertools
import json
import statistics
import time

from costs import processor_seconds
from harness import (
    checked, fresh_database, in_turn, per_second, redis_benchmark, redis_server, resident_megabytes, until_saved,
)

# Found once `harness` has said where the client tests lie.
from tiffin import Client, Server, item_document, put_open_outlet, section_document

CONNECTIONS = 50
CARTS = 10_000
LINES = 20
KITCHEN_ORDERS = 200
OPEN_ORDERS = 100_000
QUOTE_MICROSECONDS = 50
OPEN_ORDERS_MEGABYTES = 200
ENDED_ORDERS = 200_000
ENDED_ORDER_BYTES = 20
DEADLINES_PER_MINUTE = 10_000
ACCEPT_SECONDS = 30
PLACING_SECONDS = 20
GROUPS = [
    {"id": "size", "title": "Size", "setsPrice": True, "options": [
        {"id": "small", "name": "Small", "price": 800}, {"id": "large", "name": "Large", "price": 1100}]},
    {"id": "extras", "title": "Extras", "max": 5, "free": 1, "options": [
        {"id": f"extra-{n}", "name": f"Extra {n}", "price": 50 + n, "prices": {"large": 80 + n}} for n in range(10)]},
]
CHARGES = {
    "taxIncluded": False, "taxes": [{"id": "food", "name": "Tax", "rate": 8_875}],
    "charges": {"service": {"rate": 12_500}, "delivery": {"fee": 299, "freeFrom": 1_000_000, "tax": "food"}},
}


def put_outlets(client):
    plain = [item_document(f"dish-{n}", 1_000) for n in range(LINES)]
    burgers = [item_document(f"burger-{n}", None, options=["size", "extras"]) for n in range(LINES)]
    put_open_outlet(client, "grill", [section_document("all", plain + burgers)], GROUPS, **CHARGES)
    put_open_outlet(client, "kitchen", [section_document("all", plain[:1])], acceptWithin=86_400, prepMinutes=30)
    for outlet in ("counted", "uncounted"):
        put_open_outlet(client, outlet, [section_document("all", plain[:1])])
    put_open_outlet(client, "late", [section_document("all", plain[:1])], acceptWithin=ACCEPT_SECONDS, prepMinutes=30)


def place_orders(client, first, count, outlet="kitchen"):
    carts = [f"{outlet}-cart-{n}" for n in range(first, first + count)]
    checked(client.pipeline(("CART.ADD", cart, outlet, "dish-0", 1) for cart in carts))
    checked(client.pipeline(("CART.CHECKOUT", cart, "TOTAL", 1_000) for cart in carts))


def check_out(client, names, outlet):
    """How many carts of one dish each are checked out a second: so many at once, and each to its end."""
    checked(client.pipeline(("CART.ADD", cart, outlet, "dish-0", 1) for cart in names))
    began = time.perf_counter()
    for first in range(0, len(names), CONNECTIONS):
        checked(client.pipeline(("CART.CHECKOUT", cart, "TOTAL", 1_000) for cart in names[first:first + CONNECTIONS]))
    return len(names) / (time.perf_counter() - began)


def measure_claims(report, client, rounds, count):
    """What a checkout of something that is counted takes, beside one of what nobody counts."""
    numbers = itertools.count()

    def checking_out(outlet):
        return lambda: check_out(client, [f"{outlet}-{next(numbers)}" for _ in range(count)], outlet)

    client("MENU.ITEM.STOCK", "counted", "dish-0", "COUNT", 1_000_000)
    median = in_turn(rounds, {outlet: checking_out(outlet) for outlet in ("uncounted", "counted")})
    ratio = median["counted"] / median["uncounted"]
    report.table([
        ("", "nobody counts", "with claims", "ratio"),
        (f"CART.CHECKOUT, {CONNECTIONS} at once", per_second(median["uncounted"]), per_second(median["counted"]),
         f"{ratio:.2f}")])
    report.verdict("CART.CHECKOUT with claims to one without", ratio, 0.33)


def microseconds_of(server, port, requests, command) -> float:
    """What one request takes of the server's processor."""
    before = processor_seconds(server.process.pid)
    redis_benchmark(port, requests, 1, 16, command)
    return (processor_seconds(server.process.pid) - before) / requests * 1e6


def p99_of_others(client, until) -> float:
    """The 99th percentile of the milliseconds that a read and a write took, one after the other, until then."""
    taken = []
    while (began := time.monotonic()) < until:
        client("OUTLET.HOME", "kitchen")
        client("CART.ADD", "other", "kitchen", "dish-0", 1)
        taken.append((time.monotonic() - began) * 1_000)
        client("CART.CLEAR", "other")
    return statistics.quantiles(taken, n=100)[98]


def measure_deadlines(report, client):
    """What others notice of deadlines that fall due. The orders are placed at the pace at which they fall due."""
    count = DEADLINES_PER_MINUTE * PLACING_SECONDS // 60
    began = time.monotonic()
    for number in range(count):
        place_orders(client, number, 1, "late")
        time.sleep(max(0, began + (number + 1) * PLACING_SECONDS / count - time.monotonic()))
    quiet = p99_of_others(client, began + ACCEPT_SECONDS - 1)
    busy = p99_of_others(client, began + ACCEPT_SECONDS + PLACING_SECONDS)
    while client.json("KITCHEN", "late")["count"]:
        if time.monotonic() > began + ACCEPT_SECONDS + PLACING_SECONDS + 10:
            raise TimeoutError("deadlines are not met")
        time.sleep(0.1)
    report.line(f"  {count:,} deadlines at {DEADLINES_PER_MINUTE:,} a minute: "
                f"p99 of others {busy:.1f} ms, without them {quiet:.1f} ms")
    report.verdict("p99 of others while deadlines fall due, to quiet", busy / quiet, 2, at_least=False)


def measure_ended(report, stack, few):
    """What orders take that nobody waits for any more, in servers that hold few of them."""
    count = ENDED_ORDERS // few
    server = Server(database=stack.enter_context(fresh_database()), options=["--orders-in-memory", "1000"])

    def megabytes_after(first):
        with server, server.client() as client:
            put_outlets(client)
            for number in range(first, first + count, 5_000):
                place_orders(client, number, min(5_000, first + count - number), "uncounted")
            until_saved(client)
        with server:
            return resident_megabytes(server.process.pid)

    before = megabytes_after(0)
    grown = (megabytes_after(count) - before) * 2**20 / count
    report.verdict(f"memory for each of {count:,} orders that ended, in a server started anew", grown, ENDED_ORDER_BYTES,
                   at_least=False, unit=" bytes")


def measure_ordering(report, rounds, quick):
    few = 10 if quick else 1
    report.title("Options, quotes and the kitchen")
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Server(database=stack.enter_context(fresh_database())))
        redis = stack.enter_context(redis_server())
        client = stack.enter_context(server.client())
        put_outlets(client)
        cart = "cart-__rand_int__"
        plain = ["CART.ADD", cart, "grill", "dish-0", "1"]
        chosen = ["CART.ADD", cart, "grill", "burger-0", "1", "OPTIONS", "large,extra-1,extra-2"]

        def adding(command):
            def run():
                checked(client.pipeline(("CART.CLEAR", f"cart-{n:012}") for n in range(CARTS)))
                return redis_benchmark(server.port, 90_000 // few, CONNECTIONS, 1, command, CARTS)
            return run

        median = in_turn(rounds, {"plain": adding(plain), "chosen": adding(chosen)})
        ratio = median["chosen"] / median["plain"]
        report.table([
            ("", "plain", "three options", "ratio"),
            ("CART.ADD, 50 connections", per_second(median["plain"]), per_second(median["chosen"]), f"{ratio:.2f}")])
        report.verdict("CART.ADD with three options to a plain one", ratio, 0.9)

        checked(client.pipeline(
            ("CART.ADD", "full", "grill", f"burger-{n}", 2, "OPTIONS", "large,extra-1,extra-2") for n in range(LINES)))
        quote = json.loads(client("CART.QUOTE", "full"))
        assert len(quote["lines"]) == LINES and quote["quote"]
        spent = in_turn(rounds, {
            "quote": lambda: microseconds_of(server, server.port, 40_000 // few, ["CART.QUOTE", "full"])})["quote"]
        report.verdict(f"CART.QUOTE of {LINES} lines with three options each", spent, QUOTE_MICROSECONDS,
                       at_least=False, unit=" µs of the server's processor")

        measure_claims(report, client, rounds, 10_000 // few)

        place_orders(client, 0, KITCHEN_ORDERS)
        document = client("KITCHEN", "kitchen")
        with Client(redis) as peer:
            peer("SET", "kitchen", document)
        median = in_turn(rounds, {
            "ours": lambda: redis_benchmark(server.port, 30_000 // few, CONNECTIONS, 1, ["KITCHEN", "kitchen"]),
            "peer": lambda: redis_benchmark(redis, 30_000 // few, CONNECTIONS, 1, ["GET", "kitchen"])})
        ratio = median["ours"] / median["peer"]
        report.table([
            ("", "Tiffin", "Redis", "ratio"),
            (f"KITCHEN of {KITCHEN_ORDERS} orders, {len(document):,} bytes, to GET", per_second(median["ours"]),
             per_second(median["peer"]), f"{ratio:.2f}")])
        report.verdict(f"KITCHEN of {KITCHEN_ORDERS} orders to a GET of its size", ratio, 0.8)

        if not quick:
            measure_deadlines(report, client)

        # Until a server starts again, caches of streams and what the system has not been given back count too.
        client.close()
        server.stop()
        server.start()
        before = resident_megabytes(server.process.pid)
        client = stack.enter_context(server.client())
        count = OPEN_ORDERS // few
        started = time.perf_counter()
        for first in range(KITCHEN_ORDERS, KITCHEN_ORDERS + count, 5_000):
            place_orders(client, first, min(5_000, KITCHEN_ORDERS + count - first))
        seconds = time.perf_counter() - started
        placed = resident_megabytes(server.process.pid) - before
        until_saved(client)
        client.close()
        server.stop()
        server.start()
        taken = resident_megabytes(server.process.pid) - before
        report.line(f"  {count:,} more open orders placed, {count / seconds:,.0f} a second; the server grew by "
                    f"{placed:.0f} MB with the streams it keeps at hand")
        report.verdict(f"{count:,} open orders and their carts, in a server started anew", taken,
                       OPEN_ORDERS_MEGABYTES, at_least=False, unit=" MB")
        measure_ended(report, stack, few)
