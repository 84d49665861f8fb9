"""Prolific's export of submissions: participants, their status, their times and their answers to the platform.

The export holds no judgments: each row describes a submission and becomes participant information, also if the
participant returned the study or timed out. The wording of the header has changed several times, so it is matched
without case, blanks and underscores.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from karat.errors import IntakeError
from karat.intake.cells import refuse_cells
from karat.intake.guess import plain
from karat.intake.personal import WITHHELD, left_out_note, names_a_person
from karat.intake.readers.generic import typed_column
from karat.intake.reading import Options, Reader, Reading
from karat.judgments.source import SourceFile
from karat.judgments.tables import FileTable, header_of, read_table
from karat.judgments.times import instants
from karat.messages import Message

NAMES: dict[str, tuple[str, ...]] = {
    "participant": ("participantid",),
    "submission": ("submissionid", "sessionid"),
    "status": ("status",),
    "started": ("startedat", "starteddatetime"),
    "finished": ("completedat", "completeddatetime"),
    "working_time": ("timetaken",),
    "completion_code": ("completioncode", "enteredcode"),
}
STATUSES = (
    "approved", "partiallyapproved", "awaitingreview", "screenedout", "rejected", "timedout", "returned", "active",
    "reserved",
)  # fmt: skip
"""The status of a submission, the most advanced first."""
UNWANTED = ("returned", "rejected", "timedout")
DESCRIPTIONS = Message("aside.descriptions")
JUDGMENTS = ("item", "itemid", "response", "answer", "rating")
"""Columns that show that a table with ids and statuses of Prolific holds judgments."""


def recognises(file: SourceFile) -> bool:
    """Whether a table has the columns of submissions: participant, submission, status and a time or code."""
    header = {plain(name) for name in header_of(file)}
    details = [any(spelling in header for spelling in NAMES[name]) for name in list(NAMES)[3:]]
    is_export = {"participantid", "status"} <= header and not header.isdisjoint(NAMES["submission"]) and any(details)
    return is_export and header.isdisjoint(JUDGMENTS)


def read_prolific(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read the submissions of one or several studies as one row per participant."""
    tables = [read_table(file, options.delimiter, options.sheet) for file in files]
    reading = Reading(pl.DataFrame(), lambda row: (files[0].name, "line", row + 1), units_in=0)
    parts = [_submissions(table, reading) for table in tables]
    reading.set_apart(DESCRIPTIONS, sum(part.height for part in parts))
    rows = pl.concat(parts, how="diagonal_relaxed")
    texts = [c for c in rows.to_dict().values() if c.dtype == pl.String and c.name not in ("participant", "status")]
    reading.participants = _best_submissions(rows.with_columns(typed_column(c) for c in texts), reading)
    return reading


def _submissions(table: FileTable, reading: Reading) -> pl.DataFrame:
    """The submissions of one file under karat's names, without those that cannot be read."""
    frame = _renamed(table, reading)
    frame = _without_withheld(frame, table, reading)
    reading.add_table(table)
    problems, bad = reading.problems, frame["participant"].is_null()
    refuse_cells(problems, table, frame["participant"], bad, "is empty", "Every submission belongs to a participant.")
    columns = []
    for name in ("started", "finished"):
        if name in frame.columns:
            columns.append(instants(frame[name]).alias(name))
            wrong = columns[-1].is_null() & frame[name].is_not_null()
            what, fix = "is not a point in time", "Write 2026-05-03T12:34:56Z."
            refuse_cells(problems, table, frame[name], wrong, what, fix)
            bad = bad | wrong
    if "working_time" in frame.columns:
        columns.append(frame["working_time"].cast(pl.Float64, strict=False))
        wrong = (columns[-1].is_null() | ~(columns[-1] >= 0)).fill_null(True) & frame["working_time"].is_not_null()
        what, fix = "is not a number of seconds", "Write for example 512."
        refuse_cells(problems, table, frame["working_time"], wrong, what, fix)
        bad = bad | wrong
    reading.bad_units += int(bad.sum())
    return frame.with_columns(columns).filter(~bad)


