"""Whether a single order of the items, common to all participants, explains the choices.

Each quantity is computed from the choices and from studies simulated from the fitted Thurstone model, with the same
people and comparisons, and a random variability and criterion per person. If the observed quantity is larger than in
most simulated studies, the choices have structure that the model lacks. Davidson's model, which takes milliseconds, is
fitted in the same way to the choices and to each simulated study. The simulated studies also include the differences in
sigma and C between participants.

    transitivity       violations of weak, moderate and strong stochastic transitivity, and circular triads
                       (`transitivity`)
    second dimension   the largest variation of the participants' slopes in one direction. The slope g_i of participant
                       i's choices shows how their individual strengths would differ from the common ones. In units of
                       the covariance V of the strengths, the slopes are the rows of G V^(1/2). The largest eigenvalue
                       of their cross-products is large if some participants have a different order
    participants' fit  the standard deviation over participants of the mean squared standardised residual (outfit)
    groups             the sum over groups of g V g', where g is the sum of the slopes in a group of participants: a
                       score test for different strengths per group

For transitivity, let p_ab be the share of choices of a over b (ties count half). If p_ab and p_bc are at least 1/2,

    weak stochastic transitivity requires       p_ac >= 1/2,
    moderate                                    p_ac >= min(p_ab, p_bc),
    strong                                      p_ac >= max(p_ab, p_bc).

If proportions of 1/2 permit several orders of three items, one order without a violation suffices. Proportions of few
choices violate these conditions by chance, so the numbers of violations are compared with those of simulated studies. A
participant's triad is circular if a was chosen over b, b over c and c over a (Kendall and Babington Smith 1940). With d
circular triads among all n items, zeta = 1 - d / (largest possible number), which is 1 for a perfect order.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from karat.models.choices.bradley_terry import PairLikelihood, fit_pairs
from karat.models.choices.pairs import Pairs
from karat.models.choices.thurstone import Thurstone
from karat.models.choices.thurstone_people import EULER
from karat.types import Floats, Ints

PRIOR_SD = 3.0
"""The prior standard deviation of Davidson's strengths, so that the model has a fit even if an item always wins."""


@dataclass(frozen=True)
class Misfit:
    """The statistics of what a single order does not explain."""

    statistics: Floats
    """weak, moderate, strong, circular, second dimension, participants' fit, groups (NaN without groups)."""
    outfit: Floats
    """The mean squared standardised residual of each participant; about 1 if the model holds."""
    direction: Floats
    """The position of each participant on the second dimension."""


NAMES = ("weak", "moderate", "strong", "circular", "dimension", "outfit", "groups")


def misfit(pairs: Pairs, person: Ints, people: int, triads: Ints, group: Ints | None = None) -> Misfit:
    """The quantities of the module's docstring for these choices; `group` numbers the group of each participant.

    >>> pairs = Pairs.of([0, 1, 2] * 8, [1, 2, 0] * 8, [1, 1, -1] * 8, 3)
    >>> result = misfit(pairs, np.repeat(np.arange(8), 3), 8, np.array([[0, 1, 2]]))
    >>> result.statistics[:4].tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    fit = fit_pairs(pairs, prior_sd=PRIOR_SD)
    ties, n = fit.tie is not None, pairs.items
    likelihood = PairLikelihood(pairs, ties, False, PRIOR_SD**-2.0)
    values = np.append(fit.strengths, fit.tie) if fit.tie is not None else fit.strengths
    slopes = likelihood.slopes_by(values, person, people).toarray()[:, :n]
    # The covariance is singular along the constant, so its root is computed from eigenvalues.
    eigenvalues, vectors = linalg.eigh(fit.covariance)
    scaled = slopes @ (vectors * np.sqrt(np.maximum(eigenvalues, 0.0)))
    positions, singular, _ = linalg.svd(scaled, full_matrices=False)
    outfit = _outfit(likelihood, values, person, people)
    circles, _ = circular_triads(pairs, person, people)
    between = np.nan
    if group is not None:
        group_slopes = np.stack([scaled[group == label].sum(axis=0) for label in np.unique(group)])
        between = float((group_slopes**2).sum())
    statistics = [*violations(pairs, triads), circles.sum(), singular[0] ** 2, outfit.std(), between]
    return Misfit(np.array(statistics, dtype=np.float64), outfit, positions[:, 0] * singular[0])


def _outfit(likelihood: PairLikelihood, values: Floats, person: Ints, people: int) -> Floats:
    pairs = likelihood.pairs
    _, _, first, tie = likelihood.parts(values, pairs.left, pairs.right)
    lean = 2 * first + tie - 1
    squared = (pairs.answer - lean) ** 2 / np.maximum(1 - tie - lean**2, 1e-6)
    return np.bincount(person, squared, people) / np.maximum(np.bincount(person, minlength=people), 1)


def simulated(pairs: Pairs, person: Ints, people: int, fit: Thurstone, random: np.random.Generator) -> Pairs:
    """The same comparisons, answered by random people from the population of the fitted model.

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
    perceived = fit.strengths[pairs.left] - fit.strengths[pairs.right] + sigma[person] * random.normal(size=len(person))
    answer = np.where(np.abs(perceived) < criterion[person], 0, np.sign(perceived)).astype(np.int64)
    return Pairs(pairs.left, pairs.right, answer, pairs.items)


