"""Orders in a customer's browser: where they are found again, what their page says, and what lies above a page."""

import json
import re

from site_under_test import cart, put_kitchen, violations, wait_for_badge, wait_for_cart
from tiffin import outlet_document


def put_cafe(merchant, outlet, **changes):
    put_kitchen(merchant, outlet)
    details = {"name": "Café Ā", "address": "12 Mill Road", "timeZone": "Asia/Kolkata", "acceptWithin": 600, "prepMinutes": 20}
    merchant("OUTLET.PUT", outlet, json.dumps(outlet_document(**{**details, **changes})))


def order(page, item="lunch0"):
    page.locator(f"[data-item={item}] .add").click()
    wait_for_badge(page, 1)
    page.locator("#cart-button").click()
    page.locator("[data-testid=checkout_btn]:not([aria-disabled])").click()
    page.wait_for_url("**/order/*")
    return page.url.rpartition("/")[2]


def test_an_open_order_is_one_tap_away_and_nobody_elses(visit, merchant, name):
    put_cafe(merchant, name)
    page = visit(f"/o/{name}", clock=True)
    strip = page.get_by_test_id("open_orders")
    assert strip.is_hidden()
    other_tab = page.context.new_page()
    other_tab.goto(page.url)
    first = order(page)
    other_tab.get_by_test_id("open_orders").filter(has_text="Sent to the kitchen").wait_for()
    other_tab.close()
    number = page.locator("h1").text_content().removeprefix("Order ")
    assert number == f"#{first[-8:-4]}"
    for path in (f"/o/{name}", "/discover"):
        page.goto(page.url.partition("/o")[0] + path)
        strip.filter(has_text=f"Order {number}: Sent to the kitchen").wait_for()
        page.locator("h1").wait_for(state="attached")
    assert violations(page) == []
    strip.click()
    page.wait_for_url(f"**/order/{first}")
    page.go_back()
    customer = merchant.json("ORDER.GET", first)["customer"]
    for place in range(22):
        merchant("CART.ADD", f"{name}-{place}", name, "lunch1", 1, "CUSTOMER", customer)
        merchant("CART.CHECKOUT", f"{name}-{place}", "TOTAL", 1010, "CUSTOMER", customer)
    page.reload()
    strip.filter(has_text="23 open orders").click()
    rows = page.get_by_test_id("orders").locator("li")
    rows.nth(19).wait_for()
    assert rows.count() == 20 and violations(page) == []
    page.get_by_role("button", name="Show more").click()
    page.locator(f"a[href='/order/{first}']").wait_for()
    assert rows.count() == 23 and page.get_by_role("button", name="Show more").is_hidden()
    merchant("ORDER.READY", first)
    newest = page.locator("[data-testid=orders] a").first.get_attribute("href").rpartition("/")[2]
    merchant("ORDER.READY", newest)
    page.clock.fast_forward(10_000)
    rows.first.get_by_text("Ready").wait_for()
    other = visit("/orders")
    other.locator(".blank", has_text="You have not ordered anything yet").wait_for()
    assert other.get_by_test_id("open_orders").is_hidden()


def test_an_order_says_where_it_is_how_long_it_takes_and_what_was_given_back(visit, merchant, name):
    put_cafe(merchant, name)
    page = visit(f"/o/{name}", timezone_id="America/New_York")
    placed = order(page)
    place = page.get_by_role("link", name="Café Ā")
    place.wait_for()
    assert place.get_attribute("href") == f"/o/{name}" and page.get_by_text("12 Mill Road").count() == 1
    due = page.get_by_test_id("order_due")
    assert re.search(r"Ready in about (19|20) min, at \d\d:\d\d", due.text_content())
    # It is half past there when it is o'clock here.
    promised = merchant.json("ORDER.GET", placed)["promisedFor"]
    minutes = (int(promised[14:16]) + 30) % 60
    assert re.search(rf":{minutes:02d}", due.text_content())
    merchant("ORDER.READY", placed)
    page.get_by_test_id("order_status").filter(has_text="Ready").wait_for()
    assert due.text_content() == "" and page.get_by_role("button", name="Cancel the order").is_hidden()
    merchant("ORDER.REFUND", placed, "AMOUNT", 250, "CODE", "OTHER")
    page.get_by_test_id("order_refunded").filter(has_text="2.50").wait_for()
    assert violations(page) == []


