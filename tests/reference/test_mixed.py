"""Mixed models beside lme4, lmerTest, pbkrtest, glmmTMB and ordinal, maximal models included.

`r/mixed` has the data, the values and the R scripts that made both; its README says how closely to compare.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from karat.models.glrm import (
    Model,
    adaptive_quadrature,
    bootstrap,
    compare,
    correlation_intervals,
    fit,
    marginal_means,
    type_three,
    type_two,
)
from karat.models.glrm.families import FamilyName
from messages import refuses

FOLDER = Path(__file__).parent / "r" / "mixed"
VALUES: dict[str, Any] = json.loads((FOLDER / "frequentist.json").read_text(encoding="utf-8"))
DESIGNS: dict[str, Any] = json.loads((FOLDER.parent / "designs.json").read_text(encoding="utf-8"))


@cache
def fitted(data: str, formula: str, family: FamilyName, reml: bool | None = None) -> Model:
    table = pl.read_csv(FOLDER / f"{data}.csv")
    return fit(formula, {name: table[name].to_numpy() for name in table.columns}, family, reml=reml)


def compare_estimates(model: Model, expected: dict[str, Any], tolerance: float, errors: float | None) -> None:
    """Coefficients, their standard errors unless None, and the deviations and correlations of the random effects."""
    for name, estimate, error in zip(model.fit.names, model.fit.coefficients, model.fit.standard_errors, strict=True):
        assert estimate == pytest.approx(expected["coefficients"][name]["Estimate"], tolerance, tolerance), name
        if errors is not None:
            assert error == pytest.approx(expected["coefficients"][name]["Std. Error"], rel=errors), name
    for group, own in expected["random"].items():
        matrix = model.fit.covariances[group]
        deviations = np.sqrt(np.diag(matrix))
        np.testing.assert_allclose(deviations, own["sd"], rtol=max(tolerance, 1e-4), atol=tolerance, err_msg=group)
        if "correlation" in own and errors is not None:
            correlations = matrix / np.outer(deviations, deviations)
            np.testing.assert_allclose(correlations, own["correlation"], atol=max(5 * tolerance, 5e-4), err_msg=group)


@pytest.mark.parametrize("name", ["intercepts", "maximal"])
@pytest.mark.parametrize("method", ["ML", "REML"])
def test_measured_answers(name: str, method: str) -> None:
    expected = VALUES["likert_gaussian"][name][f"lme4_{method}"]
    model = fitted("likert_sim", expected["formula"], "gaussian", method == "REML")
    assert model.fit.converged
    # The optimisers of lme4 stop a little below the maximum.
    best = max(expected["loglik"], expected["loglik_second_optimizer"])
    assert best - 1e-6 <= model.fit.log_likelihood <= best + 1e-5
    compare_estimates(model, expected, 1e-4, 1e-4)
    assert np.sqrt(model.fit.residual_variance) == pytest.approx(expected["sigma"], rel=1e-4)


@pytest.mark.parametrize("name", ["intercepts", "slopes_a", "slopes", "maximal"])
def test_yes_or_no_answers(name: str) -> None:
    expected = VALUES["binary_logit"][name]
    model = fitted("binary_sim", expected["formula"], "binary")
    regular = bool(expected["positive_definite_hessian"])
    assert model.fit.converged
    assert model.fit.singular is not regular
    assert model.fit.log_likelihood == pytest.approx(expected["loglik"], abs=1e-6 if regular else 1e-3)
    compare_estimates(model, expected, 1e-4 if regular else 1e-3, 1e-3 if regular else None)


@pytest.mark.parametrize("name", ["intercepts_logit", "slopes_a_logit", "maximal_logit"])
def test_ordered_answers(name: str) -> None:
    expected = VALUES["likert_clmm"][name]
    model = fitted("likert_sim", expected["formula"], "ordinal")
    assert model.fit.converged
    assert model.fit.log_likelihood == pytest.approx(expected["loglik"], abs=1e-4)
    compare_estimates(model, expected, 2e-3, 2e-3)
    between = model.thresholds()
    for threshold, estimate in zip(between["threshold"], between["estimate"], strict=True):
        assert estimate == pytest.approx(expected["thresholds"][threshold]["Estimate"], abs=2e-3)


FREEDOM = {
    "sleepstudy": ("sleepstudy", "Reaction ~ Days + (1 + Days | Subject)"),
    "penicillin": ("penicillin", "diameter ~ 1 + (1 | plate) + (1 | sample)"),
    "likert_intercepts": ("likert_sim", "y ~ a * b + (1 | participant) + (1 | item)"),
    "likert_maximal": ("likert_sim", "y ~ a * b + (1 + a * b | participant) + (1 + a * b | item)"),
}


@pytest.mark.parametrize("name", list(FREEDOM))
@pytest.mark.parametrize("method", ["satterthwaite", "kenward-roger"])
def test_degrees_of_freedom(name: str, method: Any) -> None:
    expected = VALUES["degrees_of_freedom"][name]
    model = fitted(*FREEDOM[name], "gaussian").tested_by(method)
    rows = expected[method.replace("-", "_")]
    table = model.table()
    for term, error, df, p in zip(table["term"], table["se"], table["df"], table["p"], strict=True):
        assert (error, df) == pytest.approx((rows[term]["Std. Error"], rows[term]["df"]), rel=1e-3)
        assert np.log(p) == pytest.approx(np.log(rows[term]["Pr(>|t|)"]), rel=1e-3)
    if method == "kenward-roger":
        np.testing.assert_allclose(model.covariance, expected["kenward_roger_vcov"], rtol=1e-3, atol=1e-6)


def test_kenward_roger_is_the_default_of_small_reml_fits() -> None:
    assert fitted(*FREEDOM["penicillin"], "gaussian").tested_by().method == "kenward-roger"
    assert fitted(*FREEDOM["penicillin"], "gaussian", False).tested_by().method == "satterthwaite"
    with refuses(ValueError, "REML"):
        fitted(*FREEDOM["penicillin"], "gaussian", False).tested_by("kenward-roger")


def test_tests_and_means_by_kenward_and_roger() -> None:
    model = fitted(*FREEDOM["likert_maximal"], "gaussian").tested_by("kenward-roger")
    expected = VALUES["degrees_of_freedom"]["likert_maximal"]["kenward_roger"]
    tests = type_three(model)
    for term, statistic, below in zip(tests.terms, tests.statistic, tests.denominator, strict=True):
        assert (statistic, below) == pytest.approx((expected[term]["t value"] ** 2, expected[term]["df"]), rel=1e-3)
    mean = marginal_means(model, at={"a": 0.0, "b": 0.0})
    assert (mean.se[0], mean.df[0]) == pytest.approx(
        (expected["(Intercept)"]["Std. Error"], expected["(Intercept)"]["df"]), rel=1e-3
    )


@pytest.mark.parametrize("name", ["likert_intercepts", "likert_maximal"])
def test_type_two_and_three(name: str) -> None:
    model, expected = fitted(*FREEDOM[name], "gaussian"), VALUES["anova"][f"{name}_chisq"]
    for key, tests in (("type_II", type_two(model, "chisq")), ("type_III", type_three(model, "chisq"))):
        for term, statistic in zip(tests.terms, tests.statistic, strict=True):
            assert statistic == pytest.approx(expected[key][term]["Chisq"], rel=1e-3), (key, term)


def test_type_two_by_kenward_and_roger() -> None:
    tests = type_two(fitted(*FREEDOM["likert_intercepts"], "gaussian").tested_by())
    expected = VALUES["anova"]["likert_intercepts_F_kenward_roger"]["type_II"]
    for term, statistic, below in zip(tests.terms, tests.statistic, tests.denominator, strict=True):
        assert (statistic, below) == pytest.approx((expected[term]["F"], expected[term]["Df.res"]), rel=1e-3)


@pytest.mark.parametrize("method", ["ML", "REML"])
@pytest.mark.parametrize("name", list(VALUES["variance_component_tests"]["ML"]))
def test_variances_at_the_boundary(name: str, method: str) -> None:
    expected = VALUES["variance_component_tests"][method][name]
    data = "sleepstudy" if name.startswith("sleepstudy") else "likert_sim"
    small, large = (fitted(data, expected[key], "gaussian", method == "REML") for key in ("smaller", "larger"))
    found = compare(small, large)
    assert found.statistic == pytest.approx(expected["chisq"], rel=1e-3)
    assert list(found.mixture or ()) == expected["mixture_df"]
    assert np.log(found.p) == pytest.approx(np.log(expected["p_mixture"]), rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(VALUES["parametric_bootstrap"]))
def test_parametric_bootstrap(name: str) -> None:
    """Of 1,000 statistics each, as many exceed the quantiles of pbkrtest's as chance allows (z below 4)."""
    expected = VALUES["parametric_bootstrap"][name]
    table = pl.read_csv(FOLDER / "likert_sim.csv").with_columns(ab=pl.col("a") * pl.col("b"))
    data = {name: table[name].to_numpy() for name in table.columns}
    smaller, larger = (fit(expected[key], data, "gaussian", reml=False) for key in ("smaller", "larger"))
    result = bootstrap(smaller, larger)
    assert result.statistic == pytest.approx(expected["tests"]["LRT"]["stat"], rel=1e-4)
    assert result.simulated is not None
    for quantile, value in expected["reference_quantiles"].items():
        below = float(quantile.rstrip("%")) / 100
        error = np.sqrt(below * (1 - below) * (1 / expected["samples_used"] + 1 / len(result.simulated)))
        assert (result.simulated <= value).mean() == pytest.approx(below, abs=4 * error), quantile
    error = np.hypot(expected["p_monte_carlo_se"], np.sqrt(result.p * (1 - result.p) / len(result.simulated)))
    assert result.p == pytest.approx(expected["tests"]["PBtest"]["p.value"], abs=4 * error)


