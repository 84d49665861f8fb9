"""The search for the best parameters of a mixed model, and the proof that they are.

Covariances are searched through their factor Lambda, which may take any sign: a variance of zero is then an ordinary
point, at which the slope vanishes by symmetry. So the end of a search is examined by the Hessian, from central
differences of the gradient along the directions that the information matrix makes alike. A direction that curves
downwards is a saddle, and is left. A direction without curvature is harmless where the covariance matrix is singular
(Lambda can turn without a change of the covariance) and otherwise a parameter that the data do not determine.

A singular covariance is reached only roughly by a search. Where the smallest direction of Lambda can be set to zero
without loss, it is.

A covariance matrix is singular where a combination of effects has no variance. With one effect that is a variance of
zero; with two a correlation of 1 or -1; with more it is named by its weights. `simpler` gives the next model of the
usual sequence: first a singular term loses its correlations, then the effect with the smallest variance goes.
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
"""Of the differences, in standard errors."""
FLAT = 1e-3
"""A curvature, relative to the information, below which a direction counts as flat."""
SMALL = 0.1
"""A singular value of Lambda below which zero is tried."""
LOSS = 1e-9
"""By how much the log-likelihood may fall for it."""
TURNING = 1e-8
"""A singular value of Lambda below which it can turn."""
ROUGHLY = 1e-3
"""Half a squared Newton decrement at which it is looked whether a fit is going to be left."""
RESTARTS = 4


@dataclass(frozen=True)
class Found:
    """Where the search ended, with the Hessian and the covariance of the parameters."""

    parameters: Floats
    at: Evaluated
    hessian: Floats
    covariance: Floats
    convergence: Convergence


@dataclass(frozen=True)
class Curved:
    """A Hessian in directions that the information matrix makes alike."""

    lower: Floats
    values: Floats
    vectors: Floats

    @property
    def hessian(self) -> Floats:
        turned = self.lower @ self.vectors
        return (turned * self.values) @ turned.T

    @property
    def covariance(self) -> Floats:
        """The inverse of the Hessian, without its flat directions."""
        kept = self.values > FLAT
        turned = linalg.solve_triangular(self.lower, self.vectors[:, kept], lower=True, trans="T")
        return np.asarray((turned / self.values[kept]) @ turned.T)

    def decrement(self, gradient: Floats) -> float:
        """Half the squared Newton decrement; flat directions count as if they curved a little."""
        slopes = self.vectors.T @ linalg.solve_triangular(self.lower, gradient, lower=True)
        return float((slopes**2 / np.maximum(self.values, FLAT)).sum()) / 2


def search(
    function: Function,
    start: Floats,
    blocks: Sequence[tuple[int, RandomBlock]],
    names: Sequence[str],
    leave: bool | Literal["always"] = False,
) -> Found:
    """Minimise and verify. `blocks` are the terms, each with the place of its theta among the parameters.

    A singular fit that the caller is going to `leave` is not verified by the Hessian, which takes about half of the
    time, and does not count as converged; that a deviation of zero is not a saddle is looked at all the same. One to
    leave "always", from which another search starts, is not verified where it is not singular, either.
    """
    x, at, hessian, iterations = start, function(start, None), None, 1
    if at is None:
        raise ValueError("The parameters to start from are not allowed: thresholds must increase and all be finite.")
    if leave and not any(block.full for _, block in blocks):
        # That a deviation is zero shows long before the search ends, and is verified; otherwise the search goes on.
        rough = minimise(function, x, at, hessian, ROUGHLY)
        tidied = tidy_factors(function, rough.parameters, rough.at, blocks)
        iterations += rough.evaluations + 1
        if _is_left(function, *tidied, blocks, leave):
            return _conclude(*tidied, None, blocks, names, iterations)
        x, at = rough.parameters, rough.at
    for _ in range(RESTARTS):
        best = minimise(function, x, at, hessian, TOLERANCE / 10)
        x, at = tidy_factors(function, best.parameters, best.at, blocks)
        curved = None if _is_left(function, x, at, blocks, leave) else _curvature(function, x, at)
        iterations += best.evaluations + 1 + 2 * len(x)
        if curved is None:
            break
        if curved.values[0] < -FLAT:
            step = linalg.solve_triangular(curved.lower, curved.vectors[:, 0], lower=True, trans="T")
            moved = leave_saddle(function, x, at, step)
            iterations += 1
            if moved is None:
                break
            (x, at), hessian = moved, None
            continue
        if curved.decrement(at.gradient) <= TOLERANCE:
            break
        hessian = Curved(curved.lower, np.maximum(curved.values, FLAT), curved.vectors).hessian
    return _conclude(x, at, curved, blocks, names, iterations)


def _is_left(
    function: Function,
    x: Floats,
    at: Evaluated,
    blocks: Sequence[tuple[int, RandomBlock]],
    leave: bool | Literal["always"],
) -> bool:
    """Whether the fit at these parameters need not be verified: it is singular, or another search starts from it."""
    if leave == "always" and all(x[first : first + block.size].all() for first, block in blocks):
        return True
    return bool(leave) and _singular(function, x, at, blocks)


def _singular(function: Function, x: Floats, at: Evaluated, blocks: Sequence[tuple[int, RandomBlock]]) -> bool:
    """Whether a covariance is singular, and none of the deviations that are zero should not be.

    The likelihood is even in a deviation without correlations, so that at zero its curvature is a matter of its own.
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
    curved: Curved | None,
    blocks: Sequence[tuple[int, RandomBlock]],
    names: Sequence[str],
    iterations: int,
) -> Found:
    if curved is None:
        nothing, largest = np.full((len(x), len(x)), np.nan), float(np.abs(at.gradient).max())
        why = Message("fit.reason_beside")
        return Found(x, at, nothing, nothing, Convergence(False, np.nan, largest, False, iterations, why, scaled=True))
    decrement = curved.decrement(at.gradient)
    slopes = linalg.solve_triangular(curved.lower, at.gradient, lower=True)
    flat = _undetermined(curved, x, blocks, names)
    definite = bool(curved.values[0] > -FLAT) and not flat
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
    covariance = curved.covariance if definite else np.full((len(x), len(x)), np.nan)
    return Found(x, at, curved.hessian, covariance, verdict)


