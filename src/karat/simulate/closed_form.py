"""Power in closed form, for answers with normal errors in complete designs.

The mean squares of `mean_squares` have the expectations

    E V1 = sum_g (P^2 (sum_h w)^2 + b^2 (sum_h w x)^2 + e^2 sum_h w^2 / m_h) / n_g
    E V2 = sum_h (I^2 (sum_g w)^2 + d^2 (sum_g w x)^2 + e^2 sum_g w^2 / n_g) / m_h
    E V3 = sum_gh e^2 w^2 / (n_g m_h)

with the standard deviations P, I of participants and items, b, d of their effects and e of residuals. The test is then
close to a t test with the noncentrality effect / sqrt(E V) and Satterthwaite's degrees of freedom at these
expectations, as in Westfall, Kenny and Judd (2014). It is what simulated power is checked against.
"""

from __future__ import annotations

import numpy as np
from scipy.special import nctdtr, stdtrit

from karat.simulate.draw import Normal
from karat.simulate.layout import SimulationLayout


def closed_power(
    layout: SimulationLayout, model: Normal, participants: int, items: int, effect: float, alpha: float = 0.05
) -> float:
    """The power of the two-sided test of a contrast.

    >>> from karat.judgments.scales import Ordinal
    >>> layout = SimulationLayout(np.array([[0.5, -0.5], [-0.5, 0.5]]), Ordinal(5))
    >>> round(closed_power(layout, Normal(0.5, 0.5, 0.4, 0.3, 1.0), 24, 16, 0.4), 3)
    0.703
    """
    variance, freedom = expected_variance(layout, model, participants, items)
    noncentrality = abs(effect) / np.sqrt(variance)
    cut = float(stdtrit(freedom, 1 - alpha / 2))
    return float(1 - nctdtr(freedom, noncentrality, cut) + nctdtr(freedom, noncentrality, -cut))


def expected_variance(layout: SimulationLayout, model: Normal, participants: int, items: int) -> tuple[float, float]:
    """The variance of the estimate, and its degrees of freedom."""
    w, x = layout.weights, layout.sides
    n = np.bincount(layout.participant_groups(participants), minlength=len(w)).astype(float)[:, None]
    m = np.bincount(layout.item_groups(items), minlength=w.shape[1]).astype(float)[None, :]
    residual = model.residual**2 / layout.repeats
    common = 0.0 if layout.compared else 1.0
    own = [common * spread**2 for spread in (model.participant, model.item)]
    third = float(np.sum(residual * w**2 / (n * m)))
    first = third + float(np.sum(
        (own[0] * w.sum(axis=1) ** 2 + model.participant_effect**2 * (w * x).sum(axis=1) ** 2) / n[:, 0]
    ))  # fmt: skip
    second = third + float(np.sum(
        (own[1] * w.sum(axis=0) ** 2 + model.item_effect**2 * (w * x).sum(axis=0) ** 2) / m[0]
    ))  # fmt: skip
    used = w != 0
    freedoms = (
        float((n[used.any(axis=1)] - 1).sum()),
        float((m[:, used.any(axis=0)] - 1).sum()),
        float((((n - 1) * (m - 1))[used]).sum()),
    )
    variance = first + second - third
    spreads = sum(part**2 / freedom for part, freedom in zip((first, second, third), freedoms, strict=True))
    return variance, variance**2 / spreads
