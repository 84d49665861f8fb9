"""Everything a report is made of, computed once: the screening, the Spammer Index, the measures, and what made them.

The measures are those of the participants who stay. The evidence that describes the quality of data is computed also
where the rules of the study do not ask for it: it describes, and excludes nobody. What cannot be computed is a sentence
in place of the result, so that the report can say what is missing and why.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

import polars as pl

from karat import __version__
from karat.checks import Checked
from karat.errors import KaratError, counted
from karat.judgments import Judgments
from karat.measure.excluded import Excluded
from karat.measure.measures import Measures
from karat.measure.run import run as measure
from karat.screen.effects import EffectsBeforeAfter, effects_before_after
from karat.screen.evidence import Evidence
from karat.screen.run import run as screen
from karat.screen.screening import Screening
from karat.screen.spammer_index import SpammerIndex
from karat.screen.spammer_unasked import NOBODY, index_unasked
from karat.study.criteria import CRITERIA
from karat.study.study import Study

MOST_ANSWERS = 1_000_000
"""With more answers, describing and measuring would take too long for a page."""
T = TypeVar("T")
DESCRIBING = ("remfod", "attention", "controls", "markov", "deletion", "credence")
"""The criteria that describe the quality of data, whether or not they are rules of the study."""
PACKAGES = ("numpy", "scipy", "polars", "matplotlib")
Progress = Callable[[str], AbstractContextManager[None]]
"""Given what is being computed, a context that shows it as long as it lasts."""


@dataclass(frozen=True)
class Gathered:
    """What a report is made of."""

    screening: Screening
    study: Study | None
    index: SpammerIndex | str
    """The Spammer Index of those who stay, or why there is none."""
    measures: Measures | str
    """What those who stay said, or why it could not be measured."""
    described: dict[str, Evidence | str] = field(default_factory=dict)
    """The evidence on the quality of data, by criterion, or why there is none."""
    effects: EffectsBeforeAfter | str = ""
    """The effects of the conditions with everybody and with those who stay, or why they are not compared."""
    notes: tuple[str, ...] = ()
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

    def evidence(self, criterion: str) -> Evidence | str:
        """What a criterion found that describes the quality of data, or why it found nothing."""
        return self.described.get(criterion, "It was not computed.")

    @property
    def title(self) -> str:
        """The title of the study, where one is known."""
        return "Judgments" if self.study is None else self.study.title


def gather(
    judgments: Judgments | Screening,
    study: Study | None = None,
    rules: Mapping[str, Any] | None = None,
    *,
    notes: tuple[str, ...] = (),
    command: str = "",
    measured: Measures | None = None,
    progress: Progress = lambda _: nullcontext(),
) -> Gathered:
    """Screen, measure and collect what a report needs; a screening or measures that are there are taken as they are.

    >>> import karat
    >>> rows = {"participant": ["p1", "p1", "p2", "p2"], "item": ["a", "b"] * 2, "response": [5, 1, 4, 2]}
    >>> found = gather(karat.Judgments(rows, karat.Ordinal(5)), rules={"completion": {}})
    >>> found.screening.excluded, found.evidence("remfod")
    ((), 'remfod needs response times, and these judgments have none (column rt, in seconds).')
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
    return Gathered(
        screening, study, index, found, described, effects, notes, command, _versions(), _platform(),
        f"{datetime.now().astimezone():%Y-%m-%d}",
    )  # fmt: skip


def _measured(screening: Screening, study: Study | None, progress: Progress) -> Measures | str:
    """What those who stay said, or why it cannot be measured."""
    if not screening.kept.participants.height:
        return NOBODY
    everybody, gone = screening.judgments, _gone(screening)
    return _or_why(everybody, lambda: measure(everybody, study=study, without=gone, progress=progress))


def _evidence(screening: Screening, name: str, progress: Progress) -> Evidence | str:
    """The evidence of the screening or, where its rules do not name the criterion, of everybody."""
    if name in screening.evidence:
        return screening.evidence[name]
    if name in screening.skipped:
        return screening.skipped[name].removeprefix(f"{name}: ")
    with progress(f"describing by {name}"):
        found = _or_why(screening.judgments, lambda: CRITERIA[name].compute(screening.judgments))
    return found.removeprefix(f"{name}: ") if isinstance(found, str) else found


def _effects(screening: Screening, measures: Measures | str) -> EffectsBeforeAfter | str:
    """The model of the contrasts, fitted to everybody's test trials and to those of the participants who stay."""
    if not screening.excluded:
        return "Nobody is excluded, so that there is nothing to compare."
    part = None if isinstance(measures, str) else next((one for one in measures.parts if one.name == "contrasts"), None)
    if part is None or part.result.model is None:
        return "There are no contrasts of conditions to compare."
    judgments = screening.judgments
    tested = Judgments.from_checked(
        Checked(judgments.frame.filter(pl.col("function") == "test")), judgments.scales, judgments.participants
    )
    there = set(tested.frame["participant"].unique().to_list())
    gone = [name for name in screening.excluded if name in there]
    if not gone:
        return "Those who are excluded gave no answers to test items."
    formula = part.result.formula
    return _or_why(tested, lambda: effects_before_after(tested, gone, formula, coding="sum"))


def _or_why(judgments: Judgments, compute: Callable[[], T]) -> T | str:
    """A result, or the sentence that says why there is none."""
    if len(judgments) > MOST_ANSWERS:
        return f"It would take long for more than {MOST_ANSWERS:,} answers; see karat.screen and karat.measure."
    try:
        return compute()
    except (KaratError, ValueError) as error:
        return str(error)


def _gone(screening: Screening) -> Excluded:
    """Whom the screening excluded, as the measures want to know it."""
    everyone = counted(screening.judgments.participants.height, "participant")
    told = f"{len(screening.excluded):,} of {everyone}, by the rules of this screening."
    return Excluded(screening.excluded, "", told if screening.excluded else "nobody.")


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
