"""1,834 carts made from the order lines of a real shop, with their options, give the file's counts and totals."""

import csv
import re
from collections import defaultdict

from tiffin import item_document, put_open_outlet, section_document

SHOP = "chipotle"


def identifier(text):
    return re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")


def read_orders(folder):
    """Order id → [(item id, quantity, options, line total in cents)], item id → (name, unit price, has options), and
    option id → name."""
    orders, menu, options = defaultdict(list), {}, {}
    with open(folder / "chipotle-orders.tsv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            quantity = int(row["quantity"])
            dollars, cents = row["item_total_price"].strip(" $").split(".")
            total = int(dollars) * 100 + int(cents.ljust(2, "0"))
            # The price in the file is that of the whole line.
            assert total % quantity == 0
            price = total // quantity
            words = "" if row["choice_description"] == "NULL" else re.sub(r"[\[\]]", "", row["choice_description"])
            chosen = {identifier(word): word.strip() for word in words.split(",") if word}
            options |= chosen
            item = f"{identifier(row['item_name'])}-{price}"
            known = menu.get(item, (None, None, False))
            menu[item] = (row["item_name"], price, bool(chosen) or known[2])
            orders[row["order_id"]].append((item, quantity, tuple(sorted(chosen)), total))
    return orders, menu, options


def test_every_order_of_the_file_becomes_the_same_cart_and_order(client, shared_data):
    orders, menu, options = read_orders(shared_data)
    assert len(orders) == 1834
    items = [
        item_document(item, price, name=name, options=["choices"] if has_options else [])
        for item, (name, price, has_options) in menu.items()
    ]
    choices = {
        "id": "choices", "title": "Your choices", "max": 20,
        "options": [{"id": option, "name": name} for option, name in options.items()],
    }
    put_open_outlet(
        client, SHOP, [section_document("all", items)], [choices], currency="USD", timeZone="America/New_York")

    replies = iter(client.pipeline(
        [
            "CART.ADD", f"{SHOP}-{order}", SHOP, item, quantity,
            # In whatever order they are tapped.
            *(["OPTIONS", ",".join(reversed(chosen))] if chosen else []),
        ]
        for order, lines in orders.items() for item, quantity, chosen, _ in lines
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
        for item, quantity, chosen, _ in lines:
            expected[item, chosen] += quantity
        totals[order] = sum(total for *_, total in lines)
        shown = {
            (line["item"], tuple(option["id"] for option in line["options"])): line["quantity"] for line in cart["lines"]
        }
        assert shown == expected
        assert all(line["total"] == line["quantity"] * line["unitPrice"] for line in cart["lines"])
        assert (cart["count"], cart["total"]) == (sum(expected.values()), totals[order])

    placed = client.pipeline(["CART.CHECKOUT", f"{SHOP}-{order}", "TOTAL", total] for order, total in totals.items())
    assert all(isinstance(order, bytes) for order in placed)
    assert len(set(placed)) == len(orders)
    for order, total in zip(placed, totals.values()):
        assert client.json("ORDER.GET", order)["total"] == total
