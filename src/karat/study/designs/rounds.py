"""Repeated rounds: the same tasks again, in a new order, an item's showings kept apart.

A person whose answers are compared with themselves must not remember the last one. With each round complete, the gap
between an item's showings is on average the number of items; the order of a round is drawn evenly from all orders
that keep the gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.messages import Message
from karat.study.designs.design_error import DesignError


@dataclass(frozen=True)
class Rounds:
    """The showings of one participant in their order: an item (or row) each, and the repetition, counted from 1."""

    items: tuple[int, ...]
    repetitions: tuple[int, ...]
    notes: tuple[Message, ...] = ()


def rounds(
    items: int | Sequence[int], number: int, rng: np.random.Generator | int, distance: int | None = None
) -> Rounds:
    """Several rounds of the same items, each round in a new order.

    Two showings of an item that follow one another are at least `distance` positions apart (1: they may be adjacent);
    by default half the number of items. The first round is any order with equal probability; a later round is any
    order, other than the one before, that keeps the distance to the round before, with equal probability.

    >>> plan = rounds(4, 2, rng=1, distance=3)
    >>> plan.items[:4], plan.items[4:], plan.repetitions
    ((0, 1, 2, 3), (1, 0, 3, 2), (1, 1, 1, 1, 2, 2, 2, 2))
    """
    rng = np.random.default_rng(rng)
    labels = list(range(items)) if isinstance(items, int) else list(items)
    size = len(labels)
    gap = max(size // 2, 1) if distance is None else distance
    _refuse(labels, number, gap)
    order = rng.permutation(size)
    shown = [order]
    for _ in range(number - 1):
        following = _next_round(order, gap, rng)
        while size > 1 and np.array_equal(following, order):
            following = _next_round(order, gap, rng)
        shown.append(following)
        order = following
    notes = [Message("rounds.one_item")] if size == 1 and number > 1 else []
    return Rounds(
        tuple(labels[index] for one in shown for index in one),
        tuple(repetition for repetition in range(1, number + 1) for _ in range(size)),
        tuple(notes),
    )


def _refuse(labels: list[int], number: int, gap: int) -> None:
    size = len(labels)
    if size < 1 or number < 1:
        raise DesignError(Message("rounds.numbers", {"rounds": number, "items": size}))
    if len(set(labels)) < size:
        raise DesignError(Message("rounds.item_twice", {"advice": Message("rounds.name_once")}))
    if gap < 1:
        raise DesignError(Message("rounds.distance", {"distance": gap, "advice": Message("rounds.at_least_one")}))
    if number > 1 and gap > size:
        advice = Message("rounds.shorter_distance", {"most": max(size - 1, 1)})
        raise DesignError(Message("rounds.too_far", {"distance": gap, "items": size, "mean": size, "advice": advice}))
    if number > 1 and gap == size > 1:
        advice = Message("rounds.shorter_distance", {"most": size - 1})
        raise DesignError(Message("rounds.same_order", {"distance": gap, "items": size, "advice": advice}))


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
