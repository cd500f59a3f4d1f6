"""Runs all fault trials in turn, with seeds of its own, for a time.

    Scripts/faults --minutes 30 --seed 7
    Scripts/faults --only power-cuts --cycles 200 --seed 7

A trial that fails prints the command that repeats it, and the others go on.
"""

import argparse
import random
import shutil
import sys
import time
import traceback

import crash
import flips
import histories
import powercuts
import troubles
from forgetful import ForgetfulDisk

# Each with its function, and how many cycles it has in a round.
TRIALS = {
    "crash": (crash.run, 10),
    "power-cuts": (powercuts.run, 10),
    "flips": (flips.run, 20),
    "histories": (histories.run, 12),
    "troubles": (troubles.run, 11),
    "frozen-histories": (histories.run_frozen, 12),
}


def reason_without(name):
    """Why a trial cannot be run here; None if it can."""
    if name == "troubles" and (sys.platform != "linux" or not shutil.which("cc")):
        return "its clock needs a C compiler, and Linux"
    return ForgetfulDisk.reason_without() if name == "power-cuts" else None


def run(minutes, seed, names, tell):
    """Whether no trial failed."""
    deadline, failed, rounds = time.monotonic() + 60 * minutes, [], {}
    chance = random.Random(seed)
    while time.monotonic() < deadline:
        for name in names:
            if time.monotonic() >= deadline:
                break
            trial, cycles = TRIALS[name]
            own = chance.randrange(1_000_000)
            tell(f"{name}, seed {own}")
            try:
                trial(cycles, own, tell=tell)
            except Exception:
                tell(traceback.format_exc())
                failed.append(f"Scripts/faults --only {name} --cycles {cycles} --seed {own}")
                tell(f"failed; again: {failed[-1]}")
            rounds[name] = rounds.get(name, 0) + cycles
    tell("\n" + ", ".join(f"{count} cycles of {name}" for name, count in rounds.items()) + f": {len(failed)} rounds failed")
    for command in failed:
        tell(command)
    return not failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--only", choices=TRIALS, help="one trial, once, with this seed itself")
    parser.add_argument("--cycles", type=int, help="of that trial")
    options = parser.parse_args()
    tell = lambda line: print(line, flush=True)
    tell(f"seed {options.seed}")
    names = [options.only] if options.only else list(TRIALS)
    for name in list(names):
        if reason := reason_without(name):
            tell(f"{name} is left out: {reason}")
            names.remove(name)
    if not options.only:
        sys.exit(0 if run(options.minutes, options.seed, names, tell) else 1)
    for name in names:
        trial, cycles = TRIALS[name]
        trial(options.cycles or cycles, options.seed, tell=tell)


if __name__ == "__main__":
    main()
