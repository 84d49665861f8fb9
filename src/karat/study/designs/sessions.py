"""What is judged again: sessions with attention pairs, adjective pairs asked twice, and rounds of the same items.

The second paper (appendix A) asks the same questions in two halves. Its two attention pairs have a clear answer: in
rating tasks one member of each pair is in the first half and the other in the second, so that a person who ranks them
the wrong way round is seen. The fourth paper asks some adjective pairs a second time and scores how inconsistent the
two answers are.

A person whose answers are compared with themselves must not remember the last one. With each round complete, the gap
between an item's showings is on average the number of items; the order of a round is drawn evenly from all orders
that keep the gap.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from karat.messages import Message
from karat.study.designs.balance import DesignError, fair_draws

MIXING_MOVES = 100
"""Random exchanges of places a showing; they make the order of repeated questions even over all that are allowed."""


def attention_halves(trials: pl.DataFrame, rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """The rows of two sessions of a rating task: of each attention pair one member in each, everything else in both.

    Half of the pairs begin with their first member (difference at most one).
    """
    members: dict[str, list[int]] = {}
    others: list[int] = []
    for row, (function, pair) in enumerate(trials.select("function", "pair").iter_rows()):
        (members.setdefault(pair, []) if function == "attention" else others).append(row)
    for pair, rows in members.items():
        if len(rows) != 2:
            values = {"pair": pair, "n": len(rows), "advice": Message("pairs.two_rows")}
            raise DesignError(Message("pairs.rows", values))
    start = int(rng.integers(2))
    firsts = rng.permutation([(number + start) % 2 for number in range(len(members))]).tolist()
    drawn = list(zip(members.values(), firsts, strict=True))
    early, late = ([rows[abs(first - half)] for rows, first in drawn] for half in (0, 1))
    return sorted([*others, *early]), sorted([*others, *late])


@dataclass(frozen=True)
class Showing:
    """One question as one participant meets it: which one, for which time (from 1), and with its poles exchanged."""

    question: str
    repetition: int
    flipped: bool


def repeated_pairs(questions: Sequence[str], repeats: int, rng: np.random.Generator) -> list[Showing]:
    """The adjective pairs of a participant in their order, some of which come a second time.

    Which are repeated is drawn by lot. A repeat is at least half the number of questions after the first showing. All
    orders that keep this distance are equally probable; which pole stands left is drawn anew for every showing.
    """
    size = len(questions)
    if repeats > size:
        values = {"repeats": repeats, "questions": size, "participants": 1}
        raise DesignError(Message("sessions.repeats", {**values, "advice": Message("sessions.fewer_repeats")}))
    (again,) = fair_draws(size, repeats, 1, rng)
    others = [index for index in range(size) if index not in set(again)]
    order = _mixed([*again, *others, *again], max((size + 1) // 2, 1), rng)
    seen: set[int] = set()
    plan = []
    for index, flipped in zip(order, rng.integers(2, size=len(order)).tolist(), strict=True):
        plan.append(Showing(questions[index], 2 if index in seen else 1, bool(flipped)))
        seen.add(index)
    return plan


def _mixed(order: list[int], gap: int, rng: np.random.Generator) -> list[int]:
    """The order after many random exchanges of two places that keep the distance.

    An exchange is as probable as its undoing, so in the end every order that can be reached is equally probable.
    """
    size = len(order)
    places: dict[int, list[int]] = {}
    for place, question in enumerate(order):
        places.setdefault(question, []).append(place)
    for one, two in rng.integers(max(size, 1), size=(MIXING_MOVES * size, 2)).tolist():
        a, b = order[one], order[two]
        if a == b:
            continue
        moved = {a: [two if p == one else p for p in places[a]], b: [one if p == two else p for p in places[b]]}
        if all(abs(where[0] - where[-1]) >= gap for where in moved.values() if len(where) == 2):
            order[one], order[two] = b, a
            places |= moved
    return order


def rounds(size: int, number: int, rng: np.random.Generator) -> list[list[int]]:
    """Several rounds of the same items, numbered from 0, each round in a new order.

    Two showings of an item that follow one another are at least half the number of items apart. The first round is any
    order with equal probability; a later round is any order, other than the one before, that keeps the distance to the
    round before, with equal probability.
    """
    gap = max(size // 2, 1)
    shown = [rng.permutation(size)]
    while len(shown) < number:
        following = _next_round(shown[-1], gap, rng)
        if size == 1 or not np.array_equal(following, shown[-1]):
            shown.append(following)
    return [order.tolist() for order in shown]


def _next_round(order: np.ndarray, gap: int, rng: np.random.Generator) -> np.ndarray:
    """The next round, drawn evenly: who came last has the fewest places and is placed first, so every way is alike."""
    size = len(order)
    following = np.empty(size, dtype=order.dtype)
    free: list[int] = []
    lowest = size
    for position in range(size - 1, -1, -1):
        earliest = max(position + gap - size, 0)
        free.extend(range(earliest, lowest))
        lowest = earliest
        following[free.pop(int(rng.integers(len(free))))] = order[position]
    return following
