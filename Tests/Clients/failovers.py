"""Failover tests: three servers on a highly available PostgreSQL, of which each part is lost in turn, while clients write.

    Scripts/failovers --cycles 50 --seed 7

Each cycle draws a fault. Writers ask any server, and send a command again with its ID, to any server, until it is
accepted. When all is well again, the log must have everything that was acknowledged exactly once and nothing that nobody
sent, all servers must answer what follows from it, and audits must be sound. A seed always gives the same faults.
"""

import argparse
import concurrent.futures
import contextlib
import json
import random
import signal
import statistics
import sys
import time
from dataclasses import dataclass

import trials
from patroni import ELECTED_SECONDS, Patroni, free_ports
from tiffin import RECOVERED_SECONDS, Client, ReplyError, Server, run_tiffin, sql, wait_until
from trials import Deck, check, frozen, lost_positions, send_signal, summarize

SERVERS = 3
PARTITIONS = 8
# How long clients write before and after a fault.
QUIET_SECONDS = 0.5


# --- where it happens


class Fleet(trials.Stage):
    """Servers on a PostgreSQL with nodes, and everything that was written to them."""

    # A stream remembers its last 1,024 IDs: slow enough that a command which a frozen server still holds is among them.
    pace_seconds = 0.02
    # A client that waits for longer than a server ever does asks another.
    reply_seconds = 6
    stuck_seconds = ELECTED_SECONDS + 30
    # A server that others could not reach lately is not waited for.
    news_seconds = RECOVERED_SECONDS

    def __init__(self, stack, nodes, settings):
        super().__init__(PARTITIONS)
        self.database = stack.enter_context(Patroni(nodes, settings))
        self.may_lose = not self.database.is_synchronous
        run = run_tiffin("migrate", "--database", self.address(), "--partitions", PARTITIONS)
        check(run.returncode == 0, f"{run.stdout}{run.stderr}")
        networks = [self.database.networks and self.database.networks.add() for _ in range(SERVERS)]
        self.fleet = [self.server(network, port) for network, port in zip(networks, free_ports(SERVERS), strict=True)]
        for server in self.fleet:
            stack.callback(server.kill)
            server.start()
        self.places = [(server.host, server.port) for server in self.fleet]
        # A merchant's change is answered once the others that a server knows of have read it.
        wait_until(lambda: all(self.knows_all(server) for server in self.fleet), "the servers to know each other")
        self.open()

    def server(self, network, port):
        """A server that keeps its port, as an operator does it, on a machine of its own if there is a network."""
        server = Server(
            database=self.address(), port=port,
            **({"host": network.address, "prepare": network.enter, "options": ["--protected-mode", "no"]} if network else {}))
        server.network = network
        return server

    def servers(self):
        return self.fleet

    def knows_all(self, server):
        with server.client() as client:
            return f"\r\nservers:{SERVERS}\r\n".encode() in client("INFO", "cluster")

    def address(self):
        return self.database.url

    def place(self):
        return random.choice(self.places)

    def verify(self):
        # A server that was cut off answers what it knows until it can read on, however soon its network is back.
        for place in self.places:
            wait_until(lambda: self.knows_log(*place), f"the server at {place} to read on", seconds=RECOVERED_SECONDS)
        super().verify()

    def knows_log(self, host, port):
        """Whether a server has read the log as far as it goes."""
        with Client(port, host=host) as client:
            heads = client.pipeline([("LOG.HEAD",)])[0]
            if isinstance(heads, ReplyError):
                return False
            token = ",".join("{partition}.{position}.{digest:.8}".format(**head)
                             for head in json.loads(heads) if head["position"])
            return not isinstance(client.pipeline([("AFTER", token)])[0], ReplyError)

    def audit_all(self):
        """The log is sound, and so is what each server answers."""
        with concurrent.futures.ThreadPoolExecutor(SERVERS) as pool:
            list(pool.map(lambda place: self.audit("--server", "{}:{}".format(*place)), self.places))

    def spans(self):
        return [span for writer in self.writers for span in writer.spans]


