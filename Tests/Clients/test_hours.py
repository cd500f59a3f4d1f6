"""Outlets that open and close by their hours, and outlets that are slow."""

import datetime
import json

import pytest

from test_faults import log_of
from tiffin import Server, fresh_database, item_document, section_document, wait_until

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
ALWAYS = [{"day": day, "opens": "00:00", "closes": "24:00"} for day in DAYS]


def never(days=3):
    """Special days without hours, from yesterday on."""
    today = datetime.datetime.now(datetime.UTC).date()
    return [{"date": (today + datetime.timedelta(days=n)).isoformat(), "hours": []} for n in range(-2, days)]


def put(client, outlet, **changes):
    details = {"name": "O", "currency": "EUR", "timeZone": "UTC", "hours": ALWAYS, "follows": "hours"} | changes
    client("OUTLET.PUT", outlet, json.dumps(details))


def status(client, outlet):
    return client.json("OUTLET.GET", outlet)["status"]


def test_an_outlet_opens_and_closes_as_its_hours_say(server, client, name):
    put(client, name)
    # Until somebody says so, it does not begin.
    assert status(client, name) == "closed"
    client("OUTLET.OPEN", name)
    assert status(client, name) == "open"
    put(client, name, specialDays=never())
    wait_until(lambda: status(client, name) == "closed", "its hours to close it")
    put(client, name)
    wait_until(lambda: status(client, name) == "open", "its hours to open it")
    # What its merchant closes stays closed, until it is to follow its hours again.
    client("OUTLET.CLOSE", name)
    put(client, name, specialDays=never())
    put(client, name)
    assert status(client, name) == "closed"
    put(client, name, specialDays=never())
    client("OUTLET.OPEN", name)
    assert status(client, name) == "closed"
    put(client, name)
    wait_until(lambda: status(client, name) == "open", "its hours to open it")
    by_hours = [
        event["kind"] for event in log_of(server, f"outlet-{name}")
        if event["kind"] in ("outlet.opened", "outlet.closed") and event["payload"].get("by") == "hours"]
    assert by_hours == ["outlet.closed", "outlet.opened", "outlet.closed", "outlet.opened"]


def test_what_was_missed_while_no_server_was_there_happens_when_one_starts():
    with fresh_database() as database:
        server = Server(database=database).start()
        try:
            with server.client() as client:
                put(client, "o")
                put(client, "o", specialDays=never())
                client("OUTLET.OPEN", "o")
                put(client, "o")
            server.kill()
            with server.start().client() as client:
                wait_until(lambda: status(client, "o") == "open", "its hours to open it")
        finally:
            server.kill()


@pytest.mark.parametrize("changes, field", [
    ({"follows": "moon"}, "follows"), ({"hours": []}, "follows"),
    ({"specialDays": [{"date": "2026-02-30", "hours": []}]}, "date"),
    ({"specialDays": [{"date": "2026-12-24"}]}, "hours"),
    ({"specialDays": [{"date": "2026-12-24", "hours": [{"opens": "10:00", "closes": "09:00"}]}]}, "closes"),
    ({"specialDays": [{"date": "2026-12-24", "hours": []}] * 2}, "2026-12-24 twice"),
])
def test_hours_that_cannot_be_are_refused(client, name, changes, field):
    with pytest.raises(Exception, match="INVALID") as refused:
        put(client, name, **changes)
    assert field in str(refused.value)


def test_a_slow_outlet_promises_later_and_a_quote_says_so(server, client, name):
    put(client, name, follows="commands", prepMinutes=20, acceptWithin=600)
    client("MENU.PUT", name, json.dumps({"sections": [section_document("all", [item_document("tea", 100)])]}))
    assert client.error("OUTLET.BUSY", name, "DELAY", 15, "UNTIL", "2099-01-01T00:00:00Z").code == "STATE"
    client("OUTLET.OPEN", name)
    client("CART.ADD", name, name, "tea", 1)
    usual = client.json("CART.QUOTE", name)
    assert usual["prepMinutes"] == 20
    client("OUTLET.BUSY", name, "DELAY", 15, "UNTIL", "2099-01-01T00:00:00Z")
    shown = client.json("OUTLET.GET", name)
    assert (shown["status"], shown["delayMinutes"], shown["delayedUntil"]) == ("open", 15, "2099-01-01T00:00:00Z")
    # A document can be put back as it was given.
    assert client("OUTLET.PUT", name, json.dumps(shown)) == shown["version"]
    assert client.error("CART.CHECKOUT", name, "QUOTE", usual["quote"]).code == "TOTALCHANGED"
    slow = client.json("CART.QUOTE", name)
    assert (slow["prepMinutes"], slow["total"]) == (35, usual["total"])
    order = client.json("ORDER.GET", client("CART.CHECKOUT", name, "QUOTE", slow["quote"]))
    placed, promised = (datetime.datetime.fromisoformat(order[field]) for field in ("placedAt", "promisedFor"))
    assert promised - placed == datetime.timedelta(minutes=35)
    client("OUTLET.BUSY", name, "DELAY", 0, "UNTIL", "2099-01-01T00:00:00Z")
    assert "delayMinutes" not in client.json("OUTLET.GET", name)
    for words in (("DELAY", -1), ("DELAY", 1_441), ("DELAY", "x")):
        assert client.error("OUTLET.BUSY", name, *words, "UNTIL", "2099-01-01T00:00:00Z").code == "INVALID"
    assert client.error("OUTLET.BUSY", name, "DELAY", 5, "UNTIL", "2020-01-01T00:00:00Z").code == "INVALID"
