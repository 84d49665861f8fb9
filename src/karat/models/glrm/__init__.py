"""Generalised linear models with crossed random effects: participants x items, workers x tasks.

`fit` takes a formula as R users write it; `fit_mixed` takes matrices. `fit_crossed` and `fit_nominal` are for random
intercepts of two crossed factors, and much faster; `leave_one_out` refits them without each worker or task in turn.
`fit_crossed_in_parts` is `fit_crossed` for answers that lie in parts of workers.

What is not needed for most studies is loaded when it is used.
"""

from typing import TYPE_CHECKING

from karat.models.glrm.fit import Fit, fit_crossed
from karat.models.glrm.formulas.intervals import correlation_intervals, intervals
from karat.models.glrm.formulas.marginal import marginal_means, predict
from karat.models.glrm.formulas.model import Model, fit
from karat.models.glrm.formulas.wald import compare, type_three, type_two
from karat.models.glrm.mixed.fit import adaptive_quadrature, fit_mixed, scale_effects
from karat.models.glrm.mixed.result import MixedFit
from karat.models.glrm.mixed.terms import RandomTerm, random_term
from karat.packages import load_when_used

if TYPE_CHECKING:
    from karat.models.glrm.deletion import Deletions as Deletions
    from karat.models.glrm.deletion import exceedances as exceedances
    from karat.models.glrm.deletion import leave_one_out as leave_one_out
    from karat.models.glrm.deletion import predictive_p as predictive_p
    from karat.models.glrm.nominal import NominalFit as NominalFit
    from karat.models.glrm.nominal import fit_nominal as fit_nominal
    from karat.models.glrm.parts.fit import fit_crossed_in_parts as fit_crossed_in_parts
    from karat.models.glrm.share import Profile as Profile
    from karat.models.glrm.share import Share as Share
    from karat.models.glrm.share import interaction_profile as interaction_profile
    from karat.models.glrm.share import worker_share as worker_share

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

load_when_used(
    __name__,
    {
        "deletion": ("Deletions", "exceedances", "leave_one_out", "predictive_p"),
        "nominal": ("NominalFit", "fit_nominal"),
        "parts.fit": ("fit_crossed_in_parts",),
        "share": ("Profile", "Share", "interaction_profile", "worker_share"),
    },
)
