"""Everything in a report, computed once: the screening, the Spammer Index, the measures, and the versions used.

Measures are computed for the participants who stay. Evidence on the quality of data is also computed if the rules of
the study do not ask for it; it then excludes nobody. A result that cannot be computed is replaced by a `NotComputed`,
which says what is missing and why.
"""

import platform
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

import polars as pl

from karat import __version__
from karat.errors import KaratError
from karat.judgments import Judgments
from karat.judgments.answer_codes import answered
from karat.judgments.columns import COLUMNS
from karat.judgments.message_tables import with_reasons
from karat.measure.measured import Excluded
from karat.measure.measures import Measures
from karat.measure.run import run as measure
from karat.messages import Message, NotComputed, with_code
from karat.report.outcomes import Outcomes, outcomes
from karat.report.pseudonyms import names_platform_ids, pseudonymous
from karat.screen.crowd.gold import gold, has_key
from karat.screen.crowd.spammer_index import NOBODY, SpammerIndex, index_unasked
from karat.screen.evidence import Evidence, ScreenError
from karat.screen.rules import resolve_rules
from karat.screen.run import Compute, computing, with_doubts
from karat.screen.run import run as screen
from karat.screen.screening import Screening
from karat.study.criteria import CRITERIA, title_of
from karat.study.study import Study
from karat.types import NamedSteps

MOST_ANSWERS = 1_000_000
"""The most answers that are described and measured; more would take too long for a page."""
T = TypeVar("T")
DESCRIBING = ("remfod", "attention", "controls", "speed", "credence")
"""The criteria that describe the quality of data, whether or not they are rules of the study."""
SLOW = {"credence": 50_000, "deletion": 6_000, "markov": 20_000}
"""The most answers for which a criterion runs without being asked for."""
LONGEST = 10.0
"""Seconds that the Spammer Index of labels may take."""
NOT_COMPUTED = NotComputed("report.not_computed")
PACKAGES = ("numpy", "scipy", "polars", "matplotlib")
MOST_FLAGGED = 0.5
"""A criterion that flags a larger share of participants does not distinguish them."""
DISTRUSTED = ("deletion.flags_most",)
"""Notes by which a criterion advises against its own use."""


def trusted(evidence: Evidence) -> bool:
    """Whether a criterion flags at most half of the participants and does not advise against its own use."""
    most = len(evidence.flagged) > MOST_FLAGGED * evidence.participants.height
    return not most and not any(with_code(evidence.notes, *DISTRUSTED))


@dataclass(frozen=True)
class ReportData:
    """The contents of a report."""

    screening: Screening
    study: Study | None
    index: SpammerIndex | NotComputed
    """The Spammer Index of the participants who stay, or why there is none."""
    measures: Measures | NotComputed
    """The measures of the participants who stay, or why there are none."""
    described: dict[str, Evidence | NotComputed] = field(default_factory=dict)
    """The evidence on the quality of data by criterion, or why there is none."""
    outcomes: Outcomes | NotComputed = NOT_COMPUTED
    """The main result by the stated rule and by others, or why there is none."""
    notes: tuple[Message, ...] = ()
    """Assumptions made when the files were read and matched with the study."""
    command: str = ""
    """The command that made the report."""
    versions: dict[str, str] = field(default_factory=dict)
    """The versions of karat, Python and the packages that computed."""
    platform: str = ""
    made: str = ""
    """The date of the report."""
    file: str = ""
    """The name of the first file that was read."""
    playback: bool = True
    """Whether readers can look at the answers of single participants."""

    @property
    def judgments(self) -> Judgments:
        """All judgments, before anybody is excluded."""
        return self.screening.judgments

    def evidence(self, criterion: str) -> Evidence | NotComputed:
        """The evidence of a criterion on the quality of data, or why there is none."""
        return self.described.get(criterion, NOT_COMPUTED)

    @property
    def deciding(self) -> set[str]:
        """The criteria of the stated rule."""
        return set(self.screening.evidence) if self.screening.exclude is not None else set()

    def counts(self, name: str, evidence: Evidence) -> bool:
        """Whether the flags of a criterion count: it is in the stated rule, or it is trusted."""
        return name in self.deciding or trusted(evidence)

    @cached_property
    def doubts(self) -> tuple[Message, ...]:
        """Notes on doubtful right answers, if the share of right answers is a main result."""
        leads = isinstance(self.outcomes, Outcomes) and self.outcomes.right is not None
        return tuple(gold(self.judgments).notes) if leads else ()

    @cached_property
    def reasons(self) -> dict[str, list[tuple[str, str]]]:
        """For each flagged participant, the titles of the criteria with their reasons."""
        reasons: dict[str, list[tuple[str, str]]] = {}
        for name, evidence in self.screening.evidence.items():
            if not self.counts(name, evidence):
                continue
            flagged = with_reasons(evidence.participants.filter("flagged")).select("participant", "reason")
            for who, reason in flagged.iter_rows():
                reasons.setdefault(who, []).append((title_of(name), reason))
        return reasons

    @property
    def title(self) -> str:
        """The title of the study; without a study, the name of the file."""
        return self.study.title if self.study is not None else self.file or "Judgments"


