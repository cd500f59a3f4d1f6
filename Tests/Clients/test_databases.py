"""A log in several databases: each partition lives in one of them, and moves to another while servers use it."""

import contextlib
import json
import os
import signal
import subprocess

import pytest

import tiffin
from test_values import carts_of
from tiffin import PATIENCE_SECONDS, PROJECTIONS, Server, fresh_database, put_open_outlet, run_tiffin, sql, wait_until
from trials import Stage, check, frozen
from writers import MENU

PARTITIONS = 4
NOTICED = 10
# Where a move is killed, as PartitionMove names its steps.
STEPS = ["copying", "copied", "read-models", "closing", "closed", "opening", "opened", "removing"]


class Databases:
    """Two databases with a map, of which the first has all partitions at first."""

    def __init__(self, folder, first, second, partitions=PARTITIONS):
        self.urls = {"a": first, "b": second}
        self.map = folder / f"map-{os.urandom(4).hex()}"
        self.write()
        run = self.run("migrate", "--partitions", partitions)
        assert run.returncode == 0, run

    def write(self, text=None):
        self.map.write_text(text or "# where partitions live\n" + "\n".join(f"{name}  {url}" for name, url in self.urls.items()))

    def run(self, *words, **options):
        return run_tiffin(*words, "--databases", self.map, **options)

    def move(self, partition, name, killed_at=None):
        environment = {"TIFFIN_SIGNAL_AT": f"{killed_at}:{signal.SIGKILL:d}"} if killed_at else None
        return self.run("move", partition, "--to", name, environment=environment)

    def start_moving(self, partition, name, stops_at):
        """A move that stands still when it has come that far."""
        process = subprocess.Popen(
            [tiffin.binary(), "move", str(partition), "--to", name, "--databases", self.map], text=True,
            env={**os.environ, "TIFFIN_SIGNAL_AT": f"{stops_at}:{signal.SIGSTOP:d}"}, stderr=subprocess.PIPE)
        assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
        return process

    def server(self, *options):
        return Server(options=["--databases", str(self.map), *options])

    def open(self, name):
        """The partitions that live in a database."""
        return set(map(int, sql("select partition from tiffin.log_head where moved_to is null", self.urls[name]).split()))


@contextlib.contextmanager
def two_databases(folder, partitions=PARTITIONS):
    with fresh_database() as first, fresh_database() as second:
        yield Databases(folder, first, second, partitions)


class Spread(Stage):
    """Two servers on two databases."""

    news_seconds = 2

    def __init__(self, databases, servers):
        super().__init__(PARTITIONS)
        self.databases, self.own = databases, servers

    def servers(self):
        return self.own

    def audit(self, *options):
        verdict = self.databases.run("audit", *options)
        check(verdict.returncode == 0, f"the audit found:\n{verdict.stdout}{verdict.stderr}")


def test_partitions_move_while_servers_write_and_the_move_is_killed_at_every_step(tmp_path):
    """Nothing is lost, nothing is there twice, and the chain is the same."""
    anchors = tmp_path / "anchors"
    with two_databases(tmp_path) as databases, databases.server() as one, databases.server() as other:
        stage = Spread(databases, [one, other])
        stage.open()
        stage.start_writing(0)
        wait_until(lambda: stage.writers[0].acknowledged > 30, "writers to have begun")
        stage.audit("--new-anchor", anchors)
        homes = dict.fromkeys(range(PARTITIONS), "a")
        for number, step in enumerate(STEPS):
            partition = number % PARTITIONS
            homes[partition] = "a" if homes[partition] == "b" else "b"
            run = databases.move(partition, homes[partition], killed_at=step)
            assert run.returncode == -9, (step, run)
            run = databases.move(partition, homes[partition])
            assert run.returncode == 0 and f"partition {partition} " in run.stdout, (step, run)
            assert [name for name in "ab" if partition in databases.open(name)] == [homes[partition]], step
            for name in "ab":
                count = int(sql(f"select count(*) from tiffin.batches where partition = {partition}", databases.urls[name]))
                assert (count > 0) == (name == homes[partition]), (step, name, count)
        assert stage.stop_writing() > 0
        stage.verify()
        stage.audit("--anchor", anchors)
        for server in (one, other):
            stage.audit("--server", f"127.0.0.1:{server.port}")
            assert "lost" not in server.output(), server.output()


