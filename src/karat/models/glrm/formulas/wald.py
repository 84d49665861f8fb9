"""Wald tests of the terms of a model, Type II and III, and likelihood-ratio tests of nested models.

With L the rows of the identity for a term's coefficients, b all coefficients and V their covariance, the test is

    X^2 = (L b)' (L V L')^-1 (L b),   chi-squared with as many degrees of freedom as the term has columns

or, if `Model.method` is not asymptotic, F = X^2 / df with its degrees of freedom. In sum-to-zero coding these are Type
III tests: each term is averaged over the levels of the others, whatever else is in the model. In treatment coding they
equal those of car's Anova with type = 3; a main effect is then the effect at the first levels of the factors it
interacts with, and a note says so.

Type II tests adjust a term for all others except those that contain it. With T the term and R the terms that contain
it, X^2 is that of T and R together minus that of R (as in car's Anova); its contrasts are combinations of T and R that
are uncorrelated with R.

The likelihood-ratio test compares twice the difference of the log-likelihoods with chi-squared. If the smaller model
lacks a variance, the null value of that variance is on the boundary, and p is too large. If the only difference is one
effect of one term, with its k covariances, the distribution is an equal mixture of chi-squared with k and k + 1 degrees
of freedom (Self and Liang 1987; Stram and Lee 1994), and p is that of the mixture.

A parametric bootstrap needs no such distribution: answers are simulated from the smaller model, with new random
effects, and both models are fitted to them. Then p = (1 + b) / (1 + m), where b of m statistics are at least as large
as the observed one (as in pbkrtest's PBmodcomp; Halekoh and Hojsgaard 2014).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from scipy.special import chdtrc

from karat.messages import Message
from karat.models.glrm.families import inverse_link
from karat.models.glrm.formulas.design import contrasts, full_factors
from karat.models.glrm.formulas.frame import FactorVariable
from karat.models.glrm.formulas.model import Model, RowsResult, Table
from karat.models.glrm.mixed.fit import fit_mixed
from karat.models.glrm.mixed.result import MixedFit, sizes
from karat.models.numerics import known
from karat.types import Floats, Map, Progress

SPAN_TOLERANCE = 1e-8


@dataclass(frozen=True)
class TermTests(RowsResult):
    """Tests of the terms of a model."""

    terms: tuple[str, ...]
    statistic: Floats
    df: Floats
    denominator: Floats
    """The denominator's degrees of freedom, infinite for chi-squared."""
    p: Floats
    kind: Literal["chisq", "F"]
    notes: tuple[Message, ...]

    def table(self) -> Table:
        """One row per term."""
        table: Table = {"term": np.array(self.terms, dtype=object), self.kind: self.statistic, "df": self.df}
        return table | ({"denominator": self.denominator} if self.kind == "F" else {}) | {"p": self.p}

    @property
    def summary(self) -> tuple[Message, ...]:
        """A heading, then each test."""
        rows = zip(self.terms, self.statistic, self.df, self.denominator, self.p, strict=True)
        return Message("wald.tests"), *(
            Message("wald.test", {"term": term, "test": statistic_message(value, df, denominator, p)})
            for term, value, df, denominator, p in rows
        )


