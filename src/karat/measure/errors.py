"""The error of measures that cannot be computed."""

from __future__ import annotations

from karat.errors import KaratError


class MeasureError(KaratError, ValueError):
    """A measure that cannot say anything about these judgments, with the reason and the mend."""
