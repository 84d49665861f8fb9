"""The Markov criterion: participants whose answers follow a pattern of transitions, whatever the items.

Ba, Mancenido, Chiou and Pan describe three ways of answering without attention: keeping to one choice, repeating a
pattern, and guessing. Each is a target matrix of transitions from one answer to the next (`karat.models.markov`), and a
participant's observed matrix is compared with each by the Kullback-Leibler divergence of its rows. Answers are taken in
the order of presentation, without practice and missing answers. Questions that share a scale make one sequence, because
a pattern runs across the questions of a page. Different scales make different sequences, and alpha is divided by their
number. Participants with fewer than ten answers on a scale are not judged on it.

Strategies: "rows", the paper's first and preferred one, requires the divergences of all rows to be under the cutoff, so
that mixed matrices are not flagged; "average" requires it of their average (aKLD), "minimum" of the smallest (mKLD).

Cutoffs: "simulated" ones are made for this design (`karat.screen.markov_cutoffs`) and strategy, so that a credible
participant is below one of them with probability alpha over all patterns. Participants below a cutoff are flagged
unless their answers agree with those of the others: less probably by chance than the pattern, and p < .05. Such
participants read the items. "published" cutoffs are those of the authors' code for two answers and about 80 trials:
3.367 for one choice, 3.924 for repeating (alternating, or staying), and 0.0281 for the root of the divergence from
guessing. The authors computed them as quantiles of the average and apply them to each row, regardless of the number
of patterns and of agreement. They depend strongly on the trials, and are here to reproduce published counts.

Careful answers can look like guessing, because the right answers are in random order too. The criterion therefore
misses most guessers (`errors` has the share). A flag means that the transitions are unusually even, not that the
participant read nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from karat.errors import KaratError, counted
from karat.executors import SERIAL, Executor
from karat.judgments import Judgments
from karat.judgments.answer_codes import answered, by_scale, is_ordered
from karat.judgments.scales import Choice, Scale
from karat.judgments.stimuli import PAIR, SHOWN, Stimuli, numbered
from karat.judgments.trial_order import check_order, order_messages, presented
from karat.messages import Message
from karat.models.markov import Strategy, average, distances, minimum, row_divergences, transition_matrices
from karat.models.numerics import parts
from karat.screen.evidence import (
    Evidence,
    PartedEvidence,
    ScreenError,
    check_settings,
    everybody,
    round_beside,
    verdicts,
)
from karat.screen.markov_cutoffs import (
    LEAST,
    CutoffDesign,
    DesignInParts,
    Simulated,
    counts_of,
    errors_by_trials,
    levels_of,
    part_design,
    row_table,
    scale_name,
    simulate_cutoffs,
    target_name,
    transition_table,
    usable_designs,
    who_agree,
)
from karat.screen.one_part import PART_TABLE, AnyEvidence, AnyParts, PartTables, Shelf, parts_of
from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out
from karat.types import Floats, Ints, Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure


ALPHA, SIMULATIONS = 0.05, 5_000
Cutoffs = Literal["simulated", "published"]


class MarkovSettings(CriterionSettings):
    """Settings for flagging patterns of transitions."""

    cutoffs: Cutoffs = Field(
        "simulated", description="Cutoffs simulated for this design, or those of the paper for two answers."
    )
    alpha: float = Field(
        ALPHA,
        gt=0,
        lt=1,
        description="How probable a score under a cutoff is for a credible participant, over all patterns.",
    )
    strategy: Strategy = Field(
        "rows", description="What must be under a cutoff: all rows of the matrix, their average, or the smallest."
    )
    seed: int = Field(1, ge=0, description="The seed of the simulation.")
    simulations: int = Field(SIMULATIONS, ge=1, description="How many credible participants are simulated.")


MOST_STIMULI = 20_000_000
"""The most participants whose answers fit into the memory of the process that adds them up."""
MOST_MATRICES = 6
TRIALS = (20, 40, 80, 160, 320)
BALANCES = (0.5, 0.6, 0.7, 0.8, 0.9)
PUBLISHED = {
    "primary choice": 3.367109, "stay": 3.924257, "repeated pattern": 3.924257, "random guessing": 0.02810061**2,
}  # fmt: skip
"""The cutoffs of the authors' code for the divergence of a row; that for guessing is of its root, and squared here."""
KINDS = {"stay": "repeated pattern"}
SHORT: dict[str, Any] = {
    "participant": pl.String, "score": pl.Float64, "threshold": pl.Float64, "p": pl.Float64, "scale": pl.String,
    "target": pl.String, "pattern": pl.String, "way": pl.List(pl.String), "kind": pl.String, "akld": pl.Float64,
    "mkld": pl.Float64, "answers": pl.Int64, "flagged": pl.Boolean,
}  # fmt: skip
NEAR: dict[str, Any] = {"on": pl.Int64, "part": pl.Int64, "place": pl.Int64}
"""The scale, the part, and the index among the participants of the part who answered on the scale."""
MEASURES = {"rows": "largest row divergence", "average": "aKLD", "minimum": "mKLD"}
"""The value that each strategy compares with the cutoff."""
FLAGGED = {
    "primary choice": "markov.primary_choice", "stay": "markov.stay", "repeated pattern": "markov.repeated_pattern",
    "random guessing": "markov.random_guessing",
}  # fmt: skip
NEAREST = {
    "primary choice": "markov.near_primary_choice", "stay": "markov.near_stay",
    "repeated pattern": "markov.near_repeated_pattern", "random guessing": "markov.near_random_guessing",
}  # fmt: skip
"""The messages about the nearest pattern of participants who are not flagged."""