def statistic_message(statistic: float, df: float, denominator: float, p: float) -> Message:
    """A test in journal style: chi-squared, or F if its denominator has finite degrees of freedom.

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
    """Test every term but the intercept, by `test` or, by default, by the test of the model's method.

    >>> import karat
    >>> from karat.models.glrm.formulas.model import fit
    >>> data = karat.datasets.load("likert").frame.filter(function="test").to_dict()
    >>> tests = type_three(fit("rt ~ order * integration + (1 | participant) + (1 | item)", data, family="gaussian"))
    >>> tests.terms, tests.df.tolist(), tests.p.round(2).tolist()
    (('order', 'integration', 'order:integration'), [1.0, 1.0, 1.0], [0.48, 0.23, 0.68])
    """
    return _tests(model, test, _contrasts_of, tuple(_cautions(model)))


def type_two(model: Model, test: Literal["chisq", "F"] | None = None) -> TermTests:
    """Test every term but the intercept, adjusted for all others except those that contain it.

    >>> import karat
    >>> from karat.models.glrm.formulas.model import fit
    >>> data = karat.datasets.load("likert").frame.filter(function="test").to_dict()
    >>> tests = type_two(fit("rt ~ order * integration + (1 | participant) + (1 | item)", data, family="gaussian"))
    >>> tests.terms, tests.p.round(2).tolist()
    (('order', 'integration', 'order:integration'), [0.48, 0.23, 0.68])
    """
    return _tests(model, test, _adjusted_contrasts, ())


def _tests(
    model: Model,
    test: Literal["chisq", "F"] | None,
    contrasts_of: Callable[[Model, int], Floats],
    notes: tuple[Message, ...],
) -> TermTests:
    """Tests of every term but the intercept, by its contrasts."""
    kind = test or ("chisq" if model.method == "asymptotic" else "F")
    rows, names = [], []
    for number in dict.fromkeys(model.design.terms[model.design.terms > 0].tolist()):
        contrasts = contrasts_of(model, number)
        names.append(model.design.labels[number])
        rows.append(model.test(contrasts) if kind == "F" else _chi_squared(model, contrasts))
    columns = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    return TermTests(tuple(names), columns[0], columns[1], columns[2], columns[3], kind, notes)


def _adjusted_contrasts(model: Model, number: int) -> Floats:
    """Contrasts of a term's coefficients, made uncorrelated with those of the terms that contain it."""
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
    """Contrasts that span a term's coefficients: for factors, every level minus the first.

    The statistic is the same for all such contrasts, but Satterthwaite's degrees of freedom of several contrasts differ
    slightly; these are lmerTest's. For the only term of a model, the contrasts are the term's rows of the unit upper
    triangle U in X'X = U'DU.
    """
    design, columns = model.design, model.frame.columns
    rows = np.eye(len(design.names))[design.terms == number]
    if len(design.expansion.terms) == 1:
        # Thresholds act as an intercept.
        matrix = design.matrix - design.matrix.mean(axis=0) if model.family == "ordinal" else design.matrix
        triangle = np.linalg.qr(matrix, mode="r")
        return np.asarray(rows @ (triangle / np.diag(triangle)[:, None]))
    full = full_factors(design.expansion, columns)
    coding: Floats = np.eye(1)
    for label in design.expansion.terms[number - 1]:
        column = columns[label]
        if isinstance(column, FactorVariable):
            size = len(column.levels)
            coded = contrasts(size, design.coding)
            inner = np.eye(size) if (number, label) in full else coded[1:] - coded[0]
            coding = np.asarray(np.kron(inner, coding), dtype=np.float64)
        elif column.values.ndim > 1:
            coding = np.asarray(np.kron(np.eye(column.values.shape[1]), coding), dtype=np.float64)
    # If columns were removed, the remaining ones are tested as they are.
    return np.asarray(coding @ rows if coding.shape[1] == len(rows) else rows)


def _chi_squared(model: Model, rows: Floats) -> tuple[float, int, float, float]:
    """Wald's chi-squared of contrasts, its degrees of freedom, an infinite denominator and p."""
    values = rows @ model.fit.coefficients
    statistic = float(values @ np.linalg.solve(rows @ model.fit.covariance @ rows.T, values))
    return statistic, len(rows), np.inf, float(chdtrc(len(rows), statistic))


def _cautions(model: Model) -> list[Message]:
    """Notes on the interpretation of the tests."""
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
    """The degrees of freedom of the two parts of the mixture, if a variance is tested."""
    simulated: Floats | None = None
    """The statistics of simulated answers, if p is from a parametric bootstrap."""

    @property
    def summary(self) -> tuple[Message, ...]:
        """The test."""
        return (Message("wald.ratio", {"test": statistic_message(self.statistic, self.df, np.inf, self.p)}),)

    def __str__(self) -> str:
        return " ".join(map(str, (*self.summary, *self.notes)))


