"""Data files of Gorilla, one per node of the experiment: tasks of both task builders, and questionnaires.

A task file has one row per event. Task Builder 1 marks answers by the type of the zone, Task Builder 2 by the type of
the response. Questionnaires describe the participants and hold no judgments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from karat.errors import IntakeError, Problem
from karat.intake.cells import SAME_MEANING, column_named, numbers_or_text, own_name, seconds_of, table_of
from karat.intake.content import ITEM_IDS, TO_GO_ON, function_named_in, functions_in
from karat.intake.guess import NAMES, plain
from karat.intake.personal import PROLIFIC_ID, left_out_note, names_a_person
from karat.intake.readers.generic import typed_column
from karat.intake.reading import Options, Reader, Reading
from karat.intake.roles import shown_items
from karat.judgments.checks import Place
from karat.judgments.columns import COLUMNS
from karat.judgments.source import SourceFile
from karat.judgments.tables import SPREADSHEETS, FileTable, header_of, read_table
from karat.judgments.times import instants
from karat.messages import Message

NO_TRIALS = re.compile(
    r"instruction|consent|debrief|(?<![a-z])break(?![a-z])|welcome|thank|goodbye|participant.?information|^information$",
    re.IGNORECASE,
)
ANSWER_ZONES = re.compile(r"response_.*|rating.*|slider.*|likert.*|dropdown.*|active_response_.*", re.IGNORECASE)
TIMED_OUT = Message("aside.timed_out")
END_OF_FILE = Message("aside.end_of_file")
FURTHER = Message("aside.further_attempts")
MARKERS = Message("aside.task_markers")
INSTRUCTIONS = Message("aside.instructions_and_breaks")
OTHER = Message("aside.other_events")
ZONES = (
    ("fixation", Message("aside.fixations")),
    ("continue", Message("aside.continue_buttons")),
    ("timelimit", TIMED_OUT),
    ("feedback", Message("aside.feedback")),
    ("content", Message("aside.content_shown")),
)
RESPONSE_TYPES = {
    "action": Message("aside.actions"),
    "info": Message("aside.content_shown"),
    "continue": Message("aside.continue_buttons"),
    "tooearly": Message("aside.early_keys"),
}


@dataclass
class GorillaEvent:
    """One row of a task file, with the cells that karat reads."""

    place: Place
    row: int
    index: str
    participant: str | None
    node: str
    trial: str
    screen: str
    name: str
    zone_type: str
    response_type: str
    response: str | None
    attempt: str
    display: str
    timed_out: bool
    time: float | None
    """Unix milliseconds."""
    question: str | None = None

    @property
    def trial_screen(self) -> tuple[str | None, str, str, str]:
        """The screen of the trial that the event belongs to."""
        return self.participant, self.node, self.trial, self.screen


def answers_among(events: Sequence[GorillaEvent], reading: Reading) -> list[GorillaEvent]:
    """The events that are answers, one per question of a trial; all others are set aside with a reason."""
    answers, timeouts = [], []
    for event in events:
        reason = _no_answer(event)
        if reason is None:
            answers.append(event)
        elif reason == TIMED_OUT:
            timeouts.append(event)
        else:
            reading.set_apart(reason)
    answers = _with_missed_answers(_without_clicks(answers, reading), timeouts, reading)
    _name_questions(answers, reading)
    return _first_attempts(answers, reading)


def _no_answer(event: GorillaEvent) -> Message | None:
    """The reason why an event is not an answer, or None if it is one."""
    if event.index.upper() == "END OF FILE":
        return END_OF_FILE
    if event.trial.upper().startswith(("BEGIN", "END")) or event.screen.upper().startswith(("BEGIN ", "END ")):
        return MARKERS
    if NO_TRIALS.search(event.display):
        return INSTRUCTIONS
    if event.zone_type:
        if ANSWER_ZONES.fullmatch(event.zone_type):
            return None
        kind = event.zone_type.lower()
        return next((reason for start, reason in ZONES if kind.startswith(start)), OTHER)
    kind = plain(event.response_type)
    if kind == "response":
        return None
    if event.timed_out or kind in ("timedout", "timelimit"):
        return TIMED_OUT
    return RESPONSE_TYPES.get(kind, OTHER)


def _with_missed_answers(
    answers: list[GorillaEvent], timeouts: Sequence[GorillaEvent], reading: Reading
) -> list[GorillaEvent]:
    """The answers and, without a response, the timeouts on screens that other participants answered."""
    answered = {answer.trial_screen for answer in answers}
    answered_displays = {(answer.node, answer.screen, answer.display) for answer in answers}
    with_missed = list(answers)
    for event in timeouts:
        if event.trial_screen not in answered and (event.node, event.screen, event.display) in answered_displays:
            event.response = None
            answered.add(event.trial_screen)
            with_missed.append(event)
        else:
            reading.set_apart(TIMED_OUT)
    return with_missed


def _without_clicks(answers: Sequence[GorillaEvent], reading: Reading) -> list[GorillaEvent]:
    """The answers without objects that nobody used except to continue."""
    responses: dict[tuple[str, str], set[str]] = {}
    for answer in answers:
        responses.setdefault((answer.display, answer.name), set()).add((answer.response or "").strip().lower())
    others = [answer for answer in answers if not responses[answer.display, answer.name] <= set(TO_GO_ON)]
    reading.set_apart(Message("aside.continue_buttons"), len(answers) - len(others))
    return others


def _name_questions(answers: Sequence[GorillaEvent], reading: Reading) -> None:
    """Name the questions of trials that ask several, by their screens or by the objects on a screen."""
    screens: dict[tuple[str | None, str, str], set[str]] = {}
    objects: dict[tuple[object, ...], set[str]] = {}
    for answer in answers:
        screens.setdefault((answer.participant, answer.node, answer.trial), set()).add(answer.screen)
        objects.setdefault((*answer.trial_screen, answer.attempt), set()).add(answer.name)
    by_screen = any(len(names) > 1 for names in screens.values())
    by_object = any(len(names) > 1 for names in objects.values())
    if not by_screen and not by_object:
        return
    for answer in answers:
        parts = [part for part, is_used in ((answer.screen, by_screen), (answer.name, by_object)) if is_used and part]
        answer.question = " ".join(parts) or None
    if by_screen and by_object:
        reading.notes.append(Message("gorilla.questions_by_screen_and_object"))
    else:
        reading.notes.append(Message("gorilla.questions_by_screen" if by_screen else "gorilla.questions_by_object"))


def _first_attempts(answers: Sequence[GorillaEvent], reading: Reading) -> list[GorillaEvent]:
    first: dict[tuple[object, ...], GorillaEvent] = {}
    for answer in answers:
        key = (*answer.trial_screen, answer.question)
        if key in first:
            reading.set_apart(FURTHER)
        else:
            first[key] = answer
    if len(first) < len(answers):
        reading.notes.append(Message("gorilla.attempts"))
    return list(first.values())


PERSON_COLUMNS = {
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
OF_QUESTIONNAIRES = re.compile(
    r"eventindex|utc.*|local.*|experiment(id|version)|treenodekey|repeatkey|scheduleid|participant.*|checkpoint|room.*|"
    r"task(name|version)|questionnaire(name|version)|randomiser.*|branch.*|endquestionnaire|startquestionnaire"
)


def called(tables: Sequence[FileTable], reading: Reading) -> dict[str, str]:
    """The name of each participant by private id: the public id if it is a Prolific id, or else the private id."""
    pairs: dict[str, set[str | None]] = {}
    for table in tables:
        names = {plain(name): name for name in table.frame.columns}
        private = table.frame[names["participantprivateid"]]
        public = names.get("participantpublicid")
        publics = table.frame[public].to_list() if public else [None] * len(private)
        for private_id, public_id in zip(private.to_list(), publics, strict=True):
            if private_id is not None:
                pairs.setdefault(private_id, set()).add(public_id)
    ids = {private_id: next(iter(others)) for private_id, others in pairs.items() if len(others) == 1}
    prolific_ids = {
        private_id: public_id
        for private_id, public_id in ids.items()
        if public_id is not None and PROLIFIC_ID.fullmatch(public_id)
    }
    if prolific_ids and len(prolific_ids) == len(pairs) == len(set(prolific_ids.values())):
        reading.notes.append(Message("gorilla.public_ids"))
        return prolific_ids
    if any(public_id is not None for others in pairs.values() for public_id in others):
        reading.notes.append(Message("gorilla.private_ids"))
    return {private_id: private_id for private_id in pairs}


def is_questionnaire(columns: Sequence[str]) -> bool:
    """Whether a file comes from a questionnaire, because it has no trials."""
    return not {plain(name) for name in columns} & {"trialnumber", "reactiontime", "screennumber", "zonetype"}


def people_of(tables: Sequence[FileTable], names: Mapping[str, str], reading: Reading) -> pl.DataFrame:
    """One row per participant: first and last event, status, device, and answers of questionnaires."""
    rows: dict[str, dict[str, object]] = {}
    for table in tables:
        columns = {plain(name): name for name in table.frame.columns}
        answers = _background(table, reading) if is_questionnaire(table.frame.columns) else {}
        private = table.frame[columns["participantprivateid"]].to_list()
        stamps = columns.get("utctimestamp")
        times = table.frame[stamps].cast(pl.Float64, strict=False).to_list() if stamps else [None] * len(private)
        details = {
            new_name: table.frame[columns[name]].to_list()
            for name, new_name in PERSON_COLUMNS.items()
            if name in columns
        }
        for row, (private_id, time) in enumerate(zip(private, times, strict=True)):
            if private_id is None:
                continue
            who = names.get(private_id, private_id)
            person = rows.setdefault(who, {"participant": who})
            if time is not None:
                earlier, later = person.get("started", time), person.get("finished", time)
                person["started"] = min(time, earlier if isinstance(earlier, float) else time)
                person["finished"] = max(time, later if isinstance(later, float) else time)
            for new_name, values in details.items():
                person[new_name] = values[row] if values[row] is not None else person.get(new_name)
            for question, value in answers.get(row, {}).items():
                person.setdefault(question, value)
    frame = table_of(rows.values(), dict.fromkeys(("started", "finished"), pl.Float64()), ["participant"])
    time_columns = [name for name in ("started", "finished") if name in frame.columns]
    return frame.with_columns(instants(frame[name]).alias(name) for name in time_columns)


def _background(table: FileTable, reading: Reading) -> dict[int, dict[str, str]]:
    """The answers in each row of a questionnaire, by question, in long form or with one row per participant."""
    frame = table.frame
    columns = {plain(name): name for name in frame.columns}
    question = columns.get("questionkey") or columns.get("objectname")
    response = columns.get("response")
    if question is None or response is None:
        question_columns = [name for name in frame.columns if not OF_QUESTIONNAIRES.fullmatch(plain(name))]
        cells = {row: [(name, frame[name][row]) for name in question_columns] for row in range(frame.height)}
    else:
        keys = frame[columns["key"]].to_list() if "key" in columns else [None] * frame.height
        questions, responses = frame[question].to_list(), frame[response].to_list()
        cells = {
            row: [(questions[row] or "", responses[row])] for row in range(frame.height) if keys[row] != "quantised"
        }
    personal = {name: None for answers in cells.values() for name, _ in answers if names_a_person(name)}
    reading.notes += left_out_note(list(personal), table.file.name)
    return {
        row: {
            (
                f"{name}_" if name in COLUMNS or name in ("started", "finished", *PERSON_COLUMNS.values()) else name
            ): value
            for name, value in answers
            if value is not None and name and name not in personal and not name.upper().startswith(("BEGIN ", "END "))
        }
        for row, answers in cells.items()
    }


ITEM_NAMES = (*ITEM_IDS, "stimulus", "sentence")
OF_GORILLA = re.compile(
    r"eventindex|utc.*|local.*|experiment.*|treenodekey|repeatkey|scheduleid|participant.*|checkpoint.*|branch.*|room.*|"
    r"task.*|randomi[sz]er.*|order.*|counterbalance.*|trialnumber|screen.*|zone.*|object.*|component.*|reaction.*|"
    r"response.*|attempt|correct|incorrect|dishonest|[xy]coordinate|timedout|spreadsheet(name|row)|randomi[sz]e.*|"
    r"display|metadata|audio.*|unnamed\d*|manipulation.*|key|proportion.*|absolute.*|store.*|current.*|.*timestamp.*"
)
"""Columns that Gorilla adds itself."""
DROPPED = re.compile(
    r"eventindex|utc.*|local.*|experiment(id|version)|repeatkey|scheduleid|participant.*|checkpoint|room.*|taskversion|"
    r"reactiontime|reactiononset|response|responsetype|[xy]coordinate"
)


def read_gorilla(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read the files of all nodes together, so that trials are counted in the order in which participants saw them."""
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
    people = _people(table.frame.columns)
    if people is None:
        raise IntakeError(
            f"{file.name} has no column Participant Private ID, which Gorilla writes. "
            f"It has {', '.join(table.frame.columns)}."
        )
    if plain(people) != "participantprivateid":
        table.frame = table.frame.rename({people: "Participant Private ID"})
    reading.units_in += table.rows_in
    flaws = list(_without_end_of_file(table))
    if len(flaws) < len(table.problems):
        reading.set_apart(END_OF_FILE)
    reading.bad_units += len({flaw.number for flaw in flaws})
    reading.problems.extend(flaws)
    reading.notes += table.notes
    return table


