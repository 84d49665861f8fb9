"""Rules about the item tables as files: how they were read, and which column says what an item is for."""

from __future__ import annotations

from collections.abc import Iterator

from karat.study.check.draft import Draft
from karat.study.check.rules import Flaw, rule
from karat.study.items import source_file
from karat.study.settings import BlockSettings
from karat.study.table_files import read_as


@rule(
    "function-column",
    "error",
    "a table has no column function, so that all its rows are test items, but another column looks like it",
    mend="Rename the column to function.",
)
def function_column(draft: Draft) -> Iterator[Flaw]:
    """Fillers and controls that nobody would notice to be taken for test items."""
    for block in draft.study.blocks:
        for file, column in block.items.like_functions.items():
            words = block.items.frame[column].drop_nulls().unique(maintain_order=True).to_list()
            yield Flaw(
                f"{file} has no column function, so that all rows are test items. The column {column} looks like it: "
                f"{', '.join(words)}.",
                f"Is it {column}? Rename {column} to function; else add a column function.",
                (file, None),
            )


@rule(
    "encoding",
    "hint",
    "a table is not UTF-8, so that its encoding had to be guessed",
    mend="If the word is not right, save the table as UTF-8 (in a spreadsheet: CSV UTF-8, or .xlsx).",
)
def encoding(draft: Draft) -> Iterator[Flaw]:
    """A wrong guess changes letters, and nothing else would say so."""
    folder = draft.study.path.parent
    for name in dict.fromkeys(name for block in draft.study.blocks for name in _tables(block.settings)):
        file = source_file(folder / name)
        told = read_as(file)
        if told is not None:
            yield Flaw(f"{name} is not UTF-8; it {told}.", spot=(file.name, None))


def _tables(block: BlockSettings) -> list[str]:
    """The tables that a block names."""
    others = (block.templates, block.lexicon, block.questions)
    return [*block.items, *(name for name in others if name is not None)]
