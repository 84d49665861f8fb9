"""What the item table adds to results that do not say it themselves."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import karat
from karat.study.results import with_study
from karat.study.study import load
from study.studies import write_study


def results(study: karat.study.Study) -> pl.DataFrame:
    """Everybody of four answers the questionnaire of their list; the results have all the columns."""
    parts = []
    for number in range(1, 5):
        frame = study.questionnaire(number, f"p{number}").frame
        parts.append(frame.with_columns(participant=pl.lit(f"p{number}"), response=pl.lit("4")))
    return pl.concat(parts)


def test_missing_columns_come_from_the_item_table(tmp_path: Path) -> None:
    study = load(write_study(tmp_path))
    whole = results(study)
    bare = whole.select("participant", "item", "response", "trial", "order", "integration")
    filled, notes = with_study(karat.Judgments(bare, karat.Ordinal(5)), study)
    for name in ("function", "status", "expected", "subgroup", "pair"):
        assert filled.frame[name].to_list() == whole[name].to_list(), name
    assert len(filled) == len(bare)
    assert any(note.startswith("function is taken from the item table") for note in notes)


def test_the_scale_is_that_of_the_study(tmp_path: Path) -> None:
    study = load(write_study(tmp_path))
    filled, notes = with_study(karat.Judgments(results(study), karat.Ordinal(5)), study)
    assert filled.scale == karat.Ordinal(5, neutral=3)
    assert notes == ["The scale is that of study.toml: ordinal, 1, 2, 3, 4, 5."]


def test_nothing_that_the_results_say_is_replaced(tmp_path: Path) -> None:
    study = load(write_study(tmp_path))
    own = results(study).with_columns(status=pl.lit("marked"))
    filled, _ = with_study(karat.Judgments(own, study.blocks[0].scale), study)
    assert filled.frame["status"].unique().to_list() == ["marked"]


def test_items_that_the_study_does_not_know_stay_as_they_are(tmp_path: Path) -> None:
    study = load(write_study(tmp_path))
    frame = {"participant": ["p1", "p1"], "item": ["k0", "unknown"], "response": ["1", "2"]}
    filled, _ = with_study(karat.Judgments(frame, study.blocks[0].scale), study)
    assert filled.frame["function"].to_list() == ["control", "test"]
    assert filled.frame["expected"].to_list() == ["4-5", None]