def test_a_partition_that_is_on_its_way_is_read_and_takes_nothing(tmp_path):
    cart = carts_of(2, PARTITIONS)
    with two_databases(tmp_path) as databases:
        with databases.server() as server, server.client() as client:
            put_open_outlet(client, "kitchen", MENU)
            client("CART.ADD", cart, "kitchen", "dish-1", 2)
            assert databases.move(2, "b", killed_at="closed").returncode == -9
            assert client.error("CART.ADD", cart, "kitchen", "dish-1", 1).code == "UNAVAILABLE"
            assert client("CART.COUNT", cart) == 2
            assert client("CART.ADD", carts_of(3, PARTITIONS), "kitchen", "dish-1", 1) == 1
        # Servers start as well.
        with databases.server() as server, server.client() as client:
            assert client.json("CART.GET", cart)["lines"][0]["quantity"] == 2
            assert "partition is on its way" in str(client.error("CART.ADD", cart, "kitchen", "dish-1", 1))
            # It was closed for one target, and goes nowhere else.
            run = databases.move(2, "a")
            assert run.returncode == 1 and "it is on its way from 'a' to 'b': finish that first" in run.stderr, run
            assert databases.move(2, "b").returncode == 0
            assert client("CART.ADD", cart, "kitchen", "dish-1", 1) == 3
            run = databases.move(2, "b")
            assert run.returncode == 0 and "partition 2 is in 'b' already" in run.stdout, run


def test_a_move_that_was_forgotten_halfway_and_goes_on_later_does_no_harm(tmp_path):
    """It neither opens the partition in a second place, nor removes anything where it lives."""
    with two_databases(tmp_path) as databases:
        with databases.server() as server, server.client() as client:
            put_open_outlet(client, "kitchen", MENU)
            for number, step in enumerate(("copied", "opening", "opened", "removing")):
                cart = carts_of(number, PARTITIONS)
                client("CART.ADD", cart, "kitchen", "dish-1", 1)
                process = databases.start_moving(number, "b", step)
                for name in "ba":
                    assert databases.move(number, name).returncode == 0, step
                process.send_signal(signal.SIGCONT)
                _, said = process.communicate(timeout=PATIENCE_SECONDS)
                assert process.returncode == 1 and "somebody else" in said, (step, said)
                if number not in databases.open("a"):
                    # It was closed once more, and is where it is until somebody goes on.
                    assert step == "copied" and number not in databases.open("b")
                    assert databases.move(number, "b").returncode == 0
                assert (number in databases.open("a")) != (number in databases.open("b"))
                assert client("CART.ADD", cart, "kitchen", "dish-1", 1) == 2
        run = databases.run("audit")
        assert run.returncode == 0, run.stdout


