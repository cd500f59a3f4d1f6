"""What one client of the web server may take from the others: connections, streams, and bytes on their way."""

import contextlib
import json
import socket

import pytest

from tiffin import PATIENCE_SECONDS, Server, fresh_database, wait_until

CONNECTIONS, CONNECTIONS_OF_ADDRESS, STREAMS = 40, 20, 2
BODY_BYTES = {"/v1/cart/tip": 64 << 10, "/v1/outlets/limits": 1 << 20, "/v1/outlets/limits/menu": 32 << 20}
BODIES_BYTES = 128 << 20
# Everything in 127.0.0.0/8 is this machine, so each client can have an address.
PROXY = "127.0.0.9"


@pytest.fixture(scope="module")
def web():
    """A server with both sites and small limits."""
    options = (
        "--web", "127.0.0.1:0", "--console", "127.0.0.1:0", "--web-max-connections", CONNECTIONS,
        "--web-max-connections-per-address", CONNECTIONS_OF_ADDRESS, "--web-max-streams", STREAMS, "--web-proxy", PROXY)
    with fresh_database() as url, Server(database=url, options=[str(option) for option in options]) as server:
        yield server


@pytest.fixture
def connect(web):
    """Opens connections: `connect(site, source address)`. They end with the test, and the next one begins without."""
    with contextlib.ExitStack() as stack:
        def open_one(site="store", source="127.0.0.1"):
            address = web.site(site).split(":")
            connection = socket.create_connection(address, PATIENCE_SECONDS, (source, 0))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            stack.callback(connection.close)
            return connection

        yield open_one
    wait_until(lambda: open_connections(web) == 1, "the connections to end")


def open_connections(web):
    """How many connections the server has, this one among them."""
    address = web.site("console").split(":")
    with contextlib.closing(socket.create_connection(address, PATIENCE_SECONDS, (PROXY, 0))) as connection:
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        metrics = read_all(connection).decode()
    lines = metrics.splitlines()
    # Without any, it was not taken itself.
    return next((int(line.split()[1]) for line in lines if line.startswith("tiffin_http_connections ")), None)


def read_all(connection):
    received = b""
    while more := connection.recv(65536):
        received += more
    return received


def answer(connection, request=b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"):
    """The status and the body of the answer to a request, or of what the server says by itself."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        connection.sendall(request)
    received = b""
    while b"\r\n\r\n" not in received:
        received += (more := connection.recv(65536))
        assert more, received
    head, _, body = received.partition(b"\r\n\r\n")
    length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:")), 0)
    while len(body) < length:
        body += connection.recv(65536)
    return int(head.split()[1]), body


def code(body):
    return json.loads(body)["code"]


def test_an_address_has_so_many_connections_and_a_proxy_any_number(connect):
    for _ in range(CONNECTIONS_OF_ADDRESS):
        assert answer(connect())[0] == 200
    status, body = answer(connect(), b"")
    assert (status, code(body)) == (503, "BUSY")
    assert answer(connect(source="127.0.0.2"))[0] == 200
    for _ in range(CONNECTIONS - CONNECTIONS_OF_ADDRESS - 1):
        assert answer(connect("console", PROXY))[0] == 200
    status, body = answer(connect(source="127.0.0.3"), b"")
    assert (status, code(body)) == (503, "BUSY"), "there are as many connections as there may be"


def test_a_connection_that_ends_makes_room(web, connect):
    connections = [connect() for _ in range(CONNECTIONS_OF_ADDRESS)]
    for connection in connections:
        assert answer(connection)[0] == 200
    connections[0].close()

    wait_until(lambda: open_connections(web) == CONNECTIONS_OF_ADDRESS, "the end to be noticed")
    assert answer(connect())[0] == 200


def test_a_browser_has_so_many_streams_and_another_one_has_its_own(connect):
    def stream(cookie):
        return answer(connect(), b"GET /v1/stream?t=cart HTTP/1.1\r\nHost: localhost\r\nCookie: __Host-tiffin=%s.1\r\n\r\n" % (
            cookie * 64))

    for _ in range(STREAMS):
        assert stream(b"1")[0] == 200
    status, body = stream(b"1")
    assert (status, code(body)) == (409, "LIMIT")
    assert stream(b"2")[0] == 200


@pytest.mark.parametrize("path, most", BODY_BYTES.items())
def test_a_body_is_as_large_as_what_it_is_for_and_no_larger(connect, path, most):
    def put(bytes_):
        site = "store" if "cart" in path else "console"
        return answer(connect(site), b"PUT %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                      b"Content-Length: %d\r\n\r\n" % (path.encode(), bytes_) + b"x" * bytes_)

    status, body = put(most)
    assert (status, code(body)) == (400, "INVALID"), "it is read, and is no document"
    status, body = put(most + 1)
    assert status == 413


def test_bodies_on_their_way_have_a_bound_for_all_clients_together(connect):
    """A body counts from the moment that it is announced. Long ones leave room for those of the store."""
    menu, tip = "/v1/outlets/limits/menu", "/v1/cart/tip"

    def announce(path=menu):
        connection = connect("store" if path == tip else "console", PROXY)
        head = (b"PUT %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n" % (path.encode(), BODY_BYTES[path]))
        status, body = answer(connection, head)
        return connection, status, body

    there = [announce() for _ in range(BODIES_BYTES // 2 // BODY_BYTES[menu])]
    assert [status for _, status, _ in there] == [100] * len(there)
    _, status, body = announce()
    assert (status, code(body)) == (503, "BUSY")
    assert announce(tip)[1] == 100
    # A body that has come makes room, and so does a client that goes.
    assert answer(there[0][0], b"x" * BODY_BYTES[menu])[0] == 400
    assert announce()[1] == 100
    there[1][0].close()
    wait_until(lambda: announce()[1] == 100, "room for another body")
