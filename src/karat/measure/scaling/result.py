"""The strengths of stimuli as a result: a table, differences and figures.

An ordinal model has a figure of the latent line, which thresholds divide into the points of the scale. The upper panel
has the probability of each point for an average participant, by the strength of a stimulus,

    P(k) = F(alpha_k - b) - F(alpha_k-1 - b).

The lower panel has the stimuli on the same line, each with a tick, and their density.
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
from karat.models.numerics import known
from karat.plots import Figure
from karat.plots.ranked import ranked_plot, short, thresholds_plot
from karat.types import Floats, Ints

Criterion = Literal["participant", "shared"]


@dataclass(frozen=True)
class StrengthDifference:
    """The difference between the strengths of two stimuli."""

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
            "first": self.first, "second": self.second, "estimate": known(self.estimate),
            "interval": interval(self.lower, self.upper), "p": known(self.p),
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
    """item, conditions (if any), estimate, se, lower, upper, rank (1 is the strongest), n (answers)."""
    model: str
    unit: Message
    """The unit of an estimate."""
    level: float
    covariance: Floats = field(repr=False)
    """The covariance of the estimates, with rows as in the frame; empty if there are too many stimuli."""
    fit: Any = field(default=None, repr=False)
    """The fit of the model, if there is one."""
    participants: pl.DataFrame | None = field(default=None, repr=False)
    """For Thurstone's model: participant, n (choices), variability, criterion."""
    files: ClassVar = {"strengths": "frame"}
    figure_file: ClassVar = "strengths"
    numbers: ClassVar = ("model", "unit", "level")

    @property
    def conditions(self) -> list[str]:
        """The columns that distinguish stimuli of the same item."""
        return self.frame.columns[1 : self.frame.columns.index("estimate")]

    @property
    def labels(self) -> list[str]:
        """The label of each stimulus: its item, and its conditions if there are any."""
        return stimulus_labels(self.frame.select("item", *self.conditions))

    def difference(self, first: str, second: str) -> StrengthDifference:
        """The first stimulus minus the second; both by their label, such as "item" or "item, condition".

        >>> import karat
        >>> strengths = karat.measure.strengths(karat.datasets.load("crowd"), "mean")
        >>> strengths.difference(strengths.labels[0], strengths.labels[-1]).p < 0.001
        True
        """
        i, j = self._row_of(first), self._row_of(second)
        estimate = self.frame["estimate"].fill_null(np.nan).to_numpy()
        size = float(estimate[i] - estimate[j])
        if len(self.covariance):
            variance = float(self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j])
        else:
            se = self.frame["se"].fill_null(np.nan).to_numpy()
            variance = float(se[i] ** 2 + se[j] ** 2)
        error = float(np.sqrt(max(variance, 0.0))) if variance == variance else float("nan")
        half = float(ndtri((1 + self.level) / 2)) * error
        p = float(2 * ndtr(-abs(size) / error)) if error > 0 else float("nan")
        return StrengthDifference(first, second, size, error, size - half, size + half, p)

    def _row_of(self, label: str) -> int:
        labels = self.labels
        if label in labels:
            return labels.index(label)
        raise MeasureError(unknown_name("unknown.stimulus", label, labels))

    def plot(self, width_cm: float = 16) -> Figure:
        """The strengths as points with their intervals, the strongest on top; with more than sixty stimuli, both ends.

        >>> import karat
        >>> figure = karat.measure.strengths(karat.datasets.load("crowd"), "mean").plot()
        >>> len(figure.axes[0].get_yticks())
        60
        """
        return ranked_plot(self._estimated, f"{self.unit}, with {100 * self.level:g} % intervals", self.title, width_cm)

    @property
    def _estimated(self) -> pl.DataFrame:
        """The stimuli that have an estimate, with their labels."""
        return self.frame.with_columns(label=pl.Series(self.labels)).filter(pl.col("estimate").is_not_null())

    @property
    def title(self) -> str:
        """The title of the figure: the stimuli with the highest and the lowest estimate."""
        rows = self._estimated
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
        """Whether all estimates are the same in print, so that none is the highest."""
        return len({round(value, 2) for value in self.frame["estimate"].drop_nulls()}) == 1

    @property
    def summary(self) -> tuple[Message, ...]:
        """The number of stimuli, and those with the highest and the lowest estimate."""
        rows = self._estimated
        model = f"model.{self.model}"
        first = Message("strengths.stimuli", {"n": self.frame.height, "model": model, "unit": self.unit})
        if rows.height < 2 or self.alike:
            return (first,)
        values: dict[str, object] = {}
        for name, size, place in (("best", "top", 0), ("worst", "bottom", -1)):
            row = rows.row(place, named=True)
            estimate = {"estimate": row["estimate"], "interval": interval(row["lower"], row["upper"])}
            values |= {name: row["label"], size: Message("estimate.value", estimate)}
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
    """The frame of `Strengths`, the covariance in its order, and the number of the stimulus in each row.

    By default, standard errors come from the covariance, and intervals are normal. Equal estimates share a rank;
    missing ones (NaN) come last and have none.
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
"""The length of the line, in logits, beyond the last stimulus or threshold."""


def thresholds_figure(strengths: Strengths, width_cm: float = 16) -> Figure:
    """The thresholds of an ordinal model with the stimuli on the same line.

    >>> import karat
    >>> from karat.measure.scaling.strengths import strengths
    >>> figure = thresholds_figure(strengths(karat.datasets.load("likert"), "ordinal"))
    >>> len(figure.axes)
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
    """The probability of each point (columns) at each strength (rows) for an average participant."""
    below = expit(thresholds - line[:, None])
    edges = np.column_stack([np.zeros(len(line)), below, np.ones(len(line))])
    return np.diff(edges, axis=1)


def _finding(thresholds: Floats, levels: Sequence[str], estimate: Floats) -> str:
    """The title of the figure: the widths between thresholds, and the number of stimuli beyond them."""
    beyond = int((estimate > thresholds[-1]).sum()), int((estimate < thresholds[0]).sum())
    outside = f"{beyond[0]} of {len(estimate):,} stimuli lie above the last threshold, {beyond[1]} below the first"
    if len(thresholds) < 3:
        return outside[0].upper() + outside[1:]
    gaps = np.diff(thresholds)
    widest, narrowest = int(gaps.argmax()) + 1, int(gaps.argmin()) + 1
    return (
        f"Answer {levels[widest]} takes {gaps.max():.1f} logits, {levels[narrowest]} only {gaps.min():.1f}; {outside}"
    )
