"""Potato's annotations: its table export, its exports as JSON lines, and the folders of its annotators.

Potato stores answers as schema > label > value. The table has one column per label, `schema.label` (version 1:
`schema:::label`); the folders hold `user_state.json` (version 2) or `annotated_instances.jsonl` (version 1, where the
folder's name is the annotator and `annotation_order.txt` the order of presentation).

A unit ("cell") is the answer of one annotator to one instance under one schema, or under one label if the labels of a
schema are separate scales.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from karat.errors import IntakeError, Problems
from karat.intake.cells import cell_number, cell_text, respelled, table_of
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
TEXT_BOXES = {"free_response"}
"""Labels that accompany another one: a text box beside the options."""
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
    """The answers of one annotator to one instance."""

    user: str | None
    item: str | None
    labels: Labels
    place: Place
    extra: Mapping[str, str | None]
    rt: float | None = None
    trial: int | None = None
    changes: Sequence[Mapping[str, Any]] = ()
    resolved: Mapping[str, str | None] = field(default_factory=dict)
    """The last of several marks by schema, if the export names it."""


def reading_of(records: Sequence[PotatoRecord], people: Sequence[Mapping[str, str | None]]) -> Reading:
    """The judgments in Potato's records; the other units are set aside."""
    reading = Reading(pl.DataFrame(), lambda row: places[row], units_in=0, unit="cells")
    rows: list[dict[str, Any]] = []
    places: list[Place] = []
    kinds = _kinds(records)
    first = {(record.user, record.item): record for record in reversed(records)}
    for record in records:
        for schema, marks in record.labels.items():
            reason = _no_judgment(record, schema, marks, kinds, first[record.user, record.item])
            for question, response, answer_reason in _answers(record, schema, marks, kinds[schema]):
                reading.units_in += 1
                exclusion = reason or answer_reason
                if exclusion is not None:
                    reading.set_apart(exclusion)
                else:
                    rows.append(_row(record, schema, question, response))
                    places.append(record.place)
    reading.frame = _frame(rows)
    reading.notes = [*_notes(kinds, reading)]
    reading.participants = _people(people)
    return reading


def _kinds(records: Sequence[PotatoRecord]) -> dict[str, str]:
    """The kind of question of each schema, from all answers under it."""
    entries_of: dict[str, list[dict[str, str]]] = {}
    for record in records:
        for schema, marks in record.labels.items():
            entries_of.setdefault(schema, []).append(_filled(marks))
    return {schema: _kind(schema, [marks for marks in entries if marks]) for schema, entries in entries_of.items()}


def _filled(marks: Mapping[str, str | None]) -> dict[str, str]:
    return {label: value for label, value in marks.items() if value is not None and label not in (*TEXT_BOXES, *ROOMS)}


def _kind(schema: str, entries: Sequence[Mapping[str, str]]) -> str:
    pairs = [(label, value) for entry in entries for label, value in entry.items()]
    # Files may have their header, and so the labels, in capitals.
    repeats_label = all(label.lower() == value.lower() for label, value in pairs)
    labels = {label for label, _ in pairs}
    spellings = {*TRUTHS, *map(str.lower, labels)}
    if schema.endswith(SPANS) or schema == "span_annotation":
        return "spans"
    if not pairs:
        return "silent"
    are_points = all(POINT.fullmatch(label) for label in labels)
    if are_points or repeats_label or all(value.lower() in TRUTHS for _, value in pairs):
        return "label"
    numbers = all(cell_number(value) is not None for _, value in pairs)
    if len(labels) == 1:
        return "value" if numbers or labels == {""} else "text"
    if not numbers:
        return "label" if all(value.lower() in spellings for _, value in pairs) else "text"
    return "scales" if any(len(entry) > 1 for entry in entries) else "label"


def _no_judgment(
    record: PotatoRecord, schema: str, marks: Mapping[str, str | None], kinds: Mapping[str, str], first: PotatoRecord
) -> Message | None:
    """The reason why the answer under a schema is not a judgment, or None if it is one."""
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
    record: PotatoRecord, schema: str, marks: Mapping[str, str | None], kind: str
) -> list[tuple[str, str | None, Message | None]]:  # fmt: skip
    """The questions and answers under a schema, each with a reason to set it aside or None."""
    if kind == "scales":
        labels = [label for label in marks if label not in (*TEXT_BOXES, *ROOMS)]
        return [(f"{schema}.{label}", marks[label], None) for label in labels]
    filled = _filled(marks)
    if kind == "value":
        return [(schema, next(iter(filled.values()), None), None)]
    if kind != "label":
        return [(schema, None, None)]
    selected = [label for label, value in filled.items() if value.lower() not in ("false", "0") or label == value]
    if len(selected) > 1:
        last = _last(record, schema, filled)
        selected = [last] if last else selected
    if len(selected) > 1:
        return [(schema, None, SEVERAL)]
    point = POINT.fullmatch(selected[0]) if selected else None
    return [(schema, point[1] if point else selected[0] if selected else None, None)]


