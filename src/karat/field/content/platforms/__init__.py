"""Recruitment platforms: what a visit brings along, and how a participant returns. One file per platform.

Every platform sends people with parameters in the address and takes them back by a code, an address or a form that the
browser posts. A new one is named in `PLATFORMS`; a package of one's own adds one by an entry point in the group
`karat.platforms`, under the name that study files write. `docs/extending/platform.md` shows both ways. Identifiers are
kept apart from answers and compared by a keyed hash only.
"""

import hashlib
import hmac
from collections.abc import Mapping

from karat.field.content.platforms.link import OPEN, link
from karat.field.content.platforms.mturk import MTURK, submit_address
from karat.field.content.platforms.platform import Completion, Platform, Post, Visit
from karat.field.content.platforms.prolific import PROLIFIC
from karat.packages import added
from karat.study.settings import FieldSettings, RecruitmentSettings

__all__ = [
    "PLATFORMS",
    "Completion",
    "Platform",
    "Post",
    "Visit",
    "completion",
    "person_hash",
    "platform",
    "submit_address",
]

GROUP = "karat.platforms"
PLATFORMS: Mapping[str, Platform] = {where.name: where for where in (PROLIFIC, MTURK)}
CODES = {
    "complete": "completion_code",
    "screened-out": "screened_out_code",
    "failed-quiz": "failed_quiz_code",
    "declined": "no_consent_code",
}
"""Which setting has the platform's code for an outcome."""


def platform(recruitment: RecruitmentSettings) -> Platform:
    """The platform that a study names; any that nobody knows is one with a link and an address to return to.

    >>> platform(RecruitmentSettings(platform="Prolific")).person
    'PROLIFIC_PID'
    """
    name = recruitment.platform.strip().lower()
    if name in PLATFORMS:
        return PLATFORMS[name]
    found = added(GROUP, name, Platform) if name not in ("", OPEN) else None
    return link(recruitment) if found is None else found[0]


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
    shown_code = stated or code
    post = where.post(visit, outcome, shown_code)
    redirect = None
    if post is None and field.completion != "code":
        redirect = where.address(recruitment, visit, shown_code, bool(stated))
    hidden = field.completion == "redirect" and (redirect is not None or post is not None)
    return Completion("" if hidden else shown_code, redirect, post)


def person_hash(secret: bytes, where: str, person: str) -> str:
    """A keyed hash of an identifier: the same person is known again, and nobody can be found by it without the key."""
    return hmac.new(secret, f"{where}\0{person}".encode(), hashlib.sha256).hexdigest()
