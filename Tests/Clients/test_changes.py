"""CART.GET … SINCE and ORDER.GET … SINCE: from any version to today's document, by a patch that another implementation
applies, whatever its reader was shown of problems and sealed texts."""

import datetime
import random
import threading

import pytest

import tiffin
from edits import canonical, patched
from tiffin import Server, item_document, section_document, wait_until

ITEMS = ["tea", "bun", "pie"]


def put_menu(client, outlet):
    tiffin.put_open_outlet(client, outlet, [section_document("all", [item_document(item, 100) for item in ITEMS])])


def leads(client, *words, seen):
    """SINCE leads from every document that was seen to today's; how many patches were no whole documents."""
    today, patches = client.json(*words), 0
    for document in seen:
        change = client.json(*words, "SINCE", document["version"])
        if change is None:
            assert document == today
            continue
        assert list(change) == [words[0].split(".")[0].lower(), "from", "to", "patch"]
        assert (change["from"], change["to"]) == (document["version"], today["version"])
        assert canonical(patched(document, change)) == canonical(today)
        patches += change["patch"] != [] and change["patch"][0]["path"] != ""
    return patches


class Shopping:
    """Changes a cart, and what its problems follow from, at random."""

    def __init__(self, client, name, chance):
        self.client, self.name, self.chance = client, name, chance

    def step(self):
        client, name, chance, item = self.client, self.name, self.chance, self.chance.choice(ITEMS)
        line = chance.choice((client.json("CART.GET", name) or {"lines": []})["lines"] or [{"line": item}])["line"]
        command = chance.choice([
            ("CART.ADD", name, name, item, 1), ("CART.ADD", name, name, item, 1, "NOTE", "warm"),
            ("CART.SET", name, line, chance.randint(0, 9)), ("CART.REMOVE", name, line), ("CART.TIP", name, chance.randint(0, 9)),
            ("CART.EDIT", name, line, "NOTE", chance.choice(["", "cold"])), ("CART.CLEAR", name),
            ("MENU.ITEM.PRICE", name, item, chance.randint(1, 9)), ("MENU.ITEM.SUSPEND", name, item),
            ("MENU.ITEM.RESUME", name, item), ("OUTLET.CLOSE", name), ("OUTLET.OPEN", name),
        ])
        # Whether it is accepted does not matter here: SINCE is about what there is afterwards.
        client.pipeline([command])


@pytest.mark.parametrize("seed", range(3))
def test_everything_a_reader_may_have_seen_of_a_cart_leads_to_today_s(client, name, seed):
    put_menu(client, name)
    shopping, seen, patches = Shopping(client, name, random.Random(seed)), [], 0
    client("CART.ADD", name, name, "tea", 1)
    for _ in range(20):
        for _ in range(5):
            seen.append(client.json("CART.GET", name))
            shopping.step()
        patches += leads(client, "CART.GET", name, seen=seen)
    assert patches > 50


def test_nothing_new_is_null_and_a_small_change_is_a_small_patch(client, name):
    put_menu(client, name)
    for item in ITEMS:
        client("CART.ADD", name, name, item, 1)
    assert client("CART.GET", name, "SINCE", 3) is None
    client("CART.SET", name, "bun", 2)
    change = client.json("CART.GET", name, "SINCE", 3)
    assert (change["cart"], change["from"], change["to"]) == (name, 3, 4)
    # Both may have happened in the same millisecond.
    assert {operation["path"] for operation in change["patch"]} - {"/updatedAt"} == {
        "/version", "/count", "/lines/1/quantity", "/lines/1/total", "/subtotal", "/total"}
    assert client("CART.GET", name, "SINCE", 4) is None


def test_where_the_outlet_has_changed_problems_are_set_again(client, name):
    put_menu(client, name)
    client("CART.ADD", name, name, "tea", 1)
    client("CART.ADD", name, name, "bun", 1)
    client("MENU.ITEM.SUSPEND", name, "bun")
    assert client.json("CART.GET", name, "SINCE", 2) == {"cart": name, "from": 2, "to": 2, "patch": [
        {"op": "replace", "path": "/lines/0/problem", "value": None},
        {"op": "replace", "path": "/lines/1/problem", "value": {"code": "SOLDOUT"}},
    ]}
    client("MENU.ITEM.RESUME", name, "bun")
    client("CART.ADD", name, name, "tea", 1)
    assert client("CART.GET", name, "SINCE", 3) is None
    client("CART.CHECKOUT", name, "TOTAL", 300)
    client("OUTLET.CLOSE", name)
    assert client("CART.GET", name, "SINCE", 4) is None


def test_what_time_ends_shows(client, name):
    put_menu(client, name)
    soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=4)
    client("CART.ADD", name, name, "tea", 1)
    client("MENU.ITEM.SUSPEND", name, "bun")
    client("MENU.ITEM.SUSPEND", name, "tea", "UNTIL", soon.isoformat(timespec="milliseconds"))
    client("CART.SET", name, "tea", 2)
    before = client.json("CART.GET", name)
    assert before["lines"][0]["problem"] == {"code": "SOLDOUT"}
    assert client("CART.GET", name, "SINCE", 2) is None
    wait_until(lambda: client.json("CART.GET", name)["lines"][0]["problem"] is None, "the end of the suspension")
    assert leads(client, "CART.GET", name, seen=[before]) == 1


