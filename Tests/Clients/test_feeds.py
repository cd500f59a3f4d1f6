"""What a menu's feed was found to hold, over the wire, and imports from a web server."""

import json

import jsonpatch
import pytest

from certificates import Certificates
from feeds import Feed
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


@pytest.fixture
def feed():
    with Feed() as feed:
        yield feed


def recipe(number: int, **changes) -> dict:
    picture = "https://example.com/{}.jpg"
    return {
        "uuid": f"00000000-0000-4000-8000-{number:012}", "name": f"Dish {number}", "cuisine": "Tamil",
        "photo_url_small": picture.format("small"), "photo_url_large": picture.format("large"), **changes}


def recipes(*rows) -> bytes:
    return json.dumps({"recipes": rows}).encode()


def run_import(server, url, outlet, *options, text=""):
    return run_tiffin(
        "import", "recipes", url, "--outlet", outlet, "--currency", "LKR", "--price", "950", *options,
        "--server", f"127.0.0.1:{server.port}", environment={"no_proxy": "*"}, text=text)


def names(client, outlet) -> list:
    return [item["model"]["name"] for section in client.json("OUTLET.HOME", outlet)["sections"] for item in section["items"]]


def test_an_unchanged_feed_costs_a_header(server, client, feed, name):
    feed.body, feed.etag, feed.modified = recipes(recipe(1)), '"v1"', "Sun, 01 Mar 2026 12:00:00 GMT"
    run = run_import(server, feed.url("feed?key=secret"), name)
    assert (run.returncode, run.stderr) == (0, "")
    assert names(client, name) == ["Dish 1"]
    stored = client.json("MENU.FEED.GET", name)
    assert (stored["source"], stored["etag"], stored["modified"]) == (feed.url(), feed.etag, feed.modified)
    assert "secret" not in json.dumps(stored)

    sent, version = feed.sent, client.json("MENU.GET", name)["version"]
    again = run_import(server, feed.url("feed?key=secret"), name)
    assert (again.returncode, again.stderr) == (0, "")
    assert f"{feed.url()}: not changed since {stored['checkedAt']}" in again.stdout
    assert feed.requests[-1][1]["If-None-Match"] == feed.etag
    assert feed.requests[-1][1]["If-Modified-Since"] == feed.modified
    assert (feed.sent, client.json("MENU.GET", name)["version"]) == (sent, version)

    # A menu that was changed by hand is put right.
    client("MENU.ITEM.PRICE", name, recipe(1)["uuid"], 7)
    changed = run_import(server, feed.url("feed?key=secret"), name)
    assert "menu changed" in changed.stdout
    assert "If-None-Match" not in feed.requests[-1][1]
    assert client.json("ITEM.GET", name, recipe(1)["uuid"])["price"] == 950


def test_a_date_alone_is_enough_to_ask_by(server, client, feed, name):
    feed.body, feed.modified = recipes(recipe(1)), "Sun, 01 Mar 2026 12:00:00 GMT"
    assert run_import(server, feed.url(), name).returncode == 0
    assert "not changed since" in run_import(server, feed.url(), name).stdout
    feed.body, feed.modified = recipes(recipe(2)), "Sun, 01 Mar 2026 13:00:00 GMT"
    assert "menu changed" in run_import(server, feed.url(), name).stdout
    assert names(client, name) == ["Dish 2"]


def test_a_malformed_feed_stays_malformed_while_it_does_not_change(server, client, feed, name):
    feed.body, feed.etag = recipes(recipe(1), recipe(2, name=None)), '"v1"'
    for _ in range(2):
        run = run_import(server, feed.url(), name)
        assert run.returncode == 3
        assert "2: name: is missing" in run.stderr
        home = client.json("OUTLET.HOME", name)
        assert (home["state"], home["feed"]["problems"]) == ("malformed", ["2: name: is missing"])
    assert feed.requests[-1][1]["If-None-Match"] == feed.etag
    # Who wants the good ones gets them: that is another question.
    partial = run_import(server, feed.url(), name, "--partial")
    assert (partial.returncode, names(client, name)) == (3, ["Dish 1"])
    assert client.json("OUTLET.HOME", name)["feed"]["state"] == "ready"


