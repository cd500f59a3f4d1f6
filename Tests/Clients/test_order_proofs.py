"""The proof of an order: what it cost, what was paid and what was given back follow from what is in the log, and two checkers
that share nothing with each other, nor with the server, find whatever does not."""

import base64
import copy
import importlib.util
import json
import random
import subprocess
import sys
from hashlib import sha256

import pytest

from test_order_changes import STEPS, change, give_back, placed, repriced
from test_quotes import Scene
from test_receipts import verify
from tiffin import CHECKOUT, PATIENCE_SECONDS, Server, fresh_database, item_document, put_open_outlet, section_document

CHECKER = CHECKOUT / "docs" / "check_order.py"
RANDOM_ORDERS = 40
specification = importlib.util.spec_from_file_location("check_order", CHECKER)
checker = importlib.util.module_from_spec(specification)
specification.loader.exec_module(checker)


def check(*arguments, text=None):
    """Runs the independent checker."""
    return subprocess.run(
        [sys.executable, "-I", str(CHECKER), *map(str, arguments)], input=text, capture_output=True, text=True, timeout=PATIENCE_SECONDS)


def both(proof, *options):
    """What both checkers say of a proof: they agree whether it is one."""
    text = proof if isinstance(proof, str) else json.dumps(proof)
    runs = [run("-", *options, text=text) for run in (verify, check)]
    # What one cannot read may be wrong for the other.
    assert (runs[0].returncode == 0) == (runs[1].returncode == 0) and {run.returncode for run in runs} <= {0, 1, 3}, runs
    return max(run.returncode for run in runs), [run.stdout + run.stderr for run in runs]


def told(text):
    """The steps of a proof that holds, of both checkers: the same to the word."""
    code, said = both(text)
    assert code == 0, said
    steps = [[line.strip() for line in one.splitlines() if line.startswith("  ") and "the log shows" not in line
              and "from elsewhere" not in line] for one in said]
    assert steps[0] == steps[1]
    return steps[0]


@pytest.fixture(scope="module")
def shop():
    """A server with a diner, whose orders are followed, and a café, whose orders are not."""
    with fresh_database() as database, Server(database=database) as server, server.client() as client:
        tax = {"taxIncluded": True, "taxes": [{"id": "vat", "name": "VAT", "rate": 20_000}]}
        items = [item_document("pie", 1_650), item_document("chips", 450), item_document("tart", 1_600)]
        put_open_outlet(client, "diner", [section_document("all", items)], **{
            **tax, "acceptWithin": 600, "minimumOrder": 0,
            "charges": {"service": {"rate": 10_000, "tax": "vat"}, "delivery": {"fee": 250, "freeFrom": 6_000, "tax": "vat"}}})
        put_open_outlet(client, "cafe", [section_document("all", items)], **{
            **tax, "minimumOrder": 0, "charges": {"service": {"rate": 10_000, "tax": "vat"}}})
        yield client


def order_at(client, outlet, cart, *lines, tip=0):
    for item, quantity in lines:
        client("CART.ADD", cart, outlet, item, quantity)
    if tip:
        client("CART.TIP", cart, tip)
    return client("CART.CHECKOUT", cart, "TOTAL", client.json("CART.QUOTE", cart)["total"]).decode()


@pytest.fixture(scope="module")
def story(shop):
    """An order that is paid, changed, and given back in each way, with its proof."""
    order = order_at(shop, "diner", "story", ("pie", 3), ("chips", 1), tip=100)
    total = shop.json("ORDER.GET", order)["total"]
    shop("ORDER.PAYMENT", order, "cap_1", "captured", total)
    shop("ORDER.REFUND", order, "LINE", "pie", "QTY", 1, "CODE", "ITEMS")
    shop("ORDER.CHANGE", order, json.dumps({"lines": [{"line": "chips", "by": {"item": "tart", "quantity": 1}}]}),
         "BY", "merchant")
    shop("ORDER.AGREE", order, shop.json("ORDER.GET", order)["proposal"]["after"]["digest"])
    shop("ORDER.REFUND", order, "AMOUNT", 200, "CODE", "OTHER")
    shop("ORDER.REFUND", order, "LINE", "tart", "QTY", 1, "CODE", "ITEMS")
    shop("ORDER.PAYMENT", order, "ref_1", "refunded", 500)
    return order, shop.json("ORDER.PROVE", order)


