"""Subsets: each participant judges k of n items, each item is judged r times, and items meet evenly.

The fourth paper's design (three of 45 sentences per person, 30 ratings per sentence). Which items meet in one person
should not depend on the items, or the person's use of the scale is mistaken for a difference between them. Items are
dealt greedily to those they met least, then exchanged between participants while the sum of squared meetings falls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from karat.messages import Message
from karat.study.designs.balance import DesignError

EXCHANGE_WORK = 1_500_000_000
MOST_EXCHANGES = 10_000
"""How long better exchanges are sought: this many tries, fewer in large tables, which keeps it to some seconds."""
PARTNERS = 24
"""With how many other participants an exchange is weighed at a time."""


@dataclass(frozen=True)
class Subsets:
    """The items of each participant, and how often the two items of a pair meet: least, most."""

    participants: tuple[tuple[int, ...], ...]
    least_meetings: int
    most_meetings: int
    notes: tuple[Message, ...] = ()


def subsets(n_items: int, per_participant: int, ratings_per_item: int, rng: np.random.Generator | int) -> Subsets:
    """Which items each participant judges, for the least number of participants that gives each item its ratings.

    Nobody sees an item twice; each item has `ratings_per_item` ratings, or one more where the last participant would
    otherwise see fewer items. Items are numbered from 0.
    """
    if min(n_items, per_participant, ratings_per_item) < 1:
        raise DesignError(Message("subsets.numbers"))
    if per_participant > n_items:
        advice = Message("subsets.fewer_items", {"most": n_items})
        raise DesignError(Message("subsets.too_many", {"n": per_participant, "items": n_items, "advice": advice}))
    rng = np.random.default_rng(rng)
    participants = math.ceil(n_items * ratings_per_item / per_participant)
    sees, meetings = _dealt(n_items, per_participant, participants, rng)
    _exchange(sees, meetings, rng)
    pairs = meetings[np.triu_indices(n_items, 1)]
    least, most = (int(pairs.min()), int(pairs.max())) if pairs.size else (0, 0)
    notes = []
    extra = participants * per_participant - n_items * ratings_per_item
    if extra:
        values = {"n": extra, "items": n_items, "ratings": ratings_per_item, "more": ratings_per_item + 1}
        notes.append(Message("subsets.extra_ratings", {**values, "per_participant": per_participant}))
    if least != most:
        notes.append(Message("subsets.meetings", {"least": least, "most": most, "mean": float(pairs.mean())}))
    order = [rng.permutation(np.flatnonzero(row)) for row in sees]
    return Subsets(tuple(tuple(int(i) for i in row) for row in order), least, most, tuple(notes))


def _dealt(n: int, k: int, participants: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Participants x items, dealt so that no item is ever more than one ahead of another; and the meetings."""
    sees = np.zeros((participants, n))
    meetings = np.zeros((n, n))
    seen = np.zeros(n)
    for row in sees:
        met = np.zeros(n)
        for _ in range(k):
            # First who was seen least, then who met these items least, then chance.
            cost = np.where(row > 0, np.inf, seen * 1e9 + met + rng.random(n) * 0.5)
            item = int(cost.argmin())
            row[item] = 1
            met += meetings[item]
        chosen = np.flatnonzero(row)
        seen[chosen] += 1
        meetings[np.ix_(chosen, chosen)] += 1
        meetings[chosen, chosen] = 0
    return sees, meetings


def _exchange(sees: np.ndarray, meetings: np.ndarray, rng: np.random.Generator) -> None:
    """Exchange items between participants, in place, while pairs that met too often meet less."""
    participants, n = sees.shape
    k = int(sees[0].sum())
    if k in (1, n) or participants < 2:
        return
    pairs = n * (n - 1) // 2
    each, above = divmod(participants * k * (k - 1) // 2, pairs)
    # The sum of squares is smallest where all meetings are `each` or one more.
    best = (pairs - above) * each**2 + above * (each + 1) ** 2
    now = int((meetings**2).sum()) // 2
    near = sees @ meetings
    idle = 0
    for _ in range(min(max(EXCHANGE_WORK // sees.size, 300), MOST_EXCHANGES)):
        if now == best or idle > 10 * participants:
            return
        p = int(rng.integers(participants))
        own = np.flatnonzero(sees[p])
        weight = meetings[np.ix_(own, own)].max(axis=0) * n * n + near[p, own]
        a = int(rng.choice(own[weight == weight.max()]) if rng.random() < 0.5 else rng.choice(own))
        others = np.unique(rng.integers(participants, size=PARTNERS))
        others = others[sees[others, a] == 0]
        if not len(others):
            idle += 1
            continue
        # The change of the sum of squares when p gives a for an item b of another participant; what the two
        # participants share counts for neither.
        theirs, close = sees[others], near[others]
        change = 2 * (near[p] - near[p, a] - 2 * meetings[a] + close[:, [a]] - close)
        change += 4 * (k - 1 - theirs @ sees[p])[:, None]
        change[(theirs == 0) | (sees[p] > 0)] = np.inf
        lowest = float(change.min())
        if lowest > 0:
            idle += 1
            continue
        idle = 0 if lowest < 0 else idle + 1
        choices = np.flatnonzero(change == lowest)
        q, b = divmod(int(choices[rng.integers(len(choices))]), n)
        _swap(sees, meetings, near, (p, a), (int(others[q]), b))
        now += int(lowest)


def _swap(sees: np.ndarray, meetings: np.ndarray, near: np.ndarray, one: tuple[int, int], two: tuple[int, int]) -> None:
    """Exchange two items of two participants and bring the sums up to date."""
    (p, a), (q, b) = one, two
    sees[p, a] = sees[q, b] = 0
    step = sees[p] - sees[q]
    # Who stays with p loses a and gains b; who stays with q loses b and gains a.
    for item, sign in ((a, -1), (b, 1)):
        meetings[item] += sign * step
        meetings[:, item] += sign * step
    touched = np.flatnonzero(step)
    have = sees[:, b] - sees[:, a]
    rows = np.flatnonzero(have)
    near[np.ix_(rows, touched)] += np.outer(have[rows], step[touched])
    gain = sees[:, touched] @ step[touched]
    near[:, a] -= gain
    near[:, b] += gain
    sees[p, b] = sees[q, a] = 1
    for participant in (p, q):
        near[participant] = meetings[sees[participant] > 0].sum(axis=0)
