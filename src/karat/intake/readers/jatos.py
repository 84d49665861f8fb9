"""Results of JATOS that hold jsPsych data: the archive with its metadata, or the plain text with one result a line."""

from __future__ import annotations

import csv
import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from karat.errors import IntakeError, cause
from karat.intake.readers import jspsych
from karat.intake.readers.jatos_metadata import Metadata, StudyResult, metadata_of
from karat.intake.readers.jspsych_answers import AnswerFlaw
from karat.intake.readers.jspsych_trials import JsPsychTrials, TrialRow, reading_of
from karat.intake.reading import Options, Reader, Reading
from karat.judgments.source import SourceFile
from karat.messages import Message

NO_JSPSYCH = Message("aside.no_jspsych")
DATA_MEMBER = re.compile(r"(?:^|/)study[-_]result[-_](\d+)/comp[-_]result[-_](\d+)(?:/data)?\.txt$")


def recognises(file: SourceFile) -> bool:
    """An archive with the names of JATOS' results, or text with several results of jsPsych below each other."""
    if file.suffix == ".jrzip":
        return True
    if file.head.startswith(b"PK"):
        return any(DATA_MEMBER.search(name) or Path(name).name == "metadata.json" for name in _zip_names(file))
    return _has_result_lines(file.sample) or _has_several_tables(file.sample)


def _zip_names(file: SourceFile) -> list[str]:
    try:
        with file.open() as stream, zipfile.ZipFile(stream) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, RuntimeError, EOFError):
        return []


def _has_result_lines(sample: str) -> bool:
    """Several lines, each whole JSON, at least one of them a list of jsPsych's trials."""
    lines = [line.strip() for line in sample.splitlines() if line.strip()]
    if len(lines) < 2 or lines[0][:1] not in ("[", "{") or lines[0][-1:] not in ("]", "}"):
        return False
    whole = all(line.startswith(("[", "{")) and line.endswith(("]", "}")) for line in lines[:-1])
    return whole and any(line.startswith("[") and '"trial_type"' in line for line in lines)


def _has_several_tables(sample: str) -> bool:
    return sum(_is_header_line(line) for line in sample.splitlines()) > 1


def _is_header_line(line: str) -> bool:
    if "trial_type" not in line or "time_elapsed" not in line:
        return False
    try:
        return jspsych.is_header(next(csv.reader([line]), []))
    except csv.Error:
        return False


