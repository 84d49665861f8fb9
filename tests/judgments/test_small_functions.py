"""Small functions that many parts of the table of judgments use."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import karat
from karat.judgments.answer_codes import log_magnitude
from karat.judgments.checks import kind_of_cells, plain_types, text_column
from karat.judgments.columns import FUNCTIONS, laid_over, nearest, of_type
from karat.judgments.failed_formulas import columns_with_failed
from karat.judgments.files import companions
from karat.judgments.message_tables import rows_named
from karat.judgments.stimuli import Stimuli, candidates, groups_and_numbers, natural_order, numbered, with_choices
from karat.judgments.times import without_zone


def test_columns_in_their_types() -> None:
    assert text_column(pl.Series([1.0, 2.5, None])).to_list() == ["1", "2.5", None]
    frame = pl.DataFrame({"a": pl.Series([1], dtype=pl.UInt8), "b": [float("nan")]})
    assert plain_types(frame).dtypes == [pl.Int64, pl.Float64]
    assert [kind_of_cells(dtype) for dtype in (pl.List(pl.String()), pl.String())] == ["lists", None]
    assert columns_with_failed(pl.DataFrame({"a": ["x", "#REF!"], "b": ["y", None], "n": [1, 2]})) == ["a"]
    assert (
        without_zone(pl.Series(["2026-05-03 12:34", "2026-05-03T12:34Z", "1777811696"])).to_list()
        == [True] + [False] * 2
    )


def test_columns_under_their_names() -> None:
    assert of_type("number") == ("rt",)
    assert nearest("atention", FUNCTIONS) == "attention"
    frame = pl.DataFrame({"who": ["p1"], "pair": ["a"], "item": ["b"], "trial": [1]})
    laid = laid_over(frame, {"participant": "who", "item": "pair", "pair": "item", "trial": ""})
    assert laid.to_dicts() == [{"participant": "p1", "item": "a", "pair": "b"}]
    types = {"item": pl.String, "order": pl.String, "rt": pl.Float64, "loudness": pl.Float64}
    assert candidates(types) == ["order"]


def test_files_beside_a_table() -> None:
    found = [Path("a.csv"), Path("a.csv-metadata.json"), Path("b.csv"), Path("b.participants.csv")]
    assert sorted(path.name for path in companions(found)) == ["a.csv-metadata.json", "a.participants.csv"]


def test_magnitudes_of_0_count_as_half_of_the_smallest() -> None:
    shown = pl.DataFrame({"a": [0.0, 2.0, None]}).select(log_magnitude(pl.col("a")).exp()).to_series()
    assert shown.round(6).to_list() == [1.0, 2.0, None]


def test_levels_are_sorted_as_people_do() -> None:
    levels = ["a 0.5", "a −0.5", "a10", "a2", "10", "2"]
    assert sorted(levels, key=natural_order) == ["2", "10", "a2", "a10", "a −0.5", "a 0.5"]


def test_of_many_rows_the_first_and_the_last_are_named() -> None:
    values = rows_named("line", range(2, 500)).values
    assert (values["numbers"], values["more"], values["last"]) == ([str(n) for n in range(2, 12)], 488, "499")
    assert rows_named("line", [17]).values["more"] is None


def test_stimuli_and_their_numbers() -> None:
    likert = karat.datasets.load("likert")
    rows = likert.frame.filter(pl.col("function") == "test")
    assert likert.stimuli().varying(rows) == ["order", "integration"]
    assert Stimuli(factors=("order",)).with_conditions([]).keys == ["item"]
    groups, number = groups_and_numbers(pl.DataFrame({"a": ["y", "x", "y"]}), ["a"])
    assert (groups["a"].to_list(), number.to_list()) == (["y", "x"], [0, 1, 0])
    assert numbered(pl.DataFrame({"a": ["x", None, "x"]}), ["a"]).to_list() == [0, 1, 0]
    pairs = with_choices(pl.DataFrame({"left": ["b", "a"], "right": ["a", None]}))
    assert pairs.select("_first", "_second").rows() == [("a", "b"), (None, None)]
