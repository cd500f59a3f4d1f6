"""Limits of what clients may take from each other: memory, connections and commands a second."""

import contextlib
import itertools
import json
import socket
import time

import pytest

from tiffin import Server, encode, item_document, outlet_document, put_open_outlet, section_document, wait_until

MEGABYTE = 1 << 20


def memory(client) -> dict:
    lines = client("INFO", "memory").decode().splitlines()[1:]
    return {name: int(value) for name, value in (line.split(":") for line in lines if line)}


def stat(client, name) -> int:
    return int(client("INFO", "stats").decode().split(f"\n{name}:")[1].split()[0])


@contextlib.contextmanager
def silent_clients(server, count, request):
    """Clients that send something, and read nothing."""
    with contextlib.ExitStack() as stack:
        clients = []
        for _ in range(count):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            client.connect(("127.0.0.1", server.port))
            client.settimeout(10)
            # Who is disconnected meanwhile cannot send the rest.
            with contextlib.suppress(ConnectionError):
                client.sendall(request)
            clients.append(client)
        yield clients


def assert_within_limits(client):
    now = memory(client)
    assert now["mem_clients_normal"] <= now["maxmemory_address"] < now["maxmemory_clients"]
    assert now["used_memory_rss"] < now["maxmemory"]


def test_subscribers_that_never_read_hold_a_document_each_and_those_that_read_lose_nothing(database):
    letters = itertools.cycle("ab")

    def menu():
        text = next(letters) + "x" * 1_980
        return [section_document("all", [
            item_document(f"i{n}", 1, description=text, imageSmall=f"https://a.b/{text}") for n in range(230)])]

    options = ["--max-memory", "512mb", "--max-memory-per-address", "40mb"]
    with Server(database=database, options=options) as server:
        with server.client() as client, server.client() as reader:
            put_open_outlet(client, "kitchen", menu())
            reader("SUBSCRIBE", "home:kitchen")
            with silent_clients(server, 20, b"SUBSCRIBE home:kitchen\r\n"):
                wait_until(lambda: b"pubsub_clients:21\r" in client("INFO", "clients"), "the subscriptions")
                revision = json.loads(reader.read()[2])["to"]
                for _ in range(16):
                    client("MENU.PUT", "kitchen", json.dumps({"sections": menu()}))
                    assert_within_limits(client)
                    change = json.loads(reader.read()[2])
                    assert change["from"] == revision
                    revision = change["to"]
                    # A document each, and what waited before it.
                    assert memory(client)["mem_clients_normal"] < 22 * 1.5 * MEGABYTE
                assert stat(client, "evicted_clients") == 0
                assert b"pubsub_clients:21\r" in client("INFO", "clients")


@pytest.mark.parametrize("count, unfinished", [
    (60, b"*5\r\n" + b"".join(b"$1048576\r\n" + b"x" * MEGABYTE + b"\r\n" for _ in range(3)) + b"$1048576\r\n"),
    (16, b"*3\r\n$8\r\nMENU.PUT\r\n$1\r\no\r\n$%d\r\n" % (32 * MEGABYTE) + b"x" * (12 * MEGABYTE)),
], ids=["arguments", "menus"])
def test_unfinished_requests_take_a_bounded_amount(database, count, unfinished):
    with Server(database=database, options=["--max-memory", "512mb"]) as server:
        with server.client() as client, silent_clients(server, count, unfinished):
            wait_until(lambda: stat(client, "evicted_clients") > 0, "too many bytes")
            assert_within_limits(client)


def test_an_address_has_so_many_clients_and_no_more(database):
    with Server(database=database, options=["--max-clients-per-address", "2"]) as server:
        with server.client() as client, server.client() as other:
            assert client("PING") == other("PING") == "PONG"
            with server.client() as third:
                assert str(third.read()) == "ERR max number of clients of an address reached"
            assert stat(client, "rejected_connections") == 1
        wait_until(lambda: can_ping(server), "room for another client")


def can_ping(server) -> bool:
    with server.client() as client:
        client.send(encode("PING"))
        return client.read() == "PONG"


@pytest.mark.parametrize("option", ["--max-rate", "--max-rate-per-address"])
def test_whoever_sends_more_commands_than_allowed_waits_and_gets_every_answer(database, option):
    with Server(database=database, options=[option, "200"]) as server, server.client() as client:
        began = time.monotonic()
        assert client.pipeline([("PING",)] * 400) == ["PONG"] * 400
        # 200 at once, and 200 in the second after that.
        assert time.monotonic() - began > 0.9
        with server.client() as other:
            waits = option == "--max-rate-per-address"
            pauses = stat(other, "client_rate_pauses")
            assert pauses > 0
            other.pipeline([("PING",)] * 20)
            assert (stat(other, "client_rate_pauses") > pauses) == waits


def test_a_server_without_memory_for_more_goes_on_answering(database):
    with Server(database=database, options=["--max-memory", "64mb"]) as server, server.client() as client:
        text = "x" * 1_900
        client("OUTLET.PUT", "first", json.dumps(outlet_document()))

        def is_busy(reply):
            return str(reply).startswith("BUSY the server has no memory left")

        # What a turn needs is given back: so the server can have room again right after it had none.
        def is_full(number):
            menu = {"sections": [section_document("all", [
                item_document(f"i{n}", 1, description=f"{number} {n} {text}") for n in range(400)])]}
            reply = client.pipeline([
                ("OUTLET.PUT", f"o{number}", json.dumps(outlet_document())),
                ("MENU.PUT", f"o{number}", json.dumps(menu))])[1]
            if not is_busy(reply):
                return False
            with server.client() as other:
                return memory(client)["maxmemory_reached"] == 1 and is_busy(other.pipeline([("SUBSCRIBE", "home:first")])[0])

        assert any(is_full(number) for number in range(300))
        assert client.json("OUTLET.GET", "first")["name"]
        assert client.json("BROWSE", "LIMIT", "1")["items"] is not None
