"""Wald tests of the terms of a model, Type II and III, likelihood-ratio tests of nested models, and intervals.

With L the rows of the identity that pick a term's coefficients b, of covariance V, the term is tested by

    X^2 = (L b)' (L V L')^-1 (L b),   chi-squared with as many degrees of freedom as the term has columns

or, where `Model.method` is not asymptotic, by F = X^2 / df with its degrees of freedom. In sum-to-zero coding these are
Type III tests: each term averaged over the levels of the others, whatever else is in the model. In treatment coding
they are what car's Anova with type = 3 would print; a main effect is then the effect at the first levels of the
factors that it interacts with, and a warning says so.

Type II tests adjust a term for all others but those that contain it. With T the term and R its relatives, X^2 is that
of T and R together, minus that of R (as car's Anova does); its rows are those of T and R that are uncorrelated with R.

The likelihood-ratio test compares twice the difference of the log-likelihoods with chi-squared. Where the smaller
model lacks a variance, that variance is at the edge of what it can be, and that p is too large. Where it lacks one
effect of one term, with its k covariances, the distribution is an equal mixture of chi-squared with k and k + 1
degrees of freedom (Self and Liang 1987; Stram and Lee 1994), and p is that of the mixture.

Wald's interval is the estimate plus and minus its standard error times a quantile (of t with Satterthwaite's degrees
of freedom for measured answers). It is meant for coefficients. The profile interval holds all values of a parameter at
which the best likelihood is not significantly smaller; it need not be symmetric, and it is the one to take for
standard deviations, which cannot be negative. Profiles are of the likelihood, also where the model was fitted by REML,
as lme4's are. Names are those of lme4: `sd_x|g` is the standard deviation of the effects of x over the levels of g,
and `sigma` that of the residuals.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
from scipy.special import chdtrc, ndtri

from karat.messages import Message
from karat.models.glrm.families import Gaussian
from karat.models.glrm.formulas.design import contrasts, whole_factors
from karat.models.glrm.formulas.frame import FactorVariable, listed
from karat.models.glrm.formulas.model import Model, RowsResult, Table, quantile
from karat.models.glrm.mixed.gaussian import GaussianObjective
from karat.models.glrm.mixed.laplace import Crossing, LaplaceObjective
from karat.models.glrm.mixed.terms import RandomTerm, sides
from karat.models.glrm.optimise import Evaluated, minimise
from karat.models.glrm.profile import PRECISE, profile_ends
from karat.models.numerics import known, one_thread, significant
from karat.types import Floats, Ints

SPANNED = 1e-8


@dataclass(frozen=True)
class TermTests(RowsResult):
    """A test for every term."""

    terms: tuple[str, ...]
    statistic: Floats
    df: Floats
    denominator: Floats
    """Infinite for chi-squared."""
    p: Floats
    kind: Literal["chisq", "F"]
    notes: tuple[Message, ...]

    def table(self) -> Table:
        """One row per term."""
        table: Table = {"term": np.array(self.terms, dtype=object), self.kind: self.statistic, "df": self.df}
        return table | ({"denominator": self.denominator} if self.kind == "F" else {}) | {"p": self.p}

    @property
    def summary(self) -> tuple[Message, ...]:
        """What the tests are, then each of them."""
        rows = zip(self.terms, self.statistic, self.df, self.denominator, self.p, strict=True)
        return Message("wald.tests"), *(
            Message("wald.test", {"term": term, "test": statistic_message(value, df, below, p)})
            for term, value, df, below, p in rows
        )


def statistic_message(statistic: float, df: float, denominator: float, p: float) -> Message:
    """A test as journals print it: chi-squared, or F where its denominator is finite.

    >>> str(statistic_message(4.2, 1, np.inf, 0.04)), str(statistic_message(4.2, 1, 31.5, float("nan")))
    ('χ²(1) = 4.20, p = .040', 'F(1, 31.5) = 4.20')
    >>> str(statistic_message(float("nan"), 1, 31.5, float("nan")))
    'not tested'
    """
    if known(statistic) is None:
        return Message("wald.untested")
    values = {"df": int(df) if np.isfinite(df) else None, "statistic": known(statistic), "p": known(p)}
    if np.isinf(denominator):
        return Message("wald.chi_squared", values)
    return Message("wald.f", values | {"denominator": known(denominator)})


def type_three(model: Model, test: Literal["chisq", "F"] | None = None) -> TermTests:
    """Test every term but the intercept, by F or chi-squared as the model's method has it, or as `test` asks.

    >>> import karat
    >>> from karat.models.glrm.formulas.model import fit
    >>> data = karat.datasets.load("likert").frame.filter(function="test").to_dict()
    >>> tests = type_three(fit("rt ~ order * integration + (1 | participant) + (1 | item)", data, family="gaussian"))
    >>> tests.terms, tests.df.tolist(), tests.p.round(2).tolist()
    (('order', 'integration', 'order:integration'), [1.0, 1.0, 1.0], [0.48, 0.23, 0.68])
    """
    return _tests(model, test, _contrasts_of, tuple(_cautions(model)))


def type_two(model: Model, test: Literal["chisq", "F"] | None = None) -> TermTests:
    """Test every term but the intercept, each without the terms that contain it.

    >>> import karat
    >>> from karat.models.glrm.formulas.model import fit
    >>> data = karat.datasets.load("likert").frame.filter(function="test").to_dict()
    >>> tests = type_two(fit("rt ~ order * integration + (1 | participant) + (1 | item)", data, family="gaussian"))
    >>> tests.terms, tests.p.round(2).tolist()
    (('order', 'integration', 'order:integration'), [0.48, 0.23, 0.68])
    """
    return _tests(model, test, _contrasts_apart, ())


def _tests(
    model: Model,
    test: Literal["chisq", "F"] | None,
    contrasts_of: Callable[[Model, int], Floats],
    notes: tuple[Message, ...],
) -> TermTests:
    """Every term but the intercept, each tested by its contrasts."""
    kind = test or ("chisq" if model.method == "asymptotic" else "F")
    rows, names = [], []
    for number in dict.fromkeys(model.design.terms[model.design.terms > 0].tolist()):
        tested = contrasts_of(model, number)
        names.append(model.design.labels[number])
        rows.append(model.test(tested) if kind == "F" else _chi_squared(model, tested))
    columns = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    return TermTests(tuple(names), columns[0], columns[1], columns[2], columns[3], kind, notes)


def _contrasts_apart(model: Model, number: int) -> Floats:
    """Rows of a term's coefficients plus what makes them uncorrelated with those of the terms that contain it."""
    terms, unit = model.design.expansion.terms, np.eye(len(model.design.names))
    if len(terms) == 1:
        return _contrasts_of(model, number)
    larger = [k for k, term in enumerate(terms, start=1) if set(terms[number - 1]) < set(term)]
    rows: Floats = unit[model.design.terms == number]
    relatives = unit[np.isin(model.design.terms, larger)]
    if len(relatives):
        inner = relatives @ model.covariance @ relatives.T
        rows = rows - (rows @ model.covariance @ relatives.T) @ np.linalg.solve(inner, relatives)
    return rows


