"""Attentive answers on one scale: their probability up to each trial, given the others' answers to the same stimuli.

Participants do not confirm themselves. Their own answers are removed from the strengths by which they are judged, in
one Newton step per answer, a - g / (H - h), where g is the slope and h the information of the answer, and H is the
total information. g and h are computed at the current strengths: if few participants judged a stimulus and all agree,
H is small, and values from earlier strengths could reverse the others' verdict. A repeated stimulus gets the previous
answer with a learned probability, and otherwise a new one.

Grammars may differ on test stimuli, but not on fillers and controls. If a study has both, a participant may have an
individual grammar, in which the strength of stimulus i is

    a_ip ~ N(0, s^2) for test stimuli, a_ip = a_i for the others,      s^2 the mean of a_i^2 over test stimuli.

The share of these participants is learned. Their answers to test stimuli do not contribute to the strengths. Without
fillers and controls, an individual grammar could not be distinguished from guessing.

There may be several groups of speakers, each with its own strengths.

Unordered attentive answers are labels, with

    P(category k of item i) proportional to exp(d a_ik),      a_ik ~ N(0, sigma_a^2), sum_k a_ik = 0,

where d is the discrimination of the participant, log d ~ N(0, tau^2), on a grid, with lapses as for ordered levels. The
others' answers determine a_ik only up to a variance v, so the logits are divided by sqrt(1 + pi d^2 v / 8).
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
"""The share of inattentive trials for participants with intermittent lapses."""
KNOWN_PRECISION = 1.0
"""The prior precision of a strength with a known correct answer."""
AGAIN = 0.3
"""The prior probability that a repeated stimulus is answered from memory."""
PRIOR_GRAMMARS = np.array([9.0, 1.0])
"""The prior numbers of participants with the common grammar and with an individual one."""
KNOWN_BY = 5
"""A sample's strength of a stimulus is adopted if at least this many of its participants judged it."""
APART = 2.0
"""The prior standard deviation of the difference in strength between two groups of speakers."""


@dataclass
class Speakers:
    """The strengths of the stimuli for one group of speakers."""

    strengths: Floats
    information: Floats
    answer_weight: Floats
    """The weight of each answer (participants x trials) when the strengths were learned."""
    parameters_then: Floats
    """The posterior mean parameters of each participant at that time (participants x parameters)."""


@dataclass
class Prefix:
    """The log probability of the answers before each trial, for a slice of participants and one group."""

    on_grid: Singles
    """participants x trials + 1 x places, including the log weights of the places."""
    summed: Floats
    """`on_grid` summed over the places."""
    lapsing: Floats
    """The log probability of all answers with intermittent lapses."""
    looked: Floats
    """The log probability of each answer (participants x trials) at the participant's most probable place."""
    slopes: Singles | None = field(repr=False)
    """The slope of each answer in the strength of its stimulus, at each place; None unless requested."""
    rows: tuple[Ints, Ints] = field(repr=False)
    anew: Floats = field(repr=False)
    """The probability that each answer is not repeated from memory; 1 for the first answer to a stimulus."""


