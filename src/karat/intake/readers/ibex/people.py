"""The participants of an Ibex or PCIbex results file: their submissions, sessions and background."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import polars as pl

from karat.intake.cells import table_of
from karat.intake.guess import plain
from karat.intake.personal import are_codes, names_a_person
from karat.intake.readers.ibex.answers import IbexAnswer, milliseconds
from karat.intake.readers.ibex.log import LogLine
from karat.intake.reading import Reading
from karat.judgments.times import instants
from karat.messages import Message

ID_NAMES = (
    "prolificpid", "prolificid", "prolific", "workerid", "worker", "sonaid", "participant", "participantid", "subject",
    "subjectid", "subj", "subjid", "pid", "id", "userid", "vp",
)  # fmt: skip
SINGLE = Message("aside.single_questions")
FEWEST_TRIALS = 3
"""A label with fewer trials than this does not make questions that differ from trial to trial an experiment."""

Key = tuple[str, str]


@dataclass
class IbexSubmission:
    """One submission of a participant, identified by reception time and MD5 hash of the address."""

    lines: list[LogLine] = field(default_factory=list)
    answers: list[tuple[int, IbexAnswer]] = field(default_factory=list)
    """The answers with the numbers of their trials."""
    background: dict[str, str | None] = field(default_factory=dict)
    participant: str = ""
    session: int = 1
    first_trial: int = 0


def submissions_of(lines: Iterable[LogLine]) -> dict[Key, IbexSubmission]:
    """The lines of each submission, in the order of the file."""
    submissions: dict[Key, IbexSubmission] = {}
    for line in lines:
        submissions.setdefault((line.reception, line.hash), IbexSubmission()).lines.append(line)
    return submissions


def set_single_questions_apart(submissions: Sequence[IbexSubmission], reading: Reading) -> None:
    """Set questions apart that are asked once per participant, such as age; elements or labels of judgments recur.

    If each question is asked once, each may be a judgment, unless all answers were typed.
    """
    elements: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    for submission in submissions:
        elements |= Counter(answer.element for _, answer in submission.answers)
        labels |= Counter(label for _, label in {(trial, answer.line.label) for trial, answer in submission.answers})
    recurring = {name for name, count in elements.items() if count > 1}
    repeated = {name for name, count in labels.items() if count >= FEWEST_TRIALS}
    typed = all(answer.kind == "typed" for submission in submissions for _, answer in submission.answers)
    if not recurring and not repeated and not typed:
        return
    names: dict[str, None] = {}
    for submission in submissions:
        judgments = []
        for trial, answer in submission.answers:
            if answer.element in recurring or answer.line.label in repeated:
                judgments.append((trial, answer))
                continue
            reading.set_apart(SINGLE)
            names[answer.element] = None
            if answer.kind == "choice" and not names_a_person(answer.element):
                submission.background[answer.element] = answer.response
        submission.answers = judgments
    if names:
        reading.notes.append(Message("pcibex.single_questions", {"names": list(names)}))


def identify(submissions: dict[Key, IbexSubmission], reading: Reading) -> None:
    """Name participants by the first logged column with codes, or else by reception time and MD5 hash."""
    logged = list(
        dict.fromkeys(name for submission in submissions.values() for line in submission.lines for name in line.cells)
    )
    codes: dict[Key, str] = {}
    column = ""
    for name in sorted((name for name in logged if plain(name) in ID_NAMES), key=lambda n: ID_NAMES.index(plain(n))):
        values = {key: _first_value(submission.lines, name) for key, submission in submissions.items()}
        codes = {key: value for key, value in values.items() if value is not None and are_codes([value])}
        if codes:
            column = name
            break
    for key, submission in submissions.items():
        # Six digits distinguish submissions of one second and do not reveal the address.
        submission.participant = codes.get(key, f"{key[0]}-{key[1][:6]}")
    nameless = [key for key, submission in submissions.items() if key not in codes and submission.answers]
    if column:
        reading.notes.append(Message("pcibex.participant_column", {"column": column}))
    if nameless and column:
        details = {"n": len(nameless), "column": column}
        reading.notes.append(Message("pcibex.participants_without_code", details))
    elif nameless:
        reading.notes.append(Message("pcibex.participants_by_hash"))


def _first_value(lines: Sequence[LogLine], name: str) -> str | None:
    return next((value for line in lines if (value := (line.get(name) or "").strip())), None)


def _reception(submission: IbexSubmission) -> float:
    return float(submission.lines[0].reception)


def number_sessions(submissions: Sequence[IbexSubmission], reading: Reading) -> None:
    """Number sessions and trials: a later submission continues the count, or begins a session if it repeats trials."""
    earlier: dict[str, tuple[int, int, set[tuple[str, str]]]] = {}
    for submission in sorted(submissions, key=_reception):
        session, trials, seen = earlier.get(submission.participant, (1, 0, set()))
        keys = {(answer.line.order, answer.line.label) for _, answer in submission.answers}
        if keys & seen:
            session, trials, seen = session + 1, 0, set()
        submission.session, submission.first_trial = session, trials
        last = trials + len({trial for trial, _ in submission.answers})
        earlier[submission.participant] = (session, last, seen | keys)
    if any(submission.session > 1 for submission in submissions):
        reading.notes.append(Message("pcibex.sessions"))


def participants_of(submissions: Iterable[IbexSubmission]) -> pl.DataFrame:
    """Start, end and time of work, design number, browser and background answers, one row per participant."""
    rows: dict[str, dict[str, object]] = {}
    for submission in sorted(submissions, key=_reception):
        times = [time for line in submission.lines if (time := milliseconds(line)) is not None]
        row = rows.setdefault(submission.participant, {"participant": submission.participant})
        row.setdefault("started", min(times, default=None))
        row["finished"] = float(submission.lines[-1].reception)
        if times:
            worked = row.get("working_time")
            row["working_time"] = (max(times) - min(times)) / 1000 + (worked if isinstance(worked, float) else 0.0)
        row.setdefault("design_number", submission.lines[0].design)
        row.setdefault("user_agent", submission.lines[0].agent)
        for name, value in submission.background.items():
            row.setdefault(f"{name}_" if name in ("participant", *row) else name, value)
    frame = table_of(rows.values(), dict.fromkeys(("started", "finished", "working_time"), pl.Float64()))
    return frame.with_columns(instants(frame[name]).alias(name) for name in ("started", "finished"))
