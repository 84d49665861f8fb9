"""Platforms or groups side by side: tables 1, 2 and 4 of Ba, Mancenido, Chiou and Pan for any judgments.

For each group: workers, tasks and answers; the Spammer Index; the workers flagged by the Markov criterion, by kind, and
how many of them remain after the time filter; those flagged by deletion analysis; the risk levels of all flagged by
either; Fleiss' kappa and the intraclass correlations. Shares of workers have Wilson's interval, the Spammer Index that
of its profile likelihood.

Kappa and the correlations have intervals by a jackknife over workers: they are computed without each of G groups of
workers in turn (each worker alone up to 40 of them),

    se^2 = (G - 1) / G  sum over g of (theta without g - mean)^2,

with t of G - 1 degrees of freedom. ICC (fixed error) is SI T / (T + pi^2 / 3), where T is the total variance that the
Spammer Index SI is a share of; its interval is that of the index with T as estimated. Tasks are fixed: an
interval is about other workers like these on the same tasks. Groups with different tasks differ by their tasks too:
easier tasks increase agreement, and the Spammer Index is a share of a total that contains the tasks' variance.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
import polars as pl
from scipy.special import stdtrit

from karat.judgments import Judgments
from karat.jupyter import Result
from karat.messages import Message, message_of
from karat.models.agreement import icc_fixed_error
from karat.models.proportions import wilson
from karat.screen.criteria.deletion import By, deletion
from karat.screen.criteria.markov import SIMULATIONS, markov
from karat.screen.criteria.risk import risk_levels
from karat.screen.criteria.time_filter import time_filter
from karat.screen.crowd.answers import COEFFICIENTS, Crowd, crowd, usual_coefficients
from karat.screen.crowd.gold import Doubtful
from karat.screen.crowd.spammer_index import SpammerIndex, spammer_index
from karat.screen.evidence import ScreenError
from karat.types import Progress

KINDS = ("primary choice", "repeated pattern", "random guessing")
LEVELS = ("high", "moderate", "undetermined")
PARTS = 40
Cutoffs = Literal["simulated", "published"]
Rule = Literal["mean", "mean-sd"]
Value = TypeVar("Value")


@dataclass(frozen=True)
class SourceComparison(Result):
    """The quality of the answers of several groups."""

    between: ClassVar[str] = "\n"
    groups: pl.DataFrame
    """One row per group. Numbers of workers, tasks, answers and flagged workers, the Spammer Index and coefficients."""
    intervals: pl.DataFrame
    """group, measure, value, lower, upper, and number and of for shares of workers."""
    notes: tuple[Message, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)

    def table(self) -> pl.DataFrame:
        """One row per measure, one column per group."""
        return self.groups.transpose(include_header=True, header_name="measure", column_names="group")

    @property
    def summary(self) -> tuple[Message, ...]:
        """One message per group."""
        columns = ("group", "workers", "tasks", "spammer_index", "lower", "upper", "markov", "deletion")
        return tuple(
            Message("compare.group", {name: row[name] for name in columns}) for row in self.groups.iter_rows(named=True)
        )


def compare(
    groups: Mapping[str, Judgments],
    cutoffs: Cutoffs = "simulated",
    alpha: float = 0.05,
    rule: Rule = "mean-sd",
    doubtful: Doubtful = "left out",
    seed: int = 1,
    simulations: int = SIMULATIONS,
    *,
    progress: Progress | None = None,
) -> SourceComparison:
    """The measures of each group side by side; missing ones have a note that says why.

    With published cutoffs, deletion uses the published rule too, otherwise its simulated null.

    Parameters
    ----------
    groups
        The judgments of each group, by its name.
    cutoffs
        As in `markov`.
    rule
        As in `time_filter`.
    doubtful
        As in `risk`.
    simulations
        As in `markov`.

    >>> import karat
    >>> one, other = (karat.simulate.crowd(20, 24, {"random guessing": number}) for number in (0, 5))
    >>> print(compare({"attentive": one, "mixed": other}, cutoffs="published"))
    attentive: 20 participants, 24 items: Spammer Index ...; ... flagged by markov; ... flagged by deletion.
    mixed: 20 participants, 24 items: Spammer Index ...
    """
    if not isinstance(groups, Mapping) or len(groups) < 2:
        raise ScreenError(Message("compare.groups"))
    rows, intervals, notes = [], [], []
    for number, (name, judgments) in enumerate(groups.items()):
        group = _SourceGroup(str(name), judgments)
        group.index(seed)
        group.flags(cutoffs, alpha, rule, doubtful, seed, simulations)
        rows.append(group.row)
        intervals += group.intervals
        notes += [Message("compare.note", {"group": str(name), "note": note}) for note in group.notes]
        if progress is not None:
            progress(number + 1, len(groups))
    schema = {"group": pl.String, "measure": pl.String, "value": pl.Float64, "lower": pl.Float64, "upper": pl.Float64,
              "number": pl.Int64, "of": pl.Int64}  # fmt: skip
    settings = {"cutoffs": cutoffs, "alpha": alpha, "rule": rule, "doubtful": doubtful, "seed": seed,
                "simulations": simulations}  # fmt: skip
    tasks = {frozenset(judgments.frame["item"].unique().to_list()) for judgments in groups.values()}
    if len(tasks) > 1:
        notes.append(Message("compare.different_items"))
    table = pl.DataFrame(rows, infer_schema_length=None)
    return SourceComparison(table, pl.DataFrame(intervals, schema=schema, orient="row"), tuple(notes), settings)


class _SourceGroup:
    """The results of one group, measure by measure."""

    def __init__(self, name: str, judgments: Judgments) -> None:
        self.name, self.judgments = name, judgments
        self.answers = crowd(judgments, "compare")
        rows = self.answers.rows
        self.row: dict[str, Any] = {
            "group": name, "workers": len(self.answers.workers), "tasks": rows["_stimulus"].n_unique(),
            "answers": rows.height,
        }  # fmt: skip
        self.intervals: list[tuple[Any, ...]] = []
        self.notes: list[Message] = list(self.answers.notes)

    def index(self, seed: int) -> None:
        """The Spammer Index and the coefficients of agreement, with intervals."""
        index = spammer_index(self.judgments, seed=seed)
        self.row |= {"spammer_index": index.value, "lower": index.lower, "upper": index.upper}
        self.intervals.append((self.name, "spammer_index", index.value, index.lower, index.upper, None, None))
        self.row |= {name: value if np.isfinite(value) else None for name, value in index.agreement.items()}
        low, high = fixed_error_interval(index)
        self.intervals.append((self.name, "icc_fixed_error", self.row["icc_fixed_error"], low, high, None, None))
        for name, low, high in jackknife(self.answers):
            value = self.row[name]
            if value is not None:
                self.intervals.append((self.name, name, value, low, high, None, None))
        self.notes += [note for note in index.notes if note not in self.notes]

    def flags(
        self, cutoffs: Cutoffs, alpha: float, rule: Rule, doubtful: Doubtful, seed: int, simulations: int
    ) -> None:
        """The numbers of flagged workers by criterion, kind and level of risk."""
        patterns = self._attempt(
            "markov", lambda: markov(self.judgments, cutoffs, alpha, seed=seed, simulations=simulations)
        )
        quick = self._attempt("time_filter", lambda: time_filter(self.judgments, rule))
        by: By = "published" if cutoffs == "published" else "simulated"
        distances = self._attempt("deletion", lambda: deletion(self.judgments, alpha, seed=seed, by=by))
        in_time = set(quick.flagged) if quick else None
        self._count("markov", patterns.flagged if patterns else None)
        self._count("markov_and_time", [w for w in patterns.flagged if w in in_time]
                    if patterns and in_time is not None else None)  # fmt: skip
        for kind in KINDS:
            of_kind = pl.col("kind") == kind
            names = patterns.participants.filter(of_kind)["participant"].to_list() if patterns else None
            self._count(kind.replace(" ", "_"), names)
        self._count("deletion", distances.flagged if distances else None)
        candidates = {*(patterns.flagged if patterns else ()), *(distances.flagged if distances else ())}
        levels = self._attempt("risk", lambda: risk_levels(self.judgments, candidates, doubtful))
        for level in LEVELS:
            at_level = pl.col("level") == level
            self._count(level, levels.participants.filter(at_level)["participant"].to_list() if levels else None)
        if levels:
            self.notes += [note for note in levels.notes if note not in self.notes]

    def _attempt(self, criterion: str, compute: Callable[[], Value]) -> Value | None:
        """The computed value, or None with a note that says why."""
        try:
            return compute()
        except ScreenError as error:
            self.notes.append(Message("compare.not_computed", {"criterion": criterion, "why": message_of(error)}))
            return None

    def _count(self, measure: str, names: list[str] | None) -> None:
        self.row[measure] = None if names is None else len(names)
        if names is not None:
            of = self.row["workers"]
            low, high = wilson(len(names), of)
            self.intervals.append((self.name, measure, len(names) / of, float(low), float(high), len(names), of))


def fixed_error_interval(index: SpammerIndex) -> tuple[float, float]:
    """The interval of ICC (fixed error): that of the Spammer Index, with the total variance as estimated.

    >>> import karat
    >>> index = karat.screen.spammer_index(karat.datasets.load("crowd"))
    >>> lower, upper = fixed_error_interval(index)
    >>> lower < index.agreement["icc_fixed_error"] < upper < index.upper
    True
    """
    # Labels have a variance for each baseline and category; the coefficient is of their mean.
    models = index.variances.filter(pl.col("source") == "workers").height
    total = float(index.variances["variance"].sum()) / models
    lower, upper = (icc_fixed_error(end * total, (1 - end) * total) for end in (index.lower, index.upper))
    return lower, upper


def jackknife(answers: Crowd) -> list[tuple[str, float, float]]:
    """The 95 % intervals of kappa and the correlations, over workers: name, lower end, upper end."""
    task, worker, code = answers.task, answers.worker, answers.response
    parts = min(PARTS, len(answers.workers))
    whole = usual_coefficients(task, worker, code, answers.family)
    without = np.array([
        usual_coefficients(task[rest], worker[rest], code[rest], answers.family)
        for rest in (worker % parts != part for part in range(parts))
    ])  # fmt: skip
    error = np.sqrt((parts - 1) / parts * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    half = float(stdtrit(parts - 1, 0.975)) * error
    return [
        (name, float(value - wide), float(value + wide))
        for name, value, wide in zip(COEFFICIENTS, whole, half, strict=True)
    ]
