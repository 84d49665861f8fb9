"""Response times adjusted for the length of what was read.

Long sentences take longer to read, so that without more a questionnaire with sentences of unequal length has its
"intermissions" among the long ones. Ferreira and Clifton (1986) take the residuals of a linear regression of a
participant's times on length. Here the model is multiplicative, with one slope for all,

    log t = level of the participant and item function + b log length + rest,

because a proportional effect of length fits fast and slow readers alike, and 50 noisy trials of one person do not fix a
slope. b is the value that minimises the sum of |difference of log t - b difference of log length| over pairs of trials:
a median of slopes with the differences of log length as weights (Theil 1950, his incomplete method: the trials of a
participant and function are sorted by length, and each of the shorter half is paired with the one half the list
further on). Pauses hardly move it, and levels drop out of the differences. The adjusted time

    t (median length / length)^b

is in seconds: what the answer would have taken for a sentence of median length. It is rounded to nine digits, so that
rounding errors of equal times do not count as differences.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.judgments.columns import nearest
from karat.messages import Message
from karat.screen.evidence import ScreenError
from karat.types import Floats

DIGITS = 9


def adjusted_for_length(frame: pl.DataFrame, column: str) -> tuple[pl.DataFrame, tuple[Message, ...]]:
    """The frame with rt adjusted for the length in a column, and notes on what was done.

    The column holds lengths, or texts whose characters are counted. Trials whose length is not known keep their time.

    >>> frame = pl.DataFrame({
    ...     "participant": ["p"] * 4, "function": ["test"] * 4, "rt": [2.0, 4.0, 6.0, 8.0], "words": [5, 10, 15, 20],
    ... })
    >>> adjusted, notes = adjusted_for_length(frame, "words")
    >>> adjusted["rt"].to_list(), notes[0].code
    ([5.0, 5.0, 5.0, 5.0], 'length.adjusted')
    """
    lengths, characters = _lengths(frame, column)
    known = lengths.is_not_null()
    if not known.any():
        return frame, (Message("length.none", {"column": column}),)
    slope = _slope(frame.with_columns(length=lengths).filter(known, pl.col("rt") > 0))
    if slope is None:
        return frame, (Message("length.all_equal", {"column": column}),)
    middle = float(np.median(lengths.drop_nulls().to_numpy()))
    factor = (middle / lengths) ** slope
    adjusted = frame.with_columns(rt=(pl.col("rt") * factor.fill_null(1.0)).round_sig_figs(DIGITS))
    values = {"length": middle, "column": column, "power": slope}
    notes = [Message("length.adjusted_characters" if characters else "length.adjusted", values)]
    missing = frame.height - int(known.sum())
    if missing:
        notes.append(Message("length.missing", {"n": missing, "column": column}))
    return adjusted, tuple(notes)


def _lengths(frame: pl.DataFrame, column: str) -> tuple[pl.Series, bool]:
    """The length of each trial, null where it is not known, and whether characters were counted."""
    if column not in frame.columns:
        close = nearest(column, frame.columns)
        raise ScreenError(Message("length.no_column", {"column": column, "meant": close}))
    given, characters = frame[column], False
    if given.dtype == pl.String:
        numbers = given.cast(pl.Float64, strict=False)
        written = numbers.null_count() == given.null_count() < len(given)
        given, characters = (numbers, False) if written else (given.str.len_chars(), True)
    elif not given.dtype.is_numeric():
        raise ScreenError(Message("length.neither", {"column": column}))
    lengths = given.cast(pl.Float64).rename("length")
    return lengths.set(((lengths <= 0) | ~lengths.is_finite()).fill_null(False), None), characters


def _slope(frame: pl.DataFrame) -> float | None:
    """How log time grows with log length within participants and functions; None where lengths do not differ."""
    group = ["participant", "function"]
    logs = frame.select(*group, pl.col("length").log(), pl.col("rt").log()).sort(*group, "length", "rt")
    half = (pl.len() // 2).over(group)
    shorter = pl.int_range(pl.len()).over(group) < half
    partner = pl.int_range(pl.len()) + (pl.len() + 1).over(group) // 2
    pairs = logs.with_columns(partner=pl.when(shorter).then(partner)).drop_nulls("partner")
    others = logs[pairs["partner"].cast(pl.UInt32)]
    run = (others["length"] - pairs["length"]).to_numpy()
    rise = (others["rt"] - pairs["rt"]).to_numpy()
    if not (run > 0).any():
        return None
    return _weighted_median(rise[run > 0] / run[run > 0], run[run > 0])


def _weighted_median(values: Floats, weights: Floats) -> float:
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])
