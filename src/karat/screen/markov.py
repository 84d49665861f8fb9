"""The Markov criterion: whose answers follow a pattern of transitions, whatever is asked.

Ba, Mancenido, Chiou and Pan describe three ways of answering without attention: keeping to one choice, repeating a
pattern, and guessing. Each is a target matrix of transitions from one answer to the next (`karat.models.markov`), and
a participant's observed matrix is compared with each by the Kullback-Leibler divergence of its rows. Answers are taken
in the order of presentation, practice left out; missing answers are passed over. Questions that share a scale make one
sequence, because a pattern runs across the questions of a page. Different scales make sequences of their own, and
alpha is divided by their number. Who gave fewer than ten answers on a scale is not judged on it.

Strategies: "rows", the paper's first and its choice, asks that the divergences of all rows are under the cutoff, so
that mixed matrices are not flagged; "average" asks it of their average (aKLD), "minimum" of the smallest (mKLD).

Cutoffs: "simulated" ones are made for this design (`karat.screen.markov_cutoffs`) and for the strategy, so that a
credible participant is flagged with probability alpha over all patterns tried. "published" are those of the authors'
code for two answers and about 80 trials: 3.367 for one choice, 3.924 for repeating (alternating, or staying), and
0.0281 for the root of the divergence from guessing. They were made as quantiles of the average and are applied to each
row, with no regard to how many patterns are tried; they depend strongly on the trials, and are here to repeat
published counts.

Whoever answers carefully can look like guessing, as the right answers are in random order too: the criterion misses
most guessers (`errors` says how many), and a flag says that the transitions are unusually even, not that nothing was
read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.errors import counted
from karat.judgments import Judgments
from karat.models.markov import Floats, Ints, Strategy, average, distances, minimum, parts, row_divergences
from karat.screen.answer_table import exact, with_stimuli
from karat.screen.evidence import Evidence, ScreenError, everybody
from karat.screen.markov_cutoffs import Design, Simulated, simulate_cutoffs
from karat.screen.markov_tables import (
    LEAST,
    counts_of,
    design_of,
    levels_of,
    looked_at,
    row_table,
    scale_name,
    target_name,
    transition_table,
)
from karat.screen.positions import answered, by_scale
from karat.screen.presentation import order_notes, presented
from karat.study.guessing import p_sentence
from karat.work import HERE, Progress, Work

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALPHA, SIMULATIONS = 0.05, 5_000
PUBLISHED = {
    "primary choice": 3.367109, "stay": 3.924257, "repeated pattern": 3.924257, "random guessing": 0.02810061**2,
}  # fmt: skip
"""Cutoffs of the authors' code for the divergence of a row; for guessing they take its root, here squared."""
KINDS = {"stay": "repeated pattern"}
SHORT = {"participant": pl.String, "score": pl.Float64, "threshold": pl.Float64, "p": pl.Float64, "scale": pl.String,
         "target": pl.String, "kind": pl.String, "akld": pl.Float64, "mkld": pl.Float64, "answers": pl.Int64,
         "flagged": pl.Boolean}  # fmt: skip


