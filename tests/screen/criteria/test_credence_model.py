"""Judgments as the model of credence looks at them: practice out, keys in, each answer as content and as button."""

from __future__ import annotations

import numpy as np
import polars as pl

import karat
from karat.messages import Message
from karat.screen.credence_model import crowd_trials
from screen.judged import crowd

LIKERT = karat.datasets.load("likert")


def test_practice_is_left_out_and_controls_are_marked() -> None:
    looked = crowd_trials(LIKERT)
    rows = LIKERT.frame.filter(pl.col("function") != "practice", pl.col("response").is_not_null())
    assert int(looked.trials.answered.sum()) == rows.height
    assert int(looked.keyed.sum()) == rows.filter(pl.col("function").is_in(["control", "attention"])).height
    assert looked.numbers[looked.trials.parts[0].there].min() >= rows["trial"].min()  # type: ignore[operator]
    (part,) = looked.trials.parts
    assert part.key is not None
    assert set(part.key[np.isfinite(part.key)]) <= {0.0, 0.5, 3.5, 4.0}


def test_what_is_under_test_is_reported_from_the_rest() -> None:
    (part,) = crowd_trials(LIKERT).trials.parts
    rows = LIKERT.frame.filter(pl.col("function") != "practice", pl.col("response").is_not_null())
    assert part.tested is not None
    assert int(part.tested[part.item[part.there]].sum()) == rows.filter(pl.col("function") == "test").height
    # With tests alone, and with a few controls beside them, nothing is distinguished.
    fewer = rows.filter((pl.col("function") == "test") | (pl.col("function") == "attention"))
    assert fewer.filter(pl.col("function") != "test").height < fewer.height / 4
    for some in (fewer, rows.filter(pl.col("function") == "test")):
        assert crowd_trials(karat.Judgments(some, LIKERT.scales)).trials.parts[0].tested is None


def test_reversed_scale_has_other_buttons() -> None:
    judgments = crowd(karat.Ordinal(5))
    turned = judgments.frame.with_columns(polarity=pl.when(pl.col("trial") % 2 == 0).then(-1).otherwise(1))
    (part,) = crowd_trials(karat.Judgments(turned, judgments.scales)).trials.parts
    assert (part.button[:, ::2] == part.content[:, ::2]).all()
    assert (part.button[:, 1::2] == 4 - part.content[:, 1::2]).all()


def test_choices_are_of_items_and_buttons_are_sides() -> None:
    judgments = crowd(karat.Choice(none=True))
    (part,) = crowd_trials(judgments).trials.parts
    rows = judgments.frame.with_columns(
        chosen=pl.when(pl.col("response") == "left").then("left").when(pl.col("response") == "right").then("right")
    )
    first = rows["chosen"].str.starts_with("a").to_numpy()
    assert (part.levels, part.items) == (3, 30)
    expected = [1 if chosen is None else 0 if chosen else 2 for chosen in first]
    assert part.content.ravel().tolist() == expected
    sides = rows["response"].replace_strict({"left": 0, "right": 1, "none": 2}).to_list()
    assert part.button.ravel().tolist() == sides


def test_magnitudes_are_classes_of_about_the_same_size() -> None:
    looked = crowd_trials(crowd(karat.Magnitude()))
    (part,) = looked.trials.parts
    sizes = np.bincount(part.content.ravel())
    assert len(sizes) == part.levels == 7
    assert sizes.max() - sizes.min() <= 3
    assert looked.notes == (Message("credence.classes", {"scale": "magnitude", "classes": 7}),)


def test_labels_have_no_order() -> None:
    (part,) = crowd_trials(crowd(karat.Nominal(["a", "b", "c"]))).trials.parts
    assert not part.ordered
    assert part.levels == 3


def test_choices_whose_sides_are_not_named_are_of_sides() -> None:
    judgments = crowd(karat.Choice())
    empty = pl.lit(None, dtype=pl.String)
    named = judgments.frame.with_columns(left=empty, right=empty)
    (part,) = crowd_trials(karat.Judgments(named, judgments.scales)).trials.parts
    assert part.items == 30
    assert (part.content == part.button).all()


def test_keys_turn_with_answers_and_contradictions_are_none() -> None:
    judgments = crowd(karat.Ordinal(5))
    control = pl.col("item").is_in(["i00", "i01"])
    frame = judgments.frame.with_columns(
        polarity=pl.when(pl.col("item") == "i00").then(-1).when(pl.col("participant") == "p00").then(-1).otherwise(1),
        function=pl.when(control).then(pl.lit("control")).otherwise(pl.lit("test")),
        expected=pl.when(control).then(pl.lit("5")),
    )
    (part,) = crowd_trials(karat.Judgments(frame, judgments.scales)).trials.parts
    assert part.key is not None
    # Of one stimulus 5 was shown where 1 is; the other was shown both ways round with the same answer asked for.
    assert part.key[np.isfinite(part.key)].tolist() == [0.0]
