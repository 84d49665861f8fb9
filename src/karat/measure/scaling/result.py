"""The strengths of stimuli as a result: a table, differences, a picture.

An ordinal model has a picture of the latent line, cut by thresholds into the points of the scale. Above: how likely
each point is for an average participant, by the strength of a stimulus,

    P(k) = F(alpha_k - b) - F(alpha_k-1 - b).

Below, on the same line: where the stimuli lie, each with a tick, and how densely.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from scipy.special import expit, ndtr, ndtri

from karat.judgments.columns import unknown_name
from karat.measure.rated import stimulus_labels
from karat.measure.result import MeasureError, MeasureResult, interval
from karat.messages import Message
from karat.models.numerics import known as known_number
from karat.plots import Figure
from karat.plots.ranked import ranked_plot, short, thresholds_plot
from karat.types import Floats, Ints

Criterion = Literal["participant", "shared"]


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

    def plot(self, width_cm: float = 16) -> Figure:
        """The difference with its interval."""
        row = {"label": [f"{self.first} − {self.second}"]} | {
            name: [getattr(self, name)] for name in ("estimate", "lower", "upper")
        }
        return ranked_plot(pl.DataFrame(row), "difference", str(self), width_cm)

    def __str__(self) -> str:
        return " ".join(map(str, self.summary))


@dataclass(frozen=True)
class Strengths(MeasureResult):
    """Stimuli with their strengths, the strongest first."""

    frame: pl.DataFrame
    """item, conditions where there are some, estimate, se, lower, upper, rank (1 is the strongest), n (answers)."""
    model: str
    unit: Message
    """What an estimate is counted in."""
    level: float
    covariance: Floats = field(repr=False)
    """Of the estimates, rows as in the frame; empty where there were too many stimuli to keep it."""
    fit: Any = field(default=None, repr=False)
    """What the engine gave."""
    participants: pl.DataFrame | None = field(default=None, repr=False)
    """Of Thurstone's model: participant, n (choices), variability, criterion."""
    files: ClassVar = {"strengths": "frame"}
    figure_file: ClassVar = "strengths"
    numbers: ClassVar = ("model", "unit", "level")

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
        >>> found = karat.measure.strengths(karat.datasets.load("crowd"), "mean")
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
        raise MeasureError(unknown_name("unknown.stimulus", label, labels))

    def plot(self, width_cm: float = 16) -> Figure:
        """The strengths as points with their intervals, the strongest on top; of more than sixty, both ends.

        >>> import karat
        >>> drawn = karat.measure.strengths(karat.datasets.load("crowd"), "mean").plot()
        >>> len(drawn.axes[0].get_yticks())
        60
        """
        rows = self.frame.with_columns(label=pl.Series(self.labels)).filter(pl.col("estimate").is_not_null())
        return ranked_plot(rows, f"{self.unit}, with {100 * self.level:g} % intervals", self.title, width_cm)

    @property
    def title(self) -> str:
        """Which stimuli have the highest and the lowest estimate: the title of the figure."""
        rows = self.frame.with_columns(label=pl.Series(self.labels)).filter(pl.col("estimate").is_not_null())
        if rows.height < 2:
            return f"The estimate of {rows['label'][0]}" if rows.height else "No stimulus has an estimate"
        best, worst = rows.row(0, named=True), rows.row(-1, named=True)
        ends = f"{best['estimate']:.2f} and {worst['estimate']:.2f}".replace("-", "\N{MINUS SIGN}")
        if self.alike:
            return f"All {rows.height:,} stimuli have the same estimate: {ends.split()[0]}"
        return (
            f"{short(best['label'])} has the highest estimate of {self.frame.height:,} stimuli, "
            f"{short(worst['label'])} the lowest: {ends}"
        )

    @property
    def alike(self) -> bool:
        """Whether all estimates are printed alike, so that none is the highest."""
        return len({round(value, 2) for value in self.frame["estimate"].drop_nulls()}) == 1

    @property
    def summary(self) -> tuple[Message, ...]:
        """How many stimuli have an estimate, and which two lie at the ends."""
        known = self.frame.filter(pl.col("estimate").is_not_null())
        model = f"model.{self.model}"
        first = Message("strengths.stimuli", {"n": self.frame.height, "model": model, "unit": self.unit})
        if known.height < 2 or self.alike:
            return (first,)
        values: dict[str, object] = {}
        for name, size, place in (("best", "top", 0), ("worst", "bottom", known.height - 1)):
            row = known.row(place, named=True)
            estimate = {"estimate": row["estimate"], "interval": interval(row["lower"], row["upper"])}
            values |= {name: self.labels[place], size: Message("estimate.value", estimate)}
        return first, Message("strengths.ends", values)


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


STEPS = 400
MARGIN = 0.7
"""How far, in logits, the line goes on beyond the last stimulus or threshold."""


def thresholds_figure(strengths: Strengths, width_cm: float = 16) -> Figure:
    """The thresholds of an ordinal model with the stimuli on the same line.

    >>> import karat
    >>> from karat.measure.scaling.strengths import strengths
    >>> drawn = thresholds_figure(strengths(karat.datasets.load("likert"), "ordinal"))
    >>> len(drawn.axes)
    2
    """
    if strengths.model != "ordinal" or strengths.fit is None:
        raise MeasureError(Message("strengths.no_thresholds", {"model": strengths.model}))
    thresholds: Floats = strengths.fit.thresholds
    levels: Sequence[str] = strengths.settings["levels"]
    estimate = strengths.frame["estimate"].to_numpy()
    ends = np.concatenate([estimate, thresholds])
    line = np.linspace(ends.min() - MARGIN, ends.max() + MARGIN, STEPS)
    curves = point_probabilities(line, thresholds)
    return thresholds_plot(line, curves, thresholds, levels, estimate, _finding(thresholds, levels, estimate), width_cm)


def point_probabilities(line: Floats, thresholds: Floats) -> Floats:
    """How likely each point (columns) is at each strength (rows), for an average participant."""
    below = expit(thresholds - line[:, None])
    edges = np.column_stack([np.zeros(len(line)), below, np.ones(len(line))])
    return np.diff(edges, axis=1)


def _finding(thresholds: Floats, levels: Sequence[str], estimate: Floats) -> str:
    """How wide the points between the thresholds are, and how many stimuli lie beyond them."""
    beyond = int((estimate > thresholds[-1]).sum()), int((estimate < thresholds[0]).sum())
    outside = (
        f"{beyond[0]} of {len(estimate):,} stimuli lie above the last threshold, {beyond[1]} below the first"
    )  # fmt: skip
    if len(thresholds) < 3:
        return outside[0].upper() + outside[1:]
    gaps = np.diff(thresholds)
    widest, narrowest = int(gaps.argmax()) + 1, int(gaps.argmin()) + 1
    return (
        f"Answer {levels[widest]} takes {gaps.max():.1f} logits, {levels[narrowest]} only {gaps.min():.1f}; {outside}"
    )
