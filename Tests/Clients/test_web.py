"""The web server over the wire: the store, the console, and what neither lets anybody do."""

import gzip
import http.client
import json
import re
import socket
import threading
from contextlib import ExitStack, closing, contextmanager
from urllib.parse import quote

import jsonpatch
import pytest

import schemas
import tiffin
from test_services import open_bistro
from tiffin import (
    PATIENCE_SECONDS, Server, fresh_database, item_document, put_open_outlet, run_tiffin, section_document,
)

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def web():
    """A server with both sites."""
    with fresh_database() as url, Server(database=url, options=SITES) as server:
        yield server


SITES = ("--web", "127.0.0.1:0", "--console", "127.0.0.1:0")


@pytest.fixture
def outlet(web, name):
    with web.client() as client:
        put_open_outlet(
            client, name, [section_document("mains", [item_document("rice", 125000), item_document("kottu", 98000)])])
    return name


class Browser:
    """Keeps one cookie, as a browser does."""

    def __init__(self, server, site="store"):
        self.address = server.site(site)
        self.cookie = None

    def __call__(self, method, path, body=None, **fields):
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        if self.cookie:
            headers["Cookie"] = self.cookie
        if body is not None:
            headers = JSON | headers
        with closing(http.client.HTTPConnection(self.address, timeout=PATIENCE_SECONDS)) as connection:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            answer.body = answer.read()
        if cookie := answer.headers["Set-Cookie"]:
            self.cookie = cookie.partition(";")[0]
        return answer

    def json(self, method, path, body=None, status=200, **fields):
        answer = self(method, path, body, **fields)
        assert answer.status == status, answer.body
        return json.loads(answer.body)

    @contextmanager
    def stream(self, *topics):
        """The events of a stream: a function that gives the next one's name and data."""
        connection = http.client.HTTPConnection(self.address, timeout=PATIENCE_SECONDS)
        connection.request(
            "GET", "/v1/stream?" + "&".join(f"t={topic}" for topic in topics),
            headers={"Cookie": self.cookie} if self.cookie else {})
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        assert answer.headers["Content-Type"] == "text/event-stream"

        def event():
            lines = []
            while (line := answer.readline()) != b"\n":
                assert line, "the stream ended"
                lines.append(line.decode().rstrip("\n"))
            if lines == [":"]:
                return event()
            (name, data) = lines
            schemas.check_message(name.removeprefix("event: "), data.removeprefix("data: "))
            return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))

        try:
            yield event
        finally:
            answer.close()
            connection.close()


def followed(server):
    """How many questions the server keeps the answers to."""
    with server.client() as client:
        return int(re.search(rb"saved_queries=(\d+)", client("INFO", "projections"))[1])


def problem(answer):
    assert answer.headers["Content-Type"] == "application/problem+json"
    document = json.loads(answer.body)
    assert document["status"] == answer.status
    return answer.status, document["code"]


