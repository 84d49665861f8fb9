"""Scales: spellings, sets of right answers, chance."""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.judgments.scales import NumberRange, Scale, from_dict, parse_scale
from messages import refuses
from strategies import NAMES, scales


@pytest.mark.parametrize(
    ("scale", "answer", "read"),
    [
        (karat.Binary(), True, "1"), (karat.Binary(), "FALSE", "0"), (karat.Binary(), 1.0, "1"),
        (karat.Binary(), "2", None),
        (karat.Binary(("no", "yes")), "yes", "yes"), (karat.Binary(("no", "yes")), 0, "no"),
        (karat.Binary(("1", "2")), "1", "1"), (karat.Choice(), "LEFT", "left"),
        (karat.Choice(none=True), "none", "none"),
        (karat.Choice(), "none", None), (karat.Ordinal(7), "7.0", "7"), (karat.Ordinal(7), 8, None),
        (karat.Ordinal(["bad", "good"]), " good ", "good"), (karat.Ordinal(range(-3, 4)), -3, "-3"),
        (karat.Nominal(["A", "B"]), "a", None), (karat.Magnitude(), "0", None), (karat.Magnitude(), "1e3", "1e3"),
        (karat.Magnitude(), "inf", None), (karat.Continuous(0, 1), "nan", None), (karat.Continuous(0, 1), 1, "1"),
        (karat.Continuous(), -5.5, "-5.5"), (karat.Continuous(0, 1), "1_0", None),
    ],
)  # fmt: skip
def test_answers_as_the_scale_spells_them(scale: Scale, answer: object, read: str | None) -> None:
    assert scale.read(answer) == read


@given(scales(), st.lists(st.one_of(st.none(), st.sampled_from(["0", "1", "2.0", "left", "x", "0.5", "-1"]), NAMES)))
def test_a_column_is_read_as_its_cells_are(scale: Scale, cells: list[str | None]) -> None:
    column, unknown = scale.read_column(pl.Series("response", cells, dtype=pl.String))
    for cell, answer, bad in zip(cells, column.to_list(), unknown.to_list(), strict=True):
        read = None if cell is None else scale.read(cell)
        assert bad == (cell is not None and read is None)
        if not bad:
            assert answer == read


@pytest.mark.parametrize(
    ("scale", "expected", "members", "chance"),
    [
        (karat.Ordinal(5), "1-2", {"1", "2"}, Fraction(2, 5)),
        (karat.Ordinal(5), "2-1|5", {"1", "2", "5"}, Fraction(3, 5)),
        (karat.Ordinal(range(-3, 4)), "-3--1", {"-3", "-2", "-1"}, Fraction(3, 7)),
        (karat.Nominal(["1-2", "3"]), "1-2", {"1-2"}, Fraction(1, 2)),
        (karat.Nominal(["a|b", "c", "a"]), "a|b", {"a|b"}, Fraction(1, 3)),
        (karat.Nominal(["a", "b", "c"]), "a|c", {"a", "c"}, Fraction(2, 3)),
        (karat.Binary(), "true", {"1"}, Fraction(1, 2)),
        (karat.Choice(none=True), "left|none", {"left", "none"}, Fraction(2, 3)),
    ],
)
def test_expected_answers(scale: Scale, expected: str, members: set[str], chance: Fraction) -> None:
    assert scale.expected(expected) == members
    assert scale.chance(expected) == chance


def test_expected_ranges_of_numbers() -> None:
    assert karat.Continuous(0, 100).expected("10-20") == NumberRange(10, 20)
    assert "15.5" in karat.Continuous(0, 100).expected("10-20")
    assert "x" not in karat.Continuous(0, 100).expected("10-20")
    assert karat.Continuous(0, 100).chance("90-120") == Fraction(1, 10)
    with refuses(karat.ScaleError, "magnitude"):
        karat.Magnitude().chance("1-2")


@pytest.mark.parametrize(
    ("scale", "expected"),
    [(karat.Ordinal(5), "6"), (karat.Ordinal(5), "1-6"), (karat.Choice(), "up"), (karat.Continuous(0, 1), "high")],
)
def test_unknown_expected_answers(scale: Scale, expected: str) -> None:
    with refuses(karat.ScaleError, f'"{expected}"'):
        scale.expected(expected)


def test_scales_that_cannot_be() -> None:
    for make in (
        lambda: karat.Ordinal(1), lambda: karat.Nominal(["a", "a"]), lambda: karat.Binary(("a", "b", "c")),
        lambda: karat.Ordinal(5, neutral=9), lambda: karat.Continuous(1, 0), lambda: karat.Magnitude(-1),
        lambda: karat.Nominal(["a", "b", " "]),
    ):  # fmt: skip
        with pytest.raises(karat.ScaleError):
            make()


def test_the_neutral_point_is_read_as_an_answer_is() -> None:
    assert karat.Ordinal(5, neutral="3.0") == karat.Ordinal(5, neutral=3)
    assert karat.Ordinal([" bad", "fair", "good"], neutral=" fair").neutral == "fair"


@given(scales())
def test_plain_data_and_back(scale: Scale) -> None:
    assert from_dict(scale.to_dict()) == scale


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("binary", karat.Binary()), ("binary:no,yes", karat.Binary(("no", "yes"))), ("choice", karat.Choice()),
        ("choice:none", karat.Choice(none=True)), ("ordinal:1-5", karat.Ordinal(5)),
        ("Ordinal: 1-7 : 4", karat.Ordinal(7, 4)), ("ordinal:-3-3", karat.Ordinal(range(-3, 4))),
        ("ordinal:bad,fair,good", karat.Ordinal(["bad", "fair", "good"])),
        ("nominal:A,B", karat.Nominal(["A", "B"])), ("magnitude:100", karat.Magnitude(100)),
        ("continuous:0-100", karat.Continuous(0, 100)), ("continuous", karat.Continuous()),
    ],
)  # fmt: skip
def test_short_texts(text: str, scale: Scale) -> None:
    assert parse_scale(text) == scale


@pytest.mark.parametrize(
    "text",
    ["", "likert", "ordinal", "ordinal:5", "nominal:A", "nominal:A,B,", "magnitude:x", "continuous:9", "choice:x"],
)
def test_short_texts_that_are_none(text: str) -> None:
    with refuses(karat.ScaleError, f'"{text}"', "ordinal:1-5"):
        parse_scale(text)
