"""Results of L-Rex: one row per judged item with a column per question, and a separate list of participants.

Older versions call the participant `subject`, the materials `experiment` and the content `text`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

from karat.errors import IntakeError
from karat.intake.cells import own_name
from karat.intake.content import function_named_in
from karat.intake.guess import plain
from karat.intake.personal import left_out_note, names_a_person
from karat.intake.reading import Options, Reader, Reading
from karat.judgments.checks import Place
from karat.judgments.source import SourceFile
from karat.judgments.tables import FileTable, header_of, read_table
from karat.judgments.times import instants
from karat.messages import Message

RATING = re.compile(r"rating(\d{1,3})")
OLD_NAMES = {"subject": "participant", "experiment": "materials", "text": "content"}
YES = ("true", "yes", "1", "t", "y")
CODE = re.compile(r"(?=.*\d)[0-9A-Za-z_-]{8,64}")
"""Ids that cannot be names: long, with a digit, without blanks."""
NEVER_RATED = "-1"


def read_lrex(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read results and lists of participants together."""
    reading = Reading(pl.DataFrame(), lambda row: where[row], 0)
    where: list[Place] = []
    frames, people = [], []
    for file in files:
        table = read_table(file, options.delimiter, options.sheet)
        table.frame = table.frame.rename(_current_names(table.frame.columns))
        if "trial start utc" in table.frame.columns:
            people.append(table.frame)
            reading.add_table(table)
            reading.set_apart(Message("aside.listed_participants"), table.frame.height)
        else:
            frame, rows = _judgments(table, reading)
            frames.append(frame)
            where += rows
    if frames:
        reading.frame = pl.concat(frames, how="diagonal_relaxed")
    if people:
        _join_people(reading, pl.concat(people, how="diagonal_relaxed"), files)
    return reading


def _current_names(columns: Sequence[str]) -> dict[str, str]:
    """Current names for columns with older names or capital letters."""
    names: dict[str, str] = {}
    for column in columns:
        name = OLD_NAMES.get(column.lower(), column.lower())
        if name not in names.values() and name not in columns:
            names[column] = name
    return names


def _judgments(table: FileTable, reading: Reading) -> tuple[pl.DataFrame, list[Place]]:
    """One row per rating of an item, and the place of each."""
    frame, name = table.frame, table.file.name
    ratings = sorted((c for c in frame.columns if RATING.fullmatch(c)), key=lambda c: int(c.removeprefix("rating")))
    missing = [column for column in ("participant", "item") if column not in frame.columns]
    if missing or not ratings:
        what = " and ".join(missing) if missing else "rating1"
        raise IntakeError(f"{name} has no column {what}, which L-Rex writes. It has {', '.join(frame.columns)}.")
    reading.add_table(table, len(ratings))
    reading.unit = "cells" if len(ratings) > 1 else reading.unit
    real = list(range(frame.height))
    if "is_test_trial" in frame.columns:
        # Runs in which the researchers tried out their study.
        test_run = frame["is_test_trial"].str.strip_chars().str.to_lowercase().is_in(YES).fill_null(False)
        real = (~test_run).arg_true().to_list()
    reading.set_apart(Message("aside.own_test_trials"), (frame.height - len(real)) * len(ratings))
    rows = _with_materials(frame[real], reading)
    others = [
        c for c in rows.columns if c not in (*ratings, "participant", "item", "position", "function", "is_test_trial")
    ]
    personal = [column for column in others if names_a_person(column)]
    reading.notes += left_out_note(personal, name)
    columns = [
        pl.col("participant"),
        pl.col("item"),
        *([pl.col("function")] if "function" in rows.columns else []),
        *([pl.lit(_positions(rows["position"], reading))] if "position" in rows.columns else []),
        *(pl.col(c).alias(own_name(c, others=others)) for c in others if c not in personal),
    ]
    long = []
    for rating in ratings:
        answer = pl.lit(_rated(rows[rating], reading)).alias("response")
        question = [pl.lit(rating).alias("question")] if len(ratings) > 1 else []
        long.append(rows.select(*columns[:2], answer, *question, *columns[2:]))
    if len(ratings) > 1:
        reading.notes.append(Message("lrex.questions", {"file": name, "n": len(ratings)}))
    return pl.concat(long), [table.locate(row) for row in real] * len(ratings)


