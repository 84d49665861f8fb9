"""oTree's apps: from the columns of an export to one row a participant and round, and what each field is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from karat.errors import IntakeError
from karat.intake.guess import plain
from karat.intake.labels import ITEM_IDS, RESPONSE_TIMES
from karat.intake.personal import names_a_person
from karat.intake.reading import Reading
from karat.intake.wide import ROW, is_free_text, texts
from karat.judgments.tables import FileTable
from karat.messages import Message

WIDE_COLUMN = re.compile(r"([A-Za-z_]\w*)\.(\d{1,6})\.player\.(\w+)")
APP_COLUMN = re.compile(r"player\.(\w+)")
EXPORT_DATE = re.compile(r"[ _-]*(\(accessed.*\)|\d{4}-\d\d-\d\d.*)$")
BUILT_IN = ("id_in_group", "role", "payoff")
ITEM_NAMES = (*ITEM_IDS, "stimulus", "sentence", "satz")
DESCRIPTIONS = (
    *ITEM_NAMES, "condition", "list", "listid", "block", "function", "itemfunction", "subgroup", "status", "trial",
    "trialid", "trialnumber", "position", "order", "presentationorder", "expected", "correct", "correctanswer",
    "iscorrect", "pair", "left", "right", "treatment", "text", "context", "solution", "round",
    "roundnumber", "bedingung", "liste",
)  # fmt: skip


@dataclass
class App:
    """One app: a row a participant and round, and what its fields are."""

    name: str
    rounds: pl.DataFrame
    fields: list[str]
    answers: list[str] = field(default_factory=list)
    item: str | None = None
    rt: str | None = None
    free_text: list[str] = field(default_factory=list)
    personal: list[str] = field(default_factory=list)

    @property
    def is_background(self) -> bool:
        """Asked once and about no item: a questionnaire about the participant, where other apps ask for judgments."""
        return self.item is None and self.rounds["_round"].n_unique() <= 1

    @property
    def described(self) -> list[str]:
        """The fields that describe a round rather than answer it."""
        known = {*BUILT_IN, *self.answers, *self.free_text, *self.personal}
        return [name for name in self.fields if name not in known]


def apps_of(exports: Sequence[FileTable], reading: Reading) -> list[App]:
    """The apps of all files; a round that two files hold counts once."""
    parts: dict[str, list[pl.DataFrame]] = {}
    offset = 0
    for number, table in enumerate(exports):
        reading.notes += table.notes
        reading.problems.extend(table.problems)
        rounds = _rounds_of(table, offset, reading)
        broken = table.rows_in - table.frame.height
        lost = broken * sum(is_player(name) for name in table.frame.columns)
        reading.units_in += lost
        reading.bad_units += lost
        offset += table.frame.height
        for app, frame in rounds.items():
            parts.setdefault(app, []).append(frame.with_columns(_file=pl.lit(number)))
    apps = []
    for name, frames in parts.items():
        long = pl.concat(frames, how="diagonal_relaxed")
        fields = [column for column in long.columns if not column.startswith(("_", " "))]
        reading.units_in += long.height * len(fields)
        first = pl.col("_file").min().over("_code", "_round")
        again = long.filter(pl.col("_file") > first).height
        reading.set_apart(Message("aside.repeated_round_cells"), again * len(fields))
        apps.append(App(name, long.filter(pl.col("_file") == first).drop("_file"), fields))
    return apps


def is_player(name: str) -> bool:
    """Whether a column is a field of players, in the wide export or in that of one app."""
    return bool(WIDE_COLUMN.fullmatch(name) or APP_COLUMN.fullmatch(name))


def _rounds_of(table: FileTable, offset: int, reading: Reading) -> dict[str, pl.DataFrame]:
    frame = table.frame
    if "participant.code" not in frame.columns:
        raise IntakeError(f"{table.file.name} has no column participant.code; it is no export of oTree.")
    keyed = frame.with_row_index(ROW, offset).with_columns(pl.col(ROW).cast(pl.Int64))
    code = pl.col("participant.code").alias("_code")
    groups: dict[tuple[str, int], dict[str, str]] = {}
    for name in frame.columns:
        if match := WIDE_COLUMN.fullmatch(name):
            groups.setdefault((match[1], int(match[2])), {})[_clear(match[3])] = name
    rounds: dict[str, list[pl.DataFrame]] = {}
    for (app, number), fields in groups.items():
        chosen = [pl.col(column).alias(name) for name, column in fields.items()]
        rounds.setdefault(app, []).append(keyed.select(ROW, code, pl.lit(number).alias("_round"), *chosen))
    found = {app: pl.concat(frames, how="diagonal_relaxed") for app, frames in rounds.items()}
    own = {_clear(match[1]): name for name in frame.columns if (match := APP_COLUMN.fullmatch(name))}
    if own:
        app = EXPORT_DATE.sub("", table.file.path.stem) or table.file.path.stem
        found[app] = _rounds_of_app(table, keyed, own, reading)
    if not found:
        raise IntakeError(f"{table.file.name} has no fields of players, such as survey.1.player.rating.")
    return found


def _clear(name: str) -> str:
    """A field's name that does not clash with the columns that are kept beside the fields."""
    return f"field{name}" if name.startswith("_") else name


def _rounds_of_app(table: FileTable, keyed: pl.DataFrame, fields: dict[str, str], reading: Reading) -> pl.DataFrame:
    """The export of one app has a row a participant and round already."""
    name = "subsession.round_number"
    number = pl.int_range(1, pl.len() + 1).over("participant.code")
    if name in keyed.columns:
        number = pl.col(name).str.strip_chars().cast(pl.Int64, strict=False)
    else:
        reading.notes.append(Message("otree.rounds_counted", {"file": table.file.name, "column": name}))
    chosen = [pl.col(column).alias(field) for field, column in fields.items()]
    rounds = keyed.select(ROW, pl.col("participant.code").alias("_code"), number.alias("_round"), *chosen)
    wrong = rounds["_round"].is_null()
    for row in wrong.arg_true().to_list():
        file, place, line = table.locate(row)
        reading.problems.add(
            "is not the number of a round", "Write a whole number.", column=name, value=keyed[name][row] or "",
            file=file, place=place, number=line,
        )  # fmt: skip
    reading.units_in += int(wrong.sum()) * len(fields)
    reading.bad_units += int(wrong.sum()) * len(fields)
    return rounds.filter(~wrong)


def tell_fields_apart(app: App, mapping: Mapping[str, str]) -> None:
    """Which fields are answers: those that oTree does not fill itself and whose names do not describe a round.

    A field that the user maps to a column of karat describes the round, unless it is the response.
    """
    by_name = {plain(name): name for name in reversed(app.fields)}
    told = {column: name for column, name in mapping.items() if name in app.fields}
    app.item = told.get("item") or next((by_name[name] for name in ITEM_NAMES if name in by_name), None)
    app.rt = told.get("rt") or next((by_name[name] for name in RESPONSE_TIMES if name in by_name), None)
    app.personal = [name for name in app.fields if names_a_person(name)]
    if "response" in told:
        app.answers = [told["response"]]
        return
    for name in app.fields:
        is_description = name in told.values() or plain(name) in DESCRIPTIONS or not texts(app.rounds[name])
        if name not in (*BUILT_IN, *app.personal, app.rt) and not is_description:
            (app.free_text if _is_remark(name, texts(app.rounds[name])) else app.answers).append(name)


def _is_remark(name: str, answers: list[str]) -> bool:
    return is_free_text(answers) or bool(re.search("comment|feedback|remark", name.lower()))