def read_jatos(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read archives and plain-text exports of one study."""
    trials = JsPsychTrials()
    metadata = Metadata()
    for file in files:
        if file.head.startswith(b"PK") or file.suffix == ".jrzip":
            _read_archive(file, options, trials, metadata)
        else:
            _read_text(file, options, trials)
    reading = reading_of(trials, options)
    reading.notes += metadata.notes()
    reading.participants = metadata.joined(reading.participants)
    return reading


def _read_archive(file: SourceFile, options: Options, trials: JsPsychTrials, metadata: Metadata) -> None:
    members = file.zip_sizes
    found = [(match, name) for name in members if (match := DATA_MEMBER.search(name))]
    about = min((name for name in members if Path(name).name == "metadata.json"), key=len, default=None)
    known = metadata_of(file.zip_member(about), f"{file.name}/{about}") if about else {}
    rows_of_result: dict[str, list[TrialRow]] = {number: [] for number in known}
    # Components of a study are numbered in the order in which they were begun.
    ordered = sorted(found, key=lambda pair: (int(pair[0][1]), int(pair[0][2])))
    for (match, name), member in zip(ordered, file.zip_files(name for _, name in ordered), strict=True):
        rows = _rows_of_member(member, f"{file.name}/{name}", options, trials)
        rows_of_result.setdefault(match[1], []).extend(rows)
    if not rows_of_result:
        raise IntakeError(
            f"{file.name} has no results of JATOS: no metadata.json and no study_result_1/comp_result_1/data.txt."
        )
    if about is None:
        trials.notes.append(Message("jatos.no_metadata", {"file": file.name}))
    others = len(members) - len(found) - (1 if about else 0)
    if others:
        trials.notes.append(Message("jatos.other_files", {"n": others, "file": file.name}))
    for number, rows in rows_of_result.items():
        result = known.get(number) or StudyResult(number)
        result.participant = _participant(result, rows, options, trials)
        for row in rows:
            row.participant = result.participant
            row.values.setdefault("study_result", number)
        metadata.add(result)
        trials.rows += rows


def _participant(result: StudyResult, rows: Sequence[TrialRow], options: Options, trials: JsPsychTrials) -> str:
    """Whose a study result is: by the platform's id in the link, the id in the data, or JATOS' worker id."""
    if result.platform_id and "participant" not in options.mapping:
        trials.notes.append(Message("jatos.participant_in_link", {"name": result.platform_name}))
        return trials.annotators.name(result.platform_id) or ""
    column = jspsych.id_column(rows, options)
    if column:
        jspsych.name_participants(rows, result.worker_id or result.number, options, trials, is_file=False)
        names = [row.participant for row in rows if row.participant]
        return names[0] if names else result.number
    trials.notes.append(Message("jatos.worker_ids" if result.worker_id else "jatos.result_numbers"))
    return result.worker_id or f"result {result.number}"


def _rows_of_member(member: SourceFile, name: str, options: Options, trials: JsPsychTrials) -> list[TrialRow]:
    """The rows of one result; one that is broken is a problem of its own and does not hide the others."""
    try:
        return _rows_of_result(member, name, options, trials)
    except IntakeError as error:
        _refuse_result(trials, name, 1, error)
        return []


def _rows_of_result(
    member: SourceFile, name: str, options: Options, trials: JsPsychTrials, line: int | None = None
) -> list[TrialRow]:
    if not member.sample.strip():
        return []
    if jspsych.is_json(member):
        rows = jspsych.rows_of(member, options, trials, name, line)
        return rows if any("trial_type" in row.values for row in rows) else _no_trials(rows, trials)
    rows = []
    for before, table in _tables(member):
        if _is_header_line(table.sample.splitlines()[0]):
            rows += jspsych.rows_of(table, options, trials, name, (line or 0) + before)
        else:
            trials.set_apart(NO_JSPSYCH)
    return rows


def _no_trials(rows: Sequence[TrialRow], trials: JsPsychTrials) -> list[TrialRow]:
    for _ in rows:
        trials.set_apart(NO_JSPSYCH)
    return []


def _tables(file: SourceFile) -> Iterator[tuple[int, SourceFile]]:
    """The tables that stand below each other in a file, cut at their headers, each with the line before it."""
    start, lines = 0, list[str]()
    for number, line in file.lines():
        if lines and _is_header_line(line):
            yield from _table(file, start, lines)
            start, lines = number - 1, []
        lines.append(line)
    yield from _table(file, start, lines)


def _table(file: SourceFile, start: int, lines: Sequence[str]) -> Iterator[tuple[int, SourceFile]]:
    content = "\n".join(lines)
    if content.strip():
        blank = next(index for index, line in enumerate(lines) if line.strip())
        yield start + blank, SourceFile(file.path, "utf-8", "\n".join(lines[blank:]).encode("utf-8"))


def _read_text(file: SourceFile, options: Options, trials: JsPsychTrials) -> None:
    """The plain-text export: who gave a result is not in it, unless the data themselves tell."""
    trials.notes += file.encoding_note
    results = _results_as_lines(file) if jspsych.is_json(file) else _tables(file)
    found = 0
    for line, result in results:
        try:
            rows = _rows_of_result(result, file.name, options, trials, line)
        except IntakeError as error:
            _refuse_result(trials, file.name, line + 1, error)
            continue
        if not rows:
            continue
        found += 1
        jspsych.name_participants(rows, f"{file.path.stem}-{found}", options, trials, is_file=False)
        trials.rows += rows
    trials.notes.append(Message("jatos.plain_text", {"file": file.name}))


def _results_as_lines(file: SourceFile) -> Iterator[tuple[int, SourceFile]]:
    for number, line in file.lines():
        if line.strip():
            yield number - 1, SourceFile(file.path, "utf-8", line.encode("utf-8"))


def _refuse_result(trials: JsPsychTrials, name: str, line: int, error: IntakeError) -> None:
    what = cause(error)
    trials.refuse(
        (name, "line", line),
        AnswerFlaw(f"the result cannot be read ({what})", "Correct it, or leave it out with --skip-bad.", "", ""),
    )


READER = Reader("jatos", "results of JATOS", recognises, read_jatos, together=True)
