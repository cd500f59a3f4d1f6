"""Clients of Redis Cluster: they find the server of a key's slot by what every command declares."""

import random
import re
import shutil
import socket
import string
import subprocess

import pytest
import redis as redis_py
from redis.cluster import RedisCluster
from redis.crc import key_slot

import tiffin
from tiffin import PATIENCE_SECONDS, ReplyError, Server, fresh_database

LAST_SLOT = 16_383


@pytest.fixture(params=[2, 3], ids=["RESP2", "RESP3"])
def cluster(server, request):
    with RedisCluster(host="127.0.0.1", port=server.port, protocol=request.param, decode_responses=True) as client:
        yield client


def test_redis_py_routes_every_command_by_its_key(cluster, server, outlet):
    cart = f"{outlet}-{cluster.get_default_node().port}-{id(cluster)}"
    assert cluster.get_default_node().name == f"127.0.0.1:{server.port}"
    assert outlet in cluster.execute_command("OUTLET.HOME", outlet)
    assert "rice" in cluster.execute_command("MENU.GET", outlet)
    assert "rice" in cluster.execute_command("ITEM.GET", outlet, "rice")
    assert cluster.execute_command("CART.ADD", cart, outlet, "rice", 2, "NOTE", "warm") == 2
    assert cluster.execute_command("CART.COUNT", cart) == 2
    order = cluster.execute_command("CART.CHECKOUT", cart, "TOTAL", 250_000)
    assert order in cluster.execute_command("ORDER.GET", order)
    assert cluster.execute_command("ORDER.ACCEPT", order) > 1
    assert outlet in cluster.execute_command("KITCHEN", outlet)
    assert order in cluster.execute_command("ORDERS", "COUNT", 5, "OUTLET", outlet)
    with pytest.raises(redis_py.exceptions.ResponseError, match="NOTFOUND"):
        cluster.execute_command("CART.ADD", cart + "-2", outlet, "no-such-item", 1)


def test_redis_py_sends_names_with_two_full_stops_to_the_server_of_a_key(cluster, outlet):
    """`execute_command` of a cluster takes only `module.command`."""
    merchant = cluster.get_redis_connection(cluster.get_node_from_key(outlet))
    assert merchant.execute_command("MENU.ITEM.SUSPEND", outlet, "kottu") > 0
    assert merchant.execute_command("MENU.ITEM.RESUME", outlet, "kottu") > 0


def test_redis_py_wants_to_be_told_where_to_send_what_has_no_key(cluster, outlet):
    for command in [("BROWSE", "OUTLET", outlet), ("OUTLETS",), ("ORDERS", "COUNT", 1)]:
        with pytest.raises(redis_py.exceptions.RedisClusterException, match="(?i)no way to dispatch"):
            cluster.execute_command(*command)
        assert "{" in cluster.execute_command(*command, target_nodes=cluster.get_random_node())


def test_redis_py_pipelines_by_slot(cluster, outlet):
    carts = [f"{outlet}-p{id(cluster)}-{number}" for number in range(20)]
    with cluster.pipeline() as pipeline:
        for cart in carts:
            pipeline.execute_command("CART.ADD", cart, outlet, "rice", 1)
        assert pipeline.execute() == [1] * len(carts)


def test_redis_py_asks_about_the_cluster(cluster, server):
    assert cluster.cluster_info()["cluster_state"] == "ok"
    assert cluster.cluster_keyslot("a{b}c") == key_slot(b"b")
    assert cluster.cluster_countkeysinslot(LAST_SLOT) >= 0
    nodes = cluster.cluster_nodes()
    assert list(nodes) == [f"127.0.0.1:{server.port}"]
    [node] = nodes.values()
    assert node["flags"] == "myself,master" and node["slots"] == [["0", str(LAST_SLOT)]]
    [shard] = cluster.cluster_shards(target_nodes=cluster.get_random_node())
    assert shard["nodes"][0]["id"] == node["node_id"]
    for command in ["ASKING", "READONLY", "READWRITE"]:
        assert cluster.execute_command(command, target_nodes=cluster.get_random_node()) in (True, "OK")