@dataclass(frozen=True)
class Markov(Evidence):
    """The evidence of the Markov criterion.

    Further columns of `participants`: kind (of the pattern, where flagged), target (the nearest), akld and mkld from
    it, p (over all patterns; none with published cutoffs), answers.
    """

    designs: tuple[CutoffDesign, ...] = ()
    """Answers and stimuli on each scale."""
    simulated: tuple[tuple[Simulated, ...], ...] = ()
    """The simulations for each scale, one for each number of answers; none with published cutoffs."""

    @cached_property
    def rows(self) -> pl.DataFrame:
        """The divergence of each participant's rows: participant, target, state, kld; scale if there are several."""
        return self._tables(row_table)

    @cached_property
    def transitions(self) -> pl.DataFrame:
        """The observed transitions: participant, state, next, count, share; scale if there are several."""
        return self._tables(transition_table)

    def _tables(self, table: Callable[[CutoffDesign], pl.DataFrame]) -> pl.DataFrame:
        tables = []
        for design in self.designs:
            rows = table(design)
            tables.append(rows.with_columns(scale=pl.lit(scale_name(design))) if len(self.designs) > 1 else rows)
        return pl.concat(tables)

    @cached_property
    def cutoffs(self) -> pl.DataFrame:
        """The cutoff of each pattern (those round several answers share one) by number of answers."""
        rows = []
        for design, simulations in zip(self.designs, self.simulated, strict=False):
            for run in simulations:
                about = scale_name(design), run.shortest, run.longest, len(run.members)
                for group, cutoff in zip(run.calibration.groups, run.calibration.cutoffs.tolist(), strict=True):
                    first = design.patterns[group[0]]
                    name = "round several answers" if len(group) > 1 else target_name(first, design.levels)
                    rows.append((*about, name, cutoff))
        schema = {"scale": pl.String, "answers_from": pl.Int64, "answers_to": pl.Int64, "participants": pl.Int64,
                  "target": pl.String, "cutoff": pl.Float64}  # fmt: skip
        return pl.DataFrame(rows, schema=schema, orient="row")

    @cached_property
    def errors(self) -> pl.DataFrame:
        """The share of simulated participants of each kind that the cutoffs miss (type II error)."""
        rows = [
            (scale_name(design), run.shortest, run.longest, kind, missed)
            for design, simulations in zip(self.designs, self.simulated, strict=False)
            for run in simulations
            for kind, missed in run.missed.items()
        ]
        schema = {"scale": pl.String, "answers_from": pl.Int64, "answers_to": pl.Int64, "kind": pl.String,
                  "type_two": pl.Float64}  # fmt: skip
        return pl.DataFrame(rows, schema=schema, orient="row")

    def plot(self, width_cm: float = 16) -> Figure:
        """Distances of simulated and real participants from each kind of pattern.

        >>> import karat
        >>> len(markov(karat.datasets.load("crowd"), simulations=500).plot().axes)
        3
        """
        from karat.plots.transitions import distances_plot

        if not self.simulated:
            raise KaratError(
                "Only simulated cutoffs have distributions to draw: markov(judgments, cutoffs='simulated')."
            )
        design, simulated = self.designs[0], max(self.simulated[0], key=lambda candidate: len(candidate.members))
        matrices = [target.matrix for target in design.patterns]
        real = distances(counts_of(design)[simulated.members], matrices, self.settings["strategy"])
        kinds = {}
        for kind in simulated.credible:
            targets = [place for place, target in enumerate(design.patterns) if target.kind == kind]
            groups = zip(simulated.calibration.groups, simulated.calibration.cutoffs, strict=True)
            limits = np.array([limit for group, limit in groups if group[0] in targets and np.isfinite(limit)])
            kinds[kind] = (simulated.credible[kind], simulated.followers[kind], real[:, targets].min(axis=1), limits)
        flagged = pl.Series(design.participants).gather(simulated.members).is_in(self.flagged).to_numpy()
        everyone = counted(self.participants.height, "participant")
        title = f"Answers of {len(self.flagged)} of {everyone} follow a pattern"
        return distances_plot(kinds, flagged, title, width_cm)

    def plot_transitions(self, participants: Sequence[str] | None = None, width_cm: float = 16) -> Figure:
        """The transition matrices of some participants; by default of the first that are flagged.

        >>> import karat
        >>> evidence = markov(karat.datasets.load("crowd"), simulations=500)
        >>> evidence.plot_transitions(["w001", "w017"]).get_suptitle()
        'Which answer follows which, of 2 participants'
        """
        from karat.plots.transitions import transitions_plot

        design = self.designs[0]
        places = {name: place for place, name in enumerate(design.participants.to_list())}
        # Participants may be flagged only by their answers on another scale.
        flagged = [name for name in self.flagged if name in places]
        wanted = list(participants) if participants is not None else (flagged or list(places))[:MOST_MATRICES]
        missing = [name for name in wanted if name not in places]
        if missing or not wanted:
            raise KaratError(f"There is no matrix of {', '.join(missing) or 'nobody'} to draw.")
        matrices = transition_matrices(counts_of(design)[[places[name] for name in wanted]])
        title = f"Which answer follows which, of {counted(len(wanted), 'participant')}"
        return transitions_plot(dict(zip(wanted, matrices, strict=True)), design.levels, title, width_cm)

    def errors_by_trials(
        self, trials: Sequence[int] = TRIALS, simulations: int = 2_000, majority: float | None = None
    ) -> pl.DataFrame:
        """The share of participants following a pattern who would be missed with other numbers of trials like these.

        `majority` is the share of trials to which most give the most frequent answer; by default as in these trials.

        >>> import karat
        >>> evidence = markov(karat.datasets.load("crowd"), simulations=500)
        >>> evidence.errors_by_trials([20, 80], simulations=200).columns
        ['trials', 'kind', 'type_two']
        """
        alpha, strategy, seed = (self.settings[name] for name in ("alpha", "strategy", "seed"))
        return errors_by_trials(self.designs[0], trials, alpha, strategy, seed, simulations, majority)

    def errors_by_balance(self, majorities: Sequence[float] = BALANCES, simulations: int = 2_000) -> pl.DataFrame:
        """The share missed if more, or fewer, trials had the most frequent answer; majorities in per cent.

        >>> import karat
        >>> evidence = markov(karat.datasets.load("crowd"), simulations=500)
        >>> evidence.errors_by_balance([0.5, 0.9], simulations=200)["majority"].unique().sort().to_list()
        [50.0, 90.0]
        """
        if not all(0 < majority < 1 for majority in majorities) or len(majorities) < 2:
            raise KaratError("errors_by_balance needs at least two shares between 0 and 1.")
        usual = [int(np.median(self.designs[0].lengths))]
        return pl.concat(
            self.errors_by_trials(usual, simulations, majority).with_columns(majority=pl.lit(100 * majority))
            for majority in sorted(majorities)
        )


