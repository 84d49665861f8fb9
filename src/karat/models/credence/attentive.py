"""Attentive answers on one scale: how probable they are up to each trial, by what the others say of the same stimuli.

Nobody confirms themselves: a participant's own answers are taken out of the strengths by which they are judged, in one
Newton step each, a - g / (H - h), with the slope g and the information h that their answer gave (H in all). Both are
those at the strengths as they are now: where few judged a stimulus and all agree, H is small, and what the answer gave
at earlier strengths would turn the verdict of the others round. A stimulus that comes again is answered as before with
a learned probability, and else anew.

Stimuli under test are those about which grammars may differ; about fillers and controls everybody agrees. Where a study
has both, a participant may have a grammar of their own, in which the strength of stimulus i is

    a_ip ~ N(0, s^2) under test, a_ip = a_i elsewhere,      s^2 the mean of a_i^2 under test.

How many have one is learned. Their answers to what is under test teach nothing about strengths. Without fillers and
controls this could not be distinguished from guessing.

There may be several groups of speakers, each with strengths of its own.

Attentive answers without an order are labels, with

    P(category k of item i) proportional to exp(d a_ik),      a_ik ~ N(0, sigma_a^2), sum_k a_ik = 0,

with the discrimination d of the participant, log d ~ N(0, tau^2), on a grid, and lapses as for ordered levels. What
others say of an item is known with a variance only: the logits are divided by sqrt(1 + pi d^2 v / 8).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse
from scipy.special import softmax

from karat.models.credence.trials import (
    DISCRIMINATION,
    FLATTEN,
    LAPSE,
    MOST,
    PRIOR_PEOPLE,
    Ordered,
    ScaleTrials,
    Singles,
)
from karat.types import Bools, Floats, Ints

LAPSING = 0.5
"""The share of trials in which those with intermittent lapses do not look."""
KNOWN_PRECISION = 1.0
"""How firmly a known right answer speaks for a strength, before anybody answers."""
AGAIN = 0.3
"""How often a repeated stimulus is answered from memory, before anybody answers."""
PRIOR_GRAMMARS = np.array([9.0, 1.0])
"""How many have the grammar of most and one of their own, before anybody answers."""
KNOWN_BY = 5
"""This many of some participants must have judged a stimulus for what they say of it to be taken over."""
APART = 2.0
"""The prior deviation between the strengths of two groups of speakers."""


@dataclass
class Speakers:
    """What one group says of the stimuli."""

    strengths: Floats
    information: Floats
    own_weight: Floats
    """How much each answer (participants x trials) counted when the strengths were learned."""
    own_place: Floats
    """Where each participant was then: the means of the parameters, participants x parameters."""


@dataclass
class Prefix:
    """For some participants and one group: the answers before each trial, on the grid and summed over it."""

    on_grid: Singles
    """participants x trials + 1 x places, weights included."""
    summed: Floats
    lapsing: Floats
    """The log probability of all answers with intermittent lapses."""
    looked: Floats
    """The log probability of each answer (participants x trials) at the participant's most probable place."""
    slopes: Singles | None = field(repr=False)
    """Of each answer in the strength of its stimulus, on the grid, if asked for."""
    rows: tuple[Ints, Ints] = field(repr=False)
    anew: Floats = field(repr=False)
    """The probability that each answer is no mere repetition; 1 where it is the first to its stimulus."""


