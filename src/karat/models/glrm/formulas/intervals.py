"""Confidence intervals of a model's parameters: Wald's, and those of the profile likelihood.

Wald's interval is the estimate plus and minus its standard error times a quantile (of t with Satterthwaite's degrees
of freedom for measured answers). It is meant for coefficients. The profile interval holds all values of a parameter at
which the best likelihood is not significantly smaller; it need not be symmetric, and it is the one to take for
standard deviations, which cannot be negative. Profiles are of the likelihood, also where the model was fitted by REML,
as lme4's are. Names are those of lme4: `sd_x|g` is the standard deviation of the effects of x over the levels of g,
and `sigma` that of the residuals.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
from scipy.special import ndtri

from karat.messages import Message
from karat.models.glrm.families import Gaussian
from karat.models.glrm.formulas.frame import listed
from karat.models.glrm.formulas.model import Model, RowsResult, Table, quantile
from karat.models.glrm.mixed.gaussian import GaussianObjective
from karat.models.glrm.mixed.laplace import Crossing, LaplaceObjective
from karat.models.glrm.mixed.terms import RandomTerm, sides
from karat.models.glrm.optimise import Evaluated, minimise
from karat.models.glrm.profile import PRECISE, profile_ends
from karat.models.numerics import one_thread, significant
from karat.types import Floats, Ints


@dataclass(frozen=True)
class Intervals(RowsResult):
    """An interval for each parameter."""

    names: tuple[str, ...]
    estimate: Floats
    lower: Floats
    upper: Floats
    level: float
    method: Literal["wald", "profile"]
    notes: tuple[Message, ...] = ()

    def table(self) -> Table:
        """One row per parameter."""
        names = {"parameter": np.array(self.names, dtype=object)}
        return names | {name: getattr(self, name) for name in ("estimate", "lower", "upper")}

    @property
    def summary(self) -> tuple[Message, ...]:
        """What the intervals are, then each of them."""
        about = {"level": self.level}
        first = Message("intervals.wald", about) if self.method == "wald" else Message("intervals.profile", about)
        numbers = zip(self.estimate, self.lower, self.upper, strict=True)
        rows = [dict(zip(("estimate", "lower", "upper"), map(significant, row), strict=True)) for row in numbers]
        return first, *(
            Message("intervals.interval", {"name": name, **row}) for name, row in zip(self.names, rows, strict=True)
        )


@dataclass(frozen=True)
class Parameter:
    """A parameter that can be profiled: its place in an objective, which has it as a coordinate."""

    name: str
    place: int
    term: int = -1
    column: int = 0
    logarithm: bool = False


def intervals(
    model: Model,
    method: Literal["wald", "profile"] = "wald",
    level: float = 0.95,
    parameters: Sequence[str] | None = None,
) -> Intervals:
    """Intervals of the coefficients and thresholds; by profile also of the deviations. `parameters` names some of them.

    >>> import karat
    >>> from karat.models.glrm.formulas.model import fit
    >>> data = karat.datasets.load("likert").frame.filter(function="test").to_dict()
    >>> model = fit("rt ~ 1 + (1 | participant)", data, "gaussian")
    >>> found = intervals(model, "profile", parameters=["sd_(Intercept)|participant"])
    >>> bool(found.lower[0] < found.estimate[0] < found.upper[0])
    True
    """
    if method == "wald":
        return _wald(model, level, parameters)
    with one_thread(model.fit.objective.crossing.work):
        return _profiles(model, level, parameters)


def correlation_intervals(model: Model, level: float = 0.95) -> Intervals:
    """Intervals of the correlations of random effects, by Fisher's z and the delta method; NaN in a singular fit.

    >>> from karat.models.glrm.formulas.model import fit
    >>> draw = np.random.default_rng(3)
    >>> who, x = np.repeat(np.arange(40), 10), np.tile(np.arange(10) - 4.5, 40)
    >>> own = draw.multivariate_normal([0, 0], [[1, 0.1], [0.1, 0.04]], 40)[who]
    >>> data = {"time": own[:, 0] + own[:, 1] * x + draw.normal(size=400), "x": x, "who": who}
    >>> found = correlation_intervals(fit("time ~ x + (1 + x | who)", data, "gaussian"))
    >>> found.names, bool(found.lower[0] < 0.5 < found.upper[0])
    (('cor_(Intercept).x|who',), True)
    """
    fit = model.fit
    fixed = len(fit.parameters) - len(fit.theta)
    spread = fit.parameter_covariance[fixed:, fixed:]
    names, found = [], []
    for place, block in fit.objective.crossing.placed(len(fit.theta)):
        if not block.full:
            continue
        theta, part = fit.theta[place : place + block.size], slice(place, place + block.size)
        steps = np.eye(block.size) * 1e-5 * max(1.0, float(np.abs(theta).max()))
        singular = fit.singular_terms[block.term]
        for row, column in combinations(range(block.width), 2):
            ends = [[_fisher(block.factor(theta + sign * step), row, column) for sign in (1, -1)] for step in steps]
            slope = np.array([one - other for one, other in ends]) / (2 * steps.max())
            error = float(np.sqrt(slope @ spread[part, part] @ slope))
            names.append(f"cor_{block.names[row]}.{block.names[column]}|{block.group}")
            found.append((_fisher(block.factor(theta), row, column), np.nan if singular else error))
    z, errors = np.array(found, dtype=np.float64).reshape(-1, 2).T
    half = float(ndtri((1 + level) / 2)) * errors
    return Intervals(tuple(names), np.tanh(z), np.tanh(z - half), np.tanh(z + half), level, "wald")


def _fisher(factor: Floats, row: int, column: int) -> float:
    """Fisher's z of a correlation, from Lambda."""
    matrix = factor @ factor.T
    size = np.sqrt(matrix[row, row] * matrix[column, column])
    return float(np.arctanh(np.clip(matrix[row, column] / size, -1 + 1e-12, 1 - 1e-12))) if size > 0 else np.nan


