"""What the model of credence looks at: participants x trials, one matrix a kind of evidence; -1 and NaN stand for none.

A part is the answers on one scale. Content is what an answer says of the stimulus, button where it stood on the screen:
for a choice the item and the side, for a scale shown the other way round the aligned and the shown position.

Ordered levels are yes and no, ratings, choices with or without "no difference", and binned magnitudes. A participant
with the bias b, the stretch s of the scale and the discrimination d answers item i with at most level k with
probability

    F(s t_k + b - d a_i),      F standard logistic, t_1 < ... < t_(K-1) thresholds of all, a_i the item's strength,

except for lapses: with probability l any level is as probable. b, log s and log d have normal populations around zero
whose deviations are learned; they are summed over on a grid, whose places move with the deviations. What others say of
an item is known with the variance v only, by which the logistic function is flattened: its argument is divided by
sqrt(1 + pi d^2 v / 8) (MacKay 1992). Strengths are found by Fisher's scoring with the prior a_i ~ N(0, sigma_a^2), or
around the strength that a known right answer suggests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, ndtr, ndtri, psi

from karat.types import Bools, Floats, Ints

Singles = NDArray[np.float32]
MOST_CLASSES = 30
ONE_SIDED = 2.33
"""The 99th percentile of the normal distribution."""
FEW_ANSWERS = 9
"""With fewer answers to half of the stimuli, how strong a stimulus is remains a guess."""


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
    rank: Floats | None = None
    """The rank of each answer among all, where levels are only classes of answers: agreement is finer than these."""

    @property
    def there(self) -> Bools:
        """Where there is an answer."""
        return np.asarray(self.content >= 0)

    @property
    def has_classes(self) -> bool:
        """Whether a stimulus may belong to one of the levels, which are not too many for that."""
        return self.levels <= MOST_CLASSES

    @property
    def few_answers(self) -> bool:
        """Whether these are labels, or yes and no, and half of the stimuli have few answers."""
        given = np.bincount(self.item[self.there])
        return (not self.ordered or self.levels == 2) and bool(np.median(given[given > 0]) < FEW_ANSWERS)

    def of(self, people: Ints) -> ScaleTrials:
        """The part of some participants."""
        rank = None if self.rank is None else self.rank[people]
        item, content, button = self.item[people], self.content[people], self.button[people]
        return replace(self, item=item, content=content, button=button, rank=rank)

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
        return np.asarray(np.sum([part.there.sum(axis=1) for part in self.parts], axis=0))

    def of(self, people: Ints) -> CredenceTrials:
        """The trials of some participants."""
        residual = None if self.residual is None else self.residual[people]
        return CredenceTrials(tuple(part.of(people) for part in self.parts), residual, self.in_sequence)


def first_weights(trials: CredenceTrials) -> Floats:
    """How far everybody goes along with the others, before anything is learned: a first guess of who is attentive.

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
    return np.asarray(1 / (1 + np.exp(2 - z)))


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


def others_shares(part: ScaleTrials) -> tuple[tuple[Ints, Ints], Floats, Floats]:
    """Where answers are (participants, trials), how the others answered the same stimulus, and how many they are."""
    people, trials = np.nonzero(part.there)
    item, level = part.item[people, trials], part.content[people, trials]
    given = np.bincount(item * part.levels + level, minlength=part.items * part.levels).reshape(-1, part.levels)
    # All answers of one participant to a stimulus are their own.
    which, own = np.unique(people * part.items + item, return_inverse=True)
    mine = np.bincount(own * part.levels + level, minlength=len(which) * part.levels).reshape(-1, part.levels)
    others = (given[item] - mine[own]).astype(np.float64)
    number = others.sum(axis=1)
    return (people.astype(np.int64), trials.astype(np.int64)), others / np.maximum(number, 1)[:, None], number


