"""Crash tests: servers and databases are killed, frozen, cut off and filled up while clients write, again and again.

    Scripts/crash --cycles 500 --seed 7

Each cycle draws one or two faults. Clients write through them, and send a command again with its ID until it is
answered. When service is back, the log must have everything that was acknowledged exactly once and nothing that nobody
sent, and all answers must follow from the log. Only what a standby without the newest batches never had may be lost,
and the server must have named it. A seed always gives the same faults.
"""

import argparse
import contextlib
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import tiffin
import trials
from tiffin import (
    RECOVERED_SECONDS, Server, SmallDisk, fresh_data_dir, postmaster, private_cluster, replica_of, sql, wait_until)
from trials import Deck, check, frozen, limit_memory, send_signal, summarize

# A server that runs answers reads whatever happens to its database.
READ_SECONDS = 1.5
DISK_MEGABYTES = 384
CONNECTIONS = 40


# --- where it happens


THE_SERVERS = "from pg_stat_activity where application_name like 'tiffin %'"


class Stage(trials.Stage):
    """A server with its database, and everything that was written to it."""

    def servers(self):
        return [self.server]

    def backends(self):
        """The processes that serve the server's connections."""
        return [int(pid) for pid in self.sql(f"select pid {THE_SERVERS} order by application_name, pid").split()]

    def sql(self, statement):
        """Executes a statement; without effect while the database is away."""
        try:
            return sql(statement, self.address())
        except (RuntimeError, OSError, IndexError):
            return ""

    def check_reads(self):
        """Reads are answered from memory."""
        began = time.monotonic()
        with self.server.client() as client:
            check(client("OUTLET.HOME", "kitchen"), "the home is gone")
        seconds = time.monotonic() - began
        check(seconds < READ_SECONDS, f"a read was answered after {seconds:.1f} s")


class Private(Stage):
    """A server with its private PostgreSQL, on a small disk where one can be mounted."""

    def __init__(self, stack, environment):
        super().__init__()
        self.disk = stack.enter_context(SmallDisk.mounted(DISK_MEGABYTES))
        self.folder = stack.enter_context(fresh_data_dir(self.disk and self.disk.path))
        self.server = Server(data_dir=self.folder, environment=environment)
        stack.callback(self.server.kill)
        self.server.start()
        self.kills = 0
        self.open()

    def address(self):
        return tiffin.private_address(self.folder)

    def postgres(self):
        """The processes of PostgreSQL, its postmaster first; none while it is away."""
        try:
            parent = postmaster(self.folder)
        except (OSError, ValueError):
            return []
        children = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True).stdout.split()
        return [parent, *map(int, children)]

    def prepare(self):
        # A PostgreSQL that dies five times within a minute is given up, and should be.
        if self.kills >= 3:
            check(self.server.stop() == 0, self.server.output())
            self.server.start()
            self.kills = 0

    def restore(self):
        pass


class Pair(Stage):
    """A server with a primary and a standby."""

    def __init__(self, stack, environment):
        super().__init__()
        self.environment = environment
        self.clusters = [contextlib.ExitStack() for _ in range(2)]
        for cluster in self.clusters:
            stack.push(cluster)
        self.primary = self.clusters[0].enter_context(private_cluster(max_connections=CONNECTIONS))[0]
        self.server = None
        stack.callback(lambda: self.server.kill())
        self._follow()
        self.open()

    def _follow(self):
        """Makes a standby, and a server that knows both."""
        self.standby = self.clusters[1].enter_context(replica_of(self.primary))
        hosts = ",".join(urlsplit(url).netloc.partition("@")[2] for url in (self.primary, self.standby))
        database = f"postgres://postgres@{hosts}/postgres?target_session_attrs=read-write"
        self.server = Server(database=database, environment=self.environment).start()
        self.is_promoted = False

    def address(self):
        return self.standby if self.is_promoted else self.primary

    def prepare(self):
        pass

    def promote(self):
        """The primary dies, and the standby takes over."""
        file = Path(sql("show data_directory", self.primary)) / "postmaster.pid"
        os.kill(int(file.read_text().split("\n", 1)[0]), signal.SIGQUIT)
        wait_until(lambda: not file.exists(), "the end of the primary")
        check(sql("select pg_promote()", self.standby) == "t", "the standby was not promoted")
        self.is_promoted = True

    def restore(self):
        """After a promotion there is a new standby."""
        if not self.is_promoted:
            return
        check(self.server.stop() == 0, self.server.output())
        self.clusters[0].close()
        self.clusters.reverse()
        self.primary = self.standby
        self.may_lose = False
        self._follow()


# --- faults

# A fault is a generator: it strikes, yields, and ends.
FAULTS = {Private: [], Pair: []}
# What else may happen meanwhile.
COMPANIONS = {Private: [], Pair: []}


