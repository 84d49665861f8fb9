"""Yes and no to controls: who distinguishes them, and who always says yes."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import karat
from karat.messages import Message
from karat.models.proportions import sensitivity
from karat.screen.criteria.controls import controls

FURTHER = ["hits", "yes_trials", "false_alarms", "no_trials", "d_prime", "criterion_c"]


def answered(people: dict[str, tuple[str, str]], scale: karat.Scale | None = None) -> karat.Judgments:
    """Each participant's answers where yes is right and where no is right: y, n or - for none."""
    words = {"y": "yes", "n": "no", "-": None}
    rows = [
        {"participant": name, "item": f"{right}{n}", "response": words[one], "function": "control", "expected": right}
        for name, groups in people.items()
        for right, answers in zip(("yes", "no"), groups, strict=True)
        for n, one in enumerate(answers)
    ]
    return karat.Judgments(pl.DataFrame(rows, schema_overrides={"response": pl.String}), scale or yes_or_no())


def yes_or_no() -> karat.Binary:
    return karat.Binary(("no", "yes"))


def rows(evidence: karat.screen.Evidence) -> dict[str, dict[str, Any]]:
    return {row["participant"]: row for row in evidence.participants.to_dicts()}


def test_counts_and_measures() -> None:
    evidence = controls(answered({"knows": ("yyyyyn", "nnnnny"), "agrees": ("yyyyyy", "yyyyyy")}))
    result = rows(evidence)
    assert [result["knows"][name] for name in FURTHER[:4]] == [5, 6, 1, 6]
    d_prime, criterion = sensitivity([5, 6], [6, 6], [1, 6], [6, 6])
    assert [result[name]["d_prime"] for name in result] == pytest.approx(d_prime.tolist())
    assert [result[name]["criterion_c"] for name in result] == pytest.approx(criterion.tolist())
    assert result["agrees"]["d_prime"] == 0
    assert result["agrees"]["criterion_c"] < -1
    assert evidence.notes == ()


def test_they_flag_nobody_and_change_no_score() -> None:
    people = {"p1": ("yyyyy", "nnnnn"), "p2": ("yyyyy", "yyyyy")}
    evidence = controls(answered(people))
    same = controls(answered(people, karat.Nominal(["no", "yes"])))
    assert not set(FURTHER) & set(same.participants.columns)
    assert same.participants.equals(evidence.participants.drop(FURTHER))


def test_an_answer_that_is_missing_is_no_trial_here() -> None:
    result = rows(controls(answered({"p1": ("yy-", "n--")})))["p1"]
    assert [result[name] for name in FURTHER[:4]] == [2, 2, 0, 1]


def test_one_kind_of_sentences_leaves_them_undefined_with_a_note() -> None:
    evidence = controls(answered({"p1": ("yyyyyy", ""), "p2": ("yyyyyy", "nnnnnn")}))
    result = rows(evidence)
    assert (result["p1"]["d_prime"], result["p1"]["criterion_c"]) == (None, None)
    assert result["p2"]["d_prime"] > 0
    assert evidence.notes == (Message("sensitivity.undefined", {"undefined": 1, "participants": 2}),)
    alone = controls(answered({"p1": ("yyyyyy", "")}))
    assert alone.notes[0] == Message("sensitivity.undefined", {"undefined": 1, "participants": 1})


def test_yes_is_the_second_level_however_expected_spells_it() -> None:
    frame = {
        "participant": ["p1"] * 6, "item": list("abcdef"), "function": ["control"] * 6,
        "expected": ["1", "true", "yes", "0", "false", "0|1"], "response": ["yes", "yes", "no", "yes", "no", "yes"],
    }  # fmt: skip
    result = rows(controls(karat.Judgments(frame, yes_or_no())))["p1"]
    assert [result[name] for name in FURTHER[:4]] == [2, 3, 1, 2]


def test_only_questions_of_yes_and_no_are_looked_at() -> None:
    frame = {
        "participant": ["p1"] * 4 + ["p2"], "item": list("abcda"), "function": ["control"] * 5,
        "question": ["good", "good", "rate", "rate", "rate"], "expected": ["yes", "no", "3-5", "1-2", "3-5"],
        "response": ["yes", "yes", "5", "5", "4"],
    }  # fmt: skip
    result = rows(controls(karat.Judgments(frame, {"good": yes_or_no(), "rate": karat.Ordinal(5)})))
    assert [result["p1"][name] for name in FURTHER[:4]] == [1, 1, 1, 1]
    assert [result["p2"][name] for name in FURTHER] == [None] * 6
