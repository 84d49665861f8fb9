"""What tables of other makes call the columns and functions that karat knows.

Spreadsheets that were made for another tool, or for none, have the right columns under other names. These are never
taken for karat's own in silence: messages name them, so that they are renamed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import polars as pl

from karat.judgments.columns import FUNCTIONS, nearest

COLUMN_NAMES: Mapping[str, tuple[str, ...]] = {
    "item": ("nr", "no", "number", "id", "item_id", "itemid", "item_no", "itemno", "item_nr", "itemnr", "item_number"),
    "sentence": ("text", "stimulus", "stimuli", "string", "sentences", "satz"),
    "function": ("type", "kind", "trial_type", "item_type", "trialtype", "itemtype"),
    "condition": ("cond",),
}
"""Column = what else it may be called, in lower case and with _ for blanks."""
FUNCTION_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("critical", "target", "experimental", "exp", "test_item", "tests", "kritisch"), "test"),
    **dict.fromkeys(("fillers", "distractor", "distractors", "distraktor", "ablenker", "füller"), "filler"),
    **dict.fromkeys(("controls", "ctrl", "gold", "kontrolle"), "control"),
    **dict.fromkeys(("catch", "catch_trial", "attention_check", "attention_trial"), "attention"),
    **dict.fromkeys(("training", "warm_up", "warmup", "example", "übung"), "practice"),
    **dict.fromkeys(("anchor", "calibrator"), "calibration"),
}
"""What else functions are called."""


def plain(name: str) -> str:
    """A name without what people vary: case, blanks and hyphens.

    >>> plain("Trial-Type ")
    'trial_type'
    """
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def own_name(column: str, columns: Sequence[str], taken: Collection[str] = ()) -> str | None:
    """The column of a table that is one of karat's under another name; `taken` have a meaning of their own.

    >>> own_name("item", ["Nr", "Type", "Text"]), own_name("condition", ["Nr", "Text"])
    ('Nr', None)
    """
    known = (column.lower(), *COLUMN_NAMES.get(column, ()))
    return next((name for name in columns if name not in taken and plain(name) in known), None)


def renaming(column: str, columns: Sequence[str], taken: Collection[str] = ()) -> str:
    """How a table gets a column that it lacks: which to rename, and which there are.

    >>> renaming("item", ["nr", "Text"])
    'Rename nr to item. There are nr, Text.'
    >>> renaming("item", ["itme", "x"])
    'Is it itme? There are itme, x.'
    """
    own = own_name(column, columns, taken)
    close = nearest(column, [name for name in columns if name not in taken])
    hint = f"Rename {own} to {column}. " if own else f"Is it {close}? " if close else ""
    return f"{hint}There are {', '.join(columns)}."


def function_meant(value: str) -> str | None:
    """The function that a word means, also one that is misspelt.

    >>> function_meant("Critical"), function_meant("filer"), function_meant("yes")
    ('test', 'filler', None)
    """
    word = plain(value)
    return FUNCTION_WORDS.get(word) or nearest(word, FUNCTIONS)


def like_functions(frame: pl.DataFrame, taken: Collection[str]) -> str | None:
    """The column of a table whose values are functions, some of them other than test; None where there is none.

    >>> like_functions(pl.DataFrame({"item": ["1", "2"], "role": ["critical", "Filler"]}), ["item"])
    'role'
    """
    for name in frame.columns:
        words = {plain(value) for value in frame[name].drop_nulls().unique().to_list()} if name not in taken else set()
        meant = {FUNCTION_WORDS.get(word, word) for word in words}
        if meant and meant <= set(FUNCTIONS) and meant != {"test"}:
            return name
    return None
