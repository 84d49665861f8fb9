"""The progress of a study: active participants, lists, and the steps at which participants left. It reads no answers.

A session counts unless it is a preview or a pilot. Active participants have a seat until their lease ends. Participants
whose lease ended before they finished, or who were inactive for 20 minutes, have left. Participants who finished and
were not excluded, rejected or returned are eligible.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import ceil
from time import time
from typing import Any

from sqlalchemy import ColumnElement, Connection, Integer, Row, Select, Table, case, cast, func, select

from karat.errors import counted
from karat.field.content.flow import steps
from karat.field.store.arrivals import SHARED
from karat.field.store.schema import DECISIONS, answer, event, quota_seat, session
from karat.field.store.studies import holds_seat, stored_bytes
from karat.study.study import Study

MINUTES = 60
MOST_LISTED = 12
"""With more lists than this, the first line of the page summarises them."""
GONE_SECONDS = 20 * 60.0
"""The inactivity after which a participant counts as gone, even if the place is still kept."""
ENDED_AT = {"declined": "consent", "screened-out": "background", "full": "background", "failed-quiz": "quiz"}
"""The steps at which these ends occur."""
STATE_WORDS = {
    "running": "at work", "left": "left", "complete": "complete", "declined": "declined",
    "screened-out": "screened out", "failed-quiz": "failed the quiz", "full": "came when it was full",
    "withdrawn": "withdrew", "returned": "returned", "rejected": "rejected", "excluded": "excluded",
    "restarted": "began again",
}  # fmt: skip
STEP_WORDS = {
    "consent": "Consent", "background": "Background questions", "instructions": "Instructions", "quiz": "Quiz",
    "trials": "Trials", "background-after": "Questions after", "comment": "Comment", "debriefing": "Debriefing",
    "done": "Finished",
}  # fmt: skip


@dataclass(frozen=True)
class ListStatus:
    """One list: how many participants finished, are active, and are still wanted."""

    list: int
    complete: int
    running: int
    free: int


@dataclass(frozen=True)
class StepStatus:
    """One step: how many participants reached it, left there, or were sent away there."""

    step: str
    reached: int
    left: int
    ended: int

    @property
    def words(self) -> str:
        """The name of the step on the page."""
        return STEP_WORDS.get(self.step, self.step)


@dataclass(frozen=True)
class QuotaStatus:
    """One answer to a background question that has a quota."""

    question: str
    answer: str
    taken: int
    most: int


@dataclass(frozen=True)
class Status:
    """The progress of a study."""

    state: str
    wanted: int
    complete: int
    running: int
    left: int
    lists: tuple[ListStatus, ...]
    steps: tuple[StepStatus, ...]
    quotas: tuple[QuotaStatus, ...]
    ends: dict[str, int]
    """How many sessions ended in other ways."""
    answers: int
    """The number of rows in the export: a changed answer counts once, and breaks do not count."""
    per_minute: tuple[int, ...]
    """Answers in each of the last minutes, the current one last."""
    uncounted: int
    """Previews and pilots."""
    second: int
    """Second sessions that are complete, in a study with two."""
    unanswered: int = 0
    """Sessions that have a place but no answer yet."""
    shared: int = 0
    """Sessions whose submission on the platform another participant used too."""
    stored: int = 0
    """About how many bytes the sessions have stored."""

    def sentence(self) -> str:
        """The first line of the page."""
        lines = [f"{self.complete} of {self.wanted} eligible", f"{self.running} running"]
        if len(self.lists) > 1:
            done = [entry.complete for entry in self.lists]
            few = len(done) <= MOST_LISTED
            lines.append(f"lists {'/'.join(map(str, done))}" if few else f"{min(done)} to {max(done)} per list")
        if self.state != "running":
            lines.insert(0, {"draft": "not started", "paused": "paused", "closed": "closed"}[self.state])
        return ", ".join(lines)

    def further(self) -> str:
        """The second line of the page: all other sessions."""
        lines = [f"{self.unanswered} of those running without an answer yet"] if self.unanswered else []
        lines += [f"{self.left} left without finishing"] if self.left else []
        lines += [f"{number} {STATE_WORDS.get(end, end)}" for end, number in self.ends.items()]
        lines += [f"{self.second} with both sessions"] if self.second else []
        lines += [f"{counted(self.uncounted, 'preview or pilot session')}, not counted"] if self.uncounted else []
        return ", ".join(lines)

    def to_dict(self) -> dict[str, Any]:
        return {"sentence": self.sentence()} | asdict(self)

    def lines(self) -> list[str]:
        """The lines that `karat status` prints."""
        lists = ", ".join(f"{entry.list}: {entry.complete} + {entry.running}" for entry in self.lists)
        lines = [self.sentence(), f"lists      {lists} (complete + running)"]
        lines += [
            f"quota      {entry.question} = {entry.answer}: {entry.taken} of {entry.most}" for entry in self.quotas
        ]
        for entry in self.steps:
            gone = [f"{entry.left} left"] * bool(entry.left) + [f"{entry.ended} sent away"] * bool(entry.ended)
            lines.append(f"reached    {entry.words}: {entry.reached}{' (' + ', '.join(gone) + ')' if gone else ''}")
        lines += [f"further    {self.further()}"] if self.further() else []
        lines.append(f"answers    {self.answers:,}, {sum(self.per_minute):,} of them in the last hour")
        return lines


def status(connection: Connection, study_id: int, state: str, study: Study, now: float | None = None) -> Status:
    """The progress of a study, counted by the database."""
    now = time() if now is None else now
    groups, uncounted = _groups(connection, study_id, now)
    first = [group for group in groups if group.number == 1]
    kinds, held = Counter[str](), Counter[tuple[int, str]]()
    for group in first:
        kinds[_kind(group)] += group.size
        held[group.list, _kind(group)] += group.size
        held[group.list, "seat"] += group.size * (group.state == "complete" or group.seat)
    wanted = study.settings.recruitment.participants
    room = study.settings.recruitment.list_quota or ceil(wanted / study.lists)
    lists = tuple(
        ListStatus(number, held[number, "complete"], held[number, "running"], max(room - held[number, "seat"], 0))
        for number in range(1, study.lists + 1)
    )
    ends = {name: kinds[name] for name in STATE_WORDS if kinds[name] and name not in ("running", "left", "complete")}
    return Status(
        state, wanted, kinds["complete"], kinds["running"], kinds["left"], lists, _steps(study, first),
        _quotas(connection, study_id, study, now), ends, _number(connection, answer, _counted(study_id)),
        _per_minute(connection, study_id, now), uncounted,
        sum(group.size for group in groups if group.number == 2 and group.state == "complete"),
        sum(group.size for group in first if _kind(group) == "running" and not group.begun),
        _number(connection, event, (session.c.study_id == study_id) & (event.c.kind == SHARED)),
        stored_bytes(connection, study_id),
    )  # fmt: skip


def at_work(now: float) -> ColumnElement[bool]:
    """Whether a running session was active recently."""
    return (session.c.lease_until > now) & (session.c.last_seen > now - GONE_SECONDS)


def _kind(group: Row[Any]) -> str:
    return "left" if group.state == "running" and not group.here else group.state


def _groups(connection: Connection, study_id: int, now: float) -> tuple[list[Row[Any]], int]:
    """The groups of sessions that count, with their sizes, and how many sessions do not count."""
    here = case((at_work(now), 1), else_=0)
    seat = case(((session.c.state == "running") & (session.c.lease_until > now), 1), else_=0)
    begun = case((session.c.answered > 0, 1), else_=0)
    keys = [session.c.list, session.c.state, session.c.step, session.c.number, here.label("here"), seat.label("seat"),
            begun.label("begun")]  # fmt: skip
    aside = case((session.c.preview | session.c.pilot, 1), else_=0)
    counted_by = (*keys, aside.label("aside"), func.count().label("size"))
    query: Select[Any] = select(*counted_by).where(session.c.study_id == study_id).group_by(*keys, aside)
    rows = connection.execute(query).all()
    return [row for row in rows if not row.aside], sum(row.size for row in rows if row.aside)


def _steps(study: Study, groups: Sequence[Row[Any]]) -> tuple[StepStatus, ...]:
    """How many participants reached each step; the landing page is none, because it stores nothing."""
    names = [name for name in steps(study) if name != "welcome"]
    reached, left, ended = Counter[str](), Counter[str](), Counter[str]()
    for group in groups:
        finished = group.state in ("complete", *DECISIONS) and group.step not in names
        at = names[-1] if finished else ENDED_AT.get(group.state, group.step)
        for name in names[: names.index(at) + 1 if at in names else 0]:
            reached[name] += group.size
        if _kind(group) == "left":
            left[at] += group.size
        elif group.state in ENDED_AT or group.state == "withdrawn":
            ended[at] += group.size
    return tuple(StepStatus(name, reached[name], left[name], ended[name]) for name in names)


def _quotas(connection: Connection, study_id: int, study: Study, now: float) -> tuple[QuotaStatus, ...]:
    quotas = study.settings.recruitment.quotas
    if not quotas:
        return ()
    rows = connection.execute(
        select(quota_seat.c.question, quota_seat.c.answer, func.count())
        .join(session, session.c.id == quota_seat.c.session_id)
        .where(session.c.study_id == study_id, holds_seat(now))
        .group_by(quota_seat.c.question, quota_seat.c.answer)
    ).all()
    taken = Counter({(question, answer_given): number for question, answer_given, number in rows})
    return tuple(
        QuotaStatus(name, text, taken[name, text], most)
        for name, limits in quotas.items()
        for text, most in limits.items()
    )


def _counted(study_id: int) -> ColumnElement[bool]:
    """The condition for answers in the export: no previews, pilots, breaks or changed answers."""
    here = (session.c.study_id == study_id) & ~session.c.preview & ~session.c.pilot
    return here & (answer.c.attempt == 1) & answer.c.response.is_not(None)


def _number(connection: Connection, table: Table, here: ColumnElement[bool]) -> int:
    """How many rows of a table belong to sessions with this condition."""
    query = select(func.count()).select_from(table).join(session, session.c.id == table.c.session_id)
    return connection.execute(query.where(here)).scalar_one()


def _per_minute(connection: Connection, study_id: int, now: float) -> tuple[int, ...]:
    """How many answers arrived first in each of the last minutes."""
    start = now - 60 * MINUTES
    # Whole seconds first, because SQLite rounds a fraction down and PostgreSQL to the nearest whole number.
    minute = (cast(answer.c.received - start, Integer) // 60).label("minute")
    # Skip sessions without recent activity.
    lately = (session.c.last_seen >= start) & (answer.c.received >= start)
    rows = connection.execute(
        select(minute, func.count())
        .join(session, session.c.id == answer.c.session_id)
        .where(_counted(study_id), lately)
        .group_by(minute)
    ).all()
    counts = dict.fromkeys(range(MINUTES), 0)
    for place, number in rows:
        counts[min(int(place), MINUTES - 1)] += number
    return tuple(counts.values())
