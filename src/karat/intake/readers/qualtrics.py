"""Qualtrics: a wide table below three header rows: export tags, question texts and import ids.

Each cell of a question becomes a judgment. Questions that share a scale (the rows of a matrix, the rounds of a loop,
tags with one stem, the same answer texts) are one question to karat; what was asked only once is about the participant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

import polars as pl

from karat.errors import IntakeError
from karat.intake.personal import left_out_note
from karat.intake.readers.qualtrics_columns import UNANSWERED, QualtricsColumn, Survey, survey_of
from karat.intake.readers.qualtrics_order import display_positions
from karat.intake.reading import Options, Reader, Reading
from karat.intake.wide import ORDER, ROW, is_true, numbers_or_text, one_row_each, own_name, stacked
from karat.judgments.message_tables import listed
from karat.judgments.source import SourceFile
from karat.judgments.tables import FileTable, header_of, read_table
from karat.judgments.times import instants
from karat.messages import Message

IMPORT_IDS = re.compile(r'\{\s*"{1,2}ImportId"{1,2}\s*:')
PERSONAL = (
    "IPAddress", "RecipientLastName", "RecipientFirstName", "RecipientEmail", "ExternalReference",
    "LocationLatitude", "LocationLongitude",
)  # fmt: skip
PERSON_IDS = ("PROLIFIC_PID", "prolific_pid", "PROLIFIC_ID", "prolific_id", "ProlificPID", "ProlificID")
PREVIEWS = ("Survey Preview", "Preview Spam", "Offline Preview", "1", "9", "17")
TESTS = ("Survey Test", "2")
DURATION = "Duration (in seconds)"
SET_APART, WHO, SESSION = " apart", " participant", " session"


def recognises(file: SourceFile) -> bool:
    """A table whose third header row names import ids."""
    header = header_of(file)
    return "ResponseId" in header and IMPORT_IDS.search(file.sample) is not None


def read_qualtrics(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read one export."""
    (file,) = files
    table = read_table(file, options.delimiter, options.sheet)
    survey = survey_of(*_headers(table))
    body = table.frame.slice(2).with_row_index(ROW, 2).with_columns(pl.col(ROW).cast(pl.Int64))
    reading = Reading(pl.DataFrame(), table.locate, units_in=0, unit="cells", notes=[*table.notes])
    reading.problems.extend(table.problems)
    broken = table.rows_in - table.frame.height
    reading.bad_units = broken * len(survey.cells)
    reading.units_in = (body.height + broken) * len(survey.cells)
    body = _without_previews(body, survey, reading)
    body = body.with_columns(_participants_id(body, reading))
    _note_unfinished(body, reading)
    survey.tell_columns_apart(body)
    _account(body, survey, reading)
    _judge(body, survey, reading)
    reading.participants = _people(body, survey, reading)
    return reading


def _headers(table: FileTable) -> tuple[list[str], list[str], list[str]]:
    """Tags, texts and import ids."""
    frame = table.frame
    problem = f"{table.file.name} is no export of Qualtrics with three header rows (tags, texts, import ids)."
    if frame.height < 2 or "ResponseId" not in frame.columns:
        raise IntakeError(f"{problem} Export it again as CSV or TSV, and leave the header rows as they are.")
    identities = [cell or "" for cell in frame.row(1)]
    if not any(IMPORT_IDS.match(cell) for cell in identities):
        raise IntakeError(f"{problem} The third row holds no import ids; leave the header rows as they are.")
    return frame.columns, [cell or "" for cell in frame.row(0)], identities


def _without_previews(body: pl.DataFrame, survey: Survey, reading: Reading) -> pl.DataFrame:
    """Responses that the researcher made when trying out the survey are no data."""
    status = (
        body["Status"].str.strip_chars()
        if "Status" in body.columns
        else pl.Series([None] * body.height, dtype=pl.String)
    )
    preview = status.is_in(PREVIEWS).fill_null(False)
    if "DistributionChannel" in body.columns:
        preview = preview | (body["DistributionChannel"] == "preview").fill_null(False)
    test = status.is_in(TESTS).fill_null(False) & ~preview
    previews, tests = int(preview.sum()), int(test.sum())
    reading.set_apart(Message("aside.preview_cells"), previews * len(survey.cells))
    reading.set_apart(Message("aside.test_response_cells"), tests * len(survey.cells))
    if previews:
        reading.notes.append(Message("qualtrics.previews", {"n": previews}))
    if tests:
        reading.notes.append(Message("qualtrics.test_responses", {"n": tests}))
    return body.filter(~(preview | test))


