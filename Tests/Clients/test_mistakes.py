"""What somebody who makes a mistake is told: in words that lead on, and with the beginnings that clients know."""

import json
from contextlib import closing
from http.client import HTTPConnection

import pytest

import tiffin
from tiffin import Server, fresh_database, item_document, put_open_outlet, section_document


@pytest.mark.parametrize("line, message", [
    ("CART.AD c o i 1", "ERR unknown command 'CART.AD'; did you mean CART.ADD?"),
    ("cart add c o i 1", "ERR unknown command 'cart'; did you mean CART.ADD?"),
    ("CLEINT ID", "ERR unknown command 'CLEINT'; did you mean CLIENT ID?"),
    ("CLIENT SETNAM x", "ERR unknown subcommand 'SETNAM'. Did you mean CLIENT SETNAME? Try COMMAND HELP CLIENT."),
    ("CLIENT NOSUCH", "ERR unknown subcommand 'NOSUCH'. Try COMMAND HELP CLIENT."),
    ("GET x", "ERR unknown command 'GET', with args beginning with: 'x' "),
    ("CLIENT", "ERR wrong number of arguments for 'client' command; COMMAND HELP CLIENT lists its subcommands"),
    ("CART.COUNT", "ERR wrong number of arguments for 'cart.count' command; usage: CART.COUNT <cart>"),
    ("CART.COUNT c d", "ERR wrong number of arguments for 'cart.count' command; usage: CART.COUNT <cart>"),
    ("CART.GET c NOW", "ERR syntax error: 'NOW' is no option of CART.GET, which takes SINCE, AT"),
    ("CART.GET c TA 1", "ERR syntax error: 'TA' is no option of CART.GET, which takes SINCE, AT"),
    ("CART.CLEAR c ID a VERSION", "ERR syntax error: a value is missing after 'VERSION'"),
    ("CART.CLEAR c ID a id b", "ERR syntax error: 'id' is given twice"),
    ("OUTLET.HOME o AT 1 SINCE 1", "ERR syntax error: SINCE and AT exclude each other"),
    ("CLIENT KILL NAME x", "ERR syntax error: 'NAME' is neither ID nor ADDR"),
    ("BROWSE PRICE 5", "ERR syntax error: a value of PRICE is missing"),
    ("BROWSE NOT SORT name", "ERR syntax error: NOT stands before a filter, not before 'SORT'"),
    ("COMMAND HELP CART.COUNTS", "NOTFOUND no such command 'CART.COUNTS'; did you mean CART.COUNT? COMMAND HELP lists all of them"),
    ("OUTLET.OPEN nowhere", "NOTFOUND no such outlet: 'nowhere'"),
    ("ORDER.ACCEPT nowhere", "NOTFOUND no such order: 'nowhere'"),
    ("OUTLET.PUT o {}", "INVALID json: lacks name, currency and timeZone"),
    ("CART.CHECKOUT c", "INVALID what the customer agrees to is missing: give TOTAL or QUOTE"),
    ("CART.CHECKOUT c TOTAL 1 QUOTE c547b9878322fee2", "INVALID TOTAL and QUOTE exclude each other: give one of them"),
    ("CART.CHECKOUT c QUOTE c547…", "INVALID QUOTE: the digest was cut short; give all of its 16 digits"),
    ("BROWSE SINCE b8d04f5a…", "INVALID SINCE: the digest was cut short; give all of its 32 digits"),
    ("MENU.GET o SINCE b8d04f5a...", "INVALID SINCE: the digest was cut short; give all of its 32 digits"),
    ("ITEM.GET o i SINCE 7", "INVALID SINCE: must be 0 or a digest of 32 hexadecimal digits, in small letters"),
    ("CART.EDIT c rice", "INVALID nothing is to be changed: give OPTIONS or NOTE, or both"),
    ("ORDER.REFUND o CODE ITEMS LINE a", "INVALID QTY: is missing: how many of the line are given back"),
    ("ORDER.REFUND o CODE ITEMS QTY 1", "INVALID LINE: is missing: which line they are of"),
    ("ORDER.REFUND o CODE ITEMS QTY 1 AMOUNT 1", "INVALID AMOUNT stands alone, without LINE and QTY"),
])
def test_a_mistake_is_explained(client, line, message):
    assert str(client.error(*line.split(" "))) == message


