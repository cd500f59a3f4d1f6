"""Clients that go on writing while something happens to the server or its database."""

import threading

from tiffin import Client, ReplyError, encode, item_document, section_document, wait_until

MENU = [section_document("all", [item_document(f"dish-{n}", 100 + n) for n in range(10)])]


def add_to_many_carts(server, carts, replies, failures, with_ids=True):
    """Adds one by one to each cart until the server goes, and keeps what was acknowledged."""
    try:
        with server.client() as client:
            for number in range(100_000):
                cart = carts[number % len(carts)]
                identity = ("ID", f"{cart}-{number}") if with_ids else ()
                client.send(encode("CART.ADD", cart, "kitchen", f"dish-{number // len(carts) % 10}", 1, *identity))
                reply = client.read()
                if isinstance(reply, ReplyError):
                    failures.append((number, reply))
                    if reply.code == "LIMIT":
                        return
                else:
                    replies[cart] = reply
    except (EOFError, ConnectionError):
        pass


def start_writers(server, writers=8):
    replies, failures = {}, []
    threads = [
        threading.Thread(target=add_to_many_carts, args=(server, [f"w{n}-{m}" for m in range(5)], replies, failures))
        for n in range(writers)
    ]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(replies) == writers * 5, "the writers to begin")
    return threads, replies, failures


def wait_until_writable(client: Client, cart: str) -> None:
    """Adds a dish to the cart, once, as soon as the server reaches its database."""
    def is_added():
        return client.pipeline([("CART.ADD", cart, "kitchen", "dish-1", 1, "ID", "once")])[0] == 1

    wait_until(is_added, "the server to reach its database")
