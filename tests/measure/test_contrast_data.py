"""The columns that a formula may speak of."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat
from karat.measure.effects.contrasts import contrasts
from karat.measure.effects.data import asked_for, one_question
from karat.messages import Message
from measure.factorial import FORMULA, frame, rated
from messages import raises


def test_what_is_known_of_participants_may_be_a_condition() -> None:
    judgments = rated(frame(), karat.Ordinal(5))
    people = judgments.participants.with_columns(
        group=pl.Series(["x", "y"] * 12), age=pl.Series(np.arange(24) + 20), item=pl.lit("nothing")
    )
    whole = karat.Judgments(judgments.frame, karat.Ordinal(5), people)
    found = contrasts(whole, "response ~ group + scale(age) + (1 | participant) + (1 | item)")
    assert found.frame["term"].to_list() == ["group", "scale(age)"]
    assert found.means["term"].unique().to_list() == ["group"]
    assert asked_for(whole, None, ["group"], None, ("test",)).formula.endswith("(1 | participant) + (1 + group | item)")


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
    with raises(karat.measure.MeasureError, "rated.no_column"):
        contrasts(judgments, conditions=["aa"])
    with raises(karat.measure.MeasureError, "contrasts.empty_conditions"):
        contrasts(judgments, conditions=[])
    with raises(karat.measure.MeasureError, "contrasts.formula_and_conditions"):
        contrasts(judgments, FORMULA, conditions=["a"])
    with raises(karat.measure.MeasureError, "contrasts.no_condition"):
        contrasts(karat.Judgments(judgments.frame.drop("a", "b"), karat.Ordinal(5)))
