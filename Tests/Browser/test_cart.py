"""The cart and an item in full, in a browser."""

import json
import re

from site_under_test import FRAMES, badge, cart, put_kitchen, violations, wait_for_badge, wait_for_cart
from tiffin import item_document, wait_until


# --- the cart


def test_a_tap_counts_at_once_and_once(visit, kitchen):
    page = visit(f"/o/{kitchen}")
    held, is_over = [], []
    page.route("**/v1/cart/lines", lambda route: route.continue_() if is_over else held.append(route))
    add = page.locator("[data-item=breakfast0] .add")
    add.click()
    assert badge(page) == 1 and add.get_attribute("data-count") == "1"
    wait_until(lambda: (page.evaluate(FRAMES), held)[1], "the request")
    for _ in range(3):
        add.click()
    assert badge(page) == 4
    is_over.append(True)
    for route in held:
        route.continue_()
    wait_for_cart(page, 4)
    assert badge(page) == 4
    assert [line["quantity"] for line in cart(page)["lines"]] == [4]


def test_a_refused_tap_is_taken_back_and_says_why(visit, merchant, kitchen):
    page = visit(f"/o/{kitchen}")
    page.locator("[data-item=breakfast0] .add").click()
    wait_for_cart(page, 1)
    # The page does not hear of it in time.
    page.route("**/v1/stream*", lambda route: route.abort("connectionreset"))
    page.evaluate("() => dispatchEvent(new Event('online'))")
    merchant("MENU.ITEM.SUSPEND", kitchen, "breakfast1")
    page.locator("[data-item=breakfast1] .add").click()
    # It does not stay for long.
    page.locator(".toast", has_text=re.compile("sold out", re.IGNORECASE)).wait_for(state="attached")
    wait_for_badge(page, 1)


def test_what_was_tapped_offline_is_sent_later_and_once(visit, kitchen):
    page = visit(f"/o/{kitchen}")
    page.locator("[data-item=lunch0] .add").click()
    wait_for_cart(page, 1)
    page.context.set_offline(True)
    page.locator("[data-item=lunch0] .add").click()
    page.locator("[data-item=lunch1] .add").click()
    assert badge(page) == 3
    page.locator("#banner", has_text="Offline").wait_for()
    page.context.set_offline(False)
    wait_for_cart(page, 3)
    wait_for_badge(page, 3)
    page.locator("#banner").wait_for(state="hidden")


def test_a_change_whose_answer_is_lost_is_made_once(visit, kitchen):
    page = visit(f"/o/{kitchen}")
    lost = []

    def lose(route):
        if lost:
            route.continue_()
        else:
            lost.append(route.fetch().status)
            route.abort("connectionreset")

    page.route("**/v1/cart/lines", lose)
    page.locator("[data-item=lunch0] .add").click()
    wait_for_cart(page, 1)
    page.locator("#cart-button").click()
    page.locator("[data-testid=checkout_btn]:not([aria-disabled])").wait_for()
    assert cart(page)["count"] == badge(page) == 1


def test_two_pages_of_one_visitor_show_one_cart(visit, site, kitchen):
    page = visit(f"/o/{kitchen}")
    page.locator("[data-item=lunch0] .add").click()
    wait_for_cart(page, 1)
    other = site.open(page.context, f"{site.origin}/o/{kitchen}", [])
    wait_for_badge(other, 1)
    other.locator("[data-item=lunch1] .add").click()
    wait_for_badge(page, 2)
    assert page.locator("[data-item=lunch1] .add").get_attribute("data-count") == "1"


def test_an_order_is_placed_at_the_price_that_was_seen(visit, merchant, kitchen):
    page = visit(f"/o/{kitchen}")
    page.locator("[data-item=lunch0] .add").click()
    page.locator("[data-item=sweet0] .add").click()
    wait_for_cart(page, 2)
    page.locator("#cart-button").click()
    panel = page.locator("#cart-sheet")
    panel.get_by_label("One Lunch 0 more").click()
    wait_for_cart(page, 3)
    page.locator("[data-testid=cart_total]", has_text="24.50").wait_for()
    merchant("MENU.ITEM.PRICE", kitchen, "lunch0", 1100)
    panel.locator(".problem", has_text="11.00 now").wait_for()
    order = page.get_by_test_id("checkout_btn")
    assert violations(page) == []
    panel.get_by_label("One Lunch 0 less").click()
    wait_for_cart(page, 2)
    page.locator("[data-testid=checkout_btn]", has_text="15.50").wait_for()
    order.click()
    page.wait_for_url("**/order/*")
    page.locator("[data-testid=order_status]", has_text=re.compile("^Sent to the kitchen$")).wait_for()
    number = page.url.rpartition("/")[2]
    assert merchant.json("ORDER.GET", number)["total"] == 1550
    assert violations(page) == []
    # No kitchen has to do with it, so the page asks now and then.
    for command in ("ACCEPT", "PREPARE", "READY"):
        merchant(f"ORDER.{command}", number)
    page.locator("[data-testid=order_status]", has_text="Ready").wait_for()
    # The next cart is another one.
    page.get_by_test_id("order_place").click()
    page.locator("[data-item=lunch0] .add").click()
    wait_for_cart(page, 1)
    wait_for_badge(page, 1)


