"""Models written as formulas against R: model.matrix, lme4, lmerTest, glmmTMB, ordinal, car and emmeans.

Values, versions and the script that made them are in `r`: glrm_models_simulate.py, glrm_models.R, glrm_models.json.
Tests of yes-or-no answers are compared with glmmTMB's, since lme4's standard errors scatter by a percent.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from karat.messages import with_code
from karat.models.glrm.formulas.design import code, make_design
from karat.models.glrm.formulas.formula import read_formula
from karat.models.glrm.formulas.frame import make_frame
from karat.models.glrm.formulas.intervals import intervals
from karat.models.glrm.formulas.marginal import MarginalMeans, marginal_means, predict
from karat.models.glrm.formulas.model import Model, fit
from karat.models.glrm.formulas.wald import compare, type_three
from messages import codes

HERE = Path(__file__).parent / "r"
VALUES: dict[str, Any] = json.loads((HERE / "glrm_models.json").read_text(encoding="utf-8"))
NUMBERS = ("difficulty", "length", "correct", "rt", "rating")
NEW = {
    "difficulty": [-1.0, 0.5, 2.0], "length": [4, 9, 12], "condition": ["match", "filler", "mismatch"],
    "group": ["expert", "novice", "novice"], "participant": ["p03", "p07", "unknown"],
    "item": ["i02", "unknown", "unknown"],
}  # fmt: skip
FAMILIES: tuple[Any, ...] = ("binary", "gaussian", "ordinal")


def table(name: str) -> dict[str, Any]:
    with (HERE / f"glrm_models_{name}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key]) if key in NUMBERS else row[key] for row in rows]) for key in rows[0]}


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    return {name: fit(VALUES[name]["formula"], table(name), family=name) for name in FAMILIES}


def numbers(values: list[float | None]) -> np.ndarray[Any, Any]:
    return np.array([np.nan if value is None else float(value) for value in values])


@pytest.mark.parametrize("case", VALUES["designs"], ids=lambda case: f"{case['coding']} {case['formula']}")
def test_designs_are_those_of_model_matrix(case: dict[str, Any]) -> None:
    small = {**VALUES["small"], "flag": [flag == "TRUE" for flag in VALUES["small"]["flag"]]}
    formula = read_formula("correct " + case["formula"])
    frame = make_frame(formula, small)
    coded = code(formula.fixed, frame.columns, case["coding"], frame.rows)
    expected = [name.replace("TRUE", "True").replace("FALSE", "False") for name in case["names"]]
    assert list(coded.names) == expected
    assert coded.terms.tolist() == case["assign"]
    np.testing.assert_allclose(coded.matrix, np.array(case["matrix"]).reshape(coded.matrix.shape), atol=1e-9)
    assert make_design(formula.fixed, frame.columns, case["coding"], frame.rows).matrix.shape[1] == case["rank"]


@pytest.mark.parametrize("name", FAMILIES)
def test_fits(models: dict[str, Model], name: str) -> None:
    model, values = models[name], VALUES[name]
    assert model.fit.converged
    assert list(model.fit.names) == values["names"]
    assert model.fit.log_likelihood == pytest.approx(values["log_likelihood"], abs=1e-4)
    estimate = [row[0] for row in values["table"]] if name == "gaussian" else values["estimate"]
    assert np.abs((model.fit.coefficients - estimate) / model.fit.standard_errors).max() < 1e-3


def test_lme4_agrees_once_its_inner_tolerance_is_tight(models: dict[str, Model]) -> None:
    assert models["binary"].fit.log_likelihood == pytest.approx(VALUES["binary"]["lme4_log_likelihood"], abs=1e-4)


def test_the_table_of_measured_answers_is_that_of_lmertest(models: dict[str, Model]) -> None:
    found, expected = models["gaussian"].table(), np.array(VALUES["gaussian"]["table"])
    for column, key in enumerate(("estimate", "se", "df", "t", "p")):
        np.testing.assert_allclose(found[key], expected[:, column], rtol=2e-4, atol=1e-7, err_msg=key)


def test_degrees_of_freedom_by_maximum_likelihood() -> None:
    model = fit(VALUES["gaussian"]["formula"], table("gaussian"), family="gaussian", reml=False)
    assert model.fit.log_likelihood == pytest.approx(VALUES["gaussian"]["ml_log_likelihood"], abs=1e-4)
    np.testing.assert_allclose(model.table()["df"], np.array(VALUES["gaussian"]["ml_table"])[:, 2], rtol=1e-3)


def test_standard_errors_are_those_of_glmmtmb_and_clmm(models: dict[str, Model]) -> None:
    covariance = np.array(VALUES["binary"]["covariance"])
    np.testing.assert_allclose(models["binary"].fit.standard_errors, np.sqrt(np.diag(covariance)), rtol=1e-3)
    np.testing.assert_allclose(models["ordinal"].fit.standard_errors, VALUES["ordinal"]["se"], rtol=1e-3)
    thresholds = models["ordinal"].thresholds()
    assert thresholds["threshold"].tolist() == ["1|2", "2|3", "3|4", "4|5"]
    np.testing.assert_allclose(thresholds["estimate"], VALUES["ordinal"]["thresholds"], atol=2e-4)


@pytest.mark.parametrize("name", FAMILIES)
def test_type_three_chi_squared(models: dict[str, Model], name: str) -> None:
    found, expected = type_three(models[name], "chisq"), VALUES[name]["type3"]
    rows = {term: k for k, term in enumerate(expected["term"])}
    for term, statistic, df in zip(found.terms, found.statistic, found.df, strict=True):
        assert statistic == pytest.approx(expected["Chisq"][rows[term]], rel=1e-3)
        assert df == expected["Df"][rows[term]]
    assert set(rows) - set(found.terms) <= {"(Intercept)"}


def test_type_three_f_tests(models: dict[str, Model]) -> None:
    found, expected = type_three(models["gaussian"]), VALUES["gaussian"]["anova"]
    assert list(found.terms) == expected["term"]
    np.testing.assert_allclose(found.statistic, expected["F.value"], rtol=1e-3)
    np.testing.assert_allclose(found.denominator, expected["DenDF"], rtol=1e-3)
    np.testing.assert_allclose(found.p, expected["Pr..F."], rtol=2e-3)


def test_treatment_coding_is_tested_as_car_does_and_warned_about() -> None:
    treated = fit(VALUES["binary"]["formula"], table("binary"), coding="treatment")
    expected = VALUES["binary"]["treatment"]
    assert list(treated.fit.names) == expected["names"]
    found = type_three(treated)
    np.testing.assert_allclose(found.statistic, expected["type3"]["Chisq"][1:], rtol=1e-3)
    assert codes(found.notes) == ["wald.treatment", "wald.covariates"]
    formula = "log(rt) ~ condition * group + (1 | participant) + (1 | item)"
    measured = type_three(fit(formula, table("gaussian"), "gaussian", coding="treatment"), "chisq")
    np.testing.assert_allclose(measured.statistic, VALUES["treated"]["type3"]["Chisq"][1:], rtol=1e-3)


def test_likelihood_ratios(models: dict[str, Model]) -> None:
    groups = "+ (1 | participant) + (1 | item)"
    first = fit(f"correct ~ difficulty + condition + group {groups}", table("binary"))
    result = compare(first, models["binary"])
    assert result.statistic == pytest.approx(VALUES["binary"]["ratio"]["chisq"], abs=2e-4)
    assert (result.df, result.p) == (2, pytest.approx(VALUES["binary"]["ratio"]["p"], rel=1e-3))
    formula = VALUES["gaussian"]["formula"]
    slopes = fit(formula, table("gaussian"), "gaussian", reml=False)
    simple = fit(formula.replace("(1 + condition |", "(1 |"), table("gaussian"), "gaussian", reml=False)
    result = compare(slopes, simple)
    assert result.statistic == pytest.approx(VALUES["gaussian"]["ratio"]["chisq"], abs=2e-4)
    assert result.df == VALUES["gaussian"]["ratio"]["df"]
    assert "wald.boundary" in codes(result.notes)
    lower = fit(f"rating ~ condition + group {groups}", table("ordinal"), "ordinal")
    assert compare(lower, models["ordinal"]).statistic == pytest.approx(VALUES["ordinal"]["ratio"]["chisq"], abs=2e-4)


def same_means(found: MarginalMeans, expected: dict[str, Any]) -> None:
    estimate = expected.get("emmean", expected.get("prob"))
    ends = ("asymp.LCL", "asymp.UCL") if "asymp.LCL" in expected else ("lower.CL", "upper.CL")
    se, lower, upper = (numbers(expected[key]) for key in ("SE", *ends))
    np.testing.assert_allclose(found.estimate, numbers(estimate), atol=1e-3 * float(np.nanmax(se)))
    np.testing.assert_allclose(found.se, se, rtol=1e-3)
    np.testing.assert_allclose(found.lower, lower, atol=3e-3 * float(np.nanmax(se)))
    np.testing.assert_allclose(found.upper, upper, atol=3e-3 * float(np.nanmax(se)))


@pytest.mark.parametrize("name", FAMILIES)
def test_marginal_means_are_those_of_emmeans(models: dict[str, Model], name: str) -> None:
    means = marginal_means(models[name], "condition")
    assert means.labels() == VALUES[name]["means_condition"]["condition"]
    same_means(means, VALUES[name]["means_condition"])
    pairs, expected = means.differences(), VALUES[name]["pairs"]
    assert list(pairs.pairs) == expected["contrast"]
    np.testing.assert_allclose(pairs.estimate, expected["estimate"], atol=1e-3 * float(max(expected["SE"])))
    np.testing.assert_allclose(pairs.se, expected["SE"], rtol=1e-3)
    np.testing.assert_allclose(pairs.p, expected["p.value"], rtol=5e-3)
    if name == "gaussian":
        np.testing.assert_allclose(pairs.df, expected["df"], rtol=1e-3)
    if name == "binary":
        np.testing.assert_allclose(pairs.adjusted, VALUES[name]["pairs_holm"], rtol=5e-3)


def test_marginal_means_of_cells_and_probabilities(models: dict[str, Model]) -> None:
    for name in ("binary", "gaussian"):
        # emmeans lets the first factor vary fastest, we the last.
        same_means(marginal_means(models[name], "group", "condition"), VALUES[name]["means_cells"])
    same_means(marginal_means(models["binary"], "condition", scale="response"), VALUES["binary"]["means_response"])


def test_marginal_means_hold_covariates_before_their_functions() -> None:
    model = fit(VALUES["curved"]["formula"], table("gaussian"), "gaussian")
    np.testing.assert_allclose(model.fit.coefficients, VALUES["curved"]["estimate"], atol=1e-5)
    same_means(marginal_means(model, "condition"), VALUES["curved"]["means"])
    same_means(marginal_means(model, "condition", at={"length": 5, "difficulty": 1}), VALUES["curved"]["moved"])


def test_an_empty_cell_is_left_out_named_and_not_estimated() -> None:
    data = table("gaussian")
    some = ~((data["condition"] == "match") & (data["group"] == "novice"))
    model = fit(VALUES["empty"]["formula"], {key: column[some] for key, column in data.items()}, "gaussian")
    assert list(model.fit.names) == VALUES["empty"]["names"]
    (dropped,) = with_code(model.notes, "design.dropped")
    assert [cell.values["levels"] for cell in dropped.values["empty"].values["cells"]] == [
        ["condition = match", "group = novice"]
    ]
    same_means(marginal_means(model, "condition"), VALUES["empty"]["means_condition"])
    same_means(marginal_means(model, "group", "condition"), VALUES["empty"]["means_cells"])


@pytest.mark.slow
def test_profile_intervals_of_measured_answers_are_those_of_lme4() -> None:
    formula = VALUES["gaussian"]["formula"].replace("(1 + condition |", "(1 |")
    found = intervals(fit(formula, table("gaussian"), "gaussian"), "profile")
    expected = dict(zip(VALUES["gaussian"]["profile_names"], VALUES["gaussian"]["profile"], strict=True))
    assert set(found.names) == set(expected)
    for name, lower, upper in zip(found.names, found.lower, found.upper, strict=True):
        wide = expected[name][1] - expected[name][0]
        assert [lower, upper] == pytest.approx(expected[name], abs=2e-4 * wide), name


@pytest.mark.slow
def test_intervals_of_yes_or_no_answers_are_those_of_glmmtmb(models: dict[str, Model]) -> None:
    model = models["binary"]
    found = intervals(model, "profile", parameters=VALUES["binary"]["profile_names"])
    errors = model.fit.standard_errors
    for column, ends in enumerate((found.lower, found.upper)):
        assert np.abs((ends - np.array(VALUES["binary"]["profile"])[:, column]) / errors).max() < 1e-3
    wald = intervals(model)
    for column, ends in enumerate((wald.lower, wald.upper)):
        assert np.abs((ends - np.array(VALUES["binary"]["wald"])[:, column]) / errors).max() < 1e-3


@pytest.mark.parametrize("name", ["binary", "gaussian"])
def test_predictions(models: dict[str, Model], name: str) -> None:
    expected = VALUES[name]["predictions"]
    np.testing.assert_allclose(predict(models[name], NEW, random=False), expected["fixed"], atol=2e-4)
    np.testing.assert_allclose(predict(models[name], NEW), expected["random"], atol=2e-4)
    if name == "binary":
        np.testing.assert_allclose(predict(models[name], NEW, scale="response"), expected["response"], atol=1e-4)
