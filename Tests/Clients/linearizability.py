"""Whether a history of concurrent operations could have come from one object that does them one after the other.

It knows nothing of Tiffin. The search is that of Wing and Gong, with Lowe's memory of what was seen: a set of operations
that are done, and the state that they led to. An operation whose outcome is not known stays open: it may take effect at
any time after it was asked for, or never.
"""

import math
from dataclasses import dataclass
from typing import Any

# So many states are looked at before a history counts as undecided.
MOST_STATES = 2_000_000


@dataclass
class Operation:
    """When it was asked for and answered, on one clock, and what was asked and answered."""

    asked: float
    # Infinity while the outcome is not known.
    answered: float
    call: Any
    reply: Any = None
    # For people: it plays no part.
    where: Any = None

    @property
    def is_open(self):
        return self.answered == math.inf


class Undecided(Exception):
    """There were too many possibilities."""


def explain(history, state, apply, most=MOST_STATES):
    """None if there is an order that explains the history, and otherwise the longest part of it that has one, as a list.

    `apply(state, call)` is the new state and the reply of an object in a state, both hashable."""
    history = sorted(history, key=lambda each: each.asked)
    closed = sum(1 << number for number, each in enumerate(history) if not each.is_open)
    seen, longest = {(0, state)}, (0, [])
    # Depth first; the path is kept as linked pairs.
    pending = [(0, state, None, 0)]
    while pending:
        done, state, path, length = pending.pop()
        if done & closed == closed:
            return None
        if length > longest[0]:
            longest = (length, path)
        left = [number for number in range(len(history)) if not done >> number & 1]
        # Whatever was asked for after another had been answered comes after it.
        first_answer = min(history[number].answered for number in left)
        for number in reversed(left):
            operation = history[number]
            if operation.asked > first_answer:
                continue
            following, reply = apply(state, operation.call)
            if not operation.is_open and reply != operation.reply:
                continue
            # To do nothing later explains as much.
            if operation.is_open and following == state:
                continue
            entry = (done | 1 << number, following)
            if entry not in seen:
                if len(seen) >= most:
                    raise Undecided(f"{len(history)} operations have more than {most} states")
                seen.add(entry)
                pending.append((*entry, (operation, path), length + 1))
    found, path = [], longest[1]
    while path:
        found.append(path[0])
        path = path[1]
    return found[::-1]
