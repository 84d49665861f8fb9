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
strengths sum to zero; `pair_robust` has the one that also holds where choices of one participant hang together.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, cg

from karat.models.choices.fitted import ChoiceFit
from karat.models.choices.pair_likelihood import Information, PairLikelihood, PairPoint
from karat.models.choices.pair_robust import robust_covariance
from karat.models.choices.pairs import Pairs
from karat.models.glrm.threads import one_thread
from karat.types import Floats

TOLERANCE = 1e-10
STEPS = 100
DIRECT = 500
"""Up to so many items a step is solved for directly."""
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
    >>> fit_pairs(three).strengths.round(3).tolist()
    [0.0, 0.756, -0.756]
    """
    if ties is False and pairs.has_ties:
        raise ValueError('There are answers "no difference", for which the model needs ties.')
    with_ties = pairs.has_ties if ties is None else ties is True
    likelihood = PairLikelihood(pairs, with_ties, side, 0.0 if prior_sd is None else prior_sd**-2.0)
    robust = None
    # Where other work is done beside it, several threads wait for each other longer than one takes.
    with one_thread():
        at, slope, converged = _newton(likelihood)
        values = at.values
        covariance = _on_plane(at.information().dense(), pairs.items)
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


def _newton(likelihood: PairLikelihood) -> tuple[PairPoint, Floats, bool]:
    """The maximum, the slope that is left, and whether it was reached: Newton's steps, halved until one climbs."""
    n = likelihood.items
    at = likelihood.at(np.zeros(likelihood.size))
    slope = at.gradient()
    for _ in range(STEPS):
        step = _solved(at.information(), slope, n)
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


def _solved(information: Information, slope: Floats, items: int) -> Floats:
    """Newton's step."""
    if items > DIRECT:
        size = len(slope)
        scale = np.concatenate([information.diagonal, np.diag(information.corner)])
        product = LinearOperator((size, size), matvec=information.times, dtype=np.float64)
        inverse = LinearOperator((size, size), matvec=lambda values: values / scale, dtype=np.float64)
        step, unfinished = cg(product, slope, rtol=1e-6, maxiter=ROUNDS, M=inverse)
        if not unfinished:
            return np.asarray(step)
    solution: Floats = linalg.solve(_anchored(information.dense(), items), slope, assume_a="pos")
    return solution


def _anchored(information: Floats, items: int) -> Floats:
    """The information made invertible: a constant added to all strengths changes nothing, so it is held down."""
    information[:items, :items] += np.diag(information[:items, :items]).mean() / items
    return information


def _on_plane(information: Floats, items: int) -> Floats:
    """The inverse of the information where strengths sum to zero."""
    size = len(information)
    factor, flaw = linalg.lapack.dpotrf(_anchored(information, items).T, lower=1, overwrite_a=1)
    if flaw:
        return np.full((size, size), np.inf)
    inverse, flaw = linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
    if flaw:
        return np.full((size, size), np.inf)
    lower = np.tril(inverse)
    whole: Floats = lower + np.tril(inverse, -1).T
    whole[:items] -= whole[:items].mean(axis=0)
    whole[:, :items] -= whole[:, :items].mean(axis=1, keepdims=True)
    return whole
