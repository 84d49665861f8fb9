"""Label Studio's exports: JSON with nested annotations, and the flat JSON_MIN and CSV.

A unit is a result: the answer of one annotator under one control tag of a task. The tag's name is the question. A
skipped annotation, one without any result, and a model's prediction count as one unit each.

Nothing in the flat exports separates the fields of a task from answers. A column holds answers if its cells are JSON,
as all answers but single choices are; if it differs between two annotations of a task; or if it stands between the
task's id and the annotator in an export that keeps that order. `--map response=NAME` overrules all of this.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from karat.errors import IntakeError
from karat.intake.cells import cell_number, cell_text, respelled, table_of
from karat.intake.personal import Annotators
from karat.intake.readers.generic import typed_column
from karat.intake.reading import Options, Reader, Reading
from karat.judgments.checks import Place
from karat.judgments.columns import COLUMNS
from karat.judgments.scales import Choice, Scale
from karat.judgments.source import SourceFile
from karat.judgments.tables import SPREADSHEETS, header_of, read_table
from karat.judgments.times import instants
from karat.messages import Message

ANSWERS = {"choices": "choices", "rating": "rating", "pairwise": "selected", "number": "number"}
"""The control tags that ask for a judgment, and the key of the judgment in their values."""
OWN = ("participant", "item", "response", "rt", "time", "question", "annotation_id")


SEVERAL = Message("aside.several_choices")


def has_several(value: dict[str, Any]) -> bool:
    """Whether a value holds more than one choice."""
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
        content = value[key]
        if isinstance(content, list):
            is_answer = all(isinstance(part, str | int | float) for part in content)
            return is_answer, cell_text(content[0] if len(content) == 1 else content or None)
        return not isinstance(content, dict), cell_text(content)
    return False, None


@dataclass
class LabelStudioAnswers:
    """The answers of a study, collected one by one."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    expected: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    pairwise: set[str] = field(default_factory=set)
    reading: Reading = field(init=False)
    _annotators: Annotators = field(default_factory=Annotators)

    def __post_init__(self) -> None:
        self.reading = Reading(pl.DataFrame(), lambda row: self.places[row], units_in=0, unit="results")

    def annotator(self, completed_by: object) -> str | None:
        """The annotator's number, or a numbered name for an annotator with only an e-mail address."""
        if isinstance(completed_by, dict):
            number = completed_by.get("id")
            completed_by = completed_by.get("email") if number is None or isinstance(number, list | dict) else number
        return self._annotators.name(cell_text(completed_by))

    def add(self, answer: dict[str, Any], source: dict[str, str | None], place: Place) -> None:
        """Add an answer with the data of its task; names that karat uses for something else get an underscore."""
        of_task = {f"{name}_" if name in COLUMNS or name in OWN else name: text for name, text in source.items()}
        self.rows.append({**of_task, **answer})
        self.places.append(place)

    def expect(self, item: str, question: str, response: str | None) -> None:
        """Add the answer of a ground truth annotation, which is not a judgment but the expected answer."""
        self.reading.set_apart(Message("aside.ground_truth"))
        if response is not None and response not in self.expected.setdefault((item, question), []):
            self.expected[item, question].append(response)

    def reject(self, place: Place, what: str, fix: str, value: object) -> None:
        """Count an unreadable judgment as bad, with its problem."""
        self.reading.problems.at(place, what, fix, value=cell_text(value))
        self.reading.bad_units += 1

    def complete(self) -> Reading:
        """The reading with all answers."""
        reading, frame = self.reading, self._frame()
        reading.frame = frame
        reading.units_in = frame.height + sum(reading.set_aside.values()) + reading.bad_units
        reading.notes += self._notes(frame)
        reading.scales = self._scales(frame)
        return reading

    def _frame(self) -> pl.DataFrame:
        frame = table_of(self.rows, {"rt": pl.Float64()}, OWN)
        others = frame.columns[len(OWN) :]
        if self.expected:
            right = [self.expected.get((row["item"], row["question"])) for row in self.rows]
            expected = ["|".join(answers) if answers else None for answers in right]
            frame = frame.with_columns(pl.Series("expected", expected, dtype=pl.String))
        frame = frame.with_columns(typed_column(frame[name]) for name in others)
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
    """The table with trials in order of creation, if known: Label Studio does not record the order of presentation."""
    times = instants(frame["time"])
    if not frame.height or times.null_count() or frame["annotation_id"].null_count():
        return frame
    when = pl.DataFrame([frame["participant"], times.alias("time"), frame["annotation_id"]])
    annotations = when.unique(maintain_order=True).sort("participant", "time", maintain_order=True)
    order = annotations.with_columns(trial=pl.int_range(1, pl.len() + 1).over("participant"))
    trial = when.join(order, on=when.columns, how="left", maintain_order="left", nulls_equal=True)["trial"]
    return frame.with_columns(trial)


