"""Filters over people with attributes, `Scripts/bench filters`, and windows on them while they change, `Scripts/bench
windows`."""

import contextlib
import json
import multiprocessing
import random
import re
import select
import socket
import sqlite3
import statistics
import time
from importlib.metadata import version

import jsonpatch

from asking import QUESTIONS, ask
from contestants import Tiffin
from harness import checked, fresh_database, knows, processor_seconds, tiffin_server
from peers import PeopleInDuckDB, PeopleInPostgres, PeopleInSQLite, PeopleInTantivy
from people import KINDS, People, person
from tiffin import Client, encode
from watch import end_of_message

PEOPLE, QUICK_PEOPLE = 500_000, 20_000
SEED = 11
# Answers of one kind are compared for as many seconds, bands of numbers for as many answers.
COMPARED_SECONDS, COMPARED_BANDS = 20, 5

CHANGES_A_SECOND = 1_000
BURSTS, QUICK_BURSTS, BURST_SECONDS = 10, 3, 2
GROUP = 10
WINDOWS, WINDOW_ROWS = 20, (20, 100, 1_000)
QUESTIONS_A_SECOND = 100
# After this long without a message, nothing more is coming.
QUIET_SECONDS = 0.5
MARK = re.compile(rb'"change (\d+)"')


def measure_filters(report, rounds, quick):
    people = People(QUICK_PEOPLE if quick else PEOPLE)
    report.title(f"Filters over {people.total:,} people with twelve attributes each (made up)")
    with contextlib.ExitStack() as stack:
        server, _ = stack.enter_context(tiffin_server())
        client = stack.enter_context(server.client())
        if not knows(client, ("BROWSE", "ATTR", "age", "1", "*", "LIMIT", "1")):
            return report.not_measured("filters", "the server knows no attributes")
        start = time.monotonic()
        checked(client.pipeline(people.commands(), window=16))
        report.line(f"Tiffin: loaded in {time.monotonic() - start:.1f} s, through its commands")
        postgres = PeopleInPostgres(stack.enter_context(fresh_database()))
        sqlite, duckdb, tantivy = PeopleInSQLite(), PeopleInDuckDB(), PeopleInTantivy()
        report.line("PostgreSQL through libpq and a Unix socket, statements prepared; in this process and in memory: "
                    f"SQLite {sqlite3.sqlite_version}, DuckDB {version('duckdb')}, tantivy {version('tantivy')}")
        for peer in (postgres, sqlite, duckdb, tantivy):
            stack.callback(peer.close)
            start = time.monotonic()
            peer.load(people)
            report.line(f"{peer.name}: loaded and indexed in {time.monotonic() - start:.1f} s")
        contestants = [PeopleInTiffin(client), postgres, sqlite, duckdb, tantivy]
        questions = {
            kind: [make(random.Random(f"{SEED} {kind} {number}"), people) for number in range(QUESTIONS)]
            for kind, make in KINDS.items()}
        ask(report, rounds, contestants, questions, lambda questions: _compare(contestants, questions, sqlite))


def measure_windows(report, rounds, quick):
    people = People(QUICK_PEOPLE if quick else PEOPLE)
    report.title(f"Windows on {people.total:,} people with twelve attributes each (made up), who change")
    with contextlib.ExitStack() as stack:
        server, _ = stack.enter_context(tiffin_server())
        client = stack.enter_context(server.client())
        checked(client.pipeline(people.commands(), window=16))
        judge = PeopleInSQLite()
        stack.callback(judge.close)
        judge.load(people)
        _follow(report, server, people, judge, QUICK_BURSTS if quick else BURSTS)


# --- answers


def _compare(contestants, questions, judge) -> tuple[str | None, str, str]:
    """How the answers differ, if they do; the same in one word; and how many people match on average."""
    matched, deadline = [], time.monotonic() + COMPARED_SECONDS
    for number, question in enumerate(dict.fromkeys(questions)):
        if time.monotonic() > deadline:
            break
        answers = [contestant.taken_apart(contestant.ask(contestant.render(question))) for contestant in contestants]
        about = f"{'/'.join(one.name for one in contestants)} asked {' '.join(map(str, question.words()))!r}"
        totals = [contestant.total(answer) for contestant, answer in zip(contestants, answers)]
        matched.append(totals[-1])
        if len(set(totals)) > 1:
            return f"{about} found {totals}", "DIFFER", ""
        pages = [contestant.page(answer) for contestant, answer in zip(contestants, answers)]
        if any(page != pages[-1] for page in pages):
            return f"{about} gave {pages}", "DIFFER", ""
        facets = [contestant.facets(answer) for contestant, answer in zip(contestants, answers)]
        if any(facet != facets[-1] for facet in facets) or bool(facets[-1]) != bool(question.facets):
            apart = [sorted(set(facet.items()) ^ set(facets[-1].items()))[:5] for facet in facets]
            return f"{about} counted otherwise: {apart}", "DIFFER", ""
        if question.facets and number < COMPARED_BANDS:
            for name, band in PeopleInTiffin.bands(answers[0]):
                count = judge.count_between(question, name, band["from"], band["to"])
                if count != band["count"]:
                    return f"{about} counted {band} of {name}, where there are {count}", "DIFFER", ""
    return None, f"{len(matched)} same", f"{statistics.median_low(matched):,}"


