"""A menu as large as menus may be is sent by the line protocol, by HTTP and by an import; nobody else can send as much."""

import http.client
import json
import socket
from contextlib import closing

import pytest

from tiffin import (
    PATIENCE_SECONDS, Server, encode, fresh_database, item_document, outlet_document, run_tiffin, section_document,
    wait_until,
)

ITEMS, TEXT_BYTES, DOCUMENT_BYTES, ARGUMENT_BYTES = 5_000, 8 << 20, 32 << 20, 1 << 20


def menu(letters=1_550) -> str:
    return json.dumps({"sections": [section_document("all", [
        item_document(f"item-{n}", n, description="x" * letters) for n in range(ITEMS)])]})


def put_by_http(console, outlet, body):
    """Puts a menu. While the outcome is unknown, it is put again with the same key, as the answer asks."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": f"menu-{outlet}"}

    def answer():
        with closing(http.client.HTTPConnection(console, timeout=PATIENCE_SECONDS)) as connection:
            connection.request("PUT", f"/v1/outlets/{outlet}/menu", body, headers)
            response = connection.getresponse()
            status, document = response.status, json.loads(response.read())
        return document.get("code") != "UNKNOWN" and (status, document)

    return wait_until(answer, "an outcome that is known")


def test_a_menu_at_its_limits_can_be_sent_in_every_way(database, tmp_path):
    document = menu()
    assert TEXT_BYTES < len(document)
    file = tmp_path / "menu.json"
    file.write_text(document)
    with Server(database=database, options=["--console", "127.0.0.1:0"]) as server, server.client() as client:
        client.socket.settimeout(PATIENCE_SECONDS)
        for outlet in ("line", "http", "file"):
            client("OUTLET.PUT", outlet, json.dumps(outlet_document()))
        beyond = client.error("MENU.PUT", "line", menu(1_650))
        assert beyond.code == "LIMIT" and f"at most {TEXT_BYTES} bytes together" in str(beyond)
        version = client("MENU.PUT", "line", document, "ID", "once")
        assert put_by_http(server.site("console"), "http", document) == (200, {"version": version})
        run = run_tiffin("import", "menu", file, "--outlet", "file", "--server", f"127.0.0.1:{server.port}")
        assert run.returncode == 0, run.stderr
        line, by_http, by_file = (client.json("MENU.GET", outlet)["sections"] for outlet in ("line", "http", "file"))
        assert len(line[0]["items"]) == ITEMS
        assert line == by_http == by_file


@pytest.fixture(scope="module")
def guarded():
    """A server with users, and their tokens."""
    with fresh_database() as database:
        assert run_tiffin("migrate", "--database", database).returncode == 0
        tokens = {}
        for role in ("customer", "merchant", "auditor", "admin"):
            run = run_tiffin("user", "add", role, "--role", role, "--no-password", "--database", database)
            assert run.returncode == 0, run.stderr
            tokens[role] = run_tiffin("user", "token", role, "--database", database).stdout.split()[-1]
        with Server(database=database, options=["--console", "127.0.0.1:0"]) as server:
            yield server, tokens


def announce(server, login, command, *words, length):
    """What the server says to somebody who begins a request, of whose last argument only the length is sent."""
    with closing(socket.create_connection(("127.0.0.1", server.port), PATIENCE_SECONDS)) as connection:
        head = b"*%d\r\n" % (len(words) + 2) + encode(command, *words).partition(b"\r\n")[2]
        if login:
            connection.sendall(encode("AUTH", *login))
            assert connection.recv(100) == b"+OK\r\n"
        connection.sendall(head + b"$%d\r\n" % length)
        # A request that is refused is refused now. One that is taken has not come yet: its connection is still there.
        connection.settimeout(PATIENCE_SECONDS)
        connection.shutdown(socket.SHUT_WR)
        return connection.recv(1_000)


@pytest.mark.parametrize("role, command, words, length, is_taken", [
    ("merchant", "MENU.PUT", ("o",), DOCUMENT_BYTES, True),
    ("admin", "menu.put", ("o",), DOCUMENT_BYTES, True),
    ("admin", "MENU.PUT", ("o",), DOCUMENT_BYTES + 1, False),
    ("admin", "MENU.PUT", (), ARGUMENT_BYTES + 1, False),
    ("admin", "MENU.PUT", ("o", "{}"), ARGUMENT_BYTES + 1, False),
    ("admin", "OUTLET.PUT", ("o",), ARGUMENT_BYTES + 1, False),
    ("customer", "MENU.PUT", ("o",), ARGUMENT_BYTES, True),
    ("customer", "MENU.PUT", ("o",), ARGUMENT_BYTES + 1, False),
    ("auditor", "MENU.PUT", ("o",), ARGUMENT_BYTES + 1, False),
    (None, "MENU.PUT", ("o",), (16 << 10) + 1, False),
])
def test_only_a_menu_of_a_merchant_may_be_so_long(guarded, role, command, words, length, is_taken):
    server, tokens = guarded
    reply = announce(server, (role, tokens[role]) if role else None, command, *words, length=length)
    bulk = "unauthenticated bulk length" if role is None else "invalid bulk length"
    assert reply == (b"" if is_taken else f"-ERR Protocol error: {bulk}\r\n".encode())


@pytest.mark.parametrize("role, path, length, status", [
    ("merchant", "/v1/outlets/o/menu", DOCUMENT_BYTES, 100),
    ("merchant", "/v1/outlets/o/menu", DOCUMENT_BYTES + 1, 413),
    ("merchant", "/v1/outlets/o", ARGUMENT_BYTES, 100),
    ("merchant", "/v1/outlets/o", ARGUMENT_BYTES + 1, 413),
    ("auditor", "/v1/outlets/o/menu", (64 << 10) + 1, 413),
    ("auditor", "/v1/outlets/o/menu", 64 << 10, 100),
    ("merchant", "/v1/nothing", (64 << 10) + 1, 413),
    (None, "/v1/outlets/o/menu", (64 << 10) + 1, 401),
])
def test_by_http_a_long_body_is_read_only_from_those_who_may_send_it(guarded, role, path, length, status):
    server, tokens = guarded
    host, port = server.site("console").split(":")
    login = f"Authorization: Bearer {role}:{tokens[role]}\r\n" if role else ""
    with closing(socket.create_connection((host, int(port)), PATIENCE_SECONDS)) as connection:
        connection.sendall((
            f"PUT {path} HTTP/1.1\r\nHost: localhost\r\n{login}Content-Type: application/json\r\n"
            f"Content-Length: {length}\r\nExpect: 100-continue\r\n\r\n").encode())
        assert int(connection.recv(1_000).split()[1]) == status
