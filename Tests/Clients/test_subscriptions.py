"""SUBSCRIBE: every change once, in order and without a gap, with Redis's own clients and as Redis does it."""

import contextlib
import itertools
import json
import random
import re
import socket
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import tiffin
from edits import Editor, canonical, patched
from followers import Follower, message
from tampering import insert_event
from tiffin import (
    PATIENCE_SECONDS, Client, Push, ReplyError, Server, encode, in_the_words_of_redis, item_document, put_open_outlet,
    section_document, wait_until,
)



def items(reply):
    return reply.items if isinstance(reply, Push) else reply


def subscribe(client, *channels):
    """Subscribes, and returns the first message of each channel."""
    client.send(encode("SUBSCRIBE", *channels))
    for number, channel in enumerate(channels, 1):
        assert items(client.read()) == [b"subscribe", channel.encode(), number]
    states = dict(message(client.read()) for _ in channels)
    assert set(states) == set(channels)
    return states


def next_change(client, channel):
    name, change = message(client.read())
    assert name == channel
    return change


def pubsub_channels(client):
    info = dict(line.split(":", 1) for line in client("INFO", "stats").decode().split("\r\n") if ":" in line)
    return int(info["pubsub_channels"])


# --- what is sent


@pytest.mark.parametrize("protocol", [2, 3])
def test_a_subscriber_gets_the_revision_of_a_home_and_then_every_change(server, client, outlet, protocol):
    channel = f"home:{outlet}"
    home = client.json("OUTLET.HOME", outlet)
    with server.client(protocol=protocol) as listener:
        state = subscribe(listener, channel)[channel]
        assert state == {"outlet": outlet, "from": home["revision"], "to": home["revision"], "patch": []}
        for price in (1, 2, 3):
            client("MENU.ITEM.PRICE", outlet, "rice", price)
            reply = listener.read()
            assert isinstance(reply, Push) == (protocol == 3)
            change = message(reply)[1]
            assert list(change) == ["outlet", "from", "to", "patch"]
            assert change["from"] == home["revision"]
            # The same as SINCE says.
            assert change == client.json("OUTLET.HOME", outlet, "SINCE", home["revision"])
            home = patched(home, change)
            assert canonical(home) == canonical(client.json("OUTLET.HOME", outlet))


@pytest.mark.parametrize("protocol", [2, 3])
def test_a_cart_is_sent_with_the_problems_that_its_outlet_causes(server, client, outlet, name, protocol):
    cart, channel = f"{name}-c", f"cart:{name}-c"
    with server.client(protocol=protocol) as listener:
        state = subscribe(listener, channel)[channel]
        assert state == {"cart": cart, "from": 0, "to": 0, "patch": []}
        document = None

        def take():
            nonlocal document
            change = next_change(listener, channel)
            assert change["from"] == (document["version"] if document else 0)
            document = patched(document, change)
            assert canonical(document) == canonical(client.json("CART.GET", cart))
            return change

        client("CART.ADD", cart, outlet, "rice", 2)
        assert take()["patch"][0]["path"] == ""
        client("CART.ADD", cart, outlet, "kottu", 1)
        assert take()["to"] == 2
        for change in [("MENU.ITEM.PRICE", outlet, "rice", 1), ("MENU.ITEM.SUSPEND", outlet, "kottu"),
                       ("OUTLET.CLOSE", outlet), ("OUTLET.OPEN", outlet), ("MENU.ITEM.REMOVE", outlet, "rice")]:
            client(*change)
            told = take()
            assert told["from"] == told["to"] == 2 and told["patch"]
        client("CART.REMOVE", cart, "rice")
        assert take()["to"] == 3
        client("MENU.ITEM.RESUME", outlet, "kottu")
        take()
        client("CART.CHECKOUT", cart, "TOTAL", document["total"])
        take()
        assert document["status"] == "checkedOut"


