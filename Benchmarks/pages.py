"""How the store feels in a real browser, as the machine is and slowed four times: `Scripts/bench pages`.

Once the demo outlet's home from a real server, while a merchant changes 20 prices a second; once a fixture of 500 sections
and 5,000 items with 20 patches a second, five times what a menu may have, from a server of its own. Then discovery with
100,000 dishes, to the last one and back, the kitchen with 60 orders, and the merchant's page of a menu of 5,000 items.
"""

import collections
import contextlib
import json
import random
import statistics
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

from harness import fresh_database
from tiffin import CHECKOUT

sys.path.append(str(CHECKOUT / "Tests" / "Browser"))
WEB = CHECKOUT / "Web"
OUTLET = "copper-ladle"
SECTIONS, ITEMS = 500, 10
DISHES, QUICK_DISHES = 100_000, 10_000
CHANGES_A_SECOND = 20
FLING_SECONDS = 3
FLING_SPEED = 6000
TAPS = 40
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

# Budgets by the slowdown of the processor.
LCP_SECONDS = {1: 0.5, 4: 1.0}
TAP_MILLISECONDS = {1: 50, 4: 100}
LOADING_MILLISECONDS = {1: 150, 4: 350}
# As Lighthouse has it: a round trip in milliseconds, and bytes a second.
SLOW_4G = {"offline": False, "latency": 150, "downloadThroughput": 204_800, "uploadThroughput": 93_750}
SLOW_4G_LCP_SECONDS = 2.0
ORDERS, ORDER_MILLISECONDS, SCROLL_MILLISECONDS = 60, 100, 50
MENU_SECONDS, ROW_MILLISECONDS = 1.5, 100
HEAP_MEGABYTES, STRESS_HEAP_MEGABYTES, KILOBYTES = 20, 60, 60
ROWS_IN_PAGE = 240

OBSERVE = """() => {
    const seen = window.seen = { lcp: 0, shift: 0, tasks: [], taps: new Map() };
    const observe = (type, take, options = {}) => new PerformanceObserver((list) => list.getEntries().forEach(take))
        .observe({ type, buffered: true, ...options });
    observe("largest-contentful-paint", (entry) => { seen.lcp = entry.startTime; });
    observe("layout-shift", (entry) => { if (!entry.hadRecentInput) seen.shift += entry.value; });
    observe("longtask", (entry) => seen.tasks.push([entry.startTime, entry.duration]));
    observe("event", (entry) => {
        const { interactionId: id, duration } = entry;
        if (id) seen.taps.set(id, Math.max(seen.taps.get(id) ?? 0, duration));
    }, { durationThreshold: 16 });
}"""

# From when something is heard of the server until the page with it is drawn: `window.waitFor(isThere)` answers the
# milliseconds.
HEAR = """() => {
    let heard = 0;
    const listen = (prototype, name) => {
        const original = prototype[name];
        prototype[name] = async function (...all) {
            const answer = await original.apply(this, all);
            heard = performance.now();
            return answer;
        };
    };
    listen(ReadableStreamDefaultReader.prototype, "read");
    listen(Response.prototype, "text");
    window.waitFor = (isThere) => new Promise((done) => {
        const look = () => {
            if (!isThere()) return requestAnimationFrame(look);
            const since = heard;
            // The next task comes when this frame is drawn.
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = () => done(performance.now() - since);
            port2.postMessage(null);
        };
        requestAnimationFrame(look);
    });
}"""

FRAMES = """(seconds) => new Promise((done) => {
    const gaps = [];
    const began = performance.now();
    let last = began;
    const look = (now) => {
        gaps.push(now - last);
        last = now;
        if (now - began < seconds * 1000) requestAnimationFrame(look);
        else done({ gaps: gaps.slice(1), began, ended: now });
    };
    requestAnimationFrame(look);
})"""


# Scrolls to the end again and again until the last row is there.
READ_ALL = """() => new Promise((done) => {
    const list = document.querySelector(".results");
    const began = performance.now();
    let [last, most] = [began, 0];
    const gaps = [];
    const look = (now) => {
        gaps.push(now - last);
        last = now;
        most = Math.max(most, list.childElementCount);
        scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
        const row = list.lastElementChild;
        if (row.ariaPosInSet !== row.ariaSetSize) requestAnimationFrame(look);
        else done({ gaps: gaps.slice(1), seconds: (now - began) / 1000, most, bottom: scrollY });
    };
    requestAnimationFrame(look);
})"""

