"""A customer has themselves forgotten in the store."""

import json

from site_under_test import badge, cart, violations, wait_for_badge, wait_for_cart
from tiffin import wait_until

NOTE = "no peas, it is Asha's birthday"
ERASED = "[erased]"


def put_in_cart(page, item="lunch0", note=NOTE):
    page.locator(f"[data-item={item}] .open").click()
    page.get_by_label("Note for the kitchen").fill(note)
    page.locator("[data-testid=item_add_btn]:not([aria-disabled])").click()
    wait_for_badge(page, 1)
    wait_for_cart(page, 1)


def order(page):
    """Orders what is in the cart, and answers the id of the order."""
    page.locator("#cart-button").click()
    page.locator("[data-testid=checkout_btn]:not([aria-disabled])").click()
    page.wait_for_url("**/order/*")
    return page.url.rpartition("/")[2]


def said(page, text):
    page.get_by_role("status").filter(has_text=text).wait_for()


def ask(page):
    """Opens the question with the keyboard, and answers its dialog."""
    button = page.get_by_role("button", name="Forget me", exact=True)
    button.focus()
    page.keyboard.press("Enter")
    question = page.get_by_role("dialog", name="Forget me?")
    question.wait_for()
    return question


def test_a_customer_is_forgotten_once_they_have_said_so(visit, merchant, kitchen):
    page = visit(f"/o/{kitchen}", reduced_motion="reduce")
    put_in_cart(page)
    number = order(page)
    page.locator(".line", has_text=NOTE).wait_for()

    question = ask(page)
    words = question.text_content()
    assert "notes for the kitchen" in words and "orders stay" in words and "cannot be undone" in words
    texts = question.get_attribute("aria-describedby").split()
    assert len(texts) == 3 and all(page.locator(f"#{text}").count() == 1 for text in texts)
    assert violations(page) == []
    page.keyboard.press("Escape")
    question.wait_for(state="detached")
    assert page.evaluate("() => document.activeElement.id") == "forget"
    assert merchant.json("ORDER.GET", number)["lines"][0]["note"] == NOTE

    ask(page).get_by_role("button", name="Forget me for good").press("Enter")
    said(page, "You are forgotten. Nobody can read what you wrote any more.")
    assert page.evaluate("() => document.activeElement.id") == "forget"
    assert violations(page) == []
    # The order and its amounts are still there, but its note is nowhere, and the page is somebody else's.
    document = merchant.json("ORDER.GET", number)
    assert (document["lines"][0]["note"], document["total"]) == (ERASED, 1000)
    page.locator(".blank", has_text="There is no such order").wait_for()
    assert page.get_by_text(NOTE).count() == 0
    assert page.evaluate("async () => (await (await fetch('/v1/orders')).json())")["orders"] == []


def test_whoever_is_forgotten_goes_on_as_somebody_new(visit, merchant, kitchen):
    page = visit(f"/o/{kitchen}")
    put_in_cart(page)
    before = cart(page)["cart"]
    ask(page).get_by_role("button", name="Forget me for good").click()
    said(page, "You are forgotten.")
    assert merchant.json("CART.GET", before)["lines"][0]["note"] == ERASED
    assert badge(page) == 0 and cart(page) is None
    # The page is live as before, and so is the new cart.
    merchant("MENU.ITEM.PRICE", kitchen, "lunch1", 4321)
    page.locator("[data-item=lunch1] .money", has_text="43.21").wait_for()
    put_in_cart(page, "lunch1", "hot")
    assert cart(page)["cart"] != before and cart(page)["lines"][0]["note"] == "hot"
    assert page.locator("#banner").is_hidden()
    # Another page of the browser hears of the new cart, too.
    other = page.context.new_page()
    other.goto(page.url)
    wait_for_badge(other, 1)


def test_why_somebody_is_not_forgotten_is_said_and_they_can_try_again(visit, kitchen):
    page = visit(f"/o/{kitchen}")
    put_in_cart(page)
    problem = {"status": 503, "code": "UNAVAILABLE", "detail": "the database does not answer"}
    answers = [
        (lambda route: route.fulfill(status=503, content_type="application/problem+json", body=json.dumps(problem)),
         "You are not forgotten. The database does not answer."),
        (lambda route: route.abort(), "No answer came. Try again"),
    ]
    for answer, text in answers:
        page.route("**/v1/me", answer)
        ask(page).get_by_role("button", name="Forget me for good").click()
        said(page, text)
        assert badge(page) == 1 and cart(page)["lines"][0]["note"] == NOTE
        page.unroute("**/v1/me")
    ask(page).get_by_role("button", name="Forget me for good").click()
    said(page, "You are forgotten.")
    wait_for_badge(page, 0)


def test_what_waits_to_be_sent_is_left_behind(visit, kitchen):
    page = visit(f"/o/{kitchen}")
    put_in_cart(page)
    held = []
    page.route("**/v1/cart/lines", lambda route: held.append(route))
    page.locator("[data-item=lunch1] .add").click()
    wait_until(lambda: (page.evaluate("() => 1"), held)[1], "the request")
    page.locator("[data-item=lunch2] .add").click()
    ask(page).get_by_role("button", name="Forget me for good").click()
    said(page, "You are forgotten.")
    assert badge(page) == 0
    for route in held:
        route.abort()
    page.unroute("**/v1/cart/lines")
    put_in_cart(page, "lunch3", "hot")
    assert [line["item"] for line in cart(page)["lines"]] == ["lunch3"]
