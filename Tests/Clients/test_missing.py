"""What does not exist: docs/protocol.md has one rule, and every command of the table follows it."""

import json
from contextlib import closing
from http.client import HTTPConnection

import pytest

import tiffin
from tiffin import CHECKOUT, Server, fresh_database

OUTLET = json.dumps(tiffin.outlet_document())
MENU = json.dumps({"sections": []})
SECTION = json.dumps({"title": "S", "kind": "menuItems"})
ITEM = json.dumps({"kind": "menuItem", "name": "I", "price": 1})
GROUP = json.dumps({"title": "G", "options": [{"id": "o", "name": "O"}]})
# The first bytes say what a picture is.
PICTURE = b"\xff\xd8\xff"
DIGEST = "0" * 32

# A document that is asked for by its id is null.
NULL = [
    "OUTLET.GET no", "OUTLET.HOME no", "OUTLET.HOME no AT 1", "OUTLET.HOME no CART no", "OUTLET.TAGS no", "MENU.GET no",
    "MENU.FEED.GET no", "ITEM.GET no no", "ITEM.GET there no", "CART.GET no", "CART.GET no AT 1", "CART.QUOTE no",
    "PROMO.GET no",
    "ORDER.GET no", "ORDER.GET no AT 1", "SURPRISE TAG no",
]
# With SINCE, where null says that nothing has changed, a home is NOTFOUND, and a document becomes null by a patch.
REPLACED = ["MENU.GET no SINCE 0", f"ITEM.GET there no SINCE {DIGEST}"]
# How many there are is 0.
NONE = ["CART.COUNT no", "CART.CLEAR no", "BROWSE.WINDOW no 0 1", "BROWSE.DROP no"]
# A list has nothing in it.
EMPTY = [
    "BROWSE TAG no", "OUTLETS CITY no", "ORDERS CUSTOMER no", "ORDERS OUTLET no", "OUTLETS.OWN AFTER zz", "LOG.READ FROM 99999999",
    "LOG.READ STREAM cart-no",
]
# Everything else that names what is not there is NOTFOUND.
NOTFOUND = [
    "OUTLET.HOME no SINCE 1", "OUTLET.OPEN no", "OUTLET.CLOSE no", "OUTLET.PAUSE no UNTIL 2099-01-01T00:00:00Z",
    "OUTLET.BUSY no DELAY 5 UNTIL 2099-01-01T00:00:00Z", "OUTLET.HIDE no", "OUTLET.SHOW no", "OUTLET.REMOVE no", "MENU.PUT no {MENU}", "MENU.SECTION.PUT no s {SECTION}",
    "MENU.SECTION.PUT there s {SECTION} BEFORE no", "MENU.SECTION.REMOVE there no", "MENU.ITEM.PUT there no i {ITEM}",
    "MENU.ITEM.REMOVE there no", "MENU.ITEM.PRICE there no 1", "MENU.ITEM.SUSPEND there no", "MENU.ITEM.RESUME there no",
    "MENU.GROUP.PUT no g {GROUP}", "MENU.GROUP.REMOVE there no", "MENU.OPTION.PRICE there no 1",
    "MENU.OPTION.SUSPEND there no", "MENU.OPTION.RESUME there no", "MENU.ITEM.STOCK there no COUNT 1",
    "MENU.OPTION.STOCK there no COUNT 1", "STOCK no", "PROMO.END no p", "PROMO.END there no",
    'PROMO.PUT no p {"title":"x","on":"order","give":{"amount":1}}', 'MENU.FEED.PUT no {"state":"ready"}',
    "CART.ADD c no rice 1", "CART.ADD c there no 1", "CART.SET no no 1", "CART.REMOVE no no", "CART.EDIT no no NOTE x",
    "ORDER.ACCEPT no", "ORDER.REJECT no CODE ITEMS", "ORDER.PREPARE no", "ORDER.READY no", "ORDER.COMPLETE no",
    "ORDER.DELAY no READY 2099-01-01T00:00:00Z", "ORDER.CANCEL no BY merchant CODE ITEMS",
    "ORDER.REFUND no CODE ITEMS", 'ORDER.CHANGE no {"lines":[{"line":"x","quantity":0}]} BY merchant',
    "ORDER.AGREE no 0123456789abcdef", "ORDER.DECLINE no", "ORDER.NOTED no", "KITCHEN no", "PICTURE.PUT no {PICTURE}", "TAKINGS no FROM 2026-03-01", "SLOTS no",
    "BROWSE OUTLET no", "OUTLETS OUTLET no",
    "SURPRISE OUTLET no", "BROWSE.SAVE q OUTLET no", "OUTLETS.SAVE q OUTLET no", "LOG.PROVE cart-no 1",
    "ORDER.PROVE no",
    "COMMAND HELP NO.SUCH", "HELP NO.SUCH",
]
# A cart is there for whoever names it, and empty.
STATE = ["CART.TIP no 1", "CART.CODE no TEN", "CART.UNCODE no TEN", "CART.SERVICE no pickup", "CART.CHECKOUT no TOTAL 0"]
# These name nothing that could be missing, have their own tests, or answer in Redis's way.
OTHERS = {
    "ping", "echo", "hello", "auth", "acl", "select", "reset", "quit", "client", "info", "time", "config", "command",
    "slowlog", "latency", "multi", "exec", "discard", "watch", "unwatch", "choose", "choose.seed", "log.head",
    # A partition that is not there is INVALID.
    "log.tree", "log.signed",
    "cluster", "asking", "readonly", "readwrite", "peer", "token", "after",
    # It creates what is not there.
    "outlet.put",
    # Customers are not registered: whoever is named is forgotten.
    "customer.forget",
    # One of three words, or INVALID.
    "projection.rebuild",
    # Below: a channel may be about what comes later.
    "subscribe", "unsubscribe",
    # Without users nothing can be done to one: see test_users.py.
    "user.list", "user.add", "user.confine", "user.disable", "user.enable", "user.remove", "user.token",
    # Relays are at work elsewhere: see test_relay.py.
    "relay.list",
    # Its words differ from version to version: see ordering.md.
    "order.payment",
}


