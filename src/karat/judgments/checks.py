"""The checks of every new table of judgments.

All problems of a table are collected, each with its row, column, value and fix, before it is refused. The functions
work on whole columns, so that a million rows cost little more than reading them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from operator import xor

import polars as pl

from karat.errors import Problems, ScaleError
from karat.judgments.columns import COLUMNS, FUNCTIONS, REQUIRED, meant, nearest, of_type
from karat.judgments.failed_formulas import FIX, SIGN, WHAT, failed_cells, is_failed
from karat.judgments.message_tables import rows_named
from karat.judgments.scales import Choice, Scale, answer_text
from karat.judgments.times import instants, without_zone
from karat.judgments.trial_order import in_order
from karat.messages import Message

LONG_MEDIAN_SECONDS = 120.0
LISTS, RECORDS = "lists", "records"

Place = tuple[str | None, str, int]
"""The origin of a row: file, kind of place ("line", "row", ...) and number."""


def frame_row(row: int) -> Place:
    """The place of a row in a table that is not from a file."""
    return None, "row", row + 1


def places(file: str, numbers: Sequence[int], place: str = "line") -> Callable[[int], Place]:
    """A `locate` for rows of one file, from their line numbers.

    >>> places("results.csv", [2, 5])(1)
    ('results.csv', 'line', 5)
    """
    return partial(_place_of, file, place, numbers)


def _place_of(file: str, place: str, numbers: Sequence[int], row: int) -> Place:
    return file, place, numbers[row]


def located(locate: Callable[[int], Place], rows: Sequence[int] | pl.Series) -> Callable[[int], Place]:
    """A `locate` for some rows of a table.

    >>> located(places("results.csv", [2, 5, 9]), [0, 2])(1)
    ('results.csv', 'line', 9)
    """
    return lambda row: locate(int(rows[row]))


@dataclass
class Checked:
    """A table after the checks: its columns in their types, its problems, and the rows that have one."""

    frame: pl.DataFrame
    problems: Problems = field(default_factory=Problems)
    bad_rows: set[int] = field(default_factory=set)
    notes: list[Message] = field(default_factory=list)
    locate: Callable[[int], Place] = frame_row
    """The place of a row."""

    def flag(self, column: str, mask: pl.Series, what: str, fix: str, values: pl.Series | None = None) -> None:
        """Record a problem for each row of the mask."""
        if not mask.any():
            return
        rows = mask.arg_true().to_list()
        cells = values.gather(rows).cast(pl.String).to_list() if values is not None else [None] * len(rows)
        for row, value in zip(rows, cells, strict=True):
            flaw = (WHAT, FIX) if is_failed(value) else (what, fix)
            self.problems.at(self.locate(row), *flaw, column, value=value)
        self.bad_rows.update(rows)


def check(frame: pl.DataFrame, scales: Mapping[str, Scale], locate: Callable[[int], Place] = frame_row) -> Checked:
    """Check the columns of a table of judgments and convert them to their types.

    `scales` maps each question to its scale; the empty name is the scale of rows without a question. `locate` gives the
    place of a row for the messages.
    """
    checked = Checked(frame, locate=locate)
    _check_names(checked)
    _check_cells(checked)
    if checked.problems:
        return checked
    checked.frame = _with_items_of_choices(checked.frame)
    frame, changed = text_columns(checked.frame)
    checked.frame = plain_types(frame)
    for name in ("participant", "item"):
        column = checked.frame[name]
        checked.flag(name, column.is_null(), "is empty", "Fill the cell.")
        if name in changed:
            checked.flag(name, failed_cells(column), WHAT, FIX, column)
    _check_function(checked)
    converters = dict.fromkeys(of_type("whole number"), _check_whole_numbers) | {"rt": _check_rt, "time": _check_time}
    for name, convert in converters.items():
        if name in checked.frame.columns:
            column = convert(checked, name, checked.frame[name])
            checked.frame = checked.frame.with_columns(column.alias(name))
    _check_answers(checked, scales)
    _check_duplicates(checked)
    return checked


UNTIDY = r"^\s|\s$|^$"
"""Blanks around a text, or an empty text."""


def text_columns(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """A table with its text columns cleaned, and the names of those that were not clean or hold failed formulas.

    Most columns are clean, so all are first tested together.
    """
    names = [name for name in of_type("text") if name in frame.columns]
    texts = [name for name in names if frame.schema[name] == pl.String]
    flawed = frame.select(pl.col(texts).unique().str.contains(f"{UNTIDY}|{SIGN}").any()).row(0) if texts else ()
    tidy = {name for name, untidy in zip(texts, flawed, strict=True) if not untidy}
    changed = [name for name in names if name not in tidy]
    return frame.with_columns(text_column(frame[name]) for name in changed), changed


def text_column(column: pl.Series) -> pl.Series:
    """A column as text: whole numbers without a decimal point, surrounding blanks removed, empty cells missing."""
    if column.dtype.is_float():
        column = column.fill_nan(None)
        whole = column.cast(pl.Int64, strict=False)
        if (whole.cast(pl.Float64) == column).fill_null(column.is_null()).all():
            column = whole
        else:
            return column.map_elements(answer_text, return_dtype=pl.String)
    if column.dtype != pl.String:
        column = column.cast(pl.String)
    # Most columns have few distinct values, so testing those is much cheaper.
    if column.unique().str.contains(UNTIDY).any():
        column = column.str.strip_chars().replace("", None)
    return column


def plain_types(frame: pl.DataFrame, known: Collection[str] = COLUMNS) -> pl.DataFrame:
    """The table with all other columns than the known ones in the few types that every file format distinguishes."""
    columns = []
    for name, dtype in frame.schema.items():
        column = frame[name]
        if name in known:
            continue
        if dtype == pl.String:
            columns.append(column.replace("", None) if (column == "").any() else column)
        elif dtype.is_integer():
            columns.append(column.cast(pl.Int64, strict=False) if dtype != pl.UInt64 else column.cast(pl.String))
        elif dtype.is_float() or dtype.is_decimal():
            columns.append(column.cast(pl.Float64).fill_nan(None))
        elif dtype in (pl.Categorical, pl.Enum, pl.Null):
            columns.append(column.cast(pl.String))
        elif isinstance(dtype, pl.Datetime) or dtype == pl.Date:
            columns.append(instants(column))
    return frame.with_columns(columns)


def _check_names(checked: Checked) -> None:
    columns = checked.frame.columns
    choice = {"left", "right"} <= set(columns)
    for name in REQUIRED:
        if name in columns or (name == "item" and choice):
            continue
        close = nearest(name, [c for c in columns if c not in COLUMNS])
        fix = f"Is it {close}? " if close else ""
        checked.problems.add(
            f"there is no column {name} ({COLUMNS[name].meaning})",
            f"{fix}There are {', '.join(columns) if columns else 'no columns'}; "
            f"say which one it is: --map {name}=NAME, or mapping={{'{name}': 'NAME'}}.",
        )


def kind_of_cells(dtype: pl.DataType) -> str | None:
    """Whether cells of this type are lists or records; None if they are single values."""
    if not dtype.is_nested():
        return None
    return RECORDS if isinstance(dtype, pl.Struct) else LISTS


def _check_cells(checked: Checked) -> None:
    """Refuse cells with several values; readers must flatten lists and records first."""
    for name, dtype in checked.frame.schema.items():
        kind = kind_of_cells(dtype)
        if name in COLUMNS and kind is not None:
            how = "Unnest" if kind == RECORDS else "Explode"
            fix = f"{how} it, or say which other column it is: --map {name}=NAME, or mapping={{'{name}': 'NAME'}}."
            checked.problems.add(f"holds {kind} where a row needs one value", fix, column=name)


def _with_items_of_choices(frame: pl.DataFrame) -> pl.DataFrame:
    """Add the item of a choice, named after its two sides in alphabetical order."""
    if "item" in frame.columns or not {"left", "right"} <= set(frame.columns):
        return frame
    left, right = text_column(frame["left"]), text_column(frame["right"])
    sides = pl.DataFrame({"left": left, "right": right})
    pair = pl.format("{}:{}", pl.min_horizontal("left", "right"), pl.max_horizontal("left", "right"))
    items = sides.select(pl.when(pl.all_horizontal(pl.all().is_not_null())).then(pair).alias("item"))
    return frame.insert_column(frame.columns.index("left"), items["item"])


def _check_function(checked: Checked) -> None:
    if "function" not in checked.frame.columns:
        checked.frame = checked.frame.with_columns(function=pl.lit("test"))
        return
    cells = checked.frame["function"]
    checked.flag("function", cells.is_null(), "is empty", f"Write one of {', '.join(FUNCTIONS)}.")
    words = cells.drop_nulls().unique()
    if not words.is_in(FUNCTIONS).all():
        cells, words = cells.str.to_lowercase(), words.str.to_lowercase().unique().sort()
        checked.frame = checked.frame.with_columns(cells)
    for word in words.to_list():
        if word not in FUNCTIONS:
            functions = f"The functions are {', '.join(FUNCTIONS)}; finer kinds belong in the column subgroup."
            fix = f"{meant(word, FUNCTIONS, '')} {functions}".strip()
            checked.flag("function", cells == word, "is not an item function", fix, cells)


def _check_whole_numbers(checked: Checked, name: str, cells: pl.Series) -> pl.Series:
    numbers = cells.cast(pl.Int64, strict=False) if cells.dtype != pl.Boolean else _whole_numbers(cells)
    if cells.dtype.is_float() or numbers.null_count() > cells.null_count():
        numbers = _whole_numbers(cells)
        wrong = numbers.is_null() & _has_value(cells)
        checked.flag(name, wrong, "is not a whole number", "Write a number such as 1.", cells)
    if name == "polarity":
        odd = ~numbers.is_in([1, -1])
        checked.flag(name, odd.fill_null(False), "is not a polarity", "Write 1 or -1.", cells)
    else:
        low = (numbers < 1).fill_null(False)
        checked.flag(name, low, "is below 1", f"Count {name}s from 1.", cells)
    return numbers


def _whole_numbers(cells: pl.Series) -> pl.Series:
    numbers = _numbers(cells)
    return pl.select(pl.when(numbers == numbers.round()).then(numbers)).to_series().cast(pl.Int64, strict=False)


def _numbers(cells: pl.Series) -> pl.Series:
    """A column as numbers; NaN and everything else become missing."""
    numbers = cells.cast(pl.Float64, strict=False)
    if cells.dtype == pl.String and numbers.null_count() > cells.null_count():
        numbers = cells.str.strip_chars().cast(pl.Float64, strict=False)
    return numbers.fill_nan(None) if numbers.is_nan().any() else numbers


def _has_value(cells: pl.Series) -> pl.Series:
    """A mask of the cells that are not missing, blank or NaN."""
    if cells.dtype == pl.String:
        return cells.is_not_null() & (cells.str.strip_chars() != "")
    return cells.is_not_null() & cells.is_not_nan() if cells.dtype.is_float() else cells.is_not_null()


def _check_rt(checked: Checked, name: str, cells: pl.Series) -> pl.Series:
    rt = _numbers(cells)
    if rt.null_count() > cells.null_count():
        fix = "Write seconds with a decimal point, or leave the cell empty where no time was taken."
        checked.flag(name, rt.is_null() & _has_value(cells), "is not a number", fix, cells)
    negative = ((rt < 0) | rt.is_infinite()).fill_null(False)
    fix = "A time runs from stimulus onset to answer; leave the cell empty where it is not known."
    checked.flag(name, negative, "is not a response time", fix, cells)
    # If the median is long, so are half of the times, which is cheaper to test.
    median = rt.median() if 2 * (rt > LONG_MEDIAN_SECONDS).sum() >= rt.count() else None
    if isinstance(median, float) and median > LONG_MEDIAN_SECONDS:
        checked.notes.append(Message("rt.long", {"median": median}))
    return rt


def _check_time(checked: Checked, name: str, cells: pl.Series) -> pl.Series:
    times = instants(cells)
    fix = "Write a date and time such as 2026-05-03T12:34:56Z, or Unix seconds or milliseconds."
    if cells.dtype.is_numeric() or cells.dtype == pl.String:
        fix += " In a file, --map time= leaves the column out; if it holds response times, use --map rt=time."
    there, bare = _has_value(cells), without_zone(cells)
    checked.flag(name, times.is_null() & there, "is not a point in time", fix, cells)
    if 0 < bare.sum() < there.sum():
        file, place, number = checked.locate(int(bare.arg_max() or 0))
        values = {"n": int(bare.sum()), "times": int(there.sum()), "file": file, "row": rows_named(place, [number])}
        checked.notes.append(Message("time.no_zone", values))
    return times


def _check_answers(checked: Checked, scales: Mapping[str, Scale]) -> None:
    frame = checked.frame
    if "question" not in frame.columns:
        _check_question(checked, scales.get(""), None)
        return
    names = frame["question"].unique().sort().to_list()
    for name in names:
        rows = frame["question"].is_null() if name is None else (frame["question"] == name).fill_null(False)
        scale = scales.get(name or "")
        if scale is None:
            fix = f"There are scales for {', '.join(s or 'rows without a question' for s in scales)}."
            checked.flag("question", rows, "has no scale", fix, frame["question"])
        else:
            _check_question(checked, scale, rows if len(names) > 1 else None)


def _check_question(checked: Checked, scale: Scale | None, rows: pl.Series | None) -> None:
    """Read the answers and the expected answers of the rows with one scale."""
    if scale is None:
        checked.problems.add("the scale of these answers is not given", "Give scale=..., for example karat.Ordinal(5).")
        return
    for name in ("response", "expected"):
        if name not in checked.frame.columns:
            continue
        cells = checked.frame[name]
        answers = _sides_of_items(checked.frame, name) if isinstance(scale, Choice) else cells
        if name == "response":
            answers, unknown = scale.read_column(answers)
        else:
            unknown = _unknown_sets(scale, answers)
        if rows is not None:
            unknown = unknown & rows
            answers = pl.select(pl.when(rows).then(answers).otherwise(cells).alias(name)).to_series()
        what = f"is not an answer on this scale, which has {scale.known()}"
        fix = "Use --answers OLD=NEW to respell answers, --skip-bad to drop the rows, or --scale for another scale."
        checked.flag(name, unknown, what, fix, cells)
        checked.frame = checked.frame.with_columns(answers.alias(name))


def _sides_of_items(frame: pl.DataFrame, name: str) -> pl.Series:
    """The answers of choices as sides; an answer may also name the chosen item."""
    if not {"left", "right"} <= set(frame.columns):
        return frame[name]
    answer, differ = pl.col(name), pl.col("left") != pl.col("right")
    left, right = (pl.when(differ & (answer == pl.col(side))).then(pl.lit(side)) for side in ("left", "right"))
    return frame.select(pl.coalesce(left, right, answer).alias(name)).to_series()


def _unknown_sets(scale: Scale, answers: pl.Series) -> pl.Series:
    unknown = []
    for text in answers.drop_nulls().unique().to_list():
        try:
            scale.expected(text)
        except ScaleError:
            unknown.append(text)
    return answers.is_in(unknown).fill_null(False)


def _check_duplicates(checked: Checked) -> None:
    frame = checked.frame
    by_trial = "trial" in frame.columns
    identifiers = ("participant", "session", "trial", "question", "repetition")
    keys = [name for name in frame.columns if name in identifiers or not by_trial]
    if by_trial and in_order(frame, "trial", strictly=True):
        return
    rows = frame.select(keys).with_row_index("_row")
    if by_trial and frame["trial"].null_count():
        rows = rows.filter(pl.col("trial").is_not_null())
    # Distinct hashes prove distinct rows; only equal ones need the exact and slower test.
    hashes = rows.select(reduce(xor, (pl.col(key).hash(seed) for seed, key in enumerate(keys)))).to_series().sort()
    if not (hashes == hashes.shift(1)).any():
        return
    copies = rows.with_columns(_first=pl.col("_row").min().over(keys)).filter(pl.col("_row") > pl.col("_first"))
    if not by_trial:
        checked.notes.append(Message("rows.identical", {"n": copies.height}))
        return
    fix = "Keep one of the two rows, or tell them apart by session, question or trial."
    for row, first in copies.select("_row", "_first").iter_rows():
        file, place, number = checked.locate(row)
        _, first_place, first_number = checked.locate(first)
        value = f"trial {frame['trial'][row]}, also at {first_place} {first_number}"
        what = "occurs twice for one participant"
        checked.problems.add(what, fix, column="trial", value=value, file=file, place=place, number=number)
        checked.bad_rows.add(row)
