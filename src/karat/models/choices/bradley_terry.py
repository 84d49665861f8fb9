"""Bradley and Terry's model of choices, and Davidson's, which has "no difference" as a third answer.

With d = strength of the left item - strength of the right item + side, the answers have the probabilities

    left : tie : right  =  exp(d / 2) : nu : exp(-d / 2)                                  (Davidson 1970)

and without ties P(left) = 1 / (1 + exp(-d)) (Bradley and Terry 1952). The logarithms of both are linear in the
strengths and in log nu but for the common sum, so that the log-likelihood is concave: Newton's method with a line
search finds its only maximum. Strengths sum to zero.

A maximum exists only if the comparisons connect the items: seen as arrows from each chosen item to the one that was
not (ties count both ways), every item must reach every other (Ford 1957). `groups_of` says which do not. With a prior,
strength ~ N(0, prior_sd^2), there is always a maximum.

The covariance of the model is the inverse of the information on the plane where strengths sum to zero. Choices of one
participant may hang together; the robust covariance (Liang and Zeger 1986) is

    H^-1 (n / (n - 1) sum_i g_i g_i') H^-1,   g_i the slope of participant i's choices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components

from karat.models.choices.fitted import Choices, Floats

Ints = NDArray[np.int64]
LEFT, TIE, RIGHT = 1, 0, -1
TOLERANCE = 1e-10
STEPS = 100


@dataclass(frozen=True)
class Pairs:
    """Choices, one a place: which item stood left, which right, and the answer (1 left, 0 no difference, -1 right)."""

    left: Ints
    right: Ints
    answer: Ints
    items: int

    @classmethod
    def of(cls, left: ArrayLike, right: ArrayLike, answer: ArrayLike, items: int) -> Pairs:
        """The same from anything like arrays, checked.

        >>> Pairs.of([0, 1], [1, 2], [1, -1], 3).items
        3
        """
        one, two, said = (np.asarray(values, dtype=np.int64) for values in (left, right, answer))
        if not len(one) == len(two) == len(said):
            raise ValueError("Left, right and answers must be equally many.")
        if len(one) and (min(one.min(), two.min()) < 0 or max(one.max(), two.max()) >= items):
            raise ValueError(f"Items are numbered 0 to {items - 1}.")
        if (one == two).any():
            raise ValueError("An item cannot be compared with itself.")
        if not np.isin(said, (LEFT, TIE, RIGHT)).all():
            raise ValueError("An answer is 1 (left), 0 (no difference) or -1 (right).")
        return cls(one, two, said, items)


def groups_of(pairs: Pairs, directed: bool = True) -> Ints:
    """The group of each item; items of one group reach each other by comparisons.

    Directed: by chains of choices in both directions, which a maximum of the likelihood needs. Otherwise it is enough
    that items were compared.

    >>> pairs = Pairs.of([0, 1, 2], [1, 0, 3], [1, 1, 1], 4)
    >>> groups_of(pairs, directed=False).tolist(), len(set(groups_of(pairs).tolist()))
    ([0, 0, 1, 1], 3)
    """
    to_left, to_right = pairs.answer >= TIE, pairs.answer <= TIE
    if not directed:
        to_left = to_right = np.ones(len(pairs.answer), dtype=bool)
    source = np.concatenate([pairs.left[to_left], pairs.right[to_right]])
    target = np.concatenate([pairs.right[to_left], pairs.left[to_right]])
    graph = sparse.coo_array((np.ones(len(source)), (source, target)), shape=(pairs.items, pairs.items))
    _, labels = connected_components(graph.tocsr(), directed=directed, connection="strong")
    _, first = np.unique(labels, return_index=True)
    order = np.argsort(np.argsort(first))
    groups: Ints = order[labels].astype(np.int64)
    return groups


def fit_pairs(
    pairs: Pairs,
    ties: bool | None = None,
    side: bool = False,
    prior_sd: float | None = None,
    participant: ArrayLike | None = None,
) -> Choices:
    """The strengths of all items; with Davidson's ties where there are any, unless `ties` says otherwise.

    `side` adds a preference for the left side. `participant` (a number for each choice) asks for the robust covariance.

    >>> three = Pairs.of([0, 0, 1, 1, 2, 2], [1, 2, 2, 0, 0, 1], [1, 1, 1, 1, 1, -1], 3)
    >>> fit_pairs(three).strengths.round(3).tolist()
    [-0.0, 0.756, -0.756]
    """
    ties = bool((pairs.answer == TIE).any()) if ties is None else ties
    if not ties and (pairs.answer == TIE).any():
        raise ValueError('There are answers "no difference", for which the model needs ties.')
    problem = _Problem(pairs, ties, side, 0.0 if prior_sd is None else prior_sd**-2.0)
    values, value, slope, converged = _newton(problem)
    information = problem.information(values)
    covariance = _on_plane(information, pairs.items)
    robust = None
    if participant is not None:
        robust = problem.robust(values, covariance, np.asarray(participant, dtype=np.int64))
    used = covariance if robust is None else robust
    errors = np.sqrt(np.maximum(np.diag(used), 0.0))
    n = pairs.items
    return Choices(
        values[:n], covariance[:n, :n], float(value), converged, slope, None if robust is None else robust[:n, :n],
        *((float(values[n]), float(errors[n])) if ties else (None, None)),
        *((float(values[-1]), float(errors[-1])) if side else (None, None)),
    )  # fmt: skip


class _Problem:
    """The log-likelihood, its slope and its information, with equal comparisons counted together."""

    def __init__(self, pairs: Pairs, ties: bool, side: bool, precision: float) -> None:
        self.pairs, self.ties, self.side, self.precision = pairs, ties, side, precision
        self.size = pairs.items + ties + side
        key = (pairs.left * pairs.items + pairs.right) * 3 + (pairs.answer + 1)
        distinct, self.counts = np.unique(key, return_counts=True)
        self.answer = distinct % 3 - 1
        self.left, self.right = np.divmod(distinct // 3, pairs.items)

    def _parts(self, values: Floats, left: Ints, right: Ints) -> tuple[Floats, Floats, Floats]:
        """The difference d, and the probabilities of left and of a tie."""
        difference = values[left] - values[right] + (values[-1] if self.side else 0.0)
        half = difference / 2
        tie = np.full_like(half, values[self.pairs.items] if self.ties else -np.inf)
        top = np.maximum(np.abs(half), tie)
        whole = np.exp(half - top) + np.exp(-half - top) + np.exp(tie - top)
        return difference, np.exp(half - top) / whole, np.exp(tie - top) / whole

    def value(self, values: Floats) -> float:
        _, left, tie = self._parts(values, self.left, self.right)
        chosen = np.where(self.answer == LEFT, left, np.where(self.answer == TIE, tie, 1 - left - tie))
        with np.errstate(divide="ignore"):
            found = float(self.counts @ np.log(chosen))
        return found - self.precision / 2 * float(values[: self.pairs.items] @ values[: self.pairs.items])

    def _slopes(self, values: Floats, left: Ints, right: Ints, answer: Ints) -> tuple[Floats, Floats]:
        """Of each comparison: the slope in d, and in log nu."""
        _, to_left, tie = self._parts(values, left, right)
        expected = (2 * to_left + tie - 1) / 2
        return answer / 2 - expected, (answer == TIE) - tie

    def gradient(self, values: Floats) -> Floats:
        in_difference, in_tie = self._slopes(values, self.left, self.right, self.answer)
        weighted = in_difference * self.counts
        n = self.pairs.items
        found = np.zeros(self.size)
        found[:n] = np.bincount(self.left, weighted, n) - np.bincount(self.right, weighted, n)
        found[:n] -= self.precision * values[:n]
        if self.ties:
            found[n] = float(in_tie @ self.counts)
        if self.side:
            found[-1] = float(weighted.sum())
        return found

    def information(self, values: Floats) -> Floats:
        """Minus the second derivatives of the log-likelihood, exact, since the model is linear in its parameters."""
        n = self.pairs.items
        _, left, tie = self._parts(values, self.left, self.right)
        right = 1 - left - tie
        spread = self.counts * ((left + right) - (left - right) ** 2) / 4
        across = -self.counts * tie * (left - right) / 2
        table = np.bincount(self.left * n + self.right, spread, n * n).reshape(n, n)
        table = table + table.T
        matrix = np.zeros((self.size, self.size))
        matrix[:n, :n] = np.diag(table.sum(axis=1) + self.precision) - table
        if self.ties:
            column = np.bincount(self.left, across, n) - np.bincount(self.right, across, n)
            matrix[:n, n] = matrix[n, :n] = column
            matrix[n, n] = float(self.counts @ (tie * (1 - tie)))
        if self.side:
            column = np.bincount(self.left, spread, n) - np.bincount(self.right, spread, n)
            matrix[:n, -1] = matrix[-1, :n] = column
            matrix[-1, -1] = float(spread.sum())
            if self.ties:
                matrix[n, -1] = matrix[-1, n] = float(across.sum())
        return matrix

    def robust(self, values: Floats, covariance: Floats, participant: Ints) -> Floats:
        """The covariance that holds where choices of one participant hang together."""
        people, who = np.unique(participant, return_inverse=True)
        in_difference, in_tie = self._slopes(values, self.pairs.left, self.pairs.right, self.pairs.answer)
        slopes = np.zeros((len(people), self.size))
        np.add.at(slopes, (who, self.pairs.left), in_difference)
        np.add.at(slopes, (who, self.pairs.right), -in_difference)
        if self.ties:
            slopes[:, self.pairs.items] = np.bincount(who, in_tie, len(people))
        if self.side:
            slopes[:, -1] = np.bincount(who, in_difference, len(people))
        spread = slopes @ covariance
        return spread.T @ spread * (len(people) / max(len(people) - 1, 1))


def _newton(problem: _Problem) -> tuple[Floats, float, float, bool]:
    """The maximum: Newton's steps, halved until the likelihood rises."""
    values, n = np.zeros(problem.size), problem.pairs.items
    value = problem.value(values)
    slope = problem.gradient(values)
    converged = False
    for _ in range(STEPS):
        step = _solved(problem.information(values), slope, n)
        if float(slope @ step) / 2 < TOLERANCE:
            converged = True
            break
        length, better = 1.0, value
        while length > 1e-8:
            trial = values + length * step
            better = problem.value(trial)
            if better > value - 1e-12 * abs(value):
                break
            length /= 2
        values, value = values + length * step, better
        values[:n] -= values[:n].mean()
        slope = problem.gradient(values)
    return values, value, float(np.abs(slope).max()), converged


def _anchored(information: Floats, items: int) -> Floats:
    """The information made invertible: a constant added to all strengths changes nothing, so it is held down."""
    held = information.copy()
    held[:items, :items] += np.diag(information[:items, :items]).mean() / items
    return held


def _solved(information: Floats, slope: Floats, items: int) -> Floats:
    solution: Floats = linalg.solve(_anchored(information, items), slope, assume_a="pos")
    return solution


def _on_plane(information: Floats, items: int) -> Floats:
    """The inverse of the information where strengths sum to zero."""
    inverse: Floats = linalg.inv(_anchored(information, items))
    centre = np.eye(len(information))
    centre[:items, :items] -= 1 / items
    centred: Floats = centre @ inverse @ centre
    return centred