class PeopleInTiffin(Tiffin):
    def render(self, question):
        return encode(*(question.words() if question else ("PING",)))

    def facets(self, document) -> dict:
        """Counts of words by the attribute and the word, and the least and the greatest of numbers."""
        facets = {name.removeprefix("attributes."): facet for name, facet in (document["facets"] or {}).items()}
        counts = {(name, entry["value"]): entry["count"] for name, facet in facets.items() for entry in facet["values"]}
        return counts | {(name, end): facet[end]
                         for name, facet in facets.items() for end in ("min", "max") if facet[end] is not None}

    @staticmethod
    def bands(document) -> list:
        return [(name.removeprefix("attributes."), band)
                for name, facet in document["facets"].items() for band in facet["bands"]]


# --- windows on what changes


class Window:
    """A saved query, and its answer as the messages of its channel make it."""

    def __init__(self, name, question, count):
        self.name, self.question, self.count, self.first = name, question, count, 0
        self.document = None
        self.bytes = self.messages = 0

    def hear(self, message):
        """Takes a message in. Returns the revisions that it leads from and to."""
        news = json.loads(message)
        if self.document is not None and news["from"] != self.document["revision"]:
            raise RuntimeError(f"{self.name} goes from {news['from']}, where it has {self.document['revision']}")
        self.bytes += len(message)
        self.messages += 1
        self.document = jsonpatch.apply_patch(self.document, news["patch"], in_place=True)
        return news["from"], news["to"]

    def differs(self, judge) -> bool:
        total, rows = judge.window(self.question, self.first, self.count)
        shown = [(row["outlet"], row["item"], row["description"]) for row in self.document["items"]]
        return (self.document["total"], self.document["from"], shown) != (total, self.first, rows)


