"""The search for the best parameters of a mixed model, verified by the Hessian.

The search varies the factor Lambda of the covariances, which can have any sign, so that a variance of zero is an
ordinary point at which the slope vanishes by symmetry. The end of a search is therefore verified by the Hessian, from
central differences of the gradient along directions in which the information matrix is the identity. If a direction
curves downwards, the end is a saddle and the search continues. A direction without curvature is harmless if the
covariance matrix is singular (Lambda can turn without changing the covariance); otherwise it is a parameter that the
data do not identify.

A search reaches a singular covariance only approximately, so the smallest directions of Lambda are set to zero if the
likelihood does not fall.

A covariance matrix is singular if a combination of effects has no variance. With one effect this is a variance of zero,
with two a correlation of 1 or -1; with more the message has the weights of the combination. `simpler` returns the next
model of the usual sequence: first a singular term loses its correlations, then the effect with the smallest variance is
removed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import linalg

from karat.messages import Message
from karat.models.glrm.mixed.terms import RandomBlock, RandomTerm
from karat.models.glrm.optimise import TOLERANCE, Convergence, Evaluated, Function, cholesky_root, minimise
from karat.types import Floats

STEP = 3e-3
"""The step of the differences, in standard errors."""
FLAT = 1e-3
"""A direction counts as flat if its curvature relative to the information is below this."""
SMALL = 0.1
"""Zero is tried for singular values of Lambda below this."""
LOSS = 1e-9
"""The largest fall of the log-likelihood at which zero is accepted."""
TURNING = 1e-8
"""Lambda can turn if a singular value is below this."""
ROUGHLY = 1e-3
"""Half the squared Newton decrement at which a search that may end early is checked for singularity."""
RESTARTS = 4


@dataclass(frozen=True)
class SearchOutcome:
    """The end of a search, with the Hessian and the covariance of the parameters."""

    parameters: Floats
    at: Evaluated
    hessian: Floats
    covariance: Floats
    convergence: Convergence


@dataclass(frozen=True)
class ScaledHessian:
    """The eigenvalues and vectors of a Hessian in directions in which the information L L' is the identity."""

    lower: Floats
    values: Floats
    vectors: Floats

    @property
    def hessian(self) -> Floats:
        directions = self.lower @ self.vectors
        return (directions * self.values) @ directions.T

    @property
    def covariance(self) -> Floats:
        """The inverse of the Hessian, without its flat directions."""
        curved = self.values > FLAT
        directions = linalg.solve_triangular(self.lower, self.vectors[:, curved], lower=True, trans="T")
        return np.asarray((directions / self.values[curved]) @ directions.T)

    def decrement(self, gradient: Floats) -> float:
        """Half the squared Newton decrement; flat directions count with a small curvature."""
        slopes = self.vectors.T @ linalg.solve_triangular(self.lower, gradient, lower=True)
        return float((slopes**2 / np.maximum(self.values, FLAT)).sum()) / 2


def search(
    function: Function,
    start: Floats,
    blocks: Sequence[tuple[int, RandomBlock]],
    names: Sequence[str],
    leave: bool | Literal["always"] = False,
) -> SearchOutcome:
    """Minimise and verify. `blocks` are the terms, each with the place of its theta among the parameters.

    With `leave`, the caller discards a singular fit, so it is not verified by the Hessian, which takes about half of
    the time, and does not count as converged; only zero deviations are checked for a saddle. With "always", the caller
    starts another search from any fit, so a regular fit is not verified either.
    """
    x, at, hessian, iterations = start, function(start, None), None, 1
    if at is None:
        raise ValueError("The parameters to start from are not allowed: thresholds must increase and all be finite.")
    if leave and not any(block.full for _, block in blocks):
        # Zero deviations appear and can be checked long before the search ends.
        rough = minimise(function, x, at, hessian, ROUGHLY)
        tidied = tidy_factors(function, rough.parameters, rough.at, blocks)
        iterations += rough.evaluations + 1
        if _is_discarded(function, *tidied, blocks, leave):
            return _conclude(*tidied, None, blocks, names, iterations)
        x, at = rough.parameters, rough.at
    for _ in range(RESTARTS):
        best = minimise(function, x, at, hessian, TOLERANCE / 10)
        x, at = tidy_factors(function, best.parameters, best.at, blocks)
        curvature = None if _is_discarded(function, x, at, blocks, leave) else _curvature(function, x, at)
        iterations += best.evaluations + 1 + 2 * len(x)
        if curvature is None:
            break
        if curvature.values[0] < -FLAT:
            step = linalg.solve_triangular(curvature.lower, curvature.vectors[:, 0], lower=True, trans="T")
            lower_point = leave_saddle(function, x, at, step)
            iterations += 1
            if lower_point is None:
                break
            (x, at), hessian = lower_point, None
            continue
        if curvature.decrement(at.gradient) <= TOLERANCE:
            break
        hessian = ScaledHessian(curvature.lower, np.maximum(curvature.values, FLAT), curvature.vectors).hessian
    return _conclude(x, at, curvature, blocks, names, iterations)


