"""Two families of crowds that owe nothing to the model of credence or to `karat.simulate`.

Few answers: 90 participants label 30 of 900 stimuli each, so that a stimulus has three answers. Attentive participants
are right with a probability of their own; spammers guess, or nearly always give one label. There is no order.

Graded: 100 participants rate 60 stimuli on five points, all of them under test, with response times. The probability of
an answer above a threshold is logistic in a (location - threshold), where everybody has thresholds of their own. One in
ten has a low discrimination a, and eight in a hundred share a grammar of their own, in which locations are others. Both
are attentive. Times are lognormal by participant, stimulus and trial. Half of the careless take their time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import expit

from karat.judgments import Judgments
from karat.judgments.scales import Nominal, Ordinal

from .crowds import CREDIBLE, GUESSING, PATTERN, PRIMARY
from .scenes import Ints, Scene, generator

LOW, OWN = "low discrimination", "own grammar"
LABELS = ("a", "b", "c")


@dataclass(frozen=True)
class Family:
    """A scenario: few answers to each stimulus, or graded ratings."""

    graded: bool

    @property
    def name(self) -> str:
        """What the tables call it."""
        return "graded ratings, 100 x 60" if self.graded else "3 answers per item, 90 x 30"


def families() -> list[Family]:
    """Both."""
    return [Family(False), Family(True)]


def draw_family(scenario: Family, seed: int) -> Scene:
    """One crowd of the family."""
    random = generator(scenario.name, seed)
    return _graded(random) if scenario.graded else _few_answers(random)


def _few_answers(random: np.random.Generator) -> Scene:
    people, items, own = 90, 900, 30
    truth = random.choice(3, items, p=[0.5, 0.3, 0.2])
    # Every stimulus is dealt three times; a participant may rarely get one twice.
    deck = np.concatenate([random.permutation(items) for _ in range(3)]).reshape(people, own)
    kinds = np.full(people, CREDIBLE, dtype=object)
    kinds[:7], kinds[7:12] = GUESSING, PRIMARY
    right = random.beta(8, 2, people)
    answers = np.empty(deck.shape, dtype=np.int64)
    for person in range(people):
        if kinds[person] == GUESSING:
            answers[person] = random.integers(0, 3, own)
        elif kinds[person] == PRIMARY:
            answers[person] = np.where(random.random(own) < 0.9, random.integers(3), random.integers(0, 3, own))
        else:
            wrong = (truth[deck[person]] + random.integers(1, 3, own)) % 3
            answers[person] = np.where(random.random(own) < right[person], truth[deck[person]], wrong)
    table = _table(deck, [[LABELS[level] for level in row] for row in answers])
    return Scene(Judgments(table, Nominal(LABELS)), kinds.astype(str))


def _graded(random: np.random.Generator) -> Scene:
    people, items = 100, 60
    kinds = np.full(people, CREDIBLE, dtype=object)
    kinds[:5], kinds[5:9], kinds[9:12], kinds[12:22], kinds[22:30] = GUESSING, PRIMARY, PATTERN, LOW, OWN
    order = random.permuted(np.tile(np.arange(items), (people, 1)), axis=1)
    locations, others = random.normal(0, 1.3, items), random.normal(0, 1.3, items)
    discrimination = np.where(kinds == LOW, 0.5, np.exp(random.normal(0.5, 0.25, people)))
    cuts = np.sort(np.array([-1.5, -0.5, 0.5, 1.5]) + random.normal(0, 0.35, (people, 4)), axis=1)
    at = np.where((kinds == OWN)[:, None], others[order], locations[order])
    above = expit(discrimination[:, None, None] * (at[:, :, None] - cuts[:, None, :]))
    answers = (random.random((people, items, 1)) < above).sum(axis=2)
    place = np.arange(items)
    for person in np.flatnonzero(np.isin(kinds, [GUESSING, PRIMARY, PATTERN])):
        if kinds[person] == GUESSING:
            answers[person] = random.integers(0, 5, items)
        elif kinds[person] == PRIMARY:
            answers[person] = np.where(random.random(items) < 0.85, random.integers(5), random.integers(0, 5, items))
        else:
            answers[person] = (place + random.integers(5)) % 5
    pace = np.where(np.arange(people) % 2 == 0, random.normal(0, 0.3, people), random.normal(-1.0, 0.3, people))
    careless = np.isin(kinds, [GUESSING, PRIMARY, PATTERN])
    pace = np.where(careless, pace, random.normal(0, 0.3, people))
    usual = random.normal(1.3, 0.25, items)
    seconds = np.exp(usual[order] + pace[:, None] + random.normal(0, 0.4, order.shape))
    table = _table(order, [[str(level + 1) for level in row] for row in answers])
    table = table.with_columns(
        trial=pl.Series(np.tile(place + 1, people)), rt=pl.Series(seconds.ravel()), function=pl.lit("test")
    )
    return Scene(Judgments(table, Ordinal(5)), kinds.astype(str))


def _table(stimuli: Ints, answers: list[list[str]]) -> pl.DataFrame:
    people, count = stimuli.shape
    return pl.DataFrame({
        "participant": [f"p{person:03}" for person in range(people) for _ in range(count)],
        "item": [f"i{item:03}" for item in stimuli.ravel()],
        "response": [answer for row in answers for answer in row],
    })  # fmt: skip
