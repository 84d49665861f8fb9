"""Figures that stand twice on a page: what sets them apart is said beside each, and is what sets them apart."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import karat
from karat.judgments import Judgments
from karat.measure.agreement.agreement import Agreement
from karat.measure.contrasts.contrasts import Contrasts
from karat.measure.measures import Measure, Measures
from karat.messages import Message
from karat.report.build import NOT_COMPUTED, ReportData
from karat.report.sections.discrepancies import compared_with_contrasts, compared_with_test_trials, discrepancies
from karat.report.sections.results import section
from karat.screen.effects import EffectsBeforeAfter
from messages import codes
from report.small import gathered


def part(found: ReportData, name: str) -> Measure:
    assert isinstance(found.measures, Measures)
    return next(one for one in found.measures.parts if one.name == name)


def test_agreement_says_beside_both_figures_why_they_differ() -> None:
    found = gathered()
    functions = ["attention", "calibration", "control", "filler", "test"]
    beside = compared_with_test_trials(found)
    assert codes(beside) == ["discrepancies.crowd", "discrepancies.crowd_and_results"]
    assert beside[0].values == {"functions": functions}
    (told,) = discrepancies(part(found, "agreement"), found)
    assert told == Message("discrepancies.agreement", {"functions": functions})
    shown = next(one for one in section(found).sections if one.key.startswith("agreement"))
    assert str(told) in shown.paragraphs


def test_other_trials_and_conditions_are_the_whole_difference() -> None:
    found = gathered()
    kept = found.screening.kept
    agreement = part(found, "agreement").result
    assert isinstance(agreement, Agreement)
    # Of test trials alone, and with conditions as tasks of their own, the index has the coefficient of the results.
    tests = Judgments(kept.frame.filter(pl.col("function") == "test"), kept.scales, kept.participants)
    index = karat.screen.spammer_index(tests, conditions=["order"])
    kappa = agreement.of("Fleiss' kappa")["estimate"]
    assert index.agreement["fleiss_kappa"] == pytest.approx(kappa, abs=1e-9)
    assert isinstance(found.index, karat.screen.SpammerIndex)
    assert abs(found.index.agreement["fleiss_kappa"] - kappa) > 0.05


def test_nothing_is_said_where_the_answers_are_the_same() -> None:
    crowd = karat.screen.run(karat.datasets.load("crowd"), {"completion": {}})
    whole = ReportData(crowd, None, karat.screen.spammer_index(crowd.kept), NOT_COMPUTED)
    assert compared_with_test_trials(whole) == ()


def test_simplified_models_are_told_apart_from_whole_ones() -> None:
    found = gathered()
    assert isinstance(found.effects, EffectsBeforeAfter)
    contrasts = part(found, "contrasts")
    assert isinstance(contrasts.result, Contrasts)
    told = discrepancies(contrasts, found), compared_with_contrasts(found)
    assert [bool(one) for one in told] == [bool(contrasts.result.simplified)] * 2
    # The whole model of the contrasts has the tests of the effects.
    whole = karat.measure.contrasts(found.screening.kept, contrasts.result.formula, simplify=False)
    assert whole.frame["chi2"].to_list() == pytest.approx(found.effects.tests["chisq_after"].to_list(), rel=1e-3)
    assert discrepancies(contrasts, replace(found, effects="Nobody is excluded.")) == ()
