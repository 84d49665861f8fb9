"""Sums over parts: the map that asks the parts, and adds up where they are what would be too much to bring together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from karat.messages import Message
from karat.models.glrm.parted_answers import Map, Placed
from karat.models.numerics import one_thread

HELD = 200_000_000
"""How many numbers the sums that are brought together may have, in all."""

Passes = Callable[[int], object]
"""Told how often the answers have been gone through."""


class PassesError(ValueError):
    """The answers would have to be gone through more often than was allowed."""


class Crew:
    """The parts, and the map that asks them; counts how often they were asked."""

    def __init__(self, parts: Sequence[Placed], mapper: Map, most: int, told: Passes | None = None) -> None:
        self.parts, self.mapper, self.most, self.told = parts, mapper, most, told
        self.passes = 0

    def total(self, function: Callable[[Any, Any], Any], shared: Any, items: Sequence[Any], numbers: int) -> Any:
        """The sum of `function(shared, item)` over one item for each part, by the method `add` of what it gives.

        A sum has so many `numbers`. Several items make a portion, added up where it is, where the sums of all items
        would be too many; how they are put together does not depend on who does the work.
        """
        if self.passes >= self.most:
            raise PassesError(Message("models.passes", {"n": self.passes}))
        portions = min(len(items), max(2, HELD // max(numbers, 1)))
        ends = [len(items) * number // portions for number in range(portions + 1)]
        total, *others = self.mapper(_added, (function, shared), [items[first:last] for first, last in pairwise(ends)])
        for other in others:
            total.add(other)
        self.passes += 1
        if self.told is not None:
            self.told(self.passes)
        return total


def _added(given: tuple[Callable[[Any, Any], Any], Any], items: Sequence[Any]) -> Any:
    function, shared = given
    with one_thread():
        total = function(shared, items[0])
        for item in items[1:]:
            total.add(function(shared, item))
    return total
