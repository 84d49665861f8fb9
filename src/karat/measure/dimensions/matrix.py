"""The table of a factor analysis: one row per case or text, one column per pair of adjectives.

A case is one participant's ratings of one text. Answers are aligned: a pair shown the other way round (polarity -1) is
reversed, so that high always means the right pole of the pair. If a pair was asked twice, its answers are averaged.
With `unit="text"` the cases of a text are averaged over participants, which removes differences between participants.

Cases of one participant are not independent. Tests of fit treat them as independent and so reject too easily; intervals
by resampling participants (`factor_intervals`) do not.

The correlations of pairs, which adequacy, the number of factors and factor analysis share, come from ratings (cases in
rows, pairs in columns, without cases with a missing rating) or are given as a correlation matrix with its number of
cases. Pearson's correlation takes the points of a scale as numbers; the polychoric one as sections of a normal
variable, and is larger if few points are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.judgments import Judgments
from karat.judgments.answer_codes import is_ordered, position
from karat.judgments.scales import Scale, as_number
from karat.judgments.table import to_polars
from karat.measure.result import BriefResult, MeasureError
from karat.messages import Message, check_word
from karat.models.factors import nearest_correlation, pearson, polychoric
from karat.plots import Figure
from karat.plots.ranked import ranked_plot
from karat.types import Floats

KEYS = {"case": ["participant", "item"], "text": ["item"]}


@dataclass(frozen=True)
class RatingsMatrix(BriefResult):
    """Aligned ratings, one column per pair."""

    frame: pl.DataFrame
    """participant and item (for texts: item), then a column for each pair, with missing answers."""
    pairs: tuple[str, ...]
    unit: Literal["case", "text"]
    participants: int
    files: ClassVar = {"ratings": "frame"}

    @property
    def values(self) -> NDArray[np.float64]:
        """The ratings alone, missing ones as NaN."""
        return self.frame.select(pl.col(self.pairs).cast(pl.Float64)).fill_null(np.nan).to_numpy()

    def plot(self, width_cm: float = 16) -> Figure:
        """The mean rating on each pair, with a standard deviation to either side."""
        ratings = self.frame.select(pl.col(self.pairs).cast(pl.Float64))
        mean, sd = (np.array(table.row(0), dtype=np.float64) for table in (ratings.mean(), ratings.std()))
        rows = pl.DataFrame({"label": self.pairs, "estimate": mean, "lower": mean - sd, "upper": mean + sd})
        return ranked_plot(rows, "mean rating, with one standard deviation", str(self.summary[0]), width_cm)

    def only(self, pairs: Sequence[str]) -> RatingsMatrix:
        """The same cases with these pairs alone."""
        unknown = [pair for pair in pairs if pair not in self.pairs]
        if unknown:
            raise MeasureError(Message("ratings.no_pair", {"pair": unknown[0], "known": self.pairs}))
        return replace(self, frame=self.frame.select(*KEYS[self.unit], *pairs), pairs=tuple(pairs))

    @property
    def summary(self) -> tuple[Message, ...]:
        """The numbers of cases, pairs and participants, and of missing ratings."""
        counts = {
            "cases": self.frame.height if self.unit == "case" else None,
            "texts": self.frame.height if self.unit == "text" else None,
            "pairs": len(self.pairs), "participants": self.participants,
            "missing": int(np.isnan(self.values).sum()) or None,
        }  # fmt: skip
        return (Message("ratings.summary", counts),)


def ratings_matrix(
    judgments: Judgments, unit: Literal["case", "text"] = "case", functions: Sequence[str] = ("test",)
) -> RatingsMatrix:
    """The ratings of a semantic differential with one column per pair (the column `question`), polarity aligned.

    Parameters
    ----------
    unit
        Whether a row is one participant's ratings of a text, or the mean ratings of a text.

    >>> import karat
    >>> answers = {"participant": ["p1"] * 4, "item": ["a", "a", "b", "b"], "question": ["clear", "simple"] * 2,
    ...            "response": [7, 2, 3, 6], "polarity": [1, -1, 1, 1]}
    >>> ratings_matrix(karat.Judgments(answers, karat.Ordinal(7))).frame.rows()
    [('p1', 'a', 7.0, 6.0), ('p1', 'b', 3.0, 6.0)]
    """
    check_word(MeasureError, "unit", unit, KEYS)
    rows, notes = aligned_ratings(judgments, functions)
    keys = ["participant", "item", "question"]
    once = rows.group_by(keys, maintain_order=True).agg(pl.col("rating").mean(), pl.len().alias("times"))
    repeated = int((once["times"] > 1).sum())
    if repeated:
        notes.append(Message("ratings.averaged", {"n": repeated}))
    questions = set(once["question"].unique().to_list())
    pairs = [question for question in judgments.scales if question in questions]
    if len(pairs) < 2:
        raise MeasureError(Message("ratings.one_pair"))
    clash = set(pairs) & {"participant", "item"}
    if clash:
        raise MeasureError(Message("ratings.pair_name", {"pair": clash.pop()}))
    if unit == "text":
        once = once.group_by("item", "question", maintain_order=True).agg(pl.col("rating").mean())
    wide = once.pivot(on="question", index=KEYS[unit], values="rating", maintain_order=True)
    people = rows["participant"].n_unique()
    if unit == "case" and wide.height > people:
        notes.append(Message("ratings.dependent_cases", {"cases": wide.height, "participants": people}))
    settings = {"unit": unit, "functions": list(functions)}
    return RatingsMatrix(
        wide.select(*KEYS[unit], *pairs), tuple(pairs), unit, people, settings=settings, notes=tuple(notes)
    )


def aligned_ratings(judgments: Judgments, functions: Sequence[str]) -> tuple[pl.DataFrame, list[Message]]:
    """The answered rows with their question and the column rating, with aligned polarity; and notes."""
    frame = judgments.frame
    if "question" not in frame.columns:
        raise MeasureError(Message("ratings.no_questions"))
    answered = frame.filter(
        pl.col("function").is_in(list(functions)), pl.col("response").is_not_null(), pl.col("question").is_not_null()
    )
    if not answered.height:
        raise MeasureError(Message("rated.no_answers", {"functions": list(functions), "answered": None}))
    notes = []
    if "polarity" not in frame.columns:
        notes.append(Message("ratings.no_polarity"))
    elif answered["polarity"].null_count():
        notes.append(Message("ratings.polarity_missing", {"n": answered["polarity"].null_count()}))
    parts = []
    for (question,), rows in answered.group_by("question", maintain_order=True):
        scale = judgments.scales.get(str(question), judgments.scales.get(""))
        if scale is None:
            raise MeasureError(Message("ratings.no_scale", {"question": str(question)}))
        parts.append(rows.with_columns(rating=rating_of(scale, "polarity" in frame.columns)))
    if len({scale for question, scale in judgments.scales.items() if question in set(answered["question"])}) > 1:
        notes.append(Message("ratings.different_scales"))
    return pl.concat(parts), notes


def rating_of(scale: Scale, aligned: bool = False) -> pl.Expr:
    """The answer as a number: that of the level if levels are numbers, else its position from 1.

    >>> import karat
    >>> frame = pl.DataFrame({"response": ["-3", "2"], "polarity": [1, -1]})
    >>> frame.select(rating_of(karat.Ordinal(range(-3, 4)), aligned=True)).to_series().to_list()
    [-3.0, -2.0]
    """
    if not is_ordered(scale):
        raise MeasureError(Message("ratings.no_numbers", {"kind": scale.kind}))
    place = position(scale, aligned)
    if not scale.levels:
        return place
    spelled = [as_number(level) for level in scale.levels]
    numbers = spelled if None not in spelled else list(range(1, len(spelled) + 1))
    return place.replace_strict(list(range(len(numbers))), numbers, default=None, return_dtype=pl.Float64)


Kind = Literal["pearson", "polychoric"]
MOST_POINTS = 20
"""The most different answers of a scale of points."""


@dataclass(frozen=True)
class Correlations:
    """A correlation matrix, its ratings if they are known, and notes."""

    matrix: Floats
    pairs: tuple[str, ...]
    observations: int
    values: Floats | None = None
    """The ratings of the complete cases."""
    keys: pl.DataFrame | None = None
    """The participant and text of each complete case."""
    notes: tuple[Message, ...] = ()


def correlations_of(matrix: Any, kind: Kind = "pearson", observations: int | None = None) -> Correlations:
    """The correlations of a `RatingsMatrix`, or of a table or an array of ratings; or a given correlation matrix."""
    check_word(MeasureError, "correlations", kind, ("pearson", "polychoric"))
    values, pairs, keys, notes = _ratings(matrix)
    if len(pairs) < 2:
        raise MeasureError(Message("correlations.too_few_pairs"))
    if keys is None and _is_correlation(values):
        if observations is None:
            raise MeasureError(Message("correlations.no_observations"))
        return Correlations(values, pairs, observations, notes=tuple(notes))
    if observations is not None:
        raise MeasureError(Message("correlations.observations"))
    whole = np.asarray(~np.isnan(values).any(axis=1))
    if not whole.all():
        notes.append(Message("correlations.incomplete", {"n": int((~whole).sum()), "cases": len(whole)}))
    complete = values[whole]
    if len(complete) < 3:
        raise MeasureError(Message("correlations.too_few_cases", {"n": len(complete)}))
    flat = [pair for pair, spread in zip(pairs, np.ptp(complete, axis=0), strict=True) if spread == 0]
    if flat:
        raise MeasureError(Message("correlations.constant", {"pairs": flat}))
    correlations = pearson(complete) if kind == "pearson" else _polychoric(complete, pairs, notes)
    cases = None if keys is None else keys.filter(pl.Series(whole))
    return Correlations(correlations, pairs, len(complete), complete, cases, tuple(notes))


def check_invertible(correlations: Correlations) -> None:
    """Refuse correlations of which one pair follows from the others, because they cannot be inverted."""
    if np.linalg.eigvalsh(correlations.matrix).min() < 1e-10:
        raise MeasureError(Message("correlations.singular"))


def _ratings(matrix: Any) -> tuple[Floats, tuple[str, ...], pl.DataFrame | None, list[Message]]:
    """The numbers, the names of the columns, the participant and text of rows, and notes."""
    if isinstance(matrix, RatingsMatrix):
        return matrix.values, matrix.pairs, matrix.frame.select(KEYS[matrix.unit]), list(matrix.notes)
    if isinstance(matrix, np.ndarray | list | tuple):
        numbers = np.asarray(matrix, dtype=np.float64)
        if numbers.ndim != 2:
            raise MeasureError(Message("correlations.shape"))
        return numbers, tuple(f"pair {place}" for place in range(1, numbers.shape[1] + 1)), None, []
    frame = to_polars(matrix)
    words = [name for name, kind in frame.schema.items() if not kind.is_numeric() and kind != pl.Null]
    if words:
        raise MeasureError(Message("correlations.no_numbers", {"column": words[0]}))
    numbers = frame.with_columns(pl.all().cast(pl.Float64).fill_null(np.nan)).to_numpy()
    return numbers, tuple(frame.columns), None, []


def _is_correlation(values: Floats) -> bool:
    if values.shape[0] != values.shape[1] or not np.allclose(values, values.T):
        return False
    return bool(np.allclose(np.diag(values), 1) and np.abs(values).max() <= 1 + 1e-9)


def _polychoric(values: Floats, pairs: tuple[str, ...], notes: list[Message]) -> Floats:
    many = [pair for pair, ratings in zip(pairs, values.T, strict=True) if len(np.unique(ratings)) > MOST_POINTS]
    if many:
        raise MeasureError(Message("correlations.too_many_points", {"pair": many[0], "most": MOST_POINTS}))
    correlations, changed = nearest_correlation(polychoric(values))
    if changed:
        notes.append(Message("correlations.nearest_matrix"))
    return correlations
