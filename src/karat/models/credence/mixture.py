"""The mixture of behaviours: how probable each is for each participant.

The components, each with a share learned under a Dirichlet prior worth five participants, four of them attentive:

    attentive throughout;
    intermittent lapses: every other trial answered without looking, on average;
    a way of not looking (guessing, a pattern of length 1, 2, ...) x a pace (as before, hurried, rushing),
        from the first trial on, or from trial c on and attentive before; which c are probable is learned.

For a change at c the probability is that of the attentive answers before c times that of the rest without looking; sums
from both ends give all c at once. A change must leave at least a tenth of the trials: what happens after that hardly
matters, and hardly shows.
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
"""Participants are taken so many at a time that their answers on the grid fill at most this many numbers."""
THREADS = 2
PRIOR_ATTENTIVE, PRIOR_OTHERS = 4.0, 1.0
AFTER = 0.1
SHARE_ROUNDS = 100
SPARSE = 0.5
"""Participants that a behaviour must have to count as one of this crowd."""
ATTENTIVE, LAPSES = 0, 1


@dataclass(frozen=True)
class MixtureStep:
    """What one look at all participants says; components as in the text above, in this order."""

    likelihood: Floats
    """The log probability of everything by component, participants x components."""
    posterior: Floats
    change: Floats
    """The probability that the behaviour changes at each trial (from 0), if somebody is not attentive throughout."""
    weight: Floats
    """The probability of being attentive at each trial."""
    otherwise: Floats
    """The same, if somebody is not attentive throughout."""
    group: Floats
    """The posterior of the groups of speakers, given attentive answers."""
    without_times: Floats
    """The log odds of being attentive by the answers alone."""
    looked: Floats
    """The log probability of each answer if attentive, participants x trials."""
    evidence: Floats
    """The log probability of everything about each participant, judged by the others."""


class Mixture:
    """The model as learned so far."""

    def __init__(
        self, trials: CredenceTrials, weight: Floats, by_classes: bool = False, like: Mixture | None = None
    ) -> None:
        """`like` is a mixture of the same trials, whose patterns need not be looked for again."""
        self.trials, self.by_classes = trials, by_classes
        self.people, self.count = trials.shape
        self.attentive: list[Attentive | Classes] = [
            Classes(part, weight) if by_classes and part.has_classes else Attentive(part, weight)
            for part in trials.parts
        ]
        self.group_shares = np.ones(1)
        most = max(4, min(max(part.levels for part in trials.parts), 7))
        # Patterns over several trials and changes of behaviour are seen only in the order of presentation.
        self.lengths = tuple(range(1, (min(most, max(1, self.count // 3)) if trials.in_sequence else 1) + 1))
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
        """Ways of not looking x participants x trials + 1: the answers from each trial on, all parts together."""
        repeated = [
            np.sum([spammers.patterns(part.button, part.levels, length) for part in self.trials.parts], axis=0)
            for length in self.lengths
        ]
        return np.stack([self._guessed(), *repeated])

    def _guessed(self) -> Floats:
        found: Floats = np.sum([
            one.guesses() if isinstance(one, Classes) else spammers.guesses(one.part.button, one.part.levels)
            for one in self.attentive
        ], axis=0)  # fmt: skip
        return found

    def _prior(self) -> Floats:
        ways = np.array([0.5, *(0.25 * 0.5**place for place in range(len(self.lengths)))])
        shape = (len(ways), len(self.regimes), 2)
        spread = np.broadcast_to(ways[:, None, None] / ways.sum() / (2 * len(self.regimes)), shape)
        return np.concatenate([[PRIOR_ATTENTIVE, 0.05 * PRIOR_OTHERS], 0.95 * PRIOR_OTHERS * spread.ravel()])

    def adopt(self, other: Mixture, all_of_it: bool = False) -> None:
        """Begin where a mixture of some participants ended; unless asked to, not with what few of them say."""
        self.shares, self.regimes, self.group_shares = other.shares, list(other.regimes), other.group_shares
        self.rates = other.rates
        for mine, theirs in zip(self.attentive, other.attentive, strict=True):
            mine.adopt(theirs, all_of_it)  # type: ignore[arg-type]

    @property
    def by_strengths(self) -> list[Attentive]:
        """The parts that are judged by the strengths of stimuli, in which there may be groups of speakers."""
        return [one for one in self.attentive if isinstance(one, Attentive)]

    def beyond_chance(self, counted: Bools) -> Floats:
        """Everybody's agreement with the others in standard errors above chance, by what is learned of classes.

        Where few judged each stimulus, a few accounts with the same answers decide its class. There the answers of the
        others count as well, whatever was learned of them, and the larger agreement is taken.
        """
        learned = [one.worth if isinstance(one, Classes) else None for one in self.attentive]
        found = beyond_chance(self.trials, counted, learned)
        few = self.by_classes and all(part.few_answers for part in self.trials.parts)
        return np.maximum(found, beyond_chance(self.trials, counted)) if few else found

    def depends(self, people: Ints, counted: Bools, errors: float, correlation: float) -> Bools:
        """Whose answers depend on the classes of stimuli, by so many standard errors and such a correlation at least.

        Three labels or more may be used in another way than the others do, which is no agreement but no guessing.
        """
        found = np.zeros((3, len(people)))
        for one in self.attentive:
            if isinstance(one, Classes) and one.part.levels > 2:
                worth = one.worth
                found += np.array([one.dependence(int(person), counted, worth) for person in people]).reshape(-1, 3).T
        excess, variance, most = found
        # The correlation of pairs is the square of that of answers.
        least = np.maximum(errors * np.sqrt(np.maximum(variance, 0)), correlation**2 * most)
        return np.asarray((excess >= least) & (excess > 0))

    @property
    def groups(self) -> int:
        return len(self.group_shares)

    def step(self, learn: bool = True, slopes: bool = True, chunk: int = CHUNK) -> MixtureStep:
        """Look at everybody once, and by default learn from it; `slopes` keeps those of everybody's answers."""
        clock = self._clock()
        if self.by_classes:
            # Careless people look now and then, at what is learned of the stimuli.
            self.blind[0] = self._guessed()
        places = sum(len(one.log_weights) for one in self.attentive) * self.groups
        many = max(1, chunk // (self.count * places))
        slices = [slice(first, min(first + many, self.people)) for first in range(0, self.people, many)]
        if len(slices) == 1:
            looks = [self._look(slices[0], clock, learn, learn and slopes)]
        else:
            with ThreadPoolExecutor(THREADS) as pool:
                looks = list(pool.map(lambda part: self._look(part, clock, learn, learn and slopes), slices))
        joined = [np.concatenate(parts) for parts in zip(*(look[0] for look in looks), strict=True)]
        step = MixtureStep(*joined)
        if learn:
            self._learn(step, [look[1] for look in looks], clock)
        return step

    def _clock(self) -> _Clock:
        residual = self._times_by_part()
        if residual is None:
            return self._no_clock()
        before, pace = spammers.until(self.regimes[0].log_density(residual))
        others = [spammers.since(regime.log_density(residual)) for regime in self.regimes[1:]]
        together = [
            times.reshape(-1, *before[: self.people].shape).sum(axis=0) for times in (before, *(o[0] for o in others))
        ]
        return _Clock(together[0], together[1:], [pace, *(own for _, own in others)])

    def _times_by_part(self) -> Floats | None:
        """The times of everybody in the first part, then in the second: a pace belongs to a participant in a task."""
        residual = self.trials.residual
        if residual is None or len(self.trials.parts) == 1:
            return residual
        return np.concatenate([np.where(part.there, residual, np.nan) for part in self.trials.parts])

    def _no_clock(self) -> _Clock:
        nothing = np.zeros((self.people, self.count + 1))
        return _Clock(nothing, [nothing] * (len(self.regimes) - 1), [np.empty(0)])

    def _look(
        self, people: slice, clock: _Clock, learn: bool, slopes: bool
    ) -> tuple[tuple[Floats, ...], list[list[Floats]]]:
        prefixes = [[one.prefix(group, people, slopes) for group in range(self.groups)] for one in self.attentive]
        by_group = np.stack([sum(part[group].summed for part in prefixes) for group in range(self.groups)], axis=-1)
        by_group = by_group + np.log(self.group_shares)
        before = log_sum(by_group)
        lapses = np.stack([sum(part[group].lapsing for part in prefixes) for group in range(self.groups)], axis=-1)
        likelihood, joint, switched = self._components(people, before, lapses, clock)
        weighted = likelihood + np.log(self.shares)
        posterior = np.exp(weighted - log_sum(weighted)[:, None])
        # What would be if they are not attentive is kept apart, since it may be too improbable to be subtracted.
        others = np.exp(weighted[:, 1:] - log_sum(weighted[:, 1:])[:, None])
        changing = others[:, 1:].reshape(-1, len(self.blind), len(self.regimes), 2)[..., 1]
        with np.errstate(invalid="ignore"):
            where = np.nan_to_num(np.exp(joint - switched[..., None]))
        change = np.einsum("pwr,wrpc->pc", changing, where)
        later = change[:, ::-1].cumsum(axis=1)[:, ::-1]
        otherwise = others[:, :1] / 2 + later[:, 1:]
        unlikely = 1 - posterior[:, [ATTENTIVE]]
        weight = posterior[:, [ATTENTIVE]] + unlikely * otherwise
        stays = posterior[:, ATTENTIVE] + posterior[:, LAPSES] / 2
        group = np.exp(by_group[:, -1] - before[:, -1:])
        alone = likelihood
        if self.trials.residual is not None and not learn:
            alone = self._components(people, before, lapses, self._no_clock())[0]
        most = group.argmax(axis=1)
        looked = np.choose(
            most[:, None], [sum(part[number].looked for part in prefixes) for number in range(self.groups)]
        )
        places = self._places(people, prefixes, by_group, unlikely * change, stays, weight) if learn else []
        evidence = log_sum(likelihood + np.log(self.shares))
        odds = self.log_odds(alone)
        found = (likelihood, posterior, change, weight, otherwise, group, odds, looked, evidence)
        return found, places

    def _components(
        self, people: slice, before: Floats, lapses: Floats, clock: _Clock
    ) -> tuple[Floats, Floats, Floats]:
        """Log probabilities by component; by change (ways x paces x participants x trials + 1); summed over changes."""
        rest, times = self.blind[:, people], clock.before[people]
        whole = times[:, -1]
        at_once = [whole, *(own[people, 0] for own in clock.since)]
        changed = [np.broadcast_to(whole[:, None], times.shape), *(times + own[people] for own in clock.since)]
        when = spammers.log_when(self.period[people], self.allowed[people], self.rates)
        joint = rest[:, None] + (before + when) + np.stack(changed)
        switched = log_sum(joint)
        first = rest[:, None, :, 0] + np.stack(at_once)
        both = np.stack([first, switched], axis=2).reshape(-1, len(whole)).T
        lapsing = log_sum(lapses + np.log(self.group_shares)) + whole
        return np.column_stack([before[:, -1] + whole, lapsing, both]), joint, switched

    def _places(
        self, people: slice, prefixes: list[list[Prefix]], by_group: Floats, change: Floats, stays: Floats,
        weight: Floats,
    ) -> list[list[Floats]]:  # fmt: skip
        """The posterior of the place of everybody on the grid of each part and group, from attentive answers."""
        best, changing = change.argmax(axis=1), change.sum(axis=1)
        everybody = np.arange(len(best))
        share = np.column_stack([stays, changing]) / np.maximum(stays + changing, 1e-12)[:, None]
        found: list[list[Floats]] = []
        for one, part in zip(self.attentive, prefixes, strict=True):
            found.append([])
            for group, prefix in enumerate(part):
                total = 0.0
                for trial, likely in ((np.full_like(best, self.count), share[:, 0]), (best, share[:, 1])):
                    within = np.exp(prefix.on_grid[everybody, trial] - prefix.summed[everybody, trial][:, None])
                    belongs = np.exp(by_group[everybody, trial, group] - log_sum(by_group[everybody, trial]))
                    total = total + (likely * belongs)[:, None] * within
                one.keep_own(group, people, prefix, np.asarray(total), weight * one.part.there[people])
                found[-1].append(np.asarray(total))
        return found

    def _learn(self, step: MixtureStep, looks: list[list[list[Floats]]], clock: _Clock) -> None:
        attentive_share = step.weight.mean(axis=1)
        sums = np.zeros(self.groups)
        for number, one in enumerate(self.attentive):
            places = [np.concatenate([look[number][group] for look in looks]) for group in range(self.groups)]
            one.learn(step.weight * one.part.there, places)
            by_place = np.stack([attentive_share @ own for own in places])
            one.learn_population(by_place.sum(axis=0))
            sums += by_place.sum(axis=1)
        self.group_shares = (sums + 1.0) / (sums + 1.0).sum()
        self.learn_shares(step.likelihood)
        unlikely = 1 - step.posterior[:, [ATTENTIVE]]
        self.rates = spammers.learned_rates(self.period, self.allowed, unlikely * step.change)
        residual = self._times_by_part()
        if residual is not None:
            self._learn_paces(residual, step, clock)

    def log_odds(self, likelihood: Floats) -> Floats:
        """The log odds of being attentive throughout, against everything else."""
        weighted = likelihood + np.log(self.shares)
        return np.asarray(weighted[:, ATTENTIVE] - log_sum(np.delete(weighted, ATTENTIVE, axis=1)))

    def learn_shares(self, likelihood: Floats) -> None:
        """To the end at once: this is cheap, and the slowest of all to converge in turns with the rest."""
        relative = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
        for _ in range(SHARE_ROUNDS):
            found = self.shares * ((1 / (relative @ self.shares)) @ relative)
            whole = self.prior + found
            # A behaviour that half a participant shows is chance; the others of the same crowd are more probable.
            others = self.prior[1:] + np.maximum(found[1:] - SPARSE, 0.0)
            whole[1:] = others * whole[1:].sum() / others.sum()
            self.shares = whole / whole.sum()

    def _learn_paces(self, residual: Floats, step: MixtureStep, clock: _Clock) -> None:
        usual = (spammers.ATTENTIVE, spammers.HURRIED, spammers.RUSHING)
        stays = step.posterior[:, [ATTENTIVE, LAPSES]].sum(axis=1)
        parts = step.posterior[:, 2:].reshape(self.people, len(self.blind), len(self.regimes), 2)
        weights = [stays, *(parts[:, :, number, 0].sum(axis=1) for number in range(1, len(self.regimes)))]
        timed = np.isfinite(residual).any(axis=1, keepdims=True).astype(np.float64)
        known, improved = zip(self.regimes, usual, clock.pace, weights, strict=True), []
        for number, (regime, prior, pace, weight) in enumerate(known):
            by_trial = timed * np.resize(weight, len(residual))[:, None].repeat(self.count, 1)
            improved.append(regime.improved(prior, residual, pace, by_trial, number == 0))
        # Those who do not look have no pauses to think; with a wide scatter their regime would take in everybody's.
        most = improved[0].scatter
        self.regimes = [replace(regime, scatter=min(regime.scatter, most)) for regime in improved]


@dataclass(frozen=True)
class _Clock:
    """Times before each trial if attentive, from each trial on by the other regimes, and the posteriors of paces."""

    before: Floats
    since: list[Floats]
    pace: list[Floats]
