"""`tiffin-monkey` against real servers: it finds nothing wrong with a right one, and every planted fault."""

import concurrent.futures
import contextlib
import copy
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import threading
import xml.etree.ElementTree
from pathlib import Path

import pytest

import tiffin
from tiffin import Server, binary

RUN_SECONDS = 90

# The load of a short run: enough for every kind of command, and little enough for a debug build.
SHORT = ["--rate", 300, "--duration", "700ms", "--shoppers", 15, "--connections", 8, "--seed", 11]

# What each scenario is about, by the names of reports.
SCENARIOS = {
    "fling": {"outlet.home", "item.get"},
    "chips": {"outlet.tags", "outlet.home", "browse"},
    "promos": {"cart.add", "cart.count", "outlet.home"},
    "desserts": {"cart.add", "cart.count", "outlet.home"},
    "cart": {"cart.add", "cart.set", "cart.remove", "cart.count", "cart.get"},
    "browse": {"browse", "outlets", "surprise"},
    "hot": {"outlet.home", "cart.add"},
    "watch": {"subscribe", "outlet.home", "cart.get", "browse.save"},
    "merchant": {"menu.item.price", "menu.item.suspend", "menu.item.resume", "menu.item.put"},
    "monkey": {"cart.add", "outlet.home", "item.get"},
    "stress": {"cart.add", "outlet.home"},
    "add": {"cart.add"},
    "count": {"cart.count"},
    "home": {"outlet.home"},
}


class Run:
    """A run that has ended: its exit code, what it wrote, and its report."""

    def __init__(self, arguments, process, report):
        self.arguments = [str(argument) for argument in arguments]
        self.code, self.output, self.errors = process.returncode, process.stdout, process.stderr
        self.report = json.loads(report.read_text()) if report.exists() else None

    def __repr__(self):
        return f"tiffin-monkey {shlex.join(self.arguments)} ended with {self.code}:\n{self.output}{self.errors}"

    @property
    def calls(self) -> dict:
        """How often each command was answered, accepted and refused; the sums are left out."""
        return {
            call["name"]: (call["accepted"], call["refused"])
            for call in self.report["calls"] if call["name"] not in ("reads", "writes")
        }

    @property
    def checks(self) -> dict:
        return {check["name"]: check["count"] for check in self.report["checks"]["made"]}

    @property
    def faults(self) -> dict:
        return {fault["kind"]: fault["count"] for fault in self.report["faults"]}

    @property
    def violations(self) -> list:
        return self.report["checks"]["violations"]


def command(server, *options) -> list:
    """The words of a run against a server, or a port; the monkey starts its own where there is none."""
    words = [str(Path(binary()).parent / "tiffin-monkey"), *map(str, options)]
    return words + ["--server", f"127.0.0.1:{getattr(server, 'port', server)}"] if server else words


def environment(**changes) -> dict:
    return {**{name: value for name, value in os.environ.items() if not name.startswith("TIFFIN_")}, **changes}


def run_monkey(folder, server, *options, code=0) -> Run:
    """Runs the monkey to its end. Runs at the same time need a folder each."""
    report = Path(folder) / "report.json"
    report.unlink(missing_ok=True)
    arguments = command(server, *options, "--json", report)
    process = subprocess.run(
        arguments, capture_output=True, text=True, timeout=RUN_SECONDS, stdin=subprocess.DEVNULL, env=environment())
    run = Run(arguments[1:], process, report)
    assert code is None or run.code == code, run
    return run


@pytest.fixture
def monkey(tmp_path):
    return lambda server, *options, code=0: run_monkey(tmp_path, server, *options, code=code)


# --- a right server


