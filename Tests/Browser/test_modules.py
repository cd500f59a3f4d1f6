"""The modules that all pages share, each against another implementation or a rule."""

import json
import random
import re

import jsonpatch

from conftest import CHECKOUT

SEED = 20_260_301


# --- patches


def random_value(dice, depth=3):
    kind = dice.randrange(8 if depth else 5)
    if kind < 2:
        return dice.randrange(-5, 100)
    if kind == 2:
        return dice.choice(["", "a", "é", "~", "/", "pie", "__proto__"])
    if kind == 3:
        return dice.choice([True, False])
    if kind == 4:
        return None
    if kind < 7:
        keys = ["a", "b", "c", "~x", "a/b", "", "0", "__proto__", "é"]
        return {key: random_value(dice, depth - 1) for key in dice.sample(keys, dice.randrange(5))}
    return [random_value(dice, depth - 1) for _ in range(dice.randrange(6))]


def places(document, path=()):
    """The paths of everything in a document, as tokens."""
    yield path
    if isinstance(document, dict):
        for key, value in document.items():
            yield from places(value, (*path, key))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from places(value, (*path, str(index)))


def pointer(path):
    return "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in path)


def at(document, path):
    for token in path:
        document = document[int(token)] if isinstance(document, list) else document[token]
    return document


def random_operation(dice, document):
    """An operation on the document, which mostly can be applied."""
    paths = list(places(document))
    path = dice.choice(paths)
    kind = dice.choice(["add", "remove", "replace", "move", "copy", "test"])
    container = at(document, path)
    inside = path
    if isinstance(container, list):
        inside = (*path, dice.choice([str(dice.randrange(len(container) + 1)), "-"]))
    elif isinstance(container, dict):
        inside = (*path, dice.choice(["a", "new", "~x", "a/b", "__proto__"]))
    if dice.randrange(12) == 0:
        path = (*path, "nowhere")
    if kind == "add":
        return {"op": kind, "path": pointer(inside), "value": random_value(dice)}
    if kind == "replace":
        return {"op": kind, "path": pointer(path), "value": random_value(dice)}
    if kind == "remove":
        return {"op": kind, "path": pointer(path if path else ("a",))}
    if kind == "test":
        same = dice.randrange(8) and path in paths
        return {"op": kind, "path": pointer(path), "value": at(document, path) if same else "something else"}
    return {"op": kind, "from": pointer(path), "path": pointer(inside)}


def random_patch(dice, document):
    operations = []
    for _ in range(dice.randrange(1, 6)):
        operation = random_operation(dice, document)
        # Without a container there is nothing to add to, and into itself nothing moves.
        source, target = operation.get("from"), operation["path"]
        if source is not None and (target.startswith(source) or source.startswith(target)):
            continue
        operations.append(operation)
        try:
            document = jsonpatch.apply_patch(document, [operation])
        except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError, KeyError):
            return operations, False, None
        if not isinstance(document, dict | list):
            break
    return operations, True, document


def test_patches_are_applied_as_another_implementation_applies_them(modules):
    dice = random.Random(SEED)
    cases = []
    while len(cases) < 1500:
        document = random_value(dice)
        if isinstance(document, dict | list):
            operations, applied, expected = random_patch(dice, document)
            cases.append({
                "document": document, "operations": operations, "applied": applied, "expected": expected})
    assert 200 < sum(not case["applied"] for case in cases) < 1200
    # Documents travel as texts: the driver would lose `__proto__`.
    answers = modules.evaluate("""async (text) => {
        const { applyPatch, PatchError } = await import("/shared/patch.js");
        return JSON.parse(text).map(({ document, operations }) => {
            const before = JSON.stringify(document);
            try {
                const after = JSON.stringify(applyPatch(document, operations));
                return { after, kept: JSON.stringify(document) === before };
            } catch (error) {
                return { refused: error instanceof PatchError, kept: JSON.stringify(document) === before };
            }
        });
    }""", json.dumps(cases))
    for case, answer in zip(cases, answers, strict=True):
        assert answer["kept"], case
        if case["applied"]:
            assert "after" in answer and json.loads(answer["after"]) == case["expected"], (case, answer)
        else:
            assert answer.get("refused"), (case, answer)


def test_what_a_patch_does_not_touch_is_shared_with_the_old_document(modules):
    assert modules.evaluate("""async () => {
        const { applyPatch } = await import("/shared/patch.js");
        const old = { a: { items: [{ id: 1 }, { id: 2 }] }, b: [{}] };
        const now = applyPatch(old, [{ op: "replace", path: "/a/items/1/id", value: 3 }]);
        return [now.b === old.b, now.a.items[0] === old.a.items[0], now.a.items[1] !== old.a.items[1], old.a.items[1].id];
    }""") == [True, True, True, 2]


