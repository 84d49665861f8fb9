"""Item tables: one row an item and condition, from CSV or a spreadsheet, or from templates and a lexicon."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

import polars as pl

from karat.checks import Place, text_column
from karat.columns import FUNCTIONS, nearest
from karat.errors import KaratError, Problem, Problems
from karat.source import SourceFile
from karat.tables import Table, read_table

SLOT = re.compile(r"\{([^{}]+)\}")
STIMULI = ("sentence", "sentence_2", "context", "image", "image_2")
BESIDE = ("gloss", "gloss_2", "feedback")
"""What is shown with a stimulus: interlinear lines below it, and what is said after the answer in practice."""
KNOWN = ("item", "function", "subgroup", "status", "pair", *STIMULI, *BESIDE, "expected", "acceptability", "verified")
QUESTION_COLUMNS = ("question", "left", "right")
ALIKE = 0.8
"""From this likeness on, a column that karat does not know is taken for a misspelt one that it does."""
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
        problems.extend(_flaws(table))
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
        problems.extend(_flaws(table))
    _check_slots(sentences, words, problems)
    rows, places = [], []
    for entry in words.frame.to_dicts() if "item" in words.frame.columns else ():
        for number, template in enumerate(sentences.frame.to_dicts()):
            filled = {name: _fill(cell, entry) for name, cell in template.items()}
            rows.append({"item": entry.get("item"), **filled})
            places.append(sentences.locate(number))
    frame = pl.DataFrame(rows, schema=dict.fromkeys(["item", *sentences.frame.columns], pl.String()))
    return _checked(frame, places.__getitem__, problems, factors, task)


def read_questions(path: Path, problems: Problems) -> pl.DataFrame:
    """The adjective pairs of a differential: a name, the left and the right pole, each filled and named once."""
    table = read_table(source_file(path))
    problems.extend(_flaws(table))
    frame = table.frame.with_columns(text_column(table.frame[name]) for name in table.frame.columns)
    for name in QUESTION_COLUMNS:
        if name not in frame.columns:
            problems.add(f"there is no column {name}", _is_it(name, frame.columns), file=table.file.name)
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
        beside = [other.name for other in path.parent.glob("*") if other.is_file()]
        close = nearest(path.name, sorted(beside))
        raise KaratError(f"There is no file {path}; the study file names it.{f' Is {close} meant?' if close else ''}")
    return SourceFile(path)


def _fill(cell: str | None, entry: dict[str, str | None]) -> str | None:
    return None if cell is None else SLOT.sub(lambda slot: entry.get(slot[1]) or slot[0], cell)


def _check_slots(sentences: Table, words: Table, problems: Problems) -> None:
    """Whether the lexicon has a name for every item, a column for every slot, and in it a word for every item."""
    columns = words.frame.columns
    if "item" not in columns:
        problems.add("there is no column item", _is_it("item", columns), file=words.file.name)
    else:
        twice = words.frame["item"].is_duplicated() & words.frame["item"].is_not_null()
        _flag(twice, "item", "is there twice", "Give each row a name of its own.", words.locate, problems)
    used: dict[str, None] = {}
    for number, template in enumerate(sentences.frame.to_dicts()):
        slots = dict.fromkeys(slot for cell in template.values() if cell for slot in SLOT.findall(cell))
        file, place, line = sentences.locate(number)
        for slot in slots:
            if slot in columns:
                used[slot] = None
                continue
            close = nearest(slot, columns)
            mend = f"Is {{{close}}} meant?" if close else f"The lexicon has {', '.join(columns)}."
            problems.add(f"the slot {{{slot}}} is no column of {words.file.name}", mend, file=file, place=place,
                         number=line)  # fmt: skip
    for slot in used:
        mend = f"A sentence of {sentences.file.name} shows it: write the words."
        _flag(words.frame[slot].is_null(), slot, "is empty", mend, words.locate, problems)


def _flaws(table: Table) -> list[Problem]:
    """What is wrong with the rows of a table; a study leaves none of them out."""
    mend = "Mend the row: a cell with the separator in it stands in quotation marks."
    return [replace(problem, mend=mend) for problem in table.problems]


def _is_it(name: str, columns: Sequence[str]) -> str:
    close = nearest(name, list(columns))
    return f"{f'Is it {close}? ' if close else ''}There are {', '.join(columns)}."


def _checked(
    frame: pl.DataFrame, locate: Callable[[int], Place], problems: Problems, factors: Sequence[str], task: str
) -> Items:
    """The table with its columns checked: names, functions, statuses, factors."""
    frame = frame.with_columns(text_column(frame[name]) for name in frame.columns)
    file = locate(0)[0] if frame.height else None
    for name in ("item", *factors):
        if name not in frame.columns:
            what = f"there is no column {name}" + ("" if name == "item" else ", a factor of the study file")
            problems.add(what, _is_it(name, frame.columns), file=file)
    if "function" not in frame.columns:
        close = get_close_matches("function", [name.lower() for name in frame.columns], 1, ALIKE)
        if close:
            problems.add(f"there is no column function, but {close[0]}", "Rename it.", file=file)
        frame = frame.with_columns(function=pl.lit("test"))
    frame = frame.with_columns(pl.col("function").fill_null("test").str.to_lowercase())
    _flag_unknown(frame, "function", FUNCTIONS, locate, problems)
    _flag_unknown(frame, "status", STATUSES, locate, problems)
    if "item" in frame.columns:
        _flag(frame["item"].is_null(), "item", "is empty", "Give the item a name.", locate, problems)
    stimuli = [name for name in STIMULI if name in frame.columns]
    if not stimuli:
        problems.add("there is no column sentence (or image)", _is_it("sentence", frame.columns), file=file)
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