def _renamed(table: FileTable, reading: Reading) -> pl.DataFrame:
    """The columns that karat knows under its names, then the others, with an underscore if a name is taken."""
    new_names: dict[str, str] = {}
    for name, spellings in NAMES.items():
        matching = [column for spelling in spellings for column in table.frame.columns if plain(column) == spelling]
        if matching:
            new_names[matching[0]] = name
    if "participant" not in new_names.values():
        raise IntakeError(f"{table.file.name} has no column Participant id, as Prolific's exports have.")
    personal = [c for c in table.frame.columns if names_a_person(c)]
    reading.notes += left_out_note(personal, table.file.name)
    reserved = {*NAMES, "submissions"}
    others = [c for c in table.frame.columns if c not in new_names and c not in personal]
    order = sorted(new_names, key=lambda column: list(NAMES).index(new_names[column]))
    return table.frame.select(
        *(pl.col(column).alias(new_names[column]) for column in order),
        *(pl.col(column).alias(f"{column}_" if column in reserved else column) for column in others),
    ).with_columns(pl.all().str.strip_chars().replace("", None))


def _without_withheld(frame: pl.DataFrame, table: FileTable, reading: Reading) -> pl.DataFrame:
    """The table without withdrawn or expired answers; notes give their number."""
    withheld = frame.select(pl.all().is_in(WITHHELD).fill_null(False))
    counts = [(word, sum(int((frame[name] == word).sum()) for name in frame.columns)) for word in WITHHELD]
    for word, count in counts:
        if count:
            values = {"file": table.file.name, "n": count, "word": word}
            reading.notes.append(Message("prolific.withheld", values))
    return frame.with_columns(pl.when(~withheld[name]).then(pl.col(name)).alias(name) for name in frame.columns)


def _best_submissions(submissions: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """The most advanced submission of each participant; among equally advanced ones, the last."""
    if "status" not in submissions.columns:
        submissions = submissions.with_columns(status=pl.lit(None, pl.String))
    ranks = {status: rank for rank, status in enumerate(STATUSES)}
    rank = [ranks.get(plain(status or ""), len(ranks)) for status in submissions["status"].to_list()]
    ordered = submissions.with_columns(
        pl.Series("_rank", rank, dtype=pl.Int64), pl.len().over("participant").alias("submissions")
    ).with_row_index("_row")
    best = ordered.sort("_rank", -pl.col("_row").cast(pl.Int64)).unique("participant", keep="first")
    people = best.with_columns(_first=pl.col("participant").replace_strict(_first_rows(ordered), return_dtype=pl.Int64))
    repeated = people.filter(pl.col("submissions") > 1).height
    if repeated:
        reading.notes.append(Message("prolific.several_submissions", {"n": repeated}))
    return people.sort("_first").drop("_rank", "_row", "_first")


def discrepancies(answering: pl.Series, submissions: pl.DataFrame) -> list[Message]:
    """The note on participants with answers who are missing from an export, or returned, rejected or timed out in it.

    >>> export = pl.DataFrame({"participant": ["a", "b"], "status": ["APPROVED", "TIMED-OUT"]})
    >>> discrepancies(pl.Series(["a", "b", "c"]), export)[0].values
    {'participants': 3, 'missing': 1, 'n': 1, 'column': None}
    """
    ids = set(answering)
    status = dict(submissions.select("participant", "status").iter_rows())
    missing = len(ids - set(status))
    unwanted = sum(plain(status.get(person) or "") in UNWANTED for person in ids)
    if not missing + unwanted:
        return []
    column = "NAME" if missing == len(ids) else None
    values = {"participants": len(ids), "missing": missing, "n": unwanted, "column": column}
    return [Message("prolific.discrepancies", values)]


def _first_rows(ordered: pl.DataFrame) -> dict[str, int]:
    return dict(ordered.group_by("participant").agg(pl.col("_row").min().cast(pl.Int64)).iter_rows())


READER = Reader(
    "prolific", "Prolific's export of submissions", recognises, read_prolific, together=True,
    discrepancies=discrepancies,
)  # fmt: skip
