"""What MTurk's forms send: answers in columns of their own, or as one JSON text; and MTurk's dates."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import polars as pl

from karat.intake.reading import Reading
from karat.intake.wide import ROW
from karat.judgments.tables import FileTable
from karat.judgments.times import instants

JSON_COLUMN = "Answer.taskAnswers"
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
ZONES = {"UTC": 0, "GMT": 0, "PST": -8, "PDT": -7, "MST": -7, "MDT": -6, "CST": -6, "CDT": -5, "EST": -5, "EDT": -4}
DATE = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d{1,2}) (\d\d):(\d\d):(\d\d) ([A-Z]{3}) (\d{4})")


def moments(dates: pl.Series) -> pl.Series:
    """Dates such as `Mon May 03 12:34:56 PDT 2021`, or as ISO 8601 writes them, as points in time.

    >>> moments(pl.Series(["Mon May 03 12:34:56 PDT 2021", "2021-05-03T19:34:56Z", "soon"])).dt.hour().to_list()
    [19, 19, None]
    """
    known = {text: _moment(text) for text in dates.drop_nulls().unique().to_list()}
    parsed = pl.Series([known.get(text) for text in dates.to_list()], dtype=pl.Datetime("us", "UTC"))
    return pl.select(pl.coalesce(parsed, instants(dates.cast(pl.String)))).to_series()


def _moment(text: str) -> datetime | None:
    match = DATE.fullmatch(text.strip())
    if match is None or match[1] not in MONTHS or match[6] not in ZONES:
        return None
    zone = timezone(timedelta(hours=ZONES[match[6]]))
    day, hour, minute, second = (int(match[part]) for part in (2, 3, 4, 5))
    try:
        return datetime(int(match[7]), MONTHS.index(match[1]) + 1, day, hour, minute, second, tzinfo=zone).astimezone(
            UTC
        )
    except (ValueError, OverflowError):
        return None


def unfolded(table: FileTable, reading: Reading) -> tuple[pl.DataFrame, list[str]]:
    """The assignments with one column an answer, and the names of these columns.

    A row whose JSON cannot be read has its problem and is left out.
    """
    frame = table.frame.with_row_index(ROW).with_columns(pl.col(ROW).cast(pl.Int64))
    if JSON_COLUMN in frame.columns:
        frame = _from_json(table, frame, reading)
    frame = _radio_buttons(frame)
    return frame, [name for name in frame.columns if name.startswith("Answer.")]


def _from_json(table: FileTable, frame: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    found: list[dict[str, str | None] | None] = []
    for row, text in enumerate(frame[JSON_COLUMN].to_list()):
        answers = _answers(text)
        if answers is None:
            file, place, number = table.locate(row)
            reading.problems.add(
                "is no list of answers in JSON", "Mend the cell, or leave the row out with --skip-bad.",
                column=JSON_COLUMN, value=text, file=file, place=place, number=number,
            )  # fmt: skip
        found.append(answers)
    names = list(dict.fromkeys(name for answers in found for name in answers or ()))
    there = set(frame.columns)
    columns = [
        pl.Series(column, [(answers or {}).get(name) for answers in found], dtype=pl.String)
        for name in names
        if (column := f"Answer.{name}") not in there
    ]
    readable = pl.Series([answers is not None for answers in found], dtype=pl.Boolean)
    return frame.drop(JSON_COLUMN).with_columns(columns).filter(readable)


def _answers(text: str | None) -> dict[str, str | None] | None:
    """The answers that a form sent, by name; None where the text holds none."""
    if text is None:
        return {}
    try:
        sent = json.loads(text)
    except (ValueError, RecursionError):
        return None
    parts = sent if isinstance(sent, list) else [sent]
    if not all(isinstance(part, dict) for part in parts):
        return None
    return {name: answer for part in parts for key, value in part.items() for name, answer in _plain(str(key), value)}


def _plain(key: str, value: Any) -> list[tuple[str, str | None]]:
    """What crowd elements send as plain answers: the label of a classifier, the radio button that is on."""
    if not isinstance(value, dict):
        return [(key, _text(value))]
    if value and all(isinstance(state, bool) for state in value.values()):
        if set(value) == {"on"}:
            return [(key, _text(value["on"]))]
        return [(key, "|".join(str(option) for option, state in value.items() if state) or None)]
    if set(value) == {"label"}:
        return [(key, _text(value["label"]))]
    return [(f"{key}.{part}", _text(inner)) for part, inner in value.items()]


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "|".join(value) or None
    return json.dumps(value, ensure_ascii=False)


def _radio_buttons(frame: pl.DataFrame) -> pl.DataFrame:
    """Columns such as `Answer.rating.1` that say true or false are the buttons of one question."""
    groups: dict[str, dict[str, str]] = {}
    for name in frame.columns:
        question, _, option = name.rpartition(".")
        if name.startswith("Answer.") and question.startswith("Answer."):
            groups.setdefault(question, {})[option] = name
    for question, options in groups.items():
        names = list(options.values())
        if question in frame.columns:
            continue
        if list(options) == ["label"] or list(options) == ["on"]:
            frame = frame.rename({names[0]: question})
            continue
        states = [frame[name].str.to_lowercase() for name in names]
        if len(names) < 2 or not all(state.drop_nulls().is_in(["true", "false"]).all() for state in states):
            continue
        on = [pl.when(state == "true").then(pl.lit(option)) for option, state in zip(options, states, strict=True)]
        chosen = pl.concat_str(on, separator="|", ignore_nulls=True).alias(question)
        frame = frame.with_columns(chosen).with_columns(pl.col(question).replace("", None)).drop(names)
    return frame
