"""The data of the credence model: one matrix (participants x trials) per kind of evidence; -1 and NaN are missing.

A part is the answers on one scale. Content is what an answer says about the stimulus, and button is its position on the
screen: the item and the side of a choice, or the aligned and the displayed position on a reversed scale.

Ordered levels are yes and no, ratings, choices with or without "no difference", and binned magnitudes. A participant
with bias b, scale stretch s and discrimination d gives item i at most level k with probability

    F(s t_k + b - d a_i),

where F is the standard logistic function, t_1 < ... < t_(K-1) are common thresholds, and a_i is the strength of the
item. With probability l the answer is a lapse, and all levels are equally probable. b, log s and log d are normally
distributed around zero with standard deviations that are learned. They are summed over on a grid that scales with these
deviations. The answers of the others determine the strength of an item only up to a variance v, which flattens the
logistic function: its argument is divided by sqrt(1 + pi d^2 v / 8) (MacKay 1992). Fisher scoring estimates the
strengths, with the prior a_i ~ N(0, sigma_a^2), or a prior around the strength that a known correct answer suggests.
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
"""The strengths are too uncertain if half of the stimuli have fewer answers than this."""


@dataclass(frozen=True)
class ScaleTrials:
    """The answers on one scale."""

    item: Ints
    """The index of the stimulus, from 0."""
    content: Ints
    button: Ints
    items: int
    levels: int
    ordered: bool = True
    key: Floats | None = None
    """The correct level of each stimulus (NaN if unknown); a value between two levels if both are correct."""
    tested: Bools | None = None
    """The test stimuli, on which grammars may differ; None if there are no other stimuli."""
    rank: Floats | None = None
    """The rank of each answer, if levels are bins: agreement is then computed from ranks."""

    @property
    def there(self) -> Bools:
        """A mask of the trials with an answer."""
        return np.asarray(self.content >= 0)

    @property
    def has_classes(self) -> bool:
        """Whether the levels are few enough to be classes of stimuli."""
        return self.levels <= MOST_CLASSES

    @property
    def few_answers(self) -> bool:
        """Whether these are labels or yes-no answers and half of the stimuli have few answers."""
        per_stimulus = np.bincount(self.item[self.there])
        return (not self.ordered or self.levels == 2) and bool(np.median(per_stimulus[per_stimulus > 0]) < FEW_ANSWERS)

    def of(self, people: Ints) -> ScaleTrials:
        """The same part, for a subset of participants."""
        rank = None if self.rank is None else self.rank[people]
        item, content, button = self.item[people], self.content[people], self.button[people]
        return replace(self, item=item, content=content, button=button, rank=rank)

    def earlier(self) -> Ints:
        """The participant's previous answer to the same stimulus; -1 for the first."""
        previous = np.full(self.item.shape, -1, dtype=np.int64)
        people, trials = np.nonzero(self.there)
        code = people * self.items + self.item[people, trials]
        order = np.lexsort((trials, code))
        repeated = np.flatnonzero(code[order][1:] == code[order][:-1]) + 1
        now, before = order[repeated], order[repeated - 1]
        previous[people[now], trials[now]] = self.content[people[before], trials[before]]
        return previous


@dataclass(frozen=True)
class CredenceTrials:
    """All parts, on the same axes, and the residual log times (None if there are no times)."""

    parts: tuple[ScaleTrials, ...]
    residual: Floats | None = None
    in_sequence: bool = True
    """Whether trials are in the order of presentation; if not, sequences are not evaluated."""

    @property
    def shape(self) -> tuple[int, int]:
        people, trials = self.parts[0].item.shape
        return people, trials

    @property
    def answered(self) -> Ints:
        """The number of answers per participant."""
        return np.asarray(np.sum([part.there.sum(axis=1) for part in self.parts], axis=0))

    def of(self, people: Ints) -> CredenceTrials:
        """The same trials, for a subset of participants."""
        residual = None if self.residual is None else self.residual[people]
        return CredenceTrials(tuple(part.of(people) for part in self.parts), residual, self.in_sequence)


