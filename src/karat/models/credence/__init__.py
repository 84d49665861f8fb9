"""The probability that each participant answered attentively, by one generative model of answers, sequences and times.

The module `mixture` describes the components of the model.
"""

from karat.models.credence.fit import Comparison, Fitted, compare, fit_credence
from karat.models.credence.mixture import ATTENTIVE, LAPSES, Mixture, MixtureStep
from karat.models.credence.trials import (
    CredenceTrials,
    ScaleTrials,
    beyond_chance,
    closeness,
    concentration,
    dealt_anew,
    follows_closest,
    hardly_agree,
    regularity,
    residual_times,
    with_company,
    with_one_another,
)

__all__ = [
    "ATTENTIVE", "LAPSES", "Comparison", "CredenceTrials", "Fitted", "Mixture", "MixtureStep", "ScaleTrials",
    "beyond_chance", "closeness", "compare", "concentration", "dealt_anew", "fit_credence",
    "follows_closest", "hardly_agree", "regularity", "residual_times", "with_company", "with_one_another",
]  # fmt: skip
