"""One thread for small matrices, rows in chunks, and numbers as messages carry them.

The linear algebra of numpy and scipy (OpenBLAS) shares even small products among all processors. For matrices of a
hundred rows the waiting costs more than it saves, and where processors are busy with something else it costs many
times more. Numpy has no setting for that once it is loaded, so the libraries themselves are set, and afterwards set
again what they were.
"""

import ctypes
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from karat.types import Ints

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


def chunks(costs: Ints, limit: int) -> Iterator[tuple[int, int]]:
    """Consecutive rows, as first and end, that together cost no more than the limit; a row that costs more is alone.

    >>> list(chunks(np.array([1, 4, 9, 1]), 5))
    [(0, 2), (2, 3), (3, 4)]
    """
    ends = np.concatenate([[0], np.cumsum(costs)])
    first = 0
    while first < len(costs):
        # The last end within the limit.
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + limit, side="right")) - 1)
        yield first, last
        first = last


def parts(total: int, width: int, cells: int = 4_000_000) -> Iterator[slice]:
    """Slices of so many rows that one has about `cells` cells of this width.

    >>> [(part.start, part.stop) for part in parts(5, 3, cells=6)]
    [(0, 2), (2, 4), (4, 5)]
    """
    step = max(1, cells // max(1, width))
    return (slice(start, min(start + step, total)) for start in range(0, total, step))


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
