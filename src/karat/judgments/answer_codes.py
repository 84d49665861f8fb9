"""Answers as numbers: the scale of each row, and the place of the answer on it."""

from collections.abc import Iterator

import polars as pl

from karat.judgments import Judgments
from karat.judgments.scales import Binary, Choice, Continuous, Magnitude, Nominal, Ordinal, Scale
from karat.judgments.stimuli import answered_rows


def answered(judgments: Judgments) -> pl.DataFrame:
    """The rows with an answer, practice left out."""
    return answered_rows(judgments.frame)


def by_scale(judgments: Judgments, frame: pl.DataFrame) -> Iterator[tuple[Scale, pl.DataFrame]]:
    """Each distinct scale with its rows, in their order; questions that share a scale stay together."""
    for scale in dict.fromkeys(judgments.scales.values()):
        questions = [question for question, other in judgments.scales.items() if other == scale]
        if "question" in frame.columns:
            rows = frame.filter(pl.col("question").fill_null("").is_in(questions))
        else:
            rows = frame if "" in questions or len(judgments.scales) == 1 else frame.clear()
        if rows.height:
            yield scale, rows


def is_ordered(scale: Scale) -> bool:
    """Whether the answers have an order."""
    return not isinstance(scale, Nominal | Choice)


def position(scale: Scale, aligned: bool = False) -> pl.Expr:
    """The place of the answer: in steps from the lowest level, or the number itself (its logarithm in magnitudes).

    `aligned` reverses answers to questions that were shown the other way round (polarity -1).
    """
    response = pl.col("response")
    if isinstance(scale, Ordinal | Binary | Choice | Nominal):
        places = {level: float(place) for place, level in enumerate(scale.levels)}
        number = response.replace_strict(places, default=None, return_dtype=pl.Float64)
        mirrored = float(len(scale.levels) - 1) - number
        if isinstance(scale, Choice):
            mirrored = pl.when(number == 2).then(number).otherwise(1.0 - number)
    else:
        number = response.cast(pl.Float64, strict=False)
        number = log_magnitude(number) if isinstance(scale, Magnitude) else number
        low, high = (scale.low, scale.high) if isinstance(scale, Continuous) else (None, None)
        mirrored = -number if low is None or high is None else low + high - number
    if not aligned or isinstance(scale, Nominal):
        return number
    return pl.when(pl.col("polarity") == -1).then(mirrored).otherwise(number)


def log_magnitude(numbers: pl.Expr) -> pl.Expr:
    """The logarithm of magnitudes; 0 counts as half of the smallest positive answer."""
    positive = pl.when(numbers > 0).then(numbers)
    return pl.when(numbers.is_not_null()).then(pl.coalesce(positive, positive.min() / 2)).log()


def ends(scale: Scale) -> tuple[float, float]:
    """The lowest and the highest number that an answer, and so a mean of answers, can be; infinite without ends.

    >>> from karat.judgments.scales import Magnitude
    >>> ends(Ordinal(5)), ends(Magnitude())
    ((1.0, 5.0), (-inf, inf))
    """
    if isinstance(scale, Ordinal):
        return scale.numbers[0], scale.numbers[-1]
    if isinstance(scale, Continuous) and scale.low is not None and scale.high is not None:
        return float(scale.low), float(scale.high)
    return float("-inf"), float("inf")


def width(scale: Scale) -> float | None:
    """The largest difference of two positions; None without ends, 1 where answers are only equal or unequal."""
    if isinstance(scale, Ordinal):
        return float(len(scale.levels) - 1)
    if isinstance(scale, Binary | Choice | Nominal):
        return 1.0
    if isinstance(scale, Continuous) and scale.low is not None and scale.high is not None:
        return scale.high - scale.low
    return None
