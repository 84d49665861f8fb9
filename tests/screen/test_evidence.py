"""Evidence: reasons as codes and values, and the sentences that tables show."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.judgments.message_tables import render_column, with_reasons
from karat.messages import Message, render
from karat.screen.evidence import message_columns, reason_rows, round_beside, values_of
from messages import message_at

FIELDS = {"n": pl.Int64, "absent": pl.List(pl.String)}


def table(messages: list[Message | None], fields: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(message_columns(messages, fields)).with_row_index("participant")


@pytest.mark.parametrize("language", ["en", "de"])
def test_columns_render_as_single_messages_do(language: str) -> None:
    for evidence in (karat.screen.attention(karat.datasets.load("likert")), karat.screen.remfod(LIKERT), SPEED):
        rows = evidence.participants
        expected = [render(message_at(rows, row), language) for row in range(rows.height)]
        assert render_column(rows, language).to_list() == expected
        assert evidence.table(language)["reason"].sort().to_list() == sorted(expected)


LIKERT = karat.datasets.load("likert")
SPEED = karat.screen.speed(LIKERT, relative_below=0.5, share_of_expected=0.9, expected_minutes=20)


def test_missing_messages_empty_tables_and_optional_parts() -> None:
    rows = table(
        [
            Message("eligibility.as_required", {"n": 1, "absent": None}),
            None,
            Message("eligibility.as_required", {"n": 2, "absent": ["age", "language"]}),
        ],
        FIELDS,
    )
    lines = ["1 answer as required", None, "2 answers as required; no answer to age, language"]
    assert with_reasons(rows)["reason"].to_list() == lines
    empty = with_reasons(rows.clear())
    assert (empty.height, empty.schema["reason"]) == (0, pl.String)
    assert with_reasons(rows).columns == ["participant", "reason"]
    assert with_reasons(rows, beside=True).columns == ["participant", "reason", "message", "values"]
    own = pl.DataFrame({"participant": ["p1"], "reason": ["a sentence of another package"]})
    assert with_reasons(own).equals(own)


def test_a_message_among_values_is_rendered_in_the_same_language() -> None:
    fields = {"why": pl.Struct({"message": pl.String, "values": pl.Struct({"n": pl.Int64, "slips": pl.Int64})})}
    outer = Message("passing.nobody_judged", {"why": Message("passing.nothing_required", {"n": 2, "slips": 3})})
    rows = table([outer], fields)
    assert [with_reasons(rows, language)["reason"][0] for language in ("en", "de")] == [
        render(outer), render(outer, "de"),
    ]  # fmt: skip
    assert message_at(rows, 0) == outer
    assert reason_rows(rows) == [
        {
            "participant": 0, "reason": str(outer), "message": "passing.nobody_judged",
            "values": {"why": {"message": "passing.nothing_required", "values": {"n": 2, "slips": 3}}},
        }
    ]  # fmt: skip


def test_plain_data_has_no_missing_values() -> None:
    rows = table([Message("eligibility.as_required", {"n": 1})], FIELDS)
    assert reason_rows(rows)[0]["values"] == {"n": 1}
    own = pl.DataFrame({"participant": ["p1"], "score": [1.0], "reason": ["a sentence"]})
    assert reason_rows(own, ("reason",)) == [{"participant": "p1", "reason": "a sentence"}]


def test_values_have_the_types_that_are_asked_for() -> None:
    found = pl.select(values_of({"a": pl.Float64, "b": pl.String}, a=pl.lit(1)))
    assert found.schema["values"] == pl.Struct({"a": pl.Float64, "b": pl.String})
    assert found.item() == {"a": 1.0, "b": None}


@given(st.floats(0.001, 20), st.none() | st.floats(0.001, 20))
def test_rounding_keeps_the_side_of_the_cutoff(value: float, cutoff: float | None) -> None:
    found = pl.select(round_beside(pl.lit(value), pl.lit(cutoff, dtype=pl.Float64))).item()
    assert found == pytest.approx(value, abs=0.0051)
    if cutoff is not None:
        assert ((found < cutoff), (found > cutoff)) == ((value < cutoff), (value > cutoff))
