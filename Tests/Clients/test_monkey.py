"""`tiffin-monkey` against real servers: it finds nothing wrong with a correct one, and finds every planted fault."""

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
SHORT = ["--rate", 300, "--duration", "500ms", "--shoppers", 15, "--connections", 4, "--seed", 11]
SMALL = ["--outlets", 4, "--items", 80]

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
    "merchant": {"menu.item.price", "menu.item.resume", "menu.item.put"},
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
    def unanswered(self) -> int:
        """How many commands have an outcome that the run could not find out."""
        return sum(call["unknown"] for call in self.report["calls"] if call["name"] in ("reads", "writes"))

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
    """The words of a run against a server, or a port; the monkey starts its own if there is none."""
    words = [str(Path(binary()).parent / "tiffin-monkey"), *map(str, options)]
    return words + ["--server", f"127.0.0.1:{getattr(server, 'port', server)}"] if server else words


def environment(**changes) -> dict:
    return {**{name: value for name, value in os.environ.items() if not name.startswith("TIFFIN_")}, **changes}


def run_monkey(folder, server, *options, code=0, until=None) -> Run:
    """Runs the monkey to its end, or until an event. Runs at the same time need a folder each."""
    report = Path(folder) / "report.json"
    report.unlink(missing_ok=True)
    arguments = command(server, *options, "--json", report)
    with subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
            env=environment()) as process:
        if until:
            threading.Thread(target=lambda: until.wait(RUN_SECONDS) and process.send_signal(signal.SIGINT)).start()
        try:
            output, errors = process.communicate(timeout=RUN_SECONDS)
        except BaseException:
            process.kill()
            raise
        finally:
            if until:
                until.set()
    run = Run(arguments[1:], subprocess.CompletedProcess(arguments, process.returncode, output, errors), report)
    assert code is None or run.code == code, run
    return run


@pytest.fixture
def monkey(tmp_path):
    return lambda server, *options, code=0: run_monkey(tmp_path, server, *options, code=code)


# --- a correct server


# Scenarios that run together; unit tests check what each sends.
MIXES = ["fling,chips,browse", "promos,desserts,hot", "cart,merchant", "watch", "monkey", "stress", "add,count,home"]


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


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_scenario_holds(scenario_runs, scenario):
    run = scenario_runs[scenario]
    assert run.code == 0, run
    assert "all held" in run.output
    assert run.violations == [] and sum(run.checks.values()) > 50
    assert run.checks["log"] > 0
    # How far it came depends on the machine; unit tests check that it does all of these in the end.
    assert SCENARIOS[scenario] & {name for name, counts in run.calls.items() if sum(counts)}
    assert run.report["sending"]["planned"] == 150


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
    assert f"half of that, " in run.errors
    assert re.search(r"--rate \d+", run.report["command"])


def test_stages_rise_from_zero(server, monkey):
    run = monkey(server, "--stages", "500ms:400,500ms:400", "--scenario", "count", "--connections", 4, "--shoppers", 20)
    assert run.report["sending"]["planned"] == 300


def test_the_same_seed_does_the_same(server, monkey):
    # Only carts, so that no answer depends on another shopper; and few commands for each shopper, so that none
    # is left out because the one before it took long.
    def run(seed):
        result = monkey(server, "--scenario", "cart", "--rate", 400, "--duration", "1s", "--shoppers", 240,
                        "--connections", 4, *SMALL, "--seed", seed)
        assert result.report["sending"]["dropped"] == 0
        return result

    first, again = run(5), run(5)
    assert first.calls == again.calls
    assert first.report["errors"] == again.report["errors"]


def test_it_leaves_no_saved_queries_and_no_open_outlets(database, monkey):
    # A server of its own: on the shared one something may be under way, or have been left by a fault.
    with Server(database=database) as server, server.client() as client:
        run = monkey(server, "--scenario", "watch", *SHORT, *SMALL)
        assert sum(run.calls["browse.save"]) > 0
        assert tiffin_info(client)["catalogue"]["saved_queries"] == "0"
        assert client.json("OUTLETS", "TEXT", "monkey")["total"] > 0
        assert client.json("OUTLETS", "TEXT", "monkey", "OPEN")["total"] == 0


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


# --- how it ends

# A run that ends as soon as something was found.
UNTIL_FOUND = ["--threshold", "checks:violations==0,abortOnFail"]



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


def test_control_c_while_outlets_are_built(server):
    process = subprocess.Popen(
        command(server, "--outlets", 100, "--items", 5_000), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, stdin=subprocess.DEVNULL, env=environment())
    with process:
        for line in process.stderr:
            if "building" in line:
                process.send_signal(signal.SIGINT)
                break
        output, errors = process.communicate(timeout=RUN_SECONDS)
    assert process.returncode == 3 and output == ""
    assert "the run was stopped before the load began" in errors


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
    assert "the run was stopped early" in output
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


