"""Item tables: one row an item and condition, from CSV or a spreadsheet, or from templates and a lexicon."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from karat.checks import Place, text_column
from karat.columns import FUNCTIONS, nearest
from karat.errors import KaratError, Problems
from karat.source import SourceFile
from karat.tables import read_table

SLOT = re.compile(r"\{([^{}]+)\}")
STIMULI = ("sentence", "sentence_2", "context", "image", "image_2")
KNOWN = ("item", "function", "subgroup", "status", "pair", *STIMULI, "expected", "acceptability", "verified")
QUESTION_COLUMNS = ("question", "left", "right")
STATUSES = ("grammatical", "ungrammatical", "marked")


@dataclass
class Items:
    """The items of a block, all cells as text, with the place of each row and what is wrong with the table."""

    frame: pl.DataFrame
    locate: Callable[[int], Place]
    problems: Problems = field(default_factory=Problems)


def read_items(paths: Sequence[Path], factors: Sequence[str], task: str) -> Items:
    """Read one or several item tables as one.

    Every row needs an item, a function (test where the column is missing) and a stimulus; factors are columns.
    """
    frames, places = [], []
    problems = Problems()
    for path in paths:
        table = read_table(source_file(path))
        problems.extend(table.problems)
        frames.append(table.frame)
        places += [table.locate(row) for row in range(table.frame.height)]
    frame = pl.concat(frames, how="diagonal")
    return _checked(frame, places.__getitem__, problems, factors, task)


def filled_templates(templates: Path, lexicon: Path, factors: Sequence[str], task: str) -> Items:
    """Sentences with `{slots}`, one row a condition, filled from a lexicon with one row an item.

    24 items in 4 conditions are so written once: 4 templates and 24 rows of words.
    """
    sentences, words = read_table(source_file(templates)), read_table(source_file(lexicon))
    problems = Problems()
    for table in (sentences, words):
        problems.extend(table.problems)
    if "item" not in words.frame.columns:
        problems.add("there is no column item", "Give each row of the lexicon a name.", file=words.file.name)
    rows, places = [], []
    for entry in words.frame.to_dicts():
        for number, template in enumerate(sentences.frame.to_dicts()):
            filled = {name: _fill(cell, entry) for name, cell in template.items()}
            rows.append({"item": entry.get("item"), **filled})
            places.append(sentences.locate(number))
            for slot in _missing_slots(template, entry):
                close = nearest(slot, words.frame.columns)
                hint = f"Is {{{close}}} meant?" if close else f"The lexicon has {', '.join(words.frame.columns)}."
                file, place, line = sentences.locate(number)
                what = f"the slot {{{slot}}} is not filled for the item {entry.get('item')}"
                problems.add(what, hint, file=file, place=place, number=line)
    frame = pl.DataFrame(rows, schema=dict.fromkeys(["item", *sentences.frame.columns], pl.String()))
    return _checked(frame, places.__getitem__, problems, factors, task)


def read_questions(path: Path, problems: Problems) -> pl.DataFrame:
    """The adjective pairs of a differential: a name, the left and the right pole, each filled and named once."""
    table = read_table(source_file(path))
    problems.extend(table.problems)
    frame = table.frame.with_columns(text_column(table.frame[name]) for name in table.frame.columns)
    for name in QUESTION_COLUMNS:
        if name not in frame.columns:
            problems.add(f"there is no column {name}", f"There are {', '.join(frame.columns)}.", file=table.file.name)
        else:
            _flag(frame[name].is_null(), name, "is empty", "Fill the cell.", table.locate, problems)
    if "question" in frame.columns:
        twice = frame["question"].is_duplicated() & frame["question"].is_not_null()
        _flag(twice, "question", "is there twice", "Name each pair once.", table.locate, problems)
    return frame


def together(first: Items, second: Items) -> Items:
    """Two item tables below each other."""
    border = first.frame.height

    def locate(row: int) -> Place:
        return first.locate(row) if row < border else second.locate(row - border)

    problems = Problems()
    problems.extend(first.problems)
    problems.extend(second.problems)
    return Items(pl.concat([first.frame, second.frame], how="diagonal"), locate, problems)


def source_file(path: Path) -> SourceFile:
    """A table that a study file names, or an error that says that it is not there."""
    if not path.is_file():
        raise KaratError(f"There is no file {path}; the study file names it.")
    return SourceFile(path)


def _fill(cell: str | None, entry: dict[str, str | None]) -> str | None:
    return None if cell is None else SLOT.sub(lambda slot: entry.get(slot[1]) or slot[0], cell)


def _missing_slots(template: dict[str, str | None], entry: dict[str, str | None]) -> list[str]:
    return [slot for cell in template.values() if cell for slot in SLOT.findall(cell) if not entry.get(slot)]


def _checked(
    frame: pl.DataFrame, locate: Callable[[int], Place], problems: Problems, factors: Sequence[str], task: str
) -> Items:
    """The table with its columns checked: names, functions, statuses, factors."""
    frame = frame.with_columns(text_column(frame[name]) for name in frame.columns)
    for name in ("item", *factors):
        if name not in frame.columns:
            close = nearest(name, frame.columns)
            mend = f"Is it {close}? " if close else ""
            file = locate(0)[0] if frame.height else None
            what = f"there is no column {name}" + ("" if name == "item" else ", a factor of the study file")
            problems.add(what, f"{mend}There are {', '.join(frame.columns)}.", file=file)
    if "function" not in frame.columns:
        frame = frame.with_columns(function=pl.lit("test"))
    frame = frame.with_columns(pl.col("function").fill_null("test").str.to_lowercase())
    _flag_unknown(frame, "function", FUNCTIONS, locate, problems)
    _flag_unknown(frame, "status", STATUSES, locate, problems)
    if "item" in frame.columns:
        _flag(frame["item"].is_null(), "item", "is empty", "Give the item a name.", locate, problems)
    stimuli = [name for name in STIMULI if name in frame.columns]
    if not stimuli:
        problems.add("there is no column sentence (or image)", f"There are {', '.join(frame.columns)}.")
    else:
        empty = frame.select(pl.all_horizontal(pl.col(stimuli).is_null())).to_series()
        _flag(empty, stimuli[0], "is empty", f"Write what is shown in a {task} trial.", locate, problems)
    return Items(frame, locate, problems)


def _flag_unknown(
    frame: pl.DataFrame, column: str, known: Sequence[str], locate: Callable[[int], Place], problems: Problems
) -> None:
    if column not in frame.columns:
        return
    for row, value in enumerate(frame[column].to_list()):
        if value is not None and value not in known:
            close = nearest(value, list(known))
            mend = f"Is {close} meant? " if close else ""
            file, place, number = locate(row)
            problems.add(f"is no {column}", f"{mend}There are {', '.join(known)}.", column=column, value=value,
                         file=file, place=place, number=number)  # fmt: skip


def _flag(
    mask: pl.Series, column: str, what: str, mend: str, locate: Callable[[int], Place], problems: Problems
) -> None:
    for row in mask.arg_true().to_list():
        file, place, number = locate(row)
        problems.add(what, mend, column=column, file=file, place=place, number=number)
