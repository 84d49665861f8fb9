"""Groups of participants: each group's share among everybody and among those flagged, variable by variable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karat.plots.style import FLAGGED, FLAGGED_MARKER, GREY, KEPT, KEPT_MARKER, NARROW_CM, figure, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST_LABEL = 24


def shares_plot(rows: pl.DataFrame, word: str, title: str, width_cm: float = 16) -> Figure:
    """A panel for each variable: share_of_all and share_of_flagged of its groups, those with a warning in bold.

    The other columns are variable, group, participants, flagged, lower_of_flagged and upper_of_flagged; `word` says
    what the flagged are.

    >>> rows = {"variable": ["list"], "group": ["a"], "participants": [4], "flagged": [1], "share_of_all": [1.0]}
    >>> flagged = {"share_of_flagged": [1.0], "lower_of_flagged": [0.2], "upper_of_flagged": [1.0], "warning": [False]}
    >>> shares_plot(pl.DataFrame(rows | flagged), "excluded", "1 of 4 is excluded").axes[0].get_title(loc="left")
    'list'
    """
    panels = rows.partition_by("variable", maintain_order=True)
    sizes = [max(part.height, 2) for part in panels]
    with figure(width_cm, 3.0 + 0.62 * sum(sizes) + 0.5 * len(sizes)) as drawn:
        axes = drawn.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=sizes)[:, 0]
        for axis, part in zip(axes, panels, strict=True):
            _panel(axis, part["variable"][0], part)
        between = "\n" if width_cm < NARROW_CM else "  "
        marks = f"○ of everybody   ◆ of the {word}, 95 % interval"
        axes[-1].set_xlabel(f"share of participants (%):{between}{marks}")
        axes[0].annotate(
            word, (1, 1), xycoords="axes fraction", xytext=(4, 2), textcoords="offset points", color=GREY,
            annotation_clip=False,
        )  # fmt: skip
        say(drawn, title)
    return drawn


def _panel(axis: Axes, name: str, part: pl.DataFrame) -> None:
    """The groups of one variable from top to bottom, with how many of them are flagged at the right."""
    heights = np.arange(part.height)[::-1]
    everybody = 100 * part["share_of_all"].fill_null(0).to_numpy()
    axis.grid(axis="x")
    if part["share_of_flagged"].null_count() == 0:
        share, lower, upper = (
            100 * part[column].to_numpy() for column in ("share_of_flagged", "lower_of_flagged", "upper_of_flagged")
        )
        # An interval a little below the circle, so that both are seen where they agree.
        axis.errorbar(
            share, heights - 0.12, xerr=[share - lower, upper - share], fmt=FLAGGED_MARKER, color=FLAGGED,
            markersize=4.5, elinewidth=1.1, capsize=2,
        )  # fmt: skip
    axis.plot(
        everybody, heights + 0.12, KEPT_MARKER, markerfacecolor="white", markeredgecolor=KEPT, markeredgewidth=1.3,
        markersize=5.5,
    )  # fmt: skip
    labels = [group if len(group) <= LONGEST_LABEL else group[: LONGEST_LABEL - 1] + "…" for group in part["group"]]
    axis.set_yticks(heights, labels)
    for label, warning in zip(axis.get_yticklabels(), part["warning"], strict=True):
        label.set_fontweight("bold" if warning else "normal")
    axis.set_ylim(-0.6, part.height - 0.4)
    axis.set_xlim(-2, 102)
    axis.tick_params(axis="y", length=0)
    axis.set_title(name, fontweight="bold", color=GREY)
    for height, flagged, participants in zip(heights, part["flagged"], part["participants"], strict=True):
        axis.annotate(
            f"{flagged} of {participants}", (1, height), xycoords=("axes fraction", "data"), xytext=(4, 0),
            textcoords="offset points", verticalalignment="center", annotation_clip=False,
        )  # fmt: skip
