"""The error of a design that cannot be made."""

from __future__ import annotations

from karat.errors import KaratError


class DesignError(KaratError, ValueError):
    """A design that cannot hold, with what stands against it and how to mend it."""
