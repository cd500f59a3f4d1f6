"""What several servers on one log reach together, and what they take: `Scripts/bench fleet`.

Durable changes of carts at any server and at the one that decides them, what it costs to forward one, and what servers
do while nothing happens. Every run has a log and servers of its own, and each round takes the runs in another order.
"""

import contextlib
import functools
import itertools
import os
import random
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from harness import per_second, processor_seconds, put_kitchen, redis_benchmark_row
from partitions import KEYS, partitioned_database
from redis.crc import key_slot
from tiffin import ReplyError, Server, sql, wait_until

SLOTS, DISH = 16_384, ("kitchen", "dish-0", "1")
READY_SECONDS = 30
# A server that has just come takes partitions over at one of its next renewals, every half second.
SETTLED_SECONDS = 4
# A backend that has nothing to do says only 10 seconds later what it has done.
CALM_SECONDS = 12
# Connections: to any server, to the servers that decide, to one of two.
AT_ANY, AT_OWNERS, AT_ONE = 96, 768, 50


class Figures(NamedTuple):
    """Changes a second; processor time of all servers together and of PostgreSQL, µs an event; ms until an answer."""

    rate: float
    servers: float
    postgres: float
    p50: float


def wait_until_settled(url):
    """Returns when no lease has changed hands for a while."""
    leases, since = None, 0.0

    def have_stayed():
        nonlocal leases, since
        found = sql("select partition, server from tiffin.leases order by partition", url)
        if found != leases:
            leases, since = found, time.monotonic()
        time.sleep(0.2)
        return time.monotonic() - since > SETTLED_SECONDS

    wait_until(have_stayed, "the leases to stay where they are")


def leases_are_even(url, count, partitions) -> bool:
    held = [int(leases) for leases in sql(
        "select count(*) from tiffin.leases where server is not null group by server", url).split()]
    return sum(held) == partitions and len(held) == min(count, partitions) and max(held) - min(held) <= 1


def deciders(server, partitions) -> list:
    """The port of the server that decides each partition, as far as this server knows."""
    with server.client() as client:
        ranges = client("CLUSTER", "SLOTS")
    first_slots = [-(-partition * SLOTS // partitions) for partition in range(partitions)]
    return [next(node[1] for first, last, node in ranges if first <= slot <= last) for slot in first_slots]


@contextlib.contextmanager
def fleet(count, partitions):
    """A new log and servers that share it, as soon as all of them know who decides what."""
    with partitioned_database(partitions) as url, contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(database=url)) for _ in range(count)]
        wait_until(lambda: leases_are_even(url, count, partitions) and len(
            {tuple(deciders(server, partitions)) for server in servers}) == 1, "leases to be even")
        wait_until_settled(url)
        yield url, servers


