"""Intervals by resampling participants."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from karat.measure import MeasureError, factor_intervals, factors, ratings_matrix
from measure.differential import differential
from messages import codes, raises


@pytest.mark.slow
def test_intervals_hold_estimates_and_factors_are_stable() -> None:
    found = factors(ratings_matrix(differential()), 2)
    intervals = factor_intervals(found, draws=40)
    table = intervals.table()
    assert table.height == 12
    assert (table["lower"] < table["upper"]).all()
    inside = ((table["lower"] <= table["loading"]) & (table["loading"] <= table["upper"])).to_numpy()
    assert inside.mean() > 0.9
    assert (intervals.congruence["congruence"].to_numpy() > 0.95).all()
    assert intervals.correlations.height == 1
    assert intervals.settings["participants"] == 60
    assert intervals.notes == ()


def test_the_same_seed_gives_the_same_intervals() -> None:
    found = factors(ratings_matrix(differential(people=30)), 2)
    first, second, other = (factor_intervals(found, draws=5, seed=seed).table() for seed in (1, 1, 2))
    assert first.equals(second)
    assert not first.equals(other)


@pytest.mark.slow
def test_participants_with_many_equal_cases_widen_the_intervals() -> None:
    """Each case copied five times: as rows they look like five times the data, as participants like what they are."""
    values = np.random.default_rng(1).standard_normal((40, 1)) + np.random.default_rng(2).standard_normal((40, 4))
    rows = [(f"p{n}", f"t{copy}", *row) for n, row in enumerate(values) for copy in range(5)]
    matrix = ratings_matrix(differential(people=5))
    frame = pl.DataFrame(rows, schema=["participant", "item", *"abcd"], orient="row")
    whole = type(matrix)(frame, tuple("abcd"), "case", 40)
    people = factor_intervals(factors(whole, 1), draws=60).table()
    cases = factor_intervals(factors(frame.select(*"abcd"), 1), draws=60)
    width = (people["upper"] - people["lower"]).to_numpy().mean()
    narrow = (cases.table()["upper"] - cases.table()["lower"]).to_numpy().mean()
    assert width > 1.5 * narrow
    assert cases.notes[0].code == "factor_intervals.no_participants"


def test_a_factor_that_is_not_there_is_reported() -> None:
    noise = pl.DataFrame(np.random.default_rng(3).standard_normal((60, 6)), schema=list("abcdef"))
    notes = factor_intervals(factors(noise, 2), draws=20).notes
    assert "factor_intervals.unstable" in codes(notes)


def test_what_cannot_be_asked_for() -> None:
    one = [[1, 0.6, 0.5, 0.4], [0.6, 1, 0.5, 0.4], [0.5, 0.5, 1, 0.3], [0.4, 0.4, 0.3, 1]]
    with raises(MeasureError, "factor_intervals.no_ratings"):
        factor_intervals(factors(one, 1, observations=100))
    with raises(MeasureError, "factor_intervals.settings"):
        factor_intervals(factors(ratings_matrix(differential(people=20)), 1), draws=1)
