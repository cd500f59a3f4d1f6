"""The server's log: nobody waits for whoever reads it, and it has no secrets."""

import fcntl
import json
import os
import signal
import subprocess
from datetime import datetime
from urllib.parse import urlsplit, urlunsplit

import tiffin
from tiffin import STOP_SECONDS, Client, Server, put_open_outlet, run_tiffin, section_document, item_document, sql, wait_until

MENU = [section_document("all", [item_document("tea", 695)])]


def fill(descriptor) -> int:
    """Fills a pipe, and returns how many bytes it took."""
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    size = 0
    try:
        while True:
            size += os.write(descriptor, b"x" * 4_096)
    except BlockingIOError:
        pass
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags)
    return size


def test_a_log_that_nobody_reads_stops_nobody(database):
    reader, writer = os.pipe()
    size = fill(writer)
    process = subprocess.Popen(
        [tiffin.binary(), "serve", "--listen", "127.0.0.1:0", "--database", database, "--log-level", "debug"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=writer, text=True)
    try:
        os.close(writer)
        line = next(line for line in process.stdout if line.startswith("tiffin: listening on "))
        port = int(line.rpartition(":")[2])
        with Client(port) as client:
            put_open_outlet(client, "kitchen", MENU)
            for _ in range(20):
                # A line is logged for each.
                with Client(port) as other:
                    other.send(b"POST / HTTP/1.1\r\n\r\n")
                    assert other.is_closed()
                assert client("CART.ADD", "c", "kitchen", "tea", 1) > 0
            assert b"log_lines_dropped:0\r" in client("INFO", "server")
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=STOP_SECONDS) == 0
        # Whoever holds the pipe finds in it what was there, and nothing else.
        assert os.read(reader, size + 1) == b"x" * size
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        os.close(reader)


def test_the_last_words_of_a_server_that_fails_are_read(database):
    run = run_tiffin("serve", "--log-format", "json", "--database", "postgres://nobody@127.0.0.1:1/x")
    assert run.returncode == 1 and run.stdout == ""
    (line,) = run.stderr.splitlines()
    assert json.loads(line)["level"] == "error"


def test_every_line_is_an_object_and_has_no_secrets(database):
    secrets = ["s3cret-of-the-database", "s3cret-of-anna", "s3cret-note", "s3cret-guess"]
    url = urlsplit(database)
    host = url.netloc.rpartition("@")[2]
    address = urlunsplit(url._replace(netloc=f"{url.username}:{secrets[0]}@{host}"))
    assert run_tiffin("migrate", "--database", database).returncode == 0
    for name, role in (("anna", "customer"), ("root", "admin")):
        run = run_tiffin("user", "add", name, "--role", role, "--database", database, text=f"{secrets[1]}\n")
        assert run.returncode == 0, run
    token = run_tiffin("user", "token", "root", "--database", database).stdout.strip()
    options = ["--log-format", "json", "--log-level", "debug"]
    with Server(database=address, options=options) as server, server.client() as client:
        assert client("AUTH", "root", token) == "OK"
        put_open_outlet(client, "kitchen", MENU)
        with server.client() as anna:
            assert anna.error("AUTH", "anna", secrets[3]).code == "WRONGPASS"
            assert anna("AUTH", "anna", secrets[1]) == "OK"
            assert anna("CART.ADD", "anna-1", "kitchen", "tea", 1, "NOTE", secrets[2], "CUSTOMER", "anna") == 1
            # Whoever is cut off in the middle of something leaves a line.
            anna.send(b"*3\r\n$4\r\nAUTH\r\n$4\r\nanna\r\n$14\r\n" + secrets[1].encode())
        with server.client() as stranger:
            stranger.send(b"POST /?token=" + token.encode() + b" HTTP/1.1\r\n\r\n")
            assert stranger.is_closed()
        sql("select pg_terminate_backend(pid) from pg_stat_activity "
            "where datname = current_database() and pid <> pg_backend_pid()", database)
        wait_until(
            lambda: client.pipeline([("CART.ADD", "c", "kitchen", "tea", 1, "ID", "once")])[0] == 1,
            "the server to reach its database")
        server.stop()
        lines = [line for line in server.lines if line and not line.startswith("tiffin: listening on ")]
        levels = set()
        for line in lines:
            fields = json.loads(line)
            assert list(fields) == ["time", "level", "message"]
            assert datetime.fromisoformat(fields["time"]).utcoffset().total_seconds() == 0
            levels.add(fields["level"])
        assert levels == {"error", "info", "debug"}
        for secret in [*secrets, token]:
            assert secret not in server.output()
