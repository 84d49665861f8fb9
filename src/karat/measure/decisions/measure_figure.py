"""Ranks of stimuli in one measure against their ranks in another, for every two measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karat.figures import BLUE, LIGHT_GREY, figure, say
from karat.measure.errors import MeasureError
from karat.measure.texts import coefficient, with_interval
from karat.messages import Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from karat.measure.decisions.measure_correlations import MeasureCorrelations

MOST = 6
"""More measures than this do not fit a page."""


def measure_figure(found: MeasureCorrelations, width_cm: float = 16) -> Figure:
    """Below the diagonal the ranks, above it Spearman's correlation with its interval; rank 1 is the strongest.

    >>> from karat.measure.decisions.measure_correlations import compare_measures
    >>> both = {"likert": {"a": 1, "b": 2, "c": 3}, "choice": {"a": 1, "b": 3, "c": 2}}
    >>> len(measure_figure(compare_measures(both, samples=50)).axes)
    4
    """
    names = found.scores.columns[1:]
    if len(names) > MOST:
        raise MeasureError(Message("measures.too_many", {"n": len(names), "most": MOST}))
    with figure(width_cm, width_cm + 1.5) as drawn:
        grid = drawn.subplots(len(names), len(names), squeeze=False)
        for row, across in enumerate(names):
            for column, along in enumerate(names):
                axes = grid[row, column]
                if row > column:
                    _draw_ranks(axes, found.scores, along, across)
                    _name_axes(axes, along if row == len(names) - 1 else "", across if column == 0 else "")
                    continue
                axes.set_xticks([])
                axes.set_yticks([])
                for spine in axes.spines.values():
                    spine.set_visible(False)
                told = across if row == column else _told(found, across, along)
                axes.text(0.5, 0.5, told, transform=axes.transAxes, horizontalalignment="center",
                          verticalalignment="center", fontweight="bold" if row == column else "normal")  # fmt: skip
        say(drawn, _finding(found))
    return drawn


def _draw_ranks(axes: Axes, scores: pl.DataFrame, along: str, across: str) -> None:
    """Ranks among the stimuli that both measures have, the strongest top right."""
    both = scores.select(along, across).drop_nulls()
    x, y = (both[name].rank("average", descending=True).to_numpy() for name in (along, across))
    axes.plot([1, len(x)], [1, len(x)], color=LIGHT_GREY, linewidth=0.8, zorder=0)
    axes.plot(x, y, "o", color=BLUE, markersize=float(np.clip(60 / len(x), 2, 4)), alpha=0.7, markeredgewidth=0)
    ends = (len(x) + 0.04 * len(x) + 0.5, 0.5 - 0.04 * len(x))
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    axes.set_xticks([1, len(x)])
    axes.set_yticks([1, len(x)])


def _name_axes(axes: Axes, along: str, across: str) -> None:
    if along:
        axes.set_xlabel(f"rank, {along}")
    if across:
        axes.set_ylabel(f"rank, {across}")


def _told(found: MeasureCorrelations, first: str, second: str) -> str:
    row = found.frame.filter(
        (pl.col("first") == first) & (pl.col("second") == second)
        | (pl.col("first") == second) & (pl.col("second") == first)
    ).row(0, named=True)
    return f"{with_interval(row['spearman'], row['lower'], row['upper'])}\n{row['n']:,} stimuli"


def _finding(found: MeasureCorrelations) -> str:
    known = found.frame.filter(pl.col("spearman").is_not_null()).sort("spearman")
    if not known.height:
        return "The measures cannot be compared: the estimates of one do not vary"
    low = known.row(0, named=True)
    if known.height == 1:
        return (
            f"{low['first']} and {low['second']} order {low['n']:,} stimuli with a rank correlation of "
            f"{coefficient(low['spearman'])}"
        )
    return (
        f"Rank correlations between measures run from {coefficient(low['spearman'])} ({low['first']} and "
        f"{low['second']}) to {coefficient(known['spearman'][-1])}"
    )
