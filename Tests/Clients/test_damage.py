"""A damaged log: damaged streams are quarantined and reported, and everything else goes on, at start and while running."""

import json
import re

import pytest

from followers import Follower, message
from tampering import tamper
from tiffin import Server, item_document, put_open_outlet, run_tiffin, section_document, sql, wait_until

MENU = [section_document("all", [item_document("tea", 100), item_document("bun", 50)])]


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def append(database, *events):
    """Writes events as another server would, each `(stream, version, kind, payload)`; returns their positions."""
    first = int(sql("select position from tiffin.log_head", database)) + 1
    rows = ", ".join(
        f"(0, {first + n}, {quoted(stream)}, {version}, {quoted(kind)}, 1, {quoted(payload)}, '{{}}', now())"
        for n, (stream, version, kind, payload) in enumerate(events))
    last = first + len(events) - 1
    tamper(f"""
        insert into tiffin.events values {rows};
        update tiffin.log_head set position = {last};
    """, database)
    return list(range(first, last + 1))


def remove(database, *positions):
    tamper(f"delete from tiffin.events where position in ({', '.join(map(str, positions))})", database)


def delete_saved_rows(database):
    sql("truncate tiffin.projection_checkpoints, tiffin.outlet_home_rows, tiffin.cart_count_rows, tiffin.quarantine", database)


def added(quantity=1, item="tea"):
    return json.dumps({
        "outlet": "kitchen", "currency": "LKR", "line": item, "item": item, "name": item.title(),
        "quantity": quantity, "unitPrice": 100})


def fill(client):
    for outlet in ("kitchen", "other"):
        put_open_outlet(client, outlet, MENU)
    for cart in ("well", "hurt", "short"):
        for _ in range(3):
            client("CART.ADD", cart, "kitchen", "tea", 1)


def position_of(database, stream, version):
    return int(sql(f"select position from tiffin.events where stream = '{stream}' and version = {version}", database))


def answers(client, *, hurt):
    """The answers about everything that is not damaged."""
    questions = [("CART.GET", "well"), ("CART.COUNT", "well")]
    for outlet in ("kitchen", "other"):
        if outlet not in hurt:
            questions += [("OUTLET.GET", outlet), ("MENU.GET", outlet), ("OUTLET.HOME", outlet, "CART", "well")]
    return [client(*question) for question in questions]


def check_corrupt(client, cart, position=None):
    for command in (("CART.GET", cart), ("CART.COUNT", cart), ("CART.ADD", cart, "kitchen", "tea", 1)):
        error = client.error(*command)
        assert error.code == "CORRUPT", (command, error)
        assert position is None or f"since position {position} " in str(error), (command, error)


def missing_events(client):
    return int(re.search(rb"partition0_missing_events:(\d+)", client("INFO", "log"))[1])


def wait_until_read(client, position):
    wait_until(lambda: b"partition0_position:%d\r" % position in client("INFO", "log"), "the log to be read")


def test_a_stream_whose_name_only_looks_the_same_is_another_one(database):
    """The Kelvin sign is a K to those who compare texts, and not to those who compare bytes."""
    with Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "K", MENU)
        client("CART.ADD", "K", "K", "tea", 1)
        strange = append(
            database, ("outlet-\u212a", 1, "outlet.opened", "{}"), ("cart-\u212a", 1, "cart.cleared", '{"count":1}'))
        wait_until_read(client, strange[-1])
        assert client("CART.COUNT", "K") == 1
        client("MENU.ITEM.PRICE", "K", "tea", 120)
        home = client.json("OUTLET.HOME", "K")
        # An event of another stream is no revision of this outlet.
        assert client.json("OUTLET.HOME", "K", "SINCE", strange[0]) == home


# --- events that somebody has removed


def test_a_server_starts_on_a_log_that_lacks_events_and_says_which(database):
    with Server(database=database) as server, server.client() as client:
        fill(client)
        before = answers(client, hurt=["other"])
        short = client("CART.GET", "short", "AT", position_of(database, "cart-short", 2))
        hurt = client("CART.GET", "hurt", "AT", position_of(database, "cart-hurt", 1))
    gone = [
        position_of(database, "cart-hurt", 2), position_of(database, "menu-other", 2),
        position_of(database, "cart-short", 3),
    ]
    shown = [position_of(database, "cart-hurt", 3), position_of(database, "menu-other", 3)]
    remove(database, *gone)
    delete_saved_rows(database)
    for _ in range(2):
        with Server(database=database) as server, server.client() as client:
            check_corrupt(client, "hurt", shown[0])
            for command in ("OUTLET.GET", "MENU.GET", "OUTLET.HOME"):
                error = client.error(command, "other")
                assert error.code == "CORRUPT" and f"since position {shown[1]} " in str(error)
            assert client.error("MENU.ITEM.PRICE", "other", "tea", 1).code == "CORRUPT"
            assert [item["outlet"] for item in client.json("BROWSE")["items"]] == ["kitchen", "kitchen"]
            assert answers(client, hurt=["other"]) == before
            # Nothing shows that the end of a stream is missing: what is left is a shorter history.
            assert client("CART.GET", "short") == short and client("CART.COUNT", "short") == 2
            # The time before the damage can still be read.
            assert client("CART.GET", "hurt", "AT", shown[0] - 2) == hurt
            assert client.error("CART.GET", "hurt", "AT", shown[0]).code == "CORRUPT"
            assert str(client.error("CART.GET", "well", "AT", gone[0])) == (
                f"CORRUPT the log has no event at position {gone[0]} of partition 0")
            story = run_tiffin("why", "cart", "hurt", environment={"TIFFIN_SERVER": f"127.0.0.1:{server.port}"})
            assert "damaged, nothing is shown from here on: version 3 after 1" in story.stdout
            for position in gone:
                server.wait_for_output(f"the log has no event at position {position} of partition 0")
            assert missing_events(client) == len(gone)
        delete_saved_rows(database)
    with Server(database=database) as server, server.client() as client:
        count = client("CART.COUNT", "well")
        assert client("CART.ADD", "well", "kitchen", "tea", 1) == count + 1
        client("MENU.ITEM.PRICE", "kitchen", "tea", 120)
        assert client("CART.ADD", "new", "kitchen", "tea", 1) == 1


