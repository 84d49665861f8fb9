"""Bradley and Terry's model of choices, and Davidson's, with "no difference" as a third answer.

With d = strength of the left item - strength of the right item + side, the answers have the probabilities

    left : tie : right  =  exp(d / 2) : nu : exp(-d / 2)                                  (Davidson 1970)

and without ties P(left) = 1 / (1 + exp(-d)) (Bradley and Terry 1952). Apart from the common sum, the logarithms of
both are linear in the strengths and in log nu. The log-likelihood is therefore concave, and Newton's method with a line
search finds its only maximum. The steps are computed directly or, with many items, by conjugate gradients, which need
only products with the information. Strengths sum to zero. If there are ties but the model has none, each may count as
half a choice of either side; then only the robust covariance is valid.

A maximum exists only if the comparisons connect the items (`pairs.groups_of`). With a prior, strength ~ N(0,
prior_sd^2), there is always one. The covariance of the model is the inverse of the information on the plane where
strengths sum to zero. `robust_covariance` is also valid if choices of the same participant are dependent.

With W = exp(d/2) + exp(-d/2) + nu (nu = 0 without ties), a pair that was compared n times contributes

    (first - second) d / 2 + ties log nu - n log W

to the log-likelihood, where first, second and ties count its answers. All choices of a pair are summed in advance, in
both orders unless sides matter. The strengths' part of the information is the matrix of a network, diag(W 1) - W, with
one weight per pair. It is sparse, so the cost of a product is proportional to the number of pairs.

With the information H and the slope g_i of participant i's choices, the robust covariance is (Liang and Zeger 1986)

    H^-1 (n / (n - 1) sum_i g_i g_i') H^-1.

At the maximum the slopes are smaller than at the true values, as residuals are smaller than errors, and much smaller
with few participants. Mancl and DeRouen (2001) replace them by (I - A_i H^-1)^-1 g_i, where A_i is participant i's part
of the information; the sum is then close to that of a jackknife over participants. With the rows X_i of the
participant's choices, residuals r_i and weights B_i, this is X_i' (I - B_i X_i H^-1 X_i')^-1 r_i, a small system per
participant. A participant who alone compared an item would contribute all of its information, so shares are multiplied
by `SHARE` to keep such slopes finite.
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
"""With up to this many items, a step is computed directly."""
ROUNDS = 300
"""The maximum number of conjugate-gradient iterations before a step is computed directly."""


def fit_pairs(
    pairs: Pairs,
    ties: bool | Literal["half"] | None = None,
    side: bool = False,
    prior_sd: float | None = None,
    participant: ArrayLike | None = None,
) -> ChoiceFit:
    """The strengths of all items, by Davidson's model if there are ties, unless `ties` overrides this.

    With `ties="half"` the model has no ties, and each tie counts as half a choice of either side. `side` adds a
    preference for the left side. `participant` (a number per choice) adds the robust covariance.

    >>> three = Pairs.of([0, 0, 1, 1, 2, 2], [1, 2, 2, 0, 0, 1], [1, 1, 1, 1, 1, -1], 3)
    >>> [round(strength, 2) for strength in fit_pairs(three).strengths[1:].tolist()]
    [0.76, -0.76]
    """
    if ties is False and pairs.has_ties:
        raise ValueError('There are answers "no difference", for which the model needs ties.')
    with_ties = pairs.has_ties if ties is None else ties is True
    likelihood = PairLikelihood(pairs, with_ties, side, 0.0 if prior_sd is None else prior_sd**-2.0)
    robust = None
    # On a busy machine, several threads would wait for each other longer than a single thread takes.
    with one_thread():
        point, slope, converged = newton(likelihood)
        values = point.values
        covariance = on_plane(point.information().dense(), pairs.items)
        if participant is not None:
            robust = robust_covariance(likelihood, values, covariance, np.asarray(participant, dtype=np.int64))
    used = covariance if robust is None else robust
    errors = np.sqrt(np.maximum(np.diag(used), 0.0))
    n = pairs.items
    return ChoiceFit(
        values[:n], covariance[:n, :n], point.log_likelihood, converged, float(np.abs(slope).max()),
        None if robust is None else robust[:n, :n],
        *((float(values[n]), float(errors[n])) if with_ties else (None, None)),
        *((float(values[-1]), float(errors[-1])) if side else (None, None)),
    )  # fmt: skip


def newton(likelihood: PairLikelihood, direct: int = DIRECT, rounds: int = ROUNDS) -> tuple[PairPoint, Floats, bool]:
    """The maximum by Newton steps, halved until one improves the value; the remaining slope; whether it converged.

    With more than `direct` items, a step takes at most `rounds` iterations of conjugate gradients.
    """
    n = likelihood.items
    point = likelihood.at(np.zeros(likelihood.size))
    slope = point.gradient()
    for _ in range(STEPS):
        step = _newton_step(point.information(), slope, n, rounds if n > direct else 0)
        if float(slope @ step) / 2 < TOLERANCE:
            return point, slope, True
        step[:n] -= step[:n].mean()
        length = 1.0
        trial = likelihood.at(point.values + step)
        while trial.value < point.value - 1e-12 * abs(point.value) and length > 1e-8:
            length /= 2
            trial = likelihood.at(point.values + length * step)
        point = trial
        slope = point.gradient()
    return point, slope, False


def _newton_step(information: Information, slope: Floats, items: int, rounds: int) -> Floats:
    """The Newton step, by at most `rounds` iterations of conjugate gradients or, if these fail, directly."""
    if rounds:
        from scipy.sparse.linalg import LinearOperator, cg

        size = len(slope)
        scale = np.concatenate([information.diagonal, np.diag(information.corner)])
        product = LinearOperator((size, size), matvec=information.times, dtype=np.float64)
        inverse = LinearOperator((size, size), matvec=lambda values: values / scale, dtype=np.float64)
        step, unfinished = cg(product, slope, rtol=1e-6, maxiter=rounds, M=inverse)
        if not unfinished:
            return np.asarray(step)
    return np.asarray(linalg.solve(_regularised(information.dense(), items), slope, assume_a="pos"))


def _regularised(information: Floats, items: int) -> Floats:
    """Make the information invertible in place, by penalising a constant that is added to all strengths."""
    information[:items, :items] += np.diag(information[:items, :items]).mean() / items
    return information


def on_plane(information: Floats, items: int) -> Floats:
    """The inverse of the information where strengths sum to zero."""
    size = len(information)
    factor, flaw = linalg.lapack.dpotrf(_regularised(information, items).T, lower=1, overwrite_a=1)
    if flaw:
        return np.full((size, size), np.inf)
    inverse, flaw = linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
    if flaw:
        return np.full((size, size), np.inf)
    covariance = mirrored(inverse)
    covariance[:items] -= covariance[:items].mean(axis=0)
    covariance[:, :items] -= covariance[:, :items].mean(axis=1, keepdims=True)
    return covariance


class PairLikelihood:
    """The log-likelihood of (strengths, log nu with `ties`, side preference with `side`)."""

    def __init__(self, pairs: Pairs, ties: bool, side: bool, precision: float) -> None:
        self.pairs, self.ties, self.side, self.precision = pairs, ties, side, precision
        self.items = pairs.items
        self.size = pairs.items + ties + side
        first, second, answer = pairs.left, pairs.right, pairs.answer
        if not side:
            swapped = first > second
            first, second = np.where(swapped, second, first), np.where(swapped, first, second)
            answer = np.where(swapped, -answer, answer)
        # Including the answer in the sorted number is much faster than looking up the pair of each choice.
        distinct, count = np.unique((first * pairs.items + second) * 3 + (answer + 1), return_counts=True)
        pair, answer_code = np.divmod(distinct, 3)
        starts = np.flatnonzero(np.concatenate([[True], pair[1:] != pair[:-1]]))
        self.first_item, self.second_item = np.divmod(pair[starts], pairs.items)
        self.count = np.add.reduceat(count, starts).astype(np.float64)
        self.balance = np.add.reduceat(count * (answer_code - 1), starts).astype(np.float64)
        self.tied = float(count[answer_code == TIE + 1].sum()) if ties else 0.0

    def parts(self, values: Floats, first: Ints, second: Ints) -> tuple[Floats, Floats, Floats, Floats]:
        """d / 2, the logarithm of W, and the probabilities of the first item and of a tie."""
        half = (values[first] - values[second] + (values[-1] if self.side else 0.0)) / 2
        top = np.abs(half)
        if not self.ties:
            log_sum = top + np.log1p(np.exp(-2 * top))
            return half, log_sum, np.exp(half - log_sum), np.zeros_like(half)
        tie = values[self.items]
        top = np.maximum(top, tie)
        log_sum = top + np.log(np.exp(half - top) + np.exp(-half - top) + np.exp(tie - top))
        return half, log_sum, np.exp(half - log_sum), np.exp(tie - log_sum)

    def at(self, values: Floats) -> PairPoint:
        """The log-likelihood and its derivatives at these values."""
        return PairPoint(self, values)

    @cached_property
    def starts(self) -> Ints:
        """The start of each item's pairs, which are sorted by the first item."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.first_item, minlength=self.items))])

    def slopes_by(self, values: Floats, person: Ints, people: int) -> sparse.csr_array:
        """The slope of each participant's choices (people x parameters), without the prior."""
        left, right, n = self.pairs.left, self.pairs.right, self.items
        _, _, p_first, p_tie = self.parts(values, left, right)
        residual = (self.pairs.answer - (2 * p_first + p_tie - 1)) / 2
        rows, columns, data = [person, person], [left, right], [residual, -residual]
        if self.ties:
            rows, columns = [*rows, person], [*columns, np.full(len(left), n)]
            data = [*data, (self.pairs.answer == TIE) - p_tie]
        if self.side:
            rows, columns = [*rows, person], [*columns, np.full(len(left), self.size - 1)]
            data = [*data, residual]
        places = (np.concatenate(rows), np.concatenate(columns))
        return sparse.coo_array((np.concatenate(data), places), shape=(people, self.size)).tocsr()


