"""What a stimulus is: an item in its condition, and nothing that is about people or answers."""

from __future__ import annotations

import polars as pl

import karat
from karat.screen.answer_table import with_stimuli


def test_what_follows_from_the_answer_is_no_condition() -> None:
    crowd = karat.datasets.load("crowd")
    frame = crowd.frame.with_columns(correct=(pl.col("response") == pl.col("expected")).cast(pl.Int64))
    rows, notes = with_stimuli(frame)
    assert rows["_stimulus"].n_unique() == 80
    assert notes == ["Not taken as conditions: correct; they follow from the answers."]
    likert = karat.datasets.load("likert").frame
    assert with_stimuli(likert)[0]["_stimulus"].n_unique() > likert["item"].n_unique()
