"""What a report is made of: the screening as it is, the measures of those who stay, reasons in place of gaps."""

from __future__ import annotations

import polars as pl
import pytest

import karat
from karat.measure.measures import Measures
from karat.messages import Message, NotComputed
from karat.report import build
from karat.report.build import DESCRIBING
from karat.report.counts import excluded_by
from karat.report.outcomes import Outcomes
from karat.screen.evidence import Evidence
from karat.study.criteria import title_of
from report.small import PEOPLE, RULES, gathered


@pytest.mark.slow
def test_measures_and_index_are_of_those_who_stay() -> None:
    found = gathered()
    gone = len(found.screening.excluded)
    assert gone
    assert isinstance(found.measures, Measures)
    assert found.measures.judgments.participants.height == PEOPLE - gone
    assert not isinstance(found.index, NotComputed)
    assert found.index.participants == PEOPLE - gone


@pytest.mark.slow
def test_unnamed_evidence_describes_and_excludes_nobody() -> None:
    found = gathered()
    assert set(found.described) == set(DESCRIBING)
    beyond = [one for name, one in found.described.items() if name not in RULES]
    assert all(one.participants.height == PEOPLE for one in beyond if isinstance(one, Evidence))
    assert isinstance(found.described["credence"], Evidence)
    assert found.described["remfod"] is found.screening.evidence["remfod"]
    alone = karat.screen.run(found.judgments, RULES)
    assert alone.excluded == found.screening.excluded


def test_rules_are_compared_on_the_same_answers() -> None:
    found = gathered().outcomes
    assert isinstance(found, Outcomes)
    stated, nobody = found.rules[:2]
    assert (stated.key, nobody.key) == ("stated", "nobody")
    assert set(stated.excluded) == set(gathered().screening.excluded)
    frame = gathered().judgments.frame.filter(pl.col("function") == "test").drop_nulls("response")
    for rule in found.rules:
        own = frame.filter(~pl.col("participant").is_in(list(rule.excluded)))
        means = own.group_by("order").agg(pl.col("response").cast(pl.Float64).mean())
        plain = dict(means.iter_rows())
        assert [cell[0] for cell in rule.cells] == pytest.approx([plain[cell[0]] for cell in found.cells])
        assert rule.kept == PEOPLE - len(rule.excluded)


def test_intervals_of_few_participants_stay_on_the_scale() -> None:
    rows = {
        "participant": ["p1"] * 4 + ["p2"] * 4 + ["p3"] * 4, "item": list("abcd") * 3,
        "order": ["x", "y", "x", "y", "y", "x", "y", "x", "x", "y", "x", "y"],
        "response": [5, 1, 5, 1, 1, 5, 2, 4, 5, 1, 3, 1],
    }  # fmt: skip
    found = build(karat.Judgments(rows, karat.Ordinal(5)), quick=True).outcomes
    assert isinstance(found, Outcomes)
    (_, low, _), (_, _, high) = sorted(found.rules[0].cells)
    assert (low, high) == (1, 5)


def test_a_rule_of_one_criterion_is_compared_once() -> None:
    found = build(gathered().judgments, rules={"attention": {"alpha": 0.05}, "exclude": "any"}, quick=True)
    assert isinstance(found.outcomes, Outcomes)
    assert found.screening.excluded
    assert [rule.key for rule in found.outcomes.rules] == ["stated", "nobody"]


def test_a_quick_report_has_no_bootstrap_intervals() -> None:
    rows = {"participant": ["p1"] * 4 + ["p2"] * 4 + ["p3"] * 4, "item": list("abcd") * 3}
    rows["response"] = [5, 1, 4, 2, 4, 2, 5, 1, 5, 2, 3, 1]  # type: ignore[assignment]
    found = build(karat.Judgments(rows, karat.Ordinal(5)), quick=True)
    assert found.index == NotComputed("report.quick")
    assert isinstance(found.measures, Measures)
    agreement = next(part.result for part in found.measures.parts if part.name == "agreement")
    assert agreement.table()["lower"].null_count() == agreement.table().height


def test_ids_of_a_platform_are_not_shown() -> None:
    ids = ["5f3a9c1b2d4e6f7a8b9c0d1e", "60a1b2c3d4e5f60718293a4b"]
    rows = {"participant": [ids[0]] * 2 + [ids[1]] * 2, "item": ["a", "b"] * 2, "response": [5, 1, 4, 2]}
    found = build(karat.Judgments(rows, karat.Ordinal(5)), quick=True)
    assert not set(ids) & set(found.judgments.participants["participant"])
    assert Message("report.new_names") in found.notes


def test_a_screening_is_taken_as_it_is_and_gaps_have_reasons() -> None:
    rows = {"participant": ["p1", "p1", "p2", "p2"], "item": ["a", "b"] * 2, "response": [5, 1, 4, 2]}
    screening = karat.screen.run(karat.Judgments(rows, karat.Ordinal(5)))
    found = build(screening, command="karat report x.csv")
    assert found.screening is screening
    assert isinstance(found.outcomes, Outcomes)
    assert [rule.key for rule in found.outcomes.rules] == ["nobody"]
    assert isinstance(found.evidence("attention"), NotComputed)
    assert found.versions["karat"] == karat.__version__


def test_everybody_excluded_is_reported_and_not_an_error() -> None:
    rows = {"participant": ["p1", "p1", "p2"], "item": ["a", "b", "a"], "response": [5, 1, 4], "rt": [1.0, 2.0, 1.0]}
    judgments = karat.Judgments(rows, karat.Ordinal(5), pl.DataFrame({"participant": ["p1", "p2"], "age": [20, 30]}))
    found = build(judgments, rules={"speed": {"mean_below": 100.0}, "exclude": "any"})
    assert len(found.screening.excluded) == 2
    assert isinstance(found.measures, NotComputed)
    assert isinstance(found.index, NotComputed)


def test_exclusions_are_counted_for_each_criterion_that_flags() -> None:
    likert = karat.datasets.load("likert")
    rules = {"attention": {}, "person_total": {"at_least": 0.3}, "exclude": "any"}
    screening = karat.screen.run(likert, rules)
    by = dict(excluded_by(screening))
    flagged = {title_of(name): set(evidence.flagged) for name, evidence in screening.evidence.items()}
    assert by == {title: names for title, names in flagged.items() if names}
    assert set().union(*by.values()) == set(screening.excluded)
    assert sum(map(len, by.values())) > len(screening.excluded)
