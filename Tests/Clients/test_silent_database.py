"""Every command is answered in time, whatever the database does. These tests need the machine for themselves."""

import contextlib
import os
import signal
import subprocess
import time

import pytest

import tiffin
from tiffin import Server, encode, open_transaction, private_cluster, put_open_outlet, read_log, sql, wait_until
from writers import MENU, start_writers, wait_until_writable

# What every command is answered within, and what a busy machine adds.
IN_TIME = 5 + 2


@contextlib.contextmanager
def frozen(database):
    """Every process of the database stands still."""
    backends = [int(pid) for pid in sql("select pid from pg_stat_activity where pid <> pg_backend_pid()", database).split()]
    parent = int(subprocess.check_output(["ps", "-o", "ppid=", "-p", str(backends[0])], text=True))
    processes = [parent, *backends]
    for pid in processes:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in processes:
            os.kill(pid, signal.SIGCONT)


def locked_head(database):
    """Somebody holds the row that every append needs."""
    return open_transaction(database, "select position from tiffin.log_head for update")


@pytest.mark.parametrize("trouble", [frozen, locked_head])
def test_every_command_is_answered_in_time_while_the_database_is_silent(trouble):
    with private_cluster() as (database, _, _), Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "kitchen", MENU)
        assert client("CART.ADD", "c", "kitchen", "dish-1", 1) == 1
        with trouble(database), contextlib.ExitStack() as ends:
            began = time.monotonic()
            # The first is in flight, the second waits behind it, and the third has to be read first.
            clients = [ends.enter_context(server.client()) for _ in range(3)]
            for number, (one, cart) in enumerate(zip(clients, ["c", "d", "other"])):
                one.send(encode("CART.ADD", cart, "kitchen", "dish-1", 1, "ID", f"{number}"))
            assert client("CART.COUNT", "c") == 1
            assert client.json("OUTLET.HOME", "kitchen")["state"] == "ready"
            for one in clients:
                assert one.read().code in ("UNAVAILABLE", "UNKNOWN")
            assert time.monotonic() - began < IN_TIME
            assert client.error("CART.ADD", "c", "kitchen", "dish-2", 1).code in ("UNAVAILABLE", "UNKNOWN")
        wait_until_writable(client, "e")
        # Sent again, each is there once.
        for number, cart in enumerate(["c", "d", "other"]):
            client("CART.ADD", cart, "kitchen", "dish-1", 1, "ID", f"{number}")
        assert client("CART.COUNT", "c") in (2, 3)
        assert [client("CART.COUNT", cart) for cart in ("d", "other")] == [1, 1]
        assert client("CART.ADD", "c", "kitchen", "dish-3", 1) == client("CART.COUNT", "c")


def test_a_server_stops_although_its_database_is_silent():
    with private_cluster() as (database, _, _), Server(database=database) as server:
        with server.client() as client:
            put_open_outlet(client, "kitchen", MENU)
            assert client("CART.ADD", "c", "kitchen", "dish-1", 1) == 1
        with frozen(database):
            assert server.stop() == 0
        with server.start().client() as client:
            assert client("CART.ADD", "c", "kitchen", "dish-1", 1) == 2


def test_a_second_signal_ends_a_stop_that_takes_long():
    with private_cluster() as (database, _, _), Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "kitchen", MENU)
        with frozen(database):
            client.send(encode("CART.ADD", "c", "kitchen", "dish-1", 1))
            with server.client() as other:
                other("PING")
            server.process.send_signal(signal.SIGTERM)
            wait_until(lambda: "stopping" in server.output(), 10, "the server to begin to stop")
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(timeout=10) == 130
        assert "crash" not in server.output().lower()


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_database_that_stops_and_starts_again(mode):
    with private_cluster() as (database, start_database, stop_database), Server(database=database) as server:
        with server.client() as client:
            put_open_outlet(client, "kitchen", MENU)
            client("CART.ADD", "c", "kitchen", "dish-1", 1)
        threads, replies, failures = start_writers(server, writers=4)
        stop_database(mode)
        with server.client() as client:
            start = time.monotonic()
            assert client.error("CART.ADD", "c", "kitchen", "dish-1", 1).code in ("UNAVAILABLE", "UNKNOWN")
            assert time.monotonic() - start < 20
            start = time.monotonic()
            assert client.error("CART.ADD", "c", "kitchen", "dish-1", 1).code == "UNAVAILABLE"
            assert client.error("LOG.HEAD").code == "UNAVAILABLE"
            assert client("CART.COUNT", "c") == 1
            assert time.monotonic() - start < 2
            start_database()
            wait_until_writable(client, "again")
            assert client("CART.ADD", "c", "kitchen", "dish-1", 1, "ID", "last") == client("CART.COUNT", "c")
            events = read_log(client)
            assert [event["position"] for event in events] == list(range(1, len(events) + 1))
            own = client("CLIENT", "ID")
            for line in client("CLIENT", "LIST").splitlines():
                id = int(line.split()[0].removeprefix(b"id="))
                if id != own:
                    client("CLIENT", "KILL", "ID", id)
        for thread in threads:
            thread.join(timeout=tiffin.REPLY_SECONDS)
            assert not thread.is_alive()
        assert {reply.code for _, reply in failures} <= {"UNAVAILABLE", "UNKNOWN", "LIMIT"}
        with server.client() as client:
            for cart, count in replies.items():
                assert client("CART.COUNT", cart) >= count
