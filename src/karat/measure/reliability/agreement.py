"""Agreement: how similar the answers of participants to the same stimuli are.

For each question the coefficients that its scale allows, each with a bootstrap interval over participants:

    Fleiss' kappa                      labels, choices, yes or no, ratings     `karat.models.agreement`
    Cohen's kappa, Gwet's AC1          the same, of all pairs of participants
    Cohen's weighted kappa             ratings, with quadratic weights
    Krippendorff's alpha (nominal)     labels, choices, yes or no, ratings     `karat.models.agreement`
    Krippendorff's alpha (ordinal)     ratings
    Krippendorff's alpha (interval)    ratings, sliders, magnitudes
    ICC(1), ICC(A,1), ICC(C,1)         yes or no, ratings, sliders, magnitudes `karat.models.resampling`
    ICC(1,k), ICC(A,k), ICC(C,k)       the same, for means of k answers
    ICC(A,1) by REML and so on         the same if cells are missing, by a mixed model, without an interval
    split-half                         the same, and choices                   `karat.models.split_half`

The split-half reliability is that of the means of stimuli, stepped up after Spearman and Brown. Missing answers are
allowed everywhere; k is the harmonic mean of the numbers of answers to a stimulus, and the notes state it. Participants
are resampled and stimuli are fixed: an interval is about other participants of the same kind with the same stimuli. Two
copies of a participant are never compared with each other (`karat.models.resampling`). In simulations of 30
participants and 40 items, 95 % intervals contained the true kappa, alpha and ICC in 90 to 94 % of studies; those of
split halves are wider than necessary, because each sample is halved only a few times.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import polars as pl

from karat.executors import SERIAL, Executor, as_map
from karat.judgments import Judgments
from karat.judgments.scales import Choice, Nominal, Ordinal
from karat.measure.rated import Rated, rated
from karat.measure.result import (
    BriefResult,
    MeasureError,
    PlotColumns,
    about_question,
    check_level,
    schema_of,
    table_of,
)
from karat.messages import Message, check_number
from karat.models.agreement import Level, krippendorff_alpha, pair_agreement, resampled_kappa
from karat.models.glrm import fit_mixed, random_term
from karat.models.resampling import Components, components, interval_around, resamples
from karat.models.split_half import split_half
from karat.types import Floats

SPLITS = 200
LEVEL = 0.95
WORK = 250_000_000
"""The most answers that are summed for the split halves of all bootstrap samples together."""
SCHEMA = schema_of("question:s coefficient:s estimate lower upper stimuli:i participants:i answers:i")
KAPPA = "Fleiss' kappa"
COHEN, WEIGHTED, GWET = "Cohen's kappa", "Cohen's weighted kappa", "Gwet's AC1"
MOST_REML = 100_000
"""The most answers to which the mixed model of the intraclass correlations is fitted."""
ALPHA = "Krippendorff's alpha"
HALVES = "split-half"


@dataclass(frozen=True)
class Agreement(BriefResult):
    """Coefficients of agreement with their intervals, by question."""

    coefficients: pl.DataFrame
    """question, coefficient, estimate, lower, upper, stimuli, participants, answers."""
    points: ClassVar = PlotColumns(("question", "coefficient"), axis="coefficient")
    files: ClassVar = {"agreement": "coefficients"}
    between: ClassVar = "\n"

    def of(self, coefficient: str, question: str = "") -> dict[str, Any]:
        """One coefficient of one question: estimate, lower, upper and the numbers of stimuli, participants, answers."""
        rows = self.coefficients.filter(pl.col("coefficient") == coefficient, pl.col("question") == question)
        if not rows.height:
            coefficients = self.coefficients["coefficient"].unique(maintain_order=True).to_list()
            about = {"coefficient": coefficient, "question": question or None, "known": coefficients}
            raise MeasureError(Message("agreement.unknown_coefficient", about))
        return rows.row(0, named=True)

    @property
    def summary(self) -> tuple[Message, ...]:
        """Krippendorff's alpha and the split-half reliability of each question."""
        messages = []
        for _, rows in self.coefficients.group_by("question", maintain_order=True):
            by_name = {row["coefficient"]: row for row in rows.to_dicts()}
            alphas = (f"{ALPHA} ({kind})" for kind in ("ordinal", "interval", "nominal"))
            best = next(name for name in alphas if name in by_name)
            messages += [self._message(by_name[name]) for name in (best, HALVES) if name in by_name]
        return tuple(messages)

    def _message(self, row: dict[str, Any]) -> Message:
        """One coefficient with its interval, or that it is not defined."""
        about = {"question": row["question"] or None, "coefficient": row["coefficient"]}
        if row["estimate"] is None:
            return Message("agreement.undefined", about)
        numbers = {name: row[name] for name in ("estimate", "lower", "upper", "participants", "stimuli")}
        values = about | numbers | {"level": self.settings.get("level", LEVEL)}
        code = "agreement.split_half" if row["coefficient"] == HALVES else "agreement.alpha"
        return Message(code, values)


