"""Quasi-Newton minimisation of a negative log-likelihood of few parameters, verified by the Hessian.

Each point has a rough information matrix A = L L'. The search approximates the Hessian by L C L', where C starts as
the identity and is updated by the damped BFGS formula (Powell 1978), so that it stays positive definite. A changes with
the parameters; C remains valid meanwhile. A point counts as the minimum if half the squared Newton decrement,
g' H^-1 g / 2, is small: this is how much the log-likelihood can still rise, whatever the units of the parameters.

The search for the modes of random effects has an exact curvature: Newton's method with step halving (`newton`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from karat.messages import Message
from karat.models.numerics import significant
from karat.types import Floats

EVALUATIONS = 300
HALVINGS = 30
TOLERANCE = 1e-8
"""Half a squared Newton decrement, in units of the log-likelihood, within which a fit counts as converged."""
DIFFERENCE = 1e-3
"""The step for a difference of gradients, in standard errors."""
RESTARTS = 3
NEARLY_ZERO, BESIDE_ZERO = 1e-2, 0.1
"""If a deviation ends below the first, the search is repeated from the second."""

DECREMENT = 1e-10
"""Below this squared Newton decrement, the error after the step is of the order of its square."""
NEGLIGIBLE = 1e-18
"""A squared Newton decrement that needs no further step."""
STEPS = 200
MODE_HALVINGS = 40


class Evaluated(Protocol):
    """A value with its gradient, and the modes from which the next evaluation starts."""

    @property
    def value(self) -> float: ...
    @property
    def gradient(self) -> Floats: ...
    @property
    def modes(self) -> Any: ...
    @property
    def information(self) -> Callable[[], Floats]: ...


@dataclass(frozen=True)
class Evaluation:
    """A negative log-likelihood and its gradient at some parameters, with the modes there."""

    value: float
    gradient: Floats
    modes: Any
    information: Callable[[], Floats]
    """Returns an approximation of the Hessian."""
    converged: bool = True
    """Whether the search for the modes converged."""


Function = Callable[[Floats, Any], Evaluated | None]


@dataclass(frozen=True)
class Restricted:
    """A function of fewer parameters x: the value of `function` at `origin` + `directions` x."""

    function: Function
    origin: Floats
    directions: Floats

    def __call__(self, parameters: Floats, modes: Any) -> Evaluation | None:
        along = self.directions
        at = self.function(self.origin + along @ parameters, modes)
        if at is None:
            return None
        return Evaluation(at.value, along.T @ at.gradient, at.modes, lambda: along.T @ at.information() @ along)


@dataclass(frozen=True)
class Optimum:
    """The end of a search."""

    parameters: Floats
    at: Evaluated
    hessian: Floats
    decrement: float
    """Half the squared Newton decrement."""
    evaluations: int


def minimise(
    function: Function,
    start: Floats,
    at: Evaluated,
    hessian: Floats | None,
    tolerance: float,
    limit: int = EVALUATIONS,
) -> Optimum:
    """Minimise from `start`, where the function is `at`, until the decrement is within the tolerance or no step helps.

    `hessian`, if given, approximates the Hessian near the start and replaces the information.
    """
    x, evaluations = start, 0
    lower = cholesky_root(at.information() if hessian is None else hessian)
    core = np.eye(len(x))
    while True:
        scaled = linalg.solve_triangular(lower, at.gradient, lower=True)
        try:
            direction = linalg.cho_solve((linalg.cholesky(core, lower=True), True), scaled)
        except linalg.LinAlgError:
            # If deviations differ by many orders of magnitude, rounding can make the core singular: reset it.
            core, direction = np.eye(len(x)), scaled
        decrement = float(scaled @ direction) / 2
        if decrement <= tolerance or evaluations >= limit:
            return Optimum(x, at, lower @ core @ lower.T, decrement, evaluations)
        step = -linalg.solve_triangular(lower, direction, lower=True, trans=1)
        # No step exceeds the size of its parameter, or 1 if that is larger.
        length = min(1.0, float(np.min(np.maximum(1.0, np.abs(x)) / np.maximum(1.0, np.abs(step)))))
        after = None
        for _ in range(HALVINGS):
            after = function(x + length * step, at.modes)
            evaluations += 1
            if after is not None and after.value <= at.value - 2e-4 * length * decrement + 1e-12 * abs(at.value):
                break
            length *= _shorter(at, after, length, decrement)
            after = None
        if after is None:
            return Optimum(x, at, lower @ core @ lower.T, decrement, evaluations)
        change = linalg.solve_triangular(lower, after.gradient - at.gradient, lower=True)
        core = bfgs_update(core, lower.T @ (length * step), change)
        x, at = x + length * step, after
        if hessian is None:
            lower = cholesky_root(at.information())


def minimise_off_zero(function: Function, best: Optimum, deviations: int, tolerance: float) -> Optimum:
    """Continue from a minimum at which a deviation, one of the last parameters, is zero but should not be.

    The likelihood is even in a deviation, so the slope is zero at zero; the slope next to zero is tested instead.
    """
    for place in range(len(best.parameters) - deviations, len(best.parameters)):
        if abs(best.parameters[place]) > NEARLY_ZERO:
            continue
        x = best.parameters.copy()
        x[place] = BESIDE_ZERO
        at = function(x, best.at.modes)
        best = replace(best, evaluations=best.evaluations + 1)
        if at is not None and (at.gradient[place] < 0 or at.value < best.at.value):
            beyond = minimise(function, x, at, None, tolerance)
            better = beyond if beyond.at.value < best.at.value else best
            best = replace(better, evaluations=best.evaluations + beyond.evaluations)
    return best


def cholesky_root(matrix: Floats) -> Floats:
    """The Cholesky factor of a matrix, or of its diagonal alone if it is not positive definite."""
    try:
        lower: Floats = np.linalg.cholesky(matrix).astype(np.float64, copy=False)
    except linalg.LinAlgError:
        return np.diag(np.sqrt(np.maximum(np.abs(np.diag(matrix)), 1e-8)))
    return lower


def _shorter(at: Evaluated, after: Evaluated | None, length: float, decrement: float) -> float:
    """The factor by which to shorten a step: to the minimum of the parabola through both ends, between 0.1 and 0.5."""
    if after is None or not np.isfinite(after.value):
        return 0.5
    # Positive, since the value fell by less than a small part of what the slope predicts.
    rise = after.value - at.value + 2 * length * decrement
    return float(np.clip(length * decrement / rise, 0.1, 0.5))


def bfgs_update(hessian: Floats, step: Floats, change: Floats) -> Floats:
    """The damped BFGS update for a step and the change of the gradient over it."""
    along = hessian @ step
    curvature, expected = float(step @ change), float(step @ along)
    if expected <= 0:
        return hessian
    if curvature < 0.2 * expected:
        weight = 0.8 * expected / (expected - curvature)
        change = weight * change + (1 - weight) * along
        curvature = float(step @ change)
    return hessian - np.outer(along, along) / expected + np.outer(change, change) / curvature


@dataclass(frozen=True)
class Convergence:
    """Whether a search ended in a minimum, with the evidence."""

    converged: bool
    decrement: float
    """Half the squared Newton decrement: about how much the log-likelihood could still rise."""
    gradient: float
    """The largest absolute slope at the end; per standard error of the parameters if `scaled`."""
    curved: bool
    """Whether the Hessian is positive definite, except in directions in which a singular covariance can turn."""
    evaluations: int
    reason: Message | None = None
    """Why the search did not converge, if known."""
    flat: tuple[str, ...] = ()
    """Parameters that the data do not determine."""
    scaled: bool = False

    def covariance(self, hessian: Floats) -> Floats:
        """The inverse of the Hessian at the end of the search, or NaN if that is not positive definite."""
        if not self.curved:
            return np.full_like(hessian, np.nan)
        # scipy's inverse would warn if separation made the Hessian nearly singular.
        return np.linalg.inv(hessian).astype(np.float64, copy=False)

    @property
    def message(self) -> Message:
        """How the search ended."""
        values: dict[str, Any] = {
            "evaluations": self.evaluations, "gradient": significant(self.gradient, 2),
            "decrement": significant(self.decrement, 2),
        }  # fmt: skip
        if self.converged:
            return Message("fit.converged_scaled", values) if self.scaled else Message("fit.converged", values)
        default = Message("fit.reason_stopped") if self.curved else Message("fit.reason_hessian")
        values |= {"reason": self.reason or default}
        return Message("fit.not_converged_scaled", values) if self.scaled else Message("fit.not_converged", values)

    def __str__(self) -> str:
        return str(self.message)


class Summarised:
    """A result that prints as its summary."""

    @property
    def summary(self) -> tuple[Message, ...]:
        """Sentences that describe the result."""
        raise NotImplementedError

    def __str__(self) -> str:
        return " ".join(map(str, self.summary))


class Estimated(Summarised):
    """The base class of fitted models."""

    convergence: Convergence
    notes: tuple[Message, ...]

    @property
    def converged(self) -> bool:
        """Whether the search ended at a maximum of the likelihood, verified by gradient and Hessian."""
        return self.convergence.converged

    def __str__(self) -> str:
        return " ".join(map(str, (*self.summary, *self.notes)))


@dataclass(frozen=True)
class SearchResult(Estimated):
    """A fitted model of workers and tasks. Effects are in units of the linear predictor, variances by group."""

    log_likelihood: float
    coefficients: Floats
    variances: dict[str, Any]
    worker_effects: Floats
    task_effects: Floats
    workers: NDArray[Any]
    tasks: NDArray[Any]
    categories: NDArray[Any]
    answers: int
    convergence: Convergence
    notes: tuple[Message, ...]
    parameters: Floats
    hessian: Floats
    objective: Any = field(repr=False)
    modes: Any = field(repr=False)

    @property
    def covariance(self) -> Floats:
        """The covariance of the parameters: the inverse of the Hessian, or NaN if that is not positive definite."""
        return self.convergence.covariance(self.hessian)


def solve(function: Function, start: Floats, modes: Any) -> tuple[Optimum, Convergence]:
    """Minimise and verify by a difference Hessian; the search goes on from a saddle, as at a deviation of zero."""
    at = function(start, modes)
    if at is None:
        raise ValueError(Message("models.no_start"))
    x, hessian, evaluations = start, None, 1
    for _ in range(RESTARTS):
        best = minimise(function, x, at, hessian, TOLERANCE / 10)
        evaluations += best.evaluations + len(start)
        exact = difference_hessian(function, best.parameters, best.at, np.diag(best.hessian))
        if exact is None:
            return best, Convergence(False, best.decrement, _largest(best.at.gradient), False, evaluations)
        units = np.sqrt(np.maximum(np.abs(np.diag(exact)), 1e-300))
        values, vectors = np.linalg.eigh(exact / np.outer(units, units))
        curved = bool(values[0] > 1e-9)
        if curved:
            decrement = float(best.at.gradient @ np.linalg.solve(exact, best.at.gradient)) / 2
            best = Optimum(best.parameters, best.at, exact, decrement, evaluations)
            if decrement <= TOLERANCE:
                return best, Convergence(True, decrement, _largest(best.at.gradient), True, evaluations)
            x, at, hessian = best.parameters, best.at, exact
            continue
        along = vectors[:, 0] / units
        x = best.parameters + 0.3 * along / np.abs(along).max()
        beyond = function(x, best.at.modes)
        evaluations += 1
        if beyond is None or beyond.value > best.at.value:
            break
        at, hessian = beyond, None
    return best, Convergence(False, best.decrement, _largest(best.at.gradient), curved, evaluations)


def _largest(gradient: Floats) -> float:
    return float(np.abs(gradient).max())


def difference_hessian(function: Function, x: Floats, at: Evaluated, scale: Floats) -> Floats | None:
    """The Hessian from differences of the gradient; `scale` approximates its diagonal."""
    hessian = np.empty((len(x), len(x)))
    for k, curvature in enumerate(scale):
        step = np.zeros(len(x))
        step[k] = DIFFERENCE / np.sqrt(curvature)
        beside = function(x + step, at.modes)
        if beside is None:
            return None
        hessian[k] = (beside.gradient - at.gradient) / step[k]
    return (hessian + hessian.T) / 2


class Valued(Protocol):
    """A point with the value to minimise."""

    @property
    def value(self) -> float: ...


Point = TypeVar("Point", bound=Valued)
Factorised = TypeVar("Factorised")
Step = TypeVar("Step")


def newton(
    point: Point,
    factorise: Callable[[Point], Factorised],
    step: Callable[[Point, Factorised], tuple[Step, float]],
    move: Callable[[Point, Step, float], Point],
    steps: int = STEPS,
) -> tuple[Point, Factorised, bool]:
    """Newton's method with step halving: the mode, the factorised curvature there and whether the search converged.

    `step` returns a direction with its squared decrement, `move` the point at a multiple of it.
    """
    for _ in range(steps):
        factor = factorise(point)
        along, decrement = step(point, factor)
        if decrement < NEGLIGIBLE:
            return point, factor, True
        ahead = halve(partial(move, point, along), point.value, decrement)
        if ahead is None:
            return point, factor, decrement < 1e-6
        point = ahead
        if decrement <= DECREMENT:
            return point, factorise(point), True
    return point, factorise(point), False


def halve(along: Callable[[float], Point], value: float, decrement: float) -> Point | None:
    """The first point along a repeatedly halved Newton step at which the penalised likelihood is higher, or None.

    `along` returns the point at a multiple of the step; `value` is the negative likelihood at its start.
    """
    length = 1.0
    # Near the mode, gains are within rounding error.
    slack = 1e-11 * (1 + abs(value))
    for _ in range(MODE_HALVINGS):
        point = along(length)
        if point.value <= value - 1e-4 * length * decrement + slack:
            return point
        length /= 2
    return None