def markov(
    judgments: Judgments,
    cutoffs: Cutoffs = "simulated",
    alpha: float = ALPHA,
    strategy: Strategy = "rows",
    seed: int = 1,
    simulations: int = SIMULATIONS,
    *,
    progress: Progress | None = None,
    executor: Executor = SERIAL,
) -> Markov:
    """The distance of each participant's answers from a pattern; flagged if closer than credible answers would be.

    `score` is the distance from the nearest pattern by the strategy, `threshold` its cutoff. With simulated cutoffs,
    nearest is the pattern with the smallest rank among the simulated credible participants; with published ones, the
    one with the smallest share of its cutoff, and alpha, seed and simulations do not matter. `executor` says where
    cutoffs are simulated (`karat.executors.open_executor`): one task for those who gave about the same number of
    answers.

    >>> import karat
    >>> evidence = markov(karat.datasets.load("crowd"), simulations=2000)
    >>> evidence.participants.filter(pl.col("participant").is_in(["w017", "w040"]))["kind"].to_list()
    ['primary choice', 'repeated pattern']
    """
    settings = {"cutoffs": cutoffs, "alpha": alpha, "strategy": strategy, "seed": seed, "simulations": simulations}
    check_settings(MarkovSettings, cutoffs=cutoffs, strategy=strategy, alpha=alpha)
    check_simulations(alpha, simulations)
    parts = parts_of(judgments, executor, progress)
    tables, places, designs, notes = _designs(parts)
    simulated: tuple[tuple[Simulated, ...], ...] = ()
    if cutoffs == "published":
        notes += fit_for_published(designs, strategy)
    else:
        share = alpha / len(designs)
        check_simulations(share, simulations)
        elsewhere = (parts.executor, parts.progress)
        simulated = tuple(
            tuple(simulate_cutoffs(design, share, strategy, seed, simulations, LEAST, *elsewhere)) for design in designs
        )
        notes += [errors_note(design, runs) for design, runs in zip(designs, simulated, strict=True)]
    bare = [[_without_members(design, run) for run in runs] for design, runs in zip(designs, simulated, strict=False)]
    scales_used = [(place, design.levels) for place, design in zip(places, designs, strict=True)]
    shelves = tables.shelf, parts.shelf("markov", settings)
    near = pl.concat(parts.each(_nearest, (*shelves, scales_used, bare, strategy), name="markov"))
    scales = list(dict.fromkeys(parts.scales.values()))
    agree = [
        who_agree(design, candidates, is_ordered(scales[place])).select("participant", "on")
        for place, design in zip(places, designs if simulated else (), strict=False)
        if (candidates := near.filter(pl.col("on") == place)).height
    ]
    shared = (*shelves, pl.concat([near.clear().select("participant", "on"), *agree]), strategy, len(scales_used) > 1)
    result = parts.judge("markov", _judge, shared, settings, notes=tuple(notes), stored=True)[0]
    if isinstance(result, PartedEvidence):
        return result
    return Markov(result.participants, "markov", result.settings, result.notes, None, tuple(designs), simulated)


