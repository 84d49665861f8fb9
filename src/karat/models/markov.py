"""Answers as a Markov chain: transition matrices of all participants at once, and how far they are from a pattern.

The answers of a participant, in the order in which they were given, are states of a chain. With n_ij, how often answer
j followed answer i, the observed transition matrix is P_ij = n_ij / sum over j of n_ij, the maximum-likelihood estimate
without smoothing. A pattern of answers is a target matrix Q, and the distance of row i is the Kullback-Leibler
divergence

    KLD_i = sum over j of P_ij log(P_ij / Q_ij)     (natural logarithm)

whose average over the rows is the aKLD and whose minimum is the mKLD (Ba, Mancenido, Chiou and Pan, equations 5 and 6).

Zero cells: a term with P_ij = 0 is 0. Q_ij = 0 counts as 0.00001 in the ratio, and Q is not made to sum to one again:
this is what the authors' code does, and it makes log(100000) = 11.5 the price of leaving a target wholly. A state that
was never left (never chosen, or only in the last trial) has no row: its KLD is missing, and averages, minima and
maxima are over the rows that there are. Somebody who always gives the same answer so has one row, at 0 from that
choice. A chain without any transition has no distance.

Targets for K answers. Every target but random guessing is a way round some of the answers, c_1, ..., c_L:

- primary choice of an answer: a way of length one, every row leads to it;
- staying: every answer leads to itself (the identity matrix, which the authors' code counts as a repeated pattern);
- repeated pattern: c_1 leads to c_2 and so on, and c_L to c_1. Answers beside the way lead to each of its answers with
  1 / L. All ways of two, three and four different answers are tried, and the ascending and descending order of all
  answers; with more than five answers only pairs, and three or four neighbours in either order, so that their number
  grows with K squared and not with its fourth power;
- random guessing: 1 / K everywhere.

A pattern in which an answer comes back before the way is complete (1 1 2 2) is not seen by transitions of first order;
runs and periods are for that (`karat.screen.criteria.straightlining`).

What distances are by chance is simulated. Credible participants answer each stimulus as the crowd did. With s_jk, the
share of answer k to stimulus j among those who judged it, participant i answers k with a probability proportional to

    s_jk exp(b_ik),    b_ik ~ N(0, sigma_k^2)

where b_i are their preferences. Stimuli and their order are those of a participant drawn at random, so that blocks,
balance and missing answers are as they were. The sigmas are the crowd's own. If participant i gave answer k n_ik times
where the shares let expect E_ik = sum of s_jk, then z_ik = (n_ik - E_ik) / sqrt(V_ik), with V_ik = sum of s_jk
(1 - s_jk), has to first order in b the variance

    1 + (V_ik^2 sigma_k^2 + sum over l of C_ikl^2 sigma_l^2) / V_ik,    C_ikl = sum of s_jk s_jl, l other than k

and the sigma^2 that are not negative and fit best to the observed variances of z are taken. The observed variance is
the smaller of the mean of z^2 and the square of 1.4826 times the median of |z|, so that a minority that follows a
pattern does not widen what counts as credible. With fewer than 20 participants every sigma is 0.61: two answers then
differ by a log-odds with standard deviation 0.87, that of the uniform distribution from -1.5 to 1.5 by which Ba et al.
simulate credible workers.

Those who follow a pattern, as in their appendix B: an answer preferred with probability .88, the others sharing the
rest; the way round all answers followed with probability .96; every answer with 1 / K. Stimuli do not matter to them.

Several patterns are tried for each participant. Each distance gets its rank among the simulated credible ones, u_t =
share of them at most as far from pattern t; the smallest rank over all patterns, min_t u_t, is compared with the same
minimum of the credible ones (the single-step minP procedure of Westfall and Young). So the probability that somebody
credible is under any of the cutoffs is alpha, however many patterns are tried and however much they overlap. With
simulations N, the p value is (1 + number of credible minima at most as small) / (N + 1).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.models.numerics import chunks, parts
from karat.models.robust import MAD_CONSTANT
from karat.types import Floats, Ints

Strategy = Literal["rows", "average", "minimum"]
FLOOR = 1e-5
"""What a probability of zero in a target counts as, in the ratio."""
LONGEST_WAY = 4
MOST_WITH_ALL_WAYS = 5
ANSWERS_AT_A_TIME = 8_000_000


@dataclass(frozen=True)
class Target:
    """A pattern of answers: its kind, the way round the answers (by their codes), and its matrix."""

    kind: Literal["primary choice", "stay", "repeated pattern", "random guessing"]
    way: tuple[int, ...]
    matrix: Floats


def transition_counts(codes: ArrayLike, lengths: ArrayLike, categories: int) -> NDArray[np.int32]:
    """How often each answer followed each: an array of participants, from, to.

    `codes` has the answers (0 to categories - 1) one participant after the other, each in the order of presentation;
    `lengths` says how many each gave. Participants are worked off in parts, so that memory stays bounded.

    >>> transition_counts([0, 0, 1, 1, 0], [3, 2], 2).tolist()
    [[[1, 1], [0, 0]], [[0, 0], [1, 0]]]
    """
    answers = np.asarray(codes)
    sizes = np.asarray(lengths, dtype=np.int64)
    if len(answers) != sizes.sum():
        raise ValueError(f"lengths sum to {sizes.sum()}, and there are {len(answers)} answers.")
    counts = np.zeros((len(sizes), categories, categories), dtype=np.int32)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    for first, last in chunks(np.maximum(sizes, 1), ANSWERS_AT_A_TIME):
        counts[first:last] = _counted(answers[ends[first] : ends[last]], sizes[first:last], categories)
    return counts


def _counted(answers: NDArray[np.integer], sizes: Ints, categories: int) -> NDArray[np.int32]:
    cells = categories * categories
    if len(answers) and not 0 <= int(answers.min()) <= int(answers.max()) < categories:
        raise ValueError(f"codes must be from 0 to {categories - 1}.")
    # A part holds few enough participants for short integers, which are counted twice as fast.
    keys: NDArray[np.int32] = np.repeat(np.arange(len(sizes), dtype=np.int32) * cells, sizes)[:-1]
    keys += answers[:-1].astype(np.int32) * categories
    keys += answers[1:].astype(np.int32)
    # The last answer of one participant and the first of the next are not a transition.
    within = np.ones(len(keys), dtype=bool)
    between = np.cumsum(sizes)[:-1] - 1
    within[between[(between >= 0) & (between < len(keys))]] = False
    found = np.bincount(keys[within], minlength=len(sizes) * cells)
    return found.reshape(len(sizes), categories, categories).astype(np.int32)


def transition_matrices(counts: ArrayLike) -> Floats:
    """The observed transition matrices; rows of states that were never left are missing (NaN)."""
    n = np.asarray(counts, dtype=np.float64)
    left = n.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(n, left, out=np.full(n.shape, np.nan), where=left > 0))


def targets(categories: int) -> tuple[Target, ...]:
    """All patterns that are tried for this many answers, in the order in which ties are decided.

    >>> [target.kind for target in targets(2)]
    ['primary choice', 'primary choice', 'stay', 'repeated pattern', 'random guessing']
    """
    if categories < 2:
        raise ValueError(f"at least two answers are needed, got {categories}.")
    found = [Target("primary choice", (answer,), way_matrix((answer,), categories)) for answer in range(categories)]
    found.append(Target("stay", (), np.eye(categories)))
    found += [Target("repeated pattern", way, way_matrix(way, categories)) for way in ways(categories)]
    found.append(Target("random guessing", (), np.full((categories, categories), 1 / categories)))
    return tuple(found)


def ways(categories: int) -> list[tuple[int, ...]]:
    """The ways round the answers that are tried as repeated patterns, each from its smallest answer on."""
    every = range(categories)
    found: list[tuple[int, ...]] = list(combinations(every, 2))
    if categories <= MOST_WITH_ALL_WAYS:
        for size in range(3, min(LONGEST_WAY, categories) + 1):
            found += [(chosen[0], *rest) for chosen in combinations(every, size) for rest in permutations(chosen[1:])]
    else:
        for size in range(3, LONGEST_WAY + 1):
            found += [way for low in range(categories - size + 1) for way in _both_orders(range(low, low + size))]
    if categories > LONGEST_WAY:
        found += _both_orders(every)
    return found


def _both_orders(answers: Sequence[int]) -> list[tuple[int, ...]]:
    return [tuple(answers), (answers[0], *answers[:0:-1])]


def way_matrix(way: Sequence[int], categories: int) -> Floats:
    """The target matrix of a way round some answers."""
    matrix = np.zeros((categories, categories))
    matrix[:, list(way)] = 1 / len(way)
    for here, there in zip(way, [*way[1:], way[0]], strict=True):
        matrix[here] = 0.0
        matrix[here, there] = 1.0
    return matrix


def row_divergences(counts: ArrayLike, matrices: ArrayLike) -> Floats:
    """KLD of every row from every target: an array of participants, targets, states; missing where there is no row."""
    p = transition_matrices(counts)
    q = np.asarray(matrices, dtype=np.float64)
    log_q = np.log(np.where(q > 0, q, FLOOR))
    inner = np.where(p > 0, p, 0.0)
    information = np.sum(np.where(inner > 0, inner * np.log(np.where(inner > 0, inner, 1.0)), 0.0), axis=2)
    found = np.empty((len(p), len(q), p.shape[1]))
    for state in range(p.shape[1]):
        found[:, :, state] = information[:, state, None] - inner[:, state] @ log_q[:, state].T
    # What differs from zero only by rounding is zero: a divergence from probabilities is never negative.
    return np.where(np.isnan(p[:, None, :, 0]), np.nan, np.where(np.abs(found) < 1e-12, 0.0, found))


def average(rows: Floats) -> Floats:
    """The mean over the rows that there are (aKLD); missing where there is none."""
    there = ~np.isnan(rows)
    number = there.sum(axis=-1)
    total = np.where(there, rows, 0.0).sum(axis=-1)
    return np.asarray(np.divide(total, number, out=np.full(number.shape, np.nan), where=number > 0))


def minimum(rows: Floats) -> Floats:
    """The smallest over the rows that exist (mKLD); NaN where there is none."""
    return np.asarray(np.fmin.reduce(rows, axis=-1))


def maximum(rows: Floats) -> Floats:
    """The largest over the rows that exist: all rows are below a cutoff where this one is."""
    return np.asarray(np.fmax.reduce(rows, axis=-1))


STATISTICS = {"rows": maximum, "average": average, "minimum": minimum}
"""What is compared with a cutoff: by the rule that all rows are under it, that their average is, that one is."""


def distances(counts: NDArray[np.integer], matrices: ArrayLike, strategy: Strategy) -> Floats:
    """The distance of each participant from each target by a strategy; memory stays bounded.

    >>> counts = transition_counts([0, 1, 0, 1, 0, 0], [6], 2)
    >>> distances(counts, [target.matrix for target in targets(2)], "average").round(2).tolist()
    [[3.52, 7.36, 9.28, 1.6, 0.37]]
    """
    q = np.asarray(matrices, dtype=np.float64)
    found = np.empty((len(counts), len(q)))
    for part in parts(len(counts), q.shape[0] * q.shape[1]):
        found[part] = STATISTICS[strategy](row_divergences(counts[part], q))
    return found


PREFERENCE = float(1.5 / np.sqrt(3) / np.sqrt(2))
"""Standard deviation of a credible participant's preference for one answer, where the crowd is too small to say."""
FEW = 20
PRIMARY, FOLLOWED = 0.88, 0.96
"""How often those who follow a pattern give their preferred answer, or the next one of their way."""


