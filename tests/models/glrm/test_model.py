"""A model from a formula is the model that its arrays would give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, ttest_rel

from karat.messages import Message, message_of
from karat.models.glrm.formulas.frame import listed
from karat.models.glrm.formulas.model import fit
from karat.models.glrm.formulas.syntax import FormulaError
from karat.models.glrm.mixed.fit import fit_mixed
from karat.models.glrm.mixed.terms import random_term
from messages import codes, raises
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
    assert "design.sum_coding" in codes(one.notes)
    assert "design.treatment_coding" in codes(other.notes)


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
    missing = Message("frame.missing", {"column": "size", "n": 4})
    left_out = Message("frame.left_out", {"n": 4, "rows": len(data["size"]), "causes": [missing]})
    assert left_out in model.notes
    assert "design.sum_coding" in codes(model.notes)
    assert model.fit.summary[1].code == "fit.converged_scaled"
    assert str(model).startswith(" ".join(map(str, (f"{model.formula}.", model.fit, *model.notes))))
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
    assert model.notes == (Message("model.probability", {"answer": "True"}),)
    assert model.response.tolist() == data["yes"].astype(int).tolist()
    assert table["term"].dtype == model.thresholds()["threshold"].dtype == object
    assert {name: column.tolist() for name, column in model.thresholds().items()} == {
        "threshold": [], "estimate": [], "se": []
    }  # fmt: skip
    assert fit(f"yes ~ size + {GROUPS}", {**data, "yes": data["yes"] * 2}).notes == (
        Message("model.probability", {"answer": "2"}),
    )


def test_a_standard_error_that_is_not_known_is_said(data: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    rated = fit(f"rating ~ group + {GROUPS}", data, "ordinal")
    coefficient, *between = rated.summary
    monkeypatch.setattr(
        type(rated.fit), "standard_errors", property(lambda self: np.full(len(self.coefficients), np.nan))
    )
    found = rated.summary[0]
    assert (found.code, found.values["name"]) == ("model.no_standard_error", coefficient.values["name"])
    assert found.values["estimate"] == coefficient.values["estimate"]
    assert len(rated.summary) == 1 + len(between)


def test_report_has_sentences_and_a_row_per_coefficient(data: dict[str, Any]) -> None:
    measured = fit(f"time ~ size + {GROUPS}", data, "gaussian")
    t = measured.table()
    assert str(measured).split("\n") == [
        f"time ~ size + {GROUPS}. {measured.fit}", *(f"  {row}" for row in measured.summary)
    ]  # fmt: skip
    for k, row in enumerate(measured.summary):
        assert (row.code, row.values["name"]) == ("model.coefficient_t", t["term"][k])
        keys = ("estimate", "se", "t", "df", "p")
        assert [row.values[key] for key in keys] == pytest.approx([t[key][k] for key in keys], rel=1e-3)
    rated = fit(f"rating ~ group + {GROUPS}", data, "ordinal")
    z, between = rated.table(), rated.thresholds()
    assert codes(rated.notes) == ["design.sum_coding"]
    assert codes(rated.summary) == ["model.coefficient_z", *["model.threshold"] * 3]
    keys = ("estimate", "se", "z", "p")
    assert [rated.summary[0].values[key] for key in keys] == pytest.approx([z[key][0] for key in keys], rel=1e-3)
    for k, row in enumerate(rated.summary[1:]):
        assert row.values["name"] == f"{k + 1}|{k + 2}"
        assert [row.values[key] for key in ("estimate", "se")] == pytest.approx(
            [between["estimate"][k], between["se"][k]], rel=1e-3
        )


def test_ordered_answers(data: dict[str, Any]) -> None:
    words = np.array(["bad", "poor", "fair", "good"])
    named = {**data, "rating": words[data["rating"] - 1]}
    formula = f"rating ~ condition + {GROUPS}"
    numbers, named_model = fit(formula, data, "ordinal"), fit(formula, named, "ordinal", levels={"rating": words})
    np.testing.assert_allclose(numbers.fit.coefficients, named_model.fit.coefficients)
    assert (numbers.answers, numbers.response.dtype) == (("1", "2", "3", "4"), np.int64)
    assert numbers.response.tolist() == (data["rating"] - 1).tolist()
    assert named_model.thresholds()["threshold"].tolist() == ["bad|poor", "poor|fair", "fair|good"]
    assert named_model.summary[-3].values["name"] == "bad|poor"
    assert len(fit(f"factor(rating) ~ condition + {GROUPS}", data, "ordinal").fit.thresholds) == 3
    with raises(FormulaError, "model.no_order") as error:
        fit(formula, named, "ordinal")
    assert message_of(error.value).values == {
        "answers": listed(["bad", "fair", "good", "poor"]), "response": "rating"
    }  # fmt: skip
    without = f"rating ~ 0 + condition + {GROUPS}"
    with raises(FormulaError, "model.no_intercept", formula=without):
        fit(without, data, "ordinal")


def test_answer_order_comes_with_factor_or_column() -> None:
    data, words = study(participants=8, items=6), ["low", "fair", "good", "high"]
    named = np.array(words)[data["rating"] - 1]
    levels = {"factor(rating)": words}
    said = fit("factor(rating) ~ 1 + (1 | item)", {**data, "rating": named}, "ordinal", levels=levels)
    own = fit("rating ~ 1 + (1 | item)", {**data, "rating": pd.Categorical(named, categories=words)}, "ordinal")
    assert said.answers == own.answers == tuple(words)


def test_the_second_of_two_answers_is_modelled(data: dict[str, Any]) -> None:
    words = np.where(data["yes"], "wrong", "right")
    model = fit(f"yes ~ size + {GROUPS}", {**data, "yes": words})
    assert Message("model.probability", {"answer": "wrong"}) in model.notes
    turned = fit(f"yes ~ size + {GROUPS}", {**data, "yes": words}, levels={"yes": ["wrong", "right"]})
    np.testing.assert_allclose(model.fit.coefficients, -turned.fit.coefficients, atol=1e-5)


@pytest.mark.parametrize(
    ("formula", "settings", "what"),
    [
        ("yes ~ size", {}, "model.no_random"),
        (f"rating ~ size + {GROUPS}", {}, "model.not_binary"),
        (f"condition ~ size + {GROUPS}", {"family": "gaussian"}, "model.not_numeric"),
        (f"yes ~ size + {GROUPS}", {"coding": "helmert"}, 'The coding is "sum" or "treatment", not \'helmert\'.'),
        (
            f"yes ~ size + {GROUPS}",
            {"family": "poisson"},
            'The family of a mixed model is "binary", "ordinal" or "gaussian", not \'poisson\'.',
        ),
        (f"yes ~ size + (size | item) + {GROUPS}", {}, "model.effect_twice"),
    ],
)
def test_what_cannot_be_fitted(data: dict[str, Any], formula: str, settings: dict[str, Any], what: str) -> None:
    with raises(ValueError, what):
        fit(formula, data, **settings)
