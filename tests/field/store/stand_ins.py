"""A study, participants and pages for the tests of the store, without a questionnaire behind them."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from karat.field.store import Store, answers, arrivals, studies, trials

HOUR = 3600.0


@dataclass(frozen=True)
class Page:
    """A planned page."""

    position: int
    public_id: str
    block: str = "ratings"
    rows: list[dict[str, Any]] = field(default_factory=list)
    shown: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """A checked answer."""

    response: str | None
    question: str = ""
    rt: float | None = 1.5
    first_response: str | None = None
    first_rt: float | None = None
    changes: int = 0


@dataclass(frozen=True)
class Checked:
    """The verdict of a check."""

    rows: tuple[Row, ...] = ()
    refusal: str | None = None


def check(trial: trials.StoredTrial, given: Any) -> Checked:
    """The points 1 to 5 are offered; a page that is a break has no answer."""
    if trial.shown["kind"] != "trial":
        return Checked((Row(None),))
    return Checked((Row(given),)) if given in ("1", "2", "3", "4", "5") else Checked(refusal="not offered")


def start(store: Store, slug: str = "likert", state: str = "running") -> int:
    """A study that runs; its number."""
    row = store.call(studies.register, studies.Register(slug, "Ratings", "f1", {"title": "Ratings"}))
    store.call(studies.set_state, row.id, state)
    return row.id


def arrival(study_id: int, **settings: Any) -> arrivals.Arrival:
    """A newcomer of a study with four lists."""
    usual = {"token_hash": secrets.token_hex(16), "lists": 4, "first_step": "consent", "lease_seconds": HOUR}
    return arrivals.Arrival(study_id, **{**usual, **settings})


def come(store: Store, study_id: int, **settings: Any) -> arrivals.Arrived:
    """Somebody comes in."""
    return store.call(arrivals.arrive, arrival(study_id, **settings))


def pages(count: int, break_after: int | None = None) -> list[Page]:
    """So many pages, with a break among them."""
    planned = []
    for position in range(1, count + 1):
        is_break = position == break_after
        name = secrets.token_urlsafe(12)
        shown = {"id": name, "kind": "break" if is_break else "trial", "stimuli": [{"text": [[{"t": "A sentence."}]]}]}
        rows = [{"trial": position, "item": f"i{position}", "function": "test", "block": "ratings", "list": "1"}]
        planned.append(Page(position, name, "ratings", [] if is_break else rows, shown))
    return planned


def begin(store: Store, study_id: int, count: int = 6, **settings: Any) -> tuple[arrivals.Arrived, list[Page]]:
    """Somebody comes in and gets pages."""
    arrived = come(store, study_id, first_step="trials", **settings)
    planned = pages(count)
    store.call(trials.plan_trials, trials.PlannedTrials(arrived.session_id or 0, planned))
    return arrived, planned


def submission(arrived: arrivals.Arrived, *given: tuple[str, str, Any], **settings: Any) -> answers.AnswerSubmission:
    """Answers as (page, key, answer)."""
    submitted = [answers.SubmittedAnswer(page, key, what, details={"pointer": "mouse"}) for page, key, what in given]
    usual = {"check": check, "next_step": "comment", "lease_seconds": HOUR}
    return answers.AnswerSubmission(arrived.token_hash or "", submitted, **{**usual, **settings})


def send(store: Store, arrived: arrivals.Arrived, *given: tuple[str, str, Any], **settings: Any) -> answers.Saved:
    """Send answers."""
    return store.call(answers.save, submission(arrived, *given, **settings))


def arrive_many(url: str, study_id: int, count: int) -> list[int | None]:
    """So many people come in at once, by a store of their own; their lists, of seven."""
    store = Store.open(url)
    with ThreadPoolExecutor(10) as threads:
        came = list(threads.map(lambda _: come(store, study_id, lists=7), range(count)))
    store.close()
    return [one.list for one in came]
