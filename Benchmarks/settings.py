"""What PostgreSQL's settings are worth to an append: `Scripts/bench settings`."""

import re
import statistics
import tempfile

from harness import output_of
from tiffin import private_cluster, run_tiffin, sql

SECONDS = 3
# Events in a batch with 50 and with 500 clients.
BATCHES = (24, 224)
# What the embedded PostgreSQL runs with.
OURS = {"checkpoint_timeout": "15min", "max_wal_size": "2GB", "wal_compression": "on"}
CONTESTANTS = {
    "ours": {},
    "PostgreSQL's defaults": {"checkpoint_timeout": "5min", "max_wal_size": "1GB", "wal_compression": "off"},
    "wal_compression off": {"wal_compression": "off"},
    "wal_compression lz4": {"wal_compression": "lz4"},
    "wal_buffers 16MB": {"wal_buffers": "16MB"},
    "wal_init_zero off": {"wal_init_zero": "off"},
    "wal_sync_method open_datasync": {"wal_sync_method": "open_datasync"},
    "shared_buffers 512MB": {"shared_buffers": "512MB"},
    "huge_pages off": {"huge_pages": "off"},
    "commit_delay 100 µs": {"commit_delay": "100", "commit_siblings": "0"},
    "jit off": {"jit": "off"},
    "autovacuum off": {"autovacuum": "off"},
}
# Cart writes as the server sends them: a batch of new lines at the end of the log, whatever it has seen.
SAMPLES = """
create unlogged table samples (events int, lines text);
insert into samples
select size, string_agg(concat_ws(E'\\t', 'cart-' || md5(n::text), n, 'cart.itemAdded', 1,
    '{"line":"dish-1","item":"dish-1","quantity":1,"unitPrice":500,"name":"Dish number ' || n || '","currency":"EUR"}',
    '{"id":"' || substr(md5(n::text), 1, 16) || '"}'), E'\\n' order by n)
from unnest(array[%s]) size, generate_series(1, size) n group by size;
create function append_sample(size int) returns setof record language sql as $$
    select tiffin.append(0::smallint, (select position from tiffin.log_head), null, (select epoch from tiffin.log_head),
        sha256('a batch'), now(), size, (select lines from samples where events = size), '{}', null, null, null, true) $$;
"""


def measure_settings(report, rounds, quick):
    seconds = 1 if quick else SECONDS
    report.title("An append under other settings of PostgreSQL: µs and bytes of write-ahead log an event")
    with private_cluster(fsync="on", **OURS) as (url, start, stop), tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        if (migration := run_tiffin("migrate", "--database", url)).returncode:
            raise RuntimeError(migration.stderr)
        sql(SAMPLES % ", ".join(map(str, BATCHES)), url)

        def append(events):
            script.seek(0)
            script.truncate()
            print(f"select append_sample({events});", file=script, flush=True)
            sql("checkpoint", url)
            before = sql("select pg_current_wal_lsn()", url)
            printed = output_of("pgbench", "--no-vacuum", "--protocol", "prepared", "--client", "1", "--time", str(seconds),
                                "--file", script.name, url)
            written = int(sql(f"select pg_current_wal_lsn() - '{before}'::pg_lsn", url))
            appended = int(re.search(r"actually processed: (\d+)", printed)[1]) * events
            return seconds * 1e6 / appended, written / appended

        measured = {name: [] for name in CONTESTANTS}
        for _ in range(rounds):
            for name, settings in CONTESTANTS.items():
                stop()
                start(**settings)
                measured[name].append([figure for events in BATCHES for figure in append(events)])
        report.table([
            ("", *(f"{what}, batches of {events}" for events in BATCHES for what in ("µs", "bytes"))),
            *((name, *(f"{statistics.median(figures):.2f}" for figures in zip(*runs))) for name, runs in measured.items()),
        ])
