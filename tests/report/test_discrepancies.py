"""Agreement is reported once."""

from __future__ import annotations

import polars as pl
import pytest

import karat
from karat.judgments import Judgments
from karat.measure.measured import Measure
from karat.measure.measures import Measures
from karat.measure.reliability.agreement import Agreement
from karat.report.build import ReportData
from karat.report.sections import quality
from report.small import gathered


def part(found: ReportData, name: str) -> Measure:
    assert isinstance(found.measures, Measures)
    return next(one for one in found.measures.parts if one.name == name)


@pytest.mark.slow
def test_agreement_is_reported_once() -> None:
    index = next(one for one in quality.section(gathered()).sections if one.key == "spammer-index")
    assert [table.key for table in index.tables] == ["variances"]


@pytest.mark.slow
def test_tasks_as_stimuli_have_the_results_agreement() -> None:
    found = gathered()
    kept = found.screening.kept
    agreement = part(found, "agreement").result
    assert isinstance(agreement, Agreement)
    tests = Judgments(kept.frame.filter(pl.col("function") == "test"), kept.scales, kept.participants)
    kappa = agreement.of("Fleiss' kappa")["estimate"]
    stimuli = karat.screen.spammer_index(tests, conditions=None)
    assert stimuli.agreement["fleiss_kappa"] == pytest.approx(kappa, abs=1e-9)
    assert karat.screen.spammer_index(tests).agreement["fleiss_kappa"] != pytest.approx(kappa, abs=1e-3)
