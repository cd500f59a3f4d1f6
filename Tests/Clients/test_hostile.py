"""A hostile client costs nobody else anything, and nothing it sends ends the server."""

import contextlib
import json
import random
import re
import resource
import socket
import struct
import threading

import pytest

import tiffin
from tiffin import (
    PATIENCE_SECONDS, Client, ReplyError, Server, encode, item_document, outlet_document, put_open_outlet,
    section_document, sql, wait_until,
)
from writers import MENU, wait_until_writable

MEBIBYTE = 1 << 20



def resident_bytes(server: Server) -> int:
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def reset(client: Client) -> None:
    """Closes so that the peer sees a reset instead of an end."""
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


@pytest.fixture(autouse=True)
def no_crash(request):
    """Whatever a test does to the common server, it keeps running."""
    yield
    if "server" in request.fixturenames:
        server = request.getfixturevalue("server")
        assert server.process.poll() is None, server.output()
        with server.client() as client:
            assert client("PING") == "PONG"


# --- what documents hold


@pytest.mark.parametrize("document", [
    "[" * 513, "[" * (1 << 20), '{"sections":' * 70_000, '{"name":"\\ud800"}', b'{"name":"\xed\xa0\x80"}',
    '{"price":1e999999}', '{"price":9999999999999999999}', '{"rating":-1e999999}', '{"name":"A","name":"B"}',
], ids=lambda document: repr(document[:24]))
def test_no_document_ends_the_server(server, client, outlet, document):
    for command in (
        ("OUTLET.PUT", "x"), ("MENU.PUT", outlet), ("MENU.SECTION.PUT", outlet, "lunch"),
        ("MENU.ITEM.PUT", outlet, "lunch", "rice"),
    ):
        assert client.error(*command, document).code == "INVALID"


# --- how bytes arrive


def test_a_session_cut_at_any_byte_gets_the_same_replies(server, client, outlet, name):
    sessions = [
        lambda cart: encode("CART.ADD", cart, outlet, "rice", 2, "ID", "a") * 2 + encode("CART.COUNT", cart),
        lambda cart: f"""CART.ADD {cart} {outlet} kottu 1 NOTE "no \\"salt\\""\r\n\r\nECHO 'a b'\nCART.COUNT {cart}\r\n""".encode(),
        lambda _: b"*0\r\n\r\n" + encode("ECHO", b"\r\n$3\r\n") + encode("NOPE", "") + b"PING\r\n*1\r\n$x\r\n",
    ]
    for number, session in enumerate(sessions):
        whole = None
        for cut in range(len(session(f"{name}-{number}-000"))):
            data = session(f"{name}-{number}-{cut:03}")
            with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as line:
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                line.sendall(data[:cut])
                # Once this is answered, the server has read what came before.
                client("PING")
                line.sendall(data[cut:])
                line.shutdown(socket.SHUT_WR)
                replies = b"".join(iter(lambda: line.recv(1 << 16), b""))
            whole = whole or replies
            assert replies == whole, (number, cut)
        assert whole.count(b"\r\n") >= 3, whole


