"""Rules over criteria mean what they say, also before all criteria have run."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.screen.rules import follows

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
def test_somebody_is_excluded_early_only_if_they_will_be_whatever_comes(
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
