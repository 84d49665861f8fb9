"""Automation: scripts are found by tier, people with any input are not, and what cannot be known is not claimed."""

from __future__ import annotations

import json
from collections import Counter
from itertools import chain

import polars as pl
import pytest

import karat
from karat.judgments import Judgments
from karat.screen import automation
from karat.screen.criteria.automation import refit
from karat.screen.evidence import ScreenError
from karat.screen.run import run
from karat.simulate.hands import ASSISTED, PEOPLE, with_hands
from messages import raises

TRIALS = 30


def judged(kinds: dict[str, int], seed: int = 1) -> Judgments:
    """So many participants of each kind, who are named after it."""
    names = list(chain.from_iterable([f"{kind} {number}" for number in range(size)] for kind, size in kinds.items()))
    frame = pl.DataFrame(
        {"participant": [name for name in names for _ in range(TRIALS)],
         "item": [*map(str, range(TRIALS))] * len(names),
         "trial": [*range(1, TRIALS + 1)] * len(names), "response": "1"}
    )  # fmt: skip
    return with_hands(Judgments(frame, karat.Ordinal(3)), {name: name.rsplit(" ", 1)[0] for name in names}, seed)


def found(judgments: Judgments) -> Counter[str]:
    return Counter(name.rsplit(" ", 1)[0] for name in automation(judgments).flagged)


def test_scripts_are_found_by_tier() -> None:
    size = 30
    kinds = dict.fromkeys(("http", "clicks", "lines", "paths"), size)
    counts = found(judged({"mouse": 10, **kinds}))
    assert counts == {"http": size, "clicks": size, "lines": size}, "tier 3 looks like people"


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", [*PEOPLE])
def test_nobody_is_flagged_for_how_they_answer(kind: str) -> None:
    scores = automation(judged({kind: 40}, seed=2)).participants["score"]
    assert scores.max() < (0.5 if kind in ASSISTED else 0.1)  # type: ignore[operator]


@pytest.mark.slow
def test_probabilities_are_those_of_the_expected_mixture() -> None:
    """With a twentieth of scripts, a quarter of which imitate people, as many are scripts as the sum of p says."""
    scripts = {"http": 10, "clicks": 10, "lines": 10, "paths": 10}
    table = automation(judged({"mouse": 600, "touch": 130, "keys": 30, **scripts}, seed=3)).participants
    script = pl.col("participant").str.contains("^(http|clicks|lines|paths)")
    low, high = table.filter(pl.col("score") < 0.5), table.filter(pl.col("score") > 0.9)
    assert high.filter(script).height == high.height == 30
    expected, there = low["score"].sum(), low.filter(script).height
    assert there / 2 < expected < 2 * there


def test_assistive_software_is_not_flagged() -> None:
    judgments = judged({"voice": 5})
    noted = [json.dumps({**json.loads(one), "untrusted": 1}) for one in judgments.frame["trace"]]
    assert found(judgments.with_frame(judgments.frame.with_columns(trace=pl.Series(noted)))) == {}


def test_participants_of_an_earlier_page_are_not_flagged() -> None:
    """Pages began to report traces in the midst of the study; a script that comes later reports none."""
    judgments = judged({"mouse": 3, "http": 2})
    late = pl.col("received") + pl.when(pl.col("participant") == "http 0").then(pl.duration(days=-9)).otherwise(
        pl.when(pl.col("participant") == "http 1").then(pl.duration(days=9)).otherwise(pl.duration())
    )
    evidence = automation(judgments.with_frame(judgments.frame.with_columns(received=late)))
    assert evidence.flagged == ["http 1"]
    assert [one.code for one in evidence.notes] == ["automation.not_seen", "automation.limits"]


@pytest.mark.slow
def test_without_traces_nothing_is_computed() -> None:
    likert = karat.datasets.load("likert")
    assert run(likert).skipped["automation"].code == "automation.no_traces"
    with raises(ScreenError, "automation.no_traces"):
        automation(judged({"http": 3}))


@pytest.mark.slow
def test_a_pilot_of_other_people_moves_the_model() -> None:
    """People whose presses take a second differ from the published ones, and not from their own pilot."""
    judgments = judged({"mouse": 60}, seed=5)
    slow = [json.dumps({**json.loads(one), "press": 12 * json.loads(one)["press"]}) for one in judgments.frame["trace"]]
    judgments = judgments.with_frame(judgments.frame.with_columns(trace=pl.Series(slow)))
    before = automation(judgments).participants["values"].struct.field("press")
    people = refit(judgments)
    after = automation(judgments, people=people).participants["values"].struct.field("press")
    assert (before.count(), after.count()) == (60, 0)
    with raises(ScreenError, "automation.small_pilot"):
        refit(judged({"mouse": 5}))


def test_texts_that_are_no_traces_are_passed_over() -> None:
    judgments = judged({"mouse": 3})
    odd = pl.when(pl.col("trial") % 3 == 0).then(pl.lit("{")).when(pl.col("trial") % 3 == 1).then(pl.lit("[1]"))
    assert found(judgments.with_frame(judgments.frame.with_columns(trace=odd.otherwise("trace")))) == {}


@pytest.mark.parametrize("setting", [{"prior": 0.0}, {"above": 1.5}, {"people": {"shoes": (0.0, 1.0)}}])
def test_settings_have_bounds(setting: dict[str, object]) -> None:
    with raises(ScreenError, "setting.refused", setting=next(iter(setting))):
        automation(judged({"mouse": 1}), **setting)  # type: ignore[arg-type]
