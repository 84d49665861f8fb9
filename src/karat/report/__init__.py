"""The report: one page on what was asked, who answered, how good the data are and what they show."""

from karat.report.build import ReportData, build
from karat.report.export import write

__all__ = ["ReportData", "build", "write"]