def _wald(model: Model, level: float, wanted: Sequence[str] | None) -> Intervals:
    fit = model.fit
    names = [*fit.names]
    estimate, se, df = fit.coefficients, model.standard_errors, model.degrees(np.eye(len(fit.coefficients)))
    if model.family == "ordinal":
        between = model.thresholds()
        names += between["threshold"].tolist()
        estimate, se = np.append(estimate, between["estimate"]), np.append(se, between["se"])
        df = np.append(df, np.full(len(fit.thresholds), np.inf))
    half = se * quantile(level, df)
    kept = _chosen(names, wanted)
    return Intervals(
        tuple(names[k] for k in kept), estimate[kept], (estimate - half)[kept], (estimate + half)[kept], level, "wald"
    )


def _profiles(model: Model, level: float, wanted: Sequence[str] | None) -> Intervals:
    if not model.fit.converged:
        raise ValueError(Message("intervals.not_converged", {"convergence": model.fit.convergence.message}))
    objective, best = whole_likelihood(model)
    at = evaluated(objective, best)
    all_parameters = _parameters(model, objective)
    chosen = [all_parameters[k] for k in _chosen([one.name for one in all_parameters], wanted)]
    fall = float(ndtri((1 + level) / 2))
    rows = [_profile(model, objective, best, at, one, fall) for one in chosen]
    columns = np.array(rows).reshape(-1, 3).T
    notes: tuple[Message, ...] = (Message("intervals.likelihood"),) if model.fit.reml else ()
    open_ends = [one.name for one, row in zip(chosen, rows, strict=True) if not np.all(np.isfinite(row))]
    if open_ends:
        notes += (Message("intervals.open", {"names": open_ends}),)
    return Intervals(tuple(one.name for one in chosen), columns[0], columns[1], columns[2], level, "profile", notes)


