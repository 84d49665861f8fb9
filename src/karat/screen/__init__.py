"""Screen: who answered in earnest, one criterion a file, each with its reasons."""

from __future__ import annotations

from karat.screen.accounts import compare_accounts
from karat.screen.attention import attention
from karat.screen.compare import SourceComparison, compare
from karat.screen.completion import completion
from karat.screen.composition import Composition, composition
from karat.screen.controls import controls
from karat.screen.credence import Credence, credence
from karat.screen.deletion import Deletion, deletion, deletion_windows
from karat.screen.effects import EffectsBeforeAfter, effects_before_after
from karat.screen.eligibility import eligibility
from karat.screen.even_odd import even_odd
from karat.screen.evidence import Evidence, ScreenError
from karat.screen.gold import Gold, gold
from karat.screen.inconsistency import inconsistency
from karat.screen.mahalanobis import mahalanobis
from karat.screen.markov import Markov, markov
from karat.screen.multiverse import Multiverse, multiverse
from karat.screen.parted import run_in_parts
from karat.screen.person_total import person_total
from karat.screen.procedure import Procedure, procedure
from karat.screen.quiz import quiz
from karat.screen.remfod import Remfod, compare_time_rules, remfod
from karat.screen.risk import risk, risk_levels
from karat.screen.run import run
from karat.screen.scale_use import scale_use
from karat.screen.screening import Screening, ScreeningStage
from karat.screen.source_effect import SourceEffect, source_effect
from karat.screen.spammer_index import SpammerIndex, spammer_index
from karat.screen.speed import speed
from karat.screen.straightlining import straightlining
from karat.screen.time_filter import time_filter

__all__ = [
    "Composition",
    "Credence",
    "Deletion",
    "EffectsBeforeAfter",
    "Evidence",
    "Gold",
    "Markov",
    "Multiverse",
    "Procedure",
    "Remfod",
    "ScreenError",
    "Screening",
    "ScreeningStage",
    "SourceComparison",
    "SourceEffect",
    "SpammerIndex",
    "attention",
    "compare",
    "compare_accounts",
    "compare_time_rules",
    "completion",
    "composition",
    "controls",
    "credence",
    "deletion",
    "deletion_windows",
    "effects_before_after",
    "eligibility",
    "even_odd",
    "gold",
    "inconsistency",
    "mahalanobis",
    "markov",
    "multiverse",
    "person_total",
    "procedure",
    "quiz",
    "remfod",
    "risk",
    "risk_levels",
    "run",
    "run_in_parts",
    "scale_use",
    "source_effect",
    "spammer_index",
    "speed",
    "straightlining",
    "time_filter",
]
