"""Plants mutants in a copy of the checkout, and looks for those that no test notices.

    Scripts/mutations --count 500 --seed 7

The copy stays in .build/mutations. All mutants are built into it at once (mutants.py); those that do not compile are left
out. Then each suite of tests runs once, to see which mutants it reaches, and each mutant is tried on those that reach it,
those of its module first, until a test fails. What survives is printed, and has to be explained in survivors.txt.
"""

import argparse
import concurrent.futures
import contextlib
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import mutants
import tiffin

CHECKOUT = Path(__file__).resolve().parents[2]
COPY = CHECKOUT / ".build" / "mutations"
EXPLAINED = Path(__file__).with_name("survivors.txt")
MODULES = {
    "Domain": "Sources/Model/Domain", "EventLog": "Sources/Model/EventLog",
    "CommandHandling": "Sources/Model/CommandHandling", "PostgresStorage": "Sources/Storage/PostgresStorage",
}
# So many more are drawn: one in twenty does not compile, as a type does not fit, or overlaps another.
SURPLUS = 1.2
ROUNDS = 30
# What a suite may take with a mutant, for each second that it takes without, and besides.
PATIENCE, PATIENCE_SECONDS = 4, 20
# Where no Swift test notices, the tests with clients that are about a folder.
CLIENT_TESTS = {
    "Domain/Cart": ["carts", "quotes", "options"], "Domain/Menu": ["options", "stock", "feeds"],
    "Domain/Order": ["orders", "order_changes"], "Domain/Outlet": ["hours", "ahead", "services"],
    "Domain/Pricing": ["pricing", "quotes"], "Domain/Promotions": ["promotions"], "Domain/Shared": ["texts", "hours"],
    "Domain/Supply": ["stock"],
    "EventLog/Codecs": ["upgrades", "layout", "schemas"], "EventLog/Documents": ["real_clients", "log_filters"],
    "EventLog/Log": ["log_filters", "audit"], "EventLog/Receipts": ["receipts", "order_proofs"],
    "EventLog/Signing": ["signed"], "EventLog/Tree": ["tree", "receipts"],
    "PostgresStorage/Archive": ["archive"], "PostgresStorage/Audit": ["deeds", "audit"],
    "PostgresStorage/Backup": ["backup_folder"],
    "PostgresStorage/Databases": ["databases"], "PostgresStorage/Deeds": ["deeds", "silent_database"],
    "PostgresStorage/ReadModels": ["large_menus", "rebuild", "derived"], "PostgresStorage/Schema": ["upgrades", "layout", "audit"],
    "PostgresStorage/Trouble": ["silent_database"], "PostgresStorage/Users": ["users"],
}
SIMULATION = "tiffin-simulate"
SIMULATED_SEEDS = 6
FAILURE = "✘".encode()
SURVIVES = "no test"
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
    few = mutants.apart(random.Random(seed).sample(found, min(len(found), int(count * SURPLUS))))
    for number, mutant in enumerate(few):
        mutant.number = number
    return few


