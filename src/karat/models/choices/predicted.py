"""The probabilities of the answers to a comparison that nobody made: left, no difference, right.

Bradley and Terry's and Davidson's model have a formula (`bradley_terry`). In Thurstone's model they depend on who is
asked, so that they are averaged over the population: sigma at the middles of equal shares of its distribution, log C by
Gauss-Hermite quadrature.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import ndtr

from karat.models.choices.fitted import ChoiceFit
from karat.models.choices.thurstone import Thurstone
from karat.models.choices.thurstone_people import EULER, Population
from karat.types import Floats

SHARES, NODES = 200, 15


def probabilities(fit: ChoiceFit, difference: Floats) -> Floats:
    """Left, no difference and right (columns) for each difference of strengths, left less right.

    >>> fit = ChoiceFit(np.zeros(2), np.eye(2), 0.0, True, 0.0, tie=0.0)
    >>> probabilities(fit, np.array([0.0])).round(3).tolist()
    [[0.333, 0.333, 0.333]]
    """
    if isinstance(fit, Thurstone):
        return population_probabilities(fit.population, difference)
    half = (difference + (fit.side or 0.0)) / 2
    tie = np.full_like(half, -np.inf if fit.tie is None else fit.tie)
    worth = np.stack([half, tie, -half], axis=1)
    grown = np.exp(worth - worth.max(axis=1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=1, keepdims=True))


def population_probabilities(population: Population, difference: Floats) -> Floats:
    """The same in Thurstone's model, averaged over participants.

    >>> population_probabilities(Population(2.0, -50.0, None), np.array([0.0])).round(3).tolist()
    [[0.5, 0.0, 0.5]]
    """
    share = (np.arange(SHARES) + 0.5) / SHARES
    sigma = np.exp((np.log(-np.log1p(-share)) + EULER) / population.shape)
    nodes, weights = hermegauss(NODES) if population.omega is not None else (np.zeros(1), np.ones(1))
    criterion = np.exp(population.mu + (population.omega or 0.0) * nodes)
    found = np.zeros((len(difference), 3))
    for at, weight in zip(criterion, weights / weights.sum(), strict=True):
        left = ndtr((difference[:, None] - at) / sigma).mean(axis=1)
        right = ndtr((-difference[:, None] - at) / sigma).mean(axis=1)
        found += weight * np.stack([left, 1 - left - right, right], axis=1)
    return found
