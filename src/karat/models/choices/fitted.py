"""What a model of choices found: a strength for each item, centred, with the covariance of all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.messages import Message
from karat.types import Floats


@dataclass(frozen=True)
class ChoiceFit:
    """Strengths of items that sum to zero, with their covariance.

    `covariance` is that of the model, `robust` the one that also holds where choices of one participant hang together
    (None where it was not asked for).
    """

    strengths: Floats
    covariance: Floats
    log_likelihood: float
    converged: bool
    gradient: float
    """The largest slope that is left."""
    robust: Floats | None = None
    tie: float | None = None
    """The logarithm of Davidson's nu: how readily "no difference" is answered."""
    tie_error: float | None = None
    side: float | None = None
    """The preference for the left side, on the scale of the strengths."""
    side_error: float | None = None
    notes: tuple[Message, ...] = ()

    @property
    def standard_errors(self) -> Floats:
        """Of the strengths: robust where that is there."""
        matrix = self.covariance if self.robust is None else self.robust
        return np.sqrt(np.maximum(np.diag(matrix), 0.0))

    def difference(self, first: int, second: int) -> tuple[float, float]:
        """The first strength minus the second, and its standard error."""
        matrix = self.covariance if self.robust is None else self.robust
        variance = matrix[first, first] + matrix[second, second] - 2 * matrix[first, second]
        return float(self.strengths[first] - self.strengths[second]), float(np.sqrt(max(variance, 0.0)))
