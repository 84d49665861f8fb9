"""Thurstone's model of choices with three answers (Langsford and others 2018, appendix B).

Items have strengths, and participants have a variability sigma_i and a decision criterion C_i or share one criterion
(the paper permits both readings). `thurstone_people` defines the probabilities and the population. The likelihood does
not change if strengths, sigma and C are multiplied by a number, or if a number is added to all strengths; in the paper
only the priors determine scale and origin. Here strengths sum to zero, and their unit is the variability of a typical
participant, exp(E[log sigma]) = 1. The estimate is the maximum of

    sum_i log integral P(answers of i | strengths, u, v) f(u) g(v) du dv - sum_j strength_j^2 / (2 PRIOR_SD^2)

in the strengths and the parameters of the population. The prior is wide, so it matters only for items that won or
lost every comparison. (With a narrow prior the whole scale could shrink.) Newton's method needs the second derivatives
of an integral. By Louis (1982) they are, per participant, the mean of those of the log integrand plus the covariance of
its slopes over the points of the quadrature. The same matrix gives the standard errors.

`probabilities` predicts left, no difference and right in a new comparison. For Bradley and Terry's and Davidson's model
there is a formula (`bradley_terry`). In Thurstone's model the probabilities depend on the participant and are averaged
over the population: sigma at the midpoints of equal shares of its distribution, log C by Gauss-Hermite quadrature.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy import linalg
from scipy.special import ndtr, softmax

from karat.models.choices.bradley_terry import fit_pairs
from karat.models.choices.pairs import ChoiceFit, Pairs
from karat.models.choices.thurstone_people import EULER, FeltChoices, Points, Population, slopes
from karat.models.numerics import one_thread, parts
from karat.types import Floats, Ints

POINTS_OWN, POINTS_SHARED = 5, 9
"""The points per dimension, with two parameters and with one per participant."""
STEPS = 60
TOLERANCE = 1e-7
NEAR = 1.0
PRIOR_SD = 10.0
SHAPE_PRIOR = (float(np.log(2.0)), 1.0)
OMEGA_PRIOR = (float(np.log(0.5)), 1.0)
"""The prior means and standard deviations of log k and log omega: wide, for data that do not determine them."""


@dataclass(frozen=True)
class Thurstone(ChoiceFit):
    """The fitted model, with the parameters of each participant."""

    variability: Floats = field(default_factory=lambda: np.empty(0))
    """sigma of each participant: the posterior mean of log sigma, exponentiated."""
    criterion: Floats = field(default_factory=lambda: np.empty(0))
    """C of each participant, or the shared criterion for all."""
    population: Population = field(default_factory=lambda: Population(2.0, 0.0, None))

    def standardised(self) -> tuple[Floats, Floats]:
        """Strengths divided by their standard deviation, and their standard errors by the delta method."""
        centred = self.strengths - self.strengths.mean()
        n, sd = len(centred), float(centred.std(ddof=1))
        slope = np.eye(n) / sd - np.outer(centred, centred) / ((n - 1) * sd**3)
        return centred / sd, np.sqrt(np.diag(slope @ self.covariance @ slope.T))


class _Evaluation(NamedTuple):
    value: float
    gradient: Floats
    information: Floats
    weights: Floats


def fit_thurstone(pairs: Pairs, participant: Ints, shared_criterion: bool = False) -> Thurstone:
    """Strengths, variabilities and criteria; `participant` numbers the person of each choice from 0.

    >>> random = np.random.default_rng(1)
    >>> left, right = random.integers(0, 4, 400), random.integers(1, 4, 400)
    >>> right = (left + right) % 4
    >>> felt = (right - left) + random.normal(size=400)
    >>> fit = fit_thurstone(Pairs.of(left, right, np.where(abs(felt) < 1, 0, np.sign(felt)), 4), np.arange(400) % 8)
    >>> fit.strengths.argsort().tolist()
    [3, 2, 1, 0]
    """
    # On a busy machine, several threads would wait for each other longer than a single thread takes.
    with one_thread():
        return _fitted(ThurstoneProblem(pairs, np.asarray(participant, dtype=np.int64), shared_criterion))


def _fitted(problem: ThurstoneProblem) -> Thurstone:
    values = problem.start()
    points, converged = problem.points(values, None), False
    for _ in range(STEPS):
        evaluation = problem.evaluate(values, points)
        step = linalg.solve(evaluation.information, evaluation.gradient, assume_a="pos")
        decrement = float(evaluation.gradient @ step) / 2
        converged = decrement < TOLERANCE
        if converged:
            break
        values = problem.climb(values, step, points, evaluation.value)
        if decrement > NEAR:
            # Near the maximum the points stay fixed, so that all steps maximise the same sum.
            points = problem.points(values, points)
    return problem.conclude(values, points, converged)


class ThurstoneProblem:
    """The marginal likelihood of (strengths, log k, mu, log omega), without omega if the criterion is shared."""

    def __init__(self, pairs: Pairs, person: Ints, shared: bool) -> None:
        # Without ties all criteria are near zero, and individual criteria cannot be distinguished.
        self.pairs, self.person, self.shared = pairs, person, shared or not pairs.has_ties
        self.people = int(person.max()) + 1
        self.items = pairs.items
        self.size = pairs.items + (2 if self.shared else 3)
        self.count = POINTS_SHARED if self.shared else POINTS_OWN

    def start(self) -> Floats:
        """Initial values: strengths from Davidson's model, whose logistic unit is about 1.7 normal units."""
        strengths = fit_pairs(self.pairs, ties=True, prior_sd=5.0).strengths / 1.7
        share = np.clip((self.pairs.answer == 0).mean(), 0.01, 0.9)
        others = [np.log(2.0), np.log(share * 2)] + ([] if self.shared else [np.log(0.5)])
        return np.concatenate([strengths, others])

    def population(self, values: Floats) -> Population:
        """The population with these parameters."""
        shape, mu, *omega = values[self.items :].tolist()
        return Population(float(np.exp(shape)), mu, float(np.exp(omega[0])) if omega else None)

    def choices(self, values: Floats) -> FeltChoices:
        d = values[self.pairs.left] - values[self.pairs.right]
        return FeltChoices(self.people, self.person, d, self.pairs.answer, self.population(values))

    def points(self, values: Floats, previous: Points | None) -> Points:
        return self.choices(values).adapt(self.count, previous)

    def at_criterion(self, points: Points, population: Population) -> Points:
        """The points, with the current value of a shared criterion."""
        return replace(points, v=np.full(points.u.shape, population.mu)) if self.shared else points

    def value(self, values: Floats, points: Points) -> float:
        choices = self.choices(values)
        marginal, _ = choices.posterior(self.at_criterion(points, choices.population))
        return float(marginal.sum()) + self._prior(values)

    def _prior(self, values: Floats) -> float:
        strengths = values[: self.items]
        log_prior = -float(strengths @ strengths) / (2 * PRIOR_SD**2)
        log_prior -= ((values[self.items] - SHAPE_PRIOR[0]) / SHAPE_PRIOR[1]) ** 2 / 2
        if not self.shared:
            log_prior -= ((values[self.items + 2] - OMEGA_PRIOR[0]) / OMEGA_PRIOR[1]) ** 2 / 2
        return float(log_prior)

    def climb(self, values: Floats, step: Floats, points: Points, value: float) -> Floats:
        """Take a Newton step, halved until the likelihood does not decrease."""
        length = min(1.0, 2.0 / float(np.abs(step).max()))
        while length > 1e-6:
            trial = values + length * step
            if self.value(trial, points) >= value - 1e-9:
                return trial
            length /= 2
        return values

    def evaluate(self, values: Floats, points: Points) -> _Evaluation:
        """The log-likelihood, its gradient and minus its second derivatives, by Louis' formula."""
        choices = self.choices(values)
        points = self.at_criterion(points, choices.population)
        marginal, weights = choices.posterior(points)
        gradient, information = np.zeros(self.size), np.zeros((self.size, self.size))
        for part in parts(self.people, points.u.shape[1] * self.size):
            self._add(part.start, part.stop, choices, points, weights, gradient, information)
        gradient[: self.items] -= values[: self.items] / PRIOR_SD**2
        information[range(self.items), range(self.items)] += PRIOR_SD**-2.0
        for place, (mean, sd) in ((0, SHAPE_PRIOR), *(() if self.shared else ((2, OMEGA_PRIOR),))):
            gradient[self.items + place] -= (values[self.items + place] - mean) / sd**2
            information[self.items + place, self.items + place] += sd**-2.0
        return _Evaluation(float(marginal.sum()) + self._prior(values), gradient, _positive(information), weights)

    def _add(
        self, first: int, end: int, choices: FeltChoices, points: Points, weights: Floats, gradient: Floats,
        information: Floats,
    ) -> None:  # fmt: skip
        """Add the contributions of a range of participants to the gradient and the information."""
        rows = (self.person >= first) & (self.person < end)
        person, left, right = self.person[rows] - first, self.pairs.left[rows], self.pairs.right[rows]
        answer, difference = choices.answer[rows], choices.d[rows]
        people, n, count = end - first, self.items, points.u.shape[1]
        u, v, weight = points.u[first:end], points.v[first:end], weights[first:end]
        slope = np.zeros((people, count, self.size))
        curved, crossed = np.zeros(len(difference)), np.zeros(len(difference))
        places = np.concatenate([person * n + left, person * n + right])
        for point in range(count):
            terms = slopes(difference, u[person, point], v[person, point], answer)
            in_items = np.bincount(places, np.concatenate([terms.d, -terms.d]), people * n)
            slope[:, point, :n] = in_items.reshape(people, n)
            share = weight[person, point]
            curved += share * terms.dd
            if self.shared:
                slope[:, point, n + 1] = np.bincount(person, terms.v, people)
                crossed += share * terms.dv
                information[n + 1, n + 1] -= float(share @ terms.vv)
        self._add_population(slope, information, u, v, weight, choices.population)
        mean = np.einsum("pk,pks->ps", weight, slope)
        gradient += mean.sum(axis=0)
        weighted = (slope * np.sqrt(weight)[..., None]).reshape(-1, self.size)
        information -= weighted.T @ weighted - mean.T @ mean
        table = np.bincount(left * n + right, -curved, n * n).reshape(n, n)
        table = table + table.T
        information[:n, :n] += np.diag(table.sum(axis=1)) - table
        if self.shared:
            column = np.bincount(left, crossed, n) - np.bincount(right, crossed, n)
            information[:n, n + 1] -= column
            information[n + 1, :n] -= column

    def _add_population(
        self, slope: Floats, information: Floats, u: Floats, v: Floats, weight: Floats, population: Population
    ) -> None:
        """Add the slopes and curvatures of the population's density at the points."""
        n, k = self.items, population.shape
        growth = np.exp(k * u - EULER)
        slope[..., n] = 1 + k * u * (1 - growth)
        information[n, n] -= float((weight * (k * u * (1 - growth) - (k * u) ** 2 * growth)).sum())
        if population.omega is None:
            return
        deviation = (v - population.mu) / population.omega
        slope[..., n + 1] = deviation / population.omega
        slope[..., n + 2] = deviation**2 - 1
        information[n + 1, n + 1] += float(weight.sum()) / population.omega**2
        crossed = float((weight * 2 * deviation).sum()) / population.omega
        information[n + 1, n + 2] += crossed
        information[n + 2, n + 1] += crossed
        information[n + 2, n + 2] += float((weight * 2 * deviation**2).sum())

    def conclude(self, values: Floats, points: Points, converged: bool) -> Thurstone:
        evaluation = self.evaluate(values, points)
        population = self.population(values)
        points = self.at_criterion(points, population)
        inverse = linalg.inv(evaluation.information)[: self.items, : self.items]
        centre = np.eye(self.items) - 1 / self.items
        strengths = values[: self.items] - values[: self.items].mean()
        variability = np.exp((evaluation.weights * points.u).sum(axis=1))
        criterion = np.exp((evaluation.weights * points.v).sum(axis=1))
        return Thurstone(
            strengths, centre @ inverse @ centre, evaluation.value - self._prior(values), converged,
            float(np.abs(evaluation.gradient).max()), variability=variability, criterion=criterion,
            population=population,
        )  # fmt: skip


