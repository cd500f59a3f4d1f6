"""Ids may have braces, for the hash tags of Redis Cluster: wherever an id goes, they are what they were."""

import csv
import json
import subprocess
import sys
from urllib.parse import quote

import pytest

from test_web import Browser
from tiffin import (
    CHECKOUT, Server, encode, fresh_database, item_document, outlet_document, put_open_outlet, read_log, run_tiffin,
    section_document, sql,
)

WEB = {"TIFFIN_WEB": "127.0.0.1:0", "TIFFIN_CONSOLE": "127.0.0.1:0"}
IDS = ["{asha}-1", "a{b}c", "{}", "}{", "{", "}x{y}z{", "{{u}}"]
OUTLET, CUSTOMER = "{grill}.1", "{asha}"
MENU = [section_document("{s}", [item_document("{tea}", 700, imageSmall="/small", imageLarge="/large")])]


@pytest.fixture(scope="module")
def shop():
    with fresh_database() as database:
        assert run_tiffin("migrate", "--database", database, "--partitions", 3).returncode == 0
        with Server(database=database, environment=WEB) as server:
            server.database = database
            with server.client() as client:
                put_open_outlet(client, OUTLET, MENU)
            yield server


@pytest.fixture
def client(shop):
    with shop.client() as connection:
        yield connection


@pytest.mark.parametrize("cart", IDS)
def test_a_cart_becomes_an_order(client, shop, cart):
    assert client("CART.ADD", cart, OUTLET, "{tea}", 2, "NOTE", "hot", "CUSTOMER", CUSTOMER) == 2
    document = client.json("CART.GET", cart)
    assert (document["cart"], document["outlet"], document["lines"][0]["note"]) == (cart, OUTLET, "hot")
    order = client("CART.CHECKOUT", cart, "TOTAL", 1400, "CUSTOMER", CUSTOMER).decode()
    assert client.json("ORDER.GET", order)["cart"] == cart
    listed = client.json("ORDERS", "OUTLET", OUTLET, "CUSTOMER", CUSTOMER, "COUNT", 100)["orders"]
    assert order in [entry["order"] for entry in listed]
    events = [json.loads(event) for event in client("LOG.READ", "STREAM", f"cart-{cart}")]
    assert [event["stream"] for event in events] == [f"cart-{cart}"] * 2
    for words in [("cart", cart), ("order", order)]:
        run = run_tiffin("why", *words, "--server", f"127.0.0.1:{shop.port}")
        assert run.returncode == 0 and cart in run.stdout, run


@pytest.mark.parametrize("outlet", IDS)
def test_an_outlet_is_found(client, outlet):
    put_open_outlet(client, outlet, [section_document("all", [item_document("bun", 50)])])
    assert client.json("OUTLET.HOME", outlet)["outlet"]["id"] == outlet
    assert client.json("BROWSE", "OUTLET", outlet)["total"] == 1
    assert client.json("OUTLETS", "OUTLET", outlet)["total"] == 1
    assert client.json("BROWSE.SAVE", outlet, "OUTLET", outlet)["total"] == 1
    assert client.json("KITCHEN", outlet)["outlet"] == outlet


@pytest.mark.parametrize("outlet", [OUTLET, *IDS])
@pytest.mark.parametrize("encoded", [quote, str], ids=["encoded", "as it is"])
def test_paths_and_queries_of_the_store_have_braces(shop, client, outlet, encoded):
    put_open_outlet(client, outlet, MENU)
    browser = Browser(shop)
    path = encoded(outlet)
    assert browser.json("GET", f"/v1/outlets/{path}/home")["outlet"]["id"] == outlet
    assert browser.json("GET", f"/v1/outlets/{path}/items/{encoded('{tea}')}")["id"] == "{tea}"
    assert browser.json("GET", f"/v1/browse?outlet={path}")["total"] == 1
    assert browser("GET", f"/o/{path}").status == 200
    with browser.stream(f"home:{path}", quote("browse?outlet=") + path) as event:
        assert {event()[0] for _ in range(2)}
    browser.json("POST", "/v1/cart/lines", {"outlet": outlet, "item": "{tea}", "quantity": 1})
    [line] = browser.json("GET", "/v1/cart")["lines"]
    browser.json("PATCH", f"/v1/cart/lines/{encoded(line['line'])}", {"quantity": 3})
    assert browser.json("GET", "/v1/cart")["count"] == 3
    console = Browser(shop, "console")
    assert console.json("GET", f"/v1/outlets/{path}/kitchen")["outlet"] == outlet


