"""Screening of judgments in parts that are never in memory at once; the verdicts are the same as in memory."""

from karat.screen.evidence import PartedEvidence
from karat.screen.parted.in_parts import InParts
from karat.screen.parted.run import PartedScreening, run_in_parts

__all__ = ["InParts", "PartedEvidence", "PartedScreening", "run_in_parts"]