class Attentive:
    """The answers of one part and the strengths and population learned from them."""

    def __init__(self, part: ScaleTrials, weight: Floats) -> None:
        self.part = part
        self.at = _answered(part.content)
        self.judged = np.bincount(part.item[part.there], minlength=part.items)
        shares = np.bincount(part.content[self.at], weight[self.at[0]], part.levels).astype(np.float64) + 1.0
        self.model: Ordered | LabelPopulation = (
            Ordered(part.levels, shares) if part.ordered else LabelPopulation(part.levels)
        )
        self.earlier = part.earlier()
        self.repeats = bool((self.earlier >= 0).any())
        self.again = AGAIN
        """The probability that a repeated stimulus gets the previous answer from memory."""
        self.repeated: list[tuple[float, float]] = []
        """The weights of answers to repeated stimuli and of those from memory, since the last `learn`."""
        self.tested = np.zeros(part.items, dtype=bool) if part.tested is None else part.tested
        self.grammars = 2 if self.tested.any() else 1
        """The common grammar and, if the study has test and other stimuli, individual grammars."""
        self.grammar_shares = self._shares(np.zeros(self.grammars))
        strengths = self.model.no_strengths(part.items)
        zeros = np.zeros(part.item.shape)
        self.groups = [Speakers(strengths, np.ones_like(strengths), zeros, self._no_places())]
        self.slopes = zeros.copy()
        """The slopes of all answers in the strengths of the first group, attentive or not."""
        places = np.exp(self.log_weights)[None, :].repeat(len(weight), axis=0)
        for _ in range(4):
            self.learn(weight[:, None] * part.there, [places])

    def _no_places(self) -> Floats:
        return np.ones((len(self.part.item), self.model.parameters.shape[1]))

    @property
    def log_weights(self) -> Floats:
        """The log weights of the places on the grid, grammar by grammar."""
        return np.asarray(np.add.outer(np.log(self.grammar_shares), self.model.log_weights).ravel())

    def _shares(self, people: Floats) -> Floats:
        """The share of each grammar, from the expected numbers of participants."""
        counts = people + PRIOR_GRAMMARS[: self.grammars]
        return np.asarray(counts / counts.sum())

    def adopt(self, other: Attentive, all_of_it: bool) -> None:
        """Start from the parameters learned from a sample, for all stimuli or those it judged often enough."""
        self.model, self.again, self.grammar_shares = other.model, other.again, other.grammar_shares
        zeros, first = np.zeros(self.part.item.shape), self.groups[0]
        reliable = other.judged >= (0 if all_of_it else np.minimum(KNOWN_BY, self.judged))
        if first.strengths.ndim > 1:
            reliable = reliable[:, None]
        self.groups = [
            Speakers(
                np.where(reliable, group.strengths, first.strengths),
                np.where(reliable, group.information, first.information), zeros.copy(), self._no_places(),
            )
            for group in other.groups
        ]  # fmt: skip

    def slim(self) -> Attentive:
        """A copy with the learned parameters but without the participants' matrices."""
        bare, empty = copy(self), np.empty((0, 0))
        bare.part = bare.at = bare.earlier = bare.slopes = None  # type: ignore[assignment]
        bare.groups = [replace(group, answer_weight=empty, parameters_then=empty) for group in self.groups]
        return bare

    def prior(self, group: int) -> tuple[Floats, Floats]:
        """The prior mean and precision of the strengths in a group."""
        if group:
            return self.groups[0].strengths, np.full(self.part.items, APART**-2.0)
        centre = self.model.no_strengths(self.part.items)
        precision = np.full(self.part.items, self.model.strength_sd**-2.0)
        if self.part.key is not None:
            keyed = np.isfinite(self.part.key)
            centre[keyed] = self.model.known_strengths(self.part.key)[keyed]
            precision[keyed] = KNOWN_PRECISION
        return centre, precision

    def learn(self, weight: Floats, places: list[Floats]) -> None:
        """Update strengths and thresholds, given the weights of the answers and the posterior places per group."""
        if self.repeated:
            repeated, as_before = np.sum(self.repeated, axis=0)
            self.again = float((as_before + 2 * AGAIN) / (repeated + 2))
            self.repeated = []
        answers = self._answers(weight)
        for number, posterior in enumerate(places):
            self._learn_group(number, answers, posterior)

    def _answers(self, weight: Floats) -> sparse.csr_array:
        """The weights of the answers, (stimuli x levels) x participants."""
        part = self.part
        rows = (part.item * part.levels + part.content)[self.at]
        return sparse.csr_array((weight[self.at], (rows, self.at[0])), shape=(part.items * part.levels, len(part.item)))

    def _learn_group(self, index: int, answers: sparse.csr_array, places: Floats) -> None:
        by_grammar = (answers @ places).reshape(self.part.items, self.part.levels, self.grammars, -1)
        # Participants with an individual grammar do not contribute to test stimuli.
        by_grammar[self.tested, :, 1:] = 0.0
        table = by_grammar.sum(axis=2)
        group = self.groups[index]
        group.strengths, group.information = self.model.improve(
            group.strengths, self.prior(index), table, thresholds=index == 0
        )

    def learn_population(self, places: Floats) -> None:
        """Update the population's parameters from the summed posterior of attentive participants' places."""
        by_grammar = places.reshape(self.grammars, -1)
        self.grammar_shares = self._shares(by_grammar.sum(axis=1))
        factor = self.model.improve_population(
            by_grammar.sum(axis=0), self.groups[0].strengths, self.groups[0].information
        )
        for group in self.groups:
            group.strengths = factor * group.strengths
            group.information = group.information / factor**2

    def prefix(self, group: int, people: slice, slopes: bool = True) -> Prefix:
        """The log probability of a slice of participants' answers before each trial, given the others in a group.

        Omitting `slopes`, which only the search for a second group needs, saves time.
        """
        part, speakers = self.part, self.groups[group]
        item, content = part.item[people], part.content[people]
        rows = _answered(content)
        stimulus, level = item[rows], content[rows]
        strength, information = self._without_themselves(speakers, people, rows, stimulus, level)
        probability, slope = self.by_grammar(speakers, strength, 1 / information, stimulus, level, slopes)
        novel = np.ones(len(level))
        if self.repeats:
            earlier = self.earlier[people][rows]
            repeat = np.where(earlier >= 0, self.again, 0.0).astype(np.float32)[:, None]
            anew = (1 - repeat) * probability
            probability = anew + repeat * (earlier == level)[:, None]
            slope = None if slope is None else slope * anew / probability
            novel = (anew / probability).mean(axis=1).astype(np.float64)
        on_grid = np.zeros((item.shape[0], item.shape[1] + 1, len(self.log_weights)), dtype=np.float32)
        on_grid[rows[0], rows[1] + 1] = np.log(probability)
        on_grid[:, 0] = self.log_weights
        sum_over_trials(on_grid)
        # Lapses are evaluated at the most probable place only. The ratio of its joint probability to the sum over the
        # grid is assumed to be the same as without lapses.
        index, summed = np.arange(len(item)), log_sum(on_grid)
        best = on_grid[:, -1].argmax(axis=1)
        at_best = probability[np.arange(len(level)), best[rows[0]]].astype(np.float64)
        lapsing = np.bincount(rows[0], np.log((1 - LAPSING) * at_best + LAPSING / part.levels), len(item))
        lapsing = lapsing + self.log_weights[best] + summed[:, -1] - on_grid[index, -1, best]
        by_trial = np.zeros(item.shape)
        by_trial[rows] = np.log(at_best)
        slope32 = None if slope is None else slope.astype(np.float32)
        return Prefix(on_grid, summed, lapsing, by_trial, slope32, rows, novel)

    def by_grammar(
        self, speakers: Speakers, strength: Floats, variance: Floats, stimulus: Ints, level: Ints, slopes: bool = True
    ) -> tuple[Floats | Singles, Floats | Singles | None]:
        """The probability of each answer at each place, grammar by grammar, and its slope if requested."""
        slope: Floats | Singles | None = None
        if slopes:
            probability, slope = self.model.evaluate(strength, variance, level)
        else:
            probability = self.model.probability(strength, variance, level)
        if self.grammars == 1:
            return probability, slope
        tested = np.flatnonzero(self.tested[stimulus])
        spread = float(np.mean(speakers.strengths[self.tested] ** 2))
        both: Floats | Singles = np.concatenate([probability, probability], axis=1)
        # In an individual grammar, the probability depends on the level only, not on the stimulus.
        levels = np.arange(self.part.levels)
        own_grammar = self.model.probability(self.model.no_strengths(len(levels)), np.full(len(levels), spread), levels)
        both[tested, probability.shape[1] :] = own_grammar[level[tested]]
        if slope is None:
            return both, None
        both_slopes: Floats | Singles = np.concatenate([slope, slope], axis=1)
        both_slopes[tested, probability.shape[1] :] = 0.0
        return both, both_slopes

    def _without_themselves(
        self, speakers: Speakers, people: slice, rows: tuple[Ints, Ints], stimulus: Ints, level: Ints
    ) -> tuple[Floats, Floats]:
        """The strength of the stimulus of each answer and its information, without the participant's own answer."""
        strength, total = speakers.strengths[stimulus], speakers.information[stimulus]
        weight, place = speakers.answer_weight[people][rows], speakers.parameters_then[people][rows[0]]
        slope, information = self.model.answer_slope(strength, level, place)
        if strength.ndim > 1:
            weight = weight[:, None]
        remaining = np.maximum(total - weight * information, 0.3 * total)
        others_strength = strength - weight * slope / remaining
        return others_strength, remaining if remaining.ndim == 1 else remaining[np.arange(len(level)), level]

    def predict(self, people: Bools, group: Ints, random: np.random.Generator) -> Ints:
        """The answers, with those of some participants replaced by random ones from the model of their group."""
        content = self.part.content.copy()
        for index, speakers in enumerate(self.groups):
            rows = np.nonzero(self.part.there & (people & (group == index))[:, None])
            error = random.standard_normal(speakers.strengths.shape) / np.sqrt(speakers.information)
            strength = (speakers.strengths + error)[self.part.item[rows]]
            shares = self.model.expected(strength, speakers.parameters_then[rows[0]])
            content[rows] = draw_levels((1 - LAPSE) * shares + LAPSE / self.part.levels, random)
        return content

    def record(self, group: int, people: slice, prefix: Prefix, places: Floats, weight: Floats) -> None:
        """Record what each answer of a slice of participants contributes to the strengths, for the next `prefix`."""
        speakers = self.groups[group]
        if self.repeats:
            repeated = weight[prefix.rows] * (self.earlier[people][prefix.rows] >= 0)
            self.repeated.append((float(repeated.sum()), float((repeated * (1 - prefix.anew)).sum())))
        by_grammar = places.reshape(len(places), self.grammars, -1)
        belongs = by_grammar.sum(axis=2)
        # Participants with an individual grammar do not contribute to test stimuli.
        counted = np.where(self.tested[self.part.item[people]], belongs[:, :1], belongs.sum(axis=1, keepdims=True))
        speakers.answer_weight[people] = weight * counted
        likely = by_grammar.sum(axis=1)
        speakers.parameters_then[people] = (
            likely @ self.model.parameters / np.maximum(likely.sum(axis=1), 1e-300)[:, None]
        )
        if group == 0 and prefix.slopes is not None:
            block = np.zeros(weight.shape)
            block[prefix.rows] = (places[prefix.rows[0]] * prefix.slopes).sum(axis=1)
            self.slopes[people] = block

    def add_group(self, places: Floats, weight: Floats) -> None:
        """Add a group of speakers, initialised by the participants with nonzero `places`."""
        first = self.groups[0]
        zeros = np.zeros(self.part.item.shape)
        self.groups.append(Speakers(first.strengths.copy(), first.information.copy(), zeros, self._no_places()))
        for _ in range(3):
            self._learn_group(len(self.groups) - 1, self._answers(weight), places)


