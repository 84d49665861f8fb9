"""The criteria that karat brings, one a file: settings, computation, wording, alternatives.

A new one is a file here that declares `CRITERION`, and its name in `BUILT_IN`. The imports tell type checkers what
`karat.screen` offers; files are loaded when a study or a user names a criterion.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karat.screen.criteria.attention import attention as attention
    from karat.screen.criteria.automation import automation as automation
    from karat.screen.criteria.completion import completion as completion
    from karat.screen.criteria.controls import controls as controls
    from karat.screen.criteria.credence import credence as credence
    from karat.screen.criteria.deletion import deletion as deletion
    from karat.screen.criteria.eligibility import eligibility as eligibility
    from karat.screen.criteria.even_odd import even_odd as even_odd
    from karat.screen.criteria.inconsistency import inconsistency as inconsistency
    from karat.screen.criteria.mahalanobis import mahalanobis as mahalanobis
    from karat.screen.criteria.markov import markov as markov
    from karat.screen.criteria.person_total import person_total as person_total
    from karat.screen.criteria.platform_flags import platform_flags as platform_flags
    from karat.screen.criteria.probes import probes as probes
    from karat.screen.criteria.procedure import procedure as procedure
    from karat.screen.criteria.quiz import quiz as quiz
    from karat.screen.criteria.receipt_times import receipt_times as receipt_times
    from karat.screen.criteria.remfod import remfod as remfod
    from karat.screen.criteria.risk import risk as risk
    from karat.screen.criteria.scale_use import scale_use as scale_use
    from karat.screen.criteria.speed import speed as speed
    from karat.screen.criteria.straightlining import straightlining as straightlining
    from karat.screen.criteria.time_filter import time_filter as time_filter
    from karat.screen.criteria.too_regular import too_regular as too_regular
    from karat.screen.criteria.twins import twins as twins

BUILT_IN = (
    "eligibility", "quiz", "platform_flags", "completion", "speed", "receipt_times", "automation", "remfod", "controls",
    "attention", "straightlining", "inconsistency", "scale_use", "even_odd", "mahalanobis", "person_total",
    "time_filter", "markov", "risk", "deletion", "credence", "twins", "too_regular", "probes", "procedure",
)  # fmt: skip
"""In this order they run where no rules are stated."""
