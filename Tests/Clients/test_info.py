"""INFO as redis-py reads it: its counts are those of what was sent."""

import pytest
import redis

import tiffin
from tiffin import wait_until


@pytest.fixture
def info(server):
    """Asks a section of INFO over a connection of its own, and returns it as redis-py parses it."""
    with redis.Redis(port=server.port) as connection:
        yield connection.info


def command_counts(info) -> dict:
    """For each command that was called: its calls, and how many of them failed."""
    return {
        name.removeprefix("cmdstat_"): (counts["calls"], counts["failed_calls"])
        for name, counts in info("commandstats").items()
    }


def difference(after: dict, before: dict) -> dict:
    return {
        name: tuple(a - b for a, b in zip(counts, before.get(name, (0, 0))))
        for name, counts in after.items() if counts != before.get(name)
    }


def test_counts_rise_by_exactly_what_was_sent(client, info, outlet):
    cart = f"{outlet}-cart"
    before = command_counts(info)
    client.pipeline(
        [("CART.ADD", cart, outlet, "rice", 1, "ID", n) for n in range(20)]
        + [("CART.ADD", cart, outlet, "rice", 1, "ID", 0)]
        + [("CART.COUNT", cart)] * 7 + [("cart.get", cart)] * 5 + [("OUTLET.HOME", outlet)] * 3
        + [("OUTLET.HOME", outlet, "SINCE", 1), ("LOG.HEAD",), ("ORDER.GET", "no-such-order")])
    # A call is counted when it is answered, so INFO does not count itself.
    assert difference(command_counts(info), before) == {
        "cart.add": (21, 0), "cart.count": (7, 0), "cart.get": (5, 0), "outlet.home": (4, 0), "log.head": (1, 0),
        "order.get": (1, 0), "info": (1, 0),
    }


def test_failed_calls_are_those_answered_with_an_error(client, info, outlet):
    cart = f"{outlet}-cart"
    before, errors = command_counts(info), info("stats")["total_error_replies"]
    replies = client.pipeline([
        ("CART.ADD", cart, outlet, "rice", 1),
        ("CART.ADD", cart, outlet, "no-such-item", 1),
        ("CART.ADD", "no identifier", outlet, "rice", 1),
        ("CART.ADD", cart),
        ("CART.COUNT", "no identifier"),
        ("OUTLET.HOME", "no identifier", "SINCE", 1),
        ("LOG.READ", "COUNT", 0),
        ("CART.COUNT", cart),
        ("NOSUCHCOMMAND",),
    ])
    assert [isinstance(reply, tiffin.ReplyError) for reply in replies] == [
        False, True, True, True, True, True, True, False, True]
    assert difference(command_counts(info), before) == {
        "cart.add": (4, 3), "cart.count": (2, 1), "outlet.home": (1, 1), "log.read": (1, 1), "info": (2, 0)}
    assert info("stats")["total_error_replies"] == errors + 7


def test_a_call_that_is_answered_later_with_an_error_counts_as_failed(client, info, outlet):
    # The menu is waited for, so that the reply is not known when the command is executed.
    before = command_counts(info)
    commands = [("MENU.ITEM.PRICE", outlet, "rice", 100 + n) for n in range(5)]
    commands += [("MENU.ITEM.PRICE", outlet, "no-such-item", 1)]
    replies = client.pipeline(commands + [("CART.GET", f"{outlet}-never-seen")])
    assert [isinstance(reply, tiffin.ReplyError) for reply in replies] == [False] * 5 + [True, False]
    assert difference(command_counts(info), before) == {
        "menu.item.price": (6, 1), "cart.get": (1, 0), "info": (1, 0)}


def test_latencies_cover_every_call_and_are_in_order(client, info, outlet):
    client.pipeline([("CART.ADD", f"{outlet}-{n}", outlet, "rice", 1) for n in range(200)])
    client.pipeline([("CART.COUNT", f"{outlet}-{n}") for n in range(200)])
    counts, latencies = info("commandstats"), info("latencystats")
    assert [name.removeprefix("cmdstat_") for name in counts if name != "cmdstat_info"] == [
        name.removeprefix("latency_percentiles_usec_") for name in latencies
        if name != "latency_percentiles_usec_info"]
    for name in ("cart.add", "cart.count"):
        latency, count = latencies[f"latency_percentiles_usec_{name}"], counts[f"cmdstat_{name}"]
        assert list(latency) == ["p50", "p99", "p99.9"]
        assert 0 < latency["p50"] <= latency["p99"] <= latency["p99.9"]
        assert count["rejected_calls"] == 0
        assert count["usec_per_call"] * count["calls"] == pytest.approx(count["usec"], abs=0.005 * count["calls"] + 1)


def test_the_latency_of_a_write_includes_its_commit(client, info, outlet):
    client("CONFIG", "RESETSTAT")
    for n in range(20):
        client("CART.ADD", f"{outlet}-cart", outlet, "rice", 1)
    log, usec = info("log"), info("commandstats")["cmdstat_cart.add"]["usec"]
    commits = [value for key, value in log.items() if key.endswith("_commit_usec")]
    assert usec + 20 >= sum(commit["sum"] for commit in commits) > 0


