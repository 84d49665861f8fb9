"""What the item table adds to results that do not say it themselves."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import karat
from karat.messages import Message
from karat.study.results import with_study
from karat.study.study import load
from study.studies import RATING, rating_items, write_study


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
    assert "function" in [note.values["column"] for note in notes if note.code == "results.from_items"]


def test_the_scale_is_that_of_the_study(tmp_path: Path) -> None:
    study = load(write_study(tmp_path))
    filled, notes = with_study(karat.Judgments(results(study), karat.Ordinal(5)), study)
    assert filled.scale == karat.Ordinal(5, neutral=3)
    assert notes == [Message("results.scale", {"file": "study.toml", "kind": "ordinal", "answers": "1, 2, 3, 4, 5"})]


def test_results_of_another_study_are_noticed(tmp_path: Path) -> None:
    study = load(write_study(tmp_path))
    other = results(study).with_columns(item="other " + pl.col("item"))
    _, notes = with_study(karat.Judgments(other, karat.Ordinal(5, neutral=3)), study)
    assert [note.code for note in notes] == ["results.other_items"]


def test_reading_notes_stay_with_the_results(tmp_path: Path) -> None:
    study = load(write_study(tmp_path))
    read = karat.Judgments(results(study), karat.Ordinal(5))
    read.notes = (Message("crowdkit.unanswered_tasks", {"n": 2}),)
    filled, _ = with_study(read, study)
    assert filled.notes[0] == read.notes[0]


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


TWO_SCALES = """
[[block]]
name = "reading"
task = "yes-no"
items = "more.csv"
"""
MORE = "item,function,sentence,expected\n" + "".join(f"y{i},attention,Sentence {i}.,yes\n" for i in range(6))


def test_each_block_has_its_own_scale(tmp_path: Path) -> None:
    named = RATING.replace("[[block]]", '[[block]]\nname = "rating"').replace("[order]", TWO_SCALES + "[order]")
    study = load(write_study(tmp_path, named, items=rating_items(), more=MORE))
    frame = pl.DataFrame({"item": ["k0", "k6", "y0", "y1"], "response": ["5", "1", "yes", "no"]})
    frame = frame.with_columns(participant=pl.lit("p1"), block=pl.Series(["rating", "rating", "reading", "reading"]))
    mixed = karat.Nominal(["1", "5", "yes", "no"])
    for bare in (frame, frame.drop("block"), frame.rename({"block": "question"})):
        scales = dict.fromkeys(["rating", "reading"], mixed) if "question" in bare.columns else mixed
        filled, notes = with_study(karat.Judgments(bare, scales), study)
        assert filled.scales == {block.name: block.scale for block in study.blocks}
        assert filled.frame["question"].to_list() == ["rating", "rating", "reading", "reading"]
        (scales_note,) = [note for note in notes if note.code == "results.scales"]
        assert scales_note.values["scales"]["rating"].startswith("ordinal")
    unknown = frame.drop("block").with_columns(item=pl.lit("nowhere"), trial=pl.int_range(1, 5))
    filled, notes = with_study(karat.Judgments(unknown, mixed), study)
    assert filled.scale == mixed
    assert notes[-1].code == "results.unknown_blocks"


CHOICE = """title = "Choices"
[[block]]
task = "choice"
items = "items.csv"
[recruitment]
participants = 8
"""
PAIRS = "item,function,sentence,sentence_2,expected\n" + "".join(
    f"a{i},{'attention' if i < 4 else 'test'},Good {i}.,Bad {i}.,{1 if i < 4 else ''}\n" for i in range(8)
)


def test_right_choices_follow_the_sides(tmp_path: Path) -> None:
    study = load(write_study(tmp_path, CHOICE, items=PAIRS))
    frames = [study.questionnaire(1, name).frame.with_columns(participant=pl.lit(name)) for name in ("p1", "p2", "p3")]
    whole = pl.concat(frames).with_columns(response=pl.lit("left"))
    assert whole["expected"].drop_nulls().n_unique() == 2
    bare = whole.select("participant", "trial", "item", "left", "right", "response")
    filled, _ = with_study(karat.Judgments(bare, karat.Choice()), study)
    assert filled.frame["expected"].to_list() == whole["expected"].to_list()
    blind, _ = with_study(karat.Judgments(bare.drop("left", "right"), karat.Choice()), study)
    assert "expected" not in blind.frame.columns


def test_what_the_results_say_already_is_not_reported(tmp_path: Path) -> None:
    items = "item,sentence\n" + "".join(f"t{i},Sentence {i}.\n" for i in range(4))
    study = load(write_study(tmp_path, CHOICE.replace("choice", "likert"), items=items))
    frame = {"participant": ["p1"], "item": ["t1"], "response": ["4"]}
    assert with_study(karat.Judgments(frame, study.blocks[0].scale), study)[1] == []
