"""Crash tests: servers and databases are killed, frozen, cut off and filled up while clients write, again and again.

    Scripts/crash --cycles 500 --seed 7

Each cycle draws one or two faults. Clients write through them, and send a command again with its ID until it is
answered. When service is back, the log must have everything that was acknowledged exactly once and nothing that nobody
sent, and all answers must follow from the log. Only what a standby without the newest batches never had may be lost,
and the server must have named it. A seed always gives the same faults.
"""

import argparse
import collections
import contextlib
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

import tiffin
from tiffin import (
    AWAY, RECOVERED_SECONDS, Client, ReplyError, Server, SmallDisk, fresh_data_dir, item_document, postmaster,
    private_cluster, put_open_outlet, replica_of, run_tiffin, section_document, sql, wait_until)

CUSTOMERS = 4
ITEMS = [f"dish-{n}" for n in range(8)]
# Nobody orders the last one.
MENU = [*ITEMS, "special"]
PRICE = 100
# How long a writer waits after each command. There is no need to write fast, only all the time.
PACE_SECONDS = 0.003
# A server that runs answers reads whatever happens to its database.
READ_SECONDS = 1.5
# A command that is not answered for so long never will be.
STUCK_SECONDS = 60
DISK_MEGABYTES = 384
CONNECTIONS = 40


class Failure(AssertionError):
    """Tiffin did not keep a promise."""


def check(condition, text):
    if not condition:
        raise Failure(text)


# --- what was sent, and what the log says


@dataclass
class Ledger:
    """What clients sent and were told, and a fold of the log."""

    # By ID: the stream, the kind and a part of the payload of the event that the command leads to.
    sent: dict = field(default_factory=dict)
    acknowledged: set = field(default_factory=set)
    # By ID: the positions of its events.
    places: dict = field(default_factory=dict)
    position: int = 0
    versions: collections.Counter = field(default_factory=collections.Counter)
    # By cart: the quantities of its items. A cart that was checked out has an order.
    carts: dict = field(default_factory=dict)
    orders: dict = field(default_factory=dict)
    prices: dict = field(default_factory=dict)

    def read(self, client):
        """Reads what the log has got since, and returns the IDs and carts that it is about."""
        self.ids, self.touched = set(), set()
        while batch := client("LOG.READ", "FROM", self.position + 1, "COUNT", 1000):
            for event in map(json.loads, batch):
                self._take(event)
        return self.ids, self.touched

    def _take(self, event):
        stream, kind, payload = event["stream"], event["kind"], event["payload"]
        check(event["position"] == self.position + 1, f"position {event['position']} follows {self.position}")
        self.position += 1
        check(event["version"] == self.versions[stream] + 1, f"{stream} continues with version {event['version']}")
        self.versions[stream] += 1
        identity = event["metadata"].get("id")
        check(identity in self.sent, f"nobody sent {event}")
        self.places.setdefault(identity, []).append(event["position"])
        self.ids.add(identity)
        expected = self.sent[identity]
        if kind == "order.placed":
            self.orders[payload["cart"]] = payload["lines"]
            kind, stream = "cart.checkedOut", f"cart-{payload['cart']}"
        if expected is None:
            return
        check((stream, kind) == expected[:2], f"{identity} was {expected}, and led to {event}")
        check(payload.items() >= expected[2].items(), f"{identity} was {expected}, and led to {event}")
        if kind == "cart.itemAdded":
            cart = stream.removeprefix("cart-")
            self.carts.setdefault(cart, {})[payload["item"]] = payload["quantity"]
            self.touched.add(cart)
        elif kind == "menu.itemRepriced":
            self.prices[payload["id"]] = payload["price"]

    def events_of(self, identity):
        """How many events a command leads to: an order is two, one after the other."""
        return 2 if self.sent[identity] and self.sent[identity][1] == "cart.checkedOut" else 1

    def forget(self):
        """The log is to be read again from its beginning."""
        before, self.places = self.places, {}
        self.position, self.versions = 0, collections.Counter()
        self.carts, self.orders, self.prices = {}, {}, {}
        return before


class Writer(threading.Thread):
    """Sends commands one after the other, each until it is accepted."""

    def __init__(self, stage, commands):
        super().__init__(daemon=True)
        self.stage, self.commands = stage, commands
        self.client = self.failure = None
        self.acknowledged = 0

    def run(self):
        try:
            for identity, command, event in self.commands:
                if self.stage.is_quiet.is_set():
                    break
                self.stage.ledger.sent[identity] = event
                if self.send([*command, "ID", identity]):
                    self.stage.ledger.acknowledged.add(identity)
                    self.acknowledged += 1
                time.sleep(PACE_SECONDS)
        except Exception as failure:
            self.failure = failure
        finally:
            if self.client:
                self.client.close()

    def send(self, command):
        began = time.monotonic()
        while True:
            try:
                if not self.client:
                    self.client = Client(self.stage.server.port)
                reply = self.client.pipeline([command])[0]
                if not isinstance(reply, ReplyError):
                    return True
                if reply.code not in AWAY:
                    # What the decision rests on may be lost with the primary.
                    check(self.stage.may_lose, f"{command} was answered {reply}")
                    return False
            except (EOFError, OSError) as error:
                reply = error
                if self.client:
                    self.client.close()
                self.client = None
            check(time.monotonic() - began < STUCK_SECONDS, f"{command} was never accepted, and last got {reply!r}")
            time.sleep(0.01)

    def cut(self):
        with contextlib.suppress(OSError, AttributeError):
            self.client.socket.shutdown(socket.SHUT_RDWR)