class TestDocuments:
    def test_a_home_is_that_of_the_line_protocol_and_has_a_tag_until_it_changes(self, web, outlet):
        browser = Browser(web)
        with web.client() as client:
            path = f"/v1/outlets/{outlet}/home"
            first = browser("GET", path)
            assert first.body == client("OUTLET.HOME", outlet)
            tag = first.headers["ETag"]
            assert tag.startswith('W/"')
            again = browser("GET", path, If_None_Match=f'"x", {tag}')
            assert (again.status, again.body, again.headers["ETag"]) == (304, b"", tag)
            client("MENU.ITEM.PRICE", outlet, "rice", 130000)
            changed = browser("GET", path, If_None_Match=tag)
            assert changed.status == 200
            assert changed.headers["ETag"] != tag
            head = browser("HEAD", path)
            assert (head.status, head.body) == (200, b"")
            assert int(head.headers["Content-Length"]) == len(changed.body)
            revision = json.loads(first.body)["revision"]
            change = browser.json("GET", f"{path}?since={revision}")
            assert jsonpatch.apply_patch(json.loads(first.body), change["patch"]) == json.loads(changed.body)
            assert browser("GET", f"{path}?since={change['to']}").status == 204

    def test_questions_are_those_of_the_line_protocol(self, web, outlet):
        browser = Browser(web)
        with web.client() as client:
            assert browser("GET", f"/v1/outlets/{outlet}/items/rice").body == client("ITEM.GET", outlet, "rice")
            assert browser("GET", f"/v1/outlets/{outlet}/menu").body == client("MENU.GET", outlet)
            question = f"/v1/browse?outlet={outlet}&text=ric&price=100000,&not.tag=hot&sort=price&limit=5&facets=cuisines"
            assert browser("GET", question).body == client(
                "BROWSE", "OUTLET", outlet, "TEXT", "ric", "PRICE", 100000, "*", "NOT", "TAG", "hot", "SORT", "price",
                "LIMIT", 5, "FACETS", "cuisines")
            assert browser.json("GET", f"/v1/surprise?outlet={outlet}")["outlet"] == outlet
            assert browser.json("GET", f"/v1/outlets?outlet={outlet}")["total"] == 1

    def test_a_cart_and_an_order_are_led_on_from_a_version(self, web, outlet):
        browser, console = Browser(web), Browser(web, "console")
        line = {"outlet": outlet, "item": "rice", "quantity": 1}
        browser.json("POST", "/v1/cart/lines", line)
        cart = browser.json("GET", "/v1/cart")
        assert browser("GET", "/v1/cart?since=1").status == 204
        browser.json("POST", "/v1/cart/lines", line)
        change = browser.json("GET", "/v1/cart?since=1")
        assert jsonpatch.apply_patch(cart, change["patch"]) == browser.json("GET", "/v1/cart")
        assert console.json("GET", f"/v1/carts/{cart['cart']}?since=1") == change
        assert browser.json("GET", "/v1/cart?since=0") == browser.json("GET", "/v1/cart")
        order = browser.json("POST", "/v1/cart/checkout", {"total": 250000}, status=201)["order"]
        path = f"/v1/orders/{order}"
        placed = browser.json("GET", path)
        assert browser("GET", f"{path}?since=1").status == 204
        console.json("POST", f"{path}/accept", {})
        change = browser.json("GET", f"{path}?since=1")
        assert jsonpatch.apply_patch(placed, change["patch"]) == browser.json("GET", path)
        # Somebody else's is not there, whatever the version.
        assert Browser(web)("GET", f"{path}?since=1").body == b""

    def test_what_is_not_there_or_makes_no_sense_is_said_with_a_code(self, web, outlet):
        browser = Browser(web)
        assert problem(browser("GET", "/v1/outlets/nowhere/home")) == (404, "NOTFOUND")
        assert problem(browser("GET", "/v1/nonsense")) == (404, "NOTFOUND")
        assert problem(browser("GET", "/v1/outlets/no%20id/home")) == (400, "INVALID")
        assert problem(browser("GET", "/v1/browse?nonsense=1")) == (400, "INVALID")
        assert problem(browser("GET", f"/v1/outlets/{outlet}/home?since=x")) == (400, "INVALID")
        assert problem(browser("GET", "/%ff")) == (400, "ERR")
        assert problem(browser("GET", "/v1/log/head")) == (404, "NOTFOUND")
        answer = browser("PUT", f"/v1/outlets/{outlet}/home")
        assert problem(answer) == (405, "ERR")
        assert answer.headers["Allow"] == "GET, HEAD"
        line = {"outlet": outlet, "item": "rice", "quantity": 1}
        assert problem(browser("POST", "/v1/cart/lines", line, Content_Type="text/plain")) == (415, "ERR")
        assert problem(browser("POST", "/v1/cart/lines", [line])) == (400, "INVALID")
        assert problem(browser("POST", "/v1/cart/lines", line | {"colour": "red"})) == (400, "INVALID")
        assert problem(browser("POST", "/v1/cart/lines", {"outlet": outlet})) == (400, "INVALID")


