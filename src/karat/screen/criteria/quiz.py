"""Quiz: participants who did not understand the instructions.

The criterion reads two columns about participants, or the one that there is: `quiz_attempts`, the number of attempts,
and `quiz_passed`, whether the participant passed in the end. Participants are flagged if they did not pass or needed
more attempts than allowed. Other tools write truth values as words or numbers: true, yes, 1 and passed mean yes;
false, no, 0 and failed mean no, regardless of case. Participants without an entry, or with one that cannot be read,
are not flagged, and the reason says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl
from pydantic import Field

from karat.errors import SHOWN_VALUE_LENGTH
from karat.judgments import Judgments
from karat.judgments.scales import answer_text, as_number
from karat.messages import Message
from karat.screen.evidence import Evidence, ScreenError, check_settings, message_columns
from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out

if TYPE_CHECKING:
    from karat.study.check.draft import Draft

ATTEMPTS = 2
YES = ("true", "yes", "1", "passed", "t", "y")
NO = ("false", "no", "0", "failed", "f", "n")
VALUES = {
    "attempts": pl.Int64, "allowed": pl.Int64, "unread_attempts": pl.String, "unread_passed": pl.String,
}  # fmt: skip
"""The values of reasons."""


class QuizSettings(CriterionSettings):
    """Settings for flagging participants who did not understand the instructions."""

    attempts_at_most: int = Field(ATTEMPTS, ge=1, description="How many attempts are tolerated.")


def quiz(judgments: Judgments, attempts_at_most: int = ATTEMPTS) -> Evidence:
    """Participants who did not pass the quiz about the instructions, or needed more than `attempts_at_most` attempts.

    The score is the number of attempts, if known. Further column: passed.

    >>> import karat
    >>> people = {"participant": ["p1", "p2", "p3"], "quiz_attempts": [1, 3, None], "quiz_passed": ["yes", "yes", "no"]}
    >>> j = karat.Judgments({"participant": ["p1"], "item": ["a"], "response": [5]}, karat.Ordinal(5), people)
    >>> quiz(j).table()["reason"].to_list()
    ['passed the quiz on attempt 3 (at most 2 allowed)', 'did not pass the quiz', 'passed the quiz on attempt 1']
    """
    check_settings(QuizSettings, attempts_at_most=attempts_at_most)
    people = judgments.participants
    names = [name for name in ("quiz_attempts", "quiz_passed") if name in people.columns]
    if not names:
        raise ScreenError(Message("quiz.no_columns"))
    scores: list[float | None] = []
    flags, passes, messages = [], [], []
    unread = silent = 0
    for row in people.select(names).iter_rows(named=True):
        texts = {name: _text(row.get(name)) for name in names}
        attempts, passed = _attempts(texts.get("quiz_attempts")), _truth(texts.get("quiz_passed"))
        values = {"quiz_attempts": attempts, "quiz_passed": passed}
        strange = {
            f"unread_{name.removeprefix('quiz_')}": text[:SHOWN_VALUE_LENGTH]
            for name, text in texts.items()
            if text and values[name] is None
        }
        unread += bool(strange)
        silent += attempts is None and passed is None
        flagged, code = _verdict(attempts, passed, attempts_at_most)
        too_many = passed is not False and attempts is not None and attempts > attempts_at_most
        allowed = attempts_at_most if too_many else None
        messages.append(Message(code, {"attempts": attempts, "allowed": allowed, **strange}))
        scores.append(None if attempts is None else float(attempts))
        flags.append(flagged)
        passes.append(passed)
    notes = [Message("quiz.results_unknown", {"n": silent})] if silent else []
    notes += [Message("quiz.unread", {"n": unread})] if unread else []
    table = people.select(
        "participant",
        pl.Series("score", scores, pl.Float64),
        pl.lit(float(attempts_at_most)).alias("threshold"),
        pl.Series("flagged", flags, pl.Boolean),
        *message_columns(messages, VALUES),
        pl.Series("passed", passes, pl.Boolean),
    )
    return Evidence(table, "quiz", {"attempts_at_most": attempts_at_most}, tuple(notes))


def _verdict(attempts: int | None, passed: bool | None, at_most: int) -> tuple[bool, str]:
    """Whether a participant is flagged, and the code of the reason."""
    if passed is False:
        return True, "quiz.not_passed"
    if attempts is None:
        return False, "quiz.passed" if passed else "quiz.unknown"
    return attempts > at_most, "quiz.passed_on_attempt" if passed else "quiz.attempts"


def _text(value: object) -> str | None:
    return None if value is None else answer_text(value).strip() or None


def _truth(text: str | None) -> bool | None:
    word = (text or "").lower().removesuffix(".0")
    return True if word in YES else False if word in NO else None


def _attempts(text: str | None) -> int | None:
    number = as_number(text or "")
    return int(number) if number is not None and number >= 1 and number.is_integer() else None


def _impossible(draft: Draft, settings: QuizSettings) -> Iterator[tuple[str, str]]:
    """The problem that the rule tolerates more attempts than the study allows."""
    texts = draft.study.settings.texts
    if texts.quiz and settings.attempts_at_most > texts.quiz_attempts:
        yield (f"quiz tolerates {settings.attempts_at_most} attempts, but only {texts.quiz_attempts} can be made.",
               "State fewer attempts_at_most, or more quiz_attempts.")  # fmt: skip


CRITERION = Criterion(
    name="quiz",
    title="Comprehension quiz",
    asks="who did not understand the instructions",
    settings=QuizSettings,
    computed_by=quiz,
    stage="completion",
    needs_quiz=True,
    shown_blind=True,
    from_study=lambda study: {"attempts_at_most": study.settings.texts.quiz_attempts},
    impossible=_impossible,
    looks_at=lambda _: ("quiz_attempts", "quiz_passed"),
    careless=False,
    cites=("langsford2018",),
    alternatives=(Alternative("1 attempt", {"attempts_at_most": 1}, "strict"), left_out()),
)