def test_counts_and_lists_are_the_same_after_a_move_and_a_start(tmp_path):
    """Rows of read models go along, as a new generation that running servers begin to use."""
    with two_databases(tmp_path) as databases:
        with databases.server() as server, server.client() as client:
            put_open_outlet(client, "kitchen", MENU)
            carts = [f"cart-{n}" for n in range(40)]
            for number, cart in enumerate(carts):
                client("CART.ADD", cart, "kitchen", "dish-1", 1 + number % 9)
            before = client.pipeline([("CART.COUNT", cart) for cart in carts])
        with databases.server() as server, server.client() as client:
            for partition in range(PARTITIONS):
                assert databases.move(partition, "b").returncode == 0
            generations = lambda: client("INFO", "projections").count(b"generation=2")
            wait_until(lambda: generations() == len(PROJECTIONS) * PARTITIONS, "the server to use the rows", seconds=NOTICED)
            assert client.pipeline([("CART.COUNT", cart) for cart in carts]) == before
            assert b"database_a:state=open,partitions=0\r\ndatabase_b:state=open,partitions=4" in client("INFO", "database")
            assert client("CART.ADD", carts[0], "kitchen", "dish-2", 1) == before[0] + 1
        with databases.server() as server, server.client() as client:
            assert client.pipeline([("CART.COUNT", cart) for cart in carts]) == [before[0] + 1, *before[1:]]
        run = databases.run("audit")
        assert run.returncode == 0, run.stdout
        assert databases.run("replay", "cart_counts", "--csv").stdout.count("cart-") == len(carts)
        assert len(databases.run("log", "--kind", "cart.itemAdded").stdout.splitlines()) == len(carts) + 1


@pytest.mark.parametrize("lost", "ab")
def test_one_database_of_several_is_away(tmp_path, lost):
    """Only what lives there is unavailable, and what is in memory is answered. The first has the leases, too."""
    with fresh_database() as other, tiffin.private_cluster() as (url, start, stop):
        databases = Databases(tmp_path, *((url, other) if lost == "a" else (other, url)))
        away, here = (carts_of(partition, PARTITIONS) for partition in ((1, 0) if lost == "a" else (0, 1)))
        with databases.server() as server, server.client() as client:
            put_open_outlet(client, "kitchen", MENU)
            for cart in (away, here):
                client("CART.ADD", cart, "kitchen", "dish-1", 1)
            assert databases.move(0, "b").returncode == 0
            assert client("CART.ADD", away, "kitchen", "dish-1", 1) == 2
            stop()
            if lost == "a":
                wait_until(lambda: "the leases could not be renewed" in server.output(), "the leases to end", seconds=NOTICED)
            assert client.error("CART.ADD", away, "kitchen", "dish-1", 1).code == "UNAVAILABLE"
            assert client("CART.ADD", here, "kitchen", "dish-1", 1) == 2
            assert client("CART.COUNT", away) == 2
            assert client.json("OUTLET.HOME", "kitchen")["outlet"]["id"] == "kitchen"
            is_told = f"database_{lost}:state=away".encode()
            wait_until(lambda: is_told in client("INFO", "database"), "INFO to say so", seconds=NOTICED)
            start()
            again = ("CART.ADD", away, "kitchen", "dish-1", 1, "ID", "again")
            wait_until(lambda: client.pipeline([again])[0] == 3, "the server to reach the database", seconds=NOTICED)
            assert client("CART.ADD", away, "kitchen", "dish-1", 1) == 4


def test_the_connections_to_one_database_say_nothing(tmp_path):
    """Servers ask all of them where partitions live, and wait for none of them."""
    with fresh_database() as first, tiffin.private_cluster() as (second, *_):
        databases = Databases(tmp_path, first, second)
        with databases.server() as server, server.client() as client:
            put_open_outlet(client, "kitchen", MENU)
            silent, other = (carts_of(partition, PARTITIONS) for partition in (0, 1))
            assert databases.move(0, "b").returncode == 0
            for cart in (silent, other):
                assert client("CART.ADD", cart, "kitchen", "dish-1", 1) == 1
            again = ("CART.ADD", silent, "kitchen", "dish-1", 1, "ID", "again")
            connections = sql("select pid from pg_stat_activity where application_name like 'tiffin %'", second)
            with frozen(*map(int, connections.split())):
                # New connections are made for those that say nothing.
                wait_until(lambda: client.pipeline([again])[0] == 2, "the database to be asked again")
                assert client("CART.ADD", other, "kitchen", "dish-1", 1) == 2
            assert client("CART.ADD", silent, "kitchen", "dish-1", 1) == 3