def first_weights(trials: CredenceTrials) -> Floats:
    """The initial probability that each participant is attentive, from agreement with the others.

    It is a logistic function of the Fisher z of the correlation with the others' mean (for unordered categories, with
    their shares).
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
    answered = part.there
    value = np.where(answered, part.content if level is None else part.content == level, 0).astype(np.float64)
    item = np.where(answered, part.item, 0)
    number = np.bincount(part.item[answered], minlength=part.items)[item]
    total = np.bincount(part.item[answered], value[answered], part.items)[item]
    used = answered & (number > 1)
    rest = (total - value) / np.maximum(number - 1, 1)
    size = np.maximum(used.sum(axis=1), 1)[:, None]
    x = (value - (value * used).sum(axis=1, keepdims=True) / size) * used
    y = (rest - (rest * used).sum(axis=1, keepdims=True) / size) * used
    return np.stack([(x * y).sum(axis=1), (x**2).sum(axis=1), (y**2).sum(axis=1)])


def others_shares(part: ScaleTrials) -> tuple[tuple[Ints, Ints], Floats, Floats]:
    """The indices (participants, trials) of all answers, and the shares and number of the others' answers.

    The others are the other participants who answered the same stimulus.
    """
    people, trials = np.nonzero(part.there)
    item, level = part.item[people, trials], part.content[people, trials]
    counts = np.bincount(item * part.levels + level, minlength=part.items * part.levels).reshape(-1, part.levels)
    # All answers of the participant to the stimulus are excluded, including repetitions.
    pairs, pair = np.unique(people * part.items + item, return_inverse=True)
    repeats = np.bincount(pair * part.levels + level, minlength=len(pairs) * part.levels).reshape(-1, part.levels)
    others = (counts[item] - repeats[pair]).astype(np.float64)
    number = others.sum(axis=1)
    return (people.astype(np.int64), trials.astype(np.int64)), others / np.maximum(number, 1)[:, None], number


def with_company(trials: CredenceTrials, weight: Floats) -> Bools:
    """A mask of the answers to stimuli that another, probably attentive participant also judged.

    `weight` is the probability of being attentive at each trial.

    >>> item = np.array([[0, 1, 2], [0, 1, 3]])
    >>> trials = CredenceTrials((ScaleTrials(item, item * 0, item * 0, 4, 2),))
    >>> with_company(trials, np.array([[1.0, 1.0, 1.0], [0.9, 0.1, 0.9]])).tolist()
    [[True, False, False], [True, True, False]]
    """
    accompanied = np.zeros(trials.shape, dtype=bool)
    for part in trials.parts:
        rows = np.nonzero(part.there)
        item, attentive = part.item[rows], weight[rows]
        _, pair = np.unique(rows[0] * part.items + item, return_inverse=True)
        others = np.bincount(item, attentive, part.items)[item] - np.bincount(pair, attentive)[pair]
        accompanied[rows] |= others > 1 / 2
    return accompanied


def beyond_chance(
    trials: CredenceTrials, counted: Bools | None = None, worths: Sequence[Floats | None] | None = None
) -> Floats:
    """The agreement of each participant with the others above chance, in standard errors.

    Chance means that the participant's answers are permuted among the stimuli they judged. The mean and variance over
    all permutations are known (Hoeffding 1951), so the result does not depend on a model. `counted` is a mask of the
    answers to include. The worth of an answer is the share of the others who gave it to this stimulus (for ordered
    levels, its product with their mean) or comes from `worths`, one table (answers x levels) per part.
    """
    excess, variance = np.zeros(trials.shape[0]), np.zeros(trials.shape[0])
    for part, values in zip(trials.parts, worths or [None] * len(trials.parts), strict=True):
        part_excess = excess_agreement(part, counted, values)
        excess, variance = excess + part_excess[0], variance + part_excess[1]
    return np.divide(excess, np.sqrt(variance), out=np.zeros(len(excess)), where=variance > 1e-12)


def excess_agreement(
    part: ScaleTrials, counted: Bools | None = None, worth: Floats | None = None
) -> tuple[Floats, Floats, Floats]:
    """The agreement per participant above that of their permuted answers, its variance, and its maximum."""
    rows, shares, number = others_shares(part)
    included = (number > 0) & (True if counted is None else counted[rows])
    if part.ordered and worth is None:
        return _covariance(part, rows, included)
    owner, level, values = (
        rows[0][included],
        part.content[rows][included],
        (shares if worth is None else worth)[included],
    )
    return dealt_anew(owner, level, values, len(part.item))


def dealt_anew(owner: Ints, level: Ints, worth: Floats, people: int) -> tuple[Floats, Floats, Floats]:
    """The worth of each participant's answers above that of their permuted answers, its variance, and its maximum.

    `worth` holds the worth of each level (column) for the stimulus of each answer (row).

    >>> [values.tolist() for values in dealt_anew(np.zeros(4, int), np.array([0, 0, 1, 1]), np.eye(2)[[0, 0, 1, 1]], 1)]
    [[2.0], [1.3333333333333333], [2.0]]
    """
    levels = worth.shape[1]
    size = np.bincount(owner, minlength=people)
    counts = np.bincount(owner * levels + level, minlength=people * levels).reshape(people, -1)
    answers = np.maximum(size, 1)
    by_answer = np.column_stack([np.bincount(owner, column, people) for column in worth.T]) / answers[:, None]
    by_stimulus = (worth * counts[owner]).sum(axis=1) / answers[owner]
    mean = np.bincount(owner, by_stimulus, people) / answers
    centred = worth - by_stimulus[:, None] - by_answer[owner] + mean[owner, None]
    squares = np.bincount(owner, (counts[owner] * centred**2).sum(axis=1), people)
    excess = np.bincount(owner, worth[np.arange(len(level)), level], people) - size * mean
    return excess, squares / np.maximum(size - 1, 1), size * (1 - mean)


def _covariance(part: ScaleTrials, rows: tuple[Ints, Ints], included: Bools) -> tuple[Floats, Floats, Floats]:
    """`excess_agreement` for ordered levels: the worth of an answer is its product with the mean of the others."""
    people, item = len(part.item), part.item[rows]
    values = np.asarray((part.content if part.rank is None else part.rank)[rows], dtype=np.float64)
    _, pair = np.unique(rows[0] * part.items + item, return_inverse=True)
    total = np.bincount(item, values)[item] - np.bincount(pair, values)[pair]
    number = np.bincount(item)[item] - np.bincount(pair)[pair]
    owner = rows[0][included]
    size = np.maximum(np.bincount(owner, minlength=people), 1)
    x, y = (
        value - (np.bincount(owner, value, people) / size)[owner]
        for value in (values[included], total[included] / number[included])
    )
    excess, x_squares, y_squares = (np.bincount(owner, terms, people) for terms in (x * y, x**2, y**2))
    return np.asarray(excess), x_squares * y_squares / np.maximum(size - 1, 1), np.sqrt(x_squares * y_squares)


def hardly_agree(trials: CredenceTrials, share: float = 1.0) -> Bools:
    """A mask of the participants who agree with the others significantly (99 %) less than the median participant.

    `share` multiplies the median. A standard score divided by the square root of the number of answers is a
    correlation, so participants with different numbers of answers are comparable.
    """
    answers = np.sum([part.there.sum(axis=1) for part in trials.parts], axis=0)
    above, root = beyond_chance(trials), np.sqrt(np.maximum(answers, 1))
    return np.asarray((above + ONE_SIDED) / root < share * np.median(above / root))


def with_one_another(trials: CredenceTrials, people: Ints) -> Floats:
    """The highest agreement of each of these participants with another one of them, in standard errors.

    People who share a grammar agree with each other, whatever the others answer. The agreement of two participants is
    the standard score of their correlation over the stimuli that both judged, with a Bonferroni correction for the
    number of comparisons. Labels are compared level by level.
    """
    cross, spread, number = (np.zeros((len(people), len(people))) for _ in range(3))
    for part in trials.of(people).parts:
        rows = np.nonzero(part.there)
        item, level = part.item[rows], part.content[rows].astype(np.float64)
        for value in [level] if part.ordered else [(level == k).astype(np.float64) for k in range(part.levels)]:
            shape = (len(people), part.items)
            judged = sparse.csr_array((np.ones(len(item)), (rows[0], item)), shape=shape)
            # Repeated answers to a stimulus are averaged, and the mean of the participant is subtracted.
            mean = np.bincount(rows[0], value, len(people)) / np.maximum(np.bincount(rows[0], minlength=len(people)), 1)
            table = sparse.csr_array((value - mean[rows[0]], (rows[0], item)), shape=shape)
            weights = judged.copy()
            weights.data = 1 / weights.data
            table = table * weights
            judged.data[:] = 1.0
            squares = (table**2) @ judged.T
            cross += (table @ table.T).toarray()
            spread += np.sqrt((squares * squares.T).toarray())
        number += (judged @ judged.T).toarray()
    r = np.divide(cross, spread, out=np.zeros_like(cross), where=spread > 1e-9)
    np.fill_diagonal(r, 0.0)
    best = (r * np.sqrt(np.maximum(number - 1, 0))).max(axis=1, initial=0.0)
    return np.asarray(ndtri(np.clip(1 - max(len(people) - 1, 1) * ndtr(-best), 1e-9, 1 - 1e-16)))


FEWEST_REGULAR, FEWEST_OTHERS = 30, 5
"""The answers and the participants needed to find the participant who follows the others most closely."""


def closeness(trials: CredenceTrials) -> Floats:
    """How much more closely each participant follows the others than a random other participant would.

    This person-fit statistic is the log probability of all answers given the shares of the others, minus its
    expectation, in standard errors. It is zero if too few participants answered the same stimuli, and far above zero
    for participants who always give the most frequent answer.
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
    """The log probability of each participant's answers given these shares, minus its expectation, and its variance."""
    logs = np.log(shares)
    mean = (shares * logs).sum(axis=1)
    above, squares = logs[np.arange(len(level)), level] - mean, (shares * logs**2).sum(axis=1) - mean**2
    excess, variance = (np.bincount(owner, values, people).astype(np.float64) for values in (above, squares))
    return excess, variance