def _follow(report, server, people, judge, bursts):
    chance = random.Random(SEED)
    unseen = _processor_time_unseen(server, people, judge, chance)
    kinds = [kind for kind in KINDS if kind[0] in "25" and "facets" not in kind]
    windows = {}
    for number in range(WINDOWS):
        question = KINDS[kinds[number % len(kinds)]](chance, people)
        window = Window(f"shared:w{number}", question, WINDOW_ROWS[number % len(WINDOW_ROWS)])
        windows[f"browse:{window.name}".encode()] = window
    delays, asked, differing, changed, seconds, processor = [], [], 0, CHANGES_A_SECOND * BURST_SECONDS, 0.0, 0.0
    before = changed
    with server.client() as client:
        for window in windows.values():
            client("BROWSE.SAVE", window.name, *window.question.filters(), "SORT", "name", "FROM", 0,
                   "COUNT", window.count)
        listener = _Listener(server.port, windows)
        listener.hear()
        for window in windows.values():
            window.bytes = window.messages = 0
        for _ in range(bursts):
            numbers = [chance.randint(1, people.total) for _ in range(CHANGES_A_SECOND * BURST_SECONDS)]
            members = [person(number, changed + place + 1) for place, number in enumerate(numbers)]
            position = json.loads(client("LOG.HEAD"))[0]["position"]
            processor -= processor_seconds(server.process.pid)
            with _Process(_write, server.port, members) as writer, \
                    _Process(_browse, server.port, chance.random(), people) as asker:
                heard = listener.hear()
                planned, took = writer.result()
                asked += asker.result()
            heard += listener.hear()
            processor += processor_seconds(server.process.pid)
            if json.loads(client("LOG.HEAD"))[0]["position"] != position + len(members):
                raise RuntimeError("a change is not one event, so messages do not say which changes they tell of")
            for arrived, message, (first, last) in heard:
                for mark in MARK.finditer(message):
                    place = int(mark[1]) - changed - 1
                    # A row with an older mark came into the window because another one left it.
                    if first < position + place + 1 <= last:
                        delays.append((arrived - planned[place]) * 1000)
            changed, seconds = changed + len(members), seconds + took
            judge.change(members)
            differing += sum(window.differs(judge) for window in windows.values())
            # And then the list is scrolled.
            for window in windows.values():
                window.first = chance.randrange(max(1, window.document["total"] - window.count // 2))
                client("BROWSE.WINDOW", window.name, window.first, window.count)
            listener.hear()
            differing += sum(window.differs(judge) for window in windows.values())
        listener.close()
    changed -= before
    messages, size = (sum(getattr(window, what) for window in windows.values()) for what in ("messages", "bytes"))
    report.line(f"{WINDOWS} windows of {', '.join(map(str, WINDOW_ROWS))} rows: {changed:,} changes, "
                f"{len(delays):,} of them seen in a window, {messages:,} messages of "
                f"{size / max(1, messages):.0f} bytes")
    report.line(f"  processor time of the server for a change, with queries meanwhile: {processor / changed * 1e6:.0f} µs, "
                f"and {unseen * 1e6:.0f} µs without windows")
    report.verdict("changes a second", changed / seconds, 0.95 * CHANGES_A_SECOND)
    report.verdict("windows that are not what SQL finds", differing, 0, at_least=False)
    if len(delays) > 1:
        delay = statistics.quantiles(delays, n=100, method="inclusive")
        report.line(f"  from the planned change to the message: median {delay[49]:.1f} ms")
        report.verdict("p99", delay[98], 100, at_least=False, unit=" ms")
    asked = statistics.quantiles(asked, n=100, method="inclusive")
    report.line(f"  queries of 2 and 5 conditions meanwhile: median {asked[49]:.2f} ms")
    report.verdict("p99", asked[98], 5, at_least=False, unit=" ms")


def _processor_time_unseen(server, people, judge, chance) -> float:
    """Seconds of the server's processor for each change of a burst that no window shows."""
    numbers = [chance.randint(1, people.total) for _ in range(CHANGES_A_SECOND * BURST_SECONDS)]
    members = [person(number, place + 1) for place, number in enumerate(numbers)]
    before = processor_seconds(server.process.pid)
    with _Process(_write, server.port, members) as writer, \
            _Process(_browse, server.port, chance.random(), people) as asker:
        writer.result(), asker.result()
    judge.change(members)
    return (processor_seconds(server.process.pid) - before) / len(members)


class _Listener:
    """A connection that is subscribed to windows."""

    def __init__(self, port, windows):
        self._windows = windows
        self._buffer = bytearray()
        self._connection = socket.create_connection(("127.0.0.1", port))
        self._connection.sendall(encode("SUBSCRIBE", *windows))

    def close(self):
        self._connection.close()

    def hear(self) -> list:
        """Takes in messages until nothing more comes. Returns when each came, what it says, and the revisions that it
        leads from and to."""
        heard, buffer = [], self._buffer
        while select.select([self._connection], [], [], QUIET_SECONDS)[0]:
            data = self._connection.recv(1 << 20)
            if not data:
                raise EOFError("the server closed the subscriber's connection")
            arrived = time.monotonic()
            buffer += data
            while end := end_of_message(buffer):
                # No line of JSON ends within it.
                _, _, kind, _, channel, _, message, *_ = bytes(buffer[:end]).split(b"\r\n") + [b""]
                del buffer[:end]
                if kind == b"message":
                    heard.append((arrived, channel, message))
        return [(arrived, message, self._windows[channel].hear(message)) for arrived, channel, message in heard]


class _Process:
    """A function in a process of its own, whose first argument is where to send its result."""

    def __init__(self, function, *arguments):
        self._result, result = multiprocessing.Pipe(duplex=False)
        self._process = multiprocessing.get_context("fork").Process(
            target=function, args=(result, *arguments), daemon=True)

    def __enter__(self):
        self._process.start()
        return self

    def result(self):
        return self._result.recv()

    def __exit__(self, *_):
        self._process.join(timeout=60)


def _write(result, port, members):
    """Puts people, so many a second. Sends when each was planned, and how long all of it took."""
    groups = [
        b"".join(encode("MENU.ITEM.PUT", member.club, member.section, member.id, json.dumps(member.document()))
                 for member in members[first:first + GROUP]) for first in range(0, len(members), GROUP)]
    with Client(port) as client:
        start = time.monotonic()
        for number, group in enumerate(groups):
            time.sleep(max(0.0, start + number * GROUP / CHANGES_A_SECOND - time.monotonic()))
            client.send(group)
            checked([client.read() for _ in range(GROUP)])
        took = max(time.monotonic() - start, len(members) / CHANGES_A_SECOND)
    result.send(([start + place // GROUP * GROUP / CHANGES_A_SECOND for place in range(len(members))], took))


def _browse(result, port, seed, people):
    """Asks as long as people change. Sends the milliseconds of each answer."""
    chance = random.Random(seed)
    kinds = [kind for kind in KINDS if kind[0] in "25" and "facets" not in kind]
    requests = [encode(*KINDS[chance.choice(kinds)](chance, people).words())
                for _ in range(QUESTIONS_A_SECOND * BURST_SECONDS)]
    measured = []
    with Client(port) as client:
        start = time.monotonic()
        for number, request in enumerate(requests):
            planned = start + number / QUESTIONS_A_SECOND
            time.sleep(max(0.0, planned - time.monotonic()))
            client.send(request)
            checked([client.read()])
            measured.append((time.monotonic() - planned) * 1000)
    result.send(measured)
