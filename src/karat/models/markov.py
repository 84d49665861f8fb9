"""Answers as a Markov chain: transition matrices of all participants and their distances from patterns.

The answers of a participant, in order of presentation, are states of a chain. If answer j followed answer i n_ij times,
the observed transition matrix is P_ij = n_ij / sum over j of n_ij, the maximum-likelihood estimate without smoothing. A
pattern of answers is a target matrix Q, and the distance of row i is the Kullback-Leibler divergence

    KLD_i = sum over j of P_ij log(P_ij / Q_ij)     (natural logarithm)

The average over the rows is the aKLD and the minimum is the mKLD (Ba, Mancenido, Chiou and Pan, equations 5 and 6).

Zero cells: a term with P_ij = 0 is 0. Q_ij = 0 is replaced by 0.00001 in the ratio, without rescaling Q. This is what
the authors' code does, and it makes log(100000) = 11.5 the largest distance of a row. A state without a following
answer (never chosen, or only in the last trial) has no row: its KLD is missing, and averages, minima and maxima use the
remaining rows. A participant who always gives the same answer therefore has a single row, at distance 0 from that
choice. A chain without any transition has no distance.

Targets for K answers. Every target except random guessing is a cycle (way) through some of the answers, c_1, ..., c_L:

- primary choice of an answer: a way of length one; every row leads to it;
- staying: every answer leads to itself (the identity matrix, which the authors' code counts as a repeated pattern);
- repeated pattern: c_1 leads to c_2 and so on, and c_L to c_1. Answers outside the way lead to each of its answers with
  probability 1 / L. All ways of two, three and four different answers are tried, and the ascending and descending order
  of all answers. With more than five answers, only pairs and three or four adjacent answers in either order are tried,
  so that the number of ways grows with K squared and not with its fourth power;
- random guessing: 1 / K everywhere.

Transitions of first order do not detect a pattern that repeats an answer within the way (1 1 2 2); runs and periods do
(`karat.screen.criteria.straightlining`).

The distances expected by chance are simulated. Credible participants answer each stimulus like the crowd. If s_jk is
the share of answer k to stimulus j, participant i gives answer k with a probability proportional to

    s_jk exp(b_ik),    b_ik ~ N(0, sigma_k^2)

where b_i are their preferences. Stimuli and their order are those of a random participant, which preserves blocks,
balance and missing answers. The sigmas are estimated from the crowd. If participant i gave answer k n_ik times and the
expected number is E_ik = sum of s_jk, then z_ik = (n_ik - E_ik) / sqrt(V_ik), with V_ik = sum of s_jk (1 - s_jk), has
to first order in b the variance

    1 + (V_ik^2 sigma_k^2 + sum over l of C_ikl^2 sigma_l^2) / V_ik,    C_ikl = sum of s_jk s_jl, l other than k

and the sigma^2 are the non-negative values that best fit the observed variances of z. The observed variance is the
smaller of the mean of z^2 and the square of 1.4826 times the median of |z|, so that a minority that follows a pattern
does not inflate it. With fewer than 20 participants every sigma is 0.61. The log-odds of two answers then have a
standard deviation of 0.87, as in the uniform distribution from -1.5 to 1.5 by which Ba et al. simulate credible
workers.

Participants who follow a pattern are simulated as in their appendix B. They give a preferred answer with probability
.88 and the others equally often, or follow the way through all answers with probability .96, or give every answer with
probability 1 / K. They ignore the stimuli.

Several patterns are tried for each participant. Each distance is ranked among the simulated credible participants: u_t
is the share of them at most as far from pattern t. The smallest rank over all patterns, min_t u_t, is compared with the
same minimum of the credible participants (the single-step minP procedure of Westfall and Young). The probability that a
credible participant is below any cutoff is therefore alpha, regardless of the number and overlap of the patterns. With
N simulations, the p value is (1 + number of credible minima at most as small) / (N + 1).
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
"""Replaces a probability of zero in a target."""
LONGEST_WAY = 4
MOST_WITH_ALL_WAYS = 5
ANSWERS_AT_A_TIME = 8_000_000


@dataclass(frozen=True)
class Target:
    """A pattern of answers: its kind, its way through the answers (by their codes), and its matrix."""

    kind: Literal["primary choice", "stay", "repeated pattern", "random guessing"]
    way: tuple[int, ...]
    matrix: Floats


def transition_counts(codes: ArrayLike, lengths: ArrayLike, categories: int) -> NDArray[np.int32]:
    """The number of transitions between answers: an array of participants x from x to.

    `codes` holds the answers (0 to categories - 1) of one participant after the other, in order of presentation, and
    `lengths` the number of answers per participant. Participants are processed in parts to limit memory.

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
        counts[first:last] = _part_counts(answers[ends[first] : ends[last]], sizes[first:last], categories)
    return counts


