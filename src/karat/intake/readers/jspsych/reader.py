"""Data of jsPsych, versions 5 to 8, as CSV or JSON: one participant per file, or several in one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from karat.errors import IntakeError
from karat.intake.cells import respelled
from karat.intake.readers.jspsych.answers import AnswerFlaw, cell, nested, plain_name, text
from karat.intake.readers.jspsych.trials import CONSUMED, JsPsychTrials, TrialRow, column_of, reading_of
from karat.intake.reading import Options, Reader, Reading
from karat.intake.table_repair import read_results
from karat.judgments.scales import as_number
from karat.judgments.source import SourceFile
from karat.judgments.tables import header_of
from karat.messages import Message

DEEPEST_LIST = 4


PLUGINS = re.compile(
    r"\b(html|image|audio|video)-(button|keyboard|slider)-response\b|\bsurvey-(likert|text|multi-choice|html-form)\b"
)


OWN_COLUMNS = ("trial_type", "trial_index", "time_elapsed", "stimulus", *CONSUMED)


def recognises(file: SourceFile) -> bool:
    """Whether a file is a table with jsPsych's columns, or JSON with its names."""
    if is_json(file):
        sample = file.sample
        return '"trial_type"' in sample and ('"trial_index"' in sample or '"time_elapsed"' in sample)
    header = respelled(header_of(file), OWN_COLUMNS)
    # Tables shortened by their authors still hold the names of plugins.
    return is_header(header) or (
        {"trial_type", "trial_index"} <= set(header) and PLUGINS.search(file.sample) is not None
    )


def is_json(file: SourceFile) -> bool:
    """Whether a file begins like JSON."""
    return file.sample.lstrip()[:1] in ("[", "{")


def is_header(cells: Sequence[str]) -> bool:
    """Whether a header has the columns that jsPsych always writes."""
    typical = {"trial_index", "time_elapsed", "internal_node_id", "plugin_version"}
    names = respelled(cells, OWN_COLUMNS)
    return "trial_type" in names and len(typical & set(names)) >= 2


