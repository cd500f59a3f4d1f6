"""Options, sizes and what is charged, in a browser."""

import json

import pytest
from site_under_test import cart, violations, wait_for_badge, wait_for_cart
from tiffin import item_document, outlet_document, put_open_outlet, section_document, wait_until

GROUPS = [
    {"id": "size", "title": "Size", "setsPrice": True, "options": [
        {"id": "small", "name": "Small", "price": 800}, {"id": "large", "name": "Large", "price": 1100}]},
    {"id": "extras", "title": "Extras", "max": 3, "free": 1, "options": [
        {"id": "cheese", "name": "Cheese", "price": 100, "prices": {"large": 150}, "max": 2},
        {"id": "bacon", "name": "Bacon", "price": 200}, {"id": "egg", "name": "Egg", "price": 90}]},
    {"id": "side", "title": "Side", "min": 1, "options": [
        {"id": "fries", "name": "Fries", "default": 1}, {"id": "salad", "name": "Salad", "groups": ["dressing"]}]},
    {"id": "dressing", "title": "Dressing", "min": 1, "options": [{"id": "oil", "name": "Oil", "price": 40}]},
]
TERMS = {
    "currency": "GBP", "taxIncluded": True, "taxes": [{"id": "vat", "name": "VAT", "rate": 20_000}],
    "charges": {"service": {"rate": 12_500}, "delivery": {"fee": 299, "tax": "vat"}},
}


@pytest.fixture
def grill(merchant, name):
    items = [item_document("burger", None, options=["size", "extras"]), item_document("meal", 1200, options=["side"])]
    put_open_outlet(merchant, name, [section_document("all", items)], GROUPS, **TERMS)
    merchant("MENU.OPTION.SUSPEND", name, "egg")
    return name


def deliver_for(merchant, outlet, fee):
    terms = {**TERMS, "charges": {**TERMS["charges"], "delivery": {"fee": fee, "tax": "vat"}}}
    merchant("OUTLET.PUT", outlet, json.dumps(outlet_document(**terms)))


def quote(page):
    return page.evaluate("async () => (await fetch('/v1/cart/quote')).json()")


def test_a_meal_with_options_costs_what_was_seen(visit, merchant, grill):
    page = visit(f"/o/{grill}")
    page.locator("[data-item=burger] .add").click()
    sheet, add = page.locator("#item-sheet"), page.get_by_test_id("item_add_btn")
    sheet.get_by_text("Choose 1: Size.").wait_for()
    add.click(force=True)
    assert cart(page) is None and sheet.is_visible()
    sheet.get_by_label("Egg").click(force=True)
    assert not sheet.get_by_label("Egg").is_checked() and sheet.get_by_text("Sold out").count() == 1
    large = sheet.get_by_role("radio", name="Large")
    large.focus()
    page.keyboard.press("Space")
    sheet.get_by_label("One Cheese more").click()
    sheet.get_by_role("checkbox", name="Bacon").check()
    # The cheese is free: it costs less than the bacon.
    page.locator("[data-testid=item_add_btn]", has_text="13.00").wait_for()
    assert violations(page) == []
    large.focus()
    merchant("MENU.OPTION.PRICE", grill, "small", 700)
    page.locator("#item-sheet .price", has_text="7.00").first.wait_for()
    assert large.is_checked() and page.evaluate("() => document.activeElement.type") == "radio"
    add.click()
    wait_for_cart(page, 1)
    [line] = cart(page)["lines"]
    assert (line["line"], line["unitPrice"]) == ("burger+bacon+cheese+large", 1300)

    page.locator("#cart-button").click()
    order = page.locator("[data-testid=checkout_btn]:not([aria-disabled])")
    order.wait_for()
    said = quote(page)
    panel = page.locator("#cart-sheet")
    shown = panel.locator("dl").evaluate_all("(lists) => lists.map((list) => list.textContent.replace(/\\s+/g, ' '))")
    for charge, label in zip(said["charges"], ["Service", "Delivery", "VAT (included)"], strict=True):
        assert f"{label}£{charge['amount'] / 100:.2f}" in shown[0]
    assert page.get_by_test_id("cart_total").text_content() == f"£{said['total'] / 100:.2f}"
    assert "Bacon, Cheese, Large" in panel.text_content() and violations(page) == []
    page.route("**/v1/cart/checkout", lambda route: (deliver_for(merchant, grill, 399), route.continue_()), times=1)
    order.click()
    panel.locator("[role=alert]", has_text="Prices have changed").wait_for()
    total = f"{(said['total'] + 100) / 100:.2f}"
    page.locator("[data-testid=checkout_btn]:not([aria-disabled])", has_text=total).click()
    page.wait_for_url("**/order/*")
    page.get_by_test_id("order_status").wait_for()
    document = merchant.json("ORDER.GET", page.url.rpartition("/")[2])
    assert document["total"] == said["total"] + 100
    assert "Delivery£3.99" in page.locator("main dl").first.text_content()


