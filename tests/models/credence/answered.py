"""Small crowds as matrices, for the tests of the credence model."""

from __future__ import annotations

import numpy as np

from karat.models.credence import CredenceTrials, ScaleTrials
from karat.types import Floats


def crowd(
    people: int = 16, items: int = 24, levels: int = 3, guessing: int = 1, seed: int = 1, timed: bool = True,
    strength: Floats | None = None,
) -> CredenceTrials:  # fmt: skip
    """People who mostly agree about items, the last ones guessing; `strength` may differ between people."""
    random = np.random.default_rng(seed)
    item = np.stack([random.permutation(items) for _ in range(people)])
    usual = np.tile(np.linspace(-2.5, 2.5, items), (people, 1)) if strength is None else strength
    latent = np.take_along_axis(usual, item, axis=1) + random.logistic(0, 0.7, item.shape)
    answer = np.searchsorted(np.linspace(-1, 1, levels - 1) if levels > 2 else [0.0], latent)
    if guessing:
        answer[-guessing:] = random.integers(0, levels, (guessing, items))
    residual = random.normal(0, 0.3, (people, 1)) + random.normal(0, 0.3, item.shape) if timed else None
    return CredenceTrials((ScaleTrials(item, answer, answer, items, levels),), residual)


def batches(number: int = 20, people: int = 10, items: int = 30, levels: int = 4, guessing: int = 1) -> CredenceTrials:
    """Labels of a crowd in batches without common items; the last people of each batch guess."""
    random = np.random.default_rng(1)
    owner = np.repeat(np.arange(number), people)
    item = owner[:, None] * items + np.stack([random.permutation(items) for _ in owner])
    truth = random.integers(0, levels, number * items)
    right = random.random(item.shape) < random.beta(9, 2, (len(owner), 1))
    answer = np.where(right, truth[item], random.integers(0, levels, item.shape))
    guesses = np.tile(np.arange(people) >= people - guessing, number)
    answer[guesses] = random.integers(0, levels, (guesses.sum(), items))
    return CredenceTrials((ScaleTrials(item, answer, answer, number * items, levels, ordered=False),))
