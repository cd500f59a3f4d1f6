"""People at the store: who they are, what they have ordered, what is left once they are forgotten; and who did what."""

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from test_users import PASSWORD, log_in, user
from test_web import SITES, Browser, problem
from tiffin import (
    Server, binary, fresh_data_dir, fresh_database, item_document, private_address, put_open_outlet, read_log,
    run_tiffin, section_document, sql, wait_until,
)

NOTE = "ring at Mrs Wickramasinghe's"
REASON = "my sister Dilhani cooks tonight"
ERASED = "[erased]"


@pytest.fixture(scope="module")
def shop():
    """A server with both sites and a database of its own, and an outlet that has to accept orders."""
    with fresh_data_dir() as data_dir, Server(data_dir=data_dir, options=SITES) as server, server.client() as client:
        put_open_outlet(
            client, "kitchen", [section_document("all", [item_document("tea", 100), item_document("bun", 50)])],
            minimumOrder=0, acceptWithin=60)
        yield SimpleNamespace(server=server, client=client, data_dir=Path(data_dir), address=private_address(data_dir))


def line(item="tea", **more):
    return {"outlet": "kitchen", "item": item, "quantity": 1, **more}


def check_out(browser, total, **fields):
    return browser.json("POST", "/v1/cart/checkout", {"total": total}, 201, **fields)["order"]


def visitor(browser):
    """The customer that a browser is."""
    return browser.json("GET", "/v1/cart")["cart"].rpartition("-")[0]


def files_with(folder, *needles):
    """The files below a folder that have one of these bytes."""
    found = set()
    for path in folder.rglob("*"):
        try:
            data = path.read_bytes() if path.is_file() else b""
        except FileNotFoundError:
            continue
        if any(needle in data for needle in needles):
            found.add(path.relative_to(folder).parts)
    return found


# --- forgetting


def test_what_is_written_in_the_store_is_sealed_and_forgotten_by_whoever_wrote_it(shop):
    browser, client = Browser(shop.server), shop.client
    browser.json("POST", "/v1/cart/lines", line(note=NOTE))
    browser.json("POST", "/v1/cart/lines", line("bun"))
    browser.json("PUT", "/v1/cart/lines/bun", {"note": f"{NOTE}!"})
    me = visitor(browser)
    order = check_out(browser, 150)
    kept = browser.cookie
    document = client.json("ORDER.GET", order)
    assert [each["note"] for each in document["lines"]] == [NOTE, f"{NOTE}!"]
    assert document["customer"] == me
    kitchen = json.dumps(client.json("KITCHEN", "kitchen"))
    assert NOTE in kitchen
    browser.json("POST", f"/v1/orders/{order}/cancel", {"by": "customer", "code": "CUSTOMER", "reason": REASON})
    assert client.json("ORDER.GET", order)["ending"]["reason"] == REASON
    texts = [text.encode() for text in (NOTE, REASON)]
    keys = [bytes.fromhex(key) for key in sql(
        f"select encode(key, 'hex') from tiffin.customer_keys where customer = '{me}'", shop.address).splitlines()]
    assert len(keys) == 1
    sql("checkpoint", shop.address)
    assert not files_with(shop.data_dir, *texts), "what is stored is ciphertext"
    assert "base" in {part for path in files_with(shop.data_dir, keys[0]) for part in path}
    head = client.json("LOG.HEAD")
    prove = ("LOG.PROVE", f"order-{order}", 1, "HEAD", head[0]["position"], "FORM", "links")
    receipt = client(*prove)

    assert browser.json("DELETE", "/v1/me") == {
        "customers": [{"customer": me, "destroyedKeys": 1, "forgottenBefore": None}], "remainder": None}
    assert browser.cookie == "__Host-tiffin=", "the browser is nobody"

    shown = json.dumps(client.json("ORDER.GET", order)) + json.dumps(client.json("KITCHEN", "kitchen"))
    shown += json.dumps(read_log(client)) + client("ORDER.GET", order, "AT", head[0]["position"]).decode()
    assert ERASED in shown
    assert NOTE not in shown and REASON not in shown
    assert client(*prove) == receipt
    run = subprocess.run([binary(), "verify", "-", "--head", head[0]["digest"]], input=receipt, capture_output=True)
    assert run.returncode == 0, run
    forgotten, = read_log(client, "STREAM", f"customer-{me}")
    assert (forgotten["kind"], forgotten["metadata"]["actor"]) == ("customer.forgotten", me)
    run = run_tiffin("audit", "--data-dir", shop.data_dir)
    assert run.returncode == 0 and run.stdout.splitlines()[-1].startswith("sound"), run

    shop.server.wait_for_output("the table of keys was rewritten without those that were destroyed")
    sql("checkpoint", shop.address)
    # Of the key, the write-ahead log alone still has bytes.
    assert {part for path in files_with(shop.data_dir, *(keys[0][at:at + 16] for at in range(0, 64, 16)))
            for part in path} & {"base", "global", "pg_stat", "pg_wal"} <= {"pg_wal"}
    assert not files_with(shop.data_dir, *texts)

    # A tab that still has the old cookie writes nothing any more, and may say it once more.
    old = Browser(shop.server)
    old.cookie = kept
    assert problem(old("POST", "/v1/cart/lines", line(note=NOTE))) == (410, "FORGOTTEN")
    again, = old.json("DELETE", "/v1/me")["customers"]
    assert again["destroyedKeys"] == 0 and again["forgottenBefore"].startswith("20")
    # And the browser goes on as somebody else.
    assert browser.json("POST", "/v1/cart/lines", line(note="hot")) == {"count": 1}
    assert visitor(browser) != me


