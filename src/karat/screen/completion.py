"""Completion: who answered too little of the questionnaire.

The share is the number of answered trials over the length of the questionnaire. Published practice (Pieper, Börner and
Kiss) calls a questionnaire incomplete under 90 %. The length is the largest number of trials that anybody has, unless
it is stated: a study knows it, a file of results alone does not.
"""

from __future__ import annotations

import polars as pl

from karat.judgments import Judgments
from karat.screen.evidence import Evidence, ScreenError, everybody

AT_LEAST = 0.9


def completion(judgments: Judgments, at_least: float = AT_LEAST, trials: int | None = None) -> Evidence:
    """The share of the questionnaire that each participant answered, practice left out.

    Listed participants who gave no answer at all are flagged too. `last` is the position of the last answer, where
    somebody dropped out.

    >>> import karat
    >>> completion(karat.datasets.load("likert")).flagged
    ['p31']
    """
    if not 0 <= at_least <= 1:
        raise ScreenError(f"completion: at_least must be a share from 0 to 1, got {at_least}.")
    shown = judgments.frame.filter(pl.col("function") != "practice")
    answered = shown.filter(pl.col("response").is_not_null())
    keys = [name for name in ("session", "trial") if name in answered.columns]
    per_person = answered.group_by("participant", maintain_order=True).agg(
        (pl.struct(keys).n_unique() if keys else pl.len()).cast(pl.Int64).alias("answered"),
        *([pl.col("trial").max().alias("last")] if "trial" in answered.columns else []),
    )
    longest = per_person["answered"].max() if per_person.height else 0
    length = trials if trials is not None else longest
    if not isinstance(length, int) or length < 1:
        raise ScreenError("completion: nobody answered anything, so that the length is not known. Say trials=...")
    people = pl.concat([judgments.participants.select("participant"), everybody(judgments)]).unique(maintain_order=True)
    table = people.join(per_person, on="participant", how="left", maintain_order="left").with_columns(
        pl.col("answered").fill_null(0)
    )
    score = (pl.col("answered") / length).alias("score")
    table = table.with_columns(score, threshold=pl.lit(at_least)).with_columns(flagged=pl.col("score") < at_least)
    reason = pl.format("answered {} of {} trials", "answered", pl.lit(length))
    names = ["participant", "score", "threshold", "flagged", "reason", "answered"]
    names += ["last"] if "last" in table.columns else []
    notes = (
        () if trials is not None else (f"The questionnaire is taken to have {length} trials, the most anybody has.",)
    )
    settings = {"at_least": at_least, "trials": length}
    return Evidence(table.with_columns(reason=reason).select(names), "completion", settings, notes)
