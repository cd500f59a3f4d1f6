"""What a server has to live with: clocks that are set, a database that is administered, connections that are clogged,
and descriptors, threads and memory that run out, while clients write.

    Scripts/faults --only troubles --cycles 100 --seed 7

As in crash.py, clients send each command again with its ID until it is accepted; then the log must have all that was
acknowledged once, and all answers must follow from it. A seed always gives the same troubles.
"""

import argparse
import contextlib
import os
import random
import resource
import select
import socket
import struct
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import tiffin
import trials
from tiffin import CHECKOUT, RECOVERED_SECONDS, Server, private_cluster, sql
from trials import Deck, check, limit_memory, summarize

HOUR = 3600
THE_SERVERS = "from pg_stat_activity where application_name like 'tiffin %'"


# --- what lies between


class Proxy:
    """Passes on what clients and a server send, and holds one direction of some connections."""

    def __init__(self, listener, connect):
        self.listener, self.connect = listener, connect
        self.is_over = False
        # Each direction of each connection: open gates let pass.
        self.gates = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while not self.is_over:
            # Closing does not wake up whoever accepts.
            if not select.select([self.listener], [], [], 0.1)[0]:
                continue
            with contextlib.suppress(OSError):
                client, _ = self.listener.accept()
                try:
                    server = self.connect()
                except OSError:
                    client.close()
                    continue
                for source, target in ((client, server), (server, client)):
                    gate = threading.Event()
                    gate.set()
                    self.gates = [each for each in self.gates if each.is_alive] + [gate]
                    gate.is_alive = True
                    threading.Thread(target=self._pass, args=(source, target, gate), daemon=True).start()

    def _pass(self, source, target, gate):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                gate.wait()
                target.sendall(data)
        gate.is_alive = False
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def hold(self, chance):
        """Holds some directions, and returns how to let them go."""
        gates = [gate for gate in self.gates if gate.is_alive and chance.random() < 0.4]
        for gate in gates:
            gate.clear()
        return lambda: [gate.set() for gate in gates]

    def close(self):
        self.is_over = True
        for gate in self.gates:
            gate.set()
        self.listener.close()


def tcp_proxy(server):
    """One in front of a server, on a port of its own."""
    listener = socket.create_server(("127.0.0.1", 0))
    return Proxy(listener, lambda: socket.create_connection(("127.0.0.1", server.port), 5)), listener.getsockname()[1]


def socket_proxy(folder, real):
    """One in front of PostgreSQL, whose socket is in another folder."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/.s.PGSQL.5432")
    os.chmod(f"{folder}/.s.PGSQL.5432", 0o777)
    listener.listen(64)

    def connect():
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(f"{real}/.s.PGSQL.5432")
        return connection

    return Proxy(listener, connect)


class Preloaded:
    """A library of ours in a program that is started with this environment. Numbers in a file say what it does."""

    def __init__(self, name, variable, folder, *numbers):
        self.file = Path(folder, name)
        self.write(*numbers)
        self.object = library = CHECKOUT / ".build" / f"{name}.so"
        source = Path(__file__).with_name(f"{name}.c")
        if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
            made = f"{library}.{os.getpid()}"
            subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", made, str(source)], check=True)
            os.replace(made, library)
        self.environment = {"LD_PRELOAD": str(library), variable: str(self.file)}

    def write(self, *numbers):
        # In place: it is mapped.
        with open(self.file, "r+b" if self.file.exists() else "wb") as file:
            file.write(struct.pack(f"{len(numbers)}q", *numbers))


class WallClock(Preloaded):
    """The time of day of the program."""

    def __init__(self, folder):
        super().__init__("wallclock", "TIFFIN_WALLCLOCK", folder, 0, 0)

    def set(self, seconds, stands_still=False):
        """Sets it so many seconds ahead of the right time."""
        self.write(int(seconds * 1e9), time.time_ns() if stands_still else 0)


class Threads(Preloaded):
    """Whether the program can make threads."""

    def __init__(self, folder):
        super().__init__("threads", "TIFFIN_NO_THREADS", folder, 0)

    @contextlib.contextmanager
    def refused(self):
        self.write(1)
        try:
            yield
        finally:
            self.write(0)


# --- where it happens


class Stage(trials.Stage):
    """A server with a clock of its own, behind one proxy and in front of another."""

    # A client that waits for longer than a server ever does asks again.
    reply_seconds = 6

    def __init__(self, stack, environment):
        super().__init__()
        self.folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tiffin-troubles."))
        os.chmod(self.folder, 0o711)
        self.database, _, _ = stack.enter_context(private_cluster())
        real = self.database.partition("@")[2].partition("/")[0].replace("%2F", "/")
        self.to_database = socket_proxy(self.folder, real)
        stack.callback(self.to_database.close)
        self.clock, self.threads = WallClock(self.folder), Threads(self.folder)
        self.server = Server(
            database=f"postgres://postgres@{self.folder.replace('/', '%2F')}/postgres",
            environment={
                **self.clock.environment, **self.threads.environment,
                "LD_PRELOAD": f"{self.clock.object} {self.threads.object}", **(environment or {})})
        stack.callback(self.server.kill)
        self.server.start()
        self.to_server, self.front = tcp_proxy(self.server)
        stack.callback(self.to_server.close)
        self.open()

    def servers(self):
        return [self.server]

    def address(self):
        return self.database

    def port(self):
        return self.front

    def set_clock(self, seconds, stands_still=False):
        """Sets the server's clock, and sees that it has changed."""
        self.clock.set(seconds, stands_still)
        with self.server.client() as client:
            told = int(client("TIME")[0]) - time.time()
        check(abs(told - seconds) < 5, f"the clock was set {seconds} s ahead, and is so by {told} s")


