"""Durable changes of carts, in turn: Tiffin, Redis, an `INSERT` for each event, two other ways to keep events in
PostgreSQL, and the least program that could do it.

Beside the rates, what each process spends: microseconds of processor time for a command, as user + system."""

import contextlib
import itertools
import os
import re
import resource
import socket
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from harness import (
    fresh_database, output_of, per_second, put_kitchen, ratios, redis_benchmark, redis_server, rounds_in_turn,
    tiffin_server,
)
from tiffin import Client, sql, wait_until

CARTS = 100_000
HERE = Path(__file__).resolve().parent
# What one event an INSERT costs anybody: the columns and both unique keys of an event log, nothing more.
PLAIN_TABLE = """
create table plain_events (
    position bigint generated always as identity primary key,
    stream text not null, version bigint not null, kind text not null, schema_version smallint not null,
    payload text not null, metadata text not null, recorded_at timestamptz not null default now(),
    unique (stream, version))
"""
PLAIN_INSERT = r"""
\set cart random(1, 100000)
\set version random(1, 9000000000000000)
insert into plain_events (stream, version, kind, schema_version, payload, metadata) values ('cart-cart-' || :cart, :version, 'cart.line-added', 1, '{"outlet":"kitchen","item":"dish-0","name":"Dish-0","quantity":1,"unitPrice":125000,"currency":"LKR"}', '{"command":"3f2a9c"}');
"""
# A call for each event, with the version that the cart has: each client fills its own carts, with two events each.
CALL = r"""
\set number :number + 1
\set cart :number / 2
\set expected :number % 2 - 1
select write_message(gen_random_uuid(), 'cart-' || :run || '-' || :client_id || '-' || :cart, 'LineAdded', '{"outlet":"kitchen","item":"dish-0","name":"Dish-0","quantity":1,"unitPrice":125000,"currency":"LKR"}', '{"command":"3f2a9c"}', :expected);
"""
# Writers of a category wait for each other's flush, and so do those of eventsourcing: each has as many as are fastest.
CALLERS, PROCESSES = (1, 2, 4, 8, 16, 50), (1, 2, 3, 4)
TRIAL_SECONDS = 2
ADD = ["CART.ADD", "cart-__rand_int__", "kitchen", "dish-0", "1"]
# How many connections, and how many commands each sends at once.
LOADS = ((50, 1), (500, 1), (50, 16))
# Least ratios, with 50 and with 500 connections that send one command at once.
AIMS = {"to the floor": (0.85, 0.85), "to Redis": (0.8, 0.9), "to PostgreSQL": (3, 6)}
# Commands a second where each connection sends 16 at once.
PIPELINED_AIM = 150_000


def pgbench(url, script, connections, seconds, **variables) -> float:
    """Statements per second."""
    out = output_of("pgbench", "-n", "-M", "prepared", "-c", connections, "-j", min(2, os.cpu_count() or 1),
                    "-T", seconds, *(f"-D{name}={value}" for name, value in variables.items()), "-f", script, url)
    rate = re.search(r"^tps = (\S+)", out, re.MULTILINE)
    # There is no rate if the time was over before all had connected.
    if not rate or "number of failed transactions: 0 " not in out and "failed" in out:
        raise RuntimeError(f"pgbench: {out}")
    return float(rate[1])


@contextlib.contextmanager
def floor_server(url, folder):
    """The least program that could do it (`floor.c`): its port and process."""
    program = str(Path(folder, "floor"))
    output_of("clang", "-O2", f"-I{output_of('pg_config', '--includedir').strip()}", HERE / "floor.c", "-o", program, "-lpq")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def is_there():
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return True

    process = subprocess.Popen([program, str(port), url])
    try:
        wait_until(is_there, "the floor program to listen")
        yield port, process.pid
    finally:
        process.kill()
        process.wait()


def spent_by(pid, with_ended_children=False) -> tuple:
    """The seconds of user and system time that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    user, system, children_user, children_system = (int(field) / os.sysconf("SC_CLK_TCK") for field in fields[11:15])
    return (user + children_user, system + children_system) if with_ended_children else (user, system)


def spent_by_postgres() -> tuple:
    """The same of PostgreSQL with all its processes, those that ended as well."""
    backend = sql("select pid from pg_stat_activity where backend_type = 'checkpointer'")
    postmaster = int(Path(f"/proc/{backend}/stat").read_text().rsplit(")", 1)[1].split()[1])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    times = [spent_by(postmaster, with_ended_children=True)]
    for child in children:
        with contextlib.suppress(OSError):
            times.append(spent_by(child))
    return tuple(map(sum, zip(*times)))


def spent_by_clients() -> tuple:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime, usage.ru_stime


@contextlib.contextmanager
def without_autovacuum():
    """What it does for one contestant would be counted as another's, who runs then."""
    try:
        sql("alter system set autovacuum = off")
        sql("select pg_reload_conf()")
        yield
    finally:
        sql("alter system reset autovacuum")
        sql("select pg_reload_conf()")


