"""The formula of contrasts: its columns, the largest that a design supports, and effect sizes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import chi2

import karat
from karat.measure.effects.contrasts import contrasts
from karat.measure.effects.data import design_formula, family_of, model_input, one_question
from karat.measure.effects.interactions import LATENT, effect_sizes, standard_deviation
from karat.messages import Message
from karat.models.glrm import fit
from karat.study.designs.factorial import quoted
from measure.factorial import FORMULA, frame, rated
from messages import codes, raises


def test_a_condition_between_participants_has_no_slope_for_them() -> None:
    table = frame().with_columns(group=pl.when(pl.col("participant") < "p12").then(pl.lit("x")).otherwise(pl.lit("y")))
    found = design_formula(table, ["a", "group"])
    assert found.text == "response ~ a * group + (1 + a | participant) + (1 + a * group | item)"
    assert found.simpler == (
        "response ~ a * group + (1 + a || participant) + (1 + a * group || item)",
        "response ~ a * group + (1 | participant) + (1 | item)",
    )
    values = {"condition": "group", "group": Message("contrasts.participants")}
    assert found.notes == (Message("contrasts.not_within", values),)


def test_slopes_are_kept_as_long_as_they_take_seconds() -> None:
    """Two conditions, each with slopes for 250 participants and 200 items: 50,000 answers take 15 seconds."""
    assert design_formula(frame(250, 200), ["a", "b"]).notes == ()
    notes = design_formula(frame(600, 200), ["a", "b"]).notes
    assert [str(note.values["group"]) for note in notes] == ["participants"]


def test_a_condition_between_items_has_no_slope_for_them() -> None:
    table = frame().with_columns(kind=pl.when(pl.col("item") < "i08").then(pl.lit("x")).otherwise(pl.lit("y")))
    found = design_formula(table, ["kind"])
    assert found.text == "response ~ kind + (1 + kind | participant) + (1 | item)"
    values = {"condition": "kind", "group": Message("contrasts.items")}
    assert found.notes == (Message("contrasts.not_within", values),)


def test_one_answer_a_cell_has_no_slope() -> None:
    table = frame(24, 4)
    found = design_formula(table, ["a", "b"])
    assert "(1 + a + b | participant) + (1 + a * b | item)" in found.text
    values = {"terms": ["a:b"], "group": Message("contrasts.participants")}
    assert found.notes == (Message("contrasts.one_answer_per_cell", values),)


def test_many_slopes_do_not_correlate() -> None:
    table = frame().with_columns(c=pl.when(pl.col("trial") % 2 == 0).then(pl.lit("u")).otherwise(pl.lit("v")))
    found = design_formula(table, ["a", "b", "c"])
    assert "|| participant)" in found.text
    assert "contrasts.many_slopes" in codes(found.notes)


def test_names_that_are_no_words_stand_in_backticks() -> None:
    table = frame().rename({"a": "word order"})
    assert design_formula(table, ["word order"]).text.startswith("response ~ `word order` + (1 + `word order` |")
    assert [quoted(name) for name in ("a.b", "a_1", "1a", "a-b")] == ["a.b", "a_1", "`1a`", "`a-b`"]


def test_a_condition_without_values_is_reported() -> None:
    with raises(karat.measure.MeasureError, "contrasts.no_values"):
        design_formula(frame().with_columns(a=pl.lit(None, dtype=pl.String)), ["a"])


def test_families() -> None:
    assert family_of(karat.Nominal(["same", "different"]), "contrasts") == "binary"
    assert family_of(karat.Ordinal(2), "contrasts") == "binary"
    with raises(karat.measure.MeasureError, "contrasts.labels"):
        family_of(karat.Nominal(["a", "b", "c"]), "contrasts")


def test_what_is_known_of_participants_may_be_a_condition() -> None:
    judgments = rated(frame(), karat.Ordinal(5))
    people = judgments.participants.with_columns(
        group=pl.Series(["x", "y"] * 12), age=pl.Series(np.arange(24) + 20), item=pl.lit("nothing")
    )
    whole = karat.Judgments(judgments.frame, karat.Ordinal(5), people)
    found = contrasts(whole, "response ~ group + scale(age) + (1 | participant) + (1 | item)")
    assert found.frame["term"].to_list() == ["group", "scale(age)"]
    assert found.means["term"].unique().to_list() == ["group"]
    inputs = model_input(whole, None, ["group"], None, ("test",))
    assert inputs.formula.endswith("(1 | participant) + (1 + group | item)")


def test_what_a_covariate_does_to_the_tests_is_reported() -> None:
    judgments = rated(frame(), karat.Ordinal(5))
    found = contrasts(judgments, "response ~ a * scale(trial) + (1 | participant) + (1 | item)")
    assert Message("wald.covariates", {"names": ["scale(trial)"], "n": 1}) in found.notes


def test_answers_are_turned_the_right_way_round() -> None:
    judgments = rated(frame(), karat.Ordinal(5))
    turned = judgments.frame.with_columns(
        polarity=pl.when(pl.col("trial") % 2 == 0).then(-1).otherwise(1),
        response=pl.when(pl.col("trial") % 2 == 0)
        .then(6 - pl.col("response").cast(pl.Int64))
        .otherwise(pl.col("response").cast(pl.Int64))
        .cast(pl.String),
    )
    one, other = contrasts(judgments, FORMULA), contrasts(karat.Judgments(turned, karat.Ordinal(5)), FORMULA)
    assert other.coefficients["estimate"].to_list() == pytest.approx(one.coefficients["estimate"].to_list(), abs=1e-8)


def test_missing_values_are_counted() -> None:
    judgments = rated(frame(), karat.Ordinal(5))
    table = judgments.frame.with_columns(a=pl.when(pl.col("trial") == 1).then(None).otherwise(pl.col("a")))
    found = contrasts(karat.Judgments(table, karat.Ordinal(5)), FORMULA)
    missing = Message("frame.missing", {"column": "a", "n": 24})
    assert Message("frame.left_out", {"n": 24, "rows": 384, "causes": [missing]}) in found.notes
    assert found.means.filter(term="a")["n"].sum() == 360


def test_second_answers_are_kept_and_reported() -> None:
    table = rated(frame(), karat.Ordinal(5)).frame
    again = pl.concat([table, table.filter(pl.col("trial") == 1).with_columns(trial=pl.lit(99, dtype=pl.Int64))])
    found = contrasts(karat.Judgments(again, karat.Ordinal(5)), FORMULA)
    assert Message("contrasts.repeats", {"n": 24}) in found.notes


def test_several_questions_need_a_name() -> None:
    table = rated(frame(), karat.Ordinal(5)).frame
    both = pl.concat([table.with_columns(question=pl.lit(name)) for name in ("natural", "clear")])
    judgments = karat.Judgments(both, karat.Ordinal(5))
    with raises(karat.measure.MeasureError, "rated.several_questions"):
        contrasts(judgments, FORMULA)
    with raises(karat.measure.MeasureError, "rated.no_question"):
        contrasts(judgments, FORMULA, question="claer")
    assert one_question(judgments, "contrasts", "clear", ("test",)).rows.height == table.height


def test_conditions_that_are_none() -> None:
    judgments = rated(frame(), karat.Ordinal(5))
    with raises(karat.measure.MeasureError, "unknown.column"):
        contrasts(judgments, conditions=["aa"])
    with raises(karat.measure.MeasureError, "contrasts.empty_conditions"):
        contrasts(judgments, conditions=[])
    with raises(karat.measure.MeasureError, "contrasts.formula_and_conditions"):
        contrasts(judgments, FORMULA, conditions=["a"])
    with raises(karat.measure.MeasureError, "contrasts.no_condition"):
        contrasts(karat.Judgments(judgments.frame.drop("a", "b"), karat.Ordinal(5)))


@pytest.mark.slow
def test_the_unit_is_the_deviation_of_answers_within_a_condition() -> None:
    """Many participants and items: the model's variance is that of the answers after the conditions are taken out."""
    judgments = rated(frame(200, 120, a=2.0, slope=1.0), karat.Continuous())
    found = contrasts(judgments, "response ~ a + (1 + a | participant) + (1 + a | item)")
    assert found.model is not None
    table = judgments.frame.select("a", "response")
    values, high = table["response"].cast(float).to_numpy(), (table["a"] == "high").to_numpy()
    within = np.mean([values[high].var(), values[~high].var()])
    assert standard_deviation(found.model) ** 2 == pytest.approx(within, rel=0.03)