# --- troubles

TROUBLES = []


def trouble(name):
    def register(strike):
        strike.title = name
        TROUBLES.append(strike)
        return strike
    return register


def waits(chance, least=0.2, most=2.5):
    return chance.uniform(least, most)


@trouble("clock set back an hour")
def clock_back(stage, chance):
    stage.set_clock(-HOUR)
    yield waits(chance)
    stage.set_clock(0)


@trouble("clock set forward a day")
def clock_forward(stage, chance):
    stage.set_clock(24 * HOUR)
    yield waits(chance)
    stage.set_clock(0)


@trouble("clock stands still")
def clock_stopped(stage, chance):
    stage.set_clock(0, stands_still=True)
    yield waits(chance)
    stage.set_clock(0)


@trouble("clock leaps")
def clock_leaps(stage, chance):
    for _ in range(20):
        stage.set_clock(chance.choice([-1, 1]) * 10 ** chance.uniform(-2, 4))
        yield chance.uniform(0, 0.1)
    stage.set_clock(0)


@trouble("a table locked")
def table_locked(stage, chance):
    table = chance.choice(["batches", "log_head", "customer_keys", "projection_checkpoints", "servers", "stream_index"])
    with tiffin.open_transaction(stage.database, f"lock table tiffin.{table} in access exclusive mode"):
        yield waits(chance)


@trouble("tables rewritten")
def tables_rewritten(stage, chance):
    for statement in ("vacuum full tiffin.batches", "reindex table tiffin.log_head", "vacuum full tiffin.log_head",
                      "reindex table tiffin.batches", "analyze", "checkpoint"):
        sql(statement, stage.database)
        yield chance.uniform(0, 0.1)


@trouble("connections ended one by one")
def connections_ended(stage, chance):
    for pid in sql(f"select pid {THE_SERVERS} order by application_name", stage.database).split():
        sql(f"select {chance.choice(['pg_terminate_backend', 'pg_cancel_backend'])}({pid})", stage.database)
        yield chance.uniform(0, 0.2)


@trouble("no connection allowed")
def connections_limited(stage, chance):
    """The account may have no further connection, and loses those that it has."""
    sql("alter database postgres connection limit 0", stage.database)
    sql("create role other login superuser", stage.database)
    sql("alter role postgres nosuperuser", stage.database.replace("postgres@", "other@"))
    other = stage.database.replace("postgres@", "other@")
    sql(f"select pg_terminate_backend(pid) {THE_SERVERS}", other)
    yield waits(chance)
    sql("alter role postgres superuser", other)
    sql("alter database postgres connection limit -1", other)
    sql("drop role other", stage.database)