def _part_counts(answers: NDArray[np.integer], sizes: Ints, categories: int) -> NDArray[np.int32]:
    cells = categories * categories
    if len(answers) and not 0 <= int(answers.min()) <= int(answers.max()) < categories:
        raise ValueError(f"codes must be from 0 to {categories - 1}.")
    # A part is small enough for 32-bit integers, which are counted twice as fast.
    keys: NDArray[np.int32] = np.repeat(np.arange(len(sizes), dtype=np.int32) * cells, sizes)[:-1]
    keys += answers[:-1].astype(np.int32) * categories
    keys += answers[1:].astype(np.int32)
    # The last answer of one participant and the first of the next are not a transition.
    within = np.ones(len(keys), dtype=bool)
    between = np.cumsum(sizes)[:-1] - 1
    within[between[(between >= 0) & (between < len(keys))]] = False
    counts = np.bincount(keys[within], minlength=len(sizes) * cells)
    return counts.reshape(len(sizes), categories, categories).astype(np.int32)


def transition_matrices(counts: ArrayLike) -> Floats:
    """The observed transition matrices; rows of states without a following answer are NaN."""
    n = np.asarray(counts, dtype=np.float64)
    total = n.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(n, total, out=np.full(n.shape, np.nan), where=total > 0))


def targets(categories: int) -> tuple[Target, ...]:
    """All patterns that are tried for this number of answers, in the order that resolves ties.

    >>> [target.kind for target in targets(2)]
    ['primary choice', 'primary choice', 'stay', 'repeated pattern', 'random guessing']
    """
    if categories < 2:
        raise ValueError(f"at least two answers are needed, got {categories}.")
    patterns = [Target("primary choice", (answer,), way_matrix((answer,), categories)) for answer in range(categories)]
    patterns.append(Target("stay", (), np.eye(categories)))
    patterns += [Target("repeated pattern", way, way_matrix(way, categories)) for way in ways(categories)]
    patterns.append(Target("random guessing", (), np.full((categories, categories), 1 / categories)))
    return tuple(patterns)


def ways(categories: int) -> list[tuple[int, ...]]:
    """The ways that are tried as repeated patterns, each starting from its smallest answer."""
    answers = range(categories)
    all_ways: list[tuple[int, ...]] = list(combinations(answers, 2))
    if categories <= MOST_WITH_ALL_WAYS:
        for size in range(3, min(LONGEST_WAY, categories) + 1):
            all_ways += [
                (members[0], *rest) for members in combinations(answers, size) for rest in permutations(members[1:])
            ]
    else:
        for size in range(3, LONGEST_WAY + 1):
            all_ways += [way for low in range(categories - size + 1) for way in _both_orders(range(low, low + size))]
    if categories > LONGEST_WAY:
        all_ways += _both_orders(answers)
    return all_ways


def _both_orders(answers: Sequence[int]) -> list[tuple[int, ...]]:
    return [tuple(answers), (answers[0], *answers[:0:-1])]


