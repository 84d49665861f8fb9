"""The picture of means: what is drawn, where, and what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karat
from karat.measure.effects.contrasts import contrasts
from karat.plots.style import to_svg
from measure.factorial import FORMULA, frame, rated
from messages import raises

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
