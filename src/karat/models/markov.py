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
`karat.models.runs` and periods are for that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.types import Floats, Ints

Strategy = Literal["rows", "average", "minimum"]
FLOOR = 1e-5
"""What a probability of zero in a target counts as, in the ratio."""
LONGEST_WAY = 4
MOST_WITH_ALL_WAYS = 5
ANSWERS_AT_A_TIME = 8_000_000
CELLS_AT_A_TIME = 4_000_000


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
    ends = np.cumsum(sizes)
    first = 0
    while first < len(sizes):
        begin = int(ends[first] - sizes[first])
        last = max(first + 1, int(np.searchsorted(ends, begin + ANSWERS_AT_A_TIME, side="right")))
        last = min(last, first + ANSWERS_AT_A_TIME)
        counts[first:last] = _counted(answers[begin : int(ends[last - 1])], sizes[first:last], categories)
        first = last
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
    """The observed transition matrices; rows of states that were never left are missing (NaN).

    >>> transition_matrices([[[3, 1], [0, 0]]]).tolist()
    [[[0.75, 0.25], [nan, nan]]]
    """
    n = np.asarray(counts, dtype=np.float64)
    left = n.sum(axis=-1, keepdims=True)
    found: Floats = np.divide(n, left, out=np.full(n.shape, np.nan), where=left > 0)
    return found


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
    """The ways round the answers that are tried as repeated patterns, each from its smallest answer on.

    >>> ways(3)
    [(0, 1), (0, 2), (1, 2), (0, 1, 2), (0, 2, 1)]
    """
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
    """The target matrix of a way round some answers.

    >>> way_matrix((0, 1), 3).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]
    """
    matrix = np.zeros((categories, categories))
    matrix[:, list(way)] = 1 / len(way)
    for here, there in zip(way, [*way[1:], way[0]], strict=True):
        matrix[here] = 0.0
        matrix[here, there] = 1.0
    return matrix


def row_divergences(counts: ArrayLike, matrices: ArrayLike) -> Floats:
    """KLD of every row from every target: an array of participants, targets, states; missing where there is no row.

    >>> counts = [[[2, 2], [0, 4]]]
    >>> row_divergences(counts, [[[0.5, 0.5], [0.5, 0.5]]]).round(4).tolist()
    [[[0.0, 0.6931]]]
    """
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
    """The mean over the rows that there are (aKLD); missing where there is none.

    >>> average(np.array([[[1.0, 3.0], [np.nan, 2.0], [np.nan, np.nan]]])).tolist()
    [[2.0, 2.0, nan]]
    """
    there = ~np.isnan(rows)
    number = there.sum(axis=-1)
    total = np.where(there, rows, 0.0).sum(axis=-1)
    found: Floats = np.divide(total, number, out=np.full(number.shape, np.nan), where=number > 0)
    return found


def minimum(rows: Floats) -> Floats:
    """The smallest over the rows that there are (mKLD); missing where there is none."""
    return _extreme(rows, np.inf, np.minimum)


def maximum(rows: Floats) -> Floats:
    """The largest over the rows that there are: all rows are under a cutoff where this one is."""
    return _extreme(rows, -np.inf, np.maximum)


def _extreme(rows: Floats, nothing: float, of: np.ufunc) -> Floats:
    found = of.reduce(np.where(np.isnan(rows), nothing, rows), axis=-1)
    return np.where(np.isinf(found), np.nan, found)


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


def parts(total: int, width: int, cells: int = CELLS_AT_A_TIME) -> Iterator[slice]:
    """Slices of so many rows that one holds about `cells` cells of this width.

    >>> [(part.start, part.stop) for part in parts(5, 3, cells=6)]
    [(0, 2), (2, 4), (4, 5)]
    """
    step = max(1, cells // max(1, width))
    return (slice(start, min(start + step, total)) for start in range(0, total, step))
