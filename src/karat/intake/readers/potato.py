"""Potato's annotations: its table export, its exports as JSON lines, and the folders of its annotators.

Potato stores what was marked as schema > label > value. The table has one column per label, `schema.label` (version 1:
`schema:::label`); the folders hold `user_state.json` (version 2) or `annotated_instances.jsonl` (version 1, where the
folder's name is the annotator and `annotation_order.txt` the order of presentation).

A unit ("cell") is what one annotator has for one instance under one schema, or under one label of a schema whose labels
are scales of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from karat.errors import IntakeError, Problems
from karat.intake.cells import cell_number, cell_text, respelled
from karat.intake.personal import Annotators, names_a_person
from karat.intake.reading import Options, Reader, Reading
from karat.judgments.checks import Place
from karat.judgments.source import SourceFile
from karat.judgments.tables import SPREADSHEETS, header_of, read_table
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
    # Files may have their header, and so the labels, in capitals.
    same = all(label.lower() == value.lower() for label, value in pairs)
    labels = {label for label, _ in pairs}
    known = {*TRUTHS, *map(str.lower, labels)}
    if schema.endswith(SPANS) or schema == "span_annotation":
        return "spans"
    if not pairs:
        return "silent"
    points = all(POINT.fullmatch(label) for label in labels)
    if points or same or all(value.lower() in TRUTHS for _, value in pairs):
        return "label"
    numbers = all(cell_number(value) is not None for _, value in pairs)
    if len(labels) == 1:
        return "value" if numbers or labels == {""} else "text"
    if not numbers:
        return "label" if all(value.lower() in known for _, value in pairs) else "text"
    return "scales" if any(len(entry) > 1 for entry in entries) else "label"


def _no_judgment(
    record: PotatoRecord, schema: str, marked: Mapping[str, str | None], kinds: Mapping[str, str], first: PotatoRecord
) -> Message | None:
    """Why what stands under a schema is not a judgment, or None."""
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
    resolved = record.resolved.get(schema)
    if resolved is not None:
        fitting = [label for label, value in filled.items() if resolved in (label, value)]
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


WHO = ("user_id", "user")
SEPARATORS = (":::", ".")
BESIDE = ("displayed_text", "annotator_origin")
OWN_NAMES = ("instance_id", *WHO, *BESIDE)
ORDER, DATA, HISTORY = "annotation_order.txt", "assigned_user_data.json", "annotation_history.jsonl"
TIME_SPENT = re.compile(r"(\d{1,6})d\s+(\d{1,6})h\s+(\d{1,6})m\s+(\d{1,6})s")


def recognises(file: SourceFile) -> bool:
    """A file of an annotator's folder, or a table with instance, user and columns of labels."""
    if file.path.name in (ORDER, DATA, HISTORY):
        return True
    if file.suffix in SPREADSHEETS:
        return False
    if file.sample.lstrip()[:1] == "{":
        marks = (("instance_id_to_label_to_value",), ("instance_id_ordering",), ("displayed_text", "label_annotations"))
        return any(
            all(f'"{m}"' in file.sample for m in mark) for mark in (*marks, ("instance_id", "user_id", "labels"))
        )
    return _is_table(respelled(header_of(file), OWN_NAMES))


def _is_table(names: Sequence[str]) -> bool:
    """Whether there are an instance, a user and labels, and every other column belongs to a schema as well."""
    schemas = {schema for schema, label in map(_schema, names) if label}
    others = [name for name in names if name not in ("instance_id", *WHO) and not name.startswith(BESIDE)]
    return (
        bool(schemas)
        and "instance_id" in names
        and any(who in names for who in WHO)
        and all(_schema(name)[0] in schemas for name in others)
    )


def _schema(column: str) -> tuple[str, str]:
    """Schema and label of a column; the label is empty where the column names none."""
    for separator in SEPARATORS:
        schema, found, label = column.partition(separator)
        if found and schema:
            return schema, label
    return column, ""


