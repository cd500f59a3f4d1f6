"""Options, and starts that end early."""

import json
import os
import signal
import socket
import subprocess
import time

import pytest

import tiffin
from tiffin import Server, put_open_outlet
from writers import MENU


def test_a_port_in_use_is_named_and_nothing_stays_behind(data_dir):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        run = tiffin.run_tiffin("serve", "--listen", f"127.0.0.1:{port}", "--data-dir", data_dir)
    assert run.returncode == 1 and f"127.0.0.1:{port}" in run.stderr and "in use" in run.stderr, run
    assert not os.path.exists(f"{data_dir}/postgres/postmaster.pid")


USAGE = [
    (("serve", "--listen", "nowhere"), 64), (("serve", "--listen", "127.0.0.1:65536"), 64), (("serve", "--listen", "127.0.0.1:-1"), 64),
    (("serve", "--no-such-option"), 64), (("serve", "stray"), 64), (("serve", "--listen"), 64), (("serve", "--demo=no"), 64),
    (("serve", "--log-level", "loud"), 64), (("serve", "--protected-mode", "maybe"), 64),
    (("serve", "--database", "nonsense://x"), 1), (("serve", "--database", "postgres://nobody@127.0.0.1:1/x"), 1),
    (("migrate", "--partitions", "0"), 64), (("migrate", "--partitions", "257"), 64), (("migrate", "--partitions", "x"), 64),
    (("migrate", "--database", "postgres://nobody@127.0.0.1:1/x"), 1),
    (("log", "--from", "0"), 64), (("log", "--from", "9223372036854775808"), 64), (("log", "--stream", "a b"), 64),
    (("log", "--partition", "-1", "--database", "postgres://nobody@127.0.0.1:1/x"), 1), (("log", "--database", "postgres://nobody@127.0.0.1:1/x"), 1),
    (("serve", "--data-dir", "/proc/nothing"), 1), (("serve", "--data-dir", "/dev/null"), 1),
    (("no-such-command",), 64), ((), 64), (("help",), 0), (("help", "serve"), 0), (("version",), 0), (("--version",), 0), (("serve", "--help"), 0),
]


@pytest.mark.parametrize(("arguments", "status"), USAGE, ids=lambda value: " ".join(value) if isinstance(value, tuple) else None)
def test_options_are_checked_and_errors_are_one_line(arguments, status):
    run = tiffin.run_tiffin(*arguments, seconds=30)
    assert run.returncode == status, run
    if status and arguments:
        assert run.stdout == "" and run.stderr.startswith("tiffin") and len(run.stderr.splitlines()) <= 3, run
    assert "crash" not in run.stderr and "Error(" not in run.stderr, run


def test_options_come_from_the_environment_too(database):
    environment = {"TIFFIN_DATABASE": database, "TIFFIN_LOG_LEVEL": "debug", "TIFFIN_LISTEN": "localhost:1"}
    with Server(environment=environment) as server, server.client() as client:
        assert client("PING") == "PONG"
        server.wait_for_output("debug")


def test_following_the_log_ends_with_its_reader(database):
    with Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "kitchen", MENU)
        follower = subprocess.Popen(
            [tiffin.binary(), "log", "--follow", "--database", database, "--stream", "cart-c"], stdout=subprocess.PIPE, text=True)
        try:
            client("CART.ADD", "c", "kitchen", "dish-1", 1)
            assert json.loads(follower.stdout.readline())["stream"] == "cart-c"
            follower.stdout.close()
            client("CART.ADD", "c", "kitchen", "dish-1", 1)
            assert follower.wait(timeout=10) == 0
        finally:
            follower.kill()
            follower.wait()


@pytest.mark.parametrize("moment", [0.05, 0.3, 1.0, 2.0])
def test_an_interrupted_start_ends_cleanly_and_can_be_repeated(data_dir, moment):
    server = Server(data_dir=data_dir)
    try:
        server.launch()
        time.sleep(moment)
        status = server.stop(signal.SIGINT)
        assert status in (0, 1, 130, -signal.SIGINT), server.output()
        assert "crash" not in server.output().lower()
        with server.start().client() as client:
            assert client("PING") == "PONG"
        assert server.stop() == 0
        assert not os.path.exists(f"{data_dir}/postgres/postmaster.pid")
    finally:
        server.kill()
