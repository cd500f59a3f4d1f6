"""A Tiffin server with its pages, and what the tests ask them."""

import base64
import contextlib
import os
import re
import subprocess

from tiffin import CHECKOUT, PATIENCE_SECONDS, Server, item_document, put_open_outlet, section_document, wait_until

# No test looks at anything outside: these are all pictures there are.
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="#c84"/></svg>'
# What a browser says of a server that is away, on purpose.
EXPECTED = re.compile(
    r"net::ERR_(INTERNET_DISCONNECTED|CONNECTION_\w+|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|SOCKET_NOT_CONNECTED|ABORTED|FAILED)"
    r"|status of (4\d\d|503)")

# How long a state may take to come about, in seconds: far longer than it takes on a machine where everybody is busy.

# Waits until what was done to the page is drawn.
FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def chromium() -> str | None:
    """The browser's path, if there is one."""
    return subprocess.run([CHECKOUT / "Scripts" / "chromium"], capture_output=True, text=True).stdout.strip() or None


@contextlib.contextmanager
def launched_browser(**options):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # The sandbox of Chromium refuses to run as root.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=arguments, timeout=PATIENCE_SECONDS * 1000, **options)
        yield browser
        browser.close()


class Site:
    def __init__(self, database, *options):
        self.server = Server(database=database, options=["--web", "127.0.0.1:0", "--console", "127.0.0.1:0", *options])
        self.origin = self.console = None

    def start(self):
        self.server.start()
        self.origin = self._address("--web", "tiffin: store on ")
        self.console = self._address("--console", "tiffin: console on ")
        return self

    def _address(self, option, prefix):
        line = wait_until(
            lambda: next((line for line in self.server.lines if line and line.startswith(prefix)), None), prefix)
        address = line.removeprefix(prefix).split()[0]
        # The next start has the same address.
        self.server.arguments[self.server.arguments.index(option) + 1] = address.rpartition("/")[2]
        return address

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *_):
        if kind is None:
            assert self.server.stop() == 0, self.server.output()
        else:
            self.server.kill()

    def open(self, context, address, complaints, has_pictures=True):
        """A page with that address in the context; what it complains of is added to the list."""
        page = context.new_page()
        # Only pictures are held up: a route of the driver would hold up every request, and turn the cache off.
        session = context.new_cdp_session(page)
        session.on("Fetch.requestPaused", lambda event: session.send(*(
            ("Fetch.fulfillRequest", {
                "requestId": event["requestId"], "responseCode": 200,
                "responseHeaders": [{"name": "Content-Type", "value": "image/svg+xml"}],
                "body": base64.b64encode(PICTURE.encode()).decode(),
            }) if has_pictures else ("Fetch.failRequest", {"requestId": event["requestId"], "errorReason": "Failed"}))))
        session.send("Fetch.enable", {"patterns": [{"urlPattern": "https://example.com/*"}]})
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text)
                if message.type in ("error", "warning") and not EXPECTED.search(message.text) else None)
        page.goto(address)
        page.wait_for_selector("main [data-focus-fallback], main .blank, header [data-focus-fallback]", state="attached")
        return page


def put_kitchen(client, outlet, **changes):
    """An open outlet with every layout: cards of two sizes, sticky lists, and a grid."""
    put_open_outlet(client, outlet, [
        section_document("offers", [
            item_document(f"offer{n}", 900 + n, kind="promo", name=f"Offer {n}") for n in range(6)
        ], kind="promotions", layout={"style": "horizontalCard", "width": 150, "height": 200}),
        *(section_document(section, [
            item_document(f"{section}{n}", 1000 + 10 * n, name=f"{section.title()} {n}") for n in range(8)
        ], sticky=True) for section in ("breakfast", "lunch", "dinner")),
        section_document("shelf", [
            item_document(f"shelf{n}", 500 + n, name=f"Shelf {n}") for n in range(7)
        ], layout={"style": "grid", "minimumWidth": 160}),
        section_document("desserts", [
            item_document(f"sweet{n}", 450 + n, kind="dessert", name=f"Sweet {n}") for n in range(5)
        ], kind="desserts", layout={"style": "horizontalCard", "width": 150, "height": 300}),
    ], **changes)


def shown_home(page):
    """The home as the page shows it: sections with their ids, titles and items."""
    return page.evaluate("""() => [...document.querySelectorAll("main .section")].map((section) => ({
        id: section.dataset.section, testid: section.dataset.testid, title: section.querySelector("h2").textContent,
        items: [...section.querySelectorAll(".item")].map((item) => ({
            id: item.dataset.item, testid: item.dataset.testid, name: item.querySelector(".open").textContent,
            price: item.querySelector(".price .money").textContent.replace(/[^0-9]/g, ""), away: "away" in item.dataset,
        })),
    }))""")


def expected_home(client, outlet):
    """What shown_home has to be, by the home that is read now."""
    home = client.json("OUTLET.HOME", outlet)
    return [{
        "id": section["id"], "testid": section["accessibilityId"], "title": section["headerTitle"],
        "items": [{
            "id": item["id"], "testid": f"{section['itemAccessibilityPrefix']}{place}", "name": item["model"]["name"],
            "price": "" if item["model"]["price"] is None else f"{item['model']['price']:03d}",
            "away": not item["model"]["available"],
        } for place, item in enumerate(section["items"])],
    } for section in home["sections"]] if home else []


def wait_for_home(page, client, outlet):
    """Waits until the page shows the home of now."""
    expected = expected_home(client, outlet)
    try:
        wait_until(lambda: shown_home(page) == expected, "the page to show the home")
    except TimeoutError:
        assert shown_home(page) == expected


def badge(page):
    return int(page.get_by_test_id("cart_count").text_content())


def wait_for_badge(page, count):
    wait_until(lambda: badge(page) == count, f"the badge to say {count}")


def cart(page):
    """The cart as the server has it."""
    return page.evaluate("async () => (await fetch('/v1/cart')).json()")


def wait_for_cart(page, count):
    wait_until(lambda: (cart(page) or {"count": 0})["count"] == count, f"{count} in the cart")


def use_scheme(page, scheme):
    """Shows a page in light or dark colours, which it has from its next frame on."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("""(isDark) => {
        const back = getComputedStyle(document.documentElement).getPropertyValue("--back").trim();
        return parseInt(back.slice(1), 16) < 0x800000 === isDark;
    }""", arg=scheme == "dark")


# What is skipped because it is far away can have the colours of a while ago, until it was drawn.
SHOW_ALL = """(value) => {
    for (const node of document.querySelectorAll(".section, .results > .item")) node.style.contentVisibility = value;
    return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
}"""


# Only what is wrong comes back: the rest is ten times as much.
RUN_AXE = """async () => (await axe.run({ resultTypes: ["violations"], preload: false })).violations
    .map(({ id, nodes }) => `${id}: ${JSON.stringify(nodes.slice(0, 3).map(({ target }) => target))}`)"""


def violations(page):
    """What axe finds wrong, as `rule: where`."""
    from axe_playwright_python.base import AXE_SCRIPT

    page.evaluate(SHOW_ALL, "visible")
    # Colours in the middle of an animation are no colours. One that ends can have others begin.
    page.evaluate("""() => {
        for (let rounds = 0, running; rounds < 100 && (running = document.getAnimations()).length > 0; rounds += 1) {
            running.forEach((animation) => animation.finish());
        }
    }""")
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate(RUN_AXE)
    page.evaluate(SHOW_ALL, "")
    return found