# Jumps there, and answers after how many milliseconds every row that is near is there.
JUMP = """(top) => new Promise((done) => {
    const began = performance.now();
    scrollTo({ top, behavior: "instant" });
    const look = () => {
        const row = document.elementFromPoint(100, 400)?.closest(".results > .item");
        if (row?.dataset.item && !document.querySelector(".results > [aria-busy]")) done(performance.now() - began);
        else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
})"""

LAYOUTS = [
    {"style": "list"}, {"style": "horizontalCard", "width": 150, "height": 200}, {"style": "grid", "minimumWidth": 160},
]


def fixture_item(section, place):
    return {"id": f"i{section}-{place}", "kind": "menuItem", "model": {
        "name": f"Dish {section}.{place}", "description": "Slow-cooked, with bread and a salad of the season.",
        "price": 500 + section + place, "currency": "GBP", "cuisine": "British", "tags": ["test"], "imageSmall": None,
        "available": True, "availableFrom": None,
    }}


def fixture_home():
    sections = [{
        "id": f"s{n}", "kind": "menuItems", "headerTitle": f"Section {n}", "layout": LAYOUTS[n % len(LAYOUTS)],
        "sticky": n % len(LAYOUTS) == 0, "accessibilityId": f"section_s{n}", "itemAccessibilityPrefix": f"menu_item_s{n}_",
        "items": [fixture_item(n, place) for place in range(ITEMS)],
    } for n in range(SECTIONS)]
    outlet = {
        "id": OUTLET, "name": "Stress", "city": None, "area": None, "address": None, "currency": "GBP",
        "timeZone": "Europe/London", "cuisines": ["British"], "priceForTwo": None, "rating": 4.5, "ratingCount": 10,
        "deliveryMinutes": 30, "minimumOrder": None, "hours": [], "status": "open", "accessibilityId": "outlet_scroll",
    }
    chips = [{"id": f"tag_{each['id']}", "section": each["id"], "title": each["headerTitle"]} for each in sections]
    return {
        "outlet": outlet, "revision": 1, "state": "ready", "sections": sections,
        "tagBar": {"height": 36, "showBelow": 36, "hideAbove": 72, "chips": chips},
    }


def fixture_dishes(total, first, count):
    places = range(first, min(first + count, total))
    return {
        "items": [{
            **fixture_item(0, place)["model"], "outlet": OUTLET, "outletName": "Stress", "item": f"i{place}", "kind": "menuItem",
            "status": "open", "pausedUntil": None, "name": f"Dish {place}",
        } for place in places],
        "next": str(places.stop) if places.stop < total else None, "total": total, "state": "ready", "suggestions": [],
        "facets": {"cuisines": [], "tags": [], "currencies": [], "ratings": None, "deliveryMinutes": None},
    }


