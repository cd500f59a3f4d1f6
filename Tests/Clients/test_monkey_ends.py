"""How a run of `tiffin-monkey` ends: thresholds, baselines, lost servers, interrupts, and what it refuses."""

import concurrent.futures
import contextlib
import copy
import json
import re
import signal
import socket
import subprocess
import threading
import xml.etree.ElementTree
from pathlib import Path

import pytest

import tiffin
from monkeys import RUN_SECONDS, SHORT, SMALL, Tampering, command, environment, is_count, once, run_monkey
from tiffin import Server

# At one worker: the tests share a few runs.
pytestmark = pytest.mark.xdist_group("ends")


@pytest.fixture(scope="module", autouse=True)
def long_runs(server, tmp_path_factory):
    """Long runs with little load, while the other tests go on: with a slow baseline and with a fast one, because a
    comparison takes many seconds; against a server that is killed for good; and with a reply that never comes, or
    comes twice, because it takes long until the replies after it are missed."""
    load = ["--scenario", "count=3,add=1", "--rate", 80, "--shoppers", 20, "--connections", 4, *SMALL]
    short = run_monkey(tmp_path_factory.mktemp("short"), server, *load, "--duration", "1200ms").report

    def earlier(answered, latency):
        report = copy.deepcopy(short)
        # Runs of the default length.
        report["load"]["seconds"] = 10
        report["load"]["stages"] = [{"seconds": 10, "rate": 80}]
        window = {**report["windows"][0], "seconds": 1, "serverMicroseconds": None}
        for flow in ("reads", "writes"):
            window[flow] = {"answered": answered, "p50": latency, "p99": latency, "maximum": latency}
        report["windows"] = [{**window, "start": second} for second in range(10)]
        return report

    def compare(name, report):
        folder = tmp_path_factory.mktemp(name)
        (folder / "earlier.json").write_text(json.dumps(report))
        return run_monkey(
            folder, server, *load, "--baseline", folder / "earlier.json", "--regress", "50%",
            code=None)

    def lose():
        with tiffin.fresh_database() as url:
            doomed = Server(database=url).start()
            # It has begun when half a second of the load is over.
            threading.Timer(2.5, doomed.kill).start()
            return run_monkey(
                tmp_path_factory.mktemp("lost"), doomed, *load, "--duration", "4s", "--seed", 1, code=None)

    def starve():
        with Tampering(server, once(60, is_count, lambda frame: b"")) as proxy:
            return run_monkey(tmp_path_factory.mktemp("starved"), proxy, *load, "--duration", "1s", code=None)

    def double():
        with Tampering(server, once(60, is_count, lambda frame: frame + frame)) as proxy:
            return run_monkey(tmp_path_factory.mktemp("doubled"), proxy, *load, "--duration", "1s", code=None)

    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        yield {
            "slow": pool.submit(compare, "slow", earlier(1, 30_000_000_000)),
            "fast": pool.submit(compare, "fast", earlier(1000, 1)),
            "lost": pool.submit(lose),
            "starved": pool.submit(starve),
            "doubled": pool.submit(double),
        }


@pytest.fixture(scope="module")
def quiet_server():
    """A server with nothing on it but what the runs of these tests leave there."""
    with tiffin.fresh_database() as url, Server(database=url) as server:
        yield server


def outlets_left(server) -> int:
    with server.client() as client:
        return client.json("OUTLETS")["total"]


# A run that ends as soon as something was found.


def test_a_threshold_that_fails(server, monkey):
    run = monkey(server, "--scenario", "count", *SHORT, *SMALL, "--threshold", "cart.count:p99<1ns", "--threshold",
                 "checks:violations==0", code=2)
    assert [judgement["held"] for judgement in run.report["judgements"]] == [False, True]
    assert "cart.count:p99<1ns" in run.output


def test_a_threshold_can_end_the_run(server, monkey):
    run = monkey(server, "--scenario", "count", "--rate", 100, "--duration", "60s", "--shoppers", 20, "--connections",
                 4, "--threshold", "cart.count:p99<1ns,abortOnFail", code=2)
    assert run.report["seconds"] < 10
    assert any("ended early" in remark for remark in run.report["remarks"])