def _without_end_of_file(table: FileTable) -> Iterator[Problem]:
    """The problems of a table, except that the line END OF FILE is too short."""
    end = 0
    if table.problems and table.file.suffix not in SPREADSHEETS:
        for number, text in table.file.lines():
            end = number if text.strip('",; \t') == "END OF FILE" else end
    yield from (problem for problem in table.problems if problem.number != end)


def _cells(whole: pl.DataFrame, *names: str) -> list[str | None]:
    """The cells of the first of some columns that exists; None in each row if none does."""
    column = column_named(whole.columns, names)
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
        "item": _items(source, answers, options, reading),
        "response": _text([event.response for event in answers]),
        "trial": pl.Series(_positions(answers), dtype=pl.Int64),
        "rt": _seconds(source, answers, options, reading),
        "time": pl.Series([event.time for event in answers], dtype=pl.Float64),
    }
    of_study = [name for name in source.columns if not OF_GORILLA.fullmatch(plain(name))]
    labels = [function_named_in(event.display) for event in answers]
    functions = functions_in((source[name].to_list() for name in of_study if source.schema[name] == pl.String), labels)
    if set(functions) - {"test"}:
        columns["function"] = _text(list(functions))
        reading.notes.append(Message("gorilla.function"))
    if any(event.question is not None for event in answers):
        columns["question"] = _text([event.question for event in answers])
    personal = [name for name in source.columns if names_a_person(_bare(name))]
    reading.notes += left_out_note(personal, answers[0].place[0]) if answers else []
    for name in source.columns:
        if DROPPED.fullmatch(plain(name)) or name in personal or source[name].null_count() == source.height:
            continue
        bare = _bare(name) if _bare(name) in SAME_MEANING else name
        if name != "item" or not columns["item"].equals(source[name]):
            columns[own_name(bare, list(columns), source.columns)] = typed_column(source[name])
    return pl.DataFrame(columns)


