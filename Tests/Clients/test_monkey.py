"""`tiffin-monkey` against real servers that are correct: it finds nothing wrong with them."""

import concurrent.futures
import json
import re
import subprocess

import pytest

from monkeys import SHORT, SMALL, command, run_monkey
from tiffin import Server, run_tiffin, wait_until

# One load at a time.
pytestmark = pytest.mark.xdist_group("loads")

# What each scenario is about, by the names of reports.
SCENARIOS = {
    "fling": {"outlet.home", "item.get"},
    "chips": {"outlet.tags", "outlet.home", "browse"},
    "promos": {"cart.add", "cart.count", "outlet.home"},
    "desserts": {"cart.add", "cart.count", "outlet.home"},
    "cart": {"cart.add", "cart.edit", "cart.set", "cart.remove", "cart.count", "cart.get"},
    "browse": {"browse", "outlets", "surprise"},
    "hot": {"outlet.home", "cart.add"},
    "watch": {"subscribe", "outlet.home", "cart.get", "browse.save"},
    "merchant": {"menu.item.price", "menu.item.resume", "menu.item.put"},
    "kitchen": {"cart.add", "cart.quote", "cart.checkout", "order.get", "kitchen"},
    "monkey": {"cart.add", "outlet.home", "item.get"},
    "stress": {"cart.add", "outlet.home"},
    "add": {"cart.add"},
    "count": {"cart.count"},
    "home": {"outlet.home"},
}


# --- a correct server


# Scenarios that run together; unit tests check what each sends.
MIXES = ["fling,chips,browse", "promos,desserts,hot", "cart,merchant", "watch", "kitchen", "monkey", "stress", "add,count,home"]


@pytest.fixture(scope="module")
def scenario_runs(server, tmp_path_factory):
    """A short run of every scenario, several at once: monkeys on one server do not disturb each other."""
    sizes = {"stress": ["--outlets", 30, "--items", 300, "--carts", 60]}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = {
            mix: pool.submit(
                run_monkey, tmp_path_factory.mktemp("mix"), server, "--scenario", mix, *SHORT, *sizes.get(mix, SMALL),
                code=None)
            for mix in MIXES
        }
        return {scenario: runs[mix].result() for mix in MIXES for scenario in mix.split(",")}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_scenario_holds(scenario_runs, scenario):
    run = scenario_runs[scenario]
    assert run.code == 0, run
    assert "all held" in run.output
    assert run.violations == [] and sum(run.checks.values()) > 50
    assert run.checks["log"] > 0
    # How far it came depends on the machine; unit tests check that it does all of these in the end.
    assert SCENARIOS[scenario] & {name for name, counts in run.calls.items() if sum(counts)}
    assert run.report["sending"]["sent"] >= 150


def test_the_list_of_scenarios_is_complete():
    text = subprocess.run(command(None, "--help"), capture_output=True, text=True, check=True).stdout
    listed = re.search(r"Scenarios:\n((?:  .*\n)+)", text)[1]
    assert [line.split()[0] for line in listed.splitlines()] == sorted(
        SCENARIOS, key=lambda name: text.index(f"\n  {name} "))
    assert set(SCENARIOS) == {line.split()[0] for line in listed.splitlines()}


def test_a_closed_load_keeps_its_pipelines_full(server, monkey):
    run = monkey(server, "--closed", "--connections", 4, "--pipeline", 8, "--duration", "1s", "--scenario", "cart")
    assert run.report["load"]["isClosed"] and run.report["load"]["pipeline"] == 8
    assert sum(run.calls["cart.add"]) > 32
    assert run.violations == []


def test_without_a_rate_it_finds_one(server, monkey):
    run = monkey(server, "--duration", "500ms", "--connections", 4, "--shoppers", 20, "--scenario", "count")
    [stage] = run.report["load"]["stages"]
    assert stage["rate"] >= 1
    assert "half of that, " in run.errors
    assert re.search(r"--rate \d+", run.report["command"])


