"""Numbers as messages carry them: rounded to the digits that a reader needs, and missing where they are not known."""

from __future__ import annotations

import math


def significant(value: float, digits: int = 4) -> float | None:
    """A number with so many significant digits; None where it is not finite.

    >>> significant(0.0123456, 2), significant(123456.0), significant(float("nan"))
    (0.012, 123500.0, None)
    """
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def known(value: float) -> float | None:
    """A number as it is; None where it is not finite.

    >>> known(0.5), known(float("nan"))
    (0.5, None)
    """
    return float(value) if math.isfinite(value) else None
