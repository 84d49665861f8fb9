"""Ways to contrast the two stimuli of a pair: direct choices, participants' differences, or a model's strengths.

Each has a unit, a default region of practical equivalence, and a function from two stimuli to their contrast, or None
if they have too few answers.

Participants' differences are paired if at least half of the participants of the stimulus with fewer answers judged
both; those who judged only one are left out. Otherwise the two groups are compared (Welch), and participants who judged
both are in both groups, which makes the test a little conservative. The column `test` names the test.

A contrast is the lead of the better stimulus with an interval, a test, and a test of equivalence. With d the estimate,
se its standard error, d0 its value without a difference and r the half-width of the region of practical equivalence
around d0,

    difference     p of |d - d0| / se                                  two-sided
    equivalence    the larger p of (d - d0 + r) / se and (r - d + d0) / se    two one-sided tests (Schuirmann 1987)
    beyond         p of (|d - d0| - r) / se                            one-sided

by Student's t, or by the normal distribution if the standard error is from a model. Ratings of the same participants
are paired (t of their differences); those of different participants are compared by Welch's t. Choices between the two
stimuli with a preference are tested against one half by the exact binomial (a sign test), with the interval of Clopper
and Pearson (1934), which excludes one half exactly if that test rejects. "No difference" is left out of the test and
reported as a share. Yes and no of the same participants are tested by McNemar's exact test; the interval of the
difference of shares is that of Bonett and Price (2012), and that of Agresti and Caffo (2000) between participants.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import comb

import numpy as np
import polars as pl
from scipy.special import bdtr, bdtrc, stdtr, stdtrit

from karat.judgments.scales import Binary, Continuous, Magnitude, Ordinal
from karat.measure.rated import Rated, stimulus_labels
from karat.measure.result import MeasureError
from karat.measure.scaling.ratings import standardised_within
from karat.measure.scaling.result import Strengths
from karat.messages import Message
from karat.models.proportions import clopper_pearson
from karat.types import Floats

SMALL = 0.2
"""What Cohen (1988) calls a small difference, in standard deviations."""
SMALL_LOGITS = float(SMALL * np.pi / np.sqrt(3))
SMALL_SHARE = 0.1
SMALL_PART = 0.1
"""Of the range of a scale."""
MANY = 0.5
"""The share of the participants of a stimulus who must have judged both for a contrast to be paired."""
IN_DEVIATIONS = ("thurstone", "zscore", "magnitude")
"""Models whose strengths are in standard deviations."""


@dataclass(frozen=True)
class PairMeasure:
    """A way to contrast two stimuli."""

    unit: Message
    rope: float
    contrast: Callable[[str, str], Contrast | None]
    notes: tuple[Message, ...] = ()


def direct_choices(one: Rated, rope: float | None, alpha: float) -> PairMeasure:
    """Direct choices between the two stimuli, one per participant."""
    counts = direct_counts(one)
    width = SMALL_SHARE if rope is None else rope

    def contrast(better: str, worse: str) -> Contrast | None:
        first, second = sorted((better, worse))
        if (first, second) not in counts:
            return None
        forward, backward, ties = counts[first, second]
        ahead, behind = (forward, backward) if better == first else (backward, forward)
        return choices(ahead, behind, ties, width, alpha)

    ties = sum(count[2] for count in counts.values())
    notes = [Message("decisions.ties", {"n": ties})] if ties else []
    return PairMeasure(Message("unit.share"), width, contrast, tuple(notes))


def direct_counts(one: Rated) -> dict[tuple[str, str], tuple[int, int, int]]:
    """How often the first (by name) of two stimuli was chosen, the second, and neither; one answer per participant."""
    if not {"left", "right"} <= set(one.rows.columns):
        raise MeasureError(Message("decisions.no_sides"))
    names = {"first": pl.min_horizontal("left", "right"), "second": pl.max_horizontal("left", "right")}
    rows = one.rows.with_columns(**names).unique(["participant", "first", "second"], keep="first", maintain_order=True)
    grouped = rows.group_by("first", "second", maintain_order=True).agg(
        *((pl.col("_category") == place).sum().cast(pl.Int64).alias(str(place)) for place in range(3))
    )
    return {(first, second): (a, b, ties) for first, second, a, b, ties in grouped.iter_rows()}


def own_differences(one: Rated, rope: float | None, alpha: float) -> PairMeasure:
    """Differences within participants, or between groups of them; magnitudes and numbers are standardised."""
    values, notes = _values(one)
    unit, usual = _own_unit(one)
    width = usual if rope is None else rope
    by_label: dict[str, dict[int, float]] = defaultdict(dict)
    labels = stimulus_labels(one.stimuli)
    for stimulus, rater, value in zip(one.stimulus, one.rater, values, strict=True):
        if np.isfinite(value):
            by_label[labels[stimulus]][int(rater)] = float(value)
    within, between = (yes_no, yes_no_unpaired) if isinstance(one.scale, Binary) else (paired, unpaired)

    def contrast(better: str, worse: str) -> Contrast | None:
        first, second = by_label.get(better, {}), by_label.get(worse, {})
        both = sorted(first.keys() & second.keys())
        if min(len(first), len(second)) < 2:
            return None
        if len(both) >= max(2, MANY * min(len(first), len(second))):
            values = [np.array([group[who] for who in both]) for group in (first, second)]
            return within(values[0], values[1], width, alpha)
        return between(np.array(list(first.values())), np.array(list(second.values())), width, alpha)

    return PairMeasure(unit, width, contrast, tuple(notes))


def model_contrasts(one: Rated, found: Strengths, rope: float | None, alpha: float) -> PairMeasure:
    """Differences of strengths, by the model's covariance and the normal distribution.

    Strengths of a posterior also have a Bayes factor. Its prior is that of two stimuli drawn from these: a normal
    distribution with the variance of strengths in the posterior.
    """
    unit, usual = _model_unit(one, found)
    width = usual if rope is None else rope
    if width is None:
        raise MeasureError(Message("decisions.no_rope", {"kind": one.scale.kind}))
    region = width
    spread = _spread(found) if found.settings.get("posterior") else float("nan")
    answers = dict(zip(found.labels, found.frame["n"].to_list(), strict=True))

    def contrast(better: str, worse: str) -> Contrast | None:
        if better not in answers or worse not in answers:
            return None
        difference = found.difference(better, worse)
        if not difference.se > 0:
            return None
        contrasted = by_t(difference.estimate, difference.se, region, alpha, answers[better] + answers[worse], "normal")
        if not np.isfinite(spread):
            return contrasted
        return replace(contrasted, bayes_factor=savage_dickey(difference.estimate, difference.se, spread))

    return PairMeasure(unit, width, contrast, tuple(found.notes))


def _spread(strengths: Strengths) -> float:
    """The standard deviation of strengths, from the variance of the estimates and their errors."""
    estimate, se = (strengths.frame[name].drop_nulls().to_numpy() for name in ("estimate", "se"))
    return float(np.sqrt(estimate.var() + np.mean(se**2)))


def _values(answers: Rated) -> tuple[Floats, list[Message]]:
    """The answers as they are compared, and a note on participants who cannot be standardised."""
    if not isinstance(answers.scale, Magnitude | Continuous):
        return answers.value, []
    values = standardised_within(answers.rater, answers.value, len(answers.people))
    flat = len(np.unique(answers.rater[~np.isfinite(values)]))
    return values, [Message("decisions.constant_answers", {"n": flat})] if flat else []


def _own_unit(answers: Rated) -> tuple[Message, float]:
    """The unit of differences, and the usual half-width of the region of equivalence."""
    if isinstance(answers.scale, Binary):
        return Message("unit.share"), SMALL_SHARE
    if isinstance(answers.scale, Ordinal):
        return Message("unit.scale_points"), SMALL_PART * (len(answers.scale.levels) - 1)
    return Message("unit.deviations"), SMALL


def _model_unit(answers: Rated, strengths: Strengths) -> tuple[Message, float | None]:
    """The unit and half-width for differences of strengths; numbers without ends have no usual region."""
    if strengths.model in IN_DEVIATIONS:
        return strengths.unit, SMALL
    if strengths.model != "mean":
        return Message("unit.logits"), SMALL_LOGITS
    if isinstance(answers.scale, Binary | Ordinal):
        return _own_unit(answers)
    if isinstance(answers.scale, Continuous) and answers.scale.low is not None and answers.scale.high is not None:
        return Message("unit.scale"), SMALL_PART * (answers.scale.high - answers.scale.low)
    return Message("unit.scale"), None


LARGEST_LOG = 700.0
"""The largest logarithm of a Bayes factor, about 10 to the power of 304, so that it stays finite."""


@dataclass(frozen=True)
class Contrast:
    """The better stimulus against the worse one; values that cannot be computed are NaN."""

    estimate: float
    se: float
    lower: float
    upper: float
    p: float
    """p of no difference."""
    equivalence: float
    """p of a difference that matters: if it is small, the two are practically equivalent."""
    beyond: float
    """p of a difference that does not matter: if it is small, the two differ by more than the region."""
    n: int
    test: str
    ties: float = float("nan")
    """The share of "no difference"."""
    bayes_factor: float = float("nan")
    """The Bayes factor for a difference, if there is a posterior."""


def by_t(estimate: float, se: float, rope: float, alpha: float, n: int, test: str, freedom: float = np.inf) -> Contrast:
    """A contrast from an estimate and its standard error, by t, or by the normal with infinite degrees of freedom."""
    if not se > 0:
        return Contrast(estimate, se, estimate, estimate, np.nan, np.nan, np.nan, n, test)
    half = float(stdtrit(freedom, 1 - alpha / 2)) * se
    away = abs(estimate)
    return Contrast(
        estimate, se, estimate - half, estimate + half, min(1.0, 2 * _upper(away / se, freedom)),
        max(_upper((estimate + rope) / se, freedom), _upper((rope - estimate) / se, freedom)),
        _upper((away - rope) / se, freedom), n, test,
    )  # fmt: skip


def paired(better: Floats, worse: Floats, rope: float, alpha: float) -> Contrast:
    """Ratings of the same participants in the same order: the t of their differences.

    If all differences are the same there is no t, and the sign test takes its place.
    """
    difference = better - worse
    n = len(difference)
    mean = float(difference.mean())
    se = float(difference.std(ddof=1) / np.sqrt(n))
    if se > 1e-12 * max(1.0, abs(mean)):
        return by_t(mean, se, rope, alpha, n, "paired t", n - 1)
    p = sign_p(n if mean > 0 else 0, n) if mean else 1.0
    return replace(by_t(mean, 0.0, rope, alpha, n, "sign"), p=p)


def unpaired(better: Floats, worse: Floats, rope: float, alpha: float) -> Contrast:
    """Ratings of different participants: Welch's t.

    If all ratings of each stimulus are the same there is no t, and a permutation test takes its place.
    """
    groups = (better, worse)
    squares = np.array([group.var(ddof=1) / len(group) for group in groups])
    se = float(np.sqrt(squares.sum()))
    estimate, n = float(better.mean() - worse.mean()), len(better) + len(worse)
    if not se > 0:
        p = min(1.0, 2 / comb(n, len(better))) if estimate else 1.0
        return replace(by_t(estimate, 0.0, rope, alpha, n, "permutation"), p=p)
    freedom = squares.sum() ** 2 / (squares**2 / [len(group) - 1 for group in groups]).sum()
    return by_t(estimate, se, rope, alpha, n, "Welch's t", float(freedom))


def choices(better: int, worse: int, ties: int, rope: float, alpha: float) -> Contrast:
    """Choices between the two: the share of the better one among those with a preference, against one half."""
    n = better + worse
    everybody = n + ties
    if not n:
        share = 1.0 if ties else np.nan
        return Contrast(np.nan, np.nan, np.nan, np.nan, 1.0, np.nan, np.nan, everybody, "binomial", share)
    share = better / n
    lower, upper = clopper_pearson(better, n, 1 - alpha)
    low, high = 0.5 - rope, 0.5 + rope
    equivalence = max(float(bdtr(better, n, high)), float(bdtrc(better - 1, n, low)))
    beyond = float(bdtrc(better - 1, n, high)) if share > 0.5 else float(bdtr(better, n, low))
    return Contrast(
        share, float(np.sqrt(share * (1 - share) / n)), lower, upper, sign_p(better, n), equivalence, beyond,
        everybody, "binomial", ties / everybody,
    )  # fmt: skip


def yes_no(better: Floats, worse: Floats, rope: float, alpha: float) -> Contrast:
    """Yes (1) and no (0) of the same participants to both: McNemar's exact test."""
    n = len(better)
    first, second = int((better > worse).sum()), int((better < worse).sum())
    shares = (first + 1) / (n + 2), (second + 1) / (n + 2)
    moved = shares[0] - shares[1]
    se = float(np.sqrt((sum(shares) - moved**2) / (n + 2)))
    contrast = by_t(moved, se, rope, alpha, n, "McNemar")
    return _bounded(replace(contrast, estimate=(first - second) / n, p=sign_p(first, first + second)))