def test_a_channel_names_an_id_with_braces(shop, client):
    channels = [f"home:{OUTLET}", f"kitchen:{OUTLET}", "cart:{c}1"]
    with shop.client() as follower:
        follower.send(encode("SUBSCRIBE", *channels))
        assert {follower.read()[1].decode() for _ in channels} == set(channels)
        client("CART.ADD", "{c}1", OUTLET, "{tea}", 1)
        while follower.read()[1] != b"cart:{c}1":
            pass


def test_whoever_is_confined_to_braces_reaches_no_more(database):
    def user(*words):
        run = run_tiffin("user", *words, "--database", database)
        assert run.returncode == 0, run
        return run.stdout.strip()

    assert run_tiffin("migrate", "--database", database).returncode == 0
    tokens = {}
    for name, role, only in [("{asha}", "customer", CUSTOMER), ("cook", "merchant", OUTLET)]:
        user("add", name, "--role", role, "--only", only, "--no-password")
        tokens[name] = user("token", name)
    assert "{asha}" in user("list")
    assert sql("select count(*) from tiffin.users where '{asha}' = any (grants)", database) == "1"
    with Server(database=database) as server, server.client() as client:
        client("AUTH", "{asha}", tokens["{asha}"])
        assert client("CART.COUNT", "{asha}-1") == 0
        for other in ["{asha}1", "asha-1", "{ash}-1", "{asha"]:
            assert client.error("CART.COUNT", other).code == "NOPERM"
        client("AUTH", "cook", tokens["cook"])
        client("OUTLET.PUT", OUTLET, json.dumps(outlet_document()))
        assert client.error("OUTLET.OPEN", "{grill}").code == "NOPERM"


def test_an_import_takes_ids_with_braces(shop, tmp_path):
    file = tmp_path / "{outlets}.csv"
    with file.open("w") as text:
        csv.writer(text).writerows([["id", "name"], ["{new}-1", "New"], ["{new}|1", "Refused"]])
    run = run_tiffin(
        "import", "outlets", str(file), "--map", "id=id,name=name", "--currency", "INR", "--time-zone", "UTC", "--server", f"127.0.0.1:{shop.port}")
    assert "'{new}|1' is not 1–64 of the characters A–Z a–z 0–9 . _ : - { }" in run.stdout + run.stderr
    with shop.client() as client:
        assert client.json("OUTLET.GET", "{new}-1")["name"] == "New"


def test_receipts_audits_and_restarts(shop, client, tmp_path):
    client("CART.ADD", "{r}1", OUTLET, "{tea}", 1)
    receipt = tmp_path / "receipt.json"
    receipt.write_bytes(client("LOG.PROVE", "cart-{r}1", 1))
    assert run_tiffin("verify", str(receipt)).returncode == 0
    check = subprocess.run([sys.executable, CHECKOUT / "docs" / "check_receipt.py", receipt], capture_output=True, text=True)
    assert check.returncode == 0, check
    count, events = client("CART.COUNT", "{r}1"), len(read_log(client, "PARTITION", 0))
    assert shop.stop() == 0
    audit = run_tiffin("audit", "--database", shop.database)
    assert audit.returncode == 0, audit
    shop.start()
    with shop.client() as again:
        assert again("CART.COUNT", "{r}1") == count
        assert len(read_log(again, "PARTITION", 0)) == events
        assert again.json("OUTLET.HOME", OUTLET)["outlet"]["id"] == OUTLET
        assert again("CUSTOMER.FORGET", CUSTOMER)
    assert run_tiffin("forget", "{}", "--database", shop.database).returncode == 0
    assert run_tiffin("audit", "--database", shop.database).returncode == 0
