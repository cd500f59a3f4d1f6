"""`tiffin rebuild`, servers that find rows of another version, and servers that find rows that follow from no log."""

import json
import re
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from edits import patched
from tampering import forge
from test_subscriptions import next_change, subscribe
from tiffin import (
    PATIENCE_SECONDS, PROJECTIONS, Server, binary, fresh_database, item_document, open_transaction, put_open_outlet,
    run_tiffin, saved_database, section_document, sql, wait_until,
)

CARTS = 40

# Rows that follow from no log.
WRONG_COUNT = "update tiffin.cart_counts set count = 99 where cart = 'cart-7';"
TAMPERED = WRONG_COUNT + """
    update tiffin.outlet_home set snapshot = replace(snapshot, '"price":500', '"price":1');
"""


def load(server):
    with server.client() as client:
        put_open_outlet(client, "kitchen", [
            section_document("all", [item_document(f"dish-{n}", 500 + n) for n in range(4)])])
        client.pipeline(("CART.ADD", f"cart-{n}", "kitchen", f"dish-{n % 4}", 1 + n % 5) for n in range(CARTS))


def stored(url, column, projection="cart_counts", state="active"):
    return sql(
        f"select {column} from tiffin.projection_checkpoints where projection = '{projection}' and state = '{state}' "
        "order by partition", url)


def generations(url):
    """The generation of each projection in use, and of the one before."""
    return sql(
        "select projection || ' ' || state || ' ' || generation from tiffin.projection_checkpoints order by 1",
        url).splitlines()


def wait_for_checkpoint(url, partitions=1):
    """Waits until everything that happened is saved."""
    behind = ("select count(*) from tiffin.log_head h left join tiffin.projection_checkpoints c "
              "on c.partition = h.partition and c.state = 'active' where c.position is distinct from h.position")
    wait_until(lambda: sql(behind, url) == "0", "a checkpoint of everything")


def all_active(generation):
    return [f"{name} active {generation}" for name in PROJECTIONS]


def rebuild(url, *options):
    return run_tiffin("rebuild", *options, "--database", url)


def assert_sound(url, *options):
    audit = run_tiffin("audit", "--database", url, *options)
    assert audit.returncode == 0, audit.stdout + audit.stderr


def price(client):
    return client.json("OUTLET.HOME", "kitchen")["sections"][0]["items"][0]["model"]["price"]


@pytest.fixture(scope="module")
def origin():
    with saved_database(load) as url:
        yield url


@pytest.fixture
def saved(origin):
    """A copy of it."""
    with fresh_database(origin) as url:
        yield url


def test_rebuilt_rows_reach_a_server_that_began_with_wrong_ones(saved):
    forge(TAMPERED, saved)
    with Server(database=saved) as server, server.client() as client, server.client() as listener:
        # A count comes from the log until it is known that all rows are those that were saved.
        wait_until(lambda: client("CART.COUNT", "cart-7") == 99, "the row to be believed")
        home = client.json("OUTLET.HOME", "kitchen")
        assert price(client) == 1
        subscribe(listener, "home:kitchen")
        run = rebuild(saved, "--all")
        assert run.returncode == 0, run.stderr
        assert run.stdout.splitlines() == [
            f"partition 0  cart_counts  generation 2 is active, at position {stored(saved, 'position')}: "
            "1 row is not as before: cart-7",
            f"partition 0  orders       generation 2 is active, at position {stored(saved, 'position')}: no row differs",
            f"partition 0  outlet_home  generation 2 is active, at position {stored(saved, 'position')}: "
            "1 row is not as before: kitchen",
            f"partition 0  processes    generation 2 is active, at position {stored(saved, 'position')}: no row differs",
            f"partition 0  supply       generation 2 is active, at position {stored(saved, 'position')}: no row differs",
            f"partition 0  takings      generation 2 is active, at position {stored(saved, 'position')}: no row differs",
        ]
        # Subscribers are told, and every other query knows it, too.
        assert patched(home, next_change(listener, "home:kitchen")) == client.json("OUTLET.HOME", "kitchen")
        assert price(client) == 500
        assert client("CART.COUNT", "cart-7") == 1 + 7 % 5
        assert client.json("BROWSE", "PRICE", 0, 100)["total"] == 0
        assert client.json("BROWSE", "PRICE", 500, 500)["total"] == 1
        # It continues from them: new events are folded into the rebuilt rows, and saved there.
        assert client("CART.ADD", "cart-7", "kitchen", "dish-0", 1) == 2 + 7 % 5
        wait_for_checkpoint(saved)
        assert "generation=2" in client("INFO", "projections").decode()
        # An undo would bring back the forged rows: their digests are those of what a server saved.
        audit = run_tiffin("audit", "--database", saved, "--server", f"127.0.0.1:{server.port}")
        assert audit.returncode == 1 and audit.stdout.splitlines()[-1].startswith("DIFFERENT: 2 findings"), audit.stdout
        assert "cart 'cart-7' of generation 1 of cart_counts, which was used before, is stored with" in audit.stdout
        assert rebuild(saved, "--all").returncode == 0
        assert_sound(saved, "--server", f"127.0.0.1:{server.port}")
    with Server(database=saved) as server, server.client() as client:
        assert client("CART.COUNT", "cart-7") == 2 + 7 % 5
    assert_sound(saved)


