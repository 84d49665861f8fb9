"""The Spammer Index and deletion against the values of ../shared/reference/ba (see its README)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import karat
from karat.screen import deletion, spammer_index

SCALES = {"mturk": karat.Binary(("0", "1")), "binary_sim": karat.Binary(("0", "1")), "ordinal_sim": karat.Ordinal(5)}


@pytest.fixture(scope="module")
def golden(reference: Path) -> dict[str, Any]:
    return json.loads((reference / "ba" / "golden.json").read_text(encoding="utf-8"))


def judgments(reference: Path, name: str, scale: karat.scales.Scale) -> karat.Judgments:
    table = pl.read_csv(reference / "ba" / f"{name}.csv").rename(
        {"worker": "participant", "task": "item", "order": "trial"}
    )
    table = table.rename({"time": "rt"}) if "time" in table.columns else table
    return karat.Judgments(table.with_columns(pl.col("response").cast(pl.String)), scale)


def test_index_of_the_mturk_data_and_the_coefficients_beside_it(reference: Path, golden: dict[str, Any]) -> None:
    index = spammer_index(judgments(reference, "mturk", SCALES["mturk"]))
    full = golden["mturk"]["deletion_two_re"]["full_fit"]
    assert index.value == pytest.approx(full["spammer_index"], abs=1e-4)
    assert index.value == pytest.approx(golden["paper_values"]["SI"]["mturk"], abs=5e-4)
    assert index.log_likelihood == pytest.approx(full["loglik"], abs=1e-4)
    beside = golden["mturk"]["fleiss_icc"]
    assert index.agreement["fleiss_kappa"] == pytest.approx(beside["fleiss"], abs=1e-9)
    assert index.agreement["icc_agreement"] == pytest.approx(beside["icc_A1"], abs=1e-9)
    assert index.agreement["icc_consistency"] == pytest.approx(beside["icc_C1"], abs=1e-9)
    assert index.agreement["icc_fixed_error"] == pytest.approx(full["icc_fixed_error_3_29"], abs=1e-4)


def test_index_of_labels_with_the_first_baseline(reference: Path, golden: dict[str, Any]) -> None:
    index = spammer_index(judgments(reference, "nominal_sim", karat.Nominal(list("ABCDE"))))
    assert index.baselines is not None
    first = golden["simulated"]["nominal_sim"]["fit"]
    assert index.baselines["value"][0] == pytest.approx(first["spammer_index"], abs=1e-4)
    assert index.baselines["log_likelihood"][0] == pytest.approx(first["loglik"], abs=1e-4)


def test_index_of_the_authors_pool(reference: Path, golden: dict[str, Any]) -> None:
    pool = pl.read_csv(reference / "ba" / "authors_pool_sim.csv")
    found = golden["simulated"]["authors_pool_sim"]
    frame = pool.filter(pl.col("type").str.contains("normal"))
    frame = frame.rename({"worker": "participant", "task": "item", "order": "trial"})
    read = karat.Judgments(frame.with_columns(pl.col("response").cast(pl.String)), karat.Binary(("0", "1")))
    index = spammer_index(read)
    assert index.participants == found["pct0"]["n_workers"]
    assert index.value == pytest.approx(found["pct0"]["SI"], abs=1e-4)


@pytest.mark.parametrize("name", ["binary_sim", "ordinal_sim"])
def test_index_of_the_simulated_crowds(name: str, reference: Path, golden: dict[str, Any]) -> None:
    expected = golden["simulated"][name]
    expected = expected.get("full_fit", expected)
    index = spammer_index(judgments(reference, name, SCALES[name]))
    assert index.value == pytest.approx(expected["spammer_index"], abs=1e-4)
    assert index.log_likelihood == pytest.approx(expected["loglik"], abs=1e-4)


@pytest.mark.parametrize("name", list(SCALES))
def test_deletion_worker_by_worker(name: str, reference: Path, golden: dict[str, Any]) -> None:
    found = deletion(judgments(reference, name, SCALES[name]))
    expected = golden["mturk"]["deletion_two_re"] if name == "mturk" else golden["simulated"][name]
    by_name = dict(zip(expected["workers"]["worker"], expected["workers"]["D"], strict=True))
    for participant, distance in found.participants.select("participant", "distance").iter_rows():
        assert distance == pytest.approx(by_name[participant], abs=5e-3)
    assert set(found.flagged) == set(expected["flagged"])
