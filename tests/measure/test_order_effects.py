"""Order effects: slopes that were put in are found, in their unit, for answers and for times."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import karat
from karat.measure.effects.order_effects import OrderEffects, order_effects
from karat.messages import Message
from measure.factorial import frame, rated
from messages import codes, raises


def satiated(high: float, low: float, time: float = 0.0, people: int = 40, seed: int = 1) -> pl.DataFrame:
    """Answers that change by so much over ten trials, by condition a, and times that change by a logarithm."""
    random = np.random.default_rng(seed)
    table = frame(people, 32, seed=seed, a=1.0)
    slope = np.where((table["a"] == "high").to_numpy(), high, low) / 10
    position = table["trial"].to_numpy() - 16.5
    rt = np.exp(1.0 + time / 10 * position + 0.3 * random.normal(size=table.height))
    return table.with_columns(pl.col("latent") + pl.Series(slope * position), rt=pl.Series(rt))


@pytest.mark.few(1)
@pytest.mark.parametrize("scale", [karat.Continuous(), karat.Ordinal(5), karat.Binary()], ids=lambda scale: scale.kind)
def test_slopes_that_were_put_in_are_found(scale: Any) -> None:
    found = order_effects(rated(satiated(0.0, 0.6, -0.1), scale), by=["a"])
    slopes = {(row["measure"], row["condition"]): row for row in found.frame.to_dicts()}
    for key, truth in {("response", "high"): 0.0, ("response", "low"): 0.6, ("rt", "high"): -0.1}.items():
        assert slopes[key]["change"] == pytest.approx(3.1 * truth, abs=3 * slopes[key]["se"]), key
    assert set(found.frame.select("first", "last").rows()) == {(1, 32)}
    crossed = found.tests.filter(measure="response", term="condition:trial")
    assert crossed["p"].item() < 0.01
    assert codes(found.summary)[:5] == ["order.change", "order.change", "order.unit", "order.adjusted", "order.differ"]
    assert codes(found.summary)[5:7] == ["order.time_change"] * 2
    assert found.summary[1].values["change"] == slopes["response", "low"]["change"]
    percent = 100 * np.expm1(slopes["rt", "high"]["change"])
    assert found.summary[5].values["change"] == pytest.approx(percent)


def test_slope_is_that_of_plain_regression() -> None:
    """Without participant and item effects the model is least squares, condition by condition."""
    table = satiated(0.3, 0.8).with_columns(pl.lit(0.0).alias("latent"))
    judgments = rated(table, karat.Continuous())
    found = order_effects(judgments, by="a")
    for level in ("high", "low"):
        part = judgments.frame.filter(a=level)
        plain = np.polyfit(part["trial"].to_numpy(), part["response"].cast(float).to_numpy(), 1)[0]
        row = found.frame.filter(measure="response", condition=level)
        assert row["change"].item() == pytest.approx(31 * plain, abs=0.4 * row["se"].item())


def test_all_together_and_by_two_columns() -> None:
    judgments = rated(satiated(0.5, 0.5), karat.Continuous())
    whole = order_effects(judgments, by=[])
    assert whole.frame["condition"].to_list() == ["all", "all"]
    assert whole.frame["change"][0] == pytest.approx(3.1 * 0.5, abs=3 * whole.frame["se"][0])
    assert whole.tests["term"].to_list() == ["trial", "trial"]
    assert whole.frame["p"][0] == pytest.approx(whole.tests["p"][0], rel=1e-6)
    both = order_effects(judgments)
    assert both.by == ("a", "b")
    assert both.frame.filter(measure="response")["condition"].to_list() == [
        "high, new", "high, old", "low, new", "low, old",
    ]  # fmt: skip
    flat = order_effects(rated(satiated(0.0, 1.0), karat.Continuous()))
    clear = flat.frame.filter(pl.col("measure") == "response", pl.col("adjusted") < 0.05)["condition"].to_list()
    said = [message for message in flat.summary if message.code in ("order.change", "order.unchanged")]
    assert [message.values.get("condition") for message in said] == [*clear, None]
    assert said[-1].values["n"] == 4 - len(clear) > 0


def test_unrecorded_order_is_refused_and_can_be_stated() -> None:
    table = satiated(0.0, 0.5).sort("participant", "trial")
    with_trial = order_effects(rated(table, karat.Continuous()), by="a")
    judgments = rated(table, karat.Continuous())
    unordered = karat.Judgments(judgments.frame.drop("trial"), karat.Continuous())
    with raises(karat.measure.MeasureError, "order.needed"):
        order_effects(unordered, by="a")
    without = order_effects(unordered.with_row_order(), by="a")
    assert without.frame["change"].to_list() == pytest.approx(with_trial.frame["change"].to_list(), abs=1e-8)


def choices(**columns: Any) -> karat.Judgments:
    random = np.random.default_rng(2)
    who, what = np.divmod(np.arange(200), 20)
    table = {
        "participant": who.astype(str), "left": np.char.add("x", what.astype(str)), "right": ["y"] * 200,
        "item": np.char.add("i", what.astype(str)), "response": random.choice(["left", "right"], 200),
        "trial": random.permuted(np.tile(np.arange(1, 21), (10, 1)), axis=1).ravel(),
    }  # fmt: skip
    return karat.Judgments(table | columns, karat.Choice())


def test_choices_have_times_alone() -> None:
    found = order_effects(choices(rt=np.exp(np.random.default_rng(1).normal(size=200))), by=[])
    assert found.frame["measure"].to_list() == ["rt"]
    assert "order.no_order" in codes(found.notes)
    with raises(karat.measure.MeasureError, "order.nothing"):
        order_effects(choices(), by=[])


def test_a_condition_without_times_leaves_the_answers() -> None:
    likert = karat.datasets.load("likert")
    untimed = likert.frame.with_columns(rt=pl.when(pl.col("order") == "OBJ>PP").then("rt"))
    found = order_effects(karat.Judgments(untimed, likert.scales), by="order")
    assert set(found.frame["measure"]) == {"response"}
    assert Message("order.untimed", {"conditions": ["PP>OBJ"]}) in found.notes


def test_what_is_wrong_is_named() -> None:
    judgments = rated(frame(4, 8), karat.Continuous())
    with raises(karat.measure.MeasureError, "unknown.column"):
        order_effects(judgments, by="itme")
    with raises(karat.measure.MeasureError, "setting.refused", setting="level"):
        order_effects(judgments, level=1.0)


def test_the_simplified_model_is_reported() -> None:
    found = order_effects(rated(satiated(0.0, 0.0), karat.Continuous()), by="a")
    assert isinstance(found, OrderEffects)
    assert "order.simplified" in codes(found.notes)
    assert found.warnings == ()
    assert found.table().equals(found.frame)


@pytest.mark.slow
def test_slopes_are_right_on_average_and_so_are_their_errors() -> None:
    away = []
    for seed in range(40):
        found = order_effects(rated(satiated(0.2, 0.5, seed=seed), karat.Ordinal(5), seed + 100), by="a")
        rows = found.frame.filter(measure="response")
        away.append((rows["change"].to_numpy() - np.array([0.62, 1.55])) / rows["se"].to_numpy())
    assert np.abs(np.mean(away, axis=0)).max() < 0.5
    assert 0.7 < np.std(away, axis=0).min() <= np.std(away, axis=0).max() < 1.4


def test_two_labels_are_drawn_as_yes_and_no() -> None:
    crowd = karat.simulate.crowd(12, 20)
    labels = karat.Judgments(crowd.frame.drop("expected"), karat.Nominal(["0", "1"]))
    found = order_effects(labels)
    assert found.frame["measure"].to_list() == ["response", "rt"]
    assert len(found.plot().axes) == 2


def test_a_change_is_over_trials_that_were_seen() -> None:
    """Four trials of each participant, and two of one who left early: nothing is said of a fifth."""
    table = satiated(0.0, 0.5).filter(pl.col("trial") <= 4)
    early = (pl.col("participant") == table["participant"][0]) & (pl.col("trial") > 2)
    found = order_effects(rated(table.filter(~early), karat.Continuous()), by=[])
    assert set(found.frame.select("first", "last").rows()) == {(1, 4)}
    assert (found.summary[0].values["first"], found.summary[0].values["last"]) == (1, 4)


def test_a_mean_of_one_participant_has_no_interval() -> None:
    found = order_effects(rated(satiated(0.0, 0.5, people=3), karat.Continuous()))
    alone = found.answers["participant"].min()
    means = replace(found, answers=found.answers.filter(pl.col("participant") == alone)).stretches("response")
    assert set(means["participants"]) == {1}
    assert means["lower"].null_count() == means["upper"].null_count() == means.height