def _last(record: PotatoRecord, schema: str, filled: Mapping[str, str]) -> str | None:
    """The last of several marks: old versions keep every option that was ever clicked."""
    resolved = record.resolved.get(schema)
    if resolved is not None:
        matching = [label for label, value in filled.items() if resolved in (label, value)]
        return matching[0] if len(matching) == 1 else None
    clicks = [
        (cell_number(change.get("timestamp")) or 0.0, cell_text(change.get("label_name")))
        for change in record.changes
        if change.get("schema_name") == schema and change.get("action") in ("select", "update")
    ]
    of_labels = [(when, label) for when, label in clicks if label in filled]
    return max(of_labels, key=lambda click: click[0])[1] if of_labels else None


def _row(record: PotatoRecord, schema: str, question: str, response: str | None) -> dict[str, Any]:
    stamps = [
        cell_number(change.get("timestamp")) or 0.0 for change in record.changes if change.get("schema_name") == schema
    ]
    return {
        "participant": record.user, "item": record.item, "question": question, "response": response, "rt": record.rt,
        "trial": record.trial, "time": max(stamps, default=0.0) or None, **record.extra,
    }  # fmt: skip


def _frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    types: dict[str, pl.DataType] = {"rt": pl.Float64(), "trial": pl.Int64(), "time": pl.Float64()}
    frame = table_of(rows, types, ("participant", "item", "question", "response", *types))
    empty = [name for name in types if frame[name].null_count() == frame.height]
    return frame.drop(*empty, *(["question"] if frame["question"].n_unique() == 1 else []))


def _people(people: Sequence[Mapping[str, str | None]]) -> pl.DataFrame | None:
    named = {person["participant"]: person for person in people if person["participant"]}
    return table_of(named.values(), {}) if named else None


def _notes(kinds: Mapping[str, str], reading: Reading) -> list[Message]:
    notes = []
    for kind, code in (("label", "potato.labels"), ("value", "potato.values"), ("scales", "potato.scales")):
        schemas = [schema for schema in kinds if kinds[schema] == kind]
        if schemas:
            notes.append(Message(code, {"schemas": schemas}))
    if "rt" in reading.frame.columns:
        notes.append(Message("potato.times"))
    if SEVERAL in reading.set_aside:
        notes.append(Message("potato.several_labels"))
    return notes


WHO = ("user_id", "user")
SEPARATORS = (":::", ".")
BESIDE = ("displayed_text", "annotator_origin")
NAMES = ("instance_id", *WHO, *BESIDE)
ORDER, DATA, HISTORY = "annotation_order.txt", "assigned_user_data.json", "annotation_history.jsonl"
TIME_SPENT = re.compile(r"(\d{1,6})d\s+(\d{1,6})h\s+(\d{1,6})m\s+(\d{1,6})s")


def recognises(file: SourceFile) -> bool:
    """Whether a file belongs to an annotator's folder or is a table with instance, user and columns of labels."""
    if file.path.name in (ORDER, DATA, HISTORY):
        return True
    if file.suffix in SPREADSHEETS:
        return False
    if file.sample.lstrip()[:1] == "{":
        marks = (("instance_id_to_label_to_value",), ("instance_id_ordering",), ("displayed_text", "label_annotations"))
        return any(
            all(f'"{m}"' in file.sample for m in mark) for mark in (*marks, ("instance_id", "user_id", "labels"))
        )
    return _is_table(respelled(header_of(file), NAMES))


def _is_table(names: Sequence[str]) -> bool:
    """Whether there are an instance, a user and labels, and all other columns belong to schemas."""
    schemas = {schema for schema, label in map(_schema, names) if label}
    others = [name for name in names if name not in ("instance_id", *WHO) and not name.startswith(BESIDE)]
    return (
        bool(schemas)
        and "instance_id" in names
        and any(who in names for who in WHO)
        and all(_schema(name)[0] in schemas for name in others)
    )