def test_rows_that_were_altered_are_not_kept_to_go_back_to(saved):
    sql(TAMPERED, saved)
    assert rebuild(saved, "--all").returncode == 0
    assert generations(saved) == sorted(
        all_active(2) + [f"{name} previous 1" for name in ("orders", "processes", "supply", "takings")])
    assert_sound(saved)
    run = rebuild(saved, "cart_counts", "--undo")
    assert (run.returncode, run.stderr) == (
        1, "tiffin rebuild: no generation of cart_counts is kept to go back to\n")


def test_an_undo_does_not_bring_back_rows_that_were_altered_meanwhile(saved):
    assert rebuild(saved, "--all").returncode == 0
    sql("update tiffin.cart_count_rows set count = 99 where cart = 'cart-7' and generation = 1", saved)
    run = rebuild(saved, "cart_counts", "--undo")
    assert run.returncode == 1
    assert "the rows of cart_counts in partition 0, generation 1, are not those that were saved" in run.stderr
    audit = run_tiffin("audit", "--database", saved)
    assert audit.returncode == 1
    assert "cart 'cart-7' of generation 1 of cart_counts, which was used before, is stored with a count of 99" in audit.stdout


def rebuild_state(client):
    lines = dict(line.split(":", 1) for line in client("INFO", "projections").decode().splitlines() if ":" in line)
    return dict(part.split("=") for part in lines["rebuild"].split(",")), lines["rebuild_trouble"]


def test_an_admin_has_rows_rebuilt_over_the_wire(saved):
    forge(WRONG_COUNT, saved)
    with Server(database=saved) as server, server.client() as client:
        wait_until(lambda: client("CART.COUNT", "cart-7") == 99, "the row to be believed")
        assert rebuild_state(client) == ({"state": "none"}, "none")
        assert client.error("PROJECTION.REBUILD", "catalogue").code == "INVALID"
        with open_transaction(saved, "select 1 from tiffin.projection_checkpoints for update"):
            assert client.json("PROJECTION.REBUILD", "cart_counts") == {"projection": "cart_counts", "state": "running"}
            assert client.error("PROJECTION.REBUILD", "orders").code == "BUSY"
            # Everybody is served meanwhile.
            assert client("CART.ADD", "cart-7", "kitchen", "dish-0", 1) == 2 + 7 % 5
            assert rebuild_state(client)[0]["state"] == "running"
        wait_until(lambda: rebuild_state(client)[0]["state"] == "done", "the rebuild")
        state, trouble = rebuild_state(client)
        assert (state["projection"], state["changed_rows"], trouble) == ("cart_counts", "1", "none")
        wait_until(lambda: client("CART.COUNT", "cart-7") == 2 + 7 % 5, "the new rows")
        assert stored(saved, "generation") == "2" and stored(saved, "generation", "orders") == "1"
        server.wait_for_output("cart_counts was rebuilt: 1 row differs from before")
    assert rebuild(saved, "cart_counts").returncode == 0
    assert_sound(saved)