def build(
    judgments: Judgments | Screening,
    study: Study | None = None,
    rules: Mapping[str, Any] | None = None,
    *,
    notes: tuple[Message, ...] = (),
    command: str = "",
    measured: Measures | None = None,
    progress: NamedSteps = lambda _: nullcontext(),
    file: str = "",
    quick: bool = False,
    playback: bool = True,
    bayes: bool = False,
) -> ReportData:
    """Screen, measure and collect everything in a report; a given screening or given measures are used as they are.

    `file` is the title if there is no study. `quick` leaves out bootstrap intervals, credence and the Spammer Index.
    `bayes` adds posteriors of the comparisons. Participants named by ids of a platform get new names.

    Parameters
    ----------
    notes
        Messages to show in the report.
    command
        The command to show in the report, for repeating it.
    measured
        The measures, if they have been computed already.
    playback
        Whether the report shows the answers of single participants.

    >>> import karat
    >>> rows = {"participant": ["p1", "p1", "p2", "p2"], "item": ["a", "b"] * 2, "response": [5, 1, 4, 2]}
    >>> found = build(karat.Judgments(rows, karat.Ordinal(5)), rules={"completion": {}})
    >>> found.screening.excluded, found.evidence("remfod").code
    ((), 'times.none')
    """
    if isinstance(judgments, Screening):
        screening = judgments
    else:
        if names_platform_ids(judgments):
            judgments = pseudonymous(judgments, study, seed=1).judgments
            notes = (*notes, Message("report.new_names"))
        judgments = with_coded_factors(judgments)
        with progress("screening"):
            screening = _screened(judgments, rules, study, quick)
    results = _measured(screening, study, progress, quick, bayes) if measured is None else measured
    if quick:
        index: SpammerIndex | NotComputed = NotComputed("report.quick")
    else:
        with progress("fitting the Spammer Index"):
            index = index_unasked(screening, longest=LONGEST)
    described = {name: _evidence(screening, name, progress, quick) for name in DESCRIBING}
    with progress("comparing exclusion rules"):
        compared = _or_why(screening.judgments, lambda: outcomes(screening, study, results))
    return ReportData(
        screening, study, index, results, described, compared, notes, command, _versions(),
        f"{platform.system()} {platform.release()}, {platform.machine()}",
        f"{datetime.now().astimezone():%Y-%m-%d}", file, playback,
    )  # fmt: skip


