"""Differences between participants in Thurstone's model, and the quadrature points that integrate over them.

Each participant has a variability sigma and, unless it is shared, a criterion C:

    sigma ~ Weibull(shape k, rate nu)  (parametrised as in JAGS: density k nu sigma^(k-1) exp(-nu sigma^k)),
    log C ~ N(mu, omega^2).

Multiplying strengths, sigma and C by a number does not change any probability. The scale is therefore fixed by
E[log sigma] = 0, which means nu = exp(-gamma) with Euler's gamma, so only the shape is free. With u = log sigma and
y = k u - gamma,

    log f(u) = log k + y - exp(y).

The integral over (u, v = log C) is computed by adaptive Gauss-Hermite quadrature: the points are centred on each
participant's most probable values and scaled by the curvature there.

A participant compares the felt difference L ~ N(d, sigma), d = strength of the left item - strength of the right one,
with a criterion C: left if L > C, right if L < -C, otherwise "no difference". With u = log sigma and v = log C,

    P(left)  = Phi((d - C) / sigma)
    P(right) = 1 - Phi((d + C) / sigma)
    P(tie)   = Phi((d + C) / sigma) - Phi((d - C) / sigma).

Every probability is therefore a constant plus +1, 0 or -1 times Phi at the two borders x = (d + C) / sigma and
(d - C) / sigma, and its derivatives in d, u and v are the corresponding sums.
"""

from dataclasses import dataclass

import numpy as np
from numpy.polynomial.hermite import hermgauss
from scipy.special import log_ndtr

from karat.types import Floats, Ints

EULER = float(np.euler_gamma)
STEPS = 30
HALVINGS = 12


@dataclass(frozen=True)
class Population:
    """The population of participants: the shape k of sigma, and mu and omega of log C; omega is None if C is shared."""

    shape: float
    mu: float
    omega: float | None

    @property
    def dimensions(self) -> int:
        """The number of parameters per participant."""
        return 1 if self.omega is None else 2

    def log_density(self, u: Floats, v: Floats) -> Floats:
        """The log density of the participants' parameters, without constants."""
        y = self.shape * u - EULER
        density = np.log(self.shape) + y - np.exp(y)
        if self.omega is not None:
            density = density - np.log(self.omega) - ((v - self.mu) / self.omega) ** 2 / 2
        return np.asarray(density)


@dataclass(frozen=True)
class Points:
    """The quadrature points of each participant (people x points), and the logarithms of the weights."""

    u: Floats
    v: Floats
    log_weight: Floats