def test_tukeys_adjustment_against_draws_of_the_range() -> None:
    table = pl.read_csv(FOLDER / "verbagg_120.csv").with_columns(y=(pl.col("r2") == "Y").cast(pl.Int64))
    model = fit("y ~ btype + (1 | id)", {name: table[name].to_numpy() for name in table.columns})
    means = marginal_means(model, "btype")
    found, plain = means.differences("tukey"), means.differences("none")
    draws = np.random.default_rng(1).normal(size=(400_000, 3))
    widest = np.ptp(draws, axis=1) / np.sqrt(2)
    expected = [float((widest > abs(ratio)).mean()) for ratio in found.estimate / found.se]
    np.testing.assert_allclose(found.adjusted, expected, atol=2e-3)
    reach = (found.upper - found.estimate) / found.se
    np.testing.assert_allclose(reach, np.quantile(widest, 0.95), rtol=5e-3)
    assert (found.adjusted >= plain.adjusted).all()
    assert (plain.adjusted == plain.p).all()


@pytest.mark.parametrize("link", ["probit", "cloglog"])
def test_other_links_of_yes_or_no_answers(link: Any) -> None:
    """Beside glmmTMB, which takes the observed curvature as karat does; glmer takes the expected one."""
    expected = VALUES["binary_links"][link]
    table = pl.read_csv(FOLDER / "binary_sim.csv")
    data = {name: table[name].to_numpy() for name in table.columns}
    model = fit(expected["formula"], data, link=link)
    assert model.fit.converged
    assert model.fit.log_likelihood == pytest.approx(expected["loglik"], abs=1e-6)
    compare_estimates(model, expected, 1e-4, 1e-3)