def test_a_removed_outlet_is_told_to_those_who_look_at_it_or_have_it_in_a_cart(server, client, outlet):
    home, cart = f"home:{outlet}", f"cart:{outlet}"
    client("CART.ADD", outlet, outlet, "rice", 1)
    with server.client() as at_home, server.client() as with_cart:
        before = subscribe(at_home, home)[home]["to"]
        subscribe(with_cart, cart)
        client("OUTLET.REMOVE", outlet)
        told = next_change(at_home, home)
        assert told["patch"] == [{"op": "replace", "path": "", "value": None}]
        assert before == told["from"] < told["to"]
        [line] = patched(None, next_change(with_cart, cart))["lines"]
        assert line["problem"] == {"code": "GONE"}
    with server.client() as later:
        assert subscribe(later, home)[home] == {**told, "from": told["to"], "patch": []}


def test_changes_that_do_not_concern_a_cart_are_not_sent(server, client, outlet, name):
    attempts = itertools.count()

    def is_silent():
        cart = f"{name}-{next(attempts)}"
        client("CART.ADD", cart, outlet, "rice", 1)
        with server.client() as listener:
            assert subscribe(listener, f"cart:{cart}")[f"cart:{cart}"]["to"] == 1
            # No message was sent yet that the next one would have to wait for, so each of these is compared at once.
            for price in range(1, 20):
                client("MENU.ITEM.PRICE", outlet, "watalappan", price)
                client("CART.ADD", f"{name}-other", outlet, "rice", 1)
            client("CART.ADD", cart, outlet, "rice", 1)
            change = next_change(listener, f"cart:{cart}")
            if change["to"] == 1:
                # The comparison had to wait because the machine was slow. Then the whole cart is sent.
                assert [operation["path"] for operation in change["patch"]] == [""]
                return False
        assert (change["from"], change["to"]) == (1, 2)
        return True

    wait_until(is_silent, "nothing but the cart's own change to be sent")


def test_a_cart_that_changed_and_changed_back_is_sent_again(server, client, outlet, name):
    """Somebody may have read it in between, and its version does not show that."""
    channel = f"cart:{name}"
    client("CART.ADD", name, outlet, "rice", 1)
    with Follower(server, 2) as follower:
        follower.follow(channel)
        original, other = 125000, itertools.count(1)

        def is_sent_again():
            client("MENU.ITEM.PRICE", outlet, "rice", next(other))
            follower.take_until(lambda: follower.documents[channel]["lines"][0]["problem"])
            # Directly after a message, so that it is held back; a slow machine may need more than one attempt.
            client.pipeline([("OUTLET.CLOSE", outlet), ("OUTLET.OPEN", outlet)])
            told = follower.has_news(0.3)
            if told:
                follower.take_next()
                assert [o["path"] for o in follower.messages[channel][-1]["patch"]] == [""]
            client("MENU.ITEM.PRICE", outlet, "rice", original)
            follower.take_until(lambda: not follower.documents[channel]["lines"][0]["problem"])
            return told

        # Without a pause: the message before has to be a moment ago.
        assert any(is_sent_again() for _ in range(50)), "no message tells it again"
        follower.check()


def test_a_subscriber_learns_when_a_missing_outlet_is_registered(server, client, name):
    channel = f"home:{name}"
    with server.client() as listener:
        assert subscribe(listener, channel)[channel] == {"outlet": name, "from": 0, "to": 0, "patch": []}
        client("OUTLET.PUT", name, json.dumps(tiffin.outlet_document()))
        change = next_change(listener, channel)
        assert change["from"] == 0
        assert patched(None, change) == client.json("OUTLET.HOME", name)