@dataclass(frozen=True)
class Sequences:
    """Which stimuli participants judged, in the order of presentation: stimulus codes one participant after the other,
    and how many each judged."""

    stimuli: NDArray[np.integer]
    lengths: Ints


def credible_counts(
    sequences: Sequences,
    shares: ArrayLike,
    people: int,
    random: np.random.Generator,
    preference: ArrayLike = PREFERENCE,
) -> NDArray[np.int32]:
    """Transition counts of simulated credible participants. `shares` has a row for each stimulus.

    `preference` is the standard deviation of their preferences, for each answer or for all.
    """
    s, spread = np.asarray(shares, dtype=np.float64), np.asarray(preference, dtype=np.float64)
    starts = np.cumsum(sequences.lengths) - sequences.lengths
    width = int(sequences.lengths.max()) * s.shape[1]
    tables = []
    for part in parts(people, width):
        size = part.stop - part.start
        whose = random.integers(len(sequences.lengths), size=size)
        lengths = sequences.lengths[whose]
        places = np.arange(lengths.sum()) + np.repeat(starts[whose] - np.cumsum(lengths) + lengths, lengths)
        likes = np.exp(random.normal(0.0, spread, (size, s.shape[1])))
        weights = s[sequences.stimuli[places]] * np.repeat(likes, lengths, axis=0)
        tables.append(transition_counts(drawn(weights, random), lengths, s.shape[1]))
    return np.concatenate(tables)


