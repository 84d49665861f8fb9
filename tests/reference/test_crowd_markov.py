"""The third paper's Markov criterion, risk levels and agreement, number by number: ../shared/reference/ba/golden.json.

Its README says how the values were computed (R 4.2.2 with markovchain, philentropy and irr) and how the paper's rules
were read. `cutoff_resimulation` is repeated here with the same task effects, R's random numbers for seed 123.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import karat
from karat.models.agreement import fleiss_kappa, icc_agreement, icc_consistency, icc_fixed_error
from karat.models.markov import distances, targets, transition_counts
from karat.screen.criteria.markov import markov
from karat.screen.criteria.risk import risk_levels
from karat.screen.criteria.time_filter import time_filter
from karat.screen.crowd.gold import gold
from tools.replication.crowd.r_numbers import r_normal

NAMES = {"worker": "participant", "task": "item", "order": "trial", "time": "rt", "truth": "expected"}
TARGETS = {
    "pc_target0": "always 0", "pc_target1": "always 1", "rp_stay": "staying", "rp_alternate": "round 0, 1",
    "rg": "evenly at random",
}  # fmt: skip
KINDS = {
    "primary_choice": "primary choice",
    "repeated_pattern": "repeated pattern",
    "random_guessing": "random guessing",
}
PLACES = {"pc_target0": 0, "pc_target1": 1, "alt_target": 3, "rg": 4}
WORKERS = 30_000


@pytest.fixture(scope="module")
def golden(reference: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((reference / "ba" / "golden.json").read_text())
    return found


@pytest.fixture(scope="module")
def mturk(reference: Path) -> karat.Judgments:
    frame = pl.read_csv(reference / "ba" / "mturk.csv").rename(NAMES).drop("correct")
    return karat.Judgments(frame, karat.Binary())


def test_every_row_of_every_worker(mturk: karat.Judgments, golden: dict[str, Any]) -> None:
    evidence = markov(mturk, cutoffs="published")
    values = golden["mturk"]["akld_workers"]
    for key, target in TARGETS.items():
        rows = evidence.rows.filter(pl.col("target") == target)
        for state, expected in zip(("0", "1"), values["row_kld"][key], strict=True):
            ours = dict(rows.filter(pl.col("state") == state).select("participant", "kld").iter_rows())
            np.testing.assert_allclose([ours[worker] for worker in values["worker"]], expected, atol=2e-9)
    shares = evidence.transitions.filter(pl.col("state") == "1", pl.col("next") == "0")
    ours = dict(shares.select("participant", "share").iter_rows())
    np.testing.assert_allclose([ours[worker] for worker in values["worker"]], values["transition"]["p10"], atol=1e-9)


def test_published_cutoffs_find_the_same_workers(mturk: karat.Judgments, golden: dict[str, Any]) -> None:
    akld = golden["mturk"]["akld"]
    for strategy, key in (("rows", "flagged"), ("average", "flagged_if_average_rule")):
        evidence = markov(mturk, cutoffs="published", strategy=strategy)  # type: ignore[arg-type]
        assert set(evidence.flagged) == {worker for workers in akld[key].values() for worker in workers}
        if strategy == "rows":
            named = evidence.participants.filter(pl.col("flagged"))
            for kind, target in TARGETS.items():
                assert sorted(named.filter(pl.col("target") == target)["participant"]) == sorted(akld[key][kind])


def test_the_counts_of_table_2_before_and_after_the_time_filter(mturk: karat.Judgments, golden: dict[str, Any]) -> None:
    akld = golden["mturk"]["akld"]
    flagged = markov(mturk, cutoffs="published").participants.filter(pl.col("flagged"))
    quick = time_filter(mturk, "mean")
    assert quick.participants["threshold"][0] == pytest.approx(akld["overall_mean_time"], abs=1e-8)
    after = flagged.filter(pl.col("participant").is_in(quick.flagged))
    counts = akld["counts_all_and_timefiltered"]
    assert [flagged.height, after.height] == counts["total"] == [29, 18]
    for key, kind in KINDS.items():
        assert [part.filter(pl.col("kind") == kind).height for part in (flagged, after)] == counts[key]


def test_the_risk_levels_of_table_4(mturk: karat.Judgments, golden: dict[str, Any]) -> None:
    """Candidates are those that the Markov criterion or deletion analysis flagged; the recorded key is counted."""
    flagged = {*markov(mturk, cutoffs="published").flagged, *golden["mturk"]["deletion_two_re"]["flagged"]}
    assert len(flagged) == 35
    evidence = risk_levels(mturk, flagged, doubtful="counted")
    found = dict(evidence.participants["level"].value_counts().iter_rows())
    assert {level: found[level] for level in ("high", "moderate", "undetermined")} == {
        level: golden["mturk"]["risk_levels"][level] for level in ("high", "moderate", "undetermined")
    }
    akld, values = golden["mturk"]["akld"], golden["mturk"]["akld_workers"]
    table = evidence.participants.sort("participant")
    assert table["share_right"].mean() == pytest.approx(akld["accuracy_mean"])
    assert table["share_right"].std() == pytest.approx(akld["accuracy_sd"])
    runs = dict(zip(values["worker"], values["longest_run"], strict=True))
    assert table["longest_run"].to_list() == [runs[worker] for worker in table["participant"]]


def test_one_key_of_mturk_disagrees_with_nine_of_ten_workers(mturk: karat.Judgments) -> None:
    found = gold(mturk)
    assert found.doubtful.select("item", "expected", "majority").rows() == [("t001", "0", "1")]
    assert gold(mturk, near_unanimous=0.8).doubtful["item"].sort().to_list() == ["t001", "t018", "t069"]


def test_kappa_and_intraclass_correlations(mturk: karat.Judgments, golden: dict[str, Any]) -> None:
    frame, expected = mturk.frame, golden["mturk"]["fleiss_icc"]
    items, raters = (frame[name].rank("dense").to_numpy().astype(int) - 1 for name in ("item", "participant"))
    values = frame["response"].cast(pl.Int64).to_numpy()
    assert fleiss_kappa(items, values) == pytest.approx(expected["fleiss"], abs=1e-9)
    assert icc_agreement(items, raters, values) == pytest.approx(expected["icc_A1"], abs=1e-9)
    assert icc_consistency(items, raters, values) == pytest.approx(expected["icc_C1"], abs=1e-9)
    full = golden["mturk"]["deletion_two_re"]["full_fit"]
    fixed = icc_fixed_error(full["var_worker"], full["var_task"])
    assert fixed == pytest.approx(full["icc_fixed_error_3_29"], abs=1e-4)


@pytest.mark.parametrize(
    ("name", "scale"), [("ordinal_sim", karat.Ordinal(5)), ("nominal_sim", karat.Nominal(list("ABCDE")))]
)
def test_simulated_cutoffs_find_patterns_and_spare_workers(
    reference: Path, name: str, scale: karat.Ordinal | karat.Nominal
) -> None:
    """Four who keep to one choice and four who go round all answers, among 108 credible and four who guess."""
    frame = pl.read_csv(reference / "ba" / f"{name}.csv")
    kinds = dict(frame.select("worker", "type").unique().iter_rows())
    table = frame.rename({k: v for k, v in NAMES.items() if k in frame.columns}).drop("correct", "type", "task_effect")
    found = markov(karat.Judgments(table, scale)).participants
    flagged = set(found.filter(pl.col("flagged"))["participant"])
    credible = {worker for worker in found["participant"] if int(worker[1:]) > 12}
    patterned = {worker for worker, kind in kinds.items() if kind in ("primary", "pattern")}
    assert len(patterned) == 8
    assert len(patterned & flagged) >= 7
    assert len(credible & flagged) <= 0.08 * len(credible)


def longest_runs(answers: np.ndarray, value: int) -> np.ndarray:
    """The longest run of one answer in each row."""
    longest = current = np.zeros(len(answers), dtype=int)
    for column in answers.T:
        current = np.where(column == value, current + 1, 0)
        longest = np.maximum(longest, current)
    return longest


def akld(answers: np.ndarray) -> np.ndarray:
    counts = transition_counts(answers.ravel(), np.full(len(answers), answers.shape[1]), 2)
    return distances(counts, [target.matrix for target in targets(2)], "average")


@pytest.mark.few(1)
@pytest.mark.parametrize("answering", ["deterministic", "bernoulli"])
def test_the_cutoffs_of_the_paper_simulated_anew(golden: dict[str, Any], answering: str) -> None:
    """30,000 credible workers, as many who guess and who keep to one choice; tolerances for sampling error."""
    expected = golden["simulated"]["cutoff_resimulation"][f"tasks_seed123_{answering}_normals"]
    tasks = np.sqrt(6) * r_normal(123, 80)
    assert np.mean(tasks > 0) == pytest.approx(expected["frac_truth1"])
    random = np.random.default_rng(1)
    latent = tasks + random.uniform(-1.5, 1.5, (WORKERS, 1)) + random.uniform(-1.5, 1.5, (WORKERS, 80))
    if answering == "deterministic":
        credible = (latent > 0).astype(np.int8)
    else:
        credible = (random.random(latent.shape) < 1 / (1 + np.exp(-latent))).astype(np.int8)
    assert np.mean(credible == (tasks > 0)) == pytest.approx(expected["acc_normal"], abs=0.003)
    null = akld(credible)
    for key in ("pc_target0", "pc_target1", "alt_target"):
        cutoff = float(np.quantile(null[:, PLACES[key]], 0.05))
        assert cutoff == pytest.approx(expected[key]["cutoff"], abs=0.06)
    guessed = akld(random.integers(0, 2, (WORKERS, 80)).astype(np.int8))[:, PLACES["rg"]]
    limit = float(np.quantile(np.sqrt(null[:, PLACES["rg"]]), 0.05))
    assert limit == pytest.approx(expected["rg_sqrt"]["cutoff"], abs=0.0025)
    missed = np.mean(np.sqrt(guessed) > limit)
    assert missed == pytest.approx(expected["rg_sqrt"]["type2"], abs=0.02)
    strength = 1.4 + random.uniform(-0.3, 0.3, (WORKERS, 80))
    kept = (random.random((WORKERS, 80)) < 1 / (1 + np.exp(-strength))).astype(np.int8)
    kept = kept[longest_runs(kept, 1) >= 10]
    limit = float(np.quantile(null[:, PLACES["pc_target1"]], 0.05))
    missed = np.mean(akld(kept)[:, PLACES["pc_target1"]] > limit)
    assert missed == pytest.approx(expected["pc_target1"]["type2"], abs=0.03)
