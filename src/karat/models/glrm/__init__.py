"""Generalised linear models with crossed random effects: participants x items, workers x tasks.

`fit` takes a formula in R's notation; `fit_mixed` takes matrices. `fit_crossed` and `fit_nominal` are for random
intercepts of two crossed factors, and much faster; `leave_one_out` refits them without each worker or task in turn.
`fit_crossed_in_parts` is `fit_crossed` for answers that are stored in parts, each with all answers of some workers.

The functions and classes of this package are loaded on first use.
"""

from typing import TYPE_CHECKING

from karat.packages import load_when_used

if TYPE_CHECKING:
    from karat.models.glrm.deletion import Deletions as Deletions
    from karat.models.glrm.deletion import exceedances as exceedances
    from karat.models.glrm.deletion import leave_one_out as leave_one_out
    from karat.models.glrm.deletion import predictive_p as predictive_p
    from karat.models.glrm.fit import Fit as Fit
    from karat.models.glrm.fit import fit_crossed as fit_crossed
    from karat.models.glrm.formulas.intervals import correlation_intervals as correlation_intervals
    from karat.models.glrm.formulas.intervals import intervals as intervals
    from karat.models.glrm.formulas.marginal import marginal_means as marginal_means
    from karat.models.glrm.formulas.marginal import predict as predict
    from karat.models.glrm.formulas.model import Model as Model
    from karat.models.glrm.formulas.model import fit as fit
    from karat.models.glrm.formulas.wald import bootstrap as bootstrap
    from karat.models.glrm.formulas.wald import compare as compare
    from karat.models.glrm.formulas.wald import type_three as type_three
    from karat.models.glrm.formulas.wald import type_two as type_two
    from karat.models.glrm.mixed.fit import adaptive_quadrature as adaptive_quadrature
    from karat.models.glrm.mixed.fit import fit_mixed as fit_mixed
    from karat.models.glrm.mixed.fit import scale_effects as scale_effects
    from karat.models.glrm.mixed.result import MixedFit as MixedFit
    from karat.models.glrm.mixed.terms import RandomTerm as RandomTerm
    from karat.models.glrm.mixed.terms import random_term as random_term
    from karat.models.glrm.nominal import NominalFit as NominalFit
    from karat.models.glrm.nominal import fit_nominal as fit_nominal
    from karat.models.glrm.parts.fit import fit_crossed_in_parts as fit_crossed_in_parts
    from karat.models.glrm.share import Profile as Profile
    from karat.models.glrm.share import Share as Share
    from karat.models.glrm.share import interaction_profile as interaction_profile
    from karat.models.glrm.share import worker_share as worker_share

__all__ = load_when_used(__name__)
