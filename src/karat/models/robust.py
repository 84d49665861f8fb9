"""Medians and median absolute deviations of many groups at once, from values sorted within each group.

For sorted values x of a group with median m, the k smallest deviations |x - m| belong to neighbours x[i], ...,
x[i+k-1], so the k-th smallest deviation is the minimum of max(m - x[i], x[i+k-1] - m) over i. The first term falls and
the second rises with i. Bisection finds the crossing for all groups together, without sorting again.

If the values are distributed over many parts, counting gives the exact result, and only counts are combined. The bit
pattern of a floating-point number, read as an integer (and inverted if the sign bit is set), has the same order as the
numbers themselves. Each part counts its values by the leading 22 bits of this key: sign, exponent and ten bits of the
fraction, so that the width of a bin is a thousandth of its values. From the counts summed over parts,

- the median is in the bins with the middle ranks;
- for a value in the bin [e, f] and a median in [a, b], the deviation |x - m| is between max(0, e - b, a - f) and
  max(f - a, b - e). An order statistic of the deviations is then between those of all lower and of all upper bounds,
  because rounded subtraction preserves the order.

Only bins that may contain the median or the median deviation are counted again: by 16 more bits while they contain many
values, otherwise by all bits, which are the values themselves. One more count suffices up to some hundred million
values, and the result is identical to that of sorting all of them. The method is a radix selection (Knuth, The Art of
Computer Programming 3, 5.2.5), applied to ranks of the values and of their deviations together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.types import Floats, Ints

MAD_CONSTANT = 1.4826
"""Converts the median absolute deviation of a normal distribution to its standard deviation; R's default."""