def preference_spread(sequences: Sequences, codes: NDArray[np.integer], shares: ArrayLike) -> Floats:
    """The standard deviation of the crowd's preferences for each answer, by the middle of the crowd.

    `codes` are the answers given to `sequences.stimuli`.
    """
    s = np.asarray(shares, dtype=np.float64)
    people, kinds = len(sequences.lengths), s.shape[1]
    if people < FEW:
        return np.full(kinds, PREFERENCE)
    person = np.repeat(np.arange(people), sequences.lengths)
    given = s[sequences.stimuli]
    expected = np.stack([np.bincount(person, given[:, a], people) for a in range(kinds)], axis=1)
    products = np.stack(
        [np.bincount(person, given[:, a] * given[:, b], people) for a in range(kinds) for b in range(kinds)], axis=1
    ).reshape(people, kinds, kinds)
    counts = np.bincount(person * kinds + codes, minlength=people * kinds).reshape(people, kinds)
    own = np.arange(kinds)
    # An answer that hardly ever varies says nothing about preferences.
    variance = np.maximum(expected - products[:, own, own], 0.1)
    z = (counts - expected) / np.sqrt(variance)
    seen = np.minimum((z**2).mean(axis=0), (MAD_CONSTANT * np.median(np.abs(z), axis=0)) ** 2)
    slopes = products**2
    slopes[:, own, own] = variance**2
    slopes = np.median(slopes / variance[:, :, None], axis=0)

    from scipy.optimize import nnls

    return np.asarray(np.sqrt(nnls(slopes, np.maximum(seen - 1.0, 0.0))[0]))


