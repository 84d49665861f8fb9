"""The read-only pages of the dashboard: the studies, one study, one participant.

Small pictures are SVG without inline styles; the style sheet colours them by class. Each is beside its numbers in a
table, so it is hidden from screen readers. Widths are percentages of the cell, so that a picture fits a phone.
Participants are listed page by page, without answers.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log
from time import time
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from markupsafe import Markup
from sqlalchemy import ColumnElement, Connection, RowMapping, func, select
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from karat.errors import counted
from karat.field.admin.jobs import DOWNLOADS, UNBLINDING
from karat.field.admin.login import LoggedIn, Researcher
from karat.field.admin.page import AdminRoute, admin_state, page, render
from karat.field.admin.status import GONE_SECONDS, STATE_WORDS, STEP_WORDS, Status, at_work, status
from karat.field.content.platforms import platform
from karat.field.registration import changes as changes_since
from karat.field.server.visits import preview_path
from karat.field.store import admins, studies
from karat.field.store.progress import Session, find
from karat.field.store.schema import DECISIONS, session
from karat.field.store.studies import StudyRow
from karat.study.frozen import full_rules, rules_fingerprint
from karat.study.study import Study

PARTS = ("status", "lists", "steps", "pace", "times", "people")

router = APIRouter(prefix="/admin", route_class=AdminRoute)


def is_blind(row: StudyRow) -> bool:
    """Whether a study is not closed, so that nothing about its test trials may be shown."""
    return row.state != "closed"


def known_study(request: Request, slug: str) -> Study:
    """The study with this short name; 404 if this server does not serve it."""
    study: Study | None = request.app.state.studies.get(slug)
    if study is None:
        raise HTTPException(404, "There is no such study on this server.")
    return study


async def stored(request: Request, slug: str, researcher: LoggedIn) -> StudyRow:
    """The row of a study in the store, for logged-in researchers; 404 if there is none."""
    known_study(request, slug)
    row: StudyRow | None = await request.app.state.store.look(studies.find, slug)
    if row is None:
        raise HTTPException(404, "There is no such study on this server.")
    return row


StoredRow = Annotated[StudyRow, Depends(stored)]


@router.get("", include_in_schema=False)
async def every_study(request: Request, researcher: LoggedIn) -> Response:
    """The studies of this server."""
    store = request.app.state.store
    await request.app.state.health.probe(store)
    listed = [
        (row, request.app.state.studies[row.slug]) for row in await store.look(studies.every)
        if row.slug in request.app.state.studies
    ]  # fmt: skip
    listed_studies = [(row, await store.look(status, row.id, row.state, study)) for row, study in listed]
    failures = await store.look(admins.failures, researcher.name, time() - admins.KEPT_SECONDS)
    return page(request, "studies.html", researcher=researcher, studies=listed_studies, failures=failures)


@router.get("/{slug}", include_in_schema=False)
@router.get("/{slug}/people", include_in_schema=False)
@router.get("/{slug}/data", include_in_schema=False)
@router.get("/{slug}/danger", include_in_schema=False)
async def one_study(request: Request, slug: str, researcher: LoggedIn, row: StoredRow) -> Response:
    """The progress of a study, its participants, its data (rules, previews, downloads, links), or what erases data."""
    view = request.url.path.removeprefix(f"/admin/{slug}").strip("/")
    values = await _values(request, row, researcher)
    study = values["study"]
    config, store = request.app.state.config, request.app.state.store
    previews = [(number, preview_path(config.secret, slug, number)) for number in range(1, study.lists + 1)]
    return page(
        request, "study.html", view=view, path=study.path, **values, previews=previews, downloads=DOWNLOADS,
        unblinding=UNBLINDING, said=request.query_params.get("said", ""), rules=full_rules(study.screening_rules),
        unblinded=await store.look(studies.unblinded_at, slug), address=f"{config.address}/s/{slug}/",
        changes=changes(row, study, await store.look(studies.items_of, slug)), recruitment=study.settings.recruitment,
    )  # fmt: skip


@router.get("/{slug}/live", include_in_schema=False)
async def live(request: Request, researcher: LoggedIn, row: StoredRow) -> Response:
    """The rendered parts of a study's page that change; only their version if the browser has them already."""
    values = await _values(request, row, researcher)
    parts = {name: render(request, f"parts/{name}.html", **values) for name in PARTS}
    version = hashlib.sha256("".join(parts.values()).encode()).hexdigest()[:16]
    if request.query_params.get("have") == version:
        return JSONResponse({"version": version})
    return JSONResponse({"version": version, "parts": parts})