def _is_discarded(
    function: Function,
    x: Floats,
    at: Evaluated,
    blocks: Sequence[tuple[int, RandomBlock]],
    leave: bool | Literal["always"],
) -> bool:
    """Whether the fit at these parameters needs no verification, because the caller discards it."""
    if leave == "always" and all(x[first : first + block.size].all() for first, block in blocks):
        return True
    return bool(leave) and _singular(function, x, at, blocks)


def _singular(function: Function, x: Floats, at: Evaluated, blocks: Sequence[tuple[int, RandomBlock]]) -> bool:
    """Whether a covariance is singular and no deviation of zero is a saddle.

    The likelihood is even in a deviation without correlations, so its curvature at zero can be checked separately.
    """
    zero, units = [], np.diag(at.information())
    for first, block in blocks:
        theta = x[first : first + block.size]
        if block.full and np.linalg.svd(block.factor(theta), compute_uv=False)[-1] < TURNING:
            return True
        if not block.full:
            zero += [first + int(k) for k in np.flatnonzero(theta == 0)]
    for place in zero:
        step = np.zeros(len(x))
        step[place] = STEP / np.sqrt(units[place])
        beside = function(x + step, at.modes)
        if beside is None or beside.gradient[place] / (step[place] * units[place]) < -FLAT:
            return False
    return bool(zero)


def _conclude(
    x: Floats,
    at: Evaluated,
    curvature: ScaledHessian | None,
    blocks: Sequence[tuple[int, RandomBlock]],
    names: Sequence[str],
    iterations: int,
) -> SearchOutcome:
    if curvature is None:
        nothing, largest = np.full((len(x), len(x)), np.nan), float(np.abs(at.gradient).max())
        failure = Message("fit.reason_beside")
        return SearchOutcome(
            x, at, nothing, nothing, Convergence(False, np.nan, largest, False, iterations, failure, scaled=True)
        )
    decrement = curvature.decrement(at.gradient)
    slopes = linalg.solve_triangular(curvature.lower, at.gradient, lower=True)
    flat = _flat_parameters(curvature, x, blocks, names)
    definite = bool(curvature.values[0] > -FLAT) and not flat
    reason = None
    if flat:
        reason = Message("fit.reason_flat", {"names": list(flat)})
    elif not definite:
        reason = Message("fit.reason_hessian")
    elif not decrement <= TOLERANCE:
        reason = Message("fit.reason_stopped")
    verdict = Convergence(
        reason is None, decrement, float(np.abs(slopes).max()), definite, iterations, reason, flat, scaled=True
    )
    covariance = curvature.covariance if definite else np.full((len(x), len(x)), np.nan)
    return SearchOutcome(x, at, curvature.hessian, covariance, verdict)


def _flat_parameters(
    curvature: ScaledHessian, x: Floats, blocks: Sequence[tuple[int, RandomBlock]], names: Sequence[str]
) -> tuple[str, ...]:
    """The parameters of flat directions, except those in which a singular Lambda turns."""
    turning = np.zeros(len(x), dtype=bool)
    for first, block in blocks:
        part = slice(first, first + block.size)
        if block.full and np.linalg.svd(block.factor(x[part]), compute_uv=False)[-1] < TURNING:
            turning[part] = True
    parameters: list[str] = []
    for value, vector in zip(curvature.values, curvature.vectors.T, strict=True):
        if abs(value) > FLAT:
            continue
        weight = linalg.solve_triangular(curvature.lower, vector, lower=True, trans="T") * np.sqrt(
            (curvature.lower**2).sum(axis=1)
        )
        large = np.abs(weight) > 0.3 * np.abs(weight).max()
        if not turning[large].all():
            parameters += [
                name for name, weighty in zip(names, large, strict=True) if weighty and name not in parameters
            ]
    return tuple(parameters)


def _curvature(function: Function, x: Floats, at: Evaluated) -> ScaledHessian | None:
    """The Hessian from central differences along the columns of L'^-1, where the information is L L'."""
    lower = cholesky_root(at.information())
    directions = linalg.solve_triangular(lower, np.eye(len(x)), lower=True, trans="T")
    inner = np.empty((len(x), len(x)))
    for k, direction in enumerate(directions.T):
        ahead, behind = function(x + STEP * direction, at.modes), function(x - STEP * direction, at.modes)
        if ahead is None or behind is None:
            return None
        inner[k] = directions.T @ (ahead.gradient - behind.gradient) / (2 * STEP)
    values, vectors = np.linalg.eigh((inner + inner.T) / 2)
    return ScaledHessian(lower, values, vectors)


def leave_saddle(function: Function, x: Floats, at: Evaluated, step: Floats) -> tuple[Floats, Evaluated] | None:
    """A lower point on either side of a saddle, or None."""
    for length in (1.0, -1.0, 0.3, -0.3, 0.1, -0.1):
        beside = function(x + length * step, at.modes)
        if beside is not None and beside.value < at.value:
            return x + length * step, beside
    return None