def read_jspsych(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read the files of one study, with one or several participants per file."""
    trials = JsPsychTrials()
    for file, name in zip(files, _participant_names(files), strict=True):
        rows = rows_of(file, options, trials)
        name_participants(rows, name, options, trials)
        trials.rows += rows
    return reading_of(trials, options)


def _participant_names(files: Sequence[SourceFile]) -> list[str]:
    """The fallback names of participants: the names of their files, with the folder if file names are the same."""
    stems = Counter(file.path.stem for file in files)
    return [
        f"{file.path.parent.name}/{file.path.stem}" if stems[file.path.stem] > 1 else file.path.stem for file in files
    ]


def rows_of(
    file: SourceFile, options: Options, trials: JsPsychTrials, name: str | None = None, line: int | None = None
) -> list[TrialRow]:
    """The rows of a file, or of a part that messages call `name` and that begins after `line`."""
    if not file.size:
        raise IntakeError(f"{name or file.name} is empty.")
    if is_json(file):
        trials.notes += file.encoding_note
        return _rows_of_json(file, trials, name or file.name, line)
    return _rows_of_csv(file, options, trials, name or file.name, line or 0)


def _rows_of_csv(file: SourceFile, options: Options, trials: JsPsychTrials, name: str, line: int) -> list[TrialRow]:
    table = read_results(file, options.delimiter)
    table.frame.columns = respelled(table.frame.columns, OWN_COLUMNS)
    if "trial_type" not in table.frame.columns:
        raise IntakeError(f"{name} has no column trial_type, as all data of jsPsych have; use --from table to read it.")
    trials.notes += table.notes
    for problem in table.problems:
        number = None if problem.number is None else problem.number + line
        trials.problems.add(
            problem.what, problem.fix, column=problem.column, value=problem.value, file=name, number=number
        )
    trials.bad_units += table.rows_in - table.frame.height
    rows = []
    for index, values in enumerate(table.frame.iter_rows(named=True)):
        if plain_name(values["trial_type"] or "") == "trialtype":
            trials.set_apart(Message("aside.repeated_headers"))
            continue
        _, place, number = table.locate(index)
        filled = {column: value for column, value in values.items() if value is not None}
        rows.append(TrialRow(_opened(filled), (name, place, number + line)))
    return rows


MOST_KEYS = 40


def _opened(values: dict[str, Any]) -> dict[str, Any]:
    """A row with the contents of objects in columns of their own.

    >>> _opened({"trial_index": 3, "data": '{"item": 7, "rt": 1}', "response": '{"Q0": 3}'})
    {'trial_index': 3, 'response': '{"Q0": 3}', 'item': 7, 'data_rt': 1}
    """
    opened: dict[str, Any] = {}
    for name in [name for name in values if name not in OWN_COLUMNS]:
        content = nested(values[name])
        if isinstance(content, dict) and 0 < len(content) <= MOST_KEYS:
            reserved = {*values, *opened, *OWN_COLUMNS}
            opened |= {key if key not in reserved else f"{name}_{key}": value for key, value in content.items()}
            values = {column: value for column, value in values.items() if column != name}
    return values | opened


def _rows_of_json(file: SourceFile, trials: JsPsychTrials, name: str, line: int | None) -> list[TrialRow]:
    rows = []
    number = 0
    for _, element in file.json_documents():
        for values in _unpacked(element, {}):
            number += 1
            place = (name, "element", number) if line is None else (name, "line", line + 1)
            if isinstance(values, dict):
                rows.append(TrialRow(_opened(values), place))
            else:
                trials.refuse(place, values)
    return rows


def _unpacked(element: Any, shared: dict[str, Any], depth: int = 0) -> Iterator[dict[str, Any] | AnswerFlaw]:
    """The trials in an element: the element itself, those of a list, or those of an object that wraps a list."""
    element = nested(element)
    if isinstance(element, list) and depth < DEEPEST_LIST:
        for part in element:
            yield from _unpacked(part, shared, depth + 1)
    elif isinstance(element, dict):
        # A database may key trials and participants by numbers or codes instead of listing them.
        wrapped = [] if "trial_type" in element else [part for part in element.values() if _holds_trials(part)]
        if not wrapped:
            yield {**shared, **element}
        plain_values = {name: value for name, value in element.items() if not isinstance(value, dict | list)}
        for part in wrapped if depth < DEEPEST_LIST else []:
            yield from _unpacked(part, {**shared, **plain_values}, depth + 1)
    else:
        fix = "Every trial is an object with a trial_type."
        yield AnswerFlaw("is not a trial", fix, "", text(element) or "null")


def _holds_trials(part: Any, depth: int = 0) -> bool:
    """Whether a value is a trial, or a list or object that holds some."""
    if isinstance(part, dict) and "trial_type" in part:
        return True
    parts = part if isinstance(part, list) else part.values() if isinstance(part, dict) else ()
    return depth < DEEPEST_LIST and any(_holds_trials(each, depth + 1) for each in parts)


def name_participants(
    rows: Sequence[TrialRow], fallback: str, options: Options, trials: JsPsychTrials, *, is_file: bool = True
) -> None:
    """Name the participant of each row, by a column with ids or by the file and restarts of the trial count."""
    column = column_of("participant", rows, options)
    runs = _runs(rows)
    nameless = 0
    for number, run in enumerate(runs, start=1):
        ids = list(dict.fromkeys(code for row in run if column and (code := text(cell(row.values, column)))))
        if not ids:
            nameless += 1
            ids = [fallback if len(runs) == 1 else f"{fallback}-{number}"]
        for row in run:
            code_of_row = text(cell(row.values, column)) if column else None
            row.participant = trials.annotators.name(code_of_row or (ids[0] if len(ids) == 1 else None))
    if column:
        trials.id_columns.add(column)
        if options.mapping.get("participant") != column:
            trials.notes.append(Message("participant.column", {"column": column}))
    if nameless and len(runs) == 1 and is_file:
        trials.notes.append(Message("jspsych.one_participant_per_file"))
    elif nameless and len(runs) > 1:
        trials.notes.append(Message("jspsych.participants_by_run", {"file": fallback, "n": nameless}))


def _runs(rows: Sequence[TrialRow]) -> list[list[TrialRow]]:
    """The rows split where a trial_index recurs, because the next participant begins there."""
    runs: list[list[TrialRow]] = []
    seen: set[float] = set()
    for row in rows:
        index = as_number(text(cell(row.values, "trial_index")) or "")
        if not runs or (index is not None and index in seen):
            runs.append([])
            seen = set()
        runs[-1].append(row)
        if index is not None:
            seen.add(index)
    return runs


READER = Reader("jspsych", "data of jsPsych", recognises, read_jspsych, together=True)
