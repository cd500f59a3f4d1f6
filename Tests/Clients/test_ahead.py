"""Orders for later, slots, parts of the day, and promises that change."""

import datetime
import json
import random

import pytest

import quotes
from test_faults import log_of
from test_hours import ALWAYS, never
from tiffin import (
    ReplyError, Server, fresh_database, item_document, outlet_document, read_log, run_tiffin, section_document,
    wait_until,
)

DAY = datetime.timedelta(days=1)
TEXT = "the oven is cold, so it takes longer"


def today():
    return datetime.datetime.now(datetime.UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def text(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


# At noon three days from now, when every outlet here is open.
NOON = text(today() + 3 * DAY + datetime.timedelta(hours=12))


def put(client, outlet, sections=None, **changes):
    details = {"timeZone": "UTC", "hours": ALWAYS, "follows": "hours", "orderAheadDays": 7, "prepMinutes": 20,
               "services": {"pickup": {}, "delivery": {"prepMinutes": 40}}, "acceptWithin": 600}
    client("OUTLET.PUT", outlet, json.dumps(outlet_document(**details | changes)))
    client("MENU.PUT", outlet, json.dumps({"sections": sections or [
        section_document("all", [item_document("tea", 100), item_document("pie", 300)])]}))
    client("OUTLET.OPEN", outlet)


class TestOrdersAhead:
    def test_an_order_is_promised_for_the_time_it_is_wanted_for(self, server, client, name):
        put(client, name)
        client("CART.ADD", name, name, "tea", 2)
        assert client("CART.SERVICE", name, "delivery") == 2
        soon = client.json("CART.QUOTE", name)
        assert (soon["prepMinutes"], "for" in soon) == (40, False)
        assert client("CART.SERVICE", name, "delivery", "FOR", NOON) == 2
        version = client.json("CART.GET", name)["version"]
        assert client("CART.SERVICE", name, "delivery", "FOR", NOON) == 2
        cart = client.json("CART.GET", name)
        assert (cart["version"], cart["for"]) == (version, NOON), "the same again is no event"
        quote = client.json("CART.QUOTE", name)
        assert (quote["for"], quote["promisedFor"], quote["total"]) == (NOON, NOON, soon["total"])
        assert "prepMinutes" not in quote
        assert client.error("CART.CHECKOUT", name, "QUOTE", soon["quote"]).code == "TOTALCHANGED"
        # Another pace of the kitchen is no other promise.
        client("OUTLET.BUSY", name, "DELAY", 15, "UNTIL", text(today() + 2 * DAY))
        order = client("CART.CHECKOUT", name, "QUOTE", quote["quote"]).decode()
        shown = client.json("ORDER.GET", order)
        assert (shown["status"], shown["promisedFor"]) == ("scheduled", NOON)
        assert shown["releaseAt"] == NOON.replace("12:00:00", "11:20:00") and "acceptBy" not in shown
        assert client.json("KITCHEN", name)["count"] == 0
        assert client.json("ORDERS", "OUTLET", name, "STATUS", "scheduled")["orders"][0]["order"] == order
        client("ORDER.CANCEL", order, "BY", "customer", "CODE", "CUSTOMER")
        chosen = [event for event in log_of(server, f"cart-{name}") if event["kind"] == "cart.serviceChosen"]
        assert [event["schemaVersion"] for event in chosen] == [1, 2]

    def test_a_scheduled_order_reaches_its_kitchen_in_time_and_waits_there(self, client, name):
        put(client, name, prepMinutes=0)
        soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=4)
        client("CART.ADD", name, name, "tea", 1, "FOR", text(soon))
        order = client("CART.CHECKOUT", name, "TOTAL", 100).decode()
        assert client.json("ORDER.GET", order)["status"] == "scheduled"
        def released():
            shown = client.json("ORDER.GET", order)
            return shown if shown["status"] == "placed" else None

        placed = wait_until(released, "the order to be released")
        then = datetime.datetime.fromisoformat(placed["updatedAt"])
        assert then >= datetime.datetime.fromisoformat(text(soon))
        assert datetime.datetime.fromisoformat(placed["acceptBy"]) - then < datetime.timedelta(seconds=601)
        assert client.json("KITCHEN", name)["orders"][0]["order"] == order

    def test_closed_now_is_no_obstacle(self, client, name):
        put(client, name, specialDays=never(2))
        shown = client.json("OUTLET.GET", name)
        assert (shown["status"], shown["opensAt"]) == ("closed", text(today() + 2 * DAY))
        assert client.json("OUTLET.HOME", name)["outlet"]["opensAt"] == shown["opensAt"]
        assert client("OUTLET.PUT", name, json.dumps(shown)) == shown["version"]
        refused = client.error("CART.ADD", name, name, "tea", 1)
        assert refused.code == "CLOSED" and shown["opensAt"] in str(refused)
        assert client("CART.ADD", name, name, "tea", 1, "FOR", NOON) == 1
        assert client("CART.ADD", name, name, "pie", 1) == 2
        assert [line["problem"] for line in client.json("CART.GET", name)["lines"]] == [None, None]
        order = client("CART.CHECKOUT", name, "TOTAL", 400)
        assert client.json("ORDER.GET", order)["promisedFor"] == NOON
        # What its merchant closed is closed for later, too.
        client("OUTLET.CLOSE", name)
        assert client.error("CART.ADD", f"{name}-2", name, "tea", 1, "FOR", NOON).code == "CLOSED"
        assert "opensAt" not in client.json("OUTLET.GET", name)

    def test_what_changes_before_the_checkout_is_found_there(self, client, name):
        put(client, name)
        client("CART.ADD", name, name, "tea", 1, "FOR", NOON)
        assert client.json("CART.QUOTE", name)["quote"]
        put(client, name, specialDays=never(6))
        quote = client.json("CART.QUOTE", name)
        assert (quote["quote"], quote["total"]) == (None, 100) and quote["problem"].startswith("CLOSED ")
        refused = client.error("CART.CHECKOUT", name, "TOTAL", 100)
        assert refused.code == "CLOSED" and text(today() + 6 * DAY) in str(refused)
        assert client.json("CART.GET", name)["status"] == "open"
        put(client, name, orderAheadDays=1)
        assert str(client.error("CART.CHECKOUT", name, "TOTAL", 100)).startswith("INVALID FOR: ")

    @pytest.mark.parametrize("changes, words, code", [
        ({}, ("pickup", "FOR", "2020-01-01T00:00:00Z"), "INVALID"),
        ({}, ("pickup", "FOR", "2099-01-01T00:00:00Z"), "INVALID"), ({}, ("pickup", "FOR", "tomorrow"), "INVALID"),
        ({"orderAheadDays": 0}, ("pickup", "FOR", NOON), "INVALID"),
        ({"orderAheadDays": 2}, ("pickup", "FOR", NOON), "INVALID"),
        ({"slots": {"minutes": 25}}, ("pickup", "FOR", NOON), "NOSLOT"),
        ({"specialDays": never(5)}, ("pickup", "FOR", NOON), "CLOSED"),
        ({"services": {"pickup": {"hours": [h | {"opens": "18:00"} for h in ALWAYS]}, "table": {}}},
         ("pickup", "FOR", NOON), "CLOSED"),
    ])
    def test_a_time_that_cannot_be_is_refused(self, client, name, changes, words, code):
        put(client, name)
        client("CART.ADD", name, name, "tea", 1)
        put(client, name, **changes)
        refused = client.error("CART.SERVICE", name, *words)
        assert refused.code == code and "FOR: " in str(refused)
        assert "for" not in client.json("CART.GET", name)

    @pytest.mark.parametrize("changes, field", [
        ({"orderAheadDays": 15}, "orderAheadDays"), ({"orderAheadDays": -1}, "orderAheadDays"),
        ({"follows": "commands"}, "orderAheadDays"), ({"services": None}, "orderAheadDays"),
        ({"orderAheadDays": 0, "slots": {"minutes": 15}}, "slots"), ({"slots": {"minutes": 4}}, "slots.minutes"),
        ({"slots": {}}, "slots.minutes"),
        ({"slots": {"minutes": 15, "orders": 0}}, "slots.orders"), ({"slots": {"minutes": 15, "x": 1}}, "slots.x"), ({"slots": 15}, "slots"),
        ({"dayparts": [{"id": "a", "hours": []}]}, "dayparts[0].hours"),
        ({"dayparts": [{"id": "a", "hours": ALWAYS}] * 2}, "dayparts[1].id"),
        ({"dayparts": [{"id": "a b", "hours": ALWAYS}]}, "dayparts[0].id"),
        ({"dayparts": [{"id": "a", "hours": [{"opens": "09:00", "closes": "10:00"}]}]}, "dayparts[0].hours[0].day"),
    ])
    def test_a_wrong_detail_is_refused_by_its_name(self, client, name, changes, field):
        with pytest.raises(ReplyError) as refused:
            put(client, name, **changes)
        assert str(refused.value).startswith(f"INVALID {field}: ")

    def test_what_was_due_while_no_server_ran_happens_when_one_starts(self):
        with fresh_database() as database:
            server = Server(database=database).start()
            try:
                with server.client() as client:
                    put(client, "o", prepMinutes=0)
                    soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=4)
                    client("CART.ADD", "c", "o", "tea", 1, "FOR", text(soon))
                    order = client("CART.CHECKOUT", "c", "TOTAL", 100)
                    assert client.json("ORDER.GET", order)["status"] == "scheduled"
                server.kill()
                with server.start().client() as client:
                    wait_until(
                        lambda: client.json("ORDER.GET", order)["status"] == "placed", "the order to be released")
            finally:
                server.kill()
            assert run_tiffin("audit", "--database", database).returncode == 0


