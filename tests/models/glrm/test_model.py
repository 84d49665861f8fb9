"""A model from a formula is the model that its arrays would give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from karat.models.glrm.mixed import fit_mixed
from karat.models.glrm.model import fit, p_told
from karat.models.glrm.syntax import FormulaError
from karat.models.glrm.terms import random_term
from models.glrm.written_cases import GROUPS, study


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return study()


def test_the_formula_gives_what_its_arrays_give(data: dict[str, Any]) -> None:
    model = fit("time ~ group + (1 + size | participant) + (1 | item)", data, "gaussian", reml=False)
    sign = np.where(data["group"] == "old", 1.0, -1.0)
    ones = np.ones(len(sign))
    terms = [
        random_term("participant", data["participant"], np.column_stack([ones, data["size"]]), ("(Intercept)", "size")),
        random_term("item", data["item"]),
    ]
    direct = fit_mixed(data["time"], np.column_stack([ones, sign]), ["(Intercept)", "group1"], terms, family="gaussian")
    assert model.fit.log_likelihood == pytest.approx(direct.log_likelihood, abs=1e-9)
    np.testing.assert_allclose(model.fit.coefficients, direct.coefficients, atol=1e-6)
    assert model.fit.names == direct.names


def test_the_likelihood_does_not_depend_on_the_coding(data: dict[str, Any]) -> None:
    formula = f"yes ~ condition * group + {GROUPS}"
    one, other = fit(formula, data), fit(formula, data, coding="treatment")
    assert one.fit.log_likelihood == pytest.approx(other.fit.log_likelihood, abs=1e-6)
    assert any("sum-to-zero" in note for note in one.notes)
    assert any("treatment" in note for note in other.notes)


def test_two_bars_mean_no_correlation(data: dict[str, Any]) -> None:
    model = fit("time ~ size + (1 + size || participant) + (1 | item)", data, "gaussian")
    assert model.fit.covariances["participant"][0, 1] == 0
    assert len(model.fit.theta) == 3


def test_nested_groups(data: dict[str, Any]) -> None:
    model = fit("time ~ 1 + (1 | participant/condition) + (1 | item)", data, "gaussian")
    assert list(model.fit.covariances) == ["participant", "participant:condition", "item"]


def test_the_table_and_the_sentences(data: dict[str, Any]) -> None:
    answers = {**data, "size": np.where(np.arange(len(data["size"])) < 4, np.nan, data["size"])}
    model = fit(f"time ~ condition + size + {GROUPS}", answers, "gaussian")
    table = model.table()
    assert list(table) == ["term", "estimate", "se", "t", "df", "p"]
    assert table["term"].tolist() == ["(Intercept)", "condition1", "condition2", "size"]
    assert np.all(table["df"] > 1)
    told = str(model)
    assert f"4 of {len(data['size'])} rows were left out: size is missing in 4." in told
    assert "Converged" in told
    assert "sum-to-zero" in told
    assert model.fit.reml
    assert list(fit(f"yes ~ size + {GROUPS}", data).table()) == ["term", "estimate", "se", "z", "p"]


def test_ordered_answers(data: dict[str, Any]) -> None:
    words = np.array(["bad", "poor", "fair", "good"])
    named = {**data, "rating": words[data["rating"] - 1]}
    formula = f"rating ~ condition + {GROUPS}"
    numbers, named_model = fit(formula, data, "ordinal"), fit(formula, named, "ordinal", levels={"rating": words})
    np.testing.assert_allclose(numbers.fit.coefficients, named_model.fit.coefficients)
    assert named_model.thresholds()["threshold"].tolist() == ["bad|poor", "poor|fair", "fair|good"]
    assert "bad|poor" in str(named_model)
    assert len(fit(f"factor(rating) ~ condition + {GROUPS}", data, "ordinal").fit.thresholds) == 3
    with pytest.raises(FormulaError, match="have no order of their own"):
        fit(formula, named, "ordinal")
    with pytest.raises(FormulaError, match="thresholds in place of an intercept"):
        fit(f"rating ~ 0 + condition + {GROUPS}", data, "ordinal")


def test_the_second_of_two_answers_is_modelled(data: dict[str, Any]) -> None:
    words = np.where(data["yes"], "wrong", "right")
    model = fit(f"yes ~ size + {GROUPS}", {**data, "yes": words})
    assert "The probability of wrong is modelled." in str(model)
    turned = fit(f"yes ~ size + {GROUPS}", {**data, "yes": words}, levels={"yes": ["wrong", "right"]})
    np.testing.assert_allclose(model.fit.coefficients, -turned.fit.coefficients, atol=1e-5)


@pytest.mark.parametrize(
    ("formula", "settings", "what"),
    [
        ("yes ~ size", {}, "no random effects"),
        (f"rating ~ size + {GROUPS}", {}, "4 different answers"),
        (f"condition ~ size + {GROUPS}", {"family": "gaussian"}, "is a factor"),
        (f"yes ~ size + {GROUPS}", {"coding": "helmert"}, "helmert"),
        (f"yes ~ size + {GROUPS}", {"family": "poisson"}, "poisson"),
        (f"yes ~ size + (size | item) + {GROUPS}", {}, r"\(Intercept\) of item is in two random terms"),
    ],
)
def test_what_cannot_be_fitted(data: dict[str, Any], formula: str, settings: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        fit(formula, data, **settings)


def test_probabilities_for_people() -> None:
    assert p_told(0.05) == "= .050"
    assert p_told(1.0) == "= 1.000"
    assert p_told(float("nan")) == "not known"