def way_matrix(way: Sequence[int], categories: int) -> Floats:
    """The target matrix of a way through some answers."""
    matrix = np.zeros((categories, categories))
    matrix[:, list(way)] = 1 / len(way)
    for start, end in zip(way, [*way[1:], way[0]], strict=True):
        matrix[start] = 0.0
        matrix[start, end] = 1.0
    return matrix


def row_divergences(counts: ArrayLike, matrices: ArrayLike) -> Floats:
    """The KLD of every row from every target (participants x targets x states); NaN if there is no row."""
    p = transition_matrices(counts)
    q = np.asarray(matrices, dtype=np.float64)
    log_q = np.log(np.where(q > 0, q, FLOOR))
    inner = np.where(p > 0, p, 0.0)
    information = np.sum(np.where(inner > 0, inner * np.log(np.where(inner > 0, inner, 1.0)), 0.0), axis=2)
    divergences = np.empty((len(p), len(q), p.shape[1]))
    for state in range(p.shape[1]):
        divergences[:, :, state] = information[:, state, None] - inner[:, state] @ log_q[:, state].T
    # Differences from zero by rounding are set to zero, because a divergence is never negative.
    return np.where(np.isnan(p[:, None, :, 0]), np.nan, np.where(np.abs(divergences) < 1e-12, 0.0, divergences))


def average(rows: Floats) -> Floats:
    """The mean over the existing rows (aKLD); NaN if there are none."""
    present = ~np.isnan(rows)
    number = present.sum(axis=-1)
    total = np.where(present, rows, 0.0).sum(axis=-1)
    return np.asarray(np.divide(total, number, out=np.full(number.shape, np.nan), where=number > 0))


def minimum(rows: Floats) -> Floats:
    """The minimum over the existing rows (mKLD); NaN if there are none."""
    return np.asarray(np.fmin.reduce(rows, axis=-1))


def maximum(rows: Floats) -> Floats:
    """The maximum over the existing rows: all rows are below a cutoff if the maximum is."""
    return np.asarray(np.fmax.reduce(rows, axis=-1))


STATISTICS = {"rows": maximum, "average": average, "minimum": minimum}
"""The statistic to compare with a cutoff, if all rows, their average, or at least one row must be below it."""


def distances(counts: NDArray[np.integer], matrices: ArrayLike, strategy: Strategy) -> Floats:
    """The distance of each participant from each target by a strategy, with limited memory.

    >>> counts = transition_counts([0, 1, 0, 1, 0, 0], [6], 2)
    >>> distances(counts, [target.matrix for target in targets(2)], "average").round(2).tolist()
    [[3.52, 7.36, 9.28, 1.6, 0.37]]
    """
    q = np.asarray(matrices, dtype=np.float64)
    all_distances = np.empty((len(counts), len(q)))
    for part in parts(len(counts), q.shape[0] * q.shape[1]):
        all_distances[part] = STATISTICS[strategy](row_divergences(counts[part], q))
    return all_distances


PREFERENCE = float(1.5 / np.sqrt(3) / np.sqrt(2))
"""The standard deviation of a credible participant's preference for an answer, for crowds too small to estimate it."""
FEW = 20
PRIMARY, FOLLOWED = 0.88, 0.96
"""The probability of the preferred answer, or of the next answer of the way, for participants who follow a pattern."""


@dataclass(frozen=True)
class Sequences:
    """The codes of the stimuli judged by one participant after the other, in order of presentation, and the number per
    participant."""

    stimuli: NDArray[np.integer]
    lengths: Ints


def credible_counts(
    sequences: Sequences,
    shares: ArrayLike,
    people: int,
    random: np.random.Generator,
    preference: ArrayLike = PREFERENCE,
) -> NDArray[np.int32]:
    """Transition counts of simulated credible participants.

    `shares` has one row per stimulus. `preference` is the standard deviation of their preferences, for each answer or
    for all.
    """
    s, spread = np.asarray(shares, dtype=np.float64), np.asarray(preference, dtype=np.float64)
    starts = np.cumsum(sequences.lengths) - sequences.lengths
    width = int(sequences.lengths.max()) * s.shape[1]
    tables = []
    for part in parts(people, width):
        size = part.stop - part.start
        source = random.integers(len(sequences.lengths), size=size)
        lengths = sequences.lengths[source]
        places = np.arange(lengths.sum()) + np.repeat(starts[source] - np.cumsum(lengths) + lengths, lengths)
        preferences = np.exp(random.normal(0.0, spread, (size, s.shape[1])))
        weights = s[sequences.stimuli[places]] * np.repeat(preferences, lengths, axis=0)
        tables.append(transition_counts(random_categories(weights, random), lengths, s.shape[1]))
    return np.concatenate(tables)