class TestCarts:
    def test_a_cart_from_its_first_line_to_its_order(self, web, outlet):
        browser = Browser(web)
        assert browser.json("GET", "/v1/cart") is None
        assert browser.json("GET", "/v1/cart/count") == {"count": 0}
        line = {"outlet": outlet, "item": "rice", "quantity": 2}
        assert browser.json("POST", "/v1/cart/lines", line, Idempotency_Key="tap-1") == {"count": 2}
        assert browser.json("POST", "/v1/cart/lines", line, Idempotency_Key="tap-1") == {"count": 2}
        assert problem(browser("POST", "/v1/cart/lines", line | {"quantity": 3}, Idempotency_Key="tap-1")) == (
            422, "IDMISMATCH")
        assert browser.json("POST", "/v1/cart/lines", line | {"note": "hot"}) == {"count": 4}
        assert browser.json("PATCH", "/v1/cart/lines/rice~2", {"quantity": 1}) == {"count": 3}
        assert browser.json("DELETE", "/v1/cart/lines/rice~2") == {"count": 2}
        cart = browser.json("GET", "/v1/cart")
        assert (cart["count"], cart["total"]) == (2, 250000)
        assert problem(browser("POST", "/v1/cart/lines", line, **{"Idempotency-Key": "x" * 65})) == (400, "INVALID")
        assert problem(browser("DELETE", "/v1/cart/lines?version=1")) == (409, "CONFLICT")
        assert problem(browser("POST", "/v1/cart/checkout", {"total": 1})) == (409, "TOTALCHANGED")
        placed = browser("POST", "/v1/cart/checkout", {"total": 250000})
        assert placed.status == 201
        order = json.loads(placed.body)["order"]
        assert placed.headers["Location"] == f"/v1/orders/{order}"
        assert browser.json("GET", f"/v1/orders/{order}")["total"] == 250000
        assert browser.json("GET", "/v1/cart") is None, "the next cart is another one"
        assert problem(Browser(web)("GET", f"/v1/orders/{order}")) == (404, "NOTFOUND")
        other = Browser(web)
        other("GET", "/discover")
        assert problem(other("GET", f"/v1/orders/{order}")) == (404, "NOTFOUND")
        console = Browser(web, "console")
        assert console.json("GET", f"/v1/orders/{order}")["order"] == order
        assert order in [row["order"] for row in console.json("GET", "/v1/orders?count=100")["orders"]]
        assert console.json("GET", "/v1/orders?at=0")["orders"] == []

    def test_options_a_tip_and_a_quote(self, web, name):
        sizes = [{"id": "small", "name": "Small", "price": 500}, {"id": "large", "name": "Large", "price": 800}]
        with web.client() as client:
            put_open_outlet(
                client, name, [section_document("all", [item_document("pie", None, options=["size"])])],
                [{"id": "size", "title": "Size", "setsPrice": True, "options": sizes}])
        browser, line = Browser(web), {"outlet": name, "item": "pie", "quantity": 1}
        assert problem(browser("POST", "/v1/cart/lines", line)) == (409, "CHOICE")
        assert browser.json("POST", "/v1/cart/lines", line | {"options": "small"}) == {"count": 1}
        assert browser.json("PUT", "/v1/cart/lines/pie+small", {"options": "large"}) == {"count": 1}
        assert browser.json("PUT", "/v1/cart/tip", {"amount": 50}) == {"count": 1}
        quote = browser.json("GET", "/v1/cart/quote")
        assert quote["total"] == 850
        order = browser.json("POST", "/v1/cart/checkout", {"quote": quote["quote"]}, 201)["order"]
        assert browser.json("GET", f"/v1/orders/{order}")["charges"] == quote["charges"]

    def test_a_browser_chooses_how_an_order_is_had_and_says_what_is_needed(self, web, name):
        with web.client() as client:
            open_bistro(client, name)
        browser = Browser(web)
        browser.json("POST", "/v1/cart/lines", {"outlet": name, "item": "soup", "quantity": 2})
        assert browser.json("PUT", "/v1/cart/service", {"service": "delivery"}) == {"count": 2}
        quote = browser.json("GET", "/v1/cart/quote")
        assert (quote["service"], quote["requires"]) == ("delivery", ["name", "phone", "address"])
        body = {"quote": quote["quote"], "name": "Asha", "phone": "0171 5550100"}
        refused = browser("POST", "/v1/cart/checkout", body)
        assert problem(refused) == (409, "REQUIRED")
        assert json.loads(refused.body)["detail"].startswith("address: ")
        order = browser.json("POST", "/v1/cart/checkout", body | {"address": "12 Mill Road"}, 201)["order"]
        document = browser.json("GET", f"/v1/orders/{order}")
        assert (document["service"], document["phone"], document["address"]) == (
            "delivery", "0171 5550100", "12 Mill Road")

    def test_nobody_reaches_the_cart_of_another(self, web, outlet):
        one, other = Browser(web), Browser(web)
        for browser, quantity in ((one, 1), (other, 2)):
            browser.json("POST", "/v1/cart/lines", {"outlet": outlet, "item": "rice", "quantity": quantity})
        cart = one.json("GET", "/v1/cart")["cart"]
        assert cart != other.json("GET", "/v1/cart")["cart"]
        assert problem(other("GET", f"/v1/stream?t=cart:{cart}")) == (403, "NOPERM")
        assert problem(other("GET", f"/v1/carts/{cart}")) == (404, "NOTFOUND")
        other.cookie = f"__Host-tiffin={'0' * 64}.1"
        assert other.json("GET", "/v1/cart") is None

    def test_calls_are_counted_with_those_of_the_line_protocol(self, web, outlet):
        def calls():
            with web.client() as client:
                found = re.search(rb"cmdstat_cart\.add:calls=(\d+)", client("INFO", "commandstats"))
                return int(found[1]) if found else 0

        before = calls()
        Browser(web).json("POST", "/v1/cart/lines", {"outlet": outlet, "item": "rice", "quantity": 1})
        assert calls() == before + 1


