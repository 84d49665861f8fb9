"""Why two numbers on one page differ, stated beside each of them.

Agreement is reported twice. Beside the Spammer Index it covers all trials except practice; as a result of the study it
covers test trials only.
Tests of conditions are reported twice as well: contrasts leave out random effects until the fit is not singular, and
the effects before and after exclusion keep them all, so that both fits are of one model.
"""

from __future__ import annotations

from karat.measure.contrasts.contrasts import Contrasts
from karat.measure.measures import Measure, Measures
from karat.messages import Message
from karat.report.build import ReportData
from karat.screen.effects import EffectsBeforeAfter
from karat.screen.spammer_index import SpammerIndex


def compared_with_test_trials(gathered: ReportData) -> tuple[Message, ...]:
    """Beside the agreement of the crowd: how it differs from that of the results, if it does.

    >>> import karat
    >>> from karat.report.build import NOT_COMPUTED, ReportData
    >>> screening = karat.screen.run(karat.datasets.load("likert"), {"completion": {}})
    >>> found = compared_with_test_trials(ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED))
    >>> [message.values["functions"] for message in found]
    [['attention', 'calibration', 'control', 'filler', 'test']]
    """
    if not _differ(gathered):
        return ()
    found = (Message("discrepancies.crowd", {"functions": _functions(gathered)}),)
    if any(part.name == "agreement" for part in _parts(gathered)):
        return (*found, Message("discrepancies.crowd_and_results"))
    return found


def discrepancies(part: Measure, gathered: ReportData) -> tuple[Message, ...]:
    """What to state beside a result that is on the page in another form as well."""
    if part.name == "agreement" and isinstance(gathered.index, SpammerIndex) and _differ(gathered):
        return (Message("discrepancies.agreement", {"functions": _functions(gathered)}),)
    if isinstance(part.result, Contrasts) and part.result.simplified and _has_effects(gathered):
        return (Message("discrepancies.contrasts"),)
    return ()


def compared_with_contrasts(gathered: ReportData) -> tuple[Message, ...]:
    """Beside the effects before and after exclusion: why the remaining participants have other tests in Contrasts."""
    simplified = any(isinstance(part.result, Contrasts) and part.result.simplified for part in _parts(gathered))
    return (Message("discrepancies.effects"),) if simplified else ()


def _parts(gathered: ReportData) -> tuple[Measure, ...]:
    return gathered.measures.parts if isinstance(gathered.measures, Measures) else ()


def _has_effects(gathered: ReportData) -> bool:
    return isinstance(gathered.effects, EffectsBeforeAfter)


def _functions(gathered: ReportData) -> list[str]:
    found = gathered.screening.kept.frame["function"].unique().sort().to_list()
    return [name for name in found if name != "practice"]


def _differ(gathered: ReportData) -> bool:
    """Whether the crowd's answers are not those of the results."""
    return any(name != "test" for name in _functions(gathered))
