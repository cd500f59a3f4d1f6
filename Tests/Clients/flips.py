"""Bits flip and files end early: in tables, indexes, PostgreSQL's log and its other files, in certificates and keys.

    Scripts/faults --only flips --cycles 100 --seed 7

Each cycle begins with a copy of the same data, damages one file of it, before a start or while PostgreSQL is away under a
server that runs, and asks for everything. Each answer must be as before, or an error, unless the server or an audit
names what is lost; no process may trap or wait for ever; and a server that does not start says what is wrong.
"""

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import tiffin
import trials
from certificates import Certificates
from tiffin import (
    ReplyError, Server, fresh_data_dir, item_document, postmaster, private_address, put_open_outlet, run_tiffin,
    section_document, sql, wait_until)
from trials import Deck, check

PAGE, SECTOR = 8192, 512
# What is damaged more often: what cannot be computed again.
TRUTH = {"batches", "batches_pkey", "log_head", "log_head_pkey", "customer_keys", "customer_keys_pkey", "stream_index",
         "users"}
# So many bytes at the end of PostgreSQL's log have what it does again after a crash.
REPLAYED = 40_000
OUTLETS = ["grill", "bakery", "bar"]
CARTS = 40
ANSWER_SECONDS = 15
# What a server makes again from the log.
SAVED_ROWS = ["outlet_home_rows", "cart_count_rows", "order_rows", "takings_rows", "supply_rows", "process_rows",
              "projection_checkpoints", "quarantine"]
# Those in which this can be going on, wherever the outlets are.
DAYS = [str(date.today() - timedelta(1)), "UNTIL", str(date.today() + timedelta(2))]
# What may be answered in place of what was answered before.
ERRORS = {"UNAVAILABLE", "CORRUPT", "UNKNOWN", "LOADING"}
# The words of a server, an audit or PostgreSQL about damage and where it is.
NAMED = re.compile(
    r"no event at position|has lost|corrupt|damaged|invalid page|checksum|could not read|contradict|"
    r"unexpected|does not (match|follow|have|open)|differs?\b|missing|not found|invalid|no (row|key)|there is no|"
    r"is not in", re.I)


@dataclass
class Result:
    """What a damage came to."""

    faults: list
    # Answers that were errors or others than before, and whether the server did not start.
    refused: int
    changed: int
    stopped: int
    # What an audit said: sound or not.
    unsound: int


# --- the data


def questions():
    yield ("OUTLETS",)
    for outlet in OUTLETS:
        yield from [(name, outlet) for name in ("OUTLET.GET", "MENU.GET", "STOCK")]
    for number in range(CARTS):
        yield from [("CART.GET", f"c{number}"), ("CART.COUNT", f"c{number}")]
    for outlet in OUTLETS:
        yield ("ORDERS", "OUTLET", outlet, "COUNT", 50)
        yield ("TAKINGS", outlet, "FROM", *DAYS)
    yield ("RELAY.LIST",)
    # No more than there is of it at first.
    yield ("LOG.READ", "FROM", 1, "COUNT", 150)


def ask(client):
    client.socket.settimeout(ANSWER_SECONDS)
    return client.pipeline(list(questions()))


def settled(reply):
    """The answer without what time alone changes."""
    words = b"\n".join(reply) if isinstance(reply, list) and all(isinstance(each, bytes) for each in reply) else reply
    return re.sub(rb'"events":\d+,?', b"", words) if isinstance(words, bytes) else words