class Fixture(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    home = None
    dishes = DISHES

    def log_message(self, *_):
        pass

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/discover":
            self.answer((WEB / "store" / "shell.html").read_text(), "text/html; charset=utf-8")
        elif path == "/v1/browse":
            asked = parse_qs(query)
            first, count = int(asked.get("after", ["0"])[0]), int(asked["limit"][0])
            self.answer(json.dumps(fixture_dishes(self.dishes, first, count)), "application/json")
        elif path.startswith("/o/"):
            inline = (f'<script type="application/json" id="document" data-path="/v1/outlets/{OUTLET}/home">'
                      f"{json.dumps(self.home)}</script>")
            shell = (WEB / "store" / "shell.html").read_text().replace("<!--document-->", inline)
            self.answer(shell, "text/html; charset=utf-8")
        elif path.startswith("/a/"):
            file = WEB / path.split("/", 3)[3]
            self.answer(file.read_text(), TYPES[file.suffix])
        elif path == "/v1/stream":
            self.stream()
        else:
            self.answer("null", "application/json")

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.answer('{"count":1}', "application/json")

    def answer(self, text, kind):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self):
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        dice, revision = random.Random(1), 1
        with contextlib.suppress(OSError):
            while True:
                patch = [{"op": "replace", "path": "/revision", "value": revision + 1}] + [{
                    "op": "replace", "path": f"/sections/{dice.randrange(SECTIONS)}/items/{dice.randrange(ITEMS)}/model/price",
                    "value": dice.randrange(100, 5000)} for _ in range(5)]
                message = {"outlet": OUTLET, "from": revision, "to": revision + 1, "patch": patch}
                self.wfile.write(f"event: home:{OUTLET}\ndata: {json.dumps(message)}\n\n".encode())
                revision += 1
                time.sleep(1 / CHANGES_A_SECOND)


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Pages that leave in the middle of a stream are no error."""


@contextlib.contextmanager
def fixture_site():
    Fixture.home = fixture_home()
    server = QuietServer(("127.0.0.1", 0), Fixture)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


@contextlib.contextmanager
def demo_site():
    from site_under_test import Site

    with fresh_database() as url, Site(url, "--demo") as site, site.server.client() as merchant:
        items = [item["id"] for section in merchant.json("MENU.GET", OUTLET)["sections"] for item in section["items"]]
        ended = threading.Event()

        def edit():
            dice = random.Random(1)
            while not ended.wait(1 / CHANGES_A_SECOND):
                merchant("MENU.ITEM.PRICE", OUTLET, dice.choice(items), dice.randrange(100, 5000))

        editor = threading.Thread(target=edit)
        editor.start()
        try:
            yield site.origin
        finally:
            ended.set()
            editor.join()


def visit(browser, origin, slowdown, seconds, network=None):
    """What one visit feels like: seconds of LCP, milliseconds of the rest, megabytes, kilobytes without heads."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, service_workers="block")
    context.route("https://example.com/**", lambda route: route.abort())
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    # Of each answer that has ended, without its head.
    received, bodies = [], collections.Counter()
    session.on("Network.dataReceived", lambda event: bodies.update({event["requestId"]: event["encodedDataLength"]}))
    session.on("Network.loadingFinished", lambda event: received.append(bodies[event["requestId"]]))
    session.send("Emulation.setCPUThrottlingRate", {"rate": slowdown})
    if network:
        session.send("Network.emulateNetworkConditions", network)
    page.add_init_script(f"({OBSERVE})()")
    page.goto(f"{origin}/o/{OUTLET}")
    page.wait_for_selector(".item")
    page.wait_for_timeout(1500 * slowdown)
    kilobytes = sum(received) / 1000
    loading = [duration for _, duration in page.evaluate("() => window.seen.tasks")]

    page.mouse.move(195, 500)
    page.evaluate(f"(seconds) => {{ window.flung = ({FRAMES})(seconds); }}", seconds)
    ends = time.monotonic() + seconds
    down = 1
    while time.monotonic() < ends:
        page.mouse.wheel(0, down * FLING_SPEED / 20)
        if page.evaluate("() => scrollY < 10 || scrollY + innerHeight > document.documentElement.scrollHeight - 10"):
            down = -down
        page.wait_for_timeout(50)
    flung = page.evaluate("() => window.flung")
    stalls = [duration for start, duration in page.evaluate("() => window.seen.tasks") if flung["began"] <= start <= flung["ended"]]

    page.evaluate("() => scrollTo({ top: 300, behavior: 'instant' })")
    page.wait_for_timeout(300)
    dice = random.Random(2)
    for _ in range(TAPS):
        # Asking a button where it is would lay out sections that nobody sees.
        spot = page.evaluate("""([x, y]) => {
            const item = document.elementFromPoint(x, y)?.closest(".item");
            const box = item?.querySelector(".add").getBoundingClientRect();
            return box && box.top > 110 && box.bottom < innerHeight ? [box.x + box.width / 2, box.y + box.height / 2] : null;
        }""", [dice.randrange(30, 360), dice.randrange(150, 800)])
        if spot:
            page.mouse.click(*spot)
            page.wait_for_timeout(60)
    page.wait_for_timeout(300 * slowdown)
    session.send("HeapProfiler.collectGarbage")
    heap = session.send("Runtime.getHeapUsage")["usedSize"] / 1e6
    seen = page.evaluate("() => ({ ...window.seen, taps: [...window.seen.taps.values()] })")
    context.close()
    gaps = sorted(flung["gaps"])
    taps = sorted(seen["taps"]) or [0]
    return {
        "lcp": seen["lcp"] / 1000, "loading": sum(loading), "shift": seen["shift"], "frame": gaps[int(len(gaps) * 0.99) - 1],
        "stall": max(stalls, default=0), "tap": taps[max(int(len(taps) * 0.98) - 1, 0)], "heap": heap, "kilobytes": kilobytes,
    }


