"""Scores of stimuli by group of trials, for the study and for bootstrap samples of its participants.

Three kinds of score: the mean answer; the mean of answers standardised within participant (and group), which takes out
that some use the high end of a scale and some only its middle; and a function of yours, from judgments to a table with
`item` and `estimate` or to anything with such a `.table()`. The first two are sums over participants, so that a
thousand samples cost two products of matrices; a function is called anew for each sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl

from karat.errors import KaratError
from karat.judgments import Judgments
from karat.measure.errors import MeasureError
from karat.measure.rated import Rated
from karat.messages import Message
from karat.models.resampling import quotient, summing
from karat.types import Floats, Ints

Score = Callable[[Judgments], Any]


def weighted_means(one: Rated, chosen: Floats, weights: Floats, standardised: bool) -> Floats:
    """The mean of each stimulus (rows) among the chosen answers, for each column of participants' weights.

    >>> import karat
    >>> from karat.measure.rated import rated
    >>> (crowd,) = rated(karat.datasets.load("crowd"), "stability")
    >>> everybody = np.ones((120, 1))
    >>> weighted_means(crowd, np.ones(9600, dtype=bool), everybody, standardised=False).shape
    (80, 1)
    """
    kept = np.flatnonzero(chosen)
    stimulus, rater, value = one.stimulus[kept], one.rater[kept], one.value[kept]
    value = standardised_within(rater, value, len(one.people)) if standardised else value
    known = np.isfinite(value)
    shape = (one.stimuli.height, len(one.people))
    stimulus, rater, value = stimulus[known], rater[known], value[known]
    # The middle is taken out and put back, so that sums of squares of large numbers do not lose digits.
    middle = float(value.mean()) if len(value) else 0.0
    number = summing(stimulus, rater, shape=shape) @ weights
    total = summing(stimulus, rater, value - middle, shape) @ weights
    return quotient(total, number) + middle


def standardised_within(rater: Ints, value: Floats, people: int) -> Floats:
    """Answers minus the participant's mean, over their standard deviation; NaN where somebody's do not vary.

    >>> standardised_within(np.array([0, 0, 1, 1]), np.array([1.0, 3.0, 2.0, 2.0]), 2).round(3).tolist()
    [-0.707, 0.707, nan, nan]
    """
    number = np.bincount(rater, minlength=people)
    deviation = value - (np.bincount(rater, value, people) / np.maximum(number, 1))[rater]
    spread = np.sqrt(np.bincount(rater, deviation**2, people) / np.maximum(number - 1, 1))
    own = spread[rater]
    return quotient(deviation, np.where(own > 1e-12 * max(1.0, float(np.max(np.abs(value), initial=0.0))), own, 0.0))


def drawn_again(judgments: Judgments, counts: Mapping[str, int]) -> Judgments:
    """The judgments of a bootstrap sample: everybody as often as they count, copies under names of their own.

    >>> import karat
    >>> crowd = karat.datasets.load("crowd")
    >>> drawn_again(crowd, {"w001": 2, "w002": 1}).participants["participant"].to_list()
    ['w001', 'w001 (2)', 'w002']
    """
    table = pl.DataFrame(
        [(name, name if copy == 1 else f"{name} ({copy})") for name, times in counts.items()
         for copy in range(1, times + 1)],
        schema={"participant": pl.String, "_name": pl.String}, orient="row",
    )  # fmt: skip

    def renamed(frame: pl.DataFrame) -> pl.DataFrame:
        joined = table.join(frame, on="participant", how="inner", maintain_order="left_right")
        return joined.with_columns(participant="_name").drop("_name").select(frame.columns)

    return judgments.with_frame(renamed(judgments.frame), renamed(judgments.participants))


def function_scores(score: Score, judgments: Judgments, key: str = "item", value: str = "estimate") -> dict[str, Any]:
    """What a function makes of judgments, as a mapping from item to score; empty where it cannot be made.

    >>> import karat
    >>> crowd = karat.datasets.load("crowd")
    >>> means = lambda j: j.frame.group_by("item").agg(estimate=pl.col("response").cast(pl.Float64).mean())
    >>> len(function_scores(means, crowd))
    80
    """
    try:
        found = score(judgments)
    except KaratError:
        return {}
    return as_mapping(found, key, value)


def as_mapping(found: Any, key: str, value: str) -> dict[str, Any]:
    """A table, something with a `.table()`, or a mapping, as a mapping from key to value.

    >>> as_mapping(pl.DataFrame({"item": ["a"], "estimate": [1.5]}), "item", "estimate")
    {'a': 1.5}
    """
    if isinstance(found, Mapping):
        return dict(found)
    table = found if isinstance(found, pl.DataFrame) else found.table() if hasattr(found, "table") else None
    if not isinstance(table, pl.DataFrame) or not {key, value} <= set(table.columns):
        raise MeasureError(Message("scores.no_table", {"key": key, "value": value}))
    return dict(table.select(pl.col(key).cast(pl.String), value).iter_rows())
