"""A piece of a report as data: sentences, tables, figures and listings, however they are written down later.

A section knows nothing about HTML or Markdown. Its author fills sentences with numbers from results; its writer decides
how headings, tables and figures look.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import polars as pl

from karat.languages import language_of

RATIOS = ("odds_ratio",)
"""Columns of ratios, of which a small one has as many decimals as it takes to tell it from none."""
DEGREES = ("df", "denominator")
"""Columns of degrees of freedom, written as in the sentences on a test."""
PROBABILITIES = ("p", "adjusted", "p_adjusted", "p_value", "p_before", "p_after", "credence")
"""Columns that hold the p of a test or another probability."""


@dataclass(frozen=True)
class Figure:
    """A picture with the text for those who do not see it, and the data behind it."""

    key: str
    title: str
    alt: str
    svg: str
    caption: str = ""
    data: pl.DataFrame | None = None


@dataclass(frozen=True)
class Table:
    """A table with what its columns are called, how many decimals they have, and small pictures beside the cells.

    Of a cell with several lines the first sums up the others, which are shown on demand.
    """

    key: str
    title: str
    frame: pl.DataFrame
    caption: str = ""
    headings: Mapping[str, str] = field(default_factory=dict)
    """From a column to its heading; a column without one is called by its name."""
    digits: Mapping[str, int] = field(default_factory=dict)
    """From a column to its decimals; two where none are given."""
    pictures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """From a heading to one SVG per row; these columns come after the second one."""
    filtered: bool = False
    """Whether readers can look for words in it."""

    def heading(self, column: str) -> str:
        """What a column is called."""
        return self.headings.get(column, column.replace("_", " "))

    def cell(self, column: str, value: object) -> str:
        """A value as people read it; nothing where nothing is known.

        >>> table = Table("t", "T", pl.DataFrame({"p": [0.0004], "n": [1200]}), digits={"p": 3})
        >>> table.cell("p", 0.0004), table.cell("p", 0.04), table.cell("n", 1200), table.cell("n", None)
        ('< .001', '.040', '1,200', '')
        >>> table.cell("odds_ratio", 0.00243), table.cell("odds_ratio", 2.4449)
        ('0.0024', '2.44')
        """
        if value is None or value != value:
            return ""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int):
            return f"{value:,}".replace("-", "\N{MINUS SIGN}")
        if isinstance(value, float):
            return _number(column, value, self.digits.get(column, 2))
        return str(value)


@dataclass(frozen=True)
class Listing:
    """A text to be shown letter by letter, and kept as a file: a command, a BibTeX file."""

    key: str
    title: str
    text: str
    suffix: str = "txt"


@dataclass(frozen=True)
class Section:
    """A part of a report: sentences first, then figures, tables, listings, notes, and smaller sections."""

    key: str
    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    listings: tuple[Listing, ...] = ()
    language: str = "en"
    """The language of the paragraphs."""

    def walk(self) -> Iterator[Section]:
        """This section and all within it, in reading order."""
        yield self
        for section in self.sections:
            yield from section.walk()


def with_shared_notes(section: Section) -> Section:
    """A section with the notes that several of its parts have, once, with the titles of these parts.

    >>> parts = (Section("a", "Means (q1)", notes=("One.", "Two.")), Section("b", "Agreement", notes=("One.",)))
    >>> found = with_shared_notes(Section("r", "Results", sections=parts))
    >>> found.notes, [part.notes for part in found.sections]
    (('Means and agreement: One.',), [('Two.',), ()])
    """
    titles: dict[str, list[str]] = {}
    for part in section.sections:
        for note in dict.fromkeys(part.notes):
            titles.setdefault(note, []).append(part.title.split(" (")[0])
    shared = {note: list(dict.fromkeys(names)) for note, names in titles.items() if len(names) > 1}
    lifted = (f"{_listed(names)}: {note}" for note, names in shared.items())
    parts = (
        replace(part, notes=tuple(note for note in dict.fromkeys(part.notes) if note not in shared))
        for part in section.sections
    )
    return replace(section, notes=(*section.notes, *lifted), sections=tuple(parts))


def _listed(titles: list[str]) -> str:
    """Several titles in a row, of which the first keeps its capital."""
    first, *rest = titles
    return language_of("en").several([first, *(title[:1].lower() + title[1:] for title in rest)])


def _number(column: str, value: float, digits: int) -> str:
    """A number with its decimals; probabilities without a leading zero."""
    if column in PROBABILITIES:
        if value < 0.001:
            return "< .001"
        return "> .999" if value >= 0.9995 else language_of("en").value(value, ".3r")
    if column in DEGREES:
        return f"{value:.0f}" if value.is_integer() else language_of("en").value(value, "df")
    if column in RATIOS and 0 < value < 0.1:
        digits += -1 - math.floor(math.log10(value))
    # Without this a small negative number would be -0.00.
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "\N{MINUS SIGN}")