def make_original(folder):
    """Data of a server that has stopped, and what it answered."""
    with Server(data_dir=folder) as server, server.client() as client:
        for outlet in OUTLETS:
            items = [item_document(f"dish-{n}", 100, description="d" * 200) for n in range(20)]
            put_open_outlet(client, outlet, [section_document("all", items)])
            client("MENU.ITEM.STOCK", outlet, "dish-19", "COUNT", 50)
        for number in range(CARTS):
            cart, outlet = f"c{number}", OUTLETS[number % 3]
            client("CART.ADD", cart, outlet, f"dish-{number % 10}", 2, "NOTE", "n" * 100, "CUSTOMER", f"guest-{number}")
            client("CART.ADD", cart, outlet, "dish-12", 1)
            if number % 3 == 0:
                total = client.json("CART.GET", cart)["total"]
                client("CART.CHECKOUT", cart, "TOTAL", total)
        head = client.json("LOG.HEAD")[0]["position"]
        token = user(folder, "add", "root", "--role", "admin", "--no-password") and user(folder, "token", "root")
        relay = run_tiffin("relay", "--show-secret", "--name", "books", "--database", private_address(folder))
        check(relay.returncode == 0, relay.stderr)
        sql(f"update tiffin.relay_cursors set position = {head}", private_address(folder))
        relations = [line.split("|") for line in sql(
            "select t.relname || coalesce(' of ' || o.relname, ''), pg_relation_filepath(t.oid) from pg_class t "
            "join pg_namespace n on n.oid = t.relnamespace left join pg_class o on o.reltoastrelid = t.oid "
            "where (nspname = 'tiffin' or o.relnamespace = (select oid from pg_namespace where nspname = 'tiffin')) "
            "and t.relkind in ('r', 'i', 't') order by 1", private_address(folder)).splitlines()]
    # The rows of the read models are there now.
    with Server(data_dir=folder) as server, log_in(server, token) as client:
        answers = [settled(reply) for reply in ask(client)]
        errors = [answer for answer in answers if isinstance(answer, ReplyError)]
        audit = run_tiffin("audit", "--database", private_address(folder))
        check(not errors and audit.returncode == 0, f"before any damage: {errors} {audit.stdout}")
    relations = [(name, path) for name, path in relations if os.path.getsize(f"{folder}/postgres/{path}")]
    return token, relations, answers


def user(folder, *words):
    run = run_tiffin("user", *words, "--database", private_address(folder))
    check(run.returncode == 0, run.stderr)
    return run.stdout.strip()


def log_in(server, token):
    client = server.client()
    check(client("AUTH", "root", token) == "OK", "no login")
    return client


# --- damage


def damage(path, chance, start=0, end=None):
    """Damages a part of the file, and says how."""
    size = os.path.getsize(path)
    end = min(end or size, size)
    check(end > start, f"{path} has nothing to damage")
    place = chance.randrange(start, end)
    kind = chance.choice(["flip", "flip", "flip", "zero", "end", "mix"])
    with open(path, "r+b") as file:
        if kind == "end":
            # At the end of a page, or within one.
            place -= place % PAGE if chance.random() < 0.5 and place - place % PAGE >= start else 0
            file.truncate(place)
            return f"ends after {place} of {size} bytes"
        if kind == "flip":
            places = [place, *(chance.randrange(place, min(place + 64, end)) for _ in range(chance.randint(0, 7)))]
            for each in places:
                file.seek(each)
                byte = file.read(1)[0] ^ 1 << chance.randrange(8)
                file.seek(each)
                file.write(bytes([byte]))
            return f"flipped {len(places)} bits from byte {place} on"
        length = PAGE if kind == "zero" else SECTOR
        place -= place % length
        file.seek(place)
        old = file.read(length)
        new = bytes(len(old)) if kind == "zero" else chance.randbytes(len(old))
        file.seek(place)
        file.write(new)
        return f"{'zeros' if kind == 'zero' else 'noise'} from byte {place} on"


def relation(trial, chance):
    """A file of a table or an index, those of the log and the keys more often."""
    weights = [6 if name.split(" of ")[-1] in TRUTH else 1 for name, _ in trial.relations]
    return *chance.choices(trial.relations, weights)[0], 0, None


def wal(trial, chance):
    """PostgreSQL's log: what it would replay, or anything."""
    folder = trial.folder / "postgres" / "pg_wal"
    name = min(path for path in os.listdir(folder) if len(path) == 24)
    end = len((folder / name).read_bytes().rstrip(b"\0"))
    return name, f"pg_wal/{name}", *([max(0, end - REPLAYED), end] if chance.random() < 0.75 else [0, None])


def other(trial, chance):
    name = chance.choice(["global/pg_control", "PG_VERSION", "postgresql.conf", "pg_hba.conf", "global/pg_filenode.map",
                          "pg_xact/0000", "pg_multixact/offsets/0000"])
    return name, name, 0, None


