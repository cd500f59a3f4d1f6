"""Queries over half a million items in Tiffin, PostgreSQL and SQLite: `Scripts/bench browse`."""

import contextlib
import json
import random
import re
import sqlite3
import statistics
import time

from asking import QUESTIONS, ask
from contestants import Postgres, SQLite, Tiffin, command, load_tiffin
from dishes import Dishes
from harness import fresh_database, knows, per_second, resident_megabytes, tiffin_server
from questions import KINDS, Chance
from tiffin import wait_until

ITEMS, QUICK_ITEMS, QUICK_OUTLETS = 500_000, 20_000, 350
SEED = 7
COMPARED_QUESTIONS = 5
SAVED_SECONDS = 120
TEXT_DIFFERENCE = 0.02
INDEXED = re.compile(r"catalogue: (\d+) items and (\d+) outlets indexed in (\d+(?:\.\d+)?) ms")


def dishes_for(quick) -> Dishes:
    return Dishes(QUICK_ITEMS, QUICK_OUTLETS) if quick else Dishes(ITEMS)


def measure_browse(report, rounds, quick):
    dishes = dishes_for(quick)
    report.title(f"Browsing {dishes.total:,} items of {len(dishes.outlets):,} outlets ({dishes.origin})")
    with contextlib.ExitStack() as stack:
        server, _ = stack.enter_context(tiffin_server())
        client = stack.enter_context(server.client())
        has_tiffin = knows(client, ("BROWSE", "LIMIT", "1"))
        tiffin = Tiffin(client)
        if has_tiffin:
            text, growth, seconds = _load(server, client, dishes)
            report.line(f"Tiffin: loaded in {seconds:.1f} s, through its commands")
        else:
            report.not_measured("Tiffin", "the server has no BROWSE")
        postgres = Postgres(stack.enter_context(fresh_database()))
        stack.callback(postgres.close)
        sqlite = SQLite()
        stack.callback(sqlite.close)
        report.line("PostgreSQL through libpq and a Unix socket, statements prepared; "
                    f"SQLite {sqlite3.sqlite_version} in this process and in memory")
        for peer in (postgres, sqlite):
            start = time.monotonic()
            peer.load(dishes)
            report.line(f"{peer.name}: loaded and indexed in {time.monotonic() - start:.1f} s")
        contestants = [*([tiffin] if has_tiffin else []), postgres, sqlite]
        ask(report, rounds, contestants, _questions(dishes), lambda questions: _compare(contestants, questions, sqlite))
        if has_tiffin:
            client.close()
            _restart(report, server, dishes, text, growth)


# --- questions


def _questions(dishes) -> dict:
    return {
        kind: [make(chance) for _ in range(QUESTIONS)]
        for kind, make in KINDS.items() for chance in [Chance(random.Random(f"{SEED} {kind}"), dishes.sample)]}


def _compare(contestants, questions, judge) -> tuple[str | None, str, str]:
    """How the contestants' answers differ, if they do; the same in one word; and how many items match on average.

    Texts are divided into words by slightly different rules, so totals may differ by 2 %; everything else is the same.
    The sort keys of a page are compared, not its rows: with equal keys any row may come first."""
    names = "/".join(contestant.name for contestant in contestants)
    widest, matched = 0.0, []
    for question in questions[:COMPARED_QUESTIONS]:
        answers = [contestant.taken_apart(contestant.ask(contestant.render(question))) for contestant in contestants]
        pages = [contestant.page(answer) for contestant, answer in zip(contestants, answers)]
        about = f"{names} asked {' '.join(map(str, command(question)))!r}"
        if question.surprise:
            # Every contestant's surprise is one of the matches.
            if any(len(page) != 1 or not judge.matches(question, page[0]) for page in pages):
                return f"{about} gave {pages}", "DIFFER", ""
            continue
        totals = [contestant.total(answer) for contestant, answer in zip(contestants, answers)]
        matched.append(totals[-1])
        difference = (max(totals) - min(totals)) / max(*totals, 1)
        widest = max(widest, difference)
        if difference > (TEXT_DIFFERENCE if question.text else 0):
            return f"{about} found {totals}", "DIFFER", ""
        if difference:
            continue
        if question.sort not in ("relevance", "name"):
            keys = [judge.sort_keys(page, question.sort) for page in pages]
            if keys.count(keys[0]) != len(keys):
                return f"{about} sorted {keys}", "DIFFER", ""
        if question.facets:
            # A contestant may give the most frequent values only. Tiffin counts a facet without what the question
            # asks of it, which takes it longer; the peers' counts of that facet say less, and are not compared.
            facets = [
                {(column, value): count for (column, value), count in contestant.facets(answer).items()
                 if column not in question.own_facets}
                for contestant, answer in zip(contestants, answers)]
            wrong = [(value, count, facets[-1].get(value)) for facet in facets for value, count in facet.items()
                     if count != facets[-1].get(value, 0)]
            if wrong or not all(facets):
                return f"{about} counted otherwise: {wrong[:5]}", "DIFFER", ""
    return None, f"{widest:.1%} apart" if widest else "same", (
        f"{statistics.median_low(matched):,}" if matched else "")


# --- memory and restart


def _load(server, client, dishes):
    """The bytes of an item's text, the growth of memory in bytes once its rows are saved, and the seconds it took."""
    empty = resident_megabytes(server.process.pid)
    start = time.monotonic()
    text = load_tiffin(client, dishes)
    seconds = time.monotonic() - start
    position = json.loads(client("LOG.HEAD"))[0]["position"]
    wait_until(
        lambda: f"saved_position={position}," in client("INFO", "projections").decode(),
        "the checkpoint", seconds=SAVED_SECONDS)
    return text, (resident_megabytes(server.process.pid) - empty) * (1 << 20), seconds


def _restart(report, server, dishes, text, growth):
    empty = resident_megabytes(server.process.pid) * (1 << 20) - growth
    server.stop()
    server.arguments += ["--log-level", "debug"]
    start = time.monotonic()
    server.start()
    with server.client() as client:
        total = json.loads(client("BROWSE", "LIMIT", 1))["total"]
    seconds = time.monotonic() - start
    if total != dishes.total:
        raise RuntimeError(f"the restarted server has {total} items, not {dishes.total}")
    after = resident_megabytes(server.process.pid) * (1 << 20) - empty
    report.line(f"An item's own text: {text:.0f} bytes. Memory grew by {growth / dishes.total:.0f} bytes for each item while "
                f"loading; restarted, it is {after / dishes.total:.0f} above empty.")
    report.verdict("memory for each item above its text", max(growth, after) / dishes.total - text, 400, at_least=False,
                   unit=" bytes")
    report.line(f"Restarted, until the first answer: {seconds:.2f} s")
    if line := INDEXED.search(server.output()):
        rate = int(line[1]) / (float(line[3]) / 1000)
        report.line(f"  {line[0]}: {per_second(rate)}")
        report.verdict("thousand items indexed a second", rate / 1000, 300)
    else:
        report.not_measured("building the index", "the server's log has no line about it")
