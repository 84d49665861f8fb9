"""Label Studio's exports: JSON with nested annotations, and the flat JSON_MIN and CSV (in `label_studio_flat`).

A unit is a result: what one annotator said under one control tag of a task. The tag's name is the question. A skipped
annotation, one without any result, and a model's prediction count as one unit each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from karat.intake.cells import cell_number, cell_text
from karat.intake.readers.label_studio_answers import ANSWERS, SEVERAL, LabelStudioAnswers, answer_of, has_several
from karat.intake.readers.label_studio_flat import FLAT, read_flat_json, read_flat_table
from karat.intake.reading import Options, Reader, Reading
from karat.judgments.source import SourceFile
from karat.judgments.tables import SPREADSHEETS, header_of
from karat.messages import Message

REGION = ("start", "end", "x", "y", "startOffset", "endOffset", "ranges")
"""Keys of a value that is about a part of the task, such as a stretch of text or a box."""


def recognises(file: SourceFile) -> bool:
    """Nested annotations with results, or a table or list whose rows name annotator, annotation and lead time."""
    if file.suffix in SPREADSHEETS:
        return False
    start = file.sample.lstrip()[:1]
    if start in ("[", "{"):
        nested = any(f'"{name}"' in file.sample for name in ("annotations", "completions"))
        by_whom = any(f'"{name}"' in file.sample for name in ("was_cancelled", "completed_by", "from_name"))
        return (nested and by_whom and '"result"' in file.sample) or _is_flat_json(file)
    return set(FLAT) <= set(header_of(file))


def _is_flat_json(file: SourceFile) -> bool:
    return all(f'"{name}"' in file.sample for name in FLAT) and '"annotations"' not in file.sample


def read_label_studio(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read all exports of a study, so that an annotator without a number keeps one name throughout."""
    answers = LabelStudioAnswers()
    for file in files:
        if file.sample.lstrip()[:1] not in ("[", "{"):
            read_flat_table(file, options, answers)
        elif _is_flat_json(file):
            read_flat_json(file, options, answers)
        else:
            _read_tasks(file, answers)
    return answers.reading()


def _read_tasks(file: SourceFile, answers: LabelStudioAnswers) -> None:
    for number, task in file.json_documents():
        place = (file.name, "element", number)
        if not isinstance(task, dict):
            answers.reject(place, "is no task", "Write one object a task, as Label Studio exports it.", task)
            continue
        item = cell_text(task.get("id")) or str(number)
        data = task.get("data")
        source = {cell_text(name) or "": cell_text(value) for name, value in _fields(data)}
        annotations = _listed(task.get("annotations"), task.get("completions"))
        if annotations is None:
            answers.reject(place, "has no list of annotations", "Export the project again as JSON.", item)
            continue
        predictions = task.get("predictions")
        answers.set_apart(Message("aside.predictions"), len(predictions) if isinstance(predictions, list) else 0)
        if not annotations:
            answers.set_apart(Message("aside.unannotated_tasks"))
        for annotation in annotations:
            if isinstance(annotation, dict):
                _read_annotation(annotation, item, source, place, answers)
            else:
                answers.reject(place, "is no annotation", "Export the project again as JSON.", annotation)


def _fields(data: object) -> list[tuple[Any, Any]]:
    return list(data.items()) if isinstance(data, dict) else []


def _listed(*candidates: object) -> list[Any] | None:
    """The first of several values that is a list."""
    return next((value for value in candidates if isinstance(value, list)), None)


def _read_annotation(
    annotation: dict[str, Any],
    item: str,
    source: dict[str, str | None],
    place: tuple[str, str, int],
    answers: LabelStudioAnswers,
) -> None:
    results = _listed(annotation.get("result"))
    if results is None:
        answers.reject(place, "is no list of results", "Export the project again as JSON.", annotation.get("result"))
        return
    if annotation.get("was_cancelled") is True:
        answers.set_apart(Message("aside.skipped_annotations"))
        return
    if not results:
        answers.set_apart(Message("aside.empty_annotations"))
    about = {
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
            answers.add({**about, "question": question, "response": response}, source, place)


def _answers(
    results: Sequence[Any], place: tuple[str, str, int], answers: LabelStudioAnswers
) -> Iterator[tuple[str, str | None]]:  # fmt: skip
    """The questions of an annotation with their answers; what is no judgment of the whole task is set aside."""
    seen = set()
    for result in results:
        value = result.get("value") if isinstance(result, dict) else None
        if not isinstance(value, dict):
            answers.reject(place, "is no result with a value", "Export the project again as JSON.", result)
            continue
        kind = str(result.get("type") or next((kind for kind in ANSWERS if ANSWERS[kind] in value), "other")).lower()
        question = cell_text(result.get("from_name")) or kind
        if kind not in ANSWERS:
            answers.set_apart(Message("aside.results_of_type", {"type": cell_text(kind)}))
        elif any(key in value for key in REGION):
            answers.set_apart(Message("aside.part_of_task"))
        elif question in seen:
            answers.set_apart(Message("aside.further_answers"))
        else:
            seen.add(question)
            known, response = answer_of(value)
            if not known:
                answers.reject(place, f"is no {kind} answer", "Export the project again as JSON.", json.dumps(value))
            elif has_several(value):
                answers.set_apart(SEVERAL)
            else:
                if kind == "pairwise":
                    answers.pairwise.add(question)
                yield question, response


READER = Reader("label-studio", "an export of Label Studio", recognises, read_label_studio, together=True)
