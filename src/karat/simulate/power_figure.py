"""The power curve: power over participants, a line for each number of items and each effect, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karat import figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from karat.simulate.power_result import Power

COLOURS = (figures.BLUE, figures.VERMILLION, figures.GREEN, figures.PURPLE, figures.ORANGE, figures.SKY_BLUE)
MARKERS = "oDs^vP"
STYLES = ("-", "--", "-.", ":")


def power_figure(power: Power) -> Figure:
    """Draw the curve."""
    with figures.figure(16, 9) as drawn:
        axes = drawn.subplots()
        lines = power.cells.select("items", "effect").unique(maintain_order=True).rows()
        for number, (items, effect) in enumerate(lines):
            cells = power.cells.filter(pl.col("items") == items, pl.col("effect") == effect).sort("participants")
            x, y = cells["participants"].to_numpy(), cells["power"].to_numpy()
            errors = [y - cells["lower"].to_numpy(), cells["upper"].to_numpy() - y]
            axes.errorbar(
                x, y, yerr=errors, color=COLOURS[number % len(COLOURS)], marker=MARKERS[number % len(MARKERS)],
                linestyle=STYLES[number // len(COLOURS) % len(STYLES)], markersize=4, capsize=2, elinewidth=0.8,
                label=f"{items} items, {effect:.3g} {power.unit}",
            )  # fmt: skip
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("participants recruited" if power.exclude else "participants")
        axes.set_ylabel("power")
        axes.grid(axis="y")
        figures.threshold_line(axes, 0.8, ".80")
        if len(lines) > 1:
            axes.legend(loc="best")
        figures.say(drawn, _finding(power), f"Contrast {power.contrast}; bars are 95 % intervals of the simulation")
    return drawn


def _finding(power: Power) -> str:
    """The only line in a sentence, or how many of several lines reach the power that is usually wanted."""
    needed = power.needed()
    if needed.height == 1:
        return str(power.summary[0])
    reached = needed.height - needed["participants"].null_count()
    most = max(power.cells["participants"].to_list())
    cases = f"{reached} of {needed.height} combinations of items and effect"
    return f"{cases} reach a power of .80 with up to {most} participants"
