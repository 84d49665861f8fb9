"""The base of platforms: the parameters of visits, how participants return, and what a researcher pastes there.

A platform that differs is a subclass of `Platform` that overrides `read`, `address`, `post` or `pasted`.
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
"""Signs of an unfilled placeholder: {{%PROLIFIC_PID%}}, ${id}, <id>, or the dots of our help text."""


@dataclass(frozen=True)
class Visit:
    """The identifiers in the address of a visit; missing or invalid ones are empty."""

    person: str = ""
    session: str = ""
    study: str = ""
    preview: bool = False
    """Whether the visitor only looks at the job on the platform; nothing may be revealed then."""
    submit_to: str | None = None
    """Where the browser posts the end of the job, if it does."""


@dataclass(frozen=True)
class Post:
    """A form that the browser posts at the end."""

    url: str
    fields: dict[str, str]


@dataclass(frozen=True)
class Completion:
    """How a participant returns: by a code, an address, a form, or by returning the submission."""

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
    >>> settings = RecruitmentSettings(completion_url="https://panel.example/back?u={pid}&c={code}")
    >>> where.address(settings, Visit("u1"), "C1", stated=True)
    'https://panel.example/back?u=u1&c=C1'
    """

    name: str
    title: str
    person: str
    """The parameter with the id of the participant; `session` and `study` likewise."""
    session: str
    study: str
    needs_person: bool
    """Whether a visit needs the id of a participant."""
    frame_ancestors: tuple[str, ...] = ()
    """Hosts that may show the pages in a frame."""
    form_targets: tuple[str, ...] = ()
    """Hosts to which the browser may post at the end."""
    counts_places: bool = False
    """Whether the platform itself limits the number of participants."""
    rejecting: str = ""
    """What a researcher should know before refusing payment."""

    @property
    def framed(self) -> bool:
        """Whether the pages appear in a frame of the platform, where cookies do not work."""
        return bool(self.frame_ancestors)

    def read(self, query: Mapping[str, str]) -> Visit:
        """Read a visit from the parameters of an address."""
        person, session, study = (identifier(query.get(name, "")) for name in (self.person, self.session, self.study))
        return Visit(person, session, study)

    def address(self, recruitment: RecruitmentSettings, visit: Visit, code: str, stated: bool) -> str | None:
        """The address to return to, if there is one. `stated`: whether the code is from the study, not from karat."""
        if not recruitment.completion_url:
            return None
        values = {"pid": visit.person, "session": visit.session, "study": visit.study, "code": code}
        address = recruitment.completion_url
        for slot, value in values.items():
            address = address.replace(f"{{{slot}}}", quote(value, safe=""))
        return address

    def post(self, visit: Visit, outcome: str, code: str) -> Post | None:
        """The form that the browser posts at the end; None if participants return by code or address."""
        return None

    def pasted(self, study: Study, address: str) -> Iterator[str]:
        """The lines that a researcher pastes into the platform; `address` is that of the study."""
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
    """The identifier in a parameter; empty if it is not a valid one."""
    text = text.strip()
    return text if IDENTIFIER.fullmatch(text) else ""


WIDTH = 110


def row(name: str, text: str) -> Iterator[str]:
    """A line of the list, wrapped in its column; addresses stay whole.

    >>> list(row("devices", "phone, tablet"))
    ['  devices       phone, tablet']
    """
    first, *rest = [text] if "://" in text else wrap(text, WIDTH - 16)
    yield f"  {name:<13} {first}"
    for line in rest:
        yield f"  {'':<13} {line}"


def places(study: Study) -> Iterator[str]:
    """How many participants are wanted, how long it takes, and the pay."""
    recruitment = study.settings.recruitment
    minutes = recruitment.minutes if recruitment.minutes is not None else study.minutes()
    pay = ""
    if recruitment.hourly_pay is not None:
        each = recruitment.hourly_pay * minutes / 60
        pay = f", {each:.2f} {recruitment.currency} each ({recruitment.hourly_pay:.2f} per hour)"
    yield from row("places", f"{recruitment.participants} eligible participants, {minutes:.0f} minutes{pay}")


def devices(study: Study) -> Iterator[str]:
    """The devices on which the study works."""
    yield from row("devices", ", ".join(study.settings.field.devices))