def customer(prefix):
    """Fills carts and checks them out."""
    number = 0
    while True:
        number += 1
        cart = f"{prefix}-{number}"
        for item in ITEMS:
            added = ("cart-" + cart, "cart.itemAdded", {"item": item, "quantity": 2, "outlet": "kitchen"})
            yield f"{cart}-{item}", ["CART.ADD", cart, "kitchen", item, 2], added
        total = 2 * PRICE * len(ITEMS)
        yield f"{cart}-order", ["CART.CHECKOUT", cart, "TOTAL", total], ("cart-" + cart, "cart.checkedOut", {"total": total})


def merchant(prefix, first):
    """Changes a price. Nobody orders that dish, so all totals stay the same."""
    for price in range(first, first + 1_000_000):
        repriced = ("menu-kitchen", "menu.itemRepriced", {"id": "special", "price": price})
        yield f"{prefix}-{price}", ["MENU.ITEM.PRICE", "kitchen", "special", price], repriced


# --- where it happens


THE_SERVERS = "from pg_stat_activity where application_name like 'tiffin %'"


class Stage:
    """A server with its database, and everything that was written to it."""

    def __init__(self):
        self.ledger = Ledger()
        self.is_quiet = threading.Event()
        self.may_lose = False
        self.writers = []
        self.lost = 0

    def open(self):
        """The outlet that everything is ordered from."""
        menu = [section_document("all", [item_document(item, PRICE) for item in MENU])]
        with self.server.client() as client:
            put_open_outlet(client, "kitchen", menu)
            # These were sent without an ID.
            self.ledger.sent[None] = None
            self.ledger.read(client)

    def backends(self):
        """The processes that serve the server's connections."""
        return [int(pid) for pid in self.sql(f"select pid {THE_SERVERS} order by application_name, pid").split()]

    def sql(self, statement):
        """Executes a statement; without effect while the database is away."""
        try:
            return sql(statement, self.address())
        except (RuntimeError, OSError, IndexError):
            return ""

    def start_writing(self, cycle):
        self.is_quiet.clear()
        commands = [customer(f"c{cycle}-{n}") for n in range(CUSTOMERS)] + [merchant(f"m{cycle}", 1_000 * cycle)]
        self.writers = [Writer(self, each) for each in commands]
        for writer in self.writers:
            writer.start()

    def stop_writing(self):
        """Waits until every command is answered, and returns how many were acknowledged."""
        self.is_quiet.set()
        for writer in self.writers:
            writer.join(STUCK_SECONDS)
            check(not writer.is_alive(), "a writer waits for ever")
            if writer.failure:
                raise writer.failure
        return sum(writer.acknowledged for writer in self.writers)

    def wait_until_served(self, identity):
        """Until a command of a new client is accepted."""
        self.ledger.sent[identity] = ("cart-" + identity, "cart.itemAdded", {"item": ITEMS[0], "quantity": 1})
        probe = Writer(self, [])
        probe.send(["CART.ADD", identity, "kitchen", ITEMS[0], 1, "ID", identity])
        probe.client.close()
        self.ledger.acknowledged.add(identity)

    def check_reads(self):
        """Reads are answered from memory."""
        began = time.monotonic()
        with self.server.client() as client:
            check(client("OUTLET.HOME", "kitchen"), "the home is gone")
        seconds = time.monotonic() - began
        check(seconds < READ_SECONDS, f"a read was answered after {seconds:.1f} s")

    def verify(self):
        """The log has what was acknowledged, and answers follow from it."""
        ledger = self.ledger
        with self.server.client() as client:
            before = ledger.forget() if self.may_lose else None
            ids, carts = ledger.read(client)
            if before is not None:
                self._check_lost(before, client)
            for identity in ids - {None}:
                places = ledger.places[identity]
                check(places == list(range(places[0], places[0] + ledger.events_of(identity))),
                      f"{identity} is at {places}")
            missing = {identity for identity in ledger.acknowledged if identity not in ledger.places}
            check(not missing, f"acknowledged and not in the log: {sorted(missing)[:5]}")
            carts = sorted(carts)
            found = client.pipeline([(name, cart) for cart in carts for name in ("CART.GET", "CART.COUNT")])
            for index, cart in enumerate(carts):
                document, count = found[2 * index:2 * index + 2]
                check(not isinstance(document, ReplyError), f"{cart} is answered {document}")
                lines = {line["item"]: line["quantity"] for line in json.loads(document)["lines"]}
                check(lines == ledger.carts[cart], f"{cart} has {lines}, and the log says {ledger.carts[cart]}")
                expected = 0 if cart in ledger.orders else sum(lines.values())
                check(count == expected, f"{cart} counts {count}, and the log says {expected}")
            home = client.json("OUTLET.HOME", "kitchen")
            prices = [item["model"]["price"] for item in home["sections"][0]["items"]]
            expected = [ledger.prices.get(item, PRICE) for item in MENU]
            check(prices == expected, f"the home has the prices {prices}, and the log says {expected}")

    def _check_lost(self, before, client):
        """What is lost was named."""
        ledger = self.ledger
        named = [range(int(first), int(last) + 1) for first, last in re.findall(
            r"has lost what was read from position (\d+) to (\d+)", self.server.output())]
        counted = re.search(rb"partition0_lost_events:(\d+)", client("INFO", "log"))
        check(int(counted[1]) == sum(map(len, named)), f"{named} was named lost, and {counted[1]} events were counted")
        lost = {identity for identity in ledger.acknowledged if identity not in ledger.places}
        for identity in lost:
            for position in before.get(identity, []):
                check(any(position in positions for positions in named), f"{identity} is lost, and {position} not named")
        check(len(lost) <= sum(map(len, named)), f"{len(lost)} are lost, and {named} was named")
        ledger.acknowledged -= lost
        self.lost += len(lost)

    def audit(self):
        verdict = run_tiffin("audit", "--database", self.address())
        check(verdict.returncode == 0, f"the audit found:\n{verdict.stdout}{verdict.stderr}")


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
        wait_until(lambda: not file.exists(), 20, "the end of the primary")
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


