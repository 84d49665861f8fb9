"""Longest runs: how long a row of equal answers is by chance, exactly.

Answers are independent and have fixed probabilities, the shares. The first run of m answers a begins at trial i with
probability N_a(i) p_a^(m-1), where N_a(i) is the probability that no run of m is complete before and a new run of a
begins at i. With E_a(i), the probability that no run of m is complete by trial i and i is answered a,

    N_a(i) = p_a (sum over b of E_b(i-1) - E_a(i-1)),   N_a(1) = p_a,
    E_a(i) = p_a E_a(i-1) + N_a(i) - p_a^(m-1) N_a(i-m+1),
    P(longest run >= m) = sum over a and i <= n-m+1 of p_a^(m-1) N_a(i).

The sum has no differences of large numbers, so that small tails keep their digits. For the runs of one answer alone,
this is the recursion of Schilling (1990, The longest run of heads), here for any share.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.types import Floats

CELLS = 4_000_000
"""How many probabilities are held at a time."""


def longest_run_tail(shares: ArrayLike, trials: ArrayLike, lengths: ArrayLike) -> Floats:
    """The probability that the longest run of any answer is at least as long as given, for many sequences at once.

    `shares` has a row for each sequence and a column for each answer; `trials` and `lengths` have one number each.
    A run of no answers is always there, a run longer than the sequence never.

    >>> longest_run_tail([[0.5, 0.5], [0.2, 0.8]], [3, 2], [3, 2]).round(4).tolist()
    [0.25, 0.68]
    """
    p = np.atleast_2d(np.asarray(shares, dtype=np.float64))
    n = np.asarray(trials, dtype=np.int64).reshape(-1)
    m = np.asarray(lengths, dtype=np.int64).reshape(-1)
    if p.shape[0] != len(n) or len(n) != len(m):
        raise ValueError("shares, trials and lengths must have one row for each sequence.")
    if len(n) and (np.any(p < 0) or np.any(np.abs(p.sum(axis=1) - 1) > 1e-9)):
        raise ValueError("shares must be at least 0 and sum to 1.")
    tail = np.zeros(len(n))
    tail[m <= 0] = 1.0
    tail[(m == 1) & (n >= 1)] = 1.0
    open_ = np.flatnonzero((m >= 2) & (m <= n))
    open_ = open_[np.argsort(-n[open_], kind="stable")]
    start = 0
    while start < len(open_):
        # The longest sequences come first, so that the first of a part says how much room all need.
        size = max(1, CELLS // int(n[open_[start]] * p.shape[1]))
        part = open_[start : start + size]
        tail[part] = _tail(p[part], n[part], m[part])
        start += len(part)
    return tail


def _tail(p: Floats, n: NDArray[np.int64], m: NDArray[np.int64]) -> Floats:
    people, steps = np.arange(len(n)), int((n - m).max()) + 1
    full = p ** (m - 1)[:, None]
    begun = np.zeros((steps, *p.shape))
    ends = np.zeros_like(p)
    tail = np.zeros(len(n))
    for i in range(steps):
        fresh = p * (np.maximum(ends.sum(axis=1, keepdims=True) - ends, 0) if i else 1.0)
        begun[i] = fresh
        back = i - m + 1
        complete = np.where((back >= 0)[:, None], full * begun[np.maximum(back, 0), people], 0.0)
        ends = np.maximum(p * ends + fresh - complete, 0)
        tail += np.where(i <= n - m, (full * fresh).sum(axis=1), 0.0)
    return np.minimum(tail, 1.0)


def binomial_tail(successes: ArrayLike, trials: ArrayLike, chance: ArrayLike) -> Floats:
    """The probability of at least this many successes in this many trials, for many sequences at once.

    >>> binomial_tail([2, 0, 3], [3, 5, 3], [0.5, 0.5, 1.0]).round(12).tolist()
    [0.5, 1.0, 1.0]
    """
    k, n, p = np.broadcast_arrays(
        np.asarray(successes, dtype=np.int64),
        np.asarray(trials, dtype=np.int64),
        np.clip(np.asarray(chance, dtype=np.float64), 0.0, 1.0),
    )
    highest = int(n.max(initial=0))
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, highest + 1)))])
    inside = np.clip(p, 1e-300, 1 - 1e-16)
    for_success, for_failure = np.log(inside), np.log1p(-inside)
    tail = np.zeros(k.shape)
    start = np.clip(k, 0, None)
    for more in range(int((n - start).max(initial=-1)) + 1):
        j = np.minimum(start + more, n)
        logs = log_factorial[n] - log_factorial[j] - log_factorial[n - j] + j * for_success + (n - j) * for_failure
        tail += np.where(start + more <= n, np.exp(logs), 0.0)
    tail = np.where((p >= 1) & (k <= n), 1.0, np.where((p <= 0) & (k > 0), 0.0, tail))
    result: Floats = np.where(k <= 0, 1.0, np.minimum(tail, 1.0))
    return result
