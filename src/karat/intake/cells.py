"""What readers share: values of JSON and text become cells, cells of wide tables rows, and people one row each."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate

import polars as pl

from karat.intake.guess import MOST_NOMINAL_LEVELS, joined, plain
from karat.intake.reading import Options, Proposal, Question
from karat.judgments.checks import Place, located
from karat.judgments.columns import COLUMNS
from karat.judgments.scales import answer_text, as_number
from karat.messages import Message


def respelled(names: Sequence[str], known: Iterable[str]) -> list[str]:
    """The names of columns, those of a tool as the tool spells them, whatever case and signs a file has.

    >>> respelled(["TRIAL_TYPE", "Trial.Index", "rt", "RT", "List"], ["trial_type", "trial_index", "rt"])
    ['trial_type', 'trial_index', 'rt', 'RT', 'List']
    """
    own = {plain(name): name for name in known}
    found: list[str] = []
    for name in names:
        spelled = own.get(plain(name), name)
        found.append(name if spelled in names or spelled in found else spelled)
    return found


def cell_text(value: object) -> str | None:
    """A value of a JSON document as the text of a cell; what holds further values stays JSON, and nothing is missing.

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
    """A value of a JSON document, or a text, as a finite number; None where it is none.

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
    """Text in milliseconds as seconds; text that is not a number stays, so that a message can show it.

    >>> seconds_of(pl.Series(["3135", None])).to_list(), seconds_of(pl.Series(["1500", "soon"])).to_list()
    ([3.135, None], ['1.5', 'soon'])
    """
    # To divide by one number, polars multiplies by its reciprocal: 3135 ms would be 3.1350000000000002 s.
    thousand = pl.repeat(1000.0, len(milliseconds), eager=True)
    return _or_text(milliseconds.cast(pl.Float64, strict=False) / thousand, milliseconds)


def from_one(index: pl.Series) -> pl.Series:
    """Positions that were counted from 0, counted from 1; text that is not a number stays for the message.

    >>> from_one(pl.Series(["0", "7"])).to_list()
    [1, 8]
    """
    return _or_text(index.cast(pl.Int64, strict=False) + 1, index)


def _or_text(numbers: pl.Series, given: pl.Series) -> pl.Series:
    if numbers.null_count() == given.null_count():
        return numbers
    return pl.select(pl.coalesce(numbers.cast(pl.String), given)).to_series()


def chained(parts: Sequence[tuple[int, Callable[[int], Place]]]) -> Callable[[int], Place]:
    """A `locate` for tables that were put below each other, from the height and the `locate` of each.

    >>> chained([(1, lambda row: ("a", "line", row)), (2, lambda row: ("b", "line", row))])(2)
    ('b', 'line', 1)
    """
    ends = list(accumulate(height for height, _ in parts))

    def locate(row: int) -> Place:
        which = bisect_right(ends, row)
        return parts[which][1](row - (ends[which - 1] if which else 0))

    return locate


ROW, ORDER = " row", " order"
"""The row of the source that an answer comes from, and its position among the answers of that row. The names of a
file's columns never begin with a blank, so that these cannot clash with them."""


def stacked(
    blocks: Sequence[pl.DataFrame], locate: Callable[[int], Place]
) -> tuple[pl.DataFrame, Callable[[int], Place]]:
    """The answers of several columns as one table, row by row of the source, and where each answer comes from.

    Every block holds one column's answers, one row each, with the row of the source and the position within it.
    """
    if not blocks:
        return pl.DataFrame(), locate
    frame = pl.concat(blocks, how="diagonal_relaxed").sort(ROW, ORDER, maintain_order=True)
    return frame.drop(ROW, ORDER), located(locate, frame[ROW])


def texts(column: pl.Series) -> list[str]:
    """The different answers in a column, empty ones left out.

    >>> texts(pl.Series([" 2", None, "1", "2"]))
    ['1', '2']
    """
    return sorted({cell.strip() for cell in column.drop_nulls().unique().to_list()} - {""})


