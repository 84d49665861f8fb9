"""Scores of texts beside loops over their cases."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from karat.measure import MeasureError, dimension_scores, factors, ratings_matrix
from karat.messages import Message
from karat.models.proportions import mean_interval
from measure.differential import differential
from messages import raises


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