def test_the_probit_of_ordered_answers() -> None:
    expected = VALUES["likert_clmm"]["intercepts_probit"]
    table = pl.read_csv(FOLDER / "likert_sim.csv")
    model = fit(expected["formula"], {name: table[name].to_numpy() for name in table.columns}, "ordinal", link="probit")
    assert model.fit.converged
    assert model.fit.log_likelihood == pytest.approx(expected["loglik"], abs=1e-4)
    compare_estimates(model, expected, 1e-3, 1e-3)


def test_the_complementary_log_log_of_ordered_answers() -> None:
    expected = DESIGNS["wine_cloglog"]
    table = pl.read_csv(FOLDER / "wine.csv")
    data = {name: table[name].to_numpy() for name in table.columns}
    model = fit("rating ~ temp + contact + (1 | judge)", data, "ordinal", coding="treatment", link="cloglog")
    found = adaptive_quadrature(model.fit, 10)
    assert model.fit.converged
    assert found.log_likelihood == pytest.approx(expected["log_likelihood"], abs=1e-4)
    assert [*model.thresholds()["threshold"], *model.fit.names] == expected["names"]
    assert [*found.thresholds, *found.coefficients] == pytest.approx(expected["estimate"], abs=1e-3)
    assert found.standard_errors == pytest.approx(expected["se"][-2:], rel=1e-3)
    assert found.deviation == pytest.approx(expected["deviation"], abs=1e-3)


def test_a_link_that_a_family_lacks_is_refused() -> None:
    with refuses(ValueError, "gaussian", "probit"):
        fit("y ~ 1 + (1 | g)", {"y": [1, 2, 3, 1], "g": [1, 1, 2, 2]}, "gaussian", link="probit")


def test_kenward_and_roger_with_two_degrees_of_freedom() -> None:
    expected = DESIGNS["two_degrees"]
    model = fit("rating ~ order + (1 | list/order)", expected["data"], "gaussian").tested_by("kenward-roger")
    table, tests = model.table(), type_three(model)
    np.testing.assert_allclose(table["se"], expected["se"], rtol=1e-3)
    np.testing.assert_allclose(table["df"], expected["df"], rtol=1e-3)
    np.testing.assert_allclose(
        [tests.statistic[0], tests.denominator[0]], [expected["F"], expected["below"]], rtol=1e-3
    )