def test_a_group_opens_with_its_option_and_cannot_be_left_out(visit, merchant, grill):
    page = visit(f"/o/{grill}")
    page.locator("[data-item=meal] .add").click()
    sheet, add = page.locator("#item-sheet"), page.get_by_test_id("item_add_btn")
    fries = sheet.get_by_role("radio", name="Fries")
    fries.wait_for()
    assert fries.is_checked() and add.get_attribute("aria-disabled") is None
    sheet.get_by_role("radio", name="Salad").check()
    sheet.get_by_text("Choose 1: Dressing.").wait_for()
    add.click(force=True)
    assert cart(page) is None and sheet.is_visible()
    sheet.get_by_role("radio", name="Oil").check()
    assert "12.40" in add.text_content()
    add.click()
    wait_for_badge(page, 1)
    wait_for_cart(page, 1)
    assert [line["line"] for line in cart(page)["lines"]] == ["meal+oil+salad"]
    merchant("MENU.OPTION.SUSPEND", grill, "oil")
    page.locator("#cart-button").click()
    page.locator("#cart-sheet").get_by_text("Something in the cart cannot be had now.").wait_for()
    assert page.get_by_test_id("checkout_btn").get_attribute("aria-disabled") == "true"


def test_a_tip_is_what_was_tapped_or_typed(visit, merchant, grill):
    page = visit(f"/o/{grill}")
    page.locator("[data-item=meal] .add").click()
    page.get_by_test_id("item_add_btn").click()
    wait_for_cart(page, 1)
    page.locator("#cart-button").click()
    panel, total = page.locator("#cart-sheet"), page.get_by_test_id("cart_total")
    ordered = page.locator("[data-testid=checkout_btn]:not([aria-disabled])")
    ordered.wait_for()
    before = quote(page)["total"]
    tips = panel.get_by_role("group", name="Tip")
    assert tips.get_by_role("button", name="None").get_attribute("aria-pressed") == "true"

    def tipped(amount):
        ordered.filter(has_text=f"{(before + amount) / 100:.2f}").wait_for()
        said = quote(page)
        assert said["total"] == before + amount
        assert [charge["amount"] for charge in said["charges"] if charge["kind"] == "tip"] == ([amount] if amount else [])
        assert panel.locator("dt", has_text="Tip").count() == (1 if amount else 0)

    tips.get_by_role("button", name="10 %").click()
    assert f"{(before + 120) / 100:.2f}" in total.text_content(), "it counts at once"
    tipped(120)
    assert tips.get_by_role("button", name="10 %").get_attribute("aria-pressed") == "true"
    assert violations(page) == []
    field = tips.get_by_label("or another amount")
    assert field.input_value() == "1.20"
    for typed, amount in (("2.5", 250), ("-1", 250), ("", 250), ("0", 0), ("3", 300)):
        field.fill(typed)
        field.press("Enter")
        field.blur()
        tipped(amount)
    ordered.click()
    page.wait_for_url("**/order/*")
    page.locator("main dt", has_text="Tip").wait_for()
    charges = merchant.json("ORDER.GET", page.url.rpartition("/")[2])["charges"]
    assert [charge["amount"] for charge in charges if charge["kind"] == "tip"] == [300]


