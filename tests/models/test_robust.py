"""Order statistics by counting over parts, and medians and deviations of groups, against simple computations."""

from __future__ import annotations

import statistics

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from karat.models import robust as counting
from karat.models.robust import (
    SHIFT,
    Bins,
    grouped_median_mad,
    keys_of,
    medians_and_deviations,
    summed,
    tally,
    values_of,
)
from karat.types import Floats

times = st.one_of(st.integers(0, 5).map(float), st.floats(0, 1e6, allow_subnormal=False))
groups = st.lists(st.lists(times, max_size=12), min_size=1, max_size=6)


@given(groups)
def test_groups_have_their_median_and_deviation(values: list[list[float]]) -> None:
    flat = np.array([value for group in values for value in sorted(group)])
    medians, deviations = grouped_median_mad(flat, np.array([len(group) for group in values]))
    for group, median, deviation in zip(values, medians, deviations, strict=True):
        if not group:
            assert np.isnan(median)
            assert np.isnan(deviation)
        else:
            assert median == statistics.median(group)
            plain = 1.4826 * statistics.median(abs(value - statistics.median(group)) for value in group)
            assert np.isclose(deviation, plain, rtol=1e-12, atol=0)


LIMIT = 1e307
numbers = st.one_of(
    st.integers(-3, 5).map(float),
    st.floats(1.0, 1.001),
    st.floats(-1e-300, 1e-300),
    st.floats(-LIMIT, LIMIT),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, LIMIT, -LIMIT]),
)
parts = st.lists(st.lists(st.tuples(st.integers(0, 3), numbers), max_size=12), min_size=1, max_size=5)
Rows = list[list[tuple[int, float]]]


def asked(rows: Rows, dense: int = 1 << 18) -> tuple[counting.Ask, list[int]]:
    """A function that counts in all parts, and the list of shifts of its calls."""
    arrays = [(np.array([v for _, v in one], float), np.array([g for g, _ in one], np.uint8)) for one in rows]
    shifts: list[int] = []

    def ask(within: Bins | None, shift: int) -> Bins:
        shifts.append(shift)
        return summed(tally(values, groups, within, shift, dense) for values, groups in arrays)

    return ask, shifts


def by_parts(rows: Rows, groups: int = 4, constant: float = 1.4826) -> tuple[Floats, Floats]:
    ask, _ = asked(rows)
    return medians_and_deviations(ask(None, SHIFT), ask, groups, constant)  # type: ignore[arg-type]


@given(parts)
def test_medians_agree_with_numpy(rows: Rows) -> None:
    medians, deviations = by_parts(rows, constant=1)
    for group in range(4):
        own = np.array([value for one in rows for g, value in one if g == group])
        if len(own):
            assert medians[group] == np.median(own)
            assert deviations[group] == np.median(np.abs(own - np.median(own)))
        else:
            assert np.isnan(medians[group])
            assert np.isnan(deviations[group])


@given(parts, st.sampled_from([0, 3, 12]))
def test_results_do_not_depend_on_the_number_of_counts(rows: Rows, few: int) -> None:
    """Small limits, as with so many values that bins must be divided repeatedly."""
    plain = by_parts(rows)
    ask, _ = asked(rows, dense=1)
    result = medians_and_deviations(ask(None, SHIFT), ask, 4, 1.4826, few)  # type: ignore[arg-type]
    np.testing.assert_array_equal(result[0], plain[0])
    np.testing.assert_array_equal(result[1], plain[1])


@given(st.lists(st.lists(numbers, max_size=15), min_size=1, max_size=4), st.floats(0.1, 10))
def test_results_are_identical_to_those_of_sorted_groups(values: list[list[float]], constant: float) -> None:
    """Identical to the last bit to the values for cutoffs in memory."""
    flat = np.array([value for group in values for value in sorted(group)], float)
    medians, deviations = grouped_median_mad(flat, np.array([len(group) for group in values]), constant)
    rows = [[(number, value)] for number, group in enumerate(values) for value in group] or [[]]
    result = by_parts(rows, len(values), constant)  # type: ignore[arg-type]
    np.testing.assert_array_equal(result[0], medians)
    np.testing.assert_array_equal(result[1], deviations)


@given(st.lists(numbers, max_size=20))
def test_keys_have_the_order_of_the_values(values: list[float]) -> None:
    given_values = np.array(values, float)
    keys = keys_of(given_values)
    np.testing.assert_array_equal(values_of(keys), given_values)
    for one, key in zip(values, keys, strict=True):
        np.testing.assert_array_equal(keys < key, given_values < one)


def test_many_values_need_two_counts() -> None:
    random = np.random.default_rng(1)
    values, groups = random.lognormal(1.6, 0.5, 200_000), random.integers(0, 3, 200_000)
    rows = [list(zip(groups[part::7].tolist(), values[part::7].tolist(), strict=True)) for part in range(7)]
    ask, shifts = asked(rows)
    medians, deviations = medians_and_deviations(ask(None, SHIFT), ask, 3)  # type: ignore[arg-type]
    assert shifts == [SHIFT, 0]
    for group in range(3):
        own = values[groups == group]
        assert medians[group] == np.median(own)
        assert deviations[group] == 1.4826 * np.median(np.abs(own - medians[group]))


def test_the_second_count_includes_few_values() -> None:
    values = np.random.default_rng(2).lognormal(1.6, 0.5, 100_000)
    looked_at: list[int] = []

    def ask(within: Bins | None, shift: int) -> Bins:
        result = tally(values, np.zeros(len(values), np.uint8), within, shift)
        looked_at.append(int(result.count.sum()))
        return result

    medians_and_deviations(ask(None, SHIFT), ask, 1)  # type: ignore[arg-type]
    assert looked_at[0] == 100_000
    assert sum(looked_at[1:]) < 1_000
    looked_at.clear()
    medians_and_deviations(ask(None, SHIFT), ask, 1, few=10)  # type: ignore[arg-type]
    assert looked_at[1] > 10 >= looked_at[2]


def test_equal_values_are_never_fetched_one_by_one() -> None:
    values = np.full(1_000, 2.5)
    result = tally(values, np.zeros(1_000, np.uint8), shift=0)
    assert (len(result), result.count.tolist()) == (1, [1_000])
