"""The quiz about the instructions."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import karat
from karat.messages import Message
from karat.screen.criteria.quiz import quiz
from karat.study.criteria import criterion_settings
from messages import raises, reasons


def judgments(**columns: Any) -> karat.Judgments:
    people = [f"p{n}" for n in range(1, len(next(iter(columns.values()))) + 1)] if columns else ["p1"]
    frame = {"participant": [people[0]], "item": ["a"], "response": ["1"]}
    return karat.Judgments(frame, karat.Ordinal(5), pl.DataFrame({"participant": people, **columns}, strict=False))


def verdicts_of(read: karat.Judgments, **settings: Any) -> dict[str, tuple[bool, Message]]:
    evidence = quiz(read, **settings)
    return {name: (name in evidence.flagged, reason) for name, reason in reasons(evidence).items()}


def passed(attempts: int, **more: int) -> Message:
    return Message("quiz.passed_on_attempt", {"attempts": attempts, **more})


def test_attempts_and_passing() -> None:
    read = judgments(quiz_attempts=[1, 2, 3, 2, None, None], quiz_passed=[True, True, True, False, True, None])
    assert verdicts_of(read) == {
        "p1": (False, passed(1)),
        "p2": (False, passed(2)),
        "p3": (True, passed(3, allowed=2)),
        "p4": (True, Message("quiz.not_passed", {"attempts": 2})),
        "p5": (False, Message("quiz.passed")),
        "p6": (False, Message("quiz.unknown")),
    }
    evidence = quiz(read)
    assert evidence.participants["score"].to_list() == [1, 2, 3, 2, None, None]
    assert evidence.participants["passed"].to_list() == [True, True, True, False, True, None]
    assert evidence.participants["threshold"].to_list() == [2.0] * 6
    assert evidence.notes == (Message("quiz.results_unknown", {"n": 1}),)
    assert verdicts_of(read, attempts_at_most=1)["p2"] == (True, passed(2, allowed=1))


def test_one_column_is_enough() -> None:
    assert verdicts_of(judgments(quiz_attempts=[1, 4])) == {
        "p1": (False, Message("quiz.attempts", {"attempts": 1})),
        "p2": (True, Message("quiz.attempts", {"attempts": 4, "allowed": 2})),
    }
    assert verdicts_of(judgments(quiz_passed=[False, True])) == {
        "p1": (True, Message("quiz.not_passed")),
        "p2": (False, Message("quiz.passed")),
    }


@pytest.mark.parametrize("words", [["true", "false"], ["Yes ", "NO"], ["1", "0"], [1, 0], [1.0, 0.0], ["1.0", "0.0"]])
def test_truth_values_as_other_tools_write_them(words: list[Any]) -> None:
    assert quiz(judgments(quiz_passed=words)).flagged == ["p2"]


def test_what_cannot_be_read_is_said_and_not_flagged() -> None:
    read = judgments(quiz_attempts=["1", "often", "0"], quiz_passed=["perhaps", "yes", ""])
    assert verdicts_of(read) == {
        "p1": (False, Message("quiz.attempts", {"attempts": 1, "unread_passed": "perhaps"})),
        "p2": (False, Message("quiz.passed", {"unread_attempts": "often"})),
        "p3": (False, Message("quiz.unknown", {"unread_attempts": "0"})),
    }
    assert quiz(read).notes[1] == Message("quiz.unread", {"n": 3})


def test_everybody_has_a_row_also_without_answers_or_description() -> None:
    frame = {"participant": ["p1", "new"], "item": ["a", "a"], "response": ["1", "2"]}
    people = {"participant": ["p1", "silent"], "quiz_passed": [True, False]}
    evidence = quiz(karat.Judgments(frame, karat.Ordinal(5), people))
    assert evidence.participants["participant"].to_list() == ["p1", "silent", "new"]
    assert evidence.flagged == ["silent"]


def test_what_it_needs() -> None:
    with raises(karat.KaratError, "quiz.no_columns"):
        quiz(judgments())
    for wrong in (0, 1.5, True):
        with raises(karat.KaratError, "setting.refused", setting="attempts_at_most"):
            quiz(judgments(quiz_passed=[True]), attempts_at_most=wrong)  # type: ignore[arg-type]
    assert quiz(judgments(quiz_passed=[True]), **criterion_settings("quiz", {}).model_dump()).flagged == []