def grouped_median_mad(values: Floats, counts: Ints, constant: float = MAD_CONSTANT) -> tuple[Floats, Floats]:
    """The median and median absolute deviation of each group; `counts` is the number of consecutive values per group.

    Both are NaN for a group without values.

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
    """The k-th smallest deviation from the median, per group."""
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
"""The bits of a key that the first count ignores."""
STEP = 16
"""The number of additional bits by which many values are distinguished."""
FEW = 1_000_000
"""The maximum number of values that are counted by all bits at once."""
DENSE = 1 << 18
"""All bins between the first and the last are counted, even empty ones, if there are at most this many."""
_REST = np.int64((1 << 63) - 1)


@dataclass(frozen=True)
class Bins:
    """The number of values per group with a key from `low` to `high`; sorted by group and key, without empty bins."""

    group: Ints
    low: Ints
    high: Ints
    count: Ints

    def __len__(self) -> int:
        return len(self.group)

    def where(self, chosen: NDArray[np.bool_]) -> Bins:
        """The selected bins."""
        return Bins(self.group[chosen], self.low[chosen], self.high[chosen], self.count[chosen])


Ask = Callable[[Bins, int], Bins]
"""Counts the values in some bins again, in all parts, by keys without this many bits."""


def keys_of(values: Floats) -> Ints:
    """Integers with the same order as the finite values."""
    bits = (values + 0.0).view(np.int64)
    return bits ^ ((bits >> 63) & _REST)


def values_of(keys: Ints) -> Floats:
    """The values with these keys."""
    return (keys ^ ((keys >> 63) & _REST)).view(np.float64)


def tally(
    values: Floats, groups: NDArray[np.integer], within: Bins | None = None, shift: int = SHIFT, dense: int = DENSE
) -> Bins:
    """Count the values of one part by group and by their keys without the last `shift` bits.

    With `within`, only values in these bins are counted.
    """
    keys = keys_of(values)
    if within is not None:
        inside = _positions_inside(keys, groups, within)
        keys, groups = keys[inside], groups[inside]
    if not len(keys):
        empty = np.zeros(0, np.int64)
        return Bins(empty, empty, empty, empty)
    leading = keys >> shift
    first, number = int(leading.min()), int(groups.max()) + 1
    width = int(leading.max()) - first + 1
    if width * number <= max(dense, 4 * len(keys)):
        counts = np.bincount(groups * np.int64(width) + (leading - first))
        filled = np.flatnonzero(counts)
        group, low, count = filled // width, filled % width + first, counts[filled]
    else:
        by_group = [np.unique(leading[groups == index], return_counts=True) for index in range(number)]
        group = np.repeat(np.arange(number), [len(unique) for unique, _ in by_group])
        low, count = (np.concatenate(columns) for columns in zip(*by_group, strict=True))
    low = low << shift
    return Bins(group.astype(np.int64), low, low + np.int64((1 << shift) - 1), count.astype(np.int64))


def summed(tallies: Iterable[Bins]) -> Bins:
    """The sum of the tallies of several parts, which must have the same `shift`."""
    all_bins = list(tallies)
    group, low, high, count = (
        np.concatenate([getattr(bins, name) for bins in all_bins]) for name in ("group", "low", "high", "count")
    )
    order = np.lexsort((low, group))
    group, low, high = group[order], low[order], high[order]
    is_first = np.ones(len(group), bool)
    is_first[1:] = (group[1:] != group[:-1]) | (low[1:] != low[:-1])
    starts = np.flatnonzero(is_first)
    total = np.add.reduceat(count[order], starts) if len(starts) else count
    return Bins(group[starts], low[starts], high[starts], total)


def medians_and_deviations(
    bins: Bins, ask: Ask, groups: int, constant: float = MAD_CONSTANT, few: int = FEW
) -> tuple[Floats, Floats]:
    """The median and `constant` times the median absolute deviation of each group, from the first count of all parts.

    `ask` counts the values of some bins again, over all parts; at most `few` of them by all bits. Both results are NaN
    for a group without values.

    >>> parts = [np.array([1.0, 9.0]), np.array([2.0, 4.0])]
    >>> def ask(within, shift):
    ...     return summed(tally(part, np.zeros(len(part), np.int64), within, shift) for part in parts)
    >>> medians_and_deviations(ask(None, SHIFT), ask, 1, constant=1)
    (array([3.]), array([1.5]))
    """
    shift = SHIFT
    while True:
        bounds = [_Bounds.of(bins, group) for group in range(groups)]
        wanted = np.zeros(len(bins), bool)
        for bound in bounds:
            wanted[bound.places] = bound.wanted
        wanted &= bins.low < bins.high
        if not wanted.any():
            break
        within = bins.where(wanted)
        shift = 0 if within.count.sum() <= few else max(0, shift - STEP)
        bins = summed([bins.where(~wanted), ask(_merged(within), shift)])
    medians = np.array([bound.median for bound in bounds], float)
    deviations = np.array([constant * bound.deviations for bound in bounds], float) / 2
    return medians, deviations


@dataclass(frozen=True)
class _Bounds:
    """The bins of a group that must be counted again and, if there are none, the median and deviation themselves."""

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
        middle_bins = np.searchsorted(np.cumsum(count), middle, side="right")
        lowest, highest = (float((edge[middle_bins[0]] + edge[middle_bins[1]]) / 2) for edge in (low, high))
        nearest = np.maximum(np.maximum(low - highest, lowest - high), 0.0)
        farthest = np.maximum(high - lowest, highest - low)
        lower, upper = _ranked(nearest, count, middle), _ranked(farthest, count, middle)
        wanted = (farthest >= lower[0]) & (nearest <= upper[1])
        wanted[middle_bins] = True
        return cls(places, wanted, highest, float(upper.sum()))


def _ranked(values: Floats, count: Ints, ranks: Ints) -> Floats:
    """The values of these ranks, if each value occurs `count` times."""
    order = np.argsort(values, kind="stable")
    return values[order[np.searchsorted(np.cumsum(count[order]), ranks, side="right")]]


def _merged(bins: Bins) -> Bins:
    """The same keys in fewer bins: adjacent bins are merged."""
    is_first = np.ones(len(bins), bool)
    is_first[1:] = (bins.group[1:] != bins.group[:-1]) | (bins.low[1:] != bins.high[:-1] + 1)
    starts = np.flatnonzero(is_first)
    ends = np.append(starts[1:], len(bins)) - 1
    return Bins(bins.group[starts], bins.low[starts], bins.high[ends], np.add.reduceat(bins.count, starts))


def _positions_inside(keys: Ints, groups: NDArray[np.integer], within: Bins) -> Ints:
    """The positions of the keys within the bins of their groups."""
    # Most values are far from the bins of all groups, so their leading bits exclude them.
    first, last = int(within.low.min()) >> SHIFT, int(within.high.max()) >> SHIFT
    may_match = np.zeros(last - first + 2, bool)
    for low, high in set(zip((within.low >> SHIFT).tolist(), (within.high >> SHIFT).tolist(), strict=True)):
        may_match[low - first : high - first + 1] = True
    # As unsigned integers, values before the first bin are also after the last, where nothing matches.
    leading = ((keys >> SHIFT) - first).view(np.uint64)
    places = np.flatnonzero(may_match[np.minimum(leading, np.uint64(last - first + 1))])
    matches = []
    for group in np.unique(within.group).tolist():
        bins = within.where(within.group == group)
        members = places[groups[places] == group]
        index = np.searchsorted(bins.low, keys[members], side="right") - 1
        matches.append(members[(index >= 0) & (keys[members] <= bins.high[index])])
    return np.concatenate(matches)