class Run:
    """One run of a contestant: commands a second, and what each process took for a command, in microseconds."""

    def __init__(self, servers, measure):
        def spent():
            # The questions themselves belong to nobody.
            database = spent_by_postgres()
            return {"server": tuple(map(sum, zip((0, 0), *map(spent_by, servers)))), "PostgreSQL": database,
                    "clients": spent_by_clients()}

        before, began = spent(), time.monotonic()
        self.rate, commands = measure()
        seconds, clients, after = time.monotonic() - began, spent_by_clients(), spent()
        after["clients"] = clients
        self.microseconds = {
            name: tuple((late - early) / commands * 1e6 for early, late in zip(before[name], after[name])) for name in before}
        busy = sum(map(sum, self.microseconds.values())) * commands / 1e6
        self.idle = 1 - busy / seconds / (os.cpu_count() or 1)


def words(runs, name) -> str:
    user, system = (statistics.median(run.microseconds[name][part] for run in runs) for part in (0, 1))
    return f"{user:.1f} + {system:.1f}" if user + system >= 0.05 else ""


def ratio(ours, theirs) -> tuple:
    """The median of the rounds' ratios, and their spread."""
    return ratios([run.rate for run in ours], [run.rate for run in theirs])


def measure_add(report, rounds, quick):
    from eventsourced import Carts  # The other sections do without its package.

    requests, seconds = (20_000, 2) if quick else (200_000, 6)
    verdicts = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(without_autovacuum())
        server, _ = stack.enter_context(tiffin_server())
        redis = stack.enter_context(redis_server())
        plain, least, messages, events = (stack.enter_context(fresh_database()) for _ in range(4))
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        floor, floor_pid = stack.enter_context(floor_server(least, folder))
        with server.client() as client:
            put_kitchen(client)
        with Client(redis) as client:
            redis_pid = int(client("INFO", "server").split(b"process_id:")[1].split()[0])
        sql(PLAIN_TABLE, plain)
        sql((HERE / "message_store.sql").read_text(), messages)
        inserting, calling = Path(folder, "insert.sql"), Path(folder, "call.sql")
        inserting.write_text(PLAIN_INSERT)
        calling.write_text(CALL)
        run_numbers = itertools.count()

        def call(callers, seconds):
            rate = pgbench(messages, calling, callers, seconds, run=next(run_numbers), number=-1)
            return rate, rate * seconds

        def changed(processes):
            with fresh_database() as url, contextlib.closing(Carts(url, processes, CARTS)) as some:
                return some.run(TRIAL_SECONDS)

        callers, processes = max(CALLERS, key=lambda count: call(count, TRIAL_SECONDS)), max(PROCESSES, key=changed)
        carts = stack.enter_context(contextlib.closing(Carts(events, processes, CARTS)))
        for number, (connections, at_once) in enumerate(LOADS):
            def load(port, words=ADD):
                return redis_benchmark(port, requests, connections, at_once, words, CARTS), requests

            def insert():
                rate = pgbench(plain, inserting, connections, seconds)
                return rate, rate * seconds

            contestants = {
                "Tiffin CART.ADD": lambda: Run([server.process.pid], lambda: load(server.port)),
                "floor: a row a batch, no rules": lambda: Run([floor_pid], lambda: load(floor)),
                "Redis HSET": lambda: Run([redis_pid], lambda: load(redis, ["HSET", "cart-__rand_int__", "dish-0", "1"])),
            }
            if at_once == 1:
                contestants |= {
                    "PostgreSQL INSERT": lambda: Run([], insert),
                    f"a call as in message-db, {callers} at once": lambda: Run([], lambda: call(callers, seconds)),
                    f"eventsourcing in Python, {processes} at once": lambda: Run(carts.pids, lambda: carts.run(seconds)),
                }
            runs = rounds_in_turn(rounds, contestants)
            ours, least_runs, redis_runs, *others = runs.values()
            what = f"{connections} connections" + (f", {at_once} at once" if at_once > 1 else "")
            report.title(f"Durable change of a cart, {what}: {requests:,} requests a run, {CARTS:,} carts, {rounds} rounds; "
                         "µs a command, user + system")
            rows = [("", "rate", "to Redis", "least–most", "server", "PostgreSQL", "clients", "idle")]
            for name, measured in runs.items():
                middle, spread = ratio(measured, redis_runs)
                rows.append((
                    name, per_second(statistics.median(run.rate for run in measured)), f"{middle:.2f}",
                    spread, *(words(measured, part) for part in ("server", "PostgreSQL", "clients")),
                    f"{statistics.median(run.idle for run in measured):.0%}"))
            report.table(rows)
            if at_once > 1:
                verdicts.append((what, statistics.median(run.rate for run in ours), PIPELINED_AIM))
                continue
            for (name, aims), theirs in zip(AIMS.items(), (least_runs, redis_runs, others[0])):
                verdicts.append((f"{what}, {name}", ratio(ours, theirs)[0], aims[number]))
    report.line()
    for verdict in verdicts:
        report.verdict(*verdict)
