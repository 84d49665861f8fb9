"""Item sets from a sheet: a row per set with a column per condition, or a row per item and condition.

A sheet may have a title above the header, a header of two rows, and notes below the table. PCIbex (`table.csv`) and
L-Rex have one row per item and condition.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod
from pathlib import Path
from statistics import median_low

import polars as pl

from karat.errors import IntakeError, KaratError, Problems, counted
from karat.judgments.checks import places
from karat.judgments.columns import nearest
from karat.judgments.source import SourceFile
from karat.judgments.tables import SPREADSHEETS, FileTable, delimiter_of, read_table, records, sheets_of
from karat.study.item_sheets.sets import (
    BESIDE_SETS,
    CONDITIONS,
    ITEMS,
    TEXTS,
    ItemSets,
    SetsError,
    are_sentences,
    guess_factors,
    with_rows,
)
from karat.study.item_sheets.tool_files import (
    LISTED,
    SetSentence,
    filler_row,
    function_of,
    is_test,
    listed,
    sections,
    sentences_in,
)
from karat.study.items import KNOWN, flaws, function_meant, like_functions, own_name, plain
from karat.study.setting_base import known_words, toml

BESIDE_WORDS = tuple(known_words()["sets"]["beside_begin"])
"""Beginnings of headers such as "Comprehension question", which are no conditions either."""
FILLER_SHEETS = {start: name for name, starts in known_words()["sheets"].items() for start in starts}
"""Beginnings of the names of sheets beside the sets, with the function of their sentences."""
KINDS = ("function", "type", "kind", "item_type", "trial_type", "experiment", "materials", "section")


def read_sets(path: str | Path, sheet: str | None = None, experiment: str | None = None) -> ItemSets:
    """Read item sets from any of the known files.

    Parameters
    ----------
    path
        A CSV file, a workbook or a text file.
    sheet
        The sheet of a workbook; by default the first with item sets.
    experiment
        The experiment to read from a file with several.
    """
    path = Path(path)
    missing = f"There is no file {path}. Give a table of item sets: CSV, a spreadsheet or an Ibex file."
    file, sentences = _read_sentences(path, missing)
    if sentences is not None:
        return sections(path, sentences, experiment)
    sheets = sheets_of(file)
    if sheet is not None and not sheets:
        raise SetsError(f"{path.name} is not a workbook, so it has no sheet {sheet}. Leave out the name of the sheet.")
    chosen = sheet or _sheet_of_sets(file, sheets)
    table, tidied = _tidied(file, chosen)
    if table.problems:
        raise SetsError(f"{path.name} is not readable as item sets:", flaws(table))
    if sum(bool(LISTED.fullmatch(name)) for name in table.frame.columns) > 3:
        return sections(path, list(listed(table.frame)), experiment)
    sets = _long(path, table, experiment) or _wide(path, table, chosen if len(sheets) > 1 else None)
    if tidied:
        sets = replace(sets, wide=False, notes=(*tidied, *sets.notes))
    beside = [name for name in sheets if name != chosen and _function_of_sheet(name) and _rows_of(file, name)]
    for name in beside:
        sets = with_fillers(sets, path, name)
    unread = [name for name in sheets if name not in (chosen, *beside) and _rows_of(file, name)]
    left = (f"Item sets are read from the sheet {chosen}. Sheets left out: {', '.join(unread)}.",) if unread else ()
    return replace(sets, notes=(*sets.notes, *left))


def _read_sentences(path: Path, missing: str) -> tuple[SourceFile, list[SetSentence] | None]:
    """A file and, if it is an item file of another tool, its sentences."""
    if not path.is_file():
        raise KaratError(missing)
    file = SourceFile(path)
    return file, None if file.suffix in SPREADSHEETS else sentences_in(path, file.text())


def with_fillers(sets: ItemSets, path: str | Path, sheet: str | None = None) -> ItemSets:
    """The sets with the fillers of another table or sheet: a column of sentences, and columns that karat knows."""
    path = Path(path)
    file, sentences = _read_sentences(path, f"There is no file {path} of fillers.")
    if sentences is not None:
        return with_rows(sets, [filler_row(sentence, "filler") for sentence in sentences])
    sheets = sheets_of(file)
    chosen = sheet or next((name for name in sheets if _function_of_sheet(name)), None)
    table, _ = _tidied(file, chosen)
    if table.problems:
        raise SetsError(f"{path.name} is not readable as fillers:", flaws(table))
    frame = _with_first_sentence(table.frame)
    columns = frame.columns
    text = _text_column(frame)
    if text is None:
        where = f"{path.name}, sheet {chosen}" if chosen else path.name
        raise SetsError(
            f"{where}: which column has the fillers? Rename it to sentence. The columns are {', '.join(columns)}."
        )
    names, kind = _column_named(columns, ITEMS), _column_named(columns, KINDS)
    usual = (_function_of_sheet(chosen) if chosen else None) or "filler"
    rows = []
    for number, row in enumerate(frame.to_dicts(), start=1):
        if row[text] is None:
            continue
        function = function_meant(row.get(kind or "") or "") or usual
        more = {name: row[name] for name in columns if name in KNOWN and row[name] and name not in (names, kind, text)}
        rows.append({"item": row.get(names or "") or str(number), "function": function, "sentence": row[text], **more})
    return with_rows(sets, rows)


MOST_LEVELS = 6
UNNAMEABLE = re.compile(r"[,;/|×+=]")
"""Signs that separate the levels in the name of a condition."""
LONG_COLUMNS = ("subgroup", "status", "context", "gloss")


def _long(path: Path, table: FileTable, experiment: str | None) -> ItemSets | None:
    """The sets of a table with one row per item and condition; None for a table with one row per set.

    The number of a set may be only in its first row, as in a sheet with merged cells.
    """
    text = _text_column(table.frame)
    item = _column_named(table.frame.columns, ITEMS)
    condition = _column_named(table.frame.columns, CONDITIONS)
    if text is None or (item is None and condition is None):
        return None
    if item is None:
        raise SetsError(
            f"{path.name}: which column has the item numbers? Rename it to item. "
            f"The columns are {', '.join(table.frame.columns)}."
        )
    main = set(filter(None, (item, text, condition)))
    sources = {name: own_name(name, table.frame.columns, main) for name in ("context", "expected")}
    renames = {source: name for name, source in sources.items() if source and name not in table.frame.columns}
    renamed = table.frame.rename(renames).with_columns(pl.col(item).forward_fill())
    frame = _with_letters(renamed, item, condition)
    condition = condition or _column_named(frame.columns, CONDITIONS)
    if condition is None and not frame[item].is_duplicated().any():
        return None
    there = pl.col(text).is_not_null() & pl.col(item).is_not_null()
    kind = _kind_column(frame.filter(there), item, text)
    is_set = pl.lit(True) if kind is None else (
        pl.col(kind).is_null() | pl.col(kind).map_elements(is_test, return_dtype=pl.Boolean)
    )  # fmt: skip
    if condition is not None:
        _check_conditions(path, table, frame.with_row_index(ROW).filter(there & is_set), item, text, condition)
    empty = frame[text].is_null().arg_true().to_list()
    notes = []
    if empty:
        _, place, line = table.locate(empty[0])
        notes.append(f"{counted(len(empty), 'row')} without a sentence left out, the first in {place} {line}.")
    frame = frame.filter(there)
    names = _condition_columns(path, frame.filter(is_set), item, text, condition, kind)
    used = {item, text, kind, condition, *names}
    between = _between_items(frame.filter(is_set), item, used)
    columns = [name for name in (*LONG_COLUMNS, *between) if name in frame.columns and name not in used]
    for name, levels in between.items():
        factor = f'{toml(name) if not name.isidentifier() else name} = {{ levels = {toml(levels)}, between = "items" }}'
        notes.append(f"{name} has one level per item. To make it a factor, add it to factors in study.toml: {factor}.")
    of_fillers = [name for name in frame.columns if name in KNOWN and name not in {*used, "function", "pair"}]
    read = {*used, *columns, *(of_fillers if frame.filter(~is_set).height else ())}
    unused = [name for name in frame.columns if name not in read and not name.startswith("unnamed_")]
    if unused:
        notes.append(f"Columns left out: {', '.join(unused)}.")
    sets = sections(path, list(_rows(frame, item, text, kind, names)), experiment)
    beside: dict[tuple[str, str], dict[str, str]] = {}
    of_sentence: dict[str, dict[str, str]] = {}
    for row in frame.to_dicts():
        key = row[item], _cell(row, names)
        if key[1] in sets.sets.get(key[0], {}):
            beside.setdefault(key, {name: row[name] for name in columns if row[name]})
        of_sentence.setdefault(row[text], {name: row[name] for name in of_fillers if row[name]})
    fillers = tuple({**row, **of_sentence.get(row["sentence"], {})} for row in sets.fillers)
    return replace(sets, notes=(*notes, *sets.notes), beside=beside, fillers=fillers)


def _between_items(test: pl.DataFrame, item: str, used: Collection[str | None]) -> dict[str, list[str]]:
    """The levels of columns that divide the items into groups, such as a class of verbs."""
    factors = {}
    for name in test.columns:
        if name in used or plain(name) in (*BESIDE_SETS, *KNOWN, *KINDS) or name.startswith("unnamed_"):
            continue
        levels = test.select(item, name).unique(maintain_order=True)[name].to_list()
        sizes = Counter(levels)
        grouped = 2 <= len(sizes) <= MOST_LEVELS and None not in sizes and min(sizes.values()) > 1
        if grouped and len(levels) == test[item].n_unique():
            factors[name] = list(sizes)
    return factors


def _check_conditions(path: Path, table: FileTable, test: pl.DataFrame, item: str, text: str, condition: str) -> None:
    """Raise SetsError if an item has a sentence without a condition, two in one, or one with a misspelt condition."""
    sets = test.filter(pl.col(condition).n_unique().over(item) > 1)
    problems = Problems()
    for row in sets.filter(pl.col(condition).is_null())[ROW].to_list():
        problems.at(table.locate(row), "is empty", "Fill the cell, or delete the row.", condition)
    twice = pl.col(text).n_unique().over(item, condition) > 1
    for row, number, name in sets.filter(twice & pl.col(condition).is_not_null()).select(ROW, item, condition).rows():
        fix = f"{item} {number} has two sentences in this condition. Correct one of them, or delete its row."
        problems.at(table.locate(row), "occurs twice", fix, condition, value=name)
    for row, name, usual in _misspelt(sets.drop_nulls(condition), item, condition):
        problems.at(table.locate(row), "is in no other item", f"Did you mean {usual}?", condition, value=name)
    if problems:
        raise SetsError(f"{path.name} is not readable as item sets:", problems)


def _misspelt(sets: pl.DataFrame, item: str, condition: str) -> Iterable[tuple[int, str, str]]:
    """The rows of conditions that only one item has, each with the similar one of several other items."""
    items = {name: set(ids) for name, ids in sets.group_by(condition).agg(item).rows()}
    for row, number, name in sets.select(ROW, item, condition).rows():
        usual = [other for other, ids in items.items() if len(ids) >= LEAST_USUAL_ITEMS and number not in ids]
        meant = nearest(name, usual) if len(items[name]) == 1 else None
        if meant:
            yield row, name, meant


LEAST_USUAL_ITEMS = 3
"""A condition of this many items is no misspelling."""
LETTERED = r"^(.*\d)[-_. ]?([A-Za-z])$"


def _with_letters(frame: pl.DataFrame, item: str, condition: str | None) -> pl.DataFrame:
    """Names such as 12a split into the number of a set and its condition, if names share a number."""
    number, letter = (pl.col(item).str.extract(LETTERED, group) for group in (1, 2))
    parts = frame.select(number=number, letter=letter).drop_nulls()
    if frame[item].is_duplicated().any() or parts["number"].n_unique() * 2 > parts.height or not parts.height:
        return frame
    columns = [] if condition else [letter.fill_null("").alias("condition")]
    return frame.with_columns(number.fill_null(pl.col(item)), *columns)


def _kind_column(frame: pl.DataFrame, item: str, text: str) -> str | None:
    """The column that distinguishes test items from others, by functions or by experiments with separate items."""
    for name in filter(None, (_column_named(frame.columns, [kind]) for kind in KINDS)):
        words = frame[name].drop_nulls().unique().to_list()
        apart = frame.select(item, name).n_unique() == frame[item].n_unique()
        if words and (apart or all(function_of(word) for word in words)):
            return name
    return like_functions(frame, [item, text])


def _condition_columns(
    path: Path, test: pl.DataFrame, item: str, text: str, condition: str | None, kind: str | None
) -> list[str]:
    """The columns of the factors that cross in the conditions, else the column of conditions."""
    identifier = condition or text
    items, whole = test[item].n_unique(), test.select(item, identifier).n_unique()
    free = [
        name for name in test.columns
        if name not in (item, text, condition, kind) and plain(name) not in (*BESIDE_SETS, *KNOWN)
        and not name.startswith("unnamed_") and not UNNAMEABLE.search(name)
        and test[name].null_count() == 0 and 2 <= test[name].n_unique() <= MOST_LEVELS
        and not any(UNNAMEABLE.search(level) for level in test[name].unique().to_list())
        and test.select(item, name).n_unique() > items
    ]  # fmt: skip
    for size in (2, 3):
        for names in combinations(free, size):
            cells = prod(test[name].n_unique() for name in names)
            if cells * items == whole == test.select(item, *names).n_unique() and (
                cells == test.select(*names, *filter(None, [condition])).n_unique()
            ):
                return list(names)
    if condition is not None:
        return [condition]
    single = [name for name in free if test.select(item, name).n_unique() == whole]
    if not single:
        raise SetsError(
            f"{path.name}: items have several sentences, and no column says in which condition each is. Name such a "
            f"column condition. The columns are {', '.join(test.columns)}."
        )
    return [min(single, key=lambda name: test[name].n_unique())]


def _cell(row: Mapping[str, str | None], names: Sequence[str]) -> str:
    """The condition of a row, by its name or as `factor=level` for each factor."""
    if plain(names[0]) in CONDITIONS:
        return row[names[0]] or ""
    return ", ".join(f"{name}={row[name]}" for name in names) if all(row[name] for name in names) else ""


def _rows(frame: pl.DataFrame, item: str, text: str, kind: str | None, names: Sequence[str]) -> Iterable[SetSentence]:
    """The sentences of a table with one row per item and condition."""
    rows = [(row, _cell(row, names)) for row in frame.to_dicts()]
    single = Counter(number for number, _ in {(row[item], cell) for row, cell in rows})
    for row, cell in rows:
        # Without a column of functions, the single condition of an item may be a function: filler.
        experiment = cell if kind is None and single[row[item]] == 1 and not is_test(cell) else ""
        yield SetSentence((row[kind] or "") if kind else experiment, row[item], cell, [row[text]])


GridRow = tuple[int, list[str | None]]
"""The number of a row in its file, and its cells."""


def _tidied(file: SourceFile, sheet: str | None) -> tuple[FileTable, tuple[str, ...]]:
    """A table without the title above it and the notes below it, and with a header of two rows joined to one.

    It comes with notes on the changes, if any.
    """
    table = read_table(file, sheet=sheet)
    rows = _grid(file, table)
    filled = [sum(cell is not None for cell in cells) for _, cells in rows]
    usual = median_low([count for count in filled if count > 2] or [0])
    if not usual:
        return table, ()
    first = next(place for place, count in enumerate(filled) if count > max(2, usual / 2))
    last = max(place for place, count in enumerate(filled) if count > 1)
    names, start = _header(rows, first)
    body = rows[start : last + 1]
    used = [place for place, name in enumerate(names) if name or any(cells[place] for _, cells in body)]
    columns = [names[place] or f"unnamed_{place + 1}" for place in used]
    ragged = len({len(cells) for _, cells in [rows[first], *body]}) > 1
    if (start == 1 and last + 1 == len(rows) and len(used) == len(names)) or ragged or len(set(columns)) < len(columns):
        return table, ()
    word = "row" if file.suffix in SPREADSHEETS else "line"
    left = ", ".join(str(number) for number, _ in rows[last + 1 :])
    notes = (
        f"The columns are named in {word} {rows[start - 1][0]}: {' | '.join(filter(None, names))}.",
        f"Left out below the table: {word} {left}.",
    )
    frame = pl.DataFrame([[cells[place] for place in used] for _, cells in body],
                         schema=dict.fromkeys(columns, pl.String), orient="row")  # fmt: skip
    tidy = FileTable(file, frame, places(file.name, [number for number, _ in body], word))
    return tidy, (*notes[: start > 1], *notes[1 : 1 + bool(left)])


def _grid(file: SourceFile, table: FileTable) -> list[GridRow]:
    """All rows of a file that are not blank, with the header."""
    if file.suffix not in SPREADSHEETS:
        lines = records(file.text(), table.delimiter or delimiter_of(file.sample), file.name)
        return [(record.line, [cell.strip() or None for cell in record.cells]) for record in lines if any(record.cells)]
    header = [None if name.startswith("unnamed_") else name for name in table.frame.columns]
    return [(1, header), *((table.locate(n)[2], list(cells)) for n, cells in enumerate(table.frame.iter_rows()))]


def _header(rows: Sequence[GridRow], first: int) -> tuple[list[str | None], int]:
    """The names of the columns, and the start of the rows below; `first` is the first row as full as most rows."""
    cells = rows[first][1]
    below = rows[first + 1][1] if first + 1 < len(rows) else []
    number = next(place for place, cell in enumerate(cells) if cell)
    short = [cell for cell in below if cell and len(cell.split()) < 5]
    if len(below) == len(cells) and below[number] is None and len(short) == sum(map(bool, below)) > 1:
        return _joined_header(cells, below), first + 2
    names = [cell for cell in cells if cell]
    if first > 0 and len(rows[first - 1][1]) == len(cells) and len(set(names)) < len(names):
        return _joined_header(rows[first - 1][1], cells), first + 1
    return cells, first + 1


def _joined_header(top: Sequence[str | None], below: Sequence[str | None]) -> list[str | None]:
    """Names from two rows; a name in the upper one spans the columns to its right.

    >>> _joined_header(["Nr", "island", None, "Note"], [None, "short", "long", None])
    ['Nr', 'island, short', 'island, long', 'Note']
    """
    names: list[str | None] = []
    spanning = None
    for upper, lower in zip(top, below, strict=True):
        spanning = upper or (spanning if lower else None)
        names.append(", ".join(filter(None, (spanning, lower))) or None)
    return names


def _wide(path: Path, table: FileTable, sheet: str | None) -> ItemSets:
    """The sets of a sheet with one column per condition; fillers in it have a sentence in one of the columns."""
    where = f"{path.name}, sheet {sheet}" if sheet else path.name
    table, item, numbering = _item_column(table, where)
    columns = table.frame.columns
    kind = _kind_column(table.frame, item, "")
    frame, others = _fillers_apart(table.frame.with_row_index(ROW), kind)
    conditions = _condition_names(frame, item)
    if len(conditions) < 2:
        raise SetsError(
            f"{where} has no two columns of sentences, one per condition. The columns are {', '.join(columns)}. Give "
            "each condition a column, or each sentence a row with its item and condition."
        )
    if sum(map(is_sentence, conditions)) == len(conditions):
        raise SetsError(f"{where} begins with sentences. Put a row above them that names the columns.")
    problems = Problems()
    for name in conditions:
        for row, cell in frame.filter(pl.col(name).str.contains(r"^[\d.,\s%]+$")).select(ROW, name).rows():
            fix = "Write the sentence, or delete the row."
            problems.at(table.locate(row), "is a number", fix, name, value=cell)
    for name in (item, *conditions):
        for row in frame.filter(pl.col(name).is_null())[ROW].to_list():
            problems.at(table.locate(row), "is empty", "Fill the cell, or delete the row.", name)
    for row, value in frame.filter(pl.col(item).is_duplicated() & pl.col(item).is_not_null()).select(ROW, item).rows():
        problems.at(table.locate(row), "occurs twice", "Number every set once.", item, value=value)
    if problems:
        raise SetsError(f"{where} is not readable as item sets:", problems)
    sets = {row[item]: {name: row[name] for name in conditions} for row in frame.to_dicts()}
    readable = (
        not numbering and others.is_empty() and (item == "item" or item == own_name("item", columns, set(conditions)))
    )
    unused = [name for name in columns if name not in (item, *conditions, *KNOWN)]
    notes = (*numbering, *([f"Columns that are not conditions: {', '.join(unused)}."] if unused else ()))
    item_sets = ItemSets(path, sets, tuple(conditions), wide=readable, sheet=sheet, notes=notes)
    return with_rows(item_sets, [
        {"item": row[item] or "", "function": function_of(row[kind or ""]) or "filler",
         "sentence": next(row[name] for name in columns if name not in (item, kind) and row[name])}
        for row in others.to_dicts()
    ])  # fmt: skip


ROW = "_row"
NUMBER = "set"


def _item_column(table: FileTable, where: str) -> tuple[FileTable, str, tuple[str, ...]]:
    """The table, its column with the names of the sets, and a note if no column is called so.

    In that case the first column names the sets if it has a short name for each row; else the sets are numbered.
    """
    frame, columns = table.frame, table.frame.columns
    item = "item" if "item" in columns else own_name("item", columns) or _column_named(columns, ITEMS)
    if item is not None:
        return table, item, ()
    first = columns[0]
    if plain(first) in CONDITIONS:
        raise SetsError(f"{where} has one row per condition. Give each item set a row and each condition a column.")
    cells = frame[first]
    if not cells.null_count() and cells.is_unique().all() and not are_sentences(cells):
        title = "The first column" if first.startswith("unnamed_") else f"The first column, {first},"
        return table, first, (f"{title} names the sets.",)
    numbered = frame.insert_column(0, pl.Series(NUMBER, [str(n) for n in range(1, frame.height + 1)]))
    return replace(table, frame=numbered), NUMBER, ("No column numbers the sets, so they are numbered by their rows.",)


def _condition_names(frame: pl.DataFrame, item: str) -> list[str]:
    """The columns with a sentence per condition, without columns such as questions if the names of the others cross."""
    names = [name for name in frame.columns if name not in (item, ROW) and _is_condition(name, frame[name])]
    fewer = [name for name in names if not set(re.findall(r"[^\W_]+", plain(name))) & {*BESIDE_SETS, *BESIDE_WORDS}]
    crossed = len(fewer) > 1 and guess_factors(fewer).guessed and not guess_factors(names).guessed
    return fewer if crossed else names


def _fillers_apart(frame: pl.DataFrame, kind: str | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows of sets, and rows of fillers, which have fewer sentences than a set."""
    if kind is None:
        return frame, frame[:0]
    filled = pl.sum_horizontal(pl.col(pl.String).is_not_null())
    called = pl.col(kind).map_elements(lambda word: not is_test(word), return_dtype=pl.Boolean)
    usual = frame.filter(~called).select(filled.alias("n"))["n"].min()
    apart = called & (filled < usual) if isinstance(usual, int) else pl.lit(False)
    return frame.filter(~apart), frame.filter(apart)