def sum_over_trials(values: Singles) -> None:
    """Replace values by their cumulative sum over trials (second axis); a loop is faster than `np.cumsum` here."""
    for trial in range(1, values.shape[1]):
        values[:, trial] += values[:, trial - 1]


def log_sum(values: Floats | Singles) -> Floats:
    """log sum exp along the last axis, in double precision; minus infinity if all values are.

    >>> log_sum(np.log(np.array([[1.0, 2.0], [0.5, 0.5]]))).round(3).tolist()
    [1.099, 0.0]
    """
    top = values.max(axis=-1)
    finite_top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        relative = values - finite_top[..., None]
        total = finite_top + np.log(np.exp(relative, out=relative).sum(axis=-1))
    return np.asarray(total.astype(np.float64))


def draw_levels(shares: Floats, random: np.random.Generator) -> Ints:
    """A random level for each row of probabilities.

    >>> draw_levels(np.array([[0.0, 1.0], [1.0, 0.0]]), np.random.default_rng(1)).tolist()
    [1, 0]
    """
    return np.asarray((shares.cumsum(axis=1)[:, :-1] < random.random((len(shares), 1))).sum(axis=1))


def _answered(content: Ints) -> tuple[Ints, Ints]:
    """The indices (participants, trials) of all answers."""
    people, trials = np.nonzero(content >= 0)
    return people.astype(np.int64), trials.astype(np.int64)


