"""Inconsistency in parts: the median and the median absolute deviation are those of everybody's scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.judgments.scales import Scale
from karat.judgments.stimuli import Stimuli
from karat.screen.criteria.inconsistency import (
    NOTHING,
    UPPER,
    centre,
    check_settings,
    notes_on,
    repeated_questions,
    scores_of,
    settings_of,
    verdicts,
    widest_of,
)
from karat.screen.evidence import ScreenError
from karat.screen.parted.crowd import InParts
from karat.screen.parted.evidence import PartedEvidence
from karat.screen.parted.stimuli import stimuli_in_parts
from karat.types import Floats

Decision = dict[bool, Stimuli]
SCORES = {"participant": pl.String, "repeated": pl.Int64, "comparisons": pl.Int64, "identical": pl.Float64,
          "score": pl.Float64}  # fmt: skip


def inconsistency_in_parts(crowd: InParts, upper: float = UPPER) -> PartedEvidence:
    """How far each participant's answers to repeated questions lie apart, and whose lie apart unusually far."""
    check_settings(upper)
    widest: dict[Scale, float] = {}
    stimuli = stimuli_in_parts(crowd)
    gathered = crowd.map(_gather, stimuli, name="inconsistency")
    for own, _ in gathered:
        for scale, most in own.items():
            widest[scale] = max(most, widest.get(scale, 0.0))
    if not widest:
        raise ScreenError(NOTHING)
    # On one scale the scores are known already; on several they depend on the widths of all.
    scores = [one for _, one in gathered]
    if len(widest) > 1:
        scores = crowd.map(_score, (widest, stimuli), name="inconsistency")
    together = np.concatenate(scores)
    middle, deviation = centre(together)
    shared = (widest, middle, deviation, upper, stimuli)
    evidence, _ = crowd.judge("inconsistency", _judge, shared, settings_of(upper, middle, deviation))
    return replace(evidence, notes=notes_on(len(widest), len(together), middle, deviation))


def _gather(judgments: Judgments, stimuli: Decision, number: int) -> tuple[dict[Scale, float], Floats]:
    """The greatest mean difference on each scale, and the scores if there is no other scale."""
    found = repeated_questions(judgments.with_stimuli(stimuli))
    widest = {scale: widest_of(own) for scale, own in found.items()}
    return widest, _scores(found, widest)["score"].to_numpy() if len(widest) == 1 else np.empty(0)


def _score(judgments: Judgments, shared: tuple[dict[Scale, float], Decision], number: int) -> Floats:
    widest, stimuli = shared
    return _scores(repeated_questions(judgments.with_stimuli(stimuli)), widest)["score"].to_numpy()


def _scores(found: dict[Scale, pl.DataFrame], widest: dict[Scale, float]) -> pl.DataFrame:
    return scores_of(found, widest) if found else pl.DataFrame(schema=SCORES)


def _judge(
    judgments: Judgments, shared: tuple[dict[Scale, float], float, float, float, Decision], number: int
) -> tuple[pl.DataFrame | None, None]:
    widest, middle, deviation, upper, stimuli = shared
    if not judgments.frame.height:
        return None, None
    per_person = _scores(repeated_questions(judgments.with_stimuli(stimuli)), widest)
    return verdicts(judgments, per_person, middle, deviation, upper, several=len(widest) > 1), None
