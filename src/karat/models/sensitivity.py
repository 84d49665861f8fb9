"""Sensitivity and bias of yes/no answers, by signal detection theory with equal variances.

Of n sentences to which yes is right, h are answered yes (hits); of m to which no is right, f (false alarms). With

    H = (h + 1/2) / (n + 1),   F = (f + 1/2) / (m + 1)

    d' = z(H) - z(F)             how well the two kinds are told apart; 0 is guessing
    c  = -(z(H) + z(F)) / 2      the bias; below 0 to yes, above 0 to no

where z is the inverse of the normal distribution function (Macmillan and Creelman 2005). The halves that are added to
all counts, and not only to those that are 0 or full, are the log-linear correction (Hautus 1995), which keeps both
measures finite.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from karat.types import Floats


def sensitivity(
    hits: ArrayLike, yes_trials: ArrayLike, false_alarms: ArrayLike, no_trials: ArrayLike
) -> tuple[Floats, Floats]:
    """d' and c of each participant, not a number where one kind of sentence was not answered at all.

    >>> d_prime, criterion = sensitivity([9, 8, 3], [10, 8, 3], [2, 8, 0], [10, 8, 0])
    >>> d_prime.round(3).tolist(), criterion.round(3).tolist()
    ([1.845, 0.0, nan], [-0.174, -1.593, nan])
    """
    h, n, f, m = np.broadcast_arrays(
        *(np.asarray(counts, dtype=np.float64) for counts in (hits, yes_trials, false_alarms, no_trials))
    )
    if np.any(h < 0) or np.any(f < 0) or np.any(h > n) or np.any(f > m):
        raise ValueError("hits and false alarms must be at least 0 and at most as many as the trials.")
    defined = (n > 0) & (m > 0)
    hit, alarm = ndtri((h + 0.5) / (n + 1)), ndtri((f + 0.5) / (m + 1))
    return np.where(defined, hit - alarm, np.nan), np.where(defined, -(hit + alarm) / 2, np.nan)
