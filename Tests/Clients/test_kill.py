"""SIGKILL during writes: every acknowledged change is there afterwards, and none twice.

Each writer owns one cart, so its commands have one right outcome: the model's counts, in order. After a
kill, the cart must stand where the model stood after some number of commands between those acknowledged
and those sent. A writer with IDs then sends every unanswered command again and must get the model's
replies; a writer without goes on from what it finds.
"""

import random
import threading

import pytest

import tiffin
from tiffin import Client, Server, encode, item_document, put_open_outlet, read_log, section_document

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
            # Two lengths may give the same contents: then it does not matter which it was.
            self.answered = matches[0]


@pytest.mark.parametrize("seed", [7, 2026])
@pytest.mark.parametrize("log", ["database", "data_dir"])
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
                # One command may be several events, but then of one batch: side by side.
                assert places == list(range(places[0], places[0] + len(places))), f"{token} is there twice"

