"""Expected answers: whatever the item, they must be on the scale; what is meant by a wrong one is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from karat.judgments.scales import Binary, Choice, Continuous, Magnitude, Nominal, Ordinal, Scale
from karat.study.check import check
from karat.study.check.expected import is_known
from karat.study.study import load
from tests.study.check.breaks import study_folder
from tests.study.check.builder import Study, choice, likert, row


@pytest.mark.parametrize(
    ("scale", "fine", "wrong"),
    [
        (Ordinal(5), ["5", "5.0", " 4 ", "1-2", "2-1", "1|3-5", "4|5"], ["6", "0-2", "1,2", "4|x", "five", "1.5"]),
        (Ordinal(["bad", "good"]), ["bad", "bad|good"], ["Bad", "1"]),
        (Ordinal([-1, 0, 1]), ["-1", "-1-0", "0-1"], ["2", "-2"]),
        (Binary(("no", "yes")), ["yes", "no", "1", "false", "yes|no"], ["yess", "Yes", "ja", "2"]),
        (Nominal(["a-b", "c|d", "é"]), ["a-b", "c|d", "é", "a-b|é"], ["a", "c"]),
        (Choice(), ["left", "RIGHT", "left|right"], ["none", "3"]),
        (Choice(none=True), ["none"], ["both"]),
        (Magnitude(100), ["50", "101-10000", "0-99", "0.5"], ["0", "high", "-3"]),
        (Continuous(0, 100), ["0", "100", "90-200", "-5-300"], ["101", "150-200"]),
        (Continuous(), ["-7", "3-5"], ["x"]),
    ],
)
def test_what_a_scale_may_be_expected_to_be_answered_with(scale: Scale, fine: list[str], wrong: list[str]) -> None:
    assert [answer for answer in fine if not is_known(scale, answer)] == []
    assert [answer for answer in wrong if is_known(scale, answer)] == []


def found(study: Study, folder: Path) -> list[tuple[str, str, str]]:
    study.write(folder)
    findings = [finding for finding in check(load(folder)).findings if finding.rule == "expected"]
    return [(finding.message, finding.fix, finding.place) for finding in findings]


def test_a_test_item_is_named_with_its_row_and_column(tmp_path: Path) -> None:
    (finding,) = check(load(study_folder("expected__of-a-test-item", tmp_path))).findings
    assert (finding.grade, finding.place) == ("error", "items.csv:5")
    names = ("t02", '"6"', "expected", "1, 2, 3, 4, 5")
    assert [name for name in names if name not in finding.message] == []


@pytest.mark.parametrize("function", ["filler", "calibration", "control", "attention"])
@pytest.mark.parametrize(
    ("answer", "fix"),
    [
        ("1–2", "1-2?"),
        ("1,2", "1|2?"),
        ("1 or 2", "1|2?"),
        ("Very Unnatural", "1?"),
        ("2-Jan", "spreadsheet"),
        ("2026-02-01", "spreadsheet"),
    ],
)
def test_what_is_meant_is_asked(function: str, answer: str, fix: str, tmp_path: Path) -> None:
    study = likert()
    study.only(function)[0]["expected"] = answer
    ((message, fixed, _),) = found(study, tmp_path)
    assert (f'"{answer}"' in message, "expected" in message) == (True, True)
    assert fix in fixed


@pytest.mark.parametrize(
    ("task", "scale", "answer", "fix"),
    [
        ("yes-no", {"levels": ["no", "yes"]}, "yess", "yes?"),
        ("yes-no", {"levels": ["no", "yes"], "labels": ["Nein", "Ja"]}, "ja", "yes?"),
        ("yes-no", {"levels": ["nein", "ja"]}, "Ja", "ja?"),
        ("label", {"levels": ["time", "reason"]}, "raeson", "reason?"),
        ("label", {"levels": ["time", "reason"]}, "Top 10", ""),
        ("magnitude", {"modulus": 100}, "1,5", "1.5?"),
        ("magnitude", {"modulus": 100}, "0", ""),
    ],
)
def test_other_scales(task: str, scale: dict[str, Any], answer: str, fix: str, tmp_path: Path) -> None:
    study = Study({"title": "x"}, {"task": task, "items": "items.csv", "scale": scale})
    study.tests = [row("t1", "test", "It rains.", expected=answer), row("t2", "test", "It snows.", expected="")]
    ((_, fixed, place),) = found(study, tmp_path)
    assert (fix in fixed, "?" in fixed) == (True, bool(fix)), "the answer that is meant, where there is one"
    assert place == "items.csv:2"


def test_equal_answers_are_reported_once_and_many_are_counted(tmp_path: Path) -> None:
    study = likert()
    for one in study.only("control"):
        one["expected"] = "6"
    ((message, fix, _),) = found(study, tmp_path / "a")
    names = ("10 items", "lines 32, 33, 34, 35", "6 more", '"6"')
    assert [name for name in names if name not in message] == []
    assert ("3-5" in fix, "1-2" in fix) == (True, True)
    for number, one in enumerate(study.only("control"), start=6):
        one["expected"] = str(number)
    result = found(study, tmp_path / "b")
    assert len(result) == 6
    assert (
        result[-1][0]
        == "5 more rows (lines 37, 38, 39, 40 and 1 more) with expected answers that are not on the scale."
    )


def test_of_two_rows_of_a_choice_one_is_marked_by_any_word(tmp_path: Path) -> None:
    study = choice()
    study.drop("control", keep=7)
    for sentence, marked in (("It rains today.", "x"), ("Rains it today.", "")):
        study.others.append(row("k1", "control", sentence, expected=marked, subgroup="related", verified="yes"))
    assert found(study, tmp_path / "a") == []
    study.only("filler")[0]["expected"] = "2.0"
    ((message, fix, _),) = found(study, tmp_path / "b")
    assert ('"2.0"' in message, "expected" in message) == (True, True)
    assert "2?" in fix


def test_answers_are_checked_where_no_lists_can_be_made(tmp_path: Path) -> None:
    study = likert()
    study.tests[0].update(order="XY", expected="9")
    study.write(tmp_path)
    assert {"levels", "expected"} <= {finding.rule for finding in check(load(tmp_path)).findings}


def test_an_acceptability_that_is_not_understood_is_reported(tmp_path: Path) -> None:
    study = likert()
    study.only("filler")[0]["acceptability"] = "hihg"
    study.only("filler")[1]["acceptability"] = "5"
    study.write(tmp_path / "a")
    (finding,) = check(load(tmp_path / "a")).findings
    assert finding.message.endswith('"hihg" in the column acceptability is ignored.')
    assert (finding.rule, finding.fix) == ("acceptability", "Did you mean high?")
    for number, one in enumerate(study.only("filler")):
        one["acceptability"] = f"4.{number + 1}"
    study.write(tmp_path / "b")
    (finding,) = check(load(tmp_path / "b")).findings
    assert finding.message.startswith("6 rows (lines ")
    assert finding.message.endswith('have an ignored value in the column acceptability, such as "4.1".')
