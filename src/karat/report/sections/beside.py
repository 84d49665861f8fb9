"""Why two figures of one page differ, said beside each of them.

Agreement stands twice on the page. Beside the Spammer Index it is of all trials but practice, fillers and controls
among them, and an item is one task in all its conditions; as a result of the study it is of test trials alone, and each
condition of an item is a stimulus of its own. Tests of conditions stand twice as well: the contrasts leave out random
effects until the fit is not singular, the effects before and after exclusion keep them all, so that both fits are of
one model.
"""

from __future__ import annotations

import polars as pl

from karat.measure.contrasts import Contrasts
from karat.measure.measures import Measures, Part
from karat.report.gather import Gathered
from karat.screen.effects import EffectsBeforeAfter
from karat.screen.spammer_index import SpammerIndex

CLEAR = ("test", "practice")
"""Functions that do not set the crowd's answers apart from those of the results."""


def compared_with_test_trials(gathered: Gathered) -> str:
    """Beside the agreement of the crowd: how it differs from that of the results; empty where it does not.

    >>> import karat
    >>> screening = karat.screen.run(karat.datasets.load("likert"), {"completion": {}})
    >>> compared_with_test_trials(Gathered(screening, None, "", ""))
    'Of all trials but practice: attention, calibration, control, filler and test; an item is one in all conditions.'
    """
    if not _apart(gathered):
        return ""
    text = f"Of all trials but practice: {_functions(gathered)}; an item is one in all conditions."
    if not any(part.name == "agreement" for part in _parts(gathered)):
        return text
    return (
        f"{text} The figures under What they said, Agreement, are others: they are of test trials alone, and each "
        "condition of an item counts for itself."
    )


def beside(part: Part, gathered: Gathered) -> tuple[str, ...]:
    """What is to be said beside a result that stands on the page in another form as well."""
    if part.name == "agreement" and isinstance(gathered.index, SpammerIndex) and _apart(gathered):
        return (
            "These figures are of test trials alone, and each condition of an item counts for itself. Those under "
            f"Spammer Index are of all trials but practice ({_functions(gathered)}), and an item is one in all "
            "conditions. Agreement is the higher the more sentences are clearly good or clearly bad.",
        )
    if isinstance(part.result, Contrasts) and part.result.simplified and _effects_there(gathered):
        return (
            "Random effects that the data do not tell were left out here. Effects before and after exclusion, below, "
            "keep them all, so that their tests of the same answers differ a little.",
        )
    return ()


def compared_with_contrasts(gathered: Gathered) -> tuple[str, ...]:
    """Beside the effects before and after exclusion: why those who stay have other tests under Contrasts."""
    if not any(isinstance(part.result, Contrasts) and part.result.simplified for part in _parts(gathered)):
        return ()
    return (
        "All random effects are kept here, so that one model is compared before and after. Under Contrasts those "
        "that the data do not tell were left out, so that the tests for those who stay differ a little from these.",
    )


def _parts(gathered: Gathered) -> tuple[Part, ...]:
    return gathered.measures.parts if isinstance(gathered.measures, Measures) else ()


def _effects_there(gathered: Gathered) -> bool:
    return isinstance(gathered.effects, EffectsBeforeAfter)


def _functions(gathered: Gathered) -> str:
    *most, last = _there(gathered)
    return f"{', '.join(most)} and {last}" if most else last


def _there(gathered: Gathered) -> list[str]:
    found = gathered.screening.kept.frame["function"].unique().sort().to_list()
    return [name for name in found if name != "practice"]


def _apart(gathered: Gathered) -> bool:
    """Whether the crowd's answers are others than those of the results: other functions, or items in conditions."""
    if any(name not in CLEAR for name in _there(gathered)):
        return True
    items = gathered.screening.kept.frame.filter(pl.col("function") == "test")["item"].n_unique()
    agreed = [part.result.table() for part in _parts(gathered) if part.name == "agreement"]
    return any("stimuli" in table.columns and table["stimuli"].max() != items for table in agreed)
