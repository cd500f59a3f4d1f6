"""What a durable event costs: processor time of the server and of PostgreSQL, WAL and disk, for each event."""

import re
import subprocess
import tempfile
from pathlib import Path

from harness import output_of, per_second, processor_seconds, put_kitchen, redis_benchmark, tiffin_server
from tiffin import sql

KEYS = 100_000

# Where the time goes, by the object and the symbol of a sample; the first pattern that fits names it.
SERVER_CAUSES = [
    ("kernel: sockets", r"^\[kernel|^\[guest"),
    ("hashing", r"libcrypto|SHA256|EventLog.*(Digest|Merkle|canonicalBytes)"),
    ("memory: allocation", r"malloc|calloc|\bfree\b|_int_free|swift_(slowAlloc|allocObject|dealloc)|swift_slowDealloc"),
    ("memory: reference counts", r"swift_(retain|release|bridgeObject|isUnique)|RefCounts|initializeWithCopy|outlined (copy|consume|destroy)|destroy for"),
    ("libpq", r"libpq"),
    ("JSON", r"TextFormats|JSONWriter"),
    ("parsing and replies", r"LineProtocol|LineServer|RequestParser|ReplyBuffer"),
    ("encoding of parameters", r"Postgres"),
    ("deciding", r"Domain|CommandHandling|CommandProcessor"),
    ("projecting", r"Projections|Application"),
    ("event loop", r"libuv|EventLoop|uv_"),
]
POSTGRES_CAUSES = [
    ("kernel: flush and socket", r"^\[kernel|^\[guest"),
    ("indexes", r"_bt_|btinsert|index_|ExecInsertIndexTuples|varstr|bttext|btint"),
    ("WAL", r"XLog|CRC|crc32|pglz|Checksum"),
    ("hashing", r"sha256|SHA256|digest"),
    ("rows", r"heap|toast|Buffer|Page|LWLock|slot_|tts_"),
    ("function and plan", r"plpgsql|exec_|Exec|array|unnest|deconstruct|AllocSet|palloc|pfree|fmgr|SPI"),
]


def causes(pid, seconds, table) -> list:
    """(cause, share) of the samples of a process, largest first; empty where `perf` is missing."""
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder, "perf.data"))
        try:
            subprocess.run(["perf", "record", "-q", "-o", data, "-p", str(pid), "-F", "2999", "sleep", str(seconds)],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=True)
            out = output_of("perf", "report", "-i", data, "--stdio", "--sort", "dso,symbol", "--percent-limit", "0.02",
                            seconds=120)
        except (OSError, RuntimeError, subprocess.SubprocessError):
            return []
    shares = {}
    for line in out.splitlines():
        if match := re.match(r"\s*([\d.]+)%\s+(\S+)\s+\[(.)\]\s+(.*)", line):
            share, name = float(match[1]), f"{match[2]} {match[4]}"
            cause = next((cause for cause, pattern in table if re.search(pattern, name)), "other")
            shares[cause] = shares.get(cause, 0) + share
    return sorted(shares.items(), key=lambda row: -row[1])


def information(client) -> dict:
    text = client("INFO").decode()
    return dict(line.split(":", 1) for line in text.replace("\r", "").splitlines() if ":" in line)


def writers(url) -> list:
    return [int(pid) for pid in sql(
        "select pid from pg_stat_activity where application_name like 'tiffin writer%' order by pid", url).split()]


def wal_position(url) -> int:
    return int(sql("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint", url))


def measure_costs(report, rounds, quick):
    requests = 20_000 if quick else 200_000
    report.title(f"What a durable CART.ADD costs: {requests:,} requests, {KEYS:,} carts")
    rows = [("", "50 connections", "500 connections")]
    columns, profiles = [], []
    with tiffin_server() as (server, url), server.client() as client:
        put_kitchen(client)
        load = ["CART.ADD", "cart-__rand_int__", "kitchen", "dish-0", "1"]
        redis_benchmark(server.port, requests, 50, 1, load, KEYS)
        for connections in (50, 500):
            columns.append(cost_of(server, url, client, requests, connections, load))
            profiles.append(profiles_under_load(server, url, requests, connections, load))
    for name in columns[0]:
        rows.append((name, *(column[name] for column in columns)))
    report.table(rows)
    for side, number in (("the server", 0), ("PostgreSQL's backend", 1)):
        report.title(f"Where the time of {side} goes, of 100 samples")
        parts = [dict(profile[number]) for profile in profiles]
        if not parts[0]:
            report.not_measured(f"the profile of {side}", "perf is not here, or may not look")
            continue
        report.table([("", "50 connections", "500 connections")] + [
            (cause, *(f"{part.get(cause, 0):.0f}" for part in parts)) for cause in parts[0]])


def cost_of(server, url, client, requests, connections, load) -> dict:
    client("CONFIG", "RESETSTAT")
    backends = writers(url)
    before = processor_seconds(server.process.pid), sum(map(processor_seconds, backends)), wal_position(url)
    rate = redis_benchmark(server.port, requests, connections, 1, load, KEYS)
    after = processor_seconds(server.process.pid), sum(map(processor_seconds, backends)), wal_position(url)
    batches = sum(int(value) for name, value in information(client).items() if re.fullmatch(r"partition\d+_batches", name))
    ours, theirs, wal = (later - earlier for earlier, later in zip(before, after))
    sizes = {table: int(sql(f"select pg_{table}_size('tiffin.batches') + pg_{table}_size('tiffin.stream_index')", url))
             for table in ("table", "indexes")}
    events = int(sql("select sum(position) from tiffin.log_head", url))
    return {
        "rate": per_second(rate),
        "events in a batch": f"{requests / max(batches, 1):.1f}",
        "server, µs an event": f"{ours / requests * 1e6:.1f}",
        "PostgreSQL's backend, µs an event": f"{theirs / requests * 1e6:.1f}",
        "the same, µs a batch": f"{theirs / max(batches, 1) * 1e6:.0f}",
        "WAL, bytes an event": f"{wal / requests:.0f}",
        "tables, bytes an event": f"{sizes['table'] / events:.0f}",
        "indexes, bytes an event": f"{sizes['indexes'] / events:.0f}",
    }


def profiles_under_load(server, url, requests, connections, load) -> tuple:
    """Profiles of the server and of a backend while the same load runs again."""
    found = []
    for pid, table in ((server.process.pid, SERVER_CAUSES), (writers(url)[0], POSTGRES_CAUSES)):
        with subprocess.Popen(
            ["redis-benchmark", "-p", str(server.port), "-n", str(requests), "-c", str(connections), "-r", str(KEYS), "-q",
             *load], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            found.append(causes(pid, 3, table))
            running.wait(timeout=120)
    return tuple(found)
