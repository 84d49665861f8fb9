"""Answers as numbers and categories, stimuli, and what is left out."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given

import karat
from karat.measure.rated import rated
from karat.measure.result import MeasureError
from karat.messages import Message
from messages import raises
from strategies import judgments


def made(response: list[object], scale: karat.judgments.scales.Scale, **further: list[object]) -> karat.Judgments:
    size = len(response)
    columns = {"participant": [f"p{n}" for n in range(size)], "item": ["a"] * size, "response": response}
    return karat.Judgments(columns | further, scale)


def test_each_scale_has_its_numbers() -> None:
    cases = [
        (made([1, 3, 5], karat.Ordinal(5)), [1, 3, 5], [0, 2, 4]),
        (made([0, 1], karat.Binary()), [0, 1], [0, 1]),
        (made([50, 200], karat.Magnitude(100)), [np.log(0.5), np.log(2)], [-1, -1]),
        (made([0, 4], karat.Magnitude(zeros=True)), [np.log(2), np.log(4)], [-1, -1]),
        (made([-2.5, 3], karat.Continuous(-3, 3)), [-2.5, 3], [-1, -1]),
        (made(["b", "a"], karat.Nominal(["a", "b"])), [1, 0], [1, 0]),
        (made(["b", "a"], karat.Nominal(["a", "b", "c"])), [np.nan, np.nan], [1, 0]),
    ]
    for table, values, categories in cases:
        (one,) = rated(table, "x")
        np.testing.assert_allclose(one.value, values)
        assert one.category.tolist() == categories


def test_answers_shown_the_other_way_round_are_turned() -> None:
    ratings = made([1, 1, 2], karat.Ordinal(5), polarity=[1, -1, -1])
    assert rated(ratings, "x")[0].value.tolist() == [1, 5, 4]
    slider = made([-3, 1], karat.Continuous(-3, 3), polarity=[-1, -1])
    assert rated(slider, "x")[0].value.tolist() == [3, -1]
    assert rated(made([1, 0], karat.Binary(), polarity=[-1, -1]), "x")[0].value.tolist() == [0, 1]


def test_a_choice_is_the_item_not_the_side() -> None:
    choices = made(
        ["left", "left", "none"], karat.Choice(none=True), left=["good", "bad", "bad"], right=["bad", "good", "good"]
    )
    (one,) = rated(choices, "x")
    assert one.category.tolist() == [1, 0, 2]
    assert one.value.tolist() == [0, 1, 0.5]
    assert one.levels == ("first", "second", "none")


def test_only_the_first_answer_to_a_stimulus_counts() -> None:
    frame = {"participant": ["p1", "p1", "p2"], "item": ["a"] * 3, "response": [1, 5, 3], "trial": [9, 2, 1]}
    (one,) = rated(karat.Judgments(frame, karat.Ordinal(5)), "x")
    assert sorted(one.value.tolist()) == [3, 5]
    assert one.notes == (Message("rated.second_answers", {"n": 1}),)
    (whole,) = rated(karat.Judgments(frame, karat.Ordinal(5)), "x", once=None)
    assert whole.rows.height == 3


def test_conditions_are_found_and_can_be_named() -> None:
    likert = karat.datasets.load("likert")
    (one,) = rated(likert, "x")
    assert one.stimuli.columns == ["item", "order", "integration"]
    (plain,) = rated(likert, "x", conditions=[])
    assert plain.stimuli.height * 4 == one.stimuli.height
    with raises(MeasureError, "unknown.column", name="ordre", close="order", known=None):
        rated(likert, "x", conditions=["ordre"])


def test_nothing_to_look_at_is_reported() -> None:
    crowd = karat.datasets.load("crowd")
    with raises(MeasureError, "rated.no_answers", functions=["filler"], answered=["test"]):
        rated(crowd, "agreement", functions=["filler"])
    with raises(MeasureError, "rated.functions"):
        rated(crowd, "agreement", functions=["fillers"])
    silent = karat.Judgments(crowd.frame.with_columns(response=pl.lit(None, pl.String)), crowd.scales)
    with raises(MeasureError, "rated.no_answers", functions=["test"], answered=None):
        rated(silent, "agreement")


@pytest.mark.slow
@given(judgments())
def test_every_answer_is_kept_once_or_reported(table: karat.Judgments) -> None:
    answered = table.frame.filter(pl.col("response").is_not_null()).height
    if not answered:
        return
    (one,) = rated(table, "x", once=None)
    assert one.rows.height == answered
    assert [one.people[n] for n in one.rater] == one.rows["participant"].to_list()
    names = one.stimuli["item"].to_list()
    assert [names[n] for n in one.stimulus] == one.rows["item"].to_list()
