"""The covariance of strengths that also holds where choices of one participant hang together.

With H the information and g_i the slope of participant i's choices (Liang and Zeger 1986):

    H^-1 (n / (n - 1) sum_i g_i g_i') H^-1.

At the maximum the slopes are smaller than at the truth, as residuals are smaller than errors, and with few participants
much smaller. Mancl and DeRouen (2001) put (I - A_i H^-1)^-1 g_i in their place, A_i being participant i's part of the
information; the sum then comes close to what leaving out each participant in turn would give. With X_i the rows of the
participant's choices, residuals r_i and weights B_i, that is X_i' (I - B_i X_i H^-1 X_i')^-1 r_i, a small system for
each participant. Somebody who alone compared an item would be all of its information: shares are multiplied by
`SHARE`, so that such slopes stay finite.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from karat.models.choices.pair_likelihood import PairLikelihood
from karat.models.choices.pairs import TIE
from karat.types import Floats, Ints

SHARE = 0.95
WORK = 3e10
"""So many operations at most are spent on the correction; larger studies have participants enough without it."""


def robust_covariance(likelihood: PairLikelihood, values: Floats, covariance: Floats, participant: Ints) -> Floats:
    """The covariance of all parameters, from the covariance of the model and the participant of each choice."""
    _, person, trials = np.unique(participant, return_inverse=True, return_counts=True)
    people = len(trials)
    grown = people / max(people - 1, 1)
    if float((((1 + likelihood.ties) * trials.astype(np.float64)) ** 3).sum()) > WORK:
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