def test_a_number_that_is_not_a_version_is_answered_with_the_whole_document(client, name):
    put_menu(client, name)
    client("CART.ADD", name, name, "tea", 1)
    cart = client.json("CART.GET", name)
    for version in (0, 2, 2**63 - 1):
        assert client.json("CART.GET", name, "SINCE", version) == cart
    order = client("CART.CHECKOUT", name, "TOTAL", 100).decode()
    for version in (0, 2, 2**63 - 1):
        assert client.json("ORDER.GET", order, "SINCE", version) == client.json("ORDER.GET", order)
    assert client("CART.GET", f"{name}-none", "SINCE", 1) is None
    assert client("ORDER.GET", "00000000-0123456789abcdef01234567", "SINCE", 1) is None
    for words in (("CART.GET", name), ("ORDER.GET", order)):
        assert client.error(*words, "SINCE", 1, "AT", 1).code == "ERR"
        for wrong in ("-1", "x", ""):
            assert client.error(*words, "SINCE", wrong).code == "INVALID"


def test_every_version_of_an_order_leads_to_today_s(client, name):
    put_menu(client, name)
    client("CART.ADD", name, name, "tea", 3)
    order = client("CART.CHECKOUT", name, "TOTAL", 300).decode()
    seen = [client.json("ORDER.GET", order)]
    for command in (
        ("ORDER.ACCEPT",), ("ORDER.PREPARE",), ("ORDER.READY",), ("ORDER.COMPLETE",),
        ("ORDER.REFUND", "CODE", "ITEMS", "LINE", "tea", "QTY", "1"), ("ORDER.REFUND", "CODE", "OTHER"),
    ):
        client(command[0], order, *command[1:])
        assert leads(client, "ORDER.GET", order, seen=seen) == len(seen)
        seen.append(client.json("ORDER.GET", order))
        assert client("ORDER.GET", order, "SINCE", seen[-1]["version"]) is None


def test_whoever_was_shown_the_texts_of_a_forgotten_customer_is_told_that_they_are_erased(client, name):
    note, owner = "leave it with Mr Perera", "Asha Fernando"
    put_menu(client, name)
    words = ("CUSTOMER", name)
    client("CART.ADD", name, name, "tea", 1, "NOTE", note, *words)
    client("CART.ADD", name, name, "bun", 1, *words)
    cart = client.json("CART.GET", name)
    assert client("CART.GET", name, "SINCE", 2) is None
    client("CART.CHECKOUT", name, "TOTAL", 200, *words, "NAME", owner)
    order = client.json("CART.GET", name)["order"]
    placed = client.json("ORDER.GET", order)
    client("ORDER.REJECT", order, "CODE", "OTHER", "REASON", "no tea left")
    rejected, ordered = client.json("ORDER.GET", order), client.json("CART.GET", name)
    assert (placed["name"], rejected["ending"]["reason"], cart["lines"][0]["note"]) == (owner, "no tea left", note)
    assert client("ORDER.GET", order, "SINCE", 2) is None
    client("CUSTOMER.FORGET", name)
    for words, seen in ((("CART.GET", name), [cart, ordered]), (("ORDER.GET", order), [placed, rejected])):
        assert leads(client, *words, seen=seen) == 2
        today = client.json(*words)
        # Also whoever has seen that already, as the version does not tell.
        assert leads(client, *words, seen=[today]) == 1
        for document in [*seen, today]:
            answer = client(*words, "SINCE", document["version"]).decode()
            assert "[erased]" in answer and not any(text in answer for text in (note, owner, "no tea left"))


def test_a_version_that_a_server_never_saw_is_read_from_the_log(database):
    with Server(database=database) as server, server.client() as client:
        put_menu(client, "o")
        for item in ITEMS:
            client("CART.ADD", "c", "o", item, 1, "NOTE", "warm")
        seen = [client.json("CART.GET", "c")]
        client("CART.SET", "c", "tea", 2)
    with Server(database=database) as server, server.client() as client:
        client("CART.SET", "c", "tea", 5)
        assert leads(client, "CART.GET", "c", seen=seen) == 1


def test_readers_are_led_along_while_a_cart_and_its_outlet_change(server, name):
    """Each follows by SINCE alone, and has what is there in the end."""
    with server.client() as client:
        put_menu(client, name)
        client("CART.ADD", name, name, "tea", 1)
        ended, found = threading.Event(), []

        def follow():
            with server.client() as reader:
                document, isLast = reader.json("CART.GET", name), False
                while not isLast:
                    isLast = ended.is_set()
                    change = reader.json("CART.GET", name, "SINCE", document["version"])
                    if change is not None:
                        document = patched(document, change) if "patch" in change else change
                found.append(document)

        readers = [threading.Thread(target=follow) for _ in range(4)]
        for reader in readers:
            reader.start()
        shopping = Shopping(client, name, random.Random(7))
        for _ in range(300):
            shopping.step()
        ended.set()
        for reader in readers:
            reader.join()
        assert found == [client.json("CART.GET", name)] * 4
