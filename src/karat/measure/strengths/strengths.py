"""Strengths of stimuli: how good, natural or acceptable each one is, on one scale, with intervals.

One table for all ways of measuring: a rating scale, yes or no, magnitudes, or choices between two. The recommended
model of a scale is taken unless another one is named:

    scale              recommended                        others
    rating scale       "ordinal"                          "mean", "zscore"
    yes or no          "binary"                           "mean"
    magnitudes         "magnitude"                        "mean"
    numbers, sliders   "zscore"                           "mean"
    choices            "thurstone" with "no difference",  "davidson"
                       "bradley-terry" without

How each is estimated stands in `karat.measure.strengths.ratings` and `karat.measure.strengths.choices`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from scipy.special import ndtr, ndtri

from karat.judgments import Judgments
from karat.judgments.columns import nearest
from karat.judgments.scales import Choice, Scale
from karat.jupyter import NotebookDisplay
from karat.measure.errors import MeasureError
from karat.measure.rated import asked_about, rated, stimulus_labels
from karat.measure.texts import interval
from karat.messages import Message
from karat.models.rounding import known as known_number
from karat.types import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Criterion = Literal["participant", "shared"]
MODELS: dict[str, tuple[str, ...]] = {
    "ordinal": ("ordinal", "mean", "zscore"),
    "binary": ("binary", "mean"),
    "magnitude": ("magnitude", "mean"),
    "continuous": ("zscore", "mean"),
    "choice": ("bradley-terry", "davidson", "thurstone"),
}
"""The models of each kind of scale, the recommended one first."""


@dataclass(frozen=True)
class StrengthDifference:
    """How much stronger one stimulus is than another."""

    first: str
    second: str
    estimate: float
    se: float
    lower: float
    upper: float
    p: float
    """Two-sided, by the normal distribution."""

    @property
    def summary(self) -> tuple[Message, ...]:
        """The difference with its interval and p."""
        values = {
            "first": self.first, "second": self.second, "estimate": known_number(self.estimate),
            "interval": interval(self.lower, self.upper), "p": known_number(self.p),
        }  # fmt: skip
        return (Message("strengths.difference", values),)

    def __str__(self) -> str:
        return " ".join(map(str, self.summary))


@dataclass(frozen=True)
class Strengths(NotebookDisplay):
    """Stimuli with their strengths, the strongest first."""

    frame: pl.DataFrame
    """item, conditions where there are some, estimate, se, lower, upper, rank (1 is the strongest), n (answers)."""
    model: str
    unit: Message
    """What an estimate is counted in."""
    level: float
    covariance: Floats = field(repr=False)
    """Of the estimates, rows as in the frame; empty where there were too many stimuli to keep it."""
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Message, ...] = ()
    fit: Any = field(default=None, repr=False)
    """What the engine gave."""

    def table(self) -> pl.DataFrame:
        """The strengths."""
        return self.frame

    @property
    def conditions(self) -> list[str]:
        """The columns that tell stimuli of an item apart."""
        return self.frame.columns[1 : self.frame.columns.index("estimate")]

    @property
    def labels(self) -> list[str]:
        """A name for each stimulus: its item, and its conditions where there are some."""
        return stimulus_labels(self.frame.select("item", *self.conditions))

    def difference(self, first: str, second: str) -> StrengthDifference:
        """How much stronger the first stimulus is than the second; both by their label, as "item" or "item, condition".

        >>> import karat
        >>> found = strengths(karat.datasets.load("crowd"), "mean")
        >>> found.difference(found.labels[0], found.labels[-1]).p < 0.001
        True
        """
        one, other = self._place(first), self._place(second)
        estimate = self.frame["estimate"].fill_null(np.nan).to_numpy()
        size = float(estimate[one] - estimate[other])
        if len(self.covariance):
            both = self.covariance[np.ix_([one, other], [one, other])]
            variance = float(both[0, 0] + both[1, 1] - 2 * both[0, 1])
        else:
            se = self.frame["se"].fill_null(np.nan).to_numpy()
            variance = float(se[one] ** 2 + se[other] ** 2)
        error = float(np.sqrt(max(variance, 0.0))) if variance == variance else float("nan")
        half = float(ndtri((1 + self.level) / 2)) * error
        p = float(2 * ndtr(-abs(size) / error)) if error > 0 else float("nan")
        return StrengthDifference(first, second, size, error, size - half, size + half, p)

    def _place(self, label: str) -> int:
        labels = self.labels
        if label in labels:
            return labels.index(label)
        close = nearest(label, labels)
        raise MeasureError(Message("strengths.no_stimulus", {"label": label, "close": close or None}))

    def plot(self, width_cm: float = 16) -> Figure:
        """The strengths as points with their intervals, the strongest on top; of more than sixty, both ends.

        >>> import karat
        >>> drawn = strengths(karat.datasets.load("crowd"), "mean").plot()
        >>> len(drawn.axes[0].get_yticks())
        60
        """
        from karat.plots.ranked import ranked_plot, short

        rows = self.frame.with_columns(label=pl.Series(self.labels)).filter(pl.col("estimate").is_not_null())
        if rows.height < 2:
            title = f"The strength of {rows['label'][0]}" if rows.height else "No stimulus has a strength"
        else:
            best, worst = rows.row(0, named=True), rows.row(-1, named=True)
            title = (
                f"{short(best['label'])} is the strongest of {self.frame.height:,} stimuli, {short(worst['label'])} "
                f"the weakest: {best['estimate']:.2f} and {worst['estimate']:.2f}"
            )
        return ranked_plot(rows, f"{self.unit}, with {100 * self.level:g} % intervals", title, width_cm)

    @property
    def summary(self) -> tuple[Message, ...]:
        """How many stimuli have an estimate, and which two lie at the ends."""
        known = self.frame.filter(pl.col("estimate").is_not_null())
        first = Message("strengths.stimuli", {"n": self.frame.height, "model": self.model, "unit": self.unit})
        if known.height < 2:
            return (first,)
        ends = [(self.labels[place], _estimate(known.row(place, named=True))) for place in (0, known.height - 1)]
        (best, top), (worst, bottom) = ends
        values = {"best": best, "top": top, "worst": worst, "bottom": bottom}
        return first, Message("strengths.ends", values)

    def __str__(self) -> str:
        return " ".join(map(str, (*self.summary, *self.notes)))


def _estimate(row: dict[str, Any]) -> Message:
    ends = interval(row["lower"], row["upper"])
    return Message("estimate.value", {"estimate": row["estimate"], "interval": ends})


def strengths(
    judgments: Judgments,
    model: str | None = None,
    *,
    question: str | None = None,
    conditions: Sequence[str] | None = None,
    functions: Sequence[str] = ("test",),
    level: float = 0.95,
    side: bool = False,
    criterion: Criterion = "participant",
    prior_sd: float | None = None,
    posterior: bool = False,
    seed: int = 1,
) -> Strengths:
    """The strength of every stimulus, by the recommended model of the scale or the one that is named.

    `side`, `criterion`, `prior_sd`, `posterior` and `seed` are for choices: see `karat.measure.strengths.choices`.

    >>> import karat
    >>> found = strengths(karat.datasets.load("likert"), "mean")
    >>> found.table().columns
    ['item', 'order', 'integration', 'estimate', 'se', 'lower', 'upper', 'rank', 'n']
    """
    if not 0 < level < 1:
        raise MeasureError(Message("measure.level", {"level": level}))
    one = asked_about(rated(judgments, "strengths", functions, conditions), question, "strengths")
    if isinstance(one.scale, Choice):
        # Every comparison counts, also of two items that somebody has compared before.
        one = asked_about(rated(judgments, "strengths", functions, conditions, once=None), question, "strengths")
    chosen = _model(one.scale, model)
    if isinstance(one.scale, Choice):
        from karat.measure.strengths.choices import choice_strengths

        found = choice_strengths(one, chosen, level, side, criterion, prior_sd, posterior, seed)
    else:
        from karat.measure.strengths.ratings import rating_strengths

        _only_for_choices(chosen, side, criterion, prior_sd, posterior)
        found = rating_strengths(one, chosen, level)
    silent = _without_answer(judgments, one.question, functions)
    settings = {"model": chosen, "question": one.question, "functions": tuple(functions), "level": level}
    return replace(
        found, settings=settings | found.settings, notes=tuple(dict.fromkeys((*silent, *one.notes, *found.notes)))
    )  # fmt: skip


def _without_answer(judgments: Judgments, question: str, functions: Sequence[str]) -> list[Message]:
    """How many trials are left out because nothing was answered."""
    silent = judgments.frame.filter(pl.col("function").is_in(list(functions)), pl.col("response").is_null())
    if "question" in silent.columns:
        silent = silent.filter(pl.col("question").fill_null("") == question)
    return [Message("strengths.no_answer", {"n": silent.height})] if silent.height else []


def _model(scale: Scale, model: str | None) -> str:
    """The model that was asked for, or the recommended one; else the reason why it does not fit the scale."""
    fitting = MODELS.get(scale.kind, ())
    if not fitting:
        raise MeasureError(Message("strengths.no_order", {"kind": scale.kind}))
    if model is None:
        return "thurstone" if isinstance(scale, Choice) and scale.none else fitting[0]
    if model not in fitting:
        values = {"model": model, "kinds": [scale.kind], "models": list(fitting)}
        raise MeasureError(Message("strengths.no_model", values))
    return model


def _only_for_choices(model: str, side: bool, criterion: Criterion, prior_sd: float | None, posterior: bool) -> None:
    given = {
        "side": side, "criterion": criterion != "participant", "prior_sd": prior_sd is not None, "posterior": posterior,
    }  # fmt: skip
    for name, present in given.items():
        if present:
            raise MeasureError(Message("strengths.only_choices", {"option": name, "model": model}))


def by_strength(
    stimuli: pl.DataFrame,
    estimate: Floats,
    covariance: Floats,
    n: Ints,
    level: float,
    se: Floats | None = None,
    ends: tuple[Floats, Floats] | None = None,
) -> tuple[pl.DataFrame, Floats, Ints]:
    """The frame of `Strengths`, the covariance in its order, and which stimulus each row is.

    Standard errors are those of the covariance, and intervals normal, unless given. Equal estimates share a rank; what
    could not be estimated (NaN) comes last, without one.

    >>> frame, _, order = by_strength(
    ...     pl.DataFrame({"item": ["a", "b"]}), np.array([1.0, 2.0]), np.eye(2), np.array([9, 9]), 0.95
    ... )
    >>> frame["item"].to_list(), frame["rank"].to_list(), order.tolist()
    (['b', 'a'], [1, 2], [1, 0])
    """
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0)) if se is None else se
    half = ndtri((1 + level) / 2) * error
    lower, upper = (estimate - half, estimate + half) if ends is None else ends
    order = np.argsort(-estimate, kind="stable")
    table = stimuli.with_columns(
        pl.Series("estimate", estimate), pl.Series("se", error), pl.Series("lower", lower), pl.Series("upper", upper),
        pl.Series("n", n, dtype=pl.Int64),
    ).with_columns(pl.col("estimate", "se", "lower", "upper").fill_nan(None))  # fmt: skip
    rank = pl.col("estimate").rank("min", descending=True).cast(pl.Int64).alias("rank")
    table = table.with_columns(rank).select(*stimuli.columns, "estimate", "se", "lower", "upper", "rank", "n")
    return table[order], covariance[np.ix_(order, order)] if len(covariance) else covariance, order