class LabelPopulation:
    """The current population of attentive participants, for labels."""

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

    def answer_slope(self, strength: Floats, level: Ints, place: Floats) -> tuple[Floats, Floats]:
        """The slope of each answer's log probability in the strengths of its item, and its information, by category."""
        shares = softmax(place * strength, axis=1)
        chosen = np.zeros_like(shares)
        chosen[np.arange(len(level)), level] = 1.0
        return place * (chosen - shares), place**2 * shares * (1 - shares)

    def _shares(self, strength: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """The probabilities without lapses (answers x places x categories) and the factor of the logits."""
        factor = self.discrimination / np.sqrt(1 + FLATTEN * np.multiply.outer(variance, self.discrimination**2))
        return softmax(factor[..., None] * strength[:, None, :], axis=-1), factor

    def expected(self, strength: Floats, place: Floats) -> Floats:
        """The probability of each category (answers x categories) without lapses, by discrimination (answers x 1)."""
        return np.asarray(softmax(place * strength, axis=1))

    def evaluate(self, strength: Floats, variance: Floats, level: Ints) -> tuple[Floats, Floats]:
        """The probability of each answer at each place, and the slope of its logarithm in that category's strength."""
        shares, factor = self._shares(strength, variance)
        share = np.take_along_axis(shares, level[:, None, None], axis=2)[..., 0]
        probability = (1 - LAPSE) * share + LAPSE / self.levels
        return probability, (1 - LAPSE) * factor * share * (1 - share) / probability

    def probability(self, strength: Floats, variance: Floats, level: Ints) -> Floats:
        """The probability of each answer at each place, without its slope."""
        return self.evaluate(strength, variance, level)[0]

    def improve(
        self, strengths: Floats, prior: tuple[Floats, Floats], weights: Floats, thresholds: bool
    ) -> tuple[Floats, Floats]:
        """New strengths from the expected answers (items x categories x places), and their information."""
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
        """Update the standard deviations and return the factor for the strengths, as `Ordered` does."""
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
        """A logit of 2 for the correct category of each item; NaN if it is unknown."""
        strengths = np.full((len(key), self.levels), np.nan)
        keyed = np.flatnonzero(np.isfinite(key))
        strengths[keyed] = -2.0 / (self.levels - 1)
        strengths[keyed, key[keyed].astype(np.int64)] = 2.0
        return strengths
