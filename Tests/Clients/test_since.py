"""OUTLET.HOME … SINCE: from any revision to today's home, by a patch that another implementation applies."""

import itertools
import json
import random
import threading

import pytest

import tiffin
from edits import Editor, canonical, patched
from tiffin import PATIENCE_SECONDS, ReplyError, Server, item_document, outlet_document, section_document, wait_until


def history(client, editor, commands):
    """The homes of every revision seen while random commands are sent, by revision."""
    homes = {}
    for _ in range(commands):
        client.pipeline([editor.command()])
        home = client.json("OUTLET.HOME", editor.outlet)
        homes[home["revision"]] = home
    return homes


def check_all(client, outlet, homes):
    """SINCE leads from every home seen to today's."""
    today = homes[max(homes)]
    assert client.json("OUTLET.HOME", outlet) == today
    patches = 0
    for revision, home in homes.items():
        change = client.json("OUTLET.HOME", outlet, "SINCE", revision)
        if home is today:
            assert change is None
            continue
        assert list(change) == ["outlet", "from", "to", "patch"]
        assert (change["outlet"], change["from"], change["to"]) == (outlet, revision, today["revision"])
        assert canonical(patched(home, change)) == canonical(today)
        patches += change["patch"][0]["path"] != ""
    return patches


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_revision_leads_to_every_later_one(client, name, seed):
    editor = Editor(name, random.Random(seed))
    editor.put(client)
    homes = {}
    for _ in range(12):
        homes |= history(client, editor, 5)
        check_all(client, name, homes)
    assert len(homes) > 20


def test_a_small_change_is_a_small_patch(client, outlet):
    before = client.json("OUTLET.HOME", outlet)
    client("MENU.ITEM.PRICE", outlet, "rice", 130000)
    change = client.json("OUTLET.HOME", outlet, "SINCE", before["revision"])
    assert sorted(change["patch"], key=lambda operation: operation["path"]) == [
        {"op": "replace", "path": "/revision", "value": change["to"]},
        {"op": "replace", "path": "/sections/0/items/0/model/price", "value": 130000},
    ]


def test_a_patch_is_as_small_as_the_change_however_long_the_menu(client, name):
    dishes = [{"id": f"dish-{n}", "kind": "menuItem", "name": f"Dish {n}", "price": 100} for n in range(4_900)]
    tiffin.put_open_outlet(client, name, [section_document("all", dishes)])
    added = item_document("new", 120)
    for command, operation in (
        (("MENU.ITEM.REMOVE", name, "dish-17"), {"op": "remove", "path": "/sections/0/items/17"}),
        (("MENU.ITEM.PRICE", name, "dish-4000", 7), {"op": "replace", "path": "/sections/0/items/3999/model/price", "value": 7}),
        (("MENU.ITEM.PUT", name, "all", "dish-4800", json.dumps(dishes[4_800]), "BEFORE", "dish-0"),
         {"op": "move", "from": "/sections/0/items/4799", "path": "/sections/0/items/0"}),
        (("MENU.ITEM.PUT", name, "all", "new", json.dumps(added), "BEFORE", "dish-20"), None),
    ):
        before = client.json("OUTLET.HOME", name)
        client(*command)
        answer = client("OUTLET.HOME", name, "SINCE", before["revision"])
        change = json.loads(answer)
        home = client.json("OUTLET.HOME", name)
        assert canonical(patched(before, change)) == canonical(home)
        revision, changed = sorted(change["patch"], key=lambda operation: operation["path"])
        assert revision == {"op": "replace", "path": "/revision", "value": home["revision"]}
        if operation:
            assert changed == operation
        else:
            place = int(changed["path"].rpartition("/")[2])
            assert changed == {"op": "add", "path": f"/sections/0/items/{place}", "value": home["sections"][0]["items"][place]}
        assert len(answer) < 250 + len(json.dumps(changed.get("value")))


