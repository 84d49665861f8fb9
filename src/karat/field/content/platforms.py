"""Recruitment platforms: what a visit brings along, and how a participant returns.

Every platform sends people with parameters in the address and takes them back by a code, an address or, on MTurk, a
form that the browser posts. Where `turkSubmitTo` points is checked against the hosts of MTurk: the page must not become
a way to post anywhere else. Identifiers are kept apart from answers and compared by a keyed hash only.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from karat.study.field_settings import FieldSettings, RecruitmentSettings

PROLIFIC_COMPLETE = "https://app.prolific.com/submissions/complete?cc={code}"
MTURK_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
MTURK_SUBMIT = "/mturk/externalSubmit"
MTURK_SUBMIT_HOSTS = ("www.mturk.com", "worker.mturk.com", "workersandbox.mturk.com")
MTURK_FRAMES = (
    "https://www.mturk.com", "https://worker.mturk.com", "https://workersandbox.mturk.com",
    "https://requester.mturk.com", "https://requestersandbox.mturk.com",
)  # fmt: skip
IDENTIFIER = re.compile(r"[A-Za-z0-9._@:+~-]{1,128}")
CODES = {
    "complete": "completion_code",
    "screened-out": "screened_out_code",
    "failed-quiz": "failed_quiz_code",
    "declined": "no_consent_code",
}
"""Which setting has the platform's code for an outcome."""


@dataclass(frozen=True)
class Visit:
    """What the address of a visit says; empty where it says nothing, or nothing that can be an identifier."""

    person: str = ""
    session: str = ""
    study: str = ""
    preview: bool = False
    """The task is only looked at: nothing may be given away."""
    submit_to: str | None = None
    """Where the browser posts the end of the task, if it does."""


@dataclass(frozen=True)
class Post:
    """A form that the browser posts at the end."""

    url: str
    fields: dict[str, str]


@dataclass(frozen=True)
class Completion:
    """How a participant returns: by a code, by an address, by a form, or by giving the task back."""

    code: str = ""
    redirect: str | None = None
    post: Post | None = None
    ask_to_return: bool = False


@dataclass(frozen=True)
class Platform:
    """Where participants come from."""

    name: str
    title: str
    person: str
    """The parameter that names the participant; session and study likewise."""
    session: str
    study: str
    needs_person: bool
    """Whether a visit without a participant is a mistake."""
    frame_ancestors: tuple[str, ...] = ()
    """Who may show the pages in a frame; empty where nobody may."""
    form_targets: tuple[str, ...] = ()
    """Where the browser may go at the end."""

    @property
    def framed(self) -> bool:
        """Whether the pages are shown inside those of the platform, where cookies do not work."""
        return bool(self.frame_ancestors)

    def read(self, query: Mapping[str, str]) -> Visit:
        """What the parameters of an address say.

        >>> platform(RecruitmentSettings(platform="prolific")).read({"PROLIFIC_PID": "5f0a", "SESSION_ID": "<b>"})
        Visit(person='5f0a', session='', study='', preview=False, submit_to=None)
        """
        person, session, study = (_identifier(query.get(name, "")) for name in (self.person, self.session, self.study))
        if self.name != "mturk":
            return Visit(person, session, study)
        if session == MTURK_PREVIEW:
            return Visit(study=study, preview=True)
        return Visit(person, session, study, submit_to=submit_address(query.get("turkSubmitTo", "")))