# --- streams


def test_events_are_the_same_however_the_stream_is_cut(modules):
    stream = (
        ": a comment\n\nevent: home:a\ndata: {\"to\":1}\n\nevent:cart\r\ndata:{\"é\":\r\ndata: 2}\r\n\r\n"
        "retry: 9\nid\n\ndata: no name\n\nevent: no data\n\n"
    )
    expected = [
        {"event": "home:a", "data": '{"to":1}'}, {"event": "cart", "data": '{"é":\n2}'},
        {"event": "message", "data": "no name"},
    ]
    dice = random.Random(SEED)
    cuts = [[place] for place in range(len(stream))]
    cuts += [sorted(dice.sample(range(len(stream)), 5)) for _ in range(100)] + [list(range(len(stream)))]
    answers = modules.evaluate("""async ({ stream, cuts }) => {
        const { EventParser } = await import("/shared/stream.js");
        return cuts.map((places) => {
            const parser = new EventParser();
            return [0, ...places].flatMap((place, index) => parser.push(stream.slice(place, places[index])));
        });
    }""", {"stream": stream, "cuts": cuts})
    for cut, answer in zip(cuts, answers, strict=True):
        assert answer == expected, cut


def test_a_stream_waits_longer_each_time_but_never_as_long_as_others(modules):
    delays = modules.evaluate("""async () => {
        const { delay } = await import("/shared/stream.js");
        return [...Array(12).keys()].map((attempt) => [delay(attempt, () => 0), delay(attempt, () => 1)]);
    }""")
    assert delays[0] == [250, 500]
    assert all(low == high / 2 for low, high in delays)
    assert [high for _, high in delays] == sorted(high for _, high in delays)
    assert delays[-1][1] == 15_000


# --- topics


def test_a_topic_takes_each_message_once_and_notices_a_gap(modules):
    assert modules.evaluate("""async () => {
        const { Topic } = await import("/shared/topic.js");
        const topic = new Topic({ n: 1 }, 10);
        const set = (from, to, value) => ({ from, to, patch: [{ op: "replace", path: "/n", value }] });
        const whole = (from, to, value) => ({ from, to, patch: [{ op: "replace", path: "", value: { n: value } }] });
        return [
            topic.take(set(10, 11, 2)), topic.take(set(10, 11, 9)), topic.take(set(12, 13, 9)), topic.document.n,
            topic.take({ from: 11, to: 12, patch: [{ op: "remove", path: "/gone" }] }), topic.document.n,
            topic.take(whole(11, 11, 3)), topic.document.n, topic.take(whole(null, 5, 4)), topic.revision, topic.take({ error: {} }),
            new Topic().take(set(0, 1, 1)),
        ];
    }""") == [
        "changed", "same", "again", 2, "again", 2, "changed", 3, "changed", 5, "again", "again",
    ]


# --- lists


def longest_rise(numbers):
    best = []
    for number in numbers:
        place = next((index for index, end in enumerate(best) if end >= number), len(best))
        best[place:place + 1] = [number]
    return len(best)


def test_lists_follow_documents_with_the_fewest_moves_and_keep_rows_and_focus(modules):
    dice = random.Random(SEED)
    lists = [[]]
    for _ in range(300):
        ids = dice.sample(range(12), dice.randrange(9))
        if dice.randrange(3):
            ids = [each for each in lists[-1] if dice.randrange(6)]
            dice.shuffle(ids) if dice.randrange(2) else None
        lists.append(ids)
    rounds = modules.evaluate("""async (lists) => {
        const { reconcile } = await import("/shared/reconcile.js");
        const main = document.querySelector("main");
        const list = document.createElement("ul");
        main.replaceChildren(list);
        let moves = 0;
        list.moveBefore = function (node, before) { moves += 1; Element.prototype.moveBefore.call(this, node, before); };
        const made = new Map();
        const rounds = lists.map((ids) => {
            const before = new Map([...list.children].map((node) => [Number(node.dataset.id), node]));
            const focused = [...before.values()].at(-1);
            focused?.firstElementChild.focus();
            moves = 0;
            reconcile(list, ids.map((id) => ({ id })), {
                id: ({ id }) => id,
                make: ({ id }) => {
                    const node = document.createElement("li");
                    node.dataset.id = id;
                    node.innerHTML = "<button>x</button>";
                    return node;
                },
                fill: (node, { id }, place) => { node.dataset.place = place; },
            });
            const nodes = [...list.children];
            return {
                ids: nodes.map((node) => Number(node.dataset.id)), moves,
                places: nodes.every((node, place) => Number(node.dataset.place) === place),
                kept: nodes.every((node) => (before.get(Number(node.dataset.id)) ?? node) === node),
                focus: !focused ? "none" : focused.isConnected ? focused.contains(document.activeElement)
                    : nodes.length === 0 ? "none" : list.contains(document.activeElement),
            };
        });
        main.replaceChildren();
        return rounds;
    }""", lists)
    for before, ids, outcome in zip([[], *lists], lists, rounds, strict=False):
        staying = [before.index(each) for each in ids if each in before]
        assert outcome["ids"] == ids
        assert outcome["places"] and outcome["kept"] and outcome["focus"] in (True, "none"), (before, ids, outcome)
        assert outcome["moves"] == len(staying) - longest_rise(staying), (before, ids)


