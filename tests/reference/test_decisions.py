"""Decisions beside the published table and the truth of simulated choices: ../shared/reference/pairs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat
from karat.measure import compare_decisions, decisions
from karat.measure.pairs.decisions import COLUMNS
from messages import raises

PAIRS = [(str(pair), f"i{2 * pair - 1:03d}", f"i{2 * pair:03d}") for pair in range(1, 151)]


def test_the_published_disagreements_are_found_again(reference: Path) -> None:
    table = pl.read_csv(reference / "pairs" / "disagreements.csv")
    names = table.columns[2:]
    pairs = table["pair_id"].cast(pl.String).to_list()
    found = compare_decisions({name: dict(zip(pairs, table[name], strict=True)) for name in names})
    assert found.table()["pair"].to_list() == pairs
    # Checks, crosses and tildes as they are printed, measure by measure.
    assert [row[2:] for row in found.counts.rows()] == [
        (0, 14, 5), (0, 13, 6), (1, 12, 6), (5, 1, 13), (5, 0, 14), (2, 0, 17),
    ]  # fmt: skip
    assert found.table().row(by_predicate=pl.col("pair") == "56")[1:] == ("×", "×", "~", "✓", "✓", "✓")
    between_measures = found.agreement.filter(pl.col("first") == names[0], pl.col("second") == names[3])
    assert between_measures["opposite"].item() == 3


def test_the_list_of_sentences_makes_pairs_by_number(reference: Path) -> None:
    """Pair 97 prints the same sentence twice, so that texts cannot be names."""
    sentences = pl.read_csv(reference / "pairs" / "sentences.csv")
    as_texts = sentences.rename(dict(zip(sentences.columns, COLUMNS, strict=True)))
    rated = {"participant": ["p1", "p2"], "item": ["x", "y"], "response": [1, 5]}
    with raises(karat.KaratError, "decisions.same_stimulus", pairs=["97"]):
        decisions(karat.Judgments(rated, karat.Ordinal(5)), as_texts)


@pytest.mark.slow
def test_decisions_by_thurstones_model_are_seldom_wrong(reference: Path) -> None:
    folder = reference / "pairs"
    choices = karat.read(
        folder / "thurstone_sim.csv", answers={"1": "left", "-1": "right", "0": "none"}, scale="choice:none"
    )
    truth = np.array(json.loads((folder / "thurstone_golden.json").read_text(encoding="utf-8"))["truth"]["alpha"])
    found = decisions(choices, PAIRS)
    assert found.settings["model"] == "thurstone"
    assert found.frame.height == 150
    better = truth[::2] > truth[1::2]
    wrong = [
        row["pair"] for row, right in zip(found.frame.to_dicts(), better, strict=True)
        if row["decision"] != "none" and (row["decision"] == "expert") != right
    ]  # fmt: skip
    assert wrong == []
    assert found.counts["none"] < 40
    # What is not decided is what hardly differs.
    size = np.abs(truth[::2] - truth[1::2])
    left = found.frame["decision"].to_numpy() == "none"
    assert size[left].max() < np.median(size[~left])
