"""The example data are those that the script in the repository makes."""

from __future__ import annotations

import pytest

import karat
from tools import make_datasets


@pytest.mark.parametrize(("name", "make"), [("likert", make_datasets.likert), ("crowd", make_datasets.crowd)])
def test_data_can_be_made_again(name: str, make: object) -> None:
    made = make()  # type: ignore[operator]
    assert made == karat.datasets.load(name)
    assert karat.datasets.path(name).stat().st_size < 200_000


def test_likert_has_every_function_and_four_balanced_lists() -> None:
    likert = karat.datasets.load("likert")
    assert set(likert.frame["function"].unique()) == set(karat.judgments.columns.FUNCTIONS)
    assert likert.participants["list"].value_counts()["count"].to_list() == [12] * 4
    complete = likert.frame.filter(likert.frame["participant"] == "p01", likert.frame["function"] == "test")
    assert complete["item"].n_unique() == 24
    assert complete.group_by("order", "integration").len()["len"].to_list() == [6] * 4


def test_crowd_is_complete() -> None:
    crowd = karat.datasets.load("crowd").frame
    assert crowd.group_by("participant").len()["len"].unique().to_list() == [80]
    right = (crowd["response"] == crowd["expected"]).mean()
    assert isinstance(right, float)
    assert 0.75 < right < 0.85
