"""Replays and audits of a log, compared with COPY from its table: `Scripts/bench audit`.

A log ten times as long is a section of its own, `audit-long`: it takes a quarter of an hour, mostly to fill the log.
"""

import os
import subprocess
import time
from pathlib import Path

from harness import in_turn, make_rows, per_second, put_kitchen, redis_benchmark, seconds_to_copy, tiffin_server
from tiffin import CHECKOUT, binary, sql

OLD_LAYOUT = Path(CHECKOUT, "Tests", "Clients", "old_layout.sql").read_text()
EVENTS = 1_000_000
# Each cart gets about ten additions, on three lines.
EVENTS_PER_CART = 10


def run_tiffin(*arguments) -> tuple[float, float]:
    """Seconds, and the most memory in MB."""
    start = time.monotonic()
    process = subprocess.Popen([binary(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"tiffin {arguments[0]} ended with {process.returncode}: {output[-500:]}")
    return time.monotonic() - start, usage.ru_maxrss / 1024


def fill(server, events):
    with server.client() as client:
        put_kitchen(client)
    for item in range(3):
        redis_benchmark(server.port, events // 3, 50, 16, [
            "CART.ADD", "cart-__rand_int__", "kitchen", f"dish-{item}", "1"], events // EVENTS_PER_CART)


def measure_audit(report, rounds, quick):
    measure(report, rounds, EVENTS // 10 if quick else EVENTS)


def measure_long_audit(report, rounds, quick):
    # It takes long; one round of it is as good as three of the shorter one.
    measure(report, 1, EVENTS if quick else EVENTS * 10)


def measure(report, rounds, size):
    report.title(f"Replay and audit of {size:,} events in {size // EVENTS_PER_CART:,} carts, compared with COPY")
    memory = {}

    def seconds(name, *arguments):
        took, memory[name] = run_tiffin(*arguments)
        return took

    with tiffin_server() as (server, url):
        fill(server, size)
        server.stop()
        recorded = int(sql("select count(*) from tiffin.events", url))
        if recorded < 0.99 * size:
            raise RuntimeError(f"only {recorded} events were recorded")
        make_rows(url)
        # Otherwise the database would start that by itself, during somebody's turn.
        sql("vacuum (analyze)", url)
        median = in_turn(rounds, {
            "copy": lambda: seconds_to_copy(url),
            "replay": lambda: seconds("replay", "replay", "--all", "--from-scratch", "--database", url),
            "audit": lambda: seconds("audit", "audit", "--database", url),
        })
        sql(OLD_LAYOUT, url)
        moving, _ = run_tiffin("migrate", "--database", url)
        server.start()
    rows = [("", "seconds", "events", "most memory, MB")]
    for name, what in (("copy", "COPY events TO STDOUT"), ("replay", "tiffin replay --all --from-scratch"),
                       ("audit", "tiffin audit")):
        rows.append((what, f"{median[name]:.2f}", per_second(recorded / median[name]),
                     f"{memory[name]:.0f}" if name in memory else ""))
    rows.append(("tiffin migrate, from a row an event", f"{moving:.2f}", per_second(recorded / moving), ""))
    report.table(rows)
    report.verdict("replay, to COPY", median["copy"] / median["replay"], 1.0)
    report.verdict("audit, to COPY", median["copy"] / median["audit"], 0.5)
