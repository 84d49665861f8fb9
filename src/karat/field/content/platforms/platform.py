"""What a platform is: which parameters its visitors bring, how they return, and what a researcher pastes there.

A platform of its own kind is a class that derives from `Platform` and says otherwise what differs: `read`, `address`,
`post` or `pasted`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from textwrap import wrap
from urllib.parse import quote

from karat.study.settings import RecruitmentSettings
from karat.study.study import Study

IDENTIFIER = re.compile(r"(?=.*[A-Za-z0-9])[A-Za-z0-9._@:+~-]{1,128}")
PLACEHOLDER = re.compile(r"[{}<>\[\]$%*|]|\.{3}")
"""Signs of what a platform should have filled in: {{%PROLIFIC_PID%}}, ${id}, <id>, the dots of our own help."""


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
    """Where participants come from.

    >>> where = Platform("panel", "Panel", "user", "visit", "survey", True)
    >>> where.read({"user": "u1", "visit": "<b>"})
    Visit(person='u1', session='', study='', preview=False, submit_to=None)
    >>> stated = RecruitmentSettings(completion_url="https://panel.example/back?u={pid}&c={code}")
    >>> where.address(stated, Visit("u1"), "C1", stated=True)
    'https://panel.example/back?u=u1&c=C1'
    """

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
    counts_places: bool = False
    """Whether the platform itself sees to it that no more people come than are wanted."""
    rejecting: str = ""
    """What a researcher should know before refusing payment."""

    @property
    def framed(self) -> bool:
        """Whether the pages are shown inside those of the platform, where cookies do not work."""
        return bool(self.frame_ancestors)

    def read(self, query: Mapping[str, str]) -> Visit:
        """What the parameters of an address say."""
        person, session, study = (identifier(query.get(name, "")) for name in (self.person, self.session, self.study))
        return Visit(person, session, study)

    def address(self, recruitment: RecruitmentSettings, visit: Visit, code: str, stated: bool) -> str | None:
        """The address to return to; None where there is none. `stated`: whether the study, not karat, has the code."""
        if not recruitment.completion_url:
            return None
        values = {"pid": visit.person, "session": visit.session, "study": visit.study, "code": code}
        address = recruitment.completion_url
        for slot, value in values.items():
            address = address.replace(f"{{{slot}}}", quote(value, safe=""))
        return address

    def post(self, visit: Visit, outcome: str, code: str) -> Post | None:
        """The form that the browser posts at the end; None where participants return by code or address."""
        return None

    def pasted(self, study: Study, address: str) -> Iterator[str]:
        """What a researcher pastes on the platform, line by line; `address` is that of the study."""
        recruitment = study.settings.recruitment
        yield from self.pasted_link(study, address)
        yield from places(study)
        yield from devices(study)
        if recruitment.completion_url:
            yield from row("return", recruitment.completion_url)
        code = recruitment.completion_code
        yield from row("code", f"{code}, the same for all" if code else "everybody gets a code of their own at the end")

    def pasted_link(self, study: Study, address: str) -> Iterator[str]:
        """The first of these lines: the address with the parameters of the platform."""
        yield from row("study link", f"{address}?{self.person}=...")
        yield from row("", "Put the platform's own placeholder for the participant in the place of the dots.")


def identifier(text: str) -> str:
    """What a parameter calls somebody; empty where it cannot be an identifier."""
    text = text.strip()
    return text if IDENTIFIER.fullmatch(text) else ""


WIDTH = 110


def row(name: str, text: str) -> Iterator[str]:
    """A line of the list; texts go on in the same column, addresses stay whole.

    >>> list(row("devices", "phone, tablet"))
    ['  devices       phone, tablet']
    """
    first, *rest = [text] if "://" in text else wrap(text, WIDTH - 16)
    yield f"  {name:<13} {first}"
    for line in rest:
        yield f"  {'':<13} {line}"


def places(study: Study) -> Iterator[str]:
    """How many participants are wanted, for how long and for which pay."""
    recruitment = study.settings.recruitment
    minutes = recruitment.minutes if recruitment.minutes is not None else study.minutes()
    pay = ""
    if recruitment.hourly_pay is not None:
        each = recruitment.hourly_pay * minutes / 60
        pay = f", {each:.2f} {recruitment.currency} each ({recruitment.hourly_pay:.2f} per hour)"
    yield from row("places", f"{recruitment.participants} eligible participants, {minutes:.0f} minutes{pay}")


def devices(study: Study) -> Iterator[str]:
    """On which devices the study can be done."""
    yield from row("devices", ", ".join(study.settings.field.devices))