class Attentive:
    """The answers of one part and what is learned from them."""

    def __init__(self, part: ScaleTrials, weight: Floats) -> None:
        self.part = part
        self.at = _places_of(part.content)
        self.judged = np.bincount(part.item[part.there], minlength=part.items)
        shares = np.bincount(part.content[self.at], weight[self.at[0]], part.levels).astype(np.float64) + 1.0
        self.model: Ordered | LabelPopulation = (
            Ordered(part.levels, shares) if part.ordered else LabelPopulation(part.levels)
        )
        self.earlier = part.earlier()
        self.repeats = bool((self.earlier >= 0).any())
        self.again = AGAIN
        """The probability that a repeated stimulus is answered as before, whatever it is."""
        self.repeated: list[tuple[float, float]] = []
        """Answers to repeated stimuli since the last time that something was learned, and those given as before."""
        self.tested = np.zeros(part.items, dtype=bool) if part.tested is None else part.tested
        self.grammars = 2 if self.tested.any() else 1
        """The grammar of most, and where it can be estimated, one of one's own."""
        self.grammar_shares = self._shares(np.zeros(self.grammars))
        start = self.model.no_strengths(part.items)
        nothing = np.zeros(part.item.shape)
        self.groups = [Speakers(start, np.ones_like(start), nothing, self._no_places())]
        self.slopes = nothing.copy()
        """Of everybody's answers in the strengths of the first group, whether they are attentive or not."""
        places = np.exp(self.log_weights)[None, :].repeat(len(weight), axis=0)
        for _ in range(4):
            self.learn(weight[:, None] * part.there, [places])

    def _no_places(self) -> Floats:
        return np.ones((len(self.part.item), self.model.parameters.shape[1]))

    @property
    def log_weights(self) -> Floats:
        """Of the places on the grid, grammar by grammar."""
        return np.asarray(np.add.outer(np.log(self.grammar_shares), self.model.log_weights).ravel())

    def _shares(self, people: Floats) -> Floats:
        """Of both grammars, by how many participants seem to have each."""
        whole = people + PRIOR_GRAMMARS[: self.grammars]
        return np.asarray(whole / whole.sum())

    def adopt(self, other: Attentive, all_of_it: bool) -> None:
        """Begin with what was learned from some participants: all of it, or of stimuli that enough of them judged."""
        self.model, self.again, self.grammar_shares = other.model, other.again, other.grammar_shares
        nothing, first = np.zeros(self.part.item.shape), self.groups[0]
        known = other.judged >= (0 if all_of_it else np.minimum(KNOWN_BY, self.judged))
        if first.strengths.ndim > 1:
            known = known[:, None]
        self.groups = [
            Speakers(
                np.where(known, one.strengths, first.strengths), np.where(known, one.information, first.information),
                nothing.copy(), self._no_places(),
            )
            for one in other.groups
        ]  # fmt: skip

    def slim(self) -> Attentive:
        """What was learned, without matrices of participants."""
        bare, nothing = copy(self), np.empty((0, 0))
        bare.part = bare.at = bare.earlier = bare.slopes = None  # type: ignore[assignment]
        bare.groups = [replace(group, own_weight=nothing, own_place=nothing) for group in self.groups]
        return bare

    def prior(self, group: int) -> tuple[Floats, Floats]:
        """The middle and the precision of the strengths before anybody of the group answers."""
        if group:
            return self.groups[0].strengths, np.full(self.part.items, APART**-2.0)
        centre = self.model.no_strengths(self.part.items)
        precision = np.full(self.part.items, self.model.strength_sd**-2.0)
        if self.part.key is not None:
            known = np.isfinite(self.part.key)
            centre[known] = self.model.known_strengths(self.part.key)[known]
            precision[known] = KNOWN_PRECISION
        return centre, precision

    def learn(self, weight: Floats, places: list[Floats]) -> None:
        """Strengths and thresholds, from who was attentive when and the places of everybody in each group."""
        if self.repeated:
            repeated, as_before = np.sum(self.repeated, axis=0)
            self.again = float((as_before + 2 * AGAIN) / (repeated + 2))
            self.repeated = []
        answers = self._answers(weight)
        for number, posterior in enumerate(places):
            self._learn_group(number, answers, posterior)

    def _answers(self, weight: Floats) -> sparse.csr_array:
        """How much each participant's answer counts, by stimulus and level."""
        part = self.part
        rows = (part.item * part.levels + part.content)[self.at]
        return sparse.csr_array((weight[self.at], (rows, self.at[0])), shape=(part.items * part.levels, len(part.item)))

    def _learn_group(self, number: int, answers: sparse.csr_array, places: Floats) -> None:
        by_grammar = (answers @ places).reshape(self.part.items, self.part.levels, self.grammars, -1)
        # Those with a grammar of their own say nothing of what is under test.
        by_grammar[self.tested, :, 1:] = 0.0
        table = by_grammar.sum(axis=2)
        group = self.groups[number]
        found = self.model.improve(group.strengths, self.prior(number), table, thresholds=number == 0)
        group.strengths, group.information = found

    def learn_population(self, places: Floats) -> None:
        """The spread of participants' parameters, from the summed posterior of those attentive."""
        by_grammar = places.reshape(self.grammars, -1)
        self.grammar_shares = self._shares(by_grammar.sum(axis=1))
        factor = self.model.improve_population(
            by_grammar.sum(axis=0), self.groups[0].strengths, self.groups[0].information
        )
        for group in self.groups:
            group.strengths = factor * group.strengths
            group.information = group.information / factor**2

    def prefix(self, group: int, people: slice, slopes: bool = True) -> Prefix:
        """The answers of some participants before each trial, judged by one group without themselves.

        It is faster without `slopes`, which only the search for a second group needs.
        """
        part, speakers = self.part, self.groups[group]
        item, content = part.item[people], part.content[people]
        rows = _places_of(content)
        stimulus, level = item[rows], content[rows]
        strength, information = self._without_themselves(speakers, people, rows, stimulus, level)
        probability, sloped = self.by_grammar(speakers, strength, 1 / information, stimulus, level, slopes)
        alone = np.ones(len(level))
        if self.repeats:
            earlier = self.earlier[people][rows]
            again = np.where(earlier >= 0, self.again, 0.0).astype(np.float32)[:, None]
            anew = (1 - again) * probability
            probability = anew + again * (earlier == level)[:, None]
            sloped = None if sloped is None else sloped * anew / probability
            alone = (anew / probability).mean(axis=1).astype(np.float64)
        whole = np.zeros((item.shape[0], item.shape[1] + 1, len(self.log_weights)), dtype=np.float32)
        whole[rows[0], rows[1] + 1] = np.log(probability)
        whole[:, 0] = self.log_weights
        sum_over_trials(whole)
        # Lapses are judged at the most probable place, which is as improbable beforehand as it is without lapses, and
        # leaves as much room around it.
        everybody, summed = np.arange(len(item)), log_sum(whole)
        best = whole[:, -1].argmax(axis=1)
        looked = probability[np.arange(len(level)), best[rows[0]]].astype(np.float64)
        lapsing = np.bincount(rows[0], np.log((1 - LAPSING) * looked + LAPSING / part.levels), len(item))
        lapsing = lapsing + self.log_weights[best] + summed[:, -1] - whole[everybody, -1, best]
        by_trial = np.zeros(item.shape)
        by_trial[rows] = np.log(looked)
        kept = None if sloped is None else sloped.astype(np.float32)
        return Prefix(whole, summed, lapsing, by_trial, kept, rows, alone)

    def by_grammar(
        self, speakers: Speakers, strength: Floats, variance: Floats, stimulus: Ints, level: Ints, slopes: bool = True
    ) -> tuple[Floats | Singles, Floats | Singles | None]:
        """The probability of each answer at each place and, if asked for, its slope, grammar by grammar."""
        sloped: Floats | Singles | None = None
        if slopes:
            probability, sloped = self.model.evaluate(strength, variance, level)
        else:
            probability = self.model.probability(strength, variance, level)
        if self.grammars == 1:
            return probability, sloped
        tested = np.flatnonzero(self.tested[stimulus])
        spread = float(np.mean(speakers.strengths[self.tested] ** 2))
        both: Floats | Singles = np.concatenate([probability, probability], axis=1)
        # Where nothing is known of a stimulus, answers of one level are all alike.
        alike = np.arange(self.part.levels)
        own = self.model.probability(self.model.no_strengths(len(alike)), np.full(len(alike), spread), alike)
        both[tested, probability.shape[1] :] = own[level[tested]]
        if sloped is None:
            return both, None
        both_slopes: Floats | Singles = np.concatenate([sloped, sloped], axis=1)
        both_slopes[tested, probability.shape[1] :] = 0.0
        return both, both_slopes

    def _without_themselves(
        self, speakers: Speakers, people: slice, rows: tuple[Ints, Ints], stimulus: Ints, level: Ints
    ) -> tuple[Floats, Floats]:
        strength, everybody = speakers.strengths[stimulus], speakers.information[stimulus]
        weight, place = speakers.own_weight[people][rows], speakers.own_place[people][rows[0]]
        slope, information = self.model.own(strength, level, place)
        if strength.ndim > 1:
            weight = weight[:, None]
        left = np.maximum(everybody - weight * information, 0.3 * everybody)
        without = strength - weight * slope / left
        return without, left if left.ndim == 1 else left[np.arange(len(level)), level]

    def predict(self, people: Bools, group: Ints, random: np.random.Generator) -> Ints:
        """The answers with those of some participants (who belong to groups) drawn anew, by what was learned."""
        found = self.part.content.copy()
        for number, speakers in enumerate(self.groups):
            rows = np.nonzero(self.part.there & (people & (group == number))[:, None])
            error = random.standard_normal(speakers.strengths.shape) / np.sqrt(speakers.information)
            strength = (speakers.strengths + error)[self.part.item[rows]]
            shares = self.model.expected(strength, speakers.own_place[rows[0]])
            found[rows] = draw_levels((1 - LAPSE) * shares + LAPSE / self.part.levels, random)
        return found

    def keep_own(self, group: int, people: slice, prefix: Prefix, places: Floats, weight: Floats) -> None:
        """Note what each answer of some participants gave to the strengths, for the next time they are judged."""
        speakers = self.groups[group]
        if self.repeats:
            repeated = weight[prefix.rows] * (self.earlier[people][prefix.rows] >= 0)
            self.repeated.append((float(repeated.sum()), float((repeated * (1 - prefix.anew)).sum())))
        by_grammar = places.reshape(len(places), self.grammars, -1)
        belongs = by_grammar.sum(axis=2)
        # Those with a grammar of their own say nothing of what is under test.
        counted = np.where(self.tested[self.part.item[people]], belongs[:, :1], belongs.sum(axis=1, keepdims=True))
        speakers.own_weight[people] = weight * counted
        likely = by_grammar.sum(axis=1)
        speakers.own_place[people] = likely @ self.model.parameters / np.maximum(likely.sum(axis=1), 1e-300)[:, None]
        if group == 0 and prefix.slopes is not None:
            block = np.zeros(weight.shape)
            block[prefix.rows] = (places[prefix.rows[0]] * prefix.slopes).sum(axis=1)
            self.slopes[people] = block

    def add_group(self, places: Floats, weight: Floats) -> None:
        """A second group of speakers, begun from those whose places are given."""
        first = self.groups[0]
        nothing = np.zeros(self.part.item.shape)
        self.groups.append(Speakers(first.strengths.copy(), first.information.copy(), nothing, self._no_places()))
        for _ in range(3):
            self._learn_group(len(self.groups) - 1, self._answers(weight), places)