def _contrasts_of(model: Model, number: int) -> Floats:
    """Rows that span a term's coefficients: for factors, every level minus the first.

    The statistic is the same for any rows that do so. Satterthwaite's degrees of freedom of several rows are not quite;
    these are the rows that lmerTest takes. Those of the only term of a model are the term's rows of the unit upper
    triangle U in X'X = U'DU.
    """
    design, columns = model.design, model.frame.columns
    picked = np.eye(len(design.names))[design.terms == number]
    if len(design.expansion.terms) == 1:
        # Thresholds stand for an intercept.
        matrix = design.matrix - design.matrix.mean(axis=0) if model.family == "ordinal" else design.matrix
        triangle = np.linalg.qr(matrix, mode="r")
        return np.asarray(picked @ (triangle / np.diag(triangle)[:, None]))
    whole = whole_factors(design.expansion, columns)
    turn: Floats = np.eye(1)
    for label in design.expansion.terms[number - 1]:
        column = columns[label]
        if isinstance(column, FactorVariable):
            size = len(column.levels)
            coded = contrasts(size, design.coding)
            inner = np.eye(size) if (number, label) in whole else coded[1:] - coded[0]
            turn = np.asarray(np.kron(inner, turn), dtype=np.float64)
        elif column.values.ndim > 1:
            turn = np.asarray(np.kron(np.eye(column.values.shape[1]), turn), dtype=np.float64)
    # Where columns were left out, those that remain are taken as they are.
    return np.asarray(turn @ picked if turn.shape[1] == len(picked) else picked)


