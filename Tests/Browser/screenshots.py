"""Takes the pictures of docs/screens/ from the demo catalogue. usage: Scripts/screenshots"""

import json

from site_under_test import PATIENCE, Site, launched_browser, wait_for_cart
from tiffin import CHECKOUT, fresh_database, wait_until

SCREENS = CHECKOUT / "docs" / "screens"
PHONE, DESKTOP = {"width": 390, "height": 780}, {"width": 1180, "height": 720}
HOME = "/o/copper-ladle"


def main():
    SCREENS.mkdir(exist_ok=True)
    with fresh_database() as url, Site(url, "--demo") as site, launched_browser() as browser, site.server.client() as merchant:
        def page(address, viewport, scheme="light"):
            context = browser.new_context(viewport=viewport, color_scheme=scheme, reduced_motion="reduce", locale="en-GB")
            return site.open(context, address, [], has_pictures=False)

        def take(shown, name):
            # Nothing is in the middle of a movement.
            shown.wait_for_timeout(400)
            shown.screenshot(path=SCREENS / f"{name}.png")

        home = page(site.origin + HOME, PHONE)
        home.locator("[data-item=early-ladle] .add").click()
        home.locator("[data-item=early-ladle] .add").click()
        take(home, "home-phone")
        home.evaluate("() => document.querySelector('#s-lunch').scrollIntoView()")
        home.evaluate("() => scrollBy(0, 40)")
        take(home, "sections-phone")
        home.locator("[data-item=fish-pie] .open").click()
        take(home, "item-phone")
        home.get_by_test_id("item_add_btn").click()
        wait_for_cart(home, 3)
        home.locator("#cart-button").click()
        take(home, "cart-phone")
        home.locator("[data-testid=checkout_btn]:not([aria-disabled])").click()
        home.wait_for_url("**/order/*")
        order = home.url.rpartition("/")[2]
        board = page(f"{site.console}/kitchen/copper-ladle", DESKTOP)
        board.get_by_role("button", name="Accept").click()
        board.get_by_role("button", name="Start cooking").click()
        home.get_by_test_id("order_status").filter(has_text="Being prepared").wait_for()
        take(home, "order-phone")
        take(board, "kitchen-desktop")

        dark = page(site.origin + HOME, DESKTOP, "dark")
        dark.evaluate("() => scrollBy(0, 420)")
        take(dark, "home-desktop-dark")
        take(page(f"{site.origin}/discover?currency=GBP", PHONE, "dark"), "discover-phone-dark")
        feed = page(f"{site.origin}/discover?currency=GBP&tag=vegetarian", DESKTOP)
        feed.get_by_label("Price, most").press("PageDown")
        feed.locator(".results .item").first.wait_for()
        take(feed, "discover-desktop")

        position = json.loads(merchant("LOG.HEAD"))[0]["position"]
        travel = page(f"{site.console}/#travel?stream=order-{order}&at={position}", DESKTOP)
        wait_until(lambda: travel.get_by_test_id("changes").locator("tr").count() > 1, PATIENCE, "the changes")
        take(travel, "console-desktop")


if __name__ == "__main__":
    main()
