"""Stops, lost connections, several servers and damaged streams lose nothing that was acknowledged."""

import json
import signal

import pytest

import schemas
import tiffin
from tampering import insert_event
from tiffin import PROJECTIONS, Server, encode, put_open_outlet, read_log, sql, wait_until
from writers import MENU, start_writers, wait_until_writable


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_in_the_middle_of_writes_keeps_what_was_acknowledged(database, signal_number):
    server = Server(database=database).start()
    try:
        with server.client() as client:
            put_open_outlet(client, "kitchen", MENU)
        threads, replies, failures = start_writers(server)
        assert server.stop(signal_number) == 0, server.output()
        for thread in threads:
            thread.join(timeout=tiffin.REPLY_SECONDS)
            assert not thread.is_alive()
        assert not failures, failures[:3]
        with server.start().client() as client:
            for cart, count in replies.items():
                assert client("CART.COUNT", cart) in (count, count + 1)
            events = read_log(client)
            assert [event["position"] for event in events] == list(range(1, len(events) + 1))
        assert server.stop() == 0
    finally:
        server.kill()


def test_lost_connections_lose_and_duplicate_nothing(database):
    with Server(database=database) as server:
        with server.client() as client:
            put_open_outlet(client, "kitchen", MENU)
        threads, replies, failures = start_writers(server, writers=4)
        for _ in range(8):
            # Between two cuts something is written.
            before = sum(list(replies.values()))
            wait_until(lambda: sum(list(replies.values())) > before + 20, "more replies")
            sql("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()", database)
        with server.client() as client:
            # The server may notice only now that the last connection is gone.
            wait_until_writable(client, "after")
            for line in client("CLIENT", "LIST").splitlines():
                if b"cmd=cart.add" in line:
                    client.send(encode("CLIENT", "KILL", "ID", line.split()[0].removeprefix(b"id=")))
                    client.read()
        for thread in threads:
            thread.join(timeout=tiffin.REPLY_SECONDS)
            assert not thread.is_alive()
        assert {reply.code for _, reply in failures} <= {"UNAVAILABLE"}, failures[:3]
        with server.client() as client:
            counts = {cart: client("CART.COUNT", cart) for cart in replies}
            events = read_log(client)
        assert [event["position"] for event in events] == list(range(1, len(events) + 1))
        ids = [event["metadata"]["id"] for event in events if "id" in (event["metadata"] or {})]
        assert len(ids) == len(set(ids))
        for cart, count in replies.items():
            assert counts[cart] in (count, count + 1)


def test_many_streams_are_loaded_after_a_restart(database):
    server = Server(database=database)
    carts = [f"c{n}" for n in range(3_000)]
    try:
        with server.start().client() as client:
            put_open_outlet(client, "kitchen", MENU)
            assert client.pipeline([("CART.ADD", cart, "kitchen", "dish-1", 1) for cart in carts], window=500) == [1] * len(carts)
        assert server.stop() == 0
        with server.start().client() as client:
            assert client.pipeline([("CART.ADD", cart, "kitchen", "dish-1", 1) for cart in carts], window=3_000) == [2] * len(carts)
        assert server.stop() == 0
    finally:
        server.kill()


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_several_partitions_serve_as_one(database, end):
    assert tiffin.run_tiffin("migrate", "--database", database, "--partitions", 4).returncode == 0
    server = Server(database=database)
    try:
        with server.start().client() as client:
            for outlet in range(8):
                put_open_outlet(client, f"kitchen-{outlet}", MENU)
            replies = client.pipeline([("CART.ADD", f"c{n}", f"kitchen-{n % 8}", "dish-1", 2) for n in range(400)])
            assert replies == [2] * 400
            orders = client.pipeline([("CART.CHECKOUT", f"c{n}", "TOTAL", 202) for n in range(40)])
            wait_until(lambda: client("INFO", "projections").count(b"saved_position=0") == 0, "four checkpoints")

            def everything():
                return [
                    *(client.json("OUTLET.HOME", f"kitchen-{n}") for n in range(8)), *(client("CART.GET", f"c{n}") for n in range(400)),
                    *(client("ORDER.GET", order) for order in orders), *client.json("LOG.HEAD"),
                ]

            before = everything()
            heads = client.json("LOG.HEAD")
            assert [head["partition"] for head in heads] == [0, 1, 2, 3] and all(head["position"] for head in heads)
            for head in heads:
                events = read_log(client, "PARTITION", head["partition"])
                assert [event["position"] for event in events] == list(range(1, head["position"] + 1))
            assert client.error("LOG.READ", "PARTITION", 4).code == "INVALID"
        assert getattr(server, end)() in (0, None)
        with server.start().client() as client:
            assert everything() == before
            assert client("CART.ADD", "c399", "kitchen-7", "dish-2", 1) == 3
        assert server.stop() == 0
    finally:
        server.kill()


