"""Mixed models from formulas: `correct ~ difficulty * condition + (1 | participant) + (1 + condition | item)`.

The formula is read (`formula`), its variables looked up (`frame`), coded (`design`) and the model fitted (`mixed`).
Coefficients of yes-or-no and ordered answers are tested by z, those of measured answers by t with Satterthwaite's
degrees of freedom. `tested_by` changes the method.

A contrast c'beta has the variance v = c'V c, which is itself an estimate. Its t statistic gets the degrees of freedom
of a chi-squared variable with the same relative variance (Satterthwaite 1946; Kuznetsova, Brockhoff and Christensen
2017, lmerTest):

    df = 2 v^2 / (g'A g),   g = dv/d(parameters), A the covariance of the variance parameters

For measured answers V = s(theta) U(theta) follows from the fit. With the residual variance written as tau s(theta),
where s is its best value given theta, the likelihood separates into a part for theta and a part for tau, so A has two
blocks: the inverse Hessian of theta from the fit, and 2/f for tau, where f are the residual degrees of freedom (n,
minus the number of coefficients with REML). For yes-or-no and ordered answers, V(theta) is the inverse information of
coefficients and thresholds, and A the block of theta in the inverse Hessian of all parameters. For a contrast that
hardly depends on theta, such as an effect within participants and items without random slopes, df could exceed the
number of answers, so it is at most f.

Kenward and Roger (1997) also widen the standard errors of a REML fit to account for the uncertainty of its variances
gamma, in which V(y) = sum of gamma_r G_r is linear. With Phi = (X'V^-1 X)^-1, P_r = -X'V^-1 G_r V^-1 X,
Q_rs = X'V^-1 G_r V^-1 G_s V^-1 X and W the inverse of the expected information about gamma,

    Phi_A = Phi + 2 Phi (sum of W_rs (Q_rs - P_r Phi P_s)) Phi,

and the scale and the degrees of freedom of F match the first two moments of its distribution (as in pbkrtest, Halekoh
and Hojsgaard 2014). V^-1 = (I - Z T Z') / sigma^2 needs only matrices of the size of the random effects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.special import chdtrc, fdtrc, ndtr, ndtri, stdtr, stdtrit

from karat.messages import Message
from karat.models.glrm.blocks import Sides
from karat.models.glrm.families import FamilyName, Link
from karat.models.glrm.formulas.design import Coding, DesignMatrix, code, coding_note, make_design
from karat.models.glrm.formulas.formula import Formula, names_in, read_formula
from karat.models.glrm.formulas.frame import (
    Data,
    FactorVariable,
    Frame,
    column,
    column_order,
    label_of,
    listed,
    make_frame,
)
from karat.models.glrm.formulas.syntax import FormulaError
from karat.models.glrm.mixed.fit import fit_mixed
from karat.models.glrm.mixed.gaussian import GaussianEvaluation, GaussianObjective
from karat.models.glrm.mixed.laplace import LaplaceObjective
from karat.models.glrm.mixed.result import MixedFit, sizes
from karat.models.glrm.mixed.terms import RandomTerm
from karat.models.glrm.optimise import Summarised
from karat.models.numerics import known, one_thread, significant
from karat.types import Floats, Ints

Table = dict[str, NDArray[Any]]
Method = Literal["asymptotic", "satterthwaite", "kenward-roger"]
"""The basis of p values and intervals: z, t with Satterthwaite's degrees of freedom, or Kenward and Roger's t."""


class RowsResult(Summarised):
    """A result with a summary of a heading and a line for each row."""

    notes: tuple[Message, ...] = ()

    def __str__(self) -> str:
        first, *rows = self.summary
        return "\n".join([" ".join(map(str, (first, *self.notes))), *(f"  {row}" for row in rows)])


@dataclass(frozen=True)
class Laid:
    """A formula with its data, coded for a model that may not have been fitted yet."""

    formula: Formula
    frame: Frame
    design: DesignMatrix
    terms: list[RandomTerm]
    response: NDArray[Any]
    """Codes of the answers, or measured values."""
    answers: tuple[str, ...]
    """The answer for each code; for yes-or-no answers, the model is of the probability of the second."""


@dataclass(frozen=True)
class Model(Laid):
    """A fitted model with its formula, data and coding."""

    fit: MixedFit
    family: FamilyName
    coding: Coding
    notes: tuple[Message, ...]
    method: Method = "asymptotic"
    link: Link = "logit"

    def tested_by(self, method: Method | None = None) -> Model:
        """The model with another method of tests; by default that for small samples.

        This is Kenward and Roger's method for measured answers fitted by REML, otherwise Satterthwaite's. If the data
        say little about the variances of random effects, the covariance of the former can have a negative diagonal;
        then the default is the latter.
        """
        if method is None:
            fits = self.fit.reml and effects_of(self.fit) <= MOST_EFFECTS
            fits = fits and bool((np.diag(self.kenward_roger.covariance) > 0).all())
            method = "kenward-roger" if fits else "satterthwaite"
        elif method == "kenward-roger" and not self.fit.reml:
            raise ValueError("Kenward and Roger's method is for measured answers that are fitted by REML.")
        return replace(self, method=method)

    @cached_property
    def satterthwaite(self) -> Satterthwaite:
        """Degrees of freedom by Satterthwaite's method."""
        return Satterthwaite(self.fit)

    @cached_property
    def kenward_roger(self) -> KenwardRoger:
        """Kenward and Roger's covariance and degrees of freedom, for REML fits only."""
        return KenwardRoger(self.fit)

    @property
    def covariance(self) -> Floats:
        """The covariance of the coefficients that tests use."""
        return self.kenward_roger.covariance if self.method == "kenward-roger" else self.fit.covariance

    @property
    def standard_errors(self) -> Floats:
        """The standard errors of the coefficients that tests use."""
        return np.sqrt(np.diag(self.covariance)) if self.method == "kenward-roger" else self.fit.standard_errors

    def degrees(self, contrasts: Floats) -> Floats:
        """The degrees of freedom of each row of contrasts; infinite for z tests."""
        if self.method == "kenward-roger":
            return np.array([self.kenward_roger.test(row[None])[2] for row in contrasts])
        if self.method == "satterthwaite":
            return self.satterthwaite.degrees(contrasts)
        return np.full(len(contrasts), np.inf)

    def test(self, contrasts: Floats) -> tuple[float, int, float, float]:
        """F, its two degrees of freedom and p, for all rows of contrasts at once."""
        tests = self.kenward_roger if self.method == "kenward-roger" else self.satterthwaite
        return tests.test(contrasts)

    @property
    def parameters(self) -> int:
        """The number of estimated parameters."""
        return len(self.fit.coefficients) + len(self.fit.thresholds) + len(self.fit.theta) + (self.family == "gaussian")

    def thresholds(self) -> Table:
        """One row per threshold between ordered answers: threshold, estimate, se; no rows for other answers."""
        start, names = len(self.fit.coefficients), zip(self.answers, self.answers[1:], strict=False)
        end = start + len(self.fit.thresholds)
        return {
            "threshold": np.array([f"{low}|{high}" for low, high in names if end > start], dtype=object),
            "estimate": self.fit.thresholds,
            "se": np.sqrt(np.diag(self.fit.parameter_covariance)[start:end]),
        }

    def table(self) -> Table:
        """One row per coefficient: term, estimate, se, z (or t and df), p."""
        estimate, se = self.fit.coefficients, self.standard_errors
        ratio = estimate / se
        table: Table = {"term": np.array(self.fit.names, dtype=object), "estimate": estimate, "se": se}
        if self.method != "asymptotic":
            df = self.degrees(np.eye(len(estimate)))
            return table | {"t": ratio, "df": df, "p": two_sided(ratio, df)}
        return table | {"z": ratio, "p": two_sided(ratio, np.full(len(ratio), np.inf))}

    @property
    def summary(self) -> tuple[Message, ...]:
        """The coefficients, then the thresholds between ordered answers."""
        table, thresholds = self.table(), self.thresholds()
        columns = (table[name] for name in ("term", "estimate", "se", "p"))
        rows = [
            {"name": name, "estimate": significant(estimate), "se": significant(se), "p": known(p)}
            for name, estimate, se, p in zip(*columns, strict=True)
        ]
        if self.method != "asymptotic":
            ratios = [{"t": known(t), "df": known(df)} for t, df in zip(table["t"], table["df"], strict=True)]
            tests = [_coefficient("model.coefficient_t", row | ratio) for row, ratio in zip(rows, ratios, strict=True)]
        else:
            tests = [
                _coefficient("model.coefficient_z", row | {"z": known(z)})
                for row, z in zip(rows, table["z"], strict=True)
            ]
        return *tests, *(
            _coefficient("model.threshold", {"name": name, "estimate": significant(estimate), "se": significant(se)})
            for name, estimate, se in zip(
                thresholds["threshold"], thresholds["estimate"], thresholds["se"], strict=True
            )
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
    simplify: bool | Literal["upwards"] = False,
    levels: Mapping[str, Sequence[Any]] | None = None,
    link: Link = "logit",
) -> Model:
    """Fit a mixed model written as a formula.

    `levels` gives the order of the levels of factors, and of ordered answers that are not numbers. Measured answers are
    fitted by REML unless `reml` says otherwise. `link` is "logit", "probit" or "cloglog"; measured answers have none.

    >>> import karat
    >>> data = karat.datasets.load("likert").frame.filter(function="test").to_dict()
    >>> model = fit("rt ~ order + (1 | participant) + (1 | item)", data, family="gaussian")
    >>> model.table()["term"].tolist(), model.fit.converged
    (['(Intercept)', 'order1'], True)
    >>> print(*model.notes)
    Factors are in sum-to-zero coding: order1 is OBJ>PP minus the mean.
    """
    if coding not in ("sum", "treatment"):
        raise ValueError(f'The coding is "sum" or "treatment", not {coding!r}.')
    layout = lay_out(formula, data, family, coding, levels)
    frame, design = layout.frame, layout.design
    restricted = family == "gaussian" if reml is None else reml
    mixed_fit = fit_mixed(
        layout.response, design.matrix, design.names, layout.terms, family=family, reml=restricted, simplify=simplify,
        link=link,
    )  # fmt: skip
    coding_message = coding_note(layout.formula.fixed, frame.columns, coding)
    probability = (Message("model.probability", {"answer": layout.answers[1]}),) if family == "binary" else ()
    notes = (*probability, *(() if coding_message is None else (coding_message,)), *frame.notes, *design.notes)
    method: Method = "satterthwaite" if family == "gaussian" else "asymptotic"
    return Model(**vars(layout), fit=mixed_fit, family=family, coding=coding, notes=notes, method=method, link=link)