def words(line):
    documents = {"{MENU}": MENU, "{SECTION}": SECTION, "{ITEM}": ITEM, "{GROUP}": GROUP, "{PICTURE}": PICTURE}
    return [documents.get(word, word) for word in line.split(" ")]


@pytest.fixture(scope="module")
def server():
    """A server of its own, where nothing is there but an outlet by that name."""
    sites = ("--web", "127.0.0.1:0", "--console", "127.0.0.1:0")
    with fresh_database() as url, Server(database=url, options=sites) as running:
        with running.client() as client:
            tiffin.put_open_outlet(
                client, "there", [tiffin.section_document("s", [tiffin.item_document("rice", 100)])])
        yield running


@pytest.mark.parametrize("line", NULL)
def test_a_document_by_its_id_is_null(client, line):
    assert client(*words(line)) is None


@pytest.mark.parametrize("line", REPLACED)
def test_what_was_there_becomes_null_by_a_patch(client, line):
    assert client.json(*words(line))["patch"] == [{"op": "replace", "path": "", "value": None}]


@pytest.mark.parametrize("line", NONE)
def test_of_nothing_there_are_none(client, line):
    assert client(*words(line)) == 0


@pytest.mark.parametrize("line", EMPTY)
def test_a_list_has_nothing_in_it(client, line):
    answer = client(*words(line))
    if isinstance(answer, list):
        assert answer == []
    else:
        document = json.loads(answer)
        assert document.get("items", document.get("outlets", document.get("orders"))) == []


@pytest.mark.parametrize("line", NOTFOUND)
def test_anything_else_says_what_is_not_there(client, line):
    error = client.error(*words(line))
    assert error.code == "NOTFOUND", error
    # A line of a cart can be any text, and is not repeated.
    missing = "line" if line.startswith("CART.") and " no no" in line else "NO.SUCH" if "NO.SUCH" in line else "no'"
    assert missing in str(error).replace("cart-no has", "no'"), error


@pytest.mark.parametrize("line", STATE)
def test_a_cart_that_nobody_has_filled_is_empty(client, line):
    assert str(client.error(*words(line))) == "STATE the cart is empty; allowed is CART.ADD"


def test_every_command_has_its_place_in_the_rule(client):
    lines = NULL + REPLACED + NONE + EMPTY + NOTFOUND + STATE
    tried = {line.split(" ")[0].lower() for line in lines}
    named = {name.decode() for name in client("COMMAND", "LIST")}
    assert tried | OTHERS == named
    assert tried & OTHERS <= {"command"}


def test_who_follows_what_is_not_there_is_told_when_it_comes(server, client):
    with server.client() as follower:
        follower.send(tiffin.encode("SUBSCRIBE", "kitchen:later"))
        assert follower.read()[:2] == [b"subscribe", b"kitchen:later"]
        first = json.loads(follower.read()[2])
        assert first["patch"] == [{"op": "replace", "path": "", "value": None}]
        client("OUTLET.PUT", "later", OUTLET)
        assert json.loads(follower.read()[2])["patch"][0]["value"]["outlet"] == "later"