def test_the_log_is_folded_again_when_events_after_a_checkpoint_are_missing(database):
    with Server(database=database) as server, server.client() as client:
        fill(client)
        before = answers(client, hurt=[])
    positions = append(
        database, ("cart-hurt", 4, "cart.itemAdded", added()), ("cart-hurt", 5, "cart.itemAdded", added()),
        ("cart-late", 1, "cart.itemAdded", added(7)), ("cart-lost", 1, "cart.itemAdded", added()))
    remove(database, positions[0], positions[3])
    for _ in range(2):
        with Server(database=database) as server, server.client() as client:
            check_corrupt(client, "hurt", positions[1])
            assert answers(client, hurt=[]) == before
            assert client("CART.COUNT", "late") == 7 and client("CART.GET", "lost") is None
            assert client("CART.ADD", "short", "kitchen", "tea", 1) > 3
    # The first of them saved what it found, so the second had nothing to report.
    assert "no event at position" not in server.output()


@pytest.mark.parametrize("end", ["removed", "announced"])
def test_a_server_continues_a_log_without_its_end(database, end):
    server = Server(database=database)
    with server, server.client() as client:
        fill(client)
        before = answers(client, hurt=[])
        head = client.json("LOG.HEAD")[0]["position"]
        if end == "announced":
            # While it runs: the head says that there is more, and there is not.
            sql(f"update tiffin.log_head set position = {head + 3}", database)
            assert client("CART.ADD", "new", "kitchen", "tea", 1) == 1
            missing = f"no event at positions {head + 1} to {head + 3} of partition 0"
            wait_until(lambda: missing in server.output(), "what is missing to be told")
            assert client.json("LOG.HEAD")[0]["position"] == head + 4
    if end == "removed":
        remove(database, head, head - 1)
        delete_saved_rows(database)
    with server, server.client() as client:
        if end == "removed":
            server.wait_for_output(f"no event at positions {head - 1} to {head} of partition 0")
            assert client("CART.COUNT", "short") == 1
        assert answers(client, hurt=[]) == before
        assert client("CART.ADD", "well", "kitchen", "tea", 1) == 4
        assert client("CART.ADD", "short", "kitchen", "tea", 1) == (2 if end == "removed" else 4)
    with server, server.client() as client:
        assert client("CART.COUNT", "well") == 4 and client("CART.COUNT", "short") == (2 if end == "removed" else 4)


def test_a_server_that_follows_another_skips_removed_events(database):
    with Server(database=database) as server, server.client() as client:
        fill(client)
        with Follower(server, 2) as follower, server.client() as listener:
            follower.follow("cart:well", "home:kitchen")
            listener.send(b"SUBSCRIBE cart:hurt\r\n")
            listener.read(), listener.read()
            head = int(sql("select position from tiffin.log_head", database))
            # In one transaction, so that the server never sees the head without the events.
            tamper(f"""
                insert into tiffin.events values
                    (0, {head + 2}, 'cart-hurt', 5, 'cart.itemAdded', 1, {quoted(added())}, '{{}}', now()),
                    (0, {head + 5}, 'cart-well', 4, 'cart.itemAdded', 1, {quoted(added())}, '{{}}', now());
                update tiffin.log_head set position = {head + 5};
            """, database)
            wait_until_read(client, head + 5)
            check_corrupt(client, "hurt", head + 2)
            _, change = message(listener.read())
            assert change["error"]["code"] == "CORRUPT" and str(head + 2) in change["error"]["message"]
            for hole in (f"position {head + 1}", f"positions {head + 3} to {head + 4}"):
                server.wait_for_output(f"the log has no event at {hole} of partition 0")
            assert missing_events(client) == 3
            assert client("CART.ADD", "well", "kitchen", "tea", 1) == 5
            client("MENU.ITEM.PRICE", "kitchen", "bun", 70)
            follower.take_until(lambda: follower.revision("cart:well") == 5)
            follower.check()