def test_a_number_that_is_not_a_revision_is_answered_with_the_whole_home(client, outlet, name):
    client("CART.ADD", f"{name}-c", outlet, "rice", 1)
    other = f"{name}-other"
    tiffin.put_open_outlet(client, other, [section_document("all", [item_document("tea", 1)])])
    client("MENU.ITEM.PRICE", outlet, "rice", 1)
    home = client.json("OUTLET.HOME", outlet)
    strange = client.json("OUTLET.HOME", other)["revision"]
    for revision in (0, strange, home["revision"] + 1, 2**63 - 1):
        assert client.json("OUTLET.HOME", outlet, "SINCE", revision) == home
    assert client.json("OUTLET.HOME", outlet, "SINCE", strange, "CART", f"{name}-c") == {**home, "cartCount": 1}
    assert client.error("OUTLET.HOME", f"{name}-nowhere", "SINCE", 1).code == "NOTFOUND"


def test_a_revision_that_nobody_saw_is_one_too(client, name):
    """A menu put as a whole makes many events, and each is a revision."""
    client("OUTLET.PUT", name, json.dumps(outlet_document()))
    first = client.json("OUTLET.HOME", name)
    sections = [section_document(f"s{n}", [item_document(f"i{n}", n) for _ in range(1)]) for n in range(4)]
    client("MENU.PUT", name, json.dumps({"sections": sections}))
    home = client.json("OUTLET.HOME", name)
    assert home["revision"] - first["revision"] == 8
    for revision in range(first["revision"], home["revision"]):
        change = client.json("OUTLET.HOME", name, "SINCE", revision)
        assert (change["from"], change["to"]) == (revision, home["revision"])
    assert canonical(patched(first, client.json("OUTLET.HOME", name, "SINCE", first["revision"]))) == canonical(home)


def test_with_a_cart_its_count_is_always_in_the_answer(client, outlet, name):
    cart = f"{name}-c"
    home = client.json("OUTLET.HOME", outlet, "CART", cart)
    assert home["cartCount"] == 0
    client("CART.ADD", cart, outlet, "rice", 3)
    change = client.json("OUTLET.HOME", outlet, "CART", cart, "SINCE", home["revision"])
    assert change["from"] == change["to"] == home["revision"]
    assert patched(home, change) == {**home, "cartCount": 3}
    client("MENU.ITEM.PRICE", outlet, "rice", 1)
    change = client.json("OUTLET.HOME", outlet, "SINCE", home["revision"], "CART", cart)
    assert change["from"] < change["to"]
    assert canonical(patched(home, change)) == canonical(client.json("OUTLET.HOME", outlet, "CART", cart))
    # A home that had no count takes one, too.
    del home["cartCount"]
    assert patched(home, change)["cartCount"] == 3


@pytest.mark.parametrize("log", ["database", "data_dir"])
def test_revisions_lead_to_today_after_restarts_and_kills(request, log):
    """Nothing is in memory then: homes of the past are folded from the log."""
    server = Server(**{log: request.getfixturevalue(log)})
    editors = [Editor(f"kitchen-{n}", random.Random(n)) for n in range(3)]
    homes = {editor.outlet: {} for editor in editors}
    try:
        with server.start().client() as client:
            for editor in editors:
                client("OUTLET.PUT", editor.outlet, json.dumps(outlet_document()))
                homes[editor.outlet] |= history(client, editor, 1)
                editor.put(client)
        for end in (server.stop, server.kill):
            with server.client() as client:
                for editor in editors * 4:
                    homes[editor.outlet] |= history(client, editor, 5)
            end()
            with server.start().client() as client:
                # Pipelined, so that answers that need a fold have to keep their order.
                asked = [(editor.outlet, revision) for editor in editors for revision in homes[editor.outlet]]
                replies = client.pipeline([
                    command for outlet, revision in asked
                    for command in [("OUTLET.HOME", outlet, "SINCE", revision), ("ECHO", revision)]])
                for (outlet, revision), reply, echo in zip(asked, replies[::2], replies[1::2]):
                    assert echo == str(revision).encode()
                    last = max(homes[outlet])
                    if revision == last:
                        assert reply is None
                    else:
                        change = json.loads(reply)
                        assert (change["from"], change["to"]) == (revision, last)
                        assert canonical(patched(homes[outlet][revision], change)) == canonical(homes[outlet][last])
                assert sum(check_all(client, editor.outlet, homes[editor.outlet]) for editor in editors) > 10
        assert server.stop() == 0
    finally:
        server.kill()