def test_batches_add_up_to_the_growth_of_the_log(client, info, outlet):
    client("CONFIG", "RESETSTAT")
    before = info("log")
    assert (before["partition0_batches"], before["partition0_batch_events"]["sum"]) == (0, 0)
    client.pipeline([("CART.ADD", f"{outlet}-{n}", outlet, "rice", 1) for n in range(300)], window=300)
    after = info("log")
    sizes, commit = after["partition0_batch_events"], after["partition0_commit_usec"]
    assert sizes["sum"] == after["partition0_position"] - before["partition0_position"] == 300
    assert 1 <= sizes["p50"] <= sizes["p99"] <= sizes["max"] <= 300
    assert after["partition0_batches"] * sizes["max"] >= 300
    assert 0 < commit["p50"] <= commit["p99"] <= commit["max"] <= commit["sum"]
    assert (after["partition0_failed_batches"], after["partition0_waiting_commands"]) == (0, 0)
    assert after["partition0_head"] == after["partition0_position"]


def test_projections_report_how_far_they_are_behind(client, info, outlet):
    for n in range(10):
        client("CART.ADD", f"{outlet}-cart", outlet, "rice", 1)
        projections, position = info("projections"), info("log")["partition0_position"]
        lag, saved = projections["partition0_lag"], projections["partition0_cart_counts"]["saved_position"]
        assert lag == {"unfolded_events": 0, "unsaved_events": position - saved}
    wait_until(lambda: info("projections")["partition0_lag"]["unsaved_events"] == 0, "a checkpoint")


@pytest.mark.parametrize(("words", "key"), [
    (b"*1\r\n:4\r\n", "client_protocol_error_disconnections"),
    (b"*1\r\n$1048577\r\n", "client_protocol_error_disconnections"),
    (b"x" * 70_000, "client_query_buffer_limit_disconnections"),
    (b"POST / HTTP/1.1\r\n\r\n", "client_http_disconnections"),
])
def test_each_end_of_a_connection_is_counted_by_its_reason(server, info, words, key):
    before = info("stats")
    with server.client() as client:
        client.send(words)
        client.file.read()
    after = info("stats")
    assert [name for name in after if name.endswith("_disconnections") and after[name] != before[name]] == [key]
    assert after[key] == before[key] + 1


def test_errors_are_counted_by_their_codes(client, info, outlet):
    before = info("errorstats")
    client.pipeline([
        ("CART.ADD", "no identifier", outlet, "rice", 1), ("CART.ADD",), ("NOSUCHCOMMAND",),
        ("MENU.ITEM.PRICE", outlet, "no-such-item", 1), ("CART.ADD", f"{outlet}-cart", outlet, "rice", 0)])
    risen = {
        key.removeprefix("errorstat_"): value["count"] - before.get(key, {"count": 0})["count"]
        for key, value in info("errorstats").items() if value != before.get(key)}
    assert risen == {"INVALID": 1, "ERR": 2, "NOTFOUND": 1, "LIMIT": 1}


def test_resetstat_counts_from_zero(client, info, outlet):
    client("CART.ADD", f"{outlet}-cart", outlet, "rice", 1)
    client.error("CART.ADD")
    uptime, processor = info("server")["uptime_in_seconds"], info("cpu")["used_cpu_user"]
    assert client("CONFIG", "RESETSTAT") == "OK"
    assert command_counts(info) == {"config|resetstat": (1, 0)}
    stats = info("stats")
    assert (stats["total_commands_processed"], stats["total_error_replies"]) == (2, 0)
    assert stats["total_connections_received"] == 0
    assert set(info("latencystats")) == {"latency_percentiles_usec_config|resetstat", "latency_percentiles_usec_info"}
    # Neither is a count.
    assert info("server")["uptime_in_seconds"] >= uptime
    assert info("cpu")["used_cpu_user"] >= processor > 0


def test_the_versions_are_reported(client, info):
    server = info("server")
    assert server["redis_version"] and server["tiffin_version"]
    # As bytes: redis-py reads 15.20 as a number, and that is 15.2.
    version = tiffin.sql("show server_version").split()[0]
    assert b"postgres_version:%s\r\n" % version.encode() in client("INFO", "server")


def test_memory_and_clients_are_reported(server, info):
    memory, clients = info("memory"), info("clients")["connected_clients"]
    assert 0 < memory["used_memory_rss"] <= memory["used_memory_peak"]
    with server.client() as another:
        another("PING")
        assert info("clients")["connected_clients"] == clients + 1


def test_every_key_is_documented(info):
    documented = (tiffin.CHECKOUT / "docs" / "info.md").read_text()
    for key in info():
        name = key.replace("partition0_", "partition<n>_").replace("server0", "server<n>")
        for prefix, what in (("cmdstat_", "command"), ("latency_percentiles_usec_", "command"), ("errorstat_", "code")):
            if name.startswith(prefix):
                name = f"{prefix}<{what}>"
        assert f"`{name}`" in documented, f"{key} is not documented"
