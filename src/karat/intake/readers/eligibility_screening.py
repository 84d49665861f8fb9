"""The published data of Pieper, Börner and Kiss on eligibility screening: forced choices and ratings on five points.

Fillers and test items are in two files with different columns; the test file may lack the function of its items. The
columns follow the authors' description: ENCODING is the lexical item, itemId adds the condition (both conditions in a
choice), trial_index counts from 0, rt is in milliseconds. Among items that are not under test, condition 1 is
grammatical, 2 ungrammatical, 3 marked.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from karat.errors import IntakeError
from karat.intake.cells import chained, from_one, seconds_of
from karat.intake.readers.generic import typed_column
from karat.intake.reading import Options, Reader, Reading
from karat.judgments.columns import COLUMNS
from karat.judgments.scales import Choice, Ordinal, Scale
from karat.judgments.source import SourceFile
from karat.judgments.tables import FileTable, header_of, read_table
from karat.messages import Message

COMMON = ("workerId", "itemId", "ENCODING", "ANSWER", "rt", "trial_index")
OPTIONS = ("OPTION_0_CONDITION_NO", "OPTION_1_CONDITION_NO")
CHOICE = (*COMMON, *OPTIONS, "ANSWER_CONDITION_NO", "ANSWER_POSITION")
RATING = (*COMMON, "CONDITION_NO")
SIDES = {"above": "left", "below": "right"}
STATUS = {"1": "grammatical", "2": "ungrammatical", "3": "marked"}
ACCEPTED = {"1": "3-5", "2": "1-2"}
QUESTIONS: dict[str, Scale] = {"forced choice": Choice(), "rating": Ordinal(5)}


def recognises(file: SourceFile) -> bool:
    """Whether the table has the columns of one of the two experiments."""
    names = set(header_of(file))
    return names.issuperset(CHOICE) or names.issuperset(RATING)


def read_eligibility_screening(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read filler and test files of one or both experiments as one table."""
    tables = [read_table(file, options.delimiter, options.sheet) for file in files]
    kinds = [_kind(table) for table in tables]
    notes: list[Message] = []
    parts = []
    for table, kind in zip(tables, kinds, strict=True):
        parts.append(_choices(table.frame) if kind == "forced choice" else _ratings(table.frame))
        if len(set(kinds)) > 1:
            parts[-1] = parts[-1].with_columns(question=pl.lit(kind))
        if "ITEM_FUNCTION" not in table.frame.columns:
            notes.append(Message("eligibility_screening.no_function", {"file": table.file.name}))
    notes.append(Message("eligibility_screening.times"))
    if "forced choice" in kinds:
        notes.append(Message("eligibility_screening.choices"))
    if "rating" in kinds:
        notes.append(Message("eligibility_screening.ratings"))
    if len(set(kinds)) > 1:
        notes.append(Message("eligibility_screening.both"))
    reading = Reading(
        pl.concat(parts, how="diagonal_relaxed"),
        chained([(table.frame.height, table.locate) for table in tables]),
        units_in=0,
        scales={kind if len(set(kinds)) > 1 else "": QUESTIONS[kind] for kind in kinds},
    )
    for table in tables:
        reading.add_table(table)
    reading.notes += notes
    return reading


def _kind(table: FileTable) -> str:
    names = set(table.frame.columns)
    if names.issuperset(CHOICE):
        return "forced choice"
    if names.issuperset(RATING):
        return "rating"
    needed = CHOICE if names & set(OPTIONS) else RATING
    lacking = [name for name in needed if name not in names]
    raise IntakeError(f"{table.file.name} has no column {', '.join(lacking)}. Use --from table to map the others.")