def preference_spread(sequences: Sequences, codes: NDArray[np.integer], shares: ArrayLike) -> Floats:
    """A robust estimate of the standard deviation of the crowd's preferences for each answer.

    `codes` are the answers to `sequences.stimuli`.
    """
    s = np.asarray(shares, dtype=np.float64)
    people, kinds = len(sequences.lengths), s.shape[1]
    if people < FEW:
        return np.full(kinds, PREFERENCE)
    person = np.repeat(np.arange(people), sequences.lengths)
    answer_shares = s[sequences.stimuli]
    expected = np.stack([np.bincount(person, answer_shares[:, a], people) for a in range(kinds)], axis=1)
    products = np.stack(
        [
            np.bincount(person, answer_shares[:, a] * answer_shares[:, b], people)
            for a in range(kinds)
            for b in range(kinds)
        ],
        axis=1,
    ).reshape(people, kinds, kinds)
    counts = np.bincount(person * kinds + codes, minlength=people * kinds).reshape(people, kinds)
    diagonal = np.arange(kinds)
    # An answer that hardly varies is not informative about preferences.
    variance = np.maximum(expected - products[:, diagonal, diagonal], 0.1)
    z = (counts - expected) / np.sqrt(variance)
    observed = np.minimum((z**2).mean(axis=0), (MAD_CONSTANT * np.median(np.abs(z), axis=0)) ** 2)
    slopes = products**2
    slopes[:, diagonal, diagonal] = variance**2
    slopes = np.median(slopes / variance[:, :, None], axis=0)

    from scipy.optimize import nnls

    return np.asarray(np.sqrt(nnls(slopes, np.maximum(observed - 1.0, 0.0))[0]))


def pattern_counts(
    target: Target, lengths: Ints, people: int, categories: int, random: np.random.Generator
) -> NDArray[np.int32]:
    """Transition counts of simulated participants who follow a pattern, with numbers of answers from `lengths`."""
    tables = []
    for part in parts(people, int(lengths.max()) * categories):
        size = part.stop - part.start
        numbers = lengths[random.integers(len(lengths), size=size)]
        total = int(numbers.sum())
        if target.kind == "random guessing":
            codes = random.integers(categories, size=total)
        elif target.kind == "primary choice":
            codes = _with_errors(np.full(total, target.way[0]), PRIMARY, categories, random)
        else:
            place = np.arange(total) - np.repeat(np.cumsum(numbers) - numbers, numbers)
            begin = np.repeat(random.integers(categories, size=size), numbers)
            codes = _with_errors(np.array(target.way)[(place + begin) % len(target.way)], FOLLOWED, categories, random)
        tables.append(transition_counts(codes, numbers, categories))
    return np.concatenate(tables)


def random_categories(weights: Floats, random: np.random.Generator) -> NDArray[np.int8]:
    """A random category for each row of weights, with probabilities proportional to the weights."""
    total = np.cumsum(weights, axis=1)
    point = random.random(len(weights)) * total[:, -1]
    return np.asarray((point[:, None] >= total[:, :-1]).sum(axis=1, dtype=np.int8))


def _with_errors(preferred: Ints, probability: float, categories: int, random: np.random.Generator) -> Ints:
    """The preferred answer with this probability, otherwise a random other answer."""
    others = (preferred + random.integers(1, categories, size=len(preferred))) % categories
    return np.where(random.random(len(preferred)) < probability, preferred, others)


