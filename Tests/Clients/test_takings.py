"""What outlets took, day by day, is what another program adds up from the log: 400 orders, or as many as
TIFFIN_TAKINGS_ORDERS says."""

import collections
import csv
import datetime
import io
import json
import os
import random

import pytest

import tiffin
from test_quotes import Scene
from test_rebuild import rebuild_state
from tiffin import ReplyError, Server, run_tiffin

ORDERS = int(os.environ.get("TIFFIN_TAKINGS_ORDERS", "400"))
OUTLETS = max(10, ORDERS // 200)
# A zone whose clocks never change, so that the judge needs no rules of zones. Days begin at half past one.
ZONE = datetime.timedelta(hours=5, minutes=30)
DAY_STARTS = datetime.timedelta(hours=1, minutes=30)
CHARGES = ("service", "smallOrder", "delivery", "tip")


def sell(client, chance):
    """Orders at some outlets, and what becomes of them. Returns the outlets."""
    outlets = []
    for number in range(OUTLETS):
        scene = Scene(f"place-{number}", chance)
        scene.outlet |= {"timeZone": "Asia/Kolkata", "dayStarts": "01:30", "minimumOrder": 0}
        for service in scene.outlet.get("services", {}).values():
            service["minimumOrder"] = 0
        client("OUTLET.PUT", scene.id, json.dumps(scene.outlet))
        client("MENU.PUT", scene.id, json.dumps(scene.menu))
        client("OUTLET.OPEN", scene.id)
        outlets.append(scene.id)
        for cart in range(ORDERS // OUTLETS):
            become(client, chance, scene, f"{scene.id}-{cart}")
    return outlets


def become(client, chance, scene, cart):
    """A cart that becomes an order, and perhaps more."""
    commands, quote = scene.cart(cart)
    if quote is None:
        return
    client.pipeline([command for command, _ in commands])
    order = client("CART.CHECKOUT", cart, "TOTAL", quote["total"])
    steps = []
    for payment in range(chance.choice([0, 0, 1, 2])):
        kind = chance.choice(["authorised", "captured", "failed"])
        steps.append(("ORDER.PAYMENT", order, f"p{payment}", kind, chance.randrange(5_000)))
    fate = chance.random()
    if fate < 0.15:
        steps.append(("ORDER.REJECT", order, "CODE", "BUSY"))
    elif fate < 0.3:
        steps.append(("ORDER.CANCEL", order, "BY", "customer", "CODE", "CUSTOMER"))
    elif fate < 0.6:
        for _ in range(chance.randint(1, 3)):
            line = chance.choice(client.json("ORDER.GET", order)["lines"])
            part = chance.choice([("LINE", line["line"], "QTY", 1), ("AMOUNT", chance.randint(1, 900)), ()])
            steps.append(("ORDER.REFUND", order, *part, "CODE", "ITEMS", "ID", chance.randbytes(4).hex()))
    for reply in client.pipeline(steps):
        assert not isinstance(reply, ReplyError) or reply.code == "LIMIT", reply


def sums_of(client):
    """What every outlet took by day, from the log: counts, bases and amounts by what they are of."""
    days = collections.defaultdict(lambda: collections.Counter())
    placed = {}
    for event in tiffin.read_log(client, page=1_000):
        kind, payload = event["kind"], event["payload"]
        order = event["stream"]
        if kind == "order.placed":
            placed[order] = payload
        if order not in placed:
            continue
        sale = placed[order]
        at = datetime.datetime.fromisoformat(event["recordedAt"].replace("Z", "+00:00")) + ZONE - DAY_STARTS
        sums, service = days[sale["outlet"], at.date().isoformat()], sale.get("service") or ""

        def add(movement, what, amount, tax=None, base=0):
            key = (service, movement, what, *((tax["id"], tax["rate"]) if tax else ("", "")))
            sums[(*key, "amount")] += amount
            sums[(*key, "base")] += base

        if kind in ("order.placed", "order.rejected", "order.cancelled"):
            movement = "sold" if kind == "order.placed" else "cancelled"
            sums[service, movement, "total", "", "", "count"] += 1
            add(movement, "total", sale["total"])
            add(movement, "lines", sum(line["quantity"] * line["unitPrice"] for line in sale["lines"]))
            for charge in sale.get("charges", []):
                tax = charge if charge["kind"] == "tax" else None
                add(movement, charge["kind"], charge["amount"], tax, sum(charge.get("bases", [])))
        elif kind == "order.refunded":
            sums[service, "refunded", "total", "", "", "count"] += 1
            add("refunded", "total", payload["amount"])
            for tax in payload.get("taxes", []):
                add("refunded", "tax", tax["amount"], tax, tax["base"])
        elif kind == "order.paymentReported":
            sums["", "paid", payload["state"], "", "", "count"] += 1
            sums["", "paid", payload["state"], "", "", "amount"] += payload["amount"]
    return {place: +sums for place, sums in days.items()}


def told(day):
    """The same of a day of TAKINGS."""
    sums = collections.Counter()
    for part in day["services"]:
        service = part["service"] or ""
        for movement in ("sold", "cancelled", "refunded"):
            one = part[movement]
            sums[service, movement, "total", "", "", "count"] = one["count"]
            for what in ("total", "lines", *CHARGES):
                sums[service, movement, what, "", "", "amount"] = one.get(what, 0)
            for tax in one["taxes"]:
                for field in ("base", "amount"):
                    sums[service, movement, "tax", tax["id"], tax["rate"], field] = tax[field]
    for kind, paid in day["payments"].items():
        sums["", "paid", kind, "", "", "count"], sums["", "paid", kind, "", "", "amount"] = paid["count"], paid["amount"]
    return +sums


def net_of(sums):
    """What is left of a day: the total, and each tax by id and rate."""
    total, taxes = 0, collections.Counter()
    for (_, movement, what, tax, rate, field), amount in sums.items():
        sign = {"sold": 1, "cancelled": -1, "refunded": -1, "paid": 0}[movement]
        if (what, field) == ("total", "amount"):
            total += sign * amount
        elif what == "tax":
            taxes[tax, rate, field] += sign * amount
    return total, {key: amount for key, amount in taxes.items() if amount}


@pytest.fixture(scope="module")
def sold():
    """A server whose log has orders, its database, the outlets, and their sums."""
    with tiffin.fresh_database() as database, Server(database=database) as server:
        with server.client() as client:
            outlets = sell(client, random.Random(20261126))
            sums = sums_of(client)
        yield server, database, outlets, sums


def days_after(day, count):
    return (datetime.date.fromisoformat(day) + datetime.timedelta(days=count)).isoformat()


def check(client, outlets, sums):
    days = sorted({day for _, day in sums})
    assert {outlet for outlet, _ in sums} == set(outlets)
    for outlet in outlets:
        answer = client.json("TAKINGS", outlet, "FROM", days_after(days[0], -1), "UNTIL", days_after(days[-1], 1))
        named = {day["day"]: day for day in answer["days"]}
        assert len(named) == len(answer["days"])
        everything = collections.Counter()
        for day, document in named.items():
            expected = sums.get((outlet, day), collections.Counter())
            assert told(document) == expected, (outlet, day)
            total, taxes = net_of(expected)
            assert document["net"]["total"] == total
            shown = {(tax["id"], tax["rate"], field): tax[field] for tax in document["net"]["taxes"] for field in ("base", "amount")}
            assert {key: amount for key, amount in shown.items() if amount} == taxes
            everything += expected
        assert told(answer["sum"]) == everything
        (divided,) = client.json("TAKINGS", outlet, "FROM", days[-1], "BY", "hour")["days"]
        assert sum((told(hour) for hour in divided["hours"]), collections.Counter()) == told(divided) == told(named[days[-1]])
        begins = [datetime.datetime.fromisoformat(hour["from"]) for hour in divided["hours"]]
        assert begins[0] == datetime.datetime.fromisoformat(divided["from"]) and len(begins) in (23, 24, 25)
        assert {after - before for before, after in zip(begins, begins[1:])} == {datetime.timedelta(hours=1)}


def test_every_sum_of_every_day_is_that_of_the_log(sold):
    server, _, outlets, sums = sold
    with server.client() as client:
        check(client, outlets, sums)
    kinds = {(movement, what) for day in sums.values() for _, movement, what, *_ in day}
    assert {("sold", what) for what in ("total", "lines", "tax", *CHARGES)} <= kinds
    assert {("cancelled", "tax"), ("refunded", "tax"), ("paid", "captured")} <= kinds
    assert {service for day in sums.values() for service, *_ in day} == {"", "pickup", "delivery", "table"}


def test_a_table_and_a_file_of_values_say_the_same(sold):
    server, _, outlets, sums = sold
    day = max(day for _, day in sums)
    where = ("--server", f"127.0.0.1:{server.port}")
    run = run_tiffin("takings", outlets[0], "--from", days_after(day, -150), "--until", day, "--csv", *where)
    assert run.returncode == 0, run.stderr
    found = collections.defaultdict(collections.Counter)
    for row in csv.DictReader(io.StringIO(run.stdout)):
        key = (row["service"], row["of"], row["kind"], row["tax"], int(row["rate"]) if row["rate"] else "")
        for field in ("count", "base", "amount"):
            found[row["day"]][*key, field] += int(row[field] or 0)
    assert {day: +sums for day, sums in found.items() if +sums} == {
        day: told for (outlet, day), told in sums.items() if outlet == outlets[0]}
    table = run_tiffin("takings", outlets[0], "--from", day, *where).stdout.splitlines()
    assert [line.split()[0] for line in table] == ["day", day]
    total = sum(
        amount for (_, movement, what, *_, field), amount in sums[outlets[0], day].items()
        if (movement, what, field) == ("sold", "total", "amount"))
    assert table[1].split()[2] == f"{total // 100}.{total % 100:02}"
    wrong = run_tiffin("takings", "nowhere", "--from", day, *where)
    assert (wrong.returncode, wrong.stdout, wrong.stderr) == (1, "", "tiffin takings: NOTFOUND no outlet 'nowhere'\n")


def test_sums_outlive_the_server_and_an_audit_finds_nothing(sold):
    server, database, outlets, sums = sold
    server.kill()
    server.start()
    with server.client() as client:
        check(client, outlets, sums)
        # Rebuilt rows are the same.
        client("PROJECTION.REBUILD", "takings")
        tiffin.wait_until(lambda: rebuild_state(client)[0]["state"] == "done", "the rebuild")
        assert rebuild_state(client)[0]["changed_rows"] == "0"
        check(client, outlets, sums)
    server.stop()
    run = run_tiffin("audit", "--database", database)
    assert run.returncode == 0 and "rows of takings" in run.stdout, run.stdout
    replayed = run_tiffin("replay", "takings", "--database", database, "--output", "ndjson").stdout.splitlines()
    stored = tiffin.sql("select count(distinct period) from tiffin.takings_rows", database)
    assert len(replayed) == int(stored)
    total = sum(
        amount for day in sums.values() for (_, movement, what, *_, field), amount in day.items()
        if (movement, what, field) == ("sold", "total", "amount"))
    assert int(tiffin.sql(
        "select sum(amount) from tiffin.takings where \"of\" = 'sold' and kind = 'total'", database)) == total
    server.start()


@pytest.mark.parametrize("words, message", [
    (("FROM", "2026-02-29"), "INVALID FROM: must be a day such as 2026-03-01"),
    (("FROM", "2026-03-01", "UNTIL", "2026-02-28"), "INVALID UNTIL: must not come before FROM"),
    (("FROM", "2026-01-01", "UNTIL", "2026-04-11"), "INVALID UNTIL: must lie within 100 days"),
    (("FROM", "2026-03-01", "UNTIL", "2026-03-08", "BY", "hour"), "INVALID UNTIL: must lie within 7 days with BY hour"),
    ((), "ERR wrong number of arguments"),
])
def test_days_that_cannot_be_are_refused(sold, words, message):
    server, _, outlets, _ = sold
    with server.client() as client:
        assert str(client.error("TAKINGS", outlets[0], *words)).startswith(message)


def test_an_outlet_that_was_removed_keeps_its_takings(sold):
    server, _, outlets, sums = sold
    with server.client() as client:
        client("OUTLET.REMOVE", outlets[-1])
        check(client, outlets, sums)
        assert client.error("TAKINGS", "nowhere", "FROM", "2026-03-01").code == "NOTFOUND"


def test_a_business_day_begins_at_a_quarter_of_an_hour(client, name):
    outlet = {"name": "O", "currency": "EUR", "timeZone": "Europe/Berlin"}
    for wrong in ("04:10", "24:00", "4:00", "-1:00"):
        assert "dayStarts" in str(client.error("OUTLET.PUT", name, json.dumps(outlet | {"dayStarts": wrong})))
    client("OUTLET.PUT", name, json.dumps(outlet | {"dayStarts": "04:15"}))
    assert client.json("OUTLET.GET", name)["dayStarts"] == "04:15"
    (day,) = client.json("TAKINGS", name, "FROM", "2026-10-25")["days"]
    assert (day["from"], day["until"]) == ("2026-10-25T03:15:00Z", "2026-10-26T03:15:00Z")
    (day,) = client.json("TAKINGS", name, "FROM", "2026-10-24")["days"]
    # 25 hours.
    assert (day["from"], day["until"]) == ("2026-10-24T02:15:00Z", "2026-10-25T03:15:00Z")
