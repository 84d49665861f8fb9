"""Contrasts: what must hold whatever the data, the notes on what was fitted, and recovery of what was simulated."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.measure.effects.contrasts import Contrasts, contrasts, proportional_odds, spread_ratios
from karat.measure.result import MeasureError
from karat.messages import Message, message_of, with_code
from karat.models.glrm.mixed.search import SINGULAR
from measure.factorial import FORMULA, frame, rated
from messages import codes, raises

SCALES = [karat.Ordinal(5), karat.Binary(), karat.Continuous(), karat.Magnitude(modulus=2.0)]


@pytest.fixture(scope="module")
def found() -> Contrasts:
    return contrasts(rated(frame(a=1.0, ab=1.0), karat.Ordinal(5)), FORMULA)


@pytest.mark.few(1)
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.kind)
def test_every_scale_has_its_model(scale: karat.Scale) -> None:
    result = contrasts(rated(frame(a=2.0), scale), FORMULA)
    assert result.frame["term"].to_list() == ["a", "b", "a:b"]
    family = {"ordinal": "ordinal", "binary": "binary"}.get(scale.kind, "gaussian")
    assert result.settings["family"] == family
    assert result.frame["denominator"].is_between(1, 1e6).all()
    assert result.settings["df"] == ("kenward-roger" if family == "gaussian" else "satterthwaite")
    asymptotic = contrasts(rated(frame(a=2.0), scale), FORMULA, df="asymptotic").frame
    assert asymptotic.columns == ["term", "chi2", "df", "p"]
    assert (asymptotic["p"] <= result.frame["p"]).all()
    assert ("odds_ratio" in result.differences.columns) == (family != "gaussian")
    assert result.frame["p"][0] < 0.001
    # Magnitudes are logarithms of the ratio to the modulus, so that a difference is that of the logarithms.
    row = result.differences.filter(term="a").row(0, named=True)
    assert row["first"] == "high"
    assert row["lower"] < 2.0 < row["upper"]


@pytest.mark.slow
@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_the_order_of_rows_does_not_matter(seed: int) -> None:
    judgments = rated(frame(12, 8, seed=seed), karat.Continuous())
    shuffled = karat.Judgments(judgments.frame.sample(fraction=1, shuffle=True, seed=seed), karat.Continuous())
    first, second = contrasts(judgments, FORMULA, simplify=False), contrasts(shuffled, FORMULA, simplify=False)
    for name in ("frame", "means", "differences", "interactions"):
        one, other = getattr(first, name), getattr(second, name)
        for column in ("F", "estimate", "se", "p", "raw"):
            if column in one.columns:
                np.testing.assert_allclose(one[column], other[column], rtol=1e-4, atol=1e-6, err_msg=f"{name} {column}")


@pytest.mark.slow
@settings(max_examples=8)
@given(st.integers(0, 10**6), st.permutations(["red", "green"]))
def test_renamed_levels_change_nothing_but_names(seed: int, names: list[str]) -> None:
    judgments = rated(frame(12, 8, seed=seed), karat.Continuous())
    table = judgments.frame.with_columns(pl.col("a").replace_strict(["high", "low"], names))
    renamed = contrasts(karat.Judgments(table, karat.Continuous()), FORMULA, simplify=False)
    first = contrasts(judgments, FORMULA, simplify=False)
    np.testing.assert_allclose(first.frame["F"], renamed.frame["F"], rtol=1e-4, atol=1e-8)
    sign = 1 if names[0] < names[1] else -1
    one, other = (result.interactions.row(0, named=True) for result in (first, renamed))
    assert other["estimate"] == pytest.approx(sign * one["estimate"], rel=1e-4, abs=1e-7)
    assert other["scale_dependence"] == one["scale_dependence"]
    old, new = dict(zip(["high", "low"], names, strict=True)), renamed.means.filter(term="a")
    for row in first.means.filter(term="a").to_dicts():
        assert new.filter(a=old[row["a"]])["estimate"].item() == pytest.approx(row["estimate"], rel=1e-4, abs=1e-6)


def test_means_of_levels_are_means_of_cells(found: Contrasts) -> None:
    cells = found.means.filter(term="a:b")
    assert cells.height == 4
    for name in ("a", "b"):
        averaged = cells.group_by(name, maintain_order=True).agg(pl.col("estimate").mean()).sort(name)
        own = found.means.filter(term=name).sort(name)
        assert averaged["estimate"].to_list() == pytest.approx(own["estimate"].to_list(), abs=1e-10)


def test_plain_means_and_numbers_of_answers(found: Contrasts) -> None:
    judgments = rated(frame(a=1.0, ab=1.0), karat.Ordinal(5))
    plain = judgments.frame.group_by("a", "b").agg(pl.col("response").cast(pl.Float64).mean(), pl.len())
    joined = found.means.filter(term="a:b").join(plain, on=["a", "b"])
    assert joined["raw"].to_list() == pytest.approx(joined["response"].to_list())
    assert joined["n"].to_list() == joined["len"].to_list()


def test_differences_follow_from_the_means(found: Contrasts) -> None:
    cells = {(row["a"], row["b"]): row for row in found.means.filter(term="a:b").to_dicts()}
    for row in found.differences.filter(term="a:b").to_dicts():
        one, other = (cells[tuple(row[side].split(", "))] for side in ("first", "second"))
        assert row["estimate"] == pytest.approx(one["estimate"] - other["estimate"], abs=1e-9)
        assert row["raw"] == pytest.approx(one["raw"] - other["raw"], abs=1e-9)
        assert row["adjusted"] >= row["p"]
        assert row["odds_ratio"] == pytest.approx(np.exp(row["estimate"]))
        assert row["d"] == pytest.approx(row["estimate"] * np.sqrt(3) / np.pi)
    crossed = found.interactions.row(0, named=True)
    high, low = (cells[one, "new"]["estimate"] - cells[one, "old"]["estimate"] for one in ("high", "low"))
    assert crossed["estimate"] == pytest.approx(high - low, abs=1e-9)
    # With two levels each, the interaction has one degree of freedom: the same test.
    assert crossed["p"] == pytest.approx(found.frame.filter(term="a:b")["p"].item(), rel=1e-6)


@pytest.mark.slow
def test_default_formula_is_the_largest_then_simplified() -> None:
    result = contrasts(rated(frame(slope=0.0), karat.Continuous()))
    assert result.formula == "response ~ a * b + (1 + a * b | participant) + (1 + a * b | item)"
    assert result.simplified
    assert "contrasts.simplified" in codes(result.warnings)
    assert str(result) == " ".join(map(str, (*result.summary, *result.warnings)))
    whole = contrasts(rated(frame(slope=0.0), karat.Continuous()), simplify=False)
    assert not whole.simplified
    assert set(codes(whole.notes)) & set(SINGULAR)


def test_slopes_that_are_there_stay() -> None:
    result = contrasts(rated(frame(40, 32, slope=1.5), karat.Continuous()), conditions=["a"])
    assert result.model is not None
    assert all(len(term.names) == 2 for term in result.model.fit.terms)
    assert result.frame["denominator"][0] < 60


@pytest.mark.parametrize("scale", [karat.Continuous(), karat.Ordinal(5)], ids=lambda scale: scale.kind)
def test_an_empty_cell_is_named_and_not_estimated(scale: karat.Scale) -> None:
    table = frame().filter((pl.col("a") != "high") | (pl.col("b") != "new"))
    result = contrasts(rated(table, scale), FORMULA)
    (dropped,) = with_code(result.warnings, "design.dropped")
    assert [cell.values["levels"] for cell in dropped.values["empty"].values["cells"]] == [["a = high", "b = new"]]
    assert not result.interactions.height
    cells = result.means.filter(term="a:b")
    assert cells["estimate"].is_nan().to_list() == [True, False, False, False]
    assert cells["n"].to_list() == [0, 96, 96, 96]
    assert "cells of the design are empty" in result.plot().get_suptitle()


def test_a_number_as_a_factor_has_means() -> None:
    table = frame().with_columns(third=pl.col("trial") % 3)
    formula = "response ~ a * factor(third) + (1 | participant) + (1 | item)"
    result = contrasts(rated(table, karat.Continuous()), formula)
    assert result.factors == ("a", "third")
    assert result.means.filter(term="a:factor(third)").height == 6
    assert result.differences.filter(term="factor(third)")["first"].to_list() == ["0", "0", "1"]
    assert result.plot().axes[0].get_xlabel() == "a"


def test_numbers_of_a_condition_are_levels() -> None:
    """Conditions 1 to 4, of which those in the middle differ from the others, have no linear trend."""
    table = frame(a=0, slope=0).with_columns(condition=1 + pl.col("a").eq("low") + 2 * pl.col("b").eq("old"))
    middle = pl.col("condition").is_in([2, 3])
    table = table.drop("a", "b").with_columns(latent=pl.col("latent") + 2 * middle)
    result = contrasts(rated(table, karat.Continuous()))
    assert result.frame.select("term", "df").rows() == [("condition", 3)]
    assert result.frame["p"].item() < 1e-6
    assert result.means["condition"].to_list() == ["1", "2", "3", "4"]
    (note,) = with_code(result.notes, "contrasts.numbers_levels")
    assert note.values == {"names": ["condition"]}
    two = contrasts(rated(table.filter(pl.col("condition") < 3), karat.Continuous()))
    assert two.differences.height == 1
    assert "contrasts.numbers_levels" not in codes(two.notes)


def test_many_numbers_of_a_condition_are_linear() -> None:
    table = frame(a=0).with_columns(length=pl.int_range(pl.len()) * 7 % 40)
    result = contrasts(rated(table, karat.Continuous()), conditions=["a", "length"])
    assert result.factors == ("a",)
    (note,) = with_code(result.notes, "contrasts.numbers_linear")
    assert note.values == {"names": ["length"]}


def test_one_item_for_each_condition() -> None:
    table = frame(20, 4).with_columns(a=pl.when(pl.col("item") < "i02").then(pl.lit("x")).otherwise(pl.lit("y")))
    two = table.filter(pl.col("item").is_in(["i00", "i03"]))
    for scale in (karat.Binary(), karat.Continuous()):
        assert "contrasts.one_per_condition" not in codes(contrasts(rated(table, scale), conditions=["a"]).notes)
        (note,) = with_code(contrasts(rated(two, scale), conditions=["a"]).notes, "contrasts.one_per_condition")
        assert note.values == {"group": Message("contrasts.items"), "n": 2}


def test_rare_separated_answers_are_not_tested() -> None:
    """Three times yes, all in one cell: coefficients grow until the information beside them is singular."""
    table = frame(20, 16).with_columns(response=pl.lit("0"))
    rare = (pl.col("a") == "high") & (pl.col("b") == "new")
    number = pl.int_range(pl.len())
    rows = table.drop("latent").with_row_index().filter(rare)["index"].to_list()[:60:20]
    judgments = karat.Judgments(
        table.drop("latent").with_columns(response=pl.when(number.is_in(rows)).then(pl.lit("1")).otherwise("response")),
        karat.Binary(),
    )
    measured = karat.measure.run(judgments, samples=0)
    (result,) = [part.result for part in measured.parts if isinstance(part.result, Contrasts)]
    assert " nan" not in "\n".join(measured.lines())
    assert result.frame["p"].is_nan().all()
    assert not result.interactions.height
    assert "contrasts.not_converged" in codes(result.notes)


def test_a_response_time_may_be_asked_for_instead() -> None:
    judgments = rated(frame(), karat.Ordinal(5))
    table = judgments.frame.with_columns(rt=pl.Series(np.exp(np.random.default_rng(3).normal(size=len(judgments)))))
    result = contrasts(karat.Judgments(table, karat.Ordinal(5)), "log(rt) ~ a + (1 | participant) + (1 | item)")
    assert result.settings["family"] == "gaussian"
    assert result.unit == Message("unit.column", {"column": "log(rt)"})
    assert result.means["raw"].to_list() == pytest.approx(
        table.group_by("a").agg(pl.col("rt").mean()).sort("a")["rt"].to_list()
    )


def test_ratings_may_be_taken_as_numbers() -> None:
    judgments = rated(frame(), karat.Ordinal(5))
    result = contrasts(judgments, "as.numeric(response) ~ a + (1 | participant) + (1 | item)")
    assert result.settings["family"] == "gaussian"
    assert result.unit == Message("unit.column", {"column": "as.numeric(response)"})
    points = judgments.frame.group_by("a").agg(pl.col("response").cast(pl.Float64).mean()).sort("a")
    assert result.means["raw"].to_list() == pytest.approx(points["response"].to_list())


def test_slopes_that_look_like_chance_are_not_asked_for() -> None:
    result = contrasts(rated(frame(24, 4), karat.Continuous()))
    assert result.formula == "response ~ a * b + (1 + a + b | participant) + (1 + a * b | item)"
    assert "contrasts.one_answer_per_cell" in codes(result.notes)


@pytest.mark.slow
def test_a_fit_that_failed_is_reported_and_intercepts_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["karat.measure.effects.contrasts"]
    fit = module.fit
    working = ["(1 | participant)"]

    def failing(formula: str, *args: Any, **settings: Any) -> Any:
        model = fit(formula, *args, **settings)
        if any(term in formula for term in working):
            return model
        convergence = replace(model.fit.convergence, converged=False, reason=Message("fit.reason_modes"))
        return replace(model, fit=replace(model.fit, convergence=convergence))

    monkeypatch.setattr(module, "fit", failing)
    result = contrasts(rated(frame(), karat.Continuous()))
    assert result.formula == "response ~ a * b + (1 | participant) + (1 | item)"
    (unused,) = with_code(result.warnings, "contrasts.not_used")
    assert unused.values["reason"].code == "fit.reason_modes"
    working.append("||")
    uncorrelated = contrasts(rated(frame(), karat.Continuous()))
    assert uncorrelated.formula.count("||") == 2
    (unused,) = with_code(uncorrelated.notes, "contrasts.uncorrelated")
    assert unused.values["reason"].code == "fit.reason_modes"
    assert not any(with_code(uncorrelated.warnings, "contrasts.not_used"))
    given = contrasts(rated(frame(), karat.Continuous()), "response ~ a + (1 + a | participant)")
    assert "contrasts.not_converged" in codes(given.warnings)


@pytest.mark.parametrize(
    ("formula", "code"),
    [
        ("response ~ aa + b + (1 | participant)", "formula.no_column_close"),
        ("response ~ a * b", "model.no_random"),
        ("response ~ a + (1 | participant", "formula.open_bracket"),
    ],
)
def test_a_wrong_formula_is_named(formula: str, code: str) -> None:
    with pytest.raises(karat.measure.MeasureError) as error:
        contrasts(rated(frame(4, 4), karat.Ordinal(5)), formula)
    message = message_of(error.value)
    assert message.values.get("problem", message).code == code


def test_what_cannot_be_contrasted() -> None:
    choices = karat.Judgments(
        {"participant": ["p"], "item": ["x:y"], "left": ["x"], "right": ["y"], "response": ["left"]}, karat.Choice()
    )
    with raises(karat.measure.MeasureError, "contrasts.choices"):
        contrasts(choices, "response ~ 1 + (1 | participant)")
    with raises(karat.measure.MeasureError, "setting.refused", setting="level"):
        contrasts(rated(frame(4, 4), karat.Ordinal(5)), FORMULA, level=95)


@pytest.mark.slow
def test_recovery_of_effects_that_were_simulated() -> None:
    """Over forty studies, estimates of the effect and of the interaction are around the truth."""
    away = []
    for seed in range(40):
        result = contrasts(rated(frame(40, 32, seed, a=0.8, ab=-0.6, slope=0.4), karat.Ordinal(5), seed + 100))
        effect = result.differences.filter(term="a").row(0, named=True)
        crossed = result.interactions.row(0, named=True)
        away.append(((effect["estimate"] - 0.8) / effect["se"], (crossed["estimate"] + 0.6) / crossed["se"]))
    table = np.array(away)
    assert np.abs(table.mean(axis=0)).max() < 0.5
    assert 0.7 < table.std(axis=0).min() <= table.std(axis=0).max() < 1.4


@pytest.mark.slow
def test_splits_agree_where_odds_are_proportional() -> None:
    formula = "response ~ a + (1 | participant) + (1 | item)"
    alike = proportional_odds(contrasts(rated(frame(60, 24, a=1.0), karat.Ordinal(5)), formula))
    assert alike.table().columns[:4] == ["term", "split", "estimate", "lower"]
    assert alike.table()["differs"].sum() <= 1
    table = rated(frame(60, 24, a=0.0), karat.Ordinal(5)).frame
    number = pl.col("response").cast(pl.Int64)
    # One level of the condition avoids both ends of the scale.
    moved = pl.when(pl.col("a") == "high").then(number.clip(2, 4)).otherwise(number)
    uneven = karat.Judgments(table.with_columns(response=moved.cast(pl.String)), karat.Ordinal(5))
    found = proportional_odds(contrasts(uneven, formula))
    assert found.table()["differs"].sum() >= 2 or found.notes
    with raises(MeasureError, "proportional.not_ordinal"):
        proportional_odds(contrasts(rated(frame(), karat.Binary()), formula))


def test_a_wider_spread_is_found_and_an_equal_one_is_not() -> None:
    formula = "response ~ a + (1 | participant) + (1 | item)"
    equal = rated(frame(40, 16, a=0.5), karat.Ordinal(5))
    alike = spread_ratios(contrasts(equal, formula))
    assert alike.p > 0.01
    assert (alike.frame["lower"] < 1).all()
    assert (alike.frame["upper"] > 1).all()
    number = pl.col("response").cast(pl.Int64)
    narrow = pl.when(pl.col("a") == "high").then(number.clip(2, 4)).otherwise(number).cast(pl.String)
    narrowed = karat.Judgments(equal.frame.with_columns(response=narrow), karat.Ordinal(5))
    uneven = spread_ratios(contrasts(narrowed, formula))
    assert uneven.p < 0.001
    high, low = uneven.frame.rows()
    assert (high[0], low[0]) == ("high", "low")
    assert high[3] < 1 < low[2]
    assert high[1] * low[1] == pytest.approx(1)


def test_spread_is_that_of_ratings() -> None:
    with raises(MeasureError, "spread.not_ordinal"):
        spread_ratios(contrasts(rated(frame(), karat.Binary()), "response ~ a + (1 | participant) + (1 | item)"))
