"""Choices that are drawn from a model, as judgments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import karat
from karat.judgments import Judgments


def choices(
    strengths: Sequence[float],
    people: int,
    trials: int,
    seed: int,
    criterion: float = 0.4,
    turned: int = 0,
    shape: float | None = None,
) -> Judgments:
    """Everybody compares random pairs with normal noise; the last `turned` people have the opposite order of items.

    With `shape`, participants differ in their noise as in Thurstone's model, and in their criterion.
    """
    random = np.random.default_rng(seed)
    worth, n = np.asarray(strengths, dtype=float), len(strengths)
    who = np.repeat(np.arange(people), trials)
    left = random.integers(n, size=len(who))
    right = (left + random.integers(1, n, size=len(who))) % n
    sign = np.where(who >= people - turned, -1.0, 1.0)
    sigma, limit = np.ones(people), np.full(people, criterion)
    if shape is not None:
        sigma = np.exp((np.log(random.exponential(size=people)) + np.euler_gamma) / shape)
        limit = limit * np.exp(0.4 * random.normal(size=people))
    felt = random.normal(sign * (worth[left] - worth[right]), sigma[who])
    said = np.where(felt > limit[who], "left", np.where(felt < -limit[who], "right", "none"))
    names = np.array([f"i{number:02}" for number in range(n)])
    return karat.Judgments(
        {
            "participant": [f"p{number:02}" for number in who],
            "item": [f"{min(one, two)}:{max(one, two)}" for one, two in zip(names[left], names[right], strict=True)],
            "trial": np.tile(np.arange(1, trials + 1), people),
            "left": names[left],
            "right": names[right],
            "response": said,
            "group": np.where(who >= people - turned, "second", "first"),
        },
        karat.Choice(none=criterion > 0),
    )


def judged_choices(rows: Sequence[tuple[str, str, str]], none: bool = False) -> Judgments:
    """Choices that are written out as (left, right, answer), each by a participant of its own."""
    left, right, response = zip(*rows, strict=True)
    return karat.Judgments(
        {
            "participant": [f"p{number}" for number in range(len(rows))],
            "item": [f"{one}:{two}" for one, two in zip(left, right, strict=True)],
            "left": left,
            "right": right,
            "response": response,
        },
        karat.Choice(none=none),
    )
