"""The lines that tell a researcher what to paste where."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from karat.study.study import Study

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
        pay = f", {each:.2f} {recruitment.currency} each ({recruitment.hourly_pay:.2f} an hour)"
    yield from row("places", f"{recruitment.participants} eligible participants, {minutes:.0f} minutes{pay}")


def devices(study: Study) -> Iterator[str]:
    """On which devices the study can be done."""
    yield from row("devices", ", ".join(study.settings.field.devices))
