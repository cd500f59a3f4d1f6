"""Saved queries: their answers follow every change, by messages alone."""

import json
import random
import time

import pytest
from edits import canonical, patched
from followers import message
from tiffin import item_document, put_open_outlet, section_document

SECONDS = 10


class Listener:
    """Keeps the answers to saved queries up to date by the messages that it gets."""

    def __init__(self, server, protocol, *names):
        self.client, self.answers, self.count = server.client(protocol=protocol), {}, 0
        self.revisions = {}
        self.client.send(b"SUBSCRIBE %s\r\n" % b" ".join(b"browse:" + name.encode() for name in names))
        while len(self.answers) < len(names):
            reply = self.client.read()
            if (reply.items if protocol == 3 else reply)[0] == b"message":
                self.take(reply)
        self.count = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()

    def take(self, reply):
        channel, change = message(reply)
        name = channel.removeprefix("browse:")
        assert change["browse"] == name
        if name in self.answers:
            assert change["from"] == self.revisions[name], "a gap or a repeat"
        else:
            assert change["from"] == change["to"], "the first message says where the answer stands"
        self.answers[name] = patched(self.answers.get(name), change)
        self.revisions[name] = change["to"]
        self.count += 1
        answer = self.answers[name]
        assert (answer["revision"] if answer else 0) == change["to"]

    def take_until(self, name, wanted):
        deadline = time.monotonic() + SECONDS
        while canonical(self.answers[name]) != canonical(wanted):
            assert time.monotonic() < deadline, f"{name} did not become {wanted}"
            self.take(self.client.read())


@pytest.fixture
def menu(client, name):
    put_open_outlet(client, name, [section_document("all", [
        item_document(f"{name}-{n}", 1000 + n, name=f"Dish {n}", tags=[name], cuisine="Test") for n in range(8)])])
    return name


@pytest.mark.parametrize("protocol", [2, 3])
def test_a_price_change_moves_an_item_for_whoever_listens(server, client, menu, protocol):
    saved = client.json("BROWSE.SAVE", menu, "TAG", menu, "SORT", "price", "LIMIT", 3)
    assert [item["item"] for item in saved["items"]] == [f"{menu}-{n}" for n in range(3)]
    assert list(saved) == ["browse", "revision", "total", "items", "state"]
    assert (saved["browse"], saved["total"], saved["state"]) == (menu, 8, "ready")
    with Listener(server, protocol, menu) as listener:
        assert listener.answers[menu] == saved
        client("MENU.ITEM.PRICE", menu, f"{menu}-7", 1)
        listener.take(listener.client.read())
        assert [item["item"] for item in listener.answers[menu]["items"]] == [f"{menu}-{n}" for n in (7, 0, 1)]
        client("MENU.ITEM.REMOVE", menu, f"{menu}-0")
        listener.take(listener.client.read())
        assert listener.answers[menu]["total"] == 7
        assert [item["item"] for item in listener.answers[menu]["items"]] == [f"{menu}-{n}" for n in (7, 1, 2)]


def test_changes_that_nobody_sees_are_not_sent(server, client, menu):
    client("BROWSE.SAVE", menu, "TAG", menu, "SORT", "price", "LIMIT", 2)
    with Listener(server, 2, menu) as listener:
        client("MENU.ITEM.PRICE", menu, f"{menu}-7", 5000)
        client("MENU.ITEM.PRICE", menu, f"{menu}-0", 999)
        listener.take(listener.client.read())
        assert listener.answers[menu]["items"][0]["price"] == 999
        assert listener.count == 1


def test_the_same_query_again_changes_nothing_and_another_replaces_it(server, client, menu):
    first = client("BROWSE.SAVE", menu, "TAG", menu, "LIMIT", 2)
    assert client("BROWSE.SAVE", menu, "TAG", menu, "LIMIT", 2) == first
    with Listener(server, 2, menu) as listener:
        other = client.json("BROWSE.SAVE", menu, "TAG", menu, "PRICE", 1000, 1003)
        listener.take_until(menu, other)
        assert client("BROWSE.DROP", menu) == 1
        listener.take_until(menu, None)
        again = client.json("BROWSE.SAVE", menu, "TAG", menu)
        listener.take_until(menu, again)
    assert client("BROWSE.DROP", menu) == 1
    assert client("BROWSE.DROP", menu) == 0


