"""Finds a pie in Edinburgh, orders two, and follows the order until it is placed.

    .venv/bin/python Examples/first_order.py [VISIT [STATUS]]

The cart and the IDs are made of VISIT: run it again with the same one, and it is the same order. With a STATUS such
as `ready` it follows the order that far, while http://127.0.0.1:7381/kitchen/copper-ladle cooks.
"""

import json
import os
import sys
import time
import uuid

import redis

VISIT = sys.argv[1] if len(sys.argv) > 1 else uuid.uuid4().hex[:12]
UNTIL = sys.argv[2] if len(sys.argv) > 2 else "placed"
CART = f"visit-{VISIT}"
LIFE = ["awaitingPayment", "scheduled", "placed", "accepted", "preparing", "ready", "completed"]

server = redis.Redis.from_url(os.environ.get("TIFFIN_URL", "redis://127.0.0.1:7379"), decode_responses=True)


def code(error: redis.ResponseError) -> str:
    """The first word of an error, which is for programs. redis-py takes away those that Redis has, too."""
    return error.status_code or str(error).partition(" ")[0]


def send(*words):
    """The reply to a command. Because of its ID it can be sent again when nobody knows what came of it."""
    for pause in (0.1, 0.5, 1, 2, None):
        try:
            return server.execute_command(*words)
        except redis.AuthenticationError:
            raise
        except (redis.ResponseError, redis.ConnectionError, redis.TimeoutError) as error:
            refused = isinstance(error, redis.ResponseError) and code(error) not in {"BUSY", "UNAVAILABLE", "UNKNOWN"}
            if refused or pause is None:
                raise
            time.sleep(pause)


def ask(*words):
    reply = send(*words)
    return None if reply is None else json.loads(reply)


def fill() -> None:
    # The = says that a word of the user follows, whatever it is.
    found = ask("BROWSE", "TEXT", "=pie", "CITY", "=edinburgh", "OPEN", "SORT", "price", "LIMIT", 1)["items"]
    if not found:
        sys.exit("nobody has a pie now")
    send("CART.ADD", CART, found[0]["outlet"], found[0]["item"], 2, "NOTE", "no peas", "ID", f"{VISIT}-add")


def check_out() -> str:
    """The id of an order that costs what was shown."""
    while True:
        quote = ask("CART.QUOTE", CART)
        if "order" in quote:
            return quote["order"]
        for line in quote["lines"]:
            problem = f" ({line['problem']['code']})" if line["problem"] else ""
            print(f"{line['quantity']} × {line['name']} {line['total'] / 100:.2f}{problem}")
        print(f"together {quote['total'] / 100:.2f} {quote['currency']}")
        try:
            # Without a digest something in the cart cannot be had, and the total leads to the error that says what.
            agreed = ("QUOTE", quote["quote"]) if quote["quote"] else ("TOTAL", quote["total"])
            return send("CART.CHECKOUT", CART, *agreed, "ID", f"{VISIT}-checkout")
        except redis.ResponseError as error:
            if code(error) != "TOTALCHANGED":
                raise


def follow(order: str) -> None:
    """Says each status of the order until it is the one that is waited for, or a later one, or the order has ended."""
    changes, said = server.pubsub(ignore_subscribe_messages=True), None
    changes.subscribe(f"order:{order}")
    # The first message comes at once.
    for _ in changes.listen():
        if (status := ask("ORDER.GET", order)["status"]) != said:
            print(f"order {order} is {status}", flush=True)
            said = status
        if status not in LIFE or LIFE.index(status) >= LIFE.index(UNTIL):
            return


try:
    if ask("CART.QUOTE", CART) is None:
        fill()
    follow(check_out())
except (redis.AuthenticationError, redis.exceptions.NoPermissionError) as error:
    sys.exit(f"{error}: log in as a customer, with TIFFIN_URL=redis://NAME:PASSWORD@127.0.0.1:7379")
except redis.ResponseError as error:
    if code(error) not in {"SOLDOUT", "CLOSED", "LIMIT", "NOTFOUND"}:
        raise
    sys.exit(f"it cannot be ordered: {error}")
except redis.ConnectionError:
    sys.exit("nobody is there: `make run` starts a server; TIFFIN_URL says where another one is")
