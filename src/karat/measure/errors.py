"""The error of measures that cannot be computed."""

from __future__ import annotations

from karat.errors import KaratError


class MeasureError(KaratError, ValueError):
    """A measure that cannot be computed from these judgments; its message says why and what to do."""
