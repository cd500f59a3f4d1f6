"""AT: every document that was ever sent can be read again, byte for byte, by its position and by its time."""

import json
import random
from datetime import datetime, timezone

import pytest

from edits import Editor
from tiffin import Server, encode, item_document, put_open_outlet, run_tiffin, section_document, wait_until

OUTLETS = ["north", "south"]
CARTS = [f"c{n}" for n in range(5)]


def milliseconds(client) -> int:
    seconds, microseconds = map(int, client("TIME"))
    return seconds * 1000 + microseconds // 1000


def rfc3339(moment: int) -> str:
    seconds, fraction = divmod(moment, 1000)
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%dT%H:%M:%S}.{fraction:03}Z"


def next_millisecond(client) -> int:
    """A time that is over, so that nothing more can be recorded at it."""
    moment = milliseconds(client)
    wait_until(lambda: milliseconds(client) > moment, "a millisecond to pass")
    return moment


class Recorder:
    """Changes outlets and carts at random, and keeps the answer to every query after each change."""

    def __init__(self, client, seed):
        self.client, self.chance = client, random.Random(seed)
        self.editors = [Editor(outlet, self.chance) for outlet in OUTLETS]
        self.steps = random.Random(seed)
        self.orders = ["00000000-000000000000000000000000"]
        self.moments = []

    def questions(self):
        for outlet in OUTLETS:
            yield "OUTLET.HOME", outlet
        yield "OUTLET.HOME", OUTLETS[0], "CART", CARTS[0]
        for cart in CARTS:
            yield "CART.GET", cart
        for order in self.orders:
            yield "ORDER.GET", order
        yield "ORDERS", "COUNT", 2
        yield "ORDERS", "OUTLET", OUTLETS[0]
        yield "ORDERS", "STATUS", "preparing,cancelled", "COUNT", 1

    def record(self):
        heads = [head["position"] for head in self.client.json("LOG.HEAD")]
        answers = {question: self.client(*question) for question in self.questions()}
        self.moments.append((heads, next_millisecond(self.client), answers))

    def change(self):
        chance = self.chance
        editor, cart, item = chance.choice(self.editors), chance.choice(CARTS), f"i{chance.randrange(12)}"
        content = self.client.json("CART.GET", cart) or {}
        lines = content.get("lines")
        match chance.randrange(16):
            case 0 | 1 | 2:
                command = editor.command()
            case 3 | 4:
                command = "OUTLET.OPEN", editor.outlet
            case 5 | 6 | 7 if lines and content["status"] == "open":
                # An item in a cart gets dearer, is sold out, comes back, or is removed.
                outlet, item = content["outlet"], chance.choice(lines)["item"]
                command = chance.choice([
                    ("MENU.ITEM.PRICE", outlet, item, chance.choice([100, 250, 999])),
                    ("MENU.ITEM.SUSPEND", outlet, item), ("MENU.ITEM.RESUME", outlet, item),
                    ("MENU.ITEM.SUSPEND", outlet, item, "UNTIL", "2077-01-01T00:00:00Z"),
                    ("MENU.ITEM.REMOVE", outlet, item), ("OUTLET.CLOSE", outlet),
                ])
            case 8 if lines:
                command = "CART.SET", cart, chance.choice(lines)["line"], chance.randrange(4)
            case 9 if lines and not any(line["problem"] for line in lines):
                command = "CART.CHECKOUT", cart, "TOTAL", content["total"]
            case 10 if chance.random() < 0.1:
                command = "CART.CLEAR", cart
            case _:
                command = "CART.ADD", cart, editor.outlet, item, chance.randint(1, 3)
        reply, = self.client.pipeline([command])
        if command[0] == "CART.CHECKOUT" and isinstance(reply, bytes):
            self.orders.append(reply.decode())
        if self.steps.random() < 0.2:
            order = self.steps.choice(self.orders)
            self.client.pipeline([self.steps.choice([
                ("ORDER.PREPARE", order), ("ORDER.READY", order),
                ("ORDER.CANCEL", order, "BY", "merchant", "CODE", "CLOSED")])])

    def check(self, client, *, by_position=True):
        """Asks everything again: by time or by position, in any order, and many queries at a time."""
        pairs = []
        for heads, time, answers in self.moments:
            for question, answer in answers.items():
                moment = heads[0] if by_position and self.chance.random() < 0.5 else rfc3339(time)
                pairs.append(((*question, "AT", moment), answer))
        self.chance.shuffle(pairs)
        for (question, answer), reply in zip(pairs, client.pipeline([question for question, _ in pairs])):
            assert reply == answer, question


