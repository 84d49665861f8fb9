"""What JATOS knows about the people behind its results: metadata.json of a results archive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import polars as pl

from karat.errors import IntakeError
from karat.intake.guess import plain
from karat.intake.personal import names_a_person
from karat.intake.readers.jspsych_answers import text
from karat.intake.readers.jspsych_table import ID_COLUMNS
from karat.intake.wide import filled_up
from karat.judgments.message_tables import listed
from karat.judgments.scales import as_number
from karat.judgments.source import SourceFile
from karat.judgments.times import UNIX_2100
from karat.messages import Message

FINISHED = "FINISHED"
LATEST = UNIX_2100 * 1000
"""In milliseconds: what is later is no date."""


@dataclass
class StudyResult:
    """One run of a study: who, when, and how it ended."""

    number: str
    participant: str = ""
    worker_id: str | None = None
    platform_id: str | None = None
    platform_name: str = ""
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def is_finished(self) -> bool:
        """Whether the participant came to the end."""
        return self.about.get("study_state") == FINISHED


@dataclass
class Metadata:
    """The study results of all archives."""

    results: list[StudyResult] = field(default_factory=list)

    def add(self, result: StudyResult) -> None:
        """Take in one more run."""
        self.results.append(result)

    def notes(self) -> list[Message]:
        """Who did not finish, and who came twice."""
        notes = []
        open_ones = [result for result in self.results if result.about.get("study_state") and not result.is_finished]
        if open_ones:
            names = listed([f"{result.participant} ({result.about['study_state']})" for result in open_ones])
            values = {"n": len(open_ones), "results": len(self.results), "names": names}
            notes.append(Message("jatos.unfinished", values))
        runs = Counter(result.participant for result in self.results)
        twice = [name for name, count in runs.items() if count > 1]
        if twice:
            notes.append(Message("jatos.several_results", {"names": listed(twice)}))
        return notes

    def joined(self, people: pl.DataFrame | None) -> pl.DataFrame | None:
        """What the data say about people and what JATOS says, one row each; those without data are there too."""
        chosen: dict[str, StudyResult] = {}
        for result in self.results:
            before = chosen.get(result.participant)
            if before is None or not before.is_finished:
                chosen[result.participant] = result
        if not chosen:
            return people
        names = dict.fromkeys(name for result in chosen.values() for name in result.about)
        numbers: dict[str, pl.DataType] = {"working_time": pl.Float64()}
        dates = dict.fromkeys(("started", "finished"), pl.Datetime("us", "UTC"))
        types = {name: (numbers | dates).get(name, pl.String()) for name in names}
        own = pl.DataFrame(
            {"participant": list(chosen), **{n: [r.about.get(n) for r in chosen.values()] for n in names}},
            schema={"participant": pl.String(), **types},
        )
        if people is None:
            return own
        # JATOS' clock comes first: it runs from the first page to the last, jsPsych's only within its own pages.
        return filled_up(own, people)


def metadata_of(file: SourceFile, name: str) -> dict[str, StudyResult]:
    """The study results in metadata.json by their numbers."""
    found: dict[str, StudyResult] = {}
    for _, document in file.json_documents():
        for entry in _study_results(document):
            number = text(entry.get("id"))
            if number:
                found[number] = _study_result(number, entry)
    if not found:
        raise IntakeError(f"{name} has no studyResults.")
    return found


def _study_results(document: Any) -> Iterator[dict[str, Any]]:
    studies = document.get("data") if isinstance(document, dict) else None
    for study in studies if isinstance(studies, list) else [document]:
        results = study.get("studyResults") if isinstance(study, dict) else None
        for entry in results if isinstance(results, list) else []:
            if isinstance(entry, dict):
                yield entry


def _study_result(number: str, entry: dict[str, Any]) -> StudyResult:
    given = entry.get("urlQueryParameters")
    parameters = {text(k) or "": text(v) for k, v in given.items()} if isinstance(given, dict) else {}
    named = {plain(name): name for name, value in parameters.items() if value}
    id_name = next((named[name] for name in ID_COLUMNS if name in named), None)
    started, finished = (as_number(text(entry.get(name)) or "") for name in ("startDate", "endDate"))
    about: dict[str, Any] = {
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
            about.setdefault(name if name != "participant" else "participant_", value)
    about = {name: value for name, value in about.items() if value is not None}
    platform_id = parameters[id_name] if id_name else None
    return StudyResult(number, "", text(entry.get("workerId")), platform_id, id_name or "", about)


def _date(milliseconds: float | None) -> datetime | None:
    """Milliseconds since 1970, as JATOS counts, as a point in time."""
    if milliseconds is None or not 0 < milliseconds < LATEST:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
