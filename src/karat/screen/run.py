"""All criteria together: the evidence of those that apply, and the rule of the study for exclusion.

Criteria run in three stages, as published: completion, response times, answers. Participants excluded after one stage
are left out of the next, so that they do not affect its cutoffs. Without rules, nobody is excluded: all criteria that
apply give evidence, and the others a reason. The procedure for crowds combines other criteria, so it runs only if the
rules name it.

Recorded right answers are compared with those of the crowd (`karat.screen.gold`). Doubtful ones are a note of a
criterion that uses the key, or of the last that ran.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import polars as pl

from karat.errors import KaratError
from karat.executors import SERIAL, Executor
from karat.judgments import Judgments
from karat.judgments.answer_codes import answered
from karat.messages import Message, NotComputed
from karat.screen.crowd.gold import gold, has_key
from karat.screen.evidence import Evidence, ScreenError
from karat.screen.one_part import AnyEvidence
from karat.screen.rules import newly_excluded, resolve_rules
from karat.screen.screening import Screening, ScreeningStage
from karat.study.criteria import CRITERIA, criterion_named
from karat.study.frozen import changes_since
from karat.study.study import Study
from karat.types import Progress

Compute = Callable[[str, tuple[str, ...], Mapping[str, Any]], Evidence]
"""The evidence from the name of a criterion, the participants excluded already, and its settings."""
STAGES = ("completion", "clock", "answers")
COLUMNS = ("participant", "score", "threshold", "flagged")
"""The columns of all evidence, besides a message and its values, or a reason in words."""


def run(
    judgments: Judgments,
    rules: Mapping[str, Any] | None = None,
    study: Study | None = None,
    compute: Compute | None = None,
    *,
    executor: Executor = SERIAL,
    progress: Progress | None = None,
) -> Screening:
    """Run the criteria in `rules` with their settings and `exclude`, or all that apply with default settings.

    `rules` is the section `[screening]` of a study file: `{"completion": {"at_least": 0.9}, "remfod": {}, "exclude":
    "any"}`. With a `study`, its rules apply unless others are given, and criteria use the length of its questionnaire,
    its expected duration and the answers it admits. Criteria that cannot run are listed in `skipped`. `compute` may
    cache evidence for many runs on the same judgments. `executor` runs the tasks of some criteria
    (`karat.executors.open_executor`). A `StepProgress` is also notified when a criterion begins and of its result.

    >>> import karat
    >>> screening = run(karat.datasets.load("likert"), {"completion": {}, "remfod": {}, "exclude": "any"})
    >>> screening.remaining
    {'completion': 47, 'clock': 42, 'answers': 42}
    """
    settings, exclude = resolve_rules(rules, study)
    people = judgments.participants["participant"].to_list()
    excluded: list[str] = []
    uncached = compute is None
    compute = compute or computing(judgments, executor)

    def compute_criterion(name: str) -> Evidence:
        begin(progress, name)
        return compute(name, tuple(excluded), settings[name])

    rule = "any" if exclude is None else exclude

    def exclude_flagged(stage: str, evidence: Mapping[str, Evidence], pending: list[str]) -> Exclusions:
        flagged = {name: evidence[name].flagged if name in evidence else () for name in settings}
        new, counts = newly_excluded(people, flagged, excluded, rule, pending)
        excluded.extend(new)
        return len(new), counts, new

    evidence, skipped, steps = stages(settings, exclude, len(people), compute_criterion, exclude_flagged, progress)
    if uncached and evidence and has_key(answered(judgments)):
        begin(progress, "right answers")
        evidence = with_doubts(evidence, gold(judgments).notes)
    out_of_study = set(excluded)
    return Screening(
        judgments, evidence, tuple(person for person in people if person in out_of_study), skipped, exclude, steps,
        None if study is None else study.fingerprint, settings,
        changes_since(judgments.frozen, study, rules if exclude is not None else None),
    )  # fmt: skip


Exclusions = tuple[int, dict[str, int], tuple[str, ...]]
"""How many participants a stage excludes, how many of them each criterion flagged, and, in memory, their names."""


def stages(
    settings: Mapping[str, Any], exclude: str | int | None, everybody: int, compute: Callable[[str], AnyEvidence],
    take_out: Callable[[str, Mapping[str, AnyEvidence], list[str]], Exclusions], progress: Progress | None,
) -> tuple[dict[str, AnyEvidence], dict[str, NotComputed], tuple[ScreeningStage, ...]]:  # fmt: skip
    """The evidence stage by stage, and the participants the rule then excludes, of judgments in memory or in parts.

    `take_out` gets the stage, all evidence so far, and the criteria without evidence yet.
    """
    evidence: dict[str, AnyEvidence] = {}
    skipped: dict[str, NotComputed] = {}
    steps: list[ScreeningStage] = []
    remaining = everybody
    for number, stage in enumerate(STAGES):
        current = [name for name in settings if CRITERIA[name].stage == stage]
        for name in current:
            try:
                evidence[name] = compute(name)
                flagged, people = evidence[name].counts
                values = {"criterion": name, "flagged": flagged, "participants": people}
                end(progress, Message("screening.flagged", values))
            except ScreenError as error:
                skipped[name] = NotComputed.of(error)
                end(progress, Message("screening.not_run", {"criterion": name}))
        computed = [name for name in current if name in evidence]
        exclusions: Exclusions = (0, {}, ())
        # A stage without evidence excludes nobody.
        if computed and exclude is not None and everybody:
            # Nobody is excluded because of criteria that come later or could not run.
            later = STAGES[number + 1 :]
            pending = [name for name in settings if name in skipped or CRITERIA[name].stage in later]
            exclusions = take_out(stage, evidence, pending)
        counts = {name: exclusions[1].get(name, 0) for name in computed}
        steps.append(ScreeningStage(stage, remaining, counts, remaining - exclusions[0], exclusions[2]))
        remaining -= exclusions[0]
    return evidence, skipped, tuple(steps)


def computing(judgments: Judgments, executor: Executor = SERIAL) -> Compute:
    """A function that computes a criterion for the participants left, and caches their judgments."""
    cache: tuple[tuple[str, ...], Judgments] = ((), judgments)

    def compute(name: str, excluded: tuple[str, ...], settings: Mapping[str, Any]) -> Evidence:
        nonlocal cache
        cached, remaining = cache
        if cached != excluded:
            remaining = judgments.without(excluded)
            cache = excluded, remaining
        if not remaining.participants.height:
            raise ScreenError(Message("screening.nobody_left"))
        criterion = criterion_named(name)
        elsewhere = {"executor": executor} if criterion.in_tasks else {}
        return _checked(name, criterion.compute(remaining, **settings, **elsewhere))

    return compute


def _checked(name: str, evidence: Any) -> Evidence:
    """The result of a criterion if it is evidence; criteria may come from other packages."""
    if not isinstance(evidence, Evidence):
        raise KaratError(f"{name} returned {type(evidence).__name__}; a criterion returns karat.screen.Evidence.")
    table = evidence.participants
    # A criterion of another package may give its reasons as sentences.
    needed = (*COLUMNS, *(("message", "values") if "message" in table.columns else ("reason",)))
    lacking = [column for column in needed if column not in table.columns]
    if lacking:
        raise KaratError(f"{name}: its evidence has no column {lacking[0]}; it needs {', '.join(needed)}.")
    if table["flagged"].dtype != pl.Boolean or table["flagged"].null_count():
        raise KaratError(f"{name}: the column flagged of its evidence must be true or false for everybody.")
    return evidence


def with_doubts(evidence: dict[str, AnyEvidence], doubts: Sequence[Message]) -> dict[str, AnyEvidence]:
    """The evidence with notes on doubtful right answers, unless a criterion has them already.

    They are notes of a criterion that uses the key, or of the last one.
    """
    present = [part for result in evidence.values() for note in result.notes for part in _parts(note)]
    new = tuple(note for note in doubts if note not in present)
    if not evidence or not new:
        return evidence
    by_the_key = [name for name in evidence if name in CRITERIA and CRITERIA[name].by_the_key]
    name = by_the_key[0] if by_the_key else list(evidence)[-1]
    return evidence | {name: replace(evidence[name], notes=(*evidence[name].notes, *new))}


def _parts(note: object) -> Iterator[object]:
    """A note, and the notes in its values."""
    yield note
    if isinstance(note, Message):
        for value in note.values.values():
            yield from _parts(value)


@runtime_checkable
class StepProgress(Protocol):
    """A progress that is notified of steps as well as of tasks."""

    def __call__(self, done: int, total: int) -> None:
        """This many tasks of the step are done."""

    def begins(self, step: str) -> None:
        """A step begins, or continues with uncounted work."""

    def ends(self, result: Message) -> None:
        """A step is done, with its result."""


def begin(progress: Progress | None, step: str) -> None:
    """Notify a `StepProgress` that a step begins."""
    if isinstance(progress, StepProgress):
        progress.begins(step)


def end(progress: Progress | None, result: Message) -> None:
    """Notify a `StepProgress` that a step is done."""
    if isinstance(progress, StepProgress):
        progress.ends(result)
