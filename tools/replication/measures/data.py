"""The pairs of Langsford and others, what is public of the data of Macketanz and others, and values to compare with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

import karat
from karat.judgments import Judgments

EXPERIMENTS = {
    "target_pairs_initial": "target pairs, first session", "target_pairs_within": "target pairs, second session",
    "target_pairs_between": "target pairs, others", "likert_initial": "Likert, first session",
    "likert_within": "Likert, second session", "likert_between": "Likert, others",
}  # fmt: skip


@dataclass(frozen=True)
class Pairs:
    """The sentences, the published decisions, magnitude estimates of the sentences, and simulated choices."""

    sentences: pl.DataFrame
    disagreements: pl.DataFrame
    magnitudes: pl.DataFrame
    """pair_id, better, worse (mean z-scores), difference."""
    simulated: Judgments
    golden: dict[str, Any]


@dataclass(frozen=True)
class Differentials:
    """Means of dimensions (translations, summaries), simulated ratings, a questionnaire, and the published list."""

    translations: pl.DataFrame
    summaries: pl.DataFrame
    simulated: pl.DataFrame
    questionnaire: pl.DataFrame
    adjectives: pl.DataFrame
    golden: dict[str, Any]


def load_pairs(reference: Path) -> Pairs:
    """The folder pairs of the reference data."""
    folder = reference / "pairs"
    means = pl.read_csv(folder / "sprouse_me.csv").select(
        "pair_id", pl.col("me_z_acceptable").alias("better"), pl.col("me_z_less").alias("worse")
    )
    simulated = karat.read(
        folder / "thurstone_sim.csv", answers={"1": "left", "-1": "right", "0": "none"}, scale="choice:none"
    )
    return Pairs(
        pl.read_csv(folder / "sentences.csv"), pl.read_csv(folder / "disagreements.csv"),
        means.with_columns(difference=pl.col("better") - pl.col("worse")), simulated,
        json.loads((folder / "thurstone_golden.json").read_text(encoding="utf-8")),
    )  # fmt: skip


def load_differentials(reference: Path) -> Differentials:
    """The folder sd of the reference data."""
    folder = reference / "sd"
    translations, summaries, simulated, questionnaire, adjectives = (
        pl.read_csv(folder / f"{name}.csv")
        for name in ("mt_ratings", "ats_ratings", "sd_sim", "bfi", "adjective_pairs")
    )
    golden = json.loads((folder / "efa_golden.json").read_text(encoding="utf-8"))["results"]
    return Differentials(
        translations, summaries, simulated.drop("case"), questionnaire.drop("id"), adjectives, golden
    )  # fmt: skip
