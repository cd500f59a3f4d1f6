"""Orders that change: their bills are those of a client that knows docs/ordering.md, in 300 random orders, or as many as
TIFFIN_CHANGED_ORDERS says; and what kitchens, deadlines, rights, restarts and the web make of changes."""

import datetime
import json
import os
import random

import order_changes
import quotes
from edits import patched
from followers import message
from order_changes import Refused
from test_missing import TestHTTP as Web
from test_quotes import Scene
from test_subscriptions import subscribe
from tiffin import (
    ReplyError, Server, fresh_database, item_document, put_open_outlet, read_log, run_tiffin, section_document,
    wait_until,
)

ORDERS = int(os.environ.get("TIFFIN_CHANGED_ORDERS", "300"))
ORDERS_OF_AN_OUTLET = 15
STEPS = 4


def placed(client, chance, scene, number):
    """An order for a random cart, with its model; nothing where the cart could not be filled."""
    cart = f"{scene.id}-{number}"
    commands, quote = scene.cart(cart)
    if quote is None:
        return []
    client.pipeline([command for command, _ in commands])
    missing = chance.choice(["remove", "replace", "ask", "cancel", None])
    order = client(
        "CART.CHECKOUT", cart, "TOTAL", quote["total"], *(["MISSING", missing] if missing else []))
    return [(order, order_changes.Order(scene.outlet, client.json("ORDER.GET", order)))]


def repriced(client, chance, scene):
    """The outlet charges something else from now on, and its menu, too. Neither is for what was ordered."""
    for tax in scene.outlet.get("taxes", []):
        tax["rate"] = chance.choice([0, 5_000, 7_777, 25_000])
    scene.outlet["charges"] = scene.terms()
    for item in scene.items:
        if "price" in item and chance.random() < 0.5:
            item["price"] = chance.choice([0, 1, 100, 999, 5_000])
    client("OUTLET.PUT", scene.id, json.dumps(scene.outlet))
    client("MENU.PUT", scene.id, json.dumps(scene.menu))


def arrival(chance, scene, model):
    """Something that can be had, or nothing."""
    item = chance.choice(scene.items)
    chosen = scene.choice(item)
    try:
        quotes.price_of_one(scene.menu, item, chosen, model.service)
    except quotes.Refused:
        return None
    words = [f"{option}*{units}" if units > 1 else option for option, units in chosen.items()]
    return {"item": item["id"], "quantity": chance.randint(1, 5)} | ({"options": ",".join(words)} if words else {})


def any_change(chance, scene, model):
    document = {"lines": []}
    for line in chance.sample(model.lines, chance.randint(0, min(2, len(model.lines)))):
        edit = {"line": line["line"], "quantity": chance.randrange(line["quantity"])}
        if chance.random() < 0.4 and (comes := arrival(chance, scene, model)):
            edit["by"] = comes
            if edit["quantity"] == 0 and chance.random() < 0.5:
                del edit["quantity"]
        document["lines"].append(edit)
    if (not document["lines"] or chance.random() < 0.3) and (comes := arrival(chance, scene, model)):
        document["add"] = [comes]
    return document


def code_of(reply):
    return reply.code if isinstance(reply, ReplyError) else None


def answer(client, *words):
    (reply,) = client.pipeline([words])
    return reply


def change(client, chance, scene, order, model):
    """Proposes a change, and answers it. Returns what came of it."""
    document, by = any_change(chance, scene, model), chance.choice(["merchant", "customer"])
    if not document["lines"] and "add" not in document:
        return "nothing"
    reply = answer(client, "ORDER.CHANGE", order, json.dumps(document), "BY", by)
    try:
        bill = model.changed(scene.menu, document)
    except Refused as refusal:
        assert code_of(reply) == str(refusal), (reply, document)
        return str(refusal)
    assert code_of(reply) is None, (reply, document, model.lines)
    outcome = model.outcome(document, by, bill)
    shown = client.json("ORDER.GET", order)
    if outcome == "cancelled":
        assert shown["ending"] == {"by": "merchant", "code": "ITEMS", "reason": None}
        return outcome
    if outcome == "proposed":
        proposal = shown["proposal"]
        assert (proposal["after"]["lines"], proposal["after"]["charges"], proposal["after"]["total"]) == bill, document
        assert (proposal["by"], proposal["before"]["total"]) == (by, model.total)
        if chance.random() < 0.3:
            client("ORDER.DECLINE", order)
            assert "proposal" not in client.json("ORDER.GET", order)
            return "declined"
        # Something may be given back meanwhile.
        if chance.random() < 0.1:
            give_back(client, chance, order, model)
        reply = answer(client, "ORDER.AGREE", order, proposal["after"]["digest"])
        try:
            model.changed(scene.menu, document)
        except Refused as refusal:
            assert code_of(reply) == str(refusal)
            client("ORDER.DECLINE", order)
            return str(refusal)
        assert reply == client("ORDER.AGREE", order, proposal["after"]["digest"]), "agreed twice is one event"
    model.take(bill)
    return outcome