def lay_out(
    formula: str, data: Data, family: FamilyName, coding: Coding, levels: Mapping[str, Sequence[Any]] | None = None
) -> Laid:
    """Read a formula and code its data.

    >>> data = {"yes": [0, 1, 1, 0], "a": ["x", "y", "x", "y"], "who": [1, 1, 2, 2]}
    >>> lay_out("yes ~ a + (1 | who)", data, "binary", "difference").design.matrix.round(6).tolist()
    [[1.0, 0.5], [1.0, -0.5], [1.0, 0.5], [1.0, -0.5]]
    """
    parsed = read_formula(formula)
    if not parsed.random:
        raise FormulaError(Message("model.no_random", {"formula": formula}))
    frame = make_frame(parsed, data, levels)
    design = make_design(parsed.fixed, frame.columns, coding, frame.rows)
    if family == "ordinal":
        _check_order(parsed, frame, data, levels or {})
        design = design.without_intercept()
    response, answers = _response(frame, family, parsed.response.label)
    return Laid(parsed, frame, design, _random_terms(parsed, frame, coding), response, answers)


def _random_terms(formula: Formula, frame: Frame, coding: Coding) -> list[RandomTerm]:
    """The random terms of a formula over the rows of a frame."""
    terms: list[RandomTerm] = []
    for part in formula.random:
        coded = code(part.effects, frame.columns, coding, frame.rows)
        group = frame.groups[part.group]
        covariance: Literal["full", "diagonal"] = "full" if part.correlated else "diagonal"
        name, levels = ":".join(part.group), np.array(group.levels, dtype=object)
        repeated = {column for term in terms if term.group == name for column in term.names} & set(coded.names)
        if repeated:
            values = {"formula": str(formula), "effect": sorted(repeated)[0], "group": name}
            raise FormulaError(Message("model.effect_twice", values))
        terms.append(RandomTerm(name, group.codes, levels, coded.matrix, coded.names, covariance))
    return terms


