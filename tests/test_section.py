"""Pieces of a report as data: how numbers and columns are shown."""

from __future__ import annotations

import hypothesis.strategies as st
import polars as pl
from hypothesis import given

from karat.section import Section, Table

TABLE = Table("t", "T", pl.DataFrame({"p": [0.5], "x": [1.0]}), headings={"x": "size"}, digits={"x": 1})


@given(st.floats(0, 1))
def test_probability_has_no_leading_zero_and_is_never_zero(value: float) -> None:
    result = TABLE.cell("p", value)
    assert not result.startswith("0")
    assert result not in (".000", "1.000")
    assert (result == "> .999") == (value >= 0.9995)
    if result[0] == ".":
        assert abs(float(result) - value) <= 0.0005 + 1e-12


@given(st.floats(-0.049, 0.049))
def test_there_is_no_negative_zero(value: float) -> None:
    assert TABLE.cell("x", value) == "0.0"


def test_cells_of_other_kinds() -> None:
    assert [TABLE.cell("x", value) for value in (None, float("nan"), True, 1234, 1234.56, "a")] == [
        "", "", "yes", "1,234", "1,234.6", "a"
    ]  # fmt: skip
    assert (TABLE.heading("x"), TABLE.heading("switch_trial")) == ("size", "switch trial")


def test_a_section_is_walked_in_reading_order() -> None:
    inner = Section("b", "B", sections=(Section("c", "C"),))
    assert [one.key for one in Section("a", "A", sections=(inner, Section("d", "D"))).walk()] == ["a", "b", "c", "d"]
