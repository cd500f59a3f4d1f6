"""Takes the pictures of docs/screens/ from the demo catalogue. usage: Scripts/screenshots"""

import json

from site_under_test import FRAMES, PATIENCE_SECONDS, Site, launched_browser, use_scheme, wait_for_cart
from tiffin import CHECKOUT, fresh_database, wait_until

SCREENS = CHECKOUT / "docs" / "screens"
PHONE, DESKTOP = {"width": 390, "height": 780}, {"width": 1180, "height": 720}
HOME = "/o/copper-ladle"

# What is another one each time is the same in every picture: times, and what orders and visitors are called.
SAME = {
    r"\d{4}-\d\d-\d\dT[\d:.]+Z": "2026-11-21T12:30:00.000Z", r"\b\d\d:\d\d\b": "12:30",
    r"\b[0-9a-f]{24}[0-9a-z]{4}\b": "5be99495ab88bdcdbc7e4c610m8k", r"#[0-9a-f]{4}\b": "#4c61",
    r"\bweb-[0-9a-f]{32}\b": "web-3c2f1a8a58041c448f5658e2cb80594a", r"\b(19|20) min\b": "20 min",
}
PUT_SAME = """(same) => {
    const all = Object.entries(same).map(([pattern, text]) => [new RegExp(pattern), text]);
    const any = new RegExp(Object.keys(same).join("|"), "g");
    const put = (text) => text.replace(any, (found) => all.find(([pattern]) => pattern.test(found))[1]);
    const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (nodes.nextNode()) {
        const { data } = nodes.currentNode;
        if (put(data) !== data) nodes.currentNode.data = put(data);
    }
    for (const field of document.querySelectorAll("input[type=text], input:not([type])")) field.value = put(field.value);
}"""


def look(page):
    """The page as it looks now, as PNG."""
    page.evaluate(FRAMES)
    page.evaluate(PUT_SAME, SAME)
    return page.screenshot(animations="disabled")


def picture(page):
    """The page as it looks once nothing moves any more, as PNG."""
    before = look(page)

    def rests():
        nonlocal before
        before, old = look(page), before
        return before == old

    wait_until(rests, "the page to rest")
    return before


def open_screen(site, browser, address, viewport, **options):
    context = browser.new_context(viewport=viewport, reduced_motion="reduce", locale="en-GB", **options)
    context.set_default_timeout(PATIENCE_SECONDS * 1000)
    return site.open(context, address, [], has_pictures=False)


def show_dark_home(page, site):
    use_scheme(page, "dark")
    page.goto(site.origin + HOME)
    page.locator("#s-lunch .item").first.wait_for()
    page.evaluate("() => scrollBy(0, 420)")


def take_all(site, browser, folder):
    """Takes a picture of each screen into the folder. The site has the demo catalogue, and nobody has used it."""

    def take(page, name):
        (folder / f"{name}.png").write_bytes(picture(page))

    # There is one page for phones and one for the rest: a new one costs as much as several pictures.
    home = open_screen(site, browser, site.origin + HOME, PHONE)
    home.locator("[data-item=early-ladle] .add").click()
    home.locator("[data-item=early-ladle] .add").click()
    wait_for_cart(home, 2)
    take(home, "home-phone")
    home.evaluate("() => document.querySelector('#s-lunch').scrollIntoView()")
    home.evaluate("() => scrollBy(0, 40)")
    take(home, "sections-phone")
    with home.expect_response("**/items/fish-pie") as answer:
        home.locator("[data-item=fish-pie] .open").click()
    answer.value.finished()
    take(home, "item-phone")
    home.get_by_test_id("item_add_btn").click()
    wait_for_cart(home, 3)
    home.locator("#cart-button").click()
    order = home.locator("[data-testid=checkout_btn]:not([aria-disabled])")
    order.wait_for()
    take(home, "cart-phone")
    order.click()
    home.wait_for_url("**/order/*")
    order = home.url.rpartition("/")[2]
    desk = open_screen(site, browser, f"{site.console}/kitchen/copper-ladle", DESKTOP)
    desk.get_by_role("button", name="Accept").click()
    desk.get_by_role("button", name="Start cooking").click()
    home.get_by_test_id("order_status").filter(has_text="Being prepared").wait_for()
    take(home, "order-phone")
    desk.get_by_role("button", name="Undo").wait_for(state="hidden")
    take(desk, "kitchen-desktop")
    desk.goto(f"{site.console}/merchant#menu?outlet=copper-ladle")
    desk.get_by_test_id("sections").locator("[data-item]").first.wait_for()
    take(desk, "merchant-desktop")
    with site.server.client() as merchant:
        position = json.loads(merchant("LOG.HEAD"))[0]["position"]
    desk.goto(f"{site.console}/#travel?stream=order-{order}&at={position}")
    wait_until(lambda: desk.get_by_test_id("changes").locator("tr").count() > 1, "the changes")
    take(desk, "console-desktop")

    question = f"{site.origin}/discover?currency=GBP"
    for page, name, address in (
        (desk, "discover-desktop", f"{question}&tag=vegetarian&price=,1300"), (home, "discover-phone-dark", question),
    ):
        if page is home:
            use_scheme(page, "dark")
        page.goto(address)
        page.locator(".results .item").first.wait_for()
        take(page, name)
    show_dark_home(desk, site)
    take(desk, "home-desktop-dark")
    for page in (home, desk):
        page.context.close()


def main():
    SCREENS.mkdir(exist_ok=True)
    with fresh_database() as url, Site(url, "--demo") as site, launched_browser() as browser:
        take_all(site, browser, SCREENS)


if __name__ == "__main__":
    main()
