"""The kitchen's board in a browser."""

import json
import re

import pytest
from site_under_test import put_kitchen, use_scheme, violations, wait_for_cart
from tiffin import outlet_document, wait_until


# As long as a tap can be undone, and a little more, in milliseconds.
UNDO = 5100


def open_board(visit, site, name):
    return visit(f"/kitchen/{name}", origin=site.console, clock=True, viewport={"width": 1180, "height": 800})


def put_bistro(merchant, name, **details):
    put_kitchen(merchant, name)
    merchant("OUTLET.PUT", name, json.dumps(outlet_document(**{"prepMinutes": 20, "acceptWithin": 600, **details})))


def place(merchant, outlet, cart, *lines, **texts):
    """An order of these lines, as `(item, quantity)`, by the line protocol."""
    for item, quantity in lines or [("lunch0", 1)]:
        merchant("CART.ADD", cart, outlet, item, quantity, "CUSTOMER", f"c-{cart}")
    total = merchant.json("CART.QUOTE", cart)["total"]
    words = [word for key, text in texts.items() for word in (key.upper(), text)]
    return merchant("CART.CHECKOUT", cart, "TOTAL", total, "CUSTOMER", f"c-{cart}", *words).decode()


def test_an_order_of_the_store_goes_through_the_kitchen_a_tap_a_step(visit, site, merchant, name):
    put_kitchen(merchant, name)
    merchant("OUTLET.PUT", name, json.dumps(outlet_document(prepMinutes=20, acceptWithin=600)))
    board = open_board(visit, site, name)
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
    card.get_by_role("button", name="Later").click()
    assert violations(board) == []
    board.get_by_role("button", name="10 minutes").click()
    card.get_by_role("button", name="Undo").wait_for()
    board.clock.fast_forward(UNDO)
    card.locator(".due", has_text=re.compile("in (2[1-9]|30) min")).wait_for()
    assert merchant.json("ORDER.GET", order)["promisedFor"] >= before
    steps = {"Accept": "Accepted", "Start cooking": "Being prepared", "It is ready": "Ready", "Handed over": "Done"}
    for step, seen in steps.items():
        card.get_by_role("button", name=step).click()
        card.get_by_role("button", name="Undo").wait_for()
        board.clock.fast_forward(UNDO)
        store.locator("[data-testid=order_status]", has_text=seen).wait_for()
    card.wait_for(state="detached")
    board.get_by_role("button", name="Handed over").click()
    row = board.get_by_test_id("handed_over").locator("details")
    row.click()
    row.get_by_text("1 × Lunch 0, no peas").wait_for()
    assert violations(board) == []


def test_a_rejected_order_says_why_to_its_customer(visit, site, merchant, name):
    put_kitchen(merchant, name)
    merchant("OUTLET.PUT", name, json.dumps(outlet_document(acceptWithin=600)))
    store = visit(f"/o/{name}")
    store.locator("[data-item=lunch0] .add").click()
    wait_for_cart(store, 1)
    store.locator("#cart-button").click()
    store.locator("[data-testid=checkout_btn]:not([aria-disabled])").click()
    store.wait_for_url("**/order/*")
    board = open_board(visit, site, name)
    board.get_by_role("button", name="Reject").click()
    assert violations(board) == []
    board.locator("dialog select").select_option("BUSY")
    board.get_by_label("In your words").fill("the oven is cold")
    board.get_by_role("button", name="Reject").last.click()
    board.get_by_role("button", name="Undo").wait_for()
    board.clock.fast_forward(UNDO)
    store.locator("[data-testid=order_status]", has_text="Rejected: the oven is cold").wait_for()
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


# Counts the tones that are made.
COUNT_TONES = """() => {
    window.tones = 0;
    window.OscillatorNode = class extends OscillatorNode {
        constructor(...all) {
            super(...all);
            window.tones += 1;
        }
    };
}"""


def tones(board):
    return board.evaluate("() => window.tones")