def _is_condition(name: str, cells: pl.Series) -> bool:
    """Whether a column has the sentences of one condition: texts of several words, in most rows."""
    if name in KNOWN or plain(name) in (*BESIDE_SETS, *ITEMS, *KINDS) or name.startswith("unnamed_"):
        return False
    if plain(name).startswith(BESIDE_WORDS):
        return False
    return cells.null_count() <= 0.5 * len(cells) and are_sentences(cells)


def _text_column(frame: pl.DataFrame) -> str | None:
    """The column of sentences: one with such a name, else the only one with sentences."""
    texts = [name for name in frame.columns if are_sentences(frame[name], more_than=1)]
    by_name = [name for name in texts if plain(name) in TEXTS]
    ending = [name for name in texts if plain(name).rpartition("_")[2] in TEXTS]
    if by_name or len(ending) == 1:
        return (by_name or ending)[0]
    conditions = [name for name in frame.columns if _is_condition(name, frame[name])]
    return conditions[0] if len(conditions) == 1 else None


def is_sentence(text: str) -> bool:
    """Whether a header is a sentence, as in a table without a header."""
    return len(text.split()) > 1 and text.rstrip().endswith((".", "?", "!"))


def _with_first_sentence(frame: pl.DataFrame) -> pl.DataFrame:
    """A table without a header with its first row restored, which was read as one; other tables unchanged."""
    if not any(map(is_sentence, frame.columns)):
        return frame
    above = pl.DataFrame([frame.columns], schema=frame.schema, orient="row")
    number = f"column_{frame.columns.index(next(filter(is_sentence, frame.columns))) + 1}"
    whole = pl.concat([above, frame])
    whole.columns = [f"column_{place}" for place in range(1, frame.width + 1)]
    return whole.rename({number: "sentence"})


