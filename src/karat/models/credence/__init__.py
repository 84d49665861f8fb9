"""Who answered in earnest, by one generative model of answers, sequences and times: see `mixture` for its parts."""

from karat.models.credence.fit import Fitted, fit_credence
from karat.models.credence.mixture import EARNEST, LAPSES, Mixture, MixtureStep
from karat.models.credence.trials import CredenceTrials, ScaleTrials, residual_times

__all__ = [
    "EARNEST",
    "LAPSES",
    "CredenceTrials",
    "Fitted",
    "Mixture",
    "MixtureStep",
    "ScaleTrials",
    "fit_credence",
    "residual_times",
]
