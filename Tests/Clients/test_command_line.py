"""Options, and starts that end early."""

import json
import os
import signal
import socket
import subprocess

import pytest

import tiffin
from tiffin import PATIENCE_SECONDS, Server, put_open_outlet
from writers import MENU


def test_a_port_in_use_is_named_and_nothing_stays_behind(data_dir):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        run = tiffin.run_tiffin("serve", "--listen", f"127.0.0.1:{port}", "--data-dir", data_dir)
    assert run.returncode == 1 and f"127.0.0.1:{port}" in run.stderr and "in use" in run.stderr, run
    assert not os.path.exists(f"{data_dir}/postgres/postmaster.pid")


@pytest.mark.parametrize("option", ["--listen", "--web", "--console"])
def test_a_port_in_use_is_noticed_before_anything_is_made(database, tmp_path, option):
    folder = tmp_path / "data"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        words = ("serve", "--listen", "127.0.0.1:0", option, address)
        runs = [tiffin.run_tiffin(*words, *place) for place in (("--data-dir", folder), ("--database", database))]
    for run in runs:
        assert (run.returncode, run.stdout) == (1, "") and f"listen on {address}: " in run.stderr, run
    assert not folder.exists()
    assert tiffin.sql("SELECT to_regnamespace('tiffin') IS NULL", database) == "t"


BESIDE_SERVERS = [
    ("log",), ("audit",), ("replay", "orders"), ("why", "cart", "c"), ("rebuild", "--all"), ("forget", "c"), ("user", "list"),
    ("relay", "--show-secret"), ("migrate",)]


@pytest.mark.parametrize("words", BESIDE_SERVERS, ids=" ".join)
def test_a_mistyped_data_directory_is_not_made(tmp_path, words):
    folder = tmp_path / "mistyped"
    run = tiffin.run_tiffin(*words, "--data-dir", folder)
    assert (run.returncode, run.stdout, run.stderr) == (
        3 if words[0] == "audit" else 1, "",
        f"tiffin {words[0]}: there is no database in {folder}: --data-dir or --database names another, "
        "and 'tiffin serve' makes one\n")
    assert not folder.exists()


@pytest.fixture(scope="module")
def newer():
    """A database that a version of the future has migrated."""
    with tiffin.fresh_database() as database:
        assert tiffin.run_tiffin("migrate", "--database", database).returncode == 0
        tiffin.sql("INSERT INTO tiffin.migrations VALUES (9999, 'future', 'x', now())", database)
        yield database


@pytest.mark.parametrize("words", [*BESIDE_SERVERS, ("serve", "--listen", "127.0.0.1:0")], ids=" ".join)
def test_what_a_newer_version_migrated_is_refused(newer, words):
    run = tiffin.run_tiffin(*words, "--database", newer)
    assert (run.returncode, run.stdout) == (3 if words[0] == "audit" else 1, "")
    assert "the database has migration 9999" in run.stderr
    assert "which this version of Tiffin does not know: it was migrated by a newer one" in run.stderr


@pytest.mark.parametrize("words, status", [
    (("verify",), 3), (("verify", "/dev/null", "--anchor"), 3), (("audit", "--anchor"), 3), (("log", "--database-file"), 64),
    (("import", "menu", "/dev/null", "--outlet", "o", "--user", "me", "--password-file"), 6),
    (("import", "menu", "--outlet", "o"), 5),
], ids=lambda words: " ".join(words) if isinstance(words, tuple) else "")
def test_a_file_that_cannot_be_read_is_named_with_the_systems_reason(tmp_path, words, status):
    menu = tmp_path / "menu.json"
    menu.write_text('{"sections":[{"id":"s","title":"S","kind":"menuItems","items":[{}]}]}')
    for path, reason in ((tmp_path, "Is a directory"), (tmp_path / "none", "No such file or directory")):
        run = tiffin.run_tiffin(*(menu if word == "/dev/null" and words[0] == "import" else word for word in words), path)
        assert (run.returncode, run.stdout) == (status, "")
        assert f"{path}: {reason}" in run.stderr and len(run.stderr.splitlines()) == 1, run.stderr


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
            assert follower.wait(timeout=PATIENCE_SECONDS) == 0
        finally:
            follower.kill()
            follower.wait()


@pytest.mark.parametrize("line", ["Creating a PostgreSQL", "migration 1 ", "the log has 1 partition", "tiffin: listening on"])
def test_an_interrupted_start_ends_cleanly_and_can_be_repeated(data_dir, line):
    server = Server(data_dir=data_dir)
    try:
        server.launch()
        server.wait_for_output(line)
        assert server.stop(signal.SIGINT) == 0, server.output()
        with server.start().client() as client:
            assert client("PING") == "PONG"
        assert server.stop() == 0
        assert not os.path.exists(f"{data_dir}/postgres/postmaster.pid")
    finally:
        server.kill()
