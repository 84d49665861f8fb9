"""Item sets as labs keep them: a sheet with a column per condition, or the item files of other tools.

Known are tables with one row per item set and one column per condition; tables with one row per item and condition, as
PCIbex (`table.csv`) and L-Rex have them; files of Linger, Ibex and Turktools, in which a line `# experiment item
condition` stands before each sentence; and the lists that Turktools uploads (`item_1_section`, ..., `field_1_1`).

Which factors cross in the conditions is guessed from their names: "a (that, short)", "that_long" or "comp=null/length=
long". What the names do not show, the researcher states.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from pathlib import Path

import polars as pl

from karat.errors import KaratError, Problems, ProblemsError, counted
from karat.judgments.tables import SPREADSHEETS, FileTable, read_table, sheets_of
from karat.study.items import KNOWN, STATUSES, function_meant, own_name, plain, table_file
from karat.study.setting_base import meant

HEADER = re.compile(r"^#\s+(\S+)\s+(\S+)\s+(\S.*?)\s*$")
"""The line before a sentence: experiment, item, condition."""
LISTED = re.compile(r"item_(\d+)_(section|number|condition)|field_(\d+)_(\d+)")
BESIDE_SETS = ("note", "notes", "comment", "comments", "source", "translation", "gloss", "list", "group", "block")
"""Columns of a sheet that hold sentences or words, but no condition."""
FILLER_SHEETS = ("filler", "fillers", "distractors", "füller", "ablenker", "controls")
CONDITIONS = ("condition", "cond", "conditions", "bedingung")
TEXTS = ("sentence", "sentences", "content", "text", "stimulus", "stimuli", "string", "satz", "item_text")
ITEMS = ("item", "items", "set", "item_set", "itemset", "nr", "no", "id", "number", "item_id", "item_number", "item_no")
KINDS = ("function", "type", "kind", "item_type", "trial_type", "experiment", "materials", "section")
LEVELS_OF: Mapping[str, Sequence[str]] = {
    "complementizer": ("that", "null", "zero", "no that", "without", "dass", "whether"),
    "length": ("short", "long", "kurz", "lang"),
    "grammaticality": ("grammatical", "ungrammatical", "gram", "ungram", *STATUSES),
    "structure": ("island", "nonisland", "non-island", "non island"),
    "dependency": ("matrix", "embedded", "subject", "object"),
    "number": ("sg", "pl", "singular", "plural"),
    "match": ("match", "mismatch"),
    "animacy": ("animate", "inanimate"),
    "order": ("so", "os", "svo", "ovs", "sov", "osv", "vo", "ov"),
}
"""Names of factors by the levels that they usually have."""


class SetsError(ProblemsError):
    """Item sets that cannot be made into a study."""


@dataclass(frozen=True)
class CrossedFactors:
    """The factors of a design with their levels, and the level of each that a condition has."""

    levels: Mapping[str, tuple[str, ...]]
    cells: Mapping[str, tuple[str, ...]]
    guessed: bool = True
    """Whether the names of the conditions showed the levels; else the conditions are the levels of one factor."""


@dataclass(frozen=True)
class ItemSets:
    """For each set a sentence per condition, and the sentences beside them: fillers, controls, practice."""

    source: Path
    sets: Mapping[str, Mapping[str, str]]
    conditions: tuple[str, ...]
    fillers: tuple[Mapping[str, str], ...] = ()
    wide: bool = False
    """Whether a study can read the source itself, column by column."""
    sheet: str | None = None
    """The sheet of a workbook, where it has several."""
    notes: tuple[str, ...] = ()


def read_sets(path: str | Path, sheet: str | None = None, experiment: str | None = None) -> ItemSets:
    """Read item sets from any of the known files.

    Parameters
    ----------
    path
        A CSV file, a workbook or a text file.
    sheet
        The sheet of a workbook; by default the first that is not one of fillers.
    experiment
        Of a file with several experiments, the one to take.
    """
    path = Path(path)
    if not path.is_file():
        raise KaratError(f"There is no file {path}. Give a table of item sets: CSV, a spreadsheet or an Ibex file.")
    file = table_file(path)
    if file.suffix not in SPREADSHEETS:
        lines = file.text().splitlines()
        if any(HEADER.match(line) for line in lines):
            return _sections(path, list(_marked(lines)), experiment)
    sheets = sheets_of(file)
    chosen = sheet or next((name for name in sheets if plain(name) not in FILLER_SHEETS), None)
    table = read_table(file, sheet=chosen)
    if table.problems:
        raise SetsError(f"{path.name} is not readable as item sets:", table.problems)
    columns = table.frame.columns
    if sum(bool(LISTED.fullmatch(name)) for name in columns) > 3:
        return _sections(path, list(_listed(table.frame)), experiment)
    condition, text = _named(columns, CONDITIONS), _named(columns, TEXTS)
    if condition and text:
        return _sections(path, list(_rows(table.frame, condition, text)), experiment)
    sets = _wide(path, table, chosen if len(sheets) > 1 else None)
    beside = next((name for name in sheets if name != chosen and plain(name) in FILLER_SHEETS), None)
    return sets if beside is None else with_fillers(sets, path, beside)


def with_fillers(sets: ItemSets, path: str | Path, sheet: str | None = None) -> ItemSets:
    """The sets with the fillers of another table or sheet: a column of sentences, and what karat knows beside it."""
    path = Path(path)
    if not path.is_file():
        raise KaratError(f"There is no file {path} of fillers.")
    file = table_file(path)
    if file.suffix not in SPREADSHEETS and any(HEADER.match(line) for line in file.text().splitlines()):
        rows = [_filler(one, "filler") for one in _marked(file.text().splitlines())]
        return _joined(sets, rows)
    sheets = sheets_of(file)
    own = sheet or next((name for name in sheets if plain(name) in FILLER_SHEETS), None)
    table = read_table(file, sheet=own)
    columns = table.frame.columns
    text = _named(columns, TEXTS)
    if text is None:
        raise SetsError(f"{path.name}: which column has the fillers? Name it sentence. There are {', '.join(columns)}.")
    names, kind = _named(columns, ITEMS), _named(columns, KINDS)
    rows = []
    for number, row in enumerate(table.frame.to_dicts(), start=1):
        if row[text] is None:
            continue
        function = function_meant(row.get(kind or "") or "") or "filler"
        kept = {name: row[name] for name in columns if name in KNOWN and row[name] and name not in (names, kind, text)}
        rows.append({"item": row.get(names or "") or str(number), "function": function, "sentence": row[text], **kept})
    return _joined(sets, rows)


def guess_factors(conditions: Sequence[str]) -> CrossedFactors:
    """The factors that cross in conditions, from their names; a single factor where these show nothing else.

    >>> guess_factors(["a (that, short)", "b (that, long)", "c (null, short)", "d (null, long)"]).levels
    {'complementizer': ('that', 'null'), 'length': ('short', 'long')}
    >>> guess_factors(["a", "b", "c"]).levels
    {'condition': ('a', 'b', 'c')}
    """
    for separator in (r"\s*[,;/|×+]\s*", r"[_.]", r"\s*[-–:]\s*", r"\s+"):
        parts = [[part for part in re.split(separator, _bare(name)) if part] for name in conditions]
        levels = [tuple(dict.fromkeys(column)) for column in zip(*parts, strict=False)]
        even = len({len(own) for own in parts}) == 1 and len({tuple(own) for own in parts}) == len(conditions)
        varied = [number for number, own in enumerate(levels) if len(own) > 1]
        if even and len(parts[0]) > 1 and varied and prod(len(levels[number]) for number in varied) == len(conditions):
            names = _factor_names([levels[number] for number in varied])
            found = {name: tuple(map(_value, levels[number])) for name, number in zip(names, varied, strict=True)}
            cells = {
                name: tuple(_value(own[number]) for number in varied)
                for name, own in zip(conditions, parts, strict=True)
            }
            return CrossedFactors(found, cells)
    bare = [_bare(name) for name in conditions]
    levels_alone = bare if len(set(bare)) == len(bare) else list(conditions)
    cells = {name: (level,) for name, level in zip(conditions, levels_alone, strict=True)}
    shown = all(_bare(name) != name for name in conditions)
    return CrossedFactors({_factor_names([levels_alone])[0]: tuple(levels_alone)}, cells, shown)


def stated_factors(conditions: Sequence[str], stated: Sequence[str]) -> CrossedFactors:
    """The factors as a researcher states them: "length=short,long" with levels, or names alone for those guessed.

    Where the conditions do not show their levels, they are taken in the usual order: the last factor changes fastest.

    >>> stated_factors(["a", "b", "c", "d"], ["comp=that,null", "length=short,long"]).cells["b"]
    ('that', 'long')
    """
    guess = guess_factors(conditions)
    named = [one.partition("=") for one in stated]
    names = [name.strip() for name, _, _ in named]
    given = [tuple(level.strip() for level in levels.split(",") if level.strip()) for _, _, levels in named]
    if not any(given):
        if len(names) != len(guess.levels):
            found = "; ".join(", ".join(levels) for levels in guess.levels.values())
            raise SetsError(
                f"{counted(len(names), 'factor')} for {counted(len(guess.levels), 'factor')} in the sheet: {found}. "
                "State the levels too, such as --factor length=short,long."
            )
        return CrossedFactors(dict(zip(names, guess.levels.values(), strict=True)), guess.cells)
    if prod(map(len, given)) != len(conditions) or not all(given):
        raise SetsError(
            f"The factors make {counted(prod(map(len, given)), 'condition')}, but there are {len(conditions)}: "
            f"{', '.join(conditions)}. State every factor with all its levels, such as --factor length=short,long."
        )
    levels = dict(zip(names, given, strict=True))
    order = [
        next((n for n, own in enumerate(guess.levels.values()) if set(own) == set(wanted)), None) for wanted in given
    ]
    if None not in order:
        return CrossedFactors(levels, {name: tuple(cell[n] for n in order if n is not None)
                                for name, cell in guess.cells.items()})  # fmt: skip
    return CrossedFactors(levels, dict(zip(conditions, product(*given), strict=True)))


@dataclass
class _Sentence:
    """One sentence of a file of another tool."""

    experiment: str
    item: str
    condition: str
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The sentence, without the questions that Linger and Ibex ask after it."""
        return " ".join(line for line in self.lines if not line.startswith("?"))


