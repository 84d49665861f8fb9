"""Thirty real result files, read as their authors read them: ../shared/reference/wild (see its README).

Each file is converted without options, with `--yes`, and with at most three answers (`benchmarks.wild.ANSWERS`).
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from benchmarks import wild

pytestmark = pytest.mark.slow
FEWEST_ACCEPTED = 22
MOST_ANSWERS = 3


@pytest.fixture(scope="module")
def cases(reference: Path) -> dict[str, dict[str, Any]]:
    """The cases by their ids."""
    if not (reference / "wild").is_dir():
        pytest.skip("the real result files (../shared/reference/wild) are not on this machine")
    return wild.cases()


def test_nothing_is_read_wrongly_without_a_confirmation(cases: dict[str, dict[str, Any]]) -> None:
    outcomes = {name: wild.outcome(case) for name, case in cases.items()}
    assert {name: one.differences for name, one in outcomes.items() if one.differences} == {}
    certain = [name for name, case in cases.items() if not case["expect"]["flags"]]
    assert [name for name in certain if not outcomes[name].right] == []
    assert all(one.message.count("\n") <= 10 for one in outcomes.values())


def test_first_proposals_are_right(cases: dict[str, dict[str, Any]]) -> None:
    outcomes = {name: wild.outcome(case, ["--yes"]) for name, case in cases.items()}
    assert sum(one.right for one in outcomes.values()) >= FEWEST_ACCEPTED


def test_three_answers_are_enough(cases: dict[str, dict[str, Any]]) -> None:
    found = {}
    for name, case in cases.items():
        arguments = shlex.split(wild.ANSWERS.get(name, "--yes"))
        assert sum(one.startswith("--") for one in arguments) <= MOST_ANSWERS
        found[name] = wild.outcome(case, arguments)
    assert [name for name, one in found.items() if not one.right] == list(wild.REFUSED)
    assert "nothing says who gave which rating" in found["j06"].message
