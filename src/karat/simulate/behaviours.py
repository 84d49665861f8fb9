"""How participants of a questionnaire behave, and how many behave in which way."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from karat.judgments.columns import nearest
from karat.messages import Message
from karat.simulate.errors import SimulateError

EARNEST = "earnest"
MINORITY = "minority dialect"
BEHAVIOURS = {
    EARNEST: "judges every trial",
    MINORITY: "judges every trial, but consistently prefers the opposite in part of the test items",
    "dawdler": "judges every trial, with long pauses in many of them",
    "drop-out": "judges every trial, but stops before the end",
    "guesser": "answers at random, a little faster than others",
    "straight-liner": "gives one answer throughout",
    "rusher": "answers at random in less than a second",
    "clever spammer": "answers at random in about a second, with a few long pauses that make the total time look right",
}
"""The behaviours and what each of them is."""
JUDGES = (EARNEST, MINORITY, "dawdler", "drop-out")
"""Those whose answers depend on what they judge."""
USUAL: Mapping[str, float] = {
    EARNEST: 0.85, "guesser": 0.04, "rusher": 0.04, "straight-liner": 0.03, "clever spammer": 0.02, "drop-out": 0.02,
}  # fmt: skip


def read_shares(text: str) -> dict[str, float]:
    """Shares as a user writes them: earnest=0.9,guesser=0.1.

    >>> read_shares("earnest=0.9, straight-liner=0.1")
    {'earnest': 0.9, 'straight-liner': 0.1}
    """
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, _, share = (word.strip() for word in part.partition("="))
        if name in shares:
            raise SimulateError(Message("behaviours.share_twice", {"name": name}))
        try:
            shares[name] = float(share)
        except ValueError:
            raise SimulateError(Message("behaviours.no_share", {"text": part.strip()})) from None
    return shares


def check_shares(shares: Mapping[str, float]) -> dict[str, float]:
    """The shares of all behaviours that occur; whatever is left is in earnest.

    >>> check_shares({"guesser": 0.25})
    {'earnest': 0.75, 'guesser': 0.25}
    """
    for name, share in shares.items():
        if name not in BEHAVIOURS:
            close = nearest(name, list(BEHAVIOURS))
            values = {"name": name, "close": close, "known": None if close else list(BEHAVIOURS)}
            raise SimulateError(Message("behaviours.unknown", values))
        if not 0 <= share <= 1:
            raise SimulateError(Message("behaviours.share", {"name": name, "value": share}))
    total = sum(shares.values())
    if total > 1 + 1e-9 or (EARNEST in shares and total < 1 - 1e-9):
        raise SimulateError(Message("behaviours.total", {"total": total, "name": EARNEST}))
    rest = {} if EARNEST in shares else {EARNEST: 1 - total}
    return {name: share for name, share in {**rest, **shares}.items() if share > 0}


def allot(shares: Mapping[str, float], participants: int, random: np.random.Generator) -> list[str]:
    """The behaviour of each participant: as many of each as the shares say, in random order.

    What does not come out even goes to the behaviours with the largest remainders.

    >>> sorted(allot({"guesser": 0.1}, 20, np.random.default_rng(1)))[-3:]
    ['earnest', 'guesser', 'guesser']
    """
    checked = check_shares(shares)
    exact = {name: share * participants for name, share in checked.items()}
    counts = {name: int(number + 1e-9) for name, number in exact.items()}
    by_remainder = sorted(exact, key=lambda name: counts[name] - exact[name])
    for name in by_remainder[: participants - sum(counts.values())]:
        counts[name] += 1
    behaviours = [name for name, count in counts.items() for _ in range(count)]
    random.shuffle(behaviours)
    return behaviours
