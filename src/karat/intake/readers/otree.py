"""oTree: the wide export of all apps, the export of one app, and the page times that belong to them.

Each app is first brought into one row a participant and round; then every answer of a round becomes a judgment.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from karat.columns import COLUMNS
from karat.errors import IntakeError, counted
from karat.intake.cells import chained
from karat.intake.guess import guess_rt_unit
from karat.intake.personal import PROLIFIC_ID, are_codes
from karat.intake.readers.otree_apps import BUILT_IN, App, apps_of, is_player, tell_fields_apart
from karat.intake.readers.otree_times import PAGE_TIME, join_times, page_times, recognises_times
from karat.intake.reading import Options, Reader, Reading
from karat.intake.wide import ORDER, ROW, is_true, listed, one_row_each, own_name, stacked
from karat.source import SourceFile
from karat.tables import Table, header_of, read_table
from karat.times import instants

NOT_REACHED = "cells of rounds not reached"


def recognises(file: SourceFile) -> bool:
    """A table with `participant.code` and fields of players, or a table of page times."""
    header = header_of(file)
    if recognises_times(header):
        return True
    has_fields = any(is_player(name) for name in header)
    return "participant.code" in header and has_fields


def read_otree(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read the exports of one study together."""
    tables = [read_table(file, options.delimiter, options.sheet) for file in files]
    times = [table for table in tables if recognises_times(table.frame.columns)]
    exports = [table for table in tables if table not in times]
    if not exports:
        raise IntakeError(
            f"{files[0].name} holds page times only, and no answers. Give the data with it: "
            "the file all_apps_wide or the file of the app."
        )
    reading = Reading(
        pl.DataFrame(), chained([(table.frame.height, table.locate) for table in exports]), units_in=0, unit="cells"
    )
    apps = apps_of(exports, reading)
    people = _people(exports, reading.notes)
    for app in apps:
        tell_fields_apart(app, options.mapping)
    judged = [app for app in apps if app.answers and not app.is_background]
    judged = judged or [app for app in apps if app.answers]
    for app in apps:
        people = _account(app, app in judged, people, reading)
    if judged:
        _judge(judged, times, people, options, reading)
    reading.participants = one_row_each(people.drop("_code"))
    _note_machines(reading.participants, reading)
    reading.notes = [note for note in reading.notes if note]
    return reading


def _people(exports: Sequence[Table], notes: list[str]) -> pl.DataFrame:
    """What the files say of participants; a note says what they are called by."""
    kept = {
        "participant.label": "label", "participant._is_bot": "is_bot", "session.is_demo": "is_demo",
        "participant.time_started_utc": "started", "participant.time_started": "started",
        "participant._current_page_name": "last_page", "participant.mturk_worker_id": "mturk_worker_id",
        "session.code": "session_code", "session.config.name": "config",
    }  # fmt: skip
    parts = []
    for table in exports:
        there = {old: new for old, new in kept.items() if old in table.frame.columns}
        if "participant.time_started_utc" in there:
            there.pop("participant.time_started", None)
        columns = [pl.col(old).alias(new) for old, new in there.items()]
        parts.append(table.frame.select(pl.col("participant.code").alias("_code"), *columns))
    people = pl.concat(parts, how="diagonal_relaxed").unique("_code", keep="first", maintain_order=True)
    people = people.with_columns(is_true(people[name]) for name in ("is_bot", "is_demo") if name in people.columns)
    if "label" in people.columns and not are_codes(people["label"].drop_nulls().to_list()):
        people = people.drop("label")
        notes.append("participant.label is left out, because it holds more than codes and may name people.")
    if "started" in people.columns:
        people = people.with_columns(instants(people["started"]).alias("started"))
    for name, told in (("label", "participant.label, which holds Prolific ids"), ("mturk_worker_id", "the worker id")):
        ids = people[name].drop_nulls() if name in people.columns else pl.Series([], dtype=pl.String)
        is_id = name != "label" or all(PROLIFIC_ID.fullmatch(label) for label in ids.to_list())
        if ids.len() and is_id and ids.n_unique() == ids.len():
            who = pl.coalesce(name, "_code").alias("participant")
            people = people.select(who, pl.col("_code").alias("code"), pl.exclude(name))
            notes.append(f"participant is {told}; say --map participant=code for oTree's own code.")
            return people
    notes.append("participant is oTree's participant.code.")
    return people.select(pl.col("_code").alias("participant"), pl.all())


