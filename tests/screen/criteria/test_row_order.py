"""Verdicts of every criterion are the same however the rows of a table are sorted."""

from __future__ import annotations

import polars as pl
import pytest

import karat
from karat.study.criteria import CRITERIA
from screen.judged import crowd

SETTINGS = {"markov": {"simulations": 100}}
LIKERT = karat.datasets.load("likert")
KEPT = LIKERT.frame.filter(pl.col("participant").rank("dense") <= 14)
WITH_ORDER = karat.Judgments(KEPT, LIKERT.scales, LIKERT.participants)
WITHOUT = karat.Judgments(KEPT.drop("trial", "time"), LIKERT.scales, LIKERT.participants)
LABELS = karat.Judgments(crowd(karat.Nominal(("a", "b", "c"))).frame.drop("trial"), karat.Nominal(("a", "b", "c")))
SEQUENCES = {"markov", "straightlining", "even_odd", "risk"}
LONG = {"credence", "deletion", "procedure"}
"""Those whose own tests say so too."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in sorted(CRITERIA)]
)
def test_verdicts_do_not_depend_on_rows(name: str) -> None:
    ran = 0
    for judgments in (WITH_ORDER, WITHOUT, LABELS):
        shuffled = karat.Judgments(
            judgments.frame.sample(fraction=1.0, shuffle=True, seed=1), judgments.scales, judgments.participants
        )
        first, second = (karat.screen.run(one, {name: SETTINGS.get(name, {})}) for one in (judgments, shuffled))
        assert {key: why.code for key, why in first.skipped.items()} == {
            key: why.code for key, why in second.skipped.items()
        }
        for key, evidence in first.evidence.items():
            ran += 1
            tables = [one.participants.sort("participant") for one in (evidence, second.evidence[key])]
            assert tables[0].select("participant", "flagged").equals(tables[1].select("participant", "flagged"))
            scores = [table["score"].cast(pl.Float64).fill_null(-9.0).to_list() for table in tables]
            assert scores[0] == pytest.approx(scores[1], rel=1e-4, abs=1e-4)
    if name in SEQUENCES:
        assert ran <= 1, "a criterion of sequences ran without an order"
