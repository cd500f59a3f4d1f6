"""Every command is answered in time, whatever the database does. These tests need the machine for themselves."""

import concurrent.futures
import contextlib
import os
import signal
import subprocess
import threading
import time

import pytest

import tiffin
from tiffin import (
    Server, encode, fresh_database, open_transaction, postmaster, private_address, private_cluster, put_open_outlet,
    read_log, sql, wait_until,
)
from writers import MENU, start_writers, wait_until_writable

# What every command is answered within, and what a busy machine adds.
IN_TIME = 5 + 1
# What a server stops within, likewise.
STOPPED_IN_TIME = 10 + 1
# The connections of a server, and how long each waits for an answer at most, with the time until it asks again.
SILENT_SECONDS = {
    "reader": 4, "history": 4, "writer": 3, "keys": 4, "users": 5, "indexer": 13, "projections": 13,
}


@contextlib.contextmanager
def stopped(processes):
    """These processes stand still; one that has ended meanwhile, as the backend of the last question does, is let be."""
    def tell(what):
        for pid in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, what)

    try:
        tell(signal.SIGSTOP)
        yield
    finally:
        tell(signal.SIGCONT)


@contextlib.contextmanager
def stopped_between_questions(processes, database):
    """These backends stand still while they wait for a question: in the middle of one they may hold a lock of the whole
    PostgreSQL, and a network that loses what they say does not make them hold it."""
    with contextlib.ExitStack() as stack:
        for pid in processes:
            while True:
                with contextlib.ExitStack() as attempt:
                    attempt.enter_context(stopped([pid]))
                    if "ClientRead" in sql(f"select wait_event from pg_stat_activity where pid = {pid} "
                                           "and state = 'idle'", database):
                        stack.enter_context(attempt.pop_all())
                        break
        yield


@contextlib.contextmanager
def all_stopped(parent):
    """A whole PostgreSQL stands still: first the postmaster, so that no process begins after they were listed."""
    with stopped([parent]):
        children = subprocess.check_output(["ps", "-o", "pid=", "--ppid", str(parent)], text=True)
        with stopped([int(pid) for pid in children.split()]):
            yield


def frozen(database):
    """Every process of the database stands still."""
    backend = sql("select pid from pg_stat_activity where pid <> pg_backend_pid() limit 1", database)
    return all_stopped(int(subprocess.check_output(["ps", "-o", "ppid=", "-p", backend.strip()], text=True)))


def backends(database):
    """The process of PostgreSQL behind each connection of the server to the database; the newest, where there are more."""
    rows = sql("select application_name, pid from pg_stat_activity where datname = current_database() "
               "and application_name like 'tiffin %' order by backend_start", database)
    return {name.removeprefix("tiffin "): int(pid) for name, pid in (row.split("|") for row in rows.splitlines())}


def use_every_connection(client, number):
    """The replies of commands that need the database, and how long the slowest took."""
    slowest, replies = 0.0, []
    for words in [
        ("CART.ADD", f"c{number}", "kitchen", "dish-1", 1), ("LOG.READ", "FROM", 1, "COUNT", 1),
        ("CART.ADD", f"n{number}", "kitchen", "dish-1", 1, "NOTE", "no peas", "CUSTOMER", f"customer-{number}"),
        ("CART.COUNT", f"c{number}"),
    ]:
        began = time.monotonic()
        replies.append(client.pipeline([words])[0])
        slowest = max(slowest, time.monotonic() - began)
    return replies, slowest


def waiting(client):
    """The connections of which INFO says now that they wait for an answer."""
    lines = [line.split(":", 1) for line in client("INFO", "database").decode().splitlines() if ":" in line]
    return {name for name, value in lines if not value.endswith("silent_ms=0")}


@contextlib.contextmanager
def watched(server):
    """The connections of which INFO has said meanwhile that they wait for an answer."""
    told, ended = set(), threading.Event()

    def watch():
        with server.client() as client:
            while not ended.wait(0.1):
                told.update(waiting(client))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield told
    finally:
        ended.set()
        thread.join()


