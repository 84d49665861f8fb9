"""The Spammer Index of repeated rounds: the longer form, with time among the sources of variance.

If the same workers judge the same tasks in several rounds, the total variance also includes that of the rounds, and of
workers and tasks from round to round (Ba, Mancenido, Chiou and Pan, after equation 4):

    SI = var_workers / (var_workers + var_tasks + var_time + var_workers:time + var_tasks:time)

The model is eta = time + worker + task + worker:time + task:time, the last four random intercepts, fitted by the
Laplace approximation. There are only a handful of rounds, too few for a variance of random effects. Rounds are fixed
effects instead, and var_time is the variance of their estimates (divisor: rounds minus one), which includes their
errors of estimation. The variance of workers:tasks is left out, because the approximation greatly underestimates it
with two or three answers per cell, and the index would seem more precise than it is.

The interval is that of the profile likelihood, over all parameters; the variance of the rounds' effects is a quadratic
form in them, like the squares of the deviations. `simulations` requests a parametric bootstrap: new effects of
everything but the rounds, new answers, and a new fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.executors import SERIAL, Executor
from karat.messages import Message
from karat.models.glrm import MixedFit, RandomTerm, fit_mixed, random_term
from karat.models.numerics import one_thread
from karat.screen.crowd.answers import Crowd
from karat.screen.crowd.spammer_interval import IndexResult, Interval, bootstrapped, profiled, with_shares
from karat.screen.evidence import ScreenError
from karat.types import Floats, Progress

if TYPE_CHECKING:
    from karat.models.glrm.share import FittedShare

SOURCES = ("workers", "tasks", "time", "workers:time", "tasks:time")


def index_of_rounds(
    answers: Crowd,
    column: str,
    simulations: int = 0,
    seed: int = 1,
    progress: Progress | None = None,
    executor: Executor = SERIAL,
) -> IndexResult:
    """The Spammer Index of binary or ordered answers from several rounds."""
    if answers.family == "nominal":
        raise ScreenError(Message("spammer_index.labels_in_rounds"))
    rows = answers.rows.filter(pl.col(column).is_not_null())
    rounds, when = np.unique(rows[column].to_numpy(), return_inverse=True)
    model = RoundsModel(rows, when, len(rounds), answers.family)
    fitted = model.fit(rows["_code"].to_numpy())
    variances = variances_of(fitted, len(rounds))
    value = _share(variances)
    notes = [Message("spammer_index.rounds", {"rounds": len(rounds), "column": column})]
    notes += _notes(fitted, answers.rows.height - rows.height, column)
    if simulations:
        index = partial(_index_of_sample, model, fitted)
        values, messages = bootstrapped(index, simulations, seed, progress, executor)
        lower, upper = float(np.quantile(values, 0.025)), float(np.quantile(values, 0.975))
    else:
        with one_thread(rows.height * len(SOURCES)):
            lower, upper, messages = profiled([share_of_fit(fitted, len(rounds))])
    notes += messages
    table = pl.DataFrame({"source": SOURCES, "variance": [variances[name] for name in SOURCES]})
    how: Interval = "bootstrap" if simulations else "profile"
    return IndexResult(value, lower, upper, with_shares(table), fitted.log_likelihood, how, tuple(notes))


@dataclass(frozen=True)
class RoundsModel:
    """The model with rounds for the answers of a crowd."""

    rows: pl.DataFrame
    when: NDArray[np.int64]
    rounds: int
    family: Any

    @property
    def groups(self) -> dict[str, NDArray[Any]]:
        """The level of each random effect, by number, for each row."""
        worker, task = self.rows["_worker"].to_numpy(), self.rows["_stimulus"].to_numpy()
        return {
            "workers": worker, "tasks": task, "workers:time": worker * self.rounds + self.when,
            "tasks:time": task * self.rounds + self.when,
        }  # fmt: skip

    @property
    def design(self) -> Floats:
        """One column per round; for ordered answers, thresholds replace the first."""
        every = np.equal.outer(self.when, np.arange(self.rounds)).astype(np.float64)
        return every[:, 1:] if self.family == "ordinal" else every

    def fit(self, codes: NDArray[Any], start: Floats | None = None) -> MixedFit:
        names = [f"round {number}" for number in range(self.rounds - self.design.shape[1] + 1, self.rounds + 1)]
        terms: list[RandomTerm] = [random_term(name, levels) for name, levels in self.groups.items()]
        return fit_mixed(codes, self.design, names, terms, family=self.family, start=start)

    def new_answers(self, fitted: MixedFit, random: np.random.Generator) -> NDArray[Any]:
        eta = self.design @ fitted.coefficients
        for name, levels in self.groups.items():
            deviation = float(np.sqrt(fitted.covariances[name][0, 0]))
            eta = eta + deviation * random.normal(size=int(levels.max()) + 1)[levels]
        cuts = fitted.thresholds if len(fitted.thresholds) else np.zeros(1)
        return fitted.categories[np.searchsorted(cuts, eta + random.logistic(size=len(eta)))]


def _index_of_sample(model: RoundsModel, fitted: MixedFit, random: np.random.Generator) -> float | None:
    """The index of new answers; None if they lack a category or have no maximum."""
    codes = model.new_answers(fitted, random)
    if len(np.unique(codes)) < len(fitted.categories):
        return None
    again = model.fit(codes, fitted.parameters)
    return _share(variances_of(again, model.rounds)) if again.converged else None


def _effects(fitted: MixedFit, rounds: int) -> Floats:
    """The effects of the rounds; those of ordered answers are relative to the first."""
    return np.concatenate([np.zeros(rounds - len(fitted.coefficients)), fitted.coefficients])


def variances_of(fitted: MixedFit, rounds: int) -> dict[str, float]:
    """The variance of each grouping, and that of the rounds."""
    parts = {name: float(matrix[0, 0]) for name, matrix in fitted.covariances.items()}
    return parts | {"time": float(np.var(_effects(fitted, rounds), ddof=1))}


def _share(variances: dict[str, float]) -> float:
    whole = sum(variances.values())
    return variances["workers"] / whole if whole > 0 else float("nan")


def share_of_fit(fitted: MixedFit, rounds: int) -> FittedShare:
    """The variance of workers, and the sum of all others, as quadratic forms of the parameters."""
    from karat.models.glrm.share import FittedShare

    size, columns = len(fitted.parameters), len(fitted.coefficients)
    workers, rest = np.zeros((size, size)), np.zeros((size, size))
    # The variance of the effects; for ordered answers, the first round's effect is zero.
    centred = np.eye(rounds) - 1 / rounds
    rest[:columns, :columns] = centred[rounds - columns :, rounds - columns :] / (rounds - 1)
    for name in ("workers", "tasks", "workers:time", "tasks:time"):
        place = fitted.parameter_names.index(f"{name}.(Intercept)")
        (workers if name == "workers" else rest)[place, place] = 1.0
    return FittedShare(fitted.objective, fitted.parameters, fitted.modes, fitted.hessian, workers, rest)


def _notes(fitted: MixedFit, without: int, column: str) -> list[Message]:
    notes = list(fitted.notes)
    if not fitted.converged:
        notes.append(Message("spammer_index.rounds_not_converged", {"reason": fitted.convergence.message}))
    if without:
        notes.append(Message("spammer_index.without_round", {"answers": without, "column": column}))
    return notes
