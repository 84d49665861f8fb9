"""The line plot of a semantic differential: pairs of adjectives below each other, a line for each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karat.errors import counted
from karat.figures import figure, say
from karat.measure.contrasts.figure import COLOURS, MARKERS
from karat.measure.errors import MeasureError
from karat.messages import Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from karat.measure.dimensions.profiles import Profiles

LETTER = 0.24
"""About how wide a letter is, in cm of the figure."""
APART = 0.1
"""How far apart the points of two lines stand, so that their intervals do not cover each other."""


def profile_figure(
    found: Profiles, groups: Sequence[str] | None, poles: Mapping[str, tuple[str, str]] | None, width_cm: float
) -> Figure:
    """Lines of up to six groups with their intervals; each is named above the plot, where it begins."""
    shown = list(found.groups if groups is None else groups)
    unknown = [group for group in shown if group not in found.groups]
    if unknown:
        raise MeasureError(Message("profiles.unknown_group", {"group": unknown[0], "column": found.by}))
    if not 1 <= len(shown) <= len(COLOURS):
        raise MeasureError(Message("profiles.lines", {"n": len(shown), "most": len(COLOURS)}))
    places = np.arange(len(found.pairs))
    with figure(width_cm, 3.5 + 0.7 * len(places) + 0.35 * len(shown)) as drawn:
        axes = drawn.subplots()
        starts = {}
        for number, group in enumerate(shown):
            part = found.frame.filter(pl.col("group") == group)
            mean, lower, upper = (part[name].to_numpy() for name in ("mean", "lower", "upper"))
            own = places + (number - (len(shown) - 1) / 2) * APART
            axes.plot(mean, own, color=COLOURS[number], marker=MARKERS[number], markersize=4)
            axes.hlines(own, lower, upper, color=COLOURS[number], linewidth=0.8)
            starts[group] = (float(mean[0]), COLOURS[number])
        ends = [(poles or {}).get(pair, (pair, "")) for pair in found.pairs]
        axes.set_yticks(places, [left for left, _ in ends])
        axes.set_ylim(len(places) - 0.5, -0.5)
        axes.grid(axis="y")
        axes.set_xlabel(f"mean rating, with {100 * found.settings['level']:.0f} % intervals")
        if any(right for _, right in ends):
            other = axes.secondary_yaxis("right")
            other.set_yticks(places, [right for _, right in ends])
            other.spines["right"].set_visible(False)
        left, right = axes.get_xlim()
        _name_lines(axes, starts, LETTER / width_cm * (right - left))
        say(drawn, _finding(found, shown))
    return drawn


def _name_lines(axes: Axes, starts: Mapping[str, tuple[float, str]], letter: float) -> None:
    """Each line's name above its first point, higher where it would touch a name that is there already."""
    ends: list[float] = []
    for group, (x, colour) in sorted(starts.items(), key=lambda one: one[1][0]):
        half = letter * (len(group) + 1) / 2
        level = next((place for place, end in enumerate(ends) if x - half > end), len(ends))
        ends[level : level + 1] = [x + half]
        axes.annotate(
            group, (x, -0.5), xytext=(0, 3 + 10 * level), textcoords="offset points", color=colour,
            horizontalalignment="center", annotation_clip=False,
        )  # fmt: skip


def _finding(found: Profiles, shown: Sequence[str]) -> str:
    """Where the lines that are drawn lie farthest apart."""
    part = found.frame.filter(pl.col("group").is_in(shown), pl.col("mean").is_not_nan())
    if len(shown) < 2 or not part.height:
        return f"The profile of {shown[0]} on {counted(len(found.pairs), 'pair')}"
    spread = part.group_by("pair", maintain_order=True).agg(
        (pl.col("mean").max() - pl.col("mean").min()).alias("range"),
        pl.col("group").sort_by("mean").last().alias("high"),
        pl.col("group").sort_by("mean").first().alias("low"),
    )
    widest = spread.sort("range", descending=True, maintain_order=True).row(0, named=True)
    return f"{widest['high']} and {widest['low']} lie farthest apart on {widest['pair']} ({widest['range']:.1f} points)"
