"""Pairs: two items beside one another, as in the second paper's target pairs and random pairs.

Target pairs are written by the author: the two members of each `pair`, whose sides are drawn here. Random pairs compare
any item with any other, so that a model of choice can place all items on one scale; for that the comparisons must link
all items.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from karat.messages import Message
from karat.study.designs.balance import DesignError, fair_draws

Pair = tuple[int, int]
SWAPS_PER_PAIR = 10
"""Exchanges of partners that make the pairs of one participant random; ten a pair are the usual advice."""


@dataclass(frozen=True)
class RandomPairs:
    """The choice trials (left, right) of each participant."""

    participants: tuple[tuple[Pair, ...], ...]
    notes: tuple[Message, ...] = ()


def balance_sides(
    pairs: Sequence[Pair], rng: np.random.Generator | int, groups: Sequence[Hashable] | None = None
) -> tuple[Pair, ...]:
    """The pairs of one participant with their sides drawn anew: in half of them the first member stands left.

    Give the pairs with the same kind of member first (the same level of the compared factor, or the better sentence).
    With an odd number the difference is one. `groups` names a group for each pair, such as its condition: sides are
    then even within each group and over all.
    """
    rng = np.random.default_rng(rng)
    named: Sequence[Hashable] = [None] * len(pairs) if groups is None else groups
    together: dict[Hashable, list[int]] = defaultdict(list)
    for number, (_, group) in enumerate(zip(pairs, named, strict=True)):
        together[group].append(number)
    couples, single = [], []
    for numbers in together.values():
        mixed = [int(number) for number in rng.permutation(numbers)]
        couples += [mixed[i : i + 2] for i in range(0, len(mixed) - 1, 2)]
        single += mixed[-1:] if len(mixed) % 2 else []
    mixed = [int(number) for number in rng.permutation(single)]
    couples += [mixed[i : i + 2] for i in range(0, len(mixed), 2)]
    changed = set()
    for couple in couples:
        which = int(rng.integers(2))
        if which < len(couple):
            changed.add(couple[which])
    return tuple((b, a) if number in changed else (a, b) for number, (a, b) in enumerate(pairs))


def random_pairs(n: int, per_participant: int, participants: int, rng: np.random.Generator | int) -> RandomPairs:
    """Random pairs of n items for each participant, even in every respect and linking all items.

    Over all participants every item is in equally many pairs (difference at most one) and stands left as often as
    right (difference at most one); both hold within a participant too. No item meets itself, no pair comes twice for
    one participant, and the comparisons of all participants link every item with every other.
    """
    _refuse(n, per_participant, participants)
    rng = np.random.default_rng(rng)
    rounds, extra = divmod(2 * per_participant, n)
    trials: list[list[list[int]]] = []
    for more in fair_draws(n, extra, participants, rng):
        degrees = [rounds] * n
        for item in more:
            degrees[item] += 1
        trials.append(_random_graph(degrees, rng))
    uneven = _connect(trials, n, rng)
    left = _sides(trials, rng)
    design = tuple(
        tuple((left[p, i], sum(own[i]) - left[p, i]) for i in rng.permutation(len(own)).tolist())
        for p, own in enumerate(trials)
    )
    total = 2 * per_participant * participants
    notes = []
    if total % n:
        values = {"least": total // n, "most": total // n + 1, "places": total, "items": n}
        notes.append(Message("pairs.uneven", values))
    if uneven:
        notes.append(Message("pairs.uneven_participants", {"n": uneven, "participants": participants}))
    return RandomPairs(design, tuple(notes))


def _refuse(n: int, per_participant: int, participants: int) -> None:
    if n < 2:
        raise DesignError(Message("pairs.items", {"n": n}))
    if min(per_participant, participants) < 1:
        raise DesignError(Message("pairs.numbers"))
    if per_participant > n * (n - 1) // 2:
        values = {"n": per_participant, "items": n, "pairs": n * (n - 1) // 2, "advice": Message("pairs.fewer")}
        raise DesignError(Message("pairs.too_many", values))
    if per_participant * participants < n - 1:
        advice = Message("pairs.more", {"participants": -(-(n - 1) // per_participant)})
        values = {"n": per_participant * participants, "items": n, "needed": n - 1, "advice": advice}
        raise DesignError(Message("pairs.too_few", values))


def _random_graph(degrees: Sequence[int], rng: np.random.Generator) -> list[list[int]]:
    """Pairs without repetition in which each item has its number of partners."""
    if max(degrees) <= 1:
        mixed = [int(i) for i in rng.permutation(np.flatnonzero(degrees))]
        return [mixed[i : i + 2] for i in range(0, len(mixed), 2)]
    # Havel and Hakimi's construction always succeeds where the degrees are nearly equal and none exceeds n - 1.
    names = [int(i) for i in rng.permutation(len(degrees))]
    left = {name: degrees[name] for name in names}
    edges: list[list[int]] = []
    while True:
        ranked = sorted((name for name in left if left[name]), key=lambda name: -left[name])
        if not ranked:
            break
        first = ranked[0]
        for other in ranked[1 : 1 + left[first]]:
            edges.append([first, other])
            left[other] -= 1
        del left[first]
    present = {frozenset(edge) for edge in edges}
    for one, two, turn in rng.integers([len(edges), len(edges), 2], size=(SWAPS_PER_PAIR * len(edges), 3)).tolist():
        (a, b), (c, d) = edges[one], edges[two][::-1] if turn else edges[two]
        new = frozenset((a, d)), frozenset((c, b))
        if len({a, b, c, d}) == 4 and not present & set(new):
            present -= {frozenset((a, b)), frozenset((c, d))}
            present |= set(new)
            edges[one], edges[two] = [a, d], [c, b]
    return edges


def _connect(trials: list[list[list[int]]], n: int, rng: np.random.Generator) -> int:
    """Exchange partners until all items are linked; how many participants see items unevenly thereafter.

    While parts are apart, n - 1 pairs or more leave one pair that its part can spare. Exchanging partners between it
    and a pair of another part joins the two parts, changes no item's number of pairs and repeats no pair.
    """
    while True:
        part = list(range(n))
        spare = []
        every = [(p, i) for p in rng.permutation(len(trials)).tolist() for i in range(len(trials[p]))]
        for p, i in every:
            roots = [_root(part, item) for item in trials[p][i]]
            if roots[0] == roots[1]:
                spare.append((p, i))
            part[roots[0]] = roots[1]
        root = [_root(part, item) for item in range(n)]
        if len(set(root)) == 1:
            return sum(_spread(own, n) > 1 for own in trials)
        _join(trials, root, spare, n)


def _root(part: list[int], item: int) -> int:
    while part[item] != item:
        part[item] = part[part[item]]
        item = part[item]
    return item


def _spread(own: Sequence[Sequence[int]], n: int) -> int:
    count = Counter(item for pair in own for item in pair)
    return max(count.values()) - (min(count.values()) if len(count) == n else 0)


def _join(trials: list[list[list[int]]], root: list[int], spare: list[tuple[int, int]], n: int) -> None:
    """One exchange that joins two parts: within a participant, else one that keeps both even, else any."""
    for p, i in spare:
        for j, (c, d) in enumerate(trials[p]):
            a, b = trials[p][i]
            if root[c] != root[a]:
                trials[p][i], trials[p][j] = [a, c], [b, d]
                return
    fallback = None
    for p, i in spare:
        for q, other in enumerate(trials):
            for j, pair in enumerate(other):
                if root[pair[0]] == root[trials[p][i][0]]:
                    continue
                fallback = fallback or (p, i, q, j)
                for (a, b), (c, d) in product(permutations(trials[p][i]), permutations(pair)):
                    before = trials[p][i], other[j]
                    trials[p][i], other[j] = [a, c], [b, d]
                    if max(_spread(trials[p], n), _spread(other, n)) <= 1:
                        return
                    trials[p][i], other[j] = before
    if fallback is None:
        raise AssertionError("there is always a spare pair while parts are apart")
    p, i, q, j = fallback
    (a, b), (c, d) = trials[p][i], trials[q][j]
    trials[p][i], trials[q][j] = [a, c], [b, d]


def _sides(trials: Sequence[Sequence[Sequence[int]]], rng: np.random.Generator) -> dict[Pair, int]:
    """Who stands left in each trial (participant, number).

    The showings of an item are coupled, first within participants and then across, and of each couple one stands left
    and one right: the couples chain the trials, and a chain is decided by one throw of a coin.
    """
    partner: dict[tuple[int, int, int], tuple[int, int]] = {}
    open_within: dict[Pair, Pair] = {}
    for p, own in enumerate(trials):
        for i in rng.permutation(len(own)).tolist():
            for item in own[i]:
                _couple(partner, open_within, (item, p), (p, i))
    open_across: dict[Pair, Pair] = {}
    waiting = list(open_within.items())
    for number in rng.permutation(len(waiting)).tolist():
        (item, _), single = waiting[number]
        _couple(partner, open_across, (item, -1), single)
    left: dict[Pair, int] = {}
    for p, own in enumerate(trials):
        for i, pair in enumerate(own):
            if (p, i) in left:
                continue
            left[p, i] = pair[int(rng.integers(2))]
            for item in pair:
                trial, here = (p, i), item
                while (following := partner.get((*trial, here))) is not None and following not in left:
                    is_left = left[trial] == here
                    other = sum(trials[following[0]][following[1]]) - here
                    left[following] = other if is_left else here
                    trial, here = following, other
    return left


def _couple(
    partner: dict[tuple[int, int, int], tuple[int, int]], waiting: dict[Pair, Pair], key: Pair, trial: Pair
) -> None:
    if key in waiting:
        other = waiting.pop(key)
        partner[(*trial, key[0])] = other
        partner[(*other, key[0])] = trial
    else:
        waiting[key] = trial
