"""What held up the server: SLOWLOG and LATENCY as redis-py and redis-cli read them."""

import itertools
import subprocess
import time

import pytest
import redis

from tiffin import (
    PATIENCE_SECONDS, Server, fresh_database, item_document, open_transaction, put_open_outlet, section_document,
    wait_until,
)

carts = (f"long-{number}" for number in itertools.count())
MENU = [section_document("all", [item_document("tea", 695)])]


@pytest.fixture(scope="module")
def watched():
    """A server that takes everything for slow, and keeps the latest ten commands."""
    options = ["--slowlog-log-slower-than", "0", "--slowlog-max-len", "10", "--latency-monitor-threshold", "1"]
    with fresh_database() as database, Server(database=database, options=options) as server:
        with server.client() as client:
            put_open_outlet(client, "kitchen", MENU)
        server.database = database
        yield server


@pytest.fixture(params=[2, 3])
def connection(watched, request):
    with redis.Redis(port=watched.port, protocol=request.param, client_name="till") as connection:
        yield connection


def test_slow_commands_are_kept_with_their_arguments(watched, connection):
    before = int(time.time())
    assert connection.slowlog_reset()
    connection.execute_command("CART.COUNT", "c-1")
    with pytest.raises(redis.ResponseError):
        connection.execute_command("CART.COUNT", "no id")
    latest, older, oldest = connection.slowlog_get(3)
    # The reset is answered before it is kept.
    assert [entry["command"] for entry in (latest, older, oldest)] == [
        b"CART.COUNT no id", b"CART.COUNT c-1", b"SLOWLOG RESET"]
    assert latest["id"] == older["id"] + 1 == oldest["id"] + 2
    for entry in (latest, older, oldest):
        assert before <= entry["start_time"] <= time.time()
        assert 0 <= entry["duration"] < PATIENCE_SECONDS * 1_000_000
        assert entry["client_name"] == b"till"
        assert entry["client_address"].startswith(b"127.0.0.1:")
    # Those that ask are kept, too.
    assert connection.slowlog_len() == 4
    for _ in range(20):
        connection.ping()
    assert connection.slowlog_len() == 10
    assert len(connection.slowlog_get()) == len(connection.slowlog_get(-1)) == len(connection.slowlog_get(1_000)) == 10
    assert connection.slowlog_get(0) == []
    with pytest.raises(redis.ResponseError, match="greater than or equal to -1"):
        connection.slowlog_get(-2)


def test_long_commands_are_shortened(watched, connection):
    # redis-py says who it is when it connects.
    connection.ping()
    with watched.client() as client:
        client("INFO", *["x" * 200] * 40)
    (entry,) = connection.slowlog_get(1)
    assert entry["command"] == b" ".join(
        [b"INFO", *[b"x" * 128 + b"... (72 more bytes)"] * 30, b"... (10 more arguments)"])


def test_no_password_and_no_text_is_kept(connection):
    connection.slowlog_reset()
    connection.execute_command("AUTH", "default", "s3cret")
    connection.execute_command("HELLO", 2, "AUTH", "default", "s3cret")
    connection.execute_command(
        "CART.ADD", "c-2", "kitchen", "tea", 1, "note", "s3cret", "CUSTOMER", "anna", "ID", f"{connection.client_id()}")
    kept = [entry["command"] for entry in connection.slowlog_get(10)]
    assert any(b"note (redacted) CUSTOMER anna ID" in command for command in kept), kept
    assert not any(b"s3cret" in command or b"AUTH" in command for command in kept), kept


def test_redis_cli_shows_slow_commands(watched):
    def cli(*words):
        run = subprocess.run(["redis-cli", "-p", str(watched.port), *words], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        assert run.returncode == 0, run
        return run.stdout

    # redis-cli names no client, and asks for nothing by itself when it is no terminal.
    cli("CART.COUNT", "c\x1b[2J")
    assert "CART.COUNT\nc" in cli("SLOWLOG", "GET", "1")
    assert "SLOWLOG RESET" in cli("SLOWLOG", "HELP")
    assert cli("SLOWLOG", "LEN").strip().isdigit()
    assert "wrong number of arguments" in cli("SLOWLOG") + cli("LATENCY", "HISTORY")


def test_what_took_long_is_told(watched, connection):
    def latest():
        return {event: rest for event, *rest in connection.latency_latest()}

    def happens():
        with open_transaction(watched.database, "lock tiffin.log_head in access exclusive mode"):
            writer.send(f"CART.ADD {next(carts)} kitchen tea 1\r\n".encode())
            client("COMMAND", "DOCS")
        assert writer.read() == 1
        return {b"command", b"append", b"loop-turn"} <= set(latest())

    connection.latency_reset()
    with watched.client() as writer, watched.client() as client:
        wait_until(happens, "something to take a millisecond")
    wait_until(lambda: b"checkpoint" in latest(), "a checkpoint")
    for event, (at, milliseconds, most) in latest().items():
        assert abs(time.time() - at) < 2 * PATIENCE_SECONDS and 1 <= milliseconds <= most
        history = connection.latency_history(event)
        assert history[-1][0] >= at and max(time for _, time in history) >= milliseconds
    assert connection.latency_history("no-such-event") == []
    assert connection.latency_reset("append", "no-such-event") == 1
    assert b"append" not in latest()
    assert connection.latency_reset() >= 1


def test_a_server_that_is_told_to_keeps_nothing(database):
    with Server(database=database, options=["--slowlog-log-slower-than", "-1", "--latency-monitor-threshold", "0"]) as server:
        with redis.Redis(port=server.port) as connection, server.client() as client:
            client("COMMAND", "DOCS")
            assert (connection.slowlog_len(), connection.latency_latest()) == (0, [])
            settings = connection.config_get("*-*")
    assert (settings["slowlog-log-slower-than"], settings["slowlog-max-len"]) == ("-1", "128")
    assert settings["latency-monitor-threshold"] == "0"