def pattern_counts(
    target: Target, lengths: Ints, people: int, categories: int, random: np.random.Generator
) -> NDArray[np.int32]:
    """Transition counts of simulated participants who follow a pattern, as many answers each as somebody gave."""
    tables = []
    for part in parts(people, int(lengths.max()) * categories):
        size = part.stop - part.start
        own = lengths[random.integers(len(lengths), size=size)]
        total = int(own.sum())
        if target.kind == "random guessing":
            codes = random.integers(categories, size=total)
        elif target.kind == "primary choice":
            codes = _otherwise(np.full(total, target.way[0]), PRIMARY, categories, random)
        else:
            place = np.arange(total) - np.repeat(np.cumsum(own) - own, own)
            begin = np.repeat(random.integers(categories, size=size), own)
            codes = _otherwise(np.array(target.way)[(place + begin) % len(target.way)], FOLLOWED, categories, random)
        tables.append(transition_counts(codes, own, categories))
    return np.concatenate(tables)


def drawn(weights: Floats, random: np.random.Generator) -> NDArray[np.int8]:
    """One category for each row of weights, with probabilities in their proportion."""
    total = np.cumsum(weights, axis=1)
    point = random.random(len(weights)) * total[:, -1]
    return np.asarray((point[:, None] >= total[:, :-1]).sum(axis=1, dtype=np.int8))


