"""What results show in a notebook."""

from __future__ import annotations

import re
from typing import Any

import polars as pl
import pytest

import karat
from karat.errors import KaratError
from karat.jupyter import ROWS, NotebookDisplay, as_html, drawn, in_words
from karat.measure import Agreement, Consensus, Contrasts, Decisions, Factors, Strengths
from karat.screen import (
    Composition,
    EffectsBeforeAfter,
    Evidence,
    Gold,
    Multiverse,
    Screening,
    SourceComparison,
    SourceEffect,
    SpammerIndex,
)
from karat.simulate import Power


def test_results_show_words_table_and_figure() -> None:
    likert = karat.datasets.load("likert")
    found = karat.measure.strengths(likert, "mean")
    page = found._repr_html_()
    assert page.index("Estimates of") < page.index("<table") < page.index("<svg")
    assert page.count("<svg") == page.count("</svg>") == 1


def test_a_screening_shows_its_flow() -> None:
    screening = karat.screen.run(karat.datasets.load("likert"), {"completion": {}, "exclude": "any"})
    page = screening._repr_html_()
    assert screening.flow() in page
    assert "1 of 48 participants excluded (rule: any)." in page


def test_judgments_show_their_summary_and_rows() -> None:
    likert = karat.datasets.load("likert")
    page = likert._repr_html_()
    assert "48 participants, 75 items, 3,566 answers" in page
    assert "<svg" not in page
    assert page.count("<tr>") <= ROWS + 3


@pytest.mark.parametrize(
    "kind",
    [
        karat.Judgments, Evidence, Screening, Strengths, Decisions, Contrasts, Agreement, Factors, Consensus, Power,
        Composition, EffectsBeforeAfter, Gold, Multiverse, SourceComparison, SourceEffect, SpammerIndex,
    ],
)  # fmt: skip
def test_these_show_themselves(kind: type) -> None:
    assert issubclass(kind, NotebookDisplay)
    if kind not in (karat.Judgments, Screening):
        assert [name for name in ("table", "tables", "messages", "to_dict") if not hasattr(kind, name)] == []


def test_a_prompt_shows_what_print_shows() -> None:
    found = karat.screen.completion(karat.datasets.load("likert"))
    assert repr(found) == str(found) == "completion: 1 of 48 participants flagged."


class Result(NotebookDisplay):
    def __init__(self, error: Exception) -> None:
        self.error = error

    def table(self) -> pl.DataFrame:
        return pl.DataFrame({"reason": ["<script>alert(1)</script>"]})

    def plot(self) -> Any:
        raise self.error

    def __str__(self) -> str:
        return "a < b & c"


def test_texts_are_no_markup() -> None:
    page = Result(KaratError("<b>no</b>"))._repr_html_()
    assert "<script" not in page
    assert "<b>" not in page
    assert "<p>a &lt; b &amp; c</p>" in page


def test_undrawable_figure_is_reported_faults_are_not_hidden() -> None:
    assert drawn(Result(KaratError("one stimulus is no line."))) == "<p>No figure: one stimulus is no line.</p>"
    with pytest.raises(ZeroDivisionError):
        drawn(Result(ZeroDivisionError()))
    assert drawn(object()) == ""


def test_tables_have_all_columns_and_no_cut_texts() -> None:
    wide = pl.DataFrame({f"column {n}": ["x" * 200] for n in range(30)})
    page = as_html(wide)
    assert len(re.findall("<th>column", page)) == 30
    assert "x" * 200 in page


def test_words_are_paragraphs() -> None:
    assert in_words("") == ""
    assert in_words("one\n\ntwo") == "<p>one</p>\n<p>two</p>"
