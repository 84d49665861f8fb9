"""oTree: the wide export of all apps, the export of one app, and the page times that belong to them.

Each app is first brought into one row a participant and round; then every answer of a round becomes a judgment.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from karat.errors import IntakeError
from karat.intake.cells import chained
from karat.intake.guess import guess_rt_unit
from karat.intake.personal import PROLIFIC_ID, are_codes
from karat.intake.readers.otree_apps import BUILT_IN, App, apps_of, is_player, tell_fields_apart
from karat.intake.readers.otree_times import PAGE_TIME, join_times, page_times, recognises_times
from karat.intake.reading import Options, Reader, Reading
from karat.intake.wide import ORDER, ROW, is_true, one_row_each, own_name, stacked
from karat.judgments.columns import COLUMNS
from karat.judgments.message_tables import listed
from karat.judgments.source import SourceFile
from karat.judgments.tables import FileTable, header_of, read_table
from karat.judgments.times import instants
from karat.messages import Message

NOT_REACHED = Message("aside.unreached_round_cells")


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
    return reading


def _people(exports: Sequence[FileTable], notes: list[Message]) -> pl.DataFrame:
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
        notes.append(Message("otree.label_left_out"))
    if "started" in people.columns:
        people = people.with_columns(instants(people["started"]).alias("started"))
    ids_of = (("label", Message("otree.prolific_ids")), ("mturk_worker_id", Message("otree.worker_ids")))
    for name, note in ids_of:
        ids = people[name].drop_nulls() if name in people.columns else pl.Series([], dtype=pl.String)
        is_id = name != "label" or all(PROLIFIC_ID.fullmatch(label) for label in ids.to_list())
        if ids.len() and is_id and ids.n_unique() == ids.len():
            who = pl.coalesce(name, "_code").alias("participant")
            people = people.select(who, pl.col("_code").alias("code"), pl.exclude(name))
            notes.append(note)
            return people
    notes.append(Message("otree.codes"))
    return people.select(pl.col("_code").alias("participant"), pl.all())


def _account(app: App, is_judged: bool, people: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Count the cells of an app that are no judgments; answers about the participant go to the table of people."""
    height = app.rounds.height
    reading.set_apart(Message("aside.otree_cells"), height * sum(name in BUILT_IN for name in app.fields))
    reading.set_apart(Message("aside.free_text_cells"), height * len(app.free_text))
    reading.set_apart(Message("aside.personal_cells"), height * len(app.personal))
    reading.set_apart(Message("aside.round_cells"), height * len(app.described))
    if is_judged or not app.answers:
        return people
    reading.set_apart(Message("aside.background_cells"), height * len(app.answers))
    reading.notes.append(Message("otree.background", {"app": app.name, "answers": listed(app.answers)}))
    about = app.rounds.select("_code", *(pl.col(name).alias(f"{app.name}.{name}") for name in app.answers))
    return people.join(about.unique("_code", keep="first"), on="_code", how="left", maintain_order="left")


def _judge(
    apps: Sequence[App], times: Sequence[FileTable], people: pl.DataFrame, options: Options, reading: Reading
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
    for app in apps:
        reading.notes.append(Message("otree.answers", {"app": app.name, "answers": listed(app.answers)}))
    if len(questions) > 1:
        reading.notes.append(Message("otree.several_answers"))


def _blocks(
    app: App, rounds: pl.DataFrame, people: pl.DataFrame, options: Options, reading: Reading, questions: Sequence[str]
) -> list[pl.DataFrame]:
    item = pl.col(app.item) if app.item else pl.format("{}.{}", pl.lit(app.name), "_round")
    if app.item:
        reading.notes.append(Message("otree.item", {"app": app.name, "field": app.item}))
    else:
        reading.notes.append(Message("otree.item_by_round", {"app": app.name}))
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
        reading.notes += [] if note is None else [note]
    whole = numbers.null_count() == rounds[app.rt].null_count()
    seconds = pl.col(app.rt).str.strip_chars().cast(pl.Float64, strict=False) / (1000 if unit == "ms" else 1)
    return [(seconds if whole else pl.col(app.rt)).alias("rt"), *when]


def _note_machines(people: pl.DataFrame, reading: Reading) -> None:
    if bots := int(people["is_bot"].sum()) if "is_bot" in people.columns else 0:
        reading.notes.append(Message("otree.bots", {"n": bots}))
    if demos := int(people["is_demo"].sum()) if "is_demo" in people.columns else 0:
        reading.notes.append(Message("otree.demo", {"n": demos}))


READER = Reader("otree", "results of oTree", recognises, read_otree, together=True)