def agreement(
    judgments: Judgments,
    functions: Sequence[str] = ("test",),
    conditions: Sequence[str] | None = None,
    samples: int = 1000,
    level: float = 0.95,
    seed: int = 1,
    *,
    executor: Executor = SERIAL,
) -> Agreement:
    """The coefficients of agreement that the scale allows, with bootstrap intervals over participants.

    `conditions` names the columns that, besides item and question, distinguish stimuli; by default those of the design.
    `samples` is the number of bootstrap samples, 0 for none; `executor` says where they are computed
    (`karat.executors.open_executor`).

    >>> import karat
    >>> print(agreement(karat.datasets.load("crowd"), samples=200))
    Krippendorff's alpha (nominal) is .38 (95 % interval .33 to .43) for 120 participants and 80 stimuli.
    The split-half reliability of the means of stimuli is ...
    """
    check_bootstrap(samples, level)
    rows: list[tuple[Any, ...]] = []
    notes: list[Message] = []
    for answers in rated(judgments, "agreement", functions, conditions):
        notes += about_question(answers.question, answers.notes)
        counts = np.bincount(answers.stimulus)
        defined = len(answers.people) > 1 and answers.stimuli.height > 1
        if defined and not (counts > 1).any():
            raise MeasureError(Message("agreement.no_shared_stimulus", {"question": answers.question or None}))
        alone = int((counts == 1).sum())
        if alone:
            notes += about_question(answers.question, [Message("agreement.single_answers", {"n": alone})])
        sizes = (answers.stimuli.height, len(answers.people), answers.rows.height)
        weights, few = resampled_people(answers, samples if defined else 0, seed)
        notes += few
        many = _samples(answers, weights, seed, executor)
        for name, coefficient in _coefficients(answers, seed):
            # With one stimulus or one participant no coefficient is defined, whatever its formula gives.
            estimate = float(np.clip(coefficient(None)[0], -1.0, 1.0)) if defined else np.nan
            ends = interval_around(estimate, np.clip(many[name], -1.0, 1.0), level) if many else (np.nan, np.nan)
            rows.append((answers.question, name, estimate, *ends, *sizes))
        rows += [
            (answers.question, name, value, np.nan, np.nan, *sizes) for name, value in _by_reml(answers) if defined
        ]
        if not isinstance(answers.scale, Nominal | Choice):
            notes += about_question(answers.question, [Message("agreement.k", {"k": answers_a_stimulus(answers)})])
            notes += unequal_answers(answers)
    settings = {"functions": tuple(functions), "samples": samples, "level": level, "seed": seed}
    table = table_of(rows, SCHEMA)
    return Agreement(table, settings=settings, notes=tuple(dict.fromkeys(notes)))


Coefficient = Callable[[Floats | None], Floats]
"""The coefficient for each column of participants' weights; without weights, each participant counts once."""


def _samples(answers: Rated, weights: Floats | None, seed: int, executor: Executor) -> dict[str, Floats]:
    """Every coefficient of every bootstrap sample; empty without samples."""
    if weights is None:
        return {}
    parts = executor.map(_some_samples, (answers, weights), in_columns(weights), name="agreement")
    samples = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    if has_halves(answers):
        mapper = as_map(executor, name="split halves")
        samples[HALVES] = split_half(
            answers.stimulus, answers.rater, answers.value, splits(answers, weights), weights, seed, mapper
        )
    return samples


def _some_samples(about: tuple[Rated, Floats], columns: tuple[int, int]) -> dict[str, Floats]:
    """Every coefficient of some samples except that of split halves, which has its own random numbers."""
    answers, weights = about
    some = weights[:, slice(*columns)]
    return {name: coefficient(some) for name, coefficient in _coefficients(answers, 0) if name != HALVES}


def in_columns(drawn: Floats, width: int = 50) -> list[tuple[int, int]]:
    """Consecutive columns of weights as first and end, in chunks of the same width on all machines, never one alone.

    >>> in_columns(np.ones((2, 101)))
    [(0, 50), (50, 101)]
    """
    starts = list(range(0, max(drawn.shape[1] - 1, 1), width))
    return list(zip(starts, [*starts[1:], drawn.shape[1]], strict=True))