def _without_members(design: CutoffDesign, simulated: Simulated) -> tuple[int, int, Simulated]:
    """A simulation for participants with a range of numbers of answers, without these participants."""
    lengths = design.lengths[simulated.members]
    bare = replace(simulated, members=np.empty(0, dtype=np.int64), followers={}, credible={})
    return int(lengths.min()), int(lengths.max()), bare


def _nearest(
    shared: tuple[Shelf, Shelf, list[tuple[int, tuple[str, ...]]], list[list[tuple[int, int, Simulated]]], Strategy],
    number: int,
) -> pl.DataFrame:
    """The participants of a part near a pattern, given the cutoffs; results for all participants stay on the shelf."""
    shelf, results, scales, simulated, strategy = shared
    sequences, tables = shelf.table(PART_TABLE, number), [pl.DataFrame(schema=SHORT | NEAR)]
    for order, (place, levels) in enumerate(scales):
        design = part_design(sequences, place, levels)
        if not len(design.lengths):
            continue
        if simulated:
            fitting = [
                replace(simulation, members=members)
                for least, most, simulation in simulated[order]
                if len(members := np.flatnonzero((design.lengths >= least) & (design.lengths <= most)))
            ]
            nearest = by_simulation(design, tuple(fitting), strategy, len(scales))
        else:
            nearest = by_published(design, strategy)
        labels = {"on": pl.lit(place, pl.Int64), "part": pl.lit(number, pl.Int64), "place": pl.int_range(pl.len())}
        tables.append(nearest.with_columns(**labels))
    together = pl.concat(tables)
    results.put(together, "nearest", number)
    return together.filter("flagged").select("participant", "p", *NEAR)


