"""The sections of the report in the order of the page; each has a function from `ReportData` to a `Section`."""

from karat.report.build import ReportData
from karat.report.sections import brief, colophon, people, quality, results, sample
from karat.section import Section

PARTS = (
    brief.section, results.section, quality.section, people.section, sample.section, sample.asked_section,
)  # fmt: skip


def sections(gathered: ReportData, language: str = "en") -> tuple[Section, ...]:
    """All sections; the paragraphs on methods are in this language.

    >>> import karat
    >>> from karat.report.build import NOT_COMPUTED, ReportData
    >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"completion": {}})
    >>> [section.key for section in sections(ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED))][:3]
    ['brief', 'results', 'quality']
    """
    parts = [part(gathered) for part in PARTS]
    parts += [colophon.words_section(gathered, language), colophon.section(gathered)]
    return tuple(part for part in parts if isinstance(part, Section))
