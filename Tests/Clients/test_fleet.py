"""Several servers on one log: each partition is decided by one of them, and any client is served by any."""

import collections
import contextlib
import itertools
import json
import os
import signal
import threading
import time

import pytest
from redis.backoff import ConstantBackoff
from redis.cluster import RedisCluster
from redis.crc import key_slot
from redis.retry import Retry

import tiffin
from certificates import Certificates
from monkeys import SMALL, run_monkey
from tiffin import ReplyError, Server, fresh_database, outlet_document, put_open_outlet, run_tiffin, sql, wait_until
from writers import MENU

PARTITIONS = 8
# How long it takes until what a server kept is kept by others, and what a busy machine adds.
TAKEN_OVER = 3 + 3
EVEN = 20


@contextlib.contextmanager
def partitioned(partitions=PARTITIONS):
    with fresh_database() as database:
        run = run_tiffin("migrate", "--database", database, "--partitions", partitions)
        assert run.returncode == 0, run
        yield database


@contextlib.contextmanager
def fleet(count, partitions=PARTITIONS, options=()):
    """Servers on one log that share its partitions evenly, and the URL of its database."""
    with partitioned(partitions) as database, contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(database=database, options=options)) for _ in range(count)]
        wait_until_even(database, servers)
        yield servers, database


def leases(database):
    """The partitions of each server, by its port."""
    rows = sql("select s.address, l.partition from tiffin.leases as l join tiffin.servers as s on s.id = l.server", database)
    kept = collections.defaultdict(list)
    for address, partition in (row.rsplit("|", 1) for row in rows.splitlines()):
        kept[int(address.rpartition(":")[2])].append(int(partition))
    return kept


