"""Rules over criteria mean what they say, also before all criteria have run."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.screen.evidence import ScreenError
from karat.screen.rules import follows, settings_of
from karat.screen.run import run
from messages import raises

RULES = [
    ("any", "a or b or c"), ("all", "a and b and c"), (2, "a + b + c >= 2"), ("a and (b or c)", "a and (b or c)"),
    ("not a and b", "not a and b"), ("a or not (b and c)", "a or not (b and c)"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "python"), RULES)
def test_rules_mean_what_they_say(rule: str | int, python: str) -> None:
    rows = list(product([False, True], repeat=3))
    flags = {name: [row[place] for row in rows] for place, name in enumerate("abc")}
    meant = [bool(eval(python, {}, dict(zip("abc", row, strict=True)))) for row in rows]
    assert follows(flags, rule).tolist() == meant


@given(
    rule=st.sampled_from([rule for rule, _ in RULES]),
    flags=st.tuples(st.booleans(), st.booleans(), st.booleans()),
    pending=st.sets(st.sampled_from("abc")),
)
def test_early_exclusion_is_final_whatever_comes(
    rule: str | int, flags: tuple[bool, bool, bool], pending: set[str]
) -> None:
    now = follows({name: [flag] for name, flag in zip("abc", flags, strict=True)}, rule, pending)[0]
    later = []
    for ways in product([False, True], repeat=len(pending)):
        known = dict(zip("abc", flags, strict=True)) | dict(zip(sorted(pending), ways, strict=True))
        later.append(follows({name: [flag] for name, flag in known.items()}, rule)[0])
    if now:
        assert all(later)
    # A number of criteria, any and all are also exact: who will be excluded in any case is excluded at once.
    if rule in ("any", "all", 2) and all(later):
        assert now


def test_no_criteria_exclude_nobody() -> None:
    assert follows({}, "any").tolist() == []
    assert follows({"a": np.array([], dtype=bool)}, "all").tolist() == []


def test_speed_cutoff_stands_alone_without_seconds() -> None:
    def limits(**stated: float) -> tuple[float | None, float | None]:
        settings = settings_of({"speed": stated}, None)["speed"]
        return settings["mean_below"], settings["median_below"]

    assert limits() == (3.0, 3.0)
    assert limits(share_of_expected=0.4, expected_minutes=10) == (None, None)
    assert limits(relative_below=0.4, mean_below=2) == (2.0, None)
    again = settings_of(settings_of({"speed": {}}, None), None)
    assert again["speed"]["mean_below"] == 3.0


@pytest.mark.parametrize(
    ("rules", "code", "why"),
    [
        ({"remfod": {"upper": -1}}, "rules.settings", "upper: Input should be greater than 0"),
        (
            {"remfod": {}, "exclude": 2},
            "rules.not_applicable",
            'exclude = 2, but 1 criterion is stated; write 1, "any"',
        ),
        (
            {"remfod": {}, "exclude": True},
            "rules.not_applicable",
            "exclude = True is neither a rule nor a number of criteria; write a number",
        ),
        (
            {"remfod": {}, "exclude": "remfod or speed"},
            "rules.not_applicable",
            "exclude names 'speed', but the rules have no such criterion",
        ),
    ],
)
def test_rules_that_cannot_be_applied_are_refused(rules: dict[str, Any], code: str, why: str) -> None:
    with raises(ScreenError, code) as caught:
        run(karat.datasets.load("likert"), rules)
    assert why in str(caught.value)
