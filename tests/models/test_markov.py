"""Transitions and their distances from patterns, against slow and simple computations."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models import markov as model
from karat.models.markov import (
    FLOOR,
    PREFERENCE,
    Sequences,
    average,
    calibrate,
    credible_counts,
    distances,
    grouped,
    judged_together,
    maximum,
    minimum,
    pattern_counts,
    preference_spread,
    random_categories,
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
        result = counted(sequences)
    finally:
        model.ANSWERS_AT_A_TIME = usual
    np.testing.assert_array_equal(result, plain_counts(sequences, 3))


def test_wrong_codes_and_lengths_are_reported() -> None:
    with refuses(ValueError, "codes", "0 to 1"):
        transition_counts([0, 2], [2], 2)
    with refuses(ValueError, "lengths", 3, 2):
        transition_counts([0, 1], [3], 2)


def plain_divergence(p: np.ndarray, q: np.ndarray) -> float:
    return sum(a * np.log(a / (b if b > 0 else FLOOR)) for a, b in zip(p, q, strict=True) if a > 0)


@given(SEQUENCES)
def test_divergences_agree_with_sums_over_cells(sequences: list[list[int]]) -> None:
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
                    # Replacing zero by a small number without rescaling can only increase the divergence.
                    assert rows[person, place, state] >= -1e-4


def test_states_without_a_following_answer_do_not_count() -> None:
    """With a single answer throughout, there is one row, at distance zero from that choice and from staying."""
    patterns = targets(3)
    result = distances(counted([[1] * 20, [1], []]), [target.matrix for target in patterns], "rows")
    names = {(target.kind, target.way): place for place, target in enumerate(patterns)}
    assert result[0, names["primary choice", (1,)]] == 0
    assert result[0, names["stay", ()]] == 0
    assert result[0, names["primary choice", (0,)]] == pytest.approx(np.log(1 / FLOOR))
    assert result[0, names["random guessing", ()]] == pytest.approx(np.log(3))
    assert np.isnan(result[1:]).all()


def test_strategies_are_the_mean_largest_and_smallest_row() -> None:
    rows = np.array([[[1.0, np.nan, 4.0], [np.nan, np.nan, np.nan]]])
    np.testing.assert_array_equal(average(rows), [[2.5, np.nan]])
    np.testing.assert_array_equal(maximum(rows), [[4.0, np.nan]])
    np.testing.assert_array_equal(minimum(rows), [[1.0, np.nan]])


@pytest.mark.parametrize(("categories", "number"), [(2, 1), (3, 5), (4, 20), (5, 62), (7, 41), (12, 106)])
def test_ways_are_different_and_bounded(categories: int, number: int) -> None:
    result = ways(categories)
    assert len(result) == number
    assert len({way_matrix(way, categories).tobytes() for way in result}) == number
    assert tuple(range(categories)) in result
    assert (0, *range(categories - 1, 0, -1)) in result
    assert all(way[0] == min(way) and len(set(way)) == len(way) for way in result)


@given(st.integers(2, 8))
def test_target_rows_are_probabilities(categories: int) -> None:
    for target in targets(categories):
        np.testing.assert_allclose(target.matrix.sum(axis=1), 1)


@given(st.integers(2, 5), st.data())
def test_a_sequence_along_a_way_is_nearest_to_it(categories: int, data: st.DataObject) -> None:
    way = data.draw(st.sampled_from(ways(categories)))
    patterns = targets(categories)
    result = distances(
        counted([list(way) * 6 + [way[0]]], categories), [target.matrix for target in patterns], "average"
    )[0]
    assert patterns[int(result.argmin())].way == way
    assert result.min() == 0


def crowd(people: int, stimuli: int, spread: np.ndarray, seed: int = 3) -> tuple[Sequences, np.ndarray, np.ndarray]:
    """The stimuli and answers of people with known preferences, and the shares of answers."""
    random = np.random.default_rng(seed)
    shares = random.dirichlet(np.full(len(spread), 1.5), stimuli)
    likes = np.exp(random.normal(0, spread, (people, len(spread))))
    weights = (shares[None] * likes[:, None]).reshape(-1, len(spread))
    sequences = Sequences(np.tile(np.arange(stimuli), people), np.full(people, stimuli))
    return sequences, random_categories(weights, random), shares


def test_draws_follow_the_weights() -> None:
    codes = random_categories(np.tile([1.0, 0.0, 3.0], (40_000, 1)), np.random.default_rng(1))
    np.testing.assert_allclose(np.bincount(codes, minlength=3) / 40_000, [0.25, 0, 0.75], atol=0.01)


@pytest.mark.parametrize("spread", [[0.0, 0.0, 0.0], [0.5, 0.5, 0.5], [0.8, 0.0, 0.2]])
def test_preferences_are_recovered(spread: list[float]) -> None:
    sequences, codes, shares = crowd(1500, 80, np.array(spread))
    np.testing.assert_allclose(preference_spread(sequences, codes, shares), spread, atol=0.17)


def test_a_minority_with_a_pattern_hardly_affects_preferences() -> None:
    sequences, codes, shares = crowd(1000, 80, np.array([0.4, 0.4]))
    without = np.linalg.norm(preference_spread(sequences, codes, shares))
    codes[: 100 * 80] = 1
    assert np.linalg.norm(preference_spread(sequences, codes, shares)) < 1.3 * without


def test_a_small_crowd_gets_the_preferences_of_the_paper() -> None:
    sequences, codes, shares = crowd(10, 30, np.array([0.0, 0.0]))
    assert preference_spread(sequences, codes, shares).tolist() == [PREFERENCE, PREFERENCE]


def test_simulated_people_see_real_stimuli_in_order() -> None:
    seen = Sequences(np.array([0, 1, 0, 1, 1, 1, 1]), np.array([4, 3]))
    counts = credible_counts(seen, np.eye(2), 500, np.random.default_rng(2))
    kinds, numbers = np.unique(counts.reshape(500, 4), axis=0, return_counts=True)
    assert kinds.tolist() == [[0, 0, 0, 2], [0, 2, 1, 0]]
    assert numbers.min() > 200


def test_patterns_are_followed_with_the_defined_probability() -> None:
    patterns, random = targets(5), np.random.default_rng(4)
    by_kind = {target.kind: target for target in patterns if target.kind != "repeated pattern"}
    lengths = np.full(50, 81)
    primary = pattern_counts(by_kind["primary choice"], lengths, 400, 5, random)
    assert primary[:, :, 4].sum() / primary.sum() == pytest.approx(0.88, abs=0.01)
    around = next(target for target in patterns if target.way == (0, 1, 2, 3, 4))
    steps = pattern_counts(around, lengths, 400, 5, random).sum(axis=0)
    followed = sum(steps[a, (a + 1) % 5] for a in range(5)) / steps.sum()
    # Both answers of a transition follow the way, or both deviate from it in the same way.
    assert followed == pytest.approx(0.96**2 + 0.04**2 / 4, abs=0.01)
    even = pattern_counts(by_kind["random guessing"], lengths, 400, 5, random).sum(axis=0)
    np.testing.assert_allclose(even / even.sum(), 1 / 25, atol=0.004)


@pytest.mark.parametrize(("categories", "strategy"), [(2, "rows"), (2, "average"), (3, "rows"), (5, "minimum")])
def test_the_level_holds_over_all_patterns(categories: int, strategy: str) -> None:
    random = np.random.default_rng(5)
    shares = random.dirichlet(np.full(categories, 0.5), 60)
    seen = Sequences(np.tile(np.arange(60), 20), np.full(20, 60))
    patterns = targets(categories)
    matrices = [target.matrix for target in patterns]
    null, fresh = (
        distances(credible_counts(seen, shares, 4000, random), matrices, strategy)  # type: ignore[arg-type]
        for _ in range(2)
    )
    calibration = calibrate(null, judged_together(patterns), 0.05)
    by_group, _ = calibration.grouped(fresh)
    flagged = (by_group < calibration.cutoffs).any(axis=1)
    p = calibration.p_values(by_group)
    np.testing.assert_array_equal(flagged, p <= 0.05)
    assert flagged.mean() == pytest.approx(0.05, abs=0.015)
    assert np.mean(p <= 0.5) == pytest.approx(0.5, abs=0.05)


def test_cutoffs_agree_with_p_values_despite_ties() -> None:
    random = np.random.default_rng(6)
    null = random.integers(0, 6, (300, 3)).astype(float)
    calibration = calibrate(null, [[0], [1, 2]], 0.4)
    by_group, _ = calibration.grouped(random.integers(-1, 7, (200, 3)).astype(float))
    np.testing.assert_array_equal((by_group < calibration.cutoffs).any(axis=1), calibration.p_values(by_group) <= 0.4)


def test_too_few_simulations_flag_nobody() -> None:
    assert calibrate(np.arange(10.0)[:, None], [[0]], 0.01).cutoffs.tolist() == [-np.inf]


def test_the_nearest_target_of_a_group_is_the_first_or_missing() -> None:
    best, which = grouped(np.array([[2.0, 1.0, 1.0], [np.nan, np.nan, np.nan]]), [[0], [1, 2]])
    assert which[0].tolist() == [0, 1]
    assert best[0].tolist() == [2.0, 1.0]
    assert np.isnan(best[1]).all()
