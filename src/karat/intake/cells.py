"""Helpers that readers share: cells from JSON and text, rows from wide tables, one row per participant."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import polars as pl

from karat.errors import Problems
from karat.intake.guess import HIGHEST_SLIDER, MOST_NOMINAL_LEVELS, MOST_ORDINAL_POINTS, guess_rt_unit, joined, plain
from karat.intake.reading import Options, Proposal, Question, Reading
from karat.judgments.checks import Place, located
from karat.judgments.columns import COLUMNS
from karat.judgments.scales import answer_text, as_number
from karat.judgments.tables import FileTable
from karat.messages import Message


def respelled(names: Sequence[str], tool_names: Iterable[str]) -> list[str]:
    """Column names, with a tool's own columns as the tool spells them, whatever case and signs the file uses.

    >>> respelled(["TRIAL_TYPE", "Trial.Index", "rt", "RT", "List"], ["trial_type", "trial_index", "rt"])
    ['trial_type', 'trial_index', 'rt', 'RT', 'List']
    """
    spellings = {plain(name): name for name in tool_names}
    columns: list[str] = []
    for name in names:
        spelled = spellings.get(plain(name), name)
        columns.append(name if spelled in names or spelled in columns else spelled)
    return columns


def cell_text(value: object) -> str | None:
    """A value of a JSON document as the text of a cell: lists and objects stay JSON, and empty values are None.

    >>> cell_text(4.0), cell_text(True), cell_text(["a", 1]), cell_text("")
    ('4', 'true', '["a", 1]', None)
    """
    if value is None:
        return None
    if isinstance(value, list | dict):
        try:
            value = json.dumps(value, ensure_ascii=False)
        except RecursionError:
            value = "(deeply nested)"
    # JSON can escape half a character, which no encoding can write.
    return answer_text(value).encode("utf-8", "replace").decode() or None


def cell_number(value: object) -> float | None:
    """A value of a JSON document, or a text, as a finite number; None if it is not one.

    >>> cell_number("2.5"), cell_number(True), cell_number("inf")
    (2.5, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def seconds_of(milliseconds: pl.Series) -> pl.Series:
    """Milliseconds as seconds; text that is not a number stays, so that a message can show it.

    >>> seconds_of(pl.Series(["3135", None])).to_list(), seconds_of(pl.Series(["1500", "soon"])).to_list()
    ([3.135, None], ['1.5', 'soon'])
    """
    # Polars divides by a single number by multiplying with its reciprocal: 3135 ms would be 3.1350000000000002 s.
    thousand = pl.repeat(1000.0, len(milliseconds), eager=True)
    return _or_text(milliseconds.cast(pl.Float64, strict=False) / thousand, milliseconds)


def from_one(index: pl.Series) -> pl.Series:
    """Positions counted from 1 instead of 0; text that is not a number stays for the message.

    >>> from_one(pl.Series(["0", "7"])).to_list()
    [1, 8]
    """
    return _or_text(index.cast(pl.Int64, strict=False) + 1, index)


def _or_text(numbers: pl.Series, cells: pl.Series) -> pl.Series:
    if numbers.null_count() == cells.null_count():
        return numbers
    return pl.select(pl.coalesce(numbers.cast(pl.String), cells)).to_series()


def chained(parts: Sequence[tuple[int, Callable[[int], Place]]]) -> Callable[[int], Place]:
    """A `locate` for concatenated tables, from the height and the `locate` of each.

    >>> chained([(1, lambda row: ("a", "line", row)), (2, lambda row: ("b", "line", row))])(2)
    ('b', 'line', 1)
    """
    ends = list(accumulate(height for height, _ in parts))

    def locate(row: int) -> Place:
        part = bisect_right(ends, row)
        return parts[part][1](row - (ends[part - 1] if part else 0))

    return locate


ROW, ORDER = " row", " order"
"""The row of the source that an answer comes from, and its position among the answers of that row. The names of a
file's columns never begin with a blank, so these cannot clash with them."""


def stacked(
    blocks: Sequence[pl.DataFrame], locate: Callable[[int], Place]
) -> tuple[pl.DataFrame, Callable[[int], Place]]:
    """The answers of several columns as one table, in the order of the source's rows, and the place of each answer.

    Each block holds the answers of one column, with `ROW` and `ORDER`.
    """
    if not blocks:
        return pl.DataFrame(), locate
    frame = pl.concat(blocks, how="diagonal_relaxed").sort(ROW, ORDER, maintain_order=True)
    return frame.drop(ROW, ORDER), located(locate, frame[ROW])


def texts(column: pl.Series) -> list[str]:
    """The distinct answers in a column, without empty ones.

    >>> texts(pl.Series([" 2", None, "1", "2"]))
    ['1', '2']
    """
    return sorted({cell.strip() for cell in column.drop_nulls().unique().to_list()} - {""})


def all_numbers(answers: Iterable[str]) -> bool:
    """Whether there are any answers and all of them are numbers.

    >>> all_numbers(["1", "2.5"]), all_numbers(["1", "two"]), all_numbers([])
    (True, False, False)
    """
    numbers = [as_number(answer) for answer in answers]
    return bool(numbers) and None not in numbers


def is_free_text(answers: Sequence[str]) -> bool:
    """Whether there are too many different texts for the answers to come from a scale."""
    return len(answers) > MOST_NOMINAL_LEVELS and not all_numbers(answers)


def judged_batteries(
    answers: Mapping[str, Sequence[str]], sizes: Mapping[str, int], options: Options
) -> tuple[list[str], list[Question]]:
    """The batteries of questions whose answers look like judgments, and what the user has to confirm.

    Batteries on one scale are all read. If there are several scales, the one with the most questions is proposed;
    `--map response=A+B` selects others. Ratings of how sure a participant was are not judgments.

    >>> judged_batteries({"fluent": ["1", "5"], "clear": ["2", "5"]}, {"fluent": 9, "clear": 9}, Options())
    (['fluent', 'clear'], [])
    >>> judged_batteries({"fluent": ["1", "4"], "media": ["no", "yes"]}, {"fluent": 20, "media": 9}, Options())[0]
    ['fluent']
    >>> judged_batteries({"a": ["0", "99"], "b": ["3", "100"]}, {"a": 9, "b": 9}, Options())[0]
    ['a', 'b']
    """
    names = list(answers)
    mapped = joined(options.mapping.get("response", ""), names)
    if mapped and set(mapped) <= set(names):
        return mapped, []
    names = [name for name in names if not re.search(SURE, name.lower())] or names
    groups: list[tuple[set[str], list[str]]] = []
    for name in sorted(names, key=lambda name: -len(set(answers[name]))):
        levels = {answer.strip().lower() for answer in answers[name]}
        if all_numbers(levels):
            # Five points, seven points and a slider differ in their highest answer; on sliders it varies.
            highest = max(number for answer in levels if (number := as_number(answer)) is not None)
            levels = {"slider" if MOST_ORDINAL_POINTS < highest <= HIGHEST_SLIDER else str(highest)}
        match = next((group for group in groups if levels <= group[0]), None)
        if match is None:
            groups.append((levels, [name]))
        else:
            match[1].append(name)
    if len(groups) < 2 or options.keep_all:
        return names, []
    largest_group = max((members for _, members in groups), key=lambda members: sum(sizes[name] for name in members))
    largest = [name for name in names if name in largest_group]
    choices = [
        Proposal({"response": "+".join(group)}, Message("ask.response_choice", {
            "n": len({answer for name in group for answer in answers[name]}), "sample": list(answers[group[0]])[:3],
        }))
        for group in (largest, names)
    ]  # fmt: skip
    return largest, [Question("response", tuple(choices))]


SURE = r"(?<![a-z])conf(idence|ident)?(?![a-z])"


SAME_MEANING = ("list", "block", "subgroup", "pair")
"""Names that tools and karat use in the same sense, with values that karat does not restrict."""


def column_named(columns: Sequence[str], names: Iterable[str]) -> str | None:
    """The first of some names that a table has, compared without case, blanks and signs.

    >>> column_named(["Item ID", "Sentence"], ["sentence", "itemid"]), column_named(["Word"], ["item"])
    ('Sentence', None)
    """
    spellings = {plain(column): column for column in reversed(columns)}
    return next((spellings[name] for name in names if name in spellings), None)


def table_of(
    rows: Collection[Mapping[str, Any]], types: Mapping[str, pl.DataType], first: Iterable[str] = ()
) -> pl.DataFrame:
    """Records as a table with all their columns, those of `first` at the beginning; columns not in `types` are text.

    >>> table_of([{"participant": "p1"}, {"participant": "p2", "age": 31.0}], {"age": pl.Float64()}).rows()
    [('p1', None), ('p2', 31.0)]
    """
    names = dict.fromkeys([*first, *(name for row in rows for name in row)])
    data = {name: [row.get(name) for row in rows] for name in names}
    return pl.DataFrame(data, schema={name: types.get(name, pl.String()) for name in names})


def refuse_cells(problems: Problems, table: FileTable, cells: pl.Series, wrong: pl.Series, what: str, fix: str) -> None:
    """Note a problem for each cell of a column that is marked as wrong."""
    for row in wrong.arg_true().to_list():
        problems.at(table.locate(row), what, fix, cells.name, cells[row])


def unit_of_times(
    times: pl.Series, people: pl.Series, column: str, source: str, options: Options, reading: Reading
) -> str:
    """The unit of response times: as the user says, or a guess with a note."""
    if options.rt_unit is not None:
        return options.rt_unit
    unit, note = guess_rt_unit(times, people, column, source)
    reading.notes += [] if note is None else [note]
    return unit


def own_name(name: str, reserved: Sequence[str] = (), others: Sequence[str] = ()) -> str:
    """The name of a source's column, with an underscore if karat or the reader uses that name for something else.

    The new name differs from all other names of the source.

    >>> own_name("condition"), own_name("status"), own_name("round", ["round"], ["round_"])
    ('condition', 'status_', 'round__')
    """
    if name not in reserved and (name not in COLUMNS or name in SAME_MEANING):
        return name
    name += "_"
    while name in reserved or name in others:
        name += "_"
    return name


def numbers_or_text(column: pl.Series) -> pl.Series:
    """A column as numbers if all its cells are numbers; otherwise as text, so that the checks can show the others."""
    numbers = column.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == column.null_count() else column


def one_row_each(people: pl.DataFrame) -> pl.DataFrame:
    """A table of participants with one row per id; rows without an id are dropped."""
    return people.filter(pl.col("participant").is_not_null()).unique("participant", keep="first", maintain_order=True)


AGAIN = " again"
"""Suffix for columns of the second table during a join; names in files do not end like this."""


def filled_up(people: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """Two tables of participants merged, with one row per id; the second fills cells that the first leaves empty.

    >>> first = pl.DataFrame({"participant": ["p1"], "age": [None]}, schema_overrides={"age": pl.Int64})
    >>> filled_up(first, pl.DataFrame({"participant": ["p1", "p2"], "age": [31, 40]})).rows()
    [('p1', 31), ('p2', 40)]
    """
    both = [name for name in others.columns if name != "participant" and name in people.columns]
    joined = people.join(
        others, on="participant", how="full", coalesce=True, suffix=AGAIN, maintain_order="left_right"
    )  # fmt: skip
    filled = [pl.coalesce(name, f"{name}{AGAIN}").alias(name) for name in both]
    return joined.with_columns(filled).drop(f"{name}{AGAIN}" for name in both)


def is_true(column: pl.Series) -> pl.Series:
    """Which cells say yes, as exports write it: True, TRUE, 1.

    >>> is_true(pl.Series(["1", "False", None])).to_list()
    [True, False, False]
    """
    return column.str.strip_chars().str.to_lowercase().is_in(["1", "true", "yes"]).fill_null(False)
