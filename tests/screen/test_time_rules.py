"""The named rules as data: complete, the same in study files, and computed as they say."""

from __future__ import annotations

import inspect
import statistics
from typing import get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.screen.criteria.remfod import RemfodSettings, remfod
from karat.screen.time_rules import TIME_RULES, time_rule
from karat.screen.time_search import find_outliers
from messages import raises


def test_study_files_and_parameters_name_the_same_rules() -> None:
    assert list(get_args(RemfodSettings.model_fields["rule"].annotation)) == list(TIME_RULES)
    parameters = inspect.signature(remfod).parameters
    # What only code can give, the size of batches, is no setting.
    assert list(parameters) == ["judgments", *RemfodSettings.model_fields, "batch"]
    assert parameters["batch"].kind is inspect.Parameter.KEYWORD_ONLY
    for name, field in RemfodSettings.model_fields.items():
        assert parameters[name].default == field.default


def test_factors_and_settings_are_as_published() -> None:
    rule = TIME_RULES["remfod"]
    assert (rule.upper, rule.lower, rule.genuine_at_least) == (2.5, 1.5, 0.9)
    fields = {name: field.description or "" for name, field in RemfodSettings.model_fields.items()}
    for name in ("upper", "lower", "genuine_at_least"):
        assert f"by default {getattr(rule, name)}, or the rule's" in fields[name]


def test_settings_of_a_study_file_are_those_of_the_call() -> None:
    likert = karat.datasets.load("likert")
    plain = remfod(likert, **RemfodSettings().model_dump())
    assert plain.participants.equals(remfod(likert).participants)
    stated = remfod(likert, **RemfodSettings(rule="miller-2").model_dump())
    assert (stated.settings["upper"], stated.settings["lower"]) == (2, 2)


def test_names_are_their_own_keys_and_say_what_they_ask() -> None:
    for name, rule in TIME_RULES.items():
        assert rule.name == name
        assert rule.asks
        assert rule.centre in ("median", "mean")
        assert time_rule(name) == rule


@pytest.mark.parametrize("factor", [0, -1, float("nan"), float("inf")])
def test_factors_must_be_above_zero(factor: float) -> None:
    with raises(karat.KaratError, "setting.refused", setting="lower"):
        karat.screen.remfod(karat.datasets.load("crowd"), lower=factor)


def frame(people: list[str], times: list[float]) -> pl.DataFrame:
    return pl.DataFrame({"participant": people, "function": ["test"] * len(times), "rt": times})


@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 1e5)), min_size=1, max_size=30))
def test_means_and_deviations(rows: list[tuple[str, float]]) -> None:
    people, times = (list(column) for column in zip(*rows, strict=True))
    cutoffs = find_outliers(frame(people, times), time_rule("mean-sd"), 1.4826).cutoffs
    assert cutoffs.columns == ["round", "group", "name", "trials", "mean", "sd", "lower", "upper"]
    for row in cutoffs.to_dicts():
        own = [time for person, time in rows if person == row["name"]]
        assert row["trials"] == len(own)
        assert row["mean"] == pytest.approx(statistics.mean(own), rel=1e-9, abs=1e-9)
        deviation = statistics.stdev(own) if len(own) > 1 else 0
        assert row["sd"] == pytest.approx(deviation, rel=1e-6, abs=1e-9 * max(own))
        assert row["upper"] == pytest.approx(row["mean"] + 4 * row["sd"])


def test_group_without_trials_has_no_later_cutoffs() -> None:
    times = [2.0, 2.1, 1.9, 2.2, 2.0, 2.1, 50.0, 3.0]
    people = ["a"] * 6 + ["b", "a"]
    by_function = time_rule("function")
    found = find_outliers(frame(people, times), by_function, 1.4826)
    assert found.kind[6] == 1
    alone = pl.DataFrame({"participant": ["a"] * 7, "function": ["test"] * 6 + ["filler"], "rt": [*times[:6], 2.0]})
    assert not find_outliers(alone, time_rule("remfod"), 1.4826).kind.any()


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(st.floats(0.1, 100), min_size=1, max_size=30), st.randoms())
def test_the_order_of_trials_does_not_matter(times: list[float], random: st.Random) -> None:  # type: ignore[name-defined]
    people = [random.choice("ab") for _ in times]
    order = random.sample(range(len(times)), len(times))
    for name in ("remfod", "global", "miller-2"):
        first = find_outliers(frame(people, times), time_rule(name), 1.4826)
        second = find_outliers(frame([people[i] for i in order], [times[i] for i in order]), time_rule(name), 1.4826)
        assert np.array_equal(first.kind[order], second.kind)