def test_stages_rise_from_zero(server, monkey):
    run = monkey(server, "--stages", "500ms:400,500ms:400", "--scenario", "count", "--connections", 4, "--shoppers", 20)
    assert run.report["sending"]["planned"] == 300


def test_the_same_seed_does_the_same(server, monkey):
    # Only carts, so that no answer depends on another shopper. All 400 are planned for the first second, and none is
    # left out because the one before it took long.
    def run(seed):
        result = monkey(server, "--scenario", "cart", "--stages", "1s:800,1ms:0,30s:0", "--commands", 400, "--shoppers",
                        240, "--connections", 4, *SMALL, "--seed", seed)
        assert result.report["sending"]["sent"] == 400
        return result

    first, again = run(5), run(5)
    assert first.calls == again.calls
    assert first.report["errors"] == again.report["errors"]


def test_it_leaves_a_server_as_it_found_it(database, monkey):
    # A server of its own: on the shared one something else may be under way.
    with Server(database=database, options=["--demo"]) as server, server.client() as client:
        def lists():
            return [client(command, "LIMIT", 100, "FACETS") for command in ("BROWSE", "OUTLETS")]

        before = lists()
        assert json.loads(before[1])["total"] > 0
        run = monkey(server, "--scenario", "watch", *SHORT, *SMALL)
        assert sum(run.calls["browse.save"]) > 0
        assert tiffin_info(client)["catalogue"]["saved_queries"] == "0"
        assert lists() == before


def tiffin_info(client) -> dict:
    """The keys of `INFO` that have several values."""
    lines = [line.split(":", 1) for line in client("INFO").decode().split("\r\n") if ":" in line]
    return {key: dict(part.split("=") for part in value.split(",")) for key, value in lines if "=" in value}


# --- faults of its own


def test_chaos_of_clients_is_survived(server, monkey):
    run = monkey(
        server, "--chaos", "--scenario", "cart=3,watch=1,merchant=1", "--rate", 1500, "--duration", "2s", "--shoppers",
        60, "--connections", 8, "--seed", 4)
    # How many there are depends on how many commands there was time for.
    assert "duplicate" in run.faults and len(run.faults) > 1, run
    assert set(run.faults) <= {"cut in a request", "cut in a reply", "duplicate", "half-close", "slow read"}, run
    assert run.checks["duplicate"] > 0
    assert run.violations == []


def test_a_killed_server_of_its_own_is_survived(monkey):
    # With this seed the server is killed first, 1.6 s after the beginning.
    run = monkey(
        None, "--start", "--chaos", "--scenario", "cart=4,merchant=1", "--rate", 300, "--duration", "3s", "--shoppers",
        60, "--connections", 8, "--seed", 242)
    assert run.faults["server killed"] == 1
    assert run.violations == []
    assert any(fact["value"] == "started for the run" for fact in run.report["environment"])


def test_a_kitchen_goes_on_after_its_server_was_killed_and_the_audit_is_sound(database, tmp_path):
    with Server(database=database) as server:
        # It comes back where its clients look for it.
        server.arguments[server.arguments.index("--listen") + 1] = f"127.0.0.1:{server.port}"
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            running = pool.submit(
                run_monkey, tmp_path, server, "--scenario", "kitchen", "--chaos", "--rate", 300, "--duration", "3s",
                "--shoppers", 30, "--connections", 6, *SMALL, "--seed", 5, code=None)
            with server.client() as client:
                wait_until(lambda: b"order-" in b"".join(client("LOG.READ", "FROM", 200, "COUNT", 1_000)), "orders")
            server.kill()
            server.start()
            run = running.result()
        assert run.code == 0 and run.violations == [], (run, run.violations)
        assert all(run.checks[check] > 0 for check in ("quote", "order", "kitchen", "orders")), run
    audit = run_tiffin("audit", "--database", database)
    assert audit.returncode == 0, audit