def test_an_undo_brings_back_the_earlier_rows_up_to_date(saved):
    forge(WRONG_COUNT, saved)
    with Server(database=saved) as server, server.client() as client:
        assert rebuild(saved, "cart_counts").returncode == 0
        assert generations(saved) == sorted(
            ["cart_counts active 2", "cart_counts previous 1"] + all_active(1)[1:])
        wait_until(lambda: client("CART.COUNT", "cart-7") == 3, "the new rows")
        client("CART.ADD", "cart-7", "kitchen", "dish-0", 4)
        client("CART.ADD", "new", "kitchen", "dish-0", 2)
        wait_for_checkpoint(saved)
        run = rebuild(saved, "cart_counts", "--undo")
        assert run.returncode == 0
        # It names the cart that is altered again, and no other.
        assert re.fullmatch(
            r"partition 0  cart_counts  generation 1 is active, at position \d+: 1 row is not as before: cart-7\n",
            run.stdout), run
        assert generations(saved) == [
            "cart_counts active 1", "cart_counts previous 2", *all_active(1)[1:]]
        # As wrong as before, with what has happened since.
        wait_until(lambda: client("CART.COUNT", "cart-7") == 99 + 4, "the rows from before")
        assert client("CART.COUNT", "new") == 2
        assert sql("select count from tiffin.cart_counts where cart = 'new'", saved) == "2"
        assert rebuild(saved, "cart_counts", "--undo").returncode == 0
        wait_until(lambda: client("CART.COUNT", "cart-7") == 3 + 4, "the right rows")
        assert rebuild(saved, "cart_counts").returncode == 0
        assert_sound(saved, "--server", f"127.0.0.1:{server.port}")
        # The other one was never rebuilt.
        run = rebuild(saved, "outlet_home", "--undo")
        assert (run.returncode, run.stderr) == (
            1, "tiffin rebuild: no generation of outlet_home is kept to go back to\n")


def test_only_one_generation_is_kept_beside_the_active_one(saved):
    for _ in range(3):
        assert rebuild(saved, "--all").returncode == 0
    assert generations(saved) == sorted(
        all_active(4) + [f"{name} previous 3" for name in PROJECTIONS])
    assert sql("select distinct generation from tiffin.cart_count_rows order by 1", saved).split() == ["3", "4"]
    assert sql("select distinct generation from tiffin.outlet_home_rows order by 1", saved).split() == ["3", "4"]
    assert sql("select count(*) from tiffin.cart_counts", saved) == str(CARTS)
    assert sql("select count(*) from tiffin.catalogue", saved) == "4"


def test_rows_of_another_version_are_served_and_rebuilt_in_the_background(saved):
    sql(TAMPERED + "update tiffin.projection_checkpoints set version = 99", saved)
    with Server(database=saved) as server, server.client() as client:
        # There is an answer from the first moment on, if necessary that of the other version.
        assert client("CART.COUNT", "cart-7") in (99, 3)
        wait_until(lambda: client("CART.COUNT", "cart-7") == 3 and price(client) == 500, "new rows")
        server.wait_for_output("by another version: it is served as it is, and rebuilt in the background")
        assert generations(saved) == all_active(2)
        client("CART.ADD", "cart-7", "kitchen", "dish-0", 1)
        wait_for_checkpoint(saved)
        assert_sound(saved, "--server", f"127.0.0.1:{server.port}")
    # Only the other version could go back to its rows.
    run = rebuild(saved, "--all", "--undo")
    assert run.returncode == 1 and "is kept to go back to" in run.stderr


def test_a_server_of_another_version_goes_on_and_does_not_write_into_new_rows(saved):
    with Server(database=saved) as server, server.client() as client:
        # A server of another version makes new rows.
        sql("""
            update tiffin.projection_checkpoints set state = 'previous';
            insert into tiffin.projection_checkpoints (partition, projection, version, position, digest, generation)
            select partition, projection, 99, position, digest, 2 from tiffin.projection_checkpoints""", saved)
        before = stored(saved, "position")
        assert client("CART.ADD", "cart-7", "kitchen", "dish-0", 1) == 4
        wait_until(lambda: "rebuilt rows cannot be taken over" in server.output(), "an error")
        assert client("CART.COUNT", "cart-7") == 4
        server.wait_for_output("another version of Tiffin made them")
        assert server.stop() == 0
    assert stored(saved, "position") == before
    assert sql("select count(*) from tiffin.cart_count_rows where generation = 2", saved) == "0"


