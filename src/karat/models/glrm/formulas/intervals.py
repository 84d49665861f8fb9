"""Confidence intervals of a model's parameters: Wald's and those of the profile likelihood.

Wald's interval is the estimate plus and minus its standard error times a quantile (of t with Satterthwaite's degrees of
freedom for measured answers). It is suitable for coefficients. The profile interval contains all values of a parameter
at which the maximum likelihood is not significantly lower; it need not be symmetric, and suits standard deviations,
which cannot be negative. As in lme4, profiles are of the likelihood even if the model was fitted by REML. Names are
those of lme4: `sd_x|g` is the standard deviation of the effects of x over the levels of g, and `sigma` that of the
residuals.
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
        """The kind of intervals, then each interval."""
        values = {"level": self.level}
        first = Message("intervals.wald", values) if self.method == "wald" else Message("intervals.profile", values)
        numbers = zip(self.estimate, self.lower, self.upper, strict=True)
        rows = [dict(zip(("estimate", "lower", "upper"), map(significant, row), strict=True)) for row in numbers]
        return first, *(
            Message("intervals.interval", {"name": name, **row}) for name, row in zip(self.names, rows, strict=True)
        )


@dataclass(frozen=True)
class Parameter:
    """A parameter that can be profiled, with its place among the coordinates of an objective."""

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
    """Intervals of the coefficients and thresholds, and with profiles also of the deviations.

    `parameters` are the names of those to include; by default all.

    >>> import karat
    >>> from karat.models.glrm.formulas.model import fit
    >>> data = karat.datasets.load("likert").frame.filter(function="test").to_dict()
    >>> model = fit("rt ~ 1 + (1 | participant)", data, "gaussian")
    >>> result = intervals(model, "profile", parameters=["sd_(Intercept)|participant"])
    >>> bool(result.lower[0] < result.estimate[0] < result.upper[0])
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
    >>> effects = draw.multivariate_normal([0, 0], [[1, 0.1], [0.1, 0.04]], 40)[who]
    >>> data = {"time": effects[:, 0] + effects[:, 1] * x + draw.normal(size=400), "x": x, "who": who}
    >>> result = correlation_intervals(fit("time ~ x + (1 + x | who)", data, "gaussian"))
    >>> result.names, bool(result.lower[0] < 0.5 < result.upper[0])
    (('cor_(Intercept).x|who',), True)
    """
    fit = model.fit
    fixed = len(fit.parameters) - len(fit.theta)
    spread = fit.parameter_covariance[fixed:, fixed:]
    names, estimates = [], []
    for place, block in fit.objective.crossing.places(len(fit.theta)):
        if not block.full:
            continue
        theta, part = fit.theta[place : place + block.size], slice(place, place + block.size)
        steps = np.eye(block.size) * 1e-5 * max(1.0, float(np.abs(theta).max()))
        singular = fit.singular_terms[block.term]
        for row, column in combinations(range(block.width), 2):
            ends = [[_fisher(block.factor(theta + sign * step), row, column) for sign in (1, -1)] for step in steps]
            slope = np.array([upper - lower for upper, lower in ends]) / (2 * steps.max())
            error = float(np.sqrt(slope @ spread[part, part] @ slope))
            names.append(f"cor_{block.names[row]}.{block.names[column]}|{block.group}")
            estimates.append((_fisher(block.factor(theta), row, column), np.nan if singular else error))
    z, errors = np.array(estimates, dtype=np.float64).reshape(-1, 2).T
    half = float(ndtri((1 + level) / 2)) * errors
    return Intervals(tuple(names), np.tanh(z), np.tanh(z - half), np.tanh(z + half), level, "wald")


def _fisher(factor: Floats, row: int, column: int) -> float:
    """Fisher's z of a correlation, from Lambda."""
    matrix = factor @ factor.T
    size = np.sqrt(matrix[row, row] * matrix[column, column])
    return float(np.arctanh(np.clip(matrix[row, column] / size, -1 + 1e-12, 1 - 1e-12))) if size > 0 else np.nan


def _wald(model: Model, level: float, selection: Sequence[str] | None) -> Intervals:
    fit = model.fit
    names = [*fit.names]
    estimate, se, df = fit.coefficients, model.standard_errors, model.degrees(np.eye(len(fit.coefficients)))
    if model.family == "ordinal":
        thresholds = model.thresholds()
        names += thresholds["threshold"].tolist()
        estimate, se = np.append(estimate, thresholds["estimate"]), np.append(se, thresholds["se"])
        df = np.append(df, np.full(len(fit.thresholds), np.inf))
    half = se * quantile(level, df)
    selected = _select(names, selection)
    ends = (estimate - half)[selected], (estimate + half)[selected]
    return Intervals(tuple(names[k] for k in selected), estimate[selected], *ends, level, "wald")


