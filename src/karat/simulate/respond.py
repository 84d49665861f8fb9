"""Answers to the trials of a questionnaire, by participants with known behaviour.

Participants who judge answer by the model of `scale_answers`, on the scale of the task. A minority dialect is
consistent: its speakers have the opposite effect, and the opposite strength in half of the test items, the same for all
of them. Other participants answer at random.

The strength of a stimulus is the latent value of a trial without the participant and chance, in logits. Control,
attention and other trials with a known status or a right answer are clear cases: about 5 logits to the right side. If
the item table has the intended acceptability (low, mid, high or a point of the scale), the strength leads a typical
participant to this answer. All other strengths are random and individual for each item (in a differential for each item
and adjective pair, in a choice for each of the two stimuli, in a label task for each category).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.errors import ScaleError
from karat.judgments.scales import Choice, Continuous, Magnitude, Nominal, NumberRange, Ordinal, Scale
from karat.simulate.behaviours import JUDGES, MINORITY, PACE
from karat.simulate.scale_answers import (
    USUAL_MODULUS,
    WIDTH,
    Spread,
    codes,
    ends_of,
    guesses,
    levels_of,
    logistic,
    numbers,
    written,
)
from karat.types import Floats


@dataclass(frozen=True)
class SimulatedPeople:
    """Participants: their behaviour, use of scales, deviation from the effect, and pace."""

    behaviours: tuple[str, ...]
    shift: Floats
    stretch: Floats
    effect: Floats
    pace: Floats

    @property
    def judging(self) -> NDArray[np.bool_]:
        """A mask of the participants whose answers depend on the stimuli."""
        return np.isin(self.behaviours, JUDGES)

    @property
    def minority(self) -> NDArray[np.bool_]:
        """A mask of the speakers of the minority dialect."""
        return np.isin(self.behaviours, [MINORITY])


def draw_people(behaviours: Sequence[str], spread: Spread, random: np.random.Generator) -> SimulatedPeople:
    """Participants with these behaviours.

    Parameters
    ----------
    behaviours
        The behaviour of each participant.
    random
        The random generator.

    >>> people = draw_people(["attentive", "guesser"], Spread(), np.random.default_rng(1))
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
    """The answer to each trial. `person` has the number of its participant, `sides` each contrast's x and effect.

    The frame has the columns item and function and, if there are any, status, expected, question, polarity, left and
    right. `compared` marks choices between conditions of one item.

    Parameters
    ----------
    trials
        One row per trial.
    person
        The number of the participant who answers each trial.
    people
        The participants, from `draw_people`.
    scale
        The scale of the answers.
    sides
        For each contrast, the side of every trial and the effect.

    >>> import karat
    >>> random = np.random.default_rng(1)
    >>> people = draw_people(["attentive"] * 3, Spread(), random)
    >>> trials = pl.DataFrame({"item": ["a"] * 3, "function": ["control"] * 3, "status": ["ungrammatical"] * 3})
    >>> respond(trials, np.arange(3), people, karat.Ordinal(5), seed=random)
    ['1', '1', '1']
    """
    random = np.random.default_rng(seed)
    deviations = spread or Spread()
    fixed = known_strength(trials, scale)
    individual = own_strength(trials, scale, deviations.item, compared, random)
    clear = np.any(fixed != 0, axis=1, keepdims=True) if fixed.ndim == 2 else fixed != 0
    latent = fixed + np.where(clear & isinstance(scale, Choice | Nominal), 0.0, individual)
    test = (trials["function"] == "test").to_numpy()
    opposed = people.minority[person] & test & (by_item(trials, random) > 0)
    # Categories have no opposite, so the dialect prefers another one instead.
    latent[opposed] = np.roll(latent[opposed], 1, axis=1) if isinstance(scale, Nominal) else -latent[opposed]
    latent = _with_effects(latent, trials, person, people, sides, deviations, random)
    answers = _answers(scale, latent, person, people, trials, random)
    return _with_guesses(answers, scale, person, people, random)


def _with_effects(
    latent: Floats, trials: pl.DataFrame, person: NDArray[np.int64], people: SimulatedPeople,
    sides: Sequence[tuple[Floats, float]], spread: Spread, random: np.random.Generator,
) -> Floats:  # fmt: skip
    turned = np.where(people.minority, -1.0, 1.0)
    for x, effect in sides:
        whole = effect * turned[person] + people.effect[person]
        whole = x * (whole + spread.item_effect * by_item(trials, random))
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
    return [levels[number] for number in place]


def _with_guesses(
    answers: list[str], scale: Scale, person: NDArray[np.int64], people: SimulatedPeople, random: np.random.Generator
) -> list[str]:
    """Answers of participants who judge, and guesses of the others; straight-liners always give their first guess."""
    guessed = guesses(scale, len(answers), random)
    favourites = guesses(scale, len(people.behaviours), random)
    return [
        answer if people.judging[who] else favourites[who] if people.behaviours[who] == "straight-liner" else guess
        for answer, guess, who in zip(answers, guessed, person, strict=True)
    ]


CLEAR = 5.0
STATUS = {"grammatical": 4.6, "ungrammatical": -5.0, "marked": -0.6}
DEGREES = {"low": -2.5, "mid": 0.0, "high": 2.5}
LABELS = 1.5
"""The standard deviation of the utilities of categories."""