def test_every_partition_is_rebuilt(database):
    assert run_tiffin("migrate", "--database", database, "--partitions", 3).returncode == 0
    with Server(database=database) as server, server.client() as client:
        load(server)
        wait_for_checkpoint(database)
        sql("update tiffin.cart_counts set count = count + 50", database)
        assert rebuild(database, "cart_counts", "--partition", 1).returncode == 0
        assert stored(database, "generation").split() == ["1", "2", "1"]
        run = rebuild(database, "cart_counts")
        assert run.returncode == 0
        assert stored(database, "generation").split() == ["2", "3", "2"]
        assert sum(int(line.split(": ")[1].split()[0].replace("no", "0")) for line in run.stdout.splitlines()) < CARTS
        assert_sound(database)
        run = rebuild(database, "--all", "--partition", 3)
        assert (run.returncode, "--partition: the log has partitions 0 to 2" in run.stderr) == (64, True)
        assert client("CART.COUNT", "cart-1") == 2


def test_a_partition_without_rows_does_not_stop_the_rebuild_of_the_others(database):
    assert run_tiffin("migrate", "--database", database, "--partitions", 6).returncode == 0
    with Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "kitchen", [section_document("all", [item_document("tea", 100)])])
        client("CART.ADD", "c", "kitchen", "tea", 1)
    saved = sql("select partition from tiffin.projection_checkpoints where position > 0 and projection = 'cart_counts' "
                "order by 1", database).split()
    assert 0 < len(saved) <= 2
    run = rebuild(database, "--all")
    assert run.returncode == 0, run.stderr
    assert [line.split()[1] for line in run.stdout.splitlines()] == [n for n in saved for _ in PROJECTIONS]
    for partition in range(6):
        empty = f"partition {partition}: nothing has happened yet" in run.stderr
        assert empty == (str(partition) not in saved), run.stderr
    assert_sound(database)
    assert rebuild(database, "--all", "--undo").returncode == 0
    assert_sound(database)


# What somebody may write into the tables of projections, and what a server says about it when it starts.
DISBELIEVED = {
    "a key that is not an identifier": (
        "update tiffin.cart_count_rows set cart = 'no identifier' where cart = 'cart-7'",
        'tiffin.cart_count_rows, partition 0, row "no identifier" cannot be read: its key is no identifier'),
    "an empty key": (
        "update tiffin.cart_count_rows set cart = '' where cart = 'cart-7'",
        'tiffin.cart_count_rows, partition 0, row "" cannot be read: its key is no identifier'),
    "a negative count": (
        "update tiffin.cart_count_rows set count = -1 where cart = 'cart-7'",
        'tiffin.cart_count_rows, partition 0, row "cart-7" cannot be read: a count of -1'),
    "no count": (
        "alter table tiffin.cart_count_rows alter count drop not null; "
        "update tiffin.cart_count_rows set count = null where cart = 'cart-7'",
        "the read models of partition 0: the rows of a copy cannot be read: a value is null"),
    "a snapshot that is no JSON": (
        "update tiffin.outlet_home_rows set snapshot = '{'",
        'tiffin.outlet_home_rows, partition 0, row "kitchen" cannot be read: its snapshot'),
    "a quarantined cart that nothing is wrong with": (
        "insert into tiffin.quarantine values (0, 'cart_counts', 'cart-cart-7', 9, 'forged')",
        "the quarantine of cart_counts names stream 'cart-cart-7' at position 9, and the log says nothing against it"),
    "a quarantined outlet that nothing is wrong with": (
        "insert into tiffin.quarantine values (0, 'outlet_home', 'outlet-kitchen', 1, 'forged')",
        "the quarantine of outlet_home names stream 'outlet-kitchen' at position 1"),
    "a quarantined stream of another projection": (
        "insert into tiffin.quarantine values (0, 'outlet_home', 'cart-cart-7', 1, 'forged')",
        "the quarantine of outlet_home names stream 'cart-cart-7'"),
    "a great many quarantined streams": (
        "insert into tiffin.quarantine select 0, 'cart_counts', 'cart-cart-' || n, 9, 'forged' "
        "from generate_series(1, 500) as n",
        "500 quarantined streams are too many to check one by one"),
    "a checkpoint beyond the log": (
        "update tiffin.projection_checkpoints set position = position + 1000",
        "are saved up to position"),
    "a checkpoint at the end of all positions": (
        "update tiffin.projection_checkpoints set position = 9223372036854775807",
        "are saved up to position 9223372036854775807"),
    "a checkpoint before the log": (
        "update tiffin.projection_checkpoints set position = -1", "are saved at position -1"),
    "a count that could be right": (
        "update tiffin.cart_count_rows set count = 99 where cart = 'cart-7'",
        "the rows of cart_counts in partition 0, generation 1, are not those that were saved"),
    "a revision that could be right": (
        "update tiffin.outlet_home_rows set revision = revision + 1",
        "the rows of outlet_home in partition 0, generation 1, are not those that were saved"),
    "no rows": (
        "delete from tiffin.outlet_home_rows",
        "the rows of outlet_home in partition 0, generation 1, are not those that were saved"),
    "checkpoints at different positions": (
        "update tiffin.projection_checkpoints set position = 1 where projection = 'cart_counts'",
        "were saved at different positions"),
}


