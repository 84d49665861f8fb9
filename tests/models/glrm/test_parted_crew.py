"""Sums over parts: which part is asked for what, how often, and that nothing is counted twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from karat.messages import message_of
from karat.models.glrm.parts.answers import Crew, PassesError, in_turn
from messages import raises


@dataclass
class Sum:
    value: int

    def add(self, other: Sum) -> None:
        self.value += other.value


def times(factor: int, item: int) -> Sum:
    return Sum(factor * item)


@example([1] * 12, 1)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=12), st.integers(0, 12))
def test_every_part_counts_once_in_any_order(items: list[int], numbers: int) -> None:
    asked: list[int] = []

    def mapper(function: Any, shared: Any, tasks: Any) -> list[Any]:
        asked.extend(map(len, tasks))
        return in_turn(function, shared, tasks)

    crew = Crew([], mapper, 1, held=10)
    assert crew.total(times, 3, items, numbers).value == 3 * sum(items)
    assert sum(asked) == len(items)
    # As many sums at a time as may be held, two at least, and no more than there are.
    assert len(asked) == min(len(items), max(2, 10 // max(numbers, 1)))
    assert max(asked) - min(asked) <= 1


def test_passes_are_counted_reported_and_limited() -> None:
    lines: list[int] = []
    crew = Crew([], in_turn, 1001, lines.append)
    for number in range(1001):
        assert crew.passes == number
        crew.total(times, 1, [1, 2], 1)
    assert lines == list(range(1, 1002))
    with raises(PassesError, "models.passes") as error:
        crew.total(times, 1, [1, 2], 1)
    assert message_of(error.value).values == {"n": 1001}
    assert crew.passes == 1001
    quiet = Crew([], in_turn, 1)
    assert quiet.total(times, 2, [5], 1).value == 10