# --- something between the monkey and the server


class Recording:
    """A file that keeps what is read from it, so that a reply can be passed on unchanged."""

    def __init__(self, file):
        self.file, self.kept = file, b""

    def readline(self):
        self.kept += (data := self.file.readline())
        return data

    def read(self, count):
        self.kept += (data := self.file.read(count))
        return data


class Tampering:
    """A proxy that passes every reply through `tamper(frame)`, which returns what is sent instead.

    `ends_with_client` closes both sides when the client ends its own, even if replies are outstanding."""

    def __init__(self, server, tamper=lambda frame: frame, ends_with_client=False):
        self.upstream, self.tamper, self.ends_with_client = server.port, tamper, ends_with_client

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.sockets = []
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        for one in [self.listener, *self.sockets]:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                server = socket.create_connection(("127.0.0.1", self.upstream))
                self.sockets += [client, server]
                for one in (client, server):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._requests, args=(client, server), daemon=True).start()
                threading.Thread(target=self._replies, args=(client, server), daemon=True).start()

    def _requests(self, client, server):
        with contextlib.suppress(OSError):
            while data := client.recv(1 << 16):
                server.sendall(data)
            if self.ends_with_client:
                client.shutdown(socket.SHUT_RDWR)
            server.shutdown(socket.SHUT_WR)

    def _replies(self, client, server):
        reader = tiffin.Client.__new__(tiffin.Client)
        reader.file = Recording(server.makefile("rb"))
        with contextlib.suppress(OSError, EOFError, ValueError):
            while True:
                reader.read()
                frame, reader.file.kept = reader.file.kept, b""
                client.sendall(self.tamper(frame))
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)


def once(number, wanted, change):
    """Changes the nth of the wanted frames, and no other."""
    seen = 0

    def tamper(frame):
        nonlocal seen
        seen += wanted(frame)
        return change(frame) if wanted(frame) and seen == number else frame

    return tamper


def is_count(frame):
    return frame.startswith(b":")


def is_message(frame):
    return b"message" in frame[:20] and frame.startswith(b">")


def is_later_message(frame):
    return is_message(frame) and not re.search(rb'"from":(\d+),"to":\1,', frame)


def is_change(frame):
    """A message about a home or a cart with something in its patch."""
    return is_message(frame) and (b"home:" in frame or b"cart:" in frame) and b'"patch":[]' not in frame


def other_number(frame):
    """The message with its last number changed, which is a price, a sum or a revision."""
    head, text, end = frame.rpartition(b"\r\n")[0], b"", b"\r\n"
    head, _, text = head.rpartition(b"\r\n")
    number = list(re.finditer(rb'(?<=":)\d+', text))[-1]
    changed = text[:number.start()] + b"%d" % (int(number[0]) + 1) + text[number.end():]
    lines = head.split(b"\r\n")
    lines[-1] = b"$%d" % len(changed)
    return b"\r\n".join(lines) + b"\r\n" + changed + end


# Missing and repeated messages, and other counts, are for the unit tests.
TAMPERINGS = {
    "a reply is garbage": (once(40, is_count, lambda frame: b"?\r\n"), {"answer"}),
    "no message comes any more": (lambda frame: b"" if is_later_message(frame) else frame, {"messages"}),
    "a message is no JSON": (once(5, is_message, lambda frame: frame.replace(b'{"', b"{{", 1)), {"messages"}),
    **{
        f"a number of message {number} is another": (once(number, is_change, other_number), {"messages", "patch"})
        for number in (2, 4, 7)
    },
}


@pytest.fixture(scope="module")
def tampered_runs(server, tmp_path_factory):
    def run(name):
        change = TAMPERINGS[name][0]
        # A fault that only the end shows does not end the load: it goes on for a moment after the change, and then stops.
        changed, tampered = 0, threading.Event() if "message " in name and "JSON" not in name else None

        def tamper(frame):
            nonlocal changed
            result = change(frame)
            changed += result != frame
            if tampered and (changed >= 5 or changed and "number" in name):
                tampered.set()
            return result

        with Tampering(server, tamper) as proxy:
            return run_monkey(
                tmp_path_factory.mktemp("tampered"), proxy, "--scenario", "watch,cart", *SMALL, "--rate", 300,
                "--duration", "15s", *UNTIL_FOUND, "--shoppers", 12, "--connections", 4, "--seed", 2, code=None,
                until=tampered)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        runs = {name: pool.submit(run, name) for name in TAMPERINGS}
        return {name: run.result() for name, run in runs.items()}


@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_tampering_is_found(tampered_runs, tampering):
    run = tampered_runs[tampering]
    assert run.code == 1, run
    assert TAMPERINGS[tampering][1] >= {violation["check"] for violation in run.violations}, run


