"""Item sets as labs keep them: a sheet with a column per condition, the item files of other tools, or their results.

Known are tables with one row per item set and one column per condition, also with a title above the header or a header
of two rows; tables with one row per item and condition, as PCIbex (`table.csv`) and L-Rex have them; files of Linger
and Turktools, in which a line `# experiment item condition` stands before each sentence; the lists that Turktools
uploads (`item_1_section`, ..., `field_1_1`); and the `items` of an Ibex script (`data_includes`).

Which factors cross in the conditions is guessed from their names: "a (that, short)", "that_long" or "comp=null/length=
long". What the names do not show, the researcher states.

Results hold the sets of a study that was run with another tool, if they hold the sentences: an item is one that was
judged, and its conditions are the columns by which its sentences differ. Choices hold two sentences per row, in columns
whose names differ in a side, such as `text_a` and `text_b`; if two other columns name the condition of each side, these
conditions are what was compared, and else every pair is a comparison of its own.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from itertools import combinations, product
from math import prod
from pathlib import Path
from statistics import median_low
from typing import TYPE_CHECKING

import polars as pl

from karat.errors import IntakeError, KaratError, Problems, ProblemsError, counted
from karat.judgments import Judgments
from karat.judgments.checks import places
from karat.judgments.columns import COLUMNS
from karat.judgments.scales import Nominal
from karat.judgments.tables import SPREADSHEETS, FileTable, delimiter_of, read_table, records, sheets_of
from karat.study.items import (
    COLUMN_NAMES,
    KNOWN,
    STATUSES,
    flaws,
    function_meant,
    like_functions,
    own_name,
    plain,
    table_file,
)
from karat.study.setting_base import meant

if TYPE_CHECKING:
    from karat.judgments.scales import Scale
    from karat.judgments.source import SourceFile

HEADER = re.compile(r"^#\s+(\S+)\s+(\S+)\s+(\S.*?)\s*$")
"""The line before a sentence: experiment, item, condition."""
LISTED = re.compile(r"item_(\d+)_(section|number|condition)|field_(\d+)_(\d+)")
BESIDE_SETS = (
    "note", "notes", "comment", "comments", "source", "translation", "gloss", "list", "group", "block", "question",
    "questions", "context", "kommentar", "anmerkung", "anmerkungen", "notiz", "übersetzung", "quelle", "frage",
    "kontext",
)  # fmt: skip
"""Columns of a sheet that hold sentences or words, but no condition."""
BESIDE_WORDS = ("comprehension", "attention", "verification", "verständnis")
"""Words of headers such as "Comprehension question", which are no conditions either."""
FILLER_SHEETS: Mapping[str, str] = {
    **dict.fromkeys(("filler", "distra", "füller", "füllsätze", "ablenker"), "filler"),
    **dict.fromkeys(("control", "kontroll"), "control"),
    **dict.fromkeys(("practice", "training", "warm", "übung"), "practice"),
    **dict.fromkeys(("catch", "attention", "aufmerksamkeit"), "attention"),
    **dict.fromkeys(("calibration", "kalibrier", "anchor"), "calibration"),
}
"""How the names of sheets beside the sets begin, and the function that their sentences have."""
CONDITIONS = ("condition", "cond", "conditions", "bedingung")
TEXTS = (
    "sentence", "sentences", "content", "text", "stimulus", "stimuli", "string", "satz", "item_text", "stim", "sent",
    "sätze",
)  # fmt: skip
ITEMS = (
    "item", "items", "set", "sets", "itemset", "nr", "no", "id", "number", "lexicalization", "lexicalisation", "token",
    *COLUMN_NAMES["item"],
)  # fmt: skip
KINDS = ("function", "type", "kind", "item_type", "trial_type", "experiment", "materials", "section")
LEVELS_OF: Mapping[str, Sequence[str]] = {
    "complementizer": ("that", "null", "zero", "no that", "without", "dass", "whether", "ohne", "ohne dass"),
    "length": ("short", "mid", "medium", "long", "kurz", "mittel", "lang"),
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
    between: tuple[str, ...] = ()
    """The factors of which each item has one level."""
    compared: str | None = None
    """The factor whose levels were shown side by side, in choices."""

    @property
    def lists(self) -> int:
        """How many lists show every item once in each of its conditions.

        >>> CrossedFactors({"length": ("short", "long"), "verb": ("a", "b", "c")}, {}, between=("verb",)).lists
        2
        """
        shown = [len(own) for name, own in self.levels.items() if name not in (*self.between, self.compared)]
        return prod(shown)

    def renamed(self, names: Sequence[str]) -> CrossedFactors:
        """The same factors under other names.

        >>> guess_factors(["short", "long"]).renamed(["size"]).levels
        {'size': ('short', 'long')}
        """
        if len(names) != len(self.levels) or not all(names) or len(set(names)) < len(names):
            raise SetsError(f"Give each of the {counted(len(self.levels), 'factor')} a name of its own.")
        new = dict(zip(self.levels, names, strict=True))
        return replace(
            self, levels={new[name]: own for name, own in self.levels.items()},
            between=tuple(new[name] for name in self.between), compared=new.get(self.compared or ""),
        )  # fmt: skip

    def with_compared(self, found: CrossedFactors) -> CrossedFactors:
        """The factors with the one that results compare, known by its levels.

        >>> found = CrossedFactors({"condition": ("OS", "SO")}, {}, compared="condition")
        >>> CrossedFactors({"order": ("SO", "OS")}, {}).with_compared(found).compared
        'order'
        """
        levels = set(found.levels.get(found.compared or "", ()))
        return replace(self, compared=next((name for name, own in self.levels.items() if set(own) == levels), None))


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
    beside: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    """What else is known of a sentence, such as its status, by set and condition."""
    scale: Scale | None = None
    """The scale on which the sentences were judged, where the sets come from results."""
    paired: bool = False
    """Whether a set is a pair of sentences that were shown together, and nothing says how they differ."""


def read_sets(path: str | Path, sheet: str | None = None, experiment: str | None = None) -> ItemSets:
    """Read item sets from any of the known files.

    Parameters
    ----------
    path
        A CSV file, a workbook or a text file.
    sheet
        The sheet of a workbook; by default the first with item sets.
    experiment
        Of a file with several experiments, the one to take.
    """
    path = Path(path)
    if not path.is_file():
        raise KaratError(f"There is no file {path}. Give a table of item sets: CSV, a spreadsheet or an Ibex file.")
    file = table_file(path)
    if file.suffix not in SPREADSHEETS:
        text = file.text()
        if any(HEADER.match(line) for line in text.splitlines()):
            return _sections(path, list(_marked(text.splitlines())), experiment)
        if path.suffix.lower() == ".js" or SCRIPT.search(text):
            return _sections(path, list(_scripted(path, text)), experiment)
    sheets = sheets_of(file)
    if sheet is not None and not sheets:
        raise SetsError(f"{path.name} is not a workbook, so it has no sheet {sheet}. Leave out the name of the sheet.")
    chosen = sheet or _sheet_of_sets(file, sheets)
    table, tidied = _tidied(file, chosen)
    if table.problems:
        raise SetsError(f"{path.name} is not readable as item sets:", flaws(table))
    if sum(bool(LISTED.fullmatch(name)) for name in table.frame.columns) > 3:
        return _sections(path, list(_listed(table.frame)), experiment)
    sets = _long(path, table, experiment) or _wide(path, table, chosen if len(sheets) > 1 else None)
    if tidied:
        sets = replace(sets, wide=False, notes=(*tidied, *sets.notes))
    beside = [name for name in sheets if name != chosen and _function_of_sheet(name) and _rows_of(file, name)]
    for name in beside:
        sets = with_fillers(sets, path, name)
    unread = [name for name in sheets if name not in (chosen, *beside) and _rows_of(file, name)]
    left = (f"Item sets are read from the sheet {chosen}. Sheets left out: {', '.join(unread)}.",) if unread else ()
    return replace(sets, notes=(*sets.notes, *left))


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
    own = sheet or next((name for name in sheets if _function_of_sheet(name)), None)
    table, _ = _tidied(file, own)
    if table.problems:
        raise SetsError(f"{path.name} is not readable as fillers:", flaws(table))
    frame = _with_first_sentence(table.frame)
    columns = frame.columns
    text = _text_column(frame)
    if text is None:
        where = f"{path.name}, sheet {own}" if own else path.name
        raise SetsError(f"{where}: which column has the fillers? Name it sentence. There are {', '.join(columns)}.")
    names, kind = _named(columns, ITEMS), _named(columns, KINDS)
    usual = (_function_of_sheet(own) if own else None) or "filler"
    rows = []
    for number, row in enumerate(frame.to_dicts(), start=1):
        if row[text] is None:
            continue
        function = function_meant(row.get(kind or "") or "") or usual
        kept = {name: row[name] for name in columns if name in KNOWN and row[name] and name not in (names, kind, text)}
        rows.append({"item": row.get(names or "") or str(number), "function": function, "sentence": row[text], **kept})
    return _joined(sets, rows)


SEPARATORS = (
    r"\s*[,;/|×]\s*", r"(?<=\w)\s*\+\s*(?=\w)", r"[_.]", r"(?<=\w)\s*[-–:]\s*(?=\w)", r"\s+", r"(?<=[a-zß-ÿ])(?=[A-Z])",
    r"(?<=[A-Za-z])(?=\d)",
)  # fmt: skip
"""What stands between the levels in the name of a condition: a sign, a blank, a capital letter or a digit."""


def guess_factors(conditions: Sequence[str]) -> CrossedFactors:
    """The factors that cross in conditions, from their names; a single factor where these show nothing else.

    >>> guess_factors(["a (that, short)", "b (that, long)", "c (null, short)", "d (null, long)"]).levels
    {'complementizer': ('that', 'null'), 'length': ('short', 'long')}
    >>> guess_factors(["a", "b", "c"]).levels
    {'condition': ('a', 'b', 'c')}
    """
    for separator in SEPARATORS:
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
    bare = [_value(_bare(name)) for name in conditions]
    levels_alone = bare if len(set(bare)) == len(bare) else list(conditions)
    cells = {name: (level,) for name, level in zip(conditions, levels_alone, strict=True)}
    shown = all(_bare(name) != name for name in conditions)
    return CrossedFactors({_factor_names([list(conditions)])[0]: tuple(levels_alone)}, cells, shown)


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


TEXT = "_text"
NO_LEVEL = "none"
KEPT = ("subgroup", "status", "pair", "context", "gloss", "expected")
"""What results may say of a sentence and an item table takes over."""


def sets_from_results(
    judgments: Judgments, source: str | Path, sentence: str | None = None
) -> tuple[ItemSets, CrossedFactors]:
    """The item sets that results of any tool hold, with their factors: what a new study with the same items needs.

    Parameters
    ----------
    judgments
        The results, as `karat.read` gives them.
    source
        The file that they come from; the study is named after it.
    sentence
        The column with the sentences. Without it, the column is found by its name or by its texts.

    Returns
    -------
    The sentences of the test items by item and condition, those of all other items as fillers, and the factors. A
    factor of which every item has one level is between items.

    >>> import karat
    >>> path = getfixture("tmp_path") / "results.csv"
    >>> rows = [f"{who},{item},{order},{item} {order} was seen,{who + item}" for who in (1, 2, 3)
    ...         for item in (1, 2, 3, 4) for order in ("SO", "OS")]
    >>> _ = path.write_text("\\n".join(["participant,item,order,sentence,rating", *rows]))
    >>> sets, factors = sets_from_results(karat.read(path, scale="ordinal:1-7"), path)
    >>> sets.sets["1"], factors.levels
    ({'OS': '1 OS was seen', 'SO': '1 SO was seen'}, {'order': ('OS', 'SO')})
    """
    path = Path(source)
    sides = _sides(judgments, path.name, sentence)
    if sides is not None:
        return _sets_of_choices(judgments, path, sides)
    text = _sentence_column(judgments.frame, path.name, sentence)
    frame = judgments.frame.with_columns(_plain_texts(judgments.frame[text]).alias(TEXT))
    frame = frame.filter(pl.col(TEXT).is_not_null())
    if _are_sentences(frame["item"].unique()):
        frame = frame.with_columns(_items_behind(frame))
        judgments = Judgments(frame.drop(TEXT), judgments.scales, judgments.participants)
    test, others = frame.filter(pl.col("function") == "test"), frame.filter(pl.col("function") != "test")
    if not test.height:
        raise SetsError(f"{path.name} has no test items. Use --item-functions with karat convert to name them.")
    notes = [] if sentence or text == "item" else [f"The sentences are those of the column {text}."]
    if len(judgments.scales) > 1:
        asked = next(iter(judgments.scales))
        notes.append(f"There are {len(judgments.scales)} questions; the scale is that of the first, {asked}.")
    names = _factor_columns(judgments, test, text, path.name)
    if not _decide(test, names):
        notes.append(
            f"An item has {_wordings(test):.0f} sentences on average, and no column says how they differ. The first of "
            "each item is taken."
        )
    test = test.with_columns(pl.col(name).cast(pl.String).fill_null(NO_LEVEL) for name in names)
    factors = _crossed(test, names)
    test = test.with_columns(_condition(test, names).alias("_condition"))
    sets, beside = _sets_of(test)
    lacking = sum(len(own) < factors.lists for own in sets.values())
    if lacking:
        notes.append(f"{counted(lacking, 'item')} of {len(sets)} lack a sentence in some condition.")
    found = ItemSets(
        path, sets, tuple(factors.cells), notes=tuple(notes), beside=beside, scale=next(iter(judgments.scales.values()))
    )
    return _joined(found, _other_rows(others)), factors


SIDES = (("left", "right"), ("a", "b"), ("1", "2"), ("first", "second"), ("top", "bottom"), ("above", "below"))
"""What the two sentences of a choice are called."""
SIDE_TIES = ("tie", "none", "neither", "both", "same", "equal", "draw")
CONTEXTS = ("context", "prompt", "preamble")
MOST_COMPARED = 6
"""A factor that is compared has few levels; more names are those of the sentences."""
LEVEL = "_level"


def _words(name: str) -> tuple[str, ...]:
    """The words of a name: text_a, textA and "text a" are two.

    >>> _words("textA"), _words("sentence_2")
    (('text', 'a'), ('sentence', '2'))
    """
    return tuple(word.lower() for word in re.findall(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+", name))


def _column_pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Columns whose names differ in a side only; the second may be numbered alone.

    >>> _column_pairs(["item", "text_a", "text_b", "sentence", "sentence_2"])
    [('text_a', 'text_b'), ('sentence', 'sentence_2')]
    """
    known = {_words(name): name for name in names}
    found = []
    for words, name in known.items():
        partners = [(*words[:place], other, *words[place + 1 :]) for one, other in SIDES
                    for place, word in enumerate(words) if word == one]  # fmt: skip
        partners += [(*words, "2")] if (*words, "1") not in known else []
        found += [(name, known[partner]) for partner in partners if partner in known][:1]
    return found