def _chi_squared(model: Model, rows: Floats) -> tuple[float, int, float, float]:
    """Wald's chi-squared of rows of contrasts, its degrees of freedom, infinity and p."""
    values = rows @ model.fit.coefficients
    statistic = float(values @ np.linalg.solve(rows @ model.fit.covariance @ rows.T, values))
    return statistic, len(rows), np.inf, float(chdtrc(len(rows), statistic))


def _cautions(model: Model) -> list[Message]:
    """What the reader of the tests should know."""
    cautions = []
    crossed = [term for term in model.design.expansion.terms if len(term) > 1]
    factors = {label for term in crossed for label in term if isinstance(model.frame.columns[label], FactorVariable)}
    if model.coding == "treatment" and factors:
        cautions.append(Message("wald.treatment"))
    numeric = dict.fromkeys(label for term in crossed for label in term if label not in factors)
    if numeric:
        cautions.append(Message("wald.covariates", {"names": list(numeric), "n": len(numeric)}))
    if model.design.notes:
        cautions.append(Message("wald.dropped"))
    if model.coding == "sum" and not model.design.expansion.intercept:
        cautions.append(Message("wald.no_intercept"))
    return cautions


@dataclass(frozen=True)
class WaldComparison:
    """A likelihood-ratio test."""

    statistic: float
    df: int
    p: float
    log_likelihoods: tuple[float, float]
    aic: tuple[float, float]
    notes: tuple[Message, ...]
    mixture: tuple[int, int] | None = None
    """The degrees of freedom of the two parts of the mixture, where a variance is tested."""

    @property
    def summary(self) -> tuple[Message, ...]:
        """The test."""
        return (Message("wald.ratio", {"test": statistic_message(self.statistic, self.df, np.inf, self.p)}),)

    def __str__(self) -> str:
        return " ".join(map(str, (*self.summary, *self.notes)))


def compare(smaller: Model, larger: Model) -> WaldComparison:
    """The likelihood-ratio test of two nested models of the same answers, given in any order.

    >>> import karat
    >>> from karat.models.glrm.formulas.model import fit
    >>> data = karat.datasets.load("likert").frame.filter(function="test").to_dict()
    >>> one, other = (fit(f"rt ~ {x} + (1 | participant)", data, "gaussian", reml=False) for x in ("1", "order"))
    >>> result = compare(one, other)
    >>> result.df, round(result.p, 2)
    (1, 0.48)
    """
    if smaller.parameters > larger.parameters:
        smaller, larger = larger, smaller
    _check_same(smaller, larger)
    df = larger.parameters - smaller.parameters
    statistic = 2 * (larger.fit.log_likelihood - smaller.fit.log_likelihood)
    notes = [
        Message("wald.not_converged", {"formula": str(model.formula)})
        for model in (smaller, larger)
        if not model.fit.converged
    ]
    p, mixture = float(chdtrc(df, max(statistic, 0.0))), _mixture(smaller, larger)
    if mixture is not None:
        p = float(np.mean([chdtrc(k, max(statistic, 0.0)) if k else statistic <= 0 for k in mixture]))
        notes.append(Message("wald.mixture", {"first": mixture[0], "second": mixture[1]}))
    elif len(smaller.fit.theta) < len(larger.fit.theta):
        notes.append(Message("wald.boundary"))
    if smaller.fit.reml:
        notes.append(Message("wald.reml"))
    likelihoods = smaller.fit.log_likelihood, larger.fit.log_likelihood
    aic = 2 * smaller.parameters - 2 * likelihoods[0], 2 * larger.parameters - 2 * likelihoods[1]
    return WaldComparison(max(statistic, 0.0), df, p, likelihoods, aic, tuple(notes), mixture)


def _mixture(smaller: Model, larger: Model) -> tuple[int, int] | None:
    """k and k + 1 where the models differ by one random effect with k covariances, else None."""
    if smaller.design.matrix.shape[1] != larger.design.matrix.shape[1]:
        return None
    kept, many = (
        [(term.group, term.names, term.covariance) for term in model.fit.terms] for model in (smaller, larger)
    )
    extra = [term for term in larger.fit.terms if (term.group, term.names, term.covariance) not in kept]
    lost = [term for term in smaller.fit.terms if (term.group, term.names, term.covariance) not in many]
    if len(extra) != 1:
        return None
    if not lost:
        return (0, 1) if len(extra[0].names) == 1 else None
    same = len(lost) == 1 and lost[0].group == extra[0].group and set(lost[0].names) < set(extra[0].names)
    if not same or len(extra[0].names) - len(lost[0].names) != 1:
        return None
    correlated = len(lost[0].names) if extra[0].covariance == "full" else 0
    return correlated, correlated + 1


