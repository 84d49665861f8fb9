"""Pairs, two items side by side as in the second paper, and subsets, whose items meet evenly in participants.

Target pairs come from the author: the two members of each `pair`, whose sides are random. Random pairs compare any item
with any other, so that a model of choice can place all items on one scale; for that the comparisons must link all
items.

Subsets, in which each participant judges k of n items and each item is judged r times, are the fourth paper's design
(three of 45 sentences per person, 30 ratings per sentence). The items that meet in one participant should not depend on
the items, or individual use of the scale looks like a difference between them. Items are first assigned greedily to
participants whose items they met least, then exchanged between participants while the sum of squared meetings falls.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from karat.messages import Message
from karat.study.designs.balance import DesignError, fair_draws

Pair = tuple[int, int]
SWAPS_PER_PAIR = 10
"""Exchanges of partners that make the pairs of one participant random; ten per pair are the usual advice."""


@dataclass(frozen=True)
class RandomPairs:
    """The choice trials (left, right) of each participant."""

    participants: tuple[tuple[Pair, ...], ...]
    notes: tuple[Message, ...] = ()


def balance_sides(
    pairs: Sequence[Pair], rng: np.random.Generator | int, groups: Sequence[Hashable] | None = None
) -> tuple[Pair, ...]:
    """The pairs of one participant with random sides: in half of them the first member is on the left.

    Pass the pairs with the same kind of member first (the same level of the compared factor, or the better sentence).
    With an odd number the difference is one. `groups` names a group for each pair, such as its condition; sides are
    then even within each group and over all pairs.
    """
    rng = np.random.default_rng(rng)
    group_of: Sequence[Hashable] = [None] * len(pairs) if groups is None else groups
    together: dict[Hashable, list[int]] = defaultdict(list)
    for number, (_, group) in enumerate(zip(pairs, group_of, strict=True)):
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

    Every item is in equally many pairs and as often on the left as on the right (difference at most one), both over all
    participants and within each. No item meets itself, no participant sees a pair twice, and the comparisons of all
    participants link every item with every other.
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
        tuple((left[p, i], sum(pairs[i]) - left[p, i]) for i in rng.permutation(len(pairs)).tolist())
        for p, pairs in enumerate(trials)
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
    """Distinct pairs in which each item has its number of partners."""
    if max(degrees) <= 1:
        mixed = [int(i) for i in rng.permutation(np.flatnonzero(degrees))]
        return [mixed[i : i + 2] for i in range(0, len(mixed), 2)]
    # Havel and Hakimi's construction always succeeds if the degrees are nearly equal and none exceeds n - 1.
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
    for i, j, turn in rng.integers([len(edges), len(edges), 2], size=(SWAPS_PER_PAIR * len(edges), 3)).tolist():
        (a, b), (c, d) = edges[i], edges[j][::-1] if turn else edges[j]
        new = frozenset((a, d)), frozenset((c, b))
        if len({a, b, c, d}) == 4 and not present & set(new):
            present -= {frozenset((a, b)), frozenset((c, d))}
            present |= set(new)
            edges[i], edges[j] = [a, d], [c, b]
    return edges


def _connect(trials: list[list[list[int]]], n: int, rng: np.random.Generator) -> int:
    """Exchange partners until all items are linked; returns how many participants then see items unevenly.

    While there are separate parts, n - 1 pairs or more include a pair that its part can spare. Exchanging partners
    between it and a pair of another part joins the two parts, changes no item's number of pairs and repeats no pair.
    """
    from scipy.cluster.hierarchy import DisjointSet

    while True:
        parts = DisjointSet(range(n))
        every = [(p, i) for p in rng.permutation(len(trials)).tolist() for i in range(len(trials[p]))]
        spare = [(p, i) for p, i in every if not parts.merge(*trials[p][i])]
        if parts.n_subsets == 1:
            return sum(_spread(pairs, n) > 1 for pairs in trials)
        _join(trials, [parts[item] for item in range(n)], spare, n)


def _spread(pairs: Sequence[Sequence[int]], n: int) -> int:
    count = Counter(item for pair in pairs for item in pair)
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
    """The item on the left in each trial (participant, number).

    The showings of an item are coupled, first within participants and then across. In each couple one is on the left
    and one on the right, so the couples chain the trials, and one coin toss decides each chain.
    """
    partner: dict[tuple[int, int, int], tuple[int, int]] = {}
    open_within: dict[Pair, Pair] = {}
    for p, pairs in enumerate(trials):
        for i in rng.permutation(len(pairs)).tolist():
            for item in pairs[i]:
                _couple(partner, open_within, (item, p), (p, i))
    open_across: dict[Pair, Pair] = {}
    waiting = list(open_within.items())
    for number in rng.permutation(len(waiting)).tolist():
        (item, _), single = waiting[number]
        _couple(partner, open_across, (item, -1), single)
    left: dict[Pair, int] = {}
    for p, pairs in enumerate(trials):
        for i, pair in enumerate(pairs):
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


EXCHANGE_WORK = 1_500_000_000
MOST_EXCHANGES = 10_000
"""The number of tries to find better exchanges; in large tables it is smaller, so that the search takes seconds."""
PARTNERS = 24
"""The number of other participants that are considered for an exchange at a time."""


@dataclass(frozen=True)
class Subsets:
    """The items of each participant, and the least and most frequent meeting of two items."""

    participants: tuple[tuple[int, ...], ...]
    least_meetings: int
    most_meetings: int
    notes: tuple[Message, ...] = ()


def subsets(n_items: int, per_participant: int, ratings_per_item: int, rng: np.random.Generator | int) -> Subsets:
    """The items that each participant judges, for the fewest participants that give each item its ratings.

    No participant sees an item twice; each item has `ratings_per_item` ratings, or one more if the last participant
    would otherwise see fewer items. Items are numbered from 0.
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
    """Participants x items, where the frequencies of items differ by at most one; and the meetings of items."""
    sees = np.zeros((participants, n))
    meetings = np.zeros((n, n))
    seen = np.zeros(n)
    for row in sees:
        met = np.zeros(n)
        for _ in range(k):
            # First the items that were seen least, then those that met these items least, then chance.
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
    """Exchange items between participants, in place, so that pairs that meet too often meet less."""
    participants, n = sees.shape
    k = int(sees[0].sum())
    if k in (1, n) or participants < 2:
        return
    pairs = n * (n - 1) // 2
    each, above = divmod(participants * k * (k - 1) // 2, pairs)
    # The sum of squares is smallest if all meetings are `each` or one more.
    best = (pairs - above) * each**2 + above * (each + 1) ** 2
    now = int((meetings**2).sum()) // 2
    near = sees @ meetings
    idle = 0
    for _ in range(min(max(EXCHANGE_WORK // sees.size, 300), MOST_EXCHANGES)):
        if now == best or idle > 10 * participants:
            return
        p = int(rng.integers(participants))
        items = np.flatnonzero(sees[p])
        weight = meetings[np.ix_(items, items)].max(axis=0) * n * n + near[p, items]
        a = int(rng.choice(items[weight == weight.max()]) if rng.random() < 0.5 else rng.choice(items))
        others = np.unique(rng.integers(participants, size=PARTNERS))
        others = others[sees[others, a] == 0]
        if not len(others):
            idle += 1
            continue
        # The change of the sum of squares when p exchanges a for an item b of another participant; shared items do not
        # count.
        sees_others, close = sees[others], near[others]
        change = 2 * (near[p] - near[p, a] - 2 * meetings[a] + close[:, [a]] - close)
        change += 4 * (k - 1 - sees_others @ sees[p])[:, None]
        change[(sees_others == 0) | (sees[p] > 0)] = np.inf
        lowest = float(change.min())
        if lowest > 0:
            idle += 1
            continue
        idle = 0 if lowest < 0 else idle + 1
        choices = np.flatnonzero(change == lowest)
        q, b = divmod(int(choices[rng.integers(len(choices))]), n)
        _swap(sees, meetings, near, (p, a), (int(others[q]), b))
        now += int(lowest)


def _swap(sees: np.ndarray, meetings: np.ndarray, near: np.ndarray, first: Pair, second: Pair) -> None:
    """Exchange two items of two participants and update the sums."""
    (p, a), (q, b) = first, second
    sees[p, a] = sees[q, b] = 0
    step = sees[p] - sees[q]
    # The other items of p lose a and gain b; those of q lose b and gain a.
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