# --- faults

# A fault is a generator: it strikes, yields for as long as it lasts, and ends.
FAULTS = []
# What is drawn, too, where nodes and servers have networks of their own.
VANISHINGS = []
# What is drawn where replication is not synchronous.
LOSSES = []


def fault(name, faults=FAULTS):
    def register(strike):
        strike.title = name
        faults.append(strike)
        return strike
    return register


@fault("server killed")
def server_killed(stage, chance):
    server = chance.choice(stage.fleet)
    server.kill()
    yield chance.uniform(0.1, 3)
    server.start()


@fault("server stopped")
def server_stopped(stage, chance):
    server = chance.choice(stage.fleet)
    check(server.stop() == 0, server.output())
    yield chance.uniform(0.1, 3)
    server.start()


@fault("server frozen")
def server_frozen(stage, chance):
    with frozen(chance.choice(stage.fleet).process.pid):
        yield chance.uniform(1, 6)


@fault("server vanished", VANISHINGS)
def server_vanished(stage, chance):
    """It is cut off from clients, the others and the database, and goes on by itself until it is back."""
    with chance.choice(stage.fleet).network.vanished():
        yield chance.uniform(1, 6)


@fault("servers restarted one by one")
def servers_restarted(stage, chance):
    for server in stage.fleet:
        check(server.stop() == 0, server.output())
        server.start()
        yield 0


@fault("switchover")
def switchover(stage, chance):
    former = stage.database.switchover()
    stage.database.wait_for_another(former)
    yield 0


@fault("primary killed")
def primary_killed(stage, chance):
    former = stage.database.kill_primary()
    stage.database.wait_for_another(former)
    yield chance.uniform(0, 2)
    former.start()


@fault("primary frozen")
def primary_frozen(stage, chance):
    """It stands still for long enough that it is replaced, and then goes on."""
    former = stage.database.primary()
    with frozen(*former.pids()):
        stage.database.wait_for_another(former)
        yield chance.uniform(0, 2)


@fault("primary vanished", VANISHINGS)
def primary_vanished(stage, chance):
    """It is cut off from all others, and goes on by itself until it is back."""
    former = stage.database.primary()
    with former.network.vanished():
        stage.database.wait_for_another(former)
        yield chance.uniform(0, 5)


@fault("synchronous standby vanished", VANISHINGS)
def standby_vanished(stage, chance):
    with stage.database.synchronous_standby().network.vanished():
        yield chance.uniform(1, 10)


@fault("PostgreSQL of the primary killed")
def postgres_killed(stage, chance):
    send_signal(signal.SIGKILL, *stage.database.primary().postgres()[:1])
    yield 0


@fault("synchronous standby killed")
def standby_killed(stage, chance):
    standby = stage.database.synchronous_standby()
    standby.kill()
    yield chance.uniform(1, 6)
    standby.start()


@fault("synchronous standby frozen")
def standby_frozen(stage, chance):
    with frozen(*stage.database.synchronous_standby().pids()):
        yield chance.uniform(1, 8)


@fault("etcd frozen")
def etcd_frozen(stage, chance):
    with frozen(*stage.database.etcd.pids()):
        yield chance.uniform(1, 12)


@fault("primary killed, standbys behind", LOSSES)
def tail_lost(stage, chance):
    former = stage.database.primary()
    senders = sql("select pid from pg_stat_replication where application_name like 'node%'", former.url)
    # From now on the standbys get nothing.
    send_signal(signal.SIGSTOP, *map(int, senders.split()))
    yield chance.uniform(0.5, 2)
    former.kill()
    stage.database.wait_for_another(former)
    former.start()


# --- cycles


@dataclass
class Result:
    """What happened in a cycle."""

    faults: list
    acknowledged: int
    lost: int
    # The longest time in which no server accepted a write.
    pause: float
    # The longest time that a writer took to have one accepted.
    slowest: float


