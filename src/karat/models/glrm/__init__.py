"""Generalised linear models with crossed random effects: participants x items, workers x tasks.

`fit` takes a formula as R users write it; `fit_mixed` takes matrices. `fit_crossed` and `fit_nominal` are for random
intercepts of two crossed factors, and much faster; `leave_one_out` refits them without each worker or task in turn.
`fit_crossed_in_parts` is `fit_crossed` for answers that lie in parts of workers.
"""

from karat.models.glrm.deletion import Deletions, exceedances, leave_one_out, predictive_p
from karat.models.glrm.fit import Fit, fit_crossed
from karat.models.glrm.formulas.intervals import correlation_intervals, intervals
from karat.models.glrm.formulas.marginal import marginal_means, predict
from karat.models.glrm.formulas.model import Model, fit
from karat.models.glrm.formulas.wald import compare, type_three, type_two
from karat.models.glrm.mixed.fit import adaptive_quadrature, fit_mixed, scale_effects
from karat.models.glrm.mixed.result import MixedFit
from karat.models.glrm.mixed.terms import RandomTerm, random_term
from karat.models.glrm.nominal import NominalFit, fit_nominal
from karat.models.glrm.parts.fit import fit_crossed_in_parts
from karat.models.glrm.share import Profile, Share, interaction_profile, worker_share

__all__ = [
    "Deletions",
    "Fit",
    "MixedFit",
    "Model",
    "NominalFit",
    "Profile",
    "RandomTerm",
    "Share",
    "adaptive_quadrature",
    "compare",
    "correlation_intervals",
    "exceedances",
    "fit",
    "fit_crossed",
    "fit_crossed_in_parts",
    "fit_mixed",
    "fit_nominal",
    "interaction_profile",
    "intervals",
    "leave_one_out",
    "marginal_means",
    "predict",
    "predictive_p",
    "random_term",
    "scale_effects",
    "type_three",
    "type_two",
    "worker_share",
]