def test_a_line_is_changed_from_the_cart(visit, merchant, grill):
    page = visit(f"/o/{grill}")
    sheet, panel, done = page.locator("#item-sheet"), page.locator("#cart-sheet"), page.get_by_test_id("item_add_btn")
    page.locator("[data-item=burger] .add").click()
    sheet.get_by_role("radio", name="Small").check()
    sheet.get_by_role("checkbox", name="Bacon").check()
    sheet.get_by_label("One more", exact=True).click()
    sheet.get_by_label("Note for the kitchen").fill("no peas")
    done.click()
    wait_for_cart(page, 2)
    page.locator("#cart-button").click()
    panel.get_by_role("button", name="Change Burger").click()
    sheet.get_by_role("radio", name="Large").wait_for()
    assert sheet.get_by_role("radio", name="Small").is_checked()
    assert sheet.get_by_role("checkbox", name="Bacon").is_checked()
    assert sheet.get_by_label("Note for the kitchen").input_value() == "no peas"
    assert not sheet.get_by_label("One more", exact=True).is_visible(), "how many, the cart says"
    assert "item=" not in page.url
    assert violations(page) == []
    # What is gone meanwhile is taken out, and said.
    merchant("MENU.OPTION.SUSPEND", grill, "bacon")
    sheet.get_by_text("No longer there: Bacon.").wait_for()
    sheet.get_by_role("radio", name="Large").check()
    sheet.get_by_label("One Cheese more").click()
    sheet.get_by_label("One Cheese more").click()
    assert "25.00" in done.text_content(), "two of them, each with one free cheese and another"
    sheet.get_by_label("Note for the kitchen").fill("")
    done.click()
    panel.get_by_text("2 × Cheese, Large", exact=True).wait_for()
    wait_until(lambda: [(line["line"], line["quantity"], line["unitPrice"], line["note"]) for line in cart(page)["lines"]]
               == [("burger+cheese*2+large", 2, 1250, None)], "the changed line")
    assert sheet.is_hidden() and panel.is_visible()
    # It goes on in the cart, by the keyboard, too.
    page.wait_for_function("() => document.activeElement.dataset.focus === 'edit'")
    page.keyboard.press("Enter")
    sheet.get_by_role("radio", name="Large").wait_for()
    page.keyboard.press("Escape")
    sheet.wait_for(state="hidden")
    assert panel.is_visible()


def test_an_open_item_follows_its_extras(visit, merchant, grill):
    page = visit(f"/o/{grill}")
    page.locator("[data-item=burger] .add").click()
    sheet, add = page.locator("#item-sheet"), page.get_by_test_id("item_add_btn")
    sheet.get_by_role("radio", name="Small").check()
    for extra in ("Bacon", "Egg"):
        if extra == "Egg":
            merchant("MENU.OPTION.RESUME", grill, "egg")
            sheet.locator("[data-option=egg]:not([data-away])").wait_for()
        sheet.get_by_role("checkbox", name=extra).check()
    # The egg is free.
    assert "10.00" in add.text_content()
    merchant("MENU.OPTION.PRICE", grill, "bacon", 250)
    add.filter(has_text="10.50").wait_for()
    merchant("MENU.OPTION.SUSPEND", grill, "bacon")
    sheet.get_by_text("No longer there: Bacon.").wait_for()
    assert "8.00" in add.text_content() and add.get_attribute("aria-disabled") is None
    merchant("MENU.OPTION.RESUME", grill, "bacon")
    sheet.locator("[data-option=bacon]:not([data-away])").wait_for()
    assert not sheet.get_by_role("checkbox", name="Bacon").is_checked(), "nobody pays for what was taken out"
    extras = GROUPS[1]
    gone = {**extras, "options": [option for option in extras["options"] if option["id"] != "egg"]}
    merchant("MENU.GROUP.PUT", grill, "extras", json.dumps({key: gone[key] for key in gone if key != "id"}))
    sheet.get_by_text("No longer there: Egg.").wait_for()
    assert sheet.locator("[data-option=egg]").count() == 0
    assert violations(page) == []
    add.click()
    wait_for_cart(page, 1)
    assert [line["line"] for line in cart(page)["lines"]] == ["burger+small"]