@pytest.mark.parametrize("path, options, problem", [
    ("nowhere", (), "is answered with status 404"),
    ("broken", (), "is answered with status 500"),
    ("unasked", (), "is answered as unchanged, which nobody asked"),
    ("circle", (), "redirects more than 5 times"),
    ("astray", (), "leads to an address that must not be asked"),
    ("stall", ("--timeout", "1"), "is not answered in full within 1 s"),
    ("endless", ("--max-size", "1mb"), "has more than 1048576 bytes"),
    ("bomb", ("--max-size", "1mb"), "has more than 1048576 bytes"),
    ("cut", (), "cannot be fetched: Transferred a partial file"),
    ("short?9", (), "is cut short: its gzip ends too early"),
    ("short?1", (), "is cut short: its gzip ends too early"),
    ("damaged", (), "says that it is gzip, and is not, or is damaged"),
    ("brotli", (), "is packed in another way than gzip"),
    ("otherwise", (), "does not answer by HTTP"),
    ("turned", (), "does not answer by HTTP"),
    ("header", (), "is answered with more than 64 KiB of headers"),
    ("headers", (), "is answered with more than 64 KiB of headers"),
    ("feed", (), "1:13: is not JSON: expected a value"),
])
def test_a_feed_that_fails_hurts_no_menu(server, client, feed, name, path, options, problem):
    feed.body = b'{"recipes":[}' if path == "feed" else recipes(recipe(1))
    url = feed.url(path if "?" in path else f"{path}?key=secret")
    first = run_import(server, url, name, *options)
    assert first.returncode == 5, first.stdout + first.stderr
    separator = ":" if problem[0].isdigit() else ": "
    assert first.stderr == f"tiffin import: {url.partition('?')[0]}{separator}{problem}\n"
    # Nothing is left behind of an address that never had a menu.
    assert client.json("OUTLET.GET", name) is None
    assert [event for event in read_log(client) if name in event["stream"]] == []

    put_open_outlet(client, name, [section_document("all", [item_document("tea", 5000)])], currency="LKR")
    put(client, name, "ready")
    before = client.json("OUTLET.HOME", name)
    assert run_import(server, url, name, *options).returncode == 5
    after = client.json("OUTLET.HOME", name)
    assert after["feed"]["problems"] == [problem]
    assert (after["state"], after["sections"]) == ("ready", before["sections"])
    assert (after["feed"]["state"], after["feed"]["refreshedAt"]) == ("malformed", before["feed"]["checkedAt"])


@pytest.mark.parametrize("body", [b"<html>Not found</html>", b"{}", b""])
def test_a_mistyped_address_or_file_leaves_nothing_behind(server, client, feed, name, tmp_path, body):
    feed.body = body
    file = tmp_path / "recipes.json"
    file.write_bytes(body)
    for source in (feed.url(), feed.url("nowhere"), file):
        run = run_import(server, source, name)
        assert run.returncode == 5, run.stderr
        assert len(run.stderr.splitlines()) == 1
        assert client.json("OUTLET.GET", name) is None
    feed.body = recipes(recipe(1))
    assert run_import(server, feed.url(), name).returncode == 0
    assert names(client, name) == ["Dish 1"]


def test_all_that_is_wrong_with_a_menu_is_named_up_to_twenty(server, client, name, tmp_path):
    put_open_outlet(client, name, [])
    file = tmp_path / "menu.json"

    def run(items):
        file.write_text(json.dumps({"sections": [section_document("all", [item_document("good", 1), *items])]}))
        run = run_tiffin("import", "menu", file, "--outlet", name, "--server", f"127.0.0.1:{server.port}")
        assert (run.returncode, run.stdout) == (3, "")
        recorded = client.json("MENU.FEED.GET", name)["problems"]
        assert run.stderr.splitlines() == [f"{file}: {problem}" for problem in recorded]
        return recorded

    def bad(index, reason, field="price"):
        return f"MENU.PUT: INVALID sections[0].items[{index}].{field}: {reason}"

    # Of the wrong type, then of the right one and out of range: neither hides another one.
    for price, reason in (("5.00", "must be a whole number"), (-1, "must be from 0 to 1000000000000 minor units")):
        def item(number, **changes):
            return item_document(f"i{number}", price, **changes)

        assert run([item(1), item_document("fine", 1), item(2)]) == [bad(1, reason), bad(3, reason)]
        assert run(item(n) for n in range(20)) == [bad(n, reason) for n in range(1, 21)]
        assert run(item(n) for n in range(99)) == [*(bad(n, reason) for n in range(1, 20)), "MENU.PUT: INVALID and 80 more"]
    # Several of one item.
    problems = run([item_document("i", -1, name="", tags=["x" * 301])])
    assert [problem.split(": ")[1] for problem in problems] == [f"INVALID sections[0].items[1].{field}" for field in (
        "name", "price", "tags[0]")]


