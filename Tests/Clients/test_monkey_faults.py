"""`tiffin-monkey` finds what a proxy tampers with and every fault planted in a server; runs judged from records."""

import concurrent.futures
import json
import subprocess
import threading

import pytest

import tiffin
from monkeys import (
    RUN_SECONDS, SHORT, SMALL, UNTIL_FOUND, Tampering, command, environment, is_change, is_count, is_later_message,
    is_message, once, other_number, run_monkey,
)
from tiffin import Server

# One load at a time.
pytestmark = pytest.mark.xdist_group("loads")

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
    def run(name, folder):
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
                folder, proxy, "--scenario", "watch,cart", *SMALL, "--rate", 300,
                "--duration", "15s", *UNTIL_FOUND, "--shoppers", 12, "--connections", 4, "--seed", 2, code=None,
                until=tampered)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        # Folders are made by one thread: two would both make the one that they are in.
        runs = {name: pool.submit(run, name, tmp_path_factory.mktemp("tampered")) for name in TAMPERINGS}
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
        run = monkey(proxy, "--scenario", "cart", "--chaos", "--rate", 1000, "--duration", "15s", *UNTIL_FOUND,
                     "--shoppers", 60, "--connections", 8, "--seed", 3, code=1)
    assert run.faults["half-close"] > 0
    assert {violation["check"] for violation in run.violations} == {"half-close"}, run


# --- a server with a planted fault

CART_CHECKS = {"answer", "count", "cart", "order", "log"}

# Each with its load, the checks of which one finds it, and those that may also fail.
FAULTS = {
    # Only the end shows it, and waits for it: so this one is the first to begin, and its load is short.
    "lost-deadline": ("lost-deadline:2", ["--scenario", "kitchen", "--duration", "2s"], {"deadline"}, {"deadline"}),
    "drop-write": ("drop-write:20", ["--scenario", "cart"], {"count", "cart"}, CART_CHECKS),
    "double-write": ("double-write:20", ["--scenario", "cart"], {"count", "cart"}, CART_CHECKS),
    # A menu so small that it is complete before the first event is skipped.
    "skip-event of carts": (
        "skip-event:10", ["--scenario", "promos", "--outlets", 1, "--items", 1], {"count"}, {"count"}),
    "skip-event of menus": (
        # As many shoppers as outlets: all are owners, and nobody fills a cart. Their menus, with groups, are complete then.
        "skip-event:60", ["--scenario", "home,merchant", "--items", 8, "--shoppers", 8], {"home"}, {"home", "messages", *CART_CHECKS}),
    "wrong-patch since": ("wrong-patch:4", ["--scenario", "fling=2,merchant=1"], {"patch"}, {"patch", "home"}),
    "wrong-patch to subscribers": ("wrong-patch:6", ["--scenario", "watch"], {"patch"}, {"patch", "messages"}),
    "wrong-price of carts": ("wrong-price:9", ["--scenario", "cart"], {"cart", "answer"}, CART_CHECKS),
    "wrong-price of quotes": (
        "wrong-price:9", ["--scenario", "kitchen"], {"quote", "answer", "cart"}, {"quote", "patch", "messages", *CART_CHECKS}),
    "sold-out": ("sold-out:1", ["--scenario", "cart=3,merchant=2"], {"answer", "cart"}, CART_CHECKS),
    "wrong-charge": (
        "wrong-charge:9", ["--scenario", "kitchen"], {"quote", "answer", "order", "orders"}, {"quote", "orders", "patch", "messages", *CART_CHECKS}),
    "wrong-rate": (
        "wrong-rate:2", ["--scenario", "kitchen"], {"quote", "answer", "order", "orders"}, {"quote", "orders", "patch", "messages", *CART_CHECKS}),
    "wrong-part": (
        "wrong-part:2", ["--scenario", "kitchen"], {"quote", "answer"}, {"quote", "patch", "messages", *CART_CHECKS}),
    "wrong-discount": (
        "wrong-discount:9", ["--scenario", "kitchen"], {"quote", "answer"}, {"quote", "patch", "messages", *CART_CHECKS}),
    "wrong-filter": ("wrong-filter:9", ["--scenario", "browse"], {"page"}, {"page", "answer"}),
    "lost-row": ("lost-row:3", ["--scenario", "kitchen"], {"orders"}, {"orders"}),
    "wrong-state": (
        "wrong-state:3", ["--scenario", "kitchen"], {"order"}, {"order", "kitchen", "quote", "patch", "log"}),
    "wrong-change": (
        "wrong-change:3", ["--scenario", "kitchen"], {"order"}, {"order", "kitchen", "orders", "quote", "patch", "log"}),
    "lost-claim": (
        "lost-claim:2", ["--scenario", "kitchen", "--duration", "4s"], {"stock", "cart", "quote"}, {"stock", *CART_CHECKS, "quote", "patch", "messages"}),
    "lost-return": (
        "lost-return:1", ["--scenario", "kitchen", "--duration", "4s"], {"stock"}, {"stock"}),
    "double-takings": (
        "double-takings:2", ["--scenario", "kitchen", "--duration", "2s"], {"takings"}, {"takings"}),
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
                    tmp_path_factory.mktemp("faulty"), faulty, "--rate", 400, *UNTIL_FOUND, *options,
                    *([] if "--duration" in options else ["--duration", "40s"]),
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