def tags(partitions) -> list:
    """A hash tag for each partition."""
    return [next(f"{{{number}}}" for number in itertools.count()
                 if key_slot(b"%d" % number) * partitions // SLOTS == partition) for partition in range(partitions)]


def open_kitchen(servers, partitions):
    """Returns when carts of all partitions can be filled at all servers."""
    with servers[0].client() as client:
        put_kitchen(client)
    for server in servers:
        with server.client() as client:
            for tag in tags(partitions):
                add = [("CART.ADD", f"{tag}-first", *DISH)]
                wait_until(lambda: not isinstance(client.pipeline(add)[0], ReplyError), "the kitchen")


@functools.cache
def postmaster() -> str:
    return sql("select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)")


def postgres_seconds() -> float:
    """Processor time of all processes of PostgreSQL, also of those that have ended."""
    ticks = 0
    for process in Path("/proc").glob("[0-9]*"):
        # It may have ended meanwhile.
        with contextlib.suppress(OSError):
            fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
            # Of the postmaster, also the time of its children that have ended.
            last = 15 if process.name == postmaster() else 13 if fields[1] == postmaster() else 11
            ticks += sum(map(int, fields[11:last]))
    return ticks / os.sysconf("SC_CLK_TCK")


def seconds_of(servers) -> list:
    """Processor time of each server and, last, of PostgreSQL."""
    return [*(processor_seconds(server.process.pid) for server in servers), postgres_seconds()]


def together(loads, requests) -> list:
    """Runs all loads at once: a port, connections, carts and how many there are of them, each with so many requests."""
    with ThreadPoolExecutor(len(loads)) as senders:
        return list(senders.map(lambda port, connections, cart, carts, count: redis_benchmark_row(
            port, count, connections, 1, ["CART.ADD", cart, *DISH], carts), *zip(*loads), requests))


def figures_of(url, servers, requests, loads) -> Figures:
    def state():
        return [int(sql("select sum(position) from tiffin.log_head", url)), *seconds_of(servers)]

    # A server that decides more answers sooner: its share of the requests is larger, so that all loads end together.
    rates = [float(row["rps"]) for row in together(loads, [requests // 5 // len(loads)] * len(loads))]
    shares = [round(requests * rate / sum(rates)) for rate in rates]
    before, start = state(), time.monotonic()
    rows, seconds = together(loads, shares), time.monotonic() - start
    events, *ours, theirs = (later - earlier for earlier, later in zip(before, state()))
    # An error, too, is an answer to redis-benchmark.
    if events < sum(shares):
        raise RuntimeError(f"{sum(shares)} requests made {events} events")
    p50 = statistics.median(float(row["p50_latency_ms"]) for row in rows)
    return Figures(sum(shares) / seconds, sum(ours) / events * 1e6, theirs / events * 1e6, p50)


def changes(kind, requests, partitions, count) -> dict:
    with fleet(count, partitions) as (url, servers):
        open_kitchen(servers, partitions)
        loads = [(server.port, AT_ANY // count, "cart-__rand_int__", KEYS) for server in servers]
        if kind == "own":
            ports = deciders(servers[0], partitions)
            # The same carts and as many programs that send them, however many partitions there are.
            loads = [(ports[number * partitions // 8], AT_OWNERS // 8, f"{tag}-cart-__rand_int__", KEYS // 8)
                     for number, tag in enumerate(tags(8))]
        return {(kind, partitions, count): figures_of(url, servers, requests, loads)}


def forwarded(requests, chance) -> dict:
    with fleet(2, 2) as (url, servers):
        open_kitchen(servers, 2)
        kinds = [("own carts" if port == servers[0].port else "the other's carts", tag)
                 for port, tag in zip(deciders(servers[0], 2), tags(2))]
        return {name: figures_of(url, servers, requests, [(servers[0].port, AT_ONE, f"{tag}-cart-__rand_int__", KEYS)])
                for name, tag in chance.sample(kinds, 2)}


def idle(seconds) -> dict:
    """Percent of a core, of the busiest server and of PostgreSQL, and transactions a second."""
    with fleet(4, 256) as (url, servers):
        def state():
            # Asked in another database: the question is not one of the transactions.
            count = f"select xact_commit + xact_rollback from pg_stat_database where datname = '{urlsplit(url).path[1:]}'"
            return [time.monotonic(), int(sql(count)), *seconds_of(servers)]

        time.sleep(CALM_SECONDS)
        before = state()
        time.sleep(seconds)
        elapsed, transactions, *ours, theirs = (later - earlier for earlier, later in zip(before, state()))
        return {"idle": (max(ours) / elapsed * 100, theirs / elapsed * 100, transactions / elapsed)}


def measure_fleet(report, rounds, quick):
    requests, seed = 10_000 if quick else 60_000, random.randrange(1 << 32)
    chance = random.Random(seed)
    runs = [functools.partial(changes, "any", requests, *shape) for shape in itertools.product((1, 8), (1, 2, 4, 8))]
    runs += [functools.partial(changes, "own", 2 * requests, *shape) for shape in ((1, 1), (8, 1), (8, 2), (8, 8))]
    runs += [lambda: forwarded(requests, chance), lambda: idle(2 if quick else 10)]
    found = {}
    for _ in range(rounds):
        for run in chance.sample(runs, len(runs)):
            for name, values in run().items():
                found.setdefault(name, []).append(values)
    busiest, postgres, transactions = map(statistics.median, zip(*found.pop("idle")))
    of = {name: Figures(*map(statistics.median, zip(*rows))) for name, rows in found.items()}

    def table(*names):
        report.table([("", "", "to the first", "servers, µs an event", "PostgreSQL", "p50, ms")] + [
            (name if isinstance(name, str) else "partitions {1}, servers {2}".format(*name), per_second(of[name].rate),
             f"{of[name].rate / of[names[0]].rate:.2f}", *(f"{figure:.2f}" for figure in of[name][1:])) for name in names])

    report.title(f"Any cart at any server: {requests:,} requests a run, {AT_ANY} in flight, order by seed {seed}")
    table(*sorted(name for name in of if name[0] == "any"))
    report.verdict("8 servers to one, one partition", of["any", 1, 8].rate / of["any", 1, 1].rate, 0.6)
    report.verdict("8 servers to one, 8 partitions", of["any", 8, 8].rate / of["any", 8, 1].rate, 0.8)
    report.title(f"Each cart at the server that decides it: {2 * requests:,} requests a run, {AT_OWNERS} in flight")
    table(*sorted(name for name in of if name[0] == "own"))
    report.verdict("8 servers to one with one partition", of["own", 8, 8].rate / of["own", 1, 1].rate, 1)
    report.verdict("servers' µs an event, 8 to 2", of["own", 8, 8].servers / of["own", 8, 2].servers, 1.1, at_least=False)
    report.title(f"A forwarded command: {requests:,} requests, {AT_ONE} connections to one of 2 servers")
    table("own carts", "the other's carts")
    own, other = of["own carts"], of["the other's carts"]
    report.verdict("p50 to that of own carts", other.p50 / own.p50, 1.5, at_least=False)
    report.verdict("more than own carts take of the servers", other.servers - own.servers, 10, at_least=False, unit=" µs")
    report.title("Nothing happens: 4 servers, 256 partitions")
    report.verdict("the busiest server", busiest, 1, at_least=False, unit=" % of a core")
    report.verdict("PostgreSQL", postgres, 3, at_least=False, unit=" % of a core")
    report.verdict("transactions", transactions, 50, at_least=False, unit=" a second")
