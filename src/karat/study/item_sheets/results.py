"""Item sets from the results of a study with any tool, if they contain the sentences.

The conditions of an item are the columns in which its sentences differ. Choices have two sentences per row, in columns
whose names differ in a side, such as `text_a` and `text_b`. If two other columns name the condition of each side, these
conditions were compared; otherwise each pair is a separate comparison.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from karat.errors import counted
from karat.judgments import Judgments
from karat.judgments.columns import COLUMNS, meant
from karat.judgments.scales import Nominal
from karat.judgments.stimuli import natural_order
from karat.study.item_sheets.sets import (
    BESIDE_SETS,
    CONDITIONS,
    ITEMS,
    TEXTS,
    CrossedFactors,
    ItemSets,
    SetsError,
    are_sentences,
    factor_names,
    guess_factors,
    with_rows,
)
from karat.study.items import plain

if TYPE_CHECKING:
    from karat.judgments.scales import Scale

TEXT = "_text"
NO_LEVEL = "none"
COPIED = ("subgroup", "status", "pair", "context", "gloss", "expected")
"""The columns of results that an item table copies."""


def sets_from_results(
    judgments: Judgments, source: str | Path, sentence: str | None = None
) -> tuple[ItemSets, CrossedFactors]:
    """The item sets in the results of any tool, with their factors, for a new study with the same items.

    Parameters
    ----------
    judgments
        The results, as `karat.read` returns them.
    source
        The file of the results; the study is named after it.
    sentence
        The column with the sentences. By default it is recognised by its name or by its texts.

    Returns
    -------
    The sentences of the test items by item and condition, those of all other items as fillers, and the factors. A
    factor with one level per item is between items.
    """
    path = Path(source)
    sides = _sides(judgments, path.name, sentence)
    if sides is not None:
        return _sets_of_choices(judgments, path, sides)
    text = _sentence_column(judgments.frame, path.name, sentence)
    frame = judgments.frame.with_columns(_plain_texts(judgments.frame[text]).alias(TEXT))
    frame = frame.filter(pl.col(TEXT).is_not_null())
    if are_sentences(frame["item"].unique()):
        frame = frame.with_columns(_items_behind(frame))
        judgments = Judgments(frame.drop(TEXT), judgments.scales, judgments.participants)
    test, others = _test_rows(frame, path.name), frame.filter(pl.col("function") != "test")
    notes = [] if sentence or text == "item" else [f"The sentences are those of the column {text}."]
    if len(judgments.scales) > 1:
        question = next(iter(judgments.scales))
        notes.append(f"There are {len(judgments.scales)} questions; the scale is that of the first, {question}.")
    names = _factor_columns(judgments, test, text, path.name)
    if not _decide(test, names):
        notes.append(
            f"An item has {_wordings(test):.0f} sentences on average, and no column says how they differ. The first of "
            "each item is taken."
        )
    test = test.with_columns(pl.col(name).cast(pl.String).fill_null(NO_LEVEL) for name in names)
    factors = _crossed(test, names)
    sets, beside = _sets_of(test, names)
    lacking = sum(len(by_condition) < factors.lists for by_condition in sets.values())
    if lacking:
        notes.append(f"{counted(lacking, 'item')} of {len(sets)} lack a sentence in some condition.")
    item_sets = ItemSets(
        path, sets, tuple(factors.cells), notes=tuple(notes), beside=beside, scale=next(iter(judgments.scales.values()))
    )
    return with_rows(item_sets, _other_rows(others)), factors


SIDES = (("left", "right"), ("a", "b"), ("1", "2"), ("first", "second"), ("top", "bottom"), ("above", "below"))
"""The names of the two sentences of a choice."""
SIDE_TIES = ("tie", "none", "neither", "both", "same", "equal", "draw")
CONTEXTS = ("context", "prompt", "preamble")
MOST_COMPARED = 6
"""The largest number of levels of a compared factor; more names are those of the sentences."""
LEVEL = "_level"


def _words(name: str) -> tuple[str, ...]:
    """The words of a name: text_a, textA and "text a" have two.

    >>> _words("textA"), _words("sentence_2")
    (('text', 'a'), ('sentence', '2'))
    """
    return tuple(word.lower() for word in re.findall(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+", name))


def _column_pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of columns whose names differ only in a side, or in a number of the second alone.

    >>> _column_pairs(["item", "text_a", "text_b", "sentence", "sentence_2"])
    [('text_a', 'text_b'), ('sentence', 'sentence_2')]
    """
    by_words = {_words(name): name for name in names}
    pairs = []
    for words, name in by_words.items():
        partners = [(*words[:place], other, *words[place + 1 :]) for side, other in SIDES
                    for place, word in enumerate(words) if word == side]  # fmt: skip
        partners += [(*words, "2")] if (*words, "1") not in by_words else []
        pairs += [(name, by_words[partner]) for partner in partners if partner in by_words][:1]
    return pairs


