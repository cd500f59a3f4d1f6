"""Saved queries: their answers follow every change, by messages alone."""

import json
import random
import re
import time

import pytest
from edits import canonical, patched
from followers import message
from tiffin import PATIENCE_SECONDS, item_document, put_open_outlet, section_document, wait_until



def shared(name):
    """The name of a saved query that every client means by it."""
    return f"shared:{name}"


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
        deadline = time.monotonic() + PATIENCE_SECONDS
        while canonical(self.answers[name]) != canonical(wanted):
            assert time.monotonic() < deadline, f"{name} did not become {wanted}"
            self.take(self.client.read())


@pytest.fixture
def menu(client, name):
    """An outlet with eight dishes, tagged with its id. Names that begin with `shared:` are those of every client."""
    put_open_outlet(client, name, [section_document("all", [
        item_document(f"{name}-{n}", 1000 + n, name=f"Dish {n}", tags=[name], cuisine="Test") for n in range(8)])])
    return name


@pytest.mark.parametrize("protocol", [2, 3])
def test_a_price_change_moves_an_item_for_whoever_listens(server, client, menu, protocol):
    saved = client.json("BROWSE.SAVE", shared(menu), "TAG", menu, "SORT", "price", "COUNT", 3)
    assert [item["item"] for item in saved["items"]] == [f"{menu}-{n}" for n in range(3)]
    assert list(saved) == ["browse", "revision", "total", "from", "items", "state"]
    assert (saved["browse"], saved["total"], saved["from"], saved["state"]) == (shared(menu), 8, 0, "ready")
    with Listener(server, protocol, shared(menu)) as listener:
        assert listener.answers[shared(menu)] == saved
        client("MENU.ITEM.PRICE", menu, f"{menu}-7", 1)
        listener.take(listener.client.read())
        assert [item["item"] for item in listener.answers[shared(menu)]["items"]] == [f"{menu}-{n}" for n in (7, 0, 1)]
        client("MENU.ITEM.REMOVE", menu, f"{menu}-0")
        listener.take(listener.client.read())
        assert listener.answers[shared(menu)]["total"] == 7
        assert [item["item"] for item in listener.answers[shared(menu)]["items"]] == [f"{menu}-{n}" for n in (7, 1, 2)]


def test_changes_that_nobody_sees_are_not_sent(server, client, menu):
    client("BROWSE.SAVE", shared(menu), "TAG", menu, "SORT", "price", "COUNT", 2)
    with Listener(server, 2, shared(menu)) as listener:
        client("MENU.ITEM.PRICE", menu, f"{menu}-7", 5000)
        client("MENU.ITEM.PRICE", menu, f"{menu}-0", 999)
        listener.take(listener.client.read())
        assert listener.answers[shared(menu)]["items"][0]["price"] == 999
        assert listener.count == 1


def test_the_same_query_again_changes_nothing_and_another_replaces_it(server, client, menu):
    first = client("BROWSE.SAVE", shared(menu), "TAG", menu, "COUNT", 2)
    assert client("BROWSE.SAVE", shared(menu), "TAG", menu, "COUNT", 2) == first
    with Listener(server, 2, shared(menu)) as listener:
        other = client.json("BROWSE.SAVE", shared(menu), "TAG", menu, "CURRENCY", "LKR", "PRICE", 1000, 1003)
        listener.take_until(shared(menu), other)
        assert client("BROWSE.DROP", shared(menu)) == 1
        listener.take_until(shared(menu), None)
        again = client.json("BROWSE.SAVE", shared(menu), "TAG", menu)
        listener.take_until(shared(menu), again)
    assert client("BROWSE.DROP", shared(menu)) == 1
    assert client("BROWSE.DROP", shared(menu)) == 0


def test_an_item_that_comes_back_by_itself_is_sent(server, client, menu):
    client("BROWSE.SAVE", shared(menu), "TAG", menu, "OPEN")
    with Listener(server, 2, shared(menu)) as listener:
        until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 2))
        client("MENU.ITEM.SUSPEND", menu, f"{menu}-3", "UNTIL", until)
        listener.take(listener.client.read())
        assert listener.answers[shared(menu)]["total"] == 7
        listener.take(listener.client.read())
        assert listener.answers[shared(menu)]["total"] == 8


def test_a_burst_is_sent_in_few_messages(server, client, menu):
    client("BROWSE.SAVE", shared(menu), "TAG", menu, "SORT", "price", "COUNT", 5)
    with Listener(server, 2, shared(menu)) as listener:
        began = time.monotonic()
        client.pipeline((("MENU.ITEM.PRICE", menu, f"{menu}-{n % 8}", 2000 + n) for n in range(400)), window=1)
        seconds = time.monotonic() - began
        listener.take_until(shared(menu), client.json("BROWSE.SAVE", shared(menu), "TAG", menu, "SORT", "price", "COUNT", 5))
        assert listener.count <= 20 * seconds + 3