def two_sided(ratio: Floats, df: Floats) -> Floats:
    """The two-sided p values of t statistics, or of z if df is infinite.

    >>> two_sided(np.array([1.96, 2.0]), np.array([np.inf, 30.0])).round(3).tolist()
    [0.05, 0.055]
    """
    size = -np.abs(ratio)
    return np.asarray(2 * np.where(np.isinf(df), ndtr(size), stdtr(df, size)))


def quantile(level: float, df: Floats) -> Floats:
    """The half-width of an interval in standard errors: by t, or by z if df is infinite.

    >>> quantile(0.95, np.array([np.inf, 30.0])).round(3).tolist()
    [1.96, 2.042]
    """
    upper = (1 + level) / 2
    return np.asarray(np.where(np.isinf(df), ndtri(upper), stdtrit(df, upper)))


def _coefficient(code: str, values: Mapping[str, Any]) -> Message:
    """A coefficient as a message, which says so if its standard error is unknown."""
    if values["se"] is None:
        return Message("model.no_standard_error", {key: values[key] for key in ("name", "estimate")})
    return Message(code, values)


def _check_order(formula: Formula, frame: Frame, data: Data, levels: Mapping[str, Sequence[Any]]) -> None:
    label = formula.response.label
    if not formula.fixed.intercept:
        raise FormulaError(Message("model.no_intercept", {"formula": str(formula)}))
    name = names_in(formula.response.tree)[0].text
    ordered = {label, name} & set(levels) or column_order(data[name]) is not None
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
        levels, inverse = np.unique(answer.values, return_inverse=True)
        numbers, answers = inverse.astype(np.int64), tuple(label_of(level) for level in levels)
    if family == "binary" and len(answers) != 2:
        values = {"response": label, "n": len(answers), "answers": listed(answers)}
        raise FormulaError(Message("model.not_binary", values))
    return numbers, answers