def _text(values: Sequence[str | None]) -> pl.Series:
    return pl.Series(values, dtype=pl.String)


def _bare(name: str) -> str:
    """The name of a spreadsheet column without the prefix of Task Builder 2."""
    return re.sub(r"^spreadsheet\s*:\s*", "", name, flags=re.IGNORECASE)


def _items(
    source: pl.DataFrame, answers: Sequence[GorillaEvent], options: Options, reading: Reading
) -> pl.Series:  # fmt: skip
    """Items by a spreadsheet column that names them, or by the columns that distinguish stimuli.

    The number of a trial is a position: it is used as the item only if the spreadsheet has nothing else.
    """
    named = {plain(_bare(name)): name for name in reversed(source.columns) if source[name].null_count() < source.height}
    column = next((named[name] for name in ITEM_NAMES if name in named), None)
    row = named.get("spreadsheetrow")
    if column is None and row is None and options.mapping.get("item") is None:
        displayed = [
            name for name in source.columns if name in named.values() and not OF_GORILLA.fullmatch(plain(name))
        ]
        people = {
            "participant": [event.participant for event in answers],
            "response": [event.response for event in answers],
        }
        parts, questions = shown_items(source.select(displayed), people) if displayed and answers else ([], [])
        if parts:
            reading.open += questions
            return source.select(pl.concat_str(parts, separator=" + ", ignore_nulls=True)).to_series()
    column = column or row or named.get("trialnumber")
    if column is None:
        return pl.Series([None] * source.height, dtype=pl.String)
    items = source[column]
    if row is not None and items.null_count():
        items = items.fill_null("row " + source[row])
    reading.notes.append(Message("item.column", {"column": column}))
    return items


