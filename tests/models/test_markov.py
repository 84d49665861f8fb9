"""Transitions and their distances from patterns, beside slow and plain computations."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models import markov as model
from karat.models.markov import (
    FLOOR,
    average,
    distances,
    maximum,
    minimum,
    row_divergences,
    targets,
    transition_counts,
    transition_matrices,
    way_matrix,
    ways,
)
from messages import refuses

SEQUENCES = st.lists(st.lists(st.integers(0, 2), max_size=9), min_size=1, max_size=5)


def plain_counts(sequences: list[list[int]], categories: int) -> np.ndarray:
    counts = np.zeros((len(sequences), categories, categories), dtype=int)
    for person, answers in enumerate(sequences):
        for here, there in pairwise(answers):
            counts[person, here, there] += 1
    return counts


def counted(sequences: list[list[int]], categories: int = 3) -> np.ndarray:
    codes = np.array([answer for answers in sequences for answer in answers], dtype=np.int8)
    return transition_counts(codes, [len(answers) for answers in sequences], categories)


@given(SEQUENCES, st.integers(1, 12))
def test_transitions_count_within_participants_in_any_parts(sequences: list[list[int]], at_a_time: int) -> None:
    usual = model.ANSWERS_AT_A_TIME
    model.ANSWERS_AT_A_TIME = at_a_time
    try:
        found = counted(sequences)
    finally:
        model.ANSWERS_AT_A_TIME = usual
    np.testing.assert_array_equal(found, plain_counts(sequences, 3))


def test_wrong_codes_and_lengths_are_reported() -> None:
    with refuses(ValueError, "codes", "0 to 1"):
        transition_counts([0, 2], [2], 2)
    with refuses(ValueError, "lengths", 3, 2):
        transition_counts([0, 1], [3], 2)


def plain_divergence(p: np.ndarray, q: np.ndarray) -> float:
    return sum(a * np.log(a / (b if b > 0 else FLOOR)) for a, b in zip(p, q, strict=True) if a > 0)


@given(SEQUENCES)
def test_divergences_agree_with_the_sum_over_cells(sequences: list[list[int]]) -> None:
    counts = counted(sequences)
    patterns = targets(3)
    matrices = transition_matrices(counts)
    rows = row_divergences(counts, [target.matrix for target in patterns])
    for person in range(len(sequences)):
        for place, target in enumerate(patterns):
            for state in range(3):
                p = matrices[person, state]
                if np.isnan(p[0]):
                    assert np.isnan(rows[person, place, state])
                else:
                    assert rows[person, place, state] == pytest.approx(
                        plain_divergence(p, target.matrix[state]), abs=1e-9
                    )
                    # Replacing zero by a small number without scaling again can only add to it.
                    assert rows[person, place, state] >= -1e-4


def test_states_that_were_never_left_do_not_count() -> None:
    """One answer throughout: a single row, at no distance from that choice and from staying."""
    patterns = targets(3)
    found = distances(counted([[1] * 20, [1], []]), [target.matrix for target in patterns], "rows")
    names = {(target.kind, target.way): place for place, target in enumerate(patterns)}
    assert found[0, names["primary choice", (1,)]] == 0
    assert found[0, names["stay", ()]] == 0
    assert found[0, names["primary choice", (0,)]] == pytest.approx(np.log(1 / FLOOR))
    assert found[0, names["random guessing", ()]] == pytest.approx(np.log(3))
    assert np.isnan(found[1:]).all()


def test_strategies_are_mean_largest_and_smallest_row() -> None:
    rows = np.array([[[1.0, np.nan, 4.0], [np.nan, np.nan, np.nan]]])
    np.testing.assert_array_equal(average(rows), [[2.5, np.nan]])
    np.testing.assert_array_equal(maximum(rows), [[4.0, np.nan]])
    np.testing.assert_array_equal(minimum(rows), [[1.0, np.nan]])


@pytest.mark.parametrize(("categories", "number"), [(2, 1), (3, 5), (4, 20), (5, 62), (7, 41), (12, 106)])
def test_ways_are_different_and_bounded(categories: int, number: int) -> None:
    found = ways(categories)
    assert len(found) == number
    assert len({way_matrix(way, categories).tobytes() for way in found}) == number
    assert tuple(range(categories)) in found
    assert (0, *range(categories - 1, 0, -1)) in found
    assert all(way[0] == min(way) and len(set(way)) == len(way) for way in found)


@given(st.integers(2, 8))
def test_target_rows_are_probabilities(categories: int) -> None:
    for target in targets(categories):
        np.testing.assert_allclose(target.matrix.sum(axis=1), 1)


@given(st.integers(2, 5), st.data())
def test_who_follows_a_way_is_nearest_to_it(categories: int, data: st.DataObject) -> None:
    way = data.draw(st.sampled_from(ways(categories)))
    patterns = targets(categories)
    found = distances(
        counted([list(way) * 6 + [way[0]]], categories), [target.matrix for target in patterns], "average"
    )[0]
    assert patterns[int(found.argmin())].way == way
    assert found.min() == 0
