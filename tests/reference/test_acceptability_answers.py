"""The first paper's screening by the answers, participant by participant: ../shared/reference/ajt/golden.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import karat
from karat.screen.criteria.attention import attention
from karat.screen.criteria.completion import completion
from karat.screen.criteria.controls import compare_accounts, controls, guess_probability
from karat.screen.criteria.remfod import remfod
from karat.screen.criteria.speed import speed
from karat.screen.evidence import Evidence

CHOICE = {
    "left": "option_above_condition", "right": "option_below_condition", "response": "response_condition",
    "expected": "expected_condition",
}  # fmt: skip
RATING = {"expected": "expected_min..expected_max"}


def complete(reference: Path, name: str) -> tuple[karat.Judgments, dict[str, Any], list[str]]:
    """The judgments of those who completed the questionnaire, the golden values, and who did not complete it."""
    golden = json.loads((reference / "ajt" / "golden.json").read_text())[name]
    whole = karat.read(reference / "ajt" / f"{name}.csv", mapping=CHOICE if name == "forced_choice" else RATING)
    incomplete = completion(whole).flagged
    kept = whole.frame.filter(~pl.col("participant").is_in(incomplete))
    return karat.Judgments(kept, whole.scales), golden, incomplete


@pytest.fixture(scope="module")
def choices(reference: Path) -> tuple[karat.Judgments, dict[str, Any], list[str]]:
    return complete(reference, "forced_choice")


@pytest.fixture(scope="module")
def ratings(reference: Path) -> tuple[karat.Judgments, dict[str, Any], list[str]]:
    return complete(reference, "likert")


def values(evidence: Evidence, name: str) -> dict[str, Any]:
    return dict(evidence.participants.select("participant", name).iter_rows())


def eligible(judgments: karat.Judgments, *more: Evidence) -> list[str]:
    """Who is left by response times, by the spammer check and by these criteria."""
    out = {name for one in (speed(judgments), remfod(judgments), *more) for name in one.flagged}
    return sorted(set(judgments.frame["participant"]) - out)


@pytest.mark.parametrize(("criterion", "key"), [(attention, "attention"), (controls, "control")])
def test_choices(criterion: Any, key: str, choices: tuple[karat.Judgments, dict[str, Any], list[str]]) -> None:
    judgments, golden, _ = choices
    expected = golden["response_based"][key]
    evidence = criterion(judgments)
    assert evidence.flagged == expected["rejected"] == golden["rejected_by_criterion"][key]
    assert values(evidence, "right") == expected["correct"]
    assert set(values(evidence, "needed").values()) == {expected["k"]}
    assert set(values(evidence, "trials").values()) == {expected["N"]}
    for probability in values(evidence, "guess_probability").values():
        assert probability == pytest.approx(expected["guess_probability"], abs=1e-12)


@pytest.mark.parametrize("key", ["related", "unrelated"])
def test_choices_in_related_and_unrelated_controls(
    key: str, choices: tuple[karat.Judgments, dict[str, Any], list[str]]
) -> None:
    judgments, golden, _ = choices
    part = judgments.frame.filter(pl.col("item_function_fine") == f"control_{key}")
    evidence = controls(karat.Judgments(part, judgments.scales))
    assert evidence.flagged == golden["response_based"][f"control_{key}"]["rejected"]


def test_attention_in_ratings(ratings: tuple[karat.Judgments, dict[str, Any], list[str]]) -> None:
    judgments, golden, _ = ratings
    expected = golden["response_based_positional"]["attention"]
    evidence = attention(judgments)
    assert evidence.flagged == expected["rejected_ungrammatical_as_run"]
    assert evidence.flagged == golden["rejected_by_criterion"]["attention_2"]
    assert values(evidence, "right") == expected["correct_ungrammatical"]
    assert set(values(evidence, "needed").values()) == {9}
    probability = evidence.participants["guess_probability"].unique().to_list()
    assert probability == [pytest.approx(expected["criteria_as_run"][0]["joint"], abs=1e-11)]


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("key", ["control", "control_related", "control_unrelated"])
def test_controls_in_ratings(
    key: str, published: bool, ratings: tuple[karat.Judgments, dict[str, Any], list[str]]
) -> None:
    judgments, golden, _ = ratings
    if key != "control":
        judgments = karat.Judgments(judgments.frame.filter(pl.col("item_function_fine") == key), judgments.scales)
    expected = golden["response_based_positional"][key]
    rule = expected["criteria_as_run" if published else "criteria_as_intended"][0]
    evidence = controls(judgments, published=published)
    table = evidence.participants
    ending = "as_run" if published else "as_intended"
    for group in ("grammatical", "ungrammatical"):
        assert values(evidence, f"{group}_right") == expected[f"correct_{group}"]
        assert set(values(evidence, f"{group}_needed").values()) == {rule[f"k_{group}"]}
        failed = table.filter(pl.col(f"{group}_right") < pl.col(f"{group}_needed"))["participant"].to_list()
        assert failed == expected[f"rejected_{group}_{ending}"]
    both = set(expected[f"rejected_grammatical_{ending}"]) | set(expected[f"rejected_ungrammatical_{ending}"])
    assert evidence.flagged == sorted(both)
    assert table["guess_probability"].unique().to_list() == [pytest.approx(rule["joint"], abs=1e-11)]
    assert table.filter((pl.col("score") < pl.col("threshold")) != pl.col("flagged")).height == 0


@pytest.mark.parametrize(
    ("account", "key"),
    [("relational", "rejected_pure"), ("extended", "rejected_extended"), ("strict", "rejected_zanuttini")],
)
def test_accounts_of_means(account: str, key: str, ratings: tuple[karat.Judgments, dict[str, Any], list[str]]) -> None:
    judgments, golden, _ = ratings
    expected = golden["relational_accounts"]
    evidence = controls(judgments, account=account)
    assert evidence.flagged == expected[key]
    for group in ("grammatical", "ungrammatical"):
        assert values(evidence, f"mean_{group}") == pytest.approx(expected[f"mean_{group}"], abs=1e-10)
    assert values(evidence, "slips") == expected["slips"]
    if account != "strict":
        assert values(evidence, "score") == pytest.approx(expected["score"], abs=1e-11)


def test_the_probability_to_guess_in_table_5(reference: Path) -> None:
    golden = json.loads((reference / "ajt" / "golden.json").read_text())["guessing_tables"]["table5"]
    for row in golden:
        for account, key in (("relational", "p_pure"), ("extended", "p_extended"), ("strict", "p_zanuttini")):
            ours = guess_probability(row["pairs"], row["pairs"], 5, account)
            assert ours == pytest.approx(row[key], abs=1e-12)


def test_who_is_eligible_in_the_end(
    choices: tuple[karat.Judgments, dict[str, Any], list[str]],
    ratings: tuple[karat.Judgments, dict[str, Any], list[str]],
) -> None:
    judgments, golden, _ = choices
    assert eligible(judgments, attention(judgments), controls(judgments)) == golden["final"]["eligible"]
    judgments, golden, incomplete = ratings
    published = eligible(judgments, attention(judgments), controls(judgments, published=True))
    assert published == golden["final"]["eligible"]
    intended = eligible(judgments, attention(judgments), controls(judgments))
    meant = golden["final_with_intended_control_criterion"]
    assert sorted(set(intended) - set(published)) == meant["additionally_eligible"]
    assert sorted(set(published) - set(intended)) == meant["additionally_rejected"]
    assert len(intended) == meant["n_eligible"]
    assert incomplete == golden["rejected_by_criterion"]["progress"]


def test_the_published_and_the_intended_rule_side_by_side(
    ratings: tuple[karat.Judgments, dict[str, Any], list[str]],
) -> None:
    judgments, golden, _ = ratings
    table = compare_accounts(judgments)
    rows = {row["account"]: row for row in table.to_dicts()}
    published = rows["positional published"]
    meant = golden["final_with_intended_control_criterion"]
    assert set(meant["additionally_eligible"]) == {"p035"} <= set(published["only_here"].split())
    rules = golden["response_based_positional"]["control"]
    as_run = {*rules["rejected_grammatical_as_run"], *rules["rejected_ungrammatical_as_run"]}
    intended = {*rules["rejected_grammatical_as_intended"], *rules["rejected_ungrammatical_as_intended"]}
    assert set(published["only_here"].split()) == as_run - intended
    assert set(published["only_positional"].split()) == intended - as_run
    assert published["guess_probability"] == pytest.approx(rules["criteria_as_run"][0]["joint"], abs=1e-11)
    means = golden["relational_accounts"]
    lines = [rows[account]["flagged"] for account in ("positional", "relational", "extended", "strict")]
    rejected = [means[key] for key in ("rejected_pure", "rejected_extended", "rejected_zanuttini")]
    assert lines == [len(intended), *(len(who) for who in rejected)]
    assert rows["pairwise"]["flagged"] is None
    assert "both sentences of a pair" in rows["pairwise"]["why_not"]


def test_every_scored_answer_is_reported(
    choices: tuple[karat.Judgments, dict[str, Any], list[str]],
    ratings: tuple[karat.Judgments, dict[str, Any], list[str]],
) -> None:
    for judgments, _, _ in (choices, ratings):
        for criterion, function in ((attention, "attention"), (controls, "control")):
            evidence = criterion(judgments)
            assert evidence.trials is not None
            scored = judgments.frame.filter(pl.col("function") == function, pl.col("expected").is_not_null())
            keys = ["participant", "trial", "item", "response", "expected"]
            assert evidence.trials.select(keys).equals(scored.select(keys))
            right = evidence.trials.group_by("participant").agg(pl.col("right").sum(), pl.len())
            assert values(evidence, "rights_minus_wrongs") == {
                name: 2 * good - number for name, good, number in right.iter_rows()
            }