def test_a_baseline_held_and_missed(long_runs):
    better, worse = long_runs["slow"].result(), long_runs["fast"].result()
    compared = {"writes/s", "reads/s", "writes p50", "reads p50"}
    assert better.code == 0, better
    assert compared <= {judgement["name"] for judgement in better.report["judgements"]}
    assert worse.code == 2, worse
    assert compared <= {judgement["name"] for judgement in worse.report["judgements"] if not judgement["held"]}
    assert re.search(r"reads/s .*was allowed", worse.output)


def test_an_unsuitable_baseline_is_refused_before_the_load(server, long_runs, monkey):
    baseline = Path(long_runs["slow"].result().arguments[-3]).parent / "earlier.json"
    run = monkey(server, "--scenario", "count", "--rate", 120, "--duration", "60s", "--baseline", baseline, code=3)
    assert "The baseline cannot be compared" in run.errors


def test_a_server_that_is_gone_for_good(long_runs):
    run = long_runs["lost"].result()
    assert run.code == 4, run
    assert "outcome not known: " in run.output
    assert run.unanswered == 20
    assert "the log could not be read" in run.output
    assert run.violations == [] and sum(run.checks.values()) > 0


def test_a_reply_that_never_comes(long_runs):
    run = long_runs["starved"].result()
    # Each later reply is taken for the one before, until the last one is missing.
    assert run.code == 1, run
    assert run.unanswered > 0


def test_a_reply_that_comes_twice(long_runs):
    run = long_runs["doubled"].result()
    assert run.code == 1, run


def test_control_c_while_outlets_are_built(quiet_server):
    process = subprocess.Popen(
        command(quiet_server, "--outlets", 100, "--items", 5_000), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, stdin=subprocess.DEVNULL, env=environment())
    with process:
        for line in process.stderr:
            if "building" in line:
                process.send_signal(signal.SIGINT)
                break
        output, errors = process.communicate(timeout=RUN_SECONDS)
    assert process.returncode == 3 and output == ""
    assert "the run was stopped before the load began" in errors
    assert outlets_left(quiet_server) == 0


def test_nobody_listens(monkey):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        run = monkey(unused.getsockname()[1], "--quiet", code=3)
    assert "no server answers at 127.0.0.1:" in run.errors
    assert run.output == ""


@contextlib.contextmanager
def impostor(answer):
    """A server that answers each request that arrives in one piece with what `answer(words)` returns."""
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
def test_another_kind_of_server_is_refused(monkey, info, unknown):
    with impostor(lambda words: info if words[0] == b"INFO" else unknown) as port:
        run = monkey(port, "--quiet", code=3)
    assert "is not a Tiffin server" in run.errors


@pytest.mark.parametrize("options, message", [
    (["--closed", "--rate", "5"], "--rate is of an open load"),
    (["--no-such-option"], "unknown option '--no-such-option'"),
    (["--scenario", "nothing"], "there is no scenario 'nothing'"),
    (["--threshold", "cart.ad:p99<1ms"], "cart.ad"),
    (["--baseline", "no-such-file.json"], "no-such-file.json"),
    (["--start", "--tiffin", "/no/such/tiffin"], "no server to start at /no/such/tiffin"),
])
def test_options_that_cannot_be_understood(monkey, options, message):
    run = monkey(None, *options, code=3)
    assert message in run.errors and run.output == "" and run.report is None


def test_control_c_ends_the_load_and_not_the_report(quiet_server, tmp_path):
    report = tmp_path / "report.json"
    arguments = command(quiet_server, "--scenario", "cart", "--rate", 100, "--duration", "60s", "--shoppers", 20,
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
    assert "the run was stopped early" in output
    assert outlets_left(quiet_server) == 0
    run = json.loads(report.read_text())
    assert 0.5 < run["seconds"] < 30 and sum(check["count"] for check in run["checks"]["made"]) > 0


def test_reports_can_be_read(server, monkey, tmp_path):
    junit = tmp_path / "junit.xml"
    run = monkey(server, "--scenario", "cart", *SHORT, *SMALL, "--threshold", "writes:p50<1ns", "--junit", junit, code=2)
    suites = xml.etree.ElementTree.parse(junit).getroot()
    assert suites.tag == "testsuites" and suites.get("failures") == "1"
    cases = {(case.get("classname"), case.get("name")): case for case in suites.iter("testcase")}
    [failed] = [name for (_, name), case in cases.items() if case.find("failure") is not None]
    assert failed == "writes:p50<1ns"
    assert run.report["format"] == 1 and run.report["command"].startswith("tiffin-monkey ")
    assert run.report["outcome"] == 2
