"""Power cuts: the disk under PostgreSQL forgets what was not synced, again and again, and all processes end.

    Scripts/faults --only power-cuts --cycles 200 --seed 7

PostgreSQL's files lie on a file system in memory (forgetful.c). In each cycle its power is lost at some call that
changes or syncs a file: while clients write, while PostgreSQL recovers from the cut before, or while its cluster is
made. What was not synced by then is gone, or is there in part: some pages, some of them torn, and names up to some
change. Then everything is started again. The log must have all that was acknowledged exactly once, and all answers must
follow from it. A seed always draws the same cuts; what is written by then depends on the machine.
"""

import argparse
import contextlib
import ctypes
import os
import random
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import tiffin
import trials
from forgetful import ForgetfulDisk
from tiffin import Server, fresh_data_dir, private_cluster, put_open_outlet, sql, wait_until
from trials import Deck, check, summarize
from writers import MENU

# How long changes of files are waited for before the power is cut all the same.
CHANGES_SECONDS = 3
# A cut comes at one of the next so many changes: while clients write, while PostgreSQL starts and recovers (the first of
# which are about its lock), and while a cluster is made.
UNDER_LOAD, RECOVERY, CREATION = [400], [12, 50, 300], [8_000]


# What becomes this process's child when its parent is killed. (pg_ctl is its child in any case, and waited for.)
ORPHANS = {"postgres", "initdb", "sh"}


@contextlib.contextmanager
def adopting_orphans():
    """What others started and left behind is this process's to collect. The system's first process may take its time."""
    prctl, set_child_subreaper = ctypes.CDLL(None).prctl, 36
    check(prctl(set_child_subreaper, 1, 0, 0, 0) == 0, "orphans cannot be adopted")
    try:
        yield
    finally:
        prctl(set_child_subreaper, 0, 0, 0, 0)


# --- where it happens


class Stage(trials.Stage):
    """A server whose database lies on a forgetful disk."""

    def __init__(self, stack, environment):
        super().__init__()
        self.environment = environment
        self.disk = stack.enter_context(ForgetfulDisk.mounted())

    def servers(self):
        return [self.server]

    def cut(self, chance, among, is_late=lambda: False):
        """Loses the power at one of the next changes, or when it is late, and ends whoever used the disk. Returns what
        was lost."""
        keep = chance.choice(["nothing", "some", "some"])
        self.disk.lose_power(keep, chance.randrange(1 << 32), chance.randint(1, chance.choice(among)))
        with contextlib.suppress(TimeoutError):
            wait_until(lambda: not self.disk.has_power() or is_late(), "a change", seconds=CHANGES_SECONDS, every=0.001)
        if self.disk.has_power():
            self.disk.lose_power(keep)
        self.end(chance)
        loss = self.disk.loss()
        self.disk.restore_power()
        return loss

    def end(self, chance):
        raise NotImplementedError

    def end_users(self):
        """SIGKILL for every process that works on the disk, until there is none, not even in the system's table: to
        PostgreSQL it would be one that runs."""
        def is_over():
            found = []
            for folder in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):
                    name, _, words = (folder / "stat").read_text(errors="replace").partition(" (")[2].rpartition(") ")
                    pid, state, parent = int(folder.name), *words.split()[:2]
                    is_orphan = int(parent) == os.getpid() and name in ORPHANS
                    if is_orphan and state == "Z":
                        os.waitpid(pid, os.WNOHANG)
                        found.append(pid)
                    elif name != "forgetful" and self.is_used_by(folder, is_ending=is_orphan):
                        found.append(pid)
            trials.send_signal(signal.SIGKILL, *found)
            return not found

        wait_until(is_over, "the end of the processes on the disk")

    def is_used_by(self, process, is_ending):
        try:
            return (self.disk.path.encode() in (process / "cmdline").read_bytes()
                    or os.readlink(process / "cwd").startswith(self.disk.path))
        except OSError:
            # It has no folder any more.
            return is_ending

    def postgres_log(self):
        """The end of PostgreSQL's log, as far as the disk has it."""
        return "\n".join(file.read_text(errors="replace")[-2000:] for file in Path(self.disk.path).glob(self.log_file))

    def checkpoint(self):
        """Has PostgreSQL write all its pages meanwhile, into which the cut comes."""
        def write():
            with contextlib.suppress(RuntimeError, OSError, IndexError, ValueError):
                sql("checkpoint", self.address())

        threading.Thread(target=write, daemon=True).start()