def _participants_id(body: pl.DataFrame, reading: Reading) -> list[pl.Series]:
    """Who answered, and which of their responses it is where somebody answered twice."""
    name = next((name for name in PERSON_IDS if name in body.columns and body[name].null_count() < body.height), None)
    who = pl.coalesce(name, "ResponseId") if name else pl.col("ResponseId")
    ids = body.select(who.alias(WHO))[WHO]
    reading.notes.append(Message("participant.column", {"column": name or "ResponseId"}))
    if name and body[name].null_count():
        reading.notes.append(Message("qualtrics.without_id", {"n": body[name].null_count(), "column": name}))
    twice = int((ids.value_counts()["count"] > 1).sum())
    if not twice:
        return [ids]
    reading.notes.append(Message("qualtrics.sessions", {"n": twice}))
    nth = pl.DataFrame({"who": ids}).select(pl.int_range(1, pl.len() + 1).over("who").cast(pl.String).alias(SESSION))
    return [ids, nth[SESSION]]


def _note_unfinished(body: pl.DataFrame, reading: Reading) -> None:
    if "Finished" not in body.columns:
        return
    count = int((~is_true(body["Finished"])).sum())
    if count:
        reading.notes.append(Message("qualtrics.unfinished", {"n": count}))


def _account(body: pl.DataFrame, survey: Survey, reading: Reading) -> None:
    """Count the columns that hold no judgments."""
    for reason, columns in survey.set_aside.items():
        reading.set_apart(reason, body.height * len(columns))
    if survey.background:
        tags = [column.tag for column in survey.background]
        reading.set_apart(Message("aside.background_cells"), body.height * len(tags))
        reading.notes.append(Message("qualtrics.background", {"tags": listed(tags)}))
    personal = [name for name in (*PERSONAL, *survey.contacts) if name in body.columns]
    if personal:
        reading.notes += left_out_note(personal)


def _judge(body: pl.DataFrame, survey: Survey, reading: Reading) -> None:
    judged = survey.judged
    positions = display_positions(body, survey)
    blocks = []
    embedded = _embedded(body, survey)
    several = len({column.question for column in judged}) > 1
    for order, column in enumerate(judged):
        block = body.select(
            ROW, pl.lit(order).alias(ORDER), pl.col(WHO).alias("participant"),
            pl.lit(column.tag).alias("item"), _answer(column).alias("response"),
            *([pl.lit(column.question).alias("question")] if several else []),
            *([SESSION] if SESSION in body.columns else []),
            *_timing(column, survey, body),
            *([positions[column.tag]] if positions else []),
            pl.lit(column.tag).alias("tag"), pl.lit(column.text).alias("text"),
            *([pl.lit(column.loop).alias("loop")] if column.loop else []),
            *embedded, (~_shown(column, survey)).alias(SET_APART),
        )  # fmt: skip
        blocks.append(block.rename({SESSION: "session"}, strict=False))
    frame, locate = stacked([block.filter(~pl.col(SET_APART)).drop(SET_APART) for block in blocks], reading.locate)
    empty = sum(int(block[SET_APART].sum()) for block in blocks)
    reading.set_apart(Message("aside.empty_cells"), empty)
    if positions:
        person = ["participant", "session"] if "session" in frame.columns else ["participant"]
        frame = frame.with_columns(pl.col("trial").rank("dense").over(person).cast(pl.Int64))
    reading.frame, reading.locate = frame, locate
    reading.notes += survey.notes
    if judged and not positions:
        reading.notes.append(Message("qualtrics.no_order"))


def _answer(column: QualtricsColumn) -> pl.Expr:
    """Qualtrics can mark what was seen and not answered; to karat that is an empty answer."""
    cell = pl.col(column.tag)
    return pl.when(cell != UNANSWERED).then(cell)


