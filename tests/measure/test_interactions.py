"""Differences of differences, and what a transformation of the scale can do to them."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.measure.effects.contrasts import contrasts
from karat.measure.effects.interactions import REMOVABLE, SHOWN, UNSURE
from measure.factorial import FORMULA, frame, rated
from messages import codes


def made(means: dict[tuple[str, str], float], noise: float = 0.3) -> Any:
    """A study with these means of cells."""
    random = np.random.default_rng(5)
    table = frame(16, 16)
    cells = np.array([means[cell] for cell in table.select("a", "b").rows()])
    response = np.round(cells + noise * random.normal(size=len(cells)), 6)
    judgments = karat.Judgments(table.drop("latent").with_columns(response=pl.Series(response)), karat.Continuous())
    return contrasts(judgments, FORMULA)


def cells(high_new: float, high_old: float, low_new: float, low_old: float) -> dict[tuple[str, str], float]:
    return {("high", "new"): high_new, ("high", "old"): high_old, ("low", "new"): low_new, ("low", "old"): low_old}


@pytest.mark.parametrize(
    ("means", "kind"),
    [
        (cells(4, 2, 2, 1), REMOVABLE),
        (cells(5, 2, 1, 0), REMOVABLE),
        (cells(3, 1, 1, 3), SHOWN),
        (cells(3, 1, 1.5, 2.5), SHOWN),
        (cells(3, 1, 0.0, 0.02), UNSURE),
    ],
)
def test_which_interactions_another_scale_removes(means: dict[tuple[str, str], float], kind: str) -> None:
    found = made(means)
    row = found.interactions.row(0, named=True)
    truth = (means["high", "new"] - means["low", "new"]) - (means["high", "old"] - means["low", "old"])
    assert row["estimate"] == pytest.approx(truth, abs=4 * row["se"])
    assert row["raw"] == pytest.approx(truth, abs=0.2)
    assert row["scale_dependence"] == kind
    expected = {REMOVABLE: "contrasts.removable", SHOWN: "contrasts.crossover", UNSURE: "contrasts.unsure"}
    assert expected[kind] in codes(found.warnings)


def additive(order: tuple[int, ...]) -> bool:
    """Whether four means in this order of ranks (11, 12, 21, 22) are additive on some scale, by trying values."""
    for one, other in permutations(range(-6, 7), 2):
        sums = np.array([0, other, one, one + other])
        if len(set(sums)) == 4 and (np.argsort(np.argsort(sums)) == np.array(order)).all():
            return True
    return False


@given(st.permutations(range(4)))
def test_the_rule_is_that_of_an_additive_order(order: list[int]) -> None:
    """Same directions of all simple differences, exactly where some scale makes the four means additive."""
    m11, m12, m21, m22 = order
    same = (m11 - m21) * (m12 - m22) > 0 and (m11 - m12) * (m21 - m22) > 0
    assert same == additive(tuple(order))


def test_nothing_is_said_of_an_interaction_that_is_not_shown() -> None:
    found = made(cells(3, 2, 2, 1), noise=2.0)
    assert found.interactions["p"][0] > 0.05
    assert not {"contrasts.removable", "contrasts.crossover", "contrasts.unsure"} & set(codes(found.notes))


def test_three_factors_have_four_interactions() -> None:
    table = frame(16, 16).with_columns(c=pl.when(pl.col("trial") % 2 == 0).then(pl.lit("u")).otherwise(pl.lit("v")))
    found = contrasts(rated(table, karat.Continuous()), "response ~ a * b * c + (1 | participant) + (1 | item)")
    assert found.interactions["term"].to_list() == ["a:b", "a:c", "b:c", "a:b:c"]
    assert found.interactions["scale_dependence"].null_count() == 1
    tests = found.frame.join(found.interactions, on="term", suffix="_of")
    assert tests["p"].to_list() == pytest.approx(tests["p_of"].to_list(), rel=1e-6)


def test_three_levels_have_no_single_difference_of_differences() -> None:
    table = frame(16, 16).with_columns(c=(pl.col("trial") % 3).cast(pl.String))
    found = contrasts(rated(table, karat.Continuous()), "response ~ a * c + (1 | participant) + (1 | item)")
    assert not found.interactions.height
    assert found.differences.filter(term="c").height == 3