def test_a_browser_forgets_nobody_but_itself(shop):
    one, other = Browser(shop.server), Browser(shop.server)
    for browser in (one, other):
        browser.json("POST", "/v1/cart/lines", line(note=NOTE))
    kept = other.cookie
    stranger = Browser(shop.server)
    assert stranger.json("DELETE", "/v1/me") == {"customers": [], "remainder": None}
    assert problem(one("DELETE", f"/v1/me?customer={visitor(other)}")) == (400, "INVALID")
    assert problem(one("DELETE", "/v1/me", {"customer": visitor(other)})) == (400, "INVALID")
    assert problem(one("DELETE", f"/v1/customers/{visitor(other)}")) == (404, "NOTFOUND")
    assert problem(one("DELETE", "/v1/me", Origin="http://evil.example")) == (403, "DENIED")
    one.json("DELETE", "/v1/me")
    assert other.cookie == kept and other.json("GET", "/v1/cart")["lines"][0]["note"] == NOTE


def test_only_who_writes_or_orders_has_a_key(shop):
    browser = Browser(shop.server)
    browser.json("POST", "/v1/cart/lines", line())
    keys = f"select count(*) from tiffin.customer_keys where customer = '{visitor(browser)}'"
    assert sql(keys, shop.address) == "0"
    browser.json("POST", "/v1/cart/lines", line(note=None))
    assert sql(keys, shop.address) == "0"
    check_out(browser, 200)
    assert sql(keys, shop.address) == "1"


# --- orders


def test_a_browser_proves_its_own_orders(shop):
    browser, other = Browser(shop.server), Browser(shop.server)
    browser.json("POST", "/v1/cart/lines", line())
    order = check_out(browser, 100)
    receipt = browser("GET", f"/v1/proof/order-{order}/1").body
    run = subprocess.run([binary(), "verify", "-"], input=receipt, capture_output=True)
    assert run.returncode == 0 and f"order.placed, version 1 of order-{order}" in run.stdout.decode()
    proof = browser("GET", f"/v1/orders/{order}/proof").body
    run = subprocess.run([binary(), "verify", "-"], input=proof, capture_output=True)
    assert run.returncode == 0 and f"of order {order} " in run.stdout.decode()
    other.json("POST", "/v1/cart/lines", line())
    for nobody in other, Browser(shop.server):
        for path in f"proof/order-{order}/1", f"orders/{order}/proof":
            assert nobody.json("GET", f"/v1/{path}", status=404)["code"] == "NOTFOUND"
    cart = shop.client.json("ORDER.GET", order)["cart"]
    for stream in f"cart-{cart}", "outlet-kitchen":
        assert browser("GET", f"/v1/proof/{stream}/1").status == 403


