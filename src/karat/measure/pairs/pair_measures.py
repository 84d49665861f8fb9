"""Ways to contrast the two stimuli of a pair: direct choices, participants' own differences, or a model's strengths.

Each gives its unit, the region of practical equivalence where none was given, and a function from two stimuli to their
contrast, or None where there are not enough answers to them.

Participants' differences are paired where at least half of those who judged the less judged stimulus judged both; who
judged one only is left out. Otherwise the two groups are compared (Welch), and who judged both is in both, which makes
the test a little cautious. The column `test` says which it was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from karat.judgments.scales import Binary, Continuous, Magnitude, Ordinal
from karat.measure.pairs.pair_contrasts import (
    Contrast,
    by_t,
    choices,
    paired,
    savage_dickey,
    unpaired,
    yes_no,
    yes_no_unpaired,
)
from karat.measure.rated import Rated, stimulus_labels
from karat.measure.result import MeasureError
from karat.measure.scaling.ratings import standardised_within
from karat.measure.scaling.result import Strengths
from karat.messages import Message
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
"""Models whose strengths are counted in standard deviations."""


@dataclass(frozen=True)
class PairMeasure:
    """A way to contrast two stimuli."""

    unit: Message
    rope: float
    contrast: Callable[[str, str], Contrast | None]
    notes: tuple[Message, ...] = ()


def direct_choices(one: Rated, rope: float | None, alpha: float) -> PairMeasure:
    """Choices between the two stimuli themselves, one a participant.

    >>> import karat
    >>> from karat.measure.rated import rated
    >>> answers = {"participant": ["p1", "p2", "p3"], "item": ["ab"] * 3, "left": ["a", "a", "b"],
    ...            "right": ["b", "b", "a"], "response": ["left", "none", "right"]}
    >>> (one,) = rated(karat.Judgments(answers, karat.Choice(none=True)), "decisions")
    >>> found = direct_choices(one, None, 0.05).contrast("a", "b")
    >>> found.estimate, found.p, round(found.ties, 2)
    (1.0, 0.5, 0.33)
    """
    counts = direct_counts(one)
    width = SMALL_SHARE if rope is None else rope

    def contrast(better: str, worse: str) -> Contrast | None:
        first, second = sorted((better, worse))
        if (first, second) not in counts:
            return None
        forward, backward, ties = counts[first, second]
        ahead, behind = (forward, backward) if better == first else (backward, forward)
        return choices(ahead, behind, ties, width, alpha)

    ties = sum(found[2] for found in counts.values())
    notes = [Message("decisions.ties", {"n": ties})] if ties else []
    return PairMeasure(Message("unit.share"), width, contrast, tuple(notes))


def direct_counts(one: Rated) -> dict[tuple[str, str], tuple[int, int, int]]:
    """How often the first (by name) of two stimuli was chosen, the second, and neither; one answer per participant.

    >>> import karat
    >>> from karat.measure.rated import rated
    >>> answers = {"participant": ["p1", "p2"], "item": ["ab", "ab"], "left": ["a", "b"], "right": ["b", "a"],
    ...            "response": ["left", "left"]}
    >>> (one,) = rated(karat.Judgments(answers, karat.Choice()), "decisions")
    >>> direct_counts(one)
    {('a', 'b'): (1, 1, 0)}
    """
    if not {"left", "right"} <= set(one.rows.columns):
        raise MeasureError(Message("decisions.no_sides"))
    names = {"first": pl.min_horizontal("left", "right"), "second": pl.max_horizontal("left", "right")}
    rows = one.rows.with_columns(**names).unique(["participant", "first", "second"], keep="first", maintain_order=True)
    grouped = rows.group_by("first", "second", maintain_order=True).agg(
        *((pl.col("_category") == place).sum().cast(pl.Int64).alias(str(place)) for place in range(3))
    )
    return {(first, second): (a, b, ties) for first, second, a, b, ties in grouped.iter_rows()}


def own_differences(one: Rated, rope: float | None, alpha: float) -> PairMeasure:
    """Differences within participants, or between groups of them; magnitudes and numbers standardised.

    >>> import karat
    >>> from karat.measure.rated import rated
    >>> answers = {"participant": ["p1", "p1", "p2", "p2", "p3", "p3"], "item": ["a", "b"] * 3,
    ...            "response": [5, 2, 4, 3, 5, 4]}
    >>> (one,) = rated(karat.Judgments(answers, karat.Ordinal(5)), "decisions")
    >>> own_differences(one, None, 0.05).contrast("b", "a").test
    'paired t'
    """
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
            own = [np.array([group[who] for who in both]) for group in (first, second)]
            return within(own[0], own[1], width, alpha)
        return between(np.array(list(first.values())), np.array(list(second.values())), width, alpha)

    return PairMeasure(unit, width, contrast, tuple(notes))


def model_contrasts(one: Rated, found: Strengths, rope: float | None, alpha: float) -> PairMeasure:
    """Differences of strengths, by the model's covariance and the normal distribution.

    Where strengths are those of a posterior there is a Bayes factor too. Its prior is that of two stimuli drawn from
    these: a normal with the variance that strengths have in the posterior.

    >>> import karat
    >>> from karat.measure import strengths
    >>> from karat.measure.rated import rated
    >>> crowd = karat.datasets.load("crowd")
    >>> (one,) = rated(crowd, "decisions")
    >>> found = strengths(crowd, "mean")
    >>> model_contrasts(one, found, None, 0.05).contrast(found.labels[0], found.labels[-1]).p < 0.001
    True
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
        seen = found.difference(better, worse)
        if not seen.se > 0:
            return None
        contrasted = by_t(seen.estimate, seen.se, region, alpha, answers[better] + answers[worse], "normal")
        if not np.isfinite(spread):
            return contrasted
        return replace(contrasted, bayes_factor=savage_dickey(seen.estimate, seen.se, spread))

    return PairMeasure(unit, width, contrast, tuple(found.notes))


