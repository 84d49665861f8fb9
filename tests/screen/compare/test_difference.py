"""The difference that is followed, against plain loops."""

from __future__ import annotations

import math
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl
import pytest

import karat
from karat.judgments.scales import Scale
from karat.messages import Message, message_of
from karat.screen.compare.difference import contrast_of, difference
from karat.screen.evidence import ScreenError
from karat.study.settings import ContrastSettings
from messages import raises

LIKERT = karat.datasets.load("likert")
ORDER = ContrastSettings(name="order", factor="order", levels=["PP>OBJ", "OBJ>PP"])


def contrast(factor: str, *levels: str, **within: str) -> ContrastSettings:
    return ContrastSettings(name="x", factor=factor, levels=list(levels), within=within)


def judgments(rows: list[tuple[Any, ...]], scale: Scale, *columns: str) -> karat.Judgments:
    return karat.Judgments(
        pl.DataFrame(rows, schema=["participant", "item", "response", *columns], orient="row"), scale
    )


def everybody(number: int) -> Any:
    return np.ones(number, dtype=bool)


def test_the_estimate_is_the_mean_of_participants_differences() -> None:
    found = difference(LIKERT, ORDER)
    own = []
    for person in LIKERT.participants["participant"].to_list():
        rows = LIKERT.frame.filter(pl.col("participant") == person, pl.col("function") == "test").to_dicts()
        means = [fmean(int(row["response"]) for row in rows if row["order"] == level and row["response"])
                 for level in ORDER.levels]  # fmt: skip
        own.append(means[0] - means[1])
    assert found.estimate(everybody(48))[0] == pytest.approx(fmean(own))
    assert found.unit == Message("difference.steps")
    some = np.arange(48) % 3 == 0
    assert found.estimate(some)[0] == pytest.approx(fmean(own[::3]))


def test_only_where_another_factor_has_a_level() -> None:
    found = difference(LIKERT, contrast("order", *ORDER.levels, integration="yes"))
    only = karat.Judgments(LIKERT.frame.filter(pl.col("integration") == "yes"), LIKERT.scales, LIKERT.participants)
    assert found.estimate(everybody(48)) == pytest.approx(difference(only, ORDER).estimate(everybody(48)))
    where = [Message("difference.level", {"name": "integration", "level": "yes"})]
    values = {"factor": "order", "first": "PP>OBJ", "second": "OBJ>PP", "where": where}
    assert found.name == Message("difference.name", values)


def test_yes_and_no_and_magnitudes() -> None:
    rows = [("p", "i", "1", "a"), ("p", "j", "0", "b"), ("q", "i", "1", "a"), ("q", "j", "1", "b")]
    found = difference(judgments(rows, karat.Binary(), "c"), contrast("c", "a", "b"))
    assert (found.estimate(everybody(2))[0], found.unit) == (0.5, Message("difference.share", {"level": "1"}))
    rows = [("p", "i", "100", "a"), ("p", "j", "50", "b")]
    found = difference(judgments(rows, karat.Magnitude(), "c"), contrast("c", "a", "b"))
    assert found.estimate(everybody(1))[0] == pytest.approx(math.log(2))


def test_participants_with_one_level_each_are_two_groups() -> None:
    rows = [("p", "i", "5", "a"), ("q", "i", "4", "a"), ("r", "i", "2", "b"), ("s", "i", "1", "b")]
    found = difference(judgments(rows, karat.Ordinal(5), "c"), contrast("c", "a", "b"))
    assert found.between
    assert found.estimate(everybody(4))[0] == 3
    assert math.isnan(found.estimate(np.array([True, True, False, False]))[0])


@pytest.mark.parametrize("named", [True, False])
def test_choices_between_the_two_levels(named: bool) -> None:
    shown = [("a", "b", "left"), ("b", "a", "left"), ("b", "a", "right"), ("a", "b", "none"), ("c", "a", "left")]
    rows = [("p", f"i{n}", response, f"i{n}.{left}" if named else left, f"i{n}.{right}" if named else right)
            for n, (left, right, response) in enumerate(shown)]  # fmt: skip
    columns = ("left", "right") if named else ("left_order", "right_order")
    found = difference(judgments(rows, karat.Choice(none=True), *columns), contrast("order", "a", "b"))
    assert found.estimate(everybody(1))[0] == (1 - 1 + 1 + 0) / 4


def test_what_cannot_be_computed_is_an_error() -> None:
    with raises(ScreenError, "difference.no_column", name="ordre", close="order", known=None):
        difference(LIKERT, contrast("ordre", "a", "b"))
    with raises(ScreenError, "difference.no_level") as caught:
        difference(LIKERT, contrast("order", "PP>OBI", "OBJ>PP"))
    values = {"column": "order", "name": "PP>OBI", "close": "PP>OBJ", "known": None}
    assert message_of(caught.value).values == values
    rows = [("p", "i", "left", "x", "y")]
    with raises(ScreenError, "difference.no_choice"):
        difference(judgments(rows, karat.Choice(), "left", "right"), contrast("order", "a", "b"))
    with raises(ScreenError, "difference.no_sides"):
        difference(judgments([("p", "i", "left")], karat.Choice()), contrast("order", "a", "b"))
    with raises(ScreenError, "difference.no_order"):
        difference(judgments([("p", "i", "A", "a")], karat.Nominal(["A", "B"]), "c"), contrast("c", "a", "b"))


def test_which_contrast_is_followed() -> None:
    given = contrast_of(LIKERT, {"factor": "integration", "levels": ["yes", "no"]}, None)
    assert given is not None
    assert given.levels == ["yes", "no"]
    with raises(ScreenError, "difference.contrast"):
        contrast_of(LIKERT, {"factor": "order", "level": ["a"]}, None)
    plain = karat.Judgments(LIKERT.frame.drop("order", "integration"), LIKERT.scales)
    assert contrast_of(plain, None, None) is None


def test_interaction_is_a_difference_of_differences_per_person() -> None:
    both = ContrastSettings(name="x", factors={"order": ["PP>OBJ", "OBJ>PP"], "integration": ["yes", "no"]})
    found = difference(LIKERT, both)
    rows = LIKERT.frame.filter(pl.col("function") == "test", pl.col("response").is_not_null())
    means = rows.group_by("participant", "order", "integration").agg(pl.col("response").cast(pl.Float64).mean())
    signs = pl.col("response") * pl.when(pl.col("order") == "PP>OBJ").then(1).otherwise(-1)
    own = means.group_by("participant").agg(
        pl.len(), (signs * pl.when(pl.col("integration") == "yes").then(1).otherwise(-1)).sum().alias("d")
    )
    expected = own.filter(pl.col("len") == 4)["d"].mean()
    kept = np.ones(len(found.first), dtype=bool)
    assert found.estimate(kept)[0] == pytest.approx(expected)