def _name_sides(levels: Sequence[str]) -> bool:
    """Whether answers name one of two sides each, or a tie.

    >>> _name_sides(["a_winner", "b_winner", "tie"]), _name_sides(["yes", "no"])
    (True, False)
    """
    chosen = [level for level in map(_words, levels) if not set(level) & set(SIDE_TIES)]
    return len(chosen) == 2 and any(
        (one in chosen[0] and other in chosen[1]) or (other in chosen[0] and one in chosen[1]) for one, other in SIDES
    )


def _sides(judgments: Judgments, file: str, sentence: str | None) -> tuple[str, str] | None:
    """The columns with the two sentences of each choice; None where sentences were judged one at a time."""
    scale, frame = next(iter(judgments.scales.values())), judgments.frame
    if scale.kind != "choice" and not _name_sides(getattr(scale, "levels", ())):
        return None
    pairs = [
        pair for pair in _column_pairs(frame.columns)
        if all(frame.schema[name] == pl.String and _are_sentences(_plain_texts(frame[name].unique())) for name in pair)
        and (sentence is None or sentence in pair)
    ]  # fmt: skip
    if pairs:
        return pairs[0]
    if scale.kind != "choice" or sentence is not None:
        return None
    raise SetsError(
        f"{file} says which of two was chosen, but holds no sentences: no two columns have texts of several words and "
        f"names that differ in a side, such as text_a and text_b. There are: {', '.join(frame.columns)}. Add the "
        "sentences, or make the study from your table of pairs with --from-pairs FILE."
    )


