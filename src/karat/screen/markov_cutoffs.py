"""Cutoffs for the Markov criterion that fit the design: its stimuli, their order, balance, answers and gaps.

Credible participants are simulated from the crowd itself (`karat.models.markov`): they see the stimuli that a
participant saw, in that order, and answer by the shares of the crowd's answers to each, with preferences for answers as
spread as in the middle of the crowd. The share of answer k to stimulus j is (n_jk + m_k) / (n_j + 1), where
m_k is the share of stimuli whose majority answers k; one imaginary answer keeps unanimous stimuli from being certain.
If stimuli have fewer than three answers on average, there is no crowd to follow, and all stimuli get the shares of all
answers. Participants whose numbers of answers differ by less than a twentieth share one simulation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.executors import SERIAL, Executor
from karat.judgments.scales import Scale
from karat.messages import Message
from karat.models.markov import (
    ANSWERS_AT_A_TIME,
    Calibration,
    Sequences,
    Strategy,
    Target,
    calibrate,
    credible_counts,
    distances,
    judged_together,
    pattern_counts,
    preference_spread,
    row_divergences,
    targets,
    transition_counts,
)
from karat.models.numerics import chunks, parts
from karat.screen.evidence import ScreenError
from karat.screen.one_part import PART_TABLE, Shelf
from karat.types import Floats, Ints, Progress

KINDS = ("primary choice", "repeated pattern", "random guessing")
CROWD = 3.0
"""The average number of answers from which stimuli have their own shares."""
NEAR = 1.05
ENOUGH = 5_000
FOLLOWERS = 4
"""Each kind of pattern is simulated with a quarter of the simulations; error rates need no more."""


@dataclass(frozen=True)
class CutoffDesign:
    """Answers and stimuli on one scale, one participant after the other, in order."""

    levels: tuple[str, ...]
    participants: pl.Series
    codes: NDArray[np.int8]
    stimuli: Ints
    lengths: Ints

    @property
    def patterns(self) -> tuple[Target, ...]:
        """The patterns to test for these answers."""
        return targets(len(self.levels))

    def some(self, members: Ints) -> tuple[Sequences, NDArray[np.int8]]:
        """The stimuli and answers of some participants."""
        starts = np.cumsum(self.lengths) - self.lengths
        places = np.concatenate([np.arange(starts[i], starts[i] + self.lengths[i]) for i in members])
        return Sequences(self.stimuli[places], self.lengths[members]), self.codes[places]

    def counts(self) -> NDArray[np.int64]:
        """The number of answers to each stimulus (row) by level (column)."""
        return self._counts

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        kinds = len(self.levels)
        cells = np.bincount(self.stimuli * kinds + self.codes, minlength=(int(self.stimuli.max()) + 1) * kinds)
        return cells.reshape(-1, kinds).astype(np.int64)

    def begins(self) -> Ints:
        """The number of participants before each part."""
        return np.zeros(1, dtype=np.int64)

    def balance(self) -> Floats:
        """The share of stimuli with each majority answer; ties count for all tied answers."""
        counts = self.counts()
        most = counts == counts.max(axis=1, keepdims=True)
        return np.asarray((most / most.sum(axis=1, keepdims=True)).mean(axis=0))

    @property
    def has_crowd(self) -> bool:
        """Whether stimuli have enough answers for shares of their own."""
        return float(self.counts().sum(axis=1).mean()) >= CROWD

    def shares(self) -> Floats:
        """The share of each answer to each stimulus, from which credible participants are simulated."""
        counts, balance = self.counts(), self.balance()
        if not self.has_crowd:
            everywhere = (counts.sum(axis=0) + balance) / (counts.sum() + 1)
            return np.tile(everywhere, (len(counts), 1))
        return np.asarray((counts + balance) / (counts.sum(axis=1, keepdims=True) + 1))


@dataclass(frozen=True)
class DesignInParts(CutoffDesign):
    """Answers and stimuli on one scale, stored beside each part."""

    merged: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64), repr=False)
    """The number of answers to each stimulus by level."""
    stored: Shelf = field(default=None, repr=False)  # type: ignore[assignment]
    """One row per participant and scale: participant, index of the scale, codes, and the part's numbers of stimuli."""
    place: int = 0
    """The index of the scale."""
    numbers: tuple[NDArray[np.int32], ...] = ()
    """The numbers of each part's stimuli over all parts."""
    people: tuple[int, ...] = ()
    """The number of participants of each part who answered."""

    def counts(self) -> NDArray[np.int64]:
        """The number of answers to each stimulus (row) by level (column)."""
        return self.merged

    def begins(self) -> Ints:
        """The number of participants before each part."""
        return np.cumsum((0, *self.people[:-1]))

    def some(self, members: Ints) -> tuple[Sequences, NDArray[np.int8]]:
        """The stimuli and answers of some participants, read from their parts."""
        lengths = self.lengths[members]
        begin = np.cumsum(lengths) - lengths
        stimuli, codes = np.empty(lengths.sum(), dtype=np.int64), np.empty(lengths.sum(), dtype=np.int8)
        ends = np.cumsum(self.people)
        part_of = np.searchsorted(ends, members, side="right")
        for number in np.unique(part_of).tolist():
            rows_of_part = sequences_on(self.stored.table(PART_TABLE, number), self.place)
            wanted = np.flatnonzero(part_of == number)
            rows = rows_of_part[members[wanted] - (int(ends[number]) - self.people[number])]
            at = np.concatenate([np.arange(begin[place], begin[place] + lengths[place]) for place in wanted])
            codes[at] = rows["codes"].explode().to_numpy()
            stimuli[at] = self.numbers[number][rows["stimuli"].explode().to_numpy()]
        return Sequences(stimuli, lengths), codes

    def whole(self) -> CutoffDesign:
        """The whole design in memory, if there is one part."""
        return part_design(self.stored.table(PART_TABLE, 0), self.place, self.levels)


