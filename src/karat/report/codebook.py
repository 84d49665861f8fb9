"""The codebook: every column of both tables with its meaning, its type, the values it takes, and how many are missing.

Meanings come from the columns that karat knows, from the study file (factors, background questions, labels of the
scale) and, for what remains, from nowhere: the cell is then empty, to be filled by the authors. Values are listed where
they are few and say nothing about a single person; of numbers the smallest and the largest are told.
"""

from __future__ import annotations

import polars as pl

from karat.field.admin.codebook import FURTHER, PEOPLE
from karat.intake.personal import names_a_person
from karat.judgments import Judgments
from karat.judgments.columns import COLUMNS
from karat.study.study import Study

MOST_VALUES = 20
"""Columns with more different values tell only how many there are."""
UNITS = {"rt": "seconds", "first_rt": "seconds", "working_time": "seconds", "away": "seconds"}
PRIVATE = ("participant", "person", "comment", "platform_id", "platform_session", "same_as")
"""Columns whose values are never listed."""
MORE = {
    "left_text": "what was shown first: left or above",
    "right_text": "what was shown second: right or below",
    "status": "what the platform says of the submission",
    "planned": "how many trials the participant was to answer",
}
SCHEMA = dict.fromkeys(("table", "column", "type", "unit", "meaning", "values"), pl.String) | {
    "missing": pl.Int64, "rows": pl.Int64,
}  # fmt: skip


def codebook(judgments: Judgments, study: Study | None = None) -> pl.DataFrame:
    """One row a column: table, column, type, unit, meaning, values, missing and rows.

    >>> import karat
    >>> book = codebook(karat.datasets.load("likert"))
    >>> book.filter(pl.col("column") == "rt").select("type", "unit", "meaning").row(0)
    ('number', 'seconds', 'seconds from stimulus onset to answer')
    >>> book.filter(pl.col("column") == "function")["values"].item()
    'attention, calibration, control, filler, practice, test'
    """
    rows = [_row("judgments", judgments.frame[name], judgments, study) for name in judgments.frame.columns]
    people = judgments.participants
    rows += [_row("participants", people[name], judgments, study) for name in people.columns]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _row(table: str, column: pl.Series, judgments: Judgments, study: Study | None) -> tuple[object, ...]:
    name = column.name
    meaning = _judgment(name, study) if table == "judgments" else _person(name, study)
    values = _scales(judgments, study) if (table, name) == ("judgments", "response") else _values(column, study)
    return table, name, kind(column.dtype), UNITS.get(name, ""), meaning, values, column.null_count(), len(column)


def kind(dtype: pl.DataType) -> str:
    """The type of a column in a word or two.

    >>> kind(pl.Int64()), kind(pl.Datetime("us", "UTC")), kind(pl.String())
    ('whole number', 'time', 'text')
    """
    if dtype.is_integer():
        return "whole number"
    if dtype.is_float():
        return "number"
    if dtype.is_temporal():
        return "time"
    return "true or false" if dtype == pl.Boolean else "text"


def _judgment(name: str, study: Study | None) -> str:
    if name in COLUMNS:
        return COLUMNS[name].meaning
    blocks = () if study is None else study.blocks
    if any(name in block.settings.factors for block in blocks):
        return "a factor of the design"
    known = FURTHER.get(name) or MORE.get(name)
    if known:
        return known
    return "a column of the item table" if any(name in block.items.frame.columns for block in blocks) else ""


def _person(name: str, study: Study | None) -> str:
    questions = {} if study is None else {one.name: one.question for one in study.settings.background}
    if name in questions:
        return f"answer to: {questions[name]}"
    if name == "participant":
        return COLUMNS[name].meaning
    return PEOPLE.get(name) or MORE.get(name, "")


def _scales(judgments: Judgments, study: Study | None) -> str:
    """The scale of each question, and the labels that participants saw."""
    same: dict[str, list[str]] = {}
    for question, scale in judgments.scales.items():
        same.setdefault(f"{scale.kind}: {scale.known()}", []).append(question)
    told = [text if len(same) == 1 else f"{', '.join(names)}: {text}" for text, names in same.items()]
    blocks = () if study is None else study.blocks
    told += [f"shown as {', '.join(block.settings.scale.labels)}" for block in blocks if block.settings.scale.labels]
    return "; ".join(dict.fromkeys(told))


def _values(column: pl.Series, study: Study | None) -> str:
    """The levels that the study states, else the values that are there, where they are few."""
    name, found = column.name, column.drop_nulls()
    stated = {} if study is None else {n: f.levels for block in study.blocks for n, f in block.settings.factors.items()}
    if name in stated:
        return ", ".join(stated[name])
    if not len(found) or name in PRIVATE or names_a_person(name):
        return ""
    if column.dtype.is_numeric():
        low, high = found.cast(pl.Float64).sort().gather([0, -1]).to_list()
        return f"{low:g} to {high:g}"
    if column.dtype.is_temporal():
        return ""
    different = found.n_unique()
    if different <= MOST_VALUES and different < len(found):
        return ", ".join(sorted(found.unique().cast(pl.String).to_list()))
    return f"{different:,} different values"