def _sets_of_choices(judgments: Judgments, path: Path, sides: tuple[str, str]) -> tuple[ItemSets, CrossedFactors]:
    """The sets of choices: by the conditions that were compared where columns name them, else pair by pair."""
    frame = judgments.frame.with_columns(_plain_texts(judgments.frame[name]).alias(name) for name in sides)
    frame = frame.filter(pl.col(sides[0]).is_not_null(), pl.col(sides[1]).is_not_null())
    if not (frame["function"] == "test").any():
        raise SetsError(f"{path.name} has no test items. Use --item-functions with karat convert to name them.")
    context = next((name for name in frame.columns if _words(name)[-1:] and _words(name)[-1] in CONTEXTS), None)
    if context is not None and frame.schema[context] == pl.String:
        frame = frame.with_columns(_plain_texts(frame[context]).alias("context"))
    scale = next(iter(judgments.scales.values()))
    notes = [f"The two sentences of a choice are those of the columns {sides[0]} and {sides[1]}."]
    compared = _compared(frame, sides)
    found = None if compared is None else _by_condition(judgments, frame, sides, compared, path.name)
    if found is None:
        notes.append(
            f"No two columns with {MOST_COMPARED} levels at most say in which conditions the sentences of a choice "
            "are, so each pair is a comparison of its own. To compare conditions, add columns such as condition_a and "
            "condition_b."
            if compared is None else
            f"The conditions in {compared[0]} and {compared[1]} do not cross with the items, so each pair is a "
            "comparison of its own."
        )  # fmt: skip
    pairs = _shown_pairs(frame, sides, scale)
    others = [row for row in pairs if row["function"] != "test"]
    if found is not None:
        sets, factors = found
        made = ItemSets(path, sets, tuple(factors.cells), notes=tuple(notes), scale=scale)
        return _joined(made, others), factors
    rows = {row["item"]: row for row in pairs if row["function"] == "test"}
    beside = {
        (name, side): {key: row[key] for key in ("subgroup", "context") if key in row} | status
        for name, row in rows.items() for side, status in zip("ab", _statuses(row.get("expected")), strict=True)
    }  # fmt: skip
    made = ItemSets(
        path, {name: {"a": row["sentence"], "b": row["sentence_2"]} for name, row in rows.items()}, ("a", "b"),
        notes=tuple(notes), beside=beside, scale=scale, paired=True,
    )  # fmt: skip
    return _joined(made, others), CrossedFactors({}, {"a": (), "b": ()})


def _statuses(better: str | None) -> tuple[dict[str, str], dict[str, str]]:
    """The status of the two sentences of a pair, where results say which is the better one."""
    if better is None:
        return {}, {}
    words = ("grammatical", "marked") if better == "1" else ("marked", "grammatical")
    return {"status": words[0]}, {"status": words[1]}


def _compared(frame: pl.DataFrame, sides: tuple[str, str]) -> tuple[str, str] | None:
    """The two columns that name the condition of each side: few levels, never the same on both sides."""
    test = frame.filter(pl.col("function") == "test")
    for one, other in _column_pairs(frame.columns):
        if one in sides or test[one].null_count() or test[other].null_count():
            continue
        levels = [_level(test, name) for name in (one, other)]
        known = set(levels[0]) | set(levels[1])
        if 2 <= len(known) <= MOST_COMPARED and not (levels[0] == levels[1]).any():
            return one, other
    return None