def is_even(database, servers):
    kept = leases(database)
    partitions = int(sql("select count from tiffin.partition_count", database))
    counts = [len(kept[server.port]) for server in servers]
    return sum(counts) == partitions and max(counts) <= -(-partitions // len(servers))


def slots(server):
    """Who decides what, as a server tells it: the port of each slot's server."""
    with server.client() as client:
        return {slot: node[1] for first, last, node in client("CLUSTER", "SLOTS") for slot in range(first, last + 1)}


def wait_until_even(database, servers):
    """Until the leases are even and stay as they are, and every server knows them."""
    since = {}

    def is_settled():
        terms = sql("select string_agg(term::text, ' ' order by partition) from tiffin.leases", database)
        if not is_even(database, servers):
            return False
        # Each server may change something at each of its renewals, twice a second.
        return time.monotonic() - since.setdefault(terms, time.monotonic()) > 2

    def do_all_agree():
        kept = {partition: port for port, own in leases(database).items() for partition in own}
        count = len(kept)
        expected = {slot: kept[slot * count // 16_384] for slot in range(16_384)}
        return all(slots(server) == expected for server in servers)

    wait_until(is_settled, "the partitions to be shared evenly", seconds=EVEN)
    wait_until(do_all_agree, "every server to know the leases", seconds=EVEN)


def fact(server, name):
    with server.client() as client:
        lines = client("INFO", "cluster").decode().splitlines()
    return int(next(line.partition(":")[2] for line in lines if line.startswith(f"{name}:")))


def carts_of(server, count, prefix="cart"):
    """Ids of carts that a server decides."""
    own = slots(server)
    ids = (f"{prefix}-{number}" for number in itertools.count())
    return list(itertools.islice((cart for cart in ids if own[key_slot(cart.encode())] == server.port), count))


@pytest.fixture(scope="module")
def three():
    with fleet(3) as (servers, database):
        with servers[0].client() as client:
            put_open_outlet(client, "kitchen", MENU, acceptWithin=600)
        yield servers, database


def test_partitions_are_shared_evenly_and_everybody_says_the_same(three):
    servers, database = three
    assert [len(own) for own in leases(database).values()].count(0) == 0
    assert slots(servers[0]) == slots(servers[1]) == slots(servers[2])
    assert sum(fact(server, "partitions_kept") for server in servers) == PARTITIONS
    with servers[0].client() as client:
        nodes = client("CLUSTER", "NODES").decode().splitlines()
        assert len(nodes) == 3 and sum("myself" in node for node in nodes) == 1
        assert b"cluster_known_nodes:3\r\n" in client("CLUSTER", "INFO")
        assert b"redis_mode:cluster" in client("INFO", "server")


def test_a_customer_is_served_by_whichever_server_is_asked(three):
    """Every cart and order is read as it was written, by whatever server it was."""
    servers, database = three
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.client()) for server in servers]
        for number in range(60):
            first, second, third = clients[number % 3], clients[(number + 1) % 3], clients[(number + 2) % 3]
            cart = f"round-{number}"
            assert first("CART.ADD", cart, "kitchen", "dish-1", 2, "NOTE", "no peas", "CUSTOMER", f"anna-{number}") == 2
            assert second("CART.COUNT", cart) == 2
            assert third.json("CART.GET", cart)["lines"][0]["note"] == "no peas"
            assert second("CART.REMOVE", cart, third.json("CART.GET", cart)["lines"][0]["line"]) == 0
            assert third("CART.ADD", cart, "kitchen", "dish-2", 1) == 1
            quote = first.json("CART.QUOTE", cart)
            order = second("CART.CHECKOUT", cart, "TOTAL", quote["total"]).decode()
            assert third.json("ORDER.GET", order)["cart"] == cart and third("CART.COUNT", cart) == 0
            version = first("ORDER.ACCEPT", order)
            assert second.json("ORDER.GET", order)["version"] == version
    assert sum(fact(server, "forwarded_calls") for server in servers) > 100
    assert sum(fact(server, "forwarded_calls") for server in servers) == sum(fact(server, "received_calls") for server in servers)
    for server in servers:
        run = run_tiffin("audit", "--database", database, "--server", f"127.0.0.1:{server.port}")
        assert run.returncode == 0, run


def test_whoever_changes_something_sees_it_at_once(three):
    """What every server answers by itself is there for the client that made it so."""
    servers, _ = three
    for number in range(12):
        with servers[number % 3].client() as client:
            client("OUTLET.PUT", f"new-{number}", json.dumps(outlet_document(name=f"Name {number}")))
            assert f"Name {number}".encode() in client("OUTLET.GET", f"new-{number}")
            client("MENU.PUT", f"new-{number}", json.dumps({"sections": MENU}))
            assert b"dish-1" in client("OUTLET.HOME", f"new-{number}")
            client("OUTLET.REMOVE", f"new-{number}")
            assert client("OUTLET.GET", f"new-{number}") is None
            client("CART.ADD", f"seen-{number}", "kitchen", "dish-1", 1, "CUSTOMER", f"seen-{number}")
            order = client("CART.CHECKOUT", f"seen-{number}", "TOTAL", 101)
            assert order in client("KITCHEN", "kitchen")
            client("ORDER.ACCEPT", order)
            [listed] = [row for row in client.json("ORDERS", "COUNT", 50, "OUTLET", "kitchen")["orders"] if row["order"] == order.decode()]
            assert listed["status"] == "accepted"


def test_what_a_merchant_has_changed_is_known_everywhere_once_it_is_answered(three):
    servers, _ = three
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.client()) for server in servers]
        carts = carts_of(servers[0], 1, "told") + carts_of(servers[1], 1, "told") + carts_of(servers[2], 1, "told")
        put_open_outlet(clients[0], "told", MENU)
        for number in range(20):
            merchant = clients[number % 3]
            merchant("MENU.ITEM.SUSPEND", "told", "dish-1")
            for client, cart in itertools.product(clients, carts):
                with pytest.raises(ReplyError, match="^SOLDOUT"):
                    client("CART.ADD", cart, "told", "dish-1", 1)
            merchant("MENU.ITEM.RESUME", "told", "dish-1")
            for client, cart in itertools.product(clients, carts):
                client("CART.ADD", cart, "told", "dish-1", 1)
            if number % 5 == 4:
                for cart in carts:
                    merchant("CART.CLEAR", cart)


def test_nothing_at_several_servers_contradicts_what_a_monkey_knows(three, tmp_path):
    servers, _ = three
    run = run_monkey(tmp_path, servers, *SMALL, "--rate", 200, "--commands", 800, "--duration", "30s", "--chaos", "--seed", 8)
    assert run.violations == [] and sum(run.checks.values()) > 1_000, run


def test_what_is_wrong_is_said_alike_by_every_server(three):
    servers, _ = three
    cart, order = carts_of(servers[0], 1, "wrong")[0], "0" * 24 + "0000"
    commands = [
        ("CART.ADD", cart, "kitchen", "no-such-dish", 1), ("CART.ADD", cart, "nowhere", "dish-1", 1),
        ("CART.ADD", cart, "kitchen", "dish-1", "many"), ("CART.ADD", cart, "kitchen"), ("CART.ADD", "a b", "kitchen", "dish-1", 1),
        ("CART.CHECKOUT", cart, "TOTAL", 1), ("CART.GET", cart), ("CART.COUNT", cart), ("CART.QUOTE", cart),
        ("ORDER.GET", order), ("ORDER.ACCEPT", order), ("ORDER.REFUND", order, "AMOUNT", -1), ("CART.GET", cart, "SINCE", 9),
        ("CART.TIP", cart, "-5"), ("CART.GET", cart, "AT", "never"), ("ORDER.CANCEL", order, "BY", "nobody", "CODE", "x"),
    ]
    answers = []
    for server in servers:
        with server.client() as client:
            answers.append([str(reply) for reply in client.pipeline(commands)])
    assert answers[0] == answers[1] == answers[2]


