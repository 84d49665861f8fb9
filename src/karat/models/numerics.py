"""One thread for small matrices, the root of a function, least squares, and numbers as messages carry them.

The linear algebra of numpy and scipy (OpenBLAS) shares even small products among all processors. For matrices of a
hundred rows the waiting costs more than it saves, and where processors are busy with something else it costs many
times more. Numpy has no setting for that once it is loaded, so the libraries themselves are set, and afterwards set
again what they were.

The search for a root and least squares without negative numbers are here because scipy's own take longer to load than
most of them take to run.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from karat.types import Floats

SMALL = 300_000
"""Cells, times effects per cell, below which one thread is used."""
NAMES = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads")


@contextmanager
def one_thread(size: int = 0) -> Iterator[None]:
    """Within it, products of matrices use one thread, where the size is small and the library can be set.

    >>> with one_thread():
    ...     [get() for get, _ in thread_libraries()] in ([1, 1], [1], [])
    True
    """
    before = [(put, get()) for get, put in thread_libraries()] if size < SMALL else []
    try:
        for put, _ in before:
            put(1)
        yield
    finally:
        for put, threads in before:
            put(threads)


@lru_cache(maxsize=1)
def thread_libraries() -> list[tuple[Callable[[], int], Callable[[int], None]]]:
    """How each OpenBLAS that came with numpy and scipy is asked for its threads, and set."""
    import scipy

    found: list[tuple[Any, Any]] = []
    for package in (np, scipy):
        place = Path(package.__file__ or "").parent
        for path in [*place.parent.glob(f"{place.name}.libs/*openblas*"), *place.glob(".dylibs/*openblas*")]:
            try:
                library = ctypes.CDLL(str(path))
            except OSError:
                continue
            for name in NAMES:
                if hasattr(library, name.format("get")) and hasattr(library, name.format("set")):
                    found.append((getattr(library, name.format("get")), getattr(library, name.format("set"))))
                    break
    return found


TINY = 1e-300
STEPS = 200
"""Of a search for a root; halving alone would need fewer than 60."""


def root_between(function: Callable[[float], float], start: float, end: float, precision: float) -> float:
    """Where a function is zero between two places at which its signs differ, by Brent's method (1973).

    A step goes where the parabola through the last three places, or the line through two, is zero, and to the middle of
    what is left where that shrinks it too little.

    >>> round(root_between(lambda x: x**2 - 2, 0.0, 2.0, 1e-9), 8)
    1.41421356
    """
    last, best = start, end
    at_last, at_best = function(last), function(best)
    other, at_other, step, before = last, at_last, best - last, best - last
    for _ in range(STEPS):
        if (at_best > 0) == (at_other > 0):
            other, at_other, step, before = last, at_last, best - last, best - last
        if abs(at_other) < abs(at_best):
            last, best, other = best, other, best
            at_last, at_best, at_other = at_best, at_other, at_best
        half, least = (other - best) / 2, precision / 2
        if at_best == 0 or abs(half) <= least:
            break
        if abs(before) >= least and abs(at_last) > abs(at_best):
            ratio = at_best / at_last
            if last == other:
                top, bottom = 2 * half * ratio, 1 - ratio
            else:
                one, two = at_last / at_other, at_best / at_other
                top = ratio * (2 * half * one * (one - two) - (best - last) * (two - 1))
                bottom = (one - 1) * (two - 1) * (ratio - 1)
            top, bottom = (top, -bottom) if top > 0 else (-top, bottom)
            shrinks = 2 * top < min(3 * half * bottom - abs(least * bottom), abs(before * bottom))
            before, step = (step, top / bottom) if shrinks else (half, half)
        else:
            before, step = half, half
        last, at_last = best, at_best
        best += step if abs(step) > least else math.copysign(least, half)
        at_best = function(best)
    return best


def non_negative(matrix: Floats, right: Floats) -> Floats:
    """The x without negative numbers for which matrix x is nearest to the right side (Lawson and Hanson 1974).

    >>> non_negative(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([2.0, 1.0])).round(6).tolist()
    [1.5, 0.0]
    """
    x, inside = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1], dtype=bool)
    least = 10 * np.finfo(float).eps * max(matrix.shape) * float(np.abs(matrix).max(initial=0.0) * np.abs(right).max())
    for _ in range(3 * len(x)):
        slope = np.where(inside, -np.inf, matrix.T @ (right - matrix @ x))
        if slope.max() <= least:
            break
        inside[slope.argmax()] = True
        while True:
            best = np.zeros_like(x)
            best[inside] = np.linalg.lstsq(matrix[:, inside], right, rcond=None)[0]
            below = inside & (best <= 0)
            if not below.any():
                break
            # As far towards it as nothing falls below zero; what reaches zero stays there.
            x = x + float(np.min(x[below] / np.maximum(x[below] - best[below], TINY))) * (best - x)
            inside &= x > TINY + 1e-14 * x.max()
            x[~inside] = 0.0
        x = best
    return x


def significant(value: float, digits: int = 4) -> float | None:
    """A number with this many significant digits; None where it is not finite.

    >>> significant(0.0123456, 2), significant(123456.0), significant(float("nan"))
    (0.012, 123500.0, None)
    """
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def known(value: float | None) -> float | None:
    """A number as it is; None where there is none, or one that is not finite.

    >>> known(0.5), known(float("nan")), known(None)
    (0.5, None, None)
    """
    return float(value) if value is not None and math.isfinite(value) else None