def _level(frame: pl.DataFrame, column: str) -> pl.Series:
    """The condition on a side; karat itself writes the item before it."""
    return frame.select(pl.col(column).cast(pl.String).str.strip_prefix(pl.col("item") + ".")).to_series()


def _by_condition(
    judgments: Judgments, frame: pl.DataFrame, sides: tuple[str, str], compared: tuple[str, str], file: str
) -> tuple[dict[str, dict[str, str]], CrossedFactors] | None:
    """The sentences of choices by item and condition; None where an item has several in one condition."""
    test = frame.filter(pl.col("function") == "test")
    aside = {*sides, *compared, "left", "right", "context", "expected"}
    alone = test.drop(aside & set(test.columns))
    answers = Nominal(tuple(alone["response"].drop_nulls().unique().to_list()) or ("left", "right"))
    others = [name for name in Judgments(alone, answers, judgments.participants).factors() if name in test.columns]
    halves = [
        test.with_columns(pl.col(text).alias(TEXT), _level(test, column).alias(LEVEL))
        for text, column in zip(sides, compared, strict=True)
    ]  # fmt: skip
    long = pl.concat(halves)
    shared = [word for word in _words(compared[0]) if word not in {one for pair in SIDES for one in pair}]
    levels = sorted(long[LEVEL].unique().to_list(), key=_natural)
    name = "_".join(shared) if shared and shared[-1] not in CONDITIONS else _factor_names([levels])[0]
    if name in COLUMNS or name in long.columns:
        name = "compared"
    long = long.with_columns(
        pl.col(LEVEL).alias(name), *(pl.col(o).cast(pl.String).fill_null(NO_LEVEL) for o in others)
    )
    names = [name, *others]
    if not _decide(long, names):
        return None
    factors = _crossed(long, names)
    if name not in factors.levels or name in factors.between:
        return None
    sets, _ = _sets_of(long.with_columns(_condition(long, names).alias("_condition")))
    return sets, replace(factors, compared=name)


RIGHT_SIDES = {"left": "1", "right": "2", "none": ""}
"""The right answers of results as item tables spell them; they have none for no difference."""


def _shown_pairs(frame: pl.DataFrame, sides: tuple[str, str], scale: Scale) -> list[dict[str, str]]:
    """The pairs of sentences, each once, as rows of an item table: a name, two sentences and which is expected."""
    kept = [name for name in ("subgroup", "context", "expected") if name in frame.columns]
    rows = frame.select("item", "function", *sides, *kept).unique(maintain_order=True)
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows.to_dicts():
        texts = row.pop(sides[0]), row.pop(sides[1])
        right = row.pop("expected", None)
        made = {name: cell for name, cell in row.items() if cell is not None}
        made |= {"sentence": texts[0], "sentence_2": texts[1]}
        if scale.kind == "choice" and right is not None:
            better = [number for side, number in RIGHT_SIDES.items() if side in scale.expected(right)]
            made |= {"expected": better[0]} if len(better) == 1 and better[0] else {}
        found.setdefault((row["function"], *sorted(texts)), made)
    named = [row["item"] for row in found.values()]
    if len(set(named)) < len(named) or any(":" in name or " " in name for name in named):
        width = len(str(len(named)))
        return [{**row, "item": f"{place:0{width}}"} for place, row in enumerate(found.values(), start=1)]
    return sorted(found.values(), key=lambda row: _natural(row["item"]))


def _plain_texts(texts: pl.Series) -> pl.Series:
    """Texts without the tags, entities and line breaks of a web page, and out of a JSON list."""
    spelled = {
        one: " ".join(unescape(re.sub(r"</?[a-zA-Z][^<>]*>", " ", _unlisted(one))).split()) or None
        for one in texts.drop_nulls().unique().to_list()
    }
    return texts.replace_strict(spelled, default=None, return_dtype=pl.String)


def _unlisted(text: str) -> str:
    """The texts of a JSON list, one after the other; else the text as it is.

    >>> _unlisted('["It rained.", "It snowed."]'), _unlisted("[sic]")
    ('It rained. It snowed.', '[sic]')
    """
    try:
        parts = json.loads(text) if text.startswith('["') else None
    except ValueError:
        return text
    return " ".join(map(str, parts)) if isinstance(parts, list) else text


def _items_behind(frame: pl.DataFrame) -> pl.Series:
    """The items of results in which every sentence was taken for an item: those of a column that numbers sets.

    Where there is none, sentences are numbered in the order in which they come.
    """
    test = frame.filter(pl.col("function") == "test")
    for name in frame.columns:
        if name != "item" and plain(name).strip("_ ") in ITEMS and frame[name].null_count() == 0:
            sentences, pairs = test[TEXT].n_unique(), test.select(name, TEXT).n_unique()
            if test[name].n_unique() < sentences == pairs:
                return frame[name].cast(pl.String).alias("item")
    known = frame["item"].unique(maintain_order=True).to_list()
    width = len(str(len(known)))
    return frame["item"].replace_strict({name: f"{number:0{width}}" for number, name in enumerate(known, start=1)})


def _sentence_column(frame: pl.DataFrame, file: str, stated: str | None) -> str:
    """The column of results that has the sentences."""
    if stated is not None:
        if stated not in frame.columns or frame.schema[stated] != pl.String:
            raise SetsError(f"{file} has no column {stated} of texts. {meant(stated, frame.columns)}")
        return stated
    own = ("participant", "response", "function", "expected", "subgroup", "status", "question")
    texts = {
        name: _plain_texts(frame[name].unique()) for name in frame.columns
        if frame.schema[name] == pl.String and name not in own and plain(name) not in BESIDE_SETS
    }  # fmt: skip
    words = {name: plain(re.split(r"[. ]", name)[-1]) for name in texts}
    named = [name for name, cells in texts.items() if words[name] in TEXTS and _are_sentences(cells, more_than=1)]
    long = [name for name, cells in texts.items() if _are_sentences(cells)]
    # Of columns with other names, the item itself comes last: beside it there may be the sentence in each condition.
    found = [
        *sorted(named, key=lambda name: TEXTS.index(words[name])),
        *(name for name in long if name not in COLUMNS), *(name for name in long if name == "item"),
    ]  # fmt: skip
    if not found:
        raise SetsError(
            f"{file} holds no sentences: no column has texts of several words. There are: {', '.join(frame.columns)}. "
            "Name the column with --sentence NAME, or make the study from your item table with --from-sets FILE."
        )
    return found[0]