def test_the_commands_of_a_client_keep_their_order(three):
    """Also where one has to wait for a customer's key, and the next would be faster."""
    servers, _ = three
    for cart in carts_of(servers[0], 5, "order"):
        with servers[1].client() as client:
            replies = client.pipeline([
                ("CART.ADD", cart, "kitchen", "dish-1", 1, "NOTE", "first", "CUSTOMER", f"new-{cart}"),
                ("CART.CLEAR", cart), ("CART.ADD", cart, "kitchen", "dish-2", 3), ("CART.COUNT", cart),
                ("CART.ADD", cart, "kitchen", "dish-3", 1), ("CART.COUNT", cart)])
            assert replies == [1, 0, 3, 3, 4, 4]


def test_long_and_many_answers_come_whole(three):
    servers, _ = three
    [cart] = carts_of(servers[0], 1, "long")
    note = "ü" * 200
    with servers[1].client() as client:
        for number in range(20):
            client("CART.ADD", cart, "kitchen", f"dish-{number % 10}", 1, "NOTE", f"{number} {note}")
        whole = client("CART.GET", cart)
        assert len(whole) > 10_000
        assert client.pipeline([("CART.GET", cart)] * 300) == [whole] * 300
        with servers[0].client() as owner:
            assert owner("CART.GET", cart) == whole


def test_clients_of_a_cluster_are_told_where_to_go_and_others_are_not(three):
    servers, _ = three
    [cart] = carts_of(servers[0], 1, "moved")
    with servers[1].client() as client:
        assert client("CART.ADD", cart, "kitchen", "dish-1", 1) == 1
        client("CLUSTER", "SLOTS")
        with pytest.raises(ReplyError, match=f"^MOVED {key_slot(cart.encode())} 127.0.0.1:{servers[0].port}$"):
            client("CART.ADD", cart, "kitchen", "dish-1", 1)
        with pytest.raises(ReplyError, match="^MOVED"):
            client("CART.GET", cart)
        # Whatever is asked by outlet is answered anywhere.
        assert client("OUTLET.HOME", "kitchen") and client("KITCHEN", "kitchen") and client("BROWSE")
    with RedisCluster(host="127.0.0.1", port=servers[2].port, decode_responses=True) as cluster:
        assert len(cluster.get_nodes()) == 3
        before = sum(fact(server, "forwarded_calls") for server in servers)
        for number in range(100):
            assert cluster.execute_command("CART.ADD", f"routed-{number}", "kitchen", "dish-1", 1) == 1
            order = cluster.execute_command("CART.CHECKOUT", f"routed-{number}", "TOTAL", 101)
            assert f"routed-{number}" in cluster.execute_command("ORDER.GET", order)
        assert sum(fact(server, "forwarded_calls") for server in servers) == before


def test_a_stranger_does_not_pass_for_a_server(three):
    servers, database = three
    rows = sql("select id, encode(secret, 'hex') from tiffin.servers", database).splitlines()
    ids = [row.partition("|")[0] for row in rows]
    call = tiffin.encode("1", "1", "1", "255", "", "", "0", "CART.ADD", "stolen", "kitchen", "dish-1", "1")
    for hello in [("PEER", "HELLO", ids[0], "a"), ("PEER", "HELLO", "0" * 40, "a"), ("PEER", "HELLO", ids[0], "a" * 129)]:
        with servers[0].client() as client:
            reply = client.pipeline([hello])[0]
            assert isinstance(reply, list) or reply.code == "NOAUTH"
            with pytest.raises(ReplyError, match="^NOAUTH"):
                client("PEER", "JOIN", "0" * 64)
            client.send(call)
            with pytest.raises((EOFError, ConnectionError)):
                client.read()
    servers[0].wait_for_output("says that it is a server of this log, and is not")
    with servers[0].client() as client:
        assert client("CART.GET", "stolen") is None


