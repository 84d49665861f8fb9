"""What the readers of Label Studio's exports gather: answers, right answers, and annotators without their addresses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import polars as pl

from karat.errors import Problems
from karat.intake.annotators import Annotators
from karat.intake.cells import cell_text
from karat.intake.readers.generic import typed_column
from karat.intake.reading import Reading
from karat.judgments.checks import Place
from karat.judgments.columns import COLUMNS
from karat.judgments.scales import Choice, Scale
from karat.judgments.times import instants
from karat.messages import Message

ANSWERS = {"choices": "choices", "rating": "rating", "pairwise": "selected", "number": "number"}
"""The control tags that ask for a judgment, and the key of their value that holds it."""
OWN = ("participant", "item", "response", "rt", "time", "question", "annotation_id")


SEVERAL = Message("aside.several_choices")


def has_several(value: dict[str, Any]) -> bool:
    """Whether more than one choice was made."""
    choices = value.get("choices")
    return isinstance(choices, list) and len(choices) > 1


def answer_of(value: dict[str, Any]) -> tuple[bool, str | None]:
    """Whether a value holds an answer, and the answer.

    >>> answer_of({"choices": ["good"]}), answer_of({"rating": 4}), answer_of({"text": ["hm"]})
    ((True, 'good'), (True, '4'), (False, None))
    """
    for key in ANSWERS.values():
        if key not in value:
            continue
        found = value[key]
        if isinstance(found, list):
            simple = all(isinstance(part, str | int | float) for part in found)
            return simple, cell_text(found[0] if len(found) == 1 else found or None)
        return not isinstance(found, dict), cell_text(found)
    return False, None


@dataclass
class LabelStudioAnswers:
    """The answers of a study, as they are found one by one."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    expected: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    pairwise: set[str] = field(default_factory=set)
    set_aside: dict[Message, int] = field(default_factory=dict)
    bad_units: int = 0
    problems: Problems = field(default_factory=Problems)
    notes: list[Message] = field(default_factory=list)
    _annotators: Annotators = field(default_factory=Annotators)

    def annotator(self, completed_by: object) -> str | None:
        """The annotator's number; who is only known by an e-mail address or a name gets one of our own."""
        if isinstance(completed_by, dict):
            own = completed_by.get("id")
            completed_by = completed_by.get("email") if own is None or isinstance(own, list | dict) else own
        return self._annotators.name(cell_text(completed_by))

    def add(self, answer: dict[str, Any], source: dict[str, str | None], place: Place) -> None:
        """An answer, with the data of its task; a name that karat uses otherwise gets an underscore."""
        extra = {f"{name}_" if name in COLUMNS or name in OWN else name: text for name, text in source.items()}
        self.rows.append({**extra, **answer})
        self.places.append(place)

    def expect(self, item: str, question: str, response: str | None) -> None:
        """The answer of a ground truth annotation, which is no judgment but what others should say."""
        self.set_apart(Message("aside.ground_truth"))
        if response is not None and response not in self.expected.setdefault((item, question), []):
            self.expected[item, question].append(response)

    def set_apart(self, reason: Message, count: int = 1) -> None:
        """Count what is no judgment."""
        if count:
            self.set_aside[reason] = self.set_aside.get(reason, 0) + count

    def reject(self, place: Place, what: str, mend: str, value: object) -> None:
        """Count what should be a judgment and cannot be read."""
        file, kind, number = place
        self.problems.add(what, mend, value=cell_text(value), file=file, place=kind, number=number)
        self.bad_units += 1

    def reading(self) -> Reading:
        """The answers as a reader gives them back."""
        frame = self._frame()
        return Reading(
            frame,
            lambda row: self.places[row],
            units_in=frame.height + sum(self.set_aside.values()) + self.bad_units,
            unit="results",
            set_aside=self.set_aside,
            bad_units=self.bad_units,
            problems=self.problems,
            notes=[*self.notes, *self._notes(frame)],
            scales=self._scales(frame),
        )

    def _frame(self) -> pl.DataFrame:
        names = [*OWN, *dict.fromkeys(name for row in self.rows for name in row if name not in OWN)]
        types = {name: pl.Float64() if name == "rt" else pl.String() for name in names}
        frame = pl.DataFrame({name: [row.get(name) for row in self.rows] for name in names}, schema=types)
        if self.expected:
            right = [self.expected.get((row["item"], row["question"])) for row in self.rows]
            told = ["|".join(answers) if answers else None for answers in right]
            frame = frame.with_columns(pl.Series("expected", told, dtype=pl.String))
        frame = frame.with_columns(typed_column(frame[name]) for name in names if name not in OWN)
        frame = _with_trials(frame)
        return frame.drop("question") if frame["question"].n_unique() == 1 else frame

    def _scales(self, frame: pl.DataFrame) -> dict[str, Scale] | None:
        if not self.pairwise:
            return None
        if "question" not in frame.columns:
            return {"": Choice()}
        return {question: Choice() for question in self.pairwise}

    def _notes(self, frame: pl.DataFrame) -> list[Message]:
        notes = []
        if frame.height:
            notes.append(Message("label_studio.items"))
        if frame["rt"].null_count() < frame.height:
            notes.append(Message("label_studio.lead_time"))
        if "trial" in frame.columns:
            notes.append(Message("label_studio.trials"))
        return notes + self._annotators.notes()


def _with_trials(frame: pl.DataFrame) -> pl.DataFrame:
    """Label Studio does not keep the order of presentation; the order of creation stands in for it, where known."""
    times = instants(frame["time"])
    if not frame.height or times.null_count() or frame["annotation_id"].null_count():
        return frame
    when = pl.DataFrame([frame["participant"], times.alias("time"), frame["annotation_id"]])
    each = when.unique(maintain_order=True).sort("participant", "time", maintain_order=True)
    order = each.with_columns(trial=pl.int_range(1, pl.len() + 1).over("participant"))
    trial = when.join(order, on=when.columns, how="left", maintain_order="left", nulls_equal=True)["trial"]
    return frame.with_columns(trial)