class Trial:
    """Copies of the same data, one after the other."""

    def __init__(self, stack):
        self.original = Path(stack.enter_context(fresh_data_dir()))
        self.token, self.relations, self.answers = make_original(self.original)
        self.copies = stack.enter_context(tempfile.TemporaryDirectory(prefix="tiffin-flips."))
        os.chmod(self.copies, 0o711)
        self.certificates = Certificates(tempfile.mkdtemp(dir=self.copies)).sign("server")

    @contextlib.contextmanager
    def copy(self):
        self.folder = Path(self.copies, "data")
        # With owners.
        subprocess.run(["cp", "-a", self.original, self.folder], check=True)
        self.server = Server(data_dir=self.folder)
        try:
            yield
        finally:
            self.server.kill()
            tiffin._stop_orphaned_postgres(self.copies)
            shutil.rmtree(self.folder, ignore_errors=True)

    def starts(self):
        """Whether the server listens in the end, or ends before."""
        server = self.server.launch()
        wait_until(lambda: server.process.poll() is not None or "tiffin: listening on" in server.output(),
                   "the server to listen or end")
        return server.process.poll() is None and bool(server.wait_until_listening())

    def judge(self, what):
        """Asks the server for everything. An answer that is no error is the one from before, or what is lost is named."""
        server = self.server
        with server.client() as stranger:
            check(stranger.error("OUTLETS").code == "NOAUTH", f"{what}: a stranger is served")
        with log_in(server, self.token) as client:
            replies = [reply if isinstance(reply, ReplyError) else settled(reply) for reply in ask(client)]
        refused, changed = 0, []
        for question, before, now in zip(questions(), self.answers, replies, strict=True):
            if isinstance(now, ReplyError):
                check(now.code in ERRORS, f"{what}: {question} is answered {now}")
                refused += 1
            elif now != before:
                changed.append((question, before, now))
        check(server.process.poll() is None, f"{what}: the server ended with {server.process.poll()}")
        audit = run_tiffin("audit", "--database", private_address(self.folder))
        check(audit.returncode in range(6), f"{what}: the audit ended with {audit.returncode}")
        words = server.output() + audit.stdout + audit.stderr
        unsound = audit.returncode != 0
        if changed:
            check(NAMED.search(words), f"{what}: changed without a word: {str(changed[:2])[:2000]}")
        if refused:
            check(NAMED.search(server.output() + " ".join(str(r) for r in replies if isinstance(r, ReplyError))),
                  f"{what}: refused without a word")
        return refused, len(changed), unsound

    def ended(self, what):
        """A server that does not start ends with a word, and no signal."""
        status = self.server.wait_until_ended()
        check(status in (1, 64), f"{what}: the server ended with status {status}")
        check(re.search(r"^tiffin: error: .+", self.server.output(), re.M), f"{what}: it ended without a word")


def before_start(find):
    def strike(trial, chance):
        with trial.copy():
            name, path, *part = find(trial, chance)
            what = f"{name}: " + damage(trial.folder / "postgres" / path, chance, *part)
            if not trial.starts():
                trial.ended(what)
                table = name.split(" of ")[-1].removesuffix("_pkey")
                check(table not in SAVED_ROWS, f"{what}: the server did not make saved rows again")
                return what, Result([], 0, 0, 1, 0)
            refused, changed, unsound = trial.judge(what)
            return what, Result([], refused, changed, 0, unsound)
    return strike


def while_running(find):
    """PostgreSQL is killed, and finds the damage when the server starts it again."""
    def strike(trial, chance):
        with trial.copy():
            server = trial.server.start()
            log_in(server, trial.token).close()
            parent = postmaster(trial.folder)
            children = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True).stdout.split()
            with log_in(server, trial.token) as client:
                # So that the log has something to be replayed.
                for number in range(20):
                    client("CART.ADD", f"new-{number}", "grill", "dish-1", 1)
                head = client.json("LOG.HEAD")[0]["position"]
            with trials.frozen(server.process.pid):
                trials.send_signal(signal.SIGKILL, parent, *map(int, children))
                wait_until(lambda: not any(is_running(int(pid)) for pid in [parent, *children]), "PostgreSQL's end")
                name, path, *part = find(trial, chance)
                what = f"{name}, running: " + damage(trial.folder / "postgres" / path, chance, *part)

            def is_back_or_over():
                if server.process.poll() is not None:
                    return True
                with contextlib.suppress(RuntimeError, OSError, ValueError, IndexError):
                    return postmaster(trial.folder) != parent and sql("select 1", private_address(trial.folder))

            with contextlib.suppress(TimeoutError):
                wait_until(is_back_or_over, "PostgreSQL", seconds=75, every=0.05)
            if server.process.poll() is not None:
                trial.ended(what)
                return what, Result([], 0, 0, 1, 0)
            if not is_back_or_over():
                raise trials.Failure(f"{what}: PostgreSQL is not back, and the server has not ended")
            with log_in(server, trial.token) as client:
                client.socket.settimeout(ANSWER_SECONDS)

                def has_looked():
                    """A write is accepted or refused: the server knows how far the log goes."""
                    reply = client.pipeline([("CART.ADD", "last", "grill", "dish-1", 1, "ID", "last")])[0]
                    check(not isinstance(reply, ReplyError) or reply.code in ERRORS, f"{what}: a write is answered {reply}")
                    return not isinstance(reply, ReplyError) or reply.code == "CORRUPT"

                # Where it cannot be read any more, it goes on being unavailable.
                with contextlib.suppress(TimeoutError):
                    wait_until(has_looked, "a write", seconds=8, every=0.05)
                page = client.pipeline([("LOG.READ", "FROM", head, "COUNT", 1)])[0]
                lost = not isinstance(page, ReplyError) and (not page or json.loads(page[0])["position"] != head)
                check(not lost or trials.lost_positions(server) or NAMED.search(server.output()),
                      f"{what}: acknowledged events are gone without a word")
            refused, changed, unsound = trial.judge(what)
            return what, Result([], refused, changed, 0, unsound)
    return strike