def test_a_proof_says_what_an_order_cost_and_what_came_back(shop, story):
    order, proof = story
    shown = shop.json("ORDER.GET", order)
    assert [receipt["event"]["version"] for receipt in proof["receipts"]] == list(range(1, shown["version"] + 1))
    steps = told(proof)
    assert steps[0].startswith("placed with outlet diner; all amounts are in minor units of ")
    assert "3 × Pie at 1650 = 4950" in steps and "lines together 5400" in steps
    assert "service: 10 % of 5400 = 540" in steps and "delivery: 250" in steps and "tip: 100" in steps
    assert "VAT: 20 % of 6190, included in the prices = 1032" in steps and "total 6290" in steps
    # The first of three, with its share of service, and what of the tax falls on both.
    assert f"given back: 1 × Pie = {1650 + 165}, of it taxes 303 vat" in steps
    assert "changed, as the merchant proposed" in steps
    assert f"total {shown['total']}" in steps
    assert f"in the end: {shown['total']} for the order, {shown['refunded']} of it given back: it costs " \
        f"{shown['total'] - shown['refunded']}" in steps
    assert "reported: 6290 was paid, and 500 of it came back: the outlet has 5790" in steps
    assert steps[-1] == f"the outlet owes the customer {shown['payment']['owed']}"


def test_an_order_whose_outlet_follows_nothing_and_one_that_is_cancelled(shop):
    order = order_at(shop, "cafe", "plain", ("tart", 2))
    shop("ORDER.REFUND", order, "CODE", "OTHER")
    steps = told(shop("ORDER.PROVE", order).decode())
    assert steps[1].startswith("the outlet's taxes and charges are not recorded with the order")
    assert steps[-1] == "in the end: 3520 for the order, 3520 of it given back: it costs 0"
    order = order_at(shop, "diner", "off", ("tart", 1))
    shop("ORDER.CANCEL", order, "BY", "customer", "CODE", "CUSTOMER")
    assert told(shop("ORDER.PROVE", order).decode())[-1].endswith(", and nothing is charged")


def test_an_order_that_there_is_not_has_no_proof(shop):
    assert shop.error("ORDER.PROVE", "no-order").code == "NOTFOUND"
    assert shop.error("ORDER.PROVE", "").code == "INVALID"


def test_a_proof_is_of_the_log_whose_head_is_known(story):
    order, proof = story
    root = proof["receipts"][0]["tree"]["root"]
    assert both(proof, "--head", root)[0] == 0
    assert both(proof, "--head", "00" * 32)[0] == 1
    code, said = both(proof)
    assert all("compared" in one for one in said)