def _check_same(smaller: Model, larger: Model) -> None:
    if smaller.family != larger.family:
        raise ValueError(f"The models have different families, {smaller.family} and {larger.family}.")
    if len(smaller.response) != len(larger.response) or not np.array_equal(smaller.response, larger.response):
        raise ValueError(
            f"The models were fitted to different answers ({len(smaller.response):,} and {len(larger.response):,}); "
            "leave the rows with missing values out of both."
        )
    if smaller.fit.reml != larger.fit.reml:
        raise ValueError("One model was fitted by REML and the other was not; fit both with reml=False.")
    same_fixed = smaller.design.matrix.shape[1] == larger.design.matrix.shape[1]
    if smaller.fit.reml and not same_fixed:
        raise ValueError(
            "REML criteria of models with different fixed effects cannot be compared; fit with reml=False."
        )
    if smaller.parameters == larger.parameters:
        raise ValueError("The models have the same number of parameters, so neither is nested in the other.")
    if not _nested(smaller, larger):
        raise ValueError(f'"{smaller.formula}" is not nested in "{larger.formula}".')


def _nested(smaller: Model, larger: Model) -> bool:
    """Whether the larger model can do all that the smaller can."""
    inner, outer = smaller.design.matrix, larger.design.matrix
    if inner.shape[1]:
        # Thresholds stand for an intercept.
        outer = np.column_stack([np.ones(len(outer)), outer]) if larger.family == "ordinal" else outer
        rest = inner - outer @ np.linalg.lstsq(outer, inner, rcond=None)[0]
        if float(np.abs(rest).max()) > SPANNED * max(1.0, float(np.abs(inner).max())):
            return False
    return all(
        any(
            one.group == other.group
            and set(one.names) <= set(other.names)
            and (other.covariance == "full" or one.covariance != "full" or len(one.names) == 1)
            for other in larger.fit.terms
        )
        for one in smaller.fit.terms
    )


@dataclass(frozen=True)
class Intervals(RowsResult):
    """An interval for each parameter."""

    names: tuple[str, ...]
    estimate: Floats
    lower: Floats
    upper: Floats
    level: float
    method: Literal["wald", "profile"]
    notes: tuple[Message, ...] = ()

    def table(self) -> Table:
        """One row per parameter."""
        names = {"parameter": np.array(self.names, dtype=object)}
        return names | {name: getattr(self, name) for name in ("estimate", "lower", "upper")}

    @property
    def summary(self) -> tuple[Message, ...]:
        """What the intervals are, then each of them."""
        about = {"level": self.level}
        first = Message("intervals.wald", about) if self.method == "wald" else Message("intervals.profile", about)
        numbers = zip(self.estimate, self.lower, self.upper, strict=True)
        rows = [dict(zip(("estimate", "lower", "upper"), map(significant, row), strict=True)) for row in numbers]
        return first, *(
            Message("intervals.interval", {"name": name, **row}) for name, row in zip(self.names, rows, strict=True)
        )


@dataclass(frozen=True)
class Parameter:
    """A parameter that can be profiled: its place in an objective, which has it as a coordinate."""

    name: str
    place: int
    term: int = -1
    column: int = 0
    logarithm: bool = False


def intervals(
    model: Model,
    method: Literal["wald", "profile"] = "wald",
    level: float = 0.95,
    parameters: Sequence[str] | None = None,
) -> Intervals:
    """Intervals of the coefficients and thresholds; by profile also of the deviations. `parameters` names some of them.

    >>> import karat
    >>> from karat.models.glrm.formulas.model import fit
    >>> data = karat.datasets.load("likert").frame.filter(function="test").to_dict()
    >>> model = fit("rt ~ 1 + (1 | participant)", data, "gaussian")
    >>> found = intervals(model, "profile", parameters=["sd_(Intercept)|participant"])
    >>> bool(found.lower[0] < found.estimate[0] < found.upper[0])
    True
    """
    if method == "wald":
        return _wald(model, level, parameters)
    with one_thread(model.fit.objective.crossing.work):
        return _profiles(model, level, parameters)


