"""What promotions take off is what a client finds that knows docs/ordering.md: 300 random carts, or as many as
TIFFIN_PROMOTED_CARTS says. Their orders are placed, given back and added up to the minor unit."""

import concurrent.futures
import contextlib
import datetime
import json
import os
import random

import pytest

import quotes
from test_fleet import fleet
from test_quotes import Scene, told
from tiffin import (
    ReplyError, Server, fresh_database, item_document, put_open_outlet, run_tiffin, section_document, sql, wait_until,
)

CARTS = int(os.environ.get("TIFFIN_PROMOTED_CARTS", "300"))
CARTS_OF_AN_OUTLET = 20


def promotion(chance, scene):
    on = chance.choice(["items", "items", "order", "delivery"])
    give = {"percent": chance.choice([100_000, 33_333, chance.randint(1, 100_000)])}
    if chance.random() < 0.5:
        give = {"amount": chance.randint(1, 1_500)}
        if on != "order" and chance.random() < 0.5:
            give = {"price": chance.randint(0, 1_500)}
    document = {"title": "Off", "on": on, "give": give}
    if on == "items":
        document |= scene.sometimes("buy", chance.randint(1, 3), 0.5) | scene.sometimes("get", chance.randint(1, 3), 0.4)
    if on != "delivery" and chance.random() < 0.5:
        ids = [item["id"] for item in scene.items]
        document["of"] = chance.choice([
            {"items": chance.sample(ids, min(2, len(ids)))}, {"sections": ["all"]}, {"tags": ["t"]}])
    document |= scene.sometimes("minimum", chance.randint(0, 8_000), 0.2) | scene.sometimes("cap", chance.randint(1, 900), 0.2)
    document |= scene.sometimes("alone", True, 0.2) | scene.sometimes("by", chance.choice(["outlet", "platform"]), 0.5)
    return document | scene.sometimes("service", chance.choice(quotes.SERVICES), 0.1)


def test_a_client_that_follows_the_document_agrees_with_every_discount(client, name):
    chance = random.Random(20261127)
    discounted = shared = 0
    for n in range(CARTS // CARTS_OF_AN_OUTLET):
        scene = Scene(f"{name}-{n}", chance)
        for item in scene.items:
            if chance.random() < 0.5:
                item["tags"] = ["t"]
        promotions = {f"p{number}": promotion(chance, scene) for number in range(chance.randint(1, 6))}
        for number, one in enumerate(promotions.values()):
            one |= scene.sometimes("code", f"Code{number}", 0.3)
        client("OUTLET.PUT", scene.id, json.dumps(scene.outlet))
        client("MENU.PUT", scene.id, json.dumps(scene.menu))
        client("OUTLET.OPEN", scene.id)
        for id, document in promotions.items():
            client("PROMO.PUT", scene.id, id, json.dumps(document))
        for number in range(CARTS_OF_AN_OUTLET):
            cart, codes, filled = f"{scene.id}-{number}", set(), {}
            for _ in range(chance.randint(1, 5)):
                item, quantity = chance.choice(scene.items), chance.randint(1, 9)
                chosen = scene.choice(item)
                try:
                    quotes.price_of_one(scene.menu, item, chosen)
                except quotes.Refused:
                    continue
                words = [f"{option}*{units}" if units > 1 else option for option, units in chosen.items()]
                client("CART.ADD", cart, scene.id, item["id"], quantity, "OPTIONS", ",".join(words))
                key = (item["id"], frozenset(chosen.items()))
                filled[key] = (item["id"], chosen, quantity + filled.get(key, (0, 0, 0))[2])
            if not filled:
                continue
            for one in promotions.values():
                if "code" in one and chance.random() < 0.5 and len(codes) < 5:
                    client("CART.CODE", cart, one["code"].swapcase())
                    codes.add(one["code"].upper())
            service = chance.choice([None, *scene.services])
            if service:
                client("CART.SERVICE", cart, service)
            answer = client.json("CART.QUOTE", cart)
            expected = quotes.quote(
                scene.outlet, scene.menu, list(filled.values()), 0, service, promotions, codes)
            assert told(answer) == expected, (scene.outlet, scene.menu, promotions, codes)
            off = [charge for charge in answer["charges"] if charge["kind"] == "discount"]
            applied = {code["code"] for code in answer.get("codes", ()) if code["state"] == "applied"}
            assert applied == {promotions[one["id"]]["code"].upper() for one in off if "code" in promotions[one["id"]]}
            discounted += bool(off)
            shared += len(off) > 1
    assert discounted > CARTS / 4 and shared > CARTS / 20


@pytest.fixture(scope="module")
def shop():
    with fresh_database() as database, Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "o", [section_document("all", [item_document("pie", 1_000), item_document("tea", 333)])])
        yield client, database