def sequences_on(rows: pl.DataFrame, place: int) -> pl.DataFrame:
    """The participants of a part who answered on a scale, with their codes and stimuli."""
    return rows.filter(pl.col("scale") == place)


def part_design(rows: pl.DataFrame, place: int, levels: tuple[str, ...]) -> CutoffDesign:
    """The answers of a part's participants on a scale, with the part's own numbers of stimuli."""
    sequences = sequences_on(rows, place)
    codes, stimuli = (sequences[name].explode().drop_nulls().to_numpy() for name in ("codes", "stimuli"))
    lengths = sequences["codes"].list.len().to_numpy().astype(np.int64)
    return CutoffDesign(levels, sequences["participant"], codes, stimuli.astype(np.int64), lengths)


@dataclass(frozen=True)
class Simulated:
    """The simulation for participants with about the same number of answers."""

    members: Ints
    """The indices of the participants that it is for."""
    shortest: int
    longest: int
    calibration: Calibration
    missed: dict[str, float]
    """The share that is under no cutoff, for each kind of pattern (type II error)."""
    followers: dict[str, Floats]
    """The distances of simulated patterns from the nearest target of their kind."""
    credible: dict[str, Floats]
    """The distances of credible participants from the nearest target of each kind."""


def about_equal(lengths: Ints, least: int) -> Iterator[Ints]:
    """Groups of participants with numbers of answers within a twentieth of each other, the shortest first."""
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] >= least]
    while len(order):
        end = int(np.searchsorted(lengths[order], NEAR * lengths[order[0]], side="right"))
        yield np.sort(order[:end])
        order = order[end:]