def correlation_intervals(model: Model, level: float = 0.95) -> Intervals:
    """Intervals of the correlations of random effects, by Fisher's z and the delta method; NaN in a singular fit.

    >>> from karat.models.glrm.formulas.model import fit
    >>> draw = np.random.default_rng(3)
    >>> who, x = np.repeat(np.arange(40), 10), np.tile(np.arange(10) - 4.5, 40)
    >>> own = draw.multivariate_normal([0, 0], [[1, 0.1], [0.1, 0.04]], 40)[who]
    >>> data = {"time": own[:, 0] + own[:, 1] * x + draw.normal(size=400), "x": x, "who": who}
    >>> found = correlation_intervals(fit("time ~ x + (1 + x | who)", data, "gaussian"))
    >>> found.names, bool(found.lower[0] < 0.5 < found.upper[0])
    (('cor_(Intercept).x|who',), True)
    """
    fit = model.fit
    fixed = len(fit.parameters) - len(fit.theta)
    spread = fit.parameter_covariance[fixed:, fixed:]
    names, found = [], []
    for place, block in fit.objective.crossing.placed(len(fit.theta)):
        if not block.full:
            continue
        theta, part = fit.theta[place : place + block.size], slice(place, place + block.size)
        steps = np.eye(block.size) * 1e-5 * max(1.0, float(np.abs(theta).max()))
        singular = fit.singular_terms[block.term]
        for row, column in combinations(range(block.width), 2):
            ends = [[_fisher(block.factor(theta + sign * step), row, column) for sign in (1, -1)] for step in steps]
            slope = np.array([one - other for one, other in ends]) / (2 * steps.max())
            error = float(np.sqrt(slope @ spread[part, part] @ slope))
            names.append(f"cor_{block.names[row]}.{block.names[column]}|{block.group}")
            found.append((_fisher(block.factor(theta), row, column), np.nan if singular else error))
    z, errors = np.array(found, dtype=np.float64).reshape(-1, 2).T
    half = float(ndtri((1 + level) / 2)) * errors
    return Intervals(tuple(names), np.tanh(z), np.tanh(z - half), np.tanh(z + half), level, "wald")


def _fisher(factor: Floats, row: int, column: int) -> float:
    """Fisher's z of a correlation, from Lambda."""
    matrix = factor @ factor.T
    size = np.sqrt(matrix[row, row] * matrix[column, column])
    return float(np.arctanh(np.clip(matrix[row, column] / size, -1 + 1e-12, 1 - 1e-12))) if size > 0 else np.nan


def _wald(model: Model, level: float, wanted: Sequence[str] | None) -> Intervals:
    fit = model.fit
    names = [*fit.names]
    estimate, se, df = fit.coefficients, model.standard_errors, model.degrees(np.eye(len(fit.coefficients)))
    if model.family == "ordinal":
        between = model.thresholds()
        names += between["threshold"].tolist()
        estimate, se = np.append(estimate, between["estimate"]), np.append(se, between["se"])
        df = np.append(df, np.full(len(fit.thresholds), np.inf))
    half = se * quantile(level, df)
    kept = _chosen(names, wanted)
    return Intervals(
        tuple(names[k] for k in kept), estimate[kept], (estimate - half)[kept], (estimate + half)[kept], level, "wald"
    )


def _profiles(model: Model, level: float, wanted: Sequence[str] | None) -> Intervals:
    if not model.fit.converged:
        raise ValueError(Message("intervals.not_converged", {"convergence": model.fit.convergence.message}))
    objective, best = whole_likelihood(model)
    at = evaluated(objective, best)
    all_parameters = _parameters(model, objective)
    chosen = [all_parameters[k] for k in _chosen([one.name for one in all_parameters], wanted)]
    fall = float(ndtri((1 + level) / 2))
    rows = [_profile(model, objective, best, at, one, fall) for one in chosen]
    columns = np.array(rows).reshape(-1, 3).T
    notes: tuple[Message, ...] = (Message("intervals.likelihood"),) if model.fit.reml else ()
    open_ends = [one.name for one, row in zip(chosen, rows, strict=True) if not np.all(np.isfinite(row))]
    if open_ends:
        notes += (Message("intervals.open", {"names": open_ends}),)
    return Intervals(tuple(one.name for one in chosen), columns[0], columns[1], columns[2], level, "profile", notes)


