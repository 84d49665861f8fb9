"""Profiles beside loops, by text, by group of participants."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat
from karat.measure import MeasureError, profiles, ratings_matrix
from karat.messages import Message, message_of
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
    with raises(MeasureError, "profiles.unknown_column") as caught:
        profiles(differential(people=5), "sistem")
    values = message_of(caught.value).values
    assert (values["column"], values["known"][0]) == ("sistem", "participant")
