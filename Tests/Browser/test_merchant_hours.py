"""The merchant's pages of stock and of hours in a browser."""

import datetime
import json
import zoneinfo

from site_under_test import put_kitchen, violations
from test_kitchen import place
from test_later import DAYS
from test_merchant import agree, go, open_page
from tiffin import outlet_document, wait_until


def test_what_is_counted_is_said_and_what_is_low_stands_out(visit, site, merchant, name):
    put_kitchen(merchant, name)
    merchant("MENU.GROUP.PUT", name, "extras", json.dumps(
        {"id": "extras", "title": "Extras", "options": [{"id": "egg", "name": "<b>Egg</b>"}]}))
    merchant("OUTLET.PUT", name, json.dumps(outlet_document(acceptWithin=600)))
    page = open_page(visit, site, f"#stock?outlet={name}")
    count, rows = page.get_by_test_id("count"), page.locator("[data-stock]")
    count.get_by_text("Nothing is counted.").wait_for()
    form = page.locator("dialog")

    def say(row, number, what=None):
        page.get_by_role("button", name=f"Count {row}").press("Enter")
        assert violations(page) == []
        if what:
            form.get_by_label("What").select_option(label=what)
        if number is not None:
            form.get_by_label("How many").fill(str(number))
        form.get_by_role("button", name="Count", exact=True).press("Enter")

    page.get_by_label("Search the menu").fill("lunch 0")
    say("Lunch 0", "two")
    form.get_by_role("alert").get_by_text("How many: write a whole number from 0 on.").wait_for()
    form.get_by_label("How many").fill("2")
    form.get_by_role("button", name="Count", exact=True).click()
    form.wait_for(state="detached")
    page.get_by_label("Search the menu").fill("egg")
    say("<b>Egg</b>", 40)
    form.wait_for(state="detached")
    page.get_by_label("Search the menu").fill("")
    count.get_by_text("2 counted, 1 of them low").wait_for()
    lunch = rows.filter(has_text="Lunch 0")
    lunch.get_by_text("Few left").wait_for()
    assert violations(page) == []
    # A count that was begun does not undo what was sold meanwhile.
    page.get_by_role("button", name="Count Lunch 0").click()
    form.get_by_text("2 are left, and orders hold 0.").wait_for()
    place(merchant, name, name, ("lunch0", 2))
    form.get_by_label("How many").fill("5")
    form.get_by_role("button", name="Count", exact=True).click()
    form.get_by_role("alert").get_by_text("Meanwhile 0 are left.").wait_for()
    page.keyboard.press("Escape")
    lunch.get_by_text("Nothing left").wait_for()
    assert lunch.locator("td").nth(3).text_content() == "2"
    say("Lunch 0", 6, "So many come in addition")
    form.wait_for(state="detached")
    say("<b>Egg</b>", None, "It is not counted any more")
    form.wait_for(state="detached")
    count.get_by_text("1 counted, 0 of them low").wait_for()
    assert merchant.json("STOCK", name)["stock"] == [{"kind": "item", "id": "lunch0", "left": 6, "held": 2}]


def next_saturday():
    today = datetime.datetime.now(zoneinfo.ZoneInfo("Asia/Colombo")).date()
    return today + datetime.timedelta(days=(5 - today.weekday()) % 7 or 7)