@router.get("/{slug}/people/{participant}", include_in_schema=False)
async def one_person(request: Request, participant: str, researcher: LoggedIn, row: StoredRow) -> Response:
    """The sessions of a participant, and the possible decisions about them."""
    study = known_study(request, row.slug)
    sessions = await request.app.state.store.look(person, row.id, participant)
    if not sessions:
        raise HTTPException(404, "There is no such participant in this study.")
    screened = admin_state(request).workshop.latest(row.slug, study, row.screening, is_blind(row))
    return page(
        request, "person.html", researcher=researcher, row=row, sessions=sessions, participant=participant,
        screened=screened, blind=is_blind(row), now=time(), said=request.query_params.get("said", ""),
        rejecting=platform(study.settings.recruitment).rejecting,
    )  # fmt: skip


def changes(row: StudyRow, study: Study, items: str | None) -> list[str]:
    """What has changed in a study since it started; `items` is the fingerprint of its items at that time."""
    if row.frozen_at is None:
        return []
    sentences = []
    if rules_fingerprint(full_rules(study.screening_rules)) != row.screening_fingerprint:
        sentences.append(
            "The screening rules of the study file differ from those that were frozen. The frozen ones hold."
        )
    if study.fingerprint != row.fingerprint:
        sentences.append(str(changes_since(study, row.settings, items)))
    return sentences


async def _values(request: Request, row: StudyRow, researcher: Researcher) -> dict[str, Any]:
    """The values of the templates of a study's page."""
    state, query = request.app.state, request.query_params
    await state.health.probe(state.store)
    study = known_study(request, row.slug)
    screened = admin_state(request).workshop.latest(row.slug, study, row.screening, is_blind(row))
    show, page_text = query.get("show", "all"), query.get("page", "")
    number = int(page_text) if page_text.isdecimal() and len(page_text) < 10 else 1
    flagged = () if screened is None else tuple(screened.excluded)

    def counts(connection: Connection) -> tuple[Status, PeoplePage]:
        return status(connection, row.id, row.state, study), people(connection, row.id, show, number, flagged)

    current, listed = await state.store.look(counts)
    room = max([entry.complete + entry.running + entry.free for entry in current.lists], default=1)
    came = max([step.reached for step in current.steps], default=1)
    times = () if screened is None else screened.times
    low = min([group.quantiles[0] for group in times], default=1.0)
    high = max([group.quantiles[-1] for group in times], default=2.0)
    return {
        "researcher": researcher, "row": row, "study": study, "status": current, "people": listed,
        "screened": screened, "now": time(), "shows": SHOWN, "blind": is_blind(row),
        "list_bars": [stacked_bar([("complete", entry.complete), ("running", entry.running)], room)
                      for entry in current.lists],
        "step_bars": [stacked_bar([("reached", step.reached - step.left - step.ended), ("left", step.left),
                                   ("ended", step.ended)], came) for step in current.steps],
        "quota_bars": [stacked_bar([("complete", entry.taken)], entry.most) for entry in current.quotas],
        "pace": columns(current.per_minute), "times": times,
        "gone_minutes": min(GONE_SECONDS / 60, study.settings.field.lease_minutes),
        "time_bars": [spread(group.quantiles, low, high) for group in times],
        "warnings": _warnings(current, state.served_studies[row.slug].budget),
    }  # fmt: skip


FULL_SHARE = 0.8
"""The share of its space from which the page of a study warns."""


def _warnings(now: Status, budget: int) -> list[str]:
    """Warnings about what a researcher should look into now."""
    warnings = []
    if now.stored >= FULL_SHARE * budget:
        warnings.append(
            f"The sessions of this study have stored about {now.stored / 1e6:,.0f} MB of the "
            f"{budget / 1e6:,.0f} MB that {now.wanted:,} participants may need. When the space is used up, "
            "nobody new can begin. Look for sessions with unusually many events or changed answers."
        )
    if now.shared:
        warnings.append(
            f"{counted(now.shared, 'submission')} of the platform came with the ids of several participants. "
            "The later ones were not let in. Compare with the platform's list: karat participants reconcile."
        )
    return warnings


WIDTH = 100
HEIGHT = 10