def _marked(lines: Iterable[str]) -> Iterable[_Sentence]:
    """The sentences of a file with a line `# experiment item condition` before each."""
    current = None
    for line in lines:
        header = HEADER.match(line)
        if header:
            if current is not None:
                yield current
            current = _Sentence(header[1], header[2], header[3])
        elif line.strip() and current is not None:
            current.lines.append(line.strip())
    if current is not None:
        yield current


def _rows(frame: pl.DataFrame, condition: str, text: str) -> Iterable[_Sentence]:
    """The sentences of a table with one row per item and condition."""
    item = _named(frame.columns, ITEMS)
    kind = next((name for name in (_named(frame.columns, (known,)) for known in KINDS) if name), None)
    if item is None:
        raise SetsError(f"Which column has the item numbers? Name it item. There are {', '.join(frame.columns)}.")
    for row in frame.to_dicts():
        if row[text]:
            yield _Sentence(row.get(kind or "") or "", row[item] or "", row[condition] or "", [row[text]])


def _listed(frame: pl.DataFrame) -> Iterable[_Sentence]:
    """The sentences of lists that Turktools uploads: one row per list, its trials side by side."""
    numbers = sorted({int(found[1]) for name in frame.columns if (found := re.fullmatch(r"item_(\d+)_number", name))})
    seen = set()
    for row in frame.to_dicts():
        for number in numbers:
            key = tuple(row.get(f"item_{number}_{part}") or "" for part in ("section", "number", "condition"))
            if key not in seen and row.get(f"field_{number}_1"):
                seen.add(key)
                yield _Sentence(key[0], key[1], key[2], [row[f"field_{number}_1"]])


