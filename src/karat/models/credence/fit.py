"""Fit the mixture of behaviours: by turns judge everybody and learn from those who seem to be in earnest.

With many participants the turns are made with some of them, drawn at random; more with everybody follow, until hardly
anybody's probability changes. In a large crowd of which each judges a few of very many stimuli, those who are drawn
would have next to no stimulus in common. All turns are then made with everybody, and no second group of speakers is
looked for, which could not be told from chance there.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from karat.models.credence.mixture import EARNEST, Mixture, MixtureStep
from karat.models.credence.speakers import directions, is_worth_it, minority, with_second_group
from karat.models.credence.trials import CredenceTrials, first_weights
from karat.types import Floats, Progress

ROUNDS, FIRST_ROUNDS, MORE_ROUNDS, FEWEST_OF_ALL = 15, 5, 7, 2
ENOUGH = 40_000
"""With more answers than these, most turns are made with some of the participants."""
SHARED = 10
"""So many of those who are drawn must have judged a stimulus, half of the stimuli at least."""
CHANGED, STILL = 0.05, 0.001
"""Where fewer than this share of participants have a probability that changed by this much, learning is over."""


@dataclass(frozen=True)
class Fitted:
    """The learned mixture and the last look at everybody."""

    mixture: Mixture
    step: MixtureStep
    sparse: bool = False
    """Whether too few judged the same stimuli for a second group of speakers to be looked for."""

    @property
    def log_odds(self) -> Floats:
        """Of being in earnest throughout, against everything else."""
        return self.mixture.log_odds(self.step.likelihood)


def fit_credence(trials: CredenceTrials, seed: int = 1, progress: Progress | None = None) -> Fitted:
    """Learn from all participants who was in earnest, and judge each of them by the others.

    >>> from karat.models.credence.trials import ScaleTrials
    >>> random = np.random.default_rng(1)
    >>> item = random.permuted(np.tile(np.arange(30), (20, 1)), axis=1)
    >>> answer = (random.random((20, 30)) < np.where(item < 15, 0.9, 0.1)).astype(np.int64)
    >>> answer[0] = random.integers(0, 2, 30)
    >>> found = fit_credence(CredenceTrials((ScaleTrials(item, answer, answer, 30, 2),)))
    >>> int(found.log_odds.argmin()), bool(found.log_odds[1:].min() > 0)
    (0, True)
    """
    told = progress or (lambda done, of: None)
    weight = first_weights(trials)
    people, count = trials.shape
    some = np.arange(people)
    if people * count > ENOUGH:
        some = np.sort(np.random.default_rng(seed).permutation(people)[: max(100, ENOUGH // count)])
    total = ROUNDS + MORE_ROUNDS + ROUNDS
    sparse = len(some) < people and _answers_a_stimulus(trials) * len(some) / people < SHARED
    learned = None if sparse else _learned(trials.of(some), weight[some], seed, lambda done: told(done, total))
    if learned is not None and len(some) == people:
        mixture = learned
    else:
        mixture = Mixture(trials, weight)
        if learned is not None:
            mixture.adopt(learned)
        _until_still(mixture, lambda done: told(ROUNDS + MORE_ROUNDS + done, total))
    step = mixture.step(learn=False)
    told(total, total)
    return Fitted(mixture, step, sparse)


def _answers_a_stimulus(trials: CredenceTrials) -> float:
    """How many answers half of the stimuli have at least."""
    return float(np.median(np.concatenate([np.bincount(part.item[part.there]) for part in trials.parts])))


def _until_still(mixture: Mixture, told: Callable[[int], object]) -> None:
    """Turns with everybody, until hardly anybody's probability of being in earnest changes."""
    before = np.full(mixture.people, np.nan)
    for done in range(ROUNDS):
        now = mixture.step().posterior[:, EARNEST]
        told(done)
        if done >= FEWEST_OF_ALL - 1 and float((np.abs(now - before) > CHANGED).mean()) < STILL:
            return
        before = now


def _learned(trials: CredenceTrials, weight: Floats, seed: int, told: Callable[[int], object]) -> Mixture:
    mixture = Mixture(trials, weight)
    step = mixture.step()
    for done in range(1, ROUNDS):
        step = mixture.step()
        told(done)
    tried: list[tuple[float, int, Mixture]] = []
    for direction in directions(mixture, seed):
        wider = deepcopy(mixture)
        with_second_group(wider, minority(direction))
        for _ in range(FIRST_ROUNDS):
            after = wider.step()
        tried.append((float(after.evidence.sum()), len(tried), wider))
    if not tried:
        return mixture
    *_, wider = max(tried)
    for done in range(MORE_ROUNDS):
        after = wider.step()
        told(ROUNDS + done)
    return wider if is_worth_it(wider, step, after) else mixture
