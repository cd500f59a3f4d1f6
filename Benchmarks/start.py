"""A server's start with millions of carts in its saved rows, `Scripts/bench start`, and with half a million items,
`Scripts/bench start-items`."""

import random
import statistics
import time
from pathlib import Path

from browse import INDEXED
from harness import (
    SAVED_SECONDS, checked, put_kitchen, resident_megabytes, spread, tiffin_server, until_saved,
)
from people import People
from tiffin import ReplyError, sql, wait_until

CARTS = 10_000_000
CARTS_AT_ONCE = 500_000
# What is asked for one by one, of carts that are not in memory.
COLD_CARTS = 10_000
GOAL_SECONDS = 1
GOAL_MEGABYTES = 200
GOAL_MILLISECONDS = 1
# A catalogue is built at a start, while everything but searches is served.
GOAL_SECONDS_OF_ITEMS = 2
GOAL_SECONDS_OF_SEARCHES = 5
ITEMS = 500_000
# Names as clients may choose them. Numbered ones come in the order of their keys, random ones in none.
NAMES = {
    "numbered": "'cart-' || lpad(n::text, 12, '0')",
    "random UUIDs": "md5(n::text)::uuid::text",
}


def fill(url, carts, name):
    """Adds rows to those that a server saved. Their carts have no events: a start reads rows and the end of the log,
    so it takes as long as with events."""
    for first in range(0, carts, CARTS_AT_ONCE):
        sql("insert into tiffin.cart_count_rows (partition, generation, cart, count, version) "
            f"select 0, (select generation from tiffin.projection_checkpoints where projection = 'cart_counts'), {name}, "
            f"n % 20, 1 from generate_series({first}, {min(first + CARTS_AT_ONCE, carts) - 1}) n", url)
    # A server compares the rows with their digest, which is a sum.
    lane = "sum(('x' || substr(digest, {}, 16))::bit(64)::bigint::numeric)"
    lanes = sql(
        f"select {', '.join(lane.format(1 + 16 * n) for n in range(4))} from (select encode(sha256(convert_to(cart, 'UTF8') "
        "|| '\\x00' || convert_to(count::text, 'UTF8') || '\\x00' || convert_to(version::text, 'UTF8')), 'hex') "
        "from tiffin.cart_count_rows) as d (digest)", url)
    digest = b"".join((int(lane) % 2**64).to_bytes(8, "big") for lane in lanes.split("|")).hex()
    sql(f"update tiffin.projection_checkpoints set digest = '\\x{digest}' where projection = 'cart_counts'", url)
    sql("vacuum (analyze) tiffin.cart_count_rows", url)
    sql("checkpoint", url)


def peak_megabytes(pid) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) / 1024


def measure_start(report, rounds, quick):
    carts = CARTS // 10 if quick else CARTS
    report.title(f"Start with {carts:,} carts in the saved rows, until the first reply; the log is short")
    rows = [("", "seconds", "MB then", "carts known, s", "a count p50, ms", "p99, ms", "again p99, ms", "MB then", "most MB")]
    slowest = []
    for names, expression in NAMES.items():
        with tiffin_server() as (server, url):
            with server.client() as client:
                put_kitchen(client)
                client("CART.ADD", "first", "kitchen", "dish-0", 1)
            server.stop()
            fill(url, carts, expression)
            some = [line.split("|") for line in sql(
                f"select {expression}, n % 20 from generate_series(0, {carts - 1}, {carts // COLD_CARTS}) n order by random()",
                url).splitlines()]

            def start():
                began = time.monotonic()
                server.start()
                pid = server.process.pid
                with server.client() as client:
                    right = client("CART.COUNT", "first") == 1
                    seconds, resident = time.monotonic() - began, resident_megabytes(pid)
                    wait_until(
                        lambda: b"carts:known=no" not in client("INFO", "projections"),
                        "carts to be known", seconds=SAVED_SECONDS)
                    known = time.monotonic() - began
                    # The second time they are in memory: how much of the rest is the machine's.
                    cold, again = ([], [])
                    for milliseconds in (cold, again):
                        for cart, count in some:
                            asked = time.perf_counter()
                            right = client("CART.COUNT", cart) == int(count) and right
                            milliseconds.append(1_000 * (time.perf_counter() - asked))
                if not right:
                    raise RuntimeError("the started server does not know its carts")
                counted = [statistics.median(cold), *(statistics.quantiles(times, n=100)[98] for times in (cold, again))]
                memory = resident_megabytes(pid), peak_megabytes(pid)
                server.stop()
                return seconds, resident, known, *counted, *memory

            # The first start finds the database's cache as the filling left it.
            start()
            measured = [statistics.median(values) for values in zip(*(start() for _ in range(rounds)))]
            server.start()
        rows.append((names, *(f"{value:.{digits}f}" for value, digits in zip(measured, (2, 0, 1, 2, 2, 2, 0, 0)))))
        slowest.append(measured)
    report.table(rows)
    seconds, _, _, _, milliseconds, _, resident, _ = map(max, zip(*slowest))
    report.verdict("start", seconds, GOAL_SECONDS, at_least=False, unit=" s")
    report.verdict("resident memory", resident, GOAL_MEGABYTES, at_least=False, unit=" MB")
    report.verdict("a count that is not in memory, p99", milliseconds, GOAL_MILLISECONDS, at_least=False, unit=" ms")


def measure_start_of_items(report, rounds, quick):
    people = People(ITEMS // 10 if quick else ITEMS)
    report.title(f"Start with {people.total:,} items with twelve attributes each, from saved rows")
    with tiffin_server() as (server, _):
        with server.client() as client:
            checked(client.pipeline(people.commands(), window=16))
            until_saved(client)
        server.stop()
        server.arguments += ["--log-level", "debug"]

        def start():
            began = time.monotonic()
            server.start()
            with server.client() as client:
                client("OUTLET.HOME", "club-0")
                first = time.monotonic() - began
                longest = 0
                while True:
                    asked = time.monotonic()
                    client("OUTLET.HOME", f"club-{random.randrange(10)}")
                    longest = max(longest, time.monotonic() - asked)
                    [answer] = client.pipeline([("BROWSE", "LIMIT", 1)])
                    if not isinstance(answer, ReplyError):
                        break
                    if answer.code != "LOADING":
                        raise answer
                searched = time.monotonic() - began
            items, _, milliseconds = INDEXED.search(server.output()).groups()
            megabytes = peak_megabytes(server.process.pid)
            server.stop()
            if int(items) != people.total:
                raise RuntimeError(f"the started server has {items} items")
            return first, searched, float(milliseconds) / 1_000, 1_000 * longest, megabytes

        measured = list(zip(*(start() for _ in range(rounds))))
        first, searched, indexing, longest, megabytes = map(statistics.median, measured)
        server.start()
    spreads = [spread(values, 1) for values in measured]
    report.table([("", "seconds", "least–most", "items a second", "most MB"),
                  ("until the first home", f"{first:.1f}", spreads[0], "", ""),
                  ("until the first search", f"{searched:.1f}", spreads[1], "", f"{megabytes:.0f}"),
                  ("indexing", f"{indexing:.1f}", spreads[2], f"{people.total / indexing:,.0f}", "")])
    report.line(f"The slowest home while items were indexed took {longest:.0f} ms.")
    report.verdict("homes after a start with items", first, GOAL_SECONDS_OF_ITEMS, at_least=False, unit=" s")
    report.verdict("searches after it", searched, GOAL_SECONDS_OF_SEARCHES, at_least=False, unit=" s")