def _positions(answers: Sequence[GorillaEvent]) -> list[int]:
    """The position of each answer's trial among those that the participant answered, in temporal order."""
    seen: dict[str | None, dict[tuple[str, str], int]] = {}
    positions = []
    for event in answers:
        trials = seen.setdefault(event.participant, {})
        positions.append(trials.setdefault((event.node, event.trial), len(trials) + 1))
    return positions


def _seconds(source: pl.DataFrame, answers: Sequence[GorillaEvent], options: Options, reading: Reading) -> pl.Series:
    """Reaction times, which Gorilla gives in milliseconds; text that is not a number stays for the message."""
    texts = _cells(source, "reactiontime", "reactiontimems")
    missed = [event.response is None and event.timed_out for event in answers]
    times = _text([None if late else text for late, text in zip(missed, texts, strict=True)])
    if options.rt_unit == "s":
        return numbers_or_text(times)
    reading.notes.append(Message("gorilla.milliseconds"))
    return seconds_of(times)


def _people(names: Sequence[str]) -> str | None:
    """The column of private ids, which somebody may have renamed."""
    return column_named(names, ("participantprivateid", *NAMES["participant"]))


def recognises(file: SourceFile) -> bool:
    """Whether a header has Gorilla's event index and private id, or a participant column and the key of a node."""
    names = header_of(file)
    plains = {plain(name) for name in names}
    return "eventindex" in plains and (
        "participantprivateid" in plains or ("treenodekey" in plains and bool(_people(names)))
    )


READER = Reader("gorilla", "data of Gorilla", recognises, read_gorilla, together=True)