def test_every_earlier_answer_can_be_read_again(database):
    with Server(database=database) as server, server.client() as client:
        recorder = Recorder(client, 5)
        recorder.record()
        for editor in recorder.editors:
            editor.put(client)
            recorder.record()
        for _ in range(100):
            recorder.change()
            recorder.record()
        recorder.check(client)
        problems = {
            line["problem"]["code"] for _, _, answers in recorder.moments for (command, *_), answer in answers.items()
            if command == "CART.GET" and answer for line in json.loads(answer)["lines"] if line["problem"]
        }
        assert len(recorder.orders) > 1, "no cart of this seed was checked out"
        assert problems == {"PRICECHANGED", "SOLDOUT", "GONE", "CLOSED"}, "the carts of this seed show too little"
    with Server(database=database) as server, server.client() as client:
        recorder.check(client)


def test_a_time_works_in_several_partitions(database):
    assert run_tiffin("migrate", "--database", database, "--partitions", 3).returncode == 0
    with Server(database=database) as server, server.client() as client:
        recorder = Recorder(client, 3)
        recorder.record()
        for editor in recorder.editors:
            editor.put(client)
            recorder.record()
        for _ in range(40):
            recorder.change()
            recorder.record()
        recorder.check(client, by_position=False)
        assert str(client.error("ORDERS", "AT", 1)) == "INVALID AT: must be a time: the log has 3 partitions"


def test_in_several_partitions_a_position_belongs_to_the_carts_partition_and_gives_the_time(database):
    assert run_tiffin("migrate", "--database", database, "--partitions", 8).returncode == 0
    with Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "north", [section_document("all", [item_document("tea", 100)])])
        for n in range(16):
            cart = f"c{n}"
            client("MENU.ITEM.PRICE", "north", "tea", 100 + n)
            client("CART.ADD", cart, "north", "tea", 1)
            answer = client("CART.GET", cart)
            events = client.pipeline([("LOG.READ", "STREAM", f"cart-{cart}")])[0]
            position = json.loads(events[-1])["position"]
            next_millisecond(client)
            client("MENU.ITEM.PRICE", "north", "tea", 90)
            assert client("CART.GET", cart) != answer
            assert client("CART.GET", cart, "AT", position) == answer
            assert client("CART.GET", cart, "AT", position - 1) is None


def test_pauses_and_suspensions_end_when_their_time_has_come(database):
    with Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "north", [section_document("all", [item_document("tea", 100), item_document("bun", 50)])])
        client("CART.ADD", "c", "north", "tea", 1)
        client("CART.ADD", "c", "north", "bun", 1)
        end = milliseconds(client) + 700
        client("MENU.ITEM.SUSPEND", "north", "tea", "UNTIL", rfc3339(end))
        client("OUTLET.PAUSE", "north", "UNTIL", rfc3339(end - 300))
        position = client.json("LOG.HEAD")[0]["position"]
        seen, codes = [], []
        for until in (end - 300, end, None):
            time, answer = milliseconds(client), client("CART.GET", "c")
            seen.append((time, answer))
            codes.append([line["problem"] and line["problem"]["code"] for line in json.loads(answer)["lines"]])
            if until:
                wait_until(lambda: milliseconds(client) >= until, "the pause or suspension to end")
        assert codes == [["CLOSED", "CLOSED"], ["SOLDOUT", None], [None, None]]
        for time, answer in seen:
            assert client("CART.GET", "c", "AT", rfc3339(time)) == answer
        # A position means the moment when it was recorded.
        assert client("CART.GET", "c", "AT", position) == seen[0][1]
        assert client("CART.GET", "c", "AT", rfc3339(end - 1)) == seen[1][1]
        assert client("CART.GET", "c", "AT", rfc3339(end)) == seen[2][1]