def _sections(path: Path, sentences: list[_Sentence], experiment: str | None) -> ItemSets:
    """Sentences sorted into the sets of one experiment and what is shown beside them."""
    sets: dict[str, dict[str, dict[str, str]]] = {}
    for one in sentences:
        sets.setdefault(one.experiment, {}).setdefault(one.item, {}).setdefault(one.condition, one.text)
    crossed = [
        name for name, items in sets.items()
        if max(map(len, items.values())) > 1 and function_of(name) in (None, "test")
    ]  # fmt: skip
    if experiment is not None and experiment not in sets:
        raise SetsError(f"{path.name} has no experiment {experiment}. {meant(experiment, list(sets))}")
    if experiment is None and len(crossed) != 1:
        if not crossed:
            raise SetsError(f"{path.name} has no item with several conditions, so there are no sets to counterbalance.")
        raise SetsError(f"{path.name} has several experiments: {', '.join(crossed)}. Choose one: --experiment NAME.")
    chosen = experiment or crossed[0]
    notes, fillers = [], []
    for name, items in sets.items():
        if name == chosen:
            continue
        if max(map(len, items.values())) > 1:
            notes.append(f"{name}: left out, since its items have conditions of their own.")
            continue
        function = function_of(name) or "filler"
        fillers += [_filler(one, function) for one in sentences if one.experiment == name]
    if any(line.startswith("?") for one in sentences for line in one.lines):
        notes.append("Questions after sentences (lines that begin with ?) were left out.")
    conditions = tuple(dict.fromkeys(name for items in sets[chosen].values() for name in items))
    return _joined(ItemSets(path, sets[chosen], conditions, notes=tuple(notes)), fillers)


def function_of(experiment: str) -> str | None:
    """The function that the name of a part of an experiment means.

    >>> function_of("fillers"), function_of("practice2"), function_of("island")
    ('filler', 'practice', None)
    """
    word = re.sub(r"[\W\d_]+$", "", experiment)
    return function_meant(word) if word else None


