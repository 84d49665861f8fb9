"""Screen: who answered in earnest, one criterion a file, each with its reasons."""

from __future__ import annotations

from karat.screen.attention import attention
from karat.screen.completion import completion
from karat.screen.controls import controls
from karat.screen.evidence import Evidence
from karat.screen.inconsistency import inconsistency
from karat.screen.remfod import Remfod, remfod
from karat.screen.run import Screening, run
from karat.screen.scale_use import scale_use
from karat.screen.speed import speed
from karat.screen.straightlining import straightlining

__all__ = [
    "Evidence",
    "Remfod",
    "Screening",
    "attention",
    "completion",
    "controls",
    "inconsistency",
    "remfod",
    "run",
    "scale_use",
    "speed",
    "straightlining",
]