class Private(Stage):
    """A server with its private PostgreSQL: its whole data directory is on the disk."""

    log_file = "*/data/postgres.log"

    def __init__(self, stack, environment):
        super().__init__(stack, environment)
        self.folder = stack.enter_context(fresh_data_dir(self.disk.path))
        self.server = Server(data_dir=self.folder, environment=environment)
        stack.callback(self.end_users)
        stack.callback(self.server.kill)
        self.server.start()
        self.open()

    def address(self):
        return tiffin.private_address(self.folder)

    def end(self, chance):
        self.server.kill()
        self.server.port = None
        self.end_users()

    def begin(self):
        self.server.launch()

    def start(self):
        self.server.start()


class Own(Stage):
    """A server with a database of one's own, which lies on the disk. The server itself may be on another machine."""

    log_file = "*/log"
    # How it is started.
    settings = {}

    def __init__(self, stack, environment):
        super().__init__(stack, environment)
        self.cluster = stack.enter_context(private_cluster(self.disk.path, fsync="on"))
        stack.callback(self.end_users)
        self.server = Server(database=self.cluster[0], environment=environment).start()
        stack.callback(self.server.kill)
        self.open()

    def address(self):
        return self.cluster[0]

    def end(self, chance):
        if chance.random() < 0.5:
            self.server.kill()
            self.server.port = None
        self.end_users()

    def start_postgres(self):
        # PostgreSQL does not start on an empty lock, which is there if the power went before it was written. For a
        # socket that lies where a start of the machine empties it.
        for file in Path(self.disk.path).glob("*/.s.PGSQL.*"):
            file.unlink()
        for file in Path(self.disk.path).glob("*/data/postmaster.pid"):
            if not file.read_text(errors="replace").strip("\0"):
                file.unlink()
        self.cluster[1](**self.settings)

    def begin(self):
        def start():
            # It ends when the power does.
            with contextlib.suppress(subprocess.SubprocessError, OSError):
                self.start_postgres()

        self.starter = threading.Thread(target=start, daemon=True)
        self.starter.start()

    def start(self):
        if starter := self.__dict__.pop("starter", None):
            starter.join(90)
        self.start_postgres()
        if self.server.process.poll() is not None:
            self.server.start()


class Careless(Own):
    """PostgreSQL does not sync: to show that cuts lose what they should."""

    settings = {"fsync": "off"}

    def __init__(self, stack, environment):
        super().__init__(stack, environment)
        self.cluster[2]()
        self.start()


# --- cuts


@dataclass
class Result:
    """What happened in a cycle."""

    faults: list
    acknowledged: int
    pages: int
    torn: int
    names: int
    # From the start of what was ended, to an accepted write of a new client.
    seconds: float
    lost: int = 0


def cut_under_load(stage, chance, cycle, times):
    """Clients write; perhaps a checkpoint is under way. Further cuts come while PostgreSQL recovers."""
    stage.start_writing(cycle)
    try:
        time.sleep(chance.uniform(0.05, 0.5))
        if chance.random() < 0.5:
            stage.checkpoint()
        losses = [stage.cut(chance, UNDER_LOAD)]
        for _ in range(times):
            stage.begin()
            losses.append(stage.cut(chance, RECOVERY))
    finally:
        began = time.monotonic()
        stage.start()
    stage.wait_until_served(f"probe-{cycle}")
    seconds = time.monotonic() - began
    acknowledged = stage.stop_writing() + 1
    stage.verify()
    return acknowledged, losses, seconds


def under_load(stage, chance, cycle):
    return cut_under_load(stage, chance, cycle, 0)


def in_recovery(stage, chance, cycle):
    return cut_under_load(stage, chance, cycle, chance.randint(1, 3))