def test_a_user_has_the_same_rights_at_every_server():
    passwords = {}
    with partitioned() as database, contextlib.ExitStack() as stack:
        for name, role, only in [("root", "admin", None), ("anna", "customer", "anna"), ("cook", "merchant", "kitchen")]:
            passwords[name] = f"{name} has a long password"
            confined = ["--only", only] if only else []
            run = run_tiffin("user", "add", name, "--role", role, *confined, "--database", database, text=passwords[name] + "\n")
            assert run.returncode == 0, run
        servers = [stack.enter_context(Server(database=database)) for _ in range(2)]

        def client_of(server, name):
            client = stack.enter_context(server.client())
            assert client("AUTH", name, passwords[name]) == "OK"
            return client

        roots = [client_of(server, "root") for server in servers]
        put_open_outlet(roots[0], "kitchen", MENU)
        put_open_outlet(roots[0], "other", MENU)
        wait_until(lambda: is_even(database, servers), "the partitions to be shared evenly", seconds=EVEN)
        wait_until(lambda: all(root("OUTLET.HOME", "other") for root in roots), "the outlets to be known everywhere")
        for server in servers:
            anna, cook = client_of(server, "anna"), client_of(server, "cook")
            for number in range(6):
                cart = f"anna-{server.port}-{number}"
                assert anna("CART.ADD", cart, "kitchen", "dish-1", 1) == 1
                order = anna("CART.CHECKOUT", cart, "TOTAL", 101).decode()
                assert cook("ORDER.ACCEPT", order) == 2
                with pytest.raises(ReplyError, match="^NOPERM"):
                    anna("ORDER.ACCEPT", order)
                with pytest.raises(ReplyError, match="^NOPERM"):
                    anna("CART.GET", f"bert-{number}")
                bert = f"bert-{server.port}-{number}"
                assert roots[0]("CART.ADD", bert, "other", "dish-1", 1) == 1
                foreign = roots[0]("CART.CHECKOUT", bert, "TOTAL", 101).decode()
                assert anna("ORDER.GET", foreign) is None and cook("ORDER.GET", foreign) is None
                with pytest.raises(ReplyError, match="^NOTFOUND"):
                    cook("ORDER.ACCEPT", foreign)
        actors = sql("select distinct metadata::jsonb->>'actor' from tiffin.events where stream like 'cart-anna%'", database)
        assert actors.splitlines() == ["anna"]


# --- servers come and go


class Counting:
    """Clients that add dishes one by one, with ids, at some servers; and what they were told."""

    def __init__(self, servers, carts, clients=2):
        self.replies, self.failures, self.slowest, self.ended = {}, [], 0.0, threading.Event()
        self.threads = [threading.Thread(target=self._write, args=(server, f"{carts}-{number}-{client}"))
                        for number, server in enumerate(servers) for client in range(clients)]

    def _write(self, server, prefix):
        with server.client() as client:
            for number in itertools.count():
                if self.ended.is_set():
                    return
                cart = f"{prefix}-{number % 16}-{number // 1_600}"
                began = time.monotonic()
                reply = client.pipeline([("CART.ADD", cart, "kitchen", f"dish-{number // 16 % 10}", 1, "ID", f"{prefix}-{number}")])[0]
                self.slowest = max(self.slowest, time.monotonic() - began)
                if isinstance(reply, ReplyError):
                    self.failures.append(reply)
                else:
                    self.replies[cart] = reply

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        wait_until(lambda: len(self.replies) >= 16 * len(self.threads), "the writers to begin")
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join(tiffin.REPLY_SECONDS)

    def check(self, server, database):
        """Nothing that was acknowledged is lost, and nothing was done twice."""
        with server.client() as client:
            carts = sorted(self.replies)
            assert client.pipeline([("CART.COUNT", cart) for cart in carts]) == [self.replies[cart] for cart in carts]
        twice = sql("select count(*) - count(distinct metadata::jsonb->>'id') from tiffin.events "
                    "where stream like 'cart-%' and metadata::jsonb ? 'id'", database)
        assert twice == "0"


def prepared(servers):
    with servers[0].client() as client:
        put_open_outlet(client, "kitchen", MENU)


