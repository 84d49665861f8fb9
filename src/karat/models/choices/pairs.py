"""Choices as numbers: the left and the right item and the answer; and the groups of items that they connect.

A maximum of the likelihood of Bradley and Terry's model, or of Davidson's, exists only if the comparisons connect the
items: in a graph with an arrow from each chosen item to the other one (ties count both ways), every item must reach
every other (Ford 1957). `groups_of` finds the items that do.

The result of a model of choices is a `ChoiceFit`: the centred strengths of the items, with their covariance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from karat.messages import Message
from karat.types import Floats, Ints

LEFT, TIE, RIGHT = 1, 0, -1


@dataclass(frozen=True)
class Pairs:
    """Choices: the left item, the right item, and the answer (1 left, 0 no difference, -1 right)."""

    left: Ints
    right: Ints
    answer: Ints
    items: int

    @classmethod
    def of(cls, left: ArrayLike, right: ArrayLike, answer: ArrayLike, items: int) -> Pairs:
        """Checked choices from array-like values.

        >>> Pairs.of([0, 1], [1, 2], [1, -1], 3).items
        3
        """
        left_items, right_items, answers = (np.asarray(values, dtype=np.int64) for values in (left, right, answer))
        if not len(left_items) == len(right_items) == len(answers):
            raise ValueError("left, right and answers must be equally long.")
        if len(left_items) and (
            min(left_items.min(), right_items.min()) < 0 or max(left_items.max(), right_items.max()) >= items
        ):
            raise ValueError(f"Items are numbered 0 to {items - 1}.")
        if (left_items == right_items).any():
            raise ValueError("An item cannot be compared with itself.")
        if len(answers) and (answers.min() < RIGHT or answers.max() > LEFT):
            raise ValueError("An answer is 1 (left), 0 (no difference) or -1 (right).")
        return cls(left_items, right_items, answers, items)

    @property
    def has_ties(self) -> bool:
        """Whether there are answers "no difference"."""
        return bool((self.answer == TIE).any())


def groups_of(pairs: Pairs, directed: bool = True) -> Ints:
    """The group of each item; items of the same group are connected by comparisons.

    Directed means by chains of choices in both directions, as required for a maximum of the likelihood. Otherwise any
    comparison connects two items.

    >>> pairs = Pairs.of([0, 1, 2], [1, 0, 3], [1, 1, 1], 4)
    >>> groups_of(pairs, directed=False).tolist(), len(set(groups_of(pairs).tolist()))
    ([0, 0, 1, 1], 3)
    """
    from scipy.sparse.csgraph import connected_components

    to_left, to_right = pairs.answer >= TIE, pairs.answer <= TIE
    if not directed:
        to_left = to_right = np.ones(len(pairs.answer), dtype=bool)
    source = np.concatenate([pairs.left[to_left], pairs.right[to_right]])
    target = np.concatenate([pairs.right[to_left], pairs.left[to_right]])
    graph = sparse.coo_array((np.ones(len(source)), (source, target)), shape=(pairs.items, pairs.items))
    _, labels = connected_components(graph.tocsr(), directed=directed, connection="strong")
    _, first = np.unique(labels, return_index=True)
    order = np.argsort(np.argsort(first))
    return np.asarray(order[labels].astype(np.int64))


@dataclass(frozen=True)
class ChoiceFit:
    """Strengths of items that sum to zero, with their covariance.

    `covariance` is that of the model; `robust` is also valid if choices of the same participant are dependent (None if
    it was not requested).
    """

    strengths: Floats
    covariance: Floats
    log_likelihood: float
    converged: bool
    gradient: float
    """The largest remaining slope."""
    robust: Floats | None = None
    tie: float | None = None
    """The logarithm of Davidson's nu, the tendency to answer "no difference"."""
    tie_error: float | None = None
    side: float | None = None
    """The preference for the left side, on the scale of the strengths."""
    side_error: float | None = None
    notes: tuple[Message, ...] = ()

    @property
    def standard_errors(self) -> Floats:
        """The standard errors of the strengths, robust if available."""
        matrix = self.covariance if self.robust is None else self.robust
        return np.sqrt(np.maximum(np.diag(matrix), 0.0))

    def difference(self, first: int, second: int) -> tuple[float, float]:
        """The first strength minus the second, and its standard error."""
        matrix = self.covariance if self.robust is None else self.robust
        variance = matrix[first, first] + matrix[second, second] - 2 * matrix[first, second]
        return float(self.strengths[first] - self.strengths[second]), float(np.sqrt(max(variance, 0.0)))
