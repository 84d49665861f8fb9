"""Results of L-Rex: one row per judged item with a column for each question, and the list of participants beside it.

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
"""What an id looks like that no person is called by: long, with a digit, without blanks."""
NEVER_RATED = "-1"


def read_lrex(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read results and lists of participants together."""
    reading = Reading(pl.DataFrame(), lambda row: where[row], 0)
    where: list[Place] = []
    frames, people = [], []
    for file in files:
        table = read_table(file, options.delimiter, options.sheet)
        table.frame = table.frame.rename(_current_names(table.frame.columns))
        reading.problems.extend(table.problems)
        reading.notes += table.notes
        if _is_trials(table.frame.columns):
            people.append(table.frame)
            _count_people(table, reading)
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
    """Older names and other letters to the names of today."""
    names: dict[str, str] = {}
    for column in columns:
        name = OLD_NAMES.get(column.lower(), column.lower())
        if name not in names.values() and name not in columns:
            names[column] = name
    return names


def _is_trials(columns: Sequence[str]) -> bool:
    return "trial start utc" in columns


def _count_people(table: FileTable, reading: Reading) -> None:
    reading.units_in += table.rows_in
    reading.bad_units += table.rows_in - table.frame.height
    reading.set_apart(Message("aside.listed_participants"), table.frame.height)


def _judgments(table: FileTable, reading: Reading) -> tuple[pl.DataFrame, list[Place]]:
    """One row for each rating of each item."""
    frame, name = table.frame, table.file.name
    ratings = sorted((c for c in frame.columns if RATING.fullmatch(c)), key=lambda c: int(c.removeprefix("rating")))
    missing = [column for column in ("participant", "item") if column not in frame.columns]
    if missing or not ratings:
        what = " and ".join(missing) if missing else "rating1"
        raise IntakeError(f"{name} has no column {what}, which L-Rex writes. It has {', '.join(frame.columns)}.")
    reading.units_in += table.rows_in * len(ratings)
    reading.bad_units += (table.rows_in - frame.height) * len(ratings)
    reading.unit = "cells" if len(ratings) > 1 else reading.unit
    places = [table.locate(row) for row in range(frame.height)]
    real = [row for row in range(frame.height) if not _is_trial_run(frame, row)]
    reading.set_apart(Message("aside.own_test_trials"), (frame.height - len(real)) * len(ratings))
    kept = _with_materials(frame[real], reading)
    others = [
        c for c in kept.columns if c not in (*ratings, "participant", "item", "position", "function", "is_test_trial")
    ]
    personal = [column for column in others if names_a_person(column)]
    reading.notes += left_out_note(personal, name)
    columns = [
        pl.col("participant"),
        pl.col("item"),
        *([pl.col("function")] if "function" in kept.columns else []),
        *([pl.lit(_positions(kept["position"], reading))] if "position" in kept.columns else []),
        *(pl.col(c).alias(own_name(c, others=others)) for c in others if c not in personal),
    ]
    long = []
    for rating in ratings:
        answer = pl.lit(_rated(kept[rating], reading)).alias("response")
        question = [pl.lit(rating).alias("question")] if len(ratings) > 1 else []
        long.append(kept.select(*columns[:2], answer, *question, *columns[2:]))
    if len(ratings) > 1:
        reading.notes.append(Message("lrex.questions", {"file": name, "n": len(ratings)}))
    return pl.concat(long), [places[row] for row in real] * len(ratings)


def _is_trial_run(frame: pl.DataFrame, row: int) -> bool:
    """Whether a row comes from a run in which the researchers tried their study out."""
    return "is_test_trial" in frame.columns and (frame["is_test_trial"][row] or "").strip().lower() in YES


def _with_materials(frame: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Items under the name of their materials, where there are several, since each counts its items from 1."""
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
    """Ratings without the -1 that L-Rex writes where none was given; on a scale with -2 it is an answer."""
    numbers = rating.cast(pl.Float64, strict=False)
    never = rating == NEVER_RATED
    if (numbers < -1).any() or not never.any():
        return rating
    reading.notes.append(Message("lrex.never_rated", {"column": rating.name, "n": int(never.sum())}))
    return pl.select(pl.when(~never).then(rating)).to_series()


def _positions(position: pl.Series, reading: Reading) -> pl.Series:
    """Positions from 1, where the file counts from 0."""
    numbers = position.cast(pl.Int64, strict=False)
    if numbers.min() != 0 or numbers.null_count() > position.null_count():
        return position.alias("trial")
    reading.notes.append(Message("trial.from_zero", {"column": "position"}))
    return (numbers + 1).cast(pl.String).alias("trial")


def _join_people(reading: Reading, people: pl.DataFrame, files: Sequence[SourceFile]) -> None:
    """The list of participants under karat's names; their own ids name them where these are codes."""
    listed = "participant" if "participant" in people.columns else "id"
    if listed not in people.columns:
        raise IntakeError(f"{files[0].name} has no column participant, which L-Rex writes in its list of trials.")
    people = people.filter(pl.col(listed).is_not_null()).unique(listed, keep="first", maintain_order=True)
    ids = dict(people.select(listed, "id").iter_rows()) if {"participant", "id"} <= set(people.columns) else {}
    answering = reading.frame["participant"].drop_nulls().unique().to_list() if reading.frame.width else []
    codes = [ids.get(number) or "" for number in answering]
    if codes and len(set(codes)) == len(codes) and all(CODE.fullmatch(code) for code in codes):
        reading.frame = reading.frame.with_columns(pl.col("participant").alias("number"))
        reading.frame = reading.frame.with_columns(pl.col("participant").replace(ids))
        people = people.with_columns(pl.col("id").fill_null(pl.col(listed)).alias("participant")).drop("id")
        people = people.unique("participant", keep="first", maintain_order=True)
        reading.notes.append(Message("lrex.ids"))
    elif ids and any(value is not None for value in ids.values()):
        people = people.drop("id")
        reading.notes.append(Message("lrex.ids_left_out"))
    reading.participants = _participants(people)


def _participants(people: pl.DataFrame) -> pl.DataFrame:
    columns = [pl.col("participant") if "participant" in people.columns else pl.col("id").alias("participant")]
    for name in people.columns:
        names = {"trialstartutc": "started", "trialendutc": "finished", "timetakensec": "working_time"}.get(plain(name))
        if name in ("participant", "id") or names_a_person(name):
            continue
        if names == "working_time":
            columns.append(pl.col(name).cast(pl.Float64, strict=False).alias(names))
        elif names:
            columns.append(pl.lit(instants(people[name])).alias(names))
        else:
            columns.append(pl.col(name))
    return people.select(columns)


def recognises(file: SourceFile) -> bool:
    """A header with L-Rex's columns of results, or of its list of trials."""
    header = {OLD_NAMES.get(cell.lower(), cell.lower()) for cell in header_of(file)}
    results = {"participant", "materials", "item", "condition", "position"} <= header
    trials = {"participant", "trial start utc", "trial end utc"} <= header
    return trials or (results and any(RATING.fullmatch(name) for name in header))


READER = Reader("lrex", "results of L-Rex", recognises, read_lrex, together=True)