def _judge(shared: tuple[Shelf, Shelf, pl.DataFrame, Strategy, bool], number: int) -> tuple[pl.DataFrame, None]:
    """The table of the participants of a part; those near a pattern who agree with the others are not flagged."""
    shelf, results, agree, strategy, several = shared
    everyone = shelf.table(PART_TABLE, number).filter(pl.col("scale").is_null()).select("participant")
    nearest = results.table("nearest", number).join(
        agree.with_columns(agrees=pl.lit(True)), on=["participant", "on"], how="left", maintain_order="left"
    )
    spared = pl.col("agrees").fill_null(False)
    kind = pl.when(~spared).then("kind")
    nearest = nearest.with_columns(flagged=pl.col("flagged") & ~spared, agrees=spared, kind=kind)
    return _of_everybody(everyone, nearest, strategy, several=several), None


def _of_everybody(people: pl.DataFrame, nearest: pl.DataFrame, strategy: Strategy, *, several: bool) -> pl.DataFrame:
    """The table of participants, from their results on each scale."""
    nearest = nearest.sort("flagged", "p", descending=[True, False], nulls_last=True, maintain_order=True)
    nearest = nearest.unique("participant", keep="first", maintain_order=True)
    table = people.join(nearest, on="participant", how="left", maintain_order="left")
    message, values = _reasons(strategy, several)
    table = table.with_columns(pl.col("answers").fill_null(0))
    further = ("kind", "akld", "mkld", "p", "target", "answers")
    return verdicts(table, "score", "threshold", pl.col("flagged"), message, values, *further)


def check_simulations(alpha: float, simulations: int) -> None:
    """Raise ScreenError if there are too few simulations to reach alpha, or its share for one of several scales.

    >>> check_simulations(0.05, 19)
    """
    if simulations < 1 or alpha * (simulations + 1) < 1:
        few = {"simulations": simulations, "alpha": alpha, "least": int(np.ceil(1 / alpha))}
        raise ScreenError(Message("markov.few_simulations", few))


@dataclass(frozen=True)
class _OnScale:
    """The answers of a part on one scale."""

    stimuli: pl.DataFrame
    """The keys of the stimuli, in their order."""
    lengths: Ints
    """The number of answers of each participant."""
    counts: NDArray[np.int64]
    """The number of answers to each stimulus by level."""


