"""Earnest answers without an order: categories as labels.

    P(category k of item i) proportional to exp(d a_ik),      a_ik ~ N(0, sigma_a^2), sum_k a_ik = 0,

with the discrimination d of the participant, log d ~ N(0, tau^2), on a grid, and lapses as for ordered levels. What
others say of an item is known with a variance only: the logits are divided by sqrt(1 + pi d^2 v / 8).
"""

from __future__ import annotations

import numpy as np

from karat.models.credence.ordered import DISCRIMINATION, FLATTEN, LAPSE, MOST, PRIOR_PEOPLE
from karat.types import Floats, Ints


class LabelPopulation:
    """The population of earnest participants, as learned so far."""

    def __init__(self, levels: int) -> None:
        self.levels = levels
        self.deviation = DISCRIMINATION
        self.strength_sd = 2.0
        self._place()

    def _place(self) -> None:
        grid = np.linspace(-2.7, 2.7, 9)
        weight = np.exp(-(grid**2) / 2)
        self.log_weights = np.log(weight / weight.sum())
        self.discrimination = np.exp(self.deviation * grid)

    @property
    def places(self) -> int:
        return len(self.log_weights)

    @property
    def parameters(self) -> Floats:
        """The discrimination of each place."""
        return self.discrimination[:, None]

    def no_strengths(self, items: int) -> Floats:
        return np.zeros((items, self.levels))

    def own(self, strength: Floats, level: Ints, place: Floats) -> tuple[Floats, Floats]:
        """The slope of each answer in the strengths of its item, and the information it gave, by category."""
        logits = place * strength
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        chosen = np.zeros_like(shares)
        chosen[np.arange(len(level)), level] = 1.0
        return place * (chosen - shares), place**2 * shares * (1 - shares)

    def _shares(self, strength: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """Probabilities without lapses, answers x places x categories, and the factor of the logits."""
        factor = self.discrimination / np.sqrt(1 + FLATTEN * np.multiply.outer(variance, self.discrimination**2))
        logits = factor[..., None] * strength[:, None, :]
        shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return shares / shares.sum(axis=-1, keepdims=True), factor

    def evaluate(self, strength: Floats, variance: Floats, level: Ints) -> tuple[Floats, Floats]:
        """The probability of each answer at each place, and its slope in the strength of that category over it."""
        shares, factor = self._shares(strength, variance)
        given = np.take_along_axis(shares, level[:, None, None], axis=2)[..., 0]
        probability = (1 - LAPSE) * given + LAPSE / self.levels
        return probability, (1 - LAPSE) * factor * given * (1 - given) / probability

    def improve(
        self, strengths: Floats, prior: tuple[Floats, Floats], weights: Floats, thresholds: bool
    ) -> tuple[Floats, Floats]:
        """Strengths from the expected answers (items x categories x places), and the information about each."""
        centre, precision = prior
        total = weights.sum(axis=1)
        for _ in range(3):
            shares, factor = self._shares(strengths, np.zeros(len(strengths)))
            gradient = np.einsum("ikg,ig->ik", weights, factor) - np.einsum("ig,igk->ik", total * factor, shares)
            information = np.einsum("ig,igk->ik", total * factor**2, shares * (1 - shares))
            step = (gradient + precision[:, None] * (centre - strengths)) / (information + precision[:, None])
            strengths = strengths + np.clip(step, -1.5, 1.5)
            strengths -= strengths.mean(axis=1, keepdims=True)
        return strengths, information + precision[:, None]

    def improve_population(self, places: Floats, strengths: Floats, information: Floats) -> float:
        """The deviations, and the factor that goes into strengths, as for ordered levels."""
        people, values = float(places.sum()) + PRIOR_PEOPLE, np.log(self.discrimination)
        mean = float(places @ values) / people
        squares = float(places @ (values - mean) ** 2) + PRIOR_PEOPLE * DISCRIMINATION**2
        self.deviation = min(float(np.sqrt(squares / people)), MOST["discrimination"])
        factor = float(np.exp(mean))
        squares = float(np.sum(factor**2 * (strengths**2 + 1 / information))) + 4.0
        self.strength_sd = float(np.sqrt(squares / (strengths.size + 1)))
        self._place()
        return factor

    def known_strengths(self, key: Floats) -> Floats:
        """Two logits for the right category; NaN where none is known."""
        found = np.full((len(key), self.levels), np.nan)
        known = np.flatnonzero(np.isfinite(key))
        found[known] = -2.0 / (self.levels - 1)
        found[known, key[known].astype(np.int64)] = 2.0
        return found