def _shown(column: QualtricsColumn, survey: Survey) -> pl.Expr:
    """Whether a question was put to a participant: an empty cell alone does not tell.

    It was if it is answered, if another row of its matrix is, or if its page was timed.
    """
    evidence = [column.tag]
    if column.is_matrix:
        evidence += [other.tag for other in survey.judged if other.root == column.root and other.loop == column.loop]
    if column.timer and "Page Submit" in survey.timers[column.timer]:
        evidence.append(survey.timers[column.timer]["Page Submit"])
    return pl.any_horizontal(pl.col(list(dict.fromkeys(evidence))).is_not_null())


def _timing(column: QualtricsColumn, survey: Survey, body: pl.DataFrame) -> list[pl.Series]:
    """The page's timing: the response time where the page has one question, else only the time of the page."""
    if column.timer is None:
        return []
    parts = survey.timers[column.timer]
    alone = sum(other.timer == column.timer for other in survey.judged) == 1
    names = {"Page Submit": "rt" if alone else "page_time", "First Click": "first_click", "Last Click": "last_click",
             "Click Count": "click_count"}  # fmt: skip
    return [numbers_or_text(body[parts[kind]]).alias(name) for kind, name in names.items() if kind in parts]


def _embedded(body: pl.DataFrame, survey: Survey) -> list[pl.Expr]:
    taken = ("tag", "text", "loop", "rt", "page_time", "first_click", "last_click", "click_count")
    names = [name for name in survey.embedded if body[name].null_count() < body.height]
    return [pl.col(name).alias(own_name(name, taken, survey.embedded)) for name in names if name not in PERSON_IDS]


def _people(body: pl.DataFrame, survey: Survey, reading: Reading) -> pl.DataFrame:
    """One row a participant; of somebody who responded twice, the finished response comes first."""
    there = body.columns
    done = is_true(body["Finished"]) if "Finished" in there else pl.Series([True] * body.height, dtype=pl.Boolean)
    people: dict[str, pl.Series] = {"participant": body[WHO]}
    zone = _known_zone(survey.zone, reading)
    if "StartDate" in there:
        people["started"] = _moments(body["StartDate"], zone)
    if "EndDate" in there:
        ended = _moments(body["EndDate"], zone)
        people["finished"] = pl.select(pl.when(done).then(ended)).to_series()
    else:
        people["finished"] = done
    plain = {DURATION: "working_time", "Progress": "progress"}
    people |= {new: numbers_or_text(body[old]) for old, new in plain.items() if old in there}
    kept = {
        "ResponseId": "response_id",
        "Status": "response_type",
        "DistributionChannel": "source",
        "UserLanguage": "language",
    }
    people |= {new: body[old] for old, new in kept.items() if old in there}
    more = [*(column.tag for column in survey.background), *(n for n in survey.embedded if n not in PERSON_IDS)]
    taken = list(people)
    people |= {name if name not in taken else own_name(name, taken, more): body[name] for name in more}
    table = pl.DataFrame([column.alias(name) for name, column in people.items()]).with_row_index(ORDER)
    table = table.with_columns(done.alias(" done")).sort(" done", descending=True, maintain_order=True)
    return one_row_each(table).sort(ORDER).drop(" done", ORDER)


def _known_zone(zone: str | None, reading: Reading) -> str | None:
    """The zone that the export names, unless this machine does not know it: then its dates are read as UTC."""
    if zone is None or _local(pl.Series([datetime(2020, 1, 1)]), zone) is not None:
        return zone
    reading.notes.append(Message("qualtrics.unknown_zone", {"zone": zone}))
    return None


def _moments(dates: pl.Series, zone: str | None) -> pl.Series:
    """Dates in a zone as points in time."""
    moments = instants(dates)
    local = None if zone is None else _local(moments.dt.replace_time_zone(None), zone)
    return moments if local is None else local.dt.convert_time_zone("UTC")


def _local(dates: pl.Series, zone: str) -> pl.Series | None:
    try:
        return dates.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    except pl.exceptions.PolarsError:
        return None


READER = Reader("qualtrics", "responses of Qualtrics", recognises, read_qualtrics)
