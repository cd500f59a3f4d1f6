"""A year of one log: installed from the package, upgraded twice while clients write, backed up, destroyed and restored,
archived, and proven from its first day on. `make worked-changes` lives through it with two versions of the server."""

import contextlib
import os
import re
import urllib.request

from clients import day_program
from rolling import Writer, version
from test_archive import archived, day, done
from test_clients import live_through_a_day, story
from test_package import ALERTS, unpacked
from test_receipts import verify
from test_signed import LOG, Signer, Witness, make_key
from tiffin import (
    REPLY_SECONDS, Server, fresh_database, item_document, put_open_outlet, read_log, run_tiffin,
    section_document, wait_until)
from troubles import WallClock

DAYS = 365
WRITERS = 2
# How many writes of each writer have to be accepted before the next step.
WRITES = 30
SITES = ["--web", "127.0.0.1:0", "--console", "127.0.0.1:0"]


def alarms(server) -> list:
    """The alarms of docs/operate.md that this server would have set off since it started, by the expressions of their
    rules. Of the rules, those with a counter or with one gauge are evaluated."""
    metrics = {}
    said = urllib.request.urlopen(f"http://{server.site('console')}/metrics", timeout=REPLY_SECONDS).read().decode()
    for line in said.splitlines():
        if not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            metrics.setdefault(name.partition("{")[0], []).append(float(value))
    found = []
    for expression in re.findall(r"expr: (.*)", ALERTS.read_text()):
        limits = [(name, 0) for name in re.findall(r"(?:increase|rate)\((\w+)\[\w+\]\)", expression)]
        limits = limits if expression.endswith(" > 0") else re.findall(r"^(\w+) > (\d+)$", expression)
        found += [name for name, limit in limits if max(metrics[name]) > float(limit)]
    return found


class Year:
    """The servers of a log, and all that is done with them."""

    def __init__(self, stack, folder):
        self.stack = stack
        self.clock = WallClock(folder)
        # Writers have this list, whichever servers are in it.
        self.servers, self.days = [], []
        self.turn(0)

    def turn(self, number):
        """Makes it the so-many-eth day of the year."""
        self.clock.set((number - DAYS) * 86_400)

    def open(self, database):
        """Two servers on a log."""
        self.database = database
        self.servers[:] = [
            self.stack.enter_context(Server(database=database, options=SITES, environment=self.clock.environment))
            for _ in range(2)]

    def write(self):
        """Has writers begin, or go on."""
        self.writers = [Writer(f"writer{n}-{len(self.days)}", self.servers) for n in range(WRITERS)]
        for writer in self.writers:
            writer.start()
        self.go_on("writers to begin")

    def go_on(self, what):
        goals = [writer.accepted + WRITES for writer in self.writers]

        def is_done():
            assert not any(writer.error for writer in self.writers), [writer.error for writer in self.writers]
            return all(writer.accepted >= goal for writer, goal in zip(self.writers, goals))
        wait_until(is_done, what)

    def pause(self):
        """Ends the writers. What they wrote is there, once."""
        for writer in self.writers:
            writer.ended.set()
        for writer in self.writers:
            writer.join()
        with self.servers[0].client() as client:
            for writer in self.writers:
                carts = {writer.cart(number) for number in range(writer.accepted)}
                assert sum(client("CART.COUNT", cart) for cart in carts) == writer.accepted, writer.name

    def upgrade(self, binary):
        """One server after the other, while clients write."""
        with version(binary):
            assert run_tiffin("migrate", "--database", self.database).returncode == 0
        for server in self.servers:
            self.check_alarms()
            assert server.stop() == 0
            with version(binary):
                server.start()
            self.go_on("writes beside an upgrade")

    def live(self, program, outlet):
        """A day of a client that somebody wrote with one of ours."""
        server = self.servers[len(self.days) % 2]
        sites = [f"http://{server.site(name)}" for name in ("store", "console")]
        first, *lines, last = live_through_a_day(program, *sites, outlet)
        assert first == f"{outlet} is open"
        with self.servers[0].client() as client:
            self.days.append((lines, story(client, outlet, last.split())))
        assert self.days[-1] == self.days[0]

    def check_alarms(self):
        for server in self.servers:
            assert alarms(server) == []