def give_back(client, chance, order, model):
    line = chance.choice(model.lines)
    what = chance.choice([(line["line"], chance.randint(1, line["quantity"])), chance.choice([1, 99, 700])])
    words = ("AMOUNT", what) if isinstance(what, int) else ("LINE", what[0], "QTY", what[1])
    reply = answer(client, "ORDER.REFUND", order, *words, "CODE", "ITEMS")
    try:
        model.refund(what)
    except Refused as refusal:
        assert code_of(reply) == str(refusal), (reply, what)
    else:
        assert code_of(reply) is None, (reply, what)


def test_a_client_that_follows_the_document_agrees_with_every_changed_bill():
    chance = random.Random(20261127)
    came = {}
    today = datetime.datetime.now(datetime.timezone.utc).date()
    days = [str(today + datetime.timedelta(days=day)) for day in (-1, 1)]
    with fresh_database() as database, Server(database=database) as server, server.client() as client:
        for number in range(max(2, ORDERS // ORDERS_OF_AN_OUTLET)):
            scene = Scene(f"place-{number}", chance)
            scene.outlet |= {"minimumOrder": 0, "acceptWithin": 3_600}
            for service in scene.outlet.get("services", {}).values():
                service["minimumOrder"] = 0
            client("OUTLET.PUT", scene.id, json.dumps(scene.outlet))
            client("MENU.PUT", scene.id, json.dumps(scene.menu))
            client("OUTLET.OPEN", scene.id)
            orders = [order for cart in range(ORDERS_OF_AN_OUTLET) for order in placed(client, chance, scene, cart)]
            repriced(client, chance, scene)
            brought = 0
            for order, model in orders:
                for _ in range(STEPS):
                    if chance.random() < 0.3:
                        give_back(client, chance, order, model)
                        continue
                    outcome = change(client, chance, scene, order, model)
                    came[outcome] = came.get(outcome, 0) + 1
                    if outcome == "cancelled":
                        break
                else:
                    shown = {"refunded": 0, "refundedTax": 0} | client.json("ORDER.GET", order)
                    assert {key: shown[key] for key in model.shown()} == model.shown(), order
                    brought += model.total
                brought -= model.given["money"]
            takings = client.json("TAKINGS", scene.id, "FROM", days[0], "UNTIL", days[1])
            assert takings["sum"]["net"]["total"] == brought
        audit = run_tiffin("audit", "--database", database)
        assert "sound" in audit.stdout, audit.stdout
    # Each comes often enough to be about something.
    for outcome in ("proposed", "changed", "declined", "cancelled", "STATE", "LIMIT"):
        assert came.get(outcome, 0) >= ORDERS / 100, came


PIE = {"lines": [{"line": "pie", "quantity": 1}]}


def open_diner(client, outlet, **changes):
    items = [item_document("pie", 1_650), item_document("tea", 300)]
    put_open_outlet(client, outlet, [section_document("all", items)], **{"acceptWithin": 600, **changes})


def order_pies(client, cart, outlet, *words):
    client("CART.ADD", cart, outlet, "pie", 2)
    return client("CART.CHECKOUT", cart, "TOTAL", 3_300, *words)


def test_the_kitchen_and_whoever_watches_the_order_see_what_changed_until_it_is_noted(server, client, name):
    open_diner(client, name)
    order = order_pies(client, name, name, "MISSING", "remove")
    with server.client(protocol=3) as watcher:
        seen = patched(None, subscribe(watcher, f"kitchen:{name}")[f"kitchen:{name}"])
        assert seen["orders"][0]["missing"] == "remove" and "changes" not in seen["orders"][0]
        client("ORDER.CHANGE", order, json.dumps(PIE), "BY", "merchant")
        _, change = message(watcher.read())
        seen = patched(seen, change)
    assert seen == client.json("KITCHEN", name)
    (shown,) = seen["orders"]
    assert shown["lines"][0]["quantity"] == shown["count"] == 1
    assert shown["changes"][0]["change"] == [{"line": "pie", "name": shown["lines"][0]["name"], "from": 2, "to": 1}]
    assert client("ORDER.NOTED", order) == 3
    assert client("ORDER.NOTED", order) == 3, "the same again is no event"
    assert "changes" not in client.json("KITCHEN", name)["orders"][0]
    assert client.json("ORDERS", "OUTLET", name)["orders"][0]["total"] == 1_650


def test_a_proposal_outlives_its_server_and_ends_in_time():
    with fresh_database() as database:
        with Server(database=database) as server, server.client() as client:
            open_diner(client, "diner")
            order = order_pies(client, "cart", "diner")
            other = order_pies(client, "cart-2", "diner")
            for wait, id in ((2, order), (600, other)):
                client("ORDER.CHANGE", id, json.dumps(PIE), "BY", "customer", "WITHIN", wait)
            changed = client.json("ORDER.GET", other)["proposal"]
            client("ORDER.AGREE", other, changed["after"]["digest"])
            kitchen = client.json("KITCHEN", "diner")
            server.stop()
        with Server(database=database) as server, server.client() as client:
            assert client.json("KITCHEN", "diner") == kitchen, "what was saved is what was there"
            assert client.json("ORDER.GET", order)["proposal"]["until"]
            wait_until(lambda: "proposal" not in client.json("ORDER.GET", order), "the proposal ends", every=0.05)
            assert client.json("ORDER.GET", order)["changes"][0]["state"] == "expired"
            assert client("ORDER.PREPARE", order)
            kinds = [event["kind"] for event in read_log(client) if event["stream"].startswith("order-")]
            assert [kind for kind in kinds if "hange" in kind] == [
                "order.changeProposed", "order.changeProposed", "order.changed", "order.changeExpired"]
        why = run_tiffin("why", "order", order.decode(), "--database", database).stdout
        assert "change proposed by the customer" in why and "change not answered in time" in why


def test_each_party_speaks_for_itself(client, name):
    open_diner(client, name)
    order = order_pies(client, name, name)
    client("ORDER.CHANGE", order, json.dumps(PIE), "BY", "merchant")
    assert client.error("ORDER.CHANGE", order, '{"add":[{"item":"tea","quantity":1}]}', "BY", "customer").code == "STATE"
    assert client.error("ORDER.AGREE", order, "0123456789abcdef").code == "TOTALCHANGED"
    assert client("ORDER.DECLINE", order, "BY", "merchant") == 3
    assert client.json("ORDER.GET", order)["changes"][0]["declinedBy"] == "merchant"
    for document, code in (
        ("{}", "INVALID"), ('{"lines":[{"line":"pie"}]}', "INVALID"), ('{"lines":[{"line":"pie","quantity":2}]}', "INVALID"),
        ('{"lines":[{"line":"pie","quantity":0}]}', "STATE"), ('{"lines":[{"line":"cod","quantity":0}]}', "NOTFOUND"),
        ('{"add":[{"item":"cod","quantity":1}]}', "NOTFOUND"), ('{"add":[{"item":"tea","quantity":100}]}', "LIMIT"),
        ('{"add":[{"item":"tea","quantity":1,"options":"hot"}]}', "CHOICE"), ('{"more":1}', "INVALID"),
    ):
        assert client.error("ORDER.CHANGE", order, document, "BY", "merchant").code == code, document


def test_an_order_changes_over_http():
    sites = ("--web", "127.0.0.1:0", "--console", "127.0.0.1:0")
    with fresh_database() as database, Server(database=database, options=sites) as server, server.client() as client:
        change_over_http(server, client, "diner")


def change_over_http(server, client, name):
    open_diner(client, name)
    order = order_pies(client, name, name).decode()

    def post(site, path, body=None):
        status, answer = Web.ask(server, site, "POST", f"/v1/orders/{order}/{path}", body and json.dumps(body))
        assert status == 200, (path, answer)
        return answer

    swap = {"lines": [{"line": "pie", "quantity": 1, "by": {"item": "tea", "quantity": 2}}]}
    assert post("console", "change?by=merchant&within=60", swap) == {"version": 2}
    proposal = client.json("ORDER.GET", order)["proposal"]
    assert [change["line"] for change in proposal["change"]] == ["pie", "tea"]
    assert proposal["after"]["total"] == 1_650 + 2 * 300
    assert post("console", "decline") == {"version": 3}
    assert post("console", "change?by=customer", {"add": [{"item": "tea", "quantity": 1}]}) == {"version": 4}
    digest = client.json("ORDER.GET", order)["proposal"]["after"]["digest"]
    assert post("console", "agree", {"digest": digest}) == {"version": 5}
    assert post("console", "noted") == {"version": 6}
    # Who is not the customer at the store sees no order there.
    status, _ = Web.ask(server, "store", "POST", f"/v1/orders/{order}/agree", json.dumps({"digest": digest}))
    assert status == 404
