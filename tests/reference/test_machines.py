"""Language models beside people: the values of the authors' own code (`../shared/reference/machines`)."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import karat
from karat.measure import annotator_test

SETS = ("stars", "prompts", "relations", "preferences", "summaries")


@pytest.mark.parametrize("name", SETS)
def test_winning_rates_and_advantages(reference: Path, name: str) -> None:
    golden = json.loads((reference / "machines" / "golden.json").read_text())[name]
    table = pl.read_csv(reference / "machines" / f"{name}.csv", infer_schema=False)
    rated = golden["score"] == "neg_rmse"
    scale = karat.Ordinal(5) if rated else karat.Nominal(sorted(table["response"].unique()))
    found = annotator_test(karat.Judgments(table, scale), ["kind=machine"], golden["epsilon"]).machines
    assert sorted(found["machine"]) == sorted(golden["machines"])
    for machine, rate, advantage in found.select("machine", "winning_rate", "advantage").iter_rows():
        expected = golden["machines"][machine]
        assert (rate, advantage) == pytest.approx((expected["winning_rate"], expected["advantage"]), abs=1e-6)
