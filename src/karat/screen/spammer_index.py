"""The Spammer Index: how much of the variance of a crowd's answers lies between workers.

    SI = var_workers / (var_workers + var_tasks + var_workers:tasks)                (binary and ordered answers)
    SI = sum_k var_workers,k / sum_k (var_workers,k + var_tasks,k + var_workers:tasks,k)    (labels)

(Ba, Mancenido, Chiou and Pan, equations 2 and 4), with the variances of a generalised linear model with crossed random
effects, fitted by the Laplace approximation. With one answer a cell the workers:tasks variance is not identified; it is
zero in the approximation and left out. Where tasks come in several rounds, time is added: var_time (of the rounds'
fixed effects), var_workers:time and var_tasks:time (binary and ordered answers).

The index of labels depends on which category is the baseline, since the model does. It is therefore given for every
baseline, and pooled over all of them: both sums of equation 4 run over all baselines, so that no category is set apart.

At .10 and above, the paper reads it as about SI x N workers whose answers deserve a look. The interval is that of the
profile likelihood; for labels and rounds, Wald's on the logit scale; where `simulations` asks, a parametric bootstrap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from karat.judgments import Judgments
from karat.models.agreement import fleiss_kappa, icc_agreement, icc_consistency, icc_fixed_error
from karat.models.glrm import Fit, NominalFit
from karat.models.glrm.share import worker_share
from karat.screen.crowd import Crowd, categories_used, crowd, fit
from karat.screen.evidence import ScreenError
from karat.screen.spammer_rounds import index_of_rounds, round_column

SUSPICIOUS = 0.10
Progress = Callable[[int, int], None]


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
    interval: str
    """How the interval was made: profile, Wald or bootstrap."""
    agreement: dict[str, float]
    """Fleiss' kappa, ICC(A,1), ICC(C,1) and ICC (fixed error); not a number where it is not defined."""
    baselines: pl.DataFrame | None = None
    """For labels: the index for every baseline."""
    notes: tuple[str, ...] = ()
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
            "baselines": None if self.baselines is None else self.baselines.to_dicts(), "notes": list(self.notes),
        }  # fmt: skip

    def __str__(self) -> str:
        found = f"Spammer Index {_text(self.value)} [{_text(self.lower)}, {_text(self.upper)}]"
        if self.value < SUSPICIOUS:
            return f"{found}: no sign of widespread answering without regard to the task."
        return (
            f"{found}: about {self.suspicious} of {self.participants} participants may have answered without regard to "
            "the task."
        )


def spammer_index(
    judgments: Judgments,
    simulations: int = 0,
    seed: int = 1,
    progress: Progress | None = None,
    conditions: Sequence[str] = (),
) -> SpammerIndex:
    """The Spammer Index of judgments, with interval, variances and the usual coefficients of agreement beside it.

    `simulations` asks for a parametric bootstrap of so many samples instead of the profile or Wald interval.
    `conditions` names columns that, besides item and question, tell tasks apart.

    >>> import karat
    >>> print(spammer_index(karat.datasets.load("crowd")))
    Spammer Index .105 [.068, .156]: about 13 of 120 participants may have answered without regard to the task.
    """
    if simulations < 0:
        raise ScreenError(f"spammer_index: simulations must be 0 or more, got {simulations}.")
    answers = crowd(judgments, "spammer_index", conditions)
    column = round_column(answers)
    if answers.family == "nominal":
        found_labels = _of_labels(answers, simulations, seed, progress)
        told = f"Rounds ({column}) are not told apart for labels."
        return replace(found_labels, notes=(*found_labels.notes, told)) if column else found_labels
    if column is not None:
        return _of_rounds(answers, column, simulations, seed, progress)
    found = fit(answers)
    if not isinstance(found, Fit):
        raise ScreenError("spammer_index: this model has no single variance of workers.")
    worker, task = found.variances["worker"], found.variances["task"]
    share = worker_share(found)
    lower, upper, how = share.lower, share.upper, "profile"
    if simulations:
        values = _bootstrap(answers, found, simulations, seed, progress)
        lower, upper, how = float(np.quantile(values, 0.025)), float(np.quantile(values, 0.975)), "bootstrap"
    table = pl.DataFrame({"source": ["workers", "tasks"], "variance": [worker, task]})
    return SpammerIndex(
        share.value, lower, upper, _with_shares(table), found.log_likelihood, len(answers.workers), answers.family, how,
        agreement_of(answers, worker, task), notes=(*answers.notes, *found.notes),
        settings={"simulations": simulations, "seed": seed},
    )  # fmt: skip


def _of_rounds(answers: Crowd, column: str, simulations: int, seed: int, progress: Progress | None) -> SpammerIndex:
    """The index with time among the sources of variance; the coefficients beside it are over all rounds."""
    found = index_of_rounds(answers, column, simulations, seed, progress)
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