def test_before_the_beginning_there_was_nothing(client, outlet, name):
    client("CART.ADD", f"{name}-c", outlet, "rice", 1)
    for moment in (0, "1970-01-01T00:00:00Z", "2020-02-29T23:59:59.999+05:30"):
        assert client("OUTLET.HOME", outlet, "AT", moment) is None
        assert client("OUTLET.HOME", outlet, "CART", f"{name}-c", "AT", moment) is None
        assert client("CART.GET", f"{name}-c", "at", moment) is None
        assert client("ORDER.GET", "nothing", "AT", moment) is None
        assert client.json("ORDERS", "AT", moment) == {"orders": [], "next": None}


@pytest.mark.parametrize("command", [("OUTLET.HOME", "north"), ("CART.GET", "c"), ("ORDER.GET", "o"), ("ORDERS",)])
def test_invalid_moments_are_refused(client, command):
    end = client.json("LOG.HEAD")[0]["position"]
    for beyond in (end + 1, 2**63 - 1):
        assert str(client.error(*command, "AT", beyond)) == (
            f"INVALID AT: partition 0 of the log ends at position {end}")
    for moment in ("-1", "01", "+1", "1.5", "", "yesterday", "2026-02-30T00:00:00Z", "9223372036854775808", b"\xff"):
        assert str(client.error(*command, "AT", moment)).startswith("INVALID AT: must be a position of the log from 0")
    assert "must not lie in the future: it is 20" in str(client.error(*command, "AT", "9999-12-31T23:59:59Z"))
    for words in (["AT"], ["AT", 1, "AT", 1], ["AT", 1, 1], ["WHEN", 1]):
        assert client.error(*command, *words).code == "ERR"


def test_a_history_too_long_to_fold_is_refused_and_an_earlier_moment_is_not(client, outlet, name):
    cart = f"{name}-c"
    client("CART.ADD", cart, outlet, "rice", 1)
    early, answer = client.json("LOG.HEAD")[0]["position"], client("CART.GET", cart)
    replies = client.pipeline([("CART.SET", cart, "rice", 2 - n % 2) for n in range(1, 10_001)], window=500)
    assert not [reply for reply in replies if not isinstance(reply, int)]
    late = client.json("LOG.HEAD")[0]["position"]
    assert str(client.error("CART.GET", cart, "AT", late)) == (
        "LIMIT the document needs more than 10000 events")
    assert client.error("OUTLET.HOME", outlet, "CART", cart, "AT", late).code == "LIMIT"
    assert client("CART.GET", cart, "AT", early) == answer
    assert client("OUTLET.HOME", outlet, "AT", late) == client("OUTLET.HOME", outlet)


def test_looking_back_keeps_nobody_waiting(server, client, outlet, name):
    """A thousand queries about the past, and meanwhile one about the present."""
    positions = range(1, client.json("LOG.HEAD")[0]["position"] + 1)
    questions = [("OUTLET.HOME", outlet, "AT", positions[n % len(positions)]) for n in range(400)]
    with server.client() as other:
        client.send(b"".join(encode(*question) for question in questions))
        assert other("CART.COUNT", f"{name}-c") == 0
        for _ in questions:
            reply = client.read()
            assert reply is None or isinstance(reply, bytes)