def with_company(trials: CredenceTrials, weight: Floats) -> Bools:
    """Which answers (participants x trials) are to stimuli that somebody else judged who probably looked.

    `weight` is the probability of having looked at each trial.

    >>> item = np.array([[0, 1, 2], [0, 1, 3]])
    >>> trials = CredenceTrials((ScaleTrials(item, item * 0, item * 0, 4, 2),))
    >>> with_company(trials, np.array([[1.0, 1.0, 1.0], [0.9, 0.1, 0.9]])).tolist()
    [[True, False, False], [True, True, False]]
    """
    found = np.zeros(trials.shape, dtype=bool)
    for part in trials.parts:
        rows = np.nonzero(part.there)
        item, looked = part.item[rows], weight[rows]
        _, own = np.unique(rows[0] * part.items + item, return_inverse=True)
        others = np.bincount(item, looked, part.items)[item] - np.bincount(own, looked)[own]
        found[rows] |= others > 1 / 2
    return found


def beyond_chance(
    trials: CredenceTrials, counted: Bools | None = None, worths: Sequence[Floats | None] | None = None
) -> Floats:
    """How far the agreement of each participant with the others is above chance, in standard errors.

    Chance is the participant's own answers dealt anew to the stimuli that they judged: mean and variance over all ways
    to deal them are known (Hoeffding 1951), so that no model need be right. `counted` says which answers count. An
    answer is worth the share of the others who gave it to this stimulus (ordered: its product with their mean), or what
    `worths` says for each part (answers x levels), by what others gave.
    """
    excess, variance = np.zeros(trials.shape[0]), np.zeros(trials.shape[0])
    for part, worth in zip(trials.parts, worths or [None] * len(trials.parts), strict=True):
        found = excess_agreement(part, counted, worth)
        excess, variance = excess + found[0], variance + found[1]
    return np.divide(excess, np.sqrt(variance), out=np.zeros(len(excess)), where=variance > 1e-12)


def excess_agreement(
    part: ScaleTrials, counted: Bools | None = None, given: Floats | None = None
) -> tuple[Floats, Floats, Floats]:
    """Everybody's agreement above that of their answers dealt anew, its variance, and how much there could be."""
    rows, shares, number = others_shares(part)
    kept = (number > 0) & (True if counted is None else counted[rows])
    if part.ordered and given is None:
        return _covariance(part, rows, kept)
    owner, level, worth = rows[0][kept], part.content[rows][kept], (shares if given is None else given)[kept]
    if part.ordered and given is None:
        worth = np.multiply.outer(worth @ np.arange(part.levels), np.arange(part.levels))
    return dealt_anew(owner, level, worth, len(part.item))


def dealt_anew(owner: Ints, level: Ints, worth: Floats, people: int) -> tuple[Floats, Floats, Floats]:
    """The worth of everybody's answers above that of the same answers dealt anew, its variance, and its largest value.

    `worth` has the worth of each level (column) at the stimulus of each answer (row).

    >>> [found.tolist() for found in dealt_anew(np.zeros(4, int), np.array([0, 0, 1, 1]), np.eye(2)[[0, 0, 1, 1]], 1)]
    [[2.0], [1.3333333333333333], [2.0]]
    """
    levels = worth.shape[1]
    size = np.bincount(owner, minlength=people)
    own = np.bincount(owner * levels + level, minlength=people * levels).reshape(people, -1)
    many = np.maximum(size, 1)
    by_answer = np.column_stack([np.bincount(owner, column, people) for column in worth.T]) / many[:, None]
    by_stimulus = (worth * own[owner]).sum(axis=1) / many[owner]
    mean = np.bincount(owner, by_stimulus, people) / many
    centred = worth - by_stimulus[:, None] - by_answer[owner] + mean[owner, None]
    squares = np.bincount(owner, (own[owner] * centred**2).sum(axis=1), people)
    excess = np.bincount(owner, worth[np.arange(len(level)), level], people) - size * mean
    return excess, squares / np.maximum(size - 1, 1), size * (1 - mean)


