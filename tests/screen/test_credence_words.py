"""Credence in words: what is told, of whom, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from karat.screen.credence_words import behaviour, probability, reason

ROW: dict[str, Any] = {
    "earnest": 0.0004, "behaviour": "random guessing", "switch_trial": None, "switch_from": None, "switch_to": None,
    "agreement": -3.0, "controls": -0.2, "sequence": 0.8, "times": -7.0, "speakers": 2,
}  # fmt: skip


def test_what_counts_most_is_told_first_and_little_not_at_all() -> None:
    assert reason(ROW) == (
        "in earnest with probability under .001; the answers are more like random guessing; "
        "against it: response times, agreement with the others; for it: the sequence of answers"
    )


def test_of_somebody_in_earnest_there_is_nothing_to_explain() -> None:
    assert reason(ROW | {"earnest": 0.98, "behaviour": "earnest"}) == "in earnest with probability .98"
    doubtful = reason(ROW | {"earnest": 0.6, "behaviour": "earnest"})
    assert doubtful.startswith("in earnest with probability .6; against it: ")


def test_the_group_is_told_where_there_are_two() -> None:
    assert reason(ROW, 2).endswith("; compared with speakers of group 2")
    assert "group" not in reason(ROW)


def test_since_when() -> None:
    changed = ROW | {"behaviour": "repeated pattern", "switch_trial": 9, "switch_from": 9, "switch_to": 9}
    assert behaviour(changed) == "a repeated pattern from trial 9 on"
    assert behaviour(changed | {"switch_to": 12}) == "a repeated pattern from about trial 9 on (9 to 12)"


@pytest.mark.parametrize(
    ("value", "words"), [(0.0, "under .001"), (0.001, ".001"), (0.5, ".5"), (0.99949, "over .999"), (1.0, "over .999")]
)
def test_probabilities(value: float, words: str) -> None:
    assert probability(value) == words
