"""Orders for later in a browser: when an order is wanted, and what can be had when."""

import datetime
import json
import zoneinfo

from site_under_test import cart, put_kitchen, violations, wait_for_cart
from test_merchant import open_page
from tiffin import outlet_document, wait_until

ZONE = "Asia/Colombo"
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def day(later=0):
    return (datetime.datetime.now(zoneinfo.ZoneInfo(ZONE)) + datetime.timedelta(days=later)).date()


def moment(later, hour):
    """When the outlet's clocks show an hour, so many days later, as the server writes it."""
    local = datetime.datetime.combine(day(later), datetime.time.fromisoformat(hour), zoneinfo.ZoneInfo(ZONE))
    return local.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def put_bistro(merchant, name, opens="00:00", closes="24:00", **details):
    put_kitchen(merchant, name)
    merchant("OUTLET.PUT", name, json.dumps(outlet_document(**{
        "timeZone": ZONE, "hours": [{"day": each, "opens": opens, "closes": closes} for each in DAYS], "follows": "hours",
        "services": {"pickup": {}, "delivery": {}}, "orderAheadDays": 7, "acceptWithin": 600, "prepMinutes": 20, **details})))
    merchant("OUTLET.OPEN", name)


def order(merchant, page):
    page.locator("[data-testid=checkout_btn]:not([aria-disabled])").click()
    page.wait_for_url("**/order/*")
    return merchant.json("ORDER.GET", page.url.rpartition("/")[2])


def test_an_order_is_wanted_for_a_slot_of_another_day_and_in_its_part_of_the_day(visit, site, merchant, name):
    tomorrow = DAYS[day(1).weekday()]
    put_bistro(merchant, name, slots={"minutes": 60, "orders": 1}, dayparts=[
        {"id": "morning", "hours": [{"day": tomorrow, "opens": "08:00", "closes": "11:00"}]}])
    merchant("MENU.ITEM.PUT", name, "lunch", "lunch1", json.dumps(
        {"id": "lunch1", "kind": "menuItem", "name": "Porridge", "price": 700, "daypart": "morning"}))
    merchant("CART.ADD", name, name, "lunch2", 1, "FOR", moment(1, "11:00"))
    merchant("CART.CHECKOUT", name, "TOTAL", 1020)
    page = visit(f"/o/{name}")
    porridge = page.locator("[data-item=lunch1]")
    porridge.get_by_text("From").get_by_text("08:00").wait_for()
    assert porridge.locator(".add").get_attribute("aria-disabled") == "true"
    page.locator("[data-item=lunch0] .add").click()
    wait_for_cart(page, 1)
    page.locator("#cart-button").click()
    days, hours = page.get_by_label("Day"), page.get_by_role("combobox", name="Time")
    page.get_by_test_id("promise").get_by_text("As soon as possible: ready in about 20 min.").wait_for()
    assert hours.is_hidden()
    days.select_option(label="Tomorrow")
    page.get_by_text("Choose a time for your order.").wait_for()
    assert page.get_by_test_id("checkout_btn").get_attribute("aria-disabled") == "true"
    assert hours.locator("option", has_text="11:00, full").get_attribute("disabled") == ""
    hours.select_option(label="09:00")
    page.get_by_test_id("promise").get_by_text("Planned for").get_by_text("09:00").wait_for()
    assert cart(page)["for"] == moment(1, "09:00") and violations(page) == []
    # How it is had changes nothing of when; as soon as possible takes the time away.
    page.get_by_test_id("services").get_by_role("button", name="Delivery").click()
    page.get_by_test_id("services").get_by_role("button", name="Delivery", pressed=True).wait_for()
    wait_until(lambda: cart(page).get("service") == "delivery", "the service")
    assert cart(page)["for"] == moment(1, "09:00")
    days.select_option(label="As soon as possible")
    wait_until(lambda: "for" not in cart(page), "no time")
    days.select_option(label="Tomorrow")
    hours.select_option(label="10:00")
    wait_until(lambda: cart(page).get("for") == moment(1, "10:00"), "the time")
    # What is not had now can be had then.
    page.get_by_role("button", name="Close").click()
    porridge.locator(".add:not([aria-disabled])").click()
    wait_for_cart(page, 2)
    page.locator("#cart-button").click()
    page.get_by_label("If something is missing").select_option(label="Leave it out")
    placed = order(merchant, page)
    assert (placed["status"], placed["promisedFor"], placed["missing"]) == ("scheduled", moment(1, "10:00"), "remove")
    page.get_by_test_id("order_status").get_by_text("Planned").wait_for()
    assert violations(page) == []
    # The merchant sees what is full as well.
    takings = open_page(visit, site, f"#day?outlet={name}")
    takings.get_by_role("combobox", name="Day").select_option(label="tomorrow")
    full = takings.locator("table.slots tr", has_text="Full")
    full.nth(1).wait_for()
    assert full.locator("th").all_text_contents() == ["10:00", "11:00"] and violations(takings) == []
    board = visit(f"/kitchen/{name}", origin=site.console)
    board.get_by_role("button", name="Sold out", exact=True).click()
    row = board.get_by_test_id("stock").locator("li").first
    row.get_by_text("Porridge").wait_for()
    row.get_by_text("Not at this time of the day").wait_for()
    assert row.get_by_role("button", name="Bring it back").is_hidden()


def test_a_closed_place_says_when_it_opens_and_takes_orders_for_then(visit, merchant, name):
    put_bistro(merchant, name, "08:00", "20:00", specialDays=[{"date": day().isoformat(), "hours": []}])
    page = visit(f"/o/{name}", timezone_id="America/New_York")
    page.get_by_text("Closed. It opens tomorrow at 08:00. You can order for later").wait_for()
    page.locator("[data-item=lunch0] .add:not([aria-disabled])").click()
    page.locator(".toast", has_text="Another time can be chosen in the cart").wait_for(state="attached")
    wait_for_cart(page, 1)
    assert cart(page)["for"] == moment(1, "08:00")
    page.locator("#cart-button").click()
    page.locator("#cart-sheet [type=time]").fill("12:30")
    wait_until(lambda: cart(page)["for"] == moment(1, "12:30"), "the time")
    # The place is closed then: its answer has the time of its clocks.
    page.locator("#cart-sheet [type=time]").fill("20:30")
    page.locator(".toast", has_text="The outlet is closed then; it opens at").get_by_text("08:00").wait_for(state="attached")
    assert violations(page) == []
    assert order(merchant, page)["promisedFor"] == moment(1, "12:30")