def test_a_log_full_of_holes_is_not_a_log_file_full_of_lines(database):
    with Server(database=database) as server, server.client() as client:
        fill(client)
        client.pipeline([("CART.ADD", f"c{n}", "kitchen", "tea", 1) for n in range(200)])
    first = position_of(database, "cart-c0", 1)
    tamper(f"delete from tiffin.events where position >= {first} and position % 2 = 0", database)
    delete_saved_rows(database)
    with Server(database=database) as server, server.client() as client:
        assert missing_events(client) == 100
        server.wait_for_output("more events are missing")
        assert server.output().count("the log has no event") == 20
        counts = [client("CART.COUNT", f"c{n}") for n in range(200)]
        assert sorted(counts) == [0] * 100 + [1] * 100
        assert client("CART.COUNT", "well") == 3


# --- events that make no sense

DAMAGE = {
    "no JSON": ("cart-hurt", "cart.itemAdded", "{"),
    "another shape": ("cart-hurt", "cart.itemAdded", "{}"),
    "a kind that nobody knows": ("cart-hurt", "cart.eaten", "{}"),
    "what cannot have happened": ("cart-hurt", "cart.lineRemoved", '{"line":"never","quantity":99}'),
    "a version that does not follow": ("cart-hurt", "cart.cleared", '{"count":3}', 7),
    "an event of a menu": ("cart-hurt", "menu.sectionRemoved", '{"id":"all"}'),
    "an event of an outlet": ("cart-hurt", "outlet.closed", "{}"),
    "a number beyond all": ("cart-hurt", "cart.cleared", '{"count":9223372036854775807}'),
    "a menu without its section": ("menu-other", "menu.sectionRemoved", '{"id":"never"}'),
    "a cart's event in a menu": ("menu-other", "cart.cleared", '{"count":0}'),
    "a cart's event in an outlet": ("outlet-other", "cart.cleared", '{"count":0}'),
    "an outlet registered twice": ("outlet-other", "outlet.registered",
                                   '{"currency":"LKR","name":"Twice","timeZone":"UTC"}'),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_nonsense_quarantines_its_stream_alone(database, damage):
    stream, kind, payload, *versions = DAMAGE[damage]
    category, _, name = stream.partition("-")
    version, = versions or [{"cart": 4, "menu": 4, "outlet": 3}[category]]
    hurt = [] if category == "cart" else ["other"]
    channel = f"cart:{name}" if category == "cart" else f"home:{name}"

    def check(client):
        if category == "cart":
            check_corrupt(client, "hurt", position)
        else:
            for command in ("OUTLET.GET", "MENU.GET", "OUTLET.HOME"):
                assert str(client.error(command, "other")).startswith(f"CORRUPT stream '{stream}' is quarantined")
            assert client.error("OUTLET.HOME", "other", "AT", position).code == "CORRUPT"
            assert client.json("OUTLET.HOME", "other", "AT", position - 1)["outlet"]["id"] == "other"
            assert {item["outlet"] for item in client.json("BROWSE")["items"]} == {"kitchen"}
        assert answers(client, hurt=hurt) == before

    with Server(database=database) as server, server.client() as client:
        fill(client)
        before = answers(client, hurt=hurt)
        with Follower(server, 3) as follower, server.client() as listener:
            follower.follow("cart:well", "home:kitchen")
            listener.send(b"SUBSCRIBE %s\r\n" % channel.encode())
            listener.read(), listener.read()
            position, = append(database, (stream, version, kind, payload))
            wait_until_read(client, position)
            check(client)
            _, change = message(listener.read())
            assert change["error"]["code"] == "CORRUPT", change
            server.wait_for_output(f"stream '{stream}' is corrupt at {position}: ")
            client("MENU.ITEM.PRICE", "kitchen", "bun", 60)
            client("CART.ADD", "well", "kitchen", "bun", 1)
            follower.check()
            before = answers(client, hurt=hurt)
    for _ in range(2):
        with Server(database=database) as server, server.client() as client:
            check(client)
            assert client("CART.COUNT", "well") == 4
            told = run_tiffin("why", category.replace("menu", "outlet"), name,
                              environment={"TIFFIN_SERVER": f"127.0.0.1:{server.port}"})
            assert told.returncode == 0 and "damaged, nothing is shown from here on" in told.stdout
        delete_saved_rows(database)


def test_a_cart_with_a_possible_sum_is_found_damaged_when_its_lines_are_needed(database):
    """CART.COUNT is a sum of quantities, and does not know lines."""
    with Server(database=database) as server, server.client() as client:
        fill(client)
        position, = append(database, ("cart-hurt", 4, "cart.lineRemoved", '{"line":"never","quantity":1}'))
        wait_until_read(client, position)
        for command in (("CART.GET", "hurt"), ("CART.ADD", "hurt", "kitchen", "tea", 1), ("CART.CLEAR", "hurt")):
            assert f"since position {position} " in str(client.error(*command))
        assert client("CART.COUNT", "hurt") == 2
