"""Data files of Gorilla, one a node of the experiment: tasks of both task builders, and questionnaires.

A task file has one row an event. Task Builder 1 tells answers by the type of the zone, Task Builder 2 by the type of
the response. Questionnaires describe the participants and hold no judgments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import polars as pl

from karat.errors import IntakeError, Problem
from karat.intake.cells import seconds_of
from karat.intake.guess import plain
from karat.intake.labels import ITEM_IDS, function_named_in
from karat.intake.personal import left_out_note, names_a_person
from karat.intake.readers.generic import typed_column
from karat.intake.readers.gorilla_events import END_OF_FILE, GorillaEvent, answers_among
from karat.intake.readers.gorilla_people import called, is_questionnaire, people_of
from karat.intake.reading import Options, Reader, Reading
from karat.intake.wide import SAME_MEANING, numbers_or_text, own_name
from karat.judgments.checks import Place
from karat.judgments.source import SourceFile
from karat.judgments.tables import SPREADSHEETS, FileTable, header_of, read_table
from karat.messages import Message

ITEM_NAMES = (*ITEM_IDS, "stimulus", "sentence")
NOT_KEPT = re.compile(
    r"eventindex|utc.*|local.*|experiment(id|version)|repeatkey|scheduleid|participant.*|checkpoint|room.*|taskversion|"
    r"reactiontime|reactiononset|response|responsetype|[xy]coordinate"
)


def read_gorilla(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read the files of all nodes together, so that trials are counted in the order in which a person saw them."""
    reading = Reading(pl.DataFrame(), lambda row: where[row], 0)
    where: list[Place] = []
    tables = [_table(file, options, reading) for file in files]
    names = called(tables, reading)
    tasks = [table for table in tables if not is_questionnaire(table.frame.columns)]
    for table in tables:
        if is_questionnaire(table.frame.columns):
            reading.set_apart(Message("aside.questionnaire_rows"), table.frame.height)
            reading.notes.append(Message("gorilla.questionnaire", {"file": table.file.name}))
    reading.participants = people_of(tables, names, reading)
    if not tasks:
        return reading
    whole = pl.concat([table.frame for table in tasks], how="diagonal_relaxed")
    answers = answers_among(_events(tasks, whole), reading)
    answers.sort(key=lambda event: (event.participant or "", event.time or 0.0, event.row))
    where += [event.place for event in answers]
    reading.frame = _frame(whole, answers, names, options, reading)
    return reading


def _table(file: SourceFile, options: Options, reading: Reading) -> FileTable:
    table = read_table(file, options.delimiter, options.sheet)
    if "participantprivateid" not in {plain(name) for name in table.frame.columns}:
        raise IntakeError(
            f"{file.name} has no column Participant Private ID, which Gorilla writes. "
            f"It has {', '.join(table.frame.columns)}."
        )
    reading.units_in += table.rows_in
    flaws = list(_without_end_of_file(table))
    if len(flaws) < len(table.problems):
        reading.set_apart(END_OF_FILE)
    reading.bad_units += len({flaw.number for flaw in flaws})
    reading.problems.extend(flaws)
    reading.notes += table.notes
    return table


def _without_end_of_file(table: FileTable) -> Iterator[Problem]:
    """The problems of a table without the one that the last line, which only says END OF FILE, is short."""
    end = 0
    if table.problems and table.file.suffix not in SPREADSHEETS:
        for number, text in table.file.lines():
            end = number if text.strip('",; \t') == "END OF FILE" else end
    yield from (problem for problem in table.problems if problem.number != end)


def _cells(whole: pl.DataFrame, *names: str) -> list[str | None]:
    """The first of some columns that is there, told without case, blanks and signs; row by row."""
    there = {plain(name): name for name in reversed(whole.columns)}
    column = next((there[name] for name in names if name in there), None)
    return whole[column].to_list() if column else [None] * whole.height


def _events(tables: Sequence[FileTable], whole: pl.DataFrame) -> list[GorillaEvent]:
    places = [table.locate(row) for table in tables for row in range(table.frame.height)]
    nodes = [str(number) for number, table in enumerate(tables) for _ in range(table.frame.height)]
    times = pl.Series(_cells(whole, "utctimestamp"), dtype=pl.String).cast(pl.Float64, strict=False).to_list()
    columns = (
        _cells(whole, "eventindex"), _cells(whole, "participantprivateid"), _cells(whole, "treenodekey"),
        _cells(whole, "repeatkey"), _cells(whole, "trialnumber"), _cells(whole, "screenname", "screen", "screennumber"),
        _cells(whole, "zonename", "objectname"), _cells(whole, "zonetype"), _cells(whole, "responsetype"),
        _cells(whole, "response"), _cells(whole, "attempt"), _cells(whole, "display", "spreadsheetdisplay"),
        _cells(whole, "timedout"),
    )  # fmt: skip
    events = []
    for row, cells in enumerate(zip(*columns, strict=True)):
        index, who, node, repeat, trial, screen, name, zone, kind, response, attempt, display, late = cells
        where = " ".join(part for part in (nodes[row], node, repeat) if part)
        events.append(GorillaEvent(
            places[row], row, index or "", who, where, trial or "", screen or "", name or "", zone or "", kind or "",
            response, attempt or "", display or "", late in ("1", "true"), times[row],
        ))  # fmt: skip
    return events


