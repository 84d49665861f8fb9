"""Bradley and Terry's model of choices, and Davidson's, which has "no difference" as a third answer.

With d = strength of the left item - strength of the right item + side, the answers have the probabilities

    left : tie : right  =  exp(d / 2) : nu : exp(-d / 2)                                  (Davidson 1970)

and without ties P(left) = 1 / (1 + exp(-d)) (Bradley and Terry 1952). The logarithms of both are linear in the
strengths and in log nu but for the common sum, so that the log-likelihood is concave: Newton's method with a line
search finds its only maximum. Its steps are solved for directly, and with many items by conjugate gradients, which need
only products with the information. Strengths sum to zero. Where ties were answered but the model has none, each may
count as half a choice of either side; then only the robust covariance holds.

A maximum exists only if the comparisons connect the items (`pairs.groups_of`). With a prior, strength ~ N(0,
prior_sd^2), there is always one. The covariance of the model is the inverse of the information on the plane where
strengths sum to zero; `robust_covariance` is the one that also holds where choices of one participant hang together.

With W = exp(d/2) + exp(-d/2) + nu (nu = 0 without ties), a pair that was compared n times contributes

    (first - second) d / 2 + ties log nu - n log W

to the log-likelihood, where first, second and ties count its answers. All choices of a pair are summed beforehand, and,
unless sides matter, those of both orders. The strengths' part of the information is that of a network, diag(W 1) - W,
with one weight for each pair: it is kept sparse, so that a product with it costs as much as there are pairs.

The robust covariance is, with H the information and g_i the slope of participant i's choices (Liang and Zeger 1986),

    H^-1 (n / (n - 1) sum_i g_i g_i') H^-1.

At the maximum the slopes are smaller than at the truth, as residuals are smaller than errors, and with few participants
much smaller. Mancl and DeRouen (2001) put (I - A_i H^-1)^-1 g_i in their place, A_i being participant i's part of the
information; the sum then comes close to what leaving out each participant in turn would give. With X_i the rows of the
participant's choices, residuals r_i and weights B_i, that is X_i' (I - B_i X_i H^-1 X_i')^-1 r_i, a small system for
each participant. Somebody who alone compared an item would be all of its information: shares are multiplied by
`SHARE`, so that such slopes stay finite.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse

from karat.models.choices.pairs import TIE, ChoiceFit, Pairs
from karat.models.glrm.schur import mirrored
from karat.models.numerics import one_thread
from karat.types import Floats, Ints

TOLERANCE = 1e-10
STEPS = 100
DIRECT = 500
"""Up to this many items a step is solved for directly."""
ROUNDS = 300
"""How many conjugate gradients may be tried before a step is solved for directly after all."""


def fit_pairs(
    pairs: Pairs,
    ties: bool | Literal["half"] | None = None,
    side: bool = False,
    prior_sd: float | None = None,
    participant: ArrayLike | None = None,
) -> ChoiceFit:
    """The strengths of all items; with Davidson's ties where there are any, unless `ties` says otherwise.

    With `ties="half"` the model has none, and those that were answered count as half a choice of either side. `side`
    adds a preference for the left side. `participant` (a number for each choice) asks for the robust covariance.

    >>> three = Pairs.of([0, 0, 1, 1, 2, 2], [1, 2, 2, 0, 0, 1], [1, 1, 1, 1, 1, -1], 3)
    >>> [round(strength, 2) for strength in fit_pairs(three).strengths[1:].tolist()]
    [0.76, -0.76]
    """
    if ties is False and pairs.has_ties:
        raise ValueError('There are answers "no difference", for which the model needs ties.')
    with_ties = pairs.has_ties if ties is None else ties is True
    likelihood = PairLikelihood(pairs, with_ties, side, 0.0 if prior_sd is None else prior_sd**-2.0)
    robust = None
    # Where other work is done beside it, several threads wait for each other longer than one takes.
    with one_thread():
        at, slope, converged = newton(likelihood)
        values = at.values
        covariance = on_plane(at.information().dense(), pairs.items)
        if participant is not None:
            robust = robust_covariance(likelihood, values, covariance, np.asarray(participant, dtype=np.int64))
    used = covariance if robust is None else robust
    errors = np.sqrt(np.maximum(np.diag(used), 0.0))
    n = pairs.items
    return ChoiceFit(
        values[:n], covariance[:n, :n], at.log_likelihood, converged, float(np.abs(slope).max()),
        None if robust is None else robust[:n, :n],
        *((float(values[n]), float(errors[n])) if with_ties else (None, None)),
        *((float(values[-1]), float(errors[-1])) if side else (None, None)),
    )  # fmt: skip


def newton(likelihood: PairLikelihood, direct: int = DIRECT, rounds: int = ROUNDS) -> tuple[PairPoint, Floats, bool]:
    """The maximum, the slope that is left, and whether it was reached: Newton's steps, halved until one climbs.

    With more than `direct` items, a step is looked for by at most `rounds` conjugate gradients.
    """
    n = likelihood.items
    at = likelihood.at(np.zeros(likelihood.size))
    slope = at.gradient()
    for _ in range(STEPS):
        step = _solved(at.information(), slope, n, rounds if n > direct else 0)
        if float(slope @ step) / 2 < TOLERANCE:
            return at, slope, True
        step[:n] -= step[:n].mean()
        length = 1.0
        trial = likelihood.at(at.values + step)
        while trial.value < at.value - 1e-12 * abs(at.value) and length > 1e-8:
            length /= 2
            trial = likelihood.at(at.values + length * step)
        at = trial
        slope = at.gradient()
    return at, slope, False


def _solved(information: Information, slope: Floats, items: int, rounds: int) -> Floats:
    """Newton's step, by so many conjugate gradients at most before it is solved for directly."""
    if rounds:
        from scipy.sparse.linalg import LinearOperator, cg

        size = len(slope)
        scale = np.concatenate([information.diagonal, np.diag(information.corner)])
        product = LinearOperator((size, size), matvec=information.times, dtype=np.float64)
        inverse = LinearOperator((size, size), matvec=lambda values: values / scale, dtype=np.float64)
        step, unfinished = cg(product, slope, rtol=1e-6, maxiter=rounds, M=inverse)
        if not unfinished:
            return np.asarray(step)
    return np.asarray(linalg.solve(_anchored(information.dense(), items), slope, assume_a="pos"))


