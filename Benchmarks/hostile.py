"""What clients that mean harm take from the others: `Scripts/bench hostile`."""

import contextlib
import itertools
import json
import multiprocessing
import os
import random
import resource
import socket
import time

from harness import put_kitchen, resident_megabytes, tiffin_server
from monkey import milliseconds, run_monkey
from tiffin import encode, outlet_document


RATE = 500
ATTACKERS = 1_000
SLOW_ATTACKERS = 9_000
MENU_ATTACKERS = 1
UNFINISHED = b"*5\r\n" + b"".join(b"$1048576\r\n" + b"x" * (1 << 20) + b"\r\n" for _ in range(3)) + b"$1048576\r\n"
REQUESTS = b"INFO\r\n" * 1_000


def connected(port, receive_buffer=None):
    client = socket.socket()
    if receive_buffer:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    client.connect(("127.0.0.1", port))
    client.setblocking(False)
    return client


# Each attack is a generator: it takes its steps one by one, and says in how many seconds it goes on.

def slow(port, seed):
    """One byte of a request in ten seconds."""
    with connected(port) as client:
        time_of_first = random.Random(seed).uniform(0, 10)
        yield time_of_first
        for byte in itertools.cycle(b"PING\r\n"):
            client.send(bytes([byte]))
            yield 10


def unreading(port, seed):
    """Listens, asks without an end, and reads nothing."""
    with connected(port, 4_096) as client:
        client.send(b"SUBSCRIBE home:kitchen\r\n")
        yield 0.1
        with connected(port, 4_096) as asking:
            while True:
                with contextlib.suppress(BlockingIOError):
                    asking.send(b"OUTLET.HOME kitchen\r\n" * 100)
                yield 0.5


def huge(port, seed):
    """Most of a large request."""
    with connected(port) as client:
        rest = UNFINISHED
        while rest:
            with contextlib.suppress(BlockingIOError):
                rest = rest[client.send(rest[:256 << 10]):]
            yield 0.1
        while True:
            # Whoever is disconnected comes again.
            if client.recv(1) == b"":
                return
            yield 1


def malformed(port, seed):
    """Rubbish, twice a second."""
    with connected(port) as client:
        client.send(random.Random(seed).randbytes(2_000))
        yield 0.5


def flooding(port, seed):
    """As many requests as are taken; the answers are read."""
    with connected(port) as client:
        rest = REQUESTS
        while True:
            with contextlib.suppress(BlockingIOError):
                rest = rest[client.send(rest):] or REQUESTS
            with contextlib.suppress(BlockingIOError):
                while client.recv(1 << 20):
                    pass
            yield 0.05


def menus(port, seed):
    """Puts two menus of 5,000 items in turn, as fast as they are answered."""
    outlet = f"large-{seed}"
    with connected(port) as client:
        rest = encode("OUTLET.PUT", outlet, json.dumps(outlet_document("Large")))
        for turn in itertools.count():
            while rest:
                with contextlib.suppress(BlockingIOError):
                    rest = rest[client.send(rest):]
                yield 0.01
            with contextlib.suppress(BlockingIOError):
                if client.recv(1 << 10):
                    rest = encode("MENU.PUT", outlet, json.dumps({"sections": [
                        {"id": f"s{section}", "title": "All", "kind": "menuItems", "items": [
                            {"id": f"i{section * 500 + item}", "kind": "menuItem", "price": 100, "name": f"{turn % 2} {item}"}
                            for item in range(500)]} for section in range(10)]}))
            yield 0.01


ATTACKS = {"menus": menus, "slow": slow, "unreading": unreading, "huge": huge, "malformed": malformed, "flooding": flooding}


def attack(kinds, port, count, stop):
    """Runs so many attackers in one process until it is stopped."""
    os.nice(5)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    running = [(0.0, number, None) for number in range(count)]
    while not stop.is_set():
        now = time.monotonic()
        later = []
        for due, number, steps in running:
            if due <= now:
                steps = steps or ATTACKS[kinds[number % len(kinds)]](port, number)
                try:
                    due = now + next(steps)
                except (StopIteration, OSError, BlockingIOError):
                    due, steps = now + 0.5, None
            later.append((due, number, steps))
        running = later
        time.sleep(0.01)


@contextlib.contextmanager
def under_attack(kinds, port, count):
    stop = multiprocessing.Event()
    attacker = multiprocessing.Process(target=attack, args=(kinds, port, count, stop))
    attacker.start()
    try:
        yield
    finally:
        stop.set()
        attacker.join(30)
        attacker.kill()


def measure_hostile(report, rounds, quick):
    seconds = 4 if quick else 15
    report.title(f"{RATE} commands a second of others, while clients mean harm; times in ms from the plan")
    rows = [("", "clients", "reads p50", "p99", "writes p50", "p99", "failed", "server MB", "disconnected")]
    slowest = {}
    with tiffin_server() as (server, _):
        with server.client() as client:
            put_kitchen(client, items=100)
        load = ("--server", f"127.0.0.1:{server.port}", "--rate", RATE, "--duration", f"{seconds}s", "--seed", 1)

        def measure(name, kinds, count):
            with under_attack(kinds, server.port, count) if kinds else contextlib.nullcontext():
                if kinds:
                    time.sleep(3)
                result = run_monkey(*load)[0]
            calls = {call["name"]: call for call in result["calls"]}
            slowest[name] = [calls[flow]["responseTime"]["p99"] for flow in ("reads", "writes")]
            with server.client() as client:
                stats = dict(line.split(":") for line in client("INFO", "stats").decode().splitlines() if ":" in line)
            rows.append((
                name, f"{count:,}", *(milliseconds(calls[flow], quantile) for flow in ("reads", "writes")
                                      for quantile in ("p50", "p99")),
                str(sum(window["failures"] for window in result["windows"])),
                f"{resident_megabytes(server.process.pid):.0f}",
                f"{sum(int(value) for key, value in stats.items() if key.endswith('disconnections') or key == 'evicted_clients'):,}"))

        measure("quiet", [], 0)
        for kind in ATTACKS:
            measure(kind, [kind], {"slow": SLOW_ATTACKERS, "menus": MENU_ATTACKERS}.get(kind, ATTACKERS // 5))
        measure("all at once", [kind for kind in ATTACKS if kind != "menus"], ATTACKERS)
        measure("quiet again", [], 0)
    report.table(rows)
    quiet = [max(slowest[name][flow] for name in ("quiet", "quiet again")) for flow in (0, 1)]
    for name in ("menus", "slow", "all at once"):
        for flow, what in enumerate(("reads", "writes")):
            report.verdict(f"p99 of {what}, {name}, to quiet", slowest[name][flow] / quiet[flow], 2, at_least=False)
