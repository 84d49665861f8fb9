"""The pictures of measures: what is drawn, where, and what they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.measure import MeasureError, compare_decisions, profiles
from karat.measure.effects.contrasts import contrasts
from karat.measure.effects.order_effects import STRETCHES, order_effects
from karat.measure.pairs.measure_correlations import compare_measures
from karat.measure.scaling.result import point_probabilities, thresholds_figure
from karat.measure.scaling.strengths import strengths
from karat.models.proportions import mean_interval
from karat.plots.style import to_svg
from measure.differential import differential
from measure.factorial import FORMULA, frame, rated
from measure.rated_items import ratings
from messages import codes, raises


def test_ranks_below_and_correlations_above_the_diagonal() -> None:
    measures = {"likert": {"a": 1, "b": 2, "c": 3, "d": 4}, "choice": {"a": 1, "b": 3, "c": 2, "d": 9}}
    found = compare_measures(measures, samples=100)
    drawn = found.plot()
    name, above, below, other = drawn.axes
    assert [axes.texts[0].get_text() for axes in (name, other)] == ["likert", "choice"]
    assert above.texts[0].get_text().startswith(".80 [")
    points = next(line for line in below.lines if line.get_marker() == "o")
    # The strongest, d, is first in both.
    assert list(zip(*(np.asarray(part).tolist() for part in points.get_data()), strict=True)) == [
        (4, 4), (3, 2), (2, 3), (1, 1),
    ]  # fmt: skip
    left, right = below.get_xlim()
    assert left > right
    assert drawn.get_suptitle().replace("\n", " ").startswith("likert and choice order 4 stimuli")


def test_too_many_measures_for_a_page() -> None:
    one = {"a": 1.0, "b": 2.0, "c": 3.0}
    found = compare_measures({f"m{place}": one for place in range(7)}, samples=0)
    with raises(MeasureError, "measures.too_many"):
        found.plot()


def test_symbols_stand_at_their_pair_and_measure() -> None:
    found = compare_decisions({"likert": {"1": "expert", "2": "none"}, "choice": {"1": "reverse", "2": "none"}})
    drawn = found.plot()
    (axes,) = drawn.axes
    assert [(text.get_position(), text.get_text()) for text in axes.texts] == [((0, 0), "✓"), ((1, 0), "×")]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["likert", "choice"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1"]
    assert drawn.get_suptitle() == "Measures differ on 1 of 2 pairs"
    assert "no difference found" in to_svg(drawn, "Decisions", "A table.")


def test_many_pairs_are_cut_and_the_cut_is_reported() -> None:
    pairs = [f"a rather long name of the pair with the number {number}" for number in range(80)]
    found = compare_decisions({"a": dict.fromkeys(pairs, "expert"), "b": dict.fromkeys(pairs, "none")})
    drawn = found.plot()
    assert len(drawn.axes[0].get_yticks()) == 60
    assert "(the first 60 are shown)" in drawn.get_suptitle().replace("\n", " ")
    assert all(len(label.get_text()) <= 40 for label in drawn.axes[0].get_yticklabels())


def test_measures_that_agree_have_an_empty_table() -> None:
    found = compare_decisions({"a": {"1": "expert"}, "b": {"1": "expert"}})
    assert not found.plot().axes[0].texts


RANDOM = "(1 | participant) + (1 | item)"


def test_two_factors_are_lines_with_their_names() -> None:
    found = contrasts(rated(frame(a=1.0, ab=2.0), karat.Ordinal(5)), FORMULA)
    drawn = found.plot()
    (axes,) = drawn.axes
    cells = found.means.filter(term="a:b")
    lines = [line for line in axes.lines if len(line.get_xdata()) == 2 and line.get_marker() in ("o", "D")]
    assert len(lines) == 2
    for line, level in zip(lines, ("new", "old"), strict=True):
        assert list(line.get_ydata()) == pytest.approx(cells.filter(b=level)["estimate"].to_list())
    texts = [text.get_text() for text in axes.texts]
    assert {"b: new", "b: old"} <= set(texts)
    assert any(text.startswith("answer ") for text in texts)
    assert drawn.get_suptitle().replace("\n", " ").startswith("The difference of a changes with b: ")
    assert axes.get_ylabel().startswith("logits of the latent scale")
    assert "b: new" in to_svg(drawn, "title", "words")


def test_one_factor_is_dots_and_names_the_difference() -> None:
    found = contrasts(rated(frame(a=1.0), karat.Continuous()), f"response ~ a + {RANDOM}")
    drawn = found.plot()
    (dots,) = (line for line in drawn.axes[0].lines if line.get_marker() == "o")
    assert dots.get_linestyle() == "None"
    assert drawn.get_suptitle().startswith("high minus low is ")


def test_three_factors_are_panels() -> None:
    table = frame(16, 16).with_columns(c=pl.when(pl.col("trial") % 2 == 0).then(pl.lit("u")).otherwise(pl.lit("v")))
    found = contrasts(rated(table, karat.Continuous()), f"response ~ a * b * c + {RANDOM}")
    drawn = found.plot()
    assert [axes.get_title("left") for axes in drawn.axes] == ["c: u", "c: v"]
    assert "is not shown to change with b and c" in drawn.get_suptitle().replace("\n", " ")


def test_names_of_lines_do_not_touch() -> None:
    found = contrasts(rated(frame(a=1.0), karat.Continuous()), FORMULA)
    (axes,) = found.plot().axes
    low, high = axes.get_ylim()
    places = sorted(text.xy[1] for text in axes.texts)
    assert np.diff(places).min() >= 0.05 * (high - low)


def test_what_cannot_be_drawn() -> None:
    found = contrasts(rated(frame(), karat.Continuous()), f"response ~ scale(trial) + {RANDOM}")
    with raises(karat.measure.MeasureError, "contrasts.no_factors"):
        found.plot()
    table = frame(16, 16).with_columns(c=(pl.col("trial") % 7).cast(pl.String))
    many = contrasts(rated(table, karat.Continuous()), f"response ~ a * c + {RANDOM}")
    with raises(karat.measure.MeasureError, "contrasts.too_many_levels"):
        many.plot()


def test_means_are_drawn_without_intervals() -> None:
    found = contrasts(rated(frame(), karat.Continuous()), FORMULA)
    bare = replace(found, means=found.means.with_columns(lower=np.nan, upper=np.nan))
    low, high = bare.plot().axes[0].get_ylim()
    assert low < bare.means["estimate"].min() < bare.means["estimate"].max() < high
    empty = replace(bare, means=bare.means.with_columns(estimate=np.nan))
    with raises(karat.measure.MeasureError, "contrasts.no_means"):
        empty.plot()


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


def test_a_line_for_each_group_named_where_it_begins() -> None:
    found = profiles(differential(), "source")
    drawn = found.plot(poles={"clear": ("unclear", "clear")})
    axes = drawn.axes[0]
    assert len(axes.lines) == 2
    assert {text.get_text() for text in axes.texts} == {"city", "country"}
    assert [label.get_text() for label in axes.get_yticklabels()][:2] == ["unclear", "precise"]
    assert axes.get_ylim() == (5.5, -0.5)
    assert "lie farthest apart on" in drawn.get_suptitle()
    assert found.plot(["city"]).get_suptitle() == "The profile of city on 6 pairs"
    assert "country</text>" in to_svg(drawn, "Profiles", "Two lines.")


def test_points_stand_at_the_means() -> None:
    found = profiles(differential(), "source")
    for line, group in zip(found.plot().axes[0].lines, found.groups, strict=True):
        means = [row["mean"] for row in found.frame.to_dicts() if row["group"] == group]
        assert list(line.get_xdata()) == pytest.approx(means)


def test_a_wide_interval_does_not_push_the_means_together() -> None:
    # By themselves, two ratings as different as those of b would have an interval many times as wide as the scale.
    ratings = {"participant": ["p1", "p2"] * 4, "item": [*"aaaabbbb"],
               "question": ["clear", "clear", "neat", "neat"] * 2,
               "response": [10.0, 12.0, 50.0, 52.0, 1.0, 99.0, 90.0, 92.0]}  # fmt: skip
    found = profiles(karat.Judgments(ratings, karat.Continuous(0, 100)))
    assert found.frame["upper"].max() == 100
    left, right = found.plot().axes[0].get_xlim()
    assert -50 < left < 10
    assert 90 < right < 150


def test_lines_that_are_not_all_say_so() -> None:
    found = profiles(differential())
    assert found.plot(list(found.groups[:3])).get_suptitle().startswith("Of the 3 shown, ")


def test_too_many_lines_and_unknown_groups_are_refused() -> None:
    found = profiles(differential())
    with raises(MeasureError, "profiles.lines", n=12):
        found.plot()
    with raises(MeasureError, "profiles.unknown_group"):
        found.plot(["t99"])
    assert len(found.plot(["t00", "t01"]).axes[0].lines) == 2


def test_every_stimulus_with_its_interval_the_strongest_on_top() -> None:
    found = strengths(ratings(), "mean")
    axes = found.plot().axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == found.labels
    (segments,) = axes.collections
    ends = np.array([segment[:, 0] for segment in segments.get_segments()])  # type: ignore[attr-defined]
    np.testing.assert_allclose(ends, found.frame.select("lower", "upper").to_numpy())
    bottom, top = axes.get_ylim()
    assert bottom > top
    assert axes.get_xlabel() == "points of the scale from 1 to 5, with 95 % intervals"


def test_many_stimuli_show_both_ends_and_say_the_rest() -> None:
    found = strengths(karat.datasets.load("likert"), "mean")
    drawn = found.plot()
    shown = [label.get_text() for label in drawn.axes[0].get_yticklabels()]
    assert shown == found.labels[:30] + found.labels[-30:]
    assert drawn.axes[0].texts[0].get_text() == "... 36 more between these ..."
    assert found.labels[0] in drawn.get_suptitle().replace("\n", " ")


def test_long_labels_are_cut() -> None:
    frame = ratings().frame
    long = karat.Judgments(frame.with_columns(item=frame["item"] + " " + "word " * 20), karat.Ordinal(5))
    labels = strengths(long, "mean").plot().axes[0].get_yticklabels()
    assert all(len(label.get_text()) == 40 and label.get_text().endswith("…") for label in labels)


def test_one_stimulus() -> None:
    one = ratings().frame.filter(ratings().frame["item"] == "i1")
    drawn = strengths(karat.Judgments(one, karat.Ordinal(5)), "mean").plot()
    assert drawn.get_suptitle().endswith(" i1")


def test_thresholds_stand_where_they_were_estimated() -> None:
    found = strengths(ratings(30, 10))
    drawn = thresholds_figure(found)
    above, below = drawn.axes
    dashed = [float(line.get_xdata()[0]) for line in above.lines if line.get_linestyle() == "--"  # type: ignore[index]
              and len(set(np.asarray(line.get_xdata()))) == 1]  # fmt: skip
    assert dashed == pytest.approx(found.fit.thresholds.tolist())
    texts = [text.get_text() for text in above.texts]
    assert f"1 | 2\n{found.fit.thresholds[0]:.2f}".replace("-", "−") in texts
    assert {"1", "2", "3", "4", "5"} <= set(texts)
    ticks = next(line for line in below.lines if line.get_marker() == "|")
    assert sorted(np.asarray(ticks.get_xdata())) == pytest.approx(sorted(found.frame["estimate"]))


def test_long_names_of_levels_are_not_written_at_thresholds() -> None:
    names = ["entirely bad", "rather bad", "neither", "rather good", "entirely good"]
    judgments = ratings()
    named = judgments.frame.with_columns(judgments.frame["response"].replace_strict(list("12345"), names))
    found = strengths(karat.Judgments(named, karat.Ordinal(names)))
    texts = [text.get_text() for text in thresholds_figure(found).axes[0].texts]
    assert f"{found.fit.thresholds[0]:.2f}".replace("-", "−") in texts
    assert "entirely good" in texts


def test_other_models_have_no_thresholds() -> None:
    with raises(MeasureError, "strengths.no_thresholds"):
        thresholds_figure(strengths(ratings(), "mean"))


@given(st.lists(st.floats(-6, 6), min_size=1, max_size=6, unique=True), st.floats(-8, 8))
def test_probabilities_of_points(thresholds: list[float], at: float) -> None:
    cuts = np.sort(thresholds)
    (found,) = point_probabilities(np.array([at]), cuts)
    assert found.sum() == pytest.approx(1)
    slow = [1 / (1 + np.exp(at - cut)) for cut in cuts]
    assert found[0] == pytest.approx(slow[0])
    assert found[-1] == pytest.approx(1 - slow[-1])
    assert (found >= 0).all()


def test_stimuli_that_do_not_differ() -> None:
    """Every stimulus has the same answers, from other people: the variance is zero, and so is every strength."""
    who, what = np.divmod(np.arange(360), 20)
    table = {"participant": who.astype(str), "item": what.astype(str), "response": (who + what) % 3 + 1}
    found = strengths(karat.Judgments(table, karat.Ordinal(3)))
    assert found.frame["estimate"].to_numpy() == pytest.approx(0, abs=1e-3)
    assert found.frame["se"].null_count() == found.frame["upper"].null_count() == 20
    assert "strengths.no_stimulus_variance" in codes(found.notes)
    drawn = thresholds_figure(found)
    assert "0 of 20 stimuli lie above the last threshold" in drawn.get_suptitle().replace("\n", " ")
