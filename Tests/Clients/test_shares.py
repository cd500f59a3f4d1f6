"""What one caller asks for keeps no other waiting, and leaves it its share."""

import contextlib
import os
import re
import signal
import sys
import threading

import pytest
from tiffin import (
    ReplyError, Server, encode, item_document, put_open_outlet, section_document, sql, wait_until,
)

# Other addresses of this machine that can be used without being set up.
pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="only 127.0.0.1 is there by itself")


@contextlib.contextmanager
def stopped_history(database):
    """The connection on which the history is read stands still."""
    pid = int(sql("select pid from pg_stat_activity where datname = current_database() "
                  "and application_name = 'tiffin history'", database))
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def questions(client):
    """How many questions to the log are being answered, and how many wait."""
    line = next(line for line in client("INFO", "log").decode().split() if line.startswith("log_questions:"))
    facts = dict(fact.split("=") for fact in line.partition(":")[2].split(","))
    return int(facts["under_way"]), int(facts["waiting"])


def test_whoever_reads_the_history_keeps_no_cart_and_no_other_reader_waiting(database):
    with Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "kitchen", [section_document("all", [item_document("tea", 100)])])
        for price in (200, 300):
            client("MENU.ITEM.PRICE", "kitchen", "tea", price)
        client("CART.ADD", "c", "kitchen", "tea", 2, "NOTE", "hot", "CUSTOMER", "asha")
    # No server starts with carts: this one has to load them.
    with Server(database=database) as server, server.client() as client, contextlib.ExitStack() as stack:
        client("LOG.HEAD")
        commands = [
            ("LOG.HEAD",), ("LOG.READ",), ("LOG.READ", "STREAM", "cart-c"), ("LOG.PROVE", "cart-c", 1),
            ("CART.GET", "c", "AT", 6), ("OUTLET.HOME", "kitchen", "AT", 3),
        ]
        readers = [stack.enter_context(server.client()) for _ in range(5 * len(commands))]
        others = [stack.enter_context(server.client(source="127.0.0.2")) for _ in range(3)]
        with stopped_history(database):
            for number, reader in enumerate(readers):
                reader.send(encode(*commands[number % len(commands)]))
            wait_until(lambda: questions(client) == (2, len(readers) - 2), "the first caller's two turns")
            for other, words in zip(others, [("OUTLET.HOME", "kitchen", "SINCE", 5), ("LOG.HEAD",), ("LOG.HEAD",)]):
                other.send(encode(*words))
            wait_until(lambda: questions(client) == (4, len(readers) - 1), "the other's two turns")
            assert client.json("CART.GET", "c")["lines"][0]["note"] == "hot"
            assert client("CART.ADD", "c", "kitchen", "tea", 1, "CUSTOMER", "asha") == 3
        for reader in readers + others:
            assert not isinstance(reader.read(), ReplyError)
        assert questions(client) == (0, 0)


def test_one_address_leaves_room_for_the_saved_queries_of_another(database):
    with Server(database=database) as server, server.client() as client, server.client(source="127.0.0.2") as other:
        replies = client.pipeline(("BROWSE.SAVE", f"mine-{number}", "COUNT", 1) for number in range(60))
        refused = [str(reply) for reply in replies if isinstance(reply, ReplyError)]
        assert len(refused) == 10 and all(reply.startswith("LIMIT at most 250 queries") for reply in refused)
        assert not isinstance(other.json("BROWSE.SAVE", "hers", "COUNT", 1), ReplyError)


@contextlib.contextmanager
def asking(client):
    """A client asks without a pause."""
    ended = threading.Event()

    def ask():
        while not ended.is_set():
            assert client("PING") == "PONG"

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_a_large_request_waits_for_its_turn_only_while_others_are_served(database):
    def pauses(client):
        return int(re.search(r"client_time_pauses:(\d+)", client("INFO", "stats").decode())[1])

    def put_large(client, times):
        for _ in range(times):
            assert client.error("MENU.PUT", "kitchen", "x" * (64 << 10)).code == "INVALID"

    with Server(database=database) as server, server.client() as merchant:
        put_large(merchant, 3)
        assert pauses(merchant) == 0, "nobody else is there"
        with server.client() as other, asking(other):
            wait_until(lambda: put_large(merchant, 2) or pauses(merchant) > 0, "a large request to wait")
            # What is small does not wait.
            before = pauses(merchant)
            assert merchant.error("MENU.PUT", "kitchen", "x").code == "INVALID"
            assert pauses(merchant) == before
