"""SIGKILL during writes: every acknowledged change is there afterwards, and none twice.

The server is killed, and then its PostgreSQL alone, which it starts again.

Each writer owns one cart, so its commands have one right outcome: the model's counts, in order. After a
kill, the cart must be what the model was after some number of commands between those acknowledged
and those sent. A writer with IDs then sends every unanswered command again and must get the model's
replies; a writer without IDs goes on from what it finds.
"""

import os
import random
import shutil
import signal
import subprocess
import threading

import pytest

import tiffin
from tiffin import (
    AWAY, Client, ReplyError, Server, encode, item_document, postmaster, put_open_outlet, read_log, section_document,
    wait_until)

WRITERS = 6
ROUNDS = 4
COMMANDS_A_ROUND = 400
WINDOW = 32
ITEMS = [f"dish-{n}" for n in range(12)]


class Writer:
    """One cart's commands, the model of its contents, and what was answered."""

    def __init__(self, number: int, seed: int, *, with_ids: bool):
        self.cart = f"cart-{number}"
        self.random = random.Random(f"{seed}/{number}")
        self.with_ids = with_ids
        self.commands = []
        self.counts = []
        self.contents = [{}]
        self.answered = 0
        self.sent = 0

    def extend(self, commands: int) -> None:
        """Decides the next commands. Each changes something: a command without effect leaves no trace."""
        for _ in range(commands):
            contents = dict(self.contents[-1])
            item = self.random.choice(ITEMS)
            held = contents.get(item, 0)
            if held and (held > 90 or self.random.random() < 0.4):
                contents[item] = self.random.choice([n for n in range(20) if n != held])
                command = ["CART.SET", self.cart, item, contents[item]]
                contents = {item: n for item, n in contents.items() if n}
            else:
                added = self.random.randint(1, 5)
                contents[item] = held + added
                command = ["CART.ADD", self.cart, "kitchen", item, added]
            if self.with_ids:
                command += ["ID", f"{self.cart}-{len(self.commands)}"]
            self.commands.append(command)
            self.contents.append(contents)
            self.counts.append(sum(contents.values()))

    def run(self, port: int, acknowledged) -> None:
        """Sends what is unanswered, pipelined, until the end or the death of the server."""
        try:
            with Client(port) as client:
                self.sent = self.answered
                while self.answered < len(self.commands):
                    until = min(self.answered + WINDOW, len(self.commands))
                    batch = b"".join(encode(*command) for command in self.commands[self.sent:until])
                    self.sent = until
                    client.send(batch)
                    while self.answered < self.sent:
                        reply = client.read()
                        assert reply == self.counts[self.answered], (
                            f"{self.commands[self.answered]} was answered {reply}, not {self.counts[self.answered]}")
                        self.answered += 1
                        acknowledged()
        except (EOFError, ConnectionError):
            pass

    def check(self, client: Client) -> None:
        """The cart holds everything acknowledged and, in order, some of what was sent after that."""
        cart = client.json("CART.GET", self.cart)
        held = {line["item"]: line["quantity"] for line in cart["lines"]} if cart else {}
        possible = range(self.answered, max(self.sent, self.answered) + 1)
        matches = [applied for applied in possible if self.contents[applied] == held]
        assert matches, f"{self.cart} holds {held} after {self.answered} to {self.sent} commands"
        assert client("CART.COUNT", self.cart) == sum(held.values())
        if not self.with_ids:
            # Two numbers of commands may give the same contents: then it does not matter which it was.
            self.answered = matches[0]


