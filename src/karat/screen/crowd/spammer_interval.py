"""The interval of the Spammer Index: by the profile likelihood, or by a parametric bootstrap.

The index is a ratio of variances. Its standard error is uninformative if a variance is near zero, so no interval is
based on one. The profile interval holds every index that some parameters reach whose log-likelihood is within 1.92 of
the maximum (`karat.models.glrm.share`); it may begin at 0. The bootstrap draws new effects and new answers
from the fitted model, and fits it to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.executors import SERIAL, Executor
from karat.messages import Message
from karat.screen.crowd.answers import Crowd, fit
from karat.screen.evidence import ScreenError
from karat.types import Progress

if TYPE_CHECKING:
    from karat.models.glrm import Fit, NominalFit
    from karat.models.glrm.share import FittedShare

Interval = Literal["profile", "bootstrap"]


@dataclass(frozen=True)
class IndexResult:
    """An index of labels or of rounds, its interval and its parts."""

    value: float
    lower: float
    upper: float
    variances: pl.DataFrame
    """source, variance, share; for labels also baseline and category."""
    log_likelihood: float
    """For labels, that of the model with the first baseline."""
    interval: Interval
    notes: tuple[Message, ...]
    baselines: pl.DataFrame | None = None
    """For labels: baseline, value, lower, upper, log_likelihood."""


def profiled(models: Sequence[FittedShare]) -> tuple[float, float, list[Message]]:
    """Both ends of the profile interval, and notes."""
    from karat.models.glrm.share import variance_share

    if not any(model.parameters @ (model.one + model.rest) @ model.parameters for model in models):
        raise ScreenError(Message("spammer_index.nothing_varies"))
    share = variance_share(models)
    # An end that the search did not reach is set to the limit of the index.
    lower, upper, notes = share.lower, share.upper, []
    if np.isnan(lower):
        lower, notes = 0.0, [Message("spammer_index.no_lower_end")]
    if np.isnan(upper):
        upper, notes = 1.0, [*notes, Message("spammer_index.no_upper_end")]
    return lower, upper, notes


def bootstrapped(
    index: Callable[[np.random.Generator], float | None],
    simulations: int,
    seed: int,
    progress: Progress | None = None,
    executor: Executor = SERIAL,
) -> tuple[NDArray[np.float64], list[Message]]:
    """The index of each sample that has one, and a note on the samples that have none.

    `index` draws a sample and gives its index. Raises ScreenError if no sample has one.

    >>> bootstrapped(lambda random: 0.1, 2, 1)
    (array([0.1, 0.1]), [])
    """
    values = executor.map(_sample, (index, seed), range(simulations), name="bootstrap", progress=progress)
    usable = np.array([value for value in values if value is not None])
    if not len(usable):
        raise ScreenError(Message("spammer_index.no_sample"))
    lost = simulations - len(usable)
    return usable, [Message("spammer_index.lost_samples", {"lost": lost})] if lost else []


def _sample(shared: tuple[Callable[[np.random.Generator], float | None], int], number: int) -> float | None:
    index, seed = shared
    return index(np.random.default_rng([seed, number]))


def with_shares(table: pl.DataFrame) -> pl.DataFrame:
    """Variances with their shares of the sum.

    >>> with_shares(pl.DataFrame({"variance": [1.0, 3.0]}))["share"].to_list()
    [0.25, 0.75]
    """
    return table.with_columns(share=pl.col("variance") / pl.col("variance").sum())


def index_of_sample(answers: Crowd, fitted: Fit | NominalFit, random: np.random.Generator) -> float | None:
    """The index of new answers from the fitted model; None if all are the same."""
    rows = answers.rows.with_columns(pl.Series("_code", new_answers(fitted, answers, random)))
    if rows["_code"].n_unique() < 2:
        return None
    again = fit(Crowd(rows, answers.family, answers.categories, ()))
    worker, task = np.sum(again.variances["worker"]), np.sum(again.variances["task"])
    return float(worker / (worker + task))


def new_answers(fitted: Fit | NominalFit, answers: Crowd, random: np.random.Generator) -> NDArray[np.int64]:
    """New answers of the same workers to the same tasks, simulated from a fitted model with new effects."""
    from karat.models.glrm import NominalFit

    workers, tasks = len(fitted.workers), len(fitted.tasks)
    of_worker = np.searchsorted(fitted.workers, answers.worker)
    of_task = np.searchsorted(fitted.tasks, answers.task)
    if isinstance(fitted, NominalFit):
        m = len(fitted.categories) - 1
        worker = random.normal(size=(workers, m)) * np.sqrt(fitted.variances["worker"])
        task = random.normal(size=(tasks, m)) * np.sqrt(fitted.variances["task"])
        logits = fitted.coefficients[0] + worker[of_worker] + task[of_task]
        whole = np.column_stack([np.zeros(len(logits)), logits])
        chosen = np.argmax(whole + random.gumbel(size=whole.shape), axis=1)
    else:
        eta = (
            random.normal(size=workers)[of_worker] * np.sqrt(fitted.variances["worker"])
            + random.normal(size=tasks)[of_task] * np.sqrt(fitted.variances["task"])
            + (fitted.coefficients[0] if len(fitted.coefficients) else 0.0)
        )
        latent = eta + random.logistic(size=len(eta))
        cuts = fitted.thresholds if len(fitted.thresholds) else np.zeros(1)
        chosen = np.searchsorted(cuts, latent)
    return np.asarray(np.asarray(fitted.categories)[chosen].astype(np.int64))
