"""What a report is made of: the screening as it is, the measures of those who stay, reasons in place of gaps."""

from __future__ import annotations

import polars as pl

import karat
from karat.measure.measures import Measures
from karat.messages import NotComputed
from karat.report import build
from karat.report.build import DESCRIBING
from karat.screen.compare.effects import EffectsBeforeAfter
from karat.screen.evidence import Evidence
from report.small import PEOPLE, RULES, gathered


def test_measures_and_index_are_of_those_who_stay() -> None:
    found = gathered()
    gone = len(found.screening.excluded)
    assert gone
    assert isinstance(found.measures, Measures)
    assert found.measures.judgments.participants.height == PEOPLE - gone
    assert not isinstance(found.index, NotComputed)
    assert found.index.participants == PEOPLE - gone


def test_evidence_that_rules_do_not_name_describes_everybody_and_excludes_nobody() -> None:
    found = gathered()
    assert set(found.described) == set(DESCRIBING)
    beyond = [one for name, one in found.described.items() if name not in RULES]
    assert all(isinstance(one, Evidence) and one.participants.height == PEOPLE for one in beyond)
    assert found.described["remfod"] is found.screening.evidence["remfod"]
    alone = karat.screen.run(found.judgments, RULES)
    assert alone.excluded == found.screening.excluded


def test_effects_are_compared_with_and_without_the_excluded() -> None:
    effects = gathered().effects
    assert isinstance(effects, EffectsBeforeAfter)
    assert set(effects.excluded) == set(gathered().screening.excluded)


def test_a_screening_is_taken_as_it_is_and_gaps_have_reasons() -> None:
    rows = {"participant": ["p1", "p1", "p2", "p2"], "item": ["a", "b"] * 2, "response": [5, 1, 4, 2]}
    screening = karat.screen.run(karat.Judgments(rows, karat.Ordinal(5)))
    found = build(screening, command="karat report x.csv")
    assert found.screening is screening
    assert found.effects == NotComputed("report.nobody_excluded")
    assert isinstance(found.evidence("attention"), NotComputed)
    assert found.versions["karat"] == karat.__version__


def test_everybody_excluded_is_told_and_not_an_error() -> None:
    rows = {"participant": ["p1", "p1", "p2"], "item": ["a", "b", "a"], "response": [5, 1, 4], "rt": [1.0, 2.0, 1.0]}
    judgments = karat.Judgments(rows, karat.Ordinal(5), pl.DataFrame({"participant": ["p1", "p2"], "age": [20, 30]}))
    found = build(judgments, rules={"speed": {"mean_below": 100.0}, "exclude": "any"})
    assert len(found.screening.excluded) == 2
    assert isinstance(found.measures, NotComputed)
    assert isinstance(found.index, NotComputed)
