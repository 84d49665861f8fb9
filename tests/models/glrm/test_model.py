"""A model from a formula is the model that its arrays would give."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, ttest_rel

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


def test_two_conditions_are_compared_as_by_a_paired_t_test() -> None:
    random = np.random.default_rng(4)
    people = 15
    values = random.normal(0, 1, (people, 1)) + random.normal(0, 0.6, (people, 2)) + [0.0, 0.3]
    answers = {"time": values.ravel(), "who": np.repeat(np.arange(people), 2), "kind": np.tile(["a", "b"], people)}
    table = fit("time ~ kind + (1 | who)", answers, "gaussian", coding="treatment").table()
    expected = ttest_rel(values[:, 1], values[:, 0])
    assert table["estimate"][1] == pytest.approx(values[:, 1].mean() - values[:, 0].mean())
    assert table["t"][1] == pytest.approx(expected.statistic, rel=1e-4)
    assert table["df"][1] == pytest.approx(people - 1, rel=1e-3)
    assert table["p"][1] == pytest.approx(expected.pvalue, rel=1e-3)


def test_yes_or_no_answers_are_tested_by_z(data: dict[str, Any]) -> None:
    model = fit(f"yes ~ size + {GROUPS}", data)
    table = model.table()
    assert table["z"] * model.fit.standard_errors == pytest.approx(model.fit.coefficients)
    assert table["p"] == pytest.approx(chi2.sf(table["z"] ** 2, 1))
    assert model.degrees(np.eye(2)[:1]).tolist() == [np.inf]
    assert model.notes == ("The probability of True is modelled.",)
    assert model.response.tolist() == data["yes"].astype(int).tolist()
    assert table["term"].dtype == model.thresholds()["threshold"].dtype == object
    assert {name: column.tolist() for name, column in model.thresholds().items()} == {
        "threshold": [], "estimate": [], "se": []
    }  # fmt: skip
    assert fit(f"yes ~ size + {GROUPS}", {**data, "yes": data["yes"] * 2}).notes == (
        "The probability of 2 is modelled.",
    )


def test_a_model_is_told_in_sentences_and_a_row_for_each_coefficient_and_threshold(data: dict[str, Any]) -> None:
    measured = fit(f"time ~ size + {GROUPS}", data, "gaussian")
    t = measured.table()
    assert str(measured).split("\n") == [
        f"time ~ size + {GROUPS}. {measured.fit}",
        *(
            f"  {t['term'][k]}: {t['estimate'][k]:.4g} "
            f"(se {t['se'][k]:.4g}, t({t['df'][k]:.1f}) = {t['t'][k]:.2f}, p {p_told(t['p'][k])})"
            for k in range(2)
        ),
    ]
    rated = fit(f"rating ~ group + {GROUPS}", data, "ordinal")
    z, between = rated.table(), rated.thresholds()
    assert str(rated).split("\n") == [
        f"rating ~ group + {GROUPS}. {rated.fit} Factors are in sum-to-zero coding: group1 is old, less the mean.",
        f"  group1: {z['estimate'][0]:.4g} (se {z['se'][0]:.4g}, z = {z['z'][0]:.2f}, p {p_told(z['p'][0])})",
        *(f"  {k + 1}|{k + 2}: {between['estimate'][k]:.4g} (se {between['se'][k]:.4g})" for k in range(3)),
    ]


def test_ordered_answers(data: dict[str, Any]) -> None:
    words = np.array(["bad", "poor", "fair", "good"])
    named = {**data, "rating": words[data["rating"] - 1]}
    formula = f"rating ~ condition + {GROUPS}"
    numbers, named_model = fit(formula, data, "ordinal"), fit(formula, named, "ordinal", levels={"rating": words})
    np.testing.assert_allclose(numbers.fit.coefficients, named_model.fit.coefficients)
    assert (numbers.answers, numbers.response.dtype) == (("1", "2", "3", "4"), np.int64)
    assert numbers.response.tolist() == (data["rating"] - 1).tolist()
    assert named_model.thresholds()["threshold"].tolist() == ["bad|poor", "poor|fair", "fair|good"]
    assert "bad|poor" in str(named_model)
    assert len(fit(f"factor(rating) ~ condition + {GROUPS}", data, "ordinal").fit.thresholds) == 3
    with pytest.raises(FormulaError) as error:
        fit(formula, named, "ordinal")
    told = 'The answers "bad", "fair", "good", "poor" have no order of their own; say it, lowest first, with levels='
    assert str(error.value) == told + '{"rating": [...]}.'
    without = f"rating ~ 0 + condition + {GROUPS}"
    with pytest.raises(FormulaError) as error:
        fit(without, data, "ordinal")
    told = "ordered answers have thresholds in place of an intercept; it cannot be removed."
    assert str(error.value) == f'"{without}": {told}'


def test_the_order_of_answers_may_be_said_of_the_factor_or_come_with_the_column() -> None:
    data, words = study(participants=8, items=6), ["low", "fair", "good", "high"]
    named = np.array(words)[data["rating"] - 1]
    levels = {"factor(rating)": words}
    said = fit("factor(rating) ~ 1 + (1 | item)", {**data, "rating": named}, "ordinal", levels=levels)
    own = fit("rating ~ 1 + (1 | item)", {**data, "rating": pd.Categorical(named, categories=words)}, "ordinal")
    assert said.answers == own.answers == tuple(words)


def test_the_second_of_two_answers_is_modelled(data: dict[str, Any]) -> None:
    words = np.where(data["yes"], "wrong", "right")
    model = fit(f"yes ~ size + {GROUPS}", {**data, "yes": words})
    assert "The probability of wrong is modelled." in str(model)
    turned = fit(f"yes ~ size + {GROUPS}", {**data, "yes": words}, levels={"yes": ["wrong", "right"]})
    np.testing.assert_allclose(model.fit.coefficients, -turned.fit.coefficients, atol=1e-5)


@pytest.mark.parametrize(
    ("formula", "settings", "what"),
    [
        ("yes ~ size", {}, '"yes ~ size" has no random effects; add one, such as (1 | participant).'),
        (
            f"rating ~ size + {GROUPS}",
            {},
            'rating has 4 different answers, "1", "2", "3", "4"; a binary model needs two.',
        ),
        (
            f"condition ~ size + {GROUPS}",
            {"family": "gaussian"},
            "condition is a factor; measured answers are numbers.",
        ),
        (f"yes ~ size + {GROUPS}", {"coding": "helmert"}, 'The coding is "sum" or "treatment", not \'helmert\'.'),
        (
            f"yes ~ size + {GROUPS}",
            {"family": "poisson"},
            'The family is "binary", "ordinal" or "gaussian", not \'poisson\'.',
        ),
        (
            f"yes ~ size + (size | item) + {GROUPS}",
            {},
            f'"yes ~ size + (size | item) + {GROUPS}": (Intercept) of item is in two random terms; '
            "leave it out of one.",
        ),
    ],
)
def test_what_cannot_be_fitted(data: dict[str, Any], formula: str, settings: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(what)}$"):
        fit(formula, data, **settings)


def test_probabilities_for_people() -> None:
    assert p_told(0.05) == "= .050"
    assert p_told(1.0) == "= 1.000"
    assert p_told(0.001) == "= .001"
    assert p_told(float("nan")) == "not known"
