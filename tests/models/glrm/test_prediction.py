"""Predictions for the rows that were fitted, for others, and for levels that nobody has seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from karat.messages import Message, message_of
from karat.models.glrm.formulas.frame import listed
from karat.models.glrm.formulas.marginal import predict
from karat.models.glrm.formulas.model import fit
from karat.models.glrm.formulas.syntax import FormulaError
from messages import raises
from models.glrm.written_cases import GROUPS, study


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return study()


@pytest.mark.parametrize(
    "formula",
    [
        f"time ~ condition * scale(size) + {GROUPS}",
        "time ~ group + (1 + condition || participant) + (1 + size | item)",
        "time ~ group + (1 | participant/condition) + (0 + size | participant) + (1 | item)",
    ],
)
def test_new_rows_like_old_ones_are_predicted_alike(data: dict[str, Any], formula: str) -> None:
    model = fit(formula, data, "gaussian")
    np.testing.assert_allclose(predict(model, data), predict(model), atol=1e-12)
    some = {name: column[5:9] for name, column in data.items()}
    np.testing.assert_allclose(predict(model, some), predict(model)[5:9], atol=1e-12)
    assert (
        np.corrcoef(predict(model), data["time"])[0, 1] > np.corrcoef(predict(model, random=False), data["time"])[0, 1]
    )


def test_levels_that_nobody_has_seen_have_no_effect(data: dict[str, Any]) -> None:
    model = fit(f"yes ~ size + {GROUPS}", data)
    new = {"size": [1.0, 1.0], "participant": ["nobody", "p3"], "item": [99, 99]}
    fixed = predict(model, {"size": [1.0]}, random=False)[0]
    found = predict(model, new)
    place = model.fit.levels["participant"].tolist().index("p3")
    assert found[0] == pytest.approx(fixed)
    assert found[1] == pytest.approx(fixed + model.fit.effects["participant"][place, 0])
    np.testing.assert_allclose(predict(model, new, scale="response"), expit(found))


def test_probabilities_of_ordered_answers(data: dict[str, Any]) -> None:
    model = fit(f"rating ~ condition + {GROUPS}", data, "ordinal")
    shares = predict(model, scale="response")
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert shares.min() > 0
    eta = predict(model)
    np.testing.assert_allclose(shares[:, 0], expit(model.fit.thresholds[0] - eta))
    counts = np.bincount(data["rating"] - 1) / len(eta)
    np.testing.assert_allclose(shares.mean(axis=0), counts, atol=0.02)


def test_gaps_and_unknown_levels(data: dict[str, Any]) -> None:
    model = fit(f"time ~ condition + size + {GROUPS}", data, "gaussian")
    new = {
        "condition": ["a", None, "b"],
        "size": [np.nan, 1.0, 1.0],
        "participant": ["p1", "p1", None],
        "item": [1, 1, 1],
    }
    found = predict(model, new)
    assert np.isnan(found).tolist() == [True, True, False]
    nobody = {"condition": ["b"], "size": [1.0], "participant": ["nobody"], "item": [1]}
    assert found[2] == pytest.approx(predict(model, nobody)[0])
    with raises(FormulaError, "frame.unknown_levels") as error:
        predict(model, {**new, "condition": ["a", "b", "d"]})
    assert message_of(error.value).values == {
        "column": "condition", "unknown": listed(["d"]), "levels": listed(["a", "b", "c"])
    }  # fmt: skip
    with raises(FormulaError, "formula.at") as error:
        predict(model, {"condition": ["a"]}, random=False)
    assert message_of(error.value).values["problem"].values["column"] == "size"
    with raises(FormulaError, "formula.at") as error:
        predict(model, {"condition": ["a"], "size": [1.0], "item": [1]})
    formula = f"time ~ condition + size + {GROUPS}"
    values = message_of(error.value).values
    assert (values["formula"], values["position"]) == (formula, 1 + formula.index("|"))
    known = {"column": "participant", "known": listed(["condition", "size", "item"])}
    assert values["problem"] == Message("formula.no_column", known)


def test_rows_without_bounds_have_no_prediction(data: dict[str, Any]) -> None:
    model = fit(f"time ~ condition * size + {GROUPS}", data, "gaussian")
    found = predict(model, {"condition": ["a", "a"], "size": [np.inf, 1.0]}, random=False)
    assert np.isnan(found).tolist() == [True, False]


def test_one_row_can_be_predicted(data: dict[str, Any]) -> None:
    model = fit(f"time ~ scale(size) + {GROUPS}", data, "gaussian")
    scaled = (3.0 - data["size"].mean()) / data["size"].std(ddof=1)
    expected = model.fit.coefficients @ [1.0, scaled]
    assert predict(model, {"size": [3.0]}, random=False) == pytest.approx([expected])
    assert predict(model, {"size": [3.0]}, scale="response", random=False) == pytest.approx([expected])
    mean = fit(f"time ~ 1 + {GROUPS}", data, "gaussian")
    assert predict(mean, {}, random=False) == pytest.approx(mean.fit.coefficients)


def test_simplified_models_predict_with_what_is_left(data: dict[str, Any]) -> None:
    rng = np.random.default_rng(1)
    noise = {**data, "time": data["size"] + rng.normal(size=len(data["size"]))}
    model = fit("time ~ size + (1 + size | participant) + (1 + size | item)", noise, "gaussian", simplify=True)
    assert model.fit.log
    np.testing.assert_allclose(predict(model, noise), predict(model), atol=1e-12)
