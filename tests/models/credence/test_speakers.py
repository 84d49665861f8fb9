"""A second group of speakers: found where there is one, and only there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.credence import fit_credence
from karat.models.credence.fit import directions, is_worth_it, minority, with_second_group
from karat.models.credence.mixture import Mixture
from models.credence.answered import crowd


@given(st.lists(st.floats(-5, 5), min_size=4, max_size=12, unique=True))
def test_the_minority_is_the_smaller_side_of_the_best_split(places: list[float]) -> None:
    direction = np.array(places)
    found = minority(direction) > 0
    assert 0 < found.sum() <= len(places) / 2

    def within(some: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
        return float(sum(((direction[part] - direction[part].mean()) ** 2).sum() for part in (some, ~some)))

    cuts = np.sort(direction)[:-1]
    assert within(found) == pytest.approx(min(within(direction > cut) for cut in cuts), abs=1e-6)


def dialects(others: int = 8) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Strengths of everybody: a quarter judges every other item the other way round."""
    strength = np.tile(np.linspace(-2.5, 2.5, 30), (32, 1))
    strength[-others:, ::2] *= -1
    return strength


@pytest.mark.slow
def test_people_who_share_another_grammar_are_an_attentive_group() -> None:
    found = fit_credence(crowd(32, 30, guessing=0, strength=dialects()))
    assert found.mixture.groups == 2
    # Which of them is the first is no matter.
    assert found.mixture.group_shares.min() == pytest.approx(0.25, abs=0.08)
    groups = found.step.group.argmax(axis=1)
    assert (groups == groups[0]).tolist() == [True] * 24 + [False] * 8
    assert (found.log_odds > 0).all()


@pytest.mark.slow
def test_where_all_agree_there_is_one_group() -> None:
    trials = crowd(32, 30, guessing=0)
    assert fit_credence(trials).mixture.groups == 1


def test_a_few_people_have_no_direction() -> None:
    mixture = Mixture(crowd(6, 30, guessing=0), np.ones(6))
    mixture.step()
    assert directions(mixture, 1) == []


def test_a_second_group_that_takes_in_everybody_is_none() -> None:
    mixture = Mixture(crowd(12, 30, guessing=0), np.ones(12))
    before = mixture.step()
    with_second_group(mixture, np.repeat([1.0, 0.0], 6))
    after = mixture.step()
    gained = replace(after, evidence=before.evidence + 10.0, weight=np.ones_like(after.weight))
    for one in mixture.by_strengths:
        one.groups[1].strengths[:] = -one.groups[0].strengths
    shared = replace(gained, group=np.repeat([[1.0, 0.0], [0.0, 1.0]], 6, axis=0))
    assert is_worth_it(mixture, before, shared)
    assert not is_worth_it(mixture, before, replace(gained, group=np.tile([0.0, 1.0], (12, 1))))