@pytest.mark.parametrize("how", ["killed", "stopped", "frozen"])
def test_a_server_that_goes_is_taken_over_and_its_clients_elsewhere_notice_nothing(how):
    with fleet(3) as (servers, database):
        prepared(servers)
        gone, others = servers[0], servers[1:]
        with Counting(others, how) as counting:
            before = dict(counting.replies)
            if how == "killed":
                gone.kill()
            elif how == "stopped":
                assert gone.stop() == 0
            else:
                os.kill(gone.process.pid, signal.SIGSTOP)
            wait_until(lambda: is_even(database, others), "the partitions to be taken over", seconds=TAKEN_OVER)
            taken = dict(counting.replies)
            wait_until(lambda: sum(counting.replies.values()) > sum(taken.values()) + 500, "the writers to go on")
            assert before != taken
        assert counting.failures == []
        # A frozen server is noticed once it has said nothing for three seconds.
        assert counting.slowest < 5 + 1
        counting.check(others[0], database)
        if how == "frozen":
            os.kill(gone.process.pid, signal.SIGCONT)
            wait_until_even(database, servers)
            with Counting(servers, "thawed") as counting:
                pass
            assert counting.failures == []
            counting.check(gone, database)
        run = run_tiffin("audit", "--database", database)
        assert run.returncode == 0, run


def test_servers_that_are_restarted_one_by_one_lose_no_command():
    with fleet(3) as (servers, database):
        prepared(servers)
        for server in servers:
            # At the same port, as an operator does it.
            server.arguments[server.arguments.index("--listen") + 1] = f"127.0.0.1:{server.port}"
        for number, server in enumerate(servers):
            others = [other for other in servers if other is not server]
            with Counting(others, f"rolling-{number}") as counting:
                assert server.stop() == 0
                server.start()
                wait_until_even(database, servers)
            assert counting.failures == []
            counting.check(server, database)


def test_a_server_that_comes_back_at_its_address_has_its_partitions_at_once():
    with partitioned() as database, Server(database=database) as server:
        server.arguments[server.arguments.index("--listen") + 1] = f"127.0.0.1:{server.port}"
        for _ in range(3):
            server.kill()
            server.start()
            assert fact(server, "partitions_kept") == PARTITIONS and fact(server, "servers") == 1


def test_clients_of_a_cluster_follow_a_takeover():
    with fleet(3) as (servers, database):
        prepared(servers)
        # As with any cluster, a client has to be patient until the others know that a server is gone.
        patience = Retry(ConstantBackoff(0.5), 20)
        with RedisCluster(host="127.0.0.1", port=servers[1].port, decode_responses=True, retry=patience) as cluster:
            for number in range(50):
                assert cluster.execute_command("CART.ADD", f"c-{number}", "kitchen", "dish-1", 1, "ID", f"a-{number}") == 1
            servers[0].kill()
            for number in range(50):
                assert cluster.execute_command("CART.ADD", f"c-{number}", "kitchen", "dish-2", 1, "ID", f"b-{number}") == 2
            wait_until(lambda: is_even(database, servers[1:]), "the partitions to be taken over", seconds=TAKEN_OVER)
            for number in range(50):
                assert cluster.execute_command("CART.COUNT", f"c-{number}") == 2


def test_what_is_done_once_is_done_by_the_server_that_keeps_the_partition():
    """Orders that nobody answers are cancelled once, whatever server they were placed at."""
    with fleet(2) as (servers, database):
        with servers[0].client() as client:
            put_open_outlet(client, "kitchen", MENU, acceptWithin=1)
        orders = []
        for number in range(40):
            with servers[number % 2].client() as client:
                client("CART.ADD", f"late-{number}", "kitchen", "dish-1", 1)
                orders.append(client("CART.CHECKOUT", f"late-{number}", "TOTAL", 101).decode())
        cancelled = "select count(*), count(distinct stream) from tiffin.events where kind = 'order.cancelled'"
        wait_until(lambda: sql(cancelled, database) == "40|40", "the orders to be cancelled")
        failed = [line for server in servers for line in info(server) if "_failed_batches:" in line and not line.endswith(":0")]
        assert failed == []


def info(server):
    with server.client() as client:
        return client("INFO", "log").decode().splitlines()


def test_servers_talk_tls_to_each_other_where_they_talk_it_to_clients(tmp_path):
    certificates = Certificates(tmp_path).sign("server").sign("client", names="DNS:client")
    with partitioned(2) as database, contextlib.ExitStack() as stack:
        options = certificates.options("server") + ["--tls-client-ca", str(certificates.file("ca"))]
        servers = [stack.enter_context(Server(database=database, options=options)) for _ in range(2)]
        wait_until(lambda: is_even(database, servers), "the partitions to be shared evenly", seconds=EVEN)
        with servers[0].client(tls=certificates.context("client")) as client:
            put_open_outlet(client, "kitchen", MENU)
            for number in range(20):
                assert client("CART.ADD", f"sealed-{number}", "kitchen", "dish-1", 1) == 1
            assert b"\r\nforwarded_calls:0\r\n" not in client("INFO", "cluster")
