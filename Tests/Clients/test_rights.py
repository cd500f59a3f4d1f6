"""Every role asks for every command and every route, and gets what docs/users.md says, and nothing else.

The table is written by hand from that page. Commands and routes come from the server: one that is not in the table is a
failure, too.
"""

import http.client
import json
import re
from types import SimpleNamespace

import pytest

import tiffin
from tiffin import (
    CHECKOUT, PATIENCE_SECONDS, Client, ReplyError, Server, fresh_database, item_document, run_tiffin, section_document,
)

ROLES = ["customer", "merchant", "auditor", "admin"]

# A row of the page's table of roles each: who, and the commands.
LOOK = ROLES, """
    BROWSE BROWSE.DROP BROWSE.SAVE BROWSE.WINDOW CHOOSE CHOOSE.SEED ITEM.GET MENU.GET OUTLET.GET OUTLET.HOME OUTLET.TAGS
    OUTLETS OUTLETS.SAVE SLOTS SUBSCRIBE SURPRISE UNSUBSCRIBE"""
READ_CARTS_AND_ORDERS = ROLES, "CART.COUNT CART.GET CART.QUOTE ORDER.GET ORDERS"
FILL_CARTS = ["customer", "admin"], """
    CART.ADD CART.CHECKOUT CART.CLEAR CART.CODE CART.EDIT CART.REMOVE CART.SERVICE CART.SET CART.TIP CART.UNCODE"""
CANCEL_AND_CHANGE = ["customer", "merchant", "admin"], "ORDER.AGREE ORDER.CANCEL ORDER.CHANGE ORDER.DECLINE"
COOK = ["merchant", "admin"], """
    KITCHEN ORDER.ACCEPT ORDER.COMPLETE ORDER.DELAY ORDER.NOTED ORDER.PAYMENT ORDER.PREPARE ORDER.READY ORDER.REFUND
    ORDER.REJECT TAKINGS"""
CHANGE_OUTLETS_AND_MENUS = ["merchant", "admin"], """
    MENU.FEED.GET MENU.FEED.PUT MENU.GROUP.PUT MENU.GROUP.REMOVE MENU.ITEM.PRICE MENU.ITEM.PUT MENU.ITEM.REMOVE
    MENU.ITEM.RESUME MENU.ITEM.STOCK MENU.ITEM.SUSPEND MENU.OPTION.PRICE MENU.OPTION.RESUME MENU.OPTION.STOCK
    MENU.OPTION.SUSPEND MENU.PUT MENU.SECTION.PUT MENU.SECTION.REMOVE OUTLET.BUSY OUTLET.CLOSE OUTLET.HIDE OUTLET.OPEN
    OUTLET.PAUSE OUTLET.PUT OUTLET.REMOVE OUTLET.SHOW OUTLETS.OWN PICTURE.PUT PROMO.END PROMO.GET PROMO.PUT STOCK"""
RECEIPTS = ROLES, "LOG.PROVE LOG.SIGNED ORDER.PROVE"
READ_THE_LOG = ["auditor", "admin"], "LOG.HEAD LOG.READ LOG.TREE"
OPERATE = ["admin"], """
    CLIENT|KILL CLIENT|LIST CONFIG|GET CONFIG|RESETSTAT LATENCY|HISTORY LATENCY|LATEST LATENCY|RESET RELAY.LIST SLOWLOG|GET
    SLOWLOG|LEN SLOWLOG|RESET"""
FORGET_AND_REBUILD = ["admin"], "CUSTOMER.FORGET PROJECTION.REBUILD"
MANAGE_USERS = ["admin"], """
    USER.ADD USER.CONFINE USER.DISABLE USER.ENABLE USER.LIST USER.REMOVE USER.TOKEN"""
# What is about the connection alone, or describes the server.
CONNECTION = ROLES, """
    AFTER ASKING AUTH DISCARD ECHO EXEC HELLO HELP INFO MULTI PING QUIT READONLY READWRITE RESET SELECT TIME TOKEN
    UNWATCH WATCH"""
EVERYTHING = [
    LOOK, READ_CARTS_AND_ORDERS, FILL_CARTS, CANCEL_AND_CHANGE, COOK, CHANGE_OUTLETS_AND_MENUS, RECEIPTS, READ_THE_LOG,
    OPERATE, FORGET_AND_REBUILD, MANAGE_USERS, CONNECTION]
ALLOWED = {command: roles for roles, commands in EVERYTHING for command in commands.split()}
# Whoever has not logged in can do that, with HELLO as well, and leave.
STRANGERS = {"AUTH"}
# These would end the connection, or wait.
NOT_ASKED = {"QUIT", "RESET", "EXEC", "DISCARD", "MULTI"}


def docs(client):
    """What COMMAND DOCS says of each command, its arguments and its subcommands, by name."""
    def tree(pairs):
        return {pairs[n].decode(): pairs[n + 1] for n in range(0, len(pairs), 2)}

    found = {}
    for name, words in tree(client("COMMAND", "DOCS")).items():
        words = tree(words)
        parts = tree(words["subcommands"]) if "subcommands" in words else {name: None}
        for part, more in parts.items():
            found[part.upper()] = tree(more) if more else words
    return found