def test_a_code_is_said_and_taken_back_in_the_cart(visit, merchant, kitchen):
    title = "Ten <b>percent</b>"
    for id, promotion in (
        ("ten", {"title": title, "give": {"percent": 10_000}, "code": "TEN"}),
        ("big", {"title": "Big", "give": {"amount": 500}, "code": "BIG", "minimum": 5000}),
    ):
        merchant("PROMO.PUT", kitchen, id, json.dumps({"on": "order", **promotion}))
    page = visit(f"/o/{kitchen}")
    page.locator("[data-item=lunch0] .add").click()
    wait_for_cart(page, 1)
    page.locator("#cart-button").click()
    field, codes = page.get_by_label("Promotion code"), page.get_by_test_id("codes")
    field.fill("<i>twenty</i>")
    field.press("Enter")
    page.get_by_role("alert").get_by_text("This place has no promotion with the code “<i>twenty</i>”.").wait_for()
    assert field.get_attribute("aria-invalid") == "true" and field.input_value() == "<i>twenty</i>"
    for code, outcome in ((" ten ", "TEN is taken off"), ("Big", "BIG needs more in the cart")):
        field.fill(code)
        field.press("Enter")
        codes.get_by_text(re.compile(outcome)).wait_for()
    assert page.get_by_role("alert").get_by_text("no promotion").count() == 0 and field.input_value() == ""
    page.get_by_test_id("cart_charges").get_by_text(title).wait_for()
    assert "1.00" in page.get_by_test_id("cart_charges").text_content()
    page.locator("[data-testid=cart_total]", has_text="9.00").wait_for()
    assert violations(page) == []
    for code, next in (("TEN", "Take back BIG"), ("BIG", "Use")):
        page.get_by_label(f"Take back {code}").press("Enter")
        wait_until(
            lambda: page.evaluate("() => document.activeElement.ariaLabel ?? document.activeElement.textContent") == next,
            f"the focus on {next}")
    page.locator("[data-testid=cart_total]", has_text="10.00").wait_for()
    wait_until(lambda: "codes" not in cart(page), "a cart without codes")


def test_a_code_of_a_card_is_said_with_the_first_item(visit, merchant, kitchen):
    merchant("PROMO.PUT", kitchen, "ten", json.dumps(
        {"title": "Ten", "on": "order", "give": {"percent": 10_000}, "code": "TEN", "limit": 1}))
    merchant("MENU.ITEM.PUT", kitchen, "lunch", "card", json.dumps(
        {"kind": "promo", "name": "Ten off", "promotion": "ten"}))
    page = visit(f"/o/{kitchen}")
    page.locator("[data-item=card] [data-ref=open]").click()
    said = page.get_by_test_id("item_promotion")
    said.get_by_text("It needs the code TEN.").wait_for()
    page.get_by_role("button", name="Use code TEN").click()
    said.get_by_text("It counts from your first item here.").wait_for()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.locator("[data-item=lunch0] .add").click()
    wait_for_cart(page, 1)
    wait_until(lambda: cart(page).get("codes") == [{"code": "TEN", "state": "applied"}], "the code")
    # Somebody else takes the last one.
    merchant("CART.ADD", f"{kitchen}-other", kitchen, "lunch0", 1)
    merchant("CART.CODE", f"{kitchen}-other", "TEN")
    merchant("CART.CHECKOUT", f"{kitchen}-other", "TOTAL", 900)
    page.locator("[data-item=card] [data-ref=open]").click()
    said.get_by_text("This offer is used up.").wait_for()
    assert not page.get_by_test_id("item_code_btn").is_visible()


