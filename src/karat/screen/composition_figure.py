"""The figure of a composition: each group's share among everybody and among those flagged, variable by variable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karat.errors import KaratError
from karat.judgments.columns import nearest
from karat.plots.style import FLAGGED, FLAGGED_MARKER, GREY, KEPT, KEPT_MARKER, NARROW_CM, figure, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from karat.screen.composition import Composition

LONGEST_LABEL = 24


def composition_figure(composition: Composition, criterion: str | None = None, width_cm: float = 16) -> Figure:
    """A panel for each background variable; the title says what was found.

    >>> import karat
    >>> screening = karat.screen.run(karat.datasets.load("likert"), {"attention": {}})
    >>> composition_figure(screening.composition(["list"])).get_suptitle()
    '9 of 48 are excluded, and no group differs'
    """
    if not composition.groups.height:
        raise KaratError(f"There is nothing to draw. {composition}")
    known = composition.groups["criterion"].unique(maintain_order=True).to_list()
    chosen = criterion or composition.criterion or known[0]
    if chosen not in known:
        close = nearest(chosen, known)
        mend = f"is {close} meant?" if close else f"there are {', '.join(known)}."
        raise KaratError(f"There is no evidence of {chosen} here; {mend}")
    rows = composition.groups.filter(pl.col("criterion") == chosen)
    panels = [(name, rows.filter(pl.col("variable") == name)) for name in composition.variables]
    sizes = [max(part.height, 2) for _, part in panels]
    with figure(width_cm, 3.0 + 0.62 * sum(sizes) + 0.5 * len(sizes)) as drawn:
        axes = drawn.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=sizes)[:, 0]
        for axis, (name, part) in zip(axes, panels, strict=True):
            _panel(axis, name, part)
        word = "excluded" if chosen == "verdict" else "flagged"
        between = "\n" if width_cm < NARROW_CM else "  "
        marks = f"○ of everybody   ◆ of the {word}, 95 % interval"
        axes[-1].set_xlabel(f"share of participants (%):{between}{marks}")
        axes[0].annotate(
            word, (1, 1), xycoords="axes fraction", xytext=(4, 2), textcoords="offset points", color=GREY,
            annotation_clip=False,
        )  # fmt: skip
        say(drawn, _finding(panels[0][1], rows, chosen))
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


def _finding(first: pl.DataFrame, rows: pl.DataFrame, criterion: str) -> str:
    flagged, everyone = int(first["flagged"].sum()), int(first["participants"].sum())
    word = "excluded" if criterion == "verdict" else f"flagged by {criterion}"
    if not flagged:
        return f"Nobody of {everyone:,} is {word}"
    warned = rows.filter(pl.col("warning"))
    if not warned.height:
        return f"{flagged:,} of {everyone:,} are {word}, and no group differs"
    row = warned.row(0, named=True)
    about = rows.filter(pl.col("variable") == row["variable"])
    rest = (int(about["flagged"].sum()) - row["flagged"], int(about["participants"].sum()) - row["participants"])
    group = f"{row['variable']} = {row['group']}"
    return f"{row['flagged']} of {row['participants']} with {group} are {word}, {rest[0]} of {rest[1]} others"