def sum_over_trials(values: Singles) -> None:
    """Sum along the second axis of three, in place: trial by trial, which is faster than `np.cumsum` here."""
    for trial in range(1, values.shape[1]):
        values[:, trial] += values[:, trial - 1]


def log_sum(values: Floats | Singles) -> Floats:
    """log sum exp along the last axis, in double precision; minus infinity where all are.

    >>> log_sum(np.log(np.array([[1.0, 2.0], [0.5, 0.5]]))).round(3).tolist()
    [1.099, 0.0]
    """
    top = values.max(axis=-1)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        relative = values - safe[..., None]
        summed = safe + np.log(np.exp(relative, out=relative).sum(axis=-1))
    return np.asarray(summed.astype(np.float64))


def draw_levels(shares: Floats, random: np.random.Generator) -> Ints:
    """One level for each row of probabilities.

    >>> draw_levels(np.array([[0.0, 1.0], [1.0, 0.0]]), np.random.default_rng(1)).tolist()
    [1, 0]
    """
    return np.asarray((shares.cumsum(axis=1)[:, :-1] < random.random((len(shares), 1))).sum(axis=1))


def _places_of(content: Ints) -> tuple[Ints, Ints]:
    """Where there are answers: participants and trials."""
    people, trials = np.nonzero(content >= 0)
    return people.astype(np.int64), trials.astype(np.int64)


