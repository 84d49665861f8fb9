"""The test of a contrast by a mixed model: normal errors, participants and items with intercepts and effects.

    y = b0 + x b1 + P_i + I_j + x (b_i + d_j) + e

by REML, with Satterthwaite's degrees of freedom. An effect that does not vary within a factor (a participant sees one
level only) has no deviation there; a choice that is itself the contrast has an intercept only.
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtr

from karat.models.glrm.formulas.model import Satterthwaite
from karat.models.glrm.mixed.fit import fit_mixed
from karat.models.glrm.mixed.result import MixedFit
from karat.models.glrm.mixed.terms import RandomTerm, random_term
from karat.simulate.layout import SimulationLayout
from karat.simulate.mean_squares import UNTESTED, Tested
from karat.types import Floats, Ints

INTERCEPT, EFFECT = "(Intercept)", "contrast"


def by_mixed_model(answers: Floats, layout: SimulationLayout, people: Ints, things: Ints) -> Tested:
    """The contrast in answers of participants x items, given the group of each.

    >>> from karat.judgments.scales import Ordinal
    >>> layout = SimulationLayout(np.array([[0.5, -0.5], [-0.5, 0.5]]), Ordinal(5))
    >>> people, things = np.arange(12) % 2, np.arange(8) % 2
    >>> answers = 4.0 * layout.sides[np.ix_(people, things)] + np.random.default_rng(1).normal(0, 1, (12, 8))
    >>> estimate, error, p = by_mixed_model(answers, layout, people, things)
    >>> 3.5 < estimate < 4.5, 0.1 < error < 0.5, p < 0.001
    (True, True, True)
    """
    x = layout.sides[np.ix_(people, things)]
    rows, columns = np.nonzero(x)
    if len(np.unique(rows)) < 2 or len(np.unique(columns)) < 2:
        return UNTESTED
    fit = fit_normal(answers[rows, columns], x[rows, columns], rows, columns, layout.compared)
    contrast = np.zeros((1, len(fit.coefficients)))
    contrast[0, -1] = 1
    estimate, error = float(fit.coefficients[-1]), float(fit.standard_errors[-1])
    freedom = float(Satterthwaite(fit).degrees(contrast)[0])
    if not error > 0 or not freedom > 0:
        return UNTESTED
    return estimate, error, float(2 * stdtr(freedom, -abs(estimate) / error))


def fit_normal(y: Floats, x: Floats, people: Ints, things: Ints, compared: bool) -> MixedFit:
    """The fitted model of answers, their sides, and who judged what."""
    ones = np.ones(len(y))
    if compared:
        terms = [random_term("participant", people), random_term("item", things)]
        return fit_mixed(y, ones[:, None], [INTERCEPT], terms, family="gaussian", reml=True)
    terms = [_term("participant", people, x), _term("item", things, x)]
    return fit_mixed(y, np.column_stack([ones, x]), [INTERCEPT, EFFECT], terms, family="gaussian", reml=True)


def _term(group: str, codes: Ints, x: Floats) -> RandomTerm:
    """Intercepts and, where somebody saw both sides, effects."""
    _, places = np.unique(codes, return_inverse=True)
    sums, sizes = np.bincount(places, x), np.bincount(places)
    varies = np.any(np.abs(np.abs(sums / sizes) - np.abs(x).max()) > 1e-9)
    if not varies:
        return random_term(group, codes)
    return random_term(group, codes, np.column_stack([np.ones(len(x)), x]), (INTERCEPT, EFFECT), "diagonal")
