"""The test of a contrast with participants and items as random: mean squares of crossed designs.

With groups of participants g and of items h as in `layout`, and u_i = sum_h w[g, h] (mean answer of participant i to
items of group h), v_j = sum_g w[g, h] (mean answer to item j of participants of group g), the estimate is
sum_g mean(u_i). Its variance is estimated by

    V = V1 + V2 - V3,   V1 = s^2(u) sum_g 1/n_g,   V2 = s^2(v) sum_h 1/m_h,   V3 = s^2(residual) sum_gh w^2 / (n_g m_h)

where s^2(u) and s^2(v) are pooled within groups, so that what lists and item groups have in common falls out, and the
residual is what is left in each cell of groups after participants and items. In complete designs the three have exactly
the expectations that make V unbiased; the ratio is the quasi-F of Clark (1973), MS / (MS_pa + MS_ia - MS_pia). A part
that would be negative is set to zero, as a mixed model does. Degrees of freedom are Satterthwaite's,

    df = V^2 / (V1^2 / f1 + V2^2 / f2 + V3^2 / f3).

For planning: it takes a fraction of a millisecond where the mixed model takes a tenth of a second, and both agree
closely on complete designs.
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtr

from karat.simulate.layout import SimulationLayout
from karat.types import Floats, Ints

Tested = tuple[float, float, float]
"""Estimate, standard error and p."""
UNTESTED: Tested = (np.nan, np.nan, np.nan)


def by_mean_squares(answers: Floats, layout: SimulationLayout, people: Ints, things: Ints) -> Tested:
    """The contrast in answers of participants x items, given the group of each; NaN where it cannot be tested.

    >>> from karat.judgments.scales import Ordinal
    >>> layout = SimulationLayout(np.array([[0.5, -0.5], [-0.5, 0.5]]), Ordinal(5))
    >>> people, things = np.arange(8) % 2, np.arange(6) % 2
    >>> answers = 4.0 * layout.sides[np.ix_(people, things)] + np.random.default_rng(1).normal(0, 1, (8, 6))
    >>> [round(float(number), 2) for number in by_mean_squares(answers, layout, people, things)]
    [3.99, 0.26, 0.0]
    """
    weights = layout.weights
    n, m = (np.bincount(codes, minlength=size) for codes, size in zip((people, things), weights.shape, strict=True))
    used = weights != 0
    if np.any(n[used.any(axis=1)] == 0) or np.any(m[used.any(axis=0)] == 0):
        return UNTESTED
    # What is not shown has weight 0; as 0 and not as NaN it stays out of every sum.
    shown = np.where(used[np.ix_(people, things)], answers, 0.0)
    first, second = _groups(shown, things, m), _groups(shown.T, people, n)
    u = np.sum(weights[people] * first, axis=1)
    v = np.sum(weights.T[things] * second, axis=1)
    left = shown - first[:, things] - second.T[people] + _groups(first.T, people, n).T[np.ix_(people, things)]
    parts = [
        _pooled(u, people, used.any(axis=1), n),
        _pooled(v, things, used.any(axis=0), m),
        _residual(left, weights, n, m),
    ]
    estimate = float(sum(u[people == g].mean() for g in np.flatnonzero(used.any(axis=1))))
    return _tested(estimate, parts)


def _groups(answers: Floats, codes: Ints, sizes: Ints) -> Floats:
    """The mean of each row over the columns of each group."""
    member = codes[:, None] == np.arange(len(sizes))
    means: Floats = answers @ member.astype(float) / np.maximum(sizes, 1)
    return means


def _pooled(values: Floats, codes: Ints, used: np.ndarray, sizes: Ints) -> tuple[float, float]:
    """The variance within groups, times the sum of 1 / size, and its degrees of freedom."""
    kept = used[codes]
    values, codes = values[kept], codes[kept]
    sums = np.bincount(codes, values, minlength=len(sizes))
    deviations = values - sums[codes] / sizes[codes]
    freedom = float(len(values) - used.sum())
    variance = float(deviations @ deviations) / freedom if freedom else np.nan
    return variance * float((1 / sizes[used]).sum()), freedom


def _residual(left: Floats, weights: Floats, n: Ints, m: Ints) -> tuple[float, float]:
    """The variance of what is left in each cell of groups, in units of the estimate's variance."""
    used = weights != 0
    freedom = float(np.outer(n - 1, m - 1)[used].sum())
    variance = float(np.sum(left**2)) / freedom if freedom else np.nan
    return variance * float(np.sum(weights[used] ** 2 / np.outer(n, m)[used])), freedom


def _tested(estimate: float, parts: list[tuple[float, float]]) -> Tested:
    (v1, f1), (v2, f2), (v3, f3) = parts
    if not np.isfinite(v1 + v2 + v3):
        return UNTESTED
    if v1 <= v3 or v2 <= v3:
        # No sign of an effect that differs between participants, or items, or either: that part is left out.
        variance, freedom = max([(v1, f1), (v2, f2), (v3, f3)])
    else:
        variance = v1 + v2 - v3
        freedom = variance**2 / (v1**2 / f1 + v2**2 / f2 + v3**2 / f3)
    if variance <= 0:
        return UNTESTED if estimate == 0 else (estimate, 0.0, 0.0)
    error = float(np.sqrt(variance))
    return estimate, error, float(2 * stdtr(freedom, -abs(estimate) / error))