def _coefficients(answers: Rated, seed: int) -> Iterator[tuple[str, Coefficient]]:
    """The coefficients that a scale allows."""
    stimulus, rater = answers.stimulus, answers.rater
    if answers.levels:
        pairs = partial(pair_agreement, stimulus, rater, answers.category)
        yield KAPPA, partial(resampled_kappa, stimulus, rater, answers.category)
        yield COHEN, partial(pairs, "cohen", False)
        if isinstance(answers.scale, Ordinal):
            yield WEIGHTED, partial(pairs, "cohen", True)
        yield GWET, partial(pairs, "gwet", False)
    levels: dict[Level, bool] = {
        "nominal": bool(answers.levels),
        "ordinal": isinstance(answers.scale, Ordinal),
        "interval": not answers.levels or isinstance(answers.scale, Ordinal),
    }
    values = answers.value if answers.has_numbers else answers.category
    for kind in (kind for kind, admitted in levels.items() if admitted):
        of = answers.category if kind == "nominal" else values
        yield f"{ALPHA} ({kind})", partial(krippendorff_alpha, stimulus, rater, of, kind)
    if not isinstance(answers.scale, Nominal | Choice):
        yield from _correlations(answers)
    if has_halves(answers):
        yield HALVES, lambda weights: split_half(stimulus, rater, values, splits(answers, weights), weights, seed)


def _by_reml(answers: Rated) -> list[tuple[str, float]]:
    """Intraclass correlations from the variances of a mixed model, unless each participant rated each stimulus once."""
    complete = answers.rows.height == answers.stimuli.height * len(answers.people)
    if complete or isinstance(answers.scale, Nominal | Choice) or answers.rows.height > MOST_REML:
        return []
    terms = [random_term("stimulus", answers.stimulus), random_term("rater", answers.rater)]
    ones = np.ones((answers.rows.height, 1))
    try:
        fit = fit_mixed(answers.value, ones, ["(Intercept)"], terms, family="gaussian", reml=True)
    except (ValueError, ArithmeticError):
        # Such as a residual variance of zero, if all agree.
        return []
    if not fit.converged:
        return []
    stimuli, raters = (float(fit.covariances[group][0, 0]) for group in ("stimulus", "rater"))
    rest, k = float(fit.residual_variance), answers_a_stimulus(answers)
    return [
        ("ICC(A,1) by REML", stimuli / (stimuli + raters + rest)),
        ("ICC(C,1) by REML", stimuli / (stimuli + rest)),
        ("ICC(A,k) by REML", stimuli / (stimuli + (raters + rest) / k)),
        ("ICC(C,k) by REML", stimuli / (stimuli + rest / k)),
    ]


def _correlations(answers: Rated) -> Iterator[tuple[str, Coefficient]]:
    """The intraclass correlations of single answers and of means."""
    cache: dict[bool, Components] = {}

    def parts(weights: Floats | None) -> Components:
        if (weights is None) not in cache:
            cache[weights is None] = components(answers.stimulus, answers.rater, answers.value, weights)
        return cache[weights is None]

    k = answers_a_stimulus(answers)
    yield "ICC(1)", lambda weights: parts(weights).icc_one_way()
    yield "ICC(A,1)", lambda weights: parts(weights).icc_agreement()
    yield "ICC(C,1)", lambda weights: parts(weights).icc_consistency()
    yield "ICC(1,k)", lambda weights: parts(weights).icc_one_way(k)
    yield "ICC(A,k)", lambda weights: parts(weights).icc_agreement(k)
    yield "ICC(C,k)", lambda weights: parts(weights).icc_consistency(k)


def answers_a_stimulus(one: Rated) -> float:
    """The harmonic mean of the numbers of answers to each stimulus: the k of means of k answers."""
    counts = np.bincount(one.stimulus)
    return float(1 / np.mean(1 / counts))


def has_halves(one: Rated) -> bool:
    """Whether answers are numbers and at least half of the stimuli have two, so that halves of them can be compared."""
    return one.has_numbers and 2 * int((np.bincount(one.stimulus) > 1).sum()) >= one.stimuli.height


FEWEST = 5
"""With fewer participants there are too few different samples: four have 35, and one in 64 has only one of them."""


def resampled_people(one: Rated, samples: int, seed: int) -> tuple[Floats | None, list[Message]]:
    """The weights of participants in bootstrap samples; None without samples, or with a note for too few people."""
    people = len(one.people)
    if not samples or people < FEWEST:
        note = Message("agreement.too_few", {"n": people, "fewest": FEWEST})
        return None, about_question(one.question, [note]) if samples else []
    return resamples(people, samples, seed), []


UNEQUAL = 3
"""The multiple of the usual number of answers above which a stimulus outweighs others."""


def unequal_answers(one: Rated) -> list[Message]:
    """A note if some stimuli have many more answers than others, such as fillers in all lists."""
    usual, most = answers_a_stimulus(one), int(np.bincount(one.stimulus).max())
    return [Message("agreement.unequal", {"most": most, "usual": usual})] if most > UNEQUAL * usual else []


def splits(one: Rated, drawn: Floats | None) -> int:
    """The number of splits: many for the estimate, a few for each bootstrap sample, fewer with very many answers."""
    if drawn is None:
        return SPLITS
    return int(np.clip(WORK // (one.rows.height * drawn.shape[1]), 1, 25))


def check_bootstrap(samples: int, level: float) -> None:
    """Refuse settings of bootstrap intervals that make no sense."""
    check_number(MeasureError, "samples", samples, at_least=0)
    check_level(level)