def test_one_connection_in_resp3_may_do_everything_and_reads_whole_frames(server, outlet, name):
    channel, cart = f"home:{outlet}", f"{name}-c"
    with server.client(protocol=3) as client:
        subscribe(client, channel, f"cart:{cart}")
        prices = itertools.cycle([1, 2])
        commands = []
        for number in range(300):
            commands += [("MENU.ITEM.PRICE", outlet, "rice", next(prices)), ("CART.ADD", cart, outlet, "kottu", 0),
                         ("OUTLET.HOME", outlet), ("ECHO", number), ("CART.CLEAR", cart)]
        threading.Thread(target=client.send, args=(b"".join(encode(*command) for command in commands),)).start()
        replies, pushes = [], []
        while len(replies) < len(commands):
            reply = client.read()
            (pushes if isinstance(reply, Push) else replies).append(reply)
        assert [reply for reply in replies[3::5]] == [b"%d" % number for number in range(300)]
        revisions = [json.loads(reply)["revision"] for reply in replies[2::5]]
        assert revisions == sorted(revisions)
        changes = [change for name, change in map(message, pushes) if name == channel]
        assert all(a["to"] == b["from"] for a, b in zip(changes, changes[1:]))
        assert len(changes) >= 1


def test_a_burst_is_sent_in_a_few_messages_and_the_first_at_once(server, client, outlet):
    channel = f"home:{outlet}"
    with server.client() as listener:
        revision = subscribe(listener, channel)[channel]["to"]
        home = client.json("OUTLET.HOME", outlet)
        began = time.monotonic()
        client.pipeline([("MENU.ITEM.PRICE", outlet, "rice", price) for price in range(1, 3_001)], window=50)
        last = client.json("OUTLET.HOME", outlet)
        took = time.monotonic() - began
        changes = []
        while revision < last["revision"]:
            change = next_change(listener, channel)
            assert change["from"] == revision
            revision, home = change["to"], patched(home, change)
            changes.append(change)
        assert canonical(home) == canonical(last)
        assert changes[0]["to"] - changes[0]["from"] <= 50
        assert len(changes) <= 20 * took + 3


def test_every_change_reaches_everybody(server, client, outlet):
    """The home is compared and encoded once, so a thousand subscribers cost little more than one."""
    channel = f"home:{outlet}"
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(server.client(protocol=2 + n % 2)) for n in range(1_000)]
        for listener in listeners:
            subscribe(listener, channel)
        for price in (1, 2, 3):
            client("MENU.ITEM.PRICE", outlet, "rice", price)
            told = {json.dumps(message(listener.read())[1]) for listener in listeners}
            assert len(told) == 1
    wait_until(lambda: pubsub_channels(client) == 0, "the subscriptions to be gone")


def test_another_server_sends_messages_too(database):
    with Server(database=database) as first, Server(database=database) as second:
        with first.client() as writer, Follower(second, 2) as follower:
            put_open_outlet(writer, "kitchen", [section_document("all", [item_document("tea", 1)])])
            writer("CART.ADD", "c", "kitchen", "tea", 1)
            follower.follow("home:kitchen", "cart:c")
            for price in range(2, 6):
                writer("MENU.ITEM.PRICE", "kitchen", "tea", price)
                writer("CART.ADD", "c", "kitchen", "tea", 1)
            wait_until(lambda: follower.read_now("cart:c") == writer.json("CART.GET", "c"), "the cart")
            follower.check()


@pytest.mark.parametrize("stream, channel", [("cart-hurt", "cart:hurt"), ("menu-kitchen", "home:kitchen")])
def test_a_corrupt_stream_is_reported_as_such(database, stream, channel):
    with Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "kitchen", [section_document("all", [item_document("tea", 1)])])
        client("CART.ADD", "hurt", "kitchen", "tea", 1)
        with server.client() as listener:
            state = subscribe(listener, channel)[channel]
            position = client.json("LOG.HEAD")[0]["position"] + 1
            insert_event(database, position, stream, 99, stream.partition("-")[0] + ".eaten", 1, "{}")
            change = next_change(listener, channel)
            assert "patch" not in change
            assert change["from"] == change["to"] == state["to"]
            assert change["error"]["code"] == "CORRUPT" and str(position) in change["error"]["message"]
        with server.client() as listener:
            state = subscribe(listener, channel)[channel]
            assert state["error"]["code"] == "CORRUPT"


