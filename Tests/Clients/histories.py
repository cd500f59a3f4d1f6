"""Histories: what several clients of several servers were answered under faults has to be linearizable.

    Scripts/faults --only histories --cycles 100 --seed 7

Three servers share a log on a PostgreSQL of their own. Clients add to a few carts, each of them at any server, also with
a VERSION; they count portions and check carts out that take of them; and they read all that, at a server that only
follows with a TOKEN of what they wrote. A command is sent once. If it is not answered, or UNKNOWN, its outcome stays
open. For each cart and each counted item, linearizability.py looks for one order that explains all answers.
"""

import argparse
import contextlib
import json
import math
import random
import threading
import time
from dataclasses import dataclass, field

import tiffin
import trials
from linearizability import Operation, explain
from tiffin import Client, ReplyError, Server, item_document, private_cluster, put_open_outlet, run_tiffin, \
    section_document, sql, wait_until
from trials import Deck, check

SERVERS, CLIENTS, PARTITIONS = 3, 4, 4
CARTS, ITEMS = 2, 1
# So many operations of a client in a cycle, with a pause between them.
OPERATIONS, PAUSE_SECONDS = 22, 0.02
REPLY_SECONDS = 6
# What is answered where there is nothing: None says that there was no answer.
NOTHING = "nothing"


# --- the objects, as anybody would write them who has read docs/reference


def cart(state, call):
    """The quantities of a cart's lines, and its version."""
    lines, version = state
    kind, *words = call
    if kind == "get":
        return state, (lines, version)
    if kind == "count":
        return state, sum(quantity for _, quantity in lines)
    item, quantity, expected = words
    if expected is not None and expected != version:
        return state, ("CONFLICT", version)
    after = dict(lines)
    after[item] = after.get(item, 0) + quantity
    lines = tuple(sorted(after.items()))
    return (lines, version + 1), sum(quantity for _, quantity in lines)


def supply(left, call):
    """How many portions are left; None where nobody has counted them."""
    kind, *words = call
    if kind == "left":
        return left, left
    if kind == "set":
        return words[0], "done"
    if kind == "add":
        return left + words[0], "done"
    # Whoever takes the last ones does, and whoever finds too few takes none.
    return (left - words[0], "done") if words[0] <= left else (left, "SOLDOUT")


# --- clients


@dataclass
class History:
    """What was asked and answered, by the cart or item that it was about."""

    operations: dict = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, key, operation):
        with self.lock:
            self.operations.setdefault(key, []).append(operation)

    def check(self):
        for (kind, name), operations in self.operations.items():
            apply, start = (cart, ((), 0)) if kind == "cart" else (supply, 5)
            longest = explain(operations, start, apply)
            if longest is not None:
                raise trials.Failure(f"no order explains what was answered about {kind} {name}:\n" + tell(operations)
                                     + "\nThe longest part that has one:\n" + tell(longest))

    def count(self):
        operations = [each for those in self.operations.values() for each in those]
        return len(operations), sum(each.is_open for each in operations)


def tell(operations):
    first = min(each.asked for each in operations)
    return "\n".join(
        f"  {each.asked - first:8.4f} to {'never   ' if each.is_open else f'{each.answered - first:8.4f}'} {each.call} "
        f"-> {each.reply} at {each.where}" for each in operations)