def simulate_cutoffs(
    design: CutoffDesign,
    alpha: float,
    strategy: Strategy,
    seed: int,
    simulations: int,
    least: int,
    executor: Executor = SERIAL,
    progress: Progress | None = None,
) -> list[Simulated]:
    """The simulations for a design, one per number of answers, and the expected errors with their cutoffs."""
    setup = _SimulationSetup.of(design, alpha, strategy, seed, simulations)
    groups = list(about_equal(design.lengths, least))
    return executor.map(_for_group, setup, groups, name="cutoffs", progress=progress)


@dataclass(frozen=True)
class _SimulationSetup:
    """The values that the simulations for all numbers of answers share."""

    design: CutoffDesign
    shares: Floats
    spread: Floats
    """The spread of preferences for answers in this crowd."""
    alpha: float
    strategy: Strategy
    seed: int
    simulations: int

    @classmethod
    def of(
        cls, design: CutoffDesign, alpha: float, strategy: Strategy, seed: int, simulations: int
    ) -> _SimulationSetup:
        """The setup for a design; in a large crowd, preferences are estimated from a sample."""
        shares, members = design.shares(), np.arange(len(design.lengths))
        if len(members) > ENOUGH:
            members = np.random.default_rng(seed).choice(members, ENOUGH, replace=False)
        spread = preference_spread(*design.some(members), shares)
        return cls(design, shares, spread, alpha, strategy, seed, simulations)


def _for_group(setup: _SimulationSetup, members: Ints) -> Simulated:
    """The simulation for participants with about the same number of answers, with its own random numbers."""
    design, simulations = setup.design, setup.simulations
    random = np.random.default_rng([setup.seed, len(design.levels), int(design.lengths[members].min())])
    sample = members if len(members) <= simulations else random.choice(members, simulations, replace=False)
    sequences, _ = design.some(sample)
    return _simulate(setup, members, sequences, random)


def errors_by_trials(
    design: CutoffDesign,
    trials: Sequence[int],
    alpha: float = 0.05,
    strategy: Strategy = "rows",
    seed: int = 1,
    simulations: int = 2_000,
    majority: float | None = None,
) -> pl.DataFrame:
    """The type II error for each kind of pattern if this many stimuli like these were judged, in random order.

    `majority` is the share of stimuli to which most give the most frequent answer; by default as in the design.
    Columns: trials, kind, type_two (the paper's figures 4a and 4b for the design at hand).
    """
    setup = _SimulationSetup.of(design, alpha, strategy, seed, simulations)
    weights = _weights(setup.shares, majority)
    rows = []
    for number in trials:
        random = np.random.default_rng([seed, len(design.levels), number])
        orders = min(simulations, 200)
        stimuli = random.choice(len(setup.shares), size=orders * number, p=weights)
        sequences = Sequences(stimuli, np.full(orders, number))
        simulated = _simulate(setup, np.arange(0), sequences, random)
        rows += [(number, kind, missed) for kind, missed in simulated.missed.items()]
    return pl.DataFrame(rows, schema={"trials": pl.Int64, "kind": pl.String, "type_two": pl.Float64}, orient="row")


def _weights(shares: Floats, majority: float | None) -> Floats | None:
    """The weights with which this share of drawn stimuli has the most frequent answer as its majority.

    None if stimuli are drawn unweighted; if all stimuli have the same majority, no weights can change it.
    """
    if majority is None:
        return None
    most = shares.argmax(axis=1)
    frequent = most == np.bincount(most).argmax()
    if frequent.all():
        raise ScreenError(Message("markov.same_majority"))
    return np.asarray(np.where(frequent, majority / frequent.sum(), (1 - majority) / (~frequent).sum()))


