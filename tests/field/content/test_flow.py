"""The steps of a study and the forms between them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import KaratError
from karat.field.content.flow import (
    LONGEST_COMMENT,
    STEPS,
    background_form,
    check_background,
    comment_text,
    eligible,
    grade_quiz,
    next_step,
    one_line,
    quiz_form,
    quiz_outcome,
    steps,
)
from karat.field.content.texts import words
from messages import refuses
from tests.field.content.pages import small, template

ASKED = """
[texts]
quiz_attempts = 3
[[texts.quiz]]
question = "Which?"
answers = ["a", "b"]
right = 2
feedback = "The *second*."
[[texts.quiz]]
question = "How?"
answers = ["x", "y", "z"]
right = 1
[[background]]
name = "language"
question = "Your <first> language?"
answers = ["German", "Danish", "North  Frisian"]
eligible = ["German", "North  Frisian"]
[[background]]
name = "age"
question = "How old?"
required = false
[[background]]
name = "region"
question = "Where?"
answers = ["north", "south"]
eligible = ["north"]
when = "after"
"""
RIGHT = {"quiz-1": "2", "quiz-2": "1"}


def test_a_study_has_the_steps_it_says_something_about(tmp_path: Path) -> None:
    bare = small(tmp_path / "a", rest="[texts]\ncomment = false")
    assert steps(bare) == ("welcome", "instructions", "trials", "done")
    whole = template("likert")
    assert steps(whole) == ("welcome", "consent", "background", "instructions", "quiz", "trials", "comment",
                            "debriefing", "done")  # fmt: skip
    asked = small(tmp_path / "b", rest=ASKED)
    assert steps(asked) == ("welcome", "background", "instructions", "quiz", "trials", "background-after", "comment",
                            "done")  # fmt: skip


def test_one_step_leads_to_the_next(tmp_path: Path) -> None:
    for study in (template("likert"), small(tmp_path, rest=ASKED)):
        way = ["welcome"]
        while way[-1] != "done":
            way.append(next_step(study, way[-1]))
        assert tuple(way) == steps(study)
        assert next_step(study, "done") == "done"
    # A step that the study no longer has leads on to the next that it has.
    assert next_step(small(tmp_path / "bare"), "consent") == "instructions"
    with refuses(KaratError, "dinner", *steps(study)):
        next_step(study, "dinner")


def test_two_sessions_ask_once_and_tell_at_the_end(tmp_path: Path) -> None:
    study = small(tmp_path, rest=ASKED + "[questionnaire]\nsessions = 2\n[order]\ntest_adjacent = true\n")
    assert steps(study, 1) == ("welcome", "background", "instructions", "quiz", "trials", "done")
    assert steps(study, 2) == ("welcome", "instructions", "trials", "background-after", "comment", "done")
    assert set(steps(study, 1)) | set(steps(study, 2)) <= set(STEPS)
    assert next_step(study, "trials", 1) == "done"


def test_the_background_form(tmp_path: Path) -> None:
    study = small(tmp_path, rest=ASKED)
    language, age = background_form(study, "before")
    assert language.question == "Your &lt;first&gt; language?"
    assert language.answers[0] == ("German", "German")
    assert (age.answers, age.required) == ((), False)
    assert [field.name for field in background_form(study, "after")] == ["region"]


@pytest.mark.parametrize(
    ("form", "answers", "errors"),
    [
        ({"language": "German", "age": " 40\n"}, {"language": "German", "age": "40"}, {}),
        ({"language": "North Frisian"}, {"language": "North  Frisian"}, {}),
        ({"age": "40"}, {"age": "40"}, {"language": "page.required"}),
        ({"language": "  "}, {}, {"language": "page.required"}),
        ({"language": "Klingon"}, {}, {"language": "background.choose"}),
        ({"language": "German", "age": "x" * 501}, {"language": "German"}, {"age": "page.too_long"}),
        ({"language": "German", "region": "north", "other": "x"}, {"language": "German"}, {}),
    ],
)
def test_background_answers(
    tmp_path: Path, form: dict[str, str], answers: dict[str, str], errors: dict[str, str]
) -> None:
    checked = check_background(small(tmp_path, rest=ASKED), "before", form)
    assert checked.answers == answers
    assert checked.errors == errors
    assert set(errors.values()) <= set(words("en"))


def test_who_is_eligible(tmp_path: Path) -> None:
    study = small(tmp_path, rest=ASKED)
    assert eligible(study, {"language": "German"})
    assert eligible(study, {"language": "North  Frisian", "age": "90"})
    assert not eligible(study, {"language": "Danish"})
    assert not eligible(study, {})
    # What is asked after the trials cannot keep anybody out; screening looks at it.
    assert eligible(study, {"language": "German", "region": "south"})


def test_the_quiz_is_graded(tmp_path: Path) -> None:
    study = small(tmp_path, rest=ASKED)
    assert [field.name for field in quiz_form(study)] == ["quiz-1", "quiz-2"]
    assert quiz_form(study)[1].answers == (("1", "x"), ("2", "y"), ("3", "z"))
    assert grade_quiz(study, RIGHT).passed
    wrong = grade_quiz(study, {"quiz-1": "1", "quiz-2": "1"})
    assert wrong.wrong == (("quiz-1", "The *second*."),)
    assert not wrong.passed
    for given_answer in ("", "0", "4", "1 ", "x"):
        half = grade_quiz(study, {"quiz-1": "2", "quiz-2": given_answer})
        assert half.unanswered == ("quiz-2",)
        assert not half.passed


def test_the_quiz_has_as_many_attempts_as_stated(tmp_path: Path) -> None:
    study = small(tmp_path, rest=ASKED)
    right, wrong = grade_quiz(study, RIGHT), grade_quiz(study, {"quiz-1": "1", "quiz-2": "1"})
    assert [quiz_outcome(study, attempts, wrong) for attempts in (1, 2, 3, 4)] == ["again", "again", "failed", "failed"]
    assert quiz_outcome(study, 3, right) == "passed"


@given(st.text(max_size=60))
def test_what_people_write_can_be_stored(text: str) -> None:
    for kept in (one_line(text), comment_text(text)):
        assert kept.encode("utf-8").decode() == kept
        assert not any(ord(letter) < 32 and letter != "\n" for letter in kept)
    assert "\n" not in one_line(text)


def test_surrogates_and_endless_comments() -> None:
    assert one_line("a\ud800b") == "ab"
    assert len(comment_text("x" * 100_000)) == LONGEST_COMMENT
    assert comment_text("=SUM(A1)\n\nfine") == "=SUM(A1)\n\nfine"