def run_cycle(stage, strike, cycle, chance):
    lost = stage.lost
    began = time.monotonic()
    stage.start_writing(cycle)
    time.sleep(QUIET_SECONDS)
    for seconds in strike(stage, chance):
        time.sleep(seconds)
    stage.wait_until_served(f"probe-{cycle}")
    stage.database.wait_until_whole()
    time.sleep(QUIET_SECONDS)
    acknowledged = stage.stop_writing() + 1
    ends = sorted([began, *(end for _, end in stage.spans())])
    stage.verify()
    if stage.lost > lost:
        # Servers read what others decided within a fifth of a second, so each had read some of what is lost.
        unaware = [server.output() for server, told in zip(stage.fleet, stage.told) if not lost_positions(server)[told:]]
        check(not unaware, "\n".join(["servers did not notice the loss:", *unaware]))
    stage.audit_all()
    return Result(
        [strike.title], acknowledged, stage.lost - lost, max(later - earlier for earlier, later in zip(ends, ends[1:])),
        max(end - start for start, end in stage.spans()))


def run(cycles, seed, nodes=3, settings=None, tell=print, faults=None):
    """The results of so many cycles. A failure names its seed and cycle."""
    results = []
    with contextlib.ExitStack() as stack:
        stage = Fleet(stack, nodes, settings)
        usual = FAULTS + VANISHINGS if stage.database.networks else FAULTS
        deck = Deck(seed, faults or (LOSSES if stage.may_lose else usual))
        for cycle in range(1, cycles + 1):
            strike, chance = deck.draw(), random.Random(f"{seed}/{cycle}")
            try:
                result = run_cycle(stage, strike, cycle, chance)
            except Exception as error:
                words = [f"--- server at {place}\n{server.output()[-4000:]}"
                         for place, server in zip(stage.places, stage.fleet)]
                error.add_note("\n".join([f"seed {seed}, cycle {cycle}, {strike.title}", *words, stage.database.log()]))
                raise
            results.append(result)
            tell(f"{cycle:4}  {strike.title:33} {result.acknowledged:6} acknowledged, none for {result.pause:6.2f} s, "
                 f"one after {result.slowest:6.2f} s" + (f", {result.lost} lost and named" if result.lost else ""))
    return results


COLUMNS = {
    "no write for, median": lambda those: f"{statistics.median(each.pause for each in those):.1f}",
    "no write for, worst": lambda those: f"{max(each.pause for each in those):.1f}",
    "slowest write, median": lambda those: f"{statistics.median(each.slowest for each in those):.1f}",
    "slowest write, worst": lambda those: f"{max(each.slowest for each in those):.1f}",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cycles", type=int, default=11)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--nodes", type=int, default=3, choices=[2, 3], help="of PostgreSQL (default 3)")
    parser.add_argument("--asynchronous", action="store_true", help="standbys may be behind: what is lost must be named")
    parser.add_argument("--without-failsafe", action="store_true", help="the primary steps down when etcd is away")
    parser.add_argument("--fault", action="append", help="only this fault; may be given several times")
    options = parser.parse_args()
    settings = {"failsafe_mode": not options.without_failsafe}
    if options.asynchronous:
        # However much a standby lacks, it takes over.
        settings |= {"synchronous_mode": False, "maximum_lag_on_failover": 1 << 30}
    # Whatever ends this ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    tell = lambda line: print(line, flush=True)
    tell(f"seed {options.seed}")
    known = FAULTS + VANISHINGS + LOSSES
    faults = [each for each in known if each.title in (options.fault or [])]
    if len(faults) < len(options.fault or []):
        parser.error("the faults are " + ", ".join(f"'{each.title}'" for each in known))
    results = run(options.cycles, options.seed, options.nodes, settings, tell, faults)
    summarize(results, COLUMNS, tell)


if __name__ == "__main__":
    main()