# --- long lists


def test_a_long_list_keeps_few_rows_and_has_every_row_again(modules):
    dice = random.Random(SEED)
    total, size = 3000, 48
    looks = [[dice.randrange(total - 100), dice.randrange(1, 100)] for _ in range(200)]
    outcomes = modules.evaluate("""async ({ total, size, looks }) => {
        const { LongList } = await import("/store/long-list.js");
        const read = (after) => {
            const first = Number(after ?? 0);
            const items = Array.from({ length: Math.min(size, total - first) }, (_, n) => ({ outlet: "o", item: first + n }));
            return { items, next: first + size < total ? String(first + size) : null };
        };
        const list = new LongList(read(null));
        // A row that comes twice, because it has moved, is there once.
        while (list.next) {
            const { items, next } = read(list.next);
            list.append({ items: [...items, { outlet: "o", item: 0 }], next });
        }
        return looks.map(([from, count]) => {
            list.keep(from, from + count);
            const known = list.rows(from, from + count);
            let reads = 0;
            for (let page; (page = list.missing(from, from + count)); reads++) list.refill(page, read(page.after).items);
            return {
                reads, kept: list.kept.length, length: list.length,
                known: known.every((row, n) => (row.missing ?? row.item) === from + n),
                rows: list.rows(from, from + count).map(({ item }) => item),
            };
        });
    }""", {"total": total, "size": size, "looks": looks})
    for (first, count), outcome in zip(looks, outcomes, strict=True):
        assert outcome["rows"] == list(range(first, first + count))
        assert outcome["known"] and outcome["length"] == total
        assert outcome["kept"] <= 17 * size, "what is kept has a bound"
    assert any(outcome["reads"] for outcome in outcomes)


def test_a_long_list_says_whether_the_first_page_has_the_same_rows(modules):
    assert modules.evaluate("""async () => {
        const { LongList } = await import("/store/long-list.js");
        const rows = (...ids) => ids.map((item) => ({ outlet: "o", item, at: performance.now() }));
        const list = new LongList({ items: rows(1, 2), next: undefined });
        const [dearer] = rows(2);
        const outcomes = [list.update({ items: [rows(1)[0], dearer], next: "b" }), list.next, list.kept[1] === dearer];
        list.append({ items: rows(3), next: "c" });
        // What is behind later pages is not what is behind the first.
        outcomes.push(list.update({ items: rows(1, 2), next: "x" }), list.next);
        outcomes.push(list.update({ items: rows(2, 1), next: "x" }), list.kept.map(({ item }) => item).join());
        return outcomes;
    }""") == [True, "b", True, True, "c", False, "1,2,3"]