def _schema(column: str) -> tuple[str, str]:
    """The schema and label of a column; the label is empty if the column names none."""
    for separator in SEPARATORS:
        schema, sign, label = column.partition(separator)
        if sign and schema:
            return schema, label
    return column, ""


def read_potato(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read the files of all annotators together, because it takes all answers to see the kind of a schema."""
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
            more, unreadable = _from_json(file, orders.get(file.path.parent, []), people, problems)
        else:
            more, unreadable = _from_table(file, options, notes, problems)
        records += more
        bad += unreadable
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
    names = table.frame.columns = respelled(table.frame.columns, NAMES)
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
            problems.at(place, "is not an annotation", fix, value=cell_text(document))
            bad += 1
        elif "instance_id_to_label_to_value" in document or "instance_id_ordering" in document:
            records += _from_state(document, file, place, people)
        else:
            records.append(_from_line(document, file, place, order))
    return records, bad


def _named(file: SourceFile) -> str:
    """The name of a file with its folder, because all annotators' files have the same name."""
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
        return {str(schema): cell_text(content) for schema, content in spans.items() if content}
    return {"span_annotation": cell_text(spans)} if spans else {}


def _from_state(
    state: dict[str, Any], file: SourceFile, place: tuple[str, str, int], people: list[dict[str, str | None]]
) -> Iterator[PotatoRecord]:
    """An annotator's whole state: every instance with its answers, times and the order of presentation."""
    user = cell_text(state.get("user_id")) or file.path.parent.name or None
    people.append({"participant": user, **_survey(state.get("phase_to_page_to_label_to_value"))})
    order = [cell_text(item) for item in _list(state.get("instance_id_ordering"))]
    behaviour = _dict(state.get("instance_id_to_behavioral_data"))
    labels_of = _dict(state.get("instance_id_to_label_to_value"))
    spans = _dict(state.get("instance_id_to_span_to_value"))
    for item in dict.fromkeys([*labels_of, *spans]):
        labels = _labels(labels_of.get(item))
        labels |= {"spans._spans": {"": cell_text(spans[item])}} if spans.get(item) else {}
        behaviour_at = _dict(behaviour.get(item))
        changes = [change for change in _list(behaviour_at.get("annotation_changes")) if isinstance(change, dict)]
        trial = order.index(cell_text(item)) + 1 if cell_text(item) in order else None
        yield PotatoRecord(user, cell_text(item), labels, place, {}, _seconds(behaviour_at), trial, changes=changes)


def _labels(marks: object) -> Labels:
    """Schema > label > value from both forms in which Potato writes them: nested, or as pairs of label and value."""
    labels: Labels = {}
    if isinstance(marks, dict):
        for schema, content in marks.items():
            inner = content.get("labels") if isinstance(content, dict) and list(content) == ["labels"] else content
            pairs = inner.items() if isinstance(inner, dict) else [("", inner)]
            labels[cell_text(schema) or ""] = {cell_text(label) or "": cell_text(value) for label, value in pairs}
    for pair in _list(marks):
        label, value = pair if isinstance(pair, list) and len(pair) == 2 else (pair, None)
        names = label if isinstance(label, dict) else {"schema": label}
        schema, name = cell_text(names.get("schema")) or "", cell_text(names.get("name")) or ""
        labels.setdefault(schema, {})[name] = cell_text(value)
    return labels


def _survey(phases: object) -> dict[str, str | None]:
    """An annotator's answers before and after the annotations, as participant information."""
    answers: dict[str, str | None] = {}
    for pages in _dict(phases).values():
        for page in _dict(pages).values():
            for schema, marks in _labels(page).items():
                values = [value if label in ("", "text_box") else label for label, value in marks.items() if value]
                name = f"{schema}_" if schema in ("participant", "status", "list") else schema
                answers[name] = "|".join(value for value in values if value) or None
    return answers


def _seconds(behaviour: object) -> float | None:
    """The time spent on an instance: in milliseconds (version 2) or as `Time spent: 0d 0h 0m 12s` (version 1)."""
    times = _dict(behaviour)
    milliseconds = cell_number(times.get("total_time_ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    match = TIME_SPENT.search(cell_text(times.get("time_string")) or "")
    if not match:
        return None
    days, hours, minutes, seconds = (int(part) for part in match.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def _dict(value: object) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


READER = Reader("potato", "annotations of Potato", recognises, read_potato, together=True)