# What stands for an argument, by its name.
VALUES = {
    "cart": "c-1", "outlet": "grill", "item": "rice", "quantity": "1", "line": "rice", "order": "no-order", "json": "{}",
    "section": "all", "group": "extras", "option": "large", "minor": "1", "time": "2099-01-01T00:00:00Z", "user": "nobody",
    "role": "customer", "ids": "x", "customer": "nobody", "projection": "orders", "stream": "order-none", "version": "1",
    "partition": "0", "size": "1", "position": "1", "word": "x", "n": "1", "name": "x", "from": "0", "count": "1",
    "picture": "x", "promotion": "p", "code": "CODE", "party": "customer", "digest": "0" * 64, "minutes": "5", "ref": "r",
    "channel": "outlet:grill", "message": "x", "key": "x", "index": "0", "username": "nobody", "password": "x",
    "token": "x", "day": "2026-01-01", "service": "pickup", "kind": "paid", "id": "1", "cursor": "x",
}


def arguments(words, role):
    """Arguments that are enough for the command to be looked at, from what it says of itself."""
    made, values = [], {**VALUES, "party": role if role == "merchant" else "customer"}
    for each in words.get("arguments", []):
        each = {each[n].decode(): each[n + 1] for n in range(0, len(each), 2)}
        if "optional" in [str(flag) for flag in each.get("flags", [])]:
            continue
        if "token" in each:
            made.append(each["token"].decode())
        name = each["name"].decode().split(" ")[0]
        made.append(values.get(name, "x"))
    return made


@pytest.fixture(scope="module")
def shop():
    """A server with a user of each role, who may log in with a token."""
    with fresh_database() as database:
        assert run_tiffin("migrate", "--database", database).returncode == 0
        tokens = {}
        for role in ROLES:
            assert run_tiffin("user", "add", role, "--role", role, "--no-password", "--database", database).returncode == 0
            tokens[role] = run_tiffin("user", "token", role, "--database", database).stdout.strip()
        environment = {"TIFFIN_CONSOLE": "127.0.0.1:0"}
        with Server(database=database, environment=environment) as server, log_in(server, tokens, "admin") as admin:
            tiffin.put_open_outlet(admin, "grill", [section_document("all", [item_document("rice", 100)])])
            yield SimpleNamespace(server=server, tokens=tokens, docs=docs(admin))


def log_in(server, tokens, role):
    client = Client(server.port)
    if role:
        assert client("AUTH", role, tokens[role]) == "OK"
    return client


def test_the_table_has_every_command(shop):
    assert set(shop.docs) - hidden(shop) == set(ALLOWED)


def hidden(shop):
    """Subcommands that describe, and those of connections and clusters, which say nothing of the data."""
    return {name for name in shop.docs if re.match(r"(ACL|CLUSTER|COMMAND|PEER)\b|.*\|HELP$", name)
            or name.startswith("CLIENT|") and name not in ALLOWED}


@pytest.mark.parametrize("role", [None, *ROLES])
def test_a_role_may_use_its_commands_and_no_others(shop, role):
    wrong = []
    with log_in(shop.server, shop.tokens, role) as client:
        for command in sorted(set(ALLOWED) - NOT_ASKED):
            reply = client.pipeline([[*command.split("|"), *arguments(shop.docs[command], role)]])[0]
            code = reply.code if isinstance(reply, ReplyError) else None
            if code == "ERR" and "wrong number of arguments" in str(reply):
                wrong.append(f"{command}: was not looked at: {reply}")
            refusal = "NOPERM" if role else "NOAUTH"
            may = role in ALLOWED[command] if role else command in STRANGERS
            if may == (code == refusal):
                wrong.append(f"{command} by {role}: {reply}")
    assert not wrong, "\n".join(wrong)


def routes():
    """Every route of the console: its method, path and command."""
    document = json.loads((CHECKOUT / "docs" / "openapi.json").read_text())
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            if "console" in route["tags"] and "x-command" in route:
                yield method.upper(), path, route


@pytest.mark.parametrize("role", [None, *ROLES])
def test_a_role_may_use_its_routes_and_no_others(shop, role):
    wrong = []
    host, _, port = shop.server.site("console").partition("/")[0].rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=PATIENCE_SECONDS)
    for method, path, route in routes():
        filled = re.sub(r"\{(\w+)\}", lambda match: VALUES[match[1]], path)
        query = [f"{each['name']}={VALUES.get(each['name'], 'x')}" for each in route.get("parameters", [])
                 if each["in"] == "query" and each.get("required")]
        headers = {"Authorization": f"Bearer {role}:{shop.tokens[role]}"} if role else {}
        body = None
        if "requestBody" in route:
            content, = list(route["requestBody"]["content"])[:1]
            schema = route["requestBody"]["content"][content]["schema"]
            headers["Content-Type"] = "image/png" if content.startswith("image") else content
            body = b"x" if content.startswith("image") else json.dumps(
                {name: VALUES.get(name, "x") for name in schema.get("required", [])})
        connection.request(method, filled + ("?" + "&".join(query) if query else ""), body, headers)
        answer = connection.getresponse()
        text = answer.read()
        command = route["x-command"].replace(" ", "|")
        may = role in ALLOWED[command]
        if may == (answer.status == (403 if role else 401)):
            wrong.append(f"{method} {path} ({command}) by {role}: {answer.status} {text[:200]}")
    connection.close()
    assert not wrong, "\n".join(wrong)