STEP = 1e-3
"""The step for differences, in standard errors of theta."""
SMALLEST = 1e-10
"""A direction of a test counts as empty if its eigenvalue is below this share of the largest."""
VANISHING, NEAR = 1e-10, 1e-2
"""With two denominator degrees of freedom F has no mean, and the divisors of its moments are zero up to rounding."""


@dataclass(frozen=True)
class Satterthwaite:
    """Satterthwaite's degrees of freedom of a fit."""

    fit: MixedFit

    @property
    def residual(self) -> int:
        """f, the residual degrees of freedom."""
        fixed = len(self.fit.coefficients) + len(self.fit.thresholds)
        return self.fit.n - fixed * (self.fit.reml or self.fit.family != "gaussian")

    @property
    def covariance(self) -> Floats:
        """V, the covariance of the coefficients, followed by the thresholds."""
        if isinstance(self.fit.objective, GaussianObjective):
            return self.fit.covariance
        size = len(self.fit.coefficients) + len(self.fit.thresholds)
        return self.fit.parameter_covariance[:size, :size]

    @cached_property
    def slopes(self) -> Floats:
        """The derivatives of V in theta (and tau), stacked."""
        objective, best = self.fit.objective, self.fit.parameters
        slopes, fixed = [], len(best) - len(self.fit.theta)
        errors = np.sqrt(np.diag(self.fit.parameter_covariance))[fixed:]
        with one_thread(objective.crossing.work):
            for place, error in enumerate(errors):
                step = np.zeros(len(best))
                step[fixed + place] = STEP * (error if np.isfinite(error) and error > 0 else 0.1)
                ends = [fixed_covariance(objective, best + sign * step, fixed, self.fit.modes) for sign in (1, -1)]
                slopes.append((ends[0] - ends[1]) / (2 * step.sum()))
        if isinstance(objective, GaussianObjective):
            slopes.append(self.fit.covariance)
        return np.array(slopes)

    @cached_property
    def spread(self) -> Floats:
        """A, the covariance of the variance parameters."""
        size = len(self.fit.theta)
        inner = self.fit.parameter_covariance[-size:, -size:]
        if not isinstance(self.fit.objective, GaussianObjective):
            return inner
        covariance = np.zeros((size + 1, size + 1))
        covariance[:size, :size] = inner
        covariance[size, size] = 2 / self.residual
        return covariance

    def degrees(self, contrasts: Floats) -> Floats:
        """Degrees of freedom of each row of contrasts of coefficients (and thresholds); NaN if V is not finite."""
        width = contrasts.shape[1]
        if not np.all(np.isfinite(self.covariance[:width, :width])):
            # If coefficients grow without bound, the information can be singular.
            return np.full(len(contrasts), np.nan)
        variance = np.einsum("ki,ij,kj->k", contrasts, self.covariance[:width, :width], contrasts)
        slope = np.einsum("ki,pij,kj->kp", contrasts, self.slopes[:, :width, :width], contrasts)
        with np.errstate(divide="ignore", invalid="ignore"):
            degrees: Floats = 2 * variance**2 / np.einsum("kp,pq,kq->k", slope, self.spread, slope)
        return np.minimum(degrees, self.residual)

    def test(self, contrasts: Floats) -> tuple[float, int, float, float]:
        """F, its two degrees of freedom and p, for all rows of contrasts at once.

        The contrasts are rotated to be independent. From the degrees of freedom of each, those of F are chosen to give
        it the correct mean (Fai and Cornelius 1996).
        """
        inner = contrasts @ self.fit.covariance @ contrasts.T
        if not np.all(np.isfinite(inner)):
            return np.nan, len(contrasts), np.nan, np.nan
        values, vectors = np.linalg.eigh(inner)
        nonzero = values > SMALLEST * values[-1]
        rotated = vectors[:, nonzero].T @ contrasts
        squares = (rotated @ self.fit.coefficients) ** 2 / values[nonzero]
        size = int(nonzero.sum())
        statistic, degrees = float(squares.mean()), joint_degrees(self.degrees(rotated))
        return statistic, size, degrees, _above(size, degrees, statistic)


