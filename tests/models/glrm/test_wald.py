"""Type III tests do not depend on names or order; nested models are distinguished from others."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from karat.messages import Message
from karat.models.glrm.formulas.model import fit
from karat.models.glrm.formulas.wald import bootstrap, compare, simulate_answers, type_three
from messages import codes, refuses
from models.glrm.written_cases import GROUPS, study


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return study()


@pytest.mark.parametrize("family", ["binary", "ordinal", "gaussian"])
def test_the_order_of_levels_does_not_matter(data: dict[str, Any], family: Any) -> None:
    response = {"binary": "yes", "ordinal": "rating", "gaussian": "time"}[family]
    formula = f"{response} ~ condition * group + size + {GROUPS}"
    one = type_three(fit(formula, data, family))
    other = type_three(fit(formula, data, family, levels={"condition": ["c", "a", "b"], "group": ["young", "old"]}))
    np.testing.assert_allclose(one.statistic, other.statistic, rtol=2e-4)
    assert one.df.tolist() == [2, 1, 1, 2]


def test_a_term_of_one_column_is_the_square_of_z(data: dict[str, Any]) -> None:
    model = fit(f"yes ~ size + group + {GROUPS}", data)
    tests = type_three(model)
    np.testing.assert_allclose(tests.statistic, model.table()["z"][1:] ** 2)
    np.testing.assert_allclose(tests.p, model.table()["p"][1:])
    assert list(tests.table()) == ["term", "chisq", "df", "p"]
    assert tests.table()["term"].tolist() == ["size", "group"]
    assert tests.table()["term"].dtype == object
    assert [(row.values["test"].code, row.values["test"].values["df"]) for row in tests.summary[1:]] == [
        ("wald.chi_squared", 1)
    ] * 2


def test_treatment_main_effects_are_simple_effects(data: dict[str, Any]) -> None:
    formula = f"time ~ condition * group + {GROUPS}"
    treated = fit(formula, data, "gaussian", coding="treatment")
    tests = type_three(treated, "chisq")
    assert codes(tests.notes) == ["wald.treatment"]
    assert str(tests).startswith(f"{tests.summary[0]} {tests.notes[0]}\n  condition: χ²(2) = ")
    assert tests.statistic[1] == pytest.approx(treated.table()["t"][3] ** 2)
    summed = type_three(fit(formula, data, "gaussian"), "chisq")
    assert summed.statistic[2] == pytest.approx(tests.statistic[2], rel=1e-4)
    assert summed.statistic[1] != pytest.approx(tests.statistic[1], rel=0.05)
    assert summed.notes == ()
    assert type_three(fit(f"time ~ condition + {GROUPS}", data, "gaussian", coding="treatment")).notes == ()


def test_cautions(data: dict[str, Any]) -> None:
    covariate = Message("wald.covariates", {"names": ["size"], "n": 1})
    assert type_three(fit(f"yes ~ size * group + {GROUPS}", data)).notes == (covariate,)
    some = ~((data["condition"] == "a") & (data["group"] == "old"))
    fewer = {name: column[some] for name, column in data.items()}
    left_out = fit(f"yes ~ condition * group + {GROUPS}", fewer)
    assert codes(type_three(left_out).notes) == ["wald.dropped"]
    # Those that remain are taken as they are.
    rows = np.eye(len(left_out.fit.names))[left_out.design.terms == 3]
    means = rows @ left_out.fit.coefficients
    expected = means @ np.linalg.solve(rows @ left_out.fit.covariance @ rows.T, means)
    assert type_three(left_out).statistic[2] == pytest.approx(expected)


def test_other_answers_have_f_tests_with_satterthwaites_degrees(data: dict[str, Any]) -> None:
    model = fit(f"yes ~ group + {GROUPS}", data)
    by_f, by_chi_squared = type_three(model.tested_by()), type_three(model)
    assert (by_f.kind, by_chi_squared.kind) == ("F", "chisq")
    assert by_f.statistic == pytest.approx(by_chi_squared.statistic)
    assert by_f.denominator == pytest.approx(model.satterthwaite.degrees(np.eye(2)[1:]))
    assert by_f.p[0] > by_chi_squared.p[0]


def test_a_ratio_is_near_a_wald_test_and_any_order_will_do(data: dict[str, Any]) -> None:
    small, large = fit(f"yes ~ group + {GROUPS}", data), fit(f"yes ~ group + size + {GROUPS}", data)
    result = compare(small, large)
    assert result.statistic == pytest.approx(type_three(large).statistic[1], rel=0.2)
    assert compare(large, small) == result
    assert result.aic[0] - result.aic[1] == pytest.approx(result.statistic - 2)
    assert str(result).startswith("χ²(1) = ")


def test_a_variance_at_zero_is_reported(data: dict[str, Any]) -> None:
    one = fit("time ~ 1 + (1 | participant)", data, "gaussian")
    both = fit(f"time ~ 1 + {GROUPS}", data, "gaussian")
    result = compare(one, both)
    assert codes(result.notes) == ["wald.mixture", "wald.reml"]
    assert (result.mixture, result.p) == ((0, 1), pytest.approx(chi2.sf(result.statistic, 1) / 2))
    test = result.summary[0].values["test"]
    assert test == Message("wald.chi_squared", {"df": 1, "statistic": result.statistic, "p": result.p})
    assert str(result) == " ".join(map(str, (*result.summary, *result.notes)))
    assert result.log_likelihoods == (one.fit.log_likelihood, both.fit.log_likelihood)


def test_what_cannot_be_compared(data: dict[str, Any]) -> None:
    binary, size = fit(f"yes ~ group + {GROUPS}", data), fit(f"yes ~ size + condition + {GROUPS}", data)
    with refuses(ValueError, binary.formula, size.formula):
        compare(binary, size)
    rows = len(data["yes"])
    with refuses(ValueError, rows, rows - 5):
        compare(binary, fit(f"yes ~ group + size + {GROUPS}", {name: column[:-5] for name, column in data.items()}))
    with refuses(ValueError, f"{rows} and {rows}"):
        compare(binary, fit(f"yes ~ group + size + {GROUPS}", data | {"yes": ~data["yes"]}))
    with refuses(ValueError, "number of parameters"):
        compare(binary, fit(f"yes ~ size + {GROUPS}", data))
    with refuses(ValueError, "binary", "gaussian"):
        compare(binary, fit(f"time ~ group + {GROUPS}", data, "gaussian"))
    reml = fit(f"time ~ group + {GROUPS}", data, "gaussian")
    with refuses(ValueError, "reml=False"):
        compare(reml, fit(f"time ~ group + size + {GROUPS}", data, "gaussian"))
    with refuses(ValueError, "both", "reml=False"):
        compare(reml, fit(f"time ~ group + size + {GROUPS}", data, "gaussian", reml=False))
    with refuses(ValueError, "(1 | item)", "(1 + size | participant)"):
        compare(
            fit("time ~ 1 + (1 | item)", data, "gaussian"), fit("time ~ 1 + (1 + size | participant)", data, "gaussian")
        )


def test_what_the_tests_print(data: dict[str, Any]) -> None:
    measured = type_three(fit(f"time ~ group + size + {GROUPS}", data, "gaussian"))
    assert list(measured.table()) == ["term", "F", "df", "denominator", "p"]
    first, *rows = str(measured).splitlines()
    assert first == str(Message("wald.tests"))
    for row, term, value, below in zip(rows, ("group", "size"), measured.statistic, measured.denominator, strict=True):
        assert row.startswith(f"  {term}: F(1, {below:.1f}) = {value:.2f}, p ")
    weight = np.random.default_rng(2).normal(size=len(data["size"]))
    crossed = type_three(fit(f"yes ~ size * weight + {GROUPS}", data | {"weight": weight}))
    assert crossed.notes == (Message("wald.covariates", {"names": ["size", "weight"], "n": 2}),)


def test_correlated_effects_are_not_nested_in_independent_ones(data: dict[str, Any]) -> None:
    correlated = fit("time ~ 1 + (1 + size | participant)", data, "gaussian")
    independent = fit("time ~ 1 + (1 + size || participant)", data, "gaussian")
    assert compare(independent, correlated).df == 1
    more = fit("time ~ 1 + (1 + condition + size || participant) + (1 | item)", data, "gaussian")
    with refuses(ValueError, correlated.formula, more.formula):
        compare(correlated, more)


def test_nested_random_effects(data: dict[str, Any]) -> None:
    """Terms may be inside larger ones of the same kind, a single one in any."""

    def measured(random: str) -> Any:
        return fit(f"time ~ 1 + {random}", data, "gaussian")

    full, diagonal = measured("(1 + size + condition | item)"), measured("(1 + size + condition || item)")
    assert compare(measured("(1 + size | item)"), full).df == 10 - 3
    assert compare(measured("(1 + size || item)"), diagonal).df == 4 - 2
    assert compare(measured("(1 | item)"), diagonal).df == 4 - 1
    for smaller, larger in (("(1 | participant)", diagonal), ("(1 + group || item)", diagonal)):
        with refuses(ValueError, smaller, larger.formula):
            compare(measured(smaller), larger)


def test_thresholds_stand_for_an_intercept_and_nothing_else_does(data: dict[str, Any]) -> None:
    treated = fit(f"rating ~ group + {GROUPS}", data, "ordinal", coding="treatment")
    assert compare(treated, fit(f"rating ~ group + size + {GROUPS}", data, "ordinal")).df == 1
    weight = np.random.default_rng(2).normal(size=len(data["size"]))
    mean, none = (fit(f"yes ~ {fixed} + {GROUPS}", data | {"weight": weight}) for fixed in ("1", "0 + size + weight"))
    with refuses(ValueError, mean.formula, none.formula):
        compare(mean, none)


def test_large_numbers_are_nested_as_small_ones_are(data: dict[str, Any]) -> None:
    large = data | {"size": 1e7 + 1e6 * data["size"]}
    assert compare(fit(f"yes ~ size + {GROUPS}", large), fit(f"yes ~ size + group + {GROUPS}", large)).df == 1


def altered(model: Any, log_likelihood: float, converged: bool = True) -> Any:
    """A model with another end of its search."""
    convergence = replace(model.fit.convergence, converged=converged)
    return replace(model, fit=replace(model.fit, log_likelihood=log_likelihood, convergence=convergence))


def test_a_ratio_is_reported_from_the_likelihoods_alone(data: dict[str, Any]) -> None:
    small, large = fit(f"yes ~ group + {GROUPS}", data), fit(f"yes ~ group + size + {GROUPS}", data)
    near = compare(altered(small, -100.0), altered(large, -99.8))
    assert near.statistic == pytest.approx(0.4)
    assert near.p == pytest.approx(chi2.sf(0.4, 1))
    assert near.aic == pytest.approx((200 + 2 * 4, 199.6 + 2 * 5))
    assert codes(near.summary) == ["wald.ratio"]
    # A larger model whose search ended lower is no worse than the smaller.
    below = compare(altered(small, -100.0), altered(large, -100.5, converged=False))
    assert (below.statistic, below.p, below.log_likelihoods) == (0, 1, (-100.0, -100.5))
    assert below.notes == (Message("wald.not_converged", {"formula": str(large.formula)}),)


@pytest.mark.parametrize("coding", ["sum", "treatment"])
def test_measured_terms_are_tested_without_the_first_level(data: dict[str, Any], coding: Any) -> None:
    """As lmerTest does; the rows are written out from the names of the coefficients."""
    place = np.array(["x", "y", "z"])[np.arange(len(data["time"])) % 7 % 3]
    model = fit(f"time ~ condition * place + size + {GROUPS}", data | {"place": place}, "gaussian", coding=coding)
    tests = type_three(model)
    assert (tests.terms, tests.kind) == (("condition", "place", "size", "condition:place"), "F")
    assert tests.df.tolist() == [2, 2, 1, 4]
    codes = {"sum": [[1, 0], [0, 1], [-1, -1]], "treatment": [[0, 0], [1, 0], [0, 1]]}[coding]
    less = {
        factor: {f"{factor}{name}": np.subtract(codes[1:], codes[0])[:, k] for k, name in enumerate(names)}
        for factor, names in (
            ("condition", "12" if coding == "sum" else "bc"), ("place", "12" if coding == "sum" else "yz")
        )
    }  # fmt: skip
    for number, term in enumerate(tests.terms):
        rows = []
        for k, j in product(range(2), range(2)):
            row = np.zeros(len(model.fit.names))
            for position, name in enumerate(model.fit.names):
                parts = name.split(":")
                if [part[:-1] for part in parts] == term.split(":"):
                    row[position] = np.prod([less[part[:-1]][part][k if part[0] == "c" else j] for part in parts])
                elif name == term:
                    row[position] = 1
            rows.append(row)
        expected = model.satterthwaite.test(np.unique(rows, axis=0) if number < 3 else np.array(rows))
        found = (tests.statistic[number], tests.df[number], tests.denominator[number], tests.p[number])
        assert found == pytest.approx(expected, rel=1e-6)
    by_chi_squared = type_three(model, "chisq")
    np.testing.assert_allclose(by_chi_squared.statistic, tests.statistic * tests.df)
    np.testing.assert_allclose(by_chi_squared.p, chi2.sf(by_chi_squared.statistic, tests.df))
    assert np.isinf(by_chi_squared.denominator).all()


@pytest.mark.parametrize("coding", ["sum", "treatment"])
def test_all_first_means_are_tested_without_intercept(data: dict[str, Any], coding: Any) -> None:
    model = fit(f"time ~ 0 + condition + group + {GROUPS}", data, "gaussian", coding=coding)
    tests = type_three(model)
    assert tests.df.tolist() == [3, 1]
    means, covariance = model.fit.coefficients[:3], model.fit.covariance[:3, :3]
    assert tests.statistic[0] == pytest.approx(means @ np.linalg.solve(covariance, means) / 3)
    assert codes(tests.notes) == (["wald.no_intercept"] if coding == "sum" else [])


def test_a_factor_inside_another_is_tested_at_each_of_its_levels(data: dict[str, Any]) -> None:
    """The outer factor has a column for every level there, and the inner is taken level by level minus its first."""
    place = np.array(["x", "y", "z"])[np.arange(len(data["time"])) % 7 % 3]
    model = fit(f"time ~ condition + condition:place + {GROUPS}", data | {"place": place}, "gaussian")
    names, rows = list(model.fit.names), []
    for outer, less in product("abc", [[-1, 1], [-2, -1]]):
        row = np.zeros(len(names))
        row[[names.index(f"condition{outer}:place{inner}") for inner in "12"]] = less
        rows.append(row)
    tests = type_three(model)
    found = (tests.statistic[1], tests.df[1], tests.denominator[1], tests.p[1])
    assert found == pytest.approx(model.satterthwaite.test(np.array(rows)), rel=1e-6)


def test_two_variances_at_once_have_no_mixture(data: dict[str, Any]) -> None:
    small = fit(f"time ~ size + {GROUPS}", data, "gaussian")
    large = fit("time ~ size + (1 + size | participant) + (1 + size | item)", data, "gaussian")
    result = compare(small, large)
    assert codes(result.notes)[0] == "wald.boundary"
    assert (result.mixture, result.p) == (None, pytest.approx(chi2.sf(result.statistic, 4)))


@pytest.mark.parametrize("family", ["binary", "ordinal", "gaussian"])
def test_simulated_answers_are_those_of_the_model(data: dict[str, Any], family: Any) -> None:
    response = {"binary": "yes", "ordinal": "rating", "gaussian": "time"}[family]
    model = fit(f"{response} ~ condition + size + (1 + size | participant) + (1 | item)", data, family)
    random = np.random.default_rng(1)
    draws = np.array([simulate_answers(model, random) for _ in range(200)])
    if family == "gaussian":
        fixed = model.design.matrix @ model.fit.coefficients
        variance = sum(
            np.einsum("ij,jk,ik->i", term.columns, model.fit.covariances[term.group], term.columns)
            for term in model.fit.terms
        )
        assert draws.mean() == pytest.approx(fixed.mean(), abs=0.1)
        assert draws.var(axis=0).mean() == pytest.approx(np.mean(variance) + model.fit.residual_variance, rel=0.05)
    else:
        assert set(np.unique(draws)) == set(range(len(model.answers)))
        assert draws.mean() == pytest.approx(model.response.mean(), rel=0.1)


def test_bootstrap_samples_are_the_same_in_any_order(data: dict[str, Any]) -> None:
    smaller, larger = (fit(f"yes ~ {fixed} + (1 | participant)", data) for fixed in ("condition", "condition + size"))
    reports: list[tuple[int, int]] = []
    result = bootstrap(smaller, larger, 5, progress=lambda *numbers: reports.append(numbers))
    other = bootstrap(larger, smaller, 5, mapper=lambda run, jobs: list(map(run, list(jobs)[::-1]))[::-1])
    assert result.simulated is not None
    assert other.simulated is not None
    np.testing.assert_array_equal(result.simulated, other.simulated)
    assert result.statistic == compare(smaller, larger).statistic
    assert result.p == (1 + (result.simulated >= result.statistic).sum()) / 6
    assert reports == [(done, 5) for done in range(1, 6)]
    assert codes(result.notes) == ["wald.bootstrap"]


def test_samples_that_cannot_be_fitted_do_not_count() -> None:
    """With one "yes" in 40 answers, many samples have none."""
    rare = {"yes": [1] + [0] * 39, "who": np.repeat(range(10), 4), "x": np.tile([0.0, 1.0], 20)}
    smaller, larger = (fit(f"yes ~ {fixed} + (1 | who)", rare) for fixed in ("1", "x"))
    result = bootstrap(smaller, larger, samples=10)
    assert result.simulated is not None
    assert 0 < len(result.simulated) < 10
    assert result.notes[-1].values["failed"] == 10 - len(result.simulated)


def test_a_bootstrap_needs_samples(data: dict[str, Any]) -> None:
    smaller, larger = (fit(f"yes ~ {fixed} + (1 | participant)", data) for fixed in ("1", "size"))
    with refuses(ValueError, "samples", 0):
        bootstrap(smaller, larger, samples=0)
