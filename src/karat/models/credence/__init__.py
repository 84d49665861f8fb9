"""Who answered in earnest, by one generative model of answers, sequences and times: see `mixture` for its parts."""

from karat.models.credence.fit import Fitted, fit_credence
from karat.models.credence.mixture import EARNEST, LAPSES, Mixture, Step
from karat.models.credence.trials import Part, Trials, residual_times

__all__ = ["EARNEST", "LAPSES", "Fitted", "Mixture", "Part", "Step", "Trials", "fit_credence", "residual_times"]
