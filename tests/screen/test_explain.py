"""The paragraph on a participant: complete, plain, and no accusation."""

from __future__ import annotations

from typing import Any

import pytest

import karat
from karat.screen.explain import PAYMENT, explanations
from karat.screen.run import run
from karat.study.built_in_criteria import BUILT_IN

LIKERT = karat.datasets.load("likert")
FEW = LIKERT.without(LIKERT.participants["participant"][2:30])
"""Some of each kind, since all criteria of everybody take long."""
RULES = {"completion": {}, "remfod": {}, "attention": {}, "exclude": "any"}


def test_who_is_excluded_reads_why_and_what_was_not_looked_at() -> None:
    text = run(LIKERT, RULES).explain("p31")
    assert text.startswith("Participant p31 is not part of the analysis")
    assert "any of completion, remfod, attention" in text
    assert "Completion: answered 38 of 72 trials" in text
    assert "Not looked at any more: Response times (ReMFOD), Attention trials." in text
    assert text.endswith(PAYMENT)


def test_who_stays_reads_what_was_found() -> None:
    screening = run(LIKERT, RULES)
    kept = next(name for name in LIKERT.participants["participant"] if name not in screening.excluded)
    text = screening.explain(kept)
    assert f"Participant {kept} is part of the analysis, by the rule" in text
    assert "Nothing stood out" in text


@pytest.mark.slow
def test_without_rules_nobody_is_said_to_be_out() -> None:
    text = run(LIKERT).explain("p31")
    assert "no rule was stated, so that nobody is excluded" in text
    assert "Could not be computed for anybody" in text


@pytest.mark.parametrize(
    "rules",
    [RULES, {**{own.name: {} for own in BUILT_IN}, "exclude": 2}, pytest.param(None, marks=pytest.mark.slow)],
    ids=["some", "all", "none stated"],
)
def test_no_paragraph_accuses_anybody(rules: dict[str, Any] | None) -> None:
    for text in explanations(run(FEW, rules), FEW.participants["participant"].to_list()):
        words = text.lower()
        assert not [bad for bad in ("spam", "cheat", "careless", "lazy", "dishonest", "fraud") if bad in words]
        assert text.endswith(PAYMENT)


def test_every_criterion_has_a_title_of_its_own() -> None:
    titles = [own.title for own in BUILT_IN]
    assert all(title[0].isupper() for title in titles)
    assert len(set(titles)) == len(titles)


def test_an_unknown_name_is_an_error_with_the_nearest() -> None:
    with pytest.raises(karat.KaratError, match="no participant p099"):
        run(LIKERT, RULES).explain("p099")


def test_what_could_not_be_looked_at_is_not_said_to_have_passed() -> None:
    frame = FEW.frame.with_columns(rt=FEW.frame["rt"].set(FEW.frame["participant"] == "p01", None))
    people = {"participant": [*FEW.participants["participant"].to_list(), "nobody"]}
    screening = run(karat.Judgments(frame, FEW.scales, people))
    timeless = screening.explain("p01")
    _, silent = timeless.split("There is no score in the following. ")
    assert "Speed: no timed trials" in silent
    assert "Response times (ReMFOD): no timed trials" in silent
    absent = screening.explain("nobody")
    assert "Without answers to look at: Speed, " in absent
    assert "any more" not in absent
