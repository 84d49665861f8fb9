"""A visit before its session begins: the values of the link, signed and carried in the form of the landing page.

Opening the link has no effect, so link previews, robots and HEAD requests take no place and use up no invitation. The
token of the session is derived from a random text in the form, so a form that is sent twice begins only one session.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import astuple, dataclass

from starlette.requests import Request

from karat.field.content import flow
from karat.field.content.platforms import Visit
from karat.field.content.platforms.platform import identifier
from karat.field.server.security import RANDOM_LENGTH, keyed_hash, plain_hash, sign, token_from, token_hash, unsign
from karat.field.server.served_study import ServedStudy, config_of, held_token
from karat.field.store.arrivals import Arrival, Identity

LIFETIME = 7 * 24 * 3600
PREVIEW_SECONDS = 24 * 3600
CODE = re.compile(r"[A-Za-z0-9_-]{8,128}")


@dataclass(frozen=True)
class VisitLink:
    """The values of the link of a visit."""

    slug: str
    nonce: str
    person: str = ""
    session: str = ""
    study: str = ""
    submit_to: str | None = None
    invitation: str = ""
    list: int | None = None
    """The list that a researcher's preview shows."""

    @property
    def preview(self) -> bool:
        """Whether a researcher looks at the study."""
        return self.list is not None


def preview_path(secret: bytes, slug: str, list: int) -> str:
    """The address at which a researcher can preview a list for a day."""
    return f"/s/{slug}/?preview={sign(secret, 'preview', slug, list, lifetime=PREVIEW_SECONDS)}"


def read_link(request: Request, field: ServedStudy) -> tuple[VisitLink, Visit]:
    """Read the link and the visit from the address of the landing page."""
    # If a parameter occurs twice, as in a pasted link that a platform extends, the one with an id counts.
    query = dict(sorted(request.query_params.multi_items(), key=lambda pair: identifier(pair[1]) != ""))
    visit = field.platform.read(query)
    preview = unsign(config_of(request).secret, "preview", query.get("preview", ""))
    of_list = preview[1] if preview is not None and preview[0] == field.slug and isinstance(preview[1], int) else None
    code = query.get("invitation", "")
    link = VisitLink(
        field.slug,
        secrets.token_urlsafe(16),
        visit.person,
        visit.session,
        visit.study,
        visit.submit_to,
        code if CODE.fullmatch(code) else "",
        of_list if of_list is not None and 1 <= of_list <= field.study.lists else None,
    )
    return link, visit


def sealed(secret: bytes, link: VisitLink) -> str:
    """A link as the hidden field of the landing page."""
    return sign(secret, "visit", *astuple(link), lifetime=LIFETIME)


def opened(secret: bytes, text: str) -> VisitLink | None:
    """The link in a hidden field; None if this server did not sign it or it is too old."""
    values = unsign(secret, "visit", text)
    return None if values is None else VisitLink(*values)  # type: ignore[arg-type]


def token_of(secret: bytes, link: VisitLink) -> str:
    """The token of the session that begins with a visit."""
    return token_from(secret, link.slug, keyed_hash(secret, "begin", link.nonce)[:RANDOM_LENGTH])


def arrival(request: Request, field: ServedStudy, link: VisitLink, token: str, draft: bool) -> Arrival:
    """The arrival that the store decides about; before a study has started, participants are pilots."""
    config, settings = config_of(request), field.study.settings
    recruitment, platform = settings.recruitment, field.platform
    identity = Identity(link.person, link.session, link.study) if link.person or link.session else None
    device = {"class": device_class(request.headers.get("user-agent", ""))}
    return Arrival(
        study_id=field.id,
        token_hash=token_hash(config.secret, field.slug, token) or "",
        lists=field.study.lists,
        first_step=flow.next_step(field.study, flow.WELCOME),
        lease_seconds=field.lease_seconds,
        first_lease_seconds=field.lease_of(0),
        budget=field.budget,
        platform=platform.name,
        person_hash=None if link.preview else field.hash_of(platform.name, link.person),
        resume_hash=None if link.preview else field.hash_of(f"{platform.name}-session", link.session),
        known_token=token_hash(config.secret, field.slug, held_token(request, field.slug)),
        identity=identity,
        preview=link.preview,
        pilot=draft and not link.preview,
        list=link.list,
        wanted=None if platform.counts_places else recruitment.participants,
        list_quota=recruitment.list_quota,
        invitation_hash=plain_hash(link.invitation) if link.invitation else None,
        invited_only=recruitment.invitations,
        policy=settings.field.resume,
        not_from=tuple(recruitment.not_from),
        only_from=tuple(recruitment.only_from),
        waiting_seconds=None if recruitment.waiting_days is None else recruitment.waiting_days * 86_400.0,
        version=field.study.fingerprint,
        ids_prove=platform.framed,
        sessions=settings.questionnaire.sessions,
        seconds_between=settings.questionnaire.days_between * 86_400.0,
        device=device | ({"submit_to": link.submit_to} if link.submit_to else {}),
    )


def device_class(user_agent: str) -> str:
    """Phone, tablet or desktop, according to the user agent."""
    agent = user_agent.lower()
    if "ipad" in agent or "tablet" in agent or ("android" in agent and "mobile" not in agent):
        return "tablet"
    return "phone" if "mobi" in agent or "iphone" in agent else "desktop"