def test_ten_thousand_mixed_commands_in_one_write_are_answered_in_order(server, outlet, name):
    chance = random.Random(name)
    counts, requests, expected = {}, [], []
    for number in range(10_000):
        cart = f"{name}-{chance.randrange(40)}"
        match chance.randrange(6):
            case 0:
                requests.append(encode("ECHO", number))
                expected.append(b"%d" % number)
            case 1:
                requests.append(f"CART.COUNT {cart}\r\n".encode())
                expected.append(sum(counts.get(cart, {}).values()))
            case 2:
                requests.append(encode("CART.REMOVE", cart, "kottu"))
                if "kottu" in counts.get(cart, {}):
                    del counts[cart]["kottu"]
                    expected.append(sum(counts[cart].values()))
                else:
                    expected.append("NOTFOUND")
            case 3:
                requests.append(encode("CART.ADD", cart, outlet, "no-such-item", 1))
                expected.append("NOTFOUND")
            case 4:
                item, quantity = chance.choice(["rice", "kottu"]), chance.randint(1, 99)
                requests.append(encode("CART.ADD", cart, outlet, item, quantity))
                lines = counts.setdefault(cart, {})
                if lines.get(item, 0) + quantity > 99:
                    expected.append("LIMIT")
                else:
                    lines[item] = lines.get(item, 0) + quantity
                    expected.append(sum(lines.values()))
            case 5:
                requests.append(encode("CART.ADD", cart, outlet, "rice", 0))
                expected.append("LIMIT")
    with server.client() as client:
        threading.Thread(target=client.send, args=(b"".join(requests),)).start()
        for number, wanted in enumerate(expected):
            reply = client.read()
            got = reply.code if isinstance(reply, ReplyError) else reply
            assert got == wanted, (number, requests[number], reply)


def test_a_pipeline_sees_its_own_writes(client, name):
    replies = client.pipeline([
        ("OUTLET.PUT", name, json.dumps(outlet_document())),
        ("OUTLET.OPEN", name),
        ("MENU.PUT", name, json.dumps({"sections": MENU})),
        ("CART.ADD", f"{name}-c", name, "dish-1", 2),
        ("CART.COUNT", f"{name}-c"),
        ("CART.GET", f"{name}-c"),
        ("MENU.ITEM.SUSPEND", name, "dish-2"),
        ("CART.ADD", f"{name}-c", name, "dish-2", 1),
        ("CART.CHECKOUT", f"{name}-c", "TOTAL", 202),
        ("CART.GET", f"{name}-c"),
    ])
    assert replies[:2] == [1, 2] and replies[2] > 0, replies
    assert replies[3:5] == [2, 2], replies
    assert json.loads(replies[5])["total"] == 202
    assert isinstance(replies[6], int) and replies[7].code == "SOLDOUT", replies
    assert isinstance(replies[8], bytes), replies
    assert json.loads(replies[9])["status"] != json.loads(replies[5])["status"]


def test_all_replies_come_after_the_client_has_ended_its_side(server, outlet, name):
    with server.client() as client:
        client.send(b"".join(encode("CART.ADD", f"{name}-{n}", outlet, "rice", 1) + encode("PING") for n in range(200)))
        client.socket.shutdown(socket.SHUT_WR)
        assert [client.read() for _ in range(400)] == [1, "PONG"] * 200
        assert client.is_closed()


def test_a_protocol_error_after_writes_is_reported_after_their_replies(server, outlet, name):
    with server.client() as client:
        client.send(encode("CART.ADD", name, outlet, "rice", 1) + encode("CART.ADD", name, outlet, "rice", 2) + b"*1\r\n!\r\n")
        assert [client.read(), client.read()] == [1, 3]
        assert str(client.read()).startswith("ERR Protocol error")
        assert client.is_closed()


def test_quit_and_reset_keep_their_turn(server, outlet, name):
    with server.client(protocol=3) as client:
        client.send(b"".join([
            encode("CART.ADD", name, outlet, "rice", 1), encode("RESET"), encode("CART.ADD", name, outlet, "rice", 1),
            encode("QUIT"), encode("CART.ADD", name, outlet, "rice", 1),
        ]))
        assert [client.read() for _ in range(4)] == [1, "RESET", 2, "OK"]
        assert client.is_closed()
    with server.client() as client:
        assert client("CART.COUNT", name) == 2


