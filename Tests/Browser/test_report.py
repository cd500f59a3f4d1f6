"""The page that `tiffin-monkey --html` writes: what its tables say is what its JSON says, and no text breaks out."""

import json
import re

import pytest
from monkeys import SMALL, run_monkey
from tiffin import Server, fresh_database

HOSTILE = (
    "</script><script>document.title = 'broken'</script><img src=x onerror=\"document.title = 1\"> & 'x' ]]> --> 🍛")
DATA = re.compile(r'(<script type="application/json" id="report">)(.*?)(</script>)', re.DOTALL)
UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "/s": 1, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "%": 0.01, "": 1}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run with faults and thresholds, and the page that it wrote."""
    folder = tmp_path_factory.mktemp("report")
    with fresh_database() as url, Server(database=url) as server:
        run = run_monkey(
            folder, server, "--chaos", *SMALL, "--rate", 300, "--duration", "3s", "--shoppers", 15, "--connections", 4,
            "--seed", 11, "--threshold", "reads:p99<1us", "--threshold", "all:rate>1", "--html", folder / "run.html",
            code=2)
    run.page = folder / "run.html"
    return run


@pytest.fixture
def show(browser, run, tmp_path):
    """Opens the page of the run, or of another report in its place. In the end, no page may have complained, or asked
    for anything."""
    contexts, complaints = [], []

    def open_page(report=None, **options):
        file = run.page
        if report is not None:
            text = json.dumps(report, ensure_ascii=False).replace("<", "\\u003c")
            file = tmp_path / "another.html"
            file.write_text(DATA.sub(lambda found: found[1] + text + found[3], run.page.read_text(), count=1))
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("request", lambda request: request.url == file.as_uri() or complaints.append(request.url))
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints


def rows(page, name) -> list[list[str]]:
    """The body of a table: the texts of its cells, also where it is folded."""
    return page.locator(f"[role=region][aria-label='{name}']").evaluate_all(
        "(tables) => tables.flatMap((table) => [...table.querySelectorAll('tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent)))")


def facts(page) -> dict[str, str]:
    return dict(page.locator("dl.facts > div").evaluate_all(
        "(all) => all.map((fact) => [fact.children[0].textContent, fact.children[1].textContent])"))


def figure(text):
    """What a figure means, as far as it is written."""
    number, unit = re.fullmatch(r"([\d,.]+) ?(\D*)", text).groups()
    return pytest.approx(float(number.replace(",", "")) * UNITS[unit], rel=0.006, abs=0.0006)


def sent(call):
    return call["accepted"] + call["refused"] + call["unknown"]


def test_tables_have_the_figures_of_the_json(run, show):
    page, report = show(), run.report
    calls = {call["name"]: call for call in report["calls"] if sent(call)}
    shown = rows(page, "Commands")
    assert {row[0] for row in shown} == set(calls) and [row[0] for row in shown[:2]] == ["writes", "reads"]
    for name, rate, *counts in (row[:5] for row in shown):
        call = calls[name]
        assert call["accepted"] / report["seconds"] == figure(rate)
        assert [int(count.replace(",", "")) for count in counts] == [call["accepted"], call["refused"], call["unknown"]]
    for name, *times in (row[:1] + row[5:] for row in shown):
        response, service = calls[name]["responseTime"], calls[name]["serviceTime"]
        assert [response[key] for key in ("p50", "p99", "p999", "maximum")] == list(map(figure, times[:4]))
        assert [service[key] for key in ("p50", "p99", "p999")] == list(map(figure, times[4:]))

    assert [[row[0], row[1].replace(",", "")] for row in rows(page, "Checks")] == [
        [check["name"], str(check["count"])] for check in report["checks"]["made"]]
    assert {tuple(row[:3]) for row in rows(page, "Errors")} == {
        (error["code"], error["call"], str(error["count"])) for error in report["errors"]}
    assert [row[1:3] for row in rows(page, "Faults")] == [
        [fault["kind"], str(fault["count"])] for fault in report["faults"]]
    assert [[row[0], row[1], row[2][-4:]] for row in rows(page, "Thresholds")] == [
        [judgement["name"], judgement["found"], "held" if judgement["held"] else "iled"]
        for judgement in report["judgements"]]
    assert facts(page)["seed"] == "11" and page.get_by_label("Command", exact=True).inner_text() == report["command"]
    assert report["sending"]["planned"] == figure(facts(page)["planned"])
    assert report["server"]["peakBytes"] == figure(facts(page)["peak memory"])


def test_every_chart_is_a_table_too(run, show):
    page, windows = show(), run.report["windows"]
    for name in "writes", "reads":
        shown = rows(page, f"Latency of {name}")
        assert len(shown) == len(windows)
        for row, window in zip(shown, windows, strict=True):
            flow = window[name]
            if flow["answered"]:
                assert [flow[key] for key in ("p50", "p99", "maximum")] == list(map(figure, row[1:]))
            else:
                assert row[1:] == ["–"] * 3
    for row, window in zip(rows(page, "Throughput"), windows, strict=True):
        rates = [window[name]["answered"] / window["seconds"] for name in ("writes", "reads")]
        assert rates == list(map(figure, row[1:]))
    calls = {call["name"]: call for call in run.report["calls"]}
    latencies = [calls[name][kind] for name in ("writes", "reads") for kind in ("responseTime", "serviceTime")]
    for row, key in zip(rows(page, "Percentiles"), ("p50", "p90", "p99", "p999", "maximum"), strict=True):
        assert [latency[key] for latency in latencies] == list(map(figure, row[1:]))
    figures = page.locator("figure")
    assert figures.count() == figures.locator("table").count() == figures.get_by_role("img").count()
    for chart in figures.get_by_role("img").all():
        assert len(chart.get_attribute("aria-label")) > 20


def test_figures_are_written_as_in_other_reports(show):
    # As in FiguresTests.
    texts = {
        "duration(0)": "0 ns", "duration(850)": "850 ns", "duration(999.4)": "999 ns", "duration(999.6)": "1.00 µs",
        "duration(999499999)": "999 ms", "duration(999500000)": "1.00 s", "duration(4321e9)": "4,321 s",
        "duration('nan')": "– ns", "count(1234567)": "1,234,567", "count(-12345)": "−12,345", "percent(0)": "0 %",
        "percent(0.00001)": "< 0.01 %", "percent(0.0012)": "0.12 %", "percent(0.1234)": "12.3 %", "percent(1)": "100 %",
        "percent('infinity')": "– %", "time(0.46)": "0.5 s", "time(59.7)": "1 min", "time(90)": "1 min 30 s",
        "time(7500)": "2 h 5 min", "time('infinity')": "– s", "rate(12345.4)": "12,345/s", "rate(0.25)": "0.250/s",
        "bytes(48210000)": "48.2 MB", "short('5.00 ms')": "5 ms", "short('0.500')": "0.5", "short('2.05 s')": "2.05 s",
        "short('1,000')": "1,000",
    }
    page = show()
    assert {expression: page.evaluate(expression) for expression in texts} == texts


def test_no_text_breaks_out(run, show):
    def hostile(value, key=None):
        if isinstance(value, dict):
            return {key: hostile(member, key) for key, member in value.items()}
        if isinstance(value, list):
            return [hostile(element, key) for element in value]
        keeps = not isinstance(value, str) or value in ("reads", "writes", "rate", "nanoseconds", "bytes")
        return value if keeps else f"{value} {HOSTILE}\u202e\0\u200b"

    report = json.loads(json.dumps(run.report))
    report["remarks"] = ["remark"]
    report["sending"]["limit"] = "limit"
    report["load"]["seed"] = 2**64 - 1
    report["checks"]["violations"] = [
        {"check": f"check {number}", "message": "message", "history": ["one", "two"], "at": 1} for number in range(5)]
    report["judgements"].append({"name": "figure", "found": "+3 %", "held": True, "remark": "remark"})
    report["outcome"] = 1
    page = show(hostile(report))
    assert page.title() == "5 checks failed – tiffin-monkey"
    assert page.locator("img, main script").count() == 0 and page.locator("script").count() == 2
    text = page.locator("main").evaluate("(main) => main.textContent")
    assert not re.search("[\0\u202e\u200b]", text)
    for part in ("message", "remark", "limit", "check 4", "one", report["command"], report["startedAt"],
                 report["environment"][0]["value"], report["faults"][0]["kind"], report["errors"][0]["code"]):
        assert f"{part} {HOSTILE}\\u{{202e}}\\u{{0}}\\u{{200b}}" in text, part
    assert facts(page)["seed"] == "18446744073709551615"


@pytest.mark.parametrize("outcome, violations, headline", [
    (0, 0, "✓ Every check held"), (1, 1, "✗ A check failed"), (1, 1234, "✗ 1,234 checks failed"),
    (2, 0, "✗ A threshold was not held"), (3, 0, "✗ The load could not be run"),
    (4, 0, "✗ The outcome of 2 commands is unknown"),
])
def test_the_outcome_is_the_heading(run, show, outcome, violations, headline):
    report = json.loads(json.dumps(run.report))
    report["outcome"], report["checks"]["furtherViolations"] = outcome, violations
    next(call for call in report["calls"] if call["name"] not in ("reads", "writes"))["unknown"] = 2
    assert show(report).locator("h1").text_content() == headline


def test_a_comparison_says_what_is_worse(run, show):
    report = json.loads(json.dumps(run.report))

    def compared(name, held, low, high, unit="nanoseconds"):
        return {"name": name, "found": "x", "held": held, "comparison": {
            "unit": unit, "before": 2e6, "after": 3e6, "change": (low + high) / 2, "allowed": 0.1,
            "isBetterHigher": False, "interval": {"low": low, "high": high}}}

    report["judgements"] = [
        compared("a", False, 0.2, 0.8), compared("b", True, -0.1, 0.4, "bytes"), compared("c", True, -0.2, 0.05)]
    report["outcome"] = 2
    page = show(report)
    assert page.locator("h1").text_content() == "✗ A figure is worse than before"
    shown = rows(page, "Compared with the baseline")
    assert [row[:3] + row[5:] for row in shown] == [
        ["a", "2.00 ms", "3.00 ms", "✗ failed"], ["b", "2.00 MB", "3.00 MB", "? cannot tell"],
        ["c", "2.00 ms", "3.00 ms", "✓ held"]]
    assert page.locator("svg.interval .dot").evaluate_all("(dots) => dots.map((dot) => dot.classList[0])") == [
        "bad", "warn", "neutral"]


def test_a_long_run_keeps_the_worst_of_the_seconds_that_share_a_point(run, show):
    report = json.loads(json.dumps(run.report))
    [window, *_] = report["windows"]
    report["windows"] = [
        {**window, "start": second, "seconds": 1, "reads": {
            "answered": 100, "p50": 1000, "p99": 2000, "maximum": 9_000_000 if second == 1234 else 3000}}
        for second in range(3600)]
    report["seconds"] = 3600
    page = show(report)
    assert "6 s a point" in page.locator("figcaption", has_text="Throughput").inner_text()
    shown = rows(page, "Latency of reads")
    assert len(shown) == 120
    assert [row for row in shown if row[3] != "3.00 µs"] == [["20:30 – 21:00", "1.00 µs", "2.00 µs", "9.00 ms"]]
    line = page.locator("figure", has_text="Latency of reads").locator("path.reads.bold").get_attribute("d")
    assert len(re.findall("[ML]", line)) == 600


def test_a_gap_is_a_gap_and_a_single_second_a_dot(run, show):
    report = json.loads(json.dumps(run.report))
    [window, *_] = report["windows"]
    flow = {"answered": 1, "p50": 1, "p99": 2, "maximum": 3}
    report["windows"] = [
        {**window, "start": second, "seconds": 1, "writes": {**flow, "answered": second % 2}} for second in range(5)]
    line = show(report).locator("figure", has_text="Latency of writes").locator("path.writes.bold").get_attribute("d")
    assert re.fullmatch(r"(M\d+ \d+h0){2}", line)


def test_a_load_that_could_not_be_run_has_a_page(run, show):
    report = json.loads(json.dumps(run.report))
    report.update(
        outcome=3, calls=[], windows=[], errors=[], faults=[], seconds=0, judgements=[],
        remarks=["It cannot be reached."], checks={"made": [], "violations": [], "furtherViolations": 0})
    del report["server"]
    report["load"].update(isClosed=True, stages=[])
    page = show(report)
    assert "It cannot be reached." in page.get_by_role("note").inner_text() and page.locator("figure").count() == 0


@pytest.mark.parametrize("width", [360, 1200])
def test_it_is_as_wide_as_the_window_in_light_and_dark(show, width):
    colours = set()
    for scheme in "light", "dark":
        page = show(viewport={"width": width, "height": 800}, color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        colours.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(colours) == 2
