"""The server's prices and refunds are those of a second model, for random carts: 5,000, or as many as
TIFFIN_PRICED_CARTS says."""

import os
import random
import subprocess
from pathlib import Path

import pricing

CARTS = int(os.environ.get("TIFFIN_PRICED_CARTS", "5000"))
CARTS_OF_A_MENU = 50


def test_both_models_give_every_cart_the_same_bill_and_every_order_the_same_refunds():
    generator = random.Random(20261123)
    lines, expected, count = [], [], 0
    for _ in range(CARTS // CARTS_OF_A_MENU):
        menu = pricing.random_menu(generator)
        lines.append(pricing.menu_line(menu))
        for _ in range(CARTS_OF_A_MENU):
            cart = pricing.random_cart(generator, menu)
            answer, order = pricing.priced(menu, cart)
            lines.append(pricing.cart_line(cart))
            expected.append((answer, lines[-1], menu))
            count += "gone" not in answer
            parts = pricing.random_refunds(generator, order)
            for part in parts:
                lines.append(pricing.refund_line(part))
                expected.append((order.refund(part), (cart, parts, part), menu))
            # Nothing is lost, and nothing is given twice.
            assert not any(order.left), (cart, parts)
    tool = Path(os.environ["TIFFIN_BINARY"]).parent / "tiffin-price"
    run = subprocess.run([tool], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    answers = run.stdout.splitlines()
    assert len(answers) == len(expected)
    for answer, (wanted, question, menu) in zip(answers, expected):
        assert answer == wanted, f"{pricing.menu_line(menu)}\n{question}"
    # Most carts can be had as they are, so this is about prices.
    assert count > CARTS // 2
