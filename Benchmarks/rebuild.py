"""Read models rebuilt while a server is under load: `Scripts/bench rebuild`."""

import threading

from audit import EVENTS_PER_CART, fill, run_tiffin
from harness import tiffin_server
from monkey import milliseconds, run_monkey
from tiffin import sql, wait_until

EVENTS = 1_000_000
RATE = 2_000


def wait_for_checkpoint(url):
    behind = ("select count(*) from tiffin.log_head h left join tiffin.projection_checkpoints c "
              "on c.partition = h.partition and c.state = 'active' where c.position is distinct from h.position")
    wait_until(lambda: sql(behind, url) == "0", "a checkpoint of everything", seconds=120)


def measure_rebuild(report, rounds, quick):
    events, seconds = (EVENTS // 10, 5) if quick else (EVENTS, 20)
    report.title(
        f"tiffin rebuild --all of {events:,} events in {events // EVENTS_PER_CART:,} carts, under {RATE:,} commands a "
        "second; times in ms from the plan")
    with tiffin_server() as (server, url):
        fill(server, events)
        wait_for_checkpoint(url)
        load = ("--server", f"127.0.0.1:{server.port}", "--rate", RATE, "--duration", f"{seconds}s", "--seed", 1)
        quiet = run_monkey(*load)[0]
        wait_for_checkpoint(url)
        took = []
        over = threading.Event()

        def rebuild():
            while not over.is_set():
                took.append(run_tiffin("rebuild", "--all", "--database", url))

        worker = threading.Thread(target=rebuild)
        worker.start()
        try:
            busy = run_monkey(*load)[0]
        finally:
            over.set()
            worker.join()
    rows = [("", "writes p50", "p99", "most", "reads p50", "p99", "most", "failed")]
    for name, result in (("before", quiet), ("during one rebuild after another", busy)):
        calls = {call["name"]: call for call in result["calls"]}
        cells = [milliseconds(calls[flow], quantile) for flow in ("writes", "reads")
                 for quantile in ("p50", "p99", "maximum")]
        rows.append((name, *cells, str(sum(window["failures"] for window in result["windows"]))))
    report.table(rows)
    report.line(
        f"  {len(took)} rebuilds, {min(took)[0]:.1f} to {max(took)[0]:.1f} s each, at most {max(t[1] for t in took):.0f} MB; "
        "every answer was checked")