def _above(size: int, degrees: float, statistic: float) -> float:
    """The p value of F, or of chi-squared if the denominator's degrees of freedom are infinite."""
    return float(chdtrc(size, size * statistic) if np.isinf(degrees) else fdtrc(size, degrees, statistic))


def joint_degrees(degrees: Floats) -> float:
    """The denominator's degrees of freedom of an F test that combines independent t tests."""
    if np.any(np.isnan(degrees)):
        return float("nan")
    if len(degrees) == 1 or float(np.ptp(degrees)) < 1e-8:
        return float(degrees.mean())
    if np.any(degrees <= 2):
        return 2.0
    mean = float((degrees / (degrees - 2)).sum())
    return 2 * mean / (mean - len(degrees))


def fixed_covariance(
    objective: GaussianObjective | LaplaceObjective, parameters: Floats, fixed: int = 0, modes: Sides | None = None
) -> Floats:
    """V at given parameters; the first `fixed` are coefficients and thresholds."""
    at = objective(parameters, modes) if fixed else objective(parameters)
    if at is None:
        raise ValueError("The likelihood cannot be computed beside the estimate, so that it has no degrees of freedom.")
    covariance: Floats
    if isinstance(at, GaussianEvaluation):
        covariance = at.residual_variance * at.unscaled_covariance
    else:
        covariance = np.linalg.inv(at.information()[:fixed, :fixed]).astype(np.float64)
    return covariance


