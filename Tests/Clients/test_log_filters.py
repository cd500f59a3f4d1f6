"""What LOG.READ and `tiffin log` find by kind, time and actor, and what they and `tiffin replay` write for spreadsheets."""

import csv
import io
import json
import subprocess

import pytest

from tiffin import (
    Server, binary, fresh_database, item_document, put_open_outlet, read_log, run_tiffin, section_document,
)

FORMULA = '=HYPERLINK("https://example.com","tea, hot")'


@pytest.fixture(scope="module")
def served():
    """A server whose log holds orders of two tills; and the log's events."""
    with fresh_database() as database, Server(database=database) as server, server.client() as client:
        items = [item_document("tea", 100, name=FORMULA), item_document("bun", 50, name="'bun'")]
        put_open_outlet(client, "o", [section_document("all", items)])
        for number in range(20):
            cart, till = f"c{number}", ("ACTOR", f"till-{number % 2}")
            client("CART.ADD", cart, "o", "tea", 1, *till)
            client("CART.ADD", cart, "o", "bun", 2, "NOTE", '+1 "warm", please', *till)
            client("CART.CHECKOUT", cart, "TOTAL", 200, *till)
        yield database, client, read_log(client)


def found(client, *words, count=7):
    """Everything that a filter finds, page by page."""
    events, first = [], 1
    while first is not None:
        page = client.json("LOG.READ", "FROM", first, "COUNT", count, *words)
        assert list(page) == ["events", "to", "next"] and len(page["events"]) <= count
        assert page["next"] in (None, page["to"] + 1)
        events += page["events"]
        first = page["next"]
    return events


@pytest.mark.parametrize("words, matches", [
    (("KIND", "order.placed"), lambda event: event["kind"] == "order.placed"),
    (("KIND", "order.placed,menu"), lambda event: event["kind"] == "order.placed" or event["kind"].startswith("menu.")),
    (("KIND", "cart.itemadded"), lambda event: False),
    (("ACTOR", "till-1"), lambda event: event["metadata"].get("actor") == "till-1"),
    (("ACTOR", "till"), lambda event: False),
    (("ACTOR", "till-0", "KIND", "cart.checkedOut"),
     lambda event: event["metadata"].get("actor") == "till-0" and event["kind"] == "cart.checkedOut"),
])
def test_a_filter_finds_what_matches_and_nothing_else(served, words, matches):
    _, client, events = served
    assert found(client, *words) == [event for event in events if matches(event)]
    stream = [event for event in events if event["stream"] == "cart-c1" and matches(event)]
    assert found(client, "STREAM", "cart-c1", *words) == stream


def test_times_are_from_the_first_and_up_to_before_the_second(served):
    _, client, events = served
    for index in (0, 7, 30, len(events) - 1):
        time = events[index]["recordedAt"]
        # RFC 3339 with and without milliseconds does not sort as text.
        def key(text):
            return (text.rstrip("Z") + ("" if "." in text else ".000"))[:23]

        assert found(client, "SINCE", time) == [event for event in events if key(event["recordedAt"]) >= key(time)]
        assert found(client, "UNTIL", time) == [event for event in events if key(event["recordedAt"]) < key(time)]
        assert found(client, "SINCE", time, "UNTIL", time) == []


def test_a_call_ends_after_ten_thousand_events_and_says_so(database):
    with Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "o", [section_document("all", [item_document("tea", 100)])])
        client.pipeline([("MENU.ITEM.PRICE", "o", "tea", 1 + number % 2) for number in range(10_100)])
        client("OUTLET.CLOSE", "o")
        page = client.json("LOG.READ", "KIND", "outlet.closed")
        assert page == {"events": [], "to": 10_000, "next": 10_001}
        page = client.json("LOG.READ", "KIND", "outlet.closed", "FROM", page["next"])
        assert [event["kind"] for event in page["events"]] == ["outlet.closed"]
        last = page["to"]
        assert page["next"] is None and last == client.json("LOG.HEAD")[0]["position"]
        page = client.json("LOG.READ", "KIND", "outlet.closed", "FROM", last + 1, "WAIT", 1)
        assert page == {"events": [], "to": last, "next": None}
        # Few matches are found in what is looked at; the pages go on where the last match was.
        assert client.json("LOG.READ", "KIND", "menu", "COUNT", 2)["next"] == 4


def printed(*words):
    run = run_tiffin(*words)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_tiffin_log_takes_the_same_filters(served):
    database, client, events = served
    log = ("log", "--database", database)
    lines = printed(*log, "--kind", "order,cart.checkedOut", "--actor", "till-1").splitlines()
    assert [json.loads(line) for line in lines] == found(
        client, "KIND", "order,cart.checkedOut", "ACTOR", "till-1", count=1_000)
    middle = events[30]["recordedAt"]
    assert (len(printed(*log, "--since", middle).splitlines()) + len(printed(*log, "--until", middle).splitlines())
            == len(events))
    for option in (("--kind", "order."), ("--since", "noon"), ("--until", "")):
        run = run_tiffin(*log, *option)
        assert run.returncode == 64 and option[0] in run.stderr


def test_the_log_is_written_for_spreadsheets(served):
    database, _, events = served
    text = printed("log", "--database", database, "--csv")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert text.startswith("partition,position,recordedAt,stream,version,kind,schemaVersion,actor,payload,metadata\n")
    assert len(rows) == len(events)
    for row, event in zip(rows, events):
        assert json.loads(row["payload"]) == event["payload"] and json.loads(row["metadata"]) == event["metadata"]
        assert row["actor"] == event["metadata"].get("actor", "")
        assert [row[column] for column in ("partition", "position", "version", "recordedAt", "stream", "kind")] == [
            str(event[column]) for column in ("partition", "position", "version", "recordedAt", "stream", "kind")]


def test_projections_are_written_for_spreadsheets(served):
    database, _, _ = served
    replay = ("replay", "--database", database)
    for projection in ("orders", "cart_counts", "outlet_home", "takings", "catalogue"):
        text = printed(*replay, projection, "--csv")
        assert text == printed(*replay, projection, "--output", "csv")
        rows = list(csv.reader(io.StringIO(text, newline="")))
        objects = [json.loads(line) for line in printed(*replay, projection, "--output", "ndjson").splitlines()]
        assert rows[0] == list(objects[0]) and len(rows) == len(objects) + 1
        for row, values in zip(rows[1:], objects):
            for cell, value in zip(row, values.values(), strict=True):
                if isinstance(value, (dict, list)):
                    assert json.loads(cell) == value
                elif isinstance(value, str):
                    assert cell == ("'" if value.startswith(("=", "+", "-", "@", "'")) else "") + value
                else:
                    assert cell == ("" if value is None else json.dumps(value))
    assert "'" + FORMULA in {row["name"] for row in csv.DictReader(
        io.StringIO(printed(*replay, "catalogue", "--csv"), newline=""))}


def test_lines_end_as_the_standard_says(served):
    run = subprocess.run(
        [binary(), "replay", "cart_counts", "--csv", "--database", served[0]], capture_output=True, check=True)
    assert run.stdout.count(b"\r\n") == run.stdout.count(b"\n") == 21