class TestStreams:
    def test_a_stream_leads_from_a_revision_to_now_and_on(self, web, outlet):
        browser = Browser(web)
        browser("GET", "/discover")
        with web.client() as client:
            old = client.json("OUTLET.HOME", outlet)
            client("MENU.ITEM.PRICE", outlet, "rice", 1)
            with browser.stream("cart", f"home:{outlet}@{old['revision']}") as event:
                state = {"cart": None, f"home:{outlet}": old}

                def take():
                    name, message = event()
                    state[name] = jsonpatch.apply_patch(state[name], message["patch"])
                    return name, message

                first = dict([take(), take()])
                assert first[f"home:{outlet}"]["from"] == old["revision"]
                assert len(first[f"home:{outlet}"]["patch"]) < 5
                assert state == {"cart": None, f"home:{outlet}": client.json("OUTLET.HOME", outlet)}
                client("MENU.ITEM.PRICE", outlet, "rice", 2)
                name, message = take()
                assert (name, message["from"]) == (f"home:{outlet}", first[name]["to"])
                assert state[name] == client.json("OUTLET.HOME", outlet)
                browser.json("POST", "/v1/cart/lines", {"outlet": outlet, "item": "rice", "quantity": 2})
                assert take()[0] == "cart"
                assert state["cart"] == browser.json("GET", "/v1/cart")

    def test_a_reader_that_is_slow_misses_nothing_and_keeps_nobody_waiting(self, web, name):
        item = [item_document(f"i{number}", 100, description="x" * 1900) for number in range(400)]
        with web.client() as client, closing(socket.create_connection(web.site("store").split(":"), PATIENCE_SECONDS)) as slow:
            put_open_outlet(client, name, [section_document("mains", item)])
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            slow.sendall(f"GET /v1/stream?t=home:{name} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            reader = slow.makefile("rb")
            for price in range(1, 17):
                client("MENU.PUT", name, json.dumps({"sections": [section_document("mains", [
                    one | {"description": f"{price}" * 950} for one in item])]}))
            home = client.json("OUTLET.HOME", name)
            state, messages = None, 0
            while state is None or state["revision"] < home["revision"]:
                line = reader.readline()
                assert line, "the stream ended"
                if line.startswith(b"data: "):
                    messages += 1
                    state = jsonpatch.apply_patch(state, json.loads(line[6:])["patch"])
            assert state == home
            assert messages < 16, "nothing was left out"

    def test_a_badge_can_be_followed_alone(self, web, outlet):
        browser = Browser(web)
        browser("GET", "/discover")
        with browser.stream("cart_count") as event:
            count, revision = None, None
            for quantity, expected in ((None, 0), (2, 2), (3, 5)):
                if quantity:
                    browser.json("POST", "/v1/cart/lines", {"outlet": outlet, "item": "rice", "quantity": quantity})
                name, message = event()
                assert name == "cart_count" and revision in (None, message["from"])
                count, revision = jsonpatch.apply_patch(count, message["patch"]), message["to"]
                assert count == expected

    def test_a_question_is_followed_once_for_everybody_who_asks_it(self, web, outlet):
        tiffin.wait_until(lambda: followed(web) == 0, "the end of other streams to be noticed")
        questions = f"text=RICE&outlet={outlet}&limit=5", f"outlet={outlet}&text=rice&limit=5"
        streams = [Browser(web).stream(quote(f"browse?{question}")) for question in questions]
        states, names = [None, None], [f"browse?{question}" for question in questions]
        with streams[0] as one, streams[1] as other, web.client() as client:

            def take():
                for place, event in enumerate((one, other)):
                    name, message = event()
                    assert name == names[place], "an event has the name that its client gave"
                    states[place] = jsonpatch.apply_patch(states[place], message["patch"])
                answer = client.json("BROWSE", "OUTLET", outlet, "TEXT", "rice", "LIMIT", 5)
                assert states[0] == states[1], "both follow the same"
                assert (states[0]["total"], states[0]["items"]) == (answer["total"], answer["items"])

            take()
            assert followed(web) == 1
            client("MENU.ITEM.PRICE", outlet, "rice", 2)
            take()
            client("MENU.ITEM.PUT", outlet, "mains", "fried", json.dumps(item_document("fried", 3, name="Fried rice")))
            take()
            assert states[0]["total"] == 2
            with Browser(web).stream(quote(f"outlets?outlet={outlet}")) as places:
                assert places()[1]["patch"][0]["value"]["items"][0]["id"] == outlet
        tiffin.wait_until(lambda: followed(web) == 0, "what nobody follows to be dropped")

    def test_questions_that_cannot_be_followed_leave_nothing_behind(self, web, outlet):
        browser = Browser(web)
        good = quote(f"browse?outlet={outlet}")
        for topics, expected in (
            ([f"browse?outlet={outlet}&nonsense=1"], (400, "INVALID")), (["browse?price=four"], (400, "INVALID")),
            (["browse?after=x"], (400, "INVALID")), (["browse?outlet=nowhere"], (404, "NOTFOUND")),
            (["items?outlet=x"], (400, "INVALID")), (["browse?text=%"], (400, "INVALID")),
            ([f"browse?outlet={outlet}\ndata: x"], (400, "INVALID")), ([f"browse?outlet={outlet}"], (400, "INVALID")),
            (["question:question-1"], (400, "INVALID")),
        ):
            refused = browser("GET", f"/v1/stream?t={good}&" + "&".join(f"t={quote(topic)}" for topic in topics))
            assert problem(refused) == expected, topics
        tiffin.wait_until(lambda: followed(web) == 0, "what was not followed to be dropped")
        with ExitStack() as streams:
            for first in (1, 26):
                streams.enter_context(Browser(web).stream(*(
                    quote(f"browse?outlet={outlet}&limit={limit}") for limit in range(first, first + 25))))
            assert followed(web) == 50
            assert problem(browser("GET", f"/v1/stream?t={quote(f'browse?outlet={outlet}&limit=99')}")) == (409, "LIMIT")
            with browser.stream(quote(f"browse?limit=7&outlet={outlet}")) as event:
                assert event()[1]["patch"][0]["value"]["total"] == 2, "what others follow can be followed"

    def test_streams_have_bounds(self, web, outlet):
        browser = Browser(web)
        browser("GET", "/discover")
        assert problem(browser("GET", "/v1/stream")) == (400, "INVALID")
        assert problem(browser("GET", "/v1/stream?t=nonsense:x")) == (400, "INVALID")
        assert problem(browser("GET", f"/v1/stream?t=home:{outlet}&t=home:{outlet}@1")) == (400, "INVALID")
        assert problem(browser("GET", f"/v1/stream?t=home:{outlet}@x")) == (400, "INVALID")
        many = "&".join(f"t=home:o{number}" for number in range(33))
        assert problem(browser("GET", f"/v1/stream?{many}")) == (409, "LIMIT")
        assert problem(Browser(web)("GET", "/v1/stream?t=cart")) == (400, "INVALID")
        streams = [browser.stream("cart") for _ in range(8)]
        for stream in streams:
            stream.__enter__()
        assert problem(browser("GET", "/v1/stream?t=cart")) == (409, "LIMIT")
        assert problem(browser("GET", "/v1/stream?t=cart", Sec_Fetch_Site="cross-site")) == (403, "DENIED")
        for stream in streams:
            stream.__exit__(None, None, None)

        def opens():
            try:
                with browser.stream("cart"):
                    return True
            except AssertionError:
                return False

        tiffin.wait_until(opens, "the end of a stream to be noticed")


class TestPages:
    def test_a_page_has_its_document_and_leads_to_files_that_never_change(self, web, outlet):
        browser = Browser(web)
        with web.client() as client:
            client("OUTLET.PUT", outlet, json.dumps(tiffin.outlet_document(name="</script><b>")))
            page = browser("GET", f"/o/{outlet}")
            assert "script-src 'self'" in page.headers["Content-Security-Policy"]
            assert b"</script><b>" not in page.body
            path, document = re.search(
                rb'<script type="application/json" id="document" data-path="([^"]*)">(.*?)</script>', page.body).groups()
            assert path.decode() == f"/v1/outlets/{outlet}/home"
            assert json.loads(document) == client.json("OUTLET.HOME", outlet)
            # Whoever is sent the address sees what it is of, with all texts as texts.
            assert b"<title>&lt;/script&gt;&lt;b&gt;</title>" in page.body
            item = tiffin.item_document("pie", 900, name='A "Pie" & more', description="With <cream>")
            client("MENU.PUT", outlet, json.dumps({"sections": [tiffin.section_document("all", [item])]}))
            page = browser("GET", f"/o/{outlet}")
            assert b'<meta property="og:image" content="https://example.com/pie-small.jpg">' in page.body
            shared = browser("GET", f"/o/{outlet}?item=pie").body
            for element in (b"<title>A &quot;Pie&quot; &amp; more \xc2\xb7 &lt;/script&gt;&lt;b&gt;</title>",
                            b'<meta name="description" content="With &lt;cream&gt;">',
                            b'<meta property="og:image" content="https://example.com/pie-large.jpg">'):
                assert element in shared, shared[:2000]
            assert b"<title>&lt;/script" in browser("GET", f"/o/{outlet}?item=nothing").body
        manifest = json.loads(browser("GET", re.search(r'rel="manifest" href="([^"]*)"', page.body.decode())[1]).body)
        assert browser("GET", manifest["icons"][0]["src"]).status == 200
        short = browser("GET", f"/o/{outlet}", Accept_Encoding="gzip")
        assert short.headers["Content-Encoding"] == "gzip" and short.headers["ETag"] == page.headers["ETag"]
        assert gzip.decompress(short.body) == page.body and len(short.body) < len(page.body) / 2
        assert browser("GET", f"/o/{outlet}", If_None_Match=page.headers["ETag"]).status == 304
        assert browser("GET", "/o/nowhere").status == 404
        style = re.search(r'"(/a/[^"]*\.css)"', page.body.decode())[1]
        plain = browser("GET", style)
        assert plain.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert plain.headers["Content-Type"].startswith("text/css")
        packed = browser("GET", style, Accept_Encoding="gzip")
        if packed.headers["Content-Encoding"]:
            assert gzip.decompress(packed.body) == plain.body
        assert browser("GET", style.replace("/a/", "/a/0")).status == 404
        assert browser("GET", "/").headers["Location"] == "/discover"

    def test_the_console_shows_what_info_does(self, web):
        info = Browser(web, "console").json("GET", "/v1/info")
        assert int(info["log"]["partition0_position"]) >= 0
        assert info["server"]["tcp_port"] == str(web.port)
        assert problem(Browser(web)("GET", "/v1/info")) == (404, "NOTFOUND")

    def test_how_it_is(self, web):
        for site in ("store", "console"):
            assert Browser(web, site)("GET", "/healthz").body == b"ok\n"
            assert Browser(web, site)("GET", "/readyz").body == b"ready\n"


def exchange(address, data):
    """Everything that the server sends to this, until it closes or says nothing more."""
    with closing(socket.create_connection(address.split(":"), PATIENCE_SECONDS)) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while more := connection.recv(65536):
            received += more
        return received


class TestBytes:
    HOME = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"

    def test_requests_in_one_piece_are_answered_in_order_and_writes_wait_for_the_log(self, web, outlet):
        secret = "1" * 64
        body = json.dumps({"outlet": outlet, "item": "rice", "quantity": 1}).encode()
        add = (
            b"POST /v1/cart/lines HTTP/1.1\r\nHost: localhost\r\nCookie: __Host-tiffin=%s.1\r\n"
            b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s") % (secret.encode(), len(body), body)
        count = b"GET /v1/cart/count HTTP/1.1\r\nHost: localhost\r\nCookie: __Host-tiffin=%s.1\r\n\r\n" % secret.encode()
        received = exchange(web.site("store"), add + count + add * 3 + count + self.HOME)
        assert re.findall(rb'"count":(\d+)', received) == [b"1", b"1", b"2", b"3", b"4", b"4"]
        assert received.endswith(b"ok\n")

    @pytest.mark.parametrize("fields, status", [
        (b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", 501), (b"Content-Length: 4\r\nContent-Length: 40\r\n", 400),
        (b"Content-Length : 4\r\n", 400), (b"X: y\r\n Content-Length: 4\r\n", 400), (b"X: y\nContent-Length: 4\r\n", 400),
        (b"Content-Length: 70000\r\n", 413), (b"X: " + b"y" * 9000 + b"\r\n", 431), (b"Host: localhost\r\n", 400),
    ])
    def test_nothing_behind_a_request_that_could_be_read_in_two_ways_is_answered(self, web, fields, status):
        received = exchange(
            web.site("store"), b"POST /v1/cart/lines HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % fields + self.HOME)
        assert received.startswith(b"HTTP/1.1 %d " % status)
        assert b"Connection: close" in received
        assert received.count(b"HTTP/1.1 ") == 1

    def test_a_body_is_asked_for_where_a_client_waits_for_that(self, web):
        with closing(socket.create_connection(web.site("store").split(":"), PATIENCE_SECONDS)) as connection:
            connection.sendall(
                b"POST /v1/cart/lines HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n")
            assert connection.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
            connection.sendall(b"{}")
            assert connection.recv(4096).startswith(b"HTTP/1.1 400 ")


class TestStrangers:
    def test_a_name_that_is_not_ours_is_answered_nothing(self, web, outlet):
        browser = Browser(web)
        for host in ("evil.example", "evil.example:7380", "localhost.evil.example"):
            assert problem(browser("GET", f"/v1/outlets/{outlet}/home", Host=host)) == (421, "DENIED")

    def test_a_page_of_another_origin_changes_nothing(self, web, outlet):
        browser = Browser(web)
        line = {"outlet": outlet, "item": "rice", "quantity": 1}
        browser.json("POST", "/v1/cart/lines", line)
        for fields in (
            {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}, {"Origin": "http://evil.example"},
            {"Origin": "null"},
        ):
            assert problem(browser("POST", "/v1/cart/lines", line, **fields)) == (403, "DENIED")
        assert browser.json("GET", "/v1/cart/count") == {"count": 1}
        assert browser("OPTIONS", "/v1/cart/lines", Origin="http://evil.example").status == 403
        assert "Access-Control-Allow-Origin" not in browser("GET", "/v1/cart", Origin="http://evil.example").headers

    def test_hosts_have_to_be_named_and_proxies_are_believed_where_they_are_known(self, database):
        options = ("--web-host", "shop.example", "--web-proxy", "127.0.0.1", *SITES)
        with Server(database=database, options=options) as server:
            browser = Browser(server)
            page = browser("GET", "/discover", Host="shop.example")
            assert (page.status, page.headers["Set-Cookie"]) == (200, None)
            page = browser("GET", "/discover", Host="shop.example", X_Forwarded_Proto="https")
            assert "Secure" in page.headers["Set-Cookie"]

    def test_a_store_that_others_can_reach_needs_users(self, database):
        run = run_tiffin("serve", "--listen", "127.0.0.1:0", "--web", "0.0.0.0:0", "--database", database)
        assert run.returncode == 1
        assert "there are no users" in run.stderr

    def test_with_users_the_console_is_for_those_who_have_a_token(self, database):
        with Server(database=database, options=SITES) as server:
            console, store = Browser(server, "console"), Browser(server)
            assert console("GET", "/v1/log/head").status == 200
            for name, role in (("asha", "auditor"), ("root", "admin")):
                run_tiffin("user", "add", name, "--role", role, "--no-password", "--database", database)
            token = run_tiffin("user", "token", "asha", "--database", database).stdout.split()[-1]
            tiffin.wait_until(
                lambda: console("GET", "/v1/log/head").status == 401, "the users to be known")
            assert problem(console("GET", "/v1/log/head", Authorization="Bearer asha:tiffin_0")) == (401, "NOAUTH")
            bearer = {"Authorization": f"Bearer asha:{token}"}
            tiffin.wait_until(
                lambda: console("GET", "/v1/log/head", **bearer).status == 200, "the token to be known")
            assert problem(console("DELETE", "/v1/outlets/x", **bearer)) == (403, "NOPERM")
            assert store("GET", "/v1/browse").status == 200


class TestLogins:
    """Browsers at the console: a login with a cookie."""

    PASSWORD = "correct horse"

    @pytest.fixture(scope="class")
    def guarded(self):
        with fresh_database() as url:
            assert run_tiffin("migrate", "--database", url).returncode == 0
            for name, role in (("root", "admin"), ("judge", "auditor"), ("gone", "admin"), ("lost", "auditor")):
                run_tiffin("user", "add", name, "--role", role, "--database", url, text=f"{self.PASSWORD}\n")
            with Server(database=url, options=SITES) as server:
                yield server, url

    @staticmethod
    def log_in(console, name, password=PASSWORD, **fields):
        return console("POST", "/v1/session", {"name": name, "password": password}, **fields)

    def test_a_browser_logs_in_and_out(self, guarded):
        console = Browser(guarded[0], "console")
        assert console("GET", "/login").status == 200
        assert problem(console("GET", "/v1/session")) == (401, "NOAUTH")
        answer = self.log_in(console, "judge")
        assert (answer.status, json.loads(answer.body)) == (200, {"user": "judge", "role": "auditor"})
        cookie = answer.headers["Set-Cookie"]
        assert re.fullmatch(
            r"__Host-tiffin-console=[0-9a-f]{64}; Path=/; Max-Age=28800; Secure; HttpOnly; SameSite=Strict", cookie)
        assert console.json("GET", "/v1/session") == {"user": "judge", "role": "auditor"}
        assert console("GET", "/v1/log/head").status == 200
        assert problem(console("DELETE", "/v1/outlets/x")) == (403, "NOPERM")
        # What a program sends counts before the cookie.
        assert problem(console("GET", "/v1/session", Authorization="Bearer judge:nonsense")) == (401, "NOAUTH")
        logged_in = console.cookie
        answer = console("DELETE", "/v1/session")
        assert answer.status == 204 and "Max-Age=0" in answer.headers["Set-Cookie"]
        console.cookie = logged_in
        assert console("GET", "/v1/log/head").status == 401

    def test_what_does_not_log_in(self, guarded):
        console = Browser(guarded[0], "console")
        for name, password in (("judge", "wrong password"), ("nobody", self.PASSWORD), ("judge", "tiffin_" + "0" * 64)):
            answer = self.log_in(console, name, password)
            assert problem(answer) == (401, "WRONGPASS") and answer.headers["Set-Cookie"] is None
        for body in ({"name": "judge"}, {"name": "judge", "password": "x", "more": 1}, []):
            assert problem(console("POST", "/v1/session", body)) == (400, "INVALID")
        assert problem(self.log_in(console, "judge", Sec_Fetch_Site="cross-site")) == (403, "DENIED")
        assert problem(self.log_in(console, "judge", Content_Type="text/plain")) == (415, "ERR")
        assert problem(console("PUT", "/v1/session", {})) == (405, "ERR")
        assert problem(Browser(guarded[0])("GET", "/v1/session")) == (404, "NOTFOUND")

    def test_an_address_that_fails_often_is_refused(self, database):
        run_tiffin("migrate", "--database", database)
        run_tiffin("user", "add", "root", "--role", "admin", "--database", database, text=f"{self.PASSWORD}\n")
        with Server(database=database, options=("--web-proxy", "127.0.0.1", *SITES)) as server:
            codes = []
            # What has the form of a token costs no check. All at once, as each failure delays the answer to the next.
            tries = [threading.Thread(target=lambda guess=guess: codes.append(problem(self.log_in(
                Browser(server, "console"), "root", f"tiffin_{guess:064x}", X_Forwarded_For="10.0.0.1"))))
                for guess in range(12)]
            for each in tries:
                each.start()
            for each in tries:
                each.join()
            assert set(codes) == {(401, "WRONGPASS")}
            assert problem(self.log_in(Browser(server, "console"), "root", X_Forwarded_For="10.0.0.1")) == (503, "BUSY")
            assert self.log_in(Browser(server, "console"), "root", X_Forwarded_For="10.0.0.2").status == 200

    def test_a_login_and_its_streams_end_with_their_user(self, guarded):
        server, url = guarded
        for name, words in (("gone", ("remove", "gone")), ("lost", ("disable", "lost"))):
            console = Browser(server, "console")
            assert self.log_in(console, name).status == 200
            with console.stream("home:nowhere") as event:
                event()
                assert run_tiffin("user", *words, "--database", url).returncode == 0
                with pytest.raises(AssertionError, match="the stream ended"):
                    event()
            assert problem(console("GET", "/v1/log/head")) == (401, "NOAUTH")

    def test_admins_forget_and_rebuild_and_others_do_not(self, guarded):
        admin, judge = (Browser(guarded[0], "console") for _ in range(2))
        assert self.log_in(admin, "root").status == self.log_in(judge, "judge").status == 200
        for method, path in (("DELETE", "/v1/customers/asha"), ("POST", "/v1/projections/orders/rebuild")):
            assert problem(judge(method, path)) == (403, "NOPERM")
            assert problem(admin(method, path, Origin="http://evil.example")) == (403, "DENIED")
        assert admin.json("DELETE", "/v1/customers/asha") == {
            "customers": [{"customer": "asha", "destroyedKeys": 0, "forgottenBefore": None}], "remainder": None}
        # What has been recorded by then is saved when it is quiet.
        tiffin.wait_until(
            lambda: "saved_position=0," not in admin.json("GET", "/v1/info")["projections"]["partition0_orders"],
            "rows to be saved")
        assert admin.json("POST", "/v1/projections/orders/rebuild", status=202) == {
            "projection": "orders", "state": "running"}
        assert problem(admin("POST", "/v1/projections/nonsense/rebuild")) == (400, "INVALID")
        tiffin.wait_until(
            lambda: admin.json("GET", "/v1/info")["projections"]["rebuild"].startswith("state=done"),
            "the rebuild to be done")
        guarded[0].wait_for_output("user root at 127.0.0.1: customer 'asha' was not known")


def test_without_users_everybody_at_the_console_is_an_admin(web):
    console = Browser(web, "console")
    assert console.json("GET", "/v1/session") == {"user": None, "role": "admin"}
    answer = console("POST", "/v1/session", {"name": "anybody", "password": "anything"})
    assert answer.status == 200 and answer.headers["Set-Cookie"] is None


def test_a_server_that_stops_ends_its_streams(database):
    with Server(database=database, options=SITES) as server:
        browser = Browser(server)
        browser("GET", "/discover")
        with browser.stream("cart") as event:
            event()
            stopping = threading.Thread(target=server.stop)
            stopping.start()
            with pytest.raises(AssertionError, match="the stream ended"):
                event()
            stopping.join()


def test_a_site_that_cannot_be_had_is_an_error_where_it_was_asked_for(database):
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        run = run_tiffin("serve", "--listen", "127.0.0.1:0", "--web", address, "--database", database)
        assert run.returncode == 1
        assert address in run.stderr
