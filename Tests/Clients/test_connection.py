"""Connecting as Redis clients do: the same request gets the same answer from Tiffin as from Redis."""

import socket

import pytest

from tiffin import PATIENCE_SECONDS, Client, Push, ReplyError, Simple, Verbatim, encode, in_the_words_of_redis

# Answered byte for byte as Redis does, in RESP2 and RESP3, on a new connection each.
SAME_REPLY = [
    [("PING",)],
    [("PING", "hello")],
    [("ping", "lower case")],
    [("PING", "a", "b")],
    [("ECHO", "ආයුබෝවන්")],
    [("ECHO",)],
    [("ECHO", "a", "b")],
    [("SELECT", "0")],
    [("SELECT", "zero")],
    [("SELECT",)],
    [("CLIENT", "GETNAME")],
    [("CLIENT", "SETNAME", "till"), ("CLIENT", "GETNAME")],
    [("CLIENT", "SETNAME", "two words")],
    [("HELLO", "4")],
    [("HELLO", "three")],
    [("RESET",)],
    [("CLIENT", "SETNAME", "till"), ("RESET",), ("CLIENT", "GETNAME")],
    [("TIME", "now")],
    [("CONFIG",)],
    [("CONFIG", "GET")],
    [("CONFIG", "GET", "no-such-setting")],
    [("CONFIG", "RESETSTAT")],
    [("CONFIG", "RESETSTAT", "now")],
    [("NOSUCHCOMMAND",)],
    [("NOSUCHCOMMAND", "one", "two")],
    [("QUIT",)],
    [("MULTI",), ("EXEC",), ("EXEC",)],
    [("MULTI",), ("MULTI",), ("DISCARD",), ("DISCARD",)],
    [("MULTI",), ("NOSUCHCOMMAND",), ("EXEC",), ("PING",)],
    [("MULTI",), ("RESET",), ("EXEC",)],
    [("UNWATCH",)],
]

# The same kinds of values, with our own contents.
SAME_SHAPE = [
    [("HELLO",)],
    [("HELLO", "2")],
    [("HELLO", "3")],
    [("HELLO", "3", "SETNAME", "till"), ("CLIENT", "GETNAME")],
    [("CLIENT", "ID")],
    [("CLIENT", "INFO")],
    [("CLIENT", "LIST")],
    [("COMMAND", "COUNT")],
    [("CONFIG", "GET", "save")],
    [("CONFIG", "GET", "appendonly")],
    [("INFO",)],
    [("INFO", "server")],
    [("TIME",)],
]

# Answered with the same bytes and then closed.
PROTOCOL_ERRORS = [
    b"*abc\r\n",
    b"*1\r\nPING\r\n",
    b"*1\r\n$abc\r\n",
    b"*1\r\n$-7\r\n",
    b'ECHO "unbalanced\r\n',
    b"ECHO 'a'b\r\n",
    b"x" * 70_000,
    b"*2147483648\r\n",
    b"*1\r\n$99999999999\r\n",
]

# Accepted, each with one reply to the PING at its end.
ODD_REQUESTS = [
    b"PING\n",
    b"PING\r\n",
    b"\r\n\r\nPING\r\n",
    b"   PING   \r\n",
    b'"PING"\r\n',
    b"'PING' \"caf\\xc3\\xa9\"\r\n",
    b"*0\r\nPING\r\n",
    b"*-1\r\nPING\r\n",
]


def converse(port, conversation, protocol):
    with Client(port, protocol=protocol) as client:
        return client.pipeline(conversation)


def shape(value):
    match value:
        case ReplyError():
            return "error"
        case dict():
            return {"map": sorted(key.decode() for key in value)}
        case list():
            return [shape(element) for element in value]
        case Push():
            return {"push": shape(value.items)}
        case None:
            return "null"
    return {Simple: "simple", Verbatim: "bulk", bytes: "bulk", int: "integer"}[type(value)]


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("conversation", SAME_REPLY, ids=lambda c: "; ".join(map(" ".join, c)))
def test_the_reply_is_the_same_as_from_redis(server, redis, conversation, protocol):
    ours = converse(server.port, conversation, protocol)
    assert in_the_words_of_redis(ours) == converse(redis, conversation, protocol)


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("conversation", SAME_SHAPE, ids=lambda c: "; ".join(map(" ".join, c)))
def test_the_reply_has_the_same_shape_as_from_redis(server, redis, conversation, protocol):
    ours, theirs = (converse(port, conversation, protocol) for port in (server.port, redis))
    assert list(map(shape, ours)) == list(map(shape, theirs))


@pytest.mark.parametrize("data", PROTOCOL_ERRORS, ids=lambda data: repr(data[:24]))
def test_a_protocol_error_is_answered_as_redis_does_and_closes(server, redis, data):
    answers = []
    for port in (server.port, redis):
        with Client(port) as client:
            client.send(data)
            answers.append(client.read())
            assert client.is_closed()
    assert answers[0] == answers[1]


@pytest.mark.parametrize("data", ODD_REQUESTS, ids=repr)
def test_an_unusual_request_is_understood_as_redis_does(server, redis, data):
    answers = []
    for port in (server.port, redis):
        with Client(port) as client:
            client.send(data + encode("ECHO", "end"))
            answers.append([client.read(), client.read()])
    assert answers[0] == answers[1]
    assert answers[0][1] == b"end"


def test_a_line_typed_into_netcat_works(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as line:
        line.sendall(b"CART.COUNT never-seen\n")
        assert line.recv(100) == b":0\r\n"


def test_a_request_may_arrive_byte_by_byte(client):
    for byte in encode("ECHO", "slowly"):
        client.send(bytes([byte]))
    assert client.read() == b"slowly"


def test_pipelined_replies_come_in_order(client):
    assert client.pipeline([("ECHO", n) for n in range(5000)], window=5000) == [b"%d" % n for n in range(5000)]


def test_hello_names_the_protocol_and_identifies_the_connection(client):
    flat = client("HELLO", "2")
    assert dict(zip(flat[::2], flat[1::2]))[b"proto"] == 2
    map_reply = client("HELLO", "3")
    assert list(map_reply) == [b"server", b"version", b"proto", b"id", b"mode", b"role", b"modules"]
    assert map_reply[b"proto"] == 3
    assert map_reply[b"id"] == client("CLIENT", "ID")


def test_info_names_a_redis_version_that_clients_can_parse(client):
    assert b"redis_version:" in client("INFO", "server")


def test_command_list_count_and_docs_agree(client):
    names = {entry.lower() for entry in client("COMMAND", "LIST")}
    assert client("COMMAND", "COUNT") == len(names)
    assert {b"cart.add", b"outlet.home", b"ping"} <= names
    docs = client("COMMAND", "DOCS", "CART.ADD")
    assert docs[0].lower() == b"cart.add"


def test_help_explains_a_command(client):
    assert client("HELP")
    assert b"CART.ADD" in str(client("HELP", "CART.ADD")).encode().upper()


@pytest.mark.parametrize("first_line", [b"POST / HTTP/1.1\r\n", b"Host: example.com\r\n"])
def test_a_web_browser_is_disconnected(server, client, first_line):
    with server.client() as browser:
        browser.send(first_line)
        assert browser.is_closed()
    assert client("PING") == "PONG"


@pytest.mark.parametrize("command", ["SUPPLY.PUT", "CART.MERGE"])
def test_a_command_of_later_versions_is_unknown(client, command):
    assert str(client.error(command, "x")).startswith(f"ERR unknown command '{command}'")
