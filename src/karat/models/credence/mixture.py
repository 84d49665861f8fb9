"""A mixture of behaviours, with the probability of each for each participant.

The components, each with a share learned under a Dirichlet prior worth five participants, four of them attentive:

    attentive throughout;
    intermittent lapses: half of the trials on average are answered without looking;
    a way of not looking (guessing, a pattern of length 1, 2, ...) x a pace (as before, hurried, rushing),
        either from the first trial on, or from trial c on after attentive answers; the distribution of c is learned.

The probability of a change at c is that of the attentive answers before c times that of the remaining answers without
looking; cumulative sums from both ends give all c at once. At least a tenth of the trials must follow the change,
because later changes hardly matter and are hardly detectable.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from karat.models.credence import spammers
from karat.models.credence.attentive import Attentive, Prefix, log_sum
from karat.models.credence.classes import Classes
from karat.models.credence.trials import CredenceTrials, beyond_chance
from karat.types import Bools, Floats, Ints

CHUNK = 4_000_000
"""Participants are processed in chunks with at most this many values on the grid."""
THREADS = 2
PRIOR_ATTENTIVE, PRIOR_OTHERS = 4.0, 1.0
AFTER = 0.1
SHARE_ROUNDS = 100
SPARSE = 0.5
"""A behaviour occurs in a crowd if its expected number of participants exceeds this."""
ATTENTIVE, LAPSES = 0, 1


@dataclass(frozen=True)
class MixtureStep:
    """The results of one step over all participants; components are in the order of the module's docstring."""

    likelihood: Floats
    """The log probability of all data per component (participants x components)."""
    posterior: Floats
    """The posterior probability of each component."""
    change: Floats
    """The probability of a change of behaviour at each trial (from 0), given not attentive throughout."""
    weight: Floats
    """The probability of being attentive at each trial."""
    otherwise: Floats
    """The probability of being attentive at each trial, given not attentive throughout."""
    group: Floats
    """The posterior of the groups of speakers, given attentive answers."""
    without_times: Floats
    """The log odds of being attentive from the answers without the times."""
    looked: Floats
    """The log probability of each answer if attentive, participants x trials."""
    evidence: Floats
    """The log probability of all data per participant, given the others."""


