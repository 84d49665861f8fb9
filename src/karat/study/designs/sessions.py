"""Repeated judgments: sessions with attention pairs, adjective pairs shown twice, and rounds of the same items.

The second paper (appendix A) has the same questions in two halves. Its two attention pairs have a clear answer: in
rating tasks one member of each pair is in the first half and the other in the second, so that participants who rank
them the wrong way round can be recognised. The fourth paper repeats some adjective pairs and scores how much the
two answers differ.

Participants must not remember the answer to which a second one is compared. With each round complete, the gap between
the showings of an item is on average the number of items; the order of a round is uniform over all orders that keep the
gap.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from karat.messages import Message
from karat.study.designs.balance import DesignError, fair_draws

MIXING_MOVES = 100
"""Random exchanges of places per showing, which make the order of repeated questions uniform over all allowed ones."""


def attention_halves(trials: pl.DataFrame, rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """The rows of two sessions of a rating task: one member of each attention pair in each, all other rows in both.

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
    pairs = list(zip(members.values(), firsts, strict=True))
    early, late = ([rows[abs(first - half)] for rows, first in pairs] for half in (0, 1))
    return sorted([*others, *early]), sorted([*others, *late])


@dataclass(frozen=True)
class Showing:
    """A question shown to a participant: its name, its repetition (from 1), and whether its poles are exchanged."""

    question: str
    repetition: int
    flipped: bool


def repeated_pairs(questions: Sequence[str], repeats: int, rng: np.random.Generator) -> list[Showing]:
    """The adjective pairs of a participant in order, some of them a second time.

    The repeated ones are random. A repeat is at least half the number of questions after the first showing. All orders
    that keep this distance are equally probable; the pole on the left is random in every showing.
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

    An exchange and its inverse are equally probable, so in the end every order that can be reached is as well.
    """
    size = len(order)
    places: dict[int, list[int]] = {}
    for place, question in enumerate(order):
        places.setdefault(question, []).append(place)
    for i, j in rng.integers(max(size, 1), size=(MIXING_MOVES * size, 2)).tolist():
        a, b = order[i], order[j]
        if a == b:
            continue
        moved = {a: [j if p == i else p for p in places[a]], b: [i if p == j else p for p in places[b]]}
        if all(abs(where[0] - where[-1]) >= gap for where in moved.values() if len(where) == 2):
            order[i], order[j] = b, a
            places |= moved
    return order


def rounds(size: int, number: int, rng: np.random.Generator) -> list[list[int]]:
    """Several rounds of the same items, numbered from 0, each in a new order.

    Consecutive showings of an item are at least half the number of items apart. The first round is uniform over all
    orders; a later round is uniform over all orders that differ from the round before and keep the distance to it.
    """
    gap = max(size // 2, 1)
    orders = [rng.permutation(size)]
    while len(orders) < number:
        following = _next_round(orders[-1], gap, rng)
        if size == 1 or not np.array_equal(following, orders[-1]):
            orders.append(following)
    return [order.tolist() for order in orders]


def _next_round(order: np.ndarray, gap: int, rng: np.random.Generator) -> np.ndarray:
    """A uniform next round: the last item has the fewest places and is placed first, so all ways are equally many."""
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
