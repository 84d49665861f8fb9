"""The number of threads is put back, whatever happens within; least squares without negative numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from karat.models.numerics import SMALL, non_negative, one_thread, thread_libraries


def threads() -> list[int]:
    return [get() for get, _ in thread_libraries()]


def test_one_thread_within_and_as_many_as_before_after() -> None:
    before = threads()
    with one_thread():
        assert set(threads()) <= {1}
        with one_thread():
            assert set(threads()) <= {1}
        assert set(threads()) <= {1}
    assert threads() == before
    with pytest.raises(KeyError), one_thread():
        raise KeyError
    assert threads() == before


def test_large_matrices_keep_their_threads() -> None:
    before = threads()
    with one_thread(SMALL):
        assert threads() == before


@pytest.mark.parametrize("seed", range(20))
def test_least_squares_without_negative_numbers(seed: int) -> None:
    """Those of scipy, which take longer to load; some of the numbers are zero."""
    random = np.random.default_rng(seed)
    rows, columns = random.integers(3, 9), random.integers(1, 9)
    matrix, right = random.normal(size=(rows + columns, columns)), random.normal(size=rows + columns)
    found, expected = non_negative(matrix, right), nnls(matrix, right)[0]
    assert found == pytest.approx(expected, abs=1e-12)
    assert (found == 0).tolist() == (expected == 0).tolist()


def test_equal_columns_share_the_least_squares() -> None:
    matrix = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    found = non_negative(matrix, np.array([2.0, 4.0, 7.0]))
    assert matrix @ found == pytest.approx([3.0, 3.0, 0.0])
    assert non_negative(matrix, np.zeros(3)).tolist() == [0.0, 0.0]
    assert non_negative(matrix, -np.ones(3)).tolist() == [0.0, 0.0]
