"""The report as plain data: the results as the other commands write them, and the sentences that were made of them."""

from __future__ import annotations

from typing import Any

from karat.measure.measures import Measures
from karat.measure.written import plain
from karat.report.gather import Gathered
from karat.report.sections import sections
from karat.screen.effects import EffectsBeforeAfter
from karat.screen.spammer_index import SpammerIndex
from karat.section import Section


def as_data(gathered: Gathered, language: str = "en") -> dict[str, Any]:
    """Everything but the pictures; what could not be computed is the sentence that says why.

    >>> import karat
    >>> from karat.report.gather import Gathered
    >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"completion": {}})
    >>> list(as_data(Gathered(screening, None, "not computed", "not computed")))[5:]
    ['screening', 'spammer_index', 'measures', 'effects', 'sections']
    """
    index, measures, effects = gathered.index, gathered.measures, gathered.effects
    return {
        "title": gathered.title,
        "made": gathered.made,
        "command": gathered.command,
        "versions": gathered.versions,
        "platform": gathered.platform,
        "screening": plain(gathered.screening.to_dict()),
        "spammer_index": plain(index.to_dict()) if isinstance(index, SpammerIndex) else index,
        "measures": measures.to_dict() if isinstance(measures, Measures) else measures,
        "effects": _effects(effects) if isinstance(effects, EffectsBeforeAfter) else effects,
        "sections": [_section(one) for one in sections(gathered, language)],
    }


def _effects(found: EffectsBeforeAfter) -> dict[str, Any]:
    return {
        "settings": plain(found.settings), "excluded": list(found.excluded), "tests": plain(found.tests.to_dicts()),
        "coefficients": plain(found.coefficients.to_dicts()), "notes": list(found.notes),
    }  # fmt: skip


def _section(section: Section) -> dict[str, Any]:
    return {
        "key": section.key,
        "title": section.title,
        "language": section.language,
        "paragraphs": list(section.paragraphs),
        "notes": list(section.notes),
        "figures": [{"key": one.key, "title": one.title, "alt": one.alt, "caption": one.caption}
                    for one in section.figures],
        "tables": [{"key": one.key, "title": one.title, "caption": one.caption, "rows": plain(one.frame.to_dicts())}
                   for one in section.tables],
        "listings": [{"key": one.key, "title": one.title, "text": one.text} for one in section.listings],
        "sections": [_section(one) for one in section.sections],
    }  # fmt: skip
