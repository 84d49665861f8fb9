"""Questionnaires with ratings or choices, with times: karat.simulate's model of answers, with its parameters kept.

The trials are those of `karat init`: test items, fillers, controls and attention trials in lists and orders of the
plan. Strengths, use of the scale, effects and times are drawn as `karat.simulate.answer_study` draws them. Cooperative
are those who are attentive at a usual pace, at a fast one (half the time of others), or slowly with many pauses;
speakers of a minority dialect are attentive too and are counted apart. Late guessers are attentive until three
quarters of the trials are done, and then guess, in 70 % of their time. The other behaviours are those of
karat.simulate.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.judgments.checks import Checked
from karat.simulate import Spread, answer_study
from karat.simulate.behaviours import PACE, allot, seconds
from karat.simulate.layout import USUAL_EFFECT, planned_contrasts, side_of
from karat.simulate.respond import by_item, known_strength, own_strength
from karat.simulate.scale_answers import codes, guesses, levels_of, logistic
from karat.study.init import write_study
from karat.study.study import load

from .questionnaire_oracle import FAST, FASTER, HURRY, LATE, MINORITY, Known, Plan, log_ratios
from .scenes import Floats, Ints, Scene, generator

COOPERATIVE = ("attentive", FAST, "dawdler")
AFTER = 0.75
"""The share of trials after which late guessers guess."""
USUAL = {
    "guesser": 0.06, "straight-liner": 0.05, "rusher": 0.04, "clever spammer": 0.04, LATE: 0.08, MINORITY: 0.12,
    FAST: 0.05, "dawdler": 0.05,
}  # fmt: skip


@dataclass(frozen=True)
class Questionnaire:
    """A scenario: a task of `karat init`, so many participants, and how they behave (the rest is attentive)."""

    task: str
    participants: int = 64
    shares: dict[str, float] = field(default_factory=lambda: dict(USUAL))

    @property
    def name(self) -> str:
        """What the tables call it."""
        return {"likert": "ratings on 5 points", "choice": "choices"}.get(self.task, self.task)


@lru_cache
def plan_of(task: str, participants: int) -> Plan:
    """The plan, which is the same for every replication."""
    with tempfile.TemporaryDirectory() as folder:
        write_study(folder, task)
        study = load(folder)
        judgments = answer_study(study, participants, shares={}, seed=1)
        (block,) = study.blocks
        side_frame = judgments.frame.filter(pl.col("function") != "practice")
        side = side_of(side_frame, planned_contrasts(study)[0], block.settings)
    person = side_frame["participant"].rle_id().cast(pl.Int64).to_numpy()
    place = side_frame.select(pl.int_range(pl.len()).over("participant")).to_series().to_numpy()
    compared = block.settings.compared is not None
    return Plan(side_frame, person, place, block.scale, side, compared, block.task.seconds)


def draw_questionnaire(scenario: Questionnaire, seed: int) -> Scene:
    """One study of the scenario, answered."""
    plan = plan_of(scenario.task, scenario.participants)
    random = generator(scenario.name, seed)
    kinds = behaviours(scenario, random)
    known = draw_known(plan, kinds, random)
    answers = answers_of(plan, known, kinds, random)
    times = times_of(plan, known, kinds, random)
    levels = levels_of(plan.scale)
    frame = plan.frame.with_columns(
        response=pl.Series([levels[code] for code in answers], dtype=pl.String), rt=pl.Series(times)
    )
    judgments = Judgments.from_checked(Checked(frame), {"": plan.scale})
    return Scene(judgments, np.array(kinds), log_ratios(plan, known, answers, times, scenario.shares))


def behaviours(scenario: Questionnaire, random: np.random.Generator) -> list[str]:
    """The behaviour of each participant; fast and late ones, unknown to karat.simulate, are drawn as attentive."""
    numbers = {name: round(share * scenario.participants) for name, share in scenario.shares.items()}
    own = {name: number for name, number in numbers.items() if name in (FAST, LATE)}
    others = {name: number / scenario.participants for name, number in numbers.items() if name not in own}
    drawn = allot(others, scenario.participants, random)
    attentive = [place for place, name in enumerate(drawn) if name == "attentive"]
    chosen = iter(random.permutation(attentive).tolist())
    for name, number in own.items():
        for _ in range(number):
            drawn[next(chosen)] = name
    return drawn


def draw_known(plan: Plan, kinds: list[str], random: np.random.Generator) -> Known:
    """The parameters that the oracle knows (strengths) and those that are drawn for each participant."""
    spread = Spread()
    base = known_strength(plan.frame, plan.scale)
    own = own_strength(plan.frame, plan.scale, spread.item, plan.compared, random)
    centre = np.where((base != 0) & (plan.scale.kind == "choice"), base, base + own)
    test = (plan.frame["function"] == "test").to_numpy()
    opposed = np.where(test & (by_item(plan.frame, random) > 0), -centre, centre)
    shift = spread.item_effect * by_item(plan.frame, random)
    people = len(kinds)
    pace = random.normal(0, PACE, people) + FASTER * (np.array(kinds) == FAST)
    return Known(
        centre + plan.side * (USUAL_EFFECT + shift), opposed + plan.side * (shift - USUAL_EFFECT),
        random.normal(0, spread.participant, people), np.exp(random.normal(0, spread.stretch, people)),
        random.normal(0, spread.participant_effect, people), pace, change_of(plan),
    )  # fmt: skip


def change_of(plan: Plan) -> Ints:
    """For each trial, whether late guessers have stopped to look (1) or not (0)."""
    count = np.bincount(plan.person)[plan.person]
    return (plan.place >= np.floor(AFTER * count)).astype(np.int64)


def answers_of(plan: Plan, known: Known, kinds: list[str], random: np.random.Generator) -> Ints:
    """The place of every answer among the levels."""
    kind = np.array(kinds)[plan.person]
    latent = np.where(kind == MINORITY, known.minority, known.majority) + plan.side * known.effect[plan.person]
    noisy = latent + logistic(random, latent.shape)
    looked = codes(plan.scale, noisy, known.shift[plan.person], known.stretch[plan.person])
    levels = levels_of(plan.scale)
    guessed = np.array([levels.index(level) for level in guesses(plan.scale, len(looked), random)])
    favourite = np.array([levels.index(level) for level in guesses(plan.scale, len(kinds), random)])
    blind = np.isin(kind, ["guesser", "rusher", "clever spammer"]) | ((kind == LATE) & (known.changed == 1))
    return np.where(kind == "straight-liner", favourite[plan.person], np.where(blind, guessed, looked))


def times_of(plan: Plan, known: Known, kinds: list[str], random: np.random.Generator) -> Floats:
    """The seconds of every trial."""
    timed = [kind if kind not in (FAST, LATE, MINORITY) else "attentive" for kind in kinds]
    taken = seconds(plan.frame["function"].to_list(), plan.person, timed, known.pace, plan.usual, random)
    late = (np.array(kinds)[plan.person] == LATE) & (known.changed == 1)
    return np.where(late, taken * np.exp(HURRY), taken)