def _designs(
    parts: AnyParts[AnyEvidence],
) -> tuple[PartTables[AnyEvidence], list[int], list[CutoffDesign], list[Message]]:
    """The tables stored for the parts, the places and designs of the usable scales, and notes."""
    columns = parts.read(0).frame.columns
    check_order(columns, ScreenError, "markov")
    scales, decided = list(dict.fromkeys(parts.scales.values())), parts.stimuli()
    tables, facts = parts.keep("markov", _gather, (scales, decided))
    per_scale: list[tuple[Scale, CutoffDesign | None, list[Message]]] = []
    for place, scale in enumerate(scales):
        with_answers = [part[place] for part in facts if place in part]
        if with_answers and levels_of(scale):
            design = _merge(tables.shelf, place, levels_of(scale), [part.get(place) for part in facts])
            per_scale.append((scale, design, list(decided[isinstance(scale, Choice)].messages)))
        elif with_answers:
            per_scale.append((scale, None, []))
    designs, notes = usable_designs(per_scale, order_messages(columns))
    places = [scales.index(scale) for scale, design, _ in per_scale if any(design is usable for usable in designs)]
    return tables, places, designs, notes


def shown_keys(stimuli: Stimuli, columns: Sequence[str]) -> list[str]:
    """The columns that distinguish stimuli; the same items on other sides are another stimulus.

    >>> import karat
    >>> columns = {"participant": ["p", "q"], "item": ["a", "a"], "left": ["x", "y"], "right": ["y", "x"]}
    >>> choices = karat.Judgments(columns | {"response": ["left", "left"]}, karat.Choice())
    >>> shown_keys(choices.stimuli(choices.scale), choices.frame.columns)
    ['item', 'left', 'right']
    """
    # The sides represent the pair.
    keys = [name for name in stimuli.keys if name not in PAIR and name in columns]
    return [*keys, *(name for name in SHOWN if name in columns and name not in keys)]


def _gather(
    judgments: Judgments, shared: tuple[list[Scale], Mapping[bool, Stimuli]], number: int
) -> tuple[pl.DataFrame, dict[int, _OnScale | None]]:
    """The answers of each participant of a part as numbers, by scale, and everybody once more without a scale."""
    scales, decided = shared
    kind = {"codes": pl.List(pl.Int8), "stimuli": pl.List(pl.Int32)}
    tables = [pl.DataFrame(schema={"participant": pl.String, "scale": pl.Int64, **kind})]
    facts: dict[int, _OnScale | None] = {}
    for scale, rows in by_scale(judgments, presented(answered(judgments))):
        place, levels = scales.index(scale), levels_of(scale)
        facts[place] = None
        if not levels:
            continue
        keys = shown_keys(decided[isinstance(scale, Choice)], rows.columns)
        codes = pl.col("response").replace_strict(list(levels), list(range(len(levels))), return_dtype=pl.Int8)
        plain = rows.select("participant", codes=codes, stimuli=numbered(rows, keys).cast(pl.Int32))
        sequences = plain.group_by("participant", maintain_order=True).agg("codes", "stimuli")
        tables.append(sequences.select("participant", pl.lit(place, pl.Int64).alias("scale"), "codes", "stimuli"))
        design = part_design(tables[-1], place, levels)
        facts[place] = _OnScale(rows.select(keys).unique(maintain_order=True), design.lengths, design.counts())
    nothing = {"scale": pl.lit(None, pl.Int64)} | {name: pl.lit(None, dtype) for name, dtype in kind.items()}
    return pl.concat([*tables, everybody(judgments).with_columns(**nothing)]), facts


def _merge(shelf: Shelf, place: int, levels: tuple[str, ...], facts: Sequence[_OnScale | None]) -> CutoffDesign:
    """The design over all parts: stimuli numbered, counts added up, and the number of answers per participant."""
    present = [part for part in facts if part is not None]
    tables = [part.stimuli for part in present]
    together = numbered(pl.concat(tables), tables[0].columns).to_numpy()
    stimuli = int(together.max()) + 1
    if stimuli > MOST_STIMULI:
        raise ScreenError(Message("markov.many_stimuli", {"stimuli": stimuli, "most": MOST_STIMULI}))
    merged = np.zeros((stimuli, len(levels)), dtype=np.int64)
    numbers, rest = [], together.astype(np.int32)
    for part in facts:
        numbers_here, rest = np.split(rest, [0 if part is None else part.stimuli.height])
        numbers.append(numbers_here)
        if part is not None:
            # Every stimulus has one number within a part, so none is added twice.
            merged[numbers_here] += part.counts
    empty = np.empty(0, dtype=np.int64)
    design = DesignInParts(
        levels, pl.Series([], dtype=pl.String), empty.astype(np.int8), empty,
        np.concatenate([part.lengths for part in present]), merged, shelf, place, tuple(numbers),
        tuple(0 if part is None else len(part.lengths) for part in facts),
    )  # fmt: skip
    return design.whole() if len(facts) == 1 else design


