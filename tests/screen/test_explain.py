"""The paragraph on a participant: complete, plain, and no accusation."""

from __future__ import annotations

from typing import Any

import pytest

import karat
from karat.messages import with_code
from karat.screen.run import run
from karat.screen.screening import PAYMENT, explanation_messages, explanations
from karat.study.criteria import CRITERIA
from messages import codes, refuses

LIKERT = karat.datasets.load("likert")
FEW = LIKERT.without(LIKERT.participants["participant"][2:30])
"""Some of each kind, since all criteria of everybody take long."""
RULES = {"completion": {}, "remfod": {}, "attention": {}, "exclude": "any"}


def test_who_is_excluded_reads_why_and_what_was_not_looked_at() -> None:
    text = run(LIKERT, RULES).explain("p31")
    assert text.startswith("Participant p31 was excluded from the analysis by the stated rule")
    assert "any of completion, remfod, attention" in text
    assert "Completion: " in text
    assert text.endswith(str(PAYMENT))
    (messages,) = explanation_messages(run(LIKERT, RULES), ["p31"])
    assert codes(messages) == ["explain.excluded", "explain.flagged", "explain.not_reached", "explain.payment"]
    assert messages[0].values["rule"].code == "rules.any"
    assert messages[2].values["criteria"] == ["Response times (ReMFOD)", "Attention trials"]


def test_who_stays_reads_what_was_found() -> None:
    screening = run(LIKERT, RULES)
    kept = next(name for name in LIKERT.participants["participant"] if name not in screening.excluded)
    assert f"Participant {kept} is part of the analysis by the stated rule" in screening.explain(kept)
    (messages,) = explanation_messages(screening, [kept])
    assert codes(messages) == ["explain.kept", "explain.passed", "explain.payment"]
    assert list(messages[1].values["found"]) == ["Completion", "Response times (ReMFOD)", "Attention trials"]


@pytest.mark.slow
def test_without_rules_nobody_is_said_to_be_out() -> None:
    (messages,) = explanation_messages(run(LIKERT), ["p31"])
    assert messages[0].code == "explain.no_rule_flagged"
    assert "explain.not_computed" in codes(messages)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "rules",
    [RULES, {**{name: {} for name in CRITERIA}, "exclude": 2}, pytest.param(None, marks=pytest.mark.slow)],
    ids=["some", "all", "none stated"],
)
def test_no_paragraph_accuses_anybody(rules: dict[str, Any] | None) -> None:
    for text in explanations(run(FEW, rules), FEW.participants["participant"].to_list()):
        words = text.lower()
        assert not [bad for bad in ("spam", "cheat", "careless", "lazy", "dishonest", "fraud") if bad in words]
        assert text.endswith(str(PAYMENT))


def test_every_criterion_has_a_title_of_its_own() -> None:
    titles = [own.title for own in CRITERIA.values()]
    assert all(title[0].isupper() for title in titles)
    assert len(set(titles)) == len(titles)


def test_an_unknown_name_is_an_error_with_the_nearest() -> None:
    with refuses(karat.KaratError, "p099", "p09"):
        run(LIKERT, RULES).explain("p099")


@pytest.mark.slow
def test_what_could_not_be_looked_at_is_not_said_to_have_passed() -> None:
    frame = FEW.frame.with_columns(rt=FEW.frame["rt"].set(FEW.frame["participant"] == "p01", None))
    people = {"participant": [*FEW.participants["participant"].to_list(), "nobody"]}
    screening = run(karat.Judgments(frame, FEW.scales, people))
    timeless, absent = explanation_messages(screening, ["p01", "nobody"])
    (silent,) = with_code(timeless, "explain.silent")
    assert {"Speed", "Response times (ReMFOD)"} <= set(silent.values["found"])
    (unseen,) = with_code(absent, "explain.no_answers")
    assert "Speed" in unseen.values["criteria"]
    assert "explain.not_reached" not in codes(absent)


def test_a_paragraph_in_german() -> None:
    text = run(LIKERT, RULES).explain("p31", "de")
    assert text.startswith("p31 wurde nach der angegebenen Regel")
    assert "Vollständigkeit: " in text
