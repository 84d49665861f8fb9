"""When behaviour changes: people of one crowd tend to stop looking at about the same time, and the crowd tells when.

The trials of a participant fall into 20 periods of equal length. A change falls into period k with probability
proportional to n_k r_k, with n_k trials in it at which a change is possible, each as probable as the others of the
period. The rates r are learned: with f_k changes expected in period k by what everybody did,

    r_k = 2 + (S f)_k / (S g)_k,

where g_k is the share of all possible trials that lie in the period: before anybody answers all trials are as probable,
which is worth two changes. S averages each period with its neighbours (1/4, 1/2, 1/4): an EM step that is smoothed
(Silverman, Jones, Wilson and Nychka 1990), since a few changes tell roughly when, and not more.
"""

from __future__ import annotations

import numpy as np

from karat.types import Bools, Floats, Ints

PERIODS = 20
PRIOR_CHANGES = 2.0
NEIGHBOURS = np.array([0.25, 0.5, 0.25])


def periods(trials: int, answered: Ints) -> Ints:
    """The period of a change before each trial (participants x trials + 1), by how many answers everybody gave.

    >>> periods(4, np.array([4, 2])).tolist()
    [[0, 5, 10, 15, 19], [0, 10, 19, 19, 19]]
    """
    found: Ints = np.minimum(PERIODS * np.arange(trials + 1) // np.maximum(answered, 1)[:, None], PERIODS - 1)
    return found


def log_when(period: Ints, allowed: Bools, rates: Floats) -> Floats:
    """The log probability of a change at each trial, for those who change; minus infinity where none is allowed.

    >>> log_when(np.array([[0, 1, 2]]), np.array([[False, True, True]]), np.array([1.0, 3.0, 1.0])).round(2).tolist()
    [[-inf, -0.29, -1.39]]
    """
    rate = np.where(allowed, rates[period], 0.0)
    with np.errstate(divide="ignore"):
        found: Floats = np.log(rate) - np.log(np.maximum(rate.sum(axis=1, keepdims=True), 1e-300))
    return found


def learned_rates(period: Ints, allowed: Bools, change: Floats) -> Floats:
    """The rates of all periods, from the probability of each change (participants x trials + 1).

    >>> period, allowed = periods(40, np.array([40])), np.ones((1, 41), dtype=bool)
    >>> rates = learned_rates(period, allowed, 5.0 * (np.arange(41) == 30)[None, :])
    >>> int(rates.argmax()), bool((rates >= 2).all())
    (15, True)
    """
    found = np.bincount(period[allowed], change[allowed], PERIODS)
    possible = np.bincount(period[allowed], minlength=PERIODS) / max(int(allowed.sum()), 1)
    near, wide = (np.convolve(values, NEIGHBOURS, "same") for values in (found, possible))
    rates: Floats = PRIOR_CHANGES + np.divide(near, wide, out=np.zeros(PERIODS), where=wide > 0)
    return rates
