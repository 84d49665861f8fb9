"""Figures of the Markov criterion: distances of simulated and real participants, matrices, errors by number of trials.

They are figures 3 (`distances_plot`), 4a (`balance_plot`) and 4b (`errors_plot`) of Ba, Mancenido, Chiou and Pan
for any data, and their transition matrices as squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karat.languages import language_of
from karat.plots import BLUE, FLAGGED, GREEN, GREY, KEPT, ORANGE
from karat.plots.style import NARROW_CM, figure, say, stack_names, threshold_line
from karat.types import Bools, Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Distances = tuple[Floats, Floats, Floats, Floats]
"""From a pattern: of the credible and of its followers by simulation, of real participants; and the cutoffs."""
COLOURS = {"primary choice": BLUE, "repeated pattern": ORANGE, "random guessing": GREEN}
MARKERS = {"primary choice": "o", "repeated pattern": "s", "random guessing": "^"}


def distances_plot(kinds: Mapping[str, Distances], flagged: Bools, title: str, width_cm: float = 16) -> Figure:
    """A panel for each kind of pattern: how near credible and patterned answers are by simulation, and real ones below.

    >>> near = (np.arange(9.0), np.arange(5.0) / 9, np.array([0.1, 4.0]), np.array([0.3]))
    >>> drawn = distances_plot({"primary choice": near}, np.array([True, False]), "Answers of 1 of 2 follow a pattern")
    >>> drawn.axes[0].get_xlabel()
    'distance from\\nprimary choice'
    """
    narrow = width_cm < NARROW_CM
    with figure(width_cm, 15 if narrow else 7.5) as drawn:
        axes = drawn.subplots(*((len(kinds), 1) if narrow else (1, len(kinds))), squeeze=False).ravel()
        for axis, (kind, own) in zip(axes, kinds.items(), strict=True):
            _distances(axis, kind, own, flagged)
        axes[0].set_ylabel("density")
        say(drawn, title)
    return drawn


def _distances(axis: Axes, kind: str, own: Distances, flagged: Bools) -> None:
    """Densities of simulated distances, cutoffs, and a tick for each real participant."""
    # Distances from guessing crowd at zero: their root shows them, as in the paper.
    root = kind == "random guessing"
    credible, followers, people, limits = (np.sqrt(values) if root else values for values in own)
    high = float(np.nanquantile(np.concatenate([credible, followers]), 0.999))
    bins = np.linspace(0, high if high > 0 else 1.0, 50).tolist()
    axis.hist(credible, bins=bins, density=True, histtype="stepfilled", color=KEPT, alpha=0.35)
    axis.hist(followers, bins=bins, density=True, histtype="step", color=FLAGGED, linewidth=1.3)
    top = axis.get_ylim()[1]
    for members, colour in ((~flagged, KEPT), (flagged, FLAGGED)):
        axis.plot(people[members], np.full(int(members.sum()), -0.07 * top), "|", color=colour, markersize=6)
    axis.set_ylim(-0.14 * top, 1.12 * top)
    for limit in sorted({float(limits.min()), float(limits.max())}) if len(limits) else []:
        threshold_line(axis, limit, "" if limit != limits.max() else f"{limit:.2g}", across="x")
    axis.set_yticks([])
    axis.set_xlabel(f"{'root of ' if root else ''}distance from\n{kind}")
    axis.text(0.98, 0.9, "credible", color=KEPT, transform=axis.transAxes, ha="right")
    axis.text(0.02, 0.9, "patterned", color=FLAGGED, transform=axis.transAxes, ha="left")


def transitions_plot(matrices: Mapping[str, Floats], levels: Sequence[str], title: str, width_cm: float = 16) -> Figure:
    """The transition matrices of some participants as squares with numbers.

    >>> matrices = {"w001": np.full((2, 2), 0.5)}
    >>> transitions_plot(matrices, ["no", "yes"], "Which answer follows which").axes[0].get_ylabel()
    'answer'
    """
    across = min(len(matrices), 2 if width_cm < NARROW_CM else 3)
    down = -(-len(matrices) // across)
    with figure(width_cm, 1.6 + down * (0.9 * width_cm / across + 0.6)) as drawn:
        axes = drawn.subplots(down, across, squeeze=False).ravel()
        for axis, (name, matrix) in zip(axes, matrices.items(), strict=False):
            _matrix(axis, name, matrix, levels)
        for axis in axes[len(matrices) :]:
            axis.set_visible(False)
        say(drawn, title)
    return drawn


def _matrix(axis: Axes, name: str, matrix: Floats, levels: Sequence[str]) -> None:
    axis.imshow(np.nan_to_num(matrix), cmap="Blues", vmin=0, vmax=1)
    for (row, column), value in np.ndenumerate(matrix):
        text = "–" if np.isnan(value) else language_of("en").value(value, ".2r")
        colour = "white" if value > 0.6 else GREY if np.isnan(value) else "black"
        axis.text(column, row, text, color=colour, ha="center", va="center")
    axis.set_xticks(range(len(levels)), levels)
    axis.set_yticks(range(len(levels)), levels)
    axis.tick_params(length=0)
    axis.set_title(name, fontweight="bold", color=GREY)
    axis.set_xlabel("next answer")
    axis.set_ylabel("answer")


def errors_plot(found: pl.DataFrame, width_cm: float = 12) -> Figure:
    """How many of those who follow a pattern are missed (kind, trials, type_two), by the number of trials.

    >>> found = {"kind": ["random guessing"] * 2, "trials": [20, 80], "type_two": [0.9, 0.8]}
    >>> errors_plot(pl.DataFrame(found)).get_suptitle()
    'With 80 answers, 80 % of random guessing are missed'
    """
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
    """How many of those who follow a pattern are missed (kind, majority in per cent, type_two), by balance.

    >>> found = {"kind": ["random guessing"] * 2, "majority": [50.0, 90.0], "type_two": [0.9, 0.8]}
    >>> balance_plot(pl.DataFrame(found)).axes[0].get_ylabel()
    'missed by the cutoffs (%)'
    """
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
