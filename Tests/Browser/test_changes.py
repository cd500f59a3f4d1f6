"""Changes of a placed order in a browser: what customer and kitchen see of them, and how they are answered."""

import json

from site_under_test import violations
from test_kitchen import UNDO, open_board
from test_later import moment, put_bistro
from test_merchant import open_page
from test_orders import put_cafe
from tiffin import run_tiffin, wait_until


def place_in_store(visit, name, *items, missing=None):
    """Orders these items in the store; answers the order's page, and its id."""
    page = visit(f"/o/{name}")
    for item in items:
        page.locator(f"[data-item={item}] .add").click()
    page.locator("#cart-button").click()
    if missing:
        page.get_by_label("If something is missing").select_option(label=missing)
    page.locator("[data-testid=checkout_btn]:not([aria-disabled])").click()
    page.wait_for_url("**/order/*")
    page.get_by_test_id("order_status").get_by_text("Sent to the kitchen").wait_for()
    return page, page.url.rpartition("/")[2]


def propose(merchant, order, *lines):
    merchant("ORDER.CHANGE", order, json.dumps({"lines": list(lines)}), "BY", "merchant")


def test_a_customer_sees_both_bills_of_a_change_and_agrees_or_not(visit, merchant, name):
    put_cafe(merchant, name)
    merchant("MENU.ITEM.PUT", name, "lunch", "lunch2", json.dumps(
        {"id": "lunch2", "kind": "menuItem", "name": "<b>Tart</b>", "price": 900}))
    page, order = place_in_store(visit, name, "lunch0", "lunch1")
    proposal = page.get_by_test_id("proposal")
    assert proposal.is_hidden() and page.get_by_test_id("order_history").is_hidden()
    page.evaluate("() => { window.isTheSame = true; }")
    propose(merchant, order, {"line": "lunch0", "by": {"item": "lunch2", "quantity": 1}})
    proposal.get_by_text("1 × <b>Tart</b> in place of Lunch 0").wait_for()
    rows = proposal.locator("tbody tr")
    shown = [[cell.replace("\xa0", " ") for cell in row.locator("th, td").all_text_contents()] for row in rows.all()]
    assert shown == [
        ["Lunch 0", "1 × LKR 10.00", "–"], ["Lunch 1", "1 × LKR 10.10", "1 × LKR 10.10"],
        ["<b>Tart</b>", "–", "1 × LKR 9.00"], ["Total", "LKR 20.10", "LKR 19.10"]]
    assert proposal.locator("[data-changed]").count() == 3
    assert violations(page) == []
    # Whoever leaves it goes on with what was ordered; it is answered with the keyboard.
    proposal.get_by_role("button", name="Leave it as it is").press("Enter")
    proposal.wait_for(state="hidden")
    assert page.evaluate("() => document.activeElement.tagName") == "H1"
    page.get_by_test_id("order_history").get_by_text("Declined: ").wait_for()
    propose(merchant, order, {"line": "lunch1", "quantity": 0})
    proposal.get_by_role("button", name="Agree to LKR\xa010.00").press("Enter")
    proposal.wait_for(state="hidden")
    page.get_by_text("Agreed: 1 × Lunch 1 is taken out. LKR\xa020.10 → LKR\xa010.00").wait_for()
    assert merchant.json("ORDER.GET", order)["total"] == 1000
    # A promise that moves says how and why.
    merchant("ORDER.DELAY", order, "READY", moment(1, "09:00"), "REASON", "one <i>oven</i> is cold")
    page.get_by_test_id("order_history").get_by_text("one <i>oven</i> is cold").wait_for()
    assert page.evaluate("() => window.isTheSame") and violations(page) == []


def ask_for_less(page, card, board):
    """A customer takes back a change that they have asked for, and asks for another, to which the kitchen agrees."""
    own = page.get_by_test_id("proposal")
    form = page.get_by_role("dialog", name="What do you want of this order?")

    def ask(line, left):
        page.get_by_role("button", name="Change the order").press("Enter")
        form.get_by_label(line).select_option(label=left)
        form.get_by_role("button", name="Ask for the change").press("Enter")
        own.get_by_text("You ask to change the order.").wait_for()
        assert page.evaluate("() => document.activeElement.textContent") == "Take it back"

    page.get_by_role("button", name="Change the order").click()
    form.wait_for()
    assert violations(page) == []
    form.get_by_role("button", name="Ask for the change").click()
    form.get_by_role("alert").get_by_text("Say first of what there is to be less.").wait_for()
    page.go_back()
    card.get_by_role("button", name="Ticket").wait_for()
    ask("Lunch 1", "none")
    card.get_by_text("The customer asks for a change").wait_for()
    # It stands out, as what was changed does.
    assert card.get_attribute("data-changed") == "" and violations(board) == []
    own.get_by_role("button", name="Take it back").press("Enter")
    own.wait_for(state="hidden")
    ask("Lunch 0", "2 of 3")
    card.get_by_role("button", name="Agree").click()
    board.clock.fast_forward(UNDO)
    page.get_by_text("Agreed: 2 × Lunch 0 in place of 3.").wait_for()
    card.get_by_role("button", name="Seen").click()
    board.clock.fast_forward(UNDO)
    card.get_by_test_id("changed").wait_for(state="hidden")


