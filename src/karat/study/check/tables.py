"""Rules about the item tables as files: how they were read, what an item is for, and names that are taken."""

from collections.abc import Iterator

from karat.judgments.source import SourceFile
from karat.judgments.tables import sheets_of
from karat.study.check.draft import Draft
from karat.study.check.findings import Flaw, rule
from karat.study.items import read_as, source_file
from karat.study.results import taken_names

SAVE_AS_UTF8 = "Save the table as UTF-8 (in a spreadsheet: CSV UTF-8, or .xlsx)."


@rule("error", fix="Rename the column to function.")
def function_column(draft: Draft) -> Iterator[Flaw]:
    """A table has no column function, so all its rows are test items, but another column looks like it. Otherwise
    nobody would notice that fillers and controls are taken for test items."""
    for block in draft.study.blocks:
        for file, column in block.items.like_functions.items():
            words = block.items.frame[column].drop_nulls().unique(maintain_order=True).to_list()
            yield Flaw(
                f"{file} has no column function, so all rows are test items. The column {column} looks like it: "
                f"{', '.join(words)}.",
                f"Is it {column}? Rename {column} to function; otherwise add a column function.",
                (file, None),
            )


@rule("hint", fix=f"If the text looks wrong, {SAVE_AS_UTF8[0].lower()}{SAVE_AS_UTF8[1:]}")
def encoding(draft: Draft) -> Iterator[Flaw]:
    """A table is not UTF-8, so its encoding had to be guessed. A wrong guess changes letters, and nothing else
    would say so."""
    for file in _files(draft):
        guessed = read_as(file)
        if guessed is not None:
            how, word = guessed
            seen, fix = (f': it has the word "{word}"', "") if word else ("", SAVE_AS_UTF8)
            yield Flaw(f"{file.name} is not UTF-8; it {how}{seen}.", fix, (file.name, None))


@rule("hint", fix='If the items are on another sheet, name the sheets in the block: sheets = ["..."].')
def sheets(draft: Draft) -> Iterator[Flaw]:
    """A spreadsheet has several sheets, of which only the first is read. Items on a second sheet would never be
    shown. A block that names its `sheets` has decided."""
    named = {name for block in draft.study.settings.block for name in block.sheets}
    for file in _files(draft):
        names = sheets_of(file)
        if len(names) > 1 and not named.intersection(names):
            others = f"{', '.join(names[1:4])}{', ...' if len(names) > 4 else ''}"
            text = f"{file.name} has {len(names)} sheets: the first, {names[0]}, was read, but not {others}."
            yield Flaw(text, spot=(file.name, None))


def _files(draft: Draft) -> list[SourceFile]:
    """The tables that a study names, each once."""
    blocks = draft.study.settings.block
    named = [name for one in blocks for name in (*one.items, one.templates, one.lexicon, one.questions) if name]
    return [source_file(draft.study.path.parent / name) for name in dict.fromkeys(named)]


@rule("error", fix="Give it another name.", must=True, name="taken-names")
def names_taken(draft: Draft) -> Iterator[Flaw]:
    """A background question, a factor or a column of the items has the name of a column that karat fills, so
    `karat serve` refuses the study. Answers must not be lost behind karat's own columns."""
    for taken in taken_names(draft.study):
        if taken.block is None:
            yield Flaw(taken.what, taken.fix, draft.at("background", taken.question or 0))
        else:
            yield Flaw(taken.what, taken.fix, draft.at("block", taken.block, "items"))
