"""The number of threads is restored after the context, even after errors."""

from __future__ import annotations

import pytest

from karat.models.numerics import SMALL, one_thread, thread_libraries


def threads() -> list[int]:
    return [get() for get, _ in thread_libraries()]


def test_one_thread_is_used_in_the_context_only() -> None:
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
