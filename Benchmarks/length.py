"""Whether a start, memory and an append depend on the log's length: `Scripts/bench length`.

It takes about half an hour and 20 GB of disk, mostly to write the longest log.
"""

import contextlib
import hashlib
import multiprocessing
import os
import random
import statistics
import struct
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg

from audit import run_tiffin
from costs import wal_position, writers
from harness import (
    SAVED_SECONDS, processor_seconds, put_kitchen, redis_benchmark, resident_megabytes, seconds_to_first_reply,
)
from memory import SETTLING_SECONDS
from start import peak_megabytes
from tiffin import Server, fresh_database, sql, wait_until

LENGTHS = (1_000_000, 10_000_000, 100_000_000)
# A cart has an event in each of so many batches, one after the other: its client waits for each reply.
EVENTS_PER_CART = 10
CARTS_BEGUN_PER_BATCH = 25
# Names have no order, as those that clients choose: this steps through all numbers of that many digits.
NAME_DIGITS, NAME_STEP = 12, 618_033_988_749
SAMPLE = "sample"
BATCHES_AT_ONCE = 400
CARTS_AT_ONCE = 100_000
NODES_AT_ONCE = 100
# A server folds some hundred thousand events a second, and saves some ten thousand rows.
CATCH_UP_SECONDS = 1_800
REQUESTS = 100_000
CONNECTIONS = 50
# So many names that hardly any is drawn twice.
NEW_CARTS = 1_000_000_000
# Carts at the beginning of the log, of which each round reads some.
FIRST_CARTS = 10_000
CARTS_READ = 100
# A row of tiffin.batches up to its events, in the binary format of COPY, which counts microseconds from 2000.
COLUMNS = ("partition", "first_position", "last_position", "content_digest", "chain_digest", "submitted_digest",
           "recorded_at", "only_carts", "events")
ROW = struct.Struct(">hihiqiqi32si32siiqi?i")
BEFORE_ROWS, AFTER_ROWS = b"PGCOPY\n\xff\r\n\0" + bytes(8), struct.pack(">h", -1)
MILLISECONDS_TO_2000 = 946_684_800_000


@contextlib.contextmanager
def connected(url):
    """A connection whose statements may take as long as they need."""
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            yield connection
    except psycopg.Error as error:
        raise RuntimeError(f"PostgreSQL: {error}") from error


# --- a history


def parts(count, size) -> list:
    return [range(first, min(first + size, count)) for first in range(0, count, size)]


def sha256(data) -> bytes:
    return hashlib.sha256(data).digest()


def root(level) -> bytes:
    """Of the Merkle tree over these leaves, as docs/audit.md has it."""
    while len(level) > 1:
        pairs = [sha256(b"\1" + left + right) for left, right in zip(level[::2], level[1::2])]
        level = pairs + level[-1:] if len(level) % 2 else pairs
    return level[0]


def number(value, size) -> bytes:
    return value.to_bytes(size, "big")


def text(value) -> bytes:
    return number(len(value.encode()), 4) + value.encode()


def cart_name(place) -> str:
    return f"cart-{place * NAME_STEP % 10**NAME_DIGITS:0{NAME_DIGITS}}"