@pytest.fixture(scope="module")
def scenario_runs(server, tmp_path_factory):
    """A short run of every scenario, several at once: monkeys on one server do not disturb each other."""
    sizes = {"stress": ["--outlets", 30, "--items", 300, "--carts", 60]}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = {
            name: pool.submit(
                run_monkey, tmp_path_factory.mktemp(name), server, "--scenario", name, *SHORT, *sizes.get(name, []),
                code=None)
            for name in SCENARIOS
        }
        return {name: run.result() for name, run in runs.items()}


@pytest.fixture(scope="module", autouse=True)
def compared_runs(server, tmp_path_factory):
    """Runs with a baseline that was slow, and with one that was fast: while the other tests go on, as a comparison
    takes many seconds."""
    load = ["--scenario", "count=3,add=1", "--rate", 80, "--shoppers", 20, "--connections", 4]
    short = run_monkey(tmp_path_factory.mktemp("short"), server, *load, "--duration", "1200ms").report

    def earlier(answered, latency):
        report = copy.deepcopy(short)
        report["load"]["seconds"] = 20
        report["load"]["stages"] = [{"seconds": 20, "rate": 80}]
        window = {**report["windows"][0], "seconds": 1, "serverMicroseconds": None}
        for flow in ("reads", "writes"):
            window[flow] = {"answered": answered, "p50": latency, "p99": latency, "maximum": latency}
        report["windows"] = [{**window, "start": second} for second in range(20)]
        return report

    def compare(name, report):
        folder = tmp_path_factory.mktemp(name)
        (folder / "earlier.json").write_text(json.dumps(report))
        return run_monkey(
            folder, server, *load, "--duration", "20s", "--baseline", folder / "earlier.json", "--regress", "50%",
            code=None)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        yield {
            "slow": pool.submit(compare, "slow", earlier(1, 30_000_000_000)),
            "fast": pool.submit(compare, "fast", earlier(1000, 1)),
        }


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_scenario_holds(scenario_runs, scenario):
    run = scenario_runs[scenario]
    assert run.code == 0, run
    assert "all held" in run.output
    assert run.violations == [] and sum(run.checks.values()) > 200
    assert run.checks["log"] > 0
    assert SCENARIOS[scenario] <= {name for name, counts in run.calls.items() if sum(counts)}
    assert run.report["sending"]["planned"] == 210


def test_the_scenarios_are_all_there_are():
    text = subprocess.run(command(None, "--help"), capture_output=True, text=True, check=True).stdout
    listed = re.search(r"Scenarios:\n((?:  .*\n)+)", text)[1]
    assert [line.split()[0] for line in listed.splitlines()] == sorted(
        SCENARIOS, key=lambda name: text.index(f"\n  {name} "))
    assert set(SCENARIOS) == {line.split()[0] for line in listed.splitlines()}


def test_a_closed_load_keeps_so_many_on_their_way(server, monkey):
    run = monkey(server, "--closed", "--connections", 4, "--pipeline", 8, "--duration", "1s", "--scenario", "cart")
    assert run.report["load"]["isClosed"] and run.report["load"]["pipeline"] == 8
    assert sum(run.calls["cart.add"]) > 32
    assert run.violations == []


def test_without_a_rate_it_finds_one(server, monkey):
    run = monkey(server, "--duration", "500ms", "--connections", 4, "--shoppers", 20, "--scenario", "count")
    [stage] = run.report["load"]["stages"]
    assert stage["rate"] >= 1
    assert f"half of that, " in run.errors
    assert re.search(r"--rate \d+", run.report["command"])


def test_stages_rise_from_nothing(server, monkey):
    run = monkey(server, "--stages", "500ms:400,500ms:400", "--scenario", "count", "--connections", 4, "--shoppers", 20)
    assert run.report["sending"]["planned"] == 300


def test_the_same_seed_does_the_same(server, monkey):
    # Carts alone, so that nobody's answers depend on somebody else; and few commands of each shopper, so that none
    # is left out because the one before it took long.
    def run(seed):
        result = monkey(server, "--scenario", "cart", "--rate", 500, "--duration", "1s", "--shoppers", 300,
                        "--connections", 8, "--seed", seed)
        assert result.report["sending"]["dropped"] == 0
        return result

    first, again, other = run(5), run(5), run(6)
    assert first.calls == again.calls
    assert first.report["errors"] == again.report["errors"]
    assert first.calls != other.calls


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