def judge(record) -> subprocess.CompletedProcess:
    return subprocess.run(
        command(None, "--judge", record), capture_output=True, text=True, timeout=RUN_SECONDS, env=environment())


def test_a_recorded_run_is_judged_again_without_a_server(server, monkey, tmp_path):
    record = tmp_path / "run.jsonl"
    run = monkey(server, "--scenario", "watch,cart,merchant,browse", "--chaos", *SHORT, *SMALL, "--record", record)
    judged = judge(record)
    assert judged.returncode == 0, judged
    assert judged.stdout.splitlines()[0] == run.output.splitlines()[2]
    lines = record.read_text().splitlines()
    assert "--scenario watch,cart,merchant,browse" in json.loads(lines[0])["command"]

    # A count that was answered, and a cart's event in the log.
    number = next(n for n, line in enumerate(lines) if '"call":["CART.ADD"' in line and '"reply":1' in line)
    record.write_text("\n".join(
        line.replace('"reply":1', '"reply":7') if n == number else line for n, line in enumerate(lines)) + "\n")
    judged = judge(record)
    assert judged.returncode == 1 and "cart.add was answered 7" in judged.stdout, judged

    record.write_text("\n".join(lines[:-1]) + "\n")
    judged = judge(record)
    assert judged.returncode == 3 and f"line {len(lines)}: " in judged.stderr, judged


def test_a_record_of_a_failed_run_gives_the_same_findings(server, monkey, tmp_path):
    record = tmp_path / "run.jsonl"
    with Tampering(server, once(40, is_count, lambda frame: b":%d\r\n" % (int(frame[1:]) + 1))) as proxy:
        run = monkey(proxy, "--scenario", "cart", *SHORT, *SMALL, "--record", record, code=1)
    judged = judge(record)
    assert judged.returncode == 1, judged
    assert run.violations[0]["message"] in judged.stdout, judged


@pytest.mark.parametrize("options, message", [
    (["--judge", "no-such-file"], "no-such-file cannot be read"),
    (["--judge", "x", "--rate", 5], "--judge judges a record, and takes no other option"),
])
def test_a_record_that_cannot_be_judged_is_an_error(options, message):
    judged = subprocess.run(command(None, *options), capture_output=True, text=True, env=environment())
    assert judged.returncode == 3 and message in judged.stderr


def test_a_proxy_that_changes_nothing_makes_no_difference(server, monkey):
    with Tampering(server) as proxy:
        run = monkey(proxy, "--scenario", "watch,cart", "--chaos", *SHORT, *SMALL)
    assert run.violations == []


def test_a_client_that_ended_its_side_is_owed_every_reply(server, monkey):
    with Tampering(server, ends_with_client=True) as proxy:
        run = monkey(proxy, "--scenario", "cart", "--chaos", "--rate", 1000, "--duration", "1500ms", "--shoppers", 60,
                     "--connections", 8, "--seed", 3, code=1)
    assert run.faults["half-close"] > 0
    assert {violation["check"] for violation in run.violations} == {"half-close"}, run


# --- a server with a planted fault

CART_CHECKS = {"answer", "count", "cart", "order", "log"}

# Each with its load, the checks of which one finds it, and those that may also fail.
FAULTS = {
    "drop-write": ("drop-write:20", ["--scenario", "cart"], {"count", "cart"}, CART_CHECKS),
    "double-write": ("double-write:20", ["--scenario", "cart"], {"count", "cart"}, CART_CHECKS),
    # A menu so small that it is complete before the first event is skipped.
    "skip-event of carts": (
        "skip-event:10", ["--scenario", "promos", "--outlets", 1, "--items", 1], {"count"}, {"count"}),
    "skip-event of menus": (
        # As many shoppers as outlets: all are owners, and nobody fills a cart.
        "skip-event:30", ["--scenario", "home,merchant", "--items", 8, "--shoppers", 8], {"home"}, {"home", "messages", *CART_CHECKS}),
    "wrong-patch since": ("wrong-patch:4", ["--scenario", "fling=2,merchant=1"], {"patch"}, {"patch", "home"}),
    "wrong-patch to subscribers": ("wrong-patch:6", ["--scenario", "watch"], {"patch"}, {"patch", "messages"}),
    "lost-id": ("lost-id:3", ["--scenario", "cart", "--chaos"], {"log"}, {"log", "duplicate", *CART_CHECKS}),
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
                    tmp_path_factory.mktemp("faulty"), faulty, "--rate", 400, "--duration", "15s", *UNTIL_FOUND, *options,
                    *([] if "--shoppers" in options else ["--shoppers", 40]), "--connections", 8, "--seed", 3, code=None)

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
