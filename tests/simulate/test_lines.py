"""Answers on a line between two ends: those of a rating scale with very many points."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.simulate import SimulateError, Spread, draw_people, respond
from karat.simulate.scale_answers import codes, guesses, numbers, numeric
from messages import raises

VALUES = st.lists(st.floats(-8, 8), min_size=1, max_size=30).map(np.array)


@given(VALUES, st.floats(-2, 2), st.floats(0.4, 2.5))
def test_a_line_is_the_limit_of_points(latent: np.ndarray, shift: float, stretch: float) -> None:
    shifts, stretches = np.full(len(latent), shift), np.full(len(latent), stretch)
    along = numbers(karat.Continuous(-1, 3), latent, shifts, stretches)
    places = codes(karat.Ordinal(2001), latent, shifts, stretches) / 2000
    assert np.allclose(along, -1 + 4 * places, atol=4 * (0.005 + 0.001))
    assert np.allclose(numeric(karat.Continuous(-1, 3), latent, shifts, stretches), -1 + 4 * places, atol=4 * 0.001)


def test_clear_cases_lie_on_their_side_and_guesses_anywhere() -> None:
    scale, random = karat.Continuous(0, 100), np.random.default_rng(1)
    people = draw_people(["attentive"] * 30, Spread(), random)
    trials = pl.DataFrame(
        {"item": ["good", "bad"] * 30, "function": ["control"] * 60, "expected": ["50-100", "0-49"] * 30}
    )
    person = np.repeat(np.arange(30), 2)
    answers = np.array(respond(trials, person, people, scale, seed=random), dtype=float)
    assert np.mean(answers[::2] >= 50) > 0.9
    assert np.mean(answers[1::2] < 50) > 0.9
    guessed = np.array(guesses(scale, 2000, random), dtype=float)
    assert guessed.min() < 5
    assert guessed.max() > 95
    assert guessed.mean() == pytest.approx(50, abs=3)


def test_a_line_without_ends_is_reported() -> None:
    with raises(SimulateError, "simulate.no_ends"):
        guesses(karat.Continuous(), 1, np.random.default_rng(1))
