"""What the model of credence looks at: participants x trials, one matrix a kind of evidence; -1 and NaN stand for none.

A part is the answers on one scale. Content is what an answer says of the stimulus, button where it stood on the screen:
for a choice the item and the side, for a scale shown the other way round the aligned and the shown position.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.types import Bools, Floats, Ints

Singles = NDArray[np.float32]


@dataclass(frozen=True)
class ScaleTrials:
    """The answers on one scale."""

    item: Ints
    """Which stimulus was judged, from 0."""
    content: Ints
    button: Ints
    items: int
    levels: int
    ordered: bool = True
    key: Floats | None = None
    """The right level of each stimulus, where one is known (NaN elsewhere); between two levels where both are right."""
    tested: Bools | None = None
    """Which stimuli are under test, where there are others, too: on these, grammars may differ."""

    @property
    def there(self) -> Bools:
        """Where there is an answer."""
        return np.asarray(self.content >= 0)

    def of(self, people: Ints) -> ScaleTrials:
        """The part of some participants."""
        return ScaleTrials(
            self.item[people],
            self.content[people],
            self.button[people],
            self.items,
            self.levels,
            self.ordered,
            self.key,
            self.tested,
        )

    def earlier(self) -> Ints:
        """The participant's previous answer to the same stimulus, -1 where this is the first."""
        found = np.full(self.item.shape, -1, dtype=np.int64)
        people, trials = np.nonzero(self.there)
        code = people * self.items + self.item[people, trials]
        order = np.lexsort((trials, code))
        again = np.flatnonzero(code[order][1:] == code[order][:-1]) + 1
        now, before = order[again], order[again - 1]
        found[people[now], trials[now]] = self.content[people[before], trials[before]]
        return found


@dataclass(frozen=True)
class CredenceTrials:
    """All parts, on the same axes, and the residual log times (None without times)."""

    parts: tuple[ScaleTrials, ...]
    residual: Floats | None = None
    in_sequence: bool = True
    """Whether trials stand in the order of presentation; else nothing is made of what follows what."""

    @property
    def shape(self) -> tuple[int, int]:
        people, trials = self.parts[0].item.shape
        return people, trials

    @property
    def answered(self) -> Ints:
        """How many answers each participant gave."""
        given: Ints = np.sum([part.there.sum(axis=1) for part in self.parts], axis=0)
        return given

    def of(self, people: Ints) -> CredenceTrials:
        """The trials of some participants."""
        residual = None if self.residual is None else self.residual[people]
        return CredenceTrials(tuple(part.of(people) for part in self.parts), residual, self.in_sequence)


def first_weights(trials: CredenceTrials) -> Floats:
    """How far everybody goes along with the others, before anything is learned: a first guess of who is in earnest.

    The correlation with the others' mean (categories without order: with their shares), as a z, through a logistic.
    """
    sums = np.zeros((3, trials.shape[0]))
    for part in trials.parts:
        levels = range(part.levels) if not part.ordered else (None,)
        for level in levels:
            sums += _with_others(part, level)
    cross, own, others = sums
    r = np.where(own * others > 0, cross / np.sqrt(np.maximum(own * others, 1e-12)), 0.0)
    z = np.arctanh(np.clip(r, -0.99, 0.99)) * np.sqrt(np.maximum(trials.answered - 3, 1))
    weights: Floats = 1 / (1 + np.exp(2 - z))
    return weights


def _with_others(part: ScaleTrials, level: int | None) -> Floats:
    there = part.there
    value = np.where(there, part.content if level is None else part.content == level, 0).astype(np.float64)
    item = np.where(there, part.item, 0)
    number = np.bincount(part.item[there], minlength=part.items)[item]
    total = np.bincount(part.item[there], value[there], part.items)[item]
    used = there & (number > 1)
    rest = (total - value) / np.maximum(number - 1, 1)
    many = np.maximum(used.sum(axis=1), 1)[:, None]
    own = (value - (value * used).sum(axis=1, keepdims=True) / many) * used
    others = (rest - (rest * used).sum(axis=1, keepdims=True) / many) * used
    return np.stack([(own * others).sum(axis=1), (own**2).sum(axis=1), (others**2).sum(axis=1)])


def residual_times(stimulus: Ints, seconds: Floats) -> Floats:
    """Log seconds less what is usual of the stimulus (medians, in turn with those of participants), about zero.

    >>> residual_times(np.array([[0, 1], [0, 1]]), np.array([[1.0, 2.0], [2.0, 4.0]])).round(3).tolist()
    [[-0.347, -0.347], [0.347, 0.347]]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        log_seconds = np.log(seconds)
    log_seconds[~np.isfinite(log_seconds)] = np.nan
    known = np.isfinite(log_seconds)
    owner, which, values = np.nonzero(known)[0], stimulus[known], log_seconds[known]
    usual, pace = np.zeros(int(which.max(initial=0)) + 1), _medians(owner, values, len(seconds))
    for _ in range(2):
        usual = _medians(which, values - pace[owner], len(usual))
        pace = _medians(owner, values - usual[which], len(seconds))
    found = np.full(seconds.shape, np.nan)
    found[known] = values - usual[which] - np.median(pace[np.unique(owner)])
    return found


def _medians(group: Ints, values: Floats, groups: int) -> Floats:
    order = np.lexsort((values, group))
    ends = np.searchsorted(group[order], np.arange(groups + 1))
    sizes = np.diff(ends)
    ranked = np.append(values[order], 0.0)
    low, high = ends[:-1] + np.maximum(sizes - 1, 0) // 2, ends[:-1] + sizes // 2
    return np.where(sizes > 0, (ranked[low] + ranked[high]) / 2, 0.0)