def test_a_browser_lists_its_own_orders(shop):
    browser, other = Browser(shop.server), Browser(shop.server)
    assert browser.json("GET", "/v1/orders")["orders"] == []
    placed = []
    for item, total in (("tea", 100), ("bun", 50), ("tea", 100)):
        browser.json("POST", "/v1/cart/lines", line(item))
        placed.insert(0, check_out(browser, total))
        other.json("POST", "/v1/cart/lines", line(item))
        check_out(other, total)

    def orders(query=""):
        return [order["order"] for order in browser.json("GET", f"/v1/orders{query}")["orders"]]

    assert orders() == placed
    first = browser.json("GET", "/v1/orders?count=2")
    assert [order["order"] for order in first["orders"]] == placed[:2]
    assert orders(f"?count=2&after={first['next']}") == placed[2:]
    assert orders("?status=cancelled") == [] and orders("?outlet=nowhere") == []
    browser.json("POST", "/v1/cart/lines", line())
    others = other.json("GET", "/v1/orders")["orders"][0]["customer"]
    assert problem(browser("GET", f"/v1/orders?customer={others}")) == (403, "NOPERM")
    assert orders(f"?customer={visitor(browser)}") == placed


@pytest.mark.parametrize("site", ["store", "console"])
def test_each_site_serves_a_description_of_its_routes(shop, site):
    browser = Browser(shop.server, site)
    document = browser.json("GET", "/openapi.json")
    assert document["openapi"] == "3.1.0" and document["servers"] == [{"url": "/", "description": site}]
    written = json.loads((Path(__file__).parents[2] / "docs" / "openapi.json").read_text())
    expected = {path: kept for path, methods in written["paths"].items() if (
        kept := {method: each for method, each in methods.items() if site in each["tags"]})}
    assert document["paths"] == expected


# --- sent again


def test_a_checkout_whose_answer_was_lost_leads_to_its_order_whatever_the_cookie_says_by_then(shop):
    browser = Browser(shop.server)
    browser.json("POST", "/v1/cart/lines", line())
    before = browser.cookie
    order = check_out(browser, 100, Idempotency_Key="pay")
    after = browser.cookie
    assert after != before

    def again(total=100):
        answer = browser("POST", "/v1/cart/checkout", {"total": total}, Idempotency_Key="pay")
        return answer.status, json.loads(answer.body).get("order"), answer.headers["Set-Cookie"]

    assert again() == (201, order, None)
    # The next cart has the same in it, and still it is the same checkout.
    browser.json("POST", "/v1/cart/lines", line())
    assert again() == (201, order, None)
    assert browser.json("GET", "/v1/cart/count") == {"count": 1}
    check_out(browser, 100, Idempotency_Key="pay-2")
    assert again() == (201, order, None)
    browser.cookie = before
    assert again()[:2] == (201, order) and browser.cookie == after
    assert len(browser.json("GET", "/v1/orders")["orders"]) == 2
    assert problem(browser("POST", "/v1/cart/checkout", {"total": 100}, Idempotency_Key="other"))[0] == 409


def test_a_tap_whose_answer_was_lost_is_not_taken_into_the_next_cart(shop):
    browser = Browser(shop.server)
    browser.json("POST", "/v1/cart/lines", line(), Idempotency_Key="tap")
    check_out(browser, 100)
    assert browser.json("POST", "/v1/cart/lines", line(), Idempotency_Key="tap") == {"count": 1}
    assert browser.json("GET", "/v1/cart/count") == {"count": 0}
    # Another tap with the same key is another one, in another cart.
    assert browser.json("POST", "/v1/cart/lines", line("bun"), Idempotency_Key="tap") == {"count": 1}
    assert browser.json("GET", "/v1/cart")["lines"][0]["item"] == "bun"


