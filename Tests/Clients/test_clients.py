"""The clients in Clients/: each comes through the same day while every connection is cut again and again, nothing is done
twice or lost, and all of them are as Scripts/clients writes them."""

import contextlib
import http.server
import json
import os
import random
import subprocess
import sys
import threading

import jsonpatch
import pytest

from clients import CLIENTS, build_swift, build_typescript, day_program
from cutting import Cutting
from sessions import sessions
from tiffin import CHECKOUT, REPLY_SECONDS, Client, ReplyError, Server, fresh_database, read_log, run_tiffin, wait_until

PYTHON = {"PYTHONPATH": str(CLIENTS / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
DAY_SECONDS = 60

sys.path.insert(0, str(CLIENTS / "python"))
from tiffin_client import Console, Money, Store, TiffinError  # noqa: E402
from tiffin_client.patch import apply_patch  # noqa: E402

# --- the programs


@pytest.fixture(scope="module")
def typescript(tmp_path_factory):
    """The folder with the client and its examples, compiled."""
    return build_typescript(tmp_path_factory.mktemp("typescript"))


@pytest.fixture(scope="module")
def swift():
    """The folder with the examples, built."""
    return build_swift()


# --- a day


@pytest.fixture(scope="module")
def site():
    """A server with both sites and an admin, and the token of the admin."""
    sites = ["--web", "127.0.0.1:0", "--console", "127.0.0.1:0"]
    with fresh_database() as database, Server(database=database, options=sites) as server:
        added = run_tiffin("user", "add", "root", "--role", "admin", "--no-password", "--database", database)
        assert added.returncode == 0, added.stderr
        token = run_tiffin("user", "token", "root", "--database", database).stdout.split()[-1]
        with server.client() as client:

            def is_known():
                with contextlib.suppress(ReplyError):
                    return client("AUTH", "root", token)

            wait_until(is_known, "the token to be known")
            yield server, token, client


def live_through_a_day(program, store, console, outlet, token=None) -> list:
    """The lines that it prints. The token is that of an admin, where there are users."""
    user = {"TIFFIN_USER": "root", "TIFFIN_TOKEN": token} if token else {}
    ended = subprocess.run(
        [*program, store, console, outlet], capture_output=True, text=True, timeout=DAY_SECONDS,
        env={**os.environ, **PYTHON, **user})
    assert (ended.stderr, ended.returncode) == ("", 0), ended.stdout + ended.stderr
    return ended.stdout.splitlines()


def story(client: Client, outlet: str, orders: list) -> dict:
    """What the log says of an outlet: the kinds of the events of each of its streams, in order."""
    streams, outlets = {}, {}
    for event in read_log(client):
        streams.setdefault(event["stream"], []).append(event)
        if event["kind"] == "cart.itemAdded":
            outlets[event["stream"]] = event["payload"]["outlet"]
    own = {"outlet": f"outlet-{outlet}", "menu": f"menu-{outlet}"}
    own |= {f"order {place}": f"order-{order}" for place, order in enumerate(orders)}
    # A visitor's carts are counted.
    carts = sorted((stream for stream in outlets if outlets[stream] == outlet), key=lambda name: name.split("-")[-1])
    own |= {f"cart {place}": stream for place, stream in enumerate(carts)}
    placed = {f"order-{order}" for order in orders}
    at_outlet = {
        stream for stream, events in streams.items()
        if events[0]["kind"] == "order.placed" and events[0]["payload"]["outlet"] == outlet}
    assert at_outlet == placed, "an order was placed that nobody knows of"
    keys = [event["metadata"].get("id") for stream in own.values() for event in streams[stream]]
    assert all(keys), "a write had no key"
    return {name: [event["kind"] for event in streams[stream]] for name, stream in own.items()}


@pytest.fixture(scope="module")
def whole_day(site):
    """What a day prints, but for the orders, and what the log says of it, where no connection was cut."""
    server, token, client = site
    lines = live_through_a_day(
        day_program("python", None), f"http://{server.site('store')}", f"http://{server.site('console')}", "calm", token)
    orders = lines[-1].split()
    assert len(set(orders)) == 3
    return lines[1:-1], story(client, "calm", orders)


@pytest.mark.parametrize("language", ["python", "typescript", "swift"])
def test_a_day_is_the_same_when_every_connection_is_cut(site, whole_day, language, tmp_path):
    server, token, client = site
    program, outlet = day_program(language, tmp_path), language
    with Cutting(server.site("store")) as store, Cutting(server.site("console")) as console:
        first, *lines, last = live_through_a_day(program, store.url, console.url, outlet, token)
        assert store.cuts > 3 and console.cuts > 3
    assert (lines, first) == (whole_day[0], f"{outlet} is open")
    assert story(client, outlet, last.split()) == whole_day[1]


# --- what is sent again


class Script(http.server.BaseHTTPRequestHandler):
    """Answers what `answers` says, the last of it for ever, and notes what was asked."""

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append((self.command, self.path, self.headers["Idempotency-Key"]))
        answers = self.server.answers
        status, document, *wait = answers.pop(0) if len(answers) > 1 else answers[0]
        if status is None:
            self.close_connection = True
            return
        data = json.dumps(document if status == 200 else {"code": document, "detail": "as the test says"}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        for seconds in wait:
            self.send_header("Retry-After", seconds)
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def scripted(*answers):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Script) as server:
        server.answers, server.asked = list(answers), []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", server.asked
        server.shutdown()


UNKNOWN, UNAVAILABLE, BUSY = (503, "UNKNOWN"), (503, "UNAVAILABLE"), (503, "BUSY")
CUT, COUNT, TOKEN = (None, None), (200, {"count": 2}), (200, {"name": "anna", "token": "secret"})


def call_in_python(call, url, seconds, request):
    try:
        if call == "add to cart":
            return Store(url, deadline=seconds).add_to_cart("o", "pie", 2)
        return Console(url, deadline=seconds).add_token("anna").token
    except TiffinError as error:
        return error.code


def call_in_typescript(call, url, seconds, request):
    site = "Store" if call == "add to cart" else "Console"
    method = 'addToCart({ outlet: "o", item: "pie", quantity: 2 })' if site == "Store" else 'addToken("anna")'
    script = (
        f'import {{ {site} }} from "{request.getfixturevalue("typescript")}/src/index.js";'
        f'const found = new {site}("{url}", {{ deadline: {seconds * 1000} }}).{method};'
        "found.then((found) => found.token ?? found, (error) => error.code)"
        ".then((found) => console.log(JSON.stringify(found)));")
    return json.loads(run_in_node(script))


def run_in_node(script, text=""):
    ended = subprocess.run(
        ["node", "--input-type=module", "-e", script], input=text, capture_output=True, text=True,
        timeout=REPLY_SECONDS)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize("in_language", [call_in_python, call_in_typescript])
@pytest.mark.parametrize("call, answers, seconds, came_of_it, sent", [
    # A write has one key, however often it is sent.
    ("add to cart", [CUT, BUSY, UNKNOWN, COUNT], 5, 2, 4),
    # Whoever made a mistake hears of it at once.
    ("add to cart", [(409, "SOLDOUT"), COUNT], 5, "SOLDOUT", 1),
    ("add to cart", [(422, "IDMISMATCH"), COUNT], 5, "IDMISMATCH", 1),
    # A server may ask for more time than there is.
    ("add to cart", [BUSY, (*UNAVAILABLE, 60)], 20, "UNAVAILABLE", 2),
    # What may have been done is not said to be refused.
    ("add to cart", [UNKNOWN, (*UNAVAILABLE, 60)], 20, "UNKNOWN", 2),
    ("add to cart", [CUT], 0.3, "LOST", None),
    # What has no key is not done twice.
    ("add a token", [UNKNOWN, TOKEN], 5, "UNKNOWN", 1),
    ("add a token", [CUT, TOKEN], 5, "LOST", 1),
    ("add a token", [BUSY, TOKEN], 5, "secret", 2),
])
def test_a_call_is_sent_again_until_it_is_answered_or_the_deadline(
        call, answers, seconds, came_of_it, sent, in_language, request):
    with scripted(*answers) as (url, asked):
        found = in_language(call, url, seconds, request)
    assert found == came_of_it
    assert sent is None or len(asked) == sent
    assert len(set(asked)) == 1


def search_in_python(url, request):
    with pytest.raises(TiffinError):
        Store(url).search_items({"price": (200, None)}, text="pie", cuisine=["thai", "indian"], limit=1)


def search_in_typescript(url, request):
    run_in_node(
        f'import {{ Store }} from "{request.getfixturevalue("typescript")}/src/index.js";'
        f'await new Store("{url}").searchItems('
        '{ price: { from: 200 } }, { text: "pie", cuisine: ["thai", "indian"], limit: 1 }).catch(() => {});')


@pytest.mark.parametrize("search", [search_in_python, search_in_typescript])
def test_a_search_asks_for_its_filters_of_any_name_and_for_its_arguments(search, request):
    with scripted((400, "ARGUMENT")) as (url, asked):
        search(url, request)
    assert [path for _, path, _ in asked] == [
        "/v1/browse?price=200%2C&text=pie&cuisine=thai&cuisine=indian&limit=1"]


def test_the_client_in_swift_sends_again_what_the_others_do(swift):
    item = dict.fromkeys([
        "description", "cuisine", "imageSmall", "availableFrom", "city", "area", "rating", "deliveryMinutes"])
    item |= {"outlet": "o", "item": "pie", "kind": "menuItem", "name": "Pie", "price": 1295, "currency": "GBP",
             "tags": [], "available": True, "outletName": "O", "status": "open"}
    page = {"total": 1, "items": [item], "next": None, "facets": None, "state": "ready"}
    quote = {"cart": "c", "outlet": "o", "version": 1, "currency": "GBP", "lines": [], "subtotal": 2590, "charges": [],
             "total": 2590, "quote": "0123456789abcdef"}
    answers = [CUT, BUSY, (200, page), CUT, UNKNOWN, COUNT, (200, quote), UNAVAILABLE, (409, "TOTALCHANGED")]
    with scripted(*answers) as (url, asked):
        ended = subprocess.run([swift / "order", url], capture_output=True, text=True, timeout=REPLY_SECONDS)
    assert (ended.stdout, ended.returncode) == ("2 × Pie: 25.90 GBP\nshow it again: as the test says\n", 0), ended.stderr
    paths = [path.partition("?")[0] for _, path, _ in asked]
    assert paths == 3 * ["/v1/browse"] + 3 * ["/v1/cart/lines"] + ["/v1/cart/quote"] + 2 * ["/v1/cart/checkout"]
    added, placed = ({key for _, path, key in asked if path == f"/v1/cart/{end}"} for end in ("lines", "checkout"))
    assert len(added) == len(placed) == 1 and added != placed and None not in added | placed


# --- documents


def tree(chance: random.Random, depth=3):
    """A document by chance."""
    kind = chance.choice(["number", "text", "null", "list", "object"] if depth else ["number", "text", "null"])
    match kind:
        case "number":
            return chance.randrange(5)
        case "text":
            return chance.choice(["", "a/b", "~0", "ü"])
        case "list":
            return [tree(chance, depth - 1) for _ in range(chance.randrange(5))]
        case "object":
            return {name: tree(chance, depth - 1) for name in chance.sample(["a", "b/c", "d~e", "", "0"], 3)}


def patches():
    """Documents before, patches, and documents after, as another implementation of RFC 6902 has them."""
    chance = random.Random(7)
    found = []
    for _ in range(200):
        before, after = tree(chance), tree(chance)
        if isinstance(before, (list, dict)) and type(before) is type(after):
            found.append((before, jsonpatch.make_patch(before, after).patch, after))
    return [*found, ([1, 2, 3], [{"op": "move", "from": "/0", "path": "/2"}], [2, 3, 1]),
            ({"a": [1]}, [{"op": "add", "path": "/a/-", "value": 2}], {"a": [1, 2]}),
            ({"a": 1}, [{"op": "replace", "path": "", "value": None}], None)]


def test_patches_are_applied_as_others_apply_them(typescript):
    cases = patches()
    for before, patch, after in cases:
        kept = json.dumps(before)
        assert apply_patch(before, patch) == after and json.dumps(before) == kept
    script = (
        f'import {{ applyPatch }} from "{typescript}/src/patch.js"; let text = "";'
        "for await (const part of process.stdin) text += part;"
        "console.log(JSON.stringify(JSON.parse(text).map(([before, patch]) => applyPatch(before, patch))));")
    assert json.loads(run_in_node(script, json.dumps(cases))) == [after for *_, after in cases]


def test_money_never_mixes_currencies():
    assert str(Money(1650, "GBP") + Money(50, "GBP") * 2) == "17.50 GBP"
    assert (str(Money(-5, "GBP")), str(Money(5, "JPY")), str(Money(5, "KWD"))) == ("-0.05 GBP", "5 JPY", "0.005 KWD")
    assert sum([Money(1, "GBP"), Money(2, "GBP")], Money(0, "GBP")) == Money(3, "GBP") > Money(2, "GBP")
    for mix in (lambda one, other: one + other, lambda one, other: one < other, lambda one, other: one - other):
        with pytest.raises(ValueError, match="GBP and EUR cannot be mixed"):
            mix(Money(1, "GBP"), Money(1, "EUR"))


# --- what is written


def test_the_clients_are_as_their_script_writes_them(tmp_path):
    subprocess.run([CHECKOUT / "Scripts" / "clients", tmp_path], check=True, timeout=REPLY_SECONDS)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) == 12
    for path in written:
        name = path.relative_to(tmp_path)
        assert path.read_text() == (CLIENTS / name).read_text(), f"{name} is out of date; run Scripts/clients"


def test_the_program_that_a_page_shows_is_the_example_that_is_built():
    page = CHECKOUT / "docs" / "start.md"
    shown = {block.file: block.text for block in sessions(page) if block.file}
    assert shown["order/Sources/order/main.swift"] == (CLIENTS / "swift/Examples/order/main.swift").read_text()


def test_each_client_knows_every_code():
    problem = json.loads((CHECKOUT / "docs" / "openapi.json").read_text())["components"]["schemas"]["Problem"]
    codes = problem["properties"]["code"]["enum"]
    errors = ["python/tiffin_client/errors.py", "typescript/src/errors.ts", "swift/Sources/TiffinClient/TiffinError.swift"]
    for path in errors:
        text = (CLIENTS / path).read_text()
        assert [code for code in [*codes, "LOST"] if f'"{code}"' not in text] == [], path
