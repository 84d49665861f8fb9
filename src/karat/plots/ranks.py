"""Ranks of stimuli by several measures, each against each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karat.plots.style import BLUE, LIGHT_GREY, figure, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def ranks_plot(scores: pl.DataFrame, text: Callable[[str, str], str], title: str, width_cm: float = 16) -> Figure:
    """Below the diagonal the ranks, above it a text on each two measures; rank 1 is the strongest.

    `scores` has a column for each measure behind the first, which names the stimulus.

    >>> scores = pl.DataFrame({"stimulus": ["a", "b"], "likert": [1.0, 2.0], "choice": [2.0, 1.0]})
    >>> len(ranks_plot(scores, lambda first, second: f"{first} and {second}", "They differ").axes)
    4
    """
    names = scores.columns[1:]
    with figure(width_cm, width_cm + 1.5) as drawn:
        grid = drawn.subplots(len(names), len(names), squeeze=False)
        for row, across in enumerate(names):
            for column, along in enumerate(names):
                axes = grid[row, column]
                if row > column:
                    _draw_ranks(axes, scores, along, across)
                    _name_axes(axes, along if row == len(names) - 1 else "", across if column == 0 else "")
                    continue
                axes.set_xticks([])
                axes.set_yticks([])
                for spine in axes.spines.values():
                    spine.set_visible(False)
                inside = across if row == column else text(across, along)
                axes.text(0.5, 0.5, inside, transform=axes.transAxes, horizontalalignment="center",
                          verticalalignment="center", fontweight="bold" if row == column else "normal")  # fmt: skip
        say(drawn, title)
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
