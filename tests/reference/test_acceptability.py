"""The first paper's screening by response times, number by number: ../shared/reference/ajt/golden.json.

Its README says how the values were computed: by the authors' R functions (R 4.2.2) and by an independent program.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import karat
from karat.screen import completion, remfod, speed

CHOICE = {
    "left": "option_above_condition", "right": "option_below_condition", "response": "response_condition",
    "expected": "expected_condition",
}  # fmt: skip
RATING = {"expected": "expected_min..expected_max"}


@pytest.fixture(params=["forced_choice", "likert"])
def case(request: pytest.FixtureRequest, reference: Path) -> tuple[karat.Judgments, dict[str, Any]]:
    """The judgments of those who completed the questionnaire, and the golden values."""
    name = request.param
    golden = json.loads((reference / "ajt" / "golden.json").read_text())[name]
    whole = karat.read(reference / "ajt" / f"{name}.csv", mapping=CHOICE if name == "forced_choice" else RATING)
    incomplete = completion(whole)
    assert incomplete.flagged == list(golden["incomplete"])
    kept = whole.frame.filter(~pl.col("participant").is_in(incomplete.flagged))
    return karat.Judgments(kept, whole.scales), golden


def test_every_outlying_trial_with_its_round(case: tuple[karat.Judgments, dict[str, Any]]) -> None:
    judgments, golden = case
    evidence = remfod(judgments)
    expected = {(t["participant"], t["trial"], t["kind"], t["iteration"]) for t in golden["remfod"]["outlier_trials"]}
    assert set(evidence.trials.select("participant", "trial", "kind", "degree").iter_rows()) == expected
    assert evidence.flagged == golden["remfod"]["under_90_percent"]
    for row in evidence.participants.to_dicts():
        own = golden["remfod"]["per_participant"][row["participant"]]
        assert (row["intermissions"], row["rushes"], row["trials"]) == (
            own["intermissions"],
            own["rushes"],
            own["trials"],
        )
        assert row["genuine_share"] == pytest.approx(own["share_genuine"], abs=1e-11)


def test_every_cutoff_of_every_round(case: tuple[karat.Judgments, dict[str, Any]]) -> None:
    judgments, golden = case
    evidence = remfod(judgments)
    for one in golden["remfod"]["iterations"]:
        ours = evidence.cutoffs.filter(pl.col("round") == one["iteration"])
        for group, key in (("function", "cutoffs_item_function"), ("participant", "cutoffs_participant")):
            rows = {row["name"]: row for row in ours.filter(pl.col("group") == group).to_dicts()}
            assert rows.keys() == one[key].keys()
            for name, values in one[key].items():
                assert rows[name]["trials"] == values["n"]
                for column in ("median", "mad", "lower", "upper"):
                    assert rows[name][column] * 1000 == pytest.approx(values[column], abs=1e-6)


@pytest.mark.parametrize(
    ("rule", "key"), [("participant", "participant_criterion_only"), ("function", "item_criterion_only")]
)
def test_one_criterion_alone(rule: str, key: str, case: tuple[karat.Judgments, dict[str, Any]]) -> None:
    judgments, golden = case
    evidence = remfod(judgments, rule)
    counts = evidence.participants
    expected = golden["remfod_variants_for_sensitivity"][key]
    assert (counts["intermissions"].sum(), counts["rushes"].sum()) == (expected["intermissions"], expected["rushes"])
    assert evidence.rounds == expected["iterations_with_outliers"]


def test_without_the_constant(case: tuple[karat.Judgments, dict[str, Any]]) -> None:
    judgments, golden = case
    evidence = remfod(judgments, mad_constant=1.0, inclusive=True)
    counts = evidence.participants
    expected = golden["remfod_variants_for_sensitivity"]["mad_without_1.4826"]
    assert evidence.flagged == expected["under_90_percent"]
    assert (counts["intermissions"].sum(), counts["rushes"].sum()) == (expected["intermissions"], expected["rushes"])
    assert remfod(judgments, mad_constant=1.0).flagged == expected["under_90_percent"]


def test_times_at_a_cutoff_change_nothing(case: tuple[karat.Judgments, dict[str, Any]]) -> None:
    judgments, golden = case
    expected = golden["remfod_variants_for_sensitivity"]["strict_comparison"]
    for inclusive in (False, True):
        evidence = remfod(judgments, inclusive=inclusive)
        counts = evidence.participants
        found = (counts["intermissions"].sum(), counts["rushes"].sum())
        assert found == (expected["intermissions"], expected["rushes"])
        assert evidence.flagged == expected["under_90_percent"]


def test_mean_and_median_times(case: tuple[karat.Judgments, dict[str, Any]]) -> None:
    judgments, golden = case
    evidence = speed(judgments)
    assert evidence.flagged == golden["spammers"]["mean_below"] == golden["spammers"]["median_below"]
    for row in evidence.participants.to_dicts():
        assert row["mean"] * 1000 == pytest.approx(golden["spammers"]["mean_rt"][row["participant"]], rel=1e-9)
