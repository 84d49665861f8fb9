"""Who answered attentively, by one generative model of answers, sequences and times: see `mixture` for its parts."""

from karat.models.credence.fit import Fitted, fit_credence
from karat.models.credence.mixture import EARNEST, LAPSES, Mixture, MixtureStep
from karat.models.credence.trials import CredenceTrials, ScaleTrials, beyond_chance, closeness, residual_times

__all__ = [
    "EARNEST",
    "LAPSES",
    "CredenceTrials",
    "Fitted",
    "Mixture",
    "MixtureStep",
    "ScaleTrials",
    "beyond_chance",
    "closeness",
    "fit_credence",
    "residual_times",
]
