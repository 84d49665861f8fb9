"""The accounts of controls side by side."""

from __future__ import annotations

import polars as pl

import karat
from karat.messages import Message, render, render_all
from karat.screen.criteria.controls import COMPARED, compare_accounts, controls, not_ratings
from messages import raises

LIKERT = karat.datasets.load("likert")


def test_each_row_is_what_the_account_says_alone() -> None:
    table = compare_accounts(LIKERT, alpha=0.01)
    assert table["account"].to_list() == list(COMPARED)
    usual = controls(LIKERT, alpha=0.01)
    for row in table.head(5).to_dicts():
        alone = controls(LIKERT, alpha=0.01, **COMPARED[row["account"]])
        assert row["flagged"] == len(alone.flagged)
        assert row["guess_probability"] == alone.participants["guess_probability"].max()
        assert row["only_here"].split() == [one for one in alone.flagged if one not in usual.flagged]
        assert row["only_positional"].split() == [one for one in usual.flagged if one not in alone.flagged]
        assert row["notes"] == " ".join(render_all(alone.notes))
        assert row["why_not"] is None


def test_who_changes_with_the_published_rule() -> None:
    row = compare_accounts(LIKERT).row(1, named=True)
    assert row["only_here"] or row["only_positional"]
    assert compare_accounts(LIKERT).row(0, named=True)["only_here"] == ""


def test_what_cannot_run_has_the_reason_and_nothing_else() -> None:
    row = compare_accounts(LIKERT).row(5, named=True)
    assert row.pop("why_not") == str(Message("pairs.nobody_saw_one"))
    assert row == {"account": "pairwise"} | dict.fromkeys(
        ["flagged", "guess_probability", "only_here", "only_positional", "notes"]
    )


def test_choices_have_two_accounts() -> None:
    frame = {
        "participant": ["p1"] * 8 + ["p2"] * 8, "item": list("abcdefgh") * 2, "left": ["a"] * 16, "right": ["b"] * 16,
        "function": ["control"] * 16, "expected": ["left"] * 16, "response": ["left"] * 8 + ["right"] * 8,
    }  # fmt: skip
    table = compare_accounts(karat.Judgments(frame, karat.Choice()))
    assert table["flagged"].to_list() == [1, None, None, None, None, 1]
    assert table["why_not"][1] == str(not_ratings("positional published"))
    german = compare_accounts(karat.Judgments(frame, karat.Choice()), language="de")
    assert german["why_not"][1] == render(not_ratings("positional published"), "de") != table["why_not"][1]


def test_magnitudes_have_pairs_only() -> None:
    frame = {
        "participant": ["p1"] * 12, "item": [f"i{n}" for n in range(12)], "function": ["control"] * 12,
        "status": ["grammatical", "ungrammatical"] * 6, "pair": [f"pair{n // 2}" for n in range(12)],
        "expected": ["50-100", "1-49"] * 6, "response": ["20", "70"] * 6,
    }  # fmt: skip
    table = compare_accounts(karat.Judgments(frame, karat.Magnitude()))
    assert table["flagged"].to_list() == [None] * 5 + [1]
    assert table.row(5, named=True)["only_here"] is None
    assert 'account = "pairwise"' in table["why_not"][0]


def test_no_controls_are_an_error() -> None:
    without = karat.Judgments(LIKERT.frame.filter(pl.col("function") != "control"), LIKERT.scales)
    with raises(karat.KaratError, "answers.no_trials"):
        compare_accounts(without)
