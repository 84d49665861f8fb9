"""What it is for: a known effect of a condition, estimated after removal by each criterion, by the truth, and by none.

A rating study of `karat init`, with an effect of .8 logits between two conditions within participants. A third of the
participants do not answer attentively, a part of them only in the last quarter. The estimate is the mean over
participants of the difference between the means of their ratings, the interval that of Student's t over participants.
The true effect in steps of the scale follows from the model (`karat.simulate.scale_answers.on_scale`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import polars as pl
from scipy.special import stdtrit

from karat.judgments import Judgments
from karat.screen.criteria.attention import attention
from karat.screen.criteria.controls import controls
from karat.screen.criteria.credence import credence
from karat.screen.criteria.deletion import deletion
from karat.screen.criteria.markov import markov
from karat.screen.criteria.person_total import person_total
from karat.screen.criteria.remfod import remfod
from karat.screen.criteria.straightlining import straightlining
from karat.screen.evidence import Evidence
from karat.simulate import Spread, answer_study
from karat.simulate.layout import USUAL_EFFECT, layout_of, named_contrast
from karat.simulate.scale_answers import on_scale
from karat.study.init import write_study
from karat.study.study import Study, load

from .questionnaire_oracle import HURRY, LATE
from .questionnaires import AFTER
from .scenes import generator

PARTICIPANTS = 48
SHARES = {"guesser": 0.1, "straight-liner": 0.05, "rusher": 0.05, "clever spammer": 0.05}
LATE_SHARE = 0.1
CRITERIA: dict[str, Callable[[Judgments], Evidence]] = {
    "credence": credence, "Markov": markov, "deletion": deletion, "ReMFOD": remfod, "controls": controls,
    "attention": attention, "straight-lining": straightlining, "correlation": person_total,
}  # fmt: skip
FEWEST = 3
"""Fewer participants than this give no interval."""
NOTHING, TRUTH = "nothing removed", "oracle (the truth)"


@dataclass(frozen=True)
class Estimate:
    """An estimate after a removal, and who was removed."""

    removal: str
    effect: float
    width: float
    covers: bool
    spammers_removed: float
    others_removed: float


@lru_cache
def planned() -> tuple[Study, float]:
    """The study and its true effect, in steps of the scale."""
    with tempfile.TemporaryDirectory() as folder:
        write_study(folder, "likert")
        study = load(folder)
    layout, _, _ = layout_of(study, named_contrast(study, None))
    return study, on_scale(layout, Spread(), USUAL_EFFECT)


def draw_study(seed: int) -> tuple[Judgments, list[str]]:
    """One study, answered, and who did not answer attentively throughout."""
    study, _ = planned()
    judgments = answer_study(study, PARTICIPANTS, shares=SHARES, effects=USUAL_EFFECT, seed=seed)
    random = generator("effect", seed)
    people = judgments.participants
    attentive = people.filter(pl.col("behaviour") == "attentive")["participant"].to_list()
    late = random.choice(attentive, round(LATE_SHARE * PARTICIPANTS), replace=False).tolist()
    spammers = [name for name in people["participant"] if name not in attentive or name in late]
    levels = judgments.scale.levels
    frame = judgments.frame
    after = pl.col("trial") > AFTER * pl.col("trial").max().over("participant")
    changed = pl.col("participant").is_in(late) & after
    guessed = pl.Series(random.choice(levels, frame.height))
    frame = frame.with_columns(
        response=pl.when(changed).then(guessed).otherwise("response"),
        rt=pl.when(changed).then(pl.col("rt") * float(np.exp(HURRY))).otherwise("rt"),
    )
    people = people.with_columns(
        behaviour=pl.when(pl.col("participant").is_in(late)).then(pl.lit(LATE)).otherwise("behaviour")
    )
    return Judgments(frame, judgments.scales, people), spammers


def estimates(seed: int) -> list[Estimate]:
    """The estimates of one study after every removal."""
    judgments, spammers = draw_study(seed)
    removed = {NOTHING: [], **{name: found(judgments).flagged for name, found in CRITERIA.items()}, TRUTH: spammers}
    return [estimate(judgments, name, out, spammers) for name, out in removed.items()]


def estimate(judgments: Judgments, removal: str, out: list[str], spammers: list[str]) -> Estimate:
    """The effect without those who are out."""
    _, true = planned()
    contrast = named_contrast(planned()[0], None)
    rows = judgments.frame.filter(pl.col("function") == "test", ~pl.col("participant").is_in(out))
    rating = pl.col("response").cast(pl.Float64)
    first, second = (rating.filter(pl.col(contrast.factor) == level).mean() for level in contrast.levels)
    own = rows.group_by("participant").agg(difference=first - second)["difference"].drop_nulls().to_numpy()
    everybody = judgments.participants["participant"].to_list()
    shares = (
        len(set(out) & set(spammers)) / len(spammers),
        len(set(out) - set(spammers)) / (len(everybody) - len(spammers)),
    )
    if len(own) < FEWEST:
        return Estimate(removal, float("nan"), float("nan"), False, *shares)
    half = float(stdtrit(len(own) - 1, 0.975) * own.std(ddof=1) / np.sqrt(len(own)))
    effect = float(own.mean())
    return Estimate(removal, effect, 2 * half, abs(effect - true) <= half, *shares)
