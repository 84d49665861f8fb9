"""The peers as scores: the smaller, the less a participant seems to be attentive.

karat's own criteria where there is one; agreement and one-coin EM are a few lines here. A peer that the data cannot
feed (no times, no controls, a scale it does not take) is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from karat.errors import KaratError
from karat.judgments import Judgments
from karat.judgments.scales import Binary, Choice
from karat.models.credence import fit_credence
from karat.screen.credence_model import crowd_trials, with_limits
from karat.screen.criteria.controls import controls
from karat.screen.criteria.deletion import deletion, deletion_windows
from karat.screen.criteria.markov import markov
from karat.screen.criteria.person_total import person_total
from karat.screen.criteria.remfod import remfod
from karat.screen.criteria.straightlining import straightlining
from karat.screen.evidence import Evidence

from .scenes import Floats, Ints

ROUNDS = 50
Score = Callable[[Judgments], Floats]


@dataclass(frozen=True)
class Answers:
    """Participants, stimuli and levels of all answers as numbers, in the order of the rows."""

    owner: Ints
    stimulus: Ints
    level: Ints
    people: int
    stimuli: int
    levels: int


def credence_scores(judgments: Judgments) -> tuple[Floats, Floats, Floats]:
    """The log odds and the probability of being attentive by the model, and the one that is reported, within limits."""
    looked = crowd_trials(judgments)
    fitted = fit_credence(looked.trials)
    return fitted.log_odds, fitted.step.posterior[:, 0], with_limits(looked, fitted)[0]


def answers_as_numbers(judgments: Judgments) -> Answers:
    """What was answered to which stimulus, taken as credence takes it: choices by what was chosen, not by the side."""
    (part,) = crowd_trials(judgments).trials.parts
    owner, trial = np.nonzero(part.there)
    item, content = part.item[owner, trial], part.content[owner, trial]
    return Answers(owner, item, content, len(part.item), part.items, part.levels)


def agreement(judgments: Judgments) -> Floats:
    """The mean share of the others who gave the same answer to the same stimulus."""
    data = answers_as_numbers(judgments)
    cell = data.stimulus * data.levels + data.level
    same = np.bincount(cell, minlength=data.stimuli * data.levels)[cell] - 1
    others = np.bincount(data.stimulus, minlength=data.stimuli)[data.stimulus] - 1
    share = np.divide(same, others, out=np.zeros(len(same)), where=others > 0)
    return mean_of(data.owner, share, data.people)


def one_coin(judgments: Judgments) -> Floats:
    """The ability p of the one-coin model: right with p, else any other answer alike; by EM from shares of answers."""
    data = answers_as_numbers(judgments)
    cell = data.stimulus * data.levels + data.level
    truth = np.bincount(cell, minlength=data.stimuli * data.levels).reshape(data.stimuli, data.levels) + 0.01
    truth = truth / truth.sum(axis=1, keepdims=True)
    ability = np.full(data.people, 0.7)
    for _ in range(ROUNDS):
        right = truth[data.stimulus, data.level]
        ability = np.clip(mean_of(data.owner, right, data.people), 0.01, 0.99)
        prior = truth.mean(axis=0)
        gain = np.log(ability) - np.log((1 - ability) / (data.levels - 1))
        votes = np.bincount(cell, gain[data.owner], data.stimuli * data.levels).reshape(truth.shape)
        odds = votes + np.log(prior + 1e-9)
        truth = np.exp(odds - odds.max(axis=1, keepdims=True))
        truth = truth / truth.sum(axis=1, keepdims=True)
    return ability


def mean_of(owner: Ints, values: Floats, people: int) -> Floats:
    """The mean of each participant's values."""
    return np.bincount(owner, values, people) / np.maximum(np.bincount(owner, minlength=people), 1)


def by_name(judgments: Judgments, found: Evidence, column: str) -> Floats:
    """A column of evidence, in the order in which participants come in the judgments; missing ones are not suspect."""
    people = judgments.frame.select(pl.col("participant").unique(maintain_order=True))
    joined = people.join(found.participants, on="participant", how="left", maintain_order="left")
    return joined[column].cast(pl.Float64).fill_null(np.inf).to_numpy()


def as_answers(judgments: Judgments) -> Judgments:
    """Choices as yes or no to the item that comes first in the alphabet, for a model of answers; others as they are."""
    if not isinstance(judgments.scale, Choice):
        return judgments
    turned = pl.col("left") > pl.col("right")
    frame = judgments.frame.select(
        "participant", "trial", "function",
        item=pl.min_horizontal("left", "right") + " / " + pl.max_horizontal("left", "right"),
        response=pl.when((pl.col("response") == "left") != turned).then(pl.lit("yes")).otherwise(pl.lit("no")),
    )  # fmt: skip
    return Judgments(frame, Binary(("no", "yes")))


def deleted(judgments: Judgments) -> Floats:
    """How little the model of all answers changes without them."""
    made = as_answers(judgments)
    return -by_name(made, deletion(made, by="published"), "distance")


def windowed(judgments: Judgments, part: int) -> Floats:
    """The same in the window in which it changes most; windows are a half or a quarter of the trials wide."""
    made = as_answers(judgments)
    width = int(judgments.frame.group_by("participant").len()["len"].median() // part)
    table = deletion_windows(made, width)
    worst = table.group_by("participant", maintain_order=True).agg(score=-pl.col("distance").max())
    people = made.frame.select(pl.col("participant").unique(maintain_order=True))
    return people.join(worst, on="participant", how="left", maintain_order="left")["score"].to_numpy()


CHEAP: dict[str, Score] = {
    "Markov aKLD": lambda j: by_name(j, markov(j, strategy="average", simulations=2000), "p"),
    "ReMFOD": lambda j: by_name(j, remfod(j), "genuine_share"),
    "controls": lambda j: by_name(j, controls(j), "score"),
    "straight-lining": lambda j: by_name(j, straightlining(j, shares="even"), "score"),
    "agreement": agreement,
    "correlation": lambda j: by_name(j, person_total(j), "score"),
    "one-coin EM": one_coin,
}
DEAR: dict[str, Score] = {"deletion": deleted}
DEAREST: dict[str, Score] = {
    "deletion, 1/2": lambda j: windowed(j, 2),
    "deletion, 1/4": lambda j: windowed(j, 4),
}
"""Windows refit the model without each participant in each of them: on few replications, and not everywhere."""
PEERS = (*CHEAP, *DEAR, *DEAREST, "MACE", "Dawid-Skene")


def scores(judgments: Judgments, peers: dict[str, Score]) -> dict[str, Floats]:
    """The scores of those peers that the data can feed."""
    found = {}
    for name, score in peers.items():
        try:
            found[name] = score(judgments)
        except KaratError:
            continue
    return found