def test_hours_services_and_times_are_made_by_hand_and_shown_in_words_first(visit, site, merchant, name):
    put_kitchen(merchant, name)
    page = open_page(visit, site, f"#hours?outlet={name}")
    problems, meaning = page.get_by_test_id("problems"), page.get_by_test_id("meaning")
    hours = page.get_by_role("group", name="Hours", exact=True)

    def period(group, day, opens, closes):
        group.get_by_role("button", name=f"Add a period: {day}").press("Enter")
        group.get_by_label(f"{day} opens").last.fill(opens)
        group.get_by_label(f"{day} closes").last.fill(closes)

    period(hours, "Monday", "08:00", "14:00")
    period(hours, "Monday", "13:00", "01:30")
    problems.get_by_text("Hours: Monday: two periods are at the same time.").wait_for()
    hours.get_by_label("Monday opens").last.fill("18:00")
    problems.locator("li").wait_for(state="detached")
    hours.get_by_role("button", name="Every day as on Monday").press("Enter")
    meaning.get_by_text("open 08:00–14:00, 18:00–01:30, and until 01:30 from the evening before.").wait_for()
    page.get_by_label("Days ahead").fill("7")
    problems.get_by_text("Days ahead: the outlet has to open and close by its hours.").wait_for()
    page.get_by_label("It opens and closes").select_option(label="By its hours")
    problems.get_by_text("Days ahead: a service has to be offered.").wait_for()
    page.get_by_label("Minutes between times").fill("90")
    page.get_by_label("Orders for each time").fill("4")
    page.get_by_label("Minutes until an order is ready").fill("20")
    for service in ("Pickup", "Delivery"):
        page.get_by_role("group", name=service, exact=True).get_by_label("Offered").check()
    delivery = page.get_by_role("group", name="Delivery", exact=True)
    delivery.get_by_label("Minutes until it is ready").fill("40")
    delivery.get_by_label("Address").check()
    delivery.get_by_label("Charges of its own").check()
    delivery.get_by_label("Fee of delivery", exact=True).fill("2.505")
    problems.get_by_text("Delivery: Fee of delivery: write it like 16.50.").wait_for()
    delivery.get_by_label("Fee of delivery", exact=True).fill("2.50")
    delivery.get_by_label("Fee of delivery: free from").fill("20")
    delivery.get_by_label("Service in percent").fill("12.5")
    delivery.get_by_label("Hours of its own").check()
    period(page.get_by_role("group", name="Hours of delivery"), "Saturday", "10:00", "13:00")
    meaning.get_by_text("Delivery: ready in 40 minutes; service 12.5 %, delivery LKR\xa02.50, free from LKR\xa020.00; for later at 10:00, 11:30.").wait_for()
    page.get_by_role("button", name="Add a part").click()
    part = page.get_by_role("group", name="Parts of the day")
    part.get_by_label("Id", exact=True).fill("breakfast")
    period(part, "Saturday", "08:00", "11:00")
    meaning.get_by_text("What is only had at breakfast: 08:00–11:00.").wait_for()
    # A period is drawn on the bar of its day.
    bar = page.get_by_role("group", name="Hours of delivery").locator("[data-day=Sunday]")
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 5, steps=3)
    page.mouse.up()
    drawn = page.get_by_role("group", name="Hours of delivery")
    assert [drawn.get_by_label(f"Sunday {end}").input_value() for end in ("opens", "closes")] == ["12:00", "18:00"]
    # Taxes have rates by service, and the outlet charges of its own.
    page.get_by_role("button", name="Add a tax").press("Enter")
    tax = page.get_by_role("group", name="Taxes", exact=True)
    for label, text in (("Name of the tax", "MwSt."), ("Id of the tax", "vat"), ("Percent", "7"), ("At a table: percent", "19,5")):
        tax.get_by_label(label, exact=True).fill(text)
    problems.get_by_text("Taxes: say whether they are in the prices.").wait_for()
    page.get_by_label("Taxes are").select_option(label="In the prices")
    page.get_by_role("group", name="Charges", exact=True).get_by_label("Fee of a small order", exact=True).fill("1")
    meaning.get_by_text("Pickup: ready in 20 minutes; small orders LKR\xa01.00;").wait_for()
    assert violations(page) == []
    # A special day is another Saturday.
    page.get_by_role("button", name="Add a day").click()
    special = page.get_by_role("group", name="Special days")
    special.get_by_label("Day", exact=True).fill(next_saturday().isoformat())
    meaning.get_by_text(": closed, and until 01:30 from the evening before.").wait_for()
    # Somebody else opens it meanwhile, which is no change of what is asked.
    merchant("OUTLET.CLOSE", name)
    page.get_by_role("button", name="Change…").click()
    week = "Monday–Sunday 08:00–14:00, 18:00–01:30"
    agree(page, f"Hours: Monday–Sunday closed → {week}", "Opens and closes: by hand → by its hours", "Orders ahead: none → 7 days",
          "Pickup: not offered → offered", "Taxes: none → MwSt. 7 % (At a table 19.5 %)", "Charges: no charges → small orders LKR\xa01.00",
          "Ready in: no promise → 20 minutes", "Times for later: any time → every 90 minutes, for 4 orders each", yes="Change")
    page.locator(".toast", has_text="The outlet was changed.").wait_for(state="attached")
    made = merchant.json("OUTLET.GET", name)
    assert made["hours"] == [
        {"day": day, "opens": opens, "closes": closes} for day in DAYS for opens, closes in (("08:00", "14:00"), ("18:00", "25:30"))]
    assert made["services"] == {"pickup": {}, "delivery": {
        "charges": {"service": {"rate": 12500}, "delivery": {"fee": 250, "freeFrom": 2000}}, "prepMinutes": 40,
        "requires": ["address"], "hours": [
            {"day": "saturday", "opens": "10:00", "closes": "13:00"}, {"day": "sunday", "opens": "12:00", "closes": "18:00"}]}}
    assert made["taxes"] == [{"id": "vat", "name": "MwSt.", "rate": 7000, "rates": {"table": 19500}}]
    assert (made["taxIncluded"], made["charges"], made["prepMinutes"]) == (True, {"smallOrder": {"fee": 100}}, 20)
    assert (made["follows"], made["orderAheadDays"], made["slots"]) == ("hours", 7, {"minutes": 90, "orders": 4})
    assert made["specialDays"] == [{"date": next_saturday().isoformat(), "hours": []}]
    assert made["dayparts"] == [{"id": "breakfast", "hours": [{"day": "saturday", "opens": "08:00", "closes": "11:00"}]}]
    # Sections and items name a part of the day.
    go(page, f"#menu?outlet={name}")
    page.get_by_role("button", name="Change the section Breakfast").click()
    page.get_by_label("Part of the day").select_option(label="breakfast")
    page.get_by_role("button", name="Change…").click()
    agree(page, "Part of the day: nothing → breakfast", yes="Change")
    wait_until(lambda: [section["id"] for section in merchant.json("MENU.GET", name)["sections"] if section.get("daypart") == "breakfast"]
               == ["breakfast"], "the section's part of the day")
    go(page, f"#hours?outlet={name}")
    # What nobody touches stays, and who changes the same sees what somebody else has changed.
    page.get_by_label("Days ahead").fill("3")
    merchant("OUTLET.PUT", name, json.dumps({**made, "orderAheadDays": 5, "name": "Elsewhere"}))
    page.get_by_role("button", name="Change…").click()
    agree(page, "Orders ahead: 7 days → 3 days", yes="Change")
    agree(page, "Meanwhile: Orders ahead: 7 days → 5 days", "Yours: Orders ahead: 5 days → 3 days", yes="Change it all the same")
    wait_until(lambda: merchant.json("OUTLET.GET", name)["orderAheadDays"] == 3, "the change")
    kept = merchant.json("OUTLET.GET", name)
    assert {**kept, "orderAheadDays": 7, "name": made["name"], "version": made["version"]} == made
