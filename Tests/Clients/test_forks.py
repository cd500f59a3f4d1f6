"""A log that loses what servers have read: a standby takes over that lacked the newest batches, or a backup is restored."""

import contextlib
import signal
import time
from urllib.parse import urlsplit

import pytest

from edits import canonical, patched
from followers import message
from test_fleet import leases, wait_until_even
from tiffin import (
    RECOVERED_SECONDS, Server, encode, item_document, private_cluster, put_open_outlet, replica_of, run_tiffin,
    section_document, sql, until_served, wait_until,
)


def add(client, cart, quantity=1):
    return client("CART.ADD", cart, "kitchen", "dish", quantity)


def position(client):
    """Up to where a server has read the log."""
    return int(information(client, "partition0_position"))


def information(client, name):
    return next(line.partition(":")[2] for line in client("INFO", "log").decode().split() if line.startswith(name + ":"))


@pytest.fixture
def pair():
    """A primary and a standby of it, which can be cut off from it, and take its place."""
    with private_cluster(max_connections=50) as (primary, _, stop), replica_of(primary) as standby:
        hosts = ",".join(urlsplit(url).netloc.partition("@")[2] for url in (primary, standby))
        url = f"postgres://postgres@{hosts}/postgres?target_session_attrs=read-write"

        def caught_up():
            ends = [sql("select position from tiffin.log_head", database) for database in (primary, standby)]
            return ends[0] == ends[1]

        def cut_off():
            wait_until(caught_up, "the standby")
            sql("alter system set primary_conninfo = ''", standby)
            sql("select pg_reload_conf()", standby)
            wait_until(lambda: sql("select count(*) from pg_stat_wal_receiver", standby) == "0", "the standby's end")

        def take_over():
            stop("immediate")
            assert sql("select pg_promote()", standby) == "t"

        yield url, standby, cut_off, take_over


@contextlib.contextmanager
def frozen(server):
    server.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        server.process.send_signal(signal.SIGCONT)


def test_a_standby_that_lacks_the_newest_batches_takes_over(pair):
    url, standby, cut_off, take_over = pair
    with Server(database=url) as one, Server(database=url) as two, contextlib.ExitStack() as clients:
        # The other one only follows: what it is given while it stands still, it would carry out afterwards.
        wait_until_even(url, [one, two])
        server, late = (one, two) if leases(url)[one.port] else (two, one)
        client, listener = clients.enter_context(server.client()), clients.enter_context(server.client())
        put_open_outlet(client, "kitchen", [section_document("all", [item_document("dish", 500)])])
        for cart in ("kept", "changed"):
            add(client, cart, 2)
        kept = position(client)
        with late.client() as other:
            wait_until(lambda: position(other) == kept, "the other server")
        cut_off()
        with frozen(late):
            # The other server learns nothing of what is lost.
            add(client, "changed", 5)
            add(client, "lost", 9)
            client("OUTLET.CLOSE", "kitchen")
            home = client.json("OUTLET.HOME", "kitchen")
            lost = position(client)
            listener.send(encode("SUBSCRIBE", "home:kitchen"))
            listener.read()
            assert message(listener.read())[1]["to"] == home["revision"]
            # Long enough for a checkpoint that the standby does not have.
            wait_until(lambda: f"saved_position={lost}," in client("INFO", "projections").decode(), "a checkpoint")
            take_over()

        with server.client() as client, late.client() as other:
            began = time.monotonic()
            wait_until(lambda: position(client) == kept, "the server to read the log again", seconds=RECOVERED_SECONDS)
            assert client("CART.COUNT", "changed") == 2
            assert client("CART.COUNT", "lost") == 0
            before = client.json("OUTLET.HOME", "kitchen")
            assert before["revision"] < home["revision"]
            change = message(listener.read())[1]
            assert (change["from"], change["to"]) == (home["revision"], before["revision"])
            assert canonical(patched(home, change)) == canonical(before)
            assert until_served(client, "CART.ADD", "changed", "kitchen", "dish", 1) == 3
            assert time.monotonic() - began < RECOVERED_SECONDS
            assert until_served(other, "CART.ADD", "changed", "kitchen", "dish", 1) == 4
            for n in range(20):
                add([client, other][n % 2], f"later-{n % 3}")
            assert information(client, "partition0_lost_events") == str(lost - kept)
            assert information(other, "partition0_lost_events") == "0"
            wait_until(lambda: position(client) == position(other), "both servers")
            assert client("CART.COUNT", "changed") == other("CART.COUNT", "changed") == 4
        server.wait_for_output(f"the database has lost what was read from position {kept + 1} to {lost}")
        assert "has lost" not in late.output()
        sound = run_tiffin("audit", "--database", standby)
        assert sound.returncode == 0, sound.stdout + sound.stderr


def test_a_server_that_starts_does_not_believe_a_checkpoint_of_another_log(pair):
    url, standby, _, _ = pair
    with Server(database=url) as server, server.client() as client:
        put_open_outlet(client, "kitchen", [section_document("all", [item_document("dish", 500)])])
        add(client, "kept", 2)
    # The checkpoint as another log had it: as far, with other events.
    primary = url.replace("?target_session_attrs=read-write", "?target_session_attrs=primary")
    sql("update tiffin.projection_checkpoints set chain_digest = sha256('other'); "
        "update tiffin.cart_count_rows set count = 7", primary)
    with Server(database=url) as server, server.client() as client:
        server.wait_for_output("is not the one that they were made from")
        assert client("CART.COUNT", "kept") == 2