def test_the_coding_does_not_matter() -> None:
    judgments = rated(frame(24, 16, slope=1.5), karat.Continuous())
    data = {name: judgments.frame[name].to_list() for name in ("a", "participant", "item")}
    data["response"] = judgments.frame["response"].cast(float).to_list()
    formula = "response ~ a + (1 + a | participant) + (1 | item)"
    one, other = (fit(formula, data, "gaussian", coding=coding) for coding in ("sum", "treatment"))
    assert standard_deviation(one) == pytest.approx(standard_deviation(other), rel=1e-5)


def test_several_terms_of_one_group() -> None:
    judgments = rated(frame(24, 16, slope=1.5), karat.Continuous())
    data = {name: judgments.frame[name].to_list() for name in ("a", "participant", "item")}
    data["response"] = judgments.frame["response"].cast(float).to_list()
    data["code"] = [1.0 if level == "high" else -1.0 for level in data["a"]]
    together = fit("response ~ a + (1 + code || participant) + (1 | item)", data, "gaussian")
    apart = fit("response ~ a + (1 | participant) + (0 + code | participant) + (1 | item)", data, "gaussian")
    assert standard_deviation(apart) == pytest.approx(standard_deviation(together), rel=1e-4)
    variances = sum(float(np.trace(matrix)) for matrix in together.fit.covariances.values())
    assert standard_deviation(together) ** 2 == pytest.approx(variances + together.fit.residual_variance, rel=1e-6)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_unit_is_as_uncertain_as_mean_squares_say(level: float) -> None:
    """In a balanced design the variance of an answer is (MSB + (m - 1) MSW) / m, of two independent mean squares."""
    people, m = 9, 6
    random = np.random.default_rng(4)
    value = np.repeat(random.normal(size=people), m) + random.normal(size=people * m)
    data = {"y": value.tolist(), "a": list("xy") * (people * m // 2)}
    data["who"] = np.repeat([f"p{n}" for n in range(people)], m).tolist()
    model = fit("y ~ a + (1 | who)", data, "gaussian")
    table = value.reshape(people, m)
    between = m * table.mean(axis=1).var(ddof=1)
    rest = table - table.mean(axis=1, keepdims=True)
    rest -= np.tile([rest[:, ::2].mean(), rest[:, 1::2].mean()], (people, m // 2))
    freedom = people * (m - 1) - 1
    within = (rest**2).sum() / freedom
    total = (between + (m - 1) * within) / m
    assert standard_deviation(model) ** 2 == pytest.approx(total, rel=1e-5)
    variance = 2 * (between**2 / (people - 1) + (m - 1) ** 2 * within**2 / freedom) / (m * total) ** 2
    df = 2 / variance
    expected = np.sqrt(chi2.ppf([(1 - level) / 2, (1 + level) / 2], df) / df)
    # A difference that is known without error leaves the uncertainty of the unit.
    sizes = effect_sizes(model, [2.0, -2.0], [2.0, -2.0], [2.0, -2.0], level)
    assert [sizes.d_lower[0], sizes.d_upper[0]] == pytest.approx(2 / np.sqrt(total) * expected, rel=1e-4)
    assert [sizes.d_upper[1], sizes.d_lower[1]] == pytest.approx(-2 / np.sqrt(total) * expected, rel=1e-4)


def test_logits_have_the_latent_residual_and_odds_ratios() -> None:
    model = contrasts(rated(frame(), karat.Binary()), FORMULA).model
    assert model is not None
    sizes = effect_sizes(model, [LATENT, 0.0], [0.0, -1.0], [2 * LATENT, 1.0])
    assert sizes.d.tolist() == [1.0, 0.0]
    assert sizes.odds_ratio is not None
    assert sizes.odds_ratio.tolist() == pytest.approx([np.exp(LATENT), 1.0])
    assert np.random.default_rng(1).logistic(size=10**6).std() == pytest.approx(LATENT, rel=0.005)