def read_potato(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read the files of all annotators together, because only all answers show what kind of question a schema is."""
    orders = {file.path.parent: _order(file) for file in files if file.path.name == ORDER}
    problems, annotators = Problems(), Annotators()
    records: list[PotatoRecord] = []
    notes: list[Message] = []
    people: list[dict[str, str | None]] = []
    bad = 0
    for file in sorted(files, key=lambda file: file.path.name != "user_state.json"):
        if file.path.name in (ORDER, DATA, HISTORY):
            continue
        if file.suffix in (".json", ".jsonl", ".ndjson") or file.sample.lstrip()[:1] == "{":
            found, lost = _from_json(file, orders.get(file.path.parent, []), people, problems)
        else:
            found, lost = _from_table(file, options, notes, problems)
        records += found
        bad += lost
    for record in records:
        record.user = annotators.name(record.user)
    personal = sorted({name for person in people for name in person if names_a_person(name)})
    if personal:
        notes.append(Message("potato.survey_left_out", {"n": len(personal), "columns": personal}))
    people = [{name: answer for name, answer in person.items() if name not in personal} for person in people]
    for person in people:
        person["participant"] = annotators.name(person["participant"])
    if not records and not problems:
        raise IntakeError(f"There are no annotations in {', '.join(file.name for file in files)}.")
    reading = reading_of(records, people)
    reading.problems.extend(problems)
    reading.bad_units += bad
    reading.units_in += bad
    reading.notes = [*notes, *reading.notes, *annotators.notes()]
    return reading


def _order(file: SourceFile) -> list[str]:
    return [line.strip() for _, line in file.lines() if line.strip()]


def _from_table(
    file: SourceFile, options: Options, notes: list[Message], problems: Problems
) -> tuple[list[PotatoRecord], int]:  # fmt: skip
    table = read_table(file, options.delimiter, options.sheet)
    names = table.frame.columns = respelled(table.frame.columns, OWN_NAMES)
    if not _is_table(names):
        raise IntakeError(f"{file.name} has no columns instance_id, user_id and schema.label, as Potato's tables have.")
    notes += table.notes
    problems.extend(table.problems)
    who = next(who for who in WHO if who in names)
    beside = [name for name in names if any(name == plain or name.startswith(f"{plain}_") for plain in BESIDE)]
    answers = {name: _schema(name) for name in names if name not in ("instance_id", who, *beside)}
    records = []
    for number, row in enumerate(table.frame.iter_rows(named=True)):
        labels: Labels = {}
        resolved: dict[str, str | None] = {}
        for name, (schema, label) in answers.items():
            if label == "_spans" or schema == "span_annotation":
                if row[name] not in (None, "[]", "{}"):
                    labels[f"{schema}{SPANS}"] = {"": row[name]}
            elif label or not any(other == schema and mark for other, mark in answers.values()):
                labels.setdefault(schema, {})[label] = row[name]
            elif row[name] is not None:
                resolved[schema] = row[name]
        extra = {name: row[name] for name in beside}
        records.append(
            PotatoRecord(row[who], row["instance_id"], labels, table.locate(number), extra, resolved=resolved)
        )
    return records, table.rows_in - table.frame.height


def _from_json(
    file: SourceFile, order: Sequence[str], people: list[dict[str, str | None]], problems: Problems
) -> tuple[list[PotatoRecord], int]:  # fmt: skip
    records: list[PotatoRecord] = []
    bad = 0
    for number, document in file.json_documents():
        place = (_named(file), "element", number)
        if not isinstance(document, dict):
            fix = "Every line is an object with named values."
            problems.add(
                "is not an annotation", fix, value=cell_text(document), file=place[0], place=place[1], number=number
            )
            bad += 1
        elif "instance_id_to_label_to_value" in document or "instance_id_ordering" in document:
            records += _from_state(document, file, place, people)
        else:
            records.append(_from_line(document, file, place, order))
    return records, bad


def _named(file: SourceFile) -> str:
    """The file with its folder, because every annotator's file has the same name."""
    return f"{file.path.parent.name}/{file.path.name}" if file.path.parent.name else file.name


def _from_line(
    line: dict[str, Any], file: SourceFile, place: tuple[str, str, int], order: Sequence[str]
) -> PotatoRecord:  # fmt: skip
    """A line of version 1's annotated_instances.jsonl, or of version 2's export as JSON lines."""
    item = cell_text(line.get("id", line.get("instance_id")))
    user = cell_text(line.get("user_id")) or file.path.parent.name or None
    labels = _labels(line.get("label_annotations", line.get("labels")))
    labels |= {f"{schema}._spans": {"": text} for schema, text in _spans(line).items()}
    extra = {"displayed_text": cell_text(line["displayed_text"])} if "displayed_text" in line else {}
    trial = order.index(item) + 1 if item in order else None
    return PotatoRecord(user, item, labels, place, extra, rt=_seconds(line.get("behavioral_data")), trial=trial)


def _spans(line: dict[str, Any]) -> dict[str, str | None]:
    spans = line.get("span_annotations", line.get("spans"))
    if isinstance(spans, dict):
        return {str(schema): cell_text(found) for schema, found in spans.items() if found}
    return {"span_annotation": cell_text(spans)} if spans else {}


def _from_state(
    state: dict[str, Any], file: SourceFile, place: tuple[str, str, int], people: list[dict[str, str | None]]
) -> Iterator[PotatoRecord]:
    """An annotator's whole state: every instance with its answers, times and the order of presentation."""
    user = cell_text(state.get("user_id")) or file.path.parent.name or None
    people.append({"participant": user, **_survey(state.get("phase_to_page_to_label_to_value"))})
    order = [cell_text(item) for item in _list(state.get("instance_id_ordering"))]
    behaviour = _dict(state.get("instance_id_to_behavioral_data"))
    labelled = _dict(state.get("instance_id_to_label_to_value"))
    spans = _dict(state.get("instance_id_to_span_to_value"))
    for item in dict.fromkeys([*labelled, *spans]):
        labels = _labels(labelled.get(item))
        labels |= {"spans._spans": {"": cell_text(spans[item])}} if spans.get(item) else {}
        about = _dict(behaviour.get(item))
        changes = [change for change in _list(about.get("annotation_changes")) if isinstance(change, dict)]
        trial = order.index(cell_text(item)) + 1 if cell_text(item) in order else None
        yield PotatoRecord(user, cell_text(item), labels, place, {}, _seconds(about), trial, changes=changes)


def _labels(stored: object) -> Labels:
    """Schema > label > value from either way in which Potato writes it: nested, or as pairs of label and value."""
    labels: Labels = {}
    if isinstance(stored, dict):
        for schema, found in stored.items():
            inner = found.get("labels") if isinstance(found, dict) and list(found) == ["labels"] else found
            pairs = inner.items() if isinstance(inner, dict) else [("", inner)]
            labels[cell_text(schema) or ""] = {cell_text(label) or "": cell_text(value) for label, value in pairs}
    for pair in _list(stored):
        label, value = pair if isinstance(pair, list) and len(pair) == 2 else (pair, None)
        about = label if isinstance(label, dict) else {"schema": label}
        schema, name = cell_text(about.get("schema")) or "", cell_text(about.get("name")) or ""
        labels.setdefault(schema, {})[name] = cell_text(value)
    return labels


def _survey(phases: object) -> dict[str, str | None]:
    """What an annotator answered before and after the annotations, as participant information."""
    answers: dict[str, str | None] = {}
    for pages in _dict(phases).values():
        for page in _dict(pages).values():
            for schema, marked in _labels(page).items():
                values = [value if label in ("", "text_box") else label for label, value in marked.items() if value]
                name = f"{schema}_" if schema in ("participant", "status", "list") else schema
                answers[name] = "|".join(value for value in values if value) or None
    return answers


def _seconds(behaviour: object) -> float | None:
    """The time spent on an instance: in milliseconds (version 2) or as `Time spent: 0d 0h 0m 12s` (version 1)."""
    about = _dict(behaviour)
    milliseconds = cell_number(about.get("total_time_ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    found = TIME_SPENT.search(cell_text(about.get("time_string")) or "")
    if not found:
        return None
    days, hours, minutes, seconds = (int(part) for part in found.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def _dict(value: object) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


READER = Reader("potato", "annotations of Potato", recognises, read_potato, together=True)
