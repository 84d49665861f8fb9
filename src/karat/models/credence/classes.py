"""Attentive answers by classes of stimuli, for labels and for stimuli with few answers.

With three answers to a stimulus its strength is hardly known, and an estimate would judge participants by the chance
agreement of two others. Here each stimulus belongs to one of the classes of the scale. The class is unknown and summed
over, given the answers of the other participants (Dawid and Skene 1979). A participant with the discrimination d gives
stimulus i the answer x with probability

    d sum_k P(class of i is k | others) C_k(x)  +  (1 - d) t(x),

where C_k is the distribution of careful answers to class k, and t is the taste of the participant: the frequencies of
their other answers. The same question applies to everybody: how much better do the others' answers to a stimulus
predict this person's answers than their frequencies do? Neither a participant who sees few differences (a low d) nor
one who says yes too easily (a skewed taste) counts as guessing. The distribution of d among attentive people is
learned, from `LEAST` up. Careless people have one of the values in `CARELESS` or give all answers with equal
probability, because most of them look now and then.

Each answer contributes to C by the probability that it comes from looking, not from taste. If all answers of attentive
people contributed equally, C would absorb the tastes of those who see little, who would then seem to see as much as
anyone. Each person also has a table of answers by class, which shows how informative their answers are. It is shrunk
towards the overall table as if by `HELD` answers of each class.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.models.credence.attentive import Prefix, draw_levels, log_sum, sum_over_trials
from karat.models.credence.trials import ScaleTrials, Singles
from karat.types import Bools, Floats, Ints

LEAST, PLACES = 0.5, 11
ANY = 0.2
"""The weight of a uniform distribution in that of attentive people's discrimination, at any time."""
PRIOR_PEOPLE = 4.0
HELD = 8.0
LAPSE = 0.005
KNOWN = 0.9
"""The prior probability that the class of a control is its correct answer."""
EVEN = 0.2
"""The share of careless people who give all answers with equal probability; the others have a taste."""
CARELESS = np.array([0.0, 0.1, 0.2, 0.3])
"""The discriminations of the other careless people, with equal shares."""
FIRST_TURNS, TURNS = 10, 2
BLURRED = 0.02
"""Added to probabilities, so that no single answer determines the agreement of a participant."""
FEWEST_DEALT = 5
"""The number of answers needed to test whether they depend on the stimuli."""
AGREED = 2.0
"""The prior number of answers of each class with its own label."""


