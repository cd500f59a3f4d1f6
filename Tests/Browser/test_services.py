"""How an order is had, in a browser: what a customer chooses and says, and what kitchen and customer see of it."""

import json

from site_under_test import cart, put_kitchen, violations, wait_for_cart
from tiffin import outlet_document, wait_until

SERVICES = {
    "pickup": {}, "delivery": {"charges": {"delivery": {"fee": 250}}, "prepMinutes": 40, "requires": ["name", "phone", "address"]},
    "table": {"requires": ["table"]},
}


def put_bistro(merchant, name, services):
    put_kitchen(merchant, name)
    merchant("OUTLET.PUT", name, json.dumps(outlet_document(acceptWithin=600, services=services)))


def open_cart(visit, name, query=""):
    page = visit(f"/o/{name}{query}")
    page.locator("[data-item=lunch0] .add").click()
    wait_for_cart(page, 1)
    page.locator("#cart-button").click()
    return page


def order(page):
    page.locator("[data-testid=checkout_btn]:not([aria-disabled])").click()
    page.wait_for_url("**/order/*")
    return page.url.rpartition("/")[2]


def test_a_delivery_is_chosen_paid_for_and_brought_to_the_address(visit, site, merchant, name):
    put_bistro(merchant, name, SERVICES)
    board = visit(f"/kitchen/{name}", origin=site.console, viewport={"width": 1180, "height": 800})
    page = open_cart(visit, name)
    ways = page.get_by_test_id("services")
    ways.get_by_role("button", name="Pickup", pressed=True).wait_for()
    assert page.get_by_label("Address").is_hidden()
    before = page.get_by_test_id("cart_total").text_content()
    ways.get_by_role("button", name="Delivery").click()
    page.get_by_text("The place needs to know your name and your phone and your address.").wait_for()
    assert page.get_by_test_id("cart_total").text_content() != before
    page.get_by_test_id("promise").get_by_text("ready in about 40 min").wait_for()
    assert page.get_by_test_id("checkout_btn").get_attribute("aria-disabled") == "true"
    assert violations(page) == []
    page.get_by_label("Name").fill("Asha Fernando")
    page.get_by_label("Phone").fill("0171 5550100")
    page.get_by_label("Address").fill("12 Mill Road")
    placed = order(page)
    page.get_by_test_id("order_service").get_by_text("Delivery to 12 Mill Road").wait_for()
    ticket = board.locator(f"[data-order='{placed}']").get_by_test_id("service")
    ticket.get_by_text("Delivery to 12 Mill Road, Asha Fernando, 0171 5550100").wait_for()
    assert violations(page) == [] and violations(board) == []
    document = merchant.json("ORDER.GET", placed)
    assert (document["service"], document["address"]) == ("delivery", "12 Mill Road")


def test_a_table_is_named_before_an_order_is_brought_to_it(visit, site, merchant, name):
    put_bistro(merchant, name, SERVICES)
    board = visit(f"/kitchen/{name}", origin=site.console, viewport={"width": 1180, "height": 800})
    page = open_cart(visit, name)
    page.get_by_test_id("services").get_by_role("button", name="At a table").click()
    page.get_by_text("The place needs to know your table.").wait_for()
    page.get_by_label("Table").fill("4")
    page.get_by_label("Table").blur()
    wait_until(lambda: cart(page).get("table") == "4", "the table")
    placed = order(page)
    page.get_by_test_id("order_service").get_by_text("Table 4").wait_for()
    board.locator(f"[data-order='{placed}']").get_by_test_id("service").get_by_text("Table 4").wait_for()


def test_a_code_at_a_table_fills_it_in_for_each_order(visit, merchant, name):
    put_bistro(merchant, name, SERVICES)
    page = open_cart(visit, name, "?table=12")
    for _ in range(2):
        page.get_by_test_id("services").get_by_role("button", name="At a table", pressed=True).wait_for()
        assert page.get_by_label("Table").input_value() == "12"
        assert merchant.json("ORDER.GET", order(page))["table"] == "12"
        page.get_by_test_id("order_place").click()
        page.locator("[data-item=lunch1] .add").click()
        page.locator("#cart-button").click()
    # Whoever wants something else has it.
    page.get_by_test_id("services").get_by_role("button", name="Pickup").click()
    assert merchant.json("ORDER.GET", order(page))["service"] == "pickup"


def test_a_browser_remembers_texts_only_if_it_is_asked_to(visit, merchant, name):
    put_bistro(merchant, name, {"delivery": {"requires": ["name", "address"]}})
    page = visit(f"/o/{name}")
    texts = {"Name": "Asha Fernando", "Address": "12 Mill Road"}
    keep = page.get_by_label("Remember this in this browser")
    for wanted, known in ((False, False), (True, False), (True, True)):
        page.locator("[data-item=lunch0] .add").click()
        page.locator("#cart-button").click()
        page.get_by_label("Name").wait_for()
        assert page.get_by_label("Phone").is_hidden()
        for label, text in texts.items():
            assert page.get_by_label(label).input_value() == (text if known else "")
            page.get_by_label(label).fill(text)
        assert keep.is_checked() == known
        keep.set_checked(wanted)
        order(page)
        page.get_by_test_id("order_place").click()
        page.wait_for_url("**/o/*")
    page.get_by_role("button", name="Forget me", exact=True).click()
    page.get_by_role("button", name="Forget me for good").click()
    page.get_by_role("status").filter(has_text="You are forgotten").wait_for()
    assert page.evaluate("() => [Object.keys(localStorage), Object.keys(sessionStorage)]") == [[], []]
    page.locator("[data-item=lunch0] .add").click()
    page.locator("#cart-button").click()
    page.get_by_label("Name").wait_for()
    assert page.get_by_label("Name").input_value() == "" and not keep.is_checked()


def test_where_there_is_nothing_to_choose_nothing_is_asked(visit, merchant, name):
    put_bistro(merchant, name, {"pickup": {}})
    page = open_cart(visit, name)
    page.locator("[data-testid=checkout_btn]:not([aria-disabled])").wait_for()
    assert page.get_by_test_id("services").is_hidden() and page.get_by_label("Name").is_hidden()
    order(page)
    page.get_by_test_id("order_service").get_by_text("Pickup").wait_for()
    put_bistro(merchant, f"{name}-2", {})
    page = open_cart(visit, f"{name}-2")
    assert page.get_by_test_id("services").is_hidden()
    order(page)
    page.get_by_test_id("order_status").wait_for()
    assert page.get_by_test_id("order_service").is_hidden()
