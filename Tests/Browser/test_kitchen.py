"""The kitchen's board in a browser."""

import json
import re

from site_under_test import PATIENCE, put_kitchen, violations, wait_for_cart
from tiffin import outlet_document, wait_until


def test_an_order_of_the_store_goes_through_the_kitchen_a_tap_a_step(visit, site, merchant, name):
    put_kitchen(merchant, name)
    merchant("OUTLET.PUT", name, json.dumps(outlet_document(prepMinutes=20, acceptWithin=600)))
    board = visit(f"/kitchen/{name}", origin=site.console, viewport={"width": 1180, "height": 800})
    board.locator("[data-testid=order_count]", has_text="Nothing to do").wait_for()

    store = visit(f"/o/{name}")
    store.locator("[data-item=lunch0] .open").click()
    store.get_by_label("Note for the kitchen").fill("no peas")
    store.get_by_test_id("item_add_btn").click()
    wait_for_cart(store, 1)
    store.locator("#cart-button").click()
    store.locator("[data-testid=checkout_btn]:not([aria-disabled])").click()
    store.wait_for_url("**/order/*")
    order = store.url.rpartition("/")[2]

    card = board.locator(f"[data-order='{order}']")
    card.get_by_text("no peas").wait_for()
    # Time passes meanwhile.
    assert re.search("in (1[0-9]|20) min", card.locator(".due").text_content())
    assert violations(board) == []
    before = merchant.json("ORDER.GET", order)["promisedFor"]
    card.get_by_role("button", name="10 minutes later").click()
    card.locator(".due", has_text=re.compile("in (2[1-9]|30) min")).wait_for()
    assert merchant.json("ORDER.GET", order)["promisedFor"] >= before
    steps = {"Accept": "Accepted", "Start cooking": "Being prepared", "It is ready": "Ready", "Handed over": "Done"}
    for step, seen in steps.items():
        card.get_by_role("button", name=step).click()
        store.locator("[data-testid=order_status]", has_text=seen).wait_for()
    wait_until(lambda: card.count() == 0, PATIENCE, "the order to leave the board")


def test_a_rejected_order_says_why_to_its_customer(visit, site, merchant, name):
    put_kitchen(merchant, name)
    merchant("OUTLET.PUT", name, json.dumps(outlet_document(acceptWithin=600)))
    store = visit(f"/o/{name}")
    store.locator("[data-item=lunch0] .add").click()
    wait_for_cart(store, 1)
    store.locator("#cart-button").click()
    store.locator("[data-testid=checkout_btn]:not([aria-disabled])").click()
    store.wait_for_url("**/order/*")
    board = visit(f"/kitchen/{name}", origin=site.console)
    board.get_by_role("button", name="Reject").click()
    assert violations(board) == []
    board.locator("dialog select").select_option("BUSY")
    board.get_by_role("button", name="Reject").last.click()
    store.locator("[data-testid=order_status]", has_text="the kitchen has too much to do").wait_for()
    board.locator("[data-testid=order_count]", has_text="Nothing to do").wait_for()


def test_an_order_that_is_cooked_without_its_money_says_so(visit, site, merchant, name):
    put_kitchen(merchant, name)
    merchant("OUTLET.PUT", name, json.dumps(outlet_document(acceptWithin=600, payment="first")))
    merchant("CART.ADD", name, name, "lunch0", 1)
    total = merchant.json("CART.QUOTE", name)["total"]
    order = merchant("CART.CHECKOUT", name, "TOTAL", total).decode()
    merchant("ORDER.PAYMENT", order, "a1", "authorised", total)
    merchant("ORDER.PREPARE", order)
    board = visit(f"/kitchen/{name}", origin=site.console)
    card = board.locator(f"[data-order='{order}']")
    card.wait_for()
    assert not card.get_by_test_id("uncovered").is_visible()
    merchant("ORDER.PAYMENT", order, "v1", "voided", 1, "OF", "a1")
    card.get_by_text("Not paid").wait_for()
    assert violations(board) == []
    merchant("ORDER.PAYMENT", order, "a2", "authorised", 1)
    card.get_by_text("Not paid").wait_for(state="hidden")
