"""Single values as readers meet them, in JSON or as text, made into what a column of a table can hold."""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

import polars as pl

from karat.judgments.checks import Place
from karat.judgments.scales import answer_text


def cell_text(value: object) -> str | None:
    """A value of a JSON document as the text of a cell; what holds further values stays JSON, and nothing is missing.

    >>> cell_text(4.0), cell_text(True), cell_text(["a", 1]), cell_text("")
    ('4', 'true', '["a", 1]', None)
    """
    if value is None:
        return None
    if isinstance(value, list | dict):
        try:
            value = json.dumps(value, ensure_ascii=False)
        except RecursionError:
            value = "(deeply nested)"
    # JSON can escape half a character, which no encoding can write.
    return answer_text(value).encode("utf-8", "replace").decode() or None


def cell_number(value: object) -> float | None:
    """A value of a JSON document, or a text, as a finite number; None where it is none.

    >>> cell_number("2.5"), cell_number(True), cell_number("inf")
    (2.5, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def seconds_of(milliseconds: pl.Series) -> pl.Series:
    """Text in milliseconds as seconds; text that is not a number stays, so that a message can show it.

    >>> seconds_of(pl.Series(["1500", None])).to_list(), seconds_of(pl.Series(["1500", "soon"])).to_list()
    ([1.5, None], ['1.5', 'soon'])
    """
    return _or_text(milliseconds.cast(pl.Float64, strict=False) / 1000, milliseconds)


def from_one(index: pl.Series) -> pl.Series:
    """Positions that were counted from 0, counted from 1; text that is not a number stays for the message.

    >>> from_one(pl.Series(["0", "7"])).to_list()
    [1, 8]
    """
    return _or_text(index.cast(pl.Int64, strict=False) + 1, index)


def _or_text(numbers: pl.Series, given: pl.Series) -> pl.Series:
    if numbers.null_count() == given.null_count():
        return numbers
    return pl.select(pl.coalesce(numbers.cast(pl.String), given)).to_series()


def chained(parts: Sequence[tuple[int, Callable[[int], Place]]]) -> Callable[[int], Place]:
    """A `locate` for tables that were put below each other, from the height and the `locate` of each.

    >>> chained([(1, lambda row: ("a", "line", row)), (2, lambda row: ("b", "line", row))])(2)
    ('b', 'line', 1)
    """
    ends = list(accumulate(height for height, _ in parts))

    def locate(row: int) -> Place:
        which = bisect_right(ends, row)
        return parts[which][1](row - (ends[which - 1] if which else 0))

    return locate