class Person(threading.Thread):
    """Sends commands one after the other, each once and to any server."""

    def __init__(self, stage, history, cycle, number, chance):
        super().__init__(daemon=True)
        self.stage, self.history, self.cycle, self.chance = stage, history, cycle, chance
        self.name = f"{cycle}-{number}"
        self.clients, self.failure = {}, None
        self.ready = 0

    def run(self):
        try:
            for _ in range(OPERATIONS):
                self.act()
                time.sleep(self.chance.uniform(0, 2 * PAUSE_SECONDS))
        except Exception as failure:
            self.failure = failure
        finally:
            self.close()

    def close(self):
        for client in self.clients.values():
            client.close()

    def ask(self, port, *command):
        """The reply; None if it is not known whether the command was done, False if it was not."""
        try:
            if port not in self.clients:
                self.clients[port] = Client(port)
                self.clients[port].socket.settimeout(REPLY_SECONDS)
        except OSError:
            return False
        try:
            reply = self.clients[port].pipeline([command])[0]
        except (EOFError, OSError):
            self.clients.pop(port).close()
            return None
        if isinstance(reply, ReplyError) and reply.code in ("UNAVAILABLE", "LOADING", "BEHIND", "READONLY"):
            return False
        if reply is None:
            return NOTHING
        return None if isinstance(reply, ReplyError) and reply.code == "UNKNOWN" else reply

    def do(self, key, call, command, read=None, is_read=False, port=None):
        """Records a command; one that only reads leaves nothing open."""
        port, asked = port or self.stage.port(self.chance), time.monotonic()
        reply = self.ask(port, *command)
        answered = time.monotonic()
        if reply is False or reply is None and is_read:
            return None
        if reply is None:
            if call[0] != "take":
                self.history.add(key, Operation(asked, math.inf, call, where=port))
            return None
        made = read(reply) if read else reply
        # A server may know for a moment only that something was sold out.
        if made == "SOLDOUT":
            asked = self.history.began
        self.history.add(key, Operation(asked, answered, call, made, port))
        return made

    def act(self):
        name = f"{self.cycle}-{self.chance.randrange(CARTS)}"
        action = self.chance.choices(["add", "version", "get", "count", "follow", "counted"], [5, 2, 3, 2, 2, 4])[0]
        if action == "add":
            self.add(name, None)
        elif action == "version":
            seen = self.get(name)
            if seen is not None:
                self.add(name, seen[1])
        elif action == "get":
            self.get(name)
        elif action == "count":
            self.do(("cart", name), ("count",), ["CART.COUNT", name], check_count, is_read=True)
        elif action == "follow":
            self.follow(name)
        else:
            self.use_supply()

    def add(self, name, version, port=None):
        item, quantity = self.chance.choice(["tea", "bun"]), self.chance.randint(1, 3)
        words = [] if version is None else ["VERSION", version]
        return self.do(("cart", name), ("add", item, quantity, version),
                       ["CART.ADD", name, "kitchen", item, quantity, *words], written, port=port)

    def get(self, name, port=None):
        return self.do(("cart", name), ("get",), ["CART.GET", name], read_cart, is_read=True, port=port)

    def follow(self, name):
        """Writes at a server, and reads at one that follows, which may be behind, but not behind that."""
        port = self.stage.port(self.chance)
        if self.add(name, None, port=port) is None:
            return
        token = self.ask(port, "TOKEN")
        # What is read may be as old as the token, and no older.
        asked = time.monotonic()
        if not isinstance(token, bytes) or self.ask(self.stage.follower.port, "AFTER", token) != "OK":
            return
        reply = self.ask(self.stage.follower.port, "CART.GET", name)
        if reply:
            self.history.add(("cart", name), Operation(asked, time.monotonic(), ("get",), read_cart(reply), "the follower"))

    def use_supply(self):
        item = f"dish-{self.cycle}-{self.chance.randrange(ITEMS)}"
        key = ("item", item)
        kind = self.chance.choice(["left", "left", "set", "add", "take", "take", "take"])
        if kind == "left":
            # Each server answers that itself, and may be behind the others: it was so at some time.
            port = self.stage.port(self.chance)
            reply = self.ask(port, "STOCK", "kitchen")
            left = left_of(reply, item) if reply else None
            # A server may not know yet that it is counted.
            if left is not None:
                self.history.add(key, Operation(self.history.began, time.monotonic(), ("left",), left, port))
        elif kind == "set":
            count = self.chance.randint(0, 4)
            self.do(key, ("set", count), ["MENU.ITEM.STOCK", "kitchen", item, "COUNT", count], done)
        elif kind == "add":
            count = self.chance.randint(1, 3)
            self.do(key, ("add", count), ["MENU.ITEM.STOCK", "kitchen", item, "ADD", count], done)
        else:
            self.ready += 1
            count, own = self.chance.randint(1, 2), f"order-{self.name}-{self.ready}"
            # What is sold out cannot be added, which says nothing of the moment in which it is taken.
            if self.ask(self.stage.port(self.chance), "CART.ADD", own, "kitchen", item, count) == count:
                asked = time.monotonic()
                if self.do(key, ("take", count), ["CART.CHECKOUT", own, "TOTAL", 100 * count], taken) is None:
                    # A checkout that does not get on claims, and may give back what it has claimed.
                    self.history.add(key, Operation(asked, math.inf, ("take", count)))
                    self.history.add(key, Operation(asked, math.inf, ("add", count)))


def written(reply):
    if isinstance(reply, ReplyError):
        check(reply.code == "CONFLICT", f"a cart is answered {reply}")
        return "CONFLICT", int(str(reply).split("the version is ")[1].split(",")[0])
    return reply


def check_count(reply):
    check(isinstance(reply, int), f"a count is answered {reply}")
    return reply


def read_cart(reply):
    if reply == NOTHING:
        return (), 0
    check(isinstance(reply, bytes), f"a cart is answered {reply}")
    document = json.loads(reply)
    lines = tuple(sorted((line["item"], line["quantity"]) for line in document["lines"]))
    return lines, document["version"]


def left_of(reply, item):
    check(isinstance(reply, bytes), f"the stock is answered {reply}")
    return {each["id"]: each["left"] for each in json.loads(reply)["stock"]}.get(item)


def done(reply):
    check(isinstance(reply, int), f"a count of portions is answered {reply}")
    return "done"


def taken(reply):
    if isinstance(reply, ReplyError):
        check(reply.code == "SOLDOUT", f"a checkout is answered {reply}")
        return "SOLDOUT"
    return "done"


# --- where it happens


