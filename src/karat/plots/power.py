"""Power over participants, a line for each number of items and each effect, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karat.plots.style import BLUE, GREEN, ORANGE, PURPLE, SKY_BLUE, VERMILLION, figure, say, threshold_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY_BLUE)
MARKERS = "oDs^vP"
STYLES = ("-", "--", "-.", ":")


def power_plot(cells: pl.DataFrame, unit: str, xlabel: str, title: str, key: str) -> Figure:
    """The curve of each number of items and each effect: participants, power, lower and upper.

    >>> rows = {"items": [8, 8], "effect": [0.5, 0.5], "participants": [10, 20], "power": [0.5, 0.8]}
    >>> cells = pl.DataFrame(rows | {"lower": [0.4, 0.7], "upper": [0.6, 0.9]})
    >>> power_plot(cells, "points", "participants", "20 participants do", "").axes[0].get_ylabel()
    'power'
    """
    with figure(16, 9) as drawn:
        axes = drawn.subplots()
        lines = cells.select("items", "effect").unique(maintain_order=True).rows()
        for number, (items, effect) in enumerate(lines):
            own = cells.filter(pl.col("items") == items, pl.col("effect") == effect).sort("participants")
            x, y = own["participants"].to_numpy(), own["power"].to_numpy()
            errors = [y - own["lower"].to_numpy(), own["upper"].to_numpy() - y]
            axes.errorbar(
                x, y, yerr=errors, color=COLOURS[number % len(COLOURS)], marker=MARKERS[number % len(MARKERS)],
                linestyle=STYLES[number // len(COLOURS) % len(STYLES)], markersize=4, capsize=2, elinewidth=0.8,
                label=f"{items} items, {effect:.3g} {unit}",
            )  # fmt: skip
        axes.set_ylim(0, 1.02)
        axes.set_xlabel(xlabel)
        axes.set_ylabel("power")
        axes.grid(axis="y")
        threshold_line(axes, 0.8, ".80")
        if len(lines) > 1:
            axes.legend(loc="best")
        say(drawn, title, key)
    return drawn
