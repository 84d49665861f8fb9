"""Results of JATOS that hold jsPsych data: the archive with its metadata, or plain text with one result per line."""

from __future__ import annotations

import csv
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from karat.errors import IntakeError, cause
from karat.intake.cells import filled_up, table_of
from karat.intake.guess import plain
from karat.intake.personal import names_a_person
from karat.intake.readers.jspsych import reader as jspsych
from karat.intake.readers.jspsych.answers import AnswerFlaw, text
from karat.intake.readers.jspsych.trials import ID_COLUMNS, JsPsychTrials, TrialRow, column_of, reading_of
from karat.intake.reading import Options, Reader, Reading
from karat.judgments.message_tables import listed
from karat.judgments.scales import as_number
from karat.judgments.source import SourceFile
from karat.judgments.times import UNIX_2100
from karat.messages import Message

FINISHED = "FINISHED"
LATEST = UNIX_2100 * 1000
"""In milliseconds; anything later is not a date."""


@dataclass
class StudyResult:
    """One run of a study: the participant, the times and the final state."""

    number: str
    participant: str = ""
    worker_id: str | None = None
    platform_id: str | None = None
    platform_name: str = ""
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def is_finished(self) -> bool:
        """Whether the participant reached the end."""
        return self.about.get("study_state") == FINISHED


def _notes(results: Sequence[StudyResult]) -> list[Message]:
    """Notes on participants who did not finish or who took part several times."""
    notes = []
    unfinished = [result for result in results if result.about.get("study_state") and not result.is_finished]
    if unfinished:
        names = listed([f"{result.participant} ({result.about['study_state']})" for result in unfinished])
        notes.append(Message("jatos.unfinished", {"n": len(unfinished), "results": len(results), "names": names}))
    runs = Counter(result.participant for result in results)
    repeated = [name for name, count in runs.items() if count > 1]
    if repeated:
        notes.append(Message("jatos.several_results", {"names": listed(repeated)}))
    return notes


def _people(results: Sequence[StudyResult], people: pl.DataFrame | None) -> pl.DataFrame | None:
    """One row per participant, with or without data, from JATOS' metadata and from the data themselves."""
    result_of: dict[str, StudyResult] = {}
    for result in results:
        before = result_of.get(result.participant)
        if before is None or not before.is_finished:
            result_of[result.participant] = result
    if not result_of:
        return people
    types: dict[str, pl.DataType] = {"working_time": pl.Float64()}
    types |= dict.fromkeys(("started", "finished"), pl.Datetime("us", "UTC"))
    of_jatos = table_of([{"participant": name, **result.about} for name, result in result_of.items()], types)
    # JATOS' times come first: they run from the first page to the last, those of jsPsych only within its own pages.
    return of_jatos if people is None else filled_up(of_jatos, people)


def metadata_of(file: SourceFile, name: str) -> dict[str, StudyResult]:
    """The study results in metadata.json by their numbers."""
    results: dict[str, StudyResult] = {}
    for _, document in file.json_documents():
        for entry in _study_results(document):
            number = text(entry.get("id"))
            if number:
                results[number] = _study_result(number, entry)
    if not results:
        raise IntakeError(f"{name} has no studyResults.")
    return results


def _study_results(document: Any) -> Iterator[dict[str, Any]]:
    studies = document.get("data") if isinstance(document, dict) else None
    for study in studies if isinstance(studies, list) else [document]:
        results = study.get("studyResults") if isinstance(study, dict) else None
        for entry in results if isinstance(results, list) else []:
            if isinstance(entry, dict):
                yield entry


def _study_result(number: str, entry: dict[str, Any]) -> StudyResult:
    query = entry.get("urlQueryParameters")
    parameters = {text(k) or "": text(v) for k, v in query.items()} if isinstance(query, dict) else {}
    by_plain_name = {plain(name): name for name, value in parameters.items() if value}
    id_name = next((by_plain_name[name] for name in ID_COLUMNS if name in by_plain_name), None)
    started, finished = (as_number(text(entry.get(name)) or "") for name in ("startDate", "endDate"))
    details: dict[str, Any] = {
        "study_state": text(entry.get("studyState")),
        "started": _date(started),
        "finished": _date(finished),
        "working_time": (finished - started) / 1000 if started and finished and finished >= started else None,
        "worker_id": text(entry.get("workerId")),
        "worker_type": text(entry.get("workerType")),
        "batch": text(entry.get("batchTitle")),
        "study_result": number,
    }
    for name, value in parameters.items():
        if name and name != id_name and not names_a_person(name):
            details.setdefault(name if name != "participant" else "participant_", value)
    details = {name: value for name, value in details.items() if value is not None}
    platform_id = parameters[id_name] if id_name else None
    return StudyResult(number, "", text(entry.get("workerId")), platform_id, id_name or "", details)


