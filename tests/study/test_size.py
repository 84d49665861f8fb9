"""Size: the arithmetic of sections 3 and 5 of Pieper, Börner and Kiss, worked out by hand for small designs."""

from __future__ import annotations

from math import prod
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.study import chance
from karat.study.size import TASKS, SizeError, size
from messages import codes, refuses

# design, task: conditions, test, fillers, calibration, control, attention
BY_HAND = {
    ("2x2", "likert"): (4, 24, 48, 6, 10, 6),
    ("2x2", "choice"): (2, 12, 24, 6, 8, 8),
    ("2x2", "yes-no"): (4, 24, 48, 6, 10, 8),
    ("1x2", "likert"): (2, 12, 24, 6, 10, 6),
    ("1x2", "choice"): (1, 6, 22, 6, 8, 8),  # 12 fillers would not hold what is needed
    ("2x3", "choice"): (3, 18, 36, 6, 8, 8),
    ("3x3", "choice"): (9, 54, 108, 6, 8, 8),  # three levels in three pairs
    ("2x2x2", "likert"): (8, 48, 96, 6, 10, 6),
}


@pytest.mark.parametrize(("design", "task"), BY_HAND)
def test_by_hand(design: str, task: str) -> None:
    one = size(design, task)
    found = (one.conditions, one.test, one.fillers, one.calibration, one.control, one.attention)
    assert found == BY_HAND[design, task]
    assert one.trials == one.test + one.fillers
    assert one.design == design


def test_a_choice_halves_the_questionnaire() -> None:
    assert size("2x2", "choice").trials * 2 == size("2x2", "likert").trials == 72
    assert not size("2x2x2", "likert").within_limit
    assert size("2x2x2", "choice").within_limit


def test_minutes_and_cost() -> None:
    one = size("2x2", "likert", seconds=10, around=3, pay=15, fee=0.333, participants=40)
    assert one.minutes == 15  # 72 trials of 10 s, and 3 minutes around them
    assert one.cost == 199.95  # 15 / 60 x 15 x 40 x 1.333
    assert size("2x2", pay=0).cost == 0


def test_it_says_what_it_assumes() -> None:
    one = size("2x2", "choice", seconds=9, fee=0.25, currency="GBP")
    text = " ".join(map(str, one.assumptions))
    for part in ("9 s per trial", "25 %", "GBP", "6 lexicalisations", "2 fillers", ".05", "1 slip"):
        assert part in text
    assert codes(one.summary) == ["size.trials", "size.fillers", "size.cost"]
    assert size("3x3").summary[0].code == "size.too_many_trials"
    assert codes(size("1x2", "choice").notes) == ["size.special_fillers"]
    assert "3 pairs" in str(size("3x3", "choice"))


def test_the_rules_keep_guessing_out() -> None:
    for task in TASKS:
        for slips in range(3):
            one = size("2x2", task, slips=slips, alpha=0.01)
            assert one.control_p <= 0.01
            assert one.attention_p <= 0.01
    assert size("2x2", "likert", points=7).attention_p == chance.pass_probability(7, 6, "3/7")
    assert size("2x2", "choice", no_difference=True).attention == 5
    assert size("2x2", "likert", neutral=None).control == 8


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4).filter(lambda levels: max(levels) > 1))
def test_any_design(levels: list[int]) -> None:
    for task in TASKS:
        one = size(levels, task)
        assert one.test == 6 * one.conditions
        assert one.fillers >= 2 * one.test
        assert one.other >= 0
        assert one.table()["trials"].sum() == one.trials
        assert one == size("x".join(map(str, levels)), task)
        assert one.conditions == prod(levels) or task == "choice"
    if 2 in levels:
        assert 2 * size(levels, "choice").conditions == size(levels, "likert").conditions


def test_the_tasks_beside_each_other() -> None:
    assert [size("2x2", task).trials for task in TASKS] == [72, 72, 36]


@pytest.mark.parametrize("ratio", [1.1, "11/10", "1.1"])
def test_a_ratio_that_no_float_has_exactly_takes_no_filler_more(ratio: float | str) -> None:
    one = size((5, 2), per_condition=5, fillers_per_test=ratio)
    assert (one.test, one.fillers) == (50, 55)


@pytest.mark.parametrize(
    ("arguments", "settings", "names"),
    [
        (["2xq"], {}, ["design", "2xq", "2x2"]),
        ([""], {}, ["design", "2x2"]),
        (["1x1"], {}, ["1x1", "2x2"]),
        ([[]], {}, ["design", "2x2"]),
        (["0x2"], {}, ["0x2", "2x2"]),
        (["2x2", "magnitude"], {}, ["magnitude", "yes-no, likert, choice"]),
        (["2x2"], {"participants": 0}, ["participants", 1]),
        (["2x2"], {"seconds": 0}, ["seconds", 0]),
        (["2x2"], {"fee": -1}, ["fee", 0]),
    ],
)
def test_what_cannot_be_is_refused(arguments: list[Any], settings: dict[str, Any], names: list[object]) -> None:
    with refuses(SizeError, *names):
        size(*arguments, **settings)


def test_designs_in_other_spellings() -> None:
    assert size("2 × 2") == size((2, 2)) == size("2X2")
    assert size(2).conditions == 2
