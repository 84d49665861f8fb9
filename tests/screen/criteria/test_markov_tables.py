"""Transitions as tables, with the answers' own names."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from karat.screen.markov_cutoffs import CutoffDesign, counts_of, row_table, scale_name, target_name, transition_table

DESIGN = CutoffDesign(
    ("no", "maybe", "yes"), pl.Series(["p", "q"]), np.array([0, 2, 0, 0, 1, 1], np.int8), np.arange(6), np.array([4, 2])
)


def test_transitions_have_the_names_of_participants_and_answers() -> None:
    table = transition_table(DESIGN).filter(pl.col("count") > 0)
    assert table.rows() == [
        ("p", "no", "no", 1, 0.5), ("p", "no", "yes", 1, 0.5), ("p", "yes", "no", 1, 1.0),
        ("q", "maybe", "maybe", 1, 1.0),
    ]  # fmt: skip
    assert transition_table(DESIGN).height == counts_of(DESIGN).size
    assert scale_name(DESIGN) == "no to yes"


def test_rows_of_states_that_were_never_left_are_missing() -> None:
    table = row_table(DESIGN).filter(pl.col("participant") == "q", pl.col("target") == "always maybe")
    assert table["state"].to_list() == ["no", "maybe", "yes"]
    assert table["kld"].to_list() == [None, 0.0, None]
    guessing = row_table(DESIGN).filter(pl.col("target") == "evenly at random", pl.col("participant") == "p")
    assert guessing["kld"][0] == pytest.approx(np.log(3) - np.log(2))


def test_every_target_has_a_name_of_its_own() -> None:
    names = [target_name(target, DESIGN.levels) for target in DESIGN.patterns]
    assert len(set(names)) == len(names)
    assert {"always no", "staying", "round no, yes", "round no, yes, maybe", "evenly at random"} <= set(names)
