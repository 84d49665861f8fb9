"""Agreement of the MTurk study beside irr, and Dawid and Skene's model beside crowd-kit.

`dawid_skene.json` was made by `make_dawid_skene.py`, which says how, with the versions it names.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import karat
from karat.measure.consensus import consensus
from karat.measure.reliability.agreement import agreement
from karat.models.dawid_skene import dawid_skene

MADE = Path(__file__).parent / "peers" / "dawid_skene.json"


def read(reference: Path, name: str, scale: karat.judgments.scales.Scale) -> karat.Judgments:
    names = {"worker": "participant", "task": "item", "order": "trial"}
    table = pl.read_csv(reference / "ba" / f"{name}.csv").rename(names)
    return karat.Judgments(table.select(*names.values(), pl.col("response").cast(pl.String)), scale)


def test_coefficients_of_the_mturk_study(reference: Path) -> None:
    """Fleiss' kappa and the three intraclass correlations of a single answer, by irr 0.84.1."""
    golden = json.loads((reference / "ba" / "golden.json").read_text())["mturk"]["fleiss_icc"]
    found = agreement(read(reference, "mturk", karat.Binary(("0", "1"))), samples=100)
    for name, key in (("Fleiss' kappa", "fleiss"), ("ICC(A,1)", "icc_A1"), ("ICC(C,1)", "icc_C1"),
                      ("ICC(1)", "icc_oneway")):  # fmt: skip
        row = found.of(name)
        assert row["estimate"] == pytest.approx(golden[key], abs=1e-9)
        assert row["lower"] < golden[key] < row["upper"]


def cases() -> list[dict[str, Any]]:
    return json.loads(MADE.read_text())["cases"]


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case['data']}-{case['iterations']}")
def test_posteriors_at_equal_iterations_are_those_of_crowd_kit(case: dict[str, Any]) -> None:
    item, rater, label = (np.array(case[name]) for name in ("items", "raters", "labels"))
    found = dawid_skene(item, rater, label, case["kinds"], iterations=case["iterations"], tolerance=0.0)
    if found.iterations < case["iterations"]:
        assert found.converged
    # crowd-kit raises posteriors to 1e-10 at the end.
    np.testing.assert_allclose(found.posteriors, np.array(case["posteriors"]), atol=2e-8)
    np.testing.assert_allclose(found.priors, np.array(case["priors"]), atol=2e-8)


def test_alpha_is_that_of_crowd_kit() -> None:
    for case in cases():
        if "alpha" in case:
            table = {"participant": [f"p{n}" for n in case["raters"]], "item": [f"i{n}" for n in case["items"]],
                     "response": [f"l{n}" for n in case["labels"]]}  # fmt: skip
            scale = karat.Nominal([f"l{n}" for n in range(case["kinds"])])
            found = agreement(karat.Judgments(table, scale), samples=0).of("Krippendorff's alpha (nominal)")
            assert found["estimate"] == pytest.approx(case["alpha"], abs=1e-9)


def test_the_simulated_labels_are_found(reference: Path) -> None:
    """12 spammers among 120 workers, 80 tasks. The model of errors is no better here than counting."""
    judgments = read(reference, "nominal_sim", karat.Nominal(list("ABCDE")))
    truth = pl.read_csv(reference / "ba" / "nominal_sim.csv").select(item="task", truth="truth").unique()
    hits = {}
    for method in ("dawid-skene", "majority", "weighted"):
        joined = consensus(judgments, method).labels.join(truth, on="item")
        hits[method] = int((joined["label"] == joined["truth"]).sum())
    assert hits == {"dawid-skene": 77, "majority": 78, "weighted": 79}
