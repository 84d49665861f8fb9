"""Agreement: how much participants say the same about the same stimuli.

For each question the coefficients that its scale admits, each with a bootstrap interval over participants:

    Fleiss' kappa                      labels, choices, yes or no, ratings     `karat.models.agreement`
    Krippendorff's alpha (nominal)     the same                                `karat.models.krippendorff`
    Krippendorff's alpha (ordinal)     ratings
    Krippendorff's alpha (interval)    ratings, sliders, magnitudes
    ICC(1), ICC(A,1), ICC(C,1)         yes or no, ratings, sliders, magnitudes `karat.models.symmetric_sums`
    ICC(1,k), ICC(A,k), ICC(C,k)       the same, for means of k answers
    split-half                         the same, and choices                   `karat.models.split_half`

The split-half reliability is that of the means of stimuli, stepped up after Spearman and Brown. Missing answers are
allowed everywhere; k is the harmonic mean of the numbers of answers to a stimulus. Participants are drawn again and
stimuli stay: an interval is about other participants of the same kind who judge the same stimuli. Two copies of a
participant are never compared with each other (`karat.models.resampling`). In simulations of 30 participants and 40
items, intervals of 95 % held the true kappa, alpha and ICC in 90 to 94 % of studies; those of split halves are wider
than they need be, since each sample is halved only a few times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from karat.errors import counted
from karat.judgments import Judgments
from karat.jupyter import Shown
from karat.measure.errors import MeasureError
from karat.measure.rated import Floats, Rated, rated
from karat.measure.texts import with_interval
from karat.models.agreement import fleiss_kappa
from karat.models.krippendorff import Level, krippendorff_alpha, resampled_kappa
from karat.models.resampling import percentile_interval, resamples
from karat.models.split_half import split_half
from karat.models.symmetric_sums import Components, components
from karat.scales import Choice, Nominal, Ordinal
from karat.work import HERE, Work, as_map

SPLITS = 200
WORK = 250_000_000
"""How many answers may be summed for the split halves of all bootstrap samples together."""
SCHEMA: dict[str, Any] = {
    "question": pl.String, "coefficient": pl.String, "estimate": pl.Float64, "lower": pl.Float64, "upper": pl.Float64,
    "stimuli": pl.Int64, "participants": pl.Int64, "answers": pl.Int64,
}  # fmt: skip
KAPPA = "Fleiss' kappa"
ALPHA = "Krippendorff's alpha"
HALVES = "split-half"


@dataclass(frozen=True)
class Agreement(Shown):
    """Coefficients of agreement with their intervals, by question."""

    coefficients: pl.DataFrame
    """question, coefficient, estimate, lower, upper, stimuli, participants, answers."""
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def table(self) -> pl.DataFrame:
        """The coefficients."""
        return self.coefficients

    def of(self, coefficient: str, question: str = "") -> dict[str, Any]:
        """One coefficient of one question: estimate, lower, upper and what it rests on."""
        found = self.coefficients.filter(pl.col("coefficient") == coefficient, pl.col("question") == question)
        if not found.height:
            known = ", ".join(self.coefficients["coefficient"].unique(maintain_order=True).to_list())
            raise MeasureError(
                f"agreement: there is no {coefficient} for the question {question!r}; there are {known}."
            )
        return found.row(0, named=True)

    def __str__(self) -> str:
        told = []
        for (question,), rows in self.coefficients.group_by("question", maintain_order=True):
            own = {row["coefficient"]: row for row in rows.to_dicts()}
            best = next(
                name for name in (f"{ALPHA} (ordinal)", f"{ALPHA} (interval)", f"{ALPHA} (nominal)") if name in own
            )
            first = own[best]
            size = f"{counted(first['participants'], 'participant')}, {first['stimuli']:,} stimuli"
            text = f"{best} {with_interval(first['estimate'], first['lower'], first['upper'])} ({size})"
            if HALVES in own:
                half = own[HALVES]
                told_half = with_interval(half["estimate"], half["lower"], half["upper"])
                text += f"; the means of stimuli have a split-half reliability of {told_half}"
            told.append(f"{question}: {text}." if question else f"{text}.")
        return "\n".join(told)


def agreement(
    judgments: Judgments,
    functions: Sequence[str] = ("test",),
    conditions: Sequence[str] | None = None,
    samples: int = 1000,
    level: float = 0.95,
    seed: int = 1,
    work: Work = HERE,
) -> Agreement:
    """The coefficients of agreement that the scale admits, with bootstrap intervals over participants.

    `conditions` names the columns that, besides item and question, tell stimuli apart; by default those of the design.
    `samples` is the number of bootstrap samples, 0 for none; `work` says where they are computed (`karat.work.opened`).

    >>> import karat
    >>> print(agreement(karat.datasets.load("crowd"), samples=200))
    Krippendorff's alpha (nominal) .38 [.33, .43] (120 participants, 80 stimuli); ...
    """
    check_bootstrap("agreement", samples, level)
    rows: list[tuple[Any, ...]] = []
    notes: list[str] = []
    for one in rated(judgments, "agreement", functions, conditions):
        about = f"{one.question}: " if one.question else ""
        notes += [about + note for note in one.notes]
        counts = np.bincount(one.stimulus)
        if len(one.people) < 2 or not (counts > 1).any():
            raise MeasureError(
                f"agreement: {about}no stimulus was judged by two participants. "
                "Say conditions=[] if columns tell apart what should be one stimulus."
            )
        alone = int((counts == 1).sum())
        notes += [f"{about}{alone:,} stimuli with a single answer have no pair of participants."] if alone else []
        sizes = (one.stimuli.height, len(one.people), one.rows.height)
        drawn = resamples(len(one.people), samples, seed) if samples else None
        many = _samples(one, drawn, seed, work)
        for name, coefficient in _coefficients(one, seed):
            ends = (np.nan, np.nan) if drawn is None else percentile_interval(many[name], level)
            rows.append((one.question, name, float(coefficient(None)[0]), *ends, *sizes))
    settings = {"functions": tuple(functions), "samples": samples, "level": level, "seed": seed}
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))
    return Agreement(table, settings, tuple(dict.fromkeys(notes)))


Coefficient = Callable[[Floats | None], Floats]
"""The coefficient for each column of participants' weights; without weights, everybody counts once."""