def whole_likelihood(model: Model) -> tuple[LaplaceObjective, Floats]:
    """The negative log-likelihood over all parameters, and where it is smallest.

    For measured answers the Laplace approximation is exact, and in it every parameter is a coordinate of its own: the
    coefficients, the logarithm of sigma, and the deviations themselves.
    """
    fit = model.fit
    if isinstance(fit.objective, LaplaceObjective):
        return fit.objective, fit.parameters
    gaussian: GaussianObjective = fit.objective
    rows = len(gaussian.value)
    objective = LaplaceObjective(gaussian.crossing, Gaussian(gaussian.value), gaussian.design, np.zeros(rows))
    sigma = np.sqrt(fit.residual_variance)
    start = np.concatenate([fit.coefficients, [np.log(sigma)], sigma * fit.theta])
    return objective, minimise(objective, start, evaluated(objective, start), None, PRECISE / 10).parameters


def _profile(
    model: Model, objective: LaplaceObjective, best: Floats, at: Evaluated, one: Parameter, fall: float
) -> tuple[float, float, float]:
    """Estimate, lower and upper end."""
    place, least = one.place, -np.inf
    if one.term >= 0:
        objective, best, place = leading_deviation(objective, best, model.fit.terms, one)
        least = 0.0
        at = evaluated(objective, best)
    error = float(np.sqrt(np.linalg.pinv(at.information(), hermitian=True)[place, place]))
    low, high = profile_ends(objective, best, at, place, error, fall, least)
    if one.logarithm:
        return float(np.exp(best[place])), float(np.exp(low)), float(np.exp(high))
    return float(best[place]), low, high


def evaluated(objective: LaplaceObjective, parameters: Floats) -> Evaluated:
    """The likelihood at the parameters; an error where it cannot be computed."""
    at = objective(parameters)
    if at is None:
        raise ValueError("The likelihood cannot be computed at the estimate, so that it has no profile.")
    return at


def _parameters(model: Model, objective: LaplaceObjective) -> list[Parameter]:
    fit = model.fit
    found = [Parameter(name, place) for place, name in enumerate(fit.names)]
    first = len(found)
    found += [Parameter(name, first + k) for k, name in enumerate(model.thresholds()["threshold"])]
    for place, block in objective.crossing.placed(objective.parameters):
        term = fit.terms[block.term]
        shared = term.covariance == "shared" and len(term.names) > 1
        columns = ["+".join(term.names)] if shared else term.names
        found += [Parameter(f"sd_{name}|{term.group}", place, block.term, k) for k, name in enumerate(columns)]
    if model.family == "gaussian":
        found.append(Parameter("sigma", first, logarithm=True))
    return found


def leading_deviation(
    objective: LaplaceObjective, best: Floats, terms: Sequence[RandomTerm], one: Parameter
) -> tuple[LaplaceObjective, Floats, int]:
    """The same likelihood with the deviation of one column as a coordinate, which may not be negative.

    The first element of a triangular factor is the deviation of the first column; so the column is put first.
    """
    placed = objective.crossing.placed(objective.parameters)
    place, block = next((place, block) for place, block in placed if block.term == one.term)
    best = best.copy()
    if not block.full:
        best[place + one.column] = abs(best[place + one.column])
        return objective, best, place + one.column
    order: Ints = np.array([one.column, *(k for k in range(block.width) if k != one.column)])
    part = slice(place, place + block.size)
    lower: Floats = np.asarray(np.linalg.qr(block.factor(best[part])[order].T, mode="r")).T
    lower = lower * np.where(np.diag(lower) < 0, -1.0, 1.0)
    best[part] = lower[block.entries]
    moved = terms[one.term].only(order.tolist(), "full")
    crossing = Crossing(sides([*terms[: one.term], moved, *terms[one.term + 1 :]]))
    return replace(objective, crossing=crossing), best, place


def _chosen(names: Sequence[str], wanted: Sequence[str] | None) -> list[int]:
    if wanted is None:
        return list(range(len(names)))
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise ValueError(f"There is no parameter {listed(unknown)}; there are {listed(names)}.")
    return [list(names).index(name) for name in wanted]