class LabelPopulation:
    """The population of attentive participants, as learned so far."""

    def __init__(self, levels: int) -> None:
        self.levels = levels
        self.deviation = DISCRIMINATION
        self.strength_sd = 2.0
        self._place()

    def _place(self) -> None:
        grid = np.linspace(-2.7, 2.7, 9)
        weight = np.exp(-(grid**2) / 2)
        self.log_weights = np.log(weight / weight.sum())
        self.discrimination = np.exp(self.deviation * grid)

    @property
    def parameters(self) -> Floats:
        """The discrimination of each place."""
        return self.discrimination[:, None]

    def no_strengths(self, items: int) -> Floats:
        return np.zeros((items, self.levels))

    def own(self, strength: Floats, level: Ints, place: Floats) -> tuple[Floats, Floats]:
        """The slope of each answer in the strengths of its item, and the information it gave, by category."""
        shares = softmax(place * strength, axis=1)
        chosen = np.zeros_like(shares)
        chosen[np.arange(len(level)), level] = 1.0
        return place * (chosen - shares), place**2 * shares * (1 - shares)

    def _shares(self, strength: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """Probabilities without lapses, answers x places x categories, and the factor of the logits."""
        factor = self.discrimination / np.sqrt(1 + FLATTEN * np.multiply.outer(variance, self.discrimination**2))
        return softmax(factor[..., None] * strength[:, None, :], axis=-1), factor

    def expected(self, strength: Floats, place: Floats) -> Floats:
        """The probability of each category (answers x categories) at given discriminations (answers x 1)."""
        return np.asarray(softmax(place * strength, axis=1))

    def evaluate(self, strength: Floats, variance: Floats, level: Ints) -> tuple[Floats, Floats]:
        """The probability of each answer at each place, and its slope in the strength of that category over it."""
        shares, factor = self._shares(strength, variance)
        given = np.take_along_axis(shares, level[:, None, None], axis=2)[..., 0]
        probability = (1 - LAPSE) * given + LAPSE / self.levels
        return probability, (1 - LAPSE) * factor * given * (1 - given) / probability

    def probability(self, strength: Floats, variance: Floats, level: Ints) -> Floats:
        """The probability of each answer at each place, without its slope."""
        return self.evaluate(strength, variance, level)[0]

    def improve(
        self, strengths: Floats, prior: tuple[Floats, Floats], weights: Floats, thresholds: bool
    ) -> tuple[Floats, Floats]:
        """Strengths from the expected answers (items x categories x places), and the information about each."""
        centre, precision = prior
        total = weights.sum(axis=1)
        for _ in range(3):
            shares, factor = self._shares(strengths, np.zeros(len(strengths)))
            gradient = np.einsum("ikg,ig->ik", weights, factor) - np.einsum("ig,igk->ik", total * factor, shares)
            information = np.einsum("ig,igk->ik", total * factor**2, shares * (1 - shares))
            step = (gradient + precision[:, None] * (centre - strengths)) / (information + precision[:, None])
            strengths = strengths + np.clip(step, -1.5, 1.5)
            strengths -= strengths.mean(axis=1, keepdims=True)
        return strengths, information + precision[:, None]

    def improve_population(self, places: Floats, strengths: Floats, information: Floats) -> float:
        """The deviations, and the factor that goes into strengths, as for ordered levels."""
        people, values = float(places.sum()) + PRIOR_PEOPLE, np.log(self.discrimination)
        mean = float(places @ values) / people
        squares = float(places @ (values - mean) ** 2) + PRIOR_PEOPLE * DISCRIMINATION**2
        self.deviation = min(float(np.sqrt(squares / people)), MOST["discrimination"])
        factor = float(np.exp(mean))
        squares = float(np.sum(factor**2 * (strengths**2 + 1 / information))) + 4.0
        self.strength_sd = float(np.sqrt(squares / (strengths.size + 1)))
        self._place()
        return factor

    def known_strengths(self, key: Floats) -> Floats:
        """Two logits for the right category; NaN where none is known."""
        found = np.full((len(key), self.levels), np.nan)
        known = np.flatnonzero(np.isfinite(key))
        found[known] = -2.0 / (self.levels - 1)
        found[known, key[known].astype(np.int64)] = 2.0
        return found