def _anchored(information: Floats, items: int) -> Floats:
    """The information made invertible: a constant added to all strengths changes nothing, so it is held down."""
    information[:items, :items] += np.diag(information[:items, :items]).mean() / items
    return information


def on_plane(information: Floats, items: int) -> Floats:
    """The inverse of the information where strengths sum to zero."""
    size = len(information)
    factor, flaw = linalg.lapack.dpotrf(_anchored(information, items).T, lower=1, overwrite_a=1)
    if flaw:
        return np.full((size, size), np.inf)
    inverse, flaw = linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
    if flaw:
        return np.full((size, size), np.inf)
    whole = mirrored(inverse)
    whole[:items] -= whole[:items].mean(axis=0)
    whole[:, :items] -= whole[:, :items].mean(axis=1, keepdims=True)
    return whole


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
        """The log-likelihood minus the penalty of the prior."""
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


SHARE = 0.95
WORK = 3e10
"""This many operations at most are spent on the correction; larger studies have participants enough without it."""


def robust_covariance(
    likelihood: PairLikelihood, values: Floats, covariance: Floats, participant: Ints, work: float = WORK
) -> Floats:
    """The covariance of all parameters, from the covariance of the model and the participant of each choice."""
    _, person, trials = np.unique(participant, return_inverse=True, return_counts=True)
    people = len(trials)
    grown = people / max(people - 1, 1)
    if float((((1 + likelihood.ties) * trials.astype(np.float64)) ** 3).sum()) > work:
        slopes = likelihood.slopes_by(values, person, people)
        middle = (slopes.T @ slopes).toarray()
        return np.asarray(covariance @ middle @ covariance) * grown
    spread = corrected_slopes(likelihood, values, covariance, person, people) @ covariance
    return np.asarray(spread.T @ spread) * grown


def corrected_slopes(
    likelihood: PairLikelihood, values: Floats, covariance: Floats, person: Ints, people: int
) -> Floats:
    """The slope of each participant's choices (people x parameters), after Mancl and DeRouen."""
    pairs, n = likelihood.pairs, likelihood.items
    _, _, first, tie = likelihood.parts(values, pairs.left, pairs.right)
    lean = 2 * first + tie - 1
    inward, in_tie = (pairs.answer - lean) / 2, (pairs.answer == TIE) - tie
    spread, across, tied = (1 - tie - lean**2) / 4, -tie * lean / 2, tie * (1 - tie)
    slopes = np.zeros((people, likelihood.size))
    order = np.argsort(person, kind="stable")
    for who, mine in enumerate(np.split(order, np.cumsum(np.bincount(person, minlength=people))[:-1])):
        left, right, k = pairs.left[mine], pairs.right[mine], len(mine)
        rows = covariance[left] - covariance[right] + (covariance[-1] if likelihood.side else 0.0)
        residual, weight = inward[mine], np.diag(spread[mine])
        if likelihood.ties:
            rows = np.concatenate([rows, np.broadcast_to(covariance[n], (k, likelihood.size))])
            residual = np.concatenate([residual, in_tie[mine]])
            weight = np.block([[weight, np.diag(across[mine])], [np.diag(across[mine]), np.diag(tied[mine])]])
        between = rows[:, left] - rows[:, right] + (rows[:, [-1]] if likelihood.side else 0.0)
        if likelihood.ties:
            between = np.concatenate([between, np.repeat(rows[:, [n]], k, axis=1)], axis=1)
        larger = linalg.solve(np.eye(len(residual)) - SHARE * weight @ between, residual)
        slopes[who, :n] = np.bincount(left, larger[:k], n) - np.bincount(right, larger[:k], n)
        if likelihood.ties:
            slopes[who, n] = larger[k:].sum()
        if likelihood.side:
            slopes[who, -1] = larger[:k].sum()
    return slopes
