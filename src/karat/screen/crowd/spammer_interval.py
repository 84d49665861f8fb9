"""The interval of the Spammer Index: by the profile likelihood, or by a parametric bootstrap.

The index is a ratio of variances. Its standard error is uninformative if a variance is near zero, so no interval is
based on one. The profile interval holds every index that some parameters reach whose log-likelihood is within 1.92 of
the maximum (`karat.models.glrm.share`); it may begin at 0. The bootstrap draws new effects and new answers
from the fitted model, and fits it to them.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    answers: Crowd,
    fitted: Fit | NominalFit,
    simulations: int,
    seed: int,
    progress: Progress | None = None,
    executor: Executor = SERIAL,
) -> NDArray[np.float64]:
    """The index of samples from the fitted model, without samples in which all answers are the same.

    Raises ScreenError if none is left. `lost_samples` is the note on those left out.

    >>> import karat
    >>> from karat.screen.crowd.answers import crowd
    >>> answers = crowd(karat.datasets.load("crowd"), "spammer_index")
    >>> bootstrapped(answers, fit(answers), 2, 1).shape
    (2,)
    """
    shared = (answers, fitted, seed)
    return usable(executor.map(_sample, shared, range(simulations), name="bootstrap", progress=progress))


def usable(values: Sequence[float | None]) -> NDArray[np.float64]:
    """The indices of the samples that have one; raises ScreenError if none has.

    >>> usable([0.1, None]).tolist()
    [0.1]
    """
    indices = np.array([value for value in values if value is not None])
    if not len(indices):
        raise ScreenError(Message("spammer_index.no_sample"))
    return indices


def lost_samples(used: int, simulations: int) -> list[Message]:
    """The note on unusable bootstrap samples, if there are any.

    >>> lost_samples(198, 199)
    [Message('spammer_index.lost_samples', {'lost': 1})]
    """
    return [Message("spammer_index.lost_samples", {"lost": simulations - used})] if used < simulations else []


def with_shares(table: pl.DataFrame) -> pl.DataFrame:
    """Variances with their shares of the sum.

    >>> with_shares(pl.DataFrame({"variance": [1.0, 3.0]}))["share"].to_list()
    [0.25, 0.75]
    """
    return table.with_columns(share=pl.col("variance") / pl.col("variance").sum())


def _sample(shared: tuple[Crowd, Fit | NominalFit, int], number: int) -> float | None:
    """The index of one sample; None if all answers are the same."""
    answers, fitted, seed = shared
    codes = new_answers(fitted, answers, np.random.default_rng([seed, number]))
    rows = answers.rows.with_columns(pl.Series("_code", codes))
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
