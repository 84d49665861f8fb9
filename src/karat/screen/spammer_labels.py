"""The Spammer Index of labels: for every baseline category, and pooled over all.

    SI = sum_k var_workers,k / sum_k (var_workers,k + var_tasks,k)

(Ba, Mancenido, Chiou and Pan, equation 4, without the workers:tasks variance), where k runs over the categories but the
baseline, each with its logit against the baseline. Another baseline makes another model of the same answers, with an
index of its own. In the pooled index k runs over the categories of all these models.

The interval is that of the profile likelihood. For the pooled index it is that of the mean of the models'
log-likelihoods: they are models of the same answers, so that the pooled index is no surer than each of them. Where
`simulations` asks, samples are drawn from the model with the first baseline, and the spread of its index is taken for
that of the pooled one, as angles arcsin(sqrt(SI)), which do not mind an index of zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.executors import SERIAL, Executor
from karat.messages import Message
from karat.models.glrm import NominalFit
from karat.models.glrm.share import FittedShare
from karat.models.numerics import one_thread
from karat.screen.crowd import Crowd, categories_used, fit
from karat.screen.evidence import ScreenError
from karat.screen.spammer_interval import Interval, bootstrapped, lost_samples, profiled, with_shares
from karat.types import Progress


@dataclass(frozen=True)
class LabelIndex:
    """The pooled index of labels, its interval and its parts."""

    value: float
    lower: float
    upper: float
    variances: pl.DataFrame
    """baseline, source, category, variance, share."""
    log_likelihood: float
    """Of the model with the first baseline."""
    interval: Interval
    baselines: pl.DataFrame
    """baseline, value, lower, upper, log_likelihood."""
    notes: tuple[Message, ...]


def index_of_labels(
    answers: Crowd, simulations: int = 0, seed: int = 1, progress: Progress | None = None, executor: Executor = SERIAL
) -> LabelIndex:
    """The Spammer Index of labels.

    >>> import karat
    >>> from karat.screen.crowd import crowd
    >>> random = np.random.default_rng(3)
    >>> who, what = np.repeat(np.arange(20), 15), np.tile(np.arange(15), 20)
    >>> logits = random.normal(0, 0.7, (20, 3))[who] + random.normal(0, 2, (15, 3))[what]
    >>> answer = np.argmax(logits + random.gumbel(size=logits.shape), axis=1)
    >>> table = {"participant": [f"w{i}" for i in who], "item": [f"t{j}" for j in what],
    ...          "response": ["abc"[k] for k in answer]}
    >>> found = index_of_labels(crowd(karat.Judgments(table, karat.Nominal(["a", "b", "c"])), "x"))
    >>> found.interval, found.baselines["baseline"].to_list()
    ('profile', ['a', 'b', 'c'])
    """
    used = categories_used(answers)
    fits: list[NominalFit] = []
    models: list[FittedShare] = []
    rows: list[dict[str, Any]] = []
    notes = [Message("spammer_index.pooled")]
    with one_thread(len(answers.workers) * answers.rows["_stimulus"].n_unique()):
        for number, baseline in enumerate(used):
            found = fit(answers, baseline)
            if not isinstance(found, NominalFit):
                raise ScreenError(Message("spammer_index.no_category_variances"))
            fits.append(found)
            models.append(_model(found))
            row, told = _row(found, models[-1], answers.categories[baseline])
            rows.append(row)
            notes += told
            _tell(progress if not simulations else None, number, len(used) + 1)
        lower, upper, told = profiled(models) if not simulations else (0.0, 1.0, [])
        notes += told
        _tell(progress if not simulations else None, len(used), len(used) + 1)
    variances = pl.concat([_variances(found, answers) for found in fits])
    of_workers = float(variances.filter(source="workers")["variance"].sum())
    value = of_workers / float(variances["variance"].sum())
    if simulations:
        values = bootstrapped(answers, fits[0], simulations, seed, progress, executor)
        lower, upper = _around(value, values, rows[0]["value"])
        notes.append(Message("spammer_index.bootstrap_baseline", {"baseline": rows[0]["baseline"]}))
        notes += lost_samples(len(values), simulations)
    return LabelIndex(
        value, lower, upper, with_shares(variances), fits[0].log_likelihood, "bootstrap" if simulations else "profile",
        pl.DataFrame(rows), tuple(notes),
    )  # fmt: skip


def _model(found: NominalFit) -> FittedShare:
    """The sums of the variances of workers and of tasks as quadratic forms: the deviations are the last parameters."""
    m = len(found.categories) - 1
    place = np.arange(len(found.parameters)) - len(found.parameters)
    workers, tasks = (place >= -2 * m) & (place < -m), place >= -m
    return FittedShare(
        found.objective, found.parameters, found.modes, found.hessian, np.diag(workers * 1.0), np.diag(tasks * 1.0)
    )


def _row(found: NominalFit, model: FittedShare, name: str) -> tuple[dict[str, Any], list[Message]]:
    """The index of one baseline, with what there is to say about it."""
    lower, upper, told = profiled([model])
    worker, task = float(found.variances["worker"].sum()), float(found.variances["task"].sum())
    if not found.converged:
        reason = found.convergence.reason or None
        told = [Message("spammer_index.not_converged", {"reason": reason}), *told]
    row = {"baseline": name, "value": worker / (worker + task), "lower": lower, "upper": upper,
           "log_likelihood": found.log_likelihood}  # fmt: skip
    return row, [Message("spammer_index.baseline", {"baseline": name, "note": note}) for note in told]


def _variances(found: NominalFit, answers: Crowd) -> pl.DataFrame:
    names = [answers.categories[int(code)] for code in found.categories]
    return pl.DataFrame(
        [
            {"baseline": names[0], "source": source, "category": name, "variance": float(variance)}
            for source, group in (("workers", "worker"), ("tasks", "task"))
            for name, variance in zip(names[1:], found.variances[group], strict=True)
        ]
    )


def _around(value: float, values: NDArray[np.float64], centre: float) -> tuple[float, float]:
    """The spread of a bootstrap around its centre, moved to the pooled index."""
    moved = np.arcsin(np.sqrt(value)) + np.arcsin(np.sqrt(values)) - np.arcsin(np.sqrt(centre))
    ends = np.sin(np.clip(np.quantile(moved, [0.025, 0.975]), 0.0, np.pi / 2)) ** 2
    return float(ends[0]), float(ends[1])


def _tell(progress: Progress | None, number: int, total: int) -> None:
    if progress is not None:
        progress(number + 1, total)
