"""Plants mutants in a copy of the checkout, and looks for those that no test notices.

    Scripts/mutations --count 500 --seed 7

The copy stays in .build/mutations. All mutants are built into it at once (mutants.py); those that do not compile are left
out. Then each suite of tests runs once, to see which mutants it reaches, and each mutant is tried on those that reach it,
the fastest first, until a test fails. What survives is printed, and has to be explained in survivors.txt.
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import mutants
import tiffin
from mutants import Mutant

CHECKOUT = Path(__file__).resolve().parents[2]
COPY = CHECKOUT / ".build" / "mutations"
EXPLAINED = Path(__file__).with_name("survivors.txt")
MODULES = {
    "Domain": "Sources/Model/Domain", "EventLog": "Sources/Model/EventLog",
    "CommandHandling": "Sources/Model/CommandHandling", "PostgresStorage": "Sources/Storage/PostgresStorage",
}
# A third of the mutants does not compile: a name that is not there, or a type that does not fit.
SURPLUS = 1.6
ROUNDS = 30
# What a suite may take with a mutant, for each second that it takes without, and besides.
PATIENCE, PATIENCE_SECONDS = 8, 20
# Suites that are fast are tried in one process, up to so many seconds.
TOGETHER_SECONDS = 4
# Where no Swift test notices, the tests with clients that are about a folder, for as long as they may take.
CLIENT_TESTS = {
    "Domain/Cart": ["carts", "quotes", "options"], "Domain/Menu": ["options", "stock", "feeds"],
    "Domain/Order": ["orders", "order_changes"], "Domain/Outlet": ["hours", "ahead", "services"],
    "Domain/Pricing": ["pricing", "quotes"], "Domain/Promotions": ["promotions"], "Domain/Shared": ["texts", "hours"],
    "Domain/Supply": ["stock"],
    "EventLog/Codecs": ["upgrades", "layout", "schemas"], "EventLog/Documents": ["real_clients", "log_filters"],
    "EventLog/Log": ["log_filters", "audit"], "EventLog/Receipts": ["receipts", "order_proofs"],
    "EventLog/Signing": ["signed"], "EventLog/Tree": ["tree", "receipts"],
    "PostgresStorage/Archive": ["archive"], "PostgresStorage/Backup": ["backup_folder"],
    "PostgresStorage/Databases": ["databases"], "PostgresStorage/Deeds": ["deeds", "silent_database"],
    "PostgresStorage/ReadModels": ["large_menus", "rebuild", "derived"], "PostgresStorage/Schema": ["upgrades", "layout"],
    "PostgresStorage/Trouble": ["silent_database"], "PostgresStorage/Users": ["users"],
}
CLIENT_SECONDS = 400
SIMULATION = "tiffin-simulate"
SIMULATED_SEEDS = 6
FAILURE = "✘".encode()
BUILD = ["swift", "build", "--package-path", COPY]


def tell(line):
    print(line, flush=True)


def chosen(seed, count) -> list:
    """So many mutants of all modules, and some more, in the order in which they count."""
    found = []
    for module, folder in MODULES.items():
        for path in sorted((CHECKOUT / folder).rglob("*.swift")):
            found += mutants.found_in(module, str(path.relative_to(CHECKOUT)), path.read_text())
    tell(f"{len(found)} changes are possible")
    few = random.Random(seed).sample(found, min(len(found), int(count * SURPLUS)))
    for number, mutant in enumerate(few):
        mutant.number = number
    return few


def copy():
    """The checkout as git knows it, over what was there; what was built stays."""
    COPY.mkdir(parents=True, exist_ok=True)
    for left in COPY.iterdir():
        if left.name != ".build":
            shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=CHECKOUT,
                           capture_output=True, check=True).stdout.split(b"\0")
    for name in filter(None, map(os.fsdecode, names)):
        (COPY / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(CHECKOUT / name, COPY / name, follow_symlinks=False)
    package = COPY / "Package.swift"
    # A condition that is always true is a warning.
    package.write_text(package.read_text().replace("    .treatAllWarnings(as: .error),\n", ""))


def plant(planted, count):
    """Writes the sources with these mutants."""
    for module, folder in MODULES.items():
        own = [mutant for mutant in planted if mutant.module == module]
        for path in sorted((CHECKOUT / folder).rglob("*.swift")):
            name = str(path.relative_to(CHECKOUT))
            here = [mutant for mutant in own if mutant.path == name]
            text = mutants.with_mutants(path.read_text(), here)
            for mutant in own:
                if mutant.path == name and mutant not in here:
                    planted.remove(mutant)
            write(COPY / name, text)
        write(COPY / folder / "Mutants.swift", mutants.declarations([each for each in planted if each.module == module], count))


def write(path, text):
    """Only what changed is written: the rest is not built again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def build(planted, count):
    """Builds the copy; leaves out what does not compile, at once what did not when the same mutants were built before."""
    compiled = COPY / ".build" / "compiled.json"
    names = list(map(str, planted))
    with contextlib.suppress(OSError, ValueError):
        before = json.loads(compiled.read_text())
        if before["planted"] == names:
            planted[:] = [each for each in planted if each.number in before["compiled"]]
    # Module by module, as long as there are mistakes: then the tests, which take longest.
    for part in (*(["--target", module] for module in MODULES), ["--build-tests"]):
        for number in range(1, ROUNDS + 1):
            plant(planted, count)
            run = subprocess.run([*BUILD, *part], capture_output=True, text=True)
            if run.returncode == 0:
                break
            wrong = set()
            for path, line in set(re.findall(r"^(\S+\.swift):(\d+):\d+: error:", run.stdout + run.stderr, re.M)):
                wrong.update(each.number for each in to_blame(planted, path, int(line)))
            if not wrong:
                sys.exit(run.stdout[-4000:] + run.stderr[-4000:])
            planted[:] = [each for each in planted if each.number not in wrong]
        else:
            sys.exit(f"{part[-1]} does not build after {ROUNDS} rounds")
    compiled.write_text(json.dumps({"planted": names, "compiled": [each.number for each in planted]}))
    tell(f"{len(planted)} mutants were built")


