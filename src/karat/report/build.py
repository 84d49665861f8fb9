"""Everything a report is made of, computed once: the screening, the Spammer Index, the measures, and what made them.

The measures are those of the participants who stay. The evidence that describes the quality of data is computed also
where the rules of the study do not ask for it: it describes, and excludes nobody. What cannot be computed is a reason
in place of the result: a `NotComputed` says what is missing and why.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

import polars as pl

from karat import __version__
from karat.errors import KaratError
from karat.judgments import Judgments
from karat.judgments.checks import Checked
from karat.measure.measured import Excluded
from karat.measure.measures import Measures
from karat.measure.run import run as measure
from karat.messages import Message, NotComputed
from karat.screen.compare.effects import EffectsBeforeAfter, effects_before_after
from karat.screen.crowd.spammer_index import NOBODY, SpammerIndex, index_unasked
from karat.screen.evidence import Evidence
from karat.screen.run import run as screen
from karat.screen.screening import Screening
from karat.study.criteria import CRITERIA
from karat.study.study import Study
from karat.types import NamedSteps

MOST_ANSWERS = 1_000_000
"""With more answers, describing and measuring would take too long for a page."""
T = TypeVar("T")
DESCRIBING = ("remfod", "attention", "controls", "markov", "deletion", "credence")
"""The criteria that describe the quality of data, whether or not they are rules of the study."""
NOT_COMPUTED = NotComputed("report.not_computed")
PACKAGES = ("numpy", "scipy", "polars", "matplotlib")


@dataclass(frozen=True)
class ReportData:
    """What a report is made of."""

    screening: Screening
    study: Study | None
    index: SpammerIndex | NotComputed
    """The Spammer Index of those who stay, or why there is none."""
    measures: Measures | NotComputed
    """What those who stay said, or why it could not be measured."""
    described: dict[str, Evidence | NotComputed] = field(default_factory=dict)
    """The evidence on the quality of data, by criterion, or why there is none."""
    effects: EffectsBeforeAfter | NotComputed = NOT_COMPUTED
    """The effects of the conditions with everybody and with those who stay, or why they are not compared."""
    notes: tuple[Message, ...] = ()
    """What was assumed when files were read and the study was laid beside them."""
    command: str = ""
    """The command that made the report."""
    versions: dict[str, str] = field(default_factory=dict)
    """The version of karat, of Python and of the packages that computed."""
    platform: str = ""
    made: str = ""
    """The day on which it was made."""

    @property
    def judgments(self) -> Judgments:
        """All judgments, before anybody is excluded."""
        return self.screening.judgments

    def evidence(self, criterion: str) -> Evidence | NotComputed:
        """What a criterion found that describes the quality of data, or why it found nothing."""
        return self.described.get(criterion, NOT_COMPUTED)

    @property
    def title(self) -> str:
        """The title of the study, where one is known."""
        return "Judgments" if self.study is None else self.study.title


def build(
    judgments: Judgments | Screening,
    study: Study | None = None,
    rules: Mapping[str, Any] | None = None,
    *,
    notes: tuple[Message, ...] = (),
    command: str = "",
    measured: Measures | None = None,
    progress: NamedSteps = lambda _: nullcontext(),
) -> ReportData:
    """Screen, measure and collect what a report needs; a screening or measures that are there are taken as they are.

    >>> import karat
    >>> rows = {"participant": ["p1", "p1", "p2", "p2"], "item": ["a", "b"] * 2, "response": [5, 1, 4, 2]}
    >>> found = build(karat.Judgments(rows, karat.Ordinal(5)), rules={"completion": {}})
    >>> found.screening.excluded, found.evidence("remfod").code
    ((), 'times.none')
    """
    if isinstance(judgments, Screening):
        screening = judgments
    else:
        with progress("screening"):
            screening = screen(judgments, rules, study)
    found = _measured(screening, study, progress) if measured is None else measured
    with progress("fitting the Spammer Index"):
        index = index_unasked(screening)
    described = {name: _evidence(screening, name, progress) for name in DESCRIBING}
    with progress("comparing effects before and after exclusion"):
        effects = _effects(screening, found)
    return ReportData(
        screening, study, index, found, described, effects, notes, command, _versions(), _platform(),
        f"{datetime.now().astimezone():%Y-%m-%d}",
    )  # fmt: skip


def _measured(screening: Screening, study: Study | None, progress: NamedSteps) -> Measures | NotComputed:
    """What those who stay said, or why it cannot be measured."""
    if not screening.kept.participants.height:
        return NOBODY
    everybody, gone = screening.judgments, _gone(screening)
    return _or_why(everybody, lambda: measure(everybody, study=study, without=gone, progress=progress))


def _evidence(screening: Screening, name: str, progress: NamedSteps) -> Evidence | NotComputed:
    """The evidence of the screening or, where its rules do not name the criterion, of everybody."""
    if name in screening.evidence:
        return screening.evidence[name]
    if name in screening.skipped:
        return screening.skipped[name]
    with progress(f"describing by {name}"):
        return _or_why(screening.judgments, lambda: CRITERIA[name].compute(screening.judgments))


def _effects(screening: Screening, measures: Measures | NotComputed) -> EffectsBeforeAfter | NotComputed:
    """The model of the contrasts, fitted to everybody's test trials and to those of the participants who stay."""
    if not screening.excluded:
        return NotComputed("report.nobody_excluded")
    parts = () if isinstance(measures, NotComputed) else measures.parts
    part = next((one for one in parts if one.name == "contrasts"), None)
    if part is None or part.result.model is None:
        return NotComputed("report.no_contrasts")
    judgments = screening.judgments
    tested = Judgments.from_checked(
        Checked(judgments.frame.filter(pl.col("function") == "test")), judgments.scales, judgments.participants
    )
    there = set(tested.frame["participant"].unique().to_list())
    gone = [name for name in screening.excluded if name in there]
    if not gone:
        return NotComputed("report.excluded_untested")
    formula = part.result.formula
    return _or_why(tested, lambda: effects_before_after(tested, gone, formula, coding="sum"))


def _or_why(judgments: Judgments, compute: Callable[[], T]) -> T | NotComputed:
    """A result, or the reason why there is none."""
    if len(judgments) > MOST_ANSWERS:
        return NotComputed("report.too_long", {"limit": MOST_ANSWERS})
    try:
        return compute()
    except (KaratError, ValueError) as error:
        return NotComputed.of(error)


def _gone(screening: Screening) -> Excluded:
    """Whom the screening excluded, as the measures want to know it."""
    number = {"n": len(screening.excluded), "participants": screening.judgments.participants.height}
    told = Message("excluded.rules", number) if screening.excluded else Message("excluded.rules_nobody")
    return Excluded(screening.excluded, "", told)


def _versions() -> dict[str, str]:
    found = {"karat": __version__, "Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _platform() -> str:
    return f"{platform.system()} {platform.release()}, {platform.machine()}"
