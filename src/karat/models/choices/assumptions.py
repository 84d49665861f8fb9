"""Whether one order of the items, shared by all participants, explains the choices.

Each quantity is computed from the choices, and from studies simulated from Thurstone's model as it was fitted: the same
people, the same comparisons, each person with a variability and a criterion drawn anew from the population. Where the
quantity is larger than in most of them, something is there that the model does not have. Davidson's model is fitted to
the choices and to each simulated study in the same way, since it takes milliseconds; that participants differ in sigma
and C is in the simulated studies too.

    transitivity       violations of weak, moderate and strong stochastic transitivity, and circular triads
                       (`transitivity`)
    second dimension   the largest share of the participants' slopes in one direction. The slope g_i of participant i's
                       choices says by how much their own strengths would differ from everybody's; in units of the
                       covariance V of the strengths the slopes are the rows of G V^(1/2), and the largest eigenvalue of
                       their products is large where some participants have another order
    participants' fit  the standard deviation over participants of the mean squared standardised residual (outfit)
    groups             the sum over groups of g V g', with g the summed slopes of a group of participants: a score test
                       that groups have strengths of their own
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from karat.models.choices.bradley_terry import fit_pairs
from karat.models.choices.pair_likelihood import PairLikelihood
from karat.models.choices.pairs import Pairs
from karat.models.choices.thurstone import Thurstone
from karat.models.choices.thurstone_people import EULER
from karat.models.choices.transitivity import circular_triads, violations
from karat.types import Floats, Ints

PRIOR_SD = 3.0
"""Of Davidson's strengths here, so that simulated studies in which an item always wins have a fit too."""


@dataclass(frozen=True)
class Misfit:
    """What one order does not explain."""

    statistics: Floats
    """weak, moderate, strong, circular, second dimension, participants' fit, groups (NaN where there are none)."""
    outfit: Floats
    """Of each participant: the mean squared standardised residual; about 1 where the model holds."""
    direction: Floats
    """Of each participant: where they stand along the second dimension."""


NAMES = ("weak", "moderate", "strong", "circular", "dimension", "outfit", "groups")


def misfit(pairs: Pairs, person: Ints, people: int, triads: Ints, group: Ints | None = None) -> Misfit:
    """The quantities above, of choices as they are; `group` has a number for each participant.

    >>> pairs = Pairs.of([0, 1, 2] * 8, [1, 2, 0] * 8, [1, 1, -1] * 8, 3)
    >>> found = misfit(pairs, np.repeat(np.arange(8), 3), 8, np.array([[0, 1, 2]]))
    >>> found.statistics[:4].tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    fit = fit_pairs(pairs, prior_sd=PRIOR_SD)
    ties, n = fit.tie is not None, pairs.items
    likelihood = PairLikelihood(pairs, ties, False, PRIOR_SD**-2.0)
    values = np.append(fit.strengths, fit.tie) if fit.tie is not None else fit.strengths
    slopes = likelihood.slopes_by(values, person, people).toarray()[:, :n]
    # The covariance has no inverse along the constant, so that its root is taken by its eigenvalues.
    size, vectors = linalg.eigh(fit.covariance)
    scaled = slopes @ (vectors * np.sqrt(np.maximum(size, 0.0)))
    left, strength, _ = linalg.svd(scaled, full_matrices=False)
    outfit = _outfit(likelihood, values, person, people)
    circles, _ = circular_triads(pairs, person, people)
    between = np.nan
    if group is not None:
        summed = np.stack([scaled[group == one].sum(axis=0) for one in np.unique(group)])
        between = float((summed**2).sum())
    found = [*violations(pairs, triads), circles.sum(), strength[0] ** 2, outfit.std(), between]
    return Misfit(np.array(found, dtype=np.float64), outfit, left[:, 0] * strength[0])


def _outfit(likelihood: PairLikelihood, values: Floats, person: Ints, people: int) -> Floats:
    pairs = likelihood.pairs
    _, _, first, tie = likelihood.parts(values, pairs.left, pairs.right)
    lean = 2 * first + tie - 1
    squared = (pairs.answer - lean) ** 2 / np.maximum(1 - tie - lean**2, 1e-6)
    return np.bincount(person, squared, people) / np.maximum(np.bincount(person, minlength=people), 1)


def simulated(pairs: Pairs, person: Ints, people: int, fit: Thurstone, random: np.random.Generator) -> Pairs:
    """The same comparisons, answered by people drawn from the population of the fitted model.

    >>> from karat.models.choices.thurstone import fit_thurstone
    >>> pairs = Pairs.of([0, 1, 2, 0] * 5, [1, 2, 0, 2] * 5, [1, 0, -1, 1] * 5, 3)
    >>> person = np.repeat(np.arange(5), 4)
    >>> len(simulated(pairs, person, 5, fit_thurstone(pairs, person), np.random.default_rng(1)).answer)
    20
    """
    population = fit.population
    sigma = np.exp((np.log(random.exponential(size=people)) + EULER) / population.shape)
    criterion = np.exp(population.mu + (population.omega or 0.0) * random.normal(size=people))
    if not pairs.has_ties:
        criterion = np.zeros(people)
    felt = fit.strengths[pairs.left] - fit.strengths[pairs.right] + sigma[person] * random.normal(size=len(person))
    answer = np.where(np.abs(felt) < criterion[person], 0, np.sign(felt)).astype(np.int64)
    return Pairs(pairs.left, pairs.right, answer, pairs.items)
