"""A day of a restaurant, from nothing to its takings. Everybody uses pages, and nothing else."""

import collections
import io
import re

from PIL import Image
from test_kitchen import UNDO, open_board
from test_merchant import agree, go, open_page
from tiffin import read_log

MENU = "section,name,price,description\r\nMains,Fish pie,12.50,With peas\r\nMains,Soup,6.00,\r\nSweets,Tart,4.50,\r\n"


def picture(colour):
    buffer = io.BytesIO()
    Image.new("RGB", (640, 480), colour).save(buffer, "PNG")
    return {"name": "dish.png", "mimeType": "image/png", "buffer": buffer.getvalue()}


def order(visit, outlet, *items, address=None):
    page = visit(f"/o/{outlet}")
    for item in items:
        page.locator(f"[data-item={item}] .add").click()
    page.locator("#cart-button").click()
    if address:
        page.get_by_test_id("services").get_by_role("button", name="Delivery").click()
        page.get_by_label("Address").fill(address)
    page.locator("[data-testid=checkout_btn]:not([aria-disabled])").click()
    page.get_by_test_id("order_status").get_by_text("Sent to the kitchen").wait_for()
    return page, page.url.rpartition("/")[2]


def of_log(merchant, outlet):
    """What the events of an outlet's orders say that was sold, cancelled, given back and kept."""
    sums = collections.Counter()
    events = [event for event in read_log(merchant) if event["stream"].startswith("order-")]
    totals = {event["stream"]: event["payload"]["total"] for event in events
              if event["kind"] == "order.placed" and event["payload"]["outlet"] == outlet}
    for event in events:
        if event["stream"] not in totals:
            continue
        match event["kind"]:
            case "order.placed":
                sums["Sold"] += totals[event["stream"]]
            case "order.cancelled":
                sums["Cancelled"] += totals[event["stream"]]
            case "order.refunded":
                sums["Given back"] += event["payload"]["amount"]
    return {**sums, "What it brought": sums["Sold"] - sums["Cancelled"] - sums["Given back"]}


def test_a_restaurant_opens_cooks_and_counts_its_takings_by_its_pages_alone(visit, site, merchant, name):
    outlet = f"0-{name}"
    # A merchant makes an outlet, its menu from a file, and three pictures.
    shop = open_page(visit, site, "#outlets", timezone_id="Europe/Berlin")
    shop.get_by_role("button", name="Add an outlet").click()
    for label, text in (("Name", "Harbour Kitchen"), ("Id", outlet), ("Currency", "eur")):
        shop.get_by_label(label, exact=True).fill(text)
    shop.get_by_role("button", name="Add it").click()
    for service in ("Pickup", "Delivery"):
        shop.get_by_role("group", name=service, exact=True).get_by_label("Offered").check()
    delivery = shop.get_by_role("group", name="Delivery", exact=True)
    delivery.get_by_label("Address").check()
    delivery.get_by_label("Charges of its own").check()
    delivery.get_by_label("Fee of delivery", exact=True).fill("2.50")
    shop.get_by_role("button", name="Change…").click()
    agree(shop, "Pickup: not offered → offered", yes="Change")
    shop.locator(".toast", has_text="The outlet was changed.").wait_for(state="attached")
    go(shop, f"#import?outlet={outlet}")
    shop.locator("[type=file]").set_input_files({"name": "menu.csv", "mimeType": "text/csv", "buffer": MENU.encode()})
    shop.get_by_role("button", name="Change the menu…").click()
    agree(shop, yes="Change the menu")
    shop.get_by_test_id("preview").get_by_text("The menu was changed.").wait_for()
    go(shop, f"#menu?outlet={outlet}")
    for dish, colour in (("Fish pie", "#c84"), ("Soup", "#4a8"), ("Tart", "#d46")):
        shop.get_by_role("button", name=dish, exact=True).click()
        shop.get_by_label("Picture from a file").set_input_files(picture(colour))
        shop.get_by_text("The picture is stored.").wait_for()
        shop.get_by_role("button", name="Change…").click()
        agree(shop, yes="Change")
        shop.locator("dialog").first.wait_for(state="detached")
    shop.get_by_role("link", name="Outlets").click()
    card = shop.locator(f"[data-outlet='{outlet}']")
    card.get_by_role("button", name="Open", exact=True).click()
    card.get_by_test_id("state").get_by_text("Open", exact=True).wait_for()

    # Two customers order. The pictures are there.
    board = open_board(visit, site, outlet)
    collected, first = order(visit, outlet, "fish-pie", "fish-pie", "soup")
    delivered, second = order(visit, outlet, "tart", address="12 Mill Road")
    delivered.go_back()
    delivered.wait_for_function("() => [...document.querySelectorAll('.item img')].filter((each) => each.naturalWidth > 0).length === 3")
    delivered.go_forward()

    # The kitchen accepts one, sells an item out, delays, loses its connection, and hands over.
    mine = board.locator(f"[data-order='{first}']")
    board.locator(f"[data-order='{second}']").get_by_text("Delivery to 12 Mill Road").wait_for()

    def tap(button, *then):
        mine.get_by_role("button", name=button).click()
        for choice in then:
            board.get_by_role("dialog").get_by_role("button", name=choice).click()
        mine.get_by_role("button", name="Undo").wait_for()
        board.clock.fast_forward(UNDO)

    tap("Accept")
    collected.get_by_test_id("order_status").get_by_text("Accepted").wait_for()
    tap("Later", "10 minutes")
    collected.get_by_test_id("order_history").wait_for()
    mine.get_by_role("button", name="Soup: sold out?").click()
    board.get_by_role("button", name="For an hour").click()
    board.get_by_role("button", name="Bring it back").wait_for()
    board.keyboard.press("Escape")
    board.context.set_offline(True)
    tap("Start cooking")
    board.get_by_role("alert").get_by_text("No connection. This is the board of").wait_for()
    mine.get_by_text("waits to be sent").wait_for()
    board.context.set_offline(False)
    collected.get_by_test_id("order_status").get_by_text("Being prepared").wait_for()
    tap("It is ready")
    tap("Handed over")
    collected.get_by_test_id("order_status").get_by_text("Done").wait_for()

    # The other one cancels, and a line of the first is given back.
    delivered.get_by_role("button", name="Cancel the order").click()
    delivered.get_by_role("dialog").get_by_role("button", name="Cancel the order").click()
    delivered.get_by_test_id("order_status").get_by_text("Cancelled").wait_for()
    shop.get_by_role("link", name="Orders").first.click()
    shop.locator(f"[data-order='{first}'] a").click()
    shop.locator("main").get_by_role("button", name="Give back…").click()
    form = shop.locator("dialog").first
    form.get_by_role("combobox", name="What").select_option(label="Fish pie: 2 left")
    form.get_by_role("button", name="Give back…").click()
    agree(shop, yes="Give back")
    collected.get_by_test_id("order_refunded").get_by_text("12.50").wait_for()

    # The day's takings are those of the log.
    go(shop, f"#day?outlet={outlet}")
    table = shop.locator("table.takings").first
    table.locator("tr").last.get_by_text("All").wait_for()
    heads = table.locator("thead th").all_text_contents()
    cells = table.locator("tr").last.locator("th, td").all_text_contents()
    shown = {head: round(float(re.sub(r"[^\d.-]", "", cell)) * 100) for head, cell in zip(heads, cells) if "€" in cell}
    expected = of_log(merchant, outlet)
    assert expected == {"Sold": 3100 + 700, "Cancelled": 700, "Given back": 1250, "What it brought": 1850}
    assert {head: shown[head] for head in expected} == expected
