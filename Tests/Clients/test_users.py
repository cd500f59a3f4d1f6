"""Users: logging in, roles, confinement, and what a stranger can do, which is nothing else."""

import json
import os
import re
import shutil
import socket
import subprocess
import time
from types import SimpleNamespace

import pytest
import redis
import monkeys
import tiffin
from redis.backoff import NoBackoff
from redis.retry import Retry
from tiffin import (
    PATIENCE_SECONDS, Client, Push, ReplyError, Server, binary, encode, fresh_database, run_tiffin, sql, wait_until,
)

PASSWORD = "correct horse"
WRONG = ReplyError("WRONGPASS invalid username-password pair or user is disabled.")
NOAUTH = ReplyError("NOAUTH Authentication required.")
NO_KEY = ReplyError("NOPERM No permissions to access a key")
NO_CHANNEL = ReplyError("NOPERM No permissions to access a channel")
# A change reaches a server when it next looks at the table.
CHANGE_SECONDS = 10


def user(database, *words, password=None, code=0):
    run = run_tiffin("user", *words, "--database", database, text=f"{password}\n" if password else "")
    assert run.returncode == code, run.stdout + run.stderr
    return run.stdout + run.stderr if code else run.stdout.strip()


def log_in(port, name, password=PASSWORD, **options) -> Client:
    client = Client(port, **options)
    assert client("AUTH", name, password) == "OK"
    return client


def info(client):
    lines = client("INFO").decode().splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def risen(client, before):
    """By how much the counts of INFO have risen."""
    return {key: int(value) - int(before[key]) for key, value in info(client).items()
            if value.isdigit() and before.get(key, "").isdigit()}


@pytest.fixture(scope="module")
def shop():
    """A server with users, two outlets, and a cart and an order of everybody who has a cart."""
    with fresh_database() as database:
        assert run_tiffin("migrate", "--database", database).returncode == 0
        user(database, "add", "root", "--role", "admin", password=PASSWORD)
        tokens = {"root": user(database, "token", "root")}
        for name, *words in [
            ("anna", "--role", "customer", "--only", "anna"), ("bert", "--role", "customer", "--only", "bert"),
            ("kiosk", "--role", "customer"), ("cook", "--role", "merchant", "--only", "grill"),
            ("chef", "--role", "merchant"), ("judge", "--role", "auditor"),
        ]:
            user(database, "add", name, *words, "--no-password")
            tokens[name] = user(database, "token", name)
        with Server(database=database) as server, log_in(server.port, "root") as root:
            port = server.port
            orders = {}
            for outlet in ("grill", "bakery"):
                tiffin.put_open_outlet(root, outlet, [
                    tiffin.section_document("all", [tiffin.item_document("rice", 100)])])
            for name in ("anna", "bert"):
                root("CART.ADD", f"{name}-old", "bakery", "rice", 1)
                orders[name] = root("CART.CHECKOUT", f"{name}-old", "TOTAL", 100).decode()
                root("CART.ADD", f"{name}-1", "grill", "rice", 1)
            root("CART.ADD", "anna-at-grill", "grill", "rice", 1)
            orders["grill"] = root("CART.CHECKOUT", "anna-at-grill", "TOTAL", 100).decode()
            head = json.loads(root("LOG.HEAD"))[0]["position"]
            yield SimpleNamespace(
                head=head,
                server=server, port=port, database=database, tokens=tokens, orders=orders, root=root,
                client=lambda name, **options: log_in(port, name, tokens[name], **options))


# --- before a login


@pytest.mark.parametrize("command", [
    ("PING",), ("CART.COUNT", "anna-1"), ("INFO",), ("COMMAND",), ("CLIENT", "LIST"), ("SUBSCRIBE", "home:grill"),
    ("NONSENSE",), ("CLIENT", "NONSENSE"), ("ACL", "WHOAMI"), ("CART.COUNT",), ("CLIENT", "SETNAME", "x"),
], ids=lambda words: " ".join(words))
def test_a_stranger_can_do_nothing_but_log_in(shop, command):
    with Client(shop.port) as client:
        assert client.error(*command) == NOAUTH
        # Whatever it said, it can still log in.
        assert client("AUTH", "anna", shop.tokens["anna"]) == "OK"
        assert client("PING") == "PONG"


def test_a_stranger_says_little(shop):
    before = info(shop.root)
    with Client(shop.port) as client:
        client.send(b"*11\r\n")
        assert client.read() == ReplyError("ERR Protocol error: unauthenticated multibulk length")
        assert client.is_closed()
    with Client(shop.port) as client:
        client.send(b"*2\r\n$4\r\nAUTH\r\n$16385\r\n")
        assert client.read() == ReplyError("ERR Protocol error: unauthenticated bulk length")
        assert client.is_closed()
    assert risen(shop.root, before)["client_query_buffer_limit_disconnections"] == 2


def test_a_stranger_can_leave_and_reset(shop):
    with Client(shop.port) as client:
        assert client("RESET") == "RESET"
        assert client("QUIT") == "OK"
        assert client.is_closed()


def test_hello_needs_a_login(shop):
    with Client(shop.port) as client:
        error = client.error("HELLO", 3)
        assert error.code == "NOAUTH" and "HELLO must be called" in str(error)
        assert client.error("HELLO", 3, "AUTH", "anna", "wrong password") == WRONG
        # It still speaks RESP2.
        client.send(encode("HELLO", 3, "AUTH", "anna", shop.tokens["anna"], "SETNAME", "till"))
        assert client.read()[b"proto"] == 3
        assert client("CLIENT", "GETNAME") == b"till"
        assert client("ACL", "WHOAMI") == b"anna"


