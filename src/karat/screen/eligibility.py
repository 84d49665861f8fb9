"""Eligibility: whose background contradicts what the study asks for.

Two kinds of statements about the columns of the participants:

- `answers`: which answers to a background question admit to the study, {"native_language": ["German"]};
- `same`: which two columns must say the same, such as the study's own question and the platform's prescreening,
  {"native_language": "First Language"}.

Answers are compared without regard to case and to blanks around and between words, numbers by their value. A cell may
hold several answers, as a list in JSON (["German", "Danish"]) or with commas, semicolons or bars between them, as
platforms export questions with several answers. Then one of them is enough: an answer admits if the whole cell or one
of its parts is among those that admit, and two cells say the same if they share a part. Whoever has no answer, or one
that the platform withholds, is not flagged: the reason says so. Agreeing on a part is generous with answers that are
sentences ("No, ..."); state such answers in full and ask for the same wording on the platform.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import polars as pl

from karat.columns import nearest
from karat.errors import counted
from karat.intake.readers.prolific import WITHHELD
from karat.judgments import Judgments
from karat.scales import answer_text, as_number
from karat.screen.answer_table import evidence_table
from karat.screen.evidence import Evidence, ScreenError

NO_ANSWERS: Mapping[str, Sequence[str]] = MappingProxyType({})
NO_PAIRS: Mapping[str, str] = MappingProxyType({})


def eligibility(
    judgments: Judgments, answers: Mapping[str, Sequence[str]] = NO_ANSWERS, same: Mapping[str, str] = NO_PAIRS
) -> Evidence:
    """Whose answers about themselves are not among those that admit, or contradict what the platform knows.

    The score is the number of statements that do not hold; one is enough. Further columns: statements (how many
    could be looked at) and missing (how many could not).

    >>> import karat
    >>> people = {"participant": ["p1", "p2"], "native_language": ["german ", "English"]}
    >>> j = karat.Judgments({"participant": ["p1"], "item": ["a"], "response": [5]}, karat.Ordinal(5), people)
    >>> eligibility(j, answers={"native_language": ["German"]}).participants["reason"].to_list()
    ['1 answer as the study asks', 'answered English to native_language; the study asks for German']
    """
    _check(judgments.participants, answers, same)
    told: list[tuple[object, ...]] = []
    for row in judgments.participants.iter_rows(named=True):
        wrong, absent = _contradictions(row, answers, same)
        seen = len(answers) + len(same) - len(absent)
        reasons = list(wrong)
        if absent:
            reasons.append(f"no answer to {', '.join(absent)}")
        if not wrong and seen:
            reasons.insert(0, f"{counted(seen, 'answer')} as the study asks")
        flagged = bool(wrong)
        told.append((row["participant"], float(len(wrong)), 0.0, flagged, "; ".join(reasons), seen, len(absent)))
    table = evidence_table(told, {"statements": pl.Int64, "missing": pl.Int64})
    without = table.filter(pl.col("missing") > 0).height
    notes = (f"{counted(without, 'participant')} without an answer, not flagged for that.",) if without else ()
    settings = {"answers": {name: list(admit) for name, admit in answers.items()}, "same": dict(same)}
    return Evidence(table, "eligibility", settings, notes)


def _check(people: pl.DataFrame, answers: Mapping[str, Sequence[str]], same: Mapping[str, str]) -> None:
    """Whether something is stated, about columns that are there."""
    if not answers and not same:
        raise ScreenError(
            'eligibility: nothing is stated. Say which answers admit, answers = { native_language = ["German"] }, or '
            'which columns must agree, same = { native_language = "First Language" }.'
        )
    empty = [name for name, admit in answers.items() if isinstance(admit, str) or not list(admit)]
    if empty:
        raise ScreenError(f'eligibility: the answers to {empty[0]} must be a list such as ["German"].')
    known = [name for name in people.columns if name != "participant"]
    for name in [*answers, *same, *same.values()]:
        if name not in known:
            close = nearest(name, known)
            hint = f"is {close} meant?" if close else f"there are {', '.join(known) or 'none'}."
            raise ScreenError(f"eligibility: the table of participants has no column {name}; {hint}")


def _contradictions(
    row: Mapping[str, object], answers: Mapping[str, Sequence[str]], same: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """What does not hold for a participant, in words, and which statements cannot be looked at."""
    wrong, absent = [], []
    for name, admit in answers.items():
        given = _cell(row[name])
        if given is None:
            absent.append(name)
        elif parts_of(given).isdisjoint({plain(answer) for answer in admit}):
            wrong.append(f"answered {given} to {name}; the study asks for {' or '.join(admit)}")
    for name, other in same.items():
        here, there = _cell(row[name]), _cell(row[other])
        if here is None or there is None:
            absent.append(name if here is None else other)
        elif parts_of(here).isdisjoint(parts_of(there)):
            wrong.append(f"answered {here} to {name}, while {other} says {there}")
    return wrong, list(dict.fromkeys(absent))


def _cell(value: object) -> str | None:
    """What a cell says; None where it says nothing."""
    if isinstance(value, list | tuple):
        value = json.dumps([answer_text(part) for part in value if part is not None], ensure_ascii=False)
    text = "" if value is None else " ".join(answer_text(value).split())
    return None if text in ("", "[]", *WITHHELD) else text


def plain(text: str) -> str:
    """An answer as it is compared: blanks and case evened out, a number by its value.

    >>> plain(" High  School "), plain("30.0")
    ('high school', '30')
    """
    number = as_number(text.strip())
    return answer_text(number) if number is not None else " ".join(text.casefold().split())


def parts_of(cell: str) -> frozenset[str]:
    """The answers that a cell holds: the whole of it and, where there are several, each of them.

    >>> sorted(parts_of('["German", "Danish"]')), sorted(parts_of("German; Danish"))
    (['["german", "danish"]', 'danish', 'german'], ['danish', 'german', 'german; danish'])
    """
    parts = re.split(r"[,;|]", cell)
    if cell.startswith("["):
        try:
            parts = [answer_text(part) for part in json.loads(cell) if part is not None]
        except ValueError:
            parts = re.split(r"[,;|]", cell.strip("[]").replace("'", "").replace('"', ""))
    return frozenset(plain(part) for part in (cell, *parts) if part.strip())
