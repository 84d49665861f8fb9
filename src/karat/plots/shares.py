"""Groups of participants: each group's share of all participants and of the flagged ones, variable by variable.

Also tables whose cells are coloured by size and sign, and the scree of eigenvalues.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from karat.plots import BLUE, FLAGGED, FLAGGED_MARKER, GREY, KEPT, KEPT_MARKER, VERMILLION, Axes, Figure
from karat.plots.ranked import SHOWN, short
from karat.plots.style import NARROW_CM, figure, text_beside

LONGEST_LABEL = 24


def shares_plot(rows: pl.DataFrame, word: str, title: str, width_cm: float = 16) -> Figure:
    """A panel for each variable: share_of_all and share_of_flagged of its groups, those with a warning in bold.

    The other columns are variable, group, participants, flagged, lower_of_flagged and upper_of_flagged; `word` is
    what the flagged are called.
    """
    panels = rows.partition_by("variable", maintain_order=True)
    sizes = [max(part.height, 2) for part in panels]
    with figure(width_cm, 3.0 + 0.62 * sum(sizes) + 0.5 * len(sizes), title) as fig:
        axes = fig.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=sizes)[:, 0]
        for axis, part in zip(axes, panels, strict=True):
            _panel(axis, part["variable"][0], part)
        between = "\n" if width_cm < NARROW_CM else "  "
        marks = f"○ of everybody   ◆ of the {word}, 95 % interval"
        axes[-1].set_xlabel(f"share of participants (%):{between}{marks}")
        text_beside(axes[0], word, (1, 1), (4, 2), xycoords="axes fraction", color=GREY)
    return fig


def _panel(axis: Axes, name: str, part: pl.DataFrame) -> None:
    """The groups of one variable from top to bottom, with how many of them are flagged at the right."""
    heights = np.arange(part.height)[::-1]
    everybody = 100 * part["share_of_all"].fill_null(0).to_numpy()
    axis.grid(axis="x")
    if part["share_of_flagged"].null_count() == 0:
        share, lower, upper = (
            100 * part[column].to_numpy() for column in ("share_of_flagged", "lower_of_flagged", "upper_of_flagged")
        )
        # The interval is a little below the circle, so that both are visible if they agree.
        axis.errorbar(
            share, heights - 0.12, xerr=[share - lower, upper - share], fmt=FLAGGED_MARKER, color=FLAGGED,
            markersize=4.5, elinewidth=1.1, capsize=2,
        )  # fmt: skip
    axis.plot(
        everybody, heights + 0.12, KEPT_MARKER, markerfacecolor="white", markeredgecolor=KEPT, markeredgewidth=1.3,
        markersize=5.5,
    )  # fmt: skip
    axis.set_yticks(heights, [short(group, LONGEST_LABEL) for group in part["group"]])
    for label, warning in zip(axis.get_yticklabels(), part["warning"], strict=True):
        label.set_fontweight("bold" if warning else "normal")
    axis.set_ylim(-0.6, part.height - 0.4)
    axis.set_xlim(-2, 102)
    axis.tick_params(axis="y", length=0)
    axis.set_title(name, fontweight="bold", color=GREY)
    for height, flagged, participants in zip(heights, part["flagged"], part["participants"], strict=True):
        of_all = f"{flagged} of {participants}"
        text_beside(axis, of_all, (1, height), (4, 0), xycoords=("axes fraction", "data"), va="center")


def matrix_plot(rows: pl.DataFrame, columns: Sequence[str], title: str, key: str = "", width_cm: float = 16) -> Figure:
    """A coloured cell with its number for each row (`label` names it) and column; at most the first sixty rows."""
    from matplotlib.colors import LinearSegmentedColormap

    rows = rows.head(SHOWN)
    values = rows.select(pl.col(columns).cast(pl.Float64)).fill_null(np.nan).to_numpy()
    finite = np.abs(values[np.isfinite(values)])
    most = float(finite.max(initial=0.0)) or 1.0
    with figure(width_cm, 3.2 + 0.5 * max(1, rows.height), title) as fig:
        axes = fig.subplots()
        colours = LinearSegmentedColormap.from_list("karat", [VERMILLION, "white", BLUE])
        axes.imshow(values, cmap=colours, vmin=-most, vmax=most, aspect="auto", alpha=0.6)
        for (row, column), value in np.ndenumerate(values):
            text = "" if np.isnan(value) else f"{round(float(value), 2) + 0.0:.2f}".replace("-", "−")
            axes.text(column, row, text, ha="center", va="center", fontsize=8)
        axes.set_xticks(range(len(columns)), [short(name) for name in columns])
        axes.set_yticks(range(rows.height), [short(label) for label in rows["label"]])
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.set_xlabel(key)
    return fig


def scree_plot(eigenvalues: pl.DataFrame, title: str, key: str, width_cm: float = 16) -> Figure:
    """Eigenvalues (number, component, factor) beside those of random data (component_random, factor_random)."""
    with figure(width_cm, 8, title, key) as fig:
        axes = fig.subplots()
        x = eigenvalues["number"].to_numpy()
        for kind, colour, marker, at in (("component", BLUE, "o", 0), ("factor", GREY, "s", 1)):
            axes.plot(x, eigenvalues[kind].to_numpy(), color=colour, marker=marker, markersize=4)
            axes.plot(x, eigenvalues[f"{kind}_random"].to_numpy(), color=colour, linestyle="--", linewidth=0.8)
            place, by = (x[at], eigenvalues[kind][at]), (6 - 12 * at, 4 - 12 * at)
            text_beside(axes, f"{kind}s", place, by, color=colour, ha=("left", "right")[at])
        axes.set_xlabel("number")
        axes.set_ylabel("eigenvalue")
        axes.set_xticks(x[:: max(1, len(x) // 12)])
    return fig
