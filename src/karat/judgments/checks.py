"""The checks that every table of judgments passes on entry.

All problems of a table are collected, each with its row, column, value and fix, before anything is refused. The
functions work on whole columns, so that a million rows cost little more than reading them.
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
from karat.messages import Message

LONG_MEDIAN_SECONDS = 120.0
LISTS, RECORDS = "lists", "records"

Place = tuple[str | None, str, int]
"""Where a row comes from: file, kind of place ("line", "row", ...) and its number."""


def frame_row(row: int) -> Place:
    """The place of a row in a table that did not come from a file."""
    return None, "row", row + 1


def places(file: str, numbers: Sequence[int], place: str = "line") -> Callable[[int], Place]:
    """A `locate` for judgments that come from one file, given the line of each.

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
    """A table after the checks: its columns in their types, what is wrong with it, and which rows are concerned."""

    frame: pl.DataFrame
    problems: Problems = field(default_factory=Problems)
    bad_rows: set[int] = field(default_factory=set)
    notes: list[Message] = field(default_factory=list)
    locate: Callable[[int], Place] = frame_row
    """Where a row comes from."""

    def flag(self, column: str, mask: pl.Series, what: str, fix: str, values: pl.Series | None = None) -> None:
        """Note a flaw for every row of the mask."""
        if not mask.any():
            return
        rows = mask.arg_true().to_list()
        cells = values.gather(rows).cast(pl.String).to_list() if values is not None else [None] * len(rows)
        for row, value in zip(rows, cells, strict=True):
            flaw = (WHAT, FIX) if is_failed(value) else (what, fix)
            self.problems.at(self.locate(row), *flaw, column, value=value)
        self.bad_rows.update(rows)


