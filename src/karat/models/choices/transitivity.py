"""Transitivity of choices: of the proportions of a group, and of each participant's own choices.

Let p_ab be the share of choices of a over b (ties count half). Where p_ab and p_bc are at least 1/2,

    weak stochastic transitivity asks that       p_ac >= 1/2,
    moderate                                     p_ac >= min(p_ab, p_bc),
    strong                                       p_ac >= max(p_ab, p_bc).

Where proportions of 1/2 allow three items more than one order, it is enough that one of them obeys.

Proportions of few choices break these by chance alone, so that counts of violations are compared with those of
simulated studies. A participant's triad is circular where a was chosen over b, b over c and c over a (Kendall and
Babington Smith 1940). With d of them among all n items, zeta = 1 - d / (most possible), which is 1 for a perfect order.
"""

from __future__ import annotations

import numpy as np

from karat.models.choices.pairs import Pairs
from karat.types import Floats, Ints

TRIADS = 20_000
"""How many triads are looked at; a random choice where there are more."""


def compared_triads(pairs: Pairs, seed: int = 1) -> Ints:
    """Triads of items (rows) of which all three pairs were compared.

    >>> compared_triads(Pairs.of([0, 1, 2, 2], [1, 2, 0, 3], [1, 1, 1, 1], 4)).tolist()
    [[0, 1, 2]]
    """
    met = np.zeros((pairs.items, pairs.items), dtype=bool)
    met[pairs.left, pairs.right] = met[pairs.right, pairs.left] = True
    found = []
    for one in range(pairs.items - 2):
        others = one + 1 + np.flatnonzero(met[one, one + 1 :])
        two, three = np.nonzero(np.triu(met[np.ix_(others, others)], 1))
        found.append(np.stack([np.full(len(two), one), others[two], others[three]], axis=1))
    triads = np.concatenate(found) if found else np.empty((0, 3), dtype=np.int64)
    if len(triads) > TRIADS:
        triads = triads[np.sort(np.random.default_rng(seed).choice(len(triads), TRIADS, replace=False))]
    return triads.astype(np.int64)


def violations(pairs: Pairs, triads: Ints) -> Ints:
    """How many triads violate weak, moderate and strong stochastic transitivity.

    >>> circle = Pairs.of([0, 1, 2], [1, 2, 0], [1, 1, 1], 3)
    >>> violations(circle, compared_triads(circle)).tolist()
    [1, 1, 1]
    """
    n = pairs.items
    size = n * n
    ahead = np.bincount(pairs.left * n + pairs.right, pairs.answer, size).reshape(n, n)
    count = np.bincount(pairs.left * n + pairs.right, minlength=size).reshape(n, n)
    ahead, count = ahead - ahead.T, count + count.T
    one, two, three = triads.T
    # The lead along a circle of the three; a triad with an order has one edge against the other two: the long one.
    edges = np.stack([(one, two), (two, three), (three, one)])
    lead: Floats = ahead[edges[:, 0], edges[:, 1]] / count[edges[:, 0], edges[:, 1]]
    sign = np.sign(lead)
    weak = np.abs(sign.sum(axis=0)) == 3
    moderate, strong = weak.copy(), weak.copy()
    for long in range(3):
        first, second = (long + 1) % 3, (long + 2) % 3
        ordered = (sign[first] * sign[second] > 0) & (sign[long] * sign[first] <= 0)
        size_long, sizes = np.abs(lead[long]), np.abs(lead[[first, second]])
        moderate |= ordered & (size_long < sizes.min(axis=0) - 1e-12)
        strong |= ordered & (size_long < sizes.max(axis=0) - 1e-12)
    return np.array([weak.sum(), moderate.sum(), strong.sum()])


def circular_triads(pairs: Pairs, person: Ints, people: int) -> tuple[Ints, Ints]:
    """Of each participant: how many triads are circular, and how many have three choices without a tie.

    Of repeated comparisons the last one counts.

    >>> circular_triads(Pairs.of([0, 1, 2], [1, 2, 0], [1, 1, 1], 3), np.zeros(3, dtype=np.int64), 1)
    (array([1]), array([1]))
    """
    circles, whole = np.zeros(people, dtype=np.int64), np.zeros(people, dtype=np.int64)
    for who in range(people):
        mine = np.flatnonzero((person == who) & (pairs.answer != 0))
        items, places = np.unique(np.concatenate([pairs.left[mine], pairs.right[mine]]), return_inverse=True)
        left, right = places[: len(mine)], places[len(mine) :]
        chosen = np.zeros((len(items), len(items)))
        turned = pairs.answer[mine] == -1
        better, worse = np.where(turned, right, left), np.where(turned, left, right)
        for one, two in zip(better, worse, strict=True):
            chosen[one, two], chosen[two, one] = 1.0, 0.0
        either = chosen + chosen.T
        circles[who] = round(float(np.trace(chosen @ chosen @ chosen)) / 3)
        whole[who] = round(float(np.trace(either @ either @ either)) / 6)
    return circles, whole


def zeta(circles: Floats, items: int) -> Floats:
    """Kendall and Babington Smith's coefficient of consistence, for participants who compared all items.

    >>> zeta(np.array([0.0, 1.0]), 3).tolist()
    [1.0, 0.0]
    """
    most = (items**3 - items) / 24 if items % 2 else (items**3 - 4 * items) / 24
    return 1 - np.asarray(circles) / most
