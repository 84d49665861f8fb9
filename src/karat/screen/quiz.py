"""Quiz: who did not understand the instructions.

Two columns of the participants are read, whichever there are: `quiz_attempts`, how many attempts a person needed, and
`quiz_passed`, whether the quiz was passed in the end. Flagged is who did not pass, or needed more attempts than are
tolerated. Other tools write truth values as words or numbers; true, yes, 1 and passed mean yes, false, no, 0 and failed
no, in any case. Whoever has no entry, or one that cannot be read, is not flagged: the reason says so.
"""

from __future__ import annotations

import polars as pl

from karat.errors import counted, shown
from karat.judgments import Judgments
from karat.scales import answer_text, as_number
from karat.screen.answer_table import evidence_table
from karat.screen.evidence import Evidence, ScreenError

ATTEMPTS = 2
YES = ("true", "yes", "1", "passed", "t", "y")
NO = ("false", "no", "0", "failed", "f", "n")


def quiz(judgments: Judgments, attempts_at_most: int = ATTEMPTS) -> Evidence:
    """Who did not pass the quiz about the instructions, or needed more than `attempts_at_most` attempts.

    The score is the number of attempts, where it is known. Further column: passed.

    >>> import karat
    >>> people = {"participant": ["p1", "p2", "p3"], "quiz_attempts": [1, 3, None], "quiz_passed": ["yes", "yes", "no"]}
    >>> j = karat.Judgments({"participant": ["p1"], "item": ["a"], "response": [5]}, karat.Ordinal(5), people)
    >>> quiz(j).participants["reason"].to_list()
    ['passed the quiz at attempt 1', 'passed the quiz at attempt 3; 2 are tolerated', 'did not pass the quiz']
    """
    if isinstance(attempts_at_most, bool) or not isinstance(attempts_at_most, int) or attempts_at_most < 1:
        raise ScreenError(f"quiz: attempts_at_most must be a whole number from 1, got {attempts_at_most!r}.")
    people = judgments.participants
    names = [name for name in ("quiz_attempts", "quiz_passed") if name in people.columns]
    if not names:
        raise ScreenError(
            "quiz needs the column quiz_attempts (how many attempts were needed) or quiz_passed (yes or no) in the "
            "table of participants, and there is neither. Name them so, or leave the criterion out."
        )
    told: list[tuple[object, ...]] = []
    unread = silent = 0
    for row in people.select("participant", *names).iter_rows(named=True):
        given = {name: _text(row.get(name)) for name in names}
        attempts, passed = _attempts(given.get("quiz_attempts")), _truth(given.get("quiz_passed"))
        flagged, reason = _verdict(attempts, passed, attempts_at_most)
        values = {"quiz_attempts": attempts, "quiz_passed": passed}
        strange = [f"{name} says {shown(text)}" for name, text in given.items() if text and values[name] is None]
        if strange:
            unread += 1
            reason = f"{reason} ({', '.join(strange)}, which cannot be read)"
        silent += attempts is None and passed is None
        score = None if attempts is None else float(attempts)
        told.append((row["participant"], score, float(attempts_at_most), flagged, reason, passed))
    notes = [f"{counted(silent, 'participant')} without a known result of the quiz, not flagged."] if silent else []
    if unread:
        notes.append(
            f"{counted(unread, 'participant')} with an entry that cannot be read: write whole numbers from 1 in "
            "quiz_attempts, true or false in quiz_passed."
        )
    table = evidence_table(told, {"passed": pl.Boolean})
    return Evidence(table, "quiz", {"attempts_at_most": attempts_at_most}, tuple(notes))


def _verdict(attempts: int | None, passed: bool | None, at_most: int) -> tuple[bool, str]:
    if passed is False:
        return True, "did not pass the quiz" + ("" if attempts is None else f" ({counted(attempts, 'attempt')})")
    if attempts is None:
        return False, "passed the quiz" if passed else "the result of the quiz is not known"
    told = f"passed the quiz at attempt {attempts}" if passed else f"{counted(attempts, 'attempt')} at the quiz"
    if attempts > at_most:
        return True, f"{told}; {at_most} {'is' if at_most == 1 else 'are'} tolerated"
    return False, told


def _text(value: object) -> str | None:
    return None if value is None else answer_text(value).strip() or None


def _truth(text: str | None) -> bool | None:
    word = (text or "").lower().removesuffix(".0")
    return True if word in YES else False if word in NO else None


def _attempts(text: str | None) -> int | None:
    number = as_number(text or "")
    return int(number) if number is not None and number >= 1 and number.is_integer() else None
