"""Rank correlations between measures of the same stimuli.

For every two measures: Spearman's and Kendall's rank correlation (tau-b) and Pearson's correlation over the stimuli
that both have, with percentile intervals from bootstrap samples of stimuli, which are about other stimuli of the kind.
Correlations are lower than those of true values, because every strength is an estimate; see
`karat.measure.noise_ceiling` for the possible agreement.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import polars as pl

from karat.judgments.table import to_polars
from karat.measure.rated import stimulus_labels
from karat.measure.reliability.agreement import LEVEL, check_bootstrap
from karat.measure.result import MeasureError, MeasureResult, coefficient, schema_of, table_of, with_interval
from karat.measure.scaling.result import Strengths
from karat.messages import Message
from karat.models.resampling import interval_around, kendall, pearson, resamples, spearman
from karat.plots import Figure
from karat.plots.ranked import ranks_plot
from karat.types import Floats

FEWEST = 3
"""The fewest stimuli in common for a correlation."""
MOST = 6
"""The most pairs of measures in the summary, and the most measures in the figure."""
COEFFICIENTS = {"spearman": spearman, "kendall": kendall, "pearson": pearson}
SCHEMA = schema_of(
    "first:s second:s n:i spearman lower upper kendall kendall_lower kendall_upper pearson pearson_lower pearson_upper"
)


@dataclass(frozen=True)
class MeasureCorrelations(MeasureResult):
    """Correlations between measures of the same stimuli."""

    frame: pl.DataFrame
    """first, second, n (stimuli), then Spearman's, Kendall's and Pearson's correlation, each with its interval."""
    scores: pl.DataFrame
    """stimulus, and a column of estimates for each measure."""
    files: ClassVar = {"measures": "frame", "measures-scores": "scores"}
    figure_file: ClassVar = "measures"

    def plot(self, width_cm: float = 16) -> Figure:
        """Ranks in one measure against ranks in another, for every two measures."""
        names = self.scores.columns[1:]
        if len(names) > MOST:
            raise MeasureError(Message("measures.too_many", {"n": len(names), "most": MOST}))
        return ranks_plot(self.scores, self._beside, self._finding(), width_cm)

    def _beside(self, first: str, second: str) -> str:
        """Spearman's correlation of two measures, with its interval."""
        row = self.frame.filter(pl.all_horizontal(pl.col("first", "second").is_in([first, second]))).row(0, named=True)
        return f"{with_interval(row['spearman'], row['lower'], row['upper'])}\n{row['n']:,} stimuli"

    def _finding(self) -> str:
        rows = self.frame.filter(pl.col("spearman").is_not_null()).sort("spearman")
        if not rows.height:
            return "The measures cannot be compared: the estimates of one do not vary"
        low = rows.row(0, named=True)
        if rows.height == 1:
            return (
                f"{low['first']} and {low['second']} order {low['n']:,} stimuli with a rank correlation of "
                f"{coefficient(low['spearman'])}"
            )
        return (
            f"Rank correlations between measures run from {coefficient(low['spearman'])} ({low['first']} and "
            f"{low['second']}) to {coefficient(rows['spearman'][-1])}"
        )

    @property
    def summary(self) -> tuple[Message, ...]:
        """Spearman's correlation of the first pairs of measures."""
        messages = [self._message(row) for row in self.frame.head(MOST).to_dicts()]
        if self.frame.height > MOST:
            messages.append(Message("measure_correlations.more", {"n": self.frame.height - MOST}))
        return tuple(messages)

    def _message(self, row: dict[str, Any]) -> Message:
        about = {name: row[name] for name in ("first", "second", "n")}
        if row["spearman"] is None:
            return Message("measure_correlations.undefined", about)
        values = {"estimate": row["spearman"], "lower": row["lower"], "upper": row["upper"]}
        level = {"level": self.settings.get("level", LEVEL)}
        return Message("measure_correlations.spearman", about | values | level)


