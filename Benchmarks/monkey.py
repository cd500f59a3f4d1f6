"""The load generator: compared with redis-benchmark, in its scenarios, and compared with an earlier run: `Scripts/bench monkey`."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from harness import STEP_SECONDS, checked, in_turn, per_second, put_kitchen, redis_benchmark, tiffin_server
from tiffin import binary

BASELINE = Path(__file__).resolve().parent / "baselines" / "mixed.json"
# Two runs on the same machine differ by less than this if nothing has changed.
REGRESS = "30%"
MIXED_RATE = 4_000
SCENARIO_RATE = 2_000
SCENARIOS = ("fling", "chips", "promos", "desserts", "cart", "browse", "hot", "watch", "merchant", "kitchen", "monkey")
OUTCOMES = {0: "held", 1: "CHECK FAILED", 2: "worse than the baseline", 4: "outcome unknown"}


def monkey() -> str:
    return os.environ.get("TIFFIN_MONKEY", str(Path(binary()).parent / "tiffin-monkey"))


def run_monkey(*options) -> tuple[dict, str]:
    """Its report, and what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "report.json")
        run = subprocess.run(
            [monkey(), "--quiet", "--json", str(file), *map(str, options)], capture_output=True, text=True,
            timeout=STEP_SECONDS)
        if run.returncode not in OUTCOMES:
            raise RuntimeError(f"tiffin-monkey ended with {run.returncode}: {run.stderr[-500:]}")
        if run.returncode == 1:
            raise RuntimeError(f"the monkey caught the server: {run.stdout[-2000:]}")
        return json.loads(file.read_text()), run.stdout


def accepted_per_second(report) -> float:
    return sum(call["accepted"] for call in report["calls"] if call["name"] in ("reads", "writes")) / report["seconds"]


def measure_monkey(report, rounds, quick):
    against_redis_benchmark(report, rounds, quick)
    scenarios(report, quick)
    mixed(report, quick)


def against_redis_benchmark(report, rounds, quick):
    report.title("tiffin-monkey compared with redis-benchmark: the same commands, closed loop, 50 connections, oracle on")
    seconds = 1 if quick else 5
    rows = [("", "tiffin-monkey", "redis-benchmark", "ratio")]
    verdicts = []
    with tiffin_server() as (server, _), server.client() as client:
        # As many items as one of the monkey's outlets, so that homes have the same size.
        put_kitchen(client, items=40)
        checked(client.pipeline(("CART.ADD", f"cart-{n:012}", "kitchen", "dish-0", 3) for n in range(1_000)))
        for scenario, plenty, command in [
            ("add", 100_000, ["CART.ADD", "cart-__rand_int__", "kitchen", "dish-0", "1", "ID", "id-__rand_int__"]),
            ("count", 300_000, ["CART.COUNT", "cart-__rand_int__"]),
            ("home", 200_000, ["OUTLET.HOME", "kitchen"]),
        ]:
            requests = plenty // 10 if quick else plenty
            median = in_turn(rounds, {
                "monkey": lambda: accepted_per_second(run_monkey(
                    "--server", f"127.0.0.1:{server.port}", "--closed", "--scenario", scenario, "--duration",
                    f"{seconds}s")[0]),
                "peer": lambda: redis_benchmark(server.port, requests, 50, 1, command, 100_000),
            })
            ratio = median["monkey"] / median["peer"]
            rows.append((command[0], *map(per_second, median.values()), f"{ratio:.2f}"))
            verdicts.append((f"{command[0]}, to redis-benchmark", ratio, 0.7))
    report.table(rows)
    for verdict in verdicts:
        report.verdict(*verdict)


def milliseconds(call, quantile) -> str:
    return f"{call['responseTime'][quantile] / 1e6:.2f}" if call["accepted"] else "–"


def row_of(name, result):
    calls = {call["name"]: call for call in result["calls"]}
    seconds = result["seconds"]
    cells = [name]
    for flow in ("writes", "reads"):
        call = calls[flow]
        cells += [per_second(call["accepted"] / seconds), milliseconds(call, "p50"), milliseconds(call, "p99")]
    made = sum(check["count"] for check in result["checks"]["made"])
    return (*cells, f"{made:,}", str(sum(fault["count"] for fault in result["faults"])))


def scenarios(report, quick):
    seconds = 1 if quick else 10
    report.title(f"Its scenarios, {SCENARIO_RATE:,} commands per second by plan, {seconds} s each; times in ms from the planned send")
    rows = [("", "writes", "p50", "p99", "reads", "p50", "p99", "checks", "faults")]
    load = ("--rate", SCENARIO_RATE, "--duration", f"{seconds}s", "--seed", 1)
    with tiffin_server() as (server, _):
        address = ("--server", f"127.0.0.1:{server.port}")
        for scenario in SCENARIOS:
            rows.append(row_of(scenario, run_monkey(*address, *load, "--scenario", scenario)[0]))
        rows.append(row_of("monkey, --chaos", run_monkey(*address, *load, "--chaos")[0]))
    started = ("--start", "--tiffin", binary())
    rows.append(row_of("monkey, --start --chaos", run_monkey(*started, *load, "--chaos")[0]))
    size = ("--outlets", 50, "--items", 5_000, "--carts", 5_000) if quick else ()
    rows.append(row_of("stress", run_monkey(*started, *load, "--scenario", "stress", *size)[0]))
    report.table(rows)
    report.line("  every check held in every scenario")


def mixed(report, quick):
    seconds = 12 if quick else 30
    report.title(f"The mixed load, {MIXED_RATE:,} commands per second for {seconds} s, compared with the saved run")
    keeps = os.environ.get("TIFFIN_KEEP_BASELINE") == "1"
    baseline = () if quick or keeps or not BASELINE.exists() else ("--baseline", BASELINE, "--regress", REGRESS)
    with tiffin_server() as (server, _):
        result, printed = run_monkey(
            "--server", f"127.0.0.1:{server.port}", "--rate", MIXED_RATE, "--duration", f"{seconds}s", "--seed", 1,
            *baseline)
    for line in printed.strip().splitlines():
        report.line(f"  {line}".rstrip())
    if baseline:
        worse = sum(not judgement["held"] for judgement in result["judgements"])
        report.verdict("figures worse than those of the kept run", worse, 0, at_least=False)
    elif not quick:
        BASELINE.parent.mkdir(exist_ok=True)
        BASELINE.write_text(json.dumps(result, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
        report.line("  this run is saved as the baseline")