def fit_for_published(designs: list[CutoffDesign], strategy: str) -> list[Message]:
    """The note that the design is far from that of the published cutoffs; raises ScreenError if they cannot be used."""
    if strategy == "minimum":
        raise ScreenError(Message("markov.no_published_minimum"))
    if any(len(design.levels) != 2 for design in designs):
        raise ScreenError(Message("markov.published_for_two"))
    usual = [int(np.median(design.lengths)) for design in designs]
    far = [number for number in usual if not 60 <= number <= 100]
    return [Message("markov.published_length", {"answers": far[0]})] if far else []


def by_published(design: CutoffDesign, strategy: Strategy) -> pl.DataFrame:
    """The results of participants on one scale, by the published cutoffs."""
    counts = counts_of(design)
    distance = distances(counts, [target.matrix for target in design.patterns], strategy)
    limits = np.array([PUBLISHED[target.kind] for target in design.patterns])
    judged = (design.lengths >= LEAST) & ~np.isnan(distance).any(axis=1)
    which = np.where(np.isnan(distance), np.inf, distance / limits).argmin(axis=1)
    score = distance[np.arange(len(distance)), which]
    flagged, p = score <= limits[which], np.full(len(distance), np.nan)
    return _table(design, counts, judged, which, score, limits[which], flagged, p)


def by_simulation(
    design: CutoffDesign, simulated: tuple[Simulated, ...], strategy: Strategy, scales: int
) -> pl.DataFrame:
    """The results of participants on one of this many scales, by its simulations."""
    counts = counts_of(design)
    distance = distances(counts, [target.matrix for target in design.patterns], strategy)
    people = len(distance)
    which = np.zeros(people, dtype=np.int64)
    score, limit, p = np.full(people, np.nan), np.full(people, np.nan), np.full(people, np.nan)
    flagged, judged = np.zeros(people, dtype=bool), np.zeros(people, dtype=bool)
    for simulation in simulated:
        calibration, members = simulation.calibration, simulation.members
        by_group, targets = calibration.grouped(distance[members])
        rank = calibration.ranks(by_group)
        # Of equal ranks, the smallest share of the cutoff is nearest, then the first pattern.
        closeness = np.divide(by_group, calibration.cutoffs, out=np.ones_like(by_group), where=calibration.cutoffs > 0)
        tied = rank <= rank.min(axis=1, keepdims=True)
        group = np.where(tied, closeness, np.inf).argmin(axis=1)
        place = np.arange(len(members))
        which[members], score[members] = targets[place, group], by_group[place, group]
        limit[members] = calibration.cutoffs[group]
        flagged[members] = score[members] < limit[members]
        p[members] = np.minimum(1.0, scales * calibration.p_values(by_group))
        judged[members] = True
    return _table(design, counts, judged, which, score, limit, flagged, p)