def compare_measures(
    measures: Mapping[str, Any], samples: int = 1000, level: float = 0.95, seed: int = 1
) -> MeasureCorrelations:
    """Rank correlations between measures of the same stimuli, with bootstrap intervals over stimuli.

    `measures` has them by name: a `Strengths`, a table with `item` and `estimate` (and condition columns between), or a
    mapping from stimulus to score. Stimuli are matched by their label: the item, or "item, condition".

    >>> import karat
    >>> from karat.measure.scaling.strengths import strengths
    >>> likert = karat.datasets.load("likert")
    >>> both = {model: strengths(likert, model) for model in ("ordinal", "zscore")}
    >>> compare_measures(both, samples=200).table()["spearman"].round(2).to_list()
    [0.99]
    """
    check_bootstrap(samples, level)
    if len(measures) < 2:
        raise MeasureError(Message("measure_correlations.one_measure"))
    scores = {name: _scores(name, measure) for name, measure in measures.items()}
    rows, notes = [], []
    for first, second in combinations(scores, 2):
        shared = [label for label in scores[first] if label in scores[second]]
        if len(shared) < FEWEST:
            about = {"first": first, "second": second, "shared": len(shared), "fewest": FEWEST}
            some = {"first_stimuli": _some(scores[first]), "second_stimuli": _some(scores[second])}
            raise MeasureError(Message("measure_correlations.few_shared", about | some))
        lost = len(scores[first]) + len(scores[second]) - 2 * len(shared)
        if lost:
            notes.append(Message("measure_correlations.left_out", {"first": first, "second": second, "n": lost}))
        x, y = (np.array([scores[name][label] for label in shared]) for name in (first, second))
        rows.append((first, second, len(shared), *_correlations(x, y, samples, level, seed)))
    labels = list(dict.fromkeys(label for estimates in scores.values() for label in estimates))
    table = pl.DataFrame(
        {"stimulus": labels} | {name: [estimates.get(label) for label in labels] for name, estimates in scores.items()}
    )
    return MeasureCorrelations(
        table_of(rows, SCHEMA), table,
        settings={"samples": samples, "level": level, "seed": seed, "resampled": "stimuli"}, notes=tuple(notes),
    )  # fmt: skip


def _correlations(x: Floats, y: Floats, samples: int, level: float, seed: int) -> Iterator[float]:
    """Each coefficient with its interval."""
    weights = resamples(len(x), samples, seed) if samples else None
    for compute in COEFFICIENTS.values():
        estimate = float(compute(x, y)[0])
        yield estimate
        yield from (np.nan, np.nan) if weights is None else interval_around(estimate, compute(x, y, weights), level)


def _scores(name: str, measure: Any) -> dict[str, float]:
    """The estimate of each stimulus that has one, by its label."""
    if name == "stimulus":
        raise MeasureError(Message("measure_correlations.reserved_name"))
    if isinstance(measure, Strengths):
        pairs = list(zip(measure.labels, measure.frame["estimate"].to_list(), strict=True))
    elif isinstance(measure, Mapping):
        pairs = [(str(label), value) for label, value in measure.items()]
    else:
        pairs = _of_table(name, to_polars(measure))
    twice = [label for label, times in Counter(label for label, _ in pairs).items() if times > 1]
    if twice:
        raise MeasureError(Message("measure_correlations.repeated", {"measure": name, "stimulus": twice[0]}))
    estimates = ((label, float(value)) for label, value in pairs if value is not None)
    return {label: value for label, value in estimates if np.isfinite(value)}


def _of_table(name: str, table: pl.DataFrame) -> list[tuple[str, Any]]:
    if not {"item", "estimate"} <= set(table.columns):
        raise MeasureError(Message("measure_correlations.columns", {"measure": name}))
    keys = ["item", *table.columns[table.columns.index("item") + 1 : table.columns.index("estimate")]]
    return list(zip(stimulus_labels(table.select(keys)), table["estimate"].to_list(), strict=True))


def _some(scores: Mapping[str, float]) -> list[str] | None:
    """The first stimuli of a measure; None if it has none."""
    return [*list(scores)[:3], *(["..."] if len(scores) > 3 else [])] or None