def platform(recruitment: RecruitmentSettings) -> Platform:
    """The platform that a study names; any that karat does not know is one with a link and an address to return to.

    >>> platform(RecruitmentSettings(platform="Prolific")).person
    'PROLIFIC_PID'
    """
    name = recruitment.platform.strip().lower()
    if name == "prolific":
        return Platform(
            "prolific", "Prolific", "PROLIFIC_PID", "SESSION_ID", "STUDY_ID", True,
            form_targets=("https://app.prolific.com",),
        )  # fmt: skip
    if name == "mturk":
        hosts = tuple(f"https://{host}" for host in MTURK_SUBMIT_HOSTS)
        return Platform("mturk", "MTurk", "workerId", "assignmentId", "hitId", True, MTURK_FRAMES, hosts)
    address = urlsplit(recruitment.completion_url)
    targets = (f"https://{address.netloc}",) if address.netloc else ()
    # A platform with an address to return to must know who returns; a plain link is open to all.
    needed = "{pid}" in recruitment.completion_url
    title = recruitment.platform.strip().capitalize() if name not in ("", "link") else ""
    return Platform(name or "link", title, recruitment.id_parameter, "session", "study", needed, form_targets=targets)


def completion(
    where: Platform, recruitment: RecruitmentSettings, field: FieldSettings, outcome: str, visit: Visit, code: str
) -> Completion:
    """How a participant returns after an outcome; `code` is the session's own, for platforms that have none.

    >>> stated = RecruitmentSettings(platform="prolific", completion_code="C1A2")
    >>> completion(platform(stated), stated, FieldSettings(), "complete", Visit("5f0a"), "own").redirect
    'https://app.prolific.com/submissions/complete?cc=C1A2'
    >>> completion(platform(stated), stated, FieldSettings(), "screened-out", Visit("5f0a"), "own").ask_to_return
    True
    """
    setting = CODES.get(outcome)
    stated = getattr(recruitment, setting) if setting else ""
    if outcome != "complete" and not stated:
        # Without a code of its own for this outcome, the platform frees the place when the task is given back.
        return Completion(ask_to_return=where.needs_person)
    told = stated or code
    redirect = _address(where, recruitment, visit, told, bool(stated))
    post = None
    if visit.submit_to is not None:
        fields = {"assignmentId": visit.session, "outcome": outcome, "code": told}
        redirect, post = None, Post(visit.submit_to, fields)
    if field.completion == "code":
        redirect = None
    hidden = field.completion == "redirect" and (redirect is not None or post is not None)
    return Completion("" if hidden else told, redirect, post)


def _address(where: Platform, recruitment: RecruitmentSettings, visit: Visit, code: str, stated: bool) -> str | None:
    """The address to return to, filled; None where there is none."""
    if where.name == "prolific":
        # A code that Prolific did not give would be counted as none.
        return PROLIFIC_COMPLETE.format(code=quote(code, safe="")) if stated else None
    if not recruitment.completion_url or where.name == "mturk":
        return None
    values = {"pid": visit.person, "session": visit.session, "study": visit.study, "code": code}
    address = recruitment.completion_url
    for slot, value in values.items():
        address = address.replace(f"{{{slot}}}", quote(value, safe=""))
    return address


def submit_address(turk_submit_to: str) -> str | None:
    """The address of MTurk to which the browser posts, from the parameter turkSubmitTo; None where it is another's.

    >>> submit_address("https://workersandbox.mturk.com")
    'https://workersandbox.mturk.com/mturk/externalSubmit'
    >>> submit_address("https://www.mturk.com.example.org/")
    """
    try:
        parts = urlsplit(turk_submit_to.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    plain = parts.username is None and parts.password is None and not parts.query and not parts.fragment
    if parts.scheme != "https" or host not in MTURK_SUBMIT_HOSTS or port not in (None, 443) or not plain:
        return None
    if parts.path.rstrip("/") not in ("", MTURK_SUBMIT, "/mturk"):
        return None
    return f"https://{host}{MTURK_SUBMIT}"


def person_hash(secret: bytes, where: str, person: str) -> str:
    """A keyed hash of an identifier: the same person is known again, and nobody can be found by it without the key.

    >>> person_hash(b"key", "prolific", "5f0a") == person_hash(b"key", "mturk", "5f0a")
    False
    """
    return hmac.new(secret, f"{where}\0{person}".encode(), hashlib.sha256).hexdigest()


def _identifier(text: str) -> str:
    text = text.strip()
    return text if IDENTIFIER.fullmatch(text) else ""