def test_strangers_are_closed_after_a_while(shop):
    with Server(database=shop.database, options=["--login-timeout", "1"]) as server, server.client() as client:
        assert client.read() == ReplyError("ERR no login within 1 seconds")
        assert client.is_closed()
        with log_in(server.port, "root", shop.tokens["root"]) as root:
            assert info(root)["client_login_timeout_disconnections"] == "1"


def test_of_too_many_strangers_the_oldest_goes(shop):
    before = info(shop.root)
    with Client(shop.port) as oldest:
        crowd = [socket.create_connection(("127.0.0.1", shop.port)) for _ in range(1_000)]
        try:
            assert oldest.is_closed()
            with shop.client("anna") as client:
                assert client("PING") == "PONG"
        finally:
            for stranger in crowd:
                stranger.close()
    wait_until(lambda: info(shop.root)["clients_before_login"] == "0", "the crowd to leave", seconds=CHANGE_SECONDS)
    assert risen(shop.root, before)["client_before_login_disconnections"] >= 1


# --- passwords and tokens


def test_wrong_passwords_and_unknown_users_look_alike(shop):
    with Server(database=shop.database) as server, server.client() as client:
        assert client.error("AUTH", "root", "wrong password") == WRONG
        assert client.error("AUTH", "nobody", "wrong password") == WRONG
        # The third failure of a connection is its last.
        assert client.error("AUTH", "tiffin", b"\x00" * 100) == WRONG
        assert client.is_closed()
        with log_in(server.port, "root", shop.tokens["root"]) as root:
            counts = info(root)
            assert (counts["client_failed_login_disconnections"], counts["errorstat_WRONGPASS"]) == ("1", "count=3")


def test_logins_fail_in_the_same_time_whoever_is_meant(shop):
    def seconds(name):
        # On a server of its own, as each failure delays the answer to the next.
        with Server(database=shop.database) as server, server.client() as client:
            began = time.monotonic()
            assert client.error("AUTH", name, "a guess") == WRONG
            return time.monotonic() - began

    # With a password, without one, and no such user: each costs a whole check.
    times = [min(seconds(name) for _ in range(2)) for name in ("root", "anna", "nobody")]
    # The delay alone is 0.05 s.
    assert min(times) > 0.08


@pytest.mark.parametrize("words", [
    ("AUTH", "root", ""), ("AUTH", "", ""), ("AUTH", "ro\x00ot", PASSWORD), ("AUTH", "root", PASSWORD + "\x00"),
    ("AUTH", "root", "x" * 16_000), ("AUTH", b"\xff\xfe", b"\xff\xfe"), ("AUTH", PASSWORD),
    ("HELLO", 3, "AUTH", "root", "x" * 16_000), ("AUTH", "root", "tiffin_" + "0" * 64),
], ids=range(9))
def test_strange_names_and_passwords_are_wrong(shop, words):
    with Server(database=shop.database) as server, server.client() as client:
        assert client.error(*words) == WRONG
        assert client.error("PING") == NOAUTH


def test_an_address_that_fails_often_is_refused_but_tokens_still_work(shop):
    with Server(database=shop.database) as server:
        replies, number = [], 0

        def failures():
            return sum(reply.code == "WRONGPASS" for reply in replies)

        while not any("too many failed" in str(reply) for reply in replies):
            assert number < 60, "the address is never refused"
            clients = [server.client() for _ in range(6)]
            for number, client in enumerate(clients, number + 1):
                client.send(encode("AUTH", "root", f"wrong {number}"))
            for client in clients:
                replies.append(client.read())
                client.close()
        assert 10 <= failures() <= 13, "of those that were checked at the same time, each counts"
        assert {reply.code for reply in replies} == {"WRONGPASS", "BUSY"}
        with server.client() as client:
            message = str(client.error("AUTH", "root", "wrong"))
            assert message.startswith("BUSY too many failed logins from this address; try again in ")
        with server.client() as client:
            assert client.error("AUTH", "root", PASSWORD).code == "BUSY"
            assert client("AUTH", "root", shop.tokens["root"]) == "OK"
            assert int(info(client)["acl_access_denied_auth"]) == len(replies) + 2


def test_a_thousand_wrong_passwords_delay_nobody(shop):
    """Ten are checked before the address is refused. Each takes a tenth of a second, which nobody else may wait for."""
    with Server(database=shop.database) as server, log_in(server.port, "root", shop.tokens["root"]) as root:
        def slow_answers():
            count = 0
            for _ in range(1_000):
                began = time.monotonic()
                root("CART.COUNT", "anna-1")
                count += time.monotonic() - began > 0.08
            return count

        # Other tests use the machine, too.
        usual = slow_answers()
        before = server.processor_seconds()
        with server.client() as client:
            client.error("AUTH", "root", "wrong")
        loop, others = (after - before for before, after in zip(before, server.processor_seconds()))
        assert loop < others
        crowd = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(900)]
        for number, stranger in enumerate(crowd):
            stranger.sendall(encode("AUTH", "root", f"wrong {number}"))
        assert slow_answers() < usual + 5
        for stranger in crowd:
            assert stranger.recv(100)[:5] in (b"-WRON", b"-BUSY")
            stranger.close()
        assert server.processor_seconds()[1] - before[1] > 3 * others


