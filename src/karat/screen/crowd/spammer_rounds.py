"""The Spammer Index of repeated rounds: the longer form, with time among the sources of variance.

Where the same workers judge the same tasks in several rounds, the total variance also has that of the rounds, and of
workers and tasks from round to round (Ba, Mancenido, Chiou and Pan, after equation 4):

    SI = var_workers / (var_workers + var_tasks + var_time + var_workers:time + var_tasks:time)

The model is eta = time + worker + task + worker:time + task:time, the last four random intercepts, fitted by the
Laplace approximation. There are only a handful of rounds, too few for a variance of random effects. Rounds are fixed
effects instead, and var_time is the variance of their estimates (with one less than the rounds as divisor), which holds
their errors of estimation too. The variance of workers:tasks is left out: with two or three answers a cell the
approximation puts it far too low, so that it would lend the index a precision that it has not.

The interval is that of the profile likelihood, over all parameters; the variance of the rounds' effects is a quadratic
form in them, like the squares of the deviations. `simulations` asks for a parametric bootstrap: new effects of
everybody and everything but the rounds, new answers, and the model fitted anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.executors import SERIAL, Executor
from karat.messages import Message
from karat.models.glrm import MixedFit, RandomTerm, fit_mixed, random_term
from karat.models.numerics import one_thread
from karat.screen.crowd.answers import Crowd
from karat.screen.crowd.spammer_interval import IndexFound, Interval, lost_samples, profiled, usable, with_shares
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
) -> IndexFound:
    """The Spammer Index of binary or ordered answers that were given in several rounds."""
    if answers.family == "nominal":
        raise ScreenError(Message("spammer_index.labels_in_rounds"))
    known = answers.rows.filter(pl.col(column).is_not_null())
    rounds, when = np.unique(known[column].to_numpy(), return_inverse=True)
    model = RoundsModel(known, when, len(rounds), answers.family)
    found = model.fit(known["_code"].to_numpy())
    variances = variances_of(found, len(rounds))
    value = _share(variances)
    notes = [Message("spammer_index.rounds", {"rounds": len(rounds), "column": column})]
    notes += _notes(found, answers.rows.height - known.height, column)
    if simulations:
        values = model.bootstrap(found, simulations, seed, progress, executor)
        lower, upper = float(np.quantile(values, 0.025)), float(np.quantile(values, 0.975))
        notes += lost_samples(len(values), simulations)
    else:
        with one_thread(known.height * len(SOURCES)):
            lower, upper, messages = profiled([share_of_fit(found, len(rounds))])
        notes += messages
    table = pl.DataFrame({"source": SOURCES, "variance": [variances[name] for name in SOURCES]})
    how: Interval = "bootstrap" if simulations else "profile"
    return IndexFound(value, lower, upper, with_shares(table), found.log_likelihood, how, tuple(notes))


@dataclass(frozen=True)
class RoundsModel:
    """The model of the longer form for the rows of a crowd."""

    rows: pl.DataFrame
    when: NDArray[np.int64]
    rounds: int
    family: Any

    @property
    def groups(self) -> dict[str, NDArray[Any]]:
        """The number of the level of each random effect, for each row."""
        who, what = self.rows["_worker"].to_numpy(), self.rows["_stimulus"].to_numpy()
        return {
            "workers": who, "tasks": what, "workers:time": who * self.rounds + self.when,
            "tasks:time": what * self.rounds + self.when,
        }  # fmt: skip

    @property
    def design(self) -> Floats:
        """A column for each round; ordered answers have thresholds in place of the first."""
        every = np.equal.outer(self.when, np.arange(self.rounds)).astype(np.float64)
        return every[:, 1:] if self.family == "ordinal" else every

    def fit(self, codes: NDArray[Any], start: Floats | None = None) -> MixedFit:
        names = [f"round {number}" for number in range(self.rounds - self.design.shape[1] + 1, self.rounds + 1)]
        terms: list[RandomTerm] = [random_term(name, levels) for name, levels in self.groups.items()]
        return fit_mixed(codes, self.design, names, terms, family=self.family, start=start)

    def bootstrap(
        self, found: MixedFit, simulations: int, seed: int, progress: Progress | None, executor: Executor
    ) -> Floats:
        """The index of samples from the fitted model; those without all categories, or without a maximum, left out."""
        about = (self, found, seed)
        return usable(executor.map(_sample, about, range(simulations), name="bootstrap", progress=progress))

    def drawn(self, found: MixedFit, random: np.random.Generator) -> NDArray[Any]:
        eta = self.design @ found.coefficients
        for name, levels in self.groups.items():
            deviation = float(np.sqrt(found.covariances[name][0, 0]))
            eta = eta + deviation * random.normal(size=int(levels.max()) + 1)[levels]
        cuts = found.thresholds if len(found.thresholds) else np.zeros(1)
        return found.categories[np.searchsorted(cuts, eta + random.logistic(size=len(eta)))]


def _sample(about: tuple[RoundsModel, MixedFit, int], number: int) -> float | None:
    """The index of one sample; None where it has not all answers, or no maximum."""
    model, found, seed = about
    codes = model.drawn(found, np.random.default_rng([seed, number]))
    if len(np.unique(codes)) < len(found.categories):
        return None
    again = model.fit(codes, found.parameters)
    return _share(variances_of(again, model.rounds)) if again.converged else None


def _effects(found: MixedFit, rounds: int) -> Floats:
    """The effects of the rounds; those of ordered answers are relative to the first."""
    return np.concatenate([np.zeros(rounds - len(found.coefficients)), found.coefficients])


def variances_of(found: MixedFit, rounds: int) -> dict[str, float]:
    """The variance of each grouping, and that of the rounds."""
    parts = {name: float(matrix[0, 0]) for name, matrix in found.covariances.items()}
    return parts | {"time": float(np.var(_effects(found, rounds), ddof=1))}


def _share(variances: dict[str, float]) -> float:
    whole = sum(variances.values())
    return variances["workers"] / whole if whole > 0 else float("nan")


def share_of_fit(found: MixedFit, rounds: int) -> FittedShare:
    """The variance of workers, and the sum of all others, as quadratic forms of the parameters."""
    from karat.models.glrm.share import FittedShare

    size, columns = len(found.parameters), len(found.coefficients)
    workers, rest = np.zeros((size, size)), np.zeros((size, size))
    # The variance of the effects: of ordered answers, that of the first round is zero.
    centred = np.eye(rounds) - 1 / rounds
    rest[:columns, :columns] = centred[rounds - columns :, rounds - columns :] / (rounds - 1)
    for name in ("workers", "tasks", "workers:time", "tasks:time"):
        place = found.parameter_names.index(f"{name}.(Intercept)")
        (workers if name == "workers" else rest)[place, place] = 1.0
    return FittedShare(found.objective, found.parameters, found.modes, found.hessian, workers, rest)


def _notes(found: MixedFit, without: int, column: str) -> list[Message]:
    notes = list(found.notes)
    if not found.converged:
        notes.append(Message("spammer_index.rounds_not_converged", {"reason": found.convergence.message}))
    if without:
        notes.append(Message("spammer_index.without_round", {"answers": without, "column": column}))
    return notes