def _samples(one: Rated, drawn: Floats | None, seed: int, work: Work) -> dict[str, Floats]:
    """Every coefficient of every bootstrap sample."""
    if drawn is None:
        return {}
    parts = work.map(_some_samples, (one, drawn), in_columns(drawn), name="agreement")
    found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    if one.has_numbers:
        mapper = as_map(work, name="split halves")
        found[HALVES] = split_half(one.stimulus, one.rater, one.value, splits(one, drawn), drawn, seed, mapper)
    return found


def _some_samples(about: tuple[Rated, Floats], columns: tuple[int, int]) -> dict[str, Floats]:
    """Every coefficient of some samples, but that of split halves, which has random numbers of its own."""
    one, drawn = about
    some = drawn[:, slice(*columns)]
    return {name: coefficient(some) for name, coefficient in _coefficients(one, 0) if name != HALVES}


def in_columns(drawn: Floats, width: int = 50) -> list[tuple[int, int]]:
    """Columns of weights by their first and last, so many together whoever computes them, and never one alone.

    >>> in_columns(np.ones((2, 101)))
    [(0, 50), (50, 101)]
    """
    starts = list(range(0, max(drawn.shape[1] - 1, 1), width))
    return list(zip(starts, [*starts[1:], drawn.shape[1]], strict=True))


def _coefficients(one: Rated, seed: int) -> Iterator[tuple[str, Coefficient]]:
    """The coefficients that a scale admits."""
    stimulus, rater = one.stimulus, one.rater
    if one.levels:
        category = one.category
        yield (
            KAPPA,
            lambda drawn: (
                np.array([fleiss_kappa(stimulus, category)])
                if drawn is None
                else resampled_kappa(stimulus, rater, category, drawn)
            ),
        )
    levels: dict[Level, bool] = {
        "nominal": bool(one.levels),
        "ordinal": isinstance(one.scale, Ordinal),
        "interval": not one.levels or isinstance(one.scale, Ordinal),
    }
    values = one.value if one.has_numbers else one.category
    for kind in (kind for kind, admitted in levels.items() if admitted):
        of = one.category if kind == "nominal" else values
        yield f"{ALPHA} ({kind})", partial(krippendorff_alpha, stimulus, rater, of, kind)
    if not isinstance(one.scale, Nominal | Choice):
        yield from _correlations(one)
    if one.has_numbers:
        yield HALVES, lambda drawn: split_half(stimulus, rater, values, splits(one, drawn), drawn, seed)


def _correlations(one: Rated) -> Iterator[tuple[str, Coefficient]]:
    """The intraclass correlations of single answers and of means."""
    known: dict[bool, Components] = {}

    def parts(drawn: Floats | None) -> Components:
        if (drawn is None) not in known:
            known[drawn is None] = components(one.stimulus, one.rater, one.value, drawn)
        return known[drawn is None]

    k = answers_a_stimulus(one)
    yield "ICC(1)", lambda drawn: parts(drawn).icc_one_way()
    yield "ICC(A,1)", lambda drawn: parts(drawn).icc_agreement()
    yield "ICC(C,1)", lambda drawn: parts(drawn).icc_consistency()
    yield "ICC(1,k)", lambda drawn: parts(drawn).icc_one_way(k)
    yield "ICC(A,k)", lambda drawn: parts(drawn).icc_agreement(k)
    yield "ICC(C,k)", lambda drawn: parts(drawn).icc_consistency(k)


def answers_a_stimulus(one: Rated) -> float:
    """The harmonic mean of the numbers of answers to each stimulus: the k of means of k answers."""
    counts = np.bincount(one.stimulus)
    return float(1 / np.mean(1 / counts))


def splits(one: Rated, drawn: Floats | None) -> int:
    """Many splits for the estimate, a few for each bootstrap sample, fewer where there are very many answers."""
    if drawn is None:
        return SPLITS
    return int(np.clip(WORK // (one.rows.height * drawn.shape[1]), 1, 25))


def check_bootstrap(measure: str, samples: int, level: float) -> None:
    """Refuse settings that make no interval."""
    if samples < 0 or not 0 < level < 1:
        raise MeasureError(
            f"{measure}: samples must be 0 or more and level between 0 and 1, got {samples} and {level}."
        )