MOST_EFFECTS = 1500
"""With more random effects than this, the default is Satterthwaite's method, not Kenward and Roger's."""


def effects_of(fit: MixedFit) -> int:
    """The total number of random effects of all levels."""
    return sum(len(term.levels) * len(term.names) for term in fit.terms)


@dataclass(frozen=True)
class KenwardRoger:
    """The small-sample covariance of the coefficients of a REML fit, and its F tests."""

    fit: MixedFit

    @cached_property
    def _parts(self) -> tuple[Floats, Floats, Floats]:
        """P of every variance parameter, W, and the sum in the formula of Phi_A."""
        fit = self.fit
        if not isinstance(fit.objective, GaussianObjective) or not fit.reml:
            raise ValueError("Kenward and Roger's method is for measured answers that are fitted by REML.")
        x, variance = fit.objective.design, fit.residual_variance
        z, relative, moves = _random_effects(fit)
        counts, crossed = z.T @ z, z.T @ x
        # T = Lambda (I + Lambda'Z'Z Lambda)^-1 Lambda', so that V^-1 = (I - Z T Z') / sigma^2.
        inner = relative @ np.linalg.solve(np.eye(len(counts)) + relative.T @ counts @ relative, relative.T)
        half = np.eye(len(counts)) - counts @ inner  # Z'V^-1 = half Z' / sigma^2
        precision, toward = half @ counts / variance, half @ crossed / variance
        twice, toward_twice = half @ precision / variance, half @ toward / variance
        squares = (np.linalg.inv(fit.covariance) - crossed.T @ inner @ toward) / variance  # X'V^-2 X
        size = len(moves) + 1
        p, information = np.empty((size, *squares.shape)), np.empty((size, size))
        q = np.empty((size, size, *squares.shape))
        products, precision_products = (
            [_permute(toward, pairs) for pairs in moves],
            [_permute(precision, pairs) for pairs in moves],
        )
        for r, pairs in enumerate(moves):
            p[r] = -toward.T @ products[r]
            for s in range(r + 1):
                q[r, s] = products[r].T @ precision @ products[s]
                q[s, r] = q[r, s].T
                information[r, s] = information[s, r] = float(np.vdot(precision_products[r], precision_products[s].T))
            q[r, -1] = products[r].T @ toward_twice
            q[-1, r] = q[r, -1].T
            information[r, -1] = information[-1, r] = float(np.trace(_permute(twice, pairs)))
        p[-1], q[-1, -1] = -squares, (squares - crossed.T @ inner @ toward_twice) / variance
        loss = counts @ inner
        information[-1, -1] = (fit.n - 2 * np.trace(loss) + float(np.vdot(loss, loss.T))) / variance**2
        phi = fit.covariance
        phi_p = phi @ p
        for r in range(size):
            for s in range(size):
                information[r, s] += -2 * float(np.vdot(phi, q[r, s])) + float(np.vdot(phi_p[r], phi_p[s].T))
        weights = 2 * np.linalg.pinv(information, hermitian=True).astype(np.float64)
        middle = np.einsum("rs,rsij->ij", weights, q - np.einsum("rij,sjk->rsik", p @ phi, p))
        return p, weights, middle

    @cached_property
    def covariance(self) -> Floats:
        """Phi_A, the adjusted covariance of the coefficients."""
        phi = self.fit.covariance
        return phi + 2 * phi @ self._parts[2] @ phi if np.all(np.isfinite(phi)) else phi

    def test(self, contrasts: Floats) -> tuple[float, int, float, float]:
        """F, its two degrees of freedom and p, for all rows of contrasts at once."""
        phi = self.fit.covariance
        if not np.all(np.isfinite(contrasts)) or not np.all(np.isfinite(phi)):
            return np.nan, len(contrasts), np.nan, np.nan
        p, weights, _ = self._parts
        values = np.linalg.svd(contrasts, full_matrices=False)
        rows = values[2][values[1] > 1e-8 * max(float(values[1].max(initial=0.0)), 1e-300)]
        size = len(rows)
        if not size:
            return np.nan, len(contrasts), np.nan, np.nan
        theta = rows.T @ np.linalg.solve(rows @ phi @ rows.T, rows) @ phi
        steps = theta @ p @ phi
        traces = np.einsum("rii->r", steps)
        first = float(traces @ weights @ traces)
        second = float(np.einsum("rs,rij,sji->", weights, steps, steps))
        degrees, scale = _moments(size, first, second)
        estimate = rows @ self.fit.coefficients
        statistic = scale * float(estimate @ np.linalg.solve(rows @ self.covariance @ rows.T, estimate)) / size
        return statistic, size, degrees, _above(size, degrees, statistic)


