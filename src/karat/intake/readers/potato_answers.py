"""From what was marked in Potato to answers: which schemas are one question, and which are one question a label.

A unit ("cell") is what one annotator has for one instance under one schema, or under one label of a schema whose labels
are scales of their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from karat.intake.cells import cell_number, cell_text
from karat.intake.reading import Reading
from karat.judgments.checks import Place
from karat.messages import Message

Labels = dict[str, dict[str, str | None]]
MARKS = ("true", "on", "checked", "selected")
TRUTHS = {*MARKS, "false", "0", "1"}
POINT = re.compile(r"scale_(\d{1,4})")
OWN = {"free_response"}
"""Labels that go with another one: a text box beside the options."""
SURVEY_PAGES = Message("aside.survey_pages")
TEXT_SPANS = Message("aside.text_spans")
FREE_TEXT = Message("aside.free_text")
UNANSWERED = Message("aside.unanswered_schemas")
COPIES = Message("aside.copies")
SEVERAL = Message("aside.several_labels")
SPANS = "._spans"
ROOMS = ("_room", "_room_id")


@dataclass
class PotatoRecord:
    """What one annotator left at one instance."""

    user: str | None
    item: str | None
    labels: Labels
    place: Place
    extra: Mapping[str, str | None]
    rt: float | None = None
    trial: int | None = None
    changes: Sequence[Mapping[str, Any]] = ()
    resolved: Mapping[str, str | None] = field(default_factory=dict)
    """Schemas of which the export itself says which of several marks was the last."""


def reading_of(records: Sequence[PotatoRecord], people: Sequence[Mapping[str, str | None]]) -> Reading:
    """The judgments in Potato's records, and what is none."""
    reading = Reading(pl.DataFrame(), lambda row: places[row], units_in=0, unit="cells")
    rows: list[dict[str, Any]] = []
    places: list[Place] = []
    kinds = _kinds(records)
    done = {(record.user, record.item): record for record in reversed(records)}
    for record in records:
        for schema, marked in record.labels.items():
            reason = _no_judgment(record, schema, marked, kinds, done[record.user, record.item])
            for question, response, why in _answers(record, schema, marked, kinds[schema]):
                reading.units_in += 1
                aside = reason or why
                if aside is not None:
                    reading.set_apart(aside)
                else:
                    rows.append(_row(record, schema, question, response))
                    places.append(record.place)
    reading.frame = _frame(rows)
    reading.notes = [*_notes(kinds, reading)]
    reading.participants = _people(people)
    return reading


def _kinds(records: Sequence[PotatoRecord]) -> dict[str, str]:
    """What kind of question each schema is, from all that was ever marked under it."""
    given: dict[str, list[dict[str, str]]] = {}
    for record in records:
        for schema, marked in record.labels.items():
            given.setdefault(schema, []).append(_filled(marked))
    return {schema: _kind(schema, [marked for marked in entries if marked]) for schema, entries in given.items()}


def _filled(marked: Mapping[str, str | None]) -> dict[str, str]:
    return {label: value for label, value in marked.items() if value is not None and label not in (*OWN, *ROOMS)}


def _kind(schema: str, entries: Sequence[Mapping[str, str]]) -> str:
    pairs = [(label, value) for entry in entries for label, value in entry.items()]
    labels = {label for label, _ in pairs}
    if schema.endswith(SPANS) or schema == "span_annotation":
        return "spans"
    if not pairs:
        return "silent"
    points = all(POINT.fullmatch(label) for label in labels)
    if points or all(value.lower() in TRUTHS for _, value in pairs) or all(label == value for label, value in pairs):
        return "label"
    numbers = all(cell_number(value) is not None for _, value in pairs)
    if len(labels) == 1:
        return "value" if numbers or labels == {""} else "text"
    if not numbers:
        return "label" if all(value.lower() in TRUTHS or value in labels for _, value in pairs) else "text"
    return "scales" if any(len(entry) > 1 for entry in entries) else "label"


