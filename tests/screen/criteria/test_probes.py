"""Criteria on what platforms and probes report."""

import polars as pl
import pytest

import karat
from karat import Judgments
from karat.screen import ScreenError, platform_flags, probes
from messages import raises

KINDS = ("honeypot", "shibboleth", "modality")


def judged(*answers: tuple[str, str, str]) -> Judgments:
    """Answers of yes or no by participant and kind, beside one to a test item; people are expected to say yes."""
    rows = [
        (who, f"{kind} {place}", answer, "filler", kind, "yes") for place, (who, kind, answer) in enumerate(answers)
    ]
    tests = [(who, "test", "no", "test", None, None) for who in dict.fromkeys(row[0] for row in answers)]
    names = ["participant", "item", "response", "function", "subgroup", "expected"]
    return Judgments(pl.DataFrame([*rows, *tests], schema=names, orient="row"), karat.Binary(("no", "yes")))


@pytest.mark.parametrize("kind", KINDS)
def test_one_hit_never_flags(kind: str) -> None:
    found = probes(judged(("p1", kind, "no"), ("p1", "honeypot", "yes")))
    assert found.participants["score"].to_list() == [1.0]
    assert found.flagged == []
    with raises(ScreenError, "setting.refused", setting="at_least"):
        probes(judged(("p1", kind, "no")), at_least=1)


def test_two_hits_do() -> None:
    found = probes(judged(("p1", "honeypot", "no"), ("p1", "modality", "no"), ("p2", "honeypot", "yes")))
    assert found.flagged == ["p1"]
    assert found.participants["message"].to_list() == ["probes.hit", "probes.clear"]


def test_fillers_of_other_kinds_are_no_probes() -> None:
    with raises(ScreenError, "probes.none"):
        probes(judged(("p1", "pseudo", "no")))


def platform_flags_judged(**columns: list[object]) -> Judgments:
    people = [f"p{place}" for place in range(len(next(iter(columns.values()), [None])))]
    answers = {"participant": people, "item": ["a"] * len(people), "response": [5] * len(people)}
    return Judgments(answers, karat.Ordinal(5), {"participant": people, **columns})


@pytest.mark.parametrize(
    ("column", "values", "flagged"),
    [
        ("Q_RecaptchaScore", ["0.49", "0.5", "", None], ["p0"]),
        ("Q_RelevantIDFraudScore", [29, 30, 130, None], ["p1", "p2"]),
        ("Q_RelevantIDDuplicateScore", ["74.9", "75", "", None], ["p1"]),
        ("Q_RelevantIDDuplicate", ["true", "false", "", None], ["p0"]),
        ("Q_DuplicateRespondent", ["True", "", "1", None], ["p0", "p2"]),
        ("Q_BallotBoxStuffing", ["false", "true", "", None], ["p1"]),
        ("LLM authenticity check", ["High", "Low", "Mixed", None], ["p1"]),
    ],
)
def test_each_field_flags_beyond_its_documented_cutoff(column: str, values: list[object], flagged: list[str]) -> None:
    found = platform_flags(platform_flags_judged(**{column: values}))
    assert found.flagged == flagged
    assert found.participants["message"][3] == "platform_flags.empty"
    assert found.participants["score"][3] is None


def test_flags_are_counted() -> None:
    people = platform_flags_judged(Q_RecaptchaScore=[0.1, 0.1], Q_BallotBoxStuffing=["true", "false"])
    assert platform_flags(people).participants["score"].to_list() == [2.0, 1.0]
    assert platform_flags(people, at_least=2).flagged == ["p0"]


def test_mixed_authenticity_is_reported_and_no_flag() -> None:
    row = platform_flags(platform_flags_judged(Authenticity=["Mixed"])).participants.row(0, named=True)
    assert (row["flagged"], row["values"]["mixed"]) == (False, ["Authenticity"])


def test_without_such_columns_it_does_not_run() -> None:
    with raises(ScreenError, "platform_flags.none"):
        platform_flags(platform_flags_judged(age=["31"]))