def _filler(one: _Sentence, function: str) -> dict[str, str]:
    return {"item": one.item, "function": function_of(one.experiment) or function, "sentence": one.text}


def _joined(sets: ItemSets, rows: Sequence[Mapping[str, str]]) -> ItemSets:
    """Sets with fillers, each with a name that no set and no other filler has."""
    taken = set(sets.sets) | {row["item"] for row in sets.fillers}
    fillers = list(sets.fillers)
    for row in rows:
        name = f"{row['function'][0]}{row['item']}" if row["item"] in taken or row["item"].isdigit() else row["item"]
        number, free = 2, name
        while free in taken:
            number, free = number + 1, f"{name}-{number}"
        taken.add(free)
        fillers.append({**row, "item": free})
    return ItemSets(
        sets.source, sets.sets, sets.conditions, tuple(fillers), sets.wide, sets.sheet, sets.notes
    )  # fmt: skip


def _wide(path: Path, table: FileTable, sheet: str | None) -> ItemSets:
    """The sets of a sheet with one column per condition."""
    frame = table.frame
    item = "item" if "item" in frame.columns else own_name("item", frame.columns) or _named(frame.columns, ITEMS)
    if item is None:
        raise SetsError(
            f"{path.name}: which column numbers the sets? Name it item. There are: {', '.join(frame.columns)}."
        )
    conditions = [name for name in frame.columns if name != item and _is_condition(name, frame[name])]
    if len(conditions) < 2:
        raise SetsError(
            f"{path.name} has no two columns of sentences, one per condition. There are {', '.join(frame.columns)}."
        )
    problems = Problems()
    for name in (item, *conditions):
        for row in frame[name].is_null().arg_true().to_list():
            _, place, line = table.locate(row)
            problems.add("is empty", "Fill the cell, or delete the row.", column=name, place=place, number=line)
    for row in (frame[item].is_duplicated() & frame[item].is_not_null()).arg_true().to_list():
        _, place, line = table.locate(row)
        problems.add("is there twice", "Number every set once.", column=item, value=frame[item][row], place=place,
                     number=line)  # fmt: skip
    if problems:
        raise SetsError(f"{path.name} is not readable as item sets:", problems)
    sets = {row[item]: {name: row[name] for name in conditions} for row in frame.to_dicts()}
    readable = item == "item" or item == own_name("item", frame.columns, set(conditions))
    unused = [name for name in frame.columns if name not in (item, *conditions, *KNOWN)]
    notes = (f"Columns that are no conditions: {', '.join(unused)}.",) if unused else ()
    return ItemSets(path, sets, tuple(conditions), wide=readable, sheet=sheet, notes=notes)


def _is_condition(name: str, cells: pl.Series) -> bool:
    """Whether a column has the sentences of one condition: texts of several words, in most rows."""
    if name in KNOWN or plain(name) in (*BESIDE_SETS, *ITEMS, *KINDS) or name.startswith("unnamed_"):
        return False
    texts = cells.drop_nulls().to_list()
    long = sum(len(text.split()) > 2 or (len(text) > 5 and not text.isascii()) for text in texts)
    return bool(texts) and len(texts) >= 0.5 * len(cells) and long >= 0.8 * len(texts)


def _named(columns: Sequence[str], known: Sequence[str]) -> str | None:
    """The first column that has one of some names, whatever its case."""
    return next((name for name in columns if plain(name) in known), None)


def _bare(condition: str) -> str:
    """The name of a condition without the letter that numbers it.

    A letter is one where a bracket, a colon, a full stop or a dash follows it.
    """
    bracket = re.fullmatch(r"\s*\w{1,2}\s*[(\[](.+)[)\]]\s*", condition)
    if bracket:
        return bracket[1].strip()
    return re.sub(r"^\s*(?:[A-Za-z]|\d{1,2})\s*[).:–-]\s*(?=\S)", "", condition).strip()


def _value(part: str) -> str:
    """The level in "length=long"; else the whole."""
    return part.partition("=")[2].strip() or part.strip()


def _factor_names(levels: Sequence[Sequence[str]]) -> list[str]:
    """A name for each factor: as its levels state it, as such levels are usually called, else a number."""
    names: list[str] = []
    for number, own in enumerate(levels, start=1):
        stated = {level.partition("=")[0].strip() for level in own if "=" in level}
        usual = [name for name, known in LEVELS_OF.items() if all(level.lower() in known for level in own)]
        one = "condition" if len(levels) == 1 else f"factor_{number}"
        name = next(iter(stated)) if len(stated) == 1 else usual[0] if usual else one
        names.append(f"factor_{number}" if name in names else name)
    return names
