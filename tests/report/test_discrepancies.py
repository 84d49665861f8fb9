"""Agreement is reported once; where two tests of the same effects are reported, the report says why they differ."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import karat
from karat.judgments import Judgments
from karat.measure.effects.contrasts import Contrasts
from karat.measure.measured import Measure
from karat.measure.measures import Measures
from karat.measure.reliability.agreement import Agreement
from karat.messages import Message, NotComputed
from karat.report.build import ReportData
from karat.report.sections import quality
from karat.report.sections.results import section
from karat.screen.compare.effects import EffectsBeforeAfter
from report.small import gathered


def part(found: ReportData, name: str) -> Measure:
    assert isinstance(found.measures, Measures)
    return next(one for one in found.measures.parts if one.name == name)


def test_agreement_is_reported_once() -> None:
    index = next(one for one in quality.section(gathered()).sections if one.key == "spammer-index")
    assert [table.key for table in index.tables] == ["variances"]


def test_tasks_that_are_stimuli_have_the_agreement_of_the_results() -> None:
    found = gathered()
    kept = found.screening.kept
    agreement = part(found, "agreement").result
    assert isinstance(agreement, Agreement)
    tests = Judgments(kept.frame.filter(pl.col("function") == "test"), kept.scales, kept.participants)
    kappa = agreement.of("Fleiss' kappa")["estimate"]
    stimuli = karat.screen.spammer_index(tests, conditions=None)
    assert stimuli.agreement["fleiss_kappa"] == pytest.approx(kappa, abs=1e-9)
    assert karat.screen.spammer_index(tests).agreement["fleiss_kappa"] != pytest.approx(kappa, abs=1e-3)


def test_simplified_models_are_told_apart_from_whole_ones() -> None:
    found = gathered()
    assert isinstance(found.effects, EffectsBeforeAfter)
    contrasts = part(found, "contrasts")
    assert isinstance(contrasts.result, Contrasts)
    said = [Message("discrepancies.contrasts"), Message("discrepancies.effects")]
    spoken = [text for one in section(found).sections for text in one.paragraphs]
    assert [str(one) in spoken for one in said] == [bool(contrasts.result.simplified)] * 2
    # The whole model of the contrasts has the tests of the effects.
    formula = contrasts.result.formula
    whole = karat.measure.contrasts(found.screening.kept, formula, simplify=False, df="asymptotic")
    assert whole.frame["chi2"].to_list() == pytest.approx(found.effects.tests["chisq_after"].to_list(), rel=1e-3)
    alone = section(replace(found, effects=NotComputed("report.nobody_excluded")))
    assert not any(str(one) in piece.paragraphs for one in said for piece in alone.sections)
