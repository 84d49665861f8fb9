"""Levels that mostly never met, and three crossed factors: beside dense matrices and the normal density itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from karat.models.glrm import fit, intervals
from karat.models.glrm.families import BinaryFamily
from karat.models.glrm.mixed.gaussian import GaussianObjective
from karat.models.glrm.mixed.laplace import Crossing, LaplaceObjective
from karat.models.glrm.mixed.sparse import SparseLayout
from karat.models.glrm.mixed.terms import RandomTerm, random_term, sides
from models.glrm.dense import differences
from models.glrm.mixed_cases import vector

ROWS = 150
CASES = ["intercepts", "turned", "slopes", "nested", "three", "one"]


def answers(who: int = 40, what: int = 25, third: int = 9) -> tuple[Any, Any, Any, Any, Any]:
    """Measured values, a predictor and the levels of three factors, of whose pairs most never met."""
    random = np.random.default_rng(4)
    one, other, last = (np.append(np.arange(k), random.integers(0, k, ROWS - k)) for k in (who, what, third))
    x = random.normal(size=ROWS)
    effects = (random.normal(0, size, k) for size, k in ((0.8, who), (0.6, what), (0.7, third)))
    y = 2 + 0.5 * x + sum(effect[code] for effect, code in zip(effects, (one, other, last), strict=True))
    return y + random.normal(size=ROWS), x, one, other, last


def terms_of(case: str) -> list[RandomTerm]:
    _, x, one, other, last = answers()
    columns = np.column_stack([np.ones(ROWS), x])
    intercepts = [random_term("one", one), random_term("other", other)]
    return {
        "intercepts": intercepts,
        "turned": intercepts[::-1],
        "slopes": [vector("one", one, columns), vector("other", other, columns)],
        "nested": [*intercepts, random_term("other:half", 2 * other + (x > 0))],
        "three": [vector("last", last, columns), *intercepts],
        "one": intercepts[:1],
    }[case]


def effects_of(crossing: Crossing, factors: Any) -> Any:
    """Z Lambda of all sides, and Z: the effects of a level stand together."""
    blocks = [
        (side.columns[:, :, None] * (side.codes[:, None] == np.arange(side.groups))).transpose(1, 2, 0)
        for side in crossing.sides
    ]
    spherical = [block @ factor for block, factor in zip(blocks, factors, strict=True)]
    return tuple(np.concatenate([one.reshape(ROWS, -1) for one in some], axis=1) for some in (spherical, blocks))


@pytest.mark.parametrize("case", CASES)
def test_all_follows_as_from_dense_matrices(case: str) -> None:
    random = np.random.default_rng(1)
    crossing = Crossing(sides(terms_of(case)), force_sparse=True)
    layout = crossing.layout
    assert isinstance(layout, SparseLayout)
    theta, weight = random.uniform(0.4, 1.2, crossing.size), random.uniform(0.5, 1.5, ROWS)
    factors = crossing.factors(theta)
    spherical, plain = effects_of(crossing, factors)
    matrix = np.eye(spherical.shape[1]) + spherical.T @ (weight[:, None] * spherical)
    curvature = crossing.layout.curvature(weight)
    found = curvature.factorise(factors)
    assert found.half_log_determinant == pytest.approx(np.linalg.slogdet(matrix)[1] / 2)
    for shape in ((), (3,)):
        right = tuple(random.normal(size=(*mode.shape, *shape)) for mode in crossing.zero_modes())
        flat = np.concatenate([one.reshape(-1, *shape) for one in right])
        for ours, expected in (
            (found.solve(right), np.linalg.solve(matrix, flat)),
            (curvature.times(right), plain.T @ (weight[:, None] * plain) @ flat),
        ):
            assert [one.shape for one in ours] == [one.shape for one in right]
            assert np.concatenate([one.reshape(-1, *shape) for one in ours]) == pytest.approx(expected)
    inverse = np.linalg.inv(matrix)
    assert found.spread() == pytest.approx(np.einsum("ij,jk,ik->i", spherical, inverse, spherical))

    def half(at: Any) -> float:
        return curvature.factorise(crossing.factors(at)).half_log_determinant

    assert crossing.by_theta(found.by_determinant()) == pytest.approx(differences(half, theta), abs=1e-6)


def dense_criterion(theta: Any, terms: list[RandomTerm], x: Any, y: Any, reml: bool = False) -> float:
    """The log density of the answers at the best coefficients and residual variance, for random intercepts."""
    v = np.eye(len(y))
    for deviation, term in zip(theta, terms, strict=True):
        v += deviation**2 * (term.codes[:, None] == term.codes)
    inverse = np.linalg.inv(v)
    beta = np.linalg.solve(x.T @ inverse @ x, x.T @ inverse @ y)
    error = y - x @ beta
    freedom = len(y) - x.shape[1] * reml
    variance = float(error @ inverse @ error) / freedom
    if not reml:
        return float(multivariate_normal(x @ beta, variance * v).logpdf(y))
    determinants = np.linalg.slogdet(v)[1] + np.linalg.slogdet(x.T @ inverse @ x)[1]
    return -float(determinants + freedom * (1 + np.log(2 * np.pi * variance))) / 2


@pytest.mark.few(1)
@pytest.mark.parametrize("reml", [False, True])
@pytest.mark.parametrize("factors", [3, 2])
def test_a_fit_maximises_the_normal_density(factors: int, reml: bool) -> None:
    y, x, *levels = answers()
    names = ["one", "other", "last"][:factors]
    data = {"y": y, "x": x, **dict(zip(names, levels, strict=False))}
    formula = "y ~ x + " + " + ".join(f"(1 | {name})" for name in names)
    model = fit(formula, data, family="gaussian", reml=reml)
    found, terms = model.fit, [random_term(name, data[name]) for name in names]
    columns = np.column_stack([np.ones(ROWS), x])
    assert found.converged
    assert not found.singular
    assert dense_criterion(found.theta, terms, columns, y, reml) == pytest.approx(found.log_likelihood, rel=1e-6)
    best = minimize(lambda at: -dense_criterion(at, terms, columns, y, reml), found.theta, method="Nelder-Mead")
    assert -best.fun == pytest.approx(found.log_likelihood, rel=1e-6)
    assert list(found.effects) == names
    v = np.eye(ROWS) + sum(
        deviation**2 * (term.codes[:, None] == term.codes) for deviation, term in zip(found.theta, terms, strict=True)
    )
    error = np.linalg.solve(v, y - columns @ found.coefficients)
    for deviation, term in zip(found.theta, terms, strict=True):
        of_level = deviation**2 * np.bincount(term.codes, error)
        assert found.effects[term.group][:, 0] == pytest.approx(of_level, abs=1e-8)
    inner = found.residual_variance * np.linalg.inv(columns.T @ np.linalg.solve(v, columns))
    assert found.covariance == pytest.approx(inner)
    assert np.all(model.table()["df"] > 1)


@pytest.mark.slow
def test_a_third_factor_has_a_profile() -> None:
    """The ends of the interval: where the log-likelihood of all other parameters falls by half of 1.96 squared."""
    y, x, *levels = answers()
    data = {"y": y, "x": x, **dict(zip(("one", "other", "last"), levels, strict=True))}
    model = fit("y ~ x + (1 | one) + (1 | other) + (1 | last)", data, family="gaussian", reml=False)
    found = intervals(model, "profile", parameters=["x"])
    columns, terms = np.ones((ROWS, 1)), [random_term(name, data[name]) for name in ("one", "other", "last")]
    for end in (found.lower[0], found.upper[0]):
        rest = minimize(lambda at: -dense_criterion(at, terms, columns, y - end * x), model.fit.theta)  # noqa: B023
        assert model.fit.log_likelihood + rest.fun == pytest.approx(1.959964**2 / 2, abs=1e-3)


def test_yes_or_no_answers_may_have_three_crossed_factors() -> None:
    y, x, *_ = answers()
    objective = LaplaceObjective(
        Crossing(sides(terms_of("three"))), BinaryFamily(np.sign(y - 2)), np.column_stack([x**0, x]), np.zeros(ROWS)
    )
    at = np.array([0.3, 0.5, 0.9, 0.2, 0.7, 0.8, 0.6])
    found = objective(at)
    assert found is not None
    assert found.gradient == pytest.approx(differences(lambda one: objective(one).value, at), abs=1e-5)  # type: ignore[union-attr]
    assert np.linalg.eigvalsh(found.information())[0] > 0


@pytest.mark.parametrize("case", ["intercepts", "slopes", "nested"])
def test_sparse_and_dense_answers_fit_alike(case: str) -> None:
    y, x, *_ = answers()
    terms, design = terms_of(case), np.column_stack([x**0, x])
    found = []
    for listed in (False, True):
        crossing = Crossing(sides(terms), force_sparse=listed)
        assert crossing.dense is not listed
        theta = np.linspace(0.3, 0.9, crossing.size)
        yes = BinaryFamily(np.sign(y - 2))
        for at in (
            GaussianObjective(crossing, y, design, True)(theta),
            LaplaceObjective(crossing, yes, design, np.zeros(ROWS))(np.append([0.2, 0.4], theta)),
        ):
            assert at is not None
            modes = np.concatenate([mode.ravel() for mode in at.modes])
            found.append(np.concatenate([[at.value], at.gradient, at.information().ravel(), modes]))
    assert found[2] == pytest.approx(found[0], abs=1e-8)
    assert found[3] == pytest.approx(found[1], abs=1e-6)


@given(
    codes=st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=12, max_size=30),
    theta=st.lists(st.floats(0, 3), min_size=3, max_size=3),
    crossed=st.integers(1, 3),
)
def test_whatever_met_the_criterion_is_the_normal_density(codes: Any, theta: list[float], crossed: int) -> None:
    levels = [np.unique(one, return_inverse=True)[1] for one in zip(*codes, strict=True)][:crossed]
    if any(one.max() == 0 for one in levels):
        return  # a factor needs two levels
    terms = [random_term(str(number), one) for number, one in enumerate(levels)]
    y = np.random.default_rng(len(codes)).normal(size=len(codes))
    x = np.ones((len(y), 1))
    own = sides(terms)
    order = [block.term for side in own for block in side.blocks]
    at = GaussianObjective(Crossing(own, force_sparse=True), y, x)(np.array([theta[term] for term in order]))
    assert at is not None
    assert -at.value == pytest.approx(dense_criterion(theta[:crossed], terms, x, y), rel=1e-6, abs=1e-6)
