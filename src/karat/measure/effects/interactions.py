"""Differences of differences, whether another scale would remove them, and effect sizes.

In a two-by-two design, the interaction is the difference of a at one level of b, minus the difference at the other:

    (m11 - m21) - (m12 - m22)

It depends on the scale. If both conditions keep their direction (m11 - m21 and m12 - m22 have the same sign, and so
have m11 - m12 and m21 - m22), a monotone transformation of the scale that stretches one end makes the four means
additive, and the interaction disappears (Loftus 1978; Wagenmakers, Krypotos, Criss and Iverson 2012). Such an
interaction is a result about the scale, and about the process only if the scale measures the process. If a condition
changes its direction, which is a crossover, no transformation removes the interaction. A crossover counts as shown if
both simple differences are significant with opposite signs.

The effect size for measured answers is the difference of means divided by the standard deviation of an answer within a
condition,

    d = difference / sqrt(variance of participants + of items + of their slopes + of the residual)

(Westfall, Kenny and Judd 2014, who code two conditions -1 and 1). Here the variance of the random effects is
z' Sigma z, averaged over the answers, which is equivalent and does not depend on the coding. Its interval combines
those of the difference and of the standard deviation (Zou and Donner 2008); the latter has the degrees of freedom of a
chi-squared variable with the same relative variance (Satterthwaite 1946). For yes-or-no and ordered answers the unit is
the standard deviation of the latent residual, pi / sqrt(3) for the logistic distribution (Chinn 2000), and the odds
ratio exp(difference) is also given: the factor by which the odds of a higher answer are larger.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike
from scipy.special import chdtri

from karat.measure.result import schema_of
from karat.models.glrm import Model, marginal_means
from karat.models.glrm.formulas.formula import names_in
from karat.models.glrm.formulas.frame import FactorVariable
from karat.models.glrm.formulas.marginal import MarginalMeans
from karat.models.glrm.formulas.model import Laid, quantile, two_sided
from karat.models.glrm.formulas.syntax import Call, Name
from karat.models.glrm.mixed.gaussian import GaussianEvaluation
from karat.types import Floats

RawMeans = Mapping[tuple[str, ...], tuple[float, float | None, int]]
"""The plain mean, the standard deviation and the number of answers of each cell."""
SCHEMA = schema_of("term:s contrast:s estimate se df lower upper p raw scale_dependence:s")
LARGEST = 3
"""The most factors of a term that has means."""
EMPTY = (float("nan"), None, 0)
REMOVABLE, SHOWN, UNSURE = "removable", "crossover", "crossover not shown"


class Linear(NamedTuple):
    """A weighted sum of means."""

    estimate: float
    se: float
    df: float
    lower: float
    upper: float
    p: float


def weighted_sum(model: Model, weights: Floats, means: MarginalMeans) -> Linear:
    """The sum of marginal means with weights that sum to zero, with its interval and p."""
    # The thresholds of ordered answers cancel, since the weights sum to zero.
    row = (weights @ means.contrasts)[: len(model.fit.coefficients)]
    estimate = float(row @ model.fit.coefficients)
    se = float(np.sqrt(row @ model.covariance @ row))
    df = model.degrees(row[None])
    half = float(quantile(means.level, df)[0]) * se
    p = float(two_sided(np.array([estimate / se if se else np.nan]), df)[0])
    return Linear(estimate, se, float(df[0]), estimate - half, estimate + half, p)


def differences_of_differences(model: Model, raw: Mapping[str, RawMeans], level: float) -> pl.DataFrame:
    """One row per interaction of factors with two levels each; `raw` has the plain means of cells by term."""
    rows = []
    for label, names in factor_terms(model).items():
        levels = [column.levels for name in names if isinstance(column := model.frame.raw[name], FactorVariable)]
        if len(names) < 2 or any(len(pair) != 2 for pair in levels):
            continue
        means = marginal_means(model, *names, level=level)
        signs = np.array([np.prod(factors) for factors in product((1.0, -1.0), repeat=len(names))])
        difference = weighted_sum(model, signs, means)
        if not np.isfinite(difference.se):
            # A cell of the design is empty, or its answers are perfectly separated; the model's notes say so.
            continue
        plain = raw.get(label, {})
        cells = list(zip(*means.cells.values(), strict=True))
        raw_difference = float(sum(sign * plain.get(cell, EMPTY)[0] for sign, cell in zip(signs, cells, strict=True)))
        kind = scale_dependence(model, means) if len(names) == 2 else None
        rows.append((label, _contrast(levels), *difference, raw_difference, kind))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def factor_terms(model: Model | Laid) -> dict[str, tuple[str, ...]]:
    """The terms of up to three variables, all factors, with their columns in the data."""
    terms = {}
    for term in model.design.expansion.terms:
        trees = [model.formula.variables[label].tree for label in term]
        plain = all(isinstance(tree, Name) or (isinstance(tree, Call) and tree.function == "factor") for tree in trees)
        names = tuple(names_in(tree)[0].text for tree in trees)
        if plain and len(term) <= LARGEST and all(isinstance(model.frame.raw[name], FactorVariable) for name in names):
            terms[":".join(term)] = names
    return terms


def _contrast(levels: Sequence[tuple[str, ...]]) -> str:
    rest = " and ".join(f"{first} minus {second}" for first, second in levels[1:])
    return f"({levels[0][0]} − {levels[0][1]}) at {rest}"


def scale_dependence(model: Model, means: MarginalMeans) -> str:
    """Whether a monotone transformation could remove the interaction of four means in this order."""
    kinds = []
    for simple_differences in (((1, 0, -1, 0), (0, 1, 0, -1)), ((1, -1, 0, 0), (0, 0, 1, -1))):
        pair = [weighted_sum(model, np.array(weights, dtype=np.float64), means) for weights in simple_differences]
        if pair[0].estimate * pair[1].estimate > 0:
            kinds.append(REMOVABLE)
        else:
            kinds.append(SHOWN if max(simple.p for simple in pair) < 1 - means.level else UNSURE)
    return next((kind for kind in (SHOWN, UNSURE) if kind in kinds), REMOVABLE)


LATENT = float(np.pi / np.sqrt(3))
STEP = 1e-4
"""The step in theta for numerical derivatives."""


class EffectSizes(NamedTuple):
    """Standardised differences with their intervals, and odds ratios of yes-or-no and ordered answers."""

    d: Floats
    d_lower: Floats
    d_upper: Floats
    odds_ratio: Floats | None
    odds_lower: Floats | None
    odds_upper: Floats | None


def effect_sizes(
    model: Model, estimate: ArrayLike, lower: ArrayLike, upper: ArrayLike, level: float = 0.95
) -> EffectSizes:
    """Effect sizes of differences on the scale of the link, from their estimates and intervals."""
    values = [np.asarray(numbers, dtype=np.float64) for numbers in (estimate, lower, upper)]
    unit = standard_deviation(model)
    d, low, high = (numbers / unit for numbers in values)
    if model.family == "gaussian":
        smaller, larger = _inverse_unit(model, level)
        at_lower, at_upper = np.where(d < 0, larger, smaller), np.where(d < 0, smaller, larger)
        ends = d - np.hypot(d - low, d * (1 - at_lower)), d + np.hypot(high - d, d * (at_upper - 1))
        return EffectSizes(d, *ends, None, None, None)
    return EffectSizes(d, low, high, *map(np.exp, values))


def standard_deviation(model: Model) -> float:
    """The unit of d: the deviation of a measured answer within a condition, otherwise of the latent residual."""
    if model.family != "gaussian":
        return LATENT if model.link == "logit" else 1.0 if model.link == "probit" else LATENT / float(np.sqrt(2))
    return float(np.sqrt(_variance(model, model.fit.theta)))


def _variance(model: Model, theta: Floats) -> float:
    """The variance of a measured answer within a condition, at theta and the best residual variance for it."""
    crossing, evaluation = model.fit.objective.crossing, model.fit.objective(theta)
    if not isinstance(evaluation, GaussianEvaluation):
        return float("nan")
    sides = zip(crossing.sides, crossing.factors(theta), strict=True)
    relative = sum(float(((factor.T @ side.columns) ** 2).sum()) for side, factor in sides) / model.fit.n
    return float(evaluation.residual_variance * (1 + relative))


def _inverse_unit(model: Model, level: float) -> tuple[float, float]:
    """The interval of 1 / standard deviation, as multiples of the estimate."""
    theta, slopes = model.fit.theta, []
    for step in STEP * np.eye(len(theta)):
        ends = [_variance(model, theta + sign * step) for sign in (1, -1)]
        slopes.append(float(np.log(ends[0] / ends[1]) / (2 * STEP)))
    slope = np.array([*slopes, 1.0])
    df = 2 / float(slope @ model.satterthwaite.spread @ slope)
    ends = [float(np.sqrt(chdtri(df, (1 + sign * level) / 2) / df)) for sign in (1, -1)]
    return ends[0], ends[1]