class TestSlots:
    ZONES = ("Europe/Berlin", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Kathmandu", "America/St_Johns", "UTC")

    @staticmethod
    def outlet(chance):
        def clock(minutes):
            return f"{minutes // 60:02}:{minutes % 60:02}"

        def hours(least=0):
            periods = []
            for _ in range(chance.randint(least, 9)):
                opens = chance.randrange(0, 1_440, chance.choice([1, 15, 60]))
                closes = opens + chance.choice([chance.randint(1, 1_440), 60, 240, 1_440])
                periods.append({"day": chance.choice(quotes.DAYS), "opens": clock(opens), "closes": clock(closes)})
            return periods

        special = [
            {"date": (today() + n * DAY).date().isoformat(),
             "hours": [{key: period[key] for key in ("opens", "closes")} for period in hours()[:2]]}
            for n in range(-1, 16) if chance.random() < 0.2]
        services = {name: ({"hours": hours()} if chance.random() < 0.5 else {}) |
                    ({"prepMinutes": chance.choice([0, 45, 1_000])} if chance.random() < 0.5 else {})
                    for name in chance.sample(quotes.SERVICES, chance.randint(1, 3))}
        slots = {"slots": {"minutes": chance.choice([5, 15, 25, 60, 240])}} if chance.random() < 0.8 else {}
        return {"name": "O", "currency": "EUR", "timeZone": chance.choice(TestSlots.ZONES), "hours": hours(1),
                "follows": "hours", "specialDays": special, "services": services, "prepMinutes": chance.choice([0, 20, 600]),
                "orderAheadDays": chance.randint(1, 14)} | slots

    def test_a_client_that_follows_the_document_agrees_with_every_slot_and_time(self, client, name):
        chance = random.Random(20261127)
        count = 0
        codes = set()
        for number in range(40):
            id, outlet = f"{name}-{number}", self.outlet(chance)
            client("OUTLET.PUT", id, json.dumps(outlet))
            menu = {"sections": [section_document("all", [item_document("tea", 100)])]}
            client("MENU.PUT", id, json.dumps(menu))
            # Opened by its merchant, whatever its hours say: they are about later.
            client("OUTLET.OPEN", id)
            service = chance.choice(list(outlet["services"]))
            days = [(today() + n * DAY).date() for n in range(-1, 17)]
            before = datetime.datetime.now(datetime.UTC)
            answers = [json.loads(answer) for answer in client.pipeline(
                [("SLOTS", id, "SERVICE", service, "DATE", day.isoformat()) for day in days])]
            after = datetime.datetime.now(datetime.UTC)
            found = []
            for day, answer in zip(days, answers):
                # What has become too late, or too far, while it was asked is nobody's mistake.
                expected = [quotes.slots(outlet, service, day, now) for now in (before, after)]
                assert answer["slots"] in expected, (outlet, service, day)
                found += [slot["at"] for slot in answer["slots"]]
            count += len(found)
            times = chance.sample(found, min(len(found), 5)) + [
                text(today() + datetime.timedelta(minutes=chance.randrange(-600, 17 * 1_440))) for _ in range(10)]
            for time in times:
                moment = datetime.datetime.fromisoformat(time)
                expected = {quotes.refusal(outlet, service, moment, now) for now in (before, datetime.datetime.now(datetime.UTC))}
                cart = f"{id}-{time}".replace(":", ".")
                # Whether it was opened by hours is not what this is about.
                reply = client.pipeline([("CART.ADD", cart, id, "tea", 1, "FOR", time)])[0]
                if service == next(kind for kind in quotes.SERVICES if kind in outlet["services"]):
                    code = reply.code if isinstance(reply, ReplyError) else None
                    assert code in expected, (outlet, service, time, reply)
                    codes.add(code)
        assert count > 1_000 and codes == {None, "INVALID", "CLOSED", "NOSLOT"}

    def test_slots_are_answered_for_a_day_of_the_outlet(self, client, name):
        put(client, name, slots={"minutes": 120}, timeZone="Asia/Kolkata")
        day = (today() + 3 * DAY).date().isoformat()
        answer = client.json("SLOTS", name, "DATE", day)
        assert list(answer) == ["outlet", "service", "date", "minutes", "slots"]
        assert (answer["service"], answer["date"], answer["minutes"], len(answer["slots"])) == ("pickup", day, 120, 12)
        assert answer["slots"][0] == {
            "at": (today() + 3 * DAY - datetime.timedelta(hours=5.5)).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "local": f"{day}T00:00:00+05:30"}
        client("CART.ADD", name, name, "tea", 1, "FOR", answer["slots"][3]["local"])
        assert client.json("CART.GET", name)["for"] == answer["slots"][3]["at"]
        # A pause goes on until its end.
        client("OUTLET.PAUSE", name, "UNTIL", answer["slots"][5]["at"])
        assert client.json("SLOTS", name, "DATE", day)["slots"] == answer["slots"][5:]
        client("OUTLET.CLOSE", name)
        assert client.json("SLOTS", name, "DATE", day)["slots"] == []
        assert client.error("SLOTS", name, "SERVICE", "table").code == "INVALID"
        put(client, f"{name}-2")
        assert client.json("SLOTS", f"{name}-2") | {"date": 0} == {
            "outlet": f"{name}-2", "service": "pickup", "date": 0, "minutes": None, "slots": []}

    def test_a_slot_takes_so_many_orders_and_says_which_is_next(self, server, client, name):
        put(client, name, slots={"minutes": 60, "orders": 2})
        assert client.json("OUTLET.GET", name)["slots"] == {"minutes": 60, "orders": 2}
        later = NOON.replace("12:00", "13:00")

        def left():
            answer = client.json("SLOTS", name, "DATE", NOON[:10])
            return answer["orders"], {slot["at"]: slot["left"] for slot in answer["slots"]}

        def fill(cart, when=NOON, service="pickup"):
            client("CART.ADD", cart, name, "tea", 1)
            client("CART.SERVICE", cart, service, "FOR", when)
            return client("CART.CHECKOUT", cart, "TOTAL", 100).decode()

        client("CART.ADD", f"{name}-c", name, "tea", 1, "FOR", NOON)
        first = fill(f"{name}-a")
        # However they are had: it is one kitchen.
        fill(f"{name}-b", service="delivery")
        orders, slots = left()
        assert orders == 2 and slots[NOON] == 0 and slots[later] == 2
        for words in (("CART.SERVICE", f"{name}-c", "pickup", "FOR", NOON), ("CART.CHECKOUT", f"{name}-c", "TOTAL", 100)):
            refused = client.error(*words)
            assert refused.code == "NOSLOT" and str(refused).endswith(f"the slot is full; the next one with room is {later}")
        assert client.json("CART.QUOTE", f"{name}-c")["problem"].startswith("NOSLOT ")
        client("ORDER.CANCEL", first, "BY", "customer", "CODE", "CUSTOMER")
        wait_until(lambda: left()[1][NOON] == 1, "the slot to be given back")
        assert client.json("ORDER.GET", client("CART.CHECKOUT", f"{name}-c", "TOTAL", 100))["promisedFor"] == NOON
        # What is wanted at once takes of no slot, and neither does anything where there is no most.
        client("CART.ADD", f"{name}-d", name, "tea", 1)
        client("CART.CHECKOUT", f"{name}-d", "TOTAL", 100)
        put(client, name, slots={"minutes": 60})
        fill(f"{name}-e")
        assert client.json("SLOTS", name, "DATE", NOON[:10])["slots"][0].keys() == {"at", "local"}
        kinds = [event["kind"] for event in log_of(server, f"cart-{name}-e")]
        assert kinds == ["cart.itemAdded", "cart.serviceChosen", "cart.checkedOut"]

    def test_of_two_who_want_the_last_order_of_a_slot_one_has_it(self, client, name):
        put(client, name, slots={"minutes": 60, "orders": 3})
        carts = [f"{name}-{number}" for number in range(9)]
        client.pipeline([("CART.ADD", cart, name, "tea", 1, "FOR", NOON) for cart in carts])
        replies = client.pipeline([("CART.CHECKOUT", cart, "TOTAL", 100) for cart in carts])
        refused = [reply for reply in replies if isinstance(reply, ReplyError)]
        assert len(refused) == 6
        for reply in refused:
            assert reply.code == "NOSLOT" and str(reply).endswith(NOON.replace("12:00", "13:00"))


class TestDayparts:
    def sections(self):
        return [section_document("morning", [item_document("egg", 200)], daypart="breakfast"),
                section_document("all", [item_document("soup", 300, daypart="lunch"), item_document("tea", 100)])]

    def dayparts(self, breakfast, lunch):
        """`breakfast` all day on so many days of the week from today on, or none; the same of `lunch`."""
        now = datetime.datetime.now(datetime.UTC)
        return [{"id": id, "hours": [
            {"day": quotes.DAYS[(now.weekday() + n) % 7], "opens": "00:00", "closes": "24:00"} for n in days]}
            for id, days in (("breakfast", breakfast), ("lunch", lunch))]

    def test_what_is_not_had_now_is_shown_so_and_can_be_ordered_for_later(self, server, client, name):
        put(client, name, self.sections_without(), dayparts=self.dayparts([2, 3, 4], [-1, 0, 1]))
        client("MENU.PUT", name, json.dumps({"sections": self.sections()}))
        begins = text(today() + 2 * DAY)

        def model(section, item=0):
            return client.json("OUTLET.HOME", name)["sections"][section]["items"][item]["model"]

        wait_until(lambda: not model(0)["available"], "breakfast to be over")
        assert model(0)["availableFrom"] == begins
        assert (model(1)["available"], model(1)["daypart"], model(1, 1)["available"]) == (True, "lunch", True)
        item = client.json("ITEM.GET", name, "egg")
        assert (item["available"], item["availableFrom"]) == (False, begins)
        assert client.json("BROWSE", "OUTLET", name, "OPEN")["total"] == 2
        (egg,) = [row for row in client.json("BROWSE", "OUTLET", name)["items"] if row["item"] == "egg"]
        assert (egg["available"], egg["availableFrom"]) == (False, begins)
        refused = client.error("CART.ADD", name, name, "egg", 1)
        assert refused.code == "CLOSED" and begins in str(refused) and "breakfast" in str(refused)
        assert client("CART.ADD", name, name, "egg", 1, "FOR", NOON) == 1
        # Lunch is over by then.
        refused = client.error("CART.ADD", name, name, "soup", 1)
        assert refused.code == "CLOSED" and "lunch" in str(refused)
        client("CART.ADD", name, name, "tea", 1)
        client("CART.SERVICE", name, "pickup")
        problems = [line["problem"] for line in client.json("CART.GET", name)["lines"]]
        assert problems == [{"code": "CLOSED", "daypart": "breakfast", "availableFrom": begins}, None]
        assert client.json("CART.QUOTE", name)["quote"] is None
        assert client.error("CART.CHECKOUT", name, "TOTAL", 300).code == "CLOSED"
        client("CART.SERVICE", name, "pickup", "FOR", NOON)
        assert client.json("ORDER.GET", client("CART.CHECKOUT", name, "TOTAL", 300))["promisedFor"] == NOON
        # What it shows can be put back.
        for get, put_back, key in (("OUTLET.GET", "OUTLET.PUT", "version"), ("MENU.GET", "MENU.PUT", "version")):
            document = client.json(get, name)
            assert client(put_back, name, json.dumps(document)) == document[key]
        changed = [event for event in log_of(server, f"outlet-{name}") if event["kind"] == "outlet.daypartsChanged"]
        assert [event["payload"]["active"] for event in changed] == [["lunch"]]
        # Once it is another part of the day, subscribers, lists and carts follow.
        details = client.json("OUTLET.GET", name) | {"dayparts": self.dayparts([-1, 0, 1], [2, 3, 4])}
        client("OUTLET.PUT", name, json.dumps(details))
        wait_until(lambda: model(0)["available"], "breakfast to begin")
        assert (model(1)["available"], client.json("BROWSE", "OUTLET", name, "OPEN")["total"]) == (False, 2)

    def sections_without(self):
        return [section_document("all", [item_document("tea", 100)])]

    def test_a_menu_and_its_outlet_agree_on_dayparts(self, client, name):
        put(client, name)
        for command in (
            ("MENU.PUT", name, json.dumps({"sections": self.sections()})),
            ("MENU.SECTION.PUT", name, "m", json.dumps({"title": "M", "kind": "menuItems", "daypart": "breakfast"})),
            ("MENU.ITEM.PUT", name, "all", "egg", json.dumps(item_document("egg", 1, daypart="breakfast"))),
        ):
            refused = client.error(*command)
            assert refused.code == "INVALID" and "no daypart 'breakfast'" in str(refused)
        details = client.json("OUTLET.GET", name)
        client("OUTLET.PUT", name, json.dumps(details | {"dayparts": self.dayparts([0], [0])}))
        client("MENU.PUT", name, json.dumps({"sections": self.sections()}))
        refused = client.error("OUTLET.PUT", name, json.dumps(details))
        assert refused.code == "STATE" and "section 'morning'" in str(refused)

    def test_dayparts_survive_a_restart_and_an_audit(self):
        with fresh_database() as database:
            server = Server(database=database).start()
            try:
                with server.client() as client:
                    put(client, "o", self.sections_without(), dayparts=self.dayparts([3], [0, 1]))
                    client("MENU.PUT", "o", json.dumps({"sections": self.sections()}))
                    wait_until(
                        lambda: not client.json("ITEM.GET", "o", "egg")["available"], "breakfast to be over")
                    home = client("OUTLET.HOME", "o")
                server.stop()
                with server.start().client() as client:
                    assert client("OUTLET.HOME", "o") == home
            finally:
                server.kill()
            assert run_tiffin("audit", "--database", database).returncode == 0


class TestPromises:
    def place(self, client, outlet, cart, *words):
        put(client, outlet)
        client("CART.ADD", cart, outlet, "tea", 1, *words)
        return client("CART.CHECKOUT", cart, "TOTAL", 100, *words).decode()

    def test_a_promise_moves_with_a_word_and_the_order_shows_it(self, client, name):
        order = self.place(client, name, name)
        promised = client.json("ORDER.GET", order)
        assert "promise" not in promised
        first = promised["promisedFor"]
        client("ORDER.ACCEPT", order, "READY", NOON)
        later, latest = NOON.replace("12:00:00", "12:30:00"), NOON.replace("12:00:00", "13:00:00")
        assert client("ORDER.DELAY", order, "READY", later, "REASON", TEXT, "ID", "d") == 3
        assert client("ORDER.DELAY", order, "READY", later, "REASON", TEXT, "ID", "d") == 3
        assert client("ORDER.DELAY", order, "READY", later, "REASON", TEXT) == 3
        assert client.error("ORDER.DELAY", order, "READY", later, "REASON", "no", "ID", "d").code == "IDMISMATCH"
        assert client("ORDER.DELAY", order, "READY", latest) == 4
        shown = client.json("ORDER.GET", order)
        assert shown["promise"] == [
            {"from": first, "to": NOON, "reason": None}, {"from": NOON, "to": later, "reason": TEXT},
            {"from": later, "to": latest, "reason": None}]
        assert (shown["promisedFor"], shown["readyBy"]) == (first, latest)
        for words in ("", "a\nb", "x" * 501):
            assert client.error("ORDER.DELAY", order, "READY", NOON, "REASON", words).code == "INVALID"

    def test_a_reason_for_a_customer_is_sealed_and_can_be_forgotten(self, database):
        with Server(database=database) as server, server.client() as client:
            order = self.place(client, "kitchen", "c", "CUSTOMER", "asha")
            assert client("ORDER.DELAY", order, "READY", NOON, "REASON", TEXT) == 2
            assert client("ORDER.DELAY", order, "READY", NOON, "REASON", TEXT) == 2
            assert client.json("ORDER.GET", order)["promise"][0]["reason"] == TEXT
            assert TEXT not in json.dumps(read_log(client))
            why = ("why", "order", order, "--server", f"127.0.0.1:{server.port}")
            assert f'delayed, to be ready by {NOON.replace("T", " ")}: "{TEXT}"' in run_tiffin(*why).stdout
            client("ORDER.CANCEL", order, "BY", "merchant", "CODE", "ITEMS", "REASON", "no tea")
            told = run_tiffin(*why).stdout
            assert f'"{TEXT}"' in told and '"no tea"' in told
            assert run_tiffin("forget", "asha", "--database", database).returncode == 0
            assert client.json("ORDER.GET", order)["promise"][0]["reason"] == "[erased]"
            assert TEXT not in run_tiffin(*why).stdout
            assert run_tiffin("audit", "--database", database).returncode == 0


def test_slowness_ends_without_a_time(client, name):
    put(client, name)
    client("OUTLET.BUSY", name, "DELAY", 15, "UNTIL", NOON)
    assert client.json("OUTLET.GET", name)["delayMinutes"] == 15
    client("OUTLET.BUSY", name, "DELAY", 0)
    assert "delayMinutes" not in client.json("OUTLET.GET", name)
    refused = client.error("OUTLET.BUSY", name, "DELAY", 5)
    assert refused.code == "INVALID" and str(refused).startswith("INVALID UNTIL: ")
