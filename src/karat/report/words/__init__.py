"""Words for a paper: what was done, and what will be done, with real settings and numbers, in two languages."""

from __future__ import annotations

from karat.report.words.methods import methods, preregistration

__all__ = ["methods", "preregistration"]
