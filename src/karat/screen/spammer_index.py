"""The Spammer Index: how much of the variance of a crowd's answers lies between workers.

    SI = var_workers / (var_workers + var_tasks + var_workers:tasks)                (binary and ordered answers)
    SI = sum_k var_workers,k / sum_k (var_workers,k + var_tasks,k + var_workers:tasks,k)    (labels)

(Ba, Mancenido, Chiou and Pan, equations 2 and 4), with the variances of a generalised linear model with crossed random
effects, fitted by the Laplace approximation. With one answer a cell the workers:tasks variance is not identified; it is
zero in the approximation and left out. Where tasks come in several rounds, time is added: var_time (of the rounds'
fixed effects), var_workers:time and var_tasks:time (binary and ordered answers; the model of labels cannot tell rounds
apart, and a note says so).

The index of labels depends on which category is the baseline, since the model does. It is therefore given for every
baseline, and pooled over all of them: both sums of equation 4 run over all baselines, so that no category is set apart.

At .10 and above, the paper reads it as about SI x N workers whose answers deserve a look. The interval is that of the
profile likelihood, also for labels and rounds; where `simulations` asks, a parametric bootstrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from karat.executors import SERIAL, Executor
from karat.judgments import Judgments
from karat.messages import Message
from karat.models.agreement import fleiss_kappa, icc_agreement, icc_consistency, icc_fixed_error
from karat.models.glrm import Fit
from karat.models.glrm.share import worker_share
from karat.screen.crowd import Crowd, crowd, fit
from karat.screen.evidence import ScreenError
from karat.screen.spammer_interval import Interval, bootstrapped, lost_samples, with_shares
from karat.screen.spammer_labels import index_of_labels
from karat.screen.spammer_rounds import index_of_rounds, round_column
from karat.screen.spammer_size import refuse_large
from karat.types import Progress

SUSPICIOUS = 0.10


@dataclass(frozen=True)
class SpammerIndex:
    """The share of the variance that lies between workers, with its interval and what it is made of."""

    value: float
    lower: float
    upper: float
    variances: pl.DataFrame
    """source, category (labels only), variance, share."""
    log_likelihood: float
    participants: int
    family: str
    interval: Interval
    """How the interval was made: profile or bootstrap."""
    agreement: dict[str, float]
    """Fleiss' kappa, ICC(A,1), ICC(C,1) and ICC (fixed error); not a number where it is not defined."""
    baselines: pl.DataFrame | None = None
    """For labels: the index for every baseline."""
    notes: tuple[Message, ...] = ()
    settings: dict[str, object] = field(default_factory=dict)

    @property
    def suspicious(self) -> int:
        """About how many workers deserve a look, by the paper's reading; 0 below .10."""
        return round(self.value * self.participants) if self.value >= SUSPICIOUS else 0

    def table(self) -> pl.DataFrame:
        """The variances."""
        return self.variances

    def to_dict(self) -> dict[str, object]:
        """All of it as plain data; what is not defined is None."""
        return {
            "value": self.value, "lower": self.lower, "upper": self.upper, "interval": self.interval,
            "variances": self.variances.to_dicts(), "log_likelihood": self.log_likelihood,
            "agreement": {name: None if value != value else value for name, value in self.agreement.items()},
            "baselines": None if self.baselines is None else self.baselines.to_dicts(),
            "notes": list(map(str, self.notes)),
        }  # fmt: skip

    @property
    def summary(self) -> tuple[Message, ...]:
        """The index with its interval, and how the paper reads it."""
        values = {
            "value": self.value, "lower": self.lower, "upper": self.upper, "suspicious": self.suspicious,
            "participants": self.participants,
        }  # fmt: skip
        return (Message("spammer_index.low" if self.value < SUSPICIOUS else "spammer_index.suspicious", values),)

    def __str__(self) -> str:
        return " ".join(map(str, self.summary))


