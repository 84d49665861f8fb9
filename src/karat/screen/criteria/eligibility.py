"""Eligibility: participants whose background does not meet the study's requirements.

There are two kinds of requirements for the columns about participants:

- `answers`: the admissible answers to a background question, {"native_language": ["German"]};
- `same`: two columns that must agree, such as the study's own question and the platform's prescreening,
  {"native_language": "First Language"}.

Answers are compared regardless of case and of blanks around and between words, and numbers by value. A cell may hold
several answers, as a JSON list (["German", "Danish"]) or separated by commas, semicolons or bars, as platforms export
them. One of them is then enough: an answer is admissible if the whole cell or one of its parts is, and two cells agree
if they share a part. This is too generous for answers that are sentences ("No, ..."); state such answers in full, and
use the same wording on the platform. Participants without an answer, or with one that the platform withholds, are not
flagged, and the reason says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import polars as pl
from pydantic import Field

from karat.intake.personal import WITHHELD
from karat.judgments import Judgments
from karat.judgments.scales import answer_text, as_number
from karat.messages import Message
from karat.screen.evidence import Evidence, Fields, ScreenError, message_columns, no_column
from karat.study.criterion import Criterion, CriterionSettings

if TYPE_CHECKING:
    from karat.study.study import Study

CONTRADICTION: Fields = {
    "question": pl.String, "given": pl.String, "admitted": pl.List(pl.String), "other": pl.String, "says": pl.String,
}  # fmt: skip
VALUES: Fields = {
    "n": pl.Int64,
    "absent": pl.List(pl.String),
    "contradictions": pl.List(pl.Struct({"message": pl.String, "values": pl.Struct(CONTRADICTION)})),
}
"""The values of reasons."""
NO_ANSWERS: Mapping[str, Sequence[str]] = MappingProxyType({})
NO_PAIRS: Mapping[str, str] = MappingProxyType({})


class EligibilitySettings(CriterionSettings):
    """Settings for flagging backgrounds that contradict the requirements of the study."""

    answers: dict[str, list[str]] = Field(
        {}, description="Background column = the answers that admit; by default those of the study's questions."
    )
    same: dict[str, str] = Field(
        {},
        description="Background column = the column, such as of the platform's prescreening, that must say the same.",
    )


def eligibility(
    judgments: Judgments, answers: Mapping[str, Sequence[str]] = NO_ANSWERS, same: Mapping[str, str] = NO_PAIRS
) -> Evidence:
    """Participants whose answers about themselves are not eligible, or contradict the platform.

    The score is the number of requirements not met; one is enough. Further columns: statements (how many could be
    checked) and missing (how many could not).

    >>> import karat
    >>> people = {"participant": ["p1", "p2"], "native_language": ["german ", "English"]}
    >>> j = karat.Judgments({"participant": ["p1"], "item": ["a"], "response": [5]}, karat.Ordinal(5), people)
    >>> eligibility(j, answers={"native_language": ["German"]}).table()["reason"].to_list()
    ['answered English to native_language (required: German)', '1 answer as required']
    """
    _check(judgments.participants, answers, same)
    people = judgments.participants
    contradictions = [_contradictions(row, answers, same) for row in people.iter_rows(named=True)]
    checked = [len(answers) + len(same) - len(absent) for _, absent in contradictions]
    messages = [_reason(*result, number) for result, number in zip(contradictions, checked, strict=True)]
    table = people.select(
        "participant",
        pl.Series("score", [float(len(wrong)) for wrong, _ in contradictions], pl.Float64),
        pl.lit(0.0).alias("threshold"),
        pl.Series("flagged", [bool(wrong) for wrong, _ in contradictions], pl.Boolean),
        *message_columns(messages, VALUES),
        pl.Series("statements", checked, pl.Int64),
        pl.Series("missing", [len(absent) for _, absent in contradictions], pl.Int64),
    )
    without = table.filter(pl.col("missing") > 0).height
    notes = (Message("eligibility.unanswered", {"n": without}),) if without else ()
    settings = {"answers": {name: list(admit) for name, admit in answers.items()}, "same": dict(same)}
    return Evidence(table, "eligibility", settings, notes)


def without_answers(evidence: Evidence) -> Evidence:
    """The evidence without the answers that its reasons quote.

    >>> import karat
    >>> people = {"participant": ["p1"], "native_language": ["English"]}
    >>> j = karat.Judgments({"participant": ["p1"], "item": ["a"], "response": [5]}, karat.Ordinal(5), people)
    >>> without_answers(eligibility(j, answers={"native_language": ["German"]})).table()["reason"][0]
    'an answer does not meet the requirements'
    """
    quiet = pl.when("flagged").then(pl.lit("eligibility.not_met_quietly")).otherwise(pl.lit("eligibility.met_quietly"))
    nothing = pl.lit(None, dtype=evidence.participants.schema["values"])
    return replace(evidence, participants=evidence.participants.with_columns(message=quiet, values=nothing))


def _reason(wrong: list[Message], absent: list[str], number: int) -> Message:
    more = {"absent": absent or None}
    if wrong:
        return Message("eligibility.contradicted", {"contradictions": wrong, **more})
    if number:
        return Message("eligibility.as_required", {"n": number, **more})
    return Message("eligibility.no_answer", more)


def _check(people: pl.DataFrame, answers: Mapping[str, Sequence[str]], same: Mapping[str, str]) -> None:
    """Raise ScreenError unless there are requirements, about columns that exist."""
    if not answers and not same:
        raise ScreenError(Message("eligibility.nothing_stated"))
    empty = [name for name, admit in answers.items() if isinstance(admit, str) or not list(admit)]
    if empty:
        raise ScreenError(Message("eligibility.no_list", {"question": empty[0]}))
    columns = [name for name in people.columns if name != "participant"]
    for name in [*answers, *same, *same.values()]:
        if name not in columns:
            raise ScreenError(no_column(name, columns))


def _contradictions(
    row: Mapping[str, object], answers: Mapping[str, Sequence[str]], same: Mapping[str, str]
) -> tuple[list[Message], list[str]]:
    """The requirements that a participant does not meet, and those that cannot be checked."""
    wrong, absent = [], []
    for name, admit in answers.items():
        text = _cell(row[name])
        if text is None:
            absent.append(name)
        elif parts_of(text).isdisjoint({plain(answer) for answer in admit}):
            values = {"question": name, "given": text, "admitted": list(admit)}
            wrong.append(Message("eligibility.not_admitted", values))
    for name, other in same.items():
        first, second = _cell(row[name]), _cell(row[other])
        if first is None or second is None:
            absent.append(name if first is None else other)
        elif parts_of(first).isdisjoint(parts_of(second)):
            values = {"question": name, "given": first, "other": other, "says": second}
            wrong.append(Message("eligibility.not_the_same", values))
    return wrong, list(dict.fromkeys(absent))


def _cell(value: object) -> str | None:
    """The content of a cell; None if it is empty."""
    if isinstance(value, list | tuple):
        value = json.dumps([answer_text(part) for part in value if part is not None], ensure_ascii=False)
    text = "" if value is None else " ".join(answer_text(value).split())
    return None if text in ("", "[]", *WITHHELD) else text


def plain(text: str) -> str:
    """An answer as it is compared: regardless of blanks and case, a number by its value."""
    number = as_number(text.strip())
    return answer_text(number) if number is not None else " ".join(text.casefold().split())


def parts_of(cell: str) -> frozenset[str]:
    """The answers in a cell: the whole cell and, if it holds several, each of them."""
    parts = re.split(r"[,;|]", cell)
    if cell.startswith("["):
        try:
            parts = [answer_text(part) for part in json.loads(cell) if part is not None]
        except ValueError:
            parts = re.split(r"[,;|]", cell.strip("[]").replace("'", "").replace('"', ""))
    return frozenset(plain(part) for part in (cell, *parts) if part.strip())


def _of_study(study: Study) -> dict[str, Any]:
    """The admissible answers that the background questions of a study state."""
    admit = {question.name: question.eligible for question in study.settings.background if question.eligible}
    return {"answers": admit} if admit else {}


CRITERION = Criterion(
    name="eligibility",
    title="Eligibility",
    asks="whose background contradicts what the study asks for",
    settings=EligibilitySettings,
    computed_by=eligibility,
    stage="completion",
    needs_eligibility=True,
    shown_blind=True,
    from_study=_of_study,
    wording=lambda settings: [""] * bool(settings.get("answers")) + ["same"] * bool(settings.get("same")),
    looks_at=lambda settings: {*settings.get("answers", {}), *settings.get("same", {})},
    careless=False,
    cites=("pieper",),
    alternatives=(),
)