def test_a_pool_costs_one_check(shop):
    with Server(database=shop.database) as server:
        clients = [server.client() for _ in range(300)]
        for client in clients:
            client.send(encode("AUTH", "root", PASSWORD))
        assert {client.read() for client in clients} == {"OK"}
        before = server.processor_seconds()[1]
        for _ in range(20):
            log_in(server.port, "root").close()
        assert server.processor_seconds()[1] - before < 0.5, "a password that was right is remembered"
        for client in clients:
            client.close()


def test_tokens_can_be_taken_back(shop):
    name = user(shop.database, "add", "robot", "--role", "auditor", "--no-password") and "robot"
    first, second = (user(shop.database, "token", name) for _ in range(2))
    assert len(first) == 71 and first != second
    listed = next(line for line in user(shop.database, "list").splitlines() if line.startswith(name))
    assert "no password" in listed and "auditor" in listed
    label = listed.split("tokens ")[1].split()[0]
    wait_until(lambda: tries(shop, name, first), "the token to be known", seconds=CHANGE_SECONDS)
    assert user(shop.database, "token", name, "--revoke", label) == f"1 token of '{name}' revoked"
    wait_until(lambda: not tries(shop, name, first), "the token to be revoked", seconds=CHANGE_SECONDS)
    assert tries(shop, name, second)
    assert "has no token" in user(shop.database, "token", name, "--revoke", label, code=1)
    user(shop.database, "remove", name)


def tries(shop, name, password) -> bool:
    with Client(shop.port) as client:
        client.send(encode("AUTH", name, password))
        return client.read() == "OK"


def test_nothing_that_logs_in_is_kept(shop):
    dump = subprocess.run(
        ["pg_dump", "--data-only", shop.database], capture_output=True, text=True, check=True).stdout
    assert "$scrypt$ln=15,r=8,p=1$" in dump
    for secret in [PASSWORD, *shop.tokens.values()]:
        assert secret not in dump and secret not in shop.server.output()
    assert sql("select count(*) from pg_stats where tablename = 'users' and attname in ('password', 'tokens')",
        shop.database) == "0"


# --- the order of things on a connection


def test_what_follows_a_login_waits_for_it(shop):
    with Client(shop.port) as client:
        long = "x" * 100_000
        client.send(b"".join([
            encode("AUTH", "root", PASSWORD), encode("ACL", "WHOAMI"), encode("ECHO", long), encode("NONSENSE"),
            encode("CART.COUNT", "anna-1"), encode("AUTH", "anna", shop.tokens["anna"]), encode("ACL", "WHOAMI"),
            encode("CART.COUNT", "bert-1"),
        ]))
        replies = [client.read() for _ in range(8)]
        assert replies[:3] == ["OK", b"root", long.encode()]
        assert replies[3].code == "ERR"
        assert replies[4:] == [1, "OK", b"anna", NO_KEY]


def test_what_follows_a_failed_login_is_not_done(shop):
    with Server(database=shop.database) as server, server.client() as client:
        client.send(encode("AUTH", "root", "wrong password") + encode("CART.ADD", "anna-2", "grill", "rice", 1)
            + encode("AUTH", "root", shop.tokens["root"]) + encode("CART.COUNT", "anna-2"))
        assert [client.read() for _ in range(4)] == [WRONG, NOAUTH, "OK", 0]


def test_a_failed_login_leaves_the_user_as_it_was(shop):
    with shop.client("anna") as client:
        assert client.error("AUTH", "root", "wrong password") == WRONG
        assert client("ACL", "WHOAMI") == b"anna"


def test_reset_logs_out(shop):
    with shop.client("anna", ) as client:
        assert client("RESET") == "RESET"
        assert client.error("PING") == NOAUTH


def test_a_client_that_leaves_during_its_login_leaves_nothing(shop):
    with Server(database=shop.database) as server:
        for number in range(3):
            with server.client() as client:
                client.send(encode("AUTH", "root", f"wrong {number}"))
        with log_in(server.port, "root", shop.tokens["root"]) as root:
            wait_until(lambda: info(root)["connected_clients"] == "1", "the others to be gone", seconds=CHANGE_SECONDS)


def test_a_new_login_ends_subscriptions_that_it_does_not_allow(shop):
    with Client(shop.port) as client:
        client.send(encode("HELLO", 3, "AUTH", "root", shop.tokens["root"]))
        client.read()
        client.send(encode("SUBSCRIBE", "cart:bert-1", "home:grill"))
        frames = [client.read() for _ in range(4)]
        assert all(isinstance(frame, Push) for frame in frames)
        client.send(encode("AUTH", "anna", shop.tokens["anna"]))
        replies = [client.read() for _ in range(2)]
        assert Push([b"unsubscribe", b"cart:bert-1", 1]) in replies and "OK" in replies
        shop.root("CART.ADD", "bert-1", "grill", "rice", 1)
        shop.root("CART.REMOVE", "bert-1", json.loads(shop.root("CART.GET", "bert-1"))["lines"][0]["line"])
        shop.root("CART.ADD", "bert-1", "grill", "rice", 1)
        # Nothing of the cart comes.
        assert client("PING") == "PONG"


def test_a_subscriber_in_resp2_cannot_log_in(shop):
    with shop.client("anna") as client:
        client.send(encode("SUBSCRIBE", "home:grill"))
        assert client.read()[0] == b"subscribe"
        client.read()
        assert "only (P|S)SUBSCRIBE" in str(client.error("AUTH", "root", PASSWORD))


# --- roles