@dataclass(frozen=True)
class Calibration:
    """The distances of credible participants from each pattern or group of patterns, and the resulting cutoffs."""

    groups: tuple[tuple[int, ...], ...]
    """Groups of targets with a common cutoff, which applies to their smallest distance."""
    null: Floats
    """The sorted distances of credible participants, one column per group."""
    smallest: Floats
    """The sorted smallest ranks of credible participants over all groups."""
    cutoffs: Floats
    """A distance below the cutoff of its group has a p value of at most alpha."""

    def grouped(self, all_distances: Floats) -> tuple[Floats, Ints]:
        """The smallest distance within each group, and its target."""
        return grouped(all_distances, self.groups)

    def ranks(self, by_group: Floats) -> Floats:
        """The share of credible participants with at most the same distance, for each group."""
        return _ranks(self.null, by_group)

    def p_values(self, by_group: Floats) -> Floats:
        """The probability that a credible participant's smallest rank is at most that of each participant."""
        smallest = self.ranks(by_group).min(axis=1)
        at_most = np.searchsorted(self.smallest, smallest, side="right")
        p = (1 + at_most) / (len(self.smallest) + 1)
        return np.where(np.isnan(smallest), np.nan, p)


def calibrate(credible: Floats, groups: Sequence[Sequence[int]], alpha: float) -> Calibration:
    """Cutoffs from the distances of simulated credible participants (rows) from all targets (columns).

    >>> simulated = np.column_stack([np.arange(1.0, 201), np.arange(200.0, 0, -1)])
    >>> calibrate(simulated, [[0], [1]], alpha=0.05).cutoffs.tolist()
    [5.0, 5.0]
    """
    target_groups = tuple(tuple(group) for group in groups)
    by_group, _ = grouped(credible, target_groups)
    by_group = by_group[~np.isnan(by_group).any(axis=1)]
    null = np.sort(by_group, axis=0)
    smallest = np.sort(_ranks(null, by_group).min(axis=1))
    last = int(np.floor(alpha * (len(smallest) + 1) + 1e-9)) - 1
    if last < 0:
        cutoffs = np.full(null.shape[1], -np.inf)
    else:
        # The first distance with a rank that is no longer small enough.
        limit = smallest[last]
        places = np.searchsorted(np.arange(1, len(null) + 1) / len(null), limit, side="left")
        cutoffs = null[places]
    return Calibration(target_groups, null, smallest, cutoffs)


def grouped(all_distances: Floats, groups: Sequence[Sequence[int]]) -> tuple[Floats, Ints]:
    """The smallest distance within each group of targets, and its target (the first if tied)."""
    nearest_distance = np.full((len(all_distances), len(groups)), np.nan)
    nearest_target = np.zeros((len(all_distances), len(groups)), dtype=np.int64)
    without_nan = np.where(np.isnan(all_distances), np.inf, all_distances)
    for place, group in enumerate(groups):
        members = np.asarray(group)
        index = without_nan[:, members].argmin(axis=1)
        nearest_target[:, place] = members[index]
        nearest_distance[:, place] = all_distances[np.arange(len(all_distances)), nearest_target[:, place]]
    return nearest_distance, nearest_target


def _ranks(null: Floats, by_group: Floats) -> Floats:
    columns = [
        np.searchsorted(null[:, place], by_group[:, place], side="right") / len(null) for place in range(null.shape[1])
    ]
    return np.where(np.isnan(by_group), np.nan, np.column_stack(columns))


def judged_together(patterns: Sequence[Target]) -> list[list[int]]:
    """The groups of targets with separate cutoffs: each primary choice, staying, all repeated patterns, and guessing.

    Each primary choice has its own cutoff, because in an unbalanced design everyone is close to the frequent answer.
    """
    groups: dict[object, list[int]] = {}
    for place, target in enumerate(patterns):
        groups.setdefault((target.kind, target.way) if target.kind == "primary choice" else target.kind, []).append(
            place
        )
    return list(groups.values())