SIZES = (-3.0, 5.0)
"""The range of the logarithm of the sum of the Dirichlet parameters."""


def concentration(counts: Floats) -> Floats:
    """The maximum-likelihood parameters of a Dirichlet distribution of the shares of answers (items x levels).

    >>> concentration(np.array([[9.0, 1.0], [1.0, 9.0]] * 5)).round(1).tolist()
    [0.7, 0.7]
    """
    shares = counts.sum(axis=0) + 0.5
    shares /= shares.sum()
    rows, times = np.unique(counts, axis=0, return_counts=True)
    number = rows.sum(axis=1)

    def slope(size: float) -> float:
        """The derivative of the log-likelihood with respect to the logarithm of the parameter sum, up to a factor."""
        total, a = np.exp(size), np.exp(size) * shares
        terms = psi(total) - psi(number + total) + (psi(rows + a) - psi(a)) @ shares
        return float(times @ terms)

    if slope(SIZES[0]) > 0 > slope(SIZES[1]):
        from scipy.optimize import brentq

        best = float(brentq(slope, *SIZES, xtol=1e-7))
    else:
        best = _boundary_size(shares, rows, times)
    return np.asarray(np.exp(best) * shares)


def _boundary_size(shares: Floats, rows: Floats, times: Ints) -> float:
    """The logarithm of the parameter sum if the likelihood has no interior maximum or is nearly flat."""
    from scipy.optimize import minimize_scalar
    from scipy.special import gammaln

    number = rows.sum(axis=1)

    def loss(size: float) -> float:
        a = np.exp(size) * shares
        terms = gammaln(a.sum()) - gammaln(number + a.sum()) + (gammaln(rows + a) - gammaln(a)).sum(axis=1)
        return -float(times @ terms)

    return float(minimize_scalar(loss, bounds=SIZES, method="bounded").x)


