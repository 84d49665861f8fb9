"""Words for a paper: the paragraphs on methods, those for a preregistration, and the literature to cite."""

from __future__ import annotations

from karat.report.build import ReportData
from karat.report.literature import bibtex, cited, readable, references
from karat.report.words import methods, preregistration
from karat.section import Listing, Section

TITLES = {
    "en": ("Words for a paper", "Methods", "Preregistration", "Literature"),
    "de": ("Worte für einen Aufsatz", "Methoden", "Präregistrierung", "Literatur"),
}
"""The headings in each language."""


def section(gathered: ReportData, language: str = "en") -> Section:
    """The paragraphs with the settings and numbers of this report, and the literature that they cite.

    >>> import karat
    >>> from karat.report.build import NOT_COMPUTED, ReportData
    >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"completion": {}, "remfod": {}})
    >>> found = section(ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED), "de")
    >>> [one.title for one in found.sections]
    ['Methoden', 'Präregistrierung', 'Literatur']
    """
    title, first, second, third = TITLES[language]
    texts = methods(gathered, language), preregistration(gathered, language)
    keys = cited(" ".join(texts))
    parts = [
        Section(key, heading, _paragraphs(text, language), language=language)
        for key, heading, text in zip(("methods", "preregistration"), (first, second), texts, strict=True)
    ]
    if keys:
        listing = Listing("literature", "BibTeX", bibtex(keys), "bib")
        parts.append(
            Section("literature", third, tuple(references(keys, language)), listings=(listing,), language=language)
        )
    return Section("words", title, sections=tuple(parts), language=language)


def _paragraphs(text: str, language: str) -> tuple[str, ...]:
    return tuple(readable(one, language) for one in text.split("\n\n") if one.strip())