@pytest.mark.parametrize("log, seed", [("database", 7), ("data_dir", 2026)])
def test_acknowledged_changes_survive_sigkill_once(request, log, seed):
    chance = random.Random(seed)
    server = Server(**{log: request.getfixturevalue(log)})
    writers = [Writer(n, seed, with_ids=n % 2 == 0) for n in range(WRITERS)]
    progress = threading.Condition()
    total = 0

    def acknowledged():
        nonlocal total
        with progress:
            total += 1
            progress.notify_all()

    failures = []

    def run(writer):
        try:
            writer.run(server.port, acknowledged)
        except Exception as failure:
            failures.append(failure)
            server.kill()

    try:
        server.start()
        with server.client() as client:
            menu = [section_document("all", [item_document(item, 100) for item in ITEMS])]
            put_open_outlet(client, "kitchen", menu)
        for round_number in range(ROUNDS + 1):
            last = round_number == ROUNDS
            for writer in writers:
                writer.extend(0 if last else COMMANDS_A_ROUND)
            kill_after = total + chance.randint(1, WRITERS * COMMANDS_A_ROUND // 2)
            threads = [threading.Thread(target=run, args=(writer,)) for writer in writers]
            for thread in threads:
                thread.start()
            if not last:
                with progress:
                    assert progress.wait_for(lambda: total >= kill_after or failures, tiffin.REPLY_SECONDS)
                server.kill()
            for thread in threads:
                thread.join(timeout=2 * tiffin.REPLY_SECONDS)
                assert not thread.is_alive()
            assert not failures, failures
            if not last:
                server.start()
            with server.client() as client:
                for writer in writers:
                    writer.check(client)
        assert all(writer.answered == len(writer.commands) for writer in writers)
        with server.client() as client:
            explain(read_log(client), client, writers)
        assert server.stop() == 0
    finally:
        server.kill()


def explain(events, client, writers):
    """The log is gapless, and every command with an ID left its events at one place in it."""
    assert [event["position"] for event in events] == list(range(1, len(events) + 1))
    for writer in writers:
        own = [event for event in events if event["stream"] == f"cart-{writer.cart}"]
        assert own[-1]["version"] == client.json("CART.GET", writer.cart)["version"]
        versions = [event["version"] for event in own]
        assert versions == list(range(versions[0], versions[0] + len(own)))
        if writer.with_ids:
            texts = [repr(event) for event in own]
            for command in writer.commands:
                token = repr(command[-1])
                places = [index for index, text in enumerate(texts) if token in text]
                assert places, f"no event says {token}"
                # One command may be several events, but then they are adjacent, in one batch.
                assert places == list(range(places[0], places[0] + len(places))), f"{token} is there twice"


# --- PostgreSQL alone is killed

POSTGRES_KILLS = 3


def kill_postgres(data_dir) -> int:
    """Kills it, but not the processes it has started, and returns its process id."""
    killed = postmaster(data_dir)
    os.kill(killed, signal.SIGKILL)
    return killed


def fill_kitchen(server):
    with server.client() as client:
        menu = [section_document("all", [item_document(item, 100) for item in ITEMS])]
        put_open_outlet(client, "kitchen", menu)


class PatientWriter(Writer):
    """Sends its commands one by one, each until it is accepted."""

    def __init__(self, number, seed):
        super().__init__(number, seed, with_ids=True)
        self.refused = 0

    def run(self, port, acknowledged, until):
        with Client(port) as client:
            while not until.is_set():
                self.extend(1)
                self.sent += 1
                client.send(encode(*self.commands[-1]))
                while isinstance(reply := client.read(), ReplyError):
                    assert reply.code in AWAY, reply
                    self.refused += 1
                    client.send(encode(*self.commands[-1]))
                assert reply == self.counts[-1], f"{self.commands[-1]} was answered {reply}, not {self.counts[-1]}"
                self.answered += 1
                acknowledged()


@pytest.mark.parametrize("seed", [2026])
def test_a_postgres_that_is_killed_is_started_again(data_dir, seed):
    chance = random.Random(seed)
    writers = [PatientWriter(n, seed) for n in range(WRITERS)]
    progress, stopping, failures = threading.Condition(), threading.Event(), []
    total = 0

    def acknowledged():
        nonlocal total
        with progress:
            total += 1
            progress.notify_all()

    def run(writer):
        try:
            writer.run(server.port, acknowledged, stopping)
        except Exception as failure:
            failures.append(failure)

    def wait_for(count):
        with progress:
            assert progress.wait_for(lambda: total >= count or failures, 2 * tiffin.REPLY_SECONDS), server.output()
        assert not failures, failures

    with Server(data_dir=data_dir) as server:
        fill_kitchen(server)
        threads = [threading.Thread(target=run, args=(writer,)) for writer in writers]
        for thread in threads:
            thread.start()
        try:
            for kills in range(1, POSTGRES_KILLS + 1):
                wait_for(total + chance.randint(50, 500))
                killed = kill_postgres(data_dir)
                with server.client() as client:
                    assert client("OUTLET.HOME", "kitchen")
                # Its processes may write on until they notice.
                wait_until(lambda: server.output().count("PostgreSQL is running again") == kills, "a new PostgreSQL")
                assert postmaster(data_dir) != killed
                wait_for(total + 2 * WRITERS)
        finally:
            stopping.set()
            for thread in threads:
                thread.join(timeout=2 * tiffin.REPLY_SECONDS)
        assert not failures, failures
        with server.client() as client:
            for writer in writers:
                writer.check(client)
            explain(read_log(client), client, writers)
        assert server.output().count("PostgreSQL has ended by itself") == POSTGRES_KILLS
        # A new process gets the same results from the log and the read models.
        assert server.stop() == 0
        with server.start().client() as client:
            for writer in writers:
                writer.check(client)


def test_a_postgres_that_dies_again_and_again_is_given_up(data_dir):
    server = Server(data_dir=data_dir).start()
    try:
        fill_kitchen(server)
        added = 0
        for deaths in range(1, 6):
            with server.client() as client:
                while isinstance(reply := client.pipeline([("CART.ADD", "cart", "kitchen", ITEMS[0], 1)])[0], ReplyError):
                    assert reply.code == "UNAVAILABLE", reply
                added += 1
                assert reply == added
            kill_postgres(data_dir)
            if deaths < 5:
                wait_until(lambda: server.output().count("PostgreSQL is running again") == deaths, "PostgreSQL")
        assert server.wait_until_ended() == 1
        server.wait_for_output("PostgreSQL has ended by itself 5 times within 60 s")
        with server.start().client() as client:
            assert client("CART.COUNT", "cart") == added
        assert server.stop() == 0
    finally:
        server.kill()


@pytest.mark.skipif(not shutil.which("pgrep"), reason="no pgrep to find PostgreSQL's processes")
def test_the_processes_of_a_killed_postgres_are_waited_for(data_dir):
    with Server(data_dir=data_dir) as server, server.client() as client:
        fill_kitchen(server)
        assert client("CART.ADD", "cart", "kitchen", ITEMS[0], 1) == 1
        parent = str(postmaster(data_dir))
        children = [int(pid) for pid in subprocess.check_output(["pgrep", "-P", parent], text=True).split()]
        stopped = children[0]
        os.kill(stopped, signal.SIGSTOP)
        try:
            kill_postgres(data_dir)
            wait_until(
                lambda: "Waiting for the processes of an earlier PostgreSQL" in server.output(), "the server to wait")
            assert client.error("CART.ADD", "cart", "kitchen", ITEMS[0], 1).code in AWAY
            assert client("CART.COUNT", "cart") == 1
            assert "PostgreSQL is running again" not in server.output()
        finally:
            os.kill(stopped, signal.SIGCONT)
        wait_until(lambda: "PostgreSQL is running again" in server.output(), "PostgreSQL to be started again")
        assert client("CART.ADD", "cart", "kitchen", ITEMS[0], 1) == 2