def refused(client, *words):
    with pytest.raises(ReplyError) as refusal:
        client(*words)
    return refusal.value.code


def test_promotions_are_put_changed_and_ended(shop):
    client, database = shop
    off = {"title": "Off", "on": "order", "give": {"amount": 100}, "code": "ten"}
    assert client("PROMO.PUT", "o", "ten", json.dumps(off)) == 1
    assert client("PROMO.PUT", "o", "ten", json.dumps(off)) == 1
    assert client.json("PROMO.GET", "o")["promotions"] == [{"id": "ten"} | off | {"code": "TEN"}]
    for wrong in (
            off | {"limit": 0}, off | {"perCustomer": 1.5}, off | {"give": {"amount": 0}}, off | {"give": {}},
            off | {"buy": 1}, off | {"on": "all"}, off | {"of": {}}, off | {"until": "soon"}):
        assert refused(client, "PROMO.PUT", "o", "other", json.dumps(wrong)) == "INVALID"
    client("CART.ADD", "a", "o", "pie", 1)
    assert refused(client, "CART.CODE", "a", "no") == "PROMO"
    client("CART.CODE", "a", "TeN")
    quote = client.json("CART.QUOTE", "a")
    assert (quote["total"], quote["codes"]) == (900, [{"code": "TEN", "state": "applied"}])
    assert client.json("CART.GET", "a")["codes"] == quote["codes"]
    # What is priced is another thing, even at the same total.
    client("PROMO.PUT", "o", "ten", json.dumps(off | {"title": "Less"}))
    assert refused(client, "CART.CHECKOUT", "a", "QUOTE", quote["quote"]) == "TOTALCHANGED"
    client("PROMO.END", "o", "ten")
    assert client.json("CART.GET", "a")["codes"] == [{"code": "TEN", "state": "ended"}]
    assert refused(client, "CART.CHECKOUT", "a", "TOTAL", 900) == "TOTALCHANGED"
    client("CART.UNCODE", "a", "ten")
    assert "codes" not in client.json("CART.QUOTE", "a")


def test_what_was_taken_off_is_given_back_and_added_up_by_who_pays(shop):
    client, database = shop
    client("PROMO.PUT", "o", "tea", json.dumps(
        {"title": "Tea", "on": "items", "give": {"percent": 50_000}, "of": {"items": ["tea"]}, "by": "platform"}))
    client("PROMO.PUT", "o", "all", json.dumps({"title": "All", "on": "order", "give": {"percent": 10_000}}))
    client("CART.ADD", "b", "o", "tea", 3)
    client("CART.ADD", "b", "o", "pie", 1)
    quote = client.json("CART.QUOTE", "b")
    order = client("CART.CHECKOUT", "b", "QUOTE", quote["quote"]).decode()
    # 999 less half, half up, then ten percent of what is left of it and the pie.
    assert [charge["shares"] for charge in quote["charges"]] == [[-500, 0], [-50, -100]]
    assert client.json("ORDER.GET", order)["charges"] == quote["charges"]
    for _ in range(3):
        client("ORDER.REFUND", order, "LINE", "tea", "QTY", 1, "CODE", "ITEMS")
    assert client.json("ORDER.GET", order)["refunded"] == 999 - 550
    client("ORDER.REFUND", order, "CODE", "ITEMS")
    assert client.json("ORDER.GET", order)["refunded"] == quote["total"]
    client("CART.ADD", "c", "o", "tea", 3)
    cancelled = client("CART.CHECKOUT", "c", "TOTAL", client.json("CART.QUOTE", "c")["total"]).decode()
    client("ORDER.CANCEL", cancelled, "BY", "merchant", "CODE", "ITEMS")
    today = datetime.datetime.now(datetime.UTC).date()
    days = [(today + datetime.timedelta(days=days)).isoformat() for days in (-1, 1)]
    (sums,) = client.json("TAKINGS", "o", "FROM", days[0], "UNTIL", days[1])["sum"]["services"]
    assert sums["sold"]["discounts"] == [{"by": "outlet", "amount": -200}, {"by": "platform", "amount": -1_000}]
    assert sums["cancelled"]["discounts"] == [{"by": "outlet", "amount": -50}, {"by": "platform", "amount": -500}]
    assert sums["net"]["total"] == 0
    audit = run_tiffin("audit", "--database", database)
    assert audit.returncode == 0, audit.stdout