def check(frame: pl.DataFrame, scales: Mapping[str, Scale], locate: Callable[[int], Place] = frame_row) -> Checked:
    """Check the columns of a table of judgments and bring them into their types.

    `scales` maps each question to its scale; the empty name is the scale of rows without a question. `locate` says
    where a row comes from, for the messages.
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
        given = checked.frame[name]
        checked.flag(name, given.is_null(), "is empty", "Fill the cell.")
        if name in changed:
            checked.flag(name, failed_cells(given), WHAT, FIX, given)
    _check_function(checked)
    _check_whole_numbers(checked)
    _check_rt(checked)
    _check_time(checked)
    _check_answers(checked, scales)
    _check_duplicates(checked)
    return checked


UNTIDY = r"^\s|\s$|^$"
"""Blanks around a text, or nothing."""


def text_columns(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """A table with its columns of text as text, and those that were not so already, or hold failed formulas.

    Most are tidy text, which is seen of all of them together.
    """
    names = [name for name in of_type("text") if name in frame.columns]
    texts = [name for name in names if frame.schema[name] == pl.String]
    flawed = frame.select(pl.col(texts).unique().str.contains(f"{UNTIDY}|{SIGN}").any()).row(0) if texts else ()
    tidy = {name for name, found in zip(texts, flawed, strict=True) if not found}
    changed = [name for name in names if name not in tidy]
    return frame.with_columns(text_column(frame[name]) for name in changed), changed


def text_column(column: pl.Series) -> pl.Series:
    """A column as text, whole numbers without a decimal point, blanks around removed, empty cells as missing."""
    if column.dtype.is_float():
        column = column.fill_nan(None)
        whole = column.cast(pl.Int64, strict=False)
        if (whole.cast(pl.Float64) == column).fill_null(column.is_null()).all():
            column = whole
        else:
            return column.map_elements(answer_text, return_dtype=pl.String)
    if column.dtype != pl.String:
        column = column.cast(pl.String)
    # Distinct values are few in most columns, and looking at them alone is much cheaper.
    if column.unique().str.contains(UNTIDY).any():
        column = column.str.strip_chars().replace("", None)
    return column


def plain_types(frame: pl.DataFrame, known: Collection[str] = COLUMNS) -> pl.DataFrame:
    """The columns whose types karat does not know, in the few that every file format keeps apart."""
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
    """What a column of this type holds, where that is more than one value: lists or records."""
    if not dtype.is_nested():
        return None
    return RECORDS if isinstance(dtype, pl.Struct) else LISTS


def _check_cells(checked: Checked) -> None:
    """One value per cell: readers that know what lists and records mean have to flatten them first."""
    for name, dtype in checked.frame.schema.items():
        kind = kind_of_cells(dtype)
        if name in COLUMNS and kind is not None:
            how = "Unnest" if kind == RECORDS else "Explode"
            fix = f"{how} it, or say which other column it is: --map {name}=NAME, or mapping={{'{name}': 'NAME'}}."
            checked.problems.add(f"holds {kind} where a row needs one value", fix, column=name)


def _with_items_of_choices(frame: pl.DataFrame) -> pl.DataFrame:
    """A choice between two items judges their pair: the same item, whichever side each stood on."""
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
    given = checked.frame["function"]
    checked.flag("function", given.is_null(), "is empty", f"Write one of {', '.join(FUNCTIONS)}.")
    words = given.drop_nulls().unique()
    if not words.is_in(FUNCTIONS).all():
        given, words = given.str.to_lowercase(), words.str.to_lowercase().unique().sort()
        checked.frame = checked.frame.with_columns(given)
    for word in words.to_list():
        if word not in FUNCTIONS:
            known = f"The functions are {', '.join(FUNCTIONS)}; finer kinds belong in the column subgroup."
            fix = f"{meant(word, FUNCTIONS, '')} {known}".strip()
            checked.flag("function", given == word, "is not an item function", fix, given)


def _check_whole_numbers(checked: Checked) -> None:
    for name in of_type("whole number"):
        if name not in checked.frame.columns:
            continue
        given = checked.frame[name]
        numbers = given.cast(pl.Int64, strict=False) if given.dtype != pl.Boolean else _whole_numbers(given)
        if given.dtype.is_float() or numbers.null_count() > given.null_count():
            numbers = _whole_numbers(given)
            wrong = numbers.is_null() & _is_given(given)
            checked.flag(name, wrong, "is not a whole number", "Write a number such as 1.", given)
        if name == "polarity":
            odd = ~numbers.is_in([1, -1])
            checked.flag(name, odd.fill_null(False), "is not a polarity", "Write 1 or -1.", given)
        else:
            low = (numbers < 1).fill_null(False)
            checked.flag(name, low, "is below 1", f"Count {name}s from 1.", given)
        checked.frame = checked.frame.with_columns(numbers.alias(name))


def _whole_numbers(given: pl.Series) -> pl.Series:
    numbers = _numbers(given)
    return pl.select(pl.when(numbers == numbers.round()).then(numbers)).to_series().cast(pl.Int64, strict=False)


def _numbers(given: pl.Series) -> pl.Series:
    """A column as numbers; what is none becomes missing, and so does NaN."""
    numbers = given.cast(pl.Float64, strict=False)
    if given.dtype == pl.String and numbers.null_count() > given.null_count():
        numbers = given.str.strip_chars().cast(pl.Float64, strict=False)
    return numbers.fill_nan(None) if numbers.is_nan().any() else numbers


def _is_given(given: pl.Series) -> pl.Series:
    """Where a cell holds something: not missing, not blank, not NaN."""
    if given.dtype == pl.String:
        return given.is_not_null() & (given.str.strip_chars() != "")
    return given.is_not_null() & given.is_not_nan() if given.dtype.is_float() else given.is_not_null()


def _check_rt(checked: Checked) -> None:
    if "rt" not in checked.frame.columns:
        return
    given = checked.frame["rt"]
    rt = _numbers(given)
    what = "is not a number"
    fix = "Write seconds with a decimal point, or leave the cell empty where no time was taken."
    if rt.null_count() > given.null_count():
        checked.flag("rt", rt.is_null() & _is_given(given), what, fix, given)
    negative = ((rt < 0) | rt.is_infinite()).fill_null(False)
    fix = "A time runs from stimulus onset to answer; leave the cell empty where it is not known."
    checked.flag("rt", negative, "is not a response time", fix, given)
    # Half of the times are long where the median is, which is seen sooner.
    median = rt.median() if 2 * (rt > LONG_MEDIAN_SECONDS).sum() >= rt.count() else None
    if isinstance(median, float) and median > LONG_MEDIAN_SECONDS:
        checked.notes.append(Message("rt.long", {"median": median}))
    checked.frame = checked.frame.with_columns(rt.alias("rt"))


def _check_time(checked: Checked) -> None:
    if "time" not in checked.frame.columns:
        return
    given = checked.frame["time"]
    times = instants(given)
    fix = "Write a date and time such as 2026-05-03T12:34:56Z, or Unix seconds or milliseconds."
    if given.dtype.is_numeric() or given.dtype == pl.String:
        fix += " In a file, --map time= leaves the column out; if it holds response times, use --map rt=time."
    there, bare = _is_given(given), without_zone(given)
    checked.flag("time", times.is_null() & there, "is not a point in time", fix, given)
    if 0 < bare.sum() < there.sum():
        file, place, number = checked.locate(int(bare.arg_max() or 0))
        values = {"n": int(bare.sum()), "times": int(there.sum()), "file": file, "row": rows_named(place, [number])}
        checked.notes.append(Message("time.no_zone", values))
    checked.frame = checked.frame.with_columns(times.alias("time"))


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
    """Read the answers and the expected answers of the rows that share a scale."""
    if scale is None:
        checked.problems.add("the scale of these answers is not given", "Give scale=..., for example karat.Ordinal(5).")
        return
    for name in ("response", "expected"):
        if name not in checked.frame.columns:
            continue
        given = checked.frame[name]
        answers = _sides_of_items(checked.frame, name) if isinstance(scale, Choice) else given
        if name == "response":
            answers, unknown = scale.read_column(answers)
        else:
            unknown = _unknown_sets(scale, answers)
        if rows is not None:
            unknown = unknown & rows
            answers = pl.select(pl.when(rows).then(answers).otherwise(given).alias(name)).to_series()
        what = f"is not an answer on this scale, which has {scale.known()}"
        fix = "Use --answers OLD=NEW to respell answers, --skip-bad to drop the rows, or --scale for another scale."
        checked.flag(name, unknown, what, fix, given)
        checked.frame = checked.frame.with_columns(answers.alias(name))


def _sides_of_items(frame: pl.DataFrame, name: str) -> pl.Series:
    """In a choice, the answer may name the chosen item instead of its side."""
    if not {"left", "right"} <= set(frame.columns):
        return frame[name]
    answer = pl.col(name)
    differ = pl.col("left") != pl.col("right")
    side = (
        pl.when(differ & (answer == pl.col("left")))
        .then(pl.lit("left"))
        .when(differ & (answer == pl.col("right")))
        .then(pl.lit("right"))
        .otherwise(answer)
    )
    return frame.select(side.alias(name)).to_series()


def _unknown_sets(scale: Scale, answers: pl.Series) -> pl.Series:
    unknown = []
    for text in answers.drop_nulls().unique().to_list():
        try:
            scale.expected(text)
        except ScaleError:
            unknown.append(text)
    return answers.is_in(unknown).fill_null(False)


def in_order(frame: pl.DataFrame) -> bool:
    """Whether each participant's rows stand together with rising trials, as in most files: then none is twice."""
    who, trial, last = frame["participant"], frame["trial"], max(frame.height - 1, 0)
    if trial.null_count() or who.null_count():
        return False
    # Neighbours are compared by slices, which copy nothing.
    changes = who.slice(1) != who.slice(0, last)
    firsts = who.head(1).append(who.slice(1).filter(changes))
    if firsts.n_unique() < firsts.len():
        return False
    return bool((changes | (trial.slice(1) > trial.slice(0, last))).all())


def _check_duplicates(checked: Checked) -> None:
    frame = checked.frame
    by_trial = "trial" in frame.columns
    told_apart_by = ("participant", "session", "trial", "question", "repetition")
    keys = [name for name in frame.columns if name in told_apart_by or not by_trial]
    if by_trial and in_order(frame):
        return
    rows = frame.select(keys).with_row_index("_row")
    if by_trial and frame["trial"].null_count():
        rows = rows.filter(pl.col("trial").is_not_null())
    # Distinct hashes prove distinct rows; only where two are equal is the exact and slower look needed.
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
