"""Inconsistency in parts: the median and the median absolute deviation are those of everybody's scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.judgments import Judgments
from karat.scales import Scale
from karat.screen.evidence import ScreenError
from karat.screen.inconsistency import (
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
from karat.screen.parted.crowd import InParts
from karat.screen.parted.evidence import PartedEvidence

Floats = NDArray[np.float64]
SCORES = {"participant": pl.String, "repeated": pl.Int64, "comparisons": pl.Int64, "identical": pl.Float64,
          "score": pl.Float64}  # fmt: skip


def inconsistency_in_parts(crowd: InParts, upper: float = UPPER) -> PartedEvidence:
    """How far each participant's answers to repeated questions lie apart, and whose lie apart unusually far."""
    check_settings(upper)
    widest: dict[Scale, float] = {}
    gathered = crowd.map(_gather, None, name="inconsistency")
    for own, _ in gathered:
        for scale, most in own.items():
            widest[scale] = max(most, widest.get(scale, 0.0))
    if not widest:
        raise ScreenError(NOTHING)
    # On one scale the scores are known already; on several they depend on the widths of all.
    scores = [one for _, one in gathered]
    if len(widest) > 1:
        scores = crowd.map(_score, widest, name="inconsistency")
    together = np.concatenate(scores)
    middle, deviation = centre(together)
    shared = (widest, middle, deviation, upper)
    evidence, _ = crowd.judge("inconsistency", _judge, shared, settings_of(upper, middle, deviation))
    return replace(evidence, notes=notes_on(len(widest), len(together), middle, deviation))


def _gather(judgments: Judgments, _: None, number: int) -> tuple[dict[Scale, float], Floats]:
    """The greatest mean difference on each scale, and the scores if there is no other scale."""
    found = repeated_questions(judgments)
    widest = {scale: widest_of(own) for scale, own in found.items()}
    return widest, _scores(found, widest)["score"].to_numpy() if len(widest) == 1 else np.empty(0)


def _score(judgments: Judgments, widest: dict[Scale, float], number: int) -> Floats:
    return _scores(repeated_questions(judgments), widest)["score"].to_numpy()


def _scores(found: dict[Scale, pl.DataFrame], widest: dict[Scale, float]) -> pl.DataFrame:
    return scores_of(found, widest) if found else pl.DataFrame(schema=SCORES)


def _judge(
    judgments: Judgments, shared: tuple[dict[Scale, float], float, float, float], number: int
) -> tuple[pl.DataFrame | None, None]:
    widest, middle, deviation, upper = shared
    if not judgments.frame.height:
        return None, None
    per_person = _scores(repeated_questions(judgments), widest)
    return verdicts(judgments, per_person, middle, deviation, upper, several=len(widest) > 1), None