def test_an_order_is_cancelled_only_if_that_is_wanted(visit, merchant, name):
    put_cafe(merchant, name)
    page = visit(f"/o/{name}")
    placed = order(page)
    cancel = page.get_by_role("button", name="Cancel the order")
    question = page.get_by_role("dialog", name="Cancel this order?")
    cancel.click()
    assert violations(page) == []
    question.get_by_role("button", name="Keep it").click()
    question.wait_for(state="detached")
    assert merchant.json("ORDER.GET", placed)["status"] == "placed"
    cancel.click()
    question.get_by_role("button", name="Cancel the order").click()
    page.get_by_test_id("order_status").filter(has_text="Cancelled").wait_for()
    assert cancel.is_hidden()
    assert merchant.json("ORDER.GET", placed)["ending"]["by"] == "customer"


def test_an_order_can_be_had_again_but_for_what_is_gone(visit, merchant, name):
    put_cafe(merchant, name)
    put_kitchen(merchant, f"{name}-other")
    page = visit(f"/o/{name}")
    for item in ("lunch0", "lunch1", "sweet0"):
        page.locator(f"[data-item={item}] .add").click()
    page.locator("[data-item=lunch0] .add").click()
    wait_for_cart(page, 4)
    page.locator("#cart-button").click()
    page.locator("[data-testid=checkout_btn]:not([aria-disabled])").click()
    page.wait_for_url("**/order/*")
    placed = page.url
    merchant("MENU.ITEM.PRICE", name, "lunch0", 2000)
    merchant("MENU.ITEM.SUSPEND", name, "lunch1")
    merchant("MENU.ITEM.REMOVE", name, "sweet0")
    page.goto(placed.partition("/order/")[0] + f"/o/{name}-other")
    page.locator("[data-item=lunch1] .add").click()
    wait_for_cart(page, 1)
    page.goto(placed)
    page.get_by_role("button", name="Order again").click()
    page.get_by_role("dialog", name="Your cart has items of another place.").get_by_role("button", name="Empty it").click()
    page.get_by_role("alert").filter(has_text="This cannot be had now: Lunch 1, Sweet 0.").wait_for()
    page.get_by_test_id("cart_total").filter(has_text="40.00").wait_for()
    assert [(line["item"], line["quantity"]) for line in cart(page)["lines"]] == [("lunch0", 2)]
    assert violations(page) == []
    merchant("OUTLET.CLOSE", name)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Order again").click()
    page.locator(".toast", has_text="The place takes no orders now").wait_for(state="attached")


def test_the_page_of_an_order_opens_without_a_server(visit, merchant, name):
    put_cafe(merchant, name)
    page = visit(f"/o/{name}")
    page.evaluate("() => navigator.serviceWorker.ready")
    placed = order(page)
    old = page.get_by_text("Not up to date")
    page.locator("h1", has_text=placed[-8:-4]).wait_for()
    page.context.set_offline(True)
    page.reload()
    old.wait_for()
    page.locator("h1", has_text=placed[-8:-4]).wait_for()
    assert page.get_by_text("Lunch 0").is_visible() and violations(page) == []
    page.context.set_offline(False)
    old.wait_for(state="hidden")
    merchant("ORDER.READY", placed)
    page.get_by_test_id("order_status").filter(has_text="Ready").wait_for()