def copy(planted):
    """The checkout as git knows it, with these mutants. Only what differs is written: the rest is not built again."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=CHECKOUT,
                           capture_output=True, check=True).stdout.split(b"\0")
    paths = {name: CHECKOUT / name for name in filter(None, map(os.fsdecode, names))}
    files = {name: path for name, path in paths.items() if path.is_file()}
    texts = {name: path.read_bytes() for name, path in files.items()}
    # A condition that is always true is a warning.
    texts["Package.swift"] = texts["Package.swift"].replace(b"    .treatAllWarnings(as: .error),\n", b"")
    for module, folder in MODULES.items():
        own = [mutant for mutant in planted if mutant.module == module]
        for name in {mutant.path for mutant in own}:
            here = [mutant for mutant in own if mutant.path == name]
            texts[name] = mutants.with_mutants(texts[name].decode(), here).encode()
        texts[f"{folder}/Mutants.swift"] = mutants.declarations(own, 1 + max(mutant.number for mutant in planted)).encode()
    COPY.mkdir(parents=True, exist_ok=True)
    for top in COPY.iterdir():
        for left in [top, *top.rglob("*")] if top.name != ".build" else []:
            if left.is_file() and str(left.relative_to(COPY)) not in texts:
                left.unlink()
    for name, text in texts.items():
        path = COPY / name
        if not path.exists() or path.read_bytes() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
        if name in files:
            path.chmod(files[name].stat().st_mode)
    # Links to folders, which are no files.
    for name, link in paths.items():
        if link.is_symlink() and not (COPY / name).is_symlink():
            (COPY / name).symlink_to(link.readlink())


def build(planted):
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
            copy(planted)
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


class Suite:
    """Tests that run together: what they take without a mutant, and the mutants that they reach."""

    def __init__(self, name, command):
        self.name, self._command = name, command
        file = COPY / ".build" / "reached" / name
        file.parent.mkdir(exist_ok=True)
        file.unlink(missing_ok=True)
        began = time.monotonic()
        with self._started(REACHED_MUTANTS=str(file)) as process:
            output = process.communicate()[0].decode(errors="replace")
        self.seconds = time.monotonic() - began
        if process.returncode:
            sys.exit(f"{name} fails without a mutant:\n{output[-5000:]}")
        self.reached = {number for number, mark in enumerate(file.read_bytes() if file.exists() else b"") if mark}

    def notices(self, mutant) -> bool:
        """Whether a test fails, or hangs, where there is a mutant."""
        deadline = time.monotonic() + PATIENCE_SECONDS + PATIENCE * self.seconds
        with self._started(CHOSEN_MUTANT=str(mutant.number)) as process:
            os.set_blocking(process.stdout.fileno(), False)
            while process.poll() is None and time.monotonic() < deadline:
                # The first failure is enough.
                if FAILURE in (process.stdout.read() or b""):
                    return True
                time.sleep(0.02)
            return process.poll() != 0

    @contextlib.contextmanager
    def _started(self, **environment):
        """A run of the tests; it is ended with all that it started."""
        process = subprocess.Popen(
            self._command, cwd=COPY, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment})
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()


class Tests:
    """The suites of the copy. Those with clients are long, and run only where a mutant needs them."""

    def __init__(self, planted):
        built = subprocess.run([*BUILD, "--show-bin-path"], capture_output=True, text=True, check=True).stdout.strip()
        self._folder, self._clients, self._lock = Path(built), {}, threading.Lock()
        swift = [self._folder / "tiffinPackageTests.xctest", "--testing-library", "swift-testing"]
        listed = subprocess.run([*swift, "--list-tests"], capture_output=True, text=True, check=True).stdout
        names = sorted({line.partition("/")[0] for line in listed.splitlines() if "/" in line})
        commands = [(name, [*swift, "--filter", f"^{re.escape(name)}/"]) for name in names]
        commands.append((SIMULATION, [self._folder / SIMULATION, "--seeds", str(SIMULATED_SEEDS), "--brief"]))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
            self._suites = sorted(workers.map(lambda each: Suite(*each), commands), key=lambda suite: suite.seconds)
        reached = set().union(*(suite.reached for suite in self._suites)) & {mutant.number for mutant in planted}
        tell(f"{len(self._suites)} suites reach {len(reached)} of {len(planted)} mutants")

    def killer(self, mutant):
        """The name of a suite that notices a mutant, of those that reach it; None if none does."""
        # Those of its own module are the most likely to.
        suites = sorted(self._suites, key=lambda suite: not suite.name.startswith(mutant.module))
        files = [name for folder, names in CLIENT_TESTS.items() if folder in mutant.path for name in names]
        for suite in itertools.chain(suites, map(self._client_tests, files)):
            if mutant.number in suite.reached and suite.notices(mutant):
                return suite.name
        return None

    def _client_tests(self, name) -> Suite:
        with self._lock:
            if name not in self._clients:
                self._clients[name] = Suite(name, [
                    "env", f"TIFFIN_BINARY={self._folder / 'tiffin'}", f"TIFFIN_SHARED_DATA={tiffin.SHARED_DATA}",
                    sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-x", f"Tests/Clients/test_{name}.py"])
            return self._clients[name]


def explained() -> set:
    """The survivors of which it is known that they change nothing that anybody could see."""
    lines = EXPLAINED.read_text().splitlines()
    return {line.partition(" — ")[0] for line in lines if line and not line.startswith("#")}


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
    planted = chosen(options.seed, options.count)
    build(planted)
    planted = planted[:options.count]
    tests = Tests(planted)
    if options.only:
        wanted = set(map(int, options.only.split(",")))
        planted = [mutant for mutant in planted if mutant.number in wanted]
    known, deadline = explained(), time.monotonic() + 60 * options.minutes
    tried, survivors = 0, []

    def judge(mutant):
        return tests.killer(mutant) or SURVIVES if time.monotonic() < deadline else None

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        for mutant, killer in zip(planted, workers.map(judge, planted)):
            tried += killer is not None
            if killer == SURVIVES:
                survivors.append(identity(mutant))
                tell(f"{mutant.number} survives: {survivors[-1]}")
    new = [name for name in survivors if name not in known]
    tell(f"{tried - len(survivors)} of {tried} mutants were noticed, {100 * (1 - len(survivors) / max(1, tried)):.1f} %; "
         f"{len(survivors) - len(new)} survivors are explained, {len(new)} are not; {len(planted) - tried} were not tried")
    sys.exit(1 if new else 0)


if __name__ == "__main__":
    main()
