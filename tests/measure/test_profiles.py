"""Profiles and scores of texts beside loops, by text and by group of participants."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat
from karat.measure import MeasureError, dimension_scores, factors, profiles, ratings_matrix
from karat.messages import Message
from karat.models.proportions import mean_interval
from measure.differential import PAIRS, differential
from messages import raises


def test_means_of_texts_beside_the_matrix() -> None:
    judgments = differential()
    found = profiles(judgments)
    matrix = ratings_matrix(judgments).frame
    assert found.pairs == PAIRS
    for row in found.frame.to_dicts():
        own = matrix.filter(pl.col("item") == row["group"])[row["pair"]].to_numpy()
        assert (row["mean"], row["lower"], row["upper"]) == pytest.approx(mean_interval(own))
        assert row["n"] == len(own)
    assert found.table().shape == (6, 13)


def test_groups_of_participants_count_each_participant_once() -> None:
    judgments = differential()
    found = profiles(judgments, "source")
    assert set(found.groups) == {"city", "country"}
    assert found.frame["n"].to_list() == [30] * 12
    rows = ratings_matrix(judgments).frame.join(judgments.participants, on="participant")
    means = rows.filter(pl.col("source") == "city").group_by("participant").agg(pl.col("clear").mean())["clear"]
    city = found.frame.filter(pl.col("group") == "city", pl.col("pair") == "clear")
    assert city["mean"].item() == pytest.approx(float(np.mean(means.to_numpy())))


def test_intervals_of_few_answers_stay_on_the_scale() -> None:
    rated = {"participant": ["p1", "p2", "p3"], "item": ["a"] * 3, "question": ["clear"] * 3, "response": [7, 7, 5]}
    row = profiles(karat.Judgments(rated, karat.Ordinal(7))).frame.row(0, named=True)
    assert row["lower"] == pytest.approx(mean_interval(np.array([7.0, 7.0, 5.0]))[1])
    assert row["upper"] == 7


def test_rows_without_a_group_are_reported() -> None:
    table = {"participant": ["p1"] * 4, "item": ["a", "a", "b", "b"], "question": ["clear", "simple"] * 2,
             "response": [7, 2, 3, 6], "system": ["x", "x", None, None]}  # fmt: skip
    found = profiles(karat.Judgments(table, karat.Ordinal(7)), "system")
    assert found.groups == ("x",)
    assert Message("profiles.no_group", {"n": 2, "by": "system"}) in found.notes
    assert found.frame["lower"].is_nan().all()


def test_it_says_where_groups_lie_farthest_apart() -> None:
    table = {"participant": ["p1", "p1", "p2", "p2"], "item": ["a", "a", "b", "b"],
             "question": ["clear", "simple"] * 2, "response": [7, 3, 2, 4]}  # fmt: skip
    found = profiles(karat.Judgments(table, karat.Ordinal(7)))
    assert found.summary == (
        Message("profiles.groups", {"groups": 2, "by": "item", "pairs": 2}),
        Message("profiles.widest", {"pair": "clear", "points": 5.0}),
    )


def test_an_unknown_column_is_refused() -> None:
    with raises(MeasureError, "unknown.column", name="sistem", close="item"):
        profiles(differential(people=5), "sistem")


def test_scores_are_means_of_cases_and_standard_over_texts() -> None:
    found = factors(ratings_matrix(differential()), 2).named("precision", "complexity")
    scores = dimension_scores(found)
    cases = found.scores()
    for row in scores.frame.to_dicts():
        own = cases.filter(pl.col("item") == row["item"])[row["dimension"]].to_numpy()
        assert (row["score"], row["lower"], row["upper"]) == pytest.approx(mean_interval(own))
    table = scores.table()
    assert table.columns == ["item", "precision", "complexity"]
    assert np.std(table["precision"].to_numpy(), ddof=1) == pytest.approx(1)
    assert np.mean(table["precision"].to_numpy()) == pytest.approx(0, abs=1e-9)
    about = {"texts": 12, "dimensions": ["precision", "complexity"], "cases": 180}
    assert scores.summary == (Message("dimension_scores.scores", about),)


def test_texts_must_be_known() -> None:
    values = np.random.default_rng(1).standard_normal((50, 1)) + np.random.default_rng(2).standard_normal((50, 4))
    with raises(MeasureError, "dimension_scores.no_texts"):
        dimension_scores(factors(values, 1))
