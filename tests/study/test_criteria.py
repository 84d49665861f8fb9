"""Criteria as a study file states them: what cannot be followed is said."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from karat.study.criteria import CRITERIA, check_exclude_rule, criterion_settings
from messages import refuses


@pytest.mark.parametrize(
    ("name", "given", "names"),
    [
        ("remfod", 0.9, ["remfod = { ... }", "remfod = {}"]),
        (
            "completion",
            {"at_leest": 0.8},
            ["completion", "at_leest", "at_least"],
        ),
    ],
)
def test_settings_that_cannot_be(name: str, given: Any, names: list[str]) -> None:
    with refuses(ValueError, *names):
        criterion_settings(name, given)


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        ("remfod and", ["any", "all"]),
        (0, ["2 criteria", "1 to 2", "any", "all"]),
        (3, ["2 criteria", "1 to 2"]),
    ],
)
def test_rules_that_cannot_be_followed(rule: str | int, names: list[str]) -> None:
    with refuses(ValueError, f"exclude = {rule!r}", *names):
        check_exclude_rule(rule, ["remfod", "attention"])
    for fine in ("any", "all", 1, 2, "remfod and not attention"):
        check_exclude_rule(fine, ["remfod", "attention"])


def test_settings_are_checked_without_what_computes() -> None:
    code = (
        "import sys\n"
        "from karat.study.criteria import CRITERIA, criterion_settings\n"
        "print('karat.screen' in sys.modules, end=' ')\n"
        "criterion_settings('completion', {})\n"
        "print('karat.screen.criteria.controls' in sys.modules, end=' ')\n"
        "print(all([criterion_settings(name, {}) for name in CRITERIA]) and len(CRITERIA) > 20)\n"
        "print([name for name in ('scipy', 'matplotlib', 'karat.screen.run') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False True\n[]\n"


def test_karat_brings_its_own_criteria_whatever_is_forgotten(criteria: None) -> None:
    before = list(CRITERIA)
    CRITERIA.clear()
    assert list(CRITERIA) == before
    assert CRITERIA["remfod"].stage == "clock"
    with pytest.raises(KeyError):
        CRITERIA["remofd"]
