"""From the answers to the report, and how the verdicts compare with what was planted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from karat.judgments import Judgments
from karat.measure.measures import Measures
from karat.report.build import ReportData, build
from karat.report.export import write
from karat.screen.criteria.credence import Credence
from karat.simulate.behaviours import JUDGES
from karat.study.study import Study
from karat.types import NamedSteps

JUDGING = {
    "earnest": "in earnest", "minority dialect": "with a dialect of their own", "dawdler": "who dawdle",
    "drop-out": "who drop out",
}  # fmt: skip
"""How those are called who judge what they see, and whom a rule may exclude nevertheless."""


@dataclass(frozen=True)
class Answered:
    """The answers of participants whose behaviour is known."""

    judgments: Judgments
    behaviours: dict[str, str]
    study: Study
    line: str
    """What happened, in words."""


@dataclass(frozen=True)
class DemoResult:
    """The page, and what is to be said of it."""

    page: Path
    lines: list[str]


def report(answered: Answered, folder: Path, progress: NamedSteps) -> DemoResult:
    """Screen by the rules that the study stated beforehand, measure what is left, and write the report."""
    answered.judgments.to_parquet(folder / "judgments.parquet")
    gathered = build(answered.judgments, answered.study, command="karat demo", progress=progress)
    gathered.screening.write(folder / "screened")
    with progress("writing the report"):
        page, *_ = write(gathered, folder / "report.html")
    return DemoResult(page, [*_compared(gathered, answered.behaviours), *_measured(gathered)])


def _compared(gathered: ReportData, behaviours: dict[str, str]) -> list[str]:
    """Who was found and who not, by the rules of the study and by credence."""
    lines = [f"screened   by the rules that the study stated: {_found(gathered.screening.excluded, behaviours)}"]
    credence = gathered.evidence("credence")
    if isinstance(credence, Credence):
        lines.append(f"credence   as a second opinion: {_found(credence.flagged, behaviours)}")
    return lines


def _found(flagged: Collection[str], behaviours: dict[str, str]) -> str:
    careless = Counter(kind for kind in behaviours.values() if kind not in JUDGES)
    caught = Counter(behaviours[name] for name in flagged if behaviours[name] not in JUDGES)
    kinds = ", ".join(f"{caught[kind]} of {number} {kind}s" for kind, number in careless.items())
    wrongly = Counter(behaviours[name] for name in flagged if behaviours[name] in JUDGES)
    others = ", ".join(f"{count} {JUDGING[name]}" for name, count in wrongly.items()) or "nobody"
    return f"{kinds} found; also, of those simulated to judge every sentence: {others}"


def _measured(gathered: ReportData) -> list[str]:
    measures = gathered.measures
    if not isinstance(measures, Measures):
        return [f"measured   nothing: {measures}"]
    return [f"measured   {', '.join(part.name for part in measures.parts)}"]
