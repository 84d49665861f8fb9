"""The report as plain data: the results as the other commands write them, and the sentences that were made of them."""

from __future__ import annotations

from typing import Any

from karat.languages import language_of
from karat.measure.consensus import SURE, Consensus
from karat.measure.export import plain
from karat.measure.measures import Measures
from karat.messages import NotComputed
from karat.report.build import ReportData
from karat.report.counts import composition_counts, design_counts, evidence_counts, sample_counts
from karat.report.planned import study_counts
from karat.report.sections import sections
from karat.report.words.sample import simulated_told
from karat.screen.compare.effects import EffectsBeforeAfter
from karat.screen.crowd.spammer_index import SpammerIndex
from karat.screen.evidence import Evidence
from karat.section import Section
from karat.simulate.marked import simulated


def as_data(gathered: ReportData, language: str = "en") -> dict[str, Any]:
    """Everything but the pictures; what could not be computed is the message that says why.

    `simulated` says how many participants are; where some are, `banner` is the sentence on top of the page.

    >>> import karat
    >>> from karat.report.build import NOT_COMPUTED, ReportData
    >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"completion": {}})
    >>> list(as_data(ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED)))[-4:]
    ['spammer_index', 'measures', 'effects', 'sections']
    """
    found = results(gathered)
    told = simulated_told(language_of(language), gathered.judgments)
    if told:
        found = {"banner": told[0]} | found
    return found | {"sections": [_section(one) for one in sections(gathered, language)]}


def results(gathered: ReportData) -> dict[str, Any]:
    """Every result that a sentence of the report may speak of; `screening` is what screening.json holds.

    >>> import karat
    >>> from karat.report.build import NOT_COMPUTED, ReportData
    >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"completion": {}})
    >>> results(ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED))["screening"]["summary"]["kept"]
    120
    """
    index, measures, effects, study = gathered.index, gathered.measures, gathered.effects, gathered.study
    known: dict[str, Evidence | NotComputed] = {**gathered.described, **gathered.screening.evidence}
    return {
        "title": gathered.title,
        "made": gathered.made,
        "command": gathered.command,
        "versions": gathered.versions,
        "platform": gathered.platform,
        "screening": plain(gathered.screening.to_dict()),
        "simulated": simulated(gathered.judgments.participants),
        "design": design_counts(gathered.judgments),
        "study": None if study is None else study_counts(study),
        "sample": sample_counts(gathered),
        "composition": composition_counts(gathered.screening.composition()),
        "evidence": {
            name: one.to_dict() if isinstance(one, NotComputed) else evidence_counts(one) for name, one in known.items()
        },
        "spammer_index": _index(index) if isinstance(index, SpammerIndex) else index.to_dict(),
        "measures": _measures(measures) if isinstance(measures, Measures) else measures.to_dict(),
        "effects": _effects(effects) if isinstance(effects, EffectsBeforeAfter) else effects.to_dict(),
    }


def _index(found: SpammerIndex) -> dict[str, Any]:
    whole: dict[str, Any] = plain(found.to_dict())
    return whole | {"participants": found.participants, "suspicious": found.suspicious}


def _measures(found: Measures) -> dict[str, Any]:
    """What measures.json holds, with the thresholds and the counts of labels that the page tells."""
    whole = found.to_dict()
    for data, part in zip(whole["parts"], found.parts, strict=True):
        thresholds = getattr(getattr(part.result, "fit", None), "thresholds", None)
        data |= {} if thresholds is None else {"thresholds": plain(thresholds)}
        if isinstance(part.result, Consensus):
            data["counts"] = _labels(part.result)
    return whole


def _labels(found: Consensus) -> dict[str, Any]:
    """How many labels are sure, how many are ties, and how often the median participant is expected to be right."""
    labels, right = found.labels, found.participants["right"]
    return {
        "items": labels.height, "answers": int(labels["answers"].sum()), "ties": int(labels["tie"].sum()),
        "sure": int((labels["probability"] >= SURE).sum()), "median_right": plain(right.median()),
    }  # fmt: skip


def _effects(found: EffectsBeforeAfter) -> dict[str, Any]:
    return {
        "settings": plain(found.settings), "excluded": list(found.excluded), "tests": plain(found.tests.to_dicts()),
        "coefficients": plain(found.coefficients.to_dicts()), "notes": [note.to_dict() for note in found.notes],
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