def _undetermined(
    curved: Curved, x: Floats, blocks: Sequence[tuple[int, RandomBlock]], names: Sequence[str]
) -> tuple[str, ...]:
    """The parameters of flat directions, other than those in which a singular Lambda turns."""
    turning = np.zeros(len(x), dtype=bool)
    for first, block in blocks:
        part = slice(first, first + block.size)
        if block.full and np.linalg.svd(block.factor(x[part]), compute_uv=False)[-1] < TURNING:
            turning[part] = True
    found: list[str] = []
    for value, vector in zip(curved.values, curved.vectors.T, strict=True):
        if abs(value) > FLAT:
            continue
        weight = linalg.solve_triangular(curved.lower, vector, lower=True, trans="T") * np.sqrt(
            (curved.lower**2).sum(axis=1)
        )
        large = np.abs(weight) > 0.3 * np.abs(weight).max()
        if not turning[large].all():
            found += [name for name, one in zip(names, large, strict=True) if one and name not in found]
    return tuple(found)


def _curvature(function: Function, x: Floats, at: Evaluated) -> Curved | None:
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
    return Curved(lower, values, vectors)


def leave_saddle(function: Function, x: Floats, at: Evaluated, step: Floats) -> tuple[Floats, Evaluated] | None:
    """A lower point on either side of a saddle."""
    for length in (1.0, -1.0, 0.3, -0.3, 0.1, -0.1):
        moved = function(x + length * step, at.modes)
        if moved is not None and moved.value < at.value:
            return x + length * step, moved
    return None


def tidy_factors(
    function: Function, x: Floats, at: Evaluated, blocks: Sequence[tuple[int, RandomBlock]]
) -> tuple[Floats, Evaluated]:
    """Set small directions of Lambda to zero where that costs nothing; make the diagonal positive."""
    x = x.copy()
    for first, block in blocks:
        part = slice(first, first + block.size)
        for candidate in smaller_factors(block, x[part]):
            tried = x.copy()
            tried[part] = candidate
            after = function(tried, at.modes)
            if after is None or after.value > at.value + LOSS:
                break
            x = tried
        lower = block.factor(x[part])
        lower = lower * np.where(np.diag(lower) < 0, -1.0, 1.0)
        x[part] = lower[block.entries]
    after = function(x, at.modes)
    return (x, after) if after is not None else (x, at)