def _covariance(part: ScaleTrials, rows: tuple[Ints, Ints], kept: Bools) -> tuple[Floats, Floats, Floats]:
    """The same for answers in order, which are worth their product with the mean of the others' answers."""
    people, item = len(part.item), part.item[rows]
    given = np.asarray((part.content if part.rank is None else part.rank)[rows], dtype=np.float64)
    _, mine = np.unique(rows[0] * part.items + item, return_inverse=True)
    total = np.bincount(item, given)[item] - np.bincount(mine, given)[mine]
    number = np.bincount(item)[item] - np.bincount(mine)[mine]
    owner = rows[0][kept]
    size = np.maximum(np.bincount(owner, minlength=people), 1)
    own, others = (
        value - (np.bincount(owner, value, people) / size)[owner] for value in (given[kept], total[kept] / number[kept])
    )
    excess, squares, most = (np.bincount(owner, one, people) for one in (own * others, own**2, others**2))
    return np.asarray(excess), squares * most / np.maximum(size - 1, 1), np.sqrt(squares * most)


def hardly_agree(trials: CredenceTrials, share: float = 1.0) -> Bools:
    """Who agrees with the others clearly (99 %) less than the median participant, or than a share of that.

    The standard score of an agreement over the root of the number of answers is a correlation.
    """
    answers = np.sum([part.there.sum(axis=1) for part in trials.parts], axis=0)
    above, root = beyond_chance(trials), np.sqrt(np.maximum(answers, 1))
    return np.asarray((above + ONE_SIDED) / root < share * np.median(above / root))


def with_one_another(trials: CredenceTrials, people: Ints) -> Floats:
    """The agreement of each of some participants with the one of them who agrees best, in standard errors.

    People who share a grammar agree with each other, whatever the rest say. The correlation of two participants over
    the stimuli that both judged, as a standard score, brought down to that of one comparison among as many as there are
    (Bonferroni). Labels are compared level by level.
    """
    cross, own, number = (np.zeros((len(people), len(people))) for _ in range(3))
    for part in trials.of(people).parts:
        rows = np.nonzero(part.there)
        item, level = part.item[rows], part.content[rows].astype(np.float64)
        for value in [level] if part.ordered else [(level == one).astype(np.float64) for one in range(part.levels)]:
            shape = (len(people), part.items)
            there = sparse.csr_array((np.ones(len(item)), (rows[0], item)), shape=shape)
            # A stimulus that was judged twice counts with its mean; means of participants and stimuli are taken out.
            mean = np.bincount(rows[0], value, len(people)) / np.maximum(np.bincount(rows[0], minlength=len(people)), 1)
            table = sparse.csr_array((value - mean[rows[0]], (rows[0], item)), shape=shape)
            again = there.copy()
            again.data = 1 / again.data
            table = table * again
            there.data[:] = 1.0
            squares = (table**2) @ there.T
            cross += (table @ table.T).toarray()
            own += np.sqrt((squares * squares.T).toarray())
        number += (there @ there.T).toarray()
    r = np.divide(cross, own, out=np.zeros_like(cross), where=own > 1e-9)
    np.fill_diagonal(r, 0.0)
    best = (r * np.sqrt(np.maximum(number - 1, 0))).max(axis=1, initial=0.0)
    return np.asarray(ndtri(np.clip(1 - max(len(people) - 1, 1) * ndtr(-best), 1e-9, 1 - 1e-16)))


FEWEST_REGULAR, FEWEST_OTHERS = 30, 5
"""Answers and participants that are needed to say whose answers follow the others most closely."""


def closeness(trials: CredenceTrials) -> Floats:
    """How much closer each participant follows the others than one of the others drawn at random would.

    In standard errors of the log probability of all answers by the shares of the others (a person-fit statistic); zero
    where too few answered the same stimuli. Somebody who always gives the most frequent answer lies far above zero.
    """
    excess, variance = np.zeros(trials.shape[0]), np.zeros(trials.shape[0])
    for part in trials.parts:
        rows, shares, number = others_shares(part)
        if np.median(number) < FEW_ANSWERS - 1:
            continue
        shares = (number[:, None] * shares + 1 / part.levels) / (number[:, None] + 1)
        own_excess, own_variance = _log_excess(rows[0], part.content[rows], shares, len(excess))
        excess, variance = excess + own_excess, variance + own_variance
    return np.divide(excess, np.sqrt(variance), out=np.zeros(len(excess)), where=variance > 1e-12)


