"""Attentive answers by classes of stimuli, for labels and where few people answered the same stimulus.

With three answers to a stimulus its strength is hardly known, and an estimate put in its place would judge people by
the chance of two others. Here a stimulus belongs to one of the classes of the scale, and which is not decided: all are
summed over, by what the others say (Dawid and Skene 1979), the participant's own answers left out. A participant with
the discrimination d gives stimulus i the answer x with probability

    d sum_k P(class of i is k | others) C_k(x)  +  (1 - d) t(x),

with C_k the answers to class k of those who look, and t the taste of the participant, which is how often they give
each answer, this one left out. So the question is one for everybody: how much more does what the others say of a
stimulus show of this person's answers than how often they give them? Somebody with an eye for little (a low d), or who
says yes too easily (a taste of their own), does not guess. How d is distributed among attentive people is learned, from
`LEAST` on. Careless people have one of `CARELESS`, or give every answer alike: most of them look now and then.

C is learned from each answer as far as it seems to come from looking, and not from taste. Were it learned from all
answers of attentive people alike, it would take in the tastes of those who see little, who would then seem to see as
much as anybody. Each person's own table of classes and answers, which says how far to believe them about a stimulus,
is held by that of all as by `HELD` answers of each class.
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
"""The share of attentive people whose discrimination may be any, before and after anybody answers."""
PRIOR_PEOPLE = 4.0
HELD = 8.0
LAPSE = 0.005
KNOWN = 0.9
"""How probable the right answer of a control is as the class of its stimulus, before anybody answers."""
EVEN = 0.2
"""The share of careless people who give every answer alike; the others have a taste."""
CARELESS = np.array([0.0, 0.1, 0.2, 0.3])
"""How far they look, as a discrimination."""
FIRST_TURNS, TURNS = 10, 2
BLURRED = 0.02
"""Added to probabilities, so that no single answer decides on the agreement of a participant."""
FEWEST_DEALT = 5
"""Answers that are needed to say whether they depend on the stimuli."""
AGREED = 2.0
"""This many answers of each class speak for its own label before anybody answers."""


class Classes:
    """The answers of one part, and what is learned from them: the classes of stimuli and the answers to each class."""

    def __init__(self, part: ScaleTrials, weight: Floats) -> None:
        self.part = part
        self.discrimination = np.linspace(LEAST, 1.0, PLACES)
        self.log_weights = np.full(PLACES, -np.log(PLACES))
        people, trials = np.nonzero(part.there)
        self.rows: tuple[Ints, Ints] = (people.astype(np.int64), trials.astype(np.int64))
        self.owner, self.item, self.level = self.rows[0], part.item[self.rows], part.content[self.rows]
        _, own = np.unique(self.owner * part.items + self.item, return_inverse=True)
        self.own: Ints = own.astype(np.int64)
        """Which answers one participant gave to one stimulus: all of them are left out when one is judged."""
        self.usual = _shares(np.bincount(self.level, minlength=part.levels)[None, :] + 1.0)[0]
        """How often each answer is given by everybody."""
        votes = np.bincount(self.item * part.levels + self.level, minlength=part.items * part.levels)
        self.classes = _shares(votes.reshape(part.items, part.levels) + 0.1)
        self.answers = self.of_all = np.full((part.levels, part.levels), 1 / part.levels)
        """The answers to each class of those who look, and of all who are attentive, whatever they go by."""
        self.by_others = self.classes[self.item]
        self.own_discrimination = np.full(len(part.item), 1.0)
        for _ in range(FIRST_TURNS):
            self._turn(weight[self.owner])
        self.answers = self.of_all

    @property
    def taste(self) -> Floats:
        """The log probability of each answer (participants x trials) by how often the participant gives it."""
        part, levels = self.part, self.part.levels
        counts = np.zeros((len(part.item), levels))
        np.add.at(counts, (self.owner, self.level), 1.0)
        others = counts[self.owner, self.level] - 1 + levels * self.usual[self.level]
        taste = np.zeros(part.item.shape)
        taste[self.rows] = np.log(others) - np.log(counts.sum(axis=1)[self.owner] - 1 + levels)
        return taste

    def _at(self, discrimination: Floats, of: Bools | slice = slice(None)) -> Floats:
        """The probability of each answer (rows) at each discrimination."""
        by_class = np.take_along_axis(self.by_others[of] @ self.answers, self.level[of][:, None], axis=1)
        by_taste = np.exp(self.taste[self.rows][of])[:, None]
        looked = (1 - LAPSE) * discrimination
        return np.asarray(looked * by_class + (1 - looked) * by_taste)

    def guesses(self) -> Floats:
        """The log probability of the answers from each trial on (participants x trials + 1), without looking much."""
        from_here = np.zeros((len(self.part.item), self.part.item.shape[1] + 1, len(CARELESS) + 1))
        from_here[(*self.rows, slice(None, -1))] = np.log(self._at(CARELESS))
        from_here[(*self.rows, -1)] = -np.log(self.part.levels)
        from_here = np.cumsum(from_here[:, ::-1], axis=1)[:, ::-1]
        share = np.log([*np.full(len(CARELESS), (1 - EVEN) / len(CARELESS)), EVEN])
        return log_sum(from_here + share)

    def dependence(self, person: int, counted: Bools, worth: Floats) -> tuple[float, float, float]:
        """How far a participant's answers depend on the stimuli, in whatever way: excess over chance, and its variance.

        Stimuli that got the same answer are alike if they are worth the same (the product of their centred rows of
        `worth`). Mean and variance over all ways to deal the answers anew are known (Mantel 1967). The third number is
        what the excess would be if pairs were alike exactly as far as their answers are the same.
        """
        first, last = np.searchsorted(self.owner, [person, person + 1])
        own = np.arange(first, last)[counted[person, self.rows[1][first:last]]]
        n = len(own)
        level = self.level[own]
        if n < FEWEST_DEALT or np.all(level == level[0]):
            return 0.0, 0.0, 0.0
        values = worth[own] - worth[own].mean(axis=0)
        summed = np.zeros((self.part.levels, self.part.levels))
        np.add.at(summed, level, values)
        given, squares = np.bincount(level).astype(np.float64), (values**2).sum(axis=1)
        # Of both matrices of pairs, the same answer and the product: their sum, and those of squares and of squared
        # sums of rows.
        same = given @ (given - 1), given @ (given - 1), given @ (given - 1) ** 2
        alike = -squares.sum(), ((values.T @ values) ** 2).sum() - squares @ squares, squares @ squares
        pairs, triples = n * (n - 1), n * (n - 1) * (n - 2)
        mean = same[0] * alike[0] / pairs
        rest = [one[0] ** 2 + 2 * one[1] - 4 * one[2] for one in (same, alike)]
        square = 2 * same[1] * alike[1] / pairs + 4 * (same[2] - same[1]) * (alike[2] - alike[1]) / triples
        square += rest[0] * rest[1] / (triples * (n - 3))
        spreads = [max(one[1] - one[0] ** 2 / pairs, 0.0) for one in (same, alike)]
        excess = (summed**2).sum() - squares.sum() - mean
        return float(excess), float(square - mean**2), float(np.sqrt(spreads[0] * spreads[1]))

    @property
    def worth(self) -> Floats:
        """How far each answer (rows x levels) would go along with what the others say of the stimulus."""
        return np.asarray(np.log(self.by_others @ self.answers + BLURRED))

    def _turn(self, weight: Floats) -> None:
        """One turn of Dawid and Skene, in which each answer counts by its weight."""
        part, levels = self.part, self.part.levels
        weighted = weight[:, None] * self.classes[self.item]
        counts = _sums(self.owner * levels + self.level, weighted, len(part.item) * levels)
        counts = counts.reshape(-1, levels, levels).transpose(0, 2, 1)
        self.of_all = self._table(counts.sum(axis=0))
        own = _shares(counts + HELD * self.of_all)
        log_chances = weight[:, None] * np.log(own[self.owner, :, self.level])
        whole = self._prior() + _sums(self.item, log_chances, part.items)
        without = whole[self.item] - _sums(self.own, log_chances, int(self.own.max(initial=-1)) + 1)[self.own]
        self.by_others = np.exp(without - log_sum(without)[:, None])
        self.classes = np.exp(whole - log_sum(whole)[:, None])

    def _table(self, counts: Floats) -> Floats:
        """The answers to each class, from how many there were."""
        return _shares(counts + AGREED * np.eye(self.part.levels) + 0.2 * self.usual)

    def _prior(self) -> Floats:
        """The log probability of the classes of each stimulus, before anybody answers."""
        levels = self.part.levels
        prior = np.tile(np.log(_shares(self.classes.sum(axis=0)[None, :] + 1.0)), (self.part.items, 1))
        if self.part.key is not None:
            known = np.flatnonzero(np.isfinite(self.part.key))
            prior[known] = np.log((1 - KNOWN) / max(levels - 1, 1))
            prior[known, np.rint(self.part.key[known]).astype(np.int64)] = np.log(KNOWN)
        return prior

    def adopt(self, other: Classes, all_of_it: bool) -> None:
        """Begin with what was learned from some participants: how people discriminate, or the stimuli as well."""
        self.log_weights = other.log_weights
        if all_of_it:
            self.classes, self.answers, self.of_all = other.classes, other.answers, other.of_all
            self.usual = other.usual
            self.by_others = self.classes[self.item]

    def slim(self) -> Classes:
        """What was learned, without matrices of participants."""
        bare = copy(self)
        bare.part = bare.rows = bare.owner = bare.item = bare.level = bare.own = bare.by_others = None  # type: ignore[assignment]
        return bare

    def prefix(self, group: int, people: slice, slopes: bool = False) -> Prefix:
        """The answers of some participants before each trial, judged by the others; there are no slopes here."""
        of = (self.owner >= people.start) & (self.owner < people.stop)
        owner, trial = self.owner[of] - people.start, self.rows[1][of]
        probability = self._at(self.discrimination, of).astype(np.float32)
        shape = (people.stop - people.start, self.part.item.shape[1])
        whole: Singles = np.zeros((shape[0], shape[1] + 1, PLACES), dtype=np.float32)
        whole[owner, trial + 1] = np.log(probability)
        whole[:, 0] = self.log_weights
        sum_over_trials(whole)
        best = whole[:, -1].argmax(axis=1)
        looked = np.zeros(shape)
        looked[owner, trial] = np.log(probability[np.arange(len(owner)), best[owner]])
        # Somebody who lapses now and then has a low discrimination, and is attentive.
        never = np.full(shape[0], -np.inf)
        return Prefix(whole, log_sum(whole), never, looked, None, (owner, trial), np.ones(len(owner)))

    def keep_own(self, group: int, people: slice, prefix: Prefix, places: Floats, weight: Floats) -> None:
        """Note how well some participants discriminate; own answers are left out as they stand."""
        self.own_discrimination[people] = _shares(np.maximum(places, 1e-300)) @ self.discrimination

    def predict(self, people: Bools, group: Ints, random: np.random.Generator) -> Ints:
        """The answers with those of some participants drawn anew, by what was learned."""
        found, of = self.part.content.copy(), people[self.owner]
        owner, levels = self.owner[of], self.part.levels
        classes = draw_levels(self.classes, random)[self.item[of]]
        given = np.bincount(self.owner * levels + self.level, minlength=len(found) * levels).reshape(-1, levels)
        taste = _shares(given + levels * self.usual)[owner]
        looked = (1 - LAPSE) * self.own_discrimination[owner][:, None]
        shares = looked * self.answers[classes] + (1 - looked) * taste
        found[self.rows[0][of], self.rows[1][of]] = draw_levels(shares, random)
        return found

    def learn(self, weight: Floats, places: list[Floats]) -> None:
        """The classes of stimuli and the answers to each, from who was attentive when."""
        for _ in range(TURNS):
            self._turn(weight[self.rows])
        self._learn_answers(weight[self.rows], places[0])

    def _learn_answers(self, weight: Floats, places: Floats) -> None:
        """The answers to each class, from each answer as far as it comes from looking rather than from taste."""
        likely = _shares(np.maximum(places, 1e-300))[self.owner]
        by_taste = (1 - self.discrimination) * np.exp(self.taste[self.rows])[:, None]
        looked = weight * (likely * (1 - by_taste / self._at(self.discrimination))).sum(axis=1)
        classes = _shares(self.by_others * self.answers[:, self.level].T)
        self.answers = self._table(_sums(self.level, looked[:, None] * classes, self.part.levels).T)

    def learn_population(self, places: Floats) -> None:
        """How well attentive people discriminate, from the summed posterior of their places."""
        people = places + PRIOR_PEOPLE / PLACES
        near = np.convolve(np.pad(people, 1, mode="edge"), [0.25, 0.5, 0.25], "valid")
        self.log_weights = np.log((1 - ANY) * near / near.sum() + ANY / PLACES)


def _shares(values: NDArray[np.floating[Any]]) -> Floats:
    """Values over their sum along the last axis."""
    return np.asarray(values / values.sum(axis=-1, keepdims=True))


def _sums(group: Ints, values: Floats, groups: int) -> Floats:
    """The sums of rows of one group."""
    return np.column_stack([np.bincount(group, column, groups) for column in values.T])