def test_a_promotion_is_used_as_often_as_its_limits_say_and_comes_back_with_an_order(shop):
    client, database = shop
    put_open_outlet(client, "l", [section_document("all", [
        item_document("pie", 1_000), item_document("card", None, kind="promo", promotion="first")])])
    off = {"title": "Off", "on": "order", "give": {"amount": 100}, "code": "FIRST", "limit": 2, "perCustomer": 1}
    client("PROMO.PUT", "l", "first", json.dumps(off))

    def fill(cart, customer=None):
        client("CART.ADD", cart, "l", "pie", 1, *(["CUSTOMER", customer] if customer else []))
        client("CART.CODE", cart, "first")
        quote = client.json("CART.QUOTE", cart)
        return quote["codes"][0]["state"], quote["total"]

    def order(cart):
        return client("CART.CHECKOUT", cart, "TOTAL", 900).decode()

    def card():
        return client.json("OUTLET.HOME", "l")["sections"][0]["items"][1]["model"]["promotion"]

    assert fill("l-1", "asha") == ("applied", 900)
    first = order("l-1")
    # She has had it, and nobody may be anybody.
    assert fill("l-2", "asha") == ("customer", 1_000)
    assert fill("l-3") == ("customer", 1_000)
    assert card() == {"id": "first", "code": "FIRST", "state": "open"}
    assert fill("l-4", "ben") == ("applied", 900)
    second = order("l-4")
    assert fill("l-5", "cara") == ("spent", 1_000) and card()["state"] == "spent"
    assert refused(client, "CART.CHECKOUT", "l-5", "TOTAL", 900) == "TOTALCHANGED"
    assert client.json("PROMO.GET", "l")["promotions"] == [{"id": "first"} | off | {"used": 2}]
    # A higher limit is one that has not been reached.
    client("PROMO.PUT", "l", "first", json.dumps(off | {"limit": 3}))
    assert client.json("CART.QUOTE", "l-5")["total"] == 900 and card()["state"] == "open"
    client("PROMO.PUT", "l", "first", json.dumps(off))
    wait_until(lambda: card()["state"] == "spent", "the promotion to be spent")
    # Even where the kitchen has begun: nobody has had what it takes off.
    for placed, cart in ((first, "l-2"), (second, "l-5")):
        client("ORDER.PREPARE", placed)
        client("ORDER.CANCEL", placed, "BY", "merchant", "CODE", "ITEMS")
        wait_until(lambda: client.json("CART.QUOTE", cart)["total"] == 900, "the promotion to come back")
        order(cart)
    assert card()["state"] == "spent" and client.json("PROMO.GET", "l")["promotions"][0]["used"] == 2
    client("PROMO.END", "l", "first")
    assert card() == {"id": "first", "state": "ended"}
    audit = run_tiffin("audit", "--database", database)
    assert audit.returncode == 0, audit.stdout


def test_forty_carts_on_four_servers_race_for_a_code_that_ten_may_use():
    with fleet(4) as (servers, database):
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(server.client()) for server in servers]
            put_open_outlet(clients[0], "o", [section_document("all", [item_document("pie", 1_000)])])
            clients[0]("PROMO.PUT", "o", "p", json.dumps(
                {"title": "Off", "on": "order", "give": {"amount": 100}, "code": "P", "limit": 10, "perCustomer": 2}))
            # Eight customers with five carts each: two of one customer, and ten in all.
            for n in range(40):
                clients[0]("CART.ADD", f"c-{n}", "o", "pie", 1, "CUSTOMER", f"u-{n % 8}")
                clients[0]("CART.CODE", f"c-{n}", "p")

            def check_out(server):
                def one(n):
                    try:
                        return clients[server]("CART.CHECKOUT", f"c-{n}", "TOTAL", 900, "ID", f"out-{n}")
                    except ReplyError as error:
                        return error.code
                return [one(n) for n in range(server, 40, 4)]

            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                answers = [answer for some in pool.map(check_out, range(4)) for answer in some]
        # Who came a moment later was told by the supply, who came long after that by the price.
        placed = [answer for answer in answers if isinstance(answer, bytes)]
        assert len(placed) == 10 and {"PROMO", "TOTALCHANGED"} >= set(answers) - set(placed), answers
        customers = sql("select payload::json->>'customer' from tiffin.events where kind = 'order.placed'", database).split()
        assert max(map(customers.count, customers)) <= 2
        for server in servers:
            server.stop()
        audit = run_tiffin("audit", "--database", database)
        assert audit.returncode == 0, audit.stdout