def _name_sides(levels: Sequence[str]) -> bool:
    """Whether each answer names one of two sides, or a tie.

    >>> _name_sides(["a_winner", "b_winner", "tie"]), _name_sides(["yes", "no"])
    (True, False)
    """
    chosen = [level for level in map(_words, levels) if not set(level) & set(SIDE_TIES)]
    return len(chosen) == 2 and any(
        (side in chosen[0] and other in chosen[1]) or (other in chosen[0] and side in chosen[1])
        for side, other in SIDES
    )


def _sides(judgments: Judgments, file: str, sentence: str | None) -> tuple[str, str] | None:
    """The columns with the two sentences of each choice; None if sentences were judged one at a time."""
    scale, frame = next(iter(judgments.scales.values())), judgments.frame
    if scale.kind != "choice" and not _name_sides(scale.levels):
        return None
    pairs = [
        pair for pair in _column_pairs(frame.columns)
        if all(frame.schema[name] == pl.String and are_sentences(_plain_texts(frame[name].unique())) for name in pair)
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
    """The sets of choices: by the compared conditions if columns name them, else pair by pair."""
    frame = judgments.frame.with_columns(_plain_texts(judgments.frame[name]).alias(name) for name in sides)
    frame = frame.filter(pl.col(sides[0]).is_not_null(), pl.col(sides[1]).is_not_null())
    context = next((name for name in frame.columns if _words(name)[-1:] and _words(name)[-1] in CONTEXTS), None)
    if context is not None and frame.schema[context] == pl.String:
        frame = frame.with_columns(_plain_texts(frame[context]).alias("context"))
    test = _test_rows(frame, path.name)
    scale = next(iter(judgments.scales.values()))
    notes = [f"The two sentences of a choice are those of the columns {sides[0]} and {sides[1]}."]
    compared = _compared(test, sides)
    by_condition = None if compared is None else _by_condition(judgments, test, sides, compared)
    if by_condition is None:
        notes.append(
            f"No two columns with {MOST_COMPARED} levels at most say in which conditions the sentences of a choice "
            "are, so each pair is a comparison of its own. To compare conditions, add columns such as condition_a and "
            "condition_b."
            if compared is None else
            f"The conditions in {compared[0]} and {compared[1]} do not cross with the items, so each pair is a "
            "comparison of its own."
        )  # fmt: skip
    pairs = _pairs_of_sentences(frame, sides, scale)
    others = [row for row in pairs if row["function"] != "test"]
    if by_condition is not None:
        sets, factors = by_condition
        item_sets = ItemSets(path, sets, tuple(factors.cells), notes=tuple(notes), scale=scale)
        return with_rows(item_sets, others), factors
    rows = {row["item"]: row for row in pairs if row["function"] == "test"}
    beside = {
        (name, side): {key: row[key] for key in ("subgroup", "context") if key in row} | status
        for name, row in rows.items() for side, status in zip("ab", _statuses(row.get("expected")), strict=True)
    }  # fmt: skip
    item_sets = ItemSets(
        path, {name: {"a": row["sentence"], "b": row["sentence_2"]} for name, row in rows.items()}, ("a", "b"),
        notes=tuple(notes), beside=beside, scale=scale, paired=True,
    )  # fmt: skip
    return with_rows(item_sets, others), CrossedFactors({}, {"a": (), "b": ()})


def _test_rows(frame: pl.DataFrame, file: str) -> pl.DataFrame:
    """The rows of test items; SetsError if there are none."""
    test = frame.filter(pl.col("function") == "test")
    if not test.height:
        raise SetsError(f"{file} has no test items. Use --item-functions with karat convert to name them.")
    return test


def _statuses(better: str | None) -> tuple[dict[str, str], dict[str, str]]:
    """The status of the two sentences of a pair, if results have the better one."""
    if better is None:
        return {}, {}
    words = ("grammatical", "marked") if better == "1" else ("marked", "grammatical")
    return {"status": words[0]}, {"status": words[1]}


def _compared(test: pl.DataFrame, sides: tuple[str, str]) -> tuple[str, str] | None:
    """The two columns with the condition of each side: few levels, never the same on both sides."""
    for left, right in _column_pairs(test.columns):
        if left in sides or test[left].null_count() or test[right].null_count():
            continue
        levels = [_level(test, name) for name in (left, right)]
        distinct = set(levels[0]) | set(levels[1])
        if 2 <= len(distinct) <= MOST_COMPARED and not (levels[0] == levels[1]).any():
            return left, right
    return None


def _level(frame: pl.DataFrame, column: str) -> pl.Series:
    """The condition on a side, without the item that karat writes before it."""
    return frame.select(pl.col(column).cast(pl.String).str.strip_prefix(pl.col("item") + ".")).to_series()


def _by_condition(
    judgments: Judgments, test: pl.DataFrame, sides: tuple[str, str], compared: tuple[str, str]
) -> tuple[dict[str, dict[str, str]], CrossedFactors] | None:
    """The sentences of choices by item and condition; None if an item has several in one condition."""
    aside = {*sides, *compared, "left", "right", "context", "expected"}
    alone = test.drop(aside & set(test.columns))
    answers = Nominal(tuple(alone["response"].drop_nulls().unique().to_list()) or ("left", "right"))
    others = [name for name in Judgments(alone, answers, judgments.participants).factors() if name in test.columns]
    long = pl.concat(
        test.with_columns(pl.col(text).alias(TEXT), _level(test, column).alias(LEVEL))
        for text, column in zip(sides, compared, strict=True)
    )
    shared = [word for word in _words(compared[0]) if word not in {side for pair in SIDES for side in pair}]
    levels = sorted(long[LEVEL].unique().to_list(), key=natural_order)
    name = "_".join(shared) if shared and shared[-1] not in CONDITIONS else factor_names([levels])[0]
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
    return _sets_of(long, names)[0], replace(factors, compared=name)


RIGHT_SIDES = {"left": "1", "right": "2", "none": ""}
"""The right answers of results in the spelling of item tables, which have none for no difference."""


def _pairs_of_sentences(frame: pl.DataFrame, sides: tuple[str, str], scale: Scale) -> list[dict[str, str]]:
    """The distinct pairs of sentences as rows of an item table: name, two sentences and the expected one."""
    columns = [name for name in ("subgroup", "context", "expected") if name in frame.columns]
    rows = frame.select("item", "function", *sides, *columns).unique(maintain_order=True)
    pairs: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows.to_dicts():
        texts = row.pop(sides[0]), row.pop(sides[1])
        right = row.pop("expected", None)
        pair = {name: cell for name, cell in row.items() if cell is not None}
        pair |= {"sentence": texts[0], "sentence_2": texts[1]}
        if scale.kind == "choice" and right is not None:
            better = [number for side, number in RIGHT_SIDES.items() if side in scale.expected(right)]
            pair |= {"expected": better[0]} if len(better) == 1 and better[0] else {}
        pairs.setdefault((row["function"], *sorted(texts)), pair)
    names = [row["item"] for row in pairs.values()]
    if len(set(names)) < len(names) or any(":" in name or " " in name for name in names):
        width = len(str(len(names)))
        return [{**row, "item": f"{place:0{width}}"} for place, row in enumerate(pairs.values(), start=1)]
    return sorted(pairs.values(), key=lambda row: natural_order(row["item"]))


def _plain_texts(texts: pl.Series) -> pl.Series:
    """Texts without the tags, entities and line breaks of a web page and without the marks of a JSON list."""
    spelled = {
        text: " ".join(unescape(re.sub(r"</?[a-zA-Z][^<>]*>", " ", _unlisted(text))).split()) or None
        for text in texts.drop_nulls().unique().to_list()
    }
    return texts.replace_strict(spelled, default=None, return_dtype=pl.String)


def _unlisted(text: str) -> str:
    """The texts of a JSON list in sequence; other texts unchanged.

    >>> _unlisted('["It rained.", "It snowed."]'), _unlisted("[sic]")
    ('It rained. It snowed.', '[sic]')
    """
    try:
        parts = json.loads(text) if text.startswith('["') else None
    except ValueError:
        return text
    return " ".join(map(str, parts)) if isinstance(parts, list) else text


def _items_behind(frame: pl.DataFrame) -> pl.Series:
    """The items of results in which every sentence was taken for an item, from a column that numbers sets.

    Without such a column, sentences are numbered in their order.
    """
    test = frame.filter(pl.col("function") == "test")
    for name in frame.columns:
        if name != "item" and plain(name).strip("_ ") in ITEMS and frame[name].null_count() == 0:
            sentences, pairs = test[TEXT].n_unique(), test.select(name, TEXT).n_unique()
            if test[name].n_unique() < sentences == pairs:
                return frame[name].cast(pl.String).alias("item")
    items = frame["item"].unique(maintain_order=True).to_list()
    width = len(str(len(items)))
    return frame["item"].replace_strict({name: f"{number:0{width}}" for number, name in enumerate(items, start=1)})


def _sentence_column(frame: pl.DataFrame, file: str, name_of_column: str | None) -> str:
    """The column of results with the sentences."""
    if name_of_column is not None:
        if name_of_column not in frame.columns or frame.schema[name_of_column] != pl.String:
            raise SetsError(f"{file} has no column {name_of_column} of texts. {meant(name_of_column, frame.columns)}")
        return name_of_column
    excluded = ("participant", "response", "function", "expected", "subgroup", "status", "question")
    texts = {
        name: _plain_texts(frame[name].unique()) for name in frame.columns
        if frame.schema[name] == pl.String and name not in excluded and plain(name) not in BESIDE_SETS
    }  # fmt: skip
    words = {name: plain(re.split(r"[. ]", name)[-1]) for name in texts}
    by_name = [name for name, cells in texts.items() if words[name] in TEXTS and are_sentences(cells, more_than=1)]
    long = [name for name, cells in texts.items() if are_sentences(cells)]
    # Among columns with other names, item comes last, because another column may have the sentence in each condition.
    candidates = [
        *sorted(by_name, key=lambda name: TEXTS.index(words[name])),
        *(name for name in long if name not in COLUMNS), *(name for name in long if name == "item"),
    ]  # fmt: skip
    if not candidates:
        raise SetsError(
            f"{file} holds no sentences: no column has texts of several words. There are: {', '.join(frame.columns)}. "
            "Name the column with --sentence NAME, or make the study from your item table with --from-sets FILE."
        )
    return candidates[0]


def _factor_columns(judgments: Judgments, test: pl.DataFrame, text: str, file: str) -> list[str]:
    """The columns in which the sentences of an item differ, or that describe the items if there are none."""
    factors = [name for name in judgments.factors() if name != text]
    if _decide(test, factors):
        return factors
    free = [
        name for name in test.columns
        if name not in (*COLUMNS, text, TEXT) and test.schema[name] in (pl.String, pl.Int64, pl.Boolean)
        and _decide(test, [name]) and not _follows(test, name)
    ]  # fmt: skip
    if not free and _wordings(test) > MOST_WORDINGS:
        return factors
    if not free:
        several = min(test.group_by("item").agg(pl.col(TEXT).n_unique()).filter(pl.col(TEXT) > 1)["item"].to_list())
        raise SetsError(
            f"{file}: the item {several} has several sentences, and no column says in which condition each is. "
            "Name such a column condition, or use --map item=COLUMN if each sentence is an item."
        )
    return [min(free, key=lambda name: (plain(name) not in CONDITIONS, test[name].n_unique()))]


MOST_WORDINGS = 6
"""With more sentences per item on average, they are versions of one sentence, such as with other names."""


def _wordings(test: pl.DataFrame) -> float:
    """The average number of sentences per item."""
    return test.select("item", TEXT).n_unique() / max(test["item"].n_unique(), 1)


def _follows(test: pl.DataFrame, name: str) -> bool:
    """Whether a column describes participants or is another form of the sentence, and so no condition."""
    people = test["participant"].n_unique()
    return (people > 1 and test.select("participant", name).n_unique() == people) or (
        test[name].n_unique() >= test[TEXT].n_unique() > 2
    )


def _decide(test: pl.DataFrame, names: list[str]) -> bool:
    """Whether an item has one sentence for each combination of levels of these columns."""
    return test.select("item", *names).n_unique() == test.select("item", *names, TEXT).n_unique()


def _crossed(test: pl.DataFrame, names: list[str]) -> CrossedFactors:
    """The factors in columns of results; columns that do not cross are a single factor."""
    items = test["item"].n_unique()
    between = tuple(name for name in names if test.select("item", name).n_unique() == items)
    cells = (
        sorted(test.select(names).unique().rows(), key=lambda cell: tuple(map(natural_order, cell))) if names else [()]
    )
    levels = {name: tuple(sorted(test[name].unique().to_list(), key=natural_order)) for name in names}
    conditions = {", ".join(cell): cell for cell in cells}
    guess = guess_factors(list(conditions)) if len(names) == 1 and not between else None
    if guess is not None and len(guess.levels) > 1:
        return guess
    within = [name for name in names if name not in between]
    if prod(len(levels[name]) for name in within) > (test.select(within).n_unique() if within else 1):
        return CrossedFactors({"condition": tuple(conditions)}, {name: (name,) for name in conditions})
    return CrossedFactors(levels, conditions, between=between)


def _sets_of(
    test: pl.DataFrame, names: list[str]
) -> tuple[dict[str, dict[str, str]], dict[tuple[str, str], dict[str, str]]]:
    """The sentences of each item by condition, which these columns name, and the other columns of each."""
    test = test.with_columns(_condition=pl.concat_str(names, separator=", ") if names else pl.lit(""))
    sets: dict[str, dict[str, str]] = {}
    beside: dict[tuple[str, str], dict[str, str]] = {}
    columns = [name for name in COPIED if name in test.columns]
    rows = test.select("item", "_condition", TEXT, *columns).unique(["item", "_condition"], keep="first")
    for row in sorted(rows.to_dicts(), key=lambda row: (natural_order(row["item"]), natural_order(row["_condition"]))):
        sets.setdefault(row["item"], {})[row["_condition"]] = row[TEXT]
        beside[row["item"], row["_condition"]] = {name: row[name] for name in columns if row[name] is not None}
    return sets, beside


def _other_rows(others: pl.DataFrame) -> list[dict[str, str]]:
    """The distinct sentences of all other items than test items."""
    columns = ["item", "function", *(name for name in COPIED if name in others.columns)]
    rows = others.select(*columns, sentence=TEXT).unique(["item", "function", "sentence"], keep="first").to_dicts()
    rows.sort(key=lambda row: (row["function"], natural_order(row["item"]), row["sentence"]))
    return [{name: cell for name, cell in row.items() if cell is not None} for row in rows]
