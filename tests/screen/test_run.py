"""The criteria together: stages, rules, and what could not run."""

from __future__ import annotations

import json
from itertools import product

import pytest

import karat
from karat.screen.run import follows, run

LIKERT = karat.datasets.load("likert")


def test_without_rules_there_is_evidence_and_nobody_is_excluded() -> None:
    screening = run(LIKERT)
    assert list(screening.evidence) == [
        "completion", "speed", "remfod", "controls", "attention", "straightlining", "scale_use",
    ]  # fmt: skip
    assert list(screening.skipped) == ["inconsistency"]
    assert screening.excluded == ()
    assert screening.kept == LIKERT
    assert "no rule was stated" in str(screening)


def test_who_is_excluded_early_does_not_move_later_cutoffs() -> None:
    screening = run(LIKERT, {"completion": {}, "remfod": {}, "exclude": "any"})
    assert screening.evidence["completion"].flagged == ["p31"]
    assert "p31" not in screening.evidence["remfod"].participants["participant"].to_list()
    alone = LIKERT.frame.filter(LIKERT.frame["participant"] != "p31")
    again = karat.screen.remfod(karat.Judgments(alone, LIKERT.scales))
    assert screening.evidence["remfod"].flagged == again.flagged
    assert set(screening.excluded) == {"p31", *again.flagged}
    assert screening.remaining == {"completion": 47, "clock": 42, "answers": 42}
    assert screening.kept.participants.height == 42


def test_a_rule_that_needs_both_excludes_only_those_who_are_flagged_by_both() -> None:
    screening = run(LIKERT, {"completion": {}, "remfod": {}, "exclude": "completion and remfod"})
    assert screening.excluded == ()
    assert screening.evidence["remfod"].participants.height == 48


def test_settings_are_those_of_the_study_file() -> None:
    screening = run(LIKERT, {"completion": {"at_least": 0.5}, "exclude": "any"})
    assert screening.excluded == ()
    with pytest.raises(ValueError, match="no setting 'atleast'; is at_least meant"):
        run(LIKERT, {"completion": {"atleast": 0.5}})
    with pytest.raises(ValueError, match="no screening criterion 'remofd'; is remfod meant"):
        run(LIKERT, {"remofd": {}})


def test_what_cannot_run_is_listed_with_the_reason() -> None:
    frame = LIKERT.frame.drop("rt")
    screening = run(karat.Judgments(frame, LIKERT.scales), {"completion": {}, "remfod": {}, "exclude": "any"})
    assert screening.skipped == {
        "remfod": "remfod needs response times, and these judgments have none (column rt, in seconds)."
    }
    assert "remfod could not run" in str(screening)


def test_working_time_needs_the_stated_minutes() -> None:
    rules = {"speed": {"share_of_expected": 0.4, "mean_below": 0.1, "median_below": 0.1}, "exclude": "any"}
    assert "expected_minutes" in run(LIKERT, rules).skipped["speed"]
    flagged = run(LIKERT, rules, minutes=10).evidence["speed"].flagged
    short = LIKERT.participants.filter(LIKERT.participants["working_time"] <= 240)["participant"].to_list()
    assert flagged == short


def test_everybody_excluded_is_an_error_with_a_sentence() -> None:
    with pytest.raises(karat.KaratError, match="exclude every participant"):
        run(LIKERT, {"completion": {"at_least": 1.0}, "speed": {"mean_below": 900.0}, "exclude": "any"})


def test_plain_data_for_the_json_file() -> None:
    data = json.loads(json.dumps(run(LIKERT, {"completion": {}, "remfod": {}, "exclude": "any"}).to_dict()))
    assert data["participants"]["p31"]["excluded"] is True
    assert set(data["participants"]["p01"]["criteria"]["remfod"]) == {"score", "threshold", "flagged", "reason"}
    assert data["summary"]["excluded"] == 6
    assert data["settings"]["exclude"] == "any"


@pytest.mark.parametrize(
    ("rule", "python"),
    [
        ("any", "a or b or c"), ("all", "a and b and c"), (2, "a + b + c >= 2"), ("a and (b or c)", "a and (b or c)"),
        ("not a and b", "not a and b"),
    ],
)  # fmt: skip
def test_rules_mean_what_they_say(rule: str | int, python: str) -> None:
    for a, b, c in product([False, True], repeat=3):
        flags = {"a": a, "b": b, "c": c}
        assert follows(flags, rule) == bool(eval(python, {}, flags))