class Mixture:
    """The model with its current parameters."""

    def __init__(
        self, trials: CredenceTrials, weight: Floats, by_classes: bool = False, like: Mixture | None = None
    ) -> None:
        """`like` is a mixture of the same trials, whose pattern probabilities are reused."""
        self.trials, self.by_classes = trials, by_classes
        self.people, self.count = trials.shape
        self.attentive: list[Attentive | Classes] = [
            Classes(part, weight) if by_classes and part.has_classes else Attentive(part, weight)
            for part in trials.parts
        ]
        self.group_shares = np.ones(1)
        longest = max(4, min(max(part.levels for part in trials.parts), 7))
        # Patterns over several trials and changes of behaviour require the order of presentation.
        self.lengths = tuple(range(1, (min(longest, max(1, self.count // 3)) if trials.in_sequence else 1) + 1))
        self.blind: Floats = self._blind() if like is None else np.concatenate([self._guessed()[None], like.blind[1:]])
        self.regimes = [spammers.ATTENTIVE] + [spammers.HURRIED, spammers.RUSHING] * (trials.residual is not None)
        self.prior = self._prior()
        self.shares = self.prior / self.prior.sum()
        place, answered = np.arange(self.count + 1), trials.answered[:, None]
        possible = (place >= 1) & (place <= answered - np.maximum(3, np.ceil(AFTER * answered)))
        self.allowed = possible & trials.in_sequence
        self.period = spammers.periods(self.count, trials.answered)
        self.rates = np.ones(spammers.PERIODS)

    def _blind(self) -> Floats:
        """The log probability of the answers from each trial on (ways of not looking x participants x trials + 1)."""
        repeated = [
            np.sum([spammers.patterns(part.button, part.levels, length) for part in self.trials.parts], axis=0)
            for length in self.lengths
        ]
        return np.stack([self._guessed(), *repeated])

    def _guessed(self) -> Floats:
        """The log probability of the answers from each trial on, by guessing."""
        guessed: Floats = np.sum([
            model.guesses() if isinstance(model, Classes) else spammers.guesses(model.part.button, model.part.levels)
            for model in self.attentive
        ], axis=0)  # fmt: skip
        return guessed

    def _prior(self) -> Floats:
        """The prior number of participants per component."""
        ways = np.array([0.5, *(0.25 * 0.5**place for place in range(len(self.lengths)))])
        shape = (len(ways), len(self.regimes), 2)
        spread = np.broadcast_to(ways[:, None, None] / ways.sum() / (2 * len(self.regimes)), shape)
        return np.concatenate([[PRIOR_ATTENTIVE, 0.05 * PRIOR_OTHERS], 0.95 * PRIOR_OTHERS * spread.ravel()])

    def adopt(self, other: Mixture, all_of_it: bool = False) -> None:
        """Start from a mixture fitted to a sample; without `all_of_it`, skip rarely judged stimuli."""
        self.shares, self.regimes, self.group_shares = other.shares, list(other.regimes), other.group_shares
        self.rates = other.rates
        for model, other_model in zip(self.attentive, other.attentive, strict=True):
            model.adopt(other_model, all_of_it)  # type: ignore[arg-type]

    @property
    def by_strengths(self) -> list[Attentive]:
        """The models by strengths, in which there may be groups of speakers."""
        return [model for model in self.attentive if isinstance(model, Attentive)]

    def beyond_chance(self, counted: Bools) -> Floats:
        """The agreement of each participant with the others above chance, in standard errors, given the classes.

        If few participants judged each stimulus, a few accounts with the same answers determine its class. In this
        case the agreement with the others' answers is computed as well, and the larger of the two is returned.
        """
        learned = [model.worth if isinstance(model, Classes) else None for model in self.attentive]
        agreement = beyond_chance(self.trials, counted, learned)
        few = self.by_classes and all(part.few_answers for part in self.trials.parts)
        return np.maximum(agreement, beyond_chance(self.trials, counted)) if few else agreement

    def depends(self, people: Ints, counted: Bools, errors: float, correlation: float) -> Bools:
        """A mask of the people whose answers depend on the classes of stimuli.

        The dependence must reach this many standard errors and this correlation. Someone who uses three or more labels
        differently from the others does not agree with them, but does not guess either.
        """
        sums = np.zeros((3, len(people)))
        for model in self.attentive:
            if isinstance(model, Classes) and model.part.levels > 2:
                worth = model.worth
                sums += np.array([model.dependence(int(person), counted, worth) for person in people]).reshape(-1, 3).T
        excess, variance, largest = sums
        # The correlation over pairs is the square of the correlation over answers.
        least = np.maximum(errors * np.sqrt(np.maximum(variance, 0)), correlation**2 * largest)
        return np.asarray((excess >= least) & (excess > 0))

    @property
    def groups(self) -> int:
        return len(self.group_shares)

    def step(self, learn: bool = True, slopes: bool = True, chunk: int = CHUNK) -> MixtureStep:
        """Evaluate all participants once; `learn` then updates the parameters, and `slopes` also computes slopes."""
        times = self._evaluate_times()
        if self.by_classes:
            # Careless people look now and then, so their probabilities change with the learned classes.
            self.blind[0] = self._guessed()
        places = sum(len(model.log_weights) for model in self.attentive) * self.groups
        size = max(1, chunk // (self.count * places))
        slices = [slice(first, min(first + size, self.people)) for first in range(0, self.people, size)]
        if len(slices) == 1:
            results = [self._evaluate(slices[0], times, learn, learn and slopes)]
        else:
            with ThreadPoolExecutor(THREADS) as pool:
                results = list(pool.map(lambda people: self._evaluate(people, times, learn, learn and slopes), slices))
        joined = [np.concatenate(parts) for parts in zip(*(values for values, _ in results), strict=True)]
        step = MixtureStep(*joined)
        if learn:
            self._learn(step, [chunk_places for _, chunk_places in results], times)
        return step

    def _evaluate_times(self) -> _Times:
        residual = self._times_by_part()
        if residual is None:
            return self._no_times()
        before, pace = spammers.until(self.regimes[0].log_density(residual))
        others = [spammers.since(regime.log_density(residual)) for regime in self.regimes[1:]]
        shape = -1, *before[: self.people].shape
        since = [values.reshape(shape).sum(axis=0) for values, _ in others]
        return _Times(before.reshape(shape).sum(axis=0), since, [pace, *(paces for _, paces in others)])

    def _times_by_part(self) -> Floats | None:
        """The times (parts and participants x trials), because a participant has a separate pace in each part."""
        residual = self.trials.residual
        if residual is None or len(self.trials.parts) == 1:
            return residual
        return np.concatenate([np.where(part.there, residual, np.nan) for part in self.trials.parts])

    def _no_times(self) -> _Times:
        zeros = np.zeros((self.people, self.count + 1))
        return _Times(zeros, [zeros] * (len(self.regimes) - 1), [np.empty(0)])

    def _evaluate(
        self, people: slice, times: _Times, learn: bool, slopes: bool
    ) -> tuple[tuple[Floats, ...], list[list[Floats]]]:
        prefixes = [[model.prefix(group, people, slopes) for group in range(self.groups)] for model in self.attentive]
        by_group = np.stack([sum(part[group].summed for part in prefixes) for group in range(self.groups)], axis=-1)
        by_group = by_group + np.log(self.group_shares)
        before = log_sum(by_group)
        lapses = np.stack([sum(part[group].lapsing for part in prefixes) for group in range(self.groups)], axis=-1)
        likelihood, joint, switched = self._components(people, before, lapses, times)
        weighted = likelihood + np.log(self.shares)
        posterior = np.exp(weighted - log_sum(weighted)[:, None])
        # Computed separately: if inattention is very improbable, 1 - posterior would lose all precision.
        others = np.exp(weighted[:, 1:] - log_sum(weighted[:, 1:])[:, None])
        changing = others[:, 1:].reshape(-1, len(self.blind), len(self.regimes), 2)[..., 1]
        with np.errstate(invalid="ignore"):
            change_given_way = np.nan_to_num(np.exp(joint - switched[..., None]))
        change = np.einsum("pwr,wrpc->pc", changing, change_given_way)
        changed_later = change[:, ::-1].cumsum(axis=1)[:, ::-1]
        otherwise = others[:, :1] / 2 + changed_later[:, 1:]
        inattentive = 1 - posterior[:, [ATTENTIVE]]
        weight = posterior[:, [ATTENTIVE]] + inattentive * otherwise
        attentive = posterior[:, ATTENTIVE] + posterior[:, LAPSES] / 2
        group = np.exp(by_group[:, -1] - before[:, -1:])
        without_times = likelihood
        if self.trials.residual is not None and not learn:
            without_times = self._components(people, before, lapses, self._no_times())[0]
        likeliest = group.argmax(axis=1)
        log_attentive = np.choose(
            likeliest[:, None], [sum(part[number].looked for part in prefixes) for number in range(self.groups)]
        )
        places = self._places(people, prefixes, by_group, inattentive * change, attentive, weight) if learn else []
        evidence = log_sum(likelihood + np.log(self.shares))
        odds = self.log_odds(without_times)
        values = (likelihood, posterior, change, weight, otherwise, group, odds, log_attentive, evidence)
        return values, places

    def _components(
        self, people: slice, before: Floats, lapses: Floats, times: _Times
    ) -> tuple[Floats, Floats, Floats]:
        """Log probabilities by component; by change (ways x paces x participants x trials + 1); summed over changes."""
        blind, usual = self.blind[:, people], times.before[people]
        all_usual = usual[:, -1]
        at_once = [all_usual, *(since[people, 0] for since in times.since)]
        changed = [np.broadcast_to(all_usual[:, None], usual.shape), *(usual + since[people] for since in times.since)]
        when = spammers.log_when(self.period[people], self.allowed[people], self.rates)
        joint = blind[:, None] + (before + when) + np.stack(changed)
        switched = log_sum(joint)
        first = blind[:, None, :, 0] + np.stack(at_once)
        both = np.stack([first, switched], axis=2).reshape(-1, len(all_usual)).T
        lapsing = log_sum(lapses + np.log(self.group_shares)) + all_usual
        return np.column_stack([before[:, -1] + all_usual, lapsing, both]), joint, switched

    def _places(
        self, people: slice, prefixes: list[list[Prefix]], by_group: Floats, change: Floats, attentive: Floats,
        weight: Floats,
    ) -> list[list[Floats]]:  # fmt: skip
        """The posterior of each participant's place on the grid per part and group, given the attentive answers."""
        best, inattentive = change.argmax(axis=1), change.sum(axis=1)
        index = np.arange(len(best))
        share = np.column_stack([attentive, inattentive]) / np.maximum(attentive + inattentive, 1e-12)[:, None]
        places: list[list[Floats]] = []
        for model, part in zip(self.attentive, prefixes, strict=True):
            places.append([])
            for group, prefix in enumerate(part):
                total = 0.0
                for trial, probability in ((np.full_like(best, self.count), share[:, 0]), (best, share[:, 1])):
                    within = np.exp(prefix.on_grid[index, trial] - prefix.summed[index, trial][:, None])
                    belongs = np.exp(by_group[index, trial, group] - log_sum(by_group[index, trial]))
                    total = total + (probability * belongs)[:, None] * within
                model.record(group, people, prefix, np.asarray(total), weight * model.part.there[people])
                places[-1].append(np.asarray(total))
        return places

    def _learn(self, step: MixtureStep, places_by_chunk: list[list[list[Floats]]], times: _Times) -> None:
        """Update all parameters from a step and the posterior places (chunks x parts x groups)."""
        attentive_share = step.weight.mean(axis=1)
        sums = np.zeros(self.groups)
        for number, model in enumerate(self.attentive):
            places = [np.concatenate([chunk[number][k] for chunk in places_by_chunk]) for k in range(self.groups)]
            model.learn(step.weight * model.part.there, places)
            by_place = np.stack([attentive_share @ posterior for posterior in places])
            model.learn_population(by_place.sum(axis=0))
            sums += by_place.sum(axis=1)
        self.group_shares = (sums + 1.0) / (sums + 1.0).sum()
        self.learn_shares(step.likelihood)
        inattentive = 1 - step.posterior[:, [ATTENTIVE]]
        self.rates = spammers.learned_rates(self.period, self.allowed, inattentive * step.change)
        residual = self._times_by_part()
        if residual is not None:
            self._learn_paces(residual, step, times)

    def log_odds(self, likelihood: Floats) -> Floats:
        """The log odds of being attentive throughout, against everything else."""
        weighted = likelihood + np.log(self.shares)
        return np.asarray(weighted[:, ATTENTIVE] - log_sum(np.delete(weighted, ATTENTIVE, axis=1)))

    def learn_shares(self, likelihood: Floats) -> None:
        """Update the shares by many EM iterations at once: they are cheap, and one per step would converge slowly."""
        relative = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
        for _ in range(SHARE_ROUNDS):
            expected = self.shares * ((1 / (relative @ self.shares)) @ relative)
            counts = self.prior + expected
            # A behaviour with up to half a participant is chance; its share goes to the other behaviours of the crowd.
            others = self.prior[1:] + np.maximum(expected[1:] - SPARSE, 0.0)
            counts[1:] = others * counts[1:].sum() / others.sum()
            self.shares = counts / counts.sum()

    def _learn_paces(self, residual: Floats, step: MixtureStep, times: _Times) -> None:
        priors = (spammers.ATTENTIVE, spammers.HURRIED, spammers.RUSHING)
        attentive = step.posterior[:, [ATTENTIVE, LAPSES]].sum(axis=1)
        parts = step.posterior[:, 2:].reshape(self.people, len(self.blind), len(self.regimes), 2)
        weights = [attentive, *(parts[:, :, number, 0].sum(axis=1) for number in range(1, len(self.regimes)))]
        timed = np.isfinite(residual).any(axis=1, keepdims=True).astype(np.float64)
        rows, improved = zip(self.regimes, priors, times.pace, weights, strict=True), []
        for number, (regime, prior, pace, weight) in enumerate(rows):
            by_trial = timed * np.resize(weight, len(residual))[:, None].repeat(self.count, 1)
            improved.append(regime.improved(prior, residual, pace, by_trial, number == 0))
        # Inattentive participants do not pause to think; a wide scatter would make their regime fit everyone.
        widest = improved[0].scatter
        self.regimes = [replace(regime, scatter=min(regime.scatter, widest)) for regime in improved]


@dataclass(frozen=True)
class _Times:
    """Log probabilities of times: before each trial if attentive, and from each trial on per inattentive regime."""

    before: Floats
    since: list[Floats]
    pace: list[Floats]
    """The posterior of the paces per regime."""