def test_of_a_line_it_is_said_which_there_are_and_what_it_takes(client, outlet):
    cart = f"{outlet}-lines"
    client("CART.ADD", cart, outlet, "rice", 1)
    assert str(client.error("CART.SET", cart, "kottu", 1)) == "NOTFOUND the cart has no such line; see CART.GET"
    assert str(client.error("CART.SET", cart, "rice", 100)) == (
        "LIMIT a quantity is from 1 to 99, or 0 to remove the line, not 100")
    assert str(client.error("CART.ADD", cart, outlet, "rice", 0)) == "LIMIT a quantity is from 1 to 99, not 0"


def test_no_message_breaks_a_line(client):
    error = client.error("CART.GET", "c", "A\r\n+OK\r\n", "1")
    assert error.code == "ERR"
    assert client("PING") == "PONG"


# --- MULTI


def test_nothing_runs_between_multi_and_exec(client, outlet):
    cart = f"{outlet}-multi"
    replies = client.pipeline([
        ("MULTI",), ("CART.ADD", cart, outlet, "rice", 1), ("CART.COUNT", cart), ("MENU.ITEM.PRICE", outlet, "rice", 1),
        ("NO.SUCH",), ("SUBSCRIBE", f"home:{outlet}"), ("AUTH", "x"), ("EXEC",), ("CART.COUNT", cart),
    ])
    assert replies[0] == "OK"
    refused = [replies[index] for index in (1, 2, 3, 5, 6)]
    assert {str(error)[:45] for error in refused} == {"ERR Command not allowed inside a transaction:"}
    assert replies[4].code == "ERR"
    assert str(replies[7]) == "EXECABORT Transaction discarded because of previous errors."
    assert replies[8] == 0
    assert client.json("ITEM.GET", outlet, "rice")["price"] == 125000


@pytest.mark.parametrize("protocol", [2, 3])
def test_multi_ends_by_exec_discard_and_reset(server, protocol):
    with server.client(protocol=protocol) as client:
        assert [client("MULTI"), client("EXEC")] == ["OK", []]
        assert str(client.error("EXEC")) == "ERR EXEC without MULTI"
        assert client("MULTI") == "OK"
        assert str(client.error("MULTI")) == "ERR MULTI calls can not be nested"
        assert client.error("PING").code == "ERR"
        assert client("DISCARD") == "OK"
        assert str(client.error("DISCARD")) == "ERR DISCARD without MULTI"
        assert [client("MULTI"), client("RESET"), client("PING")] == ["OK", "RESET", "PONG"]
        assert client("MULTI") == "OK"
        # A call with a wrong number of arguments is refused as any other.
        assert "not allowed inside" in str(client.error("CART.COUNT"))
        assert client.error("EXEC").code == "EXECABORT"
        assert [client("MULTI"), client("QUIT")] == ["OK", "OK"]


def test_nothing_is_watched(client):
    assert "VERSION" in str(client.error("WATCH", "cart-c"))
    assert client("UNWATCH") == "OK"


# --- HTTP


@pytest.fixture(scope="module")
def sites():
    options = ("--web", "127.0.0.1:0", "--console", "127.0.0.1:0")
    with fresh_database() as url, Server(database=url, options=options) as server:
        with server.client() as client:
            put_open_outlet(client, "grill", [section_document("all", [item_document("rice", 100)])])
        yield server


def detail(server, site, method, path, body=None, **fields):
    headers = {"Content-Type": "application/json"} if body is not None else {}
    with closing(HTTPConnection(server.site(site), timeout=tiffin.REPLY_SECONDS)) as connection:
        connection.request(method, path, None if body is None else json.dumps(body), headers | fields)
        answer = connection.getresponse()
        document = json.loads(answer.read())
        assert answer.headers["Content-Type"] == "application/problem+json", document
        return answer.status, document["code"], document["detail"]


LINE = {"outlet": "grill", "item": "rice", "quantity": 1}


