"""Type aliases of the whole package."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""Like the builtin map: a function of a job, and jobs."""
Progress = Callable[[int, int], object]
"""Called with the number of finished jobs and the number of all jobs."""
NamedSteps = Callable[[str], AbstractContextManager[None]]
"""Called with the name of a step; the step lasts as long as the context."""
