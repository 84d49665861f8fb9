"""The marginal means of one or two factors before and after exclusion: figure 9 of Ba, Mancenido, Chiou and Pan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from karat.plots.style import BLUE, GREEN, NARROW_CM, ORANGE, PURPLE, VERMILLION, figure, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE)
MARKERS = ("o", "D", "^", "s", "v")
APART = 0.06
"""How far apart the points of two lines stand, so that their intervals do not cover each other."""


def before_after_plot(
    means: pl.DataFrame, factors: Sequence[str], panels: Mapping[str, str], ylabel: str, title: str,
    width_cm: float = 16,
) -> Figure:  # fmt: skip
    """A panel before and one after: lines for the first factor over the levels of the second, with intervals.

    With one factor there is one line over its levels. `means` has when, the factors, estimate, lower and upper;
    `panels` has the title of each `when`.

    >>> means = pl.DataFrame({"when": ["before", "after"], "order": ["old"] * 2, "estimate": [1, 2]})
    >>> means = means.with_columns(lower=pl.col("estimate") - 1, upper=pl.col("estimate") + 1)
    >>> drawn = before_after_plot(means, ["order"], {"before": "before", "after": "after"}, "answer", "It rises")
    >>> [axes.get_title(loc="left") for axes in drawn.axes]
    ['before', 'after']
    """
    across, lines = factors[-1], factors[0] if len(factors) > 1 else None
    narrow = width_cm < NARROW_CM
    with figure(width_cm, 13 if narrow else 8) as drawn:
        all_axes = drawn.subplots(*((2, 1) if narrow else (1, 2)), sharex=True, sharey=True)
        for axes, (when, heading) in zip(all_axes, panels.items(), strict=True):
            _panel(axes, means.filter(pl.col("when") == when), across, lines)
            axes.set_title(heading)
            axes.set_xlabel(across)
        for axes in all_axes if narrow else all_axes[:1]:
            axes.set_ylabel(ylabel)
        say(drawn, title)
    return drawn


def _panel(axes: Axes, means: pl.DataFrame, across: str, lines: str | None) -> None:
    """The means of one model: a line for each level of one factor over the levels of the other."""
    ticks = means[across].unique(maintain_order=True).to_list()
    levels = means[lines].unique(maintain_order=True).to_list() if lines else [None]
    for number, level in enumerate(levels):
        part = means.filter(pl.col(lines) == level) if lines else means
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        places = [ticks.index(one) + APART * (number - (len(levels) - 1) / 2) for one in part[across].to_list()]
        middle = part["estimate"].to_numpy()
        ends = (middle - part["lower"].to_numpy(), part["upper"].to_numpy() - middle)
        axes.errorbar(places, middle, yerr=ends, color=colour, marker=marker, markersize=4, capsize=2, linewidth=1.2)
        if level is not None:
            axes.annotate(
                str(level), (places[-1], middle[-1]), xytext=(6, 0), textcoords="offset points", color=colour,
                verticalalignment="center", annotation_clip=False,
            )  # fmt: skip
    axes.set_xticks(range(len(ticks)), ticks)
    axes.set_xlim(-0.3, len(ticks) - 1 + (0.3 if lines is None else 0.6))
    axes.grid(axis="y")