def is_running(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    return False


def certificate(trial, chance):
    """A server starts with a damaged certificate or key, and another one reads it again."""
    folder = Path(tempfile.mkdtemp(dir=trial.copies))
    for name in ("server.pem", "server.key", "ca.pem"):
        shutil.copy(trial.certificates.folder / name, folder)
    options = ["--tls-cert", f"{folder}/server.pem", "--tls-key", f"{folder}/server.key"]
    if chance.random() < 0.5:
        options += ["--tls-client-ca", f"{folder}/ca.pem"]
    name = chance.choice([Path(option).name for option in options[1::2]])
    is_running = chance.random() < 0.5
    with trial.copy():
        server = Server(data_dir=trial.folder, options=options)
        trial.server = server
        if is_running:
            server.start()
        what = f"{name}{', running' if is_running else ''}: " + damage(folder / name, chance)
        if is_running:
            before = len(server.lines)
            server.process.send_signal(signal.SIGHUP)
            wait_until(lambda: len(server.lines) > before, f"{what}: a word about the certificate")
            check(server.process.poll() is None, f"{what}: the server ended with {server.process.poll()}")
            told = "\n".join(line for line in server.lines[before:] if line)
            check(name in told or "loaded" in told or "read again" in told, f"{what}: told {told}")
            check(server.stop() == 0, f"{what}: {server.output()}")
            return what, Result([], 0, 0, 0, 0)
        if not trial.starts():
            trial.ended(what)
            check(name in server.output(), f"{what}: the file is not named: {server.output()}")
            return what, Result([], 0, 0, 1, 0)
        check(server.stop() == 0, f"{what}: {server.output()}")
        return what, Result([], 0, 0, 0, 0)


DAMAGE = {
    "tables and indexes, before a start": before_start(relation),
    "tables and indexes, running": while_running(relation),
    "PostgreSQL's log, before a start": before_start(wal),
    "PostgreSQL's log, running": while_running(wal),
    "PostgreSQL's other files": before_start(other),
    "certificates and keys": certificate,
}
# Most of all, tables and indexes.
CARDS = ["tables and indexes, before a start"] * 3 + ["tables and indexes, running"] * 2 + list(DAMAGE)


def run(cycles, seed, tell=print, cards=CARDS, damage=DAMAGE):
    """The results of so many cycles. A failure names its seed and cycle."""
    deck, results = Deck(seed, cards), []
    with contextlib.ExitStack() as stack:
        trial = Trial(stack)
        for cycle in range(1, cycles + 1):
            name = deck.draw()
            try:
                what, result = damage[name](trial, random.Random(f"{seed}/{cycle}"))
            except Exception as error:
                error.add_note(f"seed {seed}, cycle {cycle}, {name}; the server said:\n{trial.server.output()[-4000:]}")
                raise
            result.faults = [name]
            results.append(result)
            tell(f"{cycle:4}  {what:90} {result.refused:3} refused, {result.changed:3} changed and named"
                 f"{', did not go on' if result.stopped else ''}{', unsound' if result.unsound else ''}")
    return results


def summarize(results, tell):
    tell("\n| damaged | cycles | answers refused | changed and named | changed unnamed | server that did not go on, and said why "
         "| audits that found it |\n| --- | --- | --- | --- | --- | --- | --- |")
    for name in [*DAMAGE, None]:
        those = [result for result in results if name in (None, *result.faults)]
        sums = [sum(getattr(each, field) for each in those) for field in ("refused", "changed", "stopped", "unsound")]
        tell(f"| {name or 'all'} | {len(those)} | {sums[0]:,} | {sums[1]:,} | 0 | {sums[2]} | {sums[3]} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cycles", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options = parser.parse_args()
    tell = lambda line: print(line, flush=True)
    summarize(run(options.cycles, options.seed, tell=tell), tell)


if __name__ == "__main__":
    main()