# --- everything at once


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_followed_documents_equal_fresh_reads(server, client, name, seed):
    """Several writers at random; a follower ends with the same documents as a fresh read, whenever it began."""
    chance = random.Random(seed)
    outlets = [f"{name}-o{n}" for n in range(3)]
    carts = [f"{name}-c{n}" for n in range(6)]
    for outlet in outlets:
        Editor(outlet, chance).put(client)
    stop = threading.Event()
    failures = []

    def write(number):
        chance = random.Random(seed * 100 + number)
        editors = [Editor(outlet, chance) for outlet in outlets]
        try:
            with server.client() as writer:
                while not stop.is_set():
                    if number % 2:
                        writer.pipeline([chance.choice(editors).command() for _ in range(chance.randint(1, 4))])
                        continue
                    cart, item = chance.choice(carts), f"i{chance.randrange(12)}"
                    writer.pipeline([chance.choice([
                        ("CART.ADD", cart, outlets[carts.index(cart) % 3], item, chance.randint(1, 3)),
                        ("CART.ADD", cart, outlets[carts.index(cart) % 3], item, 1, "NOTE", chance.choice("ab")),
                        ("CART.SET", cart, item, chance.randint(0, 5)),
                        ("CART.REMOVE", cart, item),
                        ("CART.CLEAR", cart) if chance.random() < 0.1 else ("PING",),
                    ])])
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    channels = [f"home:{outlet}" for outlet in outlets] + [f"cart:{cart}" for cart in carts]
    with contextlib.ExitStack() as stack:
        stack.callback(stop.set)
        for thread in threads:
            thread.start()
        followers = []
        for number in range(8):
            follower = stack.enter_context(Follower(server, 2 + number % 2))
            followers.append(follower)
            follower.follow(*chance.sample(channels, chance.randint(1, len(channels))))
            for other in followers:
                if other.has_news(0.1):
                    other.take_next()
        stop.set()
        for thread in threads:
            thread.join(timeout=PATIENCE_SECONDS)
        assert not failures, failures
        for follower in followers:
            follower.check()
        assert sum(len(told) for follower in followers for told in follower.messages.values()) > 30


def write_until_killed(server, editor):
    with contextlib.suppress(EOFError, OSError), server.client() as writer:
        while True:
            writer.pipeline([editor.command()])


def test_after_a_kill_since_closes_the_gap(database):
    """A client that lost its server asks with the revision it has: nothing is missed, and nothing comes twice."""
    server = Server(database=database).start()
    try:
        chance = random.Random(3)
        editor = Editor("kitchen", chance)
        with server.client() as client:
            editor.put(client)
            home = client.json("OUTLET.HOME", "kitchen")
        seen = []
        for _ in range(3):
            with server.client() as listener, server.client() as client:
                # First listen, then ask: a change in between comes twice at most, and its revision shows that.
                state = subscribe(listener, "home:kitchen")["home:kitchen"]
                change = client.json("OUTLET.HOME", "kitchen", "SINCE", home["revision"])
                if change:
                    assert "patch" in change and change["from"] == home["revision"]
                    home = patched(home, change)
                assert home["revision"] >= state["to"]
                last = state["to"]
                thread = threading.Thread(target=write_until_killed, args=(server, editor))
                thread.start()
                for _ in range(3):
                    change = next_change(listener, "home:kitchen")
                    assert change["from"] == last
                    last = change["to"]
                    if change["to"] > home["revision"]:
                        assert change["from"] == home["revision"]
                        home = patched(home, change)
                        seen.append(home["revision"])
                server.kill()
                thread.join(timeout=PATIENCE_SECONDS)
            server.start()
        with server.client() as client:
            change = client.json("OUTLET.HOME", "kitchen", "SINCE", home["revision"])
            home = patched(home, change) if change else home
            assert canonical(home) == canonical(client.json("OUTLET.HOME", "kitchen"))
        assert seen == sorted(set(seen))
    finally:
        server.kill()


# --- names and limits