def test_two_servers_save_the_same_read_models(database):
    pair = [Server(database=database).launch() for _ in range(2)]
    try:
        for server in pair:
            server.wait_until_listening()
        with pair[0].client() as client:
            put_open_outlet(client, "kitchen", MENU)
        for round in range(3):
            for turn, server in enumerate(pair):
                with server.client() as client:
                    wait_until(lambda: client("OUTLET.HOME", "kitchen"), "the outlet")
                    added = client.pipeline([("CART.ADD", f"c{n}", "kitchen", f"dish-{round}", 1) for n in range(100)])
                    assert added == [2 * round + turn + 1] * 100
            pair[round % 2].kill()
            pair[round % 2].start()
        with pair[0].client() as first, pair[1].client() as second:
            head = first.json("LOG.HEAD")[0]["position"]
            wait_until(
                lambda: first("OUTLET.HOME", "kitchen", "CART", "c99") == second("OUTLET.HOME", "kitchen", "CART", "c99"),
                "equal homes")
            assert [first("CART.COUNT", f"c{n}") for n in range(100)] == [second("CART.COUNT", f"c{n}") for n in range(100)] == [6] * 100
            wait_until(
                lambda: sql("select min(position) from tiffin.projection_checkpoints", database) == str(head),
                "a checkpoint")
        assert [server.stop() for server in pair] == [0, 0]
        # A model restored from the rows of either is the one that follows from the log.
        saved = sql("select projection, position, encode(digest, 'hex') from tiffin.projection_checkpoints order by 1", database)
        sql(
            "truncate tiffin.projection_checkpoints, tiffin.outlet_home_rows, tiffin.cart_count_rows, tiffin.order_rows, tiffin.takings_rows, tiffin.supply_rows, tiffin.process_rows",
            database)
        with pair[0].start().client() as client:
            wait_until(
                lambda: sql("select count(*) from tiffin.projection_checkpoints", database) == str(len(PROJECTIONS)),
                "a checkpoint")
            assert client("CART.COUNT", "c0") == 6
        assert pair[0].stop() == 0
        assert sql("select projection, position, encode(digest, 'hex') from tiffin.projection_checkpoints order by 1", database) == saved
    finally:
        for server in pair:
            server.kill()


DAMAGE = {
    "a payload that is no JSON": ("cart-hurt", "cart.itemAdded", 1, "{", 2),
    "a payload of another shape": ("cart-hurt", "cart.itemAdded", 1, '{"x":1}', 2),
    "a kind that nobody knows": ("cart-hurt", "cart.eaten", 1, "{}", 2),
    "an impossible history": ("cart-hurt", "cart.lineRemoved", 1, '{"line":"never-there"}', 2),
    "a version that was left out": ("cart-hurt", "cart.cleared", 1, "{}", 9),
    "a menu that is no menu": ("menu-kitchen2", "menu.sectionAdded", 1, '"\\u0000"', 99),
    "a stream of no category": ("spaceship-1", "spaceship.launched", 1, "{}", 1),
    "an invalid name": ("cart-a b", "cart.cleared", 1, "{}", 1),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_stream_is_quarantined_and_all_others_served(database, damage):
    stream, kind, schema, payload, version = DAMAGE[damage]
    with Server(database=database) as server, server.client() as client:
        for outlet in ("kitchen", "kitchen2"):
            put_open_outlet(client, outlet, MENU)
        for cart in ("hurt", "well"):
            client("CART.ADD", cart, "kitchen", "dish-1", 1)
        position = client.json("LOG.HEAD")[0]["position"] + 1
        insert_event(database, position, stream, version, kind, schema, payload)

        def check():
            client.on_reply = schemas.unchecked
            wait_until(
                lambda: b"position:%d\r" % position in client("INFO", "log") or b"position:%d\r" % (position + 1) in client("INFO", "log"),
                "the event to be read")
            category, _, name = stream.partition("-")
            if category == "cart" and " " not in name:
                for command in (("CART.GET", name), ("CART.COUNT", name), ("CART.ADD", name, "kitchen", "dish-1", 1)):
                    error = client.error(*command)
                    assert error.code == "CORRUPT" and str(position) in str(error), error
            elif category == "menu":
                for command in (("MENU.GET", name), ("OUTLET.HOME", name), ("MENU.ITEM.REMOVE", name, "dish-1")):
                    error = client.error(*command)
                    assert error.code == "CORRUPT" and str(position) in str(error), error
            assert client("CART.COUNT", "well") >= 1
            assert client.json("OUTLET.HOME", "kitchen")["state"] == "ready"
            assert [event["position"] for event in read_log(client)][position - 1] == position
            # An event of an unknown kind is shown nevertheless.
            printed = tiffin.run_tiffin("log", "--database", database, "--from", position)
            assert printed.returncode == 0 and json.loads(printed.stdout.splitlines()[0])["stream"] == stream

        check()
        assert client("CART.ADD", "well", "kitchen", "dish-1", 1) == 2
        wait_until(
            lambda: sql("select min(position) from tiffin.projection_checkpoints", database) == str(position + 1),
            "a checkpoint past it")
    for _ in range(2):
        with Server(database=database) as server, server.client() as client:
            check()
        sql("truncate tiffin.projection_checkpoints, tiffin.outlet_home_rows, tiffin.cart_count_rows, tiffin.quarantine", database)