class PairPoint:
    """The log-likelihood and its derivatives at one point, where the probabilities are computed once."""

    def __init__(self, likelihood: PairLikelihood, values: Floats) -> None:
        self.likelihood, self.values = likelihood, values
        items = likelihood.first_item, likelihood.second_item
        self.half, self.log_sum, self.first, self.tie = likelihood.parts(values, *items)

    @property
    def log_likelihood(self) -> float:
        """The log-likelihood without the prior."""
        model = self.likelihood
        value = model.balance @ self.half - model.count @ self.log_sum
        return float(value + (model.tied * self.values[model.items] if model.ties else 0.0))

    @property
    def value(self) -> float:
        """The log-likelihood minus the penalty of the prior."""
        strengths = self.values[: self.likelihood.items]
        return self.log_likelihood - self.likelihood.precision / 2 * float(strengths @ strengths)

    def gradient(self) -> Floats:
        """The gradient of the value."""
        model, n = self.likelihood, self.likelihood.items
        residual = (model.balance - model.count * (2 * self.first + self.tie - 1)) / 2
        gradient = np.zeros(model.size)
        gradient[:n] = np.bincount(model.first_item, residual, n) - np.bincount(model.second_item, residual, n)
        gradient[:n] -= model.precision * self.values[:n]
        if model.ties:
            gradient[n] = model.tied - float(model.count @ self.tie)
        if model.side:
            gradient[-1] = float(residual.sum())
        return gradient

    def information(self) -> Information:
        """Minus the second derivatives; observed and expected information are equal for this linear model."""
        model, n, tie = self.likelihood, self.likelihood.items, self.tie
        expected = 2 * self.first + tie - 1
        spread = model.count * (1 - tie - expected**2) / 4
        shared = -model.count * tie * expected / 2
        network = sparse.csr_array((spread, model.second_item, model.starts), shape=(n, n))
        ends = np.bincount(model.first_item, spread, n) + np.bincount(model.second_item, spread, n)
        diagonal = np.asarray(ends + model.precision, dtype=np.float64)
        border, corner = np.zeros((n, model.size - n)), np.zeros((model.size - n, model.size - n))
        if model.ties:
            border[:, 0] = np.bincount(model.first_item, shared, n) - np.bincount(model.second_item, shared, n)
            corner[0, 0] = float(model.count @ (tie * (1 - tie)))
        if model.side:
            border[:, -1] = np.bincount(model.first_item, spread, n) - np.bincount(model.second_item, spread, n)
            corner[-1, -1] = float(spread.sum())
            if model.ties:
                corner[0, 1] = corner[1, 0] = float(shared.sum())
        return Information(network, diagonal, border, corner)


