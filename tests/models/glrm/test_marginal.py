"""Marginal means are averages of predictions over a balanced grid."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from karat.models.glrm.marginal import marginal_means
from karat.models.glrm.model import fit
from karat.models.glrm.prediction import predict
from karat.models.glrm.syntax import FormulaError
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
    assert "all:" in str(marginal_means(model))
    held = marginal_means(model, "group", at={"size": 3.0})
    grid["size"] = np.full(6, 3.0)
    np.testing.assert_allclose(held.estimate, predict(model, grid, random=False).reshape(3, 2).mean(axis=0))
    assert "size is held at 3." in str(held)


def test_probabilities(data: dict[str, Any]) -> None:
    model = fit(f"yes ~ condition + {GROUPS}", data)
    link, response = marginal_means(model, "condition"), marginal_means(model, "condition", scale="response")
    np.testing.assert_allclose(response.estimate, expit(link.estimate))
    np.testing.assert_allclose(response.lower, expit(link.lower))
    near = (expit(link.estimate + 1e-6) - expit(link.estimate - 1e-6)) / 2e-6
    np.testing.assert_allclose(response.se, link.se * near, rtol=1e-6)
    np.testing.assert_allclose(response.differences().estimate, link.differences().estimate)


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
    assert "Holm" in str(pairs)


def test_ordered_answers_are_counted_from_the_mean_threshold(data: dict[str, Any]) -> None:
    model = fit(f"rating ~ condition + {GROUPS}", data, "ordinal")
    means = marginal_means(model, "condition")
    eta = predict(model, {"condition": ["a", "b", "c"]}, random=False)
    np.testing.assert_allclose(means.estimate, eta - model.fit.thresholds.mean())
    with pytest.raises(ValueError, match=r"predict\(\) gives probabilities"):
        marginal_means(model, "condition", scale="response")


def test_cells_without_answers_have_no_mean(data: dict[str, Any]) -> None:
    some = ~((data["condition"] == "a") & (data["group"] == "old"))
    model = fit(
        f"time ~ condition * group + {GROUPS}", {name: column[some] for name, column in data.items()}, "gaussian"
    )
    means = marginal_means(model, "condition")
    assert np.isnan(means.estimate).tolist() == [True, False, False]
    assert "1 of 3 means cannot be estimated" in str(means)
    assert np.isnan(means.differences().adjusted).tolist() == [True, True, False]


def test_what_there_is_not(data: dict[str, Any]) -> None:
    model = fit(f"time ~ condition + size + {GROUPS}", data, "gaussian")
    with pytest.raises(FormulaError, match=r'"size" is not a factor of .* there are "condition"'):
        marginal_means(model, "size")
    with pytest.raises(FormulaError, match='at speaks of "group"'):
        marginal_means(model, "condition", at={"group": 1})