def _otherwise(wanted: Ints, probability: float, categories: int, random: np.random.Generator) -> Ints:
    """What is wanted with this probability, else one of the other answers."""
    other = (wanted + random.integers(1, categories, size=len(wanted))) % categories
    return np.where(random.random(len(wanted)) < probability, wanted, other)


@dataclass(frozen=True)
class Calibration:
    """The distances of credible participants from each pattern or group of patterns, and the cutoffs that follow."""

    groups: tuple[tuple[int, ...], ...]
    """Which targets are judged by one cutoff: their smallest distance counts."""
    null: Floats
    """Sorted distances of the credible, a column for each group."""
    smallest: Floats
    """Sorted smallest ranks of the credible over all groups."""
    cutoffs: Floats
    """A distance below the cutoff of its group has a p value of at most alpha."""

    def grouped(self, found: Floats) -> tuple[Floats, Ints]:
        """The smallest distance within each group, and of which target it is."""
        return grouped(found, self.groups)

    def ranks(self, by_group: Floats) -> Floats:
        """The share of the credible whose distance is at most as large, for each group."""
        return _ranks(self.null, by_group)

    def p_values(self, by_group: Floats) -> Floats:
        """The probability that somebody credible has a smallest rank as small as each participant's."""
        least = self.ranks(by_group).min(axis=1)
        below = np.searchsorted(self.smallest, least, side="right")
        p = (1 + below) / (len(self.smallest) + 1)
        return np.where(np.isnan(least), np.nan, p)


def calibrate(credible: Floats, groups: Sequence[Sequence[int]], alpha: float) -> Calibration:
    """Cutoffs from the distances of simulated credible participants (rows) from all targets (columns).

    >>> simulated = np.column_stack([np.arange(1.0, 201), np.arange(200.0, 0, -1)])
    >>> calibrate(simulated, [[0], [1]], alpha=0.05).cutoffs.tolist()
    [5.0, 5.0]
    """
    chosen = tuple(tuple(group) for group in groups)
    by_group, _ = grouped(credible, chosen)
    by_group = by_group[~np.isnan(by_group).any(axis=1)]
    null = np.sort(by_group, axis=0)
    smallest = np.sort(_ranks(null, by_group).min(axis=1))
    tolerated = int(np.floor(alpha * (len(smallest) + 1) + 1e-9)) - 1
    if tolerated < 0:
        cutoffs = np.full(null.shape[1], -np.inf)
    else:
        # The first distance whose rank is not small enough any more.
        limit = smallest[tolerated]
        at = np.searchsorted(np.arange(1, len(null) + 1) / len(null), limit, side="left")
        cutoffs = null[at]
    return Calibration(chosen, null, smallest, cutoffs)


def grouped(found: Floats, groups: Sequence[Sequence[int]]) -> tuple[Floats, Ints]:
    """The smallest distance within each group of targets, and which target has it (the first of equal ones)."""
    best = np.full((len(found), len(groups)), np.nan)
    which = np.zeros((len(found), len(groups)), dtype=np.int64)
    filled = np.where(np.isnan(found), np.inf, found)
    for place, group in enumerate(groups):
        members = np.asarray(group)
        nearest = filled[:, members].argmin(axis=1)
        which[:, place] = members[nearest]
        best[:, place] = found[np.arange(len(found)), which[:, place]]
    return best, which


def _ranks(null: Floats, by_group: Floats) -> Floats:
    columns = [
        np.searchsorted(null[:, place], by_group[:, place], side="right") / len(null) for place in range(null.shape[1])
    ]
    return np.where(np.isnan(by_group), np.nan, np.column_stack(columns))


def judged_together(patterns: Sequence[Target]) -> list[list[int]]:
    """The groups of targets with a cutoff each: every primary choice, staying, all ways round together, guessing.

    A cutoff for each primary choice, because in an unbalanced design the frequent answer is near for everybody.
    """
    groups: dict[object, list[int]] = {}
    for place, target in enumerate(patterns):
        groups.setdefault((target.kind, target.way) if target.kind == "primary choice" else target.kind, []).append(
            place
        )
    return list(groups.values())