def go_on_beside_silent(names):
    """A server of its own goes on while some of its connections say nothing, and makes them anew."""
    with fresh_database() as database, Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "kitchen", MENU)
        assert use_every_connection(client, 0)[0][::3] == [1, 1]
        first = wait_until(
            lambda: (found := backends(database)).keys() >= SILENT_SECONDS.keys() and found, "every connection to be made")
        assert "state=open" in client("INFO", "database").decode()
        with watched(server) as told, stopped_between_questions([first[name] for name in names], database):
            # The index of streams is looked at after the checkpoints.
            deadline = time.monotonic() + max(
                max(SILENT_SECONDS[name] for name in names),
                sum(SILENT_SECONDS[name] for name in names if name in ("indexer", "projections"))) + 2
            number = 0
            while any(backends(database).get(name) == first[name] for name in names):
                assert time.monotonic() < deadline, f"{names} are still silent:\n{client('INFO', 'database').decode()}"
                number += 1
                replies, slowest = use_every_connection(client, number)
                assert slowest < IN_TIME, f"a command took {slowest:.1f} s while {names} were silent"
                told.update(waiting(client))
                assert replies[3] in (0, 1), "what is in memory is answered"
            for name in names:
                # A thread of its own writes the line.
                line = f"tiffin {name}: no answer within"
                wait_until(lambda: line in server.output(), line)
                assert f"connection_{name.replace(' ', '')}" in told, f"INFO does not say that {name} waits: {told}"
            # The old connections still say nothing. The new ones can be used, and everything is as before.
            for name in names:
                server.wait_for_output(f"tiffin {name}: connected again")
            replies, slowest = use_every_connection(client, "last")
            assert replies[::3] == [1, 1] and replies[2] == 1 and slowest < IN_TIME
            # A look at the checkpoints that began meanwhile waits for two connections, and tries again after 10 seconds.
            # After a save that had to wait, there is a pause of nine times as long.
            wait_until(
                lambda: b"unsaved_events=0" in client("INFO", "projections"), "a checkpoint to be saved", seconds=130)


def test_the_server_goes_on_while_connections_are_silent_one_by_one_and_all_at_once():
    cases = [[name] for name in SILENT_SECONDS] + [list(SILENT_SECONDS)]
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
        for case in [pool.submit(go_on_beside_silent, names) for names in cases]:
            case.result()


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
            began = time.monotonic()
            with server.client() as late:
                assert late.error("CART.ADD", "c", "kitchen", "dish-2", 1).code in ("UNAVAILABLE", "UNKNOWN")
            assert time.monotonic() - began < IN_TIME
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
            began = time.monotonic()
            assert server.stop() == 0
            assert time.monotonic() - began < STOPPED_IN_TIME
        with server.start().client() as client:
            assert client("CART.ADD", "c", "kitchen", "dish-1", 1) == 2


@pytest.mark.parametrize("silent", ["everything", "one connection"])
def test_a_server_stops_although_its_private_postgresql_is_silent(data_dir, silent):
    with Server(data_dir=data_dir) as server:
        with server.client() as client:
            put_open_outlet(client, "kitchen", MENU)
            assert client("CART.ADD", "c", "kitchen", "dish-1", 1) == 1
        found = backends(private_address(data_dir))
        with stopped([found["projections"]]) if silent == "one connection" else all_stopped(postmaster(data_dir)):
            began = time.monotonic()
            assert server.stop() == 0
            assert time.monotonic() - began < STOPPED_IN_TIME
        with server.start().client() as client:
            assert client("CART.ADD", "c", "kitchen", "dish-1", 1) == 2


def test_who_asks_a_server_that_stops_is_cut_off_at_once():
    with private_cluster() as (database, _, _), Server(database=database) as server:
        with server.client() as client, server.client() as idle:
            put_open_outlet(client, "kitchen", MENU)
            idle("PING")
            with frozen(database):
                client.send(encode("CART.ADD", "c", "kitchen", "dish-1", 1))
                server.process.send_signal(signal.SIGTERM)
                server.wait_for_output("stopping")
                began = time.monotonic()
                idle.send(encode("CART.COUNT", "c"))
                with pytest.raises((EOFError, ConnectionError)):
                    idle.read()
                assert time.monotonic() - began < 1
                assert client.read().code in ("UNAVAILABLE", "UNKNOWN")
                assert time.monotonic() - began < IN_TIME
                server.wait_until_ended()


def test_a_second_signal_ends_a_stop_that_takes_long():
    with private_cluster() as (database, _, _), Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "kitchen", MENU)
        with frozen(database):
            client.send(encode("CART.ADD", "c", "kitchen", "dish-1", 1))
            with server.client() as other:
                other("PING")
            server.process.send_signal(signal.SIGTERM)
            wait_until(lambda: "stopping" in server.output(), "the server to begin to stop")
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
