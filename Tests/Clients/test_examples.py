"""The programs in Examples/ do what they say, against a server with the demo catalogue."""

import base64
import hashlib
import hmac
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from urllib.parse import quote

import pytest

from monkeys import Tampering, is_count
from tiffin import (
    CHECKOUT, REPLY_SECONDS, Server, binary, fresh_database, item_document, put_open_outlet, read_log, run_tiffin,
    section_document, wait_until,
)

EXAMPLES = CHECKOUT / "Examples"
PASSWORD = "pie and peas"
ORDER = r"[0-9a-f]{24}[0-9a-z]{4}"


def environment(server, **more) -> dict:
    return {**os.environ, "TIFFIN_URL": f"redis://127.0.0.1:{server.port}", **more}


def command(name) -> list:
    """How the example is started."""
    path = EXAMPLES / name
    return [sys.executable, str(path)] if path.suffix == ".py" else [str(path)]


def run(name, *arguments, **options):
    return subprocess.run(
        [*command(name), *arguments], capture_output=True, text=True, timeout=REPLY_SECONDS, **options)


class Program:
    """An example that goes on until it is stopped."""

    def __init__(self, name, *arguments, **options):
        self.process = subprocess.Popen(
            [*command(name), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, **options)
        self.lines = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        with self.process.stdout:
            for line in self.process.stdout:
                self.lines.append(line.rstrip("\n"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.end()

    def end(self) -> int:
        status = self.process.wait(timeout=REPLY_SECONDS)
        self.reader.join(timeout=REPLY_SECONDS)
        return status

    def wait_for(self, line):
        wait_until(lambda: line in self.lines, f"{line!r} among {self.lines}")


@pytest.fixture(scope="module")
def demo():
    """A server with the demo catalogue, and the address of its store."""
    with fresh_database() as database:
        with Server(database=database, options=["--demo", "--web", "127.0.0.1:0"]) as server:
            yield server, f"http://{server.site('store')}"


@pytest.fixture
def pies(demo):
    """The server, with every pie in stock again afterwards, at its price."""
    server, _ = demo
    with server.client() as client:
        yield server, client
        client("OUTLET.OPEN", "copper-ladle")
        client("MENU.ITEM.RESUME", "copper-ladle", "fish-pie")
        client("MENU.ITEM.PRICE", "copper-ladle", "chicken-pie-lunch", 1295)


def orders(client) -> list:
    return [order["order"] for order in client.json("ORDERS", "OUTLET", "copper-ladle", "COUNT", 100)["orders"]]


# --- an order


def test_a_first_order_in_python_is_the_same_when_it_is_sent_again(pies, name):
    server, client = pies
    first = run("first_order.py", name, env=environment(server))
    assert (first.stderr, first.returncode) == ("", 0)
    *shown, last = first.stdout.splitlines()
    assert shown == ["2 × Chicken & Leek Pie 25.90", "together 25.90 GBP"]
    order = re.fullmatch(f"order ({ORDER}) is placed", last)[1]
    before = orders(client)
    again = run("first_order.py", name, env=environment(server))
    assert again.stdout.splitlines() == [last] and orders(client) == before
    document = client.json("ORDER.GET", order)
    assert document["count"] == 2 and document["lines"][0]["note"] == "no peas"


def test_a_first_order_in_python_is_followed_through_the_kitchen(pies, name):
    server, client = pies
    with Program("first_order.py", name, "ready", env=environment(server)) as program:
        wait_until(lambda: len(program.lines) == 3, "the order")
        order = re.search(ORDER, program.lines[-1])[0]
        for step, status in (("ACCEPT", "accepted"), ("PREPARE", "preparing"), ("READY", "ready")):
            client(f"ORDER.{step}", order)
            program.wait_for(f"order {order} is {status}")
        assert program.end() == 0


def test_a_first_order_in_python_says_why_there_is_none(pies, name):
    server, client = pies
    client("CART.ADD", f"visit-{name}", "copper-ladle", "fish-pie", 1)
    client("MENU.ITEM.SUSPEND", "copper-ladle", "fish-pie")
    sold_out = run("first_order.py", name, env=environment(server))
    assert sold_out.stdout.splitlines()[0] == "1 × Three-Fish Pie 16.50 (SOLDOUT)"
    assert (sold_out.stderr, sold_out.returncode) == (
        "it cannot be ordered: SOLDOUT item 'fish-pie' is sold out\n", 1)
    client("OUTLET.CLOSE", "copper-ladle")
    assert run("first_order.py", env=environment(server)).stderr == "nobody has a pie now\n"
    away = run("first_order.py", env={**os.environ, "TIFFIN_URL": "redis://127.0.0.1:1"})
    assert away.returncode == 1 and away.stderr.startswith("nobody is there: `make run` starts a server")


def test_a_first_order_in_python_survives_lost_answers_and_agrees_to_a_changed_price(pies, name):
    server, client = pies
    left = ["cut", "price", "unknown"]

    def tamper(frame):
        if is_count(frame) and "cut" in left:
            # The pies are in the cart, and the answer gets lost.
            left.remove("cut")
            raise EOFError
        if b'"quote":"' in frame and "price" in left:
            left.remove("price")
            client("MENU.ITEM.PRICE", "copper-ladle", "chicken-pie-lunch", 1300)
        if re.fullmatch(rb"\$28\r\n[0-9a-z]{28}\r\n", frame) and "unknown" in left:
            left.remove("unknown")
            return b"-UNKNOWN nobody knows\r\n"
        return frame

    before = orders(client)
    with Tampering(server, tamper) as proxy:
        bought = run("first_order.py", name, env=environment(proxy))
    assert (bought.stderr, bought.returncode, left) == ("", 0, [])
    *shown, last = bought.stdout.splitlines()
    assert shown == [
        "2 × Chicken & Leek Pie 25.90", "together 25.90 GBP", "2 × Chicken & Leek Pie 26.00", "together 26.00 GBP"]
    assert orders(client) == [re.fullmatch(f"order ({ORDER}) is placed", last)[1], *before]


@pytest.mark.parametrize("example", ["first_order.sh", "first_order_http.sh"])
def test_a_first_order_in_a_shell_is_the_same_when_it_is_sent_again(demo, pies, name, example, tmp_path):
    server, client = pies
    settings = {"env": environment(server, TIFFIN_STORE=demo[1]), "cwd": tmp_path}
    first = run(example, name, **settings)
    assert (first.stderr, first.returncode) == ("", 0)
    *_, line, total, last = first.stdout.splitlines()
    assert (line, total) == ("2 × Three-Fish Pie 33", "together 33 GBP")
    assert re.fullmatch(f"order {ORDER} is placed, promised for [^ ]+Z", last)
    before = orders(client)
    assert run(example, name, **settings).stdout.splitlines()[-1] == last
    assert orders(client) == before
    client("MENU.ITEM.SUSPEND", "copper-ladle", "fish-pie")
    sold_out = run(example, f"{name}-2", **settings)
    assert sold_out.returncode == 1 and "SOLDOUT item 'fish-pie' is sold out" in sold_out.stderr


# --- a home


def test_a_home_is_followed_across_a_restart_and_until_it_is_removed(database):
    with Server(database=database, options=["--demo"]) as server:
        server.arguments[2] = f"127.0.0.1:{server.port}"
        with Program("follow_home.py", "copper-ladle", env=environment(server)) as program:

            def revision():
                with server.client() as client:
                    return client.json("OUTLET.HOME", "copper-ladle")["revision"]

            def price(minor):
                with server.client() as client:
                    client("MENU.ITEM.PRICE", "copper-ladle", "fish-pie", minor)

            program.wait_for(f"revision {revision()}: The Copper Ladle, 25 items")
            price(1700)
            program.wait_for(f"revision {revision()}: replace /sections/3/items/1/model/price 1700")
            seen = revision()
            server.kill()
            program.wait_for(f"revision {seen}: the server is away")
            server.start()
            # Whether this comes before it is back, or as a message: it is one patch.
            price(1800)
            program.wait_for(f"revision {revision()}: replace /sections/3/items/1/model/price 1800")
            with server.client() as client:
                client("OUTLET.REMOVE", "copper-ladle")
            assert program.end() == 1
            assert program.lines[-1] == "outlet 'copper-ladle' was removed"
            # It never read the whole home again.
            assert sum("25 items" in line for line in program.lines) == 1
        absent = run("follow_home.py", "nowhere", env=environment(server))
        assert (absent.returncode, absent.stderr) == (1, "there is no outlet 'nowhere'\n")


def test_whoever_may_not_is_told_so(database):
    with Server(database=database, options=["--demo"]) as server:
        for user, role in (("cook", "merchant"), ("anna", "customer")):
            added = run_tiffin("user", "add", user, "--role", role, "--database", database, text=f"{PASSWORD}\n")
            assert added.returncode == 0, added.stderr

        def is_closed():
            with server.client() as client:
                return client.pipeline([("CART.COUNT", "any")])[0] != 0

        wait_until(is_closed, "the server to learn of the users")

        def asked(example, user=None, *arguments):
            who = f"{user}:{quote(PASSWORD)}@" if user else ""
            return run(example, *arguments, env={**os.environ, "TIFFIN_URL": f"redis://{who}127.0.0.1:{server.port}"})

        for example in ("first_order.py", "first_order.sh", "follow_home.py"):
            # Each in the words of what it is refused at first: HELLO, or its own command.
            refused = asked(example)
            assert refused.returncode == 1 and "uthenticat" in refused.stderr
        refused = asked("first_order.py", "cook")
        assert refused.returncode == 1 and refused.stderr == (
            "User cook has no permissions to run the 'cart.add' command: log in as a customer, with "
            "TIFFIN_URL=redis://NAME:PASSWORD@127.0.0.1:7379\n")
        for example in ("first_order.py", "first_order.sh"):
            assert asked(example, "anna", example.replace("_", "-")).returncode == 0


# --- events


def test_a_receiver_prints_each_event_once(database, tmp_path):
    with Server(database=database) as server, server.client() as client:
        secret = run_tiffin("relay", "--show-secret", "--database", database).stdout.strip()
        settings = {"env": {**os.environ, "TIFFIN_WEBHOOK_SECRET": secret}, "cwd": tmp_path}
        receiver = Program("webhook_receiver.py", "0", **settings)
        wait_until(lambda: receiver.lines, "the receiver")
        url = receiver.lines[0].removeprefix("listening on ")
        port = url.rstrip("/").rpartition(":")[2]
        relay = [
            binary(), "relay", "--to", url, "--server", f"127.0.0.1:{server.port}", "--database", database,
            "--retry-after", "20", "--retry-most", "40"]
        printed = []

        def expected():
            return [f"0-{event['position']} {event['stream']} {event['kind']}" for event in read_log(client)]

        def printed_all():
            return printed + receiver.lines[1:] == expected()

        with subprocess.Popen(relay, stderr=subprocess.DEVNULL) as first:
            put_open_outlet(client, "kitchen", [section_document("lunch", [item_document("rice", 100)])])
            wait_until(printed_all, "the events")
            # The receiver ends, and another takes its place.
            receiver.process.send_signal(signal.SIGINT)
            assert receiver.end() == 0
            printed += receiver.lines[1:]
            client("CART.ADD", "cart-1", "kitchen", "rice", 1)
            receiver = Program("webhook_receiver.py", port, **settings)
            wait_until(printed_all, "the event that came meanwhile")
            first.terminate()
        # A relay that begins again posts what there was already.
        with subprocess.Popen([*relay, "--from", "1"], stderr=subprocess.DEVNULL) as second:
            client("CART.ADD", "cart-1", "kitchen", "rice", 2)
            wait_until(printed_all, "the last event, and no other again")
            second.terminate()

        body = b'{"stream":"cart-forged","kind":"cart.itemAdded"}'

        def status(moment, key=secret, **changed):
            signed = f"0-999.{moment}.".encode() + body
            code = hmac.new(base64.b64decode(key.removeprefix("whsec_")), signed, hashlib.sha256).digest()
            headers = {
                "webhook-id": "0-999", "webhook-timestamp": str(moment),
                "webhook-signature": "v1," + base64.b64encode(code).decode(), **changed}
            try:
                with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=REPLY_SECONDS) as answer:
                    return answer.status
            except urllib.error.HTTPError as error:
                with error:
                    return error.code

        now = int(time.time())
        assert status(now, key="whsec_" + base64.b64encode(bytes(32)).decode()) == 401
        assert status(now - 3600) == 401 and status("soon") == 401
        assert status(now, **{"webhook-id": "0-1000"}) == 401
        assert status(now, **{"webhook-signature": "v2,x ü"}) == 401
        assert printed_all()
        assert status(now) == 204
        receiver.wait_for("0-999 cart-forged cart.itemAdded")
        receiver.process.send_signal(signal.SIGINT)
        assert receiver.end() == 0


def test_every_example_is_listed():
    listed = (EXAMPLES / "README.md").read_text()
    assert all(f"({path.name})" in listed for path in EXAMPLES.iterdir() if path.suffix in (".py", ".sh"))