def _with_materials(frame: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """The table with materials in the names of items if there are several, because each counts items from 1."""
    frame = frame.rename({"function": "function_"}, strict=False)
    titles = frame["materials"].drop_nulls().unique().to_list() if "materials" in frame.columns else []
    if len(titles) < 2:
        return frame
    reading.notes.append(Message("lrex.items"))
    named = pl.concat_str(pl.col("materials"), pl.lit("-"), pl.col("item"))
    frame = frame.with_columns(pl.coalesce(named, pl.col("item")).alias("item"))
    functions = {title: function_named_in(title) for title in titles}
    if set(functions.values()) == {"test"}:
        return frame
    reading.notes.append(Message("lrex.function"))
    function = pl.col("materials").replace_strict(functions, default="test", return_dtype=pl.String)
    return frame.with_columns(function.alias("function"))


def _rated(rating: pl.Series, reading: Reading) -> pl.Series:
    """Ratings without the -1 that L-Rex writes for a missing rating; on a scale with -2 it is an answer."""
    numbers = rating.cast(pl.Float64, strict=False)
    never = rating == NEVER_RATED
    if (numbers < -1).any() or not never.any():
        return rating
    reading.notes.append(Message("lrex.never_rated", {"column": rating.name, "n": int(never.sum())}))
    return pl.select(pl.when(~never).then(rating)).to_series()


def _positions(position: pl.Series, reading: Reading) -> pl.Series:
    """Positions counted from 1, also if the file counts from 0."""
    numbers = position.cast(pl.Int64, strict=False)
    if numbers.min() != 0 or numbers.null_count() > position.null_count():
        return position.alias("trial")
    reading.notes.append(Message("trial.from_zero", {"column": "position"}))
    return (numbers + 1).cast(pl.String).alias("trial")


def _join_people(reading: Reading, people: pl.DataFrame, files: Sequence[SourceFile]) -> None:
    """Add the list of participants under karat's names; their own ids replace numbers if they are codes."""
    id_column = "participant" if "participant" in people.columns else "id"
    if id_column not in people.columns:
        raise IntakeError(f"{files[0].name} has no column participant, which L-Rex writes in its list of trials.")
    people = people.filter(pl.col(id_column).is_not_null()).unique(id_column, keep="first", maintain_order=True)
    ids = dict(people.select(id_column, "id").iter_rows()) if {"participant", "id"} <= set(people.columns) else {}
    answering = reading.frame["participant"].drop_nulls().unique().to_list() if reading.frame.width else []
    codes = [ids.get(number) or "" for number in answering]
    if codes and len(set(codes)) == len(codes) and all(CODE.fullmatch(code) for code in codes):
        reading.frame = reading.frame.with_columns(pl.col("participant").alias("number"))
        reading.frame = reading.frame.with_columns(pl.col("participant").replace(ids))
        people = people.with_columns(pl.col("id").fill_null(pl.col(id_column)).alias("participant")).drop("id")
        people = people.unique("participant", keep="first", maintain_order=True)
        reading.notes.append(Message("lrex.ids"))
    elif ids and any(value is not None for value in ids.values()):
        people = people.drop("id")
        reading.notes.append(Message("lrex.ids_left_out"))
    reading.participants = _participants(people)


def _participants(people: pl.DataFrame) -> pl.DataFrame:
    columns = [pl.col("participant") if "participant" in people.columns else pl.col("id").alias("participant")]
    for name in people.columns:
        new_name = {"trialstartutc": "started", "trialendutc": "finished", "timetakensec": "working_time"}.get(
            plain(name)
        )
        if name in ("participant", "id") or names_a_person(name):
            continue
        if new_name == "working_time":
            columns.append(pl.col(name).cast(pl.Float64, strict=False).alias(new_name))
        elif new_name:
            columns.append(pl.lit(instants(people[name])).alias(new_name))
        else:
            columns.append(pl.col(name))
    return people.select(columns)


def recognises(file: SourceFile) -> bool:
    """Whether a header has the columns of L-Rex's results or of its list of trials."""
    header = {OLD_NAMES.get(cell.lower(), cell.lower()) for cell in header_of(file)}
    results = {"participant", "materials", "item", "condition", "position"} <= header
    trials = {"participant", "trial start utc", "trial end utc"} <= header
    return trials or (results and any(RATING.fullmatch(name) for name in header))


READER = Reader("lrex", "results of L-Rex", recognises, read_lrex, together=True)
