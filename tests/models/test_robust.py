"""Medians and deviations of groups, beside a plain computation."""

from __future__ import annotations

import statistics

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from karat.models.robust import grouped_median_mad

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