@dataclass(frozen=True)
class Markov(Evidence):
    """The evidence of the Markov criterion.

    Further columns of `participants`: kind (of the pattern, where flagged), target (the nearest), akld and mkld from
    it, p (over all patterns; none with published cutoffs), answers.
    """

    designs: tuple[Design, ...] = ()
    """Answers and stimuli on each scale."""
    simulated: tuple[tuple[Simulated, ...], ...] = ()
    """The simulations for each scale, one for each number of answers; none with published cutoffs."""

    @cached_property
    def rows(self) -> pl.DataFrame:
        """The divergence of every row of every participant: participant, target, state, kld; scale where several."""
        return self._tables(row_table)

    @cached_property
    def transitions(self) -> pl.DataFrame:
        """The observed transitions: participant, state, next, count, share; scale where there are several."""
        return self._tables(transition_table)

    def _tables(self, table: Callable[[Design], pl.DataFrame]) -> pl.DataFrame:
        made = []
        for design in self.designs:
            one = table(design)
            made.append(one.with_columns(scale=pl.lit(scale_name(design))) if len(self.designs) > 1 else one)
        return pl.concat(made)

    @cached_property
    def cutoffs(self) -> pl.DataFrame:
        """The cutoff of each pattern (those round several answers share one) by number of answers."""
        made = []
        for design, simulations in zip(self.designs, self.simulated, strict=False):
            for one in simulations:
                for group, cutoff in zip(one.calibration.groups, one.calibration.cutoffs.tolist(), strict=True):
                    first = design.patterns[group[0]]
                    name = "round several answers" if len(group) > 1 else target_name(first, design.levels)
                    made.append((scale_name(design), one.shortest, one.longest, len(one.members), name, cutoff))
        schema = {"scale": pl.String, "answers_from": pl.Int64, "answers_to": pl.Int64, "participants": pl.Int64,
                  "target": pl.String, "cutoff": pl.Float64}  # fmt: skip
        return pl.DataFrame(made, schema=schema, orient="row")

    @cached_property
    def errors(self) -> pl.DataFrame:
        """The share of simulated participants of each kind that the cutoffs miss (type II error)."""
        made = [
            (scale_name(design), one.shortest, one.longest, kind, missed)
            for design, simulations in zip(self.designs, self.simulated, strict=False)
            for one in simulations
            for kind, missed in one.missed.items()
        ]
        schema = {"scale": pl.String, "answers_from": pl.Int64, "answers_to": pl.Int64, "kind": pl.String,
                  "type_two": pl.Float64}  # fmt: skip
        return pl.DataFrame(made, schema=schema, orient="row")

    def plot(self, width_cm: float = 16) -> Figure:
        """Distances of simulated and real participants from each kind of pattern (`karat.screen.markov_figure`)."""
        from karat.screen.markov_figure import distance_figure

        return distance_figure(self, width_cm)


def markov(
    judgments: Judgments,
    cutoffs: Literal["simulated", "published"] = "simulated",
    alpha: float = ALPHA,
    strategy: Strategy = "rows",
    seed: int = 1,
    simulations: int = SIMULATIONS,
    *,
    progress: Progress | None = None,
    work: Work = HERE,
) -> Markov:
    """How near each participant's answers are to a pattern; flagged where nearer than credible answers would be.

    `score` is the distance from the nearest pattern by the strategy, `threshold` its cutoff. With simulated cutoffs,
    nearest is the pattern with the smallest rank among the simulated credible participants; with published ones, the
    one with the smallest share of its cutoff, and alpha, seed and simulations do not matter. `work` says where cutoffs
    are simulated (`karat.work.opened`): one task for those who gave about the same number of answers.

    >>> import karat
    >>> evidence = markov(karat.datasets.load("crowd"), simulations=2000)
    >>> evidence.participants.filter(pl.col("participant").is_in(["w017", "w040"]))["kind"].to_list()
    ['primary choice', 'repeated pattern']
    """
    check_settings(cutoffs, alpha, strategy, simulations)
    designs, notes = _designs(judgments)
    if cutoffs == "published":
        notes += fit_for_published(designs, strategy)
        tables = [by_published(design, strategy) for design in designs]
        simulated: tuple[tuple[Simulated, ...], ...] = ()
    else:
        check_simulations(alpha / len(designs), simulations)
        simulated = tuple(
            tuple(simulate_cutoffs(design, alpha / len(designs), strategy, seed, simulations, LEAST, work, progress))
            for design in designs
        )
        tables = [
            by_simulation(design, made, strategy, len(designs)) for design, made in zip(designs, simulated, strict=True)
        ]
        notes += [errors_note(design, made) for design, made in zip(designs, simulated, strict=True)]
    participants = verdicts(everybody(judgments), tables, strategy, several=len(designs) > 1)
    settings = {"cutoffs": cutoffs, "alpha": alpha, "strategy": strategy, "seed": seed, "simulations": simulations}
    return Markov(participants, "markov", settings, tuple(notes), None, tuple(designs), simulated)


def verdicts(people: pl.DataFrame, tables: list[pl.DataFrame], strategy: Strategy, *, several: bool) -> pl.DataFrame:
    """The table of participants, given what was found of them on each scale."""
    nearest = pl.concat([pl.DataFrame(schema=SHORT), *tables])
    nearest = nearest.sort("flagged", "p", descending=[True, False], nulls_last=True, maintain_order=True)
    nearest = nearest.unique("participant", keep="first", maintain_order=True)
    table = people.join(nearest, on="participant", how="left", maintain_order="left")
    told = _reasons(table, strategy, several)
    return table.select(
        "participant", "score", "threshold", pl.col("flagged").fill_null(False), told,
        "kind", "akld", "mkld", "p", "target", pl.col("answers").fill_null(0),
    )  # fmt: skip