def _frame(
    whole: pl.DataFrame, answers: Sequence[GorillaEvent], names: dict[str, str], options: Options, reading: Reading
) -> pl.DataFrame:
    rows = [event.row for event in answers]
    source = whole[rows] if rows else whole.clear()
    columns: dict[str, pl.Series] = {
        "participant": _text([names.get(event.participant or "", event.participant) for event in answers]),
        "item": _items(source, reading),
        "response": _text([event.response for event in answers]),
        "trial": pl.Series(_positions(answers), dtype=pl.Int64),
        "rt": _seconds(source, answers, options, reading),
        "time": pl.Series([event.time for event in answers], dtype=pl.Float64),
    }
    functions = [function_named_in(event.display) for event in answers]
    if set(functions) - {"test"}:
        columns["function"] = _text(list(functions))
        reading.notes.append(Message("gorilla.function"))
    if any(event.question is not None for event in answers):
        columns["question"] = _text([event.question for event in answers])
    personal = [name for name in source.columns if names_a_person(_bare(name))]
    reading.notes += left_out_note(personal, answers[0].place[0]) if answers else []
    for name in source.columns:
        if NOT_KEPT.fullmatch(plain(name)) or name in personal or source[name].null_count() == source.height:
            continue
        bare = _bare(name) if _bare(name) in SAME_MEANING else name
        if name != "item" or not columns["item"].equals(source[name]):
            columns[own_name(bare, list(columns), source.columns)] = typed_column(source[name])
    return pl.DataFrame(columns)


def _text(values: Sequence[str | None]) -> pl.Series:
    return pl.Series(values, dtype=pl.String)


def _bare(name: str) -> str:
    """A column of the spreadsheet without the word that Task Builder 2 puts before it."""
    return re.sub(r"^spreadsheet\s*:\s*", "", name, flags=re.IGNORECASE)


def _items(source: pl.DataFrame, reading: Reading) -> pl.Series:
    """Items by a column of the spreadsheet that names them, else by the row of the spreadsheet, else by trial."""
    there = {plain(_bare(name)): name for name in reversed(source.columns) if source[name].null_count() < source.height}
    column = next((there[name] for name in ITEM_NAMES if name in there), None)
    column = column or next((there[name] for name in ("spreadsheetrow", "trialnumber") if name in there), None)
    if column is None:
        return pl.Series([None] * source.height, dtype=pl.String)
    items = source[column]
    row = there.get("spreadsheetrow")
    if row is not None and items.null_count():
        items = items.fill_null("row " + source[row])
    reading.notes.append(Message("item.column", {"column": column}))
    return items


def _positions(answers: Sequence[GorillaEvent]) -> list[int]:
    """The number of each answer's trial among all that its participant answered, in the order of time."""
    seen: dict[str | None, dict[tuple[str, str], int]] = {}
    positions = []
    for event in answers:
        trials = seen.setdefault(event.participant, {})
        positions.append(trials.setdefault((event.node, event.trial), len(trials) + 1))
    return positions


def _seconds(source: pl.DataFrame, answers: Sequence[GorillaEvent], options: Options, reading: Reading) -> pl.Series:
    """Reaction times, which Gorilla gives in milliseconds; what is no number stays, for the message."""
    texts = _cells(source, "reactiontime", "reactiontimems")
    missed = [event.response is None and event.timed_out for event in answers]
    given = _text([None if late else text for late, text in zip(missed, texts, strict=True)])
    if options.rt_unit == "s":
        return numbers_or_text(given)
    reading.notes.append(Message("gorilla.milliseconds"))
    return seconds_of(given)


def recognises(file: SourceFile) -> bool:
    """A header with Gorilla's event index and private id."""
    return {"eventindex", "participantprivateid"} <= {plain(cell) for cell in header_of(file)}


READER = Reader("gorilla", "data of Gorilla", recognises, read_gorilla, together=True)
