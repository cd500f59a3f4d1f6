"""What trials share in which things break while clients write: what was sent, and whether the log has it once.

A trial has stages. A stage says which servers there are, and writers send to any of them until it is quiet.
"""

import collections
import contextlib
import json
import os
import random
import re
import signal
import socket
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from tiffin import (
    AWAY, REPLY_SECONDS, Client, ReplyError, item_document, put_open_outlet, run_tiffin, section_document, wait_until)

CUSTOMERS = 4
ITEMS = [f"dish-{n}" for n in range(8)]
# Nobody orders the last one.
MENU = [*ITEMS, "special"]
PRICE = 100


class Failure(AssertionError):
    """Tiffin did not keep a promise."""


def check(condition, text):
    if not condition:
        raise Failure(text)


def limit_memory(pid, more):
    """A process gets so many bytes of addresses besides those that it has, or any again where `more` is None."""
    owner, pages = os.stat(f"/proc/{pid}"), int(Path(f"/proc/{pid}/statm").read_text().split()[0])
    limit = "unlimited" if more is None else pages * os.sysconf("SC_PAGE_SIZE") + more
    # As its owner: not every root may set limits of others.
    subprocess.run(["prlimit", "--pid", str(pid), f"--as={limit}:"], user=owner.st_uid, group=owner.st_gid, check=True)


# --- what was sent, and what the log says


@dataclass
class Ledger:
    """What clients sent and were told, and a fold of the log."""

    partitions: int = 1
    # By ID: the stream, the kind and a part of the payload of the event that the command leads to.
    sent: dict = field(default_factory=dict)
    acknowledged: set = field(default_factory=set)
    # By ID: the partitions and positions of its events.
    places: dict = field(default_factory=dict)
    # By partition: up to where it was read.
    positions: collections.Counter = field(default_factory=collections.Counter)
    versions: collections.Counter = field(default_factory=collections.Counter)
    # By cart: the quantities of its items. A cart that was checked out has an order.
    carts: dict = field(default_factory=dict)
    orders: dict = field(default_factory=dict)
    prices: dict = field(default_factory=dict)

    def read(self, client):
        """Reads what the log has got since, and returns the IDs and carts that it is about."""
        self.ids, self.touched = set(), set()
        for partition in range(self.partitions):
            page = ["LOG.READ", "PARTITION", partition, "COUNT", 1000, "FROM"]
            while batch := client(*page, self.positions[partition] + 1):
                for event in map(json.loads, batch):
                    self._take(event)
        return self.ids, self.touched

    def _take(self, event):
        stream, kind, payload = event["stream"], event["kind"], event["payload"]
        partition, last = event["partition"], self.positions[event["partition"]]
        check(event["position"] == last + 1, f"position {event['position']} follows {last}")
        self.positions[partition] += 1
        check(event["version"] == self.versions[stream] + 1, f"{stream} continues with version {event['version']}")
        self.versions[stream] += 1
        identity = event["metadata"].get("id")
        check(identity in self.sent, f"nobody sent {event}")
        self.places.setdefault(identity, []).append((partition, event["position"]))
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

    def check_places(self, ids):
        """Each of these commands was carried out once."""
        for identity in ids - {None}:
            partition, first = self.places[identity][0]
            expected = [(partition, first + number) for number in range(self.events_of(identity))]
            check(self.places[identity] == expected, f"{identity} is at {self.places[identity]}")

    def missing(self):
        """What was acknowledged and is not in the log."""
        return {identity for identity in self.acknowledged if identity not in self.places}

    def forget(self):
        """The log is to be read again from its beginning."""
        before, self.places = self.places, {}
        self.positions, self.versions = collections.Counter(), collections.Counter()
        self.carts, self.orders, self.prices = {}, {}, {}
        return before