def test_the_cluster_is_told_in_the_shapes_of_redis(server):
    with server.client() as two, server.client(protocol=3) as three:
        node_id = two("CLUSTER", "MYID")
        assert re.fullmatch(rb"[0-9a-f]{40}", node_id) and three("CLUSTER", "MYID") == node_id
        node = [b"127.0.0.1", server.port, node_id]
        assert two("CLUSTER", "SLOTS") == [[0, LAST_SLOT, [*node, []]]]
        assert three("CLUSTER", "SLOTS") == [[0, LAST_SLOT, [*node, {}]]]
        about = {
            b"id": node_id, b"port": server.port, b"ip": b"127.0.0.1", b"endpoint": b"127.0.0.1", b"role": b"master",
            b"replication-offset": 0, b"health": b"online"}
        assert three("CLUSTER", "SHARDS") == [{b"slots": [0, LAST_SLOT], b"nodes": [about]}]
        flat = [part for pair in about.items() for part in pair]
        assert two("CLUSTER", "SHARDS") == [[b"slots", [0, LAST_SLOT], b"nodes", [flat]]]
        line = f"{node_id.decode()} 127.0.0.1:{server.port}@0 myself,master - 0 0 0 connected 0-{LAST_SLOT}\n".encode()
        for client in two, three:
            assert client("CLUSTER", "NODES") == line
            assert b"cluster_slots_ok:16384\r\n" in client("CLUSTER", "INFO")


@pytest.mark.skipif(not shutil.which("redis-server"), reason="redis-server is not installed")
def test_the_replies_have_the_shapes_of_a_real_cluster(server, tmp_path):
    def shape(reply):
        """The keys of maps, and the types of everything else."""
        if isinstance(reply, dict):
            return {key: shape(value) for key, value in reply.items()}
        return [shape(part) for part in reply] if isinstance(reply, list) else type(reply)

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        bus = free.getsockname()[1]
    options = ["--cluster-enabled", "yes", "--cluster-config-file", str(tmp_path / "nodes"), "--cluster-port", str(bus)]
    with tiffin.private_redis(*options) as port:
        with tiffin.Client(port) as client:
            client("CLUSTER", "ADDSLOTSRANGE", "0", str(LAST_SLOT))
        for protocol in 2, 3:
            with server.client(protocol=protocol) as ours, tiffin.Client(port, protocol=protocol) as theirs:
                for command in ["SLOTS", "SHARDS", "NODES", "INFO", "MYID"]:
                    assert shape(ours("CLUSTER", command)) == shape(theirs("CLUSTER", command)), command
                assert [line.partition(b":")[0] for line in ours("CLUSTER", "INFO").splitlines()] == [
                    line.partition(b":")[0] for line in theirs("CLUSTER", "INFO").splitlines()]


def test_slots_are_those_of_redis(client):
    chance = random.Random(7)
    alphabet = string.ascii_letters + string.digits + "._:-{}{}"
    for _ in range(2_000):
        key = "".join(chance.choices(alphabet, k=chance.randint(0, 20)))
        assert client("CLUSTER", "KEYSLOT", key) == key_slot(key.encode()), key


def test_what_is_in_a_slot_is_counted():
    with fresh_database() as url, Server(database=url) as server, server.client() as client:
        tiffin.put_open_outlet(client, "grill", [tiffin.section_document("lunch", [tiffin.item_document("rice", 100)])])
        names = ["grill", *(f"c{number}" for number in range(5))]
        for cart in names[1:]:
            client("CART.ADD", cart, "grill", "rice", 1)
        names.append(client("CART.CHECKOUT", "c3", "TOTAL", 100).decode())
        slots = {key_slot(name.encode()) for name in names}
        assert sum(client("CLUSTER", "COUNTKEYSINSLOT", slot) for slot in slots) == len(names)
        assert client("CLUSTER", "COUNTKEYSINSLOT", next(slot for slot in range(LAST_SLOT) if slot not in slots)) == 0