class Stage:
    """Servers that share a log on a PostgreSQL of their own, and one that follows it."""

    def __init__(self, stack, environment):
        self.database, self.start_postgres, self.stop_postgres = stack.enter_context(private_cluster(max_connections=100))
        run = run_tiffin("migrate", "--database", self.database, "--partitions", PARTITIONS)
        check(run.returncode == 0, run.stderr)
        self.fleet = [Server(database=self.database, environment=environment) for _ in range(SERVERS)]
        self.follower = Server(database=self.database, options=["--follow"], environment=environment)
        for server in [*self.fleet, self.follower]:
            stack.callback(server.kill)
            server.start()
            server.arguments[server.arguments.index("--listen") + 1] = f"127.0.0.1:{server.port}"
        self.ports = [server.port for server in self.fleet]

    def port(self, chance):
        return chance.choice(self.ports)

    def prepare(self, cycle):
        """The items of a cycle, counted; nobody has asked for its carts."""
        items = [item_document(f"dish-{cycle}-{n}", 100) for n in range(ITEMS)]
        menu = [section_document("all", [item_document("tea", 100), item_document("bun", 100), *items])]
        with self.fleet[0].client() as client:
            def is_put():
                with contextlib.suppress(ReplyError):
                    put_open_outlet(client, "kitchen", menu)
                    return True

            wait_until(is_put, "the outlet")
            for item in items:
                client("MENU.ITEM.STOCK", "kitchen", item["id"], "COUNT", 5)


# --- faults

FAULTS = []


# What takes seconds, and so is a trial of its own.
FROZEN = []


def fault(name, faults=FAULTS):
    def register(strike):
        strike.title = name
        faults.append(strike)
        return strike
    return register


@fault("nothing")
def nothing(stage, chance):
    yield 0


@fault("server killed")
def server_killed(stage, chance):
    server = chance.choice(stage.fleet)
    server.kill()
    yield chance.uniform(0.05, 0.5)
    server.start()


@fault("server frozen", FROZEN)
def server_frozen(stage, chance):
    with trials.frozen(chance.choice(stage.fleet).process.pid):
        yield chance.uniform(1.5, 5)


@fault("PostgreSQL ended at once")
def postgres_ended(stage, chance):
    stage.stop_postgres("immediate")
    yield chance.uniform(0, 0.2)
    stage.start_postgres()


@fault("database connections cut")
def connections_cut(stage, chance):
    for _ in range(chance.randint(2, 8)):
        sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'tiffin %'", stage.database)
        yield chance.uniform(0, 0.1)


@fault("a lock")
def locked(stage, chance):
    """Somebody takes the log for himself."""
    with tiffin.open_transaction(stage.database, "lock table tiffin.log_head in access exclusive mode"):
        yield chance.uniform(0.05, 1.5)


# --- cycles


@dataclass
class Result:
    """What happened in a cycle."""

    faults: list
    operations: int
    open: int


def run_frozen(cycles, seed, tell=print):
    return run(cycles, seed, tell, FROZEN)


def run_cycle(stage, strike, cycle, chance):
    stage.prepare(cycle)
    history = History()
    people = [Person(stage, history, cycle, number, random.Random(chance.random())) for number in range(CLIENTS)]
    for person in people:
        person.start()
    time.sleep(chance.uniform(0.05, 0.3))
    for seconds in strike(stage, chance):
        time.sleep(seconds)
    for person in people:
        person.join(120)
        check(not person.is_alive(), "a client waits for ever")
        if person.failure:
            raise person.failure
    last = Person(stage, history, cycle, "last", chance)
    # In the end everybody is asked, once all is well again.
    for port in stage.ports:
        for number in range(CARTS):
            wait_until(lambda: last.get(f"{cycle}-{number}", port=port) is not None, "a cart")
    last.close()
    history.check()
    return Result([strike.title], *history.count())


def run(cycles, seed, tell=print, faults=FAULTS, environment=None):
    """The results of so many cycles. A failure names its seed and cycle."""
    deck, results = Deck(seed, faults), []
    with contextlib.ExitStack() as stack:
        stage = Stage(stack, environment)
        for cycle in range(1, cycles + 1):
            strike = deck.draw()
            try:
                result = run_cycle(stage, strike, cycle, random.Random(f"{seed}/{cycle}"))
            except Exception as error:
                words = "\n".join(server.output()[-1500:] for server in [*stage.fleet, stage.follower])
                error.add_note(f"seed {seed}, cycle {cycle}, {strike.title}; the servers said:\n{words}")
                raise
            results.append(result)
            tell(f"{cycle:4}  {strike.title:26} {result.operations:4} operations, {result.open:3} open")
    return results


def summarize(results, tell):
    tell("\n| fault | cycles | operations | outcome open | histories without an order |\n| --- | --- | --- | --- | --- |")
    for name in [*sorted({result.faults[0] for result in results}), None]:
        those = [result for result in results if name in (None, *result.faults)]
        tell(f"| {name or 'all'} | {len(those)} | {sum(each.operations for each in those):,} | "
             f"{sum(each.open for each in those)} | 0 |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cycles", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options = parser.parse_args()
    tell = lambda line: print(line, flush=True)
    summarize(run(options.cycles, options.seed, tell=tell), tell)


if __name__ == "__main__":
    main()