def test_a_client_can_end_itself_and_others_whatever_is_in_flight(server, client, outlet, name):
    victims = [server.client() for _ in range(20)]
    ids = [victim("CLIENT", "ID") for victim in victims]
    for number, victim in enumerate(victims):
        victim.send(b"".join(encode("CART.ADD", f"{name}-{number}", outlet, "rice", 1) for _ in range(20)) + b"*2\r\n$4\r\nEC")
    assert client.pipeline([("CLIENT", "KILL", "ID", id) for id in ids]) == [1] * len(ids)
    for victim in victims:
        while not isinstance(ended := ended_with(victim), bool):
            assert isinstance(ended, int)
        victim.close()
    counts = client.pipeline([("CART.COUNT", f"{name}-{number}") for number in range(20)])
    assert all(0 <= count <= 20 for count in counts)

    with server.client() as suicide:
        own = suicide("CLIENT", "ID")
        suicide.send(encode("CART.ADD", f"{name}-s", outlet, "rice", 1) + encode("CLIENT", "KILL", "ID", own) + encode("PING"))
        assert [suicide.read(), suicide.read()] == [1, 1]
        assert suicide.is_closed()


def ended_with(client):
    try:
        return client.read()
    except (EOFError, ConnectionError):
        return True


def test_a_reset_in_the_middle_of_commits_costs_nobody_else(server, client, outlet, name):
    for number in range(30):
        rude = server.client()
        rude.send(b"".join(encode("CART.ADD", f"{name}-{number}", outlet, "rice", 1) for _ in range(50)))
        if number % 3 == 0:
            rude.read()
        reset(rude)
    for number in range(30):
        # Every command that was read is there, in order: the next one raises the count by one.
        count = client("CART.COUNT", f"{name}-{number}")
        assert client("CART.ADD", f"{name}-{number}", outlet, "rice", 1) == count + 1


# --- clients that send or read too little, or too much


def test_a_client_that_pipelines_without_end_leaves_room_for_others(server, outlet, name):
    stop = threading.Event()

    def flood():
        with server.client() as greedy:
            greedy.socket.settimeout(0.2)
            request = b"".join(b"CART.ADD %s-g%d %s rice 1\n" % (name.encode(), n, outlet.encode()) for n in range(20_000))
            sent = 0
            while not stop.is_set() and sent < 10:
                try:
                    greedy.socket.sendall(request)
                    sent += 1
                except TimeoutError:
                    return

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        with server.client() as polite:
            for number in range(1, 31):
                assert polite("CART.ADD", f"{name}-p", outlet, "rice", 1) == number
    finally:
        stop.set()
        thread.join(timeout=tiffin.REPLY_SECONDS)


def test_a_client_with_many_requests_at_once_lets_others_have_their_turn(database):
    requests = 500

    def executed(client):
        return int(re.search(rb"cmdstat_info:calls=(\d+)", client("INFO", "commandstats"))[1])

    # A new server: its percentiles take a while, and their text is short.
    with Server(database=database) as server, server.client() as greedy, server.client() as polite:
        polite("INFO", "latencystats")
        before = executed(polite)
        # Fewer bytes than one read takes.
        greedy.send(b"INFO latencystats\r\n" * requests)
        assert greedy.socket.recv(1, socket.MSG_PEEK)
        assert executed(polite) - before < requests
        for _ in range(requests):
            assert greedy.read().startswith(b"# Latencystats")
        assert b"client_time_pauses:0\r" not in polite("INFO", "stats")


def test_a_client_that_never_reads_holds_a_bounded_amount(database):
    items = [item_document(f"dish-{n}", 100, description="d" * 400) for n in range(200)]
    with Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "large", [section_document("all", items)])
        assert len(client("OUTLET.HOME", "large")) > 50_000
        before = resident_bytes(server)
        silent = [server.client() for _ in range(10)]
        for one in silent:
            one.socket.setblocking(False)
            try:
                while True:
                    one.socket.send(encode("OUTLET.HOME", "large") * 2_000)
            except BlockingIOError:
                pass
        for _ in range(100):
            assert client("CART.COUNT", "nobody") == 0
        assert b"client_reading_pauses:0\r" not in client("INFO", "stats")
        grown = resident_bytes(server) - before
        assert grown < 10 * 8 * MEBIBYTE, f"{grown} bytes for ten clients"
        ids = [int(line.split()[0].removeprefix(b"id=")) for line in client("CLIENT", "LIST").splitlines() if b"cmd=outlet.home" in line]
        assert len(ids) >= 10
        own = client("CLIENT", "ID")
        for id in ids:
            if id != own:
                client("CLIENT", "KILL", "ID", id)
        wait_until(
            lambda: client("INFO", "clients").count(b"connected_clients:1\r"),
            "the server to be rid of clients that read nothing")
        for one in silent:
            one.close()