def test_a_kitchen_says_what_is_missing_and_sees_what_became_of_it(visit, site, merchant, name):
    put_cafe(merchant, name)
    page, order = place_in_store(visit, name, "lunch0", "lunch0", "lunch0", "lunch1")
    board = open_board(visit, site, name)
    card = board.locator(f"[data-order='{order}']")
    ask_for_less(page, card, board)
    card.get_by_role("button", name="Missing").click()
    form = board.get_by_role("dialog", name="What is there of this order?")
    form.get_by_text("The customer is asked.").wait_for()
    assert violations(board) == []
    submit = form.get_by_role("button", name="Change the order")
    submit.click()
    form.get_by_role("alert").get_by_text("Say first of what there is to be less.").wait_for()
    form.get_by_label("Lunch 0").select_option(label="none")
    form.get_by_label("Lunch 1").select_option(label="none")
    submit.click()
    form.get_by_role("alert").get_by_text("Nothing would be left").wait_for()
    form.get_by_label("Lunch 0").select_option(label="1 of 2")
    form.get_by_label("Lunch 1").select_option(label="1 of 1")
    submit.press("Enter")
    card.get_by_role("button", name="Undo").wait_for()
    board.clock.fast_forward(UNDO)
    asked = card.get_by_test_id("proposal")
    asked.get_by_text("1 × Lunch 0 in place of 2").wait_for()
    # It can be accepted, and is not cooked.
    card.get_by_role("button", name="Accept").click()
    board.clock.fast_forward(UNDO)
    wait_until(lambda: merchant.json("ORDER.GET", order)["status"] == "accepted", "the tap")
    card.get_by_role("button", name="Start cooking").wait_for(state="hidden")
    assert violations(board) == []
    page.get_by_role("button", name="Agree to").click()
    changed = card.get_by_test_id("changed")
    changed.get_by_text("1 × Lunch 0 in place of 2").wait_for()
    assert card.get_attribute("data-changed") == "" and asked.is_hidden() and violations(board) == []
    changed.get_by_role("button", name="Seen").press("Enter")
    board.clock.fast_forward(UNDO)
    changed.wait_for(state="hidden")
    wait_until(lambda: merchant.json("KITCHEN", name)["orders"][0].get("changes") is None, "the note")
    # A delay has a reason.
    card.get_by_role("button", name="Later").click()
    board.get_by_label("Why, for the customer").fill("the oven is cold")
    board.get_by_role("button", name="10 minutes").click()
    card.get_by_role("button", name="Undo").wait_for()
    board.clock.fast_forward(UNDO)
    page.get_by_test_id("order_history").get_by_text("the oven is cold").wait_for()


def test_what_was_agreed_beforehand_is_done_at_once(visit, site, merchant, name):
    put_cafe(merchant, name)
    page, order = place_in_store(visit, name, "lunch0", "lunch1", missing="Leave it out")
    board = open_board(visit, site, name)
    card = board.locator(f"[data-order='{order}']")
    card.get_by_role("button", name="Missing").click()
    board.get_by_text("The customer wants what is missing to be left out.").wait_for()
    board.get_by_role("dialog").get_by_label("Lunch 1").select_option(label="none")
    board.get_by_role("button", name="Change the order").click()
    card.get_by_role("button", name="Undo").wait_for()
    board.clock.fast_forward(UNDO)
    card.get_by_test_id("changed").get_by_text("1 × Lunch 1 is taken out").wait_for()
    page.get_by_text("Agreed: 1 × Lunch 1 is taken out.").wait_for()
    assert page.get_by_test_id("proposal").is_hidden()
    # What it cost less is in the takings, as the command prints them.
    takings = open_page(visit, site, f"#day?outlet={name}")
    row = takings.locator("table.takings").first.locator("tr").last
    assert row.locator("td").nth(2).text_content() == "-LKR\xa010.10"
    with takings.expect_download() as saved:
        takings.get_by_role("button", name="Save as CSV").click()
    days = [takings.get_by_label(label).input_value() for label in ("From", "Until")]
    printed = run_tiffin("takings", name, "--from", days[0], "--until", days[1], "--csv", "--server", f"127.0.0.1:{site.server.port}")
    assert saved.value.path().read_text() == printed.stdout


def test_planned_orders_are_listed_by_when_the_board_shows_them(visit, site, merchant, name):
    put_bistro(merchant, name)
    orders = []
    for place, hour in enumerate(("12:00", "09:00")):
        merchant("CART.ADD", f"{name}-{place}", name, "lunch0", 1, "FOR", moment(1, hour))
        orders.append(merchant("CART.CHECKOUT", f"{name}-{place}", "TOTAL", 1000).decode())
    board = open_board(visit, site, name)
    board.get_by_role("button", name="Planned").click()
    rows = board.get_by_test_id("planned").locator("summary")
    rows.nth(1).wait_for()
    assert [text.split(",")[0] for text in rows.all_text_contents()] == [f"#{order[-8:-4]}" for order in reversed(orders)]
    assert "08:40" in rows.first.text_content() and "09:00" in rows.first.text_content()
    rows.first.click()
    board.get_by_test_id("planned").get_by_text("1 × Lunch 0").wait_for()
    assert violations(board) == []
