"""Every page on the narrowest screen, and on a phone in the dark with text of twice the size."""

import json

from site_under_test import FRAMES, violations
from test_kitchen import place
from test_later import put_bistro

SCRIPTS = "مطعم البحر סלט ירוק ශ්‍රී ලංකා தமிழ் உணவு 中文菜單"
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"


def check(page, shown):
    """Whether a page fits, and axe finds nothing."""
    page.set_viewport_size({"width": 320, "height": 640})
    page.evaluate(FRAMES)
    assert page.evaluate("() => document.documentElement.scrollWidth") == 320, shown
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate("() => { document.documentElement.style.fontSize = '32px'; }")
    page.evaluate(FRAMES)
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390, shown
    assert violations(page) == [], shown
    page.evaluate("() => { document.documentElement.style.fontSize = ''; }")


def put_place(merchant, name):
    details = {"name": LONG, "taxIncluded": True, "taxes": [{"id": "vat", "name": LONG, "rate": 20000}]}
    put_bistro(merchant, name, slots={"minutes": 60, "orders": 1})
    merchant("OUTLET.PUT", name, json.dumps({**merchant.json("OUTLET.GET", name), **details}))
    merchant("MENU.ITEM.PUT", name, "lunch", "lunch0", json.dumps({"kind": "menuItem", "name": LONG, "price": 1000}))
    merchant("MENU.ITEM.PUT", name, "lunch", "lunch1", json.dumps({"kind": "menuItem", "name": SCRIPTS, "price": 1000}))
    merchant("MENU.GROUP.PUT", name, "extras", json.dumps({"title": LONG, "options": [{"id": "egg", "name": LONG}]}))
    merchant("MENU.ITEM.STOCK", name, "lunch0", "COUNT", 2)
    merchant("PROMO.PUT", name, "ten", json.dumps({"title": LONG, "on": "order", "give": {"percent": 10_000}, "code": "TEN"}))
    return place(merchant, name, name, ("lunch0", 1), ("lunch1", 1))


def test_every_page_of_the_store_fits(visit, merchant, name):
    put_place(merchant, name)
    page = visit("/discover", color_scheme="dark")
    page.locator(".results .item").first.wait_for()
    page.locator("summary").first.click()
    check(page, "discover")
    page.goto(page.url.replace("/discover", f"/o/{name}"))
    page.locator("[data-item=lunch0] .add").click()
    check(page, "home")
    page.locator("#cart-button").click()
    page.locator("[data-testid=checkout_btn]:not([aria-disabled])").click()
    page.get_by_role("button", name="Change the order").wait_for()
    merchant("ORDER.CHANGE", page.url.rpartition("/")[2], json.dumps({"add": [{"item": "lunch1", "quantity": 1}]}), "BY", "merchant")
    page.get_by_test_id("proposal").wait_for()
    check(page, "order")
    page.locator("#foot").get_by_role("link", name="Your orders").click()
    page.get_by_test_id("orders").locator("li").first.wait_for()
    check(page, "orders")


def test_every_page_of_the_console_fits(visit, site, merchant, name):
    order = put_place(merchant, name)
    page = visit(f"/kitchen/{name}", origin=site.console, color_scheme="dark")
    page.locator(".order").first.wait_for()
    check(page, "kitchen")
    for root, *shown in (
        ("/merchant", "outlets", *(f"{each}?outlet={name}" for each in (
            "menu", "prices", "import", "promotions", "stock", "hours", "orders", "day")), f"order?order={order}"),
        ("/", "log", "streams", "projections", "slowlog", "latency", "clients", "relays", "health", "users",
         f"stream?name=order-{order}", f"travel?stream=order-{order}", f"proof?stream=order-{order}&version=1"),
    ):
        page.goto(site.console + root)
        page.locator("main h1").wait_for()
        for address in shown:
            page.evaluate("""(hash) => {
                document.querySelector("main h1").dataset.old = "";
                location.hash = hash;
            }""", address)
            page.locator("main h1:not([data-old])").wait_for()
            page.locator("main").locator("td, dd, li, .field").first.wait_for(state="attached")
            check(page, address)