def test_an_item_that_comes_back_by_itself_is_sent(server, client, menu):
    client("BROWSE.SAVE", menu, "TAG", menu, "OPEN")
    with Listener(server, 2, menu) as listener:
        until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 2))
        client("MENU.ITEM.SUSPEND", menu, f"{menu}-3", "UNTIL", until)
        listener.take(listener.client.read())
        assert listener.answers[menu]["total"] == 7
        listener.take(listener.client.read())
        assert listener.answers[menu]["total"] == 8


def test_a_burst_is_sent_in_few_messages(server, client, menu):
    client("BROWSE.SAVE", menu, "TAG", menu, "SORT", "price", "LIMIT", 5)
    with Listener(server, 2, menu) as listener:
        began = time.monotonic()
        client.pipeline((("MENU.ITEM.PRICE", menu, f"{menu}-{n % 8}", 2000 + n) for n in range(400)), window=1)
        seconds = time.monotonic() - began
        listener.take_until(menu, client.json("BROWSE.SAVE", menu, "TAG", menu, "SORT", "price", "LIMIT", 5))
        assert listener.count <= 20 * seconds + 3


@pytest.mark.parametrize("words", [["AFTER", "x"], ["FACETS"], ["SEED", "1"], ["NONSENSE"]])
def test_a_saved_query_has_no_pages_and_no_facets(client, name, words):
    assert client.error("BROWSE.SAVE", name, *words).code == "ERR"


@pytest.mark.parametrize("seed", range(3))
def test_answers_kept_by_messages_equal_fresh_ones(server, client, name, seed):
    random.seed(seed)
    outlets = [f"{name}-{seed}-{n}" for n in range(3)]
    for outlet in outlets:
        put_open_outlet(client, outlet, [section_document("all", [
            item_document(f"dish-{n}", random.randrange(1, 9) * 100, name=random.choice(["Rice", "Rice bowl", "Kottu"]),
                          tags=[name, random.choice("ab")], description=random.choice(["With rice.", "Plain."]),
                          attributes={"spice": random.choice([-1, 4.5, "mild"])})
            for n in range(12)])], rating=random.choice([3.9, 4.4]))
    questions = {
        f"{name}-price": ["TAG", name, "SORT", "price", "LIMIT", 4],
        f"{name}-text": ["TAG", name, "TEXT", "ric", "LIMIT", 5],
        f"{name}-open": ["TAG", name, "OPEN", "TAG", "a", "SORT", "-price"],
        f"{name}-range": ["TAG", name, "PRICE", 200, 500, "SORT", "name", "LIMIT", 3],
        f"{name}-spicy": ["TAG", name, "ATTR", "spice", 0, "*", "SORT", "name", "LIMIT", 5],
        f"{name}-mild": ["TAG", name, "ATTR", "spice", "ANY", "MILD", "-1.0", "SORT", "price", "LIMIT", 5],
        f"{name}-without": ["TAG", name, "NOT", "OPEN", "NOT", "TEXT", "kottu", "SORT", "-price", "LIMIT", 4],
        f"{name}-rated": ["TAG", name, "RATING", "4.2", "SORT", "rating", "LIMIT", 100],
    }
    for question, words in questions.items():
        client("BROWSE.SAVE", question, *words)
    with Listener(server, 2 + seed % 2, *questions) as listener:
        for _ in range(150):
            outlet, item = random.choice(outlets), f"dish-{random.randrange(14)}"
            edit = random.choice([
                ("MENU.ITEM.PRICE", outlet, item, random.randrange(1, 9) * 100),
                ("MENU.ITEM.PRICE", outlet, item, random.randrange(1, 9) * 100),
                ("MENU.ITEM.SUSPEND", outlet, item), ("MENU.ITEM.RESUME", outlet, item),
                ("MENU.ITEM.REMOVE", outlet, item),
                ("MENU.ITEM.PUT", outlet, "all", item, json.dumps({
                    "kind": "menuItem", "name": random.choice(["Rice", "Fried rice", "Kottu"]),
                    "price": random.randrange(1, 9) * 100, "tags": [name, random.choice("ab")],
                    "attributes": random.choice([{}, {"spice": 7}, {"spice": ["mild", "sweet"]}])})),
                ("OUTLET.CLOSE", outlet), ("OUTLET.OPEN", outlet),
            ])
            client.pipeline([edit])
        for question, words in questions.items():
            fresh = client.json("BROWSE.SAVE", question, *words)
            page = client.json("BROWSE", *words)
            assert (fresh["total"], fresh["items"], fresh["state"]) == (page["total"], page["items"], page["state"])
            listener.take_until(question, fresh)
    client.pipeline(("BROWSE.DROP", question) for question in questions)