# --- how it ends


def test_a_threshold_that_fails(server, monkey):
    run = monkey(server, "--scenario", "count", *SHORT, "--threshold", "cart.count:p99<1ns", "--threshold",
                 "checks:violations==0", code=2)
    assert [judgement["held"] for judgement in run.report["judgements"]] == [False, True]
    assert "cart.count:p99<1ns" in run.output


def test_a_threshold_can_end_the_run(server, monkey):
    run = monkey(server, "--scenario", "count", "--rate", 100, "--duration", "60s", "--shoppers", 20, "--connections",
                 4, "--threshold", "cart.count:p99<1ns,abortOnFail", code=2)
    assert run.report["seconds"] < 10
    assert any("before its time" in remark for remark in run.report["remarks"])


def test_a_baseline_held_and_missed(compared_runs):
    better, worse = compared_runs["slow"].result(), compared_runs["fast"].result()
    compared = {"writes/s", "reads/s", "writes p50", "reads p50"}
    assert better.code == 0, better
    assert compared <= {judgement["name"] for judgement in better.report["judgements"]}
    assert worse.code == 2, worse
    assert compared <= {judgement["name"] for judgement in worse.report["judgements"] if not judgement["held"]}
    assert re.search(r"reads/s .*was allowed", worse.output)


def test_what_is_no_baseline_is_said_before_the_load(server, compared_runs, monkey):
    baseline = Path(compared_runs["slow"].result().arguments[-3]).parent / "earlier.json"
    run = monkey(server, "--scenario", "count", "--rate", 120, "--duration", "60s", "--baseline", baseline, code=3)
    assert "The baseline cannot be compared" in run.errors


def test_nobody_listens(monkey):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        run = monkey(unused.getsockname()[1], "--quiet", code=3)
    assert "no server answers at 127.0.0.1:" in run.errors
    assert run.output == ""