def test_nothing_is_lost_in_a_year(tmp_path):
    programs = {language: day_program(language, tmp_path) for language in ("python", "typescript", "swift")}
    installed = str(unpacked(tmp_path)[1] / "usr" / "bin" / "tiffin")
    newer = os.environ.get("TIFFIN_NEWER_BINARY", installed)
    path, key = make_key(tmp_path, LOG)
    folder = tmp_path / "backup"
    with contextlib.ExitStack() as stack:
        stack.enter_context(version(installed))
        witnesses = [stack.enter_context(Witness(tmp_path, f"w{n}.example", key)) for n in (1, 2)]
        keys = ["--log", key, *(word for witness in witnesses for word in ("--witness", witness.key))]
        signer = Signer(tmp_path, [path], witnesses)
        year = Year(stack, tmp_path)
        year.open(stack.enter_context(fresh_database()))
        with year.servers[0].client() as client:
            put_open_outlet(client, "kitchen", [section_document("all", [item_document("tea", 100)])])
            client("CART.ADD", "first", "kitchen", "tea", 1)
            client("CART.ADD", "anna-1", "kitchen", "tea", 1, "CUSTOMER", "anna", "NOTE", "for Anna")
            assert "cosigned by 2 of 2" in signer.sign(year.database).stdout
            receipt = client("LOG.PROVE", "cart-first", 1).decode()
            events = read_log(client)
        year.write()

        year.turn(30)
        year.live(programs["python"], "spring")
        year.turn(60)
        year.upgrade(newer)
        stack.enter_context(version(newer))
        year.turn(120)
        year.live(programs["typescript"], "summer")
        done("backup", folder, year.database)
        year.turn(150)
        with year.servers[1].client() as client:
            client("CUSTOMER.FORGET", "anna")
        year.pause()
        year.check_alarms()
        done("backup", folder, year.database)

        # The database is lost, with both servers.
        for server in year.servers:
            server.kill()
        restored = stack.enter_context(fresh_database())
        result = run_tiffin("restore", folder, "--verify", "--database", restored)
        assert result.returncode == 0 and "sound" in result.stdout, result.stdout + result.stderr
        year.open(restored)
        with year.servers[0].client() as client:
            assert read_log(client)[:len(events)] == events
            assert client.json("CART.GET", "anna-1")["lines"][0]["note"] == "[erased]"
        year.turn(200)
        year.write()
        year.upgrade(newer)
        year.live(programs["swift"], "autumn")
        done("backup", folder, restored)
        # Up to where the customer was forgotten, which PostgreSQL's clock recorded.
        done("archive", folder, restored, "--before", day(DAYS - 90))
        assert archived(restored) > 0
        year.turn(300)
        year.live(programs["python"], "winter")
        year.turn(DAYS)
        year.live(programs["typescript"], "another")
        year.pause()
        year.check_alarms()
        assert "cosigned by 2 of 2" in signer.sign(restored).stdout
        with year.servers[1].client() as client:
            assert read_log(client)[:len(events)] == events
            last = client("LOG.PROVE", "cart-first", 1).decode()
        assert last != receipt
        for text in (receipt, last):
            proof = verify("-", *keys, text=text)
            assert proof.returncode == 0, proof.stdout + proof.stderr
            assert all(name in proof.stdout for name in (LOG, "w1.example", "w2.example"))
        for server in year.servers:
            assert server.stop() == 0
        audit = run_tiffin("audit", "--database", restored)
        assert audit.returncode == 0 and "sound" in audit.stdout, audit.stdout + audit.stderr
