"""Medians and median absolute deviations of many groups at once, from values that are sorted within each group.

For sorted values x of a group with median m, the k smallest deviations |x - m| belong to neighbours x[i], ...,
x[i+k-1], so the k-th smallest deviation is the least max(m - x[i], x[i+k-1] - m) over i. The first term falls and the
second rises with i: where they cross is found by bisection, for all groups together. Nothing is sorted again.

Of values that lie in many parts they are found by counting, exactly. Nothing is brought together but counts. The bit
pattern of a floating-point number, read as a whole number (and turned round where the sign bit is set), has the order
of the numbers themselves. Each part counts its values by the leading 22 bits of this key: sign, exponent and ten bits
of the fraction, so that a bin is a thousandth of its values wide. From the counts summed over parts,

- the median lies in the bins that hold the middle ranks;
- for a value in the bin [e, f] and a median in [a, b], the deviation |x - m| lies between max(0, e - b, a - f) and
  max(f - a, b - e). An order statistic of the deviations is then between that of all lower and that of all upper
  bounds, as rounded subtraction keeps the order.

Only bins that may hold the median or the median deviation are looked at again: by 16 more bits while they hold many
values, else by all bits, which are the values themselves. One such question suffices up to some hundred million values,
and the result is that of sorting all of them, to the last bit. The method is a radix selection (Knuth, The Art of
Computer Programming 3, 5.2.5), done for ranks of the values and of their deviations together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.types import Floats, Ints

MAD_CONSTANT = 1.4826
"""Makes the deviation of a normal distribution its standard deviation; R's default."""