def fault(name, *stages, companion=(), needs=lambda stage: True):
    def register(strike):
        strike.title, strike.needs = name, needs
        for stage in stages:
            FAULTS[stage].append(strike)
        for stage in companion:
            COMPANIONS[stage].append(strike)
        return strike
    return register


@fault("server killed", Private, companion=[Private, Pair])
def server_killed(stage, chance):
    stage.server.kill()
    stage.server.port = None
    yield
    stage.kills = 0
    stage.server.start()


@fault("server out of memory", Private, needs=lambda stage: sys.platform == "linux")
def server_out_of_memory(stage, chance):
    """It ends at the first piece that it cannot get, as every program in Swift does. Strangers ask for more and more."""
    limit_memory(stage.server.process.pid, chance.randint(0, 256) << 12)
    with contextlib.ExitStack() as strangers:
        for _ in range(20):
            with contextlib.suppress(OSError):
                stranger = strangers.enter_context(socket.create_connection(("127.0.0.1", stage.server.port), 1))
                stranger.sendall(b"*2\r\n$4\r\nPING\r\n$900000\r\n" + bytes(800_000))
        yield
    # Whether or not it has ended by itself.
    for _ in server_killed(stage, chance):
        pass


@fault("server frozen", Private, companion=[Private, Pair])
def server_frozen(stage, chance):
    with frozen(stage.server.process.pid):
        yield


@fault("PostgreSQL killed", Private, companion=[Private])
def postgres_killed(stage, chance):
    send_signal(signal.SIGKILL, *stage.postgres()[:1])
    stage.kills += 1
    yield


def one_of(stage, chance):
    """A process that serves a connection of the server, if there is one."""
    place, pids = chance.random(), stage.backends()
    return pids[int(place * len(pids)):][:1]


@fault("backend killed", Private)
def backend_killed(stage, chance):
    send_signal(signal.SIGKILL, *one_of(stage, chance))
    yield


@fault("PostgreSQL frozen", Private)
def postgres_frozen(stage, chance):
    with frozen(*stage.postgres()):
        yield


@fault("postmaster frozen", Private)
def postmaster_frozen(stage, chance):
    with frozen(*stage.postgres()[:1]):
        yield


@fault("backend frozen", Private)
def backend_frozen(stage, chance):
    with frozen(*one_of(stage, chance)):
        yield


@fault("database connections cut", Private, companion=[Private])
def connections_cut(stage, chance):
    for _ in range(chance.randint(1, 4)):
        stage.sql(f"select pg_terminate_backend(pid) {THE_SERVERS}")
        time.sleep(chance.uniform(0, 0.1))
    yield


@fault("client connections cut", Private, companion=[Private, Pair])
def clients_cut(stage, chance):
    for _ in range(chance.randint(1, 4)):
        for writer in stage.writers:
            writer.cut()
        time.sleep(chance.uniform(0, 0.1))
    yield


@fault("disk full", Private, needs=lambda stage: stage.disk)
def disk_full(stage, chance):
    stage.disk.fill()
    yield
    stage.disk.free()


@fault("no room for PostgreSQL's log", Private, needs=lambda stage: stage.disk)
def no_room_for_log(stage, chance):
    stage.disk.fill()
    # It may be away already.
    with contextlib.suppress(OSError, IndexError):
        tiffin.end_for_lack_of_room(stage.address())
    yield
    stage.disk.free()


@fault("database read-only", Pair)
def read_only(stage, chance):
    sql("alter system set default_transaction_read_only = on", stage.primary)
    sql("select pg_reload_conf()", stage.primary)
    yield
    sql("alter system reset default_transaction_read_only", stage.primary)
    sql("select pg_reload_conf()", stage.primary)