def test_every_random_order_is_proven(shop):
    """With sizes, extras, combos, several taxes, services, changes and refunds: whatever the server decides follows."""
    chance, proven = random.Random(20261128), 0
    for number in range(4):
        scene = Scene(f"any-{number}", chance)
        scene.outlet |= {"minimumOrder": 0, "acceptWithin": 3_600}
        for service in scene.outlet.get("services", {}).values():
            service["minimumOrder"] = 0
        for command, document in (("OUTLET.PUT", scene.outlet), ("MENU.PUT", scene.menu)):
            shop(command, scene.id, json.dumps(document))
        shop("OUTLET.OPEN", scene.id)
        orders = [order for cart in range(RANDOM_ORDERS // 4) for order in placed(shop, chance, scene, cart)]
        repriced(shop, chance, scene)
        for order, model in orders:
            for _ in range(STEPS):
                if chance.random() < 0.5:
                    give_back(shop, chance, order, model)
                elif change(shop, chance, scene, order, model) == "cancelled":
                    break
            checker.check_order(shop.json("ORDER.PROVE", order), None, tell=lambda line: None)
            told(shop("ORDER.PROVE", order).decode())
            proven += 1
    assert proven >= RANDOM_ORDERS / 2


@pytest.fixture(scope="module")
def cakes(shop):
    """An order with discounts on its lines and on its delivery, that is changed and given back, with its proof."""
    items = [item_document("eclair", 400), item_document("tart", 550)]
    put_open_outlet(shop, "bakery", [section_document("cakes", items)], **{
        "taxIncluded": False, "taxes": [{"id": "vat", "name": "VAT", "rate": 8_875}], "acceptWithin": 600, "minimumOrder": 0,
        "charges": {"service": {"rate": 12_500, "tax": "vat"}, "delivery": {"fee": 250, "tax": "vat"}}})
    for name, promotion in {
        "three": {"title": "Three for two", "on": "items", "give": {"percent": 100_000}, "of": {"sections": ["cakes"]}, "buy": 2},
        "ten": {"title": "Ten percent", "on": "order", "give": {"percent": 10_000}},
        "free": {"title": "We bring it", "on": "delivery", "give": {"amount": 199}, "minimum": 2_000},
    }.items():
        shop("PROMO.PUT", "bakery", name, json.dumps(promotion))
    order = order_at(shop, "bakery", "cakes", ("eclair", 3), ("tart", 2))
    shop("ORDER.REFUND", order, "LINE", "eclair", "QTY", 1, "CODE", "ITEMS")
    shop("ORDER.CHANGE", order, json.dumps({"lines": [{"line": "tart", "quantity": 1}]}), "BY", "merchant")
    shop("ORDER.AGREE", order, shop.json("ORDER.GET", order)["proposal"]["after"]["digest"])
    shop("ORDER.REFUND", order, "LINE", "tart", "QTY", 1, "CODE", "ITEMS")
    shop("ORDER.REFUND", order, "CODE", "OTHER")
    return order, shop.json("ORDER.PROVE", order)


def test_discounts_are_worked_out_too(shop, cakes):
    order, proof = cakes
    steps = told(proof)
    assert any(step.startswith("Three for two: -400 off the lines") for step in steps)
    assert "We bring it: -199 off the delivery" in steps and "delivery: 250" in steps
    shown = shop.json("ORDER.GET", order)
    assert steps[-1] == f"in the end: {shown['total']} for the order, {shown['total']} of it given back: it costs 0"


# --- what is changed without the log


def test_every_number_and_every_digest_of_every_receipt_counts(story):
    order, proof = story
    chance, tried = random.Random(20261130), 0
    for number, receipt in enumerate(proof["receipts"]):
        for place in (place for place in everything(receipt) if place[-1] not in ("event", "batch", "tree")):
            forged = copy.deepcopy(proof)
            put(forged["receipts"][number], place, another)
            if tried % 4 == 0 or chance.random() < 0.1:
                code, said = both(forged)
                assert code != 0, (place, said)
            with pytest.raises((SystemExit, ValueError)):
                checker.check_order(forged, None, tell=lambda line: None)
            tried += 1
    assert tried > 100


def another(value):
    if isinstance(value, int):
        return value + 1
    # Of a digest, or of several in base64, another one that is one as well; of any other text, a longer one.
    return "1" + value[1:] if value[:1] == "0" else "0" + value[1:] if len(value) >= 44 and value[0] not in "{[" else value + "x"


def test_the_receipts_are_of_all_events_of_one_order_in_one_tree(shop, story):
    order, proof = story
    other = shop.json("ORDER.PROVE", order_at(shop, "cafe", "other", ("tart", 1)))
    later = shop.json("ORDER.PROVE", order)
    assert later["receipts"][0]["tree"] != proof["receipts"][0]["tree"]
    receipts = proof["receipts"]
    for wrong in (
        receipts[1:], receipts[:1] + receipts[2:], receipts[::-1], [receipts[1], receipts[0], *receipts[2:]],
        [*receipts, receipts[-1]], [receipts[0], *later["receipts"][1:]], other["receipts"], [],
    ):
        code, said = both(proof | {"receipts": wrong})
        assert code == 1 and all("not proven" in one for one in said), said
    assert both(proof | {"order": "another"})[0] == 1
    # The beginning of an order is what it was then.
    assert both(proof | {"receipts": receipts[:2]})[0] == 0


def test_what_is_no_proof_cannot_be_read(story):
    order, proof = story
    for wrong in (
        proof | {"more": 1}, {"order": order, "receipts": proof["receipts"]}, proof | {"receipts": 1},
        proof | {"receipts": [{}]}, proof | {"receipts": [1]}, proof | {"order": 7},
    ):
        code, said = both(wrong)
        assert code != 0, said
    assert both(json.dumps(proof)[:-1])[0] == 3


# --- what somebody writes into a log of their own


def forge(proof, alter):
    """The same events in another log, whose digests are all right, each altered by `alter`, which takes its number, its kind
    and its payload."""
    def text(value):
        return len(value.encode()).to_bytes(4, "big") + value.encode()

    def node(left, right):
        return sha256(b"\1" + left + right).digest()

    events, leaves, chain, chains = [], [], bytes(32), []
    for number, receipt in enumerate(proof["receipts"]):
        event = receipt["event"] | {"position": number + 1}
        payload = json.loads(event["payload"])
        payload = alter(number, event["kind"], payload) or payload
        event["payload"] = json.dumps(payload, ensure_ascii=False)
        leaf = sha256(
            b"\0" + text(event["stream"]) + event["version"].to_bytes(8, "big") + text(event["kind"])
            + event["schemaVersion"].to_bytes(4, "big") + text(event["payload"]) + text(event["metadata"])
            + event["recordedAtMilliseconds"].to_bytes(8, "big")).digest()
        chains.append(chain)
        chain = sha256(chain + leaf).digest()
        leaves.append(sha256(b"\0" + (number + 1).to_bytes(8, "big") + chain).digest())
        events.append(event)
    levels = [leaves]
    while len(levels[-1]) > 1:
        below = levels[-1]
        levels.append([node(*below[n:n + 2]) if n + 1 < len(below) else below[n] for n in range(0, len(below), 2)])

    def path(index):
        steps = []
        for level in levels[:-1]:
            if index ^ 1 < len(level):
                steps.append(level[index ^ 1])
            index //= 2
        return base64.b64encode(b"".join(steps)).decode()

    return proof | {"receipts": [{
        "receipt": receipt["receipt"], "partitions": receipt["partitions"], "event": event,
        "batch": {"firstPosition": n + 1, "lastPosition": n + 1, "index": 0, "size": 1, "path": "",
                  "previousChainDigest": chains[n].hex()},
        "tree": {"index": n, "size": len(leaves), "root": levels[-1][0].hex(), "path": path(n)},
    } for n, (receipt, event) in enumerate(zip(proof["receipts"], events))]}


# What nothing else follows from: times, what the kitchen holds, and what was paid.
FREE = {"placedAt", "promisedFor", "acceptBy", "acceptWithin", "until", "freeFrom", "count", "limit"}


def numbers(value, place=()):
    """The places of all numbers in a payload that something else has to agree with."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key not in FREE and key not in ("claims", "gone"):
                yield from numbers(part, (*place, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from numbers(part, (*place, index))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield place


def put(payload, place, change_it):
    for key in place[:-1]:
        payload = payload[key]
    payload[place[-1]] = change_it(payload[place[-1]])


@pytest.mark.parametrize("which", ["story", "cakes"])
def test_no_number_of_a_bill_a_change_or_a_refund_can_be_another(which, request):
    """Somebody makes a log of their own, with all its digests: then the arithmetic is wrong."""
    order, proof = request.getfixturevalue(which)
    assert both(forge(proof, lambda *_: None))[0] == 0
    tried, passed = 0, []
    for number, receipt in enumerate(proof["receipts"]):
        event = receipt["event"]
        if event["kind"] in ("order.paymentReported", "order.changeProposed"):
            continue
        for place in numbers(json.loads(event["payload"])):
            for add in (1_000, -1_000) if place[-1] == "rate" else (1, -1):
                forged = forge(proof, lambda at, kind, payload: put(payload, place, lambda n: n + add) if at == number else None)
                tried += 1
                try:
                    checker.check_order(forged, None, tell=lambda line: None)
                    passed.append((number, place, add))
                except (SystemExit, ValueError):
                    pass
                run = verify("-", text=json.dumps(forged)) if tried % 5 == 0 else None
                assert run is None or (run.returncode == 0) == ((number, place, add) in passed), (number, place, run)
    assert passed == [] and tried > 100


@pytest.mark.parametrize("what, alter, said", [
    ("the total", lambda kind, payload: kind == "order.placed" and payload.update(total=payload["total"] - 1),
     "lines and charges come to"),
    ("a tax", lambda kind, payload: kind == "order.placed" and tax_of(payload).update(amount=1), "of tax vat do not add up"),
    ("the rate of a tax", lambda kind, payload: kind == "order.placed" and tax_of(payload).update(rate=10_000),
     "tax vat on"),
    ("the outlet's rate", lambda kind, payload: kind == "order.placed" and payload["pricing"]["taxes"][0].update(rate=10_000),
     "the outlet has another tax vat"),
    ("service", lambda kind, payload: kind == "order.placed" and payload["pricing"]["charges"]["service"].update(rate=9_000),
     "service is not its part of the lines"),
    ("what is given back", lambda kind, payload: kind == "order.refunded" and payload.update(amount=payload["amount"] - 1),
     "what is given back comes to"),
    ("its tax", lambda kind, payload: kind == "order.refunded" and payload["taxes"][0].update(amount=0), "is to be given back, not 0"),
    ("more than there was", lambda kind, payload: kind == "order.refunded" and payload.update(amount=10**6),
     "more is given back than the order cost"),
    ("a price", lambda kind, payload: kind == "order.changed" and payload["lines"][0].update(unitPrice=1),
     "line pie costs something else"),
    ("a change", lambda kind, payload: kind == "order.changed" and payload["change"][0].update({"from": 2}),
     "is changed otherwise than the change says"),
    ("a fee", lambda kind, payload: kind == "order.placed" and payload["pricing"]["charges"]["delivery"].update(freeFrom=1),
     "the fee delivery is charged, and not due"),
])
def test_what_is_wrong_is_said(story, what, alter, said):
    order, proof = story
    code, words = both(forge(proof, lambda number, kind, payload: alter(kind, payload) and None))
    assert code == 1 and all(said in one for one in words), words


def tax_of(payload):
    return next(charge for charge in payload["charges"] if charge["kind"] == "tax")


def test_more_that_came_back_than_was_paid_is_in_doubt(story):
    order, proof = story
    steps = told(json.dumps(forge(proof, lambda number, kind, payload: payload | {"amount": 10_000}
                                  if kind == "order.paymentReported" and payload["state"] == "refunded" else None)))
    assert steps[-1] == "in doubt: more came back than was paid"


HOSTILE = [0, -1, 10**12, 10**12 + 1, 10**30, 1.5, True, None, "1", [], {}]


def test_no_payload_ends_a_checker(story):
    """Whatever stands where a number or a list is, both say that it is not proven, or cannot be read."""
    order, proof = story
    chance = random.Random(20261129)
    places = [(number, place) for number, receipt in enumerate(proof["receipts"])
              for place in everything(json.loads(receipt["event"]["payload"]))]
    for number, place in chance.sample(places, 60):
        value = chance.choice(HOSTILE)
        forged = forge(proof, lambda at, kind, payload: put(payload, place, lambda _: value) if at == number else None)
        for run in (verify("-", text=json.dumps(forged)), check("-", text=json.dumps(forged))):
            assert run.returncode in (0, 1, 3), (number, place, value, run)
            assert "Traceback" not in run.stderr


def everything(value, place=()):
    if place:
        yield place
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from everything(part, (*place, key))