TRIADS = 20_000
"""The maximum number of triads; a random sample is used if there are more."""


def compared_triads(pairs: Pairs, seed: int = 1) -> Ints:
    """The triads of items (rows) for which all three pairs were compared."""
    compared = np.zeros((pairs.items, pairs.items), dtype=bool)
    compared[pairs.left, pairs.right] = compared[pairs.right, pairs.left] = True
    by_first = []
    for first in range(pairs.items - 2):
        others = first + 1 + np.flatnonzero(compared[first, first + 1 :])
        second, third = np.nonzero(np.triu(compared[np.ix_(others, others)], 1))
        by_first.append(np.stack([np.full(len(second), first), others[second], others[third]], axis=1))
    triads = np.concatenate(by_first) if by_first else np.empty((0, 3), dtype=np.int64)
    if len(triads) > TRIADS:
        triads = triads[np.sort(np.random.default_rng(seed).choice(len(triads), TRIADS, replace=False))]
    return triads.astype(np.int64)


def violations(pairs: Pairs, triads: Ints) -> Ints:
    """The numbers of triads that violate weak, moderate and strong stochastic transitivity."""
    n = pairs.items
    size = n * n
    lead_counts = np.bincount(pairs.left * n + pairs.right, pairs.answer, size).reshape(n, n)
    count = np.bincount(pairs.left * n + pairs.right, minlength=size).reshape(n, n)
    lead_counts, count = lead_counts - lead_counts.T, count + count.T
    a, b, c = triads.T
    # Leads along the cycle of three edges. In an ordered triad one edge, here called first, opposes the other two.
    edges = np.stack([(a, b), (b, c), (c, a)])
    lead: Floats = lead_counts[edges[:, 0], edges[:, 1]] / count[edges[:, 0], edges[:, 1]]
    sign = np.sign(lead)
    weak = np.abs(sign.sum(axis=0)) == 3
    moderate, strong = weak.copy(), weak.copy()
    for first_edge in range(3):
        second_edge, third_edge = (first_edge + 1) % 3, (first_edge + 2) % 3
        ordered = (sign[second_edge] * sign[third_edge] > 0) & (sign[first_edge] * sign[second_edge] <= 0)
        size_first, other_sizes = np.abs(lead[first_edge]), np.abs(lead[[second_edge, third_edge]])
        moderate |= ordered & (size_first < other_sizes.min(axis=0) - 1e-12)
        strong |= ordered & (size_first < other_sizes.max(axis=0) - 1e-12)
    return np.array([weak.sum(), moderate.sum(), strong.sum()])


def circular_triads(pairs: Pairs, person: Ints, people: int) -> tuple[Ints, Ints]:
    """The numbers of circular triads and of triads without a tie, per participant.

    The last of repeated comparisons counts.
    """
    circles, complete = np.zeros(people, dtype=np.int64), np.zeros(people, dtype=np.int64)
    for participant in range(people):
        rows = np.flatnonzero((person == participant) & (pairs.answer != 0))
        items, places = np.unique(np.concatenate([pairs.left[rows], pairs.right[rows]]), return_inverse=True)
        left, right = places[: len(rows)], places[len(rows) :]
        wins = np.zeros((len(items), len(items)))
        right_chosen = pairs.answer[rows] == -1
        better, worse = np.where(right_chosen, right, left), np.where(right_chosen, left, right)
        for winner, loser in zip(better, worse, strict=True):
            wins[winner, loser], wins[loser, winner] = 1.0, 0.0
        decided = wins + wins.T
        circles[participant] = round(float(np.trace(wins @ wins @ wins)) / 3)
        complete[participant] = round(float(np.trace(decided @ decided @ decided)) / 6)
    return circles, complete


def zeta(circles: Floats, items: int) -> Floats:
    """Kendall and Babington Smith's coefficient of consistence for participants who compared all items."""
    largest = (items**3 - items) / 24 if items % 2 else (items**3 - 4 * items) / 24
    return 1 - np.asarray(circles) / largest
