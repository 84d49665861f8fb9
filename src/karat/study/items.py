"""Item tables: one row per item and condition, from CSV or a spreadsheet, or from templates and a lexicon.

Spreadsheets from elsewhere often have the right columns under other names. karat never takes these for its own
silently; messages ask the user to rename them.

Tables that are not UTF-8 are read in the encoding that `karat.judgments.source` detects; `read_as` returns it.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial, reduce
from pathlib import Path

import polars as pl

from karat.errors import KaratError, Problems
from karat.judgments.checks import Place, text_column
from karat.judgments.columns import FUNCTIONS, meant, nearest
from karat.judgments.failed_formulas import FIX, WHAT, columns_with_failed, failed_cells, with_failed_formulas
from karat.judgments.source import ENCODING_NAMES, SourceFile
from karat.judgments.tables import MEND_ROW, SPREADSHEETS, FileTable, delimiter_of, read_table, sheets_of
from karat.study.setting_base import known_words

SLOT = re.compile(r"\{([^{}]+)\}")
STIMULI = ("sentence", "sentence_2", "context", "image", "image_2")
BESIDE = ("gloss", "gloss_2", "feedback", "hidden")
"""Texts beside a stimulus: interlinear lines below it, feedback on the answer in practice, and text that only programs
read (honeypots)."""
KNOWN = ("item", "function", "subgroup", "status", "pair", *STIMULI, *BESIDE, "expected", "acceptability", "verified",
         "violation")  # fmt: skip
QUESTION_COLUMNS = ("question", "left", "right")
ALIKE = 0.8
"""From this similarity on, an unknown column is taken for a misspelt known one."""
STATUSES = ("grammatical", "ungrammatical", "marked")


@dataclass
class Items:
    """The items of a block, all cells as text, with the place of each row and the problems of the table."""

    frame: pl.DataFrame
    locate: Callable[[int], Place]
    problems: Problems = field(default_factory=Problems)
    like_functions: dict[str, str] = field(default_factory=dict)
    """For tables without a column `function`, so that all rows are test items: the column that looks like it."""


def read_items(
    paths: Sequence[Path],
    factors: Sequence[str],
    task: str,
    wide: Mapping[str, Sequence[str]] | None = None,
    sheets: Sequence[str] = (),
) -> Items:
    """Read one or several item tables as one.

    Each row needs an item, a function (by default test) and a stimulus; factors are columns. Tables with the columns of
    `wide` have one row per item and one column per condition. `sheets` are the sheets of workbooks to read, by default
    the first.
    """
    pairs = _tables(paths, sheets)
    tables, labels = [table for table, _ in pairs], [label for _, label in pairs]
    unread = bool(wide) and not any(name in table.frame.columns for table in tables for name in wide or ())
    parts = []
    for number, table in enumerate(tables):
        problems = flaws(table)
        if wide and any(name in table.frame.columns for name in wide):
            tables[number] = table = long_table(table, wide, factors, problems)
        elif unread and number == 0:
            tables[number] = table = _without_conditions(table, wide or {}, factors, problems)
        frame = table.frame
        part = _checked(frame, table.locate, table.file.name, frame.columns, problems, factors, task)
        parts.append(part if labels[number] == table.file.name else _labelled(part, labels[number]))
    names = [(label, table.frame.columns) for label, table in zip(labels, tables, strict=True)]
    return _whole(reduce(together, parts), names, factors)


def _labelled(items: Items, label: str) -> Items:
    """Items whose rows and problems name the sheet besides the workbook."""
    problems = Problems()
    problems.extend(replace(problem, file=label) for problem in items.problems)
    like = dict.fromkeys([label], *items.like_functions.values()) if items.like_functions else {}
    return Items(items.frame, partial(_labelled_place, items.locate, label), problems, like)


def _labelled_place(locate: Callable[[int], Place], label: str, row: int) -> Place:
    return (label, *locate(row)[1:])


def long_table(
    table: FileTable, wide: Mapping[str, Sequence[str]], factors: Sequence[str], problems: Problems
) -> FileTable:
    """A table with one column per condition, converted to one row per item and condition.

    `wide` has the levels of each column, in the order of the factors. Other columns, such as a context, belong to all
    conditions of their row. The names of the items are in the column item, or in one called Nr or ID.
    """
    frame, name = table.frame, table.file.name
    items = "item" if "item" in frame.columns else own_name("item", frame.columns, set(wide))
    if items is None:
        problems.add("there is no column item", renaming("item", frame.columns, set(wide)), file=name)
    missing = [column for column in wide if column not in frame.columns]
    for column in missing:
        text = f"there is no column {column}, which wide names"
        problems.add(text, meant(column, [other for other in frame.columns if other not in wide]), file=name)
    conditions = {column: levels for column, levels in wide.items() if column in frame.columns}
    for column in conditions:
        fix = "Write the sentence, or leave out the item."
        _flag(frame[column].is_null(), column, "is empty", fix, table.locate, problems)
    others = [column for column in frame.columns if column not in (items, *conditions)]
    rows, places = [], []
    for number, row in enumerate(frame.to_dicts()):
        shared = {column: row[column] for column in others}
        for column, levels in conditions.items():
            if row[column] is not None:
                cell = dict(zip(factors, levels, strict=True))
                rows.append({"item": row.get(items or ""), **shared, **cell, "sentence": row[column]})
                places.append(table.locate(number))
    schema = dict.fromkeys(["item", *others, *factors, "sentence"], pl.String())
    return replace(table, frame=pl.DataFrame(rows, schema=schema), locate=places.__getitem__)


def _without_conditions(
    table: FileTable, wide: Mapping[str, Sequence[str]], factors: Sequence[str], problems: Problems
) -> FileTable:
    """A sheet without any column of `wide`, such as one with a title above its header, as a table without rows."""
    fix = (
        f"Let the first row name them: {', '.join(wide)}. A sheet with a title above its header or a header of two "
        f"rows is read by karat init DIR --from-sets {table.file.name}."
    )
    problems.add("no column is one that wide names", fix, file=table.file.name)
    return replace(table, frame=pl.DataFrame(schema=dict.fromkeys(["item", *factors, "sentence"], pl.String())))


def filled_templates(templates: Path, lexicon: Path, factors: Sequence[str], task: str) -> Items:
    """Sentences with `{slots}`, one row per condition, filled from a lexicon with one row per item.

    For 24 items in 4 conditions, 4 templates and 24 rows of words are enough.
    """
    sentences, words = _read(templates), _read(lexicon)
    problems = flaws(sentences)
    problems.extend(flaws(words))
    _flag_failed(words.frame, words.locate, problems)
    _check_slots(sentences, words, problems)
    rows, places = [], []
    for entry in words.frame.to_dicts() if "item" in words.frame.columns else ():
        for number, template in enumerate(sentences.frame.to_dicts()):
            filled = {name: _fill(cell, entry) for name, cell in template.items()}
            rows.append({"item": entry.get("item"), **filled})
            places.append(sentences.locate(number))
    frame = pl.DataFrame(rows, schema=dict.fromkeys(["item", *sentences.frame.columns], pl.String()))
    columns = sentences.frame.columns
    items = _checked(frame, places.__getitem__, sentences.file.name, columns, problems, factors, task)
    return _whole(items, [(sentences.file.name, columns)], factors)


def read_questions(path: Path, problems: Problems) -> pl.DataFrame:
    """The adjective pairs of a differential: name, left and right pole. Names are distinct and no cell is empty."""
    table = _read(path)
    problems.extend(flaws(table))
    _flag_failed(table.frame, table.locate, problems)
    frame = table.frame.with_columns(text_column(table.frame[name]) for name in table.frame.columns)
    for name in QUESTION_COLUMNS:
        if name not in frame.columns:
            problems.add(f"there is no column {name}", renaming(name, frame.columns), file=table.file.name)
        else:
            _flag(frame[name].is_null(), name, "is empty", "Fill the cell.", table.locate, problems)
    if "question" in frame.columns:
        twice = frame["question"].is_duplicated() & frame["question"].is_not_null()
        _flag(twice, "question", "occurs twice", "Name each pair once.", table.locate, problems)
    return frame


def together(first: Items, second: Items) -> Items:
    """Two item tables as one, the second below the first."""
    problems = Problems()
    for items in (first, second):
        problems.extend(items.problems)
    frame = pl.concat([first.frame, second.frame], how="diagonal")
    locate = partial(_place_in_either, first.locate, second.locate, first.frame.height)
    return Items(frame, locate, problems, first.like_functions | second.like_functions)


def _place_in_either(
    first: Callable[[int], Place], second: Callable[[int], Place], rows_of_first: int, row: int
) -> Place:
    return first(row) if row < rows_of_first else second(row - rows_of_first)


def source_file(path: Path) -> SourceFile:
    """A table of a study file; KaratError if it does not exist."""
    if not path.is_file():
        beside = [other.name for other in path.parent.glob("*") if other.is_file()]
        hint = meant(path.name, sorted(beside), "")
        raise KaratError(f"The study file names {path}, which does not exist. {hint}".strip())
    return SourceFile(path)


def _read(path: Path, sheet: str | None = None) -> FileTable:
    """A table with the signs of failed formulas, which the reader of spreadsheets omits."""
    file = source_file(path)
    table = read_table(file, sheet=sheet)
    numbers = [table.locate(row)[2] for row in range(table.frame.height)]
    number = 0 if sheet is None else sheets_of(file).index(sheet)
    return replace(table, frame=with_failed_formulas(table.frame, numbers, table.file, number))


def _tables(paths: Sequence[Path], sheets: Sequence[str]) -> list[tuple[FileTable, str]]:
    """All tables of a block: CSV files and the sheets of workbooks, by default the first.

    Each comes with its name for messages: the file, and the sheet if several of one workbook are read.
    """
    books = {path: sheets_of(source_file(path)) for path in paths}
    there = {name for names in books.values() for name in names}
    unknown = next((name for name in sheets if name not in there), None)
    if unknown is not None:
        hint = f"There are {', '.join(sorted(there))}." if there else "None of the item tables is a workbook."
        raise KaratError(f'sheets names "{unknown}", which is not a sheet of the item tables. {hint}')
    tables: list[tuple[FileTable, str]] = []
    for path, names in books.items():
        chosen = [name for name in sheets if name in names]
        read = [_read(path, sheet) for sheet in chosen] if chosen else [_read(path)]
        labels = [f"{path.name}, sheet {sheet}" for sheet in chosen] if len(chosen) > 1 else [read[0].file.name]
        tables += zip(read, labels, strict=True)
    return tables


def _fill(cell: str | None, entry: dict[str, str | None]) -> str | None:
    return None if cell is None else SLOT.sub(lambda slot: entry.get(slot[1]) or slot[0], cell)


def _check_slots(sentences: FileTable, words: FileTable, problems: Problems) -> None:
    """Check that the lexicon names every item, and has a column for every slot with a word for every item."""
    columns = words.frame.columns
    if "item" not in columns:
        problems.add("there is no column item", renaming("item", columns), file=words.file.name)
    else:
        twice = words.frame["item"].is_duplicated() & words.frame["item"].is_not_null()
        _flag(twice, "item", "occurs twice", "Give each row a name of its own.", words.locate, problems)
    used: dict[str, None] = {}
    for number, template in enumerate(sentences.frame.to_dicts()):
        slots = dict.fromkeys(slot for cell in template.values() if cell for slot in SLOT.findall(cell))
        file, place, line = sentences.locate(number)
        for slot in slots:
            if slot in columns:
                used[slot] = None
                continue
            close = nearest(slot, columns)
            fix = f"Did you mean {{{close}}}?" if close else f"The lexicon has {', '.join(columns)}."
            problems.add(f"the slot {{{slot}}} is not a column of {words.file.name}", fix, file=file, place=place,
                         number=line)  # fmt: skip
    for slot in used:
        fix = f"A sentence of {sentences.file.name} shows it: write the words."
        _flag(words.frame[slot].is_null(), slot, "is empty", fix, words.locate, problems)


def flaws(table: FileTable) -> Problems:
    """The problems of the rows of a table; in a study, none of them may be skipped."""
    fix = "Fix the row: put cells that contain the separator in quotation marks."
    problems = Problems()
    problems.extend(replace(problem, fix=fix) if problem.fix == MEND_ROW else problem for problem in table.problems)
    return problems


def _checked(
    frame: pl.DataFrame,
    locate: Callable[[int], Place],
    file: str,
    columns: Sequence[str],
    problems: Problems,
    factors: Sequence[str],
    task: str,
) -> Items:
    """A table with its columns checked: names, functions, statuses, stimuli. `columns` are those of the file."""
    frame = frame.with_columns(text_column(frame[name]) for name in frame.columns)
    names = {*KNOWN, *factors}
    like = None
    if "item" not in frame.columns:
        problems.add("there is no column item", renaming("item", columns, names), file=file)
    else:
        _flag(frame["item"].is_null(), "item", "is empty", "Give the item a name.", locate, problems)
    if "function" not in frame.columns:
        like = _without_function(frame, file, names, problems)
    _flag_unknown(frame, "function", FUNCTIONS, locate, problems)
    _flag_unknown(frame, "status", STATUSES, locate, problems)
    stimuli = [name for name in STIMULI if name in frame.columns]
    if not stimuli:
        problems.add("there is no column sentence (or image)", renaming("sentence", columns, names), file=file)
    else:
        empty = frame.select(pl.all_horizontal(pl.col(stimuli).is_null())).to_series()
        _flag(empty, stimuli[0], "is empty", f"Write what is shown in a {task} trial.", locate, problems)
    _flag_failed(frame, locate, problems)
    return Items(frame, locate, problems, {} if like is None else {file: like})


def _without_function(frame: pl.DataFrame, file: str, names: Collection[str], problems: Problems) -> str | None:
    """The column that looks like the missing column function; one with such a name is reported as a problem instead."""
    like = like_functions(frame, names)
    close = get_close_matches("function", [name.lower() for name in frame.columns if name not in names], 1, ALIKE)
    if like is not None and own_name("function", [like]):
        text = "there is no column function, so that all rows would be test items"
        problems.add(text, f"Is it {like}? Rename {like} to function.", file=file)
        return None
    if close:
        name = next(name for name in frame.columns if name.lower() == close[0])
        problems.add(f"there is no column function, but {name}", "Rename it.", file=file)
        return None
    return like


def _whole(items: Items, tables: Sequence[tuple[str, Sequence[str]]], factors: Sequence[str]) -> Items:
    """All tables of a block, with a function for every row and a column for every factor.

    One table with a factor is enough, as fillers in another table need not have it.
    """
    frame = items.frame if "function" in items.frame.columns else items.frame.with_columns(function=pl.lit("test"))
    frame = frame.with_columns(pl.col("function").fill_null("test").str.to_lowercase())
    first = int(frame["function"].eq("test").arg_max() or 0)
    file = items.locate(first)[0] if frame.height else tables[0][0]
    columns = next((names for name, names in tables if name == file), tables[0][1])
    for name in factors:
        if name not in frame.columns:
            text = f"there is no column {name}, a factor of the study file"
            other_names = {*KNOWN, *(other for other in factors if other != name)}
            items.problems.add(text, renaming(name, columns, other_names), file=file)
    return replace(items, frame=frame)


def _flag_unknown(
    frame: pl.DataFrame, column: str, values: Sequence[str], locate: Callable[[int], Place], problems: Problems
) -> None:
    """Report unknown values of a column."""
    if column not in frame.columns:
        return
    for row, value in enumerate(frame[column].to_list()):
        if value is not None and (value.lower() if column == "function" else value) not in values:
            close = function_meant(value) if column == "function" else nearest(value, list(values))
            fix = f"Did you mean {close}? " if close else ""
            problems.at(locate(row), "is not known", f"{fix}There are {', '.join(values)}.", column, value=value)


def _flag_failed(frame: pl.DataFrame, locate: Callable[[int], Place], problems: Problems) -> None:
    """Report cells with the sign of a failed formula; spreadsheets take sentences that begin with = or - for one."""
    fix = f"{FIX} Where the cell is meant as text, put an apostrophe (') before its first sign, such as = or -."
    for name in columns_with_failed(frame):
        for row in failed_cells(frame[name]).arg_true().to_list():
            problems.at(locate(row), WHAT, fix, name, value=frame[name][row])


def _flag(
    mask: pl.Series, column: str, what: str, fix: str, locate: Callable[[int], Place], problems: Problems
) -> None:
    for row in mask.arg_true().to_list():
        problems.at(locate(row), what, fix, column)


COLUMN_NAMES: Mapping[str, Sequence[str]] = known_words()["columns"]
"""The other names of each column, in lower case and with _ for blanks."""
FUNCTION_WORDS = {word: name for name, words in known_words()["functions"].items() for word in words}
"""The function by each of its other names."""


def plain(name: str) -> str:
    """A name in lower case, with _ for blanks and hyphens, and without signs at its ends."""
    word = name.strip().lower()
    return (word.strip("#.: ") or word).replace(" ", "_").replace("-", "_")


def own_name(column: str, columns: Sequence[str], taken: Collection[str] = ()) -> str | None:
    """The column of a table that is one of karat's under another name; columns in `taken` have another meaning."""
    aliases = (column.lower(), *COLUMN_NAMES.get(column, ()))
    return next((name for name in columns if name not in taken and plain(name) in aliases), None)