# --- who did it


@pytest.fixture(scope="module")
def guarded():
    """A server with users and both sites."""
    with fresh_database() as database:
        assert run_tiffin("migrate", "--database", database).returncode == 0
        for name, role in (("root", "admin"), ("chef", "merchant"), ("till", "customer")):
            user(database, "add", name, "--role", role, password=PASSWORD)
        with Server(database=database, options=SITES) as server, log_in(server.port, "root") as root:
            put_open_outlet(root, "kitchen", [section_document("all", [item_document("tea", 100)])], minimumOrder=0)
            yield SimpleNamespace(server=server, database=database, root=root)


def metadata(guarded, stream):
    return [event["metadata"] for event in read_log(guarded.root, "STREAM", stream)]


def test_with_users_the_actor_is_who_was_logged_in_and_what_a_client_says_is_a_claim(guarded):
    with log_in(guarded.server.port, "chef") as chef, log_in(guarded.server.port, "till") as till:
        chef("MENU.ITEM.PRICE", "kitchen", "tea", 110, "ACTOR", "boss")
        assert metadata(guarded, "menu-kitchen")[-1] == {"actor": "chef", "claim": "boss"}
        till("CART.ADD", "c", "kitchen", "tea", 1, "ID", "one", "FLOW", "visit")
        first, = metadata(guarded, "cart-c")
        assert first.pop("args") and first == {"id": "one", "flow": "visit", "actor": "till", "claim": None}
        # Who sends it again, and as whom, makes no other command of it.
        assert chef.error("CART.ADD", "c", "kitchen", "tea", 1).code == "NOPERM"
        assert guarded.root("CART.ADD", "c", "kitchen", "tea", 1, "ID", "one", "ACTOR", "x", "FLOW", "visit") == 1
        assert len(metadata(guarded, "cart-c")) == 1
        # Another login on the same connection is another actor.
        assert till("AUTH", "root", PASSWORD) == "OK"
        order = till("CART.CHECKOUT", "c", "TOTAL", 110).decode()
        assert metadata(guarded, f"order-{order}") == [{"actor": "root", "claim": None}]
        run = run_tiffin("why", "outlet", "kitchen", "--database", guarded.database)
        assert "by chef (who says 'boss')" in run.stdout, run


def test_over_http_the_actor_is_who_was_logged_in_or_the_browser(guarded):
    console, store = Browser(guarded.server, "console"), Browser(guarded.server)
    assert console("POST", "/v1/session", {"name": "chef", "password": PASSWORD}).status == 200
    console.json("PUT", "/v1/outlets/kitchen/items/tea/price", {"price": 120})
    assert metadata(guarded, "menu-kitchen")[-1] == {"actor": "chef", "claim": None}
    store.json("POST", "/v1/cart/lines", {"outlet": "kitchen", "item": "tea", "quantity": 1, "note": NOTE})
    me = visitor(store)
    order = check_out(store, 120)
    for stream in (f"cart-{me}-1", f"order-{order}"):
        assert {each["actor"] for each in metadata(guarded, stream)} == {me}
    token = user(guarded.database, "token", "chef")
    bearer = {"Authorization": f"Bearer chef:{token}"}
    program = Browser(guarded.server, "console")
    wait_until(lambda: program("GET", "/v1/session", **bearer).status == 200, "the token to be known")
    program.json(
        "POST", f"/v1/orders/{order}/cancel", {"by": "merchant", "code": "ITEMS", "reason": REASON}, **bearer)
    assert metadata(guarded, f"order-{order}")[-1] == {"actor": "chef", "claim": None}


def test_without_users_the_actor_is_what_a_client_says(shop):
    shop.client("CART.ADD", "plain", "kitchen", "tea", 1, "ACTOR", "till-2")
    assert [event["metadata"] for event in read_log(shop.client, "STREAM", "cart-plain")] == [{"actor": "till-2"}]
