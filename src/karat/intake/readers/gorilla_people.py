"""Who took part, in Gorilla's files: their id, status and device, and what they answered in questionnaires."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import polars as pl

from karat.intake.guess import plain
from karat.intake.personal import PROLIFIC_ID, left_out_note, names_a_person
from karat.intake.reading import Reading
from karat.judgments.columns import COLUMNS
from karat.judgments.tables import FileTable
from karat.judgments.times import instants
from karat.messages import Message

KNOWN = {
    "participantstatus": "participant_status",
    "participantstartinggroup": "starting_group",
    "participantexternalsessionid": "external_session",
    "participantdevicetype": "device_type",
    "participantdevice": "device",
    "participantos": "os",
    "participantbrowser": "browser",
    "participantmonitorsize": "monitor_size",
    "participantviewportsize": "viewport_size",
}
OF_GORILLA = re.compile(
    r"eventindex|utc.*|local.*|experiment(id|version)|treenodekey|repeatkey|scheduleid|participant.*|checkpoint|room.*|"
    r"task(name|version)|questionnaire(name|version)|randomiser.*|branch.*|endquestionnaire|startquestionnaire"
)


def called(tables: Sequence[FileTable], reading: Reading) -> dict[str, str]:
    """How each private id is to be called: by the public id where that is a Prolific id, else by itself."""
    pairs: dict[str, set[str | None]] = {}
    for table in tables:
        names = {plain(name): name for name in table.frame.columns}
        private = table.frame[names["participantprivateid"]]
        public = names.get("participantpublicid")
        publics = table.frame[public].to_list() if public else [None] * len(private)
        for one, other in zip(private.to_list(), publics, strict=True):
            if one is not None:
                pairs.setdefault(one, set()).add(other)
    ids = {one: next(iter(others)) for one, others in pairs.items() if len(others) == 1}
    known = {one: other for one, other in ids.items() if other is not None and PROLIFIC_ID.fullmatch(other)}
    if known and len(known) == len(pairs) == len(set(known.values())):
        reading.notes.append(Message("gorilla.public_ids"))
        return known
    if any(other is not None for others in pairs.values() for other in others):
        reading.notes.append(Message("gorilla.private_ids"))
    return {one: one for one in pairs}


def is_questionnaire(columns: Sequence[str]) -> bool:
    """Whether a file comes from a questionnaire: it has no trials."""
    return not {plain(name) for name in columns} & {"trialnumber", "reactiontime", "screennumber", "zonetype"}


def people_of(tables: Sequence[FileTable], names: Mapping[str, str], reading: Reading) -> pl.DataFrame:
    """One row a participant: first and last event, status, device, and answers of questionnaires."""
    rows: dict[str, dict[str, object]] = {}
    for table in tables:
        columns = {plain(name): name for name in table.frame.columns}
        answers = _background(table, reading) if is_questionnaire(table.frame.columns) else {}
        private = table.frame[columns["participantprivateid"]].to_list()
        stamps = columns.get("utctimestamp")
        times = table.frame[stamps].cast(pl.Float64, strict=False).to_list() if stamps else [None] * len(private)
        about = {told: table.frame[columns[name]].to_list() for name, told in KNOWN.items() if name in columns}
        for row, (one, time) in enumerate(zip(private, times, strict=True)):
            if one is None:
                continue
            person = rows.setdefault(names.get(one, one), {"participant": names.get(one, one)})
            if time is not None:
                earlier, later = person.get("started", time), person.get("finished", time)
                person["started"] = min(time, earlier if isinstance(earlier, float) else time)
                person["finished"] = max(time, later if isinstance(later, float) else time)
            for told, values in about.items():
                person[told] = values[row] if values[row] is not None else person.get(told)
            for question, value in answers.get(row, {}).items():
                person.setdefault(question, value)
    found = list(dict.fromkeys(["participant", *(name for person in rows.values() for name in person)]))
    data = {name: [person.get(name) for person in rows.values()] for name in found}
    times_of = [name for name in ("started", "finished") if name in data]
    frame = pl.DataFrame(data, schema={name: pl.Float64 if name in times_of else pl.String for name in found})
    return frame.with_columns(instants(frame[name]).alias(name) for name in times_of)


def _background(table: FileTable, reading: Reading) -> dict[int, dict[str, str]]:
    """The answers in each row of a questionnaire, by question; long form or one row a participant."""
    frame = table.frame
    columns = {plain(name): name for name in frame.columns}
    question = columns.get("questionkey") or columns.get("objectname")
    response = columns.get("response")
    if question is None or response is None:
        asked = [name for name in frame.columns if not OF_GORILLA.fullmatch(plain(name))]
        cells = {row: [(name, frame[name][row]) for name in asked] for row in range(frame.height)}
    else:
        keys = frame[columns["key"]].to_list() if "key" in columns else [None] * frame.height
        questions, responses = frame[question].to_list(), frame[response].to_list()
        cells = {
            row: [(questions[row] or "", responses[row])] for row in range(frame.height) if keys[row] != "quantised"
        }
    personal = {name: None for found in cells.values() for name, _ in found if names_a_person(name)}
    reading.notes += left_out_note(list(personal), table.file.name)
    return {
        row: {
            (f"{name}_" if name in COLUMNS or name in ("started", "finished", *KNOWN.values()) else name): value
            for name, value in found
            if value is not None and name and name not in personal and not name.upper().startswith(("BEGIN ", "END "))
        }
        for row, found in cells.items()
    }