def smaller_factors(block: RandomBlock, theta: Floats) -> list[Floats]:
    """Lambda with its smallest direction, its two smallest and so on at zero, as long as they are small."""
    lower = block.factor(theta)
    found = []
    if not block.full:
        kept = theta.copy()
        for k in np.argsort(np.abs(theta)):
            if abs(theta[k]) < SMALL:
                kept[k] = 0.0
                found.append(kept.copy())
        return found
    left, values, _ = np.linalg.svd(lower)
    for rank in range(len(values) - 1, -1, -1):
        if values[rank] >= SMALL:
            break
        root = left[:, :rank] * values[:rank]
        # The lower triangle with the same covariance.
        triangle = np.zeros_like(lower)
        if rank:
            triangle[:, :rank] = np.linalg.qr(root.T)[1].T
        found.append(triangle[block.entries])
    return found


ZERO = 1e-4
"""A deviation below this, in units of the column, is zero (as lme4's isSingular has it)."""
SINGULAR = ("fit.zero_variance", "fit.correlated", "fit.directions")
"""The codes of messages about a singular fit."""


def singular_directions(term: RandomTerm, factor: Floats) -> list[Message]:
    """What a term lacks; `factor` is its Lambda, in units of its columns."""
    if term.covariance == "shared" and abs(factor[0, 0]) < ZERO:
        return [Message("fit.zero_variance", {"effects": list(term.names), "group": term.group})]
    deviations = np.sqrt((factor**2).sum(axis=1))
    zero = deviations < ZERO
    said = [
        Message("fit.zero_variance", {"effects": [name], "group": term.group})
        for name, none in zip(term.names, zero, strict=True)
        if none
    ]
    left = np.flatnonzero(~zero)
    if len(left) < 2 or term.covariance != "full":
        return said
    correlated = factor[left] / deviations[left, None]
    vectors, values, _ = np.linalg.svd(correlated)
    lost = int((values < ZERO).sum())
    names = [term.names[k] for k in left]
    if lost and len(left) == 2:
        sign = 1 if float(correlated[0] @ correlated[1]) > 0 else -1
        said.append(Message("fit.correlated", {"effects": names, "group": term.group, "correlation": sign}))
    elif lost:
        weights = vectors[:, -1] * np.sign(vectors[np.abs(vectors[:, -1]).argmax(), -1])
        mixture = " ".join(f"{weight:+.2f} {name}" for weight, name in zip(weights, names, strict=True))
        about = {
            "group": term.group, "rank": len(left) - lost, "effects": len(left), "mixture": mixture,
            "weights": dict(zip(names, map(float, weights), strict=True)),
        }  # fmt: skip
        said.append(Message("fit.directions", about))
    return said


def simpler(
    terms: Sequence[RandomTerm], factors: Sequence[Floats], singular: Sequence[bool]
) -> tuple[list[RandomTerm], Message] | None:
    """The next simpler model and what was removed; None where nothing can go.

    `factors` holds Lambda of each term's block, in units of its columns.
    """
    for number, term in enumerate(terms):
        if singular[number] and term.covariance == "full" and len(term.names) > 1:
            new = [*terms[:number], term.only(list(range(len(term.names))), "diagonal"), *terms[number + 1 :]]
            values = {"term": str(term), "rest": str(new[number])}
            return new, Message("fit.without_correlations", values)
    smallest: list[tuple[float, int, int]] = []
    for number in range(len(terms)):
        if singular[number]:
            deviations = np.sqrt((factors[number] ** 2).sum(axis=1))
            smallest.append((float(deviations.min()), number, int(deviations.argmin())))
    if not smallest:
        return None
    _, number, column = min(smallest)
    term = terms[number]
    rest = list(range(len(term.names)))
    rest.remove(column)
    if not rest or term.covariance == "shared":
        if len(terms) == 1:
            return None
        return [*terms[:number], *terms[number + 1 :]], Message("fit.without_term", {"term": str(term)})
    new = [*terms[:number], term.only(rest, term.covariance), *terms[number + 1 :]]
    about = {"effect": term.names[column], "group": term.group, "rest": str(new[number])}
    return new, Message("fit.without_effect", about)