def _of_labels(answers: Crowd, simulations: int, seed: int, progress: Progress | None) -> SpammerIndex:
    """The index of labels: for every baseline, and pooled over all."""
    rows, tables, logs, spreads = [], [], [], []
    used = categories_used(answers)
    for number, baseline in enumerate(used):
        found = fit(answers, baseline)
        if not isinstance(found, NominalFit):
            raise ScreenError("spammer_index: labels need a model with a variance for each category.")
        worker, task = found.variances["worker"], found.variances["task"]
        value = float(worker.sum() / (worker.sum() + task.sum()))
        names = [answers.categories[int(code)] for code in found.categories]
        error = _logit_error(found)
        lower, upper = _wald(value, error)
        rows.append({"baseline": names[0], "value": value, "lower": lower, "upper": upper,
                     "log_likelihood": found.log_likelihood})  # fmt: skip
        for source, variances in (("workers", worker), ("tasks", task)):
            tables += [
                {"baseline": names[0], "source": source, "category": name, "variance": float(variance)}
                for name, variance in zip(names[1:], variances, strict=True)
            ]
        logs.append(found.log_likelihood)
        spreads.append(error)
        if progress is not None and not simulations:
            progress(number + 1, len(used))
    table = pl.DataFrame(tables)
    of_workers = float(table.filter(pl.col("source") == "workers")["variance"].sum())
    of_tasks = float(table.filter(pl.col("source") == "tasks")["variance"].sum())
    value = of_workers / (of_workers + of_tasks)
    # The models of different baselines are fitted to the same answers: the pooled index is no surer than each of them.
    lower, upper = _wald(value, float(np.mean(spreads)))
    how = "Wald"
    notes = [*answers.notes, "The index of labels depends on the baseline category; it is pooled over all baselines."]
    if simulations:
        first = fit(answers, used[0])
        values = _bootstrap(answers, first, simulations, seed, progress)
        around = logit(values) - logit(rows[0]["value"])
        lower, upper = (float(expit(logit(value) + np.quantile(around, q))) for q in (0.025, 0.975))
        how = "bootstrap"
        notes.append(f"The bootstrap is that of the model with baseline {rows[0]['baseline']}, on the logit scale.")
    shares = _with_shares(table)
    m = len(used) - 1
    return SpammerIndex(
        value, lower, upper, shares, logs[0], len(answers.workers), answers.family, how,
        agreement_of(answers, of_workers / len(used) / m, of_tasks / len(used) / m), pl.DataFrame(rows), tuple(notes),
        {"simulations": simulations, "seed": seed},
    )  # fmt: skip


def _logit_error(found: NominalFit) -> float:
    """The standard error of the index on the logit scale, by the delta method: logit SI = log sum_w - log sum_t."""
    m = len(found.categories) - 1
    deviations = found.parameters[-2 * m :]
    squares = deviations**2
    slope = 2 * deviations / np.concatenate([np.full(m, squares[:m].sum()), -np.full(m, squares[m:].sum())])
    covariance = found.covariance[-2 * m :, -2 * m :]
    return float(np.sqrt(slope @ covariance @ slope))


def _wald(value: float, error: float) -> tuple[float, float]:
    half = float(ndtri(0.975)) * error
    return float(expit(logit(value) - half)), float(expit(logit(value) + half))


def _bootstrap(
    answers: Crowd, found: Fit | NominalFit, simulations: int, seed: int, progress: Progress | None
) -> NDArray[np.float64]:
    """The index of samples drawn from the fitted model; samples in which all answers are the same are left out."""
    values = []
    for number in range(simulations):
        random = np.random.default_rng([seed, number])
        sample = Crowd(
            answers.rows.with_columns(pl.Series("_code", drawn(found, answers, random))),
            answers.family, answers.categories, (),
        )  # fmt: skip
        if sample.rows["_code"].n_unique() > 1:
            again = fit(sample)
            worker, task = np.sum(again.variances["worker"]), np.sum(again.variances["task"])
            values.append(float(worker / (worker + task)))
        if progress is not None:
            progress(number + 1, simulations)
    return np.array(values)


def drawn(found: Fit | NominalFit, answers: Crowd, random: np.random.Generator) -> NDArray[np.int64]:
    """Answers of the same workers to the same tasks, drawn anew from a fitted model with new effects."""
    workers, tasks = len(found.workers), len(found.tasks)
    who = np.searchsorted(found.workers, answers.worker)
    what = np.searchsorted(found.tasks, answers.task)
    if isinstance(found, NominalFit):
        m = len(found.categories) - 1
        worker = random.normal(size=(workers, m)) * np.sqrt(found.variances["worker"])
        task = random.normal(size=(tasks, m)) * np.sqrt(found.variances["task"])
        logits = found.coefficients[0] + worker[who] + task[what]
        whole = np.column_stack([np.zeros(len(logits)), logits])
        chosen = np.argmax(whole + random.gumbel(size=whole.shape), axis=1)
    else:
        eta = (
            random.normal(size=workers)[who] * np.sqrt(found.variances["worker"])
            + random.normal(size=tasks)[what] * np.sqrt(found.variances["task"])
            + (found.coefficients[0] if len(found.coefficients) else 0.0)
        )
        latent = eta + random.logistic(size=len(eta))
        cuts = found.thresholds if len(found.thresholds) else np.zeros(1)
        chosen = np.searchsorted(cuts, latent)
    codes: NDArray[np.int64] = np.asarray(found.categories)[chosen].astype(np.int64)
    return codes


def _with_shares(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(share=pl.col("variance") / pl.col("variance").sum())


def _text(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")
