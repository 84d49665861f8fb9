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

For transitivity, let p_ab be the share of choices of a over b (ties count half). Where p_ab and p_bc are at least 1/2,

    weak stochastic transitivity asks that       p_ac >= 1/2,
    moderate                                     p_ac >= min(p_ab, p_bc),
    strong                                       p_ac >= max(p_ab, p_bc).

Where proportions of 1/2 allow three items more than one order, it is enough that one of them obeys. Proportions of few
choices break these by chance alone, so that counts of violations are compared with those of simulated studies. A
participant's triad is circular where a was chosen over b, b over c and c over a (Kendall and Babington Smith 1940).
With d of them among all n items, zeta = 1 - d / (most possible), which is 1 for a perfect order.
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


TRIADS = 20_000
"""How many triads are looked at; a random choice where there are more."""


def compared_triads(pairs: Pairs, seed: int = 1) -> Ints:
    """Triads of items (rows) of which all three pairs were compared."""
    met = np.zeros((pairs.items, pairs.items), dtype=bool)
    met[pairs.left, pairs.right] = met[pairs.right, pairs.left] = True
    found = []
    for one in range(pairs.items - 2):
        others = one + 1 + np.flatnonzero(met[one, one + 1 :])
        two, three = np.nonzero(np.triu(met[np.ix_(others, others)], 1))
        found.append(np.stack([np.full(len(two), one), others[two], others[three]], axis=1))
    triads = np.concatenate(found) if found else np.empty((0, 3), dtype=np.int64)
    if len(triads) > TRIADS:
        triads = triads[np.sort(np.random.default_rng(seed).choice(len(triads), TRIADS, replace=False))]
    return triads.astype(np.int64)


def violations(pairs: Pairs, triads: Ints) -> Ints:
    """How many triads violate weak, moderate and strong stochastic transitivity."""
    n = pairs.items
    size = n * n
    ahead = np.bincount(pairs.left * n + pairs.right, pairs.answer, size).reshape(n, n)
    count = np.bincount(pairs.left * n + pairs.right, minlength=size).reshape(n, n)
    ahead, count = ahead - ahead.T, count + count.T
    one, two, three = triads.T
    # The lead along a circle of the three; a triad with an order has one edge against the other two: the long one.
    edges = np.stack([(one, two), (two, three), (three, one)])
    lead: Floats = ahead[edges[:, 0], edges[:, 1]] / count[edges[:, 0], edges[:, 1]]
    sign = np.sign(lead)
    weak = np.abs(sign.sum(axis=0)) == 3
    moderate, strong = weak.copy(), weak.copy()
    for long in range(3):
        first, second = (long + 1) % 3, (long + 2) % 3
        ordered = (sign[first] * sign[second] > 0) & (sign[long] * sign[first] <= 0)
        size_long, sizes = np.abs(lead[long]), np.abs(lead[[first, second]])
        moderate |= ordered & (size_long < sizes.min(axis=0) - 1e-12)
        strong |= ordered & (size_long < sizes.max(axis=0) - 1e-12)
    return np.array([weak.sum(), moderate.sum(), strong.sum()])


def circular_triads(pairs: Pairs, person: Ints, people: int) -> tuple[Ints, Ints]:
    """Of each participant: how many triads are circular, and how many have three choices without a tie.

    Of repeated comparisons the last one counts.
    """
    circles, whole = np.zeros(people, dtype=np.int64), np.zeros(people, dtype=np.int64)
    for who in range(people):
        mine = np.flatnonzero((person == who) & (pairs.answer != 0))
        items, places = np.unique(np.concatenate([pairs.left[mine], pairs.right[mine]]), return_inverse=True)
        left, right = places[: len(mine)], places[len(mine) :]
        chosen = np.zeros((len(items), len(items)))
        turned = pairs.answer[mine] == -1
        better, worse = np.where(turned, right, left), np.where(turned, left, right)
        for one, two in zip(better, worse, strict=True):
            chosen[one, two], chosen[two, one] = 1.0, 0.0
        either = chosen + chosen.T
        circles[who] = round(float(np.trace(chosen @ chosen @ chosen)) / 3)
        whole[who] = round(float(np.trace(either @ either @ either)) / 6)
    return circles, whole


def zeta(circles: Floats, items: int) -> Floats:
    """Kendall and Babington Smith's coefficient of consistence, for participants who compared all items."""
    most = (items**3 - items) / 24 if items % 2 else (items**3 - 4 * items) / 24
    return 1 - np.asarray(circles) / most