def test_a_customer_is_forgotten_in_every_database(tmp_path):
    with two_databases(tmp_path) as databases:
        carts = [carts_of(partition, PARTITIONS) for partition in range(PARTITIONS)]
        with databases.server() as server, server.client() as client:
            def begin(cart):
                assert client("CART.ADD", cart, "kitchen", "dish-1", 1, "NOTE", "no peas", "CUSTOMER", "asha") == 1

            put_open_outlet(client, "kitchen", MENU)
            for cart in carts[1:]:
                begin(cart)
            for partition in (0, 1):
                assert databases.move(partition, "b").returncode == 0
            # Her first key of this partition is made where it is now.
            begin(carts[0])
            notes = lambda: {client.json("CART.GET", cart)["lines"][0]["note"] for cart in carts}
            assert notes() == {"no peas"}
            assert client.json("CUSTOMER.FORGET", "asha")["customers"][0]["destroyedKeys"] == PARTITIONS
            assert notes() == {"[erased]"}
            for partition in range(PARTITIONS):
                assert databases.move(partition, "b" if partition > 1 else "a").returncode == 0
            assert notes() == {"[erased]"}
            assert databases.run("audit").returncode == 0
            for partition in (0, 1):
                assert databases.move(partition, "b").returncode == 0
        # One database has all of it now, and the other what is left of it.
        run = databases.run("audit")
        assert run.returncode == 0, run.stdout
        keys = [sql("select count(*) from tiffin.customer_keys where key is not null", url) for url in databases.urls.values()]
        assert keys == ["0", "0"]
        assert "forgotten before" in databases.run("forget", "asha").stdout or "already" in databases.run("forget", "asha").stdout
        # Only what is said where the partition lives counts.
        sql("delete from tiffin.customer_keys where partition = 0", databases.urls["b"])
        run = databases.run("audit")
        assert run.returncode == 1 and "says so in 3 of 4 partitions" in run.stdout, run


def test_a_customer_is_forgotten_again_where_a_database_has_lost_it(tmp_path):
    """As after a failover to a standby that lacked the newest changes: servers notice, and the other database knows."""
    with two_databases(tmp_path) as databases:
        cart, url = carts_of(0, PARTITIONS), databases.urls["b"]
        with databases.server() as server, server.client() as client:
            put_open_outlet(client, "kitchen", MENU)
            assert databases.move(0, "b").returncode == 0
            client("CART.ADD", cart, "kitchen", "dish-1", 1, "NOTE", "no peas", "CUSTOMER", "asha")
            key = sql("select encode(key, 'hex') from tiffin.customer_keys where key is not null", url)
            client("CART.ADD", cart, "kitchen", "dish-2", 1)
            client("CUSTOMER.FORGET", "asha")
            sql(f"update tiffin.customer_keys set key = decode('{key}', 'hex'), forgotten_at = null where partition = 0;"
                "delete from tiffin.batches where partition = 0 and first_position = "
                "(select max(first_position) from tiffin.batches where partition = 0);"
                "update tiffin.log_head h set position = last_position, digest = chain_digest from tiffin.batches b "
                "where h.partition = 0 and b.partition = 0 and first_position = "
                "(select max(first_position) from tiffin.batches where partition = 0)", url)
            is_gone = "select count(*) from tiffin.customer_keys where key is not null"
            wait_until(lambda: sql(is_gone, url) == "0", "the key to be destroyed again", seconds=2 * NOTICED)
            assert "partition 0: the database has lost what was read from position" in server.output()