def _common(frame: pl.DataFrame) -> list[pl.Series]:
    function = pl.Series("function", ["test"] * frame.height, dtype=pl.String)
    columns = [frame["workerId"].alias("participant"), frame["itemId"].alias("item")]
    columns += [from_one(frame["trial_index"]).alias("trial"), seconds_of(frame["rt"]).alias("rt")]
    columns.append(frame["ITEM_FUNCTION"].alias("function") if "ITEM_FUNCTION" in frame.columns else function)
    if "ITEM_SUBGROUP" in frame.columns:
        columns.append(frame["ITEM_SUBGROUP"].alias("subgroup"))
    return columns


def _rest(frame: pl.DataFrame, used: Sequence[str]) -> list[pl.Series]:
    """The columns without an equivalent in karat's table, under their own names."""
    used = [*used, "workerId", "itemId", "trial_index", "rt", "ITEM_FUNCTION", "ITEM_SUBGROUP"]
    rest = [name for name in frame.columns if name not in used]
    return [typed_column(frame[name]).alias(f"{name}_" if name in COLUMNS else name) for name in rest]


def _untested(columns: Sequence[pl.Series]) -> pl.Series:
    """Whether an item is not under test, so that its condition says how acceptable it is."""
    function = next(column for column in columns if column.name == "function")
    return (function.str.strip_chars().str.to_lowercase() != "test").fill_null(False)


def _ratings(frame: pl.DataFrame) -> pl.DataFrame:
    columns = _common(frame)
    not_tested = _untested(columns)
    condition = frame["CONDITION_NO"].str.strip_chars()
    status = condition.replace_strict(STATUS, default=None, return_dtype=pl.String)
    expected = condition.replace_strict(ACCEPTED, default=None, return_dtype=pl.String)
    return pl.DataFrame(
        [
            *columns,
            frame["ANSWER"].alias("response"),
            _where(not_tested, status).alias("status"),
            _where(not_tested, expected).alias("expected"),
            *_rest(frame, ["ANSWER"]),
        ]
    )


def _choices(frame: pl.DataFrame) -> pl.DataFrame:
    """Forced choices: the option above is the left one; the only option in condition 1 is the right answer."""
    columns = _common(frame)
    position = frame["ANSWER_POSITION"].str.strip_chars().str.to_lowercase()
    above, below = _shown(frame, position)
    left, right = (above == "1").fill_null(False), (below == "1").fill_null(False)
    expected = pl.select(pl.when(left & ~right).then(pl.lit("left")).when(right & ~left).then(pl.lit("right")))
    return pl.DataFrame(
        [
            *columns,
            position.replace(SIDES).alias("response"),
            (frame["ENCODING"] + "_" + above).alias("left"),
            (frame["ENCODING"] + "_" + below).alias("right"),
            _where(_untested(columns), expected.to_series()).alias("expected"),
            *_rest(frame, ["ANSWER_POSITION"]),
        ]
    )


def _shown(frame: pl.DataFrame, position: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The conditions shown above and below, by the chosen condition and its position, or else by `1 >> 3`."""
    first, second = (frame[name].str.strip_chars() for name in OPTIONS)
    answer = frame["ANSWER_CONDITION_NO"].str.strip_chars()
    other = pl.select(pl.when(answer == first).then(second).when(answer == second).then(first)).to_series()
    cells = pl.Series([None] * frame.height, dtype=pl.String)
    if "PRESENTATION_ORDER_CONDITION" in frame.columns:
        cells = frame["PRESENTATION_ORDER_CONDITION"]
    sides = []
    for side, group in (("above", 1), ("below", 2)):
        on_side = pl.when(other.is_not_null() & (position == side)).then(answer)
        by_answer = on_side.when(other.is_not_null() & position.is_in(list(SIDES))).then(other)
        sides.append(pl.select(pl.coalesce(by_answer, cells.str.extract(r"^\s*(\d+) >> (\d+)\s*$", group))).to_series())
    return sides[0], sides[1]


def _where(mask: pl.Series, values: pl.Series) -> pl.Series:
    return pl.select(pl.when(mask).then(values)).to_series()


READER = Reader(
    "eligibility-screening",
    "the published data of Pieper, Börner and Kiss",
    recognises,
    read_eligibility_screening,
    together=True,
)