@pytest.mark.parametrize("method, path, body, message", [
    ("POST", "/v1/cart/lines", LINE | {"quantity": "1"}, "quantity: must be a whole number"),
    ("POST", "/v1/cart/lines", LINE | {"quantity": 1.5}, "quantity: must be a whole number"),
    ("POST", "/v1/cart/lines", LINE | {"item": 7}, "item: must be a string"),
    ("POST", "/v1/cart/lines", LINE | {"options": ["large"]}, "options: must be a string"),
    ("POST", "/v1/cart/lines", LINE | {"note": "x" * 501}, "note: must have 1–500 bytes, has 501"),
    ("POST", "/v1/cart/lines", {}, "body: lacks outlet, item and quantity"),
    ("PUT", "/v1/cart/lines/rice", {}, "nothing is to be changed: give options or note, or both"),
    ("PUT", "/v1/cart/tip", {"amount": "5"}, "amount: must be a whole number"),
    ("PUT", "/v1/cart/tip", {}, "amount: is missing"),
    ("PUT", "/v1/cart/service", {}, "service: is missing"),
    ("PUT", "/v1/cart/service", {"service": "drone"}, "service: must be one of pickup, delivery, table"),
    ("POST", "/v1/cart/checkout", {}, "what the customer agrees to is missing: give total or quote"),
    ("POST", "/v1/cart/checkout", {"quote": "c547…"}, "quote: the digest was cut short; give all of its 16 digits"),
    ("GET", "/v1/browse?price=5", None, "price: must be one range, such as 200,2000 or 200, or ,2000"),
    ("GET", "/v1/browse?price=1.5,2", None, "price: must be a whole number from 0"),
    ("GET", "/v1/browse?count=5", None, "count: is no filter and no option here"),
    ("GET", "/v1/browse?limit=1000", None, "limit: must be from 1 to 100"),
    ("GET", "/v1/browse?since=abc…".replace("…", "%E2%80%A6"), None,
     "since: the digest was cut short; give all of its 32 digits"),
    ("GET", "/v1/outlets/grill/home?since=x", None, "since: must be a whole number from 0"),
    ("GET", "/v1/stream?t=browse%3Flimit%3D500", None, "limit: must be from 1 to 100"),
])
def test_the_store_speaks_of_what_a_request_has(sites, method, path, body, message):
    assert detail(sites, "store", method, path, body) == (400, "INVALID", message)


@pytest.mark.parametrize("method, path, body, message", [
    ("PUT", "/v1/outlets/new", {}, "body: lacks name, currency and timeZone"),
    ("PUT", "/v1/outlets/grill/items/rice/price", {"price": "1"}, "price: must be a whole number"),
    ("PUT", "/v1/outlets/grill/items/rice/price", {"price": -1},
     "price: must be from 0 to 1000000000000 minor units"),
    ("POST", "/v1/outlets/grill/pause", {"until": "soon"}, "until: must be a time such as 2026-03-01T12:00:00Z"),
    ("POST", "/v1/outlets/grill/open?version=x", None, "version: must be a whole number from 0"),
    ("GET", "/v1/orders?count=500", None, "count: must be from 1 to 100"),
    ("GET", "/v1/orders?after=x", None, "after: is not a cursor of GET /v1/orders"),
    ("GET", "/v1/log?partition=4", None, "partition: must be 0"),
    ("GET", "/v1/carts/c?at=soon", None,
     "at: must be a position of the log from 0, or a time such as 2026-03-01T12:00:00Z"),
])
def test_the_console_speaks_of_what_a_request_has(sites, method, path, body, message):
    assert detail(sites, "console", method, path, body) == (400, "INVALID", message)


def test_routes_stand_for_commands_and_keys_for_ids(sites):
    assert detail(sites, "console", "POST", "/v1/outlets/grill/open", **{"Idempotency-Key": "k" * 65}) == (
        400, "INVALID", "Idempotency-Key: must have 1–64 bytes of UTF-8")
    with sites.client() as client:
        put_open_outlet(client, "shut", [])
        client("OUTLET.CLOSE", "shut")
    body = {"until": "2099-01-01T00:00:00Z"}
    assert detail(sites, "console", "POST", "/v1/outlets/shut/pause", body) == (
        409, "STATE", "the outlet is closed, and only an open one can be paused; "
        "allowed is POST /v1/outlets/{outlet}/open")