@pytest.mark.parametrize("channel", [
    "home", "home:", "menu:x", ":", "", "HOME:x", "home:a b", "cart:é", "browse", "home:" + "x" * 65, "cart:a\nb",
])
def test_an_invalid_channel_is_named_and_nothing_is_subscribed(server, client, outlet, channel):
    with server.client() as listener:
        error = listener.error("SUBSCRIBE", f"home:{outlet}", channel, f"cart:{outlet}")
        assert error.code == "INVALID"
        assert f"channel '{channel}'".replace("\n", " ") in str(error)
        # Every command is allowed, because there is no subscription.
        assert listener("ECHO", "free") == b"free"
        client("MENU.ITEM.PRICE", outlet, "rice", 1)
        assert listener("ECHO", "silent") == b"silent"


def test_a_client_has_at_most_a_thousand_subscriptions(server, client, name):
    with server.client() as listener:
        channels = [f"cart:{name}-{n}" for n in range(1_000)]
        subscribe(listener, *channels)
        error = listener.error("SUBSCRIBE", f"cart:{name}-0", f"home:{name}")
        assert error.code == "LIMIT" and "1000" in str(error)
        # Existing subscriptions may be named again.
        assert listener("SUBSCRIBE", channels[0]) == [b"subscribe", channels[0].encode(), 1_000]
        assert message(listener.read())[0] == channels[0]
        assert listener("UNSUBSCRIBE", channels[1]) == [b"unsubscribe", channels[1].encode(), 999]
        assert listener("SUBSCRIBE", f"home:{name}")[2] == 1_000
        assert message(listener.read())[1]["to"] == 0
        assert pubsub_channels(client) >= 1_000
    with server.client() as listener:
        too_many = [f"cart:{name}-{n}" for n in range(1_001)]
        assert listener.error("SUBSCRIBE", *too_many).code == "LIMIT"
        assert listener("PING") == "PONG"


def test_a_client_that_subscribes_twice_gets_each_message_once(server, client, outlet):
    channel = f"home:{outlet}"
    with server.client() as listener:
        first = subscribe(listener, channel)[channel]
        assert listener("SUBSCRIBE", channel, channel) == [b"subscribe", channel.encode(), 1]
        assert listener.read() == [b"subscribe", channel.encode(), 1]
        assert next_change(listener, channel) == first
        client("MENU.ITEM.PRICE", outlet, "rice", 1)
        assert next_change(listener, channel)["from"] == first["to"]
        assert listener("PING", "end") == [b"pong", b"end"]


def test_a_client_that_unsubscribes_gets_no_more_messages(server, client, outlet, name):
    before = pubsub_channels(client)
    with server.client() as listener:
        subscribe(listener, f"home:{outlet}", f"cart:{name}")
        assert pubsub_channels(client) == before + 2
        # The Kelvin sign is a K to those who compare texts, and not to those who compare bytes.
        assert listener("SUBSCRIBE", "home:K") == [b"subscribe", b"home:K", 3]
        assert next_change(listener, "home:K")["to"] == 0
        assert listener("UNSUBSCRIBE", "home:\u212a")[2] == 3
        assert listener("UNSUBSCRIBE", "home:K")[2] == 2
        assert listener("UNSUBSCRIBE", f"home:{outlet}") == [b"unsubscribe", f"home:{outlet}".encode(), 1]
        client("MENU.ITEM.PRICE", outlet, "rice", 1)
        client("CART.ADD", name, outlet, "rice", 1)
        assert next_change(listener, f"cart:{name}")["to"] == 1
        assert listener("RESET") == "RESET"
        client("CART.ADD", name, outlet, "rice", 1)
        assert listener("CART.COUNT", name) == 2
        assert pubsub_channels(client) == before


def client_bytes(client) -> int:
    return int(re.search(rb"mem_clients_normal:(\d+)", client("INFO", "memory"))[1])


