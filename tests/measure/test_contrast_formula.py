"""The largest formula that a design supports."""

from __future__ import annotations

import polars as pl

import karat
from karat.measure.effects.data import design_formula, family_of
from karat.messages import Message
from karat.study.designs.factorial import quoted
from measure.factorial import frame
from messages import codes, raises


def test_a_condition_between_participants_has_no_slope_for_them() -> None:
    table = frame().with_columns(group=pl.when(pl.col("participant") < "p12").then(pl.lit("x")).otherwise(pl.lit("y")))
    found = design_formula(table, ["a", "group"])
    assert found.text == "response ~ a * group + (1 + a | participant) + (1 + a * group | item)"
    assert found.simple == "response ~ a * group + (1 | participant) + (1 | item)"
    values = {"condition": "group", "group": Message("contrasts.participants")}
    assert found.notes == (Message("contrasts.not_within", values),)


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