def compare(smaller: Model, larger: Model) -> WaldComparison:
    """The likelihood-ratio test of two nested models of the same answers, in either order.

    >>> import karat
    >>> from karat.models.glrm.formulas.model import fit
    >>> data = karat.datasets.load("likert").frame.filter(function="test").to_dict()
    >>> smaller, larger = (fit(f"rt ~ {x} + (1 | participant)", data, "gaussian", reml=False) for x in ("1", "order"))
    >>> result = compare(smaller, larger)
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


def bootstrap(
    smaller: Model,
    larger: Model,
    samples: int = 1000,
    seed: int = 1,
    *,
    mapper: Map = map,
    progress: Progress | None = None,
) -> WaldComparison:
    """The likelihood-ratio test with the p value of a parametric bootstrap.

    `mapper` may be the map of a pool of processes; `progress` is called with the numbers of finished and of all
    samples. The values do not depend on `mapper`.

    >>> import karat
    >>> from karat.models.glrm.formulas.model import fit
    >>> data = karat.datasets.load("likert").frame.filter(function="test").to_dict()
    >>> smaller, larger = (fit(f"rt ~ {x} + (1 | participant)", data, "gaussian", reml=False) for x in ("1", "order"))
    >>> result = bootstrap(smaller, larger, samples=19)
    >>> len(result.simulated), 0.05 <= result.p <= 1
    (19, True)
    """
    if samples < 1:
        raise ValueError(f"The number of samples is at least 1, not {samples}.")
    asymptotic = compare(smaller, larger)
    if smaller.parameters > larger.parameters:
        smaller, larger = larger, smaller
    statistics: list[float] = []
    for done, statistic in enumerate(mapper(partial(_simulated_statistic, smaller, larger, seed), range(samples)), 1):
        statistics.append(statistic)
        if progress is not None:
            progress(done, samples)
    simulated = np.array(statistics)
    simulated = simulated[np.isfinite(simulated)]
    p = (1 + int((simulated >= asymptotic.statistic).sum())) / (1 + len(simulated))
    unconverged = [note for note in asymptotic.notes if note.code == "wald.not_converged"]
    note = Message("wald.bootstrap", {"n": len(simulated), "failed": (samples - len(simulated)) or None})
    return replace(asymptotic, p=p, mixture=None, simulated=simulated, notes=(*unconverged, note))


def _simulated_statistic(smaller: Model, larger: Model, seed: int, sample: int) -> float:
    """The statistic of answers simulated from the smaller model; NaN if a model cannot be fitted to them."""
    answers = simulate_answers(smaller, np.random.default_rng((seed, sample)))
    try:
        small, large = (
            fit_mixed(
                answers, model.design.matrix, model.design.names, model.fit.terms, family=model.family,
                reml=model.fit.reml, link=model.link,
            )
            for model in (smaller, larger)
        )  # fmt: skip
    except (ValueError, ArithmeticError):
        return np.nan
    return max(2 * (large.log_likelihood - small.log_likelihood), 0.0)


def simulate_answers(model: Model, random: np.random.Generator) -> Floats:
    """Answers of the model's participants to its items, with new random effects: codes or measured values."""
    fit: MixedFit = model.fit
    deviation = np.sqrt(fit.residual_variance) if model.family == "gaussian" else 1.0
    eta = model.design.matrix @ fit.coefficients
    for term, factor in zip(fit.terms, fit.factors, strict=True):
        effects = random.normal(0, deviation, (len(term.levels), len(term.names))) @ (factor / sizes(term)[:, None]).T
        eta = eta + (term.columns * effects[term.codes]).sum(axis=1)
    if model.family == "gaussian":
        return np.asarray(eta + random.normal(0, deviation, len(eta)))
    uniform = random.random(len(eta))
    if model.family == "binary":
        return np.asarray(uniform < inverse_link(model.link, eta), dtype=np.float64)
    below = inverse_link(model.link, fit.thresholds - eta[:, None])
    return np.asarray((uniform[:, None] > below).sum(axis=1), dtype=np.float64)


def _mixture(smaller: Model, larger: Model) -> tuple[int, int] | None:
    """k and k + 1 if the models differ by one random effect with k covariances, otherwise None."""
    if smaller.design.matrix.shape[1] != larger.design.matrix.shape[1]:
        return None
    small_terms, large_terms = (
        [(term.group, term.names, term.covariance) for term in model.fit.terms] for model in (smaller, larger)
    )
    extra = [term for term in larger.fit.terms if (term.group, term.names, term.covariance) not in small_terms]
    missing = [term for term in smaller.fit.terms if (term.group, term.names, term.covariance) not in large_terms]
    if len(extra) != 1:
        return None
    if not missing:
        return (0, 1) if len(extra[0].names) == 1 else None
    same = len(missing) == 1 and missing[0].group == extra[0].group and set(missing[0].names) < set(extra[0].names)
    if not same or len(extra[0].names) - len(missing[0].names) != 1:
        return None
    correlated = len(missing[0].names) if extra[0].covariance == "full" else 0
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
    """Whether the larger model includes the smaller one."""
    inner, outer = smaller.design.matrix, larger.design.matrix
    if inner.shape[1]:
        # Thresholds act as an intercept.
        outer = np.column_stack([np.ones(len(outer)), outer]) if larger.family == "ordinal" else outer
        residual = inner - outer @ np.linalg.lstsq(outer, inner, rcond=None)[0]
        if float(np.abs(residual).max()) > SPAN_TOLERANCE * max(1.0, float(np.abs(inner).max())):
            return False
    return all(
        any(
            term.group == larger_term.group
            and set(term.names) <= set(larger_term.names)
            and (larger_term.covariance == "full" or term.covariance != "full" or len(term.names) == 1)
            for larger_term in larger.fit.terms
        )
        for term in smaller.fit.terms
    )