@pytest.mark.parametrize("wait, step", [(600, "Accept"), (0, "Noted")])
def test_a_new_order_rings_until_somebody_takes_note(visit, site, merchant, name, wait, step):
    put_bistro(merchant, name, acceptWithin=wait)
    board = open_board(visit, site, name)
    board.evaluate(COUNT_TONES)
    silent = board.get_by_role("button", name="Tap here")
    silent.click()
    silent.wait_for(state="hidden")
    number = place(merchant, name, name)
    card = board.locator(f"[data-order='{number}'][data-new]")
    card.get_by_text("New order").wait_for()
    assert violations(board) == []
    wait_until(lambda: tones(board) == 2, "the bell")
    for rings in (4, 6):
        board.clock.fast_forward(10_000)
        wait_until(lambda rings=rings: tones(board) == rings, "the bell again")
    card.get_by_role("button", name=step).click()
    card.wait_for(state="detached")
    board.clock.fast_forward(60_000)
    assert tones(board) == 6
    # Both are remembered: the sound, and who was seen.
    board.reload()
    board.locator(f"[data-order='{number}']:not([data-new])").wait_for()
    assert board.get_by_role("button", name="Sound", pressed=True).count() == 1


def test_what_is_tapped_without_a_connection_is_sent_once_each(visit, site, merchant, name):
    put_bistro(merchant, name)
    orders = [place(merchant, name, f"{name}-{n}") for n in range(5)]
    board = open_board(visit, site, name)
    cards = [board.locator(f"[data-order='{order}']") for order in orders]
    cards[4].wait_for()
    board.context.set_offline(True)
    board.evaluate("() => dispatchEvent(new Event('offline'))")
    for step in ("Accept", "Start cooking"):
        for card in cards:
            card.get_by_role("button", name=step).click()
    board.clock.fast_forward(30_000)
    board.locator("#banner", has_text=re.compile(r"No connection. This is the board of \d\d:\d\d.*10 taps wait")).wait_for()
    cards[0].get_by_text("Cooking: waits to be sent").wait_for()
    assert violations(board) == []
    board.context.set_offline(False)
    board.clock.fast_forward(30_000)
    for order in orders:
        wait_until(lambda order=order: merchant.json("ORDER.GET", order)["status"] == "preparing", "the taps")
        assert merchant.json("ORDER.GET", order)["version"] == 3
    board.locator("#banner").wait_for(state="hidden")


def test_a_tap_is_sent_even_if_the_board_has_not_heard_of_the_one_before(visit, site, merchant, name):
    put_bistro(merchant, name)
    number = place(merchant, name, name)
    board = open_board(visit, site, name)
    card = board.locator(f"[data-order='{number}']")
    card.wait_for()
    board.route("**/v1/stream*", lambda route: route.abort("connectionreset"))
    board.evaluate("() => dispatchEvent(new Event('online'))")
    for step, status in (("Accept", "accepted"), ("Start cooking", "preparing")):
        card.get_by_role("button", name=step).click()
        card.get_by_role("button", name="Undo").wait_for()
        board.clock.fast_forward(UNDO)
        wait_until(lambda status=status: merchant.json("ORDER.GET", number)["status"] == status, status)


def test_a_tap_can_be_undone_before_it_is_sent(visit, site, merchant, name):
    put_bistro(merchant, name)
    number = place(merchant, name, name)
    board = open_board(visit, site, name)
    card = board.locator(f"[data-order='{number}']")
    card.get_by_role("button", name="Accept").click()
    card.get_by_role("button", name="Undo").click()
    board.clock.fast_forward(UNDO)
    card.get_by_role("button", name="Accept").wait_for()
    assert merchant.json("ORDER.GET", number)["version"] == 1
    # What was tapped and not undone is sent even if the board is left at once.
    card.get_by_role("button", name="Accept").click()
    board.goto("about:blank")
    wait_until(lambda: merchant.json("ORDER.GET", number)["status"] == "accepted", "the tap")