@pytest.mark.parametrize("name,command,allowed", [
    (name, command, allowed)
    for command, names in [
        (("CART.ADD", "x-1", "grill", "rice", 1), {"kiosk", "root"}),
        (("CART.COUNT", "x-1"), {"kiosk", "chef", "judge", "root"}),
        (("MENU.ITEM.PRICE", "grill", "rice", 100), {"chef", "root"}),
        (("LOG.HEAD",), {"judge", "root"}),
        (("CLIENT", "LIST"), {"root"}),
        (("CONFIG", "GET", "port"), {"root"}),
        (("CUSTOMER.FORGET", "nobody"), {"root"}),
        (("OUTLET.HOME", "grill"), {"kiosk", "chef", "judge", "root"}),
        (("MENU.GET", "grill"), {"kiosk", "chef", "judge", "root"}),
        (("BROWSE",), {"kiosk", "chef", "judge", "root"}),
    ]
    for name in ("kiosk", "chef", "judge", "root") for allowed in [name in names]
])
def test_roles(shop, name, command, allowed):
    with shop.client(name) as client:
        client.send(encode(*command))
        reply = client.read()
        if allowed:
            assert not isinstance(reply, ReplyError)
        else:
            full = "|".join(command[:2] if command[0] in ("CLIENT", "CONFIG") else command[:1]).lower()
            assert reply == ReplyError(f"NOPERM User {name} has no permissions to run the '{full}' command")


def test_info_counts_what_was_refused(shop):
    keys = ["acl_access_denied_auth", "acl_access_denied_cmd", "acl_access_denied_key", "acl_access_denied_channel"]
    before = info(shop.root)
    with shop.client("anna") as client:
        client.error("LOG.HEAD")
        client.error("CART.COUNT", "bert-1")
        client.error("SUBSCRIBE", "cart:bert-1")
        client.error("AUTH", "anna", "tiffin_" + "1" * 64)
    after = info(shop.root)
    assert [int(after[key]) - int(before[key]) for key in keys] == [1, 1, 1, 1]


def test_client_list_names_the_user(shop):
    with shop.client("anna") as client:
        number = client("CLIENT", "ID")
        assert b" user=anna " in client("CLIENT", "INFO")
        line = next(line for line in shop.root("CLIENT", "LIST").splitlines() if line.startswith(b"id=%d " % number))
        assert b" user=anna " in line


# --- confinement


@pytest.mark.parametrize("command", [
    ("CART.ADD", "bert-1", "grill", "rice", 1), ("CART.ADD", "annabel", "grill", "rice", 1),
    ("CART.ADD", "anna_1", "grill", "rice", 1), ("CART.ADD", "x-anna", "grill", "rice", 1),
    ("CART.ADD", "Anna-1", "grill", "rice", 1), ("cart.add", "bert-1", "grill", "rice", 1),
    ("CART.ADD", "anna-1", "grill", "rice", 1, "CUSTOMER", "bert"),
    ("CART.ADD", "anna-1", "grill", "rice", 1, "customer", "bert-1"),
    ("CART.SET", "bert-1", "l1", 1), ("CART.REMOVE", "bert-1", "l1"), ("CART.CLEAR", "bert-1"),
    ("CART.COUNT", "bert-1"), ("CART.GET", "bert-1"), ("CART.GET", "bert-1", "AT", 1),
    ("CART.CHECKOUT", "bert-1", "TOTAL", 100), ("CART.CHECKOUT", "anna-1", "TOTAL", 100, "CUSTOMER", "bert"),
    ("OUTLET.HOME", "grill", "CART", "bert-1"), ("OUTLET.HOME", "grill", "SINCE", 1, "cart", "bert-1"),
    ("OUTLET.HOME", "grill", "CART", "bert-1", "AT", 1),
    ("BROWSE.SAVE", "bert-query"), ("OUTLETS.SAVE", "bert-query"), ("BROWSE.SAVE", "shared:anna"),
    ("BROWSE.WINDOW", "bert-query", 0, 1), ("BROWSE.DROP", "bert-query"),
], ids=lambda words: " ".join(map(str, words)))
def test_a_confined_customer_cannot_use_what_is_not_its_own(shop, command):
    with shop.client("anna") as client:
        assert client.error(*command) == NO_KEY


@pytest.mark.parametrize("channels", [
    ("cart:bert-1",), ("home:grill", "cart:bert-1"), ("browse:bert-1",), ("cart:annabel",), ("cart_count:bert-1",),
])
def test_a_confined_customer_cannot_listen_to_what_is_not_its_own(shop, channels):
    with shop.client("anna", ) as client:
        assert client.error("SUBSCRIBE", *channels) == NO_CHANNEL
        # Not even to the channels before it.
        assert b" sub=0 " in client("CLIENT", "INFO")


def test_a_confined_customer_uses_its_own(shop):
    with shop.client("anna") as client:
        for cart in ("anna", "anna-9", "anna:9", "anna.9"):
            assert client("CART.ADD", cart, "grill", "rice", 1, "CUSTOMER", "anna", "NOTE", "hot") == 1
            assert client("CART.COUNT", cart) == 1
            assert json.loads(client("CART.GET", cart))["cart"] == cart
            assert client("CART.CLEAR", cart) == 0
        assert json.loads(client("OUTLET.HOME", "grill", "CART", "anna-1"))["cartCount"] == 1
        assert client("BROWSE.SAVE", "anna-rice", "TEXT", "rice")
        client.send(encode("SUBSCRIBE", "home:grill", "cart:anna-1", "browse:anna-rice"))
        assert [client.read()[0] for _ in range(3)] == [b"subscribe"] * 3