class Writer(threading.Thread):
    """Sends commands one after the other, each until it is accepted."""

    def __init__(self, stage, commands):
        super().__init__(daemon=True)
        self.stage, self.commands = stage, commands
        self.clients = {}
        self.failure = None
        # When each command was sent, and when it was accepted.
        self.spans = []

    @property
    def acknowledged(self):
        return len(self.spans)

    def run(self):
        try:
            for identity, command, event in self.commands:
                if self.stage.is_quiet.is_set():
                    break
                self.stage.ledger.sent[identity] = event
                began = time.monotonic()
                if self.send([*command, "ID", identity]):
                    self.stage.ledger.acknowledged.add(identity)
                    self.spans.append((began, time.monotonic()))
                time.sleep(self.stage.pace_seconds)
        except Exception as failure:
            self.failure = failure
        finally:
            self.close()

    def send(self, command):
        began = time.monotonic()
        while True:
            place = host, port = self.stage.place()
            try:
                if place not in self.clients:
                    self.clients[place] = Client(port, host=host)
                    self.clients[place].socket.settimeout(self.stage.reply_seconds)
                reply = self.clients[place].pipeline([command])[0]
                if not isinstance(reply, ReplyError):
                    return True
                if reply.code not in AWAY:
                    # What the decision rests on may be lost with the primary.
                    check(self.stage.may_lose, f"{command} was answered {reply} at {host}:{port}")
                    return False
            except (EOFError, OSError) as error:
                reply = error
                if client := self.clients.pop(place, None):
                    client.close()
            waited = time.monotonic() - began
            check(waited < self.stage.stuck_seconds, f"{command} was never accepted, and last got {reply!r}")
            time.sleep(0.01)

    def cut(self):
        for client in list(self.clients.values()):
            with contextlib.suppress(OSError):
                client.socket.shutdown(socket.SHUT_RDWR)

    def close(self):
        for client in self.clients.values():
            client.close()


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


class Stage:
    """Servers with their database, and everything that was written to them."""

    # How long a writer waits after each command. There is no need to write fast, only all the time.
    pace_seconds = 0.003
    # How long it waits for a reply before it asks again.
    reply_seconds = REPLY_SECONDS
    # A command that is not accepted for so long never will be.
    stuck_seconds = 60
    # Until each server answers what a merchant has changed.
    news_seconds = 0

    def __init__(self, partitions=1):
        self.ledger = Ledger(partitions)
        self.is_quiet = threading.Event()
        self.may_lose = False
        self.writers = []
        self.lost = 0
        # How many losses each server has named before.
        self.told = []

    def servers(self):
        raise NotImplementedError

    def address(self):
        """The address of the database."""
        raise NotImplementedError

    def place(self):
        """Where the next command is sent to, a host and a port."""
        server = random.choice(self.servers())
        return server.host, server.port

    def open(self):
        """The outlet that everything is ordered from."""
        menu = [section_document("all", [item_document(item, PRICE) for item in MENU])]
        with self.servers()[0].client() as client:
            put_open_outlet(client, "kitchen", menu)
            # These were sent without an ID.
            self.ledger.sent[None] = None
            self.ledger.read(client)

    def start_writing(self, cycle):
        self.is_quiet.clear()
        self.told = [len(lost_positions(server)) for server in self.servers()]
        commands = [customer(f"c{cycle}-{n}") for n in range(CUSTOMERS)] + [merchant(f"m{cycle}", 1_000 * cycle)]
        self.writers = [Writer(self, each) for each in commands]
        for writer in self.writers:
            writer.start()

    def stop_writing(self):
        """Waits until every command is answered, and returns how many were acknowledged."""
        self.is_quiet.set()
        for writer in self.writers:
            writer.join(self.stuck_seconds)
            check(not writer.is_alive(), "a writer waits for ever")
            if writer.failure:
                raise writer.failure
        return sum(writer.acknowledged for writer in self.writers)

    def wait_until_served(self, identity):
        """Until a command of a new client is accepted."""
        self.ledger.sent[identity] = ("cart-" + identity, "cart.itemAdded", {"item": ITEMS[0], "quantity": 1})
        probe = Writer(self, [])
        probe.send(["CART.ADD", identity, "kitchen", ITEMS[0], 1, "ID", identity])
        probe.close()
        self.ledger.acknowledged.add(identity)

    def verify(self):
        """The log has what was acknowledged, and the answers of all servers follow from it."""
        ledger = self.ledger
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(server.client()) for server in self.servers()]
            before = ledger.forget() if self.may_lose else None
            ids, carts = ledger.read(clients[0])
            if before is not None:
                self._check_lost(before, clients)
            ledger.check_places(ids)
            missing = ledger.missing()
            check(not missing, f"acknowledged and not in the log: {sorted(missing)[:5]}")
            for client in clients:
                self._check_answers(client, sorted(carts))

    def _check_answers(self, client, carts):
        ledger = self.ledger
        found = client.pipeline([(name, cart) for cart in carts for name in ("CART.GET", "CART.COUNT")])
        for index, cart in enumerate(carts):
            document, count = found[2 * index:2 * index + 2]
            check(not isinstance(document, ReplyError), f"{cart} is answered {document}")
            lines = {line["item"]: line["quantity"] for line in json.loads(document)["lines"]}
            check(lines == ledger.carts[cart], f"{cart} has {lines}, and the log says {ledger.carts[cart]}")
            expected = 0 if cart in ledger.orders else sum(lines.values())
            check(count == expected, f"{cart} counts {count}, and the log says {expected}")
        expected = [ledger.prices.get(item, PRICE) for item in MENU]

        def prices():
            home = client.json("OUTLET.HOME", "kitchen")
            return [item["model"]["price"] for item in home["sections"][0]["items"]]

        with contextlib.suppress(TimeoutError):
            wait_until(lambda: prices() == expected, "the prices", seconds=self.news_seconds)
        check(prices() == expected, f"the home has the prices {prices()}, and the log says {expected}")

    def _check_lost(self, before, clients):
        """What is lost was named, by one server at least."""
        ledger, named = self.ledger, collections.defaultdict(list)
        for server, told, client in zip(self.servers(), self.told, clients, strict=True):
            own = lost_positions(server)
            counted = sum(map(int, re.findall(rb"_lost_events:(\d+)", client("INFO", "log"))))
            check(counted == sum(len(each) for _, each in own), f"{own} was named lost, and {counted} events were counted")
            for partition, positions in own[told:]:
                named[partition].append(positions)
        lost = ledger.missing()
        for identity in lost:
            for partition, position in before.get(identity, []):
                check(any(position in positions for positions in named[partition]),
                      f"{identity} is lost, and {position} of partition {partition} not named")
        count = sum(len(each) for positions in named.values() for each in positions)
        check(len(lost) <= count, f"{len(lost)} are lost, and {dict(named)} was named")
        ledger.acknowledged -= lost
        self.lost += len(lost)

    def audit(self, *options):
        verdict = run_tiffin("audit", "--database", self.address(), *options)
        check(verdict.returncode == 0, f"the audit found:\n{verdict.stdout}{verdict.stderr}")


