"""Screening: criteria for inattentive participants, each with its reasons, and rules that combine them.

What is named here is loaded when it is used, so that a study file can be checked without what computes the criteria.
"""

from typing import TYPE_CHECKING

from karat.packages import load_when_used

if TYPE_CHECKING:
    from karat.screen.compare.composition import Composition as Composition
    from karat.screen.compare.composition import composition as composition
    from karat.screen.compare.effects import EffectsBeforeAfter as EffectsBeforeAfter
    from karat.screen.compare.effects import effects_before_after as effects_before_after
    from karat.screen.compare.multiverse import Multiverse as Multiverse
    from karat.screen.compare.multiverse import multiverse as multiverse
    from karat.screen.criteria import *  # noqa: F403
    from karat.screen.criteria.controls import compare_accounts as compare_accounts
    from karat.screen.criteria.credence import Credence as Credence
    from karat.screen.criteria.deletion import Deletion as Deletion
    from karat.screen.criteria.deletion import deletion_windows as deletion_windows
    from karat.screen.criteria.markov import Markov as Markov
    from karat.screen.criteria.procedure import Procedure as Procedure
    from karat.screen.criteria.remfod import Remfod as Remfod
    from karat.screen.criteria.remfod import compare_time_rules as compare_time_rules
    from karat.screen.criteria.risk import risk_levels as risk_levels
    from karat.screen.crowd.gold import Gold as Gold
    from karat.screen.crowd.gold import gold as gold
    from karat.screen.crowd.source_effect import SourceEffect as SourceEffect
    from karat.screen.crowd.source_effect import source_effect as source_effect
    from karat.screen.crowd.sources import SourceComparison as SourceComparison
    from karat.screen.crowd.sources import compare as compare
    from karat.screen.crowd.spammer_index import SpammerIndex as SpammerIndex
    from karat.screen.crowd.spammer_index import spammer_index as spammer_index
    from karat.screen.evidence import Evidence as Evidence
    from karat.screen.evidence import ScreenError as ScreenError
    from karat.screen.parted import run_in_parts as run_in_parts
    from karat.screen.run import run as run
    from karat.screen.screening import Screening as Screening
    from karat.screen.screening import ScreeningStage as ScreeningStage

__all__ = load_when_used(__name__)