@dataclass(frozen=True)
class FeltChoices:
    """Choices: the participant, the difference of strengths and the answer of each, and the population."""

    people: int
    person: Ints
    d: Floats
    answer: Ints
    population: Population

    def summed(self, values: Floats) -> Floats:
        """The sums over the choices of each participant."""
        return np.bincount(self.person, values, self.people).astype(np.float64, copy=False)

    def adapt(self, count: int, start: Points | None = None) -> Points:
        """The quadrature points around each participant's most probable values, `count` per dimension."""
        shared = self.population.omega is None
        u = np.zeros(self.people) if start is None else start.u[:, start.u.shape[1] // 2].copy()
        v = np.full(self.people, self.population.mu)
        if not shared and start is not None:
            v = start.v[:, start.v.shape[1] // 2].copy()
        height = self._height(u, v)
        for _ in range(STEPS):
            first, second = self._curvature(u, v)
            step = np.linalg.solve(second, first[..., None])[..., 0]
            step *= np.minimum(1.0, 1.0 / np.maximum(np.abs(step).max(axis=1), 1e-12))[:, None]
            for _ in range(HALVINGS):
                new_u, new_v = u + step[:, 0], v if shared else v + step[:, 1]
                new = self._height(new_u, new_v)
                lower = new < height - 1e-9
                if not lower.any():
                    break
                step[lower] /= 2
            u, v, height = np.where(lower, u, new_u), np.where(lower, v, new_v), np.where(lower, height, new)
            if np.abs(step[~lower]).max(initial=0.0) < 1e-6:
                break
        return _quadrature_points(u, v, self._curvature(u, v)[1], self.population, count)

    def _height(self, u: Floats, v: Floats) -> Floats:
        """The log density of each participant's parameters and answers."""
        log_p = log_probability(self.d, u[self.person], v[self.person], self.answer)
        return self.population.log_density(u, v) + self.summed(log_p)

    def _curvature(self, u: Floats, v: Floats) -> tuple[Floats, Floats]:
        """The slope of each participant's log density in (u, v), and minus its curvature, made positive definite."""
        terms, population = slopes(self.d, u[self.person], v[self.person], self.answer), self.population
        y = population.shape * u - EULER
        first = np.zeros((self.people, population.dimensions))
        second = np.zeros((self.people, population.dimensions, population.dimensions))
        first[:, 0] = self.summed(terms.u) + population.shape * (1 - np.exp(y))
        second[:, 0, 0] = -self.summed(terms.uu) + population.shape**2 * np.exp(y)
        if population.omega is not None:
            first[:, 1] = self.summed(terms.v) - (v - population.mu) / population.omega**2
            second[:, 1, 1] = -self.summed(terms.vv) + population.omega**-2.0
            second[:, 0, 1] = second[:, 1, 0] = -self.summed(terms.uv)
        values, vectors = np.linalg.eigh(second)
        positive = np.maximum(values, 0.05)
        return first, np.einsum("pij,pj,pkj->pik", vectors, positive, vectors)

    def posterior(self, points: Points) -> tuple[Floats, Floats]:
        """The marginal log-likelihood of each participant, and the weight of each point (people x points)."""
        total = self.population.log_density(points.u, points.v) + points.log_weight
        for point in range(points.u.shape[1]):
            log_p = log_probability(self.d, points.u[self.person, point], points.v[self.person, point], self.answer)
            total[:, point] += self.summed(log_p)
        top = total.max(axis=1, keepdims=True)
        weights = np.exp(total - top)
        sums = weights.sum(axis=1, keepdims=True)
        return (top + np.log(sums))[:, 0], weights / sums


def _quadrature_points(u: Floats, v: Floats, curvature: Floats, population: Population, count: int) -> Points:
    nodes, weights = hermgauss(count)
    log_weights = np.log(weights) + nodes**2
    lower = np.linalg.cholesky(np.linalg.inv(curvature)) * np.sqrt(2)
    spread = np.log(np.abs(np.diagonal(lower, axis1=1, axis2=2))).sum(axis=1)
    if population.omega is None:
        points = u[:, None] + lower[:, 0, 0, None] * nodes
        return Points(points, np.broadcast_to(v[:, None], points.shape), spread[:, None] + log_weights)
    first, second = (grid.ravel() for grid in np.meshgrid(nodes, nodes, indexing="ij"))
    log_weight = (log_weights[:, None] + log_weights[None, :]).ravel()
    return Points(
        u[:, None] + lower[:, 0, 0, None] * first,
        v[:, None] + lower[:, 1, 0, None] * first + lower[:, 1, 1, None] * second,
        spread[:, None] + log_weight,
    )


LOG_ROOT_2PI = float(np.log(2 * np.pi) / 2)


@dataclass(frozen=True, slots=True)
class Slopes:
    """The log probability of a choice, with its first and second derivatives in d, u and v."""

    value: Floats
    d: Floats
    u: Floats
    v: Floats
    dd: Floats
    du: Floats
    dv: Floats
    uu: Floats
    uv: Floats
    vv: Floats


def log_probability(d: Floats, u: Floats, v: Floats, answer: Ints) -> Floats:
    """The log probability of each answer: 1 left, 0 no difference, -1 right."""
    scale, criterion = np.exp(-u), np.exp(v)
    return _log_probability((d + criterion) * scale, (d - criterion) * scale, answer)


def _log_probability(upper: Floats, lower: Floats, answer: Ints) -> Floats:
    chosen = log_ndtr(np.where(answer == 1, lower, -upper))
    # Both borders are moved to the smaller tail, where the difference of two probabilities is precise.
    in_upper_tail = upper + lower > 0
    high, low = np.where(in_upper_tail, -lower, upper), np.where(in_upper_tail, -upper, lower)
    top = log_ndtr(high)
    tie = top + np.log(-np.expm1(np.minimum(log_ndtr(low) - top, -1e-300)))
    return np.asarray(np.where(answer == 0, tie, chosen))


def slopes(d: Floats, u: Floats, v: Floats, answer: Ints) -> Slopes:
    """The log probability of each answer, with all derivatives."""
    s, c = np.exp(-u), np.exp(v)
    upper, lower = (d + c) * s, (d - c) * s
    value = _log_probability(upper, lower, answer)
    above = np.where(answer == 0, 1.0, np.where(answer == -1, -1.0, 0.0))
    below = np.where(answer == 0, -1.0, np.where(answer == 1, 1.0, 0.0))
    # Borders that the answer does not have are excluded, because they could overflow.
    first = above * np.exp(np.where(above == 0, -np.inf, -(upper**2) / 2 - LOG_ROOT_2PI - value))
    second = below * np.exp(np.where(below == 0, -np.inf, -(lower**2) / 2 - LOG_ROOT_2PI - value))
    # Sums over the two borders: the upper one moves with +C, the lower one with -C.
    plain, signed = first + second, first - second
    once, once_signed = first * upper + second * lower, first * upper - second * lower
    squared, squared_signed = first * upper**2 + second * lower**2, first * upper**2 - second * lower**2
    cubed = first * upper**3 + second * lower**3
    cs = c * s
    in_d, in_v, in_u = s * plain, cs * signed, -once
    return Slopes(
        value, in_d, in_u, in_v,
        -s * s * once - in_d**2,
        s * (squared - plain) - in_d * in_u,
        -cs * s * once_signed - in_d * in_v,
        once - cubed - in_u**2,
        cs * (squared_signed - signed) - in_u * in_v,
        cs * signed - cs * cs * once - in_v**2,
    )  # fmt: skip