def test_back_closes_whatever_lies_above_the_page(visit, merchant, name):
    put_cafe(merchant, name)
    page = visit(f"/o/{name}")
    page.locator("[data-item=lunch0] .add").click()
    wait_for_cart(page, 1)
    panel, sheet = page.locator("#cart-sheet"), page.locator("#item-sheet")
    question = page.get_by_role("dialog", name="Empty the cart?")
    home = page.url
    for above, button in ((question, "Empty the cart"), (sheet, "Change Lunch 0")):
        page.locator("#cart-button").click()
        panel.get_by_role("button", name=button).click()
        above.wait_for()
        page.go_back()
        above.wait_for(state="hidden")
        assert panel.is_visible()
        page.go_back()
        panel.wait_for(state="hidden")
        page.wait_for_function("() => document.activeElement.id === 'cart-button'")
        assert page.url == home and cart(page)["count"] == 1
    # What is closed otherwise leaves nothing behind in the history, however fast.
    length = page.evaluate("() => history.length")
    for _ in range(3):
        page.locator("#cart-button").click()
        panel.get_by_role("button", name="Empty the cart").click()
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
    page.wait_for_function("() => history.state === null")
    assert page.evaluate("() => history.length") <= length + 2
    # Neither does a reload, and forward opens an item again.
    page.locator("#cart-button").click()
    page.wait_for_function("() => history.state?.depth === 1")
    page.reload()
    page.wait_for_function("() => history.state === null")
    page.locator("[data-item=lunch0] .open").click()
    sheet.wait_for()
    page.go_back()
    sheet.wait_for(state="hidden")
    page.go_forward()
    sheet.wait_for()
    page.wait_for_function("() => location.search === '?item=lunch0'")
    page.keyboard.press("Escape")
    page.wait_for_url(home)


LONG_WORD = "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetzentwurf"
NAMES = [LONG_WORD, "مطعم الكباب المشوي على الفحم", "מסעדת הדגים הגדולה", "කොත්තු රොටි කඩය", "இட்லி தோசை உணவகம்", "北京烤鸭大饭店的招牌菜"]


def test_names_of_all_scripts_fit_on_the_narrowest_screen(visit, site, merchant, name):
    put_cafe(merchant, name, name=f"{LONG_WORD} {NAMES[1]}")
    for place, text in enumerate(NAMES):
        merchant("MENU.ITEM.PUT", name, "lunch", f"lunch{place}", json.dumps(
            {"id": f"lunch{place}", "kind": "menuItem", "name": text, "price": 1000, "attributes": {"allergens": [LONG_WORD]}}))
    narrow = {"viewport": {"width": 320, "height": 700}, "reduced_motion": "reduce"}
    page = visit(f"/o/{name}", **narrow)

    def fits(where, shown):
        shown.first.wait_for()
        wide = where.evaluate("""() => [document.documentElement, ...document.querySelectorAll("dialog[open]")]
            .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).map((node) => node.id || node.tagName)""")
        assert wide == [] and violations(where) == []

    for place in range(len(NAMES)):
        page.locator(f"[data-item=lunch{place}] .add").click()
    wait_for_cart(page, len(NAMES))
    fits(page, page.locator("h1"))
    page.locator("[data-item=lunch0] .open").click()
    fits(page, page.locator("#item-sheet").get_by_text(LONG_WORD))
    page.go_back()
    page.locator("#cart-button").click()
    fits(page, page.locator("[data-testid=checkout_btn]:not([aria-disabled])"))
    page.locator("[data-testid=checkout_btn]").click()
    page.wait_for_url("**/order/*")
    fits(page, page.locator(".line", has_text=NAMES[5]))
    page.goto(page.url.partition("/order/")[0] + "/orders")
    fits(page, page.get_by_test_id("orders").locator("li"))
    board = visit(f"/kitchen/{name}", origin=site.console, **narrow)
    fits(board, board.locator(".order", has_text=NAMES[5]))
    board.get_by_role("button", name="Sold out", exact=True).click()
    fits(board, board.get_by_test_id("stock").get_by_text(LONG_WORD))