def regularity(trials: CredenceTrials) -> tuple[Floats, Floats]:
    """How much closer each participant follows the others than one of them would, per answer, and its standard error.

    This is the mean log probability of the answers given the others' answers to the same items, minus its expectation.
    Items with few answers count too, because the others' answers are combined with the shares in the whole study.
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
    answers = np.maximum(number, 1)
    return excess / answers, np.sqrt(np.maximum(variance, 1e-12)) / answers


def follows_closest(trials: CredenceTrials) -> Floats:
    """The p value of following the others more closely than anyone else does; 1 for all but one participant."""
    scores, error = regularity(trials)
    p = np.ones(len(scores))
    enough = trials.answered >= FEWEST_REGULAR
    if enough.sum() >= FEWEST_OTHERS:
        first, second = np.argsort(np.where(enough, scores, -np.inf))[::-1][:2]
        if scores[first] > 0:
            p[first] = ndtr(-(scores[first] - scores[second]) / np.hypot(error[first], error[second]))
    return p


def residual_times(stimulus: Ints, seconds: Floats) -> Floats:
    """Log seconds minus the median of the stimulus, centred; medians of stimuli and participants alternate.

    >>> residual_times(np.array([[0, 1], [0, 1]]), np.array([[1.0, 2.0], [2.0, 4.0]])).round(3).tolist()
    [[-0.347, -0.347], [0.347, 0.347]]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        log_seconds = np.log(seconds)
    log_seconds[~np.isfinite(log_seconds)] = np.nan
    timed = np.isfinite(log_seconds)
    owner, item, values = np.nonzero(timed)[0], stimulus[timed], log_seconds[timed]
    usual, pace = np.zeros(int(item.max(initial=0)) + 1), _medians(owner, values, len(seconds))
    for _ in range(2):
        usual = _medians(item, values - pace[owner], len(usual))
        pace = _medians(owner, values - usual[item], len(seconds))
    residual = np.full(seconds.shape, np.nan)
    residual[timed] = values - usual[item] - np.median(pace[np.unique(owner)])
    return residual


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
"""Initial standard deviations; each counts as much as `PRIOR_PEOPLE` participants."""
PRIOR_PEOPLE = 4.0
DULL, DULL_SHARE, DULL_PEOPLE = 0.3, 0.005, 25.0
"""A few attentive people discriminate much less than the others, regardless of the spread among the rest: their
discrimination, the prior share of each kind, and the number of participants that this prior counts as."""
MANY_LEVELS = 5
"""With fewer levels, noisy answers look like guesses; with more, they are often the first or last level."""
MOST = {"bias": 3.0, "stretch": 1.0, "discrimination": 0.6}
"""The maximum standard deviations: with larger ones, people without any discrimination would count as attentive."""