def grouped_median_mad(values: Floats, counts: Ints, constant: float = MAD_CONSTANT) -> tuple[Floats, Floats]:
    """Median and median absolute deviation of each group; `counts` says how many values each has, one after the other.

    A group without values has neither (NaN).

    >>> medians, deviations = grouped_median_mad(np.array([1.0, 2.0, 9.0, 5.0]), np.array([3, 1]), constant=1)
    >>> medians.tolist(), deviations.tolist()
    ([2.0, 5.0], [1.0, 0.0])
    """
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    filled = counts > 0
    medians = np.full(len(counts), np.nan)
    deviations = np.full(len(counts), np.nan)
    start, count = starts[filled], counts[filled]
    low, high = values[start + (count - 1) // 2], values[start + count // 2]
    median = (low + high) / 2
    medians[filled] = median
    smaller = _kth_deviation(values, start, count, median, (count + 1) // 2)
    larger = np.where(count % 2 == 1, smaller, _kth_deviation(values, start, count, median, count // 2 + 1))
    deviations[filled] = constant * (smaller + larger) / 2
    return medians, deviations


def _kth_deviation(values: Floats, start: Ints, count: Ints, median: Floats, k: Ints) -> Floats:
    """The k-th smallest deviation from the median, group by group."""
    k = np.minimum(k, count)
    low, high = np.zeros_like(count), count - k
    while np.any(low < high):
        middle = (low + high) // 2
        crossed = values[start + middle + k - 1] - median >= median - values[start + middle]
        high = np.where(crossed, middle, high)
        low = np.where(crossed, low, np.minimum(middle + 1, high))
    best = np.maximum(median - values[start + low], values[start + low + k - 1] - median)
    before = np.maximum(low - 1, 0)
    other = np.maximum(median - values[start + before], values[start + before + k - 1] - median)
    return np.asarray(np.minimum(best, other))


SHIFT = 42
"""The bits of a key that the first count leaves out."""
STEP = 16
"""The bits by which many values are distinguished further."""
FEW = 1_000_000
"""This many values may be asked for at once."""
DENSE = 1 << 18
"""Counts are kept for all bins between the first and the last, also empty ones, while there are at most this many."""
_REST = np.int64((1 << 63) - 1)


@dataclass(frozen=True)
class Bins:
    """How many values of which group have a key from `low` to `high`; sorted by group and key, without empty ones."""

    group: Ints
    low: Ints
    high: Ints
    count: Ints

    def __len__(self) -> int:
        return len(self.group)

    def where(self, chosen: NDArray[np.bool_]) -> Bins:
        """Only the chosen bins."""
        return Bins(self.group[chosen], self.low[chosen], self.high[chosen], self.count[chosen])


Ask = Callable[[Bins, int], Bins]
"""Counts the values that lie in some bins anew, in all parts, by keys without this many bits."""


def keys_of(values: Floats) -> Ints:
    """Whole numbers in the order of finite values."""
    bits = (values + 0.0).view(np.int64)
    return bits ^ ((bits >> 63) & _REST)


def values_of(keys: Ints) -> Floats:
    """The values that have these keys."""
    return (keys ^ ((keys >> 63) & _REST)).view(np.float64)


def tally(
    values: Floats, groups: NDArray[np.integer], within: Bins | None = None, shift: int = SHIFT, dense: int = DENSE
) -> Bins:
    """The values of one part, counted by group and by their keys without the last `shift` bits.

    With `within`, only values are counted that lie in these bins.
    """
    keys = keys_of(values)
    if within is not None:
        inside = _inside(keys, groups, within)
        keys, groups = keys[inside], groups[inside]
    if not len(keys):
        nothing = np.zeros(0, np.int64)
        return Bins(nothing, nothing, nothing, nothing)
    leading = keys >> shift
    first, number = int(leading.min()), int(groups.max()) + 1
    width = int(leading.max()) - first + 1
    if width * number <= max(dense, 4 * len(keys)):
        counts = np.bincount(groups * np.int64(width) + (leading - first))
        filled = np.flatnonzero(counts)
        group, low, count = filled // width, filled % width + first, counts[filled]
    else:
        apart = [np.unique(leading[groups == one], return_counts=True) for one in range(number)]
        group = np.repeat(np.arange(number), [len(found) for found, _ in apart])
        low, count = (np.concatenate(both) for both in zip(*apart, strict=True))
    low = low << shift
    return Bins(group.astype(np.int64), low, low + np.int64((1 << shift) - 1), count.astype(np.int64))


def summed(tallies: Iterable[Bins]) -> Bins:
    """The tallies of several parts, by keys without the same number of bits, as one."""
    every = list(tallies)
    group, low, high, count = (
        np.concatenate([getattr(one, name) for one in every]) for name in ("group", "low", "high", "count")
    )
    order = np.lexsort((low, group))
    group, low, high = group[order], low[order], high[order]
    new = np.ones(len(group), bool)
    new[1:] = (group[1:] != group[:-1]) | (low[1:] != low[:-1])
    starts = np.flatnonzero(new)
    total = np.add.reduceat(count[order], starts) if len(starts) else count
    return Bins(group[starts], low[starts], high[starts], total)


def medians_and_deviations(
    bins: Bins, ask: Ask, groups: int, constant: float = MAD_CONSTANT, few: int = FEW
) -> tuple[Floats, Floats]:
    """Median and constant times median absolute deviation of each group, from the first count of all parts.

    `ask` counts the values of some bins anew, over all parts; `few` values are asked for at once. A group without
    values has neither (NaN).

    >>> parts = [np.array([1.0, 9.0]), np.array([2.0, 4.0])]
    >>> def ask(within, shift):
    ...     return summed(tally(one, np.zeros(len(one), np.int64), within, shift) for one in parts)
    >>> medians_and_deviations(ask(None, SHIFT), ask, 1, constant=1)
    (array([3.]), array([1.5]))
    """
    shift = SHIFT
    while True:
        found = [_Bounds.of(bins, group) for group in range(groups)]
        wanted = np.zeros(len(bins), bool)
        for one in found:
            wanted[one.places] = one.wanted
        wanted &= bins.low < bins.high
        if not wanted.any():
            break
        within = bins.where(wanted)
        shift = 0 if within.count.sum() <= few else max(0, shift - STEP)
        bins = summed([bins.where(~wanted), ask(_joined(within), shift)])
    medians = np.array([one.median for one in found], float)
    deviations = np.array([constant * one.deviations for one in found], float) / 2
    return medians, deviations


@dataclass(frozen=True)
class _Bounds:
    """What the bins of a group say: which of them must be known better, and, where none must, the median itself."""

    places: slice
    wanted: NDArray[np.bool_]
    median: float
    deviations: float
    """The sum of the two middle deviations."""

    @classmethod
    def of(cls, bins: Bins, group: int) -> _Bounds:
        begin, end = np.searchsorted(bins.group, [group, group + 1])
        places = slice(int(begin), int(end))
        count = bins.count[places]
        if not len(count):
            return cls(places, np.zeros(0, bool), np.nan, np.nan)
        low, high = values_of(bins.low[places]), values_of(bins.high[places])
        total = int(count.sum())
        middle = np.array([(total - 1) // 2, total // 2])
        at = np.searchsorted(np.cumsum(count), middle, side="right")
        least, most = (float((edge[at[0]] + edge[at[1]]) / 2) for edge in (low, high))
        nearest = np.maximum(np.maximum(low - most, least - high), 0.0)
        farthest = np.maximum(high - least, most - low)
        lower, upper = _ranked(nearest, count, middle), _ranked(farthest, count, middle)
        wanted = (farthest >= lower[0]) & (nearest <= upper[1])
        wanted[at] = True
        return cls(places, wanted, most, float(upper.sum()))


def _ranked(values: Floats, count: Ints, ranks: Ints) -> Floats:
    """The values of these ranks, where each stands for this many."""
    order = np.argsort(values, kind="stable")
    return values[order[np.searchsorted(np.cumsum(count[order]), ranks, side="right")]]


def _joined(bins: Bins) -> Bins:
    """The same keys in fewer bins: those that touch are one."""
    new = np.ones(len(bins), bool)
    new[1:] = (bins.group[1:] != bins.group[:-1]) | (bins.low[1:] != bins.high[:-1] + 1)
    starts = np.flatnonzero(new)
    ends = np.append(starts[1:], len(bins)) - 1
    return Bins(bins.group[starts], bins.low[starts], bins.high[ends], np.add.reduceat(bins.count, starts))


def _inside(keys: Ints, groups: NDArray[np.integer], within: Bins) -> Ints:
    """The places of the keys that lie in the bins of their groups."""
    # Most values are far from the bins of all groups: a look at their leading bits passes them over.
    first, last = int(within.low.min()) >> SHIFT, int(within.high.max()) >> SHIFT
    near = np.zeros(last - first + 2, bool)
    for low, high in set(zip((within.low >> SHIFT).tolist(), (within.high >> SHIFT).tolist(), strict=True)):
        near[low - first : high - first + 1] = True
    # As numbers without a sign, those before the first are behind the last, too, and there nothing is near.
    leading = ((keys >> SHIFT) - first).view(np.uint64)
    places = np.flatnonzero(near[np.minimum(leading, np.uint64(last - first + 1))])
    kept = []
    for group in np.unique(within.group).tolist():
        own = within.where(within.group == group)
        mine = places[groups[places] == group]
        before = np.searchsorted(own.low, keys[mine], side="right") - 1
        kept.append(mine[(before >= 0) & (keys[mine] <= own.high[before])])
    return np.concatenate(kept)