def _svg(body: str, kind: str, height: float = HEIGHT) -> Markup:
    return Markup(  # noqa: S704 - only numbers and our class names
        f'<svg class="figure {kind}" viewBox="0 0 {WIDTH} {height:g}" preserveAspectRatio="none" '
        f'aria-hidden="true" focusable="false">{body}</svg>'
    )


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def stacked_bar(parts: Sequence[tuple[str, float]], whole: float) -> Markup:
    """A bar of several parts, each with the class of its colour; the rest of the whole shows the ground."""
    scale = WIDTH / max(whole, sum(size for _, size in parts), 1e-9)
    body = f'<rect class="ground" x="0" y="0" width="{WIDTH}" height="{HEIGHT}"/>'
    start = 0.0
    for name, size in parts:
        if size > 0:
            body += (
                f'<rect class="{name}" x="{_number(start)}" y="0" width="{_number(size * scale)}" height="{HEIGHT}"/>'
            )
        start += size * scale
    return _svg(body, "bar")


def columns(counts: Sequence[int]) -> Markup:
    """One column for each count, the highest as high as the picture."""
    height = 40
    most = max([*counts, 1])
    wide = WIDTH / max(len(counts), 1)
    body = "".join(
        f'<rect class="minute" x="{_number(place * wide + 0.25)}" y="{_number(height - height * count / most)}" '
        f'width="{_number(max(wide - 0.5, 0.2))}" height="{_number(height * count / most)}"/>'
        for place, count in enumerate(counts)
        if count
    )
    return _svg(body + f'<line class="axis" x1="0" y1="{height}" x2="{WIDTH}" y2="{height}"/>', "columns", height)


def spread(quantiles: Sequence[float], low: float, high: float) -> Markup:
    """Five quantiles on a logarithmic axis: a line from the first to the last, a box, and a mark at the middle."""
    first, lower, middle, upper, last = (_place(value, low, high) for value in quantiles)
    return _svg(
        f'<line class="axis" x1="{_number(first)}" y1="5" x2="{_number(last)}" y2="5"/>'
        f'<rect class="box" x="{_number(lower)}" y="2" width="{_number(max(upper - lower, 0.5))}" height="6"/>'
        f'<rect class="middle" x="{_number(middle - 0.5)}" y="1" width="1" height="8"/>',
        "spread",
    )


def _place(value: float, low: float, high: float) -> float:
    if not high > low > 0:
        return WIDTH / 2
    return WIDTH * min(max(log(max(value, low) / low) / log(high / low), 0), 1)


PAGE = 50
SHOWN = ("all", "running", "complete", "flagged", "other")


@dataclass(frozen=True, slots=True)
class Person(Session):
    """One session of a participant."""

    here: bool

    @property
    def words(self) -> str:
        """The step or the end of the session, in words."""
        if self.state != "running":
            return STATE_WORDS.get(self.state, self.state)
        where = STEP_WORDS.get(self.step, self.step).lower()
        return f"at work: {where}" if self.here else f"left at: {where}"

    @property
    def decisions(self) -> tuple[str, ...]:
        """The possible decisions about the session."""
        if self.state in DECISIONS:
            return ("restored",)
        return DECISIONS if self.state in ("running", "complete") else ()


@dataclass(frozen=True)
class PeoplePage:
    """One page of the list."""

    people: tuple[Person, ...]
    show: str
    page: int
    pages: int
    total: int


def people(connection: Connection, study_id: int, show: str, page: int, flagged: Collection[str]) -> PeoplePage:
    """One page of the participants, the most recently active first; previews are left out."""
    now = time()
    wanted = _condition(show, study_id, now, flagged)
    total = connection.execute(select(func.count()).select_from(session).where(wanted)).scalar_one()
    pages = max(-(-total // PAGE), 1)
    page = min(max(page, 1), pages)
    query = select(session).where(wanted).order_by(session.c.last_seen.desc(), session.c.id.desc())
    rows = connection.execute(query.limit(PAGE).offset((page - 1) * PAGE)).mappings()
    return PeoplePage(tuple(_person(row, now) for row in rows), show if show in SHOWN else "all", page, pages, total)


def person(connection: Connection, study_id: int, participant: str) -> list[Person]:
    """The sessions of one participant, the first first."""
    now = time()
    return [_person(asdict(entry), now) for entry in find(connection, study_id, participant)]


def _condition(show: str, study_id: int, now: float, flagged: Collection[str]) -> ColumnElement[bool]:
    here: ColumnElement[bool] = (session.c.study_id == study_id) & ~session.c.preview
    if show == "running":
        return here & (session.c.state == "running") & at_work(now)
    if show == "complete":
        return here & (session.c.state == "complete")
    if show == "flagged":
        return here & session.c.participant.in_(list(flagged))
    if show == "other":
        return here & (session.c.state != "complete") & ~((session.c.state == "running") & at_work(now))
    return here


def _person(stored: Mapping[str, Any] | RowMapping, now: float) -> Person:
    here = stored["lease_until"] > now and stored["last_seen"] > now - GONE_SECONDS
    return Person(**stored, here=here)
