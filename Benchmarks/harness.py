"""What the sections of the benchmarks share: the report, programs and their output, the server under test."""

import contextlib
import csv
import io
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Tests" / "Clients"))

from tiffin import (
    ReplyError, Server, fresh_database, item_document, private_redis, put_open_outlet, section_document, sql,
    wait_until,
)

RESULTS = Path(__file__).resolve().parent / "results"
STEP_SECONDS = 300
# Far more than a server needs to save what was put.
SAVED_SECONDS = 600


class Report:
    """The lines of the report, printed as they come. Each section is saved in a file of its own, so that one can be
    measured without the others."""

    def __init__(self):
        self.header = []
        self.sections = {}
        self.missed = 0
        self.unmeasured = 0
        self._lines = self.header

    def line(self, text=""):
        print(text, flush=True)
        self._lines.append(text)

    def begin(self, section):
        """The next lines belong to that section."""
        self._lines = self.sections[section] = []

    def end(self):
        """The next lines belong to no section."""
        self._lines = []

    def title(self, text):
        self.line()
        self.line(text)
        self.line("-" * len(text))

    def table(self, rows):
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        for row in rows:
            first, *rest = zip(row, widths)
            self.line("  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]).rstrip())

    def verdict(self, what, value, bound, *, at_least=True, unit=""):
        reached = value >= bound if at_least else value <= bound
        self.missed += not reached
        sign = "≥" if at_least else "≤"
        self.line(f"  {what}: {value:.2f}{unit} (target {sign} {bound:g}{unit}): {'reached' if reached else 'MISSED'}")

    def not_measured(self, what, why):
        self.unmeasured += 1
        self.line(f"  {what} could not be measured: {why}")

    def save(self):
        RESULTS.mkdir(exist_ok=True)
        for section, lines in self.sections.items():
            (RESULTS / f"{section}.txt").write_text("\n".join(self.header + lines) + "\n", encoding="utf-8")


def output_of(*command, seconds=STEP_SECONDS, **options) -> str:
    run = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL, **options)
    if run.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {run.returncode}: {(run.stderr or run.stdout).strip()[-500:]}")
    return run.stdout


def redis_benchmark(port, requests, connections, pipeline, command, keys=None, options=()) -> float:
    """Requests per second."""
    return float(redis_benchmark_row(port, requests, connections, pipeline, command, keys, options)["rps"])


def redis_benchmark_row(port, requests, connections, pipeline, command, keys=None, options=()) -> dict:
    """What redis-benchmark says of a run: `rps`, `p50_latency_ms` and so on."""
    random_keys = ["-r", keys] if keys else []
    out = output_of("redis-benchmark", "-p", port, "-n", requests, "-c", connections, "-P", pipeline, *random_keys,
                    *options, "--csv", *command)
    rows = [row for row in csv.reader(io.StringIO(out)) if len(row) > 1]
    if "Error" in out or len(rows) != 2:
        raise RuntimeError(f"redis-benchmark: {out[-500:]}")
    return dict(zip(*rows))


def rounds_in_turn(rounds, contestants) -> dict:
    """Runs each contestant once in each round, in turn, and returns what each measured, round by round."""
    measured = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            measured[name].append(run())
    return measured


def in_turn(rounds, contestants) -> dict:
    """The medians of ``rounds_in_turn``."""
    return {name: statistics.median(values) for name, values in rounds_in_turn(rounds, contestants).items()}


def ratios(ours, theirs) -> tuple:
    """The median of the rounds' ratios, and the least and the largest as words."""
    all_of_them = [one / other for one, other in zip(ours, theirs)]
    return statistics.median(all_of_them), spread(all_of_them)


def spread(values, digits=2) -> str:
    """The least and the largest."""
    return f"{min(values):.{digits}f}–{max(values):.{digits}f}"


def checked(replies):
    """The replies, none of which may be an error."""
    for reply in replies:
        if isinstance(reply, ReplyError):
            raise reply
    return replies


def knows(client, command) -> bool:
    """Whether the server has that command, even if it refuses the arguments."""
    try:
        client(*command)
    except ReplyError as error:
        return "unknown command" not in str(error)
    return True


def make_rows(url):
    """The events in a table with a row for each, as the log had them before a batch was a row: what COPY is measured on."""
    sql("drop table if exists event_rows_to_copy; create table event_rows_to_copy as "
        "select * from tiffin.events order by partition, position; "
        "alter table event_rows_to_copy add primary key (partition, position)", url)


def seconds_to_copy(url) -> float:
    """Seconds to send the table of `make_rows`."""
    start = time.monotonic()
    subprocess.run(
        ["psql", "--no-psqlrc", "--quiet", "-c",
         "copy (select * from event_rows_to_copy order by partition, position) to stdout", url],
        stdout=subprocess.DEVNULL, timeout=STEP_SECONDS, check=True)
    return time.monotonic() - start


def per_second(value) -> str:
    return f"{value:,.0f}/s"


def redis_server():
    """A private Redis that syncs its append-only file on every write."""
    return private_redis("--appendonly", "yes", "--appendfsync", "always")


@contextlib.contextmanager
def tiffin_server():
    with fresh_database() as url, Server(database=url) as server:
        yield server, url


def until_saved(client) -> None:
    """Waits until the rows of all read models are saved: a server that is stopped before reads the log when it starts."""
    wait_until(lambda: b"unsaved_events=0" in client("INFO", "projections"), "the rows to be saved", seconds=SAVED_SECONDS)


def processor_seconds(pid) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_megabytes(pid) -> float:
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        kilobytes = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    else:
        kilobytes = output_of("ps", "-o", "rss=", "-p", pid)
    return int(kilobytes) / 1024


def seconds_to_first_reply(server, cart) -> float:
    """From the start of the process until a question about a cart is answered."""
    start = time.monotonic()
    server.start()
    with server.client() as client:
        if client("CART.COUNT", cart) < 1:
            raise RuntimeError("the restarted server does not know its carts")
    return time.monotonic() - start


def put_kitchen(client, outlet="kitchen", items=3):
    put_open_outlet(client, outlet, [
        section_document("all", [item_document(f"dish-{n}", 125000) for n in range(items)])])