def tidy_factors(
    function: Function, x: Floats, at: Evaluated, blocks: Sequence[tuple[int, RandomBlock]]
) -> tuple[Floats, Evaluated]:
    """Set small directions of Lambda to zero if the likelihood does not fall, and make the diagonal positive."""
    x = x.copy()
    for first, block in blocks:
        part = slice(first, first + block.size)
        for candidate in smaller_factors(block, x[part]):
            proposal = x.copy()
            proposal[part] = candidate
            after = function(proposal, at.modes)
            if after is None or after.value > at.value + LOSS:
                break
            x = proposal
        lower = block.factor(x[part])
        lower = lower * np.where(np.diag(lower) < 0, -1.0, 1.0)
        x[part] = lower[block.entries]
    after = function(x, at.modes)
    return (x, after) if after is not None else (x, at)


def smaller_factors(block: RandomBlock, theta: Floats) -> list[Floats]:
    """Theta with the smallest direction of Lambda at zero, the two smallest and so on, as long as they are small."""
    lower = block.factor(theta)
    candidates = []
    if not block.full:
        reduced = theta.copy()
        for k in np.argsort(np.abs(theta)):
            if abs(theta[k]) < SMALL:
                reduced[k] = 0.0
                candidates.append(reduced.copy())
        return candidates
    vectors, values, _ = np.linalg.svd(lower)
    for rank in range(len(values) - 1, -1, -1):
        if values[rank] >= SMALL:
            break
        reduced_root = vectors[:, :rank] * values[:rank]
        # The lower triangle with the same covariance as this root.
        triangle = np.zeros_like(lower)
        if rank:
            triangle[:, :rank] = np.linalg.qr(reduced_root.T)[1].T
        candidates.append(triangle[block.entries])
    return candidates


ZERO = 1e-4
"""A deviation below this, in units of the column, counts as zero (as in lme4's isSingular)."""
SINGULAR = ("fit.zero_variance", "fit.correlated", "fit.directions")
"""The codes of messages about a singular fit."""


def singular_directions(term: RandomTerm, factor: Floats) -> list[Message]:
    """Messages about effects and directions without variance; `factor` is Lambda in units of the term's columns."""
    if term.covariance == "shared" and abs(factor[0, 0]) < ZERO:
        return [Message("fit.zero_variance", {"effects": list(term.names), "group": term.group})]
    deviations = np.sqrt((factor**2).sum(axis=1))
    zero = deviations < ZERO
    messages = [
        Message("fit.zero_variance", {"effects": [name], "group": term.group})
        for name, missing in zip(term.names, zero, strict=True)
        if missing
    ]
    varying = np.flatnonzero(~zero)
    if len(varying) < 2 or term.covariance != "full":
        return messages
    correlated = factor[varying] / deviations[varying, None]
    vectors, singular_values, _ = np.linalg.svd(correlated)
    empty = int((singular_values < ZERO).sum())
    names = [term.names[k] for k in varying]
    if empty and len(varying) == 2:
        sign = 1 if float(correlated[0] @ correlated[1]) > 0 else -1
        messages.append(Message("fit.correlated", {"effects": names, "group": term.group, "correlation": sign}))
    elif empty:
        weights = vectors[:, -1] * np.sign(vectors[np.abs(vectors[:, -1]).argmax(), -1])
        mixture = " ".join(f"{weight:+.2f} {name}" for weight, name in zip(weights, names, strict=True))
        values = {
            "group": term.group, "rank": len(varying) - empty, "effects": len(varying), "mixture": mixture,
            "weights": dict(zip(names, map(float, weights), strict=True)),
        }  # fmt: skip
        messages.append(Message("fit.directions", values))
    return messages


def simpler(
    terms: Sequence[RandomTerm], factors: Sequence[Floats], singular: Sequence[bool]
) -> tuple[list[RandomTerm], Message] | None:
    """The next simpler model and a message about what was removed, or None if nothing can be.

    `factors` are Lambda of each term's block, in units of its columns.
    """
    for number, term in enumerate(terms):
        if singular[number] and term.covariance == "full" and len(term.names) > 1:
            simpler_terms = [*terms[:number], term.only(list(range(len(term.names))), "diagonal"), *terms[number + 1 :]]
            values = {"term": str(term), "rest": str(simpler_terms[number])}
            return simpler_terms, Message("fit.without_correlations", values)
    smallest: list[tuple[float, int, int]] = []
    for number in range(len(terms)):
        if singular[number]:
            deviations = np.sqrt((factors[number] ** 2).sum(axis=1))
            smallest.append((float(deviations.min()), number, int(deviations.argmin())))
    if not smallest:
        return None
    _, number, column = min(smallest)
    term = terms[number]
    remaining = list(range(len(term.names)))
    remaining.remove(column)
    if not remaining or term.covariance == "shared":
        if len(terms) == 1:
            return None
        return [*terms[:number], *terms[number + 1 :]], Message("fit.without_term", {"term": str(term)})
    simpler_terms = [*terms[:number], term.only(remaining, term.covariance), *terms[number + 1 :]]
    values = {"effect": term.names[column], "group": term.group, "rest": str(simpler_terms[number])}
    return simpler_terms, Message("fit.without_effect", values)
