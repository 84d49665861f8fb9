"""Answers as a crowd gave them: choices count as items, and as sides where the items are not named."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat
from karat.messages import message_of
from karat.models import glrm
from karat.screen.crowd.answers import crowd, fit
from messages import raises

SIDES = pl.DataFrame({
    "participant": ["p", "q"] * 3, "item": ["i", "i", "j", "j", "k", "k"],
    "left": ["a", "b", "c", "d", None, None], "right": ["b", "a", "d", "c", None, None],
    "response": ["left", "left", "right", "left", "left", "right"],
})  # fmt: skip


def test_choices_are_of_items_whichever_side_they_stood_on() -> None:
    found = crowd(karat.Judgments(SIDES.head(4), karat.Choice()), "x")
    codes = dict(zip(found.rows.select("participant", "item").rows(), found.response.tolist(), strict=True))
    assert codes == {("p", "i"): 0, ("q", "i"): 1, ("p", "j"): 1, ("q", "j"): 1}
    assert found.family == "binary"


def test_choices_between_items_without_names_are_of_sides() -> None:
    found = crowd(karat.Judgments(SIDES, karat.Choice()), "x")
    codes = dict(zip(found.rows.select("participant", "item").rows(), found.response.tolist(), strict=True))
    assert (codes["p", "k"], codes["q", "k"]) == (0, 1)
    assert found.family == "binary"


def test_a_model_that_cannot_be_fitted_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError("22-th leading minor of the array is not positive definite")

    monkeypatch.setattr(glrm, "fit_crossed", fails)
    answers = crowd(karat.datasets.load("crowd"), "spammer_index")
    with raises(karat.screen.ScreenError, "crowd.not_fitted") as caught:
        fit(answers)
    assert message_of(caught.value).values == {"answers": 9600, "categories": 2}
