"""In brief: who stays, how good the data are and what they show, in the sentences of the results themselves."""

from __future__ import annotations

from karat.errors import counted
from karat.measure.effects.contrasts import Contrasts
from karat.measure.effects.planned import PlannedContrasts
from karat.measure.measured import Measure
from karat.measure.measures import Measures
from karat.measure.scaling.result import Strengths
from karat.messages import Message, NotComputed
from karat.report.build import ReportData
from karat.report.figures import sentences
from karat.report.sections.plain_means import means_told, planned_told, wording_told
from karat.screen.rules import applied_rule
from karat.screen.screening import Screening, rule_in_words
from karat.section import Section
from karat.study.study import Study

FIRST = ("planned", "contrasts", "strengths", "factors", "decisions", "consensus", "agreement")
"""The results that are told here, the most important first."""
MOST = 3
WIDEST = 0.8
"""An interval of the Spammer Index that is wider than this says nothing."""
LONGEST = 800
"""Letters above which a result, such as the agreement on many questions, is told in its own section only."""


def section(gathered: ReportData) -> Section:
    """The sentences that a reader with two minutes needs.

    >>> import karat
    >>> from karat.report.build import NOT_COMPUTED, ReportData
    >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"completion": {}})
    >>> section(ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED)).paragraphs[0]
    '120 of 120 participants stay in the analysis (rule: any of completion).'
    """
    told = [verdict(gathered.screening), quality_told(gathered)]
    if isinstance(gathered.measures, Measures):
        told += found(gathered.measures, gathered.study)
    return Section("brief", "In brief", tuple(told))


def verdict(screening: Screening) -> str:
    """How many stay, and by which rule.

    >>> import karat
    >>> verdict(karat.screen.run(karat.datasets.load("likert"), {"completion": {}, "remfod": {}}))
    '42 of 48 participants stay in the analysis (rule: any of completion, remfod).'
    """
    everyone = screening.judgments.participants.height
    if screening.exclude is None:
        who = "the one participant stays" if everyone == 1 else f"all {everyone:,} participants stay"
        return f"No rule of exclusion was stated: {who} in the analysis."
    kept = everyone - len(screening.excluded)
    rule = applied_rule(rule_in_words(screening), screening.skipped)
    return f"{kept:,} of {counted(everyone, 'participant')} stay in the analysis (rule: {rule})."


def quality_told(gathered: ReportData) -> str:
    """The Spammer Index with its reading, or why there is none."""
    index = gathered.index
    if isinstance(index, NotComputed):
        return f"There is no Spammer Index. {index}"
    # An interval from nearly nothing to nearly everything says that nothing is known, whatever the estimate.
    unknown = index.upper - index.lower > WIDEST
    return sentences([*index.summary, *([Message("report.index_unknown")] if unknown else [])])


def found(measures: Measures, study: Study | None = None) -> list[str]:
    """What the most important results say, without their remarks, and in plain means where there are some."""
    parts = sorted((one for one in measures.parts if one.name in FIRST), key=lambda one: FIRST.index(one.name))
    told = []
    for part in parts[:MOST]:
        for text in (_plainly(part, measures, study), _said(part)):
            whole = (f"{part.question}: " if part.question else "") + text
            if text and len(whole) <= LONGEST:
                told.append(whole[:1].upper() + whole[1:])
                break
    return told


def _said(part: Measure) -> str:
    """A result in its own words, without its notes."""
    return sentences(part.result.summary)


def _plainly(part: Measure, measures: Measures, study: Study | None) -> str:
    """A result with the plain means or shares of conditions, or with the sentences of its items, before or in it."""
    judgments = measures.judgments
    scale = judgments.scales.get(part.question) or next(iter(judgments.scales.values()))
    if isinstance(part.result, PlannedContrasts):
        fitted = [one.result for one in measures.parts if isinstance(one.result, Contrasts)]
        return planned_told(part.result, fitted, scale)
    if isinstance(part.result, Contrasts):
        return f"{means_told(part.result, scale)} {_said(part)}".strip()
    if isinstance(part.result, Strengths):
        tables = [judgments.frame, *(() if study is None else (block.items.frame for block in study.blocks))]
        return f"{_said(part)} {wording_told(part.result, tables)}".strip()
    return ""