def test_a_confined_customer_sees_orders_from_its_own_carts(shop):
    with shop.client("anna") as client:
        assert json.loads(client("ORDER.GET", shop.orders["anna"]))["cart"] == "anna-old"
        assert json.loads(client("ORDER.GET", shop.orders["anna"], "AT", shop.head))["cart"] == "anna-old"
        assert client("ORDER.GET", shop.orders["bert"]) is None
        assert client("ORDER.GET", shop.orders["bert"], "AT", shop.head) is None
        assert client("ORDER.GET", "anna-no-such-order") is None


def test_a_receipt_is_for_those_who_may_see_the_order(shop):
    anna, bert = (f"order-{shop.orders[name]}" for name in ("anna", "bert"))
    with shop.client("anna") as client:
        receipt = client("LOG.PROVE", anna, 1)
        run = subprocess.run([binary(), "verify", "-"], input=receipt, capture_output=True, timeout=PATIENCE_SECONDS)
        assert run.returncode == 0 and f"version 1 of {anna}" in run.stdout.decode()
        # As if there were no such order.
        assert str(client.error("LOG.PROVE", bert, 1)) == f"NOTFOUND {bert} has no version 1"
        assert str(client.error("LOG.PROVE", "order-anna-no", 1)) == "NOTFOUND order-anna-no has no version 1"
        for stream in "cart-anna-old", "outlet-grill", "user-anna":
            assert client.error("LOG.PROVE", stream, 1) == NO_KEY
        assert client.error("LOG.PROVE", anna, 1, "FORM", "links") == NO_KEY
        assert client.error("LOG.TREE", 0).code == "NOPERM"
        proof = client("ORDER.PROVE", shop.orders["anna"])
        run = subprocess.run([binary(), "verify", "-"], input=proof, capture_output=True, timeout=PATIENCE_SECONDS)
        assert run.returncode == 0 and f"of order {shop.orders['anna']} " in run.stdout.decode()
        for order in shop.orders["bert"], "anna-no":
            assert str(client.error("ORDER.PROVE", order)) == f"NOTFOUND no order '{order}'"
    with shop.client("cook") as client:
        assert client("LOG.PROVE", f"order-{shop.orders['grill']}", 1)
        assert client.error("LOG.PROVE", anna, 1).code == "NOTFOUND"
        assert client("ORDER.PROVE", shop.orders["grill"])
        assert client.error("ORDER.PROVE", shop.orders["anna"]).code == "NOTFOUND"
        assert client.error("LOG.PROVE", "outlet-grill", 1) == NO_KEY


@pytest.mark.parametrize("command", [
    ("MENU.PUT", "bakery", "{}"), ("MENU.ITEM.PRICE", "bakery", "rice", 1), ("OUTLET.CLOSE", "bakery"),
    ("OUTLET.HIDE", "bakery"), ("OUTLET.REMOVE", "bakery"),
    ("OUTLET.PUT", "grill-2", "{}"), ("OUTLET.GET", "bakery"), ("MENU.GET", "bakery"), ("ITEM.GET", "bakery", "rice"),
    ("OUTLET.HOME", "bakery"), ("OUTLET.TAGS", "bakery"), ("CART.COUNT", "grill"), ("CART.GET", "anna-1"),
    ("BROWSE",), ("BROWSE", "OUTLET", "grill"), ("OUTLETS",), ("SURPRISE",), ("BROWSE.SAVE", "grill"),
    ("OUTLET.HOME", "grill", "CART", "anna-1"),
], ids=lambda words: " ".join(map(str, words)))
def test_a_confined_merchant_cannot_use_other_outlets(shop, command):
    with shop.client("cook") as client:
        assert client.error(*command) == NO_KEY


def test_a_confined_merchant_runs_its_outlet(shop):
    with shop.client("cook") as client:
        assert client("MENU.ITEM.PRICE", "grill", "rice", 100) > 0
        assert client("ITEM.GET", "grill", "rice")
        assert client("OUTLET.GET", "grill")
        assert [outlet["id"] for outlet in client.json("OUTLETS.OWN")["outlets"]] == ["grill"]
        assert client.error("OUTLETS.OWN", "AFTER", "bakery") == NO_KEY
        assert json.loads(client("ORDER.GET", shop.orders["grill"]))["outlet"] == "grill"
        assert client("ORDER.GET", shop.orders["anna"]) is None
        assert client.error("SUBSCRIBE", "home:bakery") == NO_CHANNEL
        assert client.error("SUBSCRIBE", "cart:grill") == NO_CHANNEL
        client.send(encode("SUBSCRIBE", "home:grill"))
        assert client.read()[0] == b"subscribe"


# --- changes while servers run