def in_creation(stage, chance, cycle):
    """The power goes while a new server makes its cluster, and once more after its first write."""
    with fresh_data_dir(stage.disk.path) as folder:
        server = Server(data_dir=folder, environment=stage.environment)
        new = FirstStart(stage.disk, server)
        try:
            server.launch()
            losses = [new.cut(chance, CREATION)]
            began = time.monotonic()
            server.start()
            with server.client() as client:
                put_open_outlet(client, "kitchen", MENU)
                check(client("CART.ADD", "first", "kitchen", "dish-1", 1) == 1, "the first write is not the first")
            seconds = time.monotonic() - began
            losses.append(new.cut(chance, [1], is_late=lambda: True))
            server.start()
            with server.client() as client:
                check(client("CART.COUNT", "first") == 1, "the first write is lost")
        except Exception as error:
            error.add_note(f"the new server said:\n{server.output()[-4000:]}")
            raise
        finally:
            new.end(chance)
    return 1, losses, seconds


class FirstStart(Stage):
    """A server that has nothing yet, on the disk of another one, which has stopped."""

    def __init__(self, disk, server):
        trials.Stage.__init__(self)
        self.disk, self.server = disk, server

    def end(self, chance):
        self.server.kill()
        self.end_users()


CUTS = {
    "under load, private": (Private, under_load), "in recovery, private": (Private, in_recovery),
    "under load, own": (Own, under_load), "in recovery, own": (Own, in_recovery),
    "in creation": (None, in_creation),
}


def run(cycles, seed, tell=print, cuts=tuple(CUTS), environment=None, own=Own):
    """The results of so many cycles. A failure names its seed and cycle."""
    deck, results, stages = Deck(seed, list(cuts)), [], {}
    with adopting_orphans(), contextlib.ExitStack() as stack:
        for cycle in range(1, cycles + 1):
            name = deck.draw()
            kind, cut = CUTS[name]
            chance = random.Random(f"{seed}/{cycle}")
            stage = None
            try:
                if kind not in stages:
                    stages[kind] = (
                        Bare(stack, environment) if kind is None else (own if kind is Own else kind)(stack, environment))
                stage = stages[kind]
                acknowledged, losses, seconds = cut(stage, chance, cycle)
            except Exception as error:
                output = stage.server.output()[-4000:] if stage and stage.server else ""
                error.add_note(f"seed {seed}, cycle {cycle}, {name}; the server said:\n{output}\n"
                               + (f"and PostgreSQL:\n{stage.postgres_log()}" if stage else ""))
                raise
            pages, torn, names = (sum(getattr(loss, each) for loss in losses) for each in ("pages", "torn", "names"))
            results.append(Result([name], acknowledged, pages, torn, names, seconds))
            tell(f"{cycle:4}  {name:22} {acknowledged:6} acknowledged {pages:6} pages not synced, {torn:3} torn, "
                 f"{names:4} names {seconds:6.2f} s")
            if cycle % 50 == 0 or cycle == cycles:
                for each in stages.values():
                    each.audit()
    return results


class Bare(Stage):
    """A disk on which clusters are made."""

    log_file = "*/data/postgres.log"
    server = None

    def audit(self, *options):
        pass


COLUMNS = {
    "pages not synced": lambda those: f"{sum(each.pages for each in those):,}",
    "torn": lambda those: f"{sum(each.torn for each in those):,}",
    "names not synced": lambda those: f"{sum(each.names for each in those):,}",
    "slowest return": lambda those: f"{max(each.seconds for each in those):.2f} s",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cycles", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--cut", choices=CUTS, action="append", help="only this one; may be given several times")
    options = parser.parse_args()
    if reason := ForgetfulDisk.reason_without():
        parser.exit(1, f"powercuts: {reason}\n")
    tell = lambda line: print(line, flush=True)
    tell(f"seed {options.seed}")
    summarize(run(options.cycles, options.seed, tell=tell, cuts=tuple(options.cut or CUTS)), COLUMNS, tell)


if __name__ == "__main__":
    main()