def visit_long_list(browser, origin):
    """Discovery to its last row and back: seconds, milliseconds, megabytes and numbers of rows."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, service_workers="block")
    page = context.new_page()
    session = context.new_cdp_session(page)
    page.add_init_script(f"({OBSERVE})()")
    page.goto(f"{origin}/discover?view=list")
    page.wait_for_selector(".results > .item")
    read = page.evaluate(READ_ALL)
    stall = max((duration for _, duration in page.evaluate("() => window.seen.tasks")), default=0)
    session.send("HeapProfiler.collectGarbage")
    heap = session.send("Runtime.getHeapUsage")["usedSize"] / 1e6
    jumps = [page.evaluate(JUMP, read["bottom"] * part) for part in (0.5, 0.9, 0.1, 0)]
    context.close()
    gaps = sorted(read["gaps"])
    return {
        "seconds": read["seconds"], "rows": read["most"], "frame": gaps[int(len(gaps) * 0.99) - 1], "stall": stall,
        "heap": heap, "jump": max(jumps),
    }


def measure_long_list(report, quick):
    from site_under_test import launched_browser

    Fixture.dishes = QUICK_DISHES if quick else DISHES
    report.title(f"Discovery with {Fixture.dishes:,} dishes, to the last one and back")
    with fixture_site() as origin, launched_browser() as browser:
        seen = visit_long_list(browser, origin)
    report.line(", ".join(f"{what} {value:.2f}" for what, value in seen.items()))
    report.verdict("rows in the page", seen["rows"], ROWS_IN_PAGE, at_least=False)
    report.verdict("longest task", seen["stall"], LOADING_MILLISECONDS[1], at_least=False, unit=" ms")
    report.verdict("heap", seen["heap"], STRESS_HEAP_MEGABYTES, at_least=False, unit=" MB")


def open_desk(browser, address, viewport, slowdown):
    page = browser.new_context(viewport=viewport, service_workers="block").new_page()
    page.context.route("https://example.com/**", lambda route: route.abort())
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slowdown})
    for script in (OBSERVE, HEAR):
        page.add_init_script(f"({script})()")
    page.goto(address)
    return page


def place(client, outlet, number):
    for place in range(3):
        client("CART.ADD", f"cart-{number}", outlet, f"i0-{(number + place) % ITEMS}", 1 + place)
    total = client.json("CART.QUOTE", f"cart-{number}")["total"]
    return client("CART.CHECKOUT", f"cart-{number}", "TOTAL", total).decode()


def visit_board(browser, site, client):
    """A tablet with 60 orders, slowed four times: milliseconds until a new order is drawn, and of the longest task while
    it is scrolled."""
    for number in range(ORDERS):
        place(client, "desk", number)
    page = open_desk(browser, f"{site.console}/kitchen/desk", {"width": 1024, "height": 768}, 4)
    page.wait_for_function("(count) => document.querySelectorAll('.order').length === count", arg=ORDERS)
    page.wait_for_timeout(2000)
    page.evaluate("(count) => { window.drawn = waitFor(() => document.querySelectorAll('.order').length > count); }", ORDERS)
    place(client, "desk", ORDERS)
    drawn = page.evaluate("() => window.drawn")
    page.wait_for_timeout(1000)
    began = page.evaluate("() => performance.now()")
    page.mouse.move(400, 400)
    for down in [1] * 20 + [-1] * 20:
        page.mouse.wheel(0, down * FLING_SPEED / 20)
        page.wait_for_timeout(50)
    stall = max((duration for start, duration in page.evaluate("() => window.seen.tasks") if start >= began), default=0)
    page.context.close()
    return {"drawn": drawn, "stall": stall}


def visit_menu(browser, site, client):
    """The merchant's page of 5,000 items: seconds until it is open, and milliseconds until a changed row is drawn."""
    page = open_desk(browser, f"{site.console}/merchant#menu?outlet=desk", {"width": 1280, "height": 900}, 1)
    page.wait_for_selector("[data-item='i0-0']")
    opened = page.evaluate("() => performance.now()") / 1000
    client("MENU.ITEM.PRICE", "desk", "i0-0", 4321)
    page.evaluate("() => { window.drawn = waitFor(() => document.querySelector(`[data-item='i0-0']`).textContent.includes('43.21')); }")
    page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    row = page.evaluate("() => window.drawn")
    page.context.close()
    return {"opened": opened, "row": row}


