"""Response times: log seconds less what is usual of the stimulus, by a pace of the participant.

    log seconds = usual(stimulus) + pace + noise,      noise ~ Student's t, so that a pause is a pause and no proof

In earnest the pace is N(0, tau^2), learned. Those who do not look are as fast as before, hurried or rushing: from the
trial of the change on they have a pace N(m, s^2) of that regime. Paces are summed over on a grid; sums from the first
and from the last trial give every change at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from karat.models.credence.earnest import log_sum
from karat.types import Floats

DEGREES = 4.0
GRID = np.linspace(-3.0, 3.0, 15)
LOG_WEIGHTS: Floats = -(GRID**2) / 2 - np.log(np.exp(-(GRID**2) / 2).sum())
PRIOR_PEOPLE = 4.0


@dataclass(frozen=True)
class Regime:
    """A population of paces, and the scatter of the trials of one participant."""

    mean: float
    deviation: float
    scatter: float

    def log_density(self, residual: Floats) -> Floats:
        """Of each time (participants x trials) at each place of the grid; zero where there is no time."""
        places = ((self.mean + self.deviation * GRID) / self.scatter).astype(np.float32)
        ratio = (residual / self.scatter).astype(np.float32)[..., None] - places
        constant = gammaln((DEGREES + 1) / 2) - gammaln(DEGREES / 2) - np.log(np.pi * DEGREES) / 2
        found = constant - np.log(self.scatter) - (DEGREES + 1) / 2 * np.log1p(ratio**2 / DEGREES)
        density: Floats = np.where(np.isfinite(residual)[..., None], found, 0.0)
        return density

    def improved(self, usual: Regime, residual: Floats, posterior: Floats, weight: Floats, centred: bool) -> Regime:
        """The regime learned anew from who is in it when (participants x trials) and the posterior of their paces."""
        people = weight.max(axis=1, initial=0.0)
        steps = posterior @ GRID
        pace = self.mean + self.deviation * steps
        spread = self.deviation**2 * np.maximum(posterior @ GRID**2 - steps**2, 0.0)
        number = float(people.sum()) + PRIOR_PEOPLE
        mean = 0.0 if centred else float(people @ pace + PRIOR_PEOPLE * usual.mean) / number
        squares = float(people @ ((pace - mean) ** 2 + spread)) + PRIOR_PEOPLE * usual.deviation**2
        known = np.isfinite(residual)
        away = np.where(known, residual, 0.0) - pace[:, None]
        share = weight * known * (DEGREES + 1) / (DEGREES + (away / self.scatter) ** 2)
        counted = float((weight * known).sum()) + PRIOR_PEOPLE
        scatter = np.sqrt((float((share * away**2).sum()) + PRIOR_PEOPLE * usual.scatter**2) / counted)
        return Regime(mean, float(np.sqrt(squares / number)), float(max(scatter, 0.05)))


EARNEST = Regime(0.0, 0.35, 0.35)
HURRIED = Regime(-0.6, 0.5, 0.4)
RUSHING = Regime(-2.2, 0.5, 0.4)
"""What is supposed before there are data: those who hurry take half of the usual time, those who rush a tenth."""


def until(density: Floats) -> tuple[Floats, Floats]:
    """The log probability of the times before each trial, one more than trials, and the paces given all."""
    summed = np.zeros((density.shape[0], density.shape[1] + 1, density.shape[2]), dtype=np.float32)
    np.cumsum(density, axis=1, out=summed[:, 1:])
    return log_sum(summed + LOG_WEIGHTS.astype(np.float32)).astype(np.float64), _posterior(summed[:, -1])


def since(density: Floats) -> tuple[Floats, Floats]:
    """The log probability of the times from each trial on, and the posterior of paces given all."""
    summed = np.zeros((density.shape[0], density.shape[1] + 1, density.shape[2]), dtype=np.float32)
    summed[:, :-1] = np.cumsum(density[:, ::-1], axis=1)[:, ::-1]
    return log_sum(summed + LOG_WEIGHTS.astype(np.float32)).astype(np.float64), _posterior(summed[:, 0])


def _posterior(summed: Floats) -> Floats:
    weighted = summed + LOG_WEIGHTS
    weighted = np.exp(weighted - weighted.max(axis=-1, keepdims=True))
    posterior: Floats = weighted / weighted.sum(axis=-1, keepdims=True)
    return posterior