def test_changes_hold_from_the_next_command_on(shop):
    user(shop.database, "add", "temp", "--role", "customer", "--only", "temp", "--no-password")
    token = user(shop.database, "token", "temp")
    wait_until(lambda: tries(shop, "temp", token), "the user to be known", seconds=CHANGE_SECONDS)
    with log_in(shop.port, "temp", token) as client, log_in(shop.port, "temp", token) as listener:
        listener.send(encode("SUBSCRIBE", "cart:temp-1", "home:grill"))
        assert [listener.read()[0] for _ in range(2)] == [b"subscribe"] * 2
        assert client("CART.COUNT", "temp-1") == 0
        user(shop.database, "grant", "temp", "--only", "other")

        def code(*command):
            client.send(encode(*command))
            reply = client.read()
            return reply.code if isinstance(reply, ReplyError) else None

        wait_until(lambda: code("CART.COUNT", "temp-1") == "NOPERM", "the confinement to change", seconds=CHANGE_SECONDS)
        assert client("CART.COUNT", "other-1") == 0
        # The subscription that it may not have any more has ended, and it is told.
        frame = listener.read()
        while frame[0] == b"message":
            frame = listener.read()
        assert frame == [b"unsubscribe", b"cart:temp-1", 1]
        user(shop.database, "grant", "temp", "--role", "auditor", "--everything")
        wait_until(lambda: code("LOG.HEAD") is None, "the role to change", seconds=CHANGE_SECONDS)
        before = info(shop.root)
        user(shop.database, "disable", "temp")
        assert client.is_closed() and listener.is_closed()
        assert risen(shop.root, before)["client_user_disconnections"] == 2
        assert not tries(shop, "temp", token)
        user(shop.database, "enable", "temp")
        wait_until(lambda: tries(shop, "temp", token), "the user to be enabled", seconds=CHANGE_SECONDS)
    with log_in(shop.port, "temp", token) as client:
        user(shop.database, "remove", "temp")
        assert client.is_closed()
    assert not tries(shop, "temp", token)
    assert "there is no user 'temp'" in user(shop.database, "remove", "temp", code=1)


def test_a_changed_password_is_the_only_one(shop):
    user(shop.database, "add", "pat", "--role", "customer", password="first password")
    wait_until(lambda: shop_knows(shop, "pat"), "the user to be known", seconds=CHANGE_SECONDS)
    with Server(database=shop.database) as server:
        log_in(server.port, "pat", "first password").close()
        user(shop.database, "password", "pat", password="second password")

        def outcome(password):
            with server.client() as client:
                client.send(encode("AUTH", "pat", password))
                return client.read()

        wait_until(lambda: outcome("second password") == "OK", "the password to change", seconds=CHANGE_SECONDS)
        assert outcome("first password") == WRONG
    user(shop.database, "remove", "pat")


def shop_knows(shop, name):
    return name in user(shop.database, "list")


def test_without_users_everybody_on_the_machine_has_every_right_until_there_is_one(database):
    with Server(database=database) as server, server.client() as client, server.client() as listener:
        assert client("ACL", "WHOAMI") == b"default"
        assert client("AUTH", "default", "anything") == "OK"
        assert client.error("AUTH", "someone", "anything") == WRONG
        assert client("CLIENT", "LIST")
        listener.send(encode("SUBSCRIBE", "home:x"))
        listener.read()
        user(database, "add", "root", "--role", "admin", "--no-password")
        token = user(database, "token", "root")

        def refused():
            client.send(encode("PING"))
            return client.read() == NOAUTH

        wait_until(refused, "the first user to count", seconds=CHANGE_SECONDS)
        frame = listener.read()
        while frame[0] == b"message":
            frame = listener.read()
        assert frame == [b"unsubscribe", b"home:x", 0]
        wait_until(lambda: tries(SimpleNamespace(port=server.port), "root", token), "the token", seconds=CHANGE_SECONDS)
        assert client("AUTH", "root", token) == "OK"
        # Removing the last user closes the door: it does not open it.
        user(database, "remove", "root")
        assert client.is_closed()
        with server.client() as another:
            assert another.error("PING") == NOAUTH


def test_users_stay_known_while_the_database_is_away():
    with tiffin.private_cluster() as (url, start, stop):
        assert run_tiffin("migrate", "--database", url).returncode == 0
        user(url, "add", "root", "--role", "admin", "--no-password")
        token = user(url, "token", "root")
        with Server(database=url) as server:
            stop()
            with log_in(server.port, "root", token) as client:
                assert client("CART.COUNT", "x") == 0
            start()
            user(url, "add", "later", "--role", "customer", "--no-password")
            later = user(url, "token", "later")
            wait_until(
                lambda: tries(SimpleNamespace(port=server.port), "later", later), "the new user", seconds=CHANGE_SECONDS)


# --- the command line


def test_a_server_that_others_can_reach_needs_users(database):
    run = run_tiffin("serve", "--listen", "0.0.0.0:0", "--database", database)
    assert run.returncode == 1
    assert "0.0.0.0:" in run.stderr and "there are no users" in run.stderr and "tiffin user add" in run.stderr
    user(database, "add", "root", "--role", "admin", "--no-password")
    token = user(database, "token", "root")
    server = Server(database=database)
    server.arguments[2] = "0.0.0.0:0"
    with server, log_in(server.port, "root", token) as client:
        assert client("PING") == "PONG"


@pytest.mark.parametrize("words,password,reason", [
    (("add", "x"), PASSWORD, "--role is needed"), (("add", "x", "--role", "king"), PASSWORD, "is not customer"),
    (("add", "x", "--role", "admin", "--only", "y"), PASSWORD, "only customers and merchants can be confined"),
    (("add", "x y", "--role", "admin"), PASSWORD, "name a user"), (("add", "x", "--role", "admin"), "short", "8 to"),
    (("add", "x", "--role", "admin"), None, "8 to"), (("add", "x", "--role", "admin", PASSWORD), None, "unexpected"),
    (("grant", "x"), None, "grant takes"), (("frobnicate",), None, "what is to be done"), ((), None, "what is"),
    (("add", "x", "--role", "admin"), "tiffin_" + "0" * 64, "this is a token"),
])
def test_wrong_words_are_refused(database, words, password, reason):
    assert reason in user(database, *words, password=password, code=64)


