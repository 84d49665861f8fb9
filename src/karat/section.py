"""A part of a report as data: sentences, tables, figures and listings, independent of their format.

A section has no HTML or Markdown. Its author fills sentences with numbers from results; its writer formats headings,
tables and figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import polars as pl

from karat.languages import language_of

RATIOS = ("odds_ratio",)
"""Columns of ratios; small ratios get more decimals, so that they differ from zero."""
DEGREES = ("df", "denominator")
"""Columns of degrees of freedom, formatted as in sentences about a test."""
PROBABILITIES = ("p", "adjusted", "p_adjusted", "p_value", "p_before", "p_after", "credence")
"""Columns with p values or other probabilities."""


@dataclass(frozen=True)
class Figure:
    """A picture with its alternative text and its data."""

    key: str
    title: str
    alt: str
    svg: str
    caption: str = ""
    data: pl.DataFrame | None = None


@dataclass(frozen=True)
class Table:
    """A table with the headings and decimals of its columns, and small pictures beside the cells.

    The first line of a cell summarises the others, which are shown on demand.
    """

    key: str
    title: str
    frame: pl.DataFrame
    caption: str = ""
    headings: Mapping[str, str] = field(default_factory=dict)
    """The headings of columns; a column without one uses its name."""
    digits: Mapping[str, int] = field(default_factory=dict)
    """The decimals of columns, by default two."""
    pictures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Headings with one SVG per row; these columns come after the second one."""
    filtered: bool = False
    """Whether readers can filter it by words."""

    def heading(self, column: str) -> str:
        """The heading of a column."""
        return self.headings.get(column, column.replace("_", " "))

    def cell(self, column: str, value: object) -> str:
        """A value as text; empty for a missing value.

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
    """A literal text that is also written to a file, such as a command or a BibTeX file."""

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
    """Move notes that several parts share to the section, with the titles of these parts.

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
    """Titles as a list in words; only the first keeps its capital."""
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
    # Avoid -0.00 for small negative numbers.
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "\N{MINUS SIGN}")
