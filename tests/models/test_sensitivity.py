"""Sensitivity and bias against the normal distribution of the standard library."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.proportions import sensitivity
from messages import refuses

COUNTS = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS, COUNTS)
def test_the_formula(yes: tuple[int, int], no: tuple[int, int]) -> None:
    z = NormalDist().inv_cdf
    hit, alarm = z((yes[0] + 0.5) / (yes[1] + 1)), z((no[0] + 0.5) / (no[1] + 1))
    d_prime, criterion = sensitivity(*yes, *no)
    assert float(d_prime) == pytest.approx(hit - alarm, abs=1e-9)
    assert float(criterion) == pytest.approx(-(hit + alarm) / 2, abs=1e-9)


@given(COUNTS, COUNTS)
def test_reversed_answers_have_opposite_sensitivity_and_bias(yes: tuple[int, int], no: tuple[int, int]) -> None:
    d_prime, criterion = sensitivity(*yes, *no)
    turned, bias = sensitivity(yes[1] - yes[0], yes[1], no[1] - no[0], no[1])
    assert float(turned) == pytest.approx(-float(d_prime), abs=1e-9)
    assert float(bias) == pytest.approx(-float(criterion), abs=1e-9)


def test_perfect_answers_stay_finite_constant_ones_undefined() -> None:
    d_prime, criterion = sensitivity([8, 8, 0], [8, 8, 0], [0, 0, 1], [8, 0, 8])
    assert d_prime[0] == pytest.approx(2 * NormalDist().inv_cdf(8.5 / 9))
    assert criterion[0] == pytest.approx(0)
    assert np.isnan(d_prime[1:]).all()
    assert np.isnan(criterion[1:]).all()


def test_nobody_has_nothing() -> None:
    d_prime, criterion = sensitivity([], [], [], [])
    assert d_prime.shape == criterion.shape == (0,)


@pytest.mark.parametrize("counts", [(9, 8, 0, 8), (0, 8, 9, 8), (-1, 8, 0, 8)])
def test_more_hits_than_trials_are_an_error(counts: tuple[int, int, int, int]) -> None:
    with refuses(ValueError):
        sensitivity(*counts)
