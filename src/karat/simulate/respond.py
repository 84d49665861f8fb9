"""Answers to the trials of a questionnaire, by participants whose behaviour is known.

Those who judge answer by the model of `spread`, with the strengths of `strengths`, on the scale of the task. A minority
dialect is consistent: its speakers have the opposite effect, and in half of the test items the opposite strength, all
in the same items. The others answer without looking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.judgments.scales import Choice, Continuous, Magnitude, Nominal, Scale
from karat.simulate import strengths
from karat.simulate.behaviours import JUDGES, MINORITY
from karat.simulate.clock import PACE
from karat.simulate.scale_answers import codes, guesses, levels_of, numbers, written
from karat.simulate.spread import Spread
from karat.simulate.workers import logistic
from karat.types import Floats


@dataclass(frozen=True)
class SimulatedPeople:
    """Participants: their behaviour, how they use scales, how their effect deviates, and their pace."""

    behaviours: tuple[str, ...]
    shift: Floats
    stretch: Floats
    effect: Floats
    pace: Floats

    @property
    def judging(self) -> NDArray[np.bool_]:
        """Whose answers depend on what they judge."""
        return np.isin(self.behaviours, JUDGES)

    @property
    def minority(self) -> NDArray[np.bool_]:
        """Who speaks the minority dialect."""
        return np.isin(self.behaviours, [MINORITY])


def draw_people(behaviours: Sequence[str], spread: Spread, random: np.random.Generator) -> SimulatedPeople:
    """Participants with these behaviours.

    >>> people = draw_people(["earnest", "guesser"], Spread(), np.random.default_rng(1))
    >>> people.judging.tolist()
    [True, False]
    """
    count = len(behaviours)
    return SimulatedPeople(
        tuple(behaviours),
        random.normal(0, spread.participant, count),
        np.exp(random.normal(0, spread.stretch, count)),
        random.normal(0, spread.participant_effect, count),
        random.normal(0, PACE, count),
    )


def respond(
    trials: pl.DataFrame,
    person: NDArray[np.int64],
    people: SimulatedPeople,
    scale: Scale,
    sides: Sequence[tuple[Floats, float]] = (),
    *,
    compared: bool = False,
    spread: Spread | None = None,
    seed: int | np.random.Generator = 1,
) -> list[str]:
    """The answer to each trial. `person` numbers the participant of each; `sides` has each contrast's x and effect.

    The frame has the columns item and function and, where there are any, status, expected, question, polarity, left
    and right. `compared` says that a choice is between conditions of one item.

    >>> import karat
    >>> random = np.random.default_rng(1)
    >>> people = draw_people(["earnest"] * 3, Spread(), random)
    >>> trials = pl.DataFrame({"item": ["a"] * 3, "function": ["control"] * 3, "status": ["ungrammatical"] * 3})
    >>> respond(trials, np.arange(3), people, karat.Ordinal(5), seed=random)
    ['1', '1', '1']
    """
    random = np.random.default_rng(seed)
    stated = spread or Spread()
    known = strengths.base(trials, scale)
    drawn = strengths.own(trials, scale, stated.item, compared, random)
    clear = np.any(known != 0, axis=1, keepdims=True) if known.ndim == 2 else known != 0
    latent = known + np.where(clear & isinstance(scale, Choice | Nominal), 0.0, drawn)
    test = (trials["function"] == "test").to_numpy()
    opposed = people.minority[person] & test & (strengths.by_item(trials, random) > 0)
    # Categories have no opposite: the dialect prefers another one instead.
    latent[opposed] = np.roll(latent[opposed], 1, axis=1) if isinstance(scale, Nominal) else -latent[opposed]
    latent = _with_effects(latent, trials, person, people, sides, stated, random)
    answers = _answers(scale, latent, person, people, trials, random)
    return _astray(answers, scale, person, people, random)


def _with_effects(
    latent: Floats, trials: pl.DataFrame, person: NDArray[np.int64], people: SimulatedPeople,
    sides: Sequence[tuple[Floats, float]], spread: Spread, random: np.random.Generator,
) -> Floats:  # fmt: skip
    turned = np.where(people.minority, -1.0, 1.0)
    for x, effect in sides:
        whole = effect * turned[person] + people.effect[person]
        whole = x * (whole + spread.item_effect * strengths.by_item(trials, random))
        if latent.ndim == 2:
            latent[:, 0] += whole
        else:
            latent += whole
    return latent


def _answers(
    scale: Scale, latent: Floats, person: NDArray[np.int64], people: SimulatedPeople, trials: pl.DataFrame,
    random: np.random.Generator,
) -> list[str]:  # fmt: skip
    shift, stretch = people.shift[person], people.stretch[person]
    if isinstance(scale, Nominal):
        latent = latent + random.gumbel(size=latent.shape)
    else:
        latent = latent + logistic(random, latent.shape)
    if isinstance(scale, Magnitude | Continuous):
        return written(numbers(scale, latent, shift, stretch))
    place, levels = codes(scale, latent, shift, stretch), levels_of(scale)
    if "polarity" in trials.columns:
        # A question that is shown the other way round is answered at the other end.
        place = np.where((trials["polarity"].fill_null(1) == -1).to_numpy(), len(levels) - 1 - place, place)
    return [levels[one] for one in place]


def _astray(
    answers: list[str], scale: Scale, person: NDArray[np.int64], people: SimulatedPeople, random: np.random.Generator
) -> list[str]:
    """Answers of those who judge, guesses of the others; straight-liners stay with their first guess."""
    guessed = guesses(scale, len(answers), random)
    favourites = guesses(scale, len(people.behaviours), random)
    return [
        answer if people.judging[who] else favourites[who] if people.behaviours[who] == "straight-liner" else guess
        for answer, guess, who in zip(answers, guessed, person, strict=True)
    ]