def test_a_removed_outlet_keeps_its_kitchen_and_its_orders(client):
    tiffin.put_open_outlet(
        client, "gone", [tiffin.section_document("s", [tiffin.item_document("rice", 100)])], acceptWithin=600)
    client("CART.ADD", "last", "gone", "rice", 1)
    order = client("CART.CHECKOUT", "last", "TOTAL", 100).decode()
    client("OUTLET.REMOVE", "gone")
    assert [each["order"] for each in client.json("KITCHEN", "gone")["orders"]] == [order]
    assert [each["order"] for each in client.json("ORDERS", "OUTLET", "gone")["orders"]] == [order]
    assert client("OUTLET.HOME", "gone") is None
    assert str(client.error("OUTLET.HOME", "gone", "SINCE", 1)) == "NOTFOUND no outlet 'gone'"
    assert str(client.error("OUTLET.OPEN", "gone")) == "NOTFOUND the outlet was removed: 'gone'"


# --- HTTP


class TestHTTP:
    @staticmethod
    def ask(server, site, method, path, body=None, **fields):
        with closing(HTTPConnection(server.site(site), timeout=tiffin.REPLY_SECONDS)) as connection:
            kind = "image/jpeg" if isinstance(body, bytes) else "application/json"
            fields = {"Content-Type": kind} if body is not None else {}
            connection.request(method, path, body, fields)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")

    DOCUMENTS = {
        "/v1/outlets/{outlet}": OUTLET, "/v1/outlets/{outlet}/menu": MENU,
        "/v1/outlets/{outlet}/sections/{section}": SECTION,
        "/v1/outlets/{outlet}/sections/{section}/items/{item}": ITEM, "/v1/outlets/{outlet}/groups/{group}": GROUP,
        "/v1/outlets/{outlet}/pictures": PICTURE, "/v1/orders/{order}/change": json.dumps({"lines": []}),
        "/v1/outlets/{outlet}/promotions/{promotion}": json.dumps({"title": "x", "on": "order", "give": {"amount": 1}}),
    }
    BODIES = {
        "code": "ITEMS", "by": "merchant", "until": "2099-01-01T00:00:00Z", "ready": "2099-01-01T00:00:00Z", "price": 1, "delay": 5,
        "digest": "0" * 16,
    }

    QUERY = {"from": "2026-03-01", "by": "merchant"}

    def test_what_a_path_names_and_is_not_there_is_404(self, server):
        """Every route of the console whose path names something, by docs/openapi.json."""
        paths = json.loads((CHECKOUT / "docs" / "openapi.json").read_text())["paths"]
        tried = 0
        for path, methods in paths.items():
            for method, operation in methods.items():
                command = operation.get("x-command", "")
                if not command or "{" not in path or "console" not in operation["tags"] or command.lower().split()[0] in OTHERS:
                    continue
                body = None
                if "requestBody" in operation:
                    [content] = operation["requestBody"]["content"].values()
                    required = content["schema"].get("required", [])
                    body = self.DOCUMENTS.get(path) or json.dumps({name: self.BODIES[name] for name in required})
                address = path.replace("{stream}", "cart-no").replace("{version}", "1")
                for name in ["outlet", "section", "item", "group", "option", "promotion", "order", "cart"]:
                    address = address.replace(f"{{{name}}}", "no")
                query = [
                    f"{parameter['name']}={self.QUERY[parameter['name']]}" for parameter in operation["parameters"]
                    if parameter["in"] == "query" and parameter["required"]]
                address += "?" * bool(query) + "&".join(query)
                status, document = self.ask(server, "console", method.upper(), address, body)
                assert (status, document["code"]) == (404, "NOTFOUND"), (method, path, document)
                assert "no" in document["detail"].replace("not ", "").replace("nothing", ""), document
                tried += 1
        assert tried >= 30

    @pytest.mark.parametrize("path", ["/v1/cart", "/v1/cart/quote"])
    def test_ones_own_cart_is_null_until_something_is_in_it(self, server, path):
        assert self.ask(server, "store", "GET", path) == (200, None)

    @pytest.mark.parametrize("query, count", [("customer=no", "orders"), ("outlet=no", "orders")])
    def test_a_list_has_nothing_in_it(self, server, query, count):
        assert self.ask(server, "console", "GET", f"/v1/orders?{query}")[1][count] == []

    def test_a_stream_without_events_has_none(self, server):
        assert self.ask(server, "console", "GET", "/v1/log?stream=cart-no") == (200, [])

    @pytest.mark.parametrize("path, detail", [
        ("/v1/outlets/no/home", "there is nothing at /v1/outlets/no/home"),
        ("/v1/outlets/no/home?since=1", "no outlet 'no'"), ("/v1/browse?outlet=no", "no outlet 'no'"),
        ("/v1/surprise?tag=no", "nothing matches"), ("/v1/outlets/there/items/no", "there is nothing at /v1/outlets/there/items/no"),
    ])
    def test_404_says_what_is_not_there(self, server, path, detail):
        status, document = self.ask(server, "store", "GET", path)
        assert (status, document["code"], document["detail"]) == (404, "NOTFOUND", detail)
