"""Marginal means are averages of predictions over a balanced grid."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm
from scipy.stats import t as student

from karat.messages import Message
from karat.models.glrm.formulas.frame import listed
from karat.models.glrm.formulas.marginal import marginal_means, predict
from karat.models.glrm.formulas.model import fit
from karat.models.glrm.formulas.syntax import FormulaError
from messages import raises, refuses
from models.glrm.written_cases import GROUPS, study


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return study()


@pytest.mark.parametrize("coding", ["sum", "treatment"])
def test_means_are_averages_of_predictions(data: dict[str, Any], coding: Any) -> None:
    model = fit(f"time ~ condition * group + scale(size) + {GROUPS}", data, "gaussian", coding=coding)
    cells = list(product("abc", ["old", "young"]))
    grid = {
        "condition": [one for one, _ in cells], "group": [other for _, other in cells],
        "size": np.full(6, data["size"].mean()),
    }  # fmt: skip
    eta = predict(model, grid, random=False)
    np.testing.assert_allclose(marginal_means(model, "condition", "group").estimate, eta)
    np.testing.assert_allclose(marginal_means(model, "condition").estimate, eta.reshape(3, 2).mean(axis=1))
    np.testing.assert_allclose(marginal_means(model).estimate, eta.mean())
    assert marginal_means(model).summary[1].values["cell"] == "all"
    assert marginal_means(model, "condition", "group").labels() == [f"{one} {other}" for one, other in cells]
    held = marginal_means(model, "group", at={"size": 3.0})
    grid["size"] = np.full(6, 3.0)
    np.testing.assert_allclose(held.estimate, predict(model, grid, random=False).reshape(3, 2).mean(axis=0))
    assert held.notes == (Message("marginal.held", {"name": "size", "value": 3.0}),)


def test_probabilities(data: dict[str, Any]) -> None:
    model = fit(f"yes ~ condition + {GROUPS}", data)
    link, response = marginal_means(model, "condition"), marginal_means(model, "condition", scale="response")
    np.testing.assert_allclose(response.estimate, expit(link.estimate))
    np.testing.assert_allclose(response.lower, expit(link.lower))
    near = (expit(link.estimate + 1e-6) - expit(link.estimate - 1e-6)) / 2e-6
    np.testing.assert_allclose(response.se, link.se * near, rtol=1e-6)
    np.testing.assert_allclose(response.differences().estimate, link.differences().estimate)


def test_balanced_intervals_are_those_of_anova() -> None:
    """With an answer a cell, all is a function of two mean squares (by Satterthwaite's rule of 1946 for their sum)."""
    people, kinds = 14, 3
    random = np.random.default_rng(8)
    values = random.normal(0, 1, (people, 1)) + random.normal(0, 0.7, (people, kinds)) + [0.0, 0.5, 0.9]
    data = {
        "time": values.ravel(), "who": np.repeat(np.arange(people), kinds), "kind": np.tile(["a", "b", "c"], people)
    }  # fmt: skip
    means = marginal_means(fit("time ~ kind + (1 | who)", data, "gaussian"), "kind", level=0.9)
    left = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    within, rest = (left**2).sum() / (people - 1) / (kinds - 1), (people - 1) * (kinds - 1)
    between = kinds * values.mean(axis=1).var(ddof=1)
    error = np.sqrt((between + (kinds - 1) * within) / (people * kinds))
    df = (between + (kinds - 1) * within) ** 2 / (between**2 / (people - 1) + ((kinds - 1) * within) ** 2 / rest)
    table = means.table()
    assert list(table) == ["kind", "estimate", "se", "df", "lower", "upper"]
    assert table["kind"].tolist() == ["a", "b", "c"]
    assert table["kind"].dtype == means.differences().table()["pair"].dtype == object
    np.testing.assert_allclose(table["estimate"], values.mean(axis=0))
    np.testing.assert_allclose(table["se"], error, rtol=1e-4)
    np.testing.assert_allclose(table["df"], df, rtol=1e-3)
    reach = student.ppf(0.95, df) * error
    np.testing.assert_allclose(table["lower"], values.mean(axis=0) - reach, atol=1e-3 * reach)
    np.testing.assert_allclose(table["upper"], values.mean(axis=0) + reach, atol=1e-3 * reach)
    pairs = means.differences().table()
    gap, error = values.mean(axis=0)[[0, 0, 1]] - values.mean(axis=0)[[1, 2, 2]], np.sqrt(2 * within / people)
    assert list(pairs) == ["pair", "estimate", "se", "df", "lower", "upper", "p", "adjusted"]
    assert pairs["pair"].tolist() == ["a - b", "a - c", "b - c"]
    np.testing.assert_allclose(pairs["df"], rest, rtol=1e-3)
    reach = student.ppf(0.95, rest) * error
    np.testing.assert_allclose(pairs["lower"], gap - reach, atol=1e-3 * reach)
    np.testing.assert_allclose(pairs["upper"], gap + reach, atol=1e-3 * reach)
    np.testing.assert_allclose(pairs["p"], 2 * student.sf(abs(gap) / error, rest), rtol=1e-2)


def test_mean_is_the_intercept_without_factors(data: dict[str, Any]) -> None:
    model = fit(f"yes ~ 1 + {GROUPS}", data)
    means = marginal_means(model)
    estimate, reach = model.fit.coefficients[0], norm.ppf(0.975) * model.fit.standard_errors[0]
    np.testing.assert_allclose([means.estimate[0], means.se[0]], [estimate, model.fit.standard_errors[0]])
    np.testing.assert_allclose([means.lower[0], means.upper[0]], [estimate - reach, estimate + reach])
    assert len(means.differences().estimate) == 0


def test_means_and_differences_are_reported_in_words(data: dict[str, Any]) -> None:
    model = fit(f"yes ~ group + size + {GROUPS}", data)
    means = marginal_means(model, "group", at={"size": 1 / 3})
    first, *rows = means.summary
    assert first.code == "marginal.link"
    assert means.notes == (Message("marginal.held", {"name": "size", "value": 0.3333}),)
    for k, (row, level) in enumerate(zip(rows, ["old", "young"], strict=True)):
        assert (row.code, row.values["cell"], row.values["level"]) == ("marginal.mean", level, 0.95)
        numbers = [means.estimate[k], means.lower[k], means.upper[k]]
        assert [row.values[key] for key in ("mean", "lower", "upper")] == pytest.approx(numbers, rel=1e-3)
    assert str(means).split("\n") == [f"{first} {means.notes[0]}", *(f"  {row}" for row in rows)]
    pairs = means.differences()
    first, row = pairs.summary
    assert (first.code, row.code, row.values["pair"]) == (
        "marginal.differences", "marginal.difference", "old − young"
    )  # fmt: skip
    numbers = [pairs.estimate[0], pairs.se[0], pairs.adjusted[0]]
    assert [row.values[key] for key in ("estimate", "se", "p")] == pytest.approx(numbers, rel=1e-3)
    assert str(pairs) == f"{first}\n  {row}"
    assert pairs.level == 0.95
    assert marginal_means(model, "group", scale="response").summary[0].code == "marginal.response"


def test_differences(data: dict[str, Any]) -> None:
    model = fit(f"time ~ condition + {GROUPS}", data, "gaussian", coding="treatment")
    pairs = marginal_means(model, "condition").differences()
    table = model.table()
    assert pairs.pairs == ("a - b", "a - c", "b - c")
    np.testing.assert_allclose(pairs.estimate[:2], -table["estimate"][1:])
    np.testing.assert_allclose(pairs.se[:2], table["se"][1:])
    np.testing.assert_allclose(pairs.df[:2], table["df"][1:])
    np.testing.assert_allclose(pairs.p[:2], table["p"][1:])
    assert np.all(pairs.adjusted >= pairs.p)
    assert next(iter(pairs.table())) == "pair"
    assert pairs.summary[0].code == "marginal.differences"


def test_ordered_answers_are_counted_from_the_mean_threshold(data: dict[str, Any]) -> None:
    model = fit(f"rating ~ condition + {GROUPS}", data, "ordinal")
    means = marginal_means(model, "condition")
    eta = predict(model, {"condition": ["a", "b", "c"]}, random=False)
    np.testing.assert_allclose(means.estimate, eta - model.fit.thresholds.mean())
    with refuses(ValueError, "predict()"):
        marginal_means(model, "condition", scale="response")


def test_cells_without_answers_have_no_mean(data: dict[str, Any]) -> None:
    some = ~((data["condition"] == "a") & (data["group"] == "old"))
    model = fit(
        f"time ~ condition * group + {GROUPS}", {name: column[some] for name, column in data.items()}, "gaussian"
    )
    means = marginal_means(model, "condition")
    assert np.isnan(means.estimate).tolist() == [True, False, False]
    assert means.notes == (Message("marginal.unknown", {"n": 1, "means": 3}),)
    assert means.summary[1].values["mean"] is None
    assert np.isnan(means.differences().adjusted).tolist() == [True, True, False]


def test_what_there_is_not(data: dict[str, Any]) -> None:
    model = fit(f"time ~ condition + size + {GROUPS}", data, "gaussian")
    with raises(FormulaError, "marginal.no_factor"):
        marginal_means(model, "size")
    formula = f"time ~ condition + size + {GROUPS}"
    with raises(FormulaError, "marginal.no_covariate", name="group", formula=formula):
        marginal_means(model, "condition", at={"group": 1})


@pytest.mark.parametrize("fixed", ["block + factor(block)", "factor(block) + log(block)"])
def test_a_column_that_is_a_factor_and_a_number_has_no_grid(data: dict[str, Any], fixed: str) -> None:
    formula = f"time ~ {fixed} + (1 | participant)"
    model = fit(formula, {**data, "block": 1 + data["item"] % 4}, "gaussian")
    with raises(FormulaError, "marginal.both", names=listed(["block"]), formula=formula):
        marginal_means(model)


def test_levels_have_the_order_that_was_said_of_the_factor(data: dict[str, Any]) -> None:
    orders = {"block": [0, 1, 2], "factor(block)": [2, 0, 1]}
    model = fit(
        "time ~ factor(block) + (1 | participant)", {**data, "block": data["item"] % 3}, "gaussian", levels=orders
    )
    means = marginal_means(model, "block")
    assert means.labels() == ["2", "0", "1"]
    np.testing.assert_allclose(means.estimate, predict(model, {"block": [2, 0, 1]}, random=False))