def all_numbers(answers: Iterable[str]) -> bool:
    """Whether there are answers and all of them are numbers.

    >>> all_numbers(["1", "2.5"]), all_numbers(["1", "two"]), all_numbers([])
    (True, False, False)
    """
    numbers = [as_number(answer) for answer in answers]
    return bool(numbers) and None not in numbers


def is_free_text(answers: Sequence[str]) -> bool:
    """Whether answers are too many different texts to be the answers of a scale."""
    return len(answers) > MOST_NOMINAL_LEVELS and not all_numbers(answers)


def judged_batteries(
    answers: Mapping[str, Sequence[str]], sizes: Mapping[str, int], options: Options
) -> tuple[list[str], list[Question]]:
    """The batteries of questions that ask for judgments, by their answers, and what the user is to confirm.

    Batteries on one scale are read as they are. On several, the one with the most questions is proposed;
    `--map response=A+B` names others. How sure participants were of their answers is no judgment.

    >>> judged_batteries({"fluent": ["1", "5"], "clear": ["2", "5"]}, {"fluent": 9, "clear": 9}, Options())
    (['fluent', 'clear'], [])
    >>> judged_batteries({"fluent": ["1", "4"], "media": ["no", "yes"]}, {"fluent": 20, "media": 9}, Options())[0]
    ['fluent']
    """
    names = list(answers)
    mapped = joined(options.mapping.get("response", ""), names)
    if mapped and set(mapped) <= set(names):
        return mapped, []
    names = [name for name in names if not re.search(SURE, name.lower())] or names
    groups: list[tuple[set[str], list[str]]] = []
    for name in sorted(names, key=lambda name: -len(set(answers[name]))):
        given = {answer.strip().lower() for answer in answers[name]}
        if all_numbers(given):
            # Five points, seven points and a slider differ in their highest answer.
            given = {str(max(number for answer in given if (number := as_number(answer)) is not None))}
        home = next((group for group in groups if given <= group[0]), None)
        if home is None:
            groups.append((given, [name]))
        else:
            home[1].append(name)
    if len(groups) < 2 or options.keep_all:
        return names, []
    best = max((found for _, found in groups), key=lambda found: sum(sizes[name] for name in found))
    kept = [name for name in names if name in best]
    choices = [
        Proposal({"response": "+".join(some)}, Message("ask.response_choice", {
            "n": len({answer for name in some for answer in answers[name]}), "sample": list(answers[some[0]])[:3],
        }))
        for some in (kept, names)
    ]  # fmt: skip
    return kept, [Question("response", tuple(choices))]


SURE = r"(?<![a-z])conf(idence|ident)?(?![a-z])"


SAME_MEANING = ("list", "block", "subgroup", "pair")
"""Names that tools and karat use alike, and whose values karat does not restrict."""


def own_name(name: str, reserved: Sequence[str] = (), others: Sequence[str] = ()) -> str:
    """A source's own column, with an underscore where karat or the reader gives the name another meaning.

    The new name is none of the source's other names.

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
    """A column as numbers if nothing is lost by it; else as text, so that the checks can show what is not a number."""
    numbers = column.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == column.null_count() else column


def one_row_each(people: pl.DataFrame) -> pl.DataFrame:
    """A table of people without those who have no id, each once."""
    return people.filter(pl.col("participant").is_not_null()).unique("participant", keep="first", maintain_order=True)


AGAIN = " again"
"""Ends the name of a second table's column while two are joined; names in files do not end like this."""


def filled_up(people: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """Two tables of people as one, one row each; what the first leaves empty the second may fill.

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
    """Cells that say yes as exports write it: True, TRUE, 1.

    >>> is_true(pl.Series(["1", "False", None])).to_list()
    [True, False, False]
    """
    return column.str.strip_chars().str.to_lowercase().is_in(["1", "true", "yes"]).fill_null(False)