@pytest.mark.parametrize("what", DISBELIEVED)
def test_rows_that_do_not_follow_from_the_log_are_rejected_and_replaced(saved, what):
    statement, said = DISBELIEVED[what]
    # With the digest of what is there then, so that something else has to be noticed.
    (forge if "quarantine" in statement else sql)(statement, saved)
    with Server(database=saved) as server, server.client() as client:
        server.wait_for_output(said)
        # The rows of carts are only read once everybody is served.
        folded = "they are rebuilt" if "update tiffin.cart_count_rows" in statement else "folding the log again"
        server.wait_for_output(folded)
        assert client("CART.COUNT", "cart-7") == 3
        assert client.json("OUTLET.HOME", "kitchen")["state"] == "ready"
        assert client("CART.ADD", "cart-7", "kitchen", "dish-0", 1) == 4
        wait_for_checkpoint(saved)
        # An audit names a table that is not as the migrations made it.
        sql("alter table tiffin.cart_count_rows alter count set not null", saved)
        assert_sound(saved, "--server", f"127.0.0.1:{server.port}")
    with Server(database=saved) as server, server.client() as client:
        assert "folding the log again" not in server.output()
        assert client("CART.COUNT", "cart-7") == 4
    assert sql("select count(*) from tiffin.cart_count_rows", saved) == str(CARTS)
    assert_sound(saved)


def test_a_second_server_takes_over_the_rows_that_replaced_others(saved):
    with Server(database=saved) as second, second.client() as other:
        sql("update tiffin.outlet_home_rows set snapshot = '{'", saved)
        with Server(database=saved) as first, first.client() as client:
            assert client("CART.ADD", "cart-7", "kitchen", "dish-0", 1) == 4
            wait_until(lambda: "serving from rows that were rebuilt" in second.output(), "the new rows")
            assert other("CART.ADD", "cart-8", "kitchen", "dish-0", 1) == 5
            wait_for_checkpoint(saved)
    assert_sound(saved)


def checkpoints_locked(url):
    """Nobody can switch, or save, until the end."""
    return open_transaction(url, "select 1 from tiffin.projection_checkpoints for update")


def connections(url, condition="true"):
    """How many connections for read models there are."""
    return int(sql("select count(*) from pg_stat_activity where datname = current_database() "
                   f"and application_name = 'tiffin projections' and {condition}", url))


def waiting(url):
    return connections(url, "wait_event_type = 'Lock'")