def _factor_columns(judgments: Judgments, test: pl.DataFrame, text: str, file: str) -> list[str]:
    """The columns by which the sentences of an item differ; where they do not, those that describe the items."""
    known = [name for name in judgments.factors() if name != text]
    if _decide(test, known):
        return known
    free = [
        name for name in test.columns
        if name not in (*COLUMNS, text, TEXT) and test.schema[name] in (pl.String, pl.Int64, pl.Boolean)
        and _decide(test, [name]) and not _follows(test, name)
    ]  # fmt: skip
    if not free and _wordings(test) > MOST_WORDINGS:
        return known
    if not free:
        several = min(test.group_by("item").agg(pl.col(TEXT).n_unique()).filter(pl.col(TEXT) > 1)["item"].to_list())
        raise SetsError(
            f"{file}: the item {several} has several sentences, and no column says in which condition each is. "
            "Name such a column condition, or use --map item=COLUMN if each sentence is an item."
        )
    return [min(free, key=lambda name: (plain(name) not in CONDITIONS, test[name].n_unique()))]


MOST_WORDINGS = 6
"""With more sentences per item on average, these are wordings of one sentence, such as with other names."""


def _wordings(test: pl.DataFrame) -> float:
    """How many sentences an item has on average."""
    return test.select("item", TEXT).n_unique() / max(test["item"].n_unique(), 1)


def _follows(test: pl.DataFrame, name: str) -> bool:
    """Whether a column describes participants, or is the sentence in other words: no condition of a design."""
    people = test["participant"].n_unique()
    return (people > 1 and test.select("participant", name).n_unique() == people) or (
        test[name].n_unique() >= test[TEXT].n_unique() > 2
    )


def _decide(test: pl.DataFrame, names: list[str]) -> bool:
    """Whether an item has one sentence where these columns have their levels."""
    return test.select("item", *names).n_unique() == test.select("item", *names, TEXT).n_unique()


def _crossed(test: pl.DataFrame, names: list[str]) -> CrossedFactors:
    """The factors in columns of results; columns that do not cross are one factor."""
    items = test["item"].n_unique()
    between = tuple(name for name in names if test.select("item", name).n_unique() == items)
    cells = sorted(test.select(names).unique().rows(), key=lambda cell: tuple(map(_natural, cell))) if names else [()]
    levels = {name: tuple(sorted(test[name].unique().to_list(), key=_natural)) for name in names}
    conditions = {", ".join(cell): cell for cell in cells}
    guess = guess_factors(list(conditions)) if len(names) == 1 and not between else None
    if guess is not None and len(guess.levels) > 1:
        return guess
    within = [name for name in names if name not in between]
    if prod(len(levels[name]) for name in within) > (test.select(within).n_unique() if within else 1):
        return CrossedFactors({"condition": tuple(conditions)}, {name: (name,) for name in conditions})
    return CrossedFactors(levels, conditions, between=between)


def _condition(test: pl.DataFrame, names: list[str]) -> pl.Expr:
    return pl.concat_str(names, separator=", ") if names else pl.lit("")


def _sets_of(
    test: pl.DataFrame,
) -> tuple[dict[str, dict[str, str]], dict[tuple[str, str], dict[str, str]]]:
    """For each item its sentences by condition, and what else is known of each."""
    sets: dict[str, dict[str, str]] = {}
    beside: dict[tuple[str, str], dict[str, str]] = {}
    kept = [name for name in KEPT if name in test.columns]
    rows = test.select("item", "_condition", TEXT, *kept).unique(["item", "_condition"], keep="first")
    for row in sorted(rows.to_dicts(), key=lambda row: (_natural(row["item"]), _natural(row["_condition"]))):
        sets.setdefault(row["item"], {})[row["_condition"]] = row[TEXT]
        beside[row["item"], row["_condition"]] = {name: row[name] for name in kept if row[name] is not None}
    return sets, beside