def _account(app: App, is_judged: bool, people: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Count the cells of an app that are no judgments; answers about the participant go to the table of people."""
    height = app.rounds.height
    reading.set_apart("cells that oTree fills itself", height * sum(name in BUILT_IN for name in app.fields))
    reading.set_apart("cells of free text", height * len(app.free_text))
    reading.set_apart("cells that may name people", height * len(app.personal))
    reading.set_apart("cells that describe a round", height * len(app.described))
    if is_judged or not app.answers:
        return people
    reading.set_apart("cells with answers about the participant", height * len(app.answers))
    reading.notes.append(
        f"{app.name} was asked once and names no item: its answers ({listed(app.answers)}) "
        "are in the table of participants."
    )
    about = app.rounds.select("_code", *(pl.col(name).alias(f"{app.name}.{name}") for name in app.answers))
    return people.join(about.unique("_code", keep="first"), on="_code", how="left", maintain_order="left")


def _judge(
    apps: Sequence[App], times: Sequence[Table], people: pl.DataFrame, options: Options, reading: Reading
) -> None:
    """Make every answer of every round that was reached a judgment."""
    pages = page_times(times, reading) if times else None
    questions = list(dict.fromkeys(name for app in apps for name in app.answers))
    reached = []
    for index, app in enumerate(apps):
        rounds = join_times(app.rounds, app.name, pages, reading)
        given = pl.any_horizontal(pl.col(app.answers).is_not_null()) | pl.col("_time").is_not_null()
        kept = rounds.filter(given)
        reading.set_apart(NOT_REACHED, (rounds.height - kept.height) * len(app.answers))
        reached.append(kept.with_columns(_app=pl.lit(index)))
    order = pl.concat([rounds.select(ROW, "_code", "_app", "_round") for rounds in reached])
    place = pl.struct("_app", "_round").rank("dense").over("_code").cast(pl.Int64).alias("_trial")
    order = order.unique(["_code", "_app", "_round"]).with_columns(place).drop(ROW)
    blocks = []
    for app, rounds in zip(apps, reached, strict=True):
        ordered = rounds.join(order, on=["_code", "_app", "_round"], how="left", nulls_equal=True)
        blocks += _blocks(app, ordered, people, options, reading, questions)
    reading.frame, reading.locate = stacked(blocks, reading.locate)
    told = [f"{app.name}: {listed(app.answers)}" for app in apps]
    override = "; say --map response=NAME if only one of them is an answer" if len(questions) > 1 else ""
    reading.notes.append(f"Read as answers: {'; '.join(told)}{override}. Other fields describe the round.")


def _blocks(
    app: App, rounds: pl.DataFrame, people: pl.DataFrame, options: Options, reading: Reading, questions: Sequence[str]
) -> list[pl.DataFrame]:
    item = pl.col(app.item) if app.item else pl.format("{}.{}", pl.lit(app.name), "_round")
    told = f"the field {app.item}" if app.item else "the app and the round, as no field names it; say --map item=NAME"
    reading.notes.append(f"item of {app.name} is {told}.")
    times = _times(app, rounds, options, reading)
    columns = [item.alias("item"), pl.col("_trial").alias("trial"), *times]
    rest = [name for name in app.described if name not in (app.item, app.rt)]
    columns += [pl.lit(app.name).alias("app"), pl.col("_round").alias("round")]
    columns += _mapped(app, times, options)
    columns += [pl.col(name).alias(own_name(name, ("app", "round", "code"), app.fields)) for name in rest]
    ids = people.select("_code", *(name for name in ("participant", "code") if name in people.columns))
    named = rounds.join(ids, on="_code", how="left", nulls_equal=True, suffix="_field", maintain_order="left")
    who = [pl.col(name if name not in rounds.columns else f"{name}_field").alias(name) for name in ids.columns[1:]]
    blocks = []
    for position, name in enumerate(app.answers):
        question = [pl.lit(name).alias("question")] if len(questions) > 1 else []
        order = pl.col("_round") * len(app.answers) + position
        answer = pl.col(name).alias("response")
        blocks.append(
            named.select(ROW, order.alias(ORDER), who[0], *columns[:1], answer, *question, *columns[1:], *who[1:])
        )
    return blocks


def _mapped(app: App, times: Sequence[pl.Expr], options: Options) -> list[pl.Expr]:
    """Fields that the user maps to item, rt or response, under their own names, because mappings look there."""
    fields = {app.item: [pl.col(app.item or "")], app.rt: times[:1], app.answers[0]: [pl.col(app.answers[0])]}
    told = {name for column, name in options.mapping.items() if column in ("item", "rt", "response")} - COLUMNS.keys()
    return [column.alias(name) for name, found in fields.items() if name and name in told for column in found]


def _times(app: App, rounds: pl.DataFrame, options: Options, reading: Reading) -> list[pl.Expr]:
    """The time of an answer: a field of the app that holds one, else the time on the page."""
    when = [pl.col("_time").alias("time")] if rounds["_time"].null_count() < rounds.height else []
    when += [pl.col(name) for name in rounds.columns if name.startswith(PAGE_TIME)]
    if app.rt is None:
        return [*([pl.col("_rt").alias("rt")] if rounds["_rt"].null_count() < rounds.height else []), *when]
    numbers = rounds[app.rt].str.strip_chars().cast(pl.Float64, strict=False)
    unit: str | None = options.rt_unit
    if unit is None:
        unit, note = guess_rt_unit(numbers, rounds["_code"], app.rt, app.name)
        reading.notes.append(note)
    whole = numbers.null_count() == rounds[app.rt].null_count()
    seconds = pl.col(app.rt).str.strip_chars().cast(pl.Float64, strict=False) / (1000 if unit == "ms" else 1)
    return [(seconds if whole else pl.col(app.rt)).alias("rt"), *when]


def _note_machines(people: pl.DataFrame, reading: Reading) -> None:
    for name, told in (("is_bot", "played by oTree's bots"), ("is_demo", "of a demo session")):
        count = int(people[name].sum()) if name in people.columns else 0
        if count:
            who = f"{counted(count, 'participant')} {'is' if count == 1 else 'are'}"
            reading.notes.append(f"{who} {told}; the column {name} of the participants says who.")


READER = Reader("otree", "results of oTree", recognises, read_otree, together=True)