def _log_excess(owner: Ints, level: Ints, shares: Floats, people: int) -> tuple[Floats, Floats]:
    """How far the log probability of everybody's answers by these shares is above its mean, and its variance."""
    logs = np.log(shares)
    mean = (shares * logs).sum(axis=1)
    above, squares = logs[np.arange(len(level)), level] - mean, (shares * logs**2).sum(axis=1) - mean**2
    excess, variance = (np.bincount(owner, own, people).astype(np.float64) for own in (above, squares))
    return excess, variance


SIZES = (-3.0, 5.0)
"""The logarithm of the sum of a Dirichlet distribution's parameters, at least and at most."""


def concentration(counts: Floats) -> Floats:
    """The parameters of the Dirichlet distribution that the shares of answers (items x levels) most likely come from.

    >>> concentration(np.array([[9.0, 1.0], [1.0, 9.0]] * 5)).round(1).tolist()
    [0.7, 0.7]
    """
    shares = counts.sum(axis=0) + 0.5
    shares /= shares.sum()
    kinds, times = np.unique(counts, axis=0, return_counts=True)
    number = kinds.sum(axis=1)

    def slope(size: float) -> float:
        """Of the log-likelihood in the sum of the parameters."""
        total, a = np.exp(size), np.exp(size) * shares
        each = psi(total) - psi(number + total) + (psi(kinds + a) - psi(a)) @ shares
        return float(times @ each)

    if slope(SIZES[0]) > 0 > slope(SIZES[1]):
        from scipy.optimize import brentq

        best = float(brentq(slope, *SIZES, xtol=1e-7))
    else:
        best = _likeliest(shares, kinds, times)
    return np.asarray(np.exp(best) * shares)


def _likeliest(shares: Floats, kinds: Floats, times: Ints) -> float:
    """The logarithm of the sum of the parameters where the likelihood rises towards an end, or hardly differs."""
    from scipy.optimize import minimize_scalar
    from scipy.special import gammaln

    number = kinds.sum(axis=1)

    def unlikely(size: float) -> float:
        a = np.exp(size) * shares
        each = gammaln(a.sum()) - gammaln(number + a.sum()) + (gammaln(kinds + a) - gammaln(a)).sum(axis=1)
        return -float(times @ each)

    return float(minimize_scalar(unlikely, bounds=SIZES, method="bounded").x)


def regularity(trials: CredenceTrials) -> tuple[Floats, Floats]:
    """How much closer each participant follows the others than one of them would, per answer, and its standard error.

    The mean log probability of the answers, given those of the others to the same items, above what is expected. Items
    with few answers count too: what others answered is completed by the shares of answers in the whole study.
    """
    people = trials.shape[0]
    excess, variance, number = np.zeros(people), np.zeros(people), np.zeros(people)
    for part in trials.parts:
        rows, shares, others = others_shares(part)
        level = part.content[rows]
        counts = np.zeros((part.items, part.levels))
        np.add.at(counts, (part.item[rows], level), 1.0)
        prior = concentration(counts)
        expected = (others[:, None] * shares + prior) / (others[:, None] + prior.sum())
        own_excess, own_variance = _log_excess(rows[0], level, expected, people)
        excess, variance = excess + own_excess, variance + own_variance
        number += np.bincount(rows[0], minlength=people)
    many = np.maximum(number, 1)
    return excess / many, np.sqrt(np.maximum(variance, 1e-12)) / many


def follows_closest(trials: CredenceTrials) -> Floats:
    """The p value of following the others more closely than everybody else does; 1 for all but one participant."""
    own, error = regularity(trials)
    found = np.ones(len(own))
    enough = trials.answered >= FEWEST_REGULAR
    if enough.sum() >= FEWEST_OTHERS:
        first, second = np.argsort(np.where(enough, own, -np.inf))[::-1][:2]
        if own[first] > 0:
            found[first] = ndtr(-(own[first] - own[second]) / np.hypot(error[first], error[second]))
    return found


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