def test_another_server_knows_the_revisions_too(database):
    with Server(database=database) as first, Server(database=database) as second:
        with first.client() as writer, second.client() as reader:
            editor = Editor("kitchen", random.Random(5))
            editor.put(writer)
            homes = history(writer, editor, 30)
            wait_until(lambda: reader.json("OUTLET.HOME", "kitchen") == homes[max(homes)], "the other server")
            check_all(reader, "kitchen", homes)


def test_a_revision_of_too_long_ago_is_answered_with_the_whole_home(client, name):
    tiffin.put_open_outlet(client, name, [section_document("all", [item_document("tea", 1)])])
    first = client.json("OUTLET.HOME", name)["revision"]
    prices = itertools.cycle([100, 200])
    replies = client.pipeline([("MENU.ITEM.PRICE", name, "tea", next(prices)) for _ in range(10_050)], window=2_000)
    assert not any(isinstance(reply, ReplyError) for reply in replies)
    home = client.json("OUTLET.HOME", name)
    # The first ones need few events; beyond the bound the whole home is sent.
    assert client.json("OUTLET.HOME", name, "SINCE", first)["from"] == first
    assert client.json("OUTLET.HOME", name, "SINCE", home["revision"] - 1) == home
    assert client.json("OUTLET.HOME", name, "SINCE", home["revision"] - 200)["from"] == home["revision"] - 200


def test_a_thousand_clients_that_reconnect_at_once_are_answered(database):
    with Server(database=database) as server:
        with server.client() as client:
            editor = Editor("kitchen", random.Random(9), items=40)
            editor.put(client)
            home = client.json("OUTLET.HOME", "kitchen")
            history(client, editor, 40)
        server.kill()
        server.start()
        clients = [server.client() for _ in range(1_000)]
        try:
            for client in clients:
                client.send(tiffin.encode("OUTLET.HOME", "kitchen", "SINCE", home["revision"]))
            answers = {client.read() for client in clients}
            assert len(answers) == 1
            change = json.loads(answers.pop())
            assert change["from"] == home["revision"]
            assert canonical(patched(home, change)) == canonical(clients[0].json("OUTLET.HOME", "kitchen"))
        finally:
            for client in clients:
                client.close()


def test_answers_are_right_while_others_write(server, name):
    """The patch of every answer leads from its `from` to its `to`."""
    editor = Editor(name, random.Random(4))
    with server.client() as client:
        editor.put(client)
    done = threading.Event()

    def write():
        with server.client() as writer:
            for _ in range(300):
                writer.pipeline([editor.command()])
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        with server.client() as client:
            home, is_last = client.json("OUTLET.HOME", name), False
            while not is_last:
                # Asked once more when everything has been written.
                is_last = done.is_set()
                change = client.json("OUTLET.HOME", name, "SINCE", home["revision"])
                if change is None:
                    continue
                assert change["from"] == home["revision"] < change["to"]
                home = patched(home, change)
                assert home["revision"] == change["to"]
            assert canonical(home) == canonical(client.json("OUTLET.HOME", name))
    finally:
        thread.join(timeout=PATIENCE_SECONDS)


def test_patches_are_not_much_larger_than_the_edits_that_they_tell_of(client, name):
    edits = 1_000
    chance = random.Random(11)
    editor = Editor(name, chance, sections=6, items=60)
    editor.put(client)
    sent = told = seen = 0
    home = client.json("OUTLET.HOME", name)
    while seen < edits:
        command = editor.command()
        if isinstance(client.pipeline([command])[0], ReplyError):
            continue
        answer = client("OUTLET.HOME", name, "SINCE", home["revision"])
        if answer is None:
            continue
        change = json.loads(answer)
        home = patched(home, change)
        sent += len(tiffin.encode(*command))
        told += len(json.dumps(change["patch"], separators=(",", ":"), ensure_ascii=False).encode())
        seen += 1
    assert canonical(home) == canonical(client.json("OUTLET.HOME", name))
    assert told <= 2 * sent, f"{told} bytes of patches for {sent} bytes of commands"