def check_settings(cutoffs: str, alpha: float, strategy: str, simulations: int) -> None:
    """Whether the settings can be used; ScreenError says why not."""
    if cutoffs not in ("simulated", "published") or strategy not in ("rows", "average", "minimum"):
        raise ScreenError("markov: cutoffs are simulated or published, and strategy is rows, average or minimum.")
    if not 0 < alpha < 1:
        raise ScreenError(f"markov: alpha must be a probability between 0 and 1, got {alpha}.")
    check_simulations(alpha, simulations)


def check_simulations(alpha: float, simulations: int) -> None:
    """Whether there are so many simulations that alpha, or its share for one of several scales, can be reached.

    >>> check_simulations(0.05, 19)
    """
    if simulations < 1 or alpha * (simulations + 1) < 1:
        raise ScreenError(
            f"markov: with {counted(simulations, 'simulation')} nobody could be flagged at alpha = {alpha:g}, which is "
            f"divided by the number of scales; ask for at least {int(np.ceil(1 / alpha))}, better many more."
        )


def _designs(judgments: Judgments) -> tuple[list[Design], list[str]]:
    """The sequences of answers on each scale that has few enough answers for transitions, and notes."""
    rows = answered(judgments)
    found = [
        (scale, *(_design(part, levels_of(scale)) if levels_of(scale) else (None, [])))
        for scale, part in by_scale(judgments, presented(rows))
    ]
    return looked_at(found, order_notes(rows.columns))


