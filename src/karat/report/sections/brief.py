"""In brief: who stays, how good the data are and what they show, in the sentences of the results themselves."""

from __future__ import annotations

from karat.errors import counted
from karat.measure.contrasts import Contrasts
from karat.measure.measures import Measures, Part
from karat.measure.planned import Planned
from karat.measure.strengths import Strengths
from karat.report.gather import Gathered
from karat.report.sections.plainly import means_told, planned_told, wording_told
from karat.screen.explain import rule_in_words
from karat.screen.rules import lacking
from karat.screen.screening import Screening
from karat.section import Section
from karat.study.study import Study

FIRST = ("planned", "contrasts", "strengths", "factors", "decisions", "consensus", "agreement")
"""The results that are told here, the most important first."""
MOST = 3
WIDEST = 0.8
"""An interval of the Spammer Index that is wider than this says nothing."""
LONGEST = 800
"""Letters above which a result, such as the agreement on many questions, is told in its own section only."""


def section(gathered: Gathered) -> Section:
    """The sentences that a reader with two minutes needs.

    >>> import karat
    >>> from karat.report.gather import Gathered
    >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"completion": {}})
    >>> section(Gathered(screening, None, "not computed", "not computed")).paragraphs[0]
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
    rule = f"{rule_in_words(screening)}{lacking(screening.skipped)}"
    return f"{kept:,} of {counted(everyone, 'participant')} stay in the analysis (rule: {rule})."


def quality_told(gathered: Gathered) -> str:
    """The Spammer Index with its reading, or why there is none."""
    index = gathered.index
    if isinstance(index, str):
        return f"There is no Spammer Index: {without_name(index)}"
    # An interval from nearly nothing to nearly everything says that nothing is known, whatever the estimate.
    unknown = index.upper - index.lower > WIDEST
    return f"{index} The interval is too wide to go by: there are too few answers." if unknown else str(index)


def without_name(why: str) -> str:
    """Why there is no index, without the name that the program has for it.

    >>> without_name("spammer_index: everybody gave the same answer.")
    'everybody gave the same answer.'
    >>> without_name("spammer_index compares participants over tasks.")
    'it compares participants over tasks.'
    """
    why = why.removeprefix("spammer_index: ")
    return f"it {why.removeprefix('spammer_index ')}" if why.startswith("spammer_index ") else why


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


def _said(part: Part) -> str:
    """A result in its own words, without its remarks."""
    text = " ".join(str(part.result).split())
    for note in getattr(part.result, "notes", ()):
        text = text.replace(" ".join(note.split()), "")
    return " ".join(text.split())


def _plainly(part: Part, measures: Measures, study: Study | None) -> str:
    """A result with the plain means or shares of conditions, or with the sentences of its items, before or in it."""
    judgments = measures.judgments
    scale = judgments.scales.get(part.question) or next(iter(judgments.scales.values()))
    if isinstance(part.result, Planned):
        fitted = [one.result for one in measures.parts if isinstance(one.result, Contrasts)]
        return planned_told(part.result, fitted, scale)
    if isinstance(part.result, Contrasts):
        return f"{means_told(part.result, scale)} {_said(part)}".strip()
    if isinstance(part.result, Strengths):
        tables = [judgments.frame, *(() if study is None else (block.items.frame for block in study.blocks))]
        return f"{_said(part)} {wording_told(part.result, tables)}".strip()
    return ""