FLAT = ("annotator", "annotation_id", "lead_time")
ABOUT = ("id", *FLAT, "created_at", "updated_at", "agreement", "history")
MOST_CHOICES = 10
FREE_TEXT = Message("aside.free_text")
NO_JUDGMENT = Message("aside.no_whole_judgment")
Row = Mapping[str, Any]


def read_flat_table(file: SourceFile, options: Options, answers: LabelStudioAnswers) -> None:
    """Read the CSV export."""
    table = read_table(file, options.delimiter, options.sheet)
    table.frame.columns = respelled(table.frame.columns, ABOUT)
    lacking = [name for name in FLAT if name not in table.frame.columns]
    if lacking:
        raise IntakeError(f"{file.name} has no column {', '.join(lacking)}, as Label Studio's CSV export has.")
    answers.reading.add_table(table)
    rows = [{name: _parsed(cell) for name, cell in row.items()} for row in table.frame.iter_rows(named=True)]
    _read_rows(file, rows, table.locate, table.frame.columns, options, answers)


def read_flat_json(file: SourceFile, options: Options, answers: LabelStudioAnswers) -> None:
    """Read the JSON_MIN export."""
    rows, places = [], []
    for number, row in file.json_documents():
        if isinstance(row, dict):
            rows.append({cell_text(name) or "": value for name, value in row.items()})
            places.append((file.name, "element", number))
        else:
            what, fix = "is not an annotation", "Export the project again as JSON_MIN."
            answers.reject((file.name, "element", number), what, fix, row)
    names = list(dict.fromkeys(name for row in rows for name in row))
    _read_rows(file, rows, lambda row: places[row], names, options, answers)


def _parsed(cell: str | None) -> Any:
    """A cell of the CSV export as in JSON_MIN: lists and objects are parsed."""
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
    mapped = options.mapping.get("response")
    columns = [mapped] if mapped and mapped in names else _answer_columns(rows, names)
    if not columns and rows:
        others = [name for name in names if name not in ABOUT]
        raise IntakeError(
            f"{file.name} does not show which of its columns are answers. Use --map response=NAME with one of "
            f"{', '.join(others)}, or export the project as JSON, which says so."
        )
    if mapped not in names and columns:
        answers.reading.notes.append(Message("label_studio.answers", {"file": file.name, "columns": columns}))
    free = {name for name in columns if name != mapped and _is_free_text([row.get(name) for row in rows])}
    for number, row in enumerate(rows):
        source = {n: cell_text(row.get(n)) for n in names if n not in ABOUT and (n not in columns or n == mapped)}
        details = {
            "participant": answers.annotator(row.get("annotator")),
            "item": cell_text(row.get("id")) or str(number + 1),
            "rt": cell_number(row.get("lead_time")),
            "time": cell_text(row.get("created_at")),
            "annotation_id": cell_text(row.get("annotation_id")),
        }
        for name in columns:
            reason, response = (FREE_TEXT, None) if name in free else _answer(row.get(name))
            if reason is not None:
                answers.reading.set_apart(reason)
            else:
                answers.add({**details, "question": name, "response": response}, source, locate(number))