@fault("no connections left", Pair)
def no_connections_left(stage, chance):
    held, is_over = [], threading.Event()

    def take_all():
        while not is_over.is_set():
            if connection := raw_connection(stage.primary):
                held.append(connection)
            else:
                is_over.wait(0.005)

    taker = threading.Thread(target=take_all)
    taker.start()
    wait_until(lambda: len(held) > CONNECTIONS // 2, "most connections")
    query = f"select pg_terminate_backend(pid) {THE_SERVERS}\0".encode()
    held[0].sendall(b"Q" + struct.pack("!I", len(query) + 4) + query)
    yield
    is_over.set()
    taker.join()
    for connection in held:
        connection.close()


def raw_connection(url):
    """A connection to PostgreSQL that does nothing; None if it is refused. A hundred of psql would take too long."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(unquote(urlsplit(url).netloc.partition("@")[2]) + "/.s.PGSQL.5432")
    words = b"user\0postgres\0database\0postgres\0\0"
    connection.sendall(struct.pack("!II", len(words) + 8, 3 << 16) + words)
    if connection.recv(1) == b"R":
        return connection
    connection.close()
    return None


@fault("synchronous standby promoted", Pair)
def synchronous_standby_promoted(stage, chance):
    sql("alter system set synchronous_standby_names = '*'", stage.primary)
    sql("select pg_reload_conf()", stage.primary)
    state = "select count(*) from pg_stat_replication where sync_state = 'sync'"
    wait_until(lambda: sql(state, stage.primary) == "1", "a synchronous standby")
    # What was answered before has to get there, too.
    wait_until(lambda: head_of(stage.standby) >= stage.ledger.positions[0], "the standby")
    yield
    stage.promote()


def head_of(url):
    return int(sql("select position from tiffin.log_head", url))


@fault("asynchronous standby promoted", Pair)
def asynchronous_standby_promoted(stage, chance):
    wait_until(lambda: head_of(stage.standby) >= stage.ledger.positions[0], "the standby")
    sql("alter system set primary_conninfo = ''", stage.standby)
    sql("select pg_reload_conf()", stage.standby)
    wait_until(lambda: sql("select count(*) from pg_stat_wal_receiver", stage.standby) == "0", "the standby's end")
    stage.may_lose = True
    yield
    # Where everything is that will be lost.
    with stage.server.client() as client:
        stage.ledger.read(client)
    stage.promote()


# Faults that make no sense together: a server that was killed cannot name what is lost, and a PostgreSQL that is frozen
# cuts no connections.
SENSELESS = [
    {asynchronous_standby_promoted, server_killed}, {postgres_frozen, connections_cut},
    {postmaster_frozen, connections_cut}, {server_out_of_memory, server_killed}, {server_out_of_memory, server_frozen},
]
ENDS_LAST = [synchronous_standby_promoted, asynchronous_standby_promoted, server_killed, server_out_of_memory]
# Nobody can tell when a read is answered while the server is away.
SILENT = {server_killed, server_frozen, server_out_of_memory}


# --- cycles


@dataclass
class Result:
    """What happened in a cycle."""

    faults: list
    acknowledged: int
    lost: int
    # From the end of the fault that ended last, to an accepted write of a new client.
    seconds: float


def draw_faults(stage, first, chance):
    """The fault, perhaps with another one."""
    faults = [first]
    if chance.random() < 1 / 3:
        second = chance.choice(COMPANIONS[type(stage)])
        if second is not first and {first, second} not in SENSELESS:
            faults.append(second)
            chance.shuffle(faults)
    return faults


def run_cycle(stage, faults, cycle, chance, within):
    # Long enough that the server gives up waiting for an answer of its database, or not.
    hold = chance.uniform(2.2, 3.2) if chance.random() < 0.15 else chance.uniform(0.05, 0.4)
    lost = stage.lost
    stage.prepare()
    stage.start_writing(cycle)
    began = {}
    try:
        for each in faults:
            time.sleep(chance.uniform(0.02, 0.2))
            began[each] = each(stage, chance)
            next(began[each])
        time.sleep(hold)
        if not SILENT & set(faults):
            stage.check_reads()
    finally:
        for each in sorted(began, key=lambda each: ENDS_LAST.index(each) if each in ENDS_LAST else -1):
            ended = time.monotonic()
            for _ in began[each]:
                pass
    stage.wait_until_served(f"probe-{cycle}")
    seconds = time.monotonic() - ended
    check(seconds < within, f"service was back only after {seconds:.1f} s")
    acknowledged = stage.stop_writing() + 1
    stage.verify()
    stage.restore()
    return Result([each.title for each in faults], acknowledged, stage.lost - lost, seconds)


def run(cycles, seed, within=RECOVERED_SECONDS, tell=print, stages=(Private, Pair), environment=None):
    """The results of so many cycles. A failure names its seed and cycle."""
    with contextlib.ExitStack() as stack:
        stages = [stage(stack, environment) for stage in stages]
        if not stages[0].disk:
            tell("a full disk is left out: only root can mount a small one")
        cards = [(stage, each) for stage in stages for each in FAULTS[type(stage)] if each.needs(stage)]
        deck, results = Deck(seed, cards), []
        for cycle in range(1, cycles + 1):
            stage, first = deck.draw()
            chance = random.Random(f"{seed}/{cycle}")
            faults = draw_faults(stage, first, chance)
            names = " + ".join(each.title for each in faults)
            try:
                result = run_cycle(stage, faults, cycle, chance, within)
            except Exception as error:
                error.add_note(f"seed {seed}, cycle {cycle}, {names}; the server said:\n{stage.server.output()[-4000:]}")
                raise
            results.append(result)
            tell(f"{cycle:4}  {names:54} {result.acknowledged:6} acknowledged {result.seconds:6.2f} s"
                 + (f", {result.lost} lost and named" if result.lost else ""))
        for stage in stages:
            stage.audit()
    return results


COLUMNS = {"slowest return": lambda those: f"{max(each.seconds for each in those):.2f} s"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cycles", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options = parser.parse_args()
    tell = lambda line: print(line, flush=True)
    tell(f"seed {options.seed}")
    summarize(run(options.cycles, options.seed, tell=tell), COLUMNS, tell)


if __name__ == "__main__":
    main()