def spammer_index(
    judgments: Judgments,
    simulations: int = 0,
    seed: int = 1,
    progress: Progress | None = None,
    conditions: Sequence[str] | None = (),
    executor: Executor = SERIAL,
) -> SpammerIndex:
    """The Spammer Index of judgments, with interval, variances and the usual coefficients of agreement beside it.

    `simulations` asks for a parametric bootstrap of so many samples instead of the profile interval.
    `conditions` names columns that make an item several tasks; None takes every stimulus as a task. `executor` says
    where the samples are fitted (`karat.executors.open_executor`).

    >>> import karat
    >>> print(spammer_index(karat.datasets.load("crowd")))
    Spammer Index .105 [.068, .156]: about 13 of 120 participants may have answered without regard to the items.
    """
    if simulations < 0:
        raise ScreenError(Message("spammer_index.simulations", {"simulations": simulations}))
    answers = crowd(judgments, "spammer_index", conditions)
    refuse_large(answers, "spammer_index")
    column = round_column(answers)
    if answers.family == "nominal":
        found_labels = of_labels(answers, simulations, seed, progress, executor)
        return with_rounds_merged(found_labels, column)
    if column is not None:
        return of_rounds(answers, column, simulations, seed, progress, executor)
    found = fit(answers)
    if not isinstance(found, Fit):
        raise ScreenError(Message("spammer_index.no_variance"))
    worker, task = found.variances["worker"], found.variances["task"]
    share = worker_share(found)
    lower, upper = share.lower, share.upper
    how: Interval = "profile"
    notes = [*answers.notes, *found.notes]
    if simulations:
        values = bootstrapped(answers, found, simulations, seed, progress, executor)
        lower, upper, how = float(np.quantile(values, 0.025)), float(np.quantile(values, 0.975)), "bootstrap"
        notes += lost_samples(len(values), simulations)
    table = pl.DataFrame({"source": ["workers", "tasks"], "variance": [worker, task]})
    return SpammerIndex(
        share.value, lower, upper, with_shares(table), found.log_likelihood, len(answers.workers), answers.family, how,
        agreement_of(answers, worker, task), notes=tuple(notes),
        settings={"simulations": simulations, "seed": seed},
    )  # fmt: skip


def with_rounds_merged(found: SpammerIndex, column: str | None) -> SpammerIndex:
    """An index of labels, with a note that its model has no rounds, where the answers have some."""
    if column is None:
        return found
    return replace(found, notes=(*found.notes, Message("spammer_index.rounds_of_labels", {"column": column})))


def of_rounds(
    answers: Crowd, column: str, simulations: int, seed: int, progress: Progress | None, executor: Executor
) -> SpammerIndex:
    """The index with time among the sources of variance; the coefficients beside it are over all rounds."""
    found = index_of_rounds(answers, column, simulations, seed, progress, executor)
    of = dict(found.variances.select("source", "variance").iter_rows())
    others = found.variances["variance"].sum() - of["workers"] - of["tasks"]
    return SpammerIndex(
        found.value, found.lower, found.upper, found.variances, found.log_likelihood, len(answers.workers),
        answers.family, found.interval, agreement_of(answers, of["workers"], of["tasks"] + others),
        notes=(*answers.notes, *found.notes), settings={"simulations": simulations, "seed": seed},
    )  # fmt: skip


def agreement_of(answers: Crowd, worker: float, task: float) -> dict[str, float]:
    """The usual coefficients of agreement for the same answers; those for numbers are not defined for labels."""
    items, raters, codes = answers.task, answers.worker, answers.response
    numbers = answers.family != "nominal"
    return {
        "fleiss_kappa": fleiss_kappa(items, codes),
        "icc_agreement": icc_agreement(items, raters, codes) if numbers else float("nan"),
        "icc_consistency": icc_consistency(items, raters, codes) if numbers else float("nan"),
        "icc_fixed_error": icc_fixed_error(worker, task),
    }


def of_labels(
    answers: Crowd, simulations: int, seed: int, progress: Progress | None, executor: Executor
) -> SpammerIndex:
    """The index of labels; the fixed error is beside the mean of the variances."""
    found = index_of_labels(answers, simulations, seed, progress, executor)
    worker, task = (
        float(np.mean(found.variances.filter(source=source)["variance"].to_numpy())) for source in ("workers", "tasks")
    )
    return SpammerIndex(
        found.value, found.lower, found.upper, found.variances, found.log_likelihood, len(answers.workers),
        answers.family, found.interval, agreement_of(answers, worker, task), found.baselines,
        (*answers.notes, *found.notes), {"simulations": simulations, "seed": seed},
    )  # fmt: skip
