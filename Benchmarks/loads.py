"""What the first command to a cart costs that is not in memory: its row and its events are read."""

import random
import statistics
import time

from add import spent_by_postgres
from harness import checked, per_second, processor_seconds, put_kitchen, tiffin_server, until_saved

CARTS, FIRST = 50_000, 5_000
WINDOW = 16


def measure_loads(report, rounds, quick):
    carts, first = (CARTS // 10, FIRST // 10) if quick else (CARTS, FIRST)
    report.title(f"A second CART.ADD to {first:,} of {carts:,} carts, {WINDOW} at once on one connection")
    with tiffin_server() as (server, _):
        with server.client() as client:
            put_kitchen(client)
            checked(client.pipeline((("CART.ADD", f"c{n}", "kitchen", "dish-0", 1) for n in range(carts)), window=WINDOW))
            until_saved(client)
        order = random.Random(7).sample(range(carts), carts)

        def added(names) -> tuple:
            """Commands a second, and the processor's microseconds for one: the server's and PostgreSQL's."""
            with server.client() as client:
                pid, began = server.process.pid, time.monotonic()
                before = processor_seconds(pid), sum(spent_by_postgres())
                checked(client.pipeline((("CART.ADD", f"c{n}", "kitchen", "dish-0", 1) for n in names), window=WINDOW))
                took = time.monotonic() - began
                after = processor_seconds(pid), sum(spent_by_postgres())
            return len(names) / took, *((end - start) / len(names) * 1e6 for start, end in zip(before, after))

        runs = {"read from the log": [], "in memory": []}
        for turn in range(rounds):
            server.stop()
            server.start()
            names = [order[(turn * first + n) % carts] for n in range(first)]
            for kind in runs.values():
                kind.append(added(names))
    rows = [("carts", "commands", "the server, µs", "PostgreSQL, µs")]
    for name, kind in runs.items():
        rate, ours, postgres = (statistics.median(values) for values in zip(*kind))
        rows.append((name, per_second(rate), f"{ours:.0f}", f"{postgres:.0f}"))
    report.table(rows)