def renaming(column: str, columns: Sequence[str], taken: Collection[str] = ()) -> str:
    """The fix for a missing column: the column to rename, and all columns."""
    alias = own_name(column, columns, taken)
    close = nearest(column, [name for name in columns if name not in taken])
    hint = f"Rename {alias} to {column}. " if alias else f"Is it {close}? " if close else ""
    return f"{hint}There are {', '.join(columns)}."


def function_meant(value: str) -> str | None:
    """The function of a word, which may be misspelt."""
    word = plain(value)
    return FUNCTION_WORDS.get(word) or nearest(word, FUNCTIONS)


def like_functions(frame: pl.DataFrame, taken: Collection[str]) -> str | None:
    """The column of a table whose values are functions, not all of them test; None if there is none."""
    for name in frame.columns:
        words = {plain(value) for value in frame[name].drop_nulls().unique().to_list()} if name not in taken else set()
        meant = {FUNCTION_WORDS.get(word, word) for word in words}
        if meant and meant <= set(FUNCTIONS) and meant != {"test"}:
            return name
    return None


SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical lines"}
MARKED = ("utf-8", "utf-8-sig", "utf-16")
"""Encodings that are not a guess: UTF-8, and UTF-16 with a byte order mark."""


def read_as(file: SourceFile) -> tuple[str, str | None] | None:
    """The encoding and separator of a table with a guessed encoding, as a phrase, and a word to judge it by, if any.

    None for spreadsheets, UTF-8, and UTF-16 with a byte order mark.
    """
    if file.suffix in SPREADSHEETS or file.encoding in MARKED:
        return None
    text = file.text()
    separator = SEPARATORS.get(delimiter_of(file.sample))
    name = "UTF-16" if file.encoding.startswith("utf-16") else ENCODING_NAMES.get(file.encoding, file.encoding)
    cells = f", with {separator} between its cells" if separator else ""
    word = re.search(r"\w*[^\W\x00-\x7f]\w*", text) or re.search(r"[^\s\x00-\x7f]+", text)
    return f"was read as {name}{cells}", word[0] if word else None