def known_strength(trials: pl.DataFrame, scale: Scale) -> Floats:
    """The strength that follows from right answers, acceptability or status, else 0; a nominal scale has columns."""
    expected = _cells(trials, "expected")
    if isinstance(scale, Nominal):
        members = {text: scale.expected(text) for text in set(expected) if text}
        return np.array([
            [CLEAR * (level in members[text]) for level in scale.levels] if text else [0.0] * len(scale.levels)
            for text in expected
        ])  # fmt: skip
    by_answer = {text: _toward(text, scale) for text in set(expected) if text}
    one_sided = isinstance(scale, Choice)
    status, meant = (
        [None] * trials.height if one_sided else _cells(trials, name) for name in ("status", "acceptability")
    )
    by_degree = {text: intended_strength(text, scale) for text in set(meant) if text}
    return np.array([
        by_degree[degree] if degree and not text and by_degree[degree] is not None
        else STATUS[label] if label in STATUS else by_answer[text] if text else 0.0
        for label, text, degree in zip(status, expected, meant, strict=True)
    ], dtype=np.float64)  # fmt: skip


def as_planned(
    trials: pl.DataFrame, scale: Scale, sides: Sequence[tuple[Floats, float]], stated: bool
) -> tuple[pl.DataFrame, list[tuple[Floats, float]]]:
    """The trials and the contrasts that make the effects of a block.

    If the item table has the acceptability of test items, that makes the effects without contrasts, unless the size of
    an effect is `stated`, which then replaces the column.
    """
    used = [(x, effect) for x, effect in sides if np.any(x)]
    test = trials["function"] == "test"
    meant = {text for text in _cells(trials.filter(test), "acceptability") if text}
    if isinstance(scale, Choice | Nominal) or all(intended_strength(text, scale) is None for text in meant):
        return trials, used
    if not stated:
        return trials, []
    return trials.with_columns(acceptability=pl.when(~test).then(pl.col("acceptability"))), used


def intended_strength(text: str, scale: Scale) -> float | None:
    """The strength of a stimulus with this acceptability: low, mid, high or a point; None for other words.

    >>> from karat.judgments.scales import Ordinal
    >>> [round(intended_strength(text, Ordinal(7)), 1) for text in ("1", "4", "6-7", "high")]
    [-3.8, 0.0, 2.7, 2.5]
    """
    word = text.strip().lower()
    if word in DEGREES:
        return DEGREES[word]
    if not isinstance(scale, Ordinal):
        return None
    try:
        ranks = [scale.levels.index(level) + 0.5 for level in scale.expected(word)]
    except ScaleError:
        return None
    share = sum(ranks) / len(ranks) / len(scale.levels)
    return WIDTH * float(np.log(share / (1 - share)))


def own_strength(
    trials: pl.DataFrame, scale: Scale, deviation: float, compared: bool, random: np.random.Generator
) -> Floats:
    """The random strength of each stimulus, the same in all its trials.

    If conditions of one item are compared, their common strength cancels, and the effect of the item is the rest.
    """
    if isinstance(scale, Choice):
        if compared or "left" not in trials.columns:
            return np.zeros(trials.height)
        strengths = _number_per_name([*_cells(trials, "left"), *_cells(trials, "right")], random)
        return deviation * (strengths[: trials.height] - strengths[trials.height :])
    items = _cells(trials, "item")
    if "question" in trials.columns:
        items = [f"{item}\t{question}" for item, question in zip(items, _cells(trials, "question"), strict=True)]
    if isinstance(scale, Nominal):
        columns = [_number_per_name(items, random) for _ in scale.levels]
        return LABELS * np.column_stack(columns)
    return deviation * _number_per_name(items, random)


def by_item(trials: pl.DataFrame, random: np.random.Generator) -> Floats:
    """A standard normal number for each trial, the same for all trials of an item."""
    return _number_per_name(_cells(trials, "item"), random)


def _number_per_name(names: Sequence[str | None], random: np.random.Generator) -> Floats:
    """A random number for each name, whatever the order of the names."""
    levels, places = np.unique(np.array([name or "" for name in names], dtype=object).astype(str), return_inverse=True)
    return random.standard_normal(len(levels))[places]


def _toward(expected: str, scale: Scale) -> float:
    """A clear strength on the side of the right answers."""
    right = scale.expected(expected)
    if isinstance(right, NumberRange):
        middle = _middle(scale)
        return CLEAR if right.low >= middle else -CLEAR if right.high <= middle else 0.0
    if isinstance(scale, Choice):
        return CLEAR * (("left" in right) - ("right" in right))
    levels = levels_of(scale)
    from_middle = float(np.mean([levels.index(level) for level in right])) - (len(levels) - 1) / 2
    return CLEAR * float(np.sign(from_middle))


def _middle(scale: Scale) -> float:
    """The number that is neither high nor low: the modulus, or the middle of a line."""
    if isinstance(scale, Continuous):
        return sum(ends_of(scale)) / 2
    return (scale.modulus if isinstance(scale, Magnitude) else None) or USUAL_MODULUS


def _cells(trials: pl.DataFrame, column: str) -> list[str | None]:
    if column not in trials.columns:
        return [None] * trials.height
    cells: list[str | None] = trials[column].cast(pl.String).to_list()
    return cells