def _random_effects(fit: MixedFit) -> tuple[Floats, Floats, list[list[tuple[Ints, Ints]]]]:
    """Z and Lambda of all effects, and for each variance parameter the pairs of effects with that covariance."""
    blocks, factors, moves, first = [], [], [], 0
    for term, factor in zip(fit.terms, fit.factors, strict=True):
        width, levels = len(term.names), len(term.levels)
        block = np.zeros((len(term.codes), levels, width))
        block[np.arange(len(term.codes)), term.codes] = term.columns
        blocks.append(block.reshape(len(term.codes), -1))
        factors.append(np.kron(np.eye(levels), factor / sizes(term)[:, None]))
        places = first + width * np.arange(levels)
        pairs = [(k, j) for k in range(width) for j in range(k + 1) if k == j or term.covariance == "full"]
        entries = [[(places + k, places + j)] + ([(places + j, places + k)] if k != j else []) for k, j in pairs]
        moves += [[pair for entry in entries for pair in entry]] if term.covariance == "shared" else entries
        first += width * levels
    return np.hstack(blocks), np.asarray(block_diag(*factors)), moves


def _permute(matrix: Floats, pairs: list[tuple[Ints, Ints]]) -> Floats:
    """E times a matrix, for the symmetric E that has ones at these pairs."""
    product = np.zeros_like(matrix)
    for rows, columns in pairs:
        product[rows] += matrix[columns]
    return product


def _moments(size: int, first: float, second: float) -> tuple[float, float]:
    """The denominator's degrees of freedom and the scale of F that match its approximate mean and variance."""
    if second <= 0:
        return np.inf, 1.0
    b = (first + 6 * second) / (2 * size)
    g = ((size + 1) * first - (size + 4) * second) / ((size + 2) * second)
    divisor = 3 * size + 2 * (1 - g)
    c1, c2, c3 = g / divisor, (size - g) / divisor, (size + 2 - g) / divisor
    share, first_factor = 1 - second / size, 1 - c2 * b
    ratio = 1.0 if max(abs(share), abs(first_factor)) < VANISHING else share / first_factor
    degrees = 4 + (size + 2) * (1 - c3 * b) / (ratio**2 * (1 + c1 * b) - (1 - c3 * b))
    return float(degrees), 1.0 if abs(degrees - 2) < NEAR else float(degrees * share / (degrees - 2))