def lost_positions(server):
    """What a server has named as lost since it was started: partitions, each with a range of positions."""
    words = r"partition (\d+): the database has lost what was read from position (\d+) (?:or before )?to (\d+)"
    return [(int(partition), range(int(first), int(last) + 1))
            for partition, first, last in re.findall(words, server.output())]


# --- what breaks


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


class Deck:
    """All faults in a random order, again and again: so all of them happen about as often."""

    def __init__(self, seed, cards):
        self.seed, self.all = seed, cards
        self.cards, self.rounds = [], 0

    def draw(self):
        if not self.cards:
            self.rounds += 1
            self.cards = list(self.all)
            random.Random(f"{self.seed}/deck/{self.rounds}").shuffle(self.cards)
        return self.cards.pop()


# --- what came of it


def summarize(results, columns, tell):
    """A table with a row for each fault: what was written and lost, and columns of their own, each a title and what it
    makes of the results."""
    def row(name, those):
        cells = [name, len(those), f"{sum(each.acknowledged for each in those):,}", sum(each.lost for each in those), 0, 0]
        tell("| " + " | ".join(map(str, cells + [make(those) for make in columns.values()])) + " |")

    titles = ["fault", "cycles", "acknowledged", "lost and named", "lost unnamed", "applied twice", *columns]
    tell("\n| " + " | ".join(titles) + " |")
    tell("| --- " * len(titles) + "|")
    for name in sorted({name for result in results for name in result.faults}):
        row(name, [result for result in results if name in result.faults])
    row("all cycles", results)