def test_users_are_added_once_and_apart(shop):
    assert "there is a user 'anna' already" in user(
        shop.database, "add", "anna", "--role", "admin", "--no-password", code=1)
    for id in ("anna-2", "anna:x.y"):
        said = user(shop.database, "add", "other", "--role", "customer", "--only", id, "--no-password", code=1)
        assert "'anna' is confined to 'anna'" in said
    user(shop.database, "add", "twin", "--role", "customer", "--only", "anna", "--no-password")
    user(shop.database, "remove", "twin")


def test_users_beside_a_server_with_a_database_of_its_own(data_dir):
    with Server(data_dir=data_dir) as server:
        run = run_tiffin("user", "add", "root", "--role", "admin", "--data-dir", data_dir, text=f"{PASSWORD}\n")
        assert run.returncode == 0, run.stderr
        assert run.stdout == "user 'root' added: admin\n"
        with server.client() as client:
            wait_until(lambda: client.error("NONSENSE") == NOAUTH, "the user to be known", seconds=CHANGE_SECONDS)
            assert client("AUTH", "root", PASSWORD) == "OK"


# --- the rights of the server's role


def test_the_server_can_read_users_and_change_none(shop):
    for statement in [
        "update tiffin.users set role = 'admin'", "delete from tiffin.users",
        "insert into tiffin.users (name, role, created_at, revision) values ('x', 'admin', now(), 1)",
        "update tiffin.user_revision set revision = 0",
    ]:
        with pytest.raises(RuntimeError, match="permission denied"):
            sql(f"set role tiffin_server; {statement}", shop.database)


# --- clients of ours


def run_as(shop, name, *words, password=None, **options):
    return run_tiffin(
        *words, "--server", f"127.0.0.1:{shop.port}", "--user", name,
        environment={"TIFFIN_PASSWORD": password or shop.tokens.get(name, PASSWORD)}, **options)


def test_why_logs_in(shop, tmp_path):
    run = run_as(shop, "judge", "why", "cart", "anna-old")
    assert run.returncode == 0 and "checked out" in run.stdout, run.stderr
    run = run_as(shop, "anna", "why", "cart", "anna-old")
    assert run.returncode == 1 and "NOPERM" in run.stderr
    run = run_as(shop, "judge", "why", "cart", "anna-old", password="wrong password")
    assert run.returncode == 1 and "the server refuses: WRONGPASS" in run.stderr
    run = run_tiffin("why", "cart", "anna-old", "--server", f"127.0.0.1:{shop.port}")
    assert run.returncode == 1 and "NOAUTH" in run.stderr
    (tmp_path / "token").write_text(shop.tokens["judge"] + "\n")
    words = ["why", "cart", "anna-old", "--server", f"127.0.0.1:{shop.port}", "--user", "judge"]
    assert run_tiffin(*words, "--password-file", tmp_path / "token").returncode == 0
    run = run_tiffin(*words)
    assert run.returncode == 1 and "TIFFIN_PASSWORD" in run.stderr
    run = run_tiffin(*words[:-2], "--password-file", tmp_path / "token")
    assert run.returncode == 64 and "goes with --user" in run.stderr


def test_audit_logs_in(shop):
    run = run_as(shop, "judge", "audit", "--database", shop.database)
    assert run.returncode == 0 and "answers compared" in run.stdout, run.stdout + run.stderr
    # What a stranger is refused is no difference.
    run = run_tiffin("audit", "--database", shop.database, "--server", f"127.0.0.1:{shop.port}")
    assert run.returncode == 3 and "NOAUTH" in run.stderr and "--user" in run.stderr, run.stdout + run.stderr
    assert "difference" not in run.stdout


def test_import_logs_in(shop, tmp_path):
    menu = tmp_path / "menu.json"
    menu.write_text(json.dumps({"sections": [tiffin.section_document("all", [tiffin.item_document("rice", 100)])]}))
    assert run_as(shop, "chef", "import", "menu", menu, "--outlet", "bakery").returncode == 0
    run = run_as(shop, "anna", "import", "menu", menu, "--outlet", "bakery")
    assert run.returncode == 6 and "NOPERM" in run.stderr
    run = run_as(shop, "chef", "import", "menu", menu, "--outlet", "bakery", password="tiffin_" + "2" * 64)
    assert run.returncode == 6 and "WRONGPASS" in run.stderr


def test_the_load_generator_logs_in(shop):
    run = subprocess.run(
        monkeys.command(shop, *monkeys.SHORT, *monkeys.SMALL, "--user", "root", "--quiet"), capture_output=True,
        text=True, timeout=PATIENCE_SECONDS, env=monkeys.environment(TIFFIN_PASSWORD=shop.tokens["root"]))
    assert run.returncode == 0, run.stdout + run.stderr


# --- users, changed by an admin at the server