def as_shown(rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The rows with their stimuli, which differ where the same is shown on other sides; and notes.

    >>> rows = pl.DataFrame({"item": ["a", "a"], "left": ["x", "y"], "participant": ["p", "q"], "response": ["l", "l"]})
    >>> as_shown(rows)[0]["_stimulus"].to_list()
    [0, 1]
    """
    return with_stimuli(rows, tuple(name for name in ("left", "right", "polarity") if name in rows.columns))


def _design(part: pl.DataFrame, levels: tuple[str, ...]) -> tuple[Design, list[str]]:
    part, notes = as_shown(part)
    return design_of(part, part["_stimulus"], levels), notes


def fit_for_published(designs: list[Design], strategy: str) -> list[str]:
    """A note where the published cutoffs are far from their design; ScreenError where they cannot be used."""
    if strategy == "minimum":
        raise ScreenError("markov: there is no published cutoff for the minimum; use rows or average, or simulate.")
    if any(len(design.levels) != 2 for design in designs):
        raise ScreenError("markov: the published cutoffs are for two answers; use the simulated ones.")
    told = [int(np.median(design.lengths)) for design in designs]
    far = [number for number in told if not 60 <= number <= 100]
    return [f"The published cutoffs were made for 80 trials, and here there are about {far[0]}."] if far else []


def by_published(design: Design, strategy: Strategy) -> pl.DataFrame:
    """What was found of everybody who answered on one scale, by the published cutoffs."""
    counts = counts_of(design)
    found = distances(counts, [target.matrix for target in design.patterns], strategy)
    limits = np.array([PUBLISHED[target.kind] for target in design.patterns])
    judged = (design.lengths >= LEAST) & ~np.isnan(found).any(axis=1)
    which = np.where(np.isnan(found), np.inf, found / limits).argmin(axis=1)
    score = found[np.arange(len(found)), which]
    flagged, p = score <= limits[which], np.full(len(found), np.nan)
    return _table(design, counts, judged, which, score, limits[which], flagged, p)


def by_simulation(design: Design, simulated: tuple[Simulated, ...], strategy: Strategy, scales: int) -> pl.DataFrame:
    """What was found of everybody who answered on one of so many scales, by the simulations for it."""
    counts = counts_of(design)
    found = distances(counts, [target.matrix for target in design.patterns], strategy)
    people = len(found)
    which = np.zeros(people, dtype=np.int64)
    score, limit, p = np.full(people, np.nan), np.full(people, np.nan), np.full(people, np.nan)
    flagged, judged = np.zeros(people, dtype=bool), np.zeros(people, dtype=bool)
    for one in simulated:
        calibration, members = one.calibration, one.members
        by_group, targets = calibration.grouped(found[members])
        rank = calibration.ranks(by_group)
        # Of equal ranks the one that is the smallest share of its cutoff is nearer, then the first.
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
    design: Design,
    counts: NDArray[np.int32],
    judged: NDArray[np.bool_],
    which: Ints,
    score: Floats,
    limit: Floats,
    flagged: NDArray[np.bool_],
    p: Floats,
) -> pl.DataFrame:
    """What was found of those who gave enough answers; nothing but the number of answers of the others."""
    akld, mkld = np.full(len(which), np.nan), np.full(len(which), np.nan)
    matrices = np.array([target.matrix for target in design.patterns])
    for place in np.unique(which):
        members = np.flatnonzero(which == place)
        for part in parts(len(members), len(design.levels)):
            own = row_divergences(counts[members[part]], matrices[[place]])
            akld[members[part]], mkld[members[part]] = average(own)[:, 0], minimum(own)[:, 0]
    names = pl.Series([target_name(target, design.levels) for target in design.patterns])
    kinds = pl.Series([KINDS.get(target.kind, target.kind) for target in design.patterns])
    known = pl.Series(judged)
    table = pl.DataFrame(
        {
            "participant": design.participants, "score": score, "threshold": limit, "p": p,
            "scale": pl.repeat(scale_name(design), len(which), eager=True), "target": names.gather(which),
            "kind": kinds.gather(which), "akld": akld, "mkld": mkld, "answers": design.lengths,
            "flagged": pl.Series(flagged) & known,
        },
        schema=SHORT,
    )  # fmt: skip
    silent = ("score", "threshold", "p", "target", "akld", "mkld")
    table = table.with_columns(pl.when(known).then(pl.col(name)).alias(name) for name in silent)
    table = table.with_columns(pl.col(pl.Float64).fill_nan(None))
    return table.with_columns(pl.when("flagged").then("kind").alias("kind"))


SAID = {"always": "answers keep to one choice", "round": "answers go {target}", "staying": "answers stay as they were",
        "evenly": "every answer is equally likely after every other"}  # fmt: skip


def _reasons(table: pl.DataFrame, strategy: Strategy, several: bool) -> pl.Series:
    """What was found of everybody in words; many participants of a large crowd share theirs."""
    keys = ["target", "score", "threshold", "p", "scale", "flagged", "answers"]
    distinct = table.select(keys).unique()
    told = [_reason(row, strategy, several) for row in distinct.iter_rows(named=True)]
    distinct = distinct.with_columns(pl.Series("reason", told, pl.String))
    return table.join(distinct, on=keys, how="left", nulls_equal=True, maintain_order="left")["reason"]


def _reason(row: dict[str, object], strategy: Strategy, several: bool) -> str:
    """What was found in words; no word on why."""
    target, score, limit, p = row["target"], row["score"], row["threshold"], row["p"]
    if not isinstance(target, str) or not isinstance(score, float):
        number = row["answers"] if isinstance(row["answers"], int) else 0
        return f"{counted(number, 'answer')}: too few for transitions"
    measure = {"rows": "largest row divergence", "average": "average divergence", "minimum": "smallest divergence"}
    chance = f", {p_sentence(p)}" if isinstance(p, float) else ""
    on = f" (answers from {row['scale']})" if several else ""
    if not isinstance(limit, float) or np.isinf(limit):
        return f"no pattern: nearest to {target}{chance}{on}"
    digits = 2 if limit >= 0.1 else 4
    side = "under" if row["flagged"] else "not under"
    beside = f"{measure[strategy]} {exact(score, limit, digits)}, {side} {exact(limit, None, digits)}{chance}{on}"
    if not row["flagged"]:
        return f"no pattern: nearest to {target}, {beside}"
    first = target.split()[0]
    what = SAID[first].format(target=target)
    return f"{what} ({target.removeprefix('always ')}): {beside}" if first == "always" else f"{what}: {beside}"


def errors_note(design: Design, simulated: tuple[Simulated, ...]) -> str:
    """What the cutoffs miss, for the number of answers that most people gave."""
    usual = max(simulated, key=lambda one: len(one.members))
    missed = ", ".join(f"{kind} {100 * share:.0f} %" for kind, share in usual.missed.items())
    balance = ", ".join(
        f"{level} {100 * share:.0f} %" for level, share in zip(design.levels, design.balance(), strict=True)
    )
    return (
        f"By simulation with {usual.shortest:,} answers, the cutoffs miss of those who follow a pattern: {missed}. "
        f"Majority answers: {balance}."
    )