def _spread(found: Strengths) -> float:
    """The standard deviation of strengths: that of the estimates, and what is unknown about each."""
    estimate, se = (found.frame[name].drop_nulls().to_numpy() for name in ("estimate", "se"))
    return float(np.sqrt(estimate.var() + np.mean(se**2)))


def _values(one: Rated) -> tuple[Floats, list[Message]]:
    """The answers as they are compared, and who could not be standardised."""
    if not isinstance(one.scale, Magnitude | Continuous):
        return one.value, []
    values = standardised_within(one.rater, one.value, len(one.people))
    flat = len(np.unique(one.rater[~np.isfinite(values)]))
    return values, [Message("decisions.constant_answers", {"n": flat})] if flat else []


def _own_unit(one: Rated) -> tuple[Message, float]:
    """What differences are counted in, and the usual half-width of the region of equivalence."""
    if isinstance(one.scale, Binary):
        return Message("unit.share"), SMALL_SHARE
    if isinstance(one.scale, Ordinal):
        return Message("unit.scale_points"), SMALL_PART * (len(one.scale.levels) - 1)
    return Message("unit.deviations"), SMALL


def _model_unit(one: Rated, found: Strengths) -> tuple[Message, float | None]:
    """The same for differences of strengths; numbers without ends have no usual region."""
    if found.model in IN_DEVIATIONS:
        return found.unit, SMALL
    if found.model != "mean":
        return Message("unit.logits"), SMALL_LOGITS
    if isinstance(one.scale, Binary | Ordinal):
        return _own_unit(one)
    if isinstance(one.scale, Continuous) and one.scale.low is not None and one.scale.high is not None:
        return Message("unit.scale"), SMALL_PART * (one.scale.high - one.scale.low)
    return Message("unit.scale"), None
