"""Recruitment platforms: the parameters of a visit, and how a participant returns. One file per platform.

Every platform sends participants with parameters in the address, and they return by a code, an address or a form that
the browser posts. A new platform is added to `PLATFORMS`; another package can add one by an entry point in the group
`karat.platforms`, under the name that study files use. `docs/extending/platform.md` shows both ways. Identifiers are
stored separately from answers and compared only by a keyed hash.
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
"""The setting with the platform's code for each outcome."""


def platform(recruitment: RecruitmentSettings) -> Platform:
    """The platform that a study names; an unknown one has a link and an address to return to.

    >>> platform(RecruitmentSettings(platform="Prolific")).person
    'PROLIFIC_PID'
    """
    name = recruitment.platform.strip().lower()
    if name in PLATFORMS:
        return PLATFORMS[name]
    addition = added(GROUP, name, Platform) if name not in ("", OPEN) else None
    return link(recruitment) if addition is None else addition[0]


def completion(
    where: Platform, recruitment: RecruitmentSettings, field: FieldSettings, outcome: str, visit: Visit, code: str
) -> Completion:
    """How a participant returns after an outcome; `code` is that of the session, for platforms without codes.

    >>> settings = RecruitmentSettings(platform="prolific", completion_code="C1A2")
    >>> completion(platform(settings), settings, FieldSettings(), "complete", Visit("5f0a"), "K2").redirect
    'https://app.prolific.com/submissions/complete?cc=C1A2'
    >>> completion(platform(settings), settings, FieldSettings(), "screened-out", Visit("5f0a"), "K2").ask_to_return
    True
    """
    setting = CODES.get(outcome)
    platform_code = getattr(recruitment, setting) if setting else ""
    if outcome != "complete" and not platform_code:
        # Without a code for this outcome, the platform frees the place when the submission is returned.
        return Completion(ask_to_return=where.needs_person)
    shown_code = platform_code or code
    post = where.post(visit, outcome, shown_code)
    redirect = None
    if post is None and field.completion != "code":
        redirect = where.address(recruitment, visit, shown_code, bool(platform_code))
    hidden = field.completion == "redirect" and (redirect is not None or post is not None)
    return Completion("" if hidden else shown_code, redirect, post)


def person_hash(secret: bytes, where: str, person: str) -> str:
    """A keyed hash of an identifier, which recognises a person but cannot be traced back without the key."""
    return hmac.new(secret, f"{where}\0{person}".encode(), hashlib.sha256).hexdigest()
