"""1,834 carts made from the order lines of a real shop give the file's counts and totals."""

import csv
import re
from collections import defaultdict

from tiffin import item_document, put_open_outlet, section_document

SHOP = "chipotle"


def read_orders(folder):
    """Order id → [(item id, quantity, note, line total in cents)], and item id → (name, unit price)."""
    orders, menu = defaultdict(list), {}
    with open(folder / "chipotle-orders.tsv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            quantity = int(row["quantity"])
            dollars, cents = row["item_total_price"].strip(" $").split(".")
            total = int(dollars) * 100 + int(cents.ljust(2, "0"))
            # The price in the file is that of the whole line.
            assert total % quantity == 0
            price = total // quantity
            item = f"{re.sub('[^a-z0-9]+', '-', row['item_name'].lower()).strip('-')}-{price}"
            menu[item] = (row["item_name"], price)
            note = None if row["choice_description"] == "NULL" else row["choice_description"]
            orders[row["order_id"]].append((item, quantity, note, total))
    return orders, menu


def test_every_order_of_the_file_becomes_the_same_cart_and_order(client, shared_data):
    orders, menu = read_orders(shared_data)
    assert len(orders) == 1834
    items = [item_document(item, price, name=name) for item, (name, price) in menu.items()]
    put_open_outlet(client, SHOP, [section_document("all", items)], currency="USD", timeZone="America/New_York")

    replies = iter(client.pipeline(
        ["CART.ADD", f"{SHOP}-{order}", SHOP, item, quantity, *(["NOTE", note] if note else [])]
        for order, lines in orders.items() for item, quantity, note, _ in lines
    ))
    for lines in orders.values():
        count = 0
        for _, quantity, _, _ in lines:
            count += quantity
            assert next(replies) == count

    totals = {}
    for order, lines in orders.items():
        cart = client.json("CART.GET", f"{SHOP}-{order}")
        expected = defaultdict(int)
        for item, quantity, note, _ in lines:
            expected[item, note] += quantity
        totals[order] = sum(total for *_, total in lines)
        assert {(line["item"], line["note"]): line["quantity"] for line in cart["lines"]} == expected
        assert all(line["total"] == line["quantity"] * line["unitPrice"] for line in cart["lines"])
        assert (cart["count"], cart["total"]) == (sum(expected.values()), totals[order])

    placed = client.pipeline(["CART.CHECKOUT", f"{SHOP}-{order}", "TOTAL", total] for order, total in totals.items())
    assert all(isinstance(order, bytes) for order in placed)
    assert len(set(placed)) == len(orders)
    for order, total in zip(placed, totals.values()):
        assert client.json("ORDER.GET", order)["total"] == total