class Classes:
    """The answers of one part, and the classes of stimuli and answers per class learned from them."""

    def __init__(self, part: ScaleTrials, weight: Floats) -> None:
        self.part = part
        self.discrimination = np.linspace(LEAST, 1.0, PLACES)
        self.log_weights = np.full(PLACES, -np.log(PLACES))
        people, trials = np.nonzero(part.there)
        self.rows: tuple[Ints, Ints] = (people.astype(np.int64), trials.astype(np.int64))
        self.owner, self.item, self.level = self.rows[0], part.item[self.rows], part.content[self.rows]
        _, pair = np.unique(self.owner * part.items + self.item, return_inverse=True)
        self.pair: Ints = pair.astype(np.int64)
        """The participant-stimulus pair of each answer; all answers of a pair are excluded when one is judged."""
        self.usual = _shares(np.bincount(self.level, minlength=part.levels)[None, :] + 1.0)[0]
        """The share of each answer among all participants."""
        votes = np.bincount(self.item * part.levels + self.level, minlength=part.items * part.levels)
        self.classes = _shares(votes.reshape(part.items, part.levels) + 0.1)
        self.answers = self.overall = np.full((part.levels, part.levels), 1 / part.levels)
        """The distribution of careful answers per class, and of all answers of attentive people."""
        self.by_others = self.classes[self.item]
        self.person_discrimination = np.full(len(part.item), 1.0)
        for _ in range(FIRST_TURNS):
            self._turn(weight[self.owner])
        self.answers = self.overall

    @property
    def taste(self) -> Floats:
        """The log probability of each answer (participants x trials) by the participant's other answers."""
        part, levels = self.part, self.part.levels
        counts = np.zeros((len(part.item), levels))
        np.add.at(counts, (self.owner, self.level), 1.0)
        others = counts[self.owner, self.level] - 1 + levels * self.usual[self.level]
        taste = np.zeros(part.item.shape)
        taste[self.rows] = np.log(others) - np.log(counts.sum(axis=1)[self.owner] - 1 + levels)
        return taste

    def _at(self, discrimination: Floats, rows: Bools | slice = slice(None)) -> Floats:
        """The probability of each answer (rows) at each discrimination."""
        by_class = np.take_along_axis(self.by_others[rows] @ self.answers, self.level[rows][:, None], axis=1)
        by_taste = np.exp(self.taste[self.rows][rows])[:, None]
        attentive = (1 - LAPSE) * discrimination
        return np.asarray(attentive * by_class + (1 - attentive) * by_taste)

    def guesses(self) -> Floats:
        """The log probability of the answers from each trial on (participants x trials + 1), for careless people."""
        from_here = np.zeros((len(self.part.item), self.part.item.shape[1] + 1, len(CARELESS) + 1))
        from_here[(*self.rows, slice(None, -1))] = np.log(self._at(CARELESS))
        from_here[(*self.rows, -1)] = -np.log(self.part.levels)
        from_here = np.cumsum(from_here[:, ::-1], axis=1)[:, ::-1]
        share = np.log([*np.full(len(CARELESS), (1 - EVEN) / len(CARELESS)), EVEN])
        return log_sum(from_here + share)

    def dependence(self, person: int, counted: Bools, worth: Floats) -> tuple[float, float, float]:
        """The dependence of a participant's answers on the stimuli: excess over chance, variance and maximum.

        The dependence may have any form. The statistic is the sum of the similarities of all pairs of stimuli with the
        same answer, where the similarity is the product of their centred rows of `worth`. Mean and variance over all
        permutations of the answers are known (Mantel 1967). The maximum is the excess if similarity were proportional
        to having the same answer.
        """
        first, last = np.searchsorted(self.owner, [person, person + 1])
        rows = np.arange(first, last)[counted[person, self.rows[1][first:last]]]
        n = len(rows)
        level = self.level[rows]
        if n < FEWEST_DEALT or np.all(level == level[0]):
            return 0.0, 0.0, 0.0
        values = worth[rows] - worth[rows].mean(axis=0)
        summed = np.zeros((self.part.levels, self.part.levels))
        np.add.at(summed, level, values)
        sizes, squares = np.bincount(level).astype(np.float64), (values**2).sum(axis=1)
        # For both matrices of pairs (same answer, product): the sums of values, of squares, and of squared row sums.
        same = sizes @ (sizes - 1), sizes @ (sizes - 1), sizes @ (sizes - 1) ** 2
        products = -squares.sum(), ((values.T @ values) ** 2).sum() - squares @ squares, squares @ squares
        pairs, triples = n * (n - 1), n * (n - 1) * (n - 2)
        mean = same[0] * products[0] / pairs
        remainders = [sums[0] ** 2 + 2 * sums[1] - 4 * sums[2] for sums in (same, products)]
        square = 2 * same[1] * products[1] / pairs + 4 * (same[2] - same[1]) * (products[2] - products[1]) / triples
        square += remainders[0] * remainders[1] / (triples * (n - 3))
        spreads = [max(sums[1] - sums[0] ** 2 / pairs, 0.0) for sums in (same, products)]
        excess = (summed**2).sum() - squares.sum() - mean
        return float(excess), float(square - mean**2), float(np.sqrt(spreads[0] * spreads[1]))

    @property
    def worth(self) -> Floats:
        """The log probability of each level for the stimulus of each answer (rows x levels), given the others."""
        return np.asarray(np.log(self.by_others @ self.answers + BLURRED))

    def _turn(self, weight: Floats) -> None:
        """One iteration of the Dawid-Skene algorithm with weighted answers."""
        part, levels = self.part, self.part.levels
        weighted = weight[:, None] * self.classes[self.item]
        counts = _sums(self.owner * levels + self.level, weighted, len(part.item) * levels)
        counts = counts.reshape(-1, levels, levels).transpose(0, 2, 1)
        self.overall = self._table(counts.sum(axis=0))
        tables = _shares(counts + HELD * self.overall)
        log_likelihood = weight[:, None] * np.log(tables[self.owner, :, self.level])
        log_classes = self._prior() + _sums(self.item, log_likelihood, part.items)
        log_others = (
            log_classes[self.item] - _sums(self.pair, log_likelihood, int(self.pair.max(initial=-1)) + 1)[self.pair]
        )
        self.by_others = np.exp(log_others - log_sum(log_others)[:, None])
        self.classes = np.exp(log_classes - log_sum(log_classes)[:, None])

    def _table(self, counts: Floats) -> Floats:
        """The distribution of answers per class from counts."""
        return _shares(counts + AGREED * np.eye(self.part.levels) + 0.2 * self.usual)

    def _prior(self) -> Floats:
        """The prior log probability of each class (stimuli x classes)."""
        levels = self.part.levels
        prior = np.tile(np.log(_shares(self.classes.sum(axis=0)[None, :] + 1.0)), (self.part.items, 1))
        if self.part.key is not None:
            keyed = np.flatnonzero(np.isfinite(self.part.key))
            prior[keyed] = np.log((1 - KNOWN) / max(levels - 1, 1))
            prior[keyed, np.rint(self.part.key[keyed]).astype(np.int64)] = np.log(KNOWN)
        return prior

    def adopt(self, other: Classes, all_of_it: bool) -> None:
        """Start from the discriminations learned from a sample and, if `all_of_it`, from its classes and answers."""
        self.log_weights = other.log_weights
        if all_of_it:
            self.classes, self.answers, self.overall = other.classes, other.answers, other.overall
            self.usual = other.usual
            self.by_others = self.classes[self.item]

    def slim(self) -> Classes:
        """A copy with the learned parameters but without the participants' matrices."""
        copied = copy(self)
        copied.part = copied.rows = copied.owner = copied.item = copied.level = copied.pair = copied.by_others = None  # type: ignore[assignment]
        return copied

    def prefix(self, group: int, people: slice, slopes: bool = False) -> Prefix:
        """The log probability of a slice of participants' answers before each trial, given the others; no slopes."""
        rows = (self.owner >= people.start) & (self.owner < people.stop)
        owner, trial = self.owner[rows] - people.start, self.rows[1][rows]
        probability = self._at(self.discrimination, rows).astype(np.float32)
        shape = (people.stop - people.start, self.part.item.shape[1])
        on_grid: Singles = np.zeros((shape[0], shape[1] + 1, PLACES), dtype=np.float32)
        on_grid[owner, trial + 1] = np.log(probability)
        on_grid[:, 0] = self.log_weights
        sum_over_trials(on_grid)
        best = on_grid[:, -1].argmax(axis=1)
        at_best = np.zeros(shape)
        at_best[owner, trial] = np.log(probability[np.arange(len(owner)), best[owner]])
        # A participant with occasional lapses has a low discrimination and is attentive.
        no_lapses = np.full(shape[0], -np.inf)
        return Prefix(on_grid, log_sum(on_grid), no_lapses, at_best, None, (owner, trial), np.ones(len(owner)))

    def record(self, group: int, people: slice, prefix: Prefix, places: Floats, weight: Floats) -> None:
        """Record the discrimination of a slice of participants; `_turn` already excludes their own answers."""
        self.person_discrimination[people] = _shares(np.maximum(places, 1e-300)) @ self.discrimination

    def predict(self, people: Bools, group: Ints, random: np.random.Generator) -> Ints:
        """The answers, with those of some participants replaced by random ones from the fitted model."""
        content, rows = self.part.content.copy(), people[self.owner]
        owner, levels = self.owner[rows], self.part.levels
        classes = draw_levels(self.classes, random)[self.item[rows]]
        counts = np.bincount(self.owner * levels + self.level, minlength=len(content) * levels).reshape(-1, levels)
        taste = _shares(counts + levels * self.usual)[owner]
        attentive = (1 - LAPSE) * self.person_discrimination[owner][:, None]
        shares = attentive * self.answers[classes] + (1 - attentive) * taste
        content[self.rows[0][rows], self.rows[1][rows]] = draw_levels(shares, random)
        return content

    def learn(self, weight: Floats, places: list[Floats]) -> None:
        """Update the classes of stimuli and the answers per class, given the weight of each answer."""
        for _ in range(TURNS):
            self._turn(weight[self.rows])
        self._learn_answers(weight[self.rows], places[0])

    def _learn_answers(self, weight: Floats, places: Floats) -> None:
        """Update the answers per class, weighting each answer by its probability of coming from looking, not taste."""
        posterior = _shares(np.maximum(places, 1e-300))[self.owner]
        by_taste = (1 - self.discrimination) * np.exp(self.taste[self.rows])[:, None]
        attentive = weight * (posterior * (1 - by_taste / self._at(self.discrimination))).sum(axis=1)
        classes = _shares(self.by_others * self.answers[:, self.level].T)
        self.answers = self._table(_sums(self.level, attentive[:, None] * classes, self.part.levels).T)

    def learn_population(self, places: Floats) -> None:
        """Update the distribution of discriminations from the summed posterior of attentive people's places."""
        people = places + PRIOR_PEOPLE / PLACES
        smoothed = np.convolve(np.pad(people, 1, mode="edge"), [0.25, 0.5, 0.25], "valid")
        self.log_weights = np.log((1 - ANY) * smoothed / smoothed.sum() + ANY / PLACES)


def _shares(values: NDArray[np.floating[Any]]) -> Floats:
    """The values divided by their sum along the last axis."""
    return np.asarray(values / values.sum(axis=-1, keepdims=True))


def _sums(group: Ints, values: Floats, groups: int) -> Floats:
    """The column sums per group of rows."""
    return np.column_stack([np.bincount(group, column, groups) for column in values.T])
