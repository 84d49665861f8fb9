"""The picture of order effects: stretches of trials with means over participants."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat
from karat.measure.effects.order_effects import STRETCHES, order_effects
from karat.models.proportions import mean_interval
from measure.factorial import frame, rated
from messages import raises


def timed(seed: int = 1) -> pl.DataFrame:
    table = frame(24, 24, seed=seed)
    return table.with_columns(rt=pl.Series(np.exp(np.random.default_rng(seed).normal(1, 0.4, table.height))))


def test_stretches_are_means_of_participants_means() -> None:
    judgments = rated(timed(), karat.Continuous())
    cut = order_effects(judgments, by="a").stretches("response")
    assert cut.height == 2 * STRETCHES
    first = judgments.frame.filter(pl.col("trial") <= 4, pl.col("a") == "high")
    own = first.group_by("participant").agg(pl.col("response").cast(pl.Float64).mean())["response"].sort().to_numpy()
    row = cut.filter(condition="high").row(0, named=True)
    assert (row["mean"], row["lower"], row["upper"]) == pytest.approx(mean_interval(own))
    assert row["participants"] == len(own)


def test_times_are_averaged_as_logarithms() -> None:
    judgments = rated(timed(), karat.Continuous())
    cut = order_effects(judgments, by=[]).stretches("rt")
    first = judgments.frame.filter(pl.col("trial") <= 4)
    own = first.group_by("participant").agg(pl.col("rt").log().mean())["rt"]
    assert cut["mean"][0] == pytest.approx(float(np.exp(own.mean())))


def test_answers_and_times_stand_side_by_side() -> None:
    found = order_effects(rated(timed(), karat.Ordinal(5)), by="a")
    drawn = found.plot()
    assert [axes.get_ylabel().split(",")[0] for axes in drawn.axes] == ["mean answer", "response time (s)"]
    assert {text.get_text() for text in drawn.axes[0].texts} == {"high", "low"}
    assert drawn.get_suptitle() == "Answers show no clear change along the questionnaire"


@pytest.mark.slow
def test_the_title_says_what_changes() -> None:
    table = timed().with_columns(pl.col("latent") + 0.2 * pl.col("trial") * (pl.col("a") == "low"))
    found = order_effects(rated(table, karat.Continuous()), by="a")
    assert found.plot().get_suptitle().endswith("low rises")
    whole = order_effects(rated(table, karat.Continuous()), by=[])
    assert whole.plot().get_suptitle() == "Answers rise along the questionnaire"


def test_too_many_conditions_are_refused() -> None:
    table = timed().with_columns(c=(pl.col("trial") % 7).cast(pl.String))
    found = order_effects(rated(table, karat.Continuous()), by="c")
    with raises(karat.measure.MeasureError, "order.too_many_conditions"):
        found.plot()


def test_a_condition_without_times_is_left_out_of_their_panel() -> None:
    there = (pl.col("a") == "high") | (pl.col("b") == "new")
    table = timed().with_columns(rt=pl.when(there).then("rt"))
    drawn = order_effects(rated(table, karat.Continuous()), by=["a", "b"]).plot()
    assert [sum(len(line.get_xdata()) > 0 for line in axes.lines) for axes in drawn.axes] == [4, 3]