def _positive(information: Floats) -> Floats:
    """The information, made positive definite so that a step increases the likelihood."""
    try:
        linalg.cholesky(information)
    except linalg.LinAlgError:
        values, vectors = linalg.eigh(information)
        return np.asarray((vectors * np.maximum(np.abs(values), 1e-3)) @ vectors.T)
    return information


SHARES, NODES = 200, 15


def probabilities(fit: ChoiceFit, difference: Floats) -> Floats:
    """The probabilities of left, no difference and right (columns) for each difference of strengths, left minus right.

    >>> fit = ChoiceFit(np.zeros(2), np.eye(2), 0.0, True, 0.0, tie=0.0)
    >>> probabilities(fit, np.array([0.0])).round(3).tolist()
    [[0.333, 0.333, 0.333]]
    """
    if isinstance(fit, Thurstone):
        return population_probabilities(fit.population, difference)
    half = (difference + (fit.side or 0.0)) / 2
    tie = np.full_like(half, -np.inf if fit.tie is None else fit.tie)
    return np.asarray(softmax(np.stack([half, tie, -half], axis=1), axis=1))


def population_probabilities(population: Population, difference: Floats) -> Floats:
    """The `probabilities` of Thurstone's model, averaged over the population of participants."""
    share = (np.arange(SHARES) + 0.5) / SHARES
    sigma = np.exp((np.log(-np.log1p(-share)) + EULER) / population.shape)
    nodes, weights = hermegauss(NODES) if population.omega is not None else (np.zeros(1), np.ones(1))
    criterion = np.exp(population.mu + (population.omega or 0.0) * nodes)
    shares = np.zeros((len(difference), 3))
    for c, weight in zip(criterion, weights / weights.sum(), strict=True):
        left = ndtr((difference[:, None] - c) / sigma).mean(axis=1)
        right = ndtr((-difference[:, None] - c) / sigma).mean(axis=1)
        shares += weight * np.stack([left, 1 - left - right, right], axis=1)
    return shares
