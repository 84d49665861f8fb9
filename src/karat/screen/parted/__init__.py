"""Screening of judgments that lie in parts and are never in one memory; the same verdicts as in memory."""

from karat.screen.evidence import PartedEvidence
from karat.screen.parted.in_parts import InParts
from karat.screen.parted.run import PartedScreening, run_in_parts

__all__ = ["InParts", "PartedEvidence", "PartedScreening", "run_in_parts"]
