"""Which partition a stream is in, and what its order is called: by slots in new logs, by SHA-256 in those that began so."""

import json
import random
import re
import string
import subprocess
import sys
from hashlib import sha256

import pytest
from redis.crc import key_slot

from tiffin import CHECKOUT, Server, fresh_database, item_document, put_open_outlet, read_log, run_tiffin, section_document, sql

PARTITIONS = 5
CARTS = {"slots": 5_000, "sha256": 500}
MENU = [section_document("all", [item_document("tea", 100)])]


def slots(name):
    return key_slot(name.encode()) * PARTITIONS // 16_384


def hashes(name):
    return int(sha256(name.encode()).hexdigest()[:8], 16) % PARTITIONS


def ok(*words):
    run = run_tiffin(*words)
    assert run.returncode == 0, run
    return run.stdout


@pytest.fixture(scope="module", params=["slots", "sha256"])
def log(request):
    """The rule of a log, its database, a server, and many carts with their orders."""
    with fresh_database() as database:
        ok("migrate", "--database", database, "--partitions", PARTITIONS)
        assert sql("select count, placement from tiffin.partition_count", database) == f"{PARTITIONS}|slots"
        if request.param == "sha256":
            go_back(database)
            assert "migration 20" in ok("migrate", "--database", database)
        assert sql("select placement from tiffin.partition_count", database) == request.param
        chance = random.Random(5)
        alphabet = string.ascii_letters + string.digits + "._:-{}"
        # Sorted: the order of a set is another one in every process. What begins with a hyphen is an option to a program.
        carts = sorted({"c" + "".join(chance.choices(alphabet, k=chance.randint(4, 39))) for _ in range(CARTS[request.param])})
        with Server(database=database) as server, server.client() as client:
            put_open_outlet(client, "grill", MENU)
            added = client.pipeline([("CART.ADD", cart, "grill", "tea", 1) for cart in carts])
            assert added == [1] * len(carts)
            placed = client.pipeline([("CART.CHECKOUT", cart, "TOTAL", 100) for cart in carts])
            yield request.param, database, server, {cart: order.decode() for cart, order in zip(carts, placed)}


def go_back(database):
    """As it was before there was another rule."""
    sql("alter table tiffin.partition_count drop column placement; delete from tiffin.migrations where number = 20", database)


def test_an_order_leads_to_the_partition_of_its_cart(log):
    rule, _, server, orders = log
    for cart, order in orders.items():
        if rule == "slots":
            assert re.fullmatch("[0-9a-f]{24}[0-9a-z]{4}", order)
            assert key_slot(order.encode()) == key_slot(cart.encode()), cart
        else:
            assert re.fullmatch("[0-9a-f]{8}-[0-9a-f]{24}", order) and sha256(cart.encode()).hexdigest().startswith(order[:8])
    with server.client() as client:
        answers = client.pipeline([("ORDER.GET", order) for order in orders.values()])
        assert [json.loads(answer)["cart"] for answer in answers] == list(orders)


def test_every_stream_is_where_its_id_leads(log):
    rule, _, server, orders = log
    cart_of = {order: cart for cart, order in orders.items()}
    seen = set()
    with server.client() as client:
        for partition in range(PARTITIONS):
            for event in read_log(client, "PARTITION", partition):
                category, _, name = event["stream"].partition("-")
                seen.add(event["stream"])
                of = slots(name) if rule == "slots" else hashes(cart_of[name] if category == "order" else name)
                assert of == partition, event["stream"]
    assert len(seen) == 2 + 2 * len(orders)


def test_receipts_say_by_which_rule(log, tmp_path):
    rule, _, server, orders = log
    file = tmp_path / "receipt.json"
    with server.client() as client:
        for cart, order in list(orders.items())[:20]:
            for stream in f"cart-{cart}", f"order-{order}":
                receipt = client.json("LOG.PROVE", stream, 1)
                assert receipt["receipt"] == (4 if rule == "slots" else 3) and receipt["partitions"] == PARTITIONS
                file.write_text(json.dumps(receipt))
                ok("verify", str(file))
        check = [sys.executable, CHECKOUT / "docs" / "check_receipt.py", file]
        assert subprocess.run(check, capture_output=True).returncode == 0
        # By the other rule, this cart belongs elsewhere.
        cart = next(cart for cart in orders if slots(cart) != hashes(cart))
        receipt = client.json("LOG.PROVE", f"cart-{cart}", 1)
        file.write_text(json.dumps({**receipt, "receipt": 7 - receipt["receipt"]}))
        assert run_tiffin("verify", str(file)).returncode != 0
        assert subprocess.run(check, capture_output=True).returncode != 0


def test_tools_find_what_they_look_for(log):
    _, database, _, orders = log
    ok("audit", "--database", database)
    ok("migrate", "--database", database)
    for cart, order in list(orders.items())[:3]:
        assert order in ok("why", "cart", cart, "--database", database)
        assert f"from cart {cart}" in ok("why", "order", order, "--database", database)
        assert f"cart-{cart}" in ok("log", "--stream", f"cart-{cart}", "--database", database)


def test_another_rule_in_the_table_is_found(log):
    rule, database, _, _ = log
    other = {"slots": "sha256", "sha256": "slots"}[rule]
    sql(f"update tiffin.partition_count set placement = '{other}'", database)
    try:
        run = run_tiffin("audit", "--database", database)
    finally:
        sql(f"update tiffin.partition_count set placement = '{rule}'", database)
    names = {"slots": "slots", "sha256": "SHA-256"}
    says = f"partition_count is 5 by {names[other]}, and the streams lie as in a log of 5 partitions by {names[rule]}"
    assert run.returncode != 0 and says in run.stdout + run.stderr, run


def test_a_rule_that_there_is_not_is_refused(database):
    ok("migrate", "--database", database)
    sql("alter table tiffin.partition_count drop constraint partition_count_placement_check; "
        "update tiffin.partition_count set placement = 'alphabet'", database)
    run = run_tiffin("log", "--database", database)
    assert run.returncode != 0 and "tiffin.partition_count is damaged" in run.stderr, run
