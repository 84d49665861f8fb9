"""Numbers rounded for a reader, without hiding on which side of a cutoff they lie."""

from __future__ import annotations

import polars as pl

MOST_DIGITS = 11


def round_beside(value: pl.Expr, cutoff: pl.Expr, digits: int = 2) -> pl.Expr:
    """A number rounded to so many digits, or to more where rounding would hide on which side of the cutoff it lies.

    Where there is no cutoff, nothing can be hidden.

    >>> table = pl.DataFrame({"value": [2.9996, 1.234, None, 1.234], "cutoff": [3.0, 3.0, 3.0, None]})
    >>> table.select(round_beside(pl.col("value"), pl.col("cutoff"))).to_series().to_list()
    [2.9996, 1.23, None, 1.23]
    """
    tries = [value.round(more) for more in range(digits, MOST_DIGITS + 1)]
    return pl.coalesce(*(pl.when(cutoff.is_null() | _same_side(one, value, cutoff)).then(one) for one in tries), value)


def _same_side(short: pl.Expr, value: pl.Expr, cutoff: pl.Expr) -> pl.Expr:
    return ((short < cutoff) == (value < cutoff)) & ((short > cutoff) == (value > cutoff))
