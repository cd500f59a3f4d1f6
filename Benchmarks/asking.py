"""Asks contestants the same questions in turn, and reports who answers how fast."""

import gc
import statistics
import time

from contestants import Tiffin

QUESTIONS, FEWEST_QUESTIONS = 200, 10
# A peer stops after this many seconds of questions of one kind.
PEER_SECONDS = 8
# Where a peer takes longer than that, Tiffin is to be ten times faster. Where a peer is faster, Tiffin may take a
# little.
LONG_SECONDS, QUICK_MILLISECONDS = 0.001, 0.2


def ask(report, rounds, contestants, kinds, compare):
    """Asks every question of every kind, and reports how long the answers take.

    `compare` takes some questions of one kind. It returns how the contestants' answers differ, None if they do not; the
    same in one word; and how many listings match on average."""
    ours = isinstance(contestants[0], Tiffin)
    head = [contestant.name for contestant in contestants]
    rows = [("one connection, medians in ms", "matches", *head,
             *(["Tiffin's p99", *(f"to {name}" for name in head[1:])] if ours else []), "answers")]
    ratios, slowest, medians_of_ours, differing, fewest = {}, {}, {}, {}, QUESTIONS
    # The cost of a round trip: no answer can come sooner.
    asking = _time(rounds, contestants, [None] * QUESTIONS)
    rows.append(("nothing (PING, select 1)", "", *(f"{statistics.median(asking[name]) * 1000:.3f}" for name in head),
                 *([""] * len(head) if ours else []), ""))
    for kind, questions in kinds.items():
        for contestant in contestants:
            contestant.prepare(questions)
        try:
            difference, answers, matches = compare(questions)
        except (KeyError, TypeError, ValueError, StopIteration) as error:
            raise RuntimeError(f"{kind}: an answer does not have the expected shape: {error!r}") from error
        if difference:
            differing[kind] = difference
        seconds = _time(rounds, contestants, questions)
        fewest = min(fewest, *map(len, seconds.values()))
        medians = [statistics.median(seconds[name]) for name in head]
        cells = [f"{median * 1000:.3f}" for median in medians]
        if ours:
            medians_of_ours[kind] = medians[0]
            ratios[kind] = [median / medians[0] for median in medians[1:]]
            slowest[kind] = statistics.quantiles(seconds["Tiffin"], n=100, method="inclusive")[98] * 1000
            cells += [f"{slowest[kind]:.3f}", *(f"{ratio:.1f}" for ratio in ratios[kind])]
        rows.append((kind, matches, *cells, answers))
    report.line(f"{QUESTIONS} questions of each kind, at least {fewest} if a peer took long; total, first page of 20")
    report.table(rows)
    for kind, difference in differing.items():
        report.line(f"  {kind}: {difference}")
    report.verdict("kinds whose answers differ", len(differing), 0, at_least=False)
    if not ours:
        return
    for column, peer in enumerate(head[1:]):
        reached = sum(ratio[column] >= 10 for ratio in ratios.values())
        behind = [kind for kind, ratio in ratios.items() if ratio[column] < 1]
        report.line(f"  Tiffin is at least 10 times faster than {peer} in {reached} of {len(ratios)} kinds, and slower in "
                    f"{len(behind)}")
        if not contestants[column + 1].has_aims:
            continue
        long = [kind for kind, ratio in ratios.items() if ratio[column] * medians_of_ours[kind] > LONG_SECONDS]
        if long:
            kind = min(long, key=lambda kind: ratios[kind][column])
            report.verdict(f"times faster where {peer} takes more than {LONG_SECONDS * 1000:g} ms, where least ({kind})",
                           ratios[kind][column], 10)
        if behind:
            kind = max(behind, key=medians_of_ours.get)
            report.verdict(f"where {peer} is faster, most ({kind})", medians_of_ours[kind] * 1000, QUICK_MILLISECONDS,
                           at_least=False, unit=" ms")
    kind = max(slowest, key=slowest.get)
    report.verdict(f"p99, where most ({kind})", slowest[kind], 5, at_least=False, unit=" ms")


def _time(rounds, contestants, questions) -> dict:
    """Seconds for each answer; the contestants take turns."""
    seconds = {contestant.name: [] for contestant in contestants}
    for turn in range(rounds):
        part = questions[turn::rounds]
        for contestant in contestants:
            rendered = [contestant.render(question) for question in part]
            contestant.ask(rendered[0])
            deadline = time.monotonic() + PEER_SECONDS / rounds
            gc.collect()
            gc.disable()
            try:
                for number, one in enumerate(rendered):
                    start = time.perf_counter()
                    contestant.ask(one)
                    seconds[contestant.name].append(time.perf_counter() - start)
                    if time.monotonic() > deadline and number + 1 >= -(-FEWEST_QUESTIONS // rounds) \
                            and not isinstance(contestant, Tiffin):
                        break
            finally:
                gc.enable()
    return seconds