def test_the_rows_around_the_screen_are_near_and_all_lines_have_their_room(modules):
    dice = random.Random(SEED)
    lists = [{
        "length": dice.randrange(241, 100_000), "columns": dice.randrange(1, 6), "line": dice.choice([112, 250.5]),
        "top": -dice.randrange(-500, 2_000_000), "screen": dice.randrange(400, 1600),
    } for _ in range(300)]
    outcomes = modules.evaluate("""async (lists) => {
        const { nearRows } = await import("/store/long-list.js");
        return lists.map(nearRows);
    }""", lists)
    for shown, outcome in zip(lists, outcomes, strict=True):
        (first, last), (before, behind) = outcome["places"], outcome["room"]
        line, columns, lines = shown["line"], shown["columns"], -(-shown["length"] // shown["columns"])
        assert 0 <= first < last <= shown["length"] and first % columns == 0
        assert before == first // columns * line
        assert before + behind + -(-(last - first) // columns) * line == lines * line
        # Every line within two screens is there, and few others.
        near = [max(-shown["top"] - 2 * shown["screen"], 0), min(-shown["top"] + 3 * shown["screen"], lines * line)]
        if near[0] < near[1]:
            assert before <= near[0] and behind <= lines * line - near[1]
        assert (last - first) // columns <= 5 * shown["screen"] / line + 10


# --- filters


def test_filters_are_the_address_and_the_questions(modules):
    def paths(query, *changes):
        return modules.evaluate("""async ({ query, changes }) => {
            const { Filters } = await import("/store/filters.js");
            const filters = new Filters(query);
            for (const [change, ...values] of changes) filters[change](...values);
            return [String(filters), filters.path, filters.pathAfter("c1"), filters.topic, filters.surprisePath]
                .map(decodeURIComponent);
        }""", {"query": query, "changes": changes})

    facets = "facets=cuisines,cities,areas,tags,currencies,ratings,deliveryMinutes"
    assert paths("?text=pie&sort=name&view=list&item=o/i") == [
        "text=pie&sort=name&view=list", f"/v1/browse?text=pie&sort=name&{facets}&limit=24",
        "/v1/browse?text=pie&sort=name&limit=48&after=c1", "browse?text=pie&sort=name&limit=24", "/v1/surprise?text=pie",
    ]
    address, first, _, topic, _ = paths("?what=places", ["set", "text", "x"], ["set", "text", ""], ["setRange", "rating", 3, None])
    assert (address, first) == ("what=places&rating=3,", f"/v1/outlets?rating=3,&{facets}&limit=24")
    assert topic == "outlets?rating=3,&limit=24"
    # An attribute is on the screen before it is filtered by, and stays there afterwards.
    address, first, *_ = paths("", ["addAttribute", "serves"], ["addAttribute", "no name"])
    assert (address, first) == ("attr.serves=,", f"/v1/browse?{facets},attributes.serves&limit=24")
    for changes in ([["toggle", "attr.serves", "two"]] * 2, [["setRange", "attr.serves", 1, 4], ["setRange", "attr.serves", None, None]]):
        assert paths("?attr.serves=,", *changes)[0] == "attr.serves=,"
    # Capitals and small letters are the same; prices are of one currency.
    assert paths("?cuisine=thai&cuisine=Lao", ["toggle", "cuisine", "Thai"])[0] == "cuisine=Lao"
    assert paths("?cuisine=Lao", ["toggle", "cuisine", "Thai"])[0] == "cuisine=Lao&cuisine=Thai"
    address, first, *_ = paths("?currency=GBP&price=1,2", ["toggle", "currency", "EUR"])
    assert (address, first) == ("currency=EUR", f"/v1/browse?currency=EUR&{facets},prices&limit=24")


def test_ranges_have_open_ends_and_no_other_words(modules):
    assert modules.evaluate("""async () => {
        const { Filters } = await import("/store/filters.js");
        return ["1,2", "1,", ",2.5", ",", "four,", ""].map((value) => new Filters(`price=${value}`).range("price"));
    }""") == [[1, 2], [1, None], [None, 2.5], [None, None], [None, None], [None, None]]


def test_chips_stay_where_they_are(modules):
    cases = [
        ([], [], ["Thai", "Lao", "Tamil"], 2, ["Thai", "Lao"]),
        (["Lao", "Thai"], [], ["Thai", "Lao", "Tamil"], 3, ["Lao", "Thai", "Tamil"]),
        (["Lao", "Thai"], ["Lao"], ["Thai"], 3, ["Lao", "Thai"]),
        (["Lao", "Thai"], [], ["Thai"], 3, ["Thai"]),
        ([], ["thai"], ["Thai"], 3, ["Thai"]),
        ([], ["Welsh"], ["Thai"], 1, ["Welsh"]),
    ]
    assert modules.evaluate("""async (cases) => {
        const { chipsOf } = await import("/store/filter-panel.js");
        return cases.map(([before, chosen, found, most]) => chipsOf(before, chosen, found, most));
    }""", cases) == [values for *_, values in cases]


def test_a_page_looks_again_only_at_what_nobody_tells(modules):
    assert modules.evaluate("""async () => {
        const { pauseOf } = await import("/store/looking.js");
        const live = { isVisible: true, isLive: true, isOld: false, isComplete: true };
        return [{}, { isOld: true }, { isLive: false }, { isLive: false, isComplete: false }, { isOld: true, isVisible: false }]
            .map((change) => pauseOf({ ...live, ...change }));
    }""") == [None, 5000, 5000, 1000, None]


# --- words


def test_words_are_for_people(modules):
    assert modules.evaluate("""async () => {
        const { plural, sentence, spaced, spoken } = await import("/store/texts.js");
        return [sentence("no room"), sentence("Why?"), sentence(""), plural(1, "dish", "dishes"), plural(0, "dish", "dishes"),
            spaced("shoeSize"), spaced("a.b_c"), spoken(true), spoken(["a", "b"]), spoken(42.5), spoken("red")];
    }""") == ["No room.", "Why?", "", "1 dish", "0 dishes", "Shoe size", "A b c", "yes", "a, b", "42.5", "red"]


def test_what_came_of_being_forgotten_is_said(modules):
    texts = modules.evaluate("""async () => {
        const { outcome } = await import("/store/forget-me.js");
        const said = (me) => outcome({ customers: me ? [{ destroyedKeys: 0, forgottenBefore: null, ...me }] : [] });
        return [said(null), said({ destroyedKeys: 2 }), said({ forgottenBefore: "2026-01-02T03:04:05Z" }), said({})];
    }""")
    for text, words in zip(texts, ("nothing to forget", "Nobody can read", "already, 2 Jan", "had written nothing"), strict=True):
        assert words in text or words.replace("2 Jan", "Jan 2") in text


# --- money


def test_amounts_have_the_decimals_that_the_server_gives_them(modules):
    swift = (CHECKOUT / "Sources/Model/Domain/Shared/Currency+Decimals.swift").read_text()
    table = {code: int(digits) for code, digits in re.findall(r'"([A-Z]{3})": (\d)', swift)}
    currencies = [*table, "GBP", "PKR", "COP", "LKR", "XXX"]
    amounts = [0, 1, 9, 10, 99, 100, 1650, 10**12]
    answers = modules.evaluate("""async ({ currencies, amounts }) => {
        const { decimals, major, money } = await import("/shared/money.js");
        return currencies.map((currency) => ({
            digits: decimals(currency), texts: amounts.map((amount) => major(amount, currency)), people: money(1650, currency),
        }));
    }""", {"currencies": currencies, "amounts": amounts})
    for currency, answer in zip(currencies, answers, strict=True):
        digits = table.get(currency, 2)
        assert answer["digits"] == digits
        for amount, text in zip(amounts, answer["texts"], strict=True):
            whole, _, fraction = text.partition(".")
            assert len(fraction) == digits and int(whole + fraction) == amount
        assert re.sub(r"[^0-9]", "", answer["people"]).lstrip("0") == "1650"


def test_sliders_have_steps_that_people_count_in(modules):
    steps = modules.evaluate("""async () => {
        const { stepOf } = await import("/store/range.js");
        return [stepOf(250, 4500, 10), stepOf(0, 5, 0.1), stepOf(28, 35, 1), stepOf(3, 3, 1), stepOf(0, 1e12, 100)];
    }""")
    assert steps[:4] == [100, 0.1, 1, 1]
    assert steps[4] == 20_000_000_000


# --- hours


def test_a_closed_place_opens_by_the_clock_of_its_zone(modules):
    hours = [{"day": "monday", "opens": "09:00", "closes": "14:00"}, {"day": "monday", "opens": "17:00", "closes": "25:30"},
             {"day": "thursday", "opens": "10:00", "closes": "12:00"}]

    def next_opening(day, minutes):
        return modules.evaluate("""async ({ hours, time }) => (await import("/shared/hours.js")).nextOpening(hours, time)""",
                                {"hours": hours, "time": {"day": day, "minutes": minutes}})

    assert next_opening("monday", 8 * 60) == "at 09:00"
    assert next_opening("monday", 10 * 60) == ""
    assert next_opening("monday", 15 * 60) == "at 17:00"
    # Hours go on past midnight.
    assert next_opening("tuesday", 80) == "" and next_opening("tuesday", 90) == "on Thursday at 10:00"
    assert next_opening("wednesday", 0) == "tomorrow at 10:00" and next_opening("sunday", 1439) == "tomorrow at 09:00"
    assert modules.evaluate("""async (hours) => (await import("/shared/hours.js")).week(hours)[0].text""", hours) == (
        "09:00–14:00, 17:00–01:30")
    # Half past five there is noon in Greenwich, and midnight is six hours and a half away.
    assert modules.evaluate("""async () => {
        const { endOfDay, now, weekTime } = await import("/shared/clock.js");
        const zone = "Asia/Kolkata";
        const left = 1440 - weekTime(zone).minutes;
        return Math.abs((endOfDay(zone) - now()) / 60_000 - left) <= 1;
    }""")