def test_a_cart_of_another_outlet_is_emptied_only_if_that_is_wanted(visit, merchant, kitchen, name):
    other = f"{name}-other"
    put_kitchen(merchant, other)
    page = visit(f"/o/{kitchen}")
    page.locator("[data-item=lunch0] .add").click()
    wait_for_cart(page, 1)
    page.goto(page.url.replace(kitchen, other))
    question = page.get_by_role("dialog", name="Your cart has items of another place.")
    for answer, outlet in (("Cancel", kitchen), ("Empty it and add", other)):
        page.locator("[data-item=lunch1] .add").click()
        question.get_by_role("button", name=answer).click()
        wait_until(lambda: (cart(page)["outlet"], badge(page)) == (outlet, 1), f"a cart of {outlet}")


# --- an item in full


def test_an_item_opens_with_its_address_and_closes_with_back(visit, merchant, kitchen):
    item = item_document(
        "lunch0", 1234, name="Lunch 0", maxQuantity=3, attributes={"shoeSize": 42.5, "vegan": True},
        images=[{"url": "https://example.com/more.jpg", "alt": "Another side"}],
        links=[{"rel": "source", "url": "https://example.com/lunch", "title": "How we make it"}])
    merchant("MENU.ITEM.PUT", kitchen, "lunch", "lunch0", json.dumps(item))
    page = visit(f"/o/{kitchen}")
    opener = page.locator("[data-item=lunch0] .open")
    opener.click()
    sheet = page.locator("#item-sheet")
    sheet.get_by_text("How we make it").wait_for()
    assert page.url.endswith("?item=lunch0")
    assert sheet.get_by_alt_text("Another side").count() == 1
    assert "Shoe size" in sheet.text_content() and "42.5" in sheet.text_content()
    sheet.locator(".large img[src*=large]").wait_for()
    assert violations(page) == []
    more = sheet.get_by_label("One more")
    for _ in range(4):
        more.click(force=True)
    add = page.get_by_test_id("item_add_btn")
    assert "37.02" in add.text_content()
    merchant("MENU.ITEM.PRICE", kitchen, "lunch0", 1000)
    page.locator("[data-testid=item_add_btn]", has_text="30.00").wait_for()
    sheet.get_by_label("Note for the kitchen").fill("no peas")
    add.click()
    wait_for_cart(page, 3)
    assert cart(page)["lines"][0]["note"] == "no peas"
    page.wait_for_url(f"**/{kitchen}")
    opener.click()
    page.go_back()
    sheet.wait_for(state="hidden")
    page.wait_for_function("() => document.activeElement.textContent === 'Lunch 0'")
    opener.click()
    # It follows whether the place takes orders, and its pictures keep still.
    sheet.get_by_alt_text("Another side").evaluate("(image) => { image.dataset.mine = ''; }")
    merchant("OUTLET.CLOSE", kitchen)
    sheet.get_by_text("The place takes no orders now").wait_for()
    assert add.get_attribute("aria-disabled") == "true"
    merchant("OUTLET.OPEN", kitchen)
    page.locator("[data-testid=item_add_btn]:not([aria-disabled])").wait_for()
    sheet.get_by_role("button", name="One more").click()
    assert sheet.locator("img[data-mine]").count() == 1
    merchant("MENU.ITEM.REMOVE", kitchen, "lunch0")
    sheet.get_by_text("no longer on the menu").wait_for()
    assert add.get_attribute("aria-disabled") == "true"
    page.keyboard.press("Escape")
    merchant("MENU.ITEM.PUT", kitchen, "lunch", "lunch0", json.dumps(item))
    opener.wait_for()
    page.wait_for_url(f"**/{kitchen}")
    page.goto(f"{page.url}?item=lunch0")
    sheet.locator("h2", has_text="Lunch 0").wait_for()
    page.keyboard.press("Escape")
    sheet.wait_for(state="hidden")
    page.wait_for_url(f"**/{kitchen}")


# --- an order


def test_an_order_without_a_server_is_not_said_to_be_unknown(visit, kitchen):
    page = visit(f"/o/{kitchen}")
    page.locator("[data-item=lunch0] .add").click()
    wait_for_cart(page, 1)
    page.locator("#cart-button").click()
    page.route("**/v1/orders/*", lambda route: route.abort())
    page.locator("[data-testid=checkout_btn]:not([aria-disabled])").click()
    page.locator(".blank", has_text="The order cannot be shown now").wait_for()
    assert violations(page) == []
    page.unroute("**/v1/orders/*")
    page.get_by_test_id("order_status").filter(has_text="Sent to the kitchen").wait_for()
    page.goto(f"{page.url}x")
    page.locator(".blank", has_text="There is no such order").wait_for()
