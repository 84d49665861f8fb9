"""In place of a generator of random numbers: one that gives out stated numbers, so that a draw can be foretold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Stated:
    """Gives out normal numbers in order, and the same table of other noise whatever its distribution."""

    def __init__(self, normal: Any = (), noise: Any = ()) -> None:
        self.left, self.noise = np.asarray(normal, dtype=np.float64), np.asarray(noise, dtype=np.float64)

    def normal(self, size: Any = ()) -> Any:
        """The next of the stated normal numbers."""
        count = int(np.prod(size))
        given, self.left = self.left[:count], self.left[count:]
        return given.reshape(size)

    def logistic(self, *, size: Any) -> Floats:
        """The stated noise, which must be as much as is asked for."""
        return self.noise.reshape(size)

    def gumbel(self, *, size: Any) -> Floats:
        """The stated noise, which must be of the shape that is asked for."""
        assert self.noise.shape == size
        return self.noise


def columns_of(draw: Callable[[Any], Floats], size: int) -> Floats:
    """The matrix of a draw that is linear in so many normal numbers: its product with itself is their covariance."""
    return np.array([draw(Stated(unit)).ravel() for unit in np.eye(size)]).T