@pytest.mark.parametrize("nodes", [5, 15, 25])
def test_adaptive_quadrature_of_yes_or_no_answers(nodes: int) -> None:
    expected = VALUES["verbagg_adaptive_quadrature"][f"nAGQ_{nodes}"]
    table = pl.read_csv(FOLDER / "verbagg_120.csv").with_columns(y=(pl.col("r2") == "Y").cast(pl.Int64))
    levels = {"btype": ["curse", "scold", "shout"], "situ": ["other", "self"], "mode": ["want", "do"]}
    data = {name: table[name].to_numpy() for name in table.columns}
    model = fit(expected["formula"], data, coding="treatment", levels=levels)
    found = adaptive_quadrature(model.fit, nodes)
    # With few nodes, the slope over the nodes is not quite that of their sum.
    few = nodes < 15
    assert found.log_likelihood == pytest.approx(expected["loglik"], abs=0.1 if few else 1e-5)
    if not few:
        assert found.converged
        assert found.deviation == pytest.approx(expected["random"]["id"]["sd"][0], abs=1e-4)
        for name, estimate, error in zip(model.fit.names, found.coefficients, found.standard_errors, strict=True):
            assert estimate == pytest.approx(expected["coefficients"][name]["Estimate"], abs=1e-4)
            assert error == pytest.approx(expected["coefficients"][name]["Std. Error"], rel=2e-3)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_adaptive_quadrature_of_ordered_answers(link: Any) -> None:
    expected = VALUES["wine"][link]["intercepts_additive_nAGQ_10"]
    table = pl.read_csv(FOLDER / "wine.csv")
    data = {name: table[name].to_numpy() for name in table.columns}
    model = fit(expected["formula"], data, "ordinal", coding="treatment", link=link)
    found = adaptive_quadrature(model.fit, 10)
    assert found.log_likelihood == pytest.approx(expected["loglik"], abs=1e-4)
    for name, estimate in zip(model.fit.names, found.coefficients, strict=True):
        assert estimate == pytest.approx(expected["coefficients"][name]["Estimate"], abs=2e-3)


def test_separated_answers_have_no_quadrature_to_trust() -> None:
    table = pl.read_csv(FOLDER / "sleepstudy.csv")
    data = {"late": (table["Days"] > 4).to_numpy(), "day": table["Days"].to_numpy(), "who": table["Subject"].to_numpy()}
    found = adaptive_quadrature(fit("late ~ day + (1 | who)", data).fit)
    assert not found.converged
    assert np.isnan(found.standard_errors).all()
    # The same answers in one of two groups: the other group's direction has a curvature, that of the first has none.
    both = data | {"late": data["late"] | (data["who"] < 330), "group": np.where(data["who"] < 330, "a", "b")}
    found = adaptive_quadrature(fit("late ~ group + (1 | who)", both).fit)
    assert not found.converged
    assert np.isnan(found.standard_errors).all()


def test_two_effects_have_no_quadrature() -> None:
    with refuses(ValueError):
        adaptive_quadrature(fitted("binary_sim", "y ~ a + (1 + a | participant)", "binary").fit)
    with refuses(ValueError, "5 nodes", 3):
        adaptive_quadrature(fitted("binary_sim", "y ~ a + (1 | participant)", "binary").fit, 3)


def test_correlation_interval_is_near_the_profile() -> None:
    """lme4's profile interval of the same model is -.48 to .68."""
    found = correlation_intervals(fitted(*FREEDOM["sleepstudy"], "gaussian", False))
    assert found.names == ("cor_(Intercept).Days|Subject",)
    assert (found.lower[0], found.estimate[0], found.upper[0]) == pytest.approx((-0.48, 0.081, 0.68), abs=0.08)


def test_a_custom_matrix_of_contrasts() -> None:
    table = pl.read_csv(FOLDER / "verbagg_120.csv").with_columns(y=(pl.col("r2") == "Y").cast(pl.Int64))
    means = marginal_means(
        fit("y ~ btype + (1 | id)", {name: table[name].to_numpy() for name in table.columns}), "btype"
    )
    found = means.contrast({"curse - scold": [1, -1, 0], "curse - rest": [1, -0.5, -0.5]}, "holm")
    pairs = means.differences("none")
    assert found.estimate[0] == pytest.approx(pairs.estimate[0])
    assert found.se[0] == pytest.approx(pairs.se[0])
    assert found.estimate[1] == pytest.approx((pairs.estimate[0] + pairs.estimate[1]) / 2)
    with refuses(ValueError):
        means.contrast({"wrong": [1, 0, 0]})