def test_an_admin_changes_users_and_no_secret_is_left_anywhere():
    options = ["--slowlog-log-slower-than", "0", "--slowlog-max-len", "1000", "--log-level", "debug"]
    with fresh_database() as database, Server(database=database, options=options) as server:
        with server.client() as stranger:
            # Whoever added the first user here could not log in.
            assert stranger.error("USER.ADD", "root", "ROLE", "admin").code == "UNAVAILABLE"
            assert stranger.json("USER.LIST") == {"users": []}
        user(database, "add", "root", "--role", "admin", password=PASSWORD)
        wait_until(lambda: user_is_known(server.port, "root", PASSWORD), "root to be known", seconds=CHANGE_SECONDS)
        with log_in(server.port, "root") as root:
            added = root.json("USER.ADD", "cook", "ROLE", "merchant", "ONLY", "grill,bakery")
            assert {**added, "addedAt": None} == {
                "name": "cook", "role": "merchant", "only": ["grill", "bakery"], "enabled": True, "password": False,
                "tokens": [], "addedAt": None}
            token = root.json("USER.TOKEN", "cook")["token"]
            assert re.fullmatch("tiffin_[0-9a-f]{64}", token)
            listed = root.json("USER.LIST")["users"]
            assert [each["name"] for each in listed] == ["cook", "root"] and listed[1]["password"]
            assert len(listed[0]["tokens"]) == 1 and listed[0]["tokens"][0] not in token
            assert root.json("USER.CONFINE", "cook", "grill")["only"] == ["grill"]
            wait_until(lambda: user_is_known(server.port, "cook", token), "cook to be known", seconds=CHANGE_SECONDS)
            with log_in(server.port, "cook", token) as cook:
                for words in (("LIST",), ("ADD", "x", "ROLE", "admin"), ("TOKEN", "root"), ("REMOVE", "root")):
                    assert cook.error(f"USER.{words[0]}", *words[1:]).code == "NOPERM"
                assert root.json("USER.DISABLE", "cook")["enabled"] is False
                assert cook.is_closed()
            assert root.json("USER.ENABLE", "cook")["enabled"] is True
            for code, *words in [
                ("INVALID", "ADD", "cook", "ROLE", "merchant"), ("INVALID", "ADD", "x", "ROLE", "admin", "ONLY", "a"),
                ("INVALID", "ADD", "x", "ROLE", "king"), ("INVALID", "ADD", "x", "ROLE", "merchant", "ONLY", "a,,b"),
                ("ERR", "ADD", "x"), ("NOTFOUND", "TOKEN", "nobody"), ("NOTFOUND", "REMOVE", "nobody"),
                ("INVALID", "CONFINE", "root", "grill"), ("INVALID", "DISABLE", "root"), ("INVALID", "REMOVE", "root"),
            ]:
                assert root.error(f"USER.{words[0]}", *words[1:]).code == code, words
            for n in range(15):
                root("USER.TOKEN", "cook")
            assert root.error("USER.TOKEN", "cook").code == "INVALID"
            # The log says who did what, and a server says so to its operator.
            events = [json.loads(event) for event in root("LOG.READ", "STREAM", "user-cook", "COUNT", 100)]
            assert [event["payload"]["change"] for event in events[:5]] == ["added", "token added", "grants", "disabled", "enabled"]
            assert {event["metadata"]["actor"] for event in events} == {"root"}
            assert root.json("USER.REMOVE", "cook") == {"name": "cook", "removed": True}
            said = [
                repr(root(*words)) for words in [
                    ("SLOWLOG", "GET", -1), ("CLIENT", "LIST"), ("INFO", "everything"), ("LOG.READ", "COUNT", 1000), ("USER.LIST",)]]
            assert any("USER.TOKEN" in text for text in said)
            said += [server.output(), sql("select payload, metadata from tiffin.events", database)]
            assert not [text for text in said if re.search("tiffin_[0-9a-f]{8}", text) or PASSWORD in text]
            assert "user 'cook': token added" in server.output()
    assert token not in server.output()


def user_is_known(port, name, password):
    with Client(port) as client:
        client.send(encode("AUTH", name, password))
        return client.read() == "OK"


# --- real clients


def test_redis_py_logs_in(shop):
    for protocol in (2, 3):
        url = f"redis://anna:{shop.tokens['anna']}@127.0.0.1:{shop.port}?protocol={protocol}"
        with redis.Redis.from_url(url) as client:
            assert client.execute_command("ACL WHOAMI") in (b"anna", "anna")
            with pytest.raises(redis.exceptions.NoPermissionError):
                client.execute_command("CART.COUNT", "bert-1")
        with redis.Redis(port=shop.port, protocol=protocol, retry=Retry(NoBackoff(), 0)) as client:
            with pytest.raises(redis.exceptions.AuthenticationError):
                client.ping()
        with redis.Redis(port=shop.port, username="anna", password="wrong password", protocol=protocol,
            retry=Retry(NoBackoff(), 0),
        ) as client:
            with pytest.raises(redis.exceptions.AuthenticationError):
                client.ping()


@pytest.mark.skipif(not shutil.which("redis-cli"), reason="no redis-cli")
def test_redis_cli_logs_in(shop):
    def cli(*words):
        return subprocess.run(
            ["redis-cli", "-p", str(shop.port), *words], capture_output=True, text=True, timeout=PATIENCE_SECONDS,
            env={**os.environ, "REDISCLI_AUTH": ""}).stdout.strip()

    token = shop.tokens["anna"]
    assert cli("--user", "anna", "--pass", token, "--no-auth-warning", "ACL", "WHOAMI") == "anna"
    assert cli("-3", "--user", "anna", "--pass", token, "--no-auth-warning", "ACL", "WHOAMI") == "anna"
    assert cli("-u", f"redis://anna:{token}@127.0.0.1:{shop.port}", "ACL", "WHOAMI") == "anna"
    assert cli("PING") == "NOAUTH Authentication required."