def yes_no_unpaired(better: Floats, worse: Floats, rope: float, alpha: float) -> Contrast:
    """Yes (1) and no (0) of different participants: the difference of shares, with one yes and one no more in each."""
    size = np.array([len(better), len(worse)]) + 2
    shares = (np.array([better.sum(), worse.sum()]) + 1) / size
    se = float(np.sqrt((shares * (1 - shares) / size).sum()))
    contrast = by_t(float(shares[0] - shares[1]), se, rope, alpha, len(better) + len(worse), "two shares")
    return _bounded(replace(contrast, estimate=float(better.mean() - worse.mean())))


def sign_p(first: int, n: int) -> float:
    """The two-sided p of the sign test with this many of n on the first side; 1 if n is 0."""
    return min(1.0, 2 * float(bdtr(min(first, n - first), n, 0.5))) if n else 1.0


def savage_dickey(estimate: float, se: float, spread: float) -> float:
    """The Bayes factor of a difference against none: its prior density at 0 over its posterior density there.

    Both are normal: the prior of two strengths with this standard deviation (Dickey 1971), and the posterior with its
    mean and standard deviation. Values over 1 favour a difference.
    """
    logarithm = float(np.log(se / (np.sqrt(2) * spread)) + (estimate / se) ** 2 / 2)
    return float(np.exp(min(logarithm, LARGEST_LOG)))


def equivalence_verdict(equivalence: float, beyond: float, alpha: float) -> str:
    """Whether two stimuli are equivalent, differ by more than the region, or neither is shown."""
    return "equivalent" if equivalence < alpha else "different" if beyond < alpha else "undecided"


def _upper(t: float, freedom: float) -> float:
    """The probability of a larger t."""
    return float(stdtr(freedom, -t))


def _bounded(contrast: Contrast) -> Contrast:
    """The contrast with an interval between -1 and 1, for a difference of shares."""
    return replace(contrast, lower=max(-1.0, contrast.lower), upper=min(1.0, contrast.upper))
