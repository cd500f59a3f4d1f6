"""What a menu's feed was found to hold, over the wire."""

import json

import jsonpatch
import pytest

from tiffin import (
    Server, fresh_database, item_document, outlet_document, put_open_outlet, read_log, run_tiffin, section_document)

SHOWN = ["state", "checkedAt", "refreshedAt", "problems"]


def put(client, outlet, state, **changes):
    return client("MENU.FEED.PUT", outlet, json.dumps({"state": state, **changes}))


def test_the_home_has_three_states_and_says_when_it_was_refreshed(client, name):
    client("OUTLET.PUT", name, json.dumps(outlet_document()))
    assert "feed" not in client.json("OUTLET.HOME", name)
    assert client.json("MENU.FEED.GET", name) is None

    assert put(client, name, "malformed", problems=["2: name: is missing"], source="menu.json") == 1
    home = client.json("OUTLET.HOME", name)
    assert (home["state"], home["sections"]) == ("malformed", [])
    assert list(home["feed"]) == SHOWN
    assert (home["feed"]["state"], home["feed"]["problems"]) == ("malformed", ["2: name: is missing"])
    assert home["feed"]["refreshedAt"] is None
    menu = client.json("MENU.GET", name)
    assert (list(menu), menu["sections"]) == (["outlet", "version", "feed", "sections"], [])
    assert client.json("MENU.FEED.GET", name)["source"] == "menu.json"

    client("MENU.PUT", name, json.dumps({"sections": [section_document("all", [item_document("tea", 5000)])]}))
    put(client, name, "ready", etag='"a"', key="k")
    home = client.json("OUTLET.HOME", name)
    assert home["state"] == "ready"
    assert home["feed"]["refreshedAt"] == home["feed"]["checkedAt"]

    # A good menu stays, and a client that has its home gets the rest as a patch.
    put(client, name, "malformed", problems=["is not JSON"])
    change = client.json("OUTLET.HOME", name, "SINCE", home["revision"])
    after = client.json("OUTLET.HOME", name)
    assert jsonpatch.apply_patch(home, change["patch"]) == after
    assert (after["state"], after["sections"]) == ("ready", home["sections"])
    assert (after["feed"]["state"], after["feed"]["refreshedAt"]) == ("malformed", home["feed"]["refreshedAt"])

    # What was read can be put back: the feed in it is ignored.
    read = client("MENU.GET", name)
    assert client("MENU.PUT", name, read) == json.loads(read)["version"]


def test_a_check_that_finds_the_same_is_recorded_once(client, outlet):
    first = put(client, outlet, "ready", problems=["a"], etag='"a"', key="k")
    assert put(client, outlet, "ready", problems=["a"], etag='"a"', key="k") == first
    assert put(client, outlet, "ready", problems=["b"], etag='"a"', key="k") == first + 1
    read = client.json("MENU.FEED.GET", outlet)
    assert list(read) == SHOWN + ["source", "etag", "modified", "key"]
    assert client("MENU.FEED.PUT", outlet, json.dumps(read)) == first + 1, "what was read can be put back"


def test_validators_hold_until_the_menu_is_changed(client, outlet):
    client("MENU.PUT", outlet, json.dumps({"sections": [section_document("all", [item_document("tea", 5000)])]}))
    put(client, outlet, "ready", etag='"a"', modified="yesterday", key="k")
    client("MENU.ITEM.SUSPEND", outlet, "tea")
    feed = client.json("MENU.FEED.GET", outlet)
    assert (feed["etag"], feed["modified"], feed["key"]) == ('"a"', "yesterday", "k")
    client("MENU.ITEM.PRICE", outlet, "tea", 1)
    feed = client.json("MENU.FEED.GET", outlet)
    assert (feed["state"], feed["etag"], feed["modified"], feed["key"]) == ("ready", None, None, None)


@pytest.mark.parametrize("document, field", [
    ("{}", "state"), ('{"state":"fine"}', "state"), ('{"state":"ready","problems":[7]}', "problems[0]"),
    ('{"state":"ready","etag":"a"}', "key"), ('{"state":"ready","when":1}', "when"),
    (json.dumps({"state": "ready", "problems": [""]}), "problems[0]"),
    (json.dumps({"state": "ready", "problems": ["a"] * 21}), "problems"), ("[", "json"),
])
def test_a_check_that_is_not_understood_names_the_field(client, outlet, document, field):
    assert str(client.error("MENU.FEED.PUT", outlet, document)).startswith(f"INVALID {field}: ")
    assert client.json("MENU.FEED.GET", outlet) is None


def test_only_a_registered_outlet_has_a_feed(client, name):
    assert client.error("MENU.FEED.PUT", name, '{"state":"ready"}').code == "NOTFOUND"
    assert client.json("MENU.FEED.GET", name) is None


def test_a_feed_survives_a_restart_and_the_past_is_as_it_was(tmp_path):
    with fresh_database() as database:
        with Server(database=database) as server, server.client() as client:
            put_open_outlet(client, "o", [section_document("all", [item_document("tea", 5000)])])
            put(client, "o", "ready", etag='"a"', key="k")
            before = client("OUTLET.HOME", "o")
            put(client, "o", "malformed", problems=["is not JSON"], source="menu.json")
            home, feed = client("OUTLET.HOME", "o"), client("MENU.FEED.GET", "o")
            kinds = [event["kind"] for event in read_log(client, "STREAM", "menu-o")]
            assert kinds[-2:] == ["menu.feedChecked"] * 2
        with Server(database=database) as server, server.client() as client:
            assert (client("OUTLET.HOME", "o"), client("MENU.FEED.GET", "o")) == (home, feed)
            assert client("OUTLET.HOME", "o", "AT", json.loads(before)["revision"]) == before
            audit = run_tiffin("audit", "--database", database, "--server", f"127.0.0.1:{server.port}")
            assert audit.returncode == 0, audit.stdout + audit.stderr
        why = run_tiffin("why", "outlet", "o", "--database", database)
        assert 'found the feed "menu.json" malformed: is not JSON' in why.stdout