def with_coded_factors(judgments: Judgments) -> Judgments:
    """The judgments with factors in contrast coding (-0.5 and 0.5, or -1, 0 and 1) as levels instead of numbers."""
    frame = judgments.frame
    coded = []
    for name, kind in frame.schema.items():
        if kind != pl.Float64 or name in COLUMNS:
            continue
        levels = frame[name].drop_nulls().unique().sort()
        if 2 <= levels.len() <= 3 and abs(float(levels[0]) + float(levels[-1])) < 1e-9:
            names = {level: f"{name} {level:g}".replace("-", "\N{MINUS SIGN}") for level in levels.to_list()}
            coded.append(pl.col(name).replace_strict(names, return_dtype=pl.String))
    if not coded:
        return judgments
    return Judgments(frame.with_columns(coded), judgments.scales, judgments.participants)


def _screened(
    judgments: Judgments, rules: Mapping[str, Any] | None, study: Study | None, quick: bool
) -> Screening:  # fmt: skip
    """The screening; without a rule, criteria that would take too long are skipped with a reason."""
    if resolve_rules(rules, study)[1] is not None:
        return screen(judgments, rules, study)
    screening = screen(judgments, rules, study, _in_time(judgments, quick))
    if not screening.evidence or not has_key(answered(judgments)):
        return screening
    return replace(screening, evidence=with_doubts(screening.evidence, gold(judgments).notes))


def _in_time(judgments: Judgments, quick: bool) -> Compute:
    """The computation of criteria, which refuses those that would take too long."""
    compute = computing(judgments)

    def in_time(name: str, excluded: tuple[str, ...], settings: Mapping[str, Any]) -> Evidence:
        if reason := _too_long(name, len(judgments), quick):
            raise ScreenError(reason)
        return compute(name, excluded, settings)

    return in_time


def _too_long(name: str, answers: int, quick: bool) -> Message | None:
    """Why a criterion does not run without being asked for; None if it does."""
    if quick and name in SLOW:
        return Message("report.quick")
    return Message("report.criterion_long", {"limit": SLOW[name]}) if answers > SLOW.get(name, answers) else None


def _measured(
    screening: Screening, study: Study | None, progress: NamedSteps, quick: bool, bayes: bool
) -> Measures | NotComputed:  # fmt: skip
    """The measures of the participants who stay, or why there are none."""
    if not screening.kept.participants.height:
        return NOBODY
    everybody = screening.judgments
    number = {"n": len(screening.excluded), "participants": everybody.participants.height}
    message = Message("excluded.rules", number) if screening.excluded else Message("excluded.rules_nobody")
    excluded = Excluded(screening.excluded, "", message)
    options: dict[str, Any] = {"samples": 0 if quick else None, "bayes": bayes}
    return _or_why(everybody, lambda: measure(everybody, study=study, without=excluded, progress=progress, **options))


def _evidence(screening: Screening, name: str, progress: NamedSteps, quick: bool) -> Evidence | NotComputed:
    """The evidence of the screening; of a criterion that is not in its rules, of all participants."""
    if name in screening.evidence:
        return screening.evidence[name]
    if name in screening.skipped:
        return screening.skipped[name]
    if reason := _too_long(name, len(screening.judgments), quick):
        return NotComputed(reason.code, reason.values)
    with progress(f"describing by {name}"):
        return _or_why(screening.judgments, lambda: CRITERIA[name].compute(screening.judgments))


def _or_why(judgments: Judgments, compute: Callable[[], T]) -> T | NotComputed:
    """A result, or the reason why there is none."""
    if len(judgments) > MOST_ANSWERS:
        return NotComputed("report.too_long", {"limit": MOST_ANSWERS})
    try:
        return compute()
    except (KaratError, ValueError) as error:
        return NotComputed.of(error)


def _versions() -> dict[str, str]:
    versions = {"karat": __version__, "Python": platform.python_version()}
    for name in PACKAGES:
        try:
            # Metadata take longer to read than the attribute of a loaded package.
            versions[name] = getattr(sys.modules.get(name), "__version__", None) or version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return versions