def _no_judgment(
    record: PotatoRecord, schema: str, marked: Mapping[str, str | None], kinds: Mapping[str, str], first: PotatoRecord
) -> Message | None:
    """Why what stands under a schema is no judgment, or None."""
    if (record.item or "").endswith(".html"):
        return SURVEY_PAGES
    if kinds[schema] == "spans":
        return TEXT_SPANS
    if kinds[schema] == "text":
        return FREE_TEXT
    if kinds[schema] == "silent":
        return UNANSWERED
    if record is not first and schema in first.labels and record.place[0] != first.place[0]:
        return COPIES
    return None


def _answers(
    record: PotatoRecord, schema: str, marked: Mapping[str, str | None], kind: str
) -> list[tuple[str, str | None, Message | None]]:  # fmt: skip
    """Question, answer and reason to set it aside, of everything under a schema."""
    if kind == "scales":
        labels = [label for label in marked if label not in (*OWN, *ROOMS)]
        return [(f"{schema}.{label}", marked[label], None) for label in labels]
    filled = _filled(marked)
    if kind == "value":
        return [(schema, next(iter(filled.values()), None), None)]
    if kind != "label":
        return [(schema, None, None)]
    chosen = [label for label, value in filled.items() if value.lower() not in ("false", "0") or label == value]
    if len(chosen) > 1:
        last = _last(record, schema, filled)
        chosen = [last] if last else chosen
    if len(chosen) > 1:
        return [(schema, None, SEVERAL)]
    point = POINT.fullmatch(chosen[0]) if chosen else None
    return [(schema, point[1] if point else chosen[0] if chosen else None, None)]


def _last(record: PotatoRecord, schema: str, filled: Mapping[str, str]) -> str | None:
    """Which of several marks came last: old versions kept every option that was ever clicked."""
    told = record.resolved.get(schema)
    if told is not None:
        fitting = [label for label, value in filled.items() if told in (label, value)]
        return fitting[0] if len(fitting) == 1 else None
    clicks = [
        (cell_number(change.get("timestamp")) or 0.0, cell_text(change.get("label_name")))
        for change in record.changes
        if change.get("schema_name") == schema and change.get("action") in ("select", "update")
    ]
    known = [(when, label) for when, label in clicks if label in filled]
    return max(known, key=lambda click: click[0])[1] if known else None


def _row(record: PotatoRecord, schema: str, question: str, response: str | None) -> dict[str, Any]:
    stamps = [
        cell_number(change.get("timestamp")) or 0.0 for change in record.changes if change.get("schema_name") == schema
    ]
    return {
        "participant": record.user, "item": record.item, "question": question, "response": response, "rt": record.rt,
        "trial": record.trial, "time": max(stamps, default=0.0) or None, **record.extra,
    }  # fmt: skip


def _frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    types: dict[str, pl.DataType] = dict.fromkeys(("participant", "item", "question", "response"), pl.String())
    types |= {"rt": pl.Float64(), "trial": pl.Int64(), "time": pl.Float64()}
    types |= {name: pl.String() for row in rows for name in row if name not in types}
    frame = pl.DataFrame({name: [row.get(name) for row in rows] for name in types}, schema=types)
    known = [name for name in ("rt", "trial", "time") if frame[name].null_count() == frame.height]
    return frame.drop(*known, *(["question"] if frame["question"].n_unique() == 1 else []))


def _people(people: Sequence[Mapping[str, str | None]]) -> pl.DataFrame | None:
    found = {person["participant"]: person for person in people if person["participant"]}
    names = list(dict.fromkeys(name for person in found.values() for name in person))
    if not found:
        return None
    columns = {name: [person.get(name) for person in found.values()] for name in names}
    return pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String()))


def _notes(kinds: Mapping[str, str], reading: Reading) -> list[Message]:
    notes = []
    schemas = {kind: [schema for schema in kinds if kinds[schema] == kind] for kind in ("label", "value", "scales")}
    if schemas["label"]:
        notes.append(Message("potato.labels", {"schemas": schemas["label"]}))
    if schemas["value"]:
        notes.append(Message("potato.values", {"schemas": schemas["value"]}))
    if schemas["scales"]:
        notes.append(Message("potato.scales", {"schemas": schemas["scales"]}))
    if "rt" in reading.frame.columns:
        notes.append(Message("potato.times"))
    if SEVERAL in reading.set_aside:
        notes.append(Message("potato.several_labels"))
    return notes
