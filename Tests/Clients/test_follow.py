"""A server that only reads what others write, at a standby of their database: `serve --follow`."""

import json
import urllib.error
import urllib.request

import pytest

from followers import message
from tiffin import (
    AWAY, PATIENCE_SECONDS, ReplyError, Server, item_document, outlet_document, private_cluster, put_open_outlet,
    replica_of, run_tiffin, section_document, sql, wait_until,
)


FOLLOWED = 20


@pytest.fixture(scope="module")
def pair():
    """A server that writes, and one that follows it at a standby."""
    with private_cluster(max_connections=60) as (primary, _, _), replica_of(primary) as standby:
        with Server(database=primary) as writer:
            with writer.client() as client:
                put_open_outlet(client, "kitchen", [section_document("dishes", [item_document("dish", price=250)])])
            with Server(database=standby, options=["--follow", "--web", "127.0.0.1:0"]) as follower:
                yield writer, follower, standby


def caught_up(writer, follower):
    wait_until(lambda: position(writer) == position(follower), "the follower", seconds=FOLLOWED)


def position(server):
    with server.client() as client:
        return next(line for line in client("INFO", "log").splitlines() if line.startswith(b"partition0_position:"))


def test_everything_is_read_as_it_was_written(pair):
    writer, follower, _ = pair
    with writer.client() as one, follower.client() as other:
        one("CART.ADD", "cart", "kitchen", "dish", 2, "NOTE", "no peas", "CUSTOMER", "anna")
        one("CART.ADD", "ordered", "kitchen", "dish", 3)
        order = one("CART.CHECKOUT", "ordered", "TOTAL", 750).decode()
        caught_up(writer, follower)
        reads = [
            ("OUTLET.GET", "kitchen"), ("OUTLET.HOME", "kitchen"), ("CART.GET", "cart"), ("CART.COUNT", "cart"), ("CART.QUOTE", "cart"),
            ("ORDER.GET", order), ("ORDERS", "OUTLET", "kitchen"), ("KITCHEN", "kitchen"), ("BROWSE",),
            ("LOG.READ", "FROM", 1, "COUNT", 100), ("CART.GET", "cart", "SINCE", 0),
        ]
        for command in reads:
            assert other(*command) == one(*command), command
        assert other("CART.COUNT", "cart") == 2 and other("CART.COUNT", "ordered") == 0


def test_what_one_has_written_is_read_at_another_server_behind_its_token(pair):
    writer, follower, _ = pair
    with writer.client() as one, follower.client() as other:
        assert one("TOKEN") is None
        for number in range(1, 21):
            one("CART.ADD", "told", "kitchen", "dish", 1)
            token = one("TOKEN")
            assert other.pipeline([("AFTER", token), ("CART.COUNT", "told")]) == [b"OK", number]
            assert one("AFTER", token) == b"OK"
        partition, position, digest = token.decode().split(".")
        with pytest.raises(ReplyError, match="^BEHIND partition 0 is known here up to position"):
            other("AFTER", f"{partition}.{int(position) + 1000}.{digest}")
        with pytest.raises(ReplyError, match="^FORKED partition 0 has something else at position"):
            other("AFTER", f"{partition}.{position}.{'0' * 8}")
        for nonsense in ["", "0", "0.1", f"0.1.{digest}0", f"0.-1.{digest}", f"x.1.{digest}", f"0.1.{digest.upper()}G", "0..", f"0.1.{digest},",
                         f"0.9223372036854775808.{digest}", ",".join([token.decode()] * 257), f"1.1.{digest}", f"{2**63}.1.{digest}"]:
            with pytest.raises(ReplyError, match="^INVALID token: "):
                other("AFTER", nonsense)


def test_listeners_hear_what_the_others_write(pair):
    writer, follower, _ = pair
    with writer.client() as one, follower.client(protocol=3) as other:
        one("CART.ADD", "heard", "kitchen", "dish", 1)
        other("SUBSCRIBE", "cart:heard")
        for version in [1, 2]:
            while message(other.read())[1].get("to") != version:
                pass
            one("CART.ADD", "heard", "kitchen", "dish", 1)


def test_whatever_would_change_something_is_refused(pair):
    _, follower, standby = pair
    before = sql("select sum(position) from tiffin.log_head", standby)
    with follower.client() as client:
        for command in [
            ("CART.ADD", "cart", "kitchen", "dish", 1), ("CART.CHECKOUT", "cart", "TOTAL", 500), ("CART.CLEAR", "cart"),
            ("OUTLET.PUT", "other", json.dumps(outlet_document())), ("MENU.ITEM.SUSPEND", "kitchen", "dish"),
            ("CUSTOMER.FORGET", "anna"), ("PROJECTION.REBUILD", "cart_counts"),
        ]:
            with pytest.raises(ReplyError, match="^READONLY You can't write against a read only replica"):
                client(*command)
        assert dict(zip(*[iter(client("HELLO", 2))] * 2))[b"role"] == b"replica"
    request = urllib.request.Request(
        f"http://{follower.site('store')}/v1/cart/lines", json.dumps({"outlet": "kitchen", "item": "dish", "quantity": 1}).encode(),
        {"Content-Type": "application/json"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=PATIENCE_SECONDS)
    assert refused.value.code == 403 and json.load(refused.value)["code"] == "READONLY"
    assert sql("select sum(position) from tiffin.log_head", standby) == before


def test_it_survives_what_befalls_it(pair):
    writer, follower, standby = pair
    follower.kill()
    with writer.client() as one:
        for number in range(5):
            one("CART.ADD", f"meanwhile-{number}", "kitchen", "dish", 1)
    follower.start()
    caught_up(writer, follower)
    with follower.client() as client:
        assert [client("CART.COUNT", f"meanwhile-{number}") for number in range(5)] == [1] * 5
        sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'tiffin %'", standby)
        with writer.client() as one:
            one("CART.ADD", "afterwards", "kitchen", "dish", 4)

        def has_followed():
            # The count may be asked over a connection that was just ended.
            try:
                return client("CART.COUNT", "afterwards") == 4
            except ReplyError as error:
                assert error.code in AWAY, error

        wait_until(has_followed, "the follower", seconds=FOLLOWED)
    assert follower.stop() == 0
    assert "error" not in follower.output() or "tiffin reader" in follower.output(), follower.output()
    follower.start()
    run = run_tiffin("audit", "--database", standby, "--server", f"127.0.0.1:{follower.port}")
    assert run.returncode == 0, run.stdout


def test_it_follows_a_log_that_there_is(database):
    run = run_tiffin("serve", "--follow")
    assert (run.returncode, "--follow needs --database" in run.stderr) == (64, True), run
    run = run_tiffin("serve", "--follow", "--demo", "--database", database)
    assert run.returncode == 64 and "demo" in run.stderr, run
    run = run_tiffin("serve", "--follow", "--database", database, "--listen", "127.0.0.1:0", "--web", "off", "--console", "off")
    assert run.returncode == 1 and "run tiffin migrate" in run.stdout + run.stderr, run
    assert sql("select count(*) from pg_namespace where nspname = 'tiffin'", database) == "0"