def test_what_is_done_beside_the_log_is_recorded_where_its_partition_lives(tmp_path):
    with two_databases(tmp_path) as databases:
        for partition in range(PARTITIONS):
            assert databases.move(partition, "b").returncode == 0
        for name in ("root", "anna"):
            run = databases.run("user", "add", name, "--role", "admin", text="correct horse\n")
            assert run.returncode == 0, run
        kinds = [json.loads(line)["kind"] for line in databases.run("log").stdout.splitlines()]
        assert kinds.count("user.put") == 2
        assert databases.run("relay", "--show-secret", "--name", "till").returncode == 0
        assert "relay.put" in databases.run("log").stdout
        assert sql("select count(*) from tiffin.pending_deeds", databases.urls["a"]) == "0"
        # What a process did not come to record, the next one does, and once.
        sql("insert into tiffin.pending_deeds select 'again', stream, kind, schema_version, payload, metadata, now() "
            "from tiffin.events_of('user-anna')", databases.urls["b"])
        for url in databases.urls.values():
            sql("delete from tiffin.pending_deeds", url)
        run = databases.run("user", "disable", "anna")
        assert run.returncode == 0, run
        kinds = [json.loads(line)["kind"] for line in databases.run("log").stdout.splitlines()]
        assert kinds.count("user.put") == 3
        run = databases.run("audit")
        assert run.returncode == 0, run.stdout


MAPS = {
    "": "it names no database", "a": "line 1: a name and an address are needed",
    "A postgres://x/y": "line 1: a name has 1 to 32 small letters", "a postgres://x/y\n\na postgres://x/z": "line 3: there is a database 'a' already",
    "a postgres://x/y\nb postgres://x/y": "line 2: 'b' has the address of 'a'",
}


@pytest.mark.parametrize("text", MAPS)
def test_a_map_that_makes_no_sense_is_refused(tmp_path, text):
    (tmp_path / "map").write_text(text)
    run = run_tiffin("serve", "--databases", tmp_path / "map")
    assert run.returncode == 64 and MAPS[text] in run.stderr, run


def test_databases_that_contradict_the_map_are_not_served(tmp_path):
    with two_databases(tmp_path) as databases:
        assert databases.move(1, "b").returncode == 0

        def refused(sentence, *words):
            run = databases.run(*words) if words else databases.run("serve", "--listen", "127.0.0.1:0")
            assert run.returncode != 0 and sentence in run.stdout + run.stderr, run

        for words in (("log",), ("audit",), ("serve", "--listen", "127.0.0.1:0")):
            run = run_tiffin(*words, "--database", databases.urls["a"])
            assert run.returncode != 0 and "this is only 'a' of them" in run.stdout + run.stderr, run
        run = run_tiffin("forget", "asha", "--database", databases.urls["b"])
        assert run.returncode == 1 and "this is only 'b' of them" in run.stderr, run
        sql("update tiffin.log_head set moved_to = null where partition = 1", databases.urls["a"])
        refused("partition 1 is in two databases: 'a' and 'b'")
        sql("update tiffin.log_head set moved_to = 'b' where partition = 1", databases.urls["a"])
        whole = databases.map.read_text()
        databases.write(f"a {databases.urls['a']}")
        refused("partition 1 is in none of these databases: 'a' says that it is in 'b'")
        databases.write(f"a {databases.urls['b']}\nb {databases.urls['a']}")
        refused("the map calls a database 'a' that calls itself 'b'")
        databases.write(f"a {databases.urls['a']}\nc {databases.urls['b']}")
        refused("the map calls a database 'c' that calls itself 'b'")
        databases.write(whole)
        with fresh_database() as other:
            assert run_tiffin("migrate", "--database", other).returncode == 0
            databases.write(f"{whole}\nc {other}")
            refused("the database has a log of its own", "migrate")
            databases.write(f"c {other.replace('/tiffin', '/none')}\n{whole}")


def test_a_server_that_is_not_to_migrate_ends_where_it_would_have_to(tmp_path):
    with fresh_database() as database:
        run = run_tiffin("serve", "--no-migrate", "--database", database, "--listen", "127.0.0.1:0")
        assert run.returncode == 1 and "run tiffin migrate" in run.stdout + run.stderr, run
        assert run_tiffin("migrate", "--database", database).returncode == 0
        with Server(database=database, options=["--no-migrate"]) as server, server.client() as client:
            assert client("PING") == "PONG"