def whole_likelihood(model: Model) -> tuple[LaplaceObjective, Floats]:
    """The negative log-likelihood over all parameters, and where it is smallest.

    For measured answers the Laplace approximation is exact, and in it every parameter is a coordinate of its own: the
    coefficients, the logarithm of sigma, and the deviations themselves.
    """
    fit = model.fit
    if isinstance(fit.objective, LaplaceObjective):
        return fit.objective, fit.parameters
    gaussian: GaussianObjective = fit.objective
    rows = len(gaussian.value)
    objective = LaplaceObjective(gaussian.crossing, Gaussian(gaussian.value), gaussian.design, np.zeros(rows))
    sigma = np.sqrt(fit.residual_variance)
    start = np.concatenate([fit.coefficients, [np.log(sigma)], sigma * fit.theta])
    return objective, minimise(objective, start, evaluated(objective, start), None, PRECISE / 10).parameters


def _profile(
    model: Model, objective: LaplaceObjective, best: Floats, at: Evaluated, one: Parameter, fall: float
) -> tuple[float, float, float]:
    """Estimate, lower and upper end."""
    place, least = one.place, -np.inf
    if one.term >= 0:
        objective, best, place = leading_deviation(objective, best, model.fit.terms, one)
        least = 0.0
        at = evaluated(objective, best)
    error = float(np.sqrt(np.linalg.pinv(at.information(), hermitian=True)[place, place]))
    low, high = profile_ends(objective, best, at, place, error, fall, least)
    if one.logarithm:
        return float(np.exp(best[place])), float(np.exp(low)), float(np.exp(high))
    return float(best[place]), low, high


def evaluated(objective: LaplaceObjective, parameters: Floats) -> Evaluated:
    """The likelihood at the parameters; an error where it cannot be computed."""
    at = objective(parameters)
    if at is None:
        raise ValueError("The likelihood cannot be computed at the estimate, so that it has no profile.")
    return at


def _parameters(model: Model, objective: LaplaceObjective) -> list[Parameter]:
    fit = model.fit
    found = [Parameter(name, place) for place, name in enumerate(fit.names)]
    first = len(found)
    found += [Parameter(name, first + k) for k, name in enumerate(model.thresholds()["threshold"])]
    for place, block in objective.crossing.placed(objective.parameters):
        term = fit.terms[block.term]
        shared = term.covariance == "shared" and len(term.names) > 1
        columns = ["+".join(term.names)] if shared else term.names
        found += [Parameter(f"sd_{name}|{term.group}", place, block.term, k) for k, name in enumerate(columns)]
    if model.family == "gaussian":
        found.append(Parameter("sigma", first, logarithm=True))
    return found


def leading_deviation(
    objective: LaplaceObjective, best: Floats, terms: Sequence[RandomTerm], one: Parameter
) -> tuple[LaplaceObjective, Floats, int]:
    """The same likelihood with the deviation of one column as a coordinate, which may not be negative.

    The first element of a triangular factor is the deviation of the first column; so the column is put first.
    """
    placed = objective.crossing.placed(objective.parameters)
    place, block = next((place, block) for place, block in placed if block.term == one.term)
    best = best.copy()
    if not block.full:
        best[place + one.column] = abs(best[place + one.column])
        return objective, best, place + one.column
    order: Ints = np.array([one.column, *(k for k in range(block.width) if k != one.column)])
    part = slice(place, place + block.size)
    lower: Floats = np.asarray(np.linalg.qr(block.factor(best[part])[order].T, mode="r")).T
    lower = lower * np.where(np.diag(lower) < 0, -1.0, 1.0)
    best[part] = lower[block.entries]
    moved = terms[one.term].only(order.tolist(), "full")
    crossing = Crossing(sides([*terms[: one.term], moved, *terms[one.term + 1 :]]))
    return replace(objective, crossing=crossing), best, place


def _chosen(names: Sequence[str], wanted: Sequence[str] | None) -> list[int]:
    if wanted is None:
        return list(range(len(names)))
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise ValueError(f"There is no parameter {listed(unknown)}; there are {listed(names)}.")
    return [list(names).index(name) for name in wanted]