def _function_of_sheet(name: str) -> str | None:
    """The function of the sentences in a sheet beside the sets, by the name of the sheet.

    >>> _function_of_sheet("Fillers (new)"), _function_of_sheet("Practice"), _function_of_sheet("Items")
    ('filler', 'practice', None)
    """
    return next((function for start, function in FILLER_SHEETS.items() if plain(name).startswith(start)), None)


def _sheet_of_sets(file: SourceFile, sheets: Sequence[str]) -> str | None:
    """The first sheet of a workbook with item sets, by its name and its columns; else the first of all."""
    candidates = [name for name in sheets if not _function_of_sheet(name)]
    held = (name for name in (*candidates, *sheets) if _holds_sets(file, name))
    return next(held, None) or next(iter((*candidates, *sheets)), None)


def _holds_sets(file: SourceFile, sheet: str) -> bool:
    """Whether a sheet has columns of sentences per condition, or sentences with their items or conditions."""
    if not _rows_of(file, sheet):
        return False
    frame = _tidied(file, sheet)[0].frame
    conditions = [name for name in frame.columns if _is_condition(name, frame[name])]
    has_names = _column_named(frame.columns, (*ITEMS, *CONDITIONS)) is not None
    return len(conditions) > 1 or (has_names and _text_column(frame) is not None)


def _rows_of(file: SourceFile, sheet: str) -> int:
    """The number of rows of a sheet below its first; 0 for an empty sheet, as in new workbooks."""
    try:
        return read_table(file, sheet=sheet).frame.height
    except IntakeError:
        return 0


def _column_named(columns: Sequence[str], names: Sequence[str]) -> str | None:
    """The first column with one of these names, whatever separates its words."""
    words = {word.replace("_", "") for word in names}
    return next((name for name in columns if plain(name).replace("_", "") in words), None)