def test_nobody_at_the_address_is_a_failure_like_any_other(server, client, feed, name):
    with Feed() as gone:
        url = gone.url()
    assert run_import(server, url, name).returncode == 5
    assert client.json("OUTLET.GET", name) is None
    put_open_outlet(client, name, [], currency="LKR")
    assert run_import(server, url, name).returncode == 5
    [problem] = client.json("OUTLET.HOME", name)["feed"]["problems"]
    assert problem.startswith("cannot be fetched: ")


def test_a_certificate_that_nobody_trusts_is_refused(server, client, name, tmp_path):
    own = Certificates(tmp_path).sign("feed")
    with Feed(own.file("feed"), own.key("feed")) as feed:
        feed.body = recipes(recipe(1))
        put_open_outlet(client, name, [], currency="LKR")
        run = run_import(server, feed.url().replace("://", "://me:secret@"), name)
    assert run.returncode == 5
    assert run.stderr.startswith(f"tiffin import: {feed.url()}: cannot be fetched: SSL")
    assert "secret" not in run.stderr + json.dumps(client.json("MENU.FEED.GET", name))
    assert feed.requests == []


def test_an_empty_feed_replaces_no_menu_unless_that_is_wanted(server, client, feed, name):
    feed.body, feed.etag = recipes(), '"v1"'
    assert run_import(server, feed.url(), name).returncode == 4
    home = client.json("OUTLET.HOME", name)
    assert (home["state"], home["feed"]["state"], home["outlet"]["status"]) == ("empty", "empty", "closed")

    feed.body, feed.etag = recipes(recipe(1)), '"v2"'
    assert run_import(server, feed.url(), name).returncode == 0
    assert client.json("OUTLET.HOME", name)["outlet"]["status"] == "open"
    feed.body, feed.etag = recipes(), '"v3"'
    for _ in range(2):
        assert run_import(server, feed.url(), name).returncode == 4
    assert feed.requests[-1][1]["If-None-Match"] == '"v3"'
    home = client.json("OUTLET.HOME", name)
    assert (home["state"], home["feed"]["state"], names(client, name)) == ("ready", "empty", ["Dish 1"])
    assert run_import(server, feed.url(), name, "--allow-empty").returncode == 0
    home = client.json("OUTLET.HOME", name)
    assert (home["state"], home["feed"]["state"]) == ("empty", "empty")
    assert home["feed"]["refreshedAt"] == home["feed"]["checkedAt"]


@pytest.mark.parametrize("path", ["moved", "packed"])
def test_redirects_are_followed_and_documents_unpacked(server, client, feed, name, path):
    feed.body = b"\xef\xbb\xbf" + recipes(recipe(1))
    assert run_import(server, feed.url(path), name).returncode == 0
    assert names(client, name) == ["Dish 1"]


def test_outlets_and_menus_come_from_the_web_and_from_standard_input(server, client, feed, name):
    feed.body = f"id,name\n{name},Web\n".encode()
    address = ("--server", f"127.0.0.1:{server.port}")
    options = ("--map", "id=id,name=name", "--currency", "LKR", "--time-zone", "UTC", *address)
    run = run_tiffin("import", "outlets", feed.url(), *options, environment={"no_proxy": "*"})
    assert run.returncode == 0, run.stderr
    assert client.json("OUTLET.GET", name)["name"] == "Web"
    menu = json.dumps({"sections": [section_document("all", [item_document("tea", 5000)])]})
    run = run_tiffin("import", "menu", "-", "--outlet", name, *address, text=menu)
    assert (run.returncode, names(client, name)) == (0, ["Tea"])
    assert client.json("MENU.FEED.GET", name)["source"] == "standard input"
    run = run_tiffin("import", "menu", "-", "--outlet", name, *address, text="{")
    assert (run.returncode, names(client, name)) == (5, ["Tea"])
    refused = json.dumps({"sections": [section_document("all", [item_document("tea", -1)])]})
    run = run_tiffin("import", "menu", "-", "--outlet", name, *address, text=refused)
    assert (run.returncode, names(client, name)) == (3, ["Tea"])
    [problem] = client.json("OUTLET.HOME", name)["feed"]["problems"]
    assert problem.startswith("MENU.PUT: INVALID sections[0].items[0].price: ")