def send_signal(number, *pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


@contextlib.contextmanager
def frozen(*pids):
    send_signal(signal.SIGSTOP, *pids)
    try:
        yield
    finally:
        send_signal(signal.SIGCONT, *pids)


@fault("server killed", Private, companion=[Private, Pair])
def server_killed(stage, chance):
    stage.server.kill()
    stage.server.port = None
    yield
    stage.kills = 0
    stage.server.start()


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
    wait_until(lambda: len(held) > CONNECTIONS // 2, 20, "most connections")
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
    wait_until(lambda: sql(state, stage.primary) == "1", 20, "a synchronous standby")
    # What was answered before has to get there, too.
    wait_until(lambda: head_of(stage.standby) >= stage.ledger.position, 20, "the standby")
    yield
    stage.promote()


def head_of(url):
    return int(sql("select position from tiffin.log_head", url))


@fault("asynchronous standby promoted", Pair)
def asynchronous_standby_promoted(stage, chance):
    wait_until(lambda: head_of(stage.standby) >= stage.ledger.position, 20, "the standby")
    sql("alter system set primary_conninfo = ''", stage.standby)
    sql("select pg_reload_conf()", stage.standby)
    wait_until(lambda: sql("select count(*) from pg_stat_wal_receiver", stage.standby) == "0", 20, "the standby's end")
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
    {postmaster_frozen, connections_cut},
]
ENDS_LAST = [synchronous_standby_promoted, asynchronous_standby_promoted, server_killed]
# Nobody can tell when a read is answered while the server is away.
SILENT = {server_killed, server_frozen}


# --- cycles


class Deck:
    """All faults in a random order, again and again: so all of them happen about as often."""

    def __init__(self, seed, stages):
        self.seed, self.stages = seed, stages
        self.cards, self.rounds = [], 0

    def draw(self):
        if not self.cards:
            self.rounds += 1
            self.cards = [(stage, each) for stage in self.stages for each in FAULTS[type(stage)] if each.needs(stage)]
            random.Random(f"{self.seed}/deck/{self.rounds}").shuffle(self.cards)
        return self.cards.pop()


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
        deck, results = Deck(seed, stages), []
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


def summarize(results, tell=print):
    def row(name, those):
        tell(f"| {name} | {len(those)} | {sum(each.acknowledged for each in those):,} | {sum(each.lost for each in those)} "
             f"| 0 | 0 | {max(each.seconds for each in those):.2f} s |")

    tell("\n| fault | cycles | acknowledged | lost and named | lost unnamed | applied twice | slowest return |")
    tell("| --- | --- | --- | --- | --- | --- | --- |")
    for name in sorted({name for result in results for name in result.faults}):
        row(name, [result for result in results if name in result.faults])
    row("all cycles", results)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cycles", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options = parser.parse_args()
    tell = lambda line: print(line, flush=True)
    tell(f"seed {options.seed}")
    summarize(run(options.cycles, options.seed, tell=tell), tell)


if __name__ == "__main__":
    main()