def test_a_subscriber_that_does_not_read_holds_one_document_and_catches_up(database):
    letters = itertools.cycle("ab")

    def menu():
        # Items of nearly a megabyte in all, which is the limit of a command.
        text = next(letters) + "x" * 1_980
        return json.dumps({"sections": [section_document("all", [
            item_document(f"i{n}", 1, description=text, imageSmall=f"https://a.b/{text}") for n in range(230)])]})

    with Server(database=database, options=["--log-level", "debug", "--max-output", "4mb"]) as server:
        with server.client() as client, server.client() as reader, server.client() as lazy:
            put_open_outlet(client, "kitchen", json.loads(menu())["sections"])
            home = client.json("OUTLET.HOME", "kitchen")
            late = home
            assert subscribe(reader, "home:kitchen")["home:kitchen"]["to"] == home["revision"]
            assert subscribe(lazy, "home:kitchen")["home:kitchen"]["to"] == home["revision"]
            most = 0
            # More than the system's own buffers take.
            for _ in range(14):
                client("MENU.PUT", "kitchen", menu())
                change = next_change(reader, "home:kitchen")
                assert change["from"] == home["revision"]
                home = patched(home, change)
                most = max(most, client_bytes(client))
            assert len(canonical(home)) > 900_000
            assert 0 < most < 2 * len(canonical(home))
            assert b"client_output_buffer_limit_disconnections:0\r" in client("INFO", "stats")
            # Once it reads, every message leads on from the one before it, and the last one to what is.
            messages = 0
            while late["revision"] < home["revision"]:
                change = next_change(lazy, "home:kitchen")
                assert change["from"] == late["revision"]
                late = patched(late, change)
                messages += 1
            assert messages < 12
            assert canonical(late) == canonical(home) == canonical(client.json("OUTLET.HOME", "kitchen"))
            client("MENU.ITEM.PRICE", "kitchen", "i0", 7)
            for one in (reader, lazy):
                assert next_change(one, "home:kitchen")["from"] == home["revision"]


def test_subscribing_and_unsubscribing_leaves_nothing_behind(server, client, outlet, name):
    before = pubsub_channels(client)
    stop = threading.Event()

    def write():
        with server.client() as writer:
            for price in itertools.cycle(range(1, 100)):
                if stop.is_set():
                    return
                writer("MENU.ITEM.PRICE", outlet, "rice", price)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for number in range(200):
            listener = server.client(protocol=2 + number % 2)
            listener.send(encode("SUBSCRIBE", f"home:{outlet}", f"cart:{name}-{number}"))
            if number % 3:
                listener.send(encode("UNSUBSCRIBE") + encode("SUBSCRIBE", f"home:{outlet}"))
            if number % 5:
                listener.read()
            listener.close()
    finally:
        stop.set()
        thread.join(timeout=PATIENCE_SECONDS)
    wait_until(lambda: pubsub_channels(client) == before, "the subscriptions to be gone")


# --- as Redis does it

CONVERSATIONS = [
    [("UNSUBSCRIBE",)],
    [("UNSUBSCRIBE", "home:x", "nothing at all")],
    [("SUBSCRIBE",)],
    [("SUBSCRIBE", "home:x"), ("PING",), ("PING", "hello"), ("PING", "a", "b")],
    [("SUBSCRIBE", "home:x"), ("ECHO", "hello"), ("ECHO",), ("NOSUCHCOMMAND",), ("HELLO", "3"), ("TIME",)],
    [("SUBSCRIBE", "home:x", "cart:x", "home:x"), ("UNSUBSCRIBE", "home:x", "home:x"), ("UNSUBSCRIBE",),
     ("PING",), ("UNSUBSCRIBE",)],
    [("SUBSCRIBE", "home:x"), ("RESET",), ("PING",), ("UNSUBSCRIBE",)],
    [("SUBSCRIBE", "home:x"), ("UNSUBSCRIBE",), ("ECHO", "hello")],
    [("SUBSCRIBE", "home:x"), ("QUIT",)],
]