@contextlib.contextmanager
def impostor(answer):
    """A server that answers each request that comes in one piece with what `answer(words)` gives."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(connection):
        with connection, contextlib.suppress(OSError):
            while data := connection.recv(1 << 16):
                connection.sendall(answer(data.split(b"\r\n")[2::2]))

    def accept():
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


@pytest.mark.parametrize("info, unknown", [
    (b"$25\r\n# Server\r\nredis_version:7\r\n\r\n", b"-ERR unknown command\r\n"),
    (b"-NOAUTH Authentication required.\r\n", b"-NOAUTH Authentication required.\r\n"),
    (b"HTTP/1.1 400 Bad Request\r\n\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n"),
])
def test_what_listens_is_something_else(monkey, info, unknown):
    with impostor(lambda words: info if words[0] == b"INFO" else unknown) as port:
        run = monkey(port, "--quiet", code=3)
    assert "is no Tiffin server" in run.errors


@pytest.mark.parametrize("options, message", [
    (["--closed", "--rate", "5"], "--rate is of an open load"),
    (["--no-such-option"], "there is no option '--no-such-option'"),
    (["--scenario", "nothing"], "there is no scenario 'nothing'"),
    (["--threshold", "cart.ad:p99<1ms"], "cart.ad"),
    (["--baseline", "no-such-file.json"], "no-such-file.json"),
    (["--start", "--tiffin", "/no/such/tiffin"], "no server to start at /no/such/tiffin"),
])
def test_options_that_cannot_be_understood(monkey, options, message):
    run = monkey(None, *options, code=3)
    assert message in run.errors and run.output == "" and run.report is None


def test_control_c_ends_the_load_and_not_the_report(server, tmp_path):
    report = tmp_path / "report.json"
    arguments = command(server, "--scenario", "cart", "--rate", 100, "--duration", "60s", "--shoppers", 20,
                        "--connections", 4, "--json", report)
    process = subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
        env=environment())
    with process:
        # The first line with figures comes when the load has gone on for a second.
        for line in process.stderr:
            if "reads" in line:
                process.send_signal(signal.SIGINT)
                break
        output, errors = process.communicate(timeout=RUN_SECONDS)
    assert process.returncode == 0, output + errors
    assert "it was stopped before its time" in output
    run = json.loads(report.read_text())
    assert 0.5 < run["seconds"] < 30 and sum(check["count"] for check in run["checks"]["made"]) > 0


def test_reports_can_be_read(server, monkey, tmp_path):
    junit = tmp_path / "junit.xml"
    run = monkey(server, "--scenario", "cart", *SHORT, "--threshold", "writes:p50<1ns", "--junit", junit, code=2)
    suites = xml.etree.ElementTree.parse(junit).getroot()
    assert suites.tag == "testsuites" and suites.get("failures") == "1"
    cases = {(case.get("classname"), case.get("name")): case for case in suites.iter("testcase")}
    [failed] = [name for (_, name), case in cases.items() if case.find("failure") is not None]
    assert failed == "writes:p50<1ns"
    assert run.report["format"] == 1 and run.report["command"].startswith("tiffin-monkey ")
    assert run.report["outcome"] == 2


# --- a server with a planted fault

CART_CHECKS = {"answer", "count", "cart", "order", "log"}

# Each with its load, the checks one of which finds it, and those that may stumble over it.
FAULTS = {
    "drop-write": ("drop-write:30", ["--scenario", "cart"], {"count", "cart"}, CART_CHECKS),
    "double-write": ("double-write:30", ["--scenario", "cart"], {"count", "cart"}, CART_CHECKS),
    # So small a menu that it is there before the first event is passed over.
    "skip-event of carts": (
        "skip-event:10", ["--scenario", "promos", "--outlets", 1, "--items", 1], {"count"}, {"count"}),
    "skip-event of menus": (
        "skip-event:30", ["--scenario", "home,merchant", "--items", 8], {"home"}, {"home", *CART_CHECKS}),
    "wrong-patch since": ("wrong-patch:5", ["--scenario", "fling=4,merchant=1"], {"patch"}, {"patch", "home"}),
    "wrong-patch to subscribers": ("wrong-patch:10", ["--scenario", "watch"], {"patch"}, {"patch"}),
    "lost-id": ("lost-id:50", ["--scenario", "cart", "--chaos"], {"log"}, {"log", "duplicate", *CART_CHECKS}),
}


@pytest.fixture(scope="module")
def faulty_runs(server, tmp_path_factory):
    with server.client() as client:
        if b"tiffin_build:debug" not in client("INFO", "server"):
            pytest.skip("a release build has no faults to plant")

    def run(name):
        fault, options, _, _ = FAULTS[name]
        with tiffin.fresh_database() as url:
            with Server(database=url, environment={"TIFFIN_PLANTED_FAULT": fault}) as faulty:
                return run_monkey(
                    tmp_path_factory.mktemp("faulty"), faulty, *options, "--rate", 500, "--duration", "1500ms",
                    "--shoppers", 40, "--connections", 8, "--seed", 3, code=None)

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        runs = {name: pool.submit(run, name) for name in FAULTS}
        return {name: run.result() for name, run in runs.items()}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(faulty_runs, fault):
    run = faulty_runs[fault]
    assert run.code == 1, run
    assert run.violations, run
    found = {violation["check"] for violation in run.violations}
    _, _, finders, possible = FAULTS[fault]
    assert found & finders and found <= possible, run
    assert all(violation["history"] for violation in run.violations), run
    assert f"repeat  {run.report['command']}" in run.output and "--seed 3" in run.report["command"]