def _answer_columns(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    candidates = [name for name in names if name not in ABOUT]
    between: list[str] = []
    if "id" in names and names.index("id") > 0 and names.index("annotator") > names.index("id"):
        between = [name for name in candidates if names.index("id") < names.index(name) < names.index("annotator")]
    answers = [name for name in candidates if name in between or _is_result(rows, name) or _differs(rows, name)]
    if not answers and len(candidates) == 1:
        return candidates
    return answers


def _is_result(rows: Sequence[Row], name: str) -> bool:
    """Whether a column holds results as Label Studio writes them: objects with values, in a list or alone."""
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
    """The reason why a value is not an answer, or the answer."""
    objects = _objects(value)
    if not objects and not isinstance(value, list):
        return None, cell_text(value)
    if not objects:
        return (None, cell_text(value[0] if value else None)) if len(value) < 2 else (SEVERAL, None)
    if len(objects) > 1 or not answer_of(objects[0])[0]:
        return NO_JUDGMENT, None
    return (SEVERAL, None) if has_several(objects[0]) else (None, answer_of(objects[0])[1])


REGION = ("start", "end", "x", "y", "startOffset", "endOffset", "ranges")
"""Keys of a value that is about a part of the task, such as a stretch of text or a box."""


def recognises(file: SourceFile) -> bool:
    """Whether a file has nested annotations with results, or rows with annotator, annotation and lead time."""
    if file.suffix in SPREADSHEETS:
        return False
    start = file.sample.lstrip()[:1]
    if start in ("[", "{"):
        nested = any(f'"{name}"' in file.sample for name in ("annotations", "completions"))
        by_whom = any(f'"{name}"' in file.sample for name in ("was_cancelled", "completed_by", "from_name"))
        return (nested and by_whom and '"result"' in file.sample) or _is_flat_json(file)
    return set(FLAT) <= set(respelled(header_of(file), FLAT))


def _is_flat_json(file: SourceFile) -> bool:
    return all(f'"{name}"' in file.sample for name in FLAT) and '"annotations"' not in file.sample


def read_label_studio(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read all exports of a study together, so that an annotator without a number has the same name in all."""
    answers = LabelStudioAnswers()
    for file in files:
        if file.sample.lstrip()[:1] not in ("[", "{"):
            read_flat_table(file, options, answers)
        elif _is_flat_json(file):
            read_flat_json(file, options, answers)
        else:
            _read_tasks(file, answers)
    return answers.complete()


def _read_tasks(file: SourceFile, answers: LabelStudioAnswers) -> None:
    for number, task in file.json_documents():
        place = (file.name, "element", number)
        if not isinstance(task, dict):
            answers.reject(place, "is not a task", "Write one object per task, as Label Studio exports it.", task)
            continue
        item = cell_text(task.get("id")) or str(number)
        data = task.get("data")
        fields = data.items() if isinstance(data, dict) else ()
        source = {cell_text(name) or "": cell_text(value) for name, value in fields}
        annotations = _first_list(task.get("annotations"), task.get("completions"))
        if annotations is None:
            answers.reject(place, "has no list of annotations", "Export the project again as JSON.", item)
            continue
        predictions = task.get("predictions")
        answers.reading.set_apart(
            Message("aside.predictions"), len(predictions) if isinstance(predictions, list) else 0
        )
        if not annotations:
            answers.reading.set_apart(Message("aside.unannotated_tasks"))
        for annotation in annotations:
            if isinstance(annotation, dict):
                _read_annotation(annotation, item, source, place, answers)
            else:
                answers.reject(place, "is not an annotation", "Export the project again as JSON.", annotation)


def _first_list(*candidates: object) -> list[Any] | None:
    """The first of several values that is a list."""
    return next((value for value in candidates if isinstance(value, list)), None)


def _read_annotation(
    annotation: dict[str, Any],
    item: str,
    source: dict[str, str | None],
    place: tuple[str, str, int],
    answers: LabelStudioAnswers,
) -> None:
    results = _first_list(annotation.get("result"))
    if results is None:
        answers.reject(place, "is not a list of results", "Export the project again as JSON.", annotation.get("result"))
        return
    if annotation.get("was_cancelled") is True:
        answers.reading.set_apart(Message("aside.skipped_annotations"))
        return
    if not results:
        answers.reading.set_apart(Message("aside.empty_annotations"))
    details = {
        "participant": answers.annotator(annotation.get("completed_by")),
        "item": item,
        "rt": cell_number(annotation.get("lead_time")),
        "time": cell_text(annotation.get("created_at")),
        "annotation_id": cell_text(annotation.get("id")),
    }
    for question, response in _answers(results, place, answers):
        if annotation.get("ground_truth") is True:
            answers.expect(item, question, response)
        else:
            answers.add({**details, "question": question, "response": response}, source, place)


def _answers(
    results: Sequence[Any], place: tuple[str, str, int], answers: LabelStudioAnswers
) -> Iterator[tuple[str, str | None]]:  # fmt: skip
    """The questions and answers of an annotation; results that do not judge the whole task are set aside."""
    seen = set()
    for result in results:
        value = result.get("value") if isinstance(result, dict) else None
        if not isinstance(value, dict):
            answers.reject(place, "is not a result with a value", "Export the project again as JSON.", result)
            continue
        kind = str(result.get("type") or next((kind for kind in ANSWERS if ANSWERS[kind] in value), "other")).lower()
        question = cell_text(result.get("from_name")) or kind
        if kind not in ANSWERS:
            answers.reading.set_apart(Message("aside.results_of_type", {"type": cell_text(kind)}))
        elif any(key in value for key in REGION):
            answers.reading.set_apart(Message("aside.part_of_task"))
        elif question in seen:
            answers.reading.set_apart(Message("aside.further_answers"))
        else:
            seen.add(question)
            is_answer, response = answer_of(value)
            if not is_answer:
                answers.reject(place, f"is not a {kind} answer", "Export the project again as JSON.", json.dumps(value))
            elif has_several(value):
                answers.reading.set_apart(SEVERAL)
            else:
                if kind == "pairwise":
                    answers.pairwise.add(question)
                yield question, response


READER = Reader("label-studio", "an export of Label Studio", recognises, read_label_studio, together=True)
