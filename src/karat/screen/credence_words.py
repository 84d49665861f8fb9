"""Credence in words: what was found about a participant's answers, and never about their intentions.

What counted for and against is told of those whose probability is not high; of the others there is nothing to explain.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TOLD = {
    "agreement": "agreement with the others", "controls": "controls and attention trials",
    "sequence": "the sequence of answers", "times": "response times",
}  # fmt: skip
LIKE = {"primary choice": "a primary choice", "repeated pattern": "a repeated pattern"}
"""Behaviours as they stand in a sentence, where that is not their name."""
HIGH = 0.95
COUNTS = 0.5
"""The size from which a part of the log odds is told."""


def reason(row: Mapping[str, Any], groups: int = 1) -> str:
    """What was found about a participant, as a part of a sentence.

    >>> found = {"earnest": 0.02, "behaviour": "primary choice", "switch_trial": 41, "switch_from": 38, "switch_to": 44}
    >>> reason({**found, "agreement": -1.2, "controls": 0.0, "sequence": -6.0, "times": 0.9})
    'in earnest with probability .02; the answers are more like a primary choice from about trial 41 on (38 to 44); against it: the sequence of answers, agreement with the others; for it: response times'
    """  # noqa: E501
    sentence = f"in earnest with probability {probability(row['earnest'])}"
    if row["behaviour"] != "earnest":
        sentence += f"; the answers are more like {behaviour(row)}"
    if row["earnest"] < HIGH:
        ordered = sorted((name for name in TOLD if abs(row[name]) >= COUNTS), key=lambda name: -abs(row[name]))
        against, speaking_for = ([TOLD[name] for name in ordered if sign * row[name] > 0] for sign in (-1, 1))
        sentence += f"; against it: {', '.join(against)}" if against else ""
        sentence += f"; for it: {', '.join(speaking_for)}" if speaking_for else ""
    return sentence + (f"; compared with speakers of group {row['speakers']}" if groups > 1 else "")


def behaviour(row: Mapping[str, Any]) -> str:
    """The behaviour that the answers are most like, and since when.

    >>> behaviour({"behaviour": "random guessing", "switch_trial": None})
    'random guessing'
    """
    name = LIKE.get(row["behaviour"], row["behaviour"])
    if row["switch_trial"] is None:
        return str(name)
    if row["switch_from"] == row["switch_to"]:
        return f"{name} from trial {row['switch_trial']} on"
    return f"{name} from about trial {row['switch_trial']} on ({row['switch_from']} to {row['switch_to']})"


def probability(value: float) -> str:
    """A probability with the digits that mean something.

    >>> probability(1e-9), probability(0.0315), probability(0.9999)
    ('under .001', '.032', 'over .999')
    """
    if value < 0.001:
        return "under .001"
    return "over .999" if value > 0.999 else shown(round(value, 3))


def shown(value: float) -> str:
    """A probability without the zero before the point.

    >>> shown(0.05)
    '.05'
    """
    return f"{value:g}".removeprefix("0")