def _profiles(model: Model, level: float, names: Sequence[str] | None) -> Intervals:
    if not model.fit.converged:
        raise ValueError(Message("intervals.not_converged", {"convergence": model.fit.convergence.message}))
    objective, best = full_likelihood(model)
    at = evaluated(objective, best)
    candidates = _parameters(model, objective)
    selected = [candidates[k] for k in _select([parameter.name for parameter in candidates], names)]
    fall = float(ndtri((1 + level) / 2))
    rows = [_profile(model, objective, best, at, parameter, fall) for parameter in selected]
    columns = np.array(rows).reshape(-1, 3).T
    notes: tuple[Message, ...] = (Message("intervals.likelihood"),) if model.fit.reml else ()
    open_ends = [parameter.name for parameter, row in zip(selected, rows, strict=True) if not np.all(np.isfinite(row))]
    if open_ends:
        notes += (Message("intervals.open", {"names": open_ends}),)
    return Intervals(
        tuple(parameter.name for parameter in selected), columns[0], columns[1], columns[2], level, "profile", notes
    )


def full_likelihood(model: Model) -> tuple[LaplaceObjective, Floats]:
    """The negative log-likelihood as a function of all parameters, and its minimum.

    Measured answers use the Laplace approximation, which is exact for them and has all parameters as coordinates: the
    coefficients, the logarithm of sigma, and the deviations.
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
    model: Model, objective: LaplaceObjective, best: Floats, at: Evaluated, parameter: Parameter, fall: float
) -> tuple[float, float, float]:
    """The estimate, lower and upper end of a parameter."""
    place, least = parameter.place, -np.inf
    if parameter.term >= 0:
        objective, best, place = leading_deviation(objective, best, model.fit.terms, parameter)
        least = 0.0
        at = evaluated(objective, best)
    error = float(np.sqrt(np.linalg.pinv(at.information(), hermitian=True)[place, place]))
    low, high = profile_ends(objective, best, at, place, error, fall, least)
    if parameter.logarithm:
        return float(np.exp(best[place])), float(np.exp(low)), float(np.exp(high))
    return float(best[place]), low, high


def evaluated(objective: LaplaceObjective, parameters: Floats) -> Evaluated:
    """The likelihood at the parameters; raise ValueError if it cannot be computed."""
    at = objective(parameters)
    if at is None:
        raise ValueError("The likelihood cannot be computed at the estimate, so that it has no profile.")
    return at


def _parameters(model: Model, objective: LaplaceObjective) -> list[Parameter]:
    fit = model.fit
    parameters = [Parameter(name, place) for place, name in enumerate(fit.names)]
    first = len(parameters)
    parameters += [Parameter(name, first + k) for k, name in enumerate(model.thresholds()["threshold"])]
    for place, block in objective.crossing.places(objective.parameters):
        term = fit.terms[block.term]
        shared = term.covariance == "shared" and len(term.names) > 1
        columns = ["+".join(term.names)] if shared else term.names
        parameters += [Parameter(f"sd_{name}|{term.group}", place, block.term, k) for k, name in enumerate(columns)]
    if model.family == "gaussian":
        parameters.append(Parameter("sigma", first, logarithm=True))
    return parameters


def leading_deviation(
    objective: LaplaceObjective, best: Floats, terms: Sequence[RandomTerm], parameter: Parameter
) -> tuple[LaplaceObjective, Floats, int]:
    """The same likelihood with the deviation of one column as a coordinate, which cannot be negative.

    The first element of a triangular factor is the deviation of the first column, so the column is moved to the front.
    """
    placed = objective.crossing.places(objective.parameters)
    place, block = next((place, block) for place, block in placed if block.term == parameter.term)
    best = best.copy()
    if not block.full:
        best[place + parameter.column] = abs(best[place + parameter.column])
        return objective, best, place + parameter.column
    order: Ints = np.array([parameter.column, *(k for k in range(block.width) if k != parameter.column)])
    part = slice(place, place + block.size)
    lower: Floats = np.asarray(np.linalg.qr(block.factor(best[part])[order].T, mode="r")).T
    lower = lower * np.where(np.diag(lower) < 0, -1.0, 1.0)
    best[part] = lower[block.entries]
    reordered = terms[parameter.term].only(order.tolist(), "full")
    crossing = Crossing(sides([*terms[: parameter.term], reordered, *terms[parameter.term + 1 :]]))
    return replace(objective, crossing=crossing), best, place


def _select(names: Sequence[str], selection: Sequence[str] | None) -> list[int]:
    if selection is None:
        return list(range(len(names)))
    unknown = [name for name in selection if name not in names]
    if unknown:
        raise ValueError(f"There is no parameter {listed(unknown)}; there are {listed(names)}.")
    return [list(names).index(name) for name in selection]