@dataclass
class History:
    """Events of many carts, in batches behind a log, as appends would have left them. What happens to each cart is what
    a server has written of one."""

    url: str
    # Where the log ends.
    position: int
    digest: bytes
    milliseconds: int
    # Kind, version of the schema, payload and metadata of a cart's events, in order.
    events: list
    batches: int = 0

    @staticmethod
    def behind(url, length):
        """One that makes the log so long."""
        with connected(url) as connection:
            end = connection.execute(
                "select last_position, chain_digest, (extract(epoch from recorded_at) * 1000)::bigint "
                "from tiffin.batches order by first_position desc limit 1").fetchone()
            events = connection.execute(
                "select kind, schema_version, payload, metadata from tiffin.events_of(%s) order by version",
                [f"cart-{SAMPLE}"]).fetchall()
        if len(events) != EVENTS_PER_CART:
            raise RuntimeError(f"the cart that is copied has {len(events)} events")
        history = History(url, *end, events)
        while history.end_before(history.batches) < length:
            history.batches += 1
        return history

    @property
    def carts(self) -> int:
        return self.batches * CARTS_BEGUN_PER_BATCH

    def end_before(self, batch) -> int:
        # The first batches are smaller, as there are no older carts.
        young = min(batch, EVENTS_PER_CART)
        return self.position + CARTS_BEGUN_PER_BATCH * (young * (young + 1) // 2 + EVENTS_PER_CART * (batch - young))

    def recorded_at(self, batch) -> int:
        return self.milliseconds + 1 + batch

    def write(self):
        """Writes all of it, what is derived from it too, but for the read models."""
        batches, carts = parts(self.batches, BATCHES_AT_ONCE), parts(self.carts, CARTS_AT_ONCE)
        with multiprocessing.get_context("fork").Pool() as pool:
            contents = pool.map(self.content_digests, batches, chunksize=1)
            pool.map(self.copy, zip(batches, contents, self.chained(contents)), chunksize=1)
            with connected(self.url) as connection:
                connection.execute(
                    "update tiffin.log_head set position = %s, digest = %s where partition = 0",
                    [self.end_before(self.batches), self.digest])
                # Row by row, an index as large as that takes hours: each new row changes another of its pages.
                [(name, definition)] = connection.execute(
                    "select indexname, indexdef from pg_indexes "
                    "where schemaname = 'tiffin' and tablename = 'stream_index'")
                connection.execute(f"drop index tiffin.{name}; delete from tiffin.stream_index where stream is null")
                pool.map(self.index, carts, chunksize=1)
                connection.execute(
                    "insert into tiffin.stream_index select 0, null, max(first_position) from tiffin.batches; "
                    "set maintenance_work_mem = '1GB'; set max_parallel_maintenance_workers = 4")
                connection.execute(definition)
                while connection.execute(f"select tiffin.grow_tree(0::smallint, {NODES_AT_ONCE}, false)").fetchone()[0]:
                    pass
                connection.execute("vacuum (analyze) tiffin.batches, tiffin.stream_index, tiffin.tree_nodes")

    def streams(self, batch, rests) -> list:
        """The name of the stream of each event in a batch, with what follows on it there."""
        begun = range(max(0, batch + 1 - EVENTS_PER_CART), batch + 1)
        carts = [(CARTS_BEGUN_PER_BATCH * first, rests[batch - first]) for first in begun]
        return [b"cart-cart-%0*d%b" % (NAME_DIGITS, (first + place) * NAME_STEP % 10**NAME_DIGITS, rest)
                for place in range(CARTS_BEGUN_PER_BATCH) for first, rest in carts]

    def content_digests(self, batches) -> list:
        before = b"\0" + number(len(f"cart-{cart_name(0)}"), 4)
        rests = [number(version, 8) + text(kind) + number(schema, 4) + text(payload) + text(metadata)
                 for version, (kind, schema, payload, metadata) in enumerate(self.events, 1)]
        digests = []
        for batch in batches:
            recorded_at = number(self.recorded_at(batch), 8)
            events = self.streams(batch, [rest + recorded_at for rest in rests])
            digests.append(root([sha256(before + event) for event in events]))
        return digests

    def chained(self, contents):
        """The chain after each of these batches. The last one becomes the digest of the log."""
        for some in contents:
            chain = []
            for content in some:
                self.digest = sha256(self.digest + content)
                chain.append(self.digest)
            yield chain

    def copy(self, work):
        """Writes batches with their digests into the table."""
        rests = [f"\t{version}\t{kind}\t{schema}\t{payload}\t{metadata}".encode()
                 for version, (kind, schema, payload, metadata) in enumerate(self.events, 1)]
        with connected(self.url) as connection, connection.cursor() as cursor, cursor.copy(
                f"copy tiffin.batches ({', '.join(COLUMNS)}) from stdin (format binary)") as rows:
            rows.write(BEFORE_ROWS)
            for batch, content, chain in zip(*work):
                events = b"\n".join(self.streams(batch, rests))
                rows.write(ROW.pack(
                    len(COLUMNS), 2, 0, 8, self.end_before(batch) + 1, 8, self.end_before(batch + 1), 32, content, 32,
                    chain, -1, 8, 1_000 * (self.recorded_at(batch) - MILLISECONDS_TO_2000), 1, True, len(events)))
                rows.write(events)
            rows.write(AFTER_ROWS)

    def index(self, carts):
        """Adds carts to the index of streams, as tiffin.index_streams would."""
        young = f"least(batch, {EVENTS_PER_CART})"
        first_position = (f"{self.position + 1} + {CARTS_BEGUN_PER_BATCH} * "
                          f"({young} * ({young} + 1) / 2 + {EVENTS_PER_CART} * (batch - {young}))")
        with connected(self.url) as connection:
            connection.execute(
                f"insert into tiffin.stream_index select 0, stream, {first_position} from ("
                f"select hashtextextended('cart-cart-' || lpad((cart * {NAME_STEP} % {10**NAME_DIGITS})::text, "
                f"{NAME_DIGITS}, '0'), 0), "
                f"cart / {CARTS_BEGUN_PER_BATCH} from generate_series({carts[0]}::bigint, {carts[-1]}) as cart offset 0"
                ") as carts (stream, begun), "
                f"generate_series(begun, least(begun + {EVENTS_PER_CART - 1}, {self.batches - 1})) as batch")


# --- a log and its server


class LongLog:
    def __init__(self, stack, length):
        self.url = stack.enter_context(fresh_database())
        run_tiffin("migrate", "--database", self.url)
        self.server = Server(database=self.url)
        with self.server, self.server.client() as client:
            put_kitchen(client)
            for place in range(EVENTS_PER_CART):
                client("CART.ADD", SAMPLE, "kitchen", f"dish-{place % 3}", 1)
        stack.callback(self.server.kill)
        began = time.monotonic()
        sql("select tiffin.index_streams(0::smallint, 1000)", self.url)
        self.history = History.behind(self.url, length)
        self.history.write()
        self.writing = time.monotonic() - began
        self.catch_up()
        self.sizes = [int(sql(f"select pg_total_relation_size('tiffin.{table}')", self.url)) / self.position()
                      for table in TABLES]

    def catch_up(self):
        """The first start reads all of it and saves the rows of the read models."""
        began = time.monotonic()
        server = self.server.launch()
        wait_until(
            lambda: "listening on" in server.output() or server.process.poll() is not None,
            "the log to be read", seconds=CATCH_UP_SECONDS)
        server.wait_until_listening()
        self.reading = time.monotonic() - began
        with server.client() as client:
            wait_until(
                lambda: b"unsaved_events=0" in client("INFO", "projections"),
                "the rows to be saved", seconds=CATCH_UP_SECONDS)
        self.saving = time.monotonic() - began - self.reading
        self.peak = peak_megabytes(server.process.pid)
        server.stop()
        with connected(self.url) as connection:
            connection.execute("vacuum (analyze) tiffin.cart_count_rows")

    def measured(self, random_carts, requests) -> tuple:
        """A start, what the server takes then, a look at old carts, and appends."""
        sql("checkpoint")
        server = self.server
        seconds = seconds_to_first_reply(server, cart_name(0))
        pid, postmaster = server.process.pid, int(sql("select split_part(pg_read_file('postmaster.pid'), chr(10), 1)"))
        starting, resident = processor_seconds(pid), resident_megabytes(pid)
        with server.client() as client:
            wait_until(
                lambda: b"carts:known=no" not in client("INFO", "projections"), "carts to be known", seconds=SAVED_SECONDS)
            before = seconds_of_all(postmaster)
            time.sleep(SETTLING_SECONDS)
            idling, idle = seconds_of_all(postmaster) - before, resident_megabytes(pid)
            taken = []
            for cart in random_carts.sample(range(min(FIRST_CARTS, self.history.carts)), CARTS_READ):
                asked = time.perf_counter()
                document = client.json("CART.GET", cart_name(cart))
                taken.append(time.perf_counter() - asked)
                if document["count"] != EVENTS_PER_CART:
                    raise RuntimeError(f"an old cart is {document}")
            # The connection that appends is opened for the first one.
            client("CART.ADD", SAMPLE, "kitchen", "dish-0", 1)
        end = self.position()
        [writer] = writers(self.url)
        before = [processor_seconds(pid), processor_seconds(writer), seconds_of_all(postmaster), wal_position(self.url)]
        rate = redis_benchmark(
            server.port, requests, CONNECTIONS, 1, ["CART.ADD", "new-__rand_int__", "kitchen", "dish-0", "1"],
            NEW_CARTS)
        after = [processor_seconds(pid), processor_seconds(writer)]
        # Which saves the rows.
        server.stop()
        after += [seconds_of_all(postmaster), wal_position(self.url)]
        events = self.position() - end
        ours, writing, database, wal = ((later - earlier) / events for earlier, later in zip(before, after))
        return (1_000 * seconds, 1_000 * starting, resident, idle, 1_000 * idling / SETTLING_SECONDS,
                1_000 * statistics.median(taken), rate, 1e6 * ours, 1e6 * writing, 1e6 * (database - writing), wal)

    def position(self) -> int:
        return int(sql("select position from tiffin.log_head where partition = 0", self.url))


FIGURES = [
    ("start until the first reply, ms", 0), ("the server's processor until then, ms", 0), ("MB then", 0),
    ("MB, idle", 0), ("PostgreSQL's processor, idle, ms a second", 0), ("first CART.GET of an old cart, p50, ms", 2),
    ("CART.ADD to new carts, a second", 0), ("the server, µs an event", 1),
    ("PostgreSQL's backend that appends, µs an event", 1), ("the rest of PostgreSQL, µs an event", 1),
    ("WAL, bytes an event", 0),
]
TABLES = {"batches": "table of batches", "stream_index": "index of streams", "tree_nodes": "tree"}


def seconds_of_all(postmaster) -> float:
    """The processor time of a PostgreSQL: its processes, and those that have ended."""
    ticks = 0
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = status.read_text().rsplit(")", 1)[1].split()
            if int(status.parent.name) == postmaster:
                ticks += sum(map(int, fields[11:15]))
            elif int(fields[1]) == postmaster:
                ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def measure_length(report, rounds, quick):
    few = 10 if quick else 1
    lengths = [length // few for length in LENGTHS]
    report.title(f"Logs of {', '.join(f'{length:,}' for length in lengths)} events, {EVENTS_PER_CART} of each cart")
    with contextlib.ExitStack() as stack:
        logs = [LongLog(stack, length) for length in lengths]
        # What was written here without a server is what servers write.
        auditing, _ = run_tiffin("audit", "--database", logs[0].url)
        measured = [[] for _ in logs]
        for turn in range(rounds):
            for log, figures in zip(logs, measured):
                figures.append(log.measured(random.Random(turn), REQUESTS // few))
    rows = [
        *((name, digits, [statistics.median(values[place] for values in figures) for figures in measured])
          for place, (name, digits) in enumerate(FIGURES)),
        *((f"{name}, bytes an event", 2, [log.sizes[place] for log in logs])
          for place, name in enumerate(TABLES.values())),
    ]
    report.table([
        ("", *(f"{length:,}" for length in lengths), "last to first"),
        *((name, *(f"{value:,.{digits}f}" for value in values), f"{values[-1] / values[0]:.2f}" if values[0] else "")
          for name, digits, values in rows),
    ])
    report.line("  Written by SQL and not by a server. "
                f"The log of {lengths[0]:,} is sound: its audit took {auditing:.0f} s.")
    for length, log in zip(lengths, logs):
        report.line(f"  {length:,}: {log.history.batches:,} batches written in {log.writing:.0f} s")
        report.line(f"    the first start read them in {log.reading:.1f} s, and saved {log.history.carts:,} carts in "
                    f"{log.saving:.1f} s, with {log.peak:,.0f} MB at most")
