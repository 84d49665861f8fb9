"""The quiz about the instructions."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import karat
from karat.screen.quiz import quiz
from karat.study.criteria import criterion_settings


def judgments(**columns: Any) -> karat.Judgments:
    people = [f"p{n}" for n in range(1, len(next(iter(columns.values()))) + 1)] if columns else ["p1"]
    frame = {"participant": [people[0]], "item": ["a"], "response": ["1"]}
    return karat.Judgments(frame, karat.Ordinal(5), pl.DataFrame({"participant": people, **columns}, strict=False))


def told(read: karat.Judgments, **settings: Any) -> dict[str, tuple[bool, str]]:
    rows = quiz(read, **settings).participants.iter_rows(named=True)
    return {row["participant"]: (row["flagged"], row["reason"]) for row in rows}


def test_attempts_and_passing() -> None:
    read = judgments(quiz_attempts=[1, 2, 3, 2, None, None], quiz_passed=[True, True, True, False, True, None])
    assert told(read) == {
        "p1": (False, "passed the quiz at attempt 1"),
        "p2": (False, "passed the quiz at attempt 2"),
        "p3": (True, "passed the quiz at attempt 3; 2 are tolerated"),
        "p4": (True, "did not pass the quiz (2 attempts)"),
        "p5": (False, "passed the quiz"),
        "p6": (False, "the result of the quiz is not known"),
    }
    evidence = quiz(read)
    assert evidence.participants["score"].to_list() == [1, 2, 3, 2, None, None]
    assert evidence.participants["passed"].to_list() == [True, True, True, False, True, None]
    assert evidence.participants["threshold"].to_list() == [2.0] * 6
    assert evidence.notes == ("1 participant without a known result of the quiz, not flagged.",)
    assert told(read, attempts_at_most=1)["p2"] == (True, "passed the quiz at attempt 2; 1 is tolerated")


def test_one_column_is_enough() -> None:
    assert told(judgments(quiz_attempts=[1, 4])) == {
        "p1": (False, "1 attempt at the quiz"),
        "p2": (True, "4 attempts at the quiz; 2 are tolerated"),
    }
    assert told(judgments(quiz_passed=[False, True])) == {
        "p1": (True, "did not pass the quiz"),
        "p2": (False, "passed the quiz"),
    }


@pytest.mark.parametrize("words", [["true", "false"], ["Yes ", "NO"], ["1", "0"], [1, 0], [1.0, 0.0], ["1.0", "0.0"]])
def test_truth_values_as_other_tools_write_them(words: list[Any]) -> None:
    assert quiz(judgments(quiz_passed=words)).flagged == ["p2"]


def test_what_cannot_be_read_is_said_and_not_flagged() -> None:
    read = judgments(quiz_attempts=["1", "often", "0"], quiz_passed=["perhaps", "yes", ""])
    assert told(read) == {
        "p1": (False, '1 attempt at the quiz (quiz_passed says "perhaps", which cannot be read)'),
        "p2": (False, 'passed the quiz (quiz_attempts says "often", which cannot be read)'),
        "p3": (False, 'the result of the quiz is not known (quiz_attempts says "0", which cannot be read)'),
    }
    assert quiz(read).notes[1].startswith("3 participants with an entry that cannot be read: write whole numbers")


def test_everybody_has_a_row_also_without_answers_or_description() -> None:
    frame = {"participant": ["p1", "new"], "item": ["a", "a"], "response": ["1", "2"]}
    people = {"participant": ["p1", "silent"], "quiz_passed": [True, False]}
    evidence = quiz(karat.Judgments(frame, karat.Ordinal(5), people))
    assert evidence.participants["participant"].to_list() == ["p1", "silent", "new"]
    assert evidence.flagged == ["silent"]


def test_what_it_needs() -> None:
    with pytest.raises(karat.KaratError, match=r"quiz needs the column quiz_attempts .* or quiz_passed"):
        quiz(judgments())
    for wrong in (0, 1.5, True):
        with pytest.raises(karat.KaratError, match="whole number from 1"):
            quiz(judgments(quiz_passed=[True]), attempts_at_most=wrong)  # type: ignore[arg-type]
    assert quiz(judgments(quiz_passed=[True]), **criterion_settings("quiz", {}).model_dump()).flagged == []