def start_rebuild(url):
    return subprocess.Popen(
        [binary(), "rebuild", "--all", "--database", url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_rebuild_that_is_killed_leaves_everything_as_it_was(saved):
    sql(TAMPERED, saved)
    with checkpoints_locked(saved):
        process = start_rebuild(saved)
        # Its rows are written, and it is about to switch.
        wait_until(lambda: waiting(saved) == 1, "a rebuild that waits")
        process.kill()
        process.communicate()
    wait_until(lambda: connections(saved) == 0, "the end of its connection")
    assert generations(saved) == all_active(1)
    assert sql("select distinct generation from tiffin.cart_count_rows", saved) == "1"
    assert sql("select count from tiffin.cart_counts where cart = 'cart-7'", saved) == "99"
    assert rebuild(saved, "--all").returncode == 0
    assert_sound(saved)


def test_of_two_rebuilds_at_once_one_is_refused(saved):
    with checkpoints_locked(saved):
        both = [start_rebuild(saved), start_rebuild(saved)]
        wait_until(lambda: waiting(saved) == 2, "two rebuilds that wait")
    ends = sorted((*process.communicate(timeout=PATIENCE_SECONDS), process.returncode) for process in both)
    assert sorted(code for _, _, code in ends) == [0, 1]
    refused = next(errors for _, errors, code in ends if code == 1)
    assert "another rebuild was faster: nothing was changed" in refused
    assert generations(saved)[0] == "cart_counts active 2"
    assert_sound(saved)


@pytest.mark.parametrize("words, code, message", [
    ([], 64, "name a projection, or give --all"),
    (["cart_counts", "--all"], 64, "name a projection, or give --all"),
    (["carts"], 64, "there is no projection 'carts'; there are outlet_home, cart_counts, orders"),
    (["catalogue"], 64, "the catalogue has no rows of its own: it is made of those of outlet_home"),
    (["--all"], 1, "nothing to rebuild: nothing has happened yet"),
    (["--all", "--undo"], 1, "nothing has been saved yet"),
])
def test_an_impossible_rebuild_is_an_error_that_says_why(database, words, code, message):
    assert run_tiffin("migrate", "--database", database).returncode == 0
    run = rebuild(database, *words)
    assert run.returncode == code
    assert message in run.stderr


def test_a_rebuild_before_the_first_checkpoint_saves_the_rows(database):
    with Server(database=database) as server, server.client() as client:
        load(server)
        # Whether or not the server was so quick.
        sql("truncate tiffin.projection_checkpoints, tiffin.cart_count_rows, tiffin.outlet_home_rows, tiffin.order_rows, tiffin.takings_rows, tiffin.supply_rows, tiffin.process_rows",
            database)
        run = rebuild(database, "cart_counts")
        assert run.returncode == 0, run.stderr
        assert len(run.stdout.splitlines()) == run.stdout.count("nothing was saved before") == len(PROJECTIONS), run.stdout
        assert_sound(database)
        assert client("CART.ADD", "cart-7", "kitchen", "dish-0", 1) == 4
        wait_for_checkpoint(database)
        assert_sound(database, "--server", f"127.0.0.1:{server.port}")
    with Server(database=database) as server, server.client() as client:
        assert "folding the log again" not in server.output()
        assert client("CART.COUNT", "cart-7") == 4
    assert_sound(database)


def test_no_request_fails_while_rows_are_rebuilt(database, tmp_path):
    """Under the load of the monkey, which judges every answer: again and again, and back."""
    report = tmp_path / "report.json"
    with Server(database=database) as server:
        load(server)
        wait_for_checkpoint(database)
        monkey = subprocess.Popen(
            [str(Path(binary()).with_name("tiffin-monkey")), "--server", f"127.0.0.1:{server.port}", "--rate", "300",
             "--duration", "60s", "--shoppers", "15", "--connections", "4", "--outlets", "4", "--items", "40",
             "--json", str(report)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        done = []

        def work():
            while monkey.poll() is None:
                done.append(rebuild(database, "--all", *(["--undo"] if len(done) % 4 == 3 else [])))
                if len(done) == 8:
                    monkey.send_signal(signal.SIGINT)

        worker = threading.Thread(target=work)
        worker.start()
        output, errors = monkey.communicate(timeout=120)
        worker.join()
        assert monkey.returncode == 0, output + errors
        assert len(done) >= 8 and all(run.returncode == 0 for run in done), [run.stderr for run in done]
        result = json.loads(report.read_text())
        assert result["checks"]["violations"] == []
        assert sum(window["failures"] for window in result["windows"]) == 0
        assert all(call["unknown"] == 0 for call in result["calls"]), result["calls"]
        # The server has followed: it serves from the rows of a later generation, and they are right.
        server.wait_for_output("serving from rows that were rebuilt")
        wait_for_checkpoint(database)
        assert_sound(database, "--server", f"127.0.0.1:{server.port}")
