"""What partitions cost one server: durable changes of carts with 1 to 256 of them, in turn."""

import contextlib
import statistics

from harness import per_second, put_kitchen, redis_benchmark
from tiffin import Server, fresh_database, run_tiffin, sql

PARTITIONS = (1, 8, 64, 256)
CONNECTIONS = (96, 256, 768)
KEYS = 100_000
LOAD = ["CART.ADD", "cart-__rand_int__", "kitchen", "dish-0", "1"]


@contextlib.contextmanager
def partitioned_database(partitions):
    with fresh_database() as url:
        if (migration := run_tiffin("migrate", "--database", url, "--partitions", str(partitions))).returncode:
            raise RuntimeError(migration.stderr)
        yield url


def rates(url, requests, connections=CONNECTIONS) -> tuple:
    """Requests per second with each number of clients, and how many connections the server has then."""
    # A server with many partitions is not idle when nobody writes: the others do not run meanwhile.
    with Server(database=url) as server:
        with server.client() as client:
            put_kitchen(client)
        redis_benchmark(server.port, requests // 10, connections[0], 1, LOAD, KEYS)
        measured = [redis_benchmark(server.port, requests, clients, 1, LOAD, KEYS) for clients in connections]
        used = sql("select count(*) from pg_stat_activity where datname = current_database() "
                   "and application_name like 'tiffin %'", url)
    return measured, int(used)


def measure_partitions(report, rounds, quick):
    requests = 10_000 if quick else 60_000
    report.title(f"Durable cart changes by partitions: {requests:,} requests a run, {KEYS:,} carts")
    found = {partitions: [] for partitions in PARTITIONS}
    with contextlib.ExitStack() as stack:
        urls = {partitions: stack.enter_context(partitioned_database(partitions)) for partitions in PARTITIONS}
        for _ in range(rounds):
            for partitions, url in urls.items():
                found[partitions].append(rates(url, requests))
    medians = {partitions: [statistics.median(values) for values in zip(*(measured for measured, _ in runs))]
               for partitions, runs in found.items()}
    report.table([("partitions", *(f"{clients} clients" for clients in CONNECTIONS), "connections")] + [
        (str(partitions), *(f"{per_second(rate)} ({rate / one:.2f})" for rate, one in zip(medians[partitions], medians[1])),
         str(max(used for _, used in found[partitions]))) for partitions in PARTITIONS])
    report.verdict("8 partitions to one, 96 clients", medians[8][0] / medians[1][0], 0.8)
    report.verdict("256 partitions to one, 256 clients", medians[256][1] / medians[1][1], 0.6)
    report.verdict("connections with 256 partitions", max(used for _, used in found[256]), 10, at_least=False)