def test_half_a_command_holds_nobody_up(server, client):
    stalled = [server.client() for _ in range(50)]
    for one in stalled:
        one.send(b"*3\r\n$4\r\nECHO\r\n$1000000\r\n" + b"x" * 1000)
    assert client("PING") == "PONG"
    for one in stalled:
        one.close()


def test_a_thousand_connections_are_served_and_forgotten(server, client, outlet, name):
    with open("/proc/sys/net/core/somaxconn"):
        pass
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2_200:
        pytest.skip("not enough file descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2_200), hard))
    clients = [server.client() for _ in range(1_000)]
    for number, one in enumerate(clients):
        one.send(encode("CART.ADD", f"{name}-{number}", outlet, "rice", 1))
    assert [one.read() for one in clients] == [1] * 1_000
    for number, one in enumerate(clients):
        if number % 2:
            reset(one)
        else:
            one.close()
    wait_until(lambda: client("INFO", "clients").count(b"connected_clients:1\r"), "connections to be forgotten")


def test_idle_clients_leave_the_server_the_files_that_it_needs(database):
    def few_files():
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    with Server(database=database, prepare=few_files) as server, contextlib.ExitStack() as ends:
        client = ends.enter_context(server.client())
        put_open_outlet(client, "kitchen", MENU)
        served = int(re.search(rb"maxclients:(\d+)", client("INFO", "clients"))[1])
        server.wait_for_output(f"at most {served} clients")
        for _ in range(served - 1):
            assert ends.enter_context(server.client())("PING") == "PONG"
        with server.client() as refused:
            assert refused.read().code == "ERR"
        assert b"rejected_connections:1\r" in client("INFO", "stats")
        # Its connections to the database are lost, and it needs new ones.
        sql("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()", database)
        wait_until_writable(client, "c")


def test_connections_that_come_and_go_leave_no_memory_behind(database):
    def come_and_go(times):
        for number in range(times):
            with server.client() as client:
                client("CLIENT", "SETNAME", f"n{number}")

    with Server(database=database) as server:
        come_and_go(1_000)
        before = resident_bytes(server)
        come_and_go(5_000)
        assert resident_bytes(server) - before < 4 * MEBIBYTE


# --- garbage


RUBBISH = [
    b"\x00" * 100, bytes(range(256)) * 10, b"\xff\xfe\xfd\r\n", b"*3\r\n$-1\r\n", b"*-2147483649\r\n", b"*1\r\n$9223372036854775807\r\n",
    b"*9223372036854775808\r\n", b"*1\r\n$1048577\r\n", b"*1025\r\n", b"*1\r\n$4\r\nPINGxx\r\n", b"*1\r\n:4\r\n", b"$4\r\nPONG\r\n",
    b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", b"(" * 65_000 + b"\r\n",
    b"*1\r\n$" + b"9" * 65_000, b'"' * 1001 + b"\r\n", b"'\\'\\\r\n", b"*" + b"1" * 70_000, b"x" * 65_537,
]


@pytest.mark.parametrize("data", RUBBISH, ids=lambda data: repr(data[:20]))
def test_garbage_is_answered_with_an_error_or_an_end(server, data):
    with server.client() as client:
        client.send(data)
        client.socket.shutdown(socket.SHUT_WR)
        replies = []
        while not isinstance(reply := ended_with(client), bool):
            replies.append(reply)
        assert all(isinstance(reply, ReplyError) for reply in replies), replies


def test_random_bytes_and_damaged_requests_do_no_harm(server, name):
    chance = random.Random(20)
    good = [
        encode("CART.ADD", name, "o", "i", 1, "NOTE", "x"), encode("MENU.PUT", name, json.dumps({"sections": MENU})),
        encode("HELLO", 3, "SETNAME", "x"), encode("LOG.READ", "FROM", 1, "COUNT", 2), b'ECHO "a\\x00b"\r\n',
        encode("COMMAND", "DOCS", "PING"), encode("CONFIG", "GET", "*"), encode("CLIENT", "LIST"),
    ]
    for _ in range(400):
        data = bytearray(chance.choice(good) + chance.choice(good))
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(len(data))
            match chance.randrange(3):
                case 0:
                    data[place] = chance.randrange(256)
                case 1:
                    del data[place:place + chance.randint(1, 10)]
                case 2:
                    data[place:place] = chance.randbytes(chance.randint(1, 10))
        with server.client() as client:
            client.send(bytes(data))
            client.socket.shutdown(socket.SHUT_WR)
            replies = []
            while not isinstance(reply := ended_with(client), bool):
                replies.append(reply)
        # It is answered as far as it is understood, in errors of documented codes.
        codes = {reply.code for reply in replies if isinstance(reply, ReplyError)}
        assert codes <= {"ERR", "INVALID", "LIMIT", "NOTFOUND", "NOPROTO"}, (bytes(data), replies)


BIG = str(1 << 63)
DEEP = "[" * 100_000
# By the code of the error.
BAD_COMMANDS = {
    "LIMIT": [
        *[("CART.ADD", "c", "OUTLET", "rice", quantity) for quantity in (0, -1, 100, "-" + BIG, 1 << 62)],
        ("MENU.PUT", "OUTLET", json.dumps({"sections": [section_document(f"s{n}", []) for n in range(5_000)]})),
    ],
    "INVALID": [
        *[("CART.ADD", "c", "OUTLET", "rice", quantity) for quantity in (BIG, "1.0", "1e2", "", "+1", " 1", "01", "\u0661")],
        *[("CART.SET", "c", "rice", quantity) for quantity in (BIG, "", "x")],
        *[("CART.ADD", cart, "OUTLET", "rice", 1) for cart in ("", " ", "a b", "a/b", "é", b"\xff", b"\x00", "x" * 65)],
        ("CART.ADD", "c", "OUTLET", b"\xff\xfe", 1),
        ("CART.ADD", "c", "OUTLET", "rice", 1, "NOTE", "n" * 501),
        ("CART.ADD", "c", "OUTLET", "rice", 1, "NOTE", "é" * 251),
        ("CART.ADD", "c", "OUTLET", "rice", 1, "NOTE", b"\xc3\x28"),
        ("CART.ADD", "c", "OUTLET", "rice", 1, "NOTE", b"nul \x00 byte"),
        ("CART.ADD", "c", "OUTLET", "rice", 1, "ID", ""),
        ("CART.ADD", "c", "OUTLET", "rice", 1, "ID", "x" * 65),
        ("CART.ADD", "c", "OUTLET", "rice", 1, "ID", b"\xff"),
        ("CART.ADD", "c", "OUTLET", "rice", 1, "VERSION", -1),
        ("CART.ADD", "c", "OUTLET", "rice", 1, "VERSION", BIG),
        ("CART.CHECKOUT", "c", "TOTAL", BIG),
        ("CART.CHECKOUT", "c", "TOTAL", ""),
        ("CART.CHECKOUT", "c", "ID", "x"),
        # Each number is beyond its bounds, and so is what they come to.
        ("MENU.GROUP.PUT", "OUTLET", "g", json.dumps({"title": "G", "min": 0, "max": 1, "options": [
            {"id": f"o{n}", "name": "O", "price": (1 << 63) - 1, "max": (1 << 63) - 1, "default": (1 << 63) - 1} for n in range(2)]})),
        *[("OUTLET.PAUSE", "OUTLET", "UNTIL", moment) for moment in (
            "2001-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "99999-01-01T00:00:00Z", "-9999-01-01T00:00:00Z", "", "now",
            "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T24:00:01Z", "2026-01-01T00:00:00",
            "2026-01-01T00:00:00+99:99", "9" * 40, "2026-01-01T00:00:00." + "9" * 5_000 + "Z", b"\xff", "T" * 20, "1e400")],
        *[("MENU.ITEM.SUSPEND", "OUTLET", "rice", "UNTIL", moment) for moment in ("2001-01-01T00:00:00Z", "garbage")],
        *[("MENU.ITEM.PRICE", "OUTLET", "rice", price) for price in (-1, BIG, "1.5", "")],
        *[("OUTLET.PUT", "bad", document) for document in (
            "", "{", "null", "[]", "1", '"x"', DEEP, '{"name":' * 20_000, b"\xff", '{"name":"\xff"}'.encode("latin-1"), "{}" * 2,
            json.dumps(outlet_document(name="n" * 100_000)), json.dumps(outlet_document(name=1)), json.dumps(outlet_document(name=None)),
            json.dumps(outlet_document(rating="4")), json.dumps(outlet_document(rating=-1)), json.dumps(outlet_document(rating=5.01)),
            json.dumps(outlet_document())[:-1] + ',"unknown":1}',
            json.dumps(outlet_document(rating=1))[:-1].replace('"rating": 1', '"rating": 1e400') + "}",
            json.dumps(outlet_document(priceForTwo=1 << 63)), json.dumps(outlet_document(priceForTwo=1 << 200)),
            json.dumps(outlet_document(deliveryMinutes=-1)), json.dumps(outlet_document(minimumOrder=-(1 << 63))),
            json.dumps(outlet_document(currency="rupees")), json.dumps(outlet_document(timeZone="../../etc/passwd")),
            json.dumps(outlet_document(timeZone="x" * 100_000)), json.dumps(outlet_document(cuisines=["x"] * 100_000)),
            json.dumps(outlet_document(hours=[{"day": "monday", "opens": "99:00", "closes": "-1:00"}])),
            json.dumps(outlet_document(name="nul \x00")),
            *[json.dumps(outlet_document(services=services)) for services in (
                [], 1, {"drone": {}}, {"pickup": 1}, {"pickup": {"unknown": 1}}, {"pickup": {"requires": "name"}},
                {"pickup": {"requires": ["hat"]}}, {"pickup": {"requires": ["table"]}}, {"pickup": {"minimumOrder": BIG}},
                {"pickup": {"minimumOrder": -1}}, {"pickup": {"prepMinutes": 1 << 62}}, {"pickup": {"charges": []}},
                {"pickup": {"charges": {"delivery": {"fee": 1 << 62}}}}, {"pickup": {"charges": {"service": {"rate": 1 << 62}}}},
                {"pickup": {"charges": {"service": {"rate": 1, "tax": "none"}}}}, {"pickup": {"hours": [{}]}},
                {"pickup": {"hours": [{"day": "monday", "opens": "09:00", "closes": "10:00"}] * 51}})],
            *[json.dumps(outlet_document(taxIncluded=True, taxes=[{"id": "t", "name": "T", "rate": 1, "rates": rates}])) for rates in (
                [], {"drone": 1}, {"table": -1}, {"table": 100_001}, {"table": "1"}, {"table": 1.5}, {"table": 1 << 70})])],
        *[("MENU.PUT", "OUTLET", json.dumps({"sections": [section_document("a", [item_document("x", 1, prices=prices)])]}))
          for prices in ([], {"drone": 1}, {"table": -1}, {"table": 1 << 62}, {"table": "1"}, {"table": 1.5})],
        ("CART.SERVICE", "c", "pickup", "FOR", BIG), ("CART.ADD", "c", "OUTLET", "rice", 1, "FOR", "2099-01-01T00:00:00Z"),
        ("SLOTS", "OUTLET", "DATE", "2026-02-30"), ("SLOTS", "OUTLET", "SERVICE", "table"), ("OUTLET.BUSY", "OUTLET", "DELAY", 5),
        *[("OUTLET.PUT", "OUTLET", json.dumps(outlet_document(**changes))) for changes in (
            {"orderAheadDays": 1 << 62}, {"slots": {"minutes": 1 << 62}}, {"slots": []}, {"dayparts": {}}, {"dayparts": [{}]},
            {"dayparts": [{"id": "a", "hours": [{"day": "monday", "opens": "09:00", "closes": "10:00"}] * 51}]})],
        ("CART.SERVICE", "c", "drone"), ("CART.SERVICE", "c", ""), ("CART.SERVICE", "c", b"\xff"), ("CART.SERVICE", "a b", "pickup"),
        ("CART.CHECKOUT", "c", "TOTAL", 0, "PHONE", "1"), ("CART.CHECKOUT", "c", "TOTAL", 0, "ADDRESS", "x"),
        *[("CART.CHECKOUT", "c", "TOTAL", 0, "CUSTOMER", "me", *words) for words in (
            ("PHONE", ""), ("PHONE", "1" * 41), ("PHONE", "1\n"), ("ADDRESS", ""), ("ADDRESS", "x" * 501), ("ADDRESS", b"\xff"))],
        *[("MENU.PUT", "OUTLET", json.dumps({"sections": sections})) for sections in (
            [section_document("a", []), section_document("a", [])],
            [section_document("a", [item_document("x", 1), item_document("x", 1)])],
            [section_document("a b", [])], [section_document("a", [item_document("x" * 65, 1)])],
            [section_document("a", [item_document("x", -1)])], [section_document("a", [item_document("x", 1 << 63)])],
            [section_document("a", [item_document("x", 1, kind="no-such-kind")])], [section_document("a", [], kind="no-such-kind")],
            [section_document("a", [], layout={"style": "horizontalCard", "width": -1, "height": 1 << 40})],
            [section_document("a", [item_document("x", 1, name="n" * 900_000)])],
            [section_document("a", [item_document("x", 1, maxQuantity=1 << 40)])])],
        ("LOG.READ", "FROM", 0), ("LOG.READ", "FROM", BIG), ("LOG.READ", "COUNT", 0), ("LOG.READ", "COUNT", 1_001),
        ("LOG.READ", "PARTITION", 1), ("LOG.READ", "PARTITION", -1), ("LOG.READ", "STREAM", ""), ("LOG.READ", "STREAM", "cart-"),
        ("LOG.READ", "STREAM", "nothing-x"), ("LOG.READ", "STREAM", b"cart-\xff"),
        ("OUTLET.HOME", "OUTLET", "CART", "a b"), ("OUTLET.HOME", "OUTLET", "SINCE", "one"), ("ITEM.GET", "OUTLET", "a b"),
        ("ORDER.GET", "/"),
    ],
    "ERR": [
        ("CART.ADD", "c", "OUTLET", "rice", 1, "NOTE", "a", "NOTE", "b"),
        ("CART.ADD", "c", "OUTLET", "rice", 1, "NOTE"),
        ("CART.ADD", "c", "OUTLET", "rice", 1, "ID", "a", "id", "b"),
        ("HELLO", BIG), ("HELLO", 3, "SETNAME"), ("HELLO", 3, "SETNAME", "a b"), ("HELLO", 3, b"\xff"),
        ("CLIENT", "SETNAME", "x" * 100_000), ("CLIENT", "KILL", "ID", "x"), ("CLIENT", "KILL", "ID", BIG), ("CLIENT", b"\xff"),
        ("CLIENT", "NO", "SUCH"), ("SELECT", BIG), ("CONFIG", "SET", "a", "b"), ("COMMAND", "X"), (b"\xff\x00\r\n",), ("",),
        ("x" * 100_000, "y" * 100_000), ("OUTLET.HOME", "OUTLET", "CART"),
    ],
    "NOTFOUND": [*[("CART.SET", "c", "rice", quantity) for quantity in (-1, 100)], ("HELP", "x" * 100_000)],
    "STATE": [("CART.SERVICE", "c", "table", "TABLE", "x" * 100_000), *[("CART.CHECKOUT", "c", "TOTAL", total) for total in ((1 << 63) - 1, -(1 << 63))]],
    "CHOICE": [("CART.ADD", "c", "OUTLET", "rice", 1, "OPTIONS", "b")],
    "CONFLICT": [("CART.ADD", "c", "OUTLET", "rice", 1, "VERSION", (1 << 63) - 1)],
    "NOPROTO": [("HELLO", -1)],
    "WRONGPASS": [("AUTH", "a", "b")],
}


def test_wrong_input_of_every_kind_is_refused_with_its_code(server, outlet):
    wrong = []
    with server.client() as client:
        before = client("LOG.HEAD")
        for code, commands in BAD_COMMANDS.items():
            for command in commands:
                command = [outlet if word == "OUTLET" else word for word in command]
                shown = [f"{str(word)[:60]} … {str(word)[-60:]}" for word in command]
                client.send(encode(*command))
                assert not isinstance(reply := ended_with(client), bool), f"closed by {shown}"
                if not isinstance(reply, ReplyError) or reply.code != code:
                    wrong.append((code, shown, str(reply)[:200]))
                assert len(str(reply)) < 5_000, (shown, len(str(reply)))
        assert not wrong, wrong
        assert client("LOG.HEAD") == before, "what was refused has left events"


QUOTES = 'quotes " \\ and \u2028 and </script>'


def test_odd_but_valid_input(client, outlet, name):
    assert client("CART.ADD", name, outlet, "rice", 1, "NOTE", "n" * 500, "ID", "x" * 64, "VERSION", 0) == 1
    assert client("CART.ADD", name, outlet, "rice", 1, "note", QUOTES) == 2
    assert [line["note"] for line in client.json("CART.GET", name)["lines"]] == ["n" * 500, QUOTES]
    assert client("OUTLET.PAUSE", outlet, "UNTIL", "9999-12-31T23:59:59Z") > 0
    assert client.json("OUTLET.GET", outlet)["pausedUntil"].startswith("9999-12-31T23:59:59")
    client("OUTLET.OPEN", outlet)
    doubled = json.dumps(outlet_document())[:-1] + ', "name": "Twice"}'
    assert client.error("OUTLET.PUT", f"{name}-twice", doubled).code == "INVALID"


def test_patterns_meant_to_be_slow_are_not(server, client):
    before = sum(server.processor_seconds())
    client.send(encode("CONFIG", "GET", *["*?*?*?*?*?*?*?*?*x"] * 1_000))
    assert client.read() == []
    assert sum(server.processor_seconds()) - before < 2


def test_totals_that_overflow_are_refused(client, name):
    most = 10**12
    put_open_outlet(client, name, [section_document("all", [item_document("gold", most)])])
    beyond = json.dumps({"sections": [section_document("all", [item_document("gold", most + 1)])]})
    assert client.error("MENU.PUT", name, beyond).code == "INVALID"
    assert client("CART.ADD", f"{name}-c", name, "gold", 1) == 1
    assert client.error("CART.ADD", f"{name}-c", name, "gold", 90).code == "LIMIT"
    assert client.json("CART.GET", f"{name}-c")["total"] == most
