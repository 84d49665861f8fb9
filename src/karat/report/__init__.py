"""The report: one page that says what was asked, of whom, how good the data are and what they show."""

from __future__ import annotations

from karat.report.gather import Gathered, gather
from karat.report.written import write

__all__ = ["Gathered", "gather", "write"]