def measure_desks(report, rounds):
    from site_under_test import Site, launched_browser
    from tiffin import item_document, outlet_document, section_document

    report.title(f"The kitchen with {ORDERS} orders, and a merchant's menu of 5,000 items")
    with fresh_database() as url, Site(url) as site, site.server.client() as client, launched_browser() as browser:
        client("OUTLET.PUT", "desk", json.dumps(outlet_document(acceptWithin=3600, prepMinutes=20)))
        client("MENU.PUT", "desk", json.dumps({"sections": [
            section_document(f"s{n}", [item_document(f"i{n}-{place}", 500 + place) for place in range(100)])
            for n in range(50)]}))
        client("OUTLET.OPEN", "desk")
        menus = [visit_menu(browser, site, client) for _ in range(rounds)]
        board = visit_board(browser, site, client)
    report.line(", ".join(f"{what} {value:.2f}" for what, value in board.items()))
    report.verdict("a new order", board["drawn"], ORDER_MILLISECONDS, at_least=False, unit=" ms")
    report.verdict("longest task while scrolled", board["stall"], SCROLL_MILLISECONDS, at_least=False, unit=" ms")
    report.verdict("a menu of 5,000 items", min(each["opened"] for each in menus), MENU_SECONDS, at_least=False, unit=" s")
    report.verdict("a changed row", min(each["row"] for each in menus), ROW_MILLISECONDS, at_least=False, unit=" ms")


def measure_pages(report, rounds, quick):
    from site_under_test import chromium, launched_browser

    report.title("An outlet's home in Chromium, with 20 changes a second")
    if chromium() is None:
        report.not_measured("the pages", "there is no Chromium")
        return
    seconds = 1 if quick else FLING_SECONDS
    for name, make_site in (("24 items", demo_site), ("500 sections, 5,000 items", fixture_site)):
        with make_site() as origin, launched_browser() as browser:
            visit(browser, origin, 1, 0.2)
            runs = {slowdown: [visit(browser, origin, slowdown, seconds) for _ in range(rounds)] for slowdown in (1, 4)}
            if name == "24 items":
                slow = min(visit(browser, origin, 4, 0.2, SLOW_4G)["lcp"] for _ in range(rounds))
                report.verdict("largest paint by slow 4G, slowed 4 ×", slow, SLOW_4G_LCP_SECONDS, at_least=False, unit=" s")
        for slowdown, visits in runs.items():
            # Of the best run, as others use the machine, too; what must never happen, of all.
            def best(what):
                return min(each[what] for each in visits)

            report.line(f"{name}, the processor slowed {slowdown} ×; all runs: " + ", ".join(
                f"{what} {statistics.median(each[what] for each in visits):.2f}" for what in visits[0]))
            small = name == "24 items"
            if small:
                report.verdict("largest paint", best("lcp"), LCP_SECONDS[slowdown], at_least=False, unit=" s")
                report.verdict("long tasks while loading", best("loading"), LOADING_MILLISECONDS[slowdown], at_least=False, unit=" ms")
                report.verdict("transferred", best("kilobytes"), KILOBYTES, at_least=False, unit=" KB")
            report.verdict("longest task while flung", best("stall"), 50, at_least=False, unit=" ms")
            report.verdict("tap to paint, p98", best("tap"), TAP_MILLISECONDS[slowdown], at_least=False, unit=" ms")
            report.verdict("layout shift", max(each["shift"] for each in visits), 0, at_least=False)
            heap = HEAP_MEGABYTES if small else STRESS_HEAP_MEGABYTES
            report.verdict("heap", best("heap"), heap, at_least=False, unit=" MB")
    measure_long_list(report, quick)
    measure_desks(report, rounds)
