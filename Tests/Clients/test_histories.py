"""The judge of histories finds what no order explains, accepts what one does, and then judges servers."""

import itertools
import math
import random

import pytest

import histories
from histories import cart, supply
from linearizability import Operation, explain
from trials import Failure


def register(state, call):
    """The plainest object: a value, which is written and read."""
    return (call[1], None) if call[0] == "write" else (state, state)


def made(*operations):
    return [Operation(asked, answered, call, reply) for asked, answered, call, reply in operations]


STALE = made((0, 1, ("write", 1), None), (2, 3, ("write", 2), None), (4, 5, ("read",), 1))
LOST = made((0, 1, ("add", "tea", 1, None), 1), (2, 3, ("get",), ((), 0)))
DOUBLED = made((0, 1, ("add", "tea", 1, None), 1), (2, 3, ("get",), ((("tea", 2),), 2)))
BACK = made((0, 9, ("write", 1), None), (1, 2, ("read",), 1), (3, 4, ("read",), 0))
OVERSOLD = made((0, 2, ("take", 3), "done"), (1, 3, ("take", 3), "done"))
CLAIMED_TWICE = made((0, 2, ("add", "tea", 1, 0), 1), (1, 3, ("add", "bun", 1, 0), 1))


@pytest.mark.parametrize("history, state, apply", [
    (STALE, 0, register), (LOST, ((), 0), cart), (DOUBLED, ((), 0), cart), (BACK, 0, register), (OVERSOLD, 5, supply),
    (CLAIMED_TWICE, ((), 0), cart)])
def test_what_no_order_explains_is_found(history, state, apply):
    assert len(explain(history, state, apply)) < len(history)


def test_what_is_open_may_have_happened_or_not():
    write = (0, math.inf, ("write", 1), None)
    for reads in ((0, 0), (0, 1), (1, 1)):
        later = [(2 * n, 2 * n + 1, ("read",), value) for n, value in enumerate(reads, 1)]
        assert explain(made(write, *later), 0, register) is None
    assert explain(made(write, (2, 3, ("read",), 1), (4, 5, ("read",), 0)), 0, register) is not None


def by_all_orders(history, state, apply):
    """The same question, answered by trying every order of all that is closed and some of what is open."""
    open_ones = [each for each in history if each.is_open]
    for count in range(len(open_ones) + 1):
        for some in itertools.combinations(open_ones, count):
            for order in itertools.permutations([each for each in history if not each.is_open] + list(some)):
                if any(later.answered < earlier.asked for earlier, later in itertools.combinations(order, 2)):
                    continue
                now = state
                for each in order:
                    now, reply = apply(now, each.call)
                    if not each.is_open and reply != each.reply:
                        break
                else:
                    return True
    return False


def test_the_judge_agrees_with_one_that_tries_every_order():
    chance = random.Random(1)
    verdicts = set()
    for _ in range(600):
        history = []
        for _ in range(chance.randint(2, 5)):
            asked = chance.random()
            answered = math.inf if chance.random() < 0.2 else asked + chance.random() / 2
            call = chance.choice([("write", chance.randrange(3)), ("read",)])
            history.append(Operation(asked, answered, call, None if call[0] == "write" else chance.randrange(3)))
        verdict = explain(history, 0, register) is None
        assert verdict == by_all_orders(history, 0, register), history
        verdicts.add(verdict)
    assert verdicts == {True, False}


def test_a_long_history_of_many_clients_is_judged():
    chance, state, history = random.Random(2), ((), 0), []
    for number in range(200):
        call = chance.choice([("get",), ("count",), ("add", "tea", 1, None), ("add", "bun", 1, state[1])])
        state, reply = cart(state, call)
        # Each takes effect at its number, and lasts longer.
        history.append(Operation(number - 3 * chance.random(), number + 3 * chance.random(), call, reply))
    assert explain(history, ((), 0), cart) is None
    wrong = next(each for each in history[100:] if each.call == ("count",))
    wrong.reply += 50
    assert explain(history, ((), 0), cart) is not None


def test_servers_under_faults_answer_as_one():
    assert len(histories.run(4, seed=2026)) == 4


@pytest.mark.parametrize("fault", ["drop-write:10", "skip-event:5"])
def test_servers_that_make_mistakes_are_found_out(fault):
    with pytest.raises(Failure, match="no order explains|is answered"):
        histories.run(20, seed=1, faults=[histories.nothing], environment={"TIFFIN_PLANTED_FAULT": fault})