def test_an_order_that_ends_elsewhere_stays_until_somebody_takes_note(visit, site, merchant, name):
    put_bistro(merchant, name)
    gone, kept = place(merchant, name, name), place(merchant, name, f"{name}-2")
    board = open_board(visit, site, name)
    board.locator(f"[data-order='{kept}']").wait_for()
    merchant("ORDER.CANCEL", gone, "BY", "customer", "CODE", "CUSTOMER", "REASON", "I am ill")
    card = board.locator(f"[data-order='{gone}'][data-over]")
    card.get_by_text("Cancelled: I am ill").wait_for()
    assert violations(board) == []
    board.reload()
    card.get_by_role("button", name="Noted").click()
    card.wait_for(state="detached")
    board.reload()
    board.locator(f"[data-order='{kept}']").wait_for()
    assert card.count() == 0


def test_what_is_sold_out_is_said_from_the_board_and_brought_back(visit, site, merchant, name):
    put_bistro(merchant, name)
    merchant("MENU.GROUP.PUT", name, "size", json.dumps(
        {"id": "size", "title": "Size", "options": [{"id": "large", "name": "Large", "price": 100}]}))
    merchant("MENU.ITEM.PUT", name, "lunch", "lunch0", json.dumps(
        {"id": "lunch0", "kind": "menuItem", "name": "Lunch 0", "price": 1000, "options": ["size"]}))
    place(merchant, name, name)
    board = open_board(visit, site, name)
    board.get_by_role("button", name="Lunch 0: sold out?").click()
    rows = board.get_by_test_id("stock").locator("li")
    rows.nth(1).wait_for()
    assert [row.split("For")[0].strip() for row in rows.all_text_contents()] == ["Lunch 0", "Large"]
    assert violations(board) == []
    rows.nth(0).get_by_role("button", name="For an hour").click()
    rows.nth(0).get_by_text("Sold out until").wait_for()
    rows.nth(1).get_by_role("button", name="Until further notice").click()
    rows.get_by_text("Sold out until further notice").wait_for()
    item = merchant.json("ITEM.GET", name, "lunch0")
    assert not item["available"] and item["availableFrom"] and not item["groups"][0]["options"][0]["available"]
    board.go_back()
    board.get_by_role("button", name="Sold out", exact=True).click()
    # What is sold out comes first.
    rows.nth(0).get_by_role("button", name="Bring it back").wait_for()
    board.get_by_label("Search items").fill("lunch 0")
    rows.get_by_role("button", name="Bring it back").click()
    rows.get_by_role("button", name="For an hour").wait_for()
    assert merchant.json("ITEM.GET", name, "lunch0")["available"]


def test_a_busy_kitchen_pauses_and_goes_on(visit, site, merchant, name):
    put_bistro(merchant, name)
    board = open_board(visit, site, name)
    board.get_by_role("button", name="Pause").click()
    board.get_by_label("Why, for customers").fill("Too many orders")
    assert violations(board) == []
    board.get_by_role("button", name="30 minutes").click()
    board.locator("#status", has_text=re.compile(r"Paused until .*: Too many orders")).wait_for()
    assert merchant.json("OUTLET.GET", name)["status"] == "paused"
    board.get_by_role("button", name="End the pause").click()
    board.locator("#status").wait_for(state="hidden")
    assert merchant.json("OUTLET.GET", name)["status"] == "open"


