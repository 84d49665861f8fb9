"""The likelihood of Bradley and Terry's and of Davidson's model, with its slope, its information, and slopes by person.

With d = strength of the first item - strength of the second + side, and W = exp(d/2) + exp(-d/2) + nu (nu = 0 without
ties), a pair that was compared n times contributes

    (first - second) d / 2 + ties log nu - n log W

where first, second and ties count its answers. All choices of a pair are summed beforehand, and, unless sides matter,
those of both orders. The strengths' part of the information is that of a network, diag(W 1) - W, with one weight for
each pair: it is kept sparse, so that a product with it costs as much as there are pairs.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from karat.models.choices.pairs import TIE, Pairs
from karat.types import Floats, Ints


class PairLikelihood:
    """The log-likelihood of (strengths, log nu where there are ties, side where it is asked for)."""

    def __init__(self, pairs: Pairs, ties: bool, side: bool, precision: float) -> None:
        self.pairs, self.ties, self.side, self.precision = pairs, ties, side, precision
        self.items = pairs.items
        self.size = pairs.items + ties + side
        one, two, answer = pairs.left, pairs.right, pairs.answer
        if not side:
            turned = one > two
            one, two = np.where(turned, two, one), np.where(turned, one, two)
            answer = np.where(turned, -answer, answer)
        # The answer is part of the number that is sorted, which is much faster than finding where each pair went.
        distinct, count = np.unique((one * pairs.items + two) * 3 + (answer + 1), return_counts=True)
        pair, said = np.divmod(distinct, 3)
        starts = np.flatnonzero(np.concatenate([[True], pair[1:] != pair[:-1]]))
        self.one, self.two = np.divmod(pair[starts], pairs.items)
        self.count = np.add.reduceat(count, starts).astype(np.float64)
        self.balance = np.add.reduceat(count * (said - 1), starts).astype(np.float64)
        self.tied = float(count[said == TIE + 1].sum()) if ties else 0.0

    def parts(self, values: Floats, one: Ints, two: Ints) -> tuple[Floats, Floats, Floats, Floats]:
        """d / 2, the logarithm of W, and the probabilities of the first item and of a tie."""
        half = (values[one] - values[two] + (values[-1] if self.side else 0.0)) / 2
        top = np.abs(half)
        if not self.ties:
            log_whole = top + np.log1p(np.exp(-2 * top))
            return half, log_whole, np.exp(half - log_whole), np.zeros_like(half)
        tie = values[self.items]
        top = np.maximum(top, tie)
        log_whole = top + np.log(np.exp(half - top) + np.exp(-half - top) + np.exp(tie - top))
        return half, log_whole, np.exp(half - log_whole), np.exp(tie - log_whole)

    def at(self, values: Floats) -> PairPoint:
        """The log-likelihood and its derivatives at one place."""
        return PairPoint(self, values)

    @cached_property
    def starts(self) -> Ints:
        """Where each item's pairs begin: they are sorted by the first item."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.one, minlength=self.items))])

    def slopes_by(self, values: Floats, person: Ints, people: int) -> sparse.csr_array:
        """The slope of each participant's choices (people x parameters), without the prior."""
        left, right, n = self.pairs.left, self.pairs.right, self.items
        _, _, first, tie = self.parts(values, left, right)
        inward = (self.pairs.answer - (2 * first + tie - 1)) / 2
        rows, columns, data = [person, person], [left, right], [inward, -inward]
        if self.ties:
            rows, columns = [*rows, person], [*columns, np.full(len(left), n)]
            data = [*data, (self.pairs.answer == TIE) - tie]
        if self.side:
            rows, columns = [*rows, person], [*columns, np.full(len(left), self.size - 1)]
            data = [*data, inward]
        places = (np.concatenate(rows), np.concatenate(columns))
        return sparse.coo_array((np.concatenate(data), places), shape=(people, self.size)).tocsr()


class PairPoint:
    """The log-likelihood and its derivatives at one place, for which the probabilities are computed once."""

    def __init__(self, likelihood: PairLikelihood, values: Floats) -> None:
        self.of, self.values = likelihood, values
        self.half, self.log_whole, self.first, self.tie = likelihood.parts(values, likelihood.one, likelihood.two)

    @property
    def log_likelihood(self) -> float:
        """Without the prior."""
        found = self.of.balance @ self.half - self.of.count @ self.log_whole
        return float(found + (self.of.tied * self.values[self.of.items] if self.of.ties else 0.0))

    @property
    def value(self) -> float:
        """The log-likelihood less the penalty of the prior."""
        strengths = self.values[: self.of.items]
        return self.log_likelihood - self.of.precision / 2 * float(strengths @ strengths)

    def gradient(self) -> Floats:
        """The slope of the value."""
        of, n = self.of, self.of.items
        inward = (of.balance - of.count * (2 * self.first + self.tie - 1)) / 2
        found = np.zeros(of.size)
        found[:n] = np.bincount(of.one, inward, n) - np.bincount(of.two, inward, n)
        found[:n] -= of.precision * self.values[:n]
        if of.ties:
            found[n] = of.tied - float(of.count @ self.tie)
        if of.side:
            found[-1] = float(inward.sum())
        return found

    def information(self) -> Information:
        """Minus the second derivatives, exact and expected alike, since the model is linear in its parameters."""
        of, n, tie = self.of, self.of.items, self.tie
        lean = 2 * self.first + tie - 1
        spread = of.count * (1 - tie - lean**2) / 4
        across = -of.count * tie * lean / 2
        network = sparse.csr_array((spread, of.two, of.starts), shape=(n, n))
        ends = np.bincount(of.one, spread, n) + np.bincount(of.two, spread, n)
        diagonal = np.asarray(ends + of.precision, dtype=np.float64)
        border, corner = np.zeros((n, of.size - n)), np.zeros((of.size - n, of.size - n))
        if of.ties:
            border[:, 0] = np.bincount(of.one, across, n) - np.bincount(of.two, across, n)
            corner[0, 0] = float(of.count @ (tie * (1 - tie)))
        if of.side:
            border[:, -1] = np.bincount(of.one, spread, n) - np.bincount(of.two, spread, n)
            corner[-1, -1] = float(spread.sum())
            if of.ties:
                corner[0, 1] = corner[1, 0] = float(across.sum())
        return Information(network, diagonal, border, corner)


class Information:
    """The information matrix: a network of items, and a border for what is not an item."""

    def __init__(self, network: sparse.csr_array, diagonal: Floats, border: Floats, corner: Floats) -> None:
        self.network, self.transposed = network, network.T
        self.diagonal, self.border, self.corner = diagonal, border, corner

    def times(self, values: Floats) -> Floats:
        """The product with a vector."""
        n = len(self.diagonal)
        strengths, further = values[:n], values[n:]
        found = self.diagonal * strengths - self.network @ strengths - self.transposed @ strengths
        return np.concatenate([found + self.border @ further, self.border.T @ strengths + self.corner @ further])

    def dense(self) -> Floats:
        """The whole matrix."""
        n = len(self.diagonal)
        table = self.network.toarray()
        table += table.T
        np.negative(table, out=table)
        table[range(n), range(n)] = self.diagonal
        return np.block([[table, self.border], [self.border.T, self.corner]]) if len(self.corner) else table