class Information:
    """The information matrix: a network of items, with a border for the other parameters."""

    def __init__(self, network: sparse.csr_array, diagonal: Floats, border: Floats, corner: Floats) -> None:
        self.network, self.transposed = network, network.T
        self.diagonal, self.border, self.corner = diagonal, border, corner

    def times(self, values: Floats) -> Floats:
        """The product with a vector."""
        n = len(self.diagonal)
        strengths, others = values[:n], values[n:]
        product = self.diagonal * strengths - self.network @ strengths - self.transposed @ strengths
        return np.concatenate([product + self.border @ others, self.border.T @ strengths + self.corner @ others])

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
"""The maximum number of operations for the correction; larger studies have enough participants without it."""


def robust_covariance(
    likelihood: PairLikelihood, values: Floats, covariance: Floats, participant: Ints, work: float = WORK
) -> Floats:
    """The covariance of all parameters, from the covariance of the model and the participant of each choice."""
    _, person, trials = np.unique(participant, return_inverse=True, return_counts=True)
    people = len(trials)
    factor = people / max(people - 1, 1)
    if float((((1 + likelihood.ties) * trials.astype(np.float64)) ** 3).sum()) > work:
        slopes = likelihood.slopes_by(values, person, people)
        squares = (slopes.T @ slopes).toarray()
        return np.asarray(covariance @ squares @ covariance) * factor
    spread = corrected_slopes(likelihood, values, covariance, person, people) @ covariance
    return np.asarray(spread.T @ spread) * factor


