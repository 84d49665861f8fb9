"""The report in Markdown, for repositories: the same sections, with figures as SVG files beside it."""

from __future__ import annotations

import re

from karat.languages import language_of
from karat.report.build import ReportData
from karat.report.page import facts
from karat.report.sections import sections
from karat.report.words.sample import simulated_told
from karat.section import Section, Table

MOST_ROWS = 60
"""Longer tables are cut; JSON and CSV have all of them."""
SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


def markdown(gathered: ReportData, language: str = "en", folder: str = "figures") -> tuple[str, dict[str, str]]:
    """The text, and the SVG of each figure by the name that the text has for it, within `folder`.

    >>> import karat
    >>> from karat.report.build import NOT_COMPUTED, ReportData
    >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"completion": {}})
    >>> text, figures = markdown(ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED))
    >>> text.splitlines()[0], "flow.svg" in figures
    ('# Judgments', True)
    """
    parts = sections(gathered, language)
    lines = [f"# {escaped(gathered.title)}", ""]
    for text in simulated_told(language_of(language), gathered.judgments):
        lines += [f"> **{escaped(text)}**", ""]
    lines += [f"- {escaped(name)}: {value}" for name, value in facts(gathered)] + [""]
    for part in parts:
        lines += _section(part, 2, folder)
    figures = {f"{one.key}.svg": one.svg for part in parts for own in part.walk() for one in own.figures}
    return "\n".join(lines).rstrip() + "\n", figures


def escaped(text: str) -> str:
    r"""A text with every sign that Markdown would take for its own.

    >>> escaped("(1 | item) * <b>")
    '(1 \\| item) \\* \\<b\\>'
    """
    return SPECIAL.sub(r"\\\1", text)


def _section(section: Section, level: int, folder: str) -> list[str]:
    lines = [f"{'#' * level} {escaped(section.title)}", ""]
    for text in section.paragraphs:
        lines += [escaped(text), ""]
    for figure in section.figures:
        lines += [f"![{escaped(figure.alt)}]({folder}/{figure.key}.svg)", ""]
        lines += [escaped(figure.caption), ""] if figure.caption else []
    for table in section.tables:
        lines += _table(table)
    for listing in section.listings:
        lines += [f"**{escaped(listing.title)}**", "", f"~~~~{listing.suffix}", listing.text.rstrip(), "~~~~", ""]
    lines += [f"- {escaped(note)}" for note in section.notes] + ([""] if section.notes else [])
    for part in section.sections:
        lines += _section(part, level + 1, folder)
    return lines


def _table(table: Table) -> list[str]:
    columns = table.frame.columns
    numbers = [dtype.is_numeric() for dtype in table.frame.dtypes]
    lines = [f"**{escaped(table.title)}**", "", _row([table.heading(column) for column in columns])]
    lines.append("| " + " | ".join("---:" if number else "---" for number in numbers) + " |")
    for row in table.frame.head(MOST_ROWS).iter_rows():
        cells = [table.cell(column, value) for column, value in zip(columns, row, strict=True)]
        # The first line of a cell sums up the others.
        lines.append(_row(["; ".join(cell.split("\n")[1:]) or cell for cell in cells]))
    more = table.frame.height - MOST_ROWS
    lines += ["", f"{more:,} more rows are left out here."] if more > 0 else []
    lines += ["", escaped(table.caption)] if table.caption else []
    return [*lines, ""]


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(escaped(cell) for cell in cells) + " |"