def _falling_logistic(values: Singles) -> Singles:
    """Compute 1 / (1 + exp(values)) in place, several times as fast as `expit` in single precision."""
    with np.errstate(over="ignore"):
        np.exp(values, out=values)
    values += 1
    return np.reciprocal(values, out=values)


class Ordered:
    """The current population of attentive participants and the common thresholds."""

    def __init__(self, levels: int, shares: Floats) -> None:
        self.levels = levels
        below = np.clip(np.cumsum(shares)[:-1] / shares.sum(), 0.02, 0.98)
        self.thresholds = 1.5 * np.log(below / (1 - below))
        self.deviations = {"bias": BIAS, "stretch": STRETCH, "discrimination": DISCRIMINATION}
        self.strength_sd = 2.0
        self.few = {"dull": DULL_SHARE} | ({"noisy": DULL_SHARE} if levels >= MANY_LEVELS else {})
        """The shares of the kinds of participants who discriminate little."""
        self._place()

    def _place(self) -> None:
        """Set up the grid: every bias with every stretch and discrimination, and the logarithm of each weight.

        In addition to usual participants, there are dull ones, who discriminate little, and noisy ones, whose
        thresholds are scaled down as well, so that they often give the first or last level.
        """
        fine = np.linspace(-2.7, 2.7, 13 if self.levels == 2 else 11)
        coarse = np.linspace(-1.8, 1.8, 5 if self.levels == 2 else 3)
        stretch = np.zeros(1) if self.levels == 2 else coarse
        usual = [part.ravel() for part in np.meshgrid(stretch, self.deviations["discrimination"] * coarse)]
        kinds = {"usual": usual, "dull": [stretch, np.full(len(stretch), np.log(DULL))]}
        if "noisy" in self.few:
            kinds["noisy"] = [np.zeros(1), np.full(1, np.log(DULL))]
        names = np.concatenate([np.full(len(s), kind) for kind, (s, _) in kinds.items()])
        s, log_by = (np.concatenate(parts) for parts in zip(*kinds.values(), strict=True))
        within = np.where(names == "usual", log_by / self.deviations["discrimination"], 0.0)
        weight = np.exp(-(s**2 + within**2) / 2)
        for kind in kinds:
            share = self.few.get(kind, 1 - sum(self.few.values()))
            weight[names == kind] *= share / weight[names == kind].sum()
        b = np.repeat(fine, len(names))
        self.kind, s, log_by, weight = (np.tile(part, len(fine)) for part in (names, s, log_by, weight))
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

    def answer_slope(self, strength: Floats, level: Ints, place: Floats) -> tuple[Floats, Floats]:
        """The slope of each answer's log probability in the strength of its item, and its information."""
        bias, stretch, discrimination = place.T
        cuts = np.concatenate([[-FAR], self.thresholds, [FAR]])
        high, low = (expit(stretch * cuts[level + more] + bias - discrimination * strength) for more in (1, 0))
        inside = (1 - LAPSE) * np.maximum(high - low, LEAST)
        slope = inside * (high + low - 1) * discrimination / (inside + LAPSE / self.levels)
        return slope, slope**2

    def evaluate(self, strength: Floats, variance: Floats, level: Ints) -> tuple[Singles, Singles]:
        """The probability of each answer (rows) at each place of the grid, and the slope of its logarithm.

        Single precision halves the time, and nothing here needs more than six digits.
        """
        high, low, flat = self._sides(strength, variance, level)
        probability = self._inside(high, low)
        return probability, self._slope(high, low, probability, flat)

    def probability(self, strength: Floats, variance: Floats, level: Ints) -> Singles:
        """The probability of each answer (rows) at each place of the grid, without its slope."""
        high, low, _ = self._sides(strength, variance, level)
        return self._inside(high, low)

    def _sides(self, strength: Floats, variance: Floats, level: Ints) -> tuple[Singles, Singles, Singles]:
        """The distribution function above and below each answer, and its flattening by the variance."""
        cuts, stretch, bias, discrimination = self._cuts(), *self._singles()
        location = np.multiply.outer(strength.astype(np.float32), discrimination)
        location -= bias
        # The places have few distinct discriminations, and the answers few levels.
        distinct, index = np.unique(self.discrimination, return_inverse=True)
        flat = (1 / np.sqrt(1 + FLATTEN * np.multiply.outer(variance, distinct**2))).astype(np.float32)[:, index]
        stretched = np.multiply.outer(cuts, stretch)
        high, low = stretched[level + 1], stretched[level]
        for side in (high, low):
            np.subtract(location, side, out=side)
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
        """The slope of the log probability in the strength.

        f(high) - f(low) of the logistic density f = F (1 - F) equals (high - low)(1 - high - low).
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
        """The probability of each level (answers x levels) without lapses, given the parameters (answers x 3)."""
        bias, stretch, discrimination = (part[:, None] for part in place.T)
        above = expit(stretch * self.thresholds + bias - discrimination * strength[:, None])
        return np.diff(above, prepend=0.0, append=1.0)

    def improve(
        self, strengths: Floats, prior: tuple[Floats, Floats], weights: Floats, thresholds: bool
    ) -> tuple[Floats, Floats]:
        """New strengths from the expected answers (items x levels x places), and their information."""
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
        """The probability and slope of each level for these strengths; adjacent levels share a threshold."""
        stretch, bias, discrimination = self._singles()
        location = np.multiply.outer(strengths.astype(np.float32), discrimination)
        location -= bias
        ends = _falling_logistic(location[:, None] - np.multiply.outer(self._cuts(), stretch))
        high, low = ends[:, 1:], ends[:, :-1]
        probability = self._inside(high, low)
        return probability, self._slope(high, low, probability)

    def _information(self, probability: Singles, slope: Singles, total: Floats) -> Floats:
        return np.asarray((total * (slope**2 * probability).sum(axis=1)).sum(axis=1))

    def _improve_thresholds(self, strengths: Floats, weights: Floats) -> None:
        """Update the thresholds by one scoring step, if they stay in order."""
        eta = self.stretch * self.thresholds[:, None] + self.bias - self.discrimination * strengths[:, None, None]
        above = expit(eta)
        dense = (1 - LAPSE) * self.stretch * above * (1 - above)
        shares = np.diff(above, axis=1, prepend=0.0, append=1.0)
        probability = (1 - LAPSE) * np.maximum(shares, LEAST) + LAPSE / self.levels
        ratio, total = weights / probability, weights.sum(axis=1)[:, None]
        gradient = (dense * (ratio[:, :-1] - ratio[:, 1:])).sum(axis=(0, 2))
        diagonal = (total * dense**2 * (1 / probability[:, :-1] + 1 / probability[:, 1:])).sum(axis=(0, 2))
        off_diagonal = -(total * dense[:, :-1] * dense[:, 1:] / probability[:, 1:-1]).sum(axis=(0, 2))
        information = np.diag(diagonal + 1.0) + np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1)
        thresholds = self.thresholds + np.clip(np.linalg.solve(information, gradient), -0.7, 0.7)
        if (np.diff(thresholds) > 0).all():
            self.thresholds = thresholds

    def improve_population(self, places: Floats, strengths: Floats, information: Floats) -> float:
        """Update the standard deviations from the summed posterior of attentive participants' places, with weak priors.

        Populations stay centred at zero: any shift of their means goes into the thresholds and, by the factor that is
        returned, into the strengths. Without this, strengths could shrink while all discriminations grow.
        """
        people = float(places.sum())
        usual = {"bias": BIAS, "stretch": STRETCH, "discrimination": DISCRIMINATION}
        values = {"bias": self.bias, "stretch": self.log_stretch, "discrimination": np.log(self.discrimination)}
        means = {name: float(places @ value) / (people + PRIOR_PEOPLE) for name, value in values.items()}
        for name, prior in usual.items():
            squares = float(places @ (values[name] - means[name]) ** 2) + PRIOR_PEOPLE * prior**2
            self.deviations[name] = min(float(np.sqrt(squares / (people + PRIOR_PEOPLE))), MOST[name])
        for kind in self.few:
            expected = float(places[self.kind == kind].sum()) + DULL_PEOPLE * DULL_SHARE
            self.few[kind] = expected / (people + DULL_PEOPLE)
        self.thresholds = self.thresholds * np.exp(means["stretch"]) + means["bias"]
        factor = float(np.exp(means["discrimination"]))
        squares = float(np.sum(factor**2 * (strengths**2 + 1 / information))) + 4.0
        self.strength_sd = float(np.sqrt(squares / (len(strengths) + 1)))
        self._place()
        return factor

    def known_strengths(self, key: Floats) -> Floats:
        """The strength at the middle of each correct level; NaN if it is unknown."""
        ends = self.thresholds[0] - 1.5, self.thresholds[-1] + 1.5
        cuts = np.concatenate([[ends[0]], self.thresholds, [ends[1]]])
        return np.asarray(np.interp(key, np.arange(self.levels), (cuts[1:] + cuts[:-1]) / 2))
