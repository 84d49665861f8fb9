"""How large a difference between conditions is, apart from whether it is there.

For measured answers, the difference of means is divided by the standard deviation of an answer within a condition,

    d = difference / sqrt(variance of participants + of items + of their slopes + of the residual)

(Westfall, Kenny and Judd 2014, who code two conditions -1 and 1). Here the variance of the random effects is
z' Sigma z, averaged over the answers, which is the same and does not depend on the coding. For yes-or-no and ordered
answers the unit is the standard deviation of the latent residual, pi / sqrt(3) for the logistic distribution (Chinn
2000), and the odds ratio exp(difference) is given too: how many times larger the odds of a higher answer are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karat.models.glrm import Model
from karat.types import Floats

LATENT = float(np.pi / np.sqrt(3))


class EffectSizes(NamedTuple):
    """Standardised differences with their intervals; odds ratios where answers are yes-or-no or ordered."""

    d: Floats
    d_lower: Floats
    d_upper: Floats
    odds_ratio: Floats | None
    odds_lower: Floats | None
    odds_upper: Floats | None


def effect_sizes(model: Model, estimate: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> EffectSizes:
    """Effect sizes of differences on the scale of the link. The unit is taken as known, not as estimated.

    >>> from karat.models.glrm import fit
    >>> random = np.random.default_rng(3)
    >>> who, what = np.divmod(np.arange(600), 20)
    >>> data = {"yes": random.random(600) < 0.5, "a": who % 2, "who": who, "what": what}
    >>> sizes = effect_sizes(fit("yes ~ a + (1 | who) + (1 | what)", data), [1.0], [0.0], [2.0])
    >>> sizes.d.round(2).tolist(), sizes.odds_ratio.round(2).tolist()
    ([0.55], [2.72])
    """
    values = [np.asarray(one, dtype=np.float64) for one in (estimate, lower, upper)]
    unit = standard_deviation(model)
    if model.family == "gaussian":
        return EffectSizes(values[0] / unit, values[1] / unit, values[2] / unit, None, None, None)
    odds = [np.exp(one) for one in values]
    return EffectSizes(values[0] / unit, values[1] / unit, values[2] / unit, odds[0], odds[1], odds[2])


def standard_deviation(model: Model) -> float:
    """The unit of d: of an answer within a condition for measured answers, else of the latent residual.

    >>> from karat.models.glrm import fit
    >>> random = np.random.default_rng(3)
    >>> who, what = np.divmod(np.arange(6000), 60)
    >>> time = random.normal(0, 3, 100)[who] + random.normal(0, 2, 60)[what] + random.normal(0, 1, 6000)
    >>> model = fit("time ~ 1 + (1 | who) + (1 | what)", {"time": time, "who": who, "what": what}, "gaussian")
    >>> parts = model.fit.covariances["who"].item(), model.fit.covariances["what"].item(), model.fit.residual_variance
    >>> bool(np.isclose(standard_deviation(model), np.sqrt(sum(parts))))
    True
    """
    if model.family != "gaussian":
        return LATENT
    variance = model.fit.residual_variance
    place = dict.fromkeys(model.fit.covariances, 0)
    for term in model.fit.terms:
        # The terms of a group stand one after the other in its covariance.
        first = place[term.group]
        place[term.group] = first + len(term.names)
        own = model.fit.covariances[term.group][first : place[term.group], first : place[term.group]]
        variance += float(np.einsum("ni,ij,nj->n", term.columns, own, term.columns).mean())
    return float(np.sqrt(variance))
