"""Screen: who answered in earnest, one criterion a file, each with its reasons."""

from __future__ import annotations

from karat.screen.accounts import compare_accounts
from karat.screen.attention import attention
from karat.screen.completion import completion
from karat.screen.composition import Composition, composition
from karat.screen.controls import controls
from karat.screen.eligibility import eligibility
from karat.screen.even_odd import even_odd
from karat.screen.evidence import Evidence, ScreenError
from karat.screen.inconsistency import inconsistency
from karat.screen.mahalanobis import mahalanobis
from karat.screen.multiverse import Multiverse, multiverse
from karat.screen.person_total import person_total
from karat.screen.quiz import quiz
from karat.screen.remfod import Remfod, compare_time_rules, remfod
from karat.screen.run import run
from karat.screen.scale_use import scale_use
from karat.screen.screening import Screening, Step
from karat.screen.speed import speed
from karat.screen.straightlining import straightlining

__all__ = [
    "Composition",
    "Evidence",
    "Multiverse",
    "Remfod",
    "ScreenError",
    "Screening",
    "Step",
    "attention",
    "compare_accounts",
    "compare_time_rules",
    "completion",
    "composition",
    "controls",
    "eligibility",
    "even_odd",
    "inconsistency",
    "mahalanobis",
    "multiverse",
    "person_total",
    "quiz",
    "remfod",
    "run",
    "scale_use",
    "speed",
    "straightlining",
]
