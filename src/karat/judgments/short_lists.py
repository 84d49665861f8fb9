"""Lists as messages show them: names and rows, cut where they are many."""

from __future__ import annotations

from collections.abc import Sequence

from karat.messages import Message

MOST_NUMBERS = 10
"""Rows of one kind that are named one by one."""


def listed(names: Sequence[object], most: int = 6) -> Message:
    """Names for a message, cut where they are many.

    >>> print(listed(["a", "b"]), listed(["a", "b", "c"], most=2), sep="; ")
    a, b; a, b and 1 more
    """
    rest = len(names) - most
    return Message("list.names", {"names": list(names[:most]), "more": rest if rest > 0 else None})


def rows_named(place: str, numbers: Sequence[int]) -> Message:
    """Rows by their numbers; of many, the first few, how many more there are and the last.

    >>> print(rows_named("line", [17]), rows_named("line", range(2, 500)), sep="; ")
    line 17; lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 488 more up to 499
    """
    more = len(numbers) - MOST_NUMBERS
    values = {
        "n": len(numbers),
        "numbers": [str(number) for number in numbers[:MOST_NUMBERS]],
        "more": more if more > 0 else None,
        "last": str(numbers[-1]) if numbers else None,
    }
    if place == "line":
        return Message("rows.line", values)
    if place == "row":
        return Message("rows.row", values)
    if place == "element":
        return Message("rows.element", values)
    return Message("rows.other", {**values, "place": place})