def _other_rows(others: pl.DataFrame) -> list[dict[str, str]]:
    """The items that are not test items, each sentence once."""
    kept = ["item", "function", *(name for name in KEPT if name in others.columns)]
    rows = others.select(*kept, sentence=TEXT).unique(["item", "function", "sentence"], keep="first").to_dicts()
    rows.sort(key=lambda row: (row["function"], _natural(row["item"]), row["sentence"]))
    return [{name: cell for name, cell in row.items() if cell is not None} for row in rows]


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    """Orders names with numbers in them as people do: s2 before s10."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in re.findall(r"\d+|\D+", name))


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


MOST_LEVELS = 6
UNNAMEABLE = re.compile(r"[,;/|×+=]")
"""Signs that part the levels in the name of a condition."""
LONG_KEPT = ("subgroup", "status", "context", "gloss")


SCRIPT = re.compile(r"^\s*(?:(?:var|let|const)\s+)?items\s*=\s*(?=\[)", re.MULTILINE)
"""Where the items of an Ibex script begin."""
TOKEN = re.compile(
    r"""\s+ | //[^\n]* | /\*.*?\*/ | (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*') | (?P<sign>[\[\]{}(),:])
    | (?<=[(,=:])/(?:\\.|[^/\n\\])+/\w* | (?P<bare>[^\s\[\]{}(),:"'/]+|.)""",
    re.DOTALL | re.VERBOSE,
)
NUMBERED = re.compile(r"(.*?)[-_. ]*(\d+)[-_. ]*(\D.*)")
"""A label with the number of a set in it, before the condition: rc1-long."""


def _scripted(path: Path, text: str) -> Iterator[_Sentence]:
    """The sentences in the items of an Ibex script: `[["island-long", 1], "AcceptabilityJudgment", {s: "..."}]`.

    The group is the item, and what the labels of a group have in common is the experiment. An item without a group is
    a filler, unless its label has the number of a set in it.
    """
    start = SCRIPT.search(text)
    if start is None:
        raise SetsError(f"{path.name} is a script without items. Give the one that has a line: var items = [")
    sets: dict[str, list[tuple[list[str], str]]] = {}
    alone: list[tuple[str, str]] = []
    for label, group, sentence in _script_items(text[start.end() :]):
        numbered = NUMBERED.fullmatch(label) if group is None and _is_test(re.split(r"[-_. ]", label)[0]) else None
        item, name = (numbered[2], f"{numbered[1]}-{numbered[3]}") if numbered else (group, label)
        if item is None:
            alone.append((label, sentence))
        else:
            parts = [part for part in re.split(r"[-_. ]+", name) if part and part != item]
            sets.setdefault(item, []).append((parts, sentence))
    for item, rows in sets.items():
        places_alike = [len(set(parts)) == 1 for parts in zip(*(parts for parts, _ in rows), strict=False)]
        common = next((place for place, alike in enumerate(places_alike) if not alike), len(places_alike))
        for number, (parts, sentence) in enumerate(rows, start=1):
            yield _Sentence("-".join(parts[:common]), item, "-".join(parts[common:]) or str(number), [sentence])
    for number, (label, sentence) in enumerate(alone, start=1):
        yield _Sentence(re.split(r"[-_. ]", label)[0], str(number), "-", [sentence])


def _script_items(script: str) -> Iterator[tuple[str, str | None, str]]:
    """Label, group and sentence of each item that shows a sentence."""
    tokens = (found for found in TOKEN.finditer(script) if found.lastgroup)
    whole = _literal(next(tokens, None), tokens)
    for one in whole if isinstance(whole, list) else []:
        if not isinstance(one, list) or not one:
            continue
        label, group = (one[0], None) if not isinstance(one[0], list) else (*one[0], None)[:2]
        shown = next((part["s"] for part in one if isinstance(part, dict) and "s" in part), None)
        shown = shown.get("html") if isinstance(shown, dict) else shown
        if isinstance(label, str) and isinstance(shown, str):
            number = group[0] if isinstance(group, list) and group else group
            yield label, None if number in (None, "null") else str(number), unescape(re.sub(r"<[^>]+>", "", shown))


Literal = str | list["Literal"] | dict[str, "Literal"]


def _literal(token: re.Match[str] | None, tokens: Iterator[re.Match[str]]) -> Literal:
    """A value of a script: text, a list or an object; what else there may be is its first word."""
    if token is None:
        return ""
    if token[0] == "[":
        return [value for _, value in _members(tokens)]
    if token[0] == "{":
        return {name: value for name, value in _members(tokens) if isinstance(name, str)}
    return _script_text(token[0]) if token.lastgroup == "text" else token[0]


def _members(tokens: Iterator[re.Match[str]]) -> Iterator[tuple[Literal | None, Literal]]:
    """The members of a list or an object up to its end, each with its name where it has one."""
    name: Literal | None = None
    value: Literal | None = None
    for token in tokens:
        if token[0] in ("]", "}", ","):
            if value is not None:
                yield name, value
            name = value = None
            if token[0] != ",":
                return
        elif token[0] == ":":
            name, value = value, None
        elif token[0] == "(":
            list(_arguments(tokens))
        else:
            further = _literal(token, tokens)
            joined = isinstance(value, str) and isinstance(further, str) and token.lastgroup == "text"
            value = f"{value}{further}" if joined else further if value is None else value


def _arguments(tokens: Iterator[re.Match[str]]) -> Iterator[None]:
    """What stands in brackets after a word, such as the arguments of a function."""
    open_ = 1
    for token in tokens:
        open_ += (token[0] == "(") - (token[0] == ")")
        if not open_:
            return
        yield None


def _script_text(token: str) -> str:
    """The text that a script has in quotation marks.

    >>> _script_text(r"'It \\'rained\\' \\u201cthen\\u201d.'")
    "It 'rained' “then”."
    """
    signs = {"n": " ", "t": " ", "\n": ""}
    return re.sub(r"\\(u[0-9a-fA-F]{4}|.)", lambda found: chr(int(found[1][1:], 16)) if len(found[1]) > 1
                  else signs.get(found[1], found[1]), token[1:-1], flags=re.DOTALL)  # fmt: skip


def _long(path: Path, table: FileTable, experiment: str | None) -> ItemSets | None:
    """The sets of a table with one row per item and condition; None where there is a row per set.

    The number of a set may stand in its first row alone, as in a sheet with merged cells.
    """
    text = _text_column(table.frame)
    item = _named(table.frame.columns, ITEMS)
    condition = _named(table.frame.columns, CONDITIONS)
    if text is None or (item is None and condition is None):
        return None
    if item is None:
        raise SetsError(
            f"{path.name}: which column has the item numbers? Name it item. There are {', '.join(table.frame.columns)}."
        )
    frame = _with_letters(table.frame.with_columns(pl.col(item).forward_fill()), item, condition)
    condition = condition or _named(frame.columns, CONDITIONS)
    if condition is None and not frame[item].is_duplicated().any():
        return None
    empty = frame[text].is_null().arg_true().to_list()
    notes = []
    if empty:
        _, place, line = table.locate(empty[0])
        notes.append(f"{counted(len(empty), 'row')} without a sentence left out, the first in {place} {line}.")
    frame = frame.filter(pl.col(text).is_not_null() & pl.col(item).is_not_null())
    kind = _kind_column(frame, item, text)
    test = frame if kind is None else frame.filter(
        pl.col(kind).is_null() | pl.col(kind).map_elements(_is_test, return_dtype=pl.Boolean)
    )  # fmt: skip
    names = _condition_columns(path, test, item, text, condition, kind)
    used = {item, text, kind, condition, *names}
    kept = [name for name in LONG_KEPT if name in frame.columns and name not in used]
    unused = [name for name in frame.columns if name not in {*used, *kept} and not name.startswith("unnamed_")]
    if unused:
        notes.append(f"Columns left out: {', '.join(unused)}.")
    sets = _sections(path, list(_rows(frame, item, text, kind, names)), experiment)
    beside: dict[tuple[str, str], dict[str, str]] = {}
    for row in frame.to_dicts():
        key = row[item], _cell(row, names)
        if key[1] in sets.sets.get(key[0], {}):
            beside.setdefault(key, {name: row[name] for name in kept if row[name]})
    return replace(sets, notes=(*notes, *sets.notes), beside=beside)


LETTERED = r"^(.*\d)[-_. ]?([A-Za-z])$"


def _with_letters(frame: pl.DataFrame, item: str, condition: str | None) -> pl.DataFrame:
    """Names such as 12a parted into the number of a set and its condition, where names share a number."""
    number, letter = (pl.col(item).str.extract(LETTERED, group) for group in (1, 2))
    parts = frame.select(number=number, letter=letter).drop_nulls()
    if frame[item].is_duplicated().any() or parts["number"].n_unique() * 2 > parts.height or not parts.height:
        return frame
    named = [] if condition else [letter.fill_null("").alias("condition")]
    return frame.with_columns(number.fill_null(pl.col(item)), *named)


def _is_test(kind: str) -> bool:
    return function_of(kind) in (None, "test")


def _kind_column(frame: pl.DataFrame, item: str, text: str) -> str | None:
    """The column that parts test items from the others: one of functions, or of experiments with items of their own."""
    for name in filter(None, (_named(frame.columns, [known]) for known in KINDS)):
        words = frame[name].drop_nulls().unique().to_list()
        apart = frame.select(item, name).n_unique() == frame[item].n_unique()
        if words and (apart or all(function_of(word) for word in words)):
            return name
    return like_functions(frame, [item, text])


def _condition_columns(
    path: Path, test: pl.DataFrame, item: str, text: str, condition: str | None, kind: str | None
) -> list[str]:
    """The columns of the factors: those that cross in the conditions, else the one that names these."""
    told_apart = condition or text
    items, whole = test[item].n_unique(), test.select(item, told_apart).n_unique()
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
            f"column condition. There are {', '.join(test.columns)}."
        )
    return [min(single, key=lambda name: test[name].n_unique())]


def _cell(row: Mapping[str, str | None], names: Sequence[str]) -> str:
    """The name of the condition of a row, or each level with its factor."""
    if plain(names[0]) in CONDITIONS:
        return row[names[0]] or ""
    return ", ".join(f"{name}={row[name]}" for name in names) if all(row[name] for name in names) else ""


def _rows(frame: pl.DataFrame, item: str, text: str, kind: str | None, names: Sequence[str]) -> Iterable[_Sentence]:
    """The sentences of a table with one row per item and condition."""
    rows = [(row, _cell(row, names)) for row in frame.to_dicts()]
    single = Counter(number for number, _ in {(row[item], cell) for row, cell in rows})
    for row, cell in rows:
        # Without a column of functions, the condition of an item that has no other may be one: filler.
        own = cell if kind is None and single[row[item]] == 1 and not _is_test(cell) else ""
        yield _Sentence((row[kind] or "") if kind else own, row[item], cell, [row[text]])


GridRow = tuple[int, list[str | None]]
"""The number of a row in its file, and its cells."""


def _tidied(file: SourceFile, sheet: str | None) -> tuple[FileTable, tuple[str, ...]]:
    """A table without what people write around one: a title above it, a header of two rows, notes below it.

    With it comes what was left out or put together; nothing where the table is as it should be.
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
    """All rows of a file that are not blank, the header among them."""
    if file.suffix not in SPREADSHEETS:
        found = records(file.text(), table.delimiter or delimiter_of(file.sample), file.name)
        return [(one.line, [cell.strip() or None for cell in one.cells]) for one in found if any(one.cells)]
    header = [None if name.startswith("unnamed_") else name for name in table.frame.columns]
    return [(1, header), *((table.locate(n)[2], list(cells)) for n, cells in enumerate(table.frame.iter_rows()))]


def _header(rows: Sequence[GridRow], first: int) -> tuple[list[str | None], int]:
    """The names of the columns, and where the rows below them begin; `first` is the first row as full as most."""
    cells = rows[first][1]
    below = rows[first + 1][1] if first + 1 < len(rows) else []
    number = next(place for place, cell in enumerate(cells) if cell)
    short = [cell for cell in below if cell and len(cell.split()) < 5]
    if len(below) == len(cells) and below[number] is None and len(short) == sum(map(bool, below)) > 1:
        return _joined_header(cells, below), first + 2
    named = [cell for cell in cells if cell]
    if first > 0 and len(rows[first - 1][1]) == len(cells) and len(set(named)) < len(named):
        return _joined_header(rows[first - 1][1], cells), first + 1
    return cells, first + 1


def _joined_header(top: Sequence[str | None], below: Sequence[str | None]) -> list[str | None]:
    """Names from two rows, of which the upper has a name once for all columns that it spans.

    >>> _joined_header(["Nr", "island", None, "Note"], [None, "short", "long", None])
    ['Nr', 'island, short', 'island, long', 'Note']
    """
    names: list[str | None] = []
    spanning = None
    for upper, lower in zip(top, below, strict=True):
        spanning = upper or (spanning if lower else None)
        names.append(", ".join(filter(None, (spanning, lower))) or None)
    return names


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
        rows = [_filler(one, function) for one in sentences if one.experiment == name]
        fillers += list({tuple(row.items()): row for row in rows}.values())  # a table with lists has each of them often
    if any(line.startswith("?") for one in sentences for line in one.lines):
        notes.append("Questions after sentences (lines that begin with ?) were left out.")
    if any(sum(not line.startswith("?") for line in one.lines) > 1 for one in sentences):
        notes.append("Several lines below a line with # were joined to one sentence.")
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
    return replace(sets, fillers=tuple(fillers))


def _wide(path: Path, table: FileTable, sheet: str | None) -> ItemSets:
    """The sets of a sheet with one column per condition; a filler among them has a sentence in one of these."""
    where = f"{path.name}, sheet {sheet}" if sheet else path.name
    table, item, numbering = _item_column(table, where)
    columns = table.frame.columns
    kind = _kind_column(table.frame, item, "")
    frame, others = _fillers_apart(table.frame.with_row_index(ROW), kind)
    conditions = _condition_names(frame, item)
    if len(conditions) < 2:
        raise SetsError(
            f"{where} has no two columns of sentences, one per condition. There are {', '.join(columns)}. Give each "
            "condition a column, or each sentence a row with its item and condition."
        )
    if sum(map(_is_sentence, conditions)) == len(conditions):
        raise SetsError(f"{where} begins with sentences. Put a row above them that names the columns.")
    problems = Problems()
    for name in conditions:
        for row, cell in frame.filter(pl.col(name).str.contains(r"^[\d.,\s%]+$")).select(ROW, name).rows():
            _, place, line = table.locate(row)
            fix = "Write the sentence, or delete the row."
            problems.add("is a number", fix, column=name, value=cell, place=place, number=line)
    for name in (item, *conditions):
        for row in frame.filter(pl.col(name).is_null())[ROW].to_list():
            _, place, line = table.locate(row)
            problems.add("is empty", "Fill the cell, or delete the row.", column=name, place=place, number=line)
    for row, value in frame.filter(pl.col(item).is_duplicated() & pl.col(item).is_not_null()).select(ROW, item).rows():
        _, place, line = table.locate(row)
        problems.add("occurs twice", "Number every set once.", column=item, value=value, place=place, number=line)
    if problems:
        raise SetsError(f"{where} is not readable as item sets:", problems)
    sets = {row[item]: {name: row[name] for name in conditions} for row in frame.to_dicts()}
    readable = (
        not numbering and others.is_empty() and (item == "item" or item == own_name("item", columns, set(conditions)))
    )
    unused = [name for name in columns if name not in (item, *conditions, *KNOWN)]
    notes = (*numbering, *([f"Columns that are not conditions: {', '.join(unused)}."] if unused else ()))
    found = ItemSets(path, sets, tuple(conditions), wide=readable, sheet=sheet, notes=notes)
    return _joined(found, [
        {"item": row[item] or "", "function": function_of(row[kind or ""]) or "filler",
         "sentence": next(row[name] for name in columns if name not in (item, kind) and row[name])}
        for row in others.to_dicts()
    ])  # fmt: skip


ROW = "_row"
NUMBER = "set"


def _item_column(table: FileTable, where: str) -> tuple[FileTable, str, tuple[str, ...]]:
    """The table, its column with the names of the sets, and a note where nothing is called so.

    Such a column is the first, if it has a short name for each row; else the sets are numbered.
    """
    frame, columns = table.frame, table.frame.columns
    item = "item" if "item" in columns else own_name("item", columns) or _named(columns, ITEMS)
    if item is not None:
        return table, item, ()
    first = columns[0]
    if plain(first) in CONDITIONS:
        raise SetsError(f"{where} has one row per condition. Give each item set a row and each condition a column.")
    cells = frame[first]
    if not cells.null_count() and cells.is_unique().all() and not _are_sentences(cells):
        title = "The first column" if first.startswith("unnamed_") else f"The first column, {first},"
        return table, first, (f"{title} names the sets.",)
    numbered = frame.insert_column(0, pl.Series(NUMBER, [str(n) for n in range(1, frame.height + 1)]))
    return replace(table, frame=numbered), NUMBER, ("No column numbers the sets, so they are numbered by their rows.",)


def _condition_names(frame: pl.DataFrame, item: str) -> list[str]:
    """The columns with a sentence per condition, without one of questions where the names of the others cross."""
    found = [name for name in frame.columns if name not in (item, ROW) and _is_condition(name, frame[name])]
    fewer = [name for name in found if not set(re.findall(r"[^\W_]+", plain(name))) & {*BESIDE_SETS, *BESIDE_WORDS}]
    crossed = len(fewer) > 1 and guess_factors(fewer).guessed and not guess_factors(found).guessed
    return fewer if crossed else found


def _fillers_apart(frame: pl.DataFrame, kind: str | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows of sets, and those that are called fillers and have fewer sentences than a set."""
    if kind is None:
        return frame, frame[:0]
    filled = pl.sum_horizontal(pl.col(pl.String).is_not_null())
    called = pl.col(kind).map_elements(lambda word: not _is_test(word), return_dtype=pl.Boolean)
    usual = frame.filter(~called).select(filled.alias("n"))["n"].min()
    apart = called & (filled < usual) if isinstance(usual, int) else pl.lit(False)
    return frame.filter(~apart), frame.filter(apart)


def _is_condition(name: str, cells: pl.Series) -> bool:
    """Whether a column has the sentences of one condition: texts of several words, in most rows."""
    if name in KNOWN or plain(name) in (*BESIDE_SETS, *ITEMS, *KINDS) or name.startswith("unnamed_"):
        return False
    if plain(name).startswith(BESIDE_WORDS):
        return False
    return cells.null_count() <= 0.5 * len(cells) and _are_sentences(cells)


def _are_sentences(cells: pl.Series, more_than: int = 2) -> bool:
    """Whether texts have several words each, as a rule."""
    texts = cells.drop_nulls().to_list()
    long = sum(len(text.split()) > more_than or (len(text) > 5 and not text.isascii()) for text in texts)
    return bool(texts) and long >= 0.8 * len(texts)


def _text_column(frame: pl.DataFrame) -> str | None:
    """The column of sentences: one that is named so and holds some, else the only one that does."""
    texts = [name for name in frame.columns if _are_sentences(frame[name], more_than=1)]
    named = [name for name in texts if plain(name) in TEXTS]
    ending = [name for name in texts if plain(name).rpartition("_")[2] in TEXTS]
    if named or len(ending) == 1:
        return (named or ending)[0]
    found = [name for name in frame.columns if _is_condition(name, frame[name])]
    return found[0] if len(found) == 1 else None


def _is_sentence(text: str) -> bool:
    """Whether a header is a sentence, as where a table has none."""
    return len(text.split()) > 2 and text.rstrip().endswith((".", "?", "!"))


def _with_first_sentence(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of a table without a header, of which the first was taken for one; any other as it is."""
    if not any(map(_is_sentence, frame.columns)):
        return frame
    above = pl.DataFrame([frame.columns], schema=frame.schema, orient="row")
    number = f"column_{frame.columns.index(next(filter(_is_sentence, frame.columns))) + 1}"
    whole = pl.concat([above, frame])
    whole.columns = [f"column_{place}" for place in range(1, frame.width + 1)]
    return whole.rename({number: "sentence"})


def _function_of_sheet(name: str) -> str | None:
    """The function of the sentences in a sheet beside the sets, by its name.

    >>> _function_of_sheet("Fillers (new)"), _function_of_sheet("Practice"), _function_of_sheet("Items")
    ('filler', 'practice', None)
    """
    return next((function for start, function in FILLER_SHEETS.items() if plain(name).startswith(start)), None)


def _sheet_of_sets(file: SourceFile, sheets: Sequence[str]) -> str | None:
    """The first sheet of a workbook that has item sets, by its name and its columns; else the first of all."""
    named = [name for name in sheets if not _function_of_sheet(name)]
    held = (name for name in (*named, *sheets) if _holds_sets(file, name))
    return next(held, None) or next(iter((*named, *sheets)), None)


def _holds_sets(file: SourceFile, sheet: str) -> bool:
    """Whether a sheet has a column of sentences per condition, or sentences with their items or conditions."""
    if not _rows_of(file, sheet):
        return False
    frame = _tidied(file, sheet)[0].frame
    conditions = [name for name in frame.columns if _is_condition(name, frame[name])]
    named = _named(frame.columns, (*ITEMS, *CONDITIONS)) is not None
    return len(conditions) > 1 or (named and _text_column(frame) is not None)


def _rows_of(file: SourceFile, sheet: str) -> int:
    """How many rows a sheet has below its first; none of an empty one, as new workbooks have them."""
    try:
        return read_table(file, sheet=sheet).frame.height
    except IntakeError:
        return 0


def _named(columns: Sequence[str], known: Sequence[str]) -> str | None:
    """The first column that has one of some names, however its words are set apart."""
    words = {word.replace("_", "") for word in known}
    return next((name for name in columns if plain(name).replace("_", "") in words), None)


def _bare(condition: str) -> str:
    """The name of a condition without the letter that numbers it.

    A letter is one where a bracket, a colon, a full stop or a dash follows it.
    """
    bracket = re.fullmatch(r"\s*\w{1,2}\s*[(\[](.+)[)\]]\s*|\s*[(\[]([^()\[\]]+)[)\]]\s*", condition)
    if bracket:
        return (bracket[1] or bracket[2]).strip()
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