@pytest.mark.parametrize("words, key", [
    (["CART.ADD", "c1", "o1", "rice", "1"], b"c1"), (["cart.count", "c2"], b"c2"), (["OUTLET.HOME", "o1", "CART", "c1"], b"o1"),
    (["ORDER.READY", "x-1", "ID", "t"], b"x-1"), (["KITCHEN", "o1"], b"o1"), (["ORDERS", "COUNT", "1", "outlet", "o2"], b"o2"),
    (["MENU.ITEM.PRICE", "o1", "rice", "1"], b"o1"),
])
def test_a_command_says_which_key_it_has(client, words, key):
    assert client("COMMAND", "GETKEYS", *words) == [key]
    [[same, flags]] = client("COMMAND", "GETKEYSANDFLAGS", *words)
    assert same == key
    [about] = client("COMMAND", "INFO", words[0])
    first, last, step = about[3:6]
    assert flags == (["RW", "update"] if "write" in about[2] else ["RO", "access"])
    if "movablekeys" in about[2]:
        assert (first, last, step) == (0, 0, 0)
    else:
        assert (words[first].encode(), last, step) == (key, first, 1)


@pytest.mark.parametrize("words, error", [
    (["NO.SUCH"], "Invalid command specified"), (["PING"], "The command has no key arguments"),
    (["BROWSE"], "The command has no key arguments"), (["ORDERS"], "The command has no key arguments"),
    (["CLUSTER", "KEYSLOT", "k"], "The command has no key arguments"),
    (["CART.ADD"], "Invalid arguments specified for command: wrong number of arguments for 'cart.add' command"),
    (["CART.GET", "c1", "NO", "1"], "Invalid arguments specified for command: syntax error"),
])
def test_a_command_without_a_key_says_so(client, words, error):
    for name in "GETKEYS", "GETKEYSANDFLAGS":
        with pytest.raises(ReplyError, match=f"ERR {error}"):
            client("COMMAND", name, *words)


@pytest.mark.parametrize("words, error", [
    (["COUNTKEYSINSLOT", "16384"], "ERR Invalid slot: it must be from 0 to 16383"),
    (["COUNTKEYSINSLOT", "-1"], "ERR Invalid slot"), (["COUNTKEYSINSLOT", "x"], "ERR value is not an integer"),
    (["KEYSLOT"], "ERR wrong number of arguments"), (["SLOTS", "1"], "ERR wrong number of arguments"),
    (["MEET"], "ERR unknown subcommand"),
])
def test_mistakes_are_explained(client, words, error):
    with pytest.raises(ReplyError, match=error):
        client("CLUSTER", *words)


@pytest.mark.parametrize("protocol", [[], ["-3"]], ids=["RESP2", "RESP3"])
def test_redis_cli_in_cluster_mode(server, outlet, protocol):
    cart = f"{outlet}-cli{len(protocol)}"
    run = subprocess.run(
        ["redis-cli", "-c", "-p", str(server.port), *protocol],
        input=f"CART.ADD {cart} {outlet} rice 2\nCART.COUNT {cart}\nCLUSTER KEYSLOT {cart}\n",
        capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert (run.stdout.split(), run.stderr) == (["2", "2", str(key_slot(cart.encode()))], "")


def test_over_ipv6_the_address_is_that_of_the_connection(database):
    server = Server(database=database)
    server.arguments[server.arguments.index("--listen") + 1] = "[::1]:0"
    with server, server.client(host="::1") as client:
        [[_, _, [host, port, *_]]] = client("CLUSTER", "SLOTS")
        assert (host, port) == (b"::1", server.port)