def converse(port, conversation, protocol):
    """Every byte up to the reply to the last command, except messages and what is our own."""
    with Client(port, protocol=protocol) as client:
        client.send(b"".join(encode(*command) for command in conversation))
        client.socket.shutdown(socket.SHUT_WR)
        replies = []
        with contextlib.suppress(EOFError):
            while True:
                replies.append(client.read())
        for index, reply in enumerate(replies):
            if isinstance(reply, dict) or isinstance(reply, list) and len(reply) == 2 and reply[0].isdigit():
                replies[index] = type(reply)
        return [reply for reply in replies if not (isinstance(items(reply), list) and items(reply)[0] == b"message")]


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda c: "; ".join(map(" ".join, c)))
def test_subscribers_are_answered_as_redis_does(server, redis, conversation, protocol):
    ours = converse(server.port, conversation, protocol)
    assert in_the_words_of_redis(ours) == converse(redis, conversation, protocol)


@pytest.mark.parametrize("options", ["", "protocol=2", "protocol=3"], ids=["default", "RESP2", "RESP3"])
@pytest.mark.parametrize("flavour", ["sync", "async"])
def test_redis_py_listens(server, client, outlet, options, flavour):
    call, run = ("", "main()") if flavour == "sync" else ("await ", "asyncio.run(main())")
    program = f"""
        import asyncio, json, logging, redis, redis.asyncio
        logging.basicConfig(level=logging.WARNING)

        {"async " if call else ""}def main():
            # A slow machine is nothing to warn of.
            {"asyncio.get_running_loop().slow_callback_duration = 60" if call else ""}
            module = redis{".asyncio" if call else ""}
            client = module.Redis(port={server.port}, {options})
            pubsub = client.pubsub()
            {call}pubsub.subscribe("home:{outlet}", "cart:{outlet}-c")
            seen = []
            for _ in range(4):
                seen.append({call}pubsub.get_message(timeout=30))
            assert [m["type"] for m in seen] == ["subscribe", "subscribe", "message", "message"], seen
            assert json.loads(seen[2]["data"])["patch"] == []
            {call}client.execute_command("MENU.ITEM.PRICE", "{outlet}", "rice", 1)
            change = {call}pubsub.get_message(timeout=30)
            assert change["type"] == "message" and change["channel"] == b"home:{outlet}", change
            assert json.loads(change["data"])["from"] == json.loads(seen[2]["data"])["to"]
            {call}pubsub.ping()
            pong = {call}pubsub.get_message(timeout=30)
            assert pong is None or pong["type"] == "pong", pong
            {call}pubsub.unsubscribe("home:{outlet}")
            while (m := {call}pubsub.get_message(timeout=30))["type"] != "unsubscribe":
                pass
            assert m["data"] == 1
            {call}pubsub.{"aclose" if call else "close"}()
            {call}client.{"aclose" if call else "close"}()

        {run}
    """
    run = subprocess.run(
        [sys.executable, "-W", "error", "-X", "dev", "-c", textwrap.dedent(program)],
        capture_output=True, text=True, timeout=PATIENCE_SECONDS,
    )
    assert (run.stderr, run.stdout, run.returncode) == ("", "", 0)


@pytest.mark.parametrize("protocol", [[], ["-3"]], ids=["default", "RESP3"])
def test_redis_cli_listens(server, client, outlet, protocol):
    process = subprocess.Popen(
        ["redis-cli", *protocol, "-p", str(server.port), "SUBSCRIBE", f"home:{outlet}"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = []
    thread = threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True)
    thread.start()
    try:
        wait_until(lambda: any('"patch":[]' in line.replace("\\", "") for line in lines), "the first message")
        client("MENU.ITEM.PRICE", outlet, "rice", 1)
        wait_until(lambda: any("/model/price" in line for line in lines), "the change")
        assert not any("rror" in line for line in lines), lines
    finally:
        process.kill()
        process.wait(timeout=PATIENCE_SECONDS)
        thread.join(timeout=PATIENCE_SECONDS)
        process.stdin.close()
        process.stdout.close()


def test_client_list_shows_who_listens(server, client, outlet):
    with server.client() as listener:
        subscribe(listener, f"home:{outlet}")
        lines = client("CLIENT", "LIST").decode().splitlines()
        assert [line for line in lines if " flags=P " in line and " sub=1 " in line]
    assert isinstance(client.error("PSUBSCRIBE", "*"), ReplyError)