def corrected_slopes(
    likelihood: PairLikelihood, values: Floats, covariance: Floats, person: Ints, people: int
) -> Floats:
    """The slope of each participant's choices (people x parameters), corrected after Mancl and DeRouen."""
    pairs, n = likelihood.pairs, likelihood.items
    _, _, p_first, p_tie = likelihood.parts(values, pairs.left, pairs.right)
    expected = 2 * p_first + p_tie - 1
    residuals, tie_residuals = (pairs.answer - expected) / 2, (pairs.answer == TIE) - p_tie
    var, cov, tie_var = (1 - p_tie - expected**2) / 4, -p_tie * expected / 2, p_tie * (1 - p_tie)
    slopes = np.zeros((people, likelihood.size))
    order = np.argsort(person, kind="stable")
    for index, choices in enumerate(np.split(order, np.cumsum(np.bincount(person, minlength=people))[:-1])):
        left, right, count = pairs.left[choices], pairs.right[choices], len(choices)
        rows = covariance[left] - covariance[right] + (covariance[-1] if likelihood.side else 0.0)
        residual, weight = residuals[choices], np.diag(var[choices])
        if likelihood.ties:
            rows = np.concatenate([rows, np.broadcast_to(covariance[n], (count, likelihood.size))])
            residual = np.concatenate([residual, tie_residuals[choices]])
            weight = np.block([[weight, np.diag(cov[choices])], [np.diag(cov[choices]), np.diag(tie_var[choices])]])
        between = rows[:, left] - rows[:, right] + (rows[:, [-1]] if likelihood.side else 0.0)
        if likelihood.ties:
            between = np.concatenate([between, np.repeat(rows[:, [n]], count, axis=1)], axis=1)
        corrected = linalg.solve(np.eye(len(residual)) - SHARE * weight @ between, residual)
        slopes[index, :n] = np.bincount(left, corrected[:count], n) - np.bincount(right, corrected[:count], n)
        if likelihood.ties:
            slopes[index, n] = corrected[count:].sum()
        if likelihood.side:
            slopes[index, -1] = corrected[:count].sum()
    return slopes
