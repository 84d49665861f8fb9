"""Figures of the errors of the Markov criterion: 4a (`balance_plot`) and 4b (`errors_plot`) of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karat.plots import BLUE, GREEN, ORANGE
from karat.plots.style import figure, say, stack_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"primary choice": BLUE, "repeated pattern": ORANGE, "random guessing": GREEN}
MARKERS = {"primary choice": "o", "repeated pattern": "s", "random guessing": "^"}


def errors_plot(found: pl.DataFrame, width_cm: float = 12) -> Figure:
    """How many of those who follow a pattern are missed (kind, trials, type_two), by the number of trials."""
    trials = found["trials"].unique(maintain_order=True).to_list()
    with figure(width_cm, 8) as drawn:
        axis = drawn.subplots()
        _error_lines(axis, found, "trials")
        axis.set_xscale("log")
        axis.set_xticks(trials, [f"{number:,}" for number in trials])
        axis.set_xticks([], minor=True)
        axis.set_xlabel("answers per participant")
        worst = found.filter(pl.col("trials") == trials[-1]).sort("type_two").row(-1, named=True)
        say(drawn, f"With {trials[-1]:,} answers, {100 * worst['type_two']:.0f} % of {worst['kind']} are missed")
    return drawn


def balance_plot(found: pl.DataFrame, width_cm: float = 12) -> Figure:
    """How many of those who follow a pattern are missed (kind, majority in per cent, type_two), by balance."""
    with figure(width_cm, 8) as drawn:
        axis = drawn.subplots()
        _error_lines(axis, found, "majority")
        axis.set_xlabel("trials to which most give the most frequent answer (%)")
        guessers = found.filter(pl.col("kind") == "random guessing").sort("majority")
        first, last = (guessers.row(place, named=True) for place in (0, -1))
        say(
            drawn,
            f"Guessers missed: {100 * first['type_two']:.0f} % with {first['majority']:.0f} % of trials for one "
            f"answer, {100 * last['type_two']:.0f} % with {last['majority']:.0f} %",
        )
    return drawn


def _error_lines(axis: Axes, found: pl.DataFrame, by: str) -> None:
    """A line for each kind of pattern, with its name at the end."""
    ends: list[tuple[float, str, str]] = []
    for kind in found["kind"].unique(maintain_order=True):
        part = found.filter(pl.col("kind") == kind)
        shares = 100 * part["type_two"].to_numpy()
        axis.plot(part[by].to_numpy(), shares, marker=MARKERS[kind], color=COLOURS[kind], markersize=4)
        ends.append((float(shares[-1]), kind, COLOURS[kind]))
    stack_names(axis, float(found[by][-1]), ends, 6)
    axis.set_ylim(-3, 103)
    axis.grid(axis="y")
    axis.set_ylabel("missed by the cutoffs (%)")
