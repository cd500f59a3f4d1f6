"""`SINCE <digest>`: pages, items and menus, kept up to date by what has changed."""

import json
import random

import pytest
from edits import canonical, patched
from tiffin import Server, item_document, put_open_outlet, section_document


class Reader:
    """Asks for what has changed, and keeps the document."""

    def __init__(self, *words):
        self.words, self.digest, self.document, self.patches = words, "0", None, []

    def read(self, client):
        """Returns whether something had changed."""
        answer = client(*self.words, "SINCE", self.digest)
        if answer is None:
            return False
        change = json.loads(answer)
        assert list(change) == ["from", "to", "patch"]
        assert change["from"] in (None, self.digest)
        self.document = patched(self.document, change)
        self.digest = change["to"]
        self.patches.append(change["patch"])
        return True


@pytest.fixture
def menu(client, name):
    put_open_outlet(client, name, [section_document("all", [
        item_document(f"dish-{n}", 1000 + n, name=f"Dish {n}", tags=[name]) for n in range(12)])], city=name)
    return name


def readers(outlet):
    return [
        Reader("BROWSE", "OUTLET", outlet, "SORT", "price", "LIMIT", 5), Reader("BROWSE", "TAG", outlet, "FACETS"),
        Reader("OUTLETS", "CITY", outlet), Reader("ITEM.GET", outlet, "dish-3"), Reader("MENU.GET", outlet)]


def without_cursor(document):
    return canonical({**(document or {}), "next": None})


@pytest.mark.parametrize("seed", range(3))
def test_documents_kept_by_patches_equal_fresh_ones(client, menu, seed):
    random.seed(seed)
    kept = readers(menu)
    for _ in range(60):
        dish = f"dish-{random.randrange(14)}"
        edit = random.choice([
            ("MENU.ITEM.PRICE", menu, dish, random.randrange(1000, 1020)), ("MENU.ITEM.SUSPEND", menu, dish),
            ("MENU.ITEM.RESUME", menu, dish), ("MENU.ITEM.REMOVE", menu, dish), ("OUTLET.CLOSE", menu),
            ("OUTLET.OPEN", menu),
            ("MENU.ITEM.PUT", menu, "all", dish, json.dumps(
                {"kind": "menuItem", "name": random.choice("XYZ"), "price": 1005, "tags": [menu]})),
        ])
        client.pipeline([edit])
        for reader in kept:
            before = without_cursor(reader.document)
            fresh = client(*reader.words)
            has_changed = reader.read(client)
            assert without_cursor(reader.document) == without_cursor(json.loads(fresh) if fresh else None)
            assert has_changed == (without_cursor(reader.document) != before)
            assert not reader.read(client), "nothing has changed since"


def test_a_change_elsewhere_changes_nothing(client, menu, name):
    # Facets do not narrow their own counts, so they may count the other outlet.
    kept = [reader for reader in readers(menu) if "FACETS" not in reader.words]
    assert all(reader.read(client) for reader in kept)
    put_open_outlet(client, f"{name}-other", [section_document("all", [item_document("dish", 1)])])
    assert not any(reader.read(client) for reader in kept)
    # The cursor of a page that has not changed remains good.
    after = client.json(*kept[0].words, "AFTER", kept[0].document["next"])
    assert [item["item"] for item in after["items"]] == [f"dish-{n}" for n in range(5, 10)]


def test_a_small_change_is_a_small_patch(client, menu):
    item, page = Reader("ITEM.GET", menu, "dish-3"), Reader("BROWSE", "OUTLET", menu, "SORT", "name")
    item.read(client), page.read(client)
    client("MENU.ITEM.PRICE", menu, "dish-3", 7)
    item.read(client), page.read(client)
    assert item.patches[-1] == [{"op": "replace", "path": "/price", "value": 7}]
    assert page.patches[-1] == [{"op": "replace", "path": "/items/5/price", "value": 7}]


def test_a_digest_means_the_same_after_a_restart(database):
    with Server(database=database) as server:
        with server.client() as client:
            put_open_outlet(client, "grill", [section_document("all", [item_document("rice", 100)])])
            kept = readers("grill")
            assert all(reader.read(client) for reader in kept)
        server.kill()
        server.start()
        with server.client() as client:
            assert not any(reader.read(client) for reader in kept)
            client("MENU.ITEM.PRICE", "grill", "rice", 200)
            menu = kept[-1]
            assert menu.read(client), "the new server does not know the old menu, and gives the whole"
            assert menu.patches[-1][0]["path"] == ""
            assert canonical(menu.document) == canonical(client.json("MENU.GET", "grill"))


def test_what_is_not_there_comes_and_goes(client, name):
    reader = Reader("MENU.GET", name)
    assert reader.read(client) and reader.document is None
    assert not reader.read(client)
    put_open_outlet(client, name, [section_document("all", [item_document("rice", 100)])])
    assert reader.read(client) and reader.document["outlet"] == name


@pytest.mark.parametrize("words", [("SURPRISE",), ("OUTLET.GET", "x"), ("OUTLET.TAGS", "x")])
def test_other_commands_have_no_digests(client, words):
    assert client.error(*words, "SINCE", "0").code == "ERR"
