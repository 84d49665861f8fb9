"""The codebook: every column is there, with meaning, values and missing cells, and no value names a person."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import karat
from karat.judgments import Judgments
from karat.judgments.columns import COLUMNS
from karat.report.archive_documents import codebook
from karat.simulate import answer_study
from karat.study.study import load


def row(book: pl.DataFrame, table: str, column: str) -> dict[str, object]:
    return book.row(by_predicate=(pl.col("table") == table) & (pl.col("column") == column), named=True)


def test_every_column_of_both_tables_has_a_row() -> None:
    likert = karat.datasets.load("likert")
    book = codebook(likert)
    assert book.filter(pl.col("table") == "judgments")["column"].to_list() == likert.frame.columns
    assert book.filter(pl.col("table") == "participants")["column"].to_list() == likert.participants.columns
    for name in likert.frame.columns:
        result = row(book, "judgments", name)
        assert result["missing"] == likert.frame[name].null_count()
        assert result["rows"] == likert.frame.height
        assert name not in COLUMNS or result["meaning"] == COLUMNS[name].meaning


def test_a_study_explains_factors_questions_and_labels(root: Path) -> None:
    study = load(root / "examples" / "likert")
    book = codebook(answer_study(study, 8, seed=1), study)
    assert row(book, "judgments", "position")["meaning"] == "a factor of the design"
    assert row(book, "judgments", "position")["values"] == "before the verb, after the verb"
    assert "entirely unnatural" in str(row(book, "judgments", "response")["values"])
    assert "How old are you?" in str(row(book, "participants", "age_group")["meaning"])
    assert book.filter(pl.col("meaning") == "")["column"].to_list() == ["behaviour"]


def test_several_questions_have_their_scales() -> None:
    frame = {"participant": ["a", "a"], "item": ["x", "x"], "question": ["good", "kind"], "response": [1, "red"]}
    frame["response"] = ["1", "red"]
    scales = {"good": karat.Ordinal(3), "kind": karat.Nominal(["red", "blue"])}
    values = str(row(codebook(Judgments(frame, scales)), "judgments", "response")["values"])
    assert values == "good: ordinal: 1, 2, 3; kind: nominal: red, blue"


@pytest.mark.parametrize("column", ["comment", "person", "email", "platform_id"])
def test_values_that_may_name_a_person_are_not_listed(column: str) -> None:
    people = {"participant": ["a", "b", "c"], column: ["secret", "secret", "other"], "group": ["x", "x", "y"]}
    judged = Judgments({"participant": ["a"], "item": ["t"], "response": [1]}, karat.Ordinal(3), people)
    book = codebook(judged)
    assert row(book, "participants", column)["values"] == ""
    assert row(book, "participants", "participant")["values"] == ""
    assert row(book, "participants", "group")["values"] == "x, y"


def test_values_that_are_all_different_are_only_counted() -> None:
    people = {"participant": ["a", "b", "c"], "wrote": ["one", "two", "three"], "age": [20, 31, None]}
    judged = Judgments({"participant": ["a"], "item": ["t"], "response": [1]}, karat.Ordinal(3), people)
    book = codebook(judged)
    assert row(book, "participants", "wrote")["values"] == "3 different values"
    assert row(book, "participants", "age")["values"] == "20 to 31"
    assert row(book, "participants", "age")["missing"] == 1
