"""What several measures do with messages: take over those of another result, name the question."""

from __future__ import annotations

import math
from collections.abc import Iterable

from karat.messages import Message


def about_question(question: str, notes: Iterable[Message]) -> list[Message]:
    """Notes with the question that they are about, where questions have names.

    >>> str(about_question("natural", [Message("word.yes")])[0])
    'natural: yes'
    """
    own = list(notes)
    if not question:
        return own
    return [Message("measure.about_question", {"question": question, "note": note}) for note in own]


def finite(value: float | None) -> float | None:
    """A number, or None where there is none, so that the part of a sentence that needs it is left out.

    >>> finite(0.5), finite(float("nan")), finite(None)
    (0.5, None, None)
    """
    return None if value is None or not math.isfinite(value) else float(value)


def rounded(share: float | None) -> float | None:
    """A share to the whole per cent that a sentence has, or None where there is none.

    >>> rounded(0.4567), rounded(None)
    (0.46, None)
    """
    return None if share is None else round(share, 2)