LAPSE = 0.005
FLATTEN = np.pi / 8
LEAST = np.float32(1e-9)
FAR = 60.0
BIAS, STRETCH, DISCRIMINATION = 0.7, 0.2, 0.2
"""Deviations to begin with; each counts as much as four participants."""
PRIOR_PEOPLE = 4.0
DULL, DULL_SHARE, DULL_PEOPLE = 0.3, 0.005, 25.0
"""A few attentive people discriminate much less than others, whatever the spread among the rest is: how much, how many
of each kind, and how many participants this counts as much as."""
MANY_LEVELS = 5
"""With fewer, noisy answers look like guesses; with more, they are often the first level or the last."""
MOST = {"bias": 3.0, "stretch": 1.0, "discrimination": 0.6}
"""The greatest deviations: with more, people without any discrimination would count as attentive."""


def _falling_logistic(values: Singles) -> Singles:
    """1 / (1 + exp(values)) in place, several times as fast as `expit` in single precision."""
    with np.errstate(over="ignore"):
        np.exp(values, out=values)
    values += 1
    return np.reciprocal(values, out=values)


class Ordered:
    """The population of attentive participants, as learned so far."""

    def __init__(self, levels: int, shares: Floats) -> None:
        self.levels = levels
        below = np.clip(np.cumsum(shares)[:-1] / shares.sum(), 0.02, 0.98)
        self.thresholds = 1.5 * np.log(below / (1 - below))
        self.deviations = {"bias": BIAS, "stretch": STRETCH, "discrimination": DISCRIMINATION}
        self.strength_sd = 2.0
        self.few = {"dull": DULL_SHARE} | ({"noisy": DULL_SHARE} if levels >= MANY_LEVELS else {})
        """The shares of those who discriminate little."""
        self._place()

    def _place(self) -> None:
        """The grid: every bias with every stretch and discrimination, and the logarithm of each weight.

        Beside the usual ones there are the dull, who discriminate little, and the noisy, in whose answers everything
        counts less beside chance: thresholds, too, so that they often give the first level and the last.
        """
        fine = np.linspace(-2.7, 2.7, 13 if self.levels == 2 else 11)
        coarse = np.linspace(-1.8, 1.8, 5 if self.levels == 2 else 3)
        stretch = np.zeros(1) if self.levels == 2 else coarse
        usual = [part.ravel() for part in np.meshgrid(stretch, self.deviations["discrimination"] * coarse)]
        kinds = {"usual": usual, "dull": [stretch, np.full(len(stretch), np.log(DULL))]}
        if "noisy" in self.few:
            kinds["noisy"] = [np.zeros(1), np.full(1, np.log(DULL))]
        own = np.concatenate([np.full(len(s), kind) for kind, (s, _) in kinds.items()])
        s, log_by = (np.concatenate(parts) for parts in zip(*kinds.values(), strict=True))
        within = np.where(own == "usual", log_by / self.deviations["discrimination"], 0.0)
        weight = np.exp(-(s**2 + within**2) / 2)
        for kind in kinds:
            share = self.few.get(kind, 1 - sum(self.few.values()))
            weight[own == kind] *= share / weight[own == kind].sum()
        b = np.repeat(fine, len(own))
        self.kind, s, log_by, weight = (np.tile(part, len(fine)) for part in (own, s, log_by, weight))
        weight = weight * np.exp(-(b**2) / 2)
        self.log_weights = np.log(weight / weight.sum())
        self.bias = self.deviations["bias"] * b
        self.log_stretch = self.deviations["stretch"] * s
        self.stretch = np.exp(self.log_stretch + np.where(self.kind == "noisy", log_by, 0.0))
        self.discrimination = np.exp(log_by)

    @property
    def places(self) -> int:
        return len(self.log_weights)

    @property
    def parameters(self) -> Floats:
        """Bias, stretch and discrimination of each place."""
        return np.column_stack([self.bias, self.stretch, self.discrimination])

    def no_strengths(self, items: int) -> Floats:
        return np.zeros(items)

    def own(self, strength: Floats, level: Ints, place: Floats) -> tuple[Floats, Floats]:
        """The slope of each answer in the strength of its item and the information it gave, at given parameters."""
        bias, stretch, by = place.T
        cuts = np.concatenate([[-FAR], self.thresholds, [FAR]])
        high, low = (expit(stretch * cuts[level + more] + bias - by * strength) for more in (1, 0))
        inside = (1 - LAPSE) * np.maximum(high - low, LEAST)
        slope = inside * (high + low - 1) * by / (inside + LAPSE / self.levels)
        return slope, slope**2

    def evaluate(self, strength: Floats, variance: Floats, level: Ints) -> tuple[Singles, Singles]:
        """The probability of each answer (rows) at each place of the grid, and its slope in the strength over it.

        In single precision, which halves the time; nothing here needs more than six digits.
        """
        high, low, flat = self._sides(strength, variance, level)
        probability = self._inside(high, low)
        return probability, self._slope(high, low, probability, flat)

    def probability(self, strength: Floats, variance: Floats, level: Ints) -> Singles:
        """The probability of each answer (rows) at each place of the grid, without its slope."""
        high, low, _ = self._sides(strength, variance, level)
        return self._inside(high, low)

    def _sides(self, strength: Floats, variance: Floats, level: Ints) -> tuple[Singles, Singles, Singles]:
        """The distribution function above and below each answer, and how much the variance flattens it."""
        cuts, stretch, bias, by = self._cuts(), *self._singles()
        away = np.multiply.outer(strength.astype(np.float32), by)
        away -= bias
        # The places have few different discriminations, and the answers few levels.
        different, same = np.unique(self.discrimination, return_inverse=True)
        flat = (1 / np.sqrt(1 + FLATTEN * np.multiply.outer(variance, different**2))).astype(np.float32)[:, same]
        stretched = np.multiply.outer(cuts, stretch)
        high, low = stretched[level + 1], stretched[level]
        for side in (high, low):
            np.subtract(away, side, out=side)
            side *= flat
        return _falling_logistic(high), _falling_logistic(low), flat

    def _cuts(self) -> Singles:
        return np.concatenate([[-FAR], self.thresholds, [FAR]]).astype(np.float32)

    def _singles(self) -> tuple[Singles, Singles, Singles]:
        """Stretch, bias and discrimination of the places in single precision."""
        return self.stretch.astype(np.float32), self.bias.astype(np.float32), self.discrimination.astype(np.float32)

    def _inside(self, high: Singles, low: Singles) -> Singles:
        """The probability of an answer between two values of the distribution function."""
        probability = high - low
        np.maximum(probability, LEAST, out=probability)
        probability *= np.float32(1 - LAPSE)
        probability += np.float32(LAPSE / self.levels)
        return probability

    def _slope(self, high: Singles, low: Singles, probability: Singles, flat: Singles | None = None) -> Singles:
        """The slope of the probability in the strength, over the probability.

        f(high) - f(low) of the logistic density, f = F (1 - F), is (high - low)(1 - high - low).
        """
        slope: Singles = high + low
        slope -= 1
        slope *= high - low
        if flat is not None:
            slope *= flat
        slope *= np.float32(1 - LAPSE) * self._singles()[2]
        slope /= probability
        return slope

    def expected(self, strength: Floats, place: Floats) -> Floats:
        """The probability of each level (answers x levels) at given parameters (answers x 3)."""
        bias, stretch, by = (part[:, None] for part in place.T)
        above = expit(stretch * self.thresholds + bias - by * strength[:, None])
        return np.diff(above, prepend=0.0, append=1.0)

    def improve(
        self, strengths: Floats, prior: tuple[Floats, Floats], weights: Floats, thresholds: bool
    ) -> tuple[Floats, Floats]:
        """Strengths from the expected answers (items x levels x places), and the information about each."""
        centre, precision = prior
        total = weights.sum(axis=1)
        for _ in range(2):
            probability, slope = self._every_level(strengths)
            gradient = (weights * slope).sum(axis=(1, 2))
            information = self._information(probability, slope, total)
            step = (gradient + precision * (centre - strengths)) / (information + precision)
            strengths = strengths + np.clip(step, -1.5, 1.5)
        if thresholds:
            self._improve_thresholds(strengths, weights)
        return strengths, self._information(*self._every_level(strengths), total) + precision

    def _every_level(self, strengths: Floats) -> tuple[Singles, Singles]:
        """Probability and slope of each level of known strengths; a level begins where the one below it ends."""
        stretch, bias, by = self._singles()
        away = np.multiply.outer(strengths.astype(np.float32), by)
        away -= bias
        ends = _falling_logistic(away[:, None] - np.multiply.outer(self._cuts(), stretch))
        high, low = ends[:, 1:], ends[:, :-1]
        probability = self._inside(high, low)
        return probability, self._slope(high, low, probability)

    def _information(self, probability: Singles, slope: Singles, total: Floats) -> Floats:
        return np.asarray((total * (slope**2 * probability).sum(axis=1)).sum(axis=1))

    def _improve_thresholds(self, strengths: Floats, weights: Floats) -> None:
        """One scoring step."""
        eta = self.stretch * self.thresholds[:, None] + self.bias - self.discrimination * strengths[:, None, None]
        above = expit(eta)
        dense = (1 - LAPSE) * self.stretch * above * (1 - above)
        whole = np.diff(above, axis=1, prepend=0.0, append=1.0)
        probability = (1 - LAPSE) * np.maximum(whole, LEAST) + LAPSE / self.levels
        ratio, total = weights / probability, weights.sum(axis=1)[:, None]
        gradient = (dense * (ratio[:, :-1] - ratio[:, 1:])).sum(axis=(0, 2))
        own = (total * dense**2 * (1 / probability[:, :-1] + 1 / probability[:, 1:])).sum(axis=(0, 2))
        beside = -(total * dense[:, :-1] * dense[:, 1:] / probability[:, 1:-1]).sum(axis=(0, 2))
        information = np.diag(own + 1.0) + np.diag(beside, 1) + np.diag(beside, -1)
        moved = self.thresholds + np.clip(np.linalg.solve(information, gradient), -0.7, 0.7)
        if (np.diff(moved) > 0).all():
            self.thresholds = moved

    def improve_population(self, places: Floats, strengths: Floats, information: Floats) -> float:
        """The deviations, from the summed posterior of the places of those attentive, held by wide priors.

        Populations stay around zero: what their means are away from it goes into the thresholds, and into strengths by
        the factor that is returned. Without this, strengths could shrink while everybody's discrimination grows.
        """
        people = float(places.sum())
        usual = {"bias": BIAS, "stretch": STRETCH, "discrimination": DISCRIMINATION}
        values = {"bias": self.bias, "stretch": self.log_stretch, "discrimination": np.log(self.discrimination)}
        means = {name: float(places @ value) / (people + PRIOR_PEOPLE) for name, value in values.items()}
        for name, prior in usual.items():
            squares = float(places @ (values[name] - means[name]) ** 2) + PRIOR_PEOPLE * prior**2
            self.deviations[name] = min(float(np.sqrt(squares / (people + PRIOR_PEOPLE))), MOST[name])
        for kind in self.few:
            found = float(places[self.kind == kind].sum()) + DULL_PEOPLE * DULL_SHARE
            self.few[kind] = found / (people + DULL_PEOPLE)
        self.thresholds = self.thresholds * np.exp(means["stretch"]) + means["bias"]
        factor = float(np.exp(means["discrimination"]))
        squares = float(np.sum(factor**2 * (strengths**2 + 1 / information))) + 4.0
        self.strength_sd = float(np.sqrt(squares / (len(strengths) + 1)))
        self._place()
        return factor

    def known_strengths(self, key: Floats) -> Floats:
        """The strength for which each right level is the middle one; NaN where none is known."""
        ends = self.thresholds[0] - 1.5, self.thresholds[-1] + 1.5
        cuts = np.concatenate([[ends[0]], self.thresholds, [ends[1]]])
        return np.asarray(np.interp(key, np.arange(self.levels), (cuts[1:] + cuts[:-1]) / 2))
