"""Scales as short texts, the way the command line takes them: `ordinal:1-5`, `choice:none`, `nominal:A,B,C`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from karat.errors import ScaleError, shown
from karat.judgments.scales import (
    KINDS,
    NUMBER_RANGE,
    Binary,
    Choice,
    Continuous,
    Magnitude,
    Nominal,
    Ordinal,
    Scale,
    as_number,
)


def parse_scale(text: str) -> Scale:
    """The scale that a short text describes, as `--scale` takes it.

    | text | scale |
    | --- | --- |
    | `binary`, `binary:no,yes` | `Binary()`, `Binary(("no", "yes"))` |
    | `choice`, `choice:none` | two sides, without and with "no difference" |
    | `ordinal:1-5`, `ordinal:1-5:3` | five points, the second with a neutral point |
    | `ordinal:bad,fair,good` | named points, lowest first |
    | `nominal:A,B,C` | categories |
    | `magnitude`, `magnitude:100` | magnitude estimation, with its modulus |
    | `continuous`, `continuous:0-100` | numbers, between two ends |

    >>> parse_scale("ordinal:1-5:3") == Ordinal(5, neutral=3)
    True
    """
    kind, _, rest = text.strip().partition(":")
    try:
        return _parse_settings(kind.strip().lower(), rest.strip())
    except (ScaleError, TypeError) as error:
        raise ScaleError(f"{shown(text)} is not a scale: {error} Write for example ordinal:1-5.") from None


def _parse_settings(kind: str, rest: str) -> Scale:
    if kind == "binary":
        return Binary(_listed(rest)) if rest else Binary()
    if kind == "choice" and rest in ("", "none"):
        return Choice(none=rest == "none")
    if kind == "ordinal" and rest:
        levels, _, neutral = rest.partition(":")
        return Ordinal(_points(levels), neutral.strip() or None)
    if kind == "nominal" and rest:
        return Nominal(_listed(rest))
    if kind == "magnitude":
        return Magnitude(_parse_number(rest) if rest else None)
    if kind == "continuous":
        match = NUMBER_RANGE.fullmatch(rest)
        if rest and not match:
            raise ScaleError(f"{shown(rest)} is not a range such as 0-100.")
        return Continuous(float(match[1]), float(match[2])) if match else Continuous()
    if kind in KINDS:
        raise ScaleError(f"what follows {kind} is missing or not understood.")
    raise ScaleError(f"there are {', '.join(KINDS)}.")


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def _points(text: str) -> Sequence[object]:
    match = re.fullmatch(r"\s*([+-]?\d{1,4})\s*-\s*([+-]?\d{1,4})\s*", text)
    return range(int(match[1]), int(match[2]) + 1) if match else _listed(text)


def _parse_number(text: str) -> float:
    number = as_number(text)
    if number is None:
        raise ScaleError(f"{shown(text)} is not a number.")
    return number
