"""How many answers must be right: against the enumeration of all ways to guess."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.messages import Message
from karat.screen.right_answers import check_settings, count_rule, guess_note, guessing_tails, joint_rule
from messages import raises

CHANCES = st.lists(st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(2, 5), Fraction(3, 5)]), max_size=6)


def enumerated(chances: list[Fraction]) -> list[Fraction]:
    """The probabilities of at least 0, 1, ... right guesses, from all ways to be right and wrong."""
    tails = [Fraction(0)] * (len(chances) + 1)
    for outcome in product([True, False], repeat=len(chances)):
        p = prod((c if right else 1 - c for c, right in zip(chances, outcome, strict=True)), start=Fraction(1))
        for k in range(sum(outcome) + 1):
            tails[k] += p
    return tails


@given(CHANCES)
def test_tails_of_different_chances(chances: list[Fraction]) -> None:
    assert list(guessing_tails(tuple(chances))) == enumerated(chances)


@given(CHANCES.filter(bool), st.sampled_from([0.01, 0.05, 0.2]))
def test_the_fewest_right_answers_that_keep_guessing_under_alpha(chances: list[Fraction], alpha: float) -> None:
    rule, tails = count_rule(chances, alpha), enumerated(chances)
    if rule.probability is None:
        assert tails[-1] > Fraction(str(alpha))
        assert rule.why_not is not None
        assert rule.why_not.code == "passing.too_few"
    else:
        (k,) = rule.needed
        assert rule.probability == float(tails[k])
        assert tails[k] <= Fraction(str(alpha)) < tails[k - 1]


@given(CHANCES.filter(bool), CHANCES.filter(bool), st.integers(0, 3))
def test_stated_slips_leave_the_product_of_both_groups(
    good: list[Fraction], bad: list[Fraction], slips: int
) -> None:  # fmt: skip
    rule = joint_rule(good, bad, 0.05, slips)
    if slips >= min(len(good), len(bad)):
        assert rule.why_not is not None
        assert rule.why_not.code == "passing.nothing_required"
    else:
        assert rule.needed == (len(good) - slips, len(bad) - slips)
        chance = enumerated(good)[rule.needed[0]] * enumerated(bad)[rule.needed[1]]
        assert rule.probability == pytest.approx(float(chance))


@pytest.mark.parametrize("n", [3, 5, 8, 12])
def test_even_scales_have_a_chance_of_one_half_in_both_groups(n: int) -> None:
    half = [Fraction(1, 2)] * n
    rule = joint_rule(half, half, 0.05)
    tails = enumerated(half) if n < 9 else list(guessing_tails(tuple(half)))
    assert rule.probability is not None
    assert rule.probability == pytest.approx(float(tails[rule.needed[0]] * tails[rule.needed[1]]))
    assert rule.probability <= 0.05
    published = joint_rule(half, half, 0.05, published=True)
    assert published.probability is not None
    assert published.probability <= 0.05


def test_messages() -> None:
    assert count_rule([Fraction(1, 2)] * 2, 0.05).why_not == Message("passing.too_few", {"n": 2, "p": 0.25})
    assert guess_note(0.1, 0.001) == Message("passing.guessing", {"p": 0.1, "alpha": 0.001})
    with raises(karat.KaratError, "passing.bad_slips"):
        check_settings(0.05, True)