def _simulate(setup: _SimulationSetup, members: Ints, sequences: Sequences, random: np.random.Generator) -> Simulated:
    shares, strategy, simulations = setup.shares, setup.strategy, setup.simulations
    patterns = targets(shares.shape[1])
    matrices = [target.matrix for target in patterns]
    places = {kind: [at for at, target in enumerate(patterns) if target.kind == kind] for kind in KINDS}
    honest = distances(credible_counts(sequences, shares, simulations, random, setup.spread), matrices, strategy)
    calibration = calibrate(honest, judged_together(patterns), setup.alpha)
    missed, followers = {}, {}
    for kind, examples in _examples(patterns).items():
        size = max(1, simulations // (FOLLOWERS * len(examples)))
        counts = [pattern_counts(target, sequences.lengths, size, shares.shape[1], random) for target in examples]
        by_target = distances(np.concatenate(counts), matrices, strategy)
        by_group, _ = calibration.grouped(by_target)
        missed[kind] = float(np.mean(~(by_group < calibration.cutoffs).any(axis=1)))
        followers[kind] = by_target[:, places[kind]].min(axis=1)
    credible = {kind: honest[:, columns].min(axis=1) for kind, columns in places.items()}
    shortest, longest = int(sequences.lengths.min()), int(sequences.lengths.max())
    return Simulated(members, shortest, longest, calibration, missed, followers, credible)


def _examples(patterns: tuple[Target, ...]) -> dict[str, list[Target]]:
    """The examples to simulate for each kind of pattern: every primary choice, the cycle of all answers, guessing."""
    kinds = len(patterns[0].matrix)
    longest = next(target for target in patterns if target.way == tuple(range(kinds)))
    return {
        "primary choice": [target for target in patterns if target.kind == "primary choice"],
        "repeated pattern": [longest],
        "random guessing": [target for target in patterns if target.kind == "random guessing"],
    }


LEAST, MOST_LEVELS = 10, 12
LIKELY = 0.05
"""Agreement with the others protects if its p value is at most this."""


def levels_of(scale: Scale) -> tuple[str, ...]:
    """The answers of a scale, if they are few enough for transitions."""
    return scale.levels if 2 <= len(scale.levels) <= MOST_LEVELS else ()


def usable_designs(
    per_scale: Sequence[tuple[Scale, CutoffDesign | None, Sequence[Message]]], order: Sequence[Message]
) -> tuple[list[CutoffDesign], list[Message]]:
    """The designs with long enough sequences, and notes, also on their order; raises ScreenError if there are none."""
    designs, notes, refused = [], [*order], []
    for scale, design, messages in per_scale:
        if design is None:
            levels = len(scale.levels)
            refused.append(
                Message("markov.scale_answers", {"scale": scale.kind, "levels": levels})
                if levels
                else Message("markov.scale_numbers", {"scale": scale.kind})
            )
            continue
        if int(design.lengths.max()) < LEAST:
            refused.append(Message("markov.scale_short", {"scale": scale.kind, "least": LEAST}))
            continue
        designs.append(design)
        notes += messages
        if not design.has_crowd:
            notes.append(Message("markov.no_crowd"))
    if not designs:
        why = {"least": LEAST, "most_levels": MOST_LEVELS, "scales": refused or None}
        raise ScreenError(Message("markov.no_sequences", why))
    if refused:
        notes.append(Message("markov.left_out", {"scales": refused}))
    return designs, notes


def who_agree(design: CutoffDesign, near: pl.DataFrame, ordered: bool) -> pl.DataFrame:
    """The participants near a pattern who agree with the others, less probably by chance than p.

    `near` has their parts, indices in these, and the p values of their patterns. The others are those near no pattern.
    One answer throughout agrees by chance or not at all. It counts as agreement if it agrees with the others at least
    as often as they do with each other, as where the better item is always on one side.
    """
    from scipy.stats import norm

    from karat.models.credence import dealt_anew

    levels, people = len(design.levels), near.height
    sequences, codes = design.some(design.begins()[near["part"].to_numpy()] + near["place"].to_numpy())
    counts = design.counts()
    cells = np.bincount(sequences.stimuli * levels + codes, minlength=counts.size)
    others = (counts - cells.reshape(counts.shape)).astype(np.float64)
    owner = np.repeat(np.arange(people), sequences.lengths)
    ends = np.concatenate([[0], np.cumsum(sequences.lengths)])
    above, usual = np.zeros(people), np.zeros(people)
    for first, last in chunks(sequences.lengths, ANSWERS_AT_A_TIME // levels):
        rows = slice(ends[first], ends[last])
        worth = others[sequences.stimuli[rows]]
        number = worth.sum(axis=1)
        shared = number > 0
        worth = worth[shared] / number[shared, None]
        whose, given = owner[rows][shared] - first, codes[rows][shared]
        # How often others agree with the participant, minus how often with each other.
        more = worth[np.arange(len(given)), given] - (worth**2).sum(axis=1)
        usual[first:last] = np.bincount(whose, more, last - first)
        if ordered:
            worth = np.multiply.outer((worth * np.arange(levels)).sum(axis=1), np.arange(levels))
        excess, variance, _ = dealt_anew(whose, given, worth, last - first)
        above[first:last] = np.where(variance > 1e-12, excess, 0.0) / np.sqrt(np.maximum(variance, 1e-12))
    same = np.maximum.reduceat(codes, ends[:-1]) == np.minimum.reduceat(codes, ends[:-1])
    return near.filter((norm.sf(above) < np.minimum(near["p"].to_numpy(), LIKELY)) | (same & (usual > 0)))


def counts_of(design: CutoffDesign) -> NDArray[np.int32]:
    """The transition counts of every participant."""
    return transition_counts(design.codes, design.lengths, len(design.levels))


def target_name(target: Target, levels: tuple[str, ...]) -> str:
    """A pattern in a few words."""
    if target.kind == "primary choice":
        return f"always {levels[target.way[0]]}"
    if target.kind == "repeated pattern":
        return "round " + ", ".join(levels[answer] for answer in target.way)
    return {"stay": "staying", "random guessing": "evenly at random"}[target.kind]


def scale_name(design: CutoffDesign) -> str:
    """A scale by its ends."""
    return f"{design.levels[0]} to {design.levels[-1]}"


def row_table(design: CutoffDesign) -> pl.DataFrame:
    """participant, target, state, kld: the divergence of every row from every target."""
    patterns = design.patterns
    matrices = [target.matrix for target in patterns]
    kinds, counts = len(design.levels), counts_of(design)
    names = pl.Series([target_name(target, design.levels) for target in patterns])
    tables = []
    for part in parts(len(counts), len(patterns) * kinds):
        divergences = row_divergences(counts[part], matrices)
        people, number, _ = divergences.shape
        tables.append(pl.DataFrame({
            "participant": design.participants[part].gather(np.repeat(np.arange(people), number * kinds)),
            "target": names.gather(np.tile(np.repeat(np.arange(number), kinds), people)),
            "state": pl.Series(design.levels).gather(np.tile(np.arange(kinds), people * number)),
            "kld": pl.Series(divergences.ravel()).fill_nan(None),
        }))  # fmt: skip
    return pl.concat(tables)


def transition_table(design: CutoffDesign) -> pl.DataFrame:
    """participant, state, next, count, share: the observed transitions."""
    kinds, counts = len(design.levels), counts_of(design)
    people, levels = len(counts), pl.Series(design.levels)
    totals = counts.sum(axis=2, keepdims=True)
    share = np.divide(counts, totals, out=np.full(counts.shape, np.nan), where=totals > 0)
    return pl.DataFrame(
        {
            "participant": design.participants.gather(np.repeat(np.arange(people), kinds * kinds)),
            "state": levels.gather(np.tile(np.repeat(np.arange(kinds), kinds), people)),
            "next": levels.gather(np.tile(np.arange(kinds), people * kinds)),
            "count": counts.ravel().astype(np.int64),
            "share": pl.Series(share.ravel()).fill_nan(None),
        }
    )
