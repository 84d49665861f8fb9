"""A mixed model written as a formula: `correct ~ difficulty * condition + (1 | participant) + (1 + condition | item)`.

The formula is read (`formula`), its variables looked up (`frame`), coded (`design`) and fitted (`mixed`). Coefficients
of yes-or-no and ordered answers are tested by z, those of measured answers by t with Satterthwaite's degrees of
freedom.

Satterthwaite's degrees of freedom for measured answers.

A contrast c'beta has the variance v = c'V c, which is itself an estimate. Its t statistic is taken for one with as
many degrees of freedom as a chi-squared variable with the same relative spread has (Satterthwaite 1946; Kuznetsova,
Brockhoff and Christensen 2017, lmerTest):

    df = 2 v^2 / (g'A g),   g = dv/d(parameters), A the covariance of the variance parameters

V = s(theta) U(theta) follows from the fit. With the residual variance written as tau s(theta), where s is its best
value given theta, the likelihood falls into a part of theta and a part of tau, so that A is made of two blocks: the
inverse Hessian of theta, which the fit has, and 2/f for tau, f being the residual degrees of freedom (n, less the
coefficients with REML).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, ndtr, ndtri, stdtr, stdtrit

from karat.messages import Message
from karat.models.glrm.families import FamilyName
from karat.models.glrm.formulas.design import Coding, DesignMatrix, code, coding_note, make_design
from karat.models.glrm.formulas.formula import Formula, names_in, read_formula
from karat.models.glrm.formulas.frame import (
    Data,
    FactorVariable,
    Frame,
    column,
    label_of,
    listed,
    make_frame,
    own_order,
)
from karat.models.glrm.formulas.syntax import FormulaError
from karat.models.glrm.mixed.fit import fit_mixed
from karat.models.glrm.mixed.gaussian import GaussianObjective
from karat.models.glrm.mixed.result import MixedFit
from karat.models.glrm.mixed.terms import RandomTerm
from karat.models.numerics import known, one_thread, significant
from karat.types import Floats, Ints

Table = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Model:
    """A fitted model with the formula, the data and the coding that it came from."""

    fit: MixedFit
    formula: Formula
    frame: Frame
    design: DesignMatrix
    family: FamilyName
    coding: Coding
    response: NDArray[Any]
    """Numbers of the answers, or measured values."""
    answers: tuple[str, ...]
    """What the numbers mean; of two, the second is the one whose probability is modelled."""
    notes: tuple[Message, ...]

    @cached_property
    def satterthwaite(self) -> Satterthwaite:
        """The degrees of freedom of contrasts; measured answers only."""
        return Satterthwaite(self.fit)

    def degrees(self, contrasts: Floats) -> Floats:
        """The degrees of freedom of each row of contrasts: infinite but for measured answers."""
        if self.family == "gaussian":
            return self.satterthwaite.degrees(contrasts)
        return np.full(len(contrasts), np.inf)

    @property
    def parameters(self) -> int:
        """How many were estimated."""
        return len(self.fit.coefficients) + len(self.fit.thresholds) + len(self.fit.theta) + (self.family == "gaussian")

    def thresholds(self) -> Table:
        """One row a threshold between ordered answers: which, estimate, se; none for other answers."""
        first, names = len(self.fit.coefficients), zip(self.answers, self.answers[1:], strict=False)
        end = first + len(self.fit.thresholds)
        return {
            "threshold": np.array([f"{low}|{high}" for low, high in names if end > first], dtype=object),
            "estimate": self.fit.thresholds,
            "se": np.sqrt(np.diag(self.fit.parameter_covariance)[first:end]),
        }

    def table(self) -> Table:
        """One row a coefficient: term, estimate, se, z (or t and df), p."""
        estimate, se = self.fit.coefficients, self.fit.standard_errors
        ratio = estimate / se
        table: Table = {"term": np.array(self.fit.names, dtype=object), "estimate": estimate, "se": se}
        if self.family == "gaussian":
            df = self.degrees(np.eye(len(estimate)))
            return table | {"t": ratio, "df": df, "p": two_sided(ratio, df)}
        return table | {"z": ratio, "p": two_sided(ratio, np.full(len(ratio), np.inf))}

    @property
    def summary(self) -> tuple[Message, ...]:
        """The coefficients, then the thresholds between ordered answers."""
        table, between = self.table(), self.thresholds()
        own = zip(table["term"], table["estimate"], table["se"], table["p"], strict=True)
        rows = [
            {"name": name, "estimate": significant(estimate), "se": significant(se), "p": known(p)}
            for name, estimate, se, p in own
        ]
        if self.family == "gaussian":
            ratios = [{"t": known(t), "df": known(df)} for t, df in zip(table["t"], table["df"], strict=True)]
            tests = [_coefficient("model.coefficient_t", row | one) for row, one in zip(rows, ratios, strict=True)]
        else:
            tests = [
                _coefficient("model.coefficient_z", row | {"z": known(z)})
                for row, z in zip(rows, table["z"], strict=True)
            ]
        return *tests, *(
            _coefficient("model.threshold", {"name": name, "estimate": significant(estimate), "se": significant(se)})
            for name, estimate, se in zip(between["threshold"], between["estimate"], between["se"], strict=True)
        )

    def __str__(self) -> str:
        first = [f"{self.formula}.", str(self.fit), *map(str, self.notes)]
        return "\n".join([" ".join(first), *(f"  {row}" for row in self.summary)])


def fit(
    formula: str,
    data: Data,
    family: FamilyName = "binary",
    coding: Coding = "sum",
    reml: bool | None = None,
    simplify: bool = False,
    levels: Mapping[str, Sequence[Any]] | None = None,
) -> Model:
    """Fit a mixed model that is written as a formula.

    `levels` gives the order of the levels of factors, and of the answers where they are ordered and not numbers.
    Measured answers are fitted by REML unless `reml` says otherwise.

    >>> random = np.random.default_rng(3)
    >>> who, what = np.divmod(np.arange(600), 20)
    >>> condition = np.where(random.random(600) < 0.5, "easy", "hard")
    >>> value = random.normal(0, 1, 30)[who] + random.normal(0, 1, 20)[what] - 0.5 * (condition == "hard")
    >>> data = {"time": value + random.normal(0, 1, 600), "condition": condition, "who": who, "what": what}
    >>> model = fit("time ~ condition + (1 | who) + (1 | what)", data, family="gaussian")
    >>> model.table()["term"].tolist(), model.fit.converged
    (['(Intercept)', 'condition1'], True)
    >>> print(*model.notes)
    Factors are in sum-to-zero coding: condition1 is easy minus the mean.
    """
    if coding not in ("sum", "treatment"):
        raise ValueError(f'The coding is "sum" or "treatment", not {coding!r}.')
    if family not in ("binary", "ordinal", "gaussian"):
        raise ValueError(f'The family is "binary", "ordinal" or "gaussian", not {family!r}.')
    read = read_formula(formula)
    if not read.random:
        raise FormulaError(Message("model.no_random", {"formula": formula}))
    frame = make_frame(read, data, levels)
    design = make_design(read.fixed, frame.columns, coding, frame.rows)
    if family == "ordinal":
        _check_order(read, frame, data, levels or {})
        design = design.without_intercept()
    response, answers = _response(frame, family, read.response.label)
    terms = _random_terms(read, frame, coding)
    restricted = family == "gaussian" if reml is None else reml
    fitted = fit_mixed(response, design.matrix, design.names, terms, family=family, reml=restricted, simplify=simplify)
    coded = coding_note(read.fixed, frame.columns, coding)
    probability = (Message("model.probability", {"answer": answers[1]}),) if family == "binary" else ()
    notes = (*probability, *(() if coded is None else (coded,)), *frame.notes, *design.notes)
    return Model(fitted, read, frame, design, family, coding, response, answers, notes)


def _random_terms(formula: Formula, frame: Frame, coding: Coding) -> list[RandomTerm]:
    """The random terms of a formula over the rows of a frame."""
    terms: list[RandomTerm] = []
    for part in formula.random:
        coded = code(part.effects, frame.columns, coding, frame.rows)
        group = frame.groups[part.group]
        covariance: Literal["full", "diagonal"] = "full" if part.correlated else "diagonal"
        name, levels = ":".join(part.group), np.array(group.levels, dtype=object)
        twice = {column for term in terms if term.group == name for column in term.names} & set(coded.names)
        if twice:
            values = {"formula": str(formula), "effect": sorted(twice)[0], "group": name}
            raise FormulaError(Message("model.effect_twice", values))
        terms.append(RandomTerm(name, group.codes, levels, coded.matrix, coded.names, covariance))
    return terms


def two_sided(ratio: Floats, df: Floats) -> Floats:
    """The two-sided p of t statistics; of z where df is infinite.

    >>> two_sided(np.array([1.96, 2.0]), np.array([np.inf, 30.0])).round(3).tolist()
    [0.05, 0.055]
    """
    size = -np.abs(ratio)
    p: Floats = 2 * np.where(np.isinf(df), ndtr(size), stdtr(df, size))
    return p


def quantile(level: float, df: Floats) -> Floats:
    """How many standard errors an interval reaches to either side: by t, and by z where df is infinite.

    >>> quantile(0.95, np.array([np.inf, 30.0])).round(3).tolist()
    [1.96, 2.042]
    """
    upper = (1 + level) / 2
    reach: Floats = np.where(np.isinf(df), ndtri(upper), stdtrit(df, upper))
    return reach


def _coefficient(code: str, values: Mapping[str, Any]) -> Message:
    """A coefficient as a message; that its standard error is not known, where it is not."""
    if values["se"] is None:
        return Message("model.no_standard_error", {key: values[key] for key in ("name", "estimate")})
    return Message(code, values)


def _check_order(formula: Formula, frame: Frame, data: Data, levels: Mapping[str, Sequence[Any]]) -> None:
    label = formula.response.label
    if not formula.fixed.intercept:
        raise FormulaError(Message("model.no_intercept", {"formula": str(formula)}))
    name = names_in(formula.response.tree)[0].text
    ordered = {label, name} & set(levels) or own_order(data[name]) is not None
    if (
        isinstance(frame.response, FactorVariable)
        and not ordered
        and isinstance(column(data[name], name), FactorVariable)
    ):
        values = {"answers": listed(frame.response.levels), "response": label}
        raise FormulaError(Message("model.no_order", values))


def _response(frame: Frame, family: FamilyName, label: str) -> tuple[NDArray[Any], tuple[str, ...]]:
    answer = frame.response
    if family == "gaussian":
        if isinstance(answer, FactorVariable):
            raise FormulaError(Message("model.not_numeric", {"response": label}))
        return answer.values, ()
    numbers: Ints
    if isinstance(answer, FactorVariable):
        numbers, answers = answer.codes, answer.levels
    else:
        found, inverse = np.unique(answer.values, return_inverse=True)
        numbers, answers = inverse.astype(np.int64), tuple(label_of(value) for value in found)
    if family == "binary" and len(answers) != 2:
        values = {"response": label, "n": len(answers), "answers": listed(answers)}
        raise FormulaError(Message("model.not_binary", values))
    return numbers, answers


STEP = 1e-3
"""Of the differences, in standard errors of theta."""
SMALLEST = 1e-10
"""Share of the largest eigenvalue below which a direction of a test counts as empty."""


@dataclass(frozen=True)
class Satterthwaite:
    """What the degrees of freedom of a fit are made of."""

    fit: MixedFit

    @cached_property
    def slopes(self) -> Floats:
        """The derivatives of V in theta and tau, stacked."""
        objective, theta = self.fit.objective, self.fit.theta
        if not isinstance(objective, GaussianObjective):
            raise ValueError(
                f"Satterthwaite's degrees of freedom are for measured answers, not {self.fit.family} ones."
            )
        slopes = []
        errors = np.sqrt(np.diag(self.fit.parameter_covariance))
        with one_thread(objective.crossing.work):
            for place, error in enumerate(errors):
                step = np.zeros(len(theta))
                step[place] = STEP * (error if np.isfinite(error) and error > 0 else 0.1)
                ends = [fixed_covariance(objective, theta + sign * step) for sign in (1, -1)]
                slopes.append((ends[0] - ends[1]) / (2 * step[place]))
        return np.array([*slopes, self.fit.covariance])

    @cached_property
    def spread(self) -> Floats:
        """A."""
        inner, size = self.fit.parameter_covariance, len(self.fit.theta)
        whole = np.zeros((size + 1, size + 1))
        whole[:size, :size] = inner
        whole[size, size] = 2 / (self.fit.n - len(self.fit.coefficients) * self.fit.reml)
        return whole

    def degrees(self, contrasts: Floats) -> Floats:
        """One for each row of contrasts."""
        variance = np.einsum("ki,ij,kj->k", contrasts, self.fit.covariance, contrasts)
        slope = np.einsum("ki,pij,kj->kp", contrasts, self.slopes, contrasts)
        with np.errstate(divide="ignore", invalid="ignore"):
            degrees: Floats = 2 * variance**2 / np.einsum("kp,pq,kq->k", slope, self.spread, slope)
        return degrees

    def test(self, contrasts: Floats) -> tuple[float, int, float, float]:
        """F, its two degrees of freedom and p, for all rows of contrasts at once.

        The contrasts are turned until they are independent; each has its own degrees of freedom, and those of the
        whole are chosen so that the mean of F is right (Fai and Cornelius 1996).
        """
        inner = contrasts @ self.fit.covariance @ contrasts.T
        if not np.all(np.isfinite(inner)):
            return np.nan, len(contrasts), np.nan, np.nan
        values, vectors = np.linalg.eigh(inner)
        some = values > SMALLEST * values[-1]
        turned = vectors[:, some].T @ contrasts
        squares = (turned @ self.fit.coefficients) ** 2 / values[some]
        size = int(some.sum())
        statistic, degrees = float(squares.mean()), joint_degrees(self.degrees(turned))
        return statistic, size, degrees, float(fdtrc(size, degrees, statistic))


def joint_degrees(degrees: Floats) -> float:
    """The denominator's degrees of freedom of an F test made of independent t tests.

    >>> joint_degrees(np.array([20.0, 20.0]))
    20.0
    """
    if len(degrees) == 1 or float(np.ptp(degrees)) < 1e-8:
        return float(degrees.mean())
    if np.any(degrees <= 2):
        return 2.0
    mean = float((degrees / (degrees - 2)).sum())
    return 2 * mean / (mean - len(degrees))


def fixed_covariance(objective: GaussianObjective, theta: Floats) -> Floats:
    """The covariance of the coefficients at these deviations."""
    at = objective(theta)
    if at is None:
        raise ValueError("The likelihood cannot be computed beside the estimate, so that it has no degrees of freedom.")
    covariance: Floats = at.residual_variance * at.unscaled_covariance
    return covariance
