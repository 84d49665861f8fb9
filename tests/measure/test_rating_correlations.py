"""Correlations from tables, arrays and matrices, and why some cannot be."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.measure import MeasureError, ratings_matrix
from karat.measure.dimensions.matrix import check_invertible, correlations_of
from karat.messages import Message
from measure.differential import differential
from messages import raises

RANDOM = np.random.default_rng(1)
VALUES = RANDOM.integers(1, 6, (40, 3)).astype(float)


def test_tables_arrays_and_pandas_give_the_same() -> None:
    table = pl.DataFrame(VALUES, schema=["a", "b", "c"])
    expected = np.corrcoef(VALUES, rowvar=False)
    for given in (table, VALUES, VALUES.tolist(), table.to_dict(as_series=False)):
        np.testing.assert_allclose(correlations_of(given).matrix, expected)
    assert correlations_of(table).pairs == ("a", "b", "c")


def test_cases_with_a_gap_are_left_out_and_reported() -> None:
    gaps = VALUES.copy()
    gaps[:3, 0] = np.nan
    found = correlations_of(gaps)
    assert found.observations == 37
    assert found.notes == (Message("correlations.incomplete", {"n": 3, "cases": 40}),)
    np.testing.assert_allclose(found.matrix, np.corrcoef(VALUES[3:], rowvar=False))


def test_the_keys_follow_the_complete_cases() -> None:
    matrix = ratings_matrix(differential(people=10))
    found = correlations_of(matrix)
    assert found.keys is not None
    assert found.keys.columns == ["participant", "item"]
    assert found.keys.height == found.observations == 30


def test_correlations_need_observations_ratings_refuse_them() -> None:
    matrix = np.corrcoef(VALUES, rowvar=False)
    assert correlations_of(matrix, observations=40).values is None
    with raises(MeasureError, "correlations.no_observations"):
        correlations_of(matrix)
    with raises(MeasureError, "correlations.observations"):
        correlations_of(VALUES, observations=40)


def test_polychoric_correlations_are_larger_for_coarse_answers() -> None:
    random = np.random.default_rng(2)
    latent = random.standard_normal((500, 1)) + random.standard_normal((500, 3))
    coarse = (latent > 0).astype(float)
    plain, cut = correlations_of(coarse).matrix, correlations_of(coarse, "polychoric").matrix
    assert (cut[np.triu_indices(3, 1)] > plain[np.triu_indices(3, 1)] + 0.1).all()


def test_what_has_no_correlations_is_refused() -> None:
    flat = VALUES.copy()
    flat[:, 1] = 3
    for wrong, code, values in (
        (flat, "constant", {"pairs": ["pair 2"]}),
        (VALUES[:2], "too_few_cases", {"n": 2}),
        (VALUES[:, :1], "too_few_pairs", {}),
        (VALUES[0], "shape", {}),
        ({"a": ["x", "y"], "b": [1, 2]}, "no_numbers", {"column": "a"}),
    ):
        with raises(MeasureError, f"correlations.{code}", **values):
            correlations_of(wrong)
    with raises(MeasureError, "setting.refused", setting="correlations"):
        correlations_of(VALUES, "kendall")  # type: ignore[arg-type]
    with raises(MeasureError, "correlations.too_many_points"):
        correlations_of(RANDOM.standard_normal((40, 2)), "polychoric")


def test_a_pair_that_follows_from_others_is_reported() -> None:
    doubled = np.column_stack([VALUES, VALUES.sum(axis=1)])
    with raises(MeasureError, "correlations.singular"):
        check_invertible(correlations_of(doubled))