def _date(milliseconds: float | None) -> datetime | None:
    """The point in time that JATOS counts in milliseconds since 1970."""
    if milliseconds is None or not 0 < milliseconds < LATEST:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


NO_JSPSYCH = Message("aside.no_jspsych")
DATA_MEMBER = re.compile(r"(?:^|/)study[-_]result[-_](\d+)/comp[-_]result[-_](\d+)(?:/data)?\.txt$")


def recognises(file: SourceFile) -> bool:
    """Whether an archive has the file names of JATOS' results, or a text has several results of jsPsych in a row."""
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
    """Whether a text has several lines of JSON, at least one of them a list of jsPsych's trials."""
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
    results: list[StudyResult] = []
    for file in files:
        if file.head.startswith(b"PK") or file.suffix == ".jrzip":
            results += _read_archive(file, options, trials)
        else:
            _read_text(file, options, trials)
    reading = reading_of(trials, options)
    reading.notes += _notes(results)
    reading.participants = _people(results, reading.participants)
    return reading


def _read_archive(file: SourceFile, options: Options, trials: JsPsychTrials) -> list[StudyResult]:
    members = file.zip_sizes
    matches = [(match, name) for name in members if (match := DATA_MEMBER.search(name))]
    metadata = min((name for name in members if Path(name).name == "metadata.json"), key=len, default=None)
    described = metadata_of(file.zip_member(metadata), f"{file.name}/{metadata}") if metadata else {}
    rows_of_result: dict[str, list[TrialRow]] = {number: [] for number in described}
    # Components of a study are numbered in the order in which they started.
    ordered = sorted(matches, key=lambda pair: (int(pair[0][1]), int(pair[0][2])))
    for (match, name), member in zip(ordered, file.zip_files(name for _, name in ordered), strict=True):
        rows = _rows_of_member(member, f"{file.name}/{name}", options, trials)
        rows_of_result.setdefault(match[1], []).extend(rows)
    if not rows_of_result:
        raise IntakeError(
            f"{file.name} has no results of JATOS: no metadata.json and no study_result_1/comp_result_1/data.txt."
        )
    if metadata is None:
        trials.notes.append(Message("jatos.no_metadata", {"file": file.name}))
    others = len(members) - len(matches) - (1 if metadata else 0)
    if others:
        trials.notes.append(Message("jatos.other_files", {"n": others, "file": file.name}))
    results = []
    for number, rows in rows_of_result.items():
        result = described.get(number) or StudyResult(number)
        result.participant = _participant(result, rows, options, trials)
        for row in rows:
            row.participant = result.participant
            row.values.setdefault("study_result", number)
        results.append(result)
        trials.rows += rows
    return results


def _participant(result: StudyResult, rows: Sequence[TrialRow], options: Options, trials: JsPsychTrials) -> str:
    """The participant of a study result: the platform's id in the link, the id in the data, or JATOS' worker id."""
    if result.platform_id and "participant" not in options.mapping:
        trials.notes.append(Message("jatos.participant_in_link", {"name": result.platform_name}))
        return trials.annotators.name(result.platform_id) or ""
    column = column_of("participant", rows, options)
    if column:
        jspsych.name_participants(rows, result.worker_id or result.number, options, trials, is_file=False)
        names = [row.participant for row in rows if row.participant]
        return names[0] if names else result.number
    trials.notes.append(Message("jatos.worker_ids" if result.worker_id else "jatos.result_numbers"))
    return result.worker_id or f"result {result.number}"


def _rows_of_member(member: SourceFile, name: str, options: Options, trials: JsPsychTrials) -> list[TrialRow]:
    """The rows of one result; a broken result is a problem but does not hide the others."""
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
        if any("trial_type" in row.values for row in rows):
            return rows
        for _ in rows:
            trials.set_apart(NO_JSPSYCH)
        return []
    rows = []
    for before, table in _tables(member):
        if _is_header_line(table.sample.splitlines()[0]):
            rows += jspsych.rows_of(table, options, trials, name, (line or 0) + before)
        else:
            trials.set_apart(NO_JSPSYCH)
    return rows


def _tables(file: SourceFile) -> Iterator[tuple[int, SourceFile]]:
    """The tables in a file with several, split at their headers, each with the number of the line before it."""
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
    """Add the rows of a plain-text export, which names participants only if the data themselves do."""
    trials.notes += file.encoding_note
    results = _results_as_lines(file) if jspsych.is_json(file) else _tables(file)
    number = 0
    for line, result in results:
        try:
            rows = _rows_of_result(result, file.name, options, trials, line)
        except IntakeError as error:
            _refuse_result(trials, file.name, line + 1, error)
            continue
        if not rows:
            continue
        number += 1
        jspsych.name_participants(rows, f"{file.path.stem}-{number}", options, trials, is_file=False)
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