def _table(
    design: CutoffDesign,
    counts: NDArray[np.int32],
    judged: NDArray[np.bool_],
    which: Ints,
    score: Floats,
    limit: Floats,
    flagged: NDArray[np.bool_],
    p: Floats,
) -> pl.DataFrame:
    """The results as a table; participants with too few answers have only their number of answers."""
    akld, mkld = np.full(len(which), np.nan), np.full(len(which), np.nan)
    matrices = np.array([target.matrix for target in design.patterns])
    for place in np.unique(which):
        members = np.flatnonzero(which == place)
        for part in parts(len(members), len(design.levels)):
            divergences = row_divergences(counts[members[part]], matrices[[place]])
            akld[members[part]], mkld[members[part]] = average(divergences)[:, 0], minimum(divergences)[:, 0]
    names = pl.Series([target_name(target, design.levels) for target in design.patterns])
    patterns = pl.Series([target.kind for target in design.patterns])
    ways = pl.Series([[design.levels[level] for level in target.way] for target in design.patterns], dtype=SHORT["way"])
    kinds = pl.Series([KINDS.get(target.kind, target.kind) for target in design.patterns])
    has_verdict = pl.Series(judged)
    table = pl.DataFrame(
        {
            "participant": design.participants, "score": score, "threshold": limit, "p": p,
            "scale": pl.repeat(scale_name(design), len(which), eager=True), "target": names.gather(which),
            "pattern": patterns.gather(which), "way": ways.gather(which), "kind": kinds.gather(which), "akld": akld,
            "mkld": mkld, "answers": design.lengths,
            "flagged": pl.Series(flagged) & has_verdict,
        },
        schema=SHORT,
    )  # fmt: skip
    silent = ("score", "threshold", "p", "target", "akld", "mkld")
    table = table.with_columns(pl.when(has_verdict).then(pl.col(name)).alias(name) for name in silent)
    table = table.with_columns(pl.col(pl.Float64).fill_nan(None))
    return table.with_columns(pl.when("flagged").then("kind").alias("kind"))


def _reasons(strategy: Strategy, several: bool) -> tuple[pl.Expr, dict[str, pl.Expr]]:
    """The message about each participant, and its values, without a guess at the reasons."""
    judged = pl.col("target").is_not_null() & pl.col("score").is_not_null()
    flagged = pl.col("pattern").replace_strict(FLAGGED, return_dtype=pl.String)
    nearest = pl.col("pattern").replace_strict(NEAREST, return_dtype=pl.String)
    message = (
        pl.when(~judged).then(pl.lit("markov.few_answers")).when("flagged").then(flagged)
        .when("agrees").then(pl.lit("markov.agrees")).otherwise(nearest)
    )  # fmt: skip
    limit, limited = pl.col("threshold"), judged & pl.col("threshold").is_finite()
    score = pl.when(limit >= 0.1).then(round_beside(pl.col("score"), limit, 2)).otherwise(
        round_beside(pl.col("score"), limit, 4)
    )  # fmt: skip
    cutoff = pl.when(limit >= 0.1).then(limit.round(2)).otherwise(limit.round(4))
    values = {
        "answers": pl.when(~judged).then("answers"), "way": pl.when(judged).then("way"),
        "measure": pl.when(limited).then(pl.lit(MEASURES[strategy])), "score": pl.when(limited).then(score),
        "cutoff": pl.when(limited).then(cutoff), "p": pl.when(judged).then("p"),
        "scale": pl.when(judged).then("scale") if several else pl.lit(None, pl.String),
    }  # fmt: skip
    return message, values


def errors_note(design: CutoffDesign, simulated: tuple[Simulated, ...]) -> Message:
    """The error rates of the cutoffs for the most common number of answers."""
    usual = max(simulated, key=lambda simulation: len(simulation.members))
    balance = zip(design.levels, design.balance().tolist(), strict=True)
    return Message(
        "markov.missed",
        {
            "answers": usual.shortest,
            "missed": [
                Message("markov.missed_kind", {"kind": kind, "share": round(share, 2)})
                for kind, share in usual.missed.items()
            ],
            "balance": [
                Message("markov.majority", {"answer": level, "share": round(share, 2)}) for level, share in balance
            ],
        },
    )


CRITERION = Criterion(
    name="markov",
    title="Transitions between answers",
    asks="whose answers follow a pattern of transitions",
    settings=MarkovSettings,
    computed_by=markov,
    in_tasks=True,
    in_parts=True,
    of_the_study=("seed", "simulations"),
    cites=("ba2024",),
    alternatives=(
        Alternative("all rows, .05", {}, "Ba, Mancenido, Chiou and Pan, first strategy"),
        Alternative("all rows, .01", {"alpha": 0.01}, "strict"),
        Alternative("average, .05", {"strategy": "average"}, "Ba, Mancenido, Chiou and Pan, equation 5"),
        left_out(),
    ),
)