@trouble("clients' connections clogged")
def clients_clogged(stage, chance):
    release = stage.to_server.hold(chance)
    yield waits(chance)
    release()


@trouble("the database's connections clogged")
def database_clogged(stage, chance):
    release = stage.to_database.hold(chance)
    yield waits(chance)
    release()


@trouble("no descriptors left")
def no_descriptors(stage, chance):
    """New connections come in, and the database's are cut, while there is no descriptor for another one."""
    pid = stage.server.process.pid
    limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    used = max(map(int, os.listdir(f"/proc/{pid}/fd"))) + 1
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + chance.randint(0, 3), limits[1]))
    strangers = []
    try:
        for _ in range(40):
            with contextlib.suppress(OSError):
                strangers.append(socket.create_connection(("127.0.0.1", stage.server.port), 1))
        sql(f"select pg_terminate_backend(pid) {THE_SERVERS}", stage.database)
        yield waits(chance, most=1.5)
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
        for stranger in strangers:
            stranger.close()


@trouble("no thread to be had")
def no_threads(stage, chance):
    """While whatever needs one has to be done again: connections to the database, and a checkpoint."""
    with stage.threads.refused():
        sql(f"select pg_terminate_backend(pid) {THE_SERVERS}", stage.database)
        yield waits(chance)


@trouble("no memory for the database")
def no_memory_for_database(stage, chance):
    """The processes of PostgreSQL that serve the server get none, or hardly any, while they are new and want more."""
    sql(f"select pg_terminate_backend(pid) {THE_SERVERS}", stage.database)
    time.sleep(chance.uniform(0.01, 0.1))
    pids = [int(pid) for pid in sql(f"select pid {THE_SERVERS}", stage.database).split()]
    for pid in pids:
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            limit_memory(pid, chance.randint(0, 64) << 12)
    yield waits(chance)
    for pid in pids:
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            limit_memory(pid, None)


# --- cycles


@dataclass
class Result:
    """What happened in a cycle."""

    faults: list
    acknowledged: int
    lost: int
    # From the end of the trouble to an accepted write of a new client.
    seconds: float


def run_cycle(stage, strike, cycle, chance, within):
    stage.start_writing(cycle)
    time.sleep(chance.uniform(0.05, 0.3))
    for seconds in strike(stage, chance):
        time.sleep(seconds)
    ended = time.monotonic()
    stage.wait_until_served(f"probe-{cycle}")
    seconds = time.monotonic() - ended
    check(seconds < within, f"service was back only after {seconds:.1f} s")
    acknowledged = stage.stop_writing() + 1
    check(stage.server.process.poll() is None, "the server has ended")
    stage.verify()
    return Result([strike.title], acknowledged, 0, seconds)


def run(cycles, seed, within=RECOVERED_SECONDS, tell=print, troubles=TROUBLES, environment=None):
    """The results of so many cycles. A failure names its seed and cycle."""
    deck, results = Deck(seed, troubles), []
    with contextlib.ExitStack() as stack:
        stage = Stage(stack, environment)
        for cycle in range(1, cycles + 1):
            strike = deck.draw()
            try:
                result = run_cycle(stage, strike, cycle, random.Random(f"{seed}/{cycle}"), within)
            except Exception as error:
                error.add_note(f"seed {seed}, cycle {cycle}, {strike.title}; the server said:\n{stage.server.output()[-4000:]}")
                raise
            results.append(result)
            tell(f"{cycle:4}  {strike.title:40} {result.acknowledged:6} acknowledged {result.seconds:6.2f} s")
        stage.audit()
    return results


COLUMNS = {"slowest return": lambda those: f"{max(each.seconds for each in those):.2f} s"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cycles", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options = parser.parse_args()
    tell = lambda line: print(line, flush=True)
    summarize(run(options.cycles, options.seed, tell=tell), COLUMNS, tell)


if __name__ == "__main__":
    main()
