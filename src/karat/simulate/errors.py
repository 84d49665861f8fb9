"""What a simulation refuses."""

from __future__ import annotations

from karat.errors import KaratError


class SimulateError(KaratError, ValueError):
    """A crowd, a questionnaire or a design that cannot be simulated."""