@pytest.mark.parametrize("words", [["AFTER", "x"], ["FACETS"], ["SEED", "1"], ["LIMIT", "1", "COUNT", "1"], ["SINCE", "x"], ["NONSENSE"]])
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
        f"shared:{name}-price": ["TAG", name, "SORT", "price", "COUNT", 4],
        f"shared:{name}-text": ["TAG", name, "TEXT", "ric", "COUNT", 5],
        f"shared:{name}-open": ["TAG", name, "OPEN", "TAG", "a", "SORT", "-price"],
        f"shared:{name}-range": ["TAG", name, "CURRENCY", "LKR", "PRICE", 200, 500, "SORT", "name", "COUNT", 3],
        f"shared:{name}-spicy": ["TAG", name, "ATTR", "spice", 0, "*", "SORT", "name", "COUNT", 5],
        f"shared:{name}-mild": ["TAG", name, "ATTR", "spice", "ANY", "MILD", "-1.0", "SORT", "price", "COUNT", 5],
        f"shared:{name}-without": ["TAG", name, "NOT", "OPEN", "NOT", "TEXT", "kottu", "SORT", "-price", "COUNT", 4],
        f"shared:{name}-rated": ["TAG", name, "RATING", "4.2", "SORT", "rating", "COUNT", 100],
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
            page = client.json("BROWSE", *[{"COUNT": "LIMIT"}.get(word, word) for word in words])
            assert (fresh["total"], fresh["items"], fresh["state"]) == (page["total"], page["items"], page["state"])
            listener.take_until(question, fresh)
    client.pipeline(("BROWSE.DROP", question) for question in questions)


def test_a_name_belongs_to_its_connection_unless_it_is_shared(server, client, menu):
    with server.client(protocol=3) as other:
        assert client.json("BROWSE.SAVE", menu, "TAG", menu)["total"] == 8
        assert client.json("BROWSE.SAVE", shared(menu), "TAG", menu)["total"] == 8
        assert other("BROWSE.DROP", menu) == 0
        assert other.json("BROWSE.SAVE", menu, "TAG", menu, "CURRENCY", "LKR", "PRICE", 1000, 1001)["total"] == 2
        # Both listen to the same name and hear of their own queries.
        for listener in (client, other):
            listener.send(b"SUBSCRIBE browse:%s\r\n" % menu.encode())
        assert message(heard(other))[1]["patch"][0]["value"]["total"] == 2
        assert message(heard(client))[1]["patch"][0]["value"]["total"] == 8
    with server.client() as third:
        assert third("BROWSE.DROP", shared(menu)) == 1


def test_what_a_connection_has_saved_ends_with_it(server, client, menu):
    def saved():
        return int(re.search(rb"saved_queries=(\d+)", client("INFO", "projections"))[1])

    before = saved()
    with server.client() as other:
        other("BROWSE.SAVE", menu, "TAG", menu)
        assert saved() == before + 1
    wait_until(lambda: saved() == before, "the query is gone")


def test_a_listener_moves_its_window(server, client, menu):
    client.json("BROWSE.SAVE", shared(menu), "TAG", menu, "SORT", "price", "COUNT", 3)
    with Listener(server, 2, shared(menu)) as listener:
        assert client("BROWSE.WINDOW", shared(menu), 2, 4) == 1
        listener.take(listener.client.read())
        answer = listener.answers[shared(menu)]
        assert (answer["from"], answer["total"]) == (2, 8)
        assert [item["item"] for item in answer["items"]] == [f"{menu}-{n}" for n in (2, 3, 4, 5)]
        # What comes before the window moves it.
        client("MENU.ITEM.REMOVE", menu, f"{menu}-0")
        listener.take(listener.client.read())
        assert [item["item"] for item in listener.answers[shared(menu)]["items"]] == [
            f"{menu}-{n}" for n in (3, 4, 5, 6)]
    assert client("BROWSE.WINDOW", f"{menu}-none", 0, 1) == 0
    for window in [(-1, 1), (0, 0), (0, 1001), (1 << 40, 1), ("x", 1)]:
        assert client.error("BROWSE.WINDOW", shared(menu), *window).code == "INVALID"


def test_a_limit_is_a_count(client, menu):
    saved = client.json("BROWSE.SAVE", menu, "TAG", menu, "FROM", 1, "LIMIT", 2, "SORT", "price")
    assert [item["item"] for item in saved["items"]] == [f"{menu}-1", f"{menu}-2"]
    assert client.json("BROWSE.SAVE", menu, "TAG", menu, "FROM", 1, "COUNT", 2, "SORT", "price") == saved


def test_outlets_are_followed_by_what_they_are_and_by_their_items(server, client, name):
    outlets = [f"{name}-{n}" for n in range(3)]
    for outlet in outlets:
        put_open_outlet(client, outlet, [section_document("all", [
            item_document("tea", 100, name="Tea", attributes={"spice": 1})])], city=name)
    queries = {shared(f"{name}-all"): ("CITY", name, "OPEN"),
               shared(f"{name}-spicy"): ("CITY", name, "ATTR", "spice", 5, "*")}
    for query, words in queries.items():
        client("OUTLETS.SAVE", query, *words)
    with Listener(server, 2, *queries) as listener:
        assert [answer["total"] for answer in listener.answers.values()] == [3, 0]
        client("OUTLET.CLOSE", outlets[0])
        client("MENU.ITEM.PUT", outlets[1], "all", "tea", json.dumps(
            {"kind": "menuItem", "name": "Tea", "price": 100, "attributes": {"spice": 7}}))
        for query, words in queries.items():
            page = client.json("OUTLETS", *words)
            listener.take_until(query, client.json("OUTLETS.SAVE", query, *words))
            assert listener.answers[query]["items"] == page["items"]
        assert [answer["total"] for answer in listener.answers.values()] == [2, 1]


def heard(client):
    """The next message, behind confirmations."""
    while True:
        reply = client.read()
        if (reply.items if hasattr(reply, "items") else reply)[0] == b"message":
            return reply
