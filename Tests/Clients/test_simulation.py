"""Whole servers on a simulated network, clock and log: see docs/reliability.md."""

import subprocess
from pathlib import Path

from tiffin import binary

SIMULATE = Path(binary()).with_name("tiffin-simulate")


def simulate(*options) -> str:
    run = subprocess.run([SIMULATE, *map(str, options)], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_every_answer_agrees_with_the_model():
    simulate("--seeds", 30)


def test_a_seed_is_one_run():
    for seed in 3, 4:
        trace = simulate("--first", seed, "--trace")
        assert len(trace.splitlines()) > 100
        assert trace == simulate("--first", seed, "--trace")
