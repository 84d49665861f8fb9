"""Label Studio's flat exports, JSON_MIN and CSV: one row an annotation, fields of the task beside the answers.

Nothing in the file tells fields and answers apart. Answers other than a single choice are written as JSON, which gives
them away; a column that differs between two annotations of a task is no field of it; and what stands between the task's
id and the annotator, where the export keeps that order, is an answer. `--map response=NAME` overrules all of this.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from karat.errors import IntakeError
from karat.intake.cells import cell_number, cell_text
from karat.intake.readers.label_studio_answers import SEVERAL, LabelStudioAnswers, answer_of, has_several
from karat.intake.reading import Options
from karat.judgments.checks import Place
from karat.judgments.source import SourceFile
from karat.judgments.tables import read_table
from karat.messages import Message

FLAT = ("annotator", "annotation_id", "lead_time")
ABOUT = ("id", *FLAT, "created_at", "updated_at", "agreement", "history")
MOST_CHOICES = 10
FREE_TEXT = Message("aside.free_text")
NO_JUDGMENT = Message("aside.no_whole_judgment")
Row = Mapping[str, Any]


def read_flat_table(file: SourceFile, options: Options, answers: LabelStudioAnswers) -> None:
    """The CSV export."""
    table = read_table(file, options.delimiter, options.sheet)
    lacking = [name for name in FLAT if name not in table.frame.columns]
    if lacking:
        raise IntakeError(f"{file.name} has no column {', '.join(lacking)}, as Label Studio's CSV export has.")
    answers.problems.extend(table.problems)
    answers.bad_units += table.rows_in - table.frame.height
    answers.notes += table.notes
    rows = [{name: _parsed(cell) for name, cell in row.items()} for row in table.frame.iter_rows(named=True)]
    _read_rows(file, rows, table.locate, table.frame.columns, options, answers)


def read_flat_json(file: SourceFile, options: Options, answers: LabelStudioAnswers) -> None:
    """The JSON_MIN export."""
    rows, places = [], []
    for number, row in file.json_documents():
        if isinstance(row, dict):
            rows.append({cell_text(name) or "": value for name, value in row.items()})
            places.append((file.name, "element", number))
        else:
            what, mend = "is no annotation", "Export the project again as JSON_MIN."
            answers.reject((file.name, "element", number), what, mend, row)
    names = list(dict.fromkeys(name for row in rows for name in row))
    _read_rows(file, rows, lambda row: places[row], names, options, answers)


def _parsed(cell: str | None) -> Any:
    """A cell of the CSV export as JSON_MIN would have it: lists and objects are written as JSON."""
    if cell is None or cell[:1] not in "[{":
        return cell
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell


def _read_rows(
    file: SourceFile, rows: Sequence[Row], locate: Callable[[int], Place], names: Sequence[str], options: Options,
    answers: LabelStudioAnswers,
) -> None:  # fmt: skip
    told = options.mapping.get("response")
    columns = [told] if told and told in names else _answer_columns(rows, names)
    if not columns and rows:
        others = [name for name in names if name not in ABOUT]
        raise IntakeError(
            f"{file.name} does not tell which of its columns are answers. Say --map response=NAME with one of "
            f"{', '.join(others)}, or export the project as JSON, which tells."
        )
    if told not in names and columns:
        answers.notes.append(Message("label_studio.answers", {"file": file.name, "columns": columns}))
    free = {name for name in columns if name != told and _is_free_text([row.get(name) for row in rows])}
    for number, row in enumerate(rows):
        source = {n: cell_text(row.get(n)) for n in names if n not in ABOUT and (n not in columns or n == told)}
        about = {
            "participant": answers.annotator(row.get("annotator")),
            "item": cell_text(row.get("id")) or str(number + 1),
            "rt": cell_number(row.get("lead_time")),
            "time": cell_text(row.get("created_at")),
            "annotation_id": cell_text(row.get("annotation_id")),
        }
        for name in columns:
            reason, response = (FREE_TEXT, None) if name in free else _answer(row.get(name))
            if reason is not None:
                answers.set_apart(reason)
            else:
                answers.add({**about, "question": name, "response": response}, source, locate(number))


def _answer_columns(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    candidates = [name for name in names if name not in ABOUT]
    between: list[str] = []
    if "id" in names and names.index("id") > 0 and names.index("annotator") > names.index("id"):
        between = [name for name in candidates if names.index("id") < names.index(name) < names.index("annotator")]
    found = [name for name in candidates if name in between or _is_result(rows, name) or _differs(rows, name)]
    if not found and len(candidates) == 1:
        return candidates
    return found


def _is_result(rows: Sequence[Row], name: str) -> bool:
    """Whether a column holds what Label Studio writes for results: objects with their values, in a list or alone."""
    values = [value for row in rows for value in _objects(row.get(name))]
    return any(answer_of(value)[0] or {"labels", "text", "taxonomy"} & set(value) for value in values)


def _objects(value: Any) -> list[dict[str, Any]]:
    parts = value if isinstance(value, list) else [value]
    return [part for part in parts if isinstance(part, dict)]


def _differs(rows: Sequence[Row], name: str) -> bool:
    """Whether two annotations of the same task have different values."""
    first: dict[str | None, str | None] = {}
    return any(
        first.setdefault(cell_text(row.get("id")), cell_text(row.get(name))) != cell_text(row.get(name))
        for row in rows
        if row.get("id") is not None
    )


def _is_free_text(values: Sequence[Any]) -> bool:
    filled = [value for value in values if isinstance(value, str)]
    return len(set(filled)) > max(MOST_CHOICES, len(filled) // 2) and all(
        cell_number(value) is None for value in filled
    )


def _answer(value: Any) -> tuple[Message | None, str | None]:
    """Why a value is no answer, or else the answer."""
    objects = _objects(value)
    if not objects and not isinstance(value, list):
        return None, cell_text(value)
    if not objects:
        return (None, cell_text(value[0] if value else None)) if len(value) < 2 else (SEVERAL, None)
    if len(objects) > 1 or not answer_of(objects[0])[0]:
        return NO_JUDGMENT, None
    return (SEVERAL, None) if has_several(objects[0]) else (None, answer_of(objects[0])[1])
