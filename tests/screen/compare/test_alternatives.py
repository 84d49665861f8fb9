"""The table of alternatives, and which of them are combined."""

from __future__ import annotations

import pytest

import karat
from karat.messages import Message
from karat.screen.compare.multiverse import in_words, options, without_criteria
from karat.screen.run import computing
from karat.study.criteria import CRITERIA, criterion_settings
from messages import codes, raises

LIKERT = karat.datasets.load("likert")
CROWD = karat.datasets.load("crowd")


def grid(judgments: karat.Judgments, rules: dict | None, given: dict | None = None) -> tuple[dict, list[Message]]:
    found, notes = options(judgments, rules, None, given, computing(judgments))
    return {name: [words for words, _ in own] for name, own in found.items()}, notes


def test_every_alternative_is_a_setting_that_its_criterion_knows() -> None:
    assert CRITERIA["eligibility"].alternatives == (), "who belongs to the population is no matter of screening"
    for name, criterion in CRITERIA.items():
        own = criterion.alternatives
        assert set(criterion.of_the_study) <= set(criterion.settings.model_fields)
        words = [one.words for one in own]
        assert len(set(words)) == len(words)
        for one in own:
            assert (one.settings is None) == (one.words == "out")
            if one.settings is not None:
                criterion_settings(name, one.settings)
                assert in_words(name, one.settings) == one.words


def test_the_stated_setting_comes_first_and_only_once() -> None:
    found, notes = grid(LIKERT, {"attention": {}, "remfod": {"genuine_at_least": 0.9}, "exclude": "any"})
    assert list(found) == ["remfod", "attention"], "in the order of the stages"
    assert found["remfod"] == ["90 % genuine", "80 % genuine", "95 % genuine", "by participant only",
                               "3 MADs both ways", "out"]  # fmt: skip
    assert found["attention"][0] == "positional, .05"
    assert notes == []
    assert grid(LIKERT, {"completion": {"at_least": 0.85}})[0]["completion"] == ["at_least .85", "90 %", "80 %", "95 %"]


def test_settings_that_belong_to_the_study_are_kept() -> None:
    found, _ = options(LIKERT, {"completion": {"at_least": 0.7, "trials": 72}}, None, None, computing(LIKERT))
    assert [settings["trials"] for _, settings in found["completion"] if settings] == [72] * 4


def test_alternatives_of_ones_own() -> None:
    given = {"remfod": [{"genuine_at_least": 0.8}, {"length": "order"}, None], "attention": [{}]}
    found, _ = grid(LIKERT, {"remfod": {}}, given)
    assert found["remfod"] == ["90 % genuine", "80 % genuine", "90 % genuine (2)", "out"]
    assert found["attention"] == ["out", "positional, .05"], "what is not stated is out as stated"
    with raises(karat.screen.ScreenError, "alternatives.unknown") as caught:
        grid(LIKERT, {"remfod": {}}, {"remofd": []})
    assert "remfod" in str(caught.value)


def test_accounts_of_ratings_are_not_tried_on_choices() -> None:
    found, notes = grid(CROWD, {"controls": {}, "speed": {}})
    assert found["controls"] == ["positional, .05"], "what cannot run is out already"
    assert codes(notes) == ["alternatives.stated", "alternatives.not_tried"]
    assert [note.values["criterion"] for note in notes] == ["controls", "controls"]
    assert notes[1].values["setting"] == "positional, .01"
    assert grid(CROWD, {"controls": {}, "speed": {}, "exclude": "all"})[0]["controls"] == ["positional, .05", "out"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stated", "names"),
    [
        ({}, ["simulated, .05", "simulated, .01", "published, .05", "out"]),
        ({"simulations": 29}, ["simulated, .05", "published, .05", "out"]),  # 29 draws say nothing of one in a hundred
        ({"by": "published"}, ["published, .05", "simulated, .05", "simulated, .01", "out"]),
    ],
)
def test_what_is_stated_comes_first(stated: dict[str, object], names: list[str]) -> None:
    few = CROWD.without(CROWD.participants["participant"].to_list()[14:])
    assert grid(few, {"deletion": stated})[0]["deletion"] == names


def test_without_rules_what_applies_is_combined() -> None:
    found, notes = grid(CROWD, None)
    assert list(found) == ["completion", "speed", "remfod", "straightlining"]
    assert notes == []


@pytest.mark.parametrize(
    ("rule", "kept", "left"),
    [
        ("any", ["a"], "any"), ("all", ["a", "b"], "all"), ("any", [], None), (2, ["a"], 1), (2, ["a", "b", "c"], 2),
        ("a and (b or c)", ["a", "b"], "a and b"), ("a and (b or c)", ["c"], "c"), ("a and not b", ["a"], "a"),
        ("not b", ["a"], None), ("a and (b or c)", ["a", "b", "c"], "a and (b or c)"),
    ],
)  # fmt: skip
def test_what_is_left_of_a_rule(rule: str | int, kept: list[str], left: str | int | None) -> None:
    assert without_criteria(rule, kept) == left
