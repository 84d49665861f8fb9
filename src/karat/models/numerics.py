"""Single-threaded algebra for small matrices, rows in chunks, and rounding of numbers for messages.

The linear algebra of numpy and scipy (OpenBLAS) distributes even small products over all processors. For matrices of a
hundred rows the waiting costs more than it saves, and on busy processors many times more. Numpy has no setting for
this after it is loaded, so the number of threads is set in the libraries themselves and restored afterwards.
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
"""One thread is used if cells times effects per cell are below this."""
NAMES = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads")


@contextmanager
def one_thread(size: int = 0) -> Iterator[None]:
    """A context in which matrix products use one thread, if the size is small and the library can be configured.

    >>> with one_thread():
    ...     [get() for get, _ in thread_libraries()] in ([1, 1], [1], [])
    True
    """
    settings = [(put, get()) for get, put in thread_libraries()] if size < SMALL else []
    try:
        for put, _ in settings:
            put(1)
        yield
    finally:
        for put, threads in settings:
            put(threads)


@lru_cache(maxsize=1)
def thread_libraries() -> list[tuple[Callable[[], int], Callable[[int], None]]]:
    """The functions that get and set the number of threads of each OpenBLAS library of numpy and scipy."""
    import scipy

    functions: list[tuple[Any, Any]] = []
    for package in (np, scipy):
        folder = Path(package.__file__ or "").parent
        for path in [*folder.parent.glob(f"{folder.name}.libs/*openblas*"), *folder.glob(".dylibs/*openblas*")]:
            try:
                library = ctypes.CDLL(str(path))
            except OSError:
                continue
            for name in NAMES:
                if hasattr(library, name.format("get")) and hasattr(library, name.format("set")):
                    functions.append((getattr(library, name.format("get")), getattr(library, name.format("set"))))
                    break
    return functions


def chunks(costs: Ints, limit: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of consecutive rows (first, end) whose total cost is within the limit; a costlier row is alone.

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
    """Slices of rows with about `cells` cells each, for rows of this width.

    >>> [(part.start, part.stop) for part in parts(5, 3, cells=6)]
    [(0, 2), (2, 4), (4, 5)]
    """
    step = max(1, cells // max(1, width))
    return (slice(start, min(start + step, total)) for start in range(0, total, step))


def significant(value: float, digits: int = 4) -> float | None:
    """A number rounded to this many significant digits; None if it is not finite.

    >>> significant(0.0123456, 2), significant(123456.0), significant(float("nan"))
    (0.012, 123500.0, None)
    """
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def known(value: float | None) -> float | None:
    """The number; None if it is missing or not finite.

    >>> known(0.5), known(float("nan")), known(None)
    (0.5, None, None)
    """
    return float(value) if value is not None and math.isfinite(value) else None