def test_the_board_says_what_is_to_be_cooked_for_whom(visit, site, merchant, name):
    put_bistro(merchant, name)
    merchant("MENU.ITEM.PUT", name, "lunch", "lunch0", json.dumps(
        {"id": "lunch0", "kind": "menuItem", "name": "Lunch 0", "price": 1000, "attributes": {"allergens": ["nuts", "milk"]}}))
    first = place(merchant, name, name, ("lunch0", 2), ("lunch1", 1), name="Asha Fernando")
    place(merchant, name, f"{name}-2", ("lunch0", 3))
    board = open_board(visit, site, name)
    card = board.locator(f"[data-order='{first}']")
    card.get_by_text("Asha Fernando").wait_for()
    card.get_by_text("Allergens: nuts, milk").wait_for()
    dishes = board.get_by_test_id("to_cook").locator("li")
    assert [text.split() for text in dishes.all_text_contents()] == [["5", "Lunch", "0"], ["1", "Lunch", "1"]]
    use_scheme(board, "dark")
    assert violations(board) == []
    # Paper of 80 and of 58 mm, without its margins.
    board.evaluate("() => { window.print = () => {}; }")
    card.get_by_role("button", name="Ticket").click()
    ticket = board.locator(".ticket")
    ticket.wait_for(state="attached")
    board.emulate_media(media="print")
    for width in (280, 196):
        board.set_viewport_size({"width": width, "height": 600})
        assert ticket.inner_text().split()[:1] == [f"#{first[-8:-4]}"] and "Asha Fernando" in ticket.inner_text()
        assert board.evaluate("() => document.documentElement.scrollWidth <= innerWidth") and card.is_hidden()
    board.emulate_media(media="screen")
    board.set_viewport_size({"width": 1180, "height": 800})
    assert ticket.is_hidden()
    assert board.evaluate("""() => [...document.querySelectorAll(".button, .what")].filter((node) => node.checkVisibility())
        .filter((node) => node.getBoundingClientRect().height < 48 || node.getBoundingClientRect().width < 48)
        .map((node) => node.textContent)""") == []
    # Fingers find each of them: 8 px lie between any two.
    assert board.evaluate("""() => {
        const all = [...document.querySelectorAll("button")].filter((node) => node.checkVisibility())
            .map((node) => [node.textContent, node.getBoundingClientRect()]);
        const apart = ([, one], [, other]) => Math.max(one.left - other.right, other.left - one.right, one.top - other.bottom, other.top - one.bottom);
        return all.flatMap((one, place) => all.slice(place + 1).filter((other) => apart(one, other) < 7.9).map((other) => [one[0], other[0]]));
    }""") == []


def test_a_station_shows_its_sections_and_when_the_rest_is_due(visit, site, merchant, name):
    put_bistro(merchant, name)
    both = place(merchant, name, name, ("lunch0", 2), ("sweet0", 1))
    other = place(merchant, name, f"{name}-2", ("sweet1", 1))
    board = open_board(visit, site, f"{name}?sections=lunch,dinner")
    card = board.locator(f"[data-order='{both}']")
    card.get_by_test_id("rest").get_by_text(re.compile("1 more elsewhere, due at")).wait_for()
    board.locator(f"[data-order='{other}']").wait_for(state="detached")
    assert card.locator(".what").all_text_contents() == ["Lunch 0"]
    assert board.get_by_test_id("to_cook").text_content().split() == ["2", "Lunch", "0"]
    assert violations(board) == []


def test_a_kitchen_works_with_the_keyboard_alone(visit, site, merchant, name):
    put_bistro(merchant, name)
    number = place(merchant, name, name)
    board = open_board(visit, site, name)
    card = board.locator(f"[data-order='{number}']")
    card.wait_for()

    def has_focus(button):
        board.wait_for_function("(text) => document.activeElement.textContent.trim() === text", arg=button)

    def go_to(button):
        def is_there():
            board.keyboard.press("Tab")
            return board.evaluate("() => document.activeElement.textContent.trim()") == button

        wait_until(is_there, button)
        board.keyboard.press("Enter")

    go_to("Accept")
    has_focus("Start cooking")
    go_to("Undo")
    # Its button has gone, and the focus is where the next step is.
    has_focus("Accept")
    board.keyboard.press("Enter")
    go_to("Later")
    go_to("15 minutes")
    wait_until(lambda: merchant.json("ORDER.GET", number)["status"] == "accepted", "the tap")
    go_to("Cancel")
    board.keyboard.press("Escape")
    has_focus("Cancel")
    go_to("Pause")
    go_to("15 minutes")
    board.locator("#status", has_text="Paused until").wait_for()