def to_blame(planted, path, line) -> list:
    """The mutants of a line, or the nearest one before it: an expression may begin there."""
    if path.endswith("/Mutants.swift"):
        names = Path(path).read_text().split("\n")[line - 1]
        return [each for each in planted if each.module in Path(path).parts and f"mutated({each.number})" in names]
    here = [each for each in planted if path.endswith("/" + each.path)]
    exact = [each for each in here if each.line == line]
    return exact or sorted(here, key=lambda each: abs(each.line - line))[:1]


class Tests:
    """The suites of the copy: each with what it takes, and the mutants that it reaches."""

    def __init__(self, planted, count):
        built = subprocess.run([*BUILD, "--show-bin-path"], capture_output=True, text=True, check=True).stdout.strip()
        self._program = Path(built) / "tiffinPackageTests.xctest"
        self._simulation = Path(built) / SIMULATION
        self._folder = COPY / ".build" / "reached"
        self._folder.mkdir(exist_ok=True)
        listed = subprocess.run([self._program, "--testing-library", "swift-testing", "--list-tests"],
                                capture_output=True, text=True, check=True).stdout
        suites = sorted({line.partition("/")[0] for line in listed.splitlines() if "/" in line})
        self.seconds, self.reached = {}, {}
        numbers = {mutant.number for mutant in planted}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
            for suite, seconds, reached in workers.map(lambda suite: self._reach(suite, count), [*suites, SIMULATION]):
                if found := numbers & reached:
                    self.seconds[suite], self.reached[suite] = seconds, found
        tell(f"{len(self.seconds)} of {len(suites) + 1} suites reach "
             f"{len(set().union(*self.reached.values()))} of {len(planted)} mutants")

    def _command(self, suites):
        if suites == [SIMULATION]:
            return [self._simulation, "--seeds", str(SIMULATED_SEEDS), "--brief"]
        names = "|".join(map(re.escape, suites))
        return [self._program, "--testing-library", "swift-testing", "--filter", f"^({names})/"]

    def _reach(self, suite, count):
        file = self._folder / suite
        file.unlink(missing_ok=True)
        began = time.monotonic()
        run = subprocess.run(self._command([suite]), cwd=COPY, env={**os.environ, "REACHED_MUTANTS": str(file)},
                             capture_output=True, text=True)
        seconds = time.monotonic() - began
        if run.returncode:
            sys.exit(f"{suite} fails without a mutant:\n{run.stdout[-3000:]}{run.stderr[-3000:]}")
        marks = file.read_bytes() if file.exists() else b""
        return suite, seconds, {number for number, mark in enumerate(marks) if mark}

    def killer(self, mutant):
        """The suites of which one notices a mutant; None if none does."""
        suites = sorted((suite for suite in self.seconds if mutant.number in self.reached[suite]), key=self.seconds.get)
        while suites:
            together = [suites.pop(0)]
            while suites and SIMULATION not in (suites[0], *together) and \
                    sum(map(self.seconds.get, [*together, suites[0]])) < TOGETHER_SECONDS:
                together.append(suites.pop(0))
            patience = PATIENCE_SECONDS + PATIENCE * sum(map(self.seconds.get, together))
            if not self._passes(self._command(together), mutant, patience):
                return together
        for folder, names in CLIENT_TESTS.items():
            files = [COPY / "Tests" / "Clients" / f"test_{name}.py" for name in names]
            command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-x", *files]
            if folder in mutant.path and not self._passes(command, mutant, CLIENT_SECONDS):
                return names
        return None

    def _passes(self, command, mutant, patience) -> bool:
        environment = {"CHOSEN_MUTANT": str(mutant.number), "TIFFIN_BINARY": str(self._program.with_name("tiffin")),
                       "TIFFIN_SHARED_DATA": str(tiffin.SHARED_DATA), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        process = subprocess.Popen(command, cwd=COPY, env={**os.environ, **environment},
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + patience
        os.set_blocking(process.stdout.fileno(), False)
        try:
            while process.poll() is None and time.monotonic() < deadline:
                # The first failure is enough.
                if FAILURE in (process.stdout.read() or b""):
                    return False
                time.sleep(0.02)
            return process.poll() == 0
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def explained() -> dict:
    """The survivors that are known, each with the reason: it changes nothing that anybody could see."""
    entries = {}
    for line in EXPLAINED.read_text().splitlines():
        if line and not line.startswith("#"):
            place, _, reason = line.partition(" — ")
            entries[place] = reason
    return entries


def identity(mutant) -> str:
    """What a mutant is called whatever else changes in its file: the text of its line, not the number."""
    line = (CHECKOUT / mutant.path).read_text().split("\n")[mutant.line - 1].strip()
    return f"{mutant.path}: `{line}`: {mutant.was} → {mutant.becomes}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--minutes", type=float, default=600, help="no further mutant is tried after them")
    parser.add_argument("--only", help="the numbers of mutants, as they were printed")
    options = parser.parse_args()
    tell(f"seed {options.seed}")
    planted, count = chosen(options.seed, options.count), int(options.count * SURPLUS)
    copy()
    build(planted, count)
    planted = planted[:options.count]
    tests = Tests(planted, count)
    if options.only:
        wanted = set(map(int, options.only.split(",")))
        planted = [mutant for mutant in planted if mutant.number in wanted]
    known, deadline, noticed, survivors, killers = explained(), time.monotonic() + 60 * options.minutes, 0, [], {}

    def judge(mutant: Mutant):
        return (mutant, tests.killer(mutant)) if time.monotonic() < deadline else (mutant, "late")

    late = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        for mutant, killer in workers.map(judge, planted):
            if killer == "late":
                late += 1
            elif killer:
                noticed += 1
                killers[identity(mutant)] = killer
            else:
                survivors.append(mutant)
                tell(f"{mutant.number} survives: {identity(mutant)}")
    (COPY / ".build" / "killers.json").write_text(json.dumps(killers, indent=1, ensure_ascii=False))
    new = [mutant for mutant in survivors if identity(mutant) not in known]
    tried = len(planted) - late
    tell(f"{noticed} of {tried} mutants were noticed, {100 * noticed / max(1, tried):.1f} %; {len(survivors) - len(new)} survivors are "
         f"explained, {len(new)} are not" + (f"; {late} were not tried" if late else ""))
    sys.exit(1 if new else 0)


if __name__ == "__main__":
    main()
